//! Where load may be sent: looked at once an address is known, and before it is connected to.
//!
//! Who carries out what others ask for must not become their way into a network. A list of names does not help: a name leads
//! wherever its owner says, and somewhere else a second later, and a redirect leads on. So what is judged is the pair of a name
//! and the very address that would be connected to, after it was looked up, and that address stays for the whole run.
//!
//! What lies behind a proxy is not seen here: whoever sets up a fence has to refuse it. Parts of a load that go to other processes and machines
//! take the fence along in words: a name leads there wherever it leads there.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// Judges addresses before they are connected to. A clone is the same fence.
#[derive(Clone)]
pub struct Fence {
    lets: Arc<Lets>,
    help: Arc<str>,
    patterns: Arc<[String]>,
}

type Lets = dyn Fn(&str, SocketAddr) -> bool + Send + Sync;

impl Default for Fence {
    fn default() -> Self {
        Self::open()
    }
}

impl Fence {
    /// Lets everything through.
    #[must_use]
    pub fn open() -> Self {
        Self::new("", Vec::new(), |_, _| true)
    }

    /// Lets those pairs of a host as written and an address through of which `lets` says so; `help` is what whoever is refused
    /// can do about it, and `patterns` the same in words, of which a process elsewhere makes this fence again.
    #[must_use]
    pub fn new(help: &str, patterns: Vec<String>, lets: impl Fn(&str, SocketAddr) -> bool + Send + Sync + 'static) -> Self {
        Self { lets: Arc::new(lets), help: help.into(), patterns: patterns.into() }
    }

    /// What both let through. Whoever is refused by the other is told what to do about that one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let (ours, theirs) = (self.lets, other.lets);
        Self { lets: Arc::new(move |host, address| ours(host, address) && theirs(host, address)), ..other }
    }

    /// It in words; none where it is open.
    #[must_use]
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// What a refused user can do.
    #[must_use]
    pub fn help(&self) -> &str {
        &self.help
    }

    /// Looks at all addresses of a host.
    ///
    /// # Errors
    /// In words, if one of them is outside: a name that leads to two places is not to choose between them.
    pub(crate) fn look(&self, host: &str, addresses: &[SocketAddr]) -> Result<(), String> {
        match addresses.iter().find(|address| !(self.lets)(host, **address)) {
            None => Ok(()),
            Some(address) if address.ip().to_string() == host => Err(format!("load may not be sent to {address}")),
            Some(address) => Err(format!("load may not be sent to {host}, which is at {address}")),
        }
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_outside_is_enough_to_refuse_a_name() {
        let fence = Fence::new("ask", vec!["loopback".to_owned()], |_, address| address.ip().is_loopback());
        let of = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<SocketAddr>>();
        assert_eq!(fence.look("a.test", &of(&["127.0.0.1:80"])), Ok(()));
        let why = fence.look("a.test", &of(&["127.0.0.1:80", "192.0.2.1:80"])).unwrap_err();
        assert_eq!(why, "load may not be sent to a.test, which is at 192.0.2.1:80");
        assert_eq!(fence.look("192.0.2.1", &of(&["192.0.2.1:80"])).unwrap_err(), "load may not be sent to 192.0.2.1:80");
        assert_eq!(Fence::open().look("a.test", &of(&["192.0.2.1:80"])), Ok(()));
    }
}
