//! Counts over a span, which add up exactly: any split over threads, agents and intervals gives the same totals.
//!
//! No figure that is derived (a rate, a percentage, a quantile) is kept here, since such figures do not add up.

use std::collections::BTreeMap;

use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::{
    AwaitedBodies, Failure, Gaps, Histogram, OwnDelay, PackedAnswers, Quirk, Rates, StreamCounts, Tally, WebSocketCounts, streamed,
    websockets,
};

/// Statuses are three digits.
const STATUSES: usize = 1000;

/// What one worker counted in one interval, or what all counted in the whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Which interval of the run this is, from 0.
    pub interval: u32,
    /// Requests that fell due in the measured span.
    pub due: u64,
    /// Answered with a status below 400.
    pub succeeded: u64,
    /// Fell due and were never sent: no Lane came free in time.
    pub unsent: u64,
    /// Requests that did not succeed, by [`Failure::index`].
    pub failures: [u64; Failure::COUNT],
    /// Requests of the warm-up that came to an end: not part of anything else here but `answered`.
    pub excluded: u64,
    /// Answers whose last byte came within the measured span, whenever they fell due: what throughput counts.
    pub answered: u64,
    /// Of these, those with a status below 400.
    pub answered_well: u64,
    /// Answers by status.
    pub(crate) statuses: Box<[u64; STATUSES]>,
    /// Bytes written, heads included.
    pub bytes_sent: u64,
    /// Bytes read, heads included.
    pub bytes_received: u64,
    /// Redirects that were followed.
    pub redirects: u64,
    /// Response times of the requests that succeeded.
    pub response_succeeded: Histogram,
    /// Response times of those answered with an error status, timed out (at their limit) or unsent (at their limit).
    pub response_failed: Histogram,
    /// From sent to the last byte, for every request that was answered or timed out.
    pub service: Histogram,
    /// From sent to the first byte.
    pub first_byte: Histogram,
    /// From due until a Lane was free.
    pub wait: Histogram,
    /// From ready to sent.
    pub lag: Histogram,
    /// The response times of requests that loadline itself delayed, with and without that.
    pub own_delay: OwnDelay,
    /// Opening TCP connections, proxy included.
    pub connect: Histogram,
    /// TLS handshakes.
    pub tls: Histogram,
    /// Connections opened and closed.
    pub connections: Connections,
    /// Answers that were packed, where a plan asks for such.
    pub packed: PackedAnswers,
    /// Requests whose bodies waited for the server's word.
    pub awaited: AwaitedBodies,
    /// Oddities of answers, by [`Quirk::index`].
    pub quirks: [u64; Quirk::COUNT],
    /// The first example of each class.
    pub examples: BTreeMap<Failure, Example>,
    /// Requests on the wire, integrated over the measured span, in nanoseconds: kept by counting, not from their times.
    pub in_flight_area: u128,
    /// Of the service times, what lies after the end of the load: while draining.
    pub service_drained: Nanos,
    /// Of the service times of requests of the warm-up, what lies after its end and before that of the load.
    pub service_of_warmup: Nanos,
    /// When the worker did not run though it had to.
    pub gaps: Gaps,
    /// Processor time the worker's thread used.
    pub cpu: Nanos,
    /// The worker's own rate, looked at ten times a second.
    pub worker_rates: Rates,
    /// Events of answers that stream; `None` until the first comes.
    pub streams: Option<Box<StreamCounts>>,
    /// Connections of WebSocket; `None` until the first is opened.
    pub websockets: Option<Box<WebSocketCounts>>,
    /// The same requests by Step and by Journey, where there is a scenario.
    pub tally: Tally,
}

/// Connections opened, and who closed them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Connections {
    /// Opened with success.
    pub opened: u64,
    /// Of these, those on which HTTP/2 is spoken.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub http2: u64,
    /// Of these, those on which HTTP/3 is spoken.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub http3: u64,
    /// Of these, those on which WebSocket is spoken.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub websocket: u64,
    /// Of their TLS handshakes, those that resumed a session.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resumed: u64,
    /// Whether some answer said that the server speaks HTTP/3 too (`Alt-Svc`), where something else was spoken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub http3_is_offered: bool,
    /// Packets that were sent over QUIC, on connections that are closed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub packets: u64,
    /// Of these, those that did not arrive and were sent again, as far as acknowledgements tell.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub packets_lost: u64,
    /// Closed by the server, announced or not.
    pub closed_by_server: u64,
    /// Closed by us: after a failure, without keep-alive, or at the end.
    pub closed_by_us: u64,
}

impl Connections {
    /// What was spoken on them, such as `HTTP/2 and HTTP/1.1`.
    #[must_use]
    pub fn spoken(&self) -> String {
        let others = self.opened - self.http2 - self.http3 - self.websocket;
        let counts = [("WebSocket", self.websocket), ("HTTP/3", self.http3), ("HTTP/2", self.http2), ("HTTP/1.1", others)];
        let spoken: Vec<&str> = counts.into_iter().filter(|(_, count)| *count > 0).map(|(name, _)| name).collect();
        match spoken.split_last() {
            None => "HTTP/1.1".to_owned(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, before)) => format!("{} and {last}", before.join(", ")),
        }
    }
}

/// Who closed a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closer {
    /// The server, announced or not.
    Server,
    /// loadline.
    Us,
}

/// How the [`Example`] of an answer ends that says that plain HTTP came to a port for TLS.
pub const SPEAKS_TLS: &str = ": this port speaks TLS, so use https://";

/// What the first failure of its class looked like.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Example {
    /// When it was, from the start of the run.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// What was seen: the answer's first bytes, escaped, or the system's words. At most some 1,000 characters.
    pub text: String,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            interval: 0,
            due: 0,
            succeeded: 0,
            unsent: 0,
            failures: [0; Failure::COUNT],
            excluded: 0,
            answered: 0,
            answered_well: 0,
            statuses: Box::new([0; STATUSES]),
            bytes_sent: 0,
            bytes_received: 0,
            redirects: 0,
            response_succeeded: Histogram::new(),
            response_failed: Histogram::new(),
            service: Histogram::new(),
            first_byte: Histogram::new(),
            wait: Histogram::new(),
            lag: Histogram::new(),
            own_delay: OwnDelay::default(),
            connect: Histogram::new(),
            tls: Histogram::new(),
            connections: Connections::default(),
            packed: PackedAnswers::default(),
            awaited: AwaitedBodies::default(),
            quirks: [0; Quirk::COUNT],
            examples: BTreeMap::new(),
            in_flight_area: 0,
            service_drained: Nanos::ZERO,
            service_of_warmup: Nanos::ZERO,
            gaps: Gaps::default(),
            cpu: Nanos::ZERO,
            worker_rates: Rates::default(),
            streams: None,
            websockets: None,
            tally: Tally::default(),
        }
    }
}

impl Snapshot {
    /// Nothing yet, for interval `interval`.
    #[must_use]
    pub fn empty(interval: u32) -> Self {
        Self { interval, ..Self::default() }
    }

    /// Adds another's counts: exact, in any order. The interval number stays its own.
    pub fn add(&mut self, other: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self {
            interval: _,
            due,
            succeeded,
            unsent,
            failures,
            excluded,
            answered,
            answered_well,
            statuses,
            bytes_sent,
            bytes_received,
            redirects,
            response_succeeded,
            response_failed,
            service,
            first_byte,
            wait,
            lag,
            own_delay,
            connect,
            tls,
            connections,
            packed,
            awaited,
            quirks,
            examples,
            in_flight_area,
            service_drained,
            service_of_warmup,
            gaps,
            cpu,
            worker_rates,
            streams,
            websockets,
            tally,
        } = other;
        self.tally.add(tally);
        streamed::add(&mut self.streams, streams.as_deref());
        websockets::add(&mut self.websockets, websockets.as_deref());
        self.due += due;
        self.succeeded += succeeded;
        self.unsent += unsent;
        add_all(&mut self.failures, failures);
        self.excluded += excluded;
        self.answered += answered;
        self.answered_well += answered_well;
        add_all(&mut *self.statuses, &**statuses);
        self.bytes_sent += bytes_sent;
        self.bytes_received += bytes_received;
        self.redirects += redirects;
        self.response_succeeded.add(response_succeeded);
        self.response_failed.add(response_failed);
        self.service.add(service);
        self.first_byte.add(first_byte);
        self.wait.add(wait);
        self.lag.add(lag);
        self.own_delay.add(own_delay);
        self.connect.add(connect);
        self.tls.add(tls);
        self.connections.opened += connections.opened;
        self.connections.http2 += connections.http2;
        self.connections.http3 += connections.http3;
        self.connections.websocket += connections.websocket;
        self.connections.resumed += connections.resumed;
        self.connections.http3_is_offered |= connections.http3_is_offered;
        self.connections.packets += connections.packets;
        self.connections.packets_lost += connections.packets_lost;
        self.connections.closed_by_server += connections.closed_by_server;
        self.connections.closed_by_us += connections.closed_by_us;
        self.packed.add(packed);
        self.awaited.add(awaited);
        add_all(&mut self.quirks, quirks);
        for (class, example) in examples {
            // The earliest wins, and between two of the same moment the lesser text, so that order cannot matter.
            let kept = self.examples.entry(*class).or_insert_with(|| example.clone());
            if *example < *kept {
                *kept = example.clone();
            }
        }
        self.in_flight_area += in_flight_area;
        self.service_drained += *service_drained;
        self.service_of_warmup += *service_of_warmup;
        self.gaps.add(gaps);
        self.cpu += *cpu;
        self.worker_rates.add(worker_rates);
    }

    /// Back to nothing, for interval `interval`; keeps its memory.
    pub fn clear(&mut self, interval: u32) {
        let mut fresh = Self::empty(interval);
        for (old, new) in [
            (&mut self.response_succeeded, &mut fresh.response_succeeded),
            (&mut self.response_failed, &mut fresh.response_failed),
            (&mut self.service, &mut fresh.service),
            (&mut self.first_byte, &mut fresh.first_byte),
            (&mut self.wait, &mut fresh.wait),
            (&mut self.lag, &mut fresh.lag),
            (&mut self.own_delay.measured, &mut fresh.own_delay.measured),
            (&mut self.own_delay.without, &mut fresh.own_delay.without),
            (&mut self.connect, &mut fresh.connect),
            (&mut self.tls, &mut fresh.tls),
        ] {
            old.clear();
            std::mem::swap(old, new);
        }
        *self = fresh;
    }

    /// All requests that did not succeed, unsent ones apart.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// How many answers had that status.
    #[must_use]
    pub fn status(&self, status: u16) -> u64 {
        self.statuses.get(usize::from(status)).copied().unwrap_or(0)
    }

    /// Every status that occurred, ascending, with its count.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> {
        self.statuses.iter().enumerate().filter(|(_, count)| **count > 0).map(|(status, count)| (status as u16, *count))
    }

    /// Counts an answer's status.
    #[inline]
    pub fn count_status(&mut self, status: u16) {
        self.count_statuses(status, 1);
    }

    /// Counts so many answers of one status.
    #[inline]
    pub(crate) fn count_statuses(&mut self, status: u16, count: u64) {
        // A status beyond three digits is refused by the reader, so the last slot stays empty in practice.
        self.statuses[usize::from(status).min(STATUSES - 1)] += count;
    }

    /// Response times of all requests, good and bad together.
    #[must_use]
    pub fn response(&self) -> Histogram {
        let mut all = self.response_succeeded.clone();
        all.add(&self.response_failed);
        all
    }
}

fn add_all(to: &mut [u64], from: &[u64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// Whether a figure is left out of a document.
pub(crate) fn is_zero<N: PartialEq + Default>(number: &N) -> bool {
    *number == N::default()
}
