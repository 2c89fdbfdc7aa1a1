//! The page of a capacity search.

use analysis::bottleneck::Finding;
use analysis::found::{CapacityReport, RateUnit};
use analysis::quantity::{NONE, counted, figure, length, percent, time};
use analysis::search::{LimitedBy, Purpose, Standing};
use analysis::search_words::written as written_rate;
use measure::Summary;
use plan::Nanos;
use serde::Serialize;

use super::checks;
use super::profiled::{self, Flame};
use super::watched::{self, Climb};
use super::{Answer, Figure, Kind, Question, RenderedPage, SCHEMA, Table, Tone, View, written};
use crate::find::table;
use crate::server_side::{self, Rows};
use crate::text::measured_on;
use crate::visible::visible;
use crate::{Style, profiles, story};

/// What the charts of a search draw.
#[derive(Debug, Serialize)]
struct Data {
    carries: Option<f64>,
    capacity_low: f64,
    capacity_high: Option<f64>,
    quantile: f64,
    good_within_ns: Option<u64>,
    /// What the rates begin.
    rated: RateUnit,
    rates: Vec<Rate>,
    trials: Vec<TrialRow>,
    observed: Vec<Climb>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profiles: Vec<Flame>,
}

/// All trials at one rate.
#[derive(Debug, Serialize)]
pub(super) struct Rate {
    rate: f64,
    throughput: f64,
    goodput: f64,
    quantile_ns: Option<u64>,
    generator_limited: bool,
}

/// One trial, in the order of the search.
#[derive(Debug, Serialize)]
struct TrialRow {
    rate: f64,
    seconds: f64,
    purpose: &'static str,
    outcome: &'static str,
}

/// The page.
#[must_use]
pub fn find(found: &CapacityReport) -> RenderedPage {
    written(view(found))
}

fn view(found: &CapacityReport) -> View<Data> {
    let sentences = found.sentences();
    let findings = analysis::limits::of_search(found);
    let taken = profiles::of_search(found);
    let judged = found.judged();
    let first = found.trials.first().map(|trial| &trial.summary);
    let promises: Vec<&str> = found.slo.iter().map(|promise| promise.text.as_str()).collect();
    let outcome = |trial: &analysis::found::CapacityTrial| match (trial.result.standing, trial.missed) {
        (Standing::Valid, None) => "holds",
        (Standing::Valid, Some(_)) => "breaks",
        _ => "does not count",
    };
    let head = |head: String| if matches!(head.as_str(), "for" | "verdict") { head } else { format!("#{head}") };
    let heads: Vec<String> = table::heads(found).into_iter().map(head).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let of_what = if found.rated == RateUnit::Journeys { " of journeys" } else { "" };
    let rows = found.trials.iter().map(|trial| table::cells(found, trial)).collect();
    View {
        schema: SCHEMA,
        kind: Kind::Find,
        title: first.map_or_else(|| visible(&found.name), |run| story::request_of(&run.plan)),
        about: vec![
            format!("the highest rate{of_what} at which {} (open load)", promises.join(" and ")),
            format!("{} in {}", counted(found.trials.len() as u64, "trial"), length(Nanos((found.answer.spent_s.max(0.0) * 1e9) as u64))),
        ],
        standing: None,
        answers: checks::answer(&judged, None).into_iter().chain(answers(found, &sentences, &findings)).collect(),
        remarks: sentences.iter().skip(1).cloned().chain(warnings(found)).chain(profiled::remarks(&taken)).collect(),
        figures: figures(found),
        tables: checks::table(&judged)
            .map(|table| table.noted(judged_at(found)))
            .into_iter()
            .chain([Table::new("trials", "Trials", &heads, rows).noted(table::legend(found))])
            .chain(super::limits::table(&findings))
            .chain(watched::table("trial", Rows::of_loads(&server_side::trials(found))))
            .chain(profiled::growth(&taken))
            .collect(),
        text: text(found),
        measured_by: measured_by(found),
        data: Data {
            carries: found.answer.carries,
            capacity_low: found.answer.capacity.low,
            capacity_high: found.answer.capacity.high,
            quantile: found.quantile,
            good_within_ns: found.good_within.map(|limit| limit.0),
            rated: found.rated,
            rates: rates(found),
            trials: found
                .trials
                .iter()
                .map(|trial| TrialRow {
                    rate: trial.rate,
                    seconds: trial.result.seconds,
                    purpose: trial.purpose.name(),
                    outcome: outcome(trial),
                })
                .collect(),
            observed: observed(found),
            profiles: profiled::flames(&taken),
        },
    }
}

/// Where checks were judged.
fn judged_at(found: &CapacityReport) -> String {
    found.confirming().map_or_else(String::new, |trial| {
        format!("Judged by the trial at {} {}.", written_rate(&found.answer)(trial.rate), found.rated.unit())
    })
}

/// The server's side against the rates.
fn observed(found: &CapacityReport) -> Vec<Climb> {
    let runs = |rate: f64| found.trials.iter().filter(|trial| trial.rate == rate).map(|trial| &trial.summary).collect();
    let loads: Vec<(f64, Vec<&Summary>)> = found.rows().into_iter().map(|row| (row.rate, runs(row.rate))).collect();
    watched::climbs(&loads, &analysis::limits::of_search(found))
}

/// What every rate came to.
pub(super) fn rates(found: &CapacityReport) -> Vec<Rate> {
    let rate = |row: analysis::found::RateRow| Rate {
        rate: row.rate,
        throughput: row.throughput,
        goodput: row.goodput,
        quantile_ns: row.quantile.map(|time| time.0),
        generator_limited: row.generator_limited,
    };
    found.rows().into_iter().map(rate).collect()
}

/// The table and what follows from it, as on a terminal.
pub(crate) fn text(found: &CapacityReport) -> String {
    let mut text = format!("{}\n", table::header(found, &Style::PLAIN));
    found.trials.iter().for_each(|trial| text += &format!("{}\n", table::row(found, trial, &Style::PLAIN)));
    text += "\n";
    found.sentences().iter().for_each(|sentence| text += &format!("{sentence}\n"));
    text += &server_side::of_search(found, usize::from(Style::PLAIN.width));
    crate::limits::sentences(&analysis::limits::of_search(found)).iter().for_each(|sentence| text += &format!("{sentence}\n"));
    profiles::told_of(&profiles::of_search(found)).iter().for_each(|(sentence, table)| text += &format!("\n{sentence}\n\n{table}"));
    text
}

fn answers(found: &CapacityReport, sentences: &[String], findings: &[Finding]) -> Vec<Answer> {
    let carries = sentences.first().cloned().unwrap_or_else(|| "Nothing was measured".to_owned());
    let rate = written_rate(&found.answer);
    let knee = match (&found.answer.breaks_at, found.answer.carries) {
        (Some(broken), Some(carries)) if broken.rate > carries => Answer::measured(
            Question::Knee,
            format!("The promise is kept up to {} a second and broken from {} on", rate(carries), rate(broken.rate)),
            "load",
        ),
        (Some(broken), _) => Answer::measured(Question::Knee, format!("The promise is broken at {} a second", rate(broken.rate)), "load"),
        (None, _) => Answer::not_measured(Question::Knee, "No rate that counts broke the promise, so the knee lies beyond"),
    };
    let after = |start: &[&str]| {
        sentences.iter().skip(1).filter(|it| start.iter().any(|start| it.starts_with(start))).cloned().collect::<Vec<_>>().join(" ")
    };
    let changed = after(&["It held ", "It did not hold ", "It carries ", "It remembers ", "It does not recover"]);
    let changed = if changed.is_empty() {
        Answer::not_measured(Question::Holds, "Whether it lasts, and whether it recovers from an overload, was not measured")
    } else {
        let bad = found.answer.unrecovered_after.is_some()
            || found.answer.soak.is_some_and(|held| held.missed.is_some())
            || found.answer.from_above.is_some_and(|after| after.missed.is_some());
        Answer::measured(Question::Holds, changed, "search").toned(if bad { Tone::Caution } else { Tone::Plain })
    };
    let limits = match found.answer.limited_by {
        LimitedBy::Promise(at) => {
            let name = found.slo.get(at).map_or("the promise", |promise| promise.text.as_str());
            Answer::measured(Question::Limits, format!("What gives way first is {name}"), "trials")
        }
        LimitedBy::Generator => {
            Answer::measured(Question::Limits, "The load generator: the server may carry more", "trials").toned(Tone::Caution)
        }
        LimitedBy::RateMax => Answer::measured(Question::Limits, "The highest rate that was allowed: the server may carry more", "trials"),
        LimitedBy::Budget => {
            Answer::measured(Question::Limits, "The budget of the search: it was used up first", "trials").toned(Tone::Caution)
        }
        LimitedBy::Invalid => Answer::measured(Question::Limits, "The trials: one after the other was invalid", "trials").toned(Tone::Bad),
    };
    // What gives way is the promise; why it does is the server's side.
    let limits = match super::limits::answer(findings) {
        Some(why) if findings.first().is_some_and(Finding::is_named) => {
            Answer { sentence: format!("{} {}", limits.sentence, why.sentence), evidence: why.evidence, ..limits }
        }
        _ => limits,
    };
    vec![Answer::measured(Question::Carries, carries, "load"), knee, changed, limits]
}

fn figures(found: &CapacityReport) -> Vec<Figure> {
    let range = match found.answer.capacity.high {
        Some(high) => format!("{} to {} with 95 % confidence", figure(found.answer.capacity.low), figure(high)),
        None => format!("at least {}", figure(found.answer.capacity.low)),
    };
    let mut figures = vec![Figure::new(
        "carries",
        found.answer.carries.map_or_else(|| NONE.to_owned(), |rate| format!("{}/s", written_rate(&found.answer)(rate))),
        range,
    )];
    if let Some(row) = found.answer.carries.and_then(|carries| found.rows().into_iter().find(|row| row.rate == carries)) {
        let quantile = format!("p{}", percent(found.quantile * 100.0));
        figures.push(Figure::new(
            &format!("{quantile} there"),
            row.quantile.map_or_else(|| NONE.to_owned(), |it| time(it.0 as f64)),
            "response time",
        ));
        figures.push(Figure::new("goodput there", format!("{}/s", figure(row.goodput)), "succeeded in time"));
    }
    if let Some(median) = found.unloaded_median {
        figures.push(Figure::new("unloaded", time(median.0 as f64), "median response time of single requests"));
    }
    let soaked = found.trials.iter().any(|trial| trial.purpose == Purpose::Soak);
    let held = found.answer.soak.as_ref().map(|soak| if soak.missed.is_none() { "held" } else { "did not hold" });
    figures.push(Figure::new("soak", held.unwrap_or(if soaked { "not judged" } else { "not made" }), "a long trial at that rate"));
    figures
}

fn warnings(found: &CapacityReport) -> Vec<String> {
    let of_trials = found.trials.iter().flat_map(|trial| &trial.summary.warnings);
    let mut warnings: Vec<String> = of_trials.chain(&found.warnings).map(|it| visible(it)).collect();
    warnings.sort();
    warnings.dedup();
    warnings
}

fn measured_by(found: &CapacityReport) -> String {
    let by = found.trials.first().map_or_else(String::new, |trial| measured_on(&trial.summary) + "; ");
    format!("{by}started {}", visible(&found.started))
}
