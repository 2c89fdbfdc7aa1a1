//! A finished run with everything that follows from it: how far to trust it, how sure its figures are, whether it stayed what
//! it was, and whether promises were kept.
//!
//! Intervals take thousands of draws, and a run is written in several formats. So all is found once, here, and formats only
//! word it. Nothing of it is kept in the Summary: it can be found again from the same Summary, and better by a later version.
//!
//! Invariant: the same Summary and the same checks give the same reading, drawn by the plan's own seed.

use measure::Summary;
use plan::{Load, Nanos, Random};

use crate::answers;
use crate::bottleneck::{self, Between, Finding};
use crate::drift::{self, Drift, Stability};
use crate::freezes::freezes;
use crate::gate::{self, AbortRule, Check, Judgement, Regression, Verdict, Why};
use crate::interval::{self, REPLICATES, Uncertainty};
use crate::littles_law::{self, LittlesLaw};
use crate::peaks::{self, Peak};
use crate::quantity::{figure, length, percent, time};
use crate::sites;
use crate::validity::{Standing, Validity};
use crate::warmup::{self, WarmUp};

/// The stream of chance that draws a run again; those below are the workers'.
const STREAM: u64 = u64::MAX;

/// A smaller change of the median is not worth a sentence, as a smaller drift is not (docs/measurement.md §1.8).
const CHANGE_WORTH_SAYING: f64 = 0.05;

/// A run and what follows from it.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    /// The run.
    pub run: &'a Summary,
    /// How far its figures are the server's.
    pub validity: Validity,
    /// The 95 % intervals; `None` where the run's intervals cannot be read.
    pub uncertainty: Option<Uncertainty>,
    /// Drift and changes; `None` where they would be the timetable's.
    pub stability: Option<Stability>,
    /// Where the warm-up ends, as the run shows it; what was already left out is not looked at.
    pub warmup: Option<WarmUp>,
    /// The peaks of the service time.
    pub peaks: Vec<Peak>,
    /// Requests under way against rate and times; `None` where some of them have no time.
    pub littles_law: Option<LittlesLaw>,
    /// By how many requests a second the backlog grew, if it did.
    pub backlog_growth: Option<f64>,
    /// Every check and whether it held. Of a run that is not valid, none is judged.
    pub checks: Vec<Judgement>,
    /// What limits the server, the strongest Finding first; empty where nothing can be said.
    pub bottleneck: Vec<Finding>,
    /// The condition that ended the run early.
    pub aborted_by: Option<AbortRule>,
    /// What came of holding it against a saved run.
    pub against: Option<Regression>,
}

impl<'a> Reading<'a> {
    /// Reads a run and holds the checks against it.
    #[must_use]
    pub fn new(run: &'a Summary, checks: &[Check]) -> Self {
        let slices = interval::slices(run).ok();
        let validity = Validity::of(run);
        let even = match run.plan.load() {
            // How another tool made its load is not known.
            _ if run.measured_by.is_some() => false,
            Load::Closed { users, .. } => users.is_constant(),
            // A log has its own course.
            Load::Open { .. } if run.plan.replay().is_some() => false,
            Load::Open { timetable, .. } => timetable.is_constant(),
            Load::Mixed(populations) => {
                let run_length = run.plan.duration().unwrap_or(Nanos::NEVER);
                populations.iter().all(|population| population.is_constant(run_length))
            }
        };
        // With users that come and go, the whole run's figure is a mean over different loads: how sure it is cannot be told.
        let one_load = even || matches!(run.plan.load(), Load::Open { .. });
        let course = slices.as_deref().filter(|_| even);
        let open = run.qps_offered.is_some();
        Self {
            uncertainty: slices
                .as_deref()
                .filter(|_| one_load)
                .map(|slices| interval::uncertainty(slices, REPLICATES, &mut Random::new(run.plan.seed(), STREAM))),
            stability: course.map(drift::stability),
            warmup: course.map(warmup::warmup),
            // Whole milliseconds have a peak at each of them.
            peaks: if run.measured_by.is_some() { Vec::new() } else { peaks::peaks(&run.service_time) },
            littles_law: littles_law::of_run(run),
            backlog_growth: if open && even { littles_law::backlog_growth(&run.timeline, run.ended.load_until) } else { None },
            checks: judged(run, checks, validity.standing),
            bottleneck: bottleneck::of_run(run),
            aborted_by: None,
            against: None,
            validity,
            run,
        }
    }

    /// As ended early by this rule.
    #[must_use]
    pub fn aborted_by(mut self, rule: Option<AbortRule>) -> Self {
        self.aborted_by = rule;
        self
    }

    /// As held against a saved run.
    #[must_use]
    pub fn against(mut self, ruling: Option<Regression>) -> Self {
        self.against = ruling;
        self
    }

    /// What the course of the run and the shape of its times show, one sentence each.
    #[must_use]
    pub fn noticed(&self) -> Vec<String> {
        let mut said: Vec<String> = elsewhere(self.run).into_iter().collect();
        said.extend(answers::sentences(self.run));
        said.extend(sites::sentences(self.run));
        said.extend(self.backlog());
        if let Some(few) = self.uncertainty.as_ref().and_then(|uncertainty| uncertainty.too_narrow) {
            said.push(format!(
                "± is too narrow: neighbouring intervals resemble each other (correlation {}), so they count as only {} independent ones. \
                 Run about {} longer",
                percent((few.neighbours * 100.0).round() / 100.0),
                figure(few.stretches.round().max(1.0)),
                length(Nanos::from_secs(few.more_seconds.ceil() as u64))
            ));
        }
        said.extend(Between::of(self.run).noticed());
        said.extend(self.unlike());
        // Answers that waited in a freeze are told with it. A peak that looks like nothing known leaves a reader nothing to do; charts show it.
        let frozen = freezes(self.run);
        let freezing = |peak: &&Peak| frozen.is_some_and(|frozen| peak.at.as_secs_f64() >= frozen.lasting_s / 2.0);
        said.extend(self.peaks.iter().filter(|peak| peak.signature.is_some() && !freezing(peak)).map(ToString::to_string));
        said
    }

    /// Of what is noticed, in which parts the run was not the same throughout.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        self.backlog().into_iter().chain(self.unlike()).collect()
    }

    fn backlog(&self) -> Option<String> {
        self.backlog_growth.map(|growth| {
            format!(
                "the queue grew by {} requests a second: the server does not keep up with this rate, so these times grow with the length \
                 of the run",
                figure(growth)
            )
        })
    }

    /// Freezes, a beginning unlike the rest, and times or throughput that drifted or jumped.
    fn unlike(&self) -> Vec<String> {
        let frozen = freezes(self.run);
        let mut said: Vec<String> = frozen.iter().map(ToString::to_string).collect();
        // Where the warm-up was to be found, that is said with the warm-up; a freeze at the beginning is none.
        if let Some(WarmUp::Until { at, .. }) = self.warmup.filter(|_| self.run.excluded.found.is_none() && frozen.is_none())
            && let Some(first) = self.run.timeline.iter().find(|tick| !tick.warmup)
            && at > first.from
        {
            said.push(format!(
                "the first {} differ from the rest (warm-up?): leave them out with --warmup {at}",
                length(at.since(first.from))
            ));
        }
        if let Some(stability) = &self.stability {
            said.extend(course(stability, self.run.qps_offered.is_none()));
        }
        said
    }
}

/// What the figures of another tool do not tell.
fn elsewhere(run: &Summary) -> Option<String> {
    let tool = run.measured_by.as_ref()?;
    Some(format!(
        "measured by {tool}, and read from its files: times are service times in whole milliseconds, from when {tool} sent a request. How long \
         a request waited for a busy user before it was sent is not in them (coordinated omission), so what users felt may be longer. Whether \
         {tool} itself was the limit is not in them either"
    ))
}

/// Holds the checks against a run; by one that is not valid, none is judged.
pub(crate) fn judged(run: &Summary, checks: &[Check], standing: Standing) -> Vec<Judgement> {
    let mut judgements = gate::judge(checks, run);
    if standing == Standing::Invalid {
        judgements.iter_mut().for_each(|judgement| judgement.verdict = Verdict::NotJudgeable { why: Why::Invalid });
    }
    judgements
}

fn course(stability: &Stability, closed: bool) -> Vec<String> {
    let mut said = Vec::new();
    let drifting = |drift: Option<Drift>| drift.filter(|drift| drift.drifting);
    let grew = |name: &str, drift: Drift, shown: &dyn Fn(f64) -> String| {
        let verb = if drift.change > 0.0 { "grew" } else { "fell" };
        format!("{name} {verb} {} % over the run, from {} to {}", whole(drift.change), shown(drift.from), shown(drift.to))
    };
    // A slope is cut into steps where only steps are looked for, and a step has a slope: several steps one way are a slope.
    let steps = &stability.changes;
    let stairs = steps.len() > 1 && (steps.iter().all(|step| step.change > 0.0) || steps.iter().all(|step| step.change < 0.0));
    if steps.is_empty() || (stairs && drifting(stability.p50).is_some()) {
        for (name, drift) in [("p50", stability.p50), ("p99", stability.p99)] {
            said.extend(drifting(drift).map(|drift| grew(name, drift, &time)));
        }
        let rate = |rate| format!("{}/s", figure(rate));
        said.extend(drifting(stability.throughput).filter(|_| closed).map(|drift| grew("throughput", drift, &rate)));
        return said;
    }
    for change in steps.iter().filter(|step| step.change.abs() >= CHANGE_WORTH_SAYING) {
        let verb = if change.change > 0.0 { "rose" } else { "fell" };
        said.push(format!(
            "p50 {verb} by {} % at {}, from {} to {}",
            whole(change.change),
            length(change.at),
            time(change.before.0 as f64),
            time(change.after.0 as f64)
        ));
    }
    said
}

fn whole(change: f64) -> String {
    percent((change.abs() * 100.0).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::ticks;
    use measure::{Histogram, fixtures};

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    #[test]
    fn the_same_run_is_read_the_same() {
        for (name, run) in fixtures::summaries() {
            let checks = ["p99 < 10ms".parse().unwrap()];
            let (once, again) = (Reading::new(&run, &checks), Reading::new(&run, &checks));
            assert_eq!((once.uncertainty, once.checks, once.peaks), (again.uncertainty, again.checks, again.peaks), "{name}");
        }
    }

    #[test]
    fn requests_under_way_agree_with_rate_and_times_in_every_fixture() {
        for (name, run) in fixtures::summaries() {
            if let Some(law) = Reading::new(&run, &[]).littles_law {
                assert!(law.holds, "{name}: {law:?}");
            }
        }
        assert!(Reading::new(&fixture("closed_all_well"), &[]).littles_law.is_some());
        assert_eq!(Reading::new(&fixture("failures_of_every_side"), &[]).littles_law, None);
    }

    #[test]
    fn of_another_tool_s_run_nothing_is_claimed_that_its_file_does_not_hold() {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().status = [(200, 60_000), (302, 60_000)].into();
        let own = Reading::new(&run, &[]);
        assert!(own.littles_law.is_some() && own.stability.is_some() && own.noticed().iter().any(|said| said.contains("redirects")));
        run.edit_for_test().measured_by = Some("JMeter".to_owned());
        let reading = Reading::new(&run, &[]);
        assert!(reading.littles_law.is_none() && reading.stability.is_none() && reading.warmup.is_none() && reading.uncertainty.is_none());
        let said = reading.noticed();
        assert!(said[0].starts_with("measured by JMeter, ") && said[0].contains("coordinated omission"), "{said:?}");
        assert!(!said.iter().any(|said| said.contains("redirects")), "{said:?}");
    }

    #[test]
    fn lost_samples_break_the_law() {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().in_flight_mean *= 1.2;
        assert!(!Reading::new(&run, &[]).littles_law.unwrap().holds);
    }

    #[test]
    fn growth_over_the_run_is_said_with_its_size() {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().timeline = ticks(40, 500, 7, |at| 1.0 + 0.01 * f64::from(u32::try_from(at).unwrap()));
        run.edit_for_test().ended.load_until = Nanos::from_secs(40);
        let said = Reading::new(&run, &[]).noticed();
        assert!(said.iter().any(|sentence| sentence.starts_with("p50 grew ") && sentence.contains("over the run, from ")), "{said:?}");
    }

    #[test]
    fn seconds_that_resemble_each_other_are_said_to_make_the_intervals_too_narrow() {
        let mut run = fixture("closed_all_well");
        // Ten seconds slow, ten fast, and so on: far from a trend, and far from independent.
        run.edit_for_test().timeline = ticks(60, 500, 7, |at| if at / 10 % 2 == 0 { 1.0 } else { 1.3 });
        run.edit_for_test().ended.load_until = Nanos::from_secs(60);
        let said = Reading::new(&run, &[]).noticed();
        let sentence = said.iter().find(|sentence| sentence.contains("± is too narrow"));
        assert!(sentence.is_some_and(|it| it.contains("(correlation 0.8") || it.contains("(correlation 0.7")), "{said:?}");
        run.edit_for_test().timeline = ticks(60, 500, 7, |_| 1.0);
        assert!(!Reading::new(&run, &[]).noticed().iter().any(|sentence| sentence.contains("too narrow")));
    }

    #[test]
    fn a_second_peak_is_said_with_what_it_looks_like() {
        let mut run = fixture("closed_all_well");
        let mut times = Histogram::new();
        let mut random = Random::new(1, 1);
        for k in 0..20_000u32 {
            let base = if k % 14 == 0 { 40_200_000 } else { 1_000_000 };
            times.record(Nanos(base + (random.unit() * 300_000.0) as u64));
        }
        run.edit_for_test().service_time = times;
        let said = Reading::new(&run, &[]).noticed();
        assert!(said.iter().any(|sentence| sentence.contains("of answers near 40 ms: looks like delayed ACK")), "{said:?}");
    }

    #[test]
    fn nothing_is_judged_by_a_run_that_is_not_valid() {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().lag = Histogram::new();
        (0..10_000).for_each(|_| run.edit_for_test().lag.record(Nanos::SECOND));
        let reading = Reading::new(&run, &["p99 < 10ms".parse().unwrap(), "failed < 1%".parse().unwrap()]);
        assert_eq!(reading.validity.standing, Standing::Invalid);
        assert!(reading.checks.iter().all(|judgement| judgement.verdict == Verdict::NotJudgeable { why: Why::Invalid }));
    }
}
