//! How an endpoint behaves, in code or in a query.
//!
//! A fault injector with a switch per fault cannot say in which order they act. Here one description covers everything,
//! and the order is fixed: a request that has arrived waits out a stall, may be turned away (rate limit, breakdown),
//! then takes its time (pool or scalability law, and on top the delay), and then meets its fault or gets its reply. The
//! decision is arithmetic on the arrival time and the request's number; the server only waits until the instant it names.

use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::distribution::{Distribution, duration};
use crate::overload::{Breakdown, Health, RateLimit, Window};
use crate::pool::{Pool, Workers};
use crate::portion::{Choice, Portion};
use crate::query::pairs;
use crate::reply::Framing;
use crate::scalability::Scalability;
use crate::stall::Stall;

/// How an endpoint behaves. The default answers 200 at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Behaviour {
    /// Added to whatever else takes time.
    pub delay: Option<Distribution>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// For which portion of the requests it goes wrong; the others are answered as if there were no fault.
    pub share: Portion,
    /// How those requests are chosen.
    pub choice: Choice,
    /// What delays, service times and drawn faults follow from.
    pub seed: u64,
    /// The length of the body in bytes, in place of the endpoint's own body.
    pub size_bytes: Option<u64>,
    /// Whether the body's length is declared or the body sent in chunks.
    pub body: BodyFraming,
    /// The body comes in drops.
    pub trickle: Option<Trickle>,
    /// The reply with this number on its connection says `Connection: close`, and the connection is closed.
    pub close_after: Option<NonZeroU32>,
    /// The server stops now and then.
    pub stall: Option<Stall>,
    /// Requests are served by a pool of workers.
    pub pool: Option<Pool>,
    /// Requests take as long as the Universal Scalability Law says.
    pub scalability: Option<Scalability>,
    /// Requests beyond a rate are turned away with 429.
    pub rate_limit: Option<RateLimit>,
    /// The server breaks for a while when it has too much to do.
    pub breakdown: Option<Breakdown>,
}

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is answered with this status.
    Status(u16),
    /// The connection is reset.
    Reset(ResetPoint),
    /// It is never answered; the connection stays open.
    Silence,
}

/// The point at which a connection is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetPoint {
    /// After the request was read, before any byte of the reply.
    BeforeReply,
    /// After the head and so many bytes of the body. Bytes that the client's window could not take are lost.
    AfterBodyBytes(u64),
}

/// How a client learns where the body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyFraming {
    /// By `Content-Length`.
    #[default]
    Length,
    /// By chunks of at most so many bytes.
    Chunks(NonZeroU32),
}

/// A body in drops: the first at once, each further one a fixed time after the one before was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trickle {
    /// The bytes of a drop.
    pub drop_bytes: NonZeroU32,
    /// The time between drops.
    pub every: Duration,
}

impl Default for Behaviour {
    fn default() -> Behaviour {
        Behaviour {
            delay: None,
            fault: None,
            share: Portion::ALL,
            choice: Choice::Rotated,
            seed: 1,
            size_bytes: None,
            body: BodyFraming::Length,
            trickle: None,
            close_after: None,
            stall: None,
            pool: None,
            scalability: None,
            rate_limit: None,
            breakdown: None,
        }
    }
}

/// The grammar of a behaviour in a query, for people.
pub const GRAMMAR: &str = "\
How /behave is told to behave, in any combination:

delay=5ms               wait before the reply; also exp:5ms, uniform:1ms:9ms,
                        lognormal:5ms:1.0 (mean, sigma), two:1ms:100ms:0.1
status=503              answer with this status
reset=before            reset the connection before the reply, or after the
                        head (reset=0) or so many bytes of the body (reset=10)
never                   do not answer at all
share=0.1               status, reset or never hits only this share of requests
drawn                   ... drawn at random instead of every tenth
seed=7                  what everything random follows from
size=1000               bytes of the body; also 10kB, 64KiB, 1MB
chunked, chunked=100    send it in chunks (of so many bytes)
trickle=10:100ms        send it 10 bytes every 100 ms
close, close=3          close the connection after this (the third) reply
stall=2s:200ms          every 2 s, answer nothing for the last 200 ms
pool=4:10ms             4 workers with 10 ms each (or any delay as above)
usl=1000:0.05:0.001     Universal Scalability Law: lambda, sigma, kappa
limit=100               beyond 100 a second, answer 429
breaks=50:5s            with more than 50 in flight, answer 503 for 5 s
";

impl FromStr for Behaviour {
    type Err = String;

    /// Reads a query such as `delay=5ms&status=503&share=0.1`; the grammar is [`GRAMMAR`].
    fn from_str(query: &str) -> Result<Behaviour, String> {
        let mut behaviour = Behaviour::default();
        for (name, value) in pairs(query) {
            let value = &*value;
            match &*name {
                "delay" => behaviour.delay = Some(value.parse()?),
                "status" => behaviour.fall_for(Fault::Status(status(value)?))?,
                "reset" if value == "before" => {
                    behaviour.fall_for(Fault::Reset(ResetPoint::BeforeReply))?;
                }
                "reset" => {
                    behaviour.fall_for(Fault::Reset(ResetPoint::AfterBodyBytes(number("reset", value)?)))?;
                }
                "never" if value.is_empty() => behaviour.fall_for(Fault::Silence)?,
                "share" => behaviour.share = value.parse()?,
                "drawn" if value.is_empty() => behaviour.choice = Choice::Drawn,
                "seed" => behaviour.seed = number("seed", value)?,
                "size" => behaviour.size_bytes = Some(size_bytes(value)?),
                "chunked" if value.is_empty() => behaviour.body = BodyFraming::Chunks(CHUNK_BYTES),
                "chunked" => behaviour.body = BodyFraming::Chunks(number("chunked", value)?),
                "trickle" => {
                    let (drop_bytes, every) = two("trickle", value)?;
                    behaviour.trickle = Some(Trickle { drop_bytes: number("trickle", drop_bytes)?, every: duration(every)? });
                }
                "close" if value.is_empty() => behaviour.close_after = Some(NonZeroU32::MIN),
                "close" => behaviour.close_after = Some(number("close", value)?),
                "stall" => {
                    let (every, lasts) = two("stall", value)?;
                    let stall = Stall { every: duration(every)?, lasts: duration(lasts)? };
                    if stall.lasts > stall.every {
                        return Err(format!("stall={value} lasts longer than its period: write stall=2s:200ms"));
                    }
                    behaviour.stall = Some(stall);
                }
                "pool" => {
                    let (workers, service) = two("pool", value)?;
                    let workers: NonZeroU32 = number("pool", workers)?;
                    if workers > WORKERS_MAX {
                        return Err(format!("pool={value} has more than {WORKERS_MAX} workers"));
                    }
                    behaviour.pool = Some(Pool { workers, service: service.parse()? });
                }
                "usl" => behaviour.scalability = Some(scalability(value)?),
                "limit" => {
                    behaviour.rate_limit = Some(RateLimit { per_second: number("limit", value)? });
                }
                "breaks" => {
                    let (above, lasts) = two("breaks", value)?;
                    behaviour.breakdown = Some(Breakdown { above: number("breaks", above)?, lasts: duration(lasts)? });
                }
                _ => {
                    return Err(format!("{name}={value} says nothing about behaviour: / lists what does"));
                }
            }
        }
        Ok(behaviour)
    }
}

impl Behaviour {
    fn fall_for(&mut self, fault: Fault) -> Result<(), String> {
        match self.fault.replace(fault) {
            None => Ok(()),
            Some(_) => Err("status, reset and never exclude each other: choose one".to_owned()),
        }
    }

    pub(crate) fn framing(&self) -> Framing {
        match self.body {
            BodyFraming::Length => Framing::Length,
            BodyFraming::Chunks(_) => Framing::Chunked,
        }
    }
}

/// What `chunked` alone means.
const CHUNK_BYTES: NonZeroU32 = NonZeroU32::new(1024).unwrap();
/// A pool is memory, and its size may come from a query.
const WORKERS_MAX: NonZeroU32 = NonZeroU32::new(1_000_000).unwrap();

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name}={value} needs a whole number in place of {value:?}"))
}

fn two<'a>(name: &str, value: &'a str) -> Result<(&'a str, &'a str), String> {
    value.split_once(':').ok_or_else(|| format!("{name}={value} needs two parts with a colon between them"))
}

fn status(value: &str) -> Result<u16, String> {
    let status = value.parse().ok().filter(|status| (200..=999).contains(status));
    status.ok_or_else(|| format!("status={value} is no final status: write one from 200 to 999"))
}

fn size_bytes(value: &str) -> Result<u64, String> {
    let split = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (digits, unit) = value.split_at(split);
    let unit_bytes = match unit {
        "" | "B" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => {
            return Err(format!("size={value} has an unknown unit: write B, kB, MB, GB, KiB, MiB or GiB"));
        }
    };
    let size = digits.parse::<u64>().ok().and_then(|digits| digits.checked_mul(unit_bytes));
    size.ok_or_else(|| format!("size={value} needs a number of bytes, such as 1000 or 64KiB"))
}

fn scalability(value: &str) -> Result<Scalability, String> {
    let numbers: Option<Vec<f64>> = value.split(':').map(|part| part.parse().ok().filter(|number: &f64| number.is_finite())).collect();
    match numbers.as_deref() {
        Some(&[lambda_per_second, sigma, kappa]) if lambda_per_second > 0.0 && (0.0..=1.0).contains(&sigma) && kappa >= 0.0 => {
            Ok(Scalability { lambda_per_second, sigma, kappa })
        }
        _ => Err(format!("usl={value} needs lambda above 0, sigma from 0 to 1 and kappa from 0: usl=1000:0.05:0.001")),
    }
}

/// A behaviour at work: with its queue, its windows and the number of its next request.
#[derive(Debug)]
pub(crate) struct Conduct {
    pub(crate) behaviour: Behaviour,
    arrived: AtomicU64,
    in_flight: AtomicU64,
    workers: Option<Mutex<Workers>>,
    window: Mutex<Window>,
    health: Mutex<Health>,
}

/// What becomes of a request, and when. Instants count from the start of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResponsePlan {
    pub(crate) due: Duration,
    pub(crate) turn: Turn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Reply,
    /// 429, come again after so many seconds.
    TooMany(NonZeroU64),
    /// 503, come again after so many seconds.
    Broken(u64),
    Fault(Fault),
}

impl Conduct {
    pub(crate) fn new(behaviour: Behaviour) -> Conduct {
        Conduct {
            arrived: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            workers: behaviour.pool.map(|pool| Mutex::new(Workers::idle(pool.workers))),
            window: Mutex::default(),
            health: Mutex::default(),
            behaviour,
        }
    }

    /// Counts a request as in flight for as long as the result lives.
    pub(crate) fn enter(&self) -> Presence<'_> {
        Presence { conduct: self, in_flight: self.in_flight.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    /// Decides about the next request, which arrives at `at`, with stalls counted from `anchor`.
    pub(crate) fn decide(&self, at: Duration, anchor: Duration, presence: &Presence<'_>) -> ResponsePlan {
        let behaviour = &self.behaviour;
        let number = self.arrived.fetch_add(1, Ordering::Relaxed);
        let mut due = match (behaviour.stall, at.checked_sub(anchor)) {
            (Some(stall), Some(since)) => anchor + stall.release(since),
            _ => at,
        };
        if let Some(limit) = behaviour.rate_limit {
            let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(seconds) = window.admit(limit, due) {
                return ResponsePlan { due, turn: Turn::TooMany(seconds) };
            }
        }
        if let Some(breakdown) = behaviour.breakdown {
            let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(until) = health.admit(breakdown, due, presence.in_flight) {
                let seconds = until.saturating_sub(due).as_secs_f64().ceil() as u64;
                return ResponsePlan { due, turn: Turn::Broken(seconds) };
            }
        }
        if let (Some(workers), Some(pool)) = (&self.workers, behaviour.pool) {
            let service = pool.service.sample(behaviour.seed, number);
            due = workers.lock().unwrap_or_else(PoisonError::into_inner).admit(due, service);
        }
        if let Some(law) = behaviour.scalability {
            due += law.response_time(presence.in_flight);
        }
        if let Some(delay) = behaviour.delay {
            // A seed of its own: service time and delay of one request are independent.
            due += delay.sample(behaviour.seed ^ DELAY_SEED, number);
        }
        let turn = match behaviour.fault {
            Some(fault) if behaviour.share.chooses(behaviour.choice, behaviour.seed ^ FAULT_SEED, number) => Turn::Fault(fault),
            _ => Turn::Reply,
        };
        ResponsePlan { due, turn }
    }
}

/// Any two numbers that differ in many bits.
const DELAY_SEED: u64 = 0x5851_F42D_4C95_7F2D;
const FAULT_SEED: u64 = 0x1405_7B7E_F767_814F;

/// A request in flight.
pub(crate) struct Presence<'a> {
    conduct: &'a Conduct,
    in_flight: u64,
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        self.conduct.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn conduct(query: &str) -> Conduct {
        Conduct::new(query.parse().unwrap())
    }

    fn course(conduct: &Conduct, at: Duration) -> ResponsePlan {
        conduct.decide(at, Duration::ZERO, &conduct.enter())
    }

    #[test]
    fn a_query_says_what_the_fields_say() {
        let told: Behaviour =
            "delay=5ms&status=503&share=10%25&size=64KiB&chunked=100&close=3&trickle=10:100ms&seed=7&drawn".parse().unwrap();
        let built = Behaviour {
            delay: Some(Distribution::Fixed(ms(5))),
            fault: Some(Fault::Status(503)),
            share: Portion::of(0.1).unwrap(),
            choice: Choice::Drawn,
            seed: 7,
            size_bytes: Some(65_536),
            body: BodyFraming::Chunks(NonZeroU32::new(100).unwrap()),
            trickle: Some(Trickle { drop_bytes: NonZeroU32::new(10).unwrap(), every: ms(100) }),
            close_after: NonZeroU32::new(3),
            ..Behaviour::default()
        };
        assert_eq!(told, built);
        assert_eq!("".parse(), Ok(Behaviour::default()));
    }

    #[test]
    fn every_line_of_the_grammar_is_understood() {
        let examples = GRAMMAR.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
        let examples: Vec<&str> = examples.flat_map(|line| line[..24.min(line.len())].split(',').map(str::trim)).collect();
        assert!(examples.len() >= 18, "{examples:?}");
        for example in examples {
            assert!(example.parse::<Behaviour>().is_ok(), "{example}: {:?}", example.parse::<Behaviour>());
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_a_remedy() {
        for wrong in [
            "delay=5",
            "status=100",
            "status=1000",
            "status=500&never",
            "reset=later",
            "size=1XB",
            "size=99999999999GB",
            "chunked=0",
            "trickle=10",
            "stall=200ms:2s",
            "pool=0:1ms",
            "pool=2000000:1ms",
            "usl=0:0:0",
            "usl=1:2",
            "limit=0",
            "close=0",
            "nonsense=1",
            "never=1",
        ] {
            assert!(wrong.parse::<Behaviour>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_tenth_of_the_requests_fails_exactly() {
        let conduct = conduct("status=503&share=0.1");
        let turns: Vec<Turn> = (0..1000).map(|at| course(&conduct, ms(at)).turn).collect();
        assert_eq!(turns.iter().filter(|turn| **turn == Turn::Fault(Fault::Status(503))).count(), 100);
        assert_eq!(turns.iter().filter(|turn| **turn == Turn::Reply).count(), 900);
    }

    #[test]
    fn a_stalled_request_takes_its_service_time_after_the_stall() {
        let conduct = conduct("stall=2s:200ms&delay=5ms");
        assert_eq!(course(&conduct, ms(100)).due, ms(105));
        assert_eq!(course(&conduct, ms(1900)).due, ms(2005));
    }

    #[test]
    fn the_schedule_of_stalls_begins_at_its_anchor() {
        let conduct = conduct("stall=2s:200ms");
        let due = |at| conduct.decide(at, ms(500), &conduct.enter()).due;
        assert_eq!(due(ms(1900)), ms(1900));
        assert_eq!(due(ms(2400)), ms(2500));
        assert_eq!(due(ms(400)), ms(400));
    }

    #[test]
    fn requests_in_a_pool_wait_for_each_other_and_those_turned_away_take_no_worker() {
        let pool = conduct("pool=1:10ms&limit=2");
        assert_eq!(course(&pool, ms(0)), ResponsePlan { due: ms(10), turn: Turn::Reply });
        assert_eq!(course(&pool, ms(0)), ResponsePlan { due: ms(20), turn: Turn::Reply });
        assert_eq!(course(&pool, ms(1)), ResponsePlan { due: ms(1), turn: Turn::TooMany(NonZeroU64::MIN) });
        assert_eq!(course(&pool, ms(1000)), ResponsePlan { due: ms(1010), turn: Turn::Reply });
    }

    #[test]
    fn the_scalability_law_sees_those_in_flight() {
        let conduct = conduct("usl=1000:1:0");
        let first = conduct.enter();
        let second = conduct.enter();
        assert_eq!(conduct.decide(ms(0), ms(0), &first).due, ms(1));
        assert_eq!(conduct.decide(ms(0), ms(0), &second).due, ms(2));
        drop((first, second));
        assert_eq!(course(&conduct, ms(0)).due, ms(1));
    }

    #[test]
    fn too_many_in_flight_break_the_server_for_a_while() {
        let conduct = conduct("breaks=1:5s");
        let staying = conduct.enter();
        assert_eq!(conduct.decide(ms(0), ms(0), &staying).turn, Turn::Reply);
        assert_eq!(course(&conduct, ms(1)).turn, Turn::Broken(5));
        drop(staying);
        assert_eq!(course(&conduct, ms(2)).turn, Turn::Broken(5));
        assert_eq!(course(&conduct, ms(5001)).turn, Turn::Reply);
    }
}
