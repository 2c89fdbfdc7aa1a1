//! A server that stands still now and then, over HTTP/2: the percentiles are those over HTTP/1.1.

use std::time::Duration;

use measure::Histogram;
use tokio::time::{Instant, sleep};

use super::{Server, given, plan};
use crate::simulation::Simulation;

#[test]
fn a_stalled_server_shows_in_response_time_as_arithmetic_says() {
    // A tenth of the requests fall into a stall, spread evenly over 0 to 200 ms: p95 is its middle, p99 nine tenths of it.
    const EVERY: Duration = Duration::from_secs(2);
    const STALL: Duration = Duration::from_millis(200);
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[(3, 1_000)]).await else { return };
        let mut begin = None;
        while let Some((stream, _)) = server.request().await {
            let begin = *begin.get_or_insert_with(Instant::now);
            let into = Duration::from_nanos((begin.elapsed().as_nanos() % EVERY.as_nanos()) as u64);
            if into < STALL {
                sleep(STALL - into).await;
            }
            server.answer(stream, b"ok").await;
        }
    })
    .of_http2();
    let summary = server.run(&plan(|draft| {
        (draft.rate, draft.duration, draft.connections) = (given("1000/s"), given("20s"), given("1000"));
        (draft.http, draft.streams) = (given("2"), given("1000"));
    }));
    assert_eq!((summary.requests.succeeded, summary.connections.opened), (20_000, 1), "{:?}", summary.failures);
    let millis = |times: &Histogram, q| times.known_quantile(q).expect("enough samples").as_millis_f64();
    let [p95, p99] = [0.95, 0.99].map(|q| millis(&summary.response_time, q));
    assert!((p95 - 100.0).abs() <= 1.0 && (p99 - 180.0).abs() <= 1.0, "p95 {p95}, p99 {p99}");
}
