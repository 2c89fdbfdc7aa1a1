//! A scenario as it was read: valid, and nothing of YAML left in it.

use analysis::gate;
use plan::template::{Piece, Template, Value, nearest};
use plan::{Draft, Nanos, Target};
use step::pick::{Think, Weights};
use step::{Check, Extractor, Kind};

/// What users do.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What the file calls it.
    pub name: Option<String>,
    /// The target, the load and the data files: settings of a plan, over which flags go.
    pub draft: Draft,
    /// Servers that it names beside its target, other than by the steps that go there.
    pub also_named: Vec<String>,
    /// What the load must keep to.
    pub checks: Vec<gate::Check>,
    /// How templates call the data files, in the order of the draft.
    pub files: Vec<String>,
    /// Every variable, by its place; the first is the status of the last answer.
    pub names: Vec<String>,
    /// Set anew at the beginning of each journey.
    pub variables: Vec<Variable>,
    /// Whether users keep cookies.
    pub cookies: bool,
    /// Done once, before the load; what it extracts is every user's.
    pub setup: Vec<Item>,
    /// Done once, after the load.
    pub teardown: Vec<Item>,
    /// Done by each user before it goes.
    pub user_teardown: Vec<Item>,
    /// Of which each user goes through one after the other, chosen by weight.
    pub journeys: Vec<Journey>,
}

/// A variable and its value at the beginning of a journey.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its place among the names.
    pub place: usize,
    /// What it is set to.
    pub value: Template,
}

/// One pass of one user through its Steps.
#[derive(Debug, Clone)]
pub struct Journey {
    /// What reports call it.
    pub name: String,
    /// How often it is chosen, beside the others.
    pub weight: f64,
    /// What is done, in order.
    pub items: Vec<Item>,
}

/// Something that is done.
#[derive(Debug, Clone)]
pub enum Item {
    /// A request.
    Step(Box<Step>),
    /// The user thinks.
    Pause(Think),
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
        condition: Condition,
        /// Done if it holds.
        items: Vec<Item>,
        /// Done if it does not.
        otherwise: Vec<Item>,
    },
    /// Again as long as it holds.
    While {
        /// Looked at before each time.
        condition: Condition,
        /// What is done.
        items: Vec<Item>,
    },
    /// Once for each.
    ForEach {
        /// The place of the variable that holds it.
        variable: usize,
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
    /// Only the first time that a user comes here.
    Once(Vec<Item>),
}

/// What is gone through one by one.
#[derive(Debug, Clone)]
pub enum List {
    /// These.
    Items(Vec<Template>),
    /// What a JSON array holds.
    Array(Template),
}

/// Whether something is done.
#[derive(Debug, Clone)]
pub struct Condition {
    /// What is looked at.
    pub left: Template,
    /// How it is compared; `None`: whether it is anything but empty, 0 or false.
    pub against: Option<(Operator, Template)>,
}

/// How two texts are compared: as numbers where both are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `==`
    Is,
    /// `!=`
    IsNot,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `contains`
    Contains,
}

impl Operator {
    /// As they are written; those that begin like others first.
    pub const ALL: [(&'static str, Self); 7] = [
        ("==", Self::Is),
        ("!=", Self::IsNot),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("<", Self::Less),
        (">", Self::More),
        (" contains ", Self::Contains),
    ];
}

/// One named request of a Journey.
#[derive(Debug, Clone)]
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
    /// How the user says who it is.
    pub auth: Option<Auth>,
    /// What is taken out of the answer.
    pub extractions: Vec<Extraction>,
    /// What the answer is held against.
    pub checks: Vec<Promise>,
    /// Whether a check says which statuses are right; else those below 400 are.
    pub judges_status: bool,
    /// So many requests at most in the whole run.
    pub requests_max: Option<u64>,
    /// So many redirects are followed.
    pub redirects: u8,
    /// Given up after this long, if not after the plan's time.
    pub timeout: Option<Nanos>,
    /// Whether a failure ends the journey.
    pub must_succeed: bool,
}

/// What follows the head of a request.
#[derive(Debug, Clone)]
pub enum Body {
    /// Nothing.
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
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: FieldValue,
}

/// What a field of a form holds.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone)]
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

/// What an answer is held against.
#[derive(Debug, Clone)]
pub struct Promise {
    /// The check, which may be open.
    pub check: Check,
    /// What is filled in if it is.
    pub against: Option<Template>,
}

/// A value that is taken out of an answer.
#[derive(Debug, Clone)]
pub struct Extraction {
    /// The place of the variable that holds it afterwards.
    pub variable: usize,
    /// In which language it is looked for.
    pub kind: Kind,
    /// How it is found.
    pub extractor: Extractor,
    /// What it is if nothing is found; else the journey ends.
    pub default: Option<String>,
}

impl Scenario {
    /// All steps of the journeys, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<&Step> {
        let mut steps = Vec::new();
        self.journeys.iter().for_each(|journey| each_step(&journey.items, &mut |step| steps.push(step)));
        steps
    }
}

impl Scenario {
    /// The servers that its steps name, in the order of the file, with how many steps each has; `None` is the target's.
    #[must_use]
    pub fn servers(&self) -> Vec<(Option<Target>, usize)> {
        let mut servers: Vec<(Option<Target>, usize)> = Vec::new();
        let own = self.draft.url.as_ref().and_then(|url| url.parse::<Target>().ok());
        let journeys = self.journeys.iter().map(|journey| &journey.items);
        for items in [&self.setup].into_iter().chain(journeys).chain([&self.user_teardown, &self.teardown]) {
            each_step(items, &mut |step| {
                let other = step.elsewhere.as_ref().filter(|other| own.as_ref().is_none_or(|own| !own.same_origin(other)));
                match servers.iter_mut().find(|(known, _)| known.as_ref().map(Target::origin) == other.map(Target::origin)) {
                    Some((_, steps)) => *steps += 1,
                    None => servers.push((other.cloned(), 1)),
                }
            });
        }
        servers
    }

    /// What is wrong with a check on a part that this scenario does not have, and what to do.
    #[must_use]
    pub fn unknown_part(&self, check: &gate::Check) -> Option<(String, String)> {
        check.part().and_then(|part| unknown_part(part, &self.journeys))
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
        for variable in self.variables.iter().filter(|variable| plan::is_secret(&self.names[variable.place])) {
            fixed(&variable.value);
        }
        // What a template names is no secret.
        let plain = |text: &str, places: Vec<(usize, usize)>| -> Vec<String> {
            let values = places.into_iter().map(|(from, to)| text[from..to].to_owned()).filter(|value| !value.contains("{{"));
            values.flat_map(|value| [plan::percent_decoded(&value), value]).collect()
        };
        let mut within: Vec<String> = Vec::new();
        let mut of_step = |step: &Step| {
            let path = step.path.to_string();
            within.extend(plain(&path, plan::secret_parameters(&path)));
            if let Body::Text(body) | Body::Json(body) = &step.body {
                let body = body.to_string();
                within.extend(plain(&body, plan::secret_values(&body)));
            }
            step.headers.iter().filter(|(name, _)| plan::is_secret(name)).for_each(|(_, value)| fixed(value));
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
                Body::Form(fields) => fields.iter().filter(|(name, _)| plan::is_secret(name)).for_each(|(_, value)| fixed(value)),
                Body::Multipart(fields) => {
                    for field in fields.iter().filter(|field| plan::is_secret(&field.name)) {
                        if let FieldValue::Text(value) = &field.value {
                            fixed(value);
                        }
                    }
                }
                _ => {}
            }
        };
        let journeys = self.journeys.iter().map(|journey| journey.items.as_slice());
        for items in journeys.chain(self.around()) {
            each_step(items, &mut of_step);
        }
        found.into_iter().chain(within)
    }

    fn each_template<'a>(&'a self, seen: &mut dyn FnMut(&'a Template)) {
        self.variables.iter().for_each(|variable| seen(&variable.value));
        let journeys = self.journeys.iter().map(|journey| journey.items.as_slice());
        for items in journeys.chain(self.around()) {
            templates(items, seen);
        }
    }

    /// What is done beside the journeys.
    fn around(&self) -> [&[Item]; 3] {
        [&self.setup, &self.teardown, &self.user_teardown]
    }
}

fn templates<'a>(items: &'a [Item], seen: &mut dyn FnMut(&'a Template)) {
    fn condition<'a>(condition: &'a Condition, seen: &mut dyn FnMut(&'a Template)) {
        seen(&condition.left);
        condition.against.iter().for_each(|(_, right)| seen(right));
    }
    for item in items {
        match item {
            Item::Step(step) => step.each_template(seen),
            Item::Pause(_) => {}
            Item::Repeat { times, items } => {
                seen(times);
                templates(items, seen);
            }
            Item::If { condition: held, items, otherwise } => {
                condition(held, seen);
                templates(items, seen);
                templates(otherwise, seen);
            }
            Item::While { condition: held, items } => {
                condition(held, seen);
                templates(items, seen);
            }
            Item::ForEach { list, items, .. } => {
                match list {
                    List::Items(texts) => texts.iter().for_each(&mut *seen),
                    List::Array(text) => seen(text),
                }
                templates(items, seen);
            }
            Item::Pick { choices, .. } => choices.iter().for_each(|items| templates(items, seen)),
            Item::Once(items) => templates(items, seen),
        }
    }
}

impl Step {
    fn each_template<'a>(&'a self, seen: &mut dyn FnMut(&'a Template)) {
        seen(&self.path);
        self.checks.iter().filter_map(|promise| promise.against.as_ref()).for_each(&mut *seen);
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

/// Calls `seen` with every step, in order.
pub(crate) fn each_step<'a>(items: &'a [Item], seen: &mut dyn FnMut(&'a Step)) {
    for item in items {
        match item {
            Item::Step(step) => seen(step),
            Item::Pause(_) => {}
            Item::Repeat { items, .. } | Item::While { items, .. } | Item::ForEach { items, .. } | Item::Once(items) => {
                each_step(items, seen);
            }
            Item::If { items, otherwise, .. } => {
                each_step(items, seen);
                each_step(otherwise, seen);
            }
            Item::Pick { choices, .. } => choices.iter().for_each(|items| each_step(items, seen)),
        }
    }
}

/// What is wrong with a part that the journeys do not have, and what to do.
pub(crate) fn unknown_part(part: &gate::LoadPart, journeys: &[Journey]) -> Option<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    for journey in journeys {
        match part {
            gate::LoadPart::Journey(_) => names.push(&journey.name),
            gate::LoadPart::Step(_) => each_step(&journey.items, &mut |step| names.push(&step.name)),
            gate::LoadPart::Url(_) => {}
        }
    }
    if names.iter().any(|name| part.is_called(name)) {
        return None;
    }
    let (kind, name) = (part.kind(), part.name().escape_debug().to_string());
    let help = match nearest(part.name(), names.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None if names.is_empty() => "a scenario has steps and journeys: write step NAME or journey NAME".to_owned(),
        None => format!("there are {}", names.join(", ")),
    };
    Some((format!("there is no {kind} '{name}'"), help))
}
