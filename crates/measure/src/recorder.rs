//! One worker's running counts: where an [`Outcome`] ends.
//!
//! Recording neither allocates, locks nor formats, save once for the first example of a failure class. Which counts
//! an outcome belongs to is decided here and nowhere else:
//!
//! * a request belongs to the measured span by when it fell **due**; earlier ones are only counted as excluded,
//! * throughput counts answers by when their last byte **came**, so that neither the ramp nor the drain distorts it,
//! * an answer with a status of 400 or above is a failure ([`Failure::CheckStatus`]) and still has times,
//! * a timeout is recorded at its limit; other failures have no response time.

use plan::Nanos;

use crate::gap::{DELAY_MIN, Recent};
use crate::{
    Awaited, Closer, Example, Failure, Histogram, JourneyCounts, JourneyEnd, Outcome, Packing, PopulationCounts, Quirks, RecordBuffer,
    RequestSums, Snapshot, Status, StreamCounts, StreamEvent, StreamTokens, Tally, TransactionRecord, WebSocketCounts,
};

/// The measured part of a run: from the end of the warm-up to when the last request may fall due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The end of the warm-up.
    pub from: Nanos,
    /// The end of the load; [`Nanos::NEVER`] where a number of requests ends it.
    pub until: Nanos,
}

/// What makes an answer a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuccessRule {
    /// A status below 400.
    ByStatus,
    /// It was asked for, whatever its status.
    Well,
    /// It failed, whatever its status.
    Failed(Failure),
}

/// When a Journey began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// Before the measured span.
    Before,
    /// In it.
    Within(Nanos),
}

/// One worker's running counts.
#[derive(Debug)]
pub struct Recorder {
    span: Span,
    counts: Snapshot,
    in_flight: InFlight,
    /// Requests that did not wait, which is nearly all of them: counted here, recorded together.
    unwaited: u64,
    /// What the last look at this worker's rate saw.
    looked: Look,
    /// Service times of answers that came in one piece, whose first byte was their last: recorded once instead of twice.
    in_one_piece: Histogram,
    /// When this worker did not run.
    gaps: Recent,
    /// Examples that are told with their Step already; one a class.
    named: Vec<(Failure, Nanos)>,
    /// Which population the worker belongs to, where there are several.
    population: Option<usize>,
    /// Where every request is to be written down.
    log: Option<Box<RecordBuffer>>,
    /// The Lane of the request that ends next.
    lane: u32,
}

/// A worker's rate is looked at this often, as wrk does.
const LOOK_EVERY: Nanos = Nanos::from_millis(100);

/// When a worker's rate was last looked at, and what has been answered since, as far as it was swapped out.
#[derive(Debug, Default)]
struct Look {
    at: Nanos,
    answered_before: u64,
    answered_swapped: u64,
}

/// How many requests are on the wire, and since when it is so many.
#[derive(Debug, Default)]
struct InFlight {
    count: u64,
    since: Nanos,
}

/// Counts what began with a request that fell due then.
fn begun(span: Span, row: Option<&mut JourneyCounts>, due: Nanos) -> Begun {
    if due < span.from {
        return Begun::Before;
    }
    if let Some(row) = row {
        row.started += 1;
    }
    Begun::Within(due)
}

/// Counts what began and was done then, and took so long.
fn ended(span: Span, row: Option<&mut JourneyCounts>, (began, done): (Begun, Nanos), took: Nanos, how: JourneyEnd) {
    let Some(row) = row else { return };
    if let JourneyEnd::BrokeOff(failure) = how {
        if began != Begun::Before {
            *row.broke_off.entry(failure).or_default() += 1;
        }
        return;
    }
    let well = how == JourneyEnd::Succeeded;
    if done > span.from && done <= span.until {
        row.ended += 1;
        row.ended_well += u64::from(well);
    }
    if began != Begun::Before {
        row.completed += 1;
        row.succeeded += u64::from(well);
        row.lasted.record(took);
    }
}

impl Recorder {
    /// Counts nothing yet, in interval 0.
    #[must_use]
    pub fn new(span: Span) -> Self {
        Self {
            span,
            counts: Snapshot::default(),
            in_flight: InFlight::default(),
            unwaited: 0,
            looked: Look::default(),
            in_one_piece: Histogram::new(),
            gaps: Recent::default(),
            named: Vec::new(),
            population: None,
            log: None,
            lane: 0,
        }
    }

    /// The same, with these rows counted beside the whole.
    #[must_use]
    pub fn with_tally(mut self, tally: Tally) -> Self {
        self.counts.tally = tally;
        self
    }

    /// The same of a worker of the population at this place among several; after [`with_tally`](Self::with_tally).
    #[must_use]
    pub fn of_population(mut self, place: usize, names: impl IntoIterator<Item = String>) -> Self {
        self.counts.tally.populations = names.into_iter().map(PopulationCounts::named).collect();
        self.population = Some(place);
        self
    }

    /// The same, with a copy of every request that ends put in there.
    #[must_use]
    pub fn with_log(self, log: Option<RecordBuffer>) -> Self {
        Self { log: log.map(Box::new), ..self }
    }

    /// Nothing more is put in the log, and what was is handed on.
    pub fn close_log(&mut self) {
        if let Some(mut log) = self.log.take() {
            log.hand_over();
        }
    }

    /// The request that ends next was sent on this Lane of the worker.
    #[inline]
    pub fn sent_on(&mut self, lane: u32) {
        self.lane = lane;
    }

    /// The request that ends next is called so in a log: a place among the names of its source.
    #[inline]
    pub fn call(&mut self, name: u32) {
        if let Some(log) = &mut self.log {
            log.call(name);
        }
    }

    /// Opening a connection for the next request on this Lane took so long.
    pub fn connected(&mut self, lane: u32, took: Nanos) {
        if let Some(log) = &mut self.log {
            log.connected(lane, took);
        }
    }

    /// A request fell due.
    #[inline]
    pub fn due(&mut self, due: Nanos) {
        if due >= self.span.from {
            self.counts.due += 1;
        }
    }

    /// A request was put on the wire.
    #[inline]
    pub fn left(&mut self, at: Nanos) {
        if at < self.in_flight.since {
            self.counts.in_flight_area += self.behind(at);
        } else {
            self.integrate(at);
        }
        self.in_flight.count += 1;
    }

    /// A request on the wire came to its end.
    #[inline]
    pub fn came_back(&mut self, at: Nanos) {
        if at < self.in_flight.since {
            self.counts.in_flight_area = self.counts.in_flight_area.saturating_sub(self.behind(at));
        } else {
            self.integrate(at);
        }
        self.in_flight.count = self.in_flight.count.saturating_sub(1);
    }

    /// How far a change lies behind the last one: where several answers come with one read, the first are noted after others have left.
    #[cold]
    fn behind(&self, at: Nanos) -> u128 {
        u128::from(self.in_flight.since.min(self.span.until).since(at.max(self.span.from)).0)
    }

    /// A request that was on the wire in this span is sent once more, and counts from its second sending.
    pub fn sent_again(&mut self, sent: Nanos, done: Nanos) {
        let within = done.min(self.span.until).since(sent.max(self.span.from));
        self.counts.in_flight_area = self.counts.in_flight_area.saturating_sub(u128::from(within.0));
    }

    /// Adds what was on the wire since the last change. Little's law is checked against this figure, which knows no
    /// request's times (docs/measurement.md §2.7).
    #[inline]
    fn integrate(&mut self, at: Nanos) {
        let within = at.min(self.span.until).since(self.in_flight.since.max(self.span.from));
        self.counts.in_flight_area += u128::from(within.0) * u128::from(self.in_flight.count);
        self.in_flight.since = at;
    }

    /// How many answers came since the counts were last handed over, warm-up included or not as with all counts.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.counts.answered
    }

    /// A request that had fallen due came to its end.
    #[inline]
    pub fn record(&mut self, outcome: &Outcome) {
        self.record_judged(outcome, SuccessRule::ByStatus);
    }

    /// The same of a request whose answer was judged by more than its status.
    #[inline]
    pub fn record_judged(&mut self, outcome: &Outcome, judged: SuccessRule) {
        if self.log.is_some() {
            self.write_down(outcome, judged);
        }
        if self.gaps.touch(outcome.due) {
            let (outcome, stood) = self.gaps.charge(outcome);
            self.record_delayed(&outcome, judged, stood);
        } else {
            self.record_delayed(outcome, judged, Nanos::ZERO);
        }
    }

    /// Puts a request that ended in the log.
    #[inline(never)]
    fn write_down(&mut self, outcome: &Outcome, judged: SuccessRule) {
        if let Some(log) = &mut self.log {
            // It has left the wire already.
            log.push(outcome, failure_of(outcome.result, judged), self.lane, self.in_flight.count + 1);
        }
    }

    /// The same of a request that was on the wire for so long while this worker did not run.
    #[inline]
    fn record_delayed(&mut self, outcome: &Outcome, judged: SuccessRule, stood: Nanos) {
        let counts = &mut self.counts;
        counts.bytes_sent += u64::from(outcome.bytes_out);
        counts.bytes_received += outcome.bytes_in;
        let failed = failure_of(outcome.result, judged);
        if outcome.is_answered() && outcome.done > self.span.from && outcome.done <= self.span.until {
            counts.answered += 1;
            counts.answered_well += u64::from(failed.is_none());
        }
        if outcome.due < self.span.from {
            counts.excluded += 1;
            if !outcome.result.is_err_and(Failure::is_unsent) && outcome.done > self.span.from {
                counts.service_of_warmup += outcome.done.min(self.span.until).since(outcome.sent.max(self.span.from));
            }
            return;
        }
        let is_timed = outcome.result.map_or_else(|failure| failure.is_timeout() || failure.is_answered(), |_| true);
        match outcome.result {
            Ok(status) => {
                counts.count_status(status);
                if outcome.first_byte == outcome.done {
                    self.in_one_piece.record(outcome.service_time());
                } else {
                    counts.first_byte.record(outcome.first_byte.since(outcome.sent));
                    counts.service.record(outcome.service_time());
                }
                if let Some(failed) = failed {
                    counts.failures[failed.index()] += 1;
                    counts.response_failed.record(outcome.response_time());
                } else {
                    counts.succeeded += 1;
                    counts.response_succeeded.record(outcome.response_time());
                }
            }
            Err(failure) => {
                counts.failures[failure.index()] += 1;
                if is_timed {
                    counts.response_failed.record(outcome.response_time());
                }
                // What was never sent has no wait, lag or service time.
                if failure.is_unsent() {
                    return;
                }
                if failure.is_answered() {
                    counts.first_byte.record(outcome.first_byte.since(outcome.sent));
                }
                if is_timed {
                    counts.service.record(outcome.service_time());
                }
            }
        }
        match outcome.wait() {
            Nanos::ZERO => self.unwaited += 1,
            wait => counts.wait.record(wait),
        }
        let lag = outcome.lag();
        counts.lag.record(lag);
        if outcome.done > self.span.until && is_timed {
            counts.service_drained += outcome.done.since(outcome.sent.max(self.span.until));
        }
        if lag.plus(stood) >= DELAY_MIN && is_timed {
            counts.own_delay.record(outcome.response_time(), lag.plus(stood));
        }
    }

    /// The same by Step as well.
    pub fn record_step(&mut self, outcome: &Outcome, step: usize, judged: SuccessRule) {
        self.call(step as u32 + 1);
        self.record_judged(outcome, judged);
        let in_span = outcome.done > self.span.from && outcome.done <= self.span.until;
        let Some(row) = self.counts.tally.steps.get_mut(step) else { return };
        row.answered += u64::from(outcome.is_answered() && in_span);
        if outcome.due < self.span.from {
            return;
        }
        row.due += 1;
        let Some(failed) = failure_of(outcome.result, judged) else { return row.succeed(outcome) };
        *row.failures.entry(failed).or_default() += 1;
        if outcome.is_answered() || failed.is_timeout() {
            row.response_failed.record(outcome.response_time());
        }
    }

    /// An event of an answer that streams came.
    pub fn event(&mut self, event: &StreamEvent) {
        let came_in_span = event.at > self.span.from && event.at <= self.span.until;
        let was_due_in_span = event.due >= self.span.from;
        if !came_in_span && !was_due_in_span {
            return;
        }
        self.streams_of(event.step, |counts| counts.record(event, came_in_span, was_due_in_span));
    }

    /// A stream that its server ended is asked for again.
    pub fn stream_reopened(&mut self, at: Nanos, step: Option<usize>) {
        if at > self.span.from && at <= self.span.until {
            self.streams_of(step, |counts| counts.reconnections += 1);
        }
    }

    /// So many tokens came that are no events.
    pub fn tokens(&mut self, tokens: u64, at: Nanos, step: Option<usize>) {
        if at > self.span.from && at <= self.span.until {
            self.streams_of(step, |counts| counts.tokens.get_or_insert_default().tokens += tokens);
        }
    }

    /// An answer with tokens that are no events is over.
    pub fn tokens_ended(&mut self, answer: &StreamTokens) {
        if answer.due >= self.span.from && answer.tokens > 1 {
            let each = Nanos(answer.last.since(answer.first).0 / (answer.tokens - 1));
            self.streams_of(answer.step, |counts| counts.tokens.get_or_insert_default().time_per_token.record(each));
        }
    }

    /// Counts for the whole, and for a Step if there is one.
    fn streams_of(&mut self, step: Option<usize>, count: impl Fn(&mut StreamCounts)) {
        let Snapshot { streams, tally, .. } = &mut self.counts;
        let step = step.and_then(|step| tally.steps.get_mut(step)).map(|row| &mut row.streams);
        for counts in [Some(streams), step].into_iter().flatten() {
            count(counts.get_or_insert_default());
        }
    }

    /// What a failure of a Step looked like, in its row and in that of the whole.
    pub fn step_example(&mut self, step: usize, failure: Failure, at: Nanos, text: impl Fn() -> String) {
        if let Some(row) = self.counts.tally.steps.get_mut(step) {
            row.examples.entry(failure).or_insert_with(|| Example { at, text: text() });
        }
        self.example(failure, at, text);
    }

    /// A request of a Step came to no answer, or to one whose status is none that was asked for. `said` tells of which, and is made only
    /// for the first of its class in an interval. If the example of the whole is this request's, it is told there too: "reset by peer"
    /// alone does not say where to look.
    pub fn step_failed(&mut self, step: usize, failure: Failure, at: Nanos, said: impl FnOnce() -> String) {
        let Some(row) = self.counts.tally.steps.get_mut(step).filter(|row| !row.examples.contains_key(&failure)) else { return };
        let mut text = said();
        let is_named = self.named.contains(&(failure, at));
        let example = self.counts.examples.entry(failure).or_insert_with(|| Example { at, text: String::new() });
        if example.at == at && !is_named {
            if !example.text.is_empty() {
                text = format!("{text}: {}", example.text);
            }
            example.text.clone_from(&text);
            self.named.retain(|(known, _)| *known != failure);
            self.named.push((failure, at));
        }
        row.examples.insert(failure, Example { at, text });
    }

    /// An answer was held against a Check of its Step. `said` is made only for the first that fails in an interval.
    pub fn checked(&mut self, outcome: &Outcome, step: usize, check: usize, said: Result<(), impl FnOnce() -> String>) {
        if let (Err(_), Some(log)) = (&said, &mut self.log) {
            log.broken(check);
        }
        if outcome.due < self.span.from {
            return;
        }
        let Some(row) = self.counts.tally.steps.get_mut(step).and_then(|row| row.checks.get_mut(check)) else { return };
        match said {
            Ok(()) => row.held += 1,
            Err(said) => {
                row.failed += 1;
                row.example.get_or_insert_with(|| Example { at: outcome.done, text: said() });
            }
        }
    }

    /// A Journey began with a request that fell due then.
    pub fn journey_began(&mut self, journey: usize, due: Nanos) -> Begun {
        begun(self.span, self.counts.tally.journeys.get_mut(journey), due)
    }

    /// A Journey ended with an answer that was complete then.
    pub fn journey_ended(&mut self, journey: usize, began: Begun, done: Nanos, how: JourneyEnd) {
        let took = if let Begun::Within(due) = began { done.since(due) } else { Nanos::ZERO };
        ended(self.span, self.counts.tally.journeys.get_mut(journey), (began, done), took, how);
    }

    /// A transaction began with a request that fell due then.
    pub fn transaction_began(&mut self, transaction: usize, due: Nanos) -> Begun {
        begun(self.span, self.counts.tally.transactions.get_mut(transaction), due)
    }

    /// A transaction ended, or broke off with its Journey, with an answer that was complete then. `took` is its time.
    pub fn transaction_ended(&mut self, transaction: usize, began: Begun, done: Nanos, took: Nanos, how: JourneyEnd) {
        ended(self.span, self.counts.tally.transactions.get_mut(transaction), (began, done), took, how);
    }

    /// The request that ended last, where a log is written: what transactions add up for theirs.
    #[must_use]
    pub fn logged(&self) -> Option<RequestSums> {
        self.log.as_ref().map(|log| log.last())
    }

    /// Puts a transaction that ended in the log, if one is written. Its `name` is its place among the rows of transactions.
    pub fn log_transaction(&mut self, record: impl FnOnce() -> TransactionRecord) {
        if let Some(log) = &mut self.log {
            let record = record();
            // Behind the one name of what has no row, and those of Steps.
            let name = record.name + self.counts.tally.steps.len() as u32 + 1;
            log.push_transaction(TransactionRecord { name, ..record });
        }
    }

    /// A request that had fallen due was never sent, and its time is over: it is recorded at what it waited, which is its timeout
    /// unless the load was stopped.
    pub fn unsent(&mut self, due: Nanos, waited: Nanos) {
        if due < self.span.from {
            self.counts.excluded += 1;
        } else {
            self.counts.unsent += 1;
            self.counts.response_failed.record(waited);
            let stood = self.gaps.within(due, due.plus(waited));
            if stood >= DELAY_MIN {
                self.counts.own_delay.record(waited, stood);
            }
        }
    }

    /// A connection was opened: what TCP took, and TLS where it was spoken.
    pub fn opened(&mut self, connect: Nanos, tls: Option<Nanos>) {
        self.counts.connections.opened += 1;
        self.counts.connect.record(connect);
        if let Some(tls) = tls {
            self.counts.tls.record(tls);
        }
    }

    /// On the connection that was opened last, HTTP/2 is spoken.
    pub fn opened_http2(&mut self) {
        self.counts.connections.http2 += 1;
    }

    /// On the connection that was opened last, HTTP/3 is spoken.
    pub fn opened_http3(&mut self) {
        self.counts.connections.http3 += 1;
    }

    /// Some answer said that the server speaks HTTP/3 too.
    pub fn http3_is_offered(&mut self) {
        self.counts.connections.http3_is_offered = true;
    }

    /// On a connection of QUIC that is closed so many packets were sent, and so many of them lost.
    pub fn packets(&mut self, (sent, lost): (u64, u64)) {
        self.counts.connections.packets += sent;
        self.counts.connections.packets_lost += lost;
    }

    /// On the connection that was opened last, WebSocket is spoken since a handshake that took this long; `deflates` says whether messages may be
    /// packed.
    pub fn opened_websocket(&mut self, handshake: Nanos, deflates: bool) {
        self.counts.connections.websocket += 1;
        let counts = self.counts.websockets.get_or_insert_default();
        counts.handshake.record(handshake);
        counts.deflates += u64::from(deflates);
    }

    /// This came over connections of WebSocket from then on. Of times in the warm-up none are kept.
    pub fn came_over_websockets(&mut self, mut came: Box<WebSocketCounts>, from: Nanos) {
        if from < self.span.from {
            came.between_messages = Histogram::new();
        }
        self.counts.websockets.get_or_insert_default().add(&came);
    }

    /// The TLS handshake of the connection that was opened last resumed a session.
    pub fn resumed(&mut self) {
        self.counts.connections.resumed += 1;
    }

    /// An answer came that is packed so; if its body was unpacked, of so many bytes to so many.
    pub fn packed(&mut self, packing: Packing, unpacked: Option<(u64, u64)>) {
        self.counts.packed.count(packing);
        if let Some((from, to)) = unpacked {
            self.counts.packed.unpacked(from, to);
        }
    }

    /// A request's body waited for the server's word.
    pub fn awaited(&mut self, came: Awaited) {
        self.counts.awaited.count(came);
    }

    /// A connection was closed.
    pub fn closed(&mut self, by: Closer) {
        match by {
            Closer::Server => self.counts.connections.closed_by_server += 1,
            Closer::Us => self.counts.connections.closed_by_us += 1,
        }
    }

    /// The load ends earlier than planned: answers after this moment no longer count as throughput.
    pub fn end_at(&mut self, until: Nanos) {
        self.span.until = self.span.until.min(until);
    }

    /// A redirect was followed.
    pub fn redirected(&mut self) {
        self.counts.redirects += 1;
    }

    /// Oddities of an answer.
    pub fn quirks(&mut self, quirks: Quirks) {
        for quirk in quirks.iter() {
            self.counts.quirks[quirk.index()] += 1;
        }
    }

    /// What a failure looked like. `text` is made only for the first of its class in an interval.
    pub fn example(&mut self, failure: Failure, at: Nanos, text: impl FnOnce() -> String) {
        self.counts.examples.entry(failure).or_insert_with(|| Example { at, text: text() });
    }

    /// Looks at this worker's rate, if it is time. A span without an answer is left open: the next look spans it too.
    pub fn look(&mut self, now: Nanos) {
        let span = now.since(self.looked.at.max(self.span.from));
        if span < LOOK_EVERY || now > self.span.until {
            return;
        }
        let answered = self.looked.answered_swapped + self.counts.answered;
        let more = answered - self.looked.answered_before;
        if more > 0 {
            let rate = u128::from(more) * 1_000_000_000 / u128::from(span.0);
            self.counts.worker_rates.record(u64::try_from(rate).unwrap_or(u64::MAX));
            self.looked = Look { at: now, answered_before: answered, ..self.looked };
        }
    }

    /// The worker did not run in this span, though it had to: told before what happened in it is recorded. Only what lies in the
    /// measured span counts.
    #[cold]
    pub fn stood_still(&mut self, from: Nanos, until: Nanos) {
        self.gaps.keep(from, until);
        let within = until.min(self.span.until).since(from.max(self.span.from));
        if within > Nanos::ZERO {
            self.counts.gaps.record(within);
        }
    }

    /// Processor time the worker's thread used since it last said so.
    pub fn cpu(&mut self, used: Nanos) {
        self.counts.cpu += used;
    }

    /// The interval ends here: what is on the wire was on it until now, and belongs to this interval until now.
    pub fn interval_ends(&mut self, at: Nanos) {
        self.integrate(at);
    }

    /// The counts since the last swap, in exchange for `empty`, whose interval number the next counts carry.
    pub fn swap(&mut self, empty: Snapshot) -> Snapshot {
        if let Some(log) = &mut self.log {
            log.hand_over();
        }
        self.counts.wait.record_many(Nanos::ZERO, std::mem::take(&mut self.unwaited));
        self.counts.first_byte.add(&self.in_one_piece);
        self.counts.service.add(&self.in_one_piece);
        self.in_one_piece.clear();
        self.looked.answered_swapped += self.counts.answered;
        let tally = if self.counts.tally.is_empty() { Tally::default() } else { self.counts.tally.emptied() };
        let mut full = std::mem::replace(&mut self.counts, Snapshot { tally, ..empty });
        if let Some(name) = self.population.map(|place| (place, full.tally.populations[place].name.clone())) {
            full.tally.populations[name.0] = PopulationCounts::of(name.1, &full);
        }
        full
    }
}

/// Why a request that ended and was judged so failed; `None`: it succeeded.
#[inline]
fn failure_of(result: Result<u16, Failure>, judged: SuccessRule) -> Option<Failure> {
    match (result, judged) {
        (Err(failure), _) | (Ok(_), SuccessRule::Failed(failure)) => Some(failure),
        (Ok(status), SuccessRule::ByStatus) => (!Status(status).is_success()).then_some(Failure::CheckStatus),
        (Ok(_), SuccessRule::Well) => None,
    }
}
