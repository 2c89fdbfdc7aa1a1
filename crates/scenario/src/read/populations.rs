//! The populations of a scenario: several loads, each with the journeys that its users go through.

use std::num::NonZeroU64;

use plan::template::nearest;
use plan::work::Journey;
use plan::{Nanos, PopulationDraft};
use serde_json::Value as Json;

use super::Reading;
use crate::keys::{Key, OF_ONE_LOAD, POPULATION};
use crate::yaml::Node;

fn is_of_one_load(name: &str) -> bool {
    OF_ONE_LOAD.iter().any(|key| key.name == name)
}

impl Reading<'_> {
    /// Reads the populations. `load` is the node of the whole run's load, whose settings must not be theirs.
    pub(super) fn populations(&mut self, node: &Node, load: Option<&Node>, journeys: &[Journey]) -> Vec<PopulationDraft> {
        self.refuse_one_load(load);
        let mut populations: Vec<PopulationDraft> = Vec::new();
        let nodes = self.each(node);
        if nodes.is_empty() {
            self.wrong(
                node.spot,
                "there are no populations here",
                "write one, such as - {name: customers, users: 10}, or leave the key out",
            );
        }
        for node in nodes {
            let Some(mut entries) = self.shape(node, &POPULATION) else { continue };
            let name = match entries.value("name") {
                Some(node) => {
                    let name = self.plain(node).unwrap_or_default();
                    if name.trim().is_empty() {
                        self.wrong(
                            node.spot,
                            "the name of the population is empty",
                            "give it one, such as name: customers: reports call it so",
                        );
                    }
                    name
                }
                None => {
                    self.wrong(entries.spot, "the population has no name", "give it one, such as name: customers: reports call it so");
                    continue;
                }
            };
            if populations.iter().any(|other| other.name == name) {
                self.wrong(node.spot, format!("two populations are called '{}'", name.escape_debug()), "give each a name of its own");
            }
            let names = entries.value("journeys").map_or_else(Vec::new, |node| self.journey_names(node, journeys));
            let start_after = entries.value("start_after").and_then(|node| self.time(node));
            let after = entries.value("after").and_then(|node| self.before(node, &populations));
            if after.is_some() && (start_after.is_some() || entries.has("duration")) {
                let message =
                    format!("the population '{}' begins when others have gone, and nobody knows when that is", name.escape_debug());
                let help = "leave start_after: and duration: out, and end it with iterations_per_user:";
                self.wrong(node.spot, message, help);
            }
            let [iterations, iterations_per_user] = ["iterations", "iterations_per_user"]
                .map(|key| entries.value(key).and_then(|node| self.iterations(key, node)).map(plan::Setting::Value));
            let settings: Vec<Key> = POPULATION.keys.iter().copied().filter(|key| is_of_one_load(key.name)).collect();
            let settings = self.settings(&mut entries, &settings);
            if !settings.contains_key("connections") && !settings.contains_key("rate") {
                self.wrong(
                    node.spot,
                    format!("the population '{}' has neither users nor a rate", name.escape_debug()),
                    "give it one, such as users: 10",
                );
            }
            let draft: PopulationDraft = serde_json::from_value(Json::Object(settings)).unwrap_or_default();
            let start_after = start_after.map(plan::Setting::Value);
            populations.push(PopulationDraft { name, journeys: names, start_after, iterations, iterations_per_user, after, ..draft });
        }
        self.look_for_users(node, journeys, &populations);
        populations
    }

    /// Complains of settings of one load where populations have loads of their own.
    fn refuse_one_load(&mut self, load: Option<&Node>) {
        let Some(crate::yaml::Value::Map(entries)) = load.map(|load| &load.value) else { return };
        for (word, _) in entries.iter().filter(|(word, _)| word.text != "duration" && is_of_one_load(&word.text)) {
            let message = format!("'{}' and populations contradict: each population has a load of its own", word.text);
            self.wrong(word.spot, message, "write it into a population");
        }
    }

    /// Names of journeys that there are.
    fn journey_names(&mut self, node: &Node, journeys: &[Journey]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let nodes = self.each(node);
        if nodes.is_empty() {
            self.wrong(node.spot, "there are no journeys here", "name one, or leave the key out: then its users go through all of them");
        }
        for node in nodes {
            let Some(name) = self.plain(node) else { continue };
            if journeys.iter().any(|journey| journey.name == name) {
                if !names.contains(&name) {
                    names.push(name);
                }
                continue;
            }
            let help = match nearest(&name, journeys.iter().map(|journey| journey.name.as_str())) {
                Some(near) => format!("did you mean '{near}'?"),
                None => {
                    format!("there are {}", journeys.iter().map(|journey| journey.name.as_str()).collect::<Vec<_>>().join(", "))
                }
            };
            self.wrong(node.spot, format!("there is no journey '{}'", name.escape_debug()), help);
        }
        if !names.is_empty() && journeys.iter().filter(|journey| names.contains(&journey.name)).all(|journey| journey.weight == 0.0) {
            self.wrong(node.spot, "all journeys of this population have the weight 0", "give one a weight above 0");
        }
        names
    }

    /// Complains of journeys that no population goes through: they would be missing in the load without a word.
    fn look_for_users(&mut self, node: &Node, journeys: &[Journey], populations: &[PopulationDraft]) {
        if populations.is_empty() || populations.iter().any(|population| population.journeys.is_empty()) {
            return;
        }
        for journey in journeys {
            if !populations.iter().any(|population| population.journeys.contains(&journey.name)) {
                let message = format!("no population goes through the journey '{}'", journey.name.escape_debug());
                self.wrong(node.spot, message, "name it in the journeys of a population, or leave it out of the file");
            }
        }
    }

    /// The population that is to be gone before another begins.
    fn before(&mut self, node: &Node, populations: &[PopulationDraft]) -> Option<String> {
        let name = self.plain(node)?;
        if populations.iter().all(|population| population.name != name) {
            let help = match nearest(&name, populations.iter().map(|population| population.name.as_str())) {
                Some(near) => format!("did you mean '{near}'?"),
                None => "name one that stands before it".to_owned(),
            };
            self.wrong(node.spot, format!("no population before this one is called '{}'", name.escape_debug()), help);
        }
        Some(name)
    }

    /// A number of journeys.
    fn iterations(&mut self, key: &str, node: &Node) -> Option<NonZeroU64> {
        let iterations = NonZeroU64::new(self.whole(node, u64::MAX)?);
        if iterations.is_none() {
            self.wrong(node.spot, "a population that begins no journey does nothing", format!("give at least one, such as {key}: 100"));
        }
        iterations
    }

    /// A time with its unit.
    fn time(&mut self, node: &Node) -> Option<Nanos> {
        let text = self.plain(node)?;
        match Nanos::with_unit(&text) {
            Ok(time) => Some(time),
            Err(why) => {
                self.wrong(node.spot, format!("'start_after': {why}"), "give a time, such as 30s");
                None
            }
        }
    }
}
