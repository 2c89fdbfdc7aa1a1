//! `--agents`: the machines that a load comes from, if it is not this one: over ssh, or those of a fleet.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Args};
use engine::{RunError, Runner};
use measure::Summary;
use plan::setting::{AGENT_BINARY, AGENTS};
use plan::{PlanError, PlanErrors, SshHost};
use resolve::Reader;
use sites::{FleetAddress, Machines};

use crate::exit::Failed;
use crate::nats::{self, NatsArgs};
use crate::workload;

/// Where the load comes from.
#[derive(Debug, Args)]
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

/// A place that load comes from.
enum Origin {
    Ssh(SshHost),
    Fleet(FleetAddress),
}

impl AgentsArgs {
    /// Where loads are carried out. Machines are called now, since how much they carry is part of every plan; `reader` learns of it. Every
    /// mistake goes to `errors`, and nobody is called where there was one before.
    ///
    /// # Errors
    /// If a machine cannot be called.
    pub fn runner(&self, reader: &Reader, errors: &mut PlanErrors) -> Result<Runner, Failed> {
        let origins: Vec<Origin> = self.agents.iter().filter_map(|text| read(text, errors)).collect();
        let access = self.nats.access(errors);
        if self.agents.is_empty() {
            if self.agent_binary.is_some() {
                errors.push(PlanError::new(
                    AGENT_BINARY,
                    format!("{AGENT_BINARY} is about other machines, and there is none"),
                    format!("name them with {AGENTS}"),
                ));
            }
            return Ok(workload::runner());
        }
        if !errors.is_empty() {
            return Ok(workload::runner());
        }
        let (mut hosts, mut calls) = (Vec::new(), Vec::new());
        for origin in origins {
            match origin {
                Origin::Ssh(host) => hosts.push(host),
                Origin::Fleet(address) => {
                    let connection = nats::connect(&address, &access)?;
                    calls.extend(sites::agents_of(&connection, &address, &nats::who()).map_err(Failed::from)?);
                }
            }
        }
        if !hosts.is_empty() {
            let program = self.agent_binary.clone().unwrap_or_else(workload::program);
            let bytes = std::fs::read(&program).map_err(|why| {
                let message = format!("the program '{}' cannot be read: {}", program.display(), plan::plainly(&why));
                Failed::from(RunError::<Summary>::input(message, "give the file of a loadline"))
            })?;
            let sum = resolve::fingerprint(&bytes);
            drop(bytes);
            calls.splice(0..0, sites::over_ssh(&hosts, Path::new("ssh"), (&program, &sum)));
        }
        let machines = Machines::call(calls).map_err(Failed::from)?;
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

fn read(text: &str, errors: &mut PlanErrors) -> Option<Origin> {
    if text.starts_with("nats:") || text.starts_with("tls:") {
        return nats::address(AGENTS, text, errors).map(Origin::Fleet);
    }
    let host = text.strip_prefix("ssh:").and_then(SshHost::read);
    if host.is_none() {
        errors.push(PlanError::new(
            AGENTS,
            format!("{AGENTS:#} '{text}' is no machine"),
            "write ssh:[USER@]HOST[:PORT], such as ssh:me@10.0.0.5, or nats://HOST:PORT/GROUP, with commas between several",
        ));
    }
    host.map(Origin::Ssh)
}
