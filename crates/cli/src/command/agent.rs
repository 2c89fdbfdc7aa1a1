//! `loadline agent --stdio`: a site of another loadline, which carries out parts of its loads.
//!
//! It is called by a commander, on this machine or over SSH, and not by people: what it says over its standard streams is for programs.
//! Whatever a script prints there goes to the error stream instead.

use std::fs::File;
use std::io;

use clap::Args;
use engine::{Gate, Messages, RunError, Runner, SiteRole, Stop};
use import::collection::Wishes;
use plan::{LoadRecord, Plan};
use resolve::{KnownSecrets, MemoryInputs, Reader, Scenarios};
use script::Script;
use sites::Job;

use crate::exit::{Exit, Failed};
use crate::workload::Workload;
use crate::{allowed, memory};

/// How the commander is spoken with.
#[derive(Debug, Args)]
pub struct Agent {
    /// Over the standard streams: how another loadline calls this one
    #[arg(long, required = true)]
    stdio: bool,
}

/// Serves until the commander goes.
pub fn carry_out(_: &Agent, known: &KnownSecrets) -> Result<Exit, Failed> {
    let broken =
        |why: io::Error| Failed::new(Exit::OutputNotWritten, plan::plainly(&why), "see what became of the loadline that called this one");
    let (orders, answers) = streams().map_err(broken)?;
    let mut site = Site { known: known.clone(), script: None };
    let quit = || std::process::exit(Exit::NotCarriedOut as i32);
    sites::serve(orders, answers, quit, move |plan, job, gate, stop| site.begin(plan, job, gate, stop)).map_err(broken)?;
    Ok(Exit::Done)
}

/// Orders and answers; what else is written to standard output from now on goes to the error stream.
fn streams() -> io::Result<(File, File)> {
    let streams = (rustix::io::dup(rustix::stdio::stdin())?.into(), rustix::io::dup(rustix::stdio::stdout())?.into());
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(streams)
}

/// A site, from job to job.
struct Site {
    known: KnownSecrets,
    /// That of the load under way.
    script: Option<Box<Script>>,
}

impl Site {
    fn begin(&mut self, plan: &str, job: Job, gate: Gate, stop: &Stop) -> Result<Messages, RunError> {
        let Job { sources, so_far, is_here, processes, allowed } = job;
        let plan = Plan::decode(plan).map_err(|why| RunError::input(why.to_string(), "use the same loadline on both sides"))?;
        let all = plan.parts();
        let parts: Vec<_> = sources.iter().filter_map(|source| all.get(*source as usize)).copied().collect();
        let inputs = MemoryInputs::of_plan(&plan);
        let inputs = if is_here { inputs.with_local_files() } else { inputs };
        let reader = Reader::new(inputs, self.known.clone());
        let fence = allowed::fence_of(&allowed)?;
        let runner = Runner::within(&fence).as_site(SiteRole { parts: parts.clone(), gate, has_looked: is_here, processes });
        let scenarios = Scenarios::new(&reader, Wishes::default());
        // Data files that were typed stand in place of those that the scenario names.
        let _ = scenarios.of(&LoadRecord::from(plan.clone()));
        let mut workload = Workload::new(&plan, &scenarios, &runner, stop)?;
        // The commander looks for its own machine.
        if !is_here && !allowed.is_empty() {
            workload = workload.looked_at()?;
        }
        let (messages, script) = workload.start(&parts, so_far, stop)?;
        self.script = script;
        memory::make_room();
        Ok(messages)
    }
}
