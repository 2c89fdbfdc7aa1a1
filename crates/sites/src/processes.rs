//! Processes of this machine: as many as a load needs because one may open only so many files, or as many as somebody wants.

use std::ffi::OsString;
use std::sync::Arc;

use engine::{Message, RemoteMessages, RunError, Sites, Stop, Terms, machine};
use plan::setting::THREADS;
use plan::{Part, Plan};

use crate::commander::Commander;
use crate::link::{Call, CalledProgram};

/// Further processes of a program on this machine.
#[derive(Debug, Clone)]
pub struct Processes {
    /// The program and the words with which it serves as a site.
    command: Vec<OsString>,
    commander: Commander,
}

impl Processes {
    /// Processes that are called by these words.
    #[must_use]
    pub fn new(command: Vec<OsString>) -> Self {
        Self { command, commander: Commander::default() }
    }

    fn calls(&self, count: usize) -> Vec<Call> {
        let call = |number: usize| Call {
            name: format!("process {number}"),
            way: Arc::new(CalledProgram { command: self.command.clone(), delivery: None }),
            allowed: Vec::new(),
            is_here: true,
            help: "see what ended it: its last words, memory, limits on processes".to_owned(),
        };
        (1..=count).map(call).collect()
    }
}

impl Sites for Processes {
    fn divide(&self, plan: &Plan) -> Result<Vec<Vec<Part>>, RunError> {
        let parts = plan.parts();
        let connections_max = machine::connections_max().get().into();
        let largest = parts.iter().map(|part| plan.open_connections_of(&[*part])).max().unwrap_or(0);
        if largest > connections_max && parts.len() > 1 {
            return Err(RunError::input(
                format!("a thread would have {largest} connections, and a process may open {connections_max}: too few threads"),
                format!("give at least {THREADS:#} {}, or leave {THREADS} out", plan.open_connections_max().div_ceil(connections_max)),
            ));
        }
        let wanted = plan.processes().map_or(1, |processes| processes.get() as usize).min(parts.len());
        let groups = divided(plan, parts, wanted, connections_max);
        if groups.len() < 2 {
            return Ok(Vec::new());
        }
        check_memory(plan, machine::machine().memory_bytes)?;
        Ok(groups)
    }

    fn are_here(&self) -> bool {
        true
    }

    fn start(&self, plan: &Plan, groups: &[Vec<Part>], terms: Terms<'_>, stop: &Stop) -> Result<RemoteMessages, RunError> {
        let messages = self.commander.start(&self.calls(groups.len()), (plan, groups), terms, stop)?;
        let files = machine::raise_files_limit();
        let is_more = plan.processes().is_none_or(|wanted| (wanted.get() as usize) < groups.len());
        let mut why = is_more.then(|| format!("the load comes from {} processes: one may open {files} files", groups.len()));
        Ok(Box::new(messages.map(move |message| match message {
            Message::Site(mut site) => {
                site.warnings.splice(0..0, why.take());
                Message::Site(site)
            }
            other => other,
        })))
    }
}

/// What a connection takes at the least, in the kernel and here; measured with a million: 5.7 KB on each end.
const CONNECTION_BYTES: u64 = 4 << 10;

/// Whether the machine has memory for all connections of a plan that takes several processes.
fn check_memory(plan: &Plan, memory_bytes: u64) -> Result<(), RunError> {
    let connections = plan.open_connections_max();
    let needed = connections.saturating_mul(CONNECTION_BYTES);
    if needed <= memory_bytes || memory_bytes == 0 {
        return Ok(());
    }
    let gib = |bytes: u64| bytes.div_ceil(1 << 30);
    Err(RunError::input(
        format!("{connections} connections take at least {} GiB of memory, and this machine has {}", gib(needed), gib(memory_bytes)),
        format!("ask for at most {} of them here", memory_bytes / CONNECTION_BYTES),
    ))
}

/// The parts in at least so many groups, in their order, each with no more connections than one process may have. A part that is too
/// large by itself stays so.
fn divided(plan: &Plan, parts: Vec<Part>, groups_min: usize, connections_max: u64) -> Vec<Vec<Part>> {
    let all = parts.len();
    let mut groups: Vec<Vec<Part>> = Vec::new();
    let mut open = 0;
    for (number, part) in parts.into_iter().enumerate() {
        let connections = plan.open_connections_of(&[part]);
        // The first part of the next of equal groups.
        let is_next = number * groups_min / all != number.saturating_sub(1) * groups_min / all;
        match groups.last_mut() {
            Some(group) if !is_next && open + connections <= connections_max => {
                group.push(part);
                open += connections;
            }
            _ => {
                groups.push(vec![part]);
                open = connections;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Draft;

    fn plan(connections: u32, threads: u32) -> Plan {
        let draft = Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() };
        Plan::try_from(Draft { connections: connections.to_string().parse().ok(), threads: threads.to_string().parse().ok(), ..draft })
            .unwrap()
    }

    fn sizes(connections: u32, threads: u32, groups_min: usize, connections_max: u64) -> Vec<(usize, u64)> {
        let plan = plan(connections, threads);
        let groups = divided(&plan, plan.parts(), groups_min, connections_max);
        let numbers: Vec<u32> = groups.iter().flatten().map(|part| part.of_run.index()).collect();
        assert!(numbers.into_iter().eq(0..threads), "each part once, in order");
        groups.iter().map(|group| (group.len(), plan.open_connections_of(group))).collect()
    }

    #[test]
    fn more_connections_than_memory_are_refused_with_the_arithmetic() {
        assert!(check_memory(&plan(100_000, 5), 1 << 30).is_ok());
        let error = check_memory(&plan(8_000_000, 400), 8 << 30).unwrap_err();
        assert_eq!(error.message, "8000000 connections take at least 31 GiB of memory, and this machine has 8".into());
        assert_eq!(error.help, "ask for at most 2097152 of them here".into());
    }

    #[test]
    fn processes_are_as_many_as_files_need_or_as_are_wanted() {
        assert_eq!(sizes(100, 4, 1, 1000), [(4, 100)]);
        assert_eq!(sizes(100, 4, 2, 1000), [(2, 50), (2, 50)]);
        assert_eq!(sizes(100, 5, 2, 1000), [(3, 60), (2, 40)]);
        assert_eq!(sizes(100, 4, 4, 1000).len(), 4);
        assert_eq!(sizes(100, 6, 1, 40), [(2, 34), (2, 34), (2, 32)]);
        assert_eq!(sizes(100, 2, 1, 40), [(1, 50), (1, 50)], "what is too large for a process is told by that process");
    }
}
