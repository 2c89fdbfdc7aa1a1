//! Made-up finished runs that between them show everything a report can show: for golden tests here and elsewhere.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use plan::{Draft, Nanos, Plan, Random, Setting};

use crate::observed::{Place, Process, SERIES, Unit, Value};
use crate::profiled::{self, Frame, Function, RunProfile};
use crate::site_row::SiteCounts;
use crate::{
    Closer, Collector, End, Ending, Failure, Histogram, JourneyCounts, JourneyEnd, Machine, Outcome, Quirk, Quirks, Recorder, Resolution,
    ServerObservation, SiteMember, SiteRow, Snapshot, SourceId, Span, StepCounts, StreamEvent, SuccessRule, Summary, Tally,
};

/// A plan for the URL, with everything else as by default and two threads.
///
/// # Panics
/// If the URL is not valid.
#[must_use]
pub fn plan(url: &str) -> Plan {
    decided(Draft { url: Some(url.to_owned()), ..Draft::default() })
}

fn decided(draft: Draft) -> Plan {
    let threads = draft.threads.clone().or_else(|| "2".parse().ok());
    Plan::try_from(Draft { threads, ..draft }).expect("fixtures are valid")
}

fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

/// Every fixture, by a name that says what it shows. They are made once in a program.
#[must_use]
pub fn summaries() -> Vec<(&'static str, Summary)> {
    static MADE: LazyLock<Vec<(&str, Summary)>> = LazyLock::new(|| {
        vec![
            ("closed_all_well", closed_all_well()),
            ("open_with_a_stall", open_with_a_stall()),
            ("failures_of_every_side", failures_of_every_side()),
            ("a_single_request", a_single_request()),
            ("nothing_answered", nothing_answered()),
            ("interrupted_with_warmup", interrupted_with_warmup()),
            ("a_server_that_was_watched", a_server_that_was_watched()),
            ("a_server_that_was_profiled", a_server_that_was_profiled()),
            ("answers_that_streamed", answers_that_streamed()),
        ]
    });
    MADE.clone()
}

struct Making {
    plan: Plan,
    recorder: Recorder,
    collector: Collector,
    interval: u32,
    /// When requests leave and come back, to be counted in the order of time.
    wire: BinaryHeap<Reverse<(Nanos, Way)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Out,
    Back,
}

impl Making {
    fn new(plan: Plan) -> Self {
        let recorder = Recorder::new(Span { from: plan.warmup(), until: plan.end() });
        Self { collector: Collector::new(plan.clone(), 1, Nanos::SECOND), recorder, plan, interval: 0, wire: BinaryHeap::new() }
    }

    /// Counts what happened on the wire up to `at`.
    fn wire_until(&mut self, at: Nanos) {
        while let Some(Reverse((when, way))) = self.wire.peek().copied().filter(|Reverse((when, _))| *when <= at) {
            match way {
                Way::Out => self.recorder.left(when),
                Way::Back => self.recorder.came_back(when),
            }
            self.wire.pop();
        }
    }

    /// Hands over intervals until the one that `at` lies in.
    fn until(&mut self, at: Nanos) {
        while u64::from(self.interval) < at.0 / 1_000_000_000 {
            self.interval += 1;
            self.recorder.cpu(Nanos::from_millis(310));
            let full = self.recorder.swap(Snapshot::empty(self.interval));
            self.collector.absorb(SourceId(0), full.clone());
            while self.collector.tick().is_some() {}
        }
    }

    fn answer(&mut self, due: Nanos, wait: Nanos, service: Nanos, result: Result<u16, Failure>) {
        let ready = due.plus(wait);
        let sent = ready.plus(Nanos::from_micros(9));
        let done = sent.plus(service);
        self.recorder.due(due);
        self.wire.push(Reverse((sent, Way::Out)));
        self.wire.push(Reverse((done, Way::Back)));
        self.wire_until(due);
        self.recorder.record(&Outcome {
            due,
            ready,
            sent,
            first_byte: Nanos(sent.0 + service.0 * 9 / 10),
            done,
            bytes_out: 92,
            bytes_in: if result.is_ok() { 170 } else { 0 },
            result,
        });
    }

    fn finish(mut self, how: Ending, load_until: Nanos, drained_at: Nanos) -> Summary {
        self.wire_until(Nanos::NEVER);
        self.until(drained_at.plus(Nanos::SECOND));
        let target = self.plan.target().clone();
        let mut summary = self.collector.finish(End { how, load_until, drained_at }).0.close();
        let record = summary.edit_for_test();
        record.machine = Machine {
            loadline: "loadline 0.0.0".to_owned(),
            system: "Linux 6.1.0".to_owned(),
            processor: "Example CPU at 3 GHz".to_owned(),
            cores: 2,
            memory_bytes: 8 << 30,
            files_max: 20_000,
        };
        record.started = "2026-01-02T03:04:05Z".to_owned();
        record.resolution = Resolution {
            name: target.host().to_owned(),
            addresses: vec![format!("192.0.2.7:{}", target.port())],
            took: Some(Nanos::from_micros(1_830)),
        };
        record.generator.memory_bytes_max = Some(12 << 20);
        record.generator.run_queue_share = Some(0.002);
        record.generator.steal_share = Some(0.0);
        summary
    }
}

fn exponential(random: &mut Random, mean_us: f64) -> Nanos {
    Nanos((random.exponential() * mean_us * 1e3) as u64 + 200_000)
}

fn closed_all_well() -> Summary {
    let plan = decided(Draft {
        url: Some("http://127.0.0.1:8080/healthz".to_owned()),
        connections: given("200"),
        duration: given("10s"),
        ..Draft::default()
    });
    let mut making = Making::new(plan);
    let mut random = Random::new(1, 9);
    for _ in 0..200 {
        making.recorder.opened(Nanos::from_micros(90 + random.between(0, 60)), None);
    }
    for k in 0..120_000u64 {
        let due = Nanos(k * 83_333);
        making.until(due);
        making.answer(due, Nanos::ZERO, exponential(&mut random, 1_500.0), Ok(200));
    }
    (0..200).for_each(|_| making.recorder.closed(Closer::Us));
    making.finish(Ending::Finished, Nanos::from_secs(10), Nanos::from_millis(10_012))
}

/// A histogram of these times, in nanoseconds.
#[must_use]
pub fn histogram_of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|value| histogram.record(Nanos(*value)));
    histogram
}

/// A site on another machine, of which nothing is told yet.
#[must_use]
pub fn other_machine(name: &str) -> SiteRow {
    let clock_error = Some(Nanos::from_millis(1));
    SiteCounts::new(SiteMember { name: name.to_owned(), sources: vec![SourceId(0)], clock_error, machine: None }).finish()
}

/// Two journeys of two steps and of one, with a check that is broken now and then and a value that is not there.
#[must_use]
pub fn journeys_of_a_shop() -> Summary {
    let plan = decided(Draft {
        url: Some("http://127.0.0.1:8080/".to_owned()),
        scenario: Some("shop.yaml".to_owned()),
        connections: given("20"),
        duration: given("10s"),
        ..Draft::default()
    });
    let mut making = Making::new(plan);
    let tally = Tally {
        journeys: vec![JourneyCounts::named("buy".into()), JourneyCounts::named("look".into())],
        steps: vec![
            StepCounts::named("POST /login".into(), 0, ["status 200".into(), "json $.token exists".into()]),
            StepCounts::named("order".into(), 0, ["status 201".into()]),
            StepCounts::named("GET /".into(), 1, []),
        ],
        transactions: vec![JourneyCounts::named("checkout".into())],
        ..Tally::default()
    };
    making.recorder = making.recorder.with_tally(tally);
    (0..20).for_each(|_| making.recorder.opened(Nanos::from_micros(120), None));
    let mut random = Random::new(8, 9);
    for k in 0..4_000u64 {
        let due = Nanos(k * 2_500_000);
        making.until(due);
        let looks = k % 4 == 3;
        let journey = usize::from(looks);
        let mut at = due;
        let began = making.recorder.journey_began(journey, due);
        let mut how = JourneyEnd::Succeeded;
        let transaction = (!looks).then(|| making.recorder.transaction_began(0, due));
        for step in if looks { 2..3 } else { 0..2 } {
            let service = exponential(&mut random, if step == 1 { 8_000.0 } else { 2_000.0 });
            let (status, judged) = match (step, k % 200) {
                (0, 0) => (200, SuccessRule::Failed(Failure::ExtractNothing)),
                (1, 1) => (500, SuccessRule::Failed(Failure::CheckStatus)),
                (1, 2) => (200, SuccessRule::Failed(Failure::CheckFailed)),
                (1, _) => (201, SuccessRule::Well),
                _ => (200, SuccessRule::Well),
            };
            let done = at.plus(Nanos::from_micros(9)).plus(service);
            let sent = at.plus(Nanos::from_micros(9));
            making.recorder.due(at);
            making.wire.push(Reverse((sent, Way::Out)));
            making.wire.push(Reverse((done, Way::Back)));
            // Steps of one journey overlap with the next journey: what is on the wire is counted in the order of time.
            making.wire_until(due);
            let outcome = Outcome { due: at, ready: at, sent, first_byte: done, done, bytes_out: 120, bytes_in: 240, result: Ok(status) };
            if let SuccessRule::Failed(failure) = judged {
                let text = || format!("json $.token found nothing in {{\"error\":{status}}}");
                making.recorder.step_example(step, failure, done, text);
                how = if failure == Failure::ExtractNothing { JourneyEnd::BrokeOff(failure) } else { JourneyEnd::Completed };
            }
            if step < 2 {
                let wanted = if step == 0 { 200 } else { 201 };
                let said = if status == wanted { Ok(()) } else { Err(|| format!("status {wanted}: was {status}")) };
                making.recorder.checked(&outcome, step, 0, said);
            }
            if step == 0 {
                let said = if judged == SuccessRule::Well { Ok(()) } else { Err(|| "json $.token exists: was missing".to_owned()) };
                making.recorder.checked(&outcome, step, 1, said);
            }
            making.recorder.record_step(&outcome, step, judged);
            at = done;
            if matches!(how, JourneyEnd::BrokeOff(_)) {
                break;
            }
        }
        if let Some(began) = transaction {
            making.recorder.transaction_ended(0, began, at, at.since(due), how);
        }
        making.recorder.journey_ended(journey, began, at, how);
    }
    (0..20).for_each(|_| making.recorder.closed(Closer::Us));
    making.finish(Ending::Finished, Nanos::from_secs(10), Nanos::from_millis(10_030))
}

fn open_with_a_stall() -> Summary {
    let plan = decided(Draft {
        url: Some("https://api.test/orders?limit=10".to_owned()),
        connections: given("400"),
        duration: given("20s"),
        rate: given("1000/s"),
        json: Some("{\"item\":7}".to_owned()),
        bearer: Some("a-secret".to_owned()),
        ..Draft::default()
    });
    let mut making = Making::new(plan);
    let mut random = Random::new(2, 9);
    for _ in 0..400 {
        making.recorder.opened(Nanos::from_micros(350), Some(Nanos::from_micros(1_900)));
    }
    for k in 0..20_000u64 {
        let due = Nanos::from_millis(k);
        making.until(due);
        // The server stalls for a second at 8 s: first all connections fill up, then requests wait for one.
        let into = due.since(Nanos::from_secs(8));
        let stalled = due >= Nanos::from_secs(8) && into < Nanos::SECOND;
        let left = Nanos::SECOND.since(into);
        let busy = stalled && into > Nanos::from_millis(400);
        let (wait, service) = match (stalled, busy) {
            (true, true) => (left, Nanos::from_millis(2)),
            (true, false) => (Nanos::ZERO, left.plus(Nanos::from_millis(2))),
            _ => (Nanos::ZERO, exponential(&mut random, 2_000.0)),
        };
        making.answer(due, wait, service, if k % 997 == 3 { Ok(503) } else { Ok(201) });
    }
    making
        .recorder
        .example(Failure::CheckStatus, Nanos::from_millis(12_400), || "503 Service Unavailable «upstream connect error»".to_owned());
    making.finish(Ending::Finished, Nanos::from_secs(20), Nanos::from_millis(20_009))
}

fn failures_of_every_side() -> Summary {
    let plan = decided(Draft { url: Some("http://api.test:8080/".to_owned()), duration: given("10s"), ..Draft::default() });
    let mut making = Making::new(plan);
    let mut random = Random::new(3, 9);
    let failures = [
        Failure::ConnectRefused,
        Failure::ConnectTimeout,
        Failure::ConnectLocalPorts,
        Failure::RecvReset,
        Failure::RecvIdleTimeout,
        Failure::StaleReuse,
        Failure::ProtoChunk,
        Failure::RedirectLimit,
    ];
    for k in 0..5_000u64 {
        let due = Nanos(k * 2_000_000);
        making.until(due);
        let result = match k % 50 {
            0 => Err(failures[(k / 50) as usize % failures.len()]),
            1 => Ok([404, 429, 500, 503][(k / 50) as usize % 4]),
            _ => Ok(200),
        };
        if let Err(failure) = result {
            making.recorder.closed(if failure.is_timeout() { Closer::Us } else { Closer::Server });
            making.recorder.opened(Nanos::from_micros(200), None);
            let text = format!("what was seen of {failure}: \\x1b[31mred\\x1b[0m <b>bold</b>");
            making.recorder.example(failure, due, || text);
        }
        let service = if result == Err(Failure::RecvIdleTimeout) { Nanos::from_secs(30) } else { exponential(&mut random, 3_000.0) };
        making.answer(due, Nanos::ZERO, service, result);
    }
    let mut quirks = Quirks::default();
    quirks.insert(Quirk::BareLf);
    quirks.insert(Quirk::Unsolicited);
    making.recorder.quirks(quirks);
    let mut summary = making.finish(Ending::Finished, Nanos::from_secs(10), Nanos::from_secs(38));
    summary.edit_for_test().warnings.push("certificates were not verified (--insecure)".to_owned());
    summary
}

fn a_single_request() -> Summary {
    let plan = decided(Draft { url: Some("http://127.0.0.1:8080/".to_owned()), requests: given("1"), ..Draft::default() });
    let mut making = Making::new(plan);
    making.recorder.opened(Nanos::from_micros(80), None);
    making.answer(Nanos::from_micros(100), Nanos::ZERO, Nanos::from_micros(412), Ok(200));
    making.recorder.closed(Closer::Us);
    making.finish(Ending::Finished, Nanos::from_micros(521), Nanos::from_micros(521))
}

fn nothing_answered() -> Summary {
    let plan =
        decided(Draft { url: Some("http://127.0.0.1:9/".to_owned()), connections: given("10"), timeout: given("2s"), ..Draft::default() });
    let mut making = Making::new(plan);
    for k in 0..50u64 {
        let due = Nanos::from_millis(k / 10 * 2000 + k % 10);
        making.until(due);
        making.answer(due, Nanos::ZERO, Nanos(1_999_991_000), Err(Failure::RecvIdleTimeout));
    }
    making.finish(Ending::Finished, Nanos::from_secs(10), Nanos::from_secs(10))
}

/// A server with one thread on four cores: that thread is busy, everything else is idle, and connections pile up before it.
fn a_server_that_was_watched() -> Summary {
    let plan = decided(Draft {
        url: Some("http://127.0.0.1:8080/healthz".to_owned()),
        connections: given("200"),
        duration: given("6s"),
        ..Draft::default()
    });
    let mut making = Making::new(plan);
    let mut random = Random::new(5, 9);
    for _ in 0..200 {
        making.recorder.opened(Nanos::from_micros(90), None);
    }
    for k in 0..12_000u64 {
        let due = Nanos(k * 500_000);
        making.until(due);
        making.answer(due, Nanos::ZERO, exponential(&mut random, 9_000.0), Ok(200));
    }
    let mut summary = making.finish(Ending::Finished, Nanos::from_secs(6), Nanos::from_millis(6_010));
    let process = |pid, parent, name: &str, listens| Process { pid, parent, name: name.to_owned(), listens };
    let mut server = ServerObservation {
        asked: "auto".to_owned(),
        about: "app (812) and one more process".to_owned(),
        place: Place::ThisMachine,
        cores: Some(4),
        processes: vec![process(812, 1, "app", true), process(813, 812, "logger", false)],
        cost_cpu_ns: 18_000_000,
        ..ServerObservation::default()
    };
    let mut page = ServerObservation {
        asked: "prometheus:http://127.0.0.1:8080/metrics".to_owned(),
        about: "2 metrics of the page http://127.0.0.1:8080/metrics".to_owned(),
        place: Place::Elsewhere,
        cost_cpu_ns: 3_000_000,
        ..ServerObservation::default()
    };
    for second in 0..6u64 {
        let (from, to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        let busy = if second == 0 { 0.5 } else { 0.99 };
        let value = |name: &'static str, of: Option<&str>, limit: Option<f64>, value: f64| {
            let unit = SERIES.iter().find(|known| known.name == name).map_or(Unit::Number, |known| known.unit);
            Value { name: name.into(), of: of.map(str::to_owned), unit, limit, value }
        };
        server.add(
            from,
            to,
            [
                value("cpu_user", None, Some(4.0), busy * 0.8),
                value("cpu_system", None, Some(4.0), busy * 0.25),
                value("process_cpu", Some("app 812"), None, busy),
                value("process_cpu", Some("logger 813"), None, busy * 0.05),
                value("thread_cpu", Some("app-main 812"), Some(1.0), busy),
                value("thread_cpu_busiest", None, Some(1.0), busy),
                value("run_queue_wait", None, None, 0.02),
                value("switches_voluntary", None, None, 310.0),
                value("switches_involuntary", None, None, 24.0),
                value("memory", None, None, 41e6 + second as f64 * 1e5),
                value("files", None, Some(1_024.0), 209.0),
                value("threads", None, None, 6.0),
                value("processes", None, None, 2.0),
                value("accept_queue", None, Some(4_096.0), if second < 2 { 0.0 } else { 129.0 }),
                value("listen_overflows", None, None, if second < 2 { 0.0 } else { 15.0 }),
                value("listen_drops", None, None, if second < 2 { 0.0 } else { 15.0 }),
                value("machine_cpu", None, Some(4.0), busy + 0.4),
                value("core_cpu", Some("core 0"), Some(1.0), busy),
                value("core_cpu", Some("core 1"), Some(1.0), 0.3),
                value("machine_memory", None, Some(8e9), 3e9),
                value("steal", None, None, 0.0),
                value("tcp_retransmits", None, None, 0.0),
            ],
        );
        let hits = Value { unit: Unit::PerSecond, ..value("hits", Some("path=\"/\""), None, 2_000.0) };
        page.add(from, to, [value("go_goroutines", None, None, 40.0), hits]);
    }
    summary.edit_for_test().observed = vec![server, page];
    summary.edit_for_test().warnings.push("--observe auto: the server has more than 256 threads".to_owned());
    summary
}

/// A server that formats for a log what it answers, and a lock that it waits for; one name is what a hostile program may be made of.
fn a_server_that_was_profiled() -> Summary {
    let mut summary = closed_all_well();
    let frames = |told: &[(u32, &str, i64, i64)]| -> Vec<Frame> {
        told.iter().map(|(depth, name, flat, cum)| Frame { name: (*name).to_owned(), depth: *depth, flat: *flat, cum: *cum }).collect()
    };
    let functions = |frames: &[Frame]| -> Vec<Function> {
        let mut all: Vec<Function> =
            frames.iter().map(|frame| Function { name: frame.name.clone(), flat: frame.flat, cum: frame.cum }).collect();
        all.sort_by(|a, b| b.cum.cmp(&a.cum).then_with(|| a.name.cmp(&b.name)));
        all
    };
    let processor = frames(&[
        (0, "net/http.(*conn).serve", 180_000_000, 4_700_000_000),
        (1, "main.dump", 240_000_000, 2_600_000_000),
        (2, "encoding/json.MarshalIndent", 700_000_000, 2_300_000_000),
        (3, "encoding/json.(*encodeState).marshal", 900_000_000, 1_500_000_000),
        (4, "main.<b>bold</b>\u{1b}[2J", 600_000_000, 600_000_000),
        (1, "net/http.(*response).write", 310_000_000, 1_900_000_000),
        (2, "syscall.Syscall", 1_590_000_000, 1_590_000_000),
        (0, "runtime.gcBgMarkWorker", 0, 1_200_000_000),
        (1, "runtime.scanobject", 1_200_000_000, 1_200_000_000),
    ]);
    let waiting = frames(&[(0, "net/http.(*conn).serve", 0, 88_000_000), (1, "sync.(*Mutex).Unlock", 88_000_000, 88_000_000)]);
    let of = |asked: &str, kind: &str, total: i64, frames: Vec<Frame>| RunProfile {
        asked: format!("http://127.0.0.1:6060/debug/pprof/{asked}"),
        kind: kind.to_owned(),
        unit: profiled::Unit::Nanoseconds,
        from_ns: Nanos::SECOND,
        to_ns: Nanos::from_secs(5),
        total,
        functions: functions(&frames),
        functions_all: 214,
        frames,
    };
    summary.edit_for_test().profiles =
        vec![of("profile", profiled::CPU, 6_000_000_000, processor), of("mutex", "delay", 88_000_000, waiting)];
    summary
        .edit_for_test()
        .warnings
        .push("--profile http://127.0.0.1:6060/debug/pprof/heap: it was not there yet when the run was over".to_owned());
    summary
}

/// A language model: the first of some forty events after a quarter of a second or more, each next after 20 ms; one answer pauses.
fn answers_that_streamed() -> Summary {
    let plan = decided(Draft {
        url: Some("http://127.0.0.1:8080/v1/chat/completions".to_owned()),
        connections: given("30"),
        duration: given("10s"),
        json: Some("{\"stream\":true}".to_owned()),
        stream: given("sse"),
        ..Draft::default()
    });
    let mut making = Making::new(plan);
    let mut random = Random::new(6, 9);
    (0..30).for_each(|_| making.recorder.opened(Nanos::from_micros(120), None));
    // Requests and events are counted in the order of time, as they come.
    let mut events: BinaryHeap<Reverse<(Nanos, Nanos, Option<Nanos>)>> = BinaryHeap::new();
    let mut answers = Vec::new();
    for k in 0..270u64 {
        let due = Nanos::from_millis(k * 37);
        let mut at = due.plus(Nanos::from_millis(250)).plus(exponential(&mut random, 60_000.0));
        events.push(Reverse((at, due, None)));
        for event in 0..random.between(25, 55) {
            let pause = if (k, event) == (91, 7) { 1_200_000_000 } else { 18_000_000 + random.between(0, 4_000_000) };
            let before = at;
            at = at.plus(Nanos(pause));
            events.push(Reverse((at, due, Some(before))));
        }
        answers.push((due, at));
    }
    let mut count = |making: &mut Making, until: Nanos| {
        while let Some(Reverse((at, due, before))) = events.peek().copied().filter(|Reverse((at, ..))| *at <= until) {
            making.until(at);
            making.recorder.event(&StreamEvent { due, at, before, step: None });
            events.pop();
        }
    };
    for (due, last) in answers {
        count(&mut making, due);
        making.until(due);
        making.answer(due, Nanos::ZERO, last.since(due), Ok(200));
    }
    count(&mut making, Nanos::NEVER);
    (0..30).for_each(|_| making.recorder.closed(Closer::Us));
    making.finish(Ending::Finished, Nanos::from_secs(10), Nanos::from_millis(11_800))
}

fn interrupted_with_warmup() -> Summary {
    let plan = decided(Draft {
        url: Some("http://[::1]:8080/search?q=a%20b".to_owned()),
        connections: given("8"),
        duration: given("1m"),
        warmup: given("2s"),
        pause: given("100ms..300ms"),
        insecure: false,
        ..Draft::default()
    });
    let mut making = Making::new(plan);
    let mut random = Random::new(4, 9);
    (0..8).for_each(|_| making.recorder.opened(Nanos::from_micros(120), None));
    for k in 0..300u64 {
        let due = Nanos::from_millis(k * 25);
        making.until(due);
        making.answer(due, Nanos::ZERO, exponential(&mut random, 4_000.0), Ok(200));
    }
    making.finish(Ending::Interrupted, Nanos::from_millis(7_480), Nanos::from_millis(7_486))
}
