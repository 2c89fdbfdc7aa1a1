//! What real traffic looks like, in words and as JSON.
//!
//! Whoever reads this is about to choose a load: how many requests a second, over which routes, from how many users, in which
//! bursts. So those come first, in this order, each with when and of how many; and before all of them, what was read and what
//! could not be, since a description of half a log is of no traffic at all.

mod notes;
pub(crate) mod urls;

use std::collections::BTreeMap;
use std::io;

use analysis::quantity::{NONE, bytes, count, counted, figure, percent, share, time};
use import::{Agents, Compression, File, NameCount, Referers, Route, Times, Traffic, TrafficTimeline, Users, utc};

pub use notes::{in_words, notes, stand_ins};

use crate::Style;
use crate::columns::{Columns, wrapped};
use crate::visible::visible;

/// Routes in the text; JSON and the page have all.
const ROUTES_LISTED: usize = 30;
/// A route is cut here.
const ROUTE_LETTERS: usize = 38;
/// Where the text beside a name begins.
const MARGIN: usize = 19;

/// A log's traffic, and what it becomes as a load where that is wanted.
#[derive(Debug, Clone)]
pub struct TrafficReport {
    /// What the log says.
    pub traffic: Traffic,
    /// It as a scenario, in YAML; a comment where nothing can be sent, and nothing where it is not wanted.
    pub scenario: String,
    /// The table of paths that the scenario draws from, as CSV, if it does.
    pub paths: Option<String>,
}

/// Every figure, with the keys of [`Traffic`].
///
/// # Errors
/// Only where writing to memory fails.
pub(crate) fn json(traffic: &Traffic) -> io::Result<Vec<u8>> {
    let mut written = Vec::new();
    crate::json::write_json(traffic, &mut written)?;
    Ok(written)
}

/// For people.
#[must_use]
pub fn text(traffic: &Traffic, style: &Style) -> String {
    let mut page = Page { text: String::from("\n"), width: style.columns() };
    page.say(&answer(traffic));
    page.gap();
    for file in &traffic.files {
        page.entry("read", &read(file));
    }
    for unread in &traffic.unread {
        page.entry("not read", &format!("{} {}", counted(unread.lines, "line"), singular(unread.lines, unread.reason.words())));
        for example in &unread.examples {
            page.entry("", &format!("{}:{}  {}", visible(&example.file), example.line, visible(&example.text)));
        }
    }
    for remark in &traffic.remarks {
        page.entry("noticed", &visible(remark));
    }
    if let Some(course) = &traffic.course {
        page.gap();
        throughput(traffic, course, &mut page);
        bursts(course, &mut page);
        day(course, &mut page);
        if let Some(days) = days(course) {
            page.entry("days", &days);
        }
    }
    if traffic.requests > 0 {
        page.gap();
        statuses(traffic, &mut page);
        if let Some(missing) = not_found(traffic) {
            page.entry("not found", &missing);
        }
        if let Some(agents) = &traffic.agents {
            page.entry("programs", &programs(agents));
        }
        if let Some(referers) = &traffic.referers {
            page.entry("came from", &came_from(referers, traffic.requests));
        }
        page.gap();
        routes(traffic, &mut page);
    }
    if let Some(users) = &traffic.users {
        page.gap();
        self::users(users, &mut page);
    }
    page.text
}

struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn gap(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn say(&mut self, text: &str) {
        wrapped(text, self.width - 2).iter().for_each(|line| self.text += &format!("  {line}\n"));
    }

    fn entry(&mut self, name: &str, text: &str) {
        let margin = MARGIN - 2;
        for (at, line) in wrapped(text, self.width - MARGIN).iter().enumerate() {
            self.text += &format!("  {:<margin$}{line}\n", if at == 0 { name } else { "" });
        }
    }

    fn table(&mut self, columns: &Columns, least: &[&str]) {
        columns.within(self.width - 2, least).iter().for_each(|line| self.text += &format!("  {line}\n"));
    }
}

/// The sentence that stands first.
pub(crate) fn answer(traffic: &Traffic) -> String {
    let Some(course) = &traffic.course else {
        return if traffic.lines == 0 {
            "The log is empty.".to_owned()
        } else {
            format!("None of {} tells of a request.", counted(traffic.lines, "line"))
        };
    };
    format!(
        "{} requests a second on average, {} in the busiest second: {} from {} to {}.",
        figure(course.mean_per_s),
        count(course.peak_second.requests),
        counted(traffic.requests, "request"),
        utc(course.first_s),
        utc(course.last_s)
    )
}

/// What was read of a file.
pub(crate) fn read(file: &File) -> String {
    let packed = match file.packed {
        Compression::Plain => "",
        Compression::Gzip => ", gzip",
        Compression::Zstd => ", Zstandard",
    };
    let form = match &file.form {
        Some(form) if file.guessed => format!("looks like {form}{packed}"),
        Some(form) => format!("read as {form}{packed}"),
        None if file.lines == 0 => format!("empty{packed}"),
        None => format!("of no known form{packed}"),
    };
    format!(
        "{}: {form}; {} of {} ({})",
        visible(&file.name),
        counted(file.requests, "request"),
        counted(file.lines, "line"),
        bytes(file.bytes_read as f64)
    )
}

/// One line *has* what several *have*.
pub(crate) fn singular(lines: u64, words: &str) -> String {
    if lines != 1 {
        return words.to_owned();
    }
    let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
    let verb = match verb {
        "have" => "has",
        "are" => "is",
        "end" => "ends",
        "hold" => "holds",
        verb => verb,
    };
    format!("{verb} {rest}")
}

/// Average and peaks: name, requests a second, requests, when.
pub(crate) fn peaks(traffic: &Traffic, course: &TrafficTimeline) -> Vec<Vec<String>> {
    let row = |name: &str, peak: &import::Peak, seconds: f64| {
        vec![name.to_owned(), figure(peak.requests as f64 / seconds), count(peak.requests), utc(peak.at_s)]
    };
    vec![
        vec!["average".to_owned(), figure(course.mean_per_s), count(traffic.requests), format!("over {}", span(course.covered_s))],
        row("busiest hour", &course.peak_hour, 3600.0),
        row("busiest minute", &course.peak_minute, 60.0),
        row("busiest second", &course.peak_second, 1.0),
    ]
}

fn throughput(traffic: &Traffic, course: &TrafficTimeline, page: &mut Page) {
    let mut table = Columns::new(&["throughput", "a second", "requests", "when"]);
    peaks(traffic, course).iter().for_each(|row| table.row(row));
    page.table(&table, &["requests"]);
}

/// The sentence about burstiness.
pub(crate) fn burstiness(course: &TrafficTimeline) -> Option<String> {
    let known = course.dispersion.iter().filter_map(|it| {
        let ratio = it.within_the_hour?;
        let window = if it.window_s == 60 { "a minute".to_owned() } else { format!("{} s", it.window_s) };
        let words = if ratio < 0.7 {
            "steadier than"
        } else if ratio < 1.5 {
            "as"
        } else if ratio < 5.0 {
            "burstier than"
        } else {
            "much burstier than"
        };
        Some(format!("over {window} {words} independent users ({} × their variance)", figure(ratio)))
    });
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| known.join(", "))
}

fn bursts(course: &TrafficTimeline, page: &mut Page) {
    page.gap();
    page.entry("burstiness", &burstiness(course).unwrap_or_else(|| "unknown: the log is shorter than half a minute".to_owned()));
}

/// A bar for each hour.
fn day(course: &TrafficTimeline, page: &mut Page) {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = course.time_of_day.iter().copied().max().unwrap_or(0).max(1);
    if course.covered_s < 6 * 3600 {
        return;
    }
    let bars: String = course
        .time_of_day
        .iter()
        .map(|requests| BARS[if *requests == 0 { 0 } else { ((*requests as f64 / most as f64) * 8.0).ceil() as usize }])
        .collect();
    let busiest = course.time_of_day.iter().position(|requests| *requests == most).unwrap_or(0);
    page.entry("time of day", &format!("0h {bars} 24h, most from {busiest}:00 to {}:00 by the server's clock", busiest + 1));
}

/// Statuses in a line.
pub(crate) fn in_line(all: &[import::StatusCount], requests: u64) -> String {
    let mut all: Vec<_> = all.to_vec();
    all.sort_by(|a, b| b.requests.cmp(&a.requests).then(a.status.cmp(&b.status)));
    let words: Vec<String> = all
        .iter()
        .map(|it| {
            let name = if it.status == 0 { "none".to_owned() } else { it.status.to_string() };
            format!("{name} {} ({})", count(it.requests), share(it.requests, requests))
        })
        .collect();
    words.join(", ")
}

fn statuses(traffic: &Traffic, page: &mut Page) {
    page.entry("statuses", &in_line(&traffic.statuses, traffic.requests));
    if traffic.bytes > 0 {
        page.entry(
            "answers",
            &format!("{}, {} each on average", bytes(traffic.bytes as f64), bytes(traffic.bytes as f64 / traffic.requests as f64)),
        );
    }
    if let Some(took) = &traffic.took {
        page.entry("took", &format!("{}, as logged for {}", times(took), counted(took.count, "request")));
    }
}

/// Days that are listed.
const DAYS_LISTED: usize = 14;

/// Requests of each day, where there are several.
pub(crate) fn days(course: &TrafficTimeline) -> Option<String> {
    const DAY_S: i64 = 86_400;
    let mut days: BTreeMap<i64, u64> = BTreeMap::new();
    for point in &course.timeline {
        *days.entry(point.at_s.div_euclid(DAY_S)).or_default() += point.requests;
    }
    if days.len() < 2 || i64::from(course.step_s) > DAY_S {
        return None;
    }
    let date = |day: i64| utc(day * DAY_S).chars().take(10).collect::<String>();
    let said = |(day, requests): (&i64, &u64)| format!("{} {}", date(*day), count(*requests));
    if days.len() <= DAYS_LISTED {
        return Some(format!("{} (UTC)", days.iter().map(said).collect::<Vec<_>>().join(", ")));
    }
    let most = days.iter().max_by_key(|(_, requests)| **requests).map(said)?;
    let least = days.iter().min_by_key(|(_, requests)| **requests).map(said)?;
    Some(format!("{} (UTC); most on {most}, fewest on {least}", counted(days.len() as u64, "day")))
}

/// Routes that are listed because they were not found.
const NOT_FOUND_LISTED: usize = 5;

/// The routes most often answered with 404.
pub(crate) fn not_found(traffic: &Traffic) -> Option<String> {
    let missing = |route: &Route| route.statuses.iter().filter(|it| it.status == 404).map(|it| it.requests).sum::<u64>();
    let mut routes: Vec<(u64, &Route)> =
        traffic.routes.iter().map(|route| (missing(route), route)).filter(|(count, _)| *count > 0).collect();
    routes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let all: u64 = routes.iter().map(|(count, _)| count).sum();
    let listed: Vec<String> = routes
        .iter()
        .take(NOT_FOUND_LISTED)
        .map(|(requests, route)| format!("{} {}", cut(&visible(&route.path)), count(*requests)))
        .collect();
    let more = if routes.len() > NOT_FOUND_LISTED {
        format!(", and {} more", count((routes.len() - NOT_FOUND_LISTED) as u64))
    } else {
        String::new()
    };
    (all > 0).then(|| format!("{} (404), most of all {}{more}", counted(all, "request"), listed.join(", ")))
}

/// Who asked, by what programs call themselves.
pub(crate) fn programs(agents: &Agents) -> String {
    let listed = with_shares(&agents.listed, agents.requests);
    let named = if listed.is_empty() { String::new() } else { format!(": {listed}") };
    format!(
        "robots {} of requests, tools such as curl {}{named}",
        share(agents.robots, agents.requests),
        share(agents.tools, agents.requests)
    )
}

/// Which servers' pages led to requests, as shares of all of them.
pub(crate) fn came_from(referers: &Referers, requests: u64) -> String {
    format!("pages of {}; {} name none", with_shares(&referers.listed, requests), share(requests - referers.requests, requests))
}

/// The first names of a list.
fn with_shares(listed: &[NameCount], of: u64) -> String {
    let named: Vec<String> = listed.iter().take(5).map(|it| format!("{} {}", visible(&it.name), share(it.requests, of))).collect();
    named.join(", ")
}

/// A route as long as the table has room.
fn cut(route: &str) -> String {
    if route.chars().count() > ROUTE_LETTERS { route.chars().take(ROUTE_LETTERS - 1).chain(['…']).collect() } else { route.to_owned() }
}

/// Percentiles in a line.
pub(crate) fn times(times: &Times) -> String {
    format!(
        "p50 {}, p90 {}, p99 {}, max {}",
        time(times.p50_ns as f64),
        time(times.p90_ns as f64),
        time(times.p99_ns as f64),
        time(times.max_ns as f64)
    )
}

/// The heads of routes.
pub(crate) const ROUTE_HEADS: [&str; 9] = ["route", "requests", "share", "sum", "errors", "bytes", "p50", "p99", "statuses"];

/// What a narrow terminal does without, the least first.
const ROUTES_LEAST: [&str; 3] = ["sum", "p50", "requests"];

/// A route as cells.
pub(crate) fn cells(route: &Route) -> Vec<String> {
    let took = |pick: fn(&Times) -> u64| route.took.as_ref().map_or_else(|| NONE.to_owned(), |it| time(pick(it) as f64));
    let mut statuses: Vec<_> = route.statuses.clone();
    statuses.sort_by(|a, b| b.requests.cmp(&a.requests).then(a.status.cmp(&b.status)));
    let listed: Vec<String> = statuses
        .iter()
        .take(4)
        .map(|it| if statuses.len() == 1 { it.status.to_string() } else { format!("{} ×{}", it.status, count(it.requests)) })
        .collect();
    let more = if statuses.len() > 4 { " …" } else { "" };
    let name = format!("{} {}", route.method, route.path);
    let name: String = visible(name.trim());
    vec![
        name,
        count(route.requests),
        format!("{} %", percent(route.share * 100.0)),
        format!("{} %", percent(route.cumulative_share * 100.0)),
        share(route.failed(), route.requests),
        if route.bytes > 0 { bytes(route.bytes as f64) } else { NONE.to_owned() },
        took(|it| it.p50_ns),
        took(|it| it.p99_ns),
        format!("{}{more}", listed.join(", ")),
    ]
}

fn routes(traffic: &Traffic, page: &mut Page) {
    let timed = traffic.took.is_some();
    // Statuses stand in the totals; a column of lists would make every row two lines.
    let sized = traffic.bytes > 0;
    let keep = |at: usize| at < 5 || (sized && at == 5) || (timed && (at == 6 || at == 7));
    let picked =
        |cells: Vec<String>| -> Vec<String> { cells.into_iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, cell)| cell).collect() };
    let heads: Vec<&str> = ROUTE_HEADS.iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, head)| *head).collect();
    let mut table = Columns::new(&heads);
    for route in traffic.routes.iter().take(ROUTES_LISTED).chain(&traffic.others) {
        let mut cells = cells(route);
        cells[0] = cut(&cells[0]);
        table.row(&picked(cells));
    }
    page.table(&table, &ROUTES_LEAST);
    if traffic.routes.len() > ROUTES_LISTED {
        let rest: u64 = traffic.routes[ROUTES_LISTED..].iter().map(|route| route.requests).sum();
        page.entry(
            "",
            &format!(
                "and {} with {} of requests: --out json=FILE or html=FILE has all",
                counted((traffic.routes.len() - ROUTES_LISTED) as u64, "more route"),
                share(rest, traffic.requests)
            ),
        );
    }
}

fn users(users: &Users, page: &mut Page) {
    let about = if users.exact { "" } else { "about " };
    page.entry(
        "users",
        &format!(
            "{about}{} by address; half make at most {}, one in ten more than {}, the largest {}",
            count(users.users),
            counted(users.requests_p50, "request"),
            count(users.requests_p90),
            count(users.requests_max)
        ),
    );
    let shares: Vec<String> = users
        .shares
        .iter()
        .map(|it| format!("{} % of users make {} %", percent(it.of_users * 100.0), percent(it.of_requests * 100.0)))
        .collect();
    page.entry("", &shares.join(", "));
    page.entry("sessions", &sessions(users));
    if let Some(pauses) = &users.pauses {
        page.entry(
            "pauses",
            &format!(
                "between requests of a session: p50 {}, p90 {}, p99 {}",
                time(pauses.p50_ns as f64),
                time(pauses.p90_ns as f64),
                time(pauses.p99_ns as f64)
            ),
        );
    }
}

/// The sentence about sessions.
pub(crate) fn sessions(users: &Users) -> String {
    let about = if users.exact { "" } else { "about " };
    let length = users.session_length.as_ref().map_or_else(String::new, |it| {
        format!(
            "; those with more than one request last {} at p50, {} at p90",
            span(it.p50_ns / 1_000_000_000),
            span(it.p90_ns / 1_000_000_000)
        )
    });
    format!(
        "{about}{} (half an hour of silence ends one), half with at most {}, one in ten with more than {}{length}",
        count(users.sessions),
        counted(users.session_requests_p50, "request"),
        count(users.session_requests_p90)
    )
}

/// Seconds as people say them.
pub(crate) fn span(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", figure(seconds as f64 / 60.0)),
        7200..172_800 => format!("{} h", figure(seconds as f64 / 3600.0)),
        _ => format!("{} days", figure(seconds as f64 / 86_400.0)),
    }
}
