//! What a command reads: the files that its load names, by way of [`resolve`], and saved results.

use std::io;
use std::path::Path;
use std::rc::Rc;

use import::collection::Wishes;
use measure::Summary;
pub use plan::plainly;
use plan::template::is_templated;
use plan::{Draft, LoadRecord, Plan, PlanError, PlanErrors};
use report::Document;
pub use resolve::whole;
use resolve::{KnownSecrets, LocalInputs, OwnLoad, Reader, Scenarios};
use serde::Deserialize;

use crate::jmeter;
use crate::keeping::{At, ReadError};
use crate::screen::{Remarks, complain_without};

/// What reads the files of this machine, each once for all loads of a command.
pub fn reader(known: &KnownSecrets) -> Rc<Reader> {
    Reader::of_this_machine(known.clone())
}

/// The same for loads of which nothing was said about files of other tools.
pub fn scenarios(known: &KnownSecrets) -> Scenarios {
    Scenarios::new(&reader(known), Wishes::default())
}

/// Puts what stands on standard input into a draft that names it.
pub fn read(draft: &mut Draft, errors: &mut PlanErrors) {
    resolve::read_standard_input(draft, &LocalInputs, errors);
}

/// Says what in a draft may be sent as it is and is hardly meant so: a body that is called JSON and is none.
pub fn warn_of(draft: &Draft, (known, voice): (&KnownSecrets, Remarks)) {
    let Some(text) = draft.json.as_ref().filter(|text| !text.starts_with('@') && (draft.no_templates || !is_templated(text))) else {
        return;
    };
    if let (Remarks::Talking, Err(why)) = (voice, serde_json::from_str::<serde::de::IgnoredAny>(text)) {
        let message = format!(
            "warning: the text of --json is not JSON: {why}\n  help: put it right, or send it on purpose with --data and -H 'Content-Type: \
             application/json'"
        );
        complain_without(known, &message);
    }
}

/// Says that a saved load came from other machines, where it is sent from this one now.
pub fn warn_of_machines(saved: &str, machines: &[String], (known, voice): (&KnownSecrets, Remarks)) {
    if let (Remarks::Talking, [_, ..]) = (voice, machines) {
        let machines = report::visible(&machines.join(", "));
        let message = format!(
            "warning: the load of '{saved}' came from {machines}, and now it comes from this machine\n  help: name them with --agents"
        );
        complain_without(known, &message);
    }
}

/// Decides a load on this machine and reads everything it names. Every mistake goes to `errors`.
pub fn decide(load: LoadRecord, scenarios: &Scenarios, errors: &mut PlanErrors) -> Option<Plan> {
    scenarios.decide(load, OwnLoad::Whole, errors)
}

/// The same of one load of several, whose users or rate the command says: those of a scenario do not hold.
pub fn decide_level(load: LoadRecord, scenarios: &Scenarios, errors: &mut PlanErrors) -> Option<Plan> {
    scenarios.decide(load, OwnLoad::AllButHowMuch, errors)
}

/// One load of several, decided by itself.
///
/// # Errors
/// With every mistake.
pub fn decided(load: LoadRecord, scenarios: &Scenarios) -> Result<Plan, PlanErrors> {
    let mut errors = PlanErrors::default();
    decide_level(load, scenarios, &mut errors).filter(|_| errors.is_empty()).ok_or(errors)
}

/// Results of other loads, and lists and settings of other tools: what is larger is none.
pub const TEXT_BYTES_MAX: u64 = 1 << 30;
/// The text that a file holds, as [`whole`] reads it.
///
/// # Errors
/// If it cannot be read, is larger, or is no text.
pub fn text(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(whole(path, bytes_max)?).map_err(|_| io::Error::other("it is not text in UTF-8"))
}

/// What of a saved result is done again.
#[derive(Debug)]
pub struct Again {
    /// The load.
    pub load: LoadRecord,
    /// What it was held against, as typed.
    pub checks: Vec<String>,
    /// Why its figures are not the server's, where they are not.
    pub invalid: Option<String>,
    /// The other machines that it came from, by name.
    pub machines: Vec<String>,
}

/// The load of a saved result, and its checks; or that of a plan written by hand: an object with a `url` and other settings,
/// named as in a result's `plan`.
///
/// # Errors
/// If it cannot be read, is of another version, damaged, or neither.
pub fn saved(setting: &'static str, from: &str, at: &At) -> Result<Again, PlanError> {
    /// Only what is needed of a result: its counts and histograms may be megabytes.
    #[derive(Deserialize)]
    struct Needed {
        schema: Option<String>,
        plan: Option<serde_json::Value>,
        #[serde(default)]
        checks: Vec<Judged>,
        validity: Option<Validity>,
        measured_by: Option<String>,
        #[serde(default)]
        sites: Vec<SiteNamed>,
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
    #[derive(Deserialize)]
    struct SiteNamed {
        name: String,
        /// Of a process here there is none.
        clock_error_ns: Option<serde::de::IgnoredAny>,
    }
    let shown = if setting == "from" { format!("--from '{from}'") } else { format!("'{from}'") };
    let again = "give a file written with --out json=FILE, a saved run such as @last, or a plan such as {\"url\": \"http://127.0.0.1/\"}";
    let (text, _) = at.read(from).map_err(|why| match why {
        ReadError::File(why) => PlanError::new(setting, format!("{shown} cannot be read: {}", plainly(&why)), again),
        ReadError::Reference(failed) => failed.in_plan(setting),
    })?;
    let read: Needed = serde_json::from_slice(&text)
        .map_err(|why| PlanError::new(setting, format!("{shown} is damaged, or not a result: {why}"), again))?;
    if read.schema.is_none() && read.plan.is_none() && read.url.is_some() {
        let load = serde_json::from_slice(&text).map_err(|why| {
            PlanError::new(
                setting,
                format!("{shown} is a plan that cannot be used: {why}"),
                "name settings as the plan in a result does, such as {\"url\": \"http://127.0.0.1/\", \"connections\": 10}",
            )
        })?;
        return Ok(Again { load, checks: Vec::new(), invalid: None, machines: Vec::new() });
    }
    Summary::check_schema(read.schema.as_deref())
        .map_err(|why| PlanError::new(setting, format!("{shown} cannot be used: {why}"), again))?;
    if let Some(tool) = read.measured_by {
        let why =
            format!("{shown} was measured by {}: the load that made it is not in it, so it cannot be repeated", report::visible(&tool));
        return Err(PlanError::new(
            setting,
            why,
            "give a result that loadline measured, or the load itself, such as a test plan (plan.jmx)",
        ));
    }
    let plan = read.plan.ok_or_else(|| PlanError::new(setting, format!("{shown} is damaged: it holds no plan"), again))?;
    let load =
        serde_json::from_value(plan).map_err(|why| PlanError::new(setting, format!("{shown} is damaged: its plan holds {why}"), again))?;
    let invalid = read.validity.filter(|validity| validity.standing == "invalid");
    let invalid = invalid.map(|_| "the load generator was at its limit when it was measured".to_owned());
    let machines = read.sites.into_iter().filter(|site| site.clock_error_ns.is_some()).map(|site| site.name).collect();
    Ok(Again { load, checks: read.checks.into_iter().map(|judged| judged.check).collect(), invalid, machines })
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

/// The result that a user names, or the run that several result files of JMeter's tell of together.
///
/// # Errors
/// Each that cannot be read, or is none of several such files.
pub fn results(names: &[String], at: &At) -> Result<Document, PlanErrors> {
    if let [name] = names {
        return result(name, at).map_err(|error| PlanErrors(vec![error]));
    }
    let help = "several are put together only where each is a result file of JMeter's (JTL): give one result, or such files of one run";
    let mut errors = PlanErrors::default();
    let mut files = Vec::new();
    for name in names {
        match jmeter::form(Path::new(name)) {
            Some(form) => files.push((Path::new(name), form)),
            None => errors.push(PlanError::new("report", format!("'{name}' is no result file of JMeter's"), help)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    jmeter::run(&files).map_err(|wrong| {
        let told = |(path, why): (&Path, String)| PlanError::new("report", format!("'{}' cannot be read: {why}", path.display()), help);
        PlanErrors(wrong.into_iter().map(told).collect())
    })
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
            format!("give {} again", again.marked()),
        ));
    }
}
