//! `--agents`: the machines that a load comes from, if it is not this one.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Args};
use engine::{RunError, Runner};
use measure::Summary;
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
        let hosts = hosts(&self.agents, self.agent_binary.as_deref(), errors);
        if hosts.is_empty() || !errors.is_empty() {
            return Ok(workload::runner());
        }
        let (program, sum) = program(self.agent_binary.as_deref())?;
        let machines = Machines::call(&hosts, Path::new("ssh"), (&program, &sum)).map_err(Failed::from)?;
        let number = |of: u32| NonZeroU32::new(of).unwrap_or(NonZeroU32::MIN);
        reader.learn_machines(number(machines.count()), number(machines.cores()), number(machines.connections_max()));
        Ok(Runner::threads().with_sites(Arc::new(machines)))
    }

    /// Notes that a load cannot come from other machines, and why.
    pub fn refuse(&self, why: &str, errors: &mut PlanErrors) {
        if !self.agents.is_empty() {
            errors.push(PlanError::new(AGENTS, format!("{AGENTS}: {why}"), "leave it out"));
        }
    }
}

/// The machines of these names.
pub fn hosts(agents: &[String], binary: Option<&Path>, errors: &mut PlanErrors) -> Vec<SshHost> {
    if agents.is_empty() && binary.is_some() {
        errors.push(PlanError::new(
            AGENT_BINARY,
            format!("{AGENT_BINARY} is about other machines, and there is none"),
            format!("name them with {AGENTS}"),
        ));
    }
    agents.iter().filter_map(|text| read(text, errors)).collect()
}

/// The program that is copied to machines, and its checksum.
///
/// # Errors
/// If it cannot be read.
pub fn program(binary: Option<&Path>) -> Result<(PathBuf, String), Failed> {
    let program = binary.map_or_else(workload::program, Path::to_owned);
    let bytes = std::fs::read(&program).map_err(|why| {
        let message = format!("the program '{}' cannot be read: {}", program.display(), plan::plainly(&why));
        Failed::from(RunError::<Summary>::input(message, "give the file of a loadline"))
    })?;
    let sum = resolve::fingerprint(&bytes);
    Ok((program, sum))
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
