//! The request that a redirect leads to.
//!
//! A login answers 303 with a cookie that the next page needs, so users follow redirects with their cookies, as browsers do. The
//! rest is as everywhere: 303, and 301 and 302 after a POST, turn into GET without a body (RFC 9110 §15.4), and secrets are not
//! carried to another origin.

use plan::Target;

/// One hop of a chain.
pub(crate) struct Hop<'a> {
    /// Where the chain began: its secrets belong there.
    pub(crate) begun: &'a Target,
    /// Where the request went that was redirected.
    pub(crate) from: &'a Target,
    /// Where it leads.
    pub(crate) to: &'a Target,
    pub(crate) status: u16,
    /// Of the request that was redirected.
    pub(crate) method: &'a str,
    /// Whether the step names its cookies itself, so that none are written.
    pub(crate) has_cookies: bool,
    /// The header that holds a key which says who the user is, if there is one.
    pub(crate) key: Option<&'a str>,
}

/// The bytes that follow a redirect and their method; `None` if the request cannot be read.
pub(crate) fn led(request: &[u8], hop: &Hop<'_>) -> Option<(Vec<u8>, String)> {
    let Hop { begun, from, to, status, method, has_cookies, key } = *hop;
    let at_home = to.same_origin(begun);
    let end = request.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, body) = (&request[..end], &request[end + 4..]);
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let line = lines.next()?;
    let becomes_get = method != "HEAD" && (status == 303 || (matches!(status, 301 | 302) && method == "POST"));
    let method = if becomes_get { "GET" } else { method };
    let asks_a_proxy = line.split(|byte| *byte == b' ').nth(1)?.starts_with(b"http://");
    let path = if asks_a_proxy { to.absolute() } else { to.path_and_query().to_owned() };
    let mut out = format!("{method} {path} HTTP/1.1\r\n").into_bytes();
    for line in lines {
        let (name, _) = line.split_at(line.iter().position(|byte| *byte == b':')?);
        let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
        let is_secret = plan::is_secret(&name) || key.is_some_and(|key| key.eq_ignore_ascii_case(&name));
        let is_dropped = becomes_get && name.starts_with("content-") || !at_home && is_secret || name == "cookie" && !has_cookies;
        if is_dropped {
            continue;
        }
        if name == "host" && !to.same_origin(from) {
            out.extend_from_slice(format!("Host: {}\r\n", to.authority()).as_bytes());
            continue;
        }
        out.extend_from_slice(line);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    if !becomes_get {
        out.extend_from_slice(body);
    }
    Some((out, method.to_owned()))
}

/// Puts a header line before the blank line.
pub(crate) fn insert(request: &mut Vec<u8>, line: &[u8]) {
    if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
        request.splice(end + 2..end + 2, line.iter().copied());
    }
}

/// Takes the header lines of this name out, which is written in small letters.
pub(crate) fn without(request: &mut Vec<u8>, name: &str) {
    let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") else { return };
    let mut kept = Vec::with_capacity(request.len());
    for line in request[..end + 2].split_inclusive(|byte| *byte == b'\n') {
        let is_it = line.len() > name.len() && line[name.len()] == b':' && line[..name.len()].eq_ignore_ascii_case(name.as_bytes());
        if !is_it {
            kept.extend_from_slice(line);
        }
    }
    kept.extend_from_slice(&request[end + 2..]);
    *request = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[u8] =
        b"POST /login HTTP/1.1\r\nHost: a.test\r\nCookie: old=1\r\nAuthorization: x\r\nx-key: k\r\nContent-Type: t\r\nContent-Length: 3\r\n\r\na=1";

    fn text(status: u16, to: &str) -> String {
        let (home, to): (Target, Target) = ("http://a.test/login".parse().unwrap(), to.parse().unwrap());
        let hop = Hop { begun: &home, from: &home, to: &to, status, method: "POST", has_cookies: false, key: Some("X-Key") };
        String::from_utf8(led(FIRST, &hop).unwrap().0).unwrap()
    }

    #[test]
    fn a_post_becomes_a_get_without_a_body_and_without_old_cookies() {
        assert_eq!(text(303, "http://a.test/home"), "GET /home HTTP/1.1\r\nHost: a.test\r\nAuthorization: x\r\nx-key: k\r\n\r\n");
        assert!(text(307, "http://a.test/home").ends_with("Content-Length: 3\r\n\r\na=1"));
    }

    #[test]
    fn secrets_stay_at_home() {
        let (home, to): (Target, Target) = ("http://a.test/".parse().unwrap(), "http://b.test/".parse().unwrap());
        let hop = Hop { begun: &home, from: &home, to: &to, status: 302, method: "GET", has_cookies: false, key: None };
        let sent = led(b"GET / HTTP/1.1\r\nHost: a.test\r\nX-Api-Key: k\r\nX-Id: 7\r\n\r\n", &hop).unwrap().0;
        assert_eq!(sent, b"GET / HTTP/1.1\r\nHost: b.test\r\nX-Id: 7\r\n\r\n");
        assert_eq!(text(302, "http://b.test/x"), "GET /x HTTP/1.1\r\nHost: b.test\r\n\r\n");
    }

    #[test]
    fn a_line_is_put_before_the_blank_one() {
        let mut request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nx".to_vec();
        insert(&mut request, b"Cookie: a=1\r\n");
        assert_eq!(request, b"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1\r\n\r\nx");
    }
}
