//! The row of a process or a machine in a run of several: what it contributed, and whether it was there to its end.

use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::source::SourceId;
use crate::sparse::SparseHistogram;
use crate::{Machine, PackedHistogram, Requests, Snapshot};

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
    /// The machine it is on; `None` where that is the one that tells of it.
    pub machine: Option<Machine>,
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
    pub response_time: PackedHistogram,
    /// Opening TCP connections from there.
    pub connect: PackedHistogram,
    /// From ready to sent: what loadline added there.
    pub lag: PackedHistogram,
    /// Processor time of its workers, in nanoseconds.
    pub cpu_ns: u64,
    /// How exactly its clock was known; `None` where all had one clock.
    #[serde(rename = "clock_error_ns", default, skip_serializing_if = "Option::is_none")]
    pub clock_error: Option<Nanos>,
    /// Why it was gone before its end, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// The machine it was on; `None` where that is the run's own, and in results of before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// What one site did so far.
#[derive(Debug)]
pub(crate) struct SiteCounts {
    member: SiteMember,
    requests: Requests,
    response_time: SparseHistogram,
    connect: SparseHistogram,
    lag: SparseHistogram,
    cpu_ns: u64,
    /// Why it is gone, if it is.
    pub(crate) lost: Option<String>,
}

impl SiteCounts {
    /// A site that joins.
    pub(crate) fn new(member: SiteMember) -> Self {
        let times = SparseHistogram::default;
        Self { member, requests: Requests::default(), response_time: times(), connect: times(), lag: times(), cpu_ns: 0, lost: None }
    }

    /// Adds what one of its sources counted in an interval.
    pub(crate) fn add(&mut self, counts: &Snapshot) {
        self.requests.add(&Requests { due: counts.due, succeeded: counts.succeeded, failed: counts.failed(), unsent: counts.unsent });
        self.response_time.add(&SparseHistogram::from(&counts.response_succeeded));
        self.response_time.add(&SparseHistogram::from(&counts.response_failed));
        self.connect.add(&SparseHistogram::from(&counts.connect));
        self.lag.add(&SparseHistogram::from(&counts.lag));
        self.cpu_ns += counts.cpu.0;
    }

    /// Its clock may be off by so much.
    pub(crate) fn note_clock(&mut self, error: Nanos) {
        self.member.clock_error = self.member.clock_error.max(Some(error));
    }

    /// The row when all has been told: what was on its way when the site was gone has failed.
    pub(crate) fn finish(self) -> SiteRow {
        let Self { member: SiteMember { name, sources, clock_error, machine }, mut requests, response_time, connect, lag, cpu_ns, lost } =
            self;
        if lost.is_some() {
            let Requests { due, succeeded, unsent, .. } = requests;
            requests.failed = due.saturating_sub(succeeded + unsent);
        }
        let threads = sources.len() as u32;
        let (response_time, connect, lag) = (response_time.pack(), connect.pack(), lag.pack());
        SiteRow { name, threads, requests, response_time, connect, lag, cpu_ns, clock_error, lost, machine }
    }
}
