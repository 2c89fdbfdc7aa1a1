//! How far from the truth does a search end? On simulated servers, where nothing else disturbs it.

use analysis::search::Settings;
use analysis::search::model::{miss, promises, search};
use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::experiment::Experiment;
use crate::known::SERVERS;
use crate::lab::Lab;
use crate::proof::{Band, Proof, Section, Table, percent, share_of};
use crate::seeds;

/// Searches of one server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Simulated {
    /// Which.
    pub name: String,
    /// Its capacity, requests a second.
    pub truth: f64,
    /// By how much each interval missed it: 0 inside.
    pub misses: Vec<f64>,
    /// The upper end of each over its lower one.
    pub widths: Vec<f64>,
    /// Virtual seconds each took.
    pub seconds: Vec<f64>,
}

/// Searches of simulated servers.
#[derive(Debug)]
pub struct Searches;

/// More is a search that missed.
pub(crate) const MISS_MAX: f64 = 0.03;

impl Experiment for Searches {
    type Sample = Simulated;
    const NAME: &'static str = "searches";
    const TITLE: &'static str = "Searches of simulated servers";
    const ABOUT: &'static str = "The same search as `loadline find` makes, on queues simulated arrival by arrival in virtual time, three minutes each. The truth is\nthe rate at which the promise is just kept over a million arrivals. A search misses if its interval lies more than 3 % off.";

    fn steps(_: &Lab) -> Vec<String> {
        SERVERS.iter().map(|server| server.name.to_owned()).collect()
    }

    fn measure(lab: &Lab, step: usize) -> Result<Simulated> {
        let server = SERVERS[step].model();
        let promises = promises(server.limit_s);
        let truth = SERVERS[step].model_truth();
        let count = lab.of(30, 1);
        let mut seen = Simulated { name: server.name.to_owned(), truth, misses: Vec::new(), widths: Vec::new(), seconds: Vec::new() };
        for nth in 0..count {
            let seed = seeds::SEARCHES + (step as u64) * 100 + nth;
            let (answer, _) = search(&mut server.seeded(seed), Settings::new(promises.clone(), 1e5, seed));
            seen.misses.push(miss(&answer, truth));
            // An interval without an end holds everything; a hundredfold stands for that, because JSON knows no infinity.
            let width = answer.capacity.high.map_or(100.0, |high| high / answer.capacity.low.max(1e-9));
            seen.widths.push(width.min(100.0));
            seen.seconds.push(answer.spent_s);
        }
        Ok(seen)
    }

    fn tell(seen: &[Simulated]) -> Section {
        let mut section = Section::default();
        let all = || seen.iter().flat_map(|it| it.misses.iter().copied());
        section.proofs.push(Proof::of_share(
            "a search of a simulated server contains its capacity or misses it by at most 3 %",
            Band::at_least(0.9),
            share_of(all().map(|miss| miss <= MISS_MAX)),
        ));
        section.proofs.push(Proof::of_share(
            "the 95 % interval of a search of a simulated server contains its capacity",
            Band::at_least(0.93),
            share_of(all().map(|miss| miss == 0.0)),
        ));
        let widths: Vec<f64> = seen.iter().flat_map(|it| it.widths.iter().copied()).collect();
        let width = middle(&widths);
        section.proofs.push(Proof::of_fact(
            "intervals of simulated searches are narrow enough to say something: their median width",
            "at most 10 %",
            format!("{:.1} %", (width - 1.0) * 100.0),
            width <= 1.1,
        ));
        let longest = seen.iter().flat_map(|it| it.seconds.iter().copied()).fold(0.0, f64::max);
        section.proofs.push(Proof::of_fact(
            "a simulated search keeps to its budget of three minutes, the last trial's end included",
            "at most 213 s",
            format!("{longest:.0} s"),
            longest <= 213.0,
        ));
        let mut table = Table::new(
            "By server. The miss is how far the interval lies from the truth, 0 if it holds it.",
            &["server", "capacity", "within 3 %", "contains it", "greatest miss", "median width"],
        );
        for it in seen {
            table.rows.push(vec![
                it.name.clone(),
                format!("{:.0}/s", it.truth),
                percent(share_of(it.misses.iter().map(|miss| *miss <= MISS_MAX))),
                percent(share_of(it.misses.iter().map(|miss| *miss == 0.0))),
                format!("{:.1} %", it.misses.iter().copied().fold(0.0, f64::max) * 100.0),
                format!("{:.1} %", (middle(&it.widths) - 1.0) * 100.0),
            ]);
        }
        section.tables.push(table);
        section
    }
}

/// The median; the upper of two.
pub(crate) fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
