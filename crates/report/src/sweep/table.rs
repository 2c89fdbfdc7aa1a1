//! The table of a sweep, which grows row by row while the levels are measured.
//!
//! A table that appears at its end leaves the user two minutes without a word. So its columns have fixed widths, wide
//! enough for every figure, and every row is written as soon as its level is measured; what only the whole can tell (which
//! level carries most) is said afterwards in words.

use analysis::gate::{Verdict, Why};
use analysis::quantity::{NONE, count, counted, figure, nanos, percent, time};
use analysis::{Level, LevelEvents, LevelPart, LevelRow, Standing, StreamUnit};
use measure::RowKind;
use plan::Plan;

use crate::chart::sweep::Ladder;
use crate::columns::{Column, grown, remarked};
use crate::style::Tone;
use crate::visible::{shortened, visible};
use crate::{Style, story};

/// The columns, in order; figures stand right-aligned under them.
const COLUMNS: [Column; 7] = [
    Column::new("", 9, 0),
    Column::new("QPS", 10, 0),
    Column::new("±", 7, 3),
    Column::new(LATENCY, 10, 0),
    Column::new("p99", 9, 1),
    Column::new("success", 10, 2),
    Column::new("loadline CPU", 13, 4),
];
const LATENCY: &str = "latency";
/// Of journeys, behind the column of QPS.
const TPS: Column = Column::new("TPS", 9, 0);
/// So many columns stand before it.
const BEFORE_TPS: usize = 2;

/// Of answers that stream, behind the columns of latency: by events, and by tokens where these are counted.
const EVENTS: [Column; 3] = [Column::new("events/s", 10, 0), Column::new("first p95", 9, 0), Column::new("between p99", 11, 0)];
const TOKENS: [Column; 3] = [Column::new("tokens/s", 10, 0), Column::new("first p95", 9, 0), Column::new("token p99", 11, 0)];
/// So many columns stand before them, without that of journeys.
const BEFORE_EVENTS: usize = 5;

/// What is counted at each level besides requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountUnit {
    /// The journeys that they are part of.
    pub journeys: bool,
    /// The events of their answers, or the tokens.
    pub events: Option<StreamUnit>,
}

impl CountUnit {
    /// Of a row.
    #[must_use]
    pub fn of(row: &LevelRow) -> Self {
        Self { journeys: row.journeys.is_some(), events: row.events.map(|events| events.unit()) }
    }

    /// Of a level before it is measured.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        Self { journeys: plan.scenario().is_some(), events: StreamUnit::of_plan(plan) }
    }
}

/// The heads of the columns, in order.
#[must_use]
pub fn heads(level: Level, counted: CountUnit) -> Vec<&'static str> {
    columns(level, counted).into_iter().map(|column| column.head).collect()
}

fn columns(level: Level, counted: CountUnit) -> Vec<Column> {
    let mut columns = COLUMNS.to_vec();
    columns[0].head = Ladder::of(Some(level)).head();
    // Of answers that stream, when the last byte came says least.
    let spare = u8::from(counted.events.is_some());
    if let Some(unit) = counted.events {
        columns.iter_mut().filter(|column| column.spare > 0 || column.head == LATENCY).for_each(|column| column.spare += 1);
        columns.splice(BEFORE_EVENTS..BEFORE_EVENTS, if unit == StreamUnit::Tokens { TOKENS } else { EVENTS });
    }
    if counted.journeys {
        columns.insert(BEFORE_TPS, Column { spare, ..TPS });
    }
    columns
}

/// The line over the rows.
#[must_use]
pub fn header(level: Level, counted: CountUnit, style: &Style) -> String {
    let heads: Vec<String> = heads(level, counted).into_iter().map(str::to_owned).collect();
    style.paint(Tone::Aside, &grown(&columns(level, counted), &heads, "", style.columns()))
}

/// One level. What failed and whether the generator was the limit stand behind the figures.
#[must_use]
pub fn row(row: &LevelRow, style: &Style) -> String {
    let (cells, columns) = (cells(row), columns(row.level, CountUnit::of(row)));
    let remark = remark(row);
    let tone = if row.failed > 0 || row.standing == Standing::Invalid || !row.broken.is_empty() { Tone::Bad } else { Tone::Caution };
    remarked(&columns, &cells, &remark, tone, style)
}

/// What the columns mean, in words; to stand under the table.
#[must_use]
pub fn legend(rows: &[LevelRow]) -> String {
    let mut said =
        "QPS: requests a second that succeeded. latency: mean response time, to the last byte. p99: 99 % of requests took at most this. \
                    loadline CPU: cores this tool used."
            .to_owned();
    if rows.iter().any(|row| row.journeys.is_some()) {
        said.push_str(" TPS: journeys finished a second.");
    }
    said.push_str(match rows.iter().find_map(|row| Some(row.events?.unit())) {
        None => "",
        Some(StreamUnit::Events) => {
            " events/s: events of all answers a second. first p95: 95 % of answers had their first event within this. between p99: 99 % of \
             events came at most this after the one before."
        }
        Some(StreamUnit::Tokens) => {
            " tokens/s: tokens of all answers a second. first p95: 95 % of answers had their first event within this. token p99: 99 % of \
             answers took at most this for each token behind the first."
        }
    });
    if rows.iter().any(|row| matches!(row.level, Level::Journeys(_))) {
        said.push_str(" begun/s: journeys begun a second, whether or not the server keeps up.");
    }
    if rows.iter().any(|row| row.qps_spread.is_some()) {
        said.push_str(" ±: standard deviation between repetitions.");
    }
    let degraded = rows.iter().find(|row| row.standing == Standing::Degraded && row.generator_limit.is_none());
    if let Some((row, doubt)) = degraded.and_then(|row| Some((row, row.doubt?))) {
        said.push_str(&format!(" DEGRADED, as at {}: {doubt}.", row.level));
    }
    let is_unsure = |events: &LevelEvents| events.first_event_p95.is_none() || events.next_p99().is_none();
    if rows.iter().any(|row| row.ttlb_p99.is_none() || row.events.as_ref().is_some_and(is_unsure)) {
        said.push_str(" –: too few requests to tell.");
    }
    said
}

pub(crate) fn cells(row: &LevelRow) -> Vec<String> {
    let none = || NONE.to_owned();
    let mut cells = vec![
        match row.level {
            Level::Users(users) => count(users.get().into()),
            Level::Offered(rate) | Level::Journeys(rate) => figure(rate.as_per_second()),
        },
        figure(row.qps),
        row.qps_spread.filter(|_| row.qps > 0.0).map_or_else(none, |spread| format!("{:.1} %", spread * 100.0 / row.qps)),
        row.ttlb_mean_ns.map_or_else(none, time),
        row.ttlb_p99.map_or_else(none, |p99| time(p99.0 as f64)),
        format!("{} %", percent(row.success_percent)),
        format!("{:.2}", row.generator_cpu),
    ];
    if let Some(events) = &row.events {
        let cells_of = [story::rate(events.per_second()), nanos(events.first_event_p95), nanos(events.next_p99())];
        cells.splice(BEFORE_EVENTS..BEFORE_EVENTS, cells_of);
    }
    if let Some(journeys) = &row.journeys {
        cells.insert(BEFORE_TPS, story::rate(journeys.tps));
    }
    cells
}

/// Where a scenario's requests failed: a row for each population, transaction and step of each level that has failures.
pub(crate) struct Failed {
    pub(crate) heads: [&'static str; 5],
    pub(crate) rows: Vec<[String; 5]>,
}

/// `None` where nothing failed.
pub(crate) fn failed_parts(rows: &[LevelRow]) -> Option<Failed> {
    let parts =
        || rows.iter().flat_map(|row| row.journeys.iter().flat_map(move |journeys| journeys.parts.iter().map(move |part| (row, part))));
    let are_steps = parts().all(|(_, part)| part.kind == RowKind::Step);
    let mut journeys = parts().filter(|(_, part)| part.kind == RowKind::Step).map(|(_, part)| &part.journey);
    let first = journeys.next();
    let several = journeys.any(|journey| Some(journey) != first);
    let cells = |(row, part): (&LevelRow, &LevelPart)| {
        let name = if several && part.kind == RowKind::Step { format!("{} · {}", part.journey, part.name) } else { part.name.clone() };
        let name = if are_steps { name } else { format!("{} {name}", part.kind.name()) };
        [
            row.level.to_string(),
            shortened(&visible(&name), PART_LETTERS_MAX),
            count(part.begun),
            count(part.failed),
            part.failure.map_or_else(|| NONE.to_owned(), |failure| failure.about().to_owned()),
        ]
    };
    let rows: Vec<[String; 5]> = parts().filter(|(_, part)| part.failed > 0).map(cells).collect();
    let heads = if are_steps {
        ["level", "step", "requests", "failed", "most often"]
    } else {
        ["level", "where", "number", "failed", "most often"]
    };
    (!rows.is_empty()).then_some(Failed { heads, rows })
}

/// The same for a terminal, under its title; nothing where no request failed.
#[must_use]
pub fn failed_parts_text(rows: &[LevelRow], style: &Style) -> String {
    let Some(Failed { heads, rows: failed }) = failed_parts(rows) else { return String::new() };
    let heads = heads.map(str::to_owned);
    let width = |column: usize| std::iter::once(&heads).chain(&failed).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let part_width = width(1);
    let columns =
        [Column::wide(width(0) + 1, 0), Column::wide(part_width + 1, 0), Column::wide(width(2) + 1, 1), Column::wide(width(3) + 1, 0)];
    let line = |row: &[String; 5]| {
        let [level, part, begun, failed, most] = row.clone();
        grown(&columns, &[level, format!(" {part:<part_width$}"), begun, failed], &most, style.columns())
    };
    let lines: String = failed.iter().map(|row| line(row) + "\n").collect();
    format!("\n{}\n{lines}", style.paint(Tone::Aside, &line(&heads)))
}

/// Longer names would push the figures off the page; the JSON holds them whole.
const PART_LETTERS_MAX: usize = 40;

/// What failed, and whether the generator was the limit.
pub(crate) fn remark(row: &LevelRow) -> String {
    let mut said = Vec::new();
    if row.failed > 0 {
        said.push(format!("{} failed, most often {}", count(row.failed), row.most_often()));
    }
    if let Some(journeys) = &row.journeys {
        if journeys.broke_off > 0 {
            let none = if journeys.completed == 0 { "no journey finished, " } else { "" };
            said.push(format!("{none}{} broke off", counted(journeys.broke_off, "journey")));
        } else if journeys.completed == 0 && row.due > 0 {
            said.push("no journey finished: measure longer".to_owned());
        }
    }
    match row.standing {
        Standing::Invalid => said.push("INVALID".to_owned()),
        _ if row.generator_limit.is_some() => said.push("loadline was the limit".to_owned()),
        Standing::Degraded => said.push("DEGRADED".to_owned()),
        Standing::Valid => {}
    }
    said.extend(row.broken.iter().map(|check| format!("{} {check}", Verdict::Broken.name())));
    said.extend(row.unjudged.iter().map(|check| format!("{} {check}", Verdict::NotJudgeable { why: Why::Nothing }.name())));
    said.join("; ")
}
