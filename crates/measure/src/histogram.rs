//! A distribution of times that adds up exactly: HdrHistogram with three significant digits, and exact sums beside it.
//!
//! Keeping samples costs memory without end; t-digests merge differently in different order. HdrHistogram's buckets
//! are fixed (at most 0.1 % wide), so any split over threads and intervals gives the same totals. Its own mean and
//! deviation are made from bucket middles; ours come from integer sums, so that clamping or loss would show.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer as HdrReader, Serializer as HdrWriter, V2DeflateSerializer, V2Serializer};
use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::buckets::{self, Buckets, DIGITS};

/// The quantiles that reports show.
pub const QUANTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// Fewer samples than this beyond a quantile say nothing about it (docs/measurement.md §1.5).
const TAIL_SAMPLES_MIN: f64 = 10.0;

/// Whether `count` samples are enough to print quantile `q` as a number: at least ten lie beyond it.
#[must_use]
pub fn quantile_is_known(count: u64, q: f64) -> bool {
    // Rounded, because 1 − 0.99 is not exactly 0.01 and a thousand samples are enough for it.
    (count as f64 * (1.0 - q) * 1e6).round() / 1e6 >= TAIL_SAMPLES_MIN
}

/// Times in nanoseconds: counts by bucket, and exact count, sum, sum of squares, least and greatest.
#[derive(Clone)]
pub struct Histogram {
    buckets: Buckets,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// Empty. Grows with the greatest value, not with their number.
    #[must_use]
    pub fn new() -> Self {
        Self { buckets: Buckets::default(), sum: 0, squares: 0, min: u64::MAX, max: 0 }
    }

    /// Adds one time.
    #[inline]
    pub fn record(&mut self, time: Nanos) {
        let value = time.0;
        self.buckets.record(value);
        self.sum += u128::from(value);
        self.squares += u128::from(value) * u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the same time so many times.
    pub fn record_many(&mut self, time: Nanos, count: u64) {
        if count == 0 {
            return;
        }
        let value = time.0;
        self.buckets.record_many(value, count);
        self.sum += u128::from(value) * u128::from(count);
        self.squares += u128::from(value) * u128::from(value) * u128::from(count);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds another's counts: exact, in any order.
    pub fn add(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.buckets.add(&other.buckets);
        self.sum += other.sum;
        self.squares += other.squares;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets everything but keeps its memory.
    pub fn clear(&mut self) {
        if !self.is_empty() {
            self.buckets.clear();
        }
        (self.sum, self.squares, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    /// How many times were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.total()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The exact sum, in nanoseconds.
    #[must_use]
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact mean in nanoseconds; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The sample standard deviation (n − 1) in nanoseconds; `None` below two samples.
    #[must_use]
    pub fn stdev(&self) -> Option<f64> {
        let n = self.count();
        if n < 2 {
            return None;
        }
        // n·Σx² − (Σx)² in whole numbers where it fits, so that nothing cancels.
        let exact = u128::from(n).checked_mul(self.squares).zip(self.sum.checked_mul(self.sum)).map(|(a, b)| a.saturating_sub(b) as f64);
        let spread = exact.unwrap_or_else(|| (n as f64 * self.squares as f64 - self.sum as f64 * self.sum as f64).max(0.0));
        Some((spread / n as f64 / (n - 1) as f64).sqrt())
    }

    /// The least; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<Nanos> {
        (!self.is_empty()).then_some(Nanos(self.min))
    }

    /// The greatest; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<Nanos> {
        (!self.is_empty()).then_some(Nanos(self.max))
    }

    /// The value at quantile `q` (0 to 1), within 0.1 % above the true one; `None` when empty.
    /// Whether it means anything at this count, [`quantile_is_known`] tells.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        (!self.is_empty()).then(|| Nanos(self.buckets.at_quantile(q).clamp(self.min, self.max)))
    }

    /// As [`Histogram::quantile`], but `None` too where there are too few samples behind it.
    #[must_use]
    pub fn known_quantile(&self, q: f64) -> Option<Nanos> {
        if quantile_is_known(self.count(), q) { self.quantile(q) } else { None }
    }

    /// Every bucket with something in it, ascending: its greatest value, and how many.
    pub fn recorded(&self) -> impl Iterator<Item = (Nanos, u64)> {
        self.buckets.recorded().map(|(greatest, count)| (Nanos(greatest), count))
    }

    /// The value of the sample of that rank, counted from 1, within 0.1 %; `None` if there are fewer.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> Option<Nanos> {
        bucket_of_rank(self.recorded(), rank).map(|bucket| Nanos(bucket.0.clamp(self.min, self.max)))
    }

    /// How many times are of this kind, to the accuracy of a bucket: each is shown its greatest value.
    #[must_use]
    pub fn count_where(&self, is_such: impl Fn(Nanos) -> bool) -> u64 {
        self.recorded().filter(|(time, _)| is_such(*time)).map(|(_, count)| count).sum()
    }

    /// The same as an HdrHistogram, for formats that print it.
    #[must_use]
    pub fn to_hdr(&self) -> Hdr<u64> {
        self.buckets.to_hdr(self.max)
    }

    /// At rest: some hundred bytes for a typical second.
    #[must_use]
    pub fn pack(&self) -> PackedHistogram {
        PackedHistogram(self.written(&PACKED_QUANTILES))
    }

    /// The same with all quantiles that reports show.
    #[must_use]
    pub fn pack_whole(&self) -> PackedHistogram {
        PackedHistogram(self.written(&QUANTILES))
    }

    /// That of these buckets, whose exact sums are known beside them.
    pub(crate) fn of_buckets(buckets: &[(Nanos, u64)], (sum, squares): (u128, u128), bounds: Option<(Nanos, Nanos)>) -> Self {
        let mut histogram = Self::new();
        for (time, count) in buckets {
            histogram.buckets.record_many(time.0, *count);
        }
        let (min, max) = bounds.map_or((u64::MAX, 0), |(min, max)| (min.0, max.0));
        Self { sum, squares, min, max, ..histogram }
    }

    /// The exact sum of squares.
    pub(crate) const fn squares(&self) -> u128 {
        self.squares
    }

    /// It, unless its sums cannot be those of any times.
    fn sound(self) -> Result<Self, String> {
        if self.count() > 0 && (self.min > self.max || self.sum < u128::from(self.max)) {
            return Err("a histogram's sums contradict each other".to_owned());
        }
        Ok(self)
    }

    fn written(&self, quantiles: &[f64]) -> HistogramInFile {
        let mut bytes = Vec::new();
        if !self.is_empty() {
            V2DeflateSerializer::new().serialize(&self.to_hdr(), &mut bytes).expect("writing to memory does not fail");
        }
        HistogramInFile {
            count: self.count(),
            mean_ns: self.mean(),
            stdev_ns: self.stdev(),
            min_ns: self.min().map(|min| min.0),
            max_ns: self.max().map(|max| max.0),
            quantiles: quantiles.iter().map(|q| (q.to_string(), self.known_quantile(*q).map(|value| value.0))).collect(),
            sum_ns: self.sum.to_string(),
            squares_ns: self.squares.to_string(),
            hdr: BASE64_STANDARD.encode(&bytes),
        }
    }
}

/// The greatest time that is counted in the same bucket.
pub(crate) const fn greatest_alike(time: Nanos) -> Nanos {
    Nanos(buckets::greatest_alike(time.0))
}

/// As HdrHistogram counts ranks: from 1, the first whose share reaches `q`.
#[must_use]
pub fn rank_of(q: f64, total: u64) -> u64 {
    // A hair less, because 0.99 · 100 may come out as 99.00000000000001.
    ((q * total as f64 - 1e-6).ceil() as u64).clamp(1, total.max(1))
}

/// Of ascending buckets with their counts, the one that holds the sample of that rank, counted from 1.
#[must_use]
pub fn bucket_of_rank(buckets: impl IntoIterator<Item = (Nanos, u64)>, rank: u64) -> Option<Nanos> {
    let mut up_to = 0;
    let holds = |(_, count): &(Nanos, u64)| {
        up_to += count;
        up_to >= rank
    };
    buckets.into_iter().find(holds).map(|(time, _)| time)
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        (self.sum, self.squares, self.min, self.max) == (other.sum, other.squares, other.min, other.max) && self.buckets == other.buckets
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("min", &self.min())
            .field("max", &self.max())
            .finish_non_exhaustive()
    }
}

/// The quantiles a packed histogram tells without being unpacked.
const PACKED_QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// A histogram at rest, as an hour's timeline keeps thousands: compressed, its main figures at hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PackedHistogram(HistogramInFile);

impl PackedHistogram {
    /// How many times it holds.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.0.count
    }

    /// The quantile 0.5, 0.9 or 0.99, or another that it was packed with; `None` for others and with too few samples.
    #[must_use]
    pub fn known_quantile(&self, q: f64) -> Option<Nanos> {
        self.0.quantiles.get(&q.to_string()).copied().flatten().map(Nanos)
    }

    /// The exact mean in nanoseconds; `None` when empty.
    #[must_use]
    pub const fn mean(&self) -> Option<f64> {
        self.0.mean_ns
    }

    /// The greatest; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<Nanos> {
        self.0.max_ns.map(Nanos)
    }

    /// The histogram again.
    ///
    /// # Errors
    /// In words, if it is not a histogram of ours.
    pub fn unpack(&self) -> Result<Histogram, String> {
        self.0.read()
    }
}

/// What stands in a file: figures for people and their scripts, and the buckets for those who compute further.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct HistogramInFile {
    count: u64,
    mean_ns: Option<f64>,
    stdev_ns: Option<f64>,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    /// `null` where there are too few samples behind a quantile.
    #[serde(default)]
    quantiles: BTreeMap<String, Option<u64>>,
    /// Decimal text, because the squares go beyond 64 bits.
    sum_ns: String,
    squares_ns: String,
    /// HdrHistogram V2, compressed, base64: what its tools read.
    hdr: String,
}

impl HistogramInFile {
    fn read(&self) -> Result<Histogram, String> {
        let bytes = BASE64_STANDARD.decode(&self.hdr).map_err(|why| format!("a histogram is not base64: {why}"))?;
        let mut histogram = Histogram::new();
        if let Some(buckets) = read_buckets(&bytes)? {
            histogram.buckets = buckets;
        }
        if histogram.count() != self.count {
            return Err(format!("a histogram holds {} samples, not the {} it says", histogram.count(), self.count));
        }
        let whole = |text: &str| text.parse::<u128>().map_err(|why| format!("a histogram's sum '{text}' is no number: {why}"));
        histogram.sum = whole(&self.sum_ns)?;
        histogram.squares = whole(&self.squares_ns)?;
        histogram.min = self.min_ns.unwrap_or(u64::MAX);
        histogram.max = self.max_ns.unwrap_or(0);
        histogram.sound()
    }
}

/// What goes over a wire: nothing is computed for people, and nothing compressed, since it is read at once.
#[derive(Serialize, Deserialize)]
struct HistogramOnWire {
    count: u64,
    /// High and low half each, because they go beyond 64 bits.
    sum: (u64, u64),
    squares: (u64, u64),
    min: u64,
    max: u64,
    /// HdrHistogram V2.
    #[serde(with = "serde_bytes")]
    buckets: Vec<u8>,
}

impl From<&Histogram> for HistogramOnWire {
    fn from(histogram: &Histogram) -> Self {
        let Histogram { buckets: _, sum, squares, min, max } = histogram;
        let mut bytes = Vec::new();
        if !histogram.is_empty() {
            V2Serializer::new().serialize(&histogram.to_hdr(), &mut bytes).expect("writing to memory does not fail");
        }
        let halves = |number: u128| ((number >> 64) as u64, number as u64);
        Self { count: histogram.count(), sum: halves(*sum), squares: halves(*squares), min: *min, max: *max, buckets: bytes }
    }
}

impl TryFrom<HistogramOnWire> for Histogram {
    type Error = String;

    fn try_from(HistogramOnWire { count, sum, squares, min, max, buckets }: HistogramOnWire) -> Result<Self, String> {
        let whole = |(high, low): (u64, u64)| u128::from(high) << 64 | u128::from(low);
        let mut histogram = Self { sum: whole(sum), squares: whole(squares), min, max, ..Self::new() };
        if let Some(buckets) = read_buckets(&buckets)? {
            histogram.buckets = buckets;
        }
        if histogram.count() != count {
            return Err(format!("a histogram holds {} samples, not the {count} it says", histogram.count()));
        }
        histogram.sound()
    }
}

/// The buckets of an HdrHistogram V2, compressed or not; none where there is nothing.
fn read_buckets(bytes: &[u8]) -> Result<Option<Buckets>, String> {
    if bytes.is_empty() {
        return Ok(None);
    }
    if payload_bytes(bytes).is_none_or(|said| said > PAYLOAD_BYTES_MAX) {
        return Err("a histogram cannot be read: the length that it says is none of a histogram".to_owned());
    }
    let read: Hdr<u64> = HdrReader::new().deserialize(&mut &*bytes).map_err(|why| format!("a histogram cannot be read: {why}"))?;
    if read.sigfig() != DIGITS {
        return Err(format!("a histogram has {} digits, not {DIGITS}", read.sigfig()));
    }
    Ok(Some(Buckets::from(&read)))
}

/// All buckets that there are with three digits, each with its longest count: the reader makes room for as much as a file says.
const PAYLOAD_BYTES_MAX: u32 = 1 << 20;

/// The length of its counts that a histogram says in HdrHistogram V2, which stands in the packed part where there is one.
fn payload_bytes(bytes: &[u8]) -> Option<u32> {
    const PACKED: u32 = 0x1c84_9314;
    let number = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_be_bytes);
    let mut head = [0; 8];
    if number(bytes.get(..4)?)? == PACKED {
        ZlibDecoder::new(bytes.get(8..)?).read_exact(&mut head).ok()?;
    } else {
        head.copy_from_slice(bytes.get(..8)?);
    }
    number(&head[4..])
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return self.written(&QUANTILES).serialize(serializer);
        }
        HistogramOnWire::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return HistogramInFile::deserialize(deserializer)?.read().map_err(serde::de::Error::custom);
        }
        HistogramOnWire::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::histogram_of as of;
    use proptest::prelude::*;

    #[test]
    fn a_length_that_no_histogram_has_is_refused_before_room_is_made_for_it() {
        let json = serde_json::to_value(of(&[2_000_001, 4_000_003])).unwrap();
        let packed = BASE64_STANDARD.decode(json["hdr"].as_str().unwrap()).unwrap();
        let mut plain = Vec::new();
        ZlibDecoder::new(&packed[8..]).read_to_end(&mut plain).unwrap();
        plain[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut zlib, &plain).unwrap();
        let zlib = zlib.finish().unwrap();
        let repacked = [&packed[..4], &u32::try_from(zlib.len()).unwrap().to_be_bytes(), zlib.as_slice()].concat();
        for hostile in [repacked, plain] {
            let mut json = json.clone();
            json["hdr"] = BASE64_STANDARD.encode(hostile).into();
            let why = serde_json::from_value::<Histogram>(json).unwrap_err().to_string();
            assert!(why.contains("the length that it says is none of a histogram"), "{why}");
        }
    }

    #[test]
    fn mean_and_deviation_are_exact() {
        let histogram = of(&[2_000_001, 4_000_003, 6_000_005]);
        assert_eq!(histogram.mean(), Some(4_000_003.0));
        assert_eq!(histogram.stdev(), Some(2_000_002.0));
        assert_eq!((histogram.min(), histogram.max()), (Some(Nanos(2_000_001)), Some(Nanos(6_000_005))));
    }

    #[test]
    fn an_empty_histogram_says_nothing_rather_than_zero() {
        let histogram = Histogram::new();
        assert_eq!((histogram.mean(), histogram.stdev(), histogram.quantile(0.5), histogram.max()), (None, None, None, None));
    }

    #[test]
    fn a_quantile_is_known_with_ten_samples_beyond_it() {
        assert!(quantile_is_known(1_000, 0.99) && !quantile_is_known(999, 0.99));
        assert!(quantile_is_known(100_000, 0.9999) && !quantile_is_known(99_999, 0.9999));
        assert!(quantile_is_known(20, 0.5) && !quantile_is_known(19, 0.5));
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_a_thousandth(mut values in prop::collection::vec(1u64..100_000_000_000, 1..300), q in 0.0..1.0f64) {
            let got = of(&values).quantile(q).unwrap().0 as f64;
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let truth = values[rank - 1] as f64;
            prop_assert!((got - truth).abs() <= truth * 0.001 + 1.0, "{} against {}", got, truth);
        }

        #[test]
        fn ranks_and_counts_are_those_of_the_sorted_values(mut values in prop::collection::vec(1u64..100_000_000, 1..99), at in 0.0..1.0f64) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = (at * values.len() as f64) as usize;
            let (got, truth) = (histogram.at_rank(rank as u64 + 1).unwrap().0 as f64, values[rank] as f64);
            prop_assert!((got - truth).abs() <= truth * 0.001 + 1.0, "{} against {}", got, truth);
            prop_assert_eq!(histogram.at_rank(values.len() as u64 + 1), None);
            prop_assert_eq!(histogram.count_where(|_| true), values.len() as u64);
            // 2,000 and below are their own buckets.
            prop_assert_eq!(histogram.count_where(|time| time <= Nanos(2_000)), values.iter().filter(|value| **value <= 2_000).count() as u64);
        }

        #[test]
        fn adding_is_exact_in_any_order(a in prop::collection::vec(1u64..1_000_000_000_000, 0..99), b in prop::collection::vec(1u64..1_000_000, 0..99)) {
            let (mut ab, mut ba) = (of(&a), of(&b));
            ab.add(&of(&b));
            ba.add(&of(&a));
            let all = of(&[a, b].concat());
            prop_assert_eq!(&ab, &all);
            prop_assert_eq!(&ba, &all);
        }

        #[test]
        fn a_written_histogram_reads_back(values in prop::collection::vec(1u64..1_000_000_000_000, 0..99)) {
            let histogram = of(&values);
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Histogram>(&text).unwrap(), &histogram);
            let bytes = rmp_serde::to_vec_named(&histogram).unwrap();
            prop_assert_eq!(rmp_serde::from_slice::<Histogram>(&bytes).unwrap(), histogram);
        }
    }
}
