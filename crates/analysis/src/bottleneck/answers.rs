//! What the server says itself: that requests come too fast, or that it failed.

use super::scene::{FAILING_MIN, NEARLY, Scene};
use super::{Finding, Kind, Point};
use crate::quantity::{figure, percent, time};

/// Times that have grown no more than this have not grown for anybody who waits.
const SLOW_RATIO: f64 = 3.0;
/// Of the failures at the highest load, this share at the lowest has nothing to do with load.
const CONSTANT_MIN: f64 = 0.5;

/// What comes only when throughput has long stopped growing is not why.
const AFTER_THE_END: f64 = 0.45;

/// 429, or 503 with `Retry-After`: by its own words it takes no more, however idle it is.
pub(super) fn rate_limit(scene: &Scene<'_>) -> Option<Finding> {
    let (worst, share) = scene.anywhere(Point::refused)?;
    if share < FAILING_MIN {
        return None;
    }
    let status = if worst.too_many > 0.0 { "429 Too Many Requests" } else { "503 Service Unavailable with Retry-After" };
    let limited: Vec<f64> = scene.points.iter().filter(|point| point.refused() >= FAILING_MIN).map(|point| point.good).collect();
    let (least, most) = limited.iter().fold((f64::INFINITY, 0.0f64), |(least, most), good| (least.min(*good), most.max(*good)));
    let mut evidence = vec![format!("at {} requests a second it refused {} % of them with {status}", figure(worst.due), whole(share))];
    let first = scene.points.iter().find(|point| point.refused() >= FAILING_MIN)?;
    if most <= 0.0 && scene.points.iter().all(|point| point.good <= 0.0) {
        return Some(used_up(evidence, worst, status));
    }
    // Whoever refuses beyond a rate lets that rate through. Where more succeeded before, it breaks down; where more users brought
    // nothing before, something else was at its end.
    let flat_before = is_flat_before(scene, first);
    if flat_before || most < scene.top.good * NEARLY {
        evidence.push(format!(
            "then {} a second succeeded, and {} at a load of {}",
            figure(most),
            figure(scene.top.good),
            figure(scene.top.level)
        ));
        return Some(breaks_down(evidence, first, status, flat_before));
    }
    evidence.push(if limited.len() > 1 {
        format!("whatever was offered beyond that, {} to {} a second succeeded", figure(least), figure(most))
    } else {
        format!("{} a second succeeded", figure(most))
    });
    if worst.retry_after {
        evidence.push("its answers say when to come again (Retry-After)".to_owned());
    }
    let sentence = format!("it turns requests away beyond about {} a second, by {status}", figure(most));
    let finding = Finding::new(Kind::RateLimit, 0.97, sentence)
        .evidence(evidence)
        .refuted_by("the same load from another address or with another key is refused at another rate, and no limit is set on the way")
        .remedy("raise the limit (server, gateway, API key) for the test, or take it for what the server is meant to carry");
    Some(finding)
}

/// A limit that lets nothing through: an allowance that is used up, or a rate below the lowest load.
fn used_up(mut evidence: Vec<String>, worst: &Point, status: &str) -> Finding {
    evidence.push("none succeeded at any load".to_owned());
    if worst.retry_after {
        evidence.push("its answers say when to come again (Retry-After)".to_owned());
    }
    Finding::new(Kind::RateLimit, 0.97, format!("it turned every request away, by {status}"))
        .evidence(evidence)
        .refuted_by("a single request after a pause is refused as well, or one from another address or with another key succeeds")
        .remedy("wait until the allowance is there again, or raise the limit (server, gateway, API key) for the test; then begin with a lower load")
}

/// Refusals that come with less throughput than there was, or after throughput had stopped growing.
fn breaks_down(evidence: Vec<String>, first: &Point, status: &str, flat_before: bool) -> Finding {
    let sentence = format!("it turns requests away from about {} a second on, by {status}", figure(first.due));
    Finding::new(Kind::Errors, if flat_before { AFTER_THE_END } else { 0.7 }, sentence)
        .evidence(evidence)
        .refuted_by("the same load from another address or with another key is carried")
        .remedy("look at what it does beyond its limit: how many it takes at once, and how long it then refuses")
}

/// Failures that come before times grow.
pub(super) fn errors(scene: &Scene<'_>) -> Option<Finding> {
    let failing = |point: &Point| (point.errors - if point.retry_after { point.unavailable } else { 0.0 }).max(0.0);
    let (worst, share) = scene.anywhere(failing)?;
    if share < FAILING_MIN {
        return None;
    }
    let first = scene.points.iter().find(|point| failing(point) >= FAILING_MIN)?;
    let well = scene.points.iter().rev().find(|point| point.level < first.level);
    let lowest = scene.points.first()?;
    let constant = scene.points.len() > 1 && failing(lowest) >= share * CONSTANT_MIN;
    let base = scene.points.iter().filter_map(|point| point.service_s).reduce(f64::min);
    let until = |point: &&&Point| point.level <= first.level;
    let slowest = scene.points.iter().filter(until).filter_map(|point| point.service_s).reduce(f64::max);
    let slow = base.zip(slowest).filter(|_| scene.points.len() > 1).map(|(base, here)| here / base);
    let strength = match slow {
        _ if is_flat_before(scene, first) => AFTER_THE_END,
        // Whatever the load, so many fail: a fault, and no limit.
        _ if constant => 0.45,
        Some(ratio) if ratio > SLOW_RATIO => 0.7,
        Some(_) => 0.94,
        None => 0.8,
    };
    let mut evidence =
        vec![format!("at {} requests a second {} % of them failed, most often with: {}", figure(worst.due), whole(share), worst.error)];
    if let Some(well) = well {
        evidence.push(format!("up to {} a second none did, or next to none", figure(well.due)));
    }
    if let (Some(base), Some(here), Some(_)) = (base, first.service_s, slow) {
        evidence.push(format!("answers took {} where failures began, and {} at their quickest load", time(here * 1e9), time(base * 1e9)));
    }
    let sentence = match slow {
        _ if constant => format!("{} % of requests fail at every load ({})", whole(share), worst.error),
        // One load does not tell where failures begin.
        _ if scene.points.len() == 1 => {
            format!("{} % of requests failed, at {} a second ({})", whole(share), figure(first.due), worst.error)
        }
        Some(ratio) if ratio <= SLOW_RATIO => {
            format!("it fails before it slows down, from about {} requests a second on ({})", figure(first.due), worst.error)
        }
        _ => format!("it fails from about {} requests a second on ({})", figure(first.due), worst.error),
    };
    let finding = Finding::new(Kind::Errors, strength, sentence)
        .evidence(evidence)
        .refuted_by("the server's log has other reasons for these failures than load, such as a single broken route")
        .remedy(if ["status 401", "status 403"].contains(&worst.error.as_str()) {
            "look whether credentials ran out in the middle, or hold for some routes only, and whether a gateway shuts out who asks too much"
        } else {
            "look at its log at that time: a limit on connections, memory or a dependency answers quickly, and with an error"
        });
    Some(finding)
}

/// Whether throughput had stopped growing at loads below that one, so that it is not what ends there.
fn is_flat_before(scene: &Scene<'_>, first: &Point) -> bool {
    scene.flat.is_some_and(|flat| !flat.by_one_load && !first.open && flat.to < first.level)
}

fn whole(share: f64) -> String {
    percent((share * 1e3).round() / 10.0)
}
