//! What the answers of a run have in common that makes it another measurement than its user meant: redirects that were not
//! followed, answers that came only after the run.
//!
//! Each is counted as a success and is none for whoever asked: a redirect from http to https says nothing about the pages behind it.
//! The counts show it without any doubt, so it is said.
//!
//! Invariant: nothing here is said of what the plan asked for (a scenario's own redirects, a log's).

use measure::{Status, Summary};
use plan::Nanos;

use crate::quantity::{count, share};

/// Fewer redirects than this share may be what the path is for.
const REDIRECTS_SHARE_MIN: f64 = 0.01;

/// How many answers were redirects that were not followed, and the statuses; `None` where there are few, or they were meant.
#[must_use]
pub fn redirects_not_followed(run: &Summary) -> Option<(u64, Vec<u16>)> {
    // What another tool was told to do with them is not known.
    let followed =
        run.plan.connection().follow > 0 || run.plan.scenario().is_some() || run.plan.replay().is_some() || run.measured_by.is_some();
    let statuses: Vec<u16> = Status::REDIRECTS.iter().map(|status| status.0).filter(|status| run.status.contains_key(status)).collect();
    let number: u64 = statuses.iter().map(|status| run.status[status]).sum();
    let is_many = number as f64 > run.requests.due as f64 * REDIRECTS_SHARE_MIN;
    (!followed && number > 0 && is_many).then_some((number, statuses))
}

/// How long the run was and how long its answers took, where none came within it and all came after.
#[must_use]
pub fn late(run: &Summary) -> Option<(Nanos, Nanos)> {
    let requests = &run.requests;
    let is_late = run.qps == 0.0 && requests.due > 0 && requests.succeeded == requests.due;
    is_late.then(|| run.response_time.quantile(0.5).map(|took| (run.ended.load_until, took))).flatten()
}

/// What is worth a sentence beside the figures.
pub(crate) fn sentences(run: &Summary) -> Vec<String> {
    let mut said = Vec::new();
    if let Some((number, _)) = redirects_not_followed(run).filter(|(number, _)| *number < run.requests.due) {
        said.push(format!(
            "{} answers ({}) were redirects that were not followed: give the final URL, or --follow 5",
            count(number),
            share(number, run.requests.due)
        ));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    fn fixture() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap().1
    }

    #[test]
    fn some_redirects_are_said_and_few_are_not() {
        let mut run = fixture();
        run.edit_for_test().status = [(200, 100_000), (302, 20_000)].into();
        assert!(sentences(&run)[0].starts_with("20,000 answers (16.67 %) were redirects"), "{:?}", sentences(&run));
        run.edit_for_test().status = [(200, 119_999), (302, 1)].into();
        assert_eq!(redirects_not_followed(&run), None);
    }

    #[test]
    fn answers_that_came_within_the_run_are_not_late() {
        assert_eq!(late(&fixture()), None);
    }
}
