//! What a plan reads from outside: standard input, the files of bodies and certificates, a saved result, this machine.
//!
//! A run that finds after ten minutes that a file is missing has wasted them. So everything a plan names is looked at
//! before the first request, and every mistake is in one message beside the mistakes of the plan itself. The engine reads
//! the files again when it starts; here it is only made sure that it can.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::Path;

use engine::body::all;
pub use engine::body::{BYTES_MAX as BODY_BYTES_MAX, whole};
use measure::Summary;
pub use plan::plainly;
use plan::template::is_templated;
use plan::{Draft, Plan, PlanError, PlanErrors, PopulationDraft, Setting};
use report::Document;
use serde::Deserialize;

use crate::filling;
use crate::keeping::{At, ReadError};
use crate::scenarios::{OwnLoad, Scenarios};
use crate::screen::{Remarks, complain};

/// Puts what stands on standard input into a draft that names it.
pub fn read(draft: &mut Draft, errors: &mut PlanErrors) {
    read_standard_input(draft, &mut io::stdin(), errors);
}

/// Says what in a draft may be sent as it is and is hardly meant so: a body that is called JSON and is none.
pub fn warn_of(draft: &Draft, voice: Remarks) {
    let Some(text) = draft.json.as_ref().filter(|text| !text.starts_with('@') && (draft.no_templates || !is_templated(text))) else {
        return;
    };
    if let (Remarks::Talking, Err(why)) = (voice, serde_json::from_str::<serde::de::IgnoredAny>(text)) {
        complain(&format!(
            "warning: the text of --json is not JSON: {why}\n  help: put it right, or send it on purpose with --data and -H 'Content-Type: \
             application/json'"
        ));
    }
}

/// Decides a draft on this machine and looks at everything it names. Every mistake goes to `errors`.
pub fn decide(draft: Draft, scenarios: &Scenarios, errors: &mut PlanErrors) -> Option<Plan> {
    decide_with(draft, scenarios, OwnLoad::Whole, errors)
}

/// The same of one load of several, whose users or rate the command says: those of a scenario do not hold.
pub fn decide_level(draft: Draft, scenarios: &Scenarios, errors: &mut PlanErrors) -> Option<Plan> {
    decide_with(draft, scenarios, OwnLoad::AllButHowMuch, errors)
}

/// One load of several, decided by itself.
///
/// # Errors
/// With every mistake.
pub fn decided(draft: Draft, scenarios: &Scenarios) -> Result<Plan, PlanErrors> {
    let mut errors = PlanErrors::default();
    decide_level(draft, scenarios, &mut errors).filter(|_| errors.is_empty()).ok_or(errors)
}

fn decide_with(draft: Draft, scenarios: &Scenarios, own_load: OwnLoad, errors: &mut PlanErrors) -> Option<Plan> {
    let mut draft = scenarios.take(draft, own_load, errors);
    fill_in(&mut draft);
    look(&draft, errors);
    note_script(&mut draft, errors);
    filling::read(&mut draft, errors);
    let plan = Plan::try_from(draft).map_err(|PlanErrors(mistakes)| mistakes.into_iter().for_each(|mistake| errors.push(mistake))).ok()?;
    if !errors.is_empty() && plan.scenario().is_some() {
        // What is wrong with the scenario has been told.
        return None;
    }
    scenarios.complete(plan, errors).and_then(|plan| filling::complete(plan, errors))
}

/// Writes down what the script holds, and complains if it is another than the one a saved plan was made with.
fn note_script(draft: &mut Draft, errors: &mut PlanErrors) {
    // What cannot be read has been told.
    let Some((path, now)) = draft.script.as_ref().and_then(|path| Some((path, script::fingerprint(path).ok()?))) else { return };
    if draft.script_sha256.as_ref().is_some_and(|saved| *saved != now) {
        errors.push(PlanError::new(
            "script",
            format!("the script '{path}' is not what it was when this plan was saved"),
            format!("give it again as it is now with --script {path}"),
        ));
    }
    draft.script_sha256 = Some(now);
}

/// Results of other loads, and lists and settings of other tools: what is larger is none.
pub const TEXT_BYTES_MAX: u64 = 1 << 30;
/// What is larger holds no certificate and no key.
const PEM_BYTES_MAX: u64 = 64 << 20;

/// As many connections as open load takes without being told; 20,000/s on a server that takes half a second.
const OPEN_CONNECTIONS_MAX: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

/// With so many users a thread, one more on some threads is lost in the noise.
const USERS_A_THREAD_MANY: u32 = 10;

/// How many threads a load gets that asks for none: one a core. A number of requests is shared among threads evenly, so threads with
/// unequal numbers of users would end at different times, and the load with them: then as many as share the users evenly.
fn threads(draft: &Draft, cores: NonZeroU32) -> NonZeroU32 {
    let (Some(Setting::Value(users)), Some(_), None) = (&draft.connections, &draft.requests, &draft.rate) else { return cores };
    let users = users.peak();
    let is_even = |threads: &NonZeroU32| users.is_multiple_of(threads.get()) || users / threads.get() >= USERS_A_THREAD_MANY;
    (1..=cores.get()).rev().filter_map(NonZeroU32::new).find(is_even).unwrap_or(cores)
}

/// The defaults that depend on the machine.
fn fill_in(draft: &mut Draft) {
    let threads = threads(draft, engine::machine::cores());
    draft.threads.get_or_insert(Setting::Value(threads));
    let open_max = OPEN_CONNECTIONS_MAX.min(engine::machine::connections_max());
    if !draft.populations.is_empty() {
        share_connections(&mut draft.populations, open_max);
    } else if draft.rate.is_some() {
        draft.connections.get_or_insert_with(|| Setting::Value(open_max.into()));
    }
}

/// Divides the connections that open load takes without being told among the populations that have a rate.
fn share_connections(populations: &mut [PopulationDraft], open_max: NonZeroU32) {
    let is_open = |population: &&mut PopulationDraft| population.rate.is_some() && population.connections.is_none();
    let open = populations.iter_mut().filter(is_open).count();
    let each = open_max.get() / u32::try_from(open).unwrap_or(u32::MAX).max(1);
    for population in populations.iter_mut().filter(is_open) {
        population.connections = Some(Setting::Value(NonZeroU32::new(each).unwrap_or(NonZeroU32::MIN).into()));
    }
}

/// Puts standard input in the place of `@-`, so that the plan holds what was sent and can be run again.
fn read_standard_input(draft: &mut Draft, input: &mut dyn Read, errors: &mut PlanErrors) {
    for field in
        draft.form.iter().filter(|field| field.split_once('=').is_some_and(|(_, value)| matches!(value, "@-") || value.starts_with("@-;")))
    {
        errors.push(PlanError::new(
            "form",
            format!("--form '{field}' is to be read from standard input"),
            "save it to a file and give name=@FILE, or send it as the whole body with --data @-",
        ));
    }
    let uses: Vec<(&'static str, &mut String)> = [("data", draft.data.as_mut()), ("json", draft.json.as_mut())]
        .into_iter()
        .filter_map(|(setting, text)| Some((setting, text?)))
        .collect();
    let mut uses: Vec<_> = uses.into_iter().filter(|(_, text)| *text == "@-").collect();
    let Some((setting, text)) = uses.pop() else { return };
    if !uses.is_empty() {
        // Both being bodies is the plan's complaint; here they only must not wait for the same input twice.
        return;
    }
    let bytes = match all(input, BODY_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(why) => {
            errors.push(PlanError::new(
                setting,
                format!("--{setting} @-: standard input cannot be read: {}", plainly(&why)),
                "give --data @FILE",
            ));
            return;
        }
    };
    match String::from_utf8(bytes) {
        // A plan is text, and its text '@…' names a file: what is neither cannot be kept in a result truthfully.
        Ok(read) if !read.starts_with('@') => *text = read,
        _ => errors.push(PlanError::new(
            setting,
            format!("--{setting} @-: standard input is not text, or begins with '@'"),
            format!("save it to a file and give --{setting} @FILE"),
        )),
    }
}

/// Looks at every file a draft names.
fn look(draft: &Draft, errors: &mut PlanErrors) {
    for (setting, path) in draft.files() {
        let (wanted, what) = match setting {
            "cacert" | "cert" => ("-----BEGIN CERTIFICATE-----", "certificate"),
            "key" => ("PRIVATE KEY-----", "private key"),
            "script" => {
                if let Err(why) = readable(path) {
                    errors.push(PlanError::new(setting, format!("--script '{path}' cannot be read: {why}"), "give a Lua file"));
                } else if whole(path, 0).is_ok() {
                    let help = "give a Lua file that sets wrk.method, or defines request()";
                    errors.push(PlanError::new(setting, format!("--script '{path}' is empty"), help));
                }
                continue;
            }
            // It is read, and told, with what it holds.
            "urls" | "scenario" => continue,
            _ => {
                if let Err(why) = readable(path) {
                    errors.push(PlanError::new(
                        setting,
                        format!("the file '{path}' of the body cannot be read: {why}"),
                        "check the path after '@'",
                    ));
                }
                continue;
            }
        };
        match readable(path).and_then(|()| whole(path, PEM_BYTES_MAX).map_err(|why| plainly(&why))) {
            Err(why) => errors.push(PlanError::new(
                setting,
                format!("--{setting} '{path}' cannot be read: {why}"),
                format!("give a PEM file with a {what}"),
            )),
            Ok(bytes) if !String::from_utf8_lossy(&bytes).contains(wanted) => errors.push(PlanError::new(
                setting,
                format!("--{setting} '{path}' holds no {what}"),
                format!("give a PEM file, which has a line with '{wanted}'"),
            )),
            Ok(_) => {}
        }
    }
}

/// The text that a file holds, as [`whole`] reads it.
///
/// # Errors
/// If it cannot be read, is larger, or is no text.
pub fn text(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(whole(path, bytes_max)?).map_err(|_| io::Error::other("it is not text in UTF-8"))
}

/// Whether a file can be read.
pub fn readable(path: &str) -> Result<(), String> {
    let file = File::open(path).map_err(|why| plainly(&why))?;
    match file.metadata() {
        Ok(about) if about.is_dir() => Err("it is a directory".to_owned()),
        Ok(_) => Ok(()),
        Err(why) => Err(plainly(&why)),
    }
}

/// What of a saved result is done again.
#[derive(Debug)]
pub struct Again {
    /// The load.
    pub draft: Draft,
    /// What it was held against, as typed.
    pub checks: Vec<String>,
    /// Why its figures are not the server's, where they are not.
    pub invalid: Option<String>,
}

/// The load of a saved result, and its checks; or that of a plan written by hand: an object with a `url` and other settings,
/// named as in a result's `plan`.
///
/// # Errors
/// If it cannot be read, is of another version, damaged, or neither.
pub fn saved(from: &str, at: &At) -> Result<Again, PlanError> {
    /// Only what is needed of a result: its counts and histograms may be megabytes.
    #[derive(Deserialize)]
    struct Needed {
        schema: Option<String>,
        plan: Option<serde_json::Value>,
        #[serde(default)]
        checks: Vec<Judged>,
        validity: Option<Validity>,
        url: Option<serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    struct Validity {
        standing: String,
    }
    #[derive(Deserialize)]
    struct Judged {
        check: String,
    }
    let shown = from;
    let again = "give a file written with --out json=FILE, a saved run such as @last, or a plan such as {\"url\": \"http://127.0.0.1/\"}";
    let (text, _) = at.read(from).map_err(|why| match why {
        ReadError::File(why) => PlanError::new("from", format!("--from '{shown}' cannot be read: {}", plainly(&why)), again),
        ReadError::Reference(failed) => failed.in_plan("from"),
    })?;
    let read: Needed = serde_json::from_slice(&text)
        .map_err(|why| PlanError::new("from", format!("--from '{shown}' is damaged, or not a result: {why}"), again))?;
    if read.schema.is_none() && read.plan.is_none() && read.url.is_some() {
        let draft = serde_json::from_slice(&text).map_err(|why| {
            PlanError::new(
                "from",
                format!("--from '{shown}' is a plan that cannot be used: {why}"),
                "name settings as the plan in a result does, such as {\"url\": \"http://127.0.0.1/\", \"connections\": 10}",
            )
        })?;
        return Ok(Again { draft, checks: Vec::new(), invalid: None });
    }
    Summary::check_schema(read.schema.as_deref())
        .map_err(|why| PlanError::new("from", format!("--from '{shown}' cannot be used: {why}"), again))?;
    let plan = read.plan.ok_or_else(|| PlanError::new("from", format!("--from '{shown}' is damaged: it holds no plan"), again))?;
    let draft = serde_json::from_value(plan)
        .map_err(|why| PlanError::new("from", format!("--from '{shown}' is damaged: its plan holds {why}"), again))?;
    let invalid = read.validity.filter(|validity| validity.standing == "invalid");
    let invalid = invalid.map(|_| "the load generator was at its limit when it was measured".to_owned());
    Ok(Again { draft, checks: read.checks.into_iter().map(|judged| judged.check).collect(), invalid })
}

/// The result that a user names: the path of its file, or a saved run such as `@last`.
///
/// # Errors
/// If it cannot be read, is of another version, or damaged.
pub fn result(name: &str, at: &At) -> Result<Document, PlanError> {
    let help =
        "give a result: a file written with --out json=FILE, the .json that sweep, find and compare write, or a saved run such as @last";
    let wrong = |why: String| PlanError::new("report", why, help);
    let (bytes, _) = at.read(name).map_err(|why| match why {
        ReadError::File(why) => wrong(format!("'{name}' cannot be read: {}", plainly(&why))),
        ReadError::Reference(failed) => failed.in_plan("report"),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| wrong(format!("'{name}' is no result: it is not text")))?;
    Document::read(&text).map_err(|why| wrong(format!("'{name}' cannot be used: {why}")))
}

/// Complains of secrets that a saved plan left out and no flag gave again.
pub fn look_for_redacted(plan: &Plan, errors: &mut PlanErrors) {
    for name in plan.redacted() {
        let flag = match name.to_ascii_lowercase().as_str() {
            "authorization" => "--user NAME:PASSWORD, --bearer TOKEN or --header 'Authorization: …'".to_owned(),
            "cookie" => "--cookie NAME=VALUE".to_owned(),
            "proxy-authorization" => "--proxy http://NAME:PASSWORD@HOST:PORT".to_owned(),
            _ => format!("--header '{name}: …'"),
        };
        errors.push(PlanError::new(
            "from",
            format!("the header {name} was left out when this plan was saved, because it is a secret"),
            format!("give it again with {flag}"),
        ));
    }
    for (part, again) in plan.redacted_parts() {
        errors.push(PlanError::new(
            "from",
            format!("{part} was left out when this plan was saved, because it is a secret"),
            format!("give {again} again"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(draft: &mut Draft, mut input: &[u8]) -> PlanErrors {
        let mut errors = PlanErrors::default();
        read_standard_input(draft, &mut input, &mut errors);
        errors
    }

    #[test]
    fn a_number_of_requests_is_shared_by_threads_with_as_many_users_each() {
        let threads_for = |users: u32, requests: Option<&str>| {
            let draft = Draft {
                connections: users.to_string().parse().ok(),
                requests: requests.map(|number| number.parse().unwrap()),
                ..Draft::default()
            };
            threads(&draft, NonZeroU32::new(4).unwrap()).get()
        };
        assert_eq!(threads_for(6, Some("600")), 3);
        assert_eq!(threads_for(7, Some("600")), 1);
        assert_eq!(threads_for(8, Some("600")), 4);
        assert_eq!(threads_for(50, Some("600")), 4, "12 or 13 users are as good as equal");
        assert_eq!(threads_for(6, None), 4, "whoever loads for a time loads with all cores");
    }

    #[test]
    fn populations_with_rates_share_what_one_load_would_take() {
        let of = |rate: Option<&str>, connections: Option<&str>| PopulationDraft {
            rate: rate.map(|rate| rate.parse().unwrap()),
            connections: connections.map(|number| number.parse().unwrap()),
            ..PopulationDraft::default()
        };
        let open = || of(Some("5/s"), None);
        let mut populations = vec![open(), of(None, Some("7")), open(), of(Some("5/s"), Some("20")), open()];
        share_connections(&mut populations, NonZeroU32::new(10_000).unwrap());
        let most = |populations: &[PopulationDraft]| -> Vec<String> {
            let number = |population: &PopulationDraft| match &population.connections {
                Some(Setting::Value(users)) => users.peak().to_string(),
                _ => String::new(),
            };
            populations.iter().map(number).collect()
        };
        assert_eq!(most(&populations), ["3333", "7", "3333", "20", "3333"]);
        let mut many = vec![open(), open(), open()];
        share_connections(&mut many, NonZeroU32::new(2).unwrap());
        assert_eq!(most(&many), ["1", "1", "1"]);
    }

    #[test]
    fn standard_input_takes_the_place_of_its_name() {
        let mut draft = Draft { data: Some("@-".to_owned()), ..Draft::default() };
        assert!(read(&mut draft, b"a=1").is_empty());
        assert_eq!(draft.data.as_deref(), Some("a=1"));
    }

    #[test]
    fn standard_input_that_a_plan_cannot_hold_is_refused() {
        for input in [&b"@file"[..], b"\xff\xfe"] {
            let mut draft = Draft { json: Some("@-".to_owned()), ..Draft::default() };
            assert!(read(&mut draft, input).to_string().contains("--json @FILE"));
        }
        let mut draft = Draft { form: vec!["a=@-;type=text/plain".to_owned()], ..Draft::default() };
        assert!(read(&mut draft, b"").to_string().contains("--data @-"));
    }
}
