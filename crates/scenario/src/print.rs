//! A scenario as the file it can be read from: the one printer beside the reader.
//!
//! What is printed is a beginning, not an end: someone takes steps out, puts pauses in, and lets a step use what another found. So it
//! is written as a person would: what all steps have in common stands once at the top, JSON stands as JSON, and what its maker has to
//! tell stands in comments where it will be looked for. Every maker printed for itself before, and each knew another part of the form.
//!
//! Invariant: what is printed is read back as the same scenario.

mod checks;
mod data;
mod kept;
mod page;
mod talk;

use plan::template::{Piece, Template, Value as Filled};
use plan::work::{
    AnswerPart, Auth, Body, Cache, Duration, Extent, Extraction, FieldValue, Item, Kind, List, Notes, PacedUsers, Pacing, Resources,
    Script, Step, Where, Which, Work,
};
use plan::{Charset, Draft, Nanos, PopulationDraft, Target, Timetable};

use crate::file::Scenario;
use crate::keys::{Key, LOAD, POPULATION};
use kept::{cache, resources};
use page::{Map, Value, page};

/// The text of a scenario file, with what its maker has to tell as comments.
#[must_use]
pub fn print(scenario: &Scenario, notes: &Notes) -> String {
    let Scenario { name, draft, populations, also_named: _, checks, files: _, work } = scenario;
    let mut top = Map::default();
    top.put_some("name", name.clone());
    let target = draft.url.as_ref().map(|url| url.parse::<Target>().map_or_else(|_| url.clone(), |target| target.absolute()));
    top.put_some("target", target.map(|target| target.trim_end_matches('/').to_owned()));
    let mut load = load(scenario);
    load.note(notes.load.iter().cloned());
    top.put_all("load", load);
    top.put_all("data", Value::List(draft.data_file.iter().map(|text| data::file(text)).collect()));
    top.put_some("data_order", draft.data_order.as_ref().map(ToString::to_string));
    top.put_some("data_end", draft.data_end.as_ref().map(ToString::to_string));
    let mut variables = Map::default();
    work.variables.iter().for_each(|variable| variables.put(&variable.name, variable.value.to_string()));
    top.put_all("variables", variables);
    let defaults = Defaults::of(work);
    let mut common = defaults.map(work);
    common.note(notes.defaults.iter().cloned());
    top.put_some("keep_variables", work.keeps_variables.then(|| Value::Bare("true".to_owned())));
    top.put_some("each_place", work.each_place.then(|| Value::Bare("true".to_owned())));
    top.put_all("defaults", common);
    top.put_all("checks", Value::List(checks.iter().map(|check| Value::from(check.to_string())).collect()));
    let mut steps = Steps { defaults: &defaults, notes, number: 0 };
    top.put_all("setup", steps.list(&work.setup, ""));
    match work.journeys.as_slice() {
        [only] if only.weight == 1.0 && only.name == name.as_deref().unwrap_or("journey") => top.put("steps", steps.list(&only.items, "")),
        journeys => {
            let journeys = journeys.iter().map(|journey| {
                let mut map = Map::default();
                map.put("name", journey.name.clone());
                map.put_some("weight", weight(journey.weight));
                map.put("steps", steps.list(&journey.items, ""));
                Value::Map(map)
            });
            let journeys = Value::List(journeys.collect());
            top.put("journeys", journeys);
        }
    }
    top.put_all("populations", Value::List(populations.iter().map(population).collect()));
    top.put_all("user_teardown", steps.list(&work.user_teardown, ""));
    top.put_all("teardown", steps.list(&work.teardown, ""));
    top.put_some("teardown_when_ended", work.skips_teardown.then(|| Value::Bare("false".to_owned())));
    page(&notes.top, &top, &notes.end)
}

/// The settings of a plan that a scenario can hold.
fn load(scenario: &Scenario) -> Map {
    let Draft { rate, .. } = &scenario.draft;
    let mut settings = serde_json::to_value(&scenario.draft).unwrap_or_default();
    settings["also_target"] = scenario.also_named.clone().into();
    named_settings(&settings, LOAD.keys, rate.is_some())
}

/// A population.
fn population(population: &PopulationDraft) -> Value {
    Value::Map(named_settings(&serde_json::to_value(population).unwrap_or_default(), POPULATION.keys, population.rate.is_some()))
}

/// Settings as a plan names them, under the keys of a file.
fn named_settings(settings: &serde_json::Value, keys: &[Key], has_rate: bool) -> Map {
    let mut map = Map::default();
    for key in keys {
        let setting = match (key.name, has_rate) {
            ("users", false) => "connections",
            ("connections", false) | ("users", true) => continue,
            (name, _) => name,
        };
        match settings.get(setting) {
            Some(serde_json::Value::String(text)) => map.put(key.name, text.as_str()),
            Some(serde_json::Value::Array(values)) => {
                map.put_all(key.name, Value::List(values.iter().filter_map(|value| Some(Value::from(value.as_str()?))).collect()));
            }
            value => map.put_some(key.name, value.map(|value| Value::Bare(value.to_string()))),
        }
    }
    map
}

/// One, which is what is meant where nothing is said, is not.
fn weight(weight: f64) -> Option<Value> {
    (weight != 1.0).then(|| Value::Bare(weight.to_string()))
}

/// What all steps have in common, and so stands once.
struct Defaults {
    headers: Vec<(String, Template)>,
    auth: Option<Auth>,
    redirects: u8,
    resources: Option<Resources>,
    cache: Option<Cache>,
    encoding: Option<Charset>,
    timeout: Option<Nanos>,
    failure_ends: Option<Extent>,
    may_fail: bool,
}

impl Defaults {
    fn of(work: &Work) -> Self {
        let mut steps: Vec<&Step> = Vec::new();
        work.each_step(&mut |step| steps.push(step));
        let shared = |is_same: &dyn Fn(&Step, &Step) -> bool| match steps.as_slice() {
            [first, others @ ..] if !others.is_empty() && others.iter().all(|other| is_same(first, other)) => Some(*first),
            _ => None,
        };
        // What all steps send to say who the user is, is for the target alone.
        let at_home: Vec<&Option<Auth>> = steps.iter().filter(|step| step.elsewhere.is_none()).map(|step| &step.auth).collect();
        let most = |auth: &&&Option<Auth>| at_home.iter().filter(|other| **other == **auth).count() * 2 > at_home.len().max(2);
        Self {
            headers: headers(&steps),
            auth: at_home.iter().find(most).copied().cloned().flatten(),
            redirects: shared(&|first, other| first.redirects == other.redirects).map_or(0, |step| step.redirects),
            resources: shared(&|first, other| first.resources == other.resources).and_then(|step| step.resources.clone()),
            cache: shared(&|first, other| first.cache == other.cache).and_then(|step| step.cache),
            encoding: shared(&|first, other| first.encoding == other.encoding).and_then(|step| step.encoding),
            timeout: shared(&|first, other| first.timeout == other.timeout).and_then(|step| step.timeout),
            failure_ends: shared(&|first, other| first.failure_ends == other.failure_ends).and_then(|step| step.failure_ends),
            may_fail: shared(&|first, other| first.may_fail == other.may_fail).is_some_and(|step| step.may_fail),
        }
    }

    fn map(&self, work: &Work) -> Map {
        let mut map = Map::default();
        if !work.cookies {
            map.put("cookies", Value::Bare("false".to_owned()));
        }
        if self.redirects > 0 {
            map.put("redirects", Value::Bare(self.redirects.to_string()));
        }
        map.put_some("resources", self.resources.as_ref().map(resources));
        map.put_some("encoding", self.encoding.map(|encoding| encoding.to_string()));
        map.put_some("cache", self.cache.as_ref().map(cache));
        map.put_some("timeout", self.timeout.map(|timeout| timeout.to_string()));
        if self.failure_ends.is_some() {
            ends(self.failure_ends, &mut map);
        }
        if self.may_fail {
            map.put("may_fail", Value::Bare("true".to_owned()));
        }
        map.put_some("auth", self.auth.as_ref().map(auth));
        map.put_all("headers", named(&self.headers));
        map
    }
}

/// The headers that stand once for all steps. A secret that is the target's alone has to be among them.
fn headers(steps: &[&Step]) -> Vec<(String, Template)> {
    let [first, others @ ..] = steps else { return Vec::new() };
    let is_secret = |name: &str| plan::is_secret(name);
    let mut common = first.headers.clone();
    common.retain(|(name, value)| {
        let has = |step: &Step| {
            step.headers.iter().any(|(other, same)| other == name && same == value)
                && is_secret(name) == step.shared_secrets.iter().any(|secret| secret == name)
        };
        !others.is_empty() && !name.eq_ignore_ascii_case("content-type") && steps.iter().all(|step| has(step))
    });
    if steps.iter().all(|step| own_from(step, &common).is_some()) {
        return common;
    }
    // Steps have some of them otherwise: those up to the last shared secret of each, in an order that suits all.
    let mut beginnings: Vec<&[(String, Template)]> = Vec::new();
    let mut left: Vec<&(String, Template)> = Vec::new();
    for step in steps {
        let last = step.headers.iter().rposition(|(name, _)| step.shared_secrets.contains(name));
        let beginning = &step.headers[..last.map_or(0, |last| last + 1)];
        if !beginnings.contains(&beginning) {
            beginnings.push(beginning);
        }
    }
    for header in beginnings.iter().flat_map(|beginning| beginning.iter()) {
        if !left.contains(&header) {
            left.push(header);
        }
    }
    let mut merged = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waits = |header: &(String, Template)| {
            beginnings.iter().any(|beginning| {
                let at = beginning.iter().position(|known| known == header);
                at.is_some_and(|at| beginning[..at].iter().any(|before| left.contains(&before)))
            })
        };
        let next = left.iter().position(|header| !waits(header)).unwrap_or(0);
        merged.push(left.remove(next).clone());
    }
    merged
}

/// From which of its headers on they are a step's own, if these are common to all; `None` if a step that is read would have others.
fn own_from(step: &Step, common: &[(String, Template)]) -> Option<usize> {
    (0..=step.headers.len()).rev().find(|at| {
        let (inherited, own) = step.headers.split_at(*at);
        let is_own = |name: &str| own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let secrets = inherited.iter().map(|(name, _)| name).filter(|name| plan::is_secret(name));
        common.iter().filter(|(name, _)| !is_own(name)).eq(inherited) && secrets.eq(&step.shared_secrets)
    })
}

/// Steps on their way onto the page.
struct Steps<'a> {
    defaults: &'a Defaults,
    notes: &'a Notes,
    /// Of how many items was told.
    number: usize,
}

impl Steps<'_> {
    /// Items, each with the pause behind it. `group` is what stands before the names of their steps.
    fn list(&mut self, items: &[Item], group: &str) -> Value {
        Value::List(self.maps(items, group).into_iter().map(Value::Map).collect())
    }

    fn maps(&mut self, items: &[Item], group: &str) -> Vec<Map> {
        let mut maps = Vec::new();
        let mut rest = items;
        while let [item, others @ ..] = rest {
            rest = others;
            let note: Vec<String> = self.notes.items.iter().filter(|(at, _)| *at == self.number).map(|(_, note)| note.clone()).collect();
            self.number += 1;
            let before = maps.len();
            match item {
                Item::Once(inner) => maps.extend(self.maps(inner, group).into_iter().map(|mut map| {
                    map.put("once", Value::Bare("true".to_owned()));
                    map
                })),
                item => maps.push(self.map(item, group)),
            }
            if let [first, ..] = &mut maps[before..] {
                first.note(note);
            }
            // What is done once has a pause of its own.
            if let ([Item::Pause(think), others @ ..], false) = (rest, matches!(item, Item::Pause(_) | Item::Once(_))) {
                rest = others;
                self.number += 1;
                maps[before].put("pause", duration(think));
            }
        }
        maps
    }

    fn map(&mut self, item: &Item, group: &str) -> Map {
        let mut map = Map::default();
        match item {
            Item::Step(step) => self.step(step, group, &mut map),
            Item::Pause(think) => map.put("pause", duration(think)),
            Item::Group { name, items } => {
                let inner = if group.is_empty() { name.clone() } else { format!("{group} / {name}") };
                map.put("group", name.clone());
                map.put("steps", self.list(items, &inner));
            }
            Item::Repeat { times, items } => {
                map.put("repeat", Value::number(times.to_string()));
                map.put("steps", self.list(items, group));
            }
            Item::If { condition, items, otherwise } => {
                map.put("if", condition.to_string());
                map.put("steps", self.list(items, group));
                map.put_all("else", self.list(otherwise, group));
            }
            Item::While { condition, items } => {
                map.put("while", condition.to_string());
                map.put("steps", self.list(items, group));
            }
            Item::AsLongAs { condition, items } => {
                map.put("as_long_as", condition.to_string());
                map.put("steps", self.list(items, group));
            }
            Item::ForEach { variable, list, items } => {
                let mut each = Map::default();
                each.put("variable", variable.clone());
                match list {
                    List::Items(texts) => {
                        each.put("in", Value::List(texts.iter().map(|text| Value::number(text.to_string())).collect()));
                    }
                    List::Array(text) => each.put("in", text.to_string()),
                }
                map.put("for_each", each);
                map.put("steps", self.list(items, group));
            }
            Item::Pick { weights, choices } => {
                let choices = weights.each().iter().zip(choices).map(|(share, items)| self.choice(*share, items, group));
                let choices = Value::List(choices.collect());
                map.put("pick", choices);
            }
            Item::Pacing(Pacing { pace, rates, of, catches_up, together, name }) => {
                map.put("pacing", rates.as_ref().map_or_else(|| duration(pace), Timetable::to_string));
                map.put_some("of", (*of != PacedUsers::Each).then(|| of.to_string()));
                if *catches_up {
                    map.put("catch_up", Value::Bare("true".to_owned()));
                }
                map.put_some("together", (*together > 1).then(|| Value::Bare(together.to_string())));
                map.put_some("name", name.clone());
            }
            Item::Set(values) => {
                let mut set = Map::default();
                values.iter().for_each(|(name, value)| set.put(name, Value::number(value.to_string())));
                map.put("set", set);
            }
            Item::Script(program) => map.put("script", script(program)),
            Item::Switch { value, cases, otherwise } => {
                map.put("switch", value.to_string());
                let cases = cases.iter().map(|case| {
                    let mut map = Map::default();
                    map.put("value", Value::List(case.values.iter().map(|value| Value::number(value.clone())).collect()));
                    map.put("steps", self.list(&case.items, group));
                    Value::Map(map)
                });
                let cases = Value::List(cases.collect());
                map.put("cases", cases);
                map.put_all("else", self.list(otherwise, group));
            }
            Item::Interleave { parts, per_user } => {
                map.put("interleave", self.parts(parts, group));
                if *per_user {
                    map.put("per_user", Value::Bare("true".to_owned()));
                }
            }
            Item::RandomOrder(parts) => map.put("random_order", self.parts(parts, group)),
            Item::Parallel { parts, at_once } => {
                map.put("parallel", self.parts(parts, group));
                map.put_some("at_once", at_once.map(|at_once| Value::Bare(at_once.to_string())));
            }
            Item::RunFor { time, items } => {
                map.put("run_for", duration(time));
                map.put("steps", self.list(items, group));
            }
            Item::Share { amount, per_user, items } => {
                map.put("share", amount.to_string());
                if *per_user {
                    map.put("per_user", Value::Bare("true".to_owned()));
                }
                map.put("steps", self.list(items, group));
            }
            Item::Transaction { name, pauses, only_row, items } => {
                let own = if group.is_empty() { None } else { name.strip_prefix(group).and_then(|name| name.strip_prefix(" / ")) };
                map.put("transaction", own.unwrap_or(name));
                if *pauses {
                    map.put("include_pauses", Value::Bare("true".to_owned()));
                }
                if *only_row {
                    map.put("only_row", Value::Bare("true".to_owned()));
                }
                map.put("steps", self.list(items, group));
            }
            Item::CriticalSection { name, items } => {
                map.put("critical_section", name.clone());
                map.put("steps", self.list(items, group));
            }
            Item::ForgetCookies => map.put("forget", "cookies"),
            Item::ForgetCache => map.put("forget", "cache"),
            Item::ForgetConnections => map.put("forget", "connections"),
            Item::EndRound => map.put("end", "round"),
            Item::EndLoop => map.put("end", "loop"),
            Item::End(extent) => map.put("end", extent.to_string()),
            Item::KeepCookie(cookie) => map.put("cookie", cookie.to_string()),
            Item::NextRow(file) => map.put("next_row", file.clone()),
            Item::Rendezvous { users, within } => {
                map.put("rendezvous", Value::Bare(users.to_string()));
                map.put_some("within", within.map(|within| within.to_string()));
            }
            Item::Once(_) => unreachable!("its items say it themselves"),
        }
        map
    }

    /// Several lists of items.
    fn parts(&mut self, parts: &[Vec<Item>], group: &str) -> Value {
        let parts = parts.iter().map(|items| {
            let mut map = Map::default();
            map.put("steps", self.list(items, group));
            Value::Map(map)
        });
        Value::List(parts.collect())
    }

    /// One of several; a pause alone on one line.
    fn choice(&mut self, share: f64, items: &[Item], group: &str) -> Value {
        if let [Item::Pause(Duration::Drawn(think))] = items {
            self.number += 1;
            let share = weight(share).map_or_else(String::new, |_| format!("weight: {share}, "));
            return Value::Bare(format!("{{{share}steps: [{{pause: {think}}}]}}"));
        }
        let mut map = Map::default();
        map.put_some("weight", weight(share));
        map.put("steps", self.list(items, group));
        Value::Map(map)
    }

    fn step(&self, step: &Step, group: &str, map: &mut Map) {
        let defaults = self.defaults;
        // The slash before a path that is drawn follows from its being one.
        let path = match step.path.pieces() {
            [Piece::Text(slash), Piece::Value(Filled::Weighted { .. }), ..] if slash == "/" => {
                step.path.to_string().trim_start_matches('/').to_owned()
            }
            _ => step.path.to_string(),
        };
        if let Some(talk) = &step.talk {
            return self.talk(step, talk, &path, group, map);
        }
        match step.method.as_str() {
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" => map.put(&step.method.to_ascii_lowercase(), path.clone()),
            method => {
                map.put("method", method);
                map.put("path", path.clone());
            }
        }
        let name = own_name(step, group);
        if name != plan::url_without_secrets(&format!("{} {path}", step.method)) {
            map.put("name", name);
        }
        let inherited = defaults.auth.as_ref().filter(|_| step.elsewhere.is_none());
        if step.auth.as_ref() != inherited {
            map.put("auth", step.auth.as_ref().map_or_else(|| Value::from("none"), auth));
        }
        let own = own_from(step, &defaults.headers).unwrap_or(0);
        map.put_all("headers", named(&step.headers[own..]));
        body(&step.body, map);
        if step.redirects != defaults.redirects {
            map.put("redirects", Value::Bare(step.redirects.to_string()));
        }
        if step.resources != defaults.resources {
            map.put("resources", step.resources.as_ref().map_or_else(|| Value::Bare("false".to_owned()), resources));
        }
        if step.encoding != defaults.encoding {
            map.put("encoding", step.encoding.map_or_else(|| "utf-8".to_owned(), |encoding| encoding.to_string()));
        }
        if step.cache != defaults.cache {
            map.put("cache", step.cache.as_ref().map_or_else(|| Value::Bare("false".to_owned()), cache));
        }
        if step.closes {
            map.put("keep_alive", Value::Bare("false".to_owned()));
        }
        self.rest(step, map);
    }

    /// What steps of every kind have: their limits, what their failure means, and what is done with their answer.
    fn rest(&self, step: &Step, map: &mut Map) {
        let defaults = self.defaults;
        if !step.cookies {
            map.put("cookies", Value::Bare("false".to_owned()));
        }
        map.put_some("timeout", step.timeout.filter(|_| step.timeout != defaults.timeout).map(|timeout| timeout.to_string()));
        map.put_some("stream_for", step.stream_for.map(|time| time.to_string()));
        map.put_some("maximum_requests", step.requests_max.map(|most| Value::Bare(most.to_string())));
        if step.failure_ends != defaults.failure_ends {
            ends(step.failure_ends, map);
        }
        if step.may_fail != defaults.may_fail {
            map.put("may_fail", Value::Bare(step.may_fail.to_string()));
        }
        let mut extract = Map::default();
        step.extractions.iter().for_each(|extraction| extract.put(&extraction.variable, extracted(extraction)));
        map.put_all("extract", extract);
        map.put_all("checks", checks::checked(&step.checks));
        for (key, scripts) in [("before", &step.before), ("after", &step.after)] {
            match scripts.as_slice() {
                [only] => map.put(key, script(only)),
                scripts => map.put_all(key, Value::List(scripts.iter().map(script).collect())),
            }
        }
    }
}

/// The name of a step, without those of its groups.
fn own_name<'s>(step: &'s Step, group: &str) -> &'s str {
    let own = if group.is_empty() { None } else { step.name.strip_prefix(group).and_then(|name| name.strip_prefix(" / ")) };
    own.unwrap_or(&step.name)
}

/// What a failure ends.
fn ends(extent: Option<Extent>, map: &mut Map) {
    match extent {
        None => map.put("must_succeed", Value::Bare("false".to_owned())),
        Some(Extent::Journey) => map.put("must_succeed", Value::Bare("true".to_owned())),
        Some(extent) => map.put("failure_ends", extent.to_string()),
    }
}

/// Names and what each is.
fn named(texts: &[(String, Template)]) -> Map {
    let mut map = Map::default();
    texts.iter().for_each(|(name, value)| map.put(name, value.to_string()));
    map
}

/// Its text alone, where that says all.
fn script(script: &Script) -> Value {
    let plain = Script::new(script.text.clone());
    if *script == plain {
        return Value::from(script.text.as_str());
    }
    let Script { name, text, translated, given, into, reads, sets, reads_answer, reads_request, may_fail, files } = script;
    let mut map = Map::default();
    map.put_some("name", (!name.is_empty()).then_some(name.as_str()));
    map.put_all("given", named(given));
    map.put_some("into", into.as_deref());
    let list = |names: &[String]| Value::List(names.iter().map(|name| Value::from(name.as_str())).collect());
    map.put_some("reads", (*reads != plain.reads).then(|| list(reads)));
    map.put_some("sets", (*sets != plain.sets).then(|| list(sets)));
    map.put_some("reads_answer", (*reads_answer != plain.reads_answer).then(|| Value::Bare(reads_answer.to_string())));
    map.put_some("reads_request", (*reads_request != plain.reads_request).then(|| Value::Bare(reads_request.to_string())));
    map.put_some("may_fail", may_fail.then(|| Value::Bare("true".to_owned())));
    let mut paths = Map::default();
    files.iter().for_each(|(name, path)| paths.put(name, path.as_str()));
    map.put_all("files", paths);
    map.put_some("translated", translated.then(|| Value::Bare("true".to_owned())));
    map.put("text", text.as_str());
    Value::Map(map)
}

fn auth(auth: &Auth) -> Value {
    let login = |user: &Template, password: &Template| of([("user", user), ("password", password)]);
    let key = |place: &str, name: &str, value: &Template| {
        let mut key = Map::default();
        key.put(place, name);
        key.put("value", value.to_string());
        key
    };
    let mut map = Map::default();
    match auth {
        Auth::Basic { user, password } => map.put("basic", login(user, password)),
        Auth::Digest { user, password } => map.put("digest", login(user, password)),
        Auth::Bearer(token) => map.put("bearer", token.to_string()),
        Auth::Header(name, value) => map.put("api_key", key("header", name, value)),
        Auth::Query(name, value) => map.put("api_key", key("query", name, value)),
        Auth::Aws(keys) => {
            let mut aws = of([("access_key", &keys.access_key), ("secret_key", &keys.secret_key)]);
            aws.put_some("session_token", keys.session_token.as_ref().map(ToString::to_string));
            aws.put("region", keys.region.to_string());
            aws.put("service", keys.service.to_string());
            map.put("aws", aws);
        }
    }
    Value::Map(map)
}

fn of<'a>(texts: impl IntoIterator<Item = (&'a str, &'a Template)>) -> Map {
    let mut map = Map::default();
    texts.into_iter().for_each(|(key, text)| map.put(key, text.to_string()));
    map
}

fn body(body: &Body, map: &mut Map) {
    match body {
        Body::Empty => {}
        Body::Text(text) => map.put("body", text.to_string()),
        Body::Json(text) => map.put("json", json(text)),
        Body::Form(fields) => map.put("form", named(fields)),
        Body::File(path) => {
            let mut file = Map::default();
            file.put("file", path.as_str());
            map.put("body", file);
        }
        Body::Multipart(fields) => {
            let mut form = Map::default();
            for field in fields {
                let mut part = Map::default();
                match &field.value {
                    FieldValue::Text(text) if field.headers.is_empty() => {
                        form.put(&field.name, text.to_string());
                        continue;
                    }
                    FieldValue::Text(text) => part.put("text", text.to_string()),
                    FieldValue::File { path, media_type } => {
                        part.put("file", path.as_str());
                        part.put_some("type", (media_type != plan::FILE_TYPE).then(|| media_type.clone()));
                    }
                }
                let mut headers = Map::default();
                field.headers.iter().for_each(|(name, value)| headers.put(name, value.as_str()));
                part.put_all("headers", headers);
                form.put(&field.name, part);
            }
            map.put("multipart", form);
        }
    }
}

/// Objects and lists as text; a number, a truth or a text alone as YAML has it.
fn json(template: &Template) -> Value {
    let text = template.to_string();
    if text.trim_start().starts_with(['{', '[']) {
        return Value::Text(text);
    }
    if !text.starts_with('"') {
        return Value::Bare(text);
    }
    let pieces = template.pieces();
    let last = pieces.len().saturating_sub(1);
    let plain = pieces.iter().enumerate().map(|(place, piece)| match piece {
        Piece::Text(text) => {
            let begins = if place == 0 { "" } else { "\"" };
            let ends = if place == last { "" } else { "\"" };
            Piece::Text(serde_json::from_str(&format!("{begins}{text}{ends}")).unwrap_or_else(|_| text.clone()))
        }
        value @ Piece::Value(_) => value.clone(),
    });
    Value::Text(Template::of(plain).to_string())
}

fn duration(duration: &Duration) -> String {
    match duration {
        Duration::Drawn(think) => think.to_string(),
        Duration::Written(text) => text.to_string(),
    }
}

fn extracted(extraction: &Extraction) -> Value {
    let Extraction { variable: _, kind, expression, open, within, which, written, default, optional, null_is_missing } = extraction;
    let word = kind.word();
    let is_short =
        *extraction == Extraction { open: open.clone(), ..Extraction::new(extraction.variable.clone(), *kind, expression.clone()) };
    // Braces would be read as those of a template, so that they are one that writes them.
    let expression = &match open {
        Some(open) => open.to_string(),
        None if expression.contains("{{") => Template::fixed(expression.as_str()).to_string(),
        None => expression.clone(),
    };
    if is_short {
        return if expression.is_empty() { word.into() } else { format!("{word} {expression}").into() };
    }
    let mut map = Map::default();
    match kind {
        Kind::Body | Kind::Status => map.put(word, Value::Bare("true".to_owned())),
        _ => map.put(word, expression.clone()),
    }
    match within {
        Where::Part(AnswerPart::Body) => {}
        Where::Part(part) => map.put("in", part.word()),
        Where::Written(text) => map.put("in", text.to_string()),
    }
    map.put_some("as", written.clone());
    let take = match which {
        Which::First => None,
        Which::Last => Some(Value::from("last")),
        Which::Nth(number) => Some(Value::Bare(number.to_string())),
        Which::Random => Some(Value::from("random")),
        Which::Every => Some(Value::from("every")),
        Which::Joined => Some(Value::from("joined")),
        Which::Count => Some(Value::from("count")),
    };
    map.put_some("take", take);
    map.put_some("default", default.clone());
    map.put_some("optional", optional.then(|| Value::Bare("true".to_owned())));
    map.put_some("null_is_missing", null_is_missing.then(|| Value::Bare("true".to_owned())));
    Value::Map(map)
}

#[cfg(test)]
mod tests;
