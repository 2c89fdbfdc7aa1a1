//! The row of a process or a machine in a run of several: what it contributed, and whether it was there to its end.

use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::source::SourceId;
use crate::{Histogram, Requests, Snapshot};

/// A site of a run of several, as it joins: before anything of its sources is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteMember {
    /// As people call it.
    pub name: String,
    /// Its sources.
    pub sources: Vec<SourceId>,
    /// How exactly its clock is known, so how far its start may be from that of the others; `None` where all have one clock.
    #[serde(rename = "clock_error_ns")]
    pub clock_error: Option<Nanos>,
}

/// What one site of a run of several did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteRow {
    /// As people call it.
    pub name: String,
    /// How many threads it had.
    pub threads: u32,
    /// Requests by how they ended.
    pub requests: Requests,
    /// As of the whole run.
    pub response_time: Histogram,
    /// Opening TCP connections from there.
    pub connect: Histogram,
    /// From ready to sent: what loadline added there.
    pub lag: Histogram,
    /// Processor time of its workers, in nanoseconds.
    pub cpu_ns: u64,
    /// How exactly its clock was known; `None` where all had one clock.
    #[serde(rename = "clock_error_ns", default, skip_serializing_if = "Option::is_none")]
    pub clock_error: Option<Nanos>,
    /// Why it was gone before its end, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

impl SiteRow {
    /// A site and what its sources counted.
    pub(crate) fn new(member: SiteMember, counts: &Snapshot, lost: Option<String>) -> Self {
        let SiteMember { name, sources, clock_error } = member;
        let mut response_time = counts.response_succeeded.clone();
        response_time.add(&counts.response_failed);
        // What was on its way when the site was gone has failed.
        let failed = if lost.is_some() { counts.due.saturating_sub(counts.succeeded + counts.unsent) } else { counts.failed() };
        let requests = Requests { due: counts.due, succeeded: counts.succeeded, failed, unsent: counts.unsent };
        let (connect, lag) = (counts.connect.clone(), counts.lag.clone());
        Self { name, threads: sources.len() as u32, requests, response_time, connect, lag, cpu_ns: counts.cpu.0, clock_error, lost }
    }
}
