//! What answers that stream came to: events, as they came in.
//!
//! The response time of an answer that streams says when the last of it was there, and its reader has long begun by then: with the first
//! event. So an event is counted when it comes, and not with its request, which may last as long as the load. Its times follow the rules
//! of all times: they belong to the measured span by when the request fell due, and the first counts from there, so that a request that
//! had to wait in line is not taken for a fast one. Rates count events by when they came. Sorting events into requests, the
//! alternative, would keep each of them until the request ends.
//!
//! Invariant: counts add up exactly; nothing is kept of a run whose answers are not looked through.

use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::snapshot::is_zero;
use crate::{Histogram, PackedHistogram};

/// An event of an answer, as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamEvent {
    /// When its request fell due.
    pub due: Nanos,
    /// When it was complete.
    pub at: Nanos,
    /// When the event before it in the same answer was; `None` for the first.
    pub before: Option<Nanos>,
    /// The Step, by its place, whose answer it is part of.
    pub step: Option<usize>,
}

/// The tokens of an answer that is over, where they are not events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamTokens {
    /// When its request fell due.
    pub due: Nanos,
    /// When its first event came.
    pub first: Nanos,
    /// When its last event came.
    pub last: Nanos,
    /// How many tokens it had; at least 2.
    pub tokens: u64,
    /// The Step, by its place, whose answer it is.
    pub step: Option<usize>,
}

/// Counts of tokens, where they are not events; `H` is how times are held.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TokenCounts<H = Histogram> {
    /// Tokens that came within the measured span.
    pub tokens: u64,
    /// Of each answer, the time from its first event to its last over its tokens, less the first: vLLM's TPOT.
    pub time_per_token: H,
}

/// Counts of events; `H` is how times are held.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamCounts<H = Histogram> {
    /// Events that came within the measured span.
    pub events: u64,
    /// From when a request was due to the first event of its answer.
    pub first_event: H,
    /// Between two events of an answer.
    pub between_events: H,
    /// How often a stream that its server ended was asked for again within the measured span.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reconnections: u64,
    /// Tokens, where they are not events.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCounts<H>>,
}

impl StreamCounts {
    /// Counts an event: for rates if it came in the measured span, for times if its request fell due there.
    pub(crate) fn record(&mut self, event: &StreamEvent, came_in_span: bool, was_due_in_span: bool) {
        self.events += u64::from(came_in_span);
        match event.before {
            _ if !was_due_in_span => {}
            None => self.first_event.record(event.at.since(event.due)),
            Some(before) => self.between_events.record(event.at.since(before)),
        }
    }

    /// Adds another's counts.
    pub(crate) fn add(&mut self, other: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { events, first_event, between_events, reconnections, tokens } = other;
        self.events += events;
        self.first_event.add(first_event);
        self.between_events.add(between_events);
        self.reconnections += reconnections;
        if let Some(TokenCounts { tokens, time_per_token }) = tokens {
            let all = self.tokens.get_or_insert_default();
            all.tokens += tokens;
            all.time_per_token.add(time_per_token);
        }
    }
}

/// Adds counts that may be none.
pub(crate) fn add(to: &mut Option<Box<StreamCounts>>, from: Option<&StreamCounts>) {
    if let Some(from) = from {
        to.get_or_insert_default().add(from);
    }
}

/// Counts that may be none, with times that are held otherwise.
///
/// # Errors
/// As `convert`.
pub(crate) fn convert<'a, H, T>(
    counts: Option<&'a StreamCounts<H>>,
    convert: impl Fn(&'a H) -> Result<T, String>,
) -> Result<Option<Box<StreamCounts<T>>>, String> {
    let Some(StreamCounts { events, first_event, between_events, reconnections, tokens }) = counts else { return Ok(None) };
    let tokens = match tokens {
        Some(TokenCounts { tokens, time_per_token }) => Some(TokenCounts { tokens: *tokens, time_per_token: convert(time_per_token)? }),
        None => None,
    };
    let (first_event, between_events) = (convert(first_event)?, convert(between_events)?);
    Ok(Some(Box::new(StreamCounts { events: *events, first_event, between_events, reconnections: *reconnections, tokens })))
}

/// Counts as they stand in a Tick, with all quantiles that are shown.
pub(crate) fn packed(counts: Option<&StreamCounts>) -> Option<Box<StreamCounts<PackedHistogram>>> {
    convert(counts, |times: &Histogram| Ok(times.pack_whole())).expect("packing times never fails")
}

/// Adds counts of a Tick to those of the one before it.
pub(crate) fn add_packed(to: &mut Option<Box<StreamCounts<PackedHistogram>>>, from: Option<&StreamCounts<PackedHistogram>>) {
    let unpack = |counts| convert(counts, PackedHistogram::unpack).expect("a tick packs what it unpacks");
    let Some(from) = from else { return };
    let mut both = unpack(to.as_deref());
    add(&mut both, unpack(Some(from)).as_deref());
    *to = packed(both.as_deref());
}

/// Answers that streamed, of a finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamRow {
    /// Answers that had an event, of requests that fell due in the measured span.
    pub answers: u64,
    /// Events that came within the measured span.
    pub events: u64,
    /// Of these, a second.
    pub events_per_second: f64,
    /// Events a second in one answer, from its first event to its last, all answers together; `None` where none had two.
    pub events_per_second_each: Option<f64>,
    /// From when a request was due to the first event of its answer.
    pub first_event: Histogram,
    /// Between two events of an answer; the greatest is the longest pause.
    pub between_events: Histogram,
    /// How often a stream that its server ended was asked for again within the measured span.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reconnections: u64,
    /// Tokens, where they are not events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenRow>,
}

/// Tokens of answers that streamed, of a finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenRow {
    /// Tokens that came within the measured span.
    pub tokens: u64,
    /// Of these, a second.
    pub tokens_per_second: f64,
    /// Of each answer, the time from its first event to its last over its tokens, less the first: vLLM's TPOT.
    pub time_per_token: Histogram,
}

impl TokenRow {
    fn of(counts: &TokenCounts, a_second: &dyn Fn(u64) -> f64) -> Self {
        Self { tokens: counts.tokens, tokens_per_second: a_second(counts.tokens), time_per_token: counts.time_per_token.clone() }
    }

    /// How many tokens a second one user sees: one over the mean time for each; `None` where no answer had two.
    #[must_use]
    pub fn tokens_per_second_each(&self) -> Option<f64> {
        each(&self.time_per_token)
    }
}

impl StreamRow {
    /// Counts in their final form. `a_second` turns a count into a rate.
    pub(crate) fn of(counts: &StreamCounts, a_second: &dyn Fn(u64) -> f64) -> Self {
        let StreamCounts { events, first_event, between_events, reconnections, tokens } = counts.clone();
        Self {
            answers: first_event.count(),
            events,
            events_per_second: a_second(events),
            events_per_second_each: each(&between_events),
            first_event,
            between_events,
            reconnections,
            tokens: tokens.map(|tokens| TokenRow::of(&tokens, a_second)),
        }
    }

    /// The same of counts that may be none.
    pub(crate) fn of_some(counts: Option<&StreamCounts>, a_second: &dyn Fn(u64) -> f64) -> Option<Box<Self>> {
        counts.map(|counts| Box::new(Self::of(counts, a_second)))
    }

    /// Adds what another run came to, where either may have none.
    pub(crate) fn add_some(to: &mut Option<Box<Self>>, other: Option<&Self>, weights: (f64, f64)) {
        match (to, other) {
            (Some(all), Some(more)) => all.add(more, weights),
            (all @ None, Some(more)) => {
                let events_per_second = crate::tally::mean_of((0.0, more.events_per_second), weights);
                *all = Some(Box::new(Self { events_per_second, ..more.clone() }));
            }
            (Some(all), None) => all.events_per_second = crate::tally::mean_of((all.events_per_second, 0.0), weights),
            (None, None) => {}
        }
    }

    /// Adds what another run of the same load came to; `weights` are how long each lasted.
    pub fn add(&mut self, other: &Self, weights: (f64, f64)) {
        let Self { answers, events, events_per_second, events_per_second_each, first_event, between_events, reconnections, tokens } = self;
        *answers += other.answers;
        *events += other.events;
        *events_per_second = crate::tally::mean_of((*events_per_second, other.events_per_second), weights);
        first_event.add(&other.first_event);
        between_events.add(&other.between_events);
        *events_per_second_each = each(between_events);
        *reconnections += other.reconnections;
        if let (Some(tokens), Some(more)) = (tokens, &other.tokens) {
            tokens.tokens += more.tokens;
            tokens.tokens_per_second = crate::tally::mean_of((tokens.tokens_per_second, more.tokens_per_second), weights);
            tokens.time_per_token.add(&more.time_per_token);
        }
    }
}

/// How many events a second come while an answer streams: the time between all of them is the time of all that streamed.
fn each(between: &Histogram) -> Option<f64> {
    between.mean().filter(|mean| *mean > 0.0).map(|mean| 1e9 / mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recorder, Snapshot, Span};

    fn event(due: u64, at: u64, before: Option<u64>) -> StreamEvent {
        let ms = Nanos::from_millis;
        StreamEvent { due: ms(due), at: ms(at), before: before.map(ms), step: None }
    }

    fn recorded(events: &[StreamEvent]) -> Snapshot {
        let mut recorder = Recorder::new(Span { from: Nanos::from_millis(100), until: Nanos::from_millis(1_000) });
        events.iter().for_each(|event| recorder.event(event));
        recorder.swap(Snapshot::empty(1))
    }

    #[test]
    fn times_go_by_when_the_request_was_due_and_rates_by_when_an_event_came() {
        // Due in the warm-up, its second event after it; due in time, its second event after the end.
        let counts = recorded(&[event(50, 90, None), event(50, 120, Some(90)), event(200, 230, None), event(200, 1_100, Some(230))]);
        let StreamCounts { events, first_event, between_events, .. } = *counts.streams.unwrap();
        assert_eq!(events, 2, "those of 120 ms and 230 ms");
        assert_eq!((first_event.count(), first_event.max()), (1, Some(Nanos::from_millis(30))));
        assert_eq!((between_events.count(), between_events.max()), (1, Some(Nanos::from_millis(870))));
    }

    #[test]
    fn what_no_event_came_for_is_not_there() {
        assert_eq!(recorded(&[]).streams, None);
        assert_eq!(recorded(&[event(10, 20, None)]).streams, None, "the warm-up is left out");
        assert!(!serde_json::to_string(&recorded(&[])).unwrap().contains("first_event"));
    }

    #[test]
    fn tokens_are_counted_as_they_come_and_their_time_by_their_answer() {
        let ms = Nanos::from_millis;
        let mut recorder = Recorder::new(Span { from: ms(100), until: ms(1_000) });
        recorder.tokens(5, ms(90), None);
        recorder.tokens(7, ms(120), None);
        let answer = |due, tokens| StreamTokens { due: ms(due), first: ms(300), last: ms(340), tokens, step: None };
        recorder.tokens_ended(&answer(200, 5));
        recorder.tokens_ended(&answer(50, 2));
        recorder.stream_reopened(ms(400), None);
        recorder.stream_reopened(ms(1_400), None);
        let mut counts = *recorder.swap(Snapshot::empty(1)).streams.unwrap();
        let tokens = counts.tokens.as_ref().unwrap();
        assert_eq!((tokens.tokens, tokens.time_per_token.count(), tokens.time_per_token.max()), (7, 1, Some(ms(10))));
        counts.add(&counts.clone());
        let row = StreamRow::of(&counts, &|count| count as f64 / 2.0);
        let tokens = row.tokens.as_ref().unwrap();
        assert_eq!((row.reconnections, tokens.tokens, tokens.tokens_per_second), (2, 14, 7.0));
        assert!((tokens.tokens_per_second_each().unwrap() - 100.0).abs() < 1e-9);
        let again = packed(Some(&counts)).unwrap();
        assert_eq!(convert(Some(&*again), PackedHistogram::unpack).unwrap().as_deref(), Some(&counts));
    }

    #[test]
    fn ticks_that_become_one_keep_their_events() {
        let (first, second) = (recorded(&[event(200, 230, None)]), recorded(&[event(200, 240, Some(230)), event(300, 450, None)]));
        let mut both = packed(first.streams.as_deref());
        add_packed(&mut both, packed(second.streams.as_deref()).as_deref());
        add_packed(&mut both, None);
        let mut whole = first;
        whole.add(&second);
        assert_eq!(both, packed(whole.streams.as_deref()));
        let mut none = None;
        add_packed(&mut none, both.as_deref());
        assert_eq!(none, both);
    }

    #[test]
    fn counts_add_up_and_read_back() {
        let all = [event(200, 230, None), event(200, 240, Some(230)), event(300, 450, None), event(300, 460, Some(450))];
        let (mut parts, whole) = (recorded(&all[..1]), recorded(&all));
        parts.add(&recorded(&all[1..]));
        assert_eq!(parts.streams, whole.streams);
        let read: Snapshot = serde_json::from_str(&serde_json::to_string(&whole).unwrap()).unwrap();
        assert_eq!(read.streams, whole.streams);
        let row = StreamRow::of(&whole.streams.unwrap(), &|count| count as f64 / 2.0);
        assert_eq!((row.answers, row.events, row.events_per_second, row.events_per_second_each), (2, 4, 2.0, Some(100.0)));
    }
}
