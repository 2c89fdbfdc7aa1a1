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
    /// A site that joins.
    pub(crate) fn new(member: SiteMember) -> Self {
        let SiteMember { name, sources, clock_error } = member;
        Self {
            name,
            threads: sources.len() as u32,
            requests: Requests::default(),
            response_time: Histogram::new(),
            connect: Histogram::new(),
            lag: Histogram::new(),
            cpu_ns: 0,
            clock_error,
            lost: None,
        }
    }

    /// Adds what one of its sources counted in an interval.
    pub(crate) fn add(&mut self, counts: &Snapshot) {
        self.requests.add(&Requests { due: counts.due, succeeded: counts.succeeded, failed: counts.failed(), unsent: counts.unsent });
        self.response_time.add(&counts.response_succeeded);
        self.response_time.add(&counts.response_failed);
        self.connect.add(&counts.connect);
        self.lag.add(&counts.lag);
        self.cpu_ns += counts.cpu.0;
    }

    /// The row when all has been told: what was on its way when the site was gone has failed.
    pub(crate) fn finish(mut self) -> Self {
        if self.lost.is_some() {
            let Requests { due, succeeded, unsent, .. } = self.requests;
            self.requests.failed = due.saturating_sub(succeeded + unsent);
        }
        self
    }
}
