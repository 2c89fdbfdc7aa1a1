//! A load as it is written down: its settings, and what is on record of the files that they name.
//!
//! A result names its files and does not copy them: a list of a million addresses would make every result as long. So that it can be
//! run again as it was, it holds a digest of each. In JSON all of it is one object, as it was from the beginning; in the program what
//! was typed ([`Draft`]) and what was found out about it ([`Sources`]) are two things, of which the user writes only the first.

use std::num::NonZeroU32;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

use crate::draft::list;
use crate::{Amount, Draft, Nanos, PopulationDraft, Replay, Setting, Stages};

/// A load as results hold it, and as it is asked for over the API.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LoadRecord {
    /// Its settings.
    #[serde(flatten)]
    pub draft: Draft,
    /// What is on record of its files.
    #[serde(flatten)]
    pub sources: Sources,
}

/// What a load is made of beside its settings, without what files hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// What the script's file held: its SHA-256, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script_sha256: Option<String>,
    /// What the file of URLs held: its SHA-256, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls_sha256: Option<String>,
    /// Whether whole URLs of the list are sent to the server of `url` too, but for those that `also_target` names: `--target` beside `--urls`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub urls_at_url: bool,
    /// What the data files held: their fingerprints, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data_file_sha256: Vec<String>,
    /// What the scenario held: its SHA-256, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario_sha256: Option<String>,
    /// The scenario itself, where it came as text and not as a file. Secrets in it are left out when it is saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario_text: Option<String>,
    /// What the scenario calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario_name: Option<String>,
    /// How many connections each user of the scenario needs, where it has several requests under way at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections_each: Option<NonZeroU32>,
    /// Which environment gave the variables of another tool's file their values: its own file, or a name in that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// What the environment's file held: its SHA-256, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_sha256: Option<String>,
    /// Variables of another tool's file that were given a value. The values may be secrets and are not saved, so they are given again
    /// with the plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variable_names: Vec<String>,
    /// The populations of the scenario, each with a load of its own; then the settings of one load are not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub populations: Vec<PopulationDraft>,
    /// The log that is replayed, where one is; its times take the place of the rate's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

impl Sources {
    /// The keys of its fields, in their order.
    pub const KEYS: [&str; 13] = [
        "script_sha256",
        "urls_sha256",
        "urls_at_url",
        "data_file_sha256",
        "scenario_sha256",
        "scenario_text",
        "scenario_name",
        "connections_each",
        "environment",
        "environment_sha256",
        "variable_names",
        "populations",
        "replay",
    ];
}

impl LoadRecord {
    /// This load with everything `over` says put in its place, as flags go over a saved plan. What is on record of a file goes with the
    /// file: one that is given anew is meant as it is now.
    #[must_use]
    pub fn overlaid(self, over: Self) -> Self {
        let Self { draft, sources } = self;
        let Self { draft: typed, sources: new } = over;
        let has_new_scenario = typed.scenario.is_some() || new.scenario_text.is_some();
        let had_scenario = draft.scenario.is_some() || sources.scenario_text.is_some();
        fn of_its_own<T>(is_new: bool, under: T, over: T) -> T {
            if is_new { over } else { under }
        }
        let sources = Sources {
            script_sha256: of_its_own(typed.script.is_some(), sources.script_sha256, new.script_sha256),
            urls_sha256: of_its_own(typed.urls.is_some(), sources.urls_sha256, new.urls_sha256),
            urls_at_url: new.urls_at_url || typed.urls.is_none() && sources.urls_at_url,
            data_file_sha256: of_its_own(!typed.data_file.is_empty(), sources.data_file_sha256, new.data_file_sha256),
            scenario_sha256: of_its_own(has_new_scenario, sources.scenario_sha256, new.scenario_sha256),
            scenario_text: of_its_own(has_new_scenario, sources.scenario_text, new.scenario_text),
            scenario_name: of_its_own(has_new_scenario, sources.scenario_name, new.scenario_name),
            connections_each: of_its_own(has_new_scenario, sources.connections_each, new.connections_each),
            // What was said of the file's variables belongs to that file.
            environment_sha256: of_its_own(
                has_new_scenario || new.environment.is_some(),
                sources.environment_sha256,
                new.environment_sha256,
            ),
            environment: if has_new_scenario { new.environment } else { new.environment.or(sources.environment) },
            variable_names: if has_new_scenario { new.variable_names } else { list(sources.variable_names, new.variable_names) },
            populations: if has_new_scenario && had_scenario { new.populations } else { list(sources.populations, new.populations) },
            replay: new.replay.or(sources.replay),
        };
        let scenario = if has_new_scenario { typed.scenario.clone() } else { draft.scenario.clone() };
        Self { draft: Draft { scenario, ..draft.overlaid(typed) }, sources }
    }

    /// This load repeated with everything `over` says put in its place. Where that says how long it takes, what is on record of its own
    /// end no longer holds: lengths that were decided are written down like those that were typed.
    #[must_use]
    pub fn repeated(self, over: Self) -> Self {
        let load = if over.draft.duration.is_some() { self.open_ended() } else { self };
        load.overlaid(over)
    }

    /// The same load without an end of its own, as far as it is the same until then.
    fn open_ended(mut self) -> Self {
        fn go_on<V: Amount>(stages: &mut Option<Setting<Stages<V>>>) {
            if let Some(Setting::Value(stages)) = stages {
                *stages = stages.open_ended();
            }
        }
        fn end(population: &PopulationDraft) -> Option<Nanos> {
            let value = |setting: &Option<Setting<Nanos>>| if let Some(Setting::Value(value)) = setting { Some(*value) } else { None };
            Some(value(&population.start_after).unwrap_or_default().plus(value(&population.duration)?))
        }
        go_on(&mut self.draft.connections);
        go_on(&mut self.draft.rate);
        let populations = &mut self.sources.populations;
        let run = populations.iter().filter_map(end).max();
        for population in populations.iter_mut().filter(|population| end(population) == run) {
            population.duration = None;
            go_on(&mut population.connections);
            go_on(&mut population.rate);
        }
        self
    }
}

/// What was typed, of which nothing is known beside.
impl From<Draft> for LoadRecord {
    fn from(draft: Draft) -> Self {
        Self { draft, sources: Sources::default() }
    }
}

impl<'de> Deserialize<'de> for LoadRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut settings = Map::<String, Value>::deserialize(deserializer)?;
        let of_files: Map<String, Value> = Sources::KEYS.iter().filter_map(|key| settings.remove_entry(*key)).collect();
        // Each tells by itself of what it does not know.
        let draft = serde_json::from_value(Value::Object(settings)).map_err(D::Error::custom)?;
        let sources = serde_json::from_value(Value::Object(of_files)).map_err(D::Error::custom)?;
        Ok(Self { draft, sources })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_beside_the_settings_has_its_key() {
        // Serde names all of them where it meets one that it does not know.
        let why = serde_json::from_str::<Sources>(r#"{"no such key": 1}"#).unwrap_err().to_string();
        let known: Vec<&str> = why.split_once("expected one of").unwrap().1.split('`').skip(1).step_by(2).collect();
        assert_eq!(known, Sources::KEYS);
    }

    #[test]
    fn what_is_on_record_goes_with_its_file() {
        let read = |json: &str| serde_json::from_str::<LoadRecord>(json).unwrap();
        let saved = read(
            r#"{"url": "http://a.test/", "script": "a.lua", "script_sha256": "aa", "scenario": "s.yaml", "scenario_sha256": "bb",
            "environment": "test", "variable_names": ["token"], "populations": [{"name": "p"}], "data_file": ["u.csv"], "data_file_sha256": ["cc"]}"#,
        );
        let over = |json: &str| saved.clone().overlaid(read(json));
        assert_eq!(over("{}"), saved);
        assert_eq!(over(r#"{"script": "a.lua"}"#).sources, Sources { script_sha256: None, ..saved.sources.clone() });
        let other = over(r#"{"scenario": "t.yaml"}"#);
        assert_eq!((other.draft.scenario.as_deref(), &other.sources.scenario_sha256), (Some("t.yaml"), &None));
        assert!(other.sources.environment.is_none() && other.sources.variable_names.is_empty() && other.sources.populations.is_empty());
        let text = over(r#"{"scenario_text": "steps: []"}"#);
        assert_eq!((text.draft.scenario, text.sources.scenario_text.as_deref()), (None, Some("steps: []")));
        assert_eq!(over(r#"{"data_file": ["v.csv"]}"#).sources.data_file_sha256, [""; 0]);
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        let why = serde_json::from_str::<LoadRecord>(r#"{"url": "http://a.test/", "conections": 5}"#).unwrap_err().to_string();
        assert!(why.contains("unknown field `conections`"), "{why}");
    }
}
