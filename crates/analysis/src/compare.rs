//! Whether B really is slower than A, from repeated runs of both.
//!
//! Two runs of one build differ by several percent, and a million requests of one run do not help: they share its process,
//! its memory layout and its neighbours, so tests on pooled requests find every build different from itself. The unit here
//! is the run. A and B run in pairs; each pair gives one log ratio; Student's t of a few of them, or Wilcoxon's signed ranks of
//! many, gives the estimate with its interval (`pair_shift`).
//!
//! "Not significant" is not "no change": a verdict of *same* needs the whole interval within a margin, and what is neither
//! surely beyond nor surely within is *cannot tell*, with the number of pairs that would.
//!
//! Invariants: of builds that do not differ, at most 5 in 100 comparisons say *worse* or *better*: over all figures together (Holm
//! 1979). Two figures that are one, as QPS and goodput where nothing fails, have one verdict.

mod capacity;
mod distance;
mod need;
mod shift;

use std::collections::BTreeMap;
use std::fmt;

use measure::{Histogram, Summary, quantile_is_known};
use plan::Random;
use serde::{Deserialize, Serialize};

use crate::distribution::{student_below, student_quantile};
use crate::interval::{CONFIDENCE, Interval};
use crate::proportion::Share;
use crate::quantity::count;
use shift::middle;

pub use capacity::{CapacityChange, CapacityVerdict, capacity_change};
pub use distance::{AnswerCurve, Distance};
pub use need::{Need, PAIRS_MOST};
pub use shift::{Shift, deviation};
pub(crate) use shift::{pair_shift, student};

/// With fewer pairs there is no verdict (docs/measurement.md §3.3).
pub const PAIRS_MIN: usize = 5;
/// Fewer runs on each side that are no pairs give no verdict: the least chance of three and three is 10 %.
const RUNS_MIN: usize = 4;
/// The quantiles at which a shift is shown (docs/measurement.md §3.5).
pub(crate) const SHIFT_QUANTILES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Two figures of which no pair tells a greater difference are one figure: a tenth of a percent, the last digit that is printed.
const SAME_FIGURE: f64 = 0.001;
const ALPHA: f64 = 1.0 - CONFIDENCE;
/// More pairs than this nobody runs; "about so many more" stops here.
const PAIRS_MAX: usize = 10_000;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Answers a second, whatever their status.
    Qps,
    /// Answers a second that succeeded.
    Goodput,
    /// The median response time.
    P50,
    /// The 95th percentile of the response time.
    P95,
    /// The 99th.
    P99,
    /// The 99.9th.
    P999,
    /// Failed and unsent requests of all that fell due.
    FailureShare,
}

impl Metric {
    /// All, in the order of a report.
    pub const ALL: [Self; 7] = [Self::Qps, Self::Goodput, Self::P50, Self::P95, Self::P99, Self::P999, Self::FailureShare];
    /// Those that decide, fixed in advance (docs/measurement.md §3.6).
    pub const PRIMARY: [Self; 4] = [Self::Goodput, Self::P50, Self::P99, Self::FailureShare];

    /// The metric whose margin the quantile `q` (0 to 1) is held against.
    #[must_use]
    pub fn of_quantile(q: f64) -> Self {
        if q < 0.95 {
            Self::P50
        } else if q < 0.99 {
            Self::P95
        } else if q < 0.999 {
            Self::P99
        } else {
            Self::P999
        }
    }

    /// Its name in JSON and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qps => "qps",
            Self::Goodput => "goodput",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::FailureShare => "failure share",
        }
    }

    /// Whether it takes part in the verdict on the whole.
    #[must_use]
    pub(crate) fn is_primary(self) -> bool {
        Self::PRIMARY.contains(&self)
    }

    /// The change that does not matter, if nobody says otherwise: as a ratio (0.02 is 2 %), of the failure share in absolute
    /// terms (0.001 is a tenth of a percentage point). From docs/measurement.md §3.4, which leaves the failure share open.
    #[must_use]
    pub const fn margin(self) -> f64 {
        match self {
            Self::Qps | Self::Goodput | Self::P50 => 0.02,
            Self::P95 | Self::P99 => 0.05,
            Self::P999 => 0.10,
            Self::FailureShare => 0.001,
        }
    }

    /// The figure that it often is another name of.
    const fn double(self) -> Option<Self> {
        match self {
            // Where nothing fails.
            Self::Qps => Some(Self::Goodput),
            _ => None,
        }
    }

    const fn more_is_better(self) -> bool {
        matches!(self, Self::Qps | Self::Goodput)
    }

    const fn scale(self) -> Scale {
        if matches!(self, Self::FailureShare) { Scale::Difference } else { Scale::Ratio }
    }

    /// Its value in a run: nanoseconds, per second, or a share. Infinite where the quantile lies among requests that failed,
    /// since those were never answered; `None` where it is not known.
    #[must_use]
    pub fn of(self, run: &Summary) -> Option<f64> {
        let due = run.requests.due;
        match self {
            Self::Qps => (run.qps > 0.0).then_some(run.qps),
            Self::Goodput => (run.qps_succeeded > 0.0).then_some(run.qps_succeeded),
            Self::P50 => quantile(&run.response_time_succeeded, due, 0.5),
            Self::P95 => quantile(&run.response_time_succeeded, due, 0.95),
            Self::P99 => quantile(&run.response_time_succeeded, due, 0.99),
            Self::P999 => quantile(&run.response_time_succeeded, due, 0.999),
            Self::FailureShare => (due > 0).then(|| (run.requests.failed + run.requests.unsent) as f64 / due as f64),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn quantile(succeeded: &Histogram, due: u64, q: f64) -> Option<f64> {
    let among_all = q * due as f64 / succeeded.count().max(1) as f64;
    match quantile_is_known(due, q) {
        false => None,
        true if among_all > 1.0 => Some(f64::INFINITY),
        true => succeeded.quantile(among_all).map(|time| time.0 as f64),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// Log ratios inside, relative changes outside.
    Ratio,
    /// Differences.
    Difference,
}

impl Scale {
    fn between(self, a: f64, b: f64) -> f64 {
        match self {
            // Never answered on both sides is no change.
            Self::Ratio if a == b => 0.0,
            Self::Ratio => (b / a).ln(),
            Self::Difference => b - a,
        }
    }

    fn as_change(self, inner: f64) -> f64 {
        if self == Self::Ratio { inner.exp_m1() } else { inner }
    }

    /// What the two sides have: apart by the estimated change, around what they have in the middle together (of ratios the geometric mean of
    /// both medians, of differences the mean). Medians alone may lie the other way round than the pairs do, where runs vary much.
    fn sides(self, a: &[f64], b: &[f64], estimate: f64) -> (f64, f64) {
        let medians = (middle(a), middle(b));
        match self {
            Self::Ratio => {
                let center = (medians.0 * medians.1).sqrt();
                let half = (estimate / 2.0).exp();
                if center.is_finite() && center > 0.0 && half.is_finite() && half > 0.0 { (center / half, center * half) } else { medians }
            }
            Self::Difference => {
                let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
                let center = f64::midpoint(mean(a), mean(b));
                ((center - estimate / 2.0).max(0.0), (center + estimate / 2.0).max(0.0))
            }
        }
    }
}

/// The metrics of one run.
pub type Values = BTreeMap<Metric, f64>;

/// Every metric that the run knows.
#[must_use]
pub fn values(run: &Summary) -> Values {
    Metric::ALL.into_iter().filter_map(|metric| Some((metric, metric.of(run)?))).collect()
}

/// The change that does not matter, for each metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Margins(BTreeMap<Metric, f64>);

impl Default for Margins {
    fn default() -> Self {
        Self(Metric::ALL.into_iter().map(|metric| (metric, metric.margin())).collect())
    }
}

impl Margins {
    /// The user's margin for every metric that is compared as a ratio.
    #[must_use]
    pub fn of_ratio(margin: f64) -> Self {
        let mut margins = Self::default();
        margins.0.iter_mut().filter(|(metric, _)| metric.scale() == Scale::Ratio).for_each(|(_, known)| *known = margin);
        margins
    }

    /// With this one changed.
    #[must_use]
    pub fn with(mut self, metric: Metric, margin: f64) -> Self {
        self.0.insert(metric, margin);
        self
    }

    /// Nowhere narrower than what this target differs from itself by.
    #[must_use]
    pub(crate) fn widened(mut self, calibration: &Calibration) -> Self {
        for (metric, noise) in &calibration.noise {
            let margin = self.of(*metric).max(noise.reach);
            self.0.insert(*metric, margin);
        }
        self
    }

    /// That of a metric.
    #[must_use]
    pub fn of(&self, metric: Metric) -> f64 {
        self.0.get(&metric).copied().unwrap_or_else(|| metric.margin())
    }
}

/// The better or the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Faster, or fewer failures.
    Better,
    /// Slower, or more failures.
    Worse,
}

/// One of four.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// By more than the margin, surely.
    Worse,
    /// By more than the margin, surely.
    Better,
    /// Surely no more than this either way.
    SameWithin {
        /// A ratio, or of the failure share a difference.
        margin: f64,
    },
    /// None of these.
    CannotTell {
        /// About how many more pairs would tell; unpaired, how many more runs on each side.
        about_more_pairs: u32,
        /// That there is a change is sure, and which way; only not whether it is more than the margin.
        changed: Option<Direction>,
    },
}

/// `worse`, `better`, `the same within 2 %` or `cannot tell (about 12 more pairs)`. A margin prints as a percentage.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worse => f.write_str("worse"),
            Self::Better => f.write_str("better"),
            Self::SameWithin { margin } => write!(f, "the same within {:.3} %", Shortest(margin * 100.0)),
            Self::CannotTell { about_more_pairs: more, changed } => {
                let pairs = if *more == 1 { "pair" } else { "pairs" };
                let more = count(u64::from(*more));
                match changed {
                    None => write!(f, "cannot tell (about {more} more {pairs})"),
                    Some(direction) => {
                        let direction = if *direction == Direction::Worse { "worse" } else { "better" };
                        write!(f, "{direction}, but perhaps by less than matters (about {more} more {pairs} to tell)")
                    }
                }
            }
        }
    }
}

/// With at most as many places as asked for, and no zeros at the end.
struct Shortest(f64);

impl fmt::Display for Shortest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.*}", f.precision().unwrap_or(3), self.0);
        f.write_str(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
    }
}

/// How one metric changed from A to B.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Which.
    pub metric: Metric,
    /// Pairs, or runs on the smaller side, in which both sides know it.
    pub pairs: usize,
    /// What A has: `b` is as far from it as `estimate` says, and the two lie around the middle of both sides' medians. Infinite (in JSON: null)
    /// where the quantile lies among requests that failed.
    pub a: f64,
    /// The same of B.
    pub b: f64,
    /// 0.05 is 5 % more in B; of the failure share, the difference.
    pub estimate: f64,
    /// Its interval of 95 %; `None` with too few pairs.
    pub interval: Option<Interval>,
    /// How likely so great a difference is without any change: two-sided.
    pub p: f64,
    /// The same corrected by Holm for how many figures are looked at.
    pub p_adjusted: f64,
    /// What does not matter.
    pub margin: f64,
    /// What follows.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How the runs were laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// A and B in turn, in random order: what drifts, drifts on both sides.
    Paired,
    /// Runs of different times: drift is not excluded.
    Unpaired,
}

/// A comparison of two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdicts {
    /// How the runs were laid out.
    pub design: Design,
    /// Every metric that both sides know.
    pub changes: Vec<Change>,
    /// On the whole: worse if any primary metric is; else the first of *cannot tell*, *better*, *same* that any of them is.
    pub verdict: Verdict,
}

/// Compares pairs of runs, A first in each.
#[must_use]
pub fn paired(pairs: &[(Values, Values)], margins: &Margins) -> Verdicts {
    compare(Design::Paired, margins, |metric| {
        let both: Vec<(f64, f64)> = pairs.iter().filter_map(|(a, b)| Some((*a.get(&metric)?, *b.get(&metric)?))).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = both.iter().copied().unzip();
        let differences = differences(pairs, metric);
        (!both.is_empty()).then(|| (a, b, pair_shift(&differences)))
    })
}

/// How much more B has than A in each pair that knows this metric, on the inner scale.
fn differences(pairs: &[(Values, Values)], metric: Metric) -> Vec<f64> {
    pairs.iter().filter_map(|(a, b)| Some(metric.scale().between(*a.get(&metric)?, *b.get(&metric)?))).collect()
}

/// Compares runs that are not pairs. Say that drift is not excluded.
#[must_use]
pub fn unpaired(a: &[Values], b: &[Values], margins: &Margins) -> Verdicts {
    compare(Design::Unpaired, margins, |metric| {
        let known = |side: &[Values]| side.iter().filter_map(|run| run.get(&metric).copied()).collect::<Vec<f64>>();
        let (a, b) = (known(a), known(b));
        let shifts: Vec<f64> = b.iter().flat_map(|b| a.iter().map(|a| metric.scale().between(*a, *b))).collect();
        let (from, to) = (a.len(), b.len());
        (!shifts.is_empty()).then(|| (a, b, shift::rank_sums(shifts, from, to)))
    })
}

fn compare(design: Design, margins: &Margins, shift_of: impl Fn(Metric) -> Option<(Vec<f64>, Vec<f64>, Shift)>) -> Verdicts {
    let mut changes: Vec<Change> = Vec::new();
    // Of each change, the one that it is another name of.
    let mut doubles: Vec<Option<Metric>> = Vec::new();
    for metric in Metric::ALL {
        let Some((mut a, mut b, shift)) = shift_of(metric) else { continue };
        let is_one = |other: &Metric| {
            shift_of(*other).is_some_and(|(a_of_other, b_of_other, _)| are_one(&a, &a_of_other) && are_one(&b, &b_of_other))
        };
        doubles.push(metric.double().filter(is_one));
        a.sort_by(f64::total_cmp);
        b.sort_by(f64::total_cmp);
        let change = |inner| metric.scale().as_change(inner);
        let sides = metric.scale().sides(&a, &b, shift.estimate);
        changes.push(Change {
            metric,
            pairs: shift.pairs,
            a: sides.0,
            b: sides.1,
            estimate: change(shift.estimate),
            interval: shift.interval.map(|interval| Interval { low: change(interval.low), high: change(interval.high) }),
            p: shift.p,
            p_adjusted: shift.p,
            margin: margins.of(metric),
            verdict: Verdict::CannotTell { about_more_pairs: 0, changed: None },
        });
    }
    let tested: Vec<usize> = (0..changes.len()).filter(|at| doubles[*at].is_none()).collect();
    let adjusted = holm(&tested.iter().map(|at| changes[*at].p).collect::<Vec<f64>>());
    for (at, adjusted) in tested.iter().zip(adjusted) {
        changes[*at].p_adjusted = adjusted;
        changes[*at].verdict = changes[*at].judged(design, tested.len());
    }
    for (at, double) in doubles.iter().enumerate() {
        if let Some(Change { p, p_adjusted, verdict, .. }) =
            double.and_then(|double| changes.iter().find(|change| change.metric == double)).cloned()
        {
            changes[at] = Change { p, p_adjusted, verdict, ..changes[at].clone() };
        }
    }
    let verdict = on_the_whole(&changes);
    Verdicts { design, changes, verdict }
}

/// Whether every run has the same value of both figures, as far as it is printed.
fn are_one(values: &[f64], others: &[f64]) -> bool {
    values.len() == others.len() && values.iter().zip(others).all(|(value, other)| (value / other - 1.0).abs() <= SAME_FIGURE)
}

impl Change {
    fn judged(&self, design: Design, family: usize) -> Verdict {
        let least = match design {
            Design::Paired => PAIRS_MIN,
            Design::Unpaired => RUNS_MIN,
        };
        let Some(interval) = self.interval.filter(|_| self.pairs >= least) else {
            let wanted = if design == Design::Paired && self.pairs < least { least } else { enough_pairs(design, family) };
            return Verdict::CannotTell { about_more_pairs: wanted.saturating_sub(self.pairs).max(1) as u32, changed: None };
        };
        let direction = |up: bool| if up == self.metric.more_is_better() { Direction::Better } else { Direction::Worse };
        // Beyond chance for the whole family of metrics, not only for this one.
        let sure = self.p_adjusted <= ALPHA;
        let beyond = if interval.low > self.margin {
            Some(direction(true))
        } else if interval.high < -self.margin {
            Some(direction(false))
        } else {
            None
        };
        match beyond {
            Some(Direction::Worse) if sure => return Verdict::Worse,
            Some(Direction::Better) if sure => return Verdict::Better,
            _ => {}
        }
        if interval.low > -self.margin && interval.high < self.margin {
            return Verdict::SameWithin { margin: self.margin };
        }
        let may_be_nothing = interval.contains(0.0);
        let changed = (!may_be_nothing && sure).then(|| direction(interval.low > 0.0));
        Verdict::CannotTell { about_more_pairs: self.more_pairs(interval, design, family), changed }
    }

    /// So many that the interval fits into the gap between the estimate and the margin, and that the estimate is beyond chance among
    /// `family` figures, if pairs go on to vary as they do. With an estimate of nothing the gap is the margin; an estimate right at
    /// the margin would take for ever, so it is no less than a quarter of it (docs/measurement.md §3.4).
    fn more_pairs(&self, interval: Interval, design: Design, family: usize) -> u32 {
        let gap = (self.estimate.abs() - self.margin).abs().max(self.margin / 4.0);
        let beyond = self.estimate.abs() > self.margin;
        let n = self.pairs as f64;
        let spread = interval.width() / 2.0 * n.sqrt() / student_quantile(1.0 - ALPHA / 2.0, n - 1.0);
        let would_tell = |pairs: usize| {
            reaches(gap, spread, pairs, ALPHA) && (!beyond || reaches(self.estimate.abs(), spread, pairs, ALPHA / family as f64))
        };
        if !spread.is_finite() {
            return enough_pairs(design, family).saturating_sub(self.pairs).max(1) as u32;
        }
        let (mut too_few, mut enough) = (self.pairs, self.pairs + PAIRS_MAX);
        while enough - too_few > 1 {
            let middle = usize::midpoint(too_few, enough);
            if would_tell(middle) { enough = middle } else { too_few = middle }
        }
        match design {
            Design::Paired => (enough - self.pairs) as u32,
            // Ranks of few runs cannot be surer than this, however much they differ.
            Design::Unpaired => (enough.max(enough_pairs(design, family)) - self.pairs) as u32,
        }
    }
}

/// Whether Student's interval of so many pairs that vary so much, which leaves out `chance`, is no wider than this to either side. One look
/// at the distribution, where its quantile takes a hundred.
fn reaches(size: f64, spread: f64, pairs: usize, chance: f64) -> bool {
    spread <= 0.0 || 2.0 * student_below(-size * (pairs as f64).sqrt() / spread, pairs as f64 - 1.0) <= chance
}

/// With how many pairs the least possible p of ranks, corrected for `family` metrics, is within 5 %.
fn enough_pairs(design: Design, family: usize) -> usize {
    (1..64)
        .find(|n| {
            let least = match design {
                Design::Paired => 2.0 * 0.5f64.powi(*n),
                Design::Unpaired => 2.0 * shift::rank_sum_distribution(*n as usize, *n as usize)[0],
            };
            least * family as f64 <= ALPHA
        })
        .unwrap_or(64) as usize
}

fn on_the_whole(changes: &[Change]) -> Verdict {
    let primary = || changes.iter().filter(|change| change.metric.is_primary()).map(|change| change.verdict);
    if primary().any(|verdict| verdict == Verdict::Worse) {
        return Verdict::Worse;
    }
    let doubt = primary().filter_map(|verdict| match verdict {
        Verdict::CannotTell { about_more_pairs, changed } => Some((about_more_pairs, changed)),
        _ => None,
    });
    let worst = |a: (u32, Option<Direction>), b: (u32, Option<Direction>)| {
        let changed = [a.1, b.1].into_iter().flatten().max_by_key(|direction| *direction == Direction::Worse);
        (a.0.max(b.0), changed)
    };
    if let Some((about_more_pairs, changed)) = doubt.reduce(worst) {
        return Verdict::CannotTell { about_more_pairs, changed };
    }
    if primary().any(|verdict| verdict == Verdict::Better) {
        return Verdict::Better;
    }
    let widest = primary().filter_map(|verdict| match verdict {
        Verdict::SameWithin { margin } => Some(margin),
        _ => None,
    });
    match widest.reduce(f64::max) {
        Some(margin) => Verdict::SameWithin { margin },
        None => Verdict::CannotTell { about_more_pairs: PAIRS_MIN as u32, changed: None },
    }
}

/// Holm's (1979) correction: the i-th smallest of m chances times m − i + 1, never less than the one before.
#[must_use]
pub(crate) fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut adjusted = vec![1.0; chances.len()];
    let mut greatest = 0.0f64;
    for (at, index) in order.into_iter().enumerate() {
        greatest = greatest.max((chances[index] * (chances.len() - at) as f64).min(1.0));
        adjusted[index] = greatest;
    }
    adjusted
}

/// What a target differs from itself by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// How many A/A pairs it was made from.
    pub pairs: usize,
    /// How many pairs each simulated comparison had.
    pub pairs_compared: usize,
    /// By metric.
    pub noise: BTreeMap<Metric, Noise>,
    /// Simulated comparisons that said *worse* or *better*.
    pub alarms: u64,
    /// How many were simulated.
    pub comparisons: u64,
}

/// What one metric differs by when nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// 95 of 100 comparisons estimate less than this, either way.
    pub reach: f64,
    /// The median of the same.
    pub typical: f64,
    /// The deviation between the two runs of a pair, from the median absolute difference (times 1.4826).
    pub deviation: f64,
}

impl Calibration {
    /// From pairs of runs of one and the same target: `comparisons` times, `pairs_compared` of them are drawn, each with
    /// its sides swapped or not, and compared as if A were not B. Drawn without putting back, as long as there are enough:
    /// the same pair twice would look surer than it is.
    #[must_use]
    pub fn of(pairs: &[(Values, Values)], pairs_compared: usize, comparisons: u64, margins: &Margins, random: &mut Random) -> Self {
        let mut estimates: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
        let mut alarms = 0;
        let drawn = if pairs.is_empty() { 0 } else { comparisons };
        for _ in 0..drawn {
            let mut left: Vec<usize> = Vec::new();
            let sample: Vec<(Values, Values)> = (0..pairs_compared)
                .map(|_| {
                    if left.is_empty() {
                        left = (0..pairs.len()).collect();
                    }
                    let (a, b) = pairs[left.swap_remove(random.between(0, left.len() as u64 - 1) as usize)].clone();
                    if random.unit() < 0.5 { (a, b) } else { (b, a) }
                })
                .collect();
            let comparison = paired(&sample, margins);
            alarms += u64::from(matches!(comparison.verdict, Verdict::Worse | Verdict::Better));
            for change in comparison.changes {
                estimates.entry(change.metric).or_default().push(change.estimate.abs());
            }
        }
        let noise = estimates
            .into_iter()
            .map(|(metric, mut sizes)| {
                sizes.sort_by(f64::total_cmp);
                let at = |share: f64| sizes[((share * sizes.len() as f64) as usize).min(sizes.len() - 1)];
                let mut differences: Vec<f64> =
                    pairs.iter().filter_map(|(a, b)| Some(metric.scale().between(*a.get(&metric)?, *b.get(&metric)?).abs())).collect();
                differences.sort_by(f64::total_cmp);
                (metric, Noise { reach: at(0.95), typical: at(0.5), deviation: 1.4826 * middle(&differences) })
            })
            .collect();
        Self { pairs: pairs.len(), pairs_compared, noise, alarms, comparisons: drawn }
    }

    /// The share of false alarms; its interval is exact.
    #[must_use]
    pub const fn false_alarms(&self) -> Share {
        Share { hits: self.alarms, of: self.comparisons }
    }

    /// Whether the verdicts can be trusted on this target: no more than twice the promised share of false alarms.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.false_alarms().value() <= 2.0 * ALPHA
    }
}

/// How one quantile of the response time changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuantileShift {
    /// Which, from 0 to 1.
    pub q: f64,
    /// B against A: 0.05 is 5 % more.
    pub change: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

/// Where in the distribution the change is: the same everywhere is slower code, only the tail is waiting or collecting garbage.
/// At each quantile the estimate and interval of the table's figures ([`paired`]; docs/measurement.md §3.5), so that the two agree where
/// both have one. Left out are quantiles that too few requests of a run know, or that lie among requests that failed; nothing is given
/// for fewer than two pairs.
#[must_use]
pub(crate) fn shift_by_quantile(pairs: &[(&Summary, &Summary)]) -> Vec<QuantileShift> {
    let of = |run: &Summary, q| quantile(&run.response_time_succeeded, run.requests.due, q);
    let shift = |q: f64| {
        let differences: Vec<f64> = pairs.iter().filter_map(|(a, b)| Some(Scale::Ratio.between(of(a, q)?, of(b, q)?))).collect();
        let is_known = differences.len() >= 2 && differences.iter().all(|difference| difference.is_finite());
        let shift = is_known.then(|| pair_shift(&differences))?;
        let interval = shift.interval.or_else(|| student(&differences).interval)?;
        let change = |inner| Scale::Ratio.as_change(inner);
        Some(QuantileShift {
            q,
            change: change(shift.estimate),
            interval: Interval { low: change(interval.low), high: change(interval.high) },
        })
    };
    SHIFT_QUANTILES.into_iter().filter_map(shift).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Pairs, normal};
    use measure::fixtures;

    #[test]
    fn holm_is_the_textbook_s() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, wanted) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - wanted).abs() < 1e-12, "{adjusted:?}");
        }
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
    }

    #[test]
    fn all_figures_are_corrected_together() {
        let mut random = Random::new(86, 0);
        let comparison =
            paired(&simulated(10, 0.02, |metric| if metric == Metric::P95 { 0.03 } else { 0.0 }, &mut random), &Margins::default());
        let chances: Vec<f64> = comparison.changes.iter().map(|change| change.p).collect();
        assert_eq!(comparison.changes.iter().map(|change| change.p_adjusted).collect::<Vec<f64>>(), holm(&chances));
        assert_eq!(chances.len(), Metric::ALL.len());
    }

    #[test]
    fn figures_that_are_one_are_tested_once_and_share_a_verdict() {
        let mut random = Random::new(87, 0);
        let mut pairs = simulated(6, 0.01, |metric| if metric == Metric::Goodput { -0.09 } else { 0.0 }, &mut random);
        for side in pairs.iter_mut().flat_map(|(a, b)| [a, b]) {
            side.insert(Metric::Qps, side[&Metric::Goodput] * 1.0002);
        }
        let comparison = paired(&pairs, &Margins::default());
        let (qps, goodput) = (of(&comparison, Metric::Qps), of(&comparison, Metric::Goodput));
        assert_eq!((qps.verdict, qps.p_adjusted), (Verdict::Worse, goodput.p_adjusted));
        let tested: Vec<f64> = comparison.changes.iter().filter(|change| change.metric != Metric::Qps).map(|change| change.p).collect();
        assert!((goodput.p_adjusted - goodput.p * tested.len() as f64).abs() < 1e-12, "the smallest of six chances");
        // Where something fails they are two.
        let of_a = pairs[3].0[&Metric::Qps];
        pairs[3].1.insert(Metric::Qps, of_a);
        assert_ne!(of(&paired(&pairs, &Margins::default()), Metric::Qps).p, goodput.p);
    }

    #[test]
    fn six_pairs_of_nine_percent_are_told() {
        // Milliseconds of A, and by how much B answered less: plain to see, and said so.
        let pairs: Vec<(Values, Values)> = [-0.092, -0.094, -0.082, -0.093, -0.091, -0.0925]
            .into_iter()
            .enumerate()
            .map(|(pair, change)| {
                let a = 370.0 + 2.0 * pair as f64;
                let side = |rate: f64| -> Values {
                    [
                        (Metric::Qps, rate),
                        (Metric::Goodput, rate),
                        (Metric::P50, 4e9 / rate),
                        (Metric::P99, 4.6e9 / rate),
                        (Metric::FailureShare, 0.0),
                    ]
                    .into()
                };
                (side(a), side(a * (1.0 + change)))
            })
            .collect();
        let comparison = paired(&pairs, &Margins::default());
        assert_eq!(comparison.verdict, Verdict::Worse);
        for metric in [Metric::Qps, Metric::Goodput, Metric::P50, Metric::P99] {
            assert_eq!(of(&comparison, metric).verdict, Verdict::Worse, "{metric}");
        }
    }

    /// Pairs whose machine gets 10 % slower with every one of them.
    fn drifting(count: usize, noise: f64) -> Pairs {
        Pairs { drift: 0.1, ..Pairs::of(count, noise) }
    }

    fn simulated(count: usize, noise: f64, change: impl Fn(Metric) -> f64, random: &mut Random) -> Vec<(Values, Values)> {
        drifting(count, noise).draw(change, random)
    }

    fn of(comparison: &Verdicts, metric: Metric) -> Change {
        comparison.changes.iter().find(|change| change.metric == metric).unwrap().clone()
    }

    #[test]
    fn builds_that_do_not_differ_seldom_raise_an_alarm() {
        // No margin at all: only the statistics keep the alarms down.
        let none = Metric::ALL.into_iter().fold(Margins::default(), |margins, metric| margins.with(metric, 0.0));
        let alarms = drifting(10, 0.02).false_alarms(400, &none, 77);
        // Promised is 5 % over all figures together; the exact interval of 400 may not lie above it.
        assert!(alarms.at_least(0.999) <= 0.05, "{alarms:?}");
        assert_eq!(drifting(10, 0.02).false_alarms(400, &Margins::default(), 77).hits, 0);

        let (mut excluded, mut same) = (0, 0);
        for run in 0..400 {
            let comparison = paired(&simulated(10, 0.02, |_| 0.0, &mut Random::new(77, run)), &Margins::default());
            let p99 = of(&comparison, Metric::P99);
            excluded += u64::from(!p99.interval.unwrap().contains(0.0));
            same += u64::from(matches!(p99.verdict, Verdict::SameWithin { .. }));
        }
        // One metric's interval alone, by ranks: 4.9 % for ten pairs.
        assert!(Share { hits: excluded, of: 400 }.interval(0.999).contains(0.049), "{excluded}");
        assert!(same > 390, "2 % of noise is well within 5 %: {same}");
    }

    #[test]
    fn a_change_of_five_or_ten_percent_is_seen() {
        let seen = |metric, change, noise| drifting(10, noise).power(metric, change, 200, &Margins::default(), 78).hits;
        assert!(seen(Metric::P50, 0.05, 0.02) >= 180, "{}", seen(Metric::P50, 0.05, 0.02));
        assert!(seen(Metric::P99, 0.10, 0.03) >= 180, "{}", seen(Metric::P99, 0.10, 0.03));
        assert!(seen(Metric::P50, 0.02, 0.02) <= 20, "a change as great as the margin is not beyond it");
        assert!(seen(Metric::Goodput, -0.05, 0.01) >= 190, "fewer answers are worse");
        assert!(seen(Metric::FailureShare, 0.005, 0.0) >= 190, "half a point more failures are worse");
    }

    #[test]
    fn the_interval_holds_the_true_change_as_often_as_it_says() {
        let covered = (0..600)
            .filter(|run| {
                let mut random = Random::new(79, *run);
                let comparison = paired(&simulated(10, 0.03, |_| 0.04, &mut random), &Margins::default());
                of(&comparison, Metric::P95).interval.unwrap().contains(0.04)
            })
            .count();
        assert!(Share { hits: covered as u64, of: 600 }.interval(0.999).contains(0.951), "{covered}");
    }

    #[test]
    fn verdicts_follow_from_where_the_interval_lies() {
        let verdict = |low: f64, high: f64, pairs: usize| {
            let change = Change {
                metric: Metric::P50,
                pairs,
                a: 1.0,
                b: 1.0,
                estimate: f64::midpoint(low, high),
                interval: Some(Interval { low, high }),
                p: 0.002,
                p_adjusted: 0.008,
                margin: 0.02,
                verdict: Verdict::Better,
            };
            change.judged(Design::Paired, 4)
        };
        assert_eq!(verdict(0.021, 0.05, 10), Verdict::Worse);
        assert_eq!(verdict(-0.05, -0.021, 10), Verdict::Better);
        assert_eq!(verdict(-0.01, 0.019, 10), Verdict::SameWithin { margin: 0.02 });
        assert_eq!(verdict(0.005, 0.019, 10), Verdict::SameWithin { margin: 0.02 });
        // Twice too wide takes four times the pairs, and some less, because Student's t of 33 is narrower than that of 10.
        assert_eq!(verdict(-0.04, 0.04, 10), Verdict::CannotTell { about_more_pairs: 23, changed: None });
        let Verdict::CannotTell { changed, .. } = verdict(0.01, 0.05, 10) else { panic!() };
        assert_eq!(changed, Some(Direction::Worse));
        assert_eq!(verdict(0.03, 0.05, 4), Verdict::CannotTell { about_more_pairs: 1, changed: None });
    }

    #[test]
    fn verdicts_are_said_in_words() {
        for (verdict, said) in [
            (Verdict::Worse, "worse"),
            (Verdict::SameWithin { margin: 0.02 }, "the same within 2 %"),
            (Verdict::SameWithin { margin: 0.0175 }, "the same within 1.75 %"),
            (Verdict::CannotTell { about_more_pairs: 1, changed: None }, "cannot tell (about 1 more pair)"),
            (
                Verdict::CannotTell { about_more_pairs: 12, changed: Some(Direction::Worse) },
                "worse, but perhaps by less than matters (about 12 more pairs to tell)",
            ),
            (Verdict::CannotTell { about_more_pairs: 1_147, changed: None }, "cannot tell (about 1,147 more pairs)"),
        ] {
            assert_eq!(verdict.to_string(), said);
        }
    }

    #[test]
    fn too_few_pairs_give_no_verdict_however_great_the_change() {
        let mut random = Random::new(80, 0);
        for pairs in 1..PAIRS_MIN {
            let comparison = paired(&simulated(pairs, 0.001, |_| 1.0, &mut random), &Margins::default());
            let Verdict::CannotTell { about_more_pairs, .. } = comparison.verdict else { panic!("{pairs}: {:?}", comparison.verdict) };
            assert_eq!(about_more_pairs as usize, PAIRS_MIN - pairs);
        }
        assert_eq!(paired(&simulated(PAIRS_MIN, 0.001, |_| 1.0, &mut random), &Margins::default()).verdict, Verdict::Worse);
        assert!(matches!(paired(&[], &Margins::default()).verdict, Verdict::CannotTell { .. }));
    }

    #[test]
    fn drift_is_taken_for_a_change_without_pairs_but_not_with_them() {
        let mut random = Random::new(81, 0);
        // The machine gets 10 % slower with every pair.
        let pairs = simulated(8, 0.002, |_| 0.0, &mut random);
        assert_eq!(of(&paired(&pairs, &Margins::default()), Metric::P50).verdict, Verdict::SameWithin { margin: 0.02 });
        let runs: Vec<Values> = pairs.into_iter().flat_map(|(a, b)| [a, b]).collect();
        let one_after_the_other = unpaired(&runs[..8], &runs[8..], &Margins::default());
        assert_eq!(one_after_the_other.design, Design::Unpaired);
        assert_eq!(of(&one_after_the_other, Metric::P50).verdict, Verdict::Worse);
    }

    #[test]
    fn unpaired_runs_show_a_change_too() {
        let mut random = Random::new(82, 0);
        let pairs = simulated(1, 0.0, |_| 0.0, &mut random);
        let side = |factor: f64, random: &mut Random| -> Vec<Values> {
            (0..8)
                .map(|_| pairs[0].0.iter().map(|(metric, value)| (*metric, value * factor * (1.0 + 0.004 * normal(random)))).collect())
                .collect()
        };
        let comparison = unpaired(&side(1.0, &mut random), &side(1.1, &mut random), &Margins::default());
        let p50 = of(&comparison, Metric::P50);
        assert_eq!(p50.verdict, Verdict::Worse);
        assert!(p50.interval.unwrap().contains(p50.estimate) && (p50.estimate - 0.1).abs() < 0.01, "{p50:?}");
        assert_eq!(of(&comparison, Metric::Goodput).verdict, Verdict::Better);
        assert_eq!(comparison.verdict, Verdict::Worse);
    }

    #[test]
    fn a_side_that_fails_altogether_is_worse_and_not_faster() {
        let mut random = Random::new(83, 0);
        let mut pairs = simulated(10, 0.01, |_| 0.0, &mut random);
        for (_, b) in &mut pairs {
            b.insert(Metric::P99, f64::INFINITY);
            b.insert(Metric::FailureShare, 0.5);
        }
        let comparison = paired(&pairs, &Margins::default());
        assert_eq!((of(&comparison, Metric::P99).verdict, comparison.verdict), (Verdict::Worse, Verdict::Worse));
        for (a, _) in &mut pairs {
            a.insert(Metric::P99, f64::INFINITY);
        }
        assert_eq!(of(&paired(&pairs, &Margins::default()), Metric::P99).verdict, Verdict::SameWithin { margin: 0.05 });
    }

    #[test]
    fn a_run_s_values_count_failures_as_never_answered() {
        let runs: BTreeMap<_, _> = fixtures::summaries().into_iter().collect();
        let well = values(&runs["closed_all_well"]);
        let plain = |q| runs["closed_all_well"].response_time.quantile(q).unwrap().0 as f64;
        assert_eq!((well[&Metric::P50], well[&Metric::P99], well[&Metric::FailureShare]), (plain(0.5), plain(0.99), 0.0));
        let none = values(&runs["nothing_answered"]);
        assert_eq!((none.get(&Metric::P50), none.get(&Metric::Qps), none[&Metric::FailureShare]), (Some(&f64::INFINITY), None, 1.0));
        assert_eq!(values(&runs["a_single_request"]).get(&Metric::P50), None);
    }

    #[test]
    fn calibration_measures_what_a_target_differs_from_itself_by() {
        let mut random = Random::new(84, 0);
        let calibrated = |noise: f64, random: &mut Random| {
            let pairs = simulated(20, noise, |_| 0.0, random);
            Calibration::of(&pairs, 10, 200, &Margins::default(), random)
        };
        let (quiet, loud) = (calibrated(0.005, &mut random), calibrated(0.10, &mut random));
        let reach = |calibration: &Calibration| calibration.noise[&Metric::P50].reach;
        // The estimate of ten pairs of deviation s reaches about 1.96·s/√10.
        assert!((0.02..0.15).contains(&reach(&loud)), "{}", reach(&loud));
        assert!(reach(&quiet) < reach(&loud) / 5.0);
        assert!((0.05..0.2).contains(&loud.noise[&Metric::P50].deviation), "{:?}", loud.noise);
        assert!(quiet.is_sound() && loud.is_sound(), "{:?}", loud.false_alarms());
        let widened = Margins::default().widened(&loud);
        assert_eq!((widened.of(Metric::P50), Margins::default().widened(&quiet).of(Metric::P50)), (reach(&loud), 0.02));
        let json = serde_json::to_string(&loud).unwrap();
        assert_eq!(serde_json::from_str::<Calibration>(&json).unwrap(), loud);
        assert_eq!(Calibration::of(&[], 10, 200, &Margins::default(), &mut random).comparisons, 0);
    }

    #[test]
    fn the_shift_says_where_in_the_distribution_the_change_is() {
        let mut random = Random::new(85, 0);
        let mut run = |one_in_fifty: u64| {
            let mut summary = fixtures::summaries().remove(0).1;
            summary.edit_for_test().response_time_succeeded = Histogram::new();
            for _ in 0..2_000 {
                let time = 1e6 * (0.2 * normal(&mut random)).exp();
                let slower = if random.unit() < 0.02 { one_in_fifty } else { 1 };
                summary.edit_for_test().response_time_succeeded.record(plan::Nanos(time as u64 * slower));
            }
            summary.edit_for_test().requests.due = 2_000;
            summary
        };
        // One request in fifty takes ten times as long in B.
        let runs: Vec<(Summary, Summary)> = (0..8).map(|_| (run(1), run(10))).collect();
        let pairs: Vec<(&Summary, &Summary)> = runs.iter().map(|(a, b)| (a, b)).collect();
        let shifts = shift_by_quantile(&pairs);
        assert_eq!(shifts.iter().map(|shift| shift.q).collect::<Vec<_>>(), SHIFT_QUANTILES[..5], "2,000 requests do not know p99.9");
        assert!(shifts[4].interval.low > 0.5, "p99 is much slower: {:?}", shifts[4]);
        assert!(shifts[0].interval.high < 0.1, "and the median is not: {:?}", shifts[0]);
        // They are the table's.
        let table = paired(&runs.iter().map(|(a, b)| (values(a), values(b))).collect::<Vec<_>>(), &Margins::default());
        for (metric, at) in [(Metric::P50, 0), (Metric::P95, 3), (Metric::P99, 4)] {
            let row = of(&table, metric);
            assert_eq!((row.estimate, row.interval), (shifts[at].change, Some(shifts[at].interval)));
        }
        assert_eq!(shift_by_quantile(&pairs[..2]).len(), 5);
        assert!(shift_by_quantile(&pairs[..1]).is_empty());
        // Never answered has no size.
        let mut failing = runs[0].1.clone();
        failing.edit_for_test().requests.due = 2_100;
        assert_eq!(shift_by_quantile(&[pairs[0], pairs[1], (pairs[2].0, &failing)]).last().unwrap().q, 0.95);
    }
}
