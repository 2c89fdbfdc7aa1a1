//! A script's life: loaded, set up in every thread, run, and asked for its last words.
//!
//! In the order of wrk, whose scripts count on it: the file runs in the main state; then for each thread its own state is
//! made, the file runs in it, the main state's `setup` is called with the thread, and the thread's `init` with the
//! arguments. Which functions count is decided by the first thread alone, whose first request is built once more than it is
//! sent, because it is looked at before. Other than in wrk no thread sends before all are set up.

use std::sync::Arc;

use engine::body::whole;
use engine::protocol::http1::Asked;
use engine::{Choice, Prepared, RunError, Stop, Urgency};
use measure::{Counted, Summary, Tick};
use mlua::Value;
use plan::{Load, Plan, Scheme, plainly};

use crate::attended::{attended, limit_of};
use crate::done::{DoneArguments, arguments};
use crate::program::{Counts, Defines, Rates, Repeated, Scripted, said};
use crate::state::{Libraries, State, addresses};
use crate::thread::Shared;
use crate::{Globals, Interface, ScriptError, Statistics, requests, thread};

/// Which script, and what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub path: String,
    /// The words after `--`.
    pub arguments: Vec<String>,
    /// What it may use.
    pub libraries: Libraries,
}

impl Source {
    /// That of a plan, if it has one.
    #[must_use]
    pub fn of(plan: &Plan) -> Option<Self> {
        plan.script().map(|file| Self {
            path: file.path.clone(),
            arguments: file.arguments.clone(),
            libraries: match file.confinement {
                plan::Confinement::None => Libraries::Whole,
                plan::Confinement::Sandbox => Libraries::Sandboxed,
            },
        })
    }
}

/// A file beyond is no script, and no list that is kept in memory.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// What a script's file holds, in short: its SHA-256, in hexadecimal. A result names it, so that it is known whether the script
/// is still the same.
///
/// # Errors
/// If the file cannot be read.
pub fn fingerprint(path: &str) -> std::io::Result<String> {
    whole(path, FILE_BYTES_MAX).map(|held| fingerprint_of(&held))
}

/// The same of what was read already.
pub fn fingerprint_of(held: &[u8]) -> String {
    use std::fmt::Write as _;
    let digest = ring::digest::digest(&ring::digest::SHA256, held);
    digest.as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A script that was loaded.
pub struct Script {
    path: Arc<str>,
    text: Arc<[u8]>,
    arguments: Vec<String>,
    libraries: Libraries,
    globals: Globals,
    main: State,
    /// The states of the last run's threads, for `done`.
    threads: Vec<State>,
}

/// A run, and what only wrk counts.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The finished run.
    pub summary: Summary,
    /// Answers a second: one value a thread and 100 ms in which some came.
    pub requests: Statistics,
}

/// One thread before its start.
struct Part {
    state: State,
    shared: Arc<Shared>,
    fixed: (Vec<u8>, Choice),
}

impl Script {
    /// Reads the file and runs it in the main state.
    ///
    /// # Errors
    /// If it cannot be read, does not compile, fails, or does not return before `stop` is raised.
    pub fn load(source: &Source, globals: Globals, stop: &Stop) -> Result<Self, ScriptError> {
        let path: Arc<str> = source.path.as_str().into();
        let text = whole(&source.path, FILE_BYTES_MAX).map_err(|why| {
            ScriptError::new(format!("the script '{path}' cannot be read: {}", plainly(&why)), "give a readable Lua file")
        })?;
        let text: Arc<[u8]> = text.into();
        let main = {
            let (path, text, globals, libraries) = (path.clone(), text.clone(), globals.clone(), source.libraries);
            let bytes_max = memory_bytes_max(1);
            attended((stop, Urgency::None), limit_of(libraries), &source.path, "loading", move || {
                let main = State::new(&path, libraries, &globals, bytes_max)?;
                main.execute(&text)?;
                Ok::<_, ScriptError>(main)
            })??
        };
        Ok(Self { path, text, arguments: source.arguments.clone(), libraries: source.libraries, globals, main, threads: Vec::new() })
    }

    /// Prepares the network, sets every thread up, calls `begins` and carries the plan out. What the script printed has left the program when
    /// it returns.
    ///
    /// # Errors
    /// If the run cannot begin, or the script fails; then with what was measured until that.
    pub fn run(
        &mut self,
        plan: &Plan,
        begins: &mut dyn FnMut(),
        watch: &mut dyn FnMut(&Tick, Counted),
        stop: &Stop,
    ) -> Result<Measured, RunError> {
        refuse(plan)?;
        let prepared = engine::prepare(plan)?;
        let (parts, defines) = self.set_up(&prepared, plan.threads().get(), stop)?;
        if defines.delay && matches!(plan.load(), Load::Open { .. }) {
            return Err(RunError::input(
                format!("the script '{}' defines delay(), and --rate says when requests are sent", self.path),
                "leave out --rate, or delay()",
            ));
        }
        self.threads = parts.iter().map(|part| part.state.clone()).collect();
        let counts = Counts::default();
        begins();
        let ended = if defines == (Defines { request: false, delay: false, response: false }) {
            let parts: Vec<_> = parts.into_iter().map(|part| (part.fixed, part.shared.address())).collect();
            let counts = counts.clone();
            let program = move |share: plan::Share| {
                let ((bytes, choice), address) = parts[share.index() as usize].clone();
                Repeated { bytes, choice, address, rates: Rates::new(counts.clone()) }
            };
            prepared.run_with(program, watch, stop)
        } else {
            let mut programs = Vec::new();
            for Part { state, shared, fixed } in parts {
                let rates = Rates::new(counts.clone());
                programs.push(std::sync::Mutex::new(Some(Scripted::new(state, shared, defines, fixed, rates)?)));
            }
            let program = move |share: plan::Share| {
                let place = programs[share.index() as usize].lock();
                place.unwrap_or_else(std::sync::PoisonError::into_inner).take().expect("each worker takes its own program, once")
            };
            prepared.run_with(program, watch, stop)
        };
        let summary = ended.inspect_err(|_| {
            // A worker that does not return holds its state for good; nobody may wait for it.
            self.threads.clear();
        })?;
        self.main.flush()?;
        Ok(Measured { summary, requests: rates_of(&counts) })
    }

    /// Makes the threads' states, one after the other.
    fn set_up(&self, prepared: &Prepared, threads: u32, stop: &Stop) -> Result<(Vec<Part>, Defines), ScriptError> {
        let setting_up = SettingUp {
            path: self.path.clone(),
            text: self.text.clone(),
            arguments: self.arguments.clone(),
            libraries: self.libraries,
            globals: self.globals.clone(),
            main: self.main.clone(),
            addresses: prepared.addresses(),
        };
        attended((stop, Urgency::None), limit_of(self.libraries), &self.path, "setup(), init() or its first request()", move || {
            setting_up.all(threads)
        })?
    }

    /// Whether the script has last words.
    #[must_use]
    pub fn defines_done(&self) -> bool {
        self.main.defines("done").unwrap_or(false)
    }

    /// Calls `done` in the main state, if the script defines it. To be called when the report has been printed.
    ///
    /// # Errors
    /// If it fails, or does not return before `stop` is raised once more.
    pub fn done(&mut self, with: &DoneArguments, stop: &Stop) -> Result<(), ScriptError> {
        let main = self.main.clone();
        let with = with.clone();
        let interface = self.globals.interface;
        // The run may have been stopped, and still has its last words.
        attended((stop, stop.urgency()), limit_of(self.libraries), &self.path, "done()", move || {
            if !main.defines("done")? {
                return Ok(());
            }
            let with = arguments(&main.lua, &with, interface).map_err(|error| main.failed("done()", &error))?;
            main.call::<()>("done", "done()", with)
        })?
    }
}

/// What the threads' states are made from, on a thread of its own.
struct SettingUp {
    path: Arc<str>,
    text: Arc<[u8]>,
    arguments: Vec<String>,
    libraries: Libraries,
    globals: Globals,
    main: State,
    addresses: Vec<std::net::SocketAddr>,
}

impl SettingUp {
    fn all(self, threads: u32) -> Result<(Vec<Part>, Defines), ScriptError> {
        self.globals.reach.learn(&self.addresses);
        let addrs = addresses(&self.main.lua, &self.addresses).map_err(|error| self.main.failed("setup()", &error))?;
        self.main.call::<()>("addrs", "setup()", addrs)?;
        let bytes_max = memory_bytes_max(threads);
        let mut parts = Vec::new();
        let mut defines = None;
        for _ in 0..threads {
            let part = self.one(bytes_max, &mut defines)?;
            parts.push(part);
        }
        Ok((parts, defines.expect("there is a first thread")))
    }

    fn one(&self, bytes_max: usize, defines: &mut Option<Defines>) -> Result<Part, ScriptError> {
        let state = State::new(&self.path, self.libraries, &self.globals, bytes_max)?;
        state.execute(&self.text)?;
        let shared = Arc::new(Shared::new(self.globals.reach.clone()));
        let weak = state.lua.weak();
        let own = thread::functions(&state.lua, &weak, &shared).map_err(|error| state.failed("making its thread", &error))?;
        state.call::<()>("thread", "making its thread", own)?;
        let in_main = thread::functions(&self.main.lua, &weak, &shared).map_err(|error| self.main.failed("setup()", &error))?;
        self.main.call::<()>("setup", "setup()", in_main)?;
        let words = (|| {
            let words = state.lua.create_table()?;
            words.raw_set(0, self.globals.url.as_str())?;
            for (place, word) in self.arguments.iter().enumerate() {
                words.raw_set(place + 1, word.as_str())?;
            }
            Ok(words)
        })();
        let words = words.map_err(|error| state.failed("init()", &error))?;
        state.call::<()>("init", "init()", words)?;
        if defines.is_none() {
            let found = Defines {
                request: state.defines("request")?,
                // wrk2 does not know it.
                delay: self.globals.interface == Interface::Wrk && state.defines("delay")?,
                response: state.defines("response")?,
            };
            if found.request {
                // The verification of the first thread's first request.
                let text: Value = state.call("request", "request()", ())?;
                let text = if text.is_nil() { state.call("wrong", "request()", ())? } else { text };
                read(&state, &text)?;
            }
            *defines = Some(found);
        }
        let is_fixed = defines.is_some_and(|defines| !defines.request);
        let fixed = if is_fixed {
            let text: Value = state.call("built", "wrk.request()", ())?;
            read(&state, &text)?
        } else {
            (Vec::new(), Choice { asked: Asked::Other, requests: 1 })
        };
        Ok(Part { state, shared, fixed })
    }
}

/// The bytes of a request, and what they hold.
fn read(state: &State, value: &Value) -> Result<(Vec<u8>, Choice), ScriptError> {
    let Value::String(text) = value else { return Err(state.returned("request", &said(value))) };
    let bytes = text.as_bytes().to_vec();
    let choice = requests::read(&bytes).map_err(|why| state.returned("request", &format!("no whole requests: {why}")))?;
    Ok((bytes, choice))
}

/// What a script and a plan cannot have together.
fn refuse(plan: &Plan) -> Result<(), RunError> {
    let mut errors = Vec::new();
    if plan.connection().follow > 0 {
        errors.push(RunError::input("--follow cannot be used with a script, which sees every answer itself", "leave out --follow"));
    }
    if plan.connection().proxy.is_some() && plan.target().scheme() == Scheme::Http {
        errors.push(RunError::input(
            "--proxy cannot be used with a script on plain http: a proxy wants whole URLs in requests",
            "leave out --proxy, or measure https, which goes through a tunnel",
        ));
    }
    RunError::together(errors).map_or(Ok(()), Err)
}

/// What each of the states may hold, so that a script that allocates without end stops before the machine does.
fn memory_bytes_max(threads: u32) -> usize {
    let machine = engine::machine::machine().memory_bytes / u64::from(threads + 1);
    usize::try_from(machine).ok().filter(|bytes| *bytes > 0).unwrap_or(usize::MAX)
}

fn rates_of(counts: &Counts) -> Statistics {
    let counts = counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Statistics::from_counts(counts.iter().map(|(rate, count)| (*rate, *count)))
}

/// Carries a plan out without a script, and counts what wrk counts besides.
///
/// # Errors
/// If the run cannot begin.
pub fn run_plain(plan: &Plan, watch: &mut dyn FnMut(&Tick, Counted), stop: &Stop) -> Result<Measured, RunError> {
    let prepared = engine::prepare(plan)?;
    let (bytes, choice) = prepared.request();
    let counts = Counts::default();
    let program = {
        let counts = counts.clone();
        move |_: plan::Share| Repeated { bytes: bytes.clone(), choice, address: None, rates: Rates::new(counts.clone()) }
    };
    let summary = prepared.run_with(program, watch, stop)?;
    Ok(Measured { summary, requests: rates_of(&counts) })
}
