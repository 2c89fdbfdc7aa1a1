//! Where requests go: scheme, host, port and path.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use url::Url;

use crate::{Placeholder, percent_decoded, secret};

/// How a URL says to speak: HTTP, WebSocket or gRPC, plain or over TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `http://`
    Http,
    /// `https://`
    Https,
    /// `ws://`
    Ws,
    /// `wss://`
    Wss,
    /// `grpc://`
    Grpc,
    /// `grpcs://`
    Grpcs,
}

impl Scheme {
    /// The port meant when none is written.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http | Self::Ws | Self::Grpc => 80,
            Self::Https | Self::Wss | Self::Grpcs => 443,
        }
    }

    /// Whether it is over TLS.
    #[must_use]
    pub const fn is_tls(self) -> bool {
        matches!(self, Self::Https | Self::Wss | Self::Grpcs)
    }

    /// Whether it is WebSocket.
    #[must_use]
    pub const fn is_websocket(self) -> bool {
        matches!(self, Self::Ws | Self::Wss)
    }

    /// Whether it is gRPC.
    #[must_use]
    pub const fn is_grpc(self) -> bool {
        matches!(self, Self::Grpc | Self::Grpcs)
    }

    /// What a request of HTTP says in its place.
    #[must_use]
    pub const fn of_http(self) -> &'static str {
        if self.is_tls() { "https" } else { "http" }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Ws => "ws",
            Self::Wss => "wss",
            Self::Grpc => "grpc",
            Self::Grpcs => "grpcs",
        })
    }
}

/// A parsed URL: what requests are sent to. User and password move to [`Target::credentials`] and are never printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    scheme: Scheme,
    host: String,
    port: u16,
    path_and_query: String,
    credentials: Option<(String, String)>,
}

impl Target {
    /// Plain or TLS.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host as a name or address; an IPv6 address without its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// The port, written or meant.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// What stands in the request line, such as `/search?q=1`. Starts with `/`.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.path_and_query
    }

    /// User and password written in the URL.
    #[must_use]
    pub const fn credentials(&self) -> Option<&(String, String)> {
        self.credentials.as_ref()
    }

    /// The same without user and password.
    pub(crate) fn without_credentials(self) -> Self {
        self.with_credentials(None)
    }

    /// The same with this user and password.
    pub(crate) fn with_credentials(self, credentials: Option<(String, String)>) -> Self {
        Self { credentials, ..self }
    }

    /// The value of the Host header: the port only where it is not the scheme's own.
    #[must_use]
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// The whole URL as a proxy is asked for it, secrets included: what is shown to people is `to_string()`.
    #[must_use]
    pub fn absolute(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority(), self.path_and_query)
    }

    /// Whether the other is reached by the same connection: scheme, host and port are equal, and over WebSocket the path, since each has a
    /// conversation of its own.
    #[must_use]
    pub fn same_origin(&self, other: &Self) -> bool {
        self.scheme == other.scheme
            && self.host == other.host
            && self.port == other.port
            && (!self.scheme.is_websocket() || self.path_and_query == other.path_and_query)
    }

    /// The same over WebSocket.
    #[must_use]
    pub fn over_websocket(self) -> Self {
        let scheme = if self.scheme.is_tls() { Scheme::Wss } else { Scheme::Ws };
        Self { scheme, ..self }
    }

    /// The same for calls of gRPC.
    #[must_use]
    pub fn over_grpc(self) -> Self {
        let scheme = if self.scheme.is_tls() { Scheme::Grpcs } else { Scheme::Grpc };
        Self { scheme, ..self }
    }

    /// Whether the other is on the same server: http and https of one host are one, by their usual ports or by the same one.
    #[must_use]
    pub fn same_server(&self, other: &Self) -> bool {
        self.server() == other.server()
    }

    /// What tells servers apart: the host, and the port unless it is the scheme's own.
    pub(crate) fn server(&self) -> (String, Option<u16>) {
        (self.host.trim_end_matches('.').to_owned(), Some(self.port).filter(|port| *port != self.scheme.default_port()))
    }

    /// Scheme, host and port, such as `https://api.test:8443`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority())
    }

    /// Where a `Location` header leads from here: absolute or relative.
    ///
    /// # Errors
    /// In words that follow the location, if it is not an http or https URL.
    pub fn join(&self, location: &str) -> Result<Self, String> {
        let base = format!("{}://{}{}", self.scheme, self.authority(), self.path_and_query);
        let base = Url::parse(&base).map_err(|why| why.to_string())?;
        with_marks_kept(location, |location| Self::from_url(&base.join(location).map_err(|why| format!("is not a URL ({why})"))?))
    }

    /// The same with another path and query, which may be a template.
    #[must_use]
    pub fn with_path_and_query(self, path_and_query: String) -> Self {
        Self { path_and_query, ..self }
    }

    fn from_url(url: &Url) -> Result<Self, String> {
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "ws" => Scheme::Ws,
            "wss" => Scheme::Wss,
            "grpc" => Scheme::Grpc,
            "grpcs" => Scheme::Grpcs,
            other => return Err(format!("has the scheme '{other}', and loadline speaks http, https, ws, wss, grpc and grpcs")),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or("has no host")?.to_owned();
        let path_and_query = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            // Of schemes that the URL Standard does not know, an empty path stays one.
            None if url.path().is_empty() => "/".to_owned(),
            None => url.path().to_owned(),
        };
        let credentials = (!url.username().is_empty() || url.password().is_some())
            .then(|| (percent_decoded(url.username()), percent_decoded(url.password().unwrap_or_default())));
        Ok(Self { scheme, host, port: url.port().unwrap_or(scheme.default_port()), path_and_query, credentials })
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let whole = if has_scheme(text) {
            text.to_owned()
        } else if begins_with_host(text) {
            // As browsers and curl take it.
            format!("http://{text}")
        } else {
            return Err("has no scheme".to_owned());
        };
        if text.chars().any(|c| c.is_control()) {
            return Err("contains a control character".to_owned());
        }
        with_marks_kept(&whole, |whole| Self::from_url(&Url::parse(whole).map_err(|why| format!("is not a URL ({why})"))?))
    }
}

/// What is made of a URL, with the quotation marks ' of its query as they are. The URL Standard encodes them there, where one may end an
/// attribute of HTML; a query may hold them (RFC 3986 §3.4), and other tools send them as they are typed.
fn with_marks_kept(url: &str, made: impl FnOnce(&str) -> Result<Target, String>) -> Result<Target, String> {
    let from = server_in(url).end;
    let Some(query) = url[from..].find('?').filter(|query| url[from + query..].contains('\'')) else { return made(url) };
    let (before, query) = url.split_at(from + query);
    let mark = Placeholder::absent_from(url).number(0);
    let mut target = made(&format!("{before}{}", query.replace('\'', &mark)))?;
    target.path_and_query = target.path_and_query.replace(&mark, "'");
    Ok(target)
}

/// Whether a text is to be read as a URL, with its scheme or without.
#[must_use]
pub fn is_address(text: &str) -> bool {
    has_scheme(text) || begins_with_host(text)
}

/// Whether a text says how to speak, as `http://a.test/` does, and `a.test/?next=http://b.test/` does not.
#[must_use]
pub fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(['/', '?', '#']))
}

/// Where the server stands in a URL, in bytes: behind its scheme, if it has one, and before path, query and fragment.
#[must_use]
pub fn server_in(url: &str) -> Range<usize> {
    let from = if has_scheme(url) { url.find("://").map_or(0, |at| at + 3) } else { 0 };
    let to = url[from..].find(['/', '?', '#']).map_or(url.len(), |length| from + length);
    from..to
}

/// Whether a text that has no scheme begins with a server all the same, as `127.0.0.1:8080/healthz`, `localhost` and `api.test/users` do.
/// A bare word may be a slip of the pen, and `script.js` is a file: neither is one.
#[must_use]
pub fn begins_with_host(text: &str) -> bool {
    let text = text.trim();
    let (authority, path) = text.split_at(text.find(['/', '?', '#']).unwrap_or(text.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.starts_with('[') {
        return host.contains(']');
    }
    let (name, port) = host.rsplit_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|letter| letter.is_alphanumeric() || "-_".contains(letter));
    if !name.split('.').all(is_label) {
        return false;
    }
    match port {
        Some(port) => !port.is_empty() && port.chars().all(|digit| digit.is_ascii_digit()),
        None if name.eq_ignore_ascii_case("localhost") => true,
        None => {
            name.rsplit_once('.').is_some_and(|(_, last)| !path.is_empty() || !FILE_ENDINGS.contains(&last.to_ascii_lowercase().as_str()))
        }
    }
}

/// Endings of files that people put in the place of a URL: scripts and recordings of load testers, lists, logs.
const FILE_ENDINGS: &[&str] = &[
    "har", "js", "mjs", "cjs", "ts", "jmx", "py", "json", "jsonl", "yaml", "yml", "sh", "txt", "csv", "log", "lua", "http", "xml", "toml",
    "scala", "java", "kt", "rb", "html", "md", "dat", "conf", "gz", "zip", "zst", "bz2", "xz", "pdf",
];

/// The whole URL, without credentials; secrets in its query are `***`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority(), secret::url_without_secrets(&self.path_and_query))
    }
}

/// A host and a port, such as `10.0.0.7:8080` or `[::1]:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// A name or address; an IPv6 address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "is not HOST:PORT, such as 10.0.0.7:8080".to_owned();
        let (host, port) = text.trim().rsplit_once(':').ok_or_else(wrong)?;
        let bracketed = host.starts_with('[') && host.ends_with(']');
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || (host.contains(':') && !bracketed) {
            return Err(wrong());
        }
        let port = port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?;
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') { write!(f, "[{}]:{}", self.host, self.port) } else { write!(f, "{}:{}", self.host, self.port) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_in_a_url_is_before_path_and_query() {
        for (url, server) in [
            ("http://a.test:80/x?u=http://b.test/", "a.test:80"),
            ("a.test/x?u=http://b.test/", "a.test"),
            ("a.test?u=http://b.test/", "a.test"),
            ("https://a.test", "a.test"),
            ("/x?u=http://b.test/", ""),
        ] {
            assert_eq!(&url[server_in(url)], server, "{url}");
        }
    }

    #[test]
    fn a_url_is_taken_apart() {
        let target: Target = "http://user:p%40ss@[::1]:8080/a/b?x=1#part".parse().unwrap();
        assert_eq!((target.host(), target.port(), target.path_and_query()), ("::1", 8080, "/a/b?x=1"));
        assert_eq!(target.credentials(), Some(&("user".to_owned(), "p@ss".to_owned())));
        assert_eq!(target.to_string(), "http://[::1]:8080/a/b?x=1");
        let quoted: Target = "http://a.test/it's?q='\u{fc}'&~value0~='#it's".parse().unwrap();
        assert_eq!(quoted.path_and_query(), "/it's?q='%C3%BC'&~value0~='");
        assert_eq!(quoted.join("?b='").unwrap().path_and_query(), "/it's?b='");
        let target: Target = "grpcs://[::1]/a.B/C".parse().unwrap();
        assert_eq!((target.host(), target.port(), target.path_and_query(), target.scheme().of_http()), ("::1", 443, "/a.B/C", "https"));
        assert_eq!("grpc://api.test:50051".parse::<Target>().unwrap().to_string(), "grpc://api.test:50051/");
        let target: Target = "https://api.test".parse().unwrap();
        assert_eq!((target.authority().as_str(), target.port(), target.path_and_query()), ("api.test", 443, "/"));
    }

    #[test]
    fn a_server_without_a_scheme_is_asked_by_http() {
        for (text, url) in [
            ("127.0.0.1:8080/healthz", "http://127.0.0.1:8080/healthz"),
            ("localhost", "http://localhost/"),
            ("api.test/a.js?next=http://b.test/", "http://api.test/a.js?next=http://b.test/"),
            ("[::1]:81", "http://[::1]:81/"),
            ("backend:8080", "http://backend:8080/"),
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), url);
        }
    }

    #[test]
    fn what_is_no_target_is_refused_in_words() {
        for (text, part) in [
            ("healthz", "no scheme"),
            ("/healthz", "no scheme"),
            ("script.js", "no scheme"),
            ("./a.test", "no scheme"),
            ("a.test:http/", "no scheme"),
            ("ftp://a/", "the scheme 'ftp'"),
            ("grpc://", "has no host"),
            ("http://", "not a URL"),
            ("http://a:99999/", "not a URL"),
            ("http://a b/", "not a URL"),
        ] {
            let why = text.parse::<Target>().unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn locations_lead_on_relative_or_absolute_but_not_elsewhere() {
        let target: Target = "http://a.test/x/y?q".parse().unwrap();
        assert_eq!(target.join("../z").unwrap().to_string(), "http://a.test/z");
        assert_eq!(target.join("//b.test/").unwrap().to_string(), "http://b.test/");
        assert!(target.join("file:///etc/passwd").is_err());
    }

    #[test]
    fn a_host_and_port_reads_back() {
        for text in ["10.0.0.7:8080", "[::1]:80", "api.test:1"] {
            assert_eq!(text.parse::<HostPort>().unwrap().to_string(), text);
        }
        for text in ["api.test", ":80", "a:0", "a:b", "::1:80"] {
            assert!(text.parse::<HostPort>().is_err(), "{text}");
        }
    }
}
