//! Thread groups of a test plan as populations, and what holds for all their users: data files, counters, cookies.

use plan::template::{Template, Value};
use plan::work::{Expression, Item, Journey, Operator};
use plan::{PopulationDraft, Setting};

use super::tree::Element;
use super::{Reading, Scope, answer, controllers};
use crate::collection::{Omission, Variable};
use crate::collection::url::variable_name;

/// No group has more.
const USERS_MAX: u64 = 1_000_000;

impl<'e> Reading<'e> {
    /// Reads the groups of a plan and what holds for them.
    pub(super) fn groups(&mut self) {
        let plan = self.plan;
        let mut groups: Vec<&Element> = Vec::new();
        super::each(plan, &mut |element| {
            if is_group(&element.class) {
                groups.push(element);
            }
            self.course.cookies |= element.class == "CookieManager";
        });
        self.look_at(plan, &Scope::default());
        self.read_data(groups.len());
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
    }

    fn group(&mut self, group: &'e Element, scope: &Scope<'e>) {
        let of = |name: &str| group.text(&format!("ThreadGroup.{name}"));
        let (is_before, is_after) = (group.class == "SetupThreadGroup", group.class == "PostThreadGroup");
        if group.class != "ThreadGroup" && !is_before && !is_after {
            self.leave_out(group, scope, "its kind of group is not carried over, and nothing in it is sent; make it a Thread Group");
            return;
        }
        let number = |text: &str, default: f64| if text.trim().is_empty() { Some(default) } else { self.names.number(text) };
        let Some(users) = number(of("num_threads"), 1.0).filter(|users| (0.0..=USERS_MAX as f64).contains(users)) else {
            self.leave_out(
                group,
                scope,
                format!(
                    "its number of threads '{}' is no number that is known before the load, and nothing in it is sent",
                    of("num_threads")
                ),
            );
            return;
        };
        let users = users as u64;
        if users == 0 {
            return;
        }
        let main = group.list("ThreadGroup.main_controller");
        let loops = super::text_of(main, "LoopController.loops");
        let loops = if super::tree::truth(super::text_of(main, "LoopController.continue_forever"), false) {
            Some(-1.0)
        } else {
            number(loops, 1.0)
        };
        let Some(loops) = loops else {
            self.leave_out(group, scope, "its number of loops is no number that is known before the load, and nothing in it is sent");
            return;
        };
        let ramp = number(of("ramp_time"), 0.0).unwrap_or(0.0).max(0.0);
        let is_timed = super::tree::truth(of("scheduler"), false);
        let duration = number(of("duration"), 0.0).filter(|seconds| is_timed && *seconds > 0.0);
        let delay = number(of("delay"), 0.0).filter(|seconds| is_timed && *seconds > 0.0);
        let must_succeed = match of("on_sample_error").trim() {
            "" | "continue" => false,
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
            self.leave_out(group, scope, "its users keep their cookies and connections from iteration to iteration");
        }
        let inner = Scope { must_succeed, users, ..scope.within(group) };
        let mut items = self.set_at_each_iteration(group, scope);
        items.extend(self.items(&group.children, &inner));
        if items.is_empty() {
            return;
        }
        if is_before || is_after {
            let times = if loops < 0.0 { 1 } else { loops as u64 } * users;
            if loops < 0.0 || users > 1 {
                self.leave_out(group, scope, format!("it is done by one user, {times} times, one after the other"));
            }
            let items = if times == 1 { items } else { vec![Item::Repeat { times: Template::fixed(times.to_string()), items }] };
            let into = if is_before { &mut self.course.setup } else { &mut self.course.teardown };
            into.extend(items);
            return;
        }
        let journey = Journey { weight: users as f64, ..self.journey(&group.name, items) };
        match (duration, loops >= 0.0) {
            (None, true) => self.course.ends_by_itself = true,
            (None, false) => {
                let why = "it has no end of its own, so the load ends after 10 s; say how long with the setting duration";
                self.course.endless.push(Omission { what: group.said(), place: self.place(group, scope), why: why.into() });
            }
            (Some(_), _) => {}
        }
        // The first comes at once, and each further one a share of the ramp later.
        let coming = (ramp * 1e3 / users as f64 * (users - 1) as f64).round();
        let connections = match duration.map(|seconds| (seconds * 1e3).round()) {
            _ if users == 1 || coming < 1.0 => users.to_string(),
            // It ends before all have come.
            Some(whole) if whole <= coming => format!("1 to {} for {whole}ms", 1 + ((users - 1) as f64 * whole / coming) as u64),
            Some(whole) => format!("1 to {users} for {coming}ms, {users} for {}ms", whole - coming),
            None => format!("1 to {users} for {coming}ms, {users}"),
        };
        let lasting = duration.filter(|_| !connections.contains("for")).map(|seconds| format!("{}ms", (seconds * 1e3).round()));
        let population = PopulationDraft {
            name: journey.name.clone(),
            journeys: vec![journey.name.clone()],
            connections: connections.parse().ok(),
            duration: lasting.and_then(|lasting| lasting.parse().ok()),
            start_after: delay.map(|seconds| format!("{}ms", (seconds * 1e3).round())).and_then(|delay| delay.parse().ok()),
            iterations_per_user: if loops >= 1.0 { std::num::NonZeroU64::new(loops as u64).map(Setting::Value) } else { None },
            ..PopulationDraft::default()
        };
        self.course.journeys.push(journey);
        self.course.populations.push(population);
    }

    /// What config elements in scope of a group set before each iteration.
    fn set_at_each_iteration(&mut self, group: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let mut counted: Vec<&'e Element> = self.plan.children.iter().filter(|element| is_counter(&element.class)).collect();
        super::each(group, &mut |element| {
            if is_counter(&element.class) {
                counted.push(element);
            }
        });
        let mut set = Vec::new();
        for element in counted {
            match self.counter(element) {
                Ok(value) => set.push(value),
                Err(why) => {
                    let name = counter_name(element).to_owned();
                    self.names.set.remove(&name);
                    self.names.lost.insert(name, format!("{} is not carried over: {why}", element.said()));
                    self.leave_out(element, scope, format!("its variable has no value: {why}"));
                }
            }
        }
        if set.is_empty() { Vec::new() } else { vec![Item::Set(set)] }
    }

    /// The variable of a counter, or of a number by chance, and what it becomes at each iteration.
    fn counter(&mut self, element: &Element) -> Result<(String, Expression), String> {
        let whole = |text: &str, default: i64| {
            if text.trim().is_empty() {
                return Ok(default);
            }
            self.names
                .literal(text)
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| format!("'{}' is no whole number that is known before the load", text.trim()))
        };
        let name = variable_name(counter_name(element));
        if element.class == "RandomVariableConfig" {
            if !element.text("outputFormat").trim().is_empty() {
                return Err("numbers are written without a form".to_owned());
            }
            let (low, high) = (whole(element.text("minimumValue"), 1)?, whole(element.text("maximumValue"), i64::MAX)?);
            if low > high {
                return Err("its least number is above its greatest".to_owned());
            }
            return Ok((name, Expression::Text(Value::Random { low, high }.into())));
        }
        let of = |name: &str| element.text(&format!("CounterConfig.{name}"));
        if !element.is_on("CounterConfig.per_user", false) {
            return Err("it counts all users together; let it count each user by itself".to_owned());
        }
        if !of("format").trim().is_empty() || element.is_on("CounterConfig.reset_on_tg_iteration", false) || !of("end").trim().is_empty() {
            return Err("it counts on without an end, and without a form".to_owned());
        }
        let (start, step) = (whole(of("start"), 0)?, whole(of("incr"), 1)?);
        // It is at its start after the first step. Several groups may have it.
        self.names.known.retain(|known| known.name != name);
        self.names.known.push(Variable {
            name: name.clone(),
            value: Template::fixed(start.saturating_sub(step).to_string()),
            secret: false,
        });
        let sides = (Expression::Text(Value::Variable(name.clone()).into()), Expression::Text(Template::fixed(step.to_string())));
        Ok((name, Expression::Two(Operator::Plus, Box::new(sides))))
    }

    /// Data files, whose rows are those of all users.
    fn read_data(&mut self, groups: usize) {
        let mut files: Vec<&'e Element> = Vec::new();
        super::each(self.plan, &mut |element| {
            if element.class == "CSVDataSet" {
                files.push(element);
            }
        });
        let several = files.len() > 1;
        for element in files {
            let of = |name: &str| element.text(name);
            let columns: Vec<&str> = of("variableNames").split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
            let lose = |reading: &mut Self, why: String| {
                for name in &columns {
                    reading.names.lost.insert((*name).to_owned(), format!("{} is not carried over", element.said()));
                }
                reading.leave_out(element, &Scope::default(), why);
            };
            let Some(path) = self.names.literal(of("filename")).filter(|path| !path.is_empty()) else {
                lose(self, "the name of its file is not known before the load".to_owned());
                continue;
            };
            if !columns.is_empty() && !element.is_on("ignoreFirstLine", false) {
                lose(
                    self,
                    format!(
                        "its file has no line with the names of its columns: write '{}' into its first line, and tick that the first line is ignored",
                        of("variableNames").trim()
                    ),
                );
                continue;
            }
            if !matches!(of("delimiter"), "" | "," | ";" | "\\t" | "\t") {
                lose(self, format!("its columns stand between '{}', and are told apart by a comma, a semicolon or a tab", of("delimiter")));
                continue;
            }
            let stem = path.rsplit(['/', '\\']).next().unwrap_or(&path);
            let stem = variable_name(stem.split('.').next().unwrap_or(stem));
            let name = super::free_name(
                &stem,
                |number| format!("{stem}_{number}"),
                |name| self.course.data.iter().any(|(known, _)| known == name),
            );
            for column in &columns {
                self.names.columns.insert((*column).to_owned(), (name.clone(), (*column).to_owned()));
            }
            if columns.is_empty() {
                self.names.open_file = Some(name.clone());
            }
            self.course.data.push((name, path));
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

    fn wrong_with(&self, element: &Element) -> Vec<String> {
        let one = |why: &str| vec![why.to_owned()];
        match element.class.as_str() {
            class if controllers::is_of_order(class) || is_group(class) => Vec::new(),
            class if controllers::is_timer(class) && !class.starts_with("JSR223") && !class.starts_with("BeanShell") => {
                self.pause(element, 1).err().into_iter().collect()
            }
            class if answer::is_extractor(class) => answer::taken(element)
                .into_iter()
                .filter_map(|taken| Some(format!("'{}' is not taken out of answers: {}", taken.name, taken.found.err()?)))
                .collect(),
            class if class.starts_with("JSR223") || class.starts_with("BeanShell") || class.starts_with("BSF") => {
                one("scripts are not carried out here; what one sets has no value")
            }
            class if answer::is_assertion(class) => {
                answer::checks(element).err().map(|why| format!("answers are not held against it: {why}")).into_iter().collect()
            }
            "CookieManager" => {
                let mut wrong = Vec::new();
                if !element.list("CookieManager.cookies").is_empty() {
                    wrong.push("the cookies that are written down in it are not sent; write them as a header".to_owned());
                }
                if element.is_on("CookieManager.clearEachIteration", false) {
                    wrong.push("users keep their cookies from iteration to iteration".to_owned());
                }
                wrong
            }
            "CacheManager" => one("every request is sent, also where an answer could be kept"),
            "DNSCacheManager" => one("names are looked up by this machine"),
            "KeystoreConfig" | "LoginConfig" | "LoginConfigElement" => {
                one("it has no equal here; give a certificate or a login on the command line")
            }
            "UserParameters" => one("users have no values of their own; put them into a data file"),
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
            | "HTTPArgument" => Vec::new(),
            class if class.ends_with("Visualizer") || class.ends_with("Listener") => Vec::new(),
            _ => one("it is unknown here"),
        }
    }
}

fn is_group(class: &str) -> bool {
    class.ends_with("ThreadGroup")
}

/// The variable of a counter, or of a number by chance.
pub(super) fn counter_name(element: &Element) -> &str {
    element.text(if element.class == "CounterConfig" { "CounterConfig.name" } else { "variableName" }).trim()
}

pub(super) fn is_counter(class: &str) -> bool {
    matches!(class, "CounterConfig" | "RandomVariableConfig")
}
