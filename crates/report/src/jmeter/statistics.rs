//! What JMeter's dashboard counts, from samples that come one by one.
//!
//! A dashboard is made of a file of samples, which may be gigabytes, so everything is counted while they pass: histograms by label, and bins of
//! time that become twice as wide when there are too many of them. JMeter takes percentiles of the last 20,000 samples; here they are those of all.
//!
//! Invariants: memory does not grow with the number of samples; what transactions sum up is in a row of its own, and not in the total a
//! second time.
//!
//! Figures: `StatisticsSummaryConsumer`, `ApdexSummaryConsumer`, `ErrorsSummaryConsumer` and `Top5ErrorsBySamplerConsumer` of JMeter 5.6.3.

use std::collections::BTreeMap;

use jtl::Sample;
use measure::Histogram;
use plan::Nanos;
use serde_json::{Map, Value, json};

/// So many labels, groups and kinds of errors have rows of their own; what comes after them is counted together.
const ROWS_MAX: usize = 500;
/// What that row is called.
const OTHERS: &str = "(others)";
/// The row of all samples.
pub(crate) const TOTAL: &str = "Total";
/// A satisfied user waits no longer, in milliseconds (`jmeter.reportgenerator.apdex_satisfied_threshold`).
pub(crate) const SATISFIED_MS: u64 = 500;
/// And a tolerant one no longer (`jmeter.reportgenerator.apdex_tolerated_threshold`).
pub(crate) const TOLERATED_MS: u64 = 1_500;
/// There are no more bins of time than this.
const BINS_MAX: usize = 600;
/// Response times by classes of so many milliseconds.
pub(crate) const CLASS_MS: u64 = 100;
/// The last class holds everything above.
const CLASSES_MAX: u64 = 600;

/// What the samples of a label came to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Label {
    /// Whether they are transactions.
    pub is_transaction: bool,
    pub count: u64,
    pub errors: BTreeMap<String, u64>,
    pub failed: u64,
    pub satisfied: u64,
    pub tolerated: u64,
    pub times: Histogram,
    bytes: u64,
    sent_bytes: u64,
    /// When the first began and the last ended, in milliseconds since 1970.
    span: Option<(u64, u64)>,
}

/// What ended, or began, in one bin of time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bin {
    /// Requests that began.
    pub begun: u64,
    /// Requests that ended.
    pub ended: u64,
    pub failed: u64,
    pub bytes: u64,
    pub sent_bytes: u64,
    /// By code.
    pub codes: BTreeMap<String, u64>,
    /// By label.
    pub labels: BTreeMap<String, Means>,
    /// The most threads of each group.
    pub threads: BTreeMap<String, u32>,
    /// Times of those that succeeded, and times to the first byte of all.
    pub times: Histogram,
    pub latencies: Histogram,
}

/// Sums, for means.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Means {
    pub count: u64,
    pub elapsed_ms: u64,
    pub latency_ms: u64,
    pub connect_ms: u64,
}

impl Means {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.elapsed_ms += other.elapsed_ms;
        self.latency_ms += other.latency_ms;
        self.connect_ms += other.connect_ms;
    }
}

/// All that is counted.
#[derive(Debug, Clone)]
pub struct Statistics {
    pub(crate) labels: BTreeMap<String, Label>,
    pub(crate) total: Label,
    /// By the number of the bin, from the beginning of 1970 on.
    bins: BTreeMap<u64, Bin>,
    width_ms: u64,
    /// Of those that succeeded, by classes of [`CLASS_MS`]; by label.
    pub(crate) classes: BTreeMap<String, BTreeMap<u64, u64>>,
    /// By the number of threads that were active.
    pub(crate) by_threads: BTreeMap<u32, Means>,
}

impl Default for Statistics {
    fn default() -> Self {
        let (labels, total, bins, classes, by_threads) = Default::default();
        Self { labels, total, bins, width_ms: 1_000, classes, by_threads }
    }
}

/// The row of a name, or that of all others where there are too many.
fn row<'m, V: Default>(rows: &'m mut BTreeMap<String, V>, name: &str) -> &'m mut V {
    let name = if rows.len() >= ROWS_MAX && !rows.contains_key(name) { OTHERS } else { name };
    // Most are there, and need no name of their own.
    if !rows.contains_key(name) {
        rows.insert(name.to_owned(), V::default());
    }
    rows.get_mut(name).expect("it is there")
}

/// What went wrong, as it is listed.
fn error_of(sample: &Sample<'_>) -> String {
    let code = &*sample.response_code;
    let is_answer = code.parse().is_ok_and(|status: u16| (200..400).contains(&status));
    match (is_answer, &*sample.failure_message, &*sample.response_message) {
        (true, "", _) => "Assertion failed".to_owned(),
        (true, why, _) => why.to_owned(),
        (false, _, "") => code.to_owned(),
        (false, _, message) => format!("{code}/{message}"),
    }
}

impl Label {
    fn add(&mut self, sample: &Sample<'_>) {
        self.count += 1;
        if !sample.success {
            self.failed += 1;
            *row(&mut self.errors, &error_of(sample)) += 1;
        } else if sample.elapsed_ms <= SATISFIED_MS {
            self.satisfied += 1;
        } else if sample.elapsed_ms <= TOLERATED_MS {
            self.tolerated += 1;
        }
        self.times.record(Nanos::from_millis(sample.elapsed_ms));
        self.bytes += sample.bytes;
        self.sent_bytes += sample.sent_bytes;
        let (from, to) = (sample.time_stamp_ms, sample.time_stamp_ms.saturating_add(sample.elapsed_ms));
        self.span = Some(self.span.map_or((from, to), |(first, last)| (first.min(from), last.max(to))));
    }

    /// From the first beginning to the last end, in seconds.
    pub(crate) fn secs(&self) -> f64 {
        self.span.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e3)
    }

    /// When the first began and the last ended, in milliseconds since 1970.
    pub(crate) const fn span(&self) -> Option<(u64, u64)> {
        self.span
    }

    /// So much a second.
    fn each_second(&self, value: f64) -> f64 {
        let secs = self.secs();
        if secs > 0.0 { value / secs } else { 0.0 }
    }

    /// From 0 to 1: how content users are, of 1 where all are satisfied.
    pub(crate) fn apdex(&self) -> f64 {
        if self.count == 0 { 0.0 } else { (self.satisfied as f64 + self.tolerated as f64 / 2.0) / self.count as f64 }
    }

    pub(crate) fn failed_percent(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.failed as f64 / self.count as f64 * 100.0 }
    }

    /// The time that this share of the samples does not exceed, in milliseconds.
    pub(crate) fn quantile_ms(&self, share: f64) -> f64 {
        self.times.quantile(share).map_or(0.0, Nanos::as_millis_f64)
    }

    pub(crate) fn min_ms(&self) -> f64 {
        self.times.min().map_or(0.0, Nanos::as_millis_f64)
    }

    pub(crate) fn max_ms(&self) -> f64 {
        self.times.max().map_or(0.0, Nanos::as_millis_f64)
    }

    pub(crate) fn mean_ms(&self) -> f64 {
        self.times.mean().unwrap_or_default() / 1e6
    }

    pub(crate) fn throughput(&self) -> f64 {
        self.each_second(self.count as f64)
    }

    /// KiB a second, from the server and to it.
    pub(crate) fn traffic(&self) -> (f64, f64) {
        (self.each_second(self.bytes as f64 / 1_024.0), self.each_second(self.sent_bytes as f64 / 1_024.0))
    }

    /// As it stands in `statistics.json`.
    fn json(&self, name: &str) -> Value {
        let (received, sent) = self.traffic();
        json!({
            "transaction": name,
            "sampleCount": self.count,
            "errorCount": self.failed,
            "errorPct": self.failed_percent(),
            "meanResTime": self.mean_ms(),
            "medianResTime": self.quantile_ms(0.5),
            "minResTime": self.min_ms(),
            "maxResTime": self.max_ms(),
            "pct1ResTime": self.quantile_ms(0.9),
            "pct2ResTime": self.quantile_ms(0.95),
            "pct3ResTime": self.quantile_ms(0.99),
            "throughput": self.throughput(),
            "receivedKBytesPerSec": received,
            "sentKBytesPerSec": sent,
        })
    }
}

impl Bin {
    fn add(&mut self, later: Self) {
        let Self { begun, ended, failed, bytes, sent_bytes, codes, labels, threads, times, latencies } = later;
        self.begun += begun;
        self.ended += ended;
        self.failed += failed;
        self.bytes += bytes;
        self.sent_bytes += sent_bytes;
        codes.into_iter().for_each(|(code, count)| *row(&mut self.codes, &code) += count);
        labels.into_iter().for_each(|(label, means)| row(&mut self.labels, &label).add(&means));
        for (group, count) in threads {
            let most = row(&mut self.threads, &group);
            *most = count.max(*most);
        }
        self.times.add(&times);
        self.latencies.add(&latencies);
    }
}

impl Statistics {
    /// Takes a sample up.
    pub fn add(&mut self, sample: &Sample<'_>) {
        let label = row(&mut self.labels, &sample.label);
        label.add(sample);
        if sample.is_transaction() {
            label.is_transaction = true;
            return;
        }
        self.total.add(sample);
        let means = Means { count: 1, elapsed_ms: sample.elapsed_ms, latency_ms: sample.latency_ms, connect_ms: sample.connect_ms };
        if sample.success {
            let class = (sample.elapsed_ms / CLASS_MS).min(CLASSES_MAX);
            *row(&mut self.classes, &sample.label).entry(class).or_default() += 1;
        }
        if self.by_threads.len() < ROWS_MAX || self.by_threads.contains_key(&sample.all_threads) {
            self.by_threads.entry(sample.all_threads).or_default().add(&means);
        }
        let ended = sample.time_stamp_ms.saturating_add(sample.elapsed_ms);
        self.bin(sample.time_stamp_ms).begun += 1;
        let bin = self.bin(ended);
        bin.ended += 1;
        bin.failed += u64::from(!sample.success);
        bin.bytes += sample.bytes;
        bin.sent_bytes += sample.sent_bytes;
        *row(&mut bin.codes, &sample.response_code) += 1;
        row(&mut bin.labels, &sample.label).add(&means);
        // Such as `shop 1-7`.
        let group = sample.thread_name.rsplit_once('-').map_or(&*sample.thread_name, |(group, _)| group);
        let threads = row(&mut bin.threads, group);
        *threads = sample.group_threads.max(*threads);
        if sample.success {
            bin.times.record(Nanos::from_millis(sample.elapsed_ms));
        }
        bin.latencies.record(Nanos::from_millis(sample.latency_ms));
    }

    /// The bin of this moment. Bins become wider when there would be too many.
    fn bin(&mut self, at_ms: u64) -> &mut Bin {
        while self.bins.len() >= BINS_MAX && !self.bins.contains_key(&(at_ms / self.width_ms)) {
            self.width_ms *= 2;
            for (number, bin) in std::mem::take(&mut self.bins) {
                self.bins.entry(number / 2).or_default().add(bin);
            }
        }
        self.bins.entry(at_ms / self.width_ms).or_default()
    }

    /// How wide bins are, in seconds.
    pub(crate) const fn bin_secs(&self) -> u64 {
        self.width_ms / 1_000
    }

    /// Every bin with its beginning, in seconds since the first.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (f64, &Bin)> {
        let first = self.bins.keys().next().copied().unwrap_or_default();
        self.bins.iter().map(move |(number, bin)| ((number - first) as f64 * self.width_ms as f64 / 1e3, bin))
    }

    /// Whether there was no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The labels, those with the most samples first.
    pub(crate) fn labels_by_count(&self) -> Vec<(&str, &Label)> {
        let mut labels: Vec<(&str, &Label)> = self.labels.iter().map(|(name, label)| (name.as_str(), label)).collect();
        labels.sort_by_key(|(_, label)| std::cmp::Reverse(label.count));
        labels
    }

    /// `statistics.json`, with a line break at its end.
    ///
    /// # Panics
    /// Never: numbers and texts are JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let labels = self.labels.iter().map(|(name, label)| (name.clone(), label.json(name)));
        let all: Map<String, Value> = labels.chain([(TOTAL.to_owned(), self.total.json(TOTAL))]).collect();
        serde_json::to_string_pretty(&all).expect("it is JSON") + "\n"
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn sample(at_ms: u64, elapsed_ms: u64, label: &'static str, code: &'static str, success: bool) -> Sample<'static> {
        Sample {
            time_stamp_ms: 1_767_607_200_000 + at_ms,
            elapsed_ms,
            label: label.into(),
            response_code: code.into(),
            response_message: if code == "500" { "Internal Server Error".into() } else { "OK".into() },
            thread_name: "shop 1-7".into(),
            data_type: "text".into(),
            success,
            failure_message: if success || code == "500" { "".into() } else { "Test failed: no price".into() },
            bytes: 2_048,
            sent_bytes: 1_024,
            group_threads: 3,
            all_threads: 4,
            url: "http://h/".into(),
            latency_ms: elapsed_ms / 2,
            idle_ms: 0,
            connect_ms: 1,
        }
    }

    pub fn statistics() -> Statistics {
        let mut statistics = Statistics::default();
        for turn in 0..10 {
            statistics.add(&sample(turn * 1_000, 100, "home", "200", true));
            statistics.add(&sample(turn * 1_000 + 100, 700, "order", if turn == 3 { "500" } else { "200" }, turn > 3));
            let pair = sample(turn * 1_000, 800, "buy", "200", turn > 3);
            statistics
                .add(&Sample { response_message: "Number of samples in transaction : 2, number of failing samples : 0".into(), ..pair });
        }
        statistics.add(&sample(9_900, 1_600, "slow", "200", true));
        statistics
    }

    #[test]
    fn rows_are_counted_as_jmeter_counts_them() {
        let read: Value = serde_json::from_str(&statistics().json()).unwrap();
        let home = &read["home"];
        assert_eq!((home["transaction"].as_str(), home["sampleCount"].as_u64()), (Some("home"), Some(10)));
        // Ten samples of 2 KiB in 9.1 s.
        assert!((home["throughput"].as_f64().unwrap() - 10.0 / 9.1).abs() < 1e-9, "{home}");
        assert!((home["receivedKBytesPerSec"].as_f64().unwrap() - 20.0 / 9.1).abs() < 1e-9, "{home}");
        let order = &read["order"];
        assert_eq!((order["errorCount"].as_u64(), order["errorPct"].as_f64()), (Some(4), Some(40.0)));
        assert!((order["medianResTime"].as_f64().unwrap() - 700.0).abs() < 1.0, "{order}");
        assert_eq!(order["maxResTime"].as_f64(), Some(700.0));
        // A transaction has a row, and its requests are not counted twice.
        assert_eq!((read["buy"]["sampleCount"].as_u64(), read["Total"]["sampleCount"].as_u64()), (Some(10), Some(21)));
    }

    #[test]
    fn users_are_content_by_how_long_they_wait() {
        let statistics = statistics();
        assert_eq!(statistics.labels["home"].apdex(), 1.0);
        assert_eq!((statistics.labels["order"].satisfied, statistics.labels["order"].tolerated), (0, 6));
        assert_eq!(statistics.labels["order"].apdex(), 0.3);
        assert_eq!(statistics.labels["slow"].apdex(), 0.0);
    }

    #[test]
    fn errors_are_told_by_code_and_by_what_an_assertion_said() {
        let errors = statistics().total.errors;
        let errors: Vec<(&str, u64)> = errors.iter().map(|(error, count)| (error.as_str(), *count)).collect();
        assert_eq!(errors, [("500/Internal Server Error", 1), ("Test failed: no price", 3)]);
    }

    #[test]
    fn memory_does_not_grow_with_samples_nor_with_time() {
        let mut statistics = Statistics::default();
        for turn in 0..20_000_u64 {
            statistics.add(&Sample { label: format!("label {turn}").into(), ..sample(turn * 7_000, 10, "", "200", true) });
        }
        assert!(statistics.labels.len() <= ROWS_MAX + 1 && statistics.bins.len() <= BINS_MAX, "{}", statistics.bins.len());
        assert_eq!(statistics.labels.values().map(|label| label.count).sum::<u64>(), 20_000);
        assert_eq!(statistics.bins().map(|(_, bin)| bin.ended).sum::<u64>(), 20_000);
        assert_eq!(statistics.total.count, 20_000);
        assert!(statistics.labels.contains_key(OTHERS));
    }
}
