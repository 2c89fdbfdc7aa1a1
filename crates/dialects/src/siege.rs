//! `loadline siege`: its options, its file of settings, its list of URLs and its report.
//!
//! siege plays visitors: each takes the next URL, follows where it is led, fetches what the page needs, rests, and goes on. Every
//! one of these requests is a transaction. So here too a user's next request is what its last answer asks for, and only then the
//! next of the list.
//!
//! Lines for single answers go to standard output as they come, through a thread of their own; the report goes to standard error,
//! where siege prints it, and its JSON to standard output.

mod options;
mod page;
mod urls;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::protocol::http1::request;
use engine::protocol::{Encoded, Header, ResponseSink};
use engine::redirect::{self, Convention, Hops};
use engine::{Behaviour, BehaviourError, Client, End, Request, Stop, Transport};
use measure::{Outcome, Status};
use plan::{Nanos, Random, Share, Spelling, Target, plainly};
use report::siege::{AnswerLine, LOG_HEAD, Siege};

use crate::dialect::{DONE, Dialect};
use crate::host::{Files, Host, print_to};
use crate::session::{Session, raise_to_now};
use options::{Amount, HOPS_MAX, Options, Refusal, Sequence, USAGE, VERSION};
use page::{Cookies, PAGE_BYTES_MAX};
use urls::Entry;

/// siege.
pub const DIALECT: Dialect =
    Dialect { name: "siege", about: "closed load of users on a list of URLs, with pauses", main, uses: options::uses };

/// How it ends when something is wrong.
const FAILED: u8 = 1;

/// After the end of the load, answers are waited for so long.
const PATIENCE: Nanos = Nanos::from_secs(2);

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    let version = || format!("SIEGE {VERSION}");
    let options = match Options::read(words, host) {
        Ok(options) => options,
        Err(Refusal::Version) => {
            host.complain(&format!("{}, by loadline {}", version(), env!("CARGO_PKG_VERSION")));
            return DONE;
        }
        Err(Refusal::Help) => {
            host.complain(&version());
            let _ = host.print(USAGE);
            return DONE;
        }
        Err(Refusal::Usage(why)) => {
            host.complain(&why);
            host.complain(&version());
            let _ = host.print(USAGE);
            // siege is content with showing what it can do.
            return DONE;
        }
        Err(Refusal::Failed(why)) => {
            host.complain(&format!("siege: {why}"));
            return FAILED;
        }
    };
    match carry_out(&options, host) {
        Ok(()) => DONE,
        Err(why) => {
            host.complain(&format!("siege: {why}"));
            FAILED
        }
    }
}

fn carry_out(options: &Options, host: &dyn Host) -> Result<(), String> {
    let session = Session::new(host, options.verbosity);
    let plan = session.decide(options.draft()).map_err(|mistakes| mistakes.spelt(Spelling::Flags))?;
    if !options.quiet && !options.json {
        let users = options.users;
        let begin = format!("** SIEGE {VERSION}\n** Preparing {users} concurrent users for battle.\nThe server is now under siege...");
        host.print_error(&if options.verbose { begin + "\n" } else { begin });
    }
    let stop = session.stop().map_err(|error| error.spelt(Spelling::Flags))?;
    let (lines, printer) = printing(host, &stop)?;
    let shared = Arc::new(Shared { options: options.clone(), next: AtomicU64::new(0), failed: AtomicU64::new(0), all: Mutex::default() });
    let shared_by_all = shared.clone();
    let runner = host.runner();
    let measured = session.measure(&plan, Some(PATIENCE), &stop, &mut [], |watch, stop| {
        let program = move |share| Visits::new(shared_by_all.clone(), share, lines.clone());
        runner.prepare(&plan)?.run_with(program, watch, stop)
    });
    let printed = printer.join().map_err(|_| "the thread that prints lines panicked".to_owned())?;
    printed.map_err(|why| format!("standard output cannot be written: {why}"))?;
    let run = measured.map_err(|error| error.spelt(Spelling::Flags))?;
    let mut siege = *shared.all.lock().unwrap_or_else(PoisonError::into_inner);
    siege.elapsed = run.ended.drained_at;
    let aborted = options.failures_max.is_some_and(|max| shared.failed.load(Ordering::Relaxed) >= max);
    if !options.quiet && !options.json {
        let lifted = if matches!(options.amount, Amount::Time(_) | Amount::Endless) { "\nLifting the server siege..." } else { "" };
        let why = if aborted { ABORTED } else { "" };
        host.print_error(&format!("{lifted}{why}{}", siege.report()));
    }
    if options.json {
        host.print(&siege.json()).map_err(|why| format!("standard output cannot be written: {}", plainly(&why)))?;
    }
    if let Some(path) = &options.log {
        log(&*host.files(), path, options.mark.as_deref(), &siege, aborted)
            .map_err(|why| format!("the log '{path}' cannot be written: {}", plainly(&why)))?;
    }
    session.remark(&run, None);
    Ok(())
}

const ABORTED: &str = "\nsiege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siege/siege.conf";

fn log(files: &dyn Files, path: &str, mark: Option<&str>, siege: &Siege, aborted: bool) -> std::io::Result<()> {
    let path = Path::new(path);
    let head = if files.exists(path) { "" } else { LOG_HEAD };
    let mark = mark.map_or_else(String::new, |mark| format!("**** {mark} ****\n"));
    let when = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S").to_string();
    let end = if aborted { "**** siege aborted due to excessive socket failure. ****\n" } else { "" };
    files.append(path, format!("{head}{mark}{}{end}", siege.log_line(&when)).as_bytes())
}

type Printer = thread::JoinHandle<Result<(), String>>;

/// Starts the thread that prints lines. If it cannot go on, neither can the siege.
fn printing(host: &dyn Host, stop: &Stop) -> Result<(SyncSender<String>, Printer), String> {
    /// So many pieces may wait.
    const WAITING: usize = 1_024;
    let (lines, wanted): (_, Receiver<String>) = sync_channel(WAITING);
    let (mut out, stop) = (host.output(), stop.clone());
    let printer = thread::Builder::new().name("lines".to_owned()).spawn(move || {
        let printed = wanted.iter().try_for_each(|text| print_to(&mut *out, &text).map_err(|why| plainly(&why)));
        if printed.is_err() {
            raise_to_now(&stop);
        }
        printed
    });
    Ok((lines, printer.map_err(|why| plainly(&why))?))
}

/// What all threads share.
struct Shared {
    options: Options,
    /// The next URL of a list that is gone through once.
    next: AtomicU64,
    failed: AtomicU64,
    all: Mutex<Siege>,
}

/// One thread's part.
struct Visits {
    shared: Arc<Shared>,
    lines: SyncSender<String>,
    printed: RefCell<String>,
    own: RefCell<Siege>,
    /// Users of this thread that still have something to do.
    busy: Cell<u64>,
    stopped: Cell<bool>,
}

/// A user: what it knows, and what it sees of an answer.
struct Visitor {
    random: Random,
    /// The next URL of the list.
    place: usize,
    /// URLs it may still take.
    left: u64,
    /// What its answers asked for.
    asked_for: VecDeque<Visit>,
    cookies: Cookies,
    /// Whether it has sent something, and rests before the next URL.
    tired: bool,
    answer: Answer,
}

/// What one answer held.
#[derive(Default)]
struct Answer {
    location: Option<String>,
    cookies: Vec<String>,
    is_page: bool,
    coding: Option<Coding>,
    bytes: u64,
    page: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
struct Visit {
    method: String,
    target: Target,
    body: Vec<u8>,
    /// How many redirects led here.
    hops: u8,
    /// Whether it is a page, or what one needs.
    role: Role,
}

/// Why something is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is in the list, or an answer led there.
    Page,
    /// A page needs it; what it needs itself is not looked for, or a server that answers everything with a page would never end.
    Part,
}

/// Lines leave together once there is so much of them.
const PRINTED_BYTES: usize = 4_096;

impl ResponseSink for Visitor {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        self.answer = Answer::default();
        for header in headers {
            let value = String::from_utf8_lossy(header.value);
            match header.name.to_ascii_lowercase().as_str() {
                "location" => self.answer.location = Some(value.into_owned()),
                "set-cookie" => self.answer.cookies.push(value.into_owned()),
                "content-type" => self.answer.is_page = value.trim_start().to_ascii_lowercase().starts_with("text/html"),
                "content-encoding" if value.eq_ignore_ascii_case("gzip") => self.answer.coding = Some(Coding::Gzip),
                "content-encoding" if value.eq_ignore_ascii_case("deflate") => self.answer.coding = Some(Coding::Deflate),
                _ => {}
            }
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        self.answer.bytes += bytes.len() as u64;
        if self.answer.is_page {
            let room = PAGE_BYTES_MAX.saturating_sub(self.answer.page.len());
            self.answer.page.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }
}

impl Answer {
    /// The page as text.
    fn text(&self) -> String {
        let mut page = Vec::new();
        let unpacked = match self.coding {
            None => return String::from_utf8_lossy(&self.page).into_owned(),
            Some(Coding::Gzip) => {
                flate2::read::MultiGzDecoder::new(self.page.as_slice()).take(PAGE_BYTES_MAX as u64).read_to_end(&mut page)
            }
            Some(Coding::Deflate) => {
                flate2::read::ZlibDecoder::new(self.page.as_slice()).take(PAGE_BYTES_MAX as u64).read_to_end(&mut page)
            }
        };
        // Of a page that is cut, what came is looked at.
        let _ = unpacked;
        String::from_utf8_lossy(&page).into_owned()
    }
}

impl Visit {
    fn of(entry: &Entry) -> Self {
        let Entry { method, target, body, .. } = entry.clone();
        Self { method, target, body, hops: 0, role: Role::Page }
    }

    /// How many redirects led here, and how many siege follows.
    fn follows(&self) -> Hops {
        Hops { followed: self.hops, max: HOPS_MAX }
    }

    fn to(target: Target, hops: u8, role: Role) -> Self {
        Self { method: "GET".to_owned(), target, body: Vec::new(), hops, role }
    }

    /// Its request, as siege writes it.
    fn request(&self, options: &Options, cookies: Option<String>) -> Result<Encoded, String> {
        let lines = &options.lines;
        let given = |name: &str| lines.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut headers: Vec<(&str, String)> = Vec::new();
        if !given("Host") {
            headers.push(("Host", self.target.authority()));
        }
        if let Some((user, password)) = self.target.credentials()
            && !given("Authorization")
        {
            headers.push(("Authorization", format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))));
        }
        headers.extend(cookies.map(|line| ("Cookie", line)));
        if !given("Accept") {
            headers.push(("Accept", "*/*".to_owned()));
        }
        headers.push(("Accept-Encoding", lines.encoding.clone()));
        headers.push(("User-Agent", lines.agent.clone()));
        headers.extend(lines.headers.iter().map(|(name, value)| (name.as_str(), value.clone())));
        headers.push(("Connection", if lines.keepalive { "keep-alive" } else { "close" }.to_owned()));
        if !matches!(self.method.as_str(), "GET" | "HEAD") {
            headers.push(("Content-Type", lines.content_type.clone()));
            headers.push(("Content-Length", self.body.len().to_string()));
        }
        request::serialise(&self.method, self.target.path_and_query(), &headers, &self.body).map_err(|why| why.to_string())
    }

    /// As a line shows it.
    fn display_url(&self, options: &Options) -> String {
        if self.method == "GET" && !options.full_url {
            return self.target.path_and_query().to_owned();
        }
        format!("{}://{}{}", self.target.scheme(), self.target.authority(), self.target.path_and_query())
    }
}

impl Visits {
    fn new(shared: Arc<Shared>, share: Share, lines: SyncSender<String>) -> Self {
        let users = share.part(shared.options.users.get().into());
        Self { shared, lines, printed: RefCell::default(), own: RefCell::default(), busy: Cell::new(users), stopped: Cell::new(false) }
    }

    /// What the user's last answer asked for, or the next URL; `None` if it has had its share.
    fn next(&self, visitor: &mut Visitor) -> Option<Visit> {
        let options = &self.shared.options;
        if let Some(visit) = visitor.asked_for.pop_front() {
            return Some(visit);
        }
        let place = match options.amount {
            Amount::Once => usize::try_from(self.shared.next.fetch_add(1, Ordering::Relaxed)).ok()?,
            _ => {
                visitor.left = visitor.left.checked_sub(1)?;
                match options.order {
                    Sequence::Random => usize::try_from(visitor.random.between(0, options.entries.len() as u64 - 1)).ok()?,
                    Sequence::InTurn => {
                        let place = visitor.place;
                        visitor.place = (place + 1) % options.entries.len();
                        place
                    }
                }
            }
        };
        options.entries.get(place).map(Visit::of)
    }

    fn print(&self, line: &str) {
        let mut printed = self.printed.borrow_mut();
        printed.push_str(line);
        if printed.len() >= PRINTED_BYTES {
            let _ = self.lines.send(std::mem::take(&mut printed));
        }
    }

    fn flush(&self) {
        let printed = self.printed.take();
        if !printed.is_empty() {
            let _ = self.lines.send(printed);
        }
    }
}

impl Visits {
    /// How long a user rests before a visit.
    fn rest(&self, visitor: &mut Visitor) -> Nanos {
        let rest = visitor.random.between(0, self.shared.options.delay.0);
        // From a second on, siege rests for whole seconds.
        let second = Nanos::SECOND.0;
        Nanos(if self.shared.options.delay >= Nanos::SECOND { (rest + second / 2) / second * second } else { rest })
    }

    /// Counts a visit, and takes up what its answer asks for.
    fn count(&self, visit: Visit, visitor: &mut Visitor, outcome: &Outcome) {
        let options = &self.shared.options;
        let answer = std::mem::take(&mut visitor.answer);
        let mut own = self.own.borrow_mut();
        // What siege calls a failed transaction: no answer, or one that says that the server could not.
        let failed = outcome.result.map_or(true, |status| status == 408 || (500..510).contains(&status));
        if failed {
            own.failed += 1;
            let all = self.shared.failed.fetch_add(1, Ordering::Relaxed) + 1;
            if options.failures_max.is_some_and(|max| all >= max) {
                self.stopped.set(true);
            }
        } else {
            own.transactions += 1;
        }
        let Ok(status) = outcome.result else { return };
        let took = outcome.response_time();
        own.succeeded += u64::from(Status(status).is_success() || matches!(status, 401 | 407));
        own.okay += u64::from(status == 200);
        own.bytes += answer.bytes;
        own.time = own.time.plus(took);
        own.longest = own.longest.max(took);
        own.shortest = Some(own.shortest.map_or(took, |shortest| shortest.min(took)));
        if options.verbose && !options.quiet && !options.json {
            let url = visit.display_url(options);
            let line = AnswerLine { status, took, bytes: answer.bytes, method: &visit.method, url: &url };
            self.print(&line.text(options.colour));
        }
        if options.cookies {
            answer.cookies.iter().for_each(|line| visitor.cookies.set(visit.target.host(), line));
        }
        if options.parser && answer.is_page && status < 300 && visit.role == Role::Page {
            visitor.asked_for.extend(page::parts(&visit.target, &answer.text()).into_iter().map(|part| Visit::to(part, 0, Role::Part)));
        }
        if let Some(location) = answer.location.as_ref().filter(|_| options.follow && Status(status).is_redirect())
            && let Ok(target) = redirect::destination(&visit.target, location, visit.follows(), |to| to.same_server(&visit.target))
        {
            let becomes_get = Convention::Siege.becomes_get(Status(status), &visit.method);
            let hops = visit.hops + 1;
            visitor.asked_for.push_front(if becomes_get { Visit::to(target, hops, visit.role) } else { Visit { target, hops, ..visit } });
        }
    }

    fn looks<T: Transport>(&self, client: &Client<'_, T>) -> Result<(), End> {
        if self.stopped.get() {
            client.stop();
            return Err(End::Over);
        }
        Ok(())
    }
}

impl Behaviour for Visits {
    type User = Visitor;

    const SAMPLES_EVERY: Option<Nanos> = Some(Nanos::from_millis(100));

    fn opens_first(&self) -> bool {
        false
    }

    fn sample(&self, _now: Nanos, _answers: u64) {
        self.flush();
    }

    fn user(&self, number: u64) -> Visitor {
        let options = &self.shared.options;
        let apart = options.entries.len() as u64 / u64::from(options.users.get());
        Visitor {
            random: Random::new(SEED, number),
            place: usize::try_from(number * apart).unwrap_or(0) % options.entries.len(),
            left: if let Amount::Each(count) = options.amount { count } else { u64::MAX },
            asked_for: VecDeque::new(),
            cookies: Cookies::default(),
            tired: false,
            answer: Answer::default(),
        }
    }

    async fn iterate<T: Transport>(&self, visitor: &mut Visitor, client: &mut Client<'_, T>) -> Result<(), End> {
        let goes_on = !visitor.asked_for.is_empty();
        let Some(visit) = self.next(visitor) else {
            self.busy.set(self.busy.get() - 1);
            if self.busy.get() == 0 {
                client.stop();
            }
            return Err(End::Over);
        };
        let rests = !goes_on && std::mem::replace(&mut visitor.tired, true);
        let rest = if rests { self.rest(visitor) } else { Nanos::ZERO };
        client.turn(rest).await?;
        let options = &self.shared.options;
        let cookies = if options.cookies { visitor.cookies.line(visit.target.host()) } else { None };
        let encoded = visit.request(options, cookies).map_err(|message| BehaviourError::new(message, "mend the list of URLs"))?;
        visitor.answer = Answer::default();
        let request = Request::new(encoded.as_ref()).to(&visit.target);
        let outcome = client.fetch(&request, visitor).await?;
        self.count(visit, visitor, &outcome);
        client.record(&outcome);
        self.looks(client)
    }
}

impl Drop for Visits {
    fn drop(&mut self) {
        self.flush();
        self.shared.all.lock().unwrap_or_else(PoisonError::into_inner).merge(&self.own.borrow());
    }
}

const SEED: u64 = 1;
