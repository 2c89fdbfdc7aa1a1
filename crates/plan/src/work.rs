//! The work: what users do, as data.
//!
//! Journeys of steps come from many kinds of files (scenarios, recordings, collections of other tools), and all that is done with them
//! asks for one model: it is carried out, printed, looked through for secrets and servers. It was a part of the reader of one of these
//! kinds; then every other kind had to be printed as that one to be read again.
//!
//! Invariant: nothing of a file's form is in it, and nothing that is compiled: two of them can be compared, and are the same if they
//! do the same.

mod answer;
mod expression;
mod extent;
mod pacing;
mod page;
mod pick;
mod script;
mod talk;

use std::num::NonZeroU32;

use crate::template::{Piece, Template, Value};
use crate::{Charset, Nanos, Target};

pub use answer::{Along, AnswerCheck, AnswerPart, Extraction, Kind, Subject, Where, Which};
pub use expression::{CODINGS, DIGESTS, Expression, Finding, Function, Operator, SELECTORS};
pub use extent::Extent;
pub use pacing::{Pace, PacedUsers, Pacing};
pub use page::{Cache, Resources};
pub use pick::{Amount, EXPONENTIAL_MEANS_MAX, Think, Weights};
pub use script::{Script, is_variable_name, spelled_name, variable_name};
pub use talk::{Reply, Talk};

/// The work: what users do, and what is done around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Set at the beginning of each journey, or of a user's first.
    pub variables: Vec<Variable>,
    /// Whether a user's variables keep their values from journey to journey.
    pub keeps_variables: bool,
    /// Whether users wait for each other, and take turns, with those of their own process or machine alone.
    pub each_place: bool,
    /// Whether users keep cookies.
    pub cookies: bool,
    /// Done once, before the load; what it extracts is every user's.
    pub setup: Vec<Item>,
    /// Done once, after the load.
    pub teardown: Vec<Item>,
    /// Whether that is left out where the load was ended before its end, by its users or by whoever started it.
    pub skips_teardown: bool,
    /// Done by each user before it goes.
    pub user_teardown: Vec<Item>,
    /// Of which each user goes through one after the other, chosen by weight.
    pub journeys: Vec<Journey>,
}

/// A variable and its value at the beginning of a journey.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// What templates call it.
    pub name: String,
    /// What it is set to.
    pub value: Template,
}

/// One pass of one user through its Steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Journey {
    /// What reports call it.
    pub name: String,
    /// How often it is chosen, beside the others.
    pub weight: f64,
    /// What is done, in order.
    pub items: Vec<Item>,
}

/// Something that is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A request.
    Step(Box<Step>),
    /// The user thinks.
    Pause(Duration),
    /// The user waits until it is its time by a pace.
    Pacing(Pacing),
    /// Variables become what is computed, one after the other.
    Set(Vec<(String, Expression)>),
    /// The user runs a program.
    Script(Box<Script>),
    /// Steps that stand together. The name of each begins with those of its groups, as reports show it.
    Group {
        /// What they are called together.
        name: String,
        /// What is done.
        items: Vec<Item>,
    },
    /// So many times the same.
    Repeat {
        /// A whole number.
        times: Template,
        /// What is repeated.
        items: Vec<Item>,
    },
    /// One or the other.
    If {
        /// Whether.
        condition: Expression,
        /// Done if it holds.
        items: Vec<Item>,
        /// Done if it does not.
        otherwise: Vec<Item>,
    },
    /// Again as long as it holds.
    While {
        /// Looked at before each time.
        condition: Expression,
        /// What is done.
        items: Vec<Item>,
    },
    /// Once, and no further than it holds.
    AsLongAs {
        /// Looked at before each of what is done, and before each of what stands in that.
        condition: Expression,
        /// What is done.
        items: Vec<Item>,
    },
    /// Once for each.
    ForEach {
        /// The variable that holds it.
        variable: String,
        /// Of what.
        list: List,
        /// What is done.
        items: Vec<Item>,
    },
    /// One of them, by chance.
    Pick {
        /// How often each is chosen.
        weights: Weights,
        /// What may be chosen.
        choices: Vec<Vec<Item>>,
    },
    /// One of them, by what a value is.
    Switch {
        /// What is looked at.
        value: Expression,
        /// The first that has the value.
        cases: Vec<Case>,
        /// Done if none has it.
        otherwise: Vec<Item>,
    },
    /// One of them each time, the first, the second and so on.
    Interleave {
        /// What takes turns.
        parts: Vec<Vec<Item>>,
        /// Whether each user has turns of its own; else all users of the process take them together.
        per_user: bool,
    },
    /// All of them, in another order each time.
    RandomOrder(Vec<Vec<Item>>),
    /// All of them at the same time, each in a branch of its own.
    Parallel {
        /// What is done in each branch.
        parts: Vec<Vec<Item>>,
        /// So many branches are under way at most; `None`: all.
        at_once: Option<NonZeroU32>,
    },
    /// Again until a time is over, which begins with the first request; it is looked at before each of the items.
    RunFor {
        /// How long.
        time: Duration,
        /// What is done.
        items: Vec<Item>,
    },
    /// Some of the times that users come here.
    Share {
        /// Which, as an [`Amount`]: `30%`, `500 times`.
        amount: Template,
        /// Whether each user's times are counted by themselves; else those of all users of the process.
        per_user: bool,
        /// What is done.
        items: Vec<Item>,
    },
    /// Timed as one, from its first request to its last answer.
    Transaction {
        /// What reports call it.
        name: String,
        /// Whether the pauses between are part of its time.
        pauses: bool,
        /// Whether it has the only row where every request is written down, and its requests have none.
        only_row: bool,
        /// What is done.
        items: Vec<Item>,
    },
    /// One user of the process at a time.
    CriticalSection {
        /// Sections of the same name are one.
        name: String,
        /// What is done.
        items: Vec<Item>,
    },
    /// Users wait for each other.
    Rendezvous {
        /// So many go on together.
        users: u64,
        /// A user that waited for this long goes on alone; `None`: with the end of the load.
        within: Option<Nanos>,
    },
    /// Only the first time that a user comes here.
    Once(Vec<Item>),
    /// The cookies that the user has kept are gone.
    ForgetCookies,
    /// What the user knows of answers that it has had is gone.
    ForgetCache,
    /// The connections over which the user has sent are closed.
    ForgetConnections,
    /// The round of the innermost loop ends: its next one begins.
    EndRound,
    /// The innermost loop ends.
    EndLoop,
    /// More than a loop ends.
    End(Extent),
    /// The user keeps a cookie, as if a server had set it.
    KeepCookie(Template),
    /// The user takes the next row of this data file.
    NextRow(String),
}

/// What is done for some values.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Any of these; as numbers where both are.
    pub values: Vec<String>,
    /// What is done.
    pub items: Vec<Item>,
}

/// How long something takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Duration {
    /// Drawn by chance, or always the same.
    Drawn(Think),
    /// Written anew each time, as a [`Think`] is: `{{seconds}}s`.
    Written(Template),
}

/// What is gone through one by one.
#[derive(Debug, Clone, PartialEq)]
pub enum List {
    /// These.
    Items(Vec<Template>),
    /// What a JSON array holds.
    Array(Template),
}

/// One named request of a Journey.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What reports call it.
    pub name: String,
    /// The method.
    pub method: String,
    /// Path and query, or a whole URL with a fixed beginning.
    pub path: Template,
    /// The server of a whole URL.
    pub elsewhere: Option<Target>,
    /// Names and values, in order.
    pub headers: Vec<(String, Template)>,
    /// Secrets among them that all steps send, which are the target's alone.
    pub shared_secrets: Vec<String>,
    /// What follows the head.
    pub body: Body,
    /// How the letters of its path, its query and its body are written; `None`: as UTF-8.
    pub encoding: Option<Charset>,
    /// How the user says who it is.
    pub auth: Option<Auth>,
    /// What is taken out of the answer.
    pub extractions: Vec<Extraction>,
    /// What the answer is held against.
    pub checks: Vec<AnswerCheck>,
    /// Programs that are run before it is sent, and may change it.
    pub before: Vec<Script>,
    /// Programs that are run when the answer was read, and values were taken out of it.
    pub after: Vec<Script>,
    /// Whether a check says which statuses are right; else those below 400 are.
    pub judges_status: bool,
    /// So many requests at most in the whole run.
    pub requests_max: Option<u64>,
    /// So many redirects are followed.
    pub redirects: u8,
    /// What of what its page names is loaded behind it; `None`: nothing.
    pub resources: Option<Resources>,
    /// What its user knows of answers to it and to what its page names, and does with that; `None`: nothing.
    pub cache: Option<Cache>,
    /// Whether it sends the user's cookies and takes up those of its answer, where users keep any.
    pub cookies: bool,
    /// Whether its connection is closed behind it.
    pub closes: bool,
    /// Given up after this long, if not after the plan's time.
    pub timeout: Option<Nanos>,
    /// If its answer streams, it is listened to for this long, if not for as long as the plan says.
    pub stream_for: Option<Nanos>,
    /// What a failure ends, whichever it is; `None`: nothing.
    pub failure_ends: Option<Extent>,
    /// Whether the journey goes on even without an answer, or with something that is not found in it; not of one whose failure ends something.
    pub may_fail: bool,
    /// What it does in messages, if that; its path says on which connection or which method, and its body is the message.
    pub talk: Option<Talk>,
}

/// What follows the head of a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Body {
    /// Nothing.
    #[default]
    Empty,
    /// Text as it is.
    Text(Template),
    /// JSON: its fixed text stands as it is, values in it are escaped.
    Json(Template),
    /// Fields of a form as browsers send them.
    Form(Vec<(String, Template)>),
    /// Fields and files.
    Multipart(Vec<Field>),
    /// What is in this file.
    File(String),
}

/// A field of a multipart form.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: FieldValue,
    /// Headers of its part, beside those that every part has, such as `Content-Transfer-Encoding`, in order.
    pub headers: Vec<(String, String)>,
}

/// What a field of a form holds.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// Text.
    Text(Template),
    /// A file.
    File {
        /// Where it is.
        path: String,
        /// Its media type.
        media_type: String,
    },
}

/// How a user says who it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Auth {
    /// RFC 7617.
    Basic {
        /// The name.
        user: Template,
        /// The password.
        password: Template,
    },
    /// RFC 6750.
    Bearer(Template),
    /// A header of its own.
    Header(String, Template),
    /// A parameter of the query.
    Query(String, Template),
    /// RFC 7616: the server challenges, and is answered.
    Digest {
        /// The name.
        user: Template,
        /// The password.
        password: Template,
    },
    /// Each request is signed as AWS wants it.
    Aws(Box<AwsKeys>),
}

/// Keys of AWS.
#[derive(Debug, Clone, PartialEq)]
pub struct AwsKeys {
    /// Who it is.
    pub access_key: Template,
    /// What only it knows.
    pub secret_key: Template,
    /// Of temporary keys.
    pub session_token: Option<Template>,
    /// Such as eu-central-1.
    pub region: Template,
    /// Such as execute-api.
    pub service: Template,
}

/// The variable that every user has: the status of its last answer.
pub const STATUS: &str = "status";

/// The variable that holds whether the last request of the user succeeded: `true` before the first one, and of a journey's first one where
/// variables begin anew; only where something names it and nothing else sets it.
pub const LAST_SUCCEEDED: &str = "last_succeeded";

/// The variable that holds the number of the user in its population, from 1; likewise.
pub const USER_NUMBER: &str = "user_number";

/// The variable that holds the number of the journey in the run, from 1, over all users; likewise.
pub const JOURNEY_NUMBER: &str = "journey_number";

/// What the maker of a work tells those who go on with it, by where it stands in a printed file; a text is a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    /// Above everything.
    pub top: Vec<String>,
    /// Above the settings of the load.
    pub load: Vec<String>,
    /// Above what all steps have in common.
    pub defaults: Vec<String>,
    /// Above items, by their number: from 0, in the order in which they stand in the file, each before those in it.
    pub items: Vec<(usize, String)>,
    /// Below everything.
    pub end: Vec<String>,
}

impl Work {
    /// Journeys alone, whose users keep cookies.
    #[must_use]
    pub const fn of(journeys: Vec<Journey>) -> Self {
        Self {
            variables: Vec::new(),
            keeps_variables: false,
            each_place: false,
            cookies: true,
            setup: Vec::new(),
            teardown: Vec::new(),
            skips_teardown: false,
            user_teardown: Vec::new(),
            journeys,
        }
    }

    /// Whether users are to know this of themselves: something names it, and nothing else has that name.
    #[must_use]
    pub fn asks_for(&self, number: &str) -> bool {
        let mut is_named = false;
        self.each_template(&mut |template| {
            template.each_value(&mut |value| is_named |= matches!(value, Value::Variable(name) if name == number));
        });
        self.each_script(&mut |script| is_named |= script.reads.iter().any(|name| name == number));
        let mut is_set = self.variables.iter().any(|variable| variable.name == number);
        for items in self.parts() {
            each_item(items, &mut |item| is_set |= item.assigned().contains(&number));
        }
        is_named && !is_set
    }

    /// Every variable, each once: the status of the last answer, those that are declared, and those that are set on the way.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![STATUS.to_owned()];
        let mut add = |name: &str| {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        };
        self.variables.iter().for_each(|variable| add(&variable.name));
        for items in self.parts() {
            each_item(items, &mut |item| item.assigned().into_iter().for_each(&mut add));
        }
        [USER_NUMBER, JOURNEY_NUMBER, LAST_SUCCEEDED].into_iter().filter(|number| self.asks_for(number)).for_each(&mut add);
        names
    }

    /// Whether users take rows of this data file where an item says so; else each journey has one.
    #[must_use]
    pub fn asks_for_rows(&self, file: &str) -> bool {
        let mut asks = false;
        for items in self.parts() {
            each_item(items, &mut |item| asks |= matches!(item, Item::NextRow(name) if name == file));
        }
        asks
    }

    /// All steps of the journeys, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<&Step> {
        let mut steps = Vec::new();
        self.journeys.iter().for_each(|journey| each_step(&journey.items, &mut |step| steps.push(step)));
        steps
    }

    /// Calls `seen` with every step: of the setup, the journeys, and both teardowns, in this order.
    pub fn each_step<'a>(&'a self, seen: &mut dyn FnMut(&'a Step)) {
        for items in self.parts() {
            each_step(items, seen);
        }
    }

    /// Calls `seen` with every script, in the same order.
    pub fn each_script<'a>(&'a self, seen: &mut dyn FnMut(&'a Script)) {
        for items in self.parts() {
            each_item(items, &mut |item| match item {
                Item::Script(script) => seen(script),
                Item::Step(step) => step.scripts().for_each(&mut *seen),
                _ => {}
            });
        }
    }

    /// The setup, the journeys, and both teardowns, in the order in which they are done.
    pub fn parts(&self) -> impl Iterator<Item = &[Item]> {
        let journeys = self.journeys.iter().map(|journey| journey.items.as_slice());
        std::iter::once(self.setup.as_slice()).chain(journeys).chain([self.user_teardown.as_slice(), &self.teardown])
    }

    /// The variables of the environment that its templates name.
    #[must_use]
    pub fn environment(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        self.each_template(&mut |template| {
            template.each_value(&mut |value| {
                if let Value::Env(name) = value
                    && !names.contains(name)
                {
                    names.push(name.clone());
                }
            });
        });
        names
    }

    /// The files that its requests are made of: bodies, uploads, what templates take from files, and what scripts read.
    #[must_use]
    pub fn files(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = Vec::new();
        self.each_template(&mut |template| {
            template.each_value(&mut |value| {
                if let Value::File(path, _) | Value::Weighted { path, .. } = value {
                    paths.push(path);
                }
            });
        });
        self.each_step(&mut |step| match &step.body {
            Body::File(path) => paths.push(path),
            Body::Multipart(fields) => paths.extend(fields.iter().filter_map(|field| match &field.value {
                FieldValue::File { path, .. } => Some(path.as_str()),
                FieldValue::Text(_) => None,
            })),
            Body::Empty | Body::Text(_) | Body::Json(_) | Body::Form(_) => {}
        });
        self.each_script(&mut |script| paths.extend(script.files.iter().map(|(_, path)| path.as_str())));
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Passwords, tokens and keys that stand in it as they are.
    pub fn secrets(&self) -> impl Iterator<Item = String> {
        let mut found: Vec<String> = Vec::new();
        let mut fixed = |template: &Template| {
            if template.is_fixed() {
                found.extend(template.pieces().iter().filter_map(|piece| match piece {
                    Piece::Text(text) => Some(text.clone()),
                    Piece::Value(_) => None,
                }));
            }
        };
        for variable in self.variables.iter().filter(|variable| crate::is_secret(&variable.name)) {
            fixed(&variable.value);
        }
        self.each_script(&mut |script| {
            script.given.iter().filter(|(name, _)| crate::is_secret(name)).for_each(|(_, value)| fixed(value));
        });
        // What a template names is no secret.
        let plain = |text: &str, places: Vec<(usize, usize)>| -> Vec<String> {
            let values = places.into_iter().map(|(from, to)| text[from..to].to_owned()).filter(|value| !value.contains("{{"));
            values.flat_map(|value| [crate::percent_decoded(&value), value]).collect()
        };
        let mut within: Vec<String> = Vec::new();
        let mut of_step = |step: &Step| {
            let path = step.path.to_string();
            within.extend(plain(&path, crate::secret_parameters(&path)));
            if let Body::Text(body) | Body::Json(body) = &step.body {
                let body = body.to_string();
                within.extend(plain(&body, crate::secret_values(&body)));
            }
            step.headers.iter().filter(|(name, _)| crate::is_secret(name)).for_each(|(_, value)| fixed(value));
            match &step.auth {
                Some(Auth::Basic { password, .. } | Auth::Digest { password, .. }) => fixed(password),
                Some(Auth::Aws(keys)) => {
                    fixed(&keys.secret_key);
                    keys.session_token.iter().for_each(&mut fixed);
                }
                Some(Auth::Bearer(value) | Auth::Header(_, value) | Auth::Query(_, value)) => fixed(value),
                None => {}
            }
            match &step.body {
                Body::Form(fields) => fields.iter().filter(|(name, _)| crate::is_secret(name)).for_each(|(_, value)| fixed(value)),
                Body::Multipart(fields) => {
                    for field in fields.iter().filter(|field| crate::is_secret(&field.name)) {
                        if let FieldValue::Text(value) = &field.value {
                            fixed(value);
                        }
                    }
                }
                _ => {}
            }
        };
        self.each_step(&mut of_step);
        found.into_iter().chain(within)
    }

    fn each_template<'a>(&'a self, seen: &mut dyn FnMut(&'a Template)) {
        self.variables.iter().for_each(|variable| seen(&variable.value));
        for items in self.parts() {
            each_item(items, &mut |item| item.each_template(seen));
        }
    }
}

impl Step {
    /// What reports call all that is loaded behind its page.
    #[must_use]
    pub fn resources_name(&self) -> String {
        format!("{} (resources)", self.name)
    }

    /// A request of the target's without headers and a body, of whose answer nothing is asked.
    #[must_use]
    pub const fn new(name: String, method: String, path: Template) -> Self {
        Self {
            name,
            method,
            path,
            elsewhere: None,
            headers: Vec::new(),
            shared_secrets: Vec::new(),
            body: Body::Empty,
            encoding: None,
            auth: None,
            extractions: Vec::new(),
            checks: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            judges_status: false,
            requests_max: None,
            redirects: 0,
            resources: None,
            cache: None,
            cookies: true,
            closes: false,
            timeout: None,
            stream_for: None,
            failure_ends: None,
            may_fail: false,
            talk: None,
        }
    }

    /// Programs that are run before it and behind its answer.
    pub fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.before.iter().chain(&self.after)
    }

    fn each_template<'a>(&'a self, seen: &mut dyn FnMut(&'a Template)) {
        seen(&self.path);
        self.extractions.iter().flat_map(Extraction::templates).for_each(&mut *seen);
        self.scripts().flat_map(|script| &script.given).for_each(|(_, value)| seen(value));
        let conditions = self.talk.iter().flat_map(Talk::conditions);
        self.checks.iter().chain(conditions).filter_map(|check| check.against.as_ref()).for_each(&mut *seen);
        self.headers.iter().for_each(|(_, value)| seen(value));
        match &self.auth {
            Some(Auth::Basic { user, password } | Auth::Digest { user, password }) => {
                seen(user);
                seen(password);
            }
            Some(Auth::Aws(keys)) => {
                [&keys.access_key, &keys.secret_key, &keys.region, &keys.service].into_iter().for_each(&mut *seen);
                keys.session_token.iter().for_each(&mut *seen);
            }
            Some(Auth::Bearer(value) | Auth::Header(_, value) | Auth::Query(_, value)) => seen(value),
            None => {}
        }
        match &self.body {
            Body::Empty | Body::File(_) => {}
            Body::Text(text) | Body::Json(text) => seen(text),
            Body::Form(fields) => fields.iter().for_each(|(_, value)| seen(value)),
            Body::Multipart(fields) => {
                for field in fields {
                    if let FieldValue::Text(text) = &field.value {
                        seen(text);
                    }
                }
            }
        }
    }
}

impl Auth {
    /// The header that holds a key of its own, which is nobody else's to know.
    #[must_use]
    pub fn key_header(&self) -> Option<&str> {
        if let Self::Header(name, _) = self { Some(name) } else { None }
    }

    /// The header that says it, if it is one.
    #[must_use]
    pub fn header(&self) -> Option<(String, Template)> {
        let worded = |word: &str, template: &Template| {
            Template::of(std::iter::once(Piece::Text(format!("{word} "))).chain(template.pieces().iter().cloned()))
        };
        match self {
            Self::Bearer(token) => Some(("Authorization".to_owned(), worded("Bearer", token))),
            Self::Basic { user, password } => {
                let inside =
                    user.pieces().iter().chain(std::iter::once(&Piece::Text(":".to_owned()))).chain(password.pieces()).cloned().collect();
                let value = Template::of([Piece::Value(Value::Base64(inside))]);
                Some(("Authorization".to_owned(), worded("Basic", &value)))
            }
            Self::Header(name, value) => Some((name.clone(), value.clone())),
            Self::Query(..) | Self::Digest { .. } | Self::Aws(_) => None,
        }
    }
}

/// The lists of items that stand in one, as they are borrowed.
macro_rules! lists_in {
    ($item:expr, $iter:ident $(, $mutable:tt)?) => {
        match $item {
            Item::Step(_)
            | Item::Pause(_)
            | Item::Pacing(_)
            | Item::Set(_)
            | Item::Script(_)
            | Item::Rendezvous { .. }
            | Item::ForgetCookies
            | Item::ForgetCache
            | Item::ForgetConnections
            | Item::EndRound
            | Item::EndLoop
            | Item::End(_)
            | Item::KeepCookie(_)
            | Item::NextRow(_) => Vec::new(),
            Item::Repeat { items, .. }
            | Item::While { items, .. }
            | Item::AsLongAs { items, .. }
            | Item::ForEach { items, .. }
            | Item::RunFor { items, .. }
            | Item::Share { items, .. }
            | Item::Group { items, .. }
            | Item::Transaction { items, .. }
            | Item::CriticalSection { items, .. }
            | Item::Once(items) => vec![items],
            Item::If { items, otherwise, .. } => vec![items, otherwise],
            Item::Switch { cases, otherwise, .. } => {
                cases.$iter().map(|case| &$($mutable)? case.items).chain([otherwise]).collect()
            }
            Item::Pick { choices: parts, .. }
            | Item::Interleave { parts, .. }
            | Item::RandomOrder(parts)
            | Item::Parallel { parts, .. } => parts.$iter().collect(),
        }
    };
}

impl Item {
    /// The items that stand in it, list by list.
    #[must_use]
    pub fn parts(&self) -> Vec<&[Item]> {
        let lists: Vec<&Vec<Item>> = lists_in!(self, iter);
        lists.into_iter().map(Vec::as_slice).collect()
    }

    /// The items that stand in it, list by list, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Vec<Item>> {
        lists_in!(self, iter_mut, mut)
    }

    /// The variables that it gives a value itself.
    #[must_use]
    pub fn assigned(&self) -> Vec<&str> {
        match self {
            Self::Step(step) => {
                let taken = step.extractions.iter().map(|extraction| extraction.variable.as_str());
                taken.chain(step.scripts().flat_map(Script::assigned)).collect()
            }
            Self::Script(script) => script.assigned().collect(),
            Self::Set(values) => values.iter().map(|(variable, _)| variable.as_str()).collect(),
            Self::ForEach { variable, .. } => vec![variable],
            Self::Pause(_)
            | Self::Pacing(_)
            | Self::Group { .. }
            | Self::Repeat { .. }
            | Self::If { .. }
            | Self::While { .. }
            | Self::AsLongAs { .. }
            | Self::Pick { .. }
            | Self::Switch { .. }
            | Self::Interleave { .. }
            | Self::RandomOrder(_)
            | Self::Parallel { .. }
            | Self::RunFor { .. }
            | Self::Share { .. }
            | Self::Transaction { .. }
            | Self::CriticalSection { .. }
            | Self::Rendezvous { .. }
            | Self::ForgetCookies
            | Self::ForgetCache
            | Self::ForgetConnections
            | Self::EndRound
            | Self::EndLoop
            | Self::End(_)
            | Self::KeepCookie(_)
            | Self::NextRow(_)
            | Self::Once(_) => Vec::new(),
        }
    }

    /// Calls `seen` with its own templates, without those of the items in it.
    fn each_template<'a>(&'a self, seen: &mut dyn FnMut(&'a Template)) {
        match self {
            Self::Step(step) => step.each_template(seen),
            Self::Set(values) => values.iter().for_each(|(_, value)| value.each_template(seen)),
            Self::Script(script) => script.given.iter().for_each(|(_, value)| seen(value)),
            Self::Repeat { times: text, .. } | Self::Share { amount: text, .. } | Self::KeepCookie(text) => seen(text),
            Self::If { condition: value, .. }
            | Self::While { condition: value, .. }
            | Self::AsLongAs { condition: value, .. }
            | Self::Switch { value, .. } => {
                value.each_template(seen);
            }
            Self::Pause(Duration::Written(text))
            | Self::Pacing(Pacing { pace: Duration::Written(text), .. })
            | Self::RunFor { time: Duration::Written(text), .. } => {
                seen(text);
            }
            Self::ForEach { list: List::Items(texts), .. } => texts.iter().for_each(seen),
            Self::ForEach { list: List::Array(text), .. } => seen(text),
            Self::Pause(Duration::Drawn(_))
            | Self::Pacing(Pacing { pace: Duration::Drawn(_), .. })
            | Self::RunFor { time: Duration::Drawn(_), .. }
            | Self::Group { .. }
            | Self::Pick { .. }
            | Self::Interleave { .. }
            | Self::RandomOrder(_)
            | Self::Parallel { .. }
            | Self::Transaction { .. }
            | Self::CriticalSection { .. }
            | Self::Rendezvous { .. }
            | Self::ForgetCookies
            | Self::ForgetCache
            | Self::ForgetConnections
            | Self::EndRound
            | Self::EndLoop
            | Self::End(_)
            | Self::NextRow(_)
            | Self::Once(_) => {}
        }
    }
}

/// Calls `seen` with every item, in order, those that stand in it behind each.
pub fn each_item<'a>(items: &'a [Item], seen: &mut dyn FnMut(&'a Item)) {
    for item in items {
        seen(item);
        item.parts().into_iter().for_each(|items| each_item(items, seen));
    }
}

/// Calls `seen` with every step, in order.
pub fn each_step<'a>(items: &'a [Item], seen: &mut dyn FnMut(&'a Step)) {
    each_item(items, &mut |item| {
        if let Item::Step(step) = item {
            seen(step);
        }
    });
}
