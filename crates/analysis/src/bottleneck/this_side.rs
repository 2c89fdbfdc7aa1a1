//! What is not the server's: loadline, and the machine that both of them need.

use super::scene::{ALONE_MIN, MACHINE_FULL_MIN, Scene, THROTTLED_MIN};
use super::{Finding, Kind, ServerFigures};
use crate::quantity::{decimal, figure};

/// Of what the server could use, what others had is a bottleneck from this share on, and worth a word from that one on.
const OTHERS_MIN: f64 = 0.3;
const OTHERS_WORTH_SAYING: f64 = 0.15;
/// A server that wants less than this of a core is not kept from it.
const WANTED_MIN: f64 = 0.5;
/// A host that gives away so much makes every time longer.
const STEAL_MIN: f64 = 0.05;
const STEAL_LARGE: f64 = 0.15;

/// loadline at its own limit, or kept from its cores by others: then the server's limit was not reached, or is not what was measured.
pub(super) fn generator(scene: &Scene<'_>) -> Option<Finding> {
    let (point, limit) = scene.loaded().find_map(|point| Some((point, point.generator_limit.as_ref()?)))?;
    // On a machine that both fill, the machine is what is short.
    let full = point.server.as_ref().and_then(ServerFigures::machine_share).is_some_and(|share| share >= MACHINE_FULL_MIN);
    // Where the server is full as well, which of the two gave way first cannot be told.
    let both = point.server.as_ref().is_some_and(|seen| {
        let thread = seen.busiest.first().is_some_and(|(_, used)| *used >= 0.9);
        thread || seen.cpu.zip(seen.capacity()).is_some_and(|(cpu, cores)| cpu >= 0.85 * cores)
    });
    let sentence = format!("loadline was held back at {} requests a second ({limit})", figure(point.answered));
    let finding = Finding::new(Kind::Generator, if full || both { 0.85 } else { 0.95 }, sentence)
        .evidence([format!("it used {} cores", decimal(point.generator_cores, 2))])
        .refuted_by("give more threads (-t), or send half of the load from a second machine: if no more is carried, this is wrong")
        .remedy("give loadline more threads or a machine of its own; until then the server's end is not known");
    Some(finding)
}

/// How many cores the server can use at most: those of its quota or machine, and no more than one for each thread that does all.
fn useful(seen: &ServerFigures, cpu: f64) -> f64 {
    let most = seen.capacity().unwrap_or(cpu);
    let first = seen.busiest.first().map_or(0.0, |(_, used)| *used);
    if first > 0.0 && first >= ALONE_MIN * cpu { most.min(cpu / first) } else { most }
}

/// Server and load, or other programs, need the same cores; or the machine's host gave them to others.
pub(super) fn shared_machine(scene: &Scene<'_>) -> Option<Finding> {
    let (point, seen, machine) = scene.most(ServerFigures::machine_share)?;
    let cores = seen.cores?;
    let cpu = seen.cpu.unwrap_or(0.0);
    let waiting = seen.waiting.unwrap_or(0.0);
    let steal = seen.steal.unwrap_or(0.0);
    if steal >= STEAL_MIN && cpu + waiting >= WANTED_MIN {
        let sentence = format!("the host of the server's machine gave {:.0} % of its time to others", steal * 100.0);
        // Where a core was free, another of its threads or none at all was what it waited for.
        let strength = match machine + steal >= MACHINE_FULL_MIN {
            true if steal >= STEAL_LARGE => 0.93,
            true => 0.6,
            false => 0.45,
        };
        let finding = Finding::new(Kind::SharedMachine, strength, sentence)
            .evidence([format!("the server used {} of {} cores", decimal(cpu, 2), figure(cores))])
            .refuted_by("measure at another hour, without steal: if it ends at the same rate, this is wrong")
            .remedy("measure on a machine whose host is not oversubscribed");
        return Some(finding);
    }
    if !seen.shares_machine || machine < MACHINE_FULL_MIN || cpu + waiting < WANTED_MIN {
        return None;
    }
    let others = point.others_share.unwrap_or(0.0) * cores;
    // Its threads were kept from cores; or loadline had so much of them that it asked for less than the server could do.
    // Whom a quota stops waits for that, ready as its threads are.
    let starved = scene.wants_cores() && seen.throttled.unwrap_or(0.0) < THROTTLED_MIN;
    if !starved && point.generator_cores < OTHERS_MIN * cores {
        return None;
    }
    // What others had is a loss only as far as the server could have used it.
    let lost = ((point.generator_cores + others) / cores).min(1.0 - cpu / useful(seen, cpu).max(cpu).max(f64::MIN_POSITIVE));
    if lost < OTHERS_WORTH_SAYING {
        return None;
    }
    let strength = match lost >= OTHERS_MIN {
        true if waiting >= 0.2 => 0.93,
        true => 0.91,
        false => 0.55,
    };
    let beside = if others > point.generator_cores { "other programs" } else { "loadline" };
    let others = if others >= 0.05 { format!(", other programs {}", decimal(others, 2)) } else { String::new() };
    let sentence =
        format!("{beside} and the server share {} cores, all of them busy, and the server had {}", figure(cores), decimal(cpu, 2));
    let finding = Finding::new(Kind::SharedMachine, strength, sentence)
        .evidence([
            format!("the server used {} cores, loadline {}{others}", decimal(cpu, 2), decimal(point.generator_cores, 2)),
            format!("{} of the server's threads were ready and got no core, on average", decimal(waiting, 1)),
        ])
        .refuted_by("run loadline on a machine of its own: if it gets no more out of the server, this is wrong")
        .remedy("run loadline on another machine, or keep them apart with taskset; what is measured here is both together");
    Some(finding)
}
