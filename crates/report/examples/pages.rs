//! Writes one page of every kind from made-up results: what the tests in a browser open, and what pictures are taken of.
//!
//! `cargo run -p loadline-report --example pages -- DIR`

use std::error::Error;
use std::num::NonZeroU32;
use std::path::Path;
use std::{env, fs};

use analysis::compare::Margins;
use analysis::comparison::{Comparison, Pair, ProfiledSide, Side, Subject};
use analysis::found::{CapacityReport, CapacityTrial, learnt};
use analysis::gate::{Check, Slo};
use analysis::search::{Pause, Search, Settings, Standing, Step, TrialResult};
use analysis::{Level, Reading, StopReason, Sweep, Trial};
use measure::observed::{Place, SERIES, Unit, Value};
use measure::{Failure, Histogram, RunProfile, ServerObservation, Summary, Tick, fixtures};
use plan::{Nanos, Plan, Random, Rate};
use report::vegeta::{Hit, Plot};
use report::{Style, page, sweep as sweep_files};

/// What a server may send that should stay text.
const HOSTILE: &str =
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u{2028}${7*7}\u{202e}gnp";
/// A run of an hour, a tick a second.
const HOUR: u64 = 3_600;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = env::args().nth(1).ok_or("say where: cargo run -p loadline-report --example pages -- DIR")?;
    let dir = Path::new(&dir);
    fs::create_dir_all(dir)?;
    let checks: Vec<Check> = ["p99 < 50ms", "failed < 0.1%"].map(|text| text.parse().expect("checks are valid")).to_vec();
    for (name, run) in fixtures::summaries() {
        fs::write(dir.join(format!("run-{name}.html")), html(&run, if name == "open_with_a_stall" { &checks } else { &[] })?)?;
    }
    let mut random = Random::new(7, 1);
    let mut run = lively(120, &mut random);
    run.edit_for_test().observed = vec![watched(&run, &mut random)];
    run.edit_for_test().profiles = fixture("a_server_that_was_profiled").profiles.clone();
    fs::write(dir.join("run.html"), html(&run, &checks)?)?;
    fs::write(dir.join("hour.html"), html(&lively(HOUR, &mut random), &[])?)?;
    fs::write(dir.join("run-hostile.html"), html(&hostile(fixture("failures_of_every_side")), &[])?)?;
    let mut sweep = climbed("users");
    sweep.profiled = profiled(&sweep);
    fs::write(dir.join("sweep.html"), page::sweep(&sweep).document())?;
    let (streamed, again) = (streaming("tokens", 1.0), streaming("tokens after", 1.2));
    fs::write(dir.join("sweep-streamed.html"), page::sweep(&streamed).document())?;
    let [a, b] = [&streamed, &again].map(sweep_files::curve);
    fs::write(dir.join("diff-streamed.html"), page::diff(&a, &b, [Some(&streamed), Some(&again)]).document())?;
    let mut empty = climbed("nothing");
    empty.trials.clear();
    fs::write(dir.join("sweep-empty.html"), page::sweep(&empty).document())?;
    let mut named = climbed(HOSTILE);
    named.trials.iter_mut().for_each(|trial| trial.summary = hostile(trial.summary.clone()));
    named.stopped = Some(StopReason::cut_short(HOSTILE));
    named.profiled = profiled(&named);
    named.profiled.iter_mut().for_each(|trial| trial.summary = hostile(trial.summary.clone()));
    fs::write(dir.join("sweep-hostile.html"), page::sweep(&named).document())?;
    fs::write(dir.join("find.html"), page::find(&searched("checkout", &mut random)).document())?;
    fs::write(dir.join("find-hostile.html"), page::find(&searched(HOSTILE, &mut random)).document())?;
    let mut searches = [searched("before", &mut random), searched("after", &mut random)];
    fs::write(dir.join("searches.html"), page::two_searches(("before", &searches[0]), ("after", &searches[1])).document())?;
    searches[0].slo.iter_mut().for_each(|promise| promise.text = HOSTILE.to_owned());
    fs::write(dir.join("searches-hostile.html"), page::two_searches((HOSTILE, &searches[0]), (HOSTILE, &searches[1])).document())?;
    fs::write(
        dir.join("compare.html"),
        page::compare(&compared("http://old.test/orders", "http://new.test/orders", 1.35, 10, &mut random)?).document(),
    )?;
    fs::write(dir.join("compare-hostile.html"), page::compare(&compared(HOSTILE, HOSTILE, 1.0, 3, &mut random)?).document())?;
    let sides = [climbed("before"), faster(climbed("after"))];
    let [a, b] = [0, 1].map(|side| sweep_files::curve(&sides[side]));
    fs::write(dir.join("diff.html"), page::diff(&a, &b, [Some(&sides[0]), Some(&sides[1])]).document())?;
    let mut named = a.clone();
    named.name = HOSTILE.to_owned();
    named.target = Some(HOSTILE.to_owned());
    fs::write(dir.join("diff-hostile.html"), page::diff(&named, &b, [None, None]).document())?;
    let runs = [lively(60, &mut random), lively(60, &mut random)];
    fs::write(dir.join("runs.html"), page::two_runs(("before", &runs[0]), ("after", &runs[1])).document())?;
    let runs = runs.map(hostile);
    fs::write(dir.join("runs-hostile.html"), page::two_runs((HOSTILE, &runs[0]), (HOSTILE, &runs[1])).document())?;
    fs::write(dir.join("traffic.html"), page::traffic(&logged("/orders", &mut random)).document())?;
    fs::write(dir.join("traffic-hostile.html"), page::traffic(&logged(HOSTILE, &mut random)).document())?;
    fs::write(dir.join("plot.html"), attacked("checkout", &mut random))?;
    fs::write(dir.join("plot-hostile.html"), attacked(HOSTILE, &mut random))?;
    Ok(())
}

/// A day of a log: busy at noon, with bursts, from some hundred users.
fn logged(path: &str, random: &mut Random) -> import::Traffic {
    let mut log = String::new();
    for minute in 0..1_440_u32 {
        let busy = 3.0 + 9.0 * (-((f64::from(minute) - 760.0) / 260.0).powi(2)).exp();
        let requests = (busy * (0.5 + random.unit())) as u32;
        for request in 0..requests {
            let user = random.between(1, 220);
            let route = [path.to_owned(), "/healthz".to_owned(), format!("/items/{}", random.between(1, 90))];
            let line = serde_json::json!({
                "time": format!("2026-01-02T{:02}:{:02}:{:02}Z", minute / 60, minute % 60, request * 60 / requests),
                "method": if random.unit() < 0.2 { "POST" } else { "GET" },
                "path": route[random.between(0, 2) as usize],
                "status": if random.unit() < 0.01 { 503 } else { 200 },
                "ip": format!("10.0.0.{user}"),
                "duration_ms": 3.0 * (0.5 * analysis::simulated::normal(random)).exp(),
            });
            log += &format!("{line}\n");
        }
    }
    let mut survey = import::Survey::new(import::FormChoice::default(), import::Personal::LeftOut);
    survey.read("access.log", log.as_bytes()).expect("memory can be read");
    survey.finish()
}

/// Two minutes of results, one in forty of them a failure.
fn attacked(name: &str, random: &mut Random) -> Vec<u8> {
    let mut plot = Plot::default();
    for seq in 0..6_000_u64 {
        let failed = seq % 40 == 7;
        plot.add(&Hit {
            attack: name.to_owned(),
            seq,
            timestamp: i128::from(seq) * 20_000_000,
            latency: (3e6 * (0.5 * analysis::simulated::normal(random)).exp()) as i64 * if failed { 20 } else { 1 },
            error: if failed { "503 Service Unavailable".to_owned() } else { String::new() },
            ..Hit::default()
        });
    }
    plot.html(&format!("Latency of {name}"), 1_500)
}

fn fixture(name: &str) -> Summary {
    fixtures::summaries().into_iter().find(|(other, _)| *other == name).expect("the fixture exists").1
}

fn html(run: &Summary, checks: &[Check]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (page::FORMAT.render)(&Reading::new(run, checks), &Style::PLAIN, &mut bytes)?;
    Ok(bytes)
}

/// Log-normal times around a median in milliseconds, a few of them in a second hump.
fn times(count: u64, median_ms: f64, tail: f64, random: &mut Random) -> Histogram {
    let mut histogram = Histogram::new();
    for _ in 0..count {
        let hump = if random.unit() < tail { 6.0 } else { 1.0 };
        histogram.record(Nanos((median_ms * hump * 1e6 * (0.4 * analysis::simulated::normal(random)).exp()) as u64));
    }
    histogram
}

/// An open run whose server falters twice and fails a little in between.
fn lively(seconds: u64, random: &mut Random) -> Summary {
    let mut run = fixture("open_with_a_stall");
    let per_second = 1_200.0;
    let (mut all, mut served, mut ticks) = (Histogram::new(), Histogram::new(), Vec::new());
    let (mut due_all, mut failed_all) = (0, 0);
    for second in 0..seconds {
        let phase = second as f64 / seconds as f64;
        let slow = 1.0 + 6.0 * (-((phase - 0.38) * 40.0).powi(2)).exp() + 2.5 * (-((phase - 0.8) * 22.0).powi(2)).exp();
        let due = (per_second + 32.0 * analysis::simulated::normal(random)).max(1.0) as u64;
        let failed = if (0.36..0.42).contains(&phase) { random.between(4, 40) } else { u64::from(random.unit() < 0.01) };
        let sampled = due.min(if seconds > 600 { 120 } else { u64::MAX });
        let response = times(sampled, 6.0 * slow, 0.015, random);
        served.add(&times(sampled, 5.5 * slow.sqrt(), 0.012, random));
        all.add(&response);
        due_all += due;
        failed_all += failed;
        ticks.push(Tick {
            from: Nanos::from_secs(second),
            to: Nanos::from_secs(second + 1),
            warmup: false,
            answered: due - failed / 2,
            due,
            succeeded: due - failed,
            failed,
            failures: [(Failure::CheckStatus, failed - failed / 4), (Failure::RecvReset, failed / 4)]
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .collect(),
            unsent: 0,
            bytes_sent: due * 310,
            bytes_received: due * 1_870,
            in_flight: (6.0 * slow + random.unit() * 4.0) as u64,
            connections: 40 + (20.0 * slow) as u64,
            cpu: Nanos((0.33e9 + 0.05e9 * random.unit()) as u64),
            lag_max: Nanos((60e3 + 90e3 * random.exponential()) as u64),
            response_time: response.pack(),
            journeys: None,
            streams: None,
        });
    }
    let length = Nanos::from_secs(seconds);
    let mut plan = serde_json::to_value(&run.plan).expect("a plan is JSON");
    let plan_keys = plan.as_object_mut().expect("a plan has keys");
    plan_keys.remove("duration");
    plan_keys.insert("rate".to_owned(), serde_json::json!(format!("1200/s for {seconds}s")));
    run.edit_for_test().plan = serde_json::from_value::<Plan>(plan).expect("the plan is still valid");
    run.edit_for_test().timeline = ticks;
    run.edit_for_test().ended.load_until = length;
    run.edit_for_test().ended.drained_at = length.plus(Nanos::from_millis(12));
    run.edit_for_test().duration_s = seconds as f64;
    run.edit_for_test().requests.due = due_all;
    run.edit_for_test().requests.failed = failed_all;
    run.edit_for_test().requests.unsent = 0;
    run.edit_for_test().requests.succeeded = due_all - failed_all;
    run.edit_for_test().qps = (due_all - failed_all / 2) as f64 / seconds as f64;
    run.edit_for_test().qps_succeeded = (due_all - failed_all) as f64 / seconds as f64;
    run.edit_for_test().status = [(201, due_all - failed_all), (503, failed_all)].into();
    run.edit_for_test()
        .failures
        .iter_mut()
        .filter(|failure| failure.class == Failure::CheckStatus)
        .for_each(|failure| failure.count = failed_all);
    let record = run.edit_for_test();
    (record.in_flight_mean, record.service_drained) = (under_way(&served, record.duration_s), Some(Nanos::ZERO));
    run.edit_for_test().wait = Histogram::new();
    run.edit_for_test().qps_offered = Some(per_second);
    let record = run.edit_for_test();
    (record.response_time, record.response_time_succeeded, record.service_time) = (all.clone(), all, served);
    run
}

/// Requests under way on average, as their times have it: a run that breaks Little's law is INVALID.
fn under_way(times: &Histogram, seconds: f64) -> f64 {
    times.sum() as f64 / 1e9 / seconds
}

/// The server of such a run: four workers that are busy when it falters, and connections that wait then.
fn watched(run: &Summary, random: &mut Random) -> ServerObservation {
    let mut seen = ServerObservation {
        asked: "auto".to_owned(),
        about: "gunicorn (812) and 4 more processes".to_owned(),
        place: Place::ThisMachine,
        cores: Some(4),
        cost_cpu_ns: 310_000_000,
        ..ServerObservation::default()
    };
    for tick in &run.timeline {
        let busy = (tick.in_flight as f64 / 14.0).min(1.0);
        let value = |name: &'static str, of: Option<&str>, limit: Option<f64>, value: f64| {
            let unit = SERIES.iter().find(|known| known.name == name).map_or(Unit::Number, |known| known.unit);
            Value { name: name.into(), of: of.map(str::to_owned), unit, limit, value }
        };
        let mut values = vec![
            value("cpu_user", None, Some(4.0), 2.6 * busy + 0.1 * random.unit()),
            value("cpu_system", None, Some(4.0), 0.7 * busy + 0.05 * random.unit()),
            value("memory", None, None, 210e6 + tick.from.as_secs_f64() * 2e5),
            value("files", None, Some(1_024.0), 40.0 + tick.connections as f64),
            value("threads", None, None, 9.0),
            value("accept_queue", None, Some(4_096.0), (busy * 60.0 - 40.0).max(0.0)),
            value("listen_overflows", None, None, 0.0),
            value("machine_cpu", None, Some(4.0), 3.3 * busy + 0.3),
            value("run_queue_wait", None, None, 0.2 * busy * busy),
        ];
        for worker in 813..817 {
            let name = format!("gunicorn {worker}");
            values.push(value("process_cpu", Some(&name), None, 0.75 * busy + 0.08 * random.unit()));
        }
        seen.add(tick.from, tick.to, values);
    }
    seen
}

/// The same server, as busy for three seconds as a share of its four cores tells, with so many connections.
fn seen_at(busy: f64, connections: f64) -> ServerObservation {
    let mut seen = ServerObservation {
        asked: "auto".to_owned(),
        about: "gunicorn (812) and 4 more processes".to_owned(),
        place: Place::ThisMachine,
        cores: Some(4),
        cost_cpu_ns: 9_000_000,
        ..ServerObservation::default()
    };
    let value = |name: &'static str, limit: Option<f64>, value: f64| {
        let unit = SERIES.iter().find(|known| known.name == name).map_or(Unit::Number, |known| known.unit);
        Value { name: name.into(), of: None, unit, limit, value }
    };
    for second in 0..3 {
        let values = [
            value("cpu_user", Some(4.0), 2.8 * busy),
            value("cpu_system", Some(4.0), 0.9 * busy),
            value("thread_cpu_busiest", Some(1.0), busy),
            value("machine_cpu", Some(4.0), 3.7 * busy + 0.3),
            value("run_queue_wait", None, 1.5 * busy * busy),
            value("accept_queue", Some(4_096.0), (connections - 60.0).max(0.0) / 4.0),
            value("memory", None, 210e6 + connections * 4e4),
            value("switches_voluntary", None, 9_000.0 * busy),
            value("switches_involuntary", None, 2_000.0 * busy * busy),
            value("files", Some(1_024.0), 40.0 + connections),
        ];
        seen.add(Nanos::from_secs(second), Nanos::from_secs(second + 1), values);
    }
    seen
}

/// A run in which every text that comes from outside is hostile.
fn hostile(mut run: Summary) -> Summary {
    for seen in &mut run.edit_for_test().observed {
        seen.about = HOSTILE.to_owned();
        seen.series.iter_mut().filter_map(|series| series.of.as_mut()).for_each(|of| *of += HOSTILE);
    }
    for failure in &mut run.edit_for_test().failures {
        if let Some(example) = &mut failure.example {
            example.text = HOSTILE.to_owned();
        }
    }
    run.edit_for_test().warnings.push(HOSTILE.to_owned());
    let record = run.edit_for_test();
    for text in [
        &mut record.machine.loadline,
        &mut record.machine.system,
        &mut record.machine.processor,
        &mut record.started,
        &mut record.resolution.name,
    ] {
        *text = HOSTILE.to_owned();
    }
    run.edit_for_test().resolution.addresses = vec![HOSTILE.to_owned()];
    run.edit_for_test().quirks.iter_mut().for_each(|quirk| quirk.about = HOSTILE.to_owned());
    let mut plan = serde_json::to_value(&run.plan).expect("a plan is JSON");
    plan["header"] = serde_json::json!([format!("x-note: {}", HOSTILE.replace(['\u{2028}', '\u{202e}'], " "))]);
    plan["data"] = serde_json::json!(HOSTILE);
    plan["method"] = serde_json::json!("POST");
    run.edit_for_test().plan = serde_json::from_value::<Plan>(plan).expect("the plan is still valid");
    run.edit_for_test().profiles = fixture("a_server_that_was_profiled").profiles.clone();
    for profiled in &mut run.edit_for_test().profiles {
        profiled.asked = HOSTILE.to_owned();
        profiled.functions.iter_mut().for_each(|function| function.name += HOSTILE);
        profiled.frames.iter_mut().for_each(|frame| frame.name += HOSTILE);
    }
    run
}

/// Three rounds over a ladder, on a server with contention that begins to fail at its end.
fn climbed(name: &str) -> Sweep {
    let levels = [1u32, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
    let level = |users: u32| Level::Users(NonZeroU32::new(users).expect("levels are above 0"));
    let mut sweep = Sweep::new(name.to_owned(), "2026-01-02T03:04:05Z".to_owned(), levels.map(level).to_vec());
    let base = fixture("closed_all_well");
    let mut random = Random::new(3, 3);
    for repetition in 1..=3 {
        for users in levels {
            let n = f64::from(users);
            let qps = 4_200.0 * n / (1.0 + 0.085 * (n - 1.0) + 0.000_012 * n * (n - 1.0)) * 0.012f64.mul_add(random.unit() - 0.5, 1.0);
            let mut summary = base.clone();
            summary.edit_for_test().concurrency = users.into();
            summary.edit_for_test().response_time = times(2_000, n / qps * 1e3 * 0.9, 0.01, &mut random);
            summary.edit_for_test().qps = qps;
            summary.edit_for_test().requests.due = (qps * 10.0) as u64;
            let failed = if users >= 500 { summary.requests.due / 150 * u64::from(users) / 1_000 } else { 0 };
            summary.edit_for_test().requests.succeeded = summary.requests.due - failed;
            summary.edit_for_test().requests.failed = failed;
            summary.edit_for_test().qps_succeeded = qps * summary.requests.success_percent() / 100.0;
            if failed > 0 {
                let example = fixture("failures_of_every_side").failures.clone().into_iter().find(|it| it.class == Failure::RecvReset);
                summary.edit_for_test().failures = example.map(|it| measure::FailureCount { count: failed, ..it }).into_iter().collect();
            }
            summary.edit_for_test().observed = vec![seen_at(qps / 48_000.0, n)];
            sweep.trials.push(Trial { level: level(users), repetition, summary });
        }
    }
    sweep
}

/// A language model that reads 32 prompts at once: beyond them the first token comes later, and before them each user sees nearly the same.
fn streaming(name: &str, fast: f64) -> Sweep {
    let levels = [1u32, 2, 4, 8, 16, 32, 64, 128];
    let level = |users: u32| Level::Users(NonZeroU32::new(users).expect("levels are above 0"));
    let mut sweep = Sweep::new(name.to_owned(), "2026-01-02T03:04:05Z".to_owned(), levels.map(level).to_vec());
    let base = fixture("answers_that_streamed");
    let mut random = Random::new(4, 3);
    for repetition in 1..=3 {
        for users in levels {
            let n = f64::from(users);
            let noise = 0.01f64.mul_add(random.unit() - 0.5, 1.0);
            let (at_once, between) = (n.min(32.0), 15.0 / fast);
            let events_per_second = at_once * 0.94 * 1e3 / between * noise;
            let mut summary = base.clone();
            let record = summary.edit_for_test();
            record.concurrency = users.into();
            record.in_flight_mean = n;
            (record.qps, record.qps_succeeded) = (events_per_second / 40.0, events_per_second / 40.0);
            let waits = 40.0 * between * (n / 32.0 - 1.0).max(0.0);
            record.response_time = times(400, waits + 41.0 * between, 0.05, &mut random);
            record.response_time_succeeded = record.response_time.clone();
            if let Some(streams) = &mut record.streams {
                streams.events_per_second = events_per_second;
                streams.first_event = times(400, waits + 60.0 + n / 4.0, 0.1, &mut random);
                streams.between_events = times(4_000, between * (1.0 + at_once / 200.0), 0.05, &mut random);
            }
            sweep.trials.push(Trial { level: level(users), repetition, summary });
        }
    }
    sweep
}

/// Two runs of a ladder with profiles: at the higher load more is spent on formatting, and less on cleaning up.
fn profiled(sweep: &Sweep) -> Vec<Trial> {
    let at = |users: f64| sweep.trials.iter().find(|trial| trial.level.value() == users).cloned();
    let mut trials: Vec<Trial> = [at(2.0), at(10.0)].into_iter().flatten().collect();
    let mut profiles = grown().into_iter();
    trials.iter_mut().for_each(|trial| trial.summary.edit_for_test().profiles = profiles.next().unwrap_or_default());
    trials
}

/// Profiles of two runs: in the second more is spent on formatting.
fn grown() -> [Vec<RunProfile>; 2] {
    let after = fixture("a_server_that_was_profiled").profiles.clone();
    let mut before = after.clone();
    if let Some(low) = before.first_mut() {
        let by = |name: &str| if name.contains("json") || name.contains("dump") { 0.5 } else { 0.9 };
        low.functions.iter_mut().for_each(|it| (it.flat, it.cum) = (it.flat / 2, (it.cum as f64 * by(&it.name)) as i64));
        low.frames.iter_mut().for_each(|it| it.cum = (it.cum as f64 * by(&it.name)) as i64);
    }
    [before, after]
}

fn faster(mut sweep: Sweep) -> Sweep {
    for trial in &mut sweep.trials {
        let factor = 1.0 + 0.18 * (trial.level.value() / 1_000.0).sqrt();
        trial.summary.edit_for_test().qps *= factor;
        trial.summary.edit_for_test().qps_succeeded *= factor;
        let mut shorter = Histogram::new();
        trial.summary.response_time.recorded().for_each(|(time, count)| shorter.record_many(Nanos((time.0 as f64 / factor) as u64), count));
        trial.summary.edit_for_test().response_time = shorter;
    }
    sweep
}

/// A search on a server that carries some 800 a second.
fn searched(name: &str, random: &mut Random) -> CapacityReport {
    let slos: Vec<Slo> = ["failed < 0.1%", "p99 < 50ms"]
        .map(|text| Slo::try_from(text.parse::<Check>().expect("checks are valid")).expect("promises are checks"))
        .to_vec();
    let settings = Settings::new(slos.iter().map(Slo::promise).collect(), 1e5, 1);
    let mut search = Search::new(settings.clone()).expect("the settings are sound");
    let mut found = CapacityReport::new(name.to_owned(), &slos, settings, search.answer());
    "2026-01-02T03:04:05Z".clone_into(&mut found.started);
    loop {
        let (rate, seconds) = match search.next() {
            Step::Rest { .. } => {
                search.rested(Pause { seconds: 1.0, recovered: true });
                continue;
            }
            Step::Trial { rate, seconds, .. } => (rate, seconds),
            Step::Done(_) => break,
        };
        let run = offered(rate, seconds, random);
        let (result, doubt) = learnt(&slos, &run, seconds + 0.2, None);
        search.learn(TrialResult { seconds, elapsed_s: seconds + 0.2, standing: Standing::Valid, ..result });
        found.trials.push(CapacityTrial::new(search.trials().last().expect("one was just learnt"), doubt, run));
    }
    found.answer = search.answer();
    let rate = found.answer.carries.unwrap_or(100.0);
    for (rate, profiles) in [rate / 5.0, rate].into_iter().zip(grown()) {
        let level = Level::Offered(Rate::per_second(rate).expect("it is a rate"));
        let mut summary = offered(rate, 10.0, random);
        summary.edit_for_test().profiles = profiles;
        found.profiled.push(Trial { level, repetition: 1, summary });
    }
    if name == HOSTILE {
        found.profiled.iter_mut().for_each(|trial| trial.summary = hostile(trial.summary.clone()));
        found.trials.iter_mut().for_each(|trial| trial.summary = hostile(trial.summary.clone()));
        found.stopped = Some(StopReason::cut_short(HOSTILE));
        if let Some(trial) = found.trials.first_mut() {
            trial.doubt = Some(HOSTILE.to_owned());
            trial.result.standing = Standing::Invalid;
        }
    }
    found
}

/// A queue that grows without end beyond 820 a second.
fn offered(rate: f64, seconds: f64, random: &mut Random) -> Summary {
    let mut run = fixture("open_with_a_stall");
    let busy = rate / 820.0;
    let median = if busy < 1.0 { 4.0 / (1.0 - busy.powi(6)).max(0.04) } else { 120.0 * busy };
    let due = (rate * seconds).max(1.0) as u64;
    let samples = due.min(4_000);
    let mut all = Histogram::new();
    times(samples, median, 0.004, random).recorded().for_each(|(time, count)| all.record_many(time, count * (due / samples).max(1)));
    let due = all.count();
    run.edit_for_test().qps = rate.min(860.0);
    run.edit_for_test().qps_succeeded = run.qps;
    run.edit_for_test().qps_offered = Some(rate);
    run.edit_for_test().duration_s = due as f64 / rate;
    run.edit_for_test().requests = measure::Requests { due, succeeded: due, failed: 0, unsent: 0 };
    run.edit_for_test().status = [(201, due)].into();
    run.edit_for_test().failures.clear();
    run.edit_for_test().generator.cpu_share_busiest = 0.12;
    let record = run.edit_for_test();
    (record.response_time, record.response_time_succeeded, record.service_time) = (all.clone(), all.clone(), all);
    run.edit_for_test().timeline.clear();
    run.edit_for_test().observed = vec![seen_at((rate / 860.0).min(1.0), rate / 40.0)];
    run
}

/// Pairs in which B's tail is longer by a factor.
fn compared(a: &str, b: &str, tail: f64, pairs: u32, random: &mut Random) -> Result<Comparison, String> {
    let subject = |name: &str| Subject { name: name.to_owned(), command: None };
    let name = if a == HOSTILE { HOSTILE } else { "old_new" };
    let mut compared = Comparison::new(name.to_owned(), subject(a), subject(b), pairs, Margins::default(), None);
    for number in 0..pairs {
        let drift = 1.0 + 0.02 * f64::from(number % 4);
        let mut side = |tail: f64| {
            let mut run = lively(12, random);
            run.edit_for_test().requests = measure::Requests { succeeded: run.requests.due, failed: 0, ..run.requests };
            run.edit_for_test().failures.clear();
            let mut all = Histogram::new();
            let mut ticks = Vec::new();
            for tick in &run.timeline {
                let mut slower = Histogram::new();
                for _ in 0..tick.due {
                    let normal = analysis::simulated::normal(random);
                    let stretch = if normal > 1.3 { tail } else { 1.0 };
                    slower.record(Nanos((4e6 * drift * stretch * (0.4 * normal).exp()) as u64));
                }
                all.add(&slower);
                ticks.push(Tick { response_time: slower.pack(), ..tick.clone() });
            }
            run.edit_for_test().timeline = ticks;
            run.edit_for_test().in_flight_mean = under_way(&all, run.duration_s);
            let record = run.edit_for_test();
            (record.response_time, record.response_time_succeeded, record.service_time) = (all.clone(), all.clone(), all);
            run.edit_for_test().observed = vec![seen_at(0.5 * tail, 40.0)];
            if a == HOSTILE { hostile(run) } else { run }
        };
        let (one, other) = (side(1.0), side(tail));
        compared.pairs.push(Pair::new(if number % 2 == 0 { Side::A } else { Side::B }, one, other));
    }
    for (side, profiles) in [Side::A, Side::B].into_iter().zip(grown()) {
        let mut summary = lively(12, random);
        summary.edit_for_test().profiles = profiles;
        let summary = if a == HOSTILE { hostile(summary) } else { summary };
        compared.profiled.push(ProfiledSide { side, summary });
    }
    if a == HOSTILE {
        compared.differences.push(HOSTILE.to_owned());
        compared.stopped = Some(HOSTILE.to_owned());
        compared.pairs[0].left_out = Some(HOSTILE.to_owned());
    }
    compared.judge();
    Ok(compared)
}
