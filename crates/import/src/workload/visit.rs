//! Visits as the log had them: how many requests, and with which pauses.
//!
//! One address that makes half of a log's requests drags every mean: numbers drawn evenly around the mean of all sessions gave visits of 35
//! requests where half of the log's had five. So what is drawn are the log's own visits: a hundred quantiles of their lengths, each as
//! likely, and pauses from ranges between quantiles, by their shares. A fitted distribution was the alternative, and people's pauses
//! fit none.
//!
//! Invariant: what is drawn here is what the scenario says, so that what is counted here holds for it.

use plan::template::{Piece, Template, Value};
use plan::work::Think;
use plan::{Nanos, Random};

use crate::Visits;

/// So many lengths stand in a scenario.
const LENGTHS: usize = 100;
/// Longer visits are cut: they would not end within an hour.
const REQUESTS_MAX: u32 = 1_000;
/// Visits of fewer requests than this on average are single requests.
const REQUESTS_MEAN_MIN: f64 = 1.2;
/// Where ranges of pauses end, in thousandths of all pauses. Within the last of them a few are as long as half an hour, and are cut, since
/// drawn evenly from a range so wide they would be most of the time.
const PAUSES_AT: [u32; 23] =
    [0, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850, 900, 950, 975, 990, 998];

/// What users do in one go.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Visit {
    /// Numbers of requests, ascending, each as likely.
    requests: Vec<u32>,
    /// Ranges of pauses with their weights; any pause of a range is as likely.
    pub(super) pauses: Vec<(u32, Pause)>,
    told_in: Nanos,
}

/// From this to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pause(Nanos, Nanos);

impl Pause {
    pub(super) fn think(self) -> Think {
        if self.0 == self.1 { Think::Fixed(self.0) } else { Think::Uniform(self.0, self.1) }
    }
}

impl Visit {
    /// `None` where requests come one by one.
    pub(super) fn of(visits: &Visits) -> Option<Self> {
        let sessions: u64 = visits.requests.iter().map(|(_, sessions)| sessions).sum();
        let all: f64 = visits.requests.iter().map(|(requests, sessions)| f64::from(*requests) * *sessions as f64).sum();
        if visits.pauses_ns.is_empty() || all < REQUESTS_MEAN_MIN * sessions as f64 {
            return None;
        }
        let length_at = |share: f64| {
            let mut passed = 0;
            let found = visits.requests.iter().find(|(_, sessions_of)| {
                passed += sessions_of;
                passed as f64 > share * sessions as f64
            });
            found.or(visits.requests.last()).map_or(1, |(requests, _)| (*requests).min(REQUESTS_MAX))
        };
        let requests = (0..LENGTHS).map(|at| length_at((at as f64 + 0.5) / LENGTHS as f64)).collect();
        Some(Self { requests, pauses: pauses(visits), told_in: Nanos(visits.told_in_ns) })
    }

    pub(super) fn requests_mean(&self) -> f64 {
        self.requests.iter().copied().map(f64::from).sum::<f64>() / self.requests.len() as f64
    }

    /// The variance over the mean of requests in a long window, if visits come by chance.
    pub(super) fn bunch(&self) -> f64 {
        let squares: f64 = self.requests.iter().map(|requests| f64::from(*requests).powi(2)).sum();
        squares / self.requests.len() as f64 / self.requests_mean()
    }

    /// How often a visit asks.
    pub(super) fn times(&self) -> Template {
        match self.requests.first() {
            Some(first) if self.requests.iter().all(|other| other == first) => Template::fixed(first.to_string()),
            _ => Value::Choice(self.requests.iter().map(|requests| Piece::Text(requests.to_string())).collect()).into(),
        }
    }

    pub(super) fn draw_requests(&self, random: &mut Random) -> u32 {
        self.requests[random.between(0, self.requests.len() as u64 - 1) as usize]
    }

    pub(super) fn draw_pause(&self, random: &mut Random) -> Nanos {
        let weights: u32 = self.pauses.iter().map(|(weight, _)| weight).sum();
        let mut left = random.between(0, u64::from(weights.max(1)) - 1) as u32;
        for (weight, Pause(low, high)) in &self.pauses {
            match left.checked_sub(*weight) {
                Some(less) => left = less,
                None => return Nanos(low.0 + (random.unit() * (high.0 - low.0) as f64) as u64),
            }
        }
        Nanos::ZERO
    }
}

/// The ranges between the quantiles of the log's pauses.
fn pauses(visits: &Visits) -> Vec<(u32, Pause)> {
    let total: u64 = visits.pauses_ns.iter().map(|(_, count)| count).sum();
    // A pause told in seconds lay within half of one around it.
    let around = if visits.told_in_ns > 1 { visits.told_in_ns / 2 } else { 0 };
    let at = |thousandths: u32| {
        let wanted = f64::from(thousandths) / 1e3 * total as f64;
        let mut passed = 0.0;
        for (pause, count) in &visits.pauses_ns {
            let (low, high) = (pause.saturating_sub(around), pause + around);
            let count = *count as f64;
            if passed + count >= wanted {
                return low + ((high - low) as f64 * ((wanted - passed) / count).clamp(0.0, 1.0)) as u64;
            }
            passed += count;
        }
        visits.pauses_ns.last().map_or(0, |(pause, _)| *pause)
    };
    // As people would write it: no finer than a hundredth of it.
    let plain = |ns: u64| {
        let grain = 10_u64.pow(ns.max(1).ilog10().saturating_sub(2)).max(1_000);
        Nanos(ns / grain * grain)
    };
    let mut ranges: Vec<(u32, Pause)> = Vec::new();
    for ends in PAUSES_AT.windows(2) {
        let range = Pause(plain(at(ends[0])), plain(at(ends[1])));
        match ranges.last_mut() {
            Some((weight, last)) if *last == range => *weight += ends[1] - ends[0],
            _ => ranges.push((ends[1] - ends[0], range)),
        }
    }
    ranges
}

/// Visits that were played, counted as the log's were.
pub(super) struct Tally {
    requests: Vec<(u64, u64)>,
    pauses: Vec<(u64, u64)>,
    told_in: Nanos,
}

impl Tally {
    pub(super) fn of(visit: &Visit) -> Self {
        Self { requests: Vec::new(), pauses: Vec::new(), told_in: visit.told_in }
    }

    pub(super) fn visit(&mut self, requests: u32) {
        self.requests.push((requests.into(), 1));
    }

    /// A pause between two moments in seconds, as a log tells them.
    pub(super) fn pause(&mut self, from_s: f64, until_s: f64) {
        let told = |at_s: f64| (at_s * 1e9) as u64 / self.told_in.0.max(1) * self.told_in.0.max(1);
        self.pauses.push((told(until_s) - told(from_s), 1));
    }

    /// How far the distributions of lengths and of pauses are from those of a log.
    pub(super) fn apart_from(self, visits: &Visits) -> (f64, f64) {
        let lengths: Vec<(u64, u64)> = visits.requests.iter().map(|(requests, sessions)| (u64::from(*requests), *sessions)).collect();
        (widest_gap(self.requests, lengths), widest_gap(self.pauses, visits.pauses_ns.clone()))
    }
}

/// Kolmogorov and Smirnov's distance of two lists of values with how often each came. Values within a hundredth are one: so a log's
/// pauses are counted.
fn widest_gap(mut a: Vec<(u64, u64)>, mut b: Vec<(u64, u64)>) -> f64 {
    a.sort_unstable();
    b.sort_unstable();
    let total = |list: &[(u64, u64)]| list.iter().map(|(_, count)| count).sum::<u64>().max(1) as f64;
    let (of_a, of_b) = (total(&a), total(&b));
    let (mut at_a, mut at_b) = (0, 0);
    let (mut up_to_a, mut up_to_b, mut widest) = (0.0, 0.0, 0.0f64);
    while at_a < a.len() || at_b < b.len() {
        let next = [a.get(at_a), b.get(at_b)].into_iter().flatten().map(|(value, _)| *value).min().unwrap_or(0);
        let near = next + next / 100;
        while let Some((_, count)) = a.get(at_a).filter(|(value, _)| *value <= near) {
            up_to_a += *count as f64 / of_a;
            at_a += 1;
        }
        while let Some((_, count)) = b.get(at_b).filter(|(value, _)| *value <= near) {
            up_to_b += *count as f64 / of_b;
            at_b += 1;
        }
        widest = widest.max((up_to_a - up_to_b).abs());
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visits(requests: &[(u32, u64)], pauses_ms: &[(u64, u64)]) -> Visits {
        Visits {
            requests: requests.to_vec(),
            pauses_ns: pauses_ms.iter().map(|(ms, count)| (ms * 1_000_000, *count)).collect(),
            told_in_ns: 1,
        }
    }

    fn played(visit: &Visit, of: &Visits) -> (f64, f64) {
        let mut random = Random::new(12, 0);
        let mut tally = Tally::of(visit);
        for _ in 0..20_000 {
            tally.visit(visit.draw_requests(&mut random));
            tally.pause(0.0, visit.draw_pause(&mut random).as_secs_f64());
        }
        tally.apart_from(of)
    }

    #[test]
    fn visits_are_drawn_as_the_log_had_them() {
        // Half of the visits are one request, some are long, and one address never ends.
        let pauses: Vec<(u64, u64)> = (1..400).map(|at| (at * 37, 4_000 / at)).collect();
        let log = visits(&[(1, 500), (2, 200), (5, 150), (9, 100), (40, 49), (68_000, 1)], &pauses);
        let visit = Visit::of(&log).unwrap();
        assert!((visit.requests_mean() - 4.55).abs() < 0.3, "{}", visit.requests_mean());
        let (lengths, pauses) = played(&visit, &log);
        // Promised is a distance of 0.05; a sixth of these pauses are of one length, which no quantile meets halfway.
        assert!(lengths <= 0.02 && pauses <= 0.05, "{lengths} {pauses}");
        let times = visit.times().to_string();
        assert!(times.starts_with("{{choice 1 1 ") && times.ends_with(" 40}}"), "{times}");
    }

    #[test]
    fn pauses_told_in_seconds_are_drawn_around_them() {
        let log = Visits { told_in_ns: 1_000_000_000, ..visits(&[(3, 10)], &[(0, 20), (1_000, 30), (2_000, 25), (5_000, 25)]) };
        let visit = Visit::of(&log).unwrap();
        assert_eq!(visit.times().plain(), Some("3"));
        let mut random = Random::new(13, 0);
        let mut tally = Tally::of(&visit);
        for _ in 0..20_000 {
            let from = random.unit() * 100.0;
            tally.pause(from, from + visit.draw_pause(&mut random).as_secs_f64());
        }
        let (_, pauses) = tally.apart_from(&log);
        // A second's blur is wider than this log's few values.
        assert!(pauses < 0.2, "{pauses}");
    }

    #[test]
    fn single_requests_are_no_visits() {
        assert_eq!(Visit::of(&visits(&[(1, 95), (2, 5)], &[(10, 5)])), None);
        assert_eq!(Visit::of(&Visits::default()), None);
    }

    #[test]
    fn the_widest_gap_is_that_counted_by_hand() {
        assert_eq!(widest_gap(vec![(1, 1), (2, 1)], vec![(2, 1), (3, 1)]), 0.5);
        assert_eq!(widest_gap(vec![(5, 3)], vec![(5, 1)]), 0.0);
        assert_eq!(widest_gap(vec![(1, 1)], vec![(9, 1)]), 1.0);
    }
}
