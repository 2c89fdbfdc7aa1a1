//! The machine a server runs on: processors, memory, network, disks, TCP.
//!
//! Most of these are counts since the machine began, and say something only as differences; which ones is decided in
//! [`crate::change`]. Here they are read, each file by itself: one that is missing (an old kernel, a container) takes only its own
//! figures away.

use std::collections::BTreeMap;

use crate::files::Files;
use crate::process::keyed;

/// A machine at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MachineSample {
    /// All cores together.
    pub all: CoreSample,
    /// Each core, by its number.
    pub cores: BTreeMap<u32, CoreSample>,
    /// The load average over a minute.
    pub load: Option<f64>,
    /// Threads on a core or ready for one.
    pub runnable: Option<u64>,
    /// Memory in bytes.
    pub memory: Option<Memory>,
    /// Bytes received and sent over its interfaces so far, loopback left out.
    pub network: Option<[u64; 2]>,
    /// Bytes sent to itself.
    pub loopback: Option<u64>,
    /// Each disk, by its name.
    pub disks: BTreeMap<String, DiskSample>,
    /// What TCP counted.
    pub tcp: Tcp,
    /// Connections the firewall keeps in mind, and the most it can.
    pub conntrack: Option<(u64, Option<u64>)>,
    /// Something waited, in microseconds so far.
    pub pressure: Pressure,
}

/// Processor time in ticks since the machine began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CoreSample {
    /// All of it.
    pub total: u64,
    /// With nothing to do.
    pub idle: u64,
    /// With nothing to do but waiting for storage.
    pub iowait: u64,
    /// Given to other guests of the host.
    pub steal: u64,
}

/// Memory in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// All of it.
    pub total: u64,
    /// What a program could still have.
    pub available: u64,
    /// Swap in use.
    pub swapped: u64,
}

/// A disk, counted since the machine began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskSample {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Milliseconds with something to do.
    pub busy_ms: u64,
}

/// What TCP counted in one network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tcp {
    /// Connections now.
    pub established: Option<u64>,
    /// Those in TIME_WAIT now.
    pub time_wait: Option<u64>,
    /// Segments sent again so far.
    pub retransmits: Option<u64>,
    /// Connections lost since an accept queue was full, so far.
    pub listen_overflows: Option<u64>,
    /// Connections dropped by a socket that listens, so far.
    pub listen_drops: Option<u64>,
}

/// Time in which something waited for a resource, in microseconds so far (`some` of Documentation/accounting/psi.rst).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pressure {
    /// For a core.
    pub cpu_us: Option<u64>,
    /// For memory.
    pub memory_us: Option<u64>,
    /// For storage.
    pub io_us: Option<u64>,
}

/// A sector of `/proc/diskstats`, whatever the disk's own are (Documentation/admin-guide/iostats.rst).
const SECTOR_BYTES: u64 = 512;

/// Looks at a machine; at its network as it is seen in the folder `net`.
#[must_use]
pub fn sample(files: &dyn Files, net: &str) -> MachineSample {
    let text = |path: &str| files.text(path).unwrap_or_default();
    let stat = text("/proc/stat");
    let (network, loopback) = interfaces(&text(&format!("{net}/dev")));
    MachineSample {
        all: stat.lines().find_map(|line| core(line, "cpu ")).unwrap_or_default(),
        cores: stat.lines().filter_map(numbered_core).collect(),
        load: text("/proc/loadavg").split(' ').next().and_then(|text| text.parse().ok()),
        runnable: keyed(&stat, "procs_running "),
        memory: memory(&text("/proc/meminfo")),
        network,
        loopback,
        disks: text("/proc/diskstats").lines().filter_map(disk).collect(),
        tcp: tcp(files, net),
        conntrack: keyed(&text("/proc/sys/net/netfilter/nf_conntrack_count"), "")
            .map(|count| (count, keyed(&text("/proc/sys/net/netfilter/nf_conntrack_max"), ""))),
        pressure: pressure(files, "/proc/pressure", ""),
    }
}

/// `user nice system idle iowait irq softirq steal …`; time of guests is in user's and nice's already.
fn core(line: &str, key: &str) -> Option<CoreSample> {
    let counts: Vec<u64> = line.strip_prefix(key)?.split_ascii_whitespace().take(8).map_while(|text| text.parse().ok()).collect();
    let at = |place: usize| counts.get(place).copied().unwrap_or(0);
    (counts.len() >= 4).then(|| CoreSample { total: counts.iter().sum(), idle: at(3), iowait: at(4), steal: at(7) })
}

fn numbered_core(line: &str) -> Option<(u32, CoreSample)> {
    let number = line.strip_prefix("cpu")?.split(' ').next()?;
    Some((number.parse().ok()?, core(line, &format!("cpu{number}"))?))
}

fn memory(text: &str) -> Option<Memory> {
    let bytes = |key| keyed(text, key).map(|kib| kib * 1024);
    let swapped = bytes("SwapTotal:").unwrap_or(0).saturating_sub(bytes("SwapFree:").unwrap_or(0));
    Some(Memory { total: bytes("MemTotal:")?, available: bytes("MemAvailable:")?, swapped })
}

/// Received and sent by all interfaces but loopback, and what loopback sent. Interfaces that only pass on what another one
/// counts already are left out: bridges, and the ends of pairs that lead into containers.
fn interfaces(text: &str) -> (Option<[u64; 2]>, Option<u64>) {
    let (mut network, mut loopback) = (None, None);
    for (name, counts) in text.lines().filter_map(|line| line.split_once(':')) {
        let name = name.trim();
        let counts: Vec<u64> = counts.split_ascii_whitespace().filter_map(|text| text.parse().ok()).collect();
        let (Some(received), Some(sent)) = (counts.first(), counts.get(8)) else { continue };
        if name == "lo" {
            loopback = Some(*sent);
        } else if !["veth", "docker", "br-", "virbr", "ifb", "cni", "flannel"].iter().any(|begin| name.starts_with(begin)) {
            let [into, out] = network.get_or_insert([0, 0]);
            *into += received;
            *out += sent;
        }
    }
    (network, loopback)
}

/// Whole disks: what is counted for one is counted for its partitions too.
fn disk(line: &str) -> Option<(String, DiskSample)> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let name = *fields.get(2)?;
    let number = |place: usize| fields.get(place).and_then(|text| text.parse::<u64>().ok());
    let ends_in_digit = name.ends_with(|letter: char| letter.is_ascii_digit());
    let is_whole = match name {
        _ if ["loop", "ram", "zram", "dm-", "md", "sr", "fd"].iter().any(|begin| name.starts_with(begin)) => false,
        _ if name.starts_with("nvme") || name.starts_with("mmcblk") => !name.contains('p'),
        _ => !ends_in_digit,
    };
    is_whole.then_some(())?;
    Some((name.to_owned(), DiskSample { read: number(5)? * SECTOR_BYTES, written: number(9)? * SECTOR_BYTES, busy_ms: number(12)? }))
}

/// TCP as one network namespace sees it.
#[must_use]
pub fn tcp(files: &dyn Files, net: &str) -> Tcp {
    let text = |name: &str| files.text(&format!("{net}/{name}")).unwrap_or_default();
    let (snmp, netstat, sockets) = (text("snmp"), text("netstat"), text("sockstat"));
    let sockets = sockets.lines().find_map(|line| line.strip_prefix("TCP: ")).unwrap_or_default();
    let time_wait = sockets.split(' ').skip_while(|word| *word != "tw").nth(1).and_then(|text| text.parse().ok());
    Tcp {
        established: headed(&snmp, "Tcp:", "CurrEstab"),
        time_wait,
        retransmits: headed(&snmp, "Tcp:", "RetransSegs"),
        listen_overflows: headed(&netstat, "TcpExt:", "ListenOverflows"),
        listen_drops: headed(&netstat, "TcpExt:", "ListenDrops"),
    }
}

/// The number under a heading: two lines begin with the same word, the first of names and the second of numbers.
fn headed(text: &str, table: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(table));
    let place = lines.next()?.split_ascii_whitespace().position(|head| head == name)?;
    lines.next()?.split_ascii_whitespace().nth(place)?.parse().ok()
}

/// What waited, for a machine or a cgroup.
#[must_use]
pub fn pressure(files: &dyn Files, folder: &str, ending: &str) -> Pressure {
    let some = |name: &str| {
        let text = files.text(&format!("{folder}/{name}{ending}")).ok()?;
        text.lines().find(|line| line.starts_with("some"))?.split_once("total=")?.1.trim().parse().ok()
    };
    Pressure { cpu_us: some("cpu"), memory_us: some("memory"), io_us: some("io") }
}

/// A small virtual machine under load, written down with `grep -H '' /proc/…`.
#[cfg(test)]
pub(crate) const RECORDED: &str = include_str!("../tests/machine.txt");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Folder, RecordedFiles};

    #[test]
    fn a_recorded_machine_is_read_as_it_was() {
        let mut told = RecordedFiles::default();
        told.add_lines(RECORDED);
        let seen = sample(&told, "/proc/net");
        assert_eq!(seen.all, CoreSample { total: 5_586_950, idle: 2_299_214, iowait: 6_582, steal: 4_086 });
        assert_eq!(seen.cores.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert_eq!((seen.load, seen.runnable), (Some(0.88), Some(1)));
        assert_eq!(seen.network, Some([1_053_533_161, 3_610_370]));
        assert_eq!(seen.loopback, Some(187_088_898_479));
        assert_eq!(
            seen.tcp,
            Tcp {
                established: Some(8),
                time_wait: Some(135),
                retransmits: Some(25_496),
                listen_overflows: Some(104),
                listen_drops: Some(104)
            }
        );
        assert_eq!(seen.conntrack, Some((12, Some(262_144))));
        assert_eq!(seen.pressure.cpu_us, Some(11_530_004_643));
        assert_eq!(seen.disks["vda"], DiskSample { read: 1_000 * 512, written: 2_000 * 512, busy_ms: 77 });
        assert_eq!(seen.disks.len(), 1, "{:?}", seen.disks);
        assert_eq!(seen.memory.unwrap().total, 24_684_092 * 1024);
    }

    #[test]
    fn a_machine_that_tells_nothing_has_no_figures() {
        assert_eq!(sample(&RecordedFiles::default(), "/proc/net"), MachineSample::default());
    }

    #[test]
    fn this_machine_can_be_read() {
        let seen = sample(&Folder::of_this_machine(), "/proc/net");
        assert_eq!(seen.cores.len(), std::fs::read_to_string("/proc/stat").unwrap().matches("\ncpu").count());
        assert!(seen.all.total > seen.all.idle && seen.all.idle > 0);
        let memory = seen.memory.unwrap();
        assert!(memory.available > 0 && memory.available < memory.total);
        assert!(seen.tcp.listen_overflows.is_some() && seen.tcp.time_wait.is_some());
    }
}
