//! What `done(summary, latency, requests)` is given.

use measure::{Failure, Summary};
use mlua::{Lua, MetaMethod, MultiValue, Table, UserData, UserDataMethods, Value};

use crate::{Measured, Statistics};

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
    pub fn of(measured: &Measured) -> Self {
        let summary = &measured.summary;
        let span = summary.ended.load_until;
        Self {
            duration_us: span.0 / 1_000,
            requests: summary.status.values().sum(),
            bytes: summary.bytes.received,
            errors: DoneErrors::of(summary),
            latency: Statistics::of_micros(&summary.service_time),
            rates: measured.requests.clone(),
        }
    }
}

impl DoneErrors {
    fn of(summary: &Summary) -> Self {
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
pub(crate) fn arguments(lua: &Lua, with: &DoneArguments) -> mlua::Result<(Table, Value, Value)> {
    let DoneArguments { duration_us, requests, bytes, errors, latency, rates } = with;
    let DoneErrors { connect, read, write, status, timeout } = *errors;
    let kinds = [("connect", connect), ("read", read), ("write", write), ("status", status), ("timeout", timeout)];
    let errors = lua.create_table_from(kinds.map(|(kind, count)| (kind, count as f64)))?;
    let summary = lua.create_table_from([("duration", *duration_us), ("requests", *requests), ("bytes", *bytes)].map(|(name, value)| (name, value as f64)))?;
    summary.raw_set("errors", errors)?;
    let object = |of: &Statistics| lua.create_userdata(Shown(of.clone())).map(Value::UserData);
    Ok((summary, object(latency)?, object(rates)?))
}

/// A statistics object.
struct Shown(Statistics);

impl UserData for Shown {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, Self(of), p: f64| Ok(of.percentile(p) as f64));
        methods.add_meta_method(MetaMethod::Len, |_, Self(of), ()| Ok(of.counts().len() as f64));
        methods.add_meta_method(MetaMethod::Call, |_, Self(of), place: f64| {
            let pair = of.counts().get((place as usize).wrapping_sub(1)).copied().unwrap_or((0, 0));
            Ok((pair.0 as f64, pair.1 as f64))
        });
        methods.add_meta_method(MetaMethod::Index, |_, Self(of), field: Value| {
            let name = field.as_string().map(|name| name.to_string_lossy());
            Ok(MultiValue::from_iter([match name.as_deref() {
                Some("min") => Value::Number(of.min() as f64),
                Some("max") => Value::Number(of.max() as f64),
                Some("mean") => Value::Number(of.mean()),
                Some("stdev") => Value::Number(of.stdev()),
                // As in wrk, any other name is itself.
                _ => field,
            }]))
        });
    }
}
