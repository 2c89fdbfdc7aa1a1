//! `loadline ab`: ApacheBench's options, its HTTP/1.0 on the wire, its report.
//!
//! ab is what most people have installed, and its report is what most scripts cut apart. So words, bytes and columns are its own, and
//! one ends as it ends: at the first broken connection unless `-r` was given, and when nothing happens for `-s` seconds.
//! Where it is wrong or fragile we differ: one failed request is one failure and not two, times come from histograms and rows of
//! `-g` from sorted runs on disk, so that memory does not grow with `-n`, and all cores send.
//!
//! What ab tells beyond a run's Summary is counted answer by answer on the workers. Rows and `-v` text leave them in pieces, on a
//! channel of their own; nothing is formatted or written on a worker but what `-v` asks for.

mod options;
mod samples;

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use engine::protocol::{Encoded, EncodedRef, Header, ResponseSink};
use engine::{Behaviour, Client, End, Request, Spoken, Stop, Transport, Urgency, Wire};
use jiff::tz::TimeZone;
use measure::{Ending, Failure, IntervalCounts, Outcome, Summary, Tick};
use plan::{Nanos, Spelling, plainly};
use report::ab::{self, AbFailures, Figures, Sample};
use trial::RunError;

use crate::dialect::Dialect;
use crate::host::{Host, Verbosity, print_to};
use crate::session::{Session, raise_to_now};
use options::{MISTAKE, Options, Refusal, parse, system_words, uses};
use samples::Samples;

/// ab's row in the table.
pub const DIALECT: Dialect = Dialect { name: "ab", about: "ApacheBench: N requests of HTTP/1.0, text report or HTML", main, uses };

/// More connect failures than this end the run.
const CONNECT_FAILURES_MAX: u64 = 10;

/// So many rows leave a worker at once.
const ROWS_A_PIECE: usize = 4_096;

/// So much of an answer's head is shown by `-v`, as by ab.
const HEAD_SHOWN_MAX: usize = 8_191;

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    match parse(words, &*host.files()).and_then(|options| carry_out(&options, host)) {
        Ok(exit) => exit,
        Err(refusal) => {
            print(host, &refusal.stdout);
            host.print_error(&refusal.stderr);
            refusal.exit
        }
    }
}

/// To standard output at once; that it cannot be written is no error.
fn print(host: &dyn Host, text: &str) {
    let _ = host.print(text);
}

fn carry_out(options: &Options, host: &dyn Host) -> Result<u8, Refusal> {
    let head = options.request_head()?;
    let broken = |text: &str, exit: u8| Refusal { stdout: String::new(), stderr: format!("ab: {text}\n"), exit };
    let session = Session::new(host, if options.progress { Verbosity::Normal } else { Verbosity::Quiet });
    let [wanted, bare] = options.drafts();
    let plan =
        session.decide(wanted).or_else(|_| session.decide(bare)).map_err(|mistakes| broken(&mistakes.spelt(Spelling::Flags), MISTAKE))?;
    for (file, which) in [(&options.samples, "gnuplot output file"), (&options.csv, "CSV output file")] {
        // A run of an hour must not end with a file that cannot be written.
        let Some(file) = file else { continue };
        let words = |why| format!("Cannot open {which}: {}\n", system_words(&why));
        let opened = host.files().ensure_writable(Path::new(file));
        opened.map_err(|why| Refusal { stdout: String::new(), stderr: words(why), exit: 1 })?;
    }
    let stop = session.stop().map_err(|error| broken(&error.spelt(Spelling::Flags), 1))?;
    begin(options, host, &head);

    let shared = Arc::new(Shared::new(options, head));
    let (words, heard) = channel();
    let rows = options.samples.is_some();
    let (mut out, mut errors) = (host.output(), host.errors());
    let listener = thread::Builder::new().name("samples".to_owned()).spawn(move || listen(&heard, rows, &mut *out, &mut *errors));
    let listener = listener.map_err(|why| {
        let words = system_words(&why);
        broken(&format!("the system gives no thread ({words}): raise the limit on processes (ulimit -u, pids.max of the container)"), 1)
    })?;
    let mut watch = Watch::new(options, host, &stop, &shared.aborted);
    let wire = Wire { buffer_bytes: options.buffer_bytes, naming: options.naming };
    let runner = host.runner();
    let shared_by_all = shared.clone();
    let measured = session.measure(&plan, None, &stop, &mut [&mut watch], |watch, stop| {
        let program = |stop: Stop, words: Sender<Word>| move |_| Ab::new(&shared_by_all, &stop, &words);
        runner.prepare(&plan)?.wired(wire).run_with(program(stop.clone(), words), watch, stop)
    });
    let Rows { samples, trouble } = listener.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let summary = measured.map_err(|error| unreached(&error, options))?;
    let (tally, first) = (shared.tally(), shared.first.get());
    if let Some(Abort { stderr, exit }) = shared.aborted() {
        host.print_error(&stderr);
        if tally.complete > 0 {
            print(host, &format!("Total of {} requests completed\n", tally.complete));
        }
        return Ok(exit);
    }
    watch.finish(tally.complete);
    let figures = figures(options, &summary, &tally, first);
    print(
        host,
        &match options.html {
            true => ab::html(&figures, &options.attributes),
            false => ab::text(&figures, options.percentiles, options.estimators),
        },
    );
    write_files(options, host, &summary, &figures, samples, trouble)?;
    session.remark(&summary, None);
    Ok(u8::from(summary.ended.how == Ending::Interrupted))
}

/// What stands above the report, before anything is sent.
fn begin(options: &Options, host: &dyn Host, head: &[u8]) {
    let mut text = if options.html { ab::BANNER_HTML } else { ab::BANNER }.to_owned();
    let through = options.proxy.as_ref().map(|proxy| format!("[through {proxy}] ")).unwrap_or_default();
    let end = if options.beat().is_some() { "\n" } else { "..." };
    if !options.html {
        let _ = write!(text, "Benchmarking {} {through}(be patient){end}", options.url.host);
    }
    if options.verbosity >= 2 {
        let method = options.method.as_deref().unwrap_or("GET");
        let _ = write!(text, "INFO: {method} header == \n---\n{}\n---\n", String::from_utf8_lossy(head));
    }
    print(host, &text);
}

/// What the workers have in common. Touched once a worker, or when something fails.
struct Shared {
    request: Encoded,
    verbosity: i64,
    rows: bool,
    go_on: bool,
    /// The first good answer: all are compared with its length.
    first: OnceLock<First>,
    connect_failures: AtomicU64,
    aborted: Mutex<Option<Abort>>,
    tally: Mutex<Tally>,
}

impl Shared {
    fn new(options: &Options, head: Vec<u8>) -> Self {
        let layout = EncodedRef::read(&head).layout();
        let mut bytes = head;
        bytes.extend(options.body.iter().flat_map(|(_, body)| body));
        Self {
            request: Encoded { bytes, layout },
            verbosity: options.verbosity,
            rows: options.samples.is_some(),
            go_on: options.go_on,
            first: OnceLock::new(),
            connect_failures: AtomicU64::new(0),
            aborted: Mutex::default(),
            tally: Mutex::default(),
        }
    }

    fn aborted(&self) -> Option<Abort> {
        self.aborted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the report tells of the first answer.
struct First {
    software: String,
    document_bytes: u64,
    tls: Option<Spoken>,
}

/// What ab counts and a Summary does not.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    complete: u64,
    kept: u64,
    documents_bytes: u64,
    failed: AbFailures,
    write_errors: u64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.complete += other.complete;
        self.kept += other.kept;
        self.documents_bytes += other.documents_bytes;
        self.failed.connect += other.failed.connect;
        self.failed.receive += other.failed.receive;
        self.failed.length += other.failed.length;
        self.failed.exceptions += other.failed.exceptions;
        self.write_errors += other.write_errors;
    }

    /// Counts a failure by ab's kinds. One that is our own doing is none.
    fn fail(&mut self, failure: Failure) {
        match failure {
            Failure::ClientInterrupted => return,
            failure if failure.is_connect() => self.failed.connect += 1,
            Failure::RecvReset => self.failed.receive += 1,
            Failure::RecvEofBeforeResponse | Failure::RecvEofInHead | Failure::RecvEofInBody => self.failed.length += 1,
            Failure::SendReset | Failure::SendClosed | Failure::SendTimeout => self.write_errors += 1,
            _ => self.failed.exceptions += 1,
        }
        self.complete += 1;
    }
}

/// What leaves a worker besides its counts.
enum Word {
    /// Rows of `-g`; times count from the start of the run.
    Rows(Vec<Sample>),
    /// What `-v` shows on standard output.
    Text(String),
    /// What it shows on standard error.
    Error(String),
}

/// The rows of `-g`, as far as they could be kept.
struct Rows {
    samples: Samples,
    trouble: Option<io::Error>,
}

/// Takes what the workers say until all are done.
fn listen(words: &Receiver<Word>, rows: bool, out: &mut dyn Write, errors: &mut dyn Write) -> Rows {
    let mut kept = Rows { samples: Samples::new(), trouble: None };
    for word in words {
        match word {
            Word::Text(text) => drop(print_to(out, &text)),
            Word::Error(text) => drop(errors.write_all(text.as_bytes())),
            Word::Rows(pieces) if rows && kept.trouble.is_none() => {
                kept.trouble = pieces.into_iter().find_map(|sample| kept.samples.add(sample).err());
            }
            Word::Rows(_) => {}
        }
    }
    kept
}

/// One worker's part.
struct Ab {
    shared: Arc<Shared>,
    stop: Stop,
    words: Sender<Word>,
    tally: Cell<Tally>,
    /// The length of the first document, once this worker has had an answer.
    document_bytes: Cell<Option<u64>>,
    rows: RefCell<Vec<Sample>>,
}

impl Ab {
    fn new(shared: &Arc<Shared>, stop: &Stop, words: &Sender<Word>) -> Self {
        Self {
            shared: shared.clone(),
            stop: stop.clone(),
            words: words.clone(),
            tally: Cell::default(),
            document_bytes: Cell::default(),
            rows: RefCell::default(),
        }
    }

    fn answered(&self, sink: &mut AnswerSink, outcome: &Outcome, status: u16, tally: &mut Tally) {
        tally.complete += 1;
        tally.kept += u64::from(sink.keeps_alive);
        let document_bytes = self.document_bytes.get().unwrap_or_else(|| {
            let software = sink.software.take().unwrap_or_default();
            let first = || First { software, document_bytes: sink.body_bytes, tls: sink.spoken.take() };
            let bytes = self.shared.first.get_or_init(first).document_bytes;
            self.document_bytes.set(Some(bytes));
            bytes
        });
        tally.failed.length += u64::from(document_bytes != sink.body_bytes);
        if self.shared.verbosity >= 2 {
            self.show(sink, status);
        }
        if self.shared.rows {
            self.list(outcome);
        }
    }

    /// A failure ends the run if it would end ab.
    #[cold]
    fn failed(&self, outcome: &Outcome, failure: Failure, tally: &mut Tally) {
        if failure == Failure::ClientInterrupted {
            return;
        }
        let connect_failures = if failure.is_connect() { self.shared.connect_failures.fetch_add(1, Ordering::Relaxed) + 1 } else { 0 };
        if let Some(abort) = abort(failure, connect_failures, self.shared.go_on) {
            // What ends the run is not one of the requests it completed.
            self.shared.aborted.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(abort);
            raise_to_now(&self.stop);
            return;
        }
        tally.fail(failure);
        if !failure.is_connect() {
            if self.shared.verbosity >= 1 && failure == Failure::RecvReset {
                let (number, words) = errno(failure);
                let _ = self.words.send(Word::Error(format!("apr_socket_recv: {words} ({number})\n")));
            }
            if self.shared.rows {
                self.list(outcome);
            }
        }
    }

    #[cold]
    fn show(&self, sink: &mut AnswerSink, status: u16) {
        let mut text = std::mem::take(&mut sink.shown);
        if status / 100 != 2 {
            let _ = writeln!(text, "WARNING: Response code not 2xx ({status})");
        } else if self.shared.verbosity >= 3 {
            let _ = writeln!(text, "LOG: Response code = {status}");
        }
        let _ = self.words.send(Word::Text(text));
    }

    fn list(&self, outcome: &Outcome) {
        let mut rows = self.rows.borrow_mut();
        rows.push(Sample {
            began_us: outcome.due.0 / 1_000,
            connect_us: outcome.wait().0 / 1_000,
            total_us: outcome.response_time().0 / 1_000,
            waiting_us: outcome.first_byte.since(outcome.sent).0 / 1_000,
        });
        if rows.len() == ROWS_A_PIECE {
            let _ = self.words.send(Word::Rows(std::mem::replace(&mut rows, Vec::with_capacity(ROWS_A_PIECE))));
        }
    }
}

impl Behaviour for Ab {
    type User = AnswerSink;

    fn opens_first(&self) -> bool {
        false
    }

    fn user(&self, _number: u64) -> AnswerSink {
        AnswerSink { shows: self.shared.verbosity >= 2, ..AnswerSink::default() }
    }

    async fn iterate<T: Transport>(&self, sink: &mut AnswerSink, client: &mut Client<'_, T>) -> Result<(), End> {
        sink.clear();
        sink.is_first = self.document_bytes.get().is_none();
        let request = Request::new(self.shared.request.as_ref());
        let mut outcome = client.fetch(&request, sink).await?;
        if outcome.result == Err(Failure::StaleReuse) {
            // As ab does, unseen.
            client.send_again(&outcome);
            outcome = Box::pin(client.exchange(&request, sink)).await;
        }
        let mut tally = self.tally.get();
        tally.documents_bytes += sink.body_bytes;
        match outcome.result {
            Ok(status) => self.answered(sink, &outcome, status, &mut tally),
            Err(failure) => self.failed(&outcome, failure, &mut tally),
        }
        self.tally.set(tally);
        client.record(&outcome);
        Ok(())
    }
}

impl Drop for Ab {
    fn drop(&mut self) {
        self.shared.tally.lock().unwrap_or_else(PoisonError::into_inner).add(self.tally.get());
        let rows = self.rows.take();
        if !rows.is_empty() {
            let _ = self.words.send(Word::Rows(rows));
        }
    }
}

/// What is heard of an answer.
#[derive(Debug, Default)]
struct AnswerSink {
    body_bytes: u64,
    keeps_alive: bool,
    /// Whether the head is looked at for what the report tells of the first answer.
    is_first: bool,
    software: Option<String>,
    /// What TLS came to on its connection.
    spoken: Option<Spoken>,
    /// Whether `-v` shows it, what has been read of its head, and the text made of that.
    shows: bool,
    head: Vec<u8>,
    shown: String,
}

impl AnswerSink {
    #[inline]
    fn clear(&mut self) {
        (self.body_bytes, self.keeps_alive) = (0, false);
        if self.shows {
            self.head.clear();
            self.shown.clear();
        }
    }
}

impl ResponseSink for AnswerSink {
    #[inline]
    fn received(&mut self, bytes: &[u8]) {
        if !self.shows || self.head.windows(4).any(|window| window == b"\r\n\r\n") {
            return;
        }
        // As in ab, whatever came with the head is shown with it.
        let room = HEAD_SHOWN_MAX.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let _ = writeln!(self.shown, "LOG: header received:\n{}", String::from_utf8_lossy(&self.head));
    }

    #[inline]
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        for header in headers {
            // "keep-alive" has ten letters, and few values do.
            if header.value.len() >= 10 && header.name.len() == 10 && header.name.eq_ignore_ascii_case("connection") {
                self.keeps_alive |= header.value.windows(10).any(|word| word.eq_ignore_ascii_case(b"keep-alive"));
            }
            if self.is_first && header.name.eq_ignore_ascii_case("server") {
                let value = String::from_utf8_lossy(header.value);
                self.software = Some(value.split(|letter: char| letter <= ' ').next().unwrap_or_default().to_owned());
            }
        }
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        self.body_bytes += bytes.len() as u64;
    }

    #[inline]
    fn spoken(&mut self, tell: impl FnOnce() -> Option<Spoken>) {
        if self.is_first {
            self.spoken = tell();
        }
    }
}

/// What ended the run before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Abort {
    stderr: String,
    exit: u8,
}

/// Nothing has happened for as long as `-s` says.
fn expired() -> Abort {
    // APR's own number for it; a process ends with its lowest eight bits.
    Abort { stderr: "apr_pollset_poll: The timeout specified has expired (70007)\n".to_owned(), exit: (70_007 % 256) as u8 }
}

/// The errno and words of a failure that has one.
fn errno(failure: Failure) -> (i32, &'static str) {
    match failure {
        Failure::ConnectRefused => (111, "Connection refused"),
        Failure::ConnectTimeout | Failure::TlsTimeout => (110, "Connection timed out"),
        Failure::ConnectUnreachable => (113, "No route to host"),
        Failure::ConnectLocalPorts => (99, "Cannot assign requested address"),
        Failure::ConnectLocalFds => (24, "Too many open files"),
        Failure::SendClosed => (32, "Broken pipe"),
        _ => (104, "Connection reset by peer"),
    }
}

/// How ab ends at a failure, if it does.
fn abort(failure: Failure, connect_failures: u64, go_on: bool) -> Option<Abort> {
    let (number, words) = errno(failure);
    let receive = |number: i32, words: &str| Some(Abort { stderr: format!("apr_socket_recv: {words} ({number})\n"), exit: number as u8 });
    if failure.is_timeout() && !failure.is_connect() {
        return Some(expired());
    }
    if failure.is_connect() {
        if failure.code().starts_with("tls.") {
            return Some(Abort { stderr: format!("SSL handshake failed: {}\n", failure.about()), exit: 1 });
        }
        let at_once = matches!(failure, Failure::ConnectUnreachable | Failure::ConnectLocalPorts | Failure::ConnectLocalFds);
        // What the system says later than at once, ab hears when it reads.
        return match (at_once, go_on) {
            (false, false) => receive(number, words),
            (true, _) if connect_failures > CONNECT_FAILURES_MAX => {
                let stderr = format!("\nTest aborted after {CONNECT_FAILURES_MAX} failures\n\napr_socket_connect(): {words} ({number})\n");
                Some(Abort { stderr, exit: number as u8 })
            }
            _ => None,
        };
    }
    match failure {
        Failure::RecvReset if !go_on => receive(number, words),
        _ => None,
    }
}

/// What ab says when the run cannot begin.
fn unreached(error: &RunError, options: &Options) -> Refusal {
    let silent = |stderr: String, exit: u8| Refusal { stdout: String::new(), stderr, exit };
    match &error.unreached {
        // APR's number for it.
        Some((failure, _)) if failure.code().starts_with("dns.") => {
            let host = options.url.host.clone();
            silent(format!("apr_sockaddr_info_get() for {host}: Name or service not known (670002)\n"), (670_002 % 256) as u8)
        }
        Some((failure, _)) => match abort(*failure, CONNECT_FAILURES_MAX + 1, options.go_on) {
            Some(Abort { stderr, exit }) => silent(stderr, exit),
            None => silent(format!("ab: {}\n", error.spelt(Spelling::Flags)), 1),
        },
        None => silent(format!("ab: {}\n", error.spelt(Spelling::Flags)), 1),
    }
}

/// Looks at the run once an interval: progress, and whether anything still happens.
struct Watch<'a> {
    host: &'a dyn Host,
    beat: Option<u64>,
    next: u64,
    done: u64,
    stop: Stop,
    aborted: &'a Mutex<Option<Abort>>,
    timeout: Nanos,
    /// When something last did.
    moved: Nanos,
}

impl<'a> Watch<'a> {
    fn new(options: &Options, host: &'a dyn Host, stop: &Stop, aborted: &'a Mutex<Option<Abort>>) -> Self {
        Self {
            host,
            beat: options.beat(),
            next: options.beat().unwrap_or(0),
            done: 0,
            stop: stop.clone(),
            aborted,
            timeout: Nanos::from_secs(u64::try_from(options.timeout_s).unwrap_or(1).max(1)),
            moved: Nanos::ZERO,
        }
    }

    fn tell(&mut self) {
        let Some(beat) = self.beat else { return };
        while self.next <= self.done {
            self.host.print_error(&format!("Completed {} requests\n", self.next));
            self.next += beat;
        }
    }

    fn finish(&mut self, complete: u64) {
        self.done = complete;
        self.tell();
        match self.beat {
            Some(_) => self.host.print_error(&format!("Finished {complete} requests\n")),
            None => print(self.host, "..done\n"),
        }
    }
}

impl trial::Observer for Watch<'_> {
    fn interval(&mut self, tick: &Tick, _counted: &IntervalCounts) -> ControlFlow<()> {
        self.done += tick.succeeded + tick.failed;
        self.tell();
        if tick.succeeded + tick.failed > 0 {
            self.moved = tick.to;
        } else if tick.to.since(self.moved) >= self.timeout && self.stop.urgency() < Urgency::Now {
            self.aborted.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(expired());
            raise_to_now(&self.stop);
        }
        // Interrupted, ab waits for nobody.
        if self.stop.urgency() == Urgency::Drain {
            raise_to_now(&self.stop);
        }
        ControlFlow::Continue(())
    }
}

fn figures(options: &Options, summary: &Summary, tally: &Tally, first: Option<&First>) -> Figures {
    let tls = first.and_then(|first| first.tls.clone()).map(|spoken| ab::Tls {
        protocol: format!("{},{},{},{}", spoken.protocol, spoken.cipher, spoken.key_bits, spoken.cipher_bits),
        exchange: spoken.exchange,
        name: options.tls_name(),
    });
    let failed = if options.any_length { AbFailures { length: 0, ..tally.failed } } else { tally.failed };
    Figures {
        software: first.map(|first| first.software.clone()).unwrap_or_default(),
        // ab writes no brackets around IPv6 addresses.
        host: options.url.host.trim_matches(['[', ']']).to_owned(),
        port: options.url.port,
        tls,
        path: options.url.path.clone(),
        document_bytes: (!options.any_length).then(|| first.map_or(0, |first| first.document_bytes)),
        concurrency: options.concurrency as u64,
        seconds: summary.ended.drained_at.as_secs_f64(),
        complete: tally.complete,
        failed,
        write_errors: tally.write_errors,
        not_2xx: summary.status.iter().filter(|(status, _)| **status / 100 != 2).map(|(_, count)| count).sum(),
        kept: options.keepalive.then_some(tally.kept),
        received: summary.bytes.received,
        sent: options.body.as_ref().map(|_| summary.bytes.sent),
        documents_bytes: tally.documents_bytes,
        connect: summary.wait.clone(),
        processing: summary.service_time.clone(),
        waiting: summary.ttfb.clone(),
        total: summary.response_time.clone(),
    }
}

fn write_files(
    options: &Options,
    host: &dyn Host,
    summary: &Summary,
    figures: &Figures,
    samples: Samples,
    trouble: Option<io::Error>,
) -> Result<(), Refusal> {
    let lost = |file: &str, why: &io::Error| Refusal {
        stdout: String::new(),
        stderr: format!("ab: error: '{file}' could not be written: {}\n  help: make room, and run again\n", plainly(why)),
        exit: 5,
    };
    if let Some(file) = &options.csv {
        host.files().replace(Path::new(file), ab::csv(&figures.total).as_bytes()).map_err(|why| lost(file, &why))?;
    }
    let Some(file) = &options.samples else { return Ok(()) };
    trouble
        .map_or_else(
            || {
                let out = host.files().create(Path::new(file))?;
                write_rows(io::BufWriter::new(out), &summary.started, &host.time_zone(), samples)
            },
            Err,
        )
        .map_err(|why| lost(file, &why))
}

/// The file of `-g`: every request, the fastest first.
fn write_rows(mut out: impl Write, started: &str, zone: &TimeZone, samples: Samples) -> io::Result<()> {
    let started: jiff::Timestamp = started.parse().unwrap_or_default();
    out.write_all(ab::SAMPLES_HEADING.as_bytes())?;
    // Rows of the same second say it in the same words.
    let mut last = (u64::MAX, String::new());
    samples.sorted(|sample| {
        let began_us = u64::try_from(started.as_microsecond()).unwrap_or(0) + sample.began_us;
        let second = began_us / 1_000_000;
        if last.0 != second {
            let at = jiff::Timestamp::from_second(i64::try_from(second).unwrap_or(0)).unwrap_or_default();
            last = (second, at.to_zoned(zone.clone()).strftime("%a %b %d %H:%M:%S %Y").to_string());
        }
        out.write_all(Sample { began_us, ..sample }.line(&last.1).as_bytes())
    })?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_receive_error_ends_the_run_unless_told_otherwise() {
        let ended = |failure, count, go_on| abort(failure, count, go_on).map(|abort| (abort.stderr, abort.exit));
        assert_eq!(ended(Failure::RecvReset, 0, false), Some(("apr_socket_recv: Connection reset by peer (104)\n".to_owned(), 104)));
        assert_eq!(ended(Failure::RecvReset, 0, true), None);
        assert_eq!(ended(Failure::ConnectRefused, 1, false).map(|(_, exit)| exit), Some(111));
        assert_eq!(ended(Failure::ConnectRefused, 11, true), None);
        assert_eq!(ended(Failure::ConnectUnreachable, 10, false), None);
        assert_eq!(ended(Failure::ConnectUnreachable, 11, true).map(|(_, exit)| exit), Some(113));
        assert_eq!(ended(Failure::RecvIdleTimeout, 0, true).map(|(_, exit)| exit), Some(119));
        assert_eq!(ended(Failure::RecvEofInBody, 0, false), None);
    }

    #[test]
    fn a_broken_pipe_is_called_as_the_system_calls_it() {
        let (number, words) = errno(Failure::SendClosed);
        assert_eq!(io::Error::from_raw_os_error(number).to_string(), format!("{words} (os error {number})"));
    }

    #[test]
    fn one_failed_request_is_one_failure() {
        for failure in Failure::ALL {
            let mut tally = Tally::default();
            tally.fail(*failure);
            let all = tally.failed.all() + tally.write_errors;
            assert_eq!(all, u64::from(*failure != Failure::ClientInterrupted), "{failure}");
            assert_eq!(tally.complete, all, "{failure}");
        }
    }
}
