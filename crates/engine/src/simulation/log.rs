//! A log of every request: what a load puts in it, exactly.

use std::time::Duration;

use measure::{Failure, RecordBatch, RequestLog, RequestRecord, Summary};
use plan::{Draft, Nanos, Plan};
use tokio::time::sleep;

use super::{Simulation, answer, given, plan, read_request};
use crate::net::DialFailed;
use crate::{Runner, Stop};

/// A server that takes ten milliseconds, and answers with these statuses in turn.
fn answering(statuses: &'static [u16]) -> Simulation {
    Simulation::of(move |mut stream, _| async move {
        let mut statuses = statuses.iter().cycle();
        while read_request(&mut stream).await.is_some() {
            sleep(Duration::from_millis(10)).await;
            answer(&mut stream, *statuses.next().unwrap_or(&200), "ok").await;
        }
    })
}

/// Carries a plan out; what was measured, and what is in the log.
fn logged(simulation: &Simulation, plan: &Plan) -> (Summary, Vec<RecordBatch>) {
    let (log, batches) = RequestLog::new();
    let prepared = Runner::simulated(simulation).with_log(&log).prepare(plan).unwrap();
    let summary = prepared.run(&mut |_, _| (), &Stop::new()).unwrap().close();
    log.close();
    let batches: Vec<RecordBatch> = batches.iter().collect();
    assert_eq!(batches.iter().map(|batch| batch.records.len() as u64).sum::<u64>(), log.made());
    (summary, batches)
}

fn records(batches: &[RecordBatch]) -> Vec<RequestRecord> {
    batches.iter().flat_map(|batch| batch.records.iter().copied()).collect()
}

fn closed(more: impl FnOnce(&mut Draft)) -> Plan {
    plan(|draft| {
        draft.connections = given("5");
        draft.threads = given("2");
        draft.duration = given("2500ms");
        more(draft);
    })
}

#[test]
fn every_request_that_ended_is_in_the_log_with_those_of_a_warm_up() {
    let (summary, batches) = logged(&answering(&[200, 200, 404]), &closed(|draft| draft.warmup = given("1s")));
    let records = records(&batches);
    let requests = summary.requests;
    assert!(requests.succeeded > 0 && requests.failed > 0 && summary.excluded.requests > 0);
    assert_eq!(records.len() as u64, requests.succeeded + requests.failed + summary.excluded.requests);
    let measured = records.iter().filter(|record| record.due >= Nanos::SECOND);
    let (failed, succeeded): (Vec<&RequestRecord>, Vec<&RequestRecord>) = measured.partition(|record| record.failure.is_some());
    assert_eq!((succeeded.len() as u64, failed.len() as u64), (requests.succeeded, requests.failed));
    assert!(failed.iter().all(|record| (record.result, record.failure) == (Ok(404), Some(Failure::CheckStatus))));
    assert!(records.iter().all(|record| record.elapsed == Nanos::from_millis(10) && record.first_byte == record.elapsed));
    assert_eq!(records.iter().map(|record| record.bytes_in).sum::<u64>(), summary.bytes.received);
    assert_eq!(records.iter().map(|record| u64::from(record.bytes_out)).sum::<u64>(), summary.bytes.sent);
    // Connections of closed load are opened before it begins, and each user has a Lane of its own.
    assert!(records.iter().all(|record| record.connect_us == 0));
    let mut users: Vec<u64> = Vec::new();
    for batch in &batches {
        assert_eq!(&*batch.source.names[0].name, "/");
        users.extend(batch.records.iter().map(|record| batch.source.part.share.number(record.lane.into())));
    }
    users.sort_unstable();
    users.dedup();
    assert_eq!(users, [0, 1, 2, 3, 4]);
}

#[test]
fn a_connection_that_is_opened_for_a_request_is_in_its_record() {
    let (summary, batches) = logged(&answering(&[200]), &closed(|draft| draft.no_keepalive = true));
    let records = records(&batches);
    let opened = records.iter().filter(|record| record.connect_us == 100).count();
    assert_eq!((records.len() as u64, records.iter().filter(|record| record.connect_us == 0).count()), (summary.requests.due, 5));
    assert_eq!(opened, records.len() - 5, "all but those whose connection was opened before the load");
}

#[test]
fn a_request_that_failed_says_why_and_one_that_was_never_sent_is_not_there() {
    let refusing =
        answering(&[200]).refusing(|dial| (dial % 3 == 0).then(|| DialFailed { failure: Failure::ConnectRefused, text: String::new() }));
    let (summary, batches) = logged(
        &refusing,
        &plan(|draft| {
            draft.rate = given("2000/s");
            draft.connections = given("4");
            draft.timeout = given("100ms");
            draft.duration = given("2s");
            draft.no_keepalive = true;
        }),
    );
    let records = records(&batches);
    assert!(summary.requests.unsent > 0, "{:?}", summary.requests);
    assert_eq!(records.len() as u64, summary.requests.succeeded + summary.requests.failed);
    let refused = records.iter().filter(|record| record.result == Err(Failure::ConnectRefused)).count() as u64;
    let told = summary.failures.iter().find(|failure| failure.class == Failure::ConnectRefused).map(|failure| failure.count);
    assert_eq!(Some(refused), told);
    assert!(records.iter().all(|record| (1..=4).contains(&record.in_flight)));
}
