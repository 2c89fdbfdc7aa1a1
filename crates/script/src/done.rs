//! What `done(summary, latency, requests)` is given.

use measure::{Failure, Statistics, SummaryRecord};
use mlua::{Lua, Table};

use crate::Interface;

/// The arguments of `done`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DoneArguments {
    /// How long the load lasted, in microseconds.
    pub duration_us: u64,
    /// Answers.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// What went wrong.
    pub errors: DoneErrors,
    /// Times of answers, in microseconds.
    pub latency: Statistics,
    /// Answers a second: one value a thread and 100 ms.
    pub rates: Statistics,
}

/// Errors by wrk's kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DoneErrors {
    /// No connection.
    pub connect: u64,
    /// The answer did not come, or could not be read.
    pub read: u64,
    /// The request could not be sent.
    pub write: u64,
    /// Answers with a status above 399.
    pub status: u64,
    /// Not within the timeout.
    pub timeout: u64,
}

impl DoneArguments {
    /// Those of a run: times from the first byte sent to the last received.
    #[must_use]
    pub fn of(summary: &SummaryRecord) -> Self {
        let span = summary.ended.load_until;
        Self {
            duration_us: span.0 / 1_000,
            requests: summary.status.values().sum(),
            bytes: summary.bytes.received,
            errors: DoneErrors::of(summary),
            latency: Statistics::of_micros(&summary.service_time),
            rates: Statistics::from_counts(summary.worker_rates.recorded()),
        }
    }
}

impl DoneErrors {
    fn of(summary: &SummaryRecord) -> Self {
        let mut errors = Self::default();
        for failed in &summary.failures {
            let of = match failed.class {
                Failure::CheckStatus => &mut errors.status,
                class if class.is_timeout() => &mut errors.timeout,
                class if class.is_connect() => &mut errors.connect,
                Failure::SendReset | Failure::SendClosed => &mut errors.write,
                _ => &mut errors.read,
            };
            *of += failed.count;
        }
        errors
    }
}

/// The arguments as Lua values.
pub(crate) fn arguments(lua: &Lua, with: &DoneArguments, interface: Interface) -> mlua::Result<(Table, Table, Table)> {
    let DoneArguments { duration_us, requests, bytes, errors, latency, rates } = with;
    let DoneErrors { connect, read, write, status, timeout } = *errors;
    let kinds = [("connect", connect), ("read", read), ("write", write), ("status", status), ("timeout", timeout)];
    let errors = lua.create_table_from(kinds.map(|(kind, count)| (kind, count as f64)))?;
    let summary = lua.create_table_from(
        [("duration", *duration_us), ("requests", *requests), ("bytes", *bytes)].map(|(name, value)| (name, value as f64)),
    )?;
    summary.raw_set("errors", errors)?;
    Ok((summary, functions(lua, latency, interface)?, functions(lua, rates, interface)?))
}

/// What `wrk.lua` makes a statistics object of: wrk's is called with a place among its distinct values, wrk2's has an index that
/// counts every value.
fn functions(lua: &Lua, of: &Statistics, interface: Interface) -> mlua::Result<Table> {
    let own = lua.create_table()?;
    for (name, value) in [("min", of.min()), ("max", of.max()), ("mean", of.mean()), ("stdev", of.stdev())] {
        own.raw_set(name, value)?;
    }
    let values = of.clone();
    match interface {
        Interface::Wrk => {
            own.raw_set("count", of.counts().len() as f64)?;
            own.raw_set("percentile", lua.create_function(move |_, p: f64| Ok(values.percentile(p)))?)?;
            let values = of.clone();
            let at = move |_: &Lua, place: f64| {
                let (value, count) = values.counts().get((place as usize).wrapping_sub(1)).copied().unwrap_or((0.0, 0));
                Ok((value, count as f64))
            };
            own.raw_set("at", lua.create_function(at)?)?;
        }
        Interface::Wrk2 => {
            own.raw_set("count", of.count() as f64)?;
            let ranked = move |_: &Lua, rank: f64| Ok(values.at_rank(rank as u64));
            own.raw_set("ranked", lua.create_function(ranked)?)?;
            let values = of.clone();
            // HdrHistogram's rank.
            let percentile = move |_: &Lua, p: f64| Ok(values.at_rank((p / 100.0 * values.count() as f64 + 0.5) as u64));
            own.raw_set("percentile", lua.create_function(percentile)?)?;
        }
    }
    Ok(own)
}
