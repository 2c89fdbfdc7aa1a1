//! Requests that sites tell of, one by one, taken into the log of the load under way.
//!
//! They are many, and nobody who collects counts is to wait for them; so whoever reads what a site says hands them to the log at once. What
//! finds no room there is left out, as of workers of this process.
//!
//! Invariant: a site tells of its own sources alone; what it says of others is not taken.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::from_bytes;
use measure::{RecordName, RecordSource, RequestLog};
use plan::{Nanos, Part};

use crate::frames::{Answer, Rows};

/// How a frame of requests begins, and one that tells how many are missing: a map of one, and its name.
const BEGINNINGS: [&[u8]; 2] = [b"\x81\xa4rows", b"\x81\xa7missing"];

/// The log of the load under way, where there is one. A clone is of the same load.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gathering(Arc<Mutex<Option<OpenLog>>>);

/// A log, and who tells of requests.
#[derive(Debug)]
struct OpenLog {
    log: RequestLog,
    /// When the load begins, since 1970, by this machine's clock.
    began: Nanos,
    /// Each source: its part, and its site.
    parts: BTreeMap<u32, (Part, usize)>,
    /// Those that have told of requests.
    sources: BTreeMap<u32, Arc<RecordSource>>,
}

impl Gathering {
    /// A load of these parts, by their sites, begins after so long.
    pub(crate) fn begin(&self, groups: &[Vec<Part>], log: Option<&RequestLog>, after: Nanos) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let began = Nanos(u64::try_from(now.as_nanos()).unwrap_or_default()).plus(after);
        let of_group =
            |(site, parts): (usize, &Vec<Part>)| parts.iter().map(|part| (part.of_run.index(), (*part, site))).collect::<Vec<_>>();
        let parts: BTreeMap<u32, (Part, usize)> = groups.iter().enumerate().flat_map(of_group).collect();
        *self.open_log() = log.map(|log| OpenLog { log: log.clone(), began, parts, sources: BTreeMap::new() });
    }

    /// Whether a site tells of requests; then they are taken.
    pub(crate) fn takes(&self, site: usize, said: &[u8]) -> bool {
        if !BEGINNINGS.iter().any(|beginning| said.starts_with(beginning)) {
            return false;
        }
        if let (Some(open), Ok(answer)) = (&mut *self.open_log(), from_bytes(said)) {
            open.take(site, answer);
        }
        true
    }

    /// The load is over.
    pub(crate) fn end(&self) {
        *self.open_log() = None;
    }

    fn open_log(&self) -> MutexGuard<'_, Option<OpenLog>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenLog {
    fn take(&mut self, site: usize, answer: Answer) {
        let Self { log, began, parts, sources } = self;
        let rows = match answer {
            Answer::Rows(rows) => rows,
            Answer::Missing(count) => return log.missed(count),
            _ => return,
        };
        let Rows { source, names, records, transactions } = *rows;
        let Some((part, _)) = parts.get(&source).filter(|(_, of)| *of == site) else { return };
        let name =
            |(name, checks): (String, Vec<String>)| RecordName { name: name.into(), checks: checks.into_iter().map(Into::into).collect() };
        let names = names.into_iter().map(name).collect();
        let source = match sources.entry(source) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => match RequestLog::source(*part, *began, names) {
                Some(new) => place.insert(new),
                None => return,
            },
        };
        log.take_in(source, records, transactions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::frame;
    use measure::RequestRecord;
    use plan::Share;

    fn rows(source: u32, names: &[&str]) -> Vec<u8> {
        let record = RequestRecord {
            due: Nanos(1),
            first_byte: Nanos(2),
            elapsed: Nanos(3),
            bytes_in: 4,
            bytes_out: 5,
            connect_us: 6,
            lane: 7,
            in_flight: 8,
            name: 0,
            result: Ok(200),
            failure: None,
            check: Some(9),
        };
        let names = names.iter().map(|name| ((*name).to_owned(), vec!["status is 200".to_owned()])).collect();
        let rows = Rows {
            source,
            names,
            records: vec![record, RequestRecord { result: Err(measure::Failure::RecvReset), ..record }],
            transactions: Vec::new(),
        };
        frame(&Answer::Rows(Box::new(rows)))[4..].to_vec()
    }

    #[test]
    fn requests_of_a_sites_own_sources_are_taken_by_the_log_and_all_else_is_passed_on() {
        let parts: Vec<Part> = Share::all(std::num::NonZeroU32::new(2).unwrap()).map(Part::from).collect();
        let (log, batches) = RequestLog::holding(8);
        let gathering = Gathering::default();
        assert!(gathering.takes(0, &rows(0, &["/"])), "of no load that is written down, nothing");
        gathering.begin(&[vec![parts[0]], vec![parts[1]]], Some(&log), Nanos::SECOND);
        assert!(gathering.takes(1, &rows(1, &["/a"])) && gathering.takes(1, &rows(1, &[])));
        assert!(gathering.takes(0, &rows(1, &["/b"])) && gathering.takes(0, &rows(0, &[])), "it is another's, and has no names");
        let all: Vec<_> = batches.try_iter().collect();
        assert_eq!(all.iter().map(|batch| batch.records.len()).collect::<Vec<_>>(), [2, 2]);
        assert!(all.iter().all(|batch| batch.source.part == parts[1] && &*batch.source.names[0].name == "/a"));
        assert_eq!(&*all[0].source.names[0].checks[0], "status is 200");
        assert_eq!(
            (all[0].records[0].due, all[0].records[0].check, all[0].records[1].result),
            (Nanos(1), Some(9), Err(measure::Failure::RecvReset))
        );
        assert!(gathering.takes(0, &frame(&Answer::Missing(5))[4..]));
        assert_eq!(log.made(), 4 + 5);
        assert!(![Answer::Here, Answer::Done, Answer::Taken(1)].iter().any(|answer| gathering.takes(0, &frame(answer)[4..])));
        gathering.end();
        assert!(gathering.takes(1, &rows(1, &["/a"])) && batches.try_recv().is_err());
    }
}
