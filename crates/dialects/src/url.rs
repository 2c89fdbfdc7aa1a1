//! A URL as it was written.
//!
//! wrk, hey and vegeta send in Host what the user typed: the port exactly if one was written. A parsed target, the alternative, has
//! dropped `:80` by then. Invariant: what is read is put together again to what was written, but for user and password.

/// A URL taken apart as wrk does, which keeps what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The whole.
    pub text: String,
    /// In lower case.
    pub scheme: String,
    /// Without brackets.
    pub host: String,
    /// If one was written.
    pub port: Option<String>,
    /// From the path on: with the query and whatever else follows.
    pub path: String,
}

impl Url {
    /// `None` without scheme or host.
    pub fn read(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority.rsplit_once('@').map_or(authority, |(_, authority)| authority);
        let (host, port) = match authority.strip_prefix('[') {
            Some(bracketed) => {
                let (host, rest) = bracketed.split_once(']')?;
                (host, rest.strip_prefix(':'))
            }
            None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
        };
        let letters = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        let number = |port: &str| port.parse::<u16>().is_ok();
        if !letters(scheme) || host.is_empty() || text.contains(char::is_whitespace) || port.is_some_and(|port| !number(port)) {
            return None;
        }
        Some(Self {
            text: text.to_owned(),
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_owned(),
            port: port.map(str::to_owned),
            path: if path.starts_with('/') { path.to_owned() } else { format!("/{path}") },
        })
    }

    /// The host, an IPv6 address in brackets.
    pub fn bracketed(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }

    /// What stands in Host: the port exactly if one was written.
    pub fn authority(&self) -> String {
        self.port.as_ref().map_or_else(|| self.bracketed(), |port| format!("{}:{port}", self.bracketed()))
    }

    /// The port, or the name of the scheme.
    pub fn service(&self) -> &str {
        self.port.as_deref().unwrap_or(&self.scheme)
    }

    /// Without user and password, which wrk does not send either.
    pub fn without_credentials(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_what_was_written() {
        for (text, authority, service, path) in [
            ("http://h", "h", "http", "/"),
            ("http://h:80/a?b#c", "h:80", "80", "/a?b#c"),
            ("https://[::1]:8443/x", "[::1]:8443", "8443", "/x"),
            ("http://[::1]", "[::1]", "http", "/"),
            ("http://u:p@h/?q", "h", "http", "/?q"),
        ] {
            let url = Url::read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((url.authority().as_str(), url.service(), url.path.as_str()), (authority, service, path), "{text}");
        }
    }
}
