//! A request that another tool keeps, in the place of a URL: `loadline run request.sh`, `loadline run -c 50 -- curl …`.
//!
//! What a browser copies is meant to be pasted behind a command. Behind `--` the shell has taken it apart already, so nothing in it
//! needs to be quoted again, and no option of curl's is taken for one of ours. A file in the place of a URL is looked into; what is
//! typed beside it goes over what it says, as flags go over a saved plan.

use std::path::Path;

use import::collection::{Collection, Kind, Wishes, guess};
use plan::{Draft, PlanError, PlanErrors};

use crate::command::read_to_import;
use crate::screen::{Voice, complain};
use crate::secrets;

/// Puts the request that a draft names, if it names one, under what was typed.
pub fn take(mut draft: Draft, voice: Voice, errors: &mut PlanErrors) -> Draft {
    if draft.script.is_none() && draft.script_arguments.first().is_some_and(|word| word == "curl") {
        let words = std::mem::take(&mut draft.script_arguments);
        return match Collection::of_curl(&words) {
            Ok(read) => put(&read, "the curl command", draft, voice, errors),
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
    let Some(path) = draft.url.clone().filter(|url| !url.contains("://") && Path::new(url).is_file()) else { return draft };
    let Ok(bytes) = read_to_import(Path::new(&path)) else { return draft };
    // What is none of them may be a scenario, or is told to be no URL.
    let Ok(kind) = guess(&bytes) else { return draft };
    match Collection::read(kind, &bytes, &Wishes::default()) {
        Ok(read) => {
            draft.url = None;
            put(&read, &format!("'{path}'"), draft, voice, errors)
        }
        Err(why) => {
            let help = if matches!(kind, Kind::Postman | Kind::OpenApi | Kind::Insomnia) {
                format!("loadline import {path} > scenario.yaml takes --variable and --openapi-server")
            } else {
                "look at the file there".to_owned()
            };
            errors.push(PlanError::new("url", format!("'{path}' cannot be read as {}: {why}", kind.about()), help));
            placed(draft)
        }
    }
}

fn put(read: &Collection, shown: &str, draft: Draft, voice: Voice, errors: &mut PlanErrors) -> Draft {
    let [request] = read.requests.as_slice() else {
        let file = if shown.starts_with('\'') { shown } else { "FILE" };
        errors.push(PlanError::new(
            "url",
            format!("{shown} holds {} requests, and this sends one", read.requests.len()),
            format!("make a scenario of them: loadline import {file} > scenario.yaml; with --only TEXT of some of them"),
        ));
        return placed(draft);
    };
    let imported = match read.draft(request) {
        Ok(imported) => imported,
        Err(why) => {
            errors.push(PlanError::new("url", format!("{shown} cannot be run: {}", why.what), why.help));
            return placed(draft);
        }
    };
    secrets::learn(&imported);
    if voice == Voice::Talking {
        for left in &read.left_out {
            complain(&format!("warning: of {shown} is left out: {}", report::visible(&left.to_string())));
        }
    }
    imported.overlaid(draft)
}

/// The rest of the command line is judged as if the request had said where.
fn placed(mut draft: Draft) -> Draft {
    draft.url = Some("http://127.0.0.1/".to_owned());
    draft
}
