//! Where load may go: to the target, and to the servers that were named beside it.
//!
//! A recording, a redirect or an address in an answer leads wherever its author says, and load on a server that nobody named is an
//! attack on it. So a plan names every server, and connections are opened to no other. A warning alone was rejected: by the time it
//! is read, the requests have been sent.
//!
//! Invariant: nothing that a server sends adds to it.

use std::collections::HashSet;

use crate::setting::ALSO_TARGET;
use crate::{PlanError, Target};

/// The word that allows every server.
const ANY: &str = "any";

/// Servers that are named beside the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Also {
    /// These.
    Servers(Vec<Target>),
    /// Every server that a file or a redirect leads to.
    Any,
}

impl Default for Also {
    fn default() -> Self {
        Self::Servers(Vec::new())
    }
}

impl Also {
    /// Servers as they are typed: `https://login.example.com`, or `any`. Mistakes go to `wrong`.
    pub fn read(texts: &[String], wrong: &mut Vec<PlanError>) -> Self {
        let mut servers: Vec<Target> = Vec::new();
        let mut every = false;
        for text in texts {
            match text.parse::<Target>() {
                _ if text == ANY => every = true,
                Ok(target) if target.path_and_query() == "/" && target.credentials().is_none() => {
                    if !servers.iter().any(|known| known.same_origin(&target)) {
                        servers.push(target);
                    }
                }
                Ok(target) => wrong.push(PlanError::new(
                    ALSO_TARGET,
                    format!("{ALSO_TARGET:#} '{target}' is more than a server"),
                    format!("write {}", target.origin()),
                )),
                Err(why) => wrong.push(PlanError::new(
                    ALSO_TARGET,
                    format!("{ALSO_TARGET:#} '{text}' {why}"),
                    "give a server such as https://login.example.com",
                )),
            }
        }
        if every { Self::Any } else { Self::Servers(servers) }
    }

    /// As they are typed.
    #[must_use]
    pub fn written(&self) -> Vec<String> {
        match self {
            Self::Servers(servers) => servers.iter().map(Target::origin).collect(),
            Self::Any => vec![ANY.to_owned()],
        }
    }

    /// Whether a URL leads to one of them.
    #[must_use]
    pub fn holds(&self, target: &Target) -> bool {
        match self {
            Self::Servers(servers) => servers.iter().any(|server| server.same_server(target)),
            Self::Any => true,
        }
    }
}

/// Every server that a plan may load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounds {
    /// These, each by its host and port.
    Servers(HashSet<(String, Option<u16>)>),
    /// Whichever.
    None,
}

impl Bounds {
    pub(crate) fn of<'a>(also: &'a Also, own: impl Iterator<Item = &'a Target>) -> Self {
        match also {
            Also::Any => Self::None,
            Also::Servers(servers) => Self::Servers(own.chain(servers).map(Target::server).collect()),
        }
    }

    /// Whether a URL leads to one of them.
    #[must_use]
    pub fn hold(&self, target: &Target) -> bool {
        match self {
            Self::Servers(servers) => servers.contains(&target.server()),
            Self::None => true,
        }
    }

    /// What allows a URL outside; the flag comes first, since reports cut long texts.
    #[must_use]
    pub fn refusal(target: &Target) -> String {
        format!("--also-target {} allows {target}", target.origin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spelling;

    fn target(text: &str) -> Target {
        text.parse().unwrap()
    }

    #[test]
    fn http_and_https_of_a_host_are_one_server_and_ports_are_others() {
        for (one, other, same) in [
            ("http://a.test/", "https://a.test/x", true),
            ("http://A.test:80/", "https://a.test:443/", true),
            ("http://a.test:8080/", "https://a.test:8080/", true),
            ("http://a.test./", "http://a.test/", true),
            ("http://a.test/", "http://a.test:8080/", false),
            ("http://a.test:8080/", "https://a.test:8443/", false),
            ("http://a.test/", "http://b.a.test/", false),
            ("http://127.0.0.1/", "http://localhost/", false),
            ("http://a.test@b.test/", "http://a.test/", false),
        ] {
            assert_eq!(target(one).same_server(&target(other)), same, "{one} {other}");
        }
    }

    #[test]
    fn servers_are_read_and_written_and_what_is_none_is_told() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let mut wrong = Vec::new();
        let also = Also::read(&texts(&["https://login.test", "https://login.test/", "http://b.test:8080"]), &mut wrong);
        assert_eq!((also.written(), wrong.len()), (texts(&["https://login.test", "http://b.test:8080"]), 0));
        assert!(also.holds(&target("http://login.test/a")) && !also.holds(&target("http://other.test/")));
        assert_eq!(Also::read(&texts(&["any"]), &mut wrong), Also::Any);
        Also::read(&texts(&["ftp://login.test", "https://a.test/path", "https://me:pw@a.test"]), &mut wrong);
        let told: Vec<[String; 2]> =
            wrong.iter().map(|error| [&error.message, &error.help].map(|said| said.spelt(Spelling::Flags))).collect();
        let [message, help] = &told[0];
        assert!(message.starts_with("--also-target 'ftp://login.test' has the scheme 'ftp'"), "{message}");
        assert_eq!(help, "give a server such as https://login.example.com");
        assert_eq!(told[1], ["--also-target 'https://a.test/path' is more than a server", "write https://a.test"]);
        assert_eq!(told[2][1], "write https://a.test");
    }
}
