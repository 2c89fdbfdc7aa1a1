//! Scripts as behaviours of users: one that calls Lua, and one that need not.
//!
//! Most scripts only change the request: a method, a body, a header. Their request is built once, and after that they cost
//! what no script costs. Only what a script defines is called.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use engine::protocol::EncodedRef;
use engine::{Behaviour, BehaviourError, Client, End, Request, Transport};
use measure::{Leftovers, Outcome};
use mlua::{BString, Function, Value};
use plan::Nanos;

use crate::ScriptError;
use crate::answer::{ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX, AnswerSink, Answers};
use crate::requests::{self, Batch};
use crate::state::{CALL_INSTRUCTIONS_MAX, State};
use crate::thread::Shared;
use crate::values::ThreadValues;

/// The same bytes for everybody.
pub(crate) struct RepeatedBehaviour {
    pub(crate) bytes: Vec<u8>,
    pub(crate) batch: Batch,
    pub(crate) address: Option<SocketAddr>,
    /// What the thread had when it was set up, which nothing changes.
    pub(crate) left: Leftovers,
}

impl Behaviour for RepeatedBehaviour {
    type User = ();

    fn user(&self, _number: u64) {}

    fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> impl Future<Output = Result<(), End>> {
        async move {
            let request = Request::new(EncodedRef::new(&self.bytes, self.batch.layout));
            if self.batch.requests > 1 {
                return Box::pin(client.send_batch(&request, self.batch.requests, &mut (), |_, _| Ok(()))).await;
            }
            client.send(&request, &mut ()).await?;
            Ok(())
        }
    }

    fn leftovers(&self) -> Leftovers {
        self.left.clone()
    }
}

/// A script that is asked, told, or both.
pub(crate) struct ScriptBehaviour {
    state: State,
    shared: Arc<Shared>,
    request: Option<Function>,
    delay: Option<Function>,
    answers: Option<Answers>,
    /// What is sent where it has no `request`.
    fixed: (Vec<u8>, Batch),
    /// What its users have of their answers.
    answers_bytes: Arc<AtomicUsize>,
    /// The number of its thread, where another process asks for what it had at its end.
    told_as: Option<u32>,
}

/// Which functions a script defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defines {
    pub(crate) request: bool,
    pub(crate) delay: bool,
    pub(crate) response: bool,
}

impl ScriptBehaviour {
    pub(crate) fn new(
        state: State,
        shared: Arc<Shared>,
        (defines, told_as): (Defines, Option<u32>),
        fixed: (Vec<u8>, Batch),
    ) -> Result<Self, ScriptError> {
        let made = (|| {
            let door = |name: &str, is_there: bool| if is_there { state.door(name).map(Some) } else { Ok(None) };
            let answers = if defines.response { Some(Answers::new(&state)?) } else { None };
            Ok((door("request", defines.request)?, door("delay", defines.delay)?, answers))
        })();
        let (request, delay, answers) = made.map_err(|error| state.failed("looking for its functions", &error))?;
        Ok(Self { state, shared, request, delay, answers, fixed, answers_bytes: Arc::default(), told_as })
    }
}

impl ScriptBehaviour {
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
    batch: Batch,
    sink: AnswerSink,
}

impl ScriptBehaviour {
    /// How long a user waits before its next request.
    fn delay(&self) -> Result<Nanos, ScriptError> {
        let Some(delay) = &self.delay else { return Ok(Nanos::ZERO) };
        self.state.allow(CALL_INSTRUCTIONS_MAX);
        let value = delay.call::<Value>(()).map_err(|error| self.state.failed("delay()", &error))?;
        // Whole milliseconds, as in wrk, where nothing is no wait either.
        match value {
            Value::Nil => Ok(Nanos::ZERO),
            Value::Integer(millis) => Ok(Nanos::from_millis(u64::try_from(millis).unwrap_or(0))),
            Value::Number(millis) => Ok(Nanos::from_millis(millis as u64)),
            other => Err(self.state.returned("delay", &said(&other))),
        }
    }

    /// What a user sends next.
    fn request(&self, user: &mut User) -> Result<Batch, ScriptError> {
        let Some(request) = &self.request else { return Ok(self.fixed.1) };
        self.state.allow(CALL_INSTRUCTIONS_MAX);
        // As bytes, straight from Lua's stack: a handle to Lua's string would cost more than the copy.
        let text = request.call::<Option<BString>>(()).map_err(|error| self.state.failed("request()", &error))?;
        let Some(text) = text else { return Err(self.no_string()) };
        if user.bytes != *text {
            if requests::differs_in_path(&text, &user.bytes) {
                user.batch = user.batch.resized(user.bytes.len(), text.len());
            } else {
                let read = requests::read_with_any_path(&text);
                user.batch = read.map_err(|why| self.state.returned("request", &format!("no whole requests: {why}")))?;
            }
            user.bytes = text.into();
        }
        Ok(user.batch)
    }

    /// Shows an answer to the script.
    fn show(&self, sink: &mut AnswerSink, outcome: &Outcome) -> Result<(), BehaviourError> {
        // As in wrk, a script hears of answers only.
        let Some(answers) = &self.answers else { return Ok(()) };
        let Ok(status) = outcome.result else {
            // What came of an answer that broke off is of no use to anybody.
            sink.forget();
            return Ok(());
        };
        if sink.overflowed {
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
        answers.show(&self.state.lua, status, sink).map_err(|error| self.state.failed("response()", &error).into())
    }

    /// Whether the user may go on, which a script can say in any call.
    #[inline]
    fn looks<T: Transport>(&self, client: &Client<'_, T>) -> Result<(), End> {
        if self.shared.has_stopped() {
            client.stop();
            return Err(End::Over);
        }
        Ok(())
    }
}

impl Behaviour for ScriptBehaviour {
    type User = User;

    fn user(&self, _number: u64) -> User {
        User { bytes: Vec::new(), batch: self.fixed.1, sink: AnswerSink::new(self.answers.is_some(), self.answers_bytes.clone()) }
    }

    fn address(&self) -> Option<SocketAddr> {
        self.shared.address()
    }

    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    fn iterate<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>) -> impl Future<Output = Result<(), End>> {
        async move {
            if !client.is_arrival() {
                let delay = self.delay()?;
                self.looks(client)?;
                client.turn(delay).await?;
            }
            let batch = self.request(user)?;
            self.looks(client)?;
            let User { bytes, sink, .. } = user;
            let bytes = if self.request.is_some() { bytes } else { &self.fixed.0 };
            let request = Request::new(EncodedRef::new(bytes, batch.layout));
            if batch.requests > 1 {
                Box::pin(client.send_batch(&request, batch.requests, sink, |sink, outcome| self.show(sink, outcome))).await?;
            } else {
                let outcome = client.fetch(&request, sink).await?;
                let shown = self.show(sink, &outcome);
                client.record(&outcome);
                shown?;
            }
            self.looks(client)
        }
    }

    fn leftovers(&self) -> Leftovers {
        self.told_as.map_or_else(Leftovers::default, |thread| leftovers(&self.state, thread))
    }
}

/// What a thread had, for another process. Of a state that is broken nothing is told, as of one that is gone.
pub(crate) fn leftovers(state: &State, thread: u32) -> Leftovers {
    let values = ThreadValues::of(state).map(|values| engine::to_bytes(&values).into());
    Leftovers { threads: values.into_iter().map(|values| (thread, values)).collect(), ..Leftovers::default() }
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
