//! What happens right now, for everybody who looks: events in order, kept for those who come late.
//!
//! A page may be opened in the middle of a run, lose its connection, or fall asleep with its laptop. So every event has a number,
//! and whoever says which it saw last is told all since: what is kept is the beginning, the load under way with its ticks, the
//! latest result, and the end. Events are texts made once, by the thread that has them, whoever listens; waking listeners is all
//! that telling costs.
//!
//! Invariant: telling never waits for a listener, and a listener that is slow holds up nobody else.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::watch;

/// So many ticks are kept for those who come late: two hours of seconds, some megabytes.
const TICKS_MAX: usize = 7_200;

/// The run under way, and what it tells. A clone is the same.
#[derive(Debug, Clone)]
pub struct Live(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    told: Mutex<Announcement>,
    /// The number of the latest event.
    latest: watch::Sender<u64>,
}

#[derive(Default)]
struct Announcement {
    state: State,
    last: u64,
    begun: Option<Event>,
    result: Option<Event>,
    load: Option<Event>,
    ticks: VecDeque<Event>,
    rows: Option<Event>,
    ended: Option<Event>,
    stop: Option<Box<dyn Fn() + Send + Sync>>,
}

impl fmt::Debug for Announcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcement").field("state", &self.state).field("last", &self.last).finish_non_exhaustive()
    }
}

/// One event as it goes over the wire.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    number: u64,
    /// For whoever reads on: what came before is not missed.
    pub(crate) bytes: Bytes,
}

/// What goes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// Nothing, and nothing did.
    #[default]
    Idle,
    /// A run.
    Running(Begun),
    /// A run has ended.
    Ended(Begun),
}

/// A run that began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Begun {
    /// What it will be the result of: a command's name.
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// What is asked of whom.
    pub title: String,
    /// When it began: RFC 3339, UTC.
    pub started: String,
}

/// How a run came out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// The page of its result, as JSON; `None` where nothing was measured.
    pub page: Option<String>,
    /// Under what name it is saved.
    pub saved: Option<String>,
    /// What the user should read, if something went wrong.
    pub trouble: Option<String>,
}

impl Default for Live {
    fn default() -> Self {
        Self(Arc::new(Inner { told: Mutex::default(), latest: watch::Sender::new(0) }))
    }
}

impl Live {
    /// A run begins; `stop` ends it. What was told of another one is forgotten.
    pub fn begin(&self, begun: Begun, stop: impl Fn() + Send + Sync + 'static) {
        let data = serde_json::to_string(&begun).expect("text can be written");
        let mut told = self.told();
        *told = Announcement { last: told.last, stop: Some(Box::new(stop)), ..Announcement::default() };
        told.begun = Some(told.event("begun", &data));
        told.state = State::Running(begun);
        self.announce(told);
    }

    /// A load begins: `page` is its page without values, as JSON; `what` tells it from the others of its run, and may be empty.
    pub fn load(&self, what: &str, page: &str) {
        let what = serde_json::to_string(what).expect("text can be written");
        let mut told = self.told();
        told.ticks.clear();
        told.rows = None;
        told.load = Some(told.event("load", &format!("{{\"what\":{what},\"page\":{page}}}")));
        self.announce(told);
    }

    /// An interval of it, as JSON.
    pub fn tick(&self, tick: &str) {
        let mut told = self.told();
        let event = told.event("tick", tick);
        if told.ticks.len() == TICKS_MAX {
            told.ticks.pop_front();
        }
        told.ticks.push_back(event);
        self.announce(told);
    }

    /// Tables of its rows so far, as JSON.
    pub fn rows(&self, tables: &str) {
        let mut told = self.told();
        told.rows = Some(told.event("rows", tables));
        self.announce(told);
    }

    /// The page of everything measured so far, as JSON.
    pub fn result(&self, page: &str) {
        let mut told = self.told();
        told.result = Some(told.event("result", page));
        self.announce(told);
    }

    /// The run is over.
    pub fn end(&self, ended: &RunEnd) {
        let RunEnd { page, saved, trouble } = ended;
        let word = |word: &Option<String>| serde_json::to_string(word).expect("text can be written");
        let page = page.as_deref().unwrap_or("null");
        let mut told = self.told();
        told.ended = Some(told.event("ended", &format!("{{\"page\":{page},\"saved\":{},\"trouble\":{}}}", word(saved), word(trouble))));
        told.stop = None;
        if let State::Running(begun) = std::mem::take(&mut told.state) {
            told.state = State::Ended(begun);
        }
        self.announce(told);
    }

    /// Ends the run under way, as Ctrl-C does. Whether there is one.
    #[must_use]
    pub fn stop(&self) -> bool {
        let told = self.told();
        told.stop.as_ref().map(|stop| stop()).is_some()
    }

    /// What goes on.
    #[must_use]
    pub fn state(&self) -> State {
        self.told().state.clone()
    }

    /// To be woken by whatever is told.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.0.latest.subscribe()
    }

    /// All that was told after the event of this number and is still of interest, and whether the run is over.
    pub(crate) fn since(&self, number: u64) -> (Vec<Event>, bool) {
        let told = self.told();
        // Numbers of another process say nothing here.
        let number = if number > told.last { 0 } else { number };
        let mut events: Vec<Event> = [&told.begun, &told.result, &told.load, &told.rows].into_iter().flatten().cloned().collect();
        events.extend(told.ticks.iter().cloned());
        events.extend(told.ended.clone());
        events.retain(|event| event.number > number);
        events.sort_by_key(|event| event.number);
        (events, told.ended.is_some())
    }

    fn told(&self) -> MutexGuard<'_, Announcement> {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, told: MutexGuard<'_, Announcement>) {
        let last = told.last;
        drop(told);
        self.0.latest.send_replace(last);
    }
}

impl Event {
    /// Which it is.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }
}

impl Announcement {
    /// <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>: lines of a field and its value, then
    /// an empty one. JSON as it is written here has no line breaks.
    fn event(&mut self, name: &str, data: &str) -> Event {
        debug_assert!(!data.contains(['\n', '\r']), "an event is one line");
        self.last += 1;
        Event { number: self.last, bytes: format!("id: {}\nevent: {name}\ndata: {data}\n\n", self.last).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn names(live: &Live, since: u64) -> Vec<String> {
        let of = |event: &Event| String::from_utf8_lossy(&event.bytes).lines().nth(1).unwrap_or_default().replace("event: ", "");
        live.since(since).0.iter().map(of).collect()
    }

    #[test]
    fn who_comes_late_is_told_all_that_matters_and_who_comes_back_what_was_missed() {
        let live = Live::default();
        live.begin(Begun::default(), || {});
        live.load("10 users", "{}");
        live.tick("{}");
        live.result("{}");
        live.load("20 users", "{}");
        live.tick("{}");
        live.tick("{}");
        assert_eq!(names(&live, 0), ["begun", "result", "load", "tick", "tick"]);
        assert_eq!(names(&live, 6), ["tick"]);
        assert_eq!(names(&live, 999).len(), 5, "a number of another process");
        live.end(&RunEnd::default());
        assert_eq!((names(&live, 7), live.since(8).1), (vec!["ended".to_owned()], true));
        live.begin(Begun::default(), || {});
        assert_eq!((names(&live, 8), live.since(0).1), (vec!["begun".to_owned()], false), "another run");
    }

    #[test]
    fn of_the_rows_so_far_the_latest_are_told_until_another_load_begins() {
        let live = Live::default();
        live.begin(Begun::default(), || {});
        live.load("10 users", "{}");
        for _ in 0..3 {
            live.tick("{}");
            live.rows("[]");
        }
        assert_eq!(names(&live, 0), ["begun", "load", "tick", "tick", "tick", "rows"]);
        assert_eq!(names(&live, 7), ["rows"]);
        live.load("20 users", "{}");
        assert_eq!(names(&live, 0), ["begun", "load"]);
    }

    #[test]
    fn a_run_is_stopped_while_it_goes_on() {
        let live = Live::default();
        assert!(!live.stop());
        let raised = Arc::new(AtomicU32::new(0));
        let seen = raised.clone();
        live.begin(Begun::default(), move || {
            seen.fetch_add(1, Ordering::SeqCst);
        });
        assert!(live.stop() && live.stop());
        assert_eq!(raised.load(Ordering::SeqCst), 2);
        live.end(&RunEnd::default());
        assert!(!live.stop());
        assert!(matches!(live.state(), State::Ended(..)));
    }

    #[test]
    fn ticks_are_kept_up_to_a_bound() {
        let live = Live::default();
        live.begin(Begun::default(), || {});
        (0..TICKS_MAX + 5).for_each(|_| live.tick("{}"));
        assert_eq!(live.since(0).0.len(), TICKS_MAX + 1);
    }
}
