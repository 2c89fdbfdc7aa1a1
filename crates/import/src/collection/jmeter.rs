//! Test plans of JMeter: thread groups become populations, controllers the items that do the same, samplers requests.
//!
//! A plan is a tree, and what an element says holds for the samplers below the element in which it stands. So the tree is gone through from
//! above, with what holds so far. What has no equal is left out by name and place, with everything that cannot be right without it: a
//! request that would be sent with a value missing is not sent.
//!
//! Formats and meanings: JMeter 5.6.3, its component reference and `SaveService`'s properties.

mod answer;
mod assertions;
mod caches;
mod controllers;
mod counters;
mod data;
mod dialects;
mod expressions;
mod flow;
mod functions;
mod groups;
mod java;
mod loads;
mod naming;
mod request;
mod returned;
mod schedule;
mod scripts;
mod text;
mod times;
mod tree;
mod ways;
mod weights;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use plan::setting::CONNECT_TO;
use plan::template::{Template, Value};
use plan::work::{AnswerPart, Expression, Extent, Extraction, Item, Journey, Step, Where};
use plan::{Nanos, Target};

use super::course::Course;
use super::url::{origin, variable_name, with_origin_of};
use super::{Collection, Kind, ReadError, Request, VARIABLES_MAX, Variable, Wishes};
use assertions::Samples;
pub(super) use functions::variables_with_default;
use request::Surroundings;
use text::{Mentions, Names};
use tree::{Element, list_of, text_of};

/// A plan, while it is read.
struct Reading<'e> {
    collection: Collection,
    course: Course,
    names: Names<'e>,
    plan: &'e Element,
    /// How often a request of each place was made: a module may be used several times.
    places: BTreeMap<String, usize>,
    /// Plans that this one includes, by the paths that it names.
    included: &'e Included,
    /// So many more parts are read: modules that lead to several of each other have no end.
    parts_left: usize,
    /// Variables of the whole plan that have to be computed when users begin, in order.
    first: Vec<(String, Expression)>,
    /// What the paces of timers are called, by where they are; those of a single sampler have no name.
    paced: RefCell<BTreeMap<usize, Option<String>>>,
    /// When the group that is read last ends, where each waits for the one before it.
    order: loads::Order,
    /// When a schedule of the plan is over, which ends the test.
    schedule_end: Option<Nanos>,
    /// So many servers have each the users and rates that the plan says.
    servers: u32,
    /// What counters for all users are called, by where they are.
    counted: BTreeMap<usize, String>,
    /// What counters of the group that is read begin with again, with each of its iterations.
    reset: Vec<(String, Expression)>,
    /// Files that this plan names: others that it includes, and scripts.
    texts: &'e BTreeMap<String, Result<String, String>>,
    /// How long opening a connection may take, and whether connections are closed, by the first sampler that says so.
    connect_timeout: Option<u64>,
    /// What keeps the cookies of the group that is read, by its first sampler that has any.
    jar: Option<&'e Element>,
    /// What keeps answers in mind for users of the group that is read.
    caches: Vec<&'e Element>,
    /// Variables that setup groups have set, whose users are gone with them.
    forgotten: BTreeSet<String>,
    /// Variables that other groups set.
    kept: BTreeSet<String>,
}

/// What holds where the reader is.
#[derive(Debug, Clone, Default)]
struct Scope<'e> {
    surroundings: Surroundings<'e>,
    timers: Vec<&'e Element>,
    /// User parameters that are set before each sampler.
    parameters: Vec<&'e Element>,
    extractors: Vec<&'e Element>,
    assertions: Vec<&'e Element>,
    /// The cookie manager that holds.
    cookies: Option<&'e Element>,
    /// The cache manager that holds.
    cache: Option<&'e Element>,
    /// Scripts that are run before samplers or behind their answers.
    scripts: Vec<&'e Element>,
    /// What a failure ends; if nothing, the journey goes on, whatever fails.
    failure_ends: Option<Extent>,
    /// Handlers of results, which act where a sampler fails.
    on_failure: Vec<&'e Element>,
    /// What limits the time that a sampler may take.
    time_limits: Vec<&'e Element>,
    /// Whether the element at hand is done once by each user, and that is said.
    is_once: bool,
    /// The variable that counts the rounds of the loop that the reader is in at once.
    round: Option<String>,
    /// What of loops the reader is in.
    around: flow::Around,
    /// Whether others are under way beside it.
    is_in_branch: bool,
    /// Whether the group that it is in is done before all others or after them, by a user of its own.
    is_apart: bool,
    /// Where modules led to.
    led_to: Vec<&'e Element>,
    /// The elements that it stands in.
    path: Vec<&'e str>,
    /// So many users go through it.
    users: u64,
}

/// What is not sent leaves others unsent, which leave others: so often that is looked for.
const PASSES_MAX: usize = 30;
/// Parts of a plan that are read, each time that a module leads to them.
const PARTS_MAX: usize = 100_000;

/// Variables that JMeter gives every plan: when it began, in milliseconds and as date and time.
const PREDEFINED: &[(&str, &str)] = &[
    ("START.MS", "${__time()}"),
    ("TESTSTART.MS", "${__time()}"),
    ("START.YMD", "${__time(yyyyMMdd)}"),
    ("START.HMS", "${__time(HHmmss)}"),
];

/// Whether a file is a test plan.
pub(super) fn is_one(text: &str) -> bool {
    text.contains("<jmeterTestPlan")
}

/// The plans that a test plan includes, by the paths that it names, as far as they were not read.
pub(super) fn includes(text: &str, wishes: &Wishes) -> Vec<String> {
    let texts = || std::iter::once(text).chain(wishes.included.values().flatten().map(String::as_str));
    if !texts().any(|text| ["IncludeController", "ilename\">", "__XPath("].iter().any(|sign| text.contains(sign))) {
        return Vec::new();
    }
    let Ok((plan, included)) = trees(text, wishes) else { return Vec::new() };
    let mut reading = Reading::new(&plan, &included, wishes);
    reading.variables(wishes, &BTreeMap::new());
    let mut paths = BTreeSet::new();
    for root in reading.roots() {
        each(root, &mut |element| {
            let included = (element.class == "IncludeController").then(|| element.text(controllers::INCLUDED));
            let path = included.or_else(|| scripts::file_of(element)).or_else(|| data::file_of(element));
            paths.extend(path.and_then(|path| reading.names.literal(path)).filter(|path| !path.is_empty()));
        });
    }
    let calls = reading.names.mentions.calls.iter().filter(|(function, _)| *function == "__XPath");
    paths.extend(calls.filter_map(|(_, arguments)| reading.names.literal(arguments.first()?)).filter(|path| !path.is_empty()));
    paths.into_iter().filter(|path| !wishes.included.contains_key(path)).collect()
}

/// Plans that a plan includes, by their paths, or why they cannot be read.
type Included = BTreeMap<String, Result<Element, String>>;

/// The test plan of a file, and those that it includes.
fn trees(text: &str, wishes: &Wishes) -> Result<(Element, Included), ReadError> {
    let mut root = Element::read(text)?;
    let plan = root.children.iter().position(|element| element.class == "TestPlan");
    let Some(plan) = plan else { return Err(ReadError::new("there is no test plan in it")) };
    let read = |(path, text): (&String, &Result<String, String>)| {
        let read = text
            .as_ref()
            .map_err(String::clone)
            .and_then(|text| Element::read(text.trim_start_matches('\u{feff}')).map_err(|why| why.wording().marked().to_owned()));
        (path.clone(), read.map(|root| root.of_file(path)))
    };
    Ok((root.children.swap_remove(plan), wishes.included.iter().map(read).collect()))
}

/// Reads a test plan.
pub(super) fn read(text: &str, wishes: &Wishes) -> Result<Collection, ReadError> {
    let (plan, included) = trees(text, wishes)?;
    let (mut never_set, mut passes): (BTreeMap<String, String>, usize) = Default::default();
    // What is not sent sets nothing, and what wants that is not sent either: as long as there is more of it.
    let reading = loop {
        let mut reading = Reading::new(&plan, &included, wishes);
        reading.variables(wishes, &never_set);
        reading.groups();
        let known = never_set.len();
        never_set.extend(reading.never_set());
        if never_set.len() == known || passes == PASSES_MAX {
            break reading;
        }
        passes += 1;
    };
    let addresses = reading.addresses();
    let skips_teardown = !reading.plan.is_on("TestPlan.tearDown_on_shutdown", false);
    let Reading { mut collection, mut course, mut names, connect_timeout, .. } = reading;
    for name in names.counters.take() {
        names.known.push(Variable { name, value: Template::fixed("0"), secret: false });
    }
    names.known.extend(names.made.take());
    course.skips_teardown = skips_teardown && !course.teardown.is_empty();
    if wishes.comes_at_a_rate {
        course.come_at_a_rate();
    }
    for path in names.unwritten.into_inner() {
        let why = "a load writes no files of its own: have its results written, and send the value where it is wanted";
        collection.leave_out(format!("the file '{path}' that __StringToFile writes"), "the whole plan", why);
    }
    for name in names.unknown.into_inner() {
        let why = "nothing in the plan gives it a value, so it is sent with its braces, as JMeter does";
        collection.leave_out(format!("the variable '{name}'"), "the whole plan", why);
    }
    for request in &mut collection.requests {
        request.connection.connect_timeout = connect_timeout.map(|time| format!("{time}ms"));
    }
    collection.variables = names.known;
    connect(&mut collection, &addresses);
    ways::settle(&mut collection);
    collection.course = Some(course);
    Ok(collection)
}

/// Where requests are sent whose server has an address in the plan. A load has one for all of them.
fn connect(collection: &mut Collection, addresses: &BTreeMap<String, String>) {
    let origin_of = |request: &Request| origin(&with_origin_of(&request.url, &collection.variables)).ok().map(|(target, _)| target);
    let origins: Vec<Option<Target>> = collection.requests.iter().map(origin_of).collect();
    let only = origins.first().cloned().flatten().filter(|first| origins.iter().flatten().all(|other| other.same_origin(first)));
    let hosts: BTreeSet<String> = origins.iter().flatten().map(|origin| origin.host().to_ascii_lowercase()).collect();
    for (host, address) in addresses.iter().filter(|(host, _)| hosts.contains(*host)) {
        match &only {
            Some(origin) if !address.contains(',') => {
                let to = format!("{address}:{}", origin.port());
                collection.requests.iter_mut().for_each(|request| request.connection.connect_to = Some(to.clone()));
            }
            _ => {
                let why = format!("a load has one address for all its requests: give it with {CONNECT_TO}");
                collection.leave_out(format!("the address {address} of '{host}'"), "the whole plan", why);
            }
        }
    }
}

/// The part of a plan that is included: its first fragment.
fn fragment(plan: &Element) -> Option<&Element> {
    let mut found = None;
    each(plan, &mut |element| {
        if element.class == "TestFragmentController" {
            found.get_or_insert(element);
        }
    });
    found
}

/// Whether a value is another each time that it is written.
fn is_drawn(text: &Template) -> bool {
    let mut is_drawn = false;
    // What is made of others is drawn if these are.
    let is_same = |value: &Value| {
        matches!(
            value,
            Value::Variable(_)
                | Value::Env(_)
                | Value::File(..)
                | Value::Column { .. }
                | Value::Base64(_)
                | Value::Raw(_)
                | Value::FormEncoded(_)
        )
    };
    text.each_value(&mut |value| is_drawn |= !is_same(value));
    is_drawn
}

/// The names and values of a list of variables.
fn listed(arguments: &[tree::Property]) -> impl Iterator<Item = (&str, &str)> {
    let of = |argument| (text_of(tree::Property::own(argument), "Argument.name").trim(), text_of(argument.own(), "Argument.value"));
    list_of(arguments, "Arguments.arguments").iter().map(of).filter(|(name, _)| !name.is_empty())
}

/// Calls `seen` with an element and all that stand in it.
fn each<'e>(element: &'e Element, seen: &mut dyn FnMut(&'e Element)) {
    seen(element);
    element.children.iter().for_each(|child| each(child, seen));
}

/// A name, or the first of the numbered ones, that is not taken.
fn free_name(name: &str, numbered: impl Fn(u32) -> String, is_taken: impl Fn(&str) -> bool) -> String {
    std::iter::once(name.to_owned()).chain((2..).map(numbered)).find(|name| !is_taken(name)).unwrap_or_default()
}

impl<'e> Reading<'e> {
    fn new(plan: &'e Element, included: &'e Included, wishes: &'e Wishes) -> Self {
        let mut collection = Collection::new(Kind::Jmeter);
        plan.name.clone_into(&mut collection.name);
        let properties = wishes.variables.iter().chain(&wishes.properties).cloned().collect();
        let name = if wishes.file.is_empty() { &plan.name } else { &wishes.file };
        let machine = wishes.machine.clone();
        let names = Names {
            properties,
            plan: name.clone(),
            machine,
            unset: wishes.unset.clone(),
            included: Some(&wishes.included),
            ..Names::default()
        };
        let servers = wishes.servers.map_or(1, NonZeroU32::get);
        let (course, places) = (Course { each_place: servers > 1, ..Course::default() }, BTreeMap::new());
        Self {
            collection,
            course,
            names,
            plan,
            included,
            places,
            first: Vec::new(),
            parts_left: PARTS_MAX,
            paced: RefCell::default(),
            order: loads::Order::default(),
            schedule_end: None,
            servers,
            counted: BTreeMap::new(),
            reset: Vec::new(),
            texts: &wishes.included,
            connect_timeout: None,
            jar: None,
            caches: Vec::new(),
            forgotten: BTreeSet::new(),
            kept: BTreeSet::new(),
        }
    }

    /// Addresses that the plan has for names of servers, in small letters.
    fn addresses(&self) -> BTreeMap<String, String> {
        let mut addresses = BTreeMap::new();
        for root in self.roots() {
            each(root, &mut |element| {
                for host in element.list("DNSCacheManager.hosts") {
                    let of = |name: &str| self.names.literal(text_of(host.own(), name)).filter(|text| !text.is_empty());
                    if let (Some(name), Some(address)) = (of("StaticHost.Name"), of("StaticHost.Address")) {
                        addresses.insert(name.to_ascii_lowercase(), address);
                    }
                }
            });
        }
        addresses
    }

    /// The plan, and the parts of others that it includes.
    fn roots(&self) -> Vec<&'e Element> {
        let parts = self.included.values().flatten().filter_map(fragment);
        std::iter::once(self.plan).chain(parts).collect()
    }

    /// Variables that something was to set which is not done after all, and why they have no value.
    fn never_set(&self) -> Vec<(String, String)> {
        let assigned: BTreeSet<&str> = self.course.assigned(&self.collection.requests).into_iter().collect();
        let is_lost = |name: &&String| !assigned.contains(self.names.plain(name).as_str());
        let told = |name: &String| (name.clone(), "what gives it one is not sent".to_owned());
        self.names.set.iter().filter(is_lost).map(told).collect()
    }

    /// Looks for everything that gives a variable a value, but for these.
    fn variables(&mut self, wishes: &Wishes, never_set: &BTreeMap<String, String>) {
        let mut defined = vec![(self.plan, self.plan.list("TestPlan.user_defined_variables"))];
        let mut set: BTreeSet<String> = BTreeSet::new();
        let mut lost: BTreeMap<String, String> = BTreeMap::new();
        let (mut lists, mut beside): (BTreeSet<String>, BTreeSet<String>) = Default::default();
        let mut mentions = Mentions::default();
        let roots = self.roots();
        let every = |seen: &mut dyn FnMut(&'e Element)| {
            for root in roots.iter().copied() {
                each(root, seen);
            }
        };
        every(&mut |element| tree::each_text(&element.properties, &mut |text| mentions.add(text)));
        self.names.mentions = mentions;
        every(&mut |element| match element.class.as_str() {
            "Arguments" => defined.push((element, element.properties.as_slice())),
            class if counters::is_counter(class) => _ = set.insert(counters::counter_name(element).to_owned()),
            "ForeachController" => _ = set.insert(element.text("ForeachController.returnVal").trim().to_owned()),
            "UserParameters" => set.extend(element.texts("UserParameters.names").into_iter().map(|name| name.trim().to_owned())),
            class if scripts::Role::of(class).is_some() => set.extend(self.set_by_script(element)),
            class if answer::is_extractor(class) => {
                for taken in answer::taken(element, &self.names.mentions, None) {
                    match taken.found {
                        Ok(_) => {
                            if taken.is_list {
                                lists.insert(taken.name.clone());
                            }
                            if taken.stands_beside {
                                beside.insert(taken.name.clone());
                            }
                            set.insert(taken.name);
                        }
                        Err(why) => _ = lost.insert(taken.name, format!("{} is not carried over: {why}", element.said())),
                    }
                }
            }
            _ => {}
        });
        self.names.splits.extend(beside);
        every(&mut |element| {
            if matches!(element.class.as_str(), "LoopController" | "WhileController" | "ForeachController") {
                let index = flow::loop_index(&element.name);
                if self.names.mentions.names(&index) {
                    set.insert(index);
                }
            }
        });
        for (name, _) in PREDEFINED {
            if self.names.mentions.names(name) {
                set.insert((*name).to_owned());
            }
        }
        for (function, arguments) in &self.names.mentions.calls {
            if let (Some(language), Some(script)) = (scripts::language_of_function(function), arguments.first()) {
                set.extend(scripts::set_by(&script.replace("\\,", ","), language));
            }
            let Some(name) = functions::assigned(function, arguments) else { continue };
            set.insert(name.to_owned());
            if *function == "__regexFunction" {
                set.extend(functions::parts_of_match(name, |part| self.names.mentions.names(part)));
            }
            if *function == "__split" {
                set.extend([text::list_name(name), format!("{name}_n")]);
                set.extend(self.names.split_parts(name).into_iter().map(|(part, _)| part.to_owned()));
                self.names.splits.insert(name.to_owned());
            }
        }
        for property in self.properties_kept() {
            let variable = format!("property_{property}");
            set.insert(variable.clone());
            self.names.set_properties.insert(property, variable);
        }
        if self.names.mentions.calls.iter().any(|(function, arguments)| functions::looks_back(function, arguments)) {
            let is_taken = |name: &str| set.iter().any(|known| variable_name(known) == name);
            let name = free_name("answer_before", |number| format!("answer_before_{number}"), is_taken);
            set.insert(name.clone());
            self.names.answer_before = Some(name);
        }
        set.iter().for_each(|name| _ = lost.remove(name));
        set.retain(|name| !never_set.contains_key(name));
        lists.retain(|name| set.contains(name));
        lost.extend(never_set.clone());
        let names = set.iter().map(String::as_str).chain(defined.iter().flat_map(|(_, arguments)| listed(arguments).map(|(name, _)| name)));
        self.names.tell_apart(&names.collect());
        for variable in self.names.set_properties.values_mut() {
            *variable = self.names.renamed.get(variable).cloned().unwrap_or_else(|| variable_name(variable));
        }
        for (name, form) in PREDEFINED {
            if set.contains(*name) {
                self.first.push((self.names.plain(name), Expression::Text(self.names.template(form).unwrap_or_default())));
            }
        }
        self.names.numbers = self.whole_numbers();
        self.names.varying = set.iter().map(|name| self.names.plain(name)).collect();
        (self.names.set, self.names.lost, self.names.lists) = (set, lost, lists);
        let mut is_told = false;
        for (name, _) in defined.iter().flat_map(|(_, arguments)| listed(arguments)) {
            *self.names.not_yet.entry(name.to_owned()).or_default() += 1;
        }
        for (element, arguments) in defined {
            // The values of a list are made before any of them is there.
            let made = |(name, text)| (name, self.names.template(text), self.names.computed.take(), self.names.early.take());
            let values: Vec<_> = listed(arguments).map(made).collect();
            for (name, value, computed, early) in values {
                if let Some(left) = self.names.not_yet.get_mut(name) {
                    *left -= 1;
                }
                for other in early {
                    let why = "a list knows the variables of those before it alone, so this is sent with its braces, as JMeter does";
                    let place = self.place(element, &Scope::default());
                    self.collection.leave_out(format!("'${{{other}}}' in the variable '{name}'"), place, why);
                }
                let value = match value {
                    Ok(value) => value,
                    Err(why) => {
                        self.names.lost.insert(name.to_owned(), format!("its value holds {why}"));
                        let place = self.place(element, &Scope::default());
                        self.collection.leave_out(format!("the variable '{name}'"), place, why);
                        continue;
                    }
                };
                if !self.names.between.take().is_empty() {
                    let why = "its value is what a script computes or a line of a file; give it a value before the first request";
                    self.names.computed.take();
                    self.names.lost.insert(name.to_owned(), why.to_owned());
                    let place = self.place(element, &Scope::default());
                    self.collection.leave_out(format!("the variable '{name}'"), place, why);
                    continue;
                }
                let plain = self.names.plain(name);
                // The last one holds, as it does there.
                self.names.known.retain(|known| known.name != plain);
                if self.names.known.len() + self.first.len() >= VARIABLES_MAX {
                    let why = format!("the plan has more than {VARIABLES_MAX} user-defined variables");
                    if self.names.lost.insert(name.to_owned(), why.clone()).is_none_or(|before| before != why) && !is_told {
                        let place = self.place(element, &Scope::default());
                        self.collection.leave_out("its variables from here on", place, why);
                        is_told = true;
                    }
                    continue;
                }
                if computed.is_empty() && !is_drawn(&value) || wishes.variables.iter().any(|(given, _)| self.names.plain(given) == plain) {
                    self.names.known.push(Variable { name: plain, value, secret: false });
                } else {
                    self.names.set.insert(name.to_owned());
                    self.names.varying.insert(plain.clone());
                    self.first.extend(computed);
                    self.first.push((plain, Expression::Text(value)));
                }
            }
            self.names.not_yet.retain(|_, left| *left > 0);
        }
        for (name, value) in &wishes.variables {
            let plain = self.names.plain(name);
            if let Some(known) = self.names.known.iter_mut().find(|known| known.name == plain) {
                known.value = Template::fixed(value);
            }
        }
    }

    /// Where an element stands, as people are told.
    fn place(&self, element: &Element, scope: &Scope<'_>) -> String {
        let path: Vec<&str> = scope.path.iter().copied().chain([element.name.as_str()]).filter(|name| !name.is_empty()).collect();
        // Lines of another file are told with it.
        let file = if element.file.is_empty() { String::new() } else { format!("{} ", element.file) };
        format!("{file}line {}, {}", element.line, path.join(" / "))
    }

    fn leave_out(&mut self, element: &Element, scope: &Scope<'_>, why: impl Into<String>) {
        let place = self.place(element, scope);
        self.collection.leave_out(element.said(), place, why.into());
    }

    /// A request as a mark, with the pauses before it.
    fn sampler(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let inner = scope.within(element);
        let place = self.place(element, scope);
        element.name.clone_into(&mut self.names.sampler);
        let mut items: Vec<Item> = inner.parameters.iter().filter_map(|element| self.user_parameters(element).ok()).flatten().collect();
        items.extend(self.names.taken());
        let before = self.scripts_before(&inner);
        let wrong = self.wrong_with_request(element, &inner, &before);
        items.extend(before.items);
        let pauses = self.pauses(&inner);
        items.extend(self.names.taken());
        items.extend(pauses);
        let request = inner.surroundings.request(element, &self.names);
        let said = match wrong.map_or(request, Err) {
            Ok(said) => said,
            Err(why) => {
                self.names.taken();
                self.names.behind.take();
                self.leave_out(element, scope, format!("it is not sent: {why}"));
                return Vec::new();
            }
        };
        items.extend(self.names.taken());
        for (what, why) in said.left_out {
            self.collection.leave_out(what, place.clone(), why);
        }
        match (self.connect_timeout, said.connect_timeout) {
            (None, time) => self.connect_timeout = time,
            (Some(first), Some(time)) if first != time => {
                self.collection.leave_out(
                    "its connect timeout",
                    place.clone(),
                    format!("a load has one for all its requests, here {first} ms"),
                );
            }
            _ => {}
        }
        let mut request = said.request;
        let times = self.places.entry(place.clone()).or_default();
        *times += 1;
        request.place = if *times > 1 { format!("{place} ({times})") } else { place };
        for extractor in &inner.extractors {
            let taken = answer::taken(extractor, &self.names.mentions, Some(&self.names));
            let mut taken: Vec<Extraction> = taken.into_iter().filter_map(|taken| taken.found.ok()).collect();
            let of_parts = Where::Part(AnswerPart::Hops);
            match Samples::of(extractor.text("Sample.scope")) {
                Samples::Parts if request.resources.is_some() => {
                    taken.retain(|taken| taken.within != of_parts);
                    self.leave_out(extractor, scope, "it looks at what a page loads as well, and here at answers along redirects alone");
                }
                Samples::All if request.resources.is_some() || request.connection.follow.is_some() => {
                    let is_sought = |taken: &&mut Extraction| taken.within == Where::default() && taken.kind == plan::work::Kind::Regex;
                    taken.iter_mut().filter(is_sought).for_each(|taken| taken.within = Where::Part(AnswerPart::Chain));
                    if request.resources.is_some() || taken.iter().any(|taken| taken.within != Where::Part(AnswerPart::Chain)) {
                        let why = "it looks at all that a sample is made of as well, and here at the answer itself and, of a regular expression over bodies, at those along redirects";
                        self.leave_out(extractor, scope, why);
                    }
                }
                _ => {}
            }
            request.extractions.extend(taken);
        }
        self.hold(&mut request, &inner.assertions, scope);
        request.extractions.extend(
            self.names.answer_before.clone().map(|before| Extraction {
                default: Some(String::new()),
                ..Extraction::new(before, plan::work::Kind::Body, String::new())
            }),
        );
        let after = self.scripts_after(&inner);
        items.extend(self.names.taken());
        let keeper = inner.cookies.filter(|manager| groups::keeps_cookies(manager));
        if let (Some(keeper), Some(first)) = (keeper, self.jar)
            && !std::ptr::eq(keeper, first)
        {
            self.leave_out(keeper, &Scope::default(), "a user keeps the cookies of all cookie managers of its group together");
        }
        self.jar = self.jar.or(keeper);
        let cache = self.cache_of(&inner);
        let mark = Step {
            before: before.of_request,
            after,
            cookies: keeper.is_some() || !self.course.cookies,
            cache,
            encoding: said.encoding,
            closes: said.closes,
            timeout: self.limits(&inner).chain(said.timeout).min(),
            failure_ends: inner.step_ends(),
            may_fail: inner.step_ends().is_none(),
            ..Step::new(request.place.clone(), String::new(), Template::default())
        };
        items.push(Item::Step(Box::new(mark)));
        items.extend(self.names.behind.take());
        items.extend(self.end_after_failure(element, &inner));
        self.collection.requests.push(request);
        items
    }

    /// Everything that a group does, as a journey of this name.
    fn journey(&self, name: &str, items: Vec<Item>) -> Journey {
        let plain = if name.trim().is_empty() { "Thread Group" } else { name };
        let is_taken = |name: &str| self.course.journeys.iter().any(|journey| journey.name == name);
        Journey { name: free_name(plain, |number| format!("{plain} ({number})"), is_taken), weight: 1.0, items }
    }
}

impl<'e> Scope<'e> {
    /// What a failure of a step ends here. In a group that is done by itself it ends no more than that.
    fn step_ends(&self) -> Option<Extent> {
        self.failure_ends.filter(|_| !self.is_apart)
    }

    /// What holds in an element: what held before, and what stands in it.
    fn within(&self, element: &'e Element) -> Self {
        let mut scope = Self { round: None, is_once: false, ..self.clone() };
        if !element.name.is_empty() {
            scope.path.push(&element.name);
        }
        let of = |class: &'static str| element.children.iter().filter(move |child| child.class == class);
        // Of several in one place the first holds; of managers of logins, of cookies and of caches, the outermost.
        scope.surroundings.defaults.extend(of("ConfigTestElement").rev());
        scope.surroundings.headers.extend(of("HeaderManager").rev());
        scope.surroundings.auth = scope.surroundings.auth.or_else(|| of("AuthManager").next_back());
        scope.cookies = scope.cookies.or_else(|| of("CookieManager").next_back());
        scope.cache = scope.cache.or_else(|| of("CacheManager").next_back());
        for child in &element.children {
            match child.class.as_str() {
                "UserParameters" if !child.is_on("UserParameters.per_iteration", false) => scope.parameters.push(child),
                class if controllers::is_timer(class) => scope.timers.push(child),
                class if scripts::Role::of(class).is_some() => scope.scripts.push(child),
                class if answer::is_extractor(class) => scope.extractors.push(child),
                class if assertions::is_assertion(class) => scope.assertions.push(child),
                "SampleTimeout" => scope.time_limits.push(child),
                "ResultAction" => {
                    scope.failure_ends = flow::the_larger(scope.failure_ends, flow::ended_by(child));
                    scope.on_failure.push(child);
                }
                _ => {}
            }
        }
        scope
    }
}

#[cfg(test)]
mod tests;
