//! Steps whose answers stream, in the simulated engine: each is listened to for its own time.

use super::*;

#[test]
fn a_step_is_listened_to_for_its_own_time_and_others_for_that_of_the_load() {
    // An event every 100 ms without an end.
    let server = Simulation::of(|mut stream: DuplexStream, _| async move {
        while read_request(&mut stream).await.is_some() {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            let mut goes_on = stream.write_all(head.as_bytes()).await.is_ok();
            while goes_on {
                tokio::time::sleep(Duration::from_millis(100)).await;
                goes_on = stream.write_all(b"data: a\n\n").await.is_ok();
            }
        }
    });
    let text = "\
load: {users: 1, requests: 4, stream: auto, stream_for: 350ms}
steps:
  - {get: /long, stream_for: 750ms, checks: [status 200, body contains data]}
  - get: /short
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (4, 0), "{:?}", summary.failures);
    let steps = &summary.scenario.as_ref().unwrap().steps;
    let events = |place: usize| steps[place].streams.as_ref().map(|row| (row.answers, row.events)).unwrap();
    assert_eq!((events(0), events(1)), ((2, 14), (2, 6)));
    let longest = |place: usize| (steps[place].response_time.max().unwrap().0 as f64 / 1e6).round();
    // Times are looked at some hundred times a second.
    assert!((750.0..=770.0).contains(&longest(0)) && (350.0..=370.0).contains(&longest(1)), "{} {}", longest(0), longest(1));
    assert!(summary.lag.max().unwrap() < Nanos::from_millis(1), "{:?}", summary.lag.max());
}
