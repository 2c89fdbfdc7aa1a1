//! What a user does with an answer: it is held against its step's checks, and values are taken out of it.
//!
//! Almost every value stands in the body, and is there or ends the journey. What is looked for elsewhere, drawn by chance, or may be missing,
//! goes a way of its own, so that the others do not pay for it.
//!
//! Invariant: an answer changes a variable of its user only by an extraction of its step.

use std::sync::Arc;

use engine::protocol::{Encoded, Header, ResponseSink};
use measure::{Failure, Outcome, Recorder, Status, SuccessRule};
use plan::work::{Along, AnswerCheck, AnswerPart, Kind, Step, Subject, Where};
use plan::{Nanos, Target};
use step::check::Mistaken;
use step::extract::Missing;
use step::{Answer, Broken, Check, Exchange, Extractor, Headers, Reading};
use template::{AnswerNeeds, AnswerSink, Place, Text};

use crate::behaviour::{Journeys, STATUS_PLACE, without_secrets};
use crate::buffers::{lend, take_back};
use crate::compiled::{Compiling, fixed_text};
use crate::user::User;

/// A check, and what is filled in for each answer; nothing of a check that is whole.
pub(crate) struct CompiledCheck {
    pub(crate) check: Check,
    pub(crate) against: Option<Text>,
    /// The place of the variable that it is about, if it is about one.
    pub(crate) variable: Option<usize>,
    pub(crate) along: Along,
}

/// An extraction that is understood.
#[derive(Clone)]
pub(crate) struct CompiledExtraction {
    /// The place of the variable that holds it afterwards.
    pub(crate) variable: usize,
    pub(crate) extractor: Extractor,
    otherwise: Otherwise,
    /// Where it looks, if not in the body.
    elsewhere: Option<Arc<Elsewhere>>,
    /// What it looks for, if that is filled in for each answer.
    open: Option<Arc<Text>>,
    /// Whether it is written into the variable at once: it is in the body, and the variable's old value is gone in any case.
    is_usual: bool,
}

/// What becomes of a variable if nothing is found.
#[derive(Clone)]
enum Otherwise {
    /// The journey ends.
    Ends,
    /// It becomes this.
    Becomes(Box<str>),
    /// It keeps its value.
    Keeps,
}

enum Elsewhere {
    Part(AnswerPart),
    Written(Text),
}

/// What of a step's answers is looked at. Cookies, where a redirect leads and challenges are, whatever the step asks for.
pub(crate) fn heard_of(step: &Step, checks: &[CompiledCheck]) -> AnswerNeeds {
    let looks_for_more = step.resources.is_some();
    let mut heard = AnswerNeeds { steering: true, headers: looks_for_more, body: looks_for_more };
    for promised in checks {
        heard = heard.with_check(&promised.check);
    }
    for extraction in &step.extractions {
        match (extraction.kind, &extraction.within) {
            (Kind::Status, _) => {}
            (Kind::Header | Kind::Cookie, _) | (_, Where::Part(AnswerPart::Headers)) => heard.headers = true,
            (_, Where::Part(AnswerPart::Body | AnswerPart::Unescaped | AnswerPart::Text | AnswerPart::Hops | AnswerPart::Chain)) => {
                heard.body = true;
            }
            (_, Where::Part(_) | Where::Written(_)) => {}
        }
    }
    if step.after.iter().any(|script| script.reads_answer) {
        (heard.headers, heard.body) = (true, true);
    }
    heard
}

/// Whether something of a step is looked for in the answers along redirects.
pub(crate) fn looks_into_hops(step: &Step) -> bool {
    let is_one = |part: AnswerPart| matches!(part, AnswerPart::Hops | AnswerPart::Chain);
    let is_checked = step.checks.iter().any(|check| matches!(check.subject, Subject::Part(part) if is_one(part)));
    is_checked || step.extractions.iter().any(|extraction| matches!(extraction.within, Where::Part(part) if is_one(part)))
}

/// Whether some checks are about answers of which the last is made.
pub(crate) fn are_of_parts(checks: &[CompiledCheck]) -> bool {
    checks.iter().any(|check| check.along != Along::Last)
}

/// Answers along redirects are kept up to this together, as a body is.
const HOPS_BYTES_MAX: usize = 8 << 20;

/// Keeps the body of an answer behind those before it, each on lines of its own.
pub(crate) fn keep_hop(bodies: &mut Vec<u8>, body: &[u8]) {
    let room = HOPS_BYTES_MAX.saturating_sub(bodies.len());
    if !bodies.is_empty() && room > 0 {
        bodies.push(b'\n');
    }
    bodies.extend_from_slice(&body[..body.len().min(room.saturating_sub(1))]);
}

impl Compiling<'_> {
    /// What is known before the run is filled in already.
    pub(crate) fn checks(&mut self, step: &Step, written: &[AnswerCheck]) -> Vec<CompiledCheck> {
        let mut checks = Vec::with_capacity(written.len());
        for written in written {
            let against = written.against.as_ref().map(|against| self.compiler.text(against, Place::Plain));
            let check = match Check::compile_open(&written.subject, &written.condition) {
                Ok((check, _)) => check,
                Err(Mistaken::Subject(mistake) | Mistaken::Condition(mistake)) => {
                    self.wrong(step, &mistake.message);
                    continue;
                }
            };
            let variable = match check.variable() {
                None => None,
                Some(name) => {
                    let place = self.names.iter().position(|known| known == name);
                    if place.is_none() {
                        self.wrong(step, &format!("the check '{}': nothing gives the variable '{name}' a value", check.words()));
                        continue;
                    }
                    place
                }
            };
            let known = against.as_ref().and_then(fixed_text);
            checks.push(match known {
                None => CompiledCheck { check, against, variable, along: written.along },
                Some(known) => match check.filled(&String::from_utf8_lossy(&known)) {
                    Ok(check) => CompiledCheck { check, against: None, variable, along: written.along },
                    Err(why) => {
                        self.wrong(step, &format!("the check '{}': {why}", check.words()));
                        continue;
                    }
                },
            });
        }
        checks
    }

    pub(crate) fn extractions(&mut self, step: &Step) -> Vec<CompiledExtraction> {
        let mut extractions = Vec::with_capacity(step.extractions.len());
        for written in &step.extractions {
            let extractor = match &written.open {
                None => Extractor::compile(written.kind, &written.expression),
                Some(open) => Extractor::compile_open(written.kind, open),
            };
            let extractor = extractor.and_then(|it| it.writing(written.written.as_deref()));
            let extractor = match extractor {
                Ok(extractor) => extractor.taking(written.which).without_null(written.null_is_missing),
                Err(mistake) => {
                    self.wrong(step, &mistake.message);
                    continue;
                }
            };
            let elsewhere = match &written.within {
                Where::Part(AnswerPart::Body) => None,
                Where::Part(part) => Some(Elsewhere::Part(*part)),
                Where::Written(text) => Some(Elsewhere::Written(self.compiler.text(text, Place::Plain))),
            };
            let otherwise = match &written.default {
                Some(default) => Otherwise::Becomes(default.as_str().into()),
                None if written.optional => Otherwise::Keeps,
                None => Otherwise::Ends,
            };
            extractions.push(CompiledExtraction {
                variable: self.place(&written.variable),
                is_usual: elsewhere.is_none() && written.open.is_none() && !extractor.is_drawn() && !matches!(otherwise, Otherwise::Keeps),
                open: written.open.as_ref().map(|open| Arc::new(self.compiler.text(open, Place::Plain))),
                extractor,
                otherwise,
                elsewhere: elsewhere.map(Arc::new),
            });
        }
        extractions
    }
}

/// What a user looks at when an answer is there.
#[derive(Clone, Copy)]
struct Seen<'s> {
    reading: &'s Reading<'s>,
    sent: &'s Encoded,
    outcome: &'s Outcome,
    /// Whether it is made of others.
    has_parts: bool,
    /// What did not hold of the answers before it, along redirects.
    broken: &'s [(usize, Broken)],
}

/// Keeps the message that is the answer, of all that come.
pub(crate) struct Awaited<'a> {
    pub(crate) sink: &'a mut AnswerSink,
    pub(crate) conditions: &'a [Option<Check>],
}

impl ResponseSink for Awaited<'_> {
    fn wants_head(&self) -> bool {
        self.sink.wants_head()
    }

    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.sink.head(status, headers);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.sink.body(bytes);
    }

    fn is_answer(&mut self) -> bool {
        let answer = Answer { status: 101, headers: Headers::lines(&self.sink.headers), body: &self.sink.body, elapsed: Nanos::ZERO };
        let reading = Reading::new(answer);
        self.conditions.iter().all(|condition| condition.as_ref().is_some_and(|condition| condition.of(&reading).is_ok()))
    }

    fn complete(&mut self) {
        self.sink.complete();
    }
}

impl Journeys {
    /// What the answer came to: whether it is a success, and why the journey cannot go on, if so. `is_page`: whether it names more to be
    /// loaded.
    pub(crate) fn judge(
        &self,
        user: &mut User,
        (status, is_page): (u16, bool),
        outcome: &Outcome,
        sink: &AnswerSink,
        recorder: &mut Recorder,
    ) -> (SuccessRule, Option<Failure>) {
        let place = user.step;
        let request = &self.compiled.steps[place];
        let headers = Headers::lines(&sink.headers);
        let mut judged = if !Status(status).is_success() && !request.step.judges_status {
            SuccessRule::Failed(Failure::CheckStatus)
        } else {
            SuccessRule::Well
        };
        let mut ends = None;
        let tools = &self.tools[place];
        let mut extractions = tools.extractions.borrow_mut();
        if tools.checks.is_empty() && extractions.is_empty() && request.resources.is_none() {
            return (judged, ends);
        }
        if let Some(refusal) = sink.refusal() {
            let failure = Failure::CheckFailed;
            let said = || refusal.to_string();
            recorder.step_example(place, failure, outcome.done, said);
            self.tell(user, said);
            return (SuccessRule::Failed(failure), (!extractions.is_empty()).then_some(Failure::ExtractNothing));
        }
        let answer = Answer { status, headers, body: &sink.body, elapsed: outcome.response_time() };
        // The request and where it went leave the user for as long as they are looked at.
        let sent = std::mem::take(&mut user.sent);
        let mut led = user.led.take();
        if let Some(led) = led.as_mut().filter(|_| request.looks_into_hops) {
            keep_hop(&mut led.bodies, &sink.body);
        }
        let hops = led.as_ref().map_or(&[][..], |led| &led.bodies);
        let server = led.as_ref().map_or_else(|| request.elsewhere.as_ref().unwrap_or(&self.compiled.home), |led| &led.place);
        let reading = Reading::of_exchange(answer, Exchange { server, request: &sent.bytes, received: outcome.bytes_in, hops });
        let broken = led.as_ref().map_or(&[][..], |led| &led.broken);
        let seen = Seen { reading: &reading, sent: &sent, outcome, has_parts: led.is_some() || is_page, broken };
        self.hold_all(user, &seen, &mut judged, recorder, false);
        for extraction in extractions.iter_mut() {
            let found = if extraction.is_usual {
                let value = &mut user.variables[extraction.variable];
                value.clear();
                extraction.extractor.write(&reading, value)
            } else {
                self.extract_rarely(user, extraction, &reading)
            };
            match (found, &extraction.otherwise) {
                (Ok(()), _) | (Err(_), Otherwise::Keeps) => {}
                (Err(_), Otherwise::Becomes(default)) => user.variables[extraction.variable].extend_from_slice(default.as_bytes()),
                (Err(missing), Otherwise::Ends) => {
                    if let Some(onlooker) = &self.compiled.witness {
                        onlooker.witness.missed(missing.to_string());
                    }
                    ends = Some(Failure::ExtractNothing);
                    let said = || without_secrets(&sent, &missing);
                    recorder.step_example(place, Failure::ExtractNothing, outcome.done, || format!("{}: {}", request.name, said()));
                    if judged == SuccessRule::Well {
                        judged = SuccessRule::Failed(Failure::ExtractNothing);
                    }
                    self.tell(user, said);
                }
            }
        }
        if request.checks_variables {
            self.hold_all(user, &seen, &mut judged, recorder, true);
        }
        (user.sent, user.led) = (sent, led);
        (judged, ends)
    }

    /// Holds an answer against the checks of its step: those that are about variables, which it may just have given a value, or the others.
    fn hold_all(&self, user: &mut User, seen: &Seen<'_>, judged: &mut SuccessRule, recorder: &mut Recorder, of_variables: bool) {
        let place = user.step;
        let (request, Seen { reading, sent, outcome, has_parts, broken }) = (&self.compiled.steps[place], *seen);
        let status = reading.answer().status;
        for (number, check) in self.tools[place].checks.iter().enumerate() {
            let promised = &request.checks[number];
            if promised.variable.is_some() != of_variables {
                continue;
            }
            let before = broken.iter().find(|(known, _)| *known == number);
            let held = match (&promised.against, promised.variable) {
                _ if before.is_some() => before.map_or(Ok(()), |(_, broken)| Err(broken.clone())),
                _ if promised.along == Along::Parts && !has_parts => Ok(()),
                (None, None) => check.of(reading),
                _ => self.hold(user, check, promised, reading),
            };
            if let Some(onlooker) = &self.compiled.witness {
                onlooker.witness.checked(check.words(), held.as_ref().copied().map_err(ToString::to_string));
            }
            match held {
                Ok(()) => recorder.checked(outcome, place, number, Ok::<(), fn() -> String>(())),
                Err(broken) => {
                    recorder.checked(outcome, place, number, Err(|| without_secrets(sent, &broken)));
                    if *judged == SuccessRule::Well {
                        let is_status = !Status(status).is_success() && check.words().starts_with("status");
                        let failure = if is_status { Failure::CheckStatus } else { Failure::CheckFailed };
                        *judged = SuccessRule::Failed(failure);
                        recorder
                            .step_example(place, failure, outcome.done, || format!("{}: {}", request.name, without_secrets(sent, &broken)));
                        self.tell(user, || without_secrets(sent, &broken));
                    }
                }
            }
        }
    }

    /// What does not hold of an answer of which that of a step is made: the numbers of its checks that are about each, and why.
    pub(crate) fn broken_of(
        &self,
        user: &mut User,
        step: usize,
        (place, sent): (&Target, &Encoded),
        (status, sink): (u16, &AnswerSink),
    ) -> Vec<(usize, Broken)> {
        let answer = Answer { status, headers: Headers::lines(&sink.headers), body: &sink.body, elapsed: Nanos::ZERO };
        let reading = Reading::of_exchange(answer, Exchange { server: place, request: &sent.bytes, received: 0, hops: &[] });
        let of_each = |(_, promised): &(usize, &CompiledCheck)| promised.along != Along::Last && promised.variable.is_none();
        let checks = self.compiled.steps[step].checks.iter().enumerate().filter(of_each);
        let broken = |(number, promised): (usize, &CompiledCheck)| {
            let check = &self.tools[step].checks[number];
            let held = if promised.against.is_some() { self.hold(user, check, promised, &reading) } else { check.of(&reading) };
            held.err().map(|broken| (number, broken))
        };
        checks.filter_map(broken).collect()
    }

    /// What a message has to be to be the answer to the user's request, values filled in; `None` of what cannot be compared with them, such
    /// as a number that is none: it holds for no message.
    pub(crate) fn conditions(&self, user: &mut User) -> Vec<Option<Check>> {
        let mut conditions = Vec::new();
        for CompiledCheck { check, against, .. } in &self.compiled.steps[user.step].conditions {
            let mut filled = lend(&self.lent.texts);
            let condition = match against {
                None => Some(check.clone()),
                Some(against) => {
                    self.write(against, user, &mut filled);
                    check.filled(&String::from_utf8_lossy(&filled)).ok()
                }
            };
            take_back(&self.lent.texts, filled);
            conditions.push(condition);
        }
        conditions
    }

    /// Whether a check holds for which something is filled in, or that is about a variable.
    fn hold(&self, user: &mut User, check: &Check, promised: &CompiledCheck, reading: &Reading<'_>) -> Result<(), Broken> {
        let [mut filled, mut value] = [lend(&self.lent.texts), lend(&self.lent.texts)];
        if let Some(against) = &promised.against {
            self.write(against, user, &mut filled);
        }
        let held = match promised.variable {
            None => check.of_filled(reading, &filled),
            Some(place) => {
                value.extend_from_slice(&user.variables[place]);
                check.of_filled(&reading.of_text(&value), &filled)
            }
        };
        take_back(&self.lent.texts, filled);
        take_back(&self.lent.texts, value);
        held
    }

    /// Takes out a value that is not in the body, is one of several by chance, or may be missing, or is looked for by what is filled in.
    fn extract_rarely(&self, user: &mut User, extraction: &mut CompiledExtraction, reading: &Reading<'_>) -> Result<(), Missing> {
        let [mut value, mut text] = [lend(&self.lent.texts), lend(&self.lent.texts)];
        let part;
        let within;
        let reading = match extraction.elsewhere.as_deref() {
            None => reading,
            Some(Elsewhere::Part(which)) => {
                part = reading.part(*which);
                within = reading.of_text(&part);
                &within
            }
            Some(Elsewhere::Written(written)) => {
                self.write(written, user, &mut text);
                within = reading.of_text(&text);
                &within
            }
        };
        let found = match &extraction.open {
            None => Ok(()),
            Some(open) => self.fill(user, open, &mut extraction.extractor, reading),
        };
        let found = found.and_then(|()| extraction.extractor.write_drawn(reading, &mut value, |count| user.random.between(0, count - 1)));
        let known = &mut user.variables[extraction.variable];
        if found.is_ok() || !matches!(extraction.otherwise, Otherwise::Keeps) {
            known.clear();
            known.extend_from_slice(&value);
        }
        take_back(&self.lent.texts, value);
        take_back(&self.lent.texts, text);
        found
    }

    /// Fills in what is looked for.
    fn fill(&self, user: &mut User, open: &Text, extractor: &mut Extractor, reading: &Reading<'_>) -> Result<(), Missing> {
        let mut filled = lend(&self.lent.texts);
        self.write(open, user, &mut filled);
        let text = String::from_utf8_lossy(&filled);
        let sought = extractor.seek(&text).map_err(|mistake| extractor.not_understood(reading, &text, &mistake));
        take_back(&self.lent.texts, filled);
        sought
    }

    /// What an answer that did not come leaves: no status, and what is to be extracted as it is if nothing is found.
    pub(crate) fn go_without_answer(&self, user: &mut User) {
        user.variables[STATUS_PLACE].clear();
        for extraction in &self.compiled.steps[user.step].extractions {
            let value = &mut user.variables[extraction.variable];
            match &extraction.otherwise {
                Otherwise::Keeps => {}
                Otherwise::Ends => value.clear(),
                Otherwise::Becomes(default) => {
                    value.clear();
                    value.extend_from_slice(default.as_bytes());
                }
            }
        }
    }
}
