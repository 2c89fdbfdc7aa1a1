//! Journeys as a behaviour of users: each goes through its instructions, request by request.
//!
//! What is looked at in an answer is looked at after its last byte was stamped, so that a slow expression is in no request's
//! time. A user that waits or thinks holds neither request nor answer: buffers are lent for the time of a request, and there are
//! as many of them as requests under way.

use std::cell::{Cell, RefCell};
use std::io::Write as _;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::protocol::{Act, Encoded, EncodedRef};
use engine::redirect::{self, Convention, Hop, Hops};
use engine::{Behaviour, BehaviourError, Client, End, Request as Outgoing, Transport};
use javascript::Thrown;
use measure::{Failure, JourneyEnd, Leftovers, Outcome, Position, Recorder, Status, SuccessRule, Tally, Teardowns};
use plan::work::{Auth, Operator, Pace, Talk, Think, Weights};
use plan::{Nanos, Part, Plan, Secrets, Share, Spelling, Target};
use step::auth::{Account, Aws, Challenge, Digest, Payload, Signable};
use step::{Check, Headers, Jar, UnixSeconds, excerpt};
use template::{AllAnswers, AnswerNeeds, AnswerSink, Rows, Text, Writing};

use crate::answers::{Awaited, CompiledExtraction, keep_hop};
use crate::buffers::{lend, take_back};
use crate::cache::is_mark;
use crate::compiled::{Compiled, Content, LoopSource, Op, Proof, Request, ShareAmount, Span};
use crate::door::Doors;
use crate::ends::EndedLoad;
use crate::expression::{Evaluation, Expression, NoValue, compares};
use crate::order::{Halt, InTeardown, OnJourney, Role, is_in, shuffled};
use crate::scripts::Scripts;
use crate::user::{Led, Turns, User};

/// A journey may go through so many instructions between two requests: more is a loop that sends nothing.
const INSTRUCTIONS_MAX: u32 = 100_000;
/// So many journeys in a row may pass without a request.
const EMPTY_MAX: u32 = 1_000;
/// The place of the variable that holds the status of the last answer.
pub(crate) const STATUS_PLACE: usize = 0;

/// A worker's place among those of a run.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) part: Part,
    /// Of everything drawn by its users.
    pub(crate) seed: u64,
    /// Which journeys its population goes through.
    pub(crate) weights: Weights,
    /// Of each step that is sent at most so often, which share of that is the worker's.
    pub(crate) limits: Vec<Share>,
    /// Of each data file whose rows journeys ask for, which share of them is the worker's.
    pub(crate) rows: Vec<Option<Share>>,
    /// How many journeys the worker's users begin at most.
    pub(crate) journeys_max: u64,
    /// How many each of them begins at most.
    pub(crate) journeys_each_max: u64,
    /// Between its population and others.
    pub(crate) doors: Doors,
}

impl Place {
    /// The places of all parts of a plan, of which some are carried out here.
    pub(crate) fn all(plan: &Plan, here: &[Part], compiled: &Compiled) -> Vec<Self> {
        let populations = plan.populations();
        let goes = |population: u32, journey: usize| {
            if journey >= compiled.counted.1 {
                // What users do before they go, or once.
                return true;
            }
            let names = populations.get(population as usize).map_or(&[][..], |population| &population.journeys);
            names.is_empty() || names.iter().any(|name| **name == *compiled.journeys[journey].name)
        };
        let (parts, doors) = (plan.parts(), Doors::of(plan, here));
        let place = |part: &Part| {
            let weights = compiled.weights.only(|journey| goes(part.population, journey)).unwrap_or_else(|_| compiled.weights.clone());
            // Its share among those who go through one of these journeys.
            let share_of = |journeys: &[u32]| {
                let comes = |other: &&Part| journeys.iter().any(|journey| goes(other.population, *journey as usize));
                let having: Vec<&Part> = parts.iter().filter(comes).collect();
                let index = having.iter().position(|other| other.of_run == part.of_run);
                index.and_then(|index| Share::new(index as u32, having.len() as u32)).unwrap_or(part.of_run)
            };
            let limits = compiled.steps.iter().map(|request| share_of(&[request.journey])).collect();
            let rows = compiled.asked_rows.iter().map(|journeys| journeys.as_deref().map(share_of)).collect();
            let load = plan.of_population(part.population);
            let journeys_max = load.iterations().map_or(u64::MAX, |most| part.share.part(most.get()));
            let journeys_each_max = load.iterations_per_user().map_or(u64::MAX, NonZeroU64::get);
            let doors = doors[part.population as usize].clone();
            Self { part: *part, seed: load.seed(), weights, limits, rows, journeys_max, journeys_each_max, doors }
        };
        parts.iter().map(place).collect()
    }
}

/// What came of a single journey.
#[derive(Default)]
pub(crate) struct WalkRecord {
    /// Whether it went to its end.
    pub(crate) is_whole: bool,
    /// What failed, in words.
    pub(crate) wrong: Option<String>,
    /// Why there is to be no load, if the user ended it.
    pub(crate) ended: Option<String>,
    /// Every variable that has a value.
    pub(crate) variables: Vec<(usize, Vec<u8>)>,
}

/// What one worker reads answers with: expressions keep scratch memory of their own.
pub(crate) struct Tools {
    pub(crate) checks: Vec<Check>,
    pub(crate) extractions: RefCell<Vec<CompiledExtraction>>,
    aws: Option<Aws>,
    /// The longest request so far: the next finds that much room, and not the double of it.
    request_bytes: Cell<usize>,
}

/// Buffers that are lent for the time of a request, a stack for each use: one that has held a page is not kept under a header.
#[derive(Default)]
pub(crate) struct Lent {
    pub(crate) texts: RefCell<Vec<Vec<u8>>>,
    heads: RefCell<Vec<Vec<u8>>>,
    bodies: RefCell<Vec<Vec<u8>>>,
}

/// Room is made beforehand for requests of usual size only: one long upload must not make every other as long.
const ROOM_BYTES_MAX: usize = 4096;

/// One worker's journeys.
pub(crate) struct Journeys {
    pub(crate) compiled: Arc<Compiled>,
    /// Where one user goes on one journey: what came of it.
    pub(crate) single: Option<Arc<Mutex<WalkRecord>>>,
    seed: u64,
    pub(crate) part: Part,
    /// Which journey of the part's population is next.
    weights: Weights,
    pub(crate) tools: Vec<Tools>,
    /// How often each step may still be sent, and which share of its most that was.
    left: Vec<Cell<u64>>,
    limits: Vec<Share>,
    /// So many journeys are begun at most.
    journeys_max: u64,
    /// So many by each user.
    journeys_each_max: u64,
    pub(crate) rows: RefCell<Rows>,
    begun: Cell<u64>,
    sent: Cell<u64>,
    pub(crate) stopped: Cell<bool>,
    pub(crate) lent: Lent,
    answers: AllAnswers,
    scratch: RefCell<Vec<u8>>,
    /// How far the loads before this one came.
    position: Arc<Position>,
    /// Whether there is no row for the next journey.
    pub(crate) has_run_out: Cell<bool>,
    /// Whether a user came for a row of a file that has none left for it.
    pub(crate) lacks_row: Cell<bool>,
    /// The scripts of its users, or why there are none.
    pub(crate) scripts: Result<Option<Scripts>, Thrown>,
    teardowns: RefCell<Teardowns>,
    /// What its users have ended of the load, if anything.
    pub(crate) ended: RefCell<Option<EndedLoad>>,
    /// Between its population and others.
    pub(crate) doors: Doors,
}

impl Journeys {
    pub(crate) fn new(
        compiled: Arc<Compiled>,
        single: Option<Arc<Mutex<WalkRecord>>>,
        rows: Rows,
        place: Place,
        position: Arc<Position>,
    ) -> Self {
        let Place { part, seed, weights, limits, rows: _, journeys_max, journeys_each_max, doors } = place;
        let tools = compiled.steps.iter().map(|request| Tools {
            checks: request.checks.iter().map(|promised| promised.check.clone()).collect(),
            extractions: RefCell::new(request.extractions.clone()),
            aws: if let Proof::Aws(words) = &request.proof { Some(words.signer()) } else { None },
            request_bytes: Cell::new(0),
        });
        let steps = compiled.steps.iter().enumerate();
        let left = steps.map(|(place, request)| Cell::new(part_left(request, &position, place, limits[place]))).collect();
        Self {
            tools: tools.collect(),
            left,
            scripts: Scripts::of(&compiled),
            compiled,
            single,
            seed,
            part,
            weights,
            limits,
            journeys_max,
            journeys_each_max,
            rows: RefCell::new(rows),
            begun: Cell::new(0),
            sent: Cell::new(0),
            stopped: Cell::new(false),
            lent: Lent::default(),
            answers: AllAnswers::default(),
            scratch: RefCell::default(),
            position,
            has_run_out: Cell::new(false),
            lacks_row: Cell::new(false),
            teardowns: RefCell::default(),
            ended: RefCell::default(),
            doors,
        }
    }

    fn number(&self, counter: &Cell<u64>) -> u64 {
        let number = counter.get();
        counter.set(number + 1);
        self.part.of_run.number(number)
    }

    /// The number of the request that comes next.
    pub(crate) fn next_request(&self) -> u64 {
        self.position.requests + self.part.of_run.number(self.sent.get())
    }

    /// Whether the load ends even if nothing more is sent.
    pub(crate) fn ends_by_itself(&self) -> bool {
        self.compiled.order.has_duration || self.journeys_max < u64::MAX || self.journeys_each_max < u64::MAX
    }

    /// The user begins its next journey and stands before its first request, if it has one.
    fn begin(&self, user: &mut User) -> Result<(), BehaviourError> {
        let compiled = &*self.compiled;
        if compiled.user_teardown.is_some() && !user.is_fresh {
            let left = user.before.get_or_insert_default();
            left.variables.clone_from(&user.variables);
            left.rows.clone_from(&user.rows);
        }
        user.is_fresh = true;
        user.begun += 1;
        let number = self.number(&self.begun);
        let taken = self.rows.borrow_mut().take(user.number, &mut user.rows);
        if !self.has_rows(taken, user)? {
            return Ok(());
        }
        user.sets_out();
        user.journey = self.weights.choose(user.random.unit());
        user.at = 0;
        user.began = None;
        user.failed = false;
        user.is_lost = false;
        let begins_anew = !compiled.keeps_variables || user.begun == 1;
        if begins_anew {
            for (variable, kept) in user.variables.iter_mut().zip(&user.kept) {
                if !kept {
                    variable.clear();
                }
            }
            if let Some(progress) = &mut user.progress {
                progress.beside.names.clear();
            }
            self.note_success(user, true);
        }
        self.know(user, [user.number - self.part.first_user, self.position.journeys + number]);
        for (place, text) in compiled.variables.iter().filter(|_| begins_anew) {
            if !user.kept[*place] {
                let mut value = std::mem::take(&mut user.variables[*place]);
                self.write(text, user, &mut value);
                user.variables[*place] = value;
            }
        }
        self.advance(user)
    }

    /// Lets a user know its number and that of its journey, which count from 0 here.
    fn know(&self, user: &mut User, numbers: [u64; 2]) {
        for (place, number) in self.compiled.numbers.iter().zip(numbers) {
            if let Some(place) = place {
                user.variables[*place].clear();
                write!(user.variables[*place], "{}", number + 1).expect("memory takes it");
            }
        }
    }

    /// Writes a text as the user has it.
    pub(crate) fn write(&self, text: &Text, user: &mut User, out: &mut Vec<u8>) {
        let (mut scratch, mut is_unsafe) = (self.scratch.borrow_mut(), false);
        let number = self.next_request();
        let User { random, rows, variables, .. } = user;
        text.write(out, &mut Writing::new(number, random, rows, variables, &mut scratch, &mut is_unsafe));
    }

    /// Goes on to the next request of the journey, or to its end.
    pub(crate) fn advance(&self, user: &mut User) -> Result<(), BehaviourError> {
        let course = &self.compiled.journeys[user.journey];
        user.travels = false;
        for _ in 0..INSTRUCTIONS_MAX {
            let Some(op) = course.ops.get(user.at) else { return Ok(()) };
            user.at += 1;
            match op {
                Op::Request(step) => {
                    let left = &self.left[*step];
                    if left.get() == 0 {
                        continue;
                    }
                    if self.compiled.steps[*step].cache.is_some() && self.is_known(user, *step) {
                        if self.passes_over(user)? {
                            return Ok(());
                        }
                        continue;
                    }
                    left.set(left.get() - 1);
                    user.step = *step;
                    user.travels = true;
                    return Ok(());
                }
                Op::Pause(_) | Op::Pacing { .. } if self.compiled.hurried => {}
                Op::Pause(span) => user.pause = user.pause.plus(self.drawn(span, user)),
                Op::Pacing { place, span, catches_up } => {
                    let unit = user.random.unit();
                    let span = self.paced(span, user).span(unit);
                    user.keeps_pace(*place, span, *catches_up);
                }
                Op::Set(variable, value) => {
                    let mut text = lend(&self.lent.texts);
                    let set = self.evaluate(user, |evaluation| value.write(evaluation, &mut text));
                    let kept = &mut user.variables[*variable];
                    kept.clear();
                    kept.extend_from_slice(&text);
                    take_back(&self.lent.texts, text);
                    user.is_lost |= set.is_err();
                }
                Op::Script(place) => {
                    if !self.run_script(user, *place) {
                        return Ok(());
                    }
                }
                Op::Unless(condition, to) => {
                    if !self.holds(condition, user) {
                        user.at = *to;
                    }
                }
                Op::ForgetCookies => user.jar = Jar::default(),
                Op::ForgetCache => user.progress().caches = None,
                // One that it has not sent over is as good as a new one.
                Op::ForgetConnections if !user.set_out => {}
                Op::ForgetConnections => {
                    user.halts(Halt::Connections);
                    return Ok(());
                }
                Op::KeepCookie(cookie) => self.keep_cookie(cookie, user),
                Op::NextRow(file) => {
                    if !self.takes_row(user, *file)? {
                        user.at = course.ops.len();
                        return Ok(());
                    }
                }
                Op::Jump(to) => user.at = *to,
                Op::Times { slot, times } => {
                    // One answer that holds no number ends its journey, with the first request that it should have repeated.
                    user.loops[*slot] = Turns::Times(self.written(times, user).unwrap_or(1));
                }
                Op::Each { slot, list } => {
                    let mut items = match list {
                        LoopSource::Items(texts) => {
                            let mut items = Vec::with_capacity(texts.len());
                            for text in texts {
                                let mut item = Vec::new();
                                self.write(text, user, &mut item);
                                items.push(item);
                            }
                            items
                        }
                        LoopSource::Array(text) => {
                            let mut array = lend(&self.lent.texts);
                            self.write(text, user, &mut array);
                            // What was never extracted is an empty list.
                            let items = if array.is_empty() { Some(Vec::new()) } else { crate::json::items(&array) };
                            take_back(&self.lent.texts, array);
                            user.is_lost |= items.is_none();
                            items.unwrap_or_else(|| vec![Vec::new()])
                        }
                    };
                    items.reverse();
                    user.loops[*slot] = Turns::Items(items);
                }
                Op::Turn { slot, variable, end } => {
                    let goes_on = match &mut user.loops[*slot] {
                        Turns::None | Turns::Times(0) | Turns::Order(_) | Turns::For { .. } | Turns::Until(_) => false,
                        Turns::Times(times) => {
                            *times -= 1;
                            true
                        }
                        Turns::Items(items) => match (items.pop(), variable) {
                            (Some(item), Some(variable)) => {
                                user.variables[*variable] = item;
                                true
                            }
                            (item, _) => item.is_some(),
                        },
                    };
                    if !goes_on {
                        user.loops[*slot] = Turns::None;
                        user.at = *end;
                    }
                }
                Op::Pick { weights, starts } => user.at = starts[weights.choose(user.random.unit())],
                Op::Switch { value, cases, otherwise } => {
                    let mut text = lend(&self.lent.texts);
                    let found = self.evaluate(user, |evaluation| value.write(evaluation, &mut text));
                    user.is_lost |= found.is_err();
                    let case = cases.iter().find(|(value, _)| compares(text.trim_ascii(), Operator::Is, value));
                    user.at = case.map_or(*otherwise, |(_, start)| *start);
                    take_back(&self.lent.texts, text);
                }
                Op::Interleave { counter, starts } => {
                    let turn = self.compiled.order.count(*counter, user);
                    user.at = starts[(turn % starts.len() as u64) as usize];
                }
                Op::Share { counter, amount, end } => {
                    let iteration = self.compiled.order.count(*counter, user);
                    let amount = match amount {
                        ShareAmount::Fixed(amount) => Some(*amount),
                        ShareAmount::Written(text) => self.written(text, user),
                    };
                    if !amount.is_some_and(|amount| is_in(amount, iteration)) {
                        user.at = *end;
                    }
                }
                Op::Shuffle { slot, parts } => user.loops[*slot] = Turns::Order(shuffled(*parts, &mut user.random)),
                Op::Part { slot, starts, end } => {
                    let part = if let Turns::Order(parts) = &mut user.loops[*slot] { parts.pop() } else { None };
                    user.at = part.map_or(*end, |part| starts[part as usize]);
                }
                Op::For { slot, time } => {
                    let span = self.drawn(time, user);
                    let is_timed = !self.compiled.hurried;
                    user.loops[*slot] = if is_timed { Turns::For { span, over: user.pause.plus(span) } } else { Turns::Times(1) };
                }
                Op::Over { slot, is_begin, end } => {
                    if user.is_over(*slot, *is_begin) {
                        user.at = *end;
                    }
                }
                // Who does something once, or goes, waits for nobody.
                Op::Meet(_) | Op::Enter(_) | Op::Leave | Op::SharedPacing { .. } if self.is_alone(user) => {}
                Op::SharedPacing { .. } => {
                    user.halts(Halt::Pace);
                    return Ok(());
                }
                Op::Parallel { .. } => {
                    user.halts(Halt::Branches);
                    return Ok(());
                }
                Op::BranchEnd => return Ok(()),
                Op::Assigned(places) => user.assigns(places),
                Op::Enter(place) => {
                    user.halts(Halt::Others(self.compiled.order.sections[*place].entered()));
                    return Ok(());
                }
                Op::Leave => user.leaves_section(),
                Op::Meet(place) => {
                    let (meeting, within) = &self.compiled.order.meetings[*place];
                    user.halts(Halt::Others(meeting.clone().met(*within)));
                    return Ok(());
                }
                Op::Begin { place, pauses } => user.begins_transaction(*place, *pauses),
                Op::End => user.ends_transaction(),
                Op::EndJourney(extent) => {
                    self.end_by_item(user, *extent);
                    return Ok(());
                }
                Op::Once { number, end } => {
                    if user.done[*number] {
                        user.at = *end;
                    }
                }
                Op::OnceDone { number, variables } => {
                    user.done[*number] = true;
                    variables.iter().for_each(|variable| user.kept[*variable] = true);
                }
            }
        }
        // A loop that sends nothing, because of an answer or a row, ends its journey as one does that cannot be gone through: with the
        // next request, which is not sent.
        if self.ends_with_next(user) { Ok(()) } else { Err(self.cannot(user, "a loop goes round without sending anything")) }
    }

    /// Ends the user's journey with its next request, which is not sent; `false` if there is none.
    #[cold]
    pub(crate) fn ends_with_next(&self, user: &mut User) -> bool {
        let ops = &self.compiled.journeys[user.journey].ops;
        let (before, behind) = ops.split_at(user.at.min(ops.len()));
        let next = behind.iter().chain(before).find_map(|op| if let Op::Request(step) = op { Some(*step) } else { None });
        let Some(step) = next else { return false };
        (user.step, user.travels, user.is_lost, user.pause) = (step, true, true, Nanos::ZERO);
        true
    }

    #[cold]
    fn cannot(&self, user: &User, why: &str) -> BehaviourError {
        BehaviourError::new(
            format!("the journey '{}' cannot go on: {why}", self.compiled.journeys[user.journey].name),
            "look at the answer that it follows from, and mend the scenario",
        )
    }

    /// How long something takes this time; what is no time ends the journey with its next request.
    fn drawn(&self, span: &Span, user: &mut User) -> Nanos {
        let unit = user.random.unit();
        match span {
            Span::Drawn(think) => think.span(unit),
            Span::Written(text) => self.written::<Think>(text, user).map_or(Nanos::ZERO, |think| think.span(unit)),
        }
    }

    /// The pace that is kept this time; what is none ends the journey with its next request.
    pub(crate) fn paced(&self, span: &Span, user: &mut User) -> Think {
        match span {
            Span::Drawn(think) => *think,
            Span::Written(text) => self.written::<Pace>(text, user).map_or(Think::Fixed(Nanos::ZERO), |pace| pace.0),
        }
    }

    /// What a text says this time; what says nothing of the kind ends the journey with its next request.
    fn written<V: FromStr>(&self, text: &Text, user: &mut User) -> Option<V> {
        let mut written = lend(&self.lent.texts);
        self.write(text, user, &mut written);
        let value = std::str::from_utf8(&written).ok().and_then(|text| text.trim().parse().ok());
        take_back(&self.lent.texts, written);
        user.is_lost |= value.is_none();
        value
    }

    /// Whether it holds; what cannot be computed does not, and ends the journey with its next request.
    fn holds(&self, condition: &Expression, user: &mut User) -> bool {
        let holds = self.evaluate(user, |evaluation| condition.holds(evaluation));
        user.is_lost |= holds.is_err();
        holds.unwrap_or(false)
    }

    /// Computes something as the user has it.
    fn evaluate<T>(&self, user: &mut User, compute: impl FnOnce(&mut Evaluation<'_, '_>) -> Result<T, NoValue>) -> Result<T, NoValue> {
        let (mut scratch, mut is_unsafe) = (self.scratch.borrow_mut(), false);
        let number = self.next_request();
        let User { random, rows, variables, .. } = user;
        let mut writing = Writing::new(number, random, rows, variables, &mut scratch, &mut is_unsafe);
        compute(&mut Evaluation { writing: &mut writing, buffers: &self.lent.texts })
    }

    /// Writes the request that the user is before.
    pub(crate) fn compose(&self, user: &mut User) {
        let compiled = &*self.compiled;
        let request = &compiled.steps[user.step];
        let number = self.position.requests + self.number(&self.sent);
        let longest = &self.tools[user.step].request_bytes;
        let mut out = lend(&self.lent.texts);
        out.reserve_exact(longest.get().min(ROOM_BYTES_MAX));
        let (mut body, mut unfit) = (Vec::new(), false);
        let (mut scratch, mut is_unsafe) = (self.scratch.borrow_mut(), user.is_lost);
        let User { step, random, rows, variables, jar, digest, progress, .. } = &mut *user;
        let mut writing = Writing::new(number, random, rows, variables, &mut scratch, &mut is_unsafe);
        let bytes: &[u8] = match &request.body {
            Content::None => b"",
            Content::Fixed(bytes) => bytes,
            Content::Written(text) => {
                body = lend(&self.lent.texts);
                text.write(&mut body, &mut writing);
                if let Some(method) = &request.called {
                    let mut message = lend(&self.lent.texts);
                    unfit = method.encode(&body, &mut message).is_err();
                    take_back(&self.lent.texts, std::mem::replace(&mut body, message));
                }
                &body
            }
        };
        request.head.write(&mut out, &mut writing.with_body(bytes));
        if request.keeps_cookies && !request.has_cookies && !jar.is_empty() {
            let mut line = lend(&self.lent.texts);
            let place = request.elsewhere.as_ref().unwrap_or(&compiled.home);
            write_cookies(jar, place, path_of(EncodedRef::new(&out, request.layout)), &mut line);
            out.extend_from_slice(&line);
            take_back(&self.lent.texts, line);
        }
        // Of one that is still to be changed it is added behind that.
        if let Some(keeping) = request.cache.filter(|_| !request.is_changed) {
            let place = request.elsewhere.as_ref().unwrap_or(&compiled.home);
            Self::write_marks(progress, keeping, (place, request.layout), &mut out);
        }
        if !matches!(request.proof, Proof::None) && !request.is_changed {
            let written = EncodedRef::new(&out, request.layout.with_body(out.len()));
            let lines = self.proof(*step, digest, written, bytes);
            out.extend_from_slice(lines.as_bytes());
        }
        let has_length = !matches!(request.body, Content::None) || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
        if has_length && request.step.talk.is_none() {
            write!(out, "Content-Length: {}\r\n", bytes.len()).expect("memory takes it");
        }
        out.extend_from_slice(b"\r\n");
        let layout = request.layout.with_body(out.len());
        out.extend_from_slice(bytes);
        is_unsafe |= unfit;
        if is_unsafe {
            // A server that answers so, or a row in a million, ends a journey and not the run.
            out.clear();
        }
        take_back(&self.lent.texts, body);
        longest.set(longest.get().max(out.len()));
        self.set_before(user, Encoded { bytes: out, layout }, is_unsafe);
    }

    /// The user stands before this request, which is written.
    #[inline]
    fn set_before(&self, user: &mut User, request: Encoded, is_unsafe: bool) {
        user.is_unsendable = is_unsafe;
        user.is_lost = false;
        user.sent = request;
        (user.set_out, user.is_fresh) = (true, false);
        user.led = None;
        user.challenged = false;
        user.sink = self.lend_sink(self.compiled.steps[user.step].heard);
    }

    /// Writes the request that scripts have changed, or are still to change.
    #[cold]
    #[inline(never)]
    fn compose_changed(&self, user: &mut User) {
        let mut changes = user.progress().changes.take().unwrap_or_default();
        if !changes.has_draft() {
            self.compose(user);
            if user.is_unsendable {
                return;
            }
        }
        if let Some(draft) = changes.finish(user.sent.as_ref()) {
            let encoded = if user.is_lost { None } else { draft.encoded().ok() };
            let is_unsafe = encoded.is_none();
            self.give_up_request(user);
            self.set_before(user, encoded.unwrap_or_default(), is_unsafe);
        }
        if !user.is_unsendable {
            self.asks_for_changes(user);
            let replaced: &[&str] = match &self.compiled.steps[user.step].proof {
                Proof::None => &[],
                Proof::Digest(..) => &["authorization"],
                Proof::Aws(_) => &["authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"],
            };
            replaced.iter().for_each(|name| user.sent.remove(name));
            let sent = user.sent.as_ref();
            let lines = self.proof(user.step, &mut user.digest, sent, sent.body());
            user.sent.insert(lines.as_bytes());
        }
    }

    /// The header lines that prove who sends a request, which depend on the whole of it: its head, but for its end, and its body.
    fn proof(&self, step: usize, digest: &mut Option<Box<Digest>>, head: EncodedRef<'_>, body: &[u8]) -> String {
        let request = &self.compiled.steps[step];
        match (&request.proof, digest, &self.tools[step].aws) {
            (Proof::Digest(..), Some(digest), _) => {
                format!("Authorization: {}\r\n", digest.authorization(head.method(), path_of(head), body))
            }
            (Proof::Aws(_), _, Some(aws)) => signature(aws, request.elsewhere.as_ref().unwrap_or(&self.compiled.home), head, body),
            _ => String::new(),
        }
    }

    /// Takes back what was lent for a request that is not sent as it is.
    pub(crate) fn give_up_request(&self, user: &mut User) {
        let Encoded { bytes, .. } = std::mem::take(&mut user.sent);
        take_back(&self.lent.texts, bytes);
        self.take_sink(std::mem::take(&mut user.sink));
    }

    /// A place for what is looked at of an answer, in memory that is lent until [`take_sink`](Self::take_sink).
    pub(crate) fn lend_sink(&self, heard: AnswerNeeds) -> AnswerSink {
        let body = if heard.body { lend(&self.lent.bodies) } else { Vec::new() };
        AnswerSink::new(heard, [lend(&self.lent.heads), body], &self.answers)
    }

    /// Takes it back.
    pub(crate) fn take_sink(&self, sink: AnswerSink) {
        let [headers, body] = sink.into_memory();
        take_back(&self.lent.heads, headers);
        take_back(&self.lent.bodies, body);
    }

    /// Tells whoever waits for a single journey, or looks after users that go, what failed first.
    pub(crate) fn tell(&self, user: &User, why: impl Fn() -> String) {
        let told = || format!("the step '{}': {}", self.compiled.steps[user.step].name, why());
        if let Some(passed) = &self.single {
            if self.compiled.is_setup && self.compiled.steps[user.step].step.may_fail {
                // The load begins all the same.
                return;
            }
            passed.lock().unwrap_or_else(PoisonError::into_inner).wrong.get_or_insert_with(told);
        } else if self.is_in_teardown(user) {
            self.teardowns.borrow_mut().why.get_or_insert_with(told);
        }
    }

    /// Shows a request and its answer to whoever sees everything.
    fn show(&self, user: &User, sink: &AnswerSink, result: Result<u16, Failure>, took: Option<Nanos>) {
        let step = &self.compiled.steps[user.step].step;
        let message = match step.talk {
            None | Some(Talk::Connect | Talk::Call) => None,
            // On a connection that stands there is no head, and what a close says is in the step.
            Some(Talk::Send(_)) => Some(user.sent.as_ref().body().to_vec()),
            Some(Talk::Receive(_) | Talk::Listen(_) | Talk::Ping | Talk::Close(_)) => Some(Vec::new()),
        };
        let message = message.map(|bytes| Encoded { bytes, ..Encoded::default() });
        self.show_exchange(user, &step.name, message.as_ref().unwrap_or(&user.sent), sink, (result, took));
    }

    /// The same of any of its requests.
    pub(crate) fn show_exchange(
        &self,
        user: &User,
        name: &str,
        sent: &Encoded,
        sink: &AnswerSink,
        (result, took): (Result<u16, Failure>, Option<Nanos>),
    ) {
        let Some(onlooker) = &self.compiled.witness else { return };
        let mut exchange = sink.exchange(name.to_owned(), &sent.bytes, result, took);
        let named = onlooker.names.iter().zip(&user.variables).filter(|(_, value)| !value.is_empty());
        exchange.variables = named.map(|(name, value)| (name.clone(), excerpt(value))).collect();
        if let Some(method) = self.compiled.steps[user.step].called.as_ref() {
            exchange = exchange.with_message(method, sent.as_ref());
        }
        onlooker.witness.saw(exchange);
    }

    /// Whether the user is sending what it sends before it goes.
    pub(crate) fn is_in_teardown(&self, user: &User) -> bool {
        self.compiled.user_teardown == Some(user.journey)
    }

    /// Whether the user is one for whom there are no others to wait for: who is hurried goes its way alone.
    fn is_alone(&self, user: &User) -> bool {
        self.single.is_some() || self.compiled.hurried || self.is_in_teardown(user)
    }

    /// A journey is over, or a branch of one, whose last answer was there then.
    pub(crate) fn over(&self, user: &mut User, done: Nanos, how: JourneyEnd, recorder: &mut Recorder) {
        user.travels = false;
        user.sets_out();
        if let Some(branch) = user.branch() {
            return branch.ends(done, how);
        }
        if self.is_in_teardown(user) {
            self.teardowns.borrow_mut().failed += u64::from(how != JourneyEnd::Succeeded);
            return;
        }
        if let Some(began) = user.began.take() {
            recorder.journey_ended(user.journey, began, done, how);
        }
        self.pass(user, !matches!(how, JourneyEnd::BrokeOff(_)));
    }

    /// Where there is a single journey, it is over: what it left is what is asked for.
    fn pass(&self, user: &User, is_whole: bool) {
        let Some(passed) = &self.single else { return };
        let mut passed = passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.is_whole = is_whole;
        passed.ended = self.ended.borrow_mut().take().map(|ended| ended.why);
        passed.variables = user.variables.iter().cloned().enumerate().filter(|(_, value)| !value.is_empty()).collect();
        self.stopped.set(true);
    }

    /// Where the request under way goes.
    pub(crate) fn place<'a>(&'a self, user: &'a User) -> &'a Target {
        match &user.led {
            Some(led) => &led.place,
            None => self.compiled.steps[user.step].elsewhere.as_ref().unwrap_or(&self.compiled.home),
        }
    }

    /// Sends the request again with an answer to the server's challenge.
    fn answer_challenge(&self, user: &mut User) -> FollowUp {
        let request = &self.compiled.steps[user.step];
        let Proof::Digest(name, password) = &request.proof else { return FollowUp::Nothing };
        // A challenge that cannot be answered leaves the 401 as it is.
        let Ok(challenge) = Challenge::of(Headers::lines(&user.sink.headers)) else { return FollowUp::Nothing };
        self.show(user, &user.sink, Ok(401), None);
        let (mut who, mut word) = (Vec::new(), Vec::new());
        self.write(name, user, &mut who);
        self.write(password, user, &mut word);
        let account = Account::new(String::from_utf8_lossy(&who), String::from_utf8_lossy(&word));
        let mut chance = [0; 16];
        chance[..8].copy_from_slice(&user.random.bits().to_be_bytes());
        chance[8..].copy_from_slice(&user.random.bits().to_be_bytes());
        // Branches may be challenged at the same time, and with the same nonce.
        let mut digest = Digest::new(challenge, &account, chance).after(user.digest.as_deref());
        let sent = user.sent.as_ref();
        let value = digest.authorization(sent.method(), path_of(sent), sent.body());
        user.sent.remove("authorization");
        user.sent.insert(format!("Authorization: {value}\r\n").as_bytes());
        user.digest = Some(Box::new(digest));
        user.challenged = true;
        FollowUp::Again
    }

    /// Takes up the cookies of an answer.
    fn take_cookies(&self, user: &mut User, sink: &AnswerSink) {
        let User { jar, sent, led, step, .. } = user;
        let place = match led {
            Some(led) => &led.place,
            None => self.compiled.steps[*step].elsewhere.as_ref().unwrap_or(&self.compiled.home),
        };
        self.keep_cookies(jar, *step, (place, sent), sink);
    }

    /// Takes up the cookies of an answer to this request of a step, which was sent to this place.
    pub(crate) fn keep_cookies(&self, jar: &mut Jar, step: usize, (place, sent): (&Target, &Encoded), sink: &AnswerSink) {
        if self.compiled.steps[step].keeps_cookies && sink.sets_cookies {
            jar.take(Headers::lines(&sink.headers), cookie_place(place, path_of(sent.as_ref())), now());
        }
    }

    /// Keeps a cookie that the scenario gives.
    fn keep_cookie(&self, cookie: &Text, user: &mut User) {
        let mut line = lend(&self.lent.texts);
        self.write(cookie, user, &mut line);
        // What is no cookie, or too large, ends the journey as other values do that cannot be sent.
        user.is_lost |= !user.jar.give(&line, self.compiled.home.host(), now());
        take_back(&self.lent.texts, line);
    }

    /// The request that follows another of a step along a hop, with the cookies of where it leads; `None` if there is none.
    pub(crate) fn hop_to(&self, hop: &Hop<'_>, before: EncodedRef<'_>, step: usize, jar: &Jar) -> Option<Encoded> {
        let request = &self.compiled.steps[step];
        let key = request.step.auth.as_ref().and_then(Auth::key_header);
        let dropped = |name: &str| {
            let is_key = key.is_some_and(|key| key.eq_ignore_ascii_case(name));
            // Cookies are written anew, unless the step names them itself.
            is_key && hop.leaves_secrets() || name == "cookie" && !request.has_cookies || request.step.cache.is_some() && is_mark(name)
        };
        let mut next = hop.rewritten(before, dropped)?;
        if request.keeps_cookies && !request.has_cookies && !jar.is_empty() {
            let mut line = Vec::new();
            write_cookies(jar, hop.to, hop.to.path_and_query(), &mut line);
            next.insert(&line);
        }
        Some(next)
    }
}

/// Where a redirect leads from here; whether the server is one that was named the engine looks at, for every request.
pub(crate) fn destination_of(from: &Target, sink: &AnswerSink, hops: Hops) -> Result<Target, Failure> {
    let location = Headers::lines(&sink.headers).named("location").next().ok_or(Failure::RedirectTarget)?;
    redirect::destination(from, &String::from_utf8_lossy(location), hops, |_| true).map_err(|error| error.failure())
}

/// What a worker may still send of a step, after what was sent before.
fn part_left(request: &Request, position: &Position, place: usize, share: Share) -> u64 {
    let sent = position.sent.get(place).copied().unwrap_or(0);
    request.step.requests_max.map_or(u64::MAX, |most| share.part(most.saturating_sub(sent)))
}

/// What is sent after an answer within the same request.
enum FollowUp {
    /// Nothing: the request has ended as its answer did.
    Nothing,
    /// The request that a redirect leads to.
    Redirect,
    /// The same again: a challenge is answered, or the connection had just been closed.
    Again,
    /// Nothing, and the request has failed.
    Fail(Failure),
}

impl Journeys {
    /// A closed load's user begins the next of its journeys that sends anything, if it is on none and there is any.
    fn set_off(&self, user: &mut User) -> Result<(), BehaviourError> {
        let mut empty = 0;
        let may_begin = |user: &User| self.begun.get() < self.journeys_max && user.begun < self.journeys_each_max;
        while !user.travels && !self.stopped.get() && may_begin(user) {
            if empty == EMPTY_MAX {
                if self.left.iter().any(|left| left.get() == 0) {
                    // All that may be sent was sent.
                    self.stopped.set(true);
                    break;
                }
                return Err(self.cannot(user, &format!("{EMPTY_MAX} journeys in a row had nothing to send")));
            }
            self.begin(user)?;
            if !user.travels {
                // A setup may only compute.
                self.pass(user, true);
            }
            empty += 1;
        }
        if self.compiled.order.is_scripted {
            // What scripts took is no part of the first request's time.
            user.pause = user.pause.max(Nanos(1));
        }
        Ok(())
    }

    /// An open load's user begins its journey: those that came before on its Lane are forgotten, their rows' memory is not.
    fn arrive(&self, user: &mut User) -> Result<(), BehaviourError> {
        let rows = std::mem::take(&mut user.rows);
        *user = self.user(self.part.share.number(self.begun.get()));
        user.rows = rows;
        self.lacks_row.set(false);
        self.begin(user)?;
        if self.lacks_row.get() && !user.travels {
            // Whoever arrives next would find no row either.
            self.ends_without_rows();
        }
        Ok(())
    }

    /// Waits where the journey says so, for other users, at a pace, or for its own branches, and goes on behind that.
    async fn wait<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>, role: impl Role) -> Result<(), End> {
        if let Some(page) = user.takes_page() {
            if let Some(failure) = self.load_page(user, client, *page, role).await? {
                let done = user.last_time();
                client.count(|recorder| role.whole(user, |user| self.break_off(user, done, failure, recorder)));
                return Ok(());
            }
        } else if user.branches_off() {
            if !self.go_parallel(user, client).await? {
                return Ok(());
            }
        } else if user.is_paced() {
            self.keep_pace(user, client, role).await?;
        } else if user.forgets_connections() {
            client.close_connections();
        } else if user.is_idle() {
            let since = client.due();
            client.rest(std::mem::take(&mut user.pause)).await?;
            user.has_waited(since, client.due());
        } else {
            let (pause, since) = (std::mem::take(&mut user.pause), client.due());
            client.wait(pause, |cx| user.poll_wait(cx)).await?;
            if user.waits() {
                return Ok(());
            }
            user.has_waited(since, client.due());
        }
        role.whole(user, |user| self.advance(user))?;
        let done = user.last_time();
        client.count(|recorder| {
            user.count_transactions(recorder);
            self.look_for_end(user, done, recorder);
        });
        Ok(())
    }

    /// Goes through the journey that the user is on, request by request. That of a teardown or a branch is compiled apart, so that the
    /// other is part of its only caller.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    pub(crate) fn travel<T: Transport, R: Role>(
        &self,
        user: &mut User,
        client: &mut Client<'_, T>,
        role: R,
    ) -> impl Future<Output = Result<(), End>> {
        async move {
            while user.travels {
                if user.waits() {
                    // Boxed: the user's task would be larger for it all its life.
                    Box::pin(self.wait(user, client, role)).await?;
                    continue;
                }
                client.turn(std::mem::take(&mut user.pause)).await?;
                let request = &self.compiled.steps[user.step];
                role.whole(user, |user| if request.is_changed { self.compose_changed(user) } else { self.compose(user) });
                let mut outcome = if user.is_unsendable {
                    client.refuse(user.refusal(), request.step.timeout)
                } else {
                    client.begin(request.step.timeout);
                    if client.watches_answers() || request.talks() {
                        Box::pin(self.exchange_closely(user, client)).await
                    } else {
                        let outgoing = Outgoing::new(user.sent.as_ref()).judged(self.judges(user, request)).closing(request.step.closes);
                        client.exchange(&outgoing.at(request.elsewhere.as_ref()), &mut user.sink).await
                    }
                };
                if self.goes_on(user, request, outcome.result) {
                    outcome = Box::pin(self.send_more(user, client, outcome, role)).await;
                }
                if R::IS_TEARDOWN && outcome.result == Err(Failure::ClientInterrupted) {
                    client.record(&outcome);
                    return Err(End::Over);
                }
                client.record_with(&outcome, |recorder| role.whole(user, |user| self.record(user, &outcome, recorder)))?;
            }
            Ok(())
        }
    }

    /// An exchange whose answer is looked at while it comes: for its events, or for which message it is.
    async fn exchange_closely<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>) -> Outcome {
        let request = &self.compiled.steps[user.step];
        let judges = self.judges(user, request);
        let conditions = self.conditions(user);
        let outgoing = Outgoing::new(user.sent.as_ref()).judged(judges).closing(request.step.closes).at(request.elsewhere.as_ref());
        if request.layout.act() == Act::Listen {
            return client.listen(&outgoing, &mut user.sink, user.step).await;
        }
        if request.talks() {
            return client.exchange(&outgoing, &mut Awaited { sink: &mut user.sink, conditions: &conditions }).await;
        }
        client.watch(None, &outgoing.listening(request.step.stream_for), &mut user.sink, Some(user.step)).await
    }

    /// Whether the behaviour says by itself which statuses of the answer are right: a challenge is a 401 that is asked for.
    #[inline]
    fn judges(&self, user: &User, request: &Request) -> bool {
        request.judges_status || matches!(request.proof, Proof::Digest(..)) && !user.challenged
    }

    /// Whether anything may follow an answer within the same request.
    #[inline]
    fn goes_on(&self, user: &User, request: &Request, result: Result<u16, Failure>) -> bool {
        match result {
            Ok(status) => {
                request.step.redirects > 0 && Status(status).is_redirect()
                    || status == 401 && !user.challenged && matches!(request.proof, Proof::Digest(..))
            }
            // The connection has waited for the others' last answers: that the server closed it meanwhile is no failure.
            Err(failure) => failure == Failure::StaleReuse && self.is_in_teardown(user),
        }
    }

    /// Sends what follows an answer within the same request: along redirects, and as a challenge asks for it.
    async fn send_more<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>, mut outcome: Outcome, role: impl Role) -> Outcome {
        let request = &self.compiled.steps[user.step];
        while self.goes_on(user, request, outcome.result) {
            match role.whole(user, |user| self.follow_up(user, outcome.result)) {
                FollowUp::Nothing => break,
                FollowUp::Fail(failure) => return client.fail(&outcome, failure, String::new),
                FollowUp::Again => {}
                FollowUp::Redirect => {
                    if let Err(refused) = client.redirect(&outcome, self.place(user)) {
                        return refused;
                    }
                }
            }
            let place = user.led.as_ref().map(|led| &led.place).or(request.elsewhere.as_ref());
            let outgoing = Outgoing::new(user.sent.as_ref()).judged(self.judges(user, request)).closing(request.step.closes).at(place);
            let outgoing = outgoing.listening(request.step.stream_for);
            outcome = Box::pin(client.watch(Some(&outcome), &outgoing, &mut user.sink, Some(user.step))).await;
        }
        outcome
    }

    /// Counts a request, looks at its answer, and goes on from it.
    fn record(&self, user: &mut User, outcome: &Outcome, recorder: &mut Recorder) -> Result<(), BehaviourError> {
        let step = user.step;
        if user.began.is_none() {
            user.began = Some(recorder.journey_began(user.journey, outcome.due));
        }
        let mut sink = std::mem::take(&mut user.sink);
        let had_failed = std::mem::take(&mut user.failed);
        let mut page = None;
        let ends = match outcome.result {
            Err(failure) => {
                recorder.record_step(outcome, step, SuccessRule::ByStatus);
                recorder.step_failed(step, failure, outcome.done, || self.unanswered(user, failure));
                user.failed = true;
                self.tell(user, || user.thrown(failure).unwrap_or_else(|| failure.about().to_owned()));
                // What cannot be sent would not be sent the next time either, and the end of the run is one.
                let is_final = matches!(failure, Failure::ClientInterrupted | Failure::RequestValue | Failure::ScriptUnsent);
                let goes_on = self.compiled.steps[step].step.may_fail && !is_final;
                if goes_on {
                    self.go_without_answer(user);
                }
                (!goes_on).then_some(failure)
            }
            Ok(status) => {
                user.variables[STATUS_PLACE].clear();
                write!(user.variables[STATUS_PLACE], "{status}").expect("memory takes it");
                if let Some(method) = &self.compiled.steps[step].called {
                    sink.translate(|content| method.answer(content));
                }
                self.take_cookies(user, &sink);
                if let Some(keeping) = self.compiled.steps[step].cache {
                    self.keeps_in_mind(user, keeping, status, &sink, outcome.done);
                }
                if Status(status).is_success() && sink.refusal().is_none() {
                    page = self.page_of(user, &sink, outcome.done);
                }
                let (mut judged, mut ends) = self.judge(user, (status, page.is_some()), outcome, &sink, recorder);
                if !self.compiled.steps[step].after.is_empty() {
                    (judged, ends) = self.run_after(user, (status, outcome), &mut sink, recorder, (judged, ends));
                }
                recorder.record_step(outcome, step, judged);
                let failure = if let SuccessRule::Failed(failure) = judged { Some(failure) } else { None };
                page = page.filter(|page| failure.is_none() || self.is_part_of(page));
                user.failed |= failure.is_some();
                if failure == Some(Failure::CheckStatus) {
                    let name = &self.compiled.steps[step].name;
                    recorder.step_failed(step, Failure::CheckStatus, outcome.done, || format!("{name}: answered with the status {status}"));
                    self.tell(user, || format!("it was answered with the status {status}"));
                }
                let about = &self.compiled.steps[step].step;
                ends.filter(|_| !about.may_fail).or(failure.filter(|_| about.failure_ends.is_some()))
            }
        };
        user.had_answer(outcome, recorder);
        if self.compiled.last_succeeded.is_some() {
            self.note_success(user, !user.failed);
        }
        user.failed |= had_failed;
        self.show(user, &sink, outcome.result, Some(outcome.response_time()));
        let Encoded { bytes, .. } = std::mem::take(&mut user.sent);
        take_back(&self.lent.texts, bytes);
        self.take_sink(sink);
        if let Some(mut page) = page {
            page.ends(ends);
            user.halts(Halt::Page(page));
            return Ok(());
        }
        match ends {
            // Given up with the run: the journey was under way to its end.
            Some(Failure::ClientInterrupted) => user.travels = false,
            Some(failure) => self.break_off(user, outcome.done, failure, recorder),
            None => {
                self.advance(user)?;
                user.count_transactions(recorder);
                self.look_for_end(user, outcome.done, recorder);
            }
        }
        Ok(())
    }

    /// The journey ends by a failure.
    fn break_off(&self, user: &mut User, done: Nanos, failure: Failure, recorder: &mut Recorder) {
        user.break_transactions(failure, recorder);
        self.over(user, done, JourneyEnd::BrokeOff(failure), recorder);
        self.end_by_failure(user);
    }

    /// Whether the journey is over, behind an answer or a wait.
    fn look_for_end(&self, user: &mut User, done: Nanos, recorder: &mut Recorder) {
        if !user.travels {
            let how = if user.failed { JourneyEnd::Completed } else { JourneyEnd::Succeeded };
            self.over(user, done, how, recorder);
        }
    }

    /// What is sent after an answer, or its failure to come, within the same request.
    fn follow_up(&self, user: &mut User, result: Result<u16, Failure>) -> FollowUp {
        let compiled = &*self.compiled;
        let request = &compiled.steps[user.step];
        if result == Err(Failure::StaleReuse) && self.is_in_teardown(user) {
            // A connection that is new cannot be stale: this comes once.
            return FollowUp::Again;
        }
        let (Ok(status), redirects) = (result, request.step.redirects) else { return FollowUp::Nothing };
        if status == 401 && !user.challenged && matches!(request.proof, Proof::Digest(..)) {
            return self.answer_challenge(user);
        }
        if redirects == 0 || !Status(status).is_redirect() {
            return FollowUp::Nothing;
        }
        let followed = user.led.as_ref().map_or(0, |led| led.hops);
        let from = self.place(user).clone();
        let to = match destination_of(&from, &user.sink, Hops { followed, max: redirects }) {
            Ok(to) => to,
            Err(failure) => return FollowUp::Fail(failure),
        };
        let sink = std::mem::take(&mut user.sink);
        self.take_cookies(user, &sink);
        self.show(user, &sink, result, None);
        user.sink = sink;
        let method = user.sent.as_ref().method();
        let began = request.elsewhere.as_ref().unwrap_or(&compiled.home);
        let hop = Hop { convention: Convention::Browser, began, from: &from, to: &to, status: Status(status), method };
        let Some(next) = self.hop_to(&hop, user.sent.as_ref(), user.step, &user.jar) else {
            return FollowUp::Fail(Failure::RedirectTarget);
        };
        if request.cache.is_some() && self.is_known_at(user, &to, &next) {
            return FollowUp::Nothing;
        }
        let sent = std::mem::replace(&mut user.sent, next);
        let (mut bodies, mut broken) = user.led.take().map(|led| (led.bodies, led.broken)).unwrap_or_default();
        if request.looks_into_hops {
            keep_hop(&mut bodies, &user.sink.body);
        }
        if request.checks_parts {
            let sink = std::mem::take(&mut user.sink);
            broken.extend(self.broken_of(user, user.step, (&from, &sent), (status, &sink)));
            user.sink = sink;
        }
        user.led = Some(Box::new(Led { bodies, place: to, hops: followed + 1, broken }));
        if request.cache.is_some() {
            self.asks_for_changes(user);
        }
        FollowUp::Redirect
    }
}

impl Behaviour for Journeys {
    type User = User;

    const HAS_TEARDOWN: bool = true;

    fn user(&self, number: u64) -> User {
        let compiled = &*self.compiled;
        let mut user = User::new(self.part.first_user + number, self.seed, compiled.variables_count, compiled.onces, compiled.loops);
        user.progress = compiled.order.progress();
        for (place, value) in &compiled.inherited {
            user.variables[*place].clone_from(value);
            user.kept[*place] = true;
        }
        user
    }

    fn opens_first(&self) -> bool {
        !self.doors.are_closed()
    }

    fn tally(&self) -> Tally {
        self.compiled.tally()
    }

    fn limit_min(&self) -> Option<Nanos> {
        self.compiled.steps.iter().flat_map(|request| [request.step.timeout, request.step.stream_for]).flatten().min()
    }

    fn leftovers(&self) -> Leftovers {
        let Self { compiled, position, left, limits, part: Part { of_run: share, .. }, .. } = self;
        let scripts = self.scripts.as_ref().ok().and_then(Option::as_ref).map(Scripts::notes).unwrap_or_default();
        // Numbers are dealt to the workers in turn: the next load begins behind the one who was given most.
        let beyond = |counter: &Cell<u64>| counter.get() * u64::from(share.of());
        let sent = compiled.steps.iter().enumerate().zip(left).map(|((place, request), left)| {
            let granted = part_left(request, position, place, limits[place]);
            if request.step.requests_max.is_some() { granted - left.get() } else { 0 }
        });
        let position = Position {
            journeys: position.journeys + beyond(&self.begun),
            requests: position.requests + beyond(&self.sent),
            sent: sent.collect(),
            has_run_out: self.has_run_out.get(),
        };
        let data_waits = self.rows.borrow().waits();
        let ended_by = self.ended.borrow().as_ref().map(|ended| ended.why.clone());
        Leftovers { teardowns: self.teardowns.borrow().clone(), position, data_waits, scripts, ended_by, ..Leftovers::default() }
    }

    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    fn iterate<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>) -> impl Future<Output = Result<(), End>> {
        async move {
            if user.begun == 0 && self.doors.are_closed() {
                // Boxed: the user's task would be larger for it all its life.
                Box::pin(self.wait_at_door(client)).await?;
            }
            let begun = if client.is_arrival() { self.arrive(user) } else { self.set_off(user) };
            begun?;
            if !user.travels && !client.is_arrival() {
                if self.stopped.get() {
                    self.stop(client);
                }
                self.doors.leave(client.due());
                return Err(End::Over);
            }
            let travelled = self.travel(user, client, OnJourney).await;
            if self.stopped.get() {
                self.stop(client);
            }
            if travelled.is_err() {
                self.doors.leave(client.due());
            }
            travelled
        }
    }

    fn begin_teardown(&self, user: &mut User) -> bool {
        // Who has sent nothing leaves nothing behind.
        let Some(user_teardown) = self.compiled.user_teardown.filter(|_| user.set_out) else { return false };
        self.teardowns.borrow_mut().users += 1;
        if let Some(left) = user.before.take().filter(|_| user.is_fresh) {
            (user.variables, user.rows) = (left.variables, left.rows);
        }
        user.sets_out();
        (user.journey, user.at, user.pause, user.failed, user.began) = (user_teardown, 0, Nanos::ZERO, false, None);
        user.is_lost = false;
        if let Err(error) = self.advance(user) {
            self.fail_teardown(error.message.spelt(Spelling::KEYS));
        }
        user.travels
    }

    async fn tear_down<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>) {
        if let Err(end) = self.travel(user, client, InTeardown).await {
            user.travels = false;
            self.fail_teardown(match end {
                End::Over => "its time was over".to_owned(),
                End::Broken(error) => error.message.spelt(Spelling::KEYS),
            });
        }
    }
}

impl Journeys {
    fn fail_teardown(&self, why: String) {
        let mut teardowns = self.teardowns.borrow_mut();
        teardowns.failed += 1;
        teardowns.why.get_or_insert(why);
    }

    /// What a step waited for, in words that stand before what was seen.
    fn unanswered(&self, user: &User, failure: Failure) -> String {
        let request = &self.compiled.steps[user.step];
        if let Some(thrown) = user.thrown(failure) {
            return format!("{}: {thrown}", request.name);
        }
        if failure.is_timeout() && !failure.is_connect() {
            let limit = request.step.timeout.unwrap_or(self.compiled.timeout);
            return format!("{}: no answer within {limit}", request.name);
        }
        request.name.to_string()
    }
}

/// What an answer was found to be, without the secrets of its request, which may stand in it again.
pub(crate) fn without_secrets(sent: &Encoded, said: &impl ToString) -> String {
    Secrets::of_request(&sent.bytes).conceal(&said.to_string())
}

/// The path that a request asks for.
pub(crate) fn path_of(request: EncodedRef<'_>) -> &str {
    request.path().unwrap_or("/")
}

fn cookie_place<'a>(target: &'a Target, path: &'a str) -> step::Place<'a> {
    let path = path.split('?').next().unwrap_or("/");
    step::Place { host: target.host(), path, secure: target.scheme().is_tls() }
}

/// Writes the Cookie header of a request to a path, if there is any cookie for it.
fn write_cookies(jar: &Jar, target: &Target, path: &str, out: &mut Vec<u8>) {
    let from = out.len();
    out.extend_from_slice(b"Cookie: ");
    if jar.write(cookie_place(target, path), now(), out) {
        out.extend_from_slice(b"\r\n");
    } else {
        out.truncate(from);
    }
}

/// The header lines that sign a request.
fn signature(aws: &Aws, target: &Target, head: EncodedRef<'_>, body: &[u8]) -> String {
    let signed = |name: &str| {
        let name = name.to_ascii_lowercase();
        name == "content-type" || name.starts_with("x-amz-")
    };
    let headers = head.headers().unwrap_or_default();
    let headers = headers.into_iter().filter(|(name, _)| signed(name));
    let headers: Vec<(&str, &str)> =
        headers.filter_map(|(name, value)| Some((name, std::str::from_utf8(value).ok()?.trim_start()))).collect();
    let signable = Signable {
        method: head.method(),
        host: &target.authority(),
        path_and_query: path_of(head),
        headers: &headers,
        payload: Payload::Bytes(body),
    };
    let signature = aws.sign(&signable, now());
    signature.headers.into_iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect()
}

pub(crate) fn now() -> UnixSeconds {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixSeconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
