//! The proofs of `make validate` that take the machine itself, in a short form: a starved generator, a frozen server, one that
//! never answers.
//!
//! Others use this machine too, so what is asserted has room: that a starved run knows it, that nothing is left out or
//! invented, and that response times are of the size that arithmetic says, never how many milliseconds exactly.

use std::path::Path;
use std::time::Duration;

use validate::real::{Frozen, Hung, Loadline, Serving, Starved};

fn loadline() -> Loadline {
    Loadline::new(Path::new(env!("CARGO_BIN_EXE_loadline"))).unwrap()
}

#[test]
fn a_generator_with_a_tenth_of_a_core_says_invalid_and_judges_nothing() {
    let loadline = loadline();
    let server = Serving::start(&loadline).unwrap();
    for load in [0, 1] {
        let seen = Starved::treat(&loadline, &server, load, true, 2).unwrap();
        assert!(seen.is_honest(), "{seen:?}");
    }
}

#[test]
fn a_frozen_server_shows_in_the_response_time_and_nothing_is_left_out_or_invented() {
    let seen = Frozen::freeze(&loadline(), 4, Duration::from_secs(1)).unwrap();
    let (due, recorded) = seen.requests;
    // Evenly spaced, whatever the server did.
    assert_eq!((due, recorded), (4_000, 4_000), "{seen:?}");
    let (q, response, service, arithmetic) = seen.quantiles[1];
    assert_eq!(q, 0.95);
    assert!(response > 0.5 * arithmetic && arithmetic > 500.0, "{seen:?}");
    // Four connections were slow once each: who counts from when they sent sees nothing.
    assert!(service < 0.5 * response, "{seen:?}");
    assert!(seen.max_ms >= 900.0 * seen.frozen_s, "{seen:?}");
}

#[test]
fn a_server_that_never_answers_is_all_timeouts_and_the_run_ends() {
    let loadline = loadline();
    let server = Serving::start(&loadline).unwrap();
    for load in [0, 1] {
        let seen = Hung::wait(&loadline, &server, load).unwrap();
        assert!(seen.is_complete(), "{seen:?}");
        // A busy machine is late, but does not hang.
        assert!(seen.ended_s.0 < 10.0 && seen.exit == 0, "{seen:?}");
    }
}
