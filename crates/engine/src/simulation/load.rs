//! What load does, exactly: the tests that define the product.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use measure::{Ending, Failure, Summary};
use plan::{Draft, Nanos};
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, sleep};

use super::{Simulation, answer, given, plan, read_request};
use crate::Stop;
use crate::net::DialFailed;

fn millis(time: Option<Nanos>) -> f64 {
    time.expect("a time").as_millis_f64()
}

/// A server that takes so long, and counts.
fn counting(took: Duration) -> (Simulation, Rc<Cell<u64>>) {
    let served = Rc::new(Cell::new(0));
    let count = served.clone();
    let simulation = Simulation::of(move |mut stream, _| {
        let count = count.clone();
        async move {
            while read_request(&mut stream).await.is_some() {
                count.set(count.get() + 1);
                sleep(took).await;
                answer(&mut stream, 200, "ok").await;
            }
        }
    });
    (simulation, served)
}

/// A server that stalls for `stall` at the beginning of every `every`, and answers at once otherwise.
fn stalling(every: Duration, stall: Duration) -> Simulation {
    let begin: Rc<Cell<Option<Instant>>> = Rc::default();
    Simulation::of(move |mut stream, _| {
        let begin = begin.clone();
        async move {
            while read_request(&mut stream).await.is_some() {
                let start = begin.get().unwrap_or_else(Instant::now);
                begin.set(Some(start));
                let into = Duration::from_nanos((start.elapsed().as_nanos() % every.as_nanos()) as u64);
                if into < stall {
                    sleep(stall - into).await;
                }
                answer(&mut stream, 200, "ok").await;
            }
        }
    })
}

fn conserved(summary: &Summary) {
    let requests = summary.requests;
    assert_eq!(requests.due, requests.succeeded + requests.failed + requests.unsent);
}

#[test]
fn a_stalled_server_shows_in_response_time_as_arithmetic_says() {
    // A tenth of the requests fall into a stall, spread evenly over 0 to 200 ms: p95 is its middle, p99 nine tenths of it.
    let stall = stalling(Duration::from_secs(2), Duration::from_millis(200));
    let summary = stall.run(&plan(|draft| {
        draft.rate = given("1000/s");
        draft.duration = given("20s");
        draft.connections = given("1000");
    }));
    assert_eq!(summary.requests.succeeded, 20_000);
    let p95 = millis(summary.response_time.known_quantile(0.95));
    let p99 = millis(summary.response_time.known_quantile(0.99));
    assert!((p95 - 100.0).abs() <= 1.0, "p95 {p95}");
    assert!((p99 - 180.0).abs() <= 1.0, "p99 {p99}");
    assert_eq!(millis(summary.lag.quantile(0.999)), 0.0);
}

#[test]
fn a_server_that_stalls_one_second_shows_it_in_response_time_and_not_in_service_time() {
    // Ten connections: all of them hang in the stall, and everybody else waits for one.
    let stall = stalling(Duration::from_secs(10), Duration::from_secs(1));
    let summary = stall.run(&plan(|draft| {
        draft.rate = given("1000/s");
        draft.duration = given("10s");
        draft.connections = given("10");
    }));
    assert_eq!(summary.requests.succeeded, 10_000);
    let response = millis(summary.response_time.known_quantile(0.95));
    let service = millis(summary.service_time.known_quantile(0.95));
    assert!((response - 500.0).abs() <= 5.0, "response {response}");
    assert!(service < 1.0, "service {service}");
    let wait = millis(summary.wait.known_quantile(0.95));
    // Ten of the thousand wait for the server itself, not for a connection.
    assert!((wait - 490.0).abs() <= 5.0, "wait {wait}");
    assert!(summary.connections.opened <= 10);
}

#[test]
fn closed_load_sends_when_the_last_answer_came() {
    let (server, served) = counting(Duration::from_millis(10));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("7");
        draft.duration = given("2s");
    }));
    assert_eq!(summary.requests.succeeded, 7 * 200);
    assert_eq!(served.get(), 7 * 200);
    assert_eq!((summary.qps, summary.connections.opened), (700.0, 7));
    assert_eq!(summary.in_flight_mean, 7.0, "each of the seven was always waiting for an answer");
    assert_eq!(summary.response_time, summary.service_time);
    conserved(&summary);
}

#[test]
fn users_come_and_go_by_their_stages() {
    for threads in ["1", "3"] {
        let (server, served) = counting(Duration::from_millis(10));
        let summary = server.run(&plan(|draft| {
            draft.connections = given("0 to 10 for 10s, 10 for 5s, 10 to 0 for 10s");
            draft.threads = given(threads);
        }));
        // One more comes each second, and after the hold one goes each second; each sends a hundred a second.
        let due: Vec<u64> = summary.load_ticks().map(|tick| tick.due).collect();
        let users: Vec<u64> = (1..=10).chain([10; 5]).chain((1..=10).rev()).collect();
        // Who comes exactly between two seconds may be counted in either.
        let as_meant = due.iter().zip(&users).all(|(due, users)| due.abs_diff(users * 100) <= 1);
        assert!(as_meant && due.len() == users.len(), "{threads} threads: {due:?}");
        assert_eq!((served.get(), summary.requests.succeeded), (16_000, 16_000));
        assert_eq!((summary.concurrency, summary.connections.opened, summary.connections.closed_by_us), (10, 10, 10));
        assert_eq!(summary.ended.load_until, Nanos::from_secs(25));
        conserved(&summary);
    }
}

#[test]
fn a_user_that_goes_and_comes_again_opens_a_new_connection() {
    let (server, _) = counting(Duration::from_millis(10));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("2 for 1s, 1 for 1s, 2 for 1s");
        draft.warmup = given("1s");
    }));
    let due: Vec<u64> = summary.load_ticks().filter(|tick| !tick.warmup).map(|tick| tick.due).collect();
    assert!(due.iter().zip([200, 100, 200]).all(|(due, meant)| due.abs_diff(meant) <= 1) && due.len() == 3, "{due:?}");
    assert_eq!((summary.connections.opened, summary.excluded.requests), (3, 200));
    conserved(&summary);
}

#[test]
fn a_pause_is_between_the_answer_and_the_next_request() {
    let (server, served) = counting(Duration::from_millis(10));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1");
        draft.duration = given("1s");
        draft.pause = given("90ms");
    }));
    assert_eq!((summary.requests.succeeded, served.get()), (10, 10));
    assert!((summary.in_flight_mean - 0.1).abs() < 0.002, "Little's law: {}", summary.in_flight_mean);
    assert_eq!(millis(summary.response_time.max()), 10.0);
}

#[test]
fn a_number_of_requests_is_sent_exactly_and_ends_the_run() {
    for (connections, threads, requests) in [("1", "1", 1), ("3", "2", 17), ("50", "4", 1003)] {
        let (server, served) = counting(Duration::from_millis(3));
        let summary = server.run(&plan(|draft| {
            draft.connections = given(connections);
            draft.threads = given(threads);
            draft.requests = given(&requests.to_string());
        }));
        assert_eq!((summary.requests.due, served.get()), (requests, requests));
        conserved(&summary);
    }
    let (server, served) = counting(Duration::from_millis(3));
    let summary = server.run(&plan(|draft| {
        draft.rate = given("100/s");
        draft.requests = given("42");
    }));
    assert_eq!((summary.requests.succeeded, served.get()), (42, 42));
    assert!((summary.duration_s - 0.413).abs() < 0.002, "{}", summary.duration_s);
}

#[test]
fn one_thread_or_four_give_the_same_counts() {
    let settings = |draft: &mut Draft, threads: &str, open: bool| {
        draft.threads = given(threads);
        draft.connections = given("40");
        draft.duration = given("3s");
        if open {
            draft.rate = given("0/s to 500/s for 2s, 500/s for 1s");
            draft.duration = None;
            draft.arrivals = given("poisson");
        } else {
            draft.pause = given("5ms..50ms");
        }
    };
    for open in [true, false] {
        let counts = ["1", "4"].map(|threads| {
            let (server, served) = counting(Duration::from_millis(20));
            let summary = server.run(&plan(|draft| settings(draft, threads, open)));
            conserved(&summary);
            (summary.requests, served.get(), summary.bytes, summary.status.clone())
        });
        assert_eq!(counts[0], counts[1], "open load: {open}");
    }
}

#[test]
fn watched_or_not_the_counts_are_the_same() {
    let settings = |draft: &mut Draft| {
        draft.rate = given("300/s");
        draft.duration = given("5s");
        draft.connections = given("10");
    };
    let mut ticks = Vec::new();
    let watched = counting(Duration::from_millis(20)).0.watch(&plan(settings), &mut |tick| ticks.push(tick.clone()));
    let unwatched = counting(Duration::from_millis(20)).0.run(&plan(settings));
    assert_eq!(watched, unwatched);
    assert_eq!(ticks.iter().map(|tick| tick.succeeded).sum::<u64>(), 1500);
}

#[test]
fn a_server_that_never_answers_is_all_timeouts_at_their_limit_and_the_run_ends() {
    let silent = || Simulation::of(|mut stream, _| async move { while read_request(&mut stream).await.is_some() {} });
    let closed = silent().run(&plan(|draft| {
        draft.connections = given("5");
        draft.duration = given("10s");
        draft.timeout = given("2s");
    }));
    assert_eq!(closed.requests.failed, closed.requests.due);
    assert_eq!(closed.failures[0].class, Failure::RecvIdleTimeout);
    assert_eq!(closed.response_time.count(), closed.requests.due);
    assert_eq!((millis(closed.response_time.min()), millis(closed.response_time.max())), (2000.0, 2000.0));
    assert_eq!(closed.requests.due, 5 * 5);
    assert!(closed.ended.drained_at <= Nanos::from_millis(12_100), "{:?}", closed.ended);

    let open = silent().run(&plan(|draft| {
        draft.rate = given("100/s");
        draft.connections = given("50");
        draft.duration = given("10s");
        draft.timeout = given("2s");
    }));
    assert_eq!(open.requests.due, 1000);
    assert_eq!(open.requests.failed + open.requests.unsent, 1000);
    assert_eq!(open.response_time.count(), 1000, "unsent requests are recorded at their limit too");
    assert_eq!(millis(open.response_time.quantile(0.5)), 2000.0);
    assert!(open.ended.drained_at <= Nanos::from_millis(12_100), "{:?}", open.ended);
}

#[test]
fn an_answer_after_the_limit_is_a_timeout_however_soon_after() {
    // Between two looks of the warden, which come every 50 ms here.
    for (late, succeeds) in [(Duration::from_micros(1), false), (Duration::from_millis(10), false), (Duration::ZERO, true)] {
        let took = if succeeds { Duration::from_millis(990) } else { Duration::from_secs(1) + late };
        for rate in [None, given("20/s")] {
            let (server, served) = counting(took);
            let summary = server.run(&plan(|draft| {
                draft.rate = rate;
                draft.connections = given("30");
                draft.duration = given("5s");
                draft.timeout = given("1s");
            }));
            conserved(&summary);
            assert!(served.get() > 50);
            let wanted = if succeeds { summary.requests.due } else { 0 };
            assert_eq!(summary.requests.succeeded, wanted, "{took:?}: {:?}", summary.failures);
            if !succeeds {
                assert_eq!((millis(summary.response_time.min()), millis(summary.response_time.max())), (1000.0, 1000.0));
            }
        }
    }
}

#[test]
fn an_answer_that_the_end_of_its_connection_completes_after_the_limit_is_a_timeout_too() {
    let limit = Duration::from_secs(1);
    let late = [Duration::from_micros(1), Duration::from_millis(10)].map(|late| (limit + late, false));
    for (took, succeeds) in [(limit - Duration::from_millis(10), true)].into_iter().chain(late) {
        let server = Simulation::of(move |mut stream, _| async move {
            if read_request(&mut stream).await.is_some() {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nall of it").await;
                sleep(took).await;
            }
        });
        let summary = server.run(&plan(|draft| {
            draft.connections = given("10");
            draft.requests = given("50");
            draft.timeout = given("1s");
        }));
        conserved(&summary);
        let wanted = if succeeds { 50 } else { 0 };
        assert_eq!((summary.requests.due, summary.requests.succeeded), (50, wanted), "{took:?}: {:?}", summary.failures);
    }
}

#[test]
fn warm_up_is_excluded_and_shown_as_excluded() {
    let (server, served) = counting(Duration::from_millis(10));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("4");
        draft.duration = given("2s");
        draft.warmup = given("1s");
    }));
    assert_eq!((summary.requests.succeeded, summary.excluded.requests, served.get()), (800, 400, 1200));
    assert_eq!((summary.qps, summary.duration_s, summary.excluded.duration_s), (400.0, 2.0, 1.0));
}

#[test]
fn what_was_under_way_at_either_edge_is_counted_as_far_as_it_lies_within() {
    let (server, _) = counting(Duration::from_millis(700));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("3");
        draft.duration = given("2s");
        draft.warmup = given("1s");
    }));
    assert_eq!(summary.in_flight_mean, 3.0);
    let of_warmup = summary.service_of_warmup.0;
    let within = summary.service_time.sum() - u128::from(summary.service_drained.unwrap().0) + u128::from(of_warmup);
    assert_eq!((of_warmup, within), (3 * 400_000_000, 3 * 2_000_000_000), "Little's law, to the nanosecond");
}

#[test]
fn a_refused_connection_is_tried_again_for_the_whole_run_but_not_without_rest() {
    // Nobody listens for the first second and a half of attempts.
    let (server, served) = counting(Duration::from_millis(10));
    let server = server.refusing(|dial| (dial <= 12).then(|| DialFailed { failure: Failure::ConnectRefused, text: "refused".to_owned() }));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1");
        draft.duration = given("20s");
    }));
    assert_eq!(summary.failures[0].class, Failure::ConnectRefused);
    assert_eq!(summary.failures[0].count, 11, "the first attempt was before the start line");
    assert!(served.get() > 500, "it recovered: {}", served.get());
    conserved(&summary);

    let down = counting(Duration::ZERO).0.refusing(|_| Some(DialFailed { failure: Failure::ConnectRefused, text: String::new() }));
    let summary = down.run(&plan(|draft| {
        draft.connections = given("10");
        draft.duration = given("10s");
    }));
    assert!(summary.requests.failed >= 10 * 10 && summary.requests.failed < 10 * 60, "{}", summary.requests.failed);
    assert_eq!(summary.response_time.count(), 0, "a refusal has no response time");
}

#[test]
fn a_stop_drains_what_is_in_flight_and_a_second_one_does_not_wait() {
    for (twice, most) in [(false, 3_000), (true, 600)] {
        // The stop comes from inside the server's world, half a second into the run.
        let stop = Stop::new();
        let stopped_by = stop.clone();
        let server = Simulation::of(move |mut stream, number| {
            let stop = stop.clone();
            async move {
                if number == 0 {
                    sleep(Duration::from_millis(500)).await;
                    stop.raise();
                    if twice {
                        stop.raise();
                    }
                }
                while read_request(&mut stream).await.is_some() {
                    sleep(Duration::from_secs(2)).await;
                    answer(&mut stream, 200, "late").await;
                }
            }
        })
        .stopped_by(stopped_by);
        let summary = server.run(&plan(|draft| {
            draft.connections = given("3");
            draft.duration = given("1m");
        }));
        assert_eq!(summary.ended.how, Ending::Interrupted);
        assert!(summary.ended.drained_at <= Nanos::from_millis(most), "{:?}", summary.ended);
        assert_eq!(summary.requests.due, 3);
        let expected = if twice { (0, Some(Failure::ClientInterrupted)) } else { (3, None) };
        assert_eq!((summary.requests.succeeded, summary.failures.first().map(|failure| failure.class)), expected);
        conserved(&summary);
    }
}

#[test]
fn without_keep_alive_every_request_has_its_own_connection() {
    let (server, served) = counting(Duration::from_millis(10));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("2");
        draft.requests = given("20");
        draft.no_keepalive = true;
    }));
    assert_eq!((summary.requests.succeeded, summary.connections.opened, served.get()), (20, 20, 20));
}

#[test]
fn counts_by_path_equal_what_the_server_counted_with_and_without_failures() {
    for (rate, share) in [(None, 0), (None, 7), (Some("200/s"), 0), (Some("200/s"), 7)] {
        let served: Rc<RefCell<BTreeMap<String, u64>>> = Rc::default();
        let count = served.clone();
        let turn = Rc::new(Cell::new(0u64));
        let server = Simulation::of(move |mut stream, _| {
            let (count, turn) = (count.clone(), turn.clone());
            async move {
                while let Some(request) = read_request(&mut stream).await {
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    *count.borrow_mut().entry(path).or_default() += 1;
                    turn.set(turn.get() + 1);
                    sleep(Duration::from_millis(4)).await;
                    match turn.get() % 14 {
                        k if share > 0 && k == 0 => return,
                        k if share > 0 && k == share => answer(&mut stream, 503, "busy").await,
                        _ => answer(&mut stream, 200, "ok").await,
                    }
                }
            }
        });
        let summary = server.run(&plan(|draft| {
            draft.url = Some("http://simulated.test/orders?page=2".to_owned());
            draft.connections = given("8");
            draft.duration = given("3s");
            draft.rate = rate.and_then(given);
        }));
        let expected = BTreeMap::from([("/orders?page=2".to_owned(), summary.requests.due)]);
        assert_eq!(*served.borrow(), expected, "rate {rate:?}, failing {share}");
        assert_eq!(summary.requests.failed > 0, share > 0);
        conserved(&summary);
    }
}

#[test]
fn a_server_that_closes_an_idle_connection_is_noticed_before_the_next_request() {
    let server = Simulation::of(|mut stream, _| async move {
        if read_request(&mut stream).await.is_some() {
            answer(&mut stream, 200, "ok").await;
            sleep(Duration::from_millis(50)).await;
        }
    });
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1");
        draft.requests = given("5");
        draft.pause = given("200ms");
    }));
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (5, 0));
    assert_eq!((summary.connections.closed_by_server, summary.connections.closed_by_us), (4, 1), "the last one with the run");
}

#[test]
fn the_arrival_that_finds_a_dead_connection_is_named_a_stale_reuse() {
    // Closes at the very moment at which the second request falls due.
    let server = Simulation::of(|mut stream, _| async move {
        if read_request(&mut stream).await.is_some() {
            answer(&mut stream, 200, "ok").await;
            read_request(&mut stream).await;
        }
    });
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1");
        draft.requests = given("4");
    }));
    assert_eq!(summary.failures[0].class, Failure::StaleReuse);
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (2, 2));
    assert!(summary.failures[0].example.as_ref().unwrap().text.contains("had answered 1 request,"), "{:?}", summary.failures[0].example);
}

#[test]
fn redirects_are_followed_as_one_request() {
    let hops = Rc::new(RefCell::new(Vec::new()));
    let seen = hops.clone();
    let server = Simulation::of(move |mut stream, _| {
        let seen = seen.clone();
        async move {
            while let Some(request) = read_request(&mut stream).await {
                seen.borrow_mut().push(request.lines().next().unwrap_or_default().to_owned());
                sleep(Duration::from_millis(10)).await;
                let to = match request.split(' ').nth(1).unwrap_or_default() {
                    "/" => "/b",
                    "/b" => "http://other.test/c",
                    "/loop" => "/loop",
                    _ => "",
                };
                let reply = if to.is_empty() {
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_owned()
                } else {
                    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
                };
                let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, reply.as_bytes()).await;
            }
        }
    });
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1");
        draft.requests = given("2");
        draft.follow = given("3");
        draft.also_target = vec!["http://other.test".to_owned()];
    }));
    assert_eq!((summary.requests.succeeded, summary.redirects), (2, 4));
    assert_eq!(millis(summary.response_time.min()), 30.0);
    assert_eq!(summary.connections.opened, 2, "one here, one there, both kept");
    assert_eq!(hops.borrow().len(), 6);

    // A server that nobody named is not asked.
    hops.borrow_mut().clear();
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1");
        draft.requests = given("2");
        draft.follow = given("3");
    }));
    assert_eq!(*hops.borrow(), ["GET / HTTP/1.1", "GET /b HTTP/1.1", "GET / HTTP/1.1", "GET /b HTTP/1.1"]);
    assert_eq!((summary.requests.failed, summary.redirects, summary.failures[0].class), (2, 2, Failure::RedirectOutside));
    let example = &summary.failures[0].example.as_ref().unwrap().text;
    assert_eq!(example, "--also-target http://other.test allows http://other.test/c");

    let summary = server.run(&plan(|draft| {
        draft.url = Some("http://simulated.test/loop".to_owned());
        draft.connections = given("1");
        draft.requests = given("1");
        draft.follow = given("3");
    }));
    assert_eq!(summary.failures[0].class, Failure::RedirectLimit);
}

#[test]
fn a_late_answer_after_the_end_of_the_load_is_waited_for_and_counted() {
    let (server, _) = counting(Duration::from_secs(3));
    let summary = server.run(&plan(|draft| {
        draft.connections = given("1");
        draft.duration = given("4s");
    }));
    assert_eq!((summary.requests.due, summary.requests.succeeded), (2, 2));
    assert_eq!(summary.qps, 0.25, "only the answer within the span is throughput");
    assert_eq!(millis(summary.response_time.max()), 3000.0);
}

#[test]
fn arrivals_wait_no_longer_than_their_timeout() {
    // One connection and a server that takes a second: of ten a second, nine cannot be answered in time.
    let (server, served) = counting(Duration::from_secs(1));
    let summary = server.run(&plan(|draft| {
        draft.rate = given("10/s");
        draft.duration = given("10s");
        draft.connections = given("1");
        draft.timeout = given("3s");
    }));
    assert_eq!(summary.requests.due, 100);
    assert!(summary.requests.succeeded + summary.requests.failed >= served.get());
    assert_eq!(summary.response_time.count(), 100, "whoever was not answered is recorded at the limit");
    assert_eq!(millis(summary.response_time.max()), 3000.0);
    assert!(summary.ended.drained_at <= Nanos::from_millis(13_100), "{:?}", summary.ended);
    conserved(&summary);
}

#[test]
fn arrivals_in_line_when_the_load_is_stopped_are_unsent() {
    let stop = Stop::new();
    let stopped_by = stop.clone();
    let server = Simulation::of(move |mut stream, _| {
        let stop = stop.clone();
        async move {
            let mut requests = 0;
            while read_request(&mut stream).await.is_some() {
                requests += 1;
                if requests == 3 {
                    stop.raise();
                }
                sleep(Duration::from_secs(1)).await;
                answer(&mut stream, 200, "ok").await;
            }
        }
    })
    .stopped_by(stopped_by);
    let summary = server.run(&plan(|draft| {
        draft.rate = given("10/s");
        draft.duration = given("10s");
        draft.connections = given("1");
    }));
    assert_eq!(summary.requests.succeeded, 3, "the one in flight was waited for");
    assert_eq!(summary.requests.unsent + 3, summary.requests.due);
    assert!(summary.requests.unsent >= 17, "{:?}", summary.requests);
    conserved(&summary);
}

#[test]
fn a_server_that_drops_every_request_is_not_hammered() {
    let seen = Rc::new(Cell::new(0u64));
    let count = seen.clone();
    let server = Simulation::of(move |mut stream, _| {
        let count = count.clone();
        async move {
            read_request(&mut stream).await;
            count.set(count.get() + 1);
            sleep(Duration::from_millis(1)).await;
        }
    });
    let summary = server.run(&plan(|draft| {
        draft.connections = given("10");
        draft.duration = given("10s");
    }));
    assert_eq!(summary.requests.failed, seen.get());
    assert!(seen.get() >= 10 * 10 && seen.get() < 10 * 60, "{}", seen.get());
    conserved(&summary);
}
