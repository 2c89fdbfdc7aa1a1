//! A scenario, compiled for one plan: texts in pieces, journeys as instructions.
//!
//! A user that stands in the middle of a loop in a branch must be able to wait there for an answer, with hundreds of others.
//! Walking the tree would need a stack for each; instructions need a place and a counter for each loop. What does not differ
//! from request to request is text already, and the head is made by the engine, so that a journey's requests are checked and
//! closed as all others are.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::protocol::{Act, Layout};
use grpc::{Descriptors, Method};
use measure::{JourneyCounts, StepCounts, Tally};
use plan::setting::{HEADER, SCENARIO};
use plan::template::{Template, is_templated};
use plan::work::{
    self, Amount, Auth, Body, Cache, Duration, Extent, FieldValue, Function, Item, JOURNEY_NUMBER, LAST_SUCCEEDED, List, Operator,
    PacedUsers, Reply, STATUS, Script, Step, Talk, Think, USER_NUMBER, Weights,
};
use plan::{Bounds, Nanos, Placeholder, Plan, PlanError, PlanErrors, Random, Target, percent_encoded};
use step::auth::Aws;
use step::body::{Boundary, File, Part};
use step::resources::ResourceFilter;
use template::{AnswerNeeds, Compiler, Data, Place, Text, Witness};

use crate::answers::{CompiledCheck, CompiledExtraction, are_of_parts, heard_of, looks_into_hops};
use crate::cache::keeping_of;
use crate::counts::Counts;
use crate::expression::Expression;
use crate::file::Scenario;
use crate::flow::{self, Frame};
use crate::letters::{charset_of, form_text};
use crate::meeting::Meeting;
use crate::order::{Counter, Order};
use crate::rows::asked_rows;
use crate::scripts::{BeforeRequest, Common, Program};
use crate::search::Search;

/// The stream of chance that the boundary of forms is drawn from.
const BOUNDARY: u64 = 1 << 62;

/// What all workers read.
pub(crate) struct Compiled {
    /// Who sees everything, if anybody does.
    pub(crate) witness: Option<Onlooker>,
    /// Those that are counted first.
    pub(crate) steps: Vec<Request>,
    /// Those that are counted first.
    pub(crate) journeys: Vec<JourneyProgram>,
    /// So many steps and journeys are counted.
    pub(crate) counted: (usize, usize),
    /// The journey that a user takes before it goes, if there is one.
    pub(crate) user_teardown: Option<usize>,
    /// Which journey is next.
    pub(crate) weights: Weights,
    /// Set at the beginning of each journey.
    pub(crate) variables: Vec<(usize, Text)>,
    pub(crate) variables_count: usize,
    /// The places of the variables that hold the numbers of a user and of its journey, as far as something names them.
    pub(crate) numbers: [Option<usize>; 2],
    /// The place of the variable that holds whether a user's last request succeeded, if something names it.
    pub(crate) last_succeeded: Option<usize>,
    /// So many things that are done only once a user.
    pub(crate) onces: usize,
    /// So many loops stand in each other or beside each other at most.
    pub(crate) loops: usize,
    /// Turns, shares and times.
    pub(crate) order: Order,
    /// The transactions of the journeys, by their places.
    pub(crate) transactions: Vec<Arc<str>>,
    pub(crate) scripts: Vec<Program>,
    /// What scripts share.
    pub(crate) common: Arc<Common>,
    /// Every variable by its place, where scripts ask for them by name.
    pub(crate) names: Vec<String>,
    /// Variables that the setup left, and their values.
    pub(crate) inherited: Vec<(usize, Vec<u8>)>,
    /// Of each data file the journeys that ask for its rows; `None`: each journey has one.
    pub(crate) asked_rows: Vec<Option<Vec<u32>>>,
    /// Whether variables keep their values from journey to journey.
    pub(crate) keeps_variables: bool,
    /// Whether users wait for each other with those of their own process alone.
    pub(crate) each_place: bool,
    /// Whether users do without their pauses.
    pub(crate) hurried: bool,
    /// Whether it is what is done once before the load.
    pub(crate) is_setup: bool,
    pub(crate) home: Target,
    /// The servers that may be asked.
    pub(crate) bounds: Bounds,
    /// How long an answer may take, where the step does not say.
    pub(crate) timeout: Nanos,
}

/// A journey's instructions.
pub(crate) struct JourneyProgram {
    pub(crate) name: Arc<str>,
    pub(crate) ops: Vec<Op>,
}

/// What is done next. Places are those of instructions.
pub(crate) enum Op {
    /// Send, and go on when the answer is there.
    Request(usize),
    Pause(Span),
    /// Wait until it is this long since the user was here.
    Pacing {
        place: usize,
        span: Span,
        catches_up: bool,
    },
    /// Wait for the next time of a pace that users keep together; each population may have its own, one after the other.
    SharedPacing {
        place: usize,
        each_population: bool,
        span: Span,
        catches_up: bool,
        together: u16,
    },
    /// A variable becomes what is computed.
    Set(usize, Expression),
    /// The user's cookies are gone.
    ForgetCookies,
    /// What the user knows of answers is gone.
    ForgetCache,
    /// Its connections are closed.
    ForgetConnections,
    /// The user keeps a cookie.
    KeepCookie(Text),
    /// The user takes the next row of the data file at this place.
    NextRow(usize),
    /// A program is run.
    Script(usize),
    /// Go there unless it holds.
    Unless(Expression, usize),
    Jump(usize),
    /// A loop begins that is gone through so often.
    Times {
        slot: usize,
        times: Text,
    },
    /// A loop begins that is gone through once for each.
    Each {
        slot: usize,
        list: LoopSource,
    },
    /// The next turn of a loop, with its value in a variable; or on there if there is none.
    Turn {
        slot: usize,
        variable: Option<usize>,
        end: usize,
    },
    /// One of these.
    Pick {
        weights: Weights,
        starts: Vec<usize>,
    },
    /// The first that has the value, or else there.
    Switch {
        value: Expression,
        cases: Vec<(Vec<u8>, usize)>,
        otherwise: usize,
    },
    /// The next of these.
    Interleave {
        counter: Counter,
        starts: Vec<usize>,
    },
    /// On there unless this is one of the times.
    Share {
        counter: Counter,
        amount: ShareAmount,
        end: usize,
    },
    /// A loop begins that goes through so many parts by chance.
    Shuffle {
        slot: usize,
        parts: usize,
    },
    /// The part that is next of these, or on there if there is none.
    Part {
        slot: usize,
        starts: Vec<usize>,
        end: usize,
    },
    /// A loop begins that goes on for this long.
    For {
        slot: usize,
        time: Span,
    },
    /// On there if the time of the loop is over; looked at before each of its items.
    Over {
        slot: usize,
        is_begin: bool,
        end: usize,
    },
    /// Branches that begin there, so many at once; then on there.
    Parallel {
        starts: Vec<usize>,
        at_once: usize,
        end: usize,
    },
    /// A branch ends.
    BranchEnd,
    /// Variables have been given values, in a branch.
    Assigned(Vec<usize>),
    /// Wait until a section is free, and enter it.
    Enter(usize),
    /// The section that was entered last is free again.
    Leave,
    /// Wait for others.
    Meet(usize),
    /// A transaction begins.
    Begin {
        place: usize,
        pauses: bool,
    },
    /// The transaction that began last ends.
    End,
    /// The journey ends here, and more with it.
    EndJourney(Extent),
    /// On there if the user was here before.
    Once {
        number: usize,
        end: usize,
    },
    /// The end of what is done only once: what was extracted is kept.
    OnceDone {
        number: usize,
        variables: Vec<usize>,
    },
}

/// Which of the times something is done.
pub(crate) enum ShareAmount {
    Fixed(Amount),
    Written(Text),
}

/// How long something takes.
pub(crate) enum Span {
    Drawn(Think),
    Written(Text),
}

/// What a loop goes through.
pub(crate) enum LoopSource {
    Items(Vec<Text>),
    Array(Text),
}

/// A step's request, and what is done with the answer.
pub(crate) struct Request {
    pub(crate) name: Arc<str>,
    pub(crate) journey: u32,
    pub(crate) method: String,
    /// Where the parts of its request stand, but for its body.
    pub(crate) layout: Layout,
    /// Where it goes, if not home.
    pub(crate) elsewhere: Option<Target>,
    /// Up to the line break of the last header.
    pub(crate) head: Text,
    pub(crate) body: Content,
    /// Whether it names its cookies itself.
    pub(crate) has_cookies: bool,
    /// Whether it has to do with the cookies that its user keeps, if users keep any.
    pub(crate) keeps_cookies: bool,
    /// What its user does with what it knows of answers to it.
    pub(crate) cache: Option<Cache>,
    /// What is written besides, because it depends on the whole request.
    pub(crate) proof: Proof,
    /// What of its answer is looked at.
    pub(crate) heard: AnswerNeeds,
    /// What its answer is held against.
    pub(crate) checks: Vec<CompiledCheck>,
    /// What a message has to be to be its answer, over WebSocket.
    pub(crate) conditions: Vec<CompiledCheck>,
    /// Whether some of them are about variables, which are judged when values were taken out of it.
    pub(crate) checks_variables: bool,
    /// Whether something is looked for in the answers along redirects.
    pub(crate) looks_into_hops: bool,
    /// Whether some of its checks are about answers of which the last is made.
    pub(crate) checks_parts: bool,
    /// What is taken out of its answer.
    pub(crate) extractions: Vec<CompiledExtraction>,
    pub(crate) resources: Option<ResourceLoad>,
    /// Whether scripts are run before it, which may change it.
    pub(crate) is_changed: bool,
    /// The scripts that are run behind it.
    pub(crate) after: Vec<usize>,
    /// Whether its checks or scripts say which statuses are right.
    pub(crate) judges_status: bool,
    /// The method that it calls, if it is a call of gRPC: its body is JSON until it is written.
    pub(crate) called: Option<Method>,
    pub(crate) step: Step,
}

impl Request {
    /// Whether it talks over WebSocket.
    pub(crate) fn talks(&self) -> bool {
        self.step.talk.as_ref().is_some_and(|talk| *talk != Talk::Call)
    }
}

/// What is loaded behind a page.
pub(crate) struct ResourceLoad {
    /// Among the steps: as what they are counted.
    pub(crate) row: usize,
    pub(crate) at_once: usize,
    pub(crate) filter: ResourceFilter,
    /// Whether they are a part of the page.
    pub(crate) are_part: bool,
}

/// How a request proves who sends it, where that depends on the whole of it.
pub(crate) enum Proof {
    None,
    /// The user, the password: once the server has challenged.
    Digest(Text, Text),
    Aws(Box<AwsWords>),
}

/// Keys of AWS, written out. What signs with them keeps scratch memory of its own, so that each worker makes one.
pub(crate) struct AwsWords {
    access_key: String,
    secret_key: String,
    session_token: Option<String>,
    region: String,
    service: String,
}

impl AwsWords {
    pub(crate) fn signer(&self) -> Aws {
        Aws::new(&self.access_key, &self.secret_key, self.session_token.as_deref(), &self.region, &self.service)
    }
}

/// What follows the head.
pub(crate) enum Content {
    None,
    Fixed(Vec<u8>),
    Written(Text),
}

pub(crate) struct Compiling<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Every variable, by its place.
    pub(crate) names: &'a [String],
    pub(crate) plan: &'a Plan,
    pub(crate) compiler: Compiler<'a>,
    pub(crate) errors: PlanErrors,
    steps: Vec<Request>,
    onces: usize,
    slots: usize,
    loops: usize,
    pub(crate) order: Order,
    /// Whether it is in a branch.
    is_in_branch: bool,
    /// What the items at hand stand in, the outermost first.
    pub(crate) frames: Vec<Frame>,
    /// So many of them are conditions, which were looked at last before the instruction with this number.
    guards: usize,
    pub(crate) looked_at: Option<usize>,
    pub(crate) last_succeeded: Option<usize>,
    transactions: Vec<Arc<str>>,
    scripts: Vec<Program>,
    boundary: Boundary,
    /// What messages of calls are like, once one was looked at; what is wrong with it has been told then.
    pub(crate) described: Option<Result<Descriptors, ()>>,
}

/// Compiles the journeys of a scenario; or other steps of it, as one journey.
pub(crate) fn compile(
    scenario: &Scenario,
    plan: &Plan,
    files: &[Arc<Data>],
    only: Option<(&str, &[Item])>,
) -> Result<Compiled, PlanErrors> {
    let names = scenario.files.iter().map(String::as_str).collect();
    let variables = scenario.work.names();
    let own = |name: &str| variables.iter().position(|known| known == name).filter(|_| scenario.work.asks_for(name));
    let mut random = Random::new(plan.seed(), BOUNDARY);
    let (high, low) = (random.bits().to_be_bytes(), random.bits().to_be_bytes());
    let mut chance = [0; 16];
    chance[..8].copy_from_slice(&high);
    chance[8..].copy_from_slice(&low);
    let mut compiling = Compiling {
        scenario,
        names: &variables,
        plan,
        compiler: Compiler::new(files, names, (&plan.variation().environment, plan.contents()), &variables),
        errors: PlanErrors::default(),
        steps: Vec::new(),
        onces: 0,
        slots: 0,
        loops: 0,
        order: Order::default(),
        is_in_branch: false,
        frames: Vec::new(),
        guards: 0,
        looked_at: None,
        last_succeeded: own(LAST_SUCCEEDED),
        transactions: Vec::new(),
        scripts: Vec::new(),
        boundary: Boundary::new(chance),
        described: None,
    };
    let mut journeys = Vec::new();
    let mut weights = Vec::new();
    let mut course = |compiling: &mut Compiling<'_>, name: &str, weight: f64, items: &[Item]| {
        compiling.slots = 0;
        let mut ops = Vec::new();
        compiling.items(items, journeys.len() as u32, &mut ops);
        journeys.push(JourneyProgram { name: name.into(), ops });
        weights.push(weight);
    };
    match only {
        Some((name, items)) => course(&mut compiling, name, 1.0, items),
        None => scenario.work.journeys.iter().for_each(|journey| course(&mut compiling, &journey.name, journey.weight, &journey.items)),
    }
    // Who has sent its share goes, and the others would wait for it.
    if only.is_none() && plan.duration().is_none() && compiling.order.meetings.iter().any(|(_, within)| within.is_none()) {
        let message = "users wait for each other at a rendezvous, maybe for ever: the load ends with its requests alone";
        compiling.errors.push(PlanError::new(SCENARIO, message, "write within: 30s beside the rendezvous, or give the load a duration"));
    }
    let counted = (compiling.steps.len(), journeys.len());
    let transactions = compiling.transactions.clone();
    let user_teardown = (only.is_none() && !scenario.work.user_teardown.is_empty()).then_some(journeys.len());
    if let Some(place) = user_teardown {
        compiling.slots = 0;
        let mut ops = Vec::new();
        compiling.items(&scenario.work.user_teardown, place as u32, &mut ops);
        journeys.push(JourneyProgram { name: "user_teardown".into(), ops });
    }
    let mut set = Vec::with_capacity(scenario.work.variables.len());
    for variable in &scenario.work.variables {
        set.push((compiling.place(&variable.name), compiling.compiler.text(&variable.value, Place::Plain)));
    }
    if only.is_none() {
        compiling.errors.0.extend(unknown_journeys(scenario, plan));
    }
    let Compiling { compiler, mut errors, steps, onces, loops, mut order, scripts, last_succeeded, .. } = compiling;
    order.is_scripted = !scripts.is_empty();
    order.has_duration = plan.duration().is_some();
    compiler.errors().0.into_iter().for_each(|error| errors.push(error));
    let weights = Weights::new(&weights).map_err(|why| {
        let mut errors = PlanErrors::default();
        errors.push(PlanError::new(SCENARIO, format!("no journey can be chosen: {why}"), "give one a weight above 0"));
        errors
    })?;
    if !errors.is_empty() {
        return Err(errors);
    }
    let home = plan.target().clone();
    let asked_rows = asked_rows(scenario, &journeys);
    Ok(Compiled {
        witness: None,
        steps,
        journeys,
        counted,
        user_teardown,
        weights,
        variables: set,
        variables_count: variables.len(),
        numbers: [USER_NUMBER, JOURNEY_NUMBER].map(own),
        last_succeeded,
        onces,
        loops,
        order,
        transactions,
        names: if scripts.is_empty() { Vec::new() } else { variables.clone() },
        scripts,
        common: Arc::default(),
        inherited: Vec::new(),
        asked_rows,
        keeps_variables: scenario.work.keeps_variables,
        each_place: scenario.work.each_place,
        hurried: false,
        is_setup: false,
        home,
        bounds: plan.bounds(),
        timeout: plan.connection().timeout,
    })
}

/// The journeys of populations that the scenario does not have: a plan may have been saved with another one.
fn unknown_journeys<'a>(scenario: &'a Scenario, plan: &'a Plan) -> impl Iterator<Item = PlanError> {
    let named = plan.populations().iter().flat_map(|population| population.journeys.iter().map(move |journey| (population, journey)));
    let unknown = named.filter(|(_, name)| scenario.work.journeys.iter().all(|journey| journey.name != **name));
    unknown.map(|(population, journey)| {
        let message = format!("population '{}' goes through the journey '{journey}', which the scenario does not have", population.name);
        PlanError::new("populations", message, "name a journey of the scenario")
    })
}

/// Who sees everything, and what the variables are called.
pub(crate) struct Onlooker {
    pub(crate) witness: Witness,
    pub(crate) names: Vec<String>,
}

impl Compiled {
    /// Lets somebody see everything.
    pub(crate) fn seen_by(&mut self, witness: &Witness, names: &[String]) {
        self.witness = Some(Onlooker { witness: witness.clone(), names: names.to_vec() });
        self.steps.iter_mut().for_each(|request| request.heard = AnswerNeeds::ALL);
        self.hurried = true;
    }

    /// The rows that are counted.
    pub(crate) fn tally(&self) -> Tally {
        let (steps, journeys) = self.counted;
        let steps = self.steps[..steps].iter().map(|request| {
            let checks = request.checks.iter().map(|promised| promised.check.words().into());
            StepCounts::named(request.name.clone(), request.journey, checks)
        });
        Tally {
            journeys: self.journeys[..journeys].iter().map(|journey| JourneyCounts::named(journey.name.clone())).collect(),
            transactions: self.transactions.iter().map(|name| JourneyCounts::named(name.clone())).collect(),
            steps: steps.collect(),
            ..Tally::default()
        }
    }
}

impl Compiling<'_> {
    /// Where a user keeps a variable.
    pub(crate) fn place(&self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).expect("every variable is among the names of the work")
    }

    fn slot(&mut self) -> usize {
        self.slots += 1;
        self.loops = self.loops.max(self.slots);
        self.slots - 1
    }

    pub(crate) fn items(&mut self, items: &[Item], journey: u32, ops: &mut Vec<Op>) {
        let mut is_prepared = false;
        for item in items {
            if self.guards > 0 {
                if !is_prepared {
                    self.look_at_guards(ops);
                }
                is_prepared = flow::prepares(item);
            }
            match item {
                Item::Step(step) => {
                    if let Some(request) = self.request(step, journey) {
                        for (number, script) in step.before.iter().enumerate() {
                            let place = self.script(script, Some((step, "before")));
                            self.scripts[place].may_fail |= step.may_fail;
                            let before = BeforeRequest { step: self.steps.len(), is_first: number == 0, reads: script.reads_request };
                            self.scripts[place].request = Some(before);
                            ops.push(Op::Script(place));
                        }
                        ops.push(Op::Request(self.steps.len()));
                        self.steps.push(request);
                        self.resources(step, journey);
                    }
                }
                Item::Pause(pause) => ops.push(Op::Pause(self.span(pause))),
                Item::Pacing(pacing) => {
                    let place = self.order.pace(pacing, self.plan).unwrap_or_else(|error| {
                        self.errors.push(error);
                        0
                    });
                    let (span, catches_up) = (self.span(&pacing.pace), pacing.catches_up);
                    let each_population = pacing.of == PacedUsers::Population;
                    ops.push(match pacing.of {
                        PacedUsers::Each => Op::Pacing { place, span, catches_up },
                        PacedUsers::Population | PacedUsers::All => {
                            Op::SharedPacing { place, each_population, span, catches_up, together: pacing.together }
                        }
                    });
                }
                Item::Set(values) => {
                    for (variable, value) in values {
                        let value = expression(&mut self.compiler, (&mut self.errors, &mut self.order.counts), value);
                        ops.push(Op::Set(self.place(variable), value));
                    }
                }
                Item::ForgetCookies => ops.push(Op::ForgetCookies),
                Item::ForgetCache => {
                    self.order.has_caches = true;
                    ops.push(Op::ForgetCache);
                }
                Item::ForgetConnections => {
                    self.order.is_timed = true;
                    ops.push(Op::ForgetConnections);
                }
                Item::EndRound => self.end_loop(true, ops),
                Item::EndLoop => self.end_loop(false, ops),
                Item::End(extent) => self.end(*extent, ops),
                Item::KeepCookie(cookie) => ops.push(Op::KeepCookie(self.compiler.text(cookie, Place::Plain))),
                Item::NextRow(name) => ops.extend(self.next_row(name)),
                Item::Script(script) => {
                    let place = self.script(script, None);
                    ops.push(Op::Script(place));
                }
                Item::Group { items, .. } => self.items(items, journey, ops),
                Item::Repeat { times, items } => {
                    let slot = self.slot();
                    let times = self.compiler.text(times, Place::Plain);
                    ops.push(Op::Times { slot, times });
                    self.turns(slot, None, items, journey, ops);
                }
                Item::ForEach { variable, list, items } => {
                    let slot = self.slot();
                    let list = match list {
                        List::Items(items) => LoopSource::Items(items.iter().map(|item| self.compiler.text(item, Place::Plain)).collect()),
                        List::Array(text) => LoopSource::Array(self.compiler.text(text, Place::Plain)),
                    };
                    ops.push(Op::Each { slot, list });
                    self.turns(slot, Some(self.place(variable)), items, journey, ops);
                }
                Item::While { condition, items } => {
                    let begin = ops.len();
                    let condition = expression(&mut self.compiler, (&mut self.errors, &mut self.order.counts), condition);
                    ops.push(Op::Unless(condition, 0));
                    self.looped(items, journey, ops, begin);
                    let end = ops.len();
                    lead(&mut ops[begin], end);
                }
                Item::AsLongAs { condition, items } => {
                    let guard = Frame::Guard { condition: condition.clone(), exits: Vec::new() };
                    self.guards += 1;
                    self.looked_at = None;
                    let guard = self.within(guard, items, journey, ops);
                    self.guards -= 1;
                    Self::close_guard(guard, ops);
                }
                Item::If { condition, items, otherwise } => {
                    let begin = ops.len();
                    let condition = expression(&mut self.compiler, (&mut self.errors, &mut self.order.counts), condition);
                    ops.push(Op::Unless(condition, 0));
                    self.items(items, journey, ops);
                    if !otherwise.is_empty() {
                        let skip = ops.len();
                        ops.push(Op::Jump(0));
                        let end = ops.len();
                        lead(&mut ops[begin], end);
                        self.items(otherwise, journey, ops);
                        let end = ops.len();
                        lead(&mut ops[skip], end);
                    } else {
                        let end = ops.len();
                        lead(&mut ops[begin], end);
                    }
                }
                Item::Pick { weights, choices } => {
                    let begin = ops.len();
                    ops.push(Op::Jump(0));
                    let (starts, _) = self.ways(choices.iter().map(Vec::as_slice), journey, ops);
                    ops[begin] = Op::Pick { weights: weights.clone(), starts };
                }
                Item::Interleave { parts, per_user } => {
                    let begin = ops.len();
                    ops.push(Op::Jump(0));
                    let (starts, _) = self.ways(parts.iter().map(Vec::as_slice), journey, ops);
                    ops[begin] = Op::Interleave { counter: self.counter(*per_user), starts };
                }
                Item::Switch { value, cases, otherwise } => {
                    let value = expression(&mut self.compiler, (&mut self.errors, &mut self.order.counts), value);
                    let begin = ops.len();
                    ops.push(Op::Jump(0));
                    let ways = cases.iter().map(|case| case.items.as_slice()).chain([otherwise.as_slice()]);
                    let (mut starts, end) = self.ways(ways, journey, ops);
                    let otherwise = starts.pop().unwrap_or(end);
                    let of = |(case, start): (&work::Case, usize)| -> Vec<(Vec<u8>, usize)> {
                        case.values.iter().map(|value| (value.trim().as_bytes().to_vec(), start)).collect()
                    };
                    let cases = cases.iter().zip(starts).flat_map(of).collect();
                    ops[begin] = Op::Switch { value, cases, otherwise };
                }
                Item::RandomOrder(parts) => {
                    let slot = self.slot();
                    ops.push(Op::Shuffle { slot, parts: parts.len() });
                    let begin = ops.len();
                    ops.push(Op::Jump(0));
                    let mut starts = Vec::new();
                    for items in parts {
                        starts.push(ops.len());
                        self.items(items, journey, ops);
                        ops.push(Op::Jump(begin));
                    }
                    ops[begin] = Op::Part { slot, starts, end: ops.len() };
                }
                Item::Parallel { parts, at_once } => {
                    self.order.is_timed = true;
                    let begin = ops.len();
                    ops.push(Op::Jump(0));
                    let is_inner = std::mem::replace(&mut self.is_in_branch, true);
                    let mut starts = Vec::new();
                    for items in parts {
                        starts.push(ops.len());
                        self.within(Frame::Branch, items, journey, ops);
                        ops.push(Op::BranchEnd);
                    }
                    self.is_in_branch = is_inner;
                    let at_once = at_once.map_or(parts.len(), |at_once| parts.len().min(at_once.get() as usize));
                    ops[begin] = Op::Parallel { starts, at_once, end: ops.len() };
                }
                Item::RunFor { time, items } => {
                    let slot = self.slot();
                    self.order.is_timed = true;
                    ops.push(Op::For { slot, time: self.span(time) });
                    let begin = ops.len();
                    let mut looks = Vec::new();
                    self.frames.push(Frame::Loop { rounds: Vec::new(), ends: Vec::new() });
                    for item in items {
                        ops.push(Op::Over { slot, is_begin: looks.is_empty(), end: 0 });
                        looks.push(ops.len() - 1);
                        self.items(std::slice::from_ref(item), journey, ops);
                    }
                    ops.push(Op::Jump(begin));
                    self.frames.pop().into_iter().for_each(|frame| Self::close_loop(frame, begin, ops));
                    let end = ops.len();
                    looks.into_iter().for_each(|at| lead(&mut ops[at], end));
                }
                Item::Share { amount, per_user, items } => {
                    let begin = ops.len();
                    let amount = match amount.fixed_text().parse() {
                        Ok(fixed) if amount.is_fixed() => ShareAmount::Fixed(fixed),
                        _ => ShareAmount::Written(self.compiler.text(amount, Place::Plain)),
                    };
                    ops.push(Op::Share { counter: self.counter(*per_user), amount, end: 0 });
                    self.items(items, journey, ops);
                    let end = ops.len();
                    lead(&mut ops[begin], end);
                }
                Item::CriticalSection { name, items } => {
                    let place = self.order.section(name);
                    ops.push(Op::Enter(place));
                    self.within(Frame::Section, items, journey, ops);
                    ops.push(Op::Leave);
                }
                Item::Rendezvous { users, within } => {
                    self.order.meetings.push((Meeting::new(*users).into(), *within));
                    ops.push(Op::Meet(self.order.meetings.len() - 1));
                }
                Item::Transaction { name, pauses, items, .. } => {
                    // Those of the same name are one.
                    let known = self.transactions.iter().position(|known| **known == **name);
                    let place = known.unwrap_or(self.transactions.len());
                    if known.is_none() {
                        self.transactions.push(name.as_str().into());
                    }
                    self.order.is_timed = true;
                    ops.push(Op::Begin { place, pauses: *pauses });
                    self.within(Frame::Transaction, items, journey, ops);
                    ops.push(Op::End);
                }
                Item::Once(items) => {
                    let number = self.onces;
                    self.onces += 1;
                    let begin = ops.len();
                    ops.push(Op::Once { number, end: 0 });
                    let variables = self.assigned(items);
                    self.within(Frame::Once { number, variables: variables.clone() }, items, journey, ops);
                    ops.push(Op::OnceDone { number, variables });
                    let end = ops.len();
                    lead(&mut ops[begin], end);
                }
            }
            if self.is_in_branch {
                // A request gives the status its value as well.
                let status = matches!(item, Item::Step(_)).then_some(STATUS);
                let mut assigned: Vec<usize> = status.into_iter().chain(item.assigned()).map(|name| self.place(name)).collect();
                assigned.extend(self.last_succeeded.filter(|_| status.is_some()));
                if !assigned.is_empty() {
                    ops.push(Op::Assigned(assigned));
                }
            }
        }
    }

    /// Several ways, of which one is gone; where each begins, and where all end.
    fn ways<'i>(&mut self, ways: impl Iterator<Item = &'i [Item]>, journey: u32, ops: &mut Vec<Op>) -> (Vec<usize>, usize) {
        let (mut starts, mut leave) = (Vec::new(), Vec::new());
        for items in ways {
            starts.push(ops.len());
            self.items(items, journey, ops);
            leave.push(ops.len());
            ops.push(Op::Jump(0));
        }
        let end = ops.len();
        leave.into_iter().for_each(|at| lead(&mut ops[at], end));
        (starts, end)
    }

    fn counter(&mut self, per_user: bool) -> Counter {
        if per_user {
            self.order.counters += 1;
            Counter::PerUser(self.order.counters - 1)
        } else {
            self.order.shared.push(0.into());
            Counter::Shared(self.order.shared.len() - 1)
        }
    }

    fn span(&mut self, duration: &Duration) -> Span {
        match duration {
            Duration::Drawn(think) => Span::Drawn(*think),
            Duration::Written(text) => Span::Written(self.compiler.text(text, Place::Plain)),
        }
    }

    fn turns(&mut self, slot: usize, variable: Option<usize>, items: &[Item], journey: u32, ops: &mut Vec<Op>) {
        let begin = ops.len();
        ops.push(Op::Turn { slot, variable, end: 0 });
        self.looped(items, journey, ops, begin);
        let end = ops.len();
        lead(&mut ops[begin], end);
    }

    fn request(&mut self, step: &Step, journey: u32) -> Option<Request> {
        let plan = self.plan;
        // A server that the plan does not allow is another in the file alone: its requests go to the target.
        let elsewhere = step.elsewhere.as_ref().filter(|place| plan.also().holds(place) && !place.same_origin(plan.target()));
        let base = elsewhere.unwrap_or(plan.target()).clone();
        let own = plan.target().authority();
        // What the plan sends with every request, then what the scenario says.
        let mut headers: Vec<(String, Template)> = Vec::new();
        // Secrets of the target are for no other server, whether the command line or all steps have them.
        let is_withheld = |name: &str| elsewhere.is_some() && plan::is_secret(name);
        let is_left_out = |name: &str| step.talk == Some(Talk::Call) && name.eq_ignore_ascii_case("accept");
        for (name, value) in plan.request().headers.iter().filter(|(name, _)| !is_withheld(name) && !is_left_out(name)) {
            let value = if name.eq_ignore_ascii_case("host") && *value == own { base.authority() } else { value.clone() };
            headers.push((name.clone(), self.plan_template(&value)));
        }
        let mut set = |name: &str, value: Template| match headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some(known) => known.1 = value,
            None => headers.push((name.to_owned(), value)),
        };
        let has_type = step.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let media_type = match &step.body {
            Body::Json(_) if step.talk.is_none() => Some("application/json".to_owned()),
            Body::Json(_) => None,
            Body::Form(_) => Some(plan::FORM_TYPE.to_owned()),
            Body::Multipart(_) => Some(self.boundary.content_type()),
            Body::Empty | Body::Text(_) | Body::File(_) => None,
        };
        if let Some(media_type) = media_type.filter(|_| !has_type) {
            set("Content-Type", Template::fixed(media_type));
        }
        for (name, value) in step.headers.iter().filter(|(name, _)| !(is_withheld(name) && step.shared_secrets.contains(name))) {
            let is_form = matches!(step.body, Body::Multipart(_)) && name.eq_ignore_ascii_case("content-type");
            let of_form = value.plain().filter(|_| is_form).and_then(|said| self.boundary.content_type_of(said));
            set(name, of_form.map_or_else(|| value.clone(), Template::fixed));
        }
        if let Some((name, value)) = step.auth.as_ref().and_then(Auth::header) {
            set(&name, value);
        }
        if let Some(timeout) = step.timeout.filter(|_| step.talk == Some(Talk::Call)) {
            set("Grpc-Timeout", Template::fixed(engine::grpc_timeout(timeout)));
        }
        let (expect, word) = plan::EXPECT_CONTINUE;
        let awaits = plan.expects_continue() && step.body != Body::Empty && step.talk.is_none();
        if awaits && !step.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(expect)) {
            set(expect, Template::fixed(word));
        }

        let mut texts = step.path.to_string();
        headers.iter().for_each(|(name, value)| texts.extend([name.as_str(), &value.to_string()]));
        let mark = Placeholder::absent_from(&texts);
        let mut templates: Vec<(&Template, Place)> = Vec::new();
        let mut count = 0;
        let mut marked = |template: &Template| {
            let before = count;
            count += template.values().count();
            template.marked(|number| mark.number(before + number))
        };
        let own_path = step.encoding.map(|encoding| step.path.map_text(|text| encoding.encoded_in_url(text)));
        let own_path = own_path.as_ref().unwrap_or(&step.path);
        let path = marked(own_path);
        templates.push((own_path, Place::Url));
        let query = match &step.auth {
            Some(Auth::Query(name, value)) => Some((percent_encoded(name) + "=", value.map_text(percent_encoded))),
            _ => None,
        };
        let path = match &query {
            None => path,
            Some((name, value)) => {
                templates.push((value, Place::Url));
                format!("{path}{}{name}{}", if path.contains('?') { '&' } else { '?' }, marked(value))
            }
        };
        let target = match base.join(&path) {
            Ok(target) => base.clone().with_path_and_query(target.path_and_query().to_owned()),
            Err(why) => {
                self.wrong(step, &format!("the path '{}' {why}", step.path));
                return None;
            }
        };
        if mark.count(target.path_and_query().as_bytes())
            != step.path.values().count() + query.iter().map(|(_, value)| value.values().count()).sum::<usize>()
        {
            self.wrong(step, "a template stands after #, which is not sent");
            return None;
        }
        if step.closes {
            headers.push(("Connection".to_owned(), Template::fixed("close")));
        }
        let lines: Vec<(String, String)> = headers.iter().map(|(name, value)| (name.clone(), marked(value))).collect();
        templates.extend(headers.iter().map(|(_, value)| (value, Place::Header)));
        let target = match &step.talk {
            None => target,
            Some(Talk::Call) => target.over_grpc(),
            Some(_) => target.over_websocket(),
        };
        let head = match engine::head(plan, &target, &step.method, &lines) {
            Ok(head) => head,
            Err(why) => {
                self.wrong(step, why.message.marked());
                return None;
            }
        };
        self.compiler.write_in(step.encoding, false);
        let head = self.compiler.marked(&mark, &head, &templates);
        self.compiler.write_in(None, false);
        let media_type = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type")).map(|(_, value)| value.to_string());
        self.compiler.write_in(step.encoding, true);
        let mut body = self.body(step, media_type.as_deref().unwrap_or_default());
        self.compiler.write_in(None, false);
        let called = self.called(step, &headers, &mut body);
        let checks = self.checks(step, &step.checks);
        let talk = step.talk.as_ref();
        let conditions = self.checks(step, talk.map_or(&[][..], Talk::conditions));
        let (mut heard, cache) = (heard_of(step, &checks), keeping_of(step, &headers));
        for condition in &conditions {
            heard = heard.with_check(&condition.check);
        }
        self.order.has_caches |= step.cache.is_some();
        Some(Request {
            name: step.name.as_str().into(),
            journey,
            layout: Layout::new(&step.method, 0).for_act(talk.map_or_else(Act::default, act_of)),
            method: step.method.clone(),
            elsewhere: match talk {
                None => elsewhere.cloned(),
                Some(Talk::Call) => Some(base.over_grpc().with_path_and_query(step.path.to_string())),
                // Each path is a conversation of its own.
                Some(_) => Some(base.over_websocket().with_path_and_query(step.path.to_string())),
            },
            head,
            body,
            called,
            keeps_cookies: self.scenario.work.cookies && step.cookies && talk.is_none_or(|talk| *talk == Talk::Connect),
            conditions,
            has_cookies: headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie")),
            proof: self.proof(step),
            heard: AnswerNeeds { headers: heard.headers || cache.is_some(), ..heard },
            cache,
            looks_into_hops: looks_into_hops(step),
            checks_parts: are_of_parts(&checks),
            checks_variables: checks.iter().any(|promised| promised.variable.is_some()),
            checks,
            extractions: self.extractions(step),
            resources: None,
            is_changed: !step.before.is_empty(),
            after: step.after.iter().map(|script| self.script(script, Some((step, "after")))).collect(),
            judges_status: step.judges_status || !step.after.is_empty(),
            step: Step { timeout: talk.and_then(Talk::listens).or(step.timeout), ..step.clone() },
        })
    }

    /// What is loaded behind the page of the step before, as a row of its own.
    fn resources(&mut self, step: &Step, journey: u32) {
        let Some(resources) = &step.resources else { return };
        let (page, row) = (self.steps.len() - 1, self.steps.len());
        let filter = ResourceFilter::new(resources.only.as_deref(), resources.except.as_deref()).unwrap_or_else(|why| {
            self.wrong(step, &format!("resources: {}", why.message));
            ResourceFilter::default()
        });
        self.steps[page].resources =
            Some(ResourceLoad { row, at_once: resources.at_once.get() as usize, filter, are_part: resources.are_part });
        let all = Step::new(step.resources_name(), "GET".to_owned(), Template::fixed("/"));
        let all = self.request(&Step { timeout: step.timeout, ..all }, journey);
        self.steps.extend(all);
        self.order.is_timed = true;
    }

    /// A script between steps, or before or after one.
    fn script(&mut self, script: &Script, at: Option<(&Step, &str)>) -> usize {
        let said = match (at, script.name.as_str()) {
            (Some((step, when)), "") => format!("the script {when} '{}'", step.name),
            (None, "") => "a script".to_owned(),
            (_, name) => name.to_owned(),
        };
        let mut files = BTreeMap::new();
        for (name, path) in &script.files {
            match self.plan.contents().get(path) {
                Some(held) => _ = files.insert(name.clone(), held.clone()),
                None => {
                    let message = format!("the file '{path}' of {said} was not read when the plan was made");
                    self.errors.push(PlanError::new(SCENARIO, message, "check the path, which begins where the scenario is"));
                }
            }
        }
        self.scripts.push(Program {
            label: at.map_or_else(Arc::default, |(step, _)| step.name.as_str().into()),
            text: script.text.clone(),
            translated: script.translated,
            given: script.given.iter().map(|(name, value)| (name.clone(), self.compiler.text(value, Place::Plain))).collect(),
            into: script.into.as_ref().map(|name| self.place(name)),
            reads_answer: script.reads_answer,
            request: None,
            may_fail: script.may_fail,
            said,
            files,
        });
        self.scripts.len() - 1
    }

    fn proof(&mut self, step: &Step) -> Proof {
        match &step.auth {
            Some(Auth::Digest { user, password }) => {
                Proof::Digest(self.compiler.text(user, Place::Plain), self.compiler.text(password, Place::Plain))
            }
            Some(Auth::Aws(keys)) => {
                let mut fixed = |template: &Template| {
                    let text = self.compiler.text(template, Place::Plain);
                    let bytes = fixed_text(&text);
                    if bytes.is_none() {
                        self.errors.push(PlanError::new(
                            SCENARIO,
                            format!("the step '{}': keys of AWS are the same for all users", step.name),
                            "write them as they are, or as {{env NAME}}",
                        ));
                    }
                    String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
                };
                Proof::Aws(Box::new(AwsWords {
                    access_key: fixed(&keys.access_key),
                    secret_key: fixed(&keys.secret_key),
                    session_token: keys.session_token.as_ref().map(&mut fixed),
                    region: fixed(&keys.region),
                    service: fixed(&keys.service),
                }))
            }
            _ => Proof::None,
        }
    }

    /// A header of the command line, which may be a template as elsewhere.
    fn plan_template(&mut self, text: &str) -> Template {
        if !is_templated(text) {
            return Template::fixed(text);
        }
        let files: Vec<&str> = self.scenario.files.iter().map(String::as_str).collect();
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        Template::parse_with(text, &files, &names).unwrap_or_else(|mistakes| {
            for mistake in mistakes {
                let message = format!("the header of {HEADER} is no template: {}{}", mistake.message, mistake.pointed_out(text));
                self.errors.push(PlanError::new(HEADER, message, mistake.help));
            }
            Template::fixed("")
        })
    }

    pub(crate) fn wrong(&mut self, step: &Step, message: &str) {
        self.errors.push(PlanError::new(SCENARIO, format!("the step '{}': {message}", step.name), "mend the step"));
    }

    fn body(&mut self, step: &Step, media_type: &str) -> Content {
        let is_form = media_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(plan::FORM_TYPE));
        if let Some(Talk::Close(code)) = step.talk {
            return Content::Fixed(code.to_be_bytes().to_vec());
        }
        let text = match &step.body {
            Body::Empty => return Content::None,
            Body::File(path) => return Content::Fixed(self.file(step, path)),
            // A form as text: what stands there is encoded already, and values are not.
            Body::Text(template) if is_form => self.compiler.text(template, Place::Form),
            Body::Text(template) => self.compiler.text(template, Place::Plain),
            Body::Json(template) => self.compiler.text(template, Place::Json),
            Body::Form(fields) => {
                let mut text = Text::default();
                for (place, (name, value)) in fields.iter().enumerate() {
                    if place > 0 {
                        text.add_fixed(b"&");
                    }
                    text.add_fixed(form_text(name, step.encoding).as_bytes());
                    text.add_fixed(b"=");
                    self.compiler.add(&mut text, &value.map_text(|text| form_text(text, step.encoding)), Place::Form);
                }
                text
            }
            Body::Multipart(fields) => {
                let texts: String = fields
                    .iter()
                    .map(|field| match &field.value {
                        FieldValue::Text(text) => text.to_string(),
                        FieldValue::File { .. } => String::new(),
                    })
                    .collect();
                let mark = Placeholder::absent_from(&texts);
                let mut templates = Vec::new();
                let mut count = 0;
                let mut values = Vec::new();
                for field in fields {
                    values.push(match &field.value {
                        FieldValue::Text(text) => {
                            let before = count;
                            count += text.values().count();
                            let charset = charset_of(field).unwrap_or(step.encoding);
                            templates.push((text, charset));
                            let marked = text.marked(|number| mark.number(before + number));
                            charset.map_or_else(|| marked.clone().into_bytes(), |charset| charset.encoded(&marked))
                        }
                        FieldValue::File { path, .. } => self.file(step, path),
                    });
                }
                let parts: Vec<Part<'_>> = fields
                    .iter()
                    .zip(&values)
                    .map(|(field, value)| Part {
                        name: &field.name,
                        value,
                        headers: &field.headers,
                        file: match &field.value {
                            FieldValue::Text(_) => None,
                            FieldValue::File { path, media_type } => {
                                Some(File { name: path.rsplit('/').next().unwrap_or(path), media_type })
                            }
                        },
                    })
                    .collect();
                let mut bytes = Vec::new();
                self.boundary.write(&parts, &mut bytes);
                if mark.count(&bytes) != count {
                    self.wrong(step, &format!("a file of the form holds the text '{}'", mark.number(0)));
                    return Content::None;
                }
                self.compiler.marked_in(&mark, &bytes, &templates)
            }
        };
        match fixed_text(&text) {
            Some(bytes) => Content::Fixed(bytes),
            None => Content::Written(text),
        }
    }

    fn file(&mut self, step: &Step, path: &str) -> Vec<u8> {
        let held = self.plan.contents().get(path);
        if held.is_none() {
            let message = format!("the file '{path}' of the step '{}' was not read when the plan was made", step.name);
            self.errors.push(PlanError::new(SCENARIO, message, "check the path, which begins where the scenario is"));
        }
        held.map_or_else(Vec::new, |bytes| bytes.to_vec())
    }
}

/// An expression with its texts in pieces. Regular expressions that are none are mistakes of whoever made the work: the reader tells them.
pub(crate) fn expression(
    compiler: &mut Compiler<'_>,
    (errors, counts): (&mut PlanErrors, &mut Counts),
    written: &work::Expression,
) -> Expression {
    let mut of = |written: &work::Expression| expression(compiler, (errors, counts), written);
    match written {
        work::Expression::Text(text) => Expression::Text(compiler.text(text, Place::Plain)),
        work::Expression::Not(inner) => Expression::Not(Box::new(of(inner))),
        work::Expression::Negative(inner) => Expression::Negative(Box::new(of(inner))),
        work::Expression::Two(Operator::Matches, sides) => {
            let left = of(&sides.0);
            let pattern = if let work::Expression::Text(pattern) = &sides.1 { pattern.fixed_text() } else { String::new() };
            match step::regex(&pattern) {
                Ok(pattern) => Expression::Matches(Box::new(left), pattern),
                Err(mistake) => {
                    let message = format!("the regular expression '{}': {}", pattern.escape_debug(), mistake.message);
                    errors.push(PlanError::new(SCENARIO, message, mistake.help));
                    left
                }
            }
        }
        work::Expression::Two(operator, sides) => {
            let left = of(&sides.0);
            Expression::Two(*operator, Box::new((left, of(&sides.1))))
        }
        work::Expression::Call(Function::Next, values) => {
            let name = if let [work::Expression::Text(name)] = values.as_slice() { name.fixed_text() } else { String::new() };
            Expression::Next(counts.named(&name))
        }
        work::Expression::Call(function @ (Function::Find | Function::Rewrite | Function::Select), values) => {
            let compiled = values.iter().map(of).collect();
            match Search::new(*function, values, compiled) {
                Ok(search) => Expression::Find(Box::new(search)),
                Err(mistake) => {
                    errors.push(PlanError::new(SCENARIO, mistake.message, mistake.help));
                    Expression::Call(*function, Vec::new())
                }
            }
        }
        work::Expression::Call(function, values) => Expression::Call(*function, values.iter().map(of).collect()),
    }
}

/// A text that is the same each time.
pub(crate) fn fixed_text(text: &Text) -> Option<Vec<u8>> {
    let (mut bytes, mut scratch, mut is_unsafe) = (Vec::new(), Vec::new(), false);
    let mut random = Random::new(0, 0);
    text.is_fixed().then(|| {
        text.write(&mut bytes, &mut template::Writing::new(0, &mut random, &[], &[], &mut scratch, &mut is_unsafe));
        bytes
    })
}

/// Lets an instruction lead there.
pub(crate) fn lead(op: &mut Op, to: usize) {
    match op {
        Op::Unless(_, end) | Op::Jump(end) | Op::Turn { end, .. } | Op::Once { end, .. } | Op::Share { end, .. } | Op::Over { end, .. } => {
            *end = to;
        }
        _ => {}
    }
}

/// What is done on a connection of WebSocket.
fn act_of(talk: &Talk) -> Act {
    match talk {
        Talk::Connect => Act::Open,
        Talk::Send(Reply::Nothing) => Act::Tell,
        Talk::Send(_) => Act::Ask,
        Talk::Receive(_) => Act::Hear,
        Talk::Listen(_) => Act::Listen,
        Talk::Ping => Act::Ping,
        Talk::Close(_) => Act::Close,
        Talk::Call => Act::Exchange,
    }
}
