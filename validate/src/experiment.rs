//! An experiment: steps that are measured one by one, and what they say together.
//!
//! Half an hour of measuring must not be lost to its last minute. So an experiment is cut into steps, each is kept as soon
//! as it is done ([`Store`]), and what is told is a function of the steps there are. A step that fails is kept as failed.

use std::time::Instant;

use anyhow::{Result, anyhow};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::lab::Lab;
use crate::proof::Section;
use crate::store::{Record, Store};
use crate::{real, simulated};

/// A claim put to the test.
pub trait Experiment {
    /// What a step shows.
    type Sample: Serialize + DeserializeOwned;
    /// As chosen by `PARTS=`.
    const NAME: &'static str;
    /// Above its section.
    const TITLE: &'static str;
    /// How it is done.
    const ABOUT: &'static str;

    /// The names of its steps.
    fn steps(lab: &Lab) -> Vec<String>;

    /// Measures a step.
    ///
    /// # Errors
    /// If it cannot be carried out; a claim that does not come true is no error.
    fn measure(lab: &Lab, step: usize) -> Result<Self::Sample>;

    /// What all steps that were carried out say together.
    fn tell(seen: &[Self::Sample]) -> Section;
}

/// One part of the page.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// As chosen by `PARTS=`.
    pub name: &'static str,
    /// Measures what is to be measured anew.
    pub measure: fn(&Lab, &mut Store),
    /// What is known of it.
    pub tell: fn(&Lab, &Store) -> Told,
}

/// What is known of a part.
#[derive(Debug, Clone)]
pub struct Told {
    /// Above its section.
    pub title: &'static str,
    /// How it is done.
    pub about: &'static str,
    /// What was seen.
    pub section: Section,
    /// When; several days if it was measured in pieces.
    pub days: Vec<String>,
    /// How long it took, seconds.
    pub seconds: f64,
    /// Steps without a result, and why.
    pub failed: Vec<(String, String)>,
}

/// Every part, in the order of the page.
pub const PARTS: &[Part] = &[
    part::<simulated::Intervals>(),
    part::<simulated::Comparisons>(),
    part::<simulated::Searches>(),
    part::<simulated::Curves>(),
    part::<real::SameTarget>(),
    part::<real::Capacities>(),
    part::<real::Starved>(),
    part::<real::Frozen>(),
    part::<real::Hung>(),
    part::<real::Bottlenecks>(),
    part::<real::Gallery>(),
];

const fn part<E: Experiment>() -> Part {
    Part { name: E::NAME, measure: measure::<E>, tell: tell::<E> }
}

fn measure<E: Experiment>(lab: &Lab, store: &mut Store) {
    for (step, name) in E::steps(lab).iter().enumerate() {
        if store.has(E::NAME, step) {
            eprintln!("{}: {name}: measured before", E::NAME);
            continue;
        }
        let begun = Instant::now();
        let seen = measured::<E>(lab, step);
        let seconds = begun.elapsed().as_secs_f64();
        match &seen {
            Ok(_) => eprintln!("{}: {name}: done in {seconds:.1} s", E::NAME),
            Err(why) => eprintln!("{}: {name}: FAILED: {why:#}", E::NAME),
        }
        store.keep(E::NAME, step, seconds, seen);
    }
}

/// A step of an experiment. What panics in it has failed, and takes no other with it.
///
/// # Errors
/// If it cannot be carried out.
pub fn measured<E: Experiment>(lab: &Lab, step: usize) -> Result<E::Sample> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| E::measure(lab, step))).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(anyhow!("{}", said.unwrap_or_else(|| "a panic without words".to_owned())))
    })
}

fn tell<E: Experiment>(lab: &Lab, store: &Store) -> Told {
    let mut told =
        Told { title: E::TITLE, about: E::ABOUT, section: Section::default(), days: Vec::new(), seconds: 0.0, failed: Vec::new() };
    let mut seen = Vec::new();
    for (step, name) in E::steps(lab).into_iter().enumerate() {
        match store.read::<E::Sample>(E::NAME, step) {
            None => told.failed.push((name, "not measured".to_owned())),
            Some(Record { failed: Some(why), .. }) => told.failed.push((name, why)),
            Some(Record { day, seconds, seen: Some(it), .. }) => {
                told.seconds += seconds;
                if !told.days.contains(&day) {
                    told.days.push(day);
                }
                seen.push(it);
            }
            Some(Record { .. }) => told.failed.push((name, "its record is damaged".to_owned())),
        }
    }
    if !seen.is_empty() {
        told.section = E::tell(&seen);
    }
    told
}
