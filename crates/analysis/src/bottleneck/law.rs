//! The utilisation law as a regression: how much of a resource each request takes, and at which rate that is all of it.
//!
//! A resource that each request keeps busy for D seconds is used to U = X·D at X requests a second (Denning and Buzen, 1978), so
//! over several loads U against X is a straight line, and where it meets the capacity the server ends, whatever the response times
//! say. A line through few points always fits; so it takes three loads that differ, and its r² stands beside it.

use serde::Serialize;

use crate::quantity::{decimal, figure, time};

/// Fewer loads are no line.
const LOADS_MIN: usize = 3;
/// Loads that lie closer together tell no slope.
const RANGE_MIN: f64 = 1.5;
/// Where less of the variance is the line's, use does not follow throughput.
const R2_MIN: f64 = 0.8;

/// A straight line by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub(super) start: f64,
    pub(super) slope: f64,
    pub(super) r2: f64,
}

/// The line through these points; `None` with fewer than two, or where all stand above each other.
pub(super) fn line(points: &[(f64, f64)]) -> Option<Line> {
    let count = points.len() as f64;
    if points.len() < 2 {
        return None;
    }
    let (x_mean, y_mean) = (points.iter().map(|it| it.0).sum::<f64>() / count, points.iter().map(|it| it.1).sum::<f64>() / count);
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(x - x_mean, y - y_mean)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let r2 = if yy > 0.0 { (xy * xy / (xx * yy)).min(1.0) } else { 0.0 };
    Some(Line { start: y_mean - slope * x_mean, slope, r2 })
}

/// How the use of a resource grew with throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UtilisationLaw {
    /// D: seconds of the resource that one request takes.
    pub demand_s: f64,
    /// What is in use without any request.
    pub idle: f64,
    /// How much of it there is, in the same unit: cores, or 1.
    pub capacity: f64,
    /// Requests a second at which all of it is in use.
    pub saturates_at: f64,
    /// The share of the variance that the line explains.
    pub r2: f64,
    /// Over so many loads.
    pub loads: u32,
}

impl UtilisationLaw {
    /// From throughput and use at each load; those at which the resource was full already do not belong to the line. `None` where
    /// use does not grow with throughput, or the loads do not tell.
    pub(super) fn of(points: &[(f64, f64)], capacity: f64) -> Option<Self> {
        /// Beyond this share of the capacity the line bends.
        const LINEAR_MAX: f64 = 0.97;
        let below: Vec<(f64, f64)> = points.iter().copied().filter(|(rate, used)| *rate > 0.0 && *used < capacity * LINEAR_MAX).collect();
        let (least, most) = below.iter().fold((f64::INFINITY, 0.0f64), |(least, most), it| (least.min(it.0), most.max(it.0)));
        if below.len() < LOADS_MIN || most < least * RANGE_MIN {
            return None;
        }
        let line = line(&below)?;
        let saturates_at = (capacity - line.start) / line.slope;
        let holds = line.slope > 0.0 && line.r2 >= R2_MIN && saturates_at.is_finite() && saturates_at > 0.0;
        holds.then_some(Self {
            demand_s: line.slope,
            idle: line.start,
            capacity,
            saturates_at,
            r2: line.r2,
            loads: u32::try_from(below.len()).unwrap_or(u32::MAX),
        })
    }

    /// As evidence.
    #[must_use]
    pub fn in_words(&self) -> String {
        format!(
            "each request takes {} of it, so it would be full at about {} requests a second (utilisation law over {} loads, r² {})",
            time(self.demand_s * 1e9),
            figure(self.saturates_at),
            self.loads,
            decimal(self.r2, 2)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_that_each_request_takes_half_a_millisecond_of_is_full_at_two_thousand() {
        let points = [(100.0, 0.07), (400.0, 0.22), (800.0, 0.42), (1_600.0, 0.82), (1_960.0, 1.0)];
        let law = UtilisationLaw::of(&points, 1.0).unwrap();
        assert_eq!(law.loads, 4, "at the full one the line has ended");
        assert!((law.demand_s - 0.0005).abs() < 1e-9 && (law.saturates_at - 1_960.0).abs() < 1e-6 && law.r2 > 0.999, "{law:?}");
        assert!(law.in_words().contains("500 µs") && law.in_words().contains("1,960"), "{}", law.in_words());
    }

    #[test]
    fn use_that_does_not_follow_throughput_is_no_law() {
        assert_eq!(UtilisationLaw::of(&[(100.0, 0.4), (200.0, 0.1), (400.0, 0.5), (800.0, 0.2)], 1.0), None);
        assert_eq!(UtilisationLaw::of(&[(100.0, 0.5), (200.0, 0.4), (400.0, 0.2)], 1.0), None, "it falls");
        assert_eq!(UtilisationLaw::of(&[(100.0, 0.1), (200.0, 0.2)], 1.0), None, "two points are always a line");
        assert_eq!(UtilisationLaw::of(&[(100.0, 0.1), (105.0, 0.2), (110.0, 0.3)], 1.0), None, "too close together");
    }

    #[test]
    fn a_line_is_found_and_points_above_each_other_have_none() {
        let found = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert!((found.start - 1.0).abs() < 1e-12 && (found.slope - 2.0).abs() < 1e-12 && (found.r2 - 1.0).abs() < 1e-12);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(line(&[(1.0, 1.0)]), None);
    }
}
