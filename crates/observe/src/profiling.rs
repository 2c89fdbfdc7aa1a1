//! Profiles of the server while load is on it: when they are taken, from whom, and what came of it.
//!
//! A profile of an idle server says nothing about the busy one, and one that begins with the run shows how it warms up. So each is
//! taken in the steady part of the run, with a margin on both sides, by whatever its runtime offers: Go's own endpoints, py-spy,
//! Node's inspector, `perf`. Each has its own thread here, and none of them a worker. What has to be worked on afterwards, is worked on
//! when the load is over: reading a profile while measuring would take the processor from both.
//!
//! Invariant: whatever goes wrong with a profile is a sentence. The run goes on, and its end waits for a profile only moments.

mod asked;
mod endpoint;
mod inspector;
mod recorder;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use measure::RunProfile;
use plan::setting::PROFILE;
use plan::{Nanos, Plan};

use crate::listener::ListenerQuery;
use crate::subject::NotFound;

pub use asked::{FORMS, ProfileSource};

/// Of the run, this share is left out at its beginning and at its end.
const MARGIN_SHARE: f64 = 0.1;
/// A margin is no longer than this.
const MARGIN_MAX: Duration = Duration::from_secs(2);
/// A longer profile says nothing new, and costs the server more.
const SECONDS_MAX: u64 = 30;
/// Where nobody knows when a run will end, a profile begins soon and is short.
const UNKNOWN: Slot = Slot { begin: Duration::from_secs(1), seconds: 5 };
/// The end of a run waits so long for a profile that is due by then.
const PATIENCE: Duration = Duration::from_secs(5);
/// And so long for one that is not.
const IMPATIENCE: Duration = Duration::from_secs(1);

/// When in a run a profile is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// From the start of the run.
    pub begin: Duration,
    /// Whole seconds, at least one: runtimes know no others.
    pub seconds: u64,
}

impl Slot {
    /// The steady part of a run.
    ///
    /// # Errors
    /// In words, if there is no whole second of it.
    pub fn of(plan: &Plan) -> Result<Self, String> {
        let warmup = Duration::from(plan.warmup());
        let Some(length) = plan.duration().filter(|length| *length < Nanos::NEVER).map(Duration::from) else {
            return Ok(Self { begin: warmup + UNKNOWN.begin, ..UNKNOWN });
        };
        let margin = length.mul_f64(MARGIN_SHARE).min(MARGIN_MAX);
        let seconds = length.saturating_sub(2 * margin).as_secs().min(SECONDS_MAX);
        if seconds == 0 {
            return Err(format!(
                "a run of {} is too short for a profile, which takes a whole second of it; give -d 2s",
                Nanos::from(length)
            ));
        }
        Ok(Self { begin: warmup + (length - Duration::from_secs(seconds)) / 2, seconds })
    }

    /// When it is over.
    #[must_use]
    pub fn end(self) -> Duration {
        self.begin + Duration::from_secs(self.seconds)
    }
}

/// Whether what is asked for can be had of the server that this plan loads, as far as is known before the load.
///
/// # Errors
/// If the server is out of reach.
pub fn check(asked: &[ProfileSource], plan: &Plan) -> Result<(), NotFound> {
    if asked.contains(&ProfileSource::Auto) && ListenerQuery::of(plan).is_none() {
        return Err(NotFound {
            message: recorder::ELSEWHERE.to_owned(),
            help: format!("give the address of its profiles, such as {PROFILE:#} http://HOST:6060, or run loadline where the server is")
                .into(),
        });
    }
    Ok(())
}

/// What could not be taken if the load began now, in words: for whoever is to wait long for a profile.
#[must_use]
pub fn doubts(asked: &[ProfileSource]) -> Vec<String> {
    let doubt = |one: &ProfileSource| match one {
        ProfileSource::Endpoint(endpoint) => endpoint.reach().err(),
        ProfileSource::Pid(pid) => recorder::is_there(*pid).err(),
        ProfileSource::Auto => None,
    };
    asked.iter().filter_map(|one| Some(told(one, &doubt(one)?))).collect()
}

/// A profile as it was taken.
struct TakenProfile {
    began: Instant,
    ended: Instant,
    /// Its bytes, once the load is over.
    bytes: Later,
}

/// Work that is left until the load is over.
type Later = Box<dyn FnOnce() -> Result<Vec<u8>, String> + Send>;

/// Whether the run is over.
struct RunEnd(Receiver<()>);

impl RunEnd {
    /// Waits; true if the run was over before.
    fn within(&self, time: Duration) -> bool {
        self.0.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
    }
}

/// Profiles that are being taken of one run.
pub struct Profiling {
    begun: Instant,
    slot: Option<Slot>,
    taking: Vec<Taking>,
    warnings: Vec<String>,
}

struct Taking {
    asked: ProfileSource,
    /// Nobody asked for it, so nobody is told that it is not there.
    besides: bool,
    stop: Sender<()>,
    done: Receiver<Result<TakenProfile, String>>,
}

/// A profile of a run, and the file it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Had {
    /// What is kept of it.
    pub profiled: RunProfile,
    /// The whole of it, in its own form.
    pub bytes: Vec<u8>,
    /// What a file of it may be called: one word and an ending.
    pub file: String,
}

/// What came of all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Those that were had.
    pub had: Vec<Had>,
    /// In words.
    pub warnings: Vec<String>,
}

impl Profiling {
    /// Begins with a run of this plan, and takes each in its time.
    #[must_use]
    pub fn start(asked: &[ProfileSource], plan: &Plan) -> Self {
        let begun = Instant::now();
        let mut profiling = Self { begun, slot: None, taking: Vec::new(), warnings: Vec::new() };
        match Slot::of(plan) {
            _ if asked.is_empty() => {}
            Ok(slot) => {
                profiling.slot = Some(slot);
                let besides = asked.iter().filter_map(ProfileSource::locks).filter(|locks| !asked.contains(locks));
                let all = asked.iter().map(|one| (one.clone(), false)).chain(besides.map(|locks| (locks, true)));
                profiling.taking = all.map(|(one, besides)| Taking::start(one, besides, plan, slot, begun)).collect();
            }
            Err(why) => profiling.warnings.extend(asked.iter().map(|one| told(one, &why))),
        }
        profiling
    }

    /// The load is over: what was taken of a run that began at `origin`.
    #[must_use]
    pub fn stop(self, origin: Instant) -> Outcome {
        let Self { begun, slot, taking, warnings } = self;
        let mut outcome = Outcome { had: Vec::new(), warnings };
        for one in &taking {
            // Whoever is done already needs no telling.
            let _ = one.stop.send(());
        }
        let now = Instant::now();
        let is_due = slot.is_some_and(|slot| begun + slot.end() <= now + IMPATIENCE);
        let deadline = now + if is_due { PATIENCE } else { IMPATIENCE };
        for Taking { asked, besides, done, .. } in taking {
            let taken = match done.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(taken) => taken,
                Err(RecvTimeoutError::Timeout) => Err("it was not there yet when the run was over".to_owned()),
                Err(RecvTimeoutError::Disconnected) => Err("no thread could be started for it".to_owned()),
            };
            match taken.and_then(|taken| had(&asked, taken, origin)) {
                // What answers any question alike is no profile of locks.
                Ok(had) if besides && had.profiled.kind != "delay" => {}
                Ok(had) => outcome.had.push(had),
                Err(_) if besides => {}
                Err(why) => outcome.warnings.push(told(&asked, &why)),
            }
        }
        outcome
    }
}

fn told(asked: &ProfileSource, why: &str) -> String {
    format!("--profile {asked}: {why}")
}

fn had(asked: &ProfileSource, taken: TakenProfile, origin: Instant) -> Result<Had, String> {
    let TakenProfile { began, ended, bytes } = taken;
    let bytes = bytes()?;
    let profile = profile::read(&bytes, None).map_err(|why| why.to_string())?;
    if profile.is_empty() {
        return Err(empty(&profile.kind, asked).to_owned());
    }
    let at = |moment: Instant| Nanos::from(moment.saturating_duration_since(origin));
    let file = format!("{}.{}", profile.kind, asked.ending());
    let profiled = RunProfile { asked: asked.to_string(), from_ns: at(began), to_ns: at(ended), ..profile::kept(&profile) };
    Ok(Had { profiled, bytes, file })
}

/// Why a profile may be empty.
fn empty(kind: &str, asked: &ProfileSource) -> &'static str {
    match (kind, asked) {
        ("delay" | "contentions", _) => {
            "it is empty: nothing waited, or the program does not count it, which takes runtime.SetMutexProfileFraction or \
             runtime.SetBlockProfileRate in it"
        }
        (_, ProfileSource::Pid(_) | ProfileSource::Auto) => "it is empty: the process used no processor time while it was taken",
        _ => "it is empty: nothing was spent while it was taken; does the load go to this process?",
    }
}

impl Taking {
    fn start(asked: ProfileSource, besides: bool, plan: &Plan, slot: Slot, begun: Instant) -> Self {
        let (stop, stopped) = mpsc::channel();
        let (finished, done) = mpsc::channel();
        let what = asked.clone();
        let wanted = if asked == ProfileSource::Auto { ListenerQuery::of(plan) } else { None };
        let work = move || {
            let stopped = RunEnd(stopped);
            let taken = match &what {
                ProfileSource::Endpoint(endpoint) => endpoint.take(slot, begun, &stopped),
                ProfileSource::Pid(pid) => recorder::take(*pid, slot, begun, &stopped),
                ProfileSource::Auto => recorder::take_of_listener(wanted, slot, begun, &stopped),
            };
            let _ = finished.send(taken);
        };
        // Where there is no thread for it, the channel has no other end.
        let _ = thread::Builder::new().name("profile".to_owned()).spawn(work);
        Self { asked, besides, stop, done }
    }
}

/// Waits until a moment of the run.
fn wait(begun: Instant, until: Duration, stopped: &RunEnd) -> Result<(), String> {
    let over = "the run was over before it began to be taken".to_owned();
    if stopped.within((begun + until).saturating_duration_since(Instant::now())) { Err(over) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Draft;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    fn plan(duration: &str, warmup: &str) -> Plan {
        let (duration, warmup) = (duration.parse().ok(), warmup.parse().ok());
        let threads = "1".parse().ok();
        Plan::try_from(Draft { url: Some("http://127.0.0.1/".to_owned()), duration, warmup, threads, ..Draft::default() }).unwrap()
    }

    #[test]
    fn a_profile_is_taken_in_the_middle_of_the_steady_part() {
        let slot = |duration: &str, warmup: &str| Slot::of(&plan(duration, warmup)).unwrap();
        assert_eq!(slot("10s", "0s"), Slot { begin: Duration::from_secs(1), seconds: 8 });
        assert_eq!(slot("10s", "5s"), Slot { begin: Duration::from_secs(6), seconds: 8 });
        assert_eq!(slot("100s", "0s"), Slot { begin: Duration::from_secs(35), seconds: 30 });
        assert_eq!(slot("2s", "0s"), Slot { begin: Duration::from_millis(500), seconds: 1 });
        assert!(Slot::of(&plan("1s", "0s")).unwrap_err().contains("too short"));
        for seconds in 2..120 {
            let slot = slot(&format!("{seconds}s"), "1s");
            assert!(slot.begin > Duration::from_secs(1) && slot.end() < Duration::from_secs(1 + seconds), "{slot:?} of {seconds} s");
        }
    }

    /// A server that answers every request with these bytes, and what it was asked for.
    fn server(answer: &'static [u8]) -> (String, Receiver<String>) {
        serving(move |_| answer)
    }

    /// The same with bytes for each first line of a request.
    fn serving(answer: impl Fn(&str) -> &'static [u8] + Send + 'static) -> (String, Receiver<String>) {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap().to_string();
        let (told, asked) = mpsc::channel();
        thread::spawn(move || {
            while let Ok((mut stream, _)) = socket.accept() {
                let mut request = [0; 2_048];
                let length = stream.read(&mut request).unwrap_or(0);
                let line = String::from_utf8_lossy(&request[..length]).lines().next().unwrap_or_default().to_owned();
                let _ = stream.write_all(answer(&line));
                let _ = told.send(line);
            }
        });
        (address, asked)
    }

    /// What came of profiles from these servers, once each was asked for its own.
    fn outcome(servers: &[(String, Receiver<String>)]) -> Outcome {
        let asked: Vec<ProfileSource> = servers.iter().map(|(address, _)| address.parse().unwrap()).collect();
        let profiling = Profiling::start(&asked, &plan("1300ms", "0s"));
        let origin = profiling.begun;
        for (_, requests) in servers {
            let mut asked = [requests.recv().unwrap(), requests.recv().unwrap()];
            asked.sort();
            assert_eq!(asked, ["mutex", "profile"].map(|page| format!("GET /debug/pprof/{page}?seconds=1 HTTP/1.1")));
        }
        profiling.stop(origin)
    }

    #[test]
    fn what_is_not_there_is_doubted_before_the_load() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = socket.local_addr().unwrap().to_string();
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let me = format!("pid:{}", std::process::id());
        let asked: Vec<ProfileSource> =
            [there.as_str(), gone.as_str(), me.as_str(), "pid:4194399", "auto"].map(|text| text.parse().unwrap()).into();
        let told = doubts(&asked);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains(&gone) && told[0].contains("refused") && told[1].ends_with("there is no process 4194399"), "{told:?}");
    }

    #[test]
    fn an_endpoint_is_asked_for_as_many_seconds_as_there_are() {
        let servers = [server(b"HTTP/1.0 200 OK\r\n\r\nmain;work 3\nmain 1\n")];
        let Outcome { had, warnings } = outcome(&servers);
        assert!(warnings.is_empty(), "{warnings:?}");
        let Had { profiled, bytes, file } = &had[0];
        assert_eq!((profiled.asked.as_str(), profiled.total), (format!("http://{}/debug/pprof/profile", servers[0].0).as_str(), 4));
        assert_eq!((bytes.len(), file.as_str()), (19, "samples.pprof"));
        assert!(profiled.from_ns >= Nanos::from_millis(150) && profiled.to_ns >= profiled.from_ns, "{profiled:?}");
    }

    #[test]
    fn locks_are_taken_besides_where_the_program_counts_them() {
        // 100 ns of delay in main.held, as runtime/pprof writes it, without gzip.
        const LOCKS: &[u8] =
            b"HTTP/1.0 200 OK\r\n\r\n\x0a\x04\x08\x01\x10\x02\x12\x06\x0a\x01\x01\x12\x01\x64\x22\x06\x08\x01\x22\x02\x08\x01\
            \x2a\x04\x08\x01\x10\x03\x32\x00\x32\x05delay\x32\x0bnanoseconds\x32\x09main.held";
        const NONE: &[u8] = b"HTTP/1.0 404 Not Found\r\n\r\n";
        const WORK: &[u8] = b"HTTP/1.0 200 OK\r\n\r\nmain;work 3\n";
        for (locks, kinds) in [(LOCKS, &["samples", "delay"][..]), (NONE, &["samples"]), (WORK, &["samples"])] {
            let Outcome { had, warnings } = outcome(&[serving(move |line| if line.contains("/mutex") { locks } else { WORK })]);
            assert!(warnings.is_empty(), "{warnings:?}");
            assert_eq!(had.iter().map(|one| one.profiled.kind.as_str()).collect::<Vec<_>>(), kinds);
        }
    }

    #[test]
    fn what_goes_wrong_is_a_warning_with_its_cause() {
        let cases: [(&[u8], &str); 8] = [
            (b"HTTP/1.0 500 Oh\r\n\r\nCould not enable CPU profiling: cpu profiling already in use\n", "cpu profiling already in use"),
            (b"HTTP/1.0 404 Not Found\r\n\r\n404 page not found\n", "net/http/pprof"),
            (b"HTTP/1.0 200 OK\r\n\r\n<html>hello</html>", "it is no profile"),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\nmain;work 3", "broke off"),
            (b"HTTP/1.0 200 OK\r\n\r\n\x1f\x8b\x08\x00cut", "unpack"),
            (b"HTTP/1.0 200 OK\r\n\r\n\x0a\x04\x08\x01\x10\x02\x12\x07", "damaged or cut off"),
            (b"HTTP/1.0 200 OK\r\n\r\nmain;work 0\n", "it is empty"),
            (b"", "without an answer"),
        ];
        let Outcome { had, warnings } = outcome(&cases.map(|(answer, _)| server(answer)));
        assert!(had.is_empty() && warnings.len() == cases.len(), "{had:?} {warnings:?}");
        for (warning, (_, said)) in warnings.iter().zip(cases) {
            assert!(warning.starts_with("--profile http://127.0.0.1:") && warning.contains(said), "{said}: {warning}");
        }
    }

    #[test]
    fn a_place_that_never_answers_is_given_up_when_the_run_is_over() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap().to_string();
        let (told, asked) = mpsc::channel();
        thread::spawn(move || {
            let mut kept = Vec::new();
            while let Ok(connection) = socket.accept() {
                kept.push(connection);
                let _ = told.send(());
            }
        });
        let profiling = Profiling::start(&[address.parse().unwrap()], &plan("10s", "0s"));
        let origin = profiling.begun;
        // That of processors, and that of locks beside it.
        assert_eq!(asked.iter().take(2).count(), 2);
        let Outcome { had, warnings } = profiling.stop(origin);
        assert!(had.is_empty() && warnings[0].contains("it was not there yet when the run was over"), "{warnings:?}");
    }

    #[test]
    fn a_run_that_is_over_does_not_wait() {
        let (address, _requests) = server(b"");
        let before = Instant::now();
        let profiling = Profiling::start(&[address.parse().unwrap()], &plan("600s", "0s"));
        let Outcome { had, warnings } = profiling.stop(before);
        assert!(had.is_empty() && warnings[0].contains("over before it began"), "{warnings:?}");
        assert!(before.elapsed() < Duration::from_secs(100));
    }
}
