//! `vegeta plot`: latencies over time as one page that needs nothing else.
//!
//! The original ships a charting library in its page; ours is the page that every other result of loadline is shown on, with its
//! zoom, its values as a table and its pictures to save. Series are thinned by largest triangles (LTTB), which keeps peaks.
//!
//! All results have to be known before a series can be thinned, so this is the one place where they are kept, at 16 bytes each.

use std::collections::BTreeMap;

use super::Hit;
use crate::page::{AttackSeries, plot};

/// Latencies by attack and result.
#[derive(Debug, Default)]
pub struct Plot {
    /// Nanoseconds since 1970 and nanoseconds.
    series: BTreeMap<(String, bool), Vec<(i64, i64)>>,
    began: BTreeMap<String, i64>,
}

impl Plot {
    /// One more hit.
    pub fn add(&mut self, hit: &Hit) {
        let at = i64::try_from(hit.timestamp).unwrap_or_default();
        let began = self.began.entry(hit.attack.clone()).or_insert(at);
        *began = (*began).min(at);
        self.series.entry((hit.attack.clone(), !hit.error.is_empty())).or_default().push((at, hit.latency));
    }

    /// The page; a series of more than `threshold` hits is thinned to so many.
    #[must_use]
    pub fn html(self, title: &str, threshold: usize) -> Vec<u8> {
        let began = self.began;
        let course = |((attack, failed), mut hits): ((String, bool), Vec<(i64, i64)>)| {
            let began = began.get(&attack).copied().unwrap_or_default();
            hits.sort_unstable();
            let points: Vec<(f64, f64)> = hits.iter().map(|(at, latency)| ((at - began) as f64 / 1e9, *latency as f64 / 1e6)).collect();
            AttackSeries {
                name: format!("{attack}: {}", if failed { "ERROR" } else { "OK" }),
                failed,
                count: points.len() as u64,
                longest_ms: points.iter().map(|point| point.1).fold(0.0, f64::max),
                points: thinned(&points, threshold),
            }
        };
        plot(title, self.series.into_iter().map(course).collect()).document()
    }
}

/// Largest triangle three buckets (Steinarsson 2013): of each bucket the point that spans the largest triangle with the one kept
/// before and the mean of the next bucket.
fn thinned(points: &[(f64, f64)], threshold: usize) -> Vec<(f64, f64)> {
    if threshold < 3 || points.len() <= threshold {
        return points.to_vec();
    }
    let every = (points.len() - 2) as f64 / (threshold - 2) as f64;
    let bound = |bucket: usize| ((bucket as f64 * every) as usize + 1).min(points.len() - 1);
    let mut kept = vec![points[0]];
    for bucket in 0..threshold - 2 {
        let (from, to) = (bound(bucket), bound(bucket + 1));
        let next = &points[to..bound(bucket + 2).max(to + 1).min(points.len())];
        let mean = next.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        let mean = (mean.0 / next.len() as f64, mean.1 / next.len() as f64);
        let last = kept[kept.len() - 1];
        let area = |point: &(f64, f64)| ((last.0 - mean.0) * (point.1 - last.1) - (last.0 - point.0) * (mean.1 - last.1)).abs();
        kept.extend(points[from..to].iter().copied().max_by(|a, b| area(a).total_cmp(&area(b))));
    }
    kept.push(points[points.len() - 1]);
    kept
}

#[cfg(test)]
mod tests {
    use super::super::tests::hit;
    use super::*;

    #[test]
    fn a_series_stands_for_an_attack_and_how_it_ended() {
        let mut plot = Plot::default();
        for seq in 0..50 {
            plot.add(&hit(seq, if seq % 5 == 0 { 404 } else { 200 }, 500 + seq as i64));
        }
        let page = String::from_utf8(plot.html("A <title>", 20)).unwrap();
        assert!(page.contains("A &lt;title&gt;") && page.contains(": OK") && page.contains(": ERROR"));
        assert!(!page.contains("<title>A <title>"));
        let (_, data) = page.split_once("id=\"data\">").unwrap_or_default();
        assert!(data.contains("\"courses\":") && !data.split("</script>").next().unwrap_or_default().contains("NaN"));
        assert!(String::from_utf8(Plot::default().html("empty", 4_000)).unwrap().contains("hold no request"));
    }

    #[test]
    fn thinning_keeps_the_peak_and_both_ends() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|at| (f64::from(at), 1.0)).collect();
        points[7_321].1 = 900.0;
        let kept = thinned(&points, 100);
        assert_eq!((kept.len(), kept[0], kept[99]), (100, points[0], points[9_999]));
        assert!(kept.contains(&(7_321.0, 900.0)));
    }
}
