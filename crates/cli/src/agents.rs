//! `--agents`: the machines that a load comes from, if it is not this one.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Args};
use engine::{Fence, RunError, Runner};
use plan::setting::{AGENT_BINARY, AGENTS};
use plan::{PlanError, PlanErrors, SshHost};
use resolve::Reader;
use sites::Machines;

use crate::exit::Failed;
use crate::workload;

/// Where the load comes from.
#[derive(Debug, Args)]
pub struct AgentsArgs {
    /// Send the load from these machines instead, by ssh and with nothing installed there, such as ssh:me@10.0.0.5,ssh:eu-2
    #[arg(long, value_name = "MACHINES", value_delimiter = ',', action = ArgAction::Append, help_heading = "Load")]
    agents: Vec<String>,

    /// The loadline that is copied to them, where another processor needs another one [default: this one]
    #[arg(long, value_name = "FILE", help_heading = "Load")]
    agent_binary: Option<PathBuf>,
}

impl AgentsArgs {
    /// Where loads are carried out. Machines are called now, since how much they carry is part of every plan; `reader` learns of it. Every
    /// mistake goes to `errors`, and nobody is called where there was one before.
    ///
    /// # Errors
    /// If a machine cannot be called.
    pub fn runner(&self, reader: &Reader, errors: &mut PlanErrors) -> Result<Runner, Failed> {
        let agents = self.decide(errors);
        if agents.is_empty() || !errors.is_empty() {
            return Ok(workload::runner(&Fence::open()));
        }
        let machines = agents.call()?;
        teach(reader, &machines);
        Ok(Runner::threads().with_sites(Arc::new(machines)))
    }

    /// The machines that are named. Every mistake goes to `errors`.
    pub fn decide(&self, errors: &mut PlanErrors) -> Agents {
        if let (true, Some(_)) = (self.agents.is_empty(), &self.agent_binary) {
            errors.push(PlanError::new(
                AGENT_BINARY,
                format!("{AGENT_BINARY} is about other machines, and there is none"),
                format!("name them with {AGENTS}"),
            ));
        }
        let hosts = self.agents.iter().filter_map(|text| read(text, errors)).collect();
        Agents { hosts, binary: self.agent_binary.clone() }
    }

    /// Whether there are any.
    pub const fn are_named(&self) -> bool {
        !self.agents.is_empty()
    }

    /// Notes that a load cannot come from other machines, and why.
    pub fn refuse(&self, why: &str, errors: &mut PlanErrors) {
        if !self.agents.is_empty() {
            errors.push(PlanError::new(AGENTS, format!("{AGENTS}: {why}"), "leave it out"));
        }
    }
}

/// Machines that a load may come from, not called yet.
#[derive(Debug, Clone, Default)]
pub struct Agents {
    hosts: Vec<SshHost>,
    /// The file of another loadline than this one that runs there.
    binary: Option<PathBuf>,
}

impl Agents {
    /// Whether there are none: the load comes from here.
    pub const fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// What they are called, in reports too.
    pub fn names(&self) -> Vec<String> {
        self.hosts.iter().map(|host| Machines::name_of(host, &self.hosts)).collect()
    }

    /// As they are typed.
    pub fn typed(&self) -> String {
        self.hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
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
        let hosts = self.hosts.iter().zip(&names).filter(|(_, name)| chosen.contains(name)).map(|(host, _)| host.clone()).collect();
        Self { hosts, ..self.clone() }
    }

    /// The program that runs there, and its checksum.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn program(&self) -> Result<(PathBuf, String), RunError> {
        let program = self.binary.clone().unwrap_or_else(workload::program);
        let bytes = std::fs::read(&program).map_err(|why| {
            let message = format!("the program '{}' cannot be read: {}", program.display(), plan::plainly(&why));
            RunError::input(message, "give the file of a loadline")
        })?;
        Ok((program, resolve::fingerprint(&bytes)))
    }

    /// Calls them.
    ///
    /// # Errors
    /// If one cannot be called.
    pub fn call(&self) -> Result<Machines, RunError> {
        let (program, sum) = self.program()?;
        Machines::call(&self.hosts, Path::new("ssh"), (&program, &sum))
    }
}

/// Lets plans be decided for what these machines carry.
pub fn teach(reader: &Reader, machines: &Machines) {
    let number = |of: u32| NonZeroU32::new(of).unwrap_or(NonZeroU32::MIN);
    reader.learn_machines(number(machines.count()), number(machines.cores()), number(machines.connections_max()));
}

fn read(text: &str, errors: &mut PlanErrors) -> Option<SshHost> {
    let host = text.strip_prefix("ssh:").and_then(SshHost::read);
    if host.is_none() {
        errors.push(PlanError::new(
            AGENTS,
            format!("{AGENTS:#} '{text}' is no machine"),
            "write ssh:[USER@]HOST[:PORT], such as ssh:me@10.0.0.5, with commas between several",
        ));
    }
    host
}
