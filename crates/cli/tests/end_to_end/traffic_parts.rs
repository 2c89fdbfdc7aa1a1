//! `loadline traffic` of logs that lie elsewhere: on machines at the other end of an ssh that is played here, and in parts that are merged.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::session::{Session, prose};

/// Runs the last word as ssh would there, in a home of its own for each host. What it says is kept beside these homes.
const SSH: &str = "#!/bin/sh
for last; do host=$before; before=$last; done
[ \"$host\" = nowhere ] && { echo 'ssh: connect to host nowhere port 22: No route to host' >&2; exit 255; }
HOME=\"$HOMES/$host\"; export HOME; unset XDG_CACHE_HOME; cd \"$HOME\" || exit 255
[ \"$host\" = noisy ] && echo 'Welcome to noisy!'
printf '%s\\n' \"$*\" >> \"$HOMES/called\"
/bin/sh -c \"$last\" > \"$HOMES/said.$host\"; status=$?
cat \"$HOMES/said.$host\"; exit $status
";

/// A session with the program of that ssh, and logs on each of two machines.
fn session() -> Session {
    let session = Session::new().file("ssh", SSH);
    fs::set_permissions(session.path("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    for (host, log, half) in [("web1", "access.log", 0), ("web1", "access.log.1", 1), ("web2", "access.log", 2), ("web2", "other", 0)] {
        let folder = session.path(&format!("homes/{host}/logs"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(log), log_of(half)).unwrap();
    }
    session
}

/// The variables that the next command needs for that ssh.
fn with_ssh(session: Session) -> Session {
    let (bin, homes) = (session.path(""), session.path("homes"));
    let path = format!("{}:/usr/bin:/bin", bin.display());
    session.env("PATH", &path).env("HOMES", &homes.display().to_string())
}

/// A third of what some users did: each of them asks all servers in turn.
fn log_of(third: u32) -> String {
    let line = |at: u32| {
        let (user, minute, second) = (at % 7, at / 60 % 60, at % 60);
        let request = match at % 5 {
            0 => "/me?token=s3cr3t".to_owned(),
            1 => format!("/users/{}", at % 11),
            _ => "/".to_owned(),
        };
        format!("192.0.2.{user} - - [01/Mar/2016:10:{minute:02}:{second:02} +0100] \"GET {request} HTTP/1.1\" 200 612 \"-\" \"curl/8\"\n")
    };
    (0..1800).filter(|at| at % 3 == third).map(line).collect::<String>() + "what is this 192.0.2.9\n"
}

/// A survey without the names of its files, which differ from place to place.
fn without_names(mut survey: Value) -> Value {
    survey["files"].as_array_mut().unwrap().iter_mut().for_each(|file| file["name"] = Value::Null);
    for unread in survey["unread"].as_array_mut().unwrap() {
        unread["examples"].as_array_mut().unwrap().iter_mut().for_each(|example| example["file"] = Value::Null);
    }
    survey
}

const LOGS: &str = "homes/web1/logs/access.log homes/web1/logs/access.log.1 homes/web2/logs/access.log";

#[test]
fn logs_of_machines_are_one_survey_and_nothing_of_a_line_leaves_them() {
    let mut session = session();
    session.loadline(&format!("traffic {LOGS} --out json=here.json --to here.yaml")).exits(0);
    session = with_ssh(session);
    let ran = session.loadline("traffic --agents ssh:web1,ssh:web2 logs/access.log* --out json=there.json --to there.yaml").exits(0);
    let ran = ran.complains_of_nothing().says("web1:logs/access.log.1: looks like combined").says("web2:logs/access.log: looks like");
    assert!(!ran.stdout.contains("192.0.2."), "{}", ran.stdout);
    let there = session.json("there.json");
    assert_eq!((&there["requests"], &there["users"]["users"], &there["users"]["sessions"]), (&1800.into(), &7.into(), &7.into()));
    assert_eq!(there["users"]["pauses"]["p50_ns"].as_u64().unwrap() / 100_000_000, 70, "between requests to any server");
    assert_eq!(without_names(there), without_names(session.json("here.json")));
    assert_eq!(session.read("there.yaml").replace("there", "here"), session.read("here.yaml"));
    assert_eq!(session.read("there.paths.csv"), session.read("here.paths.csv"));
    for said in ["homes/said.web1", "homes/said.web2"] {
        let said = session.read(said);
        assert!(said.contains("loadline.traffic-part/1") && !said.contains("192.0.2.") && !said.contains("s3cr3t"), "{said}");
    }
    let copies = session.files().into_iter().filter(|name| name.contains("/.cache/loadline/agent-")).count();
    assert_eq!(copies, 2, "each machine was given the program");
    // What is counted there is chosen here, and addresses come along where that is asked for.
    let choice = "--only 'GET /users/*' --except /users/3 --from 2016-03-01T10:01 --until 2016-03-01T10:02Z --keep-personal";
    session = with_ssh(session);
    session
        .loadline(&format!("traffic --agents ssh:web1,ssh:web2 {choice} logs/access.log* --out json=some.json"))
        .exits(0)
        .says("192.0.2.");
    session.loadline(&format!("traffic {choice} {LOGS} --out json=same.json")).exits(0);
    assert_eq!(without_names(session.json("some.json")), without_names(session.json("same.json")));
}

#[test]
fn names_of_logs_are_taken_as_they_are_whatever_is_in_them() {
    let session = session();
    let odd = "it's a \"log\" $(touch pwned) `touch pwned`; touch pwned \\ 1.log";
    fs::rename(session.path("homes/web2/logs/other"), session.path(&format!("homes/web2/logs/{odd}"))).unwrap();
    let read = |name: &str, more: &[&str]| {
        let path = format!("{}:/usr/bin:/bin", session.path("").display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_loadline"));
        command.args(["traffic", "--agents=ssh:web2", "--out", "json=-"]).args(more).arg("--").arg(name);
        let ran = command.env("PATH", path).env("HOMES", session.path("homes")).current_dir(session.path("")).output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
    };
    let format = r#"$remote_addr - - [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;
    for name in [format!("logs/{odd}"), "logs/it's*touch pwned?? 1.log".to_owned()] {
        let (exit, said, complaint) = read(&name, &["--log-format", format]);
        assert_eq!((exit, complaint.as_str()), (Some(0), ""), "{name}");
        let survey: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((&survey["requests"], &survey["files"][0]["name"]), (&600.into(), &format!("web2:logs/{odd}").into()));
    }
    let (exit, said, complaint) = read("logs/$(touch pwned)* 'x'", &[]);
    assert_eq!((exit, said.as_str()), (Some(2), ""));
    assert!(prose(&complaint).contains("web2: the log 'logs/$(touch pwned)* 'x'' cannot be read: no file has such a name"), "{complaint}");
    assert!(!session.files().iter().any(|name| name.ends_with("pwned")), "{:?}", session.files());
}

#[test]
fn what_goes_wrong_on_any_machine_is_told_at_once_and_nothing_is_half_told() {
    let mut session = session();
    session = with_ssh(session);
    let ran = session.loadline("traffic --agents ssh:web1,ssh:nowhere,ssh:web2 logs/access.log.1 missing.log --out json=r.json");
    let said = prose(&ran.stderr);
    for words in [
        "web1: the log 'missing.log' cannot be read: there is no such file or directory",
        "nowhere is gone: it ended with status 255 (ssh: connect to host nowhere port 22: No route to host)",
        "help: try it: ssh -o BatchMode=yes nowhere true",
        "web2: the log 'logs/access.log.1' cannot be read",
        "web2: the log 'missing.log' cannot be read",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(ran.exit != 0 && ran.stdout.is_empty() && !session.files().contains(&"r.json".to_owned()), "{ran:?}");
    fs::create_dir_all(session.path("homes/noisy")).unwrap();
    session = with_ssh(session);
    fs::copy(session.path("homes/web2/logs/other"), session.path("homes/noisy/access.log")).unwrap();
    let ran = session.loadline("traffic --agents ssh:noisy access.log");
    let said = prose(&ran.stderr);
    for words in
        ["what noisy says cannot be used: it is damaged", "see whether 'ssh -o BatchMode=yes noisy true' prints anything: it must not"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(ran.exit != 0 && ran.stdout.is_empty(), "{ran:?}");
    let called = session.read("homes/called");
    session = with_ssh(session);
    let line = "traffic --agents web1,ssh:web2,ssh:web2 - --from +10m --until 10:30 --partial p --to missing/x.yaml";
    let ran = session.loadline(line).exits(2);
    let said = prose(&ran.stderr);
    for words in [
        "'web1' is no machine",
        "names ssh:web2 twice",
        "standard input is of this machine",
        "--from '+10m' is of where logs begin",
        "--until '10:30:00'",
        "--to is for a whole survey",
        "leave out --agents or --partial",
        "--partial takes a key",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    session = with_ssh(session);
    for line in ["traffic --agents web1 there.log", "traffic --agents web1 there.log --partial p"] {
        let ran = session.loadline(line).exits(2).complains("'web1' is no machine");
        assert!(!ran.stderr.contains("there.log"), "no log of this machine: {}", ran.stderr);
        session = with_ssh(session);
    }
    session
        .loadline("traffic x.log --agent-binary x --partial-key k --partial-targets")
        .exits(2)
        .complains("--agent-binary is about other machines")
        .complains("--partial-key is for a part")
        .complains("--partial-targets is for a part");
    assert_eq!(session.read("homes/called"), called, "nobody was called for that");
}

#[test]
fn parts_that_are_merged_say_what_all_logs_say() {
    let mut session = session().file("key", "sixteen secret bytes\n").file("other", "other secret bytes!!");
    session.loadline(&format!("traffic {LOGS} --out json=one.json --to one.yaml")).exits(0);
    // As a job names its logs where no shell reads them.
    for (number, log) in ["homes/web?/logs/access.log", "homes/web1/logs/access.log.[0-9]"].iter().enumerate() {
        let line = format!("traffic '{log}' --partial {number}.part --partial-key key --partial-targets");
        assert_eq!(session.loadline(&line).exits(0).complains_of_nothing().stdout, "");
    }
    session
        .loadline("traffic merge 1.part 0.part --out json=merged.json --to merged.yaml")
        .exits(0)
        .says("1,800 requests")
        .says("merged.yaml: Fidelity");
    // Names of files are those that were read.
    assert_eq!(session.json("merged.json"), session.json("one.json"));
    assert_eq!(session.read("merged.paths.csv"), session.read("one.paths.csv"));
    // Merged parts are a part.
    session.loadline("traffic merge 0.part 1.part --partial all.part").exits(0);
    let part = session.read("all.part");
    session = session.stdin(&part);
    session.loadline("traffic merge - --out json=again.json").exits(0);
    assert_eq!(session.json("again.json"), session.json("one.json"));

    // Nothing is counted twice.
    session
        .loadline("traffic merge 0.part 1.part 0.part")
        .exits(2)
        .complains("the part '0.part' is given twice, and would be counted twice");
    let ran = session.loadline("traffic merge all.part 1.part").exits(2);
    assert!(prose(&ran.stderr).contains("the part '1.part' holds what 'all.part' holds, or a part of that"), "{}", ran.stderr);

    session.loadline("traffic homes/web2/logs/other --partial other.part --partial-key other").exits(0);
    let log = session.read("homes/web2/logs/other");
    session = session.stdin(&log);
    session.loadline("traffic - --partial bare.part --partial-key key").exits(0);
    let ran = session.loadline("traffic merge 0.part other.part homes/web2/logs/other missing.part --out json=no.json").exits(2);
    let said = prose(&ran.stderr);
    for words in [
        "the part 'other.part' cannot be used: it was made with another key",
        "the part 'homes/web2/logs/other' cannot be used: it is damaged, or no part of a survey",
        "the part 'missing.part' cannot be read",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(ran.stdout.is_empty() && !session.files().contains(&"no.json".to_owned()));
    session.loadline("traffic merge 0.part bare.part --to no.yaml").exits(2).complains("--partial-targets");
    session.loadline("traffic merge 0.part bare.part").exits(0).says("standard input: looks like");
}

#[test]
fn a_part_takes_a_key_that_cannot_be_guessed() {
    let mut session = session().file("short", "0123456789\n");
    let log = "homes/web1/logs/access.log";
    session.loadline(&format!("traffic {log} --partial a.part")).exits(2).complains("--partial takes a key").complains("/dev/urandom");
    session
        .loadline(&format!("traffic {log} --partial a.part --partial-key short"))
        .exits(2)
        .complains("it has 10 bytes, and can be guessed");
    session.loadline(&format!("traffic {log} --partial a.part --partial-key none")).exits(2).complains("'none' cannot be used");
    session.loadline("traffic - --partial a.part --partial-key -").exits(2).complains("standard input holds the key, or a log");
    session
        .loadline(&format!("traffic {log} --partial a.part --partial-key short --to x.yaml --out json=-"))
        .exits(2)
        .complains("give --to to loadline traffic merge")
        .complains("give --out to loadline");
    assert!(!session.files().contains(&"a.part".to_owned()));
    session = session.stdin("a secret of many words\n");
    session.loadline(&format!("traffic {log} --partial - --partial-key -")).exits(0).says("\"requests\":600");
}

#[test]
fn a_machine_stops_reading_when_whoever_asked_is_gone() {
    let session = Session::new();
    let pipe = session.path("endless.log");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let held = fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let words = ["traffic", "--attended", "--partial", "-", "--partial-key", "-", "--"];
    let mut reading = Command::new(env!("CARGO_BIN_EXE_loadline"))
        .args(words)
        .arg(&pipe)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = reading.stdin.take().unwrap();
    input.write_all(b"a key of many letters\n").unwrap();
    drop(input);
    assert_eq!(reading.wait().unwrap().code(), Some(130));
    drop(held);
}
