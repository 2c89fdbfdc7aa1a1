//! Misbehaviour that has no bytes of its own: silence, closing at the wrong moment, windows that stay shut, dials that
//! fail; and the ends a run must come to all the same.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use measure::{Ending, Failure, Quirk, Summary};
use plan::{Draft, Nanos};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::sleep;

use super::told::{count, quirk};
use super::{Simulation, answer, given, plan, read_request};
use crate::Stop;
use crate::net::DialFailed;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn conserved(summary: &Summary) {
    let requests = summary.requests;
    assert_eq!(requests.due, requests.succeeded + requests.failed + requests.unsent);
    assert_eq!(summary.connections.opened, summary.connections.closed_by_us + summary.connections.closed_by_server);
}

/// Every request ends as this timeout, exactly at its limit of two seconds.
fn all_at_their_limit(summary: &Summary, failure: Failure) {
    conserved(summary);
    assert!(summary.requests.due > 0);
    assert_eq!(count(summary, failure), summary.requests.due, "{:?}", summary.failures);
    let limit = Some(Nanos::from_millis(2_000));
    assert_eq!((summary.response_time.min(), summary.response_time.max()), (limit, limit));
    assert_eq!(summary.response_time.count(), summary.requests.due);
}

fn ten_seconds(draft: &mut Draft) {
    draft.connections = given("3");
    draft.duration = given("10s");
    draft.timeout = given("2s");
}

#[test]
fn bytes_that_never_end_do_not_put_the_timeout_off() {
    let drips: [(&str, &str); 4] = [
        ("HTTP/1.1 200 OK\r\n", "A: b\r\n"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n", "x"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n"),
        ("HTTP/1.1 200 OK\r\n\r\n", "y"),
    ];
    for (begin, drip) in drips {
        let server = Simulation::of(move |mut stream: DuplexStream, _| async move {
            while read_request(&mut stream).await.is_some() {
                let _ = stream.write_all(begin.as_bytes()).await;
                while stream.write_all(drip.as_bytes()).await.is_ok() {
                    sleep(ms(90)).await;
                }
            }
        });
        let summary = server.run(&plan(ten_seconds));
        all_at_their_limit(&summary, Failure::RecvTotalTimeout);
        assert_eq!(summary.requests.due, 15);
        assert!(summary.ended.drained_at <= Nanos::from_millis(12_100), "{:?}", summary.ended);
    }
}

#[test]
fn silence_inside_trailers_is_ended_by_the_timeout() {
    let server = Simulation::of(|mut stream: DuplexStream, _| async move {
        while read_request(&mut stream).await.is_some() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\n").await;
        }
    });
    all_at_their_limit(&server.run(&plan(ten_seconds)), Failure::RecvTotalTimeout);
}

#[test]
fn a_server_that_closes_after_accepting_or_after_reading_has_not_answered() {
    for reads in [false, true] {
        for open in [false, true] {
            let server = Simulation::of(move |mut stream: DuplexStream, _| async move {
                if reads {
                    read_request(&mut stream).await;
                }
            })
            .dialling(|_| ms(1));
            let summary = server.run(&plan(|draft| {
                draft.connections = given("4");
                draft.requests = given("100");
                draft.rate = if open { given("50/s") } else { None };
            }));
            conserved(&summary);
            let unanswered = count(&summary, Failure::RecvEofBeforeResponse) + count(&summary, Failure::SendClosed);
            assert_eq!((summary.requests.due, unanswered), (100, 100), "{:?}", summary.failures);
            assert_eq!(summary.connections.opened, 100);
        }
    }
}

/// Answers and closes the moment the next request is there.
fn closing_on_reuse() -> Simulation {
    Simulation::of(|mut stream: DuplexStream, _| async move {
        if read_request(&mut stream).await.is_some() {
            answer(&mut stream, 200, "ok").await;
            let mut byte = [0];
            let _ = stream.read(&mut byte).await;
        }
    })
}

#[test]
fn a_connection_closed_as_it_is_used_again_is_told_from_one_that_never_answered() {
    for open in [false, true] {
        let summary = closing_on_reuse().run(&plan(|draft| {
            draft.connections = given("1");
            draft.requests = given("40");
            draft.rate = if open { given("50/s") } else { None };
        }));
        conserved(&summary);
        assert_eq!((summary.requests.succeeded, count(&summary, Failure::StaleReuse)), (20, 20), "open load: {open}");
        assert_eq!(summary.connections.closed_by_server, 20);
    }
}

/// Reads this much, answers 413, and then closes or reads on; tells what it read afterwards.
fn answering_early(closes: bool) -> (Simulation, Rc<RefCell<Vec<usize>>>) {
    let after = Rc::new(RefCell::new(Vec::new()));
    let seen = after.clone();
    let server = Simulation::of(move |mut stream: DuplexStream, _| {
        let after = after.clone();
        async move {
            let mut part = [0; 1000];
            if stream.read_exact(&mut part).await.is_err() {
                return;
            }
            assert!(part.starts_with(b"POST / HTTP/1.1\r\n"), "the rest of a body was sent as a request");
            sleep(ms(5)).await;
            answer(&mut stream, 413, "too large").await;
            if !closes {
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
                after.borrow_mut().push(rest.len());
            }
        }
    });
    (server, seen)
}

#[test]
fn an_answer_before_the_request_is_sent_is_taken_and_the_connection_is_not_used_again() {
    for closes in [true, false] {
        let (server, after) = answering_early(closes);
        let summary = server.run(&plan(|draft| {
            draft.connections = given("2");
            draft.requests = given("10");
            draft.data = Some("x".repeat(1_000_000));
        }));
        conserved(&summary);
        assert_eq!(summary.status.get(&413), Some(&10), "closes: {closes}: {:?}", summary.failures);
        assert_eq!(count(&summary, Failure::CheckStatus), 10);
        assert_eq!(summary.connections.opened, 10);
        assert!(summary.bytes.sent < 10 * 200_000, "sending stops at the answer: {}", summary.bytes.sent);
        if !closes {
            assert_eq!(after.borrow().len(), 10, "we hang up");
            assert!(after.borrow().iter().all(|rest| *rest < 200_000));
        }
    }
}

#[test]
fn what_nobody_asked_for_is_never_taken_for_an_answer() {
    for (closes, open) in [(true, false), (false, false), (true, true), (false, true)] {
        let server = Simulation::of(move |mut stream: DuplexStream, _| async move {
            while read_request(&mut stream).await.is_some() {
                answer(&mut stream, 200, "ok").await;
                sleep(ms(50)).await;
                answer(&mut stream, 408, "idle").await;
                if closes {
                    return;
                }
            }
        });
        let summary = server.run(&plan(|draft| {
            draft.connections = given("1");
            draft.requests = given("10");
            if open {
                draft.rate = given("5/s");
            } else {
                draft.pause = given("200ms");
            }
        }));
        conserved(&summary);
        assert_eq!((summary.requests.succeeded, summary.requests.failed), (10, 0), "closes: {closes}, open: {open}");
        // The run may be over before the last of them comes.
        assert!(quirk(&summary, Quirk::Unsolicited) >= 9, "closes: {closes}, open: {open}: {:?}", summary.quirks);
        assert_eq!(summary.connections.opened, 10);
    }
}

#[test]
fn a_server_that_half_closes_while_we_send_has_not_answered() {
    let server = Simulation::of(|mut stream: DuplexStream, _| async move {
        let mut part = [0; 1000];
        if stream.read_exact(&mut part).await.is_ok() {
            let _ = stream.shutdown().await;
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        }
    });
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1");
        draft.requests = given("3");
        draft.data = Some("x".repeat(1_000_000));
    }));
    conserved(&summary);
    assert_eq!(count(&summary, Failure::RecvEofBeforeResponse), 3, "{:?}", summary.failures);
}

#[test]
fn a_server_that_never_reads_is_a_timeout_of_sending() {
    let server = Simulation::of(|stream: DuplexStream, _| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    });
    let summary = server.run(&plan(|draft| {
        ten_seconds(draft);
        draft.data = Some("x".repeat(1_000_000));
    }));
    all_at_their_limit(&summary, Failure::SendTimeout);
    assert_eq!(summary.bytes.sent, summary.requests.due * 64 * 1024, "no more than the window takes");
}

#[test]
fn a_dial_that_does_not_end_is_ended_by_the_connect_timeout_or_the_requests_own() {
    let late = || DialFailed { failure: Failure::ConnectTimeout, text: "no connection within 1s".to_owned() };
    for open in [false, true] {
        let server = Simulation::of(|_, _| async {}).dialling(|_| ms(1000)).refusing(move |_| Some(late()));
        let summary = server.run(&plan(|draft| {
            ten_seconds(draft);
            draft.rate = if open { given("20/s") } else { None };
        }));
        conserved(&summary);
        let timeouts = count(&summary, Failure::ConnectTimeout);
        assert_eq!(timeouts + summary.requests.unsent, summary.requests.due, "{:?}", summary.failures);
        assert!(timeouts >= 15, "{timeouts}");
        assert!(summary.ended.drained_at <= Nanos::from_millis(12_100), "{:?}", summary.ended);
        if !open {
            let limit = Some(Nanos::SECOND);
            assert_eq!((summary.response_time.min(), summary.response_time.max()), (limit, limit));
        }

        let never = Simulation::of(|_, _| async {}).dialling(move |dial| if dial <= 3 && !open { ms(0) } else { ms(100_000) });
        let summary = never.run(&plan(|draft| {
            ten_seconds(draft);
            draft.rate = if open { given("20/s") } else { None };
        }));
        conserved(&summary);
        assert!(count(&summary, Failure::ConnectTimeout) >= 12, "{:?}", summary.failures);
        assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(2_000)));
        assert!(summary.ended.drained_at <= Nanos::from_millis(12_100), "{:?}", summary.ended);
    }
}

#[test]
fn a_connection_closed_after_each_answer_without_a_word_is_opened_anew() {
    let server = Simulation::of(|mut stream: DuplexStream, _| async move {
        if read_request(&mut stream).await.is_some() {
            answer(&mut stream, 200, "ok").await;
        }
    });
    let summary = server.run(&plan(|draft| {
        draft.connections = given("3");
        draft.requests = given("60");
        draft.pause = given("10ms");
    }));
    conserved(&summary);
    // The last of each user is closed with the run.
    assert_eq!((summary.requests.succeeded, summary.connections.opened, summary.connections.closed_by_server), (60, 60, 57));
}

#[test]
fn a_server_that_is_gone_is_asked_again_and_again_but_rarely() {
    let refused = || DialFailed { failure: Failure::ConnectRefused, text: "refused".to_owned() };
    // Ten connections answer for a second and die; then nobody listens.
    let server = Simulation::of(|mut stream: DuplexStream, _| async move {
        for _ in 0..100 {
            if read_request(&mut stream).await.is_none() {
                return;
            }
            sleep(ms(10)).await;
            answer(&mut stream, 200, "ok").await;
        }
    })
    .refusing(move |dial| (dial > 10).then(refused));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("10");
        draft.duration = given("1m");
    }));
    conserved(&summary);
    assert_eq!(summary.requests.succeeded, 1000);
    // At most one a second and connection once the pauses have grown, at least two in three seconds.
    let dials = server.dials() - 10;
    assert!((10 * 30..10 * 130).contains(&dials), "{dials}");
    assert_eq!(count(&summary, Failure::ConnectRefused), dials);

    // In open load every arrival asks once: no more dials than arrivals.
    let gone = Simulation::of(|_, _| async {}).refusing(move |_| Some(refused()));
    let summary = gone.run(&plan(|draft| {
        draft.connections = given("10");
        draft.duration = given("10s");
        draft.rate = given("100/s");
    }));
    conserved(&summary);
    assert_eq!((gone.dials(), count(&summary, Failure::ConnectRefused)), (1000, 1000));
}

#[test]
fn a_connection_that_changes_its_version_is_closed() {
    for (second, failure) in [("<html>", Failure::ProtoStatusLine), ("HTTP/2.0 200 OK\r\n\r\n", Failure::ProtoVersion)] {
        let server = Simulation::of(move |mut stream: DuplexStream, _| async move {
            if read_request(&mut stream).await.is_some() {
                answer(&mut stream, 200, "ok").await;
            }
            if read_request(&mut stream).await.is_some() {
                let _ = stream.write_all(second.as_bytes()).await;
            }
            assert!(read_request(&mut stream).await.is_none(), "a bad connection was used again");
        });
        let summary = server.run(&plan(|draft| {
            draft.connections = given("2");
            draft.requests = given("20");
        }));
        conserved(&summary);
        assert_eq!((summary.requests.succeeded, count(&summary, failure)), (10, 10));
    }
}

#[test]
fn interim_answers_without_end_are_cut_off_fast_or_slow() {
    for pause in [0, 100] {
        let sent = Rc::new(Cell::new(0u64));
        let all = sent.clone();
        let server = Simulation::of(move |mut stream, _| {
            let sent = all.clone();
            async move {
                while read_request(&mut stream).await.is_some() {
                    while stream.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n").await.is_ok() {
                        sent.set(sent.get() + 1);
                        if pause > 0 {
                            sleep(ms(pause)).await;
                        }
                    }
                }
            }
        });
        let summary = server.run(&plan(|draft| {
            draft.connections = given("1");
            draft.requests = given("5");
        }));
        conserved(&summary);
        assert_eq!(count(&summary, Failure::LimitInterim), 5);
        // The window may be full of them, no more.
        assert!(sent.get() <= 5 * 2 * (64 * 1024 / 28 + 2), "{}", sent.get());
    }
}

#[test]
fn a_flood_on_one_connection_does_not_starve_the_others() {
    let server = Simulation::of(|mut stream: DuplexStream, number| async move {
        while read_request(&mut stream).await.is_some() {
            if number == 0 {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000000000\r\n\r\n").await;
                // All the time, as fast as it is read, but for a grain that lets the clock move.
                let flood = vec![0; 256 * 1024];
                while stream.write_all(&flood).await.is_ok() {
                    sleep(ms(1)).await;
                }
            } else {
                sleep(ms(10)).await;
                answer(&mut stream, 200, "ok").await;
            }
        }
    });
    let summary = server.run(&plan(|draft| {
        draft.connections = given("5");
        draft.duration = given("2s");
        draft.timeout = given("1s");
    }));
    conserved(&summary);
    let flooded = count(&summary, Failure::RecvTotalTimeout);
    assert!((1..=2).contains(&flooded), "{flooded}");
    assert!(summary.requests.succeeded >= 4 * 200, "{:?}", summary.requests);
    assert!(summary.bytes.received > 200 * 1024 * 1024);
}

#[test]
fn a_counted_run_does_not_wait_for_pauses_after_its_last_request() {
    for connections in ["1", "3"] {
        let server = Simulation::of(|mut stream: DuplexStream, number| async move {
            while read_request(&mut stream).await.is_some() {
                sleep(ms(10 * (number + 1))).await;
                answer(&mut stream, 200, "ok").await;
            }
        });
        let summary = server.run(&plan(|draft| {
            draft.connections = given(connections);
            draft.requests = given("3");
            draft.pause = given("10s");
        }));
        assert_eq!(summary.requests.succeeded, 3);
        let pauses = if connections == "1" { 2 } else { 0 };
        assert!(server.took() <= ms(10_000 * pauses + 200), "{connections}: {:?}", server.took());
    }
}

#[test]
fn a_pause_ends_when_others_have_sent_the_last_request() {
    // The first user asks again after 10 ms and takes all that is left; the second would rest for an hour.
    let server = Simulation::of(|mut stream: DuplexStream, number| async move {
        while read_request(&mut stream).await.is_some() {
            sleep(ms(if number == 0 { 5 } else { 100 })).await;
            answer(&mut stream, 200, "ok").await;
        }
    });
    let summary = server.run(&plan(|draft| {
        draft.connections = given("20");
        draft.requests = given("100");
        draft.pause = given("1ms..1h");
    }));
    assert_eq!(summary.requests.succeeded, 100);
    assert!(server.took() <= Duration::from(summary.ended.drained_at) + ms(100), "{:?} but {:?}", server.took(), summary.ended);
}

#[test]
fn a_stop_before_the_start_line_is_heard_at_once() {
    for dials in [1, 64, 100] {
        let stop = Stop::new();
        let raised = stop.clone();
        let server = Simulation::of(|_, _| async {})
            .dialling(move |dial| {
                if dial == dials {
                    raised.raise();
                }
                if dial <= 64 { ms(1) } else { ms(5_000) }
            })
            .stopped_by(stop);
        let summary = server.run(&plan(|draft| {
            draft.connections = given("200");
            draft.duration = given("1m");
        }));
        assert_eq!((summary.requests.due, summary.ended.how), (0, Ending::Interrupted));
        assert!(server.took() <= ms(100), "{dials}: {:?}", server.took());
    }
}

#[test]
fn a_server_that_drops_dials_does_not_put_the_start_off_for_ever() {
    let late = || DialFailed { failure: Failure::ConnectTimeout, text: String::new() };
    let server = Simulation::of(|_, _| async {}).dialling(|_| ms(5_000)).refusing(move |_| Some(late()));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1000");
        draft.duration = given("1s");
        draft.timeout = given("1s");
    }));
    conserved(&summary);
    assert_eq!(count(&summary, Failure::ConnectTimeout), 1000);
    assert!(server.took() <= ms(5_000 + 5_000 + 2_100), "{:?}", server.took());
}

#[test]
fn a_second_stop_is_heard_by_requests_that_were_just_begun() {
    // Arrivals every 10 ms, and a stop at the very moment of one of them.
    for threads in ["1", "2"] {
        for late in 0..2 {
            let stop = Stop::new();
            let raised = stop.clone();
            let server = Simulation::of(move |mut stream, number| {
                let stop = raised.clone();
                async move {
                    let mut first = true;
                    while read_request(&mut stream).await.is_some() {
                        if number == 0 && first {
                            first = false;
                            sleep(ms(500 + late)).await;
                            stop.raise();
                            stop.raise();
                        }
                        std::future::pending::<()>().await;
                    }
                }
            })
            .stopped_by(stop);
            let summary = server.run(&plan(|draft| {
                draft.threads = given(threads);
                draft.connections = given("1000");
                draft.rate = given("1000/s");
                draft.duration = given("1m");
            }));
            conserved(&summary);
            assert!(summary.ended.drained_at <= Nanos::from_millis(600), "{:?} {:?}", summary.ended, summary.failures);
            assert_eq!(count(&summary, Failure::ClientInterrupted), summary.requests.failed);
        }
    }
}

#[test]
fn a_mistake_of_ours_in_a_lane_ends_the_run_and_does_not_hang_it() {
    for open in [false, true] {
        let server = Simulation::of(|mut stream: DuplexStream, _| async move {
            if read_request(&mut stream).await.is_some() {
                answer(&mut stream, 200, "ok").await;
            }
        })
        .dialling(|dial| {
            assert!(dial < 5, "a mistake");
            // So slow that arrivals wait in line for the one connection.
            ms(1500)
        });
        let run = catch_unwind(AssertUnwindSafe(|| {
            server.run(&plan(|draft| {
                draft.connections = given("1");
                draft.duration = given("1h");
                draft.rate = if open { given("10/s") } else { None };
            }))
        }));
        let panic = run.expect_err("a panic");
        let text = panic.downcast_ref::<String>().map_or_else(|| panic.downcast_ref::<&str>().copied().unwrap_or_default(), String::as_str);
        assert_eq!(text, "a mistake", "open load: {open}");
    }
}
