//! One process and its threads, as `/proc/PID` tells them.
//!
//! Each file is read by itself, and a process may end between two of them; so whoever has no `stat` any more is gone, and of one
//! that is there whatever cannot be read is left out. The number of a process is used again after it has ended: a process is only
//! the same if it also began at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::files::Files;

/// The number of a process or thread.
pub type Pid = u32;

/// Processor times in `/proc` are counted in hundredths of a second on every machine that runs Linux (USER_HZ, proc(5)).
pub const TICKS_PER_SECOND: f64 = 100.0;

/// Of so many threads it is known how they divided their time: as many as a result keeps.
const THREADS_DIVIDED: usize = 8;

/// A process at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessSample {
    /// What `stat` says.
    pub stat: Stat,
    /// Resident memory in bytes; `None` for a thread of the kernel.
    pub resident_bytes: Option<u64>,
    /// Open files; `None` where that may not be known.
    pub files: Option<u64>,
    /// Read from storage so far, in bytes; `None` where that may not be known.
    pub read_bytes: Option<u64>,
    /// Written towards storage so far.
    pub written_bytes: Option<u64>,
    /// Whether some of this is another user's, and not to be known.
    pub denied: bool,
    /// The numbers of the cores that it may use (taskset, cpusets); empty where that is not told.
    pub cores: BTreeSet<u32>,
    /// Its threads, as far as they were looked at.
    pub by_thread: BTreeMap<Pid, ThreadSample>,
}

/// What `/proc/PID/stat` says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stat {
    /// The kernel's name of it.
    pub name: String,
    /// Whether it has ended and nobody has asked how.
    pub zombie: bool,
    /// Its parent.
    pub parent: Pid,
    /// Processor time in its own code, in [`TICKS_PER_SECOND`].
    pub user_ticks: u64,
    /// Processor time in the kernel.
    pub system_ticks: u64,
    /// The same of its children that have ended, user's and kernel's together.
    pub children_ticks: u64,
    /// How many threads it has.
    pub threads: u64,
    /// When it began, in ticks since the machine did.
    pub began_ticks: u64,
}

/// A thread at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadSample {
    /// The kernel's name of it.
    pub name: String,
    /// On a core so far, in nanoseconds.
    pub ran_ns: u64,
    /// Of that in the kernel, in [`TICKS_PER_SECOND`]; known of those that ran longest.
    pub system_ticks: Option<u64>,
    /// Ready for one so far, in nanoseconds.
    pub waited_ns: u64,
    /// Gave its core back so often.
    pub switches_voluntary: u64,
    /// Had it taken so often.
    pub switches_involuntary: u64,
}

impl Stat {
    /// Reads the line. The name may hold anything, brackets and spaces too, so what follows is counted from its last bracket.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let (before, after) = line.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        // From field 3 of proc_pid_stat(5) on.
        let fields: Vec<&str> = after.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3).and_then(|text| text.parse::<i64>().ok()).map(|number| number.max(0) as u64);
        Some(Self {
            name: name.to_owned(),
            zombie: matches!(fields.first(), Some(&("Z" | "X"))),
            parent: u32::try_from(number(4)?).ok()?,
            user_ticks: number(14)?,
            system_ticks: number(15)?,
            children_ticks: number(16)? + number(17)?,
            threads: number(20)?,
            began_ticks: number(22)?,
        })
    }

    /// Of a process.
    ///
    /// # Errors
    /// If it is gone, or its `stat` is not one.
    pub fn of(files: &dyn Files, pid: Pid) -> io::Result<Self> {
        let path = format!("/proc/{pid}/stat");
        Self::read(&files.text(&path)?).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("{path} has another form")))
    }
}

/// Looks at a process and at most `threads_max` of its threads.
///
/// # Errors
/// If it is gone.
pub fn sample(files: &dyn Files, pid: Pid, threads_max: usize) -> io::Result<ProcessSample> {
    let stat = Stat::of(files, pid)?;
    let status = files.text(&format!("/proc/{pid}/status")).unwrap_or_default();
    let io = files.text(&format!("/proc/{pid}/io"));
    let denied = io.as_ref().is_err_and(|why| why.kind() == io::ErrorKind::PermissionDenied);
    let io = io.unwrap_or_default();
    let mut by_thread = BTreeMap::new();
    let mut threads: Vec<Pid> = files.names(&format!("/proc/{pid}/task"))?.iter().filter_map(|name| name.parse().ok()).collect();
    threads.sort_unstable();
    for thread in threads.into_iter().take(threads_max) {
        let folder = format!("/proc/{pid}/task/{thread}");
        let (Ok(ran), Ok(told)) = (files.text(&format!("{folder}/schedstat")), files.text(&format!("{folder}/status"))) else { continue };
        // Time on a core, time waiting for one, and the number of turns (Documentation/scheduler/sched-stats.rst).
        let mut times = ran.split_ascii_whitespace().map_while(|text| text.parse::<u64>().ok());
        by_thread.insert(
            thread,
            ThreadSample {
                name: told.lines().find_map(|line| line.strip_prefix("Name:")).unwrap_or_default().trim().to_owned(),
                ran_ns: times.next().unwrap_or(0),
                system_ticks: None,
                waited_ns: times.next().unwrap_or(0),
                switches_voluntary: keyed(&told, "voluntary_ctxt_switches:").unwrap_or(0),
                switches_involuntary: keyed(&told, "nonvoluntary_ctxt_switches:").unwrap_or(0),
            },
        );
    }
    divide(files, pid, &stat, &mut by_thread);
    Ok(ProcessSample {
        resident_bytes: keyed(&status, "VmRSS:").map(|kib| kib * 1024),
        files: files.count(&format!("/proc/{pid}/fd")).ok(),
        read_bytes: keyed(&io, "read_bytes:"),
        written_bytes: keyed(&io, "write_bytes:"),
        denied,
        cores: cores_of(&status),
        by_thread,
        stat,
    })
}

/// The cores of a `status`, such as `0-3,8` (proc_pid_status(5)).
fn cores_of(status: &str) -> BTreeSet<u32> {
    let Some(list) = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")) else { return BTreeSet::new() };
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        // No machine has more than a u16 counts, whatever stands there.
        Some(first.parse::<u16>().ok()?..=last.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().map(u32::from).collect()
}

/// How the threads that ran longest divided their time: it is one file more for each, but for one that is alone.
fn divide(files: &dyn Files, pid: Pid, stat: &Stat, by_thread: &mut BTreeMap<Pid, ThreadSample>) {
    if by_thread.len() == 1 && stat.threads == 1 {
        by_thread.values_mut().for_each(|thread| thread.system_ticks = Some(stat.system_ticks));
        return;
    }
    let mut busiest: Vec<(u64, Pid)> = by_thread.iter().map(|(thread, seen)| (seen.ran_ns, *thread)).collect();
    busiest.sort_unstable_by(|a, b| b.cmp(a));
    for (_, thread) in busiest.into_iter().take(THREADS_DIVIDED) {
        let told = files.text(&format!("/proc/{pid}/task/{thread}/stat")).ok().and_then(|line| Stat::read(&line));
        if let Some((seen, told)) = by_thread.get_mut(&thread).zip(told) {
            seen.system_ticks = Some(told.system_ticks);
        }
    }
}

/// How many files a process may have open.
#[must_use]
pub fn files_max(files: &dyn Files, pid: Pid) -> Option<u64> {
    let limits = files.text(&format!("/proc/{pid}/limits")).ok()?;
    limits.lines().find_map(|line| line.strip_prefix("Max open files"))?.split_ascii_whitespace().next()?.parse().ok()
}

/// The number after a key at the beginning of a line.
pub(crate) fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Folder, RecordedFiles};
    use proptest::prelude::*;

    #[test]
    fn a_name_with_brackets_and_spaces_moves_no_field() {
        let line = "812 (we) ird (x) S 7 812 812 0 -1 4194304 114 0 0 0 31 12 5 6 20 0 3 0 2804958 3133440 406 1844";
        let stat = Stat::read(line).unwrap();
        assert_eq!(
            stat,
            Stat {
                name: "we) ird (x".to_owned(),
                zombie: false,
                parent: 7,
                user_ticks: 31,
                system_ticks: 12,
                children_ticks: 11,
                threads: 3,
                began_ticks: 2_804_958
            }
        );
    }

    #[test]
    fn the_cores_that_a_process_may_use_are_a_list_of_ranges() {
        let cores =
            |list: &str| cores_of(&format!("Name:\ta\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\n")).into_iter().collect::<Vec<_>>();
        assert_eq!((cores("0-2,8"), cores("3")), (vec![0, 1, 2, 8], vec![3]));
        assert_eq!((cores("0-4294967295,5"), cores("x-3,,2-")), (vec![5], vec![]));
        assert!(cores_of("Name:\ta\n").is_empty());
    }

    proptest! {
        #[test]
        fn no_line_makes_reading_fail_badly(line in ".{0,200}") {
            let _ = Stat::read(&line);
            let mut told = RecordedFiles::default();
            told.add_text("/proc/1/stat", line.clone());
            told.add_text("/proc/1/status", line.clone());
            told.add_text("/proc/1/task/1/schedstat", line.clone());
            told.add_text("/proc/1/task/1/status", line);
            let _ = sample(&told, 1, 10);
        }
    }

    #[test]
    fn this_process_is_seen_as_it_is() {
        let here = Folder::of_this_machine();
        let pid = std::process::id();
        let file = tempfile::tempfile().unwrap();
        let before = sample(&here, pid, 1_000).unwrap();
        assert!(before.resident_bytes.unwrap() > 100_000, "{before:?}");
        assert!(before.files.unwrap() >= 4, "{before:?}");
        assert_eq!(before.stat.parent, rustix::process::getppid().unwrap().as_raw_nonzero().get() as Pid);
        drop(file);
        // Another thread, known by its name, uses processor time until that shows.
        let enough = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let until = enough.clone();
        let spin = move || while !until.load(std::sync::atomic::Ordering::Relaxed) {};
        let busy = std::thread::Builder::new().name("spinning".into()).spawn(spin).unwrap();
        let spins =
            || sample(&here, pid, 1_000).unwrap().by_thread.into_values().find(|thread| thread.name == "spinning" && thread.ran_ns > 0);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while spins().is_none() {
            assert!(std::time::Instant::now() < deadline, "the thread never ran");
        }
        enough.store(true, std::sync::atomic::Ordering::Relaxed);
        busy.join().unwrap();
        assert!(sample(&here, u32::MAX - 1, 1_000).is_err());
    }

    #[test]
    fn the_threads_that_ran_longest_tell_how_they_divided_their_time() {
        let mut told = RecordedFiles::default();
        told.add_text("/proc/1/stat", "1 (a) S 0 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 20 0 5 0 0 0");
        for thread in 1..=20 {
            told.add_text(format!("/proc/1/task/{thread}/schedstat"), format!("{}000 6 7\n", thread));
            told.add_text(format!("/proc/1/task/{thread}/status"), "Name:\ta\n");
            told.add_text(
                format!("/proc/1/task/{thread}/stat"),
                format!("{thread} (a) S 0 1 1 0 -1 0 0 0 0 0 1 {thread} 0 0 20 0 20 0 5 0 0 0"),
            );
        }
        let seen = sample(&told, 1, 256).unwrap();
        let divided: Vec<(Pid, u64)> = seen.by_thread.iter().filter_map(|(thread, it)| Some((*thread, it.system_ticks?))).collect();
        assert_eq!(divided, (13..=20).map(|thread| (thread, u64::from(thread))).collect::<Vec<_>>());
    }

    #[test]
    fn only_so_many_threads_are_looked_at() {
        let mut told = RecordedFiles::default();
        told.add_text("/proc/1/stat", "1 (a) S 0 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 300 0 5 0 0 0");
        for thread in 1..=300 {
            told.add_text(format!("/proc/1/task/{thread}/schedstat"), "5 6 7\n");
            told.add_text(format!("/proc/1/task/{thread}/status"), "Name:\ta\nvoluntary_ctxt_switches:\t3\n");
        }
        let seen = sample(&told, 1, 256).unwrap();
        assert_eq!((seen.by_thread.len(), seen.stat.threads), (256, 300));
    }
}
