//! A distribution of times as a chart shows it: some bars of equal width on a logarithmic axis, and the curve of its percentiles.
//!
//! A histogram of a run has thousands of buckets, a chart some hundred columns. Bars of equal *relative* width keep both a
//! service of microseconds and its seconds of tail in one picture; a percentile curve that is thinned by equal steps of
//! log(1 / (1 − q)) keeps its tail, which is what it is looked at for.

use measure::Histogram;
use serde::Serialize;

/// So many bars for a factor of ten: as fine as a screen of 360 pixels shows.
const BARS_A_DECADE: f64 = 24.0;
/// So many points of the curve for each nine.
const POINTS_A_NINE: f64 = 40.0;

/// What a chart shows of a distribution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Times {
    name: String,
    count: u64,
    mean_ns: Option<f64>,
    max_ns: Option<u64>,
    /// From, to, how many; ascending.
    bars: Vec<(f64, f64, u64)>,
    /// Quantile and time, ascending.
    curve: Vec<(f64, u64)>,
}

/// A distribution, thinned.
pub(super) fn times(name: &str, histogram: &Histogram) -> Times {
    Times {
        name: name.to_owned(),
        count: histogram.count(),
        mean_ns: histogram.mean(),
        max_ns: histogram.max().map(|max| max.0),
        bars: bars(histogram),
        curve: curve(histogram),
    }
}

fn bars(histogram: &Histogram) -> Vec<(f64, f64, u64)> {
    let edge = |bar: i64| 10f64.powf(bar as f64 / BARS_A_DECADE);
    let mut bars: Vec<(i64, u64)> = Vec::new();
    for (time, count) in histogram.recorded() {
        let bar = ((time.0.max(1) as f64).log10() * BARS_A_DECADE).floor() as i64;
        match bars.last_mut() {
            Some((last, sum)) if *last == bar => *sum += count,
            _ => bars.push((bar, count)),
        }
    }
    bars.into_iter().map(|(bar, count)| (edge(bar), edge(bar + 1), count)).collect()
}

fn curve(histogram: &Histogram) -> Vec<(f64, u64)> {
    let whole = histogram.count() as f64;
    let mut curve: Vec<(f64, u64)> = histogram.min().map(|min| (0.0, min.0)).into_iter().collect();
    let (mut below, mut last) = (0u64, 0.0);
    for (time, count) in histogram.recorded() {
        below += count;
        let q = below as f64 / whole;
        let place = if q < 1.0 { -(1.0 - q).log10() * POINTS_A_NINE } else { f64::INFINITY };
        // The greatest stands at the last sample, which is as far as this many samples reach.
        let q = if q < 1.0 { q } else { 1.0 - 0.5 / whole };
        if place - last >= 1.0 {
            curve.push((q, histogram.max().map_or(time.0, |max| time.0.min(max.0))));
            last = place;
        }
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Nanos;

    #[test]
    fn bars_hold_every_sample_and_the_curve_ends_at_the_greatest() {
        let mut histogram = Histogram::new();
        (1..=100_000u64).for_each(|k| histogram.record(Nanos(k * 1_000)));
        let times = times("x", &histogram);
        assert_eq!(times.bars.iter().map(|bar| bar.2).sum::<u64>(), 100_000);
        assert_eq!(times.curve.first().unwrap(), &(0.0, 1_000));
        assert_eq!(times.curve.last().unwrap().1, 100_000_000);
        assert!(times.curve.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        assert!(times.curve.len() < 300, "{}", times.curve.len());
        assert!(super::times("none", &Histogram::new()).bars.is_empty());
    }
}
