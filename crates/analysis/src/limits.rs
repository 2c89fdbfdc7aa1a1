//! What limits the server of a sweep or of a search: its loads as the points that the rules of [`crate::bottleneck`] look at.

use crate::bottleneck::{Finding, Point, findings};
use crate::curve::{self, Model};
use crate::found::CapacityReport;
use crate::{Sweep, scaling};

/// The Findings of a sweep, the strongest first, judged together with the law that its levels follow.
#[must_use]
pub fn of_sweep(sweep: &Sweep) -> Vec<Finding> {
    let levels = scaling::points(sweep, &sweep.rows());
    let plan = sweep.trials.first().filter(|_| scaling::is_curve(sweep)).map(|trial| &trial.summary.plan);
    let model = plan.and_then(|plan| match curve::shape(&levels)? {
        // What is said of them depends on their intervals, which are those of the curve's own words.
        Model::Universal { .. } | Model::Amdahl { .. } => curve::read(&levels, plan.seed()).model,
        other => Some(other),
    });
    let mut points = Point::of_all(sweep.trials.iter().map(|trial| &trial.summary));
    // Runs with a profile are no part of the ladder, and what they show of a load is true of it.
    for (trial, profiled) in sweep.profiled.iter().zip(Point::of_all(sweep.profiled.iter().map(|trial| &trial.summary))) {
        points.iter_mut().filter(|point| point.level == trial.level.value()).for_each(|point| point.learn(&profiled));
    }
    findings(&points, model)
}

/// The Findings of a capacity search, the strongest first: trials beyond the rate found show most.
#[must_use]
pub fn of_search(found: &CapacityReport) -> Vec<Finding> {
    findings(&Point::of_all(found.trials.iter().map(|trial| &trial.summary)), None)
}
