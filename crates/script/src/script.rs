//! A script's life: loaded, set up in every thread, run, and asked for its last words.
//!
//! In the order of wrk, whose scripts count on it: the file runs in the main state; then for each thread its own state is
//! made, the file runs in it, the main state's `setup` is called with the thread, and the thread's `init` with the
//! arguments. Which functions count is decided by the first thread alone, whose first request is built once more than it is
//! sent, because it is looked at before. Other than in wrk no thread sends before all are set up.
//!
//! Where threads are in several processes, each process calls `setup` with all of them, in order, so that it gives each what it would
//! have given in one, and keeps its own. `done` is called where the load is told of, with states that stand for the threads: what
//! these had at their end is put there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use engine::protocol::Layout;
use engine::{Messages, Prepared, RunError, Runner, SoFar, Stop, Urgency, conclude, from_bytes};
use measure::{IntervalCounts, Leftovers, SummaryBuilder, Tick};
use mlua::Value;
use plan::setting::{FOLLOW, PROXY, RATE};
use plan::{Load, Plan, Scheme, Share};

use crate::attended::{attended, limit_of};
use crate::behaviour::{Defines, RepeatedBehaviour, ScriptBehaviour, leftovers, said};
use crate::done::{DoneArguments, arguments};
use crate::requests::{self, Batch};
use crate::state::{Libraries, State, addresses};
use crate::thread::Shared;
use crate::values::ThreadValues;
use crate::{Globals, Interface, ScriptError, thread};

/// Which script, and what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file, as messages call it.
    pub path: String,
    /// What it holds.
    pub text: Arc<[u8]>,
    /// The words after `--`.
    pub arguments: Vec<String>,
    /// What it may use.
    pub libraries: Libraries,
}

impl Source {
    /// That of a plan, if it has one.
    ///
    /// # Errors
    /// If its file was not read when the plan was made.
    pub fn of(plan: &Plan) -> Result<Option<Self>, ScriptError> {
        let Some(file) = plan.script() else { return Ok(None) };
        let text = plan.contents().get(&file.path).cloned().ok_or_else(|| {
            ScriptError::new(format!("the script '{}' was not read when the plan was made", file.path), "give a readable Lua file")
        })?;
        let libraries = match file.confinement {
            plan::Confinement::None => Libraries::Whole,
            plan::Confinement::Sandbox => Libraries::Sandboxed,
        };
        Ok(Some(Self { path: file.path.clone(), text, arguments: file.arguments.clone(), libraries }))
    }
}

/// A script that was loaded.
pub struct Script {
    path: Arc<str>,
    text: Arc<[u8]>,
    arguments: Vec<String>,
    libraries: Libraries,
    globals: Globals,
    main: State,
    /// The states of the last run's threads, for `done`, or those that stand for them.
    threads: Vec<State>,
    /// Whether they stand for threads of other processes.
    are_elsewhere: bool,
}

/// One thread before its start.
struct Part {
    state: State,
    shared: Arc<Shared>,
    fixed: (Vec<u8>, Batch),
}

impl Script {
    /// Runs the file in the main state.
    ///
    /// # Errors
    /// If it does not compile, fails, or does not return before `stop` is raised.
    pub fn load(source: &Source, globals: Globals, stop: &Stop) -> Result<Self, ScriptError> {
        let (path, text): (Arc<str>, Arc<[u8]>) = (source.path.as_str().into(), source.text.clone());
        let main = {
            let (path, text, globals, libraries) = (path.clone(), text.clone(), globals.clone(), source.libraries);
            let bytes_max = memory_bytes_max(1);
            attended((stop, Urgency::None), limit_of(libraries), &source.path, "loading", move || {
                let main = State::new(&path, libraries, &globals, bytes_max)?;
                main.execute(&text)?;
                Ok::<_, ScriptError>(main)
            })??
        };
        Ok(Self {
            path,
            text,
            arguments: source.arguments.clone(),
            libraries: source.libraries,
            globals,
            main,
            threads: Vec::new(),
            are_elsewhere: false,
        })
    }

    /// Prepares the network, sets every thread up, calls `begins` and carries the plan out. What the script printed has left the program when
    /// it returns.
    ///
    /// # Errors
    /// If the run cannot begin, or the script fails; then with what was measured until that.
    pub fn run(
        &mut self,
        plan: &Plan,
        runner: &Runner,
        begins: &mut dyn FnMut(),
        watch: &mut dyn FnMut(&Tick, IntervalCounts),
        stop: &Stop,
    ) -> Result<SummaryBuilder, RunError> {
        let messages = self.start_threads(plan, runner, (Share::all(plan.threads()), false), begins, stop)?;
        let mut left = Leftovers::default();
        let mut summary = conclude(plan, messages, &mut |_, all| left = all, watch).inspect_err(|_| {
            // A worker that does not return holds its state for good; nobody may wait for it.
            self.threads.clear();
        })?;
        summary.add_warnings(self.take_up(&left));
        self.main.flush()?;
        Ok(summary)
    }

    /// Prepares the network, sets the threads of these shares up, calls `begins` and starts them. Their script's `done` is called elsewhere, and what
    /// they had at their end is among what they leave.
    ///
    /// # Errors
    /// If the run cannot begin, or the script fails.
    pub fn start(
        &mut self,
        plan: &Plan,
        runner: &Runner,
        shares: impl IntoIterator<Item = Share>,
        begins: &mut dyn FnMut(),
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        let is_told = self.main.defines("setup")? && self.main.defines("done")?;
        self.start_threads(plan, runner, (shares, is_told), begins, stop)
    }

    fn start_threads(
        &mut self,
        plan: &Plan,
        runner: &Runner,
        (shares, is_told): (impl IntoIterator<Item = Share>, bool),
        begins: &mut dyn FnMut(),
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        refuse(plan)?;
        let prepared = runner.prepare(plan)?;
        if prepared.sites() > 0 {
            return self.start_elsewhere(prepared, shares, begins, stop);
        }
        self.are_elsewhere = false;
        let shares: Vec<Share> = shares.into_iter().collect();
        let (parts, defines) = self.set_up(&prepared, &shares, stop)?;
        if defines.delay && matches!(plan.load(), Load::Open { .. }) {
            return Err(RunError::input(
                format!("the script '{}' defines delay(), and {RATE} says when requests are sent", self.path),
                format!("leave out {RATE}, or delay()"),
            ));
        }
        self.threads = parts.iter().map(|part| part.state.clone()).collect();
        begins();
        let numbers: Vec<u32> = shares.iter().map(|share| share.index()).collect();
        if defines == (Defines { request: false, delay: false, response: false }) {
            let part = |(number, part): (u32, Part)| {
                let left = if is_told { leftovers(&part.state, number) } else { Leftovers::default() };
                (number, (part.fixed, part.shared.address(), left))
            };
            let parts: BTreeMap<u32, _> = numbers.into_iter().zip(parts).map(part).collect();
            let program = move |share: Share| {
                let ((bytes, batch), address, left) = parts[&share.index()].clone();
                RepeatedBehaviour { bytes, batch, address, left }
            };
            return prepared.start_with(program, shares, stop);
        }
        let mut programs = BTreeMap::new();
        for (number, Part { state, shared, fixed }) in numbers.into_iter().zip(parts) {
            programs.insert(number, Mutex::new(Some(ScriptBehaviour::new(state, shared, (defines, is_told.then_some(number)), fixed)?)));
        }
        let program = move |share: Share| {
            let place = programs[&share.index()].lock();
            place.unwrap_or_else(PoisonError::into_inner).take().expect("each worker takes its own program, once")
        };
        prepared.start_with(program, shares, stop)
    }

    /// Lets other processes load the script and set its threads up. Where `done` may ask for them, others stand for them here.
    fn start_elsewhere(
        &mut self,
        prepared: Prepared,
        shares: impl IntoIterator<Item = Share>,
        begins: &mut dyn FnMut(),
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        self.threads.clear();
        self.are_elsewhere = true;
        if self.main.defines("setup")? && self.main.defines("done")? {
            let all: Vec<Share> = Share::all(prepared.plan().threads()).collect();
            let setting_up = self.setting_up(&prepared);
            self.threads = self.attended(stop, move || setting_up.stand_ins(&all))?;
        }
        begins();
        prepared.portable(SoFar::default()).start(shares, stop)
    }

    /// Makes the threads' states, one after the other.
    fn set_up(&self, prepared: &Prepared, shares: &[Share], stop: &Stop) -> Result<(Vec<Part>, Defines), ScriptError> {
        let (all, shares) = (Share::all(prepared.plan().threads()).collect::<Vec<_>>(), shares.to_vec());
        let setting_up = self.setting_up(prepared);
        self.attended(stop, move || setting_up.all(&all, &shares))
    }

    fn setting_up(&self, prepared: &Prepared) -> SettingUp {
        SettingUp {
            path: self.path.clone(),
            text: self.text.clone(),
            arguments: self.arguments.clone(),
            libraries: self.libraries,
            globals: self.globals.clone(),
            main: self.main.clone(),
            addresses: prepared.addresses(),
        }
    }

    fn attended<T: Send + 'static>(
        &self,
        stop: &Stop,
        set_up: impl FnOnce() -> Result<T, ScriptError> + Send + 'static,
    ) -> Result<T, ScriptError> {
        attended((stop, Urgency::None), limit_of(self.libraries), &self.path, "setup(), init() or its first request()", set_up)?
    }

    /// Gives those that stand for threads elsewhere what these had at their end. What `done` does not see of it comes out, in words.
    fn take_up(&self, left: &Leftovers) -> Vec<String> {
        if !self.are_elsewhere || self.threads.is_empty() {
            return Vec::new();
        }
        let (mut gone, mut unread, mut too_large) = (0, BTreeMap::<String, u32>::new(), BTreeMap::<String, u32>::new());
        for (number, state) in (0..).zip(&self.threads) {
            let Some(bytes) = left.threads.get(&number) else {
                gone += 1;
                continue;
            };
            let values = from_bytes::<ThreadValues>(bytes).map_err(|why| why.to_string());
            match values.and_then(|values| values.put_into(state).map_err(|why| why.to_string())) {
                Ok(names) => names.into_iter().for_each(|name| *too_large.entry(name).or_default() += 1),
                Err(why) => *unread.entry(why).or_default() += 1,
            }
        }
        let path = &self.path;
        let counted = |threads: u32| format!("{threads} {}", if threads == 1 { "thread" } else { "threads" });
        let named = |(name, threads): (String, u32)| {
            let threads = counted(threads);
            format!("done() of the script '{path}' sees nil for {name} of {threads}: it is too large to come from another process")
        };
        let unseen = |threads: u32, why: &str| {
            let threads = counted(threads);
            format!("done() of the script '{path}' does not see what {threads} had at the end: {why}")
        };
        let unread = unread.into_iter().map(|(why, threads)| unseen(threads, &format!("it cannot be read here: {why}")));
        let gone = (gone > 0).then(|| unseen(gone, "gone, or with a broken state, before it was told"));
        too_large.into_iter().map(named).chain(unread).chain(gone).collect()
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
    /// Of all threads of a load those of `shares`: the others are elsewhere, and `setup` sees them in their turn.
    fn all(self, all: &[Share], shares: &[Share]) -> Result<(Vec<Part>, Defines), ScriptError> {
        self.begin()?;
        let sees_all = self.main.defines("setup")?;
        let is_here = |share: &&Share| shares.contains(share);
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        let mut defines = None;
        // What those of others hold is what `setup` makes, and no load is sent by them: these are the ones that grow.
        let bytes_max = memory_bytes_max(shares.len() as u32);
        for share in all.iter().filter(|share| sees_all || is_here(share)) {
            if is_here(&share) {
                parts.push(self.one(*share, bytes_max, &mut defines)?);
            } else {
                others.push(self.presented(bytes_max)?);
            }
        }
        Ok((parts, defines.expect("there is a first thread")))
    }

    /// States that stand for all threads of a load, as `setup` left them.
    fn stand_ins(self, all: &[Share]) -> Result<Vec<State>, ScriptError> {
        self.begin()?;
        let bytes_max = memory_bytes_max(all.len() as u32);
        all.iter().map(|_| self.presented(bytes_max).map(|(state, _)| state)).collect()
    }

    fn begin(&self) -> Result<(), ScriptError> {
        self.globals.reach.learn(&self.addresses);
        let addrs = addresses(&self.main.lua, &self.addresses).map_err(|error| self.main.failed("setup()", &error))?;
        self.main.call::<()>("addrs", "setup()", addrs)
    }

    /// The state of the next thread, which `setup` has seen.
    fn presented(&self, bytes_max: usize) -> Result<(State, Arc<Shared>), ScriptError> {
        let state = State::new(&self.path, self.libraries, &self.globals, bytes_max)?;
        state.execute(&self.text)?;
        let shared = Arc::new(Shared::new(self.globals.reach.clone()));
        let weak = state.lua.weak();
        let own = thread::functions(&state.lua, &weak, &shared).map_err(|error| state.failed("making its thread", &error))?;
        state.call::<()>("thread", "making its thread", own)?;
        let in_main = thread::functions(&self.main.lua, &weak, &shared).map_err(|error| self.main.failed("setup()", &error))?;
        self.main.call::<()>("setup", "setup()", in_main)?;
        Ok((state, shared))
    }

    fn one(&self, share: Share, bytes_max: usize, defines: &mut Option<Defines>) -> Result<Part, ScriptError> {
        let (state, shared) = self.presented(bytes_max)?;
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
            if found.request && share.index() == 0 {
                // The verification of the first thread's first request, wherever the other threads are.
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
            (Vec::new(), Batch { layout: Layout::default(), requests: 1 })
        };
        Ok(Part { state, shared, fixed })
    }
}

/// The bytes of a request, and what they hold.
fn read(state: &State, value: &Value) -> Result<(Vec<u8>, Batch), ScriptError> {
    let Value::String(text) = value else { return Err(state.returned("request", &said(value))) };
    let bytes = text.as_bytes().to_vec();
    let batch = requests::read(&bytes).map_err(|why| state.returned("request", &format!("no whole requests: {why}")))?;
    Ok((bytes, batch))
}

/// What a script and a plan cannot have together.
fn refuse(plan: &Plan) -> Result<(), RunError> {
    let mut errors = Vec::new();
    if plan.connection().follow > 0 {
        errors.push(RunError::input(
            format!("{FOLLOW} cannot be used with a script, which sees every answer itself"),
            format!("leave out {FOLLOW}"),
        ));
    }
    if plan.connection().proxy.is_some() && plan.target().scheme() == Scheme::Http {
        errors.push(RunError::input(
            format!("{PROXY} cannot be used with a script on plain http: a proxy wants whole URLs in requests"),
            format!("leave out {PROXY}, or measure https, which goes through a tunnel"),
        ));
    }
    RunError::together(errors).map_or(Ok(()), Err)
}

/// What each of the states may hold, so that a script that allocates without end stops before the machine does.
fn memory_bytes_max(threads: u32) -> usize {
    let machine = engine::machine::machine().memory_bytes / u64::from(threads + 1);
    usize::try_from(machine).ok().filter(|bytes| *bytes > 0).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_done_does_not_see_of_a_thread_is_told_with_its_reason() {
        let source = Source {
            path: "a.lua".to_owned(),
            text: b"count = 0".as_slice().into(),
            arguments: Vec::new(),
            libraries: Libraries::Sandboxed,
        };
        let mut script = Script::load(&source, Globals::default(), &Stop::default()).unwrap();
        let state = || State::new(&script.path, Libraries::Sandboxed, &Globals::default(), usize::MAX).unwrap();
        let there = state();
        there.execute(b"count = 7").unwrap();
        script.threads = (0..4).map(|_| state()).collect();
        script.are_elsewhere = true;
        let mut left = leftovers(&there, 0);
        left.threads.extend([1, 2].map(|thread| (thread, b"none of ours".to_vec().into())));
        let told = script.take_up(&left);
        assert_eq!(script.threads[0].lua.globals().get::<i64>("count").unwrap(), 7);
        let [unread, gone] = &told[..] else { panic!("{told:?}") };
        assert!(unread.contains(" what 2 threads had at the end: it cannot be read here: "), "{unread}");
        assert!(gone.contains(" what 1 thread had at the end: gone, or with a broken state,"), "{gone}");
    }
}
