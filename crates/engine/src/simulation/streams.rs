//! Answers that stream, from servers whose timing is known: what they sent and when is what comes out.

use std::time::Duration;

use measure::{Histogram, Quirk, StreamRow, Summary};
use plan::{Nanos, Plan};
use tokio::io::{AsyncWriteExt as _, DuplexStream};
use tokio::time::sleep;

use super::told::quirk;
use super::{Simulation, answer, given, plan, read_request};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

async fn say(stream: &mut DuplexStream, bytes: impl AsRef<[u8]>) {
    // A client that has hung up does not want the answer.
    let _ = stream.write_all(bytes.as_ref()).await;
}

fn chunk(content: &str) -> String {
    format!("{:x}\r\n{content}\r\n", content.len())
}

/// After 100 ms the first of five events, and each next 20 ms later; then what says that it was the last.
async fn model(mut stream: DuplexStream, _: u64) {
    while read_request(&mut stream).await.is_some() {
        say(&mut stream, HEAD).await;
        for number in 0..5 {
            sleep(Duration::from_millis(if number == 0 { 100 } else { 20 })).await;
            // Cut in the middle of the event, and of what ends it: it is there when it is whole.
            say(&mut stream, chunk(&format!("data: {number}\n"))).await;
            say(&mut stream, chunk("\n")).await;
        }
        say(&mut stream, chunk("data: [DONE]\n\n") + "0\r\n\r\n").await;
    }
}

fn load(form: &str, requests: &str) -> Plan {
    plan(|draft| {
        (draft.connections, draft.requests) = (given("2"), given(requests));
        draft.stream = given(form);
    })
}

fn millis(times: &Histogram) -> (u64, Option<u64>, Option<u64>) {
    let whole = |time: Nanos| (time.0 as f64 / 1e6).round() as u64;
    (times.count(), times.min().map(whole), times.max().map(whole))
}

fn told(summary: &Summary) -> &StreamRow {
    summary.streams.as_deref().expect("events came")
}

#[test]
fn events_are_timed_as_they_come() {
    for form in ["sse", "auto"] {
        let summary = Simulation::of(model).run(&load(form, "10"));
        let row = told(&summary);
        assert_eq!((summary.requests.succeeded, row.answers, row.events), (10, 10, 50), "{form}");
        assert_eq!(millis(&row.first_event), (10, Some(100), Some(100)), "{form}");
        assert_eq!(millis(&row.between_events), (40, Some(20), Some(20)), "{form}");
        let each = row.events_per_second_each.unwrap();
        assert!((each - 50.0).abs() < 1e-6, "{each}");
        // Two users with five events each in 180 ms.
        assert!((row.events_per_second - 10.0 / 0.18).abs() < 0.01, "{}", row.events_per_second);
    }
}

#[test]
fn nothing_is_told_of_answers_that_are_not_looked_through() {
    let unasked = plan(|draft| draft.requests = given("2"));
    assert_eq!(Simulation::of(model).run(&unasked).streams, None);
    let other = |mut stream: DuplexStream, _| async move {
        while read_request(&mut stream).await.is_some() {
            answer(&mut stream, 503, "data: a\n\n").await;
        }
    };
    assert_eq!(Simulation::of(other).run(&load("sse", "2")).streams, None, "an error is no stream");
    let packed = |mut stream: DuplexStream, _| async move {
        while read_request(&mut stream).await.is_some() {
            say(&mut stream, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\n\n\n\n").await;
        }
    };
    assert_eq!(Simulation::of(packed).run(&load("lines", "2")).streams, None, "what is packed is not cut");
    let other = |mut stream: DuplexStream, _| async move {
        while read_request(&mut stream).await.is_some() {
            answer(&mut stream, 200, "data: a\n\n").await;
        }
    };
    assert_eq!(Simulation::of(other).run(&load("auto", "2")).streams, None, "no stream by its Content-Type");
}

#[test]
fn a_request_that_waits_in_line_waits_for_its_first_event() {
    // One connection takes 180 ms for each answer, and one request falls due every 90 ms.
    let plan = plan(|draft| {
        (draft.rate, draft.duration, draft.connections) = (given("11.1111111/s"), given("450ms"), given("1"));
        draft.stream = given("sse");
    });
    let summary = Simulation::of(model).run(&plan);
    let row = told(&summary);
    let waited = summary.wait.max().unwrap();
    assert!(waited > Nanos::from_millis(200), "{waited:?}");
    let longest = row.first_event.max().unwrap();
    assert!(longest.since(waited) >= Nanos::from_millis(99) && longest.since(waited) <= Nanos::from_millis(101), "{longest:?} {waited:?}");
    assert_eq!(millis(&row.between_events).2, Some(20));
}

#[test]
fn lines_without_an_end_are_events_until_the_load_is_over() {
    let ticker = |mut stream: DuplexStream, _| async move {
        if read_request(&mut stream).await.is_some() {
            say(&mut stream, "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n").await;
            while stream.write_all(b"{\"n\":1}\n").await.is_ok() {
                sleep(Duration::from_millis(250)).await;
            }
        }
    };
    let plan = plan(|draft| {
        (draft.duration, draft.timeout, draft.stream) = (given("3s"), given("5s"), given("auto"));
        draft.connections = given("1");
    });
    let summary = Simulation::of(ticker).run(&plan);
    // The request ends at its limit, as a failure; its events count all the same, as they came: 0, 250, … ms, those of the load's time.
    assert_eq!((summary.requests.due, summary.requests.failed), (1, 1));
    let row = told(&summary);
    assert_eq!(row.answers, 1);
    assert!((12..=13).contains(&row.events), "{}", row.events);
    assert_eq!(millis(&row.between_events), (19, Some(250), Some(250)));
}

/// Seconds end while an answer is read: its events are counted as they come, and hand over what was counted before them.
#[test]
fn a_second_ends_while_an_answer_is_read() {
    let ticker = |mut stream: DuplexStream, _| async move {
        while read_request(&mut stream).await.is_some() {
            say(&mut stream, HEAD).await;
            for _ in 0..500 {
                say(&mut stream, chunk("data: a\n\n")).await;
                // Time passes before anybody has read it: who looks after the seconds comes later.
                tokio::time::advance(Duration::from_millis(7)).await;
            }
            say(&mut stream, "0\r\n\r\n").await;
        }
    };
    let summary = Simulation::of(ticker).run(&load("sse", "2"));
    assert_eq!((summary.requests.succeeded, told(&summary).events), (2, 1000));
}

#[test]
fn the_last_line_needs_no_end_and_a_long_event_is_told() {
    let lines = |mut stream: DuplexStream, _| async move {
        while read_request(&mut stream).await.is_some() {
            sleep(Duration::from_millis(1)).await;
            let long = "x".repeat(1 << 20);
            let body = format!("a\n\n{long}y\nz");
            say(&mut stream, format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await;
        }
    };
    let summary = Simulation::of(lines).run(&load("lines", "2"));
    assert_eq!((told(&summary).answers, told(&summary).events), (2, 6));
    assert_eq!(quirk(&summary, Quirk::LongEvent), 2);
}

/// An event every 100 ms, whatever happens, each with its number as its id; the first after 100 ms.
async fn ticker(mut stream: DuplexStream, _: u64) {
    while read_request(&mut stream).await.is_some() {
        say(&mut stream, HEAD).await;
        for number in 1.. {
            sleep(Duration::from_millis(100)).await;
            if stream.write_all(chunk(&format!("id: {number}\ndata: {number}\n\n")).as_bytes()).await.is_err() {
                break;
            }
        }
    }
}

#[test]
fn a_stream_without_an_end_is_ended_by_us_and_is_no_failure() {
    let plan = plan(|draft| {
        (draft.connections, draft.requests, draft.timeout) = (given("2"), given("4"), given("300ms"));
        (draft.stream, draft.stream_for) = (given("sse"), given("1050ms"));
    });
    let summary = Simulation::of(ticker).run(&plan);
    // Longer than the time limit of a request, which is for the head alone; the connection ends with its stream.
    assert_eq!((summary.requests.succeeded, summary.requests.failed, summary.failures.len()), (4, 0, 0));
    assert_eq!((summary.connections.opened, summary.connections.closed_by_us, summary.connections.closed_by_server), (4, 4, 0));
    assert_eq!(millis(&summary.response_time), (4, Some(1_050), Some(1_050)));
    let row = told(&summary);
    assert_eq!((row.answers, row.events, row.reconnections), (4, 40, 0));
    assert_eq!(millis(&row.between_events), (36, Some(100), Some(100)));
}

#[test]
fn a_stream_that_does_not_begin_is_ended_by_the_time_limit_as_a_failure() {
    let plan = plan(|draft| {
        (draft.connections, draft.requests, draft.timeout) = (given("1"), given("1"), given("300ms"));
        (draft.stream, draft.stream_for) = (given("sse"), given("1s"));
    });
    let silent = |mut stream: DuplexStream, _| async move {
        let _ = read_request(&mut stream).await;
        sleep(Duration::from_secs(60)).await;
    };
    let summary = Simulation::of(silent).run(&plan);
    assert_eq!((summary.requests.failed, millis(&summary.response_time).1), (1, Some(300)));
    let plain = |mut stream: DuplexStream, _| async move {
        let _ = read_request(&mut stream).await;
        say(&mut stream, "HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nda").await;
        sleep(Duration::from_secs(60)).await;
    };
    let summary = Simulation::of(plain).run(&plan);
    assert_eq!((summary.requests.failed, millis(&summary.response_time).1), (1, Some(300)), "an error is no stream");
}

#[test]
fn a_stream_that_the_server_ends_is_asked_for_again_with_its_last_id() {
    // Three events a request, then the end; the next may come after 200 ms, and goes on behind the id.
    let server = |mut stream: DuplexStream, _| async move {
        while let Some(request) = read_request(&mut stream).await {
            let from = request.lines().find_map(|line| line.strip_prefix("Last-Event-ID: ")).map_or(0, |id| id.parse().unwrap());
            assert_eq!(request.matches("Last-Event-ID").count(), usize::from(from > 0), "{request}");
            say(&mut stream, HEAD).await;
            for number in from + 1..=from + 3 {
                sleep(Duration::from_millis(100)).await;
                say(&mut stream, chunk(&format!("retry: 200\nid: {number}\ndata: {number}\n\n"))).await;
            }
            say(&mut stream, "0\r\n\r\n").await;
        }
    };
    let plan = plan(|draft| {
        (draft.connections, draft.requests) = (given("1"), given("1"));
        (draft.stream, draft.stream_for) = (given("auto"), given("1350ms"));
    });
    let summary = Simulation::of(server).run(&plan);
    // 3 events until 300 ms, again at 500 ms, 3 until 800 ms, again at 1,000 ms, 3 until 1,300 ms; at 1,350 ms the time is over.
    let row = told(&summary);
    assert_eq!((summary.requests.due, summary.requests.succeeded), (1, 1));
    assert_eq!((row.answers, row.events, row.reconnections), (1, 9, 2));
    assert_eq!(millis(&summary.response_time), (1, Some(1_350), Some(1_350)));
    assert_eq!(millis(&row.first_event), (1, Some(100), Some(100)));
    assert_eq!(millis(&row.between_events), (8, Some(100), Some(300)), "the pause is one between events");
    assert_eq!(summary.connections.opened, 1, "the connection is used again");
}

#[test]
fn a_stream_that_says_that_it_is_over_is_not_asked_for_again() {
    let plan = plan(|draft| {
        (draft.connections, draft.requests) = (given("1"), given("2"));
        (draft.stream, draft.stream_for) = (given("sse"), given("10s"));
    });
    let summary = Simulation::of(model).run(&plan);
    assert_eq!((summary.requests.succeeded, told(&summary).events, told(&summary).reconnections), (2, 10, 0));
    assert_eq!(millis(&summary.response_time), (2, Some(180), Some(180)));
}

#[test]
fn tokens_are_counted_as_words_or_as_the_answer_says() {
    // Two words in each of four events, 20 ms apart, then how many tokens it was.
    let server = |mut stream: DuplexStream, _| async move {
        while read_request(&mut stream).await.is_some() {
            say(&mut stream, HEAD).await;
            for number in 0..4 {
                sleep(Duration::from_millis(if number == 0 { 100 } else { 20 })).await;
                say(&mut stream, chunk("data: {\"text\":\" two words\"}\n\n")).await;
            }
            say(&mut stream, chunk("data: {\"usage\":{\"completion_tokens\":13}}\n\ndata: [DONE]\n\n") + "0\r\n\r\n").await;
        }
    };
    for (tokens, each, time) in [("words", 8, 60.0 / 7.0), ("usage", 13, 5.0)] {
        let plan = plan(|draft| {
            (draft.connections, draft.requests) = (given("1"), given("3"));
            (draft.stream, draft.event_data, draft.tokens) = (given("sse"), given("$.text"), given(tokens));
        });
        let summary = Simulation::of(server).run(&plan);
        let row = told(&summary);
        let told = row.tokens.as_ref().unwrap();
        assert_eq!((row.events, told.tokens, told.time_per_token.count()), (12, 3 * each, 3), "{tokens}");
        let mean = told.time_per_token.mean().unwrap() / 1e6;
        assert!((mean / time - 1.0).abs() < 0.002, "{tokens}: {mean}");
    }
}
