//! The counts of one interval at rest: in a file, over a wire, or kept until it is known whether they count.
//!
//! Invariant: counts that were written and read back are the same counts.

use std::collections::BTreeMap;

use plan::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    AwaitedBodies, Connections, Example, Failure, Gaps, Histogram, OwnDelay, PackedAnswers, PackedHistogram, Quirk, Rates, Snapshot,
    StreamCounts, Tally, TokenCounts, WebSocketCounts, streamed,
};

/// What one interval of the whole run counted.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalCounts {
    /// The counts of all sources together.
    pub counts: Snapshot,
    /// The processor time that the busiest source has used since the start of the run.
    pub cpu_busiest: Nanos,
}

/// A [`Snapshot`], or a [`IntervalCounts`], as it stands in a file or goes over a wire; `H` is how times are held. Classes and oddities are
/// named, because their numbers change from version to version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "H: Deserialize<'de>"))]
pub struct SnapshotRecord<H = PackedHistogram> {
    interval: u32,
    due: u64,
    succeeded: u64,
    unsent: u64,
    failures: BTreeMap<Failure, u64>,
    excluded: u64,
    answered: u64,
    answered_well: u64,
    status: BTreeMap<u16, u64>,
    bytes_sent: u64,
    bytes_received: u64,
    redirects: u64,
    response_succeeded: H,
    response_failed: H,
    service: H,
    first_byte: H,
    wait: H,
    lag: H,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_delay: Option<(H, H)>,
    connect: H,
    tls: H,
    connections: Connections,
    #[serde(default, skip_serializing_if = "PackedAnswers::is_empty")]
    packed: PackedAnswers,
    #[serde(default, skip_serializing_if = "AwaitedBodies::is_empty")]
    awaited: AwaitedBodies,
    quirks: BTreeMap<String, u64>,
    examples: BTreeMap<Failure, Example>,
    /// Decimal text, because it goes beyond 64 bits.
    in_flight_area: String,
    #[serde(default)]
    service_drained_ns: Nanos,
    #[serde(default)]
    service_of_warmup_ns: Nanos,
    #[serde(default, skip_serializing_if = "Gaps::is_empty")]
    gaps: Gaps,
    cpu_ns: Nanos,
    #[serde(default)]
    cpu_busiest_ns: Nanos,
    #[serde(default, skip_serializing_if = "Rates::is_empty")]
    worker_rates: Rates,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    streams: Option<Box<StreamCounts<H>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    websockets: Option<Box<WebSocketCounts<H>>>,
    #[serde(default, skip_serializing_if = "Tally::is_empty")]
    scenario: Tally<H>,
}

impl From<&IntervalCounts> for SnapshotRecord {
    fn from(counted: &IntervalCounts) -> Self {
        let IntervalCounts { counts, cpu_busiest } = counted;
        Self { cpu_busiest_ns: *cpu_busiest, ..Self::from(counts) }
    }
}

impl From<&Snapshot> for SnapshotRecord {
    fn from(counts: &Snapshot) -> Self {
        Self::of(counts, Histogram::pack)
    }
}

impl<H> SnapshotRecord<H> {
    /// Writes the texts of its examples anew, so that no secret is among them.
    pub fn conceal(&mut self, conceal: impl Fn(&str) -> String) {
        self.examples.values_mut().for_each(|example| example.text = conceal(&example.text));
    }

    /// The record of these counts, with times that are held as `times` says.
    fn of<'a>(counts: &'a Snapshot, times: impl Fn(&'a Histogram) -> H + Copy) -> Self {
        // Taken apart without `..`, so that a count nobody keeps does not compile.
        let Snapshot {
            interval,
            due,
            succeeded,
            unsent,
            failures,
            excluded,
            answered,
            answered_well,
            statuses: _,
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
        } = counts;
        Self {
            interval: *interval,
            due: *due,
            succeeded: *succeeded,
            unsent: *unsent,
            failures: Failure::ALL.iter().map(|class| (*class, failures[class.index()])).filter(|(_, count)| *count > 0).collect(),
            excluded: *excluded,
            answered: *answered,
            answered_well: *answered_well,
            status: counts.statuses().collect(),
            bytes_sent: *bytes_sent,
            bytes_received: *bytes_received,
            redirects: *redirects,
            response_succeeded: times(response_succeeded),
            response_failed: times(response_failed),
            service: times(service),
            first_byte: times(first_byte),
            wait: times(wait),
            lag: times(lag),
            own_delay: (!own_delay.is_empty()).then(|| (times(&own_delay.measured), times(&own_delay.without))),
            connect: times(connect),
            tls: times(tls),
            connections: *connections,
            packed: *packed,
            awaited: *awaited,
            quirks: Quirk::ALL
                .iter()
                .map(|quirk| (quirk.code().to_owned(), quirks[quirk.index()]))
                .filter(|(_, count)| *count > 0)
                .collect(),
            examples: examples.clone(),
            in_flight_area: in_flight_area.to_string(),
            service_drained_ns: *service_drained,
            service_of_warmup_ns: *service_of_warmup,
            gaps: *gaps,
            cpu_ns: *cpu,
            worker_rates: worker_rates.clone(),
            streams: streamed::convert(streams.as_deref(), |held| Ok(times(held))).expect("holding times otherwise never fails"),
            websockets: websockets
                .as_deref()
                .map(|held| held.convert(|times_of| Ok(times(times_of))).expect("holding times otherwise never fails")),
            scenario: tally.convert(|held| Ok(times(held))).expect("holding times otherwise never fails"),
            cpu_busiest_ns: Nanos::ZERO,
        }
    }

    /// The counts again; in words, if a histogram or a number is none. An oddity this version does not know is left out.
    fn counts(
        self,
        times: impl Fn(H) -> Result<Histogram, String>,
        scenario: impl Fn(Tally<H>) -> Result<Tally, String>,
    ) -> Result<Snapshot, String> {
        let kept = self;
        let mut counts = Snapshot {
            due: kept.due,
            succeeded: kept.succeeded,
            unsent: kept.unsent,
            excluded: kept.excluded,
            answered: kept.answered,
            answered_well: kept.answered_well,
            bytes_sent: kept.bytes_sent,
            bytes_received: kept.bytes_received,
            redirects: kept.redirects,
            response_succeeded: times(kept.response_succeeded)?,
            response_failed: times(kept.response_failed)?,
            service: times(kept.service)?,
            first_byte: times(kept.first_byte)?,
            wait: times(kept.wait)?,
            lag: times(kept.lag)?,
            own_delay: match kept.own_delay {
                Some((measured, without)) => OwnDelay { measured: times(measured)?, without: times(without)? },
                None => OwnDelay::default(),
            },
            connect: times(kept.connect)?,
            tls: times(kept.tls)?,
            connections: kept.connections,
            packed: kept.packed,
            awaited: kept.awaited,
            examples: kept.examples,
            in_flight_area: kept.in_flight_area.parse().map_err(|why| format!("'{}' is no number: {why}", kept.in_flight_area))?,
            service_drained: kept.service_drained_ns,
            service_of_warmup: kept.service_of_warmup_ns,
            gaps: kept.gaps,
            cpu: kept.cpu_ns,
            worker_rates: kept.worker_rates,
            streams: match kept.streams.map(|streams| *streams) {
                Some(StreamCounts { events, first_event, between_events, reconnections, tokens }) => {
                    let (first_event, between_events) = (times(first_event)?, times(between_events)?);
                    let tokens = match tokens {
                        Some(TokenCounts { tokens, time_per_token }) => {
                            Some(TokenCounts { tokens, time_per_token: times(time_per_token)? })
                        }
                        None => None,
                    };
                    Some(Box::new(StreamCounts { events, first_event, between_events, reconnections, tokens }))
                }
                None => None,
            },
            websockets: match kept.websockets.map(|websockets| *websockets) {
                Some(WebSocketCounts { handshake, deflates, between_messages, unasked }) => {
                    let (handshake, between_messages) = (times(handshake)?, times(between_messages)?);
                    Some(Box::new(WebSocketCounts { handshake, deflates, between_messages, unasked }))
                }
                None => None,
            },
            tally: scenario(kept.scenario)?,
            ..Snapshot::empty(kept.interval)
        };
        for (class, count) in kept.failures {
            counts.failures[class.index()] = count;
        }
        for (status, count) in kept.status {
            counts.count_statuses(status, count);
        }
        for quirk in Quirk::ALL {
            counts.quirks[quirk.index()] = kept.quirks.get(quirk.code()).copied().unwrap_or(0);
        }
        Ok(counts)
    }
}

impl SnapshotRecord {
    /// Requests that fell due.
    pub(crate) const fn due(&self) -> u64 {
        self.due
    }

    /// Requests that came to an end, or were never sent.
    pub(crate) fn ended(&self) -> u64 {
        self.succeeded + self.unsent + self.failures.values().sum::<u64>()
    }
}

impl TryFrom<SnapshotRecord> for IntervalCounts {
    type Error = String;

    /// As of a [`Snapshot`].
    fn try_from(kept: SnapshotRecord) -> Result<Self, String> {
        let cpu_busiest = kept.cpu_busiest_ns;
        Ok(Self { counts: kept.try_into()?, cpu_busiest })
    }
}

impl TryFrom<SnapshotRecord> for Snapshot {
    type Error = String;

    /// The counts again; in words, if a histogram or a number is none.
    fn try_from(kept: SnapshotRecord) -> Result<Self, String> {
        kept.counts(|packed| packed.unpack(), |rows| rows.unpack())
    }
}

impl Serialize for Snapshot {
    /// For people and files the times are packed; for programs, which read them at once, they are as they are.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return SnapshotRecord::from(self).serialize(serializer);
        }
        SnapshotRecord::of(self, |times| times).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return SnapshotRecord::<PackedHistogram>::deserialize(deserializer)?.try_into().map_err(de::Error::custom);
        }
        SnapshotRecord::<Histogram>::deserialize(deserializer)?.counts(Ok, Ok).map_err(de::Error::custom)
    }
}
