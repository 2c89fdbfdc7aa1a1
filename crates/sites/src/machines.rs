//! Other machines: those of a fleet, and those at the other end of an SSH connection, where nothing is installed and nothing stays but a
//! file in a cache.
//!
//! For these the user's own ssh is called, which brings its names, keys and jump hosts along. The program is looked for in a cache folder of that
//! machine, by the checksum of its bytes, and is copied there where it is missing: so both ends are the same program, whatever its
//! version. Its whole life is that of the connection.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use engine::{Fence, RemoteMessages, RunError, RunErrorKind, Sites, Stop, Terms};
use plan::setting::{AGENTS, ALLOW_TARGET, PROCESSES};
use plan::{Part, Plan, SshHost, Target};

use crate::commander::Commander;
use crate::frames::{FILES_BYTES_MAX, Greeting};
use crate::link::{CANNOT_RUN, Call, CalledProgram, Delivery, IS_MISSING, told_apart};
use crate::outgoing::Sendable;
use crate::words::first_of;

/// Machines that were called, and what each greeted with.
#[derive(Debug)]
pub struct Machines {
    calls: Vec<Call>,
    greetings: Vec<Greeting>,
    commander: Commander,
    may_reach: MayReach,
    /// Whether each has as many threads as any other, however many cores it has.
    is_even: bool,
}

/// Whether patterns may let load go to a target: no where they do not, wherever its name leads.
pub type MayReach = fn(&[String], &Target) -> bool;

impl Machines {
    /// Calls all of them. `may_reach` reads the patterns of those who say where load may go.
    ///
    /// # Errors
    /// If a machine cannot be reached, is busy, has no place for the program or cannot run it.
    pub fn call(mut calls: Vec<Call>, may_reach: MayReach) -> Result<Self, RunError> {
        tell_apart(&mut calls);
        let commander = Commander::default();
        let greetings = commander.call(&calls)?;
        Ok(Self { calls, greetings, commander, may_reach, is_even: false })
    }

    /// The same, with as many threads, and as many users, on each of them.
    #[must_use]
    pub fn evenly(self) -> Self {
        Self { is_even: true, ..self }
    }

    /// How many they are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.calls.len() as u32
    }

    /// The cores of all of them.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.greetings.iter().fold(0, |sum, greeting| sum.saturating_add(greeting.cores))
    }

    /// How many connections all of them may have open at once.
    #[must_use]
    pub fn connections_max(&self) -> u32 {
        self.greetings.iter().fold(0, |sum, greeting| sum.saturating_add(greeting.connections_max))
    }
}

/// Why processes of this machine are no part of a load that comes from others, and what to do.
#[must_use]
pub fn own_processes(processes: impl fmt::Display) -> (String, String) {
    (format!("{processes} processes are of this machine, and the load comes from others"), format!("leave {PROCESSES} out"))
}

impl Sites for Machines {
    /// As many threads on each as its cores are of all, or as on the others.
    fn divide(&self, plan: &Plan) -> Result<Vec<Vec<Part>>, RunError> {
        if let Some(processes) = plan.processes() {
            let (why, help) = own_processes(processes);
            return Err(RunError::input(why, help));
        }
        check_files(plan)?;
        let cores: Vec<u32> = self.greetings.iter().map(|greeting| greeting.cores.max(1)).collect();
        let groups = if self.is_even { dealt(plan.parts(), cores.len()) } else { divided(plan.parts(), &cores) };
        for (call, (greeting, group)) in self.calls.iter().zip(self.greetings.iter().zip(&groups)) {
            let (connections, most) = (plan.open_connections_of(group), u64::from(greeting.connections_max));
            if connections > most {
                return Err(RunError::input(
                    format!("{} has {connections} of the connections, and may open {most}", call.name),
                    format!("raise its limit on open files (ulimit -n {}), or name more machines", (connections + 64).next_power_of_two()),
                ));
            }
        }
        Ok(groups)
    }

    fn are_here(&self) -> bool {
        false
    }

    fn reach(&self, target: &Target, fence: &Fence) -> Result<(), RunError> {
        let refused = |message: String, help: String| Err(RunError { kind: RunErrorKind::Refused, ..RunError::input(message, help) });
        let server = target.authority();
        if !(self.may_reach)(fence.patterns(), target) {
            return refused(format!("load may not be sent to {server}"), fence.help().to_owned());
        }
        let outside = self.calls.iter().filter(|call| !(self.may_reach)(&call.allowed, target));
        let outside: Vec<String> =
            outside.map(|call| format!("{} (its owner allows {})", call.name, first_of(&call.allowed, ", "))).collect();
        if outside.is_empty() {
            return Ok(());
        }
        let help = format!("let their owners start them with {ALLOW_TARGET:#} {server}, or name others with {AGENTS}");
        refused(format!("load may not go to {server} from {}", first_of(&outside, ", ")), help)
    }

    fn start(&self, plan: &Plan, groups: &[Vec<Part>], terms: Terms<'_>, stop: &Stop) -> Result<RemoteMessages, RunError> {
        self.commander.start(&self.calls, (plan, groups), terms, stop)
    }
}

/// Gives those that are called alike a number, wherever each is from.
pub(crate) fn tell_apart(calls: &mut [Call]) {
    let names = told_apart(&calls.iter().map(|call| &*call.name).collect::<Vec<_>>());
    calls.iter_mut().zip(names).for_each(|(call, name)| call.name = name);
}

/// Whether the files of a plan find room on other machines.
fn check_files(plan: &Plan) -> Result<(), RunError> {
    let mut files: Vec<(&str, Sendable)> = Vec::new();
    for (path, file) in Sendable::of_plan(plan, true) {
        if !files.iter().any(|(_, known)| known.is_same(&file)) {
            files.push((path, file));
        }
    }
    let mut lengths = Vec::new();
    for (path, file) in files {
        let unreadable =
            |why: io::Error| RunError::input(format!("the file {path} cannot be read: {}", plan::plainly(&why)), "check the path");
        lengths.push((file.length().map_err(unreadable)?, path));
    }
    let all: u64 = lengths.iter().map(|(length, _)| length).sum();
    if all <= FILES_BYTES_MAX {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let (largest, path) = lengths.into_iter().max().unwrap_or_default();
    Err(RunError::input(
        format!(
            "the files of this load have {} MiB, of which {path} has {}, and other machines take {}",
            mib(all),
            mib(largest),
            mib(FILES_BYTES_MAX)
        ),
        format!("give fewer rows, or leave {AGENTS} out, so that the load is sent from this machine, which reads them while it sends"),
    ))
}

/// What machines are called: as their hosts, with a number where one is named several times.
#[must_use]
pub fn names_of(hosts: &[SshHost]) -> Vec<String> {
    told_apart(&hosts.iter().map(|host| &*host.to).collect::<Vec<_>>())
}

/// How the program serves as a site on each of these machines over ssh, and is copied there first where it is missing. `ssh` is how ssh is
/// called; `program` is the file of a loadline that runs there, and `sum` its SHA-256 in hexadecimal.
#[must_use]
pub fn over_ssh(hosts: &[SshHost], ssh: &Path, program: (&Path, &str)) -> Vec<Call> {
    calls(hosts, ssh, program, "agent --stdio")
}

/// How the program is called on each of these machines with these words of `sh`, and brought there.
pub(crate) fn calls(hosts: &[SshHost], ssh: &Path, (program, sum): (&Path, &str), words: &str) -> Vec<Call> {
    let called = |host: &SshHost, script: &str| -> Vec<OsString> {
        [ssh.as_os_str().to_owned()].into_iter().chain(host.words(script).into_iter().map(OsString::from)).collect()
    };
    let call = |host: &SshHost| Call {
        name: host.to.clone(),
        way: Arc::new(CalledProgram {
            command: called(host, &start_script(sum, words)),
            delivery: Some(Delivery { command: called(host, &copy_script(sum)), file: program.to_owned() }),
        }),
        allowed: Vec::new(),
        is_here: false,
        help: host.by_hand(),
    };
    hosts.iter().map(call).collect()
}

/// The parts by machine: of each population's threads as many as the machine has of all cores.
fn divided(parts: Vec<Part>, cores: &[u32]) -> Vec<Vec<Part>> {
    let all: u64 = cores.iter().copied().map(u64::from).sum();
    let mut groups = vec![Vec::new(); cores.len()];
    for part in parts {
        let mut place = u64::from(part.share.index()) * all / u64::from(part.share.of());
        let machine = cores.iter().position(|cores| {
            let is_here = place < u64::from(*cores);
            place = place.saturating_sub(u64::from(*cores));
            is_here
        });
        groups[machine.unwrap_or(0)].push(part);
    }
    groups
}

/// The parts by machine, to one after the other: so they have the same numbers of users where these, and the threads of each population,
/// can be divided.
fn dealt(parts: Vec<Part>, machines: usize) -> Vec<Vec<Part>> {
    let mut groups = vec![Vec::new(); machines];
    parts.into_iter().for_each(|part| groups[part.share.index() as usize % machines].push(part));
    groups
}

/// Where the program of this checksum is, in words of `sh`.
fn place_of(sum: &str) -> String {
    format!("d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/loadline\"; f=\"$d/agent-{}\"", &sum[..32])
}

/// Runs the program with these words, or says that it is missing, or none for this machine. Some shells take what they cannot run for a script.
fn start_script(sum: &str, words: &str) -> String {
    format!(
        "{}; [ -x \"$f\" ] || exit {IS_MISSING}; \"$f\" --version >/dev/null 2>&1 || exit {CANNOT_RUN}; exec \"$f\" {words}",
        place_of(sum)
    )
}

/// Takes the program on standard input. It gets its name when it is whole, and those that are a month old go.
fn copy_script(sum: &str) -> String {
    format!(
        "{}; set -e; mkdir -p \"$d\"; t=\"$f.$$\"; trap \"rm -f \\\"$t\\\"\" EXIT; cat > \"$t\"; \
         [ \"$(sha256sum < \"$t\" | cut -c1-64)\" = {sum} ]; chmod 700 \"$t\"; find \"$d\" -name \"agent-*\" -mtime +30 -delete; mv \"$t\" \"$f\"",
        place_of(sum)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Draft, Share};

    fn plan(threads: u32) -> Plan {
        let draft = Draft { url: Some("http://a.test/".to_owned()), connections: "1000".parse().ok(), ..Draft::default() };
        Plan::try_from(Draft { threads: threads.to_string().parse().ok(), ..draft }).unwrap()
    }

    #[test]
    fn machines_of_several_places_that_are_called_alike_have_numbers() {
        let host = |text: &str| SshHost::read(text).unwrap();
        let sum = "0".repeat(64);
        let at =
            |names: &[&str]| over_ssh(&names.iter().map(|name| host(name)).collect::<Vec<_>>(), Path::new("ssh"), (Path::new("x"), &sum));
        let mut calls = at(&["eu-1", "eu-2"]);
        calls.extend(at(&["eu-1", "eu-3"]));
        tell_apart(&mut calls);
        let names: Vec<&str> = calls.iter().map(|call| &*call.name).collect();
        assert_eq!(names, ["eu-1 (1)", "eu-2", "eu-1 (2)", "eu-3"]);
    }

    #[derive(Debug)]
    struct OfLength(u64);

    impl plan::LargeFile for OfLength {
        fn length(&self) -> io::Result<u64> {
            Ok(self.0)
        }

        fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
            let read = usize::try_from(self.0.saturating_sub(offset)).unwrap().min(into.len());
            into[..read].fill(1);
            Ok(read)
        }
    }

    #[test]
    fn files_beyond_what_machines_take_are_told_before_anything_is_sent_and_the_same_counts_once() {
        let with = |files: &[(&str, u64)]| {
            let draft = Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() };
            let mut resolved = plan::Resolved::from(draft);
            resolved.contents.insert("small.txt", *b"small");
            files.iter().for_each(|(path, length)| resolved.contents.insert_large(path, Arc::new(OfLength(*length))));
            check_files(&Plan::try_from(resolved).unwrap())
        };
        assert!(with(&[("a.csv", FILES_BYTES_MAX - 5)]).is_ok());
        assert!(with(&[("a.csv", FILES_BYTES_MAX - (1 << 20)), ("b.csv", 4 << 20), ("c.csv", 4 << 20)]).is_err());
        assert!(with(&[("a.csv", FILES_BYTES_MAX - (5 << 20)), ("b.csv", 4 << 20), ("c.csv", 4 << 20)]).is_ok());
        let error = with(&[("a.csv", FILES_BYTES_MAX), ("b.csv", 3 << 20)]).unwrap_err();
        let expected = "the files of this load have 1028 MiB, of which a.csv has 1024, and other machines take 1024";
        assert_eq!(error.message, expected.into());
    }

    #[test]
    fn machines_that_are_dealt_threads_have_the_same_numbers_of_users() {
        let users = |threads: u32, machines: usize, users: u64| -> Vec<u64> {
            let groups = dealt(plan(threads).parts(), machines);
            groups.iter().map(|group| group.iter().map(|part| part.share.part(users)).sum()).collect()
        };
        assert_eq!(users(8, 2, 10), [5, 5]);
        assert_eq!(users(6, 3, 21), [7, 7, 7]);
        assert_eq!(users(2, 2, 2), [1, 1]);
    }

    #[test]
    fn threads_are_divided_as_cores_are_and_each_once() {
        let sizes = |threads: u32, cores: &[u32]| -> Vec<usize> {
            let groups = divided(plan(threads).parts(), cores);
            let mut shares: Vec<Share> = groups.iter().flatten().map(|part| part.of_run).collect();
            shares.sort_by_key(|share| share.index());
            assert!(shares.into_iter().eq(Share::all(threads.try_into().unwrap())));
            groups.iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(7, &[4, 2, 1]), [4, 2, 1]);
        assert_eq!(sizes(14, &[4, 2, 1]), [8, 4, 2]);
        assert_eq!(sizes(4, &[1, 1]), [2, 2]);
        assert_eq!(sizes(3, &[1, 1]), [2, 1]);
        assert_eq!(sizes(1, &[1, 1]), [1, 0]);
        for machines in 1..=50 {
            assert!(sizes(machines, &vec![1; machines as usize]).into_iter().all(|threads| threads == 1));
        }
    }
}
