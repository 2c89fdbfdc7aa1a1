//! How far a run's figures can be trusted: 95 % intervals for throughput, failure share and every quantile.
//!
//! Requests of one run are not independent: a pause of the garbage collector slows a hundred of them at once, and the
//! textbook's ± 1.96·s/√n is then several times too narrow. So whole stretches of the run are drawn again instead of
//! requests: blocks of neighbouring intervals (Künsch 1989, wrapped at the end so that every interval counts the same),
//! their histograms put together, the quantile read, 2,000 times. What the result varies by is what chance made of it.
//! Drawing blocks understates what a few blocks show, so the percentiles are taken further out, as Student's t is wider than
//! the normal distribution (the expanded percentile interval, Hesterberg 2015).
//!
//! Below [`INTERVALS_MIN`] intervals there are too few blocks; then exact ranks of the binomial distribution serve, with the
//! number of effective samples in place of their number. The alternative, one effective sample size for all (latte), would
//! take the mean's word for the tail: here each quantile is asked for itself.
//!
//! All this says nothing about how much two runs differ: that is [`crate::compare`]'s.
//!
//! Where seconds resemble their neighbours more than ρ = 0.6 or so, a run of a minute covers 91 to 92 % instead of 95
//! (docs/validation.md has the table): it holds too few independent stretches to show how much they vary. No way to draw them
//! helps, so that is said, with how much longer to run ([`Resemblance`]). Widening by a guess was rejected: the guess would
//! rest on the same few stretches.
//!
//! Invariant: a quantile without ten effective samples beyond it is not given, only how much longer to run.

use std::fmt;

use measure::{QUANTILES, SparseHistogram, SummaryRecord, Tick, rank_of};
use plan::{Nanos, Random};
use serde::Serialize;

use crate::distribution::{binomial_at_most, normal_below, student_quantile};
use crate::proportion::Share;

/// How often the run is drawn again (docs/measurement.md §1.6).
pub const REPLICATES: usize = 2_000;
/// With fewer intervals there are too few blocks to draw from (docs/measurement.md §1.6).
pub const INTERVALS_MIN: usize = 30;
/// What every interval here promises.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Fewer effective samples beyond a quantile than this, and it is not given (docs/measurement.md §1.5).
const TAIL_MIN: f64 = 10.0;
/// From so many on it is firm (docs/measurement.md §1.5).
const TAIL_FIRM: f64 = 100.0;
/// A ratio of variances of fewer batches than this is mostly chance.
const BATCHES_MIN: usize = 16;
/// With fewer intervals than this nothing at all is known about how they hang together.
const SLICES_MIN: usize = 4;
/// A run worth fewer independent stretches than this does not show how much they vary: simulated runs worth 20 cover 93 to 94 %,
/// those worth 10 only 92 % (docs/validation.md).
const STRETCHES_MIN: f64 = 16.0;

/// From here to there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in it, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// How long it is.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// One interval of a run, unpacked: what blocks are made of.
#[derive(Debug, Clone)]
pub struct Slice {
    /// When it began, from the start of the run.
    pub from: Nanos,
    /// How long it was.
    pub seconds: f64,
    /// Answers whose last byte came in it.
    pub answered: u64,
    /// Requests that came to an end in it, in whatever way.
    pub ended: u64,
    /// Of these, those that failed or were never sent.
    pub bad: u64,
    /// Response times.
    pub times: SparseHistogram,
}

/// The measured part of a run in slices: warm-up left out, what ended while draining added to the last.
///
/// # Errors
/// In words, if a tick's histogram cannot be read.
pub fn slices(run: &SummaryRecord) -> Result<Vec<Slice>, String> {
    slices_between(&run.timeline, Nanos::ZERO, run.ended.load_until)
}

/// As [`slices`], of the ticks that begin at `from` or later; `until` is when the load ended.
///
/// # Errors
/// In words, if a tick's histogram cannot be read.
pub fn slices_between(ticks: &[Tick], from: Nanos, until: Nanos) -> Result<Vec<Slice>, String> {
    let mut slices: Vec<Slice> = Vec::with_capacity(ticks.len());
    for tick in ticks.iter().filter(|tick| !tick.warmup && tick.from >= from) {
        let times = SparseHistogram::from(&tick.response_time.unpack()?);
        let bad = tick.failed + tick.unsent;
        let ended = tick.succeeded + bad;
        match slices.last_mut() {
            Some(last) if tick.from >= until => {
                last.answered += tick.answered;
                last.ended += ended;
                last.bad += bad;
                last.times.add(&times);
            }
            _ => slices.push(Slice {
                from: tick.from,
                seconds: tick.to.min(until).since(tick.from).as_secs_f64(),
                answered: tick.answered,
                ended,
                bad,
                times,
            }),
        }
    }
    Ok(slices)
}

/// How the intervals were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Method {
    /// Blocks of so many intervals, drawn again so often.
    BlockBootstrap {
        /// Intervals in a block.
        block: usize,
        /// How often the run was drawn again.
        replicates: usize,
    },
    /// Exact ranks with the effective number of samples, because there were too few intervals for blocks.
    Ranks,
}

/// Completes "95 % intervals …".
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockBootstrap { block, replicates } => write!(f, "by drawing blocks of {block} intervals again {replicates} times"),
            Self::Ranks => write!(f, "from ranks, because the run has fewer than {INTERVALS_MIN} intervals"),
        }
    }
}

/// A figure and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// As measured.
    pub value: f64,
    /// Where the truth lies in 95 of 100 such runs.
    pub interval: Interval,
}

/// A quantile, if it is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantile {
    /// Which, from 0 to 1.
    pub q: f64,
    /// How many independent samples the run's are worth at this quantile.
    pub samples_effective: f64,
    /// What is known.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// What is known of a quantile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "evidence", rename_all = "snake_case")]
pub enum Evidence {
    /// Enough to give it, in nanoseconds.
    Known {
        /// The figure.
        #[serde(flatten)]
        figure: Figure,
        /// Whether a hundred effective samples lie beyond it.
        firm: bool,
    },
    /// Too little.
    NotEnough {
        /// How much longer the run should be, at this rate; `None` if nothing ended at all.
        more_seconds: Option<f64>,
    },
}

/// Neighbouring intervals that resemble each other so much that the run holds too few independent stretches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resemblance {
    /// How much an interval resembles the one before it: 1 is the same, 0 is independent.
    pub neighbours: f64,
    /// How many independent stretches the run is worth: K·(1−ρ)/(1+ρ) of K intervals, for a first-order autoregression.
    pub stretches: f64,
    /// How much longer the run should be.
    pub more_seconds: f64,
}

impl Resemblance {
    /// Of `count` intervals that take `seconds` together; `None` where there are stretches enough.
    fn of(neighbours: f64, count: usize, seconds: f64) -> Option<Self> {
        let stretches = count as f64 * (1.0 - neighbours) / (1.0 + neighbours);
        let few = neighbours > 0.0 && stretches < STRETCHES_MIN;
        few.then(|| Self { neighbours, stretches, more_seconds: seconds * (STRETCHES_MIN / stretches - 1.0) })
    }
}

/// What one run's figures are worth. Uncertainty within this run: it says nothing about the next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Uncertainty {
    /// Intervals after the warm-up.
    pub intervals: usize,
    /// Response times in them.
    pub samples: u64,
    /// How the intervals were made.
    pub method: Method,
    /// Why all of them are narrower than they promise; `None` where they are not.
    pub too_narrow: Option<Resemblance>,
    /// Answers a second; `None` without at least two intervals.
    pub qps: Option<Figure>,
    /// Failed and unsent requests of all that ended, from 0 to 1; `None` if none ended.
    pub failure_share: Option<Figure>,
    /// Each of [`QUANTILES`] of the response time.
    pub quantiles: Vec<Quantile>,
}

/// The 95 % intervals of a run; `replicates` is [`REPLICATES`] unless speed matters more.
#[must_use]
pub fn uncertainty(slices: &[Slice], replicates: usize, random: &mut Random) -> Uncertainty {
    let runs = [slices];
    let mut pool = Pool::new(&runs);
    let bootstrap = slices.len() >= INTERVALS_MIN && replicates > 0;
    let draws = if bootstrap { Draws::new(&pool, slices, replicates, random) } else { Draws::default() };
    let seconds: f64 = slices.iter().map(|slice| slice.seconds).sum();
    let quantiles = QUANTILES.iter().map(|q| quantile(&mut pool, slices, &draws, *q, seconds)).collect();
    Uncertainty {
        intervals: slices.len(),
        samples: pool.samples,
        method: if bootstrap { Method::BlockBootstrap { block: draws.block, replicates } } else { Method::Ranks },
        too_narrow: Resemblance::of(pool.runs[0].correlation, slices.len(), seconds),
        qps: qps(slices, &draws, seconds),
        failure_share: failure_share(slices, &draws),
        quantiles,
    }
}

/// The length of a block for `count` intervals: the third root, which balances what is lost at the seams against the number
/// of blocks (Künsch 1989), and more where neighbours resemble each other: Politis and White's (2004) rule for a first-order
/// autoregression with that correlation, b = (2G²/D)^⅓ · K^⅓ with G = 2ρ/(1−ρ)² and D = 4/3·((1+ρ)/(1−ρ))². An eighth of
/// the run at most.
#[must_use]
pub(crate) fn block_length(count: usize, neighbour_correlation: f64) -> usize {
    let root = (count as f64).cbrt();
    let rho = neighbour_correlation.clamp(0.0, 0.95);
    let g = 2.0 * rho / (1.0 - rho).powi(2);
    let d = 4.0 / 3.0 * ((1.0 + rho) / (1.0 - rho)).powi(2);
    let stretched = (2.0 * g * g / d).cbrt() * root;
    let most = (count as f64 / 8.0).max(root);
    (root.max(stretched).min(most).round() as usize).max(1)
}

/// The ranks l and u, counted from 1, between which the `q`-quantile of `n` independent samples lies with `confidence`:
/// P(B ≤ l−1) ≤ α/2 and P(B ≤ u−1) ≥ 1−α/2 for B binomial(n, q). `None` where no sample bounds it.
#[must_use]
pub(crate) fn rank_interval(n: u64, q: f64, confidence: f64) -> (Option<u64>, Option<u64>) {
    let tail = (1.0 - confidence) / 2.0;
    // The least k from 0 to n whose P(B ≤ k) is beyond what is asked for.
    let least = |beyond: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0, n);
        while low < high {
            let middle = low + (high - low) / 2;
            if beyond(binomial_at_most(middle, n, q)) { high = middle } else { low = middle + 1 }
        }
        low
    };
    // The first k above α/2 is the largest l for which P(B ≤ l−1) is not; the first at 1−α/2 is u − 1.
    let lower = least(&|below| below > tail);
    let upper = least(&|below| below >= 1.0 - tail) + 1;
    ((lower >= 1).then_some(lower), (upper <= n).then_some(upper))
}

/// How many independent requests one of these is worth, as its inverse, at least 1: what the share of bad requests varies by
/// from interval to interval, over what chance alone would make of it (dyadic batch means).
#[must_use]
pub(crate) fn design_effect_of_failures(slices: &[Slice]) -> f64 {
    let hits: Vec<(f64, f64)> = slices.iter().map(|slice| (slice.bad as f64, slice.ended as f64)).collect();
    design_effect(hits)
}

/// Of `(hits, of)` per interval: the greatest over batch lengths 1, 2, 4, … of Var(hits of a batch) / (n·p·(1−p)). A batch
/// longer than the memory of the process holds all of its correlation; the number of batches bounds how long it may be.
fn design_effect(mut batches: Vec<(f64, f64)>) -> f64 {
    let (hits, of) = batches.iter().fold((0.0, 0.0), |(hits, of), batch| (hits + batch.0, of + batch.1));
    let p = if of > 0.0 { hits / of } else { 0.0 };
    if p <= 0.0 || p >= 1.0 || batches.len() < SLICES_MIN {
        return 1.0;
    }
    let mut greatest = 1.0f64;
    loop {
        let count = batches.len() as f64;
        let squares: f64 = batches.iter().map(|(hits, of)| (hits - p * of).powi(2)).sum();
        greatest = greatest.max(squares / (count - 1.0) / (of / count * p * (1.0 - p)));
        if batches.len() / 2 < BATCHES_MIN {
            return greatest;
        }
        batches = batches.chunks_exact(2).map(|pair| (pair[0].0 + pair[1].0, pair[0].1 + pair[1].1)).collect();
    }
}

fn quantile(pool: &mut Pool, slices: &[Slice], draws: &Draws, q: f64, seconds: f64) -> Quantile {
    if pool.samples == 0 {
        return Quantile { q, samples_effective: 0.0, evidence: Evidence::NotEnough { more_seconds: None } };
    }
    let n = pool.samples as f64;
    let at = pool.quantile_of_all(q);
    let above = (0..slices.len()).map(|slice| (pool.of_slice(slice) - pool.up_to(slice, at), pool.of_slice(slice))).collect::<Vec<_>>();
    let samples_effective = n / design_effect(above.into_iter().map(|(above, of)| (above as f64, of as f64)).collect());
    // Rounded, because 1 − 0.99 is not exactly 0.01 and a thousand samples are enough for it.
    let tail = (samples_effective * (1.0 - q) * 1e6).round() / 1e6;
    if tail < TAIL_MIN {
        let wanted = TAIL_MIN / (1.0 - q);
        let more_seconds = Some(seconds * (wanted / samples_effective - 1.0));
        return Quantile { q, samples_effective, evidence: Evidence::NotEnough { more_seconds } };
    }
    let (low, high) = if draws.starts.is_empty() {
        let effective = samples_effective.round() as u64;
        let (lower, upper) = rank_interval(effective, q, CONFIDENCE);
        let at_rank = |rank: u64| pool.at_rank((rank as f64 * n / effective as f64).round() as u64);
        (lower.map_or(0, at_rank), upper.map_or(pool.values.len() - 1, at_rank))
    } else {
        let mut found: Vec<f64> = draws.each().map(|starts| pool.quantile(starts, q, at) as f64).collect();
        let ends = draws.percentiles(&mut found);
        (ends.low as usize, ends.high as usize)
    };
    let interval = Interval { low: pool.value(low.min(at)), high: pool.value(high.max(at)) };
    let figure = Figure { value: pool.value(at), interval };
    Quantile { q, samples_effective, evidence: Evidence::Known { figure, firm: tail >= TAIL_FIRM } }
}

fn qps(slices: &[Slice], draws: &Draws, seconds: f64) -> Option<Figure> {
    if slices.len() < 2 || seconds <= 0.0 {
        return None;
    }
    let value = slices.iter().map(|slice| slice.answered).sum::<u64>() as f64 / seconds;
    let interval = if draws.starts.is_empty() {
        // Student's t over the intervals, each weighing as much as it was long.
        let count = slices.len() as f64;
        let squares: f64 = slices.iter().map(|slice| (slice.answered as f64 - value * slice.seconds).powi(2)).sum();
        let half = student_quantile(0.5 + CONFIDENCE / 2.0, count - 1.0) * (squares * count / (count - 1.0)).sqrt() / seconds;
        Interval { low: (value - half).max(0.0), high: value + half }
    } else {
        draws.ratios(slices, |slice| (slice.answered as f64, slice.seconds))
    };
    Some(Figure { value, interval })
}

fn failure_share(slices: &[Slice], draws: &Draws) -> Option<Figure> {
    let share = Share { hits: slices.iter().map(|slice| slice.bad).sum(), of: slices.iter().map(|slice| slice.ended).sum() };
    if share.of == 0 {
        return None;
    }
    let thinned = share.thinned(design_effect_of_failures(slices));
    let rare = (thinned.hits.min(thinned.of - thinned.hits) as f64) < TAIL_MIN;
    let interval = if rare || draws.starts.is_empty() {
        thinned.interval(CONFIDENCE)
    } else {
        draws.ratios(slices, |slice| (slice.bad as f64, slice.ended as f64))
    };
    // Thinning rounds, so that the share itself could fall just outside.
    Some(Figure {
        value: share.value(),
        interval: Interval { low: interval.low.min(share.value()), high: interval.high.max(share.value()) },
    })
}

/// Which blocks each replicate is made of.
#[derive(Default)]
struct Draws {
    block: usize,
    blocks: usize,
    /// `blocks` starts for each replicate, one after the other.
    starts: Vec<u32>,
    /// The share of replicates cut off at either end.
    tail: f64,
}

impl Draws {
    fn new(pool: &Pool, slices: &[Slice], replicates: usize, random: &mut Random) -> Self {
        let run = &pool.runs[0];
        let (block, count) = (run.block, slices.len());
        let blocks = count.div_ceil(block);
        let starts = (0..replicates * blocks).map(|_| random.between(0, count as u64 - 1) as u32).collect();
        let longer = (blocks * block) as f64 / count as f64;
        Self { block, blocks, starts, tail: expanded_tail(count as f64 / block as f64, longer * lost_at_seams(block, run.correlation)) }
    }

    fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.chunks_exact(self.blocks)
    }

    fn percentiles(&self, found: &mut [f64]) -> Interval {
        percentiles(found, self.tail)
    }

    fn ratios(&self, slices: &[Slice], of: impl Fn(&Slice) -> (f64, f64)) -> Interval {
        let single: Vec<(f64, f64)> = slices.iter().map(of).collect();
        let sums: Vec<(f64, f64)> = (0..single.len())
            .map(|start| {
                (0..self.block).map(|k| single[(start + k) % single.len()]).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
            })
            .collect();
        let mut found: Vec<f64> = self
            .each()
            .map(|starts| {
                let (above, below) =
                    starts.iter().map(|start| sums[*start as usize]).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                if below > 0.0 { above / below } else { 0.0 }
            })
            .collect();
        self.percentiles(&mut found)
    }
}

/// How much greater the variance of a mean is than blocks show, because neighbours on either side of a seam are drawn apart:
/// (1+ρ)/(1−ρ) over 1 + 2·Σ(1−h/b)·ρ^h for h below b, for a first-order autoregression.
fn lost_at_seams(block: usize, correlation: f64) -> f64 {
    let kept: f64 = (1..block).map(|lag| (1.0 - lag as f64 / block as f64) * correlation.powi(lag as i32)).sum();
    (1.0 + correlation) / (1.0 - correlation) / 2.0f64.mul_add(kept, 1.0)
}

/// The share to cut off at either end so that drawing from so few blocks covers 95 %: Φ(−t·√(f·m/(m−1))) with Student's t
/// of m − 1 degrees for m blocks (Hesterberg 2015, §4.3), when the truth varies by `factor` f more than blocks show.
fn expanded_tail(blocks: f64, factor: f64) -> f64 {
    let freedom = (blocks - 1.0).max(1.0);
    let t = student_quantile(0.5 + CONFIDENCE / 2.0, freedom);
    normal_below(-t * (blocks / freedom * factor).sqrt())
}

/// What lies between the lowest and the highest `tail` of `found`.
fn percentiles(found: &mut [f64], tail: f64) -> Interval {
    let cut = ((tail * found.len() as f64).floor() as usize).min((found.len() - 1) / 2);
    let last = found.len() - 1 - cut;
    let low = *found.select_nth_unstable_by(cut, f64::total_cmp).1;
    let high = *found.select_nth_unstable_by(last, f64::total_cmp).1;
    Interval { low, high }
}

/// The histograms of runs, made ready to be put together again and again.
///
/// Adding thousands of histograms two thousand times over would take minutes. But a quantile needs only the number of
/// samples up to some bucket, so for each bucket asked about, the sums over all blocks are computed once, and a replicate's
/// quantile is a search over buckets with one look-up for each of its blocks.
struct Pool {
    /// Every bucket that holds anything, ascending.
    values: Vec<u64>,
    greatest: u64,
    samples: u64,
    /// Of each slice, for each bucket it uses: the bucket, and how many samples up to it.
    cumulative: Vec<Vec<(u32, u64)>>,
    runs: Vec<PooledRun>,
    /// How many samples each block holds.
    whole: Vec<u64>,
    /// For each bucket asked about: how many samples up to it each block holds.
    columns: Vec<Option<Box<[u64]>>>,
}

/// Where a run's slices are in the pool, and how long its blocks.
struct PooledRun {
    first: usize,
    count: usize,
    block: usize,
    /// How much an interval resembles the one before it, from 0 to 0.95.
    correlation: f64,
}

impl Pool {
    fn new(runs: &[&[Slice]]) -> Self {
        let all = || runs.iter().flat_map(|run| run.iter());
        let mut values: Vec<u64> = all().flat_map(|slice| slice.times.buckets()).map(|(value, _)| value.0).collect();
        values.sort_unstable();
        values.dedup();
        let cumulative = all()
            .map(|slice| {
                let (mut up_to, mut from) = (0, 0);
                slice
                    .times
                    .buckets()
                    .iter()
                    .map(|(value, count)| {
                        up_to += count;
                        // Both ascend, so the search goes on where it stopped.
                        from += values[from..].partition_point(|known| *known < value.0);
                        (from as u32, up_to)
                    })
                    .collect()
            })
            .collect();
        let mut pooled = Vec::with_capacity(runs.len());
        let mut first = 0;
        for run in runs {
            let correlation = neighbour_correlation(run);
            pooled.push(PooledRun { first, count: run.len(), block: block_length(run.len(), correlation), correlation });
            first += run.len();
        }
        let mut pool = Self {
            columns: vec![None; values.len()],
            values,
            greatest: all().filter_map(|slice| slice.times.max()).max().unwrap_or_default().0,
            samples: all().map(|slice| slice.times.count()).sum(),
            cumulative,
            runs: pooled,
            whole: Vec::new(),
        };
        pool.whole = pool.block_sums(|slice| pool.of_slice(slice));
        pool
    }

    fn of_slice(&self, slice: usize) -> u64 {
        self.cumulative[slice].last().map_or(0, |(_, up_to)| *up_to)
    }

    fn up_to(&self, slice: usize, bucket: usize) -> u64 {
        let buckets = &self.cumulative[slice];
        match buckets.partition_point(|(used, _)| *used as usize <= bucket) {
            0 => 0,
            after => buckets[after - 1].1,
        }
    }

    /// For each slice, the sum over the block that begins with it, wrapped at the end of its run.
    fn block_sums(&self, of: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut sums = Vec::with_capacity(self.cumulative.len());
        for run in &self.runs {
            let single: Vec<u64> = (0..run.count).map(|k| of(run.first + k)).collect();
            let mut sum: u64 = single.iter().cycle().take(if run.count == 0 { 0 } else { run.block }).sum();
            for start in 0..run.count {
                sums.push(sum);
                sum = sum + single[(start + run.block) % run.count] - single[start];
            }
        }
        sums
    }

    /// The bucket of the `q`-quantile of the blocks that begin at `starts`, searched from `near` outwards.
    fn quantile(&mut self, starts: &[u32], q: f64, near: usize) -> usize {
        let total: u64 = starts.iter().map(|start| self.whole[*start as usize]).sum();
        if total == 0 {
            // Only intervals without an answer were drawn; they say nothing against what all say.
            return near;
        }
        let rank = rank_of(q, total);
        let last = self.values.len() - 1;
        // The answer lies in (low, high], where −1 stands before the first bucket.
        let (mut low, mut high) = (-1i64, last as i64);
        let mut step = 4i64;
        if self.count_up_to(near, starts) >= rank {
            high = near as i64;
            while low < high - step && high - step >= 0 {
                let probe = high - step;
                if self.count_up_to(probe as usize, starts) >= rank {
                    high = probe;
                    step *= 2;
                } else {
                    low = probe;
                }
            }
        } else {
            low = near as i64;
            while low + step < high {
                let probe = low + step;
                if self.count_up_to(probe as usize, starts) >= rank {
                    high = probe;
                } else {
                    low = probe;
                    step *= 2;
                }
            }
        }
        while high - low > 1 {
            let middle = (low + high).div_euclid(2);
            if self.count_up_to(middle as usize, starts) >= rank { high = middle } else { low = middle }
        }
        high as usize
    }

    fn count_up_to(&mut self, bucket: usize, starts: &[u32]) -> u64 {
        if self.columns[bucket].is_none() {
            self.columns[bucket] = Some(self.block_sums(|slice| self.up_to(slice, bucket)).into_boxed_slice());
        }
        let column = self.columns[bucket].as_deref().unwrap_or_default();
        starts.iter().map(|start| column[*start as usize]).sum()
    }

    fn quantile_of_all(&self, q: f64) -> usize {
        self.at_rank(rank_of(q, self.samples))
    }

    /// The bucket of the sample of that rank, counted from 1, of all.
    fn at_rank(&self, rank: u64) -> usize {
        let up_to = |bucket: usize| (0..self.cumulative.len()).map(|slice| self.up_to(slice, bucket)).sum::<u64>();
        let (mut low, mut high) = (0, self.values.len().saturating_sub(1));
        while low < high {
            let middle = low + (high - low) / 2;
            if up_to(middle) >= rank { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// In nanoseconds.
    fn value(&self, bucket: usize) -> f64 {
        self.values[bucket].min(self.greatest) as f64
    }
}

/// How much an interval resembles the one before it: the greater of that of throughput and that of the mean response time.
fn neighbour_correlation(run: &[Slice]) -> f64 {
    let counts: Vec<f64> = run.iter().filter(|slice| slice.seconds > 0.0).map(|slice| slice.answered as f64 / slice.seconds).collect();
    let means: Vec<f64> = run.iter().filter_map(|slice| slice.times.mean()).map(|mean| mean.max(1.0).ln()).collect();
    lag_one(&counts).max(lag_one(&means))
}

fn lag_one(series: &[f64]) -> f64 {
    let count = series.len() as f64;
    let mean = series.iter().sum::<f64>() / count;
    let squares: f64 = series.iter().map(|y| (y - mean).powi(2)).sum();
    if series.len() < SLICES_MIN || squares <= 0.0 {
        return 0.0;
    }
    let products: f64 = series.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // The estimate is too low by about (1 + 4ρ)/n (Kendall 1954).
    let raw = products / squares;
    let corrected = raw + (1.0 + 4.0 * raw.max(0.0)) / count;
    // Within two standard errors of nothing, it is nothing.
    if raw > 2.0 / count.sqrt() { corrected.min(0.95) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Wandering, coverage};
    use measure::{Histogram, fixtures};
    use proptest::prelude::*;

    fn known(quantile: &Quantile) -> Option<Figure> {
        match quantile.evidence {
            Evidence::Known { figure, .. } => Some(figure),
            Evidence::NotEnough { .. } => None,
        }
    }

    #[test]
    fn ranks_span_what_the_table_says() {
        // docs/measurement.md §1.5: what the 95 % interval of a quantile spans, in percent, exact ranks.
        for (n, q, low, high) in [
            (1_000, 0.99, 98.30, Some(99.70)),
            (1_000, 0.999, 99.70, None),
            (1_000, 0.9999, 99.90, None),
            (10_000, 0.99, 98.80, Some(99.20)),
            (10_000, 0.999, 99.83, Some(99.97)),
            (10_000, 0.9999, 99.97, None),
            (100_000, 0.99, 98.938, Some(99.062)),
            (100_000, 0.999, 99.880, Some(99.920)),
            (100_000, 0.9999, 99.983, Some(99.997)),
            (1_000_000, 0.99, 98.981, Some(99.020)),
            (1_000_000, 0.999, 99.8938, Some(99.9062)),
        ] {
            let (lower, upper) = rank_interval(n, q, 0.95);
            let percent = |rank: u64| rank as f64 * 100.0 / n as f64;
            let places = if n == 1_000_000 { 6e-4 } else { 0.5 / (n as f64 / 100.0) };
            assert!((percent(lower.unwrap()) - low).abs() <= places, "{n} {q}: {lower:?}");
            match (upper, high) {
                (Some(upper), Some(high)) => assert!((percent(upper) - high).abs() <= 2.0 * places, "{n} {q}: {upper}"),
                (upper, high) => assert_eq!((upper, high), (None, None), "{n} {q}"),
            }
        }
    }

    #[test]
    fn a_quantile_has_an_upper_bound_from_the_table_s_number_of_samples_on() {
        for (q, n) in [(0.9, 36), (0.99, 368), (0.999, 3_688), (0.9999, 36_887)] {
            assert_eq!((rank_interval(n, q, 0.95).1, rank_interval(n - 1, q, 0.95).1), (Some(n), None), "{q}");
        }
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let base = Wandering { seconds: 60, per_second: 150, correlation: 0.0, wander: 0.1, spread: 0.5 };
        let mut all = Vec::new();
        for (name, of) in [
            ("seconds differ", base),
            ("seconds resemble their neighbours", Wandering { correlation: 0.5, ..base }),
            ("five minutes", Wandering { seconds: 300, per_second: 50, correlation: 0.5, ..base }),
            ("half a minute", Wandering { seconds: 30, per_second: 250, ..base }),
            ("too few seconds for blocks", Wandering { seconds: 24, per_second: 600, ..base }),
            ("every request by itself", Wandering { wander: 0.0, ..base }),
        ] {
            let coverage = coverage(of, 200, 400, 20_261);
            let (median, p99, throughput) = (coverage.of(0.5), coverage.of(0.99), coverage.throughput);
            assert!(median.of == 200 && p99.of >= 180, "{name}: nearly every run is long enough");
            let mut covered = vec![median.value(), p99.value()];
            if of.wander == 0.0 {
                assert_eq!(throughput.value(), 1.0, "a constant is always held");
            } else {
                covered.push(throughput.value());
            }
            // Three and a half standard errors of 200 runs are 5.4 %.
            assert!(covered.iter().all(|share| (0.896..=1.0).contains(share)), "{name}: {covered:?}");
            all.extend(covered);
        }
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((0.93..=0.97).contains(&mean), "{mean}: {all:?}");
    }

    #[test]
    fn a_run_whose_intervals_are_too_narrow_says_so() {
        let base = Wandering { seconds: 60, per_second: 60, correlation: 0.0, wander: 0.1, spread: 0.5 };
        let said = |of: Wandering| coverage(of, 100, 200, 20_262);
        let minute = said(Wandering { correlation: 0.8, ..base });
        assert!(minute.told.hits >= 95, "{:?}", minute.told);
        // Neither held nor told is what a reader is promised not to meet more than 5 times in 100.
        assert!(minute.silent.at_least(0.999) <= 0.05, "{:?}", minute.silent);
        let half = said(Wandering { seconds: 30, per_second: 120, correlation: 0.7, ..base });
        assert!(half.told.hits >= 75 && half.silent.at_least(0.999) <= 0.05, "{half:?}");
        for enough in [base, Wandering { seconds: 300, per_second: 20, correlation: 0.7, ..base }] {
            let said = said(enough);
            assert!(said.told.hits <= 3, "{enough:?} holds stretches enough: {:?}", said.told);
        }
        let thirty = said(Wandering { seconds: 30, per_second: 120, ..base });
        assert!(thirty.told.hits <= 15, "chance makes few of independent seconds look alike: {:?}", thirty.told);
    }

    #[test]
    fn how_much_longer_to_run_follows_from_how_much_seconds_resemble() {
        let few = Resemblance::of(0.8, 60, 60.0).unwrap();
        assert!((few.stretches - 60.0 / 9.0).abs() < 1e-9 && (few.more_seconds - 84.0).abs() < 1e-9, "{few:?}");
        assert_eq!((Resemblance::of(0.8, 145, 145.0), Resemblance::of(0.0, 3, 3.0)), (None, None));
    }

    #[test]
    fn intervals_that_took_requests_for_independent_would_be_far_too_narrow() {
        let of = Wandering { seconds: 60, per_second: 1_000, correlation: 0.6, wander: 0.1, spread: 0.5 };
        let mut random = Random::new(3, 0);
        let slices = of.draw(1.0, &mut random);
        let got = uncertainty(&slices, 400, &mut random);
        let mut all = SparseHistogram::default();
        slices.iter().for_each(|slice| all.add(&slice.times));
        let (lower, upper) = rank_interval(60_000, 0.5, 0.95);
        let naive =
            (all.quantile(upper.unwrap() as f64 / 60_000.0).unwrap().0 - all.quantile(lower.unwrap() as f64 / 60_000.0).unwrap().0) as f64;
        let ours = known(&got.quantiles[0]).unwrap();
        assert!(ours.interval.width() > 4.0 * naive, "{} against {naive}", ours.interval.width());
        assert!(got.quantiles[0].samples_effective < 60_000.0 / 15.0, "{:?}", got.quantiles[0]);
        // The tail is less bound to the level than the middle is.
        assert!(got.quantiles[4].samples_effective > 3.0 * got.quantiles[0].samples_effective);
    }

    #[test]
    fn a_quantile_without_ten_samples_beyond_it_says_how_much_longer_to_run() {
        let of = Wandering { seconds: 40, per_second: 100, correlation: 0.0, wander: 0.0, spread: 0.5 };
        let mut random = Random::new(9, 0);
        let got = uncertainty(&of.draw(1.0, &mut random), 100, &mut random);
        let Evidence::NotEnough { more_seconds: Some(more) } = got.quantiles[5].evidence else { panic!("{:?}", got.quantiles[5]) };
        // 4,000 samples are 4 beyond p99.9; ten need 60 s more, or somewhat above where chance says they cluster.
        assert!((59.0..120.0).contains(&more), "{more}");
        assert!(matches!(got.quantiles[4].evidence, Evidence::Known { firm: false, .. }), "{:?}", got.quantiles[4]);
        assert!(matches!(got.quantiles[0].evidence, Evidence::Known { firm: true, .. }));
    }

    #[test]
    fn nothing_measured_gives_no_figures() {
        let got = uncertainty(&[], REPLICATES, &mut Random::new(1, 0));
        assert_eq!((got.qps, got.failure_share, got.method), (None, None, Method::Ranks));
        assert!(got.quantiles.iter().all(|quantile| quantile.evidence == Evidence::NotEnough { more_seconds: None }));
    }

    #[test]
    fn failures_in_bursts_are_less_sure_than_failures_spread_out() {
        let slices = |burst: u64| -> Vec<Slice> {
            (0..120u64)
                .map(|second| {
                    let mut times = Histogram::new();
                    (0..100).for_each(|k| times.record(Nanos::from_micros(900 + 2 * k)));
                    let bad = if second % burst == 0 { burst } else { 0 };
                    Slice {
                        from: Nanos::from_secs(second),
                        seconds: 1.0,
                        answered: 100,
                        ended: 100,
                        bad,
                        times: SparseHistogram::from(&times),
                    }
                })
                .collect()
        };
        let width = |burst| {
            let slices = slices(burst);
            let figure = uncertainty(&slices, 400, &mut Random::new(4, 0)).failure_share.unwrap();
            assert!((figure.value - 0.01).abs() < 1e-12 && figure.interval.contains(0.01));
            figure.interval.width()
        };
        assert!(width(20) > 2.0 * width(1), "{} against {}", width(20), width(1));
        assert!(design_effect_of_failures(&slices(20)) > 10.0);
        assert_eq!(design_effect_of_failures(&slices(1)), 1.0);
    }

    #[test]
    fn no_failure_is_not_certainty() {
        let mut times = Histogram::new();
        (0..50).for_each(|_| times.record(Nanos::from_millis(1)));
        let slices =
            vec![Slice { from: Nanos::ZERO, seconds: 1.0, answered: 50, ended: 50, bad: 0, times: SparseHistogram::from(&times) }; 40];
        let figure = uncertainty(&slices, 100, &mut Random::new(4, 0)).failure_share.unwrap();
        assert_eq!((figure.value, figure.interval.low), (0.0, 0.0));
        assert!((figure.interval.high - 0.001_84).abs() < 1e-5, "{figure:?}");
    }

    #[test]
    fn the_slices_of_a_run_hold_all_its_requests_and_only_its_time() {
        for (name, run) in fixtures::summaries() {
            let slices = slices(&run).unwrap();
            let mut times = SparseHistogram::default();
            slices.iter().for_each(|slice| times.add(&slice.times));
            assert_eq!(slices.iter().map(|slice| slice.ended).sum::<u64>(), run.requests.due, "{name}");
            assert_eq!(slices.iter().map(|slice| slice.bad).sum::<u64>(), run.requests.failed + run.requests.unsent, "{name}");
            assert_eq!(times, SparseHistogram::from(&run.response_time), "{name}");
            let seconds: f64 = slices.iter().map(|slice| slice.seconds).sum();
            assert!((seconds - run.duration_s).abs() < 1e-6, "{name}: {seconds} against {}", run.duration_s);
        }
    }

    #[test]
    fn in_json_a_quantile_says_what_is_known_of_it() {
        let of = Wandering { seconds: 40, per_second: 100, correlation: 0.0, wander: 0.0, spread: 0.5 };
        let mut random = Random::new(9, 0);
        let got = serde_json::to_value(uncertainty(&of.draw(1.0, &mut random), 100, &mut random)).unwrap();
        assert_eq!(got["method"]["kind"], "block_bootstrap");
        let median = &got["quantiles"][0];
        assert_eq!((&median["q"], &median["evidence"], &median["firm"]), (&0.5.into(), &"known".into(), &true.into()), "{median}");
        assert!(median["interval"]["low"].as_f64() < median["value"].as_f64(), "{median}");
        let beyond = &got["quantiles"][6];
        assert_eq!(beyond["evidence"], "not_enough");
        assert!(beyond["more_seconds"].as_f64().unwrap() > 100.0 && beyond.get("value").is_none(), "{beyond}");
    }

    #[test]
    fn one_seed_gives_one_answer() {
        let of = Wandering { seconds: 40, per_second: 60, correlation: 0.3, wander: 0.1, spread: 0.5 };
        let slices = of.draw(1.0, &mut Random::new(8, 0));
        let once = |seed| uncertainty(&slices, 200, &mut Random::new(seed, 1));
        assert_eq!(once(1), once(1));
        assert_ne!(once(1), once(2));
    }

    #[test]
    fn intervals_without_an_answer_do_not_stretch_the_quantiles() {
        let slices: Vec<Slice> = (0..90)
            .map(|second| {
                let mut times = Histogram::new();
                if second == 44 {
                    (0..60).for_each(|k| times.record(Nanos::from_micros(1_000 + 10 * k)));
                }
                let ended = times.count();
                let times = SparseHistogram::from(&times);
                Slice { from: Nanos::from_secs(second), seconds: 1.0, answered: ended, ended, bad: 0, times }
            })
            .collect();
        let got = uncertainty(&slices, 300, &mut Random::new(6, 0));
        for figure in got.quantiles.iter().filter_map(known) {
            assert!(
                figure.interval.low <= figure.value && figure.value <= figure.interval.high && figure.interval.high < 1.6e6,
                "{figure:?}"
            );
        }
        assert_eq!(got.qps.unwrap().interval.low, 0.0);
    }

    #[test]
    fn blocks_grow_with_the_third_root_and_with_resemblance() {
        assert_eq!([30, 60, 300, 3_600].map(|count| block_length(count, 0.0)), [3, 4, 7, 15]);
        assert!(block_length(3_600, 0.7) > 2 * block_length(3_600, 0.0));
        assert_eq!((block_length(1, 0.9), block_length(60, 0.95)), (1, 8));
    }

    proptest! {
        #[test]
        fn a_replicate_s_quantile_is_that_of_its_histograms_put_together(
            runs in prop::collection::vec(prop::collection::vec(prop::collection::vec(1u64..5_000_000, 0..12), 1..9), 1..3),
            picks in prop::collection::vec(0.0..1.0f64, 1..7), q in 0.0..1.0f64, near in 0.0..1.0f64,
        ) {
            let runs: Vec<Vec<Slice>> = runs.iter().map(|run| run.iter().map(|values| {
                let mut times = Histogram::new();
                values.iter().for_each(|value| times.record(Nanos(*value)));
                Slice { from: Nanos::ZERO, seconds: 1.0, answered: 0, ended: 0, bad: 0, times: SparseHistogram::from(&times) }
            }).collect()).collect();
            let borrowed: Vec<&[Slice]> = runs.iter().map(Vec::as_slice).collect();
            let mut pool = Pool::new(&borrowed);
            let all: Vec<&Slice> = runs.iter().flatten().collect();
            let starts: Vec<u32> = picks.iter().map(|pick| (pick * all.len() as f64) as u32).collect();
            let mut merged = SparseHistogram::default();
            for start in &starts {
                let run = pool.runs.iter().rfind(|run| run.first <= *start as usize).unwrap();
                for k in 0..run.block {
                    merged.add(&all[run.first + (*start as usize - run.first + k) % run.count].times);
                }
            }
            prop_assume!(merged.count() > 0);
            let near = (near * pool.values.len() as f64) as usize;
            let got = pool.quantile(&starts, q, near);
            let rank = rank_of(q, merged.count());
            let mut up_to = 0;
            let wanted = merged.buckets().iter().find(|(_, count)| { up_to += count; up_to >= rank }).unwrap().0;
            prop_assert_eq!(pool.values[got], wanted.0);
        }
    }
}
