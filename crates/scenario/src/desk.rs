//! Where a script and its user meet: what was lent for one call, and what the script did.

use std::collections::BTreeMap;
use std::mem::{swap, take};
use std::sync::{Arc, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::protocol::EncodedRef;
use javascript::{Act, Host, Said};
use measure::Outcome;
use plan::work::{spelled_name, variable_name};
use plan::{Random, Target};
use template::AnswerSink;

use crate::changes::Changes;
use crate::compiled::Compiled;
use crate::scripts::Program;
use crate::user::User;

/// So many lines of one call are kept.
const LINES_MAX: usize = 10;

/// What a script did to its answer and its user.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) failed: Option<String>,
    pub(crate) succeeds: bool,
    pub(crate) stops_user: bool,
    pub(crate) stops_all: bool,
    pub(crate) ends_journey: bool,
    /// What it said.
    pub(crate) said: Vec<String>,
}

/// An answer, and the request that it answers.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) ok: bool,
    status: u16,
    headers: Vec<u8>,
    body: Vec<u8>,
    /// What scripts have put in the place of parts of it, for those behind them; it is counted as it came.
    replaced: BTreeMap<String, String>,
    url: String,
    request: Vec<u8>,
    /// In milliseconds: the answer, its first byte, and the connection.
    took: [f64; 3],
    bytes: u64,
}

impl Heard {
    /// Takes what was heard, to be [given back](Self::give_back).
    pub(crate) fn new(user: &User, place: &Target, (status, outcome): (u16, &Outcome), sink: &mut AnswerSink) -> Self {
        let millis = |span: plan::Nanos| span.as_secs_f64() * 1e3;
        let sent = user.sent.as_ref();
        Self {
            ok: false,
            status,
            headers: take(&mut sink.headers),
            body: take(&mut sink.body),
            replaced: BTreeMap::new(),
            url: place.clone().with_path_and_query(sent.path().unwrap_or("/").to_owned()).absolute(),
            request: sent.bytes().to_vec(),
            took: [outcome.service_time(), outcome.first_byte.since(outcome.sent), outcome.wait()].map(millis),
            bytes: outcome.bytes_in,
        }
    }

    pub(crate) fn give_back(self, sink: &mut AnswerSink) {
        (sink.headers, sink.body) = (self.headers, self.body);
    }

    fn said(&self, what: &str, label: &str) -> Said {
        if let Some(text) = self.replaced.get(what) {
            return Said::Text(text.clone());
        }
        let text = |bytes: &[u8]| Said::Text(String::from_utf8_lossy(bytes).into_owned());
        match what {
            "code" => Said::Text(self.status.to_string()),
            "message" => Said::Text(measure::reason(self.status).to_owned()),
            "body" => text(&self.body),
            "data" => text(EncodedRef::read(&self.request).body()),
            "headers" => text(&self.headers),
            "requestHeaders" => {
                let head = EncodedRef::read(&self.request).headers().unwrap_or_default();
                Said::Text(head.iter().map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value).trim())).collect())
            }
            "url" => Said::Text(self.url.clone()),
            "label" => Said::Text(label.to_owned()),
            "ok" => Said::Truth(self.ok),
            "time" => Said::Number(self.took[0].round()),
            "latency" => Said::Number(self.took[1].round()),
            "connect" => Said::Number(self.took[2].round()),
            "bytes" => Said::Number(self.bytes as f64),
            "start" => Said::Number((now() - self.took[0]).round()),
            "end" => Said::Number(now()),
            _ => Said::Nothing,
        }
    }
}

/// In milliseconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as f64
}

/// What the scripts of a worker ask.
pub(crate) struct Desk {
    compiled: Arc<Compiled>,
    journey: usize,
    /// The script that is called.
    place: usize,
    user: u64,
    iteration: u64,
    variables: Vec<Vec<u8>>,
    beside: BTreeMap<String, String>,
    given: BTreeMap<String, String>,
    random: Random,
    heard: Option<Heard>,
    changes: Option<Box<Changes>>,
    done: Done,
}

/// What is lent beside what the user itself has.
pub(crate) struct Loan {
    pub(crate) place: usize,
    pub(crate) given: BTreeMap<String, String>,
    pub(crate) beside: BTreeMap<String, String>,
    pub(crate) heard: Option<Heard>,
    pub(crate) changes: Option<Box<Changes>>,
}

impl Desk {
    pub(crate) fn new(compiled: &Arc<Compiled>) -> Self {
        let (variables, beside, given) = Default::default();
        let (journey, place, user, iteration, random) = (0, 0, 0, 0, Random::new(0, 0));
        let (heard, changes, done) = (None, None, Done::default());
        Self { compiled: compiled.clone(), journey, place, user, iteration, variables, beside, given, random, heard, changes, done }
    }

    /// Takes what a script of this user asks for.
    pub(crate) fn lend(&mut self, user: &mut User, loan: Loan) {
        (self.user, self.iteration, self.journey) = (user.number, user.begun, user.journey);
        let Loan { place, given, beside, heard, changes } = loan;
        (self.place, self.given, self.beside, self.heard, self.changes) = (place, given, beside, heard, changes);
        swap(&mut self.variables, &mut user.variables);
        swap(&mut self.random, &mut user.random);
    }

    /// Gives it back, with what the script did.
    pub(crate) fn hand_back(&mut self, user: &mut User) -> (Done, Loan) {
        swap(&mut self.variables, &mut user.variables);
        swap(&mut self.random, &mut user.random);
        let (given, beside) = (take(&mut self.given), take(&mut self.beside));
        let loan = Loan { place: self.place, given, beside, heard: self.heard.take(), changes: self.changes.take() };
        (take(&mut self.done), loan)
    }

    fn program(&self) -> &Program {
        &self.compiled.scripts[self.place]
    }

    /// What is done to the request at hand.
    ///
    /// # Errors
    /// If there is none.
    fn changes(&mut self) -> Result<&mut Changes, String> {
        let changes = self.changes.as_deref_mut().filter(|_| self.compiled.scripts[self.place].request.is_some());
        changes.ok_or_else(|| "there is no request here: write the script under 'before' of a step".to_owned())
    }

    /// The place of a variable, if it has one.
    fn slot(&self, name: &str) -> Option<usize> {
        let at = |name: &str| self.compiled.names.iter().position(|known| known == name);
        if !self.program().translated {
            return at(name);
        }
        // One of two names that would be the same else has its signs spelled.
        let plain = variable_name(name);
        let spelled = if plain == name { None } else { at(&spelled_name(name)) };
        spelled.or_else(|| at(&plain))
    }
}

impl Host for Desk {
    fn get(&self, name: &str) -> Option<String> {
        if let Some(text) = self.given.get(name) {
            return Some(text.clone());
        }
        match self.slot(name) {
            Some(slot) => {
                Some(&self.variables[slot]).filter(|value| !value.is_empty()).map(|value| String::from_utf8_lossy(value).into_owned())
            }
            None => self.beside.get(name).cloned(),
        }
    }

    fn put(&mut self, name: &str, text: Option<String>) {
        // Its own value goes over what it was given.
        self.given.remove(name);
        match (self.slot(name), text) {
            (Some(slot), text) => self.variables[slot] = text.unwrap_or_default().into_bytes(),
            (None, Some(text)) => _ = self.beside.insert(name.to_owned(), text),
            (None, None) => _ = self.beside.remove(name),
        }
    }

    fn names(&self) -> Vec<String> {
        let held = self.compiled.names.iter().zip(&self.variables).filter(|(_, value)| !value.is_empty()).map(|(name, _)| name);
        held.chain(self.beside.keys()).cloned().collect()
    }

    fn property(&self, name: &str) -> Option<String> {
        let properties = self.compiled.common.properties.lock().unwrap_or_else(PoisonError::into_inner);
        properties.get(name).cloned().or_else(|| self.given.get(&format!("property {name}")).cloned())
    }

    fn set_property(&mut self, name: &str, text: Option<String>) {
        let mut properties = self.compiled.common.properties.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => _ = properties.insert(name.to_owned(), text),
            None => _ = properties.remove(name),
        }
    }

    fn log(&mut self, level: &str, text: &str) {
        if self.done.said.len() < LINES_MAX && !matches!(level, "debug" | "trace") {
            self.done.said.push(text.to_owned());
        }
    }

    fn answer(&self, what: &str) -> Said {
        self.heard.as_ref().map_or(Said::Nothing, |heard| heard.said(what, &self.program().label))
    }

    fn request(&self, what: &str) -> Said {
        match (&self.changes, self.program().request) {
            (Some(changes), Some(before)) => {
                let step = &self.compiled.steps[before.step];
                changes.said(what, step.elsewhere.as_ref().unwrap_or(&self.compiled.home))
            }
            _ => Said::Nothing,
        }
    }

    fn about(&self, what: &str) -> Said {
        let group = &self.compiled.journeys[self.journey].name;
        match what {
            "threadNumber" => Said::Number((self.user + 1) as f64),
            "threadName" => Said::Text(format!("{group} 1-{}", self.user + 1)),
            "groupName" => Said::Text(group.to_string()),
            "iteration" => Said::Number(self.iteration as f64),
            "label" => Said::Text(self.program().label.to_string()),
            "parameters" => Said::Text(self.given.get("Parameters").cloned().unwrap_or_default()),
            _ => Said::Nothing,
        }
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Fail(why) => self.done.failed = Some(why.unwrap_or_else(|| "it was found to have failed".to_owned())),
            Act::Succeed if self.heard.is_none() => return Err("there is no answer here that could succeed".to_owned()),
            Act::Succeed => (self.done.failed, self.done.succeeds) = (None, true),
            Act::SetAnswer(what, text) => {
                let Some(heard) = self.heard.as_mut() else { return Err("there is no answer here that could be changed".to_owned()) };
                heard.replaced.insert(what, text);
            }
            Act::SetRequest(what, text) => self.changes()?.set(&what, text)?,
            Act::SetHeader(name, value) => self.changes()?.set_header(name, value)?,
            Act::AddField(name, value) => self.changes()?.add_field(name, value),
            Act::Ignore => return Err("an answer is counted in any case: a report holds every request that fell due".to_owned()),
            Act::StopUser => self.done.stops_user = true,
            Act::StopTest => self.done.stops_all = true,
            Act::NextIteration => self.done.ends_journey = true,
        }
        Ok(())
    }

    fn now(&self) -> f64 {
        now()
    }

    fn random(&mut self) -> f64 {
        self.random.unit()
    }

    fn digest(&self, algorithm: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        step::coding::digest_bytes(&plain(algorithm), bytes)
    }

    fn hmac(&self, algorithm: &str, key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        step::coding::hmac(&plain(algorithm), key, bytes)
    }

    fn file(&self, name: &str) -> Option<Arc<[u8]>> {
        self.program().files.get(name).cloned()
    }
}

/// The name of a digest as expressions have it: `sha256` of `SHA-256` and of `HmacSHA256`.
fn plain(algorithm: &str) -> String {
    let small = algorithm.to_ascii_lowercase().replace('-', "");
    small.strip_prefix("hmac").map_or_else(|| small.clone(), str::to_owned)
}
