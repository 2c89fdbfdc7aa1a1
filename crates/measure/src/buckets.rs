//! Counts of times in the buckets of an HdrHistogram with three digits, and how a time finds its own.
//!
//! The crate finds it as well, and takes 67 instructions for it, because its digits and its least value are chosen when the program runs;
//! three times a request that was an eighth of all that a request costs. With digits that are known here it is some shifts. So counting is
//! here, and whatever is written or read in HdrHistogram's own format goes through the crate, which the buckets are held against.
//!
//! Invariant: a bucket's place depends on the time alone, so that counts add up in any order.

use hdrhistogram::Histogram as Hdr;

/// Three digits: buckets at most 0.1 % wide, far below sampling error (docs/measurement.md §1.7).
pub(crate) const DIGITS: u8 = 3;

/// With three digits every value below two to this has a bucket of its own; from here on they get twice as wide with each power of two.
const EXACT_BITS: u32 = 11;

/// So many buckets have the same width.
const ALIKE: usize = 1 << (EXACT_BITS - 1);

/// Counts by bucket. Takes memory up to the greatest value, and none while it is empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buckets {
    counts: Vec<u64>,
    total: u64,
}

/// Which bucket a value is counted in.
#[inline]
const fn place_of(value: u64) -> usize {
    let doublings = u64::BITS - EXACT_BITS - (value | ((1 << EXACT_BITS) - 1)).leading_zeros();
    doublings as usize * ALIKE + (value >> doublings) as usize
}

/// The least value of a bucket, and how many bits of its values are not told apart.
const fn least_at(place: usize) -> (u64, u32) {
    let doublings = (place / ALIKE).saturating_sub(1);
    (((place - doublings * ALIKE) as u64) << doublings, doublings as u32)
}

const fn greatest_at(place: usize) -> u64 {
    let (least, doublings) = least_at(place);
    least | ((1 << doublings) - 1)
}

/// The greatest value that is counted in the same bucket.
pub(crate) const fn greatest_alike(value: u64) -> u64 {
    greatest_at(place_of(value))
}

impl Buckets {
    /// Adds a value.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        let place = place_of(value);
        match self.counts.get_mut(place) {
            Some(count) => *count += 1,
            None => self.grow(place, 1),
        }
        self.total += 1;
    }

    /// Adds a value so many times.
    pub(crate) fn record_many(&mut self, value: u64, more: u64) {
        let place = place_of(value);
        match self.counts.get_mut(place) {
            Some(count) => *count = count.saturating_add(more),
            None => self.grow(place, more),
        }
        self.total = self.total.saturating_add(more);
    }

    /// Makes room up to this place, which is none yet, and puts a count there.
    #[cold]
    fn grow(&mut self, place: usize, count: u64) {
        self.counts.resize((place / ALIKE + 1) * ALIKE, 0);
        self.counts[place] = count;
    }

    /// Adds another's counts.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*more);
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// Forgets the counts and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// How many values were added.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Every bucket with something in it, ascending: its greatest value, and how many.
    pub(crate) fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(place, count)| (greatest_at(place), *count))
    }

    /// The value at quantile `q` (0 to 1), as HdrHistogram tells it: the greatest of its bucket, and for 0 the least. There must be one.
    pub(crate) fn at_quantile(&self, q: f64) -> u64 {
        let rank = ((q.min(1.0) * self.total as f64).ceil() as u64).max(1);
        let mut up_to = 0_u64;
        let reaches = |count: &u64| {
            up_to = up_to.saturating_add(*count);
            up_to >= rank
        };
        let place = self.counts.iter().position(reaches).unwrap_or(0);
        if q == 0.0 { least_at(place).0 } else { greatest_at(place) }
    }

    /// The same counts as the crate has them, in the range of this greatest value: it depends on the counts alone, and so do the bytes it
    /// is written in.
    pub(crate) fn to_hdr(&self, max: u64) -> Hdr<u64> {
        let mut hdr = Hdr::new_with_max(max.max(2), DIGITS).expect("3 digits are allowed, and the range is above 1");
        hdr.auto(true);
        self.recorded().for_each(|(value, count)| hdr.record_n(value, count).expect("the histogram grows with its values"));
        hdr
    }
}

impl From<&Hdr<u64>> for Buckets {
    /// Those of a histogram with three digits.
    fn from(hdr: &Hdr<u64>) -> Self {
        let mut buckets = Self::default();
        hdr.iter_recorded().for_each(|bucket| buckets.record_many(bucket.value_iterated_to(), bucket.count_since_last_iteration()));
        buckets
    }
}

/// However much room each has.
impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        let shared = self.counts.len().min(other.counts.len());
        let are_empty = |counts: &[u64]| counts.iter().all(|count| *count == 0);
        self.counts[..shared] == other.counts[..shared] && are_empty(&self.counts[shared..]) && are_empty(&other.counts[shared..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values of every size, which a range alone would hardly give.
    fn value() -> impl Strategy<Value = u64> {
        (0..62u32, any::<u64>()).prop_map(|(bits, value)| value >> (63 - bits))
    }

    #[test]
    fn places_are_without_gaps_and_hold_what_they_say() {
        for place in 0..40_000 {
            let (least, greatest) = (least_at(place).0, greatest_at(place));
            assert_eq!((place_of(least), place_of(greatest)), (place, place));
            assert_eq!(place_of(greatest + 1), place + 1);
        }
        assert_eq!(greatest_alike(u64::MAX), u64::MAX);
    }

    proptest! {
        #[test]
        fn buckets_and_quantiles_are_those_of_the_crate(values in prop::collection::vec((value(), 1..50u64), 1..60), q in 0.0..=1.0f64) {
            let (mut ours, mut theirs) = (Buckets::default(), Hdr::<u64>::new(DIGITS).unwrap());
            theirs.auto(true);
            for (value, count) in &values {
                theirs.record_n(*value, *count).unwrap();
                if *count == 1 { ours.record(*value) } else { ours.record_many(*value, *count) }
            }
            let recorded = theirs.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_since_last_iteration()));
            prop_assert_eq!(ours.recorded().collect::<Vec<_>>(), recorded.collect::<Vec<_>>());
            prop_assert_eq!(ours.total(), theirs.len());
            for q in [0.0, q, 0.5, 0.99, 1.0] {
                prop_assert_eq!(ours.at_quantile(q), theirs.value_at_quantile(q), "{}", q);
            }
            prop_assert_eq!(Buckets::from(&theirs), ours.clone());
            let max = values.iter().map(|(value, _)| *value).max().unwrap();
            prop_assert_eq!(ours.to_hdr(max), theirs);
        }

        #[test]
        fn counts_add_up_in_any_order(one in prop::collection::vec(value(), 0..40), two in prop::collection::vec(value(), 0..40)) {
            let of = |values: &[u64]| {
                let mut buckets = Buckets::default();
                values.iter().for_each(|value| buckets.record(*value));
                buckets
            };
            let (mut first, mut second) = (of(&one), of(&two));
            first.add(&second);
            second.add(&of(&one));
            prop_assert_eq!(&first, &second);
            prop_assert_eq!(&first, &of(&[one, two].concat()));
            first.clear();
            prop_assert_eq!(&first, &Buckets::default());
            prop_assert_eq!(first.total(), 0);
        }
    }
}
