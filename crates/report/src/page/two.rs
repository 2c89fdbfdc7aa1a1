//! The page of two runs side by side: their times overlaid, and the shift at each percentile.
//!
//! Two runs are what people have and what they want to compare, and two runs cannot tell a change from chance. So everything is
//! shown, no verdict is given, and the first answer says why.

use analysis::quantity::{NONE, figure, nanos, signed};
use measure::{QUANTILES, Summary};
use serde::Serialize;

use super::run::Timeline;
use super::times::{Times, times};
use super::{Answer, Figure, Kind, Question, RenderedPage, SCHEMA, Table, Tone, View, finished, watched, written};
use crate::diff::{runs_unlike, side_of};
use crate::server_side::{self, Rows};
use crate::visible::visible;
use crate::{Style, story, streamed};

/// What the charts draw of both.
#[derive(Debug, Serialize)]
struct Data {
    names: [String; 2],
    times: [Times; 2],
    timelines: [Timeline; 2],
    shifts: Vec<Shift>,
}

/// How one percentile differs, as a share of A's.
#[derive(Debug, Serialize)]
struct Shift {
    q: f64,
    change: f64,
}

/// The page of two runs, each with what the user calls it.
#[must_use]
pub fn two_runs(a: (&str, &Summary), b: (&str, &Summary)) -> RenderedPage {
    written(view(a, b))
}

fn view(a: (&str, &Summary), b: (&str, &Summary)) -> View<Data> {
    let (from, to) = (a.1, b.1);
    let unlike = runs_unlike(from, to);
    let side = |side: &str, (name, run): (&str, &Summary)| format!("{side}: {}", side_of(name, run));
    let mut remarks: Vec<String> = unlike.iter().map(|difference| finished(&format!("not measured alike: {difference}"))).collect();
    remarks.push("Two runs of one build differ by several percent; loadline compare measures in pairs, and judges.".to_owned());
    View {
        schema: SCHEMA,
        kind: Kind::Runs,
        title: format!("{} and {}", visible(a.0), visible(b.0)),
        about: vec![side("A", a), side("B", b)],
        standing: None,
        answers: answers(from, to, &unlike),
        remarks,
        figures: figures(from, to),
        tables: std::iter::once(table(from, to)).chain(watched::table("side", Rows::of_sides(&server_side::two(from, to)))).collect(),
        text: crate::diff::runs(a, b, &Style::PLAIN),
        measured_by: String::new(),
        data: Data {
            names: [visible(a.0), visible(b.0)],
            times: [times("A", &from.response_time), times("B", &to.response_time)],
            timelines: [Timeline::of(from), Timeline::of(to)],
            shifts: QUANTILES
                .iter()
                .filter_map(|q| {
                    let [a, b] = [from, to].map(|run| run.response_time.known_quantile(*q));
                    let (a, b) = (a?.0 as f64, b?.0 as f64);
                    (a > 0.0).then(|| Shift { q: *q, change: b / a - 1.0 })
                })
                .collect(),
        },
    }
}

fn answers(a: &Summary, b: &Summary, unlike: &[String]) -> Vec<Answer> {
    let carries = format!(
        "A answered {} requests a second well and B {}: {} %",
        story::rate(a.qps_succeeded),
        story::rate(b.qps_succeeded),
        change(a.qps_succeeded, b.qps_succeeded)
    );
    let said = match unlike.len() {
        0 => {
            "None of these differences is known to be more than chance: one run of each does not show how much such runs differ".to_owned()
        }
        1 => format!("They were not measured alike ({}), so a difference need not be the server's", unlike[0]),
        more => format!("They were not measured alike in {more} ways, which are listed below, so a difference need not be the server's"),
    };
    vec![Answer::measured(Question::Carries, carries, "qps"), Answer::measured(Question::Changed, said, "shift").toned(Tone::Caution)]
}

fn change(a: f64, b: f64) -> String {
    if a > 0.0 { signed(b / a - 1.0) } else { NONE.to_owned() }
}

fn figures(a: &Summary, b: &Summary) -> Vec<Figure> {
    let mut figures = vec![Figure::new(
        "QPS",
        format!("{} %", change(a.qps_succeeded, b.qps_succeeded)),
        format!("{} → {}", figure(a.qps_succeeded), figure(b.qps_succeeded)),
    )];
    for (name, q) in [("p50", 0.5), ("p99", 0.99)] {
        let [from, to] = [a, b].map(|run| run.response_time.known_quantile(q));
        let said = from.zip(to).map_or_else(|| NONE.to_owned(), |(from, to)| format!("{} %", change(from.0 as f64, to.0 as f64)));
        figures.push(Figure::new(name, said, format!("{} → {}", nanos(from), nanos(to))));
    }
    let succeeded = |run: &Summary| format!("{} %", analysis::quantity::percent(run.requests.success_percent()));
    figures.push(Figure::new("succeeded", succeeded(b), format!("{} in A", succeeded(a))));
    figures
}

fn table(a: &Summary, b: &Summary) -> Table {
    let mut rows = vec![vec![
        "QPS".to_owned(),
        figure(a.qps_succeeded),
        figure(b.qps_succeeded),
        format!("{} %", change(a.qps_succeeded, b.qps_succeeded)),
    ]];
    for q in QUANTILES {
        let [from, to] = [a, b].map(|run| run.response_time.known_quantile(q));
        let said = from.zip(to).map_or_else(|| NONE.to_owned(), |(from, to)| format!("{} %", change(from.0 as f64, to.0 as f64)));
        rows.push(vec![analysis::quantity::quantile(q), nanos(from), nanos(to), said]);
    }
    rows.extend(streamed::side_by_side(a.streams.as_deref(), b.streams.as_deref()).into_iter().map(Vec::from));
    Table::new("side-by-side", "Side by side", &["", "#A", "#B", "#change"], rows)
        .noted("Response time: from the moment a request was due to the last byte of its answer.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn two_runs_are_laid_over_each_other_without_a_verdict() {
        let all = fixtures::summaries();
        let run = &all[0].1;
        let mut slower = run.clone();
        slower.edit_for_test().qps_succeeded /= 2.0;
        let view = view(("before", run), ("after", &slower));
        assert!(view.answers[0].sentence.contains("−50 %") && view.standing.is_none(), "{:?}", view.answers);
        assert!(view.answers[1].sentence.contains("more than chance"));
        assert!(view.tables[0].rows.iter().all(|row| row.len() == 4));
        let other = super::view(("a", run), ("b", &all[1].1));
        assert!(other.answers[1].sentence.contains("not measured alike"), "{:?}", other.answers);
    }
}
