//! A run while it happens, for the systems that watch everything else: Prometheus, OpenTelemetry, InfluxDB.
//!
//! Who watches a server on a dashboard wants the load on it in the same picture. But a receiver may be slow, or down, and a run
//! must not wait for it, nor lose a count to it. So the run only adds a second's counts to a board, and every outlet has a thread
//! of its own that reads the board when it can. What is told is totals, so that a delivery that fell out is made good by the next;
//! handing each second over in a queue was rejected, because a full one would lose counts. Only InfluxDB is told seconds, which are kept for
//! it within bounds.
//!
//! The SDK of OpenTelemetry was rejected: its instruments want one call a measurement and cannot be given counts, and a histogram
//! of a million answers a second is not to be recorded twice.
//!
//! Invariants: the board is never locked while anything is sent; what an outlet holds does not grow with the requests of a run;
//! nothing here ends a run.

mod board;
mod destination;
mod family;
mod influx;
mod otlp;
mod push;
mod scrape;
mod text;

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use measure::{IntervalCounts, Tick};
use plan::Plan;

use board::Shared;
pub use destination::{Destination, NoDestination};

/// Whose numbers these are; all of it is told to every receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The id of the run, as in the history.
    pub run: String,
    /// What the run is called.
    pub name: String,
    /// The command: `run`, `sweep` or `find`.
    pub command: String,
    /// Where the load goes, without secrets.
    pub target: String,
}

/// An outlet that cannot be used.
#[derive(Debug)]
pub struct Unusable {
    /// Which.
    pub destination: Destination,
    /// Why, in the system's words.
    pub why: std::io::Error,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be used: {}", self.destination, self.why)
    }
}

/// Addresses that are ours, before the run begins.
#[derive(Debug, Default)]
pub struct Ready {
    pushed: Vec<Destination>,
    scraped: Vec<(Destination, std::net::TcpListener)>,
}

/// The outlets of one run.
#[derive(Debug, Default)]
pub struct Exports {
    shared: Option<Arc<Shared>>,
    outlets: Vec<Outlet>,
}

#[derive(Debug)]
struct Outlet {
    destination: Destination,
    /// Told once, when the last of the run is delivered.
    told: Receiver<Delivered>,
}

/// What became of the deliveries of an outlet.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Delivered {
    tried: u64,
    failed: u64,
    /// Seconds that were given up, because too many waited.
    lost: u64,
    /// Why the last one that failed did.
    why: String,
    /// Whether the end of the run was delivered.
    last: bool,
}

/// Receivers are waited for so long when the run is over.
const FAREWELL: Duration = Duration::from_secs(5);

impl Ready {
    /// Takes the addresses to listen on. Receivers are not asked: one that comes up during the run is early enough.
    ///
    /// # Errors
    /// All that cannot be used.
    pub fn new(destinations: &[Destination]) -> Result<Self, Vec<Unusable>> {
        let (mut ready, mut unusable) = (Self::default(), Vec::new());
        for destination in destinations {
            match destination {
                Destination::Prometheus(address) => match scrape::listen(*address) {
                    Ok(listener) => ready.scraped.push((destination.clone(), listener)),
                    Err(why) => unusable.push(Unusable { destination: destination.clone(), why }),
                },
                Destination::Otlp(_) | Destination::Influx(_) => ready.pushed.push(destination.clone()),
            }
        }
        if unusable.is_empty() { Ok(ready) } else { Err(unusable) }
    }

    /// Where scrapes are answered.
    pub fn addresses(&self) -> impl Iterator<Item = std::net::SocketAddr> {
        self.scraped.iter().filter_map(|(_, listener)| listener.local_addr().ok())
    }

    /// Opens the outlets: each gets its thread. `variable` gives the value of a variable of the environment, since tokens and headers
    /// stand where the receivers' own clients read them (`OTEL_EXPORTER_OTLP_HEADERS`, `INFLUX_TOKEN`).
    #[must_use]
    pub fn open(self, identity: Identity, variable: &dyn Fn(&str) -> Option<String>) -> Exports {
        let Self { pushed, scraped } = self;
        if pushed.is_empty() && scraped.is_empty() {
            return Exports::default();
        }
        let wants_seconds = pushed.iter().any(|destination| matches!(destination, Destination::Influx(_)));
        let shared = Arc::new(Shared::new(identity, if wants_seconds { board::SECONDS_MAX } else { 0 }));
        let mut outlets = Vec::new();
        for (destination, listener) in scraped {
            let told = scrape::serve(listener, Arc::clone(&shared));
            outlets.push(Outlet { destination, told });
        }
        for destination in pushed {
            let told = push::start(&destination, Arc::clone(&shared), variable);
            outlets.push(Outlet { destination, told });
        }
        Exports { shared: Some(shared), outlets }
    }
}

impl Exports {
    /// A load begins, called `what`: a level of a sweep, a trial of a search, or the run itself.
    pub fn load(&self, plan: &Plan, what: &str) {
        let Some(shared) = &self.shared else { return };
        shared.load(what, plan.timetable());
    }

    /// A second of it. Takes some microseconds, and never waits for a receiver.
    pub fn second(&self, tick: &Tick, counted: &IntervalCounts) {
        if let Some(shared) = &self.shared {
            shared.second(tick, counted);
        }
    }

    /// The run is over: what is left is delivered, within five seconds. A sentence for each outlet that did not get everything.
    #[must_use]
    pub fn close(&mut self) -> Vec<String> {
        let Some(shared) = self.shared.take() else { return Vec::new() };
        shared.end();
        let until = Instant::now() + FAREWELL;
        let mut warnings = Vec::new();
        for Outlet { destination, told } in self.outlets.drain(..) {
            let left = until.saturating_duration_since(Instant::now());
            match told.recv_timeout(left) {
                Ok(delivered) => warnings.extend(delivered.warning(&destination)),
                Err(_) => warnings.push(format!(
                    "--export {destination} did not take the end of the run within {} s; what was measured is complete without it",
                    FAREWELL.as_secs()
                )),
            }
        }
        warnings
    }
}

impl Delivered {
    fn warning(&self, destination: &Destination) -> Option<String> {
        if self.failed == 0 && self.lost == 0 {
            return None;
        }
        let Self { tried, failed, lost, why, last } = self;
        let lost = if *lost > 0 { format!("; {lost} seconds were given up") } else { String::new() };
        let end = if *last && self.lost == 0 { "later ones made good for them" } else { "what was measured is complete without it" };
        Some(format!("--export {destination}: {failed} of {tried} deliveries failed{lost}; {end}. The last that failed: {why}"))
    }
}
