//! Does a comparison of a build with itself stay silent, does one with a slower build speak, and do its intervals hold the truth?
//!
//! Few pairs are judged by Student's t and many by ranks, so both are asked for, and so is what is measured unasked: a number of
//! pairs that follows from the noise of the first ones. Runs vary by the normal distribution, or one in ten of them is
//! disturbed by a neighbour and varies ten times as much.

use analysis::compare::{Margins, Metric};
use analysis::proportion::Share;
use analysis::simulated::Pairs;
use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Band, Proof, Section, Table, percent, sum};
use crate::seeds;

/// What a step showed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// A target against itself.
    Alarms(Vec<Alarms>),
    /// A target against a slower one.
    Power(Vec<Power>),
    /// Where the true change lay.
    Intervals(Vec<ChangesHeld>),
}

/// Comparisons of a target with itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Alarms {
    /// How many pairs each; `None` for as many as the first ask for.
    pub pairs: Option<usize>,
    /// The share of runs that were disturbed.
    pub disturbed: f64,
    /// With margins, or without any.
    pub margins: bool,
    /// How many called any figure worse or better.
    pub alarms: u64,
    /// Of so many.
    pub of: u64,
}

/// How often a change was seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Power {
    /// How many pairs each; `None` for as many as the first ask for.
    pub pairs: Option<usize>,
    /// How many that were on average.
    pub pairs_mean: f64,
    /// Of which metric.
    pub metric: Metric,
    /// By how much it was changed.
    pub change: f64,
    /// What pairs of one build differ by.
    pub noise: f64,
    /// The share of runs that were disturbed.
    pub disturbed: f64,
    /// With margins, or without any.
    pub margins: bool,
    /// How many comparisons called that metric, and the whole, worse.
    pub hits: u64,
    /// Of so many.
    pub of: u64,
}

/// How often intervals of a change held the truth.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChangesHeld {
    /// How many pairs each; `None` for as many as the first ask for.
    pub pairs: Option<usize>,
    /// The share of runs that were disturbed.
    pub disturbed: f64,
    /// What pairs of one build differ by.
    pub noise: f64,
    /// How many held it.
    pub hits: u64,
    /// Of so many.
    pub of: u64,
}

/// Comparisons of simulated targets with themselves, and with slower ones.
#[derive(Debug)]
pub struct Comparisons;

const PAIRS: [Option<usize>; 6] = [Some(5), Some(6), Some(8), Some(10), Some(20), None];
const NOISES: [f64; 3] = [0.01, 0.02, 0.05];
/// Of the share of runs that a neighbour disturbs.
const DISTURBED: [f64; 2] = [0.0, 0.1];
/// Where the machine gets slower from pair to pair, by so much.
const DRIFT: f64 = 0.05;

/// What is promised: pairs, metric, change, noise, whether beyond a margin.
const PROMISED: [(Option<usize>, Metric, f64, f64, bool); 7] = [
    (Some(5), Metric::P50, 0.05, 0.01, true),
    (Some(5), Metric::Goodput, -0.05, 0.01, true),
    (Some(5), Metric::P99, 0.05, 0.01, false),
    (None, Metric::P50, 0.05, 0.01, true),
    (None, Metric::P50, 0.05, 0.02, true),
    (Some(10), Metric::P50, 0.02, 0.01, false),
    (Some(10), Metric::P99, 0.10, 0.01, true),
];
const SHOWN: [(Metric, f64); 4] = [(Metric::P50, 0.03), (Metric::P50, 0.05), (Metric::P50, 0.10), (Metric::P99, 0.10)];

/// The statistics alone: every certain difference counts, however small.
pub(crate) fn no_margins() -> Margins {
    Metric::ALL.into_iter().fold(Margins::default(), |margins, metric| margins.with(metric, 0.0))
}

fn chosen(margins: bool) -> Margins {
    if margins { Margins::default() } else { no_margins() }
}

fn shape(pairs: Option<usize>, noise: f64, disturbed: f64) -> Pairs {
    Pairs { count: pairs, noise, drift: 0.0, disturbed }
}

impl Experiment for Comparisons {
    type Sample = Compared;
    const NAME: &'static str = "comparisons";
    const TITLE: &'static str = "Simulated comparisons";
    const ABOUT: &'static str = "Pairs of runs are drawn whose figures vary by themselves, which is the worst case: in a run they vary together. A percentage of noise is\nthe deviation of a figure's change from pair to pair. *Disturbed* means that one run in ten varies ten times as much. Where no number of\npairs is given, it follows from the noise of the first five, as `loadline compare` does without `--pairs`. A false alarm is the\nverdict *worse* or *better* on any figure of two targets that are one, on a machine that gets 5 % slower from pair to pair. Beyond\na margin of 2 % nothing of 2 % can be seen for sure, by definition: what is promised of small changes is promised without a margin\n(`--margin 0%`).";

    fn steps(_: &Lab) -> Vec<String> {
        ["false alarms", "slower targets", "intervals"].map(str::to_owned).to_vec()
    }

    fn measure(lab: &Lab, step: usize) -> Result<Compared> {
        Ok(match step {
            0 => Compared::Alarms(alarms(lab.of(2_000, 100))),
            1 => Compared::Power(power(lab.of(1_000, 40))),
            _ => Compared::Intervals(intervals(lab.of(1_000, 40))),
        })
    }

    fn tell(seen: &[Compared]) -> Section {
        let mut section = Section::default();
        for step in seen {
            match step {
                Compared::Alarms(seen) => tell_alarms(seen, &mut section),
                Compared::Power(seen) => tell_power(seen, &mut section),
                Compared::Intervals(seen) => tell_intervals(seen, &mut section),
            }
        }
        section
    }
}

fn alarms(of: u64) -> Vec<Alarms> {
    let mut seen = Vec::new();
    for pairs in PAIRS {
        for disturbed in DISTURBED {
            for margins in [true, false] {
                let shape = Pairs { drift: DRIFT, ..shape(pairs, 0.02, disturbed) };
                let seed = seeds::FALSE_ALARMS + pairs.unwrap_or(0) as u64;
                seen.push(Alarms { pairs, disturbed, margins, alarms: shape.false_alarms(of, &chosen(margins), seed).hits, of });
            }
        }
    }
    seen
}

fn power(of: u64) -> Vec<Power> {
    let promised = PROMISED.map(|(pairs, metric, change, noise, margins)| (pairs, metric, change, noise, 0.0, margins));
    let mut asked = promised.to_vec();
    for pairs in PAIRS {
        for (metric, change) in SHOWN {
            asked.extend(NOISES.map(|noise| (pairs, metric, change, noise, 0.0, true)));
            asked.push((pairs, metric, change, NOISES[0], DISTURBED[1], true));
        }
    }
    let mut seen: Vec<Power> = Vec::new();
    for (pairs, metric, change, noise, disturbed, margins) in asked {
        let shape = shape(pairs, noise, disturbed);
        let same = |it: &Power| {
            (it.pairs, it.metric, it.margins) == (pairs, metric, margins)
                && [it.change, it.noise, it.disturbed] == [change, noise, disturbed]
        };
        if !seen.iter().any(same) {
            let hits = shape.power(metric, change, of, &chosen(margins), seeds::POWER).hits;
            let pairs_mean = shape.mean_count(of, seeds::POWER);
            seen.push(Power { pairs, pairs_mean, metric, change, noise, disturbed, margins, hits, of });
        }
    }
    seen
}

fn intervals(of: u64) -> Vec<ChangesHeld> {
    let mut seen = Vec::new();
    for pairs in PAIRS {
        for disturbed in DISTURBED {
            for noise in NOISES {
                let share = shape(pairs, noise, disturbed).coverage(of, seeds::CHANGES + pairs.unwrap_or(0) as u64);
                seen.push(ChangesHeld { pairs, disturbed, noise, hits: share.hits, of: share.of });
            }
        }
    }
    seen
}

fn total(shares: impl Iterator<Item = Share>) -> Share {
    shares.fold(Share { hits: 0, of: 0 }, sum)
}

fn pairs_named(pairs: Option<usize>) -> String {
    pairs.map_or_else(|| "by noise".to_owned(), |pairs| pairs.to_string())
}

fn tell_alarms(seen: &[Alarms], section: &mut Section) {
    let share = |it: &Alarms| Share { hits: it.alarms, of: it.of };
    for (margins, with) in [(true, "with the usual margins"), (false, "without any margin")] {
        for (by_noise, number) in [(false, "with 5 to 20 pairs"), (true, "with as many pairs as the noise asks for")] {
            let fits = |it: &&Alarms| it.margins == margins && it.pairs.is_none() == by_noise;
            section.proofs.push(Proof::of_share(
                format!("any figure of a simulated target compared with itself is called worse or better, {with}, {number}"),
                Band::at_most(0.05),
                total(seen.iter().filter(fits).map(share)),
            ));
        }
    }
    let head = ["pairs", "usual margins", "no margin at all", "usual margins, disturbed", "no margin, disturbed"];
    let mut table = Table::new("False alarms by number of pairs, where they vary by 2 %.", &head);
    for pairs in PAIRS {
        let mut row = vec![pairs_named(pairs)];
        for disturbed in DISTURBED {
            row.extend([true, false].map(|margins| {
                let found = seen.iter().find(|it| it.pairs == pairs && it.margins == margins && it.disturbed == disturbed);
                found.map_or_else(String::new, |it| percent(share(it)))
            }));
        }
        table.rows.push(row);
    }
    section.tables.push(table);
}

fn tell_power(seen: &[Power], section: &mut Section) {
    let find = |pairs: Option<usize>, metric: Metric, change: f64, noise: f64, disturbed: f64, margins: bool| {
        seen.iter().find(|it| {
            (it.pairs, it.metric, it.margins) == (pairs, metric, margins)
                && [it.change, it.noise, it.disturbed] == [change, noise, disturbed]
        })
    };
    let share = |it: &Power| Share { hits: it.hits, of: it.of };
    for (pairs, metric, change, noise, margins) in PROMISED {
        let Some(it) = find(pairs, metric, change, noise, 0.0, margins) else { continue };
        let beyond =
            if margins { format!(", beyond a margin of {:.0} %", metric.margin() * 100.0) } else { ", without a margin".to_owned() };
        let number = match pairs {
            Some(pairs) => format!("{pairs} pairs"),
            None => format!("as many pairs as the noise asks for ({:.1} on average)", it.pairs_mean),
        };
        let claim = format!("{number} that vary by {:.0} % show {metric} {:+.0} %{beyond}", noise * 100.0, change * 100.0);
        section.proofs.push(Proof::of_share(claim, Band::at_least(0.95), share(it)));
    }
    for (metric, change) in SHOWN {
        let about = format!(
            "How often {metric} {:+.0} % is seen beyond the margin of {:.0} %, by number of pairs.",
            change * 100.0,
            metric.margin() * 100.0
        );
        let mut table = Table::new(about, &["pairs", "they vary by 1 %", "2 %", "5 %", "1 %, disturbed"]);
        for pairs in PAIRS {
            let mut row = vec![pairs_named(pairs)];
            let all = NOISES.map(|noise| (noise, DISTURBED[0])).into_iter().chain([(NOISES[0], DISTURBED[1])]);
            row.extend(all.map(|(noise, disturbed)| {
                let mean = |it: &Power| if pairs.is_none() { format!("; {:.1} pairs", it.pairs_mean) } else { String::new() };
                find(pairs, metric, change, noise, disturbed, true).map_or_else(String::new, |it| percent(share(it)) + &mean(it))
            }));
            table.rows.push(row);
        }
        section.tables.push(table);
    }
}

fn tell_intervals(seen: &[ChangesHeld], section: &mut Section) {
    let share = |it: &ChangesHeld| Share { hits: it.hits, of: it.of };
    for (disturbed, how) in DISTURBED.into_iter().zip(["", ", where one run in ten is disturbed"]) {
        for (number, of) in [
            ("5 to 9 pairs", (|pairs| pairs.is_some_and(|pairs| pairs < 10)) as fn(Option<usize>) -> bool),
            ("10 to 20 pairs", |pairs| pairs.is_some_and(|pairs| pairs >= 10)),
            ("as many pairs as the noise asks for", |pairs| pairs.is_none()),
        ] {
            let fits = |it: &&ChangesHeld| it.disturbed == disturbed && of(it.pairs);
            // What an outlier is cannot be known of so few pairs: it makes their intervals wider than they need be, never narrower.
            let is_shy = disturbed > 0.0 && of(Some(5));
            let (at_least, band) = if is_shy { (" at least as often as they say", Band::at_least(0.95)) } else { ("", Band::COVERAGE) };
            section.proofs.push(Proof::of_share(
                format!("95 % intervals of a change hold the truth{at_least}, of {number}{how}"),
                band,
                total(seen.iter().filter(fits).map(share)),
            ));
        }
    }
    let head = ["pairs", "they vary by 1 %", "2 %", "5 %", "1 %, disturbed", "2 %, disturbed", "5 %, disturbed"];
    let mut table = Table::new("How often 95 % intervals of a change hold the truth, by number of pairs.", &head);
    for pairs in PAIRS {
        let mut row = vec![pairs_named(pairs)];
        for disturbed in DISTURBED {
            row.extend(NOISES.map(|noise| {
                let found = seen.iter().find(|it| it.pairs == pairs && it.disturbed == disturbed && it.noise == noise);
                found.map_or_else(String::new, |it| percent(share(it)))
            }));
        }
        table.rows.push(row);
    }
    section.tables.push(table);
}
