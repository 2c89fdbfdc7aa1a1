//! Prints, as Markdown, how the statistics do where the truth is known: coverage, false alarms, power. Run it in release.

use analysis::compare::{Margins, Metric};
use analysis::interval::REPLICATES;
use analysis::proportion::Share;
use analysis::simulated::{Pairs, Wandering, coverage};

const RUNS: u64 = 1_000;
const COMPARISONS: u64 = 2_000;
const SEED: u64 = 1;

fn main() {
    println!("| {RUNS} simulated runs each | median | p99 | throughput |\n|---|---|---|---|");
    let base = Wandering { seconds: 60, per_second: 200, correlation: 0.0, wander: 0.1, spread: 0.5 };
    for (name, of) in [
        ("60 s, every request by itself", Wandering { wander: 0.0, ..base }),
        ("60 s, seconds differ by 10 %", base),
        ("60 s, and resemble their neighbours (ρ = 0.5)", Wandering { correlation: 0.5, ..base }),
        ("60 s, ρ = 0.7", Wandering { correlation: 0.7, ..base }),
        ("300 s, ρ = 0.5", Wandering { seconds: 300, per_second: 60, correlation: 0.5, ..base }),
        ("300 s, ρ = 0.7", Wandering { seconds: 300, per_second: 60, correlation: 0.7, ..base }),
        ("30 s, seconds differ by 10 %", Wandering { seconds: 30, ..base }),
        ("20 s (ranks), seconds differ by 10 %", Wandering { seconds: 20, per_second: 1_000, ..base }),
    ] {
        let covered = coverage(of, RUNS, REPLICATES / 4, SEED);
        println!("| {name} | {} | {} | {} |", percent(covered.median), percent(covered.p99), percent(covered.throughput));
    }

    println!("\n| {COMPARISONS} comparisons of a target with itself | false alarms |\n|---|---|");
    let none = Metric::ALL.into_iter().fold(Margins::default(), |margins, metric| margins.with(metric, 0.0));
    for count in [8, 10, 20] {
        let pairs = Pairs { count, noise: 0.02, drift: 0.05 };
        println!("| {count} pairs, no margin at all | {} |", percent(pairs.false_alarms(COMPARISONS, &none, SEED)));
        println!("| {count} pairs, usual margins | {} |", percent(pairs.false_alarms(COMPARISONS, &Margins::default(), SEED)));
    }

    println!("\n| change, ten pairs | run-to-run 1 % | 2 % | 5 % |\n|---|---|---|---|");
    for metric in [Metric::P50, Metric::P99] {
        for change in [0.02, 0.05, 0.10] {
            let seen = [0.01, 0.02, 0.05].map(|noise| {
                let share = Pairs { count: 10, noise, drift: 0.0 }.power(metric, change, COMPARISONS, &Margins::default(), SEED);
                percent(share)
            });
            println!("| {metric} +{:.0} % (margin {:.0} %) | {} |", change * 100.0, metric.margin() * 100.0, seen.join(" | "));
        }
    }
}

fn percent(share: Share) -> String {
    let interval = share.interval(0.95);
    format!("{:.1} % ({:.1}–{:.1})", share.value() * 100.0, interval.low * 100.0, interval.high * 100.0)
}
