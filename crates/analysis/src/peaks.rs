//! Latency with more than one peak, and what the other peaks look like.
//!
//! "p99 41 ms" hides that 7 % of the answers took 40 ms longer than the rest, all of them the same 40 ms: that is no slow
//! code but a delayed acknowledgement. A mean, a deviation or a few percentiles cannot show it; the shape of the distribution
//! can. Times are laid on a logarithmic axis, smoothed by 6 %, and a peak counts if the valley before it is deep (less than
//! 60 % of the lower peak), beyond what counting so few could make by chance, and if half a percent of all belongs to it.
//! Tests for several modes (Hartigan's dip, Silverman's) tell only that there are some, not where.
//!
//! Invariant: the shares of all peaks make one.

use std::fmt;

use measure::Histogram;
use plan::Nanos;
use serde::Serialize;

/// Cells on the logarithmic axis are 2 % wide.
const CELL: f64 = 0.02;
/// Smoothed with a normal kernel of three cells' deviation: service times of one kind vary by more than that.
const KERNEL: f64 = 3.0;
/// A valley reaches below this share of the lower of its two peaks.
const VALLEY_MAX: f64 = 0.6;
/// And is so many deviations of the counts below it.
const VALLEY_DEVIATIONS: f64 = 4.0;
/// Less than this is not worth naming.
const SHARE_MIN: f64 = 0.005;
/// What waits for a timer takes the timer's time, hardly less, and what comes on top.
const EARLY: f64 = 0.97;
const LATE: f64 = 1.10;
/// How far multiples of a period may be off, in periods.
const OFF_PERIOD: f64 = 0.1;

/// A peak of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Peak {
    /// Where it is highest.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// The share of all that belongs to it, from valley to valley.
    pub share: f64,
    /// What it looks like, if it looks like something known.
    pub signature: Option<Signature>,
}

/// What puts a peak where it is (docs/measurement.md §1.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Signature {
    /// 40 ms: Linux holds an acknowledgement back, and Nagle's algorithm waits for it.
    DelayedAck,
    /// 200 ms: a lost packet, sent again after the least timeout of TCP on Linux.
    RetransmissionTimeout,
    /// 1, 3 or 7 s: a lost SYN, sent again after 1 s, 2 s and 4 s.
    SynRetransmission,
    /// 5 s: a name server that did not answer, asked again.
    ResolverTimeout,
    /// Several peaks a period apart: the process was stopped until the scheduler's next period.
    ProcessorQuota {
        /// The period in milliseconds.
        period_ms: u64,
    },
}

impl Signature {
    /// What it means, in words that complete "looks like …".
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::DelayedAck => "delayed ACK: one side writes in small pieces without TCP_NODELAY",
            Self::RetransmissionTimeout => "a lost packet, sent again after TCP's 200 ms",
            Self::SynRetransmission => "a lost SYN, sent again: the accept queue overflows",
            Self::ResolverTimeout => "a name server that did not answer within 5 s",
            Self::ProcessorQuota { .. } => "a processor quota that runs out: look at nr_throttled in cpu.stat",
        }
    }
}

/// `7 % of answers near 41 ms: looks like …`.
impl fmt::Display for Peak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.share * 100.0;
        let time = self.at.0 as f64;
        let (value, unit) = match self.at.0 {
            0..1_000 => (time, "ns"),
            1_000..1_000_000 => (time / 1e3, "µs"),
            1_000_000..1_000_000_000 => (time / 1e6, "ms"),
            _ => (time / 1e9, "s"),
        };
        let (percent_places, places) = (usize::from(percent < 9.95), usize::from(value < 9.95));
        write!(f, "{percent:.percent_places$} % of answers near {value:.places$} {unit}")?;
        match self.signature {
            Some(signature) => write!(f, ": looks like {}", signature.about()),
            None => Ok(()),
        }
    }
}

/// The peaks of a distribution, from fast to slow: none if it is empty, one for most.
#[must_use]
pub fn peaks(times: &Histogram) -> Vec<Peak> {
    let (Some(min), Some(max)) = (times.min(), times.max()) else { return Vec::new() };
    let log = |time: Nanos| (time.0.max(1) as f64).ln();
    let margin = (4.0 * KERNEL) as usize;
    let cells = ((log(max) - log(min)) / CELL) as usize + 2 * margin + 1;
    let mut counts = vec![0.0; cells];
    for (time, count) in times.recorded() {
        let cell = ((log(time.min(max)) - log(min)).max(0.0) / CELL) as usize + margin;
        counts[cell.min(cells - 1)] += count as f64;
    }
    let density = smoothed(&counts);
    let hills = hills(&density, &counts, times.count() as f64);
    let mut peaks: Vec<Peak> = hills
        .iter()
        .map(|hill| Peak {
            at: Nanos((log(min) + (top(&density, hill.top) - margin as f64 + 0.5) * CELL).exp().round() as u64),
            share: hill.mass(&counts) / times.count() as f64,
            signature: None,
        })
        .collect();
    sign(&mut peaks);
    peaks
}

fn smoothed(counts: &[f64]) -> Vec<f64> {
    let reach = (4.0 * KERNEL) as usize;
    let kernel: Vec<f64> = (0..=reach).map(|k| (-0.5 * (k as f64 / KERNEL).powi(2)).exp()).collect();
    let whole = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
    let mut density = vec![0.0; counts.len()];
    for (cell, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        for (k, weight) in kernel.iter().enumerate() {
            let spread = count * weight / whole;
            if cell + k < density.len() {
                density[cell + k] += spread;
            }
            if k > 0 && cell >= k {
                density[cell - k] += spread;
            }
        }
    }
    density
}

/// From one valley to the next, half open.
#[derive(Debug, Clone, Copy)]
struct Hill {
    from: usize,
    top: usize,
    to: usize,
}

impl Hill {
    fn mass(&self, counts: &[f64]) -> f64 {
        counts[self.from..self.to].iter().sum()
    }

    fn with(self, next: Self, density: &[f64]) -> Self {
        let top = if density[next.top] > density[self.top] { next.top } else { self.top };
        Self { from: self.from, top, to: next.to }
    }
}

fn hills(density: &[f64], counts: &[f64], all: f64) -> Vec<Hill> {
    let mut hills: Vec<Hill> = Vec::new();
    // Up to a top, down to a valley, and again.
    let (mut from, mut at) = (0, 0);
    while at < density.len() {
        while at + 1 < density.len() && density[at + 1] >= density[at] {
            at += 1;
        }
        let top = at;
        while at + 1 < density.len() && density[at + 1] < density[at] {
            at += 1;
        }
        let to = if at + 1 >= density.len() { density.len() } else { at };
        hills.push(Hill { from, top, to });
        if to == density.len() {
            break;
        }
        from = to;
    }
    // The shallowest valley goes first, until all are deep; then the smallest hill, until all count.
    while let Some((at, _)) = (1..hills.len())
        .map(|at| (at, shallowness(density, hills[at - 1], hills[at])))
        .filter(|(_, shallow)| *shallow >= 1.0)
        .max_by(|a, b| a.1.total_cmp(&b.1))
    {
        hills[at - 1] = hills[at - 1].with(hills.remove(at), density);
    }
    while hills.len() > 1 {
        let Some((at, mass)) = hills.iter().map(|hill| hill.mass(counts)).enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        if mass >= SHARE_MIN * all {
            break;
        }
        // Into the side where the valley is less deep.
        let left = at > 0 && (at + 1 == hills.len() || density[hills[at].from] >= density[hills[at].to]);
        let first = if left { at - 1 } else { at };
        hills[first] = hills[first].with(hills.remove(first + 1), density);
    }
    hills
}

/// 1 or more if the valley between two hills is too shallow, or no deeper than chance would make it.
fn shallowness(density: &[f64], left: Hill, right: Hill) -> f64 {
    let lower = density[left.top].min(density[right.top]);
    let valley = density[right.from];
    if lower <= 0.0 {
        return f64::INFINITY;
    }
    // The kernel counts about 2√π·deviation cells together.
    let cells = 2.0 * std::f64::consts::PI.sqrt() * KERNEL;
    let chance = VALLEY_DEVIATIONS * ((lower + valley) * cells).sqrt() / ((lower - valley) * cells).max(f64::MIN_POSITIVE);
    (valley / lower / VALLEY_MAX).max(chance)
}

/// Where the parabola through a top and its neighbours is highest, in cells.
fn top(density: &[f64], at: usize) -> f64 {
    if at == 0 || at + 1 >= density.len() {
        return at as f64;
    }
    let (left, middle, right) = (density[at - 1], density[at], density[at + 1]);
    let bend = left - 2.0 * middle + right;
    if bend < 0.0 { at as f64 + (0.5 * (left - right) / bend).clamp(-0.5, 0.5) } else { at as f64 }
}

/// Names the peaks slower than the greatest: by how long they take, or by how much longer.
fn sign(peaks: &mut [Peak]) {
    let Some(main) = peaks.iter().max_by(|a, b| a.share.total_cmp(&b.share)).map(|peak| peak.at) else { return };
    let slower: Vec<usize> = (0..peaks.len()).filter(|at| peaks[*at].at > main).collect();
    let places: Vec<Nanos> = peaks.iter().map(|peak| peak.at).collect();
    let later = |at: usize| places[at].since(main).as_millis_f64();
    let quota = [10u64, 4].into_iter().find(|period| {
        let periods: Vec<f64> = slower.iter().map(|at| later(*at) / *period as f64).collect();
        // Two in a row at least, or any two peaks would be multiples of something.
        periods.len() >= 2 && periods.iter().enumerate().all(|(k, periods)| (periods - (k + 1) as f64).abs() <= OFF_PERIOD)
    });
    for at in slower {
        let near = |nominal: f64| [places[at].as_millis_f64(), later(at)].iter().any(|ms| (nominal * EARLY..=nominal * LATE).contains(ms));
        peaks[at].signature = if let Some(period_ms) = quota {
            Some(Signature::ProcessorQuota { period_ms })
        } else if near(40.0) {
            Some(Signature::DelayedAck)
        } else if near(200.0) {
            Some(Signature::RetransmissionTimeout)
        } else if near(1_000.0) || near(3_000.0) || near(7_000.0) {
            Some(Signature::SynRetransmission)
        } else if near(5_000.0) {
            Some(Signature::ResolverTimeout)
        } else {
            None
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::normal;
    use measure::fixtures;
    use plan::Random;
    use proptest::prelude::*;

    /// Of 20,000 times around `base_ms`, each share that much later.
    fn mixed(base_ms: f64, later: &[(f64, f64)], seed: u64) -> Histogram {
        let mut random = Random::new(seed, 0);
        let mut times = Histogram::new();
        for _ in 0..20_000 {
            let mut left = random.unit();
            let more = later.iter().find(|(share, _)| {
                left -= share;
                left < 0.0
            });
            let ms = base_ms * (0.15 * normal(&mut random)).exp() + more.map_or(0.0, |(_, ms)| *ms);
            times.record(Nanos((ms * 1e6) as u64));
        }
        times
    }

    #[test]
    fn a_delayed_acknowledgement_is_recognised() {
        let found = peaks(&mixed(1.0, &[(0.07, 40.0)], 1));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[1].share - 0.07).abs() < 0.006 && (found[1].at.as_millis_f64() - 41.0).abs() < 0.5, "{found:?}");
        assert_eq!((found[0].signature, found[1].signature), (None, Some(Signature::DelayedAck)));
        let said = found[1].to_string();
        assert!(said.contains(" % of answers near 41 ms: looks like delayed ACK"), "{said}");
    }

    #[test]
    fn every_timer_has_its_name() {
        for (ms, signature) in [
            (200.0, Signature::RetransmissionTimeout),
            (1_000.0, Signature::SynRetransmission),
            (3_000.0, Signature::SynRetransmission),
            (7_000.0, Signature::SynRetransmission),
            (5_000.0, Signature::ResolverTimeout),
        ] {
            // Much later than usual, or so late all in all.
            for base in [0.5, 8.0] {
                let found = peaks(&mixed(base, &[(0.02, ms)], 2));
                assert_eq!(found.last().unwrap().signature, Some(signature), "{ms} ms after {base}: {found:?}");
            }
        }
        let found = peaks(&mixed(0.5, &[(0.1, 10.0), (0.05, 20.0), (0.03, 30.0)], 3));
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[1..].iter().all(|peak| peak.signature == Some(Signature::ProcessorQuota { period_ms: 10 })), "{found:?}");
        let found = peaks(&mixed(0.2, &[(0.1, 4.0), (0.05, 8.0)], 3));
        assert!(found[1..].iter().all(|peak| peak.signature == Some(Signature::ProcessorQuota { period_ms: 4 })), "{found:?}");
    }

    #[test]
    fn a_second_peak_that_looks_like_nothing_is_only_named() {
        let found = peaks(&mixed(1.0, &[(0.3, 14.0)], 4));
        assert_eq!((found.len(), found[1].signature), (2, None), "{found:?}");
        assert_eq!(found[1].to_string(), format!("{:.0} % of answers near 15 ms", found[1].share * 100.0));
        // Usual times of 40 ms are the server's own.
        assert_eq!(peaks(&mixed(40.0, &[(0.1, 300.0)], 4))[0].signature, None);
    }

    #[test]
    fn distributions_with_one_peak_have_one() {
        let of = |draw: &dyn Fn(&mut Random) -> f64, count: usize, seed: u64| {
            let mut random = Random::new(seed, 1);
            let mut times = Histogram::new();
            (0..count).for_each(|_| times.record(Nanos((1e6 * draw(&mut random)) as u64 + 1)));
            peaks(&times).len()
        };
        for seed in 0..20 {
            for count in [30, 300, 3_000, 30_000] {
                assert_eq!(of(&|random| random.exponential(), count, seed), 1, "exponential, {count}, {seed}");
                assert_eq!(of(&|random| (0.8 * normal(random)).exp(), count, seed), 1, "log-normal, {count}, {seed}");
                assert_eq!(of(&|random| (1.0 - random.unit()).powf(-0.7), count, seed), 1, "Pareto, {count}, {seed}");
                assert_eq!(of(&|random| 1.0 + 9.0 * random.unit(), count, seed), 1, "uniform, {count}, {seed}");
            }
        }
        assert_eq!(of(&|_| 5.0, 1_000, 0), 1, "constant");
        assert_eq!(of(&|_| 5.0, 1, 0), 1, "a single time");
        assert!(peaks(&Histogram::new()).is_empty());
    }

    #[test]
    fn the_fixtures_have_the_peaks_they_were_made_with() {
        let run = |name: &str| fixtures::summaries().into_iter().find(|(known, _)| *known == name).unwrap().1;
        assert_eq!(peaks(&run("closed_all_well").response_time).len(), 1);
        assert_eq!(peaks(&run("failures_of_every_side").response_time).len(), 1);
        assert_eq!(peaks(&run("a_single_request").response_time).len(), 1);
    }

    proptest! {
        #[test]
        fn the_shares_make_one_and_the_peaks_ascend(values in prop::collection::vec(1u64..10_000_000_000, 1..400)) {
            let mut times = Histogram::new();
            values.iter().for_each(|value| times.record(Nanos(*value)));
            let found = peaks(&times);
            prop_assert!((found.iter().map(|peak| peak.share).sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at));
        }
    }
}
