//! Where requests came from: the servers of the pages that led to them, as `Referer` says.
//!
//! Only the server is counted. The path of a page elsewhere may hold what is personal, and says nothing about load.

use serde::{Deserialize, Serialize};

use crate::names::{NameCount, NameCounts, Names};

/// A longer name is no server's (RFC 1035 §2.3.4), with a port.
const SERVER_MOST: usize = 253 + 6;

/// What stands for a server that is named by its address, which may be somebody's.
const ADDRESS: &[u8] = b"{address}";

/// The pages that led to requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Referers {
    /// Requests that say which page led to them.
    pub requests: u64,
    /// By server, most first; the first ten.
    pub listed: Vec<NameCount>,
}

/// Counts them.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    requests: u64,
    names: Names,
}

impl Counter {
    #[inline]
    pub(crate) fn add(&mut self, referer: Option<&[u8]>) {
        if let Some(server) = referer.and_then(server) {
            self.requests += 1;
            self.names.add(server);
        }
    }

    pub(crate) fn counted(self) -> RefererCounts {
        RefererCounts { requests: self.requests, names: self.names.counted() }
    }
}

/// Pages that were counted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RefererCounts {
    pub(crate) requests: u64,
    names: NameCounts,
}

impl RefererCounts {
    pub(crate) fn absorb(&mut self, other: Self) {
        self.requests += other.requests;
        self.names.absorb(other.names);
    }

    pub(crate) fn adds_up(&self) -> bool {
        self.names.requests() <= self.requests
    }

    pub(crate) fn finish(self) -> Option<Referers> {
        (self.requests > 0).then(|| Referers { requests: self.requests, listed: self.names.listed() })
    }
}

/// The server in a whole URL; `None` of a dash, and of what is none.
fn server(referer: &[u8]) -> Option<&[u8]> {
    const SCHEME_MOST: usize = 20;
    let from = memchr::memmem::find(&referer[..referer.len().min(SCHEME_MOST)], b"://")? + 3;
    let behind = &referer[from..];
    let authority = &behind[..behind.iter().position(|letter| matches!(letter, b'/' | b'?' | b'#')).unwrap_or(behind.len())];
    // Who asks may write a name and a password before it.
    let server = authority.rsplit(|letter| *letter == b'@').next().filter(|server| (1..=SERVER_MOST).contains(&server.len()))?;
    let is_address = server[0] == b'[' || server.iter().all(|letter| matches!(letter, b'0'..=b'9' | b'.' | b':'));
    Some(if is_address { ADDRESS } else { server })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_of_pages_are_counted_without_what_is_personal() {
        let mut counter = Counter::default();
        for referer in [
            "https://shop.example.com/users/17?token=abc",
            "https://me:secret@shop.example.com",
            "http://search.example.org:8080?q=shoes",
            "android-app://com.example.app/",
            "http://192.0.2.7:8080/x",
            "http://[::1]/",
            "-",
            "about:blank",
            "http:///x",
            "",
        ] {
            counter.add(Some(referer.as_bytes()));
        }
        counter.add(None);
        let referers = counter.counted().finish().unwrap();
        let names: Vec<(&str, u64)> = referers.listed.iter().map(|it| (it.name.as_str(), it.requests)).collect();
        assert_eq!(referers.requests, 6);
        assert_eq!(names, [("shop.example.com", 2), ("{address}", 2), ("com.example.app", 1), ("search.example.org:8080", 1)]);
        assert_eq!(Counter::default().counted().finish(), None);
    }
}
