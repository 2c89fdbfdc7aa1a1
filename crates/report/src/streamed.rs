//! Answers that streamed: the times of their events, and their rates in a sentence.
//!
//! People who measure language models call the first time TTFT (time to first token) and the second ITL (inter-token latency); those names
//! stand beside ours.

use analysis::quantity::{self, NONE, count, counted, nanos};
use measure::{Histogram, StreamRow, Summary, TokenRow};
use plan::StreamForm;

use crate::visible::visible;
use crate::{journeys, story};

/// Over [`rows`]; figures are marked with `#`.
pub(crate) const HEADS: [&str; 6] = ["", "#50 %", "#95 %", "#99 %", "#max", "#count"];

/// The times of all events, and of those of each population and each step where several of them have any; none where nothing streamed.
pub(crate) fn rows(run: &Summary) -> Vec<Vec<String>> {
    let Some(all) = run.streams.as_deref() else { return Vec::new() };
    let mut rows = of("", "first event (TTFT)", "between events (ITL)", all);
    let populations = run.populations.iter().map(|row| (&row.name, row.streams.as_deref()));
    let steps = journeys::counted(run).iter().map(|row| (&row.name, row.streams.as_deref()));
    for kind in [populations.collect::<Vec<_>>(), steps.collect()] {
        let streamed: Vec<(&String, &StreamRow)> = kind.into_iter().filter_map(|(name, streams)| Some((name, streams?))).collect();
        if streamed.len() > 1 {
            let name = |name: &str| format!("{}: ", visible(name));
            rows.extend(streamed.iter().flat_map(|(row, streams)| of(&name(row), "first event", "between events", streams)));
        }
    }
    rows
}

fn of(name: &str, first: &str, between: &str, streams: &StreamRow) -> Vec<Vec<String>> {
    let row = |what: &str, times: &Histogram| {
        let mut cells = vec![format!("{name}{what}")];
        cells.extend([0.5, 0.95, 0.99].map(|q| nanos(times.known_quantile(q))));
        cells.extend([nanos(times.max()), count(times.count())]);
        cells
    };
    let mut rows = vec![row(first, &streams.first_event), row(between, &streams.between_events)];
    rows.extend(streams.tokens.as_ref().map(|tokens| row("time per token (TPOT)", &tokens.time_per_token)));
    rows
}

/// The heads of [`side_by_side`].
pub(crate) const SIDES: [&str; 4] = ["", "A", "B", "change"];

/// Events of two sides, row by row, with the change from A to B; empty unless both streamed.
pub(crate) fn side_by_side(a: Option<&StreamRow>, b: Option<&StreamRow>) -> Vec<[String; 4]> {
    let Some((a, b)) = a.zip(b) else { return Vec::new() };
    let row = |name: String, of: &dyn Fn(&StreamRow) -> Option<f64>, shown: fn(f64) -> String| {
        let (from, to) = (of(a), of(b));
        let said = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), shown);
        let change = from.zip(to).filter(|(from, _)| *from > 0.0);
        let change = change.map_or_else(|| NONE.to_owned(), |(from, to)| format!("{} %", quantity::signed(to / from - 1.0)));
        [name, said(from), said(to), change]
    };
    let mut rows = vec![
        row("events a second".to_owned(), &|row| Some(row.events_per_second), story::rate),
        row("in one answer".to_owned(), &|row| row.events_per_second_each, quantity::figure),
    ];
    if a.tokens.is_some() && b.tokens.is_some() {
        rows.push(row("tokens a second".to_owned(), &|row| Some(row.tokens.as_ref()?.tokens_per_second), story::rate));
        let each = |row: &StreamRow| row.tokens.as_ref()?.tokens_per_second_each();
        rows.push(row("for one user".to_owned(), &each, quantity::figure));
    }
    type Times = fn(&StreamRow) -> &Histogram;
    let of: [(&str, Times); 2] = [("first event", |row| &row.first_event), ("between events", |row| &row.between_events)];
    for (name, times) in of {
        for q in [0.5, 0.95, 0.99] {
            let at = |row: &StreamRow| times(row).known_quantile(q).map(|time| time.0 as f64);
            rows.push(row(format!("{name} {}", quantity::quantile(q)), &at, quantity::time));
        }
    }
    rows
}

/// How many events there were and how fast they came; `None` where nobody asked.
pub(crate) fn said(run: &Summary) -> Option<String> {
    let Some(streams) = run.streams.as_deref() else { return run.plan.stream().map(nothing) };
    let each = streams
        .events_per_second_each
        .map_or_else(String::new, |each| format!(", {}/s in one answer while it streams", quantity::figure(each)));
    let (events, answers) = (counted(streams.events, "event"), counted(streams.answers, "answer"));
    let again = match streams.reconnections {
        0 => String::new(),
        count => format!("; {} asked for again after the server ended it", counted(count, "stream")),
    };
    let tokens = streams.tokens.as_ref().map_or_else(String::new, tokens);
    Some(format!("{events} in {answers}: {}/s in all{each}{tokens}{again}", story::rate(streams.events_per_second)))
}

/// How many tokens there were and how fast they came, where they are not events.
fn tokens(tokens: &TokenRow) -> String {
    let each = tokens.tokens_per_second_each().map_or_else(String::new, |each| format!(", {}/s for one user", quantity::figure(each)));
    format!("; {}: {}/s in all{each}", counted(tokens.tokens, "token"), story::rate(tokens.tokens_per_second))
}

/// What is said where events were looked for and none came.
fn nothing(form: StreamForm) -> String {
    let kind = if form == StreamForm::Auto { ", and whose Content-Type says that they stream" } else { "" };
    format!("none; they are looked for in answers with a status of 2xx that are not compressed{kind}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;
    use plan::{Draft, Plan};

    fn streamed() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "answers_that_streamed").unwrap().1
    }

    #[test]
    fn a_run_has_two_rows_and_a_sentence() {
        let run = streamed();
        let rows = rows(&run);
        let row = run.streams.as_deref().unwrap();
        assert_eq!(rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["first event (TTFT)", "between events (ITL)"]);
        assert_eq!((&rows[0][5], &rows[1][4]), (&count(row.answers), &nanos(row.between_events.max())));
        assert!(rows.iter().all(|row| row.len() == HEADS.len()));
        let said = said(&run).unwrap();
        assert!(said.starts_with(&format!("{} in 270 answers: ", counted(row.events, "event"))), "{said}");
        assert!(said.contains("/s in all, ") && said.ends_with("/s in one answer while it streams"), "{said}");
    }

    #[test]
    fn tokens_and_streams_that_were_asked_for_again_are_told_where_there_are_any() {
        let mut run = streamed();
        let mut time_per_token = Histogram::new();
        (0..200).for_each(|_| time_per_token.record(plan::Nanos::from_millis(10)));
        let row = run.edit_for_test().streams.as_mut().unwrap();
        row.tokens = Some(TokenRow { tokens: 1_200, tokens_per_second: 120.0, time_per_token });
        row.reconnections = 3;
        let said = said(&run).unwrap();
        assert!(
            said.ends_with("; 1,200 tokens: 120/s in all, 100/s for one user; 3 streams asked for again after the server ended it"),
            "{said}"
        );
        assert_eq!(rows(&run)[2][0], "time per token (TPOT)");
    }

    #[test]
    fn several_steps_and_populations_that_stream_have_rows_of_their_own() {
        let mut run = fixtures::journeys_of_a_shop();
        let row = streamed().streams.clone();
        run.edit_for_test().streams = row.clone();
        let steps = &mut run.edit_for_test().scenario.as_mut().unwrap().steps;
        steps[0].streams = row.clone();
        assert_eq!(rows(&run).len(), 2, "one step alone is the whole");
        run.edit_for_test().scenario.as_mut().unwrap().steps[2].streams = row;
        let names: Vec<String> = rows(&run).into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(names[2..], ["POST /login: first event", "POST /login: between events", "GET /: first event", "GET /: between events"]);
    }

    #[test]
    fn where_events_were_looked_for_and_none_came_that_is_said() {
        let mut run = fixtures::summaries().remove(0).1;
        assert_eq!((said(&run), rows(&run).len()), (None, 0));
        let draft = Draft { url: Some("http://a.test/".to_owned()), stream: "auto".parse().ok(), ..Draft::default() };
        run.edit_for_test().plan = Plan::try_from(draft).unwrap();
        let said = said(&run).unwrap();
        assert!(said.starts_with("none; ") && said.ends_with("whose Content-Type says that they stream"), "{said}");
    }

    #[test]
    fn two_sides_stand_beside_each_other_where_both_streamed() {
        let run = streamed();
        let row = run.streams.as_deref().unwrap();
        let mut faster = row.clone();
        faster.events_per_second *= 1.5;
        let rows = side_by_side(Some(row), Some(&faster));
        assert_eq!((rows.len(), rows[0][0].as_str(), rows[0][3].as_str()), (8, "events a second", "+50 %"));
        assert!(rows[2..].iter().all(|row| row[1] == row[2] && (row[3].ends_with("0 %") || row[1] == NONE)), "{rows:?}");
        assert!(side_by_side(Some(row), None).is_empty());
    }
}
