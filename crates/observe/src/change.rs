//! What happened between two looks: counts become rates, and a tree of processes becomes one figure.
//!
//! Processes come and go between looks. Processor time of one that has ended moves to its parent when that asks how it ended; so
//! time of the whole tree is what its members used themselves, and what their ended children brought in beyond what had been seen
//! of these already. A server that starts a process for every request is measured by nothing else.
//!
//! Pure: two samples in, values out.

use std::collections::{BTreeMap, BTreeSet};

use measure::observed::{SERIES, Unit, Value};
use plan::Nanos;

use crate::cgroup::CgroupSample;
use crate::family::Identity;
use crate::machine::{CoreSample, MachineSample, Pressure};
use crate::process::{Pid, ProcessSample, TICKS_PER_SECOND};

/// Everything that was looked at, at one moment.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// When, on the clock of the watcher.
    pub at: Nanos,
    /// The processes that are watched.
    pub processes: BTreeMap<Identity, ProcessSample>,
    /// How many files each may have open.
    pub files_max: BTreeMap<Identity, u64>,
    /// Their cgroup.
    pub cgroup: Option<CgroupSample>,
    /// Connections that wait to be accepted, on all sockets that were found.
    pub accept_queue: Option<u64>,
    /// The most there may be: what the server asked for, or where that is not known the most that it may (`net.core.somaxconn`).
    pub accept_queue_max: Option<u64>,
    /// Their machine.
    pub machine: MachineSample,
    /// The machine's clock in ticks when this was the first look; processes that began later used all their time since.
    pub newest_ticks: u64,
}

/// Up to so many threads, each has a series; of more, those that did something.
const THREADS_EACH: usize = 64;
/// A thread that used less of a core than this did nothing worth a series of its own.
const THREAD_WORTH_A_SERIES: f64 = 0.01;

/// What happened between the two.
#[must_use]
pub fn values(before: &Sample, after: &Sample) -> Vec<Value> {
    let span = after.at.since(before.at).as_secs_f64();
    if span <= 0.0 {
        return Vec::new();
    }
    let mut found = Found { values: Vec::new(), span };
    if !(before.processes.is_empty() && after.processes.is_empty()) {
        processes(before, after, &mut found);
    }
    if let Some(queued) = after.accept_queue {
        found.put("accept_queue", None, queued as f64, after.accept_queue_max.map(|most| most as f64));
    }
    if let (Some(before), Some(after)) = (&before.cgroup, &after.cgroup) {
        cgroup(before, after, &mut found);
    }
    machine(&before.machine, &after.machine, &mut found);
    found.values
}

struct Found {
    values: Vec<Value>,
    span: f64,
}

impl Found {
    fn put(&mut self, name: &'static str, of: Option<String>, value: f64, limit: Option<f64>) {
        let unit = SERIES.iter().find(|known| known.name == name).map_or(Unit::Number, |known| known.unit);
        self.values.push(Value { name: name.into(), of, unit, limit, value });
    }

    /// A count that only grows, as a rate; nothing where it is not known or began anew.
    fn rate(&mut self, name: &'static str, before: Option<u64>, after: Option<u64>) {
        if let (Some(before), Some(after)) = (before, after)
            && after >= before
        {
            self.put(name, None, (after - before) as f64 / self.span, None);
        }
    }

    fn now(&mut self, name: &'static str, value: Option<f64>, limit: Option<f64>) {
        if let Some(value) = value {
            self.put(name, None, value, limit);
        }
    }

    fn pressure(&mut self, names: [&'static str; 3], before: &Pressure, after: &Pressure) {
        let pairs = [(before.cpu_us, after.cpu_us), (before.memory_us, after.memory_us), (before.io_us, after.io_us)];
        for (name, (before, after)) in names.into_iter().zip(pairs) {
            if let (Some(before), Some(after)) = (before, after) {
                self.put(name, None, (after.saturating_sub(before) as f64 / 1e6 / self.span).min(1.0), None);
            }
        }
    }
}

fn processes(before: &Sample, after: &Sample, found: &mut Found) {
    let nothing = ProcessSample::default();
    // One that was already there and is seen for the first time used its time before; one that began since, within.
    let earlier = |identity: &Identity, now: &ProcessSample| match before.processes.get(identity) {
        Some(earlier) => earlier.clone(),
        None if identity.began_ticks > before.newest_ticks => nothing.clone(),
        None => now.clone(),
    };
    let (mut user, mut system, mut from_children) = (0, 0, 0u64);
    let (mut waited, mut voluntary, mut involuntary) = (0u64, 0u64, 0u64);
    let mut by_thread: Vec<(f64, Pid, &str, Option<f64>)> = Vec::new();
    let mut storage: [Option<u64>; 2] = [None, None];
    for (identity, now) in &after.processes {
        let then = earlier(identity, now);
        let used = [now.stat.user_ticks.saturating_sub(then.stat.user_ticks), now.stat.system_ticks.saturating_sub(then.stat.system_ticks)];
        user += used[0];
        system += used[1];
        from_children += now.stat.children_ticks.saturating_sub(then.stat.children_ticks);
        let of = Some(format!("{} {}", now.stat.name, identity.pid));
        found.put("process_cpu", of.clone(), (used[0] + used[1]) as f64 / TICKS_PER_SECOND / found.span, None);
        found.put("process_cpu_system", of, used[1] as f64 / TICKS_PER_SECOND / found.span, None);
        for (thread, now) in &now.by_thread {
            let then = then.by_thread.get(thread).cloned().unwrap_or_default();
            let ran = now.ran_ns.saturating_sub(then.ran_ns) as f64 / 1e9 / found.span;
            // Of a first look nothing is known of how it divided its time.
            let system =
                now.system_ticks.zip(then.system_ticks).map(|(now, then)| now.saturating_sub(then) as f64 / TICKS_PER_SECOND / found.span);
            by_thread.push((ran.min(1.0), *thread, &now.name, system));
            waited += now.waited_ns.saturating_sub(then.waited_ns);
            voluntary += now.switches_voluntary.saturating_sub(then.switches_voluntary);
            involuntary += now.switches_involuntary.saturating_sub(then.switches_involuntary);
        }
        for (sum, counts) in storage.iter_mut().zip([(then.read_bytes, now.read_bytes), (then.written_bytes, now.written_bytes)]) {
            if let (then, Some(now)) = counts {
                *sum = Some(sum.unwrap_or(0) + now.saturating_sub(then.unwrap_or(now)));
            }
        }
    }
    let gone = before.processes.iter().filter(|(identity, _)| !after.processes.contains_key(identity));
    let seen_of_gone: u64 = gone.map(|(_, then)| then.stat.user_ticks + then.stat.system_ticks + then.stat.children_ticks).sum();
    let of_ended = from_children.saturating_sub(seen_of_gone);
    // What ended children used is not told apart any more; it is shared out as the living used theirs.
    let living = (user + system).max(1) as f64;
    let cores = |ticks: u64| {
        (ticks as f64 + of_ended as f64 * if user + system == 0 { 0.5 } else { ticks as f64 / living }) / TICKS_PER_SECOND / found.span
    };
    let (user, system) = (cores(user), cores(system));
    let limit = Some(cores_allowed(after) as f64).filter(|cores| *cores > 0.0);
    found.put("cpu_user", None, user, limit);
    found.put("cpu_system", None, system, limit);
    if !by_thread.is_empty() {
        by_thread.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.put("thread_cpu_busiest", None, by_thread[0].0, Some(1.0));
        let worth = by_thread
            .iter()
            .enumerate()
            .take_while(|(at, it)| *at < THREADS_EACH && (by_thread.len() <= THREADS_EACH || it.0 >= THREAD_WORTH_A_SERIES));
        for (_, (ran, thread, name, system)) in worth {
            let of = format!("{name} {thread}");
            if let Some(system) = system {
                found.put("thread_cpu_system", Some(of.clone()), system.min(*ran), Some(1.0));
            }
            found.put("thread_cpu", Some(of), *ran, Some(1.0));
        }
        found.put("run_queue_wait", None, waited as f64 / 1e9 / found.span, None);
        found.put("switches_voluntary", None, voluntary as f64 / found.span, None);
        found.put("switches_involuntary", None, involuntary as f64 / found.span, None);
    }
    let resident: Vec<u64> = after.processes.values().filter_map(|process| process.resident_bytes).collect();
    if !resident.is_empty() {
        found.put("memory", None, resident.iter().sum::<u64>() as f64, None);
    }
    let nearest = after.processes.iter().filter_map(|(identity, process)| Some((process.files?, after.files_max.get(identity).copied())));
    let share = |(files, most): &(u64, Option<u64>)| *files as f64 / most.map_or(f64::INFINITY, |most| most as f64);
    if let Some((files, most)) = nearest.max_by(|a, b| share(a).total_cmp(&share(b)).then(a.0.cmp(&b.0))) {
        found.put("files", None, files as f64, most.map(|most| most as f64));
    }
    found.put("threads", None, after.processes.values().map(|process| process.stat.threads).sum::<u64>() as f64, None);
    found.put("processes", None, after.processes.len() as f64, None);
    for (name, sum) in ["io_read", "io_written"].into_iter().zip(storage) {
        found.now(name, sum.map(|sum| sum as f64 / found.span), None);
    }
}

/// How many of its machine's cores the processes may use together.
fn cores_allowed(now: &Sample) -> usize {
    let of_machine: BTreeSet<u32> = now.machine.cores.keys().copied().collect();
    if now.processes.is_empty() || now.processes.values().any(|process| process.cores.is_empty()) {
        return of_machine.len();
    }
    let allowed: BTreeSet<u32> = now.processes.values().flat_map(|process| &process.cores).copied().collect();
    // A machine of more cores than are switched on lists them as allowed, too.
    allowed.intersection(&of_machine).count()
}

fn cgroup(before: &CgroupSample, after: &CgroupSample, found: &mut Found) {
    if let (Some(then), Some(now)) = (before.cpu_ns, after.cpu_ns) {
        found.put("cgroup_cpu", None, now.saturating_sub(then) as f64 / 1e9 / found.span, after.quota_cores);
    }
    if let (Some((periods_then, stopped_then)), Some((periods, stopped))) = (before.periods, after.periods) {
        let periods = periods.saturating_sub(periods_then);
        let share = if periods == 0 { 0.0 } else { stopped.saturating_sub(stopped_then) as f64 / periods as f64 };
        found.put("cgroup_throttled", None, share.min(1.0), None);
    }
    found.now("cgroup_memory", after.memory_bytes.map(|bytes| bytes as f64), after.memory_max_bytes.map(|bytes| bytes as f64));
    found.pressure(["cgroup_pressure_cpu", "cgroup_pressure_memory", "cgroup_pressure_io"], &before.pressure, &after.pressure);
}

fn machine(before: &MachineSample, after: &MachineSample, found: &mut Found) {
    let cores = after.cores.len();
    if let Some(part) = Part::of(&before.all, &after.all)
        && cores > 0
    {
        found.put("machine_cpu", None, part.busy * cores as f64, Some(cores as f64));
        found.put("steal", None, part.steal, None);
        found.put("iowait", None, part.iowait, None);
    }
    for (number, now) in &after.cores {
        if let Some(part) = before.cores.get(number).and_then(|then| Part::of(then, now)) {
            found.put("core_cpu", Some(format!("core {number}")), part.busy, Some(1.0));
        }
    }
    found.now("load", after.load, None);
    found.now("runnable", after.runnable.map(|count| count as f64), None);
    if let Some(memory) = after.memory {
        found.put("machine_memory", None, memory.total.saturating_sub(memory.available) as f64, Some(memory.total as f64));
        found.put("swap", None, memory.swapped as f64, None);
    }
    let network = |sample: &MachineSample, way: usize| sample.network.map(|counts| counts[way]);
    found.rate("network_in", network(before, 0), network(after, 0));
    found.rate("network_out", network(before, 1), network(after, 1));
    found.rate("loopback", before.loopback, after.loopback);
    if !after.disks.is_empty() {
        let (mut read, mut written, mut busiest) = (0, 0, 0.0f64);
        for (name, now) in &after.disks {
            let Some(then) = before.disks.get(name) else { continue };
            read += now.read.saturating_sub(then.read);
            written += now.written.saturating_sub(then.written);
            busiest = busiest.max(now.busy_ms.saturating_sub(then.busy_ms) as f64 / 1e3 / found.span);
        }
        found.put("disk_read", None, read as f64 / found.span, None);
        found.put("disk_written", None, written as f64 / found.span, None);
        found.put("disk_busy", None, busiest.min(1.0), None);
    }
    found.now("tcp_established", after.tcp.established.map(|count| count as f64), None);
    found.now("tcp_time_wait", after.tcp.time_wait.map(|count| count as f64), None);
    found.rate("tcp_retransmits", before.tcp.retransmits, after.tcp.retransmits);
    found.rate("listen_overflows", before.tcp.listen_overflows, after.tcp.listen_overflows);
    found.rate("listen_drops", before.tcp.listen_drops, after.tcp.listen_drops);
    if let Some((count, most)) = after.conntrack {
        found.put("conntrack", None, count as f64, most.map(|most| most as f64));
    }
    found.pressure(["pressure_cpu", "pressure_memory", "pressure_io"], &before.pressure, &after.pressure);
}

/// Shares of a core's time, or of all cores'.
struct Part {
    busy: f64,
    iowait: f64,
    steal: f64,
}

impl Part {
    /// Between two moments; `None` if no time has passed.
    fn of(before: &CoreSample, after: &CoreSample) -> Option<Self> {
        let total = after.total.saturating_sub(before.total);
        let share = |then: u64, now: u64| now.saturating_sub(then) as f64 / total as f64;
        let (idle, iowait, steal) = (share(before.idle, after.idle), share(before.iowait, after.iowait), share(before.steal, after.steal));
        // Stolen time was nobody's here: neither idle nor busy.
        (total > 0).then(|| Self { busy: (1.0 - idle - iowait - steal).clamp(0.0, 1.0), iowait: iowait.min(1.0), steal: steal.min(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::RecordedFiles;
    use crate::process::{Stat, ThreadSample};
    use proptest::prelude::*;

    fn process(user: u64, system: u64, children: u64) -> ProcessSample {
        let stat = Stat {
            name: "app".to_owned(),
            user_ticks: user,
            system_ticks: system,
            children_ticks: children,
            threads: 1,
            ..Stat::default()
        };
        ProcessSample { stat, resident_bytes: Some(1_000), files: Some(5), ..ProcessSample::default() }
    }

    fn sample(second: u64, processes: &[(Pid, u64, ProcessSample)]) -> Sample {
        let processes = processes.iter().map(|(pid, began_ticks, it)| (Identity { pid: *pid, began_ticks: *began_ticks }, it.clone()));
        Sample { at: Nanos::from_secs(second), processes: processes.collect(), newest_ticks: second * 100, ..Sample::default() }
    }

    fn of(values: &[Value], name: &str) -> f64 {
        values.iter().find(|value| value.name == name && value.of.is_none()).unwrap_or_else(|| panic!("no {name}")).value
    }

    #[test]
    fn a_tree_uses_what_its_processes_use() {
        let before = sample(10, &[(1, 5, process(100, 10, 0)), (2, 6, process(50, 0, 0))]);
        let after = sample(12, &[(1, 5, process(200, 60, 0)), (2, 6, process(100, 0, 0))]);
        let values = values(&before, &after);
        assert_eq!((of(&values, "cpu_user"), of(&values, "cpu_system")), (0.75, 0.25));
        assert_eq!((of(&values, "memory"), of(&values, "processes")), (2_000.0, 2.0));
        let each: Vec<_> = values.iter().filter(|it| it.name == "process_cpu").map(|it| (it.of.clone().unwrap(), it.value)).collect();
        assert_eq!(each, [("app 1".to_owned(), 0.75), ("app 2".to_owned(), 0.25)]);
    }

    #[test]
    fn each_process_and_thread_tells_what_the_kernel_spent_for_it() {
        let threaded = |system: u64, threads: &[(Pid, u64, Option<u64>)]| {
            let of = |(thread, ran_ms, system_ticks): &(Pid, u64, Option<u64>)| {
                (
                    *thread,
                    ThreadSample {
                        name: "w".to_owned(),
                        ran_ns: ran_ms * 1_000_000,
                        system_ticks: *system_ticks,
                        ..ThreadSample::default()
                    },
                )
            };
            ProcessSample { by_thread: threads.iter().map(of).collect(), ..process(0, system, 0) }
        };
        let before = sample(10, &[(1, 5, threaded(0, &[(1, 0, Some(0)), (2, 0, None), (3, 0, Some(0))]))]);
        let after = sample(11, &[(1, 5, threaded(60, &[(1, 500, Some(40)), (2, 300, Some(20)), (3, 5, Some(1))]))]);
        let found = values(&before, &after);
        let each = |name: &str| found.iter().filter(|it| it.name == name).map(|it| (it.of.clone().unwrap(), it.value)).collect::<Vec<_>>();
        assert_eq!(each("process_cpu_system"), [("app 1".to_owned(), 0.6)]);
        // Of one it was not known before; and ticks are coarse, so that a part is never more than the whole.
        assert_eq!(each("thread_cpu_system"), [("w 1".to_owned(), 0.4), ("w 3".to_owned(), 0.005)]);
    }

    #[test]
    fn a_process_for_every_request_counts_though_none_is_ever_seen() {
        let before = sample(10, &[(1, 5, process(0, 0, 0))]);
        let after = sample(11, &[(1, 5, process(0, 0, 80))]);
        let values = values(&before, &after);
        assert!((of(&values, "cpu_user") + of(&values, "cpu_system") - 0.8).abs() < 1e-9);
    }

    #[test]
    fn what_was_seen_of_an_ended_worker_is_not_counted_twice() {
        // It had used 300 ticks when last seen, and 30 more until it ended; its parent now has all 330.
        let before = sample(10, &[(1, 5, process(10, 0, 0)), (2, 6, process(300, 0, 0))]);
        let after = sample(11, &[(1, 5, process(20, 0, 330))]);
        let values = values(&before, &after);
        assert!((of(&values, "cpu_user") - 0.4).abs() < 1e-9, "{}", of(&values, "cpu_user"));
    }

    #[test]
    fn a_new_worker_counts_from_its_beginning_and_one_found_late_from_then() {
        let before = sample(10, &[(1, 5, process(10, 0, 0))]);
        let after = sample(11, &[(1, 5, process(10, 0, 0)), (7, 1_050, process(20, 0, 0)), (8, 900, process(5_000, 0, 0))]);
        assert!((of(&values(&before, &after), "cpu_user") - 0.2).abs() < 1e-9);
    }

    #[test]
    fn threads_wait_for_cores_and_the_busiest_is_named() {
        let thread = |ran: u64, waited: u64| ThreadSample {
            name: "io".to_owned(),
            ran_ns: ran,
            waited_ns: waited,
            switches_voluntary: ran / 1_000_000,
            ..ThreadSample::default()
        };
        let with = |threads: &[(Pid, ThreadSample)]| ProcessSample { by_thread: threads.iter().cloned().collect(), ..process(0, 0, 0) };
        let before = sample(1, &[(1, 5, with(&[(1, thread(0, 0)), (2, thread(0, 0))]))]);
        let after = sample(2, &[(1, 5, with(&[(1, thread(250_000_000, 0)), (2, thread(990_000_000, 500_000_000))]))]);
        let values = values(&before, &after);
        assert_eq!((of(&values, "thread_cpu_busiest"), of(&values, "run_queue_wait")), (0.99, 0.5));
        let first = values.iter().find(|it| it.name == "thread_cpu").unwrap();
        assert_eq!((first.of.as_deref(), first.value), (Some("io 2"), 0.99));
    }

    #[test]
    fn processors_are_limited_to_what_all_processes_together_may_use() {
        let may = |cores: &[u32]| ProcessSample { cores: cores.iter().copied().collect(), ..process(0, 0, 0) };
        let limit = |processes: &[&[u32]]| {
            let processes: Vec<_> = processes.iter().zip(1..).map(|(cores, pid)| (pid, 5, may(cores))).collect();
            let (mut before, mut after) = (sample(1, &processes), sample(2, &processes));
            for sample in [&mut before, &mut after] {
                sample.machine.cores = (0..4).map(|core| (core, CoreSample::default())).collect();
            }
            values(&before, &after).iter().find(|it| it.name == "cpu_user").unwrap().limit
        };
        assert_eq!([limit(&[&[1, 2]]), limit(&[&[0], &[3]]), limit(&[&[0, 1, 2, 3, 4, 5]])], [Some(2.0), Some(2.0), Some(4.0)]);
        assert_eq!(limit(&[&[1], &[]]), Some(4.0), "of one it is not known");
    }

    #[test]
    fn the_file_limit_is_that_of_the_process_nearest_to_it() {
        let mut after = sample(
            2,
            &[
                (1, 5, ProcessSample { files: Some(900), ..process(0, 0, 0) }),
                (2, 5, ProcessSample { files: Some(90), ..process(0, 0, 0) }),
            ],
        );
        after.files_max = [(Identity { pid: 1, began_ticks: 5 }, 100_000), (Identity { pid: 2, began_ticks: 5 }, 100)].into();
        let values = values(&sample(1, &[]), &after);
        let files = values.iter().find(|it| it.name == "files").unwrap();
        assert_eq!((files.value, files.limit), (90.0, Some(100.0)));
    }

    #[test]
    fn a_machine_between_two_moments() {
        let recorded = |text: &str| {
            let mut told = RecordedFiles::default();
            told.add_lines(text);
            crate::machine::sample(&told, "/proc/net")
        };
        let before = recorded(crate::machine::RECORDED);
        let later = crate::machine::RECORDED
            .replace("cpu  2617823 59577 491305 2299214", "cpu  2617973 59577 491305 2299254")
            .replace("cpu0 1291644 26979 241474 1176020 1584 0 53876 2051", "cpu0 1291744 26979 241474 1176020 1584 0 53876 2051")
            .replace("6582 0 108363 4086", "6582 0 108363 4096")
            .replace(" 25496 0 480881", " 25596 0 480881")
            .replace("0 0 104 104 439", "0 0 114 134 439")
            .replace("total=11530004643", "total=11530504643");
        let at = |second, machine| Sample { at: Nanos::from_secs(second), machine, ..Sample::default() };
        let values = values(&at(1, before), &at(2, recorded(&later)));
        assert_eq!((of(&values, "machine_cpu"), of(&values, "steal")), (1.5, 0.05));
        assert_eq!((of(&values, "tcp_retransmits"), of(&values, "listen_overflows"), of(&values, "listen_drops")), (100.0, 10.0, 30.0));
        assert_eq!(of(&values, "pressure_cpu"), 0.5);
        let core = values.iter().find(|it| it.of.as_deref() == Some("core 0")).unwrap();
        assert_eq!(core.value, 1.0);
        assert!(!values.iter().any(|it| it.of.as_deref() == Some("core 1")), "no time passed for it");
        assert!(values.iter().all(|it| SERIES.iter().any(|known| known.name == it.name && known.unit == it.unit)), "{values:?}");
    }

    proptest! {
        #[test]
        fn no_figure_is_negative_or_not_a_number(ticks in proptest::collection::vec(0u64..10_000, 12), began in 0u64..3_000) {
            let at = |offset: usize| process(ticks[offset], ticks[offset + 1], ticks[offset + 2]);
            let before = sample(10, &[(1, began, at(0)), (2, began, at(3))]);
            let after = sample(11, &[(1, began, at(6)), (3, began, at(9))]);
            for value in values(&before, &after) {
                prop_assert!(value.value >= 0.0 && value.value.is_finite(), "{value:?}");
            }
        }
    }
}
