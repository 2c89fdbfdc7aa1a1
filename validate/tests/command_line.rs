//! The command behind `make validate`, as the Makefile calls it.

use std::fs;
use std::process::Command;

fn validate(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_loadline-validate")).args(arguments).output().expect("the command can be started");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_wrong_command_line_shows_the_usage() {
    let (code, said) = validate(&["fast"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("full LOADLINE RECORDS PAGE") && said.contains("short LOADLINE"), "{said}");
}

#[test]
fn a_part_that_does_not_exist_leads_to_those_that_do() {
    let (code, said) = validate(&["short", "/bin/true", "serches"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("no part 'serches'") && said.contains("searches") && said.contains("hung"), "{said}");
}

#[test]
fn a_binary_that_is_not_there_is_named_with_a_remedy() {
    let (code, said) = validate(&["short", "/nowhere/loadline"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("/nowhere/loadline") && said.contains("make build"), "{said}");
}

/// `true` ends well and says nothing of what a server or a run would: every real part fails on it.
#[test]
fn a_part_that_fails_is_shown_as_failed_and_kept_apart_from_the_others() {
    let dir = tempfile::tempdir().expect("a folder can be made");
    let (records, page) = (dir.path().join("records"), dir.path().join("page.md"));
    let script = dir.path().join("program");
    fs::write(&script, "#!/bin/sh\necho program 1.0\n").expect("a file can be written");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it can be made to run");
    let words = [script.to_str(), records.to_str(), page.to_str()].map(|path| path.expect("a plain path"));
    let (code, said) = validate(&["full", words[0], words[1], words[2], "hung", "frozen"]);
    assert_eq!(code, Some(0), "{said}");
    let text = fs::read_to_string(&page).expect("the page is there");
    assert!(text.contains("Program: program 1.0."), "{text}");
    assert!(text.contains("- **no result**: closed, 10 users: the demo API did not say where it listens"), "{text}");
    assert!(
        text.contains("- **no result**: 60 s, every request by itself: not measured"),
        "parts that were not asked for are named: {text}"
    );
    assert!(text.contains("## Defects of other tools"), "{text}");
}
