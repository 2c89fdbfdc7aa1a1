//! The kinds of work whose costs are counted, each carried out by the real worker in the simulated engine.

use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::io::{BufWriter, Write as _};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use anyhow::{Result, anyhow};
use engine::simulation::Simulation;
use engine::{Message, Messages, Runner, Stop};
use plan::{Draft, Nanos, Plan, PlanErrors, Resolved, Setting, Share};
use replay::{Log, Options};
use script::{Globals, Script, Source};
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead as _, AsyncWrite as _, DuplexStream, ReadBuf};
use tokio::task::LocalSet;

use crate::bytes::live;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Plain,
    OpenLoad,
    Template,
    Journey,
    Replay,
    Script,
}

/// What every request is answered.
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: s\r\nContent-Type: application/json\r\nContent-Length: 28\r\n\r\n{\"id\": 7, \"text\": \"hello w\"}";

/// What the bare exchange sends.
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: simulated.test\r\nUser-Agent: loadline/0.1.0\r\nAccept: */*\r\n\r\n";

const JOURNEY: &str = include_str!("../../bench/scripts/journey.yaml");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/scripts/path.lua");

/// That of open load.
const RATE: &str = "100000/s";

impl Work {
    pub const ALL: [Self; 6] = [Self::Plain, Self::OpenLoad, Self::Template, Self::Journey, Self::Replay, Self::Script];

    /// Its name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::OpenLoad => "open-load",
            Self::Template => "template",
            Self::Journey => "journey",
            Self::Replay => "replay",
            Self::Script => "script",
        }
    }

    /// That of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|work| work.name() == name)
    }

    /// Sends so many requests, by ten users, or in open load by as many as are needed.
    ///
    /// # Errors
    /// If the work cannot be carried out.
    pub fn run(self, requests: u64) -> Result<()> {
        let mut draft = Draft { connections: given("10"), requests: given(&requests.to_string()), ..Draft::default() };
        if self == Self::OpenLoad {
            (draft.rate, draft.arrivals, draft.duration) = (given(RATE), given("even"), given("1h"));
        }
        let (mut told, mut failed) = (0, None);
        self.carry_out(draft, &Simulation::of(answering), &mut |message| {
            if let Message::Counts(_, counts) = message {
                told += counts.succeeded;
                failed = failed.take().or(counts.examples.into_values().next());
            }
            true
        })?;
        if told < requests { Err(anyhow!("{told} of {requests} requests succeeded: {failed:?}")) } else { Ok(()) }
    }

    /// Bytes allocated while so many users wait for their second answers.
    ///
    /// # Errors
    /// If the work cannot be carried out.
    pub fn idle(self, users: u32) -> Result<usize> {
        let draft = Draft { connections: given(&users.to_string()), duration: given("10s"), ..Draft::default() };
        let before = live();
        let mut idle = None;
        self.carry_out(draft, &Simulation::of(answering_once), &mut |message| {
            if let Message::Counts(_, counts) = message {
                idle = Some((live() - before, counts.succeeded));
            }
            idle.is_none()
        })?;
        match idle {
            Some((bytes, answered)) if answered >= u64::from(users) => Ok(bytes),
            other => Err(anyhow!("{users} users: {other:?}")),
        }
    }

    /// Carries a load of this kind out, until it ends or whoever is shown its messages has seen enough.
    fn carry_out(self, draft: Draft, server: &Simulation, show: &mut dyn FnMut(Message) -> bool) -> Result<()> {
        let draft = Draft {
            url: Some(if self == Self::Template { "http://simulated.test/?id={{sequence}}" } else { "http://simulated.test/" }.to_owned()),
            threads: Some(Setting::Value(NonZeroU32::MIN)),
            seed: given("1"),
            no_preflight: true,
            ..draft
        };
        let (runner, stop) = (Runner::simulated(server), Stop::new());
        let begin = || -> Result<Messages, Broken> {
            Ok(match self {
                Self::Plain | Self::OpenLoad => runner.prepare(&plan(draft)?)?.start(Share::all(NonZeroU32::MIN), &stop)?,
                Self::Template => {
                    let plan = plan(draft)?;
                    let ready = template::Ready::new(&plan, &[])?;
                    ready.start(runner.prepare(&plan)?, Share::all(NonZeroU32::MIN), &stop)?
                }
                Self::Journey => {
                    let scenario = scenario::read("journey.yaml", JOURNEY)?;
                    let plan = plan(Draft { scenario: Some("journey.yaml".to_owned()), ..draft })?;
                    let mut ready = scenario::Ready::new(&plan, &scenario, &[])?;
                    let series = ready.begin(&stop)?;
                    ready.start(&series, runner.prepare(&plan)?, plan.parts(), &stop)?
                }
                Self::Replay => {
                    let Some(Setting::Value(requests)) = draft.requests else { return Err("a log has a number of requests".into()) };
                    let log = log(requests.get())?;
                    let log = Log::open(&log.path().display().to_string())?;
                    let found = replay::look(vec![log], Options::default()).map_err(|(_, why)| why)?;
                    let plan = plan(Draft { rate: given(RATE), requests: None, duration: Some(Setting::Value(found.length())), ..draft })?;
                    let ready = replay::Ready::new(&plan, found)?;
                    ready.start(runner.prepare(&plan)?, Share::all(NonZeroU32::MIN), &stop)?
                }
                Self::Script => {
                    let text = std::fs::read(SCRIPT)?;
                    let plan = plan(Resolved::from(Draft { script: Some(SCRIPT.to_owned()), ..draft }).with_file(SCRIPT, text))?;
                    let source = Source::of(&plan)?.ok_or("the plan has no script")?;
                    let mut script = Script::load(&source, Globals::of(&plan, &engine::Fence::open())?, &stop)?;
                    script.start(&plan, &runner, Share::all(NonZeroU32::MIN), &mut || (), &stop)?
                }
            })
        };
        let mut messages = begin().map_err(|Broken(why)| anyhow!(why))?;
        while let Some(message) = messages.next()
            && show(message)
        {}
        Ok(())
    }
}

/// A log of so many requests of one second, each of a page of its own.
fn log(requests: u64) -> Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    let mut lines = BufWriter::new(file.as_file_mut());
    for number in 0..requests {
        let asked = format!("[01/Mar/2016:00:00:01 +0000] \"GET /items/{number} HTTP/1.1\"");
        writeln!(lines, "192.0.2.1 - - {asked} 200 28 \"-\" \"curl/8.5.0\"")?;
    }
    lines.flush()?;
    drop(lines);
    Ok(file)
}

fn plan(load: impl Into<Resolved>) -> Result<Plan, PlanErrors> {
    Plan::try_from(load.into())
}

/// What was in the way of a load, for who works on loadline.
struct Broken(String);

impl<E: fmt::Debug> From<E> for Broken {
    fn from(error: E) -> Self {
        Self(format!("{error:?}"))
    }
}

fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: fmt::Display,
{
    text.parse().ok()
}

/// Reads what there is; whether the client is still there.
async fn read(stream: &mut DuplexStream) -> bool {
    poll_fn(|context| poll_read(stream, context)).await
}

/// Writes all of it, which the other side has room for; whether it could.
async fn write(stream: &mut DuplexStream, bytes: &'static [u8]) -> bool {
    poll_fn(|context| poll_write(stream, context, bytes)).await
}

// Never put in line: whether the compiler does is up to what stands beside them, and moves what is subtracted from every figure.

#[inline(never)]
fn poll_read(stream: &mut DuplexStream, context: &mut Context<'_>) -> Poll<bool> {
    let mut bytes = [0; 1024];
    let mut buffer = ReadBuf::new(&mut bytes);
    Pin::new(stream).poll_read(context, &mut buffer).map(|read| read.is_ok() && !buffer.filled().is_empty())
}

#[inline(never)]
fn poll_write(stream: &mut DuplexStream, context: &mut Context<'_>, bytes: &[u8]) -> Poll<bool> {
    Pin::new(stream).poll_write(context, bytes).map(|written| written.is_ok_and(|length| length == bytes.len()))
}

/// Answers every request, which comes in one piece.
async fn answering(mut stream: DuplexStream, _number: u64) {
    while read(&mut stream).await {
        if !write(&mut stream, ANSWER).await {
            return;
        }
    }
}

/// Answers the first request only.
async fn answering_once(mut stream: DuplexStream, _number: u64) {
    if read(&mut stream).await && write(&mut stream, ANSWER).await {
        while read(&mut stream).await {}
    }
}

/// So many exchanges over ten connections without anything of loadline's.
pub fn bare(requests: u64) {
    let runtime = runtime();
    let left = std::rc::Rc::new(Cell::new(requests));
    let tasks = LocalSet::new();
    for _ in 0..10 {
        let (mut ours, theirs) = tokio::io::duplex(64 * 1024);
        tasks.spawn_local(answering(theirs, 0));
        let left = left.clone();
        tasks.spawn_local(async move {
            while left.get() > 0 {
                left.set(left.get() - 1);
                if !write(&mut ours, REQUEST).await || !read(&mut ours).await {
                    return;
                }
            }
        });
    }
    runtime.block_on(tasks);
}

/// Bytes allocated for so many connections of the simulation and their server, with nobody on this side of them.
pub fn bare_idle(connections: u32) -> usize {
    let runtime = runtime();
    let before = live();
    let tasks = LocalSet::new();
    let mut ours = Vec::with_capacity(connections as usize);
    let bytes = tasks.block_on(&runtime, async {
        for _ in 0..connections {
            let (our, theirs) = tokio::io::duplex(64 * 1024);
            tokio::task::spawn_local(Box::pin(answering_once(theirs, 0)));
            ours.push(our);
        }
        tokio::time::sleep(Nanos::SECOND.into()).await;
        live() - before - ours.capacity() * size_of::<DuplexStream>()
    });
    drop(ours);
    bytes
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
}
