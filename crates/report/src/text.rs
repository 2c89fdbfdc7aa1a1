//! The report for people: the answer first, then where it comes from, then how far it can be trusted.
//!
//! It is read by someone who never read a manual, at two in the morning, next to a failing service. So the first line is a
//! sentence with the result, every figure has a unit and a name in plain words, whatever went wrong names the side to look
//! at and the next step, and the generator testifies against itself. A percentile with too few samples behind it is a dash
//! and a line that says how many it takes: a figure there would be believed.
//!
//! Invariants: text from the server cannot steer the terminal; colour underlines what the words already say.

use std::io;

use analysis::ceiling::CeilingUse;
use analysis::gate::{Change, Judgement, Regression, Row, Verdict};
use analysis::quantity::{self, NONE, bytes, count, counted, nanos, share, time};
use analysis::server_side::ServerSide;
use analysis::warmup::in_words;
use analysis::{Reading, Standing, disturbances, processor_share_is_known};
use measure::{FailureCount, Generator, Histogram, QUANTILES, ReplayComparison, Status, Summary, WarmUp, quantile_is_known};
use plan::{HttpVersion, Nanos};

use crate::columns::{Columns, wrapped};
use crate::machines::{first_of_machines, other_machines};
use crate::style::Tone;
use crate::visible::{excerpt, shortened, visible};
use crate::{Format, Style, journeys, profiles, story, streamed, websockets, wire};
use measure::reason;

/// Text for people.
pub const FORMAT: Format = Format { name: "text", about: "a report for people, the answer first", extension: "txt", render };

/// Where the text beside a name begins.
pub(crate) const MARGIN: usize = 19;
/// The names of figures stand in line: "failed" is the longest.
const FIGURE_WIDTH: usize = 6;
/// Of an example, this much is shown; the JSON result holds the rest.
const EXAMPLE_LETTERS_MAX: usize = 400;
/// The row that the intervals belong to.
const RESPONSE: &str = "response time";
/// What such a run is worth.
pub(crate) const INVALID: &str = "INVALID: do not use these figures";
/// Fewer intervals say nothing about how steady it was.
const INTERVALS_MIN: usize = 5;
/// A drain shorter than this is part of every run.
const DRAIN_WORTH_SAYING: Nanos = Nanos::SECOND;
/// Response and service time that differ by less than this share coincide for every reader.
const SAME_WITHIN: f64 = 0.05;

fn render(reading: &Reading<'_>, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let summary = reading.run;
    let mut page = Page { text: String::from("\n"), style };
    head(reading, &mut page);
    times(reading, &mut page);
    rows(summary, &mut page);
    steadiness(summary, &mut page);
    course(reading, &mut page);
    phases(summary, &mut page);
    events(summary, &mut page);
    answers(summary, &mut page);
    failures(summary, &mut page);
    replayed(summary, &mut page);
    traffic(reading, &mut page);
    server_side(summary, &mut page);
    limits(reading, &mut page);
    profiled(summary, &mut page);
    trust(reading, &mut page);
    out.write_all(page.text.as_bytes())
}

/// The report as it grows.
struct Page<'a> {
    text: String,
    style: &'a Style,
}

impl Page<'_> {
    fn gap(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A name in the margin and a text beside it, broken at the page's width.
    fn entry(&mut self, name: &str, tone: Tone, text: &str) {
        for (at, line) in wrapped(text, self.style.columns() - MARGIN).iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            let margin = MARGIN - 2;
            self.text.push_str(&format!("  {name:<margin$}{}\n", self.style.paint(tone, line)));
        }
    }

    /// A text over the whole width.
    fn say(&mut self, tone: Tone, text: &str) {
        for line in wrapped(text, self.style.columns() - 2) {
            self.text.push_str(&format!("  {}\n", self.style.paint(tone, &line)));
        }
    }

    /// Where it does not fit, without the columns that `least` names, in that order.
    fn table(&mut self, columns: &Columns, least: &[&str]) {
        for line in columns.within(self.style.columns() - 2, least) {
            self.text.push_str("  ");
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }
}

fn head(reading: &Reading<'_>, page: &mut Page) {
    let summary = reading.run;
    if let Some(ending) = story::ending(reading) {
        page.say(Tone::Caution, &format!("{ending}."));
        page.gap();
    }
    let requests = &summary.requests;
    let tone = if requests.due > 0 && requests.succeeded == 0 { Tone::Bad } else { Tone::Answer };
    page.say(tone, &story::answer(reading));
    let validity = &reading.validity;
    match validity.standing {
        Standing::Valid => {}
        Standing::Degraded => page.say(Tone::Caution, &format!("DEGRADED: {}.", validity.why())),
        Standing::Invalid => {
            page.say(Tone::Bad, &format!("{INVALID}: {}.", validity.why()));
        }
    }
    page.gap();
    let mut name = "checks";
    let width = reading.checks.iter().map(|judgement| judgement.verdict.name().len()).max().unwrap_or(0);
    for judgement in &reading.checks {
        page.entry(name, verdict_tone(&judgement.verdict), &judged(judgement, &judgement.about(), width));
        name = "";
    }
    page.gap();
    if let Some(ruling) = &reading.against {
        against(ruling, page);
    }
    page.entry(if summary.measured_by.is_some() { "requests" } else { "request" }, Tone::Normal, &story::requests_of(summary));
    let resolution = &summary.resolution;
    if !resolution.addresses.is_empty() {
        let addresses: Vec<String> = resolution.addresses.iter().map(|address| visible(address)).collect();
        page.entry("sent to", Tone::Normal, &addresses.join(", "));
    }
    let connection = summary.plan.connection();
    if let Some(proxy) = &connection.proxy {
        page.entry("through", Tone::Normal, &format!("the proxy {}", visible(&proxy.at.to_string())));
    }
    if let Some(socket) = &connection.unix_socket {
        page.entry("through", Tone::Normal, &format!("the socket {}", visible(socket)));
    }
    let mut name = "load";
    for line in story::load(summary) {
        page.entry(name, Tone::Normal, &line);
        name = "";
    }
    let excluded = &summary.excluded;
    if excluded.duration_s > 0.0 {
        page.entry(
            "warm-up",
            Tone::Normal,
            &format!(
                "the first {} ({}) are left out of all figures but connections and bytes",
                quantity::length(Nanos((excluded.duration_s * 1e9) as u64)),
                counted(excluded.requests, "request")
            ),
        );
    }
    if let Some(found) = excluded.found {
        let (name, tone) = match found {
            WarmUp::Until { at: Nanos::ZERO, .. } => ("warm-up", Tone::Normal),
            WarmUp::Until { .. } => ("", Tone::Normal),
            _ => ("warm-up", Tone::Caution),
        };
        page.entry(name, tone, &in_words(found));
    }
    let drain = summary.ended.drained_at.since(summary.ended.load_until);
    if drain >= DRAIN_WORTH_SAYING {
        page.entry(
            "drain",
            Tone::Normal,
            &format!("the last answer came {} after the end of the load; it is counted", quantity::length(drain)),
        );
    }
}

/// What came of holding it against a saved run, with a row for each figure.
fn against(ruling: &Regression, page: &mut Page) {
    page.entry("against", change_tone(ruling.verdict), &visible(&ruling.sentence()));
    for row in &ruling.rows {
        page.entry("", change_tone(row.verdict), &moved(row));
    }
    page.gap();
}

/// The colour of what came of holding a figure against that of a saved run.
pub(crate) const fn change_tone(change: Change) -> Tone {
    match change {
        Change::Within => Tone::Good,
        Change::CannotTell => Tone::Caution,
        Change::Worse => Tone::Bad,
    }
}

/// A figure of a saved run beside that of this one: `p99      12.3 ms → 15.6 ms (+26.8 %): WORSE`.
pub(crate) fn moved(row: &Row) -> String {
    let name = visible(&row.figure);
    let pad = FIGURE_WIDTH.saturating_sub(name.chars().count());
    let (before, now) = (visible(&row.before), visible(&row.now));
    format!("{name}{:\u{a0}<pad$} {before} → {now} ({}): {}", "", row.change(), row.word())
}

/// The colour of a verdict on a check.
pub(crate) const fn verdict_tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Held => Tone::Good,
        Verdict::Broken => Tone::Bad,
        Verdict::NotJudgeable { .. } => Tone::Caution,
    }
}

/// A check with its verdict, which takes so many letters, and what is said about it.
pub(crate) fn judged(judgement: &Judgement, about: &str, width: usize) -> String {
    let verdict = judgement.verdict.name();
    // Blanks that stand in line are kept on the first line, and what follows is broken beside it.
    format!("{verdict}:{:\u{a0}<pad$} {}: {about}", "", judgement.check, pad = width - verdict.len())
}

fn times(reading: &Reading<'_>, page: &mut Page) {
    let summary = reading.run;
    page.gap();
    let response = &summary.response_time;
    if response.is_empty() {
        page.entry("response time", Tone::Normal, "none: no request was answered or timed out");
        return;
    }
    let mut rows: Vec<(&str, &Histogram)> = vec![(RESPONSE, response)];
    let mixed = !summary.response_time_succeeded.is_empty() && summary.response_time_succeeded.count() < response.count();
    if mixed {
        rows.push((" of successes", &summary.response_time_succeeded));
    }
    let same = coincide(summary);
    if !same {
        rows.push(("service time", &summary.service_time));
        if summary.plan.load().is_open() {
            rows.push(("wait", &summary.wait));
        }
    }
    if response.count() == 1 {
        let mut columns = Columns::new(&["", "took"]);
        rows.iter().for_each(|(name, histogram)| columns.row(&[(*name).to_owned(), nanos(histogram.max())]));
        page.table(&columns, &[]);
    } else {
        let mut spread = Columns::new(&["", "mean", "sd", "min", "max"]);
        for (name, histogram) in &rows {
            spread.row(&[
                (*name).to_owned(),
                histogram.mean().map_or_else(|| NONE.to_owned(), time),
                histogram.stdev().map_or_else(|| NONE.to_owned(), time),
                nanos(histogram.min()),
                nanos(histogram.max()),
            ]);
        }
        page.table(&spread, &["sd", "min"]);
        if quantile_is_known(response.count(), QUANTILES[0]) {
            page.gap();
            let names: Vec<String> = QUANTILES.iter().map(|q| quantity::quantile(*q)).collect();
            let mut columns = Columns::new(&std::iter::once("").chain(names.iter().map(String::as_str)).collect::<Vec<_>>());
            for (name, histogram) in &rows {
                let cells = QUANTILES.iter().map(|q| story::quantile(reading, histogram, *q));
                columns.row(&std::iter::once((*name).to_owned()).chain(cells).collect::<Vec<_>>());
                if *name == RESPONSE && QUANTILES.iter().any(|q| story::plus_minus(reading, *q) != NONE) {
                    let cells = QUANTILES.iter().map(|q| story::plus_minus(reading, *q));
                    columns.row(&std::iter::once("  ±".to_owned()).chain(cells).collect::<Vec<_>>());
                }
            }
            page.table(&columns, &["75 %", "99.99 %", "95 %", "99.9 %", "90 %"]);
        }
        page.gap();
        legend(reading, &rows, same, page);
    }
}

/// The rows of a scenario, or of a list of URLs.
fn rows(summary: &Summary, page: &mut Page) {
    if let Some(scenario) = &summary.scenario {
        page.gap();
        page.entry("transactions", Tone::Normal, &journeys::transactions(scenario, summary.qps));
    }
    let all = journeys::Rows::all(summary);
    if all.is_empty() {
        return;
    }
    page.gap();
    for rows in &all {
        let mut columns = Columns::new(rows.heads);
        rows.cells.iter().for_each(|row| columns.row(row));
        page.table(&columns, rows.least);
        page.gap();
    }
    broken_checks(journeys::counted(summary), page);
    all.iter().filter(|rows| !rows.legend.is_empty()).for_each(|rows| page.say(Tone::Aside, rows.legend));
}

fn broken_checks(rows: &[measure::StepRow], page: &mut Page) {
    let mut name = "checks broken";
    for line in journeys::broken(rows) {
        page.entry(name, Tone::Bad, &excerpt(&line, EXAMPLE_LETTERS_MAX));
        name = "";
    }
}

/// Whether service time says nothing that response time does not.
fn coincide(summary: &Summary) -> bool {
    let closed = summary.plan.load().is_closed();
    let means = summary.response_time.mean().zip(summary.service_time.mean());
    closed && means.is_some_and(|(response, service)| (response - service).abs() <= response * SAME_WITHIN)
}

/// What the rows and columns mean, in words.
fn legend(reading: &Reading<'_>, rows: &[(&str, &Histogram)], same: bool, page: &mut Page) {
    let summary = reading.run;
    let mut said = Vec::new();
    if let Some(tool) = &summary.measured_by {
        said.push(format!("Response time: latency, from when {} sent the request to the last byte of the answer.", visible(tool)));
    } else if same {
        said.push(format!(
            "Response time: latency, from when a user wants to send to the last byte of the answer. Service time, from when it was sent, \
             is the same in closed load (mean {}).",
            summary.service_time.mean().map_or_else(|| NONE.to_owned(), time)
        ));
    } else {
        said.push(
            "Response time: latency as users feel it, from when a request was due to the last byte of its answer. Service time: from when \
             it was sent. Wait: until a connection was free."
                .to_owned(),
        );
    }
    if summary.failures.iter().any(|failure| failure.class.is_timeout()) || summary.requests.unsent > 0 {
        said.push("Requests that timed out count with their timeout.".to_owned());
    }
    said.push("sd: standard deviation. 90 %: nine in ten requests took at most this.".to_owned());
    if reading.uncertainty.is_some() && summary.requests.due > 1 {
        said.push("±: 95 % interval within this run; another run may differ by more.".to_owned());
    }
    page.say(Tone::Aside, &said.join(" "));
    let shown: Vec<&Histogram> = rows.iter().map(|(_, times)| *times).collect();
    if let Some(missing) = story::missing_among(reading, &shown, &QUANTILES, &QUANTILES) {
        page.say(Tone::Aside, &missing);
    }
}

/// What the course of the run and the shape of its times show.
fn course(reading: &Reading<'_>, page: &mut Page) {
    page.gap();
    let mut name = "noticed";
    for sentence in reading.noticed() {
        page.entry(name, Tone::Caution, &sentence);
        name = "";
    }
}

/// How much throughput varied from interval to interval; in open load that is the timetable's doing.
fn steadiness(summary: &Summary, page: &mut Page) {
    let mut whole = summary.timeline.iter().filter(|tick| !tick.warmup && tick.to <= summary.ended.load_until).peekable();
    let interval = whole.peek().map_or(Nanos::SECOND, |tick| tick.to.since(tick.from));
    let rates: Vec<f64> = whole.map(measure::Tick::qps).collect();
    if summary.qps_offered.is_some() || rates.len() < INTERVALS_MIN {
        return;
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (rates.len() - 1) as f64;
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = rates.iter().copied().fold(0.0, f64::max);
    page.gap();
    page.entry(
        "by interval",
        Tone::Normal,
        &format!(
            "{} requests a second, sd {}, min {}, max {}, over {} intervals of {}",
            story::rate(mean),
            story::rate(variance.sqrt()),
            story::rate(least),
            story::rate(greatest),
            rates.len(),
            quantity::length(interval)
        ),
    );
}

fn phases(summary: &Summary, page: &mut Page) {
    if summary.measured_by.is_some() && summary.ttfb.is_empty() {
        return;
    }
    page.gap();
    let mut columns = Columns::new(&["", "mean", "50 %", "99 %", "max", "count"]);
    let mut row = |name: &str, histogram: &Histogram| {
        columns.row(&[
            name.to_owned(),
            histogram.mean().map_or_else(|| NONE.to_owned(), time),
            nanos(histogram.known_quantile(0.5)),
            nanos(histogram.known_quantile(0.99)),
            nanos(histogram.max()),
            count(histogram.count()),
        ]);
    };
    row("first byte TTFB", &summary.ttfb);
    if summary.measured_by.is_none() {
        row("connect", &summary.connect);
        if wire::has_handshakes(summary) {
            row("TLS handshake", &summary.tls);
        }
        if let Some(websockets) = &summary.websockets {
            row("WebSocket handshake", &websockets.handshake);
            if !websockets.between_messages.is_empty() {
                row("between messages", &websockets.between_messages);
            }
        }
    }
    page.table(&columns, &["count", "50 %"]);
    if let Some(took) = summary.resolution.took {
        page.entry("name lookup", Tone::Normal, &format!("{}, once before the load", nanos(Some(took))));
    }
}

fn events(summary: &Summary, page: &mut Page) {
    let Some(said) = streamed::said(summary) else { return };
    page.gap();
    let heads = streamed::HEADS.map(|head| head.trim_start_matches('#'));
    let mut columns = Columns::new(&heads);
    let rows = streamed::rows(summary);
    rows.iter().for_each(|row| columns.row(row));
    if !rows.is_empty() {
        page.table(&columns, &["count", "50 %"]);
    }
    page.entry("events", if summary.streams.is_some() { Tone::Normal } else { Tone::Caution }, &said);
}

fn answers(summary: &Summary, page: &mut Page) {
    page.gap();
    if summary.status.is_empty() {
        // Samplers of other tools need not speak HTTP.
        if summary.measured_by.is_some() {
            return;
        }
        page.entry("answers", if summary.requests.due > 0 { Tone::Bad } else { Tone::Normal }, "none");
        return;
    }
    let answered: u64 = summary.status.values().sum();
    let width = summary.status.values().map(|number| count(*number).len()).max().unwrap_or(0);
    let mut name = "answers";
    for (status, number) in &summary.status {
        let tone = if !Status(*status).is_success() { Tone::Bad } else { Tone::Normal };
        let text = format!("{status}  {:>width$}  {:>8}  {}", count(*number), share(*number, answered), reason(*status));
        let margin = MARGIN - 2;
        let room = page.style.columns() - MARGIN;
        let text: String = text.chars().take(room).collect();
        page.text.push_str(&format!("  {name:<margin$}{}\n", page.style.paint(tone, text.trim_end())));
        name = "";
    }
    if summary.redirects > 0 {
        page.entry("redirects", Tone::Normal, &format!("{} followed", count(summary.redirects)));
    }
}

fn failures(summary: &Summary, page: &mut Page) {
    let requests = &summary.requests;
    let bad = requests.failed + requests.unsent;
    if bad == 0 {
        page.entry("failed", if requests.due > 0 { Tone::Good } else { Tone::Normal }, "none");
    } else {
        let unsent = if requests.failed > 0 && requests.unsent > 0 {
            format!("; {} of them never sent", count(requests.unsent))
        } else {
            String::new()
        };
        page.entry(
            "failed",
            Tone::Bad,
            &format!("{} of {}, {}{unsent}", count(bad), counted(requests.due, "request"), share(bad, requests.due)),
        );
    }
    if requests.failed > 0 {
        page.entry("to blame", Tone::Normal, &sides(summary));
        for failure in &summary.failures {
            page.gap();
            one_failure(summary, failure, page);
        }
        page.gap();
    }
    if requests.unsent > 0 {
        page.entry("unsent", Tone::Bad, &unsent(summary));
    }
}

/// Requests that found no connection, and what that means.
pub(crate) fn unsent(summary: &Summary) -> String {
    let requests = &summary.requests;
    format!("{} ({}): {UNSENT}", count(requests.unsent), share(requests.unsent, requests.due))
}

/// Why requests were never sent.
pub(crate) const UNSENT: &str = "no connection was free in time: the server is too slow for this rate, or --connections too low";

/// Routes of a replay that are shown; the JSON result holds the rest.
const REPLAYED_ROUTES: usize = 20;

/// What was answered otherwise than the log says.
fn replayed(summary: &Summary, page: &mut Page) {
    let Some(replayed) = &summary.replayed else { return };
    page.gap();
    let (tone, said) = as_logged(replayed);
    page.entry("as logged", tone, &said);
    if replayed.compared == replayed.same {
        return;
    }
    page.gap();
    let mut columns = Columns::new(&["route", "requests", "different", "logged → answered"]);
    let rows: Vec<_> = replayed.by_route.iter().filter(|row| !row.changes.is_empty()).collect();
    for row in rows.iter().take(REPLAYED_ROUTES) {
        let changes: Vec<String> = row
            .changes
            .iter()
            .take(3)
            .map(|it| format!("{} → {} {}", it.logged, it.answered.map_or_else(|| "none".to_owned(), |it| it.to_string()), count(it.count)))
            .collect();
        let more = row.changes.len().saturating_sub(3);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        columns.row(&[
            visible(format!("{} {}", row.method, row.route).trim()),
            count(row.compared),
            count(row.compared - row.same),
            changes.join(", ") + &more,
        ]);
    }
    page.table(&columns, &["requests"]);
    let left = rows.len().saturating_sub(REPLAYED_ROUTES) as u64 + replayed.routes_left_out;
    if left > 0 {
        page.say(Tone::Aside, &format!("{} more; --out json=FILE has them", counted(left, "route")));
    }
    page.gap();
}

/// How many answers had another status than the log has, in a sentence.
pub(crate) fn as_logged(replayed: &ReplayComparison) -> (Tone, String) {
    let differing = replayed.compared - replayed.same;
    let mut said = match (replayed.compared, differing) {
        (0, _) => "nothing to compare: no line that was sent has a status".to_owned(),
        (all, 0) => format!("{}, all answered with the status of the log", counted(all, "request")),
        (all, some) => format!("{} of {} ({}): different status than in the log", count(some), counted(all, "request"), share(some, all)),
    };
    if replayed.compared > 0 && replayed.without_status > 0 {
        said += &format!("; {} without a status in the log", counted(replayed.without_status, "request"));
    }
    (if differing > 0 { Tone::Caution } else { Tone::Normal }, said)
}

/// Failures by side, most first.
fn sides(summary: &Summary) -> String {
    let mut sides: Vec<(measure::Side, u64)> = Vec::new();
    for failure in &summary.failures {
        match sides.iter_mut().find(|(side, _)| *side == failure.side) {
            Some((_, sum)) => *sum += failure.count,
            None => sides.push((failure.side, failure.count)),
        }
    }
    sides.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    let said: Vec<String> = sides.iter().map(|(side, sum)| format!("{} {}", side_named(*side), count(*sum))).collect();
    said.join(", ")
}

/// The side as it is said here: `plan` alone would puzzle whoever typed a command line.
pub(crate) fn side_named(side: measure::Side) -> &'static str {
    match side {
        measure::Side::Server => "the server",
        measure::Side::Network => "the network",
        measure::Side::ThisMachine => "this machine",
        measure::Side::ServerOrPlan => "the server or the scenario",
        measure::Side::Plan => "the settings",
    }
}

fn one_failure(summary: &Summary, failure: &FailureCount, page: &mut Page) {
    let side = match failure.side {
        measure::Side::Server => "server",
        measure::Side::Network => "network",
        measure::Side::ThisMachine => "this machine",
        measure::Side::ServerOrPlan => "server, file",
        measure::Side::Plan => "settings",
    };
    let part = share(failure.count, summary.requests.due);
    let errors = story::statuses(summary, failure).unwrap_or_default();
    let about = match errors.as_slice() {
        [(status, _)] => format!("{status} {}", reason(*status)),
        _ => story::cause(summary, failure),
    };
    page.entry(&format!("  {side}"), Tone::Bad, &format!("{} × {about} ({part}, {})", count(failure.count), failure.class.code()));
    if errors.len() > 1 {
        for (status, number) in errors {
            page.entry("", Tone::Normal, &format!("{} × {status} {}", count(number), reason(status)));
        }
    }
    if let Some(example) = &failure.example {
        page.entry(
            "",
            Tone::Normal,
            &format!("first after {}: {}", quantity::length(example.at), excerpt(&example.text, EXAMPLE_LETTERS_MAX)),
        );
    }
    if let Some(remedy) = story::remedy(summary, failure.class) {
        page.entry("", Tone::Normal, &format!("Fix: {remedy}"));
    }
}

fn traffic(reading: &Reading<'_>, page: &mut Page) {
    let summary = reading.run;
    page.gap();
    if summary.requests.due > 1 && reading.littles_law.is_none() {
        page.entry("in flight", Tone::Normal, &format!("{} requests at once on average", story::rate(summary.in_flight_mean)));
    }
    let whole = summary.ended.drained_at.as_secs_f64();
    let per_second = |sum: u64| if whole > 0.0 { format!(" ({}/s)", bytes(sum as f64 / whole)) } else { String::new() };
    let moved = &summary.bytes;
    let answered: u64 = summary.status.values().sum::<u64>() + summary.excluded.requests;
    let each =
        if answered > 0 { format!(", {} an answer", bytes((moved.received as f64 / answered as f64).round())) } else { String::new() };
    // Of another tool's file, no bytes at all are bytes that it does not tell of.
    if summary.measured_by.is_some() && moved.received + moved.sent == 0 {
        return;
    }
    page.entry(
        "bytes",
        Tone::Normal,
        &format!(
            "{} received{}{each}; {} sent{}; headers included",
            bytes(moved.received as f64),
            per_second(moved.received),
            bytes(moved.sent as f64),
            per_second(moved.sent)
        ),
    );
    for (name, said) in [("packed", wire::packed(summary)), ("bodies", wire::awaited(summary))] {
        if let Some(said) = said {
            page.entry(name, Tone::Normal, &said);
        }
    }
    if summary.measured_by.is_none() {
        page.entry("connections", Tone::Normal, &connections(summary));
        if let Some(unasked) = websockets::unasked(summary) {
            page.entry("unasked", Tone::Normal, &unasked);
        }
    }
}

/// How many were opened, and who closed them where that is more than the ordinary end of those that stood last.
pub(crate) fn connections(summary: &Summary) -> String {
    let connections = &summary.connections;
    let left = connections.opened.saturating_sub(connections.closed_by_server + connections.closed_by_us);
    let mut text = counted(connections.opened, "connection");
    // What was demanded is told with the load.
    if summary.plan.connection().http == HttpVersion::Auto {
        text.push_str(&match connections.http2 {
            some if 0 < some && some < connections.opened => format!(" ({} over HTTP/2)", count(some)),
            _ => format!(" over {}", connections.spoken()),
        });
    }
    if summary.plan.connection().message_deflate {
        let packed = summary.websockets.as_ref().map_or(0, |websockets| websockets.deflates);
        text.push_str(&format!(", messages packed on {}", count(packed)));
    }
    if connections.closed_by_server > 0 || connections.closed_by_us > summary.plan.open_connections_max() {
        text.push_str(&format!(
            ": {} closed by the server, {} by loadline",
            count(connections.closed_by_server),
            count(connections.closed_by_us)
        ));
        if left > 0 {
            text.push_str(&format!(", {} open to the end", count(left)));
        }
    }
    if connections.http3_is_offered {
        text.push_str("; the server offers HTTP/3 too (--http 3)");
    }
    if connections.packets > 0 {
        let (lost, of) = (count(connections.packets_lost), counted(connections.packets, "packet"));
        text.push_str(&format!("; {lost} of {of} lost ({})", share(connections.packets_lost, connections.packets)));
    }
    if let Some(resumed) = wire::resumed(summary) {
        text.push_str(&format!("; {resumed}"));
    }
    text
}

/// How late requests were sent; `None` where none was.
pub(crate) fn lateness(summary: &Summary) -> Option<String> {
    let late = |which: &str, lag| format!("{which} sent at most {} late", nanos(Some(lag)));
    match (summary.lag.known_quantile(0.99), summary.lag.max()) {
        (Some(lag), _) => Some(late("99 % of requests were", lag)),
        (None, Some(lag)) => Some(late("every request was", lag)),
        (None, None) => None,
    }
}

/// What the server's side showed, where it was watched.
fn server_side(summary: &Summary, page: &mut Page) {
    for side in ServerSide::of(summary) {
        page.gap();
        let mut name = "server's side";
        for line in side.lines() {
            page.entry(name, Tone::Normal, &visible(&line));
            name = "";
        }
    }
}

/// What limits the server, what speaks for it and against it, and what else it may be.
fn limits(reading: &Reading<'_>, page: &mut Page) {
    let Some((first, rest)) = reading.bottleneck.split_first() else { return };
    page.gap();
    page.entry("what limits it", if first.is_named() { Tone::Caution } else { Tone::Normal }, &visible(&first.headline()));
    for evidence in &first.evidence {
        page.entry("", Tone::Normal, &format!("· {}", visible(evidence)));
    }
    page.entry("", Tone::Aside, &format!("How to check: {}", first.refuted_by));
    page.entry("", Tone::Normal, &format!("Fix: {}", first.remedy));
    if let Some(next) = rest.first() {
        page.entry("", Tone::Aside, &format!("next candidate: {}", visible(&next.candidate())));
    }
}

/// Where the server spent what it spent.
fn profiled(summary: &Summary, page: &mut Page) {
    for profiled in &summary.profiles {
        page.gap();
        page.entry("profile", Tone::Normal, &profiles::about(summary, profiled));
        page.gap();
        // The names of functions stand last, and are cut where there is no room.
        let room = page.style.columns() - 2;
        for line in profiles::lines(profiled) {
            let line = shortened(&line, room - 1);
            page.text.push_str(&format!("  {}\n", line.trim_end()));
        }
    }
}

/// The cores' worth of time that loadline used, of those of its machine where it was one.
pub(crate) fn cores_used(summary: &Summary) -> String {
    let used = quantity::decimal(summary.generator.cpu_share, 2);
    if summary.other_machines().next().is_some() {
        return format!("{used} cores on all machines");
    }
    format!("{used} of {}", counted(summary.machine.cores.into(), "core"))
}

/// The program and the machine that a run was measured by; of another tool's its name alone.
pub(crate) fn measured_on(summary: &Summary) -> String {
    if let Some(tool) = &summary.measured_by {
        return visible(tool);
    }
    let machine = &summary.machine;
    let (cores, first) = (counted(machine.cores.into(), "core"), first_of_machines(summary));
    format!("{} on {} with {cores}, {}{first}", visible(&machine.loadline), visible(&machine.processor), visible(&machine.system))
}

/// When it began, and what its chance was drawn from.
pub(crate) fn began(summary: &Summary) -> String {
    let seed = if summary.measured_by.is_some() { String::new() } else { format!(", seed {}", summary.plan.seed()) };
    format!("started {}{seed}", visible(&summary.started))
}

/// The threads that a load came from, and their processes where it was several.
pub(crate) fn threads_of(generator: &Generator) -> String {
    let threads = counted(generator.threads.into(), "thread");
    if generator.processes > 1 { format!("{threads} in {} processes", count(generator.processes.into())) } else { threads }
}

/// What the load cost, and whether its generator was the limit.
fn generator(reading: &Reading<'_>, page: &mut Page) {
    let summary = reading.run;
    let generator = &summary.generator;
    if let Some(unknown) = story::limit_unknown(summary) {
        page.entry("validity", Tone::Normal, &unknown);
        return;
    }
    let mut text = if processor_share_is_known(summary) {
        format!("loadline used {}; busiest of {} {:.0} %", cores_used(summary), threads_of(generator), generator.cpu_share_busiest * 100.0)
    } else {
        format!("loadline used {} of processor time, its start included", time(generator.cpu_ns as f64))
    };
    if let Some(late) = lateness(summary) {
        text.push_str(&format!("; {late}"));
    }
    let whose = if summary.other_machines().next().is_some() { "the machines" } else { "this machine" };
    page.entry(whose, Tone::Normal, &text);
    if let Some(used) = CeilingUse::of(summary) {
        page.entry("", if used.is_near() { Tone::Caution } else { Tone::Normal }, &used.in_words());
    }
    if summary.requests.due > 0 {
        let validity = &reading.validity;
        let (tone, text) = match validity.standing {
            Standing::Valid => (Tone::Normal, "VALID: loadline was not the limit".to_owned()),
            Standing::Degraded => (Tone::Caution, "DEGRADED: see the first lines".to_owned()),
            Standing::Invalid => (Tone::Bad, "INVALID: see the first lines".to_owned()),
        };
        page.entry("validity", tone, &text);
    }
}

fn trust(reading: &Reading<'_>, page: &mut Page) {
    let summary = reading.run;
    page.gap();
    generator(reading, page);
    if let Some(offered) = summary.qps_offered {
        let requests = &summary.requests;
        let fell_due = if summary.duration_s > 0.0 { requests.due as f64 / summary.duration_s } else { 0.0 };
        page.entry(
            "rate",
            Tone::Normal,
            &format!(
                "{}/s asked for, {}/s fell due, {}/s answered, {}/s succeeded",
                story::rate(offered),
                story::rate(fell_due),
                story::rate(summary.qps),
                story::rate(summary.qps_succeeded)
            ),
        );
    }
    let requests = &summary.requests;
    page.entry(
        "account",
        Tone::Normal,
        &format!(
            "{} due = {} succeeded + {} failed + {} unsent",
            count(requests.due),
            count(requests.succeeded),
            count(requests.failed),
            count(requests.unsent)
        ),
    );
    if let Some(law) = &reading.littles_law {
        let sides = format!("{} in flight by count, {} by rate and service time", story::rate(law.in_flight), story::rate(law.expected));
        let (error, tolerance) = (quantity::tenths(law.error), quantity::tenths(law.tolerance));
        if law.holds {
            page.entry("Little's law", Tone::Normal, &format!("holds: {sides} ({error} % apart, {tolerance} % allowed)"));
        } else {
            let text =
                format!("does not hold: {sides} ({error} % apart, {tolerance} % allowed). Requests or times were lost: do not trust them");
            page.entry("Little's law", Tone::Bad, &text);
        }
    }
    for disturbance in disturbances(&reading.validity) {
        page.entry("caution", Tone::Caution, &disturbance);
    }
    for quirk in &summary.quirks {
        page.entry("oddity", Tone::Normal, &format!("{} {}", count(quirk.count), visible(&quirk.about)));
    }
    for warning in &summary.warnings {
        page.entry("warning", Tone::Caution, &visible(warning));
    }
    let memory =
        summary.generator.memory_bytes_max.map_or_else(String::new, |most| format!(", {} of memory used at most", bytes(most as f64)));
    page.entry("measured by", Tone::Aside, &format!("{}{memory}; {}", measured_on(summary), began(summary)));
    for (names, machine) in other_machines(summary) {
        page.entry("", Tone::Aside, &format!("{names}: {machine}"));
    }
}
