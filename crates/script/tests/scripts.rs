//! Scripts against a server that keeps every byte it was sent.

#[path = "scripts/api.rs"]
mod api;
#[path = "scripts/capture.rs"]
mod capture;
#[path = "scripts/examples.rs"]
mod examples;
#[path = "scripts/failing.rs"]
mod failing;

use std::path::{Path, PathBuf};

use capture::Capture;
use engine::{RunError, Runner, Stop};
use measure::Summary;
use plan::{Draft, Plan, Setting};
use script::{DoneArguments, Globals, Interface, Libraries, Script, Source};

/// A script, what it is given, and the load it is run with.
struct Trial {
    folder: tempfile::TempDir,
    path: PathBuf,
    arguments: Vec<String>,
    libraries: Libraries,
    interface: Interface,
    threads: u32,
    connections: u32,
    requests: Option<u64>,
    rate: Option<&'static str>,
    also: Vec<String>,
}

impl Trial {
    /// Of a script written here.
    fn of(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.lua");
        std::fs::write(&path, text).unwrap();
        Self { path, ..Self::at(folder, Path::new("")) }
    }

    /// Of one of the examples.
    fn example(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lua").join(name);
        Self::at(tempfile::tempdir().unwrap(), &path)
    }

    fn at(folder: tempfile::TempDir, path: &Path) -> Self {
        Self {
            folder,
            path: path.to_owned(),
            arguments: Vec::new(),
            libraries: Libraries::Whole,
            interface: Interface::Wrk,
            threads: 1,
            connections: 1,
            requests: Some(20),
            rate: None,
            also: Vec::new(),
        }
    }

    fn arguments(mut self, words: &[&str]) -> Self {
        self.arguments = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Another server that load may go to.
    fn also(mut self, origin: &str) -> Self {
        self.also.push(origin.to_owned());
        self
    }

    fn sandboxed(mut self) -> Self {
        self.libraries = Libraries::Sandboxed;
        self
    }

    fn for_wrk2(mut self) -> Self {
        self.interface = Interface::Wrk2;
        self
    }

    fn threads(mut self, threads: u32) -> Self {
        (self.threads, self.connections) = (threads, threads);
        self
    }

    fn requests(mut self, requests: u64) -> Self {
        self.requests = Some(requests);
        self
    }

    fn endless(mut self) -> Self {
        self.requests = None;
        self
    }

    fn plan(&self, url: &str) -> Plan {
        let draft = Draft {
            url: Some(url.to_owned()),
            connections: self.connections.to_string().parse().ok(),
            threads: self.threads.to_string().parse().ok(),
            requests: self.requests.and_then(given_number),
            duration: if self.requests.is_none() { Some(Setting::Value(plan::Nanos::from_secs(600))) } else { None },
            rate: self.rate.and_then(|rate| rate.parse().ok()),
            also_target: self.also.clone(),
            ..Draft::default()
        };
        Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"))
    }

    fn load(&self, url: &str) -> Result<(Plan, Script), RunError> {
        let plan = self.plan(url);
        let text = std::fs::read(&self.path).unwrap().into();
        let source =
            Source { path: self.path.to_str().unwrap().to_owned(), text, arguments: self.arguments.clone(), libraries: self.libraries };
        // As wrk does, without headers of its own.
        let globals = Globals { headers: Vec::new(), interface: self.interface, ..Globals::of(&plan, &engine::Fence::open())? };
        let script = Script::load(&source, globals, &Stop::new())?;
        Ok((plan, script))
    }

    fn run(&self, capture: &Capture) -> Result<Summary, RunError> {
        self.run_to_the_end(capture).map(|(measured, _)| measured)
    }

    /// Also what `done` left in the global `result`, by way of a file of that name in the test's folder.
    fn run_to_the_end(&self, capture: &Capture) -> Result<(Summary, Option<String>), RunError> {
        let (plan, mut script) = self.load(&capture.url("/"))?;
        let stop = Stop::new();
        let measured = script.run(&plan, &Runner::threads(), &mut || (), &mut |_, _| (), &stop)?;
        script.done(&DoneArguments::of(&measured), &stop)?;
        Ok((measured.close(), std::fs::read_to_string(self.folder.path().join("result")).ok()))
    }

    /// The path `done` writes to.
    fn result(&self) -> String {
        self.folder.path().join("result").to_str().unwrap().to_owned()
    }
}

fn given_number(requests: u64) -> Option<Setting<std::num::NonZeroU64>> {
    requests.to_string().parse().ok()
}
