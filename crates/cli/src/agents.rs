//! `--agents`: the machines that a load comes from, if it is not this one: over ssh, or those of a fleet.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Args};
use engine::{Fence, RunError, Runner};
use plan::setting::{AGENT_BINARY, AGENTS, PROCESSES};
use plan::{Draft, PlanError, PlanErrors, SshHost};
use resolve::Reader;
use sites::{Access, FleetAddress, Machines, own_processes};

use crate::exit::Failed;
use crate::nats::{self, NatsArgs};
use crate::screen::complain;
use crate::{allowed, workload};

/// Where the load comes from.
#[derive(Debug, Default, Args)]
pub struct AgentsArgs {
    /// Send the load from these machines instead: ssh:me@10.0.0.5,ssh:eu-2 with nothing installed there, or the agents that wait at nats://HOST:4222/GROUP
    #[arg(long, value_name = "MACHINES", value_delimiter = ',', action = ArgAction::Append, help_heading = "Load")]
    agents: Vec<String>,

    /// The loadline that is copied to them, where another processor needs another one [default: this one]
    #[arg(long, value_name = "FILE", help_heading = "Load")]
    agent_binary: Option<PathBuf>,

    #[command(flatten)]
    nats: NatsArgs,
}

impl AgentsArgs {
    /// Where loads are carried out. Machines are called now, since how much they carry is part of every plan; `reader` learns of it. Every
    /// mistake goes to `errors`, and nobody is called where there was one before.
    ///
    /// # Errors
    /// If a machine cannot be called.
    pub fn runner(&self, draft: &Draft, reader: &Reader, errors: &mut PlanErrors) -> Result<Runner, Failed> {
        let agents = self.decide(draft, errors);
        if errors.is_empty() { agents.runner(reader) } else { Ok(workload::runner(&Fence::open())) }
    }

    /// These machines, as they are typed.
    pub fn of(agents: Vec<String>) -> Self {
        Self { agents, ..Self::default() }
    }

    /// The machines that are named for this load. Every mistake goes to `errors`.
    pub fn decide(&self, draft: &Draft, errors: &mut PlanErrors) -> Agents {
        if let Some(processes) = draft.processes.as_ref().filter(|_| self.are_named()) {
            let (why, help) = own_processes(processes);
            errors.push(PlanError::new(PROCESSES, why, help));
        }
        refuse_lone(&self.agents, self.agent_binary.as_deref(), errors);
        let (mut hosts, mut fleets) = (Vec::new(), Vec::new());
        for text in &self.agents {
            match read(text, errors) {
                Some(Origin::Ssh(host)) => hosts.push(host),
                Some(Origin::Fleet(address)) => fleets.push(address),
                None => {}
            }
        }
        Agents { hosts, fleets, access: self.nats.access(errors), binary: self.agent_binary.clone() }
    }

    /// Whether there are any.
    pub const fn are_named(&self) -> bool {
        !self.agents.is_empty()
    }
}

/// Machines that a load may come from, not called yet.
#[derive(Debug, Clone, Default)]
pub struct Agents {
    hosts: Vec<SshHost>,
    /// Those that wait at these NATS servers.
    fleets: Vec<FleetAddress>,
    /// What lets us in there.
    access: Access,
    /// The file of another loadline than this one that is copied to hosts.
    binary: Option<PathBuf>,
}

impl Agents {
    /// Whether there are none: the load comes from here.
    pub const fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.fleets.is_empty()
    }

    /// What they are called: hosts as in reports, fleets by their addresses, since who waits there is not known.
    pub fn names(&self) -> Vec<String> {
        let hosts = sites::names_of(&self.hosts).into_iter();
        hosts.chain(self.fleets.iter().map(FleetAddress::whole)).collect()
    }

    /// As they are typed, without what lets us in.
    pub fn typed(&self) -> String {
        let hosts = self.hosts.iter().map(ToString::to_string);
        hosts.chain(self.fleets.iter().map(FleetAddress::whole)).collect::<Vec<_>>().join(",")
    }

    /// Those of these names; all where nothing is said. A name that none of them has goes to `errors`.
    pub fn chosen(&self, chosen: Option<&[String]>, errors: &mut PlanErrors) -> Self {
        let Some(chosen) = chosen else { return self.clone() };
        let names = self.names();
        for unknown in chosen.iter().filter(|name| !names.contains(name)) {
            let help = match &names[..] {
                [] => "leave it out; whoever starts loadline serve names machines with --agents".to_owned(),
                names => format!("give some of {}, or [] for the machine that serves", names.join(", ")),
            };
            errors.push(PlanError::new(AGENTS, format!("{AGENTS:#} '{unknown}' is none of the machines that tests may come from"), help));
        }
        let is_chosen = |name: &String| chosen.contains(name);
        let hosts = self.hosts.iter().zip(&names).filter(|(_, name)| is_chosen(name)).map(|(host, _)| host.clone()).collect();
        let fleets = self.fleets.iter().filter(|address| is_chosen(&address.whole())).cloned().collect();
        Self { hosts, fleets, ..self.clone() }
    }

    /// The program that is copied to hosts, and its checksum; nothing where there are none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn program(&self) -> Result<Option<(PathBuf, String)>, RunError> {
        if self.hosts.is_empty() {
            return Ok(None);
        }
        program(self.binary.as_deref()).map(Some)
    }

    /// Where loads are carried out: on them, which are called now, or here where there are none. `reader` learns of how much they carry.
    ///
    /// # Errors
    /// If one cannot be called.
    pub fn runner(&self, reader: &Reader) -> Result<Runner, Failed> {
        if self.is_empty() {
            return Ok(workload::runner(&Fence::open()));
        }
        let machines = self.call()?;
        teach(reader, &machines);
        Ok(Runner::threads().with_sites(Arc::new(machines)))
    }

    /// Calls them.
    ///
    /// # Errors
    /// If one cannot be called.
    pub fn call(&self) -> Result<Machines, RunError> {
        let mut calls = match self.program()? {
            Some((program, sum)) => sites::over_ssh(&self.hosts, Path::new("ssh"), (&program, &sum)),
            None => Vec::new(),
        };
        // In one order for all who claim, and in that of the words here for all who read.
        let mut in_turn: Vec<usize> = (0..self.fleets.len()).collect();
        in_turn.sort_by_cached_key(|place| self.fleets[*place].turn());
        let mut had = BTreeMap::new();
        for place in in_turn {
            let address = &self.fleets[place];
            let connection = nats::connect(address, &self.access)?;
            let claims = sites::agents_of(&connection, address, &nats::who())?;
            for (name, why) in &claims.lost {
                complain(&format!("warning: {} does not take part: {}", report::visible(name), report::visible(why)));
            }
            had.insert(place, claims.calls);
        }
        calls.extend(had.into_values().flatten());
        Machines::call(calls, allowed::may_reach)
    }
}

/// Lets plans be decided for what these machines carry.
pub fn teach(reader: &Reader, machines: &Machines) {
    let number = |of: u32| NonZeroU32::new(of).unwrap_or(NonZeroU32::MIN);
    reader.learn_machines(number(machines.count()), number(machines.cores()), number(machines.connections_max()));
}

/// A place that load comes from.
enum Origin {
    Ssh(SshHost),
    Fleet(FleetAddress),
}

/// Notes that a program is named and nothing that it is copied to.
fn refuse_lone(agents: &[String], binary: Option<&Path>, errors: &mut PlanErrors) {
    if agents.is_empty() && binary.is_some() {
        errors.push(PlanError::new(
            AGENT_BINARY,
            format!("{AGENT_BINARY} is about other machines, and there is none"),
            format!("name them with {AGENTS}"),
        ));
    }
}

/// The machines of these names, each over ssh. Every mistake goes to `errors`.
pub fn hosts(agents: &[String], binary: Option<&Path>, errors: &mut PlanErrors) -> Vec<SshHost> {
    refuse_lone(agents, binary, errors);
    agents
        .iter()
        .filter_map(|text| read_host(text, "write ssh:[USER@]HOST[:PORT], such as ssh:me@10.0.0.5, with commas between several", errors))
        .collect()
}

/// The program that is copied to machines, and its checksum.
///
/// # Errors
/// If it cannot be read.
pub fn program(binary: Option<&Path>) -> Result<(PathBuf, String), RunError> {
    let program = binary.map_or_else(workload::program, Path::to_owned);
    let bytes = std::fs::read(&program).map_err(|why| {
        let message = format!("the program '{}' cannot be read: {}", program.display(), plan::plainly(&why));
        RunError::input(message, "give the file of a loadline")
    })?;
    let sum = resolve::fingerprint(&bytes);
    Ok((program, sum))
}

fn read(text: &str, errors: &mut PlanErrors) -> Option<Origin> {
    if text.starts_with("nats:") || text.starts_with("tls:") {
        return nats::address((AGENTS, &format!("{AGENTS:#}")), text, nats::FLEET, errors).map(Origin::Fleet);
    }
    let help = "write ssh:[USER@]HOST[:PORT], such as ssh:me@10.0.0.5, or nats://HOST:PORT/GROUP, with commas between several";
    read_host(text, help, errors).map(Origin::Ssh)
}

fn read_host(text: &str, help: &str, errors: &mut PlanErrors) -> Option<SshHost> {
    let host = text.strip_prefix("ssh:").and_then(SshHost::read);
    if host.is_none() {
        errors.push(PlanError::new(AGENTS, format!("{AGENTS:#} '{text}' is no machine"), help));
    }
    host
}
