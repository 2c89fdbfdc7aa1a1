//! A collection as work: its requests as the steps of one journey, each user one after the other.
//!
//! Requests of a recording repeat headers, logins and the server in each of them, and people go on with what was made: so what is common
//! to all is told from what is a request's own, and what no scenario can say is told by name. Requests were printed as a scenario's text
//! before, also where nobody was to read it, and understood from that again.
//!
//! Invariant: what is sent is what the collection says, or it is told.

use std::collections::{BTreeMap, BTreeSet};

use plan::template::Template;
use plan::work::{AnswerCheck, Body, Field, FieldValue, Item, Journey, Notes, Script, Step, Subject, Variable, Work};
use plan::{DataFile, Draft, FORM_TYPE, HttpVersion, PopulationDraft, Scheme, Setting, Spelling, Target};

use super::course::{self, Course};
use super::url::{filled, origin};
use super::{Collection, Connection, Placeholder, Request};

/// What an import gives: what users do, and the settings beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// What the file calls itself.
    pub name: Option<String>,
    /// The target, and what is said of the connection.
    pub settings: Draft,
    /// One journey of a step for each request, or what the file says that is done with them.
    pub work: Work,
    /// Kinds of users side by side, each with its journeys.
    pub populations: Vec<PopulationDraft>,
    /// How templates call the data files of the settings.
    pub files: Vec<String>,
    /// What no scenario can say, beyond what the collection leaves out itself.
    pub left_out: Vec<String>,
}

impl Collection {
    /// What users do who send its requests in order. Paths begin where `file` is; where it is in no folder, as they stand.
    #[must_use]
    pub fn work(&self, file: &str) -> Import {
        let common = Common::of(self, file);
        let mut settings = Draft { url: Some(common.target.absolute()), ..(*self.load).clone() };
        if let Some(first) = self.requests.first() {
            first.connection.settle(&mut settings);
            let Draft { cacert, cert, key, unix_socket, descriptors, proto, proto_path, .. } = &mut settings;
            for path in [cacert, cert, key, unix_socket, descriptors].into_iter().flatten().chain(proto).chain(proto_path) {
                *path = beside(file, path);
            }
        }
        let name = Some(self.name.clone()).filter(|name| !name.is_empty());
        if let Some(course) = &self.course {
            let work = self.directed(course, &common);
            let placed = |data: &DataFile| DataFile { path: beside(file, &data.path), ..data.clone() }.to_string();
            settings.data_file = course.data.iter().map(placed).collect();
            // JMeter speaks nothing else, and the server is to see what it saw.
            settings.http = (common.target.scheme() == Scheme::Https).then_some(Setting::Value(HttpVersion::V1));
            if course.ends_by_itself && course.endless.is_empty() {
                settings.duration = UNTIL_THROUGH.parse().ok();
            }
            let files = course.data.iter().map(|data| data.name.clone()).collect();
            return Import { name, settings, work, populations: course.populations.clone(), files, left_out: common.unsaid };
        }
        let mut items: Vec<Item> = Vec::new();
        for (request, name) in self.requests.iter().zip(names(&self.requests)) {
            let group = request.group.join(" / ");
            let step = Item::Step(Box::new(common.step(request, &name, &group)));
            match items.last_mut() {
                _ if group.is_empty() => items.push(step),
                Some(Item::Group { name, items }) if *name == group => items.push(step),
                _ => items.push(Item::Group { name: group, items: vec![step] }),
            }
        }
        let journey = Journey { name: name.clone().unwrap_or_else(|| "journey".to_owned()), weight: 1.0, items };
        let work = Work {
            variables: self.named_variables(),
            // Requests that bring cookies bring those that were written down.
            cookies: self.requests.iter().all(|request| request.header("cookie").is_none()),
            ..Work::of(vec![journey])
        };
        Import { name, settings, work, populations: Vec::new(), files: Vec::new(), left_out: common.unsaid }
    }

    /// The work of a file that says what users do with its requests.
    fn directed(&self, course: &Course, common: &Common<'_>) -> Work {
        let named: BTreeMap<&str, (&Request, String)> =
            self.requests.iter().zip(names(&self.requests)).map(|(request, name)| (request.place.as_str(), (request, name))).collect();
        let mut step = |mark: &Step| {
            let (request, name) = named.get(mark.name.as_str())?;
            let Step { encoding, cache, cookies, closes, timeout, failure_ends, may_fail, .. } = *mark;
            let (before, after) = (mark.before.clone(), mark.after.clone());
            Some(Step {
                before,
                after,
                encoding,
                cache,
                cookies,
                closes,
                timeout,
                failure_ends,
                may_fail,
                ..common.step(request, name, "")
            })
        };
        let mut of = |items: &Vec<Item>| {
            let mut items = course::filled(items.clone(), &mut step);
            place_files_of_scripts(&mut items, common.file);
            items
        };
        let (setup, teardown) = (of(&course.setup), of(&course.teardown));
        let journeys = course.journeys.iter().map(|journey| Journey { items: of(&journey.items), ..journey.clone() }).collect();
        let values = |variable: &super::Variable| Variable { name: variable.name.clone(), value: filled(&variable.value, &self.variables) };
        let variables = self.variables.iter().map(values).collect();
        let (cookies, each_place, skips_teardown) = (course.cookies, course.each_place, course.skips_teardown);
        Work { variables, keeps_variables: true, each_place, cookies, setup, teardown, skips_teardown, ..Work::of(journeys) }
    }

    /// What is told in a printed scenario: where it is from, which variables of the environment it needs, what is missing in it. `source` is
    /// the file, as it is shown.
    #[must_use]
    pub fn notes(&self, source: &str, placeholders: &[Placeholder], import: &Import) -> Notes {
        let mut top = vec![format!("From {source}: {}.", self.kind.about())];
        if !placeholders.is_empty() {
            top.extend([String::new(), "Secrets are not in this file. Before it is run, the environment must have".to_owned()]);
            top.extend(placeholders.iter().map(|Placeholder { name, what }| format!("  {name}  {what}")));
        }
        let left = self.left_out.iter().map(|left| left.wording().spelt(Spelling::Flags)).chain(import.left_out.iter().cloned());
        let left: Vec<String> = left.map(|left| format!("- {left}")).collect();
        if !left.is_empty() {
            top.extend([String::new(), "Not carried over:".to_owned()]);
            top.extend(left);
        }
        let cookies = "Requests bring the cookies that were written down. Without these, and this line, each user has its own.";
        Notes { top, defaults: if import.work.cookies { Vec::new() } else { vec![cookies.to_owned()] }, ..Notes::default() }
    }

    /// Those that requests name. What their values name may stand below them.
    fn named_variables(&self) -> Vec<Variable> {
        let is_named =
            |name: &str| self.requests.iter().any(|request| request.texts().any(|text| text.variables().any(|known| known == name)));
        let named = self.variables.iter().filter(|variable| is_named(&variable.name));
        named.map(|variable| Variable { name: variable.name.clone(), value: filled(&variable.value, &self.variables) }).collect()
    }
}

/// Files that scripts read stand beside the file.
fn place_files_of_scripts(items: &mut [Item], file: &str) {
    let place = |script: &mut Script| script.files.iter_mut().for_each(|(_, path)| *path = beside(file, path));
    for item in items {
        match item {
            Item::Script(script) => place(script),
            Item::Step(step) => step.before.iter_mut().chain(&mut step.after).for_each(place),
            _ => {}
        }
        item.parts_mut().into_iter().for_each(|items| place_files_of_scripts(items, file));
    }
}

/// Users who end by what they have done have this long for it.
pub const UNTIL_THROUGH: &str = "24h";

/// What all requests have in common.
struct Common<'a> {
    /// The file, beside which others are.
    file: &'a str,
    /// Where most of them go.
    target: Target,
    headers: Vec<(String, Template)>,
    /// Whether a step has one check of each kind.
    has_one_check_each: bool,
    unsaid: Vec<String>,
}

impl<'a> Common<'a> {
    fn of(collection: &Collection, file: &'a str) -> Self {
        let requests = &collection.requests;
        let mut origins: BTreeMap<String, usize> = BTreeMap::new();
        for request in requests {
            *origins.entry(server(request).absolute()).or_default() += 1;
        }
        let most = origins.values().max().copied();
        // Of several the first.
        let target = requests.iter().map(server).find(|server| origins.get(&server.absolute()).copied() == most).unwrap_or_else(nowhere);
        let stay_home = requests.iter().all(|request| server(request) == target);
        let headers = requests.first().map_or(&[][..], |first| &first.headers).iter().filter(|(name, _)| {
            // What is a secret is, under what all steps have, for the target alone.
            (!plan::is_secret(name) || stay_home) && !name.eq_ignore_ascii_case("content-type")
        });
        let shared = headers.filter(|header| requests.len() > 1 && requests.iter().all(|request| request.headers.contains(header)));
        let has_one_check_each = collection.course.is_none();
        let unsaid = unsaid(collection);
        Self { file, target, headers: shared.cloned().collect(), has_one_check_each, unsaid }
    }

    fn step(&self, request: &Request, name: &str, group: &str) -> Step {
        let (server, path) = (server(request), request.path());
        let is_whole = server != self.target || path.beginning().is_some_and(|path| path.starts_with("//"));
        let mut whole = Template::default();
        if is_whole {
            whole.push(server.absolute().trim_end_matches('/'));
        }
        whole.append(path);
        let (mut own, body) = request.sent(self.file);
        own.retain(|header| !self.headers.contains(header));
        let name = plan::url_without_secrets(name);
        let mut checks = request.checks.clone();
        checks.retain(|check| !is_unwritten(check));
        if self.has_one_check_each {
            // The first is the one that was written first.
            let mut kinds: BTreeSet<&'static str> = BTreeSet::new();
            checks.retain(|check| kinds.insert(check.subject.word()));
        }
        let name = if group.is_empty() { name } else { format!("{group} / {name}") };
        Step {
            elsewhere: is_whole.then_some(server),
            headers: self.headers.iter().cloned().chain(own).collect(),
            shared_secrets: self.headers.iter().map(|(name, _)| name.clone()).filter(|name| plan::is_secret(name)).collect(),
            body,
            auth: request.auth.clone(),
            extractions: request.extractions.clone(),
            judges_status: checks.iter().any(|check| check.subject == Subject::Status),
            checks,
            redirects: request.connection.follow.unwrap_or(0),
            resources: request.resources.clone(),
            talk: request.talk.clone(),
            ..Step::new(name, request.method.clone(), whole)
        }
    }
}

impl Request {
    /// Headers and body of a step that sends the same; who asks is not among them. Paths begin where `file` is.
    #[must_use]
    pub fn sent(&self, file: &str) -> (Vec<(String, Template)>, Body) {
        let (body, says_type) = body(self, file);
        let headers = self.headers.iter().filter(|(name, _)| !(says_type && name.eq_ignore_ascii_case("content-type")));
        (headers.cloned().collect(), body)
    }
}

/// What no scenario can say, each with its place.
fn unsaid(collection: &Collection) -> Vec<String> {
    let requests = &collection.requests;
    let mut unsaid = Vec::new();
    let Some(first) = requests.first() else { return unsaid };
    let without_follow = |connection: &Connection| Connection { follow: None, ..connection.clone() };
    for request in requests {
        if without_follow(&request.connection) != without_follow(&first.connection) {
            unsaid.push(format!(
                "{}: what is said of its connection: a load has one for all requests, here that of {}",
                request.place, first.place
            ));
        }
        if let Body::Multipart(fields) = &request.body {
            for (at, field) in fields.iter().enumerate() {
                if fields[..at].iter().any(|before| before.name == field.name) {
                    unsaid.push(format!("{}: the field '{}' a second time: a scenario has each name once", request.place, field.name));
                }
            }
        }
        for (at, check) in request.checks.iter().enumerate() {
            if collection.course.is_none() && request.checks[..at].iter().any(|other| other.subject == check.subject) {
                unsaid.push(format!("{}: a second check of the same kind: a scenario has one", request.place));
            }
            if is_unwritten(check) {
                unsaid.push(format!("{}: the check on the body: a check cannot hold {{{{", request.place));
            }
        }
    }
    unsaid
}

/// Whether a condition has braces that would be filled in for each answer, and are not meant so.
fn is_unwritten(check: &AnswerCheck) -> bool {
    check.against.is_none() && check.condition.contains("{{")
}

/// The server that a request goes to.
fn server(request: &Request) -> Target {
    origin(&request.url).map_or_else(|_| nowhere(), |(target, _)| target.with_path_and_query("/".to_owned()))
}

/// Of requests that lead nowhere, which no collection keeps.
fn nowhere() -> Target {
    "http://127.0.0.1/".parse().expect("it is a URL")
}

/// Reports know steps by their names, so each has one of its own.
fn names(requests: &[Request]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    requests
        .iter()
        .map(|request| {
            let plain: String = request.name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(120).collect();
            let times = seen.entry(format!("{} / {plain}", request.group.join(" / "))).or_default();
            *times += 1;
            if *times > 1 { format!("{plain} ({times})") } else { plain }
        })
        .collect()
}

/// A path that begins where a file is.
#[must_use]
pub fn beside(file: &str, path: &str) -> String {
    match file.rsplit_once('/') {
        Some((folder, _)) if !path.starts_with('/') => format!("{folder}/{path}"),
        _ => path.to_owned(),
    }
}

/// A body as a step has it, and whether its type follows from that.
fn body(request: &Request, file: &str) -> (Body, bool) {
    let content_type = request.header("content-type").and_then(Template::plain).unwrap_or_default();
    let plain_type = content_type.split(';').next().unwrap_or_default().trim();
    match &request.body {
        Body::Text(text) if plain_type.eq_ignore_ascii_case(JSON_TYPE) && is_json(text) => {
            (Body::Json(text.clone()), content_type.eq_ignore_ascii_case(JSON_TYPE))
        }
        Body::Multipart(fields) => {
            // A name that comes again cannot be said, and has been told.
            let first = fields.iter().enumerate().filter(|(at, field)| fields[..*at].iter().all(|before| before.name != field.name));
            let moved = first.map(|(_, field)| {
                let value = match &field.value {
                    FieldValue::File { path, media_type } => FieldValue::File { path: beside(file, path), media_type: media_type.clone() },
                    text @ FieldValue::Text(_) => text.clone(),
                };
                Field { name: field.name.clone(), value, headers: field.headers.clone() }
            });
            // Of a type without a boundary, the rest stays: what stands between parts is drawn anew.
            let is_open = content_type.contains(';') && !content_type.to_ascii_lowercase().contains("boundary=");
            (Body::Multipart(moved.collect()), !(is_open && plain_type.eq_ignore_ascii_case("multipart/form-data")))
        }
        Body::Form(_) => (request.body.clone(), content_type.eq_ignore_ascii_case(FORM_TYPE)),
        Body::Json(_) => (request.body.clone(), content_type.eq_ignore_ascii_case(JSON_TYPE)),
        Body::File(path) => (Body::File(beside(file, path)), false),
        Body::Empty | Body::Text(_) => (request.body.clone(), false),
    }
}

const JSON_TYPE: &str = "application/json";

/// Whether a text is JSON once values stand in it, as numbers or in strings.
fn is_json(text: &Template) -> bool {
    let marked = text.marked(|_| "0".to_owned());
    marked.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(&marked).is_ok()
}
