//! Who may ask: judged by the name in `Host`, by the origin, and by the token where there is one.
//!
//! Three attacks come through the browser of somebody who is allowed to ask. A page of another name lets that name lead to
//! 127.0.0.1 and is then of our origin (rebinding): only the name in `Host` gives it away, since an attacker's name is no address.
//! A page sends a form or a script here (forgery): the browser says where from. And where others can reach the port, they ask
//! themselves: they have no token. Each is looked at separately, because none stops the others.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use ring::rand::{SecureRandom as _, SystemRandom};
use subtle::ConstantTimeEq as _;

use crate::answer::Problem;

/// Judges requests.
#[derive(Debug)]
pub struct Guard {
    port: u16,
    reach: Reach,
    names: Vec<String>,
    token: Option<Token>,
    /// What a cookie holds for whoever showed the token: the token itself stays out of the browser's store.
    session: Token,
}

/// From where the server can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    ThisMachine,
    Others,
}

/// 256 bits of chance, or a secret the user chose.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// 32 bytes of chance as letters, digits, - and _: what nobody guesses.
///
/// # Panics
/// If the system has no source of chance.
#[must_use]
pub fn random_text() -> String {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).expect("the system has a source of chance");
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

impl Token {
    /// One that nobody can guess.
    ///
    /// # Panics
    /// If the system has no source of chance.
    #[must_use]
    pub fn fresh() -> Self {
        Self(random_text())
    }

    /// One that the user chose.
    ///
    /// # Errors
    /// In words that follow where it comes from, if it could be guessed or cannot stand in a header.
    pub fn chosen(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.len() < TOKEN_LETTERS_MIN {
            return Err("holds fewer than 16 letters, which can be guessed");
        }
        if !text.bytes().all(|letter| letter.is_ascii_graphic()) {
            return Err("holds something else than letters, digits and signs of ASCII");
        }
        Ok(Self(text.to_owned()))
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// In a time that says nothing about how much of it is right.
    fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// 16 letters of 64 are 96 bits.
const TOKEN_LETTERS_MIN: usize = 16;

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

impl Guard {
    /// For a server at this address. `names` are those it may be called by beside addresses and `localhost`.
    ///
    /// # Panics
    /// If others can reach it and there is no token: our mistake.
    #[must_use]
    pub fn new(address: SocketAddr, names: Vec<String>, token: Option<Token>) -> Self {
        let reach = if address.ip().is_loopback() { Reach::ThisMachine } else { Reach::Others };
        assert!(reach == Reach::ThisMachine || token.is_some(), "a server that others can reach has a token");
        Self { port: address.port(), reach, names, token, session: Token::fresh() }
    }

    /// Whether the request may be looked at at all: it is meant for this server, and no foreign page sent it.
    ///
    /// # Errors
    /// With what to answer.
    pub(crate) fn admit(&self, headers: &HeaderMap, changes: Changes) -> Result<(), Problem> {
        let host = one(headers, &HOST).unwrap_or_default();
        if !self.is_called(host) {
            return Err(Problem::forbidden(
                "this server is not called by the name in the Host header",
                "open the address that loadline printed, or allow the name with loadline serve --host NAME",
            ));
        }
        let foreign = || {
            Problem::forbidden(
                "this request comes from a page of another origin",
                "use the pages of this server, or a client that is no browser",
            )
        };
        if one(headers, &FETCH_SITE).is_some_and(|site| !matches!(site, "same-origin" | "none")) && changes != Changes::Page {
            return Err(foreign());
        }
        if changes == Changes::Page {
            return Ok(());
        }
        match headers.get(&ORIGIN) {
            None => Ok(()),
            Some(_) => {
                let origin = one(headers, &ORIGIN).and_then(|origin| origin.split_once("://"));
                let same =
                    origin.is_some_and(|(scheme, authority)| matches!(scheme, "http" | "https") && authority.eq_ignore_ascii_case(host));
                if same { Ok(()) } else { Err(foreign()) }
            }
        }
    }

    /// Whether whoever asks may see what was measured, and start something.
    ///
    /// # Errors
    /// With what to answer.
    pub(crate) fn know(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(token) = &self.token else { return Ok(()) };
        let bearer = one(headers, &AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
        let mut cookies = cookies.filter_map(|pair| pair.trim().split_once('=')).filter(|(key, _)| *key == name);
        if bearer.is_some_and(|given| token.is(given)) || cookies.any(|(_, value)| self.session.is(value)) {
            return Ok(());
        }
        Err(Problem::unknown(
            "this server asks for its token",
            "open the address with #token=… that loadline printed, or send 'Authorization: Bearer TOKEN'",
        ))
    }

    /// The cookie for whoever shows the token.
    ///
    /// # Errors
    /// With what to answer, if it is another.
    pub(crate) fn sign_in(&self, given: &str) -> Result<Option<String>, Problem> {
        match &self.token {
            None => Ok(None),
            Some(token) if token.is(given.trim()) => {
                Ok(Some(format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.session.as_str())))
            }
            Some(_) => Err(Problem::unknown(
                "this is not the token of this server",
                "it stands where loadline serve was started, and is another after each start",
            )),
        }
    }

    /// Cookies do not know ports: two servers on one machine would take each other's away.
    fn cookie_name(&self) -> String {
        format!("loadline-{}", self.port)
    }

    /// Whether this is a name of this server. On this machine only its three names with the port; where others reach it, every
    /// address too, since no name leads to an address in the `Host` header.
    fn is_called(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        let named = |known: &String| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host);
        if self.names.iter().any(named) {
            return true;
        }
        if port != Some(self.port) {
            return false;
        }
        let name = name.to_ascii_lowercase();
        if matches!(name.as_str(), "localhost" | "127.0.0.1" | "[::1]") {
            return true;
        }
        let inside = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
        self.reach == Reach::Others && inside.parse::<IpAddr>().is_ok()
    }
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changes {
    /// A page or what belongs to it: whoever follows a link from elsewhere may open it.
    Page,
    /// It reads.
    Nothing,
    /// It does something.
    Something,
}

/// The value of a header that is there once.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { None } else { first.to_str().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn here() -> Guard {
        Guard::new("127.0.0.1:7411".parse().unwrap(), Vec::new(), None)
    }

    #[test]
    fn only_the_names_of_this_machine_are_answered_so_that_no_other_name_leads_here() {
        let admits = |host: &str| here().admit(&headers(&[("host", host)]), Changes::Nothing).is_ok();
        for host in ["127.0.0.1:7411", "localhost:7411", "LOCALHOST:7411", "[::1]:7411"] {
            assert!(admits(host), "{host}");
        }
        for host in
            ["evil.test:7411", "evil.test", "127.0.0.1", "127.0.0.1:80", "localhost:7411.evil.test", "10.0.0.1:7411", "", "localhost"]
        {
            assert!(!admits(host), "{host}");
        }
        assert!(here().admit(&HeaderMap::new(), Changes::Page).is_err(), "without a Host");
        let twice = [("host", "127.0.0.1:7411"), ("host", "evil.test")];
        let mut both = headers(&twice[..1]);
        both.append(HOST, "evil.test".parse().unwrap());
        assert!(here().admit(&both, Changes::Nothing).is_err());
        let named = Guard::new("127.0.0.1:7411".parse().unwrap(), vec!["load.example.com".to_owned()], None);
        assert!(named.admit(&headers(&[("host", "load.example.com")]), Changes::Nothing).is_ok(), "behind a proxy");
    }

    #[test]
    fn pages_of_other_origins_change_and_read_nothing() {
        let with = |pairs: &[(&'static str, &str)]| {
            let mut all = headers(pairs);
            all.insert(HOST, "127.0.0.1:7411".parse().unwrap());
            all
        };
        let admits = |pairs: &[(&'static str, &str)], changes| here().admit(&with(pairs), changes).is_ok();
        assert!(admits(&[("origin", "http://127.0.0.1:7411"), ("sec-fetch-site", "same-origin")], Changes::Something));
        assert!(admits(&[], Changes::Something), "no browser");
        for origin in ["http://evil.test", "null", "http://127.0.0.1:7412", "http://localhost:7411", "file://127.0.0.1:7411"] {
            assert!(!admits(&[("origin", origin)], Changes::Something), "{origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert!(!admits(&[("sec-fetch-site", site)], Changes::Something) && !admits(&[("sec-fetch-site", site)], Changes::Nothing));
        }
        assert!(admits(&[("sec-fetch-site", "cross-site")], Changes::Page), "a link in a mail");
    }

    #[test]
    fn where_others_reach_it_a_token_is_asked_for_and_becomes_a_cookie() {
        let token = Token::fresh();
        let guard = Guard::new("0.0.0.0:7411".parse().unwrap(), Vec::new(), Some(token.clone()));
        assert!(guard.admit(&headers(&[("host", "192.0.2.7:7411")]), Changes::Nothing).is_ok());
        assert!(guard.know(&HeaderMap::new()).is_err());
        assert!(guard.know(&headers(&[("authorization", "Bearer wrong")])).is_err());
        assert!(guard.know(&headers(&[("authorization", &format!("bearer {}", token.as_str()))])).is_ok());
        assert!(guard.sign_in("wrong").is_err());
        let cookie = guard.sign_in(token.as_str()).unwrap().unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict; Path=/") && !cookie.contains(token.as_str()), "{cookie}");
        let pair = cookie.split(';').next().unwrap();
        assert!(guard.know(&headers(&[("cookie", &format!("a=b; {pair}"))])).is_ok());
        assert!(guard.know(&headers(&[("cookie", "loadline-7411=x")])).is_err());
        assert!(here().know(&HeaderMap::new()).is_ok());
    }

    #[test]
    fn a_token_is_long_and_never_shown() {
        assert_ne!(Token::fresh(), Token::fresh());
        assert_eq!(Token::fresh().as_str().len(), 43);
        assert!(Token::chosen("short").is_err() && Token::chosen("0123456789abcdef ä").is_err());
        assert_eq!(format!("{:?}", Token::chosen("0123456789abcdef\n").unwrap()), "Token(***)");
    }
}
