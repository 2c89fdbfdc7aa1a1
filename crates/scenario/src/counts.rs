//! Counters that all users have together: `next(orders)` is one more each time, whoever asks.
//!
//! They are numbers of the process, which users add to without a lock. Where a load is sent from several processes each counts by itself, in
//! steps as wide as there are parts of the load, from the number of its own first part on: no number comes twice, and some are left out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plan::Part;

/// Counters, by their names.
#[derive(Default)]
pub(crate) struct Counts(Vec<(String, Arc<Count>)>);

/// One of them.
#[derive(Debug)]
pub(crate) struct Count {
    taken: AtomicU64,
    before_first: AtomicU64,
    step: AtomicU64,
}

impl Counts {
    /// The one of this name.
    pub(crate) fn named(&mut self, name: &str) -> Arc<Count> {
        if let Some((_, known)) = self.0.iter().find(|(known, _)| known == name) {
            return known.clone();
        }
        let count = Arc::new(Count { taken: AtomicU64::new(0), before_first: AtomicU64::new(0), step: AtomicU64::new(1) });
        self.0.push((name.to_owned(), count.clone()));
        count
    }

    /// Of all parts of the run, only these are carried out in this process.
    pub(crate) fn keep_for(&self, here: &[Part], all: &[Part]) {
        if here.len() >= all.len() {
            return;
        }
        let first = here.iter().map(|part| part.of_run.index()).min().unwrap_or_default();
        for (_, count) in &self.0 {
            count.before_first.store(first.into(), Ordering::Relaxed);
            count.step.store(all.len() as u64, Ordering::Relaxed);
        }
    }
}

impl Count {
    /// The next number, from 1.
    pub(crate) fn next(&self) -> u64 {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        self.before_first.load(Ordering::Relaxed) + taken * self.step.load(Ordering::Relaxed) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Share;

    #[test]
    fn no_number_comes_twice_wherever_it_is_taken() {
        let all: Vec<Part> = Share::all(std::num::NonZeroU32::new(3).unwrap()).map(Part::from).collect();
        let taken = |here: &[Part]| {
            let mut counts = Counts::default();
            let (one, same, other) = (counts.named("a"), counts.named("a"), counts.named("b"));
            counts.keep_for(here, &all);
            [one.next(), same.next(), other.next(), one.next()]
        };
        assert_eq!(taken(&all), [1, 2, 1, 3]);
        assert_eq!(taken(&all[..2]), [1, 4, 1, 7]);
        assert_eq!(taken(&all[2..]), [3, 6, 3, 9]);
    }
}
