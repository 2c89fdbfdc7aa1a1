//! A commander: starts sites, tells each its parts of a load, and hands on what they tell.
//!
//! Each site has three threads here: one that writes to it, so that a site that does not read holds nobody up; one that reads what it
//! says; and one that keeps what it complains of. Sites stay from one load to the next, since a sweep has many and a connection takes a while.
//!
//! A site that is gone, or silent for longer than its lease, is not waited for: the others go on, and its sources are told as gone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Message, RemoteMessages, RunError, Stop, Terms, Urgency, from_bytes, monotonic_now};
use measure::{Machine, SiteMember, SourceId};
use plan::{Nanos, Part, Plan};

use crate::dealing::Dealing;
use crate::frames::{Answer, Greeting, Job, Order, frame, read_frame};
use crate::gathering::Gathering;
use crate::link::{CANNOT_RUN, Call, End, IS_MISSING, Link};
use crate::outgoing::{Outgoing, Sendable, write};
use crate::place::{Place, together};
use crate::{BEAT, lease};

mod load;

use self::load::RemoteLoad;

/// How often the signal to end is looked at: sites are to end within a second.
const LOOK: Duration = Duration::from_millis(50);
/// How long a site may take to greet: a login over a slow network, and a program to start.
const GREETING_MAX: Duration = Duration::from_secs(30);
/// What says that a block was taken is no longer.
const TAKEN_BYTES_MAX: usize = 16;
/// No machine has more cores.
const CORES_MAX: u32 = 4096;
/// So often the clock of a site is asked for; the best answer counts.
const CLOCK_ROUNDS: u32 = 9;
/// How far in the future a load begins beyond what it takes to tell everybody: a busy machine wakes a thread in less.
const HEAD_START: Nanos = Nanos::from_millis(20);
/// How long sites that were told to go have for it.
const GOING_MAX: Duration = Duration::from_secs(5);

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
        terms: Terms<'_>,
        stop: &Stop,
    ) -> Result<RemoteMessages, RunError> {
        let mut fleet = self.take();
        fleet.call(calls)?;
        fleet.begin(plan, groups, terms, stop)?;
        let sources_of = |parts: &Vec<Part>| parts.iter().map(|part| SourceId(part.of_run.index())).collect();
        let rest: Vec<BTreeSet<SourceId>> = groups.iter().map(sources_of).collect();
        let taking_part = fleet.sites.iter().zip(&rest).filter(|(_, sources)| !sources.is_empty());
        let members = taking_part.map(|(site, sources)| SiteMember {
            name: site.name.clone(),
            sources: sources.iter().copied().collect(),
            clock_error: site.clock_error,
            machine: (!site.is_here).then(|| site.greeting.machine.clone()),
        });
        let members = members.collect();
        let stop = stop.clone();
        let ends = move |message: &Message| {
            if matches!(message, Message::Finished(_, finished) if finished.ends_all) {
                stop.raise_to(Urgency::Drain);
            }
        };
        Ok(Box::new(RemoteLoad::new(fleet, self.idle.clone(), plan.secrets(), rest, members).inspect(ends)))
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
    arrivals: Receiver<(usize, Arrival)>,
    /// What the threads of further sites send by.
    sender: Sender<(usize, Arrival)>,
    /// What files hold that plans of these sites name, by their numbers.
    files: Vec<Sendable>,
    /// How many files are still on their way.
    on_their_way: Arc<AtomicUsize>,
    beat: Arc<Mutex<Beat>>,
    /// When events were last waited for.
    looked: Instant,
    /// Since when a load is to end at once that has not begun.
    ending: Option<Instant>,
    /// What the sources of the load under way send, where it is dealt to them.
    dealing: Dealing,
    /// Their requests, where each is written down.
    gathering: Gathering,
}

/// One of them.
#[derive(Debug)]
struct Site {
    name: String,
    is_here: bool,
    orders: Sender<Outgoing>,
    end: Arc<dyn End>,
    greeting: Greeting,
    /// When it last said something.
    heard: Instant,
    /// Whether it is there no more.
    is_gone: bool,
    /// The numbers of the files that it has.
    files: BTreeSet<u32>,
    /// By how much its clock is ahead of this machine's.
    ahead: i64,
    /// How exactly that is known; `None` of this machine.
    clock_error: Option<Nanos>,
    /// The number with which its clock is asked for next; those before a start are lower.
    round: u32,
    /// When it was last asked, and with which number, where it has not answered yet.
    asked: Option<(u32, Nanos)>,
}

/// What comes of a site.
#[derive(Debug)]
enum Event<S = Answer> {
    Greeted(Box<Greeting>),
    /// Something, and when it came by this machine's clock.
    Said(S, Nanos),
    /// Why it is gone, and the status it ended with.
    Gone(String, Option<i32>),
    /// The program was brought there, or why not.
    Delivered(Result<(), String>),
}

/// What is not read yet. It waits as bytes, which are small: counts of two hundred sites at the same moment are not.
type Arrival = Event<Vec<u8>>;

/// What is told to all sites once in a while.
#[derive(Debug, Default)]
struct Beat {
    orders: Vec<Sender<Outgoing>>,
    /// That of the load under way.
    stop: Option<Stop>,
    /// How urgently the sites were told to end it.
    told: Option<Urgency>,
    is_over: bool,
}

impl Fleet {
    fn none() -> Self {
        let (sender, arrivals) = channel();
        let (beat, on_their_way, dealing, gathering) = Default::default();
        let sites = Vec::new();
        Self { sites, arrivals, sender, files: Vec::new(), on_their_way, beat, looked: Instant::now(), ending: None, dealing, gathering }
    }

    /// Whether a site is gone, or has said since that it goes.
    fn has_lost_one(&mut self) -> bool {
        while let Ok((number, arrival)) = self.arrivals.try_recv() {
            self.sites[number].heard = Instant::now();
            self.sites[number].is_gone |= matches!(arrival, Arrival::Gone(..));
        }
        self.sites.iter().any(|site| site.is_gone)
    }

    /// Calls the sites that are not there yet.
    fn call(&mut self, calls: &[Call]) -> Result<(), RunError> {
        let known = self.sites.len();
        for (number, call) in calls.iter().enumerate().skip(known) {
            let site = self.site(call, number)?;
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
                Event::Greeted(greeting) => {
                    self.sites[number].greet(*greeting)?;
                    awaited.remove(&number);
                }
                Event::Said(..) => {}
                Event::Gone(_, Some(IS_MISSING))
                    if let Some(delivery) = calls[number].way.delivery().filter(|_| delivered.insert(number)) =>
                {
                    under_way += 1;
                    let sender = self.sender.clone();
                    let carry = move || sender.send((number, Arrival::Delivered(delivery.carry_out())));
                    let spawned = thread::Builder::new().name("delivery".to_owned()).spawn(carry);
                    spawned.map_err(|why| uncalled(&calls[number], &why))?;
                }
                Event::Delivered(Err(why)) => {
                    return Err(RunError::run(calls[number].undelivered(&why), calls[number].help.clone()));
                }
                Event::Delivered(Ok(())) => {
                    under_way -= 1;
                    self.sites[number] = self.site(&calls[number], number)?;
                    self.beat.lock().unwrap_or_else(PoisonError::into_inner).orders[number] = self.sites[number].orders.clone();
                }
                Event::Gone(_, Some(CANNOT_RUN)) => {
                    let (why, help) = calls[number].cannot_run();
                    return Err(RunError::run(why, help));
                }
                Event::Gone(why, _) => return Err(RunError::run(why, calls[number].help.clone())),
            }
        }
        Ok(())
    }

    fn site(&self, call: &Call, number: usize) -> Result<Site, RunError> {
        Site::call(call, number, &self.sender, (&self.dealing, &self.gathering)).map_err(|why| uncalled(call, &why))
    }

    /// The number of what a file holds. The same in two files has one.
    fn number_of(&mut self, file: &Sendable) -> u32 {
        let known = self.files.iter().position(|known| known.is_same(file));
        known.unwrap_or_else(|| {
            self.files.push(file.clone());
            self.files.len() - 1
        }) as u32
    }

    /// Gets everybody ready and agrees on the moment.
    fn begin(&mut self, plan: &Plan, groups: &[Vec<Part>], terms: Terms<'_>, stop: &Stop) -> Result<(), RunError> {
        let Terms { so_far, allowed, slices, log } = terms;
        let taking_part: Vec<usize> = (0..groups.len()).filter(|number| !groups[*number].is_empty()).collect();
        // Processes of this machine open themselves what is not in memory.
        let is_far = taking_part.iter().any(|number| !self.sites[*number].is_here);
        let held = Sendable::of_plan(plan, is_far);
        let named: BTreeMap<String, u32> = held.iter().map(|(path, file)| ((*path).to_owned(), self.number_of(file))).collect();
        let text: Arc<[u8]> = frame(&Order::Plan(plan.encode(), named.clone())).into();
        let processes = together(&taking_part.iter().map(|number| self.sites[*number].place()).collect::<Vec<_>>());
        let own = engine::machine::kernel();
        let numbers: BTreeSet<u32> = named.values().copied().collect();
        for (number, processes) in taking_part.iter().zip(processes) {
            let Self { sites, files, on_their_way, .. } = self;
            let site = &mut sites[*number];
            for number in numbers.difference(&site.files) {
                on_their_way.fetch_add(1, Ordering::Relaxed);
                let _ = site.orders.send(Outgoing::File(*number, files[*number as usize].clone(), on_their_way.clone()));
            }
            (site.files, site.asked) = (numbers.clone(), None);
            let sources = groups[*number].iter().map(|part| part.of_run.index()).collect();
            let is_with_us = site.is_here || own.is_some() && site.greeting.kernel == own;
            let processes = processes.map(|all| all.into_iter().chain(is_with_us.then(std::process::id)).collect());
            let _ = site.orders.send(Outgoing::Order(text.clone()));
            let (so_far, allowed, is_here) = (so_far.clone(), allowed.to_vec(), site.is_here);
            site.tell(&Order::Prepare(Box::new(Job { sources, so_far, is_here, processes, allowed, rows: log.is_some() })));
        }
        drop(text);
        if let Some(slices) = slices {
            let orders: Vec<_> = self.sites.iter().map(|site| site.orders.clone()).collect();
            self.dealing.begin(groups, &orders, slices)?;
        }
        {
            // An order to end that came before would be one to end the load before.
            let mut beat = self.beat.lock().unwrap_or_else(PoisonError::into_inner);
            (beat.stop, beat.told) = (Some(stop.clone()), None);
        }
        let mut awaited: BTreeSet<usize> = taking_part.iter().copied().collect();
        while !awaited.is_empty() {
            let (number, answer, _) = self.said(stop)?;
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
        let far = self.agree_on_time(&taking_part, stop)?;
        let until = HEAD_START.plus(Nanos(far.0 * 2));
        let at = monotonic_now().plus(until);
        self.gathering.begin(groups, log, until);
        for site in taking_part.iter().map(|number| &self.sites[*number]) {
            site.tell(&Order::Start { at: Nanos(at.0.saturating_add_signed(site.ahead)) });
        }
        Ok(())
    }

    /// Finds out by how much the clocks of sites on other machines are ahead: all are asked at once, some times, and of each the answer that came
    /// back soonest counts. The way there and back of the farthest comes out.
    fn agree_on_time(&mut self, taking_part: &[usize], stop: &Stop) -> Result<Nanos, RunError> {
        let far: Vec<usize> = taking_part.iter().copied().filter(|number| !self.sites[*number].is_here).collect();
        let mut best: BTreeMap<usize, (Nanos, i64)> = BTreeMap::new();
        for round in 0..CLOCK_ROUNDS {
            let mut asked = BTreeMap::new();
            for number in &far {
                asked.insert(*number, monotonic_now());
                self.sites[*number].tell(&Order::Clock(round));
            }
            while !asked.is_empty() {
                let (from, answer, heard) = self.said(stop)?;
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

    /// What a site says next, where all have to be there. Whoever ends the load does not wait for it for long.
    fn said(&mut self, stop: &Stop) -> Result<(usize, Answer, Nanos), RunError> {
        // While files are on their way, sites hear nothing of an end.
        let is_sending = self.on_their_way.load(Ordering::Relaxed) > 0 && stop.urgency() > Urgency::None;
        let mut is_late = || stop.urgency() == Urgency::Now && self.ending.get_or_insert_with(Instant::now).elapsed() > GOING_MAX;
        if is_sending || is_late() {
            return Err(RunError::run("the load was ended before it began", "start it again"));
        }
        match self.event() {
            (number, Event::Said(answer, at)) => match answer {
                Answer::Done | Answer::Told(_) => {
                    let message = format!("{} ended its part before the load began", self.sites[number].name);
                    Err(RunError::run(message, "try again; or with less that is to be done before the start"))
                }
                answer => Ok((number, answer, at)),
            },
            (_, Event::Greeted(_) | Event::Delivered(_)) => unreachable!("sites greet, and programs are brought, when they are called"),
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
            let next = self.arrivals.try_recv().ok().or_else(|| self.silence()).or_else(|| {
                let wait = limit.saturating_duration_since(now).min(BEAT);
                self.arrivals.recv_timeout(wait).ok()
            });
            let Some((number, arrival)) = next else {
                if Instant::now() >= limit {
                    return None;
                }
                continue;
            };
            let site = &mut self.sites[number];
            if site.is_gone && !matches!(arrival, Arrival::Delivered(_)) {
                continue;
            }
            site.heard = Instant::now();
            let event = match arrival {
                Arrival::Greeted(greeting) => Event::Greeted(greeting),
                Arrival::Delivered(ended) => Event::Delivered(ended),
                Arrival::Gone(why, status) => Event::Gone(why, status),
                Arrival::Said(said, at) => match from_bytes(&said) {
                    Ok(answer) => Event::Said(answer, at),
                    Err(why) => Event::Gone(format!("{} is gone: {why}", site.name), None),
                },
            };
            if matches!(event, Event::Gone(..)) {
                site.is_gone = true;
                site.end.hasten();
            }
            return Some((number, event));
        }
    }

    /// A site that has been silent for too long.
    fn silence(&self) -> Option<(usize, Arrival)> {
        let is_silent = |site: &Site| !site.is_gone && site.is_greeted() && site.heard.elapsed() > lease(site.is_here);
        let number = self.sites.iter().position(is_silent)?;
        let site = &self.sites[number];
        Some((number, Arrival::Gone(format!("{} did not say anything for {} s", site.name, lease(site.is_here).as_secs()), None)))
    }
}

impl Drop for Fleet {
    /// Lets all sites go: without a stream of orders they end by themselves.
    fn drop(&mut self) {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = Beat { is_over: true, ..Beat::default() };
        // It holds the streams as well.
        self.dealing.end();
        let ends: Vec<Arc<dyn End>> = self.sites.drain(..).map(|site| site.end).collect();
        let limit = Instant::now() + GOING_MAX;
        for end in ends {
            end.wait(limit.saturating_duration_since(Instant::now()));
        }
    }
}

/// What is told of a site that cannot be called.
fn uncalled(call: &Call, why: &io::Error) -> RunError {
    RunError::run(call.uncalled(why), call.help.clone())
}

impl Site {
    fn call(
        call: &Call,
        number: usize,
        arrivals: &Sender<(usize, Arrival)>,
        (dealing, gathering): (&Dealing, &Gathering),
    ) -> io::Result<Self> {
        let Link { orders: stream, answers, end } = call.way.link()?;
        let (orders, written) = channel();
        let (unsent, of_whom) = (arrivals.clone(), call.name.clone());
        thread::Builder::new().name("orders".to_owned()).spawn(move || {
            if let Err(why) = write(&written, stream) {
                let why = format!("{of_whom} cannot be sent what the load needs: {why}");
                let _ = unsent.send((number, Arrival::Gone(why, None)));
            }
        })?;
        let (dealing, gathering) = (dealing.clone(), gathering.clone());
        let (arrivals, name, ended) = (arrivals.clone(), call.name.clone(), end.clone());
        thread::Builder::new().name("answers".to_owned()).spawn(move || {
            let greeted = read(answers, number, &arrivals, (&dealing, &gathering));
            let status = ended.wait(GOING_MAX);
            // What it complained of may come after its end.
            thread::sleep(LOOK);
            let (what, said) = greeted.map_or_else(|said| ("did not answer", said), |()| ("is gone", None));
            let why = said.map_or_else(|| ended.why(), |text| format!(": it said '{}'", text.escape_debug()));
            let _ = arrivals.send((number, Arrival::Gone(format!("{name} {what}{why}"), status)));
        })?;
        let (name, is_here) = (call.name.clone(), call.is_here);
        let greeting = Greeting::default();
        Ok(Self {
            name,
            is_here,
            orders,
            end,
            greeting,
            heard: Instant::now(),
            is_gone: false,
            files: BTreeSet::new(),
            ahead: 0,
            clock_error: None,
            round: CLOCK_ROUNDS,
            asked: None,
        })
    }

    fn greet(&mut self, greeting: Greeting) -> Result<(), RunError> {
        let own = Greeting::of_this_process();
        if (&greeting.schema, &greeting.loadline) != (&own.schema, &own.loadline) {
            return Err(RunError::input(
                format!("{} has loadline {}, and this is loadline {}", self.name, greeting.loadline, own.loadline),
                "use the same version on both sides",
            ));
        }
        // What it says of itself is a figure for arithmetic.
        let cores = greeting.cores.min(CORES_MAX);
        self.greeting = Greeting { cores, machine: Machine { cores, ..greeting.machine.clone() }, ..greeting };
        Ok(())
    }

    /// The machine it is on, and its process there.
    fn place(&self) -> (Place<'_>, u32) {
        let place = match (&self.greeting.kernel, self.is_here) {
            (_, true) => Place::Here,
            (Some(kernel), false) => Place::Known(kernel),
            (None, false) => Place::Alone(&self.name),
        };
        (place, self.greeting.process)
    }

    fn is_greeted(&self) -> bool {
        !self.greeting.schema.is_empty()
    }

    /// Waits for it no more; why, in words.
    fn give_up(&mut self, why: &str) -> String {
        self.is_gone = true;
        self.end.hasten();
        format!("{} {why}", self.name)
    }

    /// Asks a site on another machine what time it is there, during a load.
    fn ask_clock(&mut self) {
        if self.is_here || self.asked.is_some() {
            return;
        }
        self.asked = Some((self.round, monotonic_now()));
        self.tell(&Order::Clock(self.round));
        self.round += 1;
    }

    /// How far its clock may be off now, where that is more than was known: what an answer that came back at `heard` shows for certain.
    fn clock_since(&mut self, (round, now): (u32, Nanos), heard: Nanos) -> Option<Nanos> {
        let (_, asked) = self.asked.take().filter(|(asked, _)| *asked == round)?;
        let took = heard.since(asked);
        let ahead = now.0.wrapping_sub(asked.0 + took.0 / 2).cast_signed();
        let known = self.clock_error.unwrap_or_default();
        let certain = ahead.abs_diff(self.ahead).saturating_sub(took.0 / 2);
        (certain > known.0).then(|| {
            self.clock_error = Some(Nanos(certain));
            Nanos(certain)
        })
    }

    /// Says it, unless the site is gone, which is told elsewhere.
    fn tell(&self, order: &Order) {
        let _ = self.orders.send(Outgoing::Order(frame(order).into()));
    }
}

/// Hands on what a site says until it says no more. That a block was taken is for the dealing alone, and requests are for their log: they wait
/// for nobody who is busy with counts.
///
/// # Errors
/// If it does not greet: the beginning of what it said instead, if there was something.
fn read(
    stream: impl Read,
    number: usize,
    arrivals: &Sender<(usize, Arrival)>,
    (dealing, gathering): (&Dealing, &Gathering),
) -> Result<(), Option<String>> {
    let mut stream = BufReader::new(stream);
    let greeting = Greeting::read(&mut stream).map_err(|said| said.map(|text| text.chars().take(80).collect()))?;
    let mut next = Some(Arrival::Greeted(Box::new(greeting)));
    while let Some(arrival) = next {
        if arrivals.send((number, arrival)).is_err() {
            break;
        }
        next = loop {
            let Some(said) = read_frame(&mut stream).ok().flatten() else { break None };
            if gathering.takes(number, &said) {
                continue;
            }
            let Some(source) = taken(&said) else { break Some(Arrival::Said(said, monotonic_now())) };
            dealing.taken(number, source);
        };
    }
    Ok(())
}

/// The source that has taken a block, if that is what is said.
fn taken(said: &[u8]) -> Option<u32> {
    if said.len() > TAKEN_BYTES_MAX {
        return None;
    }
    match from_bytes(said) {
        Ok(Answer::Taken(source)) => Some(source),
        _ => None,
    }
}

/// Tells all sites that the commander is there, and when the load is to end.
fn keep_beating(beat: &Mutex<Beat>) {
    let stay = Outgoing::Order(frame(&Order::Stay).into());
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
                let order = Outgoing::Order(frame(&Order::to_end(urgency)).into());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::frame;

    #[test]
    fn that_a_block_was_taken_is_known_by_few_bytes() {
        let said = |answer: &Answer| frame(answer)[4..].to_vec();
        assert_eq!([0, 127, u32::MAX].map(|source| taken(&said(&Answer::Taken(source)))), [Some(0), Some(127), Some(u32::MAX)]);
        assert_eq!([Answer::Here, Answer::Ready, Answer::Done].map(|answer| taken(&said(&answer))), [None; 3]);
    }
}
