//! Requests that another tool keeps, in the place of a URL: `loadline run request.sh`, `loadline run session.har`, `loadline run -- curl …`.
//!
//! What a browser copies is meant to be pasted behind a command. Behind `--` the shell has taken it apart already, so nothing in it
//! needs to be quoted again, and no option of curl's is taken for one of ours. A file in the place of a URL is looked into; what is
//! typed beside it goes over what it says, as flags go over a saved plan.
//!
//! One request is a plan like any other. Several are a scenario: they are sent one after the other by each user, with cookies and values
//! that one takes from another, and that is what scenarios are for. So such a file is printed as one, in memory, and goes on as if it
//! had been written by hand; secrets stand in it as they are, since it is never written down.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use clap::{ArgAction, Args};
use import::collection::{Collection, Environment, Kind, Wishes, guess, printed};
use plan::{Draft, PlanError, PlanErrors, Target};

use crate::command::read_to_import;
use crate::inputs::plainly;
use crate::scenarios;
use crate::screen::{Voice, complain};
use crate::secrets;

/// What is said about a file in the place of a URL.
#[derive(Debug, Default, Args)]
pub struct Importing {
    /// Send what a scenario or another tool's file says to this server instead of where that says
    #[arg(long, value_name = "URL", help_heading = "Requests of other tools")]
    target: Option<String>,

    /// The environment whose values hold: a file that Postman exported, or the name of one in an export of Insomnia
    #[arg(long, value_name = "FILE|NAME", help_heading = "Requests of other tools")]
    environment: Option<String>,

    /// The value of a variable of the file, such as baseUrl=http://127.0.0.1:8080 (repeatable)
    #[arg(long, value_name = "NAME=VALUE", action = ArgAction::Append, value_parser = pair, help_heading = "Requests of other tools")]
    variable: Vec<(String, String)>,
}

/// What was said, for whoever reads the file again: it is read when a plan is decided, and when it is carried out.
static SAID: Mutex<Option<Wishes>> = Mutex::new(None);

/// Puts what the file that a draft names says, if it names one, under what was typed.
pub fn take(mut draft: Draft, importing: Importing, voice: Voice, errors: &mut PlanErrors) -> Draft {
    let mut wishes = wishes(&importing, errors);
    if draft.scenario.is_some() && wishes.host.is_none() {
        wishes.host = draft.url.clone().filter(|url| url.contains("://"));
    }
    *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Some(wishes.clone());
    if draft.script.is_none() && draft.script_arguments.first().is_some_and(|word| word == "curl") {
        let words = std::mem::take(&mut draft.script_arguments);
        return match Collection::of_curl(&words) {
            Ok(read) => one(&read, "the curl command", None, draft, voice, errors),
            Err(why) => {
                errors.push(PlanError::new(
                    "url",
                    format!("the words after -- cannot be used: {why}"),
                    "paste a whole curl command after --",
                ));
                placed(draft)
            }
        };
    }
    let in_its_place = draft.url.clone().filter(|url| !url.contains("://") && Path::new(url).is_file());
    let named = in_its_place.clone().or_else(|| draft.scenario.clone());
    if let (None, Some(target)) = (&named, &importing.target) {
        errors.push(PlanError::new(
            "target",
            format!("--target {target} says where a file's requests go, and no file is given"),
            "give the URL alone, or a scenario or a file of another tool before it",
        ));
        return draft;
    }
    let Some(path) = named else {
        if importing.environment.is_some() || !importing.variable.is_empty() {
            errors.push(PlanError::new(
                "variable",
                "--variable and --environment are about a file of another tool, and none is given",
                "give the file in the place of the URL, or leave them out",
            ));
        }
        return draft;
    };
    let read = read_to_import(Path::new(&path)).ok().and_then(|bytes| collection(&path, &bytes, &wishes));
    match read {
        // A scenario, or nothing of the kind, which is told.
        None if scenarios::is_file(&path) => scenario(path, importing.target, draft),
        None => draft,
        Some(Err(error)) => {
            errors.push(error);
            draft.scenario = None;
            placed(draft)
        }
        Some(Ok(read)) if read.requests.len() == 1 && in_its_place.is_some() && read.draft(&read.requests[0]).is_ok() => {
            draft.url = None;
            one(&read, &format!("'{path}'"), importing.target.as_deref(), draft, voice, errors)
        }
        Some(Ok(read)) => {
            if voice == Voice::Talking {
                read.all_left_out().iter().for_each(|left| complain(&left_out(&format!("'{path}'"), left)));
            }
            scenario(path, importing.target, draft)
        }
    }
}

/// The file that stands in the place of the URL is the scenario, and what was named beside it is where it goes.
fn scenario(path: String, target: Option<String>, mut draft: Draft) -> Draft {
    if draft.scenario.is_none() {
        draft.url = None;
        draft.scenario = Some(path);
    }
    draft.url = target.or(draft.url);
    draft
}

/// A scenario of the requests in a file, as text; `None` if it is no other tool's.
///
/// # Errors
/// If they cannot be read, or name what has no value.
pub fn as_scenario(path: &str, bytes: &[u8]) -> Option<Result<String, PlanErrors>> {
    let wishes = SAID.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
    let read = collection(path, bytes, &wishes)?;
    Some(read.map(|read| printed(&read, path, &[])).map_err(|error| PlanErrors(vec![error])))
}

/// What a file holds, as it is sent; `None` if it is no other tool's.
fn collection(path: &str, bytes: &[u8], wishes: &Wishes) -> Option<Result<Collection, PlanError>> {
    // What is none of them may be a scenario, or is told to be no URL.
    let kind = guess(bytes).ok()?;
    // A scenario holds URLs too.
    if scenarios::is_file(path) && !matches!(kind, Kind::OpenApi | Kind::Insomnia) {
        return None;
    }
    let mut read = match Collection::read(kind, bytes, wishes) {
        Ok(read) => read,
        Err(why) => {
            let help = match kind {
                Kind::OpenApi => "say where it is served with --target http://HOST:PORT".to_owned(),
                Kind::Postman | Kind::Insomnia => {
                    "give values with --environment or --variable NAME=VALUE, or say where with --target".to_owned()
                }
                _ => "look at the file there".to_owned(),
            };
            return Some(Err(PlanError::new("url", format!("'{path}' cannot be read as {}: {why}", kind.about()), help)));
        }
    };
    if !read.missing.is_empty() {
        let names = read.missing.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        let (are, values) = if read.missing.len() == 1 { ("a variable", "its value") } else { ("variables", "their values") };
        return Some(Err(PlanError::new(
            "variable",
            format!("'{path}' names {are} without a value: {names}"),
            format!("give {values} with --environment, or --variable {}=VALUE", read.missing[0]),
        )));
    }
    if kind == Kind::Har {
        for (host, requests) in read.keep_first_site() {
            let what = format!("what was asked of {host} ({requests})");
            let why = "it is another site than the page's; loadline import takes it over".to_owned();
            read.left_out.push(import::collection::LeftOut { what, place: "the recording".to_owned(), why });
        }
    }
    Some(Ok(read))
}

/// What was said about variables.
fn wishes(importing: &Importing, errors: &mut PlanErrors) -> Wishes {
    if let Some(target) = &importing.target {
        match target.parse::<Target>() {
            Ok(target) if target.path_and_query() == "/" => {}
            Ok(parsed) => errors.push(PlanError::new(
                "target",
                format!("--target '{target}' has a path, and those are the file's"),
                format!("write {}://{}", parsed.scheme(), parsed.authority()),
            )),
            Err(why) => {
                errors.push(PlanError::new("target", format!("--target '{target}' {why}"), "give a server such as http://127.0.0.1:8080"))
            }
        }
    }
    let environment = importing.environment.as_ref().and_then(|named| match environment(named) {
        Ok(environment) => Some(environment),
        Err(error) => {
            errors.push(error);
            None
        }
    });
    let hidden = importing.variable.iter().filter(|(name, _)| plan::is_secret(name)).map(|(_, value)| value.as_str());
    secrets::learn_values(hidden);
    Wishes { variables: importing.variable.clone(), environment, host: importing.target.clone(), ..Wishes::default() }
}

/// An environment by its file or its name.
///
/// # Errors
/// If the file cannot be read, or is none.
pub fn environment(named: &str) -> Result<Environment, PlanError> {
    let help = "give the file that Postman exports of an environment, or the name of one in an export of Insomnia";
    let wrong = |why: String| PlanError::new("environment", format!("--environment '{named}' cannot be read: {why}"), help);
    let path = Path::new(named);
    let is_a_path = named.contains('/') || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if !path.is_file() && !is_a_path {
        return Ok(Environment::Named(named.to_owned()));
    }
    let bytes = std::fs::read(path).map_err(|why| wrong(plainly(&why)))?;
    let environment = Environment::read(&bytes).map_err(|why| wrong(why.to_string()))?;
    if let Environment::Values(values) = &environment {
        let hidden = values.iter().filter(|value| value.secret || plan::is_secret(&value.name));
        let hidden: Vec<String> = hidden.filter_map(|value| value.value.plain().map(str::to_owned)).collect();
        secrets::learn_values(hidden.iter().map(String::as_str));
    }
    Ok(environment)
}

/// The only request of a file, or of the words behind `--`.
fn one(read: &Collection, shown: &str, target: Option<&str>, draft: Draft, voice: Voice, errors: &mut PlanErrors) -> Draft {
    let [request] = read.requests.as_slice() else {
        errors.push(PlanError::new(
            "url",
            format!("{shown} holds {} requests, and this sends one", read.requests.len()),
            "save it to a file, and give that in the place of the URL",
        ));
        return placed(draft);
    };
    let mut imported = match read.draft(request) {
        Ok(imported) => imported,
        Err(why) => {
            errors.push(PlanError::new("url", format!("{shown} cannot be run: {}", why.what), why.help));
            return placed(draft);
        }
    };
    if let (Some(target), Some(url)) = (target, imported.url.as_mut()) {
        let authority = url.find("://").map_or(0, |at| at + 3);
        let path = url[authority..].find('/').map_or_else(String::new, |at| url[authority + at..].to_owned());
        *url = format!("{}{path}", target.trim_end_matches('/'));
    }
    secrets::learn(&imported);
    if voice == Voice::Talking {
        read.left_out.iter().for_each(|left| complain(&left_out(shown, &left.to_string())));
    }
    imported.overlaid(draft)
}

fn left_out(shown: &str, what: &str) -> String {
    format!("warning: of {shown} is left out: {}", report::visible(what))
}

/// The rest of the command line is judged as if the request had said where.
fn placed(mut draft: Draft) -> Draft {
    draft.url = Some("http://127.0.0.1/".to_owned());
    draft
}

/// `NAME=VALUE`, for `--variable`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is not NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
