//! The sample of a route as a part of a survey has it: sealed paths with how often each was taken.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Distinct, KEPT_MOST, SEALED_BYTES_MEAN, Sample};
use crate::key::Key;
use crate::stand_in::is_sealed_path;

/// More than one request in so many million million is no sample.
const EVERY_MOST: u64 = 1 << 40;
/// What is sampled stands for no more requests.
const REQUESTS_MOST: u64 = 1 << 44;

/// A register holds the place of a bit of 56, or the one behind them.
const RANK_MOST: u8 = 57;

#[derive(Serialize, Deserialize)]
struct WrittenSample {
    paths: BTreeMap<String, u64>,
    paths_most: usize,
    every: u64,
    too_long: u64,
    /// The registers that count different paths, each that is not nothing by its number.
    distinct: Vec<(u8, u8)>,
}

impl Serialize for Sample {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A sealed path is text.
        let paths = self.kept.iter().map(|(path, times)| (String::from_utf8_lossy(path).into_owned(), *times)).collect();
        let registers = self.distinct.iter().flat_map(|distinct| distinct.0.iter());
        let distinct = (0..=u8::MAX).zip(registers.copied()).filter(|(_, rank)| *rank > 0).collect();
        WrittenSample { paths, paths_most: self.kept_most, every: self.every, too_long: self.too_long, distinct }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sample {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WrittenSample { paths, paths_most, every, too_long, distinct } = WrittenSample::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("a sample of paths is none");
        let taken = paths.values().try_fold(too_long, |sum, times| sum.checked_add(*times));
        let requests = taken.and_then(|taken| taken.checked_mul(every));
        if !every.is_power_of_two()
            || every > EVERY_MOST
            || requests.is_none_or(|requests| requests > REQUESTS_MOST)
            || paths_most == 0
            || distinct.iter().any(|(_, rank)| *rank > RANK_MOST)
        {
            return Err(wrong());
        }
        if !paths.keys().all(|path| is_sealed_path(path)) {
            return Err(serde::de::Error::custom("a path is none that could be asked for"));
        }
        let mut registers = Distinct::default();
        distinct.into_iter().for_each(|(number, rank)| registers.0[usize::from(number)] = rank);
        let mut sample =
            Self { distinct: Some(registers), bytes_mean: SEALED_BYTES_MEAN, ..Self::new(paths_most.min(KEPT_MOST), Key::default()) };
        (sample.every, sample.too_long) = (every, too_long);
        paths.into_iter().for_each(|(path, times)| sample.take(path.as_bytes(), times));
        sample.shrink();
        Ok(sample)
    }
}
