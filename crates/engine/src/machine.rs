//! What this machine is and what it allows: cores, memory, open files.

use std::fs;
use std::num::NonZeroU32;

use measure::Machine;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files a process needs besides its connections: standard streams, epoll, timers, output files, name resolution.
pub const FILES_BESIDES: u32 = 64;

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

/// The most memory this process ever held, in bytes.
#[must_use]
pub fn memory_bytes_max() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kib: u64 = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().split(' ').next()?.parse().ok()?;
    Some(kib * 1024)
}
