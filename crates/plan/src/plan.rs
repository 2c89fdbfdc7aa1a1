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

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::filling::{self, MISTAKES_MAX, Route, told};
use crate::population;
use crate::secret::{self, REDACTED};
use crate::setting::*;
use crate::template::{Piece, Template, Value, is_templated};
use crate::{
    Also, Amount, Body, Bounds, Contents, DataFile, Draft, Filling, FormPart, FormValue, HostPort, Load, LoadRecord, Mix, Nanos, Part,
    PlanError, PlanErrors, Population, PopulationDraft, Replay, Request, Resolved, RowOrder, Scheme, Secrets, Setting, Sources, Spacing,
    Spelling, Stages, Target, Templating, Timetable, Turns, Users, Warmup, Wording, base64,
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
    pub(crate) warmup: Warmup,
    pub(crate) seed: u64,
    pub(crate) threads: NonZeroU32,
    pub(crate) processes: Option<NonZeroU32>,
    pub(crate) connection: Connection,
    pub(crate) script: Option<ScriptFile>,
    pub(crate) scenario: Option<ScenarioFile>,
    pub(crate) also: Also,
    pub(crate) filling: Filling,
    pub(crate) replay: Option<Replay>,
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

/// An HTTP proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Where it listens.
    pub at: HostPort,
    /// The value of Proxy-Authorization, if it wants one.
    pub authorization: Option<String>,
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
        let listed = self.filling.mix.iter().flat_map(|mix| &mix.routes).map(|route| &route.target);
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
            warmup: Warmup::Lasting(Nanos::ZERO),
            threads: NonZeroU32::MIN,
            processes: None,
            ..self.clone()
        }
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
    pub const fn filling(&self) -> &Filling {
        &self.filling
    }

    /// Whether requests differ, or their answers are looked at: there are templates, a list of URLs, or something is expected of answers.
    /// Those of a scenario are its own affair.
    #[must_use]
    pub fn is_filled_in(&self) -> bool {
        self.scenario.is_none()
            && (self.filling.mix.is_some()
                || !self.filling.expects.is_empty()
                || (self.filling.braces == Templating::Template && self.texts().any(|(_, text)| is_templated(text))))
    }

    /// Everything that may be a template, and the setting it comes from: path and query, values of headers, body or form.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        texts(&self.target, &self.request, &self.filling)
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
        u64::from(self.connections_max().get()) * u64::from(self.connections_each().get())
    }

    /// How many connections to the target these parts of it have open at once at most.
    #[must_use]
    pub fn open_connections_of(&self, parts: &[Part]) -> u64 {
        let load = |part: &Part| self.populations().get(part.population as usize).map_or(&self.load, |population| &population.load);
        let at_once: u64 = parts.iter().map(|part| part.share.part(load(part).connections_max().get().into())).sum();
        at_once * u64::from(self.connections_each().get())
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
        let Population { requests, iterations, .. } = population;
        // Each arrival is a journey.
        let (requests, iterations) = match population.load {
            Load::Open { .. } => (requests.iter().chain(iterations).min().copied(), None),
            Load::Closed { .. } | Load::Mixed(_) => (*requests, *iterations),
        };
        Self { load: population.load_in_run(), requests, iterations, seed, ..self.clone() }
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

/// Sent unless overridden or removed.
const DEFAULT_HEADERS: [(&str, &str); 2] = [("User-Agent", concat!("loadline/", env!("CARGO_PKG_VERSION"))), ("Accept", "*/*")];

const CONNECTIONS_DEFAULT: NonZeroU32 = NonZeroU32::new(50).unwrap();
/// Enough for 20,000/s on a server that takes half a second; what one process can open by default on most machines.
const OPEN_CONNECTIONS_MAX: NonZeroU32 = NonZeroU32::new(10_000).unwrap();
const DURATION_DEFAULT: Nanos = Nanos::from_secs(10);
const TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(30);
const CONNECT_TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(5);
/// A connection is a file, and Linux does not count further (`fs.nr_open` has a ceiling of 2^30).
const CONNECTIONS_MAX: u32 = 10_000_000;
/// Every thread holds its own buffers and histograms; more than this is a slip of the finger.
pub const THREADS_MAX: u32 = 1024;
/// Each has threads, buffers and histograms of its own.
const POPULATIONS_MAX: usize = 100;
/// The arithmetic of arrivals has nanoseconds; beyond this, several fall on the same one.
const RATE_MAX: f64 = 100_000_000.0;

/// Collects mistakes while a draft is taken apart.
struct Reading {
    errors: PlanErrors,
}

impl Reading {
    fn wrong(&mut self, setting: impl Into<&'static str>, message: impl Into<Wording>, help: impl Into<Wording>) {
        self.errors.push(PlanError::new(setting, message, help));
    }

    fn value<T>(&mut self, setting: SettingName, given: Option<Setting<T>>, help: impl fmt::Display) -> Option<T> {
        match given? {
            Setting::Value(value) => Some(value),
            Setting::Wrong { text, why } => {
                self.wrong(setting, format!("{setting:#} '{text}' {why}"), help.to_string());
                None
            }
        }
    }
}

/// Of a load of which nothing was read: that names no files, or a saved one that is only looked at.
impl TryFrom<Draft> for Plan {
    type Error = PlanErrors;

    fn try_from(draft: Draft) -> Result<Self, PlanErrors> {
        Self::try_from(Resolved::from(draft))
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(LoadRecord::deserialize(deserializer)?).map_err(|errors| D::Error::custom(errors.spelt(Spelling::KEYS)))
    }
}

/// Of a load of which nothing was read: a saved one that is only looked at.
impl TryFrom<LoadRecord> for Plan {
    type Error = PlanErrors;

    fn try_from(record: LoadRecord) -> Result<Self, PlanErrors> {
        Self::try_from(Resolved::from(record))
    }
}

impl TryFrom<Resolved> for Plan {
    type Error = PlanErrors;

    fn try_from(resolved: Resolved) -> Result<Self, PlanErrors> {
        let Resolved { draft, sources, contents, environment: variables, secrets } = resolved;
        let Sources {
            script_sha256,
            urls_sha256,
            urls_at_url,
            data_file_sha256,
            scenario_sha256,
            scenario_text,
            scenario_name,
            connections_each,
            environment,
            environment_sha256,
            variable_names,
            populations,
            replay,
        } = sources;
        let Draft {
            url,
            connections,
            duration,
            requests,
            rate,
            arrivals,
            seed,
            pause,
            warmup,
            threads,
            processes,
            method,
            header,
            data,
            json,
            form,
            user,
            bearer,
            cookie,
            script,
            sandbox,
            script_arguments,
            urls,
            data_file,
            expect,
            data_order,
            data_end,
            no_templates,
            scenario,
            also_target,
            follow,
            timeout,
            connect_timeout,
            no_keepalive,
            connect_to,
            source_ip,
            unix_socket,
            proxy,
            no_preflight,
            insecure,
            cacert,
            cert,
            key,
            sni,
            tls_version,
        } = draft;
        let mut reading = Reading { errors: PlanErrors::default() };
        let r = &mut reading;

        if scenario.is_some() && scenario_text.is_some() {
            r.wrong(SCENARIO, "a scenario is given as a file and as text", "leave one of them out");
        }
        if scenario.is_some() || scenario_text.is_some() {
            for (given, flag) in [
                (script.is_some(), SCRIPT),
                (urls.is_some(), URLS),
                (data.is_some(), DATA),
                (json.is_some(), JSON),
                (!form.is_empty(), FORM),
                (method.is_some() && method.as_deref() != Some("GET"), METHOD),
                (no_templates, NO_TEMPLATES),
                (!expect.is_empty(), EXPECT),
            ] {
                if given {
                    r.wrong(flag, format!("{flag} and a scenario contradict: what is sent stands in its steps"), "leave one of them out");
                }
            }
            if rate.is_some() && requests.is_some() {
                r.wrong(
                    REQUESTS,
                    format!("{REQUESTS} and the {RATE} of a scenario contradict: the rate starts journeys, each with as many requests as it takes"),
                    format!("end the load with {DURATION}"),
                );
            }
        }
        let connections_each = connections_each.unwrap_or(NonZeroU32::MIN);
        let scenario = match (scenario, scenario_text) {
            (Some(path), _) => {
                let said = SaidOfVariables { environment, environment_sha256, names: variable_names };
                Some(ScenarioFile { path, name: scenario_name, sha256: scenario_sha256, text: None, said, connections_each })
            }
            (None, Some(text)) => {
                let (path, said) = (SCENARIO_TEXT.to_owned(), SaidOfVariables::default());
                Some(ScenarioFile { path, name: scenario_name, sha256: None, text: Some(text), said, connections_each })
            }
            (None, None) => None,
        };

        let braces = if no_templates { Templating::Text } else { Templating::Template };
        let files = read_data_files(r, &data_file, data_file_sha256);
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let mut wrong = Vec::new();
        let also = Also::read(&also_target, &mut wrong);
        wrong.into_iter().for_each(|error| r.errors.push(error));
        let list = urls.map(|path| {
            let lines = contents.text(&path).map(|text| text.lines().map(str::to_owned).collect());
            UrlsWords { path, sha256: urls_sha256, lines, elsewhere: urls_at_url.then_some(&also) }
        });
        let (target, mix) = read_targets(r, url.as_deref(), list, &names, braces);
        let seed = r.value(SEED, seed, format_args!("give a whole number, such as {SEED:#} 1")).unwrap_or(1);

        let ending = Ending { duration, requests };
        let words = LoadWords { connections, rate, arrivals, pause, warmup };
        let (load, duration, requests, warmup) = if populations.is_empty() {
            read_load(r, ending, words)
        } else {
            if scenario.is_none() {
                r.wrong(
                    "populations",
                    "populations go through the journeys of a scenario, and there is none",
                    format!("name it with {SCENARIO}"),
                );
            }
            read_populations(r, ending, words, populations)
        };
        let threads = r.value(THREADS, threads, format_args!("give a whole number, such as {THREADS:#} 2")).unwrap_or(NonZeroU32::MIN);
        if threads.get() > THREADS_MAX {
            r.wrong(
                THREADS,
                format!("{THREADS:#} {threads} is more than {THREADS_MAX}"),
                format!("one thread a core is enough; leave {THREADS} out"),
            );
        }

        let processes = r.value(PROCESSES, processes, format_args!("give a whole number, such as {PROCESSES:#} 4"));
        if let Some(processes) = processes.filter(|processes| *processes > threads) {
            r.wrong(
                PROCESSES,
                format!("{PROCESSES:#} {processes} is more than {THREADS:#} {threads}, and each process has a thread at least"),
                format!("give {THREADS:#} {processes}, or leave {THREADS} out"),
            );
        }

        let body = read_body(r, data, json.clone(), &form, seed);
        let method = read_method(r, method, &body);
        let credentials = target.as_ref().and_then(|target| target.credentials().cloned());
        let headers = read_headers(
            r,
            &HeaderWords { header, user, bearer, cookie, credentials, json: json.is_some(), braces },
            target.as_ref(),
            &body,
        );

        let timeout = r.value(TIMEOUT, timeout, format_args!("give a time, such as {TIMEOUT:#} 30s")).unwrap_or(TIMEOUT_DEFAULT);
        let connect_timeout = r
            .value(CONNECT_TIMEOUT, connect_timeout, format_args!("give a time, such as {CONNECT_TIMEOUT:#} 5s"))
            .unwrap_or(CONNECT_TIMEOUT_DEFAULT);
        for (setting, value) in [(TIMEOUT, timeout), (CONNECT_TIMEOUT, connect_timeout)] {
            if value == Nanos::ZERO {
                r.wrong(setting, format!("{setting} is zero, so every request would fail"), format!("give a time, such as {setting:#} 5s"));
            }
        }
        let connect_to =
            r.value(CONNECT_TO, connect_to, format_args!("give the address to connect to, such as {CONNECT_TO:#} 10.0.0.7:8080"));
        let source_ips: Vec<IpAddr> = source_ip
            .into_iter()
            .filter_map(|ip| r.value(SOURCE_IP, Some(ip), format_args!("give an address of this machine, such as {SOURCE_IP:#} 10.0.0.2")))
            .collect();
        let follow = r.value(FOLLOW, follow, format_args!("give a whole number up to 255, such as {FOLLOW:#} 5")).unwrap_or(0);
        let order = r.value(DATA_ORDER, data_order, format_args!("give {DATA_ORDER:#} in-order, random or per-user"));
        let end = r.value(DATA_END, data_end, format_args!("give {DATA_END:#} wrap, stop or error"));
        for (setting, given) in [(DATA_ORDER, order.is_some()), (DATA_END, end.is_some())] {
            if given && files.is_empty() {
                r.wrong(setting, format!("{setting} is about data files, and there is none"), format!("name one with {DATA_FILE}"));
            }
        }
        let rows = (order.unwrap_or_default(), end.unwrap_or_default());
        let proxy = read_proxy(r, proxy);
        if let Some(path) = &unix_socket {
            for (given, flag) in [(connect_to.is_some(), CONNECT_TO), (proxy.is_some(), PROXY), (!source_ips.is_empty(), SOURCE_IP)] {
                if given {
                    r.wrong(UNIX_SOCKET, format!("{UNIX_SOCKET:#} {path} and {flag} both say how to connect"), "leave one of them out");
                }
            }
        }
        if connect_to.is_some() && proxy.is_some() {
            r.wrong(CONNECT_TO, format!("{CONNECT_TO} and {PROXY} both say where to connect"), "leave one of them out");
        }

        let tls_version = r.value(TLS_VERSION, tls_version, format_args!("give {TLS_VERSION:#} 1.2 or 1.3"));
        let identity = match (cert, key) {
            (Some(cert), Some(key)) => Some(Identity { cert, key }),
            (None, None) => None,
            (Some(_), None) => {
                r.wrong(CERT, format!("{CERT} is given without its private key"), format!("give the key's PEM file with {KEY}"));
                None
            }
            (None, Some(_)) => {
                r.wrong(KEY, format!("{KEY} is given without its certificate"), format!("give the certificate's PEM file with {CERT}"));
                None
            }
        };
        if insecure && cacert.is_some() {
            r.wrong(INSECURE, format!("{INSECURE} accepts any certificate, and {CACERT} says whom to trust"), "leave one of them out");
        }
        let over_tls = target.as_ref().is_none_or(|target| target.scheme() == Scheme::Https) || follow > 0 || scenario.is_some();
        for (given, flag) in [
            (insecure, INSECURE),
            (cacert.is_some(), CACERT),
            (identity.is_some(), CERT),
            (sni.is_some(), SNI),
            (tls_version.is_some(), TLS_VERSION),
        ] {
            if given && !over_tls {
                r.wrong(flag, format!("{flag} is about TLS, and the URL is http://"), format!("use https://, or leave {flag} out"));
            }
        }

        let plain = target.as_ref().is_some_and(|target| target.scheme() == Scheme::Http);
        let script = read_script(r, ScriptWords { script, sandbox, script_arguments, script_sha256 });
        if script.is_some() {
            if follow > 0 {
                r.wrong(FOLLOW, format!("{FOLLOW} and {SCRIPT} contradict: a script sees every answer itself"), "leave one of them out");
            }
            if proxy.is_some() && plain {
                r.wrong(
                    PROXY,
                    format!("{PROXY} and {SCRIPT} on plain http contradict: a proxy wants whole URLs, which scripts do not write"),
                    "leave one of them out, or measure https, which goes through a tunnel",
                );
            }
        }

        let request = Request { method, headers, body };
        // What is no text is sent as it is.
        let text_of = |held: &[u8]| std::str::from_utf8(held).ok().filter(|text| is_templated(text)).unwrap_or_default().to_owned();
        let text_of_file = match &request.body {
            Body::File(path) => contents.get(path).map(|held| if braces == Templating::Template { text_of(held) } else { String::new() }),
            Body::Empty | Body::Bytes(_) | Body::Form { .. } => None,
        };
        let filling = Filling {
            braces,
            files,
            order: rows.0,
            end: rows.1,
            mix,
            body: text_of_file,
            expects: expect,
            environment: variables,
            concealed: secrets,
        };
        if scenario.is_none() {
            read_templates(r, target.as_ref(), &request, &filling);
        }
        if !filling.expects.is_empty() && (script.is_some() || replay.is_some()) {
            let what = if replay.is_some() { "a replay".to_owned() } else { SCRIPT.to_string() };
            r.wrong(
                EXPECT,
                format!("{EXPECT} and {what} contradict: that looks at the answers itself"),
                format!("leave {EXPECT} out, and hold the whole with {CHECK}, such as {CHECK:#} 'failed < 1%'"),
            );
        }
        let differs = filling.mix.is_some()
            || braces == Templating::Template
                && target.as_ref().is_some_and(|target| texts(target, &request, &filling).any(|(_, text)| is_templated(text)));
        if differs && script.is_some() {
            let (setting, what, help) = if filling.mix.is_some() {
                (URLS, URLS.to_string(), "leave one of them out".to_owned())
            } else {
                let help = format!("leave one of them out, or send {{{{ as it is with {NO_TEMPLATES}");
                (NO_TEMPLATES, "a template ({{…}})".to_owned(), help)
            };
            r.wrong(setting, format!("{SCRIPT} and {what} contradict: a script chooses the requests itself"), help);
        }
        let servers = filling.mix.iter().flat_map(|mix| &mix.routes).map(|route| &route.target);
        if follow > 0 && target.as_ref().is_some_and(|target| servers.into_iter().any(|other| !other.same_origin(target))) {
            r.wrong(
                FOLLOW,
                format!("{FOLLOW} and a list of URLs of several servers contradict: redirects begin at the one server of the plan"),
                format!("leave {FOLLOW} out, or make a list and a run for each server"),
            );
        }
        if filling.order == RowOrder::PerUser && load.as_ref().is_some_and(Load::is_open) {
            r.wrong(
                DATA_ORDER,
                format!("{DATA_ORDER:#} per-user is about users, and {RATE} sends requests without any"),
                format!("leave out {RATE}, or take rows in-order or random"),
            );
        }

        match (target, load) {
            (Some(target), Some(load)) if reading.errors.is_empty() => Ok(Self {
                // They are in a header.
                target: target.without_credentials(),
                request,
                filling,
                replay,
                load,
                duration,
                requests,
                iterations: None,
                warmup,
                seed,
                threads,
                processes,
                connection: Connection {
                    timeout,
                    connect_timeout,
                    keepalive: if no_keepalive { Keepalive::CloseEach } else { Keepalive::Reuse },
                    connect_to,
                    source_ips,
                    unix_socket,
                    proxy,
                    follow,
                    preflight: if no_preflight { Preflight::Skip } else { Preflight::Connect },
                    tls: Tls {
                        verification: if insecure { Verification::Off } else { Verification::On },
                        cacert,
                        identity,
                        sni,
                        version: tls_version,
                    },
                },
                script,
                scenario,
                also,
                contents,
            }),
            _ => Err(reading.errors),
        }
    }
}

struct ScriptWords {
    script: Option<String>,
    sandbox: bool,
    script_arguments: Vec<String>,
    script_sha256: Option<String>,
}

fn read_script(r: &mut Reading, words: ScriptWords) -> Option<ScriptFile> {
    let ScriptWords { script, sandbox, script_arguments, script_sha256 } = words;
    let Some(path) = script else {
        if sandbox {
            r.wrong(
                SANDBOX,
                format!("{SANDBOX} is about a script, and there is none"),
                format!("name one with {SCRIPT}, or leave {SANDBOX} out"),
            );
        }
        if let Some(word) = script_arguments.first() {
            r.wrong(
                SCRIPT,
                format!("the words after -- ('{word}' …) are for a script, and there is none"),
                format!("name one with {SCRIPT}, or leave them out"),
            );
        }
        return None;
    };
    if path.is_empty() {
        r.wrong(SCRIPT, format!("{SCRIPT} names no file"), format!("give a Lua file, such as {SCRIPT:#} requests.lua"));
        return None;
    }
    let confinement = if sandbox { Confinement::Sandbox } else { Confinement::None };
    Some(ScriptFile { path, arguments: script_arguments, confinement, sha256: script_sha256 })
}

struct UrlsWords<'a> {
    path: String,
    sha256: Option<String>,
    lines: Option<Vec<String>>,
    /// Where whole URLs may go if not to the URL's server; `None`: to their own.
    elsewhere: Option<&'a Also>,
}

fn read_data_files(r: &mut Reading, data_file: &[String], sha256: Vec<String>) -> Vec<DataFile> {
    let mut files: Vec<DataFile> = Vec::new();
    let mut sha256 = sha256.into_iter();
    for text in data_file {
        let known = sha256.next();
        match DataFile::named(text) {
            Ok(file) if files.iter().any(|other| other.name == file.name) => r.wrong(
                DATA_FILE,
                format!("two data files are called '{}'", file.name),
                format!("give one another name, as in {}2={}", file.name, file.path),
            ),
            Ok(file) => files.push(DataFile { sha256: known, ..file }),
            Err(error) => r.errors.push(error),
        }
    }
    files
}

/// Where requests go: the URL, the list, or a list whose lines begin at the URL.
fn read_targets(
    r: &mut Reading,
    url: Option<&str>,
    list: Option<UrlsWords<'_>>,
    files: &[&str],
    braces: Templating,
) -> (Option<Target>, Option<Mix>) {
    let is_needed = list.as_ref().is_none_or(|list| list.lines.is_none());
    let base = match url {
        None if is_needed => {
            r.wrong("url", "no URL is given", "say where to send requests, such as http://127.0.0.1:8080/healthz");
            None
        }
        None => None,
        Some(url) => match filling::target(url, files, braces) {
            Ok(target) => Some(target),
            Err(mistakes) => {
                mistakes.into_iter().for_each(|(why, help)| r.wrong("url", format!("the URL '{url}' {why}"), help));
                return (None, None);
            }
        },
    };
    let Some(UrlsWords { path, sha256, lines, elsewhere }) = list else { return (base, None) };
    let at_url = elsewhere.is_some();
    // A plan that was saved has the path alone, until its list is read again.
    let Some(lines) = lines else { return (base, Some(Mix { path, sha256, at_url, routes: Vec::new(), turns: Turns::InOrder })) };
    match filling::routes(&path, &lines, base.as_ref(), files, braces) {
        Ok((mut routes, turns)) => {
            if let (Some(also), Some(base)) = (elsewhere, &base) {
                for route in routes.iter_mut().filter(|route| !also.holds(&route.target)) {
                    route.target = base.clone().with_path_and_query(route.target.path_and_query().to_owned());
                }
            }
            let credentials = read_credentials(r, base.as_ref(), &routes);
            let first = routes.first().map(|route| route.target.clone().with_path_and_query("/".to_owned()));
            let base = base.or(first).map(|base| base.with_credentials(credentials));
            (base, Some(Mix { path, sha256, at_url, routes, turns }))
        }
        Err(mistakes) => {
            mistakes.into_iter().for_each(|mistake| r.errors.push(mistake));
            // No further complaint that there is no URL.
            (base, None)
        }
    }
}

/// The user and password of a list's URLs: one server's, since they are sent with every request.
fn read_credentials(r: &mut Reading, base: Option<&Target>, routes: &[Route]) -> Option<(String, String)> {
    let targets = || base.into_iter().chain(routes.iter().map(|route| &route.target));
    let with = targets().find(|target| target.credentials().is_some())?;
    if let Some(other) = targets().find(|target| !target.same_origin(with)) {
        let (server, other) = (with.authority(), other.authority());
        r.wrong(
            URLS,
            format!("the URLs of {URLS} have a user and password for {server}, and lead to {other} too"),
            format!("give {USER:#} NAME:PASSWORD, without them in the URLs, if every server may have it; else a list for each server"),
        );
    } else if targets().any(|target| target.credentials().is_some_and(|own| Some(own) != with.credentials())) {
        r.wrong(
            URLS,
            format!("the URLs of {URLS} have several users"),
            format!("give one of them with {USER:#} NAME:PASSWORD, or a list for each user"),
        );
    }
    with.credentials().cloned()
}

/// Everything that may be a template.
pub(crate) fn texts<'a>(target: &'a Target, request: &'a Request, filling: &'a Filling) -> impl Iterator<Item = (&'static str, &'a str)> {
    let headers = request.headers.iter().map(|(_, value)| ("header", value.as_str()));
    let (bytes, parts): (Option<&[u8]>, &[FormPart]) = match &request.body {
        Body::Empty => (None, &[]),
        Body::File(_) => (filling.body.as_ref().map(String::as_bytes), &[]),
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

/// Complains of every mistake in the templates of headers and body; those of URLs were read with them.
fn read_templates(r: &mut Reading, target: Option<&Target>, request: &Request, filling: &Filling) {
    if filling.braces == Templating::Text {
        if !filling.files.is_empty() {
            r.wrong(
                DATA_FILE,
                format!("{DATA_FILE} is for templates, and {NO_TEMPLATES} says that there are none"),
                "leave one of them out",
            );
        }
        return;
    }
    let before = r.errors.0.len();
    let files: Vec<&str> = filling.files.iter().map(|file| file.name.as_str()).collect();
    let mut used: Vec<String> = Vec::new();
    let mut read = |r: &mut Reading, setting: &'static str, what: String, text: &str, is_body: bool| {
        if !is_templated(text) {
            return;
        }
        let template = match Template::parse(text, &files) {
            Ok(template) => template,
            Err(mistakes) => {
                // A file of another kind has a mistake in each of its lines.
                for (why, help) in mistakes.iter().take(MISTAKES_MAX).map(|mistake| told(mistake, text)) {
                    let is_file = is_body && matches!(request.body, Body::File(_));
                    let help =
                        if is_file { format!("{}; or send the file as it is with {NO_TEMPLATES}", help.marked()).into() } else { help };
                    r.wrong(setting, format!("{what} {why}"), help);
                }
                return;
            }
        };
        template.each_value(&mut |value| match value {
            Value::Body if is_body => {
                r.wrong(setting, format!("{what} holds {{{{body}}}}, which is itself"), "use it in a header or the URL");
            }
            Value::Column { file, .. } => used.push(file.clone()),
            _ => {}
        });
    };
    for (name, value) in &request.headers {
        if is_templated(value) && matches!(name.to_ascii_lowercase().as_str(), "content-length" | "transfer-encoding") {
            r.wrong(HEADER, format!("the header {name} cannot be a template: it follows from the body"), "leave it out");
            continue;
        }
        read(r, "header", format!("the header {name}"), value, false);
    }
    match &request.body {
        Body::Empty => {}
        Body::File(path) => {
            if let Some(text) = &filling.body {
                read(r, "data", format!("the file '{path}' of the body"), text, true);
            }
        }
        Body::Bytes(bytes) => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                read(r, "data", "the body".to_owned(), text, true);
            }
        }
        Body::Form { parts, .. } => {
            for part in parts {
                if let FormValue::Text(text) = &part.value {
                    read(r, "form", format!("the field '{}' of the form", part.name), text, true);
                }
            }
        }
    }
    let routes = filling.mix.iter().flat_map(|mix| &mix.routes).map(|route| &route.target);
    for target in routes.chain(target) {
        read(r, "url", "the URL".to_owned(), target.path_and_query(), false);
    }
    // In a plan that was saved, until its files are read again.
    let unread =
        filling.mix.as_ref().is_some_and(|mix| mix.routes.is_empty()) || matches!(request.body, Body::File(_)) && filling.body.is_none();
    if r.errors.0.len() > before || target.is_none() || unread {
        return;
    }
    for DataFile { name, path, .. } in filling.files.iter().filter(|file| !used.contains(&file.name)) {
        r.wrong(
            DATA_FILE,
            format!("no template takes anything from {DATA_FILE:#} {path}"),
            format!("write {{{{{name}.COLUMN}}}} in the URL, a header or the body, or leave it out"),
        );
    }
}

struct Ending {
    duration: Option<Setting<Nanos>>,
    requests: Option<Setting<NonZeroU64>>,
}

struct LoadWords {
    connections: Option<Setting<Users>>,
    rate: Option<Setting<Timetable>>,
    arrivals: Option<Setting<Spacing>>,
    pause: Option<Setting<crate::Pause>>,
    warmup: Option<Setting<Warmup>>,
}

type Loaded = (Option<Load>, Option<Nanos>, Option<NonZeroU64>, Warmup);

fn read_load(r: &mut Reading, ending: Ending, words: LoadWords) -> Loaded {
    let before = r.errors.0.len();
    let is_course = matches!(&words.connections, Some(Setting::Wrong { text, .. }) if text.contains([' ', ',']));
    let help = if is_course {
        format!("give a number, or stages: {CONNECTIONS:#} '0 to 50 for 1m, 50 for 5m'")
    } else {
        format!("give at least one, such as {CONNECTIONS:#} 50")
    };
    let connections = r.value(CONNECTIONS, words.connections, help);
    if let Some(connections) = connections.as_ref().filter(|connections| connections.peak() > CONNECTIONS_MAX) {
        r.wrong(
            CONNECTIONS,
            format!("{CONNECTIONS:#} {connections} is more than any machine can open"),
            format!("give at most {CONNECTIONS_MAX}"),
        );
    }
    let duration = r.value(DURATION, ending.duration, format_args!("give a time, such as {DURATION:#} 30s"));
    if duration == Some(Nanos::ZERO) {
        r.wrong(DURATION, format!("{DURATION:#} 0s measures nothing"), format!("give a time, such as {DURATION:#} 30s"));
    }
    let requests = r.value(REQUESTS, ending.requests, format_args!("give at least one, such as {REQUESTS:#} 1000"));
    let rate = r.value(
        RATE,
        words.rate,
        format_args!("give a rate such as {RATE:#} 500/s, or stages: {RATE:#} '0/s to 500/s for 1m, 500/s for 5m'"),
    );
    let arrivals = r.value(ARRIVALS, words.arrivals, format_args!("give {ARRIVALS:#} poisson or {ARRIVALS:#} even"));
    let pause = r.value(PAUSE, words.pause, format_args!("give a time or a range, such as {PAUSE:#} 200ms or {PAUSE:#} 100ms..300ms"));
    let warmup = r
        .value(WARMUP, words.warmup, format_args!("give a time, such as {WARMUP:#} 5s, or {WARMUP:#} auto"))
        .unwrap_or(Warmup::Lasting(Nanos::ZERO));
    if let Some(timetable) = &rate {
        if let Some(pause) = pause {
            r.wrong(
                PAUSE,
                format!("{PAUSE:#} {pause} is between a user's requests, and {RATE} sends whether users wait or not"),
                format!("leave out {PAUSE} or {RATE}"),
            );
        }
        if timetable.peak().as_per_second() == 0.0 {
            r.wrong(RATE, format!("{RATE:#} {timetable} sends nothing"), format!("give a rate above 0, such as {RATE:#} 100/s"));
        }
        if timetable.peak().as_per_second() > RATE_MAX {
            r.wrong(RATE, format!("{RATE:#} {timetable} is more than any machine can send"), "give at most 100M/s");
        }
    }
    if r.errors.0.len() > before {
        return (None, None, None, warmup);
    }

    let connections = match connections {
        Some(users) if users.peak() == 0 => {
            r.wrong(
                CONNECTIONS,
                format!("{CONNECTIONS:#} {users} sends nothing"),
                format!("give a number above 0, such as {CONNECTIONS:#} 50"),
            );
            return (None, None, None, warmup);
        }
        Some(users) if rate.is_some() && !users.is_one_number() => {
            let why = format!("{CONNECTIONS:#} {users} is about users who wait for their answers, and a rate sends without any");
            r.wrong(CONNECTIONS, why, format!("give the most connections at once, such as {CONNECTIONS:#} 200, or leave the rate out"));
            return (None, None, None, warmup);
        }
        connections => connections,
    };
    let Some(timetable) = rate else {
        if let Some(arrivals) = arrivals {
            r.wrong(
                ARRIVALS,
                format!("{ARRIVALS:#} {arrivals} is given without a rate"),
                format!("give the rate with {RATE}, or leave {ARRIVALS} out"),
            );
        }
        let users = connections.unwrap_or_else(|| {
            let by_requests = requests.map_or(u64::MAX, NonZeroU64::get);
            NonZeroU32::new(u32::try_from(by_requests).unwrap_or(u32::MAX))
                .map_or(CONNECTIONS_DEFAULT, |most| most.min(CONNECTIONS_DEFAULT))
                .into()
        });
        if let Some(requests) = requests.filter(|requests| requests.get() < u64::from(users.peak()) && users.is_one_number()) {
            r.wrong(
                REQUESTS,
                format!("{REQUESTS:#} {requests} is fewer than {CONNECTIONS:#} {users}, so some connections would never send"),
                format!("give at least {REQUESTS:#} {users}, or at most {CONNECTIONS:#} {requests}"),
            );
        }
        if users.is_one_number() {
            let duration = duration.or(if requests.is_none() { Some(DURATION_DEFAULT) } else { None });
            return (Some(Load::Closed { users, pause }), duration, requests, warmup);
        }
        let (users, duration) = fit_stages(r, CONNECTIONS, users, duration, requests.is_some());
        look_at_warmup(r, CONNECTIONS, ("number", "0"), &users, warmup);
        return (Some(Load::Closed { users, pause }), duration, requests, warmup);
    };

    let (timetable, duration) = fit_stages(r, RATE, timetable, duration, requests.is_some());
    look_at_warmup(r, RATE, ("rate", "0/s"), &timetable, warmup);
    let load = Load::Open {
        timetable,
        spacing: arrivals.unwrap_or(Spacing::Poisson),
        connections_max: connections.map_or(OPEN_CONNECTIONS_MAX, |connections| connections.most()),
    };
    (Some(load), duration, requests, warmup)
}

/// Loads side by side. One that says neither how long it is there nor how long its stages take is there until the end of the run.
fn read_populations(r: &mut Reading, ending: Ending, words: LoadWords, drafts: Vec<PopulationDraft>) -> Loaded {
    let before = r.errors.0.len();
    for (given, flag) in [(words.arrivals.is_some(), ARRIVALS), (words.pause.is_some(), PAUSE), (ending.requests.is_some(), REQUESTS)] {
        if given {
            r.wrong(
                flag,
                format!("{flag} and the populations of the scenario contradict: each population has a load of its own"),
                format!("leave {flag} out, or change the populations in the scenario"),
            );
        }
    }
    if drafts.len() > POPULATIONS_MAX {
        let why = format!("the scenario has {} populations, and each has threads of its own", drafts.len());
        r.wrong("populations", why, format!("give at most {POPULATIONS_MAX}"));
    }
    let warmup = r
        .value(WARMUP, words.warmup, format_args!("give a time, such as {WARMUP:#} 5s, or {WARMUP:#} auto"))
        .unwrap_or(Warmup::Lasting(Nanos::ZERO));
    let whole = r.value(DURATION, ending.duration, format_args!("give a time, such as {DURATION:#} 30s"));
    let time = |r: &mut Reading, name: &str, key: &str, given: Option<Setting<Nanos>>| match given {
        Some(Setting::Value(time)) => Some(time),
        Some(Setting::Wrong { text, why }) => {
            r.wrong("populations", format!("population '{name}': {key} '{text}' {why}"), "give a time, such as 30s");
            None
        }
        None => None,
    };
    let mut timed = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let start_after = time(r, &draft.name, "start_after", draft.start_after.clone()).unwrap_or(Nanos::ZERO);
        let lasting = time(r, &draft.name, "duration", draft.duration.clone());
        let of_stages = match (&draft.rate, &draft.connections) {
            (Some(Setting::Value(rate)), _) => rate.length(),
            (None, Some(Setting::Value(users))) => users.length(),
            _ => None,
        };
        let own_end = lasting.or(of_stages).map(|lasting| start_after.plus(lasting));
        timed.push((draft, start_after, own_end));
    }
    let last_start = timed.iter().map(|(_, start_after, _)| *start_after).max().unwrap_or(Nanos::ZERO);
    let last_end = timed.iter().filter_map(|(_, _, end)| *end).max();
    let is_endless = timed.iter().any(|(_, _, end)| end.is_none());
    let run = match (whole, last_end) {
        (Some(whole), Some(last)) if whole > last && !is_endless => {
            r.wrong(
                DURATION,
                format!("the last population ends after {last}, but {DURATION} says {whole}"),
                format!("leave {DURATION} out, or leave a population's duration out to let it last to the end"),
            );
            last
        }
        (Some(whole), _) => whole,
        (None, Some(last)) if last > last_start => last,
        (None, _) => last_start.plus(DURATION_DEFAULT),
    };
    let mut populations: Vec<Population> = Vec::with_capacity(timed.len());
    for (draft, start_after, own_end) in timed {
        let PopulationDraft { name, journeys, connections, rate, arrivals, pause, requests, iterations, start_after: _, duration: _ } =
            draft;
        if populations.iter().any(|other| other.name == name) {
            r.wrong("populations", format!("two populations are called '{name}'"), "give each a name of its own");
        }
        if start_after >= run {
            let why = format!("population '{name}' begins after {start_after}, and the run ends after {run}");
            r.wrong("populations", why, "let it begin earlier, or the run last longer");
            continue;
        }
        let lasting = own_end.unwrap_or(run).min(run).since(start_after);
        let (noted, keys) = (r.errors.0.len(), if rate.is_some() { Spelling::KEYS } else { Spelling::KEYS_OF_USERS });
        let ending = Ending { duration: Some(Setting::Value(lasting)), requests };
        let (load, _, requests, _) = read_load(r, ending, LoadWords { connections, rate, arrivals, pause, warmup: None });
        for error in &mut r.errors.0[noted..] {
            error.message = Wording::from(error.message.spelt(keys)).under(&format!("population '{name}'"));
            error.help = error.help.spelt(keys).into();
        }
        let iterations = match iterations {
            Some(Setting::Wrong { text, why }) => {
                r.wrong("populations", format!("population '{name}': iterations '{text}' {why}"), "give at least one, such as 100");
                None
            }
            Some(Setting::Value(iterations)) => Some(iterations),
            None => None,
        };
        let Some(load) = load else { continue };
        if let (Load::Closed { users, .. }, Some(iterations)) = (&load, iterations)
            && iterations.get() < u64::from(users.peak())
            && users.is_one_number()
        {
            let why =
                format!("population '{name}': iterations {iterations} is fewer than users {users}, so some would never begin a journey");
            r.wrong("populations", why, format!("give at least {users} iterations, or at most {iterations} users"));
        }
        populations.push(Population { name, journeys, load, requests, iterations, start_after, duration: lasting });
    }
    if warmup == Warmup::Found
        && let Some(changing) = populations.iter().find(|population| !population.is_constant(run))
    {
        r.wrong(
            WARMUP,
            format!("{WARMUP:#} auto looks for where the run becomes steady, and population '{}' changes over time", changing.name),
            format!("give a time, such as {WARMUP:#} 10s"),
        );
    }
    let users = r.value(CONNECTIONS, words.connections, format_args!("give a number, such as {CONNECTIONS:#} 50"));
    let rate = r.value(RATE, words.rate, format_args!("give a rate such as {RATE:#} 500/s"));
    if let (Some(users), Some(_)) = (&users, &rate) {
        let why = format!("{CONNECTIONS:#} {users} and {RATE} contradict: either makes all populations of the scenario larger or smaller");
        r.wrong(CONNECTIONS, why, "leave one of them out; the most connections at once stand in each population");
    }
    if r.errors.0.len() == before {
        match population::scale(&mut populations, users.as_ref(), rate.as_ref()) {
            Ok(()) => look_at_sums(r, &populations),
            Err(error) => r.errors.push(error),
        }
    }
    let is_right = r.errors.0.len() == before;
    (is_right.then_some(Load::Mixed(populations)), Some(run), None, warmup)
}

/// Complains of populations that are too much together.
fn look_at_sums(r: &mut Reading, populations: &[Population]) {
    let (mut users, mut rate) = (0_u64, 0.0);
    for population in populations {
        match &population.load {
            Load::Closed { users: own, .. } => users += u64::from(own.peak()),
            Load::Open { timetable, .. } => rate += timetable.peak().as_per_second(),
            Load::Mixed(_) => {}
        }
    }
    if users > u64::from(CONNECTIONS_MAX) {
        let why = format!("the populations have {users} users in all, more than any machine can open connections for");
        r.wrong(CONNECTIONS, why, format!("give at most {CONNECTIONS_MAX} in all"));
    }
    if rate > RATE_MAX {
        r.wrong(RATE, format!("the populations have {rate}/s in all, more than any machine can send"), "give at most 100M/s in all");
    }
}

/// Complains of a warm-up that stages do not allow. `words` are what one value is called, and the value of nothing.
fn look_at_warmup<V: Amount>(r: &mut Reading, setting: SettingName, words: (&str, &str), stages: &Stages<V>, warmup: Warmup) {
    let (noun, zero) = words;
    if warmup == Warmup::Found && !stages.is_constant() {
        r.wrong(
            WARMUP,
            format!("{WARMUP:#} auto looks for where the run becomes steady, and the stages of {setting} never are"),
            format!("give a time, such as {WARMUP:#} 10s, or one {noun}"),
        );
    }
    if matches!(warmup, Warmup::Lasting(time) if time > Nanos::ZERO) && stages.at(Nanos::ZERO).number() == 0.0 {
        r.wrong(
            WARMUP,
            format!("{WARMUP:#} {warmup} runs at the first {noun} of {setting}, which is {zero}"),
            format!("leave {WARMUP} out: a ramp from {zero} warms up by itself"),
        );
    }
}

/// Brings the stages' lengths and the duration together: stages with lengths are the duration.
fn fit_stages<V: Amount>(
    r: &mut Reading,
    setting: SettingName,
    timetable: Stages<V>,
    duration: Option<Nanos>,
    counted: bool,
) -> (Stages<V>, Option<Nanos>) {
    if let Some(zero) = timetable.stages().iter().position(|stage| stage.length == Some(Nanos::ZERO)) {
        r.wrong(setting, format!("{setting} stage {} takes no time", zero + 1), "give it a length, or leave it out");
    }
    if let Some(length) = timetable.length() {
        return match duration {
            Some(shorter) if shorter < length => (timetable.until(shorter), Some(shorter)),
            Some(longer) if longer > length => {
                r.wrong(
                    DURATION,
                    format!("the stages of {setting} take {length}, but {DURATION} says {longer}"),
                    format!("leave {DURATION} out, or leave out the last stage's length to let it last for the rest"),
                );
                (timetable, Some(length))
            }
            _ => (timetable, Some(length)),
        };
    }
    let fixed = timetable.stages().iter().filter_map(|stage| stage.length).fold(Nanos::ZERO, Nanos::plus);
    let total = duration.or(if counted { None } else { Some(fixed.plus(DURATION_DEFAULT)) });
    let rest = total.map_or(Nanos::NEVER, |total| total.since(fixed));
    let mut stages = timetable.stages().to_vec();
    let last = stages.last_mut().expect("a timetable has a stage");
    if rest == Nanos::ZERO {
        r.wrong(
            DURATION,
            format!(
                "the first stages of {setting} take {fixed}, so nothing of {DURATION:#} {} is left for the last",
                total.unwrap_or_default()
            ),
            format!("give a longer {DURATION}"),
        );
    } else if last.from != last.to && total.is_none() {
        let why = format!("{setting} goes from {} to {} without saying how long", last.from, last.to);
        r.wrong(setting, why, "add its length, as in 'for 1m'");
    }
    last.length = Some(rest);
    (Stages::new(stages), total)
}

fn read_body(r: &mut Reading, data: Option<String>, json: Option<String>, form: &[String], seed: u64) -> Body {
    let given: Vec<String> = [(data.is_some(), DATA), (json.is_some(), JSON), (!form.is_empty(), FORM)]
        .iter()
        .filter(|g| g.0)
        .map(|g| g.1.to_string())
        .collect();
    if given.len() > 1 {
        r.wrong(DATA, format!("{} {} give the body", given.join(" and "), both_or_all(given.len())), "keep one of them");
    }
    if !form.is_empty() {
        let parts = form.iter().filter_map(|field| read_form_part(r, field)).collect();
        // Random enough not to occur in a file, and the same every time the plan is run.
        let mut random = crate::Random::new(seed, 2);
        let boundary = format!("loadline-{:016x}{:016x}", random.between(0, u64::MAX - 1), random.between(0, u64::MAX - 1));
        return Body::Form { boundary, parts };
    }
    match data.or(json) {
        None => Body::Empty,
        Some(text) => match text.strip_prefix('@') {
            Some("") => {
                r.wrong(DATA, "a body of '@' names no file", "write @FILE, or @- for standard input");
                Body::Empty
            }
            Some(path) => Body::File(path.to_owned()),
            None => Body::Bytes(text.into_bytes()),
        },
    }
}

fn both_or_all(count: usize) -> &'static str {
    if count == 2 { "both" } else { "all" }
}

fn read_form_part(r: &mut Reading, field: &str) -> Option<FormPart> {
    let Some((name, value)) = field.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        r.wrong(FORM, format!("{FORM:#} '{field}' is not a field"), "write name=value, or name=@FILE to upload");
        return None;
    };
    if name.contains(['"', '\r', '\n']) {
        r.wrong(FORM, format!("{FORM:#} '{}' has a quote or line break in its name", field.escape_debug()), "give a plain name");
        return None;
    }
    let value = match value.strip_prefix('@') {
        None => FormValue::Text(value.to_owned()),
        Some(file) => {
            let (path, media_type) = file.split_once(";type=").unwrap_or((file, crate::FILE_TYPE));
            FormValue::File { path: path.to_owned(), media_type: media_type.to_owned() }
        }
    };
    Some(FormPart { name: name.to_owned(), value })
}

fn read_method(r: &mut Reading, method: Option<String>, body: &Body) -> String {
    let Some(method) = method else {
        return if *body == Body::Empty { "GET" } else { "POST" }.to_owned();
    };
    if method.is_empty() || !method.bytes().all(is_token) {
        r.wrong(METHOD, format!("{METHOD:#} '{}' is not an HTTP method", method.escape_debug()), "give a word such as GET or POST");
    } else if method == "CONNECT" {
        r.wrong(METHOD, format!("{METHOD:#} CONNECT opens a tunnel and has no answer to measure"), "give another method");
    }
    method
}

/// A `tchar` of RFC 9110 §5.6.2.
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

struct HeaderWords {
    header: Vec<String>,
    user: Option<String>,
    bearer: Option<String>,
    cookie: Vec<String>,
    credentials: Option<(String, String)>,
    json: bool,
    braces: Templating,
}

fn read_headers(r: &mut Reading, words: &HeaderWords, target: Option<&Target>, body: &Body) -> Vec<(String, String)> {
    let mut given: Vec<(String, String)> = Vec::new();
    let mut removed: Vec<String> = Vec::new();
    for line in &words.header {
        // As in curl: 'Name;' sends the header with no value, 'Name:' does not send it.
        let (name, value) = match (line.split_once(':'), line.strip_suffix(';')) {
            (Some((name, value)), _) => (name, Some(value.trim()).filter(|value| !value.is_empty())),
            (None, Some(name)) => (name, Some("")),
            (None, None) => {
                r.wrong(HEADER, format!("{HEADER:#} '{}' has no colon", line.escape_debug()), "write 'Name: value'");
                continue;
            }
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            r.wrong(
                HEADER,
                format!("{HEADER:#} '{}' has no valid name", line.escape_debug()),
                "write 'Name: value', the name without spaces",
            );
        } else if value.is_some_and(|value| value.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)) {
            r.wrong(HEADER, format!("{HEADER:#} '{}' has a control character in its value", line.escape_debug()), "leave it out");
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            r.wrong(HEADER, format!("{HEADER:#} Transfer-Encoding contradicts the Content-Length that loadline sends"), "leave it out");
        } else if let Some(value) = value {
            given.push((name.to_owned(), value.to_owned()));
        } else {
            removed.push(name.to_ascii_lowercase());
        }
    }
    let has = |name: &str| given.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)) || removed.iter().any(|gone| gone == name);

    let mut headers: Vec<(String, String)> = Vec::new();
    let host = given.iter().position(|(name, _)| name.eq_ignore_ascii_case("host"));
    match (host, target) {
        (Some(at), _) => headers.push(given[at].clone()),
        (None, Some(target)) if !has("host") => headers.push(("Host".to_owned(), target.authority())),
        _ => {}
    }
    let accept = if words.json { "application/json" } else { "*/*" };
    for (name, value) in DEFAULT_HEADERS {
        if !has(&name.to_ascii_lowercase()) {
            headers.push((name.to_owned(), if name == "Accept" { accept } else { value }.to_owned()));
        }
    }
    let authorization: Vec<(&'static str, String, String)> = [
        words.user.as_ref().map(|user| (USER.flag(), USER.to_string(), basic(user, words.braces))),
        words.bearer.as_ref().map(|token| (BEARER.flag(), BEARER.to_string(), format!("Bearer {token}"))),
        words.credentials.as_ref().map(|(user, password)| {
            ("url", "the URL's user".to_owned(), format!("Basic {}", base64(format!("{user}:{password}").as_bytes())))
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    if authorization.len() > 1 || (authorization.len() == 1 && has("authorization")) {
        let mut names: Vec<String> = authorization.iter().map(|(_, name, _)| name.clone()).collect();
        if has("authorization") {
            names.push(format!("{HEADER:#} Authorization"));
        }
        r.wrong(
            authorization[0].0,
            format!("{} {} say how to authenticate", names.join(" and "), both_or_all(names.len())),
            "keep one of them",
        );
    } else if let Some((setting, name, value)) = authorization.into_iter().next() {
        if value.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            r.wrong(setting, format!("{name} has a control character in it"), "leave it out");
        }
        headers.push(("Authorization".to_owned(), value.trim_end().to_owned()));
    }
    if !words.cookie.is_empty() {
        for cookie in &words.cookie {
            if !cookie.contains('=') || cookie.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
                r.wrong(COOKIE, format!("{COOKIE:#} '{}' is not a cookie", cookie.escape_debug()), "write name=value");
            }
        }
        if has("cookie") {
            r.wrong(COOKIE, format!("{COOKIE} and {HEADER:#} Cookie both give cookies"), "keep one of them");
        }
        headers.push(("Cookie".to_owned(), words.cookie.join("; ").trim().to_owned()));
    }
    let typed = has("content-type");
    headers.extend(given.into_iter().enumerate().filter(|(at, _)| Some(*at) != host).map(|(_, header)| header));
    let content_type = match body {
        Body::Empty => None,
        Body::Form { boundary, .. } => Some(format!("multipart/form-data; boundary={boundary}")),
        Body::Bytes(_) | Body::File(_) if words.json => Some("application/json".to_owned()),
        Body::Bytes(_) | Body::File(_) => Some(crate::FORM_TYPE.to_owned()),
    };
    if let Some(content_type) = content_type.filter(|_| !typed) {
        headers.push(("Content-Type".to_owned(), content_type));
    }
    headers
}

/// The value of Authorization for `name:password`, which may be a template.
fn basic(user: &str, braces: Templating) -> String {
    if braces == Templating::Template && is_templated(user) {
        // Any name may be that of a data file here; a wrong one is found in what is made.
        return match Template::parse_any(user) {
            Ok(template) if template.is_fixed() => {
                let text: String = template.pieces().iter().map(|piece| if let Piece::Text(text) = piece { text } else { "" }).collect();
                format!("Basic {}", base64(text.as_bytes()))
            }
            Ok(template) => format!("Basic {{{{{}}}}}", Value::Base64(template.pieces().to_vec())),
            // The mistake is told with the header.
            Err(_) => format!("Basic {user}"),
        };
    }
    format!("Basic {}", base64(user.as_bytes()))
}

fn read_proxy(r: &mut Reading, proxy: Option<String>) -> Option<Proxy> {
    let text = proxy?;
    let url = if text.contains("://") { text.clone() } else { format!("http://{text}") };
    match url.parse::<Target>() {
        Ok(target) if target.scheme() == Scheme::Http => Some(Proxy {
            at: HostPort { host: target.host().to_owned(), port: target.port() },
            authorization: target.credentials().map(|(user, password)| match user.as_str() {
                REDACTED => REDACTED.to_owned(),
                _ => format!("Basic {}", base64(format!("{user}:{password}").as_bytes())),
            }),
        }),
        Ok(_) => {
            r.wrong(PROXY, format!("{PROXY:#} '{text}' is reached over TLS, which loadline does not do"), "give an http:// proxy");
            None
        }
        Err(why) => {
            r.wrong(PROXY, format!("{PROXY:#} '{text}' {why}"), "give a proxy such as http://10.0.0.1:3128");
            None
        }
    }
}

#[cfg(test)]
mod tests;
