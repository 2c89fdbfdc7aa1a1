//! One measured load as the causes look at it: rates, times and failures on this side, figures of the server on the other.
//!
//! A cause that reads a whole Summary can be tested only with whole Summaries, and forty series of a run are forty chances to read
//! the wrong one. So each run is brought down to these figures once, all over the span that was measured, and made-up ones test
//! the causes.

use std::collections::BTreeMap;

use measure::observed::{Place, Series};
use measure::{Failure, RunProfile, Side, Status, Summary};
use plan::Nanos;

use super::between::Between;
use super::gone::{Gone, gone};
use super::law::line;
use crate::freezes::{Freezes, freezes};
use crate::server_side::{ServerSide, server_of};
use crate::{ConnectionsLimit, GeneratorLimit, Standing, Validity, connections_limit, generator_limit};

/// Fewer looks at the memory are no growth.
const LOOKS_MIN: usize = 5;
/// By these names runtimes tell the seconds they spend on cleaning up: Go, Java, Node and whatever follows their custom.
const COLLECTING_METRICS: &[&str] = &["gc_duration_seconds", "gc_pause_seconds", "gc_collection_seconds", "gc_total_cpu_seconds"];
/// By these begin the names of threads that clean up: those of Java's collectors (G1, Parallel, ZGC, Shenandoah; the serial one works in
/// the thread that stops all others) and of .NET's. The kernel keeps 15 letters.
const COLLECTING_THREADS: &[&str] =
    &["GC Thread", "G1 ", "VM Thread", "ZWorker", "ZDriver", "ZDirector", "Shenandoah", "ParGC", "CMS ", ".NET Server GC", ".NET BGC"];

/// One measured load.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Users, or arrivals a second.
    pub level: f64,
    /// Whether arrivals were offered, whatever the server did.
    pub open: bool,
    /// Requests that fell due in the measured span.
    pub requests: f64,
    /// Those a second.
    pub due: f64,
    /// Answers a second, whatever their status.
    pub answered: f64,
    /// Answers a second with a status below 400.
    pub good: f64,
    /// The mean service time in seconds.
    pub service_s: Option<f64>,
    /// The least service time in seconds: an answer that waited for nothing.
    pub quickest_s: Option<f64>,
    /// The 99th percentile of the time to open a connection, in seconds.
    pub connect_s: Option<f64>,
    /// The statuses of all answers, the most frequent first, where each is 400 or above and no request succeeded; else empty.
    pub refusals: Vec<u16>,
    /// The scheme of credentials that such an answer asks for, such as `Bearer`.
    pub asks_for: Option<String>,
    /// Whether such an answer says that plain HTTP came to a port for TLS.
    pub wants_tls: bool,
    /// Answers with status 429, as a share of all due.
    pub too_many: f64,
    /// Answers with status 503, as a share of all due.
    pub unavailable: f64,
    /// Whether an answer that refused said when to come again.
    pub retry_after: bool,
    /// Failures by the server's doing that are neither refusals by rate nor slowness, as a share of all due.
    pub errors: f64,
    /// The most frequent of them, in words.
    pub error: String,
    /// Requests without an answer or a connection in time, as a share of all due.
    pub timeouts: f64,
    /// Those among them that were sent, on a connection that was open.
    pub unanswered: f64,
    /// How long a request may take, in seconds.
    pub timeout_s: f64,
    /// What failed most often, whoever's doing it was, in words.
    pub failure: String,
    /// How often that was.
    pub failed_most: f64,
    /// Requests that succeeded, whatever their status.
    pub succeeded: f64,
    /// The median response time of those, in seconds.
    pub succeeded_s: Option<f64>,
    /// Whether about as many succeeded in each second; `None` of a run too short to tell.
    pub steady: Option<bool>,
    /// How far the plan's own limit on connections held requests back, if it did.
    pub connections: Option<ConnectionsLimit>,
    /// What stands between loadline and the server's own work.
    pub between: Between,
    /// When the server stopped answering, if it did.
    pub gone: Option<Gone>,
    /// Freezes of the whole server.
    pub freezes: Option<Freezes>,
    /// What a profile of locks shows: seconds that were waited for locks a second, by all together, and where most.
    pub locked: Option<(f64, String)>,
    /// Cores that loadline used.
    pub generator_cores: f64,
    /// Why loadline was the limit, if it was.
    pub generator_limit: Option<String>,
    /// Whether loadline itself stood still for so long that these figures are not the server's.
    pub stood_still: bool,
    /// What neither loadline nor the server used of this machine, as a share of it; where that is known.
    pub others_share: Option<f64>,
    /// Whether the load went over a network, rather than staying on this machine.
    pub over_network: bool,
    /// Bytes a second that came, heads included.
    pub received: f64,
    /// Bytes a second that went.
    pub sent: f64,
    /// The server's side, where it was watched.
    pub server: Option<ServerFigures>,
}

/// What was seen of the server under this load: means over the measured span where nothing else is said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServerFigures {
    /// Whether loadline ran on the same machine.
    pub shares_machine: bool,
    /// Cores of the machine.
    pub cores: Option<f64>,
    /// Cores of it that the server may use, where they are not all (taskset, cpusets).
    pub allowed: Option<f64>,
    /// Cores that the server used.
    pub cpu: Option<f64>,
    /// Its busiest threads and the share of a core each used, the busiest first.
    pub busiest: Vec<(String, f64)>,
    /// How many threads it had, at most.
    pub threads: Option<f64>,
    /// How many processes, at most.
    pub processes: Option<f64>,
    /// Threads that were ready and got no core.
    pub waiting: Option<f64>,
    /// Times a second a thread gave its core back to wait for something.
    pub switches_voluntary: Option<f64>,
    /// Its resident memory, and how that followed the requests.
    pub memory: Option<Growth>,
    /// Its cgroup's memory as a share of what that may have, at most.
    pub memory_share: Option<f64>,
    /// Open files as a share of what it may open, at most.
    pub files_share: Option<f64>,
    /// Connections that waited to be accepted.
    pub accept_queue: Option<f64>,
    /// The share of intervals in which connections were lost since a queue was full.
    pub overflowing: f64,
    /// How many were lost a second.
    pub overflows: f64,
    /// Cores that its cgroup may use.
    pub quota: Option<f64>,
    /// Cores that its cgroup used.
    pub cgroup_cpu: Option<f64>,
    /// The share of the quota's periods in which it had to stop.
    pub throttled: Option<f64>,
    /// Busy cores of the machine.
    pub machine_cpu: Option<f64>,
    /// The share of the machine's time that its host gave to others.
    pub steal: Option<f64>,
    /// The share of the time in which storage was waited for: the greatest of the figures that tell it.
    pub storage_wait: Option<f64>,
    /// How busy the busiest disk was.
    pub disk_busy: Option<f64>,
    /// Bytes a second that the server read from storage or wrote towards it.
    pub storage: Option<f64>,
    /// Segments that TCP sent again, a second.
    pub retransmits: Option<f64>,
    /// Of a core, what cleaning up the memory took, and who says so.
    pub collecting: Option<(f64, String)>,
}

/// How memory followed the requests of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Growth {
    /// In bytes, as the run began.
    pub first: f64,
    /// In bytes, as it ended.
    pub last: f64,
    /// Bytes a request, over the whole run.
    pub per_request: f64,
    /// Bytes a request, in its second half.
    pub later_per_request: f64,
    /// The share of the variance that a straight line explains.
    pub r2: f64,
}

impl Point {
    /// What a run says.
    #[must_use]
    pub fn of(run: &Summary) -> Self {
        Self::beside(run, server_of(std::iter::once(run)))
    }

    /// What many runs say, all about the same server.
    #[must_use]
    pub(crate) fn of_all<'a>(runs: impl Iterator<Item = &'a Summary> + Clone) -> Vec<Self> {
        let server = server_of(runs.clone());
        runs.map(|run| Self::beside(run, server)).collect()
    }

    /// What a run says; the server is what was asked for so.
    fn beside(run: &Summary, server: Option<&str>) -> Self {
        let due = run.requests.due.max(1) as f64;
        let seconds = |time: Option<Nanos>| time.map(Nanos::as_secs_f64);
        let open = run.plan.load().is_open();
        let of_status = |status: u16| run.status.get(&status).copied().unwrap_or(0) as f64 / due;
        let too_many = of_status(429);
        let of_class = |is_such: fn(Failure) -> bool| {
            run.failures.iter().filter(|failure| is_such(failure.class)).map(|failure| failure.count).sum::<u64>() as f64 / due
        };
        let mut errors = run.failures.iter().filter(|failure| failure.side == Side::Server && !failure.class.is_timeout()).peekable();
        let error = errors.peek().map_or_else(String::new, |first| match first.class {
            Failure::CheckStatus => {
                let most = run.status.range(400..).filter(|(status, _)| **status != 429).max_by_key(|(_, count)| **count);
                most.map_or_else(String::new, |(status, _)| format!("status {status}"))
            }
            class => class.about().to_owned(),
        });
        let errors = (errors.map(|failure| failure.count).sum::<u64>() as f64 / due - too_many).max(0.0);
        let refused =
            run.failures.iter().find(|failure| failure.class == Failure::CheckStatus).and_then(|failure| failure.example.as_ref());
        let service = &run.service_time;
        let mean = service.mean().filter(|mean| *mean > 0.0);
        let span = run.ended.drained_at.as_secs_f64();
        let a_second = |bytes: u64| if span > 0.0 { bytes as f64 / span } else { 0.0 };
        let loopback = run.plan.connection().unix_socket.is_some()
            || run.resolution.addresses.iter().any(|at| at.parse::<std::net::SocketAddr>().is_ok_and(|at| at.ip().is_loopback()));
        let due_a_second = if run.duration_s > 0.0 { run.requests.due as f64 / run.duration_s } else { 0.0 };
        Self {
            level: match run.qps_offered {
                Some(rate) if open => rate,
                // What a rate of journeys asks of the server is the requests that these come to.
                None if open => due_a_second,
                _ => run.concurrency as f64,
            },
            open,
            requests: run.requests.due as f64,
            due: due_a_second,
            answered: run.qps,
            good: run.qps_succeeded,
            service_s: mean.map(|mean| mean / 1e9),
            quickest_s: seconds(service.min()),
            connect_s: seconds(run.connect.quantile(0.99)),
            refusals: refusals(run),
            asks_for: refused.and_then(|example| scheme(&example.text)),
            wants_tls: refused.is_some_and(|example| example.text.ends_with(measure::SPEAKS_TLS)),
            too_many,
            unavailable: of_status(503),
            retry_after: refused.is_some_and(|example| example.text.to_ascii_lowercase().contains("retry-after:")),
            errors,
            error,
            timeouts: of_class(Failure::is_timeout),
            unanswered: of_class(|class| class.is_timeout() && !class.is_connect()),
            timeout_s: run.plan.connection().timeout.as_secs_f64(),
            failure: run.failures.first().map_or_else(String::new, |first| first.class.about().to_owned()),
            failed_most: run.failures.first().map_or(0.0, |first| first.count as f64),
            succeeded: run.requests.succeeded as f64,
            succeeded_s: seconds(run.response_time_succeeded.quantile(0.5)),
            steady: steady(run),
            connections: connections_limit(run),
            between: Between::of(run),
            gone: gone(run),
            freezes: freezes(run),
            locked: locked(run),
            generator_cores: run.generator.cpu_share,
            generator_limit: limit(run),
            stood_still: matches!(generator_limit(run), Some(GeneratorLimit::Stopped(_))),
            others_share: run.generator.others_share,
            over_network: !loopback && !run.resolution.addresses.is_empty(),
            received: a_second(run.bytes.received),
            sent: a_second(run.bytes.sent),
            server: ServerFigures::of(run, server),
        }
    }

    /// How much of their time the threads that had the requests were on a core or ready for one, from 0 to 1 and a little beyond.
    ///
    /// Where requests queue is before what is short: threads that wait for a core are ready, and those that wait for a lock, a
    /// worker or an answer are not, however busy others keep the machine.
    #[must_use]
    pub(super) fn wants_cores(&self) -> Option<f64> {
        let seen = self.server.as_ref()?;
        Some((seen.cpu? + seen.waiting.unwrap_or(0.0)) / self.serving()?)
    }

    /// How many threads had requests; at least one.
    #[must_use]
    pub(super) fn serving(&self) -> Option<f64> {
        /// A thread that does this share of what the busiest does has requests as that has.
        const ALIKE_MIN: f64 = 0.25;
        let seen = self.server.as_ref()?;
        let first = seen.busiest.first().map_or(0.0, |(_, used)| *used);
        let alike = seen.busiest.iter().filter(|(_, used)| first > 0.0 && *used >= first * ALIKE_MIN).count();
        let in_flight = if self.open { self.answered * self.service_s.unwrap_or(0.0) } else { self.level };
        // Only the busiest threads are listed one by one, and none that are gone.
        let had = if alike == seen.busiest.len() || seen.has_passing_threads() {
            seen.threads.unwrap_or(0.0).min(in_flight).max(alike as f64)
        } else {
            alike as f64
        };
        Some(had.max(1.0))
    }

    /// Takes over what a profile of the same load shows.
    pub(crate) fn learn(&mut self, profiled: &Self) {
        self.locked = self.locked.take().or_else(|| profiled.locked.clone());
        if let (Some(seen), Some(other)) = (&mut self.server, &profiled.server)
            && seen.collecting.as_ref().map_or(0.0, |it| it.0) < other.collecting.as_ref().map_or(0.0, |it| it.0)
        {
            seen.collecting.clone_from(&other.collecting);
        }
    }

    /// Whether less of an open load was answered than fell due.
    #[must_use]
    pub(super) fn is_behind(&self) -> bool {
        /// Answered of due, below which a load is not kept up with.
        const KEPT_UP_MIN: f64 = 0.95;
        /// Arrivals at random differ from their mean by so many deviations once in some thirty thousand runs.
        const DEVIATIONS: f64 = 4.0;
        let expected = (1.0 - KEPT_UP_MIN).max(DEVIATIONS / self.requests.sqrt());
        self.open && self.answered < self.due * (1.0 - expected)
    }

    /// Of the answers, the share that said no.
    #[must_use]
    pub(super) fn refused(&self) -> f64 {
        self.too_many + if self.retry_after { self.unavailable } else { 0.0 }
    }
}

/// Whether about as many requests succeeded in each whole second.
fn steady(run: &Summary) -> Option<bool> {
    /// Fewer seconds show no pattern.
    const SECONDS_MIN: usize = 3;
    /// As windows of a second lie across intervals of a second.
    const APART_MAX: f64 = 0.5;
    let whole = |tick: &&measure::Tick| !tick.warmup && tick.to <= run.ended.load_until && tick.to.since(tick.from) >= Nanos::SECOND;
    let each: Vec<f64> = run.timeline.iter().filter(whole).map(|tick| tick.succeeded as f64).collect();
    // A limiter lets more through as it begins.
    let later = each.get(1..).filter(|later| later.len() + 1 >= SECONDS_MIN)?;
    let mean = later.iter().sum::<f64>() / later.len() as f64;
    Some(mean >= 1.0 && later.iter().all(|count| (count - mean).abs() <= APART_MAX * mean))
}

/// The statuses of a run that got nothing else than refusals.
fn refusals(run: &Summary) -> Vec<u16> {
    if run.requests.succeeded > 0 || run.status.keys().any(|status| Status(*status).is_success()) {
        return Vec::new();
    }
    let mut all: Vec<(u16, u64)> = run.status.iter().map(|(status, count)| (*status, *count)).collect();
    all.sort_by_key(|(status, count)| (std::cmp::Reverse(*count), *status));
    all.into_iter().map(|(status, _)| status).collect()
}

/// The scheme in the head of an answer, whose bytes are escaped. Of the server's own words no more is told.
fn scheme(head: &str) -> Option<String> {
    const FIELD: &str = "www-authenticate:";
    let at = head.to_ascii_lowercase().find(FIELD)? + FIELD.len();
    let scheme: String = head[at..].trim_start().chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
    (!scheme.is_empty()).then_some(scheme)
}

/// Why loadline was the limit. Late sends alone say so only where it was busy, and the run is worth nothing: on a machine that
/// others keep busy sends are late too, and the server need not have been loaded at all.
fn limit(run: &Summary) -> Option<String> {
    /// A thread of loadline below this share of its core did not send late because it had too much to do.
    const BUSY_MIN: f64 = 0.5;
    let limit = generator_limit(run);
    if let Some(exhausted) =
        run.failures.iter().find(|failure| matches!(failure.class, Failure::ConnectLocalPorts | Failure::ConnectLocalFds))
    {
        return Some(exhausted.class.about().to_owned());
    }
    match limit? {
        // A pause is no limit, and the run's validity tells it.
        GeneratorLimit::Stopped(_) => None,
        GeneratorLimit::Lag(..) if run.generator.cpu_share_busiest < BUSY_MIN || Validity::of(run).standing < Standing::Invalid => None,
        limit => Some(limit.to_string()),
    }
}

impl ServerFigures {
    /// Whether its work was done by threads that came and went, as of a server that makes one for each connection: those that it has,
    /// each doing as much as the second busiest, are not half of it.
    pub(super) fn has_passing_threads(&self) -> bool {
        /// Of a core. Less work is told in hundredths of a second, and is all in one thread or another by chance.
        const WORK_MIN: f64 = 0.4;
        let (Some(cpu), Some(threads), [first, second, ..]) = (self.cpu, self.threads, self.busiest.as_slice()) else { return false };
        cpu >= WORK_MIN && first.1 + (threads - 1.0).max(0.0) * second.1 < 0.5 * cpu
    }

    /// The size of its largest group of threads of one name (`pool-1-thread-1`, `pool-1-thread-2`, …), if all of the group are known:
    /// of the busiest threads that are listed, another did less than any of these.
    pub(super) fn group_of_threads(&self) -> Option<usize> {
        let stem = |name: &str| {
            let name = name.rsplit_once(' ').map_or(name, |(name, _)| name);
            name.trim_end_matches(|letter: char| letter.is_ascii_digit() || "-_#".contains(letter)).to_owned()
        };
        let mut groups: BTreeMap<String, (usize, f64)> = BTreeMap::new();
        for (name, used) in &self.busiest {
            let (members, least) = groups.entry(stem(name)).or_insert((0, f64::INFINITY));
            (*members, *least) = (*members + 1, least.min(*used));
        }
        let last = self.busiest.last()?.1;
        groups.into_values().filter(|(members, least)| *members >= 2 && *least > last).map(|(members, _)| members).max()
    }

    /// What was seen of the server, or of its machine alone where no processes were; `None` where nothing but pages of metrics was
    /// watched, or nothing.
    fn of(run: &Summary, server: Option<&str>) -> Option<Self> {
        let sides = ServerSide::of(run);
        let side = match server {
            Some(asked) => ServerSide::asked(run, asked)?,
            None => *sides.iter().find(|side| side.seen.whole("machine_cpu").is_some())?,
        };
        let share_of_limit = |name: &str| {
            let series = side.seen.whole(name)?;
            Some(side.most_of(series)? / series.limit.filter(|limit| *limit > 0.0)?)
        };
        let overflows: Vec<f64> =
            side.seen.whole("listen_overflows").map_or_else(Vec::new, |series| side.values(series).map(|it| it.0).collect());
        let busiest: Vec<(String, f64)> = side.threads().into_iter().map(|(name, used)| (name.to_owned(), used)).collect();
        let storage_wait = ["pressure_io", "cgroup_pressure_io", "iowait"].iter().filter_map(|name| side.mean(name)).reduce(f64::max);
        let storage = [side.mean("io_read"), side.mean("io_written")];
        Some(Self {
            shares_machine: side.seen.place == Place::ThisMachine,
            cores: side.seen.cores.map(f64::from),
            allowed: side.cores_allowed().map(f64::from),
            cpu: side.cpu(),
            collecting: collecting(&sides, &busiest, &run.profiles),
            busiest,
            threads: side.most("threads"),
            processes: side.most("processes"),
            waiting: side.mean("run_queue_wait"),
            switches_voluntary: side.mean("switches_voluntary"),
            memory: side.seen.whole("memory").and_then(|series| growth(run, &side, series)),
            memory_share: share_of_limit("cgroup_memory"),
            files_share: share_of_limit("files"),
            accept_queue: side.mean("accept_queue"),
            overflowing: overflows.iter().filter(|rate| **rate > 0.0).count() as f64 / overflows.len().max(1) as f64,
            overflows: overflows.iter().sum::<f64>() / overflows.len().max(1) as f64,
            quota: side.seen.whole("cgroup_cpu").and_then(|series| series.limit),
            cgroup_cpu: side.mean("cgroup_cpu"),
            throttled: side.mean("cgroup_throttled"),
            machine_cpu: side.mean("machine_cpu"),
            steal: side.mean("steal"),
            storage_wait,
            disk_busy: side.mean("disk_busy"),
            storage: storage.iter().any(Option::is_some).then(|| storage.iter().flatten().sum()),
            retransmits: side.mean("tcp_retransmits"),
        })
    }

    /// Cores that the server may use: those of its quota, or of its machine as far as they are left to it.
    #[must_use]
    pub(super) fn capacity(&self) -> Option<f64> {
        [self.quota, self.allowed, self.cores].into_iter().flatten().reduce(f64::min)
    }

    /// How busy the whole machine was, from 0 to 1.
    #[must_use]
    pub(super) fn machine_share(&self) -> Option<f64> {
        Some(self.machine_cpu? / self.cores.filter(|cores| *cores > 0.0)?)
    }
}

/// What cleaning up took of a core, by the runtime's own metrics, or by the names of its threads.
fn collecting(sides: &[ServerSide<'_>], busiest: &[(String, f64)], profiles: &[RunProfile]) -> Option<(f64, String)> {
    let mut told: BTreeMap<&str, f64> = BTreeMap::new();
    let is_sum = |name: &str| name.ends_with("_sum") || name.ends_with("_total");
    for side in sides {
        let of_name = |series: &&Series| COLLECTING_METRICS.iter().any(|part| series.name.contains(part)) && is_sum(&series.name);
        for series in side.seen.series.iter().filter(of_name) {
            *told.entry(&series.name).or_default() += side.mean_of(series).unwrap_or(0.0);
        }
    }
    let by_metrics = told.into_iter().map(|(name, seconds)| (seconds, name.to_owned()));
    let is_collector = |name: &str| COLLECTING_THREADS.iter().any(|begin| name.starts_with(begin));
    let threads: f64 = busiest.iter().filter(|(name, _)| is_collector(name)).map(|(_, used)| used).sum();
    let first = busiest.iter().find(|(name, _)| is_collector(name)).map_or("", |(name, _)| name);
    let by_threads = (threads > 0.0).then(|| (threads, format!("its collector's threads, {first} first")));
    // The functions by which Go's runtime cleans up; each stack has one of them.
    const COLLECTING_FUNCTIONS: [&str; 2] = ["runtime.gcBgMarkWorker", "runtime.gcAssistAlloc"];
    let by_profile = profiles.iter().filter_map(|profile| {
        let cores = profile.cores()?;
        let cum = profile.functions.iter().filter(|it| COLLECTING_FUNCTIONS.contains(&it.name.as_str())).map(|it| it.cum).sum::<i64>();
        (cum > 0).then(|| (cores * profile.share(cum), format!("its profile ({})", COLLECTING_FUNCTIONS[0])))
    });
    // The larger one: metrics may tell pauses alone, and threads do not tell what workers did of it.
    by_metrics.chain(by_threads).chain(by_profile).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// What a profile of locks shows, where one was taken.
fn locked(run: &Summary) -> Option<(f64, String)> {
    let profile = run.profiles.iter().find(|profile| profile.kind == "delay" && profile.asked.contains("mutex"))?;
    let span = profile.to_ns.since(profile.from_ns).as_secs_f64();
    // The runtime's own functions are how it waited, not where.
    let own = |name: &str| name.starts_with("sync.") || name.starts_with("runtime.") || name.starts_with("internal/");
    let place = profile.functions.iter().filter(|it| !own(&it.name)).max_by_key(|it| (it.flat, it.cum));
    (span > 0.0 && profile.total > 0).then(|| (profile.total as f64 / 1e9 / span, place.map_or_else(String::new, |it| it.name.clone())))
}

/// Memory against the requests answered until then.
fn growth(run: &Summary, side: &ServerSide<'_>, series: &Series) -> Option<Growth> {
    let mut answered = Vec::with_capacity(run.timeline.len());
    let mut sum = 0.0;
    for tick in &run.timeline {
        answered.push((tick.from.as_secs_f64(), tick.to.as_secs_f64(), sum, tick.answered as f64));
        sum += tick.answered as f64;
    }
    let until = |at: f64| {
        let within = answered.iter().rev().find(|(from, ..)| *from <= at)?;
        let (from, to, before, here) = *within;
        Some(before + here * ((at - from) / (to - from).max(1e-9)).clamp(0.0, 1.0))
    };
    let looks = side.seen.to_ns.iter().zip(&series.values).filter(|(at, _)| **at <= run.ended.drained_at.plus(Nanos::SECOND));
    let points: Vec<(f64, f64)> = looks.filter_map(|(at, bytes)| Some((until(at.as_secs_f64())?, (*bytes)?))).collect();
    if points.len() < LOOKS_MIN {
        return None;
    }
    let whole = line(&points)?;
    let later = line(&points[points.len() / 2..])?;
    Some(Growth {
        first: points[0].1,
        last: points[points.len() - 1].1,
        per_request: whole.slope,
        later_per_request: later.slope,
        r2: whole.r2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    #[test]
    fn a_run_comes_down_to_its_figures() {
        let point = Point::of(&fixture("a_server_that_was_watched"));
        assert_eq!((point.level, point.open, point.requests), (200.0, false, 12_000.0));
        let seen = point.server.unwrap();
        assert!(seen.shares_machine && seen.cores == Some(4.0) && seen.threads == Some(6.0));
        assert!(seen.busiest[0].0 == "app-main 812" && seen.busiest[0].1 > 0.9, "{:?}", seen.busiest);
        assert!((seen.overflowing - 4.0 / 6.0).abs() < 1e-9 && (seen.overflows - 10.0).abs() < 1e-9);
        assert!(seen.collecting.is_none() && seen.quota.is_none());
        let growth = seen.memory.unwrap();
        // 100 kB a second at 2,000 requests a second.
        assert!((growth.per_request - 50.0).abs() < 1.0 && growth.r2 > 0.99, "{growth:?}");
    }

    #[test]
    fn failures_are_told_apart_by_what_they_mean() {
        let point = Point::of(&fixture("failures_of_every_side"));
        assert!(point.errors > 0.0 && !point.error.is_empty(), "{point:?}");
        assert!(point.timeouts > 0.0 && point.server.is_none(), "{point:?}");
    }

    #[test]
    fn refusals_are_told_only_where_nothing_else_came() {
        let mut run = fixture("closed_all_well");
        assert!(Point::of(&run).refusals.is_empty());
        let due = run.requests.due;
        run.edit_for_test().requests.succeeded = 0;
        run.edit_for_test().status = [(403, due / 4), (401, due - due / 4)].into();
        assert_eq!(Point::of(&run).refusals, [401, 403]);
        run.edit_for_test().status.insert(302, 1);
        assert!(Point::of(&run).refusals.is_empty(), "somebody was let in, or sent elsewhere");
        run.edit_for_test().status = [(401, due)].into();
        run.edit_for_test().requests.succeeded = 1;
        assert!(Point::of(&run).refusals.is_empty(), "by a check of its own it was what was wanted");
    }

    #[test]
    fn of_what_is_asked_for_only_the_scheme_is_told() {
        let head = r#"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm="secret"\r\n\r\n"#;
        assert_eq!(scheme(head).as_deref(), Some("Bearer"));
        assert_eq!(scheme(r"HTTP/1.1 401\r\nwww-authenticate:\r\n"), None);
        assert_eq!(scheme("HTTP/1.1 401"), None);
    }

    #[test]
    fn whoever_cleans_up_is_known_by_metrics_and_by_names_of_threads() {
        let mut run = fixture("a_server_that_was_watched");
        assert_eq!(Point::of(&run).server.unwrap().collecting, None);
        let named = |run: &mut Summary, at: usize, from: &str, to: &str| {
            let series = run.edit_for_test().observed[at]
                .series
                .iter_mut()
                .find(|series| series.name == from || series.of.as_deref() == Some(from))
                .unwrap();
            if at == 0 { series.of = Some(to.to_owned()) } else { series.name = to.to_owned() }
        };
        named(&mut run, 0, "app-main 812", "GC Thread#0 812");
        let (share, by) = Point::of(&run).server.unwrap().collecting.unwrap();
        assert!(share > 0.9 && by == "its collector's threads, GC Thread#0 812 first", "{share} {by}");
        named(&mut run, 1, "go_goroutines", "jvm_gc_pause_seconds_sum");
        let (share, by) = Point::of(&run).server.unwrap().collecting.unwrap();
        assert_eq!((share, by.as_str()), (40.0, "jvm_gc_pause_seconds_sum"));
    }
}
