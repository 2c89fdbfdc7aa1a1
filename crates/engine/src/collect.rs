//! From the workers' channel to a Summary.

use measure::{Collector, Counted, End, Ending, Snapshot, SourceId, Summary, Tick};
use plan::{Nanos, Plan};

use crate::program::Broken;
use crate::worker::{Finished, INTERVAL};

/// What workers send: counts once an interval, and a last word.
#[derive(Debug)]
pub(crate) enum Message {
    /// The counts of one interval of one worker.
    Counts(SourceId, Box<Snapshot>),
    /// A worker is done.
    Finished(SourceId, Finished),
}

/// Puts together what workers send until there is no more, with the reason why a program could not go on, if one could not.
pub(crate) fn collect(
    plan: &Plan,
    workers: u32,
    messages: impl IntoIterator<Item = Message>,
    watch: &mut dyn FnMut(&Tick, Counted),
) -> (Summary, Option<Broken>) {
    let mut collector = Collector::new(plan.clone(), workers, INTERVAL);
    let mut run_queue_wait = None;
    let mut broken = None;
    let mut unfinished = workers;
    let mut last_heard = Nanos::ZERO;
    let mut end = End { how: Ending::Finished, load_until: Nanos::ZERO, drained_at: Nanos::ZERO };
    for message in messages {
        match message {
            Message::Counts(source, counts) => {
                last_heard = last_heard.max(Nanos(u64::from(counts.interval + 1) * INTERVAL.0));
                collector.absorb(source, &counts);
                while let Some((tick, counted)) = collector.tick_counted() {
                    watch(&tick, counted);
                }
            }
            Message::Finished(_, finished) => {
                unfinished -= 1;
                broken = broken.or(finished.broken);
                end.load_until = end.load_until.max(finished.load_until);
                end.drained_at = end.drained_at.max(finished.drained_at);
                run_queue_wait = run_queue_wait.max(finished.run_queue_wait);
                if finished.interrupted {
                    end.how = Ending::Interrupted;
                }
            }
        }
    }
    if unfinished > 0 {
        // Workers that were left behind: what they had on the wire when they were last heard has no end of its own.
        collector.abandon();
        end.drained_at = end.drained_at.max(last_heard);
        end.load_until = end.load_until.max(last_heard.min(plan.end()));
    }
    let lasted = end.drained_at.as_secs_f64();
    let mut summary = collector.finish(end);
    summary.generator.run_queue_share = run_queue_wait.filter(|_| lasted > 0.0).map(|waited| waited.as_secs_f64() / lasted);
    (summary, broken)
}
