//! `--agents`: logs that other machines have, read there. What comes back is what was counted, and nothing of a line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};
use import::{PartError, SurveyPart};
use plan::setting::AGENTS;
use plan::{PlanError, PlanErrors, SshHost};
use sites::{Errand, ErrandError};

use super::part::PART_BYTES_MAX;
use crate::agents;
use crate::exit::{Exit, Failed};

/// The machines, as typed.
#[derive(Debug, Args)]
pub(super) struct MachinesArgs {
    /// Read these logs on each of these machines instead, by ssh and with nothing installed there, such as ssh:web1,ssh:me@web2; stars in names are
    /// of files there
    #[arg(long, value_name = "MACHINES", value_delimiter = ',', action = ArgAction::Append, help_heading = "Input")]
    agents: Vec<String>,

    /// The loadline that is copied to them, where another processor needs another one [default: this one]
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    agent_binary: Option<PathBuf>,
}

impl MachinesArgs {
    /// Whether logs are read on other machines.
    pub(super) fn are_wanted(&self) -> bool {
        !self.agents.is_empty()
    }

    /// The machines, each once; none where logs are read here.
    pub(super) fn hosts(&self, logs: &[String], errors: &mut PlanErrors) -> Vec<SshHost> {
        let hosts = agents::hosts(&self.agents, self.agent_binary.as_deref(), errors);
        for (number, host) in hosts.iter().enumerate() {
            if hosts[..number].contains(host) {
                errors.push(PlanError::new(
                    AGENTS,
                    format!("{AGENTS} names {host} twice, and its logs would be counted twice"),
                    "name each machine once",
                ));
            }
        }
        if self.are_wanted() && logs.iter().any(|log| log == "-") {
            errors.push(PlanError::new(
                "log",
                "standard input is of this machine, and logs are read on others",
                "give files that are there",
            ));
        }
        hosts
    }

    /// Has each machine read these of its logs, and puts together what they say. Users are counted by a key that is made for this one time.
    ///
    /// # Errors
    /// If any of them does not do it to the end, with every reason of each.
    pub(super) fn ask(&self, hosts: &[SshHost], reading: &[String], logs: &[String]) -> Result<SurveyPart, Failed> {
        let (program, sum) = agents::program(self.agent_binary.as_deref())?;
        let key = serve::random_text() + "\n";
        let fixed = ["traffic", "--attended", "--partial", "-", "--partial-key", "-"].map(str::to_owned);
        let words: Vec<String> = fixed.iter().chain(reading).chain([&"--".to_owned()]).chain(logs).cloned().collect();
        let errand = Errand { words: &words, input: key.as_bytes(), answer_bytes_max: PART_BYTES_MAX };
        let mut whole: Option<SurveyPart> = None;
        let mut failed: BTreeMap<usize, Failed> = BTreeMap::new();
        errand.run(hosts, Path::new("ssh"), (&program, &sum), &mut |number, name, answer| {
            let unusable = |why| unusable(name, &hosts[number], &why);
            let read = answer.map_err(|error| refused(name, error)).and_then(|bytes| {
                let part = SurveyPart::read(&bytes).map_err(unusable)?.of_machine(name);
                drop(bytes);
                match &mut whole {
                    None => whole = Some(part),
                    Some(whole) => whole.merge(part).map_err(unusable)?,
                }
                Ok(())
            });
            failed.extend(read.err().map(|error| (number, error)));
        });
        // In the order in which the machines are named, whoever answered first.
        let failed = failed.into_values().map(Err).reduce(Failed::both).and_then(Result::err);
        match (failed, whole) {
            (None, Some(whole)) => Ok(whole),
            (Some(failed), _) => Err(failed),
            (None, None) => unreachable!("there is a machine"),
        }
    }
}

fn unusable(name: &str, host: &SshHost, why: &PartError) -> Failed {
    let help = match why {
        PartError::Version(_) => "use the same loadline on both sides".to_owned(),
        PartError::Requests => "read fewer logs at once".to_owned(),
        PartError::Twice => "name each machine once".to_owned(),
        // What the shell there prints when it begins stands before every answer.
        _ => format!("see whether '{}' prints anything: it must not", host.trial()),
    };
    Failed::new(Exit::NotCarriedOut, format!("what {name} says cannot be used: {why}"), help)
}

/// What a machine's loadline complained of, as errors of that machine; or what became of it.
fn refused(name: &str, error: ErrandError) -> Failed {
    let ErrandError { why, help, complaint } = error;
    let mut errors = PlanErrors::default();
    for said in format!("\n{}", complaint.trim_end()).split("\nerror: ").skip(1) {
        let (message, help) = said.split_once("\n  help: ").unwrap_or((said, "see what ended it there, and try again"));
        errors.push(PlanError::new("log", message.trim(), help.trim()));
    }
    if errors.is_empty() { Failed::new(Exit::NotCarriedOut, why, help) } else { Failed::from(errors).under(name) }
}
