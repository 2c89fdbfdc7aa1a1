//! A commander: starts sites, tells each its parts of a load, and hands on what they tell.
//!
//! Each site has three threads here: one that writes to it, so that a site that does not read holds nobody up; one that reads what it
//! says; and one that keeps what it complains of. Sites stay from one load to the next, since a sweep has many and a connection takes a while.
//!
//! A site that is gone, or silent for longer than its lease, is not waited for: the others go on, and its sources are told as gone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Message, RemoteMessages, RunError, SoFar, Stop, Urgency, monotonic_now};
use measure::{SiteMember, SourceId};
use plan::setting::AGENT_BINARY;
use plan::{Contents, Nanos, Part, Plan, Secrets};

use crate::lines::{Answer, Greeting, Job, Order, line};
use crate::{BEAT, lease};

/// How often the signal to end is looked at: sites are to end within a second.
const LOOK: Duration = Duration::from_millis(50);
/// How long a site may take to greet: a login over a slow network, and a program to start.
const GREETING_MAX: Duration = Duration::from_secs(30);
/// So often the clock of a site is asked for; the best answer counts.
const CLOCK_ROUNDS: u32 = 9;
/// How far in the future a load begins beyond what it takes to tell everybody: a busy machine wakes a thread in less.
const HEAD_START: Nanos = Nanos::from_millis(20);
/// How long sites that were told to go have for it.
const GOING_MAX: Duration = Duration::from_secs(5);
/// So much of the end of what a site complains of is kept.
const COMPLAINT_BYTES_MAX: usize = 2000;

/// How a site is called.
#[derive(Debug, Clone)]
pub struct Call {
    /// As people call it.
    pub name: String,
    /// The program, and what it is given.
    pub command: Vec<OsString>,
    /// Whether it is on this machine, where all have one clock.
    pub is_here: bool,
    /// How the program comes there where it is missing.
    pub delivery: Option<Delivery>,
    /// What to do where it cannot be called.
    pub help: String,
}

/// How a program comes to a site.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The program that takes the file on its standard input, and what it is given.
    pub command: Vec<OsString>,
    /// The file.
    pub file: PathBuf,
}

/// The status by which a site's call says that the program is not there.
pub const IS_MISSING: i32 = 93;
/// The status by which it says that the program cannot be run there, as shells do (POSIX, Shell Command Language, 2.8.2).
pub const CANNOT_RUN: i32 = 126;

/// Calls sites and commands them.
#[derive(Debug, Clone, Default)]
pub struct Commander {
    /// Sites that no load uses now.
    idle: Arc<Mutex<Option<Fleet>>>,
}

impl Commander {
    /// Calls these sites, those of them that are not there yet, and gives what each greets with.
    ///
    /// # Errors
    /// If one of them cannot be called, does not greet, or is of another version.
    pub fn call(&self, calls: &[Call]) -> Result<Vec<Greeting>, RunError> {
        let mut fleet = self.take();
        fleet.call(calls)?;
        let greetings = fleet.sites[..calls.len()].iter().map(|site| site.greeting.clone()).collect();
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(fleet);
        Ok(greetings)
    }

    /// Starts these groups of parts of a plan, one on each of the sites of `calls`, at the same moment; those with an empty one have nothing to do.
    ///
    /// # Errors
    /// If a site cannot be called, or cannot carry its parts out.
    pub fn start(
        &self,
        calls: &[Call],
        (plan, groups): (&Plan, &[Vec<Part>]),
        so_far: &SoFar,
        stop: &Stop,
    ) -> Result<RemoteMessages, RunError> {
        let mut fleet = self.take();
        fleet.call(calls)?;
        fleet.begin(plan, groups, so_far, stop)?;
        let sources_of = |parts: &Vec<Part>| parts.iter().map(|part| SourceId(part.of_run.index())).collect();
        let rest: Vec<BTreeSet<SourceId>> = groups.iter().map(sources_of).collect();
        let taking_part = fleet.sites.iter().zip(&rest).filter(|(_, sources)| !sources.is_empty());
        let members = taking_part.map(|(site, sources)| SiteMember {
            name: site.name.clone(),
            sources: sources.iter().copied().collect(),
            clock_error: site.clock_error,
        });
        let queue = members.map(Message::Joined).collect();
        let is_open = rest.iter().map(|sources| !sources.is_empty()).collect();
        Ok(Box::new(RemoteLoad { fleet: Some(fleet), idle: self.idle.clone(), secrets: plan.secrets(), rest, is_open, queue }))
    }

    /// The sites that are there. Where one has been lost, in a load or since, all are called anew.
    fn take(&self) -> Fleet {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        idle.and_then(|mut fleet| (!fleet.has_lost_one()).then_some(fleet)).unwrap_or_else(Fleet::none)
    }
}

/// Sites that have been called.
#[derive(Debug)]
struct Fleet {
    sites: Vec<Site>,
    events: Receiver<(usize, Event)>,
    /// What the threads of further sites send by.
    sender: Sender<(usize, Event)>,
    beat: Arc<Mutex<Beat>>,
    /// When events were last waited for.
    looked: Instant,
}

/// One of them.
#[derive(Debug)]
struct Site {
    name: String,
    is_here: bool,
    orders: Sender<Arc<str>>,
    child: Arc<Mutex<Child>>,
    greeting: Greeting,
    /// When it last said something.
    heard: Instant,
    /// Whether it is there no more.
    is_gone: bool,
    /// By how much its clock is ahead of this machine's.
    ahead: i64,
    /// How exactly that is known; `None` of this machine.
    clock_error: Option<Nanos>,
}

/// What a site said, and when by this machine's clock; or why it is gone, and the status it ended with.
#[derive(Debug)]
enum Event {
    Said(Box<Answer>, Nanos),
    Gone(String, Option<i32>),
    /// The program was brought there, or why not.
    Delivered(Result<(), String>),
}

/// What is told to all sites once in a while.
#[derive(Debug, Default)]
struct Beat {
    orders: Vec<Sender<Arc<str>>>,
    /// That of the load under way.
    stop: Option<Stop>,
    /// How urgently the sites were told to end it.
    told: Option<Urgency>,
    is_over: bool,
}

impl Fleet {
    fn none() -> Self {
        let (sender, events) = channel();
        Self { sites: Vec::new(), events, sender, beat: Arc::default(), looked: Instant::now() }
    }

    /// Whether a site is gone, or has said since that it goes.
    fn has_lost_one(&mut self) -> bool {
        while let Ok((number, event)) = self.events.try_recv() {
            self.sites[number].heard = Instant::now();
            self.sites[number].is_gone |= matches!(event, Event::Gone(..));
        }
        self.sites.iter().any(|site| site.is_gone)
    }

    /// Calls the sites that are not there yet.
    fn call(&mut self, calls: &[Call]) -> Result<(), RunError> {
        let known = self.sites.len();
        for (number, call) in calls.iter().enumerate().skip(known) {
            let site = Site::call(call, number, &self.sender).map_err(|why| uncalled(call, &why))?;
            self.beat.lock().unwrap_or_else(PoisonError::into_inner).orders.push(site.orders.clone());
            self.sites.push(site);
        }
        if known == 0 && !calls.is_empty() {
            let beat = self.beat.clone();
            let spawned = thread::Builder::new().name("sites".to_owned()).spawn(move || keep_beating(&beat));
            spawned.map_err(|why| RunError::run(format!("the system gives no more threads: {why}"), "raise the limit on processes"))?;
        }
        let mut delivered = BTreeSet::new();
        let mut awaited: BTreeSet<usize> = (known..calls.len()).collect();
        let mut limit = Instant::now() + GREETING_MAX;
        let mut under_way = 0;
        while !awaited.is_empty() {
            if under_way > 0 {
                // A copy takes as long as the network does.
                limit = Instant::now() + GREETING_MAX;
            }
            let Some((number, event)) = self.event_until(limit) else {
                let names: Vec<&str> = awaited.iter().map(|number| self.sites[*number].name.as_str()).collect();
                let message = format!("no greeting from {} within {} s", names.join(", "), GREETING_MAX.as_secs());
                return Err(RunError::run(message, "try the same connection by hand: it must not ask for anything"));
            };
            match event {
                Event::Said(answer, _) => {
                    if let Answer::Hello(greeting) = *answer {
                        self.sites[number].greet(greeting)?;
                        awaited.remove(&number);
                    }
                }
                Event::Gone(_, Some(IS_MISSING))
                    if let Some(delivery) = calls[number].delivery.clone().filter(|_| delivered.insert(number)) =>
                {
                    under_way += 1;
                    let sender = self.sender.clone();
                    let carry = move || sender.send((number, Event::Delivered(delivery.carry_out())));
                    let spawned = thread::Builder::new().name("delivery".to_owned()).spawn(carry);
                    spawned.map_err(|why| uncalled(&calls[number], &why))?;
                }
                Event::Delivered(Err(why)) => {
                    let message = format!("{} has no loadline, and it cannot be copied there: {why}", calls[number].name);
                    return Err(RunError::run(message, calls[number].help.clone()));
                }
                Event::Delivered(Ok(())) => {
                    under_way -= 1;
                    self.sites[number] = Site::call(&calls[number], number, &self.sender).map_err(|why| uncalled(&calls[number], &why))?;
                    self.beat.lock().unwrap_or_else(PoisonError::into_inner).orders[number] = self.sites[number].orders.clone();
                }
                Event::Gone(_, Some(CANNOT_RUN)) => {
                    let message = format!("{} cannot run this program", calls[number].name);
                    return Err(RunError::run(
                        message,
                        format!("give the file of a loadline for its processor and its system with {AGENT_BINARY}"),
                    ));
                }
                Event::Gone(why, _) => return Err(RunError::run(why, calls[number].help.clone())),
            }
        }
        Ok(())
    }

    /// Gets everybody ready and agrees on the moment.
    fn begin(&mut self, plan: &Plan, groups: &[Vec<Part>], so_far: &SoFar, stop: &Stop) -> Result<(), RunError> {
        let taking_part: Vec<usize> = (0..groups.len()).filter(|number| !groups[*number].is_empty()).collect();
        let text: Arc<str> = line(&Order::Plan(plan.encode(&Contents::default()))).into();
        let here = taking_part.iter().map(|number| &self.sites[*number]).filter(|site| site.is_here).map(|site| site.greeting.process);
        let mut processes = Some(here.chain([std::process::id()]).collect::<Vec<u32>>());
        for number in &taking_part {
            let site = &self.sites[*number];
            let sources = groups[*number].iter().map(|part| part.of_run.index()).collect();
            // One of this machine's looks for others on its cores; each other machine has one site.
            let processes = if site.is_here { processes.take() } else { Some(vec![site.greeting.process]) };
            let _ = site.orders.send(text.clone());
            site.tell(&Order::Prepare(Box::new(Job { sources, so_far: so_far.clone(), is_here: site.is_here, processes })));
        }
        drop(text);
        {
            // An order to end that came before would be one to end the load before.
            let mut beat = self.beat.lock().unwrap_or_else(PoisonError::into_inner);
            (beat.stop, beat.told) = (Some(stop.clone()), None);
        }
        let mut awaited: BTreeSet<usize> = taking_part.iter().copied().collect();
        while !awaited.is_empty() {
            let (number, answer, _) = self.said()?;
            match answer {
                Answer::Ready => _ = awaited.remove(&number),
                Answer::Refused(refusal) => {
                    let error = RunError::from(refusal);
                    let site = &self.sites[number];
                    return Err(if site.is_here { error } else { RunError { message: error.message.under(&site.name), ..error } });
                }
                _ => {}
            }
        }
        let far = self.agree_on_time(&taking_part)?;
        let at = monotonic_now().plus(HEAD_START).plus(Nanos(far.0 * 2));
        for site in taking_part.iter().map(|number| &self.sites[*number]) {
            site.tell(&Order::Start { at: Nanos(at.0.saturating_add_signed(site.ahead)) });
        }
        Ok(())
    }

    /// Finds out by how much the clocks of sites on other machines are ahead: all are asked at once, some times, and of each the answer that came
    /// back soonest counts. The way there and back of the farthest comes out.
    fn agree_on_time(&mut self, taking_part: &[usize]) -> Result<Nanos, RunError> {
        let far: Vec<usize> = taking_part.iter().copied().filter(|number| !self.sites[*number].is_here).collect();
        let mut best: BTreeMap<usize, (Nanos, i64)> = BTreeMap::new();
        for round in 0..CLOCK_ROUNDS {
            let mut asked = BTreeMap::new();
            for number in &far {
                asked.insert(*number, monotonic_now());
                self.sites[*number].tell(&Order::Clock(round));
            }
            while !asked.is_empty() {
                let (from, answer, heard) = self.said()?;
                let Answer::Clock { number, now } = answer else { continue };
                let Some(at) = asked.remove(&from).filter(|_| number == round) else { continue };
                let took = heard.since(at);
                let ahead = now.0.wrapping_sub(at.0 + took.0 / 2).cast_signed();
                let known = best.entry(from).or_insert((took, ahead));
                *known = (*known).min((took, ahead));
            }
        }
        for (number, (took, ahead)) in &best {
            (self.sites[*number].ahead, self.sites[*number].clock_error) = (*ahead, Some(Nanos(took.0 / 2)));
        }
        Ok(best.into_values().map(|(took, _)| took).max().unwrap_or_default())
    }

    /// What a site says next, where all have to be there.
    fn said(&mut self) -> Result<(usize, Answer, Nanos), RunError> {
        match self.event() {
            (number, Event::Said(answer, at)) => match *answer {
                Answer::Done | Answer::Told(_) => {
                    let message = format!("{} ended its part before the load began", self.sites[number].name);
                    Err(RunError::run(message, "try again; or with less that is to be done before the start"))
                }
                answer => Ok((number, answer, at)),
            },
            (_, Event::Delivered(_)) => unreachable!("programs are brought when sites are called"),
            (_, Event::Gone(why, _)) => Err(RunError::run(why, "the load did not begin; see what ended it there, and try again")),
        }
    }

    /// What happens next. A site that is silent for too long is gone.
    fn event(&mut self) -> (usize, Event) {
        loop {
            if let Some(event) = self.event_until(Instant::now() + BEAT) {
                return event;
            }
        }
    }

    fn event_until(&mut self, limit: Instant) -> Option<(usize, Event)> {
        loop {
            let now = Instant::now();
            if now.duration_since(self.looked) > BEAT * 3 {
                // Nobody has listened meanwhile: this process was not running.
                self.sites.iter_mut().for_each(|site| site.heard = now);
            }
            self.looked = now;
            // What has been said already is heard before anybody is called silent.
            let next = self.events.try_recv().ok().or_else(|| self.silence()).or_else(|| {
                let wait = limit.saturating_duration_since(now).min(BEAT);
                self.events.recv_timeout(wait).ok()
            });
            let Some((number, event)) = next else {
                if Instant::now() >= limit {
                    return None;
                }
                continue;
            };
            let site = &mut self.sites[number];
            if site.is_gone && !matches!(event, Event::Delivered(_)) {
                continue;
            }
            site.heard = Instant::now();
            if matches!(event, Event::Gone(..)) {
                site.is_gone = true;
                // It may hang and not know.
                let _ = site.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
            }
            return Some((number, event));
        }
    }

    /// A site that has been silent for too long.
    fn silence(&self) -> Option<(usize, Event)> {
        let is_silent = |site: &Site| !site.is_gone && site.is_greeted() && site.heard.elapsed() > lease(site.is_here);
        let number = self.sites.iter().position(is_silent)?;
        let site = &self.sites[number];
        Some((number, Event::Gone(format!("{} did not say anything for {} s", site.name, lease(site.is_here).as_secs()), None)))
    }
}

impl Drop for Fleet {
    /// Lets all sites go: without a stream of orders they end by themselves.
    fn drop(&mut self) {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = Beat { is_over: true, ..Beat::default() };
        let children: Vec<Arc<Mutex<Child>>> = self.sites.drain(..).map(|site| site.child).collect();
        let limit = Instant::now() + GOING_MAX;
        for child in children {
            ended_within(&child, limit.saturating_duration_since(Instant::now()));
        }
    }
}

impl Delivery {
    /// Brings the program there.
    pub(crate) fn carry_out(&self) -> Result<(), String> {
        let [program, arguments @ ..] = &self.command[..] else { return Err("there is no way".to_owned()) };
        let file = File::open(&self.file).map_err(|why| plan::plainly(&why))?;
        let ran = Command::new(program).args(arguments).stdin(file).process_group(0).output();
        let ran = ran.map_err(|why| plan::plainly(&why))?;
        if ran.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&ran.stderr).lines().last().unwrap_or("the copy did not arrive whole").to_owned())
    }
}

/// What is told of a program that cannot be started.
fn uncalled(call: &Call, why: &io::Error) -> RunError {
    let program = call.command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    RunError::run(format!("{} cannot be called: {program}: {}", call.name, plan::plainly(why)), call.help.clone())
}

impl Site {
    fn call(call: &Call, number: usize, events: &Sender<(usize, Event)>) -> io::Result<Self> {
        let [program, arguments @ ..] = &call.command[..] else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is for the commander, which tells the sites.
        let mut child = command.process_group(0).spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let child = Arc::new(Mutex::new(child));
        let (orders, written) = channel();
        let complaint = Arc::new(Mutex::new(Vec::new()));
        let kept = complaint.clone();
        thread::Builder::new().name("complaints".to_owned()).spawn(move || keep_end(stderr, &kept))?;
        thread::Builder::new().name("orders".to_owned()).spawn(move || write(&written, stdin))?;
        let (events, name, ended) = (events.clone(), call.name.clone(), child.clone());
        thread::Builder::new().name("answers".to_owned()).spawn(move || {
            let wrong = read(stdout, number, &events);
            let status = ended_within(&ended, GOING_MAX);
            // The stream may be held open by others for long; what was said is here soon.
            thread::sleep(LOOK);
            let complaint = String::from_utf8_lossy(&complaint.lock().unwrap_or_else(PoisonError::into_inner)).into_owned();
            let _ = events.send((
                number,
                Event::Gone(farewell(&name, wrong.as_deref(), status, &complaint), status.and_then(|status| status.code())),
            ));
        })?;
        let (name, is_here) = (call.name.clone(), call.is_here);
        let greeting = Greeting { schema: String::new(), loadline: String::new(), cores: 0, connections_max: 0, process: 0 };
        Ok(Self { name, is_here, orders, child, greeting, heard: Instant::now(), is_gone: false, ahead: 0, clock_error: None })
    }

    fn greet(&mut self, greeting: Greeting) -> Result<(), RunError> {
        let own = Greeting::of_this_process();
        if (&greeting.schema, &greeting.loadline) != (&own.schema, &own.loadline) {
            return Err(RunError::input(
                format!("{} has loadline {}, and this is loadline {}", self.name, greeting.loadline, own.loadline),
                "use the same version on both sides",
            ));
        }
        self.greeting = greeting;
        Ok(())
    }

    fn is_greeted(&self) -> bool {
        !self.greeting.schema.is_empty()
    }

    /// Says it, unless the site is gone, which is told elsewhere.
    fn tell(&self, order: &Order) {
        let _ = self.orders.send(line(order).into());
    }
}

/// How a process ended; it is killed if it does not by itself in this time. Others may want to kill it meanwhile.
fn ended_within(child: &Mutex<Child>, time: Duration) -> Option<ExitStatus> {
    let limit = Instant::now() + time;
    loop {
        let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() >= limit => {
                let _ = child.kill();
                return child.wait().ok();
            }
            Ok(None) => {}
            Err(_) => return None,
        }
        drop(child);
        thread::sleep(Duration::from_millis(2));
    }
}

/// Writes orders until there are no more, or the site takes none.
fn write(orders: &Receiver<Arc<str>>, mut stream: ChildStdin) {
    while let Ok(order) = orders.recv() {
        if stream.write_all(order.as_bytes()).and_then(|()| stream.flush()).is_err() {
            return;
        }
    }
}

/// Hands on what a site says until it says no more; what was no answer comes out.
fn read(stream: ChildStdout, number: usize, events: &Sender<(usize, Event)>) -> Option<String> {
    for text in BufReader::new(stream).lines().map_while(Result::ok) {
        match serde_json::from_str(&text) {
            Ok(answer) => events.send((number, Event::Said(Box::new(answer), monotonic_now()))).ok()?,
            Err(_) => return Some(text),
        }
    }
    None
}

/// Keeps the end of what a site complains of.
fn keep_end(mut stream: ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&bytes[..count]);
        let surplus = kept.len().saturating_sub(COMPLAINT_BYTES_MAX);
        kept.drain(..surplus);
    }
}

/// Why a site is gone, in words.
pub(crate) fn farewell(name: &str, wrong: Option<&str>, status: Option<ExitStatus>, complaint: &str) -> String {
    let mut why = format!("{name} is gone");
    match (wrong, status.map(|status| (status.signal(), status.code()))) {
        (Some(text), _) => {
            let text: String = text.chars().take(80).collect();
            let _ = write!(why, ": it said '{}'", text.escape_debug());
        }
        (None, Some((Some(signal), _))) => _ = write!(why, ": it was ended by signal {signal}"),
        (None, Some((_, Some(code)))) if code != 0 => _ = write!(why, ": it ended with status {code}"),
        _ => {}
    }
    // What Rust adds to a panic is no reason.
    if let Some(last) = complaint.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with("note:")) {
        let _ = write!(why, " ({last})");
    }
    why
}

/// Tells all sites that the commander is there, and when the load is to end.
fn keep_beating(beat: &Mutex<Beat>) {
    let stay: Arc<str> = line(&Order::Stay).into();
    let mut next = Instant::now();
    loop {
        {
            let mut beat = beat.lock().unwrap_or_else(PoisonError::into_inner);
            if beat.is_over {
                return;
            }
            let urgency = beat.stop.as_ref().map_or(Urgency::None, Stop::urgency);
            if urgency > beat.told.unwrap_or(Urgency::None) {
                beat.told = Some(urgency);
                let order: Arc<str> = line(&Order::to_end(urgency)).into();
                beat.orders.iter().for_each(|site| _ = site.send(order.clone()));
            }
            if Instant::now() >= next {
                next = Instant::now() + BEAT;
                beat.orders.iter().for_each(|site| _ = site.send(stay.clone()));
            }
        }
        thread::sleep(LOOK);
    }
}

/// A load under way on several sites: what they tell.
struct RemoteLoad {
    /// `None` when all has been told.
    fleet: Option<Fleet>,
    /// Where the sites go afterwards.
    idle: Arc<Mutex<Option<Fleet>>>,
    /// Not said of a site that is gone.
    secrets: Secrets,
    /// Sources of each site that have not told everything.
    rest: Vec<BTreeSet<SourceId>>,
    /// Sites that have more to tell.
    is_open: Vec<bool>,
    queue: VecDeque<Message>,
}

impl Iterator for RemoteLoad {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            let fleet = self.fleet.as_mut()?;
            if !self.is_open.contains(&true) {
                *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = self.fleet.take();
                return None;
            }
            let (number, event) = fleet.event();
            let (Some(rest), Some(is_open)) = (self.rest.get_mut(number), self.is_open.get_mut(number)) else { continue };
            match event {
                Event::Said(answer, _) => match *answer {
                    Answer::Told(message) => {
                        if let Message::Left(source, _) | Message::Lost(source, _) | Message::Gone(source, _) = &message {
                            rest.remove(source);
                        }
                        return Some(message);
                    }
                    Answer::Done => *is_open = false,
                    _ => {}
                },
                Event::Delivered(_) => {}
                Event::Gone(why, _) => {
                    *is_open = false;
                    let why = self.secrets.conceal(&why);
                    self.queue.extend(std::mem::take(rest).into_iter().map(|source| Message::Gone(source, why.clone())));
                }
            }
        }
    }
}
