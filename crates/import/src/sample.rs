//! What a route was asked for: a sample of its paths and queries, with how often each came.
//!
//! A route says `/items/{id}`, and a load that makes ids up asks for what is not there. The log has the true ones, but as many of them
//! as it has lines. So of each route a sample of its requests is kept, as paths with counts (a concise sample, after Gibbons and
//! Matias, *New sampling-based summary statistics*, 1998): while there are few different paths, every request is counted; when there
//! are more than are kept, a coin is tossed for every request in the sample, and from then on one request in two is looked at, then one
//! in four, and so on. A reservoir of single requests was the alternative: of a route that is asked for ten paths it would know the
//! shares only roughly, where this knows them exactly.
//!
//! Invariants: what is kept is at any time a uniform sample of the route's requests; it is bounded; the same log gives the same sample.

use plan::Random;
use rustc_hash::FxHashMap;

use crate::entry::sendable;
use crate::key::{Key, Subject};
use crate::scrub::Personal;
use crate::stand_in;

mod written;

/// Different paths that are kept of a route.
pub(crate) const KEPT_MOST: usize = 500;
/// Bytes of a path, on average; all together no more than so many times the number.
const PATH_BYTES_MEAN: usize = 96;
/// The same of sealed paths, which may be longer than they were.
const SEALED_BYTES_MEAN: usize = 4 * PATH_BYTES_MEAN;
/// A longer path is not kept: servers refuse most that are longer than 8 KB.
const PATH_BYTES_MOST: usize = 4 << 10;
/// More tosses of a coin are not made one by one.
const TOSSES_MOST: u64 = 1 << 20;
/// Any number; the same log is to give the same sample.
const SEED: u64 = 6;

/// Some requests of a route.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    kept: FxHashMap<Box<[u8]>, u64>,
    kept_most: usize,
    bytes: usize,
    bytes_mean: usize,
    key: Key,
    /// One request in so many is in the sample: a power of two.
    every: u64,
    /// So many requests are passed over before the next that is taken.
    passed: u64,
    random: Random,
    /// All paths, since there were more than are kept or since they are sealed.
    distinct: Option<Distinct>,
    too_long: u64,
}

/// What a route was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Targets {
    /// Paths with their queries, as they may stand in a request line, those asked for most first.
    pub listed: Vec<Target>,
    /// How many different ones the log has; to within some 7 % where not all are listed.
    pub distinct: u64,
    /// Of the route's requests, those that ask for one of the listed, from 0 to 1: an estimate where not all are listed.
    pub covered: f64,
}

/// A path with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it may stand in a request line.
    pub path: String,
    /// Requests for it; an estimate where not all are listed.
    pub requests: u64,
    /// Whether something in it stands in the place of what looks personal or secret.
    pub is_altered: bool,
}

/// What was kept of a route.
pub(crate) struct RouteSample {
    /// Sealed paths, those asked for most first.
    pub(crate) paths: Vec<(Box<[u8]>, u64)>,
    pub(crate) distinct: u64,
    pub(crate) covered: f64,
}

impl Sample {
    pub(crate) fn new(kept_most: usize, key: Key) -> Self {
        Self {
            kept: FxHashMap::default(),
            kept_most,
            bytes: 0,
            bytes_mean: PATH_BYTES_MEAN,
            key,
            every: 1,
            passed: 0,
            random: Random::new(SEED, 0),
            distinct: None,
            too_long: 0,
        }
    }

    /// Takes a request into account.
    #[inline]
    pub(crate) fn add(&mut self, path: &[u8]) {
        if path.len() > PATH_BYTES_MOST {
            self.too_long += 1;
            return;
        }
        if let Some(distinct) = &mut self.distinct {
            distinct.note(path, &self.key);
        }
        if self.every > 1 {
            if self.passed > 0 {
                self.passed -= 1;
                return;
            }
            self.passed = self.gap();
        }
        self.take(path, 1);
        self.shrink();
    }

    /// Adds the sample of another route, which is part of this one from now on.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        self.kept_most = self.kept_most.max(other.kept_most);
        self.too_long += other.too_long;
        while self.every < other.every {
            self.halve();
        }
        while other.every < self.every {
            other.halve();
        }
        if self.distinct.is_some() || other.distinct.is_some() {
            self.noted().absorb(other.noted());
        }
        let mut kept: Vec<_> = other.kept.into_iter().collect();
        kept.sort_unstable();
        kept.into_iter().for_each(|(path, times)| self.take(&path, times));
        self.shrink();
    }

    /// Paths that are kept.
    pub(crate) fn paths(&self) -> usize {
        self.kept.len()
    }

    /// Keeps no more than so many; how many these are.
    pub(crate) fn limited(&mut self, kept_most: usize) -> usize {
        self.kept_most = self.kept_most.min(kept_most);
        self.shrink();
        self.kept.len()
    }

    /// Whether it can be of so many requests.
    pub(crate) fn adds_up(&self, requests: u64) -> bool {
        let taken = self.kept.values().fold(0u64, |sum, times| sum.saturating_add(*times));
        taken.saturating_add(self.too_long) <= requests
    }

    /// With paths as they may stand in a request line, and numbers in them for what looks personal or secret, unless that is kept.
    pub(crate) fn sealed(mut self, personal: Personal) -> Self {
        // Counted as they were logged: what was sealed is another text.
        self.noted();
        let key = self.key;
        let kept: Vec<_> = self.kept.drain().collect();
        (self.bytes, self.bytes_mean) = (0, SEALED_BYTES_MEAN);
        let mut bytes = Vec::new();
        for (logged, times) in kept {
            bytes.clear();
            sendable(&logged, &mut bytes);
            let path = String::from_utf8_lossy(&bytes);
            match personal {
                Personal::Kept => self.take(path.as_bytes(), times),
                Personal::LeftOut => self.take(stand_in::sealed(&path, &key).as_bytes(), times),
            }
        }
        self
    }

    /// What was kept, of a route with so many requests.
    pub(crate) fn finish(self) -> RouteSample {
        let mut paths: Vec<(Box<[u8]>, u64)> = self.kept.into_iter().collect();
        let taken: u64 = paths.iter().map(|(_, times)| times).sum();
        let once = paths.iter().filter(|(_, times)| *times == 1).count() as f64;
        // Good and Turing's estimate of how likely the next request is one of those that are known (Good 1953): all but as many as
        // were seen once.
        let covered = if self.every == 1 { 1.0 } else { 1.0 - once / taken.max(1) as f64 };
        let estimate = self.distinct.filter(|_| self.every > 1).map_or(0, |distinct| distinct.count());
        let distinct = estimate.max(paths.len() as u64);
        paths.iter_mut().for_each(|(_, times)| *times = times.saturating_mul(self.every));
        paths.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let short = taken as f64 * self.every as f64;
        let covered = covered * short / (short + self.too_long as f64).max(1.0);
        RouteSample { paths, distinct: distinct + self.too_long.min(1), covered }
    }

    fn take(&mut self, path: &[u8], times: u64) {
        match self.kept.get_mut(path) {
            Some(count) => *count += times,
            None => {
                self.bytes += path.len();
                self.kept.insert(path.into(), times);
            }
        }
    }

    fn shrink(&mut self) {
        while self.kept.len() > self.kept_most || self.bytes > self.kept_most * self.bytes_mean {
            self.halve();
        }
    }

    /// All paths, which are those that are kept where they were not counted before.
    fn noted(&mut self) -> &mut Distinct {
        self.distinct.get_or_insert_with(|| {
            let mut distinct = Distinct::default();
            self.kept.keys().for_each(|path| distinct.note(path, &self.key));
            distinct
        })
    }

    /// Tosses a coin for every request in the sample.
    fn halve(&mut self) {
        self.noted();
        self.every *= 2;
        self.bytes = 0;
        // In an order, so that chance falls the same way again.
        let mut kept: Vec<(Box<[u8]>, u64)> = self.kept.drain().collect();
        kept.sort_unstable();
        for (path, times) in kept {
            let stay = self.heads(times);
            if stay > 0 {
                self.bytes += path.len();
                self.kept.insert(path, stay);
            }
        }
        self.passed = self.gap();
    }

    /// How many of so many tosses show heads.
    fn heads(&mut self, tosses: u64) -> u64 {
        if tosses > TOSSES_MOST {
            // So many are normally distributed, as far as anybody sees, and as some thousand are.
            let deviation = (self.heads(4096) as f64 - 2048.0) / 32.0;
            return (tosses as f64 / 2.0 + deviation * (tosses as f64).sqrt() / 2.0) as u64;
        }
        let (mut heads, mut left) = (0, tosses);
        while left > 0 {
            let now = left.min(64);
            heads += u64::from((self.random.bits() >> (64 - now)).count_ones());
            left -= now;
        }
        heads
    }

    /// How many requests are passed over where each is taken with one chance in `every` (geometric).
    fn gap(&mut self) -> u64 {
        let chance = 1.0 / self.every as f64;
        (-self.random.exponential() / (-chance).ln_1p()) as u64
    }
}

const REGISTERS: usize = 256;

/// How many different ones there were: HyperLogLog (Flajolet and others, 2007) with 256 registers, whose error is 1.04/√256 = 6.5 %.
#[derive(Debug, Clone)]
struct Distinct(Box<[u8; REGISTERS]>);

impl Default for Distinct {
    fn default() -> Self {
        Self(Box::new([0; REGISTERS]))
    }
}

impl Distinct {
    #[inline]
    fn note(&mut self, path: &[u8], key: &Key) {
        let hash = key.number(Subject::Value, path);
        let register = &mut self.0[(hash >> 56) as usize];
        // The bit that is set ends it at the latest.
        *register = (*register).max(((hash << 8) | 0x80).leading_zeros() as u8 + 1);
    }

    fn absorb(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(mine, other)| *mine = (*mine).max(*other));
    }

    fn count(&self) -> u64 {
        let registers = REGISTERS as f64;
        let alpha = 0.7213 / (1.0 + 1.079 / registers);
        let raw = alpha * registers * registers / self.0.iter().map(|rank| (-f64::from(*rank)).exp2()).sum::<f64>();
        let empty = self.0.iter().filter(|rank| **rank == 0).count();
        // Few ones are told better by how many registers nobody came to.
        let estimate = if raw <= 2.5 * registers && empty > 0 { registers * (registers / empty as f64).ln() } else { raw };
        estimate.round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(paths: impl Iterator<Item = String>, kept_most: usize) -> RouteSample {
        let mut sample = Sample::new(kept_most, Key::default());
        paths.for_each(|path| sample.add(path.as_bytes()));
        sample.finish()
    }

    #[test]
    fn few_paths_are_counted_exactly() {
        let kept = sampled((0..10_000).map(|at| format!("/items/{}", if at % 4 == 0 { at % 100 } else { 7 })), KEPT_MOST);
        assert_eq!((kept.paths.len(), kept.distinct, kept.covered), (26, 26, 1.0));
        assert_eq!(kept.paths[0], ((*b"/items/7").into(), 7_500));
        assert!(kept.paths[1..].iter().all(|(_, times)| *times == 100));
    }

    #[test]
    fn many_paths_are_a_sample_of_the_requests() {
        // One request in two is for one path, the others are for 20,000.
        let log = || (0..200_000u64).map(|at| if at % 2 == 0 { "/hot".to_owned() } else { format!("/items/{}", at * 7919 % 20_000) });
        let kept = sampled(log(), KEPT_MOST);
        assert!(kept.paths.len() <= KEPT_MOST, "{}", kept.paths.len());
        let all: u64 = kept.paths.iter().map(|it| it.1).sum();
        let hot = kept.paths[0].1 as f64 / all as f64;
        assert!(&*kept.paths[0].0 == b"/hot" && (0.42..0.58).contains(&hot), "{hot}");
        assert!((150_000..250_000).contains(&all), "{all}");
        assert!((7_000..14_000).contains(&kept.distinct), "half of the 20,000 are odd: {}", kept.distinct);
        // The hot one is known, and of the others hardly any.
        assert!((0.4..0.6).contains(&kept.covered), "{}", kept.covered);
        assert_eq!(sampled(log(), KEPT_MOST).paths, kept.paths);
    }

    #[test]
    fn a_sample_of_another_is_one_or_none() {
        let sample = |paths_most: u64, every: u64, paths: &str| {
            let written = format!(r#"{{"paths":{{{paths}}},"paths_most":{paths_most},"every":{every},"too_long":0,"distinct":[]}}"#);
            serde_json::from_str::<Sample>(&written).map_err(|why| why.to_string())
        };
        let times = 1_u64 << 40;
        let long = format!("\"/{}\":{times}", "x".repeat(4_000));
        // It has no room for the only path, whose requests are more than anybody tosses coins for.
        let shrunk = sample(1, 1, &long).unwrap();
        assert!(shrunk.kept.is_empty() && (1 << 36..1 << 50).contains(&shrunk.every), "{}", shrunk.every);
        assert!(sample(500, 1 << 40, "\"/a\":16").is_ok());
        for (paths_most, every, paths) in [
            (0, 1, "\"/a\":1".to_owned()),
            (500, 3, "\"/a\":1".to_owned()),
            (500, 1 << 41, "\"/a\":1".to_owned()),
            (500, 1 << 40, "\"/a\":17".to_owned()),
            (500, 1, format!("\"/a\":{0},\"/b\":{0}", u64::MAX)),
        ] {
            assert!(sample(paths_most, every, &paths).unwrap_err().contains("a sample of paths is none"), "{paths_most} {every} {paths}");
        }
        for path in ["a", "", "*", "/a b", "/a\\n", "/\\u0001x3\\u0002", "/\\u0001x", "/ä"] {
            let why = sample(500, 1, &format!("\"{path}\":1")).unwrap_err();
            assert!(why.contains("a path is none that could be asked for"), "{path}: {why}");
        }
    }

    #[test]
    fn very_many_tosses_are_half_heads() {
        let mut sample = Sample::new(KEPT_MOST, Key::default());
        for tosses in [TOSSES_MOST, TOSSES_MOST + 1, 1 << 30, 1 << 44] {
            let off = (sample.heads(tosses) as f64 - tosses as f64 / 2.0) / (tosses as f64).sqrt();
            assert!(off.abs() < 4.0 && off != 0.0, "{tosses}: {off}");
        }
    }

    #[test]
    fn two_samples_put_together_are_one_of_both() {
        let mut one = Sample::new(50, Key::default());
        let mut other = Sample::new(50, Key::default());
        (0..30_000).for_each(|at| one.add(format!("/a/{}", at % 3_000).as_bytes()));
        (0..300).for_each(|at| other.add(format!("/b/{}", at % 3).as_bytes()));
        let every = one.every;
        assert!(every > 1 && other.every == 1);
        one.absorb(other);
        assert!(one.every >= every && one.kept.len() <= 50);
        let kept = one.finish();
        let (b, all) =
            kept.paths.iter().fold((0, 0), |(b, all), (path, times)| (b + if path.starts_with(b"/b") { *times } else { 0 }, all + times));
        assert!(b * 10 < all, "{b} of {all}, and 1 in 100 was there");
        assert!((2_400..3_600).contains(&kept.distinct), "{}", kept.distinct);
    }

    #[test]
    fn long_paths_and_many_bytes_are_bounded() {
        let mut sample = Sample::new(KEPT_MOST, Key::default());
        for at in 0..2_000 {
            sample.add(format!("/{}{at}", "x".repeat(3_000)).as_bytes());
        }
        (0..500).for_each(|_| sample.add(&vec![b'x'; 100_000]));
        assert!(sample.bytes <= KEPT_MOST * PATH_BYTES_MEAN && sample.too_long == 500);
        assert!(sample.finish().covered < 0.8);
    }
}
