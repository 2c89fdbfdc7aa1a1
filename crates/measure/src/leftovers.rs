//! What the sources of a run leave behind beside their counts, once they are done.
//!
//! A journey's users may fail to clear up, a replay's answers may differ from its log, and the next load of a scenario goes on in its
//! data files where this one stopped. None of it is known before a source has ended, and all of it must be the same whether the
//! sources were threads of this process or of others. Cells that threads share, the alternative, do not reach another process.
//!
//! Invariant: adding is exact in any order.

use std::collections::{BTreeMap, BTreeSet};

use plan::Nanos;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::ComparisonCounts;

/// Everything that sources leave behind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Leftovers {
    /// Users that had something to do before they went.
    pub teardowns: Teardowns,
    /// The position in a scenario's rows and numbers.
    pub position: Position,
    /// Data files whose rows were waited for, by their paths.
    pub data_waits: BTreeMap<String, DataWaits>,
    /// The requests of a log.
    pub replay: ReplayCounts,
    /// What scripts between requests said.
    pub scripts: ScriptNotes,
    /// Why users ended the load, if one did: in words, the first of them in the order of letters where several did.
    pub ended_by: Option<String>,
    /// What each thread of a script had at its end, by its number in the plan, as the program of scripts writes it.
    pub threads: BTreeMap<u32, ByteBuf>,
}

/// Teardowns of users.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Teardowns {
    /// Users that had one.
    pub users: u64,
    /// Those whose teardown failed.
    pub failed: u64,
    /// Why one of them failed, in words.
    pub why: Option<String>,
}

/// What scripts said, and how often they failed where that ended no journey.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScriptNotes {
    /// How often one failed.
    pub failed: u64,
    /// Why one of them failed, in words.
    pub why: Option<String>,
    /// Lines that they said.
    pub lines: u64,
    /// The first of them: the journey of the user, from 1, the user, and the beginning of the line.
    pub said: BTreeSet<(u64, u64, String)>,
}

/// So many lines of scripts are kept, of so many letters each.
const LINES_MAX: usize = 5;
const LINE_LETTERS_MAX: usize = 200;

/// How far the loads of a scenario have come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Position {
    /// As many journeys have had a row.
    pub journeys: u64,
    /// As many requests have had a number.
    pub requests: u64,
    /// Requests of each step that has a most, by its place.
    pub sent: Vec<u64>,
    /// Whether there are no more rows.
    pub has_run_out: bool,
}

/// Waits for rows of a data file that were not read in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DataWaits {
    /// How many.
    pub count: u64,
    /// How long they took together.
    #[serde(rename = "total_ns")]
    pub total: Nanos,
}

/// The requests of a log as they were sent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplayCounts {
    /// Requests taken from the log, sent or not.
    pub taken: u64,
    /// Those that could not be sent at their time, since their line came too late in the log.
    pub late: u64,
    /// The answers beside those of the log.
    #[serde(with = "entries")]
    pub compared: ComparisonCounts,
    /// Why the log could not be read to its end, in words.
    pub failed: Option<String>,
}

impl Leftovers {
    /// Adds another source's.
    pub fn add(&mut self, other: Self) {
        // Taken apart without `..`, so that what nobody adds does not compile.
        let Self { teardowns, position, data_waits, replay, scripts, ended_by, threads } = other;
        self.teardowns.add(teardowns);
        self.position.add(position);
        for (path, DataWaits { count, total }) in data_waits {
            let waits = self.data_waits.entry(path).or_default();
            waits.count += count;
            waits.total += total;
        }
        self.replay.add(replay);
        self.scripts.add(scripts);
        keep_lesser(&mut self.ended_by, ended_by);
        for (thread, values) in threads {
            // Each thread is told of once; of two that say to be the same the order cannot matter.
            let known = self.threads.entry(thread).or_default();
            *known = std::mem::take(known).max(values);
        }
    }
}

impl Teardowns {
    fn add(&mut self, other: Self) {
        let Self { users, failed, why } = other;
        self.users += users;
        self.failed += failed;
        keep_lesser(&mut self.why, why);
    }
}

impl ScriptNotes {
    /// A script of this user said something on this journey of its.
    pub fn say(&mut self, (journey, user): (u64, u64), line: &str) {
        self.lines += 1;
        if self.said.len() < LINES_MAX || self.said.last().is_some_and(|last| (last.0, last.1) > (journey, user)) {
            self.said.insert((journey, user, line.chars().take(LINE_LETTERS_MAX).collect()));
            self.keep_first();
        }
    }

    /// A script failed, and its user went on.
    pub fn fail(&mut self, why: String) {
        self.failed += 1;
        keep_lesser(&mut self.why, Some(why));
    }

    fn keep_first(&mut self) {
        while self.said.len() > LINES_MAX {
            self.said.pop_last();
        }
    }

    fn add(&mut self, other: Self) {
        let Self { failed, why, lines, said } = other;
        self.failed += failed;
        keep_lesser(&mut self.why, why);
        self.lines += lines;
        self.said.extend(said);
        self.keep_first();
    }
}

impl Position {
    /// Adds another source's: the next load begins behind the source that came furthest.
    pub fn add(&mut self, other: Self) {
        let Self { journeys, requests, sent, has_run_out } = other;
        self.journeys = self.journeys.max(journeys);
        self.requests = self.requests.max(requests);
        self.sent.resize(self.sent.len().max(sent.len()), 0);
        self.sent.iter_mut().zip(sent).for_each(|(sum, sent)| *sum += sent);
        self.has_run_out |= has_run_out;
    }
}

impl ReplayCounts {
    fn add(&mut self, other: Self) {
        let Self { taken, late, compared, failed } = other;
        self.taken += taken;
        self.late += late;
        for (key, count) in compared {
            *self.compared.entry(key).or_default() += count;
        }
        keep_lesser(&mut self.failed, failed);
    }
}

impl Leftovers {
    /// What of it the user should know, in words: why users ended the load, rows that came late, and teardowns that failed.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let late = self.data_waits.iter().map(|(path, DataWaits { count, total })| {
            let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
            let waited = Nanos::from_millis(total.0.div_ceil(1_000_000));
            format!(
                "rows of the data file {path} were not read in time: requests waited for them {times}, {waited} in all, and answers that came meanwhile \
                 look later than they were; take rows in order, of a file that was shuffled before (shuf), or send less"
            )
        });
        let Teardowns { users, failed, why } = &self.teardowns;
        let why = why.as_deref().unwrap_or("it failed");
        let failed =
            (*failed > 0).then(|| format!("the teardown of {failed} of {users} users could not be carried out; one of them: {why}"));
        let ended = self.ended_by.iter().map(|why| format!("users ended the load before its end: {why}"));
        ended.chain(late).chain(failed).chain(self.scripts.warnings()).collect()
    }
}

impl ScriptNotes {
    fn warnings(&self) -> impl Iterator<Item = String> {
        let why = self.why.as_deref().unwrap_or("it failed");
        let times = if self.failed == 1 { "once".to_owned() } else { format!("{} times", self.failed) };
        let failed = (self.failed > 0).then(|| format!("a script failed {times}, and its users went on; one of them: {why}"));
        let mut lines: Vec<&str> = self.said.iter().map(|(.., line)| line.as_str()).collect();
        lines.dedup();
        let said = (self.lines > 0).then(|| format!("scripts said {} lines, the first of them: {}", self.lines, lines.join(" | ")));
        failed.into_iter().chain(said)
    }
}

/// Of two reasons the lesser text stays, so that order cannot matter.
fn keep_lesser(kept: &mut Option<String>, other: Option<String>) {
    *kept = [kept.take(), other].into_iter().flatten().min();
}

/// A map as a list of its entries: keys that are no text cannot be keys of JSON.
mod entries {
    use super::{ComparisonCounts, Deserialize, Serialize};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(map: &ComparisonCounts, serializer: S) -> Result<S::Ok, S::Error> {
        map.iter().collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ComparisonCounts, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn leftovers() -> impl Strategy<Value = Leftovers> {
        let why = || prop::option::of("[a-c]{1,2}");
        let teardowns = (0..9u64, 0..9u64, why()).prop_map(|(users, failed, why)| Teardowns { users, failed, why });
        let position = (0..9u64, 0..9u64, prop::collection::vec(0..9u64, 0..4), any::<bool>())
            .prop_map(|(journeys, requests, sent, has_run_out)| Position { journeys, requests, sent, has_run_out });
        let waits = (0..9u64, 0..9u64).prop_map(|(count, total)| DataWaits { count, total: Nanos(total) });
        let data_waits = prop::collection::btree_map("[a-c]", waits, 0..3);
        let compared = prop::collection::btree_map((0..3u32, 0..3u16, 0..3u16), 1..9u64, 0..5);
        let replay =
            (0..9u64, 0..9u64, compared, why()).prop_map(|(taken, late, compared, failed)| ReplayCounts { taken, late, compared, failed });
        let said = prop::collection::btree_set((1..4u64, 0..3u64, "[a-c]"), 0..7);
        let scripts = (0..9u64, why(), said).prop_map(|(failed, why, said)| {
            let mut notes = ScriptNotes { failed, why, ..ScriptNotes::default() };
            said.iter().for_each(|(journey, user, line)| notes.say((*journey, *user), line));
            notes
        });
        let values = prop::collection::vec(any::<u8>(), 0..3).prop_map(ByteBuf::from);
        let threads = prop::collection::btree_map(0..3u32, values, 0..3);
        (teardowns, position, data_waits, replay, scripts, why(), threads).prop_map(
            |(teardowns, position, data_waits, replay, scripts, ended_by, threads)| Leftovers {
                teardowns,
                position,
                data_waits,
                replay,
                scripts,
                ended_by,
                threads,
            },
        )
    }

    fn sum(all: impl IntoIterator<Item = Leftovers>) -> Leftovers {
        let mut sum = Leftovers::default();
        all.into_iter().for_each(|one| sum.add(one));
        sum
    }

    #[test]
    fn what_the_user_should_know_is_said() {
        let mut left = Leftovers::default();
        assert_eq!(left.warnings(), Vec::<String>::new());
        left.data_waits.insert("u.csv".to_owned(), DataWaits { count: 2, total: Nanos::from_millis(7) });
        left.teardowns = Teardowns { users: 5, failed: 2, why: Some("the step 'bye': status 500".to_owned()) };
        let said = left.warnings();
        assert!(said[0].contains("u.csv") && said[0].contains("2 times") && said[0].contains("7ms"), "{said:?}");
        left.scripts.fail("line 2: oh".to_owned());
        (1..9).rev().for_each(|journey| left.scripts.say((journey, 0), &format!("at {journey}")));
        let scripts = &left.warnings()[2..];
        assert_eq!(scripts[0], "a script failed once, and its users went on; one of them: line 2: oh");
        assert_eq!(scripts[1], "scripts said 8 lines, the first of them: at 1 | at 2 | at 3 | at 4 | at 5");
        left.ended_by = Some("the journey 'buy' came to an item that ends it".to_owned());
        assert_eq!(left.warnings()[0], "users ended the load before its end: the journey 'buy' came to an item that ends it");
        assert_eq!(said[1], "the teardown of 2 of 5 users could not be carried out; one of them: the step 'bye': status 500");
    }

    proptest! {
        #[test]
        fn any_order_and_any_grouping_give_the_same_sum(all in prop::collection::vec(leftovers(), 0..5), at in 0usize..5) {
            let (first, rest) = all.split_at(at.min(all.len()));
            let grouped = sum([sum(rest.iter().rev().cloned()), sum(first.to_vec())]);
            prop_assert_eq!(sum(all), grouped);
        }

        #[test]
        fn what_is_written_reads_back(one in leftovers()) {
            let text = serde_json::to_string(&one).unwrap();
            prop_assert_eq!(serde_json::from_str::<Leftovers>(&text).unwrap(), one);
        }
    }
}
