//! An answer that is looked through as it comes: its events are counted one by one where it streams, and how it is packed where the plan
//! asks for packed ones. Whoever looks at the answer sees it as before.
//!
//! Body bytes pass here whatever is spoken: HTTP/1.1 and HTTP/2 hand them to the sink of the answer, and tell before when they were read.
//! To count in each of them, the alternative, would be the same logic twice.
//!
//! Answers with a status other than 2xx do not stream, nor can the events of packed ones be told apart without unpacking them. A body that
//! is packed is unpacked by its sink, if that looks into it, and both sizes are counted then.
//!
//! A stream without an end is listened to for as long as the plan says, from its head on: that is its deadline then, and it is no failure.
//! One of server-sent events that the server ends before is asked for again as an EventSource does (WHATWG's HTML §9.2.3).

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use measure::{Outcome, Packing, Quirk, Quirks, Status, StreamEvent, StreamTokens};
use plan::{Nanos, StreamForm};

use super::super::shared::Shared;
use super::{Client, Phase, Request};
use crate::clock::Clock;
use crate::net::Spoken;
use crate::protocol::{Cutter, Encoded, EventForm, Header, ResponseSink, Resumption, websocket};
use crate::slot::{GiveUp, Slot};
use crate::transport::Transport;

/// A server that asks for no pause is left alone this long at least.
const RETRY_MIN: Nanos = Nanos::from_millis(1);

/// Counts the events of an answer, and how it is packed, on its way to its sink.
pub(super) struct Watched<'s, 'w, T: Transport, S> {
    sink: &'s mut S,
    shared: &'w Shared<T>,
    slot: Rc<Slot>,
    /// When the request fell due, and the row of its Step.
    due: Nanos,
    step: Option<usize>,
    /// How events stand in it, if they are looked for.
    form: Option<StreamForm>,
    /// Whether each message over WebSocket is one, until its time is over.
    listens: bool,
    /// Of an answer that streams.
    cutter: Option<Cutter<'w>>,
    /// Until when its user is there, how long it is listened to, and once it began until when that is.
    limit: Nanos,
    time: Option<Nanos>,
    until: Nanos,
    status: u16,
    is_cut_off: bool,
    /// Of an answer that is packed, where that is counted; and whether it has a body.
    packing: Option<Packing>,
    has_body: bool,
    /// When the bytes at hand were read.
    at: Nanos,
    /// When the first and the last event came.
    first: Option<Nanos>,
    last: Option<Nanos>,
    /// How many tokens came, where they are no events.
    tokens: u64,
}

impl<'w, T: Transport> Client<'w, T> {
    /// An exchange of the request that was begun, or, behind what it has come to so far, another: the events of its answer are counted, if
    /// they are looked for, also for this Step.
    pub async fn watch<S: ResponseSink>(
        &mut self,
        so_far: Option<&Outcome>,
        request: &Request<'_>,
        sink: &mut S,
        step: Option<usize>,
    ) -> Outcome {
        let mut watched = self.watched(request, sink, step);
        let outcome = match so_far {
            None => self.exchange(request, &mut watched).await,
            Some(so_far) => self.exchange_more(so_far, request, &mut watched).await,
        };
        self.reopen(outcome, request, &mut watched).await
    }

    /// A sink that counts the events of an answer on its way to that one.
    pub(super) fn watched<'s, S: ResponseSink>(
        &self,
        request: &Request<'_>,
        sink: &'s mut S,
        step: Option<usize>,
    ) -> Watched<'s, 'w, T, S> {
        let own = Some(request.stream_for).filter(|time| *time < Nanos::NEVER);
        let plan = &self.shared.task.plan;
        Watched { form: plan.stream(), time: own.or(plan.stream_for()), step, ..self.looking(sink) }
    }

    /// An exchange in which whatever messages come over WebSocket are counted, also for this Step, until the time of the request is over.
    pub async fn listen<S: ResponseSink>(&mut self, request: &Request<'_>, sink: &mut S, step: usize) -> Outcome {
        let mut watched = Watched { listens: true, step: Some(step), ..self.looking(sink) };
        self.exchange(request, &mut watched).await
    }

    /// A sink for an answer that is a part of another's, such as a picture of a page: how it is packed is counted, and not its events.
    pub fn watched_part<'s, S: ResponseSink>(&self, sink: &'s mut S) -> impl ResponseSink + use<'s, 'w, S, T> {
        self.looking(sink)
    }

    fn looking<'s, S: ResponseSink>(&self, sink: &'s mut S) -> Watched<'s, 'w, T, S> {
        let limit = if self.phase == Phase::Teardown { self.until } else { Nanos::NEVER };
        Watched {
            sink,
            shared: self.shared,
            slot: self.lane.slot.clone(),
            due: self.due,
            step: None,
            form: None,
            listens: false,
            cutter: None,
            limit,
            time: None,
            until: Nanos::NEVER,
            status: 0,
            is_cut_off: false,
            packing: None,
            has_body: false,
            at: self.due,
            first: None,
            last: None,
            tokens: 0,
        }
    }

    /// Asks for a stream again that its server ended too early, after the pause that it asks for, until the stream's time is over.
    pub(super) async fn reopen<S: ResponseSink>(
        &mut self,
        outcome: Outcome,
        request: &Request<'_>,
        watched: &mut Watched<'_, '_, T, S>,
    ) -> Outcome {
        let mut all = outcome;
        while let Some(pause) = watched.reopens_after(&all) {
            self.rest_within(all.done.plus(pause).min(watched.until)).await;
            let now = self.shared.clock.now();
            if now >= watched.until || self.shared.is_stopping() {
                watched.end_tokens();
                return Outcome { done: now.max(all.done), ..all };
            }
            let mut encoded = Encoded { bytes: request.encoded.bytes().to_vec(), layout: request.encoded.layout() };
            watched.resume(&mut encoded);
            self.shared.count(now, |recorder| recorder.stream_reopened(now, watched.step));
            let (first_byte, result) = (all.first_byte, all.result);
            let again = Request { encoded: encoded.as_ref(), ..*request };
            all = Outcome { first_byte, ..Box::pin(self.exchange_more(&Outcome { done: now, ..all }, &again, watched)).await };
            if all.done >= watched.until && all.result.is_err_and(|failure| failure.is_timeout()) {
                // Its time was over while it was asked for again.
                all.result = result;
            }
        }
        watched.end_tokens();
        all
    }
}

impl<T: Transport> Client<'_, T> {
    /// Waits until then, or for a Stop, within a request.
    async fn rest_within(&mut self, until: Nanos) {
        let (shared, lane) = (self.shared, &mut self.lane);
        let mut timer = Box::pin(shared.clock.sleep_until(until));
        poll_fn(|cx| {
            if shared.is_stopping() || lane.slot.give_up() == Some(GiveUp::Aborted) {
                return Poll::Ready(());
            }
            lane.slot.waits(cx);
            lane.poll_lost(cx, shared);
            timer.as_mut().poll(cx)
        })
        .await;
    }
}

impl<T: Transport, S: ResponseSink> Watched<'_, '_, T, S> {
    fn count(&mut self, events: u64) {
        let Self { due, step, at, .. } = *self;
        for _ in 0..events {
            let before = self.last.replace(at);
            self.first = self.first.or(Some(at));
            self.shared.count(at, |recorder| recorder.event(&StreamEvent { due, at, before, step }));
        }
        let tokens = self.cutter.as_mut().map_or(0, Cutter::take_tokens);
        if tokens > 0 {
            self.tokens += tokens;
            self.shared.count(at, |recorder| recorder.tokens(tokens, at, step));
        }
    }

    /// The answer is over: how long each of its tokens took is known.
    fn end_tokens(&mut self) {
        let (Some(first), Some(last)) = (self.first, self.last) else { return };
        let Self { due, step, tokens, .. } = *self;
        if std::mem::take(&mut self.tokens) > 1 {
            self.shared.count(last, |recorder| recorder.tokens_ended(&StreamTokens { due, first, last, tokens, step }));
        }
    }

    /// How long to wait before the stream is asked for again; `None` where it is over: its time is, it said so, or it failed.
    fn reopens_after(&self, outcome: &Outcome) -> Option<Nanos> {
        let is_well = outcome.result.is_ok_and(|status| Status(status).is_success() && status == self.status);
        let resumption = self.cutter.as_ref().filter(|_| is_well && !self.is_cut_off)?.resumption()?;
        (outcome.done < self.until).then(|| resumption.retry.max(RETRY_MIN))
    }

    /// The request says with which event the stream was left.
    fn resume(&self, request: &mut Encoded) {
        let id = self.cutter.as_ref().and_then(Cutter::resumption).map_or(&[][..], |resumption| &resumption.id);
        if !id.is_empty() {
            request.remove("last-event-id");
            request.insert(&[b"Last-Event-ID: ", id, b"\r\n"].concat());
        }
    }
}

fn value_of<'a>(headers: &[Header<'a>], name: &str) -> &'a [u8] {
    headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map_or(&[], |header| header.value)
}

impl<T: Transport, S: ResponseSink> ResponseSink for Watched<'_, '_, T, S> {
    fn received(&mut self, bytes: &[u8]) {
        self.sink.received(bytes);
    }

    fn read_at(&mut self, at: Nanos) {
        self.at = at;
        self.sink.read_at(at);
    }

    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        let plan = &self.shared.task.plan;
        let looks = self.form.is_some() || plan.compressed();
        let packing = if looks { Packing::of(value_of(headers, "content-encoding")) } else { None };
        let looked_for = self.form.filter(|_| (200..300).contains(&status) && packing.is_none());
        let form = looked_for.and_then(|form| EventForm::of(form, value_of(headers, "content-type")));
        let before = self.cutter.take().and_then(Cutter::into_resumption);
        if let (Some(_), Some(time)) = (form, self.time) {
            if self.until == Nanos::NEVER {
                self.until = self.shared.clock.now().plus(time).min(self.limit);
            }
            self.slot.begin(self.until);
        }
        self.status = status;
        self.cutter = form.map(|form| {
            // Only who asks again has to know where it was.
            let resumption = self.time.filter(|_| form == EventForm::Sse).map(|_| before.unwrap_or_else(Resumption::new));
            Cutter::new(form, plan.event_data()).counting(plan.tokens()).resuming(resumption)
        });
        (self.packing, self.has_body) = (packing.filter(|_| plan.compressed()), false);
        if self.sink.wants_head() {
            self.sink.head(status, headers);
        }
    }

    fn is_answer(&mut self) -> bool {
        if self.listens {
            self.count(1);
        }
        !self.listens && self.sink.is_answer()
    }

    fn body(&mut self, bytes: &[u8]) {
        self.has_body = true;
        if let Some(cutter) = &mut self.cutter {
            let was_long = cutter.is_long();
            let events = cutter.feed(bytes);
            if cutter.is_long() && !was_long {
                let mut quirks = Quirks::NONE;
                quirks.insert(Quirk::LongEvent);
                self.shared.quirks(quirks);
            }
            self.count(events);
        }
        if !self.listens {
            self.sink.body(bytes);
        }
    }

    fn cut_off(&mut self) -> Option<u16> {
        if self.listens {
            (self.is_cut_off, self.status) = (true, websocket::STATUS);
            return Some(self.status);
        }
        self.is_cut_off = self.cutter.is_some() && self.until < Nanos::NEVER && self.slot.deadline() >= self.until;
        self.is_cut_off.then_some(self.status)
    }

    fn complete(&mut self) {
        // What is cut off has no last line.
        if !self.is_cut_off {
            let events = u64::from(self.cutter.as_mut().is_some_and(Cutter::finish));
            self.count(events);
        }
        self.sink.complete();
        // To HEAD, and with status 304, a server says how it would have packed its answer.
        if let Some(packing) = self.packing.take().filter(|_| self.has_body) {
            self.shared.recorder.borrow_mut().packed(packing, self.sink.unpacked());
        }
    }

    fn unpacked(&self) -> Option<(u64, u64)> {
        self.sink.unpacked()
    }

    fn spoken(&mut self, tell: impl FnOnce() -> Option<Spoken>) {
        self.sink.spoken(tell);
    }
}
