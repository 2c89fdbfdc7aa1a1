//! A server that ended, was restarted, or answers nobody: no load is to blame until that is ruled out.
//!
//! What a dead server leaves looks like anything: few requests a second, since each waits for a connection that is refused; times of
//! those that were answered before; a throughput that is the mean of a thousand and nothing. So the course of the run is looked at
//! before its figures: from which moment on nobody was answered, and how that was told.
//!
//! Invariant: who was never answered is not said to have ended, only that nobody answers.

use measure::{Failure, Summary, Tick};
use plan::Nanos;

use super::scene::Scene;
use super::{Finding, Kind, Point};
use crate::quantity::{bytes, count, counted, figure, time};
use crate::server_side::ServerSide;

/// Of what fails after a server has ended, this much says so.
const SAYS_SO_MIN: f64 = 0.8;
/// At the rate before, so many answers would have come in the silence: none is no chance.
const EXPECTED_MIN: f64 = 10.0;
/// It was silent for this share of the run, or it was busy for a moment.
const SILENT_SHARE_MIN: f64 = 0.2;
/// Of all requests, so many ran out of time where nobody answers.
const TIMEOUTS_MIN: f64 = 0.5;

/// Memory that doubled to less than this ends no process.
const GROWN_MIN_BYTES: f64 = 1e8;

/// That a server stopped answering.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gone {
    /// How that showed.
    pub how: Departure,
    /// When, in seconds from the start.
    pub at_s: f64,
    /// When it answered again, if it did.
    pub back_s: Option<f64>,
    /// How long the load went on, in seconds.
    pub of_s: f64,
    /// Requests that failed meanwhile.
    pub failed: u64,
    /// Answers a second before.
    pub before: f64,
}

/// How a server stops answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// Its process was seen to end.
    Ended,
    /// Nobody listens any more.
    Refusing,
    /// It is there, and no answer comes.
    Silent,
}

/// When the server of a run stopped answering, if it did.
#[must_use]
pub fn gone(run: &Summary) -> Option<Gone> {
    let ticks: Vec<&Tick> = run.load_ticks().collect();
    let first = ticks.iter().position(|tick| tick.answered > 0)?;
    let tells = |tick: &Tick, says: fn(Failure) -> bool| {
        let said: u64 = tick.failures.iter().filter(|(class, _)| says(**class)).map(|(_, count)| count).sum();
        tick.failed > 0 && said as f64 >= SAYS_SO_MIN * tick.failed as f64
    };
    // The longest stretch without an answer.
    let mut stretch: Option<(usize, usize)> = None;
    let mut at = first;
    while at < ticks.len() {
        let to = (at..ticks.len()).find(|next| ticks[*next].answered > 0).unwrap_or(ticks.len());
        if to > at && stretch.is_none_or(|(from, until)| to - at > until - from) {
            stretch = Some((at, to));
        }
        at = to.max(at + 1);
    }
    let (from, to) = stretch?;
    let within = &ticks[from..to];
    // A connection that is reset as it opens may be one for which the queue had no room.
    let refusing = within.iter().any(|tick| tells(tick, |class| class == Failure::ConnectRefused))
        && within.iter().all(|tick| tick.failed == 0 || tells(tick, is_refusal));
    let lasted = within.last()?.to.min(run.ended.load_until).since(within[0].from);
    let whole = run.ended.load_until.since(ticks[0].from);
    // An answer after the load's end is a late one, and a request that ran out of time before fell silent for another reason.
    let mut after = run.timeline.iter().filter(|tick| tick.from >= within[0].from);
    let silent = to == ticks.len()
        && lasted >= Nanos::from_secs(2)
        && lasted.as_secs_f64() >= SILENT_SHARE_MIN * whole.as_secs_f64()
        && after.clone().all(|tick| tick.answered == 0)
        && after.any(|tick| tick.failures.iter().any(|(class, count)| class.is_timeout() && *count > 0));
    if !refusing && !silent {
        return None;
    }
    // The first that was refused tells the moment better than an interval does.
    let refused = run.failures.iter().filter(|failure| is_refusal(failure.class)).filter_map(|failure| Some(failure.example.as_ref()?.at));
    let began = refused
        .filter(|_| refusing)
        .min()
        .filter(|at| *at <= within[0].to && from.checked_sub(1).is_none_or(|last| *at >= ticks[last].from));
    let began = began.unwrap_or(within[0].from);
    let ended = || {
        let side = ServerSide::of_processes(run)?;
        let processes = &side.seen.whole("processes")?.values;
        Some(processes.last()?.is_none_or(|number| number == 0.0) && processes.iter().flatten().any(|number| *number > 0.0))
    };
    // The rate that it had is that of what was measured, if any of it was before.
    let earlier = &ticks[ticks[..from].iter().position(|tick| !tick.warmup).unwrap_or(0)..from];
    let answered: u64 = earlier.iter().map(|tick| tick.answered).sum();
    let before = answered as f64 / began.since(earlier.first()?.from).as_secs_f64().max(f64::MIN_POSITIVE);
    if before * lasted.as_secs_f64() < EXPECTED_MIN {
        return None;
    }
    let later: Vec<&Tick> = run.timeline.iter().filter(|tick| tick.from >= within[0].from).collect();
    let until = later.iter().position(|tick| tick.answered > 0).unwrap_or(later.len());
    // The interval in which it ended has answers too.
    let ending = from.checked_sub(1).map(|last| &ticks[last].failures);
    let refused_before: u64 = ending.into_iter().flatten().filter(|(class, _)| is_refusal(**class)).map(|(_, count)| count).sum();
    Some(Gone {
        how: match refusing {
            true if to == ticks.len() && ended() == Some(true) => Departure::Ended,
            true => Departure::Refusing,
            false => Departure::Silent,
        },
        at_s: began.as_secs_f64(),
        back_s: ticks.get(to).map(|tick| tick.from.as_secs_f64()),
        of_s: run.ended.load_until.as_secs_f64(),
        failed: refused_before + later[..until].iter().map(|tick| tick.failed + tick.unsent).sum::<u64>(),
        before,
    })
}

/// What requests meet where nobody listens any more.
const fn is_refusal(class: Failure) -> bool {
    matches!(class, Failure::ConnectRefused | Failure::ConnectReset)
}

/// The server ended, or was restarted, or fell silent, while it was loaded.
pub(super) fn ended(scene: &Scene<'_>) -> Option<Finding> {
    let (point, gone) = scene.points.iter().find_map(|point| Some((*point, point.gone?)))?;
    let at = |seconds: f64| time(if seconds < 1.0 { seconds * 1e9 } else { (seconds * 10.0).round() * 1e8 });
    let load = if scene.points.len() > 1 { format!(" of the load of {}", figure(point.level)) } else { String::new() };
    let when = format!("{}{load}", at(gone.at_s));
    let failures = counted(gone.failed, "request");
    let (sentence, brief, check, fix) = match (gone.how, gone.back_s) {
        (_, Some(back)) => (
            format!("the server did not listen from {when} to {}: {failures} failed meanwhile", at(back)),
            format!("The server was gone from {} to {}", at(gone.at_s), at(back)),
            "look at the server's log and uptime: a process that ran all the time would show that this is wrong",
            "find out why it was restarted (crash, deploy, health check), and measure again",
        ),
        (Departure::Ended, None) => (
            format!("the server's process ended after {when}: {failures} failed after that"),
            format!("The server's process ended after {}", at(gone.at_s)),
            "look for the process: if it still runs, this is wrong",
            "look at its log, its exit code and the kernel's log (out of memory), start it again, and measure again",
        ),
        (Departure::Refusing, None) => (
            format!("nobody listens there any more, since {when}: {failures} failed after that"),
            format!("The server stopped listening after {}", at(gone.at_s)),
            "connect to it now: if it answers, this is wrong",
            "look whether the server still runs, start it again, and measure again",
        ),
        (Departure::Silent, None) => (
            format!("the server answered nothing any more after {when}"),
            format!("The server stopped answering after {}", at(gone.at_s)),
            "send it one request now (curl -i): if it answers at once, it has recovered",
            "look what it waits for (a thread dump, a debugger), start it again, and measure again",
        ),
    };
    let mut evidence = vec![format!("{} a second were answered before, and none after", figure(gone.before))];
    if gone.back_s.is_some() {
        evidence = vec![format!("{} a second were answered before", figure(gone.before))];
    }
    let grown = point
        .server
        .as_ref()
        .and_then(|seen| seen.memory)
        .filter(|memory| memory.last >= 2.0 * memory.first && memory.last >= GROWN_MIN_BYTES);
    evidence.extend(grown.map(|memory| {
        format!(
            "its memory had grown from {} to {}: look whether the kernel ended it for want of memory (dmesg)",
            bytes(memory.first),
            bytes(memory.last)
        )
    }));
    evidence.push(format!("the load went on for {}: averages over all of it describe neither part", at(gone.of_s)));
    Some(Finding::new(Kind::Ended, 0.99, sentence).brief(brief).evidence(evidence).refuted_by(check).remedy(fix))
}

/// Nobody was answered in time, at any load.
pub(super) fn silent(scene: &Scene<'_>) -> Option<Finding> {
    let lowest = scene.points.first()?;
    let out_of_time = |point: &Point| point.unanswered >= TIMEOUTS_MIN;
    if scene.points.iter().any(|point| point.answered > 0.0) || !scene.points.iter().all(|point| out_of_time(point)) {
        return None;
    }
    let requests = scene.points.iter().map(|point| point.requests).sum::<f64>();
    let limit = time(lowest.timeout_s * 1e9);
    let finding = Finding::new(Kind::Silent, 0.99, format!("no request was answered within the time limit of {limit} (--timeout)"))
        .brief(format!("No request was answered within {limit}"))
        .evidence([format!("all {} requests failed, most often: {}", count(requests as u64), lowest.failure)])
        .refuted_by("send one request without a load (curl -i, or loadline run -n 1): if it is answered, the load is the reason")
        .remedy("look whether the server hangs and what it waits for; if it is only slow, give a longer --timeout");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    /// A run of six seconds whose server ended after three.
    fn dying(back: bool) -> Summary {
        let mut run = fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").unwrap().1;
        let refused = |tick: &mut Tick| {
            tick.failed = 50;
            tick.failures = [(Failure::ConnectRefused, 50)].into();
            (tick.answered, tick.succeeded) = (0, 0);
        };
        let to = if back { 5 } else { 6 };
        run.edit_for_test().timeline.iter_mut().filter(|tick| (3..to).contains(&(tick.from.0 / 1_000_000_000))).for_each(refused);
        run
    }

    #[test]
    fn a_server_that_ends_is_told_with_the_moment_and_what_came_after() {
        let run = dying(false);
        let found = gone(&run).unwrap();
        assert_eq!((found.how, found.at_s, found.back_s), (Departure::Refusing, 3.0, None));
        assert!(found.before > 1_000.0 && found.failed >= 150, "{found:?}");
        let mut seen = run;
        let processes = seen.edit_for_test().observed[0].series.iter_mut().find(|series| series.name == "processes").unwrap();
        *processes.values.last_mut().unwrap() = None;
        assert_eq!(gone(&seen).unwrap().how, Departure::Ended);
    }

    #[test]
    fn a_refusal_now_and_then_is_no_end() {
        // One request a second, and one of two addresses refuses.
        let mut run = dying(false);
        for tick in &mut run.edit_for_test().timeline {
            let refused = u64::from(tick.failed > 0);
            (tick.answered, tick.succeeded, tick.failed) = (1 - refused, 1 - refused, refused);
            tick.failures = if refused > 0 { [(Failure::ConnectRefused, 1)].into() } else { [].into() };
        }
        assert_eq!(gone(&run), None);
        // A queue that is full resets connections as they open.
        let mut run = dying(true);
        let refused = run.edit_for_test().timeline.iter_mut().filter(|tick| tick.failed > 0);
        refused.for_each(|tick| tick.failures = [(Failure::ConnectReset, 50)].into());
        assert_eq!(gone(&run), None);
    }

    #[test]
    fn a_server_whose_answers_come_after_the_end_is_slow_and_not_silent() {
        let silent = |late: u64| {
            let mut run = dying(false);
            for tick in run.edit_for_test().timeline.iter_mut().filter(|tick| tick.failed > 0) {
                (tick.failed, tick.failures) = (0, [].into());
            }
            let last = run.timeline.last().unwrap().clone();
            let (from, to) = (last.to, last.to.plus(Nanos::SECOND));
            run.edit_for_test().ended.load_until = from;
            let failures = [(Failure::RecvTotalTimeout, 50)].into();
            run.edit_for_test().timeline.push(Tick { from, to, answered: late, succeeded: late, failed: 50, failures, ..last });
            run
        };
        assert_eq!(gone(&silent(0)).map(|gone| (gone.how, gone.failed)), Some((Departure::Silent, 50)));
        assert_eq!(gone(&silent(1)), None);
    }

    #[test]
    fn the_moment_and_the_rate_before_are_those_of_every_other_sentence() {
        let run = dying(false);
        let (gone, outage) = (gone(&run).unwrap(), crate::outage::outage(&run).unwrap());
        assert_eq!((gone.at_s, gone.before), (outage.at.as_secs_f64(), outage.qps_before));
    }

    #[test]
    fn a_server_that_comes_back_was_restarted() {
        let found = gone(&dying(true)).unwrap();
        assert_eq!((found.at_s, found.back_s), (3.0, Some(5.0)));
    }

    #[test]
    fn in_no_fixture_the_server_ended() {
        for (name, run) in fixtures::summaries() {
            assert_eq!(gone(&run), None, "{name}");
        }
    }
}
