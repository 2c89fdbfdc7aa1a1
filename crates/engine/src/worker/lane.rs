//! A Lane: sends one request at a time, from its places on connections.
//!
//! A user in closed load has one, and so has an arrival in open load. Every request of every kind of work goes through [`Lane::send`]:
//! a connection, the exchange, whether the connection stays, and what is noted. Redirects, sending again, batches and users' teardown
//! are ordinary code around it. A path for each was what stood here before: what a connection's end means was decided five times.
//!
//! Between two requests of the plain path a Lane allocates, locks and formats nothing. What is rare (opening a
//! connection, describing a failure) is boxed out of the way, so that an idle Lane stays small.

mod expect;

use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use measure::{Closer, Failure, Outcome, Quirk, Status};
use plan::{Keepalive, Nanos, Secrets, Target};
use tokio::time::Sleep;

use super::client::Request;
use super::shared::Shared;
use crate::clock::Clock;
use crate::net::{Dial, DialFailed, Dialed, Version};
use crate::protocol::{Act, Answer, Answers, EncodedRef, Exchange, FailureSample, Past, Place as _, ResponseSink, websocket};
use crate::slot::{GiveUp, Slot};
use crate::transport::{Place, State, Stream, Transport};

/// Its place among the slots, and its places on connections.
pub(super) struct Lane<T: Transport> {
    pub(super) slot: Rc<Slot>,
    pub(super) place: u32,
    /// To the plan's target.
    home: Option<Place<T>>,
    /// To other origins.
    others: Others<Place<T>>,
    /// What pauses are waited for with, made by the first of them.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether it is used for a teardown, which goes on when the load is over.
    pub(super) is_in_teardown: bool,
    /// How often the request under way was sent again.
    again: u8,
}

/// Places on connections to other origins than the plan's, the one used last at the end. Few Lanes have any, so all of it is boxed.
#[expect(clippy::box_collection, reason = "an idle user that has none keeps a pointer, not three words")]
struct Others<P>(Option<Box<Vec<(Target, P)>>>);

impl<P> Others<P> {
    fn push(&mut self, to: &Target, place: P) {
        self.0.get_or_insert_default().push((to.clone(), place));
    }

    fn pop(&mut self) -> Option<P> {
        self.0.as_mut()?.pop().map(|(_, place)| place)
    }

    /// The one that was not used for longest; there must be one.
    fn take_first(&mut self) -> P {
        self.0.get_or_insert_default().remove(0).1
    }
}

impl<P> Deref for Others<P> {
    type Target = [(Target, P)];

    fn deref(&self) -> &Self::Target {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<P> DerefMut for Others<P> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0.as_deref_mut().map_or(&mut [], Vec::as_mut_slice)
    }
}

/// So many origins beside the plan's a Lane keeps connections to.
const OTHERS_MAX: usize = 8;

/// So often a request is sent again that a server does not take up.
const AGAIN_MAX: u8 = 3;

impl<T: Transport> Lane<T> {
    pub(super) fn new(shared: &Shared<T>) -> Self {
        let (place, slot) = shared.take_slot();
        Self { slot, place, home: None, others: Others(None), timer: None, is_in_teardown: false, again: 0 }
    }

    /// Closes what is open and gives the place back, and those of its user's branches.
    pub(super) fn leave(mut self, shared: &Shared<T>) {
        self.count_closed(shared);
        shared.leave_slot(self.place);
        shared.take_branches(self.place, usize::MAX).into_iter().for_each(|lane| shared.leave_slot(lane.place));
    }

    /// Counts all that is closed with this Lane, and with its user's branches, as closed by us.
    pub(super) fn count_closed(&mut self, shared: &Shared<T>) {
        self.release_all(shared);
        if let Some(lanes) = shared.branches.borrow_mut().get_mut(&self.place) {
            lanes.iter_mut().for_each(|lane| lane.release_all(shared));
        }
    }

    fn release_all(&mut self, shared: &Shared<T>) {
        for place in self.home.iter_mut().chain(self.others.iter_mut().map(|(_, place)| place)) {
            release(shared, place, Closer::Us);
        }
    }

    /// Closes all that is open; it is opened again by whoever sends.
    pub(super) fn close_all(&mut self, shared: &Shared<T>) {
        self.release_all(shared);
        self.home = None;
        self.others = Others(None);
    }

    /// Whether no connection is open.
    pub(super) fn has_none(&self) -> bool {
        self.home.is_none() && self.others.is_empty()
    }

    /// Takes a connection to the plan's target that was opened for it.
    pub(super) fn adopt(&mut self, shared: &Shared<T>, dialed: Dialed<Stream<T>>) {
        self.home = Some(opened(shared, dialed, None));
    }

    fn close(&mut self, shared: &Shared<T>, to: Option<&Target>, by: Closer) {
        let place = if to.is_none() { self.home.take() } else { self.others.pop() };
        if let Some(mut place) = place {
            release(shared, &mut place, by);
        }
    }

    /// The place that is used for a request.
    #[inline]
    fn place_on(&mut self, to: Option<&Target>) -> &mut Place<T> {
        let place = if to.is_none() { self.home.as_mut() } else { self.others.last_mut().map(|(_, place)| place) };
        place.expect("a Lane sends from a place that it has")
    }

    /// Sends one request, or several at once, and reads their answers. What it tells is about the last of them.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    #[inline]
    pub(super) fn send<A: Answers>(
        &mut self,
        shared: &Shared<T>,
        request: &Request<'_>,
        mut answers: A,
        due: Nanos,
        free_at: Nanos,
    ) -> impl Future<Output = Outcome> {
        async move {
            let mut ready = free_at;
            let to = request.to.filter(|to| !to.same_origin(shared.task.plan.target()));
            if to.is_some() || self.home.is_none() {
                match Box::pin(self.acquire(shared, request.encoded, to)).await {
                    Ok(Acquired::Kept) => {}
                    Ok(Acquired::New) => ready = shared.clock.now(),
                    Err((failure, text)) => return self.unsent(shared, due, failure, text),
                }
            }
            // Without a call: the plain path's place is the Lane's own.
            let place = if to.is_none() { self.home.as_mut() } else { self.others.last_mut().map(|other| &mut other.1) };
            let place = place.expect("a Lane sends from a place that it has");
            place.begin(request.encoded);
            let around = shared.around(&self.slot);
            let mut exchange = Exchange::beginning(shared.clock.now());
            for _ in 0..answers.left() {
                shared.left(exchange.sent);
            }
            let mut sample = FailureSample::Nothing;
            let result = if shared.task.expects_continue && request.encoded.expects_continue() {
                let looked_at = (&mut answers, &mut sample);
                Box::pin(expect::exchange(shared, place, request.encoded, &mut exchange, &around, looked_at)).await
            } else {
                poll_fn(|cx| place.poll_exchange(cx, request.encoded, &mut exchange, &around, &mut answers, &mut sample)).await
            };
            let cut_off = result.err().filter(|failure| failure.is_timeout()).and_then(|_| answers.sink().cut_off());
            // When the exchange ended: with its last byte, exactly at its limit, or now.
            let done = match result {
                Ok(_) => {
                    answers.sink().complete();
                    answers.sink().spoken(|| place.look(T::Dial::spoken));
                    exchange.last_byte
                }
                Err(Failure::Http2Refused | Failure::Http3Refused) if exchange.first_byte.is_none() && self.again < AGAIN_MAX => {
                    self.count_sent_again(shared, (request, to), &exchange);
                    let outcome = Box::pin(self.send(shared, request, answers, due, free_at)).await;
                    self.again = 0;
                    return outcome;
                }
                // Its user goes on when it was ended, which is a moment after its time: that is no lag of the next request.
                Err(_) if cut_off.is_some() => {
                    answers.sink().complete();
                    shared.clock.now()
                }
                Err(failure) if failure.is_answered() => exchange.last_byte,
                Err(_) => self.ended_at(shared),
            };
            shared.came_back(done);
            match cut_off {
                None => self.judge(shared, (request, to), &exchange, result, &sample, done),
                Some(_) => self.leave_unread(shared, (request, to), &exchange, result, done),
            }
            Outcome {
                due,
                ready: ready.min(exchange.sent),
                sent: exchange.sent,
                first_byte: exchange.first_byte.unwrap_or(done),
                done,
                bytes_out: u32::try_from(exchange.written).unwrap_or(u32::MAX),
                bytes_in: exchange.received,
                result: cut_off.map_or(result.map(|answer| answer.status), Ok),
            }
        }
    }

    /// Ends an exchange of whose answer no more was wanted: with HTTP/1.1 its connection ends as well.
    #[cold]
    fn leave_unread(
        &mut self,
        shared: &Shared<T>,
        (request, to): (&Request<'_>, Option<&Target>),
        exchange: &Exchange<State<T>>,
        result: Result<Answer, Failure>,
        done: Nanos,
    ) {
        shared.quirks(exchange.quirks);
        match self.place_on(to).end(request.encoded, exchange, result, done) {
            Ok(()) if shared.task.keepalive == Keepalive::Reuse && !request.closes => {}
            Ok(()) => self.close(shared, to, Closer::Us),
            Err(closer) => self.close(shared, to, closer),
        }
    }

    /// Makes a place on a connection to the origin the one that is used: one that is kept, one that is free, or the first on a new one.
    pub(super) async fn acquire(
        &mut self,
        shared: &Shared<T>,
        request: EncodedRef<'_>,
        to: Option<&Target>,
    ) -> Result<Acquired, (Failure, String)> {
        let is_kept = match to {
            None => self.home.is_some(),
            Some(to) => self.recall(shared, to).await,
        };
        match request.layout().act() {
            Act::Open if is_kept => self.close(shared, to, Closer::Us),
            _ if is_kept => return Ok(Acquired::Kept),
            Act::Exchange | Act::Open => {}
            Act::Ask | Act::Tell | Act::Hear | Act::Listen | Act::Ping | Act::Close => {
                return Err((Failure::WebSocketClosed, "it is not open: nothing has connected it, or it was closed since".to_owned()));
            }
        }
        let free = if shared.task.keepalive == Keepalive::Reuse {
            self.slot.unless_given_up(poll_fn(|cx| Place::<T>::poll_free(cx, &shared.memory, to))).await
        } else {
            Ok(None)
        };
        let place = match free {
            Ok(Some(place)) => place,
            Ok(None) => match self.dial(shared, request, to).await {
                Ok(dialed) => {
                    let mut took = dialed.connect.plus(dialed.tls.unwrap_or(Nanos::ZERO));
                    if let Version::WebSocket { handshake, .. } = dialed.version {
                        took = took.plus(handshake);
                    }
                    shared.recorder.borrow_mut().connected(self.place, took);
                    opened(shared, dialed, to)
                }
                Err(why) => {
                    Place::<T>::not_opened(&shared.memory, to);
                    return Err(why);
                }
            },
            Err(give_up) => return Err(unopened(give_up)),
        };
        match to {
            None => self.home = Some(place),
            Some(to) => {
                if self.others.len() == OTHERS_MAX {
                    release(shared, &mut self.others.take_first(), Closer::Us);
                }
                self.others.push(to, place);
            }
        }
        Ok(Acquired::New)
    }

    async fn dial(&self, shared: &Shared<T>, request: EncodedRef<'_>, to: Option<&Target>) -> Result<Dialed<Stream<T>>, (Failure, String)> {
        let number = shared.next_dial();
        let dialed = match to {
            None => self.slot.unless_given_up(shared.dial.dial(number)).await,
            Some(to) => self.slot.unless_given_up(shared.dial.dial_other(to, number)).await,
        };
        let mut dialed = dialed.map_err(unopened)?;
        if to.unwrap_or(shared.task.plan.target()).scheme().is_websocket()
            && let Ok(opened) = dialed
        {
            let plan = &shared.task.plan;
            let upgrade = websocket::upgrade(
                opened,
                request,
                (plan.seed(), number),
                (shared.task.connect_timeout, plan.connection().message_deflate),
            );
            dialed = self.slot.unless_given_up(upgrade).await.map_err(unopened)?;
        }
        dialed.map_err(|DialFailed { failure, text }| (failure, text))
    }

    /// Puts the place that is kept to an origin on top, unless there is none or the server has closed its connection meanwhile.
    async fn recall(&mut self, shared: &Shared<T>, to: &Target) -> bool {
        let Some(at) = self.others.iter().position(|(other, _)| other.same_origin(to)) else { return false };
        self.others[at..].rotate_left(1);
        if to.scheme().is_websocket() {
            // What has come there may be what is waited for now; that it is closed shows then.
            return true;
        }
        let lost = poll_fn(|cx| {
            let around = shared.around(&self.slot);
            let idle = self.others.last_mut().map(|(_, place)| place.poll_idle(cx, &around));
            Poll::Ready(if let Some(Poll::Ready(quirks)) = idle { Some(quirks) } else { None })
        })
        .await;
        let Some(quirks) = lost else { return true };
        shared.quirks(quirks);
        self.close(shared, Some(to), if quirks.is_empty() { Closer::Server } else { Closer::Us });
        false
    }

    /// What follows from the end of an exchange: whether the connection stays, quirks, and the example of a failure.
    fn judge(
        &mut self,
        shared: &Shared<T>,
        (request, to): (&Request<'_>, Option<&Target>),
        exchange: &Exchange<State<T>>,
        result: Result<Answer, Failure>,
        sample: &FailureSample,
        done: Nanos,
    ) {
        shared.quirks(exchange.quirks);
        let encoded = request.encoded;
        match result {
            Ok(answer) => {
                shared.quirks(answer.quirks);
                if !Status(answer.status).is_success() && !request.is_judged {
                    shared.example(Failure::CheckStatus, done, || without_secrets(&sample.text(&shared.buffer.borrow()), encoded.bytes()));
                }
            }
            Err(failure) => note_failure(shared, failure, (sample, encoded.bytes()), self.place_on(to).past(), done),
        }
        let reuses = shared.task.keepalive == Keepalive::Reuse && !request.closes;
        let closer = match self.place_on(to).end(encoded, exchange, result, done) {
            Ok(()) if reuses => return,
            Err(closer) if reuses || result.is_err() => closer,
            _ => Closer::Us,
        };
        self.close(shared, to, closer);
    }

    /// A request that the server has surely not begun with is sent again (RFC 9113 §8.7).
    #[cold]
    fn count_sent_again(&mut self, shared: &Shared<T>, (request, to): (&Request<'_>, Option<&Target>), exchange: &Exchange<State<T>>) {
        self.again += 1;
        let done = shared.clock.now();
        shared.came_back(done);
        let mut quirks = exchange.quirks;
        quirks.insert(Quirk::SentAgain);
        shared.quirks(quirks);
        shared.recorder.borrow_mut().sent_again(exchange.sent, done);
        if let Err(closer) = self.place_on(to).end(request.encoded, exchange, Err(Failure::Http2Refused), done) {
            self.close(shared, to, closer);
        }
    }

    /// When a request ended that has no answer.
    fn ended_at(&self, shared: &Shared<T>) -> Nanos {
        if self.slot.give_up() == Some(GiveUp::Expired) { self.slot.deadline() } else { shared.clock.now() }
    }

    /// How a request ended that could not be sent.
    pub(super) fn unsent(&self, shared: &Shared<T>, due: Nanos, failure: Failure, text: String) -> Outcome {
        let done = self.ended_at(shared);
        shared.example(failure, done, || text);
        Outcome { due, ready: done, sent: done, first_byte: done, done, bytes_out: 0, bytes_in: 0, result: Err(failure) }
    }

    /// Waits until a time, a Stop, or until nothing is left to be sent; notices when the connection is closed meanwhile.
    pub(super) async fn rest(&mut self, shared: &Shared<T>, until: Nanos) {
        let sleep = shared.clock.sleep_until(until);
        let mut timer = match self.timer.take() {
            Some(mut timer) => {
                timer.as_mut().reset(sleep.deadline());
                timer
            }
            None => Box::pin(sleep),
        };
        poll_fn(|cx| {
            let is_over = !self.is_in_teardown && (shared.is_stopping() || shared.is_spent());
            if is_over || self.slot.give_up() == Some(GiveUp::Aborted) {
                return Poll::Ready(());
            }
            self.slot.waits(cx);
            self.poll_lost(cx, shared);
            timer.as_mut().poll(cx)
        })
        .await;
        self.timer = Some(timer);
    }

    /// Waits until other users let this one go on, up to a time, a Stop, or until nothing is left to be sent.
    pub(super) async fn rest_until_free(
        &mut self,
        shared: &Shared<T>,
        until: Nanos,
        poll_free: &mut impl FnMut(&mut Context<'_>) -> Poll<()>,
    ) {
        let mut timer = Box::pin(shared.clock.sleep_until(until));
        poll_fn(|cx| {
            if shared.is_stopping() || shared.is_spent() || self.slot.give_up() == Some(GiveUp::Aborted) {
                return Poll::Ready(());
            }
            self.slot.waits(cx);
            self.poll_lost(cx, shared);
            if poll_free(cx).is_ready() {
                return Poll::Ready(());
            }
            timer.as_mut().poll(cx)
        })
        .await;
    }

    /// Waits for an arrival, as one of the idle. `None`: nothing comes any more, or the connection is lost.
    pub(super) async fn wait_for_work(&mut self, shared: &Shared<T>) -> Option<Nanos> {
        poll_fn(|cx| {
            self.slot.waits(cx);
            self.poll_lost(cx, shared);
            if let Some(due) = self.slot.take_assigned() {
                return Poll::Ready(Some(due));
            }
            if self.has_none() {
                shared.idle.borrow_mut().retain(|place| *place != self.place);
                return Poll::Ready(None);
            }
            if shared.arrivals_ended() { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }

    /// Lets go of an idle place on a connection that the server closed or sent something on that nobody asked for.
    pub(super) fn poll_lost(&mut self, cx: &mut Context<'_>, shared: &Shared<T>) {
        self.poll_messages(cx, shared);
        let Some(place) = &mut self.home else { return };
        if let Poll::Ready(quirks) = place.poll_idle(cx, &shared.around(&self.slot)) {
            shared.quirks(quirks);
            self.close(shared, None, if quirks.is_empty() { Closer::Server } else { Closer::Us });
        }
    }

    /// Meets what comes over WebSocket to other origins, and lets go of what was closed there.
    fn poll_messages(&mut self, cx: &mut Context<'_>, shared: &Shared<T>) {
        let Some(others) = &mut self.others.0 else { return };
        let around = shared.around(&self.slot);
        others.retain_mut(|(to, place)| {
            let is_lost = to.scheme().is_websocket() && place.poll_idle(cx, &around).is_ready();
            if is_lost {
                release(shared, place, Closer::Server);
            }
            !is_lost
        });
    }
}

/// Where the connection of a request came from.
pub(super) enum Acquired {
    Kept,
    New,
}

fn opened<T: Transport>(shared: &Shared<T>, dialed: Dialed<Stream<T>>, to: Option<&Target>) -> Place<T> {
    shared.count_connection(|recorder| {
        recorder.opened(dialed.connect, dialed.tls);
        match dialed.version {
            Version::Http1 => {}
            Version::Http2 => recorder.opened_http2(),
            #[cfg(feature = "http3")]
            Version::Http3(_) => recorder.opened_http3(),
            Version::WebSocket { handshake, deflates, .. } => recorder.opened_websocket(handshake, deflates),
        }
        if dialed.resumed {
            recorder.resumed();
        }
    });
    Place::<T>::open(dialed.stream, dialed.version, &shared.memory, to)
}

/// Gives a place up, and counts the connection that is closed with it, if one is.
fn release<T: Transport>(shared: &Shared<T>, place: &mut Place<T>, by: Closer) {
    if place.release(&shared.memory) {
        if let Some(packets) = place.packets() {
            shared.count_connection(|recorder| recorder.packets(packets));
        }
        shared.closed(by);
    }
}

/// What a request failed with that gave up before it had a connection.
fn unopened(give_up: GiveUp) -> (Failure, String) {
    match give_up {
        GiveUp::Expired => (Failure::ConnectTimeout, "no connection before the request's own timeout".to_owned()),
        GiveUp::Aborted => (Failure::ClientInterrupted, String::new()),
    }
}

fn note_failure<T: Transport>(shared: &Shared<T>, failure: Failure, (sample, request): (&FailureSample, &[u8]), past: Past, done: Nanos) {
    shared.example(failure, done, || {
        let text = without_secrets(&sample.text(&shared.buffer.borrow()), request);
        // Where there was an answer, it says more than what its connection had been through.
        if failure.is_answered() && !text.is_empty() {
            return text;
        }
        let past = past.text(done);
        if text.is_empty() { past } else { format!("{past}: {text}") }
    });
}

/// What was seen of an answer, without the secrets of its request: a server may send back what it was sent, and only here it is known what that
/// was, from whichever file or script it came.
pub(super) fn without_secrets(seen: &str, request: &[u8]) -> String {
    Secrets::of_request(request).conceal(seen)
}
