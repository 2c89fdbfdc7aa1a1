//! The finished run: what reports read, history stores, and a later run repeats.
//!
//! Its JSON form is the result file. It is complete when it is made: what the server's side, the profilers and the history know of a run
//! goes into a [`SummaryBuilder`], and closing that is the one way to a Summary beside reading a file. Public fields that anybody
//! completes later, the alternative, left no moment from which on a run could be trusted to be whole. Figures that people and scripts
//! want (rates, quantiles) stand beside the exact counts and histograms they were made from, so that any later question can be
//! answered without running again.
//!
//! Invariant: a Summary that exists does not change.

use std::collections::BTreeMap;
use std::ops::Deref;

use plan::{Nanos, Plan};
use serde::{Deserialize, Serialize};

use crate::snapshot::is_zero;
use crate::{
    AwaitedBodies, Connections, FailureCount, Gaps, Histogram, Machine, OwnDelay, PackedAnswers, PopulationRow, Rates, ReplayComparison,
    Requests, RunProfile, Scenario, ServerObservation, SiteRow, StepRow, StreamRow, Tick, WarmUp, WebSocketCounts,
};

mod builder;
mod together;

pub use builder::SummaryBuilder;

/// The version of the result file. A reader of this version refuses any other by name.
pub const SCHEMA: &str = "loadline.run/1";

/// The finished run: closed by its [`SummaryBuilder`] or read from a file, and never changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Summary(SummaryRecord);

/// The facts of a run, as a result file holds them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryRecord {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What was done; it can be done again.
    pub plan: Plan,
    /// The other tool that measured this run, such as `JMeter`. Of such a run only what its file tells is here: response times begin when
    /// a request was sent, nothing is known of lag, of connections and of the generator, and of the plan only the target and the most users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_by: Option<String>,
    /// Where the load came from.
    pub machine: Machine,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// How it ended.
    pub ended: End,
    /// The measured span in seconds, warm-up and drain not included.
    pub duration_s: f64,
    /// Users in closed load; in open load the most connections open at once.
    pub concurrency: u64,
    /// Answers a second in the measured span, whatever their status.
    pub qps: f64,
    /// Answers a second with a status below 400.
    pub qps_succeeded: f64,
    /// What was asked for: the mean rate of the timetable; `None` in closed load.
    pub qps_offered: Option<f64>,
    /// Requests on the wire at once, on average over the measured span: counted, not computed from times.
    pub in_flight_mean: f64,
    /// Of the service times, what lies after the end of the load, all requests together; `None` in results that do not tell.
    #[serde(rename = "service_drained_ns", default, skip_serializing_if = "Option::is_none")]
    pub service_drained: Option<Nanos>,
    /// Of the service times of requests of the warm-up, which are not among those below, what lies after its end; of all together.
    #[serde(rename = "service_of_warmup_ns", default, skip_serializing_if = "Nanos::is_zero")]
    pub service_of_warmup: Nanos,
    /// Requests by how they ended.
    pub requests: Requests,
    /// What the warm-up held, and nothing else here.
    pub excluded: WarmUpCounts,
    /// Answers by status.
    pub status: BTreeMap<u16, u64>,
    /// Failures by class, most frequent first.
    pub failures: Vec<FailureCount>,
    /// What went over the wire, warm-up included.
    pub bytes: Bytes,
    /// From due to the last byte: every request that was answered, timed out or unsent (at the limit).
    pub response_time: Histogram,
    /// The same of those alone that succeeded.
    pub response_time_succeeded: Histogram,
    /// From sent to the last byte.
    pub service_time: Histogram,
    /// From sent to the first byte.
    pub ttfb: Histogram,
    /// Opening TCP connections.
    pub connect: Histogram,
    /// TLS handshakes.
    pub tls: Histogram,
    /// From due until a Lane was free.
    pub wait: Histogram,
    /// From ready to sent: what loadline added.
    pub lag: Histogram,
    /// The response times of the requests that loadline itself delayed, with and without that.
    #[serde(default, skip_serializing_if = "OwnDelay::is_empty")]
    pub own_delay: OwnDelay,
    /// Connections over the whole run, warm-up included.
    pub connections: Connections,
    /// Answers that were packed, over the whole run, where the plan asks for such.
    #[serde(default, skip_serializing_if = "PackedAnswers::is_empty")]
    pub packed: PackedAnswers,
    /// Requests whose bodies waited for the server's word, over the whole run.
    #[serde(default, skip_serializing_if = "AwaitedBodies::is_empty")]
    pub awaited: AwaitedBodies,
    /// Redirects followed.
    pub redirects: u64,
    /// Oddities of answers.
    pub quirks: Vec<QuirkCount>,
    /// Where the target's name led.
    pub resolution: Resolution,
    /// One entry an interval: seconds for an hour, longer ones after.
    pub timeline: Vec<Tick>,
    /// Answers a second of one worker, looked at ten times a second: how often each rate was seen.
    #[serde(default, skip_serializing_if = "Rates::is_empty")]
    pub worker_rates: Rates,
    /// What the load cost this machine.
    pub generator: Generator,
    /// What each process or machine did, where the load came from several; a warm-up that was found later is among it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SiteRow>,
    /// The server's side of the same time, where it was watched.
    #[serde(default, deserialize_with = "crate::observed::whole", skip_serializing_if = "Vec::is_empty")]
    pub observed: Vec<ServerObservation>,
    /// The rows of the scenario, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Scenario>,
    /// Its populations, where several loads ran side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub populations: Vec<PopulationRow>,
    /// A row for each URL of a list, or for the only one where something was expected of its answers; empty in a scenario.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<StepRow>,
    /// Answers that streamed: their events, where the plan says that they are looked for and any came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Box<StreamRow>>,
    /// Connections of WebSocket over the whole run, warm-up included, where there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub websockets: Option<Box<WebSocketCounts>>,
    /// The answers beside those of the log that was replayed, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Box<ReplayComparison>>,
    /// Where the server spent its time or memory, where a profile was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<RunProfile>,
    /// What the user should know besides.
    pub warnings: Vec<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// As planned.
    Finished,
    /// By the user.
    Interrupted,
    /// By a condition the user had set for it.
    Aborted,
    /// By an error; what was measured until then is here.
    CutShort,
    /// From outside, as the program was killed or lost its power; what it had written down until then is here.
    Killed,
}

/// How the run ended, and what the collector cannot count itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// As planned or not.
    pub how: Ending,
    /// When the load ended, from the start: the planned end, or when the last request of a counted run was done, or the interruption.
    #[serde(rename = "load_until_ns")]
    pub load_until: Nanos,
    /// When the last request was done, drain included.
    #[serde(rename = "drained_at_ns")]
    pub drained_at: Nanos,
}

/// The warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct WarmUpCounts {
    /// How long it was.
    pub duration_s: f64,
    /// How many requests it held.
    pub requests: u64,
    /// What was found, where the warm-up was not given but to be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<WarmUp>,
}

/// Oddities of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuirkCount {
    /// Its code, such as `bare_lf`.
    pub quirk: String,
    /// How many answers had it.
    pub count: u64,
    /// What the server did, in words.
    pub about: String,
}

/// Bytes over the wire, heads included, TLS not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bytes {
    /// To the server.
    pub sent: u64,
    /// From the server.
    pub received: u64,
}

/// Where the target's name led: looked up once, before the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Resolution {
    /// What was looked up.
    pub name: String,
    /// Every address, in the order connections are spread over them.
    pub addresses: Vec<String>,
    /// How long it took; `None` where nothing had to be looked up.
    #[serde(rename = "took_ns")]
    pub took: Option<Nanos>,
}

/// The generator's own health.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Generator {
    /// Cores' worth of processor time the workers used, on average over the run.
    pub cpu_share: f64,
    /// Processor time of the workers, in nanoseconds.
    pub cpu_ns: u64,
    /// The greatest share of one core a single worker used on average.
    pub cpu_share_busiest: f64,
    /// How many workers, one thread each.
    pub threads: u32,
    /// How many processes they were in, where it was more than one; else 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub processes: u32,
    /// The share of workers that were gone with their process or machine before their end, from 0 to 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_share: f64,
    /// The greatest share of the run that one worker was ready to run and got no core; `None` where the system does not tell.
    pub run_queue_share: Option<f64>,
    /// The share of this machine's processor time that its host gave to others; `None` where the system does not tell.
    pub steal_share: Option<f64>,
    /// The share of the periods of loadline's own quota of processor time in which it had to stop; `None` without a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_share: Option<f64>,
    /// The share of this machine's processor time that went to programs other than loadline and the server; `None` where the
    /// server is not on this machine, or its process not to be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_share: Option<f64>,
    /// When workers did not run though they had to: paused, frozen, stunned or stopped by a quota.
    #[serde(default, skip_serializing_if = "Gaps::is_empty")]
    pub gaps: Gaps,
    /// Of the time in which the server's threads wanted a core, the share they waited for one; `None` as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_wait_share: Option<f64>,
    /// Requests a second this machine could have sent in the place of this run, where that was measured before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_qps: Option<f64>,
    /// Resident memory at most, in bytes; `None` where the system does not tell.
    pub memory_bytes_max: Option<u64>,
}

impl Deref for Summary {
    type Target = SummaryRecord;

    fn deref(&self) -> &SummaryRecord {
        &self.0
    }
}

impl Summary {
    /// Checks the version of a result file.
    ///
    /// # Errors
    /// If it is none, or another than [`SCHEMA`].
    pub fn check_schema(schema: Option<&str>) -> Result<(), SummaryError> {
        match schema {
            Some(SCHEMA) => Ok(()),
            Some(other) => Err(SummaryError::Version(other.to_owned())),
            None => Err(SummaryError::NotAResult),
        }
    }

    /// The facts, to be made wrong on purpose: for tests and fixtures alone, which a test of the house holds.
    #[must_use]
    pub const fn edit_for_test(&mut self) -> &mut SummaryRecord {
        &mut self.0
    }
}

impl SummaryRecord {
    /// Whether runs from the machines of both can be held against each other: as many, with as many cores of the same processors.
    #[must_use]
    pub fn is_from_like_machines(&self, other: &Self) -> bool {
        fn all(run: &SummaryRecord) -> Vec<(&str, u32)> {
            // For one that does not say, as in results of before it was told, the run's own stands; and once for all processes of this one.
            let others = run.other_machines().map(|site| site.machine.as_ref().unwrap_or(&run.machine));
            let run_own = run.other_machines().next().is_none().then_some(&run.machine);
            let mut all: Vec<_> = others.chain(run_own).map(|machine| (machine.processor.as_str(), machine.cores)).collect();
            all.sort_unstable();
            all
        }
        all(self) == all(other)
    }

    /// The sites on other machines; none where the load came from the one that told of it.
    pub fn other_machines(&self) -> impl Iterator<Item = &SiteRow> {
        self.sites.iter().filter(|site| site.clock_error.is_some())
    }

    /// The intervals in which load was offered. What follows is the drain: a moment without new requests, for which no chart should bend.
    pub fn load_ticks(&self) -> impl Iterator<Item = &Tick> {
        self.timeline.iter().filter(|tick| tick.from < self.ended.load_until)
    }

    /// A quantile of the response time without what loadline itself added; a lower bound. `None` without response times.
    #[must_use]
    pub fn quantile_without_own_delay(&self, q: f64) -> Option<Nanos> {
        self.own_delay.quantile_without(&self.response_time, q)
    }

    /// What the server answered of what it was asked for, from 0 to 1; `None` in closed load.
    #[must_use]
    pub fn achieved_share(&self) -> Option<f64> {
        self.qps_offered.filter(|offered| *offered > 0.0).map(|offered| self.qps / offered)
    }
}

/// Why a file is not a result that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummaryError {
    /// It says another version.
    Version(String),
    /// It says none.
    NotAResult,
}

impl std::fmt::Display for SummaryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Version(version) => write!(f, "it is written as '{version}', and this loadline reads '{SCHEMA}'"),
            Self::NotAResult => f.write_str("it is not a result of loadline"),
        }
    }
}

impl std::error::Error for SummaryError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn runs_of_as_many_machines_that_do_not_say_what_they_are_are_from_like_ones() {
        let run = |rows: &[SiteRow]| {
            let (_, mut run) = fixtures::summaries().remove(0);
            run.edit_for_test().sites = rows.to_vec();
            run
        };
        let (far, here) = (fixtures::other_machine, |name: &str| SiteRow { clock_error: None, ..fixtures::other_machine(name) });
        let own = run(&[]).machine.clone();
        let told = |name: &str| SiteRow { machine: Some(own.clone()), ..far(name) };
        let (two, three) = (run(&[far("a"), far("b")]), run(&[far("a"), far("b"), far("c")]));
        assert!(two.is_from_like_machines(&run(&[told("c"), far("d")])) && !two.is_from_like_machines(&three));
        assert!(run(&[here("1"), here("2")]).is_from_like_machines(&run(&[])) && !two.is_from_like_machines(&run(&[])));
    }
}
