//! A proxy that connections go through: which protocol it speaks, where it listens, and who asks.
//!
//! Written as a URL, as curl and browsers' settings have it. With `socks5://` the name of the server is looked up here, with `socks5h://`
//! by the proxy.

use crate::encoding::from_base64;
use crate::reading::Reading;
use crate::secret::REDACTED;
use crate::setting::PROXY;
use crate::{HostPort, Target, base64, percent_encoded};

/// A proxy in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// What it speaks.
    pub kind: ProxyKind,
    /// Where it listens.
    pub at: HostPort,
    /// Who asks: the value of Proxy-Authorization (Basic), whichever protocol it speaks.
    pub authorization: Option<String>,
}

/// What a proxy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyKind {
    /// HTTP: plain requests are sent to itself, all else goes through a tunnel (CONNECT).
    Http,
    /// SOCKS 5 (RFC 1928), told addresses.
    Socks5,
    /// SOCKS 5, told names.
    Socks5Names,
}

/// The port of SOCKS (RFC 1928 §3).
const SOCKS_PORT: u16 = 1080;

/// The most that a name and a password may have over SOCKS (RFC 1929 §2).
const CREDENTIAL_BYTES_MAX: usize = 255;

impl ProxyKind {
    const ALL: [(&'static str, Self); 3] = [("http://", Self::Http), ("socks5://", Self::Socks5), ("socks5h://", Self::Socks5Names)];

    /// What its URL begins with.
    const fn scheme(self) -> &'static str {
        match self {
            Self::Http => "http://",
            Self::Socks5 => "socks5://",
            Self::Socks5Names => "socks5h://",
        }
    }
}

impl Proxy {
    /// Whether every connection is a tunnel through it, also those of plain HTTP.
    #[must_use]
    pub const fn tunnels_all(&self) -> bool {
        !matches!(self.kind, ProxyKind::Http)
    }

    /// Who asks: name and password.
    #[must_use]
    pub fn credentials(&self) -> Option<(String, String)> {
        let user = from_base64(self.authorization.as_deref()?.strip_prefix("Basic ")?)?;
        Some(user.split_once(':').map_or_else(|| (user.clone(), String::new()), |(name, password)| (name.to_owned(), password.to_owned())))
    }

    /// As it is typed; `authorization` stands for its own.
    pub(crate) fn written(&self, authorization: Option<String>) -> String {
        let scheme = self.kind.scheme();
        let Some(authorization) = authorization else { return format!("{scheme}{}", self.at) };
        let with = Self { authorization: Some(authorization.clone()), ..self.clone() };
        let user = with
            .credentials()
            .map_or(authorization, |(name, password)| format!("{}:{}", percent_encoded(&name), percent_encoded(&password)));
        format!("{scheme}{user}@{}", self.at)
    }
}

pub(crate) fn read_proxy(r: &mut Reading, proxy: Option<String>) -> Option<Proxy> {
    let text = proxy?;
    let url = if text.contains("://") { text.clone() } else { format!("http://{text}") };
    let known = ProxyKind::ALL.into_iter().find_map(|(scheme, kind)| Some((kind, url.strip_prefix(scheme)?)));
    let Some((kind, rest)) = known else {
        let (what, help) = match url.split_once("://") {
            Some(("https", _)) => ("is reached over TLS, which loadline does not do", "give an http:// proxy"),
            Some(("socks4" | "socks4a", _)) => ("speaks SOCKS 4, which loadline does not", "give a socks5:// or socks5h:// proxy"),
            _ => ("is none of http://, socks5:// and socks5h://", "give a proxy such as http://10.0.0.1:3128"),
        };
        r.wrong(PROXY, format!("{PROXY:#} '{text}' {what}"), help);
        return None;
    };
    // A proxy is read as the server of a URL is.
    match format!("http://{rest}").parse::<Target>() {
        Ok(target) => {
            let has_port = rest.rsplit_once('@').map_or(rest, |(_, at)| at).split('/').next().is_some_and(names_port);
            let port = if kind == ProxyKind::Http || has_port { target.port() } else { SOCKS_PORT };
            let authorization = target.credentials().map(|(user, password)| match user.as_str() {
                REDACTED => REDACTED.to_owned(),
                _ => format!("Basic {}", base64(format!("{user}:{password}").as_bytes())),
            });
            let read = Proxy { kind, at: HostPort { host: target.host().to_owned(), port }, authorization };
            if let Some((name, password)) = read.credentials().filter(|_| read.tunnels_all())
                && ![&name, &password].iter().all(|text| (1..=CREDENTIAL_BYTES_MAX).contains(&text.len()))
            {
                r.wrong(
                    PROXY,
                    format!("the user of {PROXY} is none of SOCKS 5, which has a name and a password of 1 to 255 bytes each"),
                    "give both as NAME:PASSWORD, or leave them out",
                );
            }
            Some(read)
        }
        Err(why) => {
            r.wrong(PROXY, format!("{PROXY:#} '{text}' {why}"), "give a proxy such as http://10.0.0.1:3128");
            None
        }
    }
}

/// Whether a port stands behind a host, whose own colons stand in brackets.
fn names_port(server: &str) -> bool {
    server.rsplit_once(']').map_or(server, |(_, rest)| rest).contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanErrors;

    fn read(text: &str) -> Result<Proxy, String> {
        let mut reading = Reading { errors: PlanErrors::default() };
        let proxy = read_proxy(&mut reading, Some(text.to_owned()));
        match reading.errors.0.first() {
            None => Ok(proxy.unwrap()),
            Some(error) => Err(error.message.marked().to_owned()),
        }
    }

    #[test]
    fn a_proxy_is_read_with_its_kind_and_written_as_it_was() {
        for (text, kind, at, user, written) in [
            ("10.0.0.1:3128", ProxyKind::Http, "10.0.0.1:3128", None, "http://10.0.0.1:3128"),
            ("socks5://p.test", ProxyKind::Socks5, "p.test:1080", None, "socks5://p.test:1080"),
            ("socks5://p.test:80", ProxyKind::Socks5, "p.test:80", None, "socks5://p.test:80"),
            ("socks5://[::1]", ProxyKind::Socks5, "[::1]:1080", None, "socks5://[::1]:1080"),
            ("socks5h://a:b%40c@p.test:9", ProxyKind::Socks5Names, "p.test:9", Some(("a", "b@c")), "socks5h://a:b%40c@p.test:9"),
        ] {
            let proxy = read(text).unwrap();
            assert_eq!((proxy.kind, proxy.at.to_string().as_str()), (kind, at), "{text}");
            assert_eq!(proxy.credentials(), user.map(|(name, password)| (name.to_owned(), password.to_owned())));
            assert_eq!(proxy.written(proxy.authorization.clone()), written);
            assert_eq!(read(written).unwrap(), proxy);
        }
        assert_eq!(read("socks5://***@p.test").unwrap().written(Some(REDACTED.to_owned())), "socks5://***@p.test:1080");
    }

    #[test]
    fn what_is_no_proxy_says_why() {
        let long = format!("socks5://{}:b@p.test", "a".repeat(256));
        for (text, why) in [
            ("https://p.test", "over TLS"),
            ("socks4://p.test", "SOCKS 4"),
            ("ftp://p.test", "none of http://"),
            ("socks5://:80", "socks5://:80"),
            (long.as_str(), "255 bytes"),
        ] {
            let told = read(text).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
}
