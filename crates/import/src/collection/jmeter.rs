//! Test plans of JMeter: thread groups become populations, controllers the items that do the same, samplers requests.
//!
//! A plan is a tree, and what an element says holds for the samplers below the element in which it stands. So the tree is gone through from
//! above, with what holds so far. What has no equal is left out by name and place, with everything that cannot be right without it: a
//! request that would be sent with a value missing is not sent.
//!
//! Formats and meanings: JMeter 5.6.3, its component reference and `SaveService`'s properties.

mod answer;
mod controllers;
mod groups;
mod request;
mod text;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use plan::template::Template;
use plan::work::{Item, Journey, Step};

use super::course::Course;
use super::url::variable_name;
use super::{Collection, Kind, ReadError, Variable, Wishes};
use request::Surroundings;
use text::Names;
use tree::{Element, list_of, text_of};

/// A plan, while it is read.
struct Reading<'e> {
    collection: Collection,
    course: Course,
    names: Names<'e>,
    plan: &'e Element,
    /// How often a request of each place was made: a module may be used several times.
    places: BTreeMap<String, usize>,
    /// How long opening a connection may take, and whether connections are closed, by the first sampler that says so.
    connect_timeout: Option<u64>,
}

/// What holds where the reader is.
#[derive(Debug, Clone, Default)]
struct Scope<'e> {
    surroundings: Surroundings<'e>,
    timers: Vec<&'e Element>,
    extractors: Vec<&'e Element>,
    assertions: Vec<&'e Element>,
    /// Whether a failure ends the journey.
    must_succeed: bool,
    /// The elements that it stands in.
    path: Vec<&'e str>,
    /// So many users go through it.
    users: u64,
}

/// Whether a file is a test plan.
pub(super) fn is_one(text: &str) -> bool {
    text.contains("<jmeterTestPlan")
}

/// Reads a test plan.
pub(super) fn read(text: &str, wishes: &Wishes) -> Result<Collection, ReadError> {
    let root = Element::read(text)?;
    let Some(plan) = root.children.iter().find(|element| element.class == "TestPlan") else {
        return Err(ReadError::new("there is no test plan in it"));
    };
    let mut collection = Collection::new(Kind::Jmeter);
    plan.name.clone_into(&mut collection.name);
    let properties = wishes.variables.iter().chain(&wishes.properties).cloned().collect();
    let names = Names { properties, plan: plan.name.clone(), ..Names::default() };
    let mut reading = Reading { collection, course: Course::default(), names, plan, places: BTreeMap::new(), connect_timeout: None };
    reading.variables(wishes);
    reading.groups();
    if wishes.comes_at_a_rate {
        reading.course.come_at_a_rate();
    }
    let Reading { mut collection, course, names, connect_timeout, .. } = reading;
    for name in names.unknown.into_inner() {
        let why = "nothing in the plan gives it a value, so it is sent with its braces, as JMeter does";
        collection.leave_out(format!("the variable '{name}'"), "the whole plan", why);
    }
    for request in &mut collection.requests {
        request.connection.connect_timeout = connect_timeout.map(|time| format!("{time}ms"));
    }
    collection.variables = names.known;
    collection.course = Some(course);
    Ok(collection)
}

/// All texts of a plan.
fn texts_of(plan: &Element) -> Vec<&str> {
    let mut texts = Vec::new();
    each(plan, &mut |element| tree::each_text(&element.properties, &mut |text| texts.push(text)));
    texts
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
    /// Looks for everything that gives a variable a value.
    fn variables(&mut self, wishes: &Wishes) {
        let mut defined = vec![(self.plan, self.plan.list("TestPlan.user_defined_variables"))];
        let mut set: BTreeSet<String> = BTreeSet::new();
        let mut lost: BTreeMap<String, String> = BTreeMap::new();
        each(self.plan, &mut |element| match element.class.as_str() {
            "Arguments" => defined.push((element, element.properties.as_slice())),
            class if groups::is_counter(class) => _ = set.insert(groups::counter_name(element).to_owned()),
            "ForeachController" => _ = set.insert(element.text("ForeachController.returnVal").trim().to_owned()),
            "UserParameters" => {
                for name in element.texts("UserParameters.names") {
                    lost.insert(name.trim().to_owned(), format!("{} is not carried over", element.said()));
                }
            }
            class if answer::is_extractor(class) => {
                for taken in answer::taken(element) {
                    match taken.found {
                        Ok(_) => _ = set.insert(taken.name),
                        Err(why) => _ = lost.insert(taken.name, format!("{} is not carried over: {why}", element.said())),
                    }
                }
            }
            _ => {}
        });
        (self.names.set, self.names.lost) = (set, lost);
        self.names.mentions = texts_of(self.plan);
        self.names.set.iter().for_each(|name| _ = self.names.lost.remove(name));
        for (element, arguments) in defined {
            for argument in list_of(arguments, "Arguments.arguments") {
                let name = text_of(argument.own(), "Argument.name").trim();
                if name.is_empty() {
                    continue;
                }
                let value = match self.names.template(text_of(argument.own(), "Argument.value")) {
                    Ok(value) => value,
                    Err(why) => {
                        self.names.lost.insert(name.to_owned(), format!("its value holds {why}"));
                        let place = self.place(element, &Scope::default());
                        self.collection.leave_out(format!("the variable '{name}'"), place, why);
                        continue;
                    }
                };
                let plain = variable_name(name);
                // The last one holds, as it does there.
                self.names.known.retain(|known| known.name != plain);
                self.names.known.push(Variable { name: plain, value, secret: false });
            }
        }
        for (name, value) in &wishes.variables {
            let plain = variable_name(name);
            if let Some(known) = self.names.known.iter_mut().find(|known| known.name == plain) {
                known.value = Template::fixed(value);
            }
        }
    }

    /// Where an element stands, as people are told.
    fn place(&self, element: &Element, scope: &Scope<'_>) -> String {
        let path: Vec<&str> = scope.path.iter().copied().chain([element.name.as_str()]).filter(|name| !name.is_empty()).collect();
        format!("line {}, {}", element.line, path.join(" / "))
    }

    fn leave_out(&mut self, element: &Element, scope: &Scope<'_>, why: impl Into<String>) {
        let place = self.place(element, scope);
        self.collection.leave_out(element.said(), place, why.into());
    }

    /// A request as a mark, with the pauses before it.
    fn sampler(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let inner = scope.within(element);
        let place = self.place(element, scope);
        let said = match inner.surroundings.request(element, &self.names) {
            Ok(said) => said,
            Err(why) => {
                self.leave_out(element, scope, format!("it is not sent: {why}"));
                return Vec::new();
            }
        };
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
        if said.closes {
            self.collection.leave_out(
                "that it opens a connection of its own",
                place.clone(),
                "a load keeps its connections, or none of them",
            );
        }
        let mut request = said.request;
        let times = self.places.entry(place.clone()).or_default();
        *times += 1;
        request.place = if *times > 1 { format!("{place} ({times})") } else { place };
        for extractor in &inner.extractors {
            request.extractions.extend(answer::taken(extractor).into_iter().filter_map(|taken| taken.found.ok()));
        }
        for assertion in &inner.assertions {
            request.checks.extend(answer::checks(assertion).unwrap_or_default());
        }
        let mut items = self.pauses(&inner);
        let mark = Step {
            timeout: said.timeout,
            must_succeed: scope.must_succeed,
            ..Step::new(request.place.clone(), String::new(), Template::default())
        };
        items.push(Item::Step(Box::new(mark)));
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
    /// What holds in an element: what held before, and what stands in it.
    fn within(&self, element: &'e Element) -> Self {
        let mut scope = self.clone();
        if !element.name.is_empty() {
            scope.path.push(&element.name);
        }
        for child in &element.children {
            match child.class.as_str() {
                "ConfigTestElement" => scope.surroundings.defaults.push(child),
                "HeaderManager" => scope.surroundings.headers.push(child),
                "AuthManager" => scope.surroundings.auth = Some(child),
                class if controllers::is_timer(class) => scope.timers.push(child),
                class if answer::is_extractor(class) => scope.extractors.push(child),
                class if answer::is_assertion(class) => scope.assertions.push(child),
                _ => {}
            }
        }
        scope
    }
}

#[cfg(test)]
mod tests;
