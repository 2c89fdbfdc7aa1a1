//! wrk's report, line by line, from a finished run.
//!
//! Scripts cut these lines apart by columns and words, so layout, units and rounding are wrk's own. Its numbers are not all true:
//! it takes slow answers out of the distribution, invents samples below those it kept, and does not see a request that is never
//! answered. Here the same places hold what was measured: every answer at its time, and what never came at the time that was
//! waited for it. [`Formulas::Original`] brings the old arithmetic back for those who compare with old figures.
//!
//! Invariant: the same Summary and the same [`Facts`] give the same bytes.

mod correction;
pub(crate) mod units;

use measure::{Failure, Statistics, Status, Summary};
use plan::Nanos;

use correction::corrected;
use units::{binary, cell, metric, time_s, time_us};

/// What the report repeats of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// As given.
    pub url: String,
    /// As given.
    pub threads: u64,
    /// As given.
    pub connections: u64,
    /// As given, in seconds.
    pub duration_s: u64,
    /// Answers that take longer count as timeouts.
    pub timeout: Nanos,
    /// Whether percentiles are printed.
    pub latency: Latency,
    /// By which arithmetic.
    pub formulas: Formulas,
}

/// Whether percentiles are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latency {
    /// They are not.
    Brief,
    /// They are.
    Percentiles,
}

/// By which arithmetic figures are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formulas {
    /// What was measured.
    True,
    /// The original's.
    Original,
}

/// What stands there while the load runs.
#[must_use]
pub fn banner(facts: &Facts) -> String {
    let Facts { url, threads, connections, duration_s, .. } = facts;
    format!("Running {} test @ {url}\n  {threads} threads and {connections} connections\n", time_s(*duration_s as f64))
}

/// What follows when it has ended.
#[must_use]
pub fn report(run: &Summary, facts: &Facts) -> String {
    let latency = latency(run, facts);
    let mut text = thread_stats(&latency, &rates(run));
    if facts.latency == Latency::Percentiles {
        text += "  Latency Distribution\n";
        for percent in [50.0, 75.0, 90.0, 99.0] {
            text += &format!("{percent:7.0}%{}\n", cell(&time_us(latency.percentile(percent)), 10));
        }
    }
    text += &totals(run, facts);
    text
}

/// The answers' times in microseconds.
#[must_use]
pub fn latency(run: &Summary, facts: &Facts) -> Statistics {
    match facts.formulas {
        Formulas::True => Statistics::of_times(&run.service_time),
        Formulas::Original => {
            let kept = run.service_time.recorded().filter(|(time, _)| *time <= facts.timeout).map(|(time, count)| (time.0 / 1_000, count));
            let samples = Statistics::from_counts(kept);
            let expected = (run.duration_s * 1e6) as u64 / (completed(run) / facts.connections.max(1)).max(1);
            if completed(run) >= facts.connections { corrected(&samples, expected) } else { samples }
        }
    }
}

/// The answers a second of single threads.
#[must_use]
pub fn rates(run: &Summary) -> Statistics {
    Statistics::from_counts(run.worker_rates.recorded())
}

/// Answers within the measured span, whatever their status.
#[must_use]
pub fn completed(run: &Summary) -> u64 {
    (run.qps * run.duration_s).round() as u64
}

/// Bytes of the answers within the measured span: what comes while the last are waited for is in no count of wrk's.
#[must_use]
pub fn received(run: &Summary) -> u64 {
    let until = run.ended.load_until;
    let within = run.timeline.iter().filter(|tick| tick.to <= until);
    let (answered, bytes) = within.fold((0, 0), |(answered, bytes), tick| (answered + tick.answered, bytes + tick.bytes_received));
    // Of an interval in which the load ended, as much as its answers are of those within.
    let last = run.timeline.iter().find(|tick| tick.from < until && tick.to > until && tick.answered > 0);
    let of_last = last.map_or(0.0, |tick| {
        let share = completed(run).saturating_sub(answered) as f64 / tick.answered as f64;
        tick.bytes_received as f64 * share.min(1.0)
    });
    bytes + of_last.round() as u64
}

/// The two rows.
pub(crate) fn thread_stats(latency: &Statistics, rates: &Statistics) -> String {
    let row = |name: &str, samples: &Statistics, format: fn(f64) -> String| {
        let (mean, stdev, max) = (cell(&format(samples.mean()), 8), cell(&format(samples.stdev()), 10), cell(&format(samples.max()), 9));
        format!("    {name:<10}{mean}{stdev}{max}{:>8}%\n", percent(samples.within_a_stdev()))
    };
    let head = format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
    head + &row("Latency", latency, time_us) + &row("Req/Sec", rates, metric)
}

/// As the C library prints what is no number.
fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-nan".to_owned(), |value| format!("{value:.2}"))
}

/// From the count of requests on.
pub(crate) fn totals(run: &Summary, facts: &Facts) -> String {
    let a_second = |count: f64| if run.duration_s > 0.0 { count / run.duration_s } else { 0.0 };
    let received = received(run) as f64;
    let mut text = format!("  {} requests in {}, {}B read\n", completed(run), time_us(run.duration_s * 1e6), binary(received));
    let errors = SocketErrors::of(run, facts.timeout);
    if errors != SocketErrors::default() {
        let SocketErrors { connect, read, write, timeout } = errors;
        text += &format!("  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}\n");
    }
    let bad = error_statuses(run);
    if bad > 0 {
        text += &format!("  Non-2xx or 3xx responses: {bad}\n");
    }
    text += &format!("Requests/sec: {:>9.2}\n", run.qps);
    text += &format!("Transfer/sec: {:>10}B\n", binary(a_second(received)));
    text
}

/// Answers with a status above 399.
#[must_use]
pub fn error_statuses(run: &Summary) -> u64 {
    run.status.iter().filter(|(status, _)| !Status(**status).is_success()).map(|(_, count)| count).sum()
}

/// wrk's four counters, made of the classes of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketErrors {
    /// No connection could be had: TCP, TLS, name or proxy.
    pub connect: u64,
    /// The connection broke, or the answer was none.
    pub read: u64,
    /// The request could not be written.
    pub write: u64,
    /// Answered later than the timeout, or not at all.
    pub timeout: u64,
}

impl SocketErrors {
    /// The counters of a run; what took longer than `timeout` counts as such, though it may have been answered.
    #[must_use]
    pub fn of(run: &Summary, timeout: Nanos) -> Self {
        let begins = |class: Failure, parts: &[&str]| parts.iter().any(|part| class.code().starts_with(part));
        // A bucket is named by its greatest time, so that of the timeout itself is among them.
        let late = run.service_time.count_where(|time| time >= timeout);
        Self {
            connect: count_of(run, Failure::is_connect),
            read: count_of(run, |class| !class.is_timeout() && begins(class, &["recv.", "proto1.", "limit.", "stale_reuse"])),
            write: count_of(run, |class| !class.is_timeout() && begins(class, &["send."])),
            timeout: late,
        }
    }
}

fn count_of(run: &Summary, is: impl Fn(Failure) -> bool) -> u64 {
    run.failures.iter().filter(|failure| is(failure.class)).map(|failure| failure.count).sum()
}
