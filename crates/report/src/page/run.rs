//! The page of one run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use analysis::bottleneck::Kind as Bottleneck;
use analysis::quantity::{self, NONE, bytes, count, counted, nanos, percent, share, time};
use analysis::server_side::{Now, ServerSide};
use analysis::{Reading, Standing, What, capitalised, disturbances, processor_share_is_known};
use measure::{Failure, Histogram, QUANTILES, RowKind, RowsSoFar, Summary, Tick};
use plan::Plan;
use serde::Serialize;

use super::profiled::{self, Flame, SECTIONS};
use super::times::{Times, times};
use super::watched::{self, ChartSeries};
use super::{Answer, Badge, Figure, Kind, Question, RenderedPage, SCHEMA, Table, Tone, View, written};
use super::{checks, events};
use crate::machines::{first_of_machines, other_machines};
use crate::text::{UNSENT, began, connections, cores_used, lateness, measured_on, side_named};
use crate::visible::{excerpt, visible};
use crate::{Format, Style, journeys, story, websockets, wire};
use measure::reason;

/// A page for a browser.
pub const FORMAT: Format = Format {
    name: "html",
    about: "one page with charts for a browser: opens offline, to look into and to send on",
    extension: "html",
    render,
};

/// Of an example, this much is shown.
const EXAMPLE_LETTERS_MAX: usize = 400;

fn render(reading: &Reading<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(&run(reading).document())
}

/// The page of a run.
#[must_use]
pub fn run(reading: &Reading<'_>) -> RenderedPage {
    let mut text = Vec::new();
    (crate::text::FORMAT.render)(reading, &Style::PLAIN, &mut text).expect("memory takes every byte");
    written(view(reading, String::from_utf8_lossy(&text).into_owned()))
}

/// The page of a run that begins: nothing is measured yet, and its charts are filled tick by tick.
#[must_use]
pub fn begun(plan: &Plan) -> RenderedPage {
    let open = plan.load().is_open();
    written(View {
        schema: SCHEMA,
        kind: Kind::Run,
        title: story::request_of(plan),
        about: vec![super::finished(&story::load_of(plan))],
        standing: None,
        answers: Vec::new(),
        remarks: Vec::new(),
        figures: Vec::new(),
        tables: Vec::new(),
        text: String::new(),
        measured_by: String::new(),
        data: Data {
            load: if open { "open" } else { "closed" },
            started: String::new(),
            duration_s: Duration::from(plan.duration().unwrap_or_default()).as_secs_f64(),
            offered_qps: None,
            load_until_ns: if plan.duration().is_some() { plan.end().0 } else { 0 },
            threads: plan.threads().get(),
            timeline: Timeline { streams: plan.stream().map(|_| Vec::new()), ..Timeline::default() },
            times: Vec::new(),
            observed: Vec::new(),
            profiles: Vec::new(),
        },
    })
}

/// The rows of a load under way so far, a table for each kind, as JSON; `None` where there are none.
#[must_use]
pub fn rows_so_far(rows: &RowsSoFar) -> Option<String> {
    let table = |kind: RowKind| {
        let cells: Vec<Vec<String>> = rows
            .of(kind)
            .map(|row| vec![visible(&row.name), count(row.begun), count(row.bad), row.mean.map_or_else(|| NONE.to_owned(), time)])
            .collect();
        let (begun, took) = if kind.is_of_several() { ("#started", "#time") } else { ("#requests", "#latency") };
        let (anchor, title) = journeys::titled(kind);
        (!cells.is_empty()).then(|| Table::new(anchor, title, &[kind.name(), begun, "#failed", took], cells))
    };
    let tables: Vec<Table> = RowKind::ALL.into_iter().filter_map(table).collect();
    (!tables.is_empty()).then(|| serde_json::to_string(&tables).expect("text can be written"))
}

/// One interval for a page that fills: the keys of a tick in a result, without the histogram behind its percentiles, and what the server
/// did then, if it is watched.
#[must_use]
pub fn tick(tick: &Tick, server: Option<&Now>) -> String {
    let times = &tick.response_time;
    let quantiles: BTreeMap<&str, Option<u64>> =
        [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99)].map(|(name, q)| (name, times.known_quantile(q).map(|time| time.0))).into();
    let failures: BTreeMap<&str, u64> = tick.failures.iter().map(|(class, count)| (class.code(), *count)).collect();
    let mut written = serde_json::json!({
        "from_ns": tick.from.0, "to_ns": tick.to.0, "warmup": tick.warmup,
        "answered": tick.answered, "due": tick.due, "succeeded": tick.succeeded, "failed": tick.failed, "failures": failures,
        "unsent": tick.unsent, "bytes_sent": tick.bytes_sent, "bytes_received": tick.bytes_received,
        "in_flight": tick.in_flight, "connections": tick.connections, "cpu_ns": tick.cpu.0, "lag_max_ns": tick.lag_max.0,
        "response_time": { "mean_ns": times.mean().map(f64::round), "max_ns": times.max().map(|max| max.0), "quantiles": quantiles },
    });
    if let Some(journeys) = &tick.journeys {
        written["journeys"] = serde_json::json!(journeys);
    }
    if let Some(interval) = events::Interval::of(tick) {
        written["streams"] = serde_json::json!(interval);
    }
    if let Some(server) = server {
        written["server"] = serde_json::json!({
            "cpu": server.cpu, "busiest_thread": server.busiest_thread, "machine_cpu": server.machine_cpu, "told": server.told(),
        });
    }
    written.to_string()
}

/// What the charts of a run draw.
#[derive(Debug, Serialize)]
struct Data {
    load: &'static str,
    started: String,
    duration_s: f64,
    offered_qps: Option<f64>,
    load_until_ns: u64,
    threads: u32,
    timeline: Timeline,
    times: Vec<Times>,
    observed: Vec<ChartSeries>,
    profiles: Vec<Flame>,
}

/// The ticks, a list for each of their keys: an hour of them is a third the size, and charts want lists.
#[derive(Debug, Default, Serialize)]
pub(super) struct Timeline {
    from_ns: Vec<u64>,
    to_ns: Vec<u64>,
    warmup: Vec<bool>,
    answered: Vec<u64>,
    due: Vec<u64>,
    succeeded: Vec<u64>,
    failed: Vec<u64>,
    /// By the code of the class; of all ticks for every class that occurred.
    failures: BTreeMap<&'static str, Vec<u64>>,
    unsent: Vec<u64>,
    bytes_sent: Vec<u64>,
    bytes_received: Vec<u64>,
    in_flight: Vec<u64>,
    connections: Vec<u64>,
    cpu_ns: Vec<u64>,
    lag_max_ns: Vec<u64>,
    mean_ns: Vec<Option<u64>>,
    p50_ns: Vec<Option<u64>>,
    p90_ns: Vec<Option<u64>>,
    p99_ns: Vec<Option<u64>>,
    max_ns: Vec<Option<u64>>,
    /// Of a run whose answers streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<Vec<events::Interval>>,
}

impl Timeline {
    /// The intervals in which load was offered.
    pub(super) fn of(summary: &Summary) -> Self {
        let mut all = Self::default();
        let ticks: Vec<&Tick> = summary.load_ticks().collect();
        let classes: BTreeSet<Failure> = ticks.iter().flat_map(|tick| tick.failures.keys().copied()).collect();
        for class in classes {
            let counts = ticks.iter().map(|tick| tick.failures.get(&class).copied().unwrap_or(0)).collect();
            all.failures.insert(class.code(), counts);
        }
        if summary.streams.is_some() {
            all.streams = Some(ticks.iter().map(|tick| events::Interval::of(tick).unwrap_or_default()).collect());
        }
        for tick in ticks {
            let times = &tick.response_time;
            let quantile = |q| times.known_quantile(q).map(|time| time.0);
            all.from_ns.push(tick.from.0);
            all.to_ns.push(tick.to.0);
            all.warmup.push(tick.warmup);
            all.answered.push(tick.answered);
            all.due.push(tick.due);
            all.succeeded.push(tick.succeeded);
            all.failed.push(tick.failed);
            all.unsent.push(tick.unsent);
            all.bytes_sent.push(tick.bytes_sent);
            all.bytes_received.push(tick.bytes_received);
            all.in_flight.push(tick.in_flight);
            all.connections.push(tick.connections);
            all.cpu_ns.push(tick.cpu.0);
            all.lag_max_ns.push(tick.lag_max.0);
            all.mean_ns.push(times.mean().map(|mean| mean.round() as u64));
            all.p50_ns.push(quantile(0.5));
            all.p90_ns.push(quantile(0.9));
            all.p99_ns.push(quantile(0.99));
            all.max_ns.push(times.max().map(|max| max.0));
        }
        all
    }
}

fn view(reading: &Reading<'_>, text: String) -> View<Data> {
    let summary = reading.run;
    let mut about = story::load(summary);
    if let Some(ending) = story::ending(reading) {
        about.insert(0, format!("{ending}."));
    }
    let open = summary.plan.load().is_open();
    View {
        schema: SCHEMA,
        kind: Kind::Run,
        title: story::requests_of(summary),
        about,
        standing: standing(reading),
        answers: answers(reading),
        remarks: remarks(reading),
        figures: figures(reading),
        tables: tables(reading),
        text,
        measured_by: measured_by(summary),
        data: Data {
            load: if open { "open" } else { "closed" },
            started: visible(&summary.started),
            duration_s: summary.duration_s,
            offered_qps: summary.qps_offered,
            load_until_ns: summary.ended.load_until.0,
            threads: summary.generator.threads,
            timeline: Timeline::of(summary),
            times: [("response time", &summary.response_time), ("service time", &summary.service_time)]
                .into_iter()
                .take(if summary.measured_by.is_some() { 1 } else { 2 })
                .filter(|(_, histogram)| !histogram.is_empty())
                .map(|(name, histogram)| times(name, histogram))
                .collect(),
            observed: watched::courses(summary, &reading.bottleneck),
            profiles: summary.profiles.iter().zip(SECTIONS).map(|(it, section)| Flame::of(section, summary, it)).collect(),
        },
    }
}

/// The standing, as it stands out on every page.
pub(super) fn mark(standing: Standing, why: String) -> Badge {
    let (tone, why) = match standing {
        Standing::Valid => (Tone::Good, "loadline was not the limit".to_owned()),
        Standing::Degraded => (Tone::Caution, why),
        Standing::Invalid => (Tone::Bad, format!("do not use these figures: {why}")),
    };
    Badge { word: standing.to_string(), tone, why }
}

fn standing(reading: &Reading<'_>) -> Option<Badge> {
    (reading.run.requests.due > 0 && reading.run.measured_by.is_none()).then(|| mark(reading.validity.standing, reading.validity.why()))
}

fn answers(reading: &Reading<'_>) -> Vec<Answer> {
    let summary = reading.run;
    let requests = &summary.requests;
    let carries_tone = if requests.due > 0 && requests.succeeded == 0 { Tone::Bad } else { Tone::Plain };
    let carries = Answer::measured(Question::Carries, story::answer(reading), "qps").toned(carries_tone);
    let knee = Answer::not_measured(Question::Knee, "One load alone does not show the knee; loadline sweep climbs through many");
    checks::answer(&reading.checks, reading.against.as_ref()).into_iter().chain([carries, knee, steady(reading), limits(reading)]).collect()
}

fn steady(reading: &Reading<'_>) -> Answer {
    if let Some((first, others)) = reading.changes().split_first() {
        let more = match others.len() {
            0 => String::new(),
            1 => "; one more remark is below".to_owned(),
            more => format!("; {more} more remarks are below"),
        };
        return Answer::measured(Question::Steady, format!("{first}{more}"), "response").toned(Tone::Caution);
    }
    match &reading.stability {
        Some(stability) if stability.p50.is_some() || stability.throughput.is_some() => {
            Answer::measured(Question::Steady, "Nothing changed while it ran: neither times nor throughput drifted or jumped", "response")
        }
        Some(_) => Answer::not_measured(Question::Steady, "The run is too short to tell whether anything changed while it ran"),
        None if reading.run.measured_by.is_some() => {
            Answer::not_measured(Question::Steady, "What changed cannot be told apart from the load, whose course is not known")
        }
        None => Answer::not_measured(Question::Steady, "What changed cannot be told apart from the load, which changed by plan"),
    }
}

fn limits(reading: &Reading<'_>) -> Answer {
    let summary = reading.run;
    // As the headline counts them.
    let failed = summary.requests.failed + summary.requests.unsent;
    let named = reading.bottleneck.first().is_some_and(analysis::bottleneck::Finding::is_named);
    // That nothing was let in, nobody was there or requests were turned away is so however late it was asked.
    let told = |kind: Bottleneck| {
        matches!(kind, Bottleneck::Refused | Bottleneck::Ended | Bottleneck::Silent | Bottleneck::RateLimit | Bottleneck::Overload)
    };
    let refused = reading.bottleneck.first().is_some_and(|first| told(first.kind));
    if let Some(answer) = super::limits::answer(&reading.bottleneck)
        && (reading.validity.standing != Standing::Invalid || refused)
        && (named || (reading.validity.standing == Standing::Valid && failed == 0))
    {
        return answer;
    }
    let (answer, tone) = match (reading.validity.standing, failed) {
        (standing @ (Standing::Invalid | Standing::Degraded), _) => {
            let tone = if standing == Standing::Invalid { Tone::Bad } else { Tone::Caution };
            let why = reading.validity.why();
            // Programs of neither side are not the load generator.
            let others = reading.validity.causes.iter().filter(|cause| cause.standing == standing);
            let said = if others.clone().next().is_some()
                && others.clone().all(|cause| matches!(cause.what, What::Others { .. } | What::Steal { .. }))
            {
                format!("This machine was not quiet while it was measured: {why}")
            } else {
                format!("The load generator had its part: {why}")
            };
            return Answer::measured(Question::Limits, said, "health").toned(tone);
        }
        (_, 1..) => {
            let said = format!("{} failed: {}; {}", counted(failed, "request"), story::causes(summary), first_look(summary));
            return Answer::measured(Question::Limits, said, "failures").toned(Tone::Bad);
        }
        _ if summary.requests.due == 0 => ("Nothing was measured".to_owned(), Tone::Plain),
        _ => {
            if let Some(unknown) = story::limit_unknown(summary) {
                return Answer::not_measured(Question::Limits, &capitalised(&unknown));
            }
            let busiest = if processor_share_is_known(summary) {
                format!(" (its busiest thread used {:.0} % of a core)", summary.generator.cpu_share_busiest * 100.0)
            } else {
                String::new()
            };
            (format!("The load generator was not the limit{busiest}; {}", server_in_short(summary)), Tone::Plain)
        }
    };
    Answer::measured(Question::Limits, answer, "health").toned(tone)
}

/// Where to look first where requests failed, in half a sentence.
fn first_look(summary: &Summary) -> String {
    match summary.failures.first().filter(|most| most.count >= summary.requests.unsent) {
        Some(most) => format!("the side to look at is {}", side_named(most.side)),
        None => "the side to look at is the server, or --connections".to_owned(),
    }
}

/// What the server used, in half a sentence.
fn server_in_short(summary: &Summary) -> String {
    let Some((side, used)) = ServerSide::of_processes(summary).and_then(|side| Some((side, side.cpu()?))) else {
        return "the server's own processor was not observed".to_owned();
    };
    let cores = side.seen.cores.map_or_else(|| " cores".to_owned(), |cores| format!(" of {}", counted(cores.into(), "core")));
    let busiest = side
        .busiest_thread()
        .map_or_else(String::new, |(name, share)| format!(", its busiest thread, {name}, {:.0} % of one", share * 100.0));
    format!("the server used {}{cores}{busiest}", quantity::decimal(used, 2))
}

fn remarks(reading: &Reading<'_>) -> Vec<String> {
    let summary = reading.run;
    let mut said = reading.noticed();
    said.extend(disturbances(&reading.validity));
    said.extend(summary.quirks.iter().map(|quirk| format!("{} {}", count(quirk.count), visible(&quirk.about))));
    if summary.requests.unsent > 0 {
        said.push(format!("{} never sent: {UNSENT}", counted(summary.requests.unsent, "request")));
    }
    if let Some(law) = reading.littles_law.as_ref().filter(|law| !law.holds) {
        said.push(format!(
            "Little's law does not hold: {} in flight by count, {} by rate and service time. Requests or times were lost: do not trust them",
            story::rate(law.in_flight),
            story::rate(law.expected)
        ));
    }
    said.extend(summary.warnings.iter().map(|warning| visible(warning)));
    said.iter().map(|remark| super::finished(remark)).collect()
}

fn figures(reading: &Reading<'_>) -> Vec<Figure> {
    let summary = reading.run;
    let at = |q: f64| story::quantile(reading, &summary.response_time, q);
    let sure = |q: f64| match story::plus_minus(reading, q) {
        none if none == NONE => "response time".to_owned(),
        known => format!("± {known}"),
    };
    let offered =
        summary.qps_offered.map_or_else(|| "requests a second".to_owned(), |rate| format!("of {} a second asked for", story::rate(rate)));
    let requests = &summary.requests;
    let bad = requests.failed + requests.unsent;
    let mut figures = vec![
        Figure::new("QPS", story::rate(summary.qps), offered),
        Figure::new("p50", at(0.5), sure(0.5)),
        Figure::new("p99", at(0.99), sure(0.99)),
        Figure::new("max", nanos(summary.response_time.max()), "response time"),
        Figure::new(
            "succeeded",
            format!("{} %", percent(requests.success_percent())),
            if bad == 0 { format!("all of {}", count(requests.due)) } else { format!("{} of {} did not", count(bad), count(requests.due)) },
        ),
        Figure::new("in flight", story::rate(summary.in_flight_mean), "on average"),
    ];
    figures.extend(events::figures(summary));
    figures
}

fn measured_by(summary: &Summary) -> String {
    format!("{}; {}", measured_on(summary), began(summary))
}

/// The figures of this run beside those of a saved one.
fn against(reading: &Reading<'_>) -> Option<Table> {
    let ruling = reading.against.as_ref()?;
    let rows =
        ruling.rows.iter().map(|row| vec![row.figure.to_owned(), row.before.clone(), row.now.clone(), row.change(), row.word().to_owned()]);
    let title = format!("Against {}", visible(&ruling.reference));
    Some(Table::new(checks::AGAINST, &title, &["figure", "#saved", "#now", "change", "verdict"], rows.collect()))
}

fn tables(reading: &Reading<'_>) -> Vec<Table> {
    let summary = reading.run;
    let mut tables: Vec<Table> = checks::table(&reading.checks).into_iter().collect();
    tables.extend(against(reading));
    tables.push(percentiles(reading));
    tables.extend(rows(summary));
    tables.extend(statuses(summary));
    tables.extend(failures(summary));
    tables.extend(replayed(summary));
    tables.extend(super::limits::table(&reading.bottleneck));
    tables.extend(watched::told(summary));
    tables.extend(summary.profiles.iter().zip(SECTIONS).map(|(it, section)| profiled::table(section, summary, it)));
    tables.extend(phases(summary));
    tables.extend(events::table(summary));
    tables.push(account(reading));
    if summary.measured_by.is_none() {
        tables.extend([plan(summary), machine(summary)]);
    }
    tables
}

/// The rows of a scenario, or of the URLs of a list.
fn rows(summary: &Summary) -> Vec<Table> {
    let broken = journeys::broken(journeys::counted(summary));
    let table = |rows: journeys::Rows| {
        // Heads of figures begin with #.
        let (anchor, title) = match (rows.kind, &summary.measured_by) {
            (RowKind::Url, Some(_)) => ("urls", "Labels"),
            (kind, _) => journeys::titled(kind),
        };
        let heads: Vec<String> =
            rows.heads.iter().enumerate().map(|(place, head)| if place == 0 { (*head).to_owned() } else { format!("#{head}") }).collect();
        let table = Table::new(anchor, title, &heads.iter().map(String::as_str).collect::<Vec<_>>(), rows.cells);
        match (rows.kind, &summary.scenario) {
            (RowKind::Journey, Some(scenario)) => {
                table.noted(format!("{}. {}", journeys::transactions(scenario, summary.qps), rows.legend))
            }
            (RowKind::Step | RowKind::Url, _) if !broken.is_empty() => table.noted(format!("Checks broken: {}.", broken.join("; "))),
            _ if rows.legend.is_empty() => table,
            _ => table.noted(rows.legend.to_owned()),
        }
    };
    journeys::Rows::all(summary).into_iter().map(table).collect()
}

/// Quantiles of the times that users and servers have.
fn percentiles(reading: &Reading<'_>) -> Table {
    let summary = reading.run;
    let mut heads = vec!["".to_owned(), "#mean".to_owned(), "#sd".to_owned(), "#min".to_owned()];
    heads.extend(QUANTILES.iter().map(|q| format!("#{}", quantity::quantile(*q))));
    heads.push("#max".to_owned());
    let row = |name: &str, times: &Histogram, quantile: &dyn Fn(f64) -> String| {
        let mut cells = vec![name.to_owned(), times.mean().map_or_else(|| NONE.to_owned(), time)];
        cells.push(times.stdev().map_or_else(|| NONE.to_owned(), time));
        cells.push(nanos(times.min()));
        cells.extend(QUANTILES.iter().map(|q| quantile(*q)));
        cells.push(nanos(times.max()));
        cells
    };
    let of = |times: &Histogram, q: f64| nanos(times.known_quantile(q));
    let mut rows = vec![row("response time", &summary.response_time, &|q| story::quantile(reading, &summary.response_time, q))];
    if QUANTILES.iter().any(|q| story::plus_minus(reading, *q) != NONE) {
        let mut cells = vec!["± (95 %)".to_owned(), String::new(), String::new(), String::new()];
        cells.extend(QUANTILES.iter().map(|q| story::plus_minus(reading, *q)));
        cells.push(String::new());
        rows.push(cells);
    }
    let well = &summary.response_time_succeeded;
    if !well.is_empty() && well.count() < summary.response_time.count() {
        rows.push(row("of successes", well, &|q| of(well, q)));
    }
    if summary.measured_by.is_none() {
        rows.push(row("service time", &summary.service_time, &|q| of(&summary.service_time, q)));
        if summary.plan.load().is_open() {
            rows.push(row("wait", &summary.wait, &|q| of(&summary.wait, q)));
        }
        rows.push(row("lag", &summary.lag, &|q| of(&summary.lag, q)));
    }
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let missing = story::missing(reading, &QUANTILES).map_or_else(String::new, |said| format!(" {}", super::finished(&said)));
    let table = Table::new("percentiles", "Times by percentile", &heads, rows);
    if let Some(tool) = &summary.measured_by {
        return table.noted(format!(
            "Response time is from when {} sent the request to the last byte of its answer, in whole milliseconds.{missing}",
            visible(tool)
        ));
    }
    table.noted(format!(
        "Response time is what users feel: from the moment a request was due to the last byte of its answer. Service time is what the \
         server took once it was asked, wait the time until a connection was free, lag what loadline added. ± is what chance within this \
         run leaves open.{missing}"
    ))
}

fn statuses(summary: &Summary) -> Option<Table> {
    let answered: u64 = summary.status.values().sum();
    let row =
        |(status, number): (&u16, &u64)| vec![status.to_string(), reason(*status).to_owned(), count(*number), share(*number, answered)];
    let rows: Vec<Vec<String>> = summary.status.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table::new("status", "Answers by status", &["status", "meaning", "#answers", "#share"], rows))
}

fn failures(summary: &Summary) -> Option<Table> {
    let due = summary.requests.due;
    let row = |failure: &measure::FailureCount| {
        let example = failure.example.as_ref().map_or_else(String::new, |example| {
            format!("after {}: {}", quantity::length(example.at), excerpt(&example.text, EXAMPLE_LETTERS_MAX))
        });
        vec![
            count(failure.count),
            share(failure.count, due),
            side_named(failure.side).to_owned(),
            format!("{} ({})", failure.class.about(), failure.class.code()),
            example,
            story::remedy(summary, failure.class).unwrap_or_default(),
        ]
    };
    let mut rows: Vec<Vec<String>> = summary.failures.iter().map(row).collect();
    if summary.requests.unsent > 0 {
        rows.push(vec![
            count(summary.requests.unsent),
            share(summary.requests.unsent, due),
            String::new(),
            "never sent (unsent)".to_owned(),
            String::new(),
            UNSENT.to_owned(),
        ]);
    }
    let heads = ["#requests", "#share", "side", "what happened", "first", "fix"];
    (!rows.is_empty()).then(|| Table::new("failed", "What failed", &heads, rows))
}

/// What the requests of a replay were answered, beside what the log says.
fn replayed(summary: &Summary) -> Option<Table> {
    let replayed = summary.replayed.as_ref()?;
    let rows: Vec<Vec<String>> = replayed
        .by_route
        .iter()
        .map(|row| {
            let changes = row.changes.iter().map(|it| {
                format!("{} → {}: {}", it.logged, it.answered.map_or_else(|| "no answer".to_owned(), |it| it.to_string()), count(it.count))
            });
            let changes: Vec<String> = changes.collect();
            vec![
                visible(format!("{} {}", row.method, row.route).trim()),
                count(row.compared),
                count(row.compared - row.same),
                if changes.is_empty() { "as logged".to_owned() } else { changes.join(", ") },
            ]
        })
        .collect();
    let heads = ["route", "#requests", "#different", "logged → answered"];
    let left = match replayed.routes_left_out {
        0 => String::new(),
        more => format!(" {} more are not listed.", counted(more, "route")),
    };
    (!rows.is_empty()).then(|| {
        Table::new("replayed", "Answers beside the log's", &heads, rows).noted(format!(
            "A whole answer (200) in the place of one that headers of the log's request had left out or cut (304, 206) counts as logged.{left}"
        ))
    })
}

/// How requests came to their first byte; `None` where that is not known.
fn phases(summary: &Summary) -> Option<Table> {
    let row = |name: &str, times: &Histogram| {
        vec![
            name.to_owned(),
            times.mean().map_or_else(|| NONE.to_owned(), time),
            nanos(times.known_quantile(0.5)),
            nanos(times.known_quantile(0.99)),
            nanos(times.max()),
            count(times.count()),
        ]
    };
    let heads = ["", "#mean", "#50 %", "#99 %", "#max", "#count"];
    let first_byte = row("first byte (TTFB)", &summary.ttfb);
    if summary.measured_by.is_some() {
        return (!summary.ttfb.is_empty()).then(|| Table::new("connecting", "First byte", &heads, vec![first_byte]));
    }
    let mut rows = vec![first_byte, row("connect", &summary.connect)];
    if wire::has_handshakes(summary) {
        rows.push(row("TLS handshake", &summary.tls));
    }
    if let Some(websockets) = &summary.websockets {
        rows.push(row("WebSocket handshake", &websockets.handshake));
        if !websockets.between_messages.is_empty() {
            rows.push(row("between messages", &websockets.between_messages));
        }
    }
    let lookup =
        summary.resolution.took.map_or_else(String::new, |took| format!("Name lookup: {}, once before the load. ", nanos(Some(took))));
    let unasked = websockets::unasked(summary).map(|unasked| format!(" Unasked: {unasked}."));
    let at_once = summary.timeline.iter().map(|tick| tick.connections).max().unwrap_or(summary.concurrency);
    let note = format!("{lookup}{}; {} open at once at most.{}", connections(summary), count(at_once), unasked.unwrap_or_default());
    Some(Table::new("connecting", "Connecting", &heads, rows).noted(note))
}

fn account(reading: &Reading<'_>) -> Table {
    let summary = reading.run;
    let requests = &summary.requests;
    let pair = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        pair("due", count(requests.due)),
        pair("succeeded", count(requests.succeeded)),
        pair("failed", count(requests.failed)),
        pair("unsent", count(requests.unsent)),
        pair("received", bytes(summary.bytes.received as f64)),
        pair("sent", bytes(summary.bytes.sent as f64)),
    ];
    if summary.redirects > 0 {
        rows.push(pair("redirects followed", count(summary.redirects)));
    }
    if summary.plan.compressed() {
        let packed = &summary.packed;
        rows.push(pair("answers packed", count(packed.answers())));
        rows.extend(
            packed.by_packing().filter(|(_, answers)| *answers > 0).map(|(name, answers)| pair(&format!("packed: {name}"), count(answers))),
        );
        rows.extend(wire::unpacked(packed).map(|said| pair("unpacked", said)));
    }
    if summary.plan.expects_continue() {
        let came = &summary.awaited;
        rows.push(pair("bodies sent after 100 Continue", count(came.continued)));
        rows.push(pair("bodies sent after 1 s without it", count(came.ran_out)));
        rows.push(pair("bodies not sent: answered first", count(came.answered_first)));
    }
    if summary.excluded.duration_s > 0.0 {
        rows.push(pair(
            "warm-up, left out",
            format!("{:.1} s, {}", summary.excluded.duration_s, counted(summary.excluded.requests, "request")),
        ));
    }
    if let Some(law) = &reading.littles_law {
        rows.push(pair(
            "Little's law",
            format!(
                "{}: {} in flight by count, {} by rate and service time",
                if law.holds { "holds" } else { "does not hold" },
                story::rate(law.in_flight),
                story::rate(law.expected)
            ),
        ));
    }
    Table::new("account", "Account", &["", "#requests and bytes"], rows)
        .noted("Every request that fell due succeeded, failed or was never sent.")
}

/// The plan, key by key, as the result holds it: what was not set is not shown.
fn plan(summary: &Summary) -> Table {
    let mut rows = Vec::new();
    if let Ok(serde_json::Value::Object(keys)) = serde_json::to_value(&summary.plan) {
        for (key, value) in keys {
            let shown = match value {
                serde_json::Value::Null => continue,
                serde_json::Value::Array(items) if items.is_empty() => continue,
                serde_json::Value::Bool(false) => continue,
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            rows.push(vec![key, excerpt(&shown, EXAMPLE_LETTERS_MAX)]);
        }
    }
    Table::new("plan", "Plan", &["setting", "value"], rows)
}

fn machine(summary: &Summary) -> Table {
    let (machine, generator) = (&summary.machine, &summary.generator);
    let pair = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        pair("processor", format!("{}, {}", visible(&machine.processor), counted(machine.cores.into(), "core"))),
        pair("memory", bytes(machine.memory_bytes as f64)),
        pair("system", visible(&machine.system)),
        pair("files", format!("{} may be open", count(machine.files_max))),
        pair("program", visible(&machine.loadline)),
        pair(
            "used",
            format!(
                "{} in {}, the busiest {:.0} % of one",
                cores_used(summary),
                crate::text::threads_of(generator),
                generator.cpu_share_busiest * 100.0
            ),
        ),
    ];
    rows.extend(lateness(summary).map(|late| pair("lag", late)));
    if let Some(most) = generator.memory_bytes_max {
        rows.push(pair("memory used", format!("{} at most", bytes(most as f64))));
    }
    if let Some(ceiling) = generator.ceiling_qps {
        rows.push(pair("ceiling", format!("{} requests a second, by loadline calibrate", story::rate(ceiling))));
    }
    if !summary.resolution.addresses.is_empty() {
        let addresses: Vec<String> = summary.resolution.addresses.iter().map(|address| visible(address)).collect();
        rows.push(pair("sent to", excerpt(&addresses.join(", "), EXAMPLE_LETTERS_MAX)));
    }
    rows.extend(other_machines(summary).into_iter().map(|(names, machine)| vec![names, machine]));
    let title = format!("The machine it came from{}", first_of_machines(summary));
    Table::new("machine", &title, &["", "value"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::gate::{Change, Check, Regression};
    use measure::fixtures;

    #[test]
    fn a_broken_check_is_the_first_answer_and_nothing_else_is_said_of_those_that_held() {
        let (_, summary) = fixtures::summaries().remove(0);
        let checks: Vec<Check> = ["p50 < 1ns", "p50 < 1h"].iter().map(|text| text.parse().expect("a check")).collect();
        let view = view(&Reading::new(&summary, &checks), String::new());
        let first = &view.answers[0];
        assert_eq!((first.question, first.tone, first.evidence), (Question::Checks, Tone::Bad, Some("checks")));
        assert!(first.sentence.starts_with("FAILED: p50 < 1ns; measured: ") && !first.sentence.contains("1h"), "{}", first.sentence);
        assert_eq!(view.answers.len(), 5);
    }

    #[test]
    fn a_run_that_is_worse_than_a_saved_one_opens_with_the_table_of_both() {
        let (_, summary) = fixtures::summaries().remove(0);
        let held: Vec<Check> = vec!["p50 < 1h".parse().expect("a check")];
        let ruling = Regression {
            reference: "@baseline".to_owned(),
            allowed: 0.05,
            rows: Vec::new(),
            is_invalid: false,
            is_reference_invalid: false,
            is_other_machine: false,
            runs: 5,
            verdict: Change::Worse,
        };
        let reading = Reading::new(&summary, &held).against(Some(ruling));
        let first = &view(&reading, String::new()).answers[0];
        assert_eq!((first.tone, first.evidence), (Tone::Bad, Some("against")));
        assert_eq!(first.sentence, "WORSE than @baseline by more than 5 %.");
    }

    /// What is said to limit the run.
    fn limit(summary: &Summary) -> Answer {
        let view = view(&Reading::new(summary, &[]), String::new());
        view.answers.into_iter().find(|answer| answer.question == Question::Limits).expect("every run has this answer")
    }

    #[test]
    fn programs_of_neither_side_are_not_the_load_generator() {
        let (_, mut summary) = fixtures::summaries().remove(0);
        let record = summary.edit_for_test();
        (record.generator.others_share, record.generator.server_wait_share) = (Some(0.5), Some(0.9));
        let said = limit(&summary);
        assert!(
            said.sentence.starts_with("This machine was not quiet while it was measured: other programs kept 50 % "),
            "{}",
            said.sentence
        );
        assert_eq!((said.tone, said.evidence), (Tone::Caution, Some("health")));
        summary.edit_for_test().lag = summary.response_time.clone();
        assert!(limit(&summary).sentence.starts_with("The load generator had its part: "), "{}", limit(&summary).sentence);
    }

    #[test]
    fn a_run_from_several_machines_is_not_told_as_one_of_the_first() {
        let (_, mut summary) = fixtures::summaries().remove(0);
        let told = |summary: &Summary| {
            let reading = Reading::new(summary, &[]);
            let machine = view(&reading, String::new()).tables.into_iter().find(|table| table.id == "machine").expect("every run has it");
            let used = machine.rows.iter().find(|row| row[0] == "used").expect("what it used")[1].clone();
            (machine.title, used, measured_by(summary))
        };
        let (title, used, by) = told(&summary);
        assert_eq!(title, "The machine it came from");
        assert!(
            used.contains(&format!(" of {} in ", counted(summary.machine.cores.into(), "core"))) && !by.contains("the first"),
            "{used}; {by}"
        );
        summary.edit_for_test().sites = ["eu-1", "eu-2"].map(fixtures::other_machine).into();
        let (title, used, by) = told(&summary);
        assert_eq!(title, "The machine it came from, the first of 2 machines");
        assert!(used.contains(" cores on all machines in ") && by.contains(", the first of 2 machines; started "), "{used}; {by}");
        let mut text = Vec::new();
        (crate::text::FORMAT.render)(&Reading::new(&summary, &[]), &Style::PLAIN, &mut text).expect("memory takes all");
        let text = String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("the machines loadline used ") && text.contains(", the first of 2 machines, "), "{text}");
    }

    #[test]
    fn requests_that_were_never_sent_are_counted_as_failed_as_in_the_headline() {
        let (_, mut summary) = fixtures::summaries().remove(0);
        let class = Failure::RecvReset;
        summary.edit_for_test().failures = vec![measure::FailureCount { class, side: class.side(), count: 10, example: None }];
        summary.edit_for_test().requests.succeeded -= 30;
        let record = summary.edit_for_test();
        (record.requests.failed, record.requests.unsent) = (10, 20);
        let said = limit(&summary).sentence;
        assert!(said.starts_with("30 requests failed: never sent, since no connection was free in time (20), "), "{said}");
        assert!(said.ends_with("; the side to look at is the server, or --connections."), "{said}");
        let view = view(&Reading::new(&summary, &[]), String::new());
        assert!(view.answers[0].sentence.contains("30 of "), "{}", view.answers[0].sentence);
        let failed = view.tables.iter().find(|table| table.id == "failed").expect("requests failed");
        assert!(failed.rows.iter().any(|row| row[3] == "never sent (unsent)" && row[5].starts_with("no connection was free in time")));
    }

    #[test]
    fn four_sentences_open_the_page_and_each_has_its_evidence_or_says_that_it_has_none() {
        // The sections that web/src/report/run.ts draws.
        let charts = ["qps", "response", "failures", "in-flight", "health", "latency", "percentile-curve"];
        for (name, summary) in fixtures::summaries() {
            let view = view(&Reading::new(&summary, &[]), String::new());
            let asked: Vec<Question> = view.answers.iter().map(|answer| answer.question).collect();
            assert_eq!(asked, [Question::Carries, Question::Knee, Question::Steady, Question::Limits], "{name}");
            for answer in &view.answers {
                assert!(answer.sentence.ends_with('.'), "{name}: {}", answer.sentence);
                if let Some(evidence) = answer.evidence {
                    assert!(charts.contains(&evidence) || view.tables.iter().any(|table| table.id == evidence), "{name}: {evidence}");
                }
            }
            let drained = summary.timeline.iter().filter(|tick| tick.from >= summary.ended.load_until).count();
            assert_eq!(view.data.timeline.from_ns.len(), summary.timeline.len() - drained, "{name}");
            for table in &view.tables {
                assert!(table.rows.iter().all(|row| row.len() == table.heads.len()), "{name}: {}", table.title);
            }
        }
    }
}
