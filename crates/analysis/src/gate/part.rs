//! A part of a load that a promise is about: a step, a journey, a transaction, a population or a URL, by its name.
//!
//! A part is counted by the rows that reports show, so that what a check judges is what its reader sees. Such a row knows response
//! times, answers and failures; what belongs to connections is only known of the whole, and is refused when the check is read.

use std::borrow::Cow;
use std::fmt;

use measure::{JourneyRow, PopulationRow, Requests, StepRow, StreamRow, Summary};

use super::{CheckError, Figure, Span, Times};

/// A part of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The step of this name.
    Step(String),
    /// The journey of this name.
    Journey(String),
    /// The transaction of this name.
    Transaction(String),
    /// The population of this name.
    Population(String),
    /// The line of a list of URLs with this method and URL, or with this path.
    Url(String),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

impl Part {
    /// What it is: `step`, `journey`, `transaction`, `population` or `url`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Step(_) => "step",
            Self::Journey(_) => "journey",
            Self::Transaction(_) => "transaction",
            Self::Population(_) => "population",
            Self::Url(_) => "url",
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Step(name) | Self::Journey(name) | Self::Transaction(name) | Self::Population(name) | Self::Url(name) => name,
        }
    }

    /// Whether a row of this name is it: a URL also goes by its path.
    #[must_use]
    pub fn is_called(&self, row: &str) -> bool {
        let name = self.name();
        row == name || (matches!(self, Self::Url(_)) && row.split_once(' ').is_some_and(|(_, url)| url == name || path_of(url) == name))
    }

    /// Whether it is made of several requests: then it is counted, and no request of it.
    #[must_use]
    pub const fn is_of_several(&self) -> bool {
        matches!(self, Self::Journey(_) | Self::Transaction(_))
    }

    /// Whether such a figure is known of it; else what is.
    pub(super) fn measures(&self, figure: Figure) -> Result<(), String> {
        let known = match (self, figure) {
            (_, Figure::Time(Span::Response, _) | Figure::Failed) => true,
            (Self::Step(_) | Self::Url(_), Figure::Time(span, _)) if span.is_of_events() => true,
            (part, figure) => figure == if part.is_of_several() { Figure::Tps } else { Figure::Qps },
        };
        let (kind, rate) = (self.kind(), if self.is_of_several() { "tps" } else { "qps" });
        let events = if matches!(self, Self::Step(_) | Self::Url(_)) { ", first_event p95, between_events p99" } else { "" };
        if known { Ok(()) } else { Err(format!("of a {kind}, a check takes p50 … p99.9, mean, max{events}, failed or {rate}")) }
    }
}

fn path_of(url: &str) -> &str {
    if !plan::has_scheme(url) {
        return url;
    }
    Some(&url[plan::server_in(url).end..]).filter(|path| path.starts_with('/')).unwrap_or("/")
}

/// What stands before the comparison: the part it is about, if any, and the figure.
pub(super) fn read(text: super::Part<'_>) -> Result<(Option<Part>, super::Part<'_>), CheckError> {
    let words = text.text();
    let (kind, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let of: fn(String) -> Part = match kind {
        "step" => Part::Step,
        "journey" => Part::Journey,
        "transaction" => Part::Transaction,
        "population" => Part::Population,
        "url" => Part::Url,
        _ => return Ok((None, text)),
    };
    let rest = rest.trim();
    match rest.rsplit_once(char::is_whitespace) {
        Some((name, figure)) => {
            let (mut name, mut length) = (name.trim(), figure.len());
            // A figure of events has two words.
            if let Some((before, span)) = name.rsplit_once(char::is_whitespace)
                && super::SPANS.iter().any(|(known, of)| *known == span && of.is_of_events())
            {
                length = rest.len() - (name.len() - span.len());
                name = before.trim();
            }
            let figure = super::Part::new(text.whole, text.to - length, text.to);
            Ok((Some(of(name.to_owned())), figure))
        }
        None => Err(text.wrong(format!(
            "the name of a {kind} and a figure belong here, such as {kind} {} p95",
            match kind {
                "url" => "/a",
                "population" => "customers",
                "transaction" => "checkout",
                _ => "login",
            }
        ))),
    }
}

/// What was measured of a part, or of the whole.
pub(super) struct Measurements<'a> {
    run: &'a Summary,
    row: Option<Times<'a>>,
    streams: Option<Cow<'a, StreamRow>>,
    pub(super) due: u64,
    pub(super) failed: u64,
    /// Answers a second that succeeded.
    pub(super) qps: f64,
    /// Journeys a second that succeeded.
    pub(super) tps: Option<f64>,
}

impl<'a> Measurements<'a> {
    /// `None` where a run has no such part.
    pub(super) fn of(part: Option<&Part>, run: &'a Summary) -> Option<Self> {
        let scenario = run.scenario.as_ref();
        match part {
            None => Some(Self {
                run,
                row: None,
                streams: run.streams.as_deref().map(Cow::Borrowed),
                due: run.requests.due,
                failed: run.requests.failed + run.requests.unsent,
                qps: run.qps_succeeded,
                tps: scenario.map(|scenario| scenario.tps_succeeded),
            }),
            Some(part @ Part::Step(_)) => Self::of_steps(run, scenario?.steps.iter().filter(|row| part.is_called(&row.name))),
            Some(part @ Part::Journey(_)) => Some(Self::of_journey(run, scenario?.journeys.iter().find(|row| part.is_called(&row.name))?)),
            Some(part @ Part::Transaction(_)) => {
                Some(Self::of_journey(run, scenario?.transactions.iter().find(|row| part.is_called(&row.name))?))
            }
            Some(part @ Part::Population(_)) => {
                Some(Self::of_population(run, run.populations.iter().find(|row| part.is_called(&row.name))?))
            }
            Some(part @ Part::Url(_)) => Self::of_steps(run, run.urls.iter().filter(|row| part.is_called(&row.name))),
        }
    }

    /// Of all rows of a name: two journeys may have steps of one name, and a path may be asked for with several methods.
    fn of_steps(run: &'a Summary, mut rows: impl Iterator<Item = &'a StepRow>) -> Option<Self> {
        let of_span = |count: u64| if run.duration_s > 0.0 { count as f64 / run.duration_s } else { 0.0 };
        // What succeeded after the load's end is not of its rate.
        let qps_of = |row: &StepRow| of_span(row.succeeded).min(row.qps);
        let first = rows.next()?;
        let mut histogram = Cow::Borrowed(&first.response_time);
        let mut streams = first.streams.as_deref().map(Cow::Borrowed);
        let (mut succeeded, mut due, mut failed, mut qps) = (first.succeeded, first.due, first.failed, qps_of(first));
        for row in rows {
            histogram.to_mut().add(&row.response_time);
            match (&mut streams, row.streams.as_deref()) {
                (Some(streams), Some(more)) => streams.to_mut().add(more, (1.0, 1.0)),
                (streams @ None, more) => *streams = more.map(Cow::Borrowed),
                (Some(_), None) => {}
            }
            (succeeded, due, failed, qps) = (succeeded + row.succeeded, due + row.due, failed + row.failed, qps + qps_of(row));
        }
        let good = succeeded.min(histogram.count());
        Some(Self { run, row: Some(Times { histogram, good, all: due }), streams, due, failed, qps, tps: None })
    }

    fn of_population(run: &'a Summary, row: &'a PopulationRow) -> Self {
        let Requests { due, succeeded, failed, unsent } = row.requests;
        let good = succeeded.min(row.response_time.count());
        Self {
            run,
            row: Some(Times { histogram: Cow::Borrowed(&row.response_time), good, all: due }),
            streams: None,
            due,
            failed: failed + unsent,
            // What succeeded after the load's end is not of its rate.
            qps: if run.duration_s > 0.0 { (succeeded as f64 / run.duration_s).min(row.qps) } else { 0.0 },
            tps: None,
        }
    }

    /// Of journeys and transactions that were under way at the end nobody knows what they would have come to.
    fn of_journey(run: &'a Summary, row: &'a JourneyRow) -> Self {
        let ended = row.completed + row.broke_off;
        Self {
            run,
            row: Some(Times { histogram: Cow::Borrowed(row.time()), good: row.time().count(), all: row.time().count() + row.broke_off }),
            streams: None,
            due: ended,
            failed: ended - row.succeeded,
            qps: 0.0,
            tps: Some(if row.completed == 0 { 0.0 } else { row.tps * row.succeeded as f64 / row.completed as f64 }),
        }
    }

    pub(super) fn times(&self, span: Span) -> Times<'_> {
        match &self.row {
            _ if span.is_of_events() => Times::of_streams(self.streams.as_deref(), span, (self.due, self.failed)),
            Some(times) => times.clone(),
            None => Times::of(self.run, span),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Check, CheckFigure, Verdict, judge};
    use measure::fixtures;

    fn verdict(text: &str, run: &Summary) -> Verdict {
        let check: Check = text.parse().unwrap_or_else(|why| panic!("{text}: {why}"));
        judge(&[check], run).remove(0).verdict
    }

    #[test]
    fn a_step_is_judged_by_its_own_row_and_not_by_the_whole() {
        let run = fixtures::journeys_of_a_shop();
        let scenario = run.scenario.as_ref().unwrap();
        let (worst, best) = {
            let mut steps: Vec<&StepRow> = scenario.steps.iter().collect();
            steps.sort_by(|a, b| (a.failed as f64 / a.due as f64).total_cmp(&(b.failed as f64 / b.due as f64)));
            (steps[steps.len() - 1], steps[0])
        };
        assert!(worst.failed > 0 && best.failed == 0, "{scenario:?}");
        assert_eq!(verdict(&format!("step {} failed == 0", worst.name), &run), Verdict::Broken);
        assert_eq!(verdict(&format!("step {} failed == 0", best.name), &run), Verdict::Held);
        let measured = judge(&[format!("step {} failed < 1%", worst.name).parse().unwrap()], &run).remove(0).measured;
        assert_eq!(measured, Some(CheckFigure::Share(crate::proportion::Share { hits: worst.failed, of: worst.due })));
        assert_eq!(verdict(&format!("step {} p50 < 1h", best.name), &run), Verdict::Held);
        assert_eq!(verdict(&format!("step {} p50 < 1ns", best.name), &run), Verdict::Broken);
        assert_eq!(verdict("step nowhere p50 < 1ns", &run), Verdict::NotJudgeable { why: crate::gate::Why::Nothing });
    }

    #[test]
    fn rates_of_a_part_are_of_what_succeeded_and_rows_of_one_name_are_one() {
        let mut run = fixtures::journeys_of_a_shop();
        run.edit_for_test().duration_s = 10.0;
        let scenario = run.edit_for_test().scenario.as_mut().unwrap();
        let (first, second) = scenario.steps.split_at_mut(1);
        "a".clone_into(&mut first[0].name);
        "a".clone_into(&mut second[0].name);
        (first[0].due, first[0].succeeded, first[0].failed, first[0].qps) = (1_000, 500, 500, 50.0);
        (second[0].due, second[0].succeeded, second[0].failed, second[0].qps) = (100, 100, 0, 10.0);
        // Half of them ran out of time: 50 a second were answered, all of them well.
        assert_eq!(verdict("step a qps >= 59", &run), Verdict::Held);
        assert_eq!(verdict("step a failed == 500", &run), Verdict::Held);
        let row = &mut run.edit_for_test().scenario.as_mut().unwrap().journeys[0];
        (row.completed, row.succeeded, row.tps) = (100, 50, 10.0);
        let name = row.name.clone();
        assert_eq!(verdict(&format!("journey {name} tps > 6"), &run), Verdict::Broken);
        assert_eq!(verdict(&format!("journey {name} tps > 4"), &run), Verdict::Held);
    }

    #[test]
    fn a_journey_that_broke_off_never_ended() {
        let run = fixtures::journeys_of_a_shop();
        let journeys = &run.scenario.as_ref().unwrap().journeys;
        let row = journeys.iter().find(|row| row.broke_off > 0).unwrap();
        assert_eq!(verdict(&format!("journey {} max < 1h", row.name), &run), Verdict::Broken);
        assert_eq!(verdict(&format!("journey {} failed == 0", row.name), &run), Verdict::Broken);
        assert_eq!(verdict("tps > 0.001", &run), Verdict::Held);
    }

    #[test]
    fn a_transaction_is_judged_by_its_own_row() {
        let run = fixtures::journeys_of_a_shop();
        let row = &run.scenario.as_ref().unwrap().transactions[0];
        assert!(row.broke_off > 0 && row.succeeded > 0, "{row:?}");
        assert_eq!(verdict("transaction checkout p50 < 1h", &run), Verdict::Held);
        assert_eq!(verdict("transaction checkout p50 < 1ns", &run), Verdict::Broken);
        assert_eq!(verdict("transaction checkout failed == 0", &run), Verdict::Broken);
        assert_eq!(verdict("transaction checkout tps > 0.001", &run), Verdict::Held);
        assert_eq!(verdict("transaction nowhere p50 < 1h", &run), Verdict::NotJudgeable { why: crate::gate::Why::Nothing });
        let why = "transaction checkout qps > 1".parse::<Check>().unwrap_err();
        assert_eq!(why.message(), "of a transaction, a check takes p50 … p99.9, mean, max, failed or tps");
        let measured = judge(&["transaction checkout failed < 99%".parse().unwrap()], &run).remove(0).measured;
        let of = row.completed + row.broke_off;
        assert_eq!(measured, Some(CheckFigure::Share(crate::proportion::Share { hits: of - row.succeeded, of })));
    }

    #[test]
    fn events_are_judged_by_the_rows_of_what_streamed() {
        let mut run = fixtures::journeys_of_a_shop();
        let streamed = |first: u64, between: u64| {
            let times = |millis: u64, count: u64| {
                let mut times = measure::Histogram::new();
                times.record_many(plan::Nanos::from_millis(millis), count);
                times
            };
            let (first_event, between_events) = (times(first, 3_000), times(between, 30_000));
            Box::new(StreamRow {
                answers: 3_000,
                events: 33_000,
                events_per_second: 3_300.0,
                events_per_second_each: Some(1e3 / between as f64),
                first_event,
                between_events,
                reconnections: 0,
                tokens: None,
            })
        };
        assert_eq!(verdict("first_event p50 < 1s", &run), Verdict::NotJudgeable { why: crate::gate::Why::Nothing }, "nothing streamed");
        run.edit_for_test().streams = Some(streamed(500, 20));
        for (text, held) in [
            ("first_event p50 < 600ms", true),
            ("first_event p50 < 400ms", false),
            ("between_events p99 < 30ms", true),
            ("between_events max < 10ms", false),
            ("between_events mean < 21ms", true),
        ] {
            assert_eq!(verdict(text, &run) == Verdict::Held, held, "{text}");
        }
        let kept = "time_per_token max < 11ms";
        assert_eq!(verdict(kept, &run), Verdict::NotJudgeable { why: crate::gate::Why::Nothing }, "nobody counted tokens");
        let mut time_per_token = measure::Histogram::new();
        time_per_token.record_many(plan::Nanos::from_millis(10), 3_000);
        let tokens = measure::TokenRow { tokens: 60_000, tokens_per_second: 6_000.0, time_per_token };
        run.edit_for_test().streams.as_mut().unwrap().tokens = Some(tokens);
        assert_eq!(verdict(kept, &run), Verdict::Held);
        assert_eq!(verdict("time_per_token max < 9ms", &run), Verdict::Broken);
        // Requests that failed had no first event, as long as not all that fell due had one.
        let requests = run.requests;
        assert!(requests.failed > 0 && requests.due > 3_000);
        assert_eq!(verdict("first_event max < 1h", &run), Verdict::Broken);
        let scenario = run.edit_for_test().scenario.as_mut().unwrap();
        scenario.steps[0].streams = Some(streamed(50, 2));
        let name = scenario.steps[0].name.clone();
        assert_eq!(verdict(&format!("step {name} between_events p99 < 5ms"), &run), Verdict::Held);
        assert_eq!(verdict(&format!("step {name} between_events p99 < 1ms"), &run), Verdict::Broken);
        let why = "journey buy first_event p95 < 1s".parse::<Check>().unwrap_err();
        assert_eq!(why.message(), "of a journey, a check takes p50 … p99.9, mean, max, failed or tps");
    }

    #[test]
    fn a_url_goes_by_its_path_too() {
        let part = Part::Url("/a?b=1".to_owned());
        for (row, is_it) in [("GET /a?b=1", true), ("POST http://a.test:80/a?b=1", true), ("GET /a", false), ("/a?b=1", true)] {
            assert_eq!(part.is_called(row), is_it, "{row}");
        }
        assert!(Part::Url("GET /".to_owned()).is_called("GET /"));
        assert!(Part::Url("/".to_owned()).is_called("GET http://a.test"));
        assert!(!Part::Step("/a".to_owned()).is_called("GET /a"));
    }
}
