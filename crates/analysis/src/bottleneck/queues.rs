//! What is waited for while processors are idle: acceptance, workers, a lock, a collector, or something behind the server.
//!
//! Throughput that stops growing beside idle cores says that something else is short, and Little's law says of how much: N = X·R
//! requests are worked on at once, where X is the throughput at the end and R the time an answer takes before anything waits. A
//! pool has as many workers; a lock lets one through; and where a server has many more threads than that, each of them with a
//! request, what they wait for is not here.

use std::ops::RangeInclusive;

use super::law::line;
use super::scene::{Flat, MACHINE_FULL_MIN, Scene, Shape};
use super::{Finding, Kind, Point, ServerFigures};
use crate::curve::{Estimate, Model};
use crate::quantity::{counted, decimal, figure, time};

/// Connections that were lost in so many of the intervals were not lost while the load began.
const OVERFLOWING_MIN: f64 = 0.3;
/// So many that wait for locks at any time are what is waited for.
const LOCKED_MIN: f64 = 2.0;
/// Of a core, threads that are ready wait for no more than this where something else is waited for.
const READY_MAX: f64 = 0.3;
/// One at a time, with what measuring adds.
const ONE_MAX: f64 = 1.5;
/// How strongly throughput speaks whose course is not the server's own: not enough to be named.
const DISTURBED: f64 = 0.45;
/// Threads that serve one at a time together use about a core, wherever each of them runs.
const ONE_CORE: RangeInclusive<f64> = 0.75..=1.3;
const ONE_CORE_EXACTLY: RangeInclusive<f64> = 0.85..=1.15;
/// A request that works alone, and whose work takes longer while others take the core from it.
const ALONE_MAX: f64 = 2.0;
/// Of a full machine loadline may have this share without being what is waited for.
const ASKING_MAX: f64 = 0.25;
/// A thread that has more of the work than this does it alone.
const SHARE_MAX: f64 = 0.6;

/// Connections wait to be accepted until the kernel has no room for more.
pub(super) fn accept_queue(scene: &Scene<'_>) -> Option<Finding> {
    // Overflows are counted for all servers of a machine; the queue is this server's own.
    let (point, seen, _) = scene.most(|seen| Some(seen.overflows).filter(|_| seen.accept_queue.is_some_and(|queued| queued >= 0.5)))?;
    let queued = seen.accept_queue?;
    if seen.overflows <= 0.0 {
        return None;
    }
    let lasting = seen.overflowing >= OVERFLOWING_MIN;
    let sentence = format!(
        "connections come faster than it accepts them, and {} a second were lost since its accept queue was full",
        figure(seen.overflows)
    );
    let mut evidence = vec![
        format!("in {:.0} % of the seconds", seen.overflowing * 100.0),
        format!("{} connections waited to be accepted, on average", figure(queued)),
    ];
    evidence.extend(point.connect_s.filter(|took| *took >= 0.5).map(|took| {
        format!("one connection in a hundred took more than {} to open: its first packet was dropped and sent again", time(took * 1e9))
    }));
    let finding = Finding::new(Kind::AcceptQueue, if lasting { 0.96 } else { 0.4 }, sentence)
        .evidence(evidence)
        .refuted_by("run ss -ltn under this load: if Recv-Q stays below Send-Q, this is wrong")
        .remedy("accept faster (more workers, an acceptor that does nothing else), keep connections open, and raise the backlog together with net.core.somaxconn");
    Some(finding)
}

/// The runtime cleans up instead of answering.
pub(super) fn garbage_collection(scene: &Scene<'_>) -> Option<Finding> {
    /// As a share of what the server's processors did.
    const LARGE_MIN: f64 = 0.25;
    const WORTH_NAMING: f64 = 0.12;
    let (point, seen, share) = scene.most(|seen| {
        let (took, _) = seen.collecting.as_ref()?;
        Some(took / seen.cpu.filter(|cpu| *cpu > 0.0).unwrap_or(1.0).max(0.1))
    })?;
    let (took, by) = seen.collecting.as_ref()?;
    let share = share.min(1.0);
    let strength = match share {
        share if share >= LARGE_MIN => 0.94,
        share if share >= WORTH_NAMING => 0.6,
        share if share >= 0.02 => share,
        _ => return None,
    };
    let sentence = format!(
        "cleaning up memory took {} of a core, {:.0} % of what the server's processors did, at {} requests a second",
        decimal(*took, 2),
        share * 100.0,
        figure(point.answered)
    );
    let mut evidence = vec![format!("by {by}")];
    evidence.extend(seen.cpu.map(|cpu| format!("the server used {} cores", decimal(cpu, 2))));
    let finding = Finding::new(Kind::GarbageCollection, strength, sentence)
        .evidence(evidence)
        .refuted_by("give it a heap of twice the size: if it carries no more, this is wrong")
        .remedy("allocate less for each request (an allocation profile shows where), and give the heap more room");
    Some(finding)
}

/// Threads that wait for each other: together they use one core, or get one request through at a time.
pub(super) fn lock(scene: &Scene<'_>) -> Option<Finding> {
    let flat = scene.flat?;
    let (point, seen, cpu) = scene.hardest(|seen| seen.cpu)?;
    let first = seen.busiest.first().map_or(0.0, |(_, used)| *used);
    let working = seen.busiest.iter().filter(|(_, used)| *used >= 0.02).count();
    let threads = seen.threads.unwrap_or(0.0);
    let cores = seen.capacity()?;
    // A total of one core is a coincidence more often the farther it is from one, but not where one request at a time gets through.
    // Threads that come and go show besides that what works is not what is listed.
    let passing = seen.has_passing_threads();
    let one = if passing || flat.at_once() <= ALONE_MAX { ONE_CORE } else { ONE_CORE_EXACTLY };
    // Threads that wait for a lock are not ready to run; those that are, are short of cores. A runtime that moves its work from thread to
    // thread has few of them: there it tells that one request at a time gets through, and that nobody waits for a core.
    let moved = flat.at_once() <= ONE_MAX && seen.waiting.unwrap_or(0.0) <= READY_MAX;
    let several = working >= 2 || passing;
    let serial = cores >= 1.5 && one.contains(&cpu) && first <= SHARE_MAX * cpu && several && (!scene.wants_cores() || moved);
    let single = scene.is_idle()? && flat.at_once() <= ONE_MAX && threads >= 4.0 && scene.top.level >= 1.0 && cpu < *ONE_CORE.start();
    // A profile that shows many waiting for locks all the time needs no further sign.
    let shown = scene.points.iter().filter_map(|point| point.locked.as_ref()).max_by(|a, b| a.0.total_cmp(&b.0));
    let shown = shown.filter(|(waited, _)| *waited >= LOCKED_MIN);
    let sentence = match (serial, single) {
        (true, _) => {
            let threads =
                if passing { "threads that come and go".to_owned() } else { format!("{} threads", figure(point.serving()?.round())) };
            format!("{threads} use {} of {} cores together, as if one of them could work at a time", decimal(cpu, 2), figure(cores))
        }
        (false, true) => format!(
            "one request at a time gets through, at {} a second, though it has {} threads: one holds it while it waits for something, or there is a pool of one",
            figure(flat.capacity),
            figure(threads)
        ),
        (false, false) => {
            let (waited, place) = shown?;
            format!("requests wait for a lock: {} of them at any time{}", decimal(*waited, 1), most_in(place))
        }
    };
    let mut evidence = vec![stops(&flat)];
    if let Some((waited, place)) = shown {
        evidence.push(format!("a profile of its locks shows {} s of waiting each second{}", decimal(*waited, 1), most_in(place)));
    }
    evidence.push(format!("its busiest thread used {:.0} % of a core at {} requests a second", first * 100.0, figure(point.answered)));
    evidence.extend(serial_share(scene));
    let each = seen.switches_voluntary.map(|switches| switches / point.answered.max(1.0));
    evidence.extend(each.filter(|each| *each >= 1.0).map(|each| format!("a thread stopped to wait {} times a request", figure(each))));
    // Where loadline had much of a full machine, the threads may as well have waited for what it asks.
    let asked = seen.machine_share().is_none_or(|share| share < MACHINE_FULL_MIN) || point.generator_cores < ASKING_MAX * cores;
    let strength = match (serial, asked) {
        _ if shown.is_some() => 0.95,
        _ if scene.is_disturbed() => DISTURBED,
        (_, false) => 0.6,
        (true, true) => 0.88,
        (false, true) => 0.84,
    };
    let finding = Finding::new(Kind::Lock, strength, sentence)
        .evidence(evidence)
        .refuted_by("take a profile of blocking (mutex or off-CPU): if it shows no place where threads wait for each other, this is wrong")
        .remedy("find the lock with such a profile, hold it for less, or split it; an interpreter's own lock takes processes instead of threads");
    Some(finding)
}

/// The share of the work that is serial: σ of the law that the levels follow, or of the Universal Scalability Law without its second
/// term, N/X = (1 + σ(N−1))/λ.
fn serial_share(scene: &Scene<'_>) -> Option<String> {
    let said = |share: f64, loads: usize| {
        format!("{:.0} % of the work is serial (contention of the scalability law, over {loads} loads)", share.min(1.0) * 100.0)
    };
    if let Some(Model::Universal { sigma, .. } | Model::Amdahl { sigma, .. }) = scene.model {
        return (sigma.low > 0.0).then(|| said(sigma.value, scene.points.len()));
    }
    let pairs: Vec<(f64, f64)> = scene
        .points
        .iter()
        .filter(|point| !point.open && point.good > 0.0)
        .map(|point| (point.level - 1.0, point.level / point.good))
        .collect();
    let line = line(&pairs).filter(|line| pairs.len() >= 3 && line.start > 0.0 && line.slope > 0.0 && line.r2 >= 0.9)?;
    Some(said(line.slope / line.start, pairs.len()))
}

/// Where a profile saw most of something, where it could tell.
fn most_in(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(", most in {place}") }
}

/// How throughput stopped growing, in words.
fn stops(flat: &Flat) -> String {
    format!(
        "from a load of {} to one of {} throughput did not grow beyond {} requests a second, and answers took {} instead of {}",
        figure(flat.from),
        figure(flat.to),
        figure(flat.capacity),
        time(flat.response_s * 1e9),
        time(flat.idle_s * 1e9)
    )
}

/// How many threads and processes a server has beside how many requests it works on at once.
enum Crew {
    /// About as many.
    Fits,
    /// Fewer: it does not have a thread for each request.
    Few,
    /// Many more, and each may have a request.
    Many,
    /// They come and go: nothing tells how many may work at a time.
    Passing,
    /// It was not seen.
    Unknown,
}

fn crew(seen: Option<&ServerFigures>, at_once: f64) -> Crew {
    let Some((seen, threads)) = seen.and_then(|seen| Some((seen, seen.threads?))) else { return Crew::Unknown };
    let processes = seen.processes.unwrap_or(1.0);
    let threads = threads.max(processes);
    // Masters, acceptors and timers work on no request; none of them is in a group of one name, which is as many as work, but for the
    // error of Little's law.
    let fits = |number: f64| number >= 0.7 * at_once && number <= 1.5 * at_once + 3.0;
    let is_group = |number: usize| (number as f64 - at_once).abs() <= 0.15 * at_once + 0.5;
    if seen.has_passing_threads() {
        Crew::Passing
    } else if seen.group_of_threads().is_some_and(is_group) || fits(threads) || (processes > 1.0 && fits(processes)) {
        Crew::Fits
    } else if threads < at_once {
        Crew::Few
    } else {
        Crew::Many
    }
}

/// Flat throughput, idle cores, rising times: all workers of a pool wait.
pub(super) fn worker_pool(scene: &Scene<'_>) -> Option<Finding> {
    let flat = scene.flat?;
    if scene.is_idle() == Some(false) || flat.at_once() < 0.7 || !scene.has_grown() || scene.shape() == Shape::Bent {
        return None;
    }
    let seen = scene.answering();
    let at_once = flat.at_once();
    let strength: f64 = match crew(seen, at_once) {
        Crew::Fits => 0.85,
        Crew::Few => 0.75,
        Crew::Many => 0.55,
        Crew::Passing | Crew::Unknown => 0.45,
    };
    let size = match at_once.round().max(1.0) as u64 {
        1 => "one worker, always taken, lets".to_owned(),
        several => format!("about {}, all taken, let", counted(several, "worker")),
    };
    let sentence = format!("{size} {} requests a second through, and the rest waits in line", figure(flat.capacity));
    let mut evidence = vec![
        stops(&flat),
        format!(
            "by Little's law {} requests are worked on at once ({} a second for {} each)",
            figure(at_once),
            figure(flat.capacity),
            time(flat.idle_s * 1e9)
        ),
    ];
    evidence.extend(seen.and_then(not_full));
    evidence.extend(seen.and_then(|seen| Some(format!("it has {} threads in {}", figure(seen.threads?), processes(seen.processes?)))));
    let queued = seen.and_then(|seen| seen.accept_queue).filter(|queued| *queued >= 1.0);
    evidence.extend(queued.map(|queued| format!("{} connections waited to be accepted, on average", figure(queued))));
    let finding = Finding::new(Kind::WorkerPool, strength, sentence)
        .evidence(evidence)
        .refuted_by("double the pool (workers, threads, connections to the database): if it carries no more, this is wrong")
        .remedy("make it larger while its processors are idle, or shorten what a worker waits for; then measure again, since the next limit may be close");
    Some(finding)
}

fn processes(number: f64) -> String {
    if number <= 1.0 { "1 process".to_owned() } else { format!("{} processes", figure(number)) }
}

fn not_full(seen: &ServerFigures) -> Option<String> {
    let (cpu, cores) = (seen.cpu?, seen.cores?);
    let much = if cpu <= 0.5 * cores { "had little to do" } else { "were not full" };
    Some(format!("its processors {much}: {} of {} cores", decimal(cpu, 2), figure(cores)))
}

/// Each user more brings less than the one before, or takes something away, while processors are idle: requests wait for something that
/// they share. Said only by a law that the levels follow, or by throughput that falls.
pub(super) fn contention(scene: &Scene<'_>) -> Option<Finding> {
    /// Less of the work that is serial is no limit within reach.
    const SIGMA_MIN: f64 = 0.02;
    /// Throughput that has fallen by so much has fallen.
    const FALLEN: f64 = 0.8;
    /// … and on its way there.
    const FALLING: f64 = 0.9;
    if scene.is_idle() == Some(false) {
        return None;
    }
    let (top, last) = (scene.top, *scene.points.last()?);
    // What the host took away meanwhile is not what users wait for.
    let kept = |point: &Point| 1.0 - point.server.as_ref().and_then(|seen| seen.steal).unwrap_or(0.0);
    let fallen = !top.open
        && last.level >= 1.8 * top.level
        && last.good <= FALLEN * top.good * (kept(last) / kept(top)).min(1.0)
        && !last.is_failing();
    // Of one load alone that carried less it is not known whether it would again.
    let is_seen_twice = scene.points.iter().filter(|point| point.level > top.level && point.good <= FALLING * top.good).count() >= 2;
    // One that may as well be none is not named.
    let is_serial = |sigma: &Estimate| sigma.value >= SIGMA_MIN && sigma.low > 0.0;
    let (sigma, strength) = match scene.model {
        Some(Model::Universal { sigma, .. } | Model::Amdahl { sigma, .. }) if is_serial(&sigma) => (Some(sigma.value), 0.82),
        Some(Model::Universal { .. }) if fallen => (None, 0.82),
        None if fallen => (None, if is_seen_twice { 0.6 } else { DISTURBED }),
        _ => return None,
    };
    let strength = if scene.is_disturbed() { DISTURBED } else { strength };
    let falls = || {
        format!(
            "throughput falls from {} requests a second at {} users to {} at {}",
            figure(top.good),
            figure(top.level),
            figure(last.good),
            figure(last.level)
        )
    };
    let serial = sigma.map(|sigma| format!("{:.1} % of the work is done for one request at a time", (sigma * 100.0).min(100.0)));
    let sentence = match (fallen, &serial) {
        (true, _) => falls(),
        (false, Some(serial)) => format!("requests wait for something that they share: {serial}"),
        (false, None) => return None,
    };
    let mut evidence: Vec<String> = serial.filter(|_| fallen).into_iter().collect();
    evidence.push("a pool of workers would grow in proportion and then stay level".to_owned());
    let seen = scene.answering();
    evidence.extend(seen.and_then(not_full));
    let finding = Finding::new(Kind::Contention, strength, sentence)
        .brief(match (fallen, sigma) {
            (true, Some(_)) => "More users make it slower: they wait for something shared",
            (true, None) => "More users make it slower",
            (false, _) => "Requests wait for something that they share",
        })
        .evidence(evidence)
        .refuted_by("measure the levels again, each several times (--repeat 3): if throughput then grows in proportion, this is wrong")
        .remedy("take a profile of blocking under this load (locks, a shared cache or connection, rows of a table that all write), and split what is shared; until then keep to the level with the most throughput");
    Some(finding)
}

/// Nothing here is busy, and the server is slow all the same.
pub(super) fn not_visible(scene: &Scene<'_>) -> Option<Finding> {
    /// Times that have grown by less may be anything.
    const SLOWER_MIN: f64 = 2.5;
    /// Of a machine that does so much, with other programs, it is not said that nothing on it is busy.
    const BUSY_MIN: f64 = 0.8;
    /// A server whose processors work for so much of what an answer takes waits for nothing behind it.
    const WORKING_MIN: f64 = 0.8;
    let idle = scene.is_idle();
    let is_busy = scene.most(ServerFigures::machine_share).is_some_and(|(_, _, share)| share >= BUSY_MIN);
    let works = |point: &Point| Some(point.server.as_ref()?.cpu? / point.answered / point.service_s?);
    if idle == Some(false) || is_busy || scene.points.first().and_then(|first| works(first)).is_some_and(|share| share >= WORKING_MIN) {
        return None;
    }
    let seen = scene.answering();
    let slower = scene.points.first().zip(scene.points.last()).filter(|(first, last)| last.level > first.level);
    let slower = slower.and_then(|(first, last)| Some((first, last, last.service_s? / first.service_s?)));
    let waiting = match (scene.flat, slower) {
        (Some(flat), _) => stops(&flat),
        (None, Some((first, last, ratio))) if ratio >= SLOWER_MIN && idle == Some(true) => {
            format!("answers took {} times as long at a load of {} as at one of {}", figure(ratio), figure(last.level), figure(first.level))
        }
        _ => return None,
    };
    if idle.is_none() {
        let flat = scene.flat?;
        let sentence = format!("throughput ends at {} requests a second, and the server was not watched", figure(flat.capacity));
        let finding = Finding::new(Kind::NotVisible, 0.6, sentence)
            .evidence([waiting])
            .refuted_by("look at the server's own figures for something that is full")
            .remedy(
                "let loadline watch it: --observe ssh:HOST, pid:N or container:ID where it runs, or prometheus:URL for its own metrics",
            );
        return Some(finding);
    }
    let grown = scene.flat.filter(|_| scene.has_grown());
    let strength = match grown.map(|flat| crew(seen, flat.at_once())) {
        Some(Crew::Many) => 0.8,
        Some(Crew::Few) => 0.6,
        Some(_) => 0.52,
        None => 0.6,
    };
    let strength = if scene.is_disturbed() { DISTURBED } else { strength };
    let sentence = "it waits while nothing on its machine is busy, likely for what is behind it (a database, another service)".to_owned();
    let mut evidence = vec![waiting];
    evidence.extend(seen.and_then(|seen| Some(format!("it used {} of {} cores", decimal(seen.cpu?, 2), figure(seen.cores?)))));
    if let (Some(flat), Some(threads)) = (grown, seen.and_then(|seen| seen.threads))
        && threads > flat.at_once()
    {
        evidence.push(format!("it has {} threads, and {} requests get on at a time", figure(threads), figure(flat.at_once())));
    }
    let finding = Finding::new(Kind::NotVisible, strength, sentence)
        .evidence(evidence)
        .refuted_by("load a route that needs nothing behind the server (a health check): if it ends at the same rate, this is wrong")
        .remedy("watch what is behind it in the same way (--observe port:5432, pid:N, prometheus:URL), and look how long the server waits for it");
    Some(finding)
}

/// Throughput has ended and no cause stands out: said rather than passed over.
pub(super) fn unexplained(scene: &Scene<'_>) -> Option<Finding> {
    let flat = scene.flat?;
    scene.is_idle()?;
    let sentence = format!("throughput ends at {} requests a second, and no figure of the server explains it alone", figure(flat.capacity));
    let finding = Finding::new(Kind::None, super::NAMED_MIN, sentence)
        .evidence([stops(&flat)])
        .refuted_by("look at the figures of the server's side for one that is at its limit after all")
        .remedy("take a profile under this load, and watch what is behind the server");
    Some(finding)
}
