//! A promise that can be counted request by request, so that a search can ask how many broke it.
//!
//! Of many promises only the whole run can say whether it kept them: a mean, a greatest value, a rate. A search needs more:
//! each request either keeps to it or does not, and so many of them may not. That is a quantile of response time (`p99 <
//! 50ms`: one in a hundred may be late) and the share that failed (`failed < 0.1%`). Of answers that stream, each has a first
//! event and a time for each token. Whatever is not of this kind is refused with what to write instead, rather than bent into
//! something that was not asked for.
//!
//! Invariant: a request that failed or was never sent breaks every promise, unless what was promised of it had come before.

use std::fmt;

use measure::{PackedHistogram, Summary, Tick};
use plan::setting::CHECK;
use plan::{Nanos, Wording};

use super::{Check, Comparison, Figure, Limit, Span, Statistic, Times};
use crate::search::{Promise, Unit};

/// A promise of which every request keeps or breaks its part.
#[derive(Debug, Clone, PartialEq)]
pub struct Slo {
    check: Check,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// Answered well, or its first event there, or its tokens, within the limit; the quantile from 0 to 1.
    InTime { span: Span, limit: Nanos, quantile: f64 },
    /// Answered well; the share that need not be, from 0 to 1.
    Well { bad_share_max: f64 },
}

/// Why a promise cannot be searched with, and what to write instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsearchable {
    /// The promise.
    pub check: Check,
    /// Completes "'qps > 500' cannot be searched with: …".
    pub why: &'static str,
    /// What to do.
    pub help: Wording,
}

impl fmt::Display for Unsearchable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' cannot be searched with: {}", self.check, self.why)
    }
}

impl std::error::Error for Unsearchable {}

impl TryFrom<Check> for Slo {
    type Error = Unsearchable;

    fn try_from(check: Check) -> Result<Self, Unsearchable> {
        let refused = |why, help: Wording| Err(Unsearchable { check: check.clone(), why, help });
        if check.part.is_some() {
            return refused("it is about a part of the load", format!("promise it of all requests, and hold the part with {CHECK}").into());
        }
        let is_none = check.comparison == Comparison::Equal && matches!(check.limit, Limit::Count(0) | Limit::Percent(0.0));
        if !check.comparison.wants_little() && !is_none && !matches!(check.figure, Figure::Qps | Figure::Tps) {
            return refused(
                "more load would only help to keep it",
                "promise a limit from above, such as p99 < 50ms or failed < 0.1%".into(),
            );
        }
        let part = match (check.figure, check.limit) {
            (Figure::Time(span, Statistic::Quantile(percent)), Limit::Time(limit)) if span.is_once_a_request() => {
                Part::InTime { span, limit, quantile: tidy(percent / 100.0) }
            }
            (Figure::Time(span, Statistic::Mean), limit) if span.is_once_a_request() => {
                return refused(
                    "a mean is of all requests, and none of them keeps or breaks it",
                    format!("promise {}p50 < {limit}", span.prefix()).into(),
                );
            }
            (Figure::Time(span, Statistic::Max), limit) if span.is_once_a_request() => {
                return refused("one request in an hour would decide it", format!("promise {}p99.9 < {limit}", span.prefix()).into());
            }
            (Figure::Time(Span::BetweenEvents, _), limit) => {
                return refused(
                    "an answer has many of them, and a search counts requests",
                    format!(
                        "promise first_event p95 < {limit} or time_per_token p99 < {limit}, or hold it at each load of a sweep with {CHECK}"
                    )
                    .into(),
                );
            }
            (Figure::Time(_, Statistic::Quantile(percent)), limit) => {
                return refused(
                    "it leaves out what users wait for before",
                    format!("promise p{percent} < {limit}, of response time").into(),
                );
            }
            (Figure::Time(..), limit) => {
                return refused("it leaves out what users wait for before", format!("promise p99 < {limit}, of response time").into());
            }
            (Figure::Failed, Limit::Percent(percent)) => Part::Well { bad_share_max: tidy(percent / 100.0) },
            (Figure::Failed, Limit::Count(count)) if count == u64::from(check.comparison == Comparison::Below) => {
                Part::Well { bad_share_max: 0.0 }
            }
            (Figure::Failed, _) => {
                return refused(
                    "a number of failures grows with the time they are counted in",
                    "promise a share, such as failed < 0.1%".into(),
                );
            }
            (Figure::Qps | Figure::Tps, _) => {
                return refused("the rate is what the search finds", "leave it out, and look at the answer".into());
            }
            (Figure::Unsent | Figure::Status(_) | Figure::StatusClass(_), _) => {
                return refused(
                    "it leaves out other failures",
                    "promise failed < 0.1%, which counts every failure and every request unsent".into(),
                );
            }
        };
        if let Part::Well { bad_share_max } = part
            && bad_share_max >= 1.0
        {
            return refused("every run keeps it", "promise a smaller share, such as failed < 0.1%".into());
        }
        Ok(Self { check, part })
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.check.fmt(f)
    }
}

impl Slo {
    /// In the terms of a search.
    #[must_use]
    pub fn promise(&self) -> Promise {
        let (unit, bad_share_max) = match self.part {
            Part::InTime { quantile, .. } => (Unit::Seconds, tidy(1.0 - quantile)),
            Part::Well { bad_share_max } => (Unit::Share, bad_share_max),
        };
        Promise {
            text: self.check.to_string(),
            name: self.check.figure.to_string(),
            unit,
            bad_share_max,
            limit_s: self.limit().map(Nanos::as_secs_f64),
        }
    }

    /// How long a request may take; `None` where only success is promised.
    #[must_use]
    pub const fn limit(&self) -> Option<Nanos> {
        match self.part {
            Part::InTime { limit, .. } => Some(limit),
            Part::Well { .. } => None,
        }
    }

    /// What is promised of response time: which quantile, from 0 to 1, and the limit.
    #[must_use]
    pub const fn of_response(&self) -> Option<(f64, Nanos)> {
        match self.part {
            Part::InTime { span: Span::Response, limit, quantile } => Some((quantile, limit)),
            _ => None,
        }
    }

    /// Whether it is about answers that stream.
    #[must_use]
    pub const fn is_of_events(&self) -> bool {
        matches!(self.part, Part::InTime { span, .. } if span.is_of_events())
    }

    /// Whether it is about tokens.
    #[must_use]
    pub const fn is_of_tokens(&self) -> bool {
        matches!(self.part, Part::InTime { span: Span::TimePerToken, .. })
    }

    /// Whether both promise a limit of the same time.
    #[must_use]
    pub fn is_of_time_of(&self, other: &Self) -> bool {
        matches!((self.part, other.part), (Part::InTime { span, .. }, Part::InTime { span: of, .. }) if span == of)
    }

    /// How many requests it is about, of those that fell due: all, or those whose answers stream and those that failed.
    #[must_use]
    pub fn of(&self, run: &Summary) -> u64 {
        match self.part {
            Part::InTime { span, .. } => times(run, span).all,
            Part::Well { .. } => run.requests.due,
        }
    }

    /// How many of these broke it: failed, unsent, or late.
    #[must_use]
    pub fn bad(&self, run: &Summary) -> u64 {
        match self.part {
            Part::InTime { span, limit, .. } => times(run, span).slower(limit, self.check.comparison).0,
            Part::Well { .. } => run.requests.failed + run.requests.unsent,
        }
    }

    /// The figure it is about: seconds, with a request that failed as one given up at the time-out, or a share from 0 to 1.
    #[must_use]
    pub fn value(&self, run: &Summary) -> f64 {
        match self.part {
            Part::InTime { span, quantile, .. } => {
                if run.requests.due == 0 {
                    return 0.0;
                }
                times(run, span).quantile(quantile).0.unwrap_or(run.plan.connection().timeout).as_secs_f64()
            }
            Part::Well { .. } => self.bad(run) as f64 / run.requests.due.max(1) as f64,
        }
    }

    /// How many requests that ended in an interval broke it: at least and at most, since a tick cannot tell which of its
    /// times belong to requests that failed.
    #[must_use]
    pub(crate) fn bad_in(&self, tick: &Tick) -> (u64, u64) {
        let failed = tick.failed + tick.unsent;
        let Part::InTime { span, limit, .. } = self.part else { return (failed, failed) };
        let packed = match (span, tick.streams.as_deref()) {
            (Span::FirstEvent, Some(streams)) => Some(&streams.first_event),
            (Span::TimePerToken, Some(streams)) => streams.tokens.as_ref().map(|tokens| &tokens.time_per_token),
            (Span::Response, _) => Some(&tick.response_time),
            _ => None,
        };
        let Some(Ok(times)) = packed.map(PackedHistogram::unpack) else {
            // Whatever ended in it may have lacked its events.
            return if span.is_of_events() { (0, tick.succeeded + failed) } else { (failed, failed) };
        };
        let strict = self.check.comparison == Comparison::Below;
        let fast = |time: Nanos| time < limit || (!strict && time == limit);
        let late = times.count_where(|time| !fast(time));
        // The first event of a request that failed may have come in time.
        (if span.is_of_events() { late } else { late.max(failed) }, late + failed)
    }
}

/// Times of the requests that a promise is about, with those that failed as never in time. Where no answer streams, none is.
fn times(run: &Summary, span: Span) -> Times<'_> {
    let mut times = Times::of(run, span);
    if span.is_of_events() {
        let failed = run.requests.failed + run.requests.unsent;
        times.all = times.good + failed.min(run.requests.due.saturating_sub(times.good));
        if times.all == 0 {
            times.all = run.requests.due;
        }
    }
    times
}

/// The quantile of response time over all requests that fell due; `None` where it lies among those that failed.
#[must_use]
pub(crate) fn response_quantile(run: &Summary, q: f64) -> Option<Nanos> {
    Times::of(run, Span::Response).quantile(q).0
}

/// 1 − 0.999 is 0.0010000000000000009 in binary; what the user wrote has fewer digits.
fn tidy(share: f64) -> f64 {
    (share * 1e12).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    fn slo(text: &str) -> Result<Slo, Unsearchable> {
        Slo::try_from(text.parse::<Check>().unwrap())
    }

    fn run(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    #[test]
    fn a_quantile_and_a_share_say_how_many_may_be_bad() {
        for (text, name, bad_share_max) in [
            ("p99 < 50ms", "p99", 0.01),
            ("p99.9 <= 1s", "p99.9", 0.001),
            ("p50 < 5ms", "p50", 0.5),
            ("failed < 0.1%", "failed", 0.001),
            ("failed <= 0", "failed", 0.0),
            ("failed < 1", "failed", 0.0),
            ("first_event p95 < 800ms", "first_event p95", 0.05),
            ("time_per_token p99 < 80ms", "time_per_token p99", 0.01),
        ] {
            let promise = slo(text).unwrap().promise();
            assert_eq!((promise.name.as_str(), promise.bad_share_max, promise.text.as_str()), (name, bad_share_max, text));
        }
    }

    #[test]
    fn what_no_single_request_keeps_or_breaks_is_refused_with_what_to_write_instead() {
        for (text, help) in [
            ("mean < 20ms", "promise p50 < 20ms"),
            ("max < 1s", "promise p99.9 < 1s"),
            ("service_time.p95 < 50ms", "promise p95 < 50ms, of response time"),
            ("ttfb.mean < 50ms", "promise p99 < 50ms, of response time"),
            ("first_event mean < 800ms", "promise first_event p50 < 800ms"),
            ("time_per_token max < 80ms", "promise time_per_token p99.9 < 80ms"),
            (
                "between_events p99 < 80ms",
                "promise first_event p95 < 80ms or time_per_token p99 < 80ms, or hold it at each load of a sweep with --check",
            ),
            ("qps > 500", "leave it out, and look at the answer"),
            ("failed < 10", "promise a share, such as failed < 0.1%"),
            ("status.5xx < 1%", "promise failed < 0.1%, which counts every failure and every request unsent"),
            ("unsent < 1%", "promise failed < 0.1%, which counts every failure and every request unsent"),
            ("p99 > 50ms", "promise a limit from above, such as p99 < 50ms or failed < 0.1%"),
        ] {
            assert_eq!(slo(text).unwrap_err().help.spelt(plan::Spelling::Flags), help, "{text}");
        }
        assert_eq!(slo("failed == 0").unwrap().part, Part::Well { bad_share_max: 0.0 });
        assert!(slo("failed == 5%").is_err());
        assert_eq!(slo("qps > 500").unwrap_err().to_string(), "'qps > 500' cannot be searched with: the rate is what the search finds");
    }

    #[test]
    fn a_request_that_failed_breaks_every_promise() {
        let run = run("failures_of_every_side");
        let failed = run.requests.failed + run.requests.unsent;
        assert!(failed > 0);
        assert_eq!(slo("failed < 1%").unwrap().bad(&run), failed);
        // No answer takes an hour.
        assert_eq!(slo("p99 < 1h").unwrap().bad(&run), failed);
        assert_eq!(slo("p99 < 1ns").unwrap().bad(&run), run.requests.due);
    }

    #[test]
    fn a_promise_of_events_is_about_what_streams_and_what_failed() {
        let run = run("answers_that_streamed");
        let streams = run.streams.as_deref().unwrap();
        let (early, never) = (slo("first_event p95 < 1h").unwrap(), slo("first_event p95 < 1ns").unwrap());
        let failed = run.requests.failed + run.requests.unsent;
        let all = streams.answers + failed.min(run.requests.due - streams.answers);
        assert_eq!((early.of(&run), early.bad(&run), never.bad(&run)), (all, all - streams.answers, all));
        assert!((early.value(&run) - streams.first_event.quantile(0.95).unwrap().as_secs_f64()).abs() < 1e-3);
        let plain = self::run("closed_all_well");
        assert_eq!((early.of(&plain), early.bad(&plain)), (plain.requests.due, plain.requests.due), "no answer had an event in time");
    }

    #[test]
    fn the_intervals_of_a_run_hold_its_bad_requests_between_their_bounds() {
        for (name, run) in fixtures::summaries() {
            for text in ["p99 < 5ms", "failed < 1%", "first_event p95 < 300ms", "first_event p95 < 1ns"] {
                let slo = slo(text).unwrap();
                let (low, high) = run.timeline.iter().map(|tick| slo.bad_in(tick)).fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
                let bad = slo.bad(&run);
                assert!(low <= bad && bad <= high, "{name}, {text}: {low} {bad} {high}");
            }
        }
    }
}
