//! Scripts as the engine's programs: one that calls Lua, and one that need not.
//!
//! Most scripts only change the request: a method, a body, a header. Their request is built once, and after that they cost
//! what no script costs. Only what a script defines is called.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use engine::{Broken, Choice, Program};
use measure::Outcome;
use mlua::{BString, Function, Value};
use plan::Nanos;

use crate::answer::{ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX, Answers, Ear};
use crate::state::{CALL_INSTRUCTIONS_MAX, State};
use crate::thread::Shared;
use crate::{ScriptError, requests};

/// The same bytes for everybody.
pub(crate) struct Repeated {
    pub(crate) bytes: Vec<u8>,
    pub(crate) choice: Choice,
    pub(crate) address: Option<SocketAddr>,
}

impl Program for Repeated {
    type User = ();
    type Ear = ();

    fn user(&self, _number: u64) {}

    fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    #[inline]
    fn choose(&self, _user: &mut ()) -> Result<Choice, Broken> {
        Ok(self.choice)
    }

    #[inline]
    fn sending<'a>(&'a self, user: &'a mut ()) -> (&'a [u8], &'a mut ()) {
        (&self.bytes, user)
    }
}

/// A script that is asked, told, or both.
pub(crate) struct Scripted {
    state: State,
    shared: Arc<Shared>,
    request: Option<Function>,
    delay: Option<Function>,
    answers: Option<Answers>,
    /// What is sent where it has no `request`.
    fixed: (Vec<u8>, Choice),
    /// What its users have of their answers.
    answers_bytes: Arc<AtomicUsize>,
}

/// Which functions a script defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defines {
    pub(crate) request: bool,
    pub(crate) delay: bool,
    pub(crate) response: bool,
}

impl Scripted {
    pub(crate) fn new(state: State, shared: Arc<Shared>, defines: Defines, fixed: (Vec<u8>, Choice)) -> Result<Self, ScriptError> {
        let made = (|| {
            let door = |name: &str, is_there: bool| if is_there { state.door(name).map(Some) } else { Ok(None) };
            let answers = if defines.response { Some(Answers::new(&state)?) } else { None };
            Ok((door("request", defines.request)?, door("delay", defines.delay)?, answers))
        })();
        let (request, delay, answers) = made.map_err(|error| state.failed("looking for its functions", &error))?;
        Ok(Self { state, shared, request, delay, answers, fixed, answers_bytes: Arc::default() })
    }
}

impl Scripted {
    #[cold]
    fn no_string(&self) -> ScriptError {
        match self.state.call::<Value>("wrong", "request()", ()) {
            Ok(value) => self.state.returned("request", &said(&value)),
            Err(error) => error,
        }
    }
}

/// A connection as the script's worker sees it.
pub(crate) struct User {
    bytes: Vec<u8>,
    choice: Choice,
    ear: Ear,
}

impl Program for Scripted {
    type User = User;
    type Ear = Ear;

    const DELAYS: bool = true;

    fn user(&self, _number: u64) -> User {
        User { bytes: Vec::new(), choice: self.fixed.1, ear: Ear::new(self.answers.is_some(), self.answers_bytes.clone()) }
    }

    fn address(&self) -> Option<SocketAddr> {
        self.shared.address()
    }

    fn delay(&self, _user: &mut User) -> Result<Nanos, Broken> {
        let Some(delay) = &self.delay else { return Ok(Nanos::ZERO) };
        self.state.allow(CALL_INSTRUCTIONS_MAX);
        let value = delay.call::<Value>(()).map_err(|error| self.state.failed("delay()", &error))?;
        // Whole milliseconds, as in wrk, where nothing is no wait either.
        match value {
            Value::Nil => Ok(Nanos::ZERO),
            Value::Integer(millis) => Ok(Nanos::from_millis(u64::try_from(millis).unwrap_or(0))),
            Value::Number(millis) => Ok(Nanos::from_millis(millis as u64)),
            other => Err(self.state.returned("delay", &said(&other)).into()),
        }
    }

    fn choose(&self, user: &mut User) -> Result<Choice, Broken> {
        let Some(request) = &self.request else { return Ok(self.fixed.1) };
        self.state.allow(CALL_INSTRUCTIONS_MAX);
        // As bytes, straight from Lua's stack: a handle to Lua's string would cost more than the copy.
        let text = request.call::<Option<BString>>(()).map_err(|error| self.state.failed("request()", &error))?;
        let Some(text) = text else { return Err(self.no_string().into()) };
        if user.bytes != *text {
            if !requests::differs_in_path(&text, &user.bytes) {
                let read = requests::read_with_any_path(&text);
                user.choice = read.map_err(|why| self.state.returned("request", &format!("no whole requests: {why}")))?;
            }
            user.bytes = text.into();
        }
        Ok(user.choice)
    }

    #[inline]
    fn sending<'a>(&'a self, user: &'a mut User) -> (&'a [u8], &'a mut Ear) {
        (if self.request.is_some() { &user.bytes } else { &self.fixed.0 }, &mut user.ear)
    }

    fn ended(&self, ear: &mut Ear, outcome: &Outcome) -> Result<(), Broken> {
        // As in wrk, a script hears of answers only.
        let Some(answers) = &self.answers else { return Ok(()) };
        let Ok(status) = outcome.result else {
            // What came of an answer that broke off is of no use to anybody.
            ear.forget();
            return Ok(());
        };
        if ear.overflowed {
            return Err(ScriptError::new(
                format!(
                    "an answer has more than {} MiB, or those under way on a thread more than {} MiB: too much for response()",
                    ANSWER_BYTES_MAX >> 20,
                    ANSWERS_BYTES_MAX >> 20
                ),
                "measure it without response(), or ask the server for less",
            )
            .into());
        }
        self.state.allow(CALL_INSTRUCTIONS_MAX);
        answers.show(&self.state.lua, status, ear).map_err(|error| self.state.failed("response()", &error).into())
    }

    #[inline]
    fn has_stopped(&self) -> bool {
        self.shared.has_stopped()
    }
}

/// A value in words.
pub(crate) fn said(value: &Value) -> String {
    match value {
        Value::Nil => "nil".to_owned(),
        Value::Integer(number) => format!("the number {number}"),
        Value::Number(number) => format!("the number {number}"),
        other => format!("a {}", other.type_name()),
    }
}
