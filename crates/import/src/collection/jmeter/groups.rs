//! Thread groups of a test plan as populations, and what holds for all their users: data files, cookies.

use std::collections::BTreeSet;

use plan::PopulationDraft;
use plan::template::Template;
use plan::work::{Expression, Extent, Item, Journey, Operator, each_item};

use super::expressions::{fixed, held, two};
use super::functions::ITERATION;
use super::tree::{Element, Property, text_of, truth};
use super::{Reading, Scope, answer, assertions, controllers, flow, scripts};
use crate::collection::Omission;

impl<'e> Reading<'e> {
    /// Reads the groups of a plan and what holds for them.
    pub(super) fn groups(&mut self) {
        let plan = self.plan;
        let mut groups: Vec<&Element> = Vec::new();
        super::each(plan, &mut |element| {
            if is_group(&element.class) {
                groups.push(element);
            }
        });
        self.read_data(&groups);
        self.read_files_of_functions();
        for root in self.roots() {
            super::each(root, &mut |element| self.course.cookies |= keeps_cookies(element));
            self.look_at(root, &Scope::default());
        }
        self.schedule_end = self.end_of_schedules();
        let scope = Scope::default().within(plan);
        // The plan's own name is nothing that tells where something is.
        let scope = Scope { path: Vec::new(), ..scope };
        for group in groups {
            self.group(group, &scope);
        }
        self.course.data.extend(self.names.called_files.take());
        self.begin_with_variables();
        self.forget();
    }

    fn group(&mut self, group: &'e Element, scope: &Scope<'e>) {
        let of = |name: &str| group.text(&format!("ThreadGroup.{name}"));
        let (is_before, is_after) = (group.class == "SetupThreadGroup", group.class == "PostThreadGroup");
        let mut load = match self.load(group) {
            Ok(Some(load)) => load,
            Ok(None) => return,
            Err(why) => {
                self.leave_out(group, scope, why);
                return;
            }
        };
        if let Some(end) = self.schedule_end.filter(|_| !is_before && !is_after) {
            load.ends_at(end);
        }
        for why in &load.told {
            self.leave_out(group, scope, why.as_str());
        }
        let failure_ends = match of("on_sample_error").trim() {
            "" | "continue" => None,
            "startnextloop" => Some(Extent::Journey),
            "stopthread" => Some(Extent::User),
            "stoptest" => Some(Extent::Load),
            _ => Some(Extent::LoadAtOnce),
        };
        group.name.clone_into(&mut self.names.group);
        self.know_columns_in(group);
        (self.names.is_before, self.jar, self.caches) = (is_before, None, Vec::new());
        let requests = self.collection.requests.len();
        let inner = scope.within(group);
        let failure_ends = flow::the_larger(failure_ends, inner.failure_ends);
        let inner = Scope { failure_ends, is_apart: is_before || is_after, users: load.users, ..inner };
        let mut items = self.set_at_each_iteration(group, scope);
        items.extend(self.items(&group.children, &inner));
        let reset = std::mem::take(&mut self.reset);
        if !reset.is_empty() {
            items.insert(0, Item::Set(reset));
        }
        items.splice(0..0, self.rows_of_functions_taken());
        if self.names.counts_iterations.take() {
            items.insert(0, self.iteration_counted());
        }
        items.splice(0..0, self.forgets_caches(group).then_some(Item::ForgetCache));
        if let Some(manager) = self.jar {
            items.splice(0..0, self.cookies_at_the_beginning(manager, group, scope));
        }
        if !truth(of("same_user_on_next_iteration"), true) {
            items.insert(0, Item::ForgetConnections);
        }
        let mut sends = false;
        each_item(&items, &mut |item| sends |= matches!(item, Item::Step(_)));
        if !(sends || is_before && Self::runs_scripts(&items)) {
            if !items.is_empty() {
                self.leave_out(group, scope, "it sends nothing, so none of its users come");
            }
            return;
        }
        let mut set: BTreeSet<String> = self.collection.requests[requests..]
            .iter()
            .flat_map(|request| &request.extractions)
            .map(|taken| taken.variable.clone())
            .collect();
        each_item(&items, &mut |item| set.extend(item.assigned().into_iter().map(str::to_owned)));
        if is_before {
            // Threads have variables of their own, and properties together.
            set.retain(|name| self.names.varying.contains(name) && self.names.set_properties.values().all(|property| property != name));
            items.extend(self.properties_left());
            items.extend(self.set_back(&set));
            self.forgotten.extend(set);
        } else {
            self.kept.extend(set);
        }
        if is_before || is_after {
            if load.loops.is_none() {
                self.leave_out(group, scope, "it has no end of its own, and is done once");
            }
            let mut ends = false;
            each_item(&items, &mut |item| ends |= matches!(item, Item::EndRound | Item::EndLoop));
            let repeated = |times: u64, items: Vec<Item>| vec![Item::Repeat { times: Template::fixed(times.to_string()), items }];
            // What ends an iteration of its, or a user, ends rounds here.
            let times = load.loops.unwrap_or(1);
            let mut items = if times > 1 || ends { repeated(times, items) } else { items };
            if load.users > 1 {
                if self.course.cookies {
                    items.push(Item::ForgetCookies);
                }
                items.extend((!self.caches.is_empty()).then_some(Item::ForgetCache));
                items = repeated(load.users, items);
            }
            let into = if is_before { &mut self.course.setup } else { &mut self.course.teardown };
            into.extend(items);
            return;
        }
        let journey = Journey { weight: load.users.max(1) as f64, ..self.journey(&group.name, items) };
        if self.plan.is_on("TestPlan.serialize_threadgroups", false)
            && let Err(why) = self.order.follow(&journey.name, &mut load)
        {
            self.leave_out(group, scope, why);
            return;
        }
        match (load.is_timed, load.loops) {
            (false, Some(_)) => self.course.ends_by_itself = true,
            (false, None) if self.ends_with_rows(group) => self.course.ends_by_itself = true,
            (false, None) => {
                let why = "it has no end of its own, so the load ends after 10 s; say how long with the setting duration";
                self.course.endless.push(Omission { what: group.said(), place: self.place(group, scope), why: why.into() });
            }
            (true, _) => {}
        }
        let population = PopulationDraft { name: journey.name.clone(), journeys: vec![journey.name.clone()], ..load.draft };
        self.course.journeys.push(journey);
        self.course.populations.push(population);
    }

    /// What a cookie manager does with each iteration of a group, or with a user's first: it forgets what it has kept, and keeps what is
    /// written down in it.
    fn cookies_at_the_beginning(&mut self, manager: &'e Element, group: &Element, scope: &Scope<'e>) -> Vec<Item> {
        let mut kept = Vec::new();
        for cookie in manager.list("CookieManager.cookies") {
            match self.written_down(cookie) {
                Ok(cookie) => kept.push(Item::KeepCookie(cookie)),
                Err(why) => self.leave_out(manager, scope, format!("its cookie '{}' is not sent: {why}", cookie.name)),
            }
        }
        if is_emptied(manager, group) {
            kept.insert(0, Item::ForgetCookies);
            kept
        } else if kept.is_empty() {
            kept
        } else {
            vec![Item::Once(kept)]
        }
    }

    /// A cookie of a plan, as a server would set it.
    fn written_down(&self, cookie: &Property) -> Result<Template, String> {
        let of = |name: &str| self.names.template(text_of(cookie.own(), &format!("Cookie.{name}")).trim());
        let own = text_of(cookie.own(), "Cookie.name");
        let mut written = Template::fixed(if own.is_empty() { &cookie.name } else { own });
        written.push("=");
        written.append(of("value")?);
        for (attribute, value) in [("Domain", of("domain")?), ("Path", of("path")?)] {
            if !value.is_empty() {
                written.push(&format!("; {attribute}="));
                written.append(value);
            }
        }
        if truth(text_of(cookie.own(), "Cookie.secure"), false) {
            written.push("; Secure");
        }
        match text_of(cookie.own(), "Cookie.expires").trim() {
            "" | "0" => Ok(written),
            _ => Err("it ends at a time of its own".to_owned()),
        }
    }

    /// What counts a user's iterations.
    fn iteration_counted(&self) -> Item {
        let mut counters = self.names.counters.borrow_mut();
        if !counters.iter().any(|known| known == ITERATION) {
            counters.push(ITERATION.to_owned());
        }
        Item::Set(vec![(ITERATION.to_owned(), two(held(ITERATION), Operator::Plus, fixed(1)))])
    }

    /// Puts user-defined variables that are drawn or computed before everything else, once for all users.
    fn begin_with_variables(&mut self) {
        let first = std::mem::take(&mut self.first);
        if !first.is_empty() {
            self.course.setup.insert(0, Item::Set(first));
        }
    }

    /// Gives variables the values that they had at the beginning; nothing if there are none.
    fn set_back(&self, names: &BTreeSet<String>) -> Option<Item> {
        let known = |name: &String| self.names.known.iter().find(|known| known.name == *name).map(|known| known.value.clone());
        let values = names.iter().map(|name| (name.clone(), Expression::Text(known(name).unwrap_or_default())));
        (!names.is_empty()).then(|| Item::Set(values.collect()))
    }

    /// What only setup groups set has no value for all others, and stands in their requests with its braces.
    fn forget(&mut self) {
        let is_known = |name: &String| self.kept.contains(name) || self.names.known.iter().any(|known| known.name == *name);
        let lost = self.names.set.iter().map(|name| (self.names.plain(name), format!("${{{name}}}")));
        let lost = lost.filter(|(name, _)| self.forgotten.contains(name) && !is_known(name));
        let values: Vec<_> = lost.map(|(name, braces)| (name, Expression::Text(Template::fixed(braces)))).collect();
        if !values.is_empty() {
            self.course.setup.push(Item::Set(values));
        }
    }

    /// Tells what of an element, and of those in it, is not carried over, but for controllers and samplers, which are told when they are read.
    fn look_at(&mut self, element: &'e Element, scope: &Scope<'e>) {
        let mut inner = scope.clone();
        if element.class != "TestPlan" {
            inner.path.push(&element.name);
        }
        for child in &element.children {
            for why in self.wrong_with(child) {
                self.leave_out(child, &inner, why);
            }
            self.look_at(child, &inner);
        }
    }

    fn wrong_with(&self, element: &'e Element) -> Vec<String> {
        let one = |why: &str| vec![why.to_owned()];
        match element.class.as_str() {
            class if controllers::is_of_order(class) || is_group(class) => Vec::new(),
            class if scripts::Role::of(class) == Some(scripts::Role::Timer) => self.script_pause(element).err().unwrap_or_default(),
            class if scripts::Role::of(class).is_some() => self.script(element).err().unwrap_or_default(),
            class if controllers::is_timer(class) => self.pause(element, 1).err().into_iter().collect(),
            class if answer::is_extractor(class) => self
                .names
                .tried(|| answer::taken(element, &self.names.mentions, Some(&self.names)))
                .into_iter()
                .filter_map(|taken| Some(format!("'{}' is not taken out of answers: {}", taken.name, taken.found.err()?)))
                .collect(),
            class if assertions::is_assertion(class) => {
                let checks = self.names.tried(|| assertions::checks(element, &self.names));
                let unheld = checks.err().map(|why| format!("answers are not held against it: {why}"));
                let untold = assertions::failure(element, &self.names).err().map(|why| format!("its failure message is not told: {why}"));
                unheld.into_iter().chain(untold).collect()
            }
            "DNSCacheManager" if element.list("DNSCacheManager.hosts").is_empty() => one("names are looked up by this machine"),
            "KeystoreConfig" | "LoginConfig" | "LoginConfigElement" => {
                one("it has no equal here; give a certificate or a login on the command line")
            }
            "UserParameters" => self.user_parameters(element).err().into_iter().collect(),
            "SampleTimeout" if self.names.number(element.text(flow::TIME_LIMIT)).is_none() => {
                one("its time is known only on the way: write a number of milliseconds")
            }
            "AutoStop" => one("no figures end a load by it; give their limits as checks of the load"),
            "URLRewritingModifier" | "AnchorModifier" => {
                one("requests are not changed by it; take the value out of the answer before with an extractor, and name it in them")
            }
            "BackendListener" => one("figures go where the setting export says"),
            "ResultCollector"
            | "Summariser"
            | "DebugPostProcessor"
            | "ConfigTestElement"
            | "CacheManager"
            | "CookieManager"
            | "HeaderManager"
            | "AuthManager"
            | "Arguments"
            | "CSVDataSet"
            | "CounterConfig"
            | "RandomVariableConfig"
            | "DNSCacheManager"
            | "HTTPArgument"
            | "ResultAction"
            | "SampleTimeout" => Vec::new(),
            // What looks on, and what records.
            "ResultSaver" | "FlexibleFileWriter" | "LoadosophiaUploader" | "ConsoleStatusLogger" => Vec::new(),
            class if controllers::records(class) => Vec::new(),
            class if ["Visualizer", "Listener", "Collector"].iter().any(|end| class.ends_with(end)) => Vec::new(),
            _ => one("it is unknown here"),
        }
    }
}

/// Whether it makes users keep cookies.
pub(super) fn keeps_cookies(element: &Element) -> bool {
    element.class == "CookieManager" && element.text("CookieManager.policy").trim() != "ignoreCookies"
}

/// Whether a cookie manager forgets what it keeps with each iteration of a group.
fn is_emptied(manager: &Element, group: &Element) -> bool {
    if manager.is_on("CookieManager.controlledByThreadGroup", false) {
        return !group.is_on("ThreadGroup.same_user_on_next_iteration", true);
    }
    manager.is_on("CookieManager.clearEachIteration", false)
}

pub(super) fn is_group(class: &str) -> bool {
    class.ends_with("ThreadGroup")
}
