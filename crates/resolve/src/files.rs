//! The files that a draft names, read: the script, the list of URLs, the body, certificates and rows of data.
//!
//! What can be told of them without the plan is told here, each mistake with the setting that names the file. A saved plan names what
//! its files held, and is told where one of them is another by now.

use plan::setting::{
    CACERT, CERT, DATA, DATA_FILE, DESCRIPTORS, FORM, JSON, KEY, MESSAGE, NO_TEMPLATES, SCENARIO, SCRIPT, SettingName, URLS,
};
use plan::template::Value;
use plan::work::Work;
use plan::{DataFile, Draft, PlanError, PlanErrors, Resolved, plainly};

use crate::{Inputs, Reader, fingerprint};

/// A script and a list of URLs are kept in memory.
const TEXT_BYTES_MAX: u64 = 256 << 20;
/// What is larger holds no certificate and no key.
const PEM_BYTES_MAX: u64 = 64 << 20;
/// A body stands in memory whole.
const BODY_BYTES_MAX: u64 = engine::body::BYTES_MAX;

/// Puts standard input in the place of `@-`, so that the plan holds what was sent and can be run again.
pub fn read_standard_input(draft: &mut Draft, inputs: &dyn Inputs, errors: &mut PlanErrors) {
    for field in
        draft.form.iter().filter(|field| field.split_once('=').is_some_and(|(_, value)| matches!(value, "@-") || value.starts_with("@-;")))
    {
        errors.push(PlanError::new(
            FORM,
            format!("{FORM:#} '{field}' is to be read from standard input"),
            format!("save it to a file and give name=@FILE, or send it as the whole body with {DATA:#} @-"),
        ));
    }
    let mut uses: Vec<(SettingName, &mut String)> =
        [(DATA, draft.data.as_mut()), (JSON, draft.json.as_mut()), (MESSAGE, draft.message.as_mut())]
            .into_iter()
            .filter_map(|(setting, text)| text.filter(|text| *text == "@-").map(|text| (setting, text)))
            .collect();
    let Some((setting, text)) = uses.pop() else { return };
    if !uses.is_empty() {
        // Both being bodies is the plan's complaint; here they only must not wait for the same input twice.
        return;
    }
    let bytes = match inputs.standard_input(BODY_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(why) => {
            let message = format!("{setting:#} @-: standard input cannot be read: {}", plainly(&why));
            errors.push(PlanError::new(setting, message, format!("give {DATA:#} @FILE")));
            return;
        }
    };
    match String::from_utf8(bytes) {
        // A plan is text, and its text '@…' names a file: what is neither cannot be kept in a result truthfully.
        Ok(read) if !read.starts_with('@') => *text = read,
        _ => errors.push(PlanError::new(
            setting,
            format!("{setting:#} @-: standard input is not text, or begins with '@'"),
            format!("save it to a file and give {setting:#} @FILE"),
        )),
    }
}

/// Reads every file that the settings name, and writes down what it held.
pub(crate) fn read_all(resolved: &mut Resolved, reader: &Reader, errors: &mut PlanErrors) {
    for (setting, path) in resolved.draft.clone().files() {
        let (bytes_max, what) = match setting {
            SCENARIO => continue,
            URLS | SCRIPT => (TEXT_BYTES_MAX, ""),
            CACERT | CERT => (PEM_BYTES_MAX, "certificate"),
            KEY => (PEM_BYTES_MAX, "private key"),
            DESCRIPTORS => (PEM_BYTES_MAX, "set of descriptors"),
            _ => (BODY_BYTES_MAX, "body"),
        };
        let read = reader.whole(path, bytes_max);
        let told = match (setting, &read) {
            (URLS, Err(why)) => Some((format!("{URLS:#} '{path}' cannot be used: {why}"), OF_URLS.to_owned())),
            (URLS, Ok(bytes)) if std::str::from_utf8(bytes).is_err() => {
                Some((format!("{URLS:#} '{path}' cannot be used: it is not text in UTF-8"), OF_URLS.to_owned()))
            }
            (SCRIPT, Err(why)) => Some((format!("{SCRIPT:#} '{path}' cannot be read: {why}"), "give a Lua file".to_owned())),
            (SCRIPT, Ok(bytes)) if bytes.is_empty() => {
                Some((format!("{SCRIPT:#} '{path}' is empty"), "give a Lua file that sets wrk.method, or defines request()".to_owned()))
            }
            (CACERT | CERT | KEY, Err(why)) => {
                Some((format!("{setting:#} '{path}' cannot be read: {why}"), format!("give a PEM file with a {what}")))
            }
            (CACERT | CERT | KEY, Ok(bytes)) => {
                let wanted = if setting == KEY { "PRIVATE KEY-----" } else { "-----BEGIN CERTIFICATE-----" };
                (!String::from_utf8_lossy(bytes).contains(wanted)).then(|| {
                    (format!("{setting:#} '{path}' holds no {what}"), format!("give a PEM file, which has a line with '{wanted}'"))
                })
            }
            (DESCRIPTORS, Err(why)) => {
                let help = "give a set of descriptors as protoc writes it, with what they import";
                Some((format!("{DESCRIPTORS:#} '{path}' cannot be read: {why}"), help.to_owned()))
            }
            (_, Err(why)) => Some((format!("the file '{path}' of the body cannot be read: {why}"), "check the path after '@'".to_owned())),
            (_, Ok(_)) => None,
        };
        let is_wrong = told.is_some();
        told.into_iter().for_each(|(message, help)| errors.push(PlanError::new(setting, message, help)));
        match read {
            Ok(bytes) if !is_wrong => resolved.contents.insert(path, bytes),
            // The rest is judged as if there were an empty body.
            _ if !matches!(setting, URLS | SCRIPT) => resolved.contents.insert(path, *b""),
            _ => {}
        }
    }
    note_script_and_list(resolved, errors);
    read_data_files(resolved, reader, errors);
}

const OF_URLS: &str = "give a text file with a line for each: [WEIGHT] [METHOD] URL";

/// Writes down what the script and the list of URLs hold, and complains if they are others than those that a saved plan was made with.
fn note_script_and_list(resolved: &mut Resolved, errors: &mut PlanErrors) {
    let Resolved { draft, sources, contents, .. } = resolved;
    let now = |path: &Option<String>| path.as_ref().and_then(|path| contents.get(path)).map(|bytes| fingerprint(bytes));
    // What cannot be read has been told.
    if let (Some(path), Some(now)) = (&draft.script, now(&draft.script)) {
        if sources.script_sha256.as_ref().is_some_and(|saved| *saved != now) {
            let message = format!("the script '{path}' is not what it was when this plan was saved");
            errors.push(PlanError::new(SCRIPT, message, format!("give it again as it is now with {SCRIPT:#} {path}")));
        }
        sources.script_sha256 = Some(now);
    }
    if let (Some(path), Some(now)) = (&draft.urls, now(&draft.urls)) {
        note(URLS, path, path, sources.urls_sha256.as_ref(), &now, errors);
        sources.urls_sha256 = Some(now);
    }
}

fn read_data_files(resolved: &mut Resolved, reader: &Reader, errors: &mut PlanErrors) {
    let mut now = Vec::new();
    for (place, text) in resolved.draft.data_file.iter().enumerate() {
        // What cannot be opened is told when the plan is decided.
        let (_, rows) = DataFile::parts(text);
        let path = rows.path;
        let Ok(data) = reader.data(rows) else { continue };
        note(DATA_FILE, text, path, resolved.sources.data_file_sha256.get(place), data.fingerprint(), errors);
        now.push(data.fingerprint().to_owned());
        if let Ok(Some(bytes)) = reader.data_bytes(path) {
            resolved.contents.insert(path, bytes);
        } else if let Some(file) = data.large() {
            resolved.contents.insert_large(path, file);
        }
    }
    resolved.sources.data_file_sha256 = if now.len() == resolved.draft.data_file.len() { now } else { Vec::new() };
}

fn note(setting: SettingName, typed: &str, path: &str, saved: Option<&String>, now: &str, errors: &mut PlanErrors) {
    if saved.is_some_and(|saved| saved != now) {
        errors.push(PlanError::new(
            setting,
            format!("the file '{path}' is not what it was when this plan was saved"),
            format!("give it again as it is now with {setting:#} {typed}"),
        ));
    }
}

/// Reads what templates in the settings take from outside: variables of the environment and files.
pub(crate) fn read_templates(resolved: &mut Resolved, reader: &Reader, errors: &mut PlanErrors) {
    for (setting, value) in resolved.taken_from_outside() {
        match value {
            Value::Env(name) => {
                let what = format!("a template names the variable {name}, which is not in the environment");
                read_variable(resolved, reader, &name, (setting, what), errors);
            }
            Value::File(path, _) => match reader.read(&path, BODY_BYTES_MAX) {
                Ok(bytes) => resolved.contents.insert(&path, bytes),
                Err(why) => {
                    let message = format!("the file '{path}' of a template cannot be read: {}", plainly(&why));
                    errors.push(PlanError::new(NO_TEMPLATES, message, "check the path, which begins at the current directory"));
                    // The rest is judged as if it were there.
                    resolved.contents.insert(&path, *b"");
                }
            },
            Value::Weighted { path, group } => match reader.read(&path, BODY_BYTES_MAX) {
                Ok(bytes) => resolved.contents.insert(&path, bytes),
                Err(why) => {
                    let message = format!("the file {path} cannot be read: {} (of {{{{weighted {path}}}}})", plainly(&why));
                    errors.push(PlanError::new(NO_TEMPLATES, message, "check the path"));
                    resolved.contents.insert(&path, format!("group,value\n{},x\n", group.unwrap_or_default()).into_bytes());
                }
            },
            _ => {}
        }
    }
}

/// Reads the files that journeys are made of.
pub(crate) fn read_files_of_work(resolved: &mut Resolved, reader: &Reader, work: &Work, errors: &mut PlanErrors) {
    for path in work.files() {
        match reader.read(path, BODY_BYTES_MAX) {
            Ok(bytes) => resolved.contents.insert(path, bytes),
            Err(why) => {
                let message = format!("the scenario's file '{path}' cannot be read: {}", plainly(&why));
                errors.push(PlanError::new(SCENARIO, message, "check the path, which begins where the scenario is"));
            }
        }
    }
}

/// Reads a variable of the environment; `what` says of one that is not there who names it.
pub(crate) fn read_variable(
    resolved: &mut Resolved,
    reader: &Reader,
    name: &str,
    (setting, what): (&'static str, String),
    errors: &mut PlanErrors,
) {
    if resolved.environment.iter().any(|(known, _)| known == name) {
        return;
    }
    let value = reader.inputs().variable(name);
    if value.is_none() {
        errors.push(PlanError::new(setting, what, format!("set it, as in {name}=… loadline …")));
    }
    // The rest is judged as if it were there.
    resolved.environment.push((name.to_owned(), value.unwrap_or_default()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KnownSecrets, MemoryInputs};

    fn with_input(draft: &mut Draft, input: &[u8]) -> PlanErrors {
        let mut errors = PlanErrors::default();
        read_standard_input(draft, &MemoryInputs::default().with_input(input), &mut errors);
        errors
    }

    #[test]
    fn standard_input_takes_the_place_of_its_name() {
        let mut draft = Draft { data: Some("@-".to_owned()), ..Draft::default() };
        assert!(with_input(&mut draft, b"a=1").is_empty());
        assert_eq!(draft.data.as_deref(), Some("a=1"));
    }

    #[test]
    fn standard_input_that_a_plan_cannot_hold_is_refused() {
        for input in [&b"@file"[..], b"\xff\xfe"] {
            let mut draft = Draft { json: Some("@-".to_owned()), ..Draft::default() };
            assert!(with_input(&mut draft, input).spelt(plan::Spelling::Flags).contains("--json @FILE"));
        }
        let mut draft = Draft { form: vec!["a=@-;type=text/plain".to_owned()], ..Draft::default() };
        assert!(with_input(&mut draft, b"").spelt(plan::Spelling::Flags).contains("--data @-"));
    }

    fn resolved(draft: Draft, inputs: MemoryInputs) -> (Resolved, String) {
        let reader = Reader::new(inputs, KnownSecrets::default());
        let (mut resolved, mut errors) = (Resolved::from(draft), PlanErrors::default());
        read_all(&mut resolved, &reader, &mut errors);
        read_templates(&mut resolved, &reader, &mut errors);
        (resolved, errors.spelt(plan::Spelling::Flags))
    }

    #[test]
    fn every_file_that_is_named_is_read_or_told() {
        let text = |text: &str| Some(text.to_owned());
        let draft = Draft {
            json: text("@body.json"),
            form: vec!["f=@x.png;type=image/png".to_owned()],
            script: text("a.lua"),
            urls: text("mix.txt"),
            cacert: text("ca.pem"),
            key: text("key.pem"),
            data_file: vec!["users.csv".to_owned()],
            header: vec!["X: {{file token}}{{env T}}".to_owned()],
            ..Draft::default()
        };
        let (none, errors) = resolved(draft.clone(), MemoryInputs::default());
        for what in [
            "the file 'body.json' of the body cannot be read: there is no such file",
            "the file 'x.png' of the body cannot be read",
            "--script 'a.lua' cannot be read",
            "--urls 'mix.txt' cannot be used",
            "--cacert 'ca.pem' cannot be read",
            "--key 'key.pem' cannot be read",
            "the file 'token' of a template cannot be read",
            "the variable T, which is not in the environment",
        ] {
            assert!(errors.contains(what), "{what}:\n{errors}");
        }
        assert_eq!((none.sources.script_sha256, none.sources.urls_sha256, none.contents.get("a.lua")), (None, None, None));
        let inputs = ["body.json", "x.png", "a.lua", "mix.txt", "token"]
            .iter()
            .fold(MemoryInputs::default(), |inputs, path| inputs.with_file(path, format!("of {path}")));
        let inputs = inputs.with_file("ca.pem", "-----BEGIN CERTIFICATE-----").with_file("key.pem", "-----BEGIN PRIVATE KEY-----");
        let (all, errors) = resolved(draft, inputs.with_file("users.csv", "id\n1\n").with_variable("T", "t"));
        assert_eq!(errors, "");
        let read: Vec<&str> = all.contents.iter().map(|(path, _)| path).collect();
        assert_eq!(read, ["a.lua", "body.json", "ca.pem", "key.pem", "mix.txt", "token", "users.csv", "x.png"]);
        assert_eq!(all.environment, [("T".to_owned(), "t".to_owned())]);
        assert_eq!(all.sources.script_sha256, Some(fingerprint(b"of a.lua")));
        assert_eq!(all.sources.data_file_sha256.len(), 1);
    }

    #[test]
    fn a_file_that_changed_since_the_plan_was_saved_is_told() {
        let draft = Draft { script: Some("a.lua".to_owned()), ..Draft::default() };
        let reader = Reader::new(MemoryInputs::default().with_file("a.lua", "new"), KnownSecrets::default());
        let (mut resolved, mut errors) = (Resolved::from(draft), PlanErrors::default());
        resolved.sources.script_sha256 = Some(fingerprint(b"old"));
        read_all(&mut resolved, &reader, &mut errors);
        assert!(
            errors.spelt(plan::Spelling::Flags).contains("the script 'a.lua' is not what it was when this plan was saved"),
            "{errors:?}"
        );
    }
}
