//! Does the reading of a sweep find the law that made it, and does it refuse where the data do not carry one?

use analysis::curve::{Estimate, Model, Point, Reading, Refusal, read};
use analysis::proportion::Share;
use analysis::simulated::normal;
use analysis::usl::Usl;
use anyhow::Result;
use plan::Random;
use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Band, Proof, Section, Table, percent, share_of};
use crate::seeds;

/// Ladders of one kind, and how often what should be said of them was said.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CurveSeen {
    /// Which.
    pub name: String,
    /// What should be said.
    pub should: String,
    /// How often it was.
    pub right: (u64, u64),
    /// How often an interval held the truth, and of how many, by coefficient.
    pub held: Vec<(String, u64, u64)>,
}

/// Readings of simulated ladders.
#[derive(Debug)]
pub struct Curves;

const LEVELS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
const REPEATS: usize = 3;
const NOISE: f64 = 0.02;
/// 1,000/s of one user, 4 % contention, a peak near 49 users.
const RETROGRADE: Usl = Usl { lambda: 1000.0, sigma: 0.04, kappa: 0.000_4 };

struct Kind {
    name: &'static str,
    should: &'static str,
    levels: &'static [f64],
    throughput: fn(f64) -> f64,
    right: fn(&Reading) -> bool,
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "contention and coherency, peak at 49 users",
        should: "named, with its peak",
        levels: &LEVELS,
        throughput: |n| RETROGRADE.throughput(n),
        right: |it| matches!(it.model, Some(Model::Universal { peak: Some(_), .. })),
    },
    Kind {
        name: "a pool of 8 workers",
        should: "called a pool, of 7.2 to 8.8",
        levels: &LEVELS,
        throughput: |n| n.min(8.0) * 100.0,
        right: |it| matches!(it.model, Some(Model::Pool { knee, .. }) if (knee.value / 8.0 - 1.0).abs() < 0.1),
    },
    Kind {
        name: "contention only (κ = 0)",
        should: "given no peak",
        levels: &LEVELS,
        throughput: |n| Usl { kappa: 0.0, ..RETROGRADE }.throughput(n),
        right: without_peak,
    },
    Kind {
        name: "a straight line",
        should: "called a straight line",
        levels: &LEVELS,
        throughput: |n| 100.0 * n,
        right: |it| matches!(it.model, Some(Model::Linear { .. })),
    },
    Kind {
        name: "a peak near 70 users, tested up to 20",
        should: "given no peak",
        levels: &[1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0],
        throughput: |n| Usl { lambda: 1000.0, sigma: 0.02, kappa: 0.000_2 }.throughput(n),
        right: without_peak,
    },
    Kind {
        name: "five levels",
        should: "refused: too few levels",
        levels: &[1.0, 4.0, 16.0, 64.0, 128.0],
        throughput: |n| RETROGRADE.throughput(n),
        right: |it| it.model.is_none() && matches!(it.refusals[..], [Refusal::TooFewLevels { .. }]),
    },
    Kind {
        name: "neither a law nor a pool",
        should: "given no model",
        levels: &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0],
        // A cache that no longer fits halfway, and an autoscaler after it.
        throughput: |n| {
            if n < 10.0 {
                100.0 * n
            } else if n < 40.0 {
                300.0
            } else {
                60.0 * n
            }
        },
        right: |it| it.model.is_none(),
    },
];

fn without_peak(reading: &Reading) -> bool {
    !matches!(reading.model, Some(Model::Universal { peak: Some(_), .. }))
}

impl Experiment for Curves {
    type Sample = CurveSeen;
    const NAME: &'static str = "curves";
    const TITLE: &'static str = "Readings of simulated sweeps";
    const ABOUT: &'static str = "Ladders of known law, each level measured three times with 2 % of noise. The Universal Scalability Law has λ = 1,000/s, σ = 0.04,\nκ = 0.0004 and its peak at 49 users.";

    fn steps(_: &Lab) -> Vec<String> {
        KINDS.iter().map(|kind| kind.name.to_owned()).collect()
    }

    fn measure(lab: &Lab, step: usize) -> Result<CurveSeen> {
        let kind = &KINDS[step];
        let readings: Vec<Reading> = (0..lab.of(300, 6))
            .map(|nth| {
                let seed = seeds::CURVES + step as u64 * 1_000 + nth;
                read(&measured(kind, seed), seed)
            })
            .collect();
        let right = share_of(readings.iter().map(kind.right));
        let mut held: Vec<(String, u64, u64)> = Vec::new();
        if step == 0 {
            let (peak, _) = RETROGRADE.peak().unwrap_or_default();
            for (name, truth, of) in [
                ("λ", RETROGRADE.lambda, lambda as fn(&Reading) -> Option<Estimate>),
                ("σ", RETROGRADE.sigma, sigma),
                ("κ", RETROGRADE.kappa, kappa),
                ("the peak N*", peak, peak_of),
            ] {
                let share = share_of(readings.iter().filter_map(of).map(|it| it.low <= truth && truth <= it.high));
                held.push((name.to_owned(), share.hits, share.of));
            }
        }
        Ok(CurveSeen { name: kind.name.to_owned(), should: kind.should.to_owned(), right: (right.hits, right.of), held })
    }

    fn tell(seen: &[CurveSeen]) -> Section {
        let mut section = Section::default();
        let mut table = Table::new("By ladder.", &["ladder", "should be", "was"]);
        for it in seen {
            let right = Share { hits: it.right.0, of: it.right.1 };
            section.proofs.push(Proof::of_share(format!("a sweep of {}: {}", it.name, it.should), Band::at_least(0.9), right));
            table.rows.push(vec![it.name.clone(), it.should.clone(), percent(right)]);
            for (name, hits, of) in &it.held {
                let share = Share { hits: *hits, of: *of };
                section.proofs.push(Proof::of_share(format!("95 % intervals of {name} hold the truth"), Band::COVERAGE, share));
            }
        }
        section.tables.push(table);
        section
    }
}

fn measured(kind: &Kind, seed: u64) -> Vec<Point> {
    let mut random = Random::new(seed, 0);
    let levels = kind.levels.iter().flat_map(|level| std::iter::repeat_n(*level, REPEATS));
    levels
        .map(|level| {
            let throughput = (kind.throughput)(level) * (NOISE * normal(&mut random)).exp();
            Point { level, throughput, generator_limited: false }
        })
        .collect()
}

fn lambda(reading: &Reading) -> Option<Estimate> {
    match reading.model {
        Some(Model::Universal { lambda, .. }) => Some(lambda),
        _ => None,
    }
}

fn sigma(reading: &Reading) -> Option<Estimate> {
    match reading.model {
        Some(Model::Universal { sigma, .. }) => Some(sigma),
        _ => None,
    }
}

fn kappa(reading: &Reading) -> Option<Estimate> {
    match reading.model {
        Some(Model::Universal { kappa, .. }) => Some(kappa),
        _ => None,
    }
}

fn peak_of(reading: &Reading) -> Option<Estimate> {
    match reading.model {
        Some(Model::Universal { peak, .. }) => peak.map(|peak| peak.level),
        _ => None,
    }
}
