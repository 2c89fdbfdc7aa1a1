//! What is watched on a machine running Linux: processes found once, and followed through restarts.
//!
//! A run may outlive its server: workers are recycled, a crash is followed by a restart, the number of a process goes to another.
//! So processes are known by number and beginning; the tree is put together anew every few seconds, and at once when one is missed;
//! and when nobody is left, whoever listens there now is looked for. Each of these is told, once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use measure::observed::Process;
use plan::setting::OBSERVE;
use plan::{Nanos, Wording};

use crate::cgroup::{self, Cgroup};
use crate::change::Sample;
use crate::family::{Identity, Population};
use crate::files::Files;
use crate::listener::{ListenerQuery, Visibility, holders, listening};
use crate::machine;
use crate::process::{self, Pid};

/// How often, in looks, the tree of processes is put together anew.
const LOOKS_A_TREE: u32 = 5;
/// Each thread costs some 30 µs a look; so many keep a look below a hundredth of a core.
const THREADS_MAX: usize = 256;
/// More processes than these are not told by name.
const PROCESSES_MAX: usize = 256;

/// Something that is watched.
#[derive(Debug)]
pub struct Subject {
    members: Members,
    wanted: Option<ListenerQuery>,
    /// Where its network is seen.
    net: String,
    cgroup: Option<Cgroup>,
    /// Loadline itself, where it runs on the same machine.
    apart: Option<Pid>,
    family: Vec<Identity>,
    listeners: BTreeSet<Pid>,
    files_max: BTreeMap<Identity, Option<u64>>,
    /// Every process that was ever seen.
    known: Vec<Process>,
    looks: u32,
    warnings: Vec<String>,
    told: BTreeSet<OnceNote>,
    about: String,
}

/// Whose processes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Members {
    /// These and what they started.
    Trees(Vec<Identity>),
    /// Those in a folder of cgroups.
    Cgroup(String),
    /// None: only the machine.
    Nobody,
}

/// What is told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OnceNote {
    ManyThreads,
    NotPermitted,
}

/// Why there is nothing to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// What is missing.
    pub message: String,
    /// What to do.
    pub help: Wording,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NotFound {}

fn not_found(message: String, help: impl Into<Wording>) -> NotFound {
    NotFound { message, help: help.into() }
}

impl Subject {
    /// A process and all it started.
    ///
    /// # Errors
    /// If there is no such process.
    pub fn of_process(files: &dyn Files, pid: Pid, apart: Option<Pid>) -> Result<Self, NotFound> {
        let all = Population::of(files);
        let head = all.identity(pid).ok_or_else(|| not_found(format!("there is no process {pid}"), "ps -e lists those that there are"))?;
        Ok(Self::new(files, Members::Trees(vec![head]), None, &all, apart))
    }

    /// Whoever listens there.
    ///
    /// # Errors
    /// If nobody does, or it cannot be seen who.
    pub fn listening(files: &dyn Files, wanted: ListenerQuery, apart: Option<Pid>) -> Result<Self, NotFound> {
        let all = Population::of(files);
        let (heads, holding) = Self::search(files, &wanted, &all)?;
        let mut subject = Self::new(files, Members::Trees(heads), Some(wanted), &all, apart);
        subject.listeners.extend(holding);
        Ok(subject.described(&all))
    }

    /// Every process in a cgroup.
    ///
    /// # Errors
    /// If there is no such cgroup.
    pub(crate) fn in_cgroup(files: &dyn Files, path: &str) -> Result<Self, NotFound> {
        let (cgroup, folder) = Cgroup::at(files, path).ok_or_else(|| {
            not_found(
                format!("there is no cgroup '{path}' below /sys/fs/cgroup"),
                "systemd-cgls lists them; systemctl status NAME tells that of a service",
            )
        })?;
        let all = Population::of(files);
        let mut subject = Self::new(files, Members::Cgroup(folder), None, &all, None);
        subject.cgroup = Some(cgroup);
        Ok(subject.described(&all))
    }

    /// Every process of a container.
    ///
    /// # Errors
    /// If no process is in one with this id.
    pub fn container(files: &dyn Files, id: &str) -> Result<Self, NotFound> {
        let missing = || {
            not_found(
                format!("no process runs in a container whose id begins with '{id}'"),
                "docker ps or crictl ps lists the ids of those that run here",
            )
        };
        let pid = cgroup::of_container(files, id).ok_or_else(missing)?;
        let folder = Cgroup::of(files, pid).and_then(|cgroup| {
            let of_it = |folder: &String| folder.rsplit('/').next().is_some_and(|name| name.contains(id));
            cgroup.folders().into_iter().find(of_it)
        });
        let all = Population::of(files);
        let members = match folder {
            Some(folder) => Members::Cgroup(folder),
            None => Members::Trees(all.identity(pid).into_iter().collect()),
        };
        Ok(Self::new(files, members, None, &all, None))
    }

    /// The machine alone.
    #[must_use]
    pub fn machine(files: &dyn Files, why: &str) -> Self {
        let mut subject = Self::new(files, Members::Nobody, None, &Population::default(), None);
        why.clone_into(&mut subject.about);
        subject
    }

    fn new(files: &dyn Files, members: Members, wanted: Option<ListenerQuery>, all: &Population, apart: Option<Pid>) -> Self {
        let mut subject = Self {
            members,
            wanted,
            net: "/proc/net".to_owned(),
            cgroup: None,
            apart,
            family: Vec::new(),
            listeners: BTreeSet::new(),
            files_max: BTreeMap::new(),
            known: Vec::new(),
            looks: 0,
            warnings: Vec::new(),
            told: BTreeSet::new(),
            about: String::new(),
        };
        subject.gather(files, all);
        subject.described(all)
    }

    fn search(files: &dyn Files, wanted: &ListenerQuery, all: &Population) -> Result<(Vec<Identity>, Vec<Pid>), NotFound> {
        let place = match wanted {
            ListenerQuery::Port(port) => format!("port {port}"),
            ListenerQuery::Path(path) => format!("the socket '{path}'"),
            ListenerQuery::Addresses(addresses) | ListenerQuery::Datagrams(addresses) => {
                let mut shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
                shown.dedup();
                shown.join(", ")
            }
        };
        let sockets = listening(files, "/proc/net", wanted);
        if sockets.is_empty() {
            return Err(not_found(
                format!("no process of this machine listens on {place}, as far as this network shows"),
                format!("a container has a network of its own: {OBSERVE:#} container:ID; or name the process with {OBSERVE:#} pid:N"),
            ));
        }
        let (holding, looked) = holders(files, &sockets);
        if holding.is_empty() {
            let whose = match looked {
                Visibility::Everywhere => "no process here holds that socket",
                Visibility::WherePermitted => "it belongs to another user",
            };
            return Err(not_found(
                format!("it cannot be seen which process listens on {place}: {whose}"),
                format!("run loadline as that user or as root, or name the process with {OBSERVE:#} pid:N"),
            ));
        }
        Ok((all.heads(&holding), holding))
    }

    /// Who belongs to it now.
    fn gather(&mut self, files: &dyn Files, all: &Population) {
        self.family = match &self.members {
            Members::Trees(heads) => all.family(heads, self.apart),
            Members::Cgroup(folder) => cgroup::processes(files, folder).into_iter().filter_map(|pid| all.identity(pid)).collect(),
            Members::Nobody => Vec::new(),
        };
        for identity in &self.family {
            if let std::collections::btree_map::Entry::Vacant(vacant) = self.files_max.entry(*identity) {
                vacant.insert(process::files_max(files, identity.pid));
                if let Some(stat) = all.stat(identity.pid)
                    && self.known.len() < PROCESSES_MAX
                {
                    self.known.push(Process {
                        pid: identity.pid,
                        parent: stat.parent,
                        name: stat.name.clone(),
                        listens: self.listeners.contains(&identity.pid),
                    });
                }
            }
        }
        if let Some(first) = self.family.first()
            && self.cgroup.is_none()
        {
            self.cgroup = Cgroup::of(files, first.pid);
        }
        if let Some(first) = self.family.first()
            && files.text(&format!("/proc/{}/net/snmp", first.pid)).is_ok()
        {
            self.net = format!("/proc/{}/net", first.pid);
        }
    }

    fn described(mut self, all: &Population) -> Self {
        if !self.listeners.is_empty() {
            self.known.iter_mut().for_each(|process| process.listens = self.listeners.contains(&process.pid));
        }
        if self.about.is_empty() {
            self.about = self.words(all);
        }
        self
    }

    fn words(&self, all: &Population) -> String {
        let named =
            |identity: &Identity| all.stat(identity.pid).map_or_else(String::new, |stat| format!("{} ({})", stat.name, identity.pid));
        let heads: &[Identity] = match &self.members {
            Members::Trees(heads) => heads,
            _ => &self.family[..self.family.len().min(1)],
        };
        let mut shown: Vec<String> = heads.iter().map(named).collect();
        if let Members::Trees(heads) = &self.members
            && heads.len() > HEADS_SHOWN
        {
            shown.truncate(HEADS_SHOWN);
            shown.push(format!("{} more like them", heads.len() - HEADS_SHOWN));
        }
        let more = self.family.len().saturating_sub(heads.len());
        let also = match more {
            0 => String::new(),
            1 => " and one more process".to_owned(),
            _ => format!(" and {more} more processes"),
        };
        let said = format!("{}{also}", shown.join(", "));
        let is_proxy = heads.iter().any(|head| all.stat(head.pid).is_some_and(|stat| stat.name == "docker-proxy"));
        match &self.members {
            Members::Cgroup(folder) => format!("{said} in the cgroup {}", folder.trim_start_matches("/sys/fs/cgroup")),
            _ if is_proxy => format!("{said}, which only passes connections on: --observe container:ID watches what is behind it"),
            _ => said,
        }
    }

    /// Puts the tree together anew, with files that were not there before.
    pub(crate) fn gather_again(&mut self, files: &dyn Files) {
        self.files_max.retain(|_, most| most.is_some());
        self.known.clear();
        self.gather(files, &Population::of(files));
        let listeners = &self.listeners;
        self.known.iter_mut().for_each(|process| process.listens = listeners.contains(&process.pid));
    }

    /// Whether nobody is left of it.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.family.is_empty() && self.members != Members::Nobody
    }

    /// In words: `nginx (812) and 4 more processes`.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Every process that was seen.
    #[must_use]
    pub fn processes(&self) -> &[Process] {
        &self.known
    }

    /// What went wrong since the last time.
    pub fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The files that [`Subject::look`] will read, as patterns of a shell: for machines whose files come over a wire.
    #[must_use]
    pub fn patterns(&self) -> Patterns {
        let net = &self.net;
        let mut texts: Vec<String> = MACHINE_FILES.iter().map(|file| (*file).to_owned()).collect();
        texts.extend(["dev", "snmp", "netstat", "sockstat"].map(|file| format!("{net}/{file}")));
        texts.push("/proc/[0-9]*/stat".to_owned());
        let mut counts = Vec::new();
        for Identity { pid, .. } in &self.family {
            texts.extend(
                ["status", "io", "limits", "cgroup", "task/*/schedstat", "task/*/status", "task/*/stat"]
                    .map(|file| format!("/proc/{pid}/{file}")),
            );
            counts.push(format!("/proc/{pid}/fd"));
        }
        for folder in self.cgroup.iter().flat_map(Cgroup::folders) {
            texts.extend(["cpu.stat", "cpu.max", "memory.current", "memory.max", "*.pressure"].map(|file| format!("{folder}/{file}")));
        }
        Patterns { texts, tables: ["tcp", "tcp6"].map(|table| format!("{net}/{table}")).to_vec(), counts }
    }

    /// Looks at everything.
    pub fn look(&mut self, files: &dyn Files, at: Nanos) -> Sample {
        let mut sample = Sample { at, ..Sample::default() };
        // Before the tree is put together anew: who is missing from it then has ended as well.
        let were_there = !self.family.is_empty();
        if self.looks.is_multiple_of(LOOKS_A_TREE) {
            self.gather(files, &Population::of(files));
        }
        self.looks += 1;
        self.processes_into(files, &mut sample);
        if sample.processes.len() < self.family.len() || (self.family.is_empty() && self.members != Members::Nobody) {
            self.missed(files, at, were_there, &mut sample);
        }
        sample.files_max = sample.processes.keys().filter_map(|identity| Some((*identity, (*self.files_max.get(identity)?)?))).collect();
        sample.cgroup = self.cgroup.as_ref().map(|cgroup| cgroup.sample(files));
        sample.machine = machine::sample(files, &self.net);
        if let Some(wanted) = &self.wanted
            && !matches!(wanted, ListenerQuery::Path(_) | ListenerQuery::Datagrams(_))
        {
            let sockets = listening(files, &self.net, wanted);
            sample.accept_queue = sockets.iter().map(|socket| socket.queued).sum();
            let most = || files.text("/proc/sys/net/core/somaxconn").ok().and_then(|text| text.trim().parse().ok());
            let room = || sockets.iter().map(|socket| socket.room).sum::<Option<u64>>().filter(|room| *room > 0).or_else(most);
            sample.accept_queue_max = sample.accept_queue.and_then(|_| room());
        }
        let uptime = files.text("/proc/uptime").ok().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        sample.newest_ticks = uptime.map_or(u64::MAX, |seconds| (seconds * process::TICKS_PER_SECOND) as u64);
        sample
    }

    fn processes_into(&mut self, files: &dyn Files, sample: &mut Sample) {
        let mut threads_left = THREADS_MAX;
        for identity in &self.family {
            if sample.processes.contains_key(identity) {
                continue;
            }
            let Ok(seen) = process::sample(files, identity.pid, threads_left) else { continue };
            // The number may belong to another process by now; and one that has ended and was not asked how has nothing more.
            if seen.stat.began_ticks != identity.began_ticks || seen.stat.zombie {
                continue;
            }
            if seen.stat.threads as usize > threads_left && self.told.insert(OnceNote::ManyThreads) {
                self.warnings.push(format!(
                    "the server has more than {THREADS_MAX} threads: figures of threads, waiting and switches are those of the first {THREADS_MAX}"
                ));
            }
            // How many files are open, kernels since 6.2 tell everybody.
            let hidden = match (seen.files.is_none(), seen.denied || seen.read_bytes.is_none()) {
                (true, true) => Some("open files and storage"),
                (false, true) if seen.denied => Some("the reads and writes"),
                _ => None,
            };
            if let Some(what) = hidden
                && self.told.insert(OnceNote::NotPermitted)
            {
                self.warnings.push(format!(
                    "{what} of {} ({}) are not known: it belongs to another user; run loadline as that user or as root",
                    seen.stat.name, identity.pid
                ));
            }
            threads_left = threads_left.saturating_sub(seen.by_thread.len());
            sample.processes.insert(*identity, seen);
        }
    }

    /// Somebody is gone: who is there now?
    fn missed(&mut self, files: &dyn Files, at: Nanos, were_there: bool, sample: &mut Sample) {
        let all = Population::of(files);
        self.gather(files, &all);
        if self.family.is_empty() {
            if were_there {
                self.warnings.push(format!("the server's process ended after {}: {}", seconds(at), self.about));
            }
            if let Some(wanted) = self.wanted.clone()
                && let Ok((heads, holding)) = Self::search(files, &wanted, &all)
            {
                self.members = Members::Trees(heads);
                self.listeners.extend(holding);
                self.net = "/proc/net".to_owned();
                self.cgroup = None;
                self.gather(files, &all);
                if !self.family.is_empty() {
                    let now = self.words(&all);
                    self.warnings.push(format!("another process listened there after {}: {now}; it is watched from then on", seconds(at)));
                    self.about = now;
                }
            }
        }
        self.processes_into(files, sample);
    }
}

/// Heads of trees that are named one by one.
const HEADS_SHOWN: usize = 3;

fn seconds(at: Nanos) -> String {
    format!("{:.0} s of watching", at.as_secs_f64())
}

/// What is asked of a machine over a wire, as patterns of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patterns {
    /// Files that are read whole.
    pub texts: Vec<String>,
    /// Tables of sockets, of which those that listen are wanted.
    pub tables: Vec<String>,
    /// Folders whose names are counted.
    pub counts: Vec<String>,
}

const MACHINE_FILES: &[&str] = &[
    "/proc/stat",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/diskstats",
    "/proc/uptime",
    "/proc/pressure/*",
    "/proc/sys/net/core/somaxconn",
    "/proc/sys/net/netfilter/nf_conntrack_count",
    "/proc/sys/net/netfilter/nf_conntrack_max",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::RecordedFiles;

    fn machine() -> RecordedFiles {
        let mut told = RecordedFiles::default();
        told.add_lines(machine::RECORDED);
        told.add_text("/proc/uptime", "100.00 50.0\n");
        told.add_text(
            "/proc/net/tcp",
            "  sl  local_address\n   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000  1000        0 501 1 0 100 0 0 10 0\n",
        );
        told.add_text("/proc/sys/net/core/somaxconn", "4096\n");
        add(&mut told, 10, 1, "gunicorn", 100);
        add(&mut told, 11, 10, "gunicorn", 101);
        told.add_links("/proc/10/fd:\nx 3 -> socket:[501]\n/proc/11/fd:\nx 3 -> socket:[501]\n");
        told
    }

    fn add(told: &mut RecordedFiles, pid: Pid, parent: Pid, name: &str, began: u64) {
        told.add_text(
            format!("/proc/{pid}/stat"),
            format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 7 2 0 0 20 0 1 0 {began} 0 0 0\n"),
        );
        told.add_text(format!("/proc/{pid}/status"), format!("Name:\t{name}\nVmRSS:\t   100 kB\nvoluntary_ctxt_switches:\t3\n"));
        told.add_text(format!("/proc/{pid}/task/{pid}/schedstat"), "5 6 7\n");
        told.add_text(format!("/proc/{pid}/task/{pid}/status"), format!("Name:\t{name}\n"));
        told.add_text(format!("/proc/{pid}/limits"), "Max open files            1024                 4096                 files     \n");
    }

    fn wanted() -> ListenerQuery {
        ListenerQuery::Addresses(vec!["127.0.0.1:8080".parse().unwrap()])
    }

    #[test]
    fn who_listens_is_named_with_its_workers() {
        let told = machine();
        let mut subject = Subject::listening(&told, wanted(), None).unwrap();
        assert_eq!(subject.about(), "gunicorn (10) and one more process");
        assert_eq!(subject.processes().iter().map(|it| (it.pid, it.listens)).collect::<Vec<_>>(), [(10, true), (11, true)]);
        let seen = subject.look(&told, Nanos::SECOND);
        assert_eq!((seen.processes.len(), seen.accept_queue, seen.accept_queue_max), (2, Some(3), Some(4096)));
        assert_eq!(seen.files_max.values().copied().collect::<Vec<_>>(), [1024, 1024]);
    }

    #[test]
    fn a_server_that_ends_is_told_once_and_another_in_its_place_is_watched() {
        let mut told = machine();
        let mut subject = Subject::listening(&told, wanted(), None).unwrap();
        subject.look(&told, Nanos::ZERO);
        told.forget(10);
        told.forget(11);
        assert!(subject.look(&told, Nanos::from_secs(3)).processes.is_empty());
        subject.look(&told, Nanos::from_secs(4));
        assert_eq!(subject.warnings(), ["the server's process ended after 3 s of watching: gunicorn (10) and one more process"]);
        add(&mut told, 20, 1, "gunicorn", 900);
        told.add_links("/proc/20/fd:\nx 3 -> socket:[501]\n");
        assert_eq!(subject.look(&told, Nanos::from_secs(5)).processes.len(), 1);
        assert_eq!(subject.warnings(), ["another process listened there after 5 s of watching: gunicorn (20); it is watched from then on"]);
    }

    #[test]
    fn the_end_of_a_server_is_told_at_whichever_look_it_is_missed() {
        for looks in 0..2 * u64::from(LOOKS_A_TREE) {
            let mut told = machine();
            let mut subject = Subject::of_process(&told, 11, None).unwrap();
            (0..looks).for_each(|second| drop(subject.look(&told, Nanos::from_secs(second))));
            told.forget(11);
            subject.look(&told, Nanos::from_secs(looks));
            subject.look(&told, Nanos::from_secs(looks + 1));
            assert_eq!(subject.warnings(), [format!("the server's process ended after {looks} s of watching: gunicorn (11)")]);
        }
    }

    #[test]
    fn a_number_that_another_process_has_now_is_not_the_server() {
        let mut told = machine();
        let mut subject = Subject::of_process(&told, 11, None).unwrap();
        assert_eq!(subject.look(&told, Nanos::ZERO).processes.len(), 1);
        add(&mut told, 11, 1, "vim", 5_000);
        assert!(subject.look(&told, Nanos::SECOND).processes.is_empty());
        assert_eq!(subject.warnings(), ["the server's process ended after 1 s of watching: gunicorn (11)"]);
    }

    #[test]
    fn a_worker_that_is_replaced_is_no_news() {
        let mut told = machine();
        let mut subject = Subject::listening(&told, wanted(), None).unwrap();
        subject.look(&told, Nanos::ZERO);
        told.forget(11);
        add(&mut told, 12, 10, "gunicorn", 700);
        let seen = subject.look(&told, Nanos::SECOND);
        assert_eq!(seen.processes.keys().map(|it| it.pid).collect::<Vec<_>>(), [10, 12]);
        assert_eq!(subject.warnings().iter().filter(|it| it.contains("ended")).count(), 0);
    }

    #[test]
    fn nobody_there_is_an_error_that_says_what_to_do() {
        let told = machine();
        let error = Subject::listening(&told, ListenerQuery::Port(81), None).unwrap_err();
        assert!(error.message.contains("port 81") && error.help.marked().contains("container:ID"), "{error:?}");
        assert!(Subject::of_process(&told, 99, None).unwrap_err().message.contains("no process 99"));
        assert!(Subject::in_cgroup(&told, "no/such").unwrap_err().message.contains("no/such"));
        assert!(Subject::container(&told, "0123456789ab").is_err());
    }

    #[test]
    fn what_may_not_be_read_is_told_once() {
        let told = machine();
        let mut subject = Subject::of_process(&told, 11, None).unwrap();
        let mut without = told.clone();
        without.forget(11);
        add(&mut without, 11, 10, "gunicorn", 101);
        subject.look(&without, Nanos::ZERO);
        subject.look(&without, Nanos::SECOND);
        let warnings = subject.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("another user"));
    }
}
