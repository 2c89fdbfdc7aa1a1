//! A run against one that was saved: did it become worse by more than is allowed, given how much runs of this load differ anyway?
//!
//! Two runs of one build differ by several percent, so the difference of two single runs proves nothing. How much runs of this load
//! differ is known from those that were saved before, if there are enough of them. Their spread is taken from the differences of
//! neighbours in time, without those that are changes and no noise, so that a build that became slower last month, or a gate that
//! failed, does not blind those after it. Without enough of them the
//! answer is that it cannot be told; a guess of the noise was rejected, since a gate that cries wolf is switched off.
//!
//! Figures are compared as logarithms, so that half as fast and twice as fast are equally far. What became worse is said with a
//! chance of error of 5 % over all figures together.

use measure::Summary;
use serde::{Deserialize, Serialize};

use crate::distribution::student_quantile;
use crate::quantity::{decimal, figure, time};
use crate::validity::{Standing, Validity};

/// Fewer runs than this tell nothing of how much runs differ.
pub const RUNS_MIN: usize = 5;
/// The chance of saying that something became worse that did not, over all figures together.
const ERROR_MAX: f64 = 0.05;
/// From one run to the next, more than so many times what is usual is a change and no noise. Of normal noise one difference in 20,000 is, and false
/// alarms over four independent figures of 5 to 20 runs stay below 3.5 % (simulated, 20,000 gates each).
const CHANGE_MEDIANS: f64 = 6.0;
/// A share of failures may always grow by this much: a tenth of a percent point.
const FAILED_ROOM: f64 = 0.001;
/// Figures of a run: throughput, three percentiles, failures.
const FIGURES: [&str; 5] = ["QPS", "p50", "p95", "p99", "failed"];

/// Whether a run became worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Surely not worse by more than is allowed.
    Within,
    /// Nobody can say.
    CannotTell,
    /// Surely worse by more than is allowed.
    Worse,
}

/// One figure of both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is.
    pub figure: String,
    /// In words: of the saved run.
    pub before: String,
    /// In words: of this run.
    pub now: String,
    /// By how much it changed: a share of what it was, or of failures a difference of shares.
    pub change: f64,
    /// Half of the interval around that, as noise between runs alone makes it; `None` where the noise is not known.
    pub noise: Option<f64>,
    /// What follows.
    pub verdict: Change,
}

/// A run held against a saved one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    /// What the saved run is called, as typed.
    pub reference: String,
    /// How much worse it may be: a share.
    pub allowed: f64,
    /// A row for each figure that both have.
    pub rows: Vec<Row>,
    /// Whether this run shows the load generator instead of the server; then nothing can be told.
    pub is_invalid: bool,
    /// Whether the saved run does; the same follows.
    pub is_reference_invalid: bool,
    /// Whether the saved run comes from a machine with another processor or another number of its cores; the same follows.
    #[serde(default)]
    pub is_other_machine: bool,
    /// How many runs the noise was taken from: of the figure that has the fewest.
    pub runs: usize,
    /// What follows from all of them.
    pub verdict: Change,
}

/// Holds a run against a saved one that is called `reference`. `earlier` are the saved runs of this load, the earliest first; `allowed`
/// is a share.
#[must_use]
pub fn against(reference: &str, now: &Summary, before: &Summary, earlier: &[&Summary], allowed: f64) -> Regression {
    let is_such = |run| Validity::of(run).standing == Standing::Invalid;
    let (is_invalid, is_reference_invalid) = (is_such(now), is_such(before));
    let is_other_machine = !now.is_from_like_machines(before);
    let (mut rows, mut runs) = (Vec::new(), earlier.len());
    for (place, name) in FIGURES.into_iter().enumerate() {
        let (Some(from), Some(to)) = (value(before, place), value(now, place)) else { continue };
        let is_share = name == "failed";
        let scale = |value: f64| if is_share { value } else { value.ln() };
        // Of throughput less is worse.
        let sign = if name == "QPS" { -1.0 } else { 1.0 };
        let difference = sign * (scale(to) - scale(from));
        let room = match name {
            "failed" => FAILED_ROOM,
            "QPS" => -(-allowed).ln_1p(),
            _ => allowed.ln_1p(),
        };
        let known: Vec<f64> = earlier.iter().filter_map(|run| value(run, place)).map(scale).collect();
        runs = runs.min(known.len());
        let spread = spread(&known);
        let verdict = match spread {
            Some((sd, freedom)) if !is_invalid && !is_reference_invalid && !is_other_machine => {
                // Both runs are single ones, each with its own chance.
                let error = sd * std::f64::consts::SQRT_2;
                if difference - student_quantile(1.0 - ERROR_MAX / FIGURES.len() as f64, freedom) * error > room {
                    Change::Worse
                } else if difference + student_quantile(1.0 - ERROR_MAX, freedom) * error <= room {
                    Change::Within
                } else {
                    Change::CannotTell
                }
            }
            _ => Change::CannotTell,
        };
        let as_share = |difference: f64| if is_share { difference } else { difference.exp_m1() };
        let noise = spread.map(|(sd, freedom)| student_quantile(0.975, freedom) * sd * std::f64::consts::SQRT_2);
        rows.push(Row {
            figure: name.to_owned(),
            before: said(place, from),
            now: said(place, to),
            change: if is_share { to - from } else { to / from - 1.0 },
            noise: noise.map(as_share),
            verdict,
        });
    }
    let verdict = rows.iter().map(|row| row.verdict).max().unwrap_or(Change::CannotTell);
    Regression { reference: reference.to_owned(), allowed, rows, is_invalid, is_reference_invalid, is_other_machine, runs, verdict }
}

fn value(run: &Summary, place: usize) -> Option<f64> {
    let quantile = |q: f64| run.response_time.known_quantile(q).map(|time| time.0 as f64).filter(|time| *time > 0.0);
    match place {
        0 => Some(run.qps_succeeded).filter(|qps| *qps > 0.0),
        1 => quantile(0.5),
        2 => quantile(0.95),
        3 => quantile(0.99),
        _ => (run.requests.due > 0).then(|| (run.requests.failed + run.requests.unsent) as f64 / run.requests.due as f64),
    }
}

fn said(place: usize, value: f64) -> String {
    match place {
        0 => format!("{}/s", figure(value)),
        4 => format!("{} %", figure(value * 100.0)),
        _ => time(value),
    }
}

/// The standard deviation between neighbours, and its degrees of freedom: two thirds of those of the usual estimate (von Neumann).
fn spread(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < RUNS_MIN {
        return None;
    }
    let mut steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    steps.sort_by(f64::total_cmp);
    let median = f64::midpoint(steps[steps.len() / 2], steps[(steps.len() - 1) / 2]);
    // A gate that failed is saved too, and must not blind the next.
    steps.retain(|step| *step <= CHANGE_MEDIANS * median);
    let kept = steps.len() as f64;
    let squares: f64 = steps.iter().map(|step| step.powi(2)).sum();
    Some(((squares / (2.0 * kept)).sqrt(), (kept * 2.0 / 3.0).floor().max(1.0)))
}

impl Regression {
    /// `WORSE than @baseline:api` for a list or a headline; `None` where it is not surely worse.
    #[must_use]
    pub fn worse(&self) -> Option<String> {
        (self.verdict == Change::Worse).then(|| format!("WORSE than {}", self.reference))
    }

    /// What came of it, in a sentence without its full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (name, allowed) = (&self.reference, figure(self.allowed * 100.0));
        match self.verdict {
            Change::Worse => format!("WORSE than {name} by more than {allowed} %"),
            Change::Within => format!("not worse than {name} by more than {allowed} %"),
            Change::CannotTell if self.is_invalid || self.is_reference_invalid => {
                let which = if self.is_invalid { "this run" } else { name };
                format!("cannot tell whether it is worse than {name} by more than {allowed} %: {which} is INVALID")
            }
            Change::CannotTell if self.is_other_machine => format!(
                "cannot tell whether it is worse than {name}: that ran on a machine with another processor or another number of cores; \
                 hold it against one that was saved on this kind"
            ),
            Change::CannotTell if self.runs < RUNS_MIN => format!(
                "cannot tell whether it is worse than {name}: {} of this load {} saved, and it takes {RUNS_MIN} to know how much runs differ; \
                 run it {} more times",
                crate::quantity::counted(self.runs as u64, "run"),
                if self.runs == 1 { "is" } else { "are" },
                RUNS_MIN - self.runs
            ),
            Change::CannotTell => {
                format!(
                    "cannot tell whether it is worse than {name} by more than {allowed} %: runs of this load differ too much; longer ones differ less"
                )
            }
        }
    }
}

impl Row {
    /// By how much it changed, and how much runs differ anyway: `+12.0 %; runs differ by ± 1.5 %`.
    #[must_use]
    pub fn change(&self) -> String {
        let unit = if self.figure == "failed" { "points" } else { "%" };
        let sign = if self.change < 0.0 { "-" } else { "+" };
        let noise = self.noise.map_or_else(String::new, |noise| format!("; runs differ by ± {} {unit}", decimal(noise * 100.0, 1)));
        format!("{sign}{} {unit}{noise}", decimal(self.change.abs() * 100.0, 1))
    }

    /// What follows, in a word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self.verdict {
            Change::Worse => "WORSE",
            Change::Within => "within",
            Change::CannotTell => "cannot tell",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Histogram, fixtures};
    use plan::{Nanos, Random};

    /// A run of this throughput whose requests all took as long as that makes them.
    fn run(qps: f64) -> Summary {
        let mut run = fixtures::summaries().swap_remove(0).1;
        run.edit_for_test().timeline.clear();
        let mut times = Histogram::new();
        (0..1_100).for_each(|_| times.record(Nanos((1e10 / qps) as u64)));
        let record = run.edit_for_test();
        (record.qps, record.qps_succeeded, record.response_time) = (qps, qps, times);
        let record = run.edit_for_test();
        (record.requests.due, record.requests.succeeded, record.requests.failed, record.requests.unsent) = (2_000, 2_000, 0, 0);
        run
    }

    fn runs(count: usize, noise: f64, seed: u64) -> Vec<Summary> {
        let mut random = Random::new(seed, 1);
        (0..count).map(|_| run(1_000.0 * (noise * normal(&mut random)).exp())).collect()
    }

    fn normal(random: &mut Random) -> f64 {
        crate::distribution::normal_quantile(random.unit().clamp(1e-12, 1.0 - 1e-12))
    }

    fn changed(now: &Summary, earlier: &[Summary], allowed: f64) -> Change {
        against("@baseline", now, &earlier[0], &earlier.iter().collect::<Vec<_>>(), allowed).verdict
    }

    #[test]
    fn too_few_runs_say_nothing_and_how_many_are_wanted() {
        let earlier = runs(3, 0.01, 1);
        let judged = against("@baseline", &run(500.0), &earlier[0], &earlier.iter().collect::<Vec<_>>(), 0.05);
        assert_eq!(judged.verdict, Change::CannotTell);
        assert!(judged.sentence().ends_with("run it 2 more times"), "{}", judged.sentence());
    }

    #[test]
    fn half_as_fast_is_worse_and_the_same_is_not() {
        let earlier = runs(8, 0.005, 2);
        assert_eq!(changed(&run(500.0), &earlier, 0.05), Change::Worse);
        assert_eq!(changed(&run(1_000.0), &earlier, 0.05), Change::Within);
        assert_eq!(changed(&run(2_000.0), &earlier, 0.05), Change::Within);
        let mut failing = run(1_000.0);
        let record = failing.edit_for_test();
        (record.requests.succeeded, record.requests.failed) = (1_900, 100);
        assert_eq!(changed(&failing, &earlier, 0.05), Change::Worse);
    }

    #[test]
    fn an_invalid_run_or_another_machine_tells_nothing() {
        let earlier = runs(8, 0.005, 2);
        let mut stopped = run(500.0);
        let whole = Nanos((stopped.duration_s * 1e9) as u64);
        stopped.edit_for_test().generator.gaps.record(whole);
        let judged = against("@baseline", &stopped, &earlier[0], &earlier.iter().collect::<Vec<_>>(), 0.05);
        assert_eq!(judged.verdict, Change::CannotTell);
        assert!(judged.sentence().ends_with("this run is INVALID"), "{}", judged.sentence());
        let judged = against("@baseline", &run(500.0), &stopped, &earlier.iter().collect::<Vec<_>>(), 0.05);
        assert_eq!(judged.verdict, Change::CannotTell);
        assert!(judged.sentence().ends_with("@baseline is INVALID"), "{}", judged.sentence());
        let mut elsewhere = run(500.0);
        elsewhere.edit_for_test().machine.cores += 1;
        let judged = against("@baseline", &elsewhere, &earlier[0], &earlier.iter().collect::<Vec<_>>(), 0.05);
        assert_eq!(judged.verdict, Change::CannotTell);
        assert!(judged.sentence().contains("another number of cores"), "{}", judged.sentence());
        let mut from_two = run(500.0);
        let own = from_two.machine.clone();
        let site = |name: &str| measure::SiteRow { machine: Some(own.clone()), ..fixtures::other_machine(name) };
        from_two.edit_for_test().sites = vec![site("a"), site("b")];
        assert!(against("@baseline", &from_two, &earlier[0], &[], 0.05).is_other_machine);
        from_two.edit_for_test().sites = vec![site("a")];
        assert!(!against("@baseline", &from_two, &earlier[0], &[], 0.05).is_other_machine);
    }

    #[test]
    fn a_step_in_the_past_is_not_noise_for_ever() {
        let mut earlier = runs(10, 0.005, 3);
        earlier.extend((0..10).map(|_| run(800.0)));
        let now = run(500.0);
        let judged = against("@baseline", &now, &earlier[19], &earlier.iter().collect::<Vec<_>>(), 0.05);
        assert_eq!(judged.verdict, Change::Worse, "{judged:?}");
    }

    #[test]
    fn a_gate_that_failed_does_not_blind_the_next() {
        let mut earlier = runs(9, 0.005, 4);
        earlier.insert(5, run(500.0));
        assert_eq!(changed(&run(1_000.0), &earlier, 0.05), Change::Within);
        assert_eq!(changed(&run(800.0), &earlier, 0.05), Change::Worse);
    }

    #[test]
    fn what_did_not_change_is_seldom_called_worse() {
        // 400 gates of runs that differ by 3 %, nothing allowed: at most 5 % may be wrong, and five standard deviations of that.
        let wrong = (0..400u64)
            .filter(|seed| {
                let all = runs(9, 0.03, 100 + seed);
                changed(&all[8], &all[..8], 0.0) == Change::Worse
            })
            .count() as f64;
        assert!(wrong <= 400.0 * 0.05 + 5.0 * (400.0f64 * 0.05 * 0.95).sqrt(), "{wrong} of 400");
    }
}
