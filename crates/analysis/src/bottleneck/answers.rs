//! What the server says itself: that requests come too fast, or that it failed.

use super::scene::{FAILING_MIN, NEARLY, Scene};
use super::{Finding, Kind, Point};
use crate::quantity::{figure, tenths, time};

/// Times that have grown no more than this have not grown for anybody who waits.
const SLOW_RATIO: f64 = 3.0;
/// Of the failures at the highest load, this share at the lowest has nothing to do with load.
const CONSTANT_MIN: f64 = 0.5;

/// Of one load, failures of fewer are told among the failures, and not as what limits it.
const LIMITING_MIN: f64 = 0.1;

/// What comes only when throughput has long stopped growing is not why.
const AFTER_THE_END: f64 = 0.45;

/// A concurrency limit lets at least one request in, which is then at work most of the time where others are turned away.
const AT_WORK_MIN: f64 = 0.5;
/// What a limit lets through differs by no more from load to load.
const CONSTANT_RATIO: f64 = 1.3;
/// Of one load, so many turned away show that a limit decides what succeeds.
const MOST: f64 = 0.5;

/// 429, or 503: by its own words it takes no more, however idle it is. 503 without `Retry-After` may be any failure, and is this only
/// where as many succeed whatever is offered.
pub(super) fn turned_away(scene: &Scene<'_>) -> Option<Finding> {
    let by_rate = constant_rate(scene);
    let saying_no = |point: &Point| if by_rate.is_some() { point.too_many + point.unavailable } else { point.refused() };
    let (worst, share) = scene.anywhere(saying_no)?;
    if share < FAILING_MIN {
        return None;
    }
    let status = match (worst.too_many > 0.0, worst.retry_after) {
        (true, _) => "429 Too Many Requests",
        (false, true) => "503 Service Unavailable with Retry-After",
        (false, false) => "503 Service Unavailable",
    };
    let limited: Vec<f64> = scene.points.iter().filter(|point| saying_no(point) >= FAILING_MIN).map(|point| point.good).collect();
    let (least, most) = limited.iter().fold((f64::INFINITY, 0.0f64), |(least, most), good| (least.min(*good), most.max(*good)));
    let mut evidence = vec![format!("at {} requests a second it turned {} % of them away with {status}", figure(worst.due), whole(share))];
    let first = scene.points.iter().find(|point| saying_no(point) >= FAILING_MIN)?;
    if most <= 0.0 && scene.points.iter().all(|point| point.good <= 0.0) {
        return Some(used_up(evidence, worst, status));
    }
    // Whoever turns away beyond a rate lets that rate through. Where more succeeded before, it breaks down; where more users brought
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
    // 503 is said by whoever has no room, for one request more or for a request more a second: only what succeeds tells which.
    if by_rate.is_none() && worst.too_many <= 0.0 {
        return Some(overload(evidence, worst, share, status, most));
    }
    // Between two bursts of successes there is no rate.
    let sentence = match scene.is_single() && worst.steady == Some(false) {
        true => format!("it turns requests away with {status}: {} % of them", whole(share)),
        false => format!("it turns requests away beyond about {} a second, by {status}", figure(most)),
    };
    let finding = Finding::new(Kind::RateLimit, 0.97, sentence)
        .evidence(evidence)
        .refuted_by("send the same load from another address or with another key: if it is turned away at another rate, and no limit is set on the way, this is wrong")
        .remedy("raise the limit (server, gateway, API key) for the test, or take it for what the server is meant to carry");
    Some(finding)
}

/// The rate that succeeds whatever is offered, where so few requests are at work that no limit on their number is reached.
fn constant_rate(scene: &Scene<'_>) -> Option<f64> {
    let says_no = |point: &Point| point.too_many + point.unavailable;
    let limited: Vec<&Point> = scene.points.iter().copied().filter(|point| says_no(point) >= FAILING_MIN).collect();
    let most = limited.iter().map(|point| point.good).fold(0.0, f64::max);
    let (first, last) = (limited.first()?, limited.last()?);
    let few_at_work = |point: &&Point| point.succeeded_s.is_some_and(|took| point.good * took < AT_WORK_MIN);
    let alike = limited.iter().all(|point| point.good * CONSTANT_RATIO >= most) && scene.top.good <= most * CONSTANT_RATIO;
    let several = last.level > first.level;
    let shown = if several { last.due >= 1.2 * most } else { says_no(first) >= MOST && first.steady == Some(true) };
    (most > 0.0 && alike && shown && limited.iter().all(few_at_work)).then_some(most)
}

/// 503 where it cannot be told whether the rate or the number at once is limited.
fn overload(evidence: Vec<String>, worst: &Point, share: f64, status: &str, most: f64) -> Finding {
    let at_once = worst.succeeded_s.map(|took| most * took).filter(|at_once| *at_once >= 1.0);
    let at_once = at_once.map_or_else(String::new, |at_once| format!(", about {} of them at once", figure(at_once.round())));
    Finding::new(
        Kind::Overload,
        0.94,
        format!("it turns away {} % of {} requests a second with {status}; {} a second succeed{at_once}", whole(share), figure(worst.due), figure(most)),
    )
    .brief(format!("Overload protection: {} % turned away with 503", whole(share)))
    .evidence(evidence)
    .refuted_by("look at the server's settings: this shows that it protects itself, and not whether it limits the rate, the requests at once, or its own state")
    .remedy("look which limit turned requests away (worker or connection limit, queue length, circuit breaker), and whether it is set lower than the server can carry")
}

/// A limit that lets nothing through: an allowance that is used up, or a rate below the lowest load.
fn used_up(mut evidence: Vec<String>, worst: &Point, status: &str) -> Finding {
    evidence.push("none succeeded at any load".to_owned());
    if worst.retry_after {
        evidence.push("its answers say when to come again (Retry-After)".to_owned());
    }
    Finding::new(Kind::RateLimit, 0.97, format!("it turned every request away, by {status}"))
        .evidence(evidence)
        .refuted_by("send one request after a pause: if it is turned away as well, it is not the load; try another address or key, too")
        .remedy("wait until the allowance is there again, or raise the limit (server, gateway, API key) for the test; then begin with a lower load")
}

/// Refusals that come with less throughput than there was, or after throughput had stopped growing.
fn breaks_down(evidence: Vec<String>, first: &Point, status: &str, flat_before: bool) -> Finding {
    let sentence = format!("it turns requests away from about {} a second on, by {status}", figure(first.due));
    Finding::new(Kind::Overload, if flat_before { AFTER_THE_END } else { 0.7 }, sentence)
        .evidence(evidence)
        .refuted_by("send the same load from another address or with another key: if it is carried, this is wrong")
        .remedy("look at what it does beyond its limit: how many it takes at once, and how long it then refuses")
}

/// Failures that come before times grow.
pub(super) fn errors(scene: &Scene<'_>) -> Option<Finding> {
    let by_rate = constant_rate(scene).is_some();
    let failing = |point: &Point| (point.errors - if point.retry_after || by_rate { point.unavailable } else { 0.0 }).max(0.0);
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
        // What one request in a hundred meets limits nothing.
        None if share < LIMITING_MIN => 0.45,
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
        .refuted_by("look at the server's log: if these failures have other reasons than load, such as one broken route, this is wrong")
        .remedy(if ["status 401", "status 403"].contains(&worst.error.as_str()) {
            "look whether credentials ran out in the middle, or hold for some routes only, and whether a gateway shuts out who asks too much"
        } else {
            "look at its log at that time: a limit on connections, memory or a dependency answers quickly, and with an error"
        });
    Some(finding)
}

/// Whether throughput had stopped growing at loads below that one, so that it is not what ends there.
fn is_flat_before(scene: &Scene<'_>, first: &Point) -> bool {
    scene.flat.is_some_and(|flat| !first.open && flat.to < first.level)
}

/// A share in percent; of what is not quite all, not all.
fn whole(share: f64) -> String {
    if share < 1.0 && share > 0.999 {
        return "more than 99.9".to_owned();
    }
    tenths(share)
}
