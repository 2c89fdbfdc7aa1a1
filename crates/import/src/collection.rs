//! Requests that other tools keep: curl's command lines, recordings, collections, descriptions of APIs, lists of targets.
//!
//! Whoever wants to load an API has its requests somewhere already, and typing them again is where wrong tests come from. Each kind
//! of file is read into one [`Collection`], whose parts are those of the model of what users do, and from there on nobody asks where it
//! came from: it makes [work](Import), or one request of it is run as it stands. Going straight from each kind to each use was rejected: eight readers times two writers, each
//! with its own idea of a variable.
//!
//! Invariants: nothing is opened, asked or sent here; what cannot be carried over is listed by name and place, never dropped in
//! silence; no file takes memory or stack without end, and none makes reading panic.

mod concealed;
mod course;
mod curl;
mod described;
mod draft;
mod environment;
mod folders;
mod ghz;
mod guess;
mod insomnia;
mod jmeter;
mod openapi;
mod postman;
mod promise;
mod properties;
mod recorded_talk;
mod recording;
pub mod targets;
mod tree;
mod url;
pub mod urls;
mod words;
mod work;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::NonZeroU32;

use plan::setting::{EXCEPT, ONLY, PROPERTY, TARGET, URLS, VARIABLE};
use plan::template::{Piece, Template, Value};
use plan::work::{AnswerCheck, Auth, Body, Extraction, FieldValue, JOURNEY_NUMBER, LAST_SUCCEEDED, Resources, Talk, USER_NUMBER};
use plan::{Also, Draft, FORM_TYPE, Target, Wording};

pub use concealed::Placeholder;
pub use course::Course;
pub use described::Described;
pub use draft::Unfit;
pub use environment::Environment;
pub use guess::{Unread, guess};
pub use properties::properties;
use url::{filled, origin, placed_on, variable_name, with_origin_of};
pub use work::{Import, UNTIL_THROUGH, beside};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Command lines of curl.
    Curl,
    /// What a browser recorded.
    Har,
    /// A collection of Postman, version 2.
    Postman,
    /// A description of an API, version 3.
    OpenApi,
    /// An export of Insomnia, version 4 or 5.
    Insomnia,
    /// Targets of vegeta, as text.
    Vegeta,
    /// Targets of vegeta, as JSON.
    VegetaJson,
    /// A list of URLs, as siege reads it.
    Siege,
    /// A test plan of JMeter.
    Jmeter,
    /// Settings of ghz.
    Ghz,
}

/// Every kind: its name on the command line, and what it is.
pub const KINDS: &[(Kind, &str, &str)] = &[
    (Kind::Curl, "curl", "command lines of curl, as browsers copy them"),
    (Kind::Har, "har", "a HAR recording"),
    (Kind::Postman, "postman", "a Postman collection"),
    (Kind::OpenApi, "openapi", "an OpenAPI description"),
    (Kind::Insomnia, "insomnia", "an export of Insomnia"),
    (Kind::Vegeta, "vegeta", "targets of vegeta"),
    (Kind::VegetaJson, "vegeta-json", "targets of vegeta in JSON"),
    (Kind::Siege, "siege", "a list of URLs of siege"),
    (Kind::Jmeter, "jmeter", "a test plan of JMeter"),
    (Kind::Ghz, "ghz", "a file of settings of ghz"),
];

impl Kind {
    /// The kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| *kind)
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// What it is, in words.
    #[must_use]
    pub fn about(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., about)| about)
    }
}

/// Requests, in the order in which they stand in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Collection {
    /// What the file was.
    pub kind: Kind,
    /// What it calls itself; empty if it does not.
    pub name: String,
    /// Values that requests name, in the order of the file.
    pub variables: Vec<Variable>,
    /// What is sent.
    pub requests: Vec<Request>,
    /// What is not carried over.
    pub left_out: Vec<Omission>,
    /// Variables that requests name, and to which nobody gives a value.
    pub missing: Vec<String>,
    /// What users do with them, if that is more than one after the other.
    pub course: Option<Course>,
    /// How much load they are, as far as the file says so.
    pub load: Box<Draft>,
}

/// A value that requests name.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// As it may stand in a template.
    pub name: String,
    /// May name others.
    pub value: Template,
    /// Whether the file says that it is a secret.
    pub secret: bool,
}

/// One request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// What it is called; method and path where the file has no name for it.
    pub name: String,
    /// The folders it stands in, from the outside.
    pub group: Vec<String>,
    /// The method, such as `GET`.
    pub method: String,
    /// The whole URL.
    pub url: Template,
    /// Names and values, in order.
    pub headers: Vec<(String, Template)>,
    /// What follows the head.
    pub body: Body,
    /// How it authenticates, beyond its headers.
    pub auth: Option<Auth>,
    /// What its answer is held against.
    pub checks: Vec<AnswerCheck>,
    /// What is taken out of its answer.
    pub extractions: Vec<Extraction>,
    /// What of what its page names is loaded behind it.
    pub resources: Option<Resources>,
    /// What is said of its connection.
    pub connection: Connection,
    /// What it does over WebSocket, if that: the URL is that of its handshake, over HTTP; or that it calls a method of gRPC, whose URL is over HTTP too.
    pub talk: Option<Talk>,
    /// Where it stands, such as `line 3` or `Orders / Create`.
    pub place: String,
}

/// What a file says of the connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Connection {
    /// Any certificate is accepted.
    pub insecure: bool,
    /// Packed answers are asked for.
    pub compressed: bool,
    /// So many redirects are followed.
    pub follow: Option<u8>,
    /// Given up after this, such as `30s`.
    pub timeout: Option<String>,
    /// Opening a connection is given up after this.
    pub connect_timeout: Option<String>,
    /// Sent through this proxy.
    pub proxy: Option<String>,
    /// Sent from this address.
    pub source_ip: Option<String>,
    /// Sent through this socket.
    pub unix_socket: Option<String>,
    /// `HOST:PORT` in the place of the URL's.
    pub connect_to: Option<String>,
    /// Issuers that are trusted.
    pub cacert: Option<String>,
    /// The certificate shown.
    pub cert: Option<String>,
    /// Its key.
    pub key: Option<String>,
}

impl Connection {
    /// Takes out whatever leads to another server than the URL's, and tells what that was.
    fn leave_ways(&mut self) -> Vec<String> {
        let proxy = self.proxy.take().map(|proxy| plan::url_without_secrets(&proxy));
        let ways = [("proxy", proxy), ("Unix socket", self.unix_socket.take()), ("address", self.connect_to.take())];
        ways.into_iter().filter_map(|(what, way)| Some(format!("the {what} '{}'", way?))).collect()
    }
}

/// What is not carried over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Omission {
    /// What it is: `the option --retry`.
    pub what: String,
    /// Where it stands: `line 3`, `Orders / Create`.
    pub place: String,
    /// Why, and what to do where something can be done.
    pub why: Wording,
}

impl Omission {
    /// As one text: where it stands, what it is, and why.
    #[must_use]
    pub fn wording(&self) -> Wording {
        self.why.under(&self.what).under(&self.place)
    }
}

/// Why a file cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// In words.
    pub message: Wording,
    /// Line and column, from 1, where the file has them.
    pub at: Option<(usize, usize)>,
}

impl ReadError {
    pub(crate) fn new(message: impl Into<Wording>) -> Self {
        Self { message: message.into(), at: None }
    }

    pub(crate) fn at(line: usize, column: usize, message: impl Into<Wording>) -> Self {
        Self { message: message.into(), at: Some((line.max(1), column.max(1))) }
    }

    /// As one text, which begins with the place.
    #[must_use]
    pub fn wording(&self) -> Wording {
        self.at.map_or_else(|| self.message.clone(), |(line, column)| self.message.under(&format!("line {line}, column {column}")))
    }
}

/// What the user says about reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wishes {
    /// Values for variables, over those of the file and of the environment.
    pub variables: Vec<(String, String)>,
    /// Values of a test plan's properties; the last of a name holds.
    pub properties: Vec<(String, String)>,
    /// So many servers carry the load of a test plan out, each the whole of it; `None`: one.
    pub servers: Option<NonZeroU32>,
    /// The load comes at a rate that the user says: kinds of users are kinds of journeys then, as many of each as there are users.
    pub comes_at_a_rate: bool,
    /// Which environment's values hold.
    pub environment: Option<Environment>,
    /// Scheme, host and port of requests for which the file leaves these open.
    pub host: Option<String>,
    /// Servers that are asked besides, whosever they are.
    pub also: Also,
    /// Which server of an OpenAPI description: a number from 1, a URL, or a part of what describes it.
    pub server: Option<String>,
    /// Only requests whose name, folders, method and path hold one of these, whatever the case of letters.
    pub only: Vec<String>,
    /// Without requests that hold one of these.
    pub except: Vec<String>,
    /// What the file is called; empty where nobody knows.
    pub file: String,
    /// What the machine is called, and its address; empty where nobody knows.
    pub machine: (String, String),
    /// Variables that a test plan asks the environment for, with a default, and that are not there.
    pub unset: BTreeSet<String>,
    /// Files that the file includes, by the paths that it names: what they hold, or why they cannot be read.
    pub included: BTreeMap<String, Result<String, String>>,
}

/// A file is at most so large: it is read into memory whole.
pub const FILE_BYTES_MAX: u64 = 256 << 20;
/// So many requests are carried over, as many as a scenario has steps. A list of a million targets is one for `--urls`.
const REQUESTS_MAX: usize = 1000;
/// A file has at most so many variables, which are looked for one by one.
const VARIABLES_MAX: usize = 1000;
/// A request has at most so many headers, parameters and fields; servers take far fewer.
const PARTS_MAX: usize = 1000;
/// A URL is at most so long; servers take far shorter ones.
const URL_BYTES_MAX: usize = 64 * 1024;
/// So many things that are left out are listed.
const LEFT_OUT_MAX: usize = 1000;

impl Collection {
    /// The files that a file includes, and those that these include, by the paths that they name, as far as the wishes do not hold them.
    #[must_use]
    pub fn includes(kind: Kind, bytes: &[u8], wishes: &Wishes) -> Vec<String> {
        match (kind, utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))) {
            (Kind::Jmeter, Ok(text)) => jmeter::includes(text, wishes),
            _ => Vec::new(),
        }
    }

    /// The variables of the environment for which a file has a default.
    #[must_use]
    pub fn variables_with_default(kind: Kind, bytes: &[u8], wishes: &Wishes) -> BTreeSet<String> {
        match (kind, utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))) {
            (Kind::Jmeter, Ok(text)) => jmeter::variables_with_default(text, wishes),
            _ => BTreeSet::new(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is not of this kind, is broken, or holds nothing that can be sent.
    pub fn read(kind: Kind, bytes: &[u8], wishes: &Wishes) -> Result<Self, ReadError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut read = match kind {
            Kind::Curl => curl::read(utf8(bytes)?),
            Kind::Har => recording::read(bytes),
            Kind::Postman => postman::read(utf8(bytes)?),
            Kind::OpenApi => openapi::read(utf8(bytes)?, wishes.server.as_deref(), wishes.host.as_deref()),
            Kind::Insomnia => insomnia::read(utf8(bytes)?, wishes.environment.as_ref()),
            Kind::Vegeta => targets::read_text(utf8(bytes)?),
            Kind::VegetaJson => targets::read_json(utf8(bytes)?),
            Kind::Siege => urls::read(utf8(bytes)?),
            Kind::Jmeter => jmeter::read(utf8(bytes)?, wishes),
            Kind::Ghz => ghz::read(utf8(bytes)?),
        }?;
        if let Some(Environment::Named(name)) = wishes.environment.as_ref().filter(|_| kind != Kind::Insomnia) {
            return Err(ReadError::new(format!(
                "it has no environments of its own, such as '{}'; give the file that Postman exports of one",
                shortened(name)
            )));
        }
        if !wishes.properties.is_empty() && kind != Kind::Jmeter {
            return Err(ReadError::new(format!("it has no properties, which {PROPERTY} gives; give values with {VARIABLE}")));
        }
        let unwanted = read.settle(wishes);
        if read.requests.is_empty() && unwanted > 0 {
            return Err(ReadError::new(format!("of its requests ({unwanted}) none is left by {ONLY} and {EXCEPT}")));
        }
        if read.requests.is_empty() {
            // Of a request that is left out rather than of a part of one.
            let of_request = read.left_out.iter().find(|left| left.what.starts_with("the request"));
            let told =
                of_request.or_else(|| read.left_out.iter().find(|left| left.why.marked().contains(" sent"))).or(read.left_out.first());
            let why = told.map_or_else(String::new, |left| format!(" ({})", left.wording().marked()));
            let environments = read.environments();
            let has = if environments.is_empty() {
                String::new()
            } else {
                format!("; of its environments there are {}", environments.join(", "))
            };
            return Err(ReadError::new(format!("no request in it can be sent{why}{has}")));
        }
        Ok(read)
    }

    /// A command line of curl that a shell has taken apart already; the first word may be `curl` itself.
    ///
    /// # Errors
    /// If there is no URL in it.
    pub fn of_curl(words: &[String]) -> Result<Self, ReadError> {
        let mut read = curl::of_words(words)?;
        read.settle(&Wishes::default());
        if read.requests.is_empty() { Err(ReadError::new("the curl command names no URL")) } else { Ok(read) }
    }

    /// Everything that a scenario of it leaves out, each in a sentence with its place: what the file says and nobody here
    /// understands, and what a scenario cannot say.
    #[must_use]
    pub fn all_left_out(&self) -> Vec<Wording> {
        let endless = self.course.iter().flat_map(|course| &course.endless);
        self.left_out_of_ended().into_iter().chain(endless.map(Omission::wording)).collect()
    }

    /// The same of a load that is said how long it takes: what has no end of its own ends with it.
    #[must_use]
    pub fn left_out_of_ended(&self) -> Vec<Wording> {
        self.left_out.iter().map(Omission::wording).chain(self.work("").left_out.into_iter().map(Wording::from)).collect()
    }

    /// The environments of the file whose values do not hold, the first ones by their names.
    #[must_use]
    pub fn environments(&self) -> Vec<&str> {
        self.left_out.iter().filter_map(|left| left.what.strip_prefix("the environment ")).take(10).collect()
    }

    pub(crate) fn new(kind: Kind) -> Self {
        let (variables, requests, left_out, missing) = Default::default();
        Self { kind, name: String::new(), variables, requests, left_out, missing, course: None, load: Box::default() }
    }

    pub(crate) fn leave_out(&mut self, what: impl Into<String>, place: impl Into<String>, why: impl Into<Wording>) {
        self.left_out.push(Omission { what: what.into(), place: place.into(), why: why.into() });
    }

    /// What is the same for every kind: limits, names, values of variables, servers. Gives how many requests are not wanted.
    fn settle(&mut self, wishes: &Wishes) -> usize {
        if self.variables.len() > VARIABLES_MAX {
            let more = self.variables.len() - VARIABLES_MAX;
            self.variables.truncate(VARIABLES_MAX);
            self.leave_out(
                format!("{more} more variables"),
                "the end of the variables",
                format!("only the first {VARIABLES_MAX} are taken"),
            );
        }
        let mut named = HashSet::new();
        let (first, again) = std::mem::take(&mut self.variables).into_iter().partition(|variable| named.insert(variable.name.clone()));
        self.variables = first;
        for Variable { name, .. } in again {
            let why = "names are letters, digits and _ here, so two can become one; the first is taken: give the other another name";
            self.leave_out(format!("the variable '{name}' a second time"), "the variables", why);
        }
        if let Some(Environment::Values(values)) = &wishes.environment {
            values.iter().for_each(|value| self.set(value.clone()));
        }
        for (name, value) in &wishes.variables {
            self.set(Variable { name: variable_name(name), value: Template::fixed(value), secret: false });
        }
        if let Some(host) = &wishes.host {
            let named = self.requests.iter().filter_map(|request| match request.url.pieces() {
                // A part of the host or the scheme alone is none.
                [Piece::Value(Value::Variable(_)), Piece::Text(next), ..] if !next.starts_with(['/', '?', '#']) => None,
                [Piece::Value(Value::Variable(name)), ..] if !self.variables.iter().any(|variable| variable.name == *name) => {
                    Some(name.clone())
                }
                _ => None,
            });
            let open: HashSet<String> = named.collect();
            let value = Template::fixed(host.trim_end_matches('/'));
            open.into_iter().for_each(|name| self.set(Variable { name, value: value.clone(), secret: false }));
        }
        for request in &mut self.requests {
            if request.method.is_empty() {
                "GET".clone_into(&mut request.method);
            }
            // Tools write down an empty form for every request whose form was once looked at.
            if matches!(&request.body, Body::Multipart(fields) if fields.is_empty()) {
                request.body = Body::Empty;
            }
            request.url = with_origin_of(&request.url, &self.variables);
            if let Some(host) = wishes.host.as_ref().filter(|_| origin(&request.url).is_err()) {
                request.url = placed_on(&request.url, host, &self.variables);
            }
            if request.name.is_empty() {
                // Without the query, in which secrets stand as well.
                let path = request.path();
                let path = path.split_once('?').map_or_else(|| path.clone(), |(path, _)| path);
                request.name = format!("{} {}", request.method, path);
            }
        }
        self.look_at_headers();
        let holds = |request: &Request, pattern: &String| request.searched().contains(&pattern.to_lowercase());
        let found = self.requests.len();
        self.requests.retain(|request| {
            (wishes.only.is_empty() || wishes.only.iter().any(|pattern| holds(request, pattern)))
                && !wishes.except.iter().any(|pattern| holds(request, pattern))
        });
        let unwanted = found - self.requests.len();
        if self.requests.len() > REQUESTS_MAX {
            let more = self.requests.len() - REQUESTS_MAX;
            self.requests.truncate(REQUESTS_MAX);
            self.leave_out(
                format!("{more} more requests"),
                "the end of the file",
                format!("a scenario has at most {REQUESTS_MAX}; take some with {ONLY}, or give a list of URLs with {URLS}"),
            );
        }
        self.look_for_origins();
        self.look_for_variables();
        let mut seen = HashSet::new();
        self.left_out.retain(|left| seen.insert(left.clone()));
        if self.left_out.len() > LEFT_OUT_MAX {
            let more = self.left_out.len() - LEFT_OUT_MAX;
            self.left_out.truncate(LEFT_OUT_MAX);
            self.leave_out(format!("{more} more things"), "the whole file", format!("only the first {LEFT_OUT_MAX} are listed"));
        }
        unwanted
    }

    /// Leaves out the requests of which `why` knows a reason. What others take out of their answers is empty then.
    pub fn leave_out_requests(&mut self, why: impl Fn(&Request) -> Option<String>) {
        let (mut kept, mut extracted) = (Vec::new(), Vec::new());
        for request in std::mem::take(&mut self.requests) {
            match why(&request) {
                None => kept.push(request),
                Some(why) => {
                    extracted.extend(request.extractions.into_iter().map(|taken| taken.variable));
                    self.leave_out(
                        format!("the request to '{}'", shortened(&plan::url_without_secrets(&request.url.to_string()))),
                        request.place,
                        why,
                    );
                }
            }
        }
        self.requests = kept;
        for name in extracted {
            let is_known = self.variables.iter().any(|variable| variable.name == name)
                || self.requests.iter().any(|request| request.extractions.iter().any(|taken| taken.variable == name));
            if !is_known {
                self.variables.push(Variable { name, value: Template::default(), secret: false });
            }
        }
    }

    /// Gives a variable its value; what is told to be a secret stays one.
    fn set(&mut self, given: Variable) {
        match self.variables.iter_mut().find(|variable| variable.name == given.name) {
            Some(variable) => (variable.value, variable.secret) = (given.value, variable.secret || given.secret),
            None => self.variables.push(given),
        }
    }

    /// The servers that its requests go to, in their order, with how many there are for each.
    #[must_use]
    pub fn servers(&self) -> Vec<(Target, usize)> {
        let mut servers: Vec<(Target, usize)> = Vec::new();
        for (server, _) in self.requests.iter().filter_map(|request| origin(&request.url).ok()) {
            match servers.iter_mut().find(|(known, _)| known.same_origin(&server)) {
                Some((_, requests)) => *requests += 1,
                None => servers.push((server, 1)),
            }
        }
        servers
    }

    /// Sends every request to `target`, but for those of servers that are named besides. Ways to another server that the file knows are left
    /// out.
    pub fn send_to(&mut self, target: &Target, also: &Also) {
        let mut left = Vec::new();
        for request in &mut self.requests {
            if let Ok((origin, path)) = origin(&request.url)
                && !also.holds(&origin)
            {
                let mut url = Template::fixed(target.origin());
                url.append(path);
                request.url = url;
            }
            for what in request.connection.leave_ways() {
                left.push(Omission { what, place: request.place.clone(), why: format!("requests go to {TARGET} alone").into() });
            }
        }
        self.left_out.extend(left);
    }

    /// Leaves out what is asked of other sites than the first request is, and tells of which hosts how many are.
    ///
    /// A page asks many servers, and only one of them is the one that whoever loads it may load.
    pub fn keep_first_site(&mut self, also: &Also) -> Vec<(String, usize)> {
        let host =
            |request: &Request| origin(&request.url).map_or_else(|_| String::new(), |(target, _)| target.host().to_ascii_lowercase());
        let Some(first) = self.requests.first().map(host) else { return Vec::new() };
        let mut others: Vec<(String, usize)> = Vec::new();
        self.requests.retain(|request| {
            let is_named = *also != Also::Any && origin(&request.url).is_ok_and(|(target, _)| also.holds(&target));
            let host = host(request);
            if is_named || site(&host) == site(&first) {
                return true;
            }
            match others.iter_mut().find(|(known, _)| *known == host) {
                Some((_, count)) => *count += 1,
                None => others.push((host, 1)),
            }
            false
        });
        others.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        others
    }

    /// Headers that cannot be sent are left out.
    fn look_at_headers(&mut self) {
        let mut left = Vec::new();
        for request in &mut self.requests {
            if request.headers.len() > PARTS_MAX {
                request.headers.truncate(PARTS_MAX);
                let why = format!("a request has at most {PARTS_MAX}");
                left.push(Omission { what: "headers".to_owned(), place: request.place.clone(), why: why.into() });
            }
            let fields = match &mut request.body {
                Body::Form(fields) if fields.len() > PARTS_MAX => {
                    fields.truncate(PARTS_MAX);
                    true
                }
                Body::Multipart(fields) if fields.len() > PARTS_MAX => {
                    fields.truncate(PARTS_MAX);
                    true
                }
                _ => false,
            };
            if fields {
                let why = format!("a form has at most {PARTS_MAX}");
                left.push(Omission { what: "fields of the form".to_owned(), place: request.place.clone(), why: why.into() });
            }
            request.headers.retain(|(name, value)| {
                let is_name = name.len() <= 256 && name.bytes().all(is_token);
                let breaks = |part: &Piece| matches!(part, Piece::Text(text) if text.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f));
                if is_name && !value.pieces().iter().any(breaks) {
                    return true;
                }
                let why = if is_name { "its value has a control character in it" } else { "that is no name of a header" };
                left.push(Omission { what: format!("the header '{}'", shortened(name)), place: request.place.clone(), why: why.into() });
                false
            });
        }
        self.left_out.extend(left);
    }

    /// Requests that lead nowhere are left out.
    fn look_for_origins(&mut self) {
        let (mut kept, mut left) = (Vec::new(), Vec::new());
        for request in std::mem::take(&mut self.requests) {
            let why = match origin(&request.url) {
                Ok((_, path)) if path.to_string().len() > URL_BYTES_MAX => {
                    Wording::from(format!("its URL is longer than {URL_BYTES_MAX} bytes"))
                }
                Ok(_) => {
                    kept.push(request);
                    continue;
                }
                Err(why) => why,
            };
            left.push(Omission { what: format!("the request to '{}'", shortened(&request.url.to_string())), place: request.place, why });
        }
        self.requests = kept;
        self.left_out.extend(left);
    }

    /// Variables that requests name and nobody gives a value.
    fn look_for_variables(&mut self) {
        let (mut seen, mut extracted): (HashSet<String>, HashSet<&str>) = Default::default();
        let mut missing: Vec<(String, String)> = Vec::new();
        let mut valued: Vec<(usize, String)> = Vec::new();
        let set: HashSet<&str> = self.course.iter().flat_map(|course| course.assigned(&self.requests)).collect();
        // In the order in which they are sent: what is taken out of an answer has a value only afterwards.
        for request in &self.requests {
            let mut names: Vec<&str> = Vec::new();
            for text in request.texts() {
                text.each_value(&mut |value| names.extend(if let Value::Variable(name) = value { Some(name.as_str()) } else { None }));
            }
            let mut at = 0;
            while let Some(name) = names.get(at).copied() {
                at += 1;
                if !seen.insert(name.to_owned()) {
                    continue;
                }
                match self.variables.iter().position(|variable| variable.name == name) {
                    // Values name variables too.
                    Some(place) => {
                        names.extend(self.variables[place].value.variables());
                        valued.push((place, request.place.clone()));
                    }
                    None if extracted.contains(name) || set.contains(name) => {}
                    // Users have these by themselves, and only a file that says what users do means them.
                    None if self.course.is_some() && matches!(name, USER_NUMBER | JOURNEY_NUMBER | LAST_SUCCEEDED) => {}
                    None => missing.push((name.to_owned(), request.place.clone())),
                }
            }
            extracted.extend(request.extractions.iter().map(|taken| taken.variable.as_str()));
        }
        let mut endless: Vec<(String, String)> = Vec::new();
        for (place, request) in valued {
            let is_named = |name: &str| self.variables.iter().any(|variable| variable.name == name);
            if filled(&self.variables[place].value, &self.variables).variables().any(is_named) {
                self.variables[place].value = Template::default();
                endless.push((self.variables[place].name.clone(), request));
            }
        }
        for (name, place) in endless {
            self.leave_out(
                format!("the value of the variable '{name}'"),
                place,
                format!("it names itself, or is made of too many others, so it is empty; give it with {VARIABLE:#} {name}=VALUE"),
            );
        }
        for (name, place) in missing {
            self.leave_out(
                format!("the value of the variable '{name}'"),
                place,
                format!("the file gives it none, so it is empty; give it with {VARIABLE:#} {name}=VALUE"),
            );
            self.missing.push(name.clone());
            self.variables.push(Variable { name, value: Template::default(), secret: false });
        }
    }
}

impl Request {
    /// What stands behind scheme, host and port.
    #[must_use]
    pub fn path(&self) -> Template {
        origin(&self.url).map_or_else(|_| self.url.clone(), |(_, path)| path)
    }

    /// Every file that it sends.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let fields = if let Body::Multipart(fields) = &self.body { fields.as_slice() } else { &[] };
        let of_form = fields.iter().filter_map(|field| match &field.value {
            FieldValue::File { path, .. } => Some(path.as_str()),
            FieldValue::Text(_) => None,
        });
        let whole = if let Body::File(path) = &self.body { Some(path.as_str()) } else { None };
        whole.into_iter().chain(of_form)
    }

    /// Every text that may name a variable.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Template> {
        let mut texts: Vec<&Template> = vec![&self.url];
        texts.extend(self.headers.iter().map(|(_, value)| value));
        match &self.body {
            Body::Empty | Body::File(_) => {}
            Body::Text(text) | Body::Json(text) => texts.push(text),
            Body::Form(fields) => texts.extend(fields.iter().map(|(_, value)| value)),
            Body::Multipart(fields) => texts.extend(fields.iter().filter_map(|field| match &field.value {
                FieldValue::Text(text) => Some(text),
                FieldValue::File { .. } => None,
            })),
        }
        match &self.auth {
            None => {}
            Some(Auth::Basic { user, password } | Auth::Digest { user, password }) => texts.extend([user, password]),
            Some(Auth::Bearer(value) | Auth::Header(_, value) | Auth::Query(_, value)) => texts.push(value),
            Some(Auth::Aws(keys)) => {
                texts.extend([&keys.access_key, &keys.secret_key, &keys.region, &keys.service]);
                texts.extend(&keys.session_token);
            }
        }
        texts.into_iter()
    }

    /// The header with this name.
    pub(crate) fn header(&self, name: &str) -> Option<&Template> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Adds a header unless there is one of this name.
    pub(crate) fn header_if_none(&mut self, name: &str, value: impl Into<Template>) {
        if self.header(name).is_none() {
            self.headers.push((name.to_owned(), value.into()));
        }
    }

    /// Sends these fields as a form, whose type follows from that. A name twice, or one with a value in it, stands in a text.
    pub(crate) fn set_form(&mut self, fields: Vec<(Template, Template)>) {
        self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        let mut names = HashSet::new();
        let has_names = fields.iter().all(|(name, _)| name.plain().is_some_and(|name| names.insert(name.to_owned())));
        self.body = if fields.is_empty() {
            Body::Empty
        } else if has_names {
            Body::Form(fields.into_iter().map(|(name, value)| (name.fixed_text(), value)).collect())
        } else {
            self.headers.push(("Content-Type".to_owned(), FORM_TYPE.into()));
            Body::Text(draft::form_text(fields))
        };
    }

    /// Takes a header that a file lists; what loadline decides itself, or a connection does, is passed over.
    pub(crate) fn take_header(&mut self, name: &str, value: Template) {
        let name = name.trim();
        // The engine's affair: they follow from the body and the connection. Pseudo-headers of HTTP/2 are no headers.
        const OWN: [&str; 9] = [
            "content-length",
            "connection",
            "keep-alive",
            "proxy-connection",
            "transfer-encoding",
            "upgrade",
            "te",
            "expect",
            "http2-settings",
        ];
        if name.is_empty() || name.starts_with(':') || OWN.contains(&name.to_ascii_lowercase().as_str()) {
            return;
        }
        // One beyond the most, by which it is seen that there are more.
        let full = self.headers.len() > PARTS_MAX;
        match self.headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            // The same as two of them (RFC 9110 §5.3); of cookies there is one list (RFC 6265 §5.4).
            Some((known, before)) => {
                before.push(if known.eq_ignore_ascii_case("cookie") { "; " } else { ", " });
                before.append(value);
            }
            None if full => {}
            None => self.headers.push((name.to_owned(), value)),
        }
    }

    /// What `--only` and `--except` look at.
    fn searched(&self) -> String {
        format!("{} / {} / {} {}", self.group.join(" / "), self.name, self.method, self.url).to_lowercase()
    }
}

/// What is most likely one owner's of a host: its last two labels, or three below such as `co.uk`; an address as a whole.
fn site(host: &str) -> &str {
    if host.starts_with('[') || host.rsplit('.').next().is_some_and(|last| last.bytes().all(|letter| letter.is_ascii_digit())) {
        return host;
    }
    let dots: Vec<usize> = host.match_indices('.').map(|(at, _)| at).collect();
    let labels = match dots.as_slice() {
        [.., before, last] if last - before - 1 <= 3 && host.len() - last - 1 == 2 => 3,
        _ => 2,
    };
    if dots.len() < labels { host } else { &host[dots[dots.len() - labels] + 1..] }
}

/// `GET`, `M-SEARCH`: a token of RFC 9110 §5.6.2, as short as methods are.
pub(crate) fn is_method(text: &str) -> bool {
    !text.is_empty() && text.len() <= METHOD_BYTES_MAX && text.bytes().all(is_token)
}

/// A `tchar` of RFC 9110 §5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn utf8(bytes: &[u8]) -> Result<&str, ReadError> {
    std::str::from_utf8(bytes).map_err(|why| {
        let before = &bytes[..why.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        ReadError::at(line, column, "this is not text in UTF-8")
    })
}

/// The first word of a line, and what stands behind its blank, if the word is at most so long. A longer one means nothing, and is not
/// looked through to its end.
pub(crate) fn first_word(line: &str, bytes_max: usize) -> Option<(&str, &str)> {
    let beginning = &line[..line.floor_char_boundary(bytes_max + 1)];
    let at = beginning.find(char::is_whitespace)?;
    let blank = beginning[at..].chars().next().map_or(0, char::len_utf8);
    Some((&line[..at], &line[at + blank..]))
}

/// No method is longer.
pub(crate) const METHOD_BYTES_MAX: usize = 32;

/// The beginning of something long, for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LETTERS_MAX: usize = 60;
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(LETTERS_MAX + 1).collect();
    if line.chars().count() > LETTERS_MAX { line.chars().take(LETTERS_MAX).chain(['…']).collect() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_what_is_most_likely_one_owner_s() {
        for (host, expected) in [
            ("shop.example.com", "example.com"),
            ("example.com", "example.com"),
            ("localhost", "localhost"),
            ("api.shop.co.uk", "shop.co.uk"),
            ("shop.co.uk", "shop.co.uk"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(site(host), expected);
        }
    }

    #[test]
    fn what_a_page_asks_of_others_is_left_out_and_told() {
        let urls = [
            "https://www.shop.example/",
            "https://api.shop.example/a",
            "https://count.test/x",
            "https://cdn.test/y",
            "https://count.test/z",
            "https://other.test/named",
        ];
        let commands: String = urls.iter().map(|url| format!("curl {url}\n")).collect();
        let mut read = Collection::read(Kind::Curl, commands.as_bytes(), &Wishes::default()).unwrap();
        let also = Also::read(&["https://other.test".to_owned()], &mut Vec::new());
        assert_eq!(read.clone().keep_first_site(&Also::default()).len(), 3);
        assert_eq!(read.keep_first_site(&also), [("count.test".to_owned(), 2), ("cdn.test".to_owned(), 1)]);
        assert_eq!(read.requests.len(), 3);
    }
}
