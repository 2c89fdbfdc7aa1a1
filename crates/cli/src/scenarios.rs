//! What journeys need: the scenario that a plan names, read before the first request.
//!
//! A scenario file says where, how much and what; flags say it once more for one run. So the file's own settings are put under
//! those that were typed, in one place that all commands pass: what `run` can do with a scenario, `compare` can too.

use std::fs;

use engine::RunError;
use import::collection::FILE_BYTES_MAX;
use plan::{Draft, Plan, PlanError, PlanErrors};
use scenario::{Mistake, Ready, Scenario};

use crate::inputs::plainly;
use crate::{filling, imported, secrets};

/// A scenario is kept in memory.
const BYTES_MAX: u64 = 16 << 20;

/// Whether what stands in the place of a URL names a scenario.
pub fn is_file(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    !lower.contains("://") && (lower.ends_with(".yaml") || lower.ends_with(".yml"))
}

/// Takes the scenario away from a command that makes loads of its own, and complains of it.
///
/// A sweep's and a search's levels are users or requests a second, and what a scenario's rate starts is journeys: their tables and
/// verdicts would speak of something else than was sent.
pub fn refuse(draft: &mut Draft, command: &str, errors: &mut PlanErrors) {
    let file = draft.url.take_if(|url| is_file(url)).or_else(|| draft.scenario.take());
    let Some(file) = file else { return };
    errors.push(PlanError::new(
        "scenario",
        format!("loadline {command} cannot take the scenario {file}: its loads are counted in requests, and a scenario's in journeys"),
        format!("measure each load, as in loadline run {file} -c 50"),
    ));
    draft.url.get_or_insert_with(|| "http://127.0.0.1/".to_owned());
}

/// Reads the scenario that a draft names, puts its settings under those of the draft, and writes down what it held.
pub fn take(mut draft: Draft, errors: &mut PlanErrors) -> Draft {
    if let Some(url) = draft.url.take_if(|url| is_file(url)) {
        match &draft.scenario {
            Some(other) if *other != url => errors.push(PlanError::new(
                "scenario",
                format!("{url} and --scenario {other} both say what users do"),
                "leave one of them out",
            )),
            _ => draft.scenario = Some(url),
        }
    }
    let Some(path) = draft.scenario.clone() else { return draft };
    let scenario = match read(&path) {
        Ok(scenario) => scenario,
        Err(mistakes) => {
            mistakes.0.into_iter().for_each(|mistake| errors.push(mistake));
            // The rest of the command line is judged as if the file had said where.
            draft.url.get_or_insert_with(|| "http://127.0.0.1/".to_owned());
            return draft;
        }
    };
    if draft.url.is_none() && scenario.draft.url.is_none() {
        errors.push(PlanError::new(
            "scenario",
            format!("the scenario {path} names no target"),
            format!("write target: http://127.0.0.1:8080 in it, or give a URL, as in loadline run http://127.0.0.1:8080 --scenario {path}"),
        ));
        draft.url = Some("http://127.0.0.1/".to_owned());
    }
    if let Ok(now) = script::fingerprint(&path) {
        if draft.scenario_sha256.as_ref().is_some_and(|saved| *saved != now) {
            errors.push(PlanError::new(
                "scenario",
                format!("the scenario '{path}' is not what it was when this plan was saved"),
                format!("give it again as it is now with --scenario {path}"),
            ));
        }
        draft.scenario_sha256 = Some(now);
    }
    scenario.draft.overlaid(draft)
}

/// Looks variables of the environment up, and for every column and file that a plan's scenario names.
pub fn complete(plan: Plan, errors: &mut PlanErrors) -> Option<Plan> {
    let Some(file) = plan.scenario() else { return Some(plan) };
    // What is wrong with it has been told.
    let Ok(scenario) = read(&file.path) else { return None };
    let mut take = |mistakes: PlanErrors| mistakes.0.into_iter().for_each(|mistake| errors.push(mistake));
    let mut environment = Vec::new();
    let mut missing = PlanErrors::default();
    for name in scenario.environment() {
        match std::env::var(&name) {
            Ok(value) => environment.push((name, value)),
            Err(_) => missing.push(PlanError::new(
                "scenario",
                format!("the scenario names the variable {name}, which is not in the environment"),
                format!("set it, as in {name}=… loadline …"),
            )),
        }
    }
    if !missing.is_empty() {
        take(missing);
        return None;
    }
    secrets::learn_values(environment.iter().map(|(_, value)| value.as_str()));
    let plan = match plan.with_environment(&|name| std::env::var(name).ok()) {
        Ok(plan) => plan.with_environment_of(environment).concealing(scenario.secrets()),
        Err(mistakes) => {
            take(mistakes);
            return None;
        }
    };
    match compiled(&plan, &scenario) {
        Ok(_) => Some(plan),
        Err(mistakes) => {
            take(mistakes);
            None
        }
    }
}

/// The journeys of a plan, ready to be gone through; `None` for a plan without a scenario.
///
/// # Errors
/// If a file has gone, or become another, since the plan was decided.
pub fn ready(plan: &Plan) -> Result<Option<Ready>, RunError> {
    let Some(file) = plan.scenario() else { return Ok(None) };
    let made = read(&file.path).and_then(|scenario| compiled(plan, &scenario));
    made.map(Some).map_err(|PlanErrors(mistakes)| {
        let errors = mistakes.into_iter().map(|mistake| RunError::input(mistake.message, mistake.help)).collect();
        RunError::together(errors).expect("there is a mistake")
    })
}

fn compiled(plan: &Plan, scenario: &Scenario) -> Result<Ready, PlanErrors> {
    Ready::new(plan, scenario, &filling::open_all(plan)?)
}

/// The scenario in a file.
///
/// # Errors
/// If it cannot be read; and all its mistakes.
pub fn read(path: &str) -> Result<Scenario, PlanErrors> {
    let wrong = |why: String| {
        let help = "give a scenario, such as the one that loadline init writes";
        PlanErrors(vec![PlanError::new("scenario", format!("the scenario '{path}' cannot be read: {why}"), help)])
    };
    let about = fs::metadata(path).map_err(|why| wrong(plainly(&why)))?;
    if about.is_dir() {
        return Err(wrong("it is a directory".to_owned()));
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(wrong("it is larger than 256 MiB".to_owned()));
    }
    let bytes = fs::read(path).map_err(|why| wrong(plainly(&why)))?;
    let text = match imported::as_scenario(path, &bytes) {
        Some(text) => text?,
        None if about.len() > BYTES_MAX => return Err(wrong("it is larger than 16 MiB".to_owned())),
        None => String::from_utf8(bytes).map_err(|_| wrong("it is not text in UTF-8".to_owned()))?,
    };
    let scenario = scenario::read(path, &text).map_err(|mistakes| PlanErrors(mistakes.iter().map(told).collect()))?;
    let hidden: Vec<String> = scenario.secrets().collect();
    secrets::learn_values(hidden.iter().map(String::as_str));
    Ok(scenario)
}

fn told(mistake: &Mistake) -> PlanError {
    PlanError::new("scenario", mistake.said(), mistake.help.clone())
}
