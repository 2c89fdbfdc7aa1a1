//! Does a comparison of a build with itself stay silent, and does one with a slower build speak?

use analysis::compare::{Margins, Metric};
use analysis::proportion::Share;
use analysis::simulated::Pairs;
use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Band, Proof, Section, Table, percent, sum};
use crate::seeds;

/// Comparisons of a target with itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Compared {
    /// How many pairs each.
    pub pairs: usize,
    /// With margins, or without any.
    pub margins: bool,
    /// How many were called worse or better.
    pub alarms: u64,
    /// Of so many.
    pub of: u64,
}

/// Comparisons of simulated targets with themselves.
#[derive(Debug)]
pub struct FalseAlarms;

const PAIRS: [usize; 3] = [8, 10, 20];

/// The statistics alone: every certain difference counts, however small.
pub(crate) fn no_margins() -> Margins {
    Metric::ALL.into_iter().fold(Margins::default(), |margins, metric| margins.with(metric, 0.0))
}

impl Experiment for FalseAlarms {
    type Seen = Vec<Compared>;
    const NAME: &'static str = "false-alarms";
    const TITLE: &'static str = "Simulated comparisons of a target with itself";
    const ABOUT: &'static str = "Pairs of runs are drawn that differ by 2 % from run to run for each metric, on a machine that gets 5 % slower from pair to pair.\nA false alarm is the verdict *worse* or *better* on the whole.";

    fn steps(_: &Lab) -> Vec<String> {
        vec!["comparisons".to_owned()]
    }

    fn measure(lab: &Lab, _: usize) -> Result<Self::Seen> {
        let of = lab.of(2_000, 200);
        let compared = |pairs: usize, margins: bool| {
            let shape = Pairs { count: pairs, noise: 0.02, drift: 0.05 };
            let chosen = if margins { Margins::default() } else { no_margins() };
            let alarms = shape.false_alarms(of, &chosen, seeds::FALSE_ALARMS + pairs as u64).hits;
            Compared { pairs, margins, alarms, of }
        };
        Ok(PAIRS.into_iter().flat_map(|pairs| [compared(pairs, true), compared(pairs, false)]).collect())
    }

    fn tell(seen: &[Self::Seen]) -> Section {
        let mut section = Section::default();
        let mut table = Table::new("By number of pairs.", &["pairs", "usual margins", "no margin at all"]);
        for margins in [true, false] {
            let all = seen.iter().flatten().filter(|it| it.margins == margins).map(share).fold(Share { hits: 0, of: 0 }, sum);
            let with = if margins { "with the usual margins" } else { "without any margin" };
            section.proofs.push(Proof::of_share(
                format!("a simulated target compared with itself is called worse or better, {with}"),
                Band::at_most(0.05),
                all,
            ));
        }
        for pairs in PAIRS {
            let mut row = vec![pairs.to_string()];
            row.extend([true, false].map(|margins| {
                let found = seen.iter().flatten().find(|it| it.pairs == pairs && it.margins == margins);
                found.map_or_else(String::new, |it| percent(share(it)))
            }));
            table.rows.push(row);
        }
        section.tables.push(table);
        section
    }
}

fn share(compared: &Compared) -> Share {
    Share { hits: compared.alarms, of: compared.of }
}

/// How often a change was seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seen {
    /// Of which metric.
    pub metric: String,
    /// By how much it was changed.
    pub change: f64,
    /// What runs of one build differ by.
    pub noise: f64,
    /// With margins, or without any.
    pub margins: bool,
    /// How many comparisons called that metric, and the whole, worse.
    pub hits: u64,
    /// Of so many.
    pub of: u64,
}

/// Comparisons of simulated targets of which one is slower.
#[derive(Debug)]
pub struct Power;

const CHANGES: [f64; 3] = [0.02, 0.05, 0.10];
const NOISES: [f64; 3] = [0.01, 0.02, 0.05];
const METRICS: [Metric; 2] = [Metric::P50, Metric::P99];

/// What is promised of ten pairs of a target whose runs differ by 1 %: metric, change, whether beyond a margin.
const PROMISED: [(Metric, f64, bool); 5] = [
    (Metric::P50, 0.02, false),
    (Metric::P50, 0.05, true),
    (Metric::P50, 0.10, true),
    (Metric::P99, 0.05, false),
    (Metric::P99, 0.10, true),
];

impl Experiment for Power {
    type Seen = Vec<Seen>;
    const NAME: &'static str = "power";
    const TITLE: &'static str = "Simulated comparisons with a slower target";
    const ABOUT: &'static str = "Ten pairs, one metric of B changed, the others not. Counted is how often that metric, and B on the whole, is called *worse*.\nBeyond a margin of 2 % nothing of 2 % can be seen for sure, by definition: what is promised of small changes is promised without a\nmargin (`--margin 0%`).";

    fn steps(_: &Lab) -> Vec<String> {
        vec!["comparisons".to_owned()]
    }

    fn measure(lab: &Lab, _: usize) -> Result<Self::Seen> {
        let of = lab.of(1_000, 100);
        let mut seen = Vec::new();
        for metric in METRICS {
            for (nth, change) in CHANGES.into_iter().enumerate() {
                for noise in NOISES {
                    for margins in [true, false] {
                        let chosen = if margins { Margins::default() } else { no_margins() };
                        let pairs = Pairs { count: 10, noise, drift: 0.0 };
                        let hits = pairs.power(metric, change, of, &chosen, seeds::POWER + nth as u64).hits;
                        seen.push(Seen { metric: metric.to_string(), change, noise, margins, hits, of });
                    }
                }
            }
        }
        Ok(seen)
    }

    fn tell(seen: &[Self::Seen]) -> Section {
        let mut section = Section::default();
        let find = |metric: Metric, change: f64, noise: f64, margins: bool| {
            let fits = |it: &&Seen| it.metric == metric.to_string() && it.change == change && it.noise == noise && it.margins == margins;
            seen.iter().flatten().find(fits).map(|it| Share { hits: it.hits, of: it.of })
        };
        for (metric, change, margins) in PROMISED {
            let Some(share) = find(metric, change, 0.01, margins) else { continue };
            let beyond =
                if margins { format!(", beyond a margin of {:.0} %", metric.margin() * 100.0) } else { ", without a margin".to_owned() };
            let claim = format!("ten pairs whose runs differ by 1 % show {metric} +{:.0} %{beyond}", change * 100.0);
            section.proofs.push(Proof::of_share(claim, Band::at_least(0.8), share));
        }
        for margins in [true, false] {
            let about = if margins { "With the usual margins." } else { "Without any margin." };
            let head = ["change", "runs differ by 1 %", "2 %", "5 %"];
            let mut table = Table::new(about, &head);
            for metric in METRICS {
                for change in CHANGES {
                    let mut row = vec![format!("{metric} +{:.0} %", change * 100.0)];
                    row.extend(NOISES.map(|noise| find(metric, change, noise, margins).map_or_else(String::new, percent)));
                    table.rows.push(row);
                }
            }
            section.tables.push(table);
        }
        section
    }
}
