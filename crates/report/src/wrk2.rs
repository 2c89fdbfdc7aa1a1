//! wrk2's report: wrk's, and the distribution in full as HdrHistogram prints it.
//!
//! wrk2 measures from when a request should have been sent, which is what loadline calls the response time, and throws away what
//! came in its first ten seconds, though not from its counts. Here all figures are of the whole run.

use measure::{Histogram, Statistics, Summary};
use plan::Nanos;

use crate::wrk::units::{cell, time_us};
use crate::wrk::{Facts, Formulas, rates, thread_stats, totals};

pub use crate::wrk::banner;

/// Which distributions are printed in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distributions {
    /// None.
    None,
    /// From when requests should have been sent.
    Recorded,
    /// That, and from when they were sent.
    RecordedAndUncorrected,
}

/// What follows the banner when the load has ended.
#[must_use]
pub fn report(run: &Summary, facts: &Facts, distributions: Distributions) -> String {
    let recorded = recorded(run, facts);
    let mut text = thread_stats(&Statistics::of_times(&recorded), &rates(run));
    if distributions != Distributions::None {
        text += "  Latency Distribution (HdrHistogram - Recorded Latency)\n";
        text += &distribution(&recorded);
    }
    if distributions == Distributions::RecordedAndUncorrected {
        text += "\n  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))\n";
        text += &distribution(&run.service_time);
    }
    text + &totals(run, facts)
}

/// Response times; by the original's formulas only those that came after its ten seconds of calibration, if the run outlasts them.
fn recorded(run: &Summary, facts: &Facts) -> Histogram {
    if facts.formulas == Formulas::True || run.ended.load_until <= CALIBRATION {
        return run.response_time.clone();
    }
    let mut kept = Histogram::new();
    for tick in run.timeline.iter().filter(|tick| tick.from >= CALIBRATION) {
        kept.add(&tick.response_time.unpack().expect("a tick packs what it unpacks"));
    }
    kept
}

/// wrk2 forgets the times it measured until then, though not the requests.
const CALIBRATION: Nanos = Nanos::from_secs(10);

/// The percentiles it names.
const PERCENTS: [f64; 8] = [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0];
/// As many rows for each halving of what lies above.
const TICKS_PER_HALF_DISTANCE: u32 = 5;
/// The shape of its histogram, 1 µs to 24 h at three digits, which its readers expect in the footer.
const BUCKETS: u32 = 27;
const SUB_BUCKETS: u32 = 2048;

fn distribution(times: &Histogram) -> String {
    let samples = Statistics::of_times(times);
    let mut text = String::new();
    for percent in PERCENTS {
        let rank = ((percent / 100.0 * samples.count() as f64 + 0.5).floor() as u64).max(1);
        text += &format!("{percent:7.3}%{}\n", cell(&time_us(samples.at_rank(rank)), 10));
    }
    text += "\n  Detailed Percentile spectrum:\n";
    text += &format!("{:>12} {:>12} {:>12} {:>12}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut counted = 0;
    for step in times.to_hdr().iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        counted += step.count_since_last_iteration();
        let level = step.quantile_iterated_to();
        let value = step.value_iterated_to() as f64 / 1e6;
        text += &format!("{value:12.3} {level:12.6} {counted:12} ");
        text += &if level < 1.0 { format!("{:12.2}\n", 1.0 / (1.0 - level)) } else { format!("{:>12}\n", "inf") };
    }
    let millis = |ns: Option<f64>| ns.unwrap_or(0.0) / 1e6;
    let max = times.max().unwrap_or_default().as_millis_f64();
    // Its deviation divides by n, not by n − 1.
    let bias = if times.count() > 1 { ((times.count() - 1) as f64 / times.count() as f64).sqrt() } else { 0.0 };
    text += &format!("#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n", millis(times.mean()), millis(times.stdev()) * bias);
    text += &format!("#[Max     = {max:12.3}, Total count    = {:12}]\n", times.count());
    text += &format!("#[Buckets = {BUCKETS:12}, SubBuckets     = {SUB_BUCKETS:12}]\n");
    text + &"-".repeat(58) + "\n"
}
