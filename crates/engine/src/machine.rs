//! What this machine is and what it allows: cores, memory, open files.

use std::fs;
use std::num::NonZeroU32;

use measure::Machine;
use plan::Nanos;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files a process needs besides its connections: standard streams, epoll, timers, output files, name resolution.
pub(crate) const FILES_BESIDES: u32 = 64;

/// The cores this process may use.
#[must_use]
pub fn cores() -> NonZeroU32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    NonZeroU32::new(u32::try_from(cores).unwrap_or(u32::MAX)).unwrap_or(NonZeroU32::MIN)
}

/// Raises the soft limit of open files to the hard one, and says how many files may be open.
pub fn raise_files_limit() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // The kernel refuses more than fs.nr_open even where the hard limit says infinity.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// How many connections this process can have open at once.
#[must_use]
pub fn connections_max() -> NonZeroU32 {
    let files = raise_files_limit().saturating_sub(u64::from(FILES_BESIDES));
    NonZeroU32::new(u32::try_from(files).unwrap_or(u32::MAX)).unwrap_or(NonZeroU32::MIN)
}

/// What stands in every result about the machine.
#[must_use]
pub fn machine() -> Machine {
    let line = |file: &str, key: &str| {
        fs::read_to_string(file)
            .ok()?
            .lines()
            .find_map(|line| line.strip_prefix(key).map(|rest| rest.trim_start_matches([' ', '\t', ':']).trim().to_owned()))
    };
    let uname = rustix::system::uname();
    let memory_kib: u64 = line("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0);
    Machine {
        loadline: format!("loadline {}", env!("CARGO_PKG_VERSION")),
        system: format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
        processor: line("/proc/cpuinfo", "model name").unwrap_or_else(|| uname.machine().to_string_lossy().into_owned()),
        cores: cores().get(),
        memory_bytes: memory_kib * 1024,
        files_max: raise_files_limit(),
    }
}

/// What tells the system that runs here from others: its start, and the space of numbers that its processes have here. Containers of one
/// machine have spaces of their own.
#[must_use]
pub fn kernel() -> Option<String> {
    // random(4): made anew at each start.
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", start.trim(), space.display()))
}

/// The most memory this process ever held, in bytes.
#[must_use]
pub fn memory_bytes_max() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kib: u64 = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().split(' ').next()?.parse().ok()?;
    Some(kib * 1024)
}

/// How long this thread has been ready to run without a core to run on, so far.
#[must_use]
pub(crate) fn run_queue_wait() -> Option<Nanos> {
    // Time on a core, time waiting for one, and the number of turns (Documentation/scheduler/sched-stats.rst).
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok().map(Nanos)
}

/// Processor time of the whole machine so far, in the kernel's ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessorTime {
    total: u64,
    stolen: u64,
}

impl ProcessorTime {
    /// As of now.
    pub(crate) fn now() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line: user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5)); guest time is in user's.
    fn read(text: &str) -> Option<Self> {
        let counts: Vec<u64> = text.lines().next()?.split_whitespace().skip(1).take(8).filter_map(|count| count.parse().ok()).collect();
        Some(Self { total: counts.iter().sum(), stolen: *counts.get(7)? })
    }

    /// The share that the host gave to others since `earlier`; `None` if no time has passed.
    pub(crate) fn stolen_since(self, earlier: Self) -> Option<f64> {
        let total = self.total.saturating_sub(earlier.total);
        (total > 0).then(|| self.stolen.saturating_sub(earlier.stolen) as f64 / total as f64)
    }
}

/// Where cgroups are mounted, as systemd and every container engine do it.
const CGROUPS: &str = "/sys/fs/cgroup";

/// The periods of the quota of processor time that this process is under, so far.
///
/// Who is stopped by a quota is on no core and in no queue for one, so nothing else here tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuotaPeriods {
    all: u64,
    stopped: u64,
}

impl QuotaPeriods {
    /// As of now; `None` without a quota.
    pub(crate) fn now() -> Option<Self> {
        Self::of(&fs::read_to_string("/proc/self/cgroup").ok()?, &|path| fs::read_to_string(path).ok())
    }

    /// Of the nearest cgroup upwards that has a quota (cgroups(7)): version 2 has the number 0, version 1 names its controllers.
    fn of(cgroups: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        for line in cgroups.lines() {
            let mut fields = line.splitn(3, ':');
            let (Some(number), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
            let mounts = match number {
                "0" => [CGROUPS.to_owned(), format!("{CGROUPS}/unified")],
                _ if controllers.split(',').any(|name| name == "cpu") => [format!("{CGROUPS}/{controllers}"), format!("{CGROUPS}/cpu")],
                _ => continue,
            };
            // A container sees its own cgroup as the mount itself, whatever its path is called outside.
            let upwards = || std::iter::successors(Some(path.trim_end_matches('/')), |path| path.rsplit_once('/').map(|(above, _)| above));
            let found =
                mounts.iter().flat_map(|mount| upwards().map(move |path| format!("{mount}{path}"))).find_map(|at| Self::at(&at, read));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn at(folder: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let quota = |file: &str| read(&format!("{folder}/{file}"))?.split_whitespace().next()?.parse::<i64>().ok();
        // Version 2 says "max", version 1 -1, where there is none.
        quota("cpu.max").or_else(|| quota("cpu.cfs_quota_us")).filter(|quota| *quota > 0)?;
        let stat = read(&format!("{folder}/cpu.stat"))?;
        let number = |key: &str| stat.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok();
        Some(Self { all: number("nr_periods ")?, stopped: number("nr_throttled ")? })
    }

    /// The share of them since `earlier` in which it had to stop; `None` if none has passed.
    pub(crate) fn stopped_since(self, earlier: Self) -> Option<f64> {
        let all = self.all.saturating_sub(earlier.all);
        (all > 0).then(|| self.stopped.saturating_sub(earlier.stopped) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quota_is_that_of_the_nearest_cgroup_that_has_one() {
        let files = |path: &str| {
            let text = match path {
                "/sys/fs/cgroup/pod/app/cpu.max" => "max 100000\n",
                "/sys/fs/cgroup/pod/cpu.max" => "50000 100000\n",
                "/sys/fs/cgroup/pod/cpu.stat" => "usage_usec 9\nnr_periods 40\nnr_throttled 10\nthrottled_usec 7\n",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us" => "20000\n",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.stat" => "nr_periods 8\nnr_throttled 2\n",
                "/sys/fs/cgroup/cpu/free/cpu.cfs_quota_us" => "-1\n",
                _ => return None,
            };
            Some(text.to_owned())
        };
        assert_eq!(QuotaPeriods::of("0::/pod/app\n", &files), Some(QuotaPeriods { all: 40, stopped: 10 }));
        // A container's own, which it sees at the mount.
        assert_eq!(QuotaPeriods::of("4:cpu,cpuacct:/docker/0123\n", &files), Some(QuotaPeriods { all: 8, stopped: 2 }));
        for without in ["0::/\n", "1:cpu:/free\n", "7:memory:/pod\n", "", "nonsense"] {
            assert_eq!(QuotaPeriods::of(without, &files), None, "{without}");
        }
    }

    #[test]
    fn stops_are_a_share_of_the_periods() {
        let (before, after) = (QuotaPeriods { all: 40, stopped: 10 }, QuotaPeriods { all: 60, stopped: 25 });
        assert_eq!((after.stopped_since(before), before.stopped_since(before)), (Some(0.75), None));
    }

    #[test]
    fn stolen_time_is_a_share_of_all_time() {
        let before = ProcessorTime::read("cpu  100 0 50 800 0 0 0 50 7 0\ncpu0 1 2 3").unwrap();
        let after = ProcessorTime::read("cpu  150 0 70 1000 0 0 0 80 7 0\n").unwrap();
        assert_eq!(after.stolen_since(before), Some(0.1));
        assert_eq!(before.stolen_since(before), None);
        assert!(ProcessorTime::read("cpu 1 2").is_none());
    }
}
