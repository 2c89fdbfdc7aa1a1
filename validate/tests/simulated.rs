//! The simulated proofs in their short form: enough to notice that something broke, not enough to say how good it is.

use std::path::Path;

use validate::simulated::{Comparisons, Curves, Intervals, Searches};
use validate::{Experiment, Extent, Held, Lab, Section, measured};

fn told<E: Experiment>(steps: impl IntoIterator<Item = usize>) -> Section {
    let lab = Lab::new(Path::new("no program is needed"), Extent::Short);
    let seen: Vec<E::Sample> =
        steps.into_iter().map(|step| measured::<E>(&lab, step).unwrap_or_else(|why| panic!("{step}: {why:#}"))).collect();
    E::tell(&seen)
}

/// None is further from its target than so few trials explain.
#[track_caller]
fn none_missed(section: &Section, at_least: usize) {
    assert!(section.proofs.len() >= at_least, "{:#?}", section.proofs);
    let missed: Vec<_> = section.proofs.iter().filter(|proof| proof.held == Held::Missed).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn intervals_hold_the_truth() {
    // Those of a minute: what takes long is drawing many requests.
    none_missed(&told::<Intervals>([0, 1, 3]), 5);
}

#[test]
fn a_target_is_not_different_from_itself_and_a_slower_one_is_slower() {
    none_missed(&told::<Comparisons>(0..3), 17);
}

#[test]
fn searches_end_near_the_truth() {
    let mut section = told::<Searches>([0, 1, 4, 9]);
    // The median of four widths is whatever these four happen to be.
    section.proofs.retain(|proof| !proof.claim.contains("median width"));
    none_missed(&section, 3);
    assert_eq!(section.tables[0].rows.len(), 4);
}

#[test]
fn curves_are_named_or_refused() {
    none_missed(&told::<Curves>(0..7), 7);
}
