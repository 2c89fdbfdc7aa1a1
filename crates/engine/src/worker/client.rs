//! What a chosen request comes to: sent once, or along redirects, or to several origins in turn, or as one of a batch.
//!
//! All of it is code around [`Lane::send`]. A chain is one request: it was sent when its first part was, and its bytes are those of all.

use measure::{Failure, Outcome, Status};
use plan::{Bounds, Nanos, Target};

use super::Worker;
use super::lane::{Acquired, Lane, Request, without_secrets};
use crate::clock::Clock;
use crate::exchange::{Answered, EXAMPLE_BYTES, One, Several};
use crate::net::Dial;
use crate::program::{After, Choice, Program};
use crate::protocol::http1::{Header, Observer};
use crate::redirect::{self, Convention, Hop, Hops, RedirectError};
use crate::task::asked;

impl<D: Dial + 'static> Lane<D> {
    /// Carries what was chosen to its end and records it; of a batch, the last outcome is told.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    pub(super) fn perform<'a, C: Clock, P: Program>(
        &'a mut self,
        worker: &'a Worker<D, C, P>,
        state: &'a mut P::User,
        choice: Choice,
        due: Nanos,
        free_at: Nanos,
    ) -> impl Future<Output = Outcome> {
        async move {
            for _ in 0..choice.requests {
                worker.fell_due(due);
            }
            // The plan's limit counts from when the request fell due; one of its own from when it could be sent.
            let limit = worker.program.limit(state).map_or(due.plus(worker.task.timeout), |limit| free_at.plus(limit));
            self.slot.begin(if P::LEAVES { limit.min(self.teardown_until) } else { limit });
            let mut outcome = if let Some(failure) = worker.program.unsendable(state) {
                self.unsent(worker, due, failure, String::new())
            } else if P::WANDERS || choice.requests > 1 || worker.task.follow > 0 {
                Box::pin(self.send_more(worker, state, choice, due, free_at)).await
            } else {
                self.send_once(worker, state, choice, due, free_at).await
            };
            if outcome.result == Err(Failure::StaleReuse) && (P::SENDS_AGAIN || P::LEAVES && self.is_in_teardown()) {
                // Once more on a new connection, which cannot be closed for having stood idle.
                worker.recorder.borrow_mut().sent_again(outcome.sent, outcome.done);
                outcome = Box::pin(self.send_more(worker, state, choice, due, free_at)).await;
            }
            self.slot.end();
            let (_, ear) = worker.program.sending(state);
            worker.heed(worker.program.ended(ear, &outcome));
            worker.record_of(state, &outcome);
            outcome
        }
    }

    /// The plain path: one request, one answer.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    fn send_once<'a, C: Clock, P: Program>(
        &'a mut self,
        worker: &'a Worker<D, C, P>,
        state: &'a mut P::User,
        choice: Choice,
        due: Nanos,
        free_at: Nanos,
    ) -> impl Future<Output = Outcome> {
        async move {
            let judges = worker.program.judges(state);
            let (bytes, ear) = worker.program.sending(state);
            let request = Request { bytes, asked: choice.asked, to: None, judges };
            self.send(worker, request, &mut One(ear), due, free_at).await
        }
    }

    async fn send_more<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        due: Nanos,
        free_at: Nanos,
    ) -> Outcome {
        if P::WANDERS {
            self.wander(worker, state, choice, due, free_at).await
        } else if choice.requests > 1 {
            self.send_batch(worker, state, choice, due, free_at).await
        } else if worker.task.follow > 0 {
            self.follow(worker, state, due, free_at).await
        } else {
            self.send_once(worker, state, choice, due, free_at).await
        }
    }

    /// A request that goes where the program wants it, and on after an answer if it wants that.
    async fn wander<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        mut choice: Choice,
        due: Nanos,
        free_at: Nanos,
    ) -> Outcome {
        let mut whole: Option<Outcome> = None;
        loop {
            let home = worker.task.plan.target();
            let to = worker.program.destination(state).filter(|place| !place.same_origin(home)).cloned();
            let judges = worker.program.judges(state);
            let (bytes, ear) = worker.program.sending(state);
            let request = Request { bytes, asked: choice.asked, to: to.as_ref(), judges };
            let ready = whole.map_or(free_at, |before| before.done);
            let part = self.send(worker, request, &mut One(ear), due, ready).await;
            let so_far = joined(whole, part);
            choice = match worker.program.after(state, part.result) {
                After::Nothing => return so_far,
                After::Fail(failure) => {
                    worker.example(failure, so_far.done, String::new);
                    return Outcome { result: Err(failure), ..so_far };
                }
                After::Answer(next) => next,
                After::Send(next) => {
                    if let Some(outside) = worker.program.destination(state).filter(|to| !worker.task.bounds.hold(to)) {
                        worker.example(Failure::RedirectOutside, so_far.done, || Bounds::refusal(outside));
                        return Outcome { result: Err(Failure::RedirectOutside), ..so_far };
                    }
                    worker.recorder.borrow_mut().redirected();
                    next
                }
            };
            whole = Some(so_far);
        }
    }

    /// A request whose redirects are followed as the plan says.
    async fn follow<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, state: &mut P::User, due: Nanos, free_at: Nanos) -> Outcome {
        let home = worker.task.plan.target();
        let judges = worker.program.judges(state);
        let (first, ear) = worker.program.sending(state);
        let mut place = worker.task.place_of(first);
        let mut bytes = first.to_vec();
        let mut method =
            first.split(|byte| *byte == b' ').next().map_or_else(String::new, |word| String::from_utf8_lossy(word).into_owned());
        let mut whole: Option<Outcome> = None;
        let mut followed = 0;
        loop {
            let mut location = Location::default();
            let to = Some(&place).filter(|place| !place.same_origin(home));
            let request = Request { bytes: &bytes, asked: asked(&method), to, judges };
            let ready = whole.map_or(free_at, |before| before.done);
            let part = self.send(worker, request, &mut One(&mut Chained { location: &mut location, ear }), due, ready).await;
            let so_far = joined(whole, part);
            let Some(status) = part.result.ok().map(Status).filter(|status| status.is_redirect()) else { return so_far };
            let hops = Hops { followed, max: worker.task.follow };
            let led = location.destination(&place, hops, &worker.task.bounds).and_then(|to| {
                let hop = Hop { convention: Convention::Browser, began: home, from: &place, to: &to, status, method: &method };
                let (next, next_method) = (worker.task.redirected(&hop, first), hop.method().to_owned());
                let next = next.ok_or_else(|| (Failure::RedirectTarget, format!("{to} cannot be put into a request")))?;
                Ok((next, next_method, to))
            });
            match led {
                Ok(next) => (bytes, method, place) = next,
                Err((failure, why)) => {
                    worker.example(failure, so_far.done, || why);
                    return Outcome { result: Err(failure), ..so_far };
                }
            }
            followed += 1;
            worker.recorder.borrow_mut().redirected();
            whole = Some(so_far);
        }
    }

    /// Requests written at once, whose answers come one after the other on the same connection. Each is a request of its own,
    /// sent when the batch was; those that a broken connection left without an answer all failed in the same way.
    async fn send_batch<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        due: Nanos,
        mut free_at: Nanos,
    ) -> Outcome {
        match self.acquire(worker, None).await {
            Ok(Acquired::Kept) => {}
            Ok(Acquired::New) => free_at = worker.clock.now(),
            Err((failure, text)) => {
                let outcome = self.unsent(worker, due, failure, text);
                (1..choice.requests).for_each(|_| worker.record(&outcome));
                return outcome;
            }
        }
        let (batch, ear) = worker.program.sending(state);
        let ended = |ear: &mut P::Ear, answered: &Answered<'_>| {
            let Answered { finished, sent, first_byte, done, received, bytes } = *answered;
            worker.came_back(done);
            worker.quirks(finished.quirks);
            if !Status(finished.status).is_success() {
                let seen = &bytes[..bytes.len().min(EXAMPLE_BYTES)];
                worker.example(Failure::CheckStatus, done, || without_secrets(&seen.escape_ascii().to_string(), batch));
            }
            let ready = free_at.min(sent);
            let outcome = Outcome { due, ready, sent, first_byte, done, bytes_out: 0, bytes_in: received, result: Ok(finished.status) };
            worker.record(&outcome);
            worker.heed(worker.program.ended(ear, &outcome));
        };
        let mut several = Several { ear, asked: choice.asked, left: choice.requests, received: 0, ended };
        let request = Request { bytes: batch, asked: choice.asked, to: None, judges: false };
        let mut last = self.send(worker, request, &mut several, due, free_at).await;
        let Several { ear, left, received, .. } = several;
        last.bytes_in = received;
        // An answer that ended with the connection leaves the rest unanswered.
        let lost = last.result.err().unwrap_or(Failure::RecvEofBeforeResponse);
        for _ in 1..left {
            worker.heed(worker.program.ended(ear, &last));
            worker.record(&last);
            worker.came_back(last.done);
            last = Outcome { bytes_out: 0, bytes_in: 0, first_byte: last.done, result: Err(lost), ..last };
        }
        last
    }
}

/// A chain so far and its next part.
fn joined(before: Option<Outcome>, part: Outcome) -> Outcome {
    before.map_or(part, |before| Outcome {
        ready: before.ready,
        sent: before.sent,
        bytes_out: before.bytes_out.saturating_add(part.bytes_out),
        bytes_in: before.bytes_in + part.bytes_in,
        ..part
    })
}

/// Picks the Location header out of an answer.
#[derive(Debug, Default)]
struct Location {
    values: Vec<Vec<u8>>,
}

impl Location {
    /// The place it leads to, or the failure and what it looked like.
    fn destination(&self, from: &Target, hops: Hops, bounds: &Bounds) -> Result<Target, (Failure, String)> {
        let value = match self.values.as_slice() {
            [value] => value,
            [] => return Err((Failure::RedirectTarget, "a redirect without Location".to_owned())),
            several => return Err((Failure::RedirectTarget, format!("a redirect with {} Locations", several.len()))),
        };
        redirect::destination(from, &String::from_utf8_lossy(value), hops, |to| bounds.hold(to)).map_err(|error| {
            let text = match &error {
                RedirectError::Target(why) => format!("Location '{}' {why}", value.escape_ascii()),
                RedirectError::Outside(to) => Bounds::refusal(to),
                RedirectError::Limit => format!("{} redirects, the last from {from}", hops.followed),
            };
            (error.failure(), text)
        })
    }
}

impl Observer for Location {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        self.values =
            headers.iter().filter(|header| header.name.eq_ignore_ascii_case("location")).map(|header| header.value.to_vec()).collect();
    }
}

/// Listens to an answer of a chain: where it leads, and what the program hears of it.
struct Chained<'a, E> {
    location: &'a mut Location,
    ear: &'a mut E,
}

impl<E: Observer> Observer for Chained<'_, E> {
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.location.head(status, headers);
        self.ear.head(status, headers);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.ear.body(bytes);
    }
}
