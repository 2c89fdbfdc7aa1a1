//! Every script in `examples/lua`, and what wrk itself sends with it.

use std::process::Command;

use crate::Trial;
use crate::capture::Capture;

const ALL: &[&str] = &[
    "post.lua",
    "counter.lua",
    "weighted.lua",
    "replay.lua",
    "token.lua",
    "think.lua",
    "stop.lua",
    "json.lua",
    "threads.lua",
    "pipeline.lua",
];

/// With what the script needs besides.
fn example(name: &str) -> Trial {
    let trial = Trial::example(name);
    if name != "replay.lua" {
        return trial;
    }
    let file = trial.folder.path().join("requests.txt");
    std::fs::write(&file, "GET /one\n\nPOST /two a=b c\nDELETE /three?x=y\n").unwrap();
    let file = file.to_str().unwrap().to_owned();
    trial.arguments(&[&file])
}

#[test]
fn every_example_is_tested_here() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lua");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".lua"))
        .collect();
    found.sort();
    let mut named: Vec<&str> = ALL.to_vec();
    named.sort_unstable();
    assert_eq!(found, named);
}

#[test]
fn every_example_runs() {
    for name in ALL {
        for threads in [1, 2] {
            let capture = Capture::start();
            let measured = example(name).threads(threads).requests(24).run(&capture).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            assert_eq!(measured.requests.succeeded, 24, "{name}");
            assert_eq!(capture.requests().len(), 24, "{name}");
        }
    }
}

#[test]
fn examples_send_what_they_say() {
    let lines = |name: &str, requests: u64| {
        let capture = Capture::start();
        example(name).requests(requests).run(&capture).unwrap();
        capture.lines()
    };
    assert_eq!(lines("post.lua", 1), ["POST /"]);
    assert_eq!(lines("counter.lua", 3), ["GET /item/2", "GET /item/3", "GET /item/4"]);
    let weighted = lines("weighted.lua", 10);
    assert_eq!(
        ["GET /list", "GET /item/1", "GET /search?q=all"].map(|line| weighted.iter().filter(|sent| *sent == line).count()),
        [7, 2, 1]
    );
    assert_eq!(lines("replay.lua", 4), ["POST /two", "DELETE /three?x=y", "GET /one", "POST /two"]);
}

#[test]
fn the_first_error_stops_the_example_that_says_so() {
    let capture = Capture::start();
    let trial = Trial::example("stop.lua").endless();
    let text = std::fs::read_to_string(&trial.path).unwrap();
    let own = Trial::of(&format!("wrk.path = '/fail'\n{text}")).endless();
    let measured = own.run(&capture).unwrap();
    assert_eq!((measured.requests.failed, capture.requests().len()), (1, 1));
}

/// A request with its header lines in alphabetical order: wrk writes them as its table iterates, which is different in every run.
fn ordered(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.split("\r\n").collect();
    lines[1..].sort_unstable();
    format!("{}\r\n\r\n{body}", lines.join("\r\n"))
}

#[test]
fn wrk_sends_the_same_bytes_with_every_example() {
    if Command::new("wrk").arg("-v").output().is_err() {
        panic!("this test needs wrk: run scripts/tools.sh wrk");
    }
    for name in ALL {
        let trial = example(name);
        let (theirs, ours) = (Capture::start(), Capture::start());
        let url = theirs.url("/");
        let ran = Command::new("wrk")
            .args(["-t1", "-c1", "-d1s", "-s", trial.path.to_str().unwrap(), &url, "--"])
            .args(&trial.arguments)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
        trial.requests(30).run(&ours).unwrap();
        let host = |capture: &Capture| capture.address().to_string();
        let theirs_sent: Vec<String> = theirs.requests().iter().map(|request| ordered(request).replace(&host(&theirs), "HOST")).collect();
        let ours_sent: Vec<String> = ours.requests().iter().map(|request| ordered(request).replace(&host(&ours), "HOST")).collect();
        let comparable = theirs_sent.len().min(ours_sent.len());
        assert!(comparable >= 20, "{name}: {comparable}");
        assert_eq!(theirs_sent[..comparable], ours_sent[..comparable], "{name}");
    }
}
