//! Scripts of a scenario as they are carried out: compiled once a worker, called between the requests of its users.
//!
//! What a user knows stands in its own places, and a script asks by names. So what belongs to the user is lent to the [`Desk`] for the time
//! of a call, where the engine's host functions find it, and handed back behind it: nothing is copied but the values that are asked for.
//! Variables that have no place of their own (a script made their names up) stand beside the others, in a box that only such users have.
//!
//! Invariant: a script that throws, or is ended, changes nothing but what it had changed until then, and its user goes on or ends as the
//! scenario says.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use javascript::{Engine, Objects, Thrown};
use measure::{Failure, Outcome, Recorder, ScriptNotes, SuccessRule};
use plan::Nanos;
use plan::work::Extent;
use step::excerpt;
use template::{AnswerSink, Text};

use crate::behaviour::{Journeys, without_secrets};
use crate::changes::Changes;
use crate::compiled::Compiled;
use crate::desk::{Desk, Done, Heard, Loan};
use crate::user::User;

/// A script, compiled for a plan.
pub(crate) struct Program {
    /// How it is told of: `the script of the step 'login'`.
    pub(crate) said: String,
    /// The step that it belongs to; empty of one between steps.
    pub(crate) label: Arc<str>,
    pub(crate) text: String,
    pub(crate) translated: bool,
    pub(crate) given: Vec<(String, Text)>,
    /// The place of the variable that holds what it returns.
    pub(crate) into: Option<usize>,
    pub(crate) reads_answer: bool,
    /// The request that it is run before and may change.
    pub(crate) request: Option<BeforeRequest>,
    pub(crate) may_fail: bool,
    /// By what it calls them.
    pub(crate) files: BTreeMap<String, Arc<[u8]>>,
}

/// The request that a script is run before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeforeRequest {
    pub(crate) step: usize,
    /// Whether it is the first of those before it.
    pub(crate) is_first: bool,
    /// Whether it looks at it, so that it is written by then.
    pub(crate) reads: bool,
}

/// What the scripts of all users of the process share.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) properties: Mutex<BTreeMap<String, String>>,
}

/// What a user keeps for its scripts.
#[derive(Default)]
pub(crate) struct Beside {
    /// Variables without a place of their own.
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) objects: Option<Objects>,
}

/// The scripts of one worker.
pub(crate) struct Scripts {
    engine: Engine<Desk>,
    /// The numbers of its scripts there.
    numbers: Vec<usize>,
    notes: RefCell<ScriptNotes>,
}

impl Scripts {
    /// Those of a scenario, if it has any.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(crate) fn of(compiled: &Arc<Compiled>) -> Result<Option<Self>, Thrown> {
        if compiled.scripts.is_empty() {
            return Ok(None);
        }
        let is_translated = compiled.scripts.iter().any(|program| program.translated);
        let mut engine = Engine::new(Desk::new(compiled), is_translated.then_some(groovy::LIBRARY))?;
        let numbers = compiled.scripts.iter().map(|program| engine.compile(&program.text)).collect::<Result<_, Thrown>>()?;
        Ok(Some(Self { engine, numbers, notes: RefCell::default() }))
    }

    pub(crate) fn notes(&self) -> ScriptNotes {
        self.notes.borrow().clone()
    }
}

impl Journeys {
    /// Calls a script for a user, and does what it said of the user.
    fn call(&self, user: &mut User, place: usize, heard: Option<Heard>) -> (Result<Done, Thrown>, Option<Heard>) {
        let program = &self.compiled.scripts[place];
        let scripts = match &self.scripts {
            Ok(Some(scripts)) => scripts,
            Ok(None) => return (Ok(Done::default()), heard),
            Err(why) => return (Err(why.clone()), heard),
        };
        if let Some(before) = program.request {
            self.begin_changes(user, before);
        }
        let mut given = BTreeMap::new();
        for (name, text) in &program.given {
            let mut value = Vec::new();
            self.write(text, user, &mut value);
            given.insert(name.clone(), String::from_utf8_lossy(&value).into_owned());
        }
        let mut beside = std::mem::take(&mut user.progress().beside);
        let changes = user.progress().changes.take();
        let loan = Loan { place, given, beside: std::mem::take(&mut beside.names), heard, changes };
        scripts.engine.host().lend(user, loan);
        let returned = scripts.engine.call(scripts.numbers[place], &mut beside.objects);
        let (done, Loan { beside: names, heard, changes, .. }) = scripts.engine.host().hand_back(user);
        beside.names = names;
        user.progress().beside = beside;
        user.progress().changes = changes;
        let mut notes = scripts.notes.borrow_mut();
        done.said.iter().for_each(|line| notes.say((user.begun, user.number), line));
        if let (Ok(value), Some(into)) = (&returned, program.into) {
            user.variables[into].clear();
            user.variables[into].extend_from_slice(value.as_deref().unwrap_or_default().as_bytes());
        }
        // What it took is no part of a request's time, as a pause is none; but the first of a journey fell due before it.
        if !user.is_fresh {
            user.pause = user.pause.max(Nanos(1));
        }
        if done.stops_user || done.stops_all {
            let extent = if done.stops_all { Extent::Load } else { Extent::User };
            self.end(user, extent, || format!("{} stopped it", program.said));
        }
        if done.ends_journey || done.stops_user || done.stops_all {
            user.at = self.compiled.journeys[user.journey].ops.len();
        }
        (returned.map(|_| done), heard)
    }

    /// What the scripts before a request do is done to this one, and not to one that was not sent; it is written if they look at it.
    fn begin_changes(&self, user: &mut User, before: BeforeRequest) {
        let mut changes = user.progress().changes.take().unwrap_or_default();
        if before.is_first {
            *changes = Changes::default();
        }
        if before.reads && !changes.has_draft() {
            let was = (user.set_out, user.is_fresh);
            user.step = before.step;
            self.compose(user);
            (user.set_out, user.is_fresh) = was;
            // What cannot be written is not sent either.
            user.is_lost |= user.is_unsendable;
            changes.begin(user.sent.as_ref());
            self.give_up_request(user);
        }
        user.progress().changes = Some(changes);
    }

    /// Runs a script between two requests; whether the user goes on through its instructions.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_script(&self, user: &mut User, place: usize) -> bool {
        let program = &self.compiled.scripts[place];
        let why = match self.call(user, place, None).0 {
            Ok(Done { failed: None, .. }) => return true,
            Ok(Done { failed: Some(why), .. }) => why,
            Err(thrown) => thrown.to_string(),
        };
        let why = format!("{}: {why}", program.said);
        if program.may_fail {
            if let Ok(Some(scripts)) = &self.scripts {
                scripts.notes.borrow_mut().fail(why);
            }
            return true;
        }
        user.progress().thrown = Some(why);
        if !self.ends_with_next(user) {
            (user.at, user.failed) = (self.compiled.journeys[user.journey].ops.len(), true);
        }
        false
    }

    /// Runs the scripts behind an answer. What they make of what was found out about it before.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_after(
        &self,
        user: &mut User,
        (status, outcome): (u16, &Outcome),
        sink: &mut AnswerSink,
        recorder: &mut Recorder,
        (mut judged, mut ends): (SuccessRule, Option<Failure>),
    ) -> (SuccessRule, Option<Failure>) {
        let step = user.step;
        let request = &self.compiled.steps[step];
        if ends.is_some() && !request.step.may_fail {
            return (judged, ends);
        }
        let mut heard = Some(Heard::new(user, self.place(user), (status, outcome), sink));
        for place in &request.after {
            let program = &self.compiled.scripts[*place];
            let said = if let Some(refusal) = sink.refusal().filter(|_| program.reads_answer) {
                (refusal.to_string(), false)
            } else {
                if let Some(heard) = &mut heard {
                    heard.ok = judged == SuccessRule::Well;
                }
                let (done, back) = self.call(user, *place, heard.take());
                heard = back;
                match done {
                    Ok(done) => {
                        if done.succeeds && !matches!(judged, SuccessRule::Failed(Failure::ExtractNothing)) {
                            judged = SuccessRule::Well;
                        }
                        match done.failed {
                            Some(why) => (why, false),
                            None => continue,
                        }
                    }
                    Err(thrown) => (thrown.to_string(), !program.may_fail),
                }
            };
            let why = || format!("{}: {}", program.said, without_secrets(&user.sent, &excerpt(said.0.as_bytes())));
            recorder.step_example(step, Failure::Script, outcome.done, why);
            self.tell(user, why);
            if judged == SuccessRule::Well {
                judged = SuccessRule::Failed(Failure::Script);
            }
            if said.1 {
                ends = Some(Failure::Script);
                break;
            }
        }
        if let Some(heard) = heard {
            heard.give_back(sink);
        }
        (judged, ends)
    }
}
