//! From the processes that listen to everything that works for them.
//!
//! The one that listens is often not the one that computes: a master binds the port and its workers accept, or it accepts and hands
//! the connections on. So a server is a tree: whoever holds the socket, and all their descendants. Processes above the first holder
//! are left out, be it a shell, a supervisor or a container's init: what they do is not the server's work.
//!
//! Invariant: loadline itself, and what it started, is never part of a server, though the server may have started it.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::Files;
use crate::listener::pids;
use crate::process::{Pid, Stat};

/// Every process of a machine with its parent and its beginning.
#[derive(Debug, Clone, Default)]
pub struct Population {
    by_pid: BTreeMap<Pid, Stat>,
}

/// A process that is the same one as long as both agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// Its number.
    pub pid: Pid,
    /// When it began, in ticks since the machine did.
    pub began_ticks: u64,
}

impl Population {
    /// As of now.
    #[must_use]
    pub fn of(files: &dyn Files) -> Self {
        let stats = pids(files).into_iter().filter_map(|pid| Some((pid, Stat::of(files, pid).ok()?)));
        Self { by_pid: stats.filter(|(_, stat)| !stat.zombie).collect() }
    }

    /// What is known of a process.
    #[must_use]
    pub fn stat(&self, pid: Pid) -> Option<&Stat> {
        self.by_pid.get(&pid)
    }

    /// The process that has this number now.
    #[must_use]
    pub fn identity(&self, pid: Pid) -> Option<Identity> {
        self.stat(pid).map(|stat| Identity { pid, began_ticks: stat.began_ticks })
    }

    /// The heads of the trees that the holders of a socket make: those whose parent does not hold it.
    #[must_use]
    pub fn heads(&self, holders: &[Pid]) -> Vec<Identity> {
        let held: BTreeSet<Pid> = holders.iter().copied().collect();
        // The first process, and systemd for a user, hold a socket only to hand it over.
        let hands_over = |pid: &Pid| *pid == 1 || self.stat(*pid).is_some_and(|stat| stat.name == "systemd");
        let serving: BTreeSet<Pid> = held.iter().copied().filter(|pid| !hands_over(pid)).collect();
        let serving = if serving.is_empty() { held } else { serving };
        let is_head = |pid: &&Pid| self.stat(**pid).is_some_and(|stat| !serving.contains(&stat.parent));
        serving.iter().filter(is_head).filter_map(|pid| self.identity(*pid)).collect()
    }

    /// The heads and all their descendants, without `apart` and its own.
    #[must_use]
    pub fn family(&self, heads: &[Identity], apart: Option<Pid>) -> Vec<Identity> {
        let mut children: BTreeMap<Pid, Vec<Pid>> = BTreeMap::new();
        for (pid, stat) in &self.by_pid {
            children.entry(stat.parent).or_default().push(*pid);
        }
        let mut found = Vec::new();
        let mut seen: BTreeSet<Pid> = apart.into_iter().collect();
        let mut left: Vec<Pid> =
            heads.iter().rev().filter(|head| self.identity(head.pid).as_ref() == Some(head)).map(|head| head.pid).collect();
        while let Some(pid) = left.pop() {
            if seen.insert(pid) {
                found.extend(self.identity(pid));
                left.extend(children.get(&pid).into_iter().flatten().rev());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::RecordedFiles;

    fn machine(processes: &[(Pid, Pid, &str)]) -> Population {
        let mut told = RecordedFiles::default();
        for (pid, parent, name) in processes {
            told.add_text(
                format!("/proc/{pid}/stat"),
                format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 {} 0 0 0", pid * 10),
            );
        }
        Population::of(&told)
    }

    fn numbers(family: &[Identity]) -> Vec<Pid> {
        family.iter().map(|it| it.pid).collect()
    }

    #[test]
    fn a_master_and_its_workers_are_one_tree() {
        let all = machine(&[
            (1, 0, "init"),
            (5, 1, "sh"),
            (10, 5, "nginx"),
            (11, 10, "nginx"),
            (12, 10, "nginx"),
            (13, 12, "helper"),
            (20, 5, "db"),
        ]);
        let heads = all.heads(&[10, 11, 12]);
        assert_eq!(numbers(&heads), [10]);
        assert_eq!(numbers(&all.family(&heads, None)), [10, 11, 12, 13]);
    }

    #[test]
    fn workers_that_only_get_connections_handed_belong_to_it() {
        let all = machine(&[(1, 0, "init"), (10, 1, "PM2 God"), (11, 10, "node"), (12, 10, "node")]);
        assert_eq!(numbers(&all.family(&all.heads(&[10]), None)), [10, 11, 12]);
    }

    #[test]
    fn a_socket_that_systemd_keeps_does_not_make_the_whole_machine_a_server() {
        let all = machine(&[(1, 0, "systemd"), (10, 1, "app"), (30, 1, "cron")]);
        assert_eq!(numbers(&all.family(&all.heads(&[1, 10]), None)), [10]);
        assert_eq!(numbers(&all.heads(&[1])), [1], "who alone holds it is the server");
    }

    #[test]
    fn what_the_server_started_to_load_itself_is_left_out() {
        let all = machine(&[(1, 0, "init"), (10, 1, "harness"), (11, 10, "loadline"), (12, 11, "ssh"), (13, 10, "worker")]);
        assert_eq!(numbers(&all.family(&all.heads(&[10]), Some(11))), [10, 13]);
    }

    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let before = machine(&[(1, 0, "init"), (10, 1, "app")]);
        let heads = before.heads(&[10]);
        let mut told = RecordedFiles::default();
        told.add_text("/proc/10/stat", "10 (vim) S 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 999 0 0 0");
        assert!(Population::of(&told).family(&heads, None).is_empty());
    }

    #[test]
    fn a_circle_of_parents_has_an_end() {
        let all = machine(&[(10, 11, "a"), (11, 10, "b")]);
        let head = [all.identity(10).unwrap()];
        assert_eq!(numbers(&all.family(&head, None)), [10, 11]);
    }
}
