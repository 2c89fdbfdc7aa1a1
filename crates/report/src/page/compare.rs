//! The page of a comparison in pairs.

use measure::{Histogram, RowKind, Summary};
use serde::Serialize;

use super::checks;
use super::profiled::{self, Flame};
use super::times::{Times, times};
use super::{Answer, Badge, Figure, Kind, Question, RenderedPage, SCHEMA, Table, Tone, View, finished, watched, written};
use crate::compare;
use crate::server_side::{self, Rows};
use crate::text::measured_on;
use crate::visible::visible;
use crate::{Style, journeys, profiles, story};
use analysis::compare::{Metric, Verdict};
use analysis::comparison::{Comparison, Side};
use analysis::quantity::figure;

/// What the charts of a comparison draw.
#[derive(Debug, Serialize)]
struct Data {
    a: String,
    b: String,
    times: Vec<Times>,
    shifts: Vec<Shift>,
    pairs: Vec<PairRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profiles: Vec<Flame>,
}

/// How one percentile changed, as shares of A's.
#[derive(Debug, Serialize)]
struct Shift {
    q: f64,
    change: f64,
    low: f64,
    high: f64,
    margin: f64,
}

/// The figures of one pair.
#[derive(Debug, Serialize)]
struct PairRow {
    first: Side,
    qps: [f64; 2],
    p50_ns: [Option<u64>; 2],
    p99_ns: [Option<u64>; 2],
    left_out: Option<String>,
}

/// The page.
#[must_use]
pub fn compare(compared: &Comparison) -> RenderedPage {
    written(view(compared))
}

fn view(compared: &Comparison) -> View<Data> {
    let verdict = compared.verdict();
    let standing = verdict.map(|verdict| match verdict {
        Verdict::Worse => Badge { word: "WORSE".to_owned(), tone: Tone::Bad, why: "B is worse than A".to_owned() },
        Verdict::Better => Badge { word: "BETTER".to_owned(), tone: Tone::Good, why: "B is better than A".to_owned() },
        same @ Verdict::SameWithin { .. } => Badge { word: "SAME".to_owned(), tone: Tone::Good, why: same.to_string() },
        unsure @ Verdict::CannotTell { .. } => Badge { word: "CANNOT TELL".to_owned(), tone: Tone::Caution, why: unsure.to_string() },
    });
    let first = compared.pairs.first().map(|pair| &pair.a);
    let mut about = vec![format!("A: {}", visible(&compared.a.name)), format!("B: {}", visible(&compared.b.name))];
    about.push(finished(&compare::design(compared)));
    let taken = profiles::of_comparison(compared);
    let mut remarks = compared.reading.clone();
    remarks.extend(compared.differences.iter().map(|difference| finished(&format!("the plans differ: {}", visible(difference)))));
    let sides = server_side::sides(compared);
    remarks.extend(server_side::cost(&sides));
    remarks.extend(profiled::remarks(&taken));
    View {
        schema: SCHEMA,
        kind: Kind::Compare,
        title: visible(&compared.name),
        about,
        standing,
        answers: checks::answer(&compared.checks, None).into_iter().chain(answers(compared)).collect(),
        remarks,
        figures: figures(compared),
        tables: tables(compared)
            .into_iter()
            .chain(watched::table("side", Rows::of_sides(&sides)))
            .chain(profiled::growth(&taken))
            .collect(),
        text: compare::text(compared, &Style::PLAIN),
        measured_by: first.map_or_else(String::new, measured_by),
        data: Data {
            a: visible(&compared.a.name),
            b: visible(&compared.b.name),
            times: [("A", 0), ("B", 1)].map(|(name, side)| times(name, &together(compared, side))).into(),
            shifts: compared
                .shifts
                .iter()
                .map(|shift| Shift {
                    q: shift.q,
                    change: shift.change,
                    low: shift.interval.low,
                    high: shift.interval.high,
                    margin: compared.margins.of(Metric::of_quantile(shift.q)),
                })
                .collect(),
            pairs: compared
                .pairs
                .iter()
                .map(|pair| {
                    let both = [&pair.a, &pair.b];
                    let at = |q| both.map(|run| run.response_time.known_quantile(q).map(|time| time.0));
                    PairRow {
                        first: pair.first,
                        qps: both.map(|run| run.qps),
                        p50_ns: at(0.5),
                        p99_ns: at(0.99),
                        left_out: pair.left_out.as_deref().map(visible),
                    }
                })
                .collect(),
            profiles: profiled::flames(&taken),
        },
    }
}

/// All response times of one side in the pairs that count.
fn together(compared: &Comparison, side: usize) -> Histogram {
    let mut all = Histogram::new();
    compared.sound().for_each(|pair| all.add(&[&pair.a, &pair.b][side].response_time));
    all
}

fn answers(compared: &Comparison) -> Vec<Answer> {
    let change = |metric: Metric| compared.verdicts.as_ref()?.changes.iter().find(|change| change.metric == metric);
    let carries = match change(Metric::Qps) {
        Some(qps) => Answer::measured(
            Question::Carries,
            format!("A answers {} requests a second and B {} at this load: {}", figure(qps.a), figure(qps.b), compare::said(qps)),
            "pairs",
        ),
        None => Answer::not_measured(Question::Carries, "No pair counts, so nothing can be said about either"),
    };
    let knee = Answer::not_measured(Question::Knee, "Both sides had the same load, which does not show a knee; loadline sweep and find do");
    let mut reading = compared.reading.iter();
    let answer = reading.next().cloned().unwrap_or_else(|| "Nothing was compared".to_owned());
    let tone = match compared.verdict() {
        Some(Verdict::Worse) => Tone::Bad,
        Some(Verdict::Better | Verdict::SameWithin { .. }) => Tone::Good,
        _ => Tone::Caution,
    };
    let place = compared.reading.iter().skip(1).find(|sentence| sentence.contains("think of") || sentence.contains("paid for"));
    let limits = match place {
        Some(place) => Answer::measured(Question::Limits, place.clone(), "shift"),
        None => Answer::not_measured(Question::Limits, "Where a difference comes from cannot be read from these percentiles"),
    };
    let changed = match &compared.verdicts {
        Some(_) => Answer::measured(Question::Changed, answer, "verdicts"),
        None => Answer::not_measured(Question::Changed, &answer),
    };
    vec![carries, knee, changed.toned(tone), limits]
}

fn figures(compared: &Comparison) -> Vec<Figure> {
    let shown = [Metric::Qps, Metric::P50, Metric::P99, Metric::FailureShare];
    let changes = compared.verdicts.iter().flat_map(|verdicts| &verdicts.changes);
    let all: Vec<_> = changes.collect();
    shown
        .into_iter()
        .filter_map(|metric| all.iter().find(|change| change.metric == metric))
        .map(|change| {
            let [name, a, b, said, _] = compare::cells(change);
            Figure::new(&name, said.split(" (").next().unwrap_or_default(), format!("{a} → {b}"))
        })
        .collect()
}

fn tables(compared: &Comparison) -> Vec<Table> {
    let mut tables: Vec<Table> =
        checks::table(&compared.checks).map(|table| table.noted("Judged by all runs of B that count, together.")).into_iter().collect();
    if let Some(verdicts) = &compared.verdicts {
        let rows = compare::shown_changes(verdicts).map(|change| compare::cells(change).into()).collect();
        tables.push(
            Table::new("verdicts", "Verdicts", &["", "#A", "#B", "change", "verdict"], rows)
                .noted("Change from A to B with its interval of at least 95 %. A and B lie as far apart as the change, around the middle of both sides' medians over the pairs that count."),
        );
    }
    let events = compare::events(compared);
    if !events.is_empty() {
        let heads = ["", "#A", "#B", "#change"];
        tables.push(Table::new("events", "Events", &heads, events.into_iter().map(Vec::from).collect()).noted(compare::EVENTS_NOTE));
    }
    if let Some(transactions) = compare::steps::transactions(compared) {
        for both in compare::steps::both(compared) {
            let heads: Vec<String> =
                both.heads.iter().enumerate().map(|(at, head)| format!("{}{head}", if at == 0 { "" } else { "#" })).collect();
            let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
            let (anchor, title) = journeys::titled(both.kind);
            let table = Table::new(anchor, title, &heads, both.rows.into_iter().map(Vec::from).collect());
            tables.push(if both.kind == RowKind::Step { table.noted(finished(&transactions)) } else { table });
        }
    }
    let rows = (1..).zip(&compared.pairs).map(|(number, pair): (usize, _)| {
        let mut cells: Vec<String> = compare::pair_cells(number, pair).into();
        cells.push(pair.left_out.as_ref().map_or_else(String::new, |why| format!("left out: {}", visible(why))));
        cells
    });
    let heads = ["#pair", "order", "#QPS A", "#QPS B", "#p50 A", "#p50 B", "#p99 A", "#p99 B", "#failed A, B", ""];
    tables.push(Table::new("pairs-table", "Pairs", &heads, rows.collect()));
    tables
}

fn measured_by(run: &Summary) -> String {
    format!("{}; started {}; {}", measured_on(run), visible(&run.started), story::request_of(&run.plan))
}
