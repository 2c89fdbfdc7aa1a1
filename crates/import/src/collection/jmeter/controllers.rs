//! Controllers and timers of a test plan as items of what users do.

use plan::Nanos;
use plan::template::{Template, Value};
use plan::work::{Case, Duration, Expression, Item, List, Operator, Think, Weights};

use super::tree::Element;
use super::{Reading, Scope};
use crate::collection::url::variable_name;

/// A loop without an end goes round so often: for years.
const ENDLESS: &str = "1000000000";
/// Modules lead to each other so deep.
const DEPTH_MAX: usize = 60;

/// Whether an element makes users wait.
pub(super) fn is_timer(class: &str) -> bool {
    class.ends_with("Timer")
}

/// What an element that is none of these is.
pub(super) fn is_of_order(class: &str) -> bool {
    class.ends_with("Controller")
        || class.ends_with("Control")
        || class.ends_with("Sampler")
        || class == "RunTime"
        || is_http(class)
        || class == "TestAction"
}

fn is_http(class: &str) -> bool {
    matches!(class, "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" | "HTTPSampler3")
}

impl<'e> Reading<'e> {
    /// What stands in an element, in its order. `scope` is what holds there.
    pub(super) fn items(&mut self, children: &'e [Element], scope: &Scope<'e>) -> Vec<Item> {
        children.iter().flat_map(|child| self.item(child, scope)).collect()
    }

    /// What an element does. `scope` is what holds around it.
    fn item(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        if scope.path.len() > DEPTH_MAX {
            self.leave_out(element, scope, "controllers stand in each other too deep");
            return Vec::new();
        }
        let of = |name: &str| element.text(name);
        match element.class.as_str() {
            class if is_http(class) => self.sampler(element, scope),
            "TestAction" => self.action(element, scope),
            "DebugSampler" | "TestFragmentController" => Vec::new(),
            "GenericController" | "RecordingController" => self.inner(element, scope),
            "LoopController" => {
                let times = self.times(element, scope, of("LoopController.loops"));
                self.around(element, scope, times.map(|times| move |items| Item::Repeat { times, items }))
            }
            "TransactionController" => {
                let (name, pauses) = (element.name.clone(), element.is_on("TransactionController.includeTimers", true));
                self.around(element, scope, Some(move |items| Item::Transaction { name, pauses, items }))
            }
            "OnceOnlyController" => self.around(element, scope, Some(Item::Once)),
            "CriticalSectionController" => {
                let name = self.known(element, scope, of("CriticalSectionController.lockName"));
                self.around(
                    element,
                    scope,
                    name.map(|name| {
                        move |items| Item::CriticalSection { name: if name.is_empty() { "section".to_owned() } else { name }, items }
                    }),
                )
            }
            "IfController" => self.when(element, scope),
            "WhileController" => self.while_it_holds(element, scope),
            "SwitchController" => self.switch(element, scope),
            "ForeachController" => self.for_each(element, scope),
            "InterleaveControl" => {
                if self.has_inner_blocks(element) && of("InterleaveControl.style").trim() != "1" {
                    self.leave_out(element, scope, "of the controllers in it, each is done whole in its turn, and not one of its samplers");
                }
                let (parts, per_user) = (self.parts(element, scope), !element.is_on("InterleaveControl.accrossThreads", false));
                if parts.is_empty() { Vec::new() } else { vec![Item::Interleave { parts, per_user }] }
            }
            "RandomController" => {
                if self.has_inner_blocks(element) && of("InterleaveControl.style").trim() != "1" {
                    self.leave_out(
                        element,
                        scope,
                        "of the controllers in it, each is done whole when it is chosen, and not one of its samplers",
                    );
                }
                let choices = self.parts(element, scope);
                Weights::new(&vec![1.0; choices.len()]).map_or_else(|_| Vec::new(), |weights| vec![Item::Pick { weights, choices }])
            }
            "RandomOrderController" => {
                let parts = self.parts(element, scope);
                if parts.is_empty() { Vec::new() } else { vec![Item::RandomOrder(parts)] }
            }
            "ParallelSampler" | "ParallelController" => {
                let at_once =
                    if element.is_on("LIMIT_MAX_THREAD_NUMBER", false) { of("MAX_THREAD_NUMBER").trim().parse().ok() } else { None };
                let parts = self.parts(element, scope);
                if parts.is_empty() { Vec::new() } else { vec![Item::Parallel { parts, at_once }] }
            }
            "ThroughputController" => {
                let (text, unit) = if of("ThroughputController.style").trim() == "1" {
                    (of("ThroughputController.percentThroughput"), "%")
                } else {
                    (of("ThroughputController.maxThroughput"), " times")
                };
                let per_user = element.is_on("ThroughputController.perThread", false);
                let amount = self.known(element, scope, text).map(|number| Template::fixed(format!("{number}{unit}")));
                self.around(element, scope, amount.map(|amount| move |items| Item::Share { amount, per_user, items }))
            }
            "RunTime" => {
                let seconds = self.number(element, scope, of("RunTime.seconds"));
                let time = seconds.map(|seconds| Duration::Drawn(Think::Fixed(seconds_of(seconds))));
                self.around(element, scope, time.map(|time| move |items| Item::RunFor { time, items }))
            }
            "ModuleController" => match self.module(element) {
                Some(target) => {
                    let mut scope = scope.clone();
                    scope.path.push(&element.name);
                    if target.class == "TestFragmentController" { self.inner(target, &scope) } else { self.item(target, &scope) }
                }
                None => {
                    self.leave_out(element, scope, "there is no such part of the plan");
                    Vec::new()
                }
            },
            "IncludeController" => {
                self.leave_out(element, scope, "another plan is not read with this one; put its part into this plan");
                Vec::new()
            }
            class if is_of_order(class) => {
                let what = if class.ends_with("Sampler") {
                    "it is no HTTP request, and nothing of it is sent"
                } else {
                    "it has no equal here, and nothing in it is sent"
                };
                self.leave_out(element, scope, what);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn inner(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        self.items(&element.children, &scope.within(element))
    }

    /// What stands in an element within what `around` makes; nothing of it without that, which has been told.
    fn around(&mut self, element: &'e Element, scope: &Scope<'e>, around: Option<impl FnOnce(Vec<Item>) -> Item>) -> Vec<Item> {
        let Some(around) = around else { return Vec::new() };
        let items = self.inner(element, scope);
        if items.is_empty() { Vec::new() } else { vec![around(items)] }
    }

    /// Each element in an element by itself.
    fn parts(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Vec<Item>> {
        let inner = scope.within(element);
        element
            .children
            .iter()
            .filter(|child| is_of_order(&child.class))
            .map(|child| self.item(child, &inner))
            .filter(|items| !items.is_empty())
            .collect()
    }

    fn has_inner_blocks(&self, element: &Element) -> bool {
        element.children.iter().any(|child| is_of_order(&child.class) && child.children.iter().any(|inner| is_of_order(&inner.class)))
    }

    /// A text that must be known now, or is told.
    fn known(&mut self, element: &Element, scope: &Scope<'e>, text: &str) -> Option<String> {
        let known = self.names.literal(text);
        if known.is_none() {
            self.leave_out(element, scope, format!("'{}' is known only on the way, and nothing in it is sent", text.trim()));
        }
        known
    }

    fn number(&mut self, element: &Element, scope: &Scope<'e>, text: &str) -> Option<f64> {
        let number = self.names.number(text).filter(|number| *number >= 0.0);
        if number.is_none() {
            self.leave_out(
                element,
                scope,
                format!("'{}' is no number that is known before the load, and nothing in it is sent", text.trim()),
            );
        }
        number
    }

    /// How often something is done, also where an answer tells.
    fn times(&mut self, element: &Element, scope: &Scope<'e>, text: &str) -> Option<Template> {
        match self.names.template(text.trim()) {
            Ok(times) if times.is_fixed() => match times.fixed_text().parse::<i64>() {
                Ok(times) if times < 0 => Some(Template::fixed(ENDLESS)),
                Ok(_) => Some(times),
                Err(_) => {
                    self.leave_out(element, scope, format!("'{text}' is no number of times, and nothing in it is sent"));
                    None
                }
            },
            Ok(times) => Some(times),
            Err(why) => {
                self.leave_out(element, scope, format!("nothing in it is sent: {why}"));
                None
            }
        }
    }

    /// A comparison that is written as a script.
    fn comparison(&self, script: &str) -> Result<Expression, String> {
        let script = with_variables(script);
        if !is_comparison(&script) {
            return Err(format!("its condition '{}' is more than a comparison", script.trim()));
        }
        let typed = self.names.template(&script)?.to_string();
        let variables: Vec<String> =
            self.names.set.iter().map(|name| variable_name(name)).chain(self.names.known.iter().map(|known| known.name.clone())).collect();
        let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
        let files: Vec<&str> = self.course.data.iter().map(|(name, _)| name.as_str()).collect();
        Expression::parse_condition(&typed, &files, &variables).map_err(|mistakes| {
            let why = mistakes.first().map_or(String::new(), |mistake| format!(": {}", mistake.message));
            format!("its condition '{}' is not understood{why}", script.trim())
        })
    }

    /// Whether a text is this one, or is not.
    fn is_text(&self, operator: Operator, text: &str, other: &str) -> Result<Expression, String> {
        let sides = (Expression::Text(self.names.template(text)?), Expression::Text(Template::fixed(other)));
        Ok(Expression::Two(operator, Box::new(sides)))
    }

    fn when(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let text = element.text("IfController.condition").trim();
        match self.names.literal(text).as_deref() {
            Some("true") => return self.inner(element, scope),
            Some("false") => return Vec::new(),
            _ => {}
        }
        if element.is_on("IfController.evaluateAll", false) {
            self.leave_out(element, scope, "its condition is looked at once, and not before each sampler in it");
        }
        let condition = match script_of(text) {
            Some(script) => self.comparison(&script),
            None if element.is_on("IfController.useExpression", false) => self.is_text(Operator::Is, text, "true"),
            None => self.comparison(text),
        };
        match condition {
            Ok(condition) => self.around(element, scope, Some(move |items| Item::If { condition, items, otherwise: Vec::new() })),
            Err(why) => {
                self.leave_out(element, scope, format!("nothing in it is sent: {why}"));
                Vec::new()
            }
        }
    }

    fn while_it_holds(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let text = element.text("WhileController.condition").trim();
        if text.is_empty() || text == "LAST" {
            self.leave_out(element, scope, "it goes on until a sampler fails, which is not asked for here; nothing in it is sent");
            return Vec::new();
        }
        match self.names.literal(text) {
            Some(word) if word.eq_ignore_ascii_case("false") => return Vec::new(),
            Some(_) => return self.around(element, scope, Some(|items| Item::Repeat { times: Template::fixed(ENDLESS), items })),
            None => {}
        }
        // It ends with the text `false`, whatever else it is.
        let condition = script_of(text).map_or_else(|| self.is_text(Operator::IsNot, text, "false"), |script| self.comparison(&script));
        match condition {
            Ok(condition) => self.around(element, scope, Some(move |items| Item::While { condition, items })),
            Err(why) => {
                self.leave_out(element, scope, format!("nothing in it is sent: {why}"));
                Vec::new()
            }
        }
    }

    fn switch(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let value = match self.names.template(element.text("SwitchController.value").trim()) {
            Ok(value) => value,
            Err(why) => {
                self.leave_out(element, scope, format!("nothing in it is sent: {why}"));
                return Vec::new();
            }
        };
        let inner = scope.within(element);
        let (mut cases, mut otherwise, mut first) = (Vec::new(), Vec::new(), None);
        for (place, child) in element.children.iter().filter(|child| is_of_order(&child.class)).enumerate() {
            let items = self.item(child, &inner);
            if child.name == "default" {
                otherwise = items.clone();
            }
            first.get_or_insert_with(|| items.clone());
            let mut values = vec![place.to_string()];
            if place == 0 {
                values.push(String::new());
            }
            if !child.name.is_empty() && !values.contains(&child.name) {
                values.push(child.name.clone());
            }
            cases.push(Case { values, items });
        }
        // A value that is fixed chooses now.
        if value.is_fixed() {
            let text = value.fixed_text();
            let is_number = text.parse::<u64>().is_ok();
            let chosen = cases.into_iter().find(|case| case.values.contains(&text)).map(|case| case.items);
            return chosen.or(if is_number { first } else { None }).unwrap_or(otherwise);
        }
        if cases.is_empty() { Vec::new() } else { vec![Item::Switch { value: Expression::Text(value), cases, otherwise }] }
    }

    fn for_each(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let of = |name: &str| element.text(&format!("ForeachController.{name}")).trim();
        let (from, variable) = (of("inputVal"), of("returnVal"));
        if !matches!(of("startIndex"), "" | "0") || !of("endIndex").is_empty() {
            self.leave_out(element, scope, "it goes through all that were found, and not from one place to another");
        }
        let separator = if element.is_on("ForeachController.useSeparator", true) { "_" } else { "" };
        let numbered: Vec<Template> = (1..).map_while(|number| self.names.value(&format!("{from}{separator}{number}"))).collect();
        let is_list = self.collects(from);
        let list = if !numbered.is_empty() {
            List::Items(numbered)
        } else if is_list {
            List::Array(Value::Variable(variable_name(from)).into())
        } else {
            self.leave_out(element, scope, format!("no extractor before it takes all matches into '{from}', and nothing in it is sent"));
            return Vec::new();
        };
        let variable = variable_name(variable);
        self.around(element, scope, Some(move |items| Item::ForEach { variable, list, items }))
    }

    /// Whether an extractor takes all matches into this variable.
    fn collects(&self, name: &str) -> bool {
        let mut collects = false;
        super::each(self.plan, &mut |element| {
            if super::answer::is_extractor(&element.class) {
                let every = |taken: &super::answer::Taken| taken.found.as_ref().is_ok_and(|found| found.which == plan::work::Which::Every);
                collects |= super::answer::taken(element).iter().any(|taken| taken.name == name && every(taken));
            }
        });
        collects
    }

    /// The part of the plan that a module controller names.
    fn module(&self, element: &Element) -> Option<&'e Element> {
        let path: Vec<&str> = element.texts("ModuleController.node_path").into_iter().map(str::trim).collect();
        // It begins with the root of the tree, and then with the plan's own name.
        let behind = path.iter().position(|name| *name == self.plan.name).map_or(1, |place| place + 1);
        let mut place = self.plan;
        for name in path.get(behind..)? {
            place = place.children.iter().find(|child| child.name == *name)?;
        }
        (!std::ptr::eq(place, self.plan)).then_some(place)
    }

    /// What a user does in place of a request.
    fn action(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let inner = scope.within(element);
        match element.text("ActionProcessor.action").trim() {
            "1" => {
                let mut items = self.pauses(&inner);
                match self.wait(element.text("ActionProcessor.duration")) {
                    Ok(wait) => items.extend(wait),
                    Err(why) => self.leave_out(element, scope, why),
                }
                items
            }
            action => {
                let what = match action {
                    "0" | "2" => "it stops a user or the test",
                    "3" | "4" => "it begins the next iteration",
                    "5" => "it leaves a loop",
                    _ => "it is unknown",
                };
                self.leave_out(element, scope, format!("{what}, and users go on here"));
                Vec::new()
            }
        }
    }

    /// A pause of so many milliseconds.
    fn wait(&self, milliseconds: &str) -> Result<Option<Item>, String> {
        let text = self.names.template(milliseconds.trim())?;
        if !text.is_fixed() {
            let mut written = text;
            written.push("ms");
            return Ok(Some(Item::Pause(Duration::Written(written))));
        }
        match text.fixed_text().as_str() {
            "" | "0" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(milliseconds) if milliseconds >= 0.0 => {
                    Ok(Some(Item::Pause(Duration::Drawn(Think::Fixed(milliseconds_of(milliseconds))))))
                }
                _ => Err(format!("its time '{text}' is no number of milliseconds")),
            },
        }
    }

    /// The pauses before a sampler: those of all timers that hold there.
    pub(super) fn pauses(&self, scope: &Scope<'e>) -> Vec<Item> {
        scope.timers.iter().filter_map(|timer| self.pause(timer, scope.users).ok()).flatten().collect()
    }

    /// The pauses of a timer, before a sampler of a group of so many users.
    ///
    /// # Errors
    /// In words, if they cannot be said here.
    pub(super) fn pause(&self, timer: &Element, users: u64) -> Result<Vec<Item>, String> {
        let known = |name: &str| {
            let text = timer.text(name);
            let number = if text.trim().is_empty() { Some(0.0) } else { self.names.number(text) };
            number.filter(|number| *number >= 0.0).ok_or_else(|| format!("its time '{text}' is no number that is known before the load"))
        };
        let drawn = |think: Think| Item::Pause(Duration::Drawn(think));
        match timer.class.as_str() {
            "ConstantTimer" => Ok(self.wait(timer.text("ConstantTimer.delay"))?.into_iter().collect()),
            "UniformRandomTimer" => {
                let (offset, range) = (known("ConstantTimer.delay")?, known("RandomTimer.range")?);
                Ok(vec![drawn(Think::Uniform(milliseconds_of(offset), milliseconds_of(offset + range)))])
            }
            "GaussianRandomTimer" => {
                let (offset, range) = (known("ConstantTimer.delay")?, known("RandomTimer.range")?);
                Ok(vec![drawn(Think::Gaussian(milliseconds_of(offset), milliseconds_of(range)))])
            }
            "PoissonRandomTimer" => {
                let (offset, mean) = (known("ConstantTimer.delay")?, known("RandomTimer.range")?);
                Ok(vec![drawn(Think::Fixed(milliseconds_of(offset))), drawn(Think::Poisson(milliseconds_of(mean)))])
            }
            "SyncTimer" => {
                let waits_for = known("groupSize")? as u64;
                let within = known("timeoutInMs")?;
                let together = if waits_for == 0 { users } else { waits_for };
                Ok(vec![Item::Rendezvous { users: together.max(1), within: (within > 0.0).then(|| milliseconds_of(within)) }])
            }
            _ => Err("its pace has no equal here; give the group a rate".to_owned()),
        }
    }
}

fn milliseconds_of(milliseconds: f64) -> Nanos {
    seconds_of(milliseconds / 1e3)
}

fn seconds_of(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as u64)
}

/// What stands in an expression of JEXL, Groovy or JavaScript, if a text is one.
fn script_of(text: &str) -> Option<String> {
    ["__jexl3", "__jexl2", "__groovy", "__javaScript"].iter().find_map(|name| {
        let inner = text.strip_prefix("${")?.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(")}")?;
        Some(super::text::split(inner).first().map_or(String::new(), |first| first.replace("\\,", ",")))
    })
}

/// Whether a script only compares: it calls nothing, and what stands outside of quotation marks means the same here.
fn is_comparison(script: &str) -> bool {
    let (mut outside, mut rest) = (String::new(), script);
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        let end = match letter {
            '"' | '\'' => behind.find(letter).map(|at| at + 1),
            '$' if behind.starts_with('{') => behind.find('}').map(|at| at + 1),
            _ => {
                outside.push(letter);
                Some(0)
            }
        };
        let Some(end) = end else { return false };
        // What was passed over parts words.
        outside.push_str(if end > 0 { " \u{1} " } else { "" });
        rest = &behind[end..];
    }
    let has_texts = script.contains(['"', '\'']);
    let is_known = |letter: char| {
        letter.is_ascii_alphanumeric()
            || letter.is_ascii_whitespace()
            || "\u{1}()!&|=<>-*/%._".contains(letter)
            || letter == '+' && !has_texts
    };
    // A name, a call or a member is something else there; numbers have a point between digits.
    let words =
        outside.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.' || letter == '_')).filter(|word| !word.is_empty());
    let mut words = words.filter(|word| word.parse::<f64>().is_err() || word.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    outside.chars().all(is_known) && !outside.contains("=~") && words.all(|word| matches!(word, "true" | "false" | "and" | "or" | "not"))
}

/// A script with `${name}` in the place of what asks for a variable.
fn with_variables(script: &str) -> String {
    let mut written = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find("vars.get(") {
        let behind = &rest[at + "vars.get(".len()..];
        let quote = behind.chars().next().filter(|letter| "\"'".contains(*letter));
        let name = quote.and_then(|quote| behind[1..].split_once(quote)).filter(|(_, after)| after.starts_with(')'));
        written.push_str(&rest[..at]);
        match name {
            Some((name, after)) => {
                written.push_str(&format!("${{{name}}}"));
                rest = &after[1..];
            }
            None => {
                written.push_str("vars.get(");
                rest = behind;
            }
        }
    }
    written + rest
}
