//! The load's own shape: what the user's settings allow, before anything is said of the server.
//!
//! Whoever offers 200 requests a second over five connections of 50 ms each has offered 100, and whatever is measured then is that
//! division. The rest waits here, not there, and a cause that is looked for in the server is a pool that nobody has.
//!
//! Invariant: where answers took much longer than the quickest of them, the server may be the reason that connections were busy, and then
//! it is not said that they are the only one.

use super::scene::Scene;
use super::{Finding, Kind, Point};
use crate::quantity::{counted, decimal, figure, time};

/// Connections this busy are all busy.
const BUSY_MIN: f64 = 0.9;
/// A request that waited this share of its answer's time waited for a connection.
const WAITED_MIN: f64 = 0.5;
/// Answers that take no longer than so many times the quickest wait for nothing in the server.
const UNQUEUED_MAX: f64 = 2.5;
/// Where more fails, connections are busy with failing.
const FAILING_MAX: f64 = 0.05;
/// Twice what is needed on average leaves room for bursts.
const ROOM: f64 = 2.0;

/// Too few connections for the rate that was asked for.
pub(super) fn connections(scene: &Scene<'_>) -> Option<Finding> {
    // Of several rates, the server's end shows where the connections were not yet all busy.
    let point = scene.points.last().filter(|point| is_capped(point))?;
    let (most, service) = (point.connections_max?, point.service_s?);
    let alone = point.quickest_s.is_some_and(|quickest| service <= UNQUEUED_MAX * quickest);
    if !alone && scene.flat.is_some() {
        return None;
    }
    let needed = (point.level * service).ceil();
    let connections = counted(most as u64, "connection");
    let sentence = format!(
        "all {connections} (--connections {most}) were busy: at {} for each answer they carry {} requests a second, and {} were asked for",
        time(service * 1e9),
        figure(most / service),
        figure(point.level)
    );
    let mut evidence = vec![
        format!("{} requests were under way on average", decimal(point.in_flight, 2)),
        format!("a request waited {} for a free connection on average", time(point.wait_s * 1e9)),
    ];
    evidence
        .extend((!alone).then(|| "answers took much longer than the quickest of them, so that the server may be the reason".to_owned()));
    let finding = Finding::new(Kind::OwnLoad, if alone { 0.98 } else { 0.9 }, sentence)
        .brief(format!("The limit is the load's own: --connections {most}"))
        .evidence(evidence)
        .refuted_by(&format!("give twice as many (--connections {}): if no more is answered, it is the server", figure(most * 2.0)))
        .remedy(&format!(
            "give more connections: {} requests a second of {} each keep {} busy, so --connections {} leaves room",
            figure(point.level),
            time(service * 1e9),
            figure(needed),
            (needed * ROOM).max(most + 1.0)
        ));
    Some(finding)
}

/// Whether requests waited because all connections of an open load were busy.
fn is_capped(point: &Point) -> bool {
    let most = point.connections_max.unwrap_or(f64::INFINITY);
    let waited = point.service_s.is_some_and(|service| point.wait_s >= WAITED_MIN * service);
    point.open && point.in_flight >= BUSY_MIN * most && waited && point.timeouts.max(point.errors).max(point.refused()) <= FAILING_MAX
}
