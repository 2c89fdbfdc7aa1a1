//! An attack: targets chosen in turn, and a result for every request that ended.
//!
//! Results leave the workers in batches over a bounded channel, and one thread writes them. Where the reader of the results is
//! slower than the attack, workers wait in the end, as vegeta's do; the lag that comes of it is told.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use engine::protocol::{Encoded, Header, ResponseSink};
use engine::{Behaviour, Client, End, Stop, Transport};
use measure::{Failure, Status};
use plan::{Draft, Nanos, Scheme, Setting, Spelling, Target, plainly};
use report::vegeta::Hit;

use super::attack::{Options, Redirects};
use super::results::{self, Encoding, Writer};
use super::shot::ReadyTarget;
use super::targets::Targets;
use super::unwritten;
use crate::goclient::{self, AnswerWithLocation, SentRequest, canonical};
use crate::host::Host;
use crate::session::{Session, raise_to_now};

/// Where requests come from.
#[derive(Clone)]
enum Source {
    /// Again and again in turn.
    Eager(Arc<Vec<Arc<ReadyTarget>>>),
    /// Each once, as they are read.
    Lazy(Arc<Mutex<Receiver<ReadyTarget>>>),
}

/// What all workers of an attack share.
struct Shared {
    source: Source,
    next: AtomicU64,
    /// When the load began, in nanoseconds since 1970.
    began: OnceLock<i128>,
    name: String,
    redirects: Redirects,
    /// The address requests are sent from, for errors.
    own: IpAddr,
    body_bytes_max: Option<u64>,
}

/// One worker's part of an attack.
struct Attack {
    shared: Arc<Shared>,
    out: SyncSender<Vec<Raw>>,
    batch: RefCell<Vec<Raw>>,
    stopped: Cell<bool>,
}

/// A result, its body as it came.
struct Raw {
    hit: Hit,
    /// Whether the body is compressed because we asked for it.
    compressed: bool,
}

/// So many results leave a worker together.
const BATCH: usize = 64;
/// So many batches may wait for the writer.
const BATCHES: usize = 1_024;
/// Results wait no longer than this for others to leave with.
const FLUSH_EVERY: Nanos = Nanos::from_millis(100);

/// One carrier's request and what is heard of its answer.
struct User {
    request: Encoded,
    sink: AnswerSink,
}

struct AnswerSink {
    location: Option<String>,
    headers: BTreeMap<String, Vec<String>>,
    body: Vec<u8>,
    body_bytes_max: u64,
    compressed: bool,
}

impl ResponseSink for AnswerSink {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        self.headers.clear();
        self.body.clear();
        self.compressed = false;
        self.location = None;
        for header in headers {
            let value = String::from_utf8_lossy(header.value).into_owned();
            self.compressed |= header.name.eq_ignore_ascii_case("content-encoding") && value.eq_ignore_ascii_case("gzip");
            if header.name.eq_ignore_ascii_case("location") {
                self.location = Some(value.clone());
            }
            // Go's client takes these away.
            let closes = header.name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close");
            if !closes && !header.name.eq_ignore_ascii_case("transfer-encoding") {
                self.headers.entry(canonical(header.name)).or_default().push(value);
            }
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        // What is compressed is cut when it is not any more.
        let max = if self.compressed { UNPACKED_BYTES_MAX } else { self.body_bytes_max };
        let room = usize::try_from(max.saturating_sub(self.body.len() as u64)).unwrap_or(usize::MAX);
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// Nobody reads a body of more than this out of a list of results; a small one can unpack to any size.
const UNPACKED_BYTES_MAX: u64 = 256 << 20;

impl Attack {
    fn flush(&self) {
        let batch = self.batch.take();
        // Nobody receives any more only when writing failed, and that ends the attack.
        if !batch.is_empty() && self.out.send(batch).is_err() {
            self.stopped.set(true);
        }
    }

    /// The target of the request with this number.
    fn shot(&self, number: u64) -> Option<Arc<ReadyTarget>> {
        match &self.shared.source {
            Source::Eager(shots) => shots.get((number % shots.len() as u64) as usize).cloned(),
            Source::Lazy(read) => read.lock().unwrap_or_else(PoisonError::into_inner).recv().ok().map(Arc::new),
        }
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Attack {
    /// Hands over what became of a request.
    fn hit(&self, (shot, number): (&ReadyTarget, u64), sink: &mut AnswerSink, SentRequest { outcome, hops }: &SentRequest) {
        let began = *self.shared.began.get_or_init(|| {
            // The first request that ends has ended just now.
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            now.as_nanos() as i128 - i128::from(outcome.done.0)
        });
        let answered = outcome.result.is_ok();
        let code = outcome.result.unwrap_or(0);
        let error = match outcome.result {
            Ok(code) if !Status(code).is_success() => goclient::status(code),
            Ok(_) => String::new(),
            Err(Failure::RedirectLimit) => {
                let location = sink.location.as_deref().unwrap_or_default();
                goclient::worded(&shot.method, location, &format!("stopped after {} redirects", hops))
            }
            Err(failure) => goclient::error(&shot.method, &shot.url, Some(self.shared.own), &shot.target, failure),
        };
        let hit = Hit {
            attack: self.shared.name.clone(),
            seq: number,
            code,
            timestamp: began + i128::from(outcome.due.0),
            latency: i64::try_from(outcome.response_time().0).unwrap_or(i64::MAX),
            bytes_out: shot.body_bytes,
            // Go's client gives up counting what is cut off.
            bytes_in: if answered { sink.body.len() as u64 } else { 0 },
            error,
            body: std::mem::take(&mut sink.body),
            method: shot.method.clone(),
            url: shot.url.clone(),
            headers: if answered { std::mem::take(&mut sink.headers) } else { BTreeMap::new() },
        };
        self.batch.borrow_mut().push(Raw { hit, compressed: sink.compressed });
        if self.batch.borrow().len() >= BATCH {
            self.flush();
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

impl AnswerWithLocation for AnswerSink {
    fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }
}

impl Behaviour for Attack {
    type User = User;

    const SAMPLES_EVERY: Option<Nanos> = Some(FLUSH_EVERY);

    fn opens_first(&self) -> bool {
        false
    }

    fn sample(&self, _now: Nanos, _answers: u64) {
        self.flush();
    }

    fn user(&self, _number: u64) -> User {
        let body_bytes_max = self.shared.body_bytes_max.unwrap_or(u64::MAX);
        let sink = AnswerSink { location: None, headers: BTreeMap::new(), body: Vec::new(), body_bytes_max, compressed: false };
        User { request: Encoded::default(), sink }
    }

    async fn iterate<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>) -> Result<(), End> {
        client.turn(Nanos::ZERO).await?;
        self.looks(client)?;
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(shot) = self.shot(number) else {
            // The list has ended.
            client.stop();
            return Err(End::Over);
        };
        let User { request, sink } = user;
        shot.numbered(number, request);
        sink.headers.clear();
        sink.body.clear();
        sink.location = None;
        let redirects_max = if let Redirects::Follow(max) = self.shared.redirects { Some(max) } else { None };
        let sent = Box::pin(goclient::send(client, (request.as_ref(), &shot.target), redirects_max, sink)).await;
        self.hit((&shot, number), sink, &sent);
        client.record(&sent.outcome);
        self.looks(client)
    }
}

/// Unpacks what is compressed, as Go's client does unseen.
fn unpacked(result: Raw, body_bytes_max: Option<u64>) -> Hit {
    let Raw { mut hit, compressed } = result;
    if !compressed {
        return hit;
    }
    let max = body_bytes_max.unwrap_or(u64::MAX).min(UNPACKED_BYTES_MAX);
    let mut body = Vec::new();
    if flate2::read::MultiGzDecoder::new(hit.body.as_slice()).take(max).read_to_end(&mut body).is_ok() {
        hit.bytes_in = body.len() as u64;
        hit.body = body;
        hit.headers.remove("Content-Encoding");
        hit.headers.remove("Content-Length");
    } else if hit.error.is_empty() {
        hit.error = "gzip: invalid header".to_owned();
    }
    hit
}

/// Writes results until no worker is left.
fn write(results: &Receiver<Vec<Raw>>, writer: &mut Writer, body_bytes_max: Option<u64>) -> io::Result<()> {
    while let Ok(mut batch) = results.recv() {
        loop {
            for result in batch {
                writer.write(&unpacked(result, body_bytes_max))?;
            }
            match results.try_recv() {
                Ok(next) => batch = next,
                Err(_) => break,
            }
        }
        // Whoever reads along wants to see them now.
        writer.flush()?;
    }
    writer.flush()
}

/// Carries an attack out.
///
/// # Errors
/// In words.
pub fn attack(options: &Options, cpus: Option<NonZeroU32>, host: &dyn Host) -> Result<(), String> {
    let session = Session::new(host, options.verbosity);
    let files = host.files();
    let opened = results::open(&options.targets, host).map_err(|why| format!("error opening {}: {why}", options.targets))?;
    let targets = Targets::new(options.format, options.common(&*files)?, opened, files);
    let list = List { targets, options: options.clone() };
    let mistake = Arc::new(Mutex::new(None));
    let (source, first) = if options.lazy { lazily(list, &mistake)? } else { eagerly(list)? };
    let draft = Draft { threads: cpus.map(Setting::Value), ..options.draft(&first) };
    let plan = session.decide(draft).map_err(|mistakes| mistakes.spelt(Spelling::Flags))?;
    let writer = Writer::new(Encoding::Gob, results::create(&options.output, host)?);
    let stop = session.stop().map_err(|error| error.spelt(Spelling::Flags))?;
    let (out, writer) = writing(writer, options.body_bytes_max, &stop)?;
    let shared = Arc::new(Shared {
        source,
        next: AtomicU64::new(0),
        began: OnceLock::new(),
        name: options.request.name.clone(),
        redirects: options.redirects,
        own: options.source_ip.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        body_bytes_max: options.body_bytes_max,
    });
    let runner = host.runner();
    let measured = session.measure(&plan, None, &stop, &mut [], |watch, stop| {
        let program = move |_| Attack { shared: shared.clone(), out: out.clone(), batch: RefCell::default(), stopped: Cell::new(false) };
        runner.prepare(&plan)?.run_with(program, watch, stop)
    });
    // All workers have let go of the channel, so the writer ends.
    let written = writer.join().map_err(|_| "the thread that writes results panicked".to_owned())?;
    written.map_err(|why| unwritten("the results", &why))?;
    session.remark(&measured.map_err(|error| error.spelt(Spelling::Flags))?, None);
    let mistake = mistake.lock().unwrap_or_else(PoisonError::into_inner).take();
    mistake.map_or(Ok(()), Err)
}

/// A list of targets made ready.
struct List {
    targets: Targets,
    options: Options,
}

impl List {
    /// The next one; `None` at the end.
    fn next(&mut self) -> Result<Option<ReadyTarget>, String> {
        let at = |line: u64, what: &str| format!("{}, line {line}: {what}", self.options.targets);
        let Some(target) = self.targets.next().map_err(|mistake| at(mistake.line, &mistake.what))? else { return Ok(None) };
        let mut shot = ReadyTarget::new(&target, &self.options.request).map_err(|why| at(self.targets.line(), &why))?;
        shot.connect_to(&self.options.connect_to).map_err(|why| at(self.targets.line(), &why))?;
        Ok(Some(shot))
    }
}

/// All targets, to be taken in turn, and the first of them.
fn eagerly(mut list: List) -> Result<(Source, Target), String> {
    let mut shots = Vec::new();
    while let Some(shot) = list.next()? {
        shots.push(Arc::new(shot));
    }
    // TLS is made ready for a plan that needs it.
    let secure = shots.iter().find(|shot| shot.target.scheme() == Scheme::Https);
    let first = secure.or(shots.first()).ok_or("no targets to attack")?.target.clone();
    Ok((Source::Eager(Arc::new(shots)), first))
}

/// Targets as they are read, by a thread that is a little ahead, and the first of them.
fn lazily(mut list: List, mistake: &Arc<Mutex<Option<String>>>) -> Result<(Source, Target), String> {
    /// So many targets are read ahead.
    const AHEAD: usize = 1_000;
    let first = list.next()?.ok_or("no targets to attack")?;
    let target = first.target.clone();
    let (sender, read) = sync_channel(AHEAD);
    sender.send(first).map_err(|_| "no targets to attack")?;
    let mistake = mistake.clone();
    thread::Builder::new()
        .name("targets".to_owned())
        .spawn(move || {
            loop {
                match list.next() {
                    Ok(Some(shot)) => {
                        if sender.send(shot).is_err() {
                            return;
                        }
                    }
                    Ok(None) => return,
                    Err(why) => {
                        *mistake.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                        return;
                    }
                }
            }
        })
        .map_err(|why| plainly(&why))?;
    Ok((Source::Lazy(Arc::new(Mutex::new(read))), target))
}

type WriterThread = JoinHandle<io::Result<()>>;

/// Starts the thread that writes results. If it cannot go on, neither can the attack.
fn writing(mut writer: Writer, body_bytes_max: Option<u64>, stop: &Stop) -> Result<(SyncSender<Vec<Raw>>, WriterThread), String> {
    let (out, results) = sync_channel(BATCHES);
    let stop = stop.clone();
    let writing = thread::Builder::new()
        .name("results".to_owned())
        .spawn(move || {
            let written = write(&results, &mut writer, body_bytes_max);
            if written.is_err() {
                raise_to_now(&stop);
            }
            written
        })
        .map_err(|why| plainly(&why))?;
    Ok((out, writing))
}
