//! One load carried out and watched: the same for a single run, a level of a sweep, a trial of a search and a side of a comparison.
//!
//! Who looks on differs: a screen, a page in a browser, the history's journal, exporters, a monitor of the server, profilers, conditions
//! that end the load. Each is an [`Observer`], and there is one loop for all of them. A loop per command, the alternative, was what
//! stood here before: nine of them, each without something that another had.
//!
//! A load comes out of the engine as a run to be completed. It is closed here, when the last observer has put in what it knows: what a
//! caller gets is finished.
//!
//! Invariants: observers see every interval, in the order in which they are given; what was measured is shown to them at the end, also
//! when the load broke off; one that ends the load ends this one alone, and not those after it.

use std::ops::ControlFlow;

use engine::{Stop, Urgency, measured};
use measure::{IntervalCounts, Summary, SummaryBuilder, Tick};
use plan::Plan;

/// Looks on while a load is carried out.
pub trait Observer {
    /// The load of this plan begins.
    fn begin(&mut self, _plan: &Plan) {}

    /// An interval is over. `Break` ends the load; what is under way is waited for.
    fn interval(&mut self, _tick: &Tick, _counted: &IntervalCounts) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// The load is over, as planned or not, and this is what was measured. What the observer knows of the load goes into it.
    fn end(&mut self, _run: &mut SummaryBuilder) {}
}

/// The load could not be carried out, or not to its end; then the run until there is closed.
pub type RunError = engine::RunError<Summary>;

/// Carries one load out, and closes the run when all observers have seen its end. `load` is given what it calls once an interval, and the signal that ends this load: `stop` or an observer.
///
/// # Errors
/// Those of `load`, with what was measured until then, which the observers have seen as well.
pub fn carry_out(
    plan: &Plan,
    observers: &mut [&mut dyn Observer],
    stop: &Stop,
    load: impl FnOnce(&mut dyn FnMut(&Tick, IntervalCounts), &Stop) -> Result<SummaryBuilder, engine::RunError>,
) -> Result<Summary, RunError> {
    let own = stop.child();
    observers.iter_mut().for_each(|observer| observer.begin(plan));
    let mut watch = |tick: &Tick, counted: IntervalCounts| {
        for observer in observers.iter_mut() {
            if observer.interval(tick, &counted).is_break() && own.urgency() == Urgency::None {
                own.raise();
            }
        }
    };
    let mut ended = load(&mut watch, &own);
    if let Some(run) = measured(&mut ended) {
        observers.iter_mut().for_each(|observer| observer.end(run));
    }
    Ok(ended?.close())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Runner;
    use engine::simulation::Simulation;
    use measure::Ending;
    use plan::Draft;

    /// Writes down what it sees, and ends the load after so many intervals.
    struct Notes {
        begun: usize,
        intervals: u64,
        ends_after: u64,
        end: Option<u64>,
    }

    impl Notes {
        fn new(ends_after: u64) -> Self {
            Self { begun: 0, intervals: 0, ends_after, end: None }
        }
    }

    impl Observer for Notes {
        fn begin(&mut self, _plan: &Plan) {
            self.begun += 1;
        }

        fn interval(&mut self, _tick: &Tick, _counted: &IntervalCounts) -> ControlFlow<()> {
            self.intervals += 1;
            if self.intervals >= self.ends_after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }

        fn end(&mut self, run: &mut SummaryBuilder) {
            self.end = Some(run.requests.due);
            run.add_warnings([format!("seen {}", self.intervals)]);
        }
    }

    fn plan(duration: &str) -> Plan {
        let draft = Draft { url: Some("http://a.test/".to_owned()), duration: duration.parse().ok(), ..Draft::default() };
        Plan::try_from(Draft { connections: "2".parse().ok(), threads: "1".parse().ok(), ..draft }).unwrap()
    }

    fn carried_out(plan: &Plan, observers: &mut [&mut dyn Observer], stop: &Stop) -> Result<Summary, RunError> {
        let runner = Runner::simulated(&Simulation::stateless());
        carry_out(plan, observers, stop, |watch, stop| runner.prepare(plan)?.run(watch, stop))
    }

    #[test]
    fn all_observers_see_every_interval_and_the_end() {
        let (mut first, mut second) = (Notes::new(u64::MAX), Notes::new(u64::MAX));
        let plan = plan("5s");
        let run = carried_out(&plan, &mut [&mut first, &mut second], &Stop::new()).unwrap();
        for notes in [&first, &second] {
            assert_eq!((notes.begun, notes.end), (1, Some(run.requests.due)));
            assert_eq!(notes.intervals, run.timeline.len() as u64);
        }
        assert_eq!(run.warnings.len(), 2);
        assert_eq!(run.ended.how, Ending::Finished);
    }

    #[test]
    fn an_observer_ends_its_load_and_not_the_next_one() {
        let stop = Stop::new();
        let plan = plan("30s");
        let mut impatient = Notes::new(3);
        let run = carried_out(&plan, &mut [&mut impatient], &stop).unwrap();
        assert_eq!(run.ended.how, Ending::Interrupted);
        assert!(run.ended.load_until < plan::Nanos::from_secs(5), "{}", run.ended.load_until);
        assert_eq!(stop.urgency(), Urgency::None);
        let mut patient = Notes::new(u64::MAX);
        let run = carried_out(&plan, &mut [&mut patient], &stop).unwrap();
        assert_eq!(run.ended.how, Ending::Finished);
    }

    #[test]
    fn a_load_that_is_stopped_from_outside_is_shown_all_the_same() {
        let stop = Stop::new();
        stop.raise();
        let mut notes = Notes::new(u64::MAX);
        let run = carried_out(&plan("30s"), &mut [&mut notes], &stop).unwrap();
        assert_eq!((run.ended.how, notes.end), (Ending::Interrupted, Some(run.requests.due)));
    }
}
