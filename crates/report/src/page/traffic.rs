//! The page of a log's traffic.

use analysis::quantity::{count, counted, figure, percent};
use import::{NameCount, Point, Traffic};
use serde::Serialize;

use super::{Answer, Figure, Kind, Question, RenderedPage, SCHEMA, Table, View, finished, written};
use crate::Style;
use crate::traffic::{
    ROUTE_HEADS, answer, burstiness, came_from, cells, days, not_found, peaks, programs, read, sessions, singular, text, times,
};
use crate::visible::visible;

/// Routes in the table of a page: more is a file to search in, not a page.
const ROUTES_MOST: usize = 500;
/// Routes in the chart.
const ROUTES_DRAWN: usize = 20;

/// What the charts draw.
#[derive(Debug, Serialize)]
struct Data<'a> {
    first_s: i64,
    step_s: u32,
    timeline: &'a [Point],
    time_of_day: &'a [u64],
    routes: Vec<Drawn>,
}

#[derive(Debug, Serialize)]
struct Drawn {
    name: String,
    share: f64,
    cumulative_share: f64,
}

/// How much of what was read, and from when to when.
fn span(traffic: &Traffic) -> String {
    let all = format!("{} of {}", counted(traffic.requests, "request"), counted(traffic.files.len() as u64, "log"));
    match traffic.course.as_ref() {
        Some(course) => {
            let last = course.timeline.last().map_or(course.first_s, |point| point.at_s + i64::from(course.step_s));
            format!("{all}, {} to {}", import::utc(course.first_s), import::utc(last))
        }
        None => all,
    }
}

/// The page.
#[must_use]
pub fn traffic(traffic: &Traffic) -> RenderedPage {
    let course = traffic.course.as_ref();
    let none: &[u64] = &[];
    let mut answers = vec![match course {
        Some(_) => Answer::measured(Question::Comes, answer(traffic), "course"),
        None => Answer::not_measured(Question::Comes, &answer(traffic)),
    }];
    if let Some(route) = traffic.routes.first() {
        let most = traffic.routes.iter().position(|it| it.cumulative_share >= 0.8).map_or(traffic.routes.len(), |at| at + 1);
        answers.push(Answer::measured(
            Question::Routes,
            format!(
                "{} make 80 % of the requests; the first is {} {} with {} %",
                counted(most as u64, "route"),
                visible(&route.method),
                visible(&route.path),
                percent(route.share * 100.0)
            ),
            "routes",
        ));
    }
    if let Some(users) = &traffic.users {
        let shares = users.shares.iter().find(|it| it.of_users == 0.1).map_or(0.0, |it| it.of_requests);
        answers.push(Answer::measured(
            Question::Users,
            format!(
                "{}{}; one in ten makes {} % of the requests",
                if users.exact { "" } else { "About " },
                counted(users.users, "address"),
                percent(shares * 100.0)
            )
            .replace("addresss", "addresses"),
            "users",
        ));
    }
    if let Some(words) = course.and_then(burstiness) {
        answers.push(Answer::measured(Question::Bursts, words, "course"));
    }
    let mut figures = Vec::new();
    if let Some(course) = course {
        figures.push(Figure::new("average", format!("{}/s", figure(course.mean_per_s)), "requests a second"));
        figures.push(Figure::new(
            "busiest minute",
            format!("{}/s", figure(course.peak_minute.requests as f64 / 60.0)),
            import::utc(course.peak_minute.at_s),
        ));
        figures.push(Figure::new(
            "busiest second",
            format!("{}/s", count(course.peak_second.requests)),
            import::utc(course.peak_second.at_s),
        ));
    }
    figures.push(Figure::new("requests", count(traffic.requests), format!("of {}", counted(traffic.lines, "line"))));
    if let Some(took) = &traffic.took {
        figures.push(Figure::new("p99", analysis::quantity::time(took.p99_ns as f64), "on the server, as logged"));
    }
    let mut tables = Vec::new();
    if let Some(course) = course {
        let days = days(course).map_or_else(String::new, |days| format!("Days: {}", finished(&days)));
        tables.push(Table::new("throughput", "Throughput", &["", "#a second", "#requests", "when"], peaks(traffic, course)).noted(days));
    }
    let heads: Vec<String> = ROUTE_HEADS
        .iter()
        .enumerate()
        .map(|(at, head)| if at == 0 || at + 1 == ROUTE_HEADS.len() { (*head).to_owned() } else { format!("#{head}") })
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows = traffic.routes.iter().take(ROUTES_MOST).chain(&traffic.others).map(cells).collect();
    let beyond = traffic.routes.len().saturating_sub(ROUTES_MOST);
    let note = if beyond > 0 { format!(" {} more are in the JSON.", count(beyond as u64)) } else { String::new() };
    tables.push(
        Table::new("routes", "Routes", &heads, rows)
            .noted(format!("Errors are statuses from 400 on. Segments that name things are told as what they are, such as {{id}}.{note}")),
    );
    let statuses = traffic
        .statuses
        .iter()
        .map(|it| vec![it.status.to_string(), count(it.requests), analysis::quantity::share(it.requests, traffic.requests)])
        .collect();
    let missing = not_found(traffic).map_or_else(String::new, |missing| format!("Not found: {}", finished(&missing)));
    tables.push(Table::new("statuses", "Statuses", &["status", "#requests", "#share"], statuses).noted(missing));
    if let Some(agents) = &traffic.agents {
        let rows = named(&agents.listed, agents.requests);
        tables.push(
            Table::new("programs", "Robots and tools", &["program", "#requests", "#share"], rows).noted(format!("{}.", programs(agents))),
        );
    }
    if let Some(referers) = &traffic.referers {
        let rows = named(&referers.listed, traffic.requests);
        let heads = &["server of the page", "#requests", "#share"];
        tables
            .push(Table::new("referers", "Where requests came from", heads, rows).noted(finished(&came_from(referers, traffic.requests))));
    }
    if let Some(users) = &traffic.users {
        let rows = users
            .largest
            .iter()
            .map(|it| vec![visible(&it.name), count(it.requests), analysis::quantity::share(it.requests, users.requests)])
            .collect();
        let pauses = users.pauses.as_ref().map_or_else(String::new, |it| format!(" Pauses in a session: {}.", times(it)));
        tables.push(
            Table::new("users", "The largest users", &["user", "#requests", "#share"], rows)
                .noted(format!("Sessions: {}.{pauses}", sessions(users))),
        );
    }
    if !traffic.unread.is_empty() {
        let rows = traffic
            .unread
            .iter()
            .flat_map(|it| {
                let what = format!("{} {}", counted(it.lines, "line"), singular(it.lines, it.reason.words()));
                let first = vec![what, String::new(), String::new()];
                std::iter::once(first).chain(
                    it.examples
                        .iter()
                        .map(|example| vec![String::new(), format!("{}:{}", visible(&example.file), example.line), visible(&example.text)]),
                )
            })
            .collect();
        tables.push(Table::new("unread", "Lines that tell of no request", &["why", "where", "how it begins"], rows));
    }
    written(View {
        schema: SCHEMA,
        kind: Kind::Traffic,
        title: traffic.files.first().map_or_else(
            || "traffic".to_owned(),
            |file| match traffic.files.len() {
                1 => visible(&file.name),
                more => format!("{} and {} more", visible(&file.name), more - 1),
            },
        ),
        about: vec![span(traffic)],
        standing: None,
        answers,
        remarks: traffic.remarks.iter().map(|it| visible(it)).collect(),
        figures,
        tables,
        text: text(traffic, &Style::PLAIN),
        measured_by: traffic.files.iter().map(read).collect::<Vec<_>>().join("; "),
        data: Data {
            first_s: course.map_or(0, |it| it.first_s),
            step_s: course.map_or(1, |it| it.step_s),
            timeline: course.map_or(&[], |it| &it.timeline),
            time_of_day: course.map_or(none, |it| &it.time_of_day),
            routes: traffic
                .routes
                .iter()
                .take(ROUTES_DRAWN)
                .map(|it| Drawn {
                    name: visible(&format!("{} {}", it.method, it.path)),
                    share: it.share,
                    cumulative_share: it.cumulative_share,
                })
                .collect(),
        },
    })
}

/// A row for each name with its share.
fn named(listed: &[NameCount], of: u64) -> Vec<Vec<String>> {
    listed.iter().map(|it| vec![visible(&it.name), count(it.requests), analysis::quantity::share(it.requests, of)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_found_and_the_requests_of_each_day_stand_below_their_tables() {
        let mut log = String::new();
        for hour in 0..40 {
            let (path, status) = if hour % 4 == 0 { ("/wp-login.php", 404) } else { ("/orders", 200) };
            let time = format!("2026-01-{:02}T{:02}:00:00Z", 2 + hour / 24, hour % 24);
            log += &format!("{}\n", serde_json::json!({"time": time, "method": "GET", "path": path, "status": status, "ip": "10.0.0.1"}));
        }
        let mut survey = import::Survey::new(import::FormChoice::default(), import::Personal::LeftOut);
        survey.read("access.log", log.as_bytes()).expect("memory can be read");
        let page: serde_json::Value = serde_json::from_str(traffic(&survey.finish()).json()).expect("a page is JSON");
        let note = |id: &str| {
            let tables = page["tables"].as_array().expect("a page has tables");
            tables.iter().find(|table| table["id"] == id).map(|table| table["note"].as_str().expect("a note is text").to_owned())
        };
        assert_eq!(note("throughput").as_deref(), Some("Days: 2026-01-02 24, 2026-01-03 16 (UTC)."));
        assert_eq!(note("statuses").as_deref(), Some("Not found: 10 requests (404), most of all /wp-login.php 10."));
    }
}
