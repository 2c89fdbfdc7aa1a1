//! A run that has nothing left but its intervals.
//!
//! A program that is killed cannot report. What it wrote down second by second is enough to report in its place, if it is the
//! exact counts and not figures made from them: intervals add up to the run. Writing the totals so far each time was rejected:
//! an hour's run would write as many as there are seconds in an hour, each as large as the whole.
//!
//! Invariant: all intervals of a run, written and read back, give the Summary that the run itself gave, but for what only the
//! end of a run can tell.

use plan::{Nanos, Plan};

use crate::{Collector, End, Ending, IntervalCounts, Site, Snapshot, SourceId, SummaryBuilder};

/// A run on this site that broke off after these intervals; `None` if there is none. Requests that were under way have no end and are
/// left out of the counts, which a warning says of a run that was killed.
#[must_use]
pub fn cut_short(plan: Plan, interval: Nanos, mut intervals: Vec<IntervalCounts>, how: Ending, site: Site) -> Option<SummaryBuilder> {
    let last = intervals.last()?;
    let cpu_busiest = last.cpu_busiest;
    let until = Nanos((u64::from(last.counts.interval) + 1).saturating_mul(interval.0));
    let ended = |counts: &Snapshot| counts.succeeded + counts.failed() + counts.unsent;
    let due: u64 = intervals.iter().map(|each| each.counts.due).sum();
    let under_way = due.saturating_sub(intervals.iter().map(|each| ended(&each.counts)).sum());
    let mut left = under_way;
    for each in intervals.iter_mut().rev() {
        let out = left.min(each.counts.due);
        each.counts.due -= out;
        left -= out;
    }
    let load_until = plan.end().min(until);
    let mut collector = Collector::new(plan, 1, interval);
    collector.absorb_site(site);
    for each in intervals {
        collector.absorb(SourceId(0), each.counts);
        while collector.tick().is_some() {}
    }
    let (mut summary, _) = collector.finish(End { how, load_until, drained_at: until });
    summary.record.generator.cpu_share_busiest = cpu_busiest.as_secs_f64() / until.as_secs_f64();
    let killed = match under_way {
        0 => "loadline was ended from outside: what it had counted by its last whole second is here".to_owned(),
        1 => "loadline was ended from outside: what it had counted by its last whole second is here; a request under way is not".to_owned(),
        more => format!(
            "loadline was ended from outside: what it had counted by its last whole second is here; {more} requests under way are not"
        ),
    };
    summary.add_warnings((how == Ending::Killed).then_some(killed));
    Some(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, Outcome, Recorder, SnapshotRecord, Span, fixtures};

    /// So many seconds of a run with failures, statuses and oddities, and requests still under way at the end.
    fn intervals(seconds: u32, under_way: u64) -> Vec<IntervalCounts> {
        let mut recorder = Recorder::new(Span { from: Nanos::ZERO, until: Nanos::from_secs(10) });
        let mut intervals = Vec::new();
        for second in 0..seconds {
            let begin = u64::from(second) * 1_000_000_000;
            for k in 0..200u64 {
                let due = Nanos(begin + k * 4_000_000);
                let done = Nanos(due.0 + 1_000_000 + k * 1_000);
                let result = match k % 20 {
                    0 => Ok(503),
                    1 => Err(Failure::RecvReset),
                    _ => Ok(200),
                };
                recorder.due(due);
                recorder.record(&Outcome { due, ready: due, sent: due, first_byte: done, done, bytes_out: 40, bytes_in: 120, result });
            }
            (0..under_way).for_each(|_| recorder.due(Nanos(begin + 999_000_000)));
            let mut counts = recorder.swap(Snapshot::empty(second + 1));
            counts.cpu = Nanos::from_millis(300);
            counts.quirks[0] += 2;
            intervals.push(IntervalCounts { counts, cpu_busiest: Nanos::from_millis(200 * (u64::from(second) + 1)) });
        }
        intervals
    }

    #[test]
    fn what_is_written_reads_back() {
        for counted in intervals(3, 1) {
            let text = serde_json::to_string(&SnapshotRecord::from(&counted)).unwrap();
            let read: SnapshotRecord = serde_json::from_str(&text).unwrap();
            assert_eq!(IntervalCounts::try_from(read).unwrap(), counted);
        }
    }

    #[test]
    fn kept_intervals_give_the_run_that_gave_them() {
        let plan = fixtures::plan("http://a.test/");
        let mut collector = Collector::new(plan.clone(), 1, Nanos::SECOND);
        let mut kept = Vec::new();
        for counted in intervals(10, 0) {
            collector.absorb(SourceId(0), counted.counts);
            let (_, counted) = collector.tick_counted().unwrap();
            kept.push(counted);
        }
        let end = End { how: Ending::Killed, load_until: Nanos::from_secs(10), drained_at: Nanos::from_secs(10) };
        let (whole, _) = collector.finish(end);
        let again = cut_short(plan, Nanos::SECOND, kept, Ending::Killed, Site::default()).unwrap();
        let mut again = again.close();
        assert_eq!(again.edit_for_test().warnings.len(), 1);
        again.edit_for_test().warnings.clear();
        assert_eq!(again, whole.close());
    }

    #[test]
    fn requests_under_way_are_left_out_and_said() {
        let run = cut_short(fixtures::plan("http://a.test/"), Nanos::SECOND, intervals(4, 3), Ending::Killed, Site::default()).unwrap();
        assert_eq!((run.requests.due, run.requests.failed, run.ended.how), (800, 80, Ending::Killed));
        assert!(run.warnings[0].ends_with("12 requests under way are not"), "{:?}", run.warnings);
        assert_eq!((run.duration_s, run.qps, run.status[&503]), (4.0, 190.0, 40));
        assert!((run.generator.cpu_share_busiest - 0.2).abs() < 1e-9 && (run.generator.cpu_share - 0.3).abs() < 1e-9);
        assert_eq!(run.timeline.len(), 4);
    }

    #[test]
    fn a_run_without_a_whole_second_has_nothing_to_tell() {
        assert!(cut_short(fixtures::plan("http://a.test/"), Nanos::SECOND, Vec::new(), Ending::Killed, Site::default()).is_none());
    }
}
