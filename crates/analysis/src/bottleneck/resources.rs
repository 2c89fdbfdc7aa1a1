//! What can be used up: processors, a thread's core, a quota, memory, storage, the network, files.
//!
//! Each is full or it is not, and that its use grew with throughput on a straight line is what makes it the cause rather than a
//! bystander. One that is far from full is kept as a runner-up if that line tells where it would end.

use super::scene::{ALONE_MIN, MACHINE_FULL_MIN, Scene, THROTTLED_MIN};
use super::{Finding, Kind, ServerFigures};
use crate::quantity::{bytes, counted, decimal, figure, percent};

/// A server that uses this share of what it may is at its end: schedulers never give out all of it.
const USED_MIN: f64 = 0.85;
/// From here on the end is near.
const NEAR_MIN: f64 = 0.75;
/// A thread on a core for this share of the time has no time left.
const THREAD_FULL_MIN: f64 = 0.9;
/// What waits for a core may be the one thread's, up to this share.
const WAITED_MAX: f64 = 0.3;
/// A quota this used up is the limit.
const QUOTA_USED_MIN: f64 = 0.85;
const QUOTA_REMEDY: &str = "raise the quota (cpu.max, --cpus, limits.cpu), or give the runtime no more threads than the quota has cores";
/// What is less near its end than this is no runner-up.
const WORTH_SAYING: f64 = 0.05;

/// How strongly a share of use below the limit speaks: never enough to be named.
fn candidate(used: f64) -> f64 {
    used.min(1.0) * 0.45
}

/// Every core that the server may use is busy.
pub(super) fn processor(scene: &Scene<'_>) -> Option<Finding> {
    let (point, seen, used) = scene.most(|seen| Some(seen.cpu? / seen.allowed.or(seen.cores).filter(|cores| *cores > 0.0)?))?;
    let (cpu, of_machine) = (seen.cpu?, seen.cores?);
    let cores = seen.allowed.unwrap_or(of_machine);
    let machine = seen.machine_share().unwrap_or(used);
    let waiting = seen.waiting.unwrap_or(0.0);
    let law = scene.law(cores, |seen| seen.cpu);
    // Of a full machine the larger part, by threads that have nothing else to wait for.
    let most = machine >= MACHINE_FULL_MIN && cpu >= 0.5 * seen.machine_cpu.unwrap_or(cpu);
    let strength = if used >= USED_MIN && seen.allowed.is_some() {
        // One thread on the one core that it may use is no limit of the thread's.
        0.93
    } else if (most && scene.wants_cores()) || used >= USED_MIN {
        0.9
    } else if most || used >= NEAR_MIN {
        0.6
    } else if used >= WORTH_SAYING {
        candidate(used)
    } else {
        return None;
    };
    let had = format!("{} of {} at {} requests a second", decimal(cpu, 2), counted(cores as u64, "core"), figure(point.answered));
    let sentence = match seen.allowed {
        Some(_) => format!("the server used {had}, and it may use no more of its machine's {}", figure(of_machine)),
        None => format!("the server used {had}"),
    };
    let mut evidence: Vec<String> = Vec::new();
    evidence.extend(seen.machine_cpu.map(|busy| format!("{} of its machine's {} cores were busy", decimal(busy, 2), figure(of_machine))));
    evidence.extend((waiting >= 0.1).then(|| format!("{} of its threads were ready and got no core, on average", decimal(waiting, 1))));
    let finding = Finding::new(Kind::Processor, strength, sentence)
        .evidence(evidence)
        .law(law)
        .refuted_by(match seen.allowed {
            Some(_) => "let it use more of the cores that there are (taskset, cpuset): if it carries no more, this is wrong",
            None => "give it half the cores (taskset): if it carries more than about half, this is wrong",
        })
        .remedy(match seen.allowed {
            Some(_) => "give it more cores, or make a request cheaper: take a profile under this load",
            None => {
                "make a request cheaper: take a profile under this load. Or add cores or machines; it scales with them while nothing else ends first"
            }
        });
    Some(finding)
}

/// One thread, or a few, at all a core can give, and other cores idle.
pub(super) fn thread(scene: &Scene<'_>) -> Option<Finding> {
    let (point, seen, first) = scene.hardest(|seen| Some(seen.busiest.first()?.1))?;
    let (name, cpu, cores) = (&seen.busiest.first()?.0, seen.cpu?, seen.cores?);
    if seen.allowed.unwrap_or(cores) < 2.0 || first < WORTH_SAYING {
        return None;
    }
    let alone = first >= ALONE_MIN * cpu;
    let waited = if alone { seen.waiting.unwrap_or(0.0).min(WAITED_MAX) } else { 0.0 };
    let wanted = (first + waited).min(1.0);
    let full = seen.busiest.iter().filter(|(_, used)| *used >= THREAD_FULL_MIN).count();
    let idle = cores - seen.machine_cpu.unwrap_or(cpu);
    let few = full > 0 && full as f64 >= ALONE_MIN * cpu && idle >= 0.3 * cores;
    let law = scene.law(1.0, |seen| seen.busiest.first().map(|(_, used)| *used));
    let strength = match (wanted >= THREAD_FULL_MIN && (alone || few), alone) {
        (true, _) if first >= USED_MIN => 0.92,
        (true, _) => 0.8,
        (false, true) if first >= NEAR_MIN => 0.55,
        (false, true) => candidate(first),
        (false, false) => return None,
    };
    let share = format!("{:.0} %", first * 100.0);
    let sentence = if full > 1 && few && !alone {
        format!(
            "each of its {full} busy threads does all that one core can, while {} of {} cores are idle",
            decimal(idle, 1),
            figure(cores)
        )
    } else {
        format!("{name} used {share} of a core at {} requests a second, and no other thread did much", figure(point.answered))
    };
    let mut evidence = vec![format!("the whole server used {} of {} cores", decimal(cpu, 2), figure(cores))];
    evidence.extend((idle >= 0.1).then(|| format!("{} cores of its machine were idle", decimal(idle, 1))));
    evidence.extend((waited >= 0.05).then(|| format!("for {:.0} % of the time its threads waited for a core", waited * 100.0)));
    let finding = Finding::new(Kind::Thread, strength, sentence)
        .evidence(evidence)
        .law(law)
        .refuted_by("start two processes of this server behind one port: if they carry no more than one, this is wrong")
        .remedy("start a process for each core (cluster mode, workers), or move the work off this thread; more cores alone change nothing");
    Some(finding)
}

/// The cgroup's quota, however idle the machine is.
pub(super) fn quota(scene: &Scene<'_>) -> Option<Finding> {
    let quota_used = |seen: &ServerFigures| Some(seen.cgroup_cpu.or(seen.cpu)? / seen.quota.filter(|quota| *quota > 0.0)?);
    let Some((point, seen, used)) = scene.most(quota_used) else { return stopped(scene) };
    let (quota, throttled) = (seen.quota?, seen.throttled.unwrap_or(0.0));
    let cpu = used * quota;
    let strength = match (used >= QUOTA_USED_MIN, throttled >= THROTTLED_MIN) {
        (true, true) => 0.95,
        // Bursts that a quota stops make times longer long before the quota is used up.
        (false, true) if throttled >= 0.5 => 0.75,
        (false, true) => 0.5,
        (true, false) => 0.7,
        (false, false) if used >= WORTH_SAYING => candidate(used),
        (false, false) => return None,
    };
    let sentence = format!(
        "its cgroup may use {} cores, and it used {} of them at {} requests a second",
        figure(quota),
        decimal(cpu, 2),
        figure(point.answered)
    );
    let mut evidence = vec![format!("it had to stop in {:.0} % of the quota's periods", throttled * 100.0)];
    let idle = seen.cores.zip(seen.machine_cpu).map(|(cores, busy)| cores - busy);
    evidence.extend(idle.filter(|idle| *idle >= 0.1).map(|idle| format!("{} cores of its machine were idle", decimal(idle, 1))));
    let finding = Finding::new(Kind::Quota, strength, sentence)
        .evidence(evidence)
        .law(scene.law(quota, |seen| seen.cgroup_cpu.or(seen.cpu)))
        .refuted_by("double the quota: if it carries no more, this is wrong")
        .remedy(QUOTA_REMEDY);
    Some(finding)
}

/// A quota whose size is not known, by the periods in which it stopped the server.
fn stopped(scene: &Scene<'_>) -> Option<Finding> {
    let (point, seen, throttled) = scene.most(|seen| seen.throttled)?;
    let strength = match throttled {
        throttled if throttled >= 0.5 => 0.94,
        throttled if throttled >= THROTTLED_MIN => 0.5,
        throttled if throttled >= WORTH_SAYING => candidate(throttled),
        _ => return None,
    };
    let sentence = format!(
        "its cgroup's quota stopped it in {:.0} % of the quota's periods, at {} requests a second",
        throttled * 100.0,
        figure(point.answered)
    );
    let finding = Finding::new(Kind::Quota, strength, sentence)
        .evidence(seen.cpu.map(|cpu| format!("the server used {} cores", decimal(cpu, 2))))
        .refuted_by("double the quota: if it carries no more, this is wrong")
        .remedy(QUOTA_REMEDY);
    Some(finding)
}

/// Memory that grows with each request, or is used up.
pub(super) fn memory(scene: &Scene<'_>) -> Option<Finding> {
    /// Less is what allocators and caches do.
    const GROWTH_MIN_BYTES: f64 = 8e6;
    /// Less than this share of what there was is no leak worth the name.
    const GROWTH_MIN: f64 = 0.1;
    /// As straight as a queue or a leak grows.
    const R2_MIN: f64 = 0.8;
    /// What flattens in the second half was warming up.
    const LATER_MIN: f64 = 0.5;
    let share = scene.points.iter().filter_map(|point| point.server.as_ref()?.memory_share).reduce(f64::max);
    let grows = |seen: &ServerFigures| {
        seen.memory.filter(|it| {
            let grown = it.last - it.first;
            grown >= GROWTH_MIN_BYTES
                && grown >= GROWTH_MIN * it.first
                && it.r2 >= R2_MIN
                && it.later_per_request >= LATER_MIN * it.per_request
        })
    };
    // A ladder that grows at one load and not at the others was given more connections there.
    let judged: Vec<_> = scene.points.iter().filter_map(|point| Some((point.server.as_ref()?, point.server.as_ref()?.memory?))).collect();
    let growing: Vec<_> = judged.iter().filter_map(|(seen, _)| grows(seen)).collect();
    let most = growing.iter().copied().max_by(|a, b| (a.last - a.first).total_cmp(&(b.last - b.first)));
    let full = share.is_some_and(|share| share >= 0.95);
    let grown = most.filter(|_| growing.len() * 2 > judged.len());
    let Some(growth) = grown else {
        let share = share.filter(|_| full)?;
        let finding = Finding::new(Kind::Memory, 0.6, format!("its cgroup's memory is {:.0} % used", share * 100.0))
            .refuted_by(
                "give it more memory: if nothing changes, this is wrong (the kernel also counts pages of files there, which it takes back)",
            )
            .remedy("give it more memory, or find out what holds it");
        return Some(finding);
    };
    let sentence = format!("it grows by about {} with each request, as with a leak, or a queue without a limit", bytes(growth.per_request));
    let mut evidence = vec![format!(
        "from {} to {} in one run, on a straight line (r² {}), as fast in its second half",
        bytes(growth.first),
        bytes(growth.last),
        decimal(growth.r2, 2)
    )];
    evidence.extend(share.map(|share| format!("{:.0} % of what its cgroup may have", share * 100.0)));
    let finding = Finding::new(Kind::Memory, if full { 0.89 } else { 0.6 }, sentence)
        .evidence(evidence)
        .refuted_by("run it for ten minutes: if memory levels off, this is wrong")
        .remedy(
            "run it longer with the same load; if it does not level off, compare two heap profiles, and look for queues without a limit",
        );
    Some(finding)
}

/// Storage, where the server itself uses it.
pub(super) fn disk(scene: &Scene<'_>) -> Option<Finding> {
    /// Of a request, less than this is a line in a log.
    const BYTES_MIN: f64 = 1024.0;
    /// A disk this busy has no time left, unless it works on many things at once.
    const BUSY_MIN: f64 = 0.85;
    /// Something waited for storage for this share of the time.
    const WAITED_MIN: f64 = 0.3;
    let (point, seen, storage) = scene.most(|seen| seen.storage)?;
    let each = storage / point.answered.max(1.0);
    if each < BYTES_MIN {
        return None;
    }
    let busy = seen.disk_busy.unwrap_or(0.0);
    let waited = seen.storage_wait.unwrap_or(0.0);
    let idle = scene.is_idle().unwrap_or(false);
    let flat = scene.flat.is_some();
    let strength = match (busy >= BUSY_MIN || waited >= 2.0 * WAITED_MIN, busy >= WAITED_MIN || waited >= WAITED_MIN) {
        (true, _) if idle && flat => 0.88,
        (true, _) if idle => 0.6,
        (_, true) if idle && flat => 0.86,
        _ => candidate(busy.max(waited)),
    };
    if strength < WORTH_SAYING {
        return None;
    }
    let sentence = format!(
        "each request waits for {} that are read or written, {}/s at {} requests a second",
        bytes(each),
        bytes(storage),
        figure(point.answered)
    );
    let finding = Finding::new(Kind::Disk, strength, sentence)
        .evidence([
            format!(
                "something waited for storage in {:.0} % of the time, and the busiest disk was at work in {:.0} %",
                waited * 100.0,
                busy * 100.0
            ),
            format!("its processors had little to do: {} cores", seen.cpu.map_or_else(|| "some".to_owned(), |cpu| decimal(cpu, 2))),
        ])
        .law(scene.law(1.0, |seen| Some(seen.disk_busy.unwrap_or(0.0).max(seen.storage_wait.unwrap_or(0.0)))))
        .refuted_by("put its files on a memory disk (tmpfs): if it is no faster, this is wrong")
        .remedy("write less or together (batches, group commit), keep what is read in memory, or take faster storage");
    Some(finding)
}

/// A link that carries as much as links of its kind do.
pub(super) fn network(scene: &Scene<'_>) -> Option<Finding> {
    /// Bits a second that links are built for, and how they are called.
    const LINKS: [(f64, &str); 7] = [
        (1e8, "100 Mbit/s"),
        (1e9, "1 Gbit/s"),
        (2.5e9, "2.5 Gbit/s"),
        (5e9, "5 Gbit/s"),
        (1e10, "10 Gbit/s"),
        (2.5e10, "25 Gbit/s"),
        (1e11, "100 Gbit/s"),
    ];
    /// Of that, frames of 1,500 bytes leave 94.9 % to what TCP carries; heads of requests and answers are counted here.
    const FULL: std::ops::RangeInclusive<f64> = 0.88..=0.97;
    let point = scene.loaded().filter(|point| point.over_network).max_by(|a, b| (a.received + a.sent).total_cmp(&(b.received + b.sent)))?;
    let (way, bytes_s) = if point.received >= point.sent { ("from", point.received) } else { ("to", point.sent) };
    let (speed, name) = LINKS.into_iter().find(|(speed, _)| FULL.contains(&(bytes_s * 8.0 / speed)))?;
    let again = point.server.as_ref().and_then(|seen| seen.retransmits).unwrap_or(0.0);
    // By chance any rate may lie there: that it stays there under more load is what tells.
    let strength = match (scene.flat, scene.is_idle()) {
        (Some(_), Some(true) | None) => 0.87,
        _ => 0.45,
    };
    let sentence = format!("{}/s {way} the server are what a link of {name} carries", bytes(bytes_s));
    let mut evidence = vec![format!(
        "{} % of the link's rate at {} requests a second",
        percent((bytes_s * 8e3 / speed).round() / 10.0),
        figure(point.answered)
    )];
    evidence.extend((again >= 1.0).then(|| format!("TCP sent {} segments a second again", figure(again))));
    let finding = Finding::new(Kind::Network, strength, sentence)
        .evidence(evidence)
        .refuted_by("ask for a smaller answer (compressed, or another route): if there are no more requests a second, this is wrong")
        .remedy("send less: compress, shorten, cache at the client; or take a faster link, and look what lies between");
    Some(finding)
}

/// Files: each connection is one.
pub(super) fn open_files(scene: &Scene<'_>) -> Option<Finding> {
    /// A server keeps some for itself.
    const FULL_MIN: f64 = 0.95;
    // One that is being opened counts before it is refused.
    let (point, _, share) = scene.most(|seen| seen.files_share.map(|share| share.min(1.0)))?;
    if share < FULL_MIN {
        return (share >= 0.3).then(|| {
            Finding::new(Kind::OpenFiles, candidate(share), format!("{:.0} % of the files that it may open are open", share * 100.0))
                .refuted_by("raise the limit: if nothing changes, this is wrong")
                .remedy("raise its limit on open files (ulimit -n, LimitNOFILE) before there are more connections")
        });
    }
    let sentence = format!("it has {:.0} % of the files open that it may open, and each connection is one", share * 100.0);
    let finding = Finding::new(Kind::OpenFiles, 0.9, sentence)
        .evidence([format!("at {} requests a second, from {} users or connections", figure(point.answered), figure(point.level))])
        .refuted_by("raise the limit (ulimit -n): if it carries no more connections, this is wrong")
        .remedy("raise its limit on open files (ulimit -n, LimitNOFILE), or let connections be kept and shared");
    Some(finding)
}
