//! Loads that are split over sources in other processes: whatever the split, the result is that of the whole.
//!
//! Each part is started by itself, as in a process of its own; its messages are written as bytes and read again, and those of all
//! parts come in an order that chance decides. The server answers by what it is asked alone, so that the parts need not share it.

use plan::{Part, Plan, Random};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::Runner;
use crate::collect::{Collected, collect};
use crate::launch::Messages;
use crate::message::{Message, from_bytes, to_bytes};
use crate::simulation::{Simulation, read_request};

/// Ways to split each load.
const SPLITS: u64 = 4;

impl Simulation {
    /// Against a server whose answers follow from the request's first line and its body alone (headers stand in any order in a script): most are 200 after some milliseconds with what was
    /// asked in the body, one in sixteen is 503, and one in sixty-four never comes.
    ///
    /// # Panics
    /// If a request is no text.
    #[must_use]
    pub fn stateless() -> Self {
        Self::of(|mut stream, _| async move {
            while let Some(head) = read_request(&mut stream).await {
                let length =
                    head.lines().filter_map(|line| line.split_once(": ")).find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
                let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().expect("a length"))];
                if stream.read_exact(&mut body).await.is_err() {
                    return;
                }
                let line = head.lines().next().unwrap_or_default();
                let asked = line.as_bytes().iter().chain(&body).fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
                if asked % 64 == 33 {
                    std::future::pending::<()>().await;
                }
                let (status, path) = (if asked % 16 == 5 { 503 } else { 200 }, head.split(' ').nth(1).unwrap_or_default());
                tokio::time::sleep(std::time::Duration::from_millis(2 + asked % 40)).await;
                let reply = format!("HTTP/1.1 {status} Word\r\nContent-Length: {}\r\n\r\n{path}", path.len());
                if stream.write_all(reply.as_bytes()).await.is_err() {
                    return;
                }
            }
        })
    }
}

/// Starts some parts of a plan.
type Start<'a> = &'a dyn Fn(&Runner, Vec<Part>) -> Messages;

/// Carries a plan out whole and in several splits of its shares, and gives the whole. `start` starts some of its shares.
///
/// # Panics
/// If a split gives another result than the whole.
pub fn same_however_split(plan: &Plan, start: Start<'_>) -> Collected {
    let all = plan.parts();
    let splits = (0..SPLITS).map(|split| {
        let mut random = Random::new(split, 0);
        let mut groups = vec![Vec::new(); random.between(1, all.len() as u64) as usize];
        for share in &all {
            let last = groups.len() as u64 - 1;
            groups[random.between(0, last) as usize].push(*share);
        }
        groups
    });
    same_in(plan, start, splits)
}

/// Carries a plan out whole and in these groups of its parts, and gives the whole.
fn same_in(plan: &Plan, start: Start<'_>, splits: impl Iterator<Item = Vec<Vec<Part>>>) -> Collected {
    let part = |parts: Vec<Part>| start(&Runner::simulated(&Simulation::stateless()), parts);
    let whole = collect(plan, part(plan.parts()), &mut |_, _| ());
    for (number, groups) in splits.enumerate() {
        let random = Random::new(number as u64, 1);
        let parts = groups.into_iter().filter(|shares| !shares.is_empty()).map(part).collect();
        let again = collect(plan, Shuffled { parts, random }, &mut |_, _| ());
        assert!(again.summary == whole.summary, "split {number}:\n{:#?}\nis not\n{:#?}", again.summary, whole.summary);
        assert_eq!((&again.left, &again.broken), (&whole.left, &whole.broken), "split {number}");
    }
    whole
}

/// Messages of several parts in an order that chance decides, each over the wire.
struct Shuffled {
    parts: Vec<Messages>,
    random: Random,
}

impl Iterator for Shuffled {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        while let Some(last) = self.parts.len().checked_sub(1) {
            let part = self.random.between(0, last as u64) as usize;
            match self.parts[part].next() {
                Some(message) => return Some(from_bytes(&to_bytes(&message)).expect("a message reads back")),
                None => drop(self.parts.remove(part)),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stop;
    use crate::simulation::{given, plan};

    fn start(plan: &Plan) -> impl Fn(&Runner, Vec<Part>) -> Messages {
        |runner, parts| runner.prepare(plan).unwrap().start(parts.into_iter().map(|part| part.share), &Stop::new()).unwrap()
    }

    fn split(plan: &Plan) -> Collected {
        same_however_split(plan, &start(plan))
    }

    #[test]
    fn one_to_fifty_places_send_what_one_would_and_add_up_to_it() {
        let open = plan(|draft| {
            draft.threads = given("50");
            draft.rate = given("100/s to 300/s for 2s, 300/s for 1s");
            draft.arrivals = given("poisson");
            draft.connections = given("100");
            draft.timeout = given("200ms");
        });
        let all = open.parts();
        let splits = (1..=50).map(|places| all.chunks(all.len().div_ceil(places)).map(<[Part]>::to_vec).collect());
        let whole = same_in(&open, &start(&open), splits);
        assert!(whole.summary.requests.due > 500, "{:?}", whole.summary.requests);
    }

    #[test]
    fn a_closed_load_and_an_open_one_are_the_same_however_they_are_split() {
        let closed = plan(|draft| {
            draft.threads = given("5");
            draft.connections = given("13");
            draft.duration = given("4500ms");
            draft.warmup = given("1s");
            draft.timeout = given("300ms");
            draft.stream = given("lines");
        });
        let open = plan(|draft| {
            draft.threads = given("4");
            draft.rate = given("300/s");
            draft.arrivals = given("poisson");
            draft.connections = given("4");
            draft.requests = given("700");
            draft.timeout = given("200ms");
            draft.duration = given("10s");
        });
        for load in [closed, open] {
            let whole = split(&load);
            assert!(whole.summary.requests.due > 400, "{:?}", whole.summary.requests);
            // Each answer is a line.
            let answers = load.stream().map(|_| whole.summary.status.values().sum::<u64>());
            assert!(whole.summary.streams.as_ref().map(|row| row.answers) <= answers, "{:?}", whole.summary.streams);
            assert_eq!(whole.summary.streams.is_some(), answers.is_some());
        }
    }
}
