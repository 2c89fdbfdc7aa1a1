//! What the binary lends to other tools' command lines: streams, files and signals of this process, and the history.
//!
//! `dialects` touches nothing of the world by itself. Here is the one place where it is given this process, so that a run under another
//! tool's name is decided, watched and kept like any other. Invariant: nothing here knows a single dialect.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use analysis::Reading;
use dialects::{Files, Host, Load, Measurement, SamplesFile, TestPlan, TestPlanWords, Verbosity};
use engine::{RunError, Runner, Stop};
use history::Kind;
use import::collection::{Collection, Kind as FileKind, UNTIL_THROUGH, Wishes};
use jiff::tz::TimeZone;
use measure::{IntervalCounts, Tick};
use plan::setting::AGENTS;
use plan::{Draft, Plan, PlanError, PlanErrors, Setting, Spelling};
use resolve::{KnownSecrets, Scenarios};
use trial::Observer;

use crate::agents::AgentsArgs;
use crate::keeping::HistoryArgs;
use crate::observers::Observers;
use crate::outputs::whole;
use crate::request_log::{LOG_FORMATS, LogWriter, step_places};
use crate::screen::{Remarks, Screen};
use crate::workload::Workload;
use crate::{agents, inputs, interrupt, saved};

/// This process.
pub struct Process;

/// The file system.
struct FileSystem;

impl Host for Process {
    fn input(&self) -> Box<dyn BufRead + Send> {
        Box::new(BufReader::new(io::stdin()))
    }

    fn output(&self) -> Box<dyn Write + Send> {
        Box::new(io::stdout())
    }

    fn errors(&self) -> Box<dyn Write + Send> {
        Box::new(io::stderr())
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn time_zone(&self) -> TimeZone {
        TimeZone::system()
    }

    fn files(&self) -> Arc<dyn Files> {
        Arc::new(FileSystem)
    }

    fn decide(&self, draft: Draft) -> Result<Plan, PlanErrors> {
        let mut errors = PlanErrors::default();
        inputs::decide(draft.into(), &inputs::scenarios(&KnownSecrets::default()), &mut errors).filter(|_| errors.is_empty()).ok_or(errors)
    }

    fn test_plan(&self, words: TestPlanWords) -> Result<TestPlan, PlanErrors> {
        let TestPlanWords { path, properties, draft: words, samples, servers } = words;
        let path = path.as_str();
        let mut errors = PlanErrors::default();
        let typed: Vec<String> = servers.iter().map(|server| machine(server)).collect();
        let agents = AgentsArgs::of(typed).decide(&Draft::default(), &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let known = KnownSecrets::default();
        let reader = inputs::reader(&known);
        let of_servers = |servers: u32| {
            let wishes = Wishes { properties: properties.clone(), servers: NonZeroU32::new(servers), ..Wishes::default() };
            known.learn_values(resolve::hidden(&wishes));
            Scenarios::new(&reader, wishes)
        };
        // Nobody is called for a file that is none.
        let (mut scenarios, mut runner, mut servers_count) = (of_servers(1), self.runner(), 1);
        let mut read = test_plan_of(&scenarios, path)?;
        if !agents.is_empty() {
            let machines = agents.call().map_err(|error| PlanErrors(vec![PlanError::new(AGENTS, error.message, error.help)]))?;
            agents::teach(&reader, &machines);
            scenarios = of_servers(machines.count());
            read = test_plan_of(&scenarios, path)?;
            servers_count = machines.count();
            runner = Runner::threads().with_sites(Arc::new(machines.evenly()));
        }
        let endless = read.course.as_ref().is_some_and(|course| !course.endless.is_empty());
        // It ends when it is interrupted, as the original's does.
        let duration = UNTIL_THROUGH.parse().ok().filter(|_| endless);
        let draft = Draft { scenario: Some(path.to_owned()), duration, ..words };
        let mut plan = inputs::decide(draft.clone().into(), &scenarios, &mut errors);
        // As many threads on each server, so that each has the users of the plan.
        let threads = plan.as_ref().map_or(0, |plan| plan.threads().get());
        let even = (threads - threads % servers_count).max(servers_count);
        if servers_count > 1 && threads != even {
            let threads = NonZeroU32::new(even).map(Setting::Value);
            plan = inputs::decide(Draft { threads, ..draft }.into(), &scenarios, &mut errors);
        }
        let Some(plan) = plan.filter(|_| errors.is_empty()) else { return Err(errors) };
        let left_out = read.left_out_of_ended().iter().map(|left| left.spelt(Spelling::Flags)).collect();
        // In CSV, as the original writes it.
        let files: Vec<_> = samples.iter().map(|path| (&LOG_FORMATS[0], PathBuf::from(path))).collect();
        let steps = step_places(scenarios.read(path).ok().as_deref());
        let (rows, runner) = LogWriter::on(&files, &plan, steps, runner)
            .map_err(|error| PlanErrors(vec![PlanError::new("out", error.message, error.help)]))?;
        let load = move |plan: &Plan, watch: &mut dyn FnMut(&Tick, IntervalCounts), stop: &Stop| {
            Workload::new(plan, &scenarios, &runner, stop)?.run(watch, stop)
        };
        let samples_file = rows.map(|rows| Box::new(rows) as Box<dyn SamplesFile>);
        Ok(TestPlan { plan, left_out, load: Box::new(load), samples_file })
    }

    fn stop(&self, verbosity: Verbosity) -> Result<Stop, RunError> {
        let voice = match verbosity {
            Verbosity::Normal => Remarks::Talking,
            Verbosity::Quiet => Remarks::Quiet,
        };
        let stop = Stop::new();
        let raised = interrupt::raise_on_signal(&stop, &Screen::new(voice, &KnownSecrets::default()));
        raised.map(|()| stop).map_err(|failed| {
            let mistake = failed.in_plan("signals");
            RunError::run(mistake.message, mistake.help)
        })
    }

    fn runner(&self) -> Runner {
        Runner::threads()
    }

    fn carry_out(&self, plan: &Plan, stop: &Stop, observers: &mut [&mut dyn Observer], load: Load<'_>) -> Measurement {
        let name = saved::suggested(plan);
        let mut keeper = HistoryArgs::default().decide(Kind::Run, &name, &mut PlanErrors::default());
        keeper.begin(stop);
        let run = Observers {
            screen: None,
            live: None,
            // The originals do not look at the server.
            server: None,
            profiles: None,
            journal: Some((&keeper, name)),
            exports: None,
            guard: None,
            own: observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer).collect(),
        }
        .carry_out(plan, stop, load);
        keeper.load_is_over();
        let measured = match &run {
            Ok(summary) => Some(summary),
            Err(error) => error.measured.as_deref(),
        };
        let unsaved = match measured {
            Some(summary) => keeper.save_or_why(&report::document::run_json(&Reading::new(summary, &[]))).err(),
            None => {
                keeper.discard();
                None
            }
        };
        Measurement { run, unsaved: unsaved.map(|(message, help)| format!("{message}; {help}")) }
    }
}

/// The test plan in a file.
///
/// # Errors
/// If it holds none, or cannot be read.
fn test_plan_of(scenarios: &Scenarios, path: &str) -> Result<Rc<Collection>, PlanErrors> {
    let mistake = |what: String, help: &str| PlanErrors(vec![PlanError::new("scenario", what, help)]);
    let read = match scenarios.requests(path) {
        Some(read) => read.map_err(|error| PlanErrors(vec![error]))?,
        None => {
            let why = scenarios.reader().unreadable(path);
            let why = why.map_or_else(|| "is no test plan of JMeter".to_owned(), |why| format!("cannot be read: {why}"));
            return Err(mistake(format!("'{path}' {why}"), "give the file that JMeter saves, such as plan.jmx"));
        }
    };
    if read.kind != FileKind::Jmeter || read.course.is_none() {
        let message = format!("'{path}' is {}, and no test plan of JMeter", read.kind.about());
        return Err(mistake(message, "send it with 'loadline run FILE'"));
    }
    Ok(read)
}

/// A server as another tool names it, as a machine of ours: a port of its own protocol says nothing of SSH.
fn machine(server: &str) -> String {
    if server.contains("://") || server.starts_with("ssh:") {
        return server.to_owned();
    }
    let has_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match server.rsplit_once(':') {
        Some((host, port)) if has_port(port) && (!host.contains(':') || host.ends_with(']')) => format!("ssh:{host}"),
        _ => format!("ssh:{server}"),
    }
}

impl SamplesFile for LogWriter {
    fn observer(&mut self) -> &mut dyn Observer {
        self
    }

    fn finish(self: Box<Self>) -> Result<(), PlanErrors> {
        Self::finish(*self)
    }
}

impl Files for FileSystem {
    fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
        Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(path)?)))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(File::create(path)?))
    }

    fn ensure_writable(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).create(true).truncate(false).open(path).map(drop)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        whole(path, bytes)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(path)?.write_all(bytes)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }
}

#[cfg(test)]
mod tests {
    use super::machine;

    #[test]
    fn servers_of_another_tool_are_machines_over_ssh() {
        for (server, known) in [
            ("10.0.0.5", "ssh:10.0.0.5"),
            ("10.0.0.5:1099", "ssh:10.0.0.5"),
            ("[::1]:1099", "ssh:[::1]"),
            ("me@eu-2", "ssh:me@eu-2"),
            ("ssh:me@eu-2:2222", "ssh:me@eu-2:2222"),
            ("nats://10.0.0.1:4222/eu", "nats://10.0.0.1:4222/eu"),
        ] {
            assert_eq!(machine(server), known);
        }
    }
}
