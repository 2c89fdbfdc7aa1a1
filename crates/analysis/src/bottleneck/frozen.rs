//! A server that freezes again and again: what everybody waits for then is none of what it works with.

use super::scene::{Scene, THROTTLED_MIN};
use super::{Finding, Kind, Point};
use crate::quantity::{figure, percent, time};

/// A server that is frozen for less of the time loses no throughput worth the name by that.
const LOSS_MIN: f64 = 0.05;
/// At a ladder's end something else is full, unless freezes take much of the time.
const MUCH_MIN: f64 = 0.2;

/// Freezes, and how long and how often.
pub(super) fn freezes(scene: &Scene<'_>) -> Option<Finding> {
    // A quota stops a server now and then as well; that has a name of its own.
    let is_stopped = |point: &Point| point.server.as_ref().and_then(|seen| seen.throttled).is_some_and(|share| share >= THROTTLED_MIN);
    let frozen = scene.loaded().filter(|point| !is_stopped(point)).filter_map(|point| Some((point, point.freezes?)));
    let (point, freezes) = frozen.max_by(|a, b| a.1.share.total_cmp(&b.1.share))?;
    let lasting = time(freezes.lasting_s * 1e9);
    let share = percent((freezes.share * 100.0).round());
    let often = match freezes.every_s {
        Some(every) => format!("every {}", time((every * 10.0).round() * 1e8)),
        None => format!("{} times in this run", figure(freezes.count)),
    };
    let strength = match scene.flat {
        _ if freezes.share >= MUCH_MIN => 0.95,
        None if freezes.share >= LOSS_MIN => 0.93,
        _ => 0.45,
    };
    let finding = Finding::new(
        Kind::Freezes,
        strength,
        format!("the server answers nobody for about {lasting}, {often}: {share} % of the time"),
    )
    .brief(format!("The server freezes for {lasting}, {often}"))
    .evidence([
        format!("{} freezes at {} requests a second", figure(freezes.count), figure(point.answered)),
        "all requests of such a moment wait together, and all others are quick".to_owned(),
    ])
    .refuted_by("look at the server's log and pauses (garbage collection, checkpoints, jobs) by the clock: if nothing comes that often, this is wrong")
    .remedy("find what runs that often: a garbage collector that stops everything (log its pauses), a checkpoint or flush, a scheduled job, a virtual machine that is paused");
    Some(finding)
}
