//! How far chance could have moved the answer of a search.
//!
//! The two bounds of a search say which loads passed and which failed, not how easily the same loads would have failed and
//! passed tomorrow. At 27 requests a second, ten seconds hold three answers beyond a 99th percentile, and three could as
//! well have been one or seven. So every measured share of bad requests is drawn again from what its count allows, a
//! thousand times over, and the crossing of the promise is read off each time.
//!
//! Requests do not fail one by one: a queue makes neighbours late together. A count is therefore divided by the design
//! effect, how much wider seconds scatter than independent requests would. And since no server gets better with more
//! load in the long run, each redrawn ladder is made monotone first (pool adjacent violators); fitting a curve instead
//! would be surer than the data, because a rate limiter and a queue break in quite different ways.

use plan::Random;

/// What full-length trials at one rate counted, for one promise.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counted {
    pub rate: f64,
    /// Due and bad requests of each stretch of equal length; one stretch per trial if the caller counted no finer.
    pub stretches: Vec<(f64, f64)>,
}

/// One promise over all rates tried, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ladder {
    pub bad_share_max: f64,
    pub counted: Vec<Counted>,
}

/// How often the crossing is drawn: the 2.5 % ends then rest on 25 draws each.
const DRAWS: usize = 1_000;
/// The share left out on either side: 95 % remain.
const TAIL: f64 = 0.025;

/// Between which of the rates tried the promises stop being kept, with 95 % confidence: the greatest rate below and the
/// smallest above. `None` on a side where no rate tried was far enough.
pub(super) fn crossing(ladders: &[Ladder], random: &mut Random) -> (Option<f64>, Option<f64>) {
    let Some(rates) = ladders.first().map(|ladder| ladder.counted.iter().map(|it| it.rate).collect::<Vec<_>>()) else {
        return (None, None);
    };
    let effects: Vec<f64> = ladders.iter().map(design_effect).collect();
    // The number of rates that keep every promise, in each draw.
    let mut kept: Vec<usize> = (0..DRAWS)
        .map(|_| ladders.iter().zip(&effects).map(|(ladder, effect)| kept_once(ladder, *effect, random)).min().unwrap_or(0))
        .collect();
    kept.sort_unstable();
    let low = kept[(DRAWS as f64 * TAIL) as usize];
    let high = kept[DRAWS - 1 - (DRAWS as f64 * TAIL) as usize];
    (low.checked_sub(1).map(|at| rates[at]), rates.get(high).copied())
}

/// How many rates, from the smallest up, keep the promise in one redrawn ladder.
fn kept_once(ladder: &Ladder, effect: f64, random: &mut Random) -> usize {
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(ladder.counted.len());
    for counted in &ladder.counted {
        let (due, bad) = counted.stretches.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        let (due, bad) = (due / effect, bad / effect);
        // Jeffreys: the posterior of a share whose count is zero is not zero.
        let share = beta(bad + 0.5, due - bad + 0.5, random);
        pools.push((share, due.max(1.0), 1));
        while let [.., (before, before_weight, before_count), (last, weight, count)] = pools[..]
            && before > last
        {
            pools.truncate(pools.len() - 2);
            let sum = before_weight + weight;
            pools.push(((before * before_weight + last * weight) / sum, sum, before_count + count));
        }
    }
    pools.iter().take_while(|pool| pool.0 <= ladder.bad_share_max).map(|pool| pool.2).sum()
}

/// Pearson's dispersion of bad requests over stretches, the greater of single and doubled stretches: lateness that lasts
/// longer than a stretch shows only in the doubled ones. Rates far beyond the promise are left out, since a queue that
/// grows through a trial is no scatter.
fn design_effect(ladder: &Ladder) -> f64 {
    let dispersion = |merged: usize| {
        let (mut scatter, mut freedom) = (0.0, 0.0);
        for counted in &ladder.counted {
            let stretches: Vec<(f64, f64)> = counted
                .stretches
                .chunks_exact(merged)
                .map(|them| them.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1)))
                .collect();
            let due: f64 = stretches.iter().map(|it| it.0).sum();
            let share = stretches.iter().map(|it| it.1).sum::<f64>() / due.max(1.0);
            if stretches.len() < 3 || share <= 0.0 || share > FAR_BEYOND * ladder.bad_share_max {
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
    dispersion(1).max(dispersion(2)).max(1.0)
}

/// Beyond so many times the allowed share a trial shows collapse, not chance.
const FAR_BEYOND: f64 = 10.0;

/// Beta(a, b) as X/(X + Y) of two gamma variables.
fn beta(a: f64, b: f64, random: &mut Random) -> f64 {
    let (x, y) = (gamma(a, random), gamma(b, random));
    x / (x + y)
}

/// Gamma with shape `a` and scale 1: Marsaglia and Tsang (2000), with their boost below 1.
fn gamma(a: f64, random: &mut Random) -> f64 {
    if a < 1.0 {
        let boost = (1.0 - random.unit()).powf(1.0 / a);
        return gamma(a + 1.0, random) * boost;
    }
    let d = a - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && (1.0 - random.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// Standard normal: Box and Muller (1958).
pub(crate) fn normal(random: &mut Random) -> f64 {
    (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(shares: &[(f64, f64)], due: f64) -> Ladder {
        let counted = shares.iter().map(|&(rate, share)| Counted { rate, stretches: vec![(due, due * share)] }).collect();
        Ladder { bad_share_max: 0.01, counted }
    }

    #[test]
    fn many_requests_leave_the_crossing_where_it_was_seen() {
        let seen = ladder(&[(100.0, 0.002), (110.0, 0.006), (120.0, 0.03)], 1e5);
        assert_eq!(crossing(&[seen], &mut Random::new(1, 0)), (Some(110.0), Some(120.0)));
    }

    #[test]
    fn few_requests_leave_it_open() {
        let seen = ladder(&[(10.0, 0.0), (100.0, 0.006), (110.0, 0.012), (200.0, 0.5)], 300.0);
        assert_eq!(crossing(&[seen], &mut Random::new(1, 0)), (Some(10.0), Some(200.0)), "1.8 bad of 300 may be 5 tomorrow, 3.6 may be 2");
    }

    #[test]
    fn the_strictest_promise_decides() {
        let (loose, strict) = (ladder(&[(100.0, 0.0), (200.0, 0.0)], 1e5), ladder(&[(100.0, 0.0), (200.0, 0.2)], 1e5));
        assert_eq!(crossing(&[loose, strict], &mut Random::new(1, 0)), (Some(100.0), Some(200.0)));
    }

    #[test]
    fn lateness_that_comes_in_bursts_counts_for_less() {
        let even = Ladder { bad_share_max: 0.01, counted: vec![Counted { rate: 1.0, stretches: vec![(1000.0, 8.0); 20] }] };
        let mut bursts = even.clone();
        for (at, stretch) in bursts.counted[0].stretches.iter_mut().enumerate() {
            stretch.1 = if at % 10 < 2 { 40.0 } else { 0.0 };
        }
        assert_eq!(design_effect(&even), 1.0);
        assert!(design_effect(&bursts) > 30.0, "{}", design_effect(&bursts));
    }

    #[test]
    fn beta_has_its_mean() {
        let mut random = Random::new(3, 0);
        for (a, b) in [(0.5, 20.0), (5.0, 5.0), (300.0, 30_000.0)] {
            let mean = (0..20_000).map(|_| beta(a, b, &mut random)).sum::<f64>() / 20_000.0;
            assert!((mean / (a / (a + b)) - 1.0).abs() < 0.05, "{a} {b}: {mean}");
        }
    }
}
