//! The examples of a load from a program of one's own, and of users of one's own, against a real server.

use testbed::{Config, Testbed};

#[allow(dead_code)]
#[path = "../../../examples/one_load.rs"]
mod one_load;

#[allow(dead_code)]
#[path = "../../../examples/own_behaviour.rs"]
mod own_behaviour;

#[test]
fn a_program_of_one_s_own_carries_a_load_out_in_a_few_lines() {
    let server = Testbed::start(Config::new()).unwrap();
    let run = one_load::load(&server.url("/healthz")).unwrap();
    assert!(run.requests.due > 0 && run.requests.succeeded == run.requests.due, "{:?}", run.requests);
    assert_eq!(run.concurrency, 10);
}

#[test]
fn users_of_one_s_own_do_what_they_are_written_to_do() {
    let server = Testbed::start(Config::new()).unwrap();
    let run = own_behaviour::load(&server.url("/"), &["/healthz", "/nowhere"]).unwrap();
    let answered = |status| run.status.get(&status).copied().unwrap_or(0_u64);
    let (found, missing) = (answered(200), answered(404));
    assert!(found > 0 && found.abs_diff(missing) <= 10, "{found} pages and {missing} that are not there, of ten users");
    // Ten users that each rest 10 ms after every request send at most a hundred each in a second.
    assert!(run.requests.due <= 1_100, "{:?}", run.requests);
}
