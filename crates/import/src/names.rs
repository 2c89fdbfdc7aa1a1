//! How often names stand in a log, in memory that does not grow with it: those that come first are counted, and the most frequent listed.

use rustc_hash::FxHashMap;
use serde::Serialize;

/// So many names are told apart; further ones stand in no row.
const NAMES_MOST: usize = 500;
/// So many are listed.
const LISTED: usize = 10;

/// A name and how often it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NameCount {
    /// As it stands in the log.
    pub name: String,
    /// Its requests.
    pub requests: u64,
}

/// Counts names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    all: FxHashMap<Box<[u8]>, u64>,
    /// The last one, and how often it came in a row: neighbouring lines are often alike, and are not looked up.
    last: Vec<u8>,
    in_a_row: u64,
}

impl Names {
    #[inline]
    pub(crate) fn add(&mut self, name: &[u8]) {
        if self.last != name {
            self.look_up();
            self.last.clear();
            self.last.extend_from_slice(name);
        }
        self.in_a_row += 1;
    }

    fn look_up(&mut self) {
        let requests = std::mem::take(&mut self.in_a_row);
        if let Some(known) = self.all.get_mut(&self.last[..]) {
            *known += requests;
        } else if requests > 0 && self.all.len() < NAMES_MOST {
            self.all.insert(self.last.as_slice().into(), requests);
        }
    }

    /// The ten most frequent, most first.
    pub(crate) fn listed(mut self) -> Vec<NameCount> {
        self.look_up();
        let named = |(name, requests): (Box<[u8]>, u64)| NameCount { name: String::from_utf8_lossy(&name).into_owned(), requests };
        let mut listed: Vec<NameCount> = self.all.into_iter().map(named).collect();
        listed.sort_by(|a, b| b.requests.cmp(&a.requests).then_with(|| a.name.cmp(&b.name)));
        listed.truncate(LISTED);
        listed
    }
}
