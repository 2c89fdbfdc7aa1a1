//! Controllers and timers of a test plan as items of what users do.

use plan::Nanos;
use plan::template::{Piece, Template};
use plan::work::{Case, Duration, Expression, Function, Item, Operator, PacedUsers, Pacing, Think, USER_NUMBER, Weights, each_item};

use super::expressions::{fixed, held, part_at, two};
use super::flow::Around;
use super::tree::Element;
use super::{Reading, Scope, schedule, scripts};

/// The setting that names another plan.
pub(super) const INCLUDED: &str = "IncludeController.includepath";
/// A loop without an end goes round so often: for years.
pub(super) const ENDLESS: &str = "1000000000";
/// A pace with a longer time from one to the next lets nobody go on in any load.
const BETWEEN_SECONDS_MAX: f64 = 1e9;
/// Modules lead to each other so deep.
const DEPTH_MAX: usize = 60;

/// Whether an element makes users wait.
pub(super) fn is_timer(class: &str) -> bool {
    class.ends_with("Timer")
}

/// What an element that is none of these is.
pub(super) fn is_of_order(class: &str) -> bool {
    class.ends_with("Controller")
        || class.ends_with("Control") && !records(class)
        || class.ends_with("Sampler")
        || class == "RunTime"
        || is_http(class)
        || class == "TestAction"
}

/// Whether an element is there for recording a plan, and does nothing in one.
pub(super) fn records(class: &str) -> bool {
    matches!(class, "ProxyControl" | "HttpMirrorControl" | "HttpSimpleTableControl" | "WorkBench")
}

/// Whether an element sends something itself.
pub(super) fn is_sampler(class: &str) -> bool {
    is_http(class) || class.ends_with("Sampler") && class != "ParallelSampler" || class == "TestAction"
}

/// Whether a controller only holds together what is in it.
fn is_plain(element: &Element) -> bool {
    matches!(element.class.as_str(), "GenericController" | "RecordingController")
}

/// Whether there are only samplers in a controller, and in those in it that hold together.
fn holds_samplers(controller: &Element, depth: usize) -> bool {
    controller.children.iter().all(|child| {
        let is_set = super::counters::is_counter(&child.class) || child.class == "UserParameters";
        let is_one = !is_of_order(&child.class) || is_sampler(&child.class);
        !is_set && (is_one || depth < DEPTH_MAX && is_plain(child) && holds_samplers(child, depth + 1))
    })
}

fn is_http(class: &str) -> bool {
    // The last one is a plugin's, which speaks HTTP/2 where the server does, as all requests do here.
    matches!(class, "HTTPSamplerProxy" | "HTTPSampler" | "HTTPSampler2" | "HTTPSampler3" | "HTTP2Sampler")
}

impl<'e> Reading<'e> {
    /// What stands in an element, in its order. `scope` is what holds there.
    pub(super) fn items(&mut self, children: &'e [Element], scope: &Scope<'e>) -> Vec<Item> {
        children.iter().flat_map(|child| self.item(child, scope)).collect()
    }

    /// What an element does. `scope` is what holds around it.
    pub(super) fn item(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        if scope.path.len() > DEPTH_MAX {
            self.leave_out(element, scope, "controllers stand in each other too deep");
            return Vec::new();
        }
        if is_of_order(&element.class) && !self.has_room(element, scope, 1) {
            return Vec::new();
        }
        let of = |name: &str| element.text(name);
        // What was computed for something that is left out.
        self.names.taken();
        match element.class.as_str() {
            class if is_http(class) => self.sampler(element, scope),
            class if scripts::Role::of(class) == Some(scripts::Role::Sampler) => self.script_sampler(element, scope),
            "TestAction" => self.action(element, scope),
            "DebugSampler" => self.debug_sampler(element, scope),
            "TestFragmentController" => Vec::new(),
            _ if is_plain(element) => self.inner(element, scope),
            // One that is not to be entered again is done once by each user.
            "LoopController" if of("LoopController.continue_forever").trim().eq_ignore_ascii_case("false") && !scope.is_once => {
                let once = Scope { is_once: true, ..scope.clone() };
                let items = self.item(element, &once);
                if items.is_empty() { items } else { vec![Item::Once(items)] }
            }
            "LoopController" => self.looped(element, scope),
            "TransactionController" => {
                let (name, pauses) = (element.name.clone(), element.is_on("TransactionController.includeTimers", true));
                let only_row = element.is_on("TransactionController.parent", false);
                self.around(element, scope, Some(move |items| Item::Transaction { name, pauses, only_row, items }))
            }
            "OnceOnlyController" => {
                let items = match &scope.round {
                    None => self.around(element, scope, Some(Item::Once)),
                    Some(round) => {
                        let condition = two(held(round), Operator::Is, fixed(1));
                        self.around(element, scope, Some(move |items| Item::If { condition, items, otherwise: Vec::new() }))
                    }
                };
                if super::flow::ends_early(&items) {
                    let why = "an action in it ends the round or the iteration: it is done again with the next one there, and not here";
                    self.leave_out(element, scope, why);
                }
                items
            }
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
            "WeightedSwitchController" => self.weighted(element, scope),
            "InterleaveControl" => {
                let before = self.set_at_each_iteration(element, scope);
                let parts = self.turns(element, scope);
                if parts.is_empty() {
                    return Vec::new();
                }
                if element.is_on("InterleaveControl.accrossThreads", false) {
                    return behind(before, self.turns_by_user(parts));
                }
                behind(before, vec![Item::Interleave { parts, per_user: true }])
            }
            "RandomController" => {
                let before = self.set_at_each_iteration(element, scope);
                let choices = self.turns(element, scope);
                let pick = Weights::new(&vec![1.0; choices.len()]).map(|weights| vec![Item::Pick { weights, choices }]);
                behind(before, pick.unwrap_or_default())
            }
            "RandomOrderController" => {
                let before = self.set_at_each_iteration(element, scope);
                let parts = self.parts(element, scope);
                behind(before, if parts.is_empty() { Vec::new() } else { vec![Item::RandomOrder(parts)] })
            }
            "ParallelSampler" | "ParallelController" => {
                let scope = &Scope { around: Around::Branch, is_in_branch: true, ..scope.clone() };
                let at_once =
                    if element.is_on("LIMIT_MAX_THREAD_NUMBER", false) { of("MAX_THREAD_NUMBER").trim().parse().ok() } else { None };
                let before = self.set_at_each_iteration(element, scope);
                let parts = self.parts(element, scope);
                behind(before, if parts.is_empty() { Vec::new() } else { vec![Item::Parallel { parts, at_once }] })
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
                let scope = &Scope { around: Around::Timed, ..scope.clone() };
                self.around(element, scope, time.map(|time| move |items| Item::RunFor { time, items }))
            }
            "ModuleController" => match self.module(element) {
                Some(target) => self.led_to(element, target, scope),
                None => {
                    self.leave_out(element, scope, "there is no such part of the plan");
                    Vec::new()
                }
            },
            "IncludeController" => match self.included(element) {
                Ok(target) => self.led_to(element, target, scope),
                Err(why) => {
                    self.leave_out(element, scope, why);
                    Vec::new()
                }
            },
            class if is_of_order(class) => {
                let what = match class {
                    "SoapSampler" | "WebServiceSampler" => {
                        "JMeter itself has it no more, and nothing of it is sent: make it an HTTP Request whose body is the envelope"
                    }
                    _ if class.ends_with("Sampler") => "it is no HTTP request, and nothing of it is sent",
                    _ => "it has no equal here, and nothing in it is sent",
                };
                self.leave_out(element, scope, what);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn inner(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let set = self.set_at_each_iteration(element, scope);
        let items = self.items(&element.children, &scope.within(element));
        behind(set, items)
    }

    /// Another part of the plan, or of one that is included, in the place of an element.
    fn led_to(&mut self, element: &'e Element, target: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        if scope.led_to.iter().any(|known| std::ptr::eq(*known, target)) {
            self.leave_out(element, scope, "it leads back to where it stands, and nothing of it is sent");
            return Vec::new();
        }
        let mut scope = scope.clone();
        scope.path.push(&element.name);
        scope.led_to.push(target);
        scope.round = None;
        if target.class == "TestFragmentController" { self.inner(target, &scope) } else { self.item(target, &scope) }
    }

    /// Whether so many more parts are read; else that is told.
    fn has_room(&mut self, element: &Element, scope: &Scope<'e>, parts: usize) -> bool {
        let had_room = self.parts_left > 0;
        self.parts_left = self.parts_left.saturating_sub(parts);
        if had_room && self.parts_left == 0 {
            let why = format!("with what modules lead to, the plan has more than {} parts; from here on nothing is sent", super::PARTS_MAX);
            self.leave_out(element, scope, why);
        }
        self.parts_left > 0
    }

    /// Parts of which each user does the next each time; the first user begins with the first, the second with the second, and so on.
    fn turns_by_user(&self, parts: Vec<Vec<Item>>) -> Vec<Item> {
        let turn = self.names.fresh("turn");
        self.names.counters.borrow_mut().push(turn.clone());
        let next = two(held(&turn), Operator::Plus, fixed(1));
        let place = two(two(held(&turn), Operator::Plus, held(USER_NUMBER)), Operator::Minus, fixed(2));
        let place = two(place, Operator::Modulo, fixed(parts.len()));
        vec![Item::Set(vec![(turn, next)]), part_at(place, parts)]
    }

    /// What stands in an element within what `around` makes; nothing of it without that, which has been told.
    pub(super) fn around(&mut self, element: &'e Element, scope: &Scope<'e>, around: Option<impl FnOnce(Vec<Item>) -> Item>) -> Vec<Item> {
        let Some(around) = around else { return Vec::new() };
        let items = self.inner(element, scope);
        if items.is_empty() { Vec::new() } else { vec![around(items)] }
    }

    /// The same where each has its turn, also a sampler of which nothing is sent; nothing if nothing is sent at all. Where controllers are
    /// not done whole, each gives one of its samplers in its turn, the next one each time.
    fn turns(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Vec<Item>> {
        let inner = scope.within(element);
        let is_whole = element.text("InterleaveControl.style").trim() == "1";
        let of_order = element.children.iter().filter(|child| is_of_order(&child.class));
        let turn = |child: &'e Element| if is_whole { self.turn(child, &inner) } else { self.one_of_its(child, &inner) };
        let turns: Vec<Vec<Item>> = of_order.map(turn).filter(|items| !items.is_empty()).collect();
        let mut sends = false;
        turns.iter().for_each(|items| each_item(items, &mut |item| sends |= matches!(item, Item::Step(_))));
        if sends { turns } else { Vec::new() }
    }

    /// What an element does in its turn.
    pub(super) fn turn(&mut self, child: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let items = self.item(child, scope);
        if items.is_empty() && is_sampler(&child.class) { vec![Item::Pause(Duration::Drawn(Think::Fixed(Nanos::ZERO)))] } else { items }
    }

    /// A sampler, or the next one of a controller each time.
    fn one_of_its(&mut self, child: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        if is_sampler(&child.class) {
            return self.turn(child, scope);
        }
        let mut samplers = Vec::new();
        if self.begins_anew(child) {
            self.first_in(child, scope, &mut samplers);
        } else if is_plain(child) && holds_samplers(child, 0) {
            self.samplers_in(child, scope, &mut samplers);
        } else {
            self.leave_out(child, scope, "it is done whole in its turn, and not one of its samplers");
            return self.item(child, scope);
        }
        samplers.retain(|items| !items.is_empty());
        if samplers.len() > 1 { vec![Item::Interleave { parts: samplers, per_user: true }] } else { samplers.pop().unwrap_or_default() }
    }

    /// Whether a controller is a loop that begins with its first round in each turn, and holds what can be told apart.
    fn begins_anew(&self, child: &Element) -> bool {
        let loops = self.names.number(child.text("LoopController.loops"));
        let is_once = child.text("LoopController.continue_forever").trim().eq_ignore_ascii_case("false");
        let is_indexed = self.names.set.contains(&super::flow::loop_index(&child.name));
        child.class == "LoopController" && loops.is_some_and(|loops| loops != 0.0) && !is_once && !is_indexed && holds_samplers(child, 0)
    }

    /// What a loop that begins anew in each turn gives: its first sampler; of a controller that stands before one, all of that first.
    fn first_in(&mut self, child: &'e Element, scope: &Scope<'e>, samplers: &mut Vec<Vec<Item>>) {
        let inner = scope.within(child);
        for element in child.children.iter().filter(|element| is_of_order(&element.class)) {
            if is_sampler(&element.class) {
                samplers.push(self.turn(element, &inner));
                return;
            }
            self.samplers_in(element, &inner, samplers);
        }
    }

    /// Puts the samplers of a controller and of those in it into a list, each by itself.
    fn samplers_in(&mut self, controller: &'e Element, scope: &Scope<'e>, samplers: &mut Vec<Vec<Item>>) {
        let inner = scope.within(controller);
        for child in controller.children.iter().filter(|child| is_of_order(&child.class)) {
            if is_sampler(&child.class) {
                samplers.push(self.turn(child, &inner));
            } else {
                self.samplers_in(child, &inner, samplers);
            }
        }
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
    pub(super) fn times(&mut self, element: &Element, scope: &Scope<'e>, text: &str) -> Option<Template> {
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
    pub(super) fn comparison(&self, script: &str) -> Result<Expression, String> {
        self.names.expression(script, true).map_err(|why| format!("its condition {why}"))
    }

    /// Whether a text is this one, or is not.
    pub(super) fn is_text(&self, operator: Operator, text: &str, other: &str) -> Result<Expression, String> {
        // In letters of any size.
        let lower = Expression::Call(Function::Lower, vec![Expression::Text(self.names.template(text)?)]);
        Ok(two(lower, operator, fixed(other)))
    }

    fn switch(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let value = match self.names.template(element.text("SwitchController.value").trim()) {
            Ok(value) => value,
            Err(why) => {
                self.leave_out(element, scope, format!("nothing in it is sent: {why}"));
                return Vec::new();
            }
        };
        let mut before = self.names.taken();
        before.extend(self.set_at_each_iteration(element, scope));
        let inner = scope.within(element);
        let (mut cases, mut otherwise, mut first) = (Vec::new(), Vec::new(), None);
        for (place, child) in element.children.iter().filter(|child| is_of_order(&child.class)).enumerate() {
            let items = self.item(child, &inner);
            let mut copied = 0;
            each_item(&items, &mut |_| copied += 1);
            if child.name.eq_ignore_ascii_case("default") && self.has_room(child, &inner, copied) {
                otherwise = items.clone();
            }
            if first.is_none() && self.has_room(child, &inner, copied) {
                first = Some(items.clone());
            }
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
        if cases.is_empty() {
            return Vec::new();
        }
        let value = Expression::Text(value);
        if let Some(items) = first {
            // A number that none of them has means the first.
            let condition = two(value.clone(), Operator::Matches, fixed(r"^\s*-?\d+\s*$"));
            otherwise = vec![Item::If { condition, items, otherwise }];
        }
        behind(before, vec![Item::Switch { value, cases, otherwise }])
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

    /// The part of another plan that an include controller takes: its first fragment.
    fn included(&self, element: &Element) -> Result<&'e Element, String> {
        let path = self
            .names
            .literal(element.text(INCLUDED))
            .ok_or("the plan that it names is known only on the way; put its part into this plan")?;
        match self.included.get(&path) {
            Some(Ok(plan)) => super::fragment(plan).ok_or_else(|| format!("there is no fragment in the plan '{path}' that it names")),
            Some(Err(why)) => Err(format!("the plan '{path}' that it names cannot be read: {why}")),
            None => Err(format!("the plan '{path}' that it names was not read with this one; put its part into this plan")),
        }
    }

    /// A pause of so many milliseconds.
    pub(super) fn wait(&self, milliseconds: &str) -> Result<Option<Item>, String> {
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
        let pauses = |timer: &&'e Element| match scripts::Role::of(&timer.class) {
            Some(_) => self.script_pause(timer).ok(),
            None => self.pause(timer, scope.users).ok(),
        };
        scope.timers.iter().filter_map(pauses).flatten().collect()
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
                // Those of one server: users are those of all.
                let together = if waits_for == 0 { users / u64::from(self.servers) } else { waits_for };
                Ok(vec![Item::Rendezvous { users: together.max(1), within: (within > 0.0).then(|| milliseconds_of(within)) }])
            }
            "ConstantThroughputTimer" => {
                // Older plans have them in words.
                let (of, name) = match timer.text("calcMode").trim() {
                    "" | "0" | "calcMode.1" | "this thread only" => (PacedUsers::Each, self.pace_name(timer)),
                    // JMeter divides the rate among the threads that there are; here whoever comes first takes the next turn.
                    "1" | "calcMode.2" | "all active threads" => (PacedUsers::All, self.pace_name(timer)),
                    "2" | "calcMode.3" | "all active threads in current thread group" => (PacedUsers::Population, self.pace_name(timer)),
                    // Of all timers in this mode there is one schedule.
                    "3" | "calcMode.4" | "all active threads (shared)" => (PacedUsers::All, Some("all active threads (shared)".to_owned())),
                    "4" | "calcMode.5" | "all active threads in current thread group (shared)" => {
                        (PacedUsers::Population, Some("all active threads in the group (shared)".to_owned()))
                    }
                    mode => return Err(format!("its mode '{mode}' is unknown")),
                };
                let pace = self.pace(timer, of, Some(60.0), Think::Fixed)?;
                Ok(vec![Item::Pacing(Pacing { of, name, ..Pacing::each(pace) })])
            }
            "PreciseThroughputTimer" => {
                let of = |name: &str, default: f64| if timer.text(name).trim().is_empty() { Ok(default) } else { known(name) };
                let batch = of("batchSize", 1.0)?.max(1.0);
                if batch > f64::from(Pacing::TOGETHER_MAX) {
                    return Err(format!("it lets {batch} requests go on at the same moment, and {} can", Pacing::TOGETHER_MAX));
                }
                let period = of("throughputPeriod", 3600.0).ok().map(|period| period * batch);
                let pace = self.pace(timer, PacedUsers::Population, period, Think::Exponential)?;
                let name = Some("precise throughput".to_owned());
                let (of, together) = (PacedUsers::Population, batch as u16);
                Ok(vec![Item::Pacing(Pacing { of, catches_up: true, together, name, ..Pacing::each(pace) })])
            }
            schedule::CLASS => self.shaped(timer),
            _ => Err("its pace has no equal here; give the group a rate".to_owned()),
        }
    }
}

impl Reading<'_> {
    /// The time from one to the next by a timer of so many in a number of seconds: of each of these users, or of them together on each
    /// server.
    fn pace(&self, timer: &Element, of: PacedUsers, seconds: Option<f64>, pace: fn(Nanos) -> Think) -> Result<Duration, String> {
        let text = timer.text("throughput").trim();
        let wrong = |what: &str| format!("its throughput '{text}' {what}");
        let servers = if of == PacedUsers::Each { 1 } else { self.servers };
        if let (Some(number), Some(seconds)) = (self.names.number(text), seconds) {
            let between = seconds / number / f64::from(servers);
            let is_one = number > 0.0 && between < BETWEEN_SECONDS_MAX;
            return if is_one { Ok(Duration::Drawn(pace(seconds_of(between)))) } else { Err(wrong("lets nobody go on")) };
        }
        if servers > 1 {
            return Err(wrong("is known only on the way, and is that of each server by itself"));
        }
        let unit = match seconds {
            Some(1.0) => "/s",
            Some(60.0) => "/m",
            Some(3600.0) => "/h",
            _ => return Err(wrong("is known only on the way, and its period is no second, minute or hour")),
        };
        let rate = self.names.template(text)?;
        if rate.is_fixed() {
            return Err(wrong("is no number"));
        }
        let random = matches!(pace(Nanos::ZERO), Think::Exponential(_)).then(|| Piece::Text("exponential ".to_owned()));
        let mut written = Template::of(random.into_iter().chain(rate.pieces().iter().cloned()));
        written.push(unit);
        Ok(Duration::Written(written))
    }

    /// What the pace of a timer is called, which holds before several samplers; nothing where it holds in a single one.
    pub(super) fn pace_name(&self, timer: &Element) -> Option<String> {
        let place = std::ptr::from_ref(timer).addr();
        if let Some(known) = self.paced.borrow().get(&place) {
            return known.clone();
        }
        let mut samplers = 0;
        for root in self.roots() {
            super::each(root, &mut |parent| {
                if parent.children.iter().any(|child| std::ptr::eq(child, timer)) {
                    super::each(parent, &mut |inner| samplers += usize::from(is_http(&inner.class)));
                }
            });
        }
        let mut paced = self.paced.borrow_mut();
        let is_taken = |name: &str| paced.values().flatten().any(|known| known == name);
        let plain = if timer.name.trim().is_empty() { "pace" } else { timer.name.as_str() };
        let name = (samplers != 1).then(|| super::free_name(plain, |number| format!("{plain} ({number})"), is_taken));
        paced.insert(place, name.clone());
        name
    }
}

fn milliseconds_of(milliseconds: f64) -> Nanos {
    seconds_of(milliseconds / 1e3)
}

fn seconds_of(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as u64)
}

/// Items behind what is computed for them; nothing if there are none.
pub(super) fn behind(mut before: Vec<Item>, items: Vec<Item>) -> Vec<Item> {
    if items.is_empty() {
        return items;
    }
    before.extend(items);
    before
}
