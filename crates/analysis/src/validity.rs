//! Whether a run says something about the server, or only about the machine that loaded it.
//!
//! A load generator at its limit looks exactly like a slow server: fewer requests, longer times. What tells them apart
//! is the generator's own health, which every Summary carries. The thresholds are those of docs/measurement.md §1.9: a worker
//! that uses more than 85 % of its core, one that did not run for more than a hundredth of the time, a rate that was not made, and
//! delays of our own that moved a figure. Time spent waiting for a free connection is not among them: that is the server's slowness or
//! the limit on connections, and belongs to the response time; [`connections_limit`] tells how far it was the latter.
//!
//! A delay of our own is judged by what it did: every request that was delayed is known with and without it, so each quantile that
//! is shown is known without it as well. Only one that moved by more than it is known to anyway, its ±, is worth a word in the first
//! lines. A limit on the delay itself was rejected: a tenth of a millisecond beside answers of five changes nothing, and condemned most
//! healthy runs of open load on a virtual machine.
//!
//! [`Validity`] is the whole of that table: every line of it that a run breaks is a cause, and the worst of the causes is the
//! standing. Where the server runs on the same machine, both wait for the same cores, and a thread that waits for one is as
//! much the server's doing as anybody's: there the wait is said and does not condemn, since what it does to sends is in the lag;
//! unless programs of neither side were busy too, or the thread got less than a fifth of the processor time it asked for, which is
//! starvation whoever had the rest.
//!
//! A *server* without a core looks like a slow one too. Where it runs beside us, the kernel tells how long its threads waited and
//! what programs of neither side used; both together make its times longer than its own, and degrade the run. A server that only
//! waits is one with more threads than cores, or one beside a busy generator: its own doing, or the load's.

use std::fmt;
use std::net::SocketAddr;

use measure::{Failure, Summary, Tick};
use plan::{Nanos, Random};
use serde::{Deserialize, Serialize};

use crate::interval::{self, Evidence};
use crate::littles_law;
use crate::quantity::{count, counted, length, percentile, tenths, time};
use crate::server_side::ServerSide;

/// A worker that uses more of its core than this has no room left for bursts (docs/measurement.md §1.9).
const CPU_SHARE_MAX: f64 = 0.85;
/// What waking up costs on any Linux machine: a figure that moved by less is the server's (docs/measurement.md §1.9).
const MOVED_MIN: Nanos = Nanos::from_micros(100);
/// And one that moved by no more than this is not worth a word.
const TOLD_MIN: Nanos = Nanos::from_micros(20);
/// A figure that moved by less than this share of itself is about right all the same (docs/measurement.md §1.9).
const MOVED_SHARE_MIN: f64 = 0.05;
/// The quantiles that are asked whether they moved: those that every report shows.
const MOVED_QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
/// A gap that is this share of all of them was the only one worth telling.
const ONE_GAP_SHARE: f64 = 0.9;
/// Not running for more than this share of the time takes as much off the throughput, and decides the percentiles beyond it.
const GAP_SHARE_MAX: f64 = 0.01;
/// Starting threads and reading certificates takes some ten milliseconds: 1 % of this.
const RUN_MIN: Nanos = Nanos::SECOND;

/// Waiting for a core longer than this share of the time lengthens what is measured (docs/measurement.md §1.9).
const RUN_QUEUE_SHARE_MAX: f64 = 0.01;
/// From here on it decides what is measured (docs/measurement.md §1.9).
const RUN_QUEUE_SHARE_LOST: f64 = 0.1;
/// A host that takes more than this share away makes two runs incomparable (docs/measurement.md §1.9).
const STEAL_SHARE_MAX: f64 = 0.01;
/// What a system does beside its work: less than this share of its processor time (idle desktops and build machines: 1 to 4 %).
const OTHERS_SHARE_NOTICED: f64 = 0.1;
/// Alternating with a busy generator on one core, a server waits for a quarter to a half of the time it wants to run; this much
/// beside programs of others is theirs in part.
const SERVER_WAIT_SHARE_MAX: f64 = 0.2;

/// Of a figure of which more than this is ours, nothing is left to read (docs/measurement.md §1.9).
const MOVED_SHARE_MAX: f64 = 0.25;
/// What waking up costs on a shared or virtual machine that has room: beside a server that answers within a tenth of a millisecond, a
/// share of its answers alone would condemn every run there. Said it is all the same. One in a hundred waits longer there.
const MOVED_BEARABLE: Nanos = Nanos::from_micros(500);
const MOVED_BEARABLE_P99: Nanos = Nanos::from_millis(2);
/// A run is condemned by quantiles up to this one; beyond, a single moment decides.
const CONDEMNING_QUANTILE_MAX: f64 = 0.99;
/// Connections that carried a request for this share of the time were all busy.
const CONNECTIONS_BUSY_MIN: f64 = 0.9;
/// Of what was asked for, this much was sent, or it is not the load that was asked for (docs/measurement.md §1.9).
const ACHIEVED_MIN: f64 = 0.99;
/// Below this it is another load altogether (docs/measurement.md §1.9).
const ACHIEVED_LEAST: f64 = 0.95;
/// Arrivals at random differ from their mean by so many deviations once in some thirty thousand runs.
const ARRIVAL_DEVIATIONS: f64 = 4.0;
/// A thread that waits for a core half of the time has half a core, whoever has the rest.
const STARVED_SHARE_MIN: f64 = 0.5;
/// Of the processor time it asks for, a thread beside a busy server gets a half, beside three busy threads a quarter. Less than
/// a fifth is no competition any more, and what is measured then is the waiting.
const SERVED_SHARE_MIN: f64 = 0.2;

/// A quota that stops loadline now and then makes the slowest answers slower by up to a tenth of a second.
const THROTTLED_NOTICED: f64 = 0.01;
/// One that stops it in every fourth period is what decides how much is sent.
const THROTTLED_MIN: f64 = 0.25;

/// How far a run's figures are those of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// They are.
    Valid,
    /// They are about right, and something on this side added to them.
    Degraded,
    /// They are loadline's own, and say nothing about the server.
    Invalid,
}

/// As it is printed: `VALID`.
impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valid => "VALID",
            Self::Degraded => "DEGRADED",
            Self::Invalid => "INVALID",
        })
    }
}

/// A standing and what led to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Validity {
    /// The worst of the causes; valid if there is none.
    pub standing: Standing,
    /// Everything on this side that showed, the worst first.
    pub causes: Vec<Cause>,
}

/// One thing on this side that showed, and how bad that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cause {
    /// How bad it is by itself.
    pub standing: Standing,
    /// What it is.
    #[serde(flatten)]
    pub what: What,
}

/// What on this side can make a run worth less.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum What {
    /// loadline itself delayed requests.
    Lag {
        /// The 99th percentile of the lag.
        #[serde(rename = "p99_ns")]
        p99: Nanos,
        /// By how much the median of the response time may be too high.
        #[serde(rename = "p50_high_ns")]
        p50_high: Nanos,
        /// And its 99th percentile, where that is known.
        #[serde(rename = "p99_high_ns", skip_serializing_if = "Option::is_none")]
        p99_high: Option<Nanos>,
        /// The quantile that moved most for its size, from 0 to 1.
        quantile: f64,
        /// By how much that one may be too high.
        #[serde(rename = "quantile_high_ns")]
        quantile_high: Nanos,
    },
    /// loadline did not run: it was paused, frozen, stunned or stopped.
    Gaps {
        /// For so long, on average over its threads.
        #[serde(rename = "total_ns")]
        total: Nanos,
        /// At most at once.
        #[serde(rename = "longest_ns")]
        longest: Nanos,
        /// Of the measured time, from 0 to 1.
        share: f64,
    },
    /// What was counted on the wire and what the times say differ.
    Unaccounted {
        /// By this share, from 0 to 1.
        share: f64,
    },
    /// Less was sent than asked for.
    Shortfall {
        /// Sent of asked for, from 0 to 1.
        share: f64,
    },
    /// Threads of the load were gone with their process or machine before its end.
    Lost {
        /// Of all threads, from 0 to 1.
        share: f64,
    },
    /// Requests that this machine had no port, file or memory for.
    Exhausted {
        /// How many.
        requests: u64,
    },
    /// A worker's share of its core over the run, from 0 to 1.
    Processor {
        /// The busiest worker's.
        share: f64,
    },
    /// All workers' share of their cores in one interval, from 0 to 1.
    ProcessorFor {
        /// On average over the workers.
        share: f64,
        /// When the interval began.
        #[serde(rename = "from_ns")]
        from: Nanos,
        /// How long it was.
        #[serde(rename = "for_ns")]
        span: Nanos,
    },
    /// A worker was ready and got no core for this share of the time.
    RunQueue {
        /// From 0 to 1.
        share: f64,
    },
    /// loadline's own quota of processor time stopped it in this share of the quota's periods.
    Throttled {
        /// From 0 to 1.
        share: f64,
    },
    /// The machine's host gave this share of its processor time to others.
    Steal {
        /// From 0 to 1.
        share: f64,
    },
    /// Packets of QUIC were lost on the way to the server.
    Packets {
        /// Of those that were sent, from 0 to 1.
        share: f64,
    },
    /// Programs that are neither loadline nor the server, which runs on this machine too, used processor time.
    Others {
        /// The share of the machine's that they used, from 0 to 1.
        share: f64,
        /// Of the time in which the server's threads wanted a core, the share they waited, from 0 to 1.
        server_waited: Option<f64>,
    },
}

/// With fewer packets lost, it is chance.
const PACKETS_LOST_MIN: u64 = 20;
/// A packet in so many that is lost is in the slowest answers only.
const PACKETS_LOST_SHARE_MIN: f64 = 0.005;

impl Validity {
    /// Judges a finished run. Where nothing fell due there is nothing to doubt.
    #[must_use]
    pub fn of(run: &Summary) -> Self {
        let mut causes: Vec<Cause> = if run.requests.due == 0 {
            lost(run).into_iter().collect()
        } else {
            [
                lost(run),
                gaps(run),
                shortfall(run),
                lateness(run),
                exhaustion(run),
                processor(run),
                quota(run),
                run_queue(run),
                steal(run),
                others(run),
                packets(run),
                accounting(run),
            ]
            .into_iter()
            .flatten()
            .collect()
        };
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.standing));
        Self { standing: causes.first().map_or(Standing::Valid, |cause| cause.standing), causes }
    }

    /// What led to the standing, in words, the worst first; empty if valid.
    #[must_use]
    pub fn why(&self) -> String {
        let said: Vec<String> =
            self.causes.iter().filter(|cause| cause.standing > Standing::Valid).map(|cause| cause.what.to_string()).collect();
        said.join("; ")
    }
}

fn cause(standing: Standing, what: What) -> Option<Cause> {
    Some(Cause { standing, what })
}

/// What threads that are gone had still to send was not sent, and what they had not told is not counted: that the rest stands for the whole
/// is true only of a small part.
fn lost(run: &Summary) -> Option<Cause> {
    let share = run.generator.lost_share;
    (share > 0.0).then_some(Cause { standing: short_of(1.0 - share), what: What::Lost { share } })
}

/// Whatever else a run shows, a generator that did not run has measured itself; unless the server stood still in the same periods:
/// then what was measured is what the two of them can do together.
fn gaps(run: &Summary) -> Option<Cause> {
    let gaps = run.generator.gaps;
    let total = Nanos(gaps.total.0 / u64::from(run.generator.threads.max(1)));
    let share = if run.duration_s > 0.0 { total.as_secs_f64() / run.duration_s } else { 0.0 };
    let standing = if share <= GAP_SHARE_MAX {
        Standing::Valid
    } else if is_one_delay(total) || (run.generator.throttled_share.is_some() && is_throttled_with_the_server(run)) {
        Standing::Degraded
    } else {
        Standing::Invalid
    };
    if gaps.is_empty() { None } else { cause(standing, What::Gaps { total, longest: gaps.longest, share }) }
}

/// Whether gaps are no longer than what any virtual machine has now and then, a large share of nothing but a short run.
fn is_one_delay(total: Nanos) -> bool {
    total.as_secs_f64() <= GAP_SHARE_MAX * RUN_MIN.as_secs_f64()
}

/// How much a quantile of the response time may be too high.
fn moved(run: &Summary, q: f64) -> Nanos {
    let own = &run.own_delay;
    // Results that do not tell which requests were delayed tell by how much one in so many was.
    let untold = own.is_empty() && run.lag.max().is_some_and(|lag| lag >= MOVED_MIN);
    if untold {
        return run.lag.known_quantile(q).unwrap_or_default();
    }
    run.response_time.quantile(q).zip(run.quantile_without_own_delay(q)).map_or(Nanos::ZERO, |(with, without)| with.since(without))
}

fn lateness(run: &Summary) -> Option<Cause> {
    struct Move {
        q: f64,
        of: Nanos,
        by: Nanos,
    }
    let moves: Vec<Move> = MOVED_QUANTILES
        .iter()
        .filter_map(|q| Some(Move { q: *q, of: run.response_time.known_quantile(*q)?, by: moved(run, *q) }))
        .filter(|it| it.by > MOVED_MIN.max(Nanos((it.of.0 as f64 * MOVED_SHARE_MIN) as u64)))
        .collect();
    let share = |it: &Move| it.by.0 as f64 / it.of.0.max(1) as f64;
    let worst = moves.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let spread = spreads(run);
    // A figure that is not known better than that is not wrong.
    let tells = |it: &&Move| spread.iter().find(|(q, _)| *q == it.q).is_none_or(|(_, low)| (it.of.since(it.by).0 as f64) < *low);
    let bearable = |q: f64| if q < CONDEMNING_QUANTILE_MAX { MOVED_BEARABLE } else { MOVED_BEARABLE_P99 };
    let condemns = |it: &Move| it.q <= CONDEMNING_QUANTILE_MAX && share(it) > MOVED_SHARE_MAX && it.by > bearable(it.q);
    let standing = match (moves.iter().filter(tells).any(condemns), moves.iter().any(|it| tells(&it))) {
        (true, _) => Standing::Invalid,
        (false, true) => Standing::Degraded,
        (false, false) => Standing::Valid,
    };
    let worst = moves.iter().filter(tells).max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(worst);
    let what = What::Lag {
        p99: run.lag.quantile(0.99).unwrap_or_default(),
        p50_high: moved(run, 0.5),
        p99_high: run.response_time.known_quantile(0.99).map(|_| moved(run, 0.99)),
        quantile: worst.q,
        quantile_high: worst.by,
    };
    cause(standing, what)
}

/// The lower ends of the intervals of the quantiles that are known. Ranks are enough to tell what is worth a word.
fn spreads(run: &Summary) -> Vec<(f64, f64)> {
    let Ok(slices) = interval::slices(run) else { return Vec::new() };
    let uncertainty = interval::uncertainty(&slices, 0, &mut Random::new(run.plan.seed(), 0));
    let low = |quantile: &interval::Quantile| match quantile.evidence {
        Evidence::Known { figure, .. } => (quantile.q, figure.interval.low),
        // Nothing is shown that could be wrong.
        Evidence::NotEnough { .. } => (quantile.q, 0.0),
    };
    uncertainty.quantiles.iter().map(low).collect()
}

/// What was sent of what was asked for, from 0 to 1. A request that failed was sent; one that is unsent was not. `None` in closed load.
fn sent_share(run: &Summary) -> Option<f64> {
    let due = run.requests.due as f64;
    // The timetable of a scenario is one of journeys.
    let expected = run.qps_offered.map_or_else(|| if run.plan.load().is_open() { due } else { 0.0 }, |rate| rate * run.duration_s);
    if expected <= 0.0 {
        return None;
    }
    Some(share_of_arrivals(due - run.requests.unsent as f64, expected))
}

/// The share that came of so many arrivals at random; all of it where the rest is chance.
fn share_of_arrivals(came: f64, expected: f64) -> f64 {
    if expected - came <= ARRIVAL_DEVIATIONS * expected.sqrt() { 1.0 } else { came / expected }
}

/// Whether less was sent than asked for, by so much that it is another load.
fn missed_the_rate(run: &Summary) -> bool {
    sent_share(run).is_some_and(|share| share < ACHIEVED_LEAST)
}

/// What was sent against what should have been. A request that never fell due is ours; one that fell due and was never sent is ours
/// where a thread had no room or did not run, else the server's or that of the limit on connections.
fn shortfall(run: &Summary) -> Option<Cause> {
    let share = sent_share(run)?;
    let fell_due = run.qps_offered.map_or(1.0, |rate| share_of_arrivals(run.requests.due as f64, rate * run.duration_s));
    let ours = fell_due < ACHIEVED_MIN
        || is_busy(run)
        || throttled(run).is_some()
        || starved(run).is_some()
        || gaps(run).is_some_and(|gaps| gaps.standing == Standing::Invalid);
    (share < ACHIEVED_MIN && ours).then_some(Cause { standing: short_of(share), what: What::Shortfall { share } })
}

fn exhaustion(run: &Summary) -> Option<Cause> {
    let local = [Failure::ConnectLocalPorts, Failure::ConnectLocalFds];
    let requests = run.failures.iter().filter(|failure| local.contains(&failure.class)).map(|failure| failure.count).sum::<u64>();
    let sent = 1.0 - requests as f64 / run.requests.due as f64;
    if requests > 0 { cause(short_of(sent), What::Exhausted { requests }) } else { None }
}

fn short_of(sent: f64) -> Standing {
    if sent < ACHIEVED_LEAST { Standing::Invalid } else { Standing::Degraded }
}

/// A worker's share of its core: the busiest one's over the whole run, or that of all while the load was on, if that is more. While
/// draining there may be nothing to do.
fn processor_share(run: &Summary) -> f64 {
    let (used, span) = loaded(run).fold((0.0, 0.0), |(used, span), (cores, seconds, _)| (used + cores * seconds, span + seconds));
    let under_load = if span > 0.0 { used / span } else { 0.0 };
    run.generator.cpu_share_busiest.max(under_load)
}

/// Every interval of the load that is long enough: the share of their cores that all workers used, its length in seconds, and the interval.
fn loaded(run: &Summary) -> impl Iterator<Item = (f64, f64, &Tick)> {
    // Ticks hold what all workers used together: if that is too much on average, it is too much for one of them.
    let threads = f64::from(run.generator.threads.max(1));
    let within = run.timeline.iter().filter(|tick| !tick.warmup && tick.to <= run.ended.load_until);
    within.filter(|tick| tick.to.since(tick.from) >= RUN_MIN).map(move |tick| {
        let seconds = tick.to.since(tick.from).as_secs_f64();
        // A worker without room hands an interval over late, with what it used until then.
        ((tick.cpu.as_secs_f64() / seconds / threads).min(1.0), seconds, tick)
    })
}

/// Whether a worker had no room left on its core.
fn is_busy(run: &Summary) -> bool {
    processor_share(run) > CPU_SHARE_MAX && processor_share_is_known(run)
}

fn processor(run: &Summary) -> Option<Cause> {
    if !processor_share_is_known(run) {
        return None;
    }
    if is_busy(run) {
        // A rate that was missed by a thread without room says nothing about the server.
        let standing = if missed_the_rate(run) { Standing::Invalid } else { Standing::Degraded };
        return cause(standing, What::Processor { share: processor_share(run) });
    }
    let (share, _, tick) = loaded(run).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let what = What::ProcessorFor { share, from: tick.from, span: tick.to.since(tick.from) };
    (share > CPU_SHARE_MAX).then_some(Cause { standing: Standing::Degraded, what })
}

/// In closed load nothing is ever late by its own clock: an answer that lay unread while the thread had no core is a slow
/// answer, and only the kernel knows better. So starvation convicts by itself, wherever the server runs.
fn run_queue(run: &Summary) -> Option<Cause> {
    let share = run.generator.run_queue_share.filter(|share| *share > RUN_QUEUE_SHARE_MAX && processor_share_is_known(run))?;
    let standing = match shares_cores_with_the_server(run) {
        _ if starved(run).is_some() => Standing::Invalid,
        true if share <= STARVED_SHARE_MIN => Standing::Valid,
        _ => Standing::Degraded,
    };
    cause(standing, What::RunQueue { share })
}

/// The share of the time that a worker waited for a core, if that decided what was measured: a tenth of the time where somebody else than
/// the server had the core, and where nobody else did, so much that it got next to nothing of the processor time it asked for.
fn starved(run: &Summary) -> Option<f64> {
    let waited = run.generator.run_queue_share.filter(|share| *share >= RUN_QUEUE_SHARE_LOST && processor_share_is_known(run))?;
    let had = run.generator.cpu_share_busiest;
    let beside_others = run.generator.others_share.is_some_and(|others| others > OTHERS_SHARE_NOTICED);
    let next_to_nothing = waited > STARVED_SHARE_MIN && had < SERVED_SHARE_MIN * (had + waited);
    (!shares_cores_with_the_server(run) || beside_others || next_to_nothing).then_some(waited)
}

/// Who stops because of a quota is in no queue for a core: the wait for one does not tell.
fn quota(run: &Summary) -> Option<Cause> {
    let share = run.generator.throttled_share.filter(|share| *share > THROTTLED_NOTICED && processor_share_is_known(run))?;
    let standing = match (throttled(run), share >= THROTTLED_MIN) {
        (Some(_), _) => Standing::Invalid,
        // The server's quota as well, as far as is known: the two of them need more.
        (None, true) => Standing::Degraded,
        (None, false) if shares_cores_with_the_server(run) => Standing::Valid,
        (None, false) => Standing::Degraded,
    };
    cause(standing, What::Throttled { share })
}

/// The share of its quota's periods in which loadline had to stop, if that is what decided how much was sent, and the quota is not the
/// server's as well.
fn throttled(run: &Summary) -> Option<f64> {
    let share = run.generator.throttled_share.filter(|share| *share >= THROTTLED_MIN && processor_share_is_known(run))?;
    (!is_throttled_with_the_server(run)).then_some(share)
}

/// Whether the server on this machine was seen to stop for a quota as well. One that was not watched may have none: what loadline
/// measured while it was stopped is no word about it.
fn is_throttled_with_the_server(run: &Summary) -> bool {
    shares_cores_with_the_server(run)
        && ServerSide::of_processes(run).and_then(|server| server.mean("cgroup_throttled")).is_some_and(|its| its > THROTTLED_NOTICED)
}

/// Figures that cannot be true together are nobody's.
fn accounting(run: &Summary) -> Option<Cause> {
    let law = littles_law::of_run(run).filter(|law| !law.holds)?;
    cause(Standing::Invalid, What::Unaccounted { share: law.error })
}

/// The system counts it in hundredths of a second: of a run of a few of them, one is a large share.
fn steal(run: &Summary) -> Option<Cause> {
    let share = run.generator.steal_share.filter(|share| *share > STEAL_SHARE_MAX && processor_share_is_known(run))?;
    cause(Standing::Degraded, What::Steal { share })
}

fn others(run: &Summary) -> Option<Cause> {
    let share = run.generator.others_share.filter(|share| *share > OTHERS_SHARE_NOTICED && processor_share_is_known(run))?;
    let server_waited = run.generator.server_wait_share;
    let hurt = server_waited.is_some_and(|waited| waited > SERVER_WAIT_SHARE_MAX);
    cause(if hurt { Standing::Degraded } else { Standing::Valid }, What::Others { share, server_waited })
}

/// What is lost is sent again after a time, which the answer takes longer then: no fault of this side, nor of the server.
fn packets(run: &Summary) -> Option<Cause> {
    cause(Standing::Valid, What::Packets { share: packets_lost(run)? })
}

/// The share of the packets sent over QUIC that was lost, where that is no chance.
pub(crate) fn packets_lost(run: &Summary) -> Option<f64> {
    let connections = &run.connections;
    let share = connections.packets_lost as f64 / connections.packets.max(1) as f64;
    (connections.packets_lost >= PACKETS_LOST_MIN && share >= PACKETS_LOST_SHARE_MIN).then_some(share)
}

/// Whether every request went to this very machine.
fn shares_cores_with_the_server(run: &Summary) -> bool {
    if run.plan.connection().unix_socket.is_some() {
        return true;
    }
    let addresses = &run.resolution.addresses;
    !addresses.is_empty() && addresses.iter().all(|address| address.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback()))
}

/// Completes "INVALID: …".
impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lag { p50_high, p99_high, quantile, quantile_high, .. } => {
                write!(f, "loadline itself was late: ")?;
                let high = |by: Nanos| {
                    if by <= TOLD_MIN { "is not affected".to_owned() } else { format!("may be up to {} high", time(by.0 as f64)) }
                };
                write!(f, "p50 {}", high(*p50_high))?;
                match (*quantile, p99_high) {
                    (0.5, None) => Ok(()),
                    (0.5 | 0.99, Some(p99_high)) => write!(f, ", p99 {}", high(*p99_high)),
                    (other, _) => write!(f, ", {} {}", percentile(other), high(*quantile_high)),
                }
            }
            Self::Gaps { total, longest, share: of } => {
                write!(f, "loadline itself did not run for {}", time(total.0 as f64))?;
                // Threads that stood still together count a little apart.
                if (longest.0 as f64) < total.0 as f64 * ONE_GAP_SHARE {
                    write!(f, " in all, {} at most at once", time(longest.0 as f64))?;
                }
                write!(f, " ({} % of the time): it was paused, frozen or stopped", tenths(*of))
            }
            Self::Unaccounted { share: of } => write!(
                f,
                "the requests counted on the wire and their times differ by {} %: requests or times were lost, which is a fault of loadline",
                tenths(*of)
            ),
            Self::Lost { share: of } => write!(f, "{} % of the threads that sent the load were gone before its end", tenths(*of)),
            Self::Shortfall { share: sent } => {
                let missing = tenths(1.0 - *sent);
                write!(
                    f,
                    "loadline did not keep up with the rate: it sent only {} % of the requests, {missing} % are missing",
                    tenths(*sent)
                )
            }
            Self::Exhausted { requests } => {
                let (number, were) = (count(*requests), if *requests == 1 { "was" } else { "were" });
                let noun = counted(*requests, "request");
                let noun = noun.trim_start_matches(&number).trim_start();
                write!(f, "{number} {noun} {were} not sent, because this machine had no port or file left for them")
            }
            Self::Processor { share } => {
                write!(f, "the busiest thread of loadline used {:.0} % of its core, so the server may carry more", share * 100.0)
            }
            Self::ProcessorFor { share, from, span } => write!(
                f,
                "the threads of loadline used {:.0} % of their cores in the {} from {} on, so the server may carry more",
                share * 100.0,
                length(*span),
                if *from == Nanos::ZERO { "the start".to_owned() } else { length(*from) }
            ),
            Self::RunQueue { share: waited } => write!(
                f,
                "a thread of loadline was ready but got no core for {} % of the time: others, perhaps the server itself, use the same \
                 cores, and times may be longer than the server's own",
                tenths(*waited)
            ),
            Self::Throttled { share: stopped } => write!(
                f,
                "a quota of processor time stopped loadline in {} % of the quota's periods, so times may be longer than the server's own: \
                 raise it (cpu.max, --cpus, limits.cpu), or send less",
                tenths(*stopped)
            ),
            Self::Steal { share: stolen } => write!(
                f,
                "the host of this machine gave {} % of its processor time to others: repeat the run before comparing it with another",
                tenths(*stolen)
            ),
            Self::Packets { share: lost } => write!(
                f,
                "{} % of the packets to the server were lost, on the way or before it read them, and sent again: what was slow waited for that in part, not \
                 for the server's work alone",
                tenths(*lost)
            ),
            Self::Others { share: used, server_waited } => {
                write!(f, "other programs kept {:.0} % of the CPUs busy", used * 100.0)?;
                match server_waited.filter(|waited| *waited > SERVER_WAIT_SHARE_MAX) {
                    Some(waited) => write!(
                        f,
                        ", and the server waited for a CPU {:.0} % of the time, so it may be faster than measured",
                        waited * 100.0
                    ),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Why the generator, not the server, limited a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GeneratorLimit {
    /// The busiest worker used this share of a core, from 0 to 1.
    Processor(f64),
    /// A figure moved because requests were sent so late: the quantile, and by how much.
    Lag(f64, Nanos),
    /// A worker was ready and got no core for this share of the time, from 0 to 1.
    Starved(f64),
    /// Its quota of processor time stopped it in this share of the quota's periods, from 0 to 1.
    Throttled(f64),
    /// It did not run for so long.
    Stopped(Nanos),
}

/// What limited the run on the generator's side; `None` when the figures are the server's.
#[must_use]
pub fn generator_limit(summary: &Summary) -> Option<GeneratorLimit> {
    if is_busy(summary) {
        return Some(GeneratorLimit::Processor(processor_share(summary)));
    }
    // A quota stops it as well, and has a name of its own.
    if let Some(share) = throttled(summary) {
        return Some(GeneratorLimit::Throttled(share));
    }
    if let Some(Cause { standing: Standing::Invalid, what: What::Gaps { total, .. } }) = gaps(summary) {
        return Some(GeneratorLimit::Stopped(total));
    }
    if let Some(waited) = starved(summary) {
        return Some(GeneratorLimit::Starved(waited));
    }
    match lateness(summary)? {
        Cause { standing: Standing::Degraded | Standing::Invalid, what: What::Lag { quantile, quantile_high, .. } } => {
            Some(GeneratorLimit::Lag(quantile, quantile_high))
        }
        _ => None,
    }
}

/// How far the plan's own limit on connections held requests back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConnectionsLimit {
    /// How many connections the plan allows.
    pub connections: u32,
    /// The share of the time in which they carried a request, from 0 to 1, on average over all of them.
    pub busy: f64,
    /// How long a request waited for one, on average.
    pub wait_mean: Nanos,
    /// How long it then took, on average.
    pub service_mean: Nanos,
    /// Requests a second that so many connections can carry at this service time.
    pub carries: f64,
    /// How many connections the rate asked for would need at this service time; more where the server gets slower.
    pub needed: f64,
}

/// Whether requests of open load waited because all connections of the plan were busy: not this machine's doing, and not the
/// server's alone. All connections were busy, the mean wait is longer than an answer takes, and less was answered in the time than
/// fell due. `None` in closed load, where there is one connection a user, and for journeys, whose users keep theirs while they pause.
#[must_use]
pub fn connections_limit(run: &Summary) -> Option<ConnectionsLimit> {
    let offered = run.qps_offered?;
    let connections = run.plan.connections_max().get();
    let (wait, service) = (run.wait.mean()?, run.service_time.mean().filter(|mean| *mean > 0.0)?);
    let busy = run.in_flight_mean / f64::from(connections);
    let carries = f64::from(connections) * 1e9 / service;
    let held_back = busy >= CONNECTIONS_BUSY_MIN && wait > service && run.qps < offered * ACHIEVED_MIN;
    held_back.then_some(ConnectionsLimit {
        connections,
        busy,
        wait_mean: Nanos(wait as u64),
        service_mean: Nanos(service as u64),
        carries,
        needed: (offered * service / 1e9).ceil(),
    })
}

/// Whether the run was long enough for a share of the processor: in a shorter one, starting up is most of it.
#[must_use]
pub fn processor_share_is_known(summary: &Summary) -> bool {
    summary.ended.drained_at >= RUN_MIN
}

/// What was seen on this side without making the run worth less, one sentence each.
#[must_use]
pub fn disturbances(validity: &Validity) -> Vec<String> {
    validity.causes.iter().filter(|cause| cause.standing == Standing::Valid).map(|cause| cause.what.to_string()).collect()
}

/// Completes "the load generator was the limit: …".
impl fmt::Display for GeneratorLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processor(share) => write!(f, "its busiest thread used {:.0} % of a core", share * 100.0),
            Self::Lag(q, by) => write!(f, "it was late itself, so that {} may be up to {} high", percentile(*q), time(by.0 as f64)),
            Self::Stopped(total) => write!(f, "it did not run for {}", time(total.0 as f64)),
            Self::Starved(waited) => write!(f, "a thread was ready but got no core for {:.0} % of the time", waited * 100.0),
            Self::Throttled(share) => write!(f, "its quota of processor time stopped it in {:.0} % of the quota's periods", share * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Histogram, fixtures};

    fn healthy() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap().1
    }

    fn lagging(lag: Nanos) -> Summary {
        let mut summary = healthy();
        summary.edit_for_test().lag = Histogram::new();
        (0..2_000).for_each(|_| summary.edit_for_test().lag.record(lag));
        summary
    }

    #[test]
    fn a_generator_with_room_to_spare_is_not_the_limit() {
        assert_eq!(generator_limit(&healthy()), None);
    }

    #[test]
    fn packets_that_were_lost_are_told_where_they_are_no_chance() {
        let told = |sent, lost| {
            let mut summary = healthy();
            let connections = &mut summary.edit_for_test().connections;
            (connections.packets, connections.packets_lost) = (sent, lost);
            let validity = Validity::of(&summary);
            (validity.standing, disturbances(&validity).into_iter().find(|said| said.contains("packets")))
        };
        assert_eq!([told(0, 0), told(100, 19), told(1_000_000, 4_000)], [(); 3].map(|()| (Standing::Valid, None)));
        let (standing, said) = told(1_000, 31);
        assert!(standing == Standing::Valid && said.unwrap().starts_with("3.1 % of the packets to the server were lost"));
    }

    #[test]
    fn a_worker_that_fills_its_core_is_the_limit() {
        let mut summary = healthy();
        summary.edit_for_test().generator.cpu_share_busiest = 0.97;
        assert_eq!(generator_limit(&summary).unwrap().to_string(), "its busiest thread used 97 % of a core");
    }

    #[test]
    fn a_run_too_short_to_tell_is_not_blamed_on_the_processor_or_the_host() {
        let mut summary = healthy();
        summary.edit_for_test().generator.cpu_share_busiest = 0.97;
        summary.edit_for_test().ended.drained_at = Nanos::from_millis(20);
        // One hundredth of a second of the host's, among the three that there were.
        summary.edit_for_test().generator.steal_share = Some(0.33);
        assert_eq!(generator_limit(&summary), None);
        assert_eq!(Validity::of(&summary).standing, Standing::Valid);
    }

    /// A healthy run of which that share of the requests was sent so late.
    fn delayed(share: f64, delay: Nanos) -> Summary {
        let mut summary = healthy();
        let run = summary.edit_for_test();
        (run.response_time, run.lag) = (Histogram::new(), Histogram::new());
        let every = (1.0 / share) as u64;
        let mut k = 0;
        for tick in &mut run.timeline {
            let mut slowed = Histogram::new();
            for (time, count) in tick.response_time.unpack().unwrap().recorded() {
                for _ in 0..count {
                    k += 1;
                    let late = if k % every == 0 { delay } else { Nanos::ZERO };
                    run.lag.record(late);
                    slowed.record(time.plus(late));
                    if late > Nanos::ZERO {
                        run.own_delay.measured.record(time.plus(late));
                        run.own_delay.without.record(time);
                    }
                }
            }
            run.response_time.add(&slowed);
            tick.response_time = slowed.pack();
        }
        summary
    }

    #[test]
    fn a_delay_is_judged_by_what_it_did_to_the_figures() {
        let standing = |share: f64, micros: u64| Validity::of(&delayed(share, Nanos::from_micros(micros))).standing;
        // The median of this fixture is above a millisecond, its 99th percentile 7.09 ms.
        assert_eq!(standing(1.0, 40), Standing::Valid, "less than waking up costs");
        assert_eq!(standing(1.0, 200), Standing::Degraded, "more than 5 % of the median");
        assert_eq!(standing(1.0, 4_000), Standing::Invalid, "the median is loadline's own");
        assert_eq!(standing(0.001, 2_000), Standing::Valid, "nearly all of one in a thousand was slow anyway");
        assert_eq!(standing(0.05, 40_000), Standing::Invalid, "so are the slow ones");
        assert_eq!(generator_limit(&delayed(0.001, Nanos::from_millis(2))), None);
        let late = delayed(1.0, Nanos::from_millis(4));
        assert!(generator_limit(&late).unwrap().to_string().starts_with("it was late itself, so that p50 may be up to 4.00 ms high"));
        let why = Validity::of(&late).why();
        assert!(why.starts_with("loadline itself was late: p50 may be up to 4.00 ms high, p99 may be up to "), "{why}");
    }

    #[test]
    fn results_that_do_not_tell_which_requests_were_late_are_judged_by_the_lag() {
        assert_eq!(Validity::of(&lagging(Nanos::from_micros(90))).standing, Standing::Valid);
        assert_eq!(Validity::of(&lagging(Nanos::from_millis(2))).standing, Standing::Invalid);
        assert_eq!(generator_limit(&lagging(Nanos::from_micros(90))), None);
    }

    #[test]
    fn a_generator_that_did_not_run_says_so_and_for_how_long() {
        let stopped = |total: u64, longest: u64| {
            judged(|run| {
                run.edit_for_test().generator.gaps = measure::Gaps {
                    count: 2,
                    total: Nanos::from_millis(total * u64::from(run.generator.threads)),
                    longest: Nanos::from_millis(longest),
                };
            })
        };
        // Of ten seconds.
        let (standing, why) = stopped(2_000, 2_000);
        assert_eq!(standing, Standing::Invalid);
        assert_eq!(why, "loadline itself did not run for 2.00 s (20 % of the time): it was paused, frozen or stopped");
        assert_eq!(
            stopped(400, 20).1,
            "loadline itself did not run for 400 ms in all, 20.0 ms at most at once (4 % of the time): it was paused, frozen or stopped"
        );
        assert_eq!(stopped(90, 46).0, Standing::Valid);
        // One short gap is a large share of a short run, and no more than every machine has now and then.
        let short = |total: u64| {
            let mut run = healthy();
            run.edit_for_test().duration_s = 0.4;
            run.edit_for_test().generator.gaps = measure::Gaps {
                count: 1,
                total: Nanos::from_millis(total * u64::from(run.generator.threads)),
                longest: Nanos::from_millis(total),
            };
            gaps(&run).unwrap()
        };
        assert_eq!((short(7).standing, short(12).standing), (Standing::Degraded, Standing::Invalid));
        let what = short(7).what.to_string();
        assert_eq!(what, "loadline itself did not run for 7.00 ms (1.7 % of the time): it was paused, frozen or stopped");
        let mut run = healthy();
        run.edit_for_test().generator.gaps = measure::Gaps { count: 1, total: Nanos::from_secs(4), longest: Nanos::from_secs(2) };
        assert_eq!(generator_limit(&run), Some(GeneratorLimit::Stopped(Nanos::from_secs(2))));
    }

    #[test]
    fn requests_that_were_lost_make_a_run_invalid() {
        let (standing, why) = judged(|run| run.edit_for_test().in_flight_mean *= 1.2);
        assert_eq!(standing, Standing::Invalid);
        assert!(why.contains("requests or times were lost"), "{why}");
    }

    #[test]
    fn a_rate_that_a_full_thread_missed_says_nothing_about_the_server() {
        let unsent = |cpu: f64| {
            judged(|run| {
                run.edit_for_test().qps_offered = Some(run.requests.due as f64 / run.duration_s);
                let unsent = run.requests.due * 4 / 5;
                run.edit_for_test().requests.unsent = unsent;
                run.edit_for_test().requests.succeeded -= unsent;
                run.edit_for_test().generator.cpu_share_busiest = cpu;
            })
        };
        let (standing, why) = unsent(0.99);
        assert_eq!(standing, Standing::Invalid);
        assert!(why.contains("it sent only 20 % of the requests, 80 % are missing") && why.contains("used 99 % of its core"), "{why}");
        assert_eq!(unsent(0.5), (Standing::Valid, String::new()), "with room to spare it waited for the server, or for connections");
    }

    #[test]
    fn a_thread_that_was_full_while_the_load_was_on_was_full_though_it_rested_while_draining() {
        let mut run = healthy();
        let threads = u64::from(run.generator.threads);
        run.edit_for_test().generator.cpu_share_busiest = 0.6;
        run.edit_for_test().timeline.iter_mut().for_each(|tick| tick.cpu = Nanos::from_millis(1_300 * threads));
        assert_eq!(generator_limit(&run), Some(GeneratorLimit::Processor(1.0)), "and no more than full");
        run.edit_for_test().timeline.iter_mut().skip(2).for_each(|tick| tick.cpu = Nanos::from_millis(300 * threads));
        assert_eq!(generator_limit(&run), None);
    }

    #[test]
    fn connections_are_the_limit_where_all_are_busy_and_requests_wait_for_them() {
        let mut run = fixtures::summaries().into_iter().find(|(name, _)| *name == "open_with_a_stall").unwrap().1;
        assert_eq!(connections_limit(&run), None, "a stall is the server's");
        let connections = run.plan.connections_max().get();
        let service = run.service_time.mean().unwrap() / 1e9;
        run.edit_for_test().in_flight_mean = f64::from(connections) * 0.99;
        run.edit_for_test().qps_offered = Some(run.qps * 2.0);
        run.edit_for_test().wait = Histogram::new();
        run.edit_for_test().wait.record(Nanos::from_secs(2));
        let limit = connections_limit(&run).unwrap();
        assert_eq!((limit.connections, limit.wait_mean), (connections, Nanos::from_secs(2)));
        assert!((limit.carries - f64::from(connections) / service).abs() < 1e-6 * limit.carries && limit.busy > 0.98);
        assert!((limit.needed - (run.qps * 2.0 * service).ceil()).abs() < 1e-9);
        run.edit_for_test().in_flight_mean = f64::from(connections) * 0.5;
        assert_eq!(connections_limit(&run), None, "half of them had nothing to do");
        assert_eq!(connections_limit(&healthy()), None, "closed load has one a user");
    }

    fn judged(change: impl FnOnce(&mut Summary)) -> (Standing, String) {
        let mut run = healthy();
        change(&mut run);
        let validity = Validity::of(&run);
        (validity.standing, validity.why())
    }

    fn local(run: &mut Summary) {
        run.edit_for_test().resolution.addresses = vec!["127.0.0.1:80".to_owned(), "[::1]:80".to_owned()];
    }

    #[test]
    fn no_fixture_is_doubted_but_the_one_without_ports() {
        for (name, run) in fixtures::summaries() {
            let standing = if name == "failures_of_every_side" { Standing::Degraded } else { Standing::Valid };
            assert_eq!(Validity::of(&run).standing, standing, "{name}: {}", Validity::of(&run).why());
        }
    }

    #[test]
    fn waiting_for_a_lane_is_the_servers_doing() {
        let run = judged(|run| (0..200_000).for_each(|_| run.edit_for_test().wait.record(Nanos::SECOND)));
        assert_eq!(run.0, Standing::Valid);
    }

    #[test]
    fn waiting_for_a_core_condemns_only_where_the_server_has_its_own() {
        let starved = |share: f64, at: fn(&mut Summary)| {
            judged(|run| {
                run.edit_for_test().generator.run_queue_share = Some(share);
                at(run);
            })
            .0
        };
        let afar: fn(&mut Summary) = |_| ();
        assert_eq!([0.009, 0.04, 0.1].map(|share| starved(share, afar)), [Standing::Valid, Standing::Degraded, Standing::Invalid]);
        assert_eq!([0.04, 0.4, 0.7].map(|share| starved(share, local)), [Standing::Valid, Standing::Valid, Standing::Degraded]);
        let mut run = healthy();
        local(&mut run);
        run.edit_for_test().generator.run_queue_share = Some(0.042);
        let said = disturbances(&Validity::of(&run));
        assert!(said.len() == 1 && said[0].contains("no core for 4.2 %"), "{said:?}");
    }

    #[test]
    fn a_starved_generator_is_invalid_even_beside_the_server() {
        let with = |had: f64, waited: f64| {
            let mut run = healthy();
            local(&mut run);
            let record = run.edit_for_test();
            (record.generator.cpu_share_busiest, record.generator.run_queue_share) = (had, Some(waited));
            (Validity::of(&run).standing, generator_limit(&run).map(|limit| limit.to_string()))
        };
        // A tenth of a core, and beside one, two and three others that want it all.
        let said = "a thread was ready but got no core for 90 % of the time".to_owned();
        assert_eq!(with(0.1, 0.9), (Standing::Invalid, Some(said)));
        assert_eq!(
            [with(0.5, 0.5), with(0.33, 0.67), with(0.25, 0.75)].map(|it| it.0),
            [Standing::Valid, Standing::Degraded, Standing::Degraded]
        );
        // One that wants little and waits little is a bystander.
        assert_eq!(with(0.01, 0.3), (Standing::Valid, None));
        // And one that was too short to be known.
        let mut run = healthy();
        local(&mut run);
        let record = run.edit_for_test();
        (record.generator.cpu_share_busiest, record.generator.run_queue_share) = (0.1, Some(0.9));
        run.edit_for_test().ended.drained_at = Nanos::from_millis(20);
        assert_eq!(generator_limit(&run), None);
    }

    #[test]
    fn a_tenth_of_the_time_without_a_core_that_others_had_is_too_much() {
        let beside = |others: Option<f64>, waited: f64| {
            let mut run = healthy();
            local(&mut run);
            let record = run.edit_for_test();
            (record.generator.others_share, record.generator.cpu_share_busiest, record.generator.run_queue_share) =
                (others, 0.3, Some(waited));
            Validity::of(&run).standing
        };
        assert_eq!(beside(Some(0.25), 0.697), Standing::Invalid);
        assert_eq!([beside(Some(0.25), 0.1), beside(Some(0.25), 0.09)], [Standing::Invalid, Standing::Valid]);
        assert_eq!([beside(Some(0.02), 0.4), beside(None, 0.4)], [Standing::Valid; 2], "the server had them");
    }

    #[test]
    fn a_quota_that_stops_loadline_condemns_unless_it_is_the_server_s_as_well() {
        let with = |share: f64, at: fn(&mut Summary)| {
            let mut run = healthy();
            run.edit_for_test().generator.throttled_share = Some(share);
            at(&mut run);
            (Validity::of(&run).standing, generator_limit(&run).map(|limit| limit.to_string()))
        };
        let said = || Some("its quota of processor time stopped it in 60 % of the quota's periods".to_owned());
        let afar: fn(&mut Summary) = |_| ();
        assert_eq!([0.005, 0.1].map(|share| with(share, afar)), [(Standing::Valid, None), (Standing::Degraded, None)]);
        assert_eq!(with(0.6, afar), (Standing::Invalid, said()));
        // A server on this machine that was not watched may have none.
        assert_eq!([with(0.1, local), with(0.6, local)], [(Standing::Valid, None), (Standing::Invalid, said())]);
        // The server that is watched has a quota of its own, or none.
        let watched: fn(&mut Summary) = |run| {
            local(run);
            run.edit_for_test().observed =
                fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").unwrap().1.observed.clone();
        };
        assert_eq!(with(0.6, watched), (Standing::Invalid, said()));
        let stopped_too: fn(&mut Summary) = |run| {
            local(run);
            run.edit_for_test().observed =
                fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").unwrap().1.observed.clone();
            let series = run.edit_for_test().observed[0].series.iter_mut().find(|series| series.name == "cpu_user").unwrap();
            let mut stopped = series.clone();
            "cgroup_throttled".clone_into(&mut stopped.name);
            stopped.values = vec![Some(0.7); stopped.values.len()];
            run.edit_for_test().observed[0].series.push(stopped);
        };
        assert_eq!(with(0.6, stopped_too), (Standing::Degraded, None));
    }

    #[test]
    fn a_busy_core_or_a_generous_host_degrades() {
        let (standing, why) = judged(|run| {
            run.edit_for_test().generator.cpu_share_busiest = 0.97;
            run.edit_for_test().generator.steal_share = Some(0.03);
        });
        assert_eq!(standing, Standing::Degraded);
        assert!(why.contains("used 97 % of its core") && why.contains("gave 3 %"), "{why}");
        let (standing, why) = judged(|run| run.edit_for_test().timeline[3].cpu = Nanos::from_millis(1_860));
        assert_eq!(standing, Standing::Degraded);
        assert!(why.contains("used 93 % of their cores in the 1 s from 3 s on"), "{why}");
    }

    #[test]
    fn a_server_that_others_keep_from_its_cores_is_not_called_slow() {
        let beside = |others: Option<f64>, waited: Option<f64>| {
            let mut run = healthy();
            local(&mut run);
            let record = run.edit_for_test();
            (record.generator.others_share, record.generator.server_wait_share) = (others, waited);
            let validity = Validity::of(&run);
            (validity.standing, validity.why(), disturbances(&validity))
        };
        let (standing, why, _) = beside(Some(0.43), Some(0.61));
        assert_eq!(standing, Standing::Degraded);
        assert_eq!(
            why,
            "other programs kept 43 % of the CPUs busy, and the server waited for a CPU 61 % of the time, so it may be faster than measured"
        );
        let (standing, _, noticed) = beside(Some(0.43), Some(0.05));
        assert_eq!((standing, noticed), (Standing::Valid, vec!["other programs kept 43 % of the CPUs busy".to_owned()]));
        for (others, waited) in [(Some(0.03), Some(0.6)), (None, None), (Some(0.03), None)] {
            assert_eq!(beside(others, waited), (Standing::Valid, String::new(), Vec::new()), "with threads of its own it waits for itself");
        }
    }

    #[test]
    fn a_rate_that_was_not_made_is_not_the_load_asked_for() {
        let asked = |rate: f64| judged(|run| run.edit_for_test().qps_offered = Some(rate));
        // 12,000 a second were made.
        assert_eq!([12_020.0, 12_300.0, 13_000.0].map(|rate| asked(rate).0), [Standing::Valid, Standing::Degraded, Standing::Invalid]);
        assert!(asked(24_000.0).1.contains("only 50 % of the requests, 50 % are missing"));
        // Of few arrivals at random, some more or less are chance.
        let few = judged(|run| {
            run.edit_for_test().requests.due = 95;
            run.edit_for_test().qps_offered = Some(100.0 / run.duration_s);
        });
        assert_eq!(few.0, Standing::Valid);
    }

    #[test]
    fn nothing_measured_is_not_doubted() {
        let idle = judged(|run| {
            run.edit_for_test().requests.due = 0;
            run.edit_for_test().qps_offered = Some(1_000.0);
        });
        assert_eq!(idle, (Standing::Valid, String::new()));
    }

    #[test]
    fn too_few_sends_convict_nobody() {
        let mut summary = healthy();
        summary.edit_for_test().lag = Histogram::new();
        summary.edit_for_test().lag.record(Nanos::SECOND);
        assert_eq!(generator_limit(&summary), None);
    }
}
