//! Two runs side by side: a table, and the word that two runs are not enough for a verdict.

use analysis::compare::{AnswerCurve, Distance};
use analysis::quantity::{NONE, figure, nanos, percent};
use analysis::{Standing, Validity};
use measure::Summary;
use plan::{Nanos, Random};

use super::{paragraph, side_line};
use crate::columns::{Columns, wrapped};
use crate::server_side;
use crate::{Style, requests_of, streamed, unlike, visible};
use analysis::comparison::apart;

/// The quantiles of the table.
const SHOWN: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// The table of two runs, each with what the user calls it: figures of A and B, and the change.
#[must_use]
pub fn runs(a: (&str, &Summary), b: (&str, &Summary), style: &Style) -> String {
    let room = style.columns();
    let mut text = String::new();
    for (side, (name, run)) in [("A", a), ("B", b)] {
        text += &side_line(side, &side_of(name, run), room);
    }
    let (from, to) = (a.1, b.1);
    let unlike = runs_unlike(from, to);
    if !unlike.is_empty() {
        text += &paragraph(&format!("Not measured alike: {}.", unlike.join("; ")), room);
    }
    let mut columns = Columns::new(&["", "A", "B", "change"]);
    let mut row = |name: String, from: Option<f64>, to: Option<f64>, shown: &dyn Fn(f64) -> String| {
        let change = from.zip(to).filter(|(from, _)| *from > 0.0).map_or_else(|| NONE.to_owned(), |(from, to)| changed(to / from - 1.0));
        let said = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), shown);
        columns.row(&[name, said(from), said(to), change]);
    };
    row("QPS".to_owned(), Some(from.qps_succeeded), Some(to.qps_succeeded), &figure);
    let time = |ns: f64| nanos(Some(Nanos(ns as u64)));
    row("mean".to_owned(), from.response_time.mean(), to.response_time.mean(), &time);
    for q in SHOWN {
        let of = |run: &Summary| run.response_time.known_quantile(q).map(|time| time.0 as f64);
        row(format!("p{}", percent(q * 100.0)), of(from), of(to), &time);
    }
    let failed = |run: &Summary| Some(100.0 - run.requests.success_percent());
    row("failed".to_owned(), failed(from), failed(to), &|share| format!("{} %", percent(share)));
    let events = streamed::side_by_side(from.streams.as_deref(), to.streams.as_deref());
    events.iter().for_each(|row| columns.row(row));
    text.push('\n');
    for line in columns.within(room - 2, &[]) {
        text.push_str(&format!("  {line}\n"));
    }
    // One pair: nothing is drawn.
    if let Some(distance) = Distance::of(&[(AnswerCurve::from(from), AnswerCurve::from(to))], &mut Random::new(0, 0)) {
        text.push('\n');
        for line in wrapped(&apart(&distance), room - 2) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text += &server_side::of_sides(&server_side::two(from, to), room);
    text + &paragraph(
        "Two runs of one build differ by several percent, and how much these would was not measured: these differences may be chance. \
         loadline compare measures in pairs, and tells.",
        room,
    )
}

/// What the user calls a run, where it led, and how far it can be trusted.
pub(crate) fn side_of(name: &str, run: &Summary) -> String {
    if run.measured_by.is_some() {
        return format!("{}: {}", visible(name), requests_of(run));
    }
    let validity = Validity::of(run);
    let why = if validity.standing == Standing::Valid { String::new() } else { format!(", {}", validity.why()) };
    format!("{}: {}, {}{why}", visible(name), visible(&run.plan.target().to_string()), validity.standing)
}

/// What two runs differ in besides where they lead, and so what else may have made the difference.
#[must_use]
pub fn runs_unlike(a: &Summary, b: &Summary) -> Vec<String> {
    if a.measured_by != b.measured_by {
        let tool = |run: &Summary| visible(run.measured_by.as_deref().unwrap_or("loadline"));
        return vec![format!("A was measured by {} and B by {}: their times do not begin at the same moment", tool(a), tool(b))];
    }
    unlike::runs(a, b, &[])
}

fn changed(ratio: f64) -> String {
    let sign = if ratio < 0.0 { "−" } else { "+" };
    format!("{sign}{} %", percent((ratio.abs() * 1_000.0).round() / 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn two_runs_stand_side_by_side_with_their_change() {
        let all = fixtures::summaries();
        let run = &all[0].1;
        let mut slower = run.clone();
        slower.edit_for_test().qps_succeeded /= 2.0;
        let text = runs(("before", run), ("after", &slower), &Style::PLAIN);
        assert!(text.contains("−50 %") && text.contains("+0 %") && text.contains("may be chance"), "{text}");
        assert!(!text.contains("Not measured alike"), "{text}");
        assert!(text.contains("takes longer in 50 % of draws (50 % is no difference).\n"), "{text}");
        assert!(!text.contains("server's side"), "{text}");
        let watched = all.iter().find(|(name, _)| *name == "a_server_that_was_watched").map(|(_, run)| run).unwrap();
        let both = runs(("before", watched), ("after", watched), &Style::PLAIN);
        assert!(both.contains("The server's side: A: app (812)") && both.contains("in B: as much."), "{both}");
        let streamed = all.iter().find(|(name, _)| *name == "answers_that_streamed").map(|(_, run)| run).unwrap();
        let both = runs(("before", streamed), ("after", streamed), &Style::PLAIN);
        assert!(both.contains("  first event 95 %") && both.contains("  between events 99 %"), "{both}");
        assert!(!runs(("a", streamed), ("b", run), &Style::PLAIN).contains("first event"), "only one streamed");
        let other = runs(("a", run), ("b", &all[1].1), &Style::PLAIN);
        assert!(other.contains("Not measured alike: ") && other.contains("rate"), "{other}");
    }
}
