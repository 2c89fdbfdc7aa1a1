//! Memory and processor time under hostile answers. One test, alone in its process, because it measures the process.

use engine::protocol::http1::ResponseFraming;
use engine::protocol::http1::cases::{Case, Expected, Then, cases};
use engine::{Stop, run};
use measure::{Failure, Summary};
use plan::{Draft, Plan, Setting};
use testbed::scripted::{Action, FOREVER, Script, Scripted};

/// A setting as typed.
fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

fn load(url: String, settings: impl FnOnce(&mut Draft)) -> Summary {
    let mut draft = Draft { url: Some(url), no_preflight: true, ..Draft::default() };
    settings(&mut draft);
    let plan = Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"));
    run(&plan, &mut |_| (), &Stop::new()).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Resident memory of this process, the servers of the test included.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line").trim().trim_end_matches(" kB");
    kib.parse::<u64>().expect("a number") * 1024
}

const GROWTH_BYTES_MAX: u64 = 16 << 20;

/// Failing answers, the largest of each class first.
fn failing() -> Vec<Case> {
    let mut failing: Vec<Case> = cases()
        .into_iter()
        .filter(|case| case.framing == ResponseFraming::Other && case.then == Then::Waits && matches!(case.expected, Expected::Failed(_)))
        .collect();
    // Enough to exceed the largest limit, that of tiny chunks; the rest would only be lost in sockets.
    failing.iter_mut().for_each(|case| case.sends.truncate(104 << 10));
    failing.sort_by_key(|case| std::cmp::Reverse(case.sends.len()));
    let mut seen = Vec::new();
    failing.retain(|case| {
        let Expected::Failed(failure) = case.expected else { return false };
        let new = !seen.contains(&failure);
        seen.push(failure);
        new
    });
    failing
}

#[test]
fn neither_memory_nor_processor_time_grows_with_what_the_server_sends() {
    let script = |case: &Case| Script::new([Action::ExpectRequest, Action::Send(case.sends.clone().into())]);
    let many = |case: &Case, requests: u64| {
        let server = Scripted::start(script(case)).expect("a server");
        let summary = load(server.url("/"), |draft| {
            (draft.connections, draft.threads) = (given("20"), given("2"));
            draft.requests = given(&requests.to_string());
            draft.timeout = given("10s");
        });
        let Expected::Failed(failure) = case.expected else { unreachable!("only failing cases") };
        let failed = summary.failures.iter().find(|count| count.class == failure).map_or(0, |count| count.count);
        assert_eq!((summary.requests.due, failed), (requests, requests), "case {} ({}): {:?}", case.number, case.name, summary.failures);
        let cpu_ns = summary.generator.cpu_ns / requests;
        assert!(cpu_ns < 5_000_000, "case {} ({}): {cpu_ns} ns of processor time a request", case.number, case.name);
    };
    let failing = failing();
    assert!(failing.len() >= 12, "{}", failing.len());
    // Buffers, threads and histograms come with the first runs.
    failing.iter().for_each(|case| many(case, 40));
    let before = resident_bytes();
    let mut answers = 0;
    for case in &failing {
        let requests = if case.sends.len() > 10_000 { 300 } else { 1_500 };
        many(case, requests);
        answers += requests;
    }
    let grown = resident_bytes().saturating_sub(before);
    assert!(answers >= 10_000, "{answers}");
    assert!(grown <= GROWTH_BYTES_MAX, "{} KiB after {answers} answers", grown / 1024);

    // Ten gigabytes are counted as they come, not kept, and ended by the deadline.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n";
    let body = vec![Action::Send(vec![b'x'; 1 << 18].into())];
    let actions = [Action::ExpectRequest, Action::Send(head.into()), Action::Repeat(FOREVER, body)];
    let server = Scripted::start(Script::new(actions)).expect("a server");
    let before = resident_bytes();
    let summary = load(server.url("/"), |draft| {
        (draft.connections, draft.duration, draft.timeout) = (given("2"), given("1s"), given("1s"));
    });
    assert_eq!(summary.failures[0].class, Failure::RecvTotalTimeout, "{:?} {:?}", summary.failures, summary.bytes);
    assert_eq!(summary.failures[0].count, summary.requests.due);
    assert!(summary.bytes.received > 20_000_000, "{}", summary.bytes.received);
    // The plan's end, the timeout, and a second.
    assert!(summary.ended.drained_at <= plan::Nanos::from_millis(3_000), "{:?}", summary.ended);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown <= GROWTH_BYTES_MAX, "{} KiB after {} bytes", grown / 1024, summary.bytes.received);
}
