//! How far chance could have moved the answer of a search.
//!
//! The two bounds of a search say which loads passed and which failed, not how easily the same loads would have failed and
//! passed tomorrow. At 27 requests a second, ten seconds hold three answers beyond a 99th percentile, and three could as
//! well have been one or seven. So near its crossing the share of bad requests is taken to rise with the rate r as
//! logit b(r) = logit a + β·ln(r/c): a is what the promise allows, c the capacity, β how suddenly the server breaks. Every
//! pair (c, β) on a grid is weighed by the likelihood of what was counted, and 95 % of the weight over c is the interval.
//! A grid needs no luck where a fit has no optimum: trials that all pass below and all fail above leave β open, not c.
//!
//! Two guards. Requests do not fail one by one: a queue makes neighbours late together, so counts are divided by the design
//! effect, how much wider seconds scatter than independent requests would. And a rate far beyond the promise shows collapse
//! of one kind or another, which no curve describes: it counts only as "at least ten times too many".
//!
//! The alternative without a curve, redrawing each count alone and sorting the draws (isotonic bootstrap), leaves the answer
//! open down to the first rate of the ramp: its few requests could always have hidden a failure.

#[cfg(test)]
use plan::Random;

/// What the trials at one rate counted, for one promise.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PromiseCounts {
    pub rate: f64,
    /// Due and bad requests of each stretch of equal length; one stretch per trial if the caller counted no finer.
    pub stretches: Vec<(f64, f64)>,
}

impl PromiseCounts {
    /// Due and bad requests in all.
    fn sums(&self) -> (f64, f64) {
        self.stretches.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
    }
}

/// One promise over all rates tried, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ladder {
    pub bad_share_max: f64,
    pub counted: Vec<PromiseCounts>,
}

/// Steps of the grid over the capacity: a third of a per cent each over a factor of four.
const STEPS: usize = 400;
/// How suddenly servers break: from a share of bad requests that grows with the fourth power of the rate to one that
/// doubles within a quarter of a per cent of it.
const STEEPNESS: (f64, f64) = (4.0, 300.0);
const STEEPNESSES: usize = 40;
/// The weight left out on either side: 95 % remain.
const TAIL: f64 = 0.025;

/// Where, between the rates `low` and `high`, the promises stop being kept, at 95 %; docs/validation.md tells how often
/// the truth lies there.
pub(super) fn crossing(ladders: &[Ladder], low: f64, high: f64) -> (f64, f64) {
    let at = |step: usize| low * (high / low).powf(step as f64 / (STEPS - 1) as f64);
    // P(every promise is kept up to a rate) is the product over the promises.
    let mut kept = vec![1.0; STEPS];
    for ladder in ladders {
        let weights = weights(ladder, at);
        let total: f64 = weights.iter().sum();
        let mut above = total;
        for (step, weight) in weights.iter().enumerate() {
            // Half a step below and half above its middle.
            kept[step] *= (above - weight / 2.0) / total;
            above -= weight;
        }
    }
    let first = kept.iter().position(|&it| it < 1.0 - TAIL).map_or(STEPS - 1, |it| it.saturating_sub(1));
    let last = kept.iter().position(|&it| it < TAIL).unwrap_or(STEPS - 1);
    (at(first), at(last))
}

/// The weight of each capacity on the grid, summed over how suddenly the server may break.
fn weights(ladder: &Ladder, at: impl Fn(usize) -> f64) -> Vec<f64> {
    let effect = design_effect(ladder);
    let allowed = ladder.bad_share_max.max(1e-6);
    let offset = (allowed / (1.0 - allowed)).ln();
    let far = FAR_BEYOND * allowed;
    let counted: Vec<(f64, f64, f64)> = ladder
        .counted
        .iter()
        .map(|it| {
            let (due, bad) = it.sums();
            (it.rate.ln(), due, bad)
        })
        .collect();
    let mut logs = vec![f64::NEG_INFINITY; STEPS];
    for nth in 0..STEEPNESSES {
        let steepness = STEEPNESS.0 * (STEEPNESS.1 / STEEPNESS.0).powf(nth as f64 / (STEEPNESSES - 1) as f64);
        for (step, sum) in logs.iter_mut().enumerate() {
            let capacity = at(step).ln();
            let mut log = 0.0;
            for &(rate, due, bad) in &counted {
                let odds = (offset + steepness * (rate - capacity)).clamp(-30.0, 30.0).exp();
                let (mut share, mut bad) = (odds / (1.0 + odds), bad);
                if bad > far * due {
                    (share, bad) = (share.min(far), far * due);
                }
                log += (bad * share.ln() + (due - bad) * (-share).ln_1p()) / effect;
            }
            // ln(e^a + e^b) without overflow.
            let (more, less) = if log > *sum { (log, *sum) } else { (*sum, log) };
            *sum = more + (less - more).exp().ln_1p();
        }
    }
    let most = logs.iter().copied().max_by(f64::total_cmp).unwrap_or(0.0);
    logs.iter().map(|it| (it - most).exp()).collect()
}

/// Pearson's dispersion of bad requests over stretches, the greater of single and doubled stretches: lateness that lasts
/// longer than a stretch shows only in the doubled ones. Rates well beyond the promise are left out, since a queue that
/// grows through a trial is no scatter.
pub(super) fn design_effect(ladder: &Ladder) -> f64 {
    let dispersion = |merged: usize| {
        let (mut scatter, mut freedom) = (0.0, 0.0);
        for counted in &ladder.counted {
            let stretches: Vec<(f64, f64)> = counted
                .stretches
                .chunks_exact(merged)
                .map(|them| them.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1)))
                .collect();
            let due: f64 = stretches.iter().map(|it| it.0).sum();
            let bad: f64 = stretches.iter().map(|it| it.1).sum();
            let share = bad / due.max(1.0);
            if stretches.len() < 3 || share <= 0.0 || !is_scatter(ladder, (due, bad)) {
                continue;
            }
            scatter += stretches
                .iter()
                .filter(|it| it.0 > 0.0)
                .map(|it| (it.1 - it.0 * share).powi(2) / (it.0 * share * (1.0 - share)))
                .sum::<f64>();
            freedom += stretches.len() as f64 - 1.0;
        }
        if freedom > 0.0 { scatter / freedom } else { 1.0 }
    };
    let (due, stretches) = ladder.counted.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.sums().0, sum.1 + it.stretches.len() as f64));
    let held = (due / stretches * CLUMP_OF_STRETCH_MAX).max(CLUMP_ALWAYS);
    let seen = dispersion(1).max(dispersion(2)).min(held).max(1.0);
    let clumps = ladder.counted.iter().filter(|it| is_scatter(ladder, it.sums())).flat_map(|it| &it.stretches).filter(|it| it.1 > 0.0);
    let clumps = clumps.count() as f64;
    (clumps * seen + CLUMPS_BEFORE * CLUMP_ALWAYS) / (clumps + CLUMPS_BEFORE)
}

/// Whether so many due and bad requests at one rate are scatter, and not a queue that grows.
fn is_scatter(ladder: &Ladder, (due, bad): (f64, f64)) -> bool {
    bad <= SCATTER_BELOW * ladder.bad_share_max * due
}

/// What is known of the design effect before anything was seen: as much as so many stretches with bad requests would tell, of
/// clumps of [`CLUMP_ALWAYS`]. A slow server shows two or three clumps in a whole search, and may show none of its long ones;
/// taken at their word they left one of 250 intervals 27 % off the truth.
const CLUMPS_BEFORE: f64 = 2.0;

/// Seen at the crossing, where a queue wanders for seconds, the effect is carried over to lower rates, where it lasts for
/// some requests; unchecked it would make their clean trials worthless. So late neighbours are taken to be at most this part
/// of a stretch, which narrows the answers on the simulated servers (those it was chosen on) by a sixth at the same coverage,
const CLUMP_OF_STRETCH_MAX: f64 = 0.3;
/// or so many requests, if those are more.
const CLUMP_ALWAYS: f64 = 10.0;

/// Up to so many times the allowed share, bad requests are scatter. On servers drawn by chance (150 for each value) ten times the
/// share made the interval twice as wide as one and a half times, which left one in six outside of it. Two is in between.
const SCATTER_BELOW: f64 = 2.0;
/// Beyond so many times the allowed share a trial shows collapse, not chance.
pub(super) const FAR_BEYOND: f64 = 10.0;

/// Standard normal: Box and Muller (1958).
#[cfg(test)]
pub(crate) fn normal(random: &mut Random) -> f64 {
    (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(shares: &[(f64, f64)], due: f64) -> Ladder {
        let counted = shares.iter().map(|&(rate, share)| PromiseCounts { rate, stretches: vec![(due, due * share)] }).collect();
        Ladder { bad_share_max: 0.01, counted }
    }

    #[test]
    fn many_requests_leave_the_crossing_where_it_was_seen() {
        let seen = ladder(&[(100.0, 0.002), (110.0, 0.006), (120.0, 0.016)], 1e5);
        let (low, high) = crossing(&[seen], 50.0, 200.0);
        assert!(110.0 < low && low < 115.5 && 114.0 < high && high < 118.0, "{low} {high}");
    }

    #[test]
    fn few_requests_leave_it_open() {
        let seen = ladder(&[(10.0, 0.0), (100.0, 0.006), (110.0, 0.012), (200.0, 0.5)], 300.0);
        let (low, high) = crossing(&[seen], 10.0, 200.0);
        assert!(low < 95.0 && high > 115.0, "1.8 bad of 300 may be 5 tomorrow, 3.6 may be 2: {low} {high}");
        assert!(low > 50.0 && high < 200.0, "{low} {high}");
    }

    #[test]
    fn a_cliff_lies_between_the_last_pass_and_the_first_failure() {
        let (low, high) = crossing(&[ladder(&[(100.0, 0.0), (110.0, 0.0), (120.0, 0.9)], 1e4)], 50.0, 200.0);
        assert!(low > 109.0 && high < 121.0, "{low} {high}");
    }

    #[test]
    fn the_strictest_promise_decides() {
        let (loose, strict) = (ladder(&[(100.0, 0.0), (200.0, 0.0)], 1e5), ladder(&[(100.0, 0.001), (200.0, 0.2)], 1e5));
        let both = crossing(&[loose, strict.clone()], 50.0, 400.0);
        let alone = crossing(&[strict], 50.0, 400.0);
        assert!((both.0 / alone.0 - 1.0).abs() < 0.02 && (both.1 / alone.1 - 1.0).abs() < 0.02, "{both:?} {alone:?}");
    }

    #[test]
    fn lateness_that_comes_in_bursts_counts_for_less() {
        let even = Ladder { bad_share_max: 0.01, counted: vec![PromiseCounts { rate: 1.0, stretches: vec![(1000.0, 8.0); 20] }] };
        let mut bursts = even.clone();
        for (at, stretch) in bursts.counted[0].stretches.iter_mut().enumerate() {
            stretch.1 = if at % 10 < 2 { 40.0 } else { 0.0 };
        }
        assert!(design_effect(&even) < 2.0, "{}", design_effect(&even));
        assert!(design_effect(&bursts) > 15.0, "{}", design_effect(&bursts));
    }
}
