//! `--out jtl=FILE`: a row for every request of a load, and for every transaction behind those of its requests, written while it is on.
//!
//! Other outputs are made of a finished result. Of these rows there are too many to keep until then, so the file grows under its own
//! name, and one that was to be replaced stays until the first request has ended. One thread makes rows of what workers hand on: names,
//! texts and the file are its affair, and the load's is to copy a few numbers a request. Whatever the file is, a slow disk or a pipe
//! that nobody reads, the load does not wait for it: what could not be written is missing in the file, and the result says how much.
//!
//! Invariants: rows and missing ones together are the requests and transactions that ended, but for those of a transaction that has the only row; no row is cut off, but where writing failed
//! or was given up.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use engine::{RunError, Runner};
use jtl::Sample;
use measure::{Failure, RecordBatch, RecordSource, RequestLog, RequestRecord, SummaryBuilder, TransactionRecord, grouped};
use plan::work::{AnswerCheck, Item, Step};
use plan::{Nanos, Plan, PlanError, PlanErrors, Target, Users, url_without_secrets};
use scenario::Scenario;
use trial::Observer;

use crate::inputs::plainly;

/// One way to write every request down.
#[derive(Debug, Clone, Copy)]
pub struct LogFormat {
    /// What stands before the equals sign in `--out jtl=FILE`.
    pub name: &'static str,
    /// The usual ending of its files, without the dot.
    pub extension: &'static str,
    head: &'static [&'static str],
    foot: &'static str,
    row: fn(&Sample<'_>, &mut Vec<u8>) -> io::Result<()>,
}

/// The formats of a log: JMeter's result files in CSV, and in XML.
pub const LOG_FORMATS: &[LogFormat] = &[
    LogFormat { name: "jtl", extension: "jtl", head: &[jtl::HEADER, "\n"], foot: "", row: jtl::write_csv },
    LogFormat { name: "jtl-xml", extension: "jtl.xml", head: &[jtl::XML_HEAD], foot: jtl::XML_FOOT, row: jtl::write_xml },
];

/// What is known of rows by the names of steps and transactions.
#[derive(Debug, Clone, Default)]
pub struct StepPlaces {
    /// What steps ask for: paths and URLs as the scenario has them.
    urls: BTreeMap<String, String>,
    /// What has no row, as it belongs to a transaction that has the only one.
    hidden: BTreeSet<String>,
    /// What steps say of a check of theirs that does not hold, by their names and its place.
    failures: BTreeMap<(String, usize), String>,
}

impl StepPlaces {
    /// What a step says of a check of its own that does not hold.
    fn failure(&self, step: &str, place: usize) -> Option<&str> {
        if self.failures.is_empty() {
            return None;
        }
        self.failures.get(&(step.to_owned(), place)).map(String::as_str)
    }
}

/// Where the steps of a scenario go, and which have no rows.
pub fn step_places(scenario: Option<&Scenario>) -> StepPlaces {
    let mut is_hidden: BTreeMap<String, bool> = BTreeMap::new();
    for journey in scenario.into_iter().flat_map(|scenario| &scenario.work.journeys) {
        hide(&journey.items, false, &mut is_hidden);
    }
    let hidden = is_hidden.into_iter().filter(|(_, hidden)| *hidden).map(|(name, _)| name).collect();
    let steps: Vec<&Step> = scenario.into_iter().flat_map(|scenario| scenario.work.steps()).collect();
    let of_check = |step: &Step, (place, check): (usize, &AnswerCheck)| Some(((step.name.clone(), place), check.failure.clone()?));
    let failures = steps.iter().flat_map(|step| step.checks.iter().enumerate().filter_map(|check| of_check(step, check))).collect();
    let places = |step: &Step| {
        // What a page names is known when it has come.
        let resources = step.resources.as_ref().map(|_| (step.resources_name(), String::new()));
        [(step.name.clone(), step.path.to_string())].into_iter().chain(resources)
    };
    StepPlaces { urls: steps.into_iter().flat_map(places).collect(), hidden, failures }
}

/// Finds out what is in nothing but transactions that have the only row.
fn hide(items: &[Item], is_within: bool, is_hidden: &mut BTreeMap<String, bool>) {
    for item in items {
        let names = match item {
            Item::Step(step) => vec![step.name.clone(), step.resources_name()],
            Item::Transaction { name, .. } => vec![name.clone()],
            _ => Vec::new(),
        };
        for name in names {
            let known = is_hidden.entry(name).or_insert(true);
            *known &= is_within;
        }
        let is_alone = matches!(item, Item::Transaction { only_row: true, .. });
        item.parts().into_iter().for_each(|part| hide(part, is_within || is_alone, is_hidden));
    }
}

/// When the load is over and not a batch is written for so long, nobody waits for the rest.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// What rows go to.
type Sink = Box<dyn Write + Send>;

/// Opens it, when the first row is there: to open a pipe waits for who reads it.
type Opening = Box<dyn FnOnce() -> io::Result<Sink> + Send>;

/// Every request of one load on its way to files.
pub struct LogWriter {
    log: RequestLog,
    files: Vec<LogFile>,
    /// Whether there was a load, and it is over.
    over: Arc<AtomicBool>,
    /// How writing ended, file by file.
    ended: Receiver<Vec<io::Result<()>>>,
    silence_max: Duration,
    lost: PlanErrors,
}

/// A file as it is told of.
struct LogFile {
    format: &'static LogFormat,
    path: PathBuf,
    /// Rows that were written.
    written: Arc<AtomicU64>,
}

impl LogWriter {
    /// Ready for a load of this plan; nothing is opened yet.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(files: &[(&'static LogFormat, PathBuf)], plan: &Plan, steps: StepPlaces) -> io::Result<Self> {
        let open = |path: &PathBuf| -> Opening {
            let path = path.clone();
            Box::new(move || -> io::Result<Sink> { Ok(Box::new(File::create(path)?)) })
        };
        let files = files.iter().map(|(format, path)| (*format, path.clone(), open(path))).collect();
        Self::of(RequestLog::new(), files, Rows::new(plan, steps), SILENCE_MAX)
    }

    /// One for loads of this plan, and the runner that tells it of them; nothing where no file is named. This process writes the file, wherever
    /// the load comes from.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn on(
        files: &[(&'static LogFormat, PathBuf)],
        plan: &Plan,
        steps: StepPlaces,
        runner: Runner,
    ) -> Result<(Option<Self>, Runner), RunError> {
        if files.is_empty() {
            return Ok((None, runner));
        }
        let rows = Self::start(files, plan, steps).map_err(|why| {
            let what = format!("there is no thread to write every request down with: {}", plainly(&why));
            RunError::run(what, "raise the limit on threads (ulimit -u), or leave that --out away")
        })?;
        let runner = runner.with_log(rows.log());
        Ok((Some(rows), runner))
    }

    fn of(
        (log, batches): (RequestLog, Receiver<RecordBatch>),
        files: Vec<(&'static LogFormat, PathBuf, Opening)>,
        mut rows: Rows,
        silence_max: Duration,
    ) -> io::Result<Self> {
        let (mut told, mut outlets) = (Vec::new(), Vec::new());
        for (format, path, open) in files {
            let written = Arc::default();
            outlets.push(Outlet { format, to: To::Unopened(open), written: Arc::clone(&written) });
            told.push(LogFile { format, path, written });
        }
        let (end, ended) = sync_channel(1);
        let over = Arc::new(AtomicBool::new(false));
        let is_over = over.clone();
        thread::Builder::new().name("rows".to_owned()).spawn(move || {
            write_all(&batches, &mut outlets, &mut rows);
            // A load that did not begin leaves a file as it was.
            let results = if is_over.load(Ordering::Acquire) { outlets.into_iter().map(Outlet::close).collect() } else { Vec::new() };
            // Nobody listens any more where this thread was given up.
            let _ = end.send(results);
        })?;
        Ok(Self { log, files: told, over, ended, silence_max, lost: PlanErrors::default() })
    }

    /// Where workers put their requests.
    pub fn log(&self) -> &RequestLog {
        &self.log
    }

    /// What could not be written.
    ///
    /// # Errors
    /// Each file, with what to do.
    pub fn finish(self) -> Result<(), PlanErrors> {
        if self.lost.is_empty() { Ok(()) } else { Err(self.lost) }
    }

    fn written(&self) -> u64 {
        self.files.iter().map(LogFile::rows).sum()
    }

    /// Waits until all is written, and no longer than something is. `None`: the thread that writes was given up.
    fn wait(&self) -> Option<Vec<io::Result<()>>> {
        let mut before = self.written();
        loop {
            match self.ended.recv_timeout(self.silence_max) {
                Ok(results) => return Some(results),
                Err(RecvTimeoutError::Disconnected) => panic!("the thread that writes rows panicked"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.written();
            if now == before {
                return None;
            }
            before = now;
        }
    }
}

impl LogFile {
    fn rows(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }
}

/// The load is over: the rest is written, and the result told what is missing.
impl Observer for LogWriter {
    fn end(&mut self, run: &mut SummaryBuilder) {
        self.over.store(true, Ordering::Release);
        self.log.close();
        let mut results = self.wait().map(Vec::into_iter);
        let made = self.log.made();
        for file in &self.files {
            let (name, path) = (file.format.name, file.path.display());
            let failed = match &mut results {
                None => Some(format!("it took no row for {} s", self.silence_max.as_secs())),
                Some(results) => results.next().and_then(Result::err).map(|why| plainly(&why)),
            };
            let missing = made - file.rows();
            if missing > 0 {
                let why = failed.as_deref().unwrap_or("rows were written more slowly than requests ended; use a faster disk, or send less");
                run.add_warnings([format!(
                    "{} of {} rows are missing in '{path}': {why}",
                    grouped(&missing.to_string()),
                    grouped(&made.to_string())
                )]);
            }
            if let Some(why) = failed {
                self.lost.push(PlanError::new(
                    "out",
                    format!("the {name} output could not be written to '{path}': {why}"),
                    "make room or choose another place, and run again with --out",
                ));
            }
        }
    }
}

/// A file as it is written.
struct Outlet {
    format: &'static LogFormat,
    to: To,
    written: Arc<AtomicU64>,
}

enum To {
    /// No row was there yet.
    Unopened(Opening),
    Open(Sink),
    /// Nothing is written any more.
    Failed(io::Error),
}

impl Outlet {
    /// Writes some rows, and opens the file before the first.
    fn write(&mut self, bytes: &[u8], rows: u64) {
        self.to = match std::mem::replace(&mut self.to, To::Failed(io::ErrorKind::Other.into())) {
            To::Unopened(open) => self.begun(open).map_or_else(To::Failed, To::Open),
            to => to,
        };
        let To::Open(to) = &mut self.to else { return };
        match to.write_all(bytes) {
            Ok(()) => _ = self.written.fetch_add(rows, Ordering::Release),
            Err(why) => self.to = To::Failed(why),
        }
    }

    fn begun(&self, open: Opening) -> io::Result<Sink> {
        let mut to = open()?;
        to.write_all(self.format.head.concat().as_bytes())?;
        Ok(to)
    }

    fn close(mut self) -> io::Result<()> {
        self.write(self.format.foot.as_bytes(), 0);
        match self.to {
            To::Open(mut to) => to.flush(),
            To::Failed(why) => Err(why),
            To::Unopened(_) => unreachable!("a write opens it"),
        }
    }
}

/// Writes batches until no worker is left.
fn write_all(batches: &Receiver<RecordBatch>, outlets: &mut [Outlet], rows: &mut Rows) {
    let mut bytes = Vec::new();
    while let Ok(batch) = batches.recv() {
        for outlet in &mut *outlets {
            bytes.clear();
            let source = &batch.source;
            let mut write = |is_hidden: bool, sample: &Sample<'_>| {
                if !is_hidden {
                    (outlet.format.row)(sample, &mut bytes).expect("memory takes every byte");
                }
            };
            let (mut records, mut written) = (batch.records.iter(), 0);
            for (behind, transaction) in &batch.transactions {
                records
                    .by_ref()
                    .take(behind - written)
                    .for_each(|record| write(rows.hides(source, record.name), &rows.row(source, record)));
                written = *behind;
                write(rows.hides(source, transaction.name), &rows.transaction(source, transaction));
            }
            records.for_each(|record| write(rows.hides(source, record.name), &rows.row(source, record)));
            outlet.write(&bytes, batch.count());
        }
        batch.give_back();
    }
}

/// What makes rows of records.
struct Rows {
    home: Target,
    steps: StepPlaces,
    groups: Vec<Group>,
    /// Of each worker, by its number in the run.
    workers: Vec<Worker>,
}

/// A population, as JMeter has groups of threads.
struct Group {
    name: String,
    /// Where the load is closed.
    users: Option<Users>,
    /// Requests on the wire, as far as its workers have told.
    in_flight: u32,
}

#[derive(Clone, Default)]
struct Worker {
    /// Where its requests go, by their names.
    urls: Vec<String>,
    in_flight: u32,
}

impl Rows {
    fn new(plan: &Plan, steps: StepPlaces) -> Self {
        let group = |(place, name): (u32, String)| Group { name, users: plan.of_population(place).users(), in_flight: 0 };
        let names: Vec<String> = plan.populations().iter().map(|population| population.name.clone()).collect();
        let names = if names.is_empty() { vec!["Users".to_owned()] } else { names };
        Self {
            home: plan.target().clone(),
            steps,
            groups: (0..).zip(names).map(group).collect(),
            workers: vec![Worker::default(); plan.parts().len()],
        }
    }

    /// Whether what has this name has no row.
    fn hides(&self, source: &RecordSource, name: u32) -> bool {
        !self.steps.hidden.is_empty() && self.steps.hidden.contains(&*source.names[name as usize].name)
    }

    fn row<'a>(&'a mut self, source: &'a RecordSource, record: &RequestRecord) -> Sample<'a> {
        let place = source.part.of_run.index() as usize;
        let worker = &mut self.workers[place];
        if worker.urls.is_empty() {
            worker.urls = source.names.iter().map(|name| url_of(&self.home, &self.steps, &name.name)).collect();
        }
        let group = &mut self.groups[source.part.population as usize];
        group.in_flight = group.in_flight - worker.in_flight + record.in_flight;
        worker.in_flight = record.in_flight;
        let (group_threads, all_threads) = self.threads(source, record.due.plus(record.elapsed));
        let name = &source.names[record.name as usize];
        let check = record.check.and_then(|check| name.checks.get(usize::from(check)));
        let (code, message): (Cow<'_, str>, Cow<'_, str>) = match record.result {
            Ok(status) => (status.to_string().into(), report::reason(status).into()),
            Err(failure) => (jtl::response_code(failure).into(), jtl::response_message(failure).into()),
        };
        let failure_message: Cow<'_, str> = match (record.failure, check) {
            (Some(_), Some(check)) => match record.check.and_then(|place| self.steps.failure(&name.name, place.into())) {
                Some(own) => own.to_owned().into(),
                None => format!("Test failed: {check}").into(),
            },
            // What is wrong with any other answer is not told by its status.
            (Some(failure @ (Failure::CheckFailed | Failure::ExtractNothing | Failure::Script)), None) => failure.about().into(),
            _ => "".into(),
        };
        Sample {
            time_stamp_ms: source.began.plus(record.due).0 / 1_000_000,
            elapsed_ms: millis(record.elapsed),
            label: (&*name.name).into(),
            response_code: code,
            response_message: message,
            thread_name: self.thread_name(source, record.lane).into(),
            data_type: "text".into(),
            success: record.failure.is_none(),
            failure_message,
            bytes: record.bytes_in,
            sent_bytes: record.bytes_out.into(),
            group_threads,
            all_threads,
            url: (&*self.workers[place].urls[record.name as usize]).into(),
            latency_ms: millis(record.first_byte),
            idle_ms: 0,
            connect_ms: millis(Nanos::from_micros(record.connect_us.into())),
        }
    }

    /// As JMeter's Transaction Controller writes it (`TransactionController` of 5.6.3): no code where something failed, and no URL.
    fn transaction<'a>(&self, source: &'a RecordSource, record: &TransactionRecord) -> Sample<'a> {
        let TransactionRecord { name, due, elapsed, idle, succeeded, sums } = record;
        let (group_threads, all_threads) = self.threads(source, due.plus(*elapsed).plus(*idle));
        Sample {
            time_stamp_ms: source.began.plus(*due).0 / 1_000_000,
            elapsed_ms: millis(*elapsed),
            label: (&*source.names[*name as usize].name).into(),
            response_code: if *succeeded { "200".into() } else { "".into() },
            response_message: jtl::transaction_message(sums.requests, sums.failed).into(),
            thread_name: self.thread_name(source, sums.lane).into(),
            data_type: "".into(),
            success: *succeeded,
            failure_message: "".into(),
            bytes: sums.bytes_in,
            sent_bytes: sums.bytes_out,
            group_threads,
            all_threads,
            url: jtl::NO_URL.into(),
            latency_ms: millis(sums.first_byte),
            idle_ms: millis(*idle),
            connect_ms: millis(Nanos::from_micros(sums.connect_us)),
        }
    }

    /// The user on this Lane of a worker.
    fn thread_name(&self, source: &RecordSource, lane: u32) -> String {
        let population = source.part.population;
        format!("{} {}-{}", self.groups[population as usize].name, population + 1, source.part.share.number(lane.into()) + 1)
    }

    /// How many users the worker's population and all together have at a moment.
    fn threads(&self, source: &RecordSource, at: Nanos) -> (u32, u32) {
        // While the first user of a population is on its way, the plan rounds to none.
        let group = self.groups[source.part.population as usize].threads(at).max(1);
        (group, self.groups.iter().map(|group| group.threads(at)).sum::<u32>().max(group))
    }
}

impl Group {
    /// How many users there are at this moment, or in open load how many requests are on the wire.
    fn threads(&self, at: Nanos) -> u32 {
        self.users.as_ref().map_or(self.in_flight, |users| users.at(at))
    }
}

/// To the nearest.
fn millis(span: Nanos) -> u64 {
    (span.0 + 500_000) / 1_000_000
}

/// Where requests of this name go: what its step says, the plan's URL where it is its path, or what stands behind a method. Empty where
/// nothing says so.
fn url_of(home: &Target, steps: &StepPlaces, name: &str) -> String {
    let place = steps.urls.get(name).map(String::as_str).or_else(|| name.split_once(' ').map(|(_, place)| place));
    match place {
        None if name.starts_with('/') => home.to_string(),
        Some(path) if path.starts_with('/') => format!("{}://{}{}", home.scheme(), home.authority(), url_without_secrets(path)),
        Some(url) if url.contains("://") => url_without_secrets(url),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Mutex;
    use std::sync::mpsc::{Sender, channel};

    use super::*;
    use measure::{Collector, End, Ending, Outcome, RecordName, Recorder, Span, fixtures};
    use plan::{Draft, Share};

    /// A file that takes nothing until the sender of its gate is gone.
    struct Gated {
        gate: Receiver<()>,
        content: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Gated {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.gate.recv();
            self.content.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn gated() -> (Opening, Sender<()>, Arc<Mutex<Vec<u8>>>) {
        let ((gate, waits), content) = (channel(), Arc::<Mutex<Vec<u8>>>::default());
        let sink = Gated { gate: waits, content: content.clone() };
        (Box::new(move || -> io::Result<Sink> { Ok(Box::new(sink)) }), gate, content)
    }

    fn plan() -> Plan {
        let draft = Draft { url: Some("http://a.test/b?token=s3cr3t".to_owned()), ..Draft::default() };
        Plan::try_from(Draft { connections: "4".parse().ok(), threads: "2".parse().ok(), ..draft }).unwrap()
    }

    fn rows() -> Rows {
        Rows::new(&plan(), StepPlaces::default())
    }

    fn writing(open: Opening, silence_max: Duration) -> LogWriter {
        let files = vec![(&LOG_FORMATS[0], PathBuf::from("r.jtl"), open)];
        LogWriter::of(RequestLog::holding(4), files, rows(), silence_max).unwrap()
    }

    /// A worker, the second of two, of which so many requests end one after the other.
    fn works(log: &RequestLog, requests: u64, result: Result<u16, Failure>) {
        let part = plan::Part::from(Share::new(1, 2).unwrap());
        let names = vec![RecordName::plain("/b")];
        let span = Span { from: Nanos::ZERO, until: Nanos::NEVER };
        let mut recorder = Recorder::new(span).with_log(log.buffer(part, Nanos::from_secs(1_700_000_000), names));
        recorder.sent_on(1);
        recorder.connected(1, Nanos::from_micros(2_600));
        for number in 0..requests {
            let due = Nanos::from_millis(number);
            let [sent, first_byte, done] = [2_700, 14_400, 20_600].map(|micros| due.plus(Nanos::from_micros(micros)));
            recorder.record(&Outcome { due, ready: sent, sent, first_byte, done, bytes_out: 80, bytes_in: 300, result });
        }
        recorder.close_log();
    }

    /// The run is over; what is said of it.
    fn over(writer: &mut LogWriter) -> Vec<String> {
        let end = End { how: Ending::Finished, load_until: Nanos::SECOND, drained_at: Nanos::SECOND };
        let (mut run, _) = Collector::new(fixtures::plan("http://a.test/"), 1, Nanos::SECOND).finish(end);
        writer.end(&mut run);
        run.close().warnings.clone()
    }

    #[test]
    fn a_row_says_what_a_record_does_in_jmeters_words() {
        let (open, gate, content) = gated();
        drop(gate);
        let mut writer = writing(open, SILENCE_MAX);
        works(writer.log(), 2, Ok(200));
        works(writer.log(), 1, Err(Failure::RecvIdleTimeout));
        assert_eq!(over(&mut writer), Vec::<String>::new());
        let text = String::from_utf8(content.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], jtl::HEADER);
        // From when it was due; the second used the connection of the first.
        let url = "http://a.test/b?token=***";
        assert_eq!(lines[1], format!("1700000000000,21,/b,200,OK,Users 1-4,text,true,,300,80,4,4,{url},14,0,3"));
        assert_eq!(lines[2], format!("1700000000001,21,/b,200,OK,Users 1-4,text,true,,300,80,4,4,{url},14,0,0"));
        let failed = "Non HTTP response code: java.net.SocketTimeoutException,Non HTTP response message: no answer within the timeout";
        assert_eq!(lines[3], format!("1700000000000,21,/b,{failed},Users 1-4,text,false,,300,80,4,4,{url},14,0,3"));
        assert_eq!(lines.len(), 4);
        assert_eq!(writer.finish(), Ok(()));
    }

    #[test]
    fn rows_and_missing_ones_are_all_requests_however_slow_a_file_is() {
        let (open, gate, content) = gated();
        let mut writer = writing(open, SILENCE_MAX);
        // All of them end while nothing can be written.
        works(writer.log(), 10_000, Ok(200));
        drop(gate);
        let said = over(&mut writer);
        let rows = String::from_utf8(content.lock().unwrap().clone()).unwrap().lines().count() as u64 - 1;
        let missing = grouped(&(10_000 - rows).to_string());
        assert!((4 * 512..=5 * 512).contains(&rows), "{rows}");
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with(&format!("{missing} of 10,000 rows are missing in 'r.jtl': ")), "{said:?}");
        assert_eq!(writer.finish(), Ok(()), "a file that is slow is no error");
    }

    #[test]
    fn a_file_that_takes_nothing_any_more_is_given_up_and_told() {
        let (open, _gate, _) = gated();
        let mut writer = writing(open, Duration::from_millis(20));
        works(writer.log(), 700, Ok(200));
        assert!(over(&mut writer)[0].starts_with("700 of 700 rows are missing in 'r.jtl': it took no row for "));
        assert!(writer.finish().unwrap_err().spelt(plan::Spelling::Flags).contains("the jtl output could not be written to 'r.jtl'"));
    }

    #[test]
    fn a_file_that_cannot_be_written_does_not_take_the_other_with_it() {
        let (open, gate, content) = gated();
        drop(gate);
        let full: Opening = Box::new(|| Err(io::ErrorKind::StorageFull.into()));
        let files = vec![(&LOG_FORMATS[0], PathBuf::from("r.jtl"), full), (&LOG_FORMATS[1], PathBuf::from("r.xml"), open)];
        let mut writer = LogWriter::of(RequestLog::new(), files, rows(), SILENCE_MAX).unwrap();
        works(writer.log(), 30, Ok(404));
        assert_eq!(over(&mut writer), ["30 of 30 rows are missing in 'r.jtl': the disk is full"]);
        let lost = writer.finish().unwrap_err();
        assert_eq!(lost.0.len(), 1);
        let text = String::from_utf8(content.lock().unwrap().clone()).unwrap();
        assert!(text.starts_with(jtl::XML_HEAD) && text.ends_with(jtl::XML_FOOT), "{text}");
        assert_eq!(text.matches(" rc=\"404\" rm=\"Not Found\"").count(), 30);
    }

    #[test]
    fn a_file_is_replaced_by_the_first_request_or_by_a_load_without_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jtl");
        fs::write(&path, "last week's").unwrap();
        let start = || LogWriter::start(&[(&LOG_FORMATS[0], path.clone())], &plan(), StepPlaces::default()).unwrap();
        let LogWriter { log, ended, .. } = start();
        drop(log);
        assert!(ended.recv().unwrap().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "last week's", "a load that did not begin");
        over(&mut start());
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{}\n", jtl::HEADER));
    }

    #[test]
    fn a_name_tells_where_its_requests_go_as_far_as_it_does() {
        let home: Target = "https://a.test:444/b?c=1".parse().unwrap();
        let urls = BTreeMap::from([("log in".to_owned(), "/in/{{user}}?token=s3cr3t".to_owned())]);
        let steps = StepPlaces { urls, ..StepPlaces::default() };
        for (name, url) in [
            ("/b", "https://a.test:444/b?c=1"),
            ("GET /x/{id}", "https://a.test:444/x/{id}"),
            ("GET http://b.test/y", "http://b.test/y"),
            ("buy a book", ""),
            ("buy", ""),
            ("log in", "https://a.test:444/in/{{user}}?token=***"),
        ] {
            assert_eq!(url_of(&home, &steps, name), url, "{name}");
        }
    }
}
