//! `loadline hey`: its command line, summary and CSV.
//!
//! hey is closed load: so many workers, each sends again when it is answered, or waits for its next turn where `-q` gives it one.
//! Its summary is made of every answer's parts (connection, wait, reading), so each answer is looked at as it ends; what is kept of
//! it is counts.

mod asked;

use std::cell::RefCell;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use engine::protocol::http1::{Asked, Header, Observer};
use engine::{After, Broken, Choice, Program};
use measure::{Failure, Outcome};
use plan::{Nanos, Target};
use report::hey::{Answer, Answers, CSV_HEAD};

use super::goflag::Mistake;
use super::{Dialect, Manners, goclient};
use crate::outputs::to_stdout;
use crate::screen::complain;
use asked::{Output, Refusal, USAGE, Words};

/// hey.
pub const DIALECT: Dialect =
    Dialect { name: "hey", about: "closed load of N workers, summary with histogram, CSV", main, uses: asked::uses };

/// How it ends when something is wrong, and when a flag is.
const FAILED: u8 = 1;
const MISUSED: u8 = 2;

fn main(words: &[OsString]) -> ExitCode {
    let usage = |why: &str| {
        if !why.is_empty() {
            complain(&format!("{why}\n"));
        }
        complain(USAGE);
    };
    let words = match Words::read(words) {
        Ok(words) => words,
        Err(Refusal::Flags(Mistake::Help)) => {
            complain(USAGE.trim_end());
            return ExitCode::SUCCESS;
        }
        Err(Refusal::Flags(Mistake::Wrong(why))) => {
            complain(&format!("{why}\n{}", USAGE.trim_end()));
            return ExitCode::from(MISUSED);
        }
        Err(Refusal::Usage(why)) => {
            usage(&why);
            return ExitCode::from(FAILED);
        }
        Err(Refusal::Failed(why)) => {
            complain(&format!("hey: {why}"));
            return ExitCode::from(FAILED);
        }
    };
    match carry_out(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            complain(&format!("hey: {why}"));
            ExitCode::from(FAILED)
        }
    }
}

fn carry_out(words: &Words) -> Result<(), String> {
    let plan = super::decide(words.draft()).map_err(|failed| failed.text)?;
    let stop = super::stop_on_signals(words.voice).map_err(|error| error.to_string())?;
    let words_of_all = Arc::new(words.clone());
    let all = Arc::new(Mutex::new(Told::default()));
    let told = all.clone();
    let manners = Manners { voice: words.voice, patience: None };
    let measured = super::measure_by(&plan, manners, &stop, &mut |_| (), |watch| {
        let program = move |_| Hey { words: words_of_all.clone(), began: Instant::now(), own: RefCell::default(), all: told.clone() };
        engine::prepare(&plan)?.run_with(program, watch, &stop)
    });
    let run = measured.map_err(|error| error.to_string())?;
    let Told { answers, mut rows } = std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner));
    rows.sort_unstable_by_key(|answer| answer.began.plus(answer.response));
    let text = match words.output {
        Output::Summary => answers.report(run.ended.drained_at, words.formulas),
        Output::Csv => [CSV_HEAD.to_owned()].into_iter().chain(rows.iter().map(Answer::csv)).collect(),
    };
    to_stdout(text.as_bytes()).map_err(|why| format!("standard output cannot be written: {}", crate::inputs::plainly(&why)))?;
    super::remark(&run, words.voice, None);
    Ok(())
}

/// What the workers found.
#[derive(Default)]
struct Told {
    answers: Answers,
    /// For the CSV.
    rows: Vec<Answer>,
}

/// So many rows are kept, as by hey.
const ROWS_MAX: usize = 1_000_000;

/// One thread's part.
struct Hey {
    words: Arc<Words>,
    began: Instant,
    own: RefCell<Told>,
    all: Arc<Mutex<Told>>,
}

/// One worker, in hey's words.
struct User {
    /// When it may send next.
    turn: Nanos,
    /// Where a redirect led, and what is sent there.
    led: Option<goclient::Redirected>,
    hops: u8,
    ear: Ear,
}

/// What is heard of an answer.
#[derive(Default)]
struct Ear {
    length: Option<u64>,
    location: Option<String>,
}

impl Observer for Ear {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        let value = |name: &str| headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value);
        // Of what Go's client unpacks it does not tell the length.
        let packed = value("content-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case(b"gzip"));
        let length = value("content-length").filter(|_| !packed).and_then(|length| std::str::from_utf8(length).ok()?.parse().ok());
        self.length = length;
        self.location = value("location").map(|location| String::from_utf8_lossy(location).into_owned());
    }
}

impl Program for Hey {
    type User = User;
    type Ear = Ear;

    const DELAYS: bool = true;
    const OPENS_FIRST: bool = false;
    const WANDERS: bool = true;

    fn user(&self, _number: u64) -> User {
        User { turn: self.words.gap, led: None, hops: 0, ear: Ear::default() }
    }

    /// A worker's turns come evenly; one that it was too late for is gone.
    fn delay(&self, user: &mut User) -> Result<Nanos, Broken> {
        let gap = self.words.gap;
        if gap == Nanos::ZERO {
            return Ok(Nanos::ZERO);
        }
        let now = Nanos(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        let turn = user.turn.max(Nanos(now.0 - now.0 % gap.0));
        user.turn = turn.plus(gap);
        Ok(turn.since(now))
    }

    fn choose(&self, user: &mut User) -> Result<Choice, Broken> {
        user.ear = Ear::default();
        (user.led, user.hops) = (None, 0);
        Ok(Choice { asked: if self.words.method == "HEAD" { Asked::Head } else { Asked::Other }, requests: 1 })
    }

    fn sending<'a>(&'a self, user: &'a mut User) -> (&'a [u8], &'a mut Ear) {
        (user.led.as_ref().map_or(&self.words.request, |led| &led.bytes), &mut user.ear)
    }

    fn destination<'a>(&'a self, user: &'a User) -> Option<&'a Target> {
        user.led.as_ref().map(|led| &led.target)
    }

    fn after(&self, user: &mut User, result: Result<u16, Failure>) -> After {
        let (request, from) = user.led.as_ref().map_or((&self.words.request, &self.words.target), |led| (&led.bytes, &led.target));
        if let Err(failure) = result
            && goclient::sends_again(request, failure)
        {
            let asked = if request.starts_with(b"HEAD ") { Asked::Head } else { Asked::Other };
            return After::Answer(Choice { asked, requests: 1 });
        }
        let (Ok(status), 1..) = (result, self.words.redirects) else { return After::Nothing };
        match goclient::redirected(request, from, status, user.ear.location.as_deref()) {
            Ok(None) => After::Nothing,
            Ok(Some(_)) if user.hops == self.words.redirects => After::Fail(Failure::RedirectLimit),
            Ok(Some(led)) => {
                let choice = Choice { asked: led.asked, requests: 1 };
                (user.led, user.hops) = (Some(led), user.hops + 1);
                After::Send(choice)
            }
            Err(failure) => After::Fail(failure),
        }
    }

    fn ended(&self, ear: &mut Ear, outcome: &Outcome) -> Result<(), Broken> {
        let mut own = self.own.borrow_mut();
        let status = match outcome.result {
            Ok(status) => status,
            Err(failure) => {
                own.answers.fail(goclient::error(&self.words.method, &self.words.url, None, &self.words.target, failure));
                return Ok(());
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
            length: ear.length,
            began: outcome.due,
        };
        own.answers.add(&answer);
        if self.words.output == Output::Csv && own.rows.len() < ROWS_MAX {
            own.rows.push(answer);
        }
        Ok(())
    }
}

impl Drop for Hey {
    fn drop(&mut self) {
        let Told { answers, rows } = self.own.take();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.answers.merge(answers);
        let room = ROWS_MAX - all.rows.len();
        all.rows.extend(rows.into_iter().take(room));
    }
}
