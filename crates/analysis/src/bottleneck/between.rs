//! What stands between loadline and the server's own work: acknowledgements held back, packets lost, connections that are not kept.
//!
//! Each of these makes every answer longer by a time that no processor, lock or pool has, and by whole multiples of what the kernel's
//! timers are set to: 40 ms for an acknowledgement that is held back, 1, 3 and 7 s for a connection's first packet. Whoever takes such a
//! time for work looks for a lock that does not exist.
//!
//! Rejected: to take slow answers near 40 ms by themselves for held acknowledgements. Much takes 40 ms; what tells is that the first byte
//! was there long before the last.

use measure::Summary;
use plan::{Keepalive, Nanos};

use super::scene::Scene;
use super::{Finding, Kind, Point, queues};
use crate::quantity::{counted, figure, tenths, time};
use crate::validity::packets_lost;

/// Linux holds an acknowledgement back for 40 ms; what is measured has the way and two ticks of its clock on top.
const HELD_BACK: std::ops::RangeInclusive<f64> = 0.036..=0.050;
/// So many of the answers have it, or it is not what limits.
const HELD_BACK_SHARE_MIN: f64 = 0.3;
/// An answer of more bytes takes several round trips, so that its last byte is late anyway: Linux sends 10 segments first.
const ONE_FLIGHT_BYTES: f64 = 14_000.0;
/// A first packet is sent again after 1 s, then 2 s and 4 s later.
const SENT_AGAIN_S: [(f64, f64); 3] = [(0.98, 1.25), (2.95, 3.4), (6.9, 7.6)];
/// Of the connections, so many are no accident.
const LOST_SHARE_MIN: f64 = 0.01;
/// Of the answers, so many came on a connection of their own.
const CLOSED_SHARE_MIN: f64 = 0.9;
/// Opening it takes this share of the whole, or it is no matter.
const OPENING_SHARE_MIN: f64 = 0.2;
/// TCP waits at least so long for an acknowledgement before it sends again, in seconds; less a tick of its clock.
const RESENT_S: f64 = 0.19;
/// QUIC waits for an acknowledgement as long as the way takes, and 25 ms that the other side may hold it back (RFC 9002 §6.2.1), in seconds;
/// less a tick of its clock.
const QUIC_RESENT_S: f64 = 0.024;
/// Few answers show no custom.
const ANSWERS_MIN: f64 = 20.0;

/// What was seen of the way between.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Between {
    /// The share of answers whose last byte came about 40 ms after the first.
    pub held_back: f64,
    /// The median time to the first byte and to the last, in seconds.
    pub first_byte_s: f64,
    /// The same to the last byte.
    pub last_byte_s: f64,
    /// The share of connections whose first packet was lost, by the time they took to open.
    pub lost: f64,
    /// How many connections these were.
    pub lost_connections: u64,
    /// Connections that the server closed, for each answer.
    pub closed: f64,
    /// Answers that this is about.
    pub answers: f64,
    /// The share of answers that took longer than the quickest by what TCP waits before it sends again.
    pub late: f64,
    /// What opening a connection took, on average, in seconds.
    pub opening_s: f64,
    /// What was lost over QUIC, where that is no chance.
    pub quic: Option<QuicLoss>,
}

/// Packets of QUIC that were lost on the way to the server, and what became of the answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuicLoss {
    /// As a share of those sent.
    pub share: f64,
    /// For each answer.
    pub each: f64,
    /// The share of answers that took longer than the quickest by what QUIC waits before it sends again.
    pub late: f64,
    /// The share of answers that took longer by half as much, but not so long.
    pub between: f64,
    /// By what the mean service time is above the median, as a share of the mean.
    pub longer: f64,
}

impl QuicLoss {
    fn of(run: &Summary, answers_of_all: f64) -> Option<Self> {
        let (share, times) = (packets_lost(run)?, &run.service_time);
        let (least, median, mean) = (times.min()?.as_secs_f64(), times.quantile(0.5)?.as_secs_f64(), times.mean()? / 1e9);
        let share_from = |after: f64, to: f64| {
            let within = |time: Nanos| (least + after..least + to).contains(&time.as_secs_f64());
            times.count_where(within) as f64 / times.count() as f64
        };
        Some(Self {
            share,
            each: run.connections.packets_lost as f64 / answers_of_all.max(1.0),
            late: share_from(QUIC_RESENT_S, f64::INFINITY),
            between: share_from(QUIC_RESENT_S / 2.0, QUIC_RESENT_S),
            longer: 1.0 - median / mean,
        })
    }
}

impl Between {
    /// What was seen in a run.
    #[must_use]
    pub fn of(run: &Summary) -> Self {
        let at = |q: f64| Some((run.ttfb.quantile(q)?.as_secs_f64(), run.service_time.quantile(q)?.as_secs_f64()));
        let places = (0..20).map(|place| at(0.025 + f64::from(place) * 0.05));
        let held_back = places.flatten().filter(|(first, last)| HELD_BACK.contains(&(last - first)) && *last >= 2.0 * first).count();
        // Bytes and connections are those of the whole run.
        let whole = (run.service_time.count() + run.excluded.requests) as f64;
        let is_small = run.bytes.received as f64 <= ONE_FLIGHT_BYTES * whole;
        let (first_byte_s, last_byte_s) = at(0.5).unwrap_or_default();
        let again = |time: Nanos| SENT_AGAIN_S.iter().any(|(from, to)| (*from..=*to).contains(&time.as_secs_f64()));
        let lost_connections = run.connect.count_where(again);
        let answers = run.service_time.count() as f64;
        let kept = run.plan.connection().keepalive == Keepalive::Reuse;
        Self {
            held_back: if is_small { held_back as f64 / 20.0 } else { 0.0 },
            first_byte_s,
            last_byte_s,
            lost: lost_connections as f64 / run.connect.count().max(1) as f64,
            lost_connections,
            closed: if kept { run.connections.closed_by_server as f64 / whole.max(1.0) } else { 0.0 },
            answers,
            late: run.service_time.min().map_or(0.0, |least| {
                let late = run.service_time.count_where(|time| time.as_secs_f64() >= least.as_secs_f64() + RESENT_S);
                late as f64 / answers.max(1.0)
            }),
            opening_s: (run.connect.mean().unwrap_or(0.0) + run.tls.mean().unwrap_or(0.0)) / 1e9,
            quic: QuicLoss::of(run, whole),
        }
    }

    /// Each that is worth a word, in one sentence, lower case and without a full stop.
    #[must_use]
    pub fn noticed(&self) -> Vec<String> {
        let mut said = Vec::new();
        if self.lost_connections > 0 && self.lost >= LOST_SHARE_MIN {
            said.push(format!(
                "{} ({} %) took about 1 s or 3 s to open: the first packet (SYN) was lost and sent again, as when the server's accept queue is full",
                counted(self.lost_connections, "connection"),
                tenths(self.lost)
            ));
        }
        if self.is_closing() {
            said.push(format!(
                "the server closed the connection after each answer, so that every request opened a new one ({} on average): turn keep-alive on in the server to measure it without that",
                time(self.opening_s * 1e9)
            ));
        }
        said
    }

    fn is_closing(&self) -> bool {
        self.closed >= CLOSED_SHARE_MIN && self.answers >= ANSWERS_MIN
    }
}

/// The lowest of the loads that shows it.
fn lowest<'a>(scene: &Scene<'a>, is_such: impl Fn(&Point) -> bool) -> Option<&'a Point> {
    scene.loaded().find(|point| is_such(point))
}

/// An acknowledgement that is held back, and a server that waits for it between two writes.
pub(super) fn delayed_ack(scene: &Scene<'_>) -> Option<Finding> {
    let point = lowest(scene, |point| point.between.held_back >= HELD_BACK_SHARE_MIN)?;
    let Between { held_back, first_byte_s, last_byte_s, .. } = point.between;
    let finding = Finding::new(
        Kind::DelayedAck,
        0.97,
        format!(
            "answers wait 40 ms for a TCP acknowledgement: the first byte came after {}, the last after {}",
            time(first_byte_s * 1e9),
            time(last_byte_s * 1e9)
        ),
    )
    .brief("Delayed ACK: the last byte comes 40 ms after the first")
    .evidence([
        format!("in about {:.0} % of the answers", held_back * 100.0),
        "this is Nagle's algorithm together with delayed acknowledgement: the server sends an answer in two writes, and the second waits \
         until the first is acknowledged"
            .to_owned(),
    ])
    .refuted_by("set TCP_NODELAY in the server, or send head and body in one write: if the last byte is as late as before, this is wrong")
    .remedy("send head and body of an answer in one write, or set TCP_NODELAY on the server's connections");
    Some(finding)
}

/// Whether the server's queue of connections is named as too short.
fn overflows(scene: &Scene<'_>) -> bool {
    queues::accept_queue(scene).is_some_and(|finding| finding.is_named())
}

/// First packets that are lost, where connections are opened all the time.
pub(super) fn lost_packets(scene: &Scene<'_>) -> Option<Finding> {
    /// Less than this of the requests waits for it.
    const WAITING_MIN: f64 = 0.05;
    // Where the queue was seen to overflow, that is why they were lost.
    if overflows(scene) {
        return None;
    }
    let waiting = |point: &Point| point.between.lost_connections as f64 / point.requests.max(1.0);
    let Some(point) = lowest(scene, |point| point.between.lost >= LOST_SHARE_MIN && waiting(point) >= WAITING_MIN) else {
        return sent_again(scene).or_else(|| lost_over_quic(scene));
    };
    let finding = Finding::new(
        Kind::LostPackets,
        0.9,
        format!(
            "{} took about 1 s or 3 s to open: the first packet (SYN) was lost and sent again",
            counted(point.between.lost_connections, "connection")
        ),
    )
    .brief("Lost packets: connections take 1 s or 3 s to open")
    .evidence([format!("{} % of the connections that were opened", tenths(point.between.lost))])
    .refuted_by("watch the server's listen queue (ss -ltn, nstat -az TcpExtListenOverflows): if nothing is lost there, look at firewalls and the network between")
    .remedy("accept connections faster, raise the server's backlog together with net.core.somaxconn, and keep connections open");
    Some(finding)
}

/// Segments that TCP sends again, where the load goes over a network. The counter is its machine's, so that it names nothing alone: about
/// as many answers have to be late by what TCP waits before it sends again, and the others not.
fn sent_again(scene: &Scene<'_>) -> Option<Finding> {
    /// For each answer, so many are more than a good network loses.
    const EACH_MIN: f64 = 0.02;
    /// Late answers, as a multiple of the segments that were sent again: of an answer's segments several may be lost, and some are missed
    /// by an acknowledgement at once.
    const AS_MANY: std::ops::RangeInclusive<f64> = 0.3..=1.5;
    let again = |point: &Point| point.server.as_ref().and_then(|seen| seen.retransmits).unwrap_or(0.0) / point.answered.max(1.0);
    let late = |point: &Point| AS_MANY.contains(&(point.between.late / again(point)));
    let point = lowest(scene, |point| point.over_network && again(point) >= EACH_MIN && late(point))?;
    let each = tenths(again(point));
    let finding = Finding::new(Kind::LostPackets, 0.7, format!("TCP sends segments again, {each} for every 100 answers: packets are lost on the way"))
        .evidence([format!(
            "at {} requests a second, {} % of the answers took 200 ms longer than the quickest, as long as TCP waits before it sends again",
            figure(point.answered),
            tenths(point.between.late)
        )])
        .refuted_by("watch retransmissions on both sides (nstat -az TcpRetransSegs) with and without this load: if they are the same, they belong to other traffic")
        .remedy(LOOK_BETWEEN);
    Some(finding)
}

/// What to do about packets that are lost on the way.
const LOOK_BETWEEN: &str =
    "look at the network between (a link that is full, a duplex mismatch, a firewall that drops), and measure from nearby";

/// Packets of QUIC that are lost. They are those of this load, and still name nothing by themselves: a server may be slow beside them. What tells
/// is the gap. Whatever was lost is late by all that QUIC waits before it sends again, and few answers take half as long; a server that is slow
/// for a reason of its own answers in between too. At the lowest load nobody waits in a line, so it is looked for there; and where the server's
/// own lines are longer than that, at the load that it carries best, they are what limits.
///
/// Rejected: to name it by the share of lost packets alone. Half of them are acknowledgements, which cost nobody anything, and on a connection of
/// many requests the next packets tell of a gap at once.
fn lost_over_quic(scene: &Scene<'_>) -> Option<Finding> {
    /// Late answers, as a multiple of the packets that were lost on the way there: some of those cost nothing, and as many are lost on the way back.
    const AS_MANY: std::ops::RangeInclusive<f64> = 0.3..=1.7;
    /// Of those that are late, so many may be late by half.
    const BETWEEN_MAX: f64 = 0.4;
    /// What waiting adds to the mean, at least, or it is no matter.
    const LONGER_MIN: f64 = 0.08;
    let is_such = |point: &Point| {
        let loss = point.between.quic?;
        (point.between.answers * loss.late >= ANSWERS_MIN / 2.0 && AS_MANY.contains(&(loss.late / loss.each))).then_some(loss)
    };
    let loss = is_such(scene.points.first()?).filter(|loss| loss.between <= BETWEEN_MAX * loss.late)?;
    is_such(scene.top).filter(|loss| loss.longer >= LONGER_MIN)?;
    let finding = Finding::new(
        Kind::LostPackets,
        0.7,
        format!("{} % of those that loadline sent over QUIC were lost on the way", tenths(loss.share)),
    )
    .evidence([
        format!(
            "{} % of the answers took 25 ms longer than the quickest or more, as long as QUIC waits before it sends again",
            tenths(loss.late)
        ),
        format!("few took half as much longer ({} %), as they would if the server were slow", tenths(loss.between)),
    ])
    .refuted_by("send the same load from the server's own machine, where nothing is lost: if as many answers are late, this is wrong")
    .remedy(LOOK_BETWEEN);
    Some(finding)
}

/// A connection for each request.
pub(super) fn closing(scene: &Scene<'_>) -> Option<Finding> {
    // Where connections wait to be accepted, opening one takes long for that reason.
    if overflows(scene) {
        return None;
    }
    let opens = |point: &Point| {
        let opening = point.between.opening_s;
        point.between.is_closing() && opening >= OPENING_SHARE_MIN * (opening + point.service_s.unwrap_or(0.0))
    };
    let point = lowest(scene, opens)?;
    let service = point.service_s.unwrap_or(0.0);
    let finding = Finding::new(
        Kind::NewConnections,
        0.85,
        format!(
            "the server closes the connection after each answer: opening a new one takes {}, the request itself {}",
            time(point.between.opening_s * 1e9),
            time(service * 1e9)
        ),
    )
    .brief("Keep-alive is off: every request opens a new connection")
    .evidence([format!(
        "{} answers a second, {} connections closed by the server for each",
        figure(point.answered),
        figure(point.between.closed)
    )])
    .refuted_by("turn keep-alive on in the server: if it carries no more, this is wrong")
    .remedy("turn keep-alive on (in the server, and in a proxy before it), unless the real clients do without as well");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Histogram, fixtures};
    use plan::Random;

    use crate::simulated::normal;

    fn run() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap().1
    }

    fn times(each: &[(Nanos, u64)]) -> Histogram {
        let mut times = Histogram::new();
        each.iter().for_each(|(time, count)| times.record_many(*time, *count));
        times
    }

    #[test]
    fn an_acknowledgement_held_back_shows_between_first_and_last_byte() {
        let mut run = run();
        run.edit_for_test().ttfb = times(&[(Nanos::from_micros(560), 1_000)]);
        run.edit_for_test().bytes.received = 1_000 * 300;
        run.edit_for_test().service_time = times(&[(Nanos::from_micros(900), 300), (Nanos::from_millis(44), 700)]);
        assert!((Between::of(&run).held_back - 0.7).abs() < 0.06, "{:?}", Between::of(&run));
        // A large one takes several round trips.
        run.edit_for_test().bytes.received = 1_000 * 500_000;
        assert!(Between::of(&run).held_back < 0.01);
        run.edit_for_test().bytes.received = 1_000 * 300;
        // An answer that takes 44 ms to begin is slow for another reason.
        run.edit_for_test().ttfb = run.service_time.clone();
        assert!(Between::of(&run).held_back < 0.01);
    }

    #[test]
    fn connections_that_take_a_second_lost_their_first_packet() {
        let mut run = run();
        run.edit_for_test().connect = times(&[(Nanos::from_micros(90), 5), (Nanos::from_millis(1_010), 5)]);
        let seen = Between::of(&run);
        assert_eq!((seen.lost_connections, seen.lost), (5, 0.5));
        assert!(seen.noticed()[0].starts_with("5 connections (50 %) took about 1 s or 3 s to open"), "{:?}", seen.noticed());
    }

    /// A load whose answers take so long each, in milliseconds, of which so many packets were lost, of two for each answer.
    fn over_quic(level: f64, lost: u64, mut service_ms: impl FnMut() -> f64) -> Point {
        let mut run = run();
        let mut each = Histogram::new();
        (0..2_000).for_each(|_| each.record(Nanos((service_ms() * 1e6) as u64)));
        run.edit_for_test().service_time = each;
        (run.edit_for_test().connections.packets, run.edit_for_test().connections.packets_lost) = (4_000, lost);
        Point { level, ..Point::of(&run) }
    }

    fn is_named(points: &[Point]) -> bool {
        crate::bottleneck::findings(points, None).first().is_some_and(|found| found.kind == Kind::LostPackets && found.is_named())
    }

    /// How often it is named where it is what makes answers slow, and where packets are lost and servers are slow for reasons of their own.
    #[test]
    fn loss_over_quic_is_told_from_slow_servers() {
        let mut random = Random::new(7, 0);
        let (mut named, mut wrong) = (0, 0);
        for _ in 0..200 {
            // Two to eight of a hundred packets are lost, of requests, answers and acknowledgements.
            let loss = 0.02 + 0.06 * random.unit();
            let lost = (4_000.0 * loss) as u64;
            let lossy = |random: &mut Random| {
                let waits = if random.unit() < 1.2 * loss { 28.0 + 6.0 * random.unit() } else { 0.0 };
                5.0 + 0.5 * random.exponential() + waits
            };
            let levels = [over_quic(1.0, lost, || lossy(&mut random)), over_quic(4.0, lost, || lossy(&mut random))];
            named += u32::from(is_named(&levels));
            // As much is lost, all of it acknowledgements; times are exponential, log-normal, or longer at the higher load alone.
            let (typical, spread) = (2.0 + 20.0 * random.unit(), 0.2 + random.unit());
            let exponential = [1.0, 4.0].map(|level| over_quic(level, lost, || 1.0 + typical * random.exponential()));
            let log_normal = [1.0, 4.0].map(|level| over_quic(level, lost, || typical * (spread * normal(&mut random)).exp()));
            let queue = [over_quic(1.0, lost, || lossy(&mut random)), over_quic(4.0, lost, || 40.0 + lossy(&mut random))];
            let quiet = [1.0, 4.0].map(|level| over_quic(level, lost, || typical + random.unit()));
            wrong += [&exponential, &log_normal, &queue, &quiet].into_iter().map(|levels| u32::from(is_named(levels))).sum::<u32>();
        }
        assert!(named >= 190, "{named} of 200");
        assert!(wrong <= 4, "{wrong} of 800");
    }

    #[test]
    fn connections_that_the_server_closes_each_time_are_noticed_unless_that_was_asked_for() {
        let mut run = run();
        run.edit_for_test().connections.closed_by_server = run.requests.succeeded;
        assert!(Between::of(&run).noticed()[0].starts_with("the server closed the connection after each answer"));
        let plan::LoadRecord { draft, .. } = run.plan.clone().into();
        let draft = plan::Draft { no_keepalive: true, ..draft };
        run.edit_for_test().plan = draft.try_into().unwrap();
        assert!(Between::of(&run).noticed().is_empty());
    }
}
