//! The settings of a load that a browser may give: a list of what is allowed, so that a setting that is new is refused until somebody
//! has thought of it.
//!
//! A list of what is refused, the alternative, lets through whatever its writer did not know. What is left are values: a body or a
//! template that names a file of the machine that serves.
//!
//! Invariant: the load holds nothing but settings of the list.

use plan::setting::{
    CACERT, CERT, DATA_FILE, DESCRIPTORS, ENVIRONMENT, KEY, PROTO, PROTO_PATH, PROXY, SCENARIO, SCRIPT, SettingName, UNIX_SOCKET, URLS,
};
use plan::{Draft, LoadRecord, PlanError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// What a browser may set, by the names of a plan.
const PERMITTED: &[&str] = &[
    "url",
    "connections",
    "duration",
    "requests",
    "rate",
    "arrivals",
    "seed",
    "pause",
    "warmup",
    "threads",
    "processes",
    "method",
    "header",
    "data",
    "json",
    "form",
    "message",
    "message_deflate",
    "user",
    "bearer",
    "cookie",
    "expect",
    "no_templates",
    "scenario_text",
    "scenario_name",
    "connections_each",
    "populations",
    "also_target",
    "compressed",
    "expect_continue",
    "follow",
    "stream",
    "event_data",
    "tokens",
    "stream_for",
    "timeout",
    "connect_timeout",
    "no_keepalive",
    "http",
    "streams",
    "http2_stream_window",
    "http2_connection_window",
    "connect_to",
    "source_ip",
    "no_preflight",
    "insecure",
    "sni",
    "tls_version",
    "tls_resumption",
];

/// Settings that name files of the machine that serves, or belong to one; each with the flag that it is refused as.
const FILES: &[(&str, SettingName)] = &[
    ("script", SCRIPT),
    ("script_sha256", SCRIPT),
    ("script_arguments", SCRIPT),
    ("cacert", CACERT),
    ("cert", CERT),
    ("key", KEY),
    ("unix_socket", UNIX_SOCKET),
    ("urls", URLS),
    ("scenario", SCENARIO),
    ("scenario_sha256", SCENARIO),
    ("environment", ENVIRONMENT),
    ("environment_sha256", ENVIRONMENT),
    ("variable_names", ENVIRONMENT),
    ("data_file", DATA_FILE),
    ("proto", PROTO),
    ("proto_path", PROTO_PATH),
    ("descriptors", DESCRIPTORS),
];

/// Settings that mean nothing without one of those, and are left out in silence.
const BESIDE_FILES: &[&str] = &["sandbox", "urls_at_url", "urls_sha256", "data_file_sha256", "data_order", "data_end"];

/// The settings of a load as a browser gives them.
#[derive(Debug, Clone, Default)]
pub struct PermittedSettings {
    load: LoadRecord,
    /// Settings that are not taken from a browser.
    refused: Vec<PlanError>,
}

impl PermittedSettings {
    /// The settings that are taken.
    #[must_use]
    pub const fn draft(&self) -> &Draft {
        &self.load.draft
    }

    /// The same with what came beside them: a scenario as text, and its populations.
    #[must_use]
    pub const fn load(&self) -> &LoadRecord {
        &self.load
    }

    /// One mistake for each setting that is not.
    #[must_use]
    pub fn refused(&self) -> &[PlanError] {
        &self.refused
    }

    /// From an object whose keys are settings.
    ///
    /// # Errors
    /// In words, if one of them is no setting, or has no value of one.
    fn read(settings: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let mut refused: Vec<PlanError> = Vec::new();
        let mut taken = Map::new();
        for (setting, value) in settings {
            if PERMITTED.contains(&setting.as_str()) {
                taken.insert(setting, value);
                continue;
            }
            // What is no setting at all, or has a value of another kind, is said as of any other.
            let alone: LoadRecord = serde_json::from_value(Value::Object(Map::from_iter([(setting.clone(), value)])))?;
            let says_nothing = alone == LoadRecord::default() || BESIDE_FILES.contains(&setting.as_str());
            let mistake = refusal(&setting);
            if !says_nothing && !refused.contains(&mistake) {
                refused.push(mistake);
            }
        }
        Ok(Self { load: serde_json::from_value(Value::Object(taken))?, refused })
    }
}

/// Why a setting is not taken.
fn refusal(setting: &str) -> PlanError {
    const ON_THE_COMMAND_LINE: &str = "leave it out, or start the test on the command line";
    let help = if setting.starts_with("scenario") {
        "give what stands in it as scenario_text, or start the test on the command line"
    } else {
        ON_THE_COMMAND_LINE
    };
    match FILES.iter().find(|(known, _)| *known == setting) {
        Some((_, setting)) => {
            PlanError::new(*setting, format!("{setting} names a file of the machine that serves, and is not taken from a browser"), help)
        }
        None if setting == "proxy" => {
            PlanError::new(PROXY, format!("{PROXY} leads where this server cannot see, and is not taken from a browser"), help)
        }
        None => PlanError::new("plan", format!("'{setting}' is not taken from a browser"), help),
    }
}

/// A plan is an object: a list of its values, in whatever order they stand there, is none.
impl<'de> Deserialize<'de> for PermittedSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(settings) => Self::read(settings).map_err(D::Error::custom),
            _ => Err(D::Error::custom("the plan is no object")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &str) -> Result<PermittedSettings, String> {
        serde_json::from_str(settings).map_err(|why| why.to_string())
    }

    #[test]
    fn what_names_a_file_or_leads_around_is_refused_by_name_and_not_in_the_draft() {
        let settings = r#"{"url": "http://127.0.0.1/", "script": "/etc/passwd", "script_sha256": "0", "sandbox": true, "cacert": "a", "cert": "b",
            "key": "c", "unix_socket": "/run/docker.sock", "proxy": "http://10.0.0.1:3128", "urls": "/etc/passwd", "data_file": ["/etc/passwd"]}"#;
        let read = read(settings).unwrap();
        let mut refused: Vec<&str> = read.refused().iter().map(|mistake| mistake.setting).collect();
        refused.sort_unstable();
        assert_eq!(refused, ["cacert", "cert", "data-file", "key", "proxy", "script", "unix-socket", "urls"]);
        assert_eq!(*read.draft(), Draft { url: Some("http://127.0.0.1/".to_owned()), ..Draft::default() });
    }

    #[test]
    fn of_every_setting_it_was_decided_whether_it_is_permitted() {
        // Serde names all of them where it meets one that it does not know.
        let why = serde_json::from_str::<Draft>(r#"{"no such setting": 1}"#).unwrap_err().to_string();
        let settings = why.split_once("expected one of").unwrap().1.split('`').skip(1).step_by(2);
        let known: Vec<&str> = settings.chain(plan::Sources::KEYS).collect();
        assert!(known.len() > 50, "{why}");
        let files = FILES.iter().map(|(setting, _)| *setting);
        let mut listed: Vec<&str> = PERMITTED.iter().chain(BESIDE_FILES).copied().chain(files).chain(["proxy", "replay"]).collect();
        let mut known_sorted = known.clone();
        known_sorted.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known_sorted);
    }

    #[test]
    fn what_is_no_setting_or_has_no_value_of_one_is_said() {
        assert!(read(r#"{"connection": 5}"#).unwrap_err().contains("unknown field `connection`"));
        assert!(read(r#"{"script": 5}"#).unwrap_err().contains("string"));
        assert!(read("[1]").unwrap_err().contains("the plan is no object"));
    }
}
