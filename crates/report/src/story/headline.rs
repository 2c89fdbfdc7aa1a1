//! The headline: what came out, in one sentence, and where it went wrong what failed and why.
//!
//! Many readers see nothing else: the last line of a terminal, a row of a list, the title of a page. So a run in which everything
//! failed says so with its cause and gives no rate, a rate stands only where answers came, and a server that stopped answering on
//! the way has two rates, since the mean of both is one it never had. Rejected: the share of failures alone, which sends every
//! reader to look for the status.
//!
//! Invariant: a headline that names no failure means that no request failed.

use analysis::interval::Figure;
use analysis::outage::{Outage, outage};
use analysis::quantity::{self, count, counted, share};
use analysis::{Reading, answers, capitalised};
use measure::{Failure, FailureCount, Summary};
use plan::{Load, Nanos, Scheme};

use super::{half_width, rate, up_to};
use crate::visible::visible;
use measure::reason;

/// Causes of failures that are named; the others are counted.
const CAUSES_MAX: usize = 2;
/// Redirects that hold for good (RFC 9110 §15.4.2, §15.4.9).
const MOVED: [u16; 2] = [301, 308];
/// A run that was too short for its answers is to be this many times as long as they took.
const LONG_ENOUGH: u64 = 5;

/// The answer, in one sentence.
pub(crate) fn answer(reading: &Reading<'_>) -> String {
    let summary = reading.run;
    let requests = &summary.requests;
    match requests.due {
        0 => return "Nothing was measured: the run ended before the first request that counts".to_owned(),
        1 => return single(summary),
        _ => {}
    }
    let bad = requests.failed + requests.unsent;
    if bad == requests.due {
        return format!("All {} requests failed: {}", count(bad), causes(summary).join(", "));
    }
    if let Some(said) = answers::late(summary).map(late).or_else(|| all_redirects(summary)) {
        return said;
    }
    let outcome = match bad {
        0 => format!("all {} succeeded", count(requests.due)),
        _ => {
            format!("{} of {} failed ({}): {}", count(bad), counted(requests.due, "request"), share(bad, requests.due), listed(summary))
        }
    };
    match outage(summary) {
        Some(outage) => format!("{}; {outcome}", stopped(summary, &outage)),
        None => format!("{}; {outcome}", throughput(reading)),
    }
}

fn single(summary: &Summary) -> String {
    let how = match (summary.status.keys().next(), summary.failures.first()) {
        (Some(status), Some(failure)) if failure.class != Failure::CheckStatus => {
            format!("answered with {status} {} and failed: {}", reason(*status), failure.class.about())
        }
        (Some(status), _) => format!("answered with {status} {}", reason(*status)),
        (None, Some(failure)) => format!("failed: {}", cause(summary, failure)),
        (None, None) => "never sent: no connection was free in time".to_owned(),
    };
    let took = match summary.response_time.max() {
        Some(took) if summary.requests.unsent == 0 => format!(" after {}", quantity::nanos(Some(took))),
        _ => String::new(),
    };
    format!("One request, {how}{took}")
}

/// Answers a second and who asked for them.
fn throughput(reading: &Reading<'_>) -> String {
    let summary = reading.run;
    let sure = sure(reading);
    let requests = format!("{} requests a second", rate(summary.qps));
    if let Some(scenario) = &summary.scenario {
        if let Some(why) = scenario.nothing_finished() {
            return format!("{} ({requests})", visible(&capitalised(&why)));
        }
        if scenario.journeys.iter().all(|row| row.completed == 0) {
            return format!("No journey finished within {} ({requests})", quantity::length(summary.ended.load_until));
        }
        let offered = scenario.tps_offered.map_or_else(String::new, |offered| format!(" of {} started", rate(offered)));
        let users = match summary.plan.load() {
            Load::Closed { users, .. } => format!(" by {}{}", up_to(users), counted(summary.concurrency, "user")),
            Load::Open { .. } | Load::Mixed(_) => String::new(),
        };
        let sure = sure.replace(" (", ", ").replace(')', "");
        return format!("{} journeys a second{offered}{users} ({requests}{sure})", rate(scenario.tps));
    }
    match (summary.plan.load(), summary.qps_offered) {
        (Load::Open { .. }, Some(offered)) => {
            format!("{requests} answered{sure} of {} a second asked for", rate(offered))
        }
        (Load::Open { .. }, None) | (Load::Mixed(_), _) => format!("{requests}{sure}"),
        (Load::Closed { .. }, _) if summary.measured_by.is_some() => match summary.concurrency {
            0 => requests,
            users => format!("{requests} at up to {}", counted(users, "concurrent user")),
        },
        (Load::Closed { users, .. }, _) => {
            format!("{requests} at {}{}{sure}", up_to(users), counted(summary.concurrency, "concurrent user"))
        }
    }
}

/// How sure the throughput is, to stand behind it: ` (± 310)`; nothing where that is not known.
fn sure(reading: &Reading<'_>) -> String {
    reading.uncertainty.as_ref().and_then(|uncertainty| uncertainty.qps).map_or_else(String::new, |qps| format!(" ({})", margin(&qps)))
}

fn margin(qps: &Figure) -> String {
    let half = half_width(qps);
    // Of two seconds, chance could have made anything.
    if half >= qps.value {
        return "too short a run to say how sure".to_owned();
    }
    // Of an uncertainty, the first two digits tell all there is to tell.
    let unit = if half > 0.0 { 10f64.powf(half.log10().floor() - 1.0) } else { 1.0 };
    format!("± {}", rate((half / unit).ceil() * unit))
}

/// A run that was over before its answers came.
fn late((span, took): (Nanos, Nanos)) -> String {
    let longer = Nanos((took.0 * LONG_ENOUGH).div_ceil(1_000_000_000) * 1_000_000_000);
    format!(
        "No answer came within the {} of the run: answers took {}. Run longer: --duration {longer}",
        quantity::length(span),
        quantity::nanos(Some(took))
    )
}

/// Everything was answered with "look elsewhere", and nobody looked.
fn all_redirects(summary: &Summary) -> Option<String> {
    let (number, statuses) = answers::redirects_not_followed(summary)?;
    // For good: from http, mostly to https. Others lead to a log-in, to another path, to what was made.
    let is_moved = statuses.iter().all(|status| MOVED.contains(status));
    let statuses: Vec<String> = statuses.iter().map(|status| format!("{status} {}", reason(*status))).collect();
    (number == summary.requests.due).then(|| {
        let target = summary.plan.target();
        let secure = match target.scheme() {
            Scheme::Http if is_moved => format!(", such as https://{}", visible(&target.authority())),
            _ => String::new(),
        };
        let statuses = statuses.join(", ");
        let number = count(number);
        format!("All {number} answers were redirects ({statuses}) that were not followed: --follow 5, or the URL they lead to{secure}")
    })
}

/// A server that answered, and then no more.
fn stopped(summary: &Summary, outage: &Outage) -> String {
    format!(
        "The server stopped answering after {} of {}: {} requests a second before, none after",
        quantity::length(outage.at),
        quantity::length(summary.ended.load_until),
        rate(outage.qps_before)
    )
}

/// The causes of failures, most frequent first, and how often each where there are several.
fn causes(summary: &Summary) -> Vec<String> {
    let mut causes: Vec<(String, u64)> = Vec::new();
    for failure in &summary.failures {
        match statuses(summary, failure) {
            Some(statuses) => causes.extend(statuses.into_iter().map(|(status, number)| (format!("{status} {}", reason(status)), number))),
            None => causes.push((cause(summary, failure), failure.count)),
        }
    }
    if summary.requests.unsent > 0 {
        causes.push(("never sent, since no connection was free in time".to_owned(), summary.requests.unsent));
    }
    causes.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    if let [(one, _)] = causes.as_slice() {
        return vec![one.clone()];
    }
    let others = causes.len().saturating_sub(CAUSES_MAX) as u64;
    let mut said: Vec<String> = causes.into_iter().take(CAUSES_MAX).map(|(cause, number)| format!("{cause} ({})", count(number))).collect();
    if others > 0 {
        said.push(counted(others, "other cause"));
    }
    said
}

/// The same in a line, for a list of runs; empty where nothing failed.
#[must_use]
pub fn listed(summary: &Summary) -> String {
    causes(summary).join(", ")
}

/// The error statuses behind this class; `None` where they do not add up to it, as where a step expects an error.
pub(crate) fn statuses(summary: &Summary, failure: &FailureCount) -> Option<Vec<(u16, u64)>> {
    let errors: Vec<(u16, u64)> = summary.status.range(400..).map(|(status, number)| (*status, *number)).collect();
    let sum: u64 = errors.iter().map(|(_, number)| number).sum();
    (failure.class == Failure::CheckStatus && sum == failure.count).then_some(errors)
}

/// What happened, with the limit that was passed.
pub(crate) fn cause(summary: &Summary, failure: &FailureCount) -> String {
    // A step may have a limit of its own, and another tool has others.
    if summary.plan.scenario().is_some() || summary.measured_by.is_some() {
        return failure.class.about().to_owned();
    }
    let connection = summary.plan.connection();
    let (timeout, connect) = (quantity::length(connection.timeout), quantity::length(connection.connect_timeout));
    match failure.class {
        Failure::RecvIdleTimeout => format!("no answer within {timeout}"),
        Failure::RecvTotalTimeout => format!("answer not complete within {timeout}"),
        Failure::SendTimeout => format!("the server did not read the request within {timeout}"),
        Failure::ConnectTimeout => format!("no connection within {connect}"),
        Failure::TlsTimeout => format!("no TLS handshake within {connect}"),
        class => class.about().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::interval::Interval;
    use measure::fixtures;
    use measure::{End, Requests};

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    fn said(summary: &Summary) -> String {
        answer(&Reading::new(summary, &[]))
    }

    /// All of them answered with this status.
    fn all_answered_with(status: u16) -> Summary {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().status = [(status, run.requests.due)].into();
        if status >= 400 {
            run.edit_for_test().requests = Requests { failed: run.requests.due, succeeded: 0, ..run.requests };
            run.edit_for_test().failures = vec![FailureCount {
                class: Failure::CheckStatus,
                side: Failure::CheckStatus.side(),
                count: run.requests.due,
                example: None,
            }];
            run.edit_for_test().qps_succeeded = 0.0;
        }
        run
    }

    #[test]
    fn a_margin_as_wide_as_the_figure_is_said_in_words() {
        let of = |value: f64, low: f64, high: f64| margin(&Figure { value, interval: Interval { low, high } });
        assert_eq!(of(47_812.0, 47_502.0, 48_100.0), "± 310");
        assert_eq!(of(14_000.0, 900.0, 107_000.0), "too short a run to say how sure");
    }

    #[test]
    fn what_failed_is_named() {
        assert_eq!(said(&all_answered_with(404)), "All 120,000 requests failed: 404 Not Found");
        assert_eq!(said(&fixture("nothing_answered")), "All 50 requests failed: no answer within 2 s");
        assert!(said(&fixture("open_with_a_stall")).ends_with("21 of 20,000 requests failed (0.1 %): 503 Service Unavailable"));
        let several = said(&fixture("failures_of_every_side"));
        assert!(several.contains("200 of 5,000 requests failed (4 %): ") && several.ends_with("other causes"), "{several}");
    }

    #[test]
    fn redirects_that_nobody_followed_are_no_success() {
        assert_eq!(
            said(&all_answered_with(301)),
            "All 120,000 answers were redirects (301 Moved Permanently) that were not followed: --follow 5, or the URL they lead to, such as \
             https://127.0.0.1:8080"
        );
        // To a log-in, say: nothing speaks for https.
        assert!(said(&all_answered_with(302)).ends_with("(302 Found) that were not followed: --follow 5, or the URL they lead to"));
        assert!(said(&all_answered_with(304)).ends_with("all 120,000 succeeded"), "what is not modified leads nowhere");
    }

    #[test]
    fn a_run_shorter_than_its_answers_says_how_long_they_took() {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().qps = 0.0;
        run.edit_for_test().requests = Requests { due: 5, succeeded: 5, failed: 0, unsent: 0 };
        run.edit_for_test().status = [(200, 5)].into();
        run.edit_for_test().ended = End { load_until: Nanos::from_secs(2), ..run.ended };
        run.edit_for_test().response_time = measure::Histogram::new();
        (0..5).for_each(|_| run.edit_for_test().response_time.record(Nanos::from_secs(6)));
        assert_eq!(said(&run), "No answer came within the 2 s of the run: answers took 6.00 s. Run longer: --duration 30s");
    }

    #[test]
    fn a_server_that_stopped_answering_has_two_rates() {
        let mut run = fixture("closed_all_well");
        for tick in run.edit_for_test().timeline.iter_mut().skip(4) {
            (tick.failed, tick.answered, tick.succeeded) = (200, 0, 0);
            tick.failures = [(Failure::ConnectRefused, 200)].into();
        }
        let failed = 200 * 6;
        run.edit_for_test().requests = Requests { due: 48_000 + failed, succeeded: 48_000, failed, unsent: 0 };
        run.edit_for_test().failures =
            vec![FailureCount { class: Failure::ConnectRefused, side: measure::Side::Server, count: failed, example: None }];
        let said = said(&run);
        assert!(
            said.starts_with("The server stopped answering after 4 s of 10 s: 11,9")
                || said.starts_with("The server stopped answering after 4 s of 10 s: 12,0"),
            "{said}"
        );
        assert!(said.ends_with("none after; 1,200 of 49,200 requests failed (2.44 %): connection refused"), "{said}");
    }
}
