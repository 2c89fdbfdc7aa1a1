//! The command behind `make bench`, as the Makefile calls it. That its parts work is what `make beside` shows.

use std::process::Command;

fn bench(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_loadline-bench")).args(arguments).output().expect("the command can be started");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_wrong_command_line_shows_the_usage() {
    let (code, said) = bench(&["fast"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("full LOADLINE PAGE") && said.contains("short LOADLINE"), "{said}");
}

#[test]
fn a_binary_that_is_not_there_is_named_with_a_remedy() {
    let (code, said) = bench(&["short", "/nowhere/loadline"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("/nowhere/loadline") && said.contains("make build"), "{said}");
}

#[test]
fn the_launcher_writes_down_what_its_command_used() {
    let dir = tempfile::tempdir().expect("a folder can be made");
    let usage = dir.path().join("usage");
    let core = first_core();
    let (code, said) =
        bench(&["measured", &core, usage.to_str().expect("a plain path"), "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
    assert_eq!(code, Some(0), "{said}");
    let usage: bench::Usage = serde_json::from_slice(&std::fs::read(usage).expect("the usage is there")).expect("it is read back");
    assert!(usage.cpu_us > 0 && usage.elapsed_us > 0 && usage.memory_bytes_max > 0, "{usage:?}");
    let (code, said) = bench(&["measured", &core, "/dev/null", "sh", "-c", "exit 7"]);
    assert_eq!(code, Some(1));
    assert!(said.contains('7'), "a command that failed is not measured: {said}");
}

/// A core this process may use.
fn first_core() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("Linux tells");
    list.trim().split([',', '-']).next().expect("one at least").to_owned()
}
