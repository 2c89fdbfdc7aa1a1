//! The example of a load from a program of one's own, against a real server.

use testbed::{Config, Testbed};

#[allow(dead_code)]
#[path = "../../../examples/one_load.rs"]
mod one_load;

#[test]
fn a_program_of_one_s_own_carries_a_load_out_in_a_few_lines() {
    let server = Testbed::start(Config::new()).unwrap();
    let run = one_load::load(&server.url("/healthz")).unwrap();
    assert!(run.requests.due > 0 && run.requests.succeeded == run.requests.due, "{:?}", run.requests);
    assert_eq!(run.concurrency, 10);
}
