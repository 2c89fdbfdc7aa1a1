//! One user's cookies (RFC 6265).
//!
//! Ten thousand users keep ten thousand jars, and most of them hold a session and nothing else. The crate `cookie_store` keeps
//! hash tables in hash tables and several strings a cookie, without any bound, which suits one browser and not a load test. Here a jar is a vector, a cookie one block of text and 32 bytes, and what a server can make us keep ends
//! at [`JAR_BYTES_MAX`].
//!
//! Where browsers are stricter than RFC 6265 we are not: there is no list of public suffixes, so a server may set cookies for a
//! whole `co.uk`, which in a load test reaches only the hosts of that test; only a domain without a dot is refused. `SameSite`
//! and the prefixes `__Host-` and `__Secure-` protect people from other people's pages, of which there are none here.
//!
//! Invariant: an empty jar has no heap, and none holds more than [`JAR_BYTES_MAX`].

use std::fmt;

use crate::answer::Headers;
use crate::date::UnixSeconds;

/// Name and value of one cookie; RFC 6265 §6.1 wants at least as much to be kept, and browsers keep no more.
pub(crate) const COOKIE_BYTES_MAX: usize = 4096;
/// Cookies of one domain; RFC 6265 §6.1 wants at least as many.
pub(crate) const DOMAIN_COOKIES_MAX: usize = 50;
/// All cookies of one user. Servers refuse longer `Cookie` headers: nginx takes 32 KiB in all, Apache and Node.js 16 KiB or less.
pub const JAR_BYTES_MAX: usize = 32 * 1024;
/// Longer values of `Domain` and `Path` are passed over, as by browsers (RFC 6265bis §5.6).
const ATTRIBUTE_BYTES_MAX: usize = 1024;

/// Where a request goes, as far as cookies care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// Without port; an IPv6 address without brackets. Case does not matter.
    pub host: &'a str,
    /// From the slash on; a query is not looked at.
    pub path: &'a str,
    /// Whether the request goes over TLS.
    pub secure: bool,
}

/// The cookies of one user. Empty, it is three words and no heap. Printing shows how many, as their values are secrets.
#[derive(Clone, Default)]
pub struct Jar {
    /// In the order of their creation; replacing a value changes no place (RFC 6265 §5.3, 11.3).
    cookies: Vec<Cookie>,
}

#[derive(Clone)]
struct Cookie {
    /// Name, value, domain in small letters, path.
    text: Box<[u8]>,
    name_bytes: u16,
    value_bytes: u16,
    domain_bytes: u16,
    /// Whether only the very host that set it gets it.
    host_only: bool,
    secure: bool,
    /// [`SESSION`] if it stays.
    expires: UnixSeconds,
}

/// Never expires: a user of a load test closes no browser.
const SESSION: UnixSeconds = UnixSeconds(i64::MAX);

impl Jar {
    /// No cookies.
    #[must_use]
    pub const fn new() -> Self {
        Self { cookies: Vec::new() }
    }

    /// Takes up every `Set-Cookie` of an answer from `place`. Gives how many of them were refused: those that are none, are too
    /// large, or are for another domain.
    pub fn take(&mut self, headers: Headers<'_>, place: Place<'_>, now: UnixSeconds) -> usize {
        headers.named("set-cookie").filter(|line| !self.set(line, place, now)).count()
    }

    fn set(&mut self, line: &[u8], place: Place<'_>, now: UnixSeconds) -> bool {
        let Some(set) = SetCookie::read(line) else { return false };
        if set.name.len() + set.value.len() > COOKIE_BYTES_MAX {
            return false;
        }
        let host = place.host.as_bytes();
        let (domain, host_only) = match set.domain {
            None => (host, true),
            Some(domain) if domain.eq_ignore_ascii_case(host) => (host, is_address(place.host)),
            Some(domain) if domain.contains(&b'.') && belongs(place.host, domain) => (domain, false),
            Some(_) => return false,
        };
        let path = set.path.unwrap_or_else(|| default_path(place.path)).as_bytes();
        let expires = set.expires(now);
        self.keep(Cookie::new(set.name, set.value, domain, path, Reach { host_only, secure: set.secure }, expires), now)
    }

    /// Takes up a cookie that the user's scenario gives, written as in `Set-Cookie`: for the host and the paths that it names, else for this
    /// host alone and all its paths. Gives whether it was taken.
    pub fn give(&mut self, line: &[u8], host: &str, now: UnixSeconds) -> bool {
        let Some(set) = SetCookie::read(line).filter(|set| set.name.len() + set.value.len() <= COOKIE_BYTES_MAX) else { return false };
        let is_odd = |text: &[u8]| text.iter().any(u8::is_ascii_control);
        if is_odd(set.name) || is_odd(set.value) {
            return false;
        }
        let host_only = set.domain.is_none_or(|domain| std::str::from_utf8(domain).is_ok_and(is_address));
        let (domain, path) = (set.domain.unwrap_or(host.as_bytes()), set.path.unwrap_or("/").as_bytes());
        let expires = set.expires(now);
        self.keep(Cookie::new(set.name, set.value, domain, path, Reach { host_only, secure: set.secure }, expires), now)
    }

    fn keep(&mut self, cookie: Option<Cookie>, now: UnixSeconds) -> bool {
        let Some(cookie) = cookie else { return false };
        let known = self.cookies.iter().position(|other| other.is_the_same(&cookie));
        match known {
            Some(at) if cookie.is_over(now) => {
                self.cookies.remove(at);
            }
            Some(at) => self.cookies[at] = cookie,
            // Deleting what is not there is no cookie, and no mistake of the server's.
            None if cookie.is_over(now) => {}
            None => {
                // One cookie is what most have: growing by one keeps no room for three more.
                self.cookies.reserve_exact(1);
                self.cookies.push(cookie);
            }
        }
        self.shrink(now);
        if self.cookies.is_empty() {
            self.cookies = Vec::new();
        }
        true
    }

    /// Lets go of what is too much: first what is over, then the oldest of the domain that has too many, then the oldest.
    fn shrink(&mut self, now: UnixSeconds) {
        self.cookies.retain(|cookie| !cookie.is_over(now));
        while let Some(newest) = self.cookies.last() {
            let of_domain = self.cookies.iter().filter(|cookie| cookie.domain() == newest.domain());
            let oldest = if of_domain.count() > DOMAIN_COOKIES_MAX {
                self.cookies.iter().position(|cookie| cookie.domain() == newest.domain())
            } else if self.held_bytes() > JAR_BYTES_MAX {
                Some(0)
            } else {
                None
            };
            let Some(oldest) = oldest else { return };
            self.cookies.remove(oldest);
        }
    }

    /// What is held, room for more not included.
    fn held_bytes(&self) -> usize {
        self.cookies.iter().map(|cookie| size_of::<Cookie>() + cookie.text.len()).sum()
    }

    /// Writes the value of the `Cookie` header for a request to `place` at the end of `out`: `a=1; b=2`. Gives whether there was
    /// any; if not, nothing is written and no header is to be sent. Does not allocate if `out` has room.
    pub fn write(&self, place: Place<'_>, now: UnixSeconds, out: &mut Vec<u8>) -> bool {
        let from = out.len();
        self.each(place, now, |cookie| {
            if out.len() > from {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(cookie.name());
            out.push(b'=');
            out.extend_from_slice(cookie.value());
        });
        out.len() > from
    }

    /// The value of the cookie of this name that a request to `place` would carry first.
    #[must_use]
    pub fn value(&self, name: &str, place: Place<'_>, now: UnixSeconds) -> Option<&[u8]> {
        let mut first = None;
        self.each(place, now, |cookie| {
            if first.is_none() && cookie.name() == name.as_bytes() {
                first = Some(cookie.value());
            }
        });
        first
    }

    /// The cookies for a request: those of longer paths first, then older ones first (RFC 6265 §5.4). There are few, so looking
    /// through them once for each length of a path is cheaper than a sorted copy.
    fn each<'a>(&'a self, place: Place<'_>, now: UnixSeconds, mut seen: impl FnMut(&'a Cookie)) {
        let path = place.path.split(['?', '#']).next().unwrap_or_default();
        let goes_there = |cookie: &&Cookie| cookie.goes_to(place, path) && !cookie.is_over(now);
        let mut shorter_than = usize::MAX;
        while let Some(length) =
            self.cookies.iter().filter(goes_there).map(|cookie| cookie.path().len()).filter(|length| *length < shorter_than).max()
        {
            self.cookies.iter().filter(goes_there).filter(|cookie| cookie.path().len() == length).for_each(&mut seen);
            shorter_than = length;
        }
    }

    /// Forgets every cookie, and gives back their memory.
    pub fn clear(&mut self) {
        self.cookies = Vec::new();
    }

    /// How many cookies, those included that have expired since the last was set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cookies.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The heap it holds, in bytes, without what the allocator adds.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.cookies.capacity() * size_of::<Cookie>() + self.cookies.iter().map(|cookie| cookie.text.len()).sum::<usize>()
    }
}

impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jar of {}", self.cookies.len())
    }
}

/// Who gets a cookie beside its domain and path.
#[derive(Clone, Copy)]
struct Reach {
    host_only: bool,
    secure: bool,
}

impl Cookie {
    /// `None` if a part is longer than can be counted, which bounds elsewhere exclude but for the domain and the path of a request.
    fn new(name: &[u8], value: &[u8], domain: &[u8], path: &[u8], reach: Reach, expires: UnixSeconds) -> Option<Self> {
        if domain.len() > ATTRIBUTE_BYTES_MAX || path.len() > ATTRIBUTE_BYTES_MAX {
            return None;
        }
        let mut text = Vec::with_capacity(name.len() + value.len() + domain.len() + path.len());
        text.extend_from_slice(name);
        text.extend_from_slice(value);
        text.extend(domain.iter().map(u8::to_ascii_lowercase));
        text.extend_from_slice(path);
        Some(Self {
            text: text.into_boxed_slice(),
            name_bytes: u16::try_from(name.len()).ok()?,
            value_bytes: u16::try_from(value.len()).ok()?,
            domain_bytes: u16::try_from(domain.len()).ok()?,
            host_only: reach.host_only,
            secure: reach.secure,
            expires,
        })
    }

    fn part(&self, from: usize, length: usize) -> &[u8] {
        &self.text[from..from + length]
    }

    fn name(&self) -> &[u8] {
        self.part(0, self.name_bytes.into())
    }

    fn value(&self) -> &[u8] {
        self.part(self.name_bytes.into(), self.value_bytes.into())
    }

    fn domain(&self) -> &[u8] {
        self.part(usize::from(self.name_bytes) + usize::from(self.value_bytes), self.domain_bytes.into())
    }

    fn path(&self) -> &[u8] {
        let from = usize::from(self.name_bytes) + usize::from(self.value_bytes) + usize::from(self.domain_bytes);
        &self.text[from..]
    }

    fn is_the_same(&self, other: &Self) -> bool {
        self.name() == other.name() && self.domain() == other.domain() && self.path() == other.path()
    }

    fn is_over(&self, now: UnixSeconds) -> bool {
        self.expires != SESSION && self.expires <= now
    }

    fn goes_to(&self, place: Place<'_>, path: &str) -> bool {
        let host = place.host;
        (place.secure || !self.secure)
            && if self.host_only { host.as_bytes().eq_ignore_ascii_case(self.domain()) } else { belongs(host, self.domain()) }
            && path_belongs(path.as_bytes(), self.path())
    }
}

/// Whether a host is this domain or below it (RFC 6265 §5.1.3).
fn belongs(host: &str, domain: &[u8]) -> bool {
    let bytes = host.as_bytes();
    let Some(before) = bytes.len().checked_sub(domain.len()) else { return false };
    bytes[before..].eq_ignore_ascii_case(domain) && (before == 0 || (!domain.is_empty() && bytes[before - 1] == b'.' && !is_address(host)))
}

fn is_address(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok()
}

/// Whether a path is this one or below it (RFC 6265 §5.1.4).
fn path_belongs(path: &[u8], above: &[u8]) -> bool {
    // A request without a path asks for `/`.
    let path = if path.is_empty() { b"/" } else { path };
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || above.ends_with(b"/") || rest.starts_with(b"/"))
}

/// The folder of a path (RFC 6265 §5.1.4).
fn default_path(path: &str) -> &str {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match path.rfind('/') {
        Some(last) if last > 0 && path.starts_with('/') => &path[..last],
        _ => "/",
    }
}

/// One `Set-Cookie`, read as RFC 6265 §5.2 says.
struct SetCookie<'a> {
    name: &'a [u8],
    value: &'a [u8],
    expires: Option<UnixSeconds>,
    /// Seconds from now.
    max_age: Option<i64>,
    /// Without a dot in front; not empty.
    domain: Option<&'a [u8]>,
    /// Begins with a slash.
    path: Option<&'a str>,
    secure: bool,
}

impl<'a> SetCookie<'a> {
    fn read(line: &'a [u8]) -> Option<Self> {
        let (name, value) = pair(line)?;
        let mut set = Self { name, value, expires: None, max_age: None, domain: None, path: None, secure: false };
        for attribute in line.split(|byte| *byte == b';').skip(1) {
            let (name, value) = match memchr::memchr(b'=', attribute) {
                Some(at) => (attribute[..at].trim_ascii(), attribute[at + 1..].trim_ascii()),
                None => (attribute.trim_ascii(), &b""[..]),
            };
            if value.len() > ATTRIBUTE_BYTES_MAX {
                continue;
            }
            // The last of several of one name counts.
            if name.eq_ignore_ascii_case(b"expires") {
                set.expires = UnixSeconds::of_cookie(value).or(set.expires);
            } else if name.eq_ignore_ascii_case(b"max-age") {
                set.max_age = seconds(value).or(set.max_age);
            } else if name.eq_ignore_ascii_case(b"domain") {
                let domain = value.strip_prefix(b".").unwrap_or(value);
                set.domain = (!domain.is_empty()).then_some(domain);
            } else if name.eq_ignore_ascii_case(b"path") {
                set.path = std::str::from_utf8(value).ok().filter(|path| path.starts_with('/'));
            } else if name.eq_ignore_ascii_case(b"secure") {
                set.secure = true;
            }
        }
        Some(set)
    }

    fn expires(&self, now: UnixSeconds) -> UnixSeconds {
        match (self.max_age, self.expires) {
            (Some(span), _) if span <= 0 => UnixSeconds(i64::MIN),
            (Some(span), _) => UnixSeconds(now.0.saturating_add(span)),
            (None, Some(moment)) => moment,
            (None, None) => SESSION,
        }
    }
}

/// Name and value of a `Set-Cookie`; `None` if it has no name or control characters, which no cookie may have.
pub(crate) fn pair(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b';', line).unwrap_or(line.len());
    let equals = memchr::memchr(b'=', &line[..end])?;
    let (name, value) = (line[..equals].trim_ascii(), line[equals + 1..end].trim_ascii());
    let is_sound = |text: &[u8]| !text.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t');
    (!name.is_empty() && is_sound(name) && is_sound(value)).then_some((name, value))
}

/// `Max-Age`: a whole number, however large.
fn seconds(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0i64, |number, digit| number.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some(if digits.len() < value.len() { -number } else { number })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: UnixSeconds = UnixSeconds(1_700_000_000);

    /// A place from a URL.
    fn place(url: &str) -> Place<'_> {
        let (scheme, rest) = url.split_once("://").unwrap();
        let slash = rest.find('/').unwrap_or(rest.len());
        Place { host: &rest[..slash], path: &rest[slash..], secure: scheme == "https" }
    }

    fn set(jar: &mut Jar, url: &str, line: &str) -> bool {
        let lines = format!("Set-Cookie: {line}\n");
        jar.take(Headers::lines(lines.as_bytes()), place(url), NOW) == 0
    }

    fn sent(jar: &Jar, url: &str, now: UnixSeconds) -> String {
        let mut out = Vec::new();
        let any = jar.write(place(url), now, &mut out);
        assert_eq!(any, !out.is_empty());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_cookie_goes_where_it_belongs_and_nowhere_else() {
        // Set by, the line, asked for, what is sent.
        let cases = [
            ("http://a.test/", "id=1", "http://a.test/", "id=1"),
            ("http://a.test/", "id=1", "http://A.TEST/x/y?z", "id=1"),
            ("http://a.test/", "id=1", "http://b.a.test/", ""),
            ("http://a.test/", "id=1", "http://b.test/", ""),
            ("http://a.test", "id=1", "http://a.test", "id=1"),
            ("http://www.a.test/", "id=1; Domain=a.test", "http://a.test/", "id=1"),
            ("http://www.a.test/", "id=1; Domain=.A.test", "http://api.a.test/", "id=1"),
            ("http://www.a.test/", "id=1; Domain=a.test", "http://nota.test/", ""),
            ("http://www.a.test/", "id=1; Domain=", "http://api.a.test/", ""),
            ("http://a.test/", "id=1; Domain=a.test", "http://www.a.test/", "id=1"),
            ("http://10.0.0.1/", "id=1; Domain=10.0.0.1", "http://10.0.0.1/", "id=1"),
            ("http://a.test/shop/cart", "id=1", "http://a.test/shop", "id=1"),
            ("http://a.test/shop/cart", "id=1", "http://a.test/shop/pay", "id=1"),
            ("http://a.test/shop/cart", "id=1", "http://a.test/shopping", ""),
            ("http://a.test/shop/cart?to=/x/", "id=1", "http://a.test/shop/", "id=1"),
            ("http://a.test/shop/cart", "id=1; Path=/", "http://a.test/", "id=1"),
            ("http://a.test/", "id=1; path=/shop/", "http://a.test/shop", ""),
            ("http://a.test/", "id=1; path=/shop/", "http://a.test/shop/x", "id=1"),
            ("http://a.test/shop/cart", "id=1; Path=relative", "http://a.test/", ""),
            ("http://a.test/", "id=1; Path=/x; Path=/y", "http://a.test/y", "id=1"),
            ("https://a.test/", "id=1; Secure", "https://a.test/", "id=1"),
            ("https://a.test/", "id=1; SECURE ; HttpOnly", "http://a.test/", ""),
            ("http://a.test/", "id=", "http://a.test/", "id="),
            ("http://a.test/", "  id =  a b=c  ; x", "http://a.test/", "id=a b=c"),
            ("http://a.test/", "id=\"1\"", "http://a.test/", "id=\"1\""),
        ];
        for (by, line, to, expected) in cases {
            let mut jar = Jar::new();
            assert!(set(&mut jar, by, line), "{line} of {by}");
            assert_eq!(sent(&jar, to, NOW), expected, "{line} of {by} sent to {to}");
        }
    }

    #[test]
    fn what_is_no_cookie_or_is_for_others_is_refused() {
        let huge = format!("id={}", "x".repeat(COOKIE_BYTES_MAX));
        let cases = [
            ("http://a.test/", "id=1; Domain=b.test"),
            ("http://a.test/", "id=1; Domain=www.a.test"),
            ("http://a.test/", "id=1; Domain=test"),
            ("http://10.0.0.1/", "id=1; Domain=0.0.1"),
            ("http://a.test/", "no cookie"),
            ("http://a.test/", "=1"),
            ("http://a.test/", ";id=1"),
            ("http://a.test/", ""),
            ("http://a.test/", "id=a\u{1}b"),
            ("http://a.test/", huge.as_str()),
        ];
        for (by, line) in cases {
            let mut jar = Jar::new();
            assert!(!set(&mut jar, by, line), "{line}");
            assert_eq!((jar.len(), jar.heap_bytes()), (0, 0));
        }
    }

    #[test]
    fn a_cookie_expires_at_its_moment_and_max_age_counts_more_than_a_date() {
        let later = |seconds| UnixSeconds(NOW.0 + seconds);
        let mut jar = Jar::new();
        for line in [
            "a=1; Max-Age=10",
            "b=1; Expires=Tue, 14 Nov 2023 22:13:30 GMT",
            "c=1; Max-Age=20; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            "d=1; Max-Age=99999999999999999999999",
            "e=1; Max-Age=x; Expires=never",
            "f=1; Max-Age=0",
            "g=1; Max-Age=-5",
        ] {
            assert!(set(&mut jar, "http://a.test/", line), "{line}");
        }
        assert_eq!(sent(&jar, "http://a.test/", later(9)), "a=1; b=1; c=1; d=1; e=1");
        assert_eq!(sent(&jar, "http://a.test/", later(10)), "c=1; d=1; e=1");
        assert_eq!(sent(&jar, "http://a.test/", later(1_000_000)), "d=1; e=1");
        assert!(set(&mut jar, "http://a.test/", "d=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"), "deleting is taking");
        assert!(set(&mut jar, "http://a.test/", "e=; Max-Age=0"));
        assert_eq!(sent(&jar, "http://a.test/", later(10)), "c=1");
    }

    #[test]
    fn longer_paths_come_first_then_older_cookies_and_a_new_value_keeps_its_place() {
        let mut jar = Jar::new();
        for line in
            ["a=1; Path=/", "b=1; Path=/shop", "c=1; Path=/", "d=1; Path=/shop/cart", "b=2; Path=/shop", "e=1; Path=/shop", "a=3; Path=/"]
        {
            assert!(set(&mut jar, "http://a.test/", line));
        }
        assert_eq!(sent(&jar, "http://a.test/shop/cart", NOW), "d=1; b=2; e=1; a=3; c=1");
        assert!(set(&mut jar, "http://a.test/", "a=deep; Path=/shop"));
        assert_eq!(jar.value("a", place("http://a.test/shop/cart"), NOW), Some(&b"deep"[..]));
        assert_eq!(jar.value("a", place("http://a.test/"), NOW), Some(&b"3"[..]));
        assert_eq!(jar.value("z", place("http://a.test/"), NOW), None);
    }

    #[test]
    fn a_scenario_may_put_cookies_into_a_jar() {
        let mut jar = Jar::new();
        let give = |jar: &mut Jar, line: &str| jar.give(line.as_bytes(), "A.test", NOW);
        assert!(give(&mut jar, "lang=de"));
        assert_eq!(sent(&jar, "https://a.test/any/where", UnixSeconds(i64::MAX)), "lang=de");
        assert!(give(&mut jar, "lang=en"), "a later one replaces it");
        assert_eq!(sent(&jar, "http://a.test/", NOW), "lang=en");
        // For whichever host it names.
        assert!(give(&mut jar, "theme=dark; Domain=.cdn.test; Path=/img; Secure") && give(&mut jar, "ip=1; Domain=127.0.0.1"));
        assert_eq!(sent(&jar, "https://x.cdn.test/img/a.png", NOW), "theme=dark");
        assert_eq!((sent(&jar, "http://cdn.test/img/", NOW), sent(&jar, "https://cdn.test/", NOW)), (String::new(), String::new()));
        assert_eq!(sent(&jar, "http://127.0.0.1/", NOW), "ip=1");
        for line in ["", "=x", "novalue", "a=x\r\ny", &format!("a={}", "x".repeat(COOKIE_BYTES_MAX))] {
            assert!(!give(&mut jar, line), "{line}");
        }
        jar.clear();
        assert_eq!((jar.is_empty(), jar.heap_bytes()), (true, 0));
    }

    #[test]
    fn an_empty_jar_costs_no_heap_and_one_session_little() {
        let mut jar = Jar::new();
        assert_eq!((jar.heap_bytes(), size_of::<Jar>()), (0, 24));
        assert!(set(&mut jar, "http://shop.test/", "session=0123456789abcdef0123456789abcdef; Path=/; HttpOnly"));
        assert!(jar.heap_bytes() <= 100, "{}", jar.heap_bytes());
        assert!(set(&mut jar, "http://shop.test/", "session=; Max-Age=0; Path=/"));
        assert_eq!(jar.heap_bytes(), 0, "the last cookie gives back its memory");
    }

    #[test]
    fn a_hostile_server_cannot_fill_the_memory() {
        let mut jar = Jar::new();
        for number in 0..10_000 {
            assert!(set(&mut jar, "http://a.test/", &format!("c{number}=1")));
        }
        assert_eq!(jar.len(), DOMAIN_COOKIES_MAX);
        assert!(sent(&jar, "http://a.test/", NOW).ends_with("; c9999=1"), "the newest are kept");
        for number in 0..10_000 {
            let host = format!("http://h{}.b.test/", number % 100);
            assert!(set(&mut jar, &host, &format!("c{number}={}", "x".repeat(3000))));
        }
        assert!(jar.heap_bytes() <= JAR_BYTES_MAX + 50 * size_of::<Cookie>(), "{}", jar.heap_bytes());
        assert!(!set(&mut jar, "http://a.test/", &format!("id={}", "x".repeat(10_000_000))), "a cookie of 10 MB");
        assert!(set(&mut jar, "http://a.test/", &format!("id=1{}", "; a=b".repeat(100_000))), "100,000 attributes");
        assert!(set(&mut jar, "http://a.test/", &format!("long=1; Path=/{}", "x".repeat(100_000))), "a path of 100 kB is passed over");
        assert!(sent(&jar, "http://a.test/", NOW).contains("long=1"));
    }

    #[test]
    fn a_jar_prints_no_values() {
        let mut jar = Jar::new();
        assert!(set(&mut jar, "http://a.test/", "session=sesame"));
        assert_eq!(format!("{jar:?}"), "Jar of 1");
    }

    proptest! {
        #[test]
        fn what_was_set_is_sent_back(name in "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}", value in "[!#-+\\--:<-\\[\\]-~]{0,40}") {
            let mut jar = Jar::new();
            let line = format!("{name}={value}; Path=/; HttpOnly");
            prop_assert!(set(&mut jar, "http://a.test/", &line));
            prop_assert_eq!(sent(&jar, "http://a.test/", NOW), format!("{}={}", name, value));
        }

        #[test]
        fn any_bytes_leave_a_jar_that_writes_headers(lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 0..20)) {
            let mut jar = Jar::new();
            let pairs: Vec<(&[u8], &[u8])> = lines.iter().map(|line| (&b"set-cookie"[..], line.as_slice())).collect();
            jar.take(Headers::pairs(&pairs), place("http://a.test/x/y"), NOW);
            let mut out = Vec::new();
            jar.write(place("http://a.test/x/y"), NOW, &mut out);
            prop_assert!(!out.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t'));
            prop_assert!(jar.heap_bytes() <= 2 * JAR_BYTES_MAX);
        }
    }
}
