//! How often names stand in a log, in memory that does not grow with it: those that come first are counted, and the most frequent listed.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

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

    /// What was counted.
    pub(crate) fn counted(mut self) -> NameCounts {
        self.look_up();
        let mut counts = NameCounts::default();
        self.all.into_iter().for_each(|(name, requests)| counts.add(String::from_utf8_lossy(&name).into_owned(), requests));
        counts
    }
}

/// Names that were counted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct NameCounts(BTreeMap<String, u64>);

impl NameCounts {
    fn add(&mut self, name: String, requests: u64) {
        *self.0.entry(name).or_default() += requests;
    }

    /// Adds those of another part of a log; of more than are kept, the most frequent stay.
    pub(crate) fn absorb(&mut self, other: Self) {
        other.0.into_iter().for_each(|(name, requests)| self.add(name, requests));
        if self.0.len() > NAMES_MOST {
            let mut all: Vec<(String, u64)> = std::mem::take(&mut self.0).into_iter().collect();
            // Those alike stay in the order of their names.
            all.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
            self.0.extend(all.into_iter().take(NAMES_MOST));
        }
    }

    /// Requests of all of them.
    pub(crate) fn requests(&self) -> u64 {
        self.0.values().fold(0, |sum, requests| sum.saturating_add(*requests))
    }

    /// The ten most frequent, most first.
    pub(crate) fn listed(self) -> Vec<NameCount> {
        let mut listed: Vec<NameCount> = self.0.into_iter().map(|(name, requests)| NameCount { name, requests }).collect();
        listed.sort_by(|a, b| b.requests.cmp(&a.requests).then_with(|| a.name.cmp(&b.name)));
        listed.truncate(LISTED);
        listed
    }
}
