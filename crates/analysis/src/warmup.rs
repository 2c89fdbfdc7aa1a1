//! Where the warm-up of a run ends, found in the run itself.
//!
//! A fixed warm-up is too short for a JIT compiler and too long for a static file. MSER (White 1997) cuts where what is left
//! has the least standard error: the k that minimises Σ_{j>k}(Y_j − Ȳ_k)²/(n−k)², over throughput, log p50 and log p99; the
//! latest of the three counts. A minimum in the second half means that the run never became steady.
//!
//! MSER alone takes any disturbance for warm-up: a server that stands still in the eighth of twenty seconds would have its
//! first nine cut away, and the stall with them. So a cut must begin at the beginning: it ends, at the latest, when points
//! in a row are like the steady part. A run that starts out like its steady part has no warm-up, whatever happens later.

use measure::SummaryBuilder;
use plan::Nanos;

use crate::drift::{mann_kendall, theil_sen};
use crate::interval::{Slice, slices};
use crate::quantity::length;

/// Points in a batch, where there are enough (docs/measurement.md §1.8).
const BATCH: usize = 5;
/// From so many points on there are (docs/measurement.md §1.8: 50 s of seconds).
const BATCHED_FROM: usize = 50;
/// With fewer points than this nothing can be said.
const POINTS_MIN: usize = 10;
/// The last few batches alone have a small error by chance (Hoad, Robinson and Davies 2010 leave out five): so many, and a
/// quarter of all, have to remain.
const REST_MIN: usize = 5;
/// A point like the steady part, and among three with it at least one more: one alone may be chance, and so may one that is not.
const ALIKE: usize = 3;
const ALIKE_MIN: usize = 2;
/// Like the steady part is within two and a half deviations of its median, or within 1 %.
const DEVIATIONS: f64 = 2.5;
const ALIKE_SHARE: f64 = 0.01;
/// A trend is beyond chance below this (docs/measurement.md §1.8).
const TREND_CHANCE_MAX: f64 = 0.01;

pub use measure::{Series, WarmUp};

/// Leaves out the warm-up of a run whose plan asks to find it, and keeps in the run what was found. Of any other run nothing
/// changes.
pub fn leave_out(run: &mut SummaryBuilder) {
    if run.plan.finds_warmup() {
        let found = slices(run).map_or(WarmUp::TooShort, |slices| warmup(&slices));
        run.leave_out(found);
    }
}

/// What was found, in words that say what was left out and why; begins with a small letter, ends without a full stop.
#[must_use]
pub fn in_words(found: WarmUp) -> String {
    let about = |series: Series| match series {
        Series::Throughput => "throughput",
        Series::P50 => "the median",
        Series::P99 => "p99",
    };
    match found {
        WarmUp::Until { at: Nanos::ZERO, .. } => "none was found, and nothing left out: the run was steady from the start".to_owned(),
        WarmUp::Until { at, series } => {
            format!("found by where the run becomes steady: {} was last to, at {}", about(series), length(at))
        }
        WarmUp::TooLate { at, series } => format!(
            "{} became steady only at {}, and no more than ten minutes can be left out afterwards: nothing was; give --warmup {at}",
            about(series),
            length(at)
        ),
        WarmUp::NoSteadyState { series } => format!(
            "no steady state was reached: {} had not settled by half of the run, and more than half is never left out: nothing was; run \
             longer",
            about(series)
        ),
        WarmUp::TooShort => {
            format!("the run has fewer than {POINTS_MIN} intervals, too few to find a warm-up: nothing was left out; run longer")
        }
    }
}

/// Finds the end of the warm-up in a run's slices.
#[must_use]
pub fn warmup(slices: &[Slice]) -> WarmUp {
    if slices.len() < POINTS_MIN {
        return WarmUp::TooShort;
    }
    let mut latest = (0, Series::Throughput);
    for series in [Series::Throughput, Series::P50, Series::P99] {
        let (points, alike) = match series {
            Series::Throughput => {
                let points = throughput(slices);
                let centre = median(&points);
                (points, ALIKE_SHARE * centre)
            }
            Series::P50 => (log_quantiles(slices, 0.5), ALIKE_SHARE),
            Series::P99 => (log_quantiles(slices, 0.99), ALIKE_SHARE),
        };
        match steady_from(&points, alike) {
            None => return WarmUp::NoSteadyState { series },
            Some(from) if from > latest.0 => latest = (from, series),
            Some(_) => {}
        }
    }
    WarmUp::Until { at: slices[latest.0].from, series: latest.1 }
}

/// The first point of the steady part; `None` if there is none. Points no further apart than `alike` do not differ, however
/// little they vary besides.
#[must_use]
pub(crate) fn steady_from(points: &[f64], alike: f64) -> Option<usize> {
    let batch = if points.len() >= BATCHED_FROM { BATCH } else { 1 };
    let batches: Vec<f64> = points.chunks_exact(batch).map(|chunk| chunk.iter().sum::<f64>() / batch as f64).collect();
    let cut = mser(&batches) * batch;
    let centre = median(&points[cut..]);
    let deviation = 1.4826 * median(&points[cut..].iter().map(|y| (y - centre).abs()).collect::<Vec<_>>());
    let reach = (DEVIATIONS * deviation).max(alike);
    let from = first_alike(points, centre, reach).map_or(cut, |warm| warm.min(cut));
    // With the least error in the second half, an earlier beginning is steady only if it leads nowhere: one side of a slope
    // looks like the other if it is long enough.
    let rest = &points[from..];
    let leads_away = cut > points.len() / 2 && (theil_sen(rest) * rest.len() as f64).abs() > reach && mann_kendall(rest) < TREND_CHANCE_MAX;
    (from <= points.len() / 2 && !leads_away).then_some(from)
}

/// The number of points to cut off so that the standard error of the rest is least.
fn mser(points: &[f64]) -> usize {
    let count = points.len();
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    let rest_min = REST_MIN.max(count / 4);
    // From the end, each k adds one point to the rest. Centred, so that the squares do not cancel.
    let centre = points.iter().sum::<f64>() / count.max(1) as f64;
    for k in (0..count).rev() {
        let y = points[k] - centre;
        sum += y;
        squares += y * y;
        let rest = (count - k) as f64;
        let error = (squares - sum * sum / rest).max(0.0) / (rest * rest);
        // Of equals the earliest cut counts.
        if count - k >= rest_min && error <= best.0 {
            best = (error, k);
        }
    }
    best.1
}

/// The first point that, with the next ones, is within `reach` of `centre`.
fn first_alike(points: &[f64], centre: f64, reach: f64) -> Option<usize> {
    let alike = |y: &f64| (y - centre).abs() <= reach;
    points.windows(ALIKE).position(|next| alike(&next[0]) && next.iter().filter(|y| alike(y)).count() >= ALIKE_MIN)
}

/// Answers a second in each slice.
pub(crate) fn throughput(slices: &[Slice]) -> Vec<f64> {
    slices.iter().map(|slice| if slice.seconds > 0.0 { slice.answered as f64 / slice.seconds } else { 0.0 }).collect()
}

/// The logarithm of the quantile in each slice; where nothing was measured, that of the slice before.
pub(crate) fn log_quantiles(slices: &[Slice], q: f64) -> Vec<f64> {
    let measured: Vec<Option<f64>> = slices.iter().map(|slice| slice.times.quantile(q).map(|time| (time.0.max(1) as f64).ln())).collect();
    let mut last = measured.iter().flatten().next().copied().unwrap_or(0.0);
    measured
        .into_iter()
        .map(|log| {
            last = log.unwrap_or(last);
            last
        })
        .collect()
}

/// The middle value, or between the two middle ones; 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    if values.is_empty() {
        return 0.0;
    }
    let even = values.len().is_multiple_of(2);
    let at = values.len() / 2;
    let (below, high, _) = values.select_nth_unstable_by(at, f64::total_cmp);
    let high = *high;
    if even { f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), high) } else { high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{normal, sliced};
    use measure::{Collector, End, Ending, Outcome, Recorder, Snapshot, SourceId, Span, fixtures};
    use plan::Random;

    /// 1,000 and noise of 2 %, with `of` added at each second.
    fn noisy(seconds: usize, seed: u64, of: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = Random::new(seed, 0);
        (0..seconds).map(|second| 1_000.0 + 20.0 * normal(&mut random) + of(second as f64)).collect()
    }

    #[test]
    fn the_cut_is_where_the_rest_has_the_least_error() {
        assert_eq!(mser(&[9.0, 8.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]), 2);
        assert_eq!(mser(&[5.0; 8]), 0);
        assert_eq!(mser(&[]), 0);
    }

    #[test]
    fn a_cold_start_is_cut_and_a_steady_run_is_not() {
        for seed in 0..50 {
            let cold = steady_from(&noisy(120, seed, |second| -600.0 * (-second / 6.0).exp()), 10.0).unwrap();
            assert!((10..=40).contains(&cold), "{seed}: {cold}");
            let steady = steady_from(&noisy(120, seed, |_| 0.0), 10.0).unwrap();
            assert!(steady <= 5, "{seed}: {steady}");
            let short = steady_from(&noisy(30, seed, |second| if second < 4.0 { -700.0 } else { 0.0 }), 10.0);
            assert!((4..=7).contains(&short.unwrap()), "{seed}: {short:?}");
        }
    }

    #[test]
    fn a_run_that_never_settles_says_so() {
        let mut never = 0;
        for seed in 0..50 {
            never += usize::from(steady_from(&noisy(100, seed, |second| 20.0 * second), 10.0).is_none());
        }
        assert_eq!(never, 50);
    }

    #[test]
    fn a_stall_is_not_taken_for_warm_up_wherever_it_is() {
        for at in 5..55 {
            let stalled = noisy(60, 7, |second| if second as usize == at { -1_000.0 } else { 0.0 });
            assert!(steady_from(&stalled, 10.0).unwrap() <= 3, "a stall at {at} s cuts {:?}", steady_from(&stalled, 10.0));
        }
        // The fixture stands still in its ninth second of twenty.
        let run = fixtures::summaries().into_iter().find(|(name, _)| *name == "open_with_a_stall").unwrap().1;
        let WarmUp::Until { at, .. } = warmup(&slices(&run).unwrap()) else { panic!() };
        assert!(at <= Nanos::from_secs(2), "{at}");
    }

    #[test]
    fn the_slowest_series_decides() {
        // Throughput is steady at once; the times start five times as long and settle after 12 s.
        let run = sliced(60, 200, 3, |second| if second < 12 { 5.0 } else { 1.0 });
        let WarmUp::Until { at, series } = warmup(&run) else { panic!() };
        assert!((12..=15).contains(&(at.0 / 1_000_000_000)), "{at}");
        assert_ne!(series, Series::Throughput);
        let growing = sliced(60, 200, 3, |second| 1.03f64.powi(second as i32));
        assert_eq!(warmup(&growing), WarmUp::NoSteadyState { series: Series::P50 });
    }

    /// A run of 30 s at 50/s, measured with `--warmup auto`, whose answers take 2 ms at first and `factor` times as long until
    /// `cold` seconds are over.
    fn measured(cold: u64, factor: u64) -> SummaryBuilder {
        let draft = plan::Draft {
            url: Some("http://a.test/".to_owned()),
            duration: "30s".parse().ok(),
            warmup: "auto".parse().ok(),
            ..plan::Draft::default()
        };
        let mut collector = Collector::new(plan::Plan::try_from(draft).unwrap(), 1, Nanos::SECOND);
        let mut recorder = Recorder::new(Span { from: Nanos::ZERO, until: Nanos::from_secs(30) });
        let mut random = Random::new(5, 0);
        for second in 0..30u64 {
            for k in 0..50u64 {
                let due = Nanos(second * 1_000_000_000 + k * 18_000_000);
                let took = 2_000_000 * if second < cold { factor } else { 1 } + (random.unit() * 400_000.0) as u64;
                let done = due.plus(Nanos(took));
                recorder.due(due);
                recorder.record(&Outcome {
                    due,
                    ready: due,
                    sent: due,
                    first_byte: done,
                    done,
                    bytes_out: 9,
                    bytes_in: 9,
                    result: Ok(200),
                });
            }
            collector.absorb(SourceId(0), recorder.swap(Snapshot::empty(second as u32 + 1)));
            while collector.tick().is_some() {}
        }
        let end = Nanos::from_secs(30);
        collector.finish(End { how: Ending::Finished, load_until: end, drained_at: end }).0
    }

    #[test]
    fn a_slow_start_is_in_no_figure_once_it_is_left_out() {
        let mut run = measured(5, 8);
        assert!(run.response_time.quantile(0.99).unwrap() > Nanos::from_millis(15));
        leave_out(&mut run);
        let Some(WarmUp::Until { at, .. }) = run.excluded.found else { panic!("{:?}", run.excluded) };
        assert!((5..=7).contains(&(at.0 / 1_000_000_000)), "{at}");
        assert!(run.response_time.max().unwrap() < Nanos::from_millis(3), "{:?}", run.response_time);
        assert_eq!((run.requests.due + run.excluded.requests, run.requests.succeeded), (1_500, run.requests.due));
        assert!((run.qps - 50.0).abs() < 0.5, "{}", run.qps);
        assert!(in_words(WarmUp::Until { at, series: Series::P50 }).contains("the median was last to, at "));
        let decided = run.clone();
        leave_out(&mut run);
        assert_eq!(run, decided);
    }

    #[test]
    fn more_than_half_is_never_left_out() {
        let mut run = measured(20, 8);
        leave_out(&mut run);
        match run.excluded.found {
            Some(WarmUp::Until { at, .. }) => assert!(at <= Nanos::from_secs(15), "{at}"),
            Some(found @ WarmUp::NoSteadyState { .. }) => {
                assert_eq!((run.requests.due, run.excluded.requests), (1_500, 0));
                assert!(in_words(found).starts_with("no steady state was reached"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn few_intervals_say_nothing() {
        assert_eq!(warmup(&sliced(9, 50, 3, |_| 1.0)), WarmUp::TooShort);
        assert_eq!(warmup(&[]), WarmUp::TooShort);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!((median(&[4.0, 1.0, 3.0, 2.0]), median(&[3.0, 1.0, 2.0]), median(&[])), (2.5, 2.0, 0.0));
    }
}
