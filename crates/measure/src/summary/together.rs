//! Several runs of one load as one.
//!
//! A promise about a side of a comparison is about all of its runs. Judging each run by itself was rejected: a limit of 1 % that one
//! run of three breaks by chance may be kept by their requests together.
//!
//! Invariant: counts and histograms are the sums of those of the runs.

use super::Summary;
use crate::StreamRow;

impl Summary {
    /// Several runs of one load as one: counts and histograms added up, rates over the time of
    /// all. What depends on the moment within a run (its timeline) stays that of the first. `None` of no runs.
    #[must_use]
    pub fn together(runs: &[&Self]) -> Option<Self> {
        let (first, others) = runs.split_first()?;
        let Self(mut all) = (*first).clone();
        let (mut answered, mut well) = (first.qps * first.duration_s, first.qps_succeeded * first.duration_s);
        for run in others {
            let weights = (all.duration_s, run.duration_s);
            if let (Some(all), Some(more)) = (&mut all.scenario, &run.scenario) {
                all.steps.iter_mut().zip(&more.steps).for_each(|(row, more)| row.add(more, weights));
                all.journeys.iter_mut().zip(&more.journeys).for_each(|(row, more)| row.add(more, weights));
                all.transactions.iter_mut().zip(&more.transactions).for_each(|(row, more)| row.add(more, weights));
                all.tps_succeeded =
                    (all.tps_succeeded * weights.0 + more.tps_succeeded * weights.1) / (weights.0 + weights.1).max(f64::MIN_POSITIVE);
            }
            all.urls.iter_mut().zip(&run.urls).for_each(|(row, more)| row.add(more, weights));
            all.populations.iter_mut().zip(&run.populations).for_each(|(row, more)| row.add(more, weights));
            StreamRow::add_some(&mut all.streams, run.streams.as_deref(), weights);
            crate::websockets::add(&mut all.websockets, run.websockets.as_deref());
            answered += run.qps * run.duration_s;
            well += run.qps_succeeded * run.duration_s;
            all.duration_s += run.duration_s;
            all.requests.add(&run.requests);
            run.status.iter().for_each(|(status, count)| *all.status.entry(*status).or_default() += count);
            for failure in &run.failures {
                match all.failures.iter_mut().find(|known| known.class == failure.class) {
                    Some(known) => known.count += failure.count,
                    None => all.failures.push(failure.clone()),
                }
            }
            for (to, from) in [
                (&mut all.response_time, &run.response_time),
                (&mut all.response_time_succeeded, &run.response_time_succeeded),
                (&mut all.service_time, &run.service_time),
                (&mut all.ttfb, &run.ttfb),
                (&mut all.connect, &run.connect),
                (&mut all.tls, &run.tls),
                (&mut all.wait, &run.wait),
                (&mut all.lag, &run.lag),
            ] {
                to.add(from);
            }
        }
        if all.duration_s > 0.0 {
            (all.qps, all.qps_succeeded) = (answered / all.duration_s, well / all.duration_s);
        }
        Some(Self(all))
    }
}
