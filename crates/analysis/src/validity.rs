//! Whether a run says something about the server, or only about the machine that loaded it.
//!
//! A load generator at its limit looks exactly like a slow server: fewer requests, longer times. What tells them apart
//! is the generator's own health, which every Summary carries. The thresholds are those of docs/measurement.md §1.9: a worker
//! that uses more than 85 % of its core, or sends later than max(100 µs, 5 % of the median service time) for one request
//! in a hundred. Time spent waiting for a free connection is not among them: that is the server's slowness or the limit on
//! connections, and belongs to the response time.
//!
//! [`Validity`] is the whole of that table: every line of it that a run breaks is a cause, and the worst of the causes is the
//! standing. Where the server runs on the same machine, both wait for the same cores, and a thread that waits for one is as
//! much the server's doing as anybody's: there the wait is said and does not condemn, since what it does to sends is in the lag;
//! unless the thread got less than a fifth of the processor time it asked for, which is starvation whoever had the rest.
//!
//! A *server* without a core looks like a slow one too. Where it runs beside us, the kernel tells how long its threads waited and
//! what programs of neither side used; both together make its times longer than its own, and degrade the run. A server that only
//! waits is one with more threads than cores, or one beside a busy generator: its own doing, or the load's.

use std::fmt;
use std::net::SocketAddr;

use measure::{Failure, Summary};
use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::quantity::{count, counted, length, percent, time};
use crate::server_side::ServerSide;

/// A worker that uses more of its core than this has no room left for bursts (docs/measurement.md §1.9).
const CPU_SHARE_MAX: f64 = 0.85;
/// Lag below this is scheduling noise of any Linux machine (docs/measurement.md §1.9).
const LAG_P99_MIN: Nanos = Nanos::from_micros(100);
/// Lag above this share of the median service time distorts what is measured (docs/measurement.md §1.9).
const LAG_OF_SERVICE_MAX: f64 = 0.05;
/// Starting threads and reading certificates takes some ten milliseconds: 1 % of this.
const RUN_MIN: Nanos = Nanos::SECOND;

/// Waiting for a core longer than this share of the time lengthens what is measured (docs/measurement.md §1.9).
const RUN_QUEUE_SHARE_MAX: f64 = 0.01;
/// A host that takes more than this share away makes two runs incomparable (docs/measurement.md §1.9).
const STEAL_SHARE_MAX: f64 = 0.01;
/// What a system does beside its work: less than this share of its processor time (idle desktops and build machines: 1 to 4 %).
const OTHERS_SHARE_NOTICED: f64 = 0.1;
/// Alternating with a busy generator on one core, a server waits for a quarter to a half of the time it wants to run; this much
/// beside programs of others is theirs in part.
const SERVER_WAIT_SHARE_MAX: f64 = 0.2;

/// Sends later than this share of the slow answers leave nothing to read from them (docs/measurement.md §1.9).
const LAG_OF_RESPONSE_MAX: f64 = 0.25;
/// What waking up costs on a shared or virtual machine that has room: beside a server that answers within a tenth of a millisecond,
/// a share of its slow answers alone would condemn every run there. Said it is all the same.
const LAG_BEARABLE: Nanos = Nanos::from_micros(500);
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
    /// One send in a hundred was later than this, a Lane being free.
    Lag {
        /// The 99th percentile of the lag.
        #[serde(rename = "p99_ns")]
        p99: Nanos,
    },
    /// Less was sent than asked for.
    Shortfall {
        /// Sent of asked for, from 0 to 1.
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
    /// Programs that are neither loadline nor the server, which runs on this machine too, used processor time.
    Others {
        /// The share of the machine's that they used, from 0 to 1.
        share: f64,
        /// Of the time in which the server's threads wanted a core, the share they waited, from 0 to 1.
        server_waited: Option<f64>,
    },
}

impl Validity {
    /// Judges a finished run. Where nothing fell due there is nothing to doubt.
    #[must_use]
    pub fn of(run: &Summary) -> Self {
        let mut causes: Vec<Cause> = if run.requests.due == 0 {
            Vec::new()
        } else {
            [lateness(run), shortfall(run), exhaustion(run), processor(run), run_queue(run), quota(run), steal(run), others(run)]
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

fn lateness(run: &Summary) -> Option<Cause> {
    // Of few samples the 99th percentile is the greatest, and one late send convicts nobody.
    let p99 = run.lag.known_quantile(0.99)?;
    let median = run.service_time.quantile(0.5)?;
    if p99 <= lag_allowed(median) {
        return None;
    }
    let slow = run.response_time.quantile(0.99)?;
    let bearable = p99 <= LAG_BEARABLE || p99.0 as f64 <= slow.0 as f64 * LAG_OF_RESPONSE_MAX;
    cause(if bearable { Standing::Degraded } else { Standing::Invalid }, What::Lag { p99 })
}

/// What fell due against what should have: a request that found no Lane fell due, and is the server's or the plan's.
fn shortfall(run: &Summary) -> Option<Cause> {
    let expected = run.qps_offered? * run.duration_s;
    let missing = expected - run.requests.due as f64;
    if expected <= 0.0 || missing <= ARRIVAL_DEVIATIONS * expected.sqrt() {
        return None;
    }
    let share = run.requests.due as f64 / expected;
    (share < ACHIEVED_MIN).then_some(Cause { standing: short_of(share), what: What::Shortfall { share } })
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

fn processor(run: &Summary) -> Option<Cause> {
    let share = run.generator.cpu_share_busiest;
    if !processor_share_is_known(run) {
        return None;
    }
    if share > CPU_SHARE_MAX {
        return cause(Standing::Degraded, What::Processor { share });
    }
    // Ticks hold what all workers used together: if that is too much on average, it is too much for one of them.
    let threads = f64::from(run.generator.threads.max(1));
    let within = run.timeline.iter().filter(|tick| !tick.warmup && tick.to <= run.ended.load_until);
    let (share, tick) = within
        .map(|tick| (tick.cpu.as_secs_f64() / tick.to.since(tick.from).as_secs_f64() / threads, tick))
        .filter(|(share, tick)| share.is_finite() && tick.to.since(tick.from) >= RUN_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let what = What::ProcessorFor { share, from: tick.from, span: tick.to.since(tick.from) };
    (share > CPU_SHARE_MAX).then_some(Cause { standing: Standing::Degraded, what })
}

/// In closed load nothing is ever late by its own clock: an answer that lay unread while the thread had no core is a slow
/// answer, and only the kernel knows better. So starvation convicts by itself, wherever the server runs.
fn run_queue(run: &Summary) -> Option<Cause> {
    let share = run.generator.run_queue_share.filter(|share| *share > RUN_QUEUE_SHARE_MAX && processor_share_is_known(run))?;
    let standing = match (shares_cores_with_the_server(run), share > STARVED_SHARE_MIN) {
        _ if starved(run).is_some() => Standing::Invalid,
        (true, false) => Standing::Valid,
        (true, true) | (false, false) => Standing::Degraded,
        (false, true) => Standing::Invalid,
    };
    cause(standing, What::RunQueue { share })
}

/// The share of the time that a worker waited for a core, if it got next to nothing of the processor time it asked for.
fn starved(run: &Summary) -> Option<f64> {
    let waited = run.generator.run_queue_share.filter(|share| *share > STARVED_SHARE_MIN && processor_share_is_known(run))?;
    let had = run.generator.cpu_share_busiest;
    (had < SERVED_SHARE_MIN * (had + waited)).then_some(waited)
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
    let together = shares_cores_with_the_server(run)
        && ServerSide::of_processes(run).is_none_or(|server| server.mean("cgroup_throttled").is_some_and(|its| its > THROTTLED_NOTICED));
    (!together).then_some(share)
}

fn steal(run: &Summary) -> Option<Cause> {
    let share = run.generator.steal_share.filter(|share| *share > STEAL_SHARE_MAX)?;
    cause(Standing::Degraded, What::Steal { share })
}

fn others(run: &Summary) -> Option<Cause> {
    let share = run.generator.others_share.filter(|share| *share > OTHERS_SHARE_NOTICED && processor_share_is_known(run))?;
    let server_waited = run.generator.server_wait_share;
    let hurt = server_waited.is_some_and(|waited| waited > SERVER_WAIT_SHARE_MAX);
    cause(if hurt { Standing::Degraded } else { Standing::Valid }, What::Others { share, server_waited })
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
        let share = |share: f64| percent((share * 1e3).round() / 10.0);
        match self {
            Self::Lag { p99 } => {
                write!(f, "loadline sent 1 % of the requests more than {} late", time(p99.0 as f64))
            }
            Self::Shortfall { share: sent } => {
                write!(f, "only {} % of the requests asked for were made: loadline did not keep up with the rate", share(*sent))
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
                share(*waited)
            ),
            Self::Throttled { share: stopped } => write!(
                f,
                "a quota of processor time stopped loadline in {} % of the quota's periods, so times may be longer than the server's own: \
                 raise it (cpu.max, --cpus, limits.cpu), or send less",
                share(*stopped)
            ),
            Self::Steal { share: stolen } => write!(
                f,
                "the host of this machine gave {} % of its processor time to others: repeat the run before comparing it with another",
                share(*stolen)
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
    /// One send in a hundred was later than this.
    Lag(Nanos),
    /// A worker was ready and got no core for this share of the time, and next to none of the rest, from 0 to 1.
    Starved(f64),
    /// Its quota of processor time stopped it in this share of the quota's periods, from 0 to 1.
    Throttled(f64),
}

/// What limited the run on the generator's side; `None` when the figures are the server's.
#[must_use]
pub fn generator_limit(summary: &Summary) -> Option<GeneratorLimit> {
    let busiest = summary.generator.cpu_share_busiest;
    if busiest >= CPU_SHARE_MAX && processor_share_is_known(summary) {
        return Some(GeneratorLimit::Processor(busiest));
    }
    if let Some(waited) = starved(summary) {
        return Some(GeneratorLimit::Starved(waited));
    }
    if let Some(share) = throttled(summary) {
        return Some(GeneratorLimit::Throttled(share));
    }
    // Of few samples the 99th percentile is the greatest, and one late send convicts nobody.
    let lag = summary.lag.known_quantile(0.99)?;
    let median = summary.service_time.quantile(0.5)?;
    (lag > lag_allowed(median)).then_some(GeneratorLimit::Lag(lag))
}

fn lag_allowed(service_median: Nanos) -> Nanos {
    LAG_P99_MIN.max(Nanos((service_median.0 as f64 * LAG_OF_SERVICE_MAX) as u64))
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
            Self::Lag(lag) => write!(f, "it sent 1 % of the requests more than {:.0} µs late", lag.0 as f64 / 1e3),
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
        summary.lag = Histogram::new();
        (0..2_000).for_each(|_| summary.lag.record(lag));
        summary
    }

    #[test]
    fn a_generator_with_room_to_spare_is_not_the_limit() {
        assert_eq!(generator_limit(&healthy()), None);
    }

    #[test]
    fn a_worker_that_fills_its_core_is_the_limit() {
        let mut summary = healthy();
        summary.generator.cpu_share_busiest = 0.97;
        assert_eq!(generator_limit(&summary).unwrap().to_string(), "its busiest thread used 97 % of a core");
    }

    #[test]
    fn a_run_too_short_to_tell_is_not_blamed_on_the_processor() {
        let mut summary = healthy();
        summary.generator.cpu_share_busiest = 0.97;
        summary.ended.drained_at = Nanos::from_millis(20);
        assert_eq!(generator_limit(&summary), None);
    }

    #[test]
    fn late_sends_are_the_limit_only_beyond_noise_and_beyond_a_share_of_the_service_time() {
        // The median service time of this fixture is above a millisecond, so that 100 µs is above 5 % of it.
        assert_eq!(generator_limit(&lagging(Nanos::from_micros(90))), None);
        assert_eq!(
            generator_limit(&lagging(Nanos::from_millis(2))).unwrap().to_string(),
            "one send in a hundred was more than 2000 µs late"
        );
        let mut slow = lagging(Nanos::from_millis(2));
        slow.service_time = Histogram::new();
        (0..2_000).for_each(|_| slow.service_time.record(Nanos::from_millis(100)));
        assert_eq!(generator_limit(&slow), None, "2 ms of 100 ms are within 5 %");
    }

    fn judged(change: impl FnOnce(&mut Summary)) -> (Standing, String) {
        let mut run = healthy();
        change(&mut run);
        let validity = Validity::of(&run);
        (validity.standing, validity.why())
    }

    fn local(run: &mut Summary) {
        run.resolution.addresses = vec!["127.0.0.1:80".to_owned(), "[::1]:80".to_owned()];
    }

    #[test]
    fn no_fixture_is_doubted_but_the_one_without_ports() {
        for (name, run) in fixtures::summaries() {
            let standing = if name == "failures_of_every_side" { Standing::Degraded } else { Standing::Valid };
            assert_eq!(Validity::of(&run).standing, standing, "{name}: {}", Validity::of(&run).why());
        }
    }

    #[test]
    fn lag_beyond_a_quarter_of_the_slow_answers_leaves_nothing_to_read() {
        let late = |lag: u64| judged(|run| run.lag = lagging(Nanos::from_micros(lag)).lag);
        assert_eq!(late(90).0, Standing::Valid);
        let at_once = |lag: u64| {
            judged(|run| {
                run.lag = lagging(Nanos::from_micros(lag)).lag;
                (run.response_time, run.service_time) = (Histogram::new(), Histogram::new());
                for _ in 0..10_000 {
                    run.response_time.record(Nanos::from_micros(300));
                    run.service_time.record(Nanos::from_micros(100));
                }
            })
        };
        assert_eq!((at_once(450).0, at_once(600).0), (Standing::Degraded, Standing::Invalid));
        // The 99th percentile of the response time of this fixture is 7.09 ms.
        assert_eq!(late(1_500).0, Standing::Degraded);
        let (standing, why) = late(2_000);
        assert_eq!(standing, Standing::Invalid);
        assert!(why.starts_with("loadline sent 1 % of the requests more than 2.00 ms late"), "{why}");
    }

    #[test]
    fn waiting_for_a_lane_is_the_servers_doing() {
        let run = judged(|run| (0..200_000).for_each(|_| run.wait.record(Nanos::SECOND)));
        assert_eq!(run.0, Standing::Valid);
    }

    #[test]
    fn waiting_for_a_core_condemns_only_where_the_server_has_its_own() {
        let starved = |share: f64, at: fn(&mut Summary)| {
            judged(|run| {
                run.generator.run_queue_share = Some(share);
                at(run);
            })
            .0
        };
        let afar: fn(&mut Summary) = |_| ();
        assert_eq!([0.009, 0.04, 0.9].map(|share| starved(share, afar)), [Standing::Valid, Standing::Degraded, Standing::Invalid]);
        assert_eq!([0.04, 0.4, 0.7].map(|share| starved(share, local)), [Standing::Valid, Standing::Valid, Standing::Degraded]);
        let mut run = healthy();
        local(&mut run);
        run.generator.run_queue_share = Some(0.042);
        let said = disturbances(&Validity::of(&run));
        assert!(said.len() == 1 && said[0].contains("no core for 4.2 %"), "{said:?}");
    }

    #[test]
    fn a_starved_generator_is_invalid_even_beside_the_server() {
        let with = |had: f64, waited: f64| {
            let mut run = healthy();
            local(&mut run);
            (run.generator.cpu_share_busiest, run.generator.run_queue_share) = (had, Some(waited));
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
        (run.generator.cpu_share_busiest, run.generator.run_queue_share) = (0.1, Some(0.9));
        run.ended.drained_at = Nanos::from_millis(20);
        assert_eq!(generator_limit(&run), None);
    }

    #[test]
    fn a_quota_that_stops_loadline_condemns_unless_it_is_the_server_s_as_well() {
        let with = |share: f64, at: fn(&mut Summary)| {
            let mut run = healthy();
            run.generator.throttled_share = Some(share);
            at(&mut run);
            (Validity::of(&run).standing, generator_limit(&run).map(|limit| limit.to_string()))
        };
        let said = || Some("its quota of processor time stopped it in 60 % of the quota's periods".to_owned());
        let afar: fn(&mut Summary) = |_| ();
        assert_eq!([0.005, 0.1].map(|share| with(share, afar)), [(Standing::Valid, None), (Standing::Degraded, None)]);
        assert_eq!(with(0.6, afar), (Standing::Invalid, said()));
        // On this machine, of a server that is not watched, who knows.
        assert_eq!([0.1, 0.6].map(|share| with(share, local)), [(Standing::Valid, None), (Standing::Degraded, None)]);
        // The server that is watched has a quota of its own, or none.
        let watched: fn(&mut Summary) = |run| {
            local(run);
            run.observed = fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").unwrap().1.observed;
        };
        assert_eq!(with(0.6, watched), (Standing::Invalid, said()));
        let stopped_too: fn(&mut Summary) = |run| {
            local(run);
            run.observed = fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").unwrap().1.observed;
            let series = run.observed[0].series.iter_mut().find(|series| series.name == "cpu_user").unwrap();
            let mut stopped = series.clone();
            "cgroup_throttled".clone_into(&mut stopped.name);
            stopped.values = vec![Some(0.7); stopped.values.len()];
            run.observed[0].series.push(stopped);
        };
        assert_eq!(with(0.6, stopped_too), (Standing::Degraded, None));
    }

    #[test]
    fn a_busy_core_or_a_generous_host_degrades() {
        let (standing, why) = judged(|run| {
            run.generator.cpu_share_busiest = 0.97;
            run.generator.steal_share = Some(0.03);
        });
        assert_eq!(standing, Standing::Degraded);
        assert!(why.contains("used 97 % of its core") && why.contains("gave 3 %"), "{why}");
        let (standing, why) = judged(|run| run.timeline[3].cpu = Nanos::from_millis(1_860));
        assert_eq!(standing, Standing::Degraded);
        assert!(why.contains("used 93 % of their cores in the 1 s from 3 s on"), "{why}");
    }

    #[test]
    fn a_server_that_others_keep_from_its_cores_is_not_called_slow() {
        let beside = |others: Option<f64>, waited: Option<f64>| {
            let mut run = healthy();
            local(&mut run);
            (run.generator.others_share, run.generator.server_wait_share) = (others, waited);
            let validity = Validity::of(&run);
            (validity.standing, validity.why(), disturbances(&validity))
        };
        let (standing, why, _) = beside(Some(0.43), Some(0.61));
        assert_eq!(standing, Standing::Degraded);
        assert_eq!(
            why,
            "other programs used 43 % of this machine's processors, and the server got no core for 61 % of the time it was ready to \
             work: it may be faster than this"
        );
        let (standing, _, noticed) = beside(Some(0.43), Some(0.05));
        assert_eq!((standing, noticed), (Standing::Valid, vec!["other programs kept 43 % of the CPUs busy".to_owned()]));
        for (others, waited) in [(Some(0.03), Some(0.6)), (None, None), (Some(0.03), None)] {
            assert_eq!(beside(others, waited), (Standing::Valid, String::new(), Vec::new()), "with threads of its own it waits for itself");
        }
    }

    #[test]
    fn a_rate_that_was_not_made_is_not_the_load_asked_for() {
        let asked = |rate: f64| judged(|run| run.qps_offered = Some(rate));
        // 12,000 a second were made.
        assert_eq!([12_020.0, 12_300.0, 13_000.0].map(|rate| asked(rate).0), [Standing::Valid, Standing::Degraded, Standing::Invalid]);
        assert!(asked(24_000.0).1.contains("only 50 %"));
        // Of few arrivals at random, some more or less are chance.
        let few = judged(|run| {
            run.requests.due = 95;
            run.qps_offered = Some(100.0 / run.duration_s);
        });
        assert_eq!(few.0, Standing::Valid);
    }

    #[test]
    fn nothing_measured_is_not_doubted() {
        let idle = judged(|run| {
            run.requests.due = 0;
            run.qps_offered = Some(1_000.0);
        });
        assert_eq!(idle, (Standing::Valid, String::new()));
    }

    #[test]
    fn too_few_sends_convict_nobody() {
        let mut summary = healthy();
        summary.lag = Histogram::new();
        summary.lag.record(Nanos::SECOND);
        assert_eq!(generator_limit(&summary), None);
    }
}
