//! One request as a log tells it, borrowed from its line.

/// What is known of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// When it began, nanoseconds since 1970, or as near to that as the log tells.
    pub start_ns: i64,
    /// The time that is logged, which may be that of its end.
    pub stamp_ns: i64,
    /// Seconds to add for the server's wall clock.
    pub offset_s: i32,
    /// `GET`, as logged.
    pub method: &'a [u8],
    /// The path, without query.
    pub path: &'a [u8],
    /// What was asked for, as logged: path and query, or a whole URL.
    pub target: &'a [u8],
    /// The host it was asked of, where that is logged beside the target.
    pub named_host: Option<&'a [u8]>,
    /// The status; 0 where the client went away before there was one.
    pub status: u16,
    /// Bytes sent, where logged.
    pub bytes: Option<u64>,
    /// How long it took on the server, where logged.
    pub took_ns: Option<i64>,
    /// Who asked: an address.
    pub client: Option<&'a [u8]>,
    /// What it said it was: `User-Agent`, as logged.
    pub agent: Option<&'a [u8]>,
    /// Where it came from: `Referer`, as logged.
    pub referer: Option<&'a [u8]>,
    /// The whole request as it was sent, head and body, where that was captured.
    pub sent: Option<&'a [u8]>,
    /// Whether what was captured is not all that was sent: a recording without a body, or without what was in the files of a form.
    pub is_partial: bool,
}

impl<'a> Entry<'a> {
    /// The host it was asked of, in a whole URL or beside it, without its port.
    #[must_use]
    pub fn host(&self) -> Option<&'a [u8]> {
        let of_url = || {
            let scheme = memchr::memmem::find(&self.target[..self.target.len().min(12)], b"://").filter(|_| self.target[0] != b'/')?;
            let rest = &self.target[scheme + 3..];
            Some(rest.iter().position(|letter| matches!(letter, b'/' | b'?' | b'#')).map_or(rest, |end| &rest[..end]))
        };
        let host = of_url().or(self.named_host)?;
        let host = match memchr::memrchr(b':', host) {
            // The last group of an address of IPv6 is no port.
            Some(colon) if !host[colon..].contains(&b']') => &host[..colon],
            _ => host,
        };
        (!host.is_empty() && host != b"-").then_some(host)
    }

    /// Path and query, without scheme, host and fragment. `None` where it is no path: `*`, or the target of CONNECT.
    #[must_use]
    pub fn path_and_query(&self) -> Option<&'a [u8]> {
        if self.path.first() != Some(&b'/') {
            return None;
        }
        // The path is part of the target, or stands for one that a URL leaves out.
        let from = (self.path.as_ptr() as usize).wrapping_sub(self.target.as_ptr() as usize);
        let Some(rooted) = self.target.get(from..).filter(|_| from <= self.target.len()) else { return Some(self.path) };
        Some(memchr::memchr(b'#', rooted).map_or(rooted, |end| &rooted[..end]))
    }
}

/// Why a line tells of no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Another form than the rest of the log.
    Form,
    /// Not to the end of its form: a line that was cut.
    Cut,
    /// The time is none.
    Time,
    /// What was asked is no request of HTTP: noise on the port, or `-`.
    Request,
    /// The status is none.
    Status,
    /// Longer than the limit.
    Long,
    /// Nothing on it.
    Blank,
}

impl Reason {
    /// Every reason, in the order reports list them.
    pub const ALL: [Self; 7] = [Self::Form, Self::Cut, Self::Time, Self::Request, Self::Status, Self::Long, Self::Blank];

    /// In words that follow a number of lines.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Form => "have another form",
            Self::Cut => "end too early",
            Self::Time => "have no readable time",
            Self::Request => "hold no HTTP request",
            Self::Status => "have no readable status",
            Self::Long => "are too long",
            Self::Blank => "are blank",
        }
    }
}

/// Method, path and target of a request line.
pub(crate) type Line<'a> = (&'a [u8], &'a [u8], &'a [u8]);

/// Splits `GET /path?query HTTP/1.1` into method, path and target; absolute targets lose scheme and host for the path.
#[inline]
pub(crate) fn request(text: &[u8]) -> Option<Line<'_>> {
    let space = memchr::memchr(b' ', &text[..text.len().min(METHOD_LETTERS_MOST)])?;
    let (method, rest) = (&text[..space], &text[space + 1..]);
    // HTTP/0.9 has no version; whatever stands after the last blank otherwise is it.
    let target = match rest.iter().rposition(|letter| *letter == b' ') {
        Some(end) if rest[end + 1..].starts_with(b"HTTP/") || &rest[end + 1..] == b"-" => &rest[..end],
        _ => rest,
    };
    if !is_method(method) {
        return None;
    }
    path(target).map(|path| (method, path, target))
}

/// Methods that are longer are noise.
const METHOD_LETTERS_MOST: usize = 24;

#[inline]
pub(crate) fn is_method(text: &[u8]) -> bool {
    !text.is_empty()
        && text.len() < METHOD_LETTERS_MOST
        && text.iter().all(|letter| letter.is_ascii_uppercase() || matches!(letter, b'-' | b'_'))
        && text != b"-"
}

/// The path of a target: without query, fragment, scheme and host.
#[inline]
pub(crate) fn path(target: &[u8]) -> Option<&[u8]> {
    let rooted = match target.first()? {
        b'/' | b'*' => target,
        _ => match memchr::memmem::find(&target[..target.len().min(12)], b"://") {
            Some(scheme) => {
                let rest = &target[scheme + 3..];
                match memchr::memchr2(b'/', b'?', rest) {
                    Some(slash) if rest[slash] == b'/' => &rest[slash..],
                    _ => b"/",
                }
            }
            // The target of CONNECT is a host and a port.
            None if memchr::memchr(b':', target).is_some() => b"*",
            None => return None,
        },
    };
    Some(memchr::memchr2(b'?', b'#', rooted).map_or(rooted, |end| &rooted[..end]))
}

/// A target as it may stand in a request line: servers write what may not as `\xHH` or raw, and it is sent as `%HH`.
pub fn sendable(target: &[u8], bytes: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut rest = target;
    while let Some((letter, was_escaped)) = letter(&mut rest) {
        if letter.is_ascii_graphic() && letter != b'#' && !(was_escaped && letter == b'"') {
            bytes.push(letter);
        } else {
            bytes.extend_from_slice(&[b'%', DIGITS[usize::from(letter >> 4)], DIGITS[usize::from(letter & 15)]]);
        }
    }
}

/// The value of a header as it was before a server wrote it down, without what would end it.
pub fn unescaped(value: &[u8], bytes: &mut Vec<u8>) {
    let mut rest = value;
    while let Some((letter, _)) = letter(&mut rest) {
        if letter >= b' ' && letter != 0x7f {
            bytes.push(letter);
        }
    }
}

/// The next letter of a text that a server wrote down, and whether it was escaped: `\xHH`, `\"` and `\\`.
#[inline]
fn letter(rest: &mut &[u8]) -> Option<(u8, bool)> {
    let (&letter, after) = rest.split_first()?;
    *rest = after;
    if letter != b'\\' {
        return Some((letter, false));
    }
    match after {
        [b'x', high, low, more @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            let value = |digit: &u8| char::from(*digit).to_digit(16).unwrap_or(0) as u8;
            *rest = more;
            Some((value(high) * 16 + value(low), true))
        }
        [mark @ (b'"' | b'\\'), more @ ..] => {
            *rest = more;
            Some((*mark, true))
        }
        _ => Some((letter, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Option<(&str, &str)> {
        let (method, path, _) = request(text.as_bytes())?;
        Some((std::str::from_utf8(method).unwrap(), std::str::from_utf8(path).unwrap()))
    }

    #[test]
    fn a_request_line_is_a_method_and_a_path() {
        assert_eq!(split("GET /a?b=1 HTTP/1.1"), Some(("GET", "/a")));
        assert_eq!(split("POST https://shop.example:443/cart?x HTTP/2.0"), Some(("POST", "/cart")));
        assert_eq!(split("GET http://host?x HTTP/1.1"), Some(("GET", "/")));
        assert_eq!(split("GET /with blank HTTP/1.1"), Some(("GET", "/with blank")));
        assert_eq!(split("GET /old"), Some(("GET", "/old")));
        assert_eq!(split("OPTIONS * HTTP/1.1"), Some(("OPTIONS", "*")));
        assert_eq!(split("CONNECT a.example:443 HTTP/1.1"), Some(("CONNECT", "*")));
    }

    #[test]
    fn what_is_sent_again_is_path_and_query_and_its_host_is_told() {
        for (target, named, sent, host) in [
            ("/a?b=1#c", None, Some("/a?b=1"), None),
            ("/a", Some("a.example:8080"), Some("/a"), Some("a.example")),
            ("/a", Some("-"), Some("/a"), None),
            ("https://shop.example:443/cart?x=/y", None, Some("/cart?x=/y"), Some("shop.example")),
            ("http://[::1]:80/a", None, Some("/a"), Some("[::1]")),
            ("http://host", None, Some("/"), Some("host")),
            ("/to?next=http://else.example/", None, Some("/to?next=http://else.example/"), None),
            ("*", None, None, None),
        ] {
            let entry = Entry {
                start_ns: 0,
                stamp_ns: 0,
                offset_s: 0,
                method: b"GET",
                path: path(target.as_bytes()).unwrap(),
                target: target.as_bytes(),
                named_host: named.map(str::as_bytes),
                status: 200,
                bytes: None,
                took_ns: None,
                client: None,
                agent: None,
                referer: None,
                sent: None,
                is_partial: false,
            };
            assert_eq!(entry.path_and_query(), sent.map(str::as_bytes), "{target}");
            assert_eq!(entry.host(), host.map(str::as_bytes), "{target}");
        }
    }

    #[test]
    fn noise_is_no_request() {
        for text in ["", "-", "\\x16\\x03\\x01", "GET", "hello there /x", "- http://h:80- -", "\\x16\\x03 /x HTTP/1.1"] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
