//! The rule of redirects: where one leads, and which method, headers and body go there.
//!
//! Plain requests, journeys and the clients of other tools all follow redirects, and each had the rule written out: a header that must
//! not travel had to be thought of in all of them. So it stands here once, and where another tool follows otherwise, that is a
//! [`Convention`]. To send everybody by the one rule was rejected: a tool's report is trusted because its requests are the tool's own.
//!
//! Invariant: pure. A header whose name is that of a secret never reaches another origin by [`Convention::Browser`].

use measure::{Failure, Status};
use plan::{Scheme, Target, is_secret};

use crate::protocol::{Encoded, EncodedRef, Layout};

/// Whose way of following redirects is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convention {
    /// Browsers and RFC 9110 §15.4: 303 turns all but HEAD into GET, 301 and 302 POST alone. Secrets stay at the origin where the chain
    /// began.
    Browser,
    /// The client of Go, of hey and vegeta: 301, 302 and 303 turn all but GET and HEAD into GET, the page before is named as the Referer,
    /// and all other headers travel along, since a load stays on its server.
    Go,
    /// siege: 301, 302 and 303 turn everything into GET, HEAD too.
    Siege,
}

impl Convention {
    /// Whether a request with this method goes on as a GET without a body.
    #[must_use]
    pub fn becomes_get(self, status: Status, method: &str) -> bool {
        match (self, status.0) {
            (Self::Browser, 303) => method != "HEAD",
            (Self::Browser, 301 | 302) => method == "POST",
            (Self::Go, 301..=303) => !matches!(method, "GET" | "HEAD"),
            (Self::Siege, 301..=303) => true,
            _ => false,
        }
    }

    /// Whether a header, by its name in small letters, says something about a body.
    fn is_about_the_body(self, name: &str) -> bool {
        match self {
            Self::Browser | Self::Siege => name.starts_with("content-") || name == "expect",
            Self::Go => matches!(name, "content-length" | "transfer-encoding" | "content-type" | "content-encoding"),
        }
    }
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectError {
    /// Its Location is not a URL to be loaded: why, in words that follow the Location.
    Target(String),
    /// It leads to a server that was not named.
    Outside(Target),
    /// As many have been followed as may be.
    Limit,
}

impl RedirectError {
    /// The class of the request's failure.
    #[must_use]
    pub const fn failure(&self) -> Failure {
        match self {
            Self::Target(_) => Failure::RedirectTarget,
            Self::Outside(_) => Failure::RedirectOutside,
            Self::Limit => Failure::RedirectLimit,
        }
    }
}

/// How many redirects of a chain have been followed, and how many may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hops {
    /// Followed so far.
    pub followed: u8,
    /// May be followed.
    pub max: u8,
}

/// The place that a `Location` leads to from `from`.
///
/// # Errors
/// If the redirect is not to be followed: its Location is no URL, its server is not one of the `allowed`, or it is one too many.
pub fn destination(from: &Target, location: &str, hops: Hops, allowed: impl FnOnce(&Target) -> bool) -> Result<Target, RedirectError> {
    let to = from.join(location).map_err(RedirectError::Target)?;
    if !matches!(to.scheme(), Scheme::Http | Scheme::Https) {
        return Err(RedirectError::Target(format!("has the scheme '{}', which is no redirect's", to.scheme())));
    }
    if !allowed(&to) {
        return Err(RedirectError::Outside(to));
    }
    if hops.followed >= hops.max { Err(RedirectError::Limit) } else { Ok(to) }
}

/// A redirect that is followed.
#[derive(Debug, Clone, Copy)]
pub struct Hop<'a> {
    /// Whose way it is followed.
    pub convention: Convention,
    /// Where the chain began: its secrets belong there.
    pub began: &'a Target,
    /// Where the request went that was redirected.
    pub from: &'a Target,
    /// Where it leads.
    pub to: &'a Target,
    /// The status that redirects.
    pub status: Status,
    /// Of the request that was redirected.
    pub method: &'a str,
}

impl<'a> Hop<'a> {
    /// Whether the request goes on as a GET without a body.
    #[must_use]
    pub fn becomes_get(&self) -> bool {
        self.convention.becomes_get(self.status, self.method)
    }

    /// The method that the request goes on with.
    #[must_use]
    pub fn method(&self) -> &'a str {
        if self.becomes_get() { "GET" } else { self.method }
    }

    /// Whether the redirect leads away from the origin where the chain began, and secrets are not to go with it.
    #[must_use]
    pub fn leaves_secrets(&self) -> bool {
        self.convention == Convention::Browser && !self.to.same_origin(self.began)
    }

    /// Whether a header goes on, by its name in small letters, with a body or without one.
    #[must_use]
    pub fn keeps(&self, name: &str, has_body: bool) -> bool {
        (has_body || !self.convention.is_about_the_body(name)) && !(self.leaves_secrets() && is_secret(name))
    }

    /// The request that follows `request`, without the headers that are `dropped` beside, by their names in small letters; `None` if it
    /// has a line that is no header.
    #[must_use]
    pub fn rewritten(&self, request: EncodedRef<'_>, dropped: impl Fn(&str) -> bool) -> Option<Encoded> {
        let Self { convention, from, to, .. } = *self;
        let becomes_get = self.becomes_get();
        let asks_a_proxy = request.target().starts_with("http://");
        let place = if asks_a_proxy { to.absolute() } else { to.path_and_query().to_owned() };
        let mut out = format!("{} {place} HTTP/1.1\r\n", self.method()).into_bytes();
        let names_the_page = convention == Convention::Go;
        for (spelled, value) in request.headers().ok()? {
            let name = spelled.to_ascii_lowercase();
            if !self.keeps(&name, !becomes_get) || dropped(&name) || names_the_page && name == "referer" {
                continue;
            }
            if name == "host" && (convention == Convention::Go || !to.same_origin(from)) {
                out.extend_from_slice(format!("Host: {}\r\n", to.authority()).as_bytes());
                continue;
            }
            [spelled.as_bytes(), b":", value, b"\r\n"].into_iter().for_each(|part| out.extend_from_slice(part));
        }
        if names_the_page && !(from.scheme() == Scheme::Https && to.scheme() == Scheme::Http) {
            out.extend_from_slice(format!("Referer: {}{}\r\n", from.origin(), from.path_and_query()).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        let layout = Layout::new(self.method(), out.len());
        if !becomes_get {
            out.extend_from_slice(request.body());
        }
        Some(Encoded { bytes: out, layout })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Target {
        url.parse().unwrap()
    }

    #[test]
    fn a_status_decides_which_method_goes_on() {
        use Convention::{Browser, Go, Siege};
        for (convention, statuses, method, expected) in [
            (Browser, [301, 302, 303, 307, 308], "POST", ["GET", "GET", "GET", "POST", "POST"]),
            (Browser, [301, 302, 303, 307, 308], "PUT", ["PUT", "PUT", "GET", "PUT", "PUT"]),
            (Browser, [301, 302, 303, 307, 308], "HEAD", ["HEAD"; 5]),
            (Browser, [301, 302, 303, 307, 308], "GET", ["GET"; 5]),
            (Go, [301, 302, 303, 307, 308], "PUT", ["GET", "GET", "GET", "PUT", "PUT"]),
            (Go, [301, 302, 303, 307, 308], "HEAD", ["HEAD"; 5]),
            (Siege, [301, 302, 303, 307, 308], "HEAD", ["GET", "GET", "GET", "HEAD", "HEAD"]),
        ] {
            let place = target("http://a.test/");
            let after = |status| {
                let hop = Hop { convention, began: &place, from: &place, to: &place, status: Status(status), method };
                hop.method().to_owned()
            };
            assert_eq!(statuses.map(after), expected, "{convention:?} {method}");
        }
    }

    #[test]
    fn a_header_goes_on_where_it_belongs() {
        use Convention::{Browser, Go};
        let (home, away) = (target("http://a.test/"), target("https://a.test/"));
        for (convention, to, name, has_body, expected) in [
            (Browser, &home, "authorization", true, true),
            (Browser, &away, "authorization", true, false),
            (Browser, &away, "x-api-key", true, false),
            (Browser, &away, "cookie", true, false),
            (Browser, &away, "x-id", true, true),
            (Browser, &home, "content-language", false, false),
            (Browser, &home, "content-language", true, true),
            (Go, &away, "authorization", true, true),
            (Go, &home, "content-language", false, true),
            (Go, &home, "content-type", false, false),
        ] {
            let hop = Hop { convention, began: &home, from: &home, to, status: Status(302), method: "POST" };
            assert_eq!(hop.keeps(name, has_body), expected, "{convention:?} {name} to {to}, body: {has_body}");
        }
    }

    /// The request that follows a POST with secrets, without its cookies and its key.
    fn followed(status: u16, to: &str) -> String {
        let (home, to) = (target("http://a.test/login"), target(to));
        let hop = Hop { convention: Convention::Browser, began: &home, from: &home, to: &to, status: Status(status), method: "POST" };
        let first = b"POST /login HTTP/1.1\r\nHost: a.test\r\nCookie: old=1\r\nAuthorization: x\r\nx-key: k\r\nContent-Type: t\r\n\
            Content-Length: 3\r\n\r\na=1";
        let next = hop.rewritten(EncodedRef::read(first), |name| name == "cookie" || name == "x-key" && hop.leaves_secrets()).unwrap();
        assert_eq!(next.layout, EncodedRef::read(&next.bytes).layout());
        String::from_utf8(next.bytes).unwrap()
    }

    #[test]
    fn a_request_is_written_again_for_its_next_place() {
        assert_eq!(followed(303, "http://a.test/home"), "GET /home HTTP/1.1\r\nHost: a.test\r\nAuthorization: x\r\nx-key: k\r\n\r\n");
        assert!(followed(307, "http://a.test/home").ends_with("x-key: k\r\nContent-Type: t\r\nContent-Length: 3\r\n\r\na=1"));
        assert_eq!(followed(302, "http://b.test/x"), "GET /x HTTP/1.1\r\nHost: b.test\r\n\r\n");
    }

    #[test]
    fn a_proxy_is_asked_with_the_whole_url_again() {
        let (home, to) = (target("http://a.test/"), target("http://a.test/x"));
        let hop = Hop { convention: Convention::Go, began: &home, from: &home, to: &to, status: Status(307), method: "GET" };
        let first = EncodedRef::read(b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n");
        assert_eq!(
            hop.rewritten(first, |_| false).unwrap().bytes,
            b"GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nReferer: http://a.test/\r\n\r\n"
        );
        assert_eq!(hop.rewritten(EncodedRef::read(b"GET / HTTP/1.1\r\nno header\r\n\r\n"), |_| false), None);
    }

    #[test]
    fn a_redirect_is_refused_by_its_place_its_server_and_its_number() {
        let from = target("http://a.test/x/y");
        let (first, last) = (Hops { followed: 0, max: 1 }, Hops { followed: 1, max: 1 });
        for location in ["ws://a.test/", "grpc://a.test/b.C/D"] {
            let hops = Hops { followed: 0, max: 5 };
            assert!(matches!(destination(&from, location, hops, |_| true), Err(RedirectError::Target(_))), "{location}");
        }
        let leads = |location, hops| destination(&from, location, hops, |to| to.same_server(&from)).map_err(|error| error.failure());
        assert_eq!(leads("z?q", first), Ok(target("http://a.test/x/z?q")));
        assert_eq!(leads("/z", last), Err(Failure::RedirectLimit));
        for hops in [first, last] {
            assert_eq!(leads("ftp://a.test/", hops), Err(Failure::RedirectTarget));
            assert_eq!(leads("//b.test/", hops), Err(Failure::RedirectOutside));
        }
    }
}
