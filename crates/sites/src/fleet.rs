//! A fleet: agents that wait for work at a NATS server, which carries the same streams as a pipe or an SSH connection would.
//!
//! Whoever looks for agents asks all of them, or those of a group, and hears from each what it is and whether it is idle. One that is claimed
//! starts a site of its own program for this commander alone, and hands its streams on until the site is gone.
//!
//! The subjects: `loadline.agents` and `loadline.group.GROUP` to look, `loadline.agent.ID` to ask for the time and to claim, and
//! `loadline.session.TOKEN.orders` and `.answers` for what is said then.

mod claim;
mod member;
mod stream;

pub use claim::{Claims, agents_of};
pub use member::{Member, News, join};

use std::fmt;
use std::future::Future;
use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, StatusCode};
use engine::RunError;
use futures_util::StreamExt as _;
use percent_encoding::percent_decode_str;
use plan::Nanos;
use plan::setting::NATS_CREDENTIALS;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use url::Url;

use crate::frames::Greeting;
use crate::words::harmless;

/// How long the first answer of all is waited for.
const FIRST_MAX: Duration = Duration::from_secs(2);
/// When nobody has answered for so long since, everybody has.
const QUIET: Duration = Duration::from_millis(400);
/// More agents are not listened to.
const AGENTS_MAX: usize = 10_000;
/// How long one agent is waited for.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// How long the server is.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// How long it takes until it is tried again, at most.
const RECONNECT_MAX: Duration = Duration::from_millis(500);
/// So often an agent is asked what time it is there; the best answer counts.
const CLOCK_ROUNDS: u32 = 5;
/// More than this was not meant.
const GROUP_LETTERS_MAX: usize = 64;

/// Where a fleet is: a server, and which of the agents at it.
#[derive(Clone, PartialEq, Eq)]
pub struct FleetAddress {
    /// With the user and the password.
    server: Url,
    group: Option<String>,
    count: Option<NonZeroU32>,
}

impl FleetAddress {
    /// Reads `nats://[USER[:PASSWORD]@]HOST[:PORT][/GROUP][?count=N]`, or the same with `tls://`.
    ///
    /// # Errors
    /// In words, if it is something else.
    pub fn read(text: &str) -> Result<Self, String> {
        if !text.starts_with("nats://") && !text.starts_with("tls://") {
            return Err("does not begin with nats:// or tls://".to_owned());
        }
        let mut server = Url::parse(text).map_err(|why| format!("is no address: {why}"))?;
        if server.host_str().is_none_or(str::is_empty) {
            return Err("names no host".to_owned());
        }
        if server.username().is_empty() && server.password().is_some() {
            return Err("has a password and no user".to_owned());
        }
        let group = server.path().trim_start_matches('/').to_owned();
        if !(group.is_empty() || is_group(&group)) {
            return Err(format!("has the group '{group}'; {GROUP}"));
        }
        let mut count = None;
        for (name, value) in server.query_pairs() {
            if name != "count" {
                return Err(format!("has '{name}', and only count is known"));
            }
            count = Some(value.parse().map_err(|_| format!("has the count '{value}', which is no number of agents"))?);
        }
        server.set_path("");
        server.set_query(None);
        server.set_fragment(None);
        Ok(Self { server, group: Some(group).filter(|group| !group.is_empty()), count })
    }

    /// All of it as it is written, without the user and the password.
    #[must_use]
    pub fn whole(&self) -> String {
        let group = self.group.as_ref().map_or_else(String::new, |group| format!("/{group}"));
        let count = self.count.map_or_else(String::new, |count| format!("?count={count}"));
        format!("{self}{group}{count}")
    }

    /// What several addresses are sorted by before agents are claimed, the same for whoever has the same group in mind: commanders that
    /// claimed in the order of their own would each have what the other waits for.
    #[must_use]
    pub fn turn(&self) -> impl Ord + use<> {
        (self.to_string(), self.group.clone(), self.count)
    }

    /// Which agents, if not all at the server.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// How many of them, if not all that are idle.
    #[must_use]
    pub const fn count(&self) -> Option<NonZeroU32> {
        self.count
    }

    /// Whether what is said there can be heard and forged by others: without a password, on an address that is not this machine's.
    /// Credentials may come in a file, which is not seen here.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        let host = self.server.host_str().unwrap_or_default();
        let is_here = host == "localhost" || host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        !is_here && self.server.username().is_empty()
    }
}

impl fmt::Display for FleetAddress {
    /// Without the user and the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.server.scheme(), self.server.host_str().unwrap_or_default())?;
        self.server.port().map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Debug for FleetAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FleetAddress({self})")
    }
}

/// What a group's name is.
const GROUP: &str = "a group is letters, digits, - and _";

/// Whether it is the name of a group.
#[must_use]
pub fn is_group(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !text.is_empty() && text.len() <= GROUP_LETTERS_MAX && text.chars().all(is_letter)
}

/// By what the server lets us in, beside what its address says.
#[derive(Clone, Default)]
pub struct Access {
    /// The text of a credentials file: a token that is signed, and the seed that belongs to it.
    pub credentials: Option<String>,
    /// The seed of an NKey.
    pub nkey: Option<String>,
    /// The file of certificates that the server's is signed by, where they are not the system's.
    pub authority: Option<PathBuf>,
}

impl Access {
    /// Whether there is something that proves who we are.
    #[must_use]
    pub const fn is_given(&self) -> bool {
        self.credentials.is_some() || self.nkey.is_some()
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("authority", &self.authority).finish_non_exhaustive()
    }
}

/// A connection to the server of a fleet. It comes back by itself when the server was away.
#[derive(Clone)]
pub struct Connection {
    client: Client,
    runtime: Handle,
    server: String,
    /// When it is dropped, the runtime ends.
    _keeper: Arc<oneshot::Sender<()>>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({})", self.server)
    }
}

impl Connection {
    /// Connects. `there` is told when the server is away, and when it is back.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not let us in.
    pub fn open(address: &FleetAddress, access: &Access, there: impl Fn(bool) + Send + Sync + 'static) -> Result<Self, RunError> {
        let no_thread = |why: io::Error| RunError::run(format!("the system gives no more threads: {why}"), "raise the limit on processes");
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let handle = runtime.handle().clone();
        let (keeper, dropped) = oneshot::channel::<()>();
        thread::Builder::new().name("nats".to_owned()).spawn(move || _ = runtime.block_on(dropped)).map_err(no_thread)?;
        let there = Arc::new(there);
        let was_away = Arc::new(AtomicBool::new(false));
        let mut options = ConnectOptions::new()
            .name("loadline")
            .connection_timeout(CONNECT_MAX)
            .max_reconnects(None)
            .reconnect_delay_callback(|attempts| (Duration::from_millis(20) * attempts as u32).min(RECONNECT_MAX))
            .event_callback(move |event| {
                let (there, was_away) = (there.clone(), was_away.clone());
                async move {
                    match event {
                        Event::Disconnected if !was_away.swap(true, Ordering::Relaxed) => there(false),
                        Event::Connected if was_away.swap(false, Ordering::Relaxed) => there(true),
                        _ => {}
                    }
                }
            });
        let uncredited = |why: io::Error| {
            RunError::input(
                format!("the credentials for {address} cannot be used: {}", plan::plainly(&why)),
                "give the file that nsc wrote",
            )
        };
        if let Some(text) = &access.credentials {
            options = options.credentials(text).map_err(uncredited)?;
        }
        if let Some(seed) = &access.nkey {
            options = options.nkey(seed.trim().to_owned());
        }
        if let Some(file) = &access.authority {
            options = options.add_root_certificates(file.clone());
        }
        // A token stands in the place of a user. None of it is what is connected to.
        let mut server = address.server.clone();
        let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        options = match (server.username(), server.password()) {
            ("", _) => options,
            (token, None) => options.token(plain(token)),
            (user, Some(password)) => options.user_and_password(plain(user), plain(password)),
        };
        let _ = (server.set_username(""), server.set_password(None));
        let connected = handle.block_on(async { timeout(CONNECT_MAX, options.connect(server.as_str())).await });
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(why)) if matches!(why.kind(), ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication) => {
                return Err(RunError::input(
                    format!("the NATS server {address} does not let us in"),
                    format!("give the user and the password in its address (nats://USER:PASSWORD@HOST), or a file with {NATS_CREDENTIALS}"),
                ));
            }
            Ok(Err(why)) => return Err(unreached(address, &innermost(&why))),
            Err(_) => return Err(unreached(address, &format!("no answer within {} s", CONNECT_MAX.as_secs()))),
        };
        Ok(Self { client, runtime: handle, server: address.to_string(), _keeper: Arc::new(keeper) })
    }

    /// The agents there, by name.
    ///
    /// # Errors
    /// If the connection is lost for good.
    pub fn look(&self, group: Option<&str>) -> Result<Vec<AgentCard>, RunError> {
        let subject = group.map_or_else(|| ALL.to_owned(), |group| format!("{OF_GROUP}.{group}"));
        let mut cards = self.wait(async {
            let inbox = self.client.new_inbox();
            let mut answers = self.client.subscribe(inbox.clone()).await.map_err(io::Error::other)?;
            self.client.publish_with_reply(subject, inbox, json(&Request::Look)).await.map_err(io::Error::other)?;
            let mut cards = Vec::new();
            let begun = Instant::now();
            let mut patience = FIRST_MAX;
            while begun.elapsed() < ANSWER_MAX && cards.len() < AGENTS_MAX {
                let Ok(Some(answer)) = timeout(patience, answers.next()).await else { break };
                patience = QUIET;
                if answer.status == Some(StatusCode::NO_RESPONDERS) {
                    break;
                }
                cards.extend(read::<AgentCard>(&answer.payload).and_then(AgentCard::harmless));
            }
            Ok(cards)
        })?;
        cards.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        Ok(cards)
    }

    /// How far away each of these agents is, and how its clock goes.
    ///
    /// # Errors
    /// If the connection is lost for good.
    pub fn measure(&self, cards: &[AgentCard]) -> Result<Vec<Option<AgentClock>>, RunError> {
        self.wait(async {
            let asking: Vec<_> = cards.iter().map(|card| tokio::spawn(clock_of(self.client.clone(), card.id.clone()))).collect();
            let mut clocks = Vec::new();
            for asked in asking {
                clocks.push(asked.await.ok().flatten());
            }
            Ok(clocks)
        })
    }

    fn wait<T>(&self, what: impl Future<Output = io::Result<T>>) -> Result<T, RunError> {
        self.runtime.block_on(what).map_err(|why| {
            RunError::run(format!("the NATS server {} is not there any more: {why}", self.server), "see what became of it, and try again")
        })
    }
}

/// To all agents of a server.
const ALL: &str = "loadline.agents";
/// To all of a group.
const OF_GROUP: &str = "loadline.group";
/// To one.
const TO_ONE: &str = "loadline.agent";
/// Of two that speak with each other.
const SESSION: &str = "loadline.session";

/// What an agent is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    /// Who is it?
    Look,
    /// What time is it there?
    Clock,
    /// Begin a session.
    Claim {
        /// [`SITE_SCHEMA`](crate::SITE_SCHEMA) of who asks.
        schema: String,
        /// The version of who asks.
        loadline: String,
        /// The name of the session in its subjects.
        token: String,
        /// Who asks, for people.
        by: String,
    },
}

/// What an agent answers to a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    /// The session has begun.
    Begun,
    /// It does not begin now: why, in words that go on from the agent's name.
    Busy(String),
    /// It does not begin: why, in words that go on from the agent's name.
    Refused(String),
}

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCard {
    /// Its own among all.
    pub id: String,
    /// As people call it.
    pub name: String,
    /// The group it is in.
    pub group: String,
    /// [`SITE_SCHEMA`](crate::SITE_SCHEMA), of its program.
    pub schema: String,
    /// The program's version.
    pub loadline: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Connections that it may have open at once.
    pub connections_max: u32,
    /// Where it may send load, as its owner wrote it.
    pub targets: Vec<String>,
    /// What it does now, if it is not idle.
    pub busy: Option<String>,
}

impl AgentCard {
    /// That of this process.
    #[must_use]
    pub fn of_this_process(name: String, group: String, targets: Vec<String>) -> Self {
        let Greeting { schema, loadline, cores, connections_max, .. } = Greeting::of_this_process();
        Self { id: String::new(), name, group, schema, loadline, cores, connections_max, targets, busy: None }
    }

    /// The same with words that may be shown; none where its id cannot be part of a subject.
    fn harmless(self) -> Option<Self> {
        let is_id = !self.id.is_empty() && self.id.chars().all(|letter| letter.is_ascii_alphanumeric());
        is_id.then(|| Self {
            name: harmless(&self.name),
            group: harmless(&self.group),
            schema: harmless(&self.schema),
            loadline: harmless(&self.loadline),
            targets: self.targets.iter().map(|target| harmless(target)).collect(),
            busy: self.busy.as_deref().map(harmless),
            ..self
        })
    }
}

/// An agent's clock, as it is seen from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AgentClock {
    /// There and back.
    #[serde(rename = "round_trip_ns")]
    pub round_trip: Nanos,
    /// By how many nanoseconds it is ahead, give or take half the round trip.
    #[serde(rename = "ahead_ns")]
    pub ahead: i64,
}

async fn clock_of(client: Client, id: String) -> Option<AgentClock> {
    let mut best: Option<AgentClock> = None;
    for _ in 0..CLOCK_ROUNDS {
        let (asked, at) = (wall_clock(), Instant::now());
        let answer = timeout(ANSWER_MAX, client.request(format!("{TO_ONE}.{id}"), json(&Request::Clock))).await.ok()?.ok()?;
        let round_trip = at.elapsed();
        let there: Nanos = serde_json::from_slice(&answer.payload).ok()?;
        let here = asked.plus(Nanos(round_trip.as_nanos() as u64 / 2));
        let clock = AgentClock { round_trip: Nanos(round_trip.as_nanos() as u64), ahead: there.0.wrapping_sub(here.0).cast_signed() };
        best = Some(best.filter(|best| best.round_trip <= clock.round_trip).unwrap_or(clock));
    }
    best
}

/// Nanoseconds since 1970.
fn wall_clock() -> Nanos {
    Nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64)
}

fn unreached(address: &FleetAddress, why: &str) -> RunError {
    RunError::run(format!("the NATS server {address} cannot be reached: {why}"), "start one there (nats-server), or correct its address")
}

/// The cause of an error that says least of how it was met.
fn innermost(why: &(dyn std::error::Error + 'static)) -> String {
    let mut why = why;
    while let Some(source) = why.source() {
        why = source;
    }
    why.downcast_ref().map_or_else(|| why.to_string(), plan::plainly)
}

fn json(said: &impl Serialize) -> bytes::Bytes {
    serde_json::to_vec(said).expect("what is said holds nothing that JSON cannot").into()
}

fn read<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    serde_json::from_slice(payload).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_server_a_group_and_a_number() {
        let address = FleetAddress::read("nats://me:secret@10.0.0.1:4222/eu?count=3").unwrap();
        assert_eq!((address.group(), address.count()), (Some("eu"), NonZeroU32::new(3)));
        assert_eq!((address.to_string().as_str(), address.whole().as_str()), ("nats://10.0.0.1:4222", "nats://10.0.0.1:4222/eu?count=3"));
        assert!(!format!("{address:?}").contains("secret"));
        let all = FleetAddress::read("tls://nats.test").unwrap();
        assert_eq!((all.group(), all.count(), all.to_string()), (None, None, "tls://nats.test".to_owned()));
    }

    #[test]
    fn groups_have_their_turn_in_one_order_for_all() {
        let sorted = |texts: &[&str]| {
            let mut addresses: Vec<FleetAddress> = texts.iter().map(|text| FleetAddress::read(text).unwrap()).collect();
            addresses.sort_by_cached_key(FleetAddress::turn);
            addresses.iter().map(|address| address.group().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(sorted(&["nats://b:me@a/eu-2", "nats://a:me@a/eu?count=9"]), ["eu", "eu-2"]);
        assert_eq!(sorted(&["nats://z:me@a/eu", "nats://a:me@a/eu-2?count=1"]), ["eu", "eu-2"]);
    }

    #[test]
    fn what_an_agent_says_of_itself_is_shown_without_what_steers_a_terminal() {
        let card = AgentCard::of_this_process("a\u{1b}[2J".to_owned(), "eu".to_owned(), vec!["a.test\u{202e}".to_owned()]);
        assert_eq!(card.clone().harmless(), None);
        let card = AgentCard { id: "x1".to_owned(), busy: Some("a load\n".to_owned()), ..card };
        assert_eq!(AgentCard { id: "x1.orders\r\n".to_owned(), ..card.clone() }.harmless(), None);
        let shown = card.harmless().unwrap();
        assert_eq!((&*shown.name, &*shown.targets[0], shown.busy.as_deref()), ("a[2J", "a.test", Some("a load")));
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_reason() {
        for (text, why) in [
            ("http://a", "does not begin with nats:// or tls://"),
            ("10.0.0.1:4222", "does not begin with nats:// or tls://"),
            ("nats:///eu", "names no host"),
            ("nats://:secret@a", "has a password and no user"),
            ("nats://a/eu/west", "has the group 'eu/west'"),
            ("nats://a/eu.*", "has the group 'eu.*'"),
            ("nats://a?count=0", "has the count '0'"),
            ("nats://a?n=1", "has 'n', and only count is known"),
        ] {
            let said = FleetAddress::read(text).unwrap_err();
            assert!(said.starts_with(why), "{text}: {said}");
        }
    }

    #[test]
    fn a_server_without_a_password_elsewhere_is_open_to_others() {
        let is_exposed = |text: &str| FleetAddress::read(text).unwrap().is_exposed();
        assert!(is_exposed("nats://10.0.0.1:4222"));
        assert!(!is_exposed("nats://127.0.0.1:4222") && !is_exposed("nats://[::1]") && !is_exposed("nats://localhost/eu"));
        assert!(!is_exposed("nats://me:secret@10.0.0.1"));
    }
}
