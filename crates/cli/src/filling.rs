//! What fills requests in: the data files, lists of URLs and variables that a plan names, read before the first request.
//!
//! A sweep decides a plan for each of its levels, and a comparison two for each pair: going through a file of gigabytes each time
//! would take longer than the load. So a data file is opened once a process, and looked at again only if it has changed.

use std::fs::{self, Metadata};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use engine::RunError;
use plan::{DataFile, Draft, Plan, PlanError, PlanErrors};
use template::{Data, DataError, Ready};

use crate::inputs::{plainly, whole};
use crate::secrets;

/// A file as it was when it was opened: its path, length and time.
type Known = (String, u64, Option<SystemTime>);

static OPEN: Mutex<Vec<(Known, Arc<Data>)>> = Mutex::new(Vec::new());

/// A list of URLs is kept in memory.
const URLS_BYTES_MAX: u64 = 256 << 20;

/// Reads the list of URLs that a draft names, and writes down what it and the data files hold; complains if that is not what it was
/// when the plan was saved.
pub fn read(draft: &mut Draft, errors: &mut PlanErrors) {
    if let Some(path) = draft.urls.clone() {
        match lines(&path) {
            Ok(lines) => draft.urls_lines = Some(lines),
            Err(why) => {
                let help = "give a text file with a line for each: [WEIGHT] [METHOD] URL";
                errors.push(PlanError::new("urls", format!("--urls '{path}' cannot be used: {why}"), help));
            }
        }
        if let Ok(now) = script::fingerprint(&path) {
            note("urls", &path, &path, draft.urls_sha256.as_ref(), &now, errors);
            draft.urls_sha256 = Some(now);
        }
    }
    draft.data_text = body(draft);
    let mut now = Vec::new();
    for (place, text) in draft.data_file.iter().enumerate() {
        // What cannot be opened is told when the plan is complete.
        let (_, path) = DataFile::parts(text);
        let Ok(data) = opened(path) else { continue };
        note("data-file", text, path, draft.data_file_sha256.get(place), data.fingerprint(), errors);
        now.push(data.fingerprint().to_owned());
    }
    draft.data_file_sha256 = if now.len() == draft.data_file.len() { now } else { Vec::new() };
}

/// What the file of the body holds, if it may be a template; empty if it is none, and sent as it is. What cannot be read has been told.
fn body(draft: &Draft) -> Option<String> {
    let path = draft.data.as_ref().or(draft.json.as_ref())?.strip_prefix('@')?;
    // What is no regular file, such as a pipe, can be read only once.
    let is_file = !draft.no_templates && fs::metadata(path).is_ok_and(|about| about.is_file());
    let text = if is_file { fs::read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) } else { None };
    Some(text.filter(|text| plan::template::is_templated(text)).unwrap_or_default())
}

fn note(setting: &'static str, typed: &str, path: &str, saved: Option<&String>, now: &str, errors: &mut PlanErrors) {
    if saved.is_some_and(|saved| saved != now) {
        errors.push(PlanError::new(
            setting,
            format!("the file '{path}' is not what it was when this plan was saved"),
            format!("give it again as it is now with --{setting} {typed}"),
        ));
    }
}

/// Looks variables up, and looks for every column and file that templates name. A plan without templates stays as it is.
pub fn complete(plan: Plan, errors: &mut PlanErrors) -> Option<Plan> {
    // A list that could not be read has been told.
    if !plan.is_filled_in() || plan.filling().mix.as_ref().is_some_and(|mix| mix.routes.is_empty()) {
        return Some(plan);
    }
    let mut take = |PlanErrors(mistakes): PlanErrors| mistakes.into_iter().for_each(|mistake| errors.push(mistake));
    let named = plan.clone().with_environment(&|name| std::env::var(name).ok());
    let complete = named.as_ref().is_ok();
    let plan = named.unwrap_or_else(|mistakes| {
        take(mistakes);
        plan
    });
    secrets::learn_values(plan.filling().environment.iter().map(|(_, value)| value.as_str()));
    match compiled(&plan) {
        Ok(_) => complete.then_some(plan),
        Err(mistakes) => {
            // A variable that is not there was told before.
            take(PlanErrors(
                mistakes.0.into_iter().filter(|mistake| complete || !mistake.message.contains("not in the environment")).collect(),
            ));
            None
        }
    }
}

/// The requests of a plan that differ, ready to be sent; `None` for a plan whose requests do not.
///
/// # Errors
/// If a file has gone, or become another, since the plan was decided.
pub fn ready(plan: &Plan) -> Result<Option<Ready>, RunError> {
    if plan.is_filled_in() { always_ready(plan).map(Some) } else { Ok(None) }
}

/// The requests of any plan without a scenario or a script, whether or not they differ.
///
/// # Errors
/// If a file has gone, or become another, since the plan was decided.
pub fn always_ready(plan: &Plan) -> Result<Ready, RunError> {
    compiled(plan).map_err(|PlanErrors(mistakes)| {
        let errors = mistakes.into_iter().map(|mistake| RunError::input(mistake.message, mistake.help)).collect();
        RunError::together(errors).expect("there is a mistake")
    })
}

fn compiled(plan: &Plan) -> Result<Ready, PlanErrors> {
    Ready::new(plan, &open_all(plan)?)
}

/// The data files of a plan, in its order.
///
/// # Errors
/// For each that cannot be opened.
pub fn open_all(plan: &Plan) -> Result<Vec<Arc<Data>>, PlanErrors> {
    let mut errors = PlanErrors::default();
    let mut files = Vec::new();
    for file in &plan.filling().files {
        match opened(&file.path) {
            Ok(data) => files.push(data),
            Err(mistakes) => {
                mistakes.into_iter().for_each(|DataError { message, help }| errors.push(PlanError::new("data-file", message, help)));
            }
        }
    }
    if errors.is_empty() { Ok(files) } else { Err(errors) }
}

/// The columns of a data file.
///
/// # Errors
/// What is wrong with it, and what to do.
pub fn columns(path: &str) -> Result<Vec<String>, Vec<(String, String)>> {
    let told = |DataError { message, help }| (message, help);
    opened(path).map(|data| data.columns().to_vec()).map_err(|mistakes| mistakes.into_iter().map(told).collect())
}

/// A data file, opened now or before.
fn opened(path: &str) -> Result<Arc<Data>, Vec<DataError>> {
    let known = |about: Metadata| (path.to_owned(), about.len(), about.modified().ok());
    let now = fs::metadata(path).ok().filter(Metadata::is_file).map(known);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    // What is no regular file, such as a pipe, can be read only once.
    let found = open.iter().find(|(known, _)| now.as_ref().map_or(known.0 == path, |now| known == now));
    if let Some((_, data)) = found {
        return Ok(data.clone());
    }
    let data = Arc::new(Data::open(path)?);
    open.retain(|(known, _)| known.0 != path);
    open.push((now.unwrap_or_else(|| (path.to_owned(), 0, None)), data.clone()));
    Ok(data)
}

fn lines(path: &str) -> Result<Vec<String>, String> {
    let about = fs::metadata(path).map_err(|why| plainly(&why))?;
    if about.is_dir() {
        return Err("it is a directory".to_owned());
    }
    let text =
        String::from_utf8(whole(path, URLS_BYTES_MAX).map_err(|why| plainly(&why))?).map_err(|_| "it is not text in UTF-8".to_owned())?;
    Ok(text.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect())
}
