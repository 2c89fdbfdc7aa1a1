//! A log as arrivals and a behaviour of users: when requests fall due, and what they were answered beside what the log says.
//!
//! The worker asks when the next request falls due and takes it when it has; the user whose arrival it is sends its bytes as they stand
//! in the block they were read into. Where clients keep their order, a request whose client still waits for an answer is put aside;
//! it is due since its time, so the wait is in its response time, and it is taken as soon as that answer is there.
//!
//! Invariant: every request that was taken is sent or told as unsent, and none is sent twice.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use engine::{
    Arrivals, Behaviour, BehaviourError, Client, End, Inlet, Inlets, Messages, Prepared, Request, RunError, Slices, Stop, Transport,
    conclude,
};
use import::Personal;
use measure::{
    Ending, Example, Failure, IntervalCounts, Leftovers, OTHER_ROUTES, Outcome, ReplayComparison, ReplayCounts, SuccessRule,
    SummaryBuilder, Tick,
};
use plan::{Nanos, Plan, Share};
use rustc_hash::FxHashMap;

use crate::block::{About, Block};
use crate::deal::{Deal, ReadToEnd};
use crate::feed::{Feed, QueuedRequest};
use crate::found::{Examples, LogFacts};
use crate::order::{HELD_MOST, ReplayPlan};
use crate::pick::Clients;
use crate::request::Writer;

/// A log that was looked at, ready to be sent.
pub struct Ready {
    score: Arc<ReplayPlan>,
    begins_ns: i64,
    sent: u64,
    partial: u64,
    partial_first: Examples,
    /// How it was read while it was sent, when it has been.
    read: Arc<OnceLock<ReadToEnd>>,
}

impl Ready {
    /// To be sent as this plan says, whose rate and duration are those of what was found.
    ///
    /// # Errors
    /// If its headers would not be valid on the wire.
    pub fn new(plan: &Plan, found: LogFacts) -> Result<Self, RunError> {
        let writer = Writer::new(plan)?;
        let LogFacts { files, logs, pick, routed, span_ns, sent, partial, partial_first, .. } = found;
        let score = ReplayPlan { logs, files, pick, routed, writer, held_most: HELD_MOST };
        Ok(Self { score: Arc::new(score), begins_ns: span_ns.0, sent, partial, partial_first, read: Arc::default() })
    }

    /// Carries a prepared plan out with these requests.
    ///
    /// # Errors
    /// If the run cannot go on, with what was measured until then.
    pub fn run(self, prepared: Prepared, watch: &mut dyn FnMut(&Tick, IntervalCounts), stop: &Stop) -> Result<SummaryBuilder, RunError> {
        let plan = prepared.plan().clone();
        let messages = self.start(prepared, Share::all(plan.threads()), stop)?;
        let Self { score, sent, partial, partial_first, read, .. } = self;
        let mut watch = |tick: &Tick, mut counted: IntervalCounts| {
            // What is written down while the load is on may be all that is left of it.
            counted.counts.examples.values_mut().for_each(scrub);
            watch(tick, counted);
        };
        let mut complete = |run: &mut SummaryBuilder, left: Leftovers| {
            let ReplayCounts { taken: _, late, compared, failed } = left.replay;
            run.set_replayed(ReplayComparison::new(&compared, &score.routed.names()));
            run.rewrite_examples(scrub);
            run.add_warnings(failed);
            if let Some(first) = partial_first.first() {
                let (requests, bodies) = if partial == 1 { ("request was", "its body") } else { ("requests were", "their bodies") };
                run.add_warnings([format!(
                    "{partial} {requests} sent without something of {bodies}, which the recording does not hold; the first is {first}"
                )]);
            }
            if late > 0 {
                run.add_warnings([format!(
                    "{late} requests were sent later than the log says: more than {} lines stood between their places in it and their times; \
                     put its lines in order (sort), or give logs of different times as files of their own",
                    score.held_most
                )]);
            }
            let Some(ReadToEnd { dealt, failed }) = read.get() else { return };
            run.add_warnings(failed.clone());
            if *dealt < sent && failed.is_none() && run.ended.how == Ending::Finished {
                run.add_warnings([format!(
                    "the log held {sent} requests when it was looked at, and {dealt} when it was sent: it was changed meanwhile"
                )]);
            }
        };
        conclude(&plan, messages, &mut complete, &mut watch)
    }

    /// Starts these shares of a prepared plan with these requests; where it is carried out elsewhere, all of them.
    ///
    /// # Errors
    /// If the system gives no threads, or a site cannot begin.
    pub fn start(&self, prepared: Prepared, shares: impl IntoIterator<Item = Share>, stop: &Stop) -> Result<Messages, RunError> {
        let shares: Vec<Share> = shares.into_iter().collect();
        let clients = self.score.pick.options.clients;
        let names: Arc<[String]> = self.names().into();
        let behaviour = move |_, inlet| ReplayBehaviour::new(inlet, clients, names.clone());
        prepared.start_fed(engine::Feed::Slices(self.slices(&shares)), behaviour, shares, stop)
    }

    /// What requests are called in a log of all of them, by the number of their route.
    fn names(&self) -> Vec<String> {
        let mut names = vec![OTHER_ROUTES.to_owned()];
        for (number, method, route) in self.score.routed.names() {
            let place = number as usize;
            names.resize(names.len().max(place + 1), OTHER_ROUTES.to_owned());
            names[place] = format!("{method} {route}");
        }
        names
    }

    /// What these shares send, a block for each.
    fn slices(&self, shares: &[Share]) -> Slices {
        let (log, shares, read) = (self.log(), shares.to_vec(), self.read.clone());
        Box::new(move || Box::new(Deal::new(log, &shares, read)))
    }

    /// What is read, and where it begins.
    pub(crate) fn log(&self) -> (Arc<ReplayPlan>, i64) {
        (self.score.clone(), self.begins_ns)
    }

    /// The first requests of a share, with their times, as they will be sent.
    #[must_use]
    pub fn preview(&self, share: Share, count: usize) -> Vec<(Nanos, Vec<u8>)> {
        let blocks = self.slices(&[share])().flatten().filter_map(Block::read);
        blocks.flat_map(Block::into_requests).take(count).collect()
    }
}

/// Starts these shares of a prepared plan whose requests another process deals out.
///
/// # Errors
/// If the system gives no threads.
pub fn start_fed(prepared: Prepared, inlets: Inlets, shares: impl IntoIterator<Item = Share>, stop: &Stop) -> Result<Messages, RunError> {
    let in_order = prepared.plan().replay().is_some_and(|replay| replay.per_client_order);
    let clients = if in_order { Clients::InOrder } else { Clients::Free };
    prepared.start_fed(engine::Feed::Inlets(inlets), move |_, inlet| ReplayBehaviour::new(inlet, clients, Arc::default()), shares, stop)
}

/// Leaves out what a server may have said again of what it was asked, which is the log's.
fn scrub(example: &mut Example) {
    example.text = import::example(example.text.as_bytes(), Personal::LeftOut);
}

/// One worker's part.
struct ReplayBehaviour {
    state: RefCell<State>,
    compared: RefCell<FxHashMap<(u32, u16, u16), u64>>,
    /// What requests are called in a log of all of them, by the number of their route.
    names: Arc<[String]>,
}

struct State {
    feed: Feed,
    /// Taken, and given to no Lane yet.
    taken: VecDeque<QueuedRequest>,
    taken_count: u64,
    late_count: u64,
    /// Where clients keep their order: those whose answer is awaited, with what waits for it.
    busy: Option<FxHashMap<u64, VecDeque<QueuedRequest>>>,
    waiting: usize,
    /// What waited, and need not any more.
    released: VecDeque<QueuedRequest>,
}

impl State {
    fn next_due(&mut self) -> Option<Nanos> {
        if let Some(first) = self.released.front() {
            return Some(first.about().due);
        }
        let next = self.feed.peek();
        if next.is_none() && self.waiting > 0 { Some(Nanos::NEVER) } else { next }
    }

    fn take_due(&mut self, now: Nanos) -> Option<Nanos> {
        let taken = match self.released.pop_front() {
            Some(released) => released,
            None => self.take_from_feed(now)?,
        };
        let (due, is_late) = (taken.about().due, taken.about().is_late);
        self.taken.push_back(taken);
        self.taken_count += 1;
        self.late_count += u64::from(is_late);
        Some(due)
    }

    fn take_from_feed(&mut self, now: Nanos) -> Option<QueuedRequest> {
        loop {
            let next = self.feed.take(now)?;
            let client = next.about().client;
            let Some(busy) = self.busy.as_mut().filter(|_| client != 0) else { return Some(next) };
            match busy.get_mut(&client) {
                Some(queue) => {
                    queue.push_back(next);
                    self.waiting += 1;
                }
                None => {
                    busy.insert(client, VecDeque::new());
                    return Some(next);
                }
            }
        }
    }

    /// The one that was taken with this time; the first of several.
    fn given(&mut self, due: Nanos) -> Option<QueuedRequest> {
        let at = self.taken.iter().position(|taken| taken.about().due == due)?;
        self.taken.remove(at)
    }

    /// The one that was taken last with this time.
    fn given_up(&mut self, due: Nanos) -> Option<QueuedRequest> {
        let at = self.taken.iter().rposition(|taken| taken.about().due == due)?;
        self.taken.remove(at)
    }

    /// A client's request is over.
    fn over(&mut self, client: u64) {
        let Some(busy) = self.busy.as_mut().filter(|_| client != 0) else { return };
        match busy.get_mut(&client).and_then(VecDeque::pop_front) {
            Some(next) => {
                self.waiting -= 1;
                self.released.push_back(next);
            }
            None => drop(busy.remove(&client)),
        }
    }
}

impl ReplayBehaviour {
    fn new(blocks: Inlet, clients: Clients, names: Arc<[String]>) -> Self {
        let state = State {
            feed: Feed::of(blocks),
            taken: VecDeque::new(),
            taken_count: 0,
            late_count: 0,
            busy: (clients == Clients::InOrder).then(FxHashMap::default),
            waiting: 0,
            released: VecDeque::new(),
        };
        Self { state: RefCell::new(state), compared: RefCell::default(), names }
    }
}

impl ReplayBehaviour {
    /// A request of a client is over, which had this route and this status in the log.
    fn answered(&self, (route, logged, client): (u32, u16, u64), outcome: &Outcome) {
        *self.compared.borrow_mut().entry((route, logged, outcome.result.unwrap_or(0))).or_default() += 1;
        if client != 0 {
            self.state.borrow_mut().over(client);
        }
    }
}

impl Behaviour for ReplayBehaviour {
    type User = ();

    fn user(&self, _number: u64) {}

    fn arrivals(&self) -> Option<&impl Arrivals> {
        Some(self)
    }

    fn names(&self) -> Vec<String> {
        self.names.to_vec()
    }

    fn leftovers(&self) -> Leftovers {
        let state = self.state.borrow();
        let compared = self.compared.borrow().iter().map(|(key, count)| (*key, *count)).collect();
        let replay = ReplayCounts { taken: state.taken_count, late: state.late_count, compared, failed: state.feed.failed.clone() };
        Leftovers { replay, ..Leftovers::default() }
    }

    async fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> Result<(), End> {
        let taken = self.state.borrow_mut().given(client.due());
        let Some(taken) = taken else {
            return Err(End::from(BehaviourError::new(
                "a Lane was to send a request of the log, and had none",
                "this is a mistake in loadline: please report it",
            )));
        };
        let About { route, client: asker, logged, .. } = *taken.about();
        // An error that the log has as well is what was asked for, and no failure; a server's own stays one.
        let request = Request::new(taken.request()).judged(matches!(logged, 400..500));
        let outcome = client.fetch(&request, &mut ()).await?;
        self.answered((route, logged, asker), &outcome);
        client.record_with(&outcome, |recorder| {
            recorder.call(route);
            match outcome.result {
                Ok(status @ 400..500) if status == logged => recorder.record_judged(&outcome, SuccessRule::Well),
                result => {
                    if let Ok(status @ 400..) = result {
                        recorder.example(Failure::CheckStatus, outcome.done, || format!("{status}, and the log says {logged}"));
                    }
                    recorder.record(&outcome);
                }
            }
        });
        Ok(())
    }
}

impl Arrivals for ReplayBehaviour {
    #[inline]
    fn next_due(&self) -> Option<Nanos> {
        self.state.borrow_mut().next_due()
    }

    #[inline]
    fn take_due(&self, now: Nanos) -> Option<Nanos> {
        self.state.borrow_mut().take_due(now)
    }

    fn unsent(&self, due: Nanos) {
        let mut state = self.state.borrow_mut();
        if let Some(taken) = state.given_up(due) {
            state.over(taken.about().client);
        }
    }

    fn stop(&self) {
        let mut state = self.state.borrow_mut();
        let State { busy, released, waiting, .. } = &mut *state;
        for queue in busy.iter_mut().flat_map(|busy| busy.values_mut()) {
            released.extend(queue.drain(..));
        }
        *waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Log, Options, look};
    use measure::Failure;
    use plan::Draft;
    use std::io::Write as _;
    use std::sync::mpsc::channel;

    fn played(text: &str, clients: Clients) -> ReplayBehaviour {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let log = Log::open(file.path().to_str().unwrap()).unwrap();
        let found = look(vec![log], Options { clients, ..Options::default() }).unwrap();
        let plan = Plan::try_from(Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() }).unwrap();
        whole(&Ready::new(&plan, found).unwrap())
    }

    /// All requests of a log, for one worker.
    fn whole(ready: &Ready) -> ReplayBehaviour {
        let blocks: Vec<Vec<u8>> = ready.slices(&[Share::WHOLE])().flatten().collect();
        let (sender, inlet) = channel();
        blocks.into_iter().for_each(|block| sender.send(block).unwrap());
        ReplayBehaviour::new(Inlet::new(inlet, || ()), ready.score.pick.options.clients, ready.names().into())
    }

    /// Three of one client within a millisecond, and one of another.
    fn log() -> String {
        let line = |ms: u64, client: &str, path: &str| {
            format!("{{\"time\":\"1700000000.{ms:03}\",\"path\":\"{path}\",\"status\":200,\"ip\":\"{client}\"}}\n")
        };
        line(0, "a", "/a1") + &line(1, "a", "/a2") + &line(2, "b", "/b1") + &line(3, "a", "/a3")
    }

    /// Takes what is due, as a user does: its time, its path, and what is known of it.
    fn taken(played: &ReplayBehaviour, now_ms: u64) -> Option<(u64, String, (u32, u16, u64))> {
        let due = played.take_due(Nanos::from_millis(now_ms))?;
        let taken = played.state.borrow_mut().given(due).unwrap();
        let line = taken.request().target().to_owned();
        let about = taken.about();
        Some((due.0 / 1_000_000, line, (about.route, about.logged, about.client)))
    }

    fn outcome(result: Result<u16, Failure>) -> Outcome {
        let at = Nanos::ZERO;
        Outcome { due: at, ready: at, sent: at, first_byte: at, done: at, bytes_out: 0, bytes_in: 0, result }
    }

    /// The requests of a log whose lines are held back up to so many, and how many of them are late.
    fn held_back(text: &str, held_most: usize) -> (Vec<u64>, u64) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let found = look(vec![Log::open(file.path().to_str().unwrap()).unwrap()], Options::default()).unwrap();
        let plan = Plan::try_from(Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() }).unwrap();
        let mut ready = Ready::new(&plan, found).unwrap();
        Arc::get_mut(&mut ready.score).unwrap().held_most = held_most;
        let seconds = ready.preview(Share::WHOLE, usize::MAX).iter().map(|(due, _)| due.0 / 1_000_000_000).collect();
        let played = whole(&ready);
        while played.take_due(Nanos::NEVER).is_some() {}
        (seconds, played.leftovers().replay.late)
    }

    #[test]
    fn what_is_held_back_is_bounded_and_what_is_late_for_it_is_counted() {
        // Whole seconds and finer times; one line stands a minute behind its place.
        for decimals in ["", ".5"] {
            let line = |second: u64, number: u64| {
                format!("{{\"time\":\"{}{decimals}\",\"path\":\"/{number}\",\"status\":200}}\n", 1_700_000_000 + second)
            };
            let mut text: String = (0..600).map(|number| line(number / 10, number)).collect();
            text += &line(1, 600);
            let mut expected: Vec<u64> = (0..600).map(|number| number / 10).chain([1]).collect();
            expected.sort_unstable();
            assert_eq!(held_back(&text, HELD_MOST), (expected, 0));
            let (seconds, late) = held_back(&text, 50);
            assert!(seconds.len() == 601 && seconds.is_sorted(), "{seconds:?}");
            assert_eq!((late, seconds.iter().filter(|second| **second == 1).count()), (1, 10), "{seconds:?}");
        }
    }

    #[test]
    fn requests_are_taken_when_they_are_due() {
        let played = played(&log(), Clients::Free);
        assert_eq!(played.next_due(), Some(Nanos::ZERO));
        for (now_ms, path) in [(0, "/a1"), (1, "/a2"), (3, "/b1"), (3, "/a3")] {
            assert_eq!(taken(&played, now_ms).map(|it| it.1).as_deref(), Some(path));
        }
        assert!(taken(&played, 1000).is_none() && played.next_due().is_none());
        assert_eq!(played.leftovers().replay.taken, 4);
    }

    #[test]
    fn a_client_waits_for_its_answer_and_others_do_not() {
        let played = played(&log(), Clients::InOrder);
        let (_, first, request) = taken(&played, 5).unwrap();
        let (_, other, _) = taken(&played, 5).unwrap();
        assert_eq!((first.as_str(), other.as_str()), ("/a1", "/b1"));
        assert!(taken(&played, 5).is_none(), "the client's others wait");
        assert_eq!(played.next_due(), Some(Nanos::NEVER), "something is still to come");
        played.answered(request, &outcome(Ok(500)));
        assert_eq!(played.next_due(), Some(Nanos::from_millis(1)));
        let (due, second, request) = taken(&played, 5).unwrap();
        assert_eq!((due, second.as_str()), (1, "/a2"), "it was due at its own time");
        assert!(taken(&played, 5).is_none());
        played.answered(request, &outcome(Err(Failure::RecvReset)));
        let due = played.take_due(Nanos::from_millis(5)).unwrap();
        played.unsent(due);
        assert!(played.next_due().is_none(), "nothing waits any more");
        let left = played.leftovers().replay;
        let mut answers: Vec<(u16, u16, u64)> = left.compared.iter().map(|(key, count)| (key.1, key.2, *count)).collect();
        answers.sort_unstable();
        assert_eq!(answers, [(200, 0, 1), (200, 500, 1)]);
    }

    #[test]
    fn all_that_waits_can_be_taken_when_the_load_is_stopped() {
        let played = played(&log(), Clients::InOrder);
        let _ = taken(&played, 5).unwrap();
        let _ = taken(&played, 5).unwrap();
        assert!(played.take_due(Nanos::from_millis(5)).is_none());
        played.stop();
        let mut given_up = 0;
        while let Some(due) = played.take_due(Nanos::from_millis(5)) {
            played.unsent(due);
            given_up += 1;
        }
        assert_eq!((given_up, played.next_due()), (2, None));
    }
}
