//! The README's commands: each is run as it is printed, against the demo API, only for a shorter time.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::session::server;

/// Stands in place of `loadline`: the demo API's own address, short times, and a note of how each command ended.
const STAND_IN: &str = r#"#!/bin/sh
case "$1" in demo | serve) exit 0 ;; esac
command=$1
short=' -d '
for each in "$@"; do
  shift
  case "$before" in -d) each=300ms ;; --pairs) each=6 ;; esac
  case "$each" in -d) short='' ;; esac
  before=$each
  set -- "$@" "$(printf %s "$each" | sed "s|127.0.0.1:8080|$SERVER|")"
done
sed -i "s|127.0.0.1:8080|$SERVER|" scenario.yaml urls.txt 2>/dev/null
case "$command" in
  run) [ -n "$short" ] && set -- "$@" -d 300ms; set -- "$@" --out "json=$(ls | wc -l).json" --force ;;
  sweep) set -- "$@" --levels 1,2 ;;
  find) set -- "$@" --quick --budget 30s ;;
  compare) set -- "$@" --cooldown 0s ;;
esac
"$LOADLINE" "$@"
echo "$? $*" >> ended.txt
"#;

/// The shell commands of the README, in its order: whole blocks of `sh`, and what stands behind a prompt in a `console`.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let (language, body) = block.split_once('\n').unwrap();
        match language {
            "sh" => commands.push(body.to_owned()),
            "console" => commands.extend(body.lines().filter_map(|line| line.strip_prefix("$ ").map(str::to_owned))),
            _ => {}
        }
    }
    commands.retain(|command| command.contains("loadline ") && !command.contains("run URL "));
    commands
}

#[test]
fn the_commands_of_the_readme_work_as_they_are_printed() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let commands = commands(&page);
    assert!(commands.len() > 10, "{commands:?}");
    let served = server();
    let dir = tempfile::tempdir().unwrap();
    let (bin, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stand_in = bin.path().join("loadline");
    fs::write(&stand_in, STAND_IN).unwrap();
    fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
    for command in &commands {
        // A shell of a script knows no aliases.
        let command = command.replace("alias wrk='loadline wrk'", "wrk() { loadline wrk \"$@\"; }").replace("-d30s", "-d1s");
        let ran = Command::new("sh")
            .args(["-e", "-c", &command])
            .current_dir(dir.path())
            .env_clear()
            .env("PATH", format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap_or_default()))
            .env("XDG_DATA_HOME", data.path())
            .env("LOADLINE", env!("CARGO_BIN_EXE_loadline"))
            .env("SERVER", served.url("").trim_start_matches("http://"))
            .output()
            .unwrap();
        assert!(ran.status.success() && !String::from_utf8_lossy(&ran.stderr).contains("error:"), "{command}\n{ran:?}");
    }
    let ended = fs::read_to_string(dir.path().join("ended.txt")).unwrap();
    for line in ended.lines() {
        // On a machine with other work a search may find no rate, a promise may be broken, and a run may be none to judge by.
        let is_judged = line.contains(" find ") || line.contains(" --check ");
        let may_end: &[&str] = if is_judged { &["0", "1", "4"] } else { &["0", "4"] };
        assert!(may_end.contains(&line.split(' ').next().unwrap()), "{line}");
    }
    let runs: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let runs: Vec<_> = runs.iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    assert!(runs.len() >= 6, "{runs:?}");
    for run in runs {
        let result: serde_json::Value = serde_json::from_str(&fs::read_to_string(run).unwrap()).unwrap();
        let counts = &result["requests"];
        assert!(counts["succeeded"].as_u64() > Some(0) && counts["failed"] == 0, "{}: {counts}", result["plan"]["url"]);
    }
}
