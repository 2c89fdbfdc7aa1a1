//! The page of a sweep.

use analysis::bottleneck::Finding;
use analysis::curve_words::parameters;
use analysis::gate::{Check, Verdict};
use analysis::knee::Best;
use analysis::quantity::{counted, figure, percent, time};
use analysis::{LevelEvents, LevelRow, Standing, StreamUnit, Sweep, Topic, by_topic, conclusion, promises_kept, scaling};
use serde::Serialize;

use super::profiled::{self, Flame};
use super::watched::{self, Climb};
use super::{Answer, Badge, Figure, Kind, Question, RenderedPage, SCHEMA, Table, Tone, View, written};
use crate::chart::sweep::{Ladder, times_count};
use crate::server_side::{self, Rows};
use crate::sweep::table::{self, CountUnit};
use crate::text::measured_on;
use crate::visible::visible;
use crate::{Style, profiles, story};

/// What the charts of a sweep draw.
#[derive(Debug, Serialize)]
struct Data {
    levels: &'static str,
    points: Vec<Point>,
    /// Single runs, where levels were repeated: level and QPS.
    runs: Vec<(f64, f64)>,
    fit: Option<Fit>,
    best: Option<f64>,
    observed: Vec<Climb>,
    profiles: Vec<Flame>,
}

/// A level as charts show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Point {
    pub(super) level: f64,
    pub(super) qps: f64,
    pub(super) ttlb_mean_ns: Option<f64>,
    pub(super) ttlb_p99_ns: Option<u64>,
    pub(super) success_percent: f64,
    /// Of a scenario: journeys finished a second, and answers for each of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tps: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requests_per_journey: Option<f64>,
    /// Of answers that stream.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) events: Option<LevelEvents>,
    pub(super) generator_limited: bool,
}

/// The model: its name, and level, lower end, value and upper end.
#[derive(Debug, Serialize)]
struct Fit {
    name: String,
    points: Vec<(f64, f64, f64, f64)>,
}

/// The page.
#[must_use]
pub fn sweep(sweep: &Sweep) -> RenderedPage {
    written(view(sweep))
}

fn view(sweep: &Sweep) -> View<Data> {
    let (rows, scaling) = (sweep.rows(), scaling(sweep));
    let findings = analysis::limits::of_sweep(sweep);
    let taken = profiles::of_sweep(sweep);
    let ladder = Ladder::of(sweep.levels.first().or(rows.first().map(|row| &row.level)).copied());
    let open = ladder != Ladder::Users;
    let said = by_topic(&rows, &scaling, sweep.stopped.as_ref());
    let first = sweep.trials.first().map(|trial| &trial.summary);
    let mut about = Vec::new();
    if let Some(summary) = first {
        let how = match (open, summary.plan.scenario().is_some()) {
            (true, true) => "journeys begin at the rate of the level, whether or not the server keeps up (open load)",
            (true, false) => "requests fall due at the offered rate, whether or not the server keeps up (open load)",
            (false, true) => {
                "each user goes on when the last answer is there and its pause over, so users slow down with the server (closed load)"
            }
            (false, false) => "each user sends again as soon as the last answer is there, so users slow down with the server (closed load)",
        };
        about.push(how.to_owned());
        if let Some(duration) = summary.plan.duration() {
            let times = sweep.trials.iter().map(|trial| trial.repetition).max().unwrap_or(1);
            let again = if times > 1 { format!(", {}", counted(times.into(), "time")) } else { String::new() };
            about.push(format!("{}, each for {duration}{again}", counted(rows.len() as u64, "level")));
        }
    }
    let at = |standing: Standing| {
        let levels: Vec<String> = rows.iter().filter(|row| row.standing == standing).map(|row| row.level.to_string()).collect();
        (!levels.is_empty()).then(|| (standing, format!("at {}", levels.join(", "))))
    };
    let mut doubted = [Standing::Invalid, Standing::Degraded].into_iter().filter_map(at);
    let standing = match doubted.next() {
        Some((worst, why)) => {
            let why = doubted.fold(why, |why, (standing, at)| format!("{why}; {standing} {at}"));
            Some(Badge { word: worst.to_string(), tone: Tone::Caution, why })
        }
        None => (!rows.is_empty()).then(|| super::run::mark(Standing::Valid, String::new())),
    };
    let points: Vec<Point> = rows
        .iter()
        .map(|row| Point {
            level: row.level.value(),
            qps: row.qps,
            ttlb_mean_ns: row.ttlb_mean_ns.filter(|_| times_count(row.success_percent)),
            ttlb_p99_ns: row.ttlb_p99.map(|p99| p99.0).filter(|_| times_count(row.success_percent)),
            success_percent: row.success_percent,
            tps: row.journeys.as_ref().map(|journeys| journeys.tps),
            requests_per_journey: row.journeys.as_ref().and_then(|journeys| journeys.requests_per_journey),
            events: row.events,
            generator_limited: row.generator_limit.is_some(),
        })
        .collect();
    let repeated = rows.iter().any(|row| row.repetitions > 1);
    let runs = sweep.trials.iter().filter(|_| repeated).map(|trial| (trial.level.value(), trial.summary.qps_succeeded)).collect();
    let drawn = scaling.curve.as_ref().and_then(|curve| curve.drawn());
    let fit = drawn.map(|drawn| Fit {
        name: drawn.name,
        points: drawn.points.iter().map(|it| (it.level, it.throughput.low, it.throughput.value, it.throughput.high)).collect(),
    });
    let best = if let Best::At { level, .. } = scaling.best { Some(level) } else { None };
    let mut tables = Vec::new();
    let levels = rows.iter().map(|row| table::cells(row).into_iter().chain([table::remark(row)]).collect()).collect();
    if let Some(first) = rows.first() {
        let heads = table::heads(first.level, CountUnit::of(first)).into_iter().map(|head| format!("#{head}"));
        let heads: Vec<String> = heads.chain([String::new()]).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        tables.push(Table::new("levels", "Levels", &heads, levels).noted(table::legend(&rows)));
    }
    if let Some(table::Failed { heads: [level, part, begun, failed, most], rows }) = table::failed_parts(&rows) {
        let heads = [&format!("#{level}"), part, &format!("#{begun}"), &format!("#{failed}"), most];
        let title = if part == "step" { "Steps with failures" } else { "Where requests failed" };
        tables.push(Table::new("failed-steps", title, &heads, rows.into_iter().map(Vec::from).collect()));
    }
    if let Some((curve, model)) = scaling.curve.as_ref().and_then(|curve| Some((curve, curve.reading.model.as_ref()?))) {
        let rows = parameters(model, curve.pausing).into_iter().map(|it| {
            vec![it.about.to_owned(), it.value.to_string(), it.interval.map_or_else(|| "without end".to_owned(), |it| it.to_string())]
        });
        let title = format!("The model: {}", analysis::curve_words::name(model, curve.pausing));
        tables.push(Table::new("model", &title, &["parameter", "#value", "#95 % interval"], rows.collect()));
    }
    tables.extend(super::limits::table(&findings));
    tables.extend(watched::table("level", Rows::of_loads(&server_side::levels(sweep))));
    tables.extend(profiled::growth(&taken));
    let of_trials = sweep.trials.iter().flat_map(|trial| &trial.summary.warnings);
    let mut warnings: Vec<String> = of_trials.chain(&sweep.warnings).map(|it| visible(it)).collect();
    warnings.sort();
    warnings.dedup();
    let mut remarks: Vec<String> = said.iter().map(|(_, sentence)| sentence.clone()).collect();
    remarks.extend(promises_kept(&sweep.checks, &rows));
    remarks.extend(warnings);
    remarks.extend(profiled::remarks(&taken));
    View {
        schema: SCHEMA,
        kind: Kind::Sweep,
        title: first.map_or_else(|| visible(&sweep.name), |run| story::request_of(&run.plan)),
        about,
        standing,
        answers: Answer::unkept(&unkept(sweep, &rows), "levels")
            .into_iter()
            .chain(answers(&said, scaling.curve.is_some(), &findings))
            .collect(),
        remarks,
        figures: figures(&points, best, ladder),
        tables,
        text: text(sweep),
        measured_by: measured_by(sweep),
        data: Data {
            levels: ladder.key(),
            points,
            runs,
            fit,
            best,
            observed: observed(sweep, &findings),
            profiles: profiled::flames(&taken),
        },
    }
}

/// The server's side against the levels.
fn observed(sweep: &Sweep, findings: &[Finding]) -> Vec<Climb> {
    let loads: Vec<_> = sweep.by_level().into_iter().map(|(level, runs)| (level.value(), runs)).collect();
    watched::climbs(&loads, findings)
}

/// What is said of checks that were broken at some level.
fn unkept(sweep: &Sweep, rows: &[LevelRow]) -> Vec<String> {
    let broken: Vec<Check> = sweep.checks.iter().filter(|check| rows.iter().any(|row| row.broken.contains(check))).cloned().collect();
    promises_kept(&broken, rows).into_iter().take(broken.len()).map(|said| format!("{}: {said}", Verdict::Broken.name())).collect()
}

fn answers(said: &[(Topic, String)], curve: bool, findings: &[Finding]) -> Vec<Answer> {
    let about = |topic: Topic| said.iter().filter(|(of, _)| *of == topic).map(|(_, sentence)| sentence.as_str()).collect::<Vec<_>>();
    let carries = about(Topic::Carries).join(" ");
    // The sentence stands alone here, and not after the one about the peak.
    let knee = about(Topic::Knee).join(" ").replacen("That is also", "The peak is also", 1);
    let events = about(Topic::Events).join(" ");
    let failures = about(Topic::Failures);
    let failing = failures.iter().any(|sentence| !sentence.starts_with("No request failed"));
    let shape = about(Topic::Curve).into_iter().next();
    let limit = shape.into_iter().chain(about(Topic::Generator)).collect::<Vec<_>>().join(" ");
    vec![
        Answer::measured(Question::Carries, carries, "throughput"),
        match (knee.is_empty(), events.is_empty()) {
            (true, true) => Answer::not_measured(Question::Knee, "These levels do not show a knee"),
            (false, true) => Answer::measured(Question::Knee, knee, "throughput"),
            (true, false) => Answer::measured(Question::Knee, events, "events"),
            (false, false) => Answer::measured(Question::Knee, format!("{knee} {events}"), "events"),
        },
        Answer::measured(Question::Fails, failures.join(" "), "success").toned(if failing { Tone::Caution } else { Tone::Plain }),
        match super::limits::answer(findings) {
            Some(answer) => Answer { sentence: format!("{} {limit}", answer.sentence), ..answer },
            None => Answer::measured(Question::Limits, limit, if curve { "throughput" } else { "levels" }),
        },
    ]
}

/// The level with the highest QPS; of equals the lowest, as in the charts.
pub(super) fn top(points: &[Point]) -> Option<&Point> {
    let measured = points.iter().filter(|point| point.qps.is_finite());
    measured.reduce(|top, point| {
        let is_higher = point.qps > top.qps || (point.qps == top.qps && point.level < top.level);
        if is_higher { point } else { top }
    })
}

fn figures(points: &[Point], best: Option<f64>, ladder: Ladder) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(top) = top(points) {
        figures.push(Figure::new("highest QPS", figure(top.qps), format!("at {}", ladder.in_words(top.level))));
    }
    let travelled = points.iter().filter_map(|point| Some((point, point.tps?)));
    if let Some((top, tps)) = travelled.max_by(|a, b| a.1.total_cmp(&b.1)) {
        let each = top.requests_per_journey.map_or_else(String::new, |each| format!(", {} requests a journey", figure(each)));
        figures.push(Figure::new("highest TPS", figure(tps), format!("at {}{each}", ladder.in_words(top.level))));
    }
    let streamed = points.iter().filter_map(|point| Some((point, point.events?)));
    if let Some((top, events)) = streamed.reduce(|top, next| if next.1.per_second() > top.1.per_second() { next } else { top }) {
        let what = match events.unit() {
            StreamUnit::Events => "most events a second",
            StreamUnit::Tokens => "most tokens a second",
        };
        figures.push(Figure::new(what, story::rate(events.per_second()), format!("at {}", ladder.in_words(top.level))));
    }
    if let Some(point) = best.and_then(|best| points.iter().find(|point| point.level == best)) {
        figures.push(Figure::new("best level", ladder.in_words(point.level), format!("{} QPS", figure(point.qps))));
        if let Some(mean) = point.ttlb_mean_ns {
            figures.push(Figure::new("latency there", time(mean), "mean response time"));
        }
    }
    if let Some(lowest) = points.iter().min_by(|a, b| a.success_percent.total_cmp(&b.success_percent)) {
        figures.push(Figure::new(
            "lowest success",
            format!("{} %", percent(lowest.success_percent)),
            format!("at {}", ladder.in_words(lowest.level)),
        ));
    }
    figures
}

/// The table and what follows from it, as on a terminal.
pub(crate) fn text(sweep: &Sweep) -> String {
    let rows = sweep.rows();
    let Some(first) = rows.first() else { return "No level was measured.\n".to_owned() };
    let mut text = format!("{}\n", table::header(first.level, CountUnit::of(first), &Style::PLAIN));
    rows.iter().for_each(|row| text += &format!("{}\n", table::row(row, &Style::PLAIN)));
    text += &table::failed_parts_text(&rows, &Style::PLAIN);
    text += "\n";
    let said = conclusion(&rows, &scaling(sweep), sweep.stopped.as_ref()).into_iter().chain(promises_kept(&sweep.checks, &rows));
    said.for_each(|sentence| text += &format!("{sentence}\n"));
    text += &server_side::of_sweep(sweep, usize::from(Style::PLAIN.width));
    crate::limits::sentences(&analysis::limits::of_sweep(sweep)).iter().for_each(|sentence| text += &format!("{sentence}\n"));
    profiles::told_of(&profiles::of_sweep(sweep)).iter().for_each(|(sentence, table)| text += &format!("\n{sentence}\n\n{table}"));
    text
}

fn measured_by(sweep: &Sweep) -> String {
    let by = sweep.trials.first().map_or_else(String::new, |trial| measured_on(&trial.summary) + "; ");
    format!("{by}started {}", visible(&sweep.started))
}
