//! The load's own shape: what the user's settings allow, before anything is said of the server.
//!
//! Whoever offers 200 requests a second over five connections of 50 ms each has offered 100, and whatever is measured then is that
//! division. The rest waits here, not there, and a cause that is looked for in the server is a pool that nobody has.
//!
//! Invariant: where answers took much longer than the quickest of them, the server may be the reason that connections were busy, and then
//! this is a candidate and is not named.

use super::scene::Scene;
use super::{Finding, Kind};
use crate::quantity::{counted, figure, time};

/// Answers that take no longer than so many times the quickest wait for nothing in the server.
const UNQUEUED_MAX: f64 = 2.5;
/// Where more fails, connections are busy with failing.
const FAILING_MAX: f64 = 0.05;
/// Twice what is needed on average leaves room for bursts.
const ROOM: f64 = 2.0;

/// Too few connections for the rate that was asked for.
pub(super) fn connections(scene: &Scene<'_>) -> Option<Finding> {
    // Of several rates, the server's end shows where the connections were not yet all busy.
    let point = scene.points.last().filter(|point| point.timeouts.max(point.errors).max(point.refused()) <= FAILING_MAX)?;
    let limit = point.connections?;
    let (most, service) = (limit.connections, limit.service_mean.as_secs_f64());
    let alone = point.quickest_s.is_some_and(|quickest| service <= UNQUEUED_MAX * quickest);
    if !alone && scene.flat.is_some() {
        return None;
    }
    let connections = counted(most.into(), "connection");
    let sentence = format!(
        "all {connections} (--connections {most}) were busy: at {} for each answer they carry {} requests a second, and {} were asked for",
        time(service * 1e9),
        figure(limit.carries),
        figure(point.level)
    );
    let mut evidence = vec![
        format!("they were busy for {:.0} % of the time", limit.busy * 100.0),
        format!("a request waited {} for a free one on average", time(limit.wait_mean.0 as f64)),
    ];
    evidence
        .extend((!alone).then(|| "answers took much longer than the quickest of them, so that the server may be the reason".to_owned()));
    let finding = Finding::new(Kind::OwnLoad, if alone { 0.98 } else { 0.45 }, sentence)
        .brief(format!("The limit is the load's own: --connections {most}"))
        .evidence(evidence)
        .refuted_by(&format!("give twice as many (--connections {}): if no more is answered, it is the server", most.saturating_mul(2)))
        .remedy(&format!(
            "give more connections: {} requests a second of {} each keep {} busy, so --connections {} leaves room",
            figure(point.level),
            time(service * 1e9),
            figure(limit.needed),
            (limit.needed * ROOM).max(f64::from(most) + 1.0)
        ));
    Some(finding)
}
