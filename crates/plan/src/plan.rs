//! What will be done: valid, complete, and contained in every result so that the result can be run again.
//!
//! There is one way to a Plan, `Plan::try_from(Resolved)`, and it reports every mistake at once. A Plan turns back into a load that
//! says all that was decided ([`LoadRecord`], and [`Plan::encode`]), which is how it is written to files and sent to other processes.
//!
//! Invariant: nobody changes a plan. What must be another way is decided anew, from a load that says so.

use std::fmt;
use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::str::FromStr;

use serde::Serialize;

use crate::secret::{self, REDACTED};
use crate::setting::*;
use crate::template::is_templated;
use crate::{
    Also, Body, Bounds, Contents, EventPath, FormPart, FormValue, HostPort, Load, LoadRecord, MessageSource, Nanos, Part, Population,
    Proxy, Replay, Request, Resumption, Secrets, Target, Templating, Timetable, TokenCount, Users, Variation, Warmup, WindowBytes, Wording,
};

/// One load, decided in full.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "LoadRecord")]
pub struct Plan {
    pub(crate) target: Target,
    pub(crate) request: Request,
    pub(crate) load: Load,
    pub(crate) duration: Option<Nanos>,
    pub(crate) requests: Option<NonZeroU64>,
    pub(crate) iterations: Option<NonZeroU64>,
    pub(crate) iterations_per_user: Option<NonZeroU64>,
    pub(crate) warmup: Warmup,
    pub(crate) seed: u64,
    pub(crate) threads: NonZeroU32,
    pub(crate) processes: Option<NonZeroU32>,
    pub(crate) connection: Connection,
    pub(crate) script: Option<ScriptFile>,
    pub(crate) scenario: Option<ScenarioFile>,
    pub(crate) also: Also,
    pub(crate) variation: Variation,
    pub(crate) stream: Option<StreamForm>,
    pub(crate) event_data: Option<EventPath>,
    pub(crate) tokens: Option<TokenCount>,
    pub(crate) stream_for: Option<Nanos>,
    pub(crate) compressed: bool,
    pub(crate) expect_continue: bool,
    pub(crate) replay: Option<Replay>,
    pub(crate) messages: MessageSource,
    pub(crate) contents: Contents,
}

/// A scenario that says what users do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioFile {
    /// Where it is.
    pub path: String,
    /// What it calls itself.
    pub name: Option<String>,
    /// What it held when the plan was made: its SHA-256, in hexadecimal; `None` where nobody looked.
    pub sha256: Option<String>,
    /// What it says, where it came as text: then there is no file, and the path is only what messages call it.
    pub text: Option<String>,
    /// What was said about its variables, where it is another tool's file.
    pub said: SaidOfVariables,
    /// How many connections each of its users needs at most.
    pub connections_each: NonZeroU32,
}

/// Where the values of a file's variables came from. The values themselves may be secrets, and are no part of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SaidOfVariables {
    /// The environment that holds: a file of its own, or a name in the file.
    pub environment: Option<String>,
    /// What the environment's file held: its SHA-256, in hexadecimal.
    pub environment_sha256: Option<String>,
    /// Variables that were given a value by name.
    pub names: Vec<String>,
}

impl ScenarioFile {
    /// What reports call it: as it calls itself, or else its path.
    #[must_use]
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.path)
    }
}

/// What messages call a scenario that came as text.
pub const SCENARIO_TEXT: &str = "scenario";

/// A script that chooses the requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFile {
    /// Where it is.
    pub path: String,
    /// What its `init` is given.
    pub arguments: Vec<String>,
    /// What it may do.
    pub confinement: Confinement,
    /// What it held when the plan was made: its SHA-256, in hexadecimal; `None` where nobody looked.
    pub sha256: Option<String>,
}

/// What a script may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// Whatever the user may.
    None,
    /// Nothing outside its own state, within limits of memory and time.
    Sandbox,
}

/// How connections are made and kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    /// From due to the last byte of one request.
    pub timeout: Nanos,
    /// For TCP, proxy and TLS together.
    pub connect_timeout: Nanos,
    /// Whether one connection carries many requests.
    pub keepalive: Keepalive,
    /// Where to connect instead of the target's host and port.
    pub connect_to: Option<HostPort>,
    /// Local addresses, taken in turn; empty leaves the choice to the system.
    pub source_ips: Vec<IpAddr>,
    /// A socket in the file system instead of TCP.
    pub unix_socket: Option<String>,
    /// A proxy in between.
    pub proxy: Option<Proxy>,
    /// So many redirects are followed.
    pub follow: u8,
    /// Whether one connection is tried before the run.
    pub preflight: Preflight,
    /// What is spoken on connections.
    pub http: HttpVersion,
    /// So many requests at once share a connection that speaks HTTP/2, at most.
    pub streams: u32,
    /// Whether packed messages are offered over WebSocket (permessage-deflate).
    pub message_deflate: bool,
    /// How much of an answer a server may send ahead over HTTP/2.
    pub stream_window: WindowBytes,
    /// How much of all answers on a connection of HTTP/2.
    pub connection_window: WindowBytes,
    /// What is asked of TLS; read for https only.
    pub tls: Tls,
}

/// Whether connections are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keepalive {
    /// One connection carries many requests.
    Reuse,
    /// A new connection for every request.
    CloseEach,
}

/// Whether the server is looked for before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preflight {
    /// One connection is opened first; if that fails the run does not start.
    Connect,
    /// The run starts at once.
    Skip,
}

/// What is asked of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// Whether certificates are verified.
    pub verification: Verification,
    /// PEM file of trusted issuers, instead of the system's.
    pub cacert: Option<String>,
    /// The client's own certificate and key.
    pub identity: Option<Identity>,
    /// The name asked for and expected; `None`: the target's host.
    pub sni: Option<String>,
    /// The only version spoken.
    pub version: Option<TlsVersion>,
    /// Whether sessions are resumed.
    pub resumption: Resumption,
}

/// A client certificate and its key: paths of PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate chain.
    pub cert: String,
    /// The private key.
    pub key: String,
}

/// Whether certificates are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// Against the trusted issuers and the expected name.
    On,
    /// Any certificate will do.
    Off,
}

/// So many requests share a connection of HTTP/2 or HTTP/3 unless told otherwise: what RFC 9113 §6.5.2 and RFC 9114 §6.1 ask servers for at least, and
/// curl does.
pub(crate) const STREAMS_DEFAULT: u32 = 100;

/// A version of HTTP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    V1,
    /// HTTP/2: over TLS as nothing else is offered, else by prior knowledge.
    V2,
    /// HTTP/3, over QUIC, where the URL is https; else HTTP/1.1.
    V3,
    /// Over TLS what the server chooses of both (ALPN), else HTTP/1.1.
    Auto,
}

impl HttpVersion {
    /// Whether it was demanded as one that lets users share connections.
    pub(crate) const fn is_to_be_shared(self) -> bool {
        matches!(self, Self::V2 | Self::V3)
    }
}

impl FromStr for HttpVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "1.1" | "1" => Ok(Self::V1),
            "2" => Ok(Self::V2),
            "3" => Ok(Self::V3),
            "auto" => Ok(Self::Auto),
            _ => Err("is none of 1.1, 2, 3 and auto".to_owned()),
        }
    }
}

impl fmt::Display for HttpVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "1.1",
            Self::V2 => "2",
            Self::V3 => "3",
            Self::Auto => "auto",
        })
    }
}

/// How events stand in an answer that streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamForm {
    /// Server-sent events, as WHATWG's HTML describes them.
    Sse,
    /// Lines that are not empty.
    Lines,
    /// JSON values, one a line (NDJSON, JSON Lines, RFC 7464).
    JsonLines,
    /// As the answer's Content-Type says: one of the first and the third, or none.
    Auto,
}

impl FromStr for StreamForm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sse" => Ok(Self::Sse),
            "lines" => Ok(Self::Lines),
            "json-lines" => Ok(Self::JsonLines),
            "auto" => Ok(Self::Auto),
            _ => Err("is none of sse, lines, json-lines and auto".to_owned()),
        }
    }
}

impl fmt::Display for StreamForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sse => "sse",
            Self::Lines => "lines",
            Self::JsonLines => "json-lines",
            Self::Auto => "auto",
        })
    }
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2
    V12,
    /// TLS 1.3
    V13,
}

impl FromStr for TlsVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "1.2" => Ok(Self::V12),
            "1.3" => Ok(Self::V13),
            _ => Err("is neither 1.2 nor 1.3".to_owned()),
        }
    }
}

impl fmt::Display for TlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V12 => "1.2",
            Self::V13 => "1.3",
        })
    }
}

impl Plan {
    /// Where requests go.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// The servers that requests may go to beside the target's.
    #[must_use]
    pub const fn also(&self) -> &Also {
        &self.also
    }

    /// Every server that connections may be opened to.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let listed = self.variation.mix.iter().flat_map(|mix| &mix.routes).map(|route| &route.target);
        Bounds::of(&self.also, std::iter::once(&self.target).chain(listed))
    }

    /// What is sent.
    #[must_use]
    pub const fn request(&self) -> &Request {
        &self.request
    }

    /// How much.
    #[must_use]
    pub const fn load(&self) -> &Load {
        &self.load
    }

    /// How long is measured, warm-up not included; `None` if only the number of requests ends the run.
    #[must_use]
    pub const fn duration(&self) -> Option<Nanos> {
        self.duration
    }

    /// How many requests are sent at most, warm-up included.
    #[must_use]
    pub const fn requests(&self) -> Option<NonZeroU64> {
        self.requests
    }

    /// How many journeys are begun at most, of one population of users.
    #[must_use]
    pub const fn iterations(&self) -> Option<NonZeroU64> {
        self.iterations
    }

    /// How many journeys each user begins at most, of one population of users.
    #[must_use]
    pub const fn iterations_per_user(&self) -> Option<NonZeroU64> {
        self.iterations_per_user
    }

    /// Whether it may end before its time is over: with a number of requests or journeys.
    #[must_use]
    pub const fn ends_by_count(&self) -> bool {
        self.requests.is_some() || self.iterations.is_some() || self.iterations_per_user.is_some()
    }

    /// How long is loaded before measuring; nothing where the warm-up is to be found.
    #[must_use]
    pub const fn warmup(&self) -> Nanos {
        match self.warmup {
            Warmup::Lasting(time) => time,
            Warmup::Found => Nanos::ZERO,
        }
    }

    /// Whether the warm-up is to be found in the run itself, and cut from it.
    #[must_use]
    pub fn finds_warmup(&self) -> bool {
        self.warmup == Warmup::Found
    }

    /// When the last request may fall due, from the start: warm-up and duration.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.duration.map_or(Nanos::NEVER, |duration| self.warmup().plus(duration))
    }

    /// The seed of everything drawn by chance.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// With how many threads; never more than connections. Each population has its own.
    #[must_use]
    pub fn threads(&self) -> NonZeroU32 {
        let of = |load: &Load| self.threads.min(load.connections_max());
        let sum = self.populations().iter().map(|population| of(&population.load)).reduce(|sum, more| sum.saturating_add(more.get()));
        sum.unwrap_or_else(|| of(&self.load))
    }

    /// In how many processes, where somebody said so; else in as many as it takes.
    #[must_use]
    pub const fn processes(&self) -> Option<NonZeroU32> {
        self.processes
    }

    /// How connections are made and kept.
    #[must_use]
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The script that chooses the requests, if there is one.
    #[must_use]
    pub const fn script(&self) -> Option<&ScriptFile> {
        self.script.as_ref()
    }

    /// The scenario that says what users do, if there is one.
    #[must_use]
    pub const fn scenario(&self) -> Option<&ScenarioFile> {
        self.scenario.as_ref()
    }

    /// The same plan with one user and no end of its own: for what is done once, before the load or after it.
    #[must_use]
    pub fn single_user(&self) -> Self {
        Self {
            load: Load::Closed { users: NonZeroU32::MIN.into(), pause: None },
            duration: None,
            requests: None,
            iterations: None,
            iterations_per_user: None,
            warmup: Warmup::Lasting(Nanos::ZERO),
            threads: NonZeroU32::MIN,
            processes: None,
            ..self.clone()
        }
    }

    /// How events stand in answers that stream, where these are measured.
    #[must_use]
    pub const fn stream(&self) -> Option<StreamForm> {
        self.stream
    }

    /// Where an event has to have something, to be counted as one; `None`: nowhere.
    #[must_use]
    pub const fn event_data(&self) -> Option<&EventPath> {
        self.event_data.as_ref()
    }

    /// What a token is, where that is no event; `None`: each event is one.
    #[must_use]
    pub const fn tokens(&self) -> Option<&TokenCount> {
        self.tokens.as_ref()
    }

    /// How long an answer that streams is listened to, from its head on; `None`: to its end.
    #[must_use]
    pub const fn stream_for(&self) -> Option<Nanos> {
        self.stream_for
    }

    /// What the messages of calls are described by, as it was named; what that came to is in its [contents](Plan::contents).
    #[must_use]
    pub const fn messages(&self) -> &MessageSource {
        &self.messages
    }

    /// Whether answers are asked for that are packed, and counted as such.
    #[must_use]
    pub const fn compressed(&self) -> bool {
        self.compressed
    }

    /// Whether bodies wait until the server says that it wants them.
    #[must_use]
    pub const fn expects_continue(&self) -> bool {
        self.expect_continue
    }

    /// The log that is replayed, if one is: its requests are sent at its times.
    #[must_use]
    pub const fn replay(&self) -> Option<&Replay> {
        self.replay.as_ref()
    }

    /// What the files hold that it names, as far as they were read.
    #[must_use]
    pub const fn contents(&self) -> &Contents {
        &self.contents
    }

    /// What differs from request to request.
    #[must_use]
    pub const fn variation(&self) -> &Variation {
        &self.variation
    }

    /// Whether requests differ, are made from what a message says, or their answers are looked at: there are templates, a list of URLs, calls
    /// of gRPC, or something is expected of answers. Those of a scenario are its own affair.
    #[must_use]
    pub fn is_filled_in(&self) -> bool {
        self.scenario.is_none()
            && (self.variation.mix.is_some()
                || self.target.scheme().is_grpc()
                || !self.variation.expects.is_empty()
                || (self.variation.braces == Templating::Template && self.texts().any(|(_, text)| is_templated(text))))
    }

    /// Everything that may be a template, and the setting it comes from: path and query, values of headers, body or form.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        texts(&self.target, &self.request, &self.variation)
    }

    /// How many users there are at once at most, or requests or journeys of open load, each on a connection of its own.
    #[must_use]
    pub fn connections_max(&self) -> NonZeroU32 {
        self.load.connections_max()
    }

    /// How many connections one of them needs.
    #[must_use]
    pub fn connections_each(&self) -> NonZeroU32 {
        self.scenario.as_ref().map_or(NonZeroU32::MIN, |scenario| scenario.connections_each)
    }

    /// How many connections to the target are open at once at most.
    #[must_use]
    pub fn open_connections_max(&self) -> u64 {
        self.shared(self.connections_max().get().into(), self.threads.get().into()) * u64::from(self.connections_each().get())
    }

    /// Whether several requests may be under way on one connection.
    #[must_use]
    pub fn shares_connections(&self) -> bool {
        self.connection.http != HttpVersion::V1 && self.connection.keepalive == Keepalive::Reuse && self.connection.streams > 1
    }

    /// How many connections so many places on them need in so many parts, if the server takes as many requests at once as is planned.
    fn shared(&self, places: u64, parts: u64) -> u64 {
        let is_sure = self.shares_connections() && self.connection.http.is_to_be_shared();
        if is_sure { places.min(places / u64::from(self.connection.streams) + parts) } else { places }
    }

    /// How many connections to the target these parts of it have open at once at most.
    #[must_use]
    pub fn open_connections_of(&self, parts: &[Part]) -> u64 {
        let load = |part: &Part| self.populations().get(part.population as usize).map_or(&self.load, |population| &population.load);
        let at_once: u64 = parts.iter().map(|part| part.share.part(load(part).connections_max().get().into())).sum();
        self.shared(at_once, parts.len() as u64) * u64::from(self.connections_each().get())
    }

    /// The loads that run side by side; none where there is only one.
    #[must_use]
    pub fn populations(&self) -> &[Population] {
        match &self.load {
            Load::Mixed(populations) => populations,
            Load::Closed { .. } | Load::Open { .. } => &[],
        }
    }

    /// The same plan with the load of one of its populations alone; the plan itself where it has one load.
    #[must_use]
    pub fn of_population(&self, place: u32) -> Self {
        let Some(population) = self.populations().get(place as usize) else { return self.clone() };
        // Populations of the same rate would else send at the very same moments.
        let seed = self.seed ^ u64::from(place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let Population { requests, iterations, iterations_per_user, .. } = population;
        // Each arrival is a journey.
        let (requests, iterations) = match population.load {
            Load::Open { .. } => (requests.iter().chain(iterations).min().copied(), None),
            Load::Closed { .. } | Load::Mixed(_) => (*requests, *iterations),
        };
        Self { load: population.load_in_run(), requests, iterations, iterations_per_user: *iterations_per_user, seed, ..self.clone() }
    }

    /// How many users there are over time, with the warm-up before it; `None` for open load and for several loads.
    #[must_use]
    pub fn users(&self) -> Option<Users> {
        let Load::Closed { users, .. } = &self.load else { return None };
        Some(users.after(self.warmup()))
    }

    /// The arrivals' timetable with the warm-up before it; `None` for closed load and for several loads.
    #[must_use]
    pub fn timetable(&self) -> Option<Timetable> {
        let Load::Open { timetable, .. } = &self.load else { return None };
        Some(timetable.after(self.warmup()))
    }

    /// Names of headers whose values were left out when this plan was saved. Such a plan can be read but not run.
    pub fn redacted(&self) -> impl Iterator<Item = &str> {
        let proxy = self.connection.proxy.as_ref().and_then(|proxy| proxy.authorization.as_deref()).filter(|value| *value == REDACTED);
        let headers = self.request.headers.iter().filter(|(_, value)| secret::is_header_without(value)).map(|(name, _)| name.as_str());
        headers.chain(proxy.map(|_| "Proxy-Authorization"))
    }

    /// What else was left out when this plan was saved, and the setting that gives it again.
    #[must_use]
    pub fn redacted_parts(&self) -> Vec<(&'static str, Wording)> {
        let mut parts = Vec::new();
        if secret::is_url_without(self.target.path_and_query()) {
            parts.push(("a parameter of the URL", "the whole URL".into()));
        }
        if self.scenario.as_ref().and_then(|file| file.text.as_ref()).is_some_and(|text| text.contains(REDACTED)) {
            parts.push(("a secret in the scenario", format!("the whole scenario with {SCENARIO}").into()));
        }
        match &self.request.body {
            Body::Bytes(bytes) if secret::is_body_without(&String::from_utf8_lossy(bytes)) => {
                parts.push(("a field of the body", format!("the whole body with {DATA} or {JSON}").into()));
            }
            Body::Form { parts: fields, .. }
                if fields.iter().any(|part| matches!(&part.value, FormValue::Text(text) if secret::is_field_without(text))) =>
            {
                parts.push(("a field of the form", format!("all fields with {FORM}").into()));
            }
            _ => {}
        }
        parts
    }

    /// The values of all its secrets, to be kept out of what is written.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        Secrets::of_plan(self)
    }
}

/// Everything that may be a template.
pub(crate) fn texts<'a>(
    target: &'a Target,
    request: &'a Request,
    variation: &'a Variation,
) -> impl Iterator<Item = (&'static str, &'a str)> {
    let headers = request.headers.iter().map(|(_, value)| ("header", value.as_str()));
    let (bytes, parts): (Option<&[u8]>, &[FormPart]) = match &request.body {
        Body::Empty => (None, &[]),
        Body::File(_) => (variation.body.as_ref().map(String::as_bytes), &[]),
        Body::Bytes(bytes) => (Some(bytes), &[]),
        Body::Form { parts, .. } => (None, parts),
    };
    let body = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).map(|text| ("data", text));
    let fields = parts.iter().filter_map(|part| match &part.value {
        FormValue::Text(text) => Some(("form", text.as_str())),
        FormValue::File { .. } => None,
    });
    std::iter::once(("url", target.path_and_query())).chain(headers).chain(body).chain(fields)
}

/// Sent unless overridden or removed.
pub(crate) const DEFAULT_HEADERS: [(&str, &str); 2] = [("User-Agent", concat!("loadline/", env!("CARGO_PKG_VERSION"))), ("Accept", "*/*")];

/// What is asked for where packed answers are (RFC 9110 §12.5.3): in which order does not matter.
pub const ACCEPT_ENCODING: (&str, &str) = ("Accept-Encoding", "gzip, br, zstd, deflate");

/// What a request says whose body waits for the server's word (RFC 9110 §10.1.1).
pub const EXPECT_CONTINUE: (&str, &str) = ("Expect", "100-continue");

pub(crate) const CONNECTIONS_DEFAULT: NonZeroU32 = NonZeroU32::new(50).unwrap();
/// Enough for 20,000/s on a server that takes half a second; what one process can open by default on most machines.
pub(crate) const OPEN_CONNECTIONS_MAX: NonZeroU32 = NonZeroU32::new(10_000).unwrap();
pub(crate) const DURATION_DEFAULT: Nanos = Nanos::from_secs(10);
pub(crate) const TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(30);
pub(crate) const CONNECT_TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(5);
/// A connection is a file, and Linux does not count further (`fs.nr_open` has a ceiling of 2^30).
pub(crate) const CONNECTIONS_MAX: u32 = 10_000_000;
/// Every thread holds its own buffers and histograms; more than this is a slip of the finger.
pub const THREADS_MAX: u32 = 1024;
/// Each has threads, buffers and histograms of its own.
pub(crate) const POPULATIONS_MAX: usize = 100;
/// The arithmetic of arrivals has nanoseconds; beyond this, several fall on the same one.
pub(crate) const RATE_MAX: f64 = 100_000_000.0;

#[cfg(test)]
mod tests;
