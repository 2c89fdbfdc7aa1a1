//! `loadline agent`: carries out parts of the loads of another loadline.
//!
//! With `--nats` it waits at a NATS server until one wants it; with `--stdio` it was called by one, on this machine or over SSH, or by an
//! agent that waits. What it says over its standard streams then is for programs: whatever a script prints there goes to the error stream.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use analysis::quantity::length;
use clap::{ArgAction, Args};
use engine::{Fence, Messages, RunError, RunErrorKind, Runner, SiteRole, Stop};
use import::collection::Wishes;
use plan::setting::{ALLOW_SCRIPTS, ALLOW_TARGET, NATS, SANDBOX};
use plan::{Confinement, Contents, LoadRecord, Plan, PlanError, PlanErrors, Spelling};
use resolve::{KnownSecrets, MemoryInputs, Reader, Scenarios};
use script::Script;
use serve::AllowedTargets;
use sites::{Access, AgentCard, Connection, FleetAddress, Job, News, Ways};

use crate::exit::{Exit, Failed};
use crate::nats::{self, NatsArgs};
use crate::screen::complain;
use crate::workload::Workload;
use crate::{allowed, interrupt, memory};

/// A server that is not there is tried again so often.
const AGAIN: Duration = Duration::from_secs(2);

/// Where work comes from, and what is done of it.
#[derive(Debug, Args)]
pub struct Agent {
    /// Wait for work at this NATS server, such as nats://10.0.0.1:4222
    #[arg(long, value_name = "URL", required_unless_present = "stdio", help_heading = "Fleet")]
    nats: Option<String>,

    /// Be one of this group, which --agents nats://HOST:4222/NAME asks for
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = "Fleet")]
    group: String,

    /// What it is called in reports [default: the name of this machine]
    #[arg(long, value_name = "NAME", help_heading = "Fleet")]
    name: Option<String>,

    /// Let load go here: a name, *.NAME, an address, a network such as 10.1.0.0/16, loopback, private, any; each with :PORT if only that (repeatable) [default: loopback]
    #[arg(long, value_name = "PATTERN", action = ArgAction::Append, help_heading = "Safety")]
    allow_target: Vec<String>,

    /// Run scripts outside of their sandbox, which can do on this machine what its user can
    #[arg(long, help_heading = "Safety")]
    allow_scripts: bool,

    #[command(flatten)]
    access: NatsArgs,

    /// Over the standard streams: how another loadline calls this one
    #[arg(long, hide = true, conflicts_with = "nats")]
    stdio: bool,
}

/// Serves until the commander goes, or waits for work until the user ends it.
pub fn carry_out(agent: &Agent, known: &KnownSecrets) -> Result<Exit, Failed> {
    let mut errors = PlanErrors::default();
    let given = !agent.allow_target.is_empty();
    let allowed = if given { AllowedTargets::read(&agent.allow_target) } else { AllowedTargets::read(&["loopback".to_owned()]) };
    let allowed = allowed.map_err(|wrong| {
        errors.0.extend(wrong.into_iter().map(|(text, why)| {
            PlanError::new(
                ALLOW_TARGET,
                format!("{ALLOW_TARGET:#} '{text}' {why}"),
                "give a name, an address or a network, each with :PORT if only that",
            )
        }));
    });
    let Some(url) = agent.nats.as_deref().filter(|_| !agent.stdio) else {
        let Ok(allowed) = allowed else { return Err(errors.into()) };
        // Whoever may log in on this machine may send load from it; whoever reaches a NATS server may not.
        let guard = given.then_some(Guard { allowed, scripts: agent.allow_scripts });
        return answer(guard, known);
    };
    let address = nats::address((NATS, &format!("{NATS:#}")), url, "write nats://HOST:PORT, such as nats://10.0.0.1:4222", &mut errors);
    let access = agent.access.access(&mut errors);
    if !sites::is_group(&agent.group) {
        errors.push(PlanError::new("group", format!("--group '{}' is no group", agent.group), "take letters, digits, - and _"));
    }
    if address.as_ref().is_some_and(|address| address.group().is_some() || address.count().is_some()) {
        errors.push(PlanError::new(
            NATS,
            format!("{NATS} names a server, and an agent's group is another setting"),
            "name the group with --group",
        ));
    }
    let (Some(address), Ok(allowed)) = (address, allowed) else { return Err(errors.into()) };
    if !errors.is_empty() {
        return Err(errors.into());
    }
    wait_for_work(agent, (&address, &access), &allowed)
}

/// Waits at a server for whoever wants this agent.
fn wait_for_work(agent: &Agent, (address, access): (&FleetAddress, &Access), allowed: &AllowedTargets) -> Result<Exit, Failed> {
    let server = address.to_string();
    let connection = connect(address, access)?;
    let targets = allowed.texts();
    // The file may be replaced while this waits: what runs here is what serves.
    let mut command: Vec<OsString> = vec!["/proc/self/exe".into(), "agent".into(), "--stdio".into()];
    command.extend(targets.iter().flat_map(|target| [OsString::from("--allow-target"), target.into()]));
    command.extend(agent.allow_scripts.then(|| "--allow-scripts".into()));
    let name = agent.name.clone().unwrap_or_else(nats::host);
    let card = AgentCard::of_this_process(name.clone(), agent.group.clone(), targets);
    let member = sites::join(&connection, card, command, |news| complain(&told(&news))).map_err(Failed::from)?;
    complain(&format!("{name} waits for work in group {} at {server}; load may go to {allowed}", agent.group));
    interrupt::wait()?;
    member.leave();
    Ok(Exit::Done)
}

/// Connects, however long it takes until the server is there: where machines are started together, nobody knows which is first.
fn connect(address: &FleetAddress, access: &Access) -> Result<Connection, Failed> {
    let server = address.to_string();
    let there =
        move |is_there: bool| complain(&if is_there { format!("{server} is back") } else { format!("{server} is away; trying again") });
    nats::warn_if_exposed(address, access);
    let mut is_told = false;
    loop {
        match Connection::open(address, access, there.clone()) {
            Err(error) if error.kind == RunErrorKind::Run => {
                if !std::mem::replace(&mut is_told, true) {
                    complain(&format!("{}; trying again until it is there", error.message.spelt(Spelling::Flags)));
                }
                thread::sleep(AGAIN);
            }
            ended => return ended.map_err(Failed::from),
        }
    }
}

fn told(news: &News) -> String {
    match news {
        News::Begun(by) => format!("a load of {} begins", report::visible(by)),
        News::Over(by, took) => format!("the load of {} is over after {}; idle", report::visible(by), length((*took).into())),
        News::Refused(by, why) => format!("{} was refused: {}", report::visible(by), report::visible(why)),
    }
}

/// What the owner of an agent lets others do.
struct Guard {
    allowed: AllowedTargets,
    /// Whether scripts may run outside of their sandbox.
    scripts: bool,
}

impl Guard {
    fn fence(&self) -> Fence {
        allowed::fence(self.allowed.clone(), "this agent")
    }

    /// Refuses what the fence does not see.
    fn check(&self, plan: &Plan) -> Result<(), RunError> {
        let refused = |message: &str, help: String| Err(RunError { kind: RunErrorKind::Refused, ..RunError::input(message, help) });
        if plan.connection().proxy.is_some() {
            return refused(
                "this agent sends nothing through a proxy: where it would lead is not seen",
                "send the load without one".to_owned(),
            );
        }
        if plan.connection().unix_socket.is_some() {
            return refused("this agent opens no sockets in its file system", "give the address of the target".to_owned());
        }
        if plan.script().is_some_and(|script| script.confinement == Confinement::None) && !self.scripts {
            return refused(
                "this agent runs scripts in their sandbox alone",
                format!("give {SANDBOX}, or let its owner start it with {ALLOW_SCRIPTS}"),
            );
        }
        Ok(())
    }
}

/// Serves a commander over the standard streams until it goes.
fn answer(guard: Option<Guard>, known: &KnownSecrets) -> Result<Exit, Failed> {
    let broken =
        |why: io::Error| Failed::new(Exit::OutputNotWritten, plan::plainly(&why), "see what became of the loadline that called this one");
    let (orders, answers) = streams().map_err(broken)?;
    let mut site = Site { known: known.clone(), guard, script: None };
    let quit = || std::process::exit(Exit::NotCarriedOut as i32);
    sites::serve(orders, answers, quit, move |plan, contents, job, ways, stop| site.begin((plan, contents), job, ways, stop))
        .map_err(broken)?;
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
    guard: Option<Guard>,
    /// That of the load under way.
    script: Option<Box<Script>>,
}

impl Site {
    fn begin(
        &mut self,
        (plan, contents): (&str, Contents),
        job: Job,
        Ways { gate, inlets, log }: Ways,
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        let Job { sources, so_far, is_here, processes, allowed, rows: _ } = job;
        let is_here = is_here && self.guard.is_none();
        let plan = Plan::decode(plan, contents).map_err(|why| RunError::input(why.to_string(), "use the same loadline on both sides"))?;
        self.guard.as_ref().map_or(Ok(()), |guard| guard.check(&plan))?;
        let all = plan.parts();
        let parts: Vec<_> = sources.iter().filter_map(|source| all.get(*source as usize)).copied().collect();
        let inputs = MemoryInputs::of_plan(&plan);
        let inputs = if is_here { inputs.with_local_files() } else { inputs };
        let reader = Reader::new(inputs, self.known.clone());
        let mut fence = allowed::fence_of(&allowed)?;
        if let Some(guard) = &self.guard {
            fence = fence.and(guard.fence());
        }
        let runner = Runner::within(&fence).as_site(SiteRole { parts: parts.clone(), gate, has_looked: is_here, processes });
        let runner = log.iter().fold(runner, |runner, log| runner.with_log(log));
        let scenarios = Scenarios::new(&reader, Wishes::default());
        // Data files that were typed stand in place of those that the scenario names.
        let _ = scenarios.of(&LoadRecord::from(plan.clone()));
        let mut workload = match plan.replay() {
            Some(_) => Workload::dealt(&plan, inlets, &runner),
            None => Workload::new(&plan, &scenarios, &runner, stop)?,
        };
        // The commander looks for its own machine.
        if self.guard.is_some() || !is_here && !allowed.is_empty() {
            workload = workload.looked_at()?;
        }
        let (messages, script) = workload.start(&parts, so_far, stop)?;
        self.script = script;
        memory::make_room();
        Ok(messages)
    }
}
