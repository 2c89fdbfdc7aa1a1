//! The load of a scenario: the settings of a plan, read and judged as flags are.

use plan::{Draft, Nanos, Plan, PlanErrors, Spelling};
use serde_json::{Map, Value as Json};

use super::{Entries, Reading};
use crate::keys::{Key, Kind, LOAD};
use crate::yaml::Node;

impl Reading<'_> {
    /// Each setting is judged by itself here, so that its mistakes have a place; all together, with the flags, they are judged when
    /// the plan is made.
    pub(super) fn load(&mut self, node: &Node) -> Draft {
        let Some(mut entries) = self.shape(node, &LOAD) else { return Draft::default() };
        serde_json::from_value(Json::Object(self.settings(&mut entries, LOAD.keys))).unwrap_or_default()
    }

    /// The settings of a load among these keys, named as a plan names them.
    pub(super) fn settings(&mut self, entries: &mut Entries<'_>, keys: &[Key]) -> Map<String, Json> {
        if entries.has("users")
            && let Some((word, _)) = entries.take("connections")
        {
            self.wrong(word.spot, "'users' and 'connections' are two words for one thing", "keep one of them");
        }
        if entries.has("rate")
            && let Some((word, _)) = entries.take("users")
        {
            let message = "'users' and 'rate' are two kinds of load: users who wait for their answers, or arrivals that do not";
            self.wrong(word.spot, message, "keep one of them; with a rate, connections: 50 is the most journeys at once");
        }
        let mut settings = Map::new();
        for key in keys {
            let Some(node) = entries.value(key.name) else { continue };
            match key.name {
                "cacert" | "cert" | "key" | "unix_socket" | "proto" | "proto_path" | "descriptors" => {
                    self.reaches_out(node.spot, "this names a file of the machine that serves");
                }
                "proxy" => self.reaches_out(node.spot, "a proxy leads where the machine that serves cannot see"),
                _ => {}
            }
            let setting = if key.name == "users" { "connections" } else { key.name };
            let value = match key.kind {
                Kind::Truth => self.truth(node).map(Json::Bool),
                // Several stages may stand as a list.
                Kind::Texts | Kind::Users if is_in_stages(setting) => {
                    let stages: Vec<String> = self.each(node).into_iter().filter_map(|node| self.plain(node)).collect();
                    Some(Json::String(stages.join(", ")))
                }
                Kind::Texts => {
                    let texts: Vec<String> = self.each(node).into_iter().filter_map(|node| self.plain(node)).collect();
                    let are_paths = matches!(setting, "proto" | "proto_path");
                    let texts = texts.into_iter().map(|text| Json::String(if are_paths { self.beside(&text) } else { text }));
                    Some(Json::Array(texts.collect()))
                }
                _ => self.plain(node).map(|text| match setting {
                    "cacert" | "cert" | "key" | "unix_socket" | "descriptors" => {
                        let path = self.beside(&text);
                        if setting != "unix_socket" {
                            self.look_for(node.spot, &path);
                        }
                        Json::String(path)
                    }
                    _ => Json::String(text),
                }),
            };
            let Some(value) = value else { continue };
            if let (true, Json::String(text)) = (is_time(setting), &value)
                && Nanos::lacks_unit(text)
                && let Err(why) = Nanos::with_unit(text)
            {
                self.wrong(node.spot, format!("'{}': {why}", key.name), key.about);
                continue;
            }
            if let (true, Json::String(text)) = (is_in_stages(setting), &value)
                && let mut times = text.split(',').filter_map(|stage| Some(stage.split_once(" for ")?.1))
                && let Some(Err(why)) = times.find(|time| Nanos::lacks_unit(time)).map(Nanos::with_unit)
            {
                self.wrong(node.spot, format!("'{}': {why}", key.name), key.about);
                continue;
            }
            let alone =
                Map::from_iter([(setting.to_owned(), value.clone()), ("url".to_owned(), Json::String("https://a.test/".to_owned()))]);
            match serde_json::from_value::<Draft>(Json::Object(alone)) {
                Err(why) => self.wrong(node.spot, format!("'{}' cannot be used: {why}", key.name), key.about),
                Ok(draft) => {
                    let wrong = Plan::try_from(draft).err().unwrap_or_else(PlanErrors::default);
                    let flag = setting.replace('_', "-");
                    let spelling = if key.name == setting { Spelling::KEYS } else { Spelling::KEYS_OF_USERS };
                    for error in wrong.0.into_iter().filter(|error| error.setting == flag && !is_about_others(&flag)) {
                        // The place is pointed at here, where an error about a flag shows its text again.
                        let message = error.message.spelt(spelling);
                        self.wrong(node.spot, message.lines().next().unwrap_or_default(), error.help.spelt(spelling));
                    }
                    settings.insert(setting.to_owned(), value);
                }
            }
        }
        settings
    }
}

/// Settings that are times, or ranges of them, which other judges read.
fn is_time(setting: &str) -> bool {
    matches!(setting, "duration" | "warmup" | "pause" | "timeout" | "connect_timeout" | "stream_for")
}

/// Settings that may change over time.
fn is_in_stages(setting: &str) -> bool {
    matches!(setting, "rate" | "connections")
}

/// Settings that mean nothing alone.
fn is_about_others(flag: &str) -> bool {
    matches!(
        flag,
        "cert"
            | "key"
            | "arrivals"
            | "pause"
            | "streams"
            | "event-data"
            | "tokens"
            | "stream-for"
            | "expect-continue"
            | "processes"
            | "proto"
            | "proto-path"
            | "descriptors"
    )
}
