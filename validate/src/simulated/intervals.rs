//! Do intervals that promise 95 % hold the truth 95 times in 100?
//!
//! The truth is a log-normal level that wanders from second to second, more or less like the second before, with log-normal
//! response times around it: pauses, neighbours and garbage collections make real runs of this kind.

use analysis::interval::REPLICATES;
use analysis::proportion::Share;
use analysis::simulated::{Wandering, coverage};
use anyhow::Result;
use measure::QUANTILES;
use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Band, Proof, Section, Table, percent, sum};
use crate::seeds;

/// Runs, and how often the intervals held.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Covered {
    /// What kind of run.
    pub name: String,
    /// Hits and runs, for each of [`QUANTILES`].
    pub quantiles: Vec<(u64, u64)>,
    /// The same of throughput; `None` where it does not vary.
    pub throughput: Option<(u64, u64)>,
}

/// Intervals on runs of known truth.
#[derive(Debug)]
pub struct Intervals;

const BASE: Wandering = Wandering { seconds: 60, per_second: 400, correlation: 0.0, wander: 0.1, spread: 0.5 };
/// Each with its name, and whether seconds resemble their neighbours so much that the run holds too few independent ones.
const KINDS: [(&str, bool, Wandering); 10] = [
    ("60 s, every request by itself", false, Wandering { wander: 0.0, ..BASE }),
    ("60 s, seconds differ by 10 %", false, BASE),
    ("60 s, and resemble their neighbours (ρ = 0.3)", false, Wandering { correlation: 0.3, ..BASE }),
    ("60 s, ρ = 0.5", false, Wandering { correlation: 0.5, ..BASE }),
    ("60 s, ρ = 0.7", true, Wandering { correlation: 0.7, ..BASE }),
    ("120 s, ρ = 0.7", false, Wandering { seconds: 120, per_second: 200, correlation: 0.7, ..BASE }),
    ("300 s, ρ = 0.5", false, Wandering { seconds: 300, per_second: 100, correlation: 0.5, ..BASE }),
    ("300 s, ρ = 0.7", false, Wandering { seconds: 300, per_second: 100, correlation: 0.7, ..BASE }),
    ("30 s, seconds differ by 10 %", false, Wandering { seconds: 30, per_second: 800, ..BASE }),
    ("20 s (ranks), seconds differ by 10 %", false, Wandering { seconds: 20, per_second: 1_200, ..BASE }),
];

fn share((hits, of): (u64, u64)) -> Share {
    Share { hits, of }
}

impl Experiment for Intervals {
    type Sample = Covered;
    const NAME: &'static str = "intervals";
    const TITLE: &'static str = "Intervals on simulated runs";
    const ABOUT: &'static str = "Runs are drawn whose true throughput and percentiles are known: the level of each second is drawn, more or less like that of the\nsecond before (ρ), and log-normal response times around it. Counted is how often the 95 % interval of the report holds the truth.\nA percentile counts where a run is long enough for it to be given, and only if that is so in most runs.";

    fn steps(_: &Lab) -> Vec<String> {
        KINDS.iter().map(|(name, ..)| (*name).to_owned()).collect()
    }

    fn measure(lab: &Lab, step: usize) -> Result<Covered> {
        let (name, _, of) = KINDS[step];
        let (runs, replicates) = lab.of((1_000, REPLICATES / 2), (60, 200));
        let covered = coverage(of, runs, replicates, seeds::INTERVALS + step as u64);
        let counts = |share: Share| (share.hits, share.of);
        let quantiles = covered.quantiles.iter().map(|(_, share)| if share.of * 2 > runs { counts(*share) } else { (0, 0) }).collect();
        let throughput = (of.wander > 0.0).then(|| counts(covered.throughput));
        Ok(Covered { name: name.to_owned(), quantiles, throughput })
    }

    fn tell(seen: &[Covered]) -> Section {
        let nothing = Share { hits: 0, of: 0 };
        let is_strong = |it: &Covered| KINDS.iter().any(|(name, strong, _)| *strong && *name == it.name);
        let total = |strong: bool, of: &dyn Fn(&Covered) -> Option<(u64, u64)>| {
            seen.iter().filter(|it| is_strong(it) == strong).filter_map(of).map(share).fold(nothing, sum)
        };
        let mut section = Section::default();
        for strong in [false, true] {
            let whose = if strong { ", in a minute whose seconds strongly resemble their neighbours (ρ = 0.7)" } else { "" };
            let mut claim = |what: String, share: Share| {
                if share.of > 0 {
                    section.proofs.push(Proof::of_share(format!("95 % intervals of {what} hold the truth{whose}"), Band::COVERAGE, share));
                }
            };
            claim("QPS".to_owned(), total(strong, &|it| it.throughput));
            for (nth, q) in QUANTILES.iter().enumerate() {
                claim(percentile(*q), total(strong, &|it| it.quantiles.get(nth).copied()));
            }
        }
        let given: Vec<usize> = (0..QUANTILES.len()).filter(|nth| seen.iter().any(|it| it.quantiles[*nth].1 > 0)).collect();
        let mut head = vec!["runs".to_owned(), "QPS".to_owned()];
        head.extend(given.iter().map(|nth| percentile(QUANTILES[*nth])));
        let mut table = Table { about: "How often intervals held the truth, by kind of run.".to_owned(), head, rows: Vec::new() };
        let said = |count: Option<(u64, u64)>| match count {
            Some((hits, of)) if of > 0 => percent(share((hits, of))),
            _ => "–".to_owned(),
        };
        for it in seen {
            let mut row = vec![it.name.clone(), said(it.throughput)];
            row.extend(given.iter().map(|nth| said(it.quantiles.get(*nth).copied())));
            table.rows.push(row);
        }
        section.tables.push(table);
        section
    }
}

fn percentile(q: f64) -> String {
    format!("p{}", (q * 1e6).round() / 1e4)
}
