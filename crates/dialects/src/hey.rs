//! `loadline hey`: its command line, summary and CSV.
//!
//! hey is closed load: so many workers, each sends again when it is answered, or waits for its next turn where `-q` gives it one.
//! Its summary is made of every answer's parts (connection, wait, reading), so each answer is looked at as it ends; what is kept of
//! it is counts.

mod options;

use std::cell::RefCell;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use engine::protocol::{Header, ResponseSink};
use engine::{Behaviour, Client, End, Transport};
use measure::Outcome;
use plan::{Nanos, Spelling, plainly};
use report::hey::{Answer, Answers, CSV_HEAD};

use crate::dialect::{DONE, Dialect};
use crate::goclient::{self, AnswerWithLocation};
use crate::goflag::Mistake;
use crate::host::Host;
use crate::session::Session;
use options::{Options, Output, Refusal, USAGE};

/// hey.
pub const DIALECT: Dialect =
    Dialect { name: "hey", about: "closed load of N workers, summary with histogram, CSV", main, uses: options::uses };

/// How it ends when something is wrong, and when a flag is.
const FAILED: u8 = 1;
const MISUSED: u8 = 2;

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    let usage = |why: &str| {
        if !why.is_empty() {
            host.complain(&format!("{why}\n"));
        }
        host.complain(USAGE);
    };
    let options = match Options::read(words, &*host.files()) {
        Ok(options) => options,
        Err(Refusal::Flags(Mistake::Help)) => {
            host.complain(USAGE.trim_end());
            return DONE;
        }
        Err(Refusal::Flags(Mistake::Wrong(why))) => {
            host.complain(&format!("{why}\n{}", USAGE.trim_end()));
            return MISUSED;
        }
        Err(Refusal::Usage(why)) => {
            usage(&why);
            return FAILED;
        }
        Err(Refusal::Failed(why)) => {
            host.complain(&format!("hey: {why}"));
            return FAILED;
        }
    };
    match carry_out(&options, host) {
        Ok(()) => DONE,
        Err(why) => {
            host.complain(&format!("hey: {why}"));
            FAILED
        }
    }
}

fn carry_out(options: &Options, host: &dyn Host) -> Result<(), String> {
    let session = Session::new(host, options.verbosity);
    let plan = session.decide(options.draft()).map_err(|mistakes| mistakes.spelt(Spelling::Flags))?;
    let stop = session.stop().map_err(|error| error.spelt(Spelling::Flags))?;
    let options_of_all = Arc::new(options.clone());
    let all = Arc::new(Mutex::new(Results::default()));
    let results = all.clone();
    let runner = host.runner();
    let measured = session.measure(&plan, None, &stop, &mut [], |watch, stop| {
        let program =
            move |_| Hey { options: options_of_all.clone(), began: Instant::now(), own: RefCell::default(), all: results.clone() };
        runner.prepare(&plan)?.run_with(program, watch, stop)
    });
    let run = measured.map_err(|error| error.spelt(Spelling::Flags))?;
    let Results { answers, mut rows } = std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner));
    rows.sort_unstable_by_key(|answer| answer.began.plus(answer.response));
    let text = match options.output {
        Output::Summary => answers.report(run.ended.drained_at, options.formulas),
        Output::Csv => [CSV_HEAD.to_owned()].into_iter().chain(rows.iter().map(Answer::csv)).collect(),
    };
    host.print(&text).map_err(|why| format!("standard output cannot be written: {}", plainly(&why)))?;
    session.remark(&run, None);
    Ok(())
}

/// What the workers found.
#[derive(Default)]
struct Results {
    answers: Answers,
    /// For the CSV.
    rows: Vec<Answer>,
}

/// So many rows are kept, as by hey.
const ROWS_MAX: usize = 1_000_000;

/// One thread's part.
struct Hey {
    options: Arc<Options>,
    began: Instant,
    own: RefCell<Results>,
    all: Arc<Mutex<Results>>,
}

/// One worker, in hey's words.
struct User {
    /// When it may send next.
    turn: Nanos,
    sink: AnswerSink,
}

/// What is heard of an answer.
#[derive(Default)]
struct AnswerSink {
    length: Option<u64>,
    location: Option<String>,
}

impl ResponseSink for AnswerSink {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        let value = |name: &str| headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value);
        // Of what Go's client unpacks it does not tell the length.
        let packed = value("content-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case(b"gzip"));
        let length = value("content-length").filter(|_| !packed).and_then(|length| std::str::from_utf8(length).ok()?.parse().ok());
        self.length = length;
        self.location = value("location").map(|location| String::from_utf8_lossy(location).into_owned());
    }
}

impl AnswerWithLocation for AnswerSink {
    fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }
}

impl Hey {
    /// A worker's turns come evenly; one that it was too late for is gone.
    fn delay(&self, user: &mut User) -> Nanos {
        let gap = self.options.gap;
        if gap == Nanos::ZERO {
            return Nanos::ZERO;
        }
        let now = Nanos(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        let turn = user.turn.max(Nanos(now.0 - now.0 % gap.0));
        user.turn = turn.plus(gap);
        turn.since(now)
    }

    fn count(&self, sink: &AnswerSink, outcome: &Outcome) {
        let mut own = self.own.borrow_mut();
        let status = match outcome.result {
            Ok(status) => status,
            Err(failure) => {
                own.answers.fail(goclient::error(&self.options.method, &self.options.url, None, &self.options.target, failure));
                return;
            }
        };
        let answer = Answer {
            response: outcome.response_time(),
            connect: outcome.wait(),
            lookup: Nanos::ZERO,
            write: Nanos::ZERO,
            wait: outcome.first_byte.since(outcome.sent),
            read: outcome.done.since(outcome.first_byte),
            status,
            length: sink.length,
            began: outcome.due,
        };
        own.answers.add(&answer);
        if self.options.output == Output::Csv && own.rows.len() < ROWS_MAX {
            own.rows.push(answer);
        }
    }
}

impl Behaviour for Hey {
    type User = User;

    fn opens_first(&self) -> bool {
        false
    }

    fn user(&self, _number: u64) -> User {
        User { turn: self.options.gap, sink: AnswerSink::default() }
    }

    async fn iterate<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>) -> Result<(), End> {
        let delay = self.delay(user);
        client.turn(delay).await?;
        user.sink = AnswerSink::default();
        let Options { request, target, redirects, .. } = &*self.options;
        let sent =
            Box::pin(goclient::send(client, (request.as_ref(), target), (*redirects > 0).then_some(*redirects), &mut user.sink)).await;
        self.count(&user.sink, &sent.outcome);
        client.record(&sent.outcome);
        Ok(())
    }
}

impl Drop for Hey {
    fn drop(&mut self) {
        let Results { answers, rows } = self.own.take();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.answers.merge(answers);
        let room = ROWS_MAX - all.rows.len();
        all.rows.extend(rows.into_iter().take(room));
    }
}
