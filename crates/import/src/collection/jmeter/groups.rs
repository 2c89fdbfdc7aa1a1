//! Thread groups of a test plan as populations, and what holds for all their users: data files, cookies.

use std::collections::{BTreeMap, BTreeSet};

use plan::template::Template;
use plan::work::{Expression, Item, Journey, Operator, each_item};
use plan::{DataFile, PopulationDraft};

use super::expressions::{fixed, held, two};
use super::functions::ITERATION;
use super::tree::Element;
use super::{Reading, Scope, answer, assertions, controllers, scripts};
use crate::collection::Omission;
use crate::collection::url::variable_name;

/// A function reads so many columns of a file at most.
const COLUMNS_MAX: usize = 1000;

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
        self.read_data(groups.len());
        self.read_files_of_functions();
        for root in self.roots() {
            super::each(root, &mut |element| self.course.cookies |= keeps_cookies(element));
            self.look_at(root, &Scope::default());
        }
        if plan.is_on("TestPlan.serialize_threadgroups", false) && groups.len() > 1 {
            self.leave_out(
                plan,
                &Scope::default(),
                "its groups begin together, and not one after the other; give them a start with start_after in the scenario",
            );
        }
        let scope = Scope::default().within(plan);
        // The plan's own name is nothing that tells where something is.
        let scope = Scope { path: Vec::new(), ..scope };
        for group in groups {
            self.group(group, &scope);
        }
        self.begin_with_variables();
        self.forget();
    }

    fn group(&mut self, group: &'e Element, scope: &Scope<'e>) {
        let of = |name: &str| group.text(&format!("ThreadGroup.{name}"));
        let (is_before, is_after) = (group.class == "SetupThreadGroup", group.class == "PostThreadGroup");
        let load = match self.load(group) {
            Ok(Some(load)) => load,
            Ok(None) => return,
            Err(why) => {
                self.leave_out(group, scope, why);
                return;
            }
        };
        for why in &load.told {
            self.leave_out(group, scope, why.as_str());
        }
        let must_succeed = match of("on_sample_error").trim() {
            "" | "continue" => false,
            // What is done once goes on to its end: else there would be no load.
            _ if is_before || is_after => {
                self.leave_out(group, scope, "a failure in it ends nothing");
                false
            }
            "startnextloop" => true,
            "stopthread" => {
                self.leave_out(group, scope, "a failure ends the iteration, and not the user");
                true
            }
            _ => {
                self.leave_out(
                    group,
                    scope,
                    "a failure ends the iteration, and not the test; give the load a condition to end with: abort-on",
                );
                true
            }
        };
        if !super::tree::truth(of("same_user_on_next_iteration"), true) {
            self.leave_out(group, scope, "its users keep their connections from iteration to iteration");
        }
        group.name.clone_into(&mut self.names.group);
        (self.names.is_before, self.jar) = (is_before, None);
        let requests = self.collection.requests.len();
        let inner = Scope { must_succeed, users: load.users, ..scope.within(group) };
        let mut items = self.set_at_each_iteration(group, scope);
        items.extend(self.items(&group.children, &inner));
        if self.names.counts_iterations.take() {
            items.insert(0, self.iteration_counted());
        }
        if self.jar.is_some_and(|manager| is_emptied(manager, group)) {
            items.insert(0, Item::ForgetCookies);
        }
        let mut sends = false;
        each_item(&items, &mut |item| sends |= matches!(item, Item::Step(_)));
        if !sends {
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
            items.extend(self.set_back(&set));
            self.forgotten.extend(set);
        } else {
            self.kept.extend(set);
        }
        if is_before || is_after {
            let times = load.loops.unwrap_or(1) * load.users;
            if load.loops.is_none() || load.users > 1 {
                self.leave_out(group, scope, format!("it is done by one user, {times} times, one after the other"));
            }
            let items = if times == 1 { items } else { vec![Item::Repeat { times: Template::fixed(times.to_string()), items }] };
            let into = if is_before { &mut self.course.setup } else { &mut self.course.teardown };
            into.extend(items);
            return;
        }
        let journey = Journey { weight: load.users.max(1) as f64, ..self.journey(&group.name, items) };
        match (load.is_timed, load.loops) {
            (false, Some(_)) => self.course.ends_by_itself = true,
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
        let lost = self.names.set.iter().map(|name| (variable_name(name), format!("${{{name}}}")));
        let lost = lost.filter(|(name, _)| self.forgotten.contains(name) && !is_known(name));
        let values: Vec<_> = lost.map(|(name, braces)| (name, Expression::Text(Template::fixed(braces)))).collect();
        if !values.is_empty() {
            self.course.setup.push(Item::Set(values));
        }
    }

    /// Data files, whose rows are those of all users.
    fn read_data(&mut self, groups: usize) {
        let mut files: Vec<(&'e Element, bool)> = Vec::new();
        self.roots().into_iter().for_each(|root| data_sets(root, false, &mut files));
        let several = files.len() > 1;
        for (element, is_in_loop) in files {
            let of = |name: &str| element.text(name);
            let columns: Vec<&str> = of("variableNames").split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
            let (path, header) = match self.data_file(element, &columns) {
                Ok(file) => file,
                Err(why) => {
                    for name in &columns {
                        self.names.lost.insert((*name).to_owned(), format!("{} is not carried over", element.said()));
                    }
                    self.leave_out(element, &Scope::default(), why);
                    continue;
                }
            };
            let name = self.data_name(&path);
            for column in &columns {
                self.names.columns.insert((*column).to_owned(), (name.clone(), (*column).to_owned()));
            }
            if columns.is_empty() {
                self.names.open_files.push(name.clone());
            }
            self.names.files.push(name.clone());
            self.course.data.push(DataFile { name, header, path, sha256: None });
            let (again, ends) = (element.is_on("recycle", true), element.is_on("stopThread", false));
            self.course.ends_with_data |= !again;
            if !again && !ends {
                self.leave_out(element, &Scope::default(), "after its last row the load ends, and users do not go on with <EOF>");
            } else if !again {
                self.leave_out(element, &Scope::default(), "after its last row the load ends, for all users at once");
            }
            if of("shareMode").trim() == "shareMode.thread" {
                self.leave_out(element, &Scope::default(), "its rows are divided among all users, and each does not read all of them");
            } else if groups > 1 || several && of("shareMode").trim() != "shareMode.all" {
                self.leave_out(
                    element,
                    &Scope::default(),
                    "each iteration of every group takes a row of it, also of those that do not use it",
                );
            }
            if is_in_loop {
                self.leave_out(
                    element,
                    &Scope::default(),
                    "a row of it is an iteration's of the group, and not one of each round of the loop that it stands in",
                );
            }
        }
    }

    /// Files that functions read line by line, as data files.
    fn read_files_of_functions(&mut self) {
        let mut columns: BTreeMap<(String, String), usize> = BTreeMap::new();
        for (function, arguments) in &self.names.mentions.calls {
            if matches!(*function, "__CSVRead" | "__StringFromFile")
                && let Some(path) =
                    arguments.first().and_then(|path| self.names.literal(path)).filter(|path| !path.is_empty() && !path.starts_with('*'))
            {
                let column: usize = arguments.get(1).and_then(|column| column.trim().parse().ok()).unwrap_or(0);
                let known = columns.entry(((*function).to_owned(), path)).or_default();
                *known = (*known).max(column.min(COLUMNS_MAX));
            }
        }
        for ((function, path), last) in columns {
            let header = match function.as_str() {
                "__CSVRead" => (0..=last).map(|number| format!("column_{number},")).collect(),
                _ => "line".to_owned(),
            };
            let name = self.data_name(&path);
            let why = "each iteration takes its next line, wherever the function stands";
            self.collection.leave_out(format!("when the function {function} goes on in '{path}'"), "the whole plan", why);
            self.course.data.push(DataFile { name: name.clone(), header: Some(header), path: path.clone(), sha256: None });
            self.names.files.push(name.clone());
            self.names.read_files.insert((function, path), name);
        }
    }

    /// What templates call a data file.
    fn data_name(&self, path: &str) -> String {
        let stem = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let stem = variable_name(stem.split('.').next().unwrap_or(stem));
        super::free_name(
            &stem,
            |number| format!("{stem}_{number}"),
            |name| self.course.data.iter().any(|known| known.name == name) || self.names.is_called(name),
        )
    }

    /// Where a data file is, and the line with the names of its columns, if it has none itself.
    fn data_file(&self, element: &Element, columns: &[&str]) -> Result<(String, Option<String>), String> {
        let path = self.names.literal(element.text("filename")).filter(|path| !path.is_empty());
        let path = path.ok_or("the name of its file is not known before the load")?;
        let delimiter = match element.text("delimiter") {
            "" => ",",
            "\\t" => "\t",
            delimiter => delimiter,
        };
        let says_names = columns.is_empty() || element.is_on("ignoreFirstLine", false);
        let known = if says_names { ",;\t" } else { ",;\t|:^~#" };
        if delimiter.chars().count() != 1 || !known.contains(delimiter) {
            return Err(format!("its columns stand between '{delimiter}', and are told apart by a comma, a semicolon or a tab"));
        }
        if says_names {
            return Ok((path, None));
        }
        if let Some(odd) = columns.iter().find(|name| name.contains([')', '\n']) || name.contains(delimiter)) {
            return Err(format!("its column '{odd}' cannot be called so here"));
        }
        // The sign behind a single name says that fields are cut there at all.
        let single = if columns.len() == 1 { delimiter } else { "" };
        Ok((path, Some(columns.join(delimiter) + single)))
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
            class if answer::is_extractor(class) => answer::taken(element, &self.names.mentions, Some(&self.names))
                .into_iter()
                .filter_map(|taken| Some(format!("'{}' is not taken out of answers: {}", taken.name, taken.found.err()?)))
                .collect(),
            class if assertions::is_assertion(class) => {
                let checks = self.names.tried(|| assertions::checks(element, &self.names));
                checks.err().map(|why| format!("answers are not held against it: {why}")).into_iter().collect()
            }
            "CookieManager" => {
                let has_own = !element.list("CookieManager.cookies").is_empty();
                if has_own { one("the cookies that are written down in it are not sent; write them as a header") } else { Vec::new() }
            }
            "CacheManager" => one("every request is sent, also where an answer could be kept"),
            "DNSCacheManager" if element.list("DNSCacheManager.hosts").is_empty() => one("names are looked up by this machine"),
            "KeystoreConfig" | "LoginConfig" | "LoginConfigElement" => {
                one("it has no equal here; give a certificate or a login on the command line")
            }
            "UserParameters" => self.user_parameters(element).err().into_iter().collect(),
            "BackendListener" => one("figures go where the setting export says"),
            "ResultCollector"
            | "Summariser"
            | "DebugPostProcessor"
            | "ConfigTestElement"
            | "HeaderManager"
            | "AuthManager"
            | "Arguments"
            | "CSVDataSet"
            | "CounterConfig"
            | "RandomVariableConfig"
            | "DNSCacheManager"
            | "HTTPArgument" => Vec::new(),
            class if class.ends_with("Visualizer") || class.ends_with("Listener") => Vec::new(),
            _ => one("it is unknown here"),
        }
    }
}

/// The data files of an element, and whether each stands in a loop.
fn data_sets<'e>(element: &'e Element, is_in_loop: bool, found: &mut Vec<(&'e Element, bool)>) {
    let is_loop = matches!(element.class.as_str(), "LoopController" | "WhileController" | "ForeachController" | "RunTime");
    for child in &element.children {
        if child.class == "CSVDataSet" {
            found.push((child, is_in_loop || is_loop));
        }
        data_sets(child, is_in_loop || is_loop, found);
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
