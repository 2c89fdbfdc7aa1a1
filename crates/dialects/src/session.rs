//! One call of a dialect: its loads, and what is said beside its report.
//!
//! All dialects decide their plans alike, wait alike for the last answers, and have the same three lines for what loadline knows besides
//! the original's report. A count of lines in a static, the alternative, is shared by whatever else runs in the process.
//! Invariant: at most three lines are said beside a report, however many loads there were.

use std::cell::Cell;
use std::ops::ControlFlow;

use analysis::quantity::count;
use analysis::{Standing, Validity};
use engine::{Stop, Urgency};
use measure::{Ending, IntervalCounts, Summary, SummaryBuilder, Tick};
use plan::{Draft, HttpVersion, Nanos, Plan, PlanErrors, Setting};
use trial::{Observer, RunError};

use crate::host::{Host, Measurement, Verbosity};

/// The most lines said beside a report.
const LINES_MAX: usize = 3;

/// One call of a dialect.
pub struct Session<'a> {
    host: &'a dyn Host,
    verbosity: Verbosity,
    /// Lines said before the report.
    lines_said: Cell<usize>,
}

impl<'a> Session<'a> {
    /// Nothing has been said yet.
    pub fn new(host: &'a dyn Host, verbosity: Verbosity) -> Self {
        Self { host, verbosity, lines_said: Cell::default() }
    }

    /// Says a line before the report.
    pub fn say(&self, line: &str) {
        if self.verbosity == Verbosity::Normal {
            self.lines_said.set(self.lines_said.get() + 1);
            self.host.complain(&format!("loadline: {line}"));
        }
    }

    /// Decides a draft, every mistake in one message.
    pub fn decide(&self, draft: Draft) -> Result<Plan, PlanErrors> {
        // None of the originals knows templates, each follows redirects wherever they lead, and speaks HTTP/1.1 unless told otherwise.
        let http = draft.http.or(Some(Setting::Value(HttpVersion::V1)));
        self.host.decide(Draft { no_templates: true, also_target: vec!["any".to_owned()], http, ..draft })
    }

    /// A signal that Ctrl-C raises.
    pub fn stop(&self) -> Result<Stop, RunError> {
        Ok(self.host.stop(self.verbosity)?)
    }

    /// Has a load carried out, and kept like any other. An interruption is no error: the originals report what they have. After the end
    /// of the load, answers are waited for as long as `drain` says; `None`: until each request's own timeout.
    pub fn measure(
        &self,
        plan: &Plan,
        drain: Option<Nanos>,
        stop: &Stop,
        own: &mut [&mut dyn Observer],
        load: impl FnOnce(&mut dyn FnMut(&Tick, IntervalCounts), &Stop) -> Result<SummaryBuilder, engine::RunError>,
    ) -> Result<Summary, RunError> {
        let mut drain = drain.map(|limit| DrainTimeout::new(plan, limit, stop));
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(drain.as_mut().map(|drain| drain as &mut dyn Observer));
        observers.extend(own.iter_mut().map(|own| &mut **own as &mut dyn Observer));
        let Measurement { run, unsaved } = self.host.carry_out(plan, stop, &mut observers, Box::new(load));
        // Of several runs in a row it is true of each, and said once.
        if let Some(why) = unsaved.filter(|_| self.verbosity == Verbosity::Normal && self.lines_said.replace(1) == 0) {
            self.host.complain(&format!("loadline: {why}"));
        }
        run
    }

    /// Says what loadline knows besides the original's report: how far the run can be trusted, what failed and whose fault it is, and
    /// the dialect's own remark. At most three lines, nothing at all where all is well.
    pub fn remark(&self, summary: &Summary, own: Option<&str>) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        let room = self.room();
        let mut lines = remarks(summary, own);
        let surplus = lines.split_off(lines.len().min(room)).into_iter();
        for (place, line) in lines.into_iter().enumerate() {
            // What finds no line of its own stands at the end of the last.
            let more: String = surplus.clone().filter(|_| place + 1 == room).map(|line| format!("; {line}")).collect();
            self.host.complain(&format!("loadline: {line}{more}"));
        }
    }

    /// The same about a run with several levels of load: each remark in a line of its own where there is room, else the first and where
    /// the others are about.
    pub fn remark_on_levels(&self, remarks: &[(u64, String)]) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        for line in lines_of_levels(remarks, self.room()) {
            self.host.complain(&format!("loadline: {line}"));
        }
    }

    /// Lines that may still be said.
    fn room(&self) -> usize {
        LINES_MAX.saturating_sub(self.lines_said.get()).max(1)
    }
}

/// Ends a run whose last answers do not come.
struct DrainTimeout {
    limit: Nanos,
    end: Nanos,
    stop: Stop,
    /// When the interruption was seen.
    stopped: Option<Nanos>,
    /// Whether it came to an end, and the run with it.
    ran_out: bool,
}

impl DrainTimeout {
    fn new(plan: &Plan, limit: Nanos, stop: &Stop) -> Self {
        Self { limit, end: plan.end(), stop: stop.clone(), stopped: None, ran_out: false }
    }
}

impl Observer for DrainTimeout {
    fn interval(&mut self, tick: &Tick, _counted: &IntervalCounts) -> ControlFlow<()> {
        if self.stop.urgency() == Urgency::Drain {
            self.stopped.get_or_insert(tick.to);
        }
        let ended = self.stopped.unwrap_or(self.end).min(self.end);
        if tick.to >= ended.plus(self.limit) && self.stop.urgency() < Urgency::Now {
            self.ran_out = true;
            raise_to_now(&self.stop);
        }
        ControlFlow::Continue(())
    }

    /// What was given up is what it is: requests that the server did not answer in the time it was given.
    fn end(&mut self, run: &mut SummaryBuilder) {
        if !self.ran_out {
            return;
        }
        if self.stopped.is_none() && run.ended.how == Ending::Interrupted {
            run.set_ending(Ending::Finished);
        }
        run.time_out_given_up();
    }
}

/// Ends a run at once: nobody is waited for any more.
pub fn raise_to_now(stop: &Stop) {
    while stop.urgency() < Urgency::Now {
        stop.raise();
    }
}

fn lines_of_levels(remarks: &[(u64, String)], room: usize) -> Vec<String> {
    let shown = if remarks.len() > room { room - 1 } else { remarks.len() };
    let (shown, others) = remarks.split_at(shown);
    let mut lines: Vec<String> = shown.iter().map(|(level, remark)| format!("level {level}: {remark}")).collect();
    if !others.is_empty() {
        let mut levels: Vec<String> = others.iter().map(|(level, _)| level.to_string()).collect();
        levels.dedup();
        let (count, levels) = (others.len(), levels.join(", "));
        lines.push(format!(
            "{count} more remarks, on the levels {levels}: 'loadline runs' lists every level, and 'loadline show' tells all of it"
        ));
    }
    lines
}

/// What there is to say about a run beside its report.
pub fn remarks(summary: &Summary, own: Option<&str>) -> Vec<String> {
    let validity = Validity::of(summary);
    let standing = (validity.standing > Standing::Valid).then(|| format!("{}: {}", validity.standing, validity.why()));
    standing.into_iter().chain(failures(summary)).chain(own.map(str::to_owned)).collect()
}

/// The most frequent classes of failures and their sides, in one line.
fn failures(summary: &Summary) -> Option<String> {
    let shown: Vec<String> = (summary.failures.iter())
        .map(|failure| format!("{} {} ({}: {})", count(failure.count), failure.class, failure.side, failure.class.about()))
        .chain((summary.requests.unsent > 0).then(|| format!("{} never sent (no connection was free)", count(summary.requests.unsent))))
        .collect();
    let more = shown.len().saturating_sub(CLASSES_SHOWN);
    let listed = shown.iter().take(CLASSES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(", and {more} more classes") } else { String::new() };
    (!listed.is_empty()).then(|| format!("not succeeded: {listed}{more}"))
}

/// So many fit in a line that is still read.
const CLASSES_SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_three_lines_are_said_and_none_where_all_is_well() {
        for (name, summary) in measure::fixtures::summaries() {
            assert!(remarks(&summary, Some("own")).len() <= 3, "{name}");
            if name == "closed_all_well" {
                assert_eq!(remarks(&summary, None), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn many_levels_are_remarked_on_in_as_many_lines_as_there_are_left() {
        let remarks: Vec<(u64, String)> = [(200, "a"), (200, "b"), (500, "c"), (1_000, "d")].map(|(at, text)| (at, text.to_owned())).into();
        assert_eq!(lines_of_levels(&remarks[..3], 3), ["level 200: a", "level 200: b", "level 500: c"]);
        let told = "more remarks, on the levels";
        let of = |room| lines_of_levels(&remarks, room);
        assert!(of(3).len() == 3 && of(3)[2].starts_with(&format!("2 {told} 500, 1000: ")), "{:?}", of(3));
        assert!(of(1).len() == 1 && of(1)[0].starts_with(&format!("4 {told} 200, 500, 1000: ")), "{:?}", of(1));
        assert_eq!(lines_of_levels(&[], 3), Vec::<String>::new());
    }
}
