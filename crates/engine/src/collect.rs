//! From the workers' channel to a Summary.

use std::sync::mpsc::Receiver;

use measure::{Collector, Counted, End, Ending, Snapshot, SourceId, Summary, Tick};
use plan::{Nanos, Plan};

use crate::worker::{Finished, INTERVAL};

/// What workers send: counts once an interval, and a last word.
#[derive(Debug)]
pub(crate) enum Message {
    /// The counts of one interval of one worker.
    Counts(SourceId, Box<Snapshot>),
    /// A worker is done.
    Finished(Finished),
}

/// Puts together what workers send until all of them have hung up.
pub(crate) fn collect(plan: &Plan, workers: u32, messages: &Receiver<Message>, watch: &mut dyn FnMut(&Tick, Counted)) -> Summary {
    let mut collector = Collector::new(plan.clone(), workers, INTERVAL);
    let mut run_queue_wait = None;
    let mut end = End { how: Ending::Finished, load_until: Nanos::ZERO, drained_at: Nanos::ZERO };
    for message in messages {
        match message {
            Message::Counts(source, counts) => {
                collector.absorb(source, &counts);
                while let Some((tick, counted)) = collector.tick_counted() {
                    watch(&tick, counted);
                }
            }
            Message::Finished(finished) => {
                end.load_until = end.load_until.max(finished.load_until);
                end.drained_at = end.drained_at.max(finished.drained_at);
                run_queue_wait = run_queue_wait.max(finished.run_queue_wait);
                if finished.interrupted {
                    end.how = Ending::Interrupted;
                }
            }
        }
    }
    let lasted = end.drained_at.as_secs_f64();
    let mut summary = collector.finish(end);
    summary.generator.run_queue_share = run_queue_wait.filter(|_| lasted > 0.0).map(|waited| waited.as_secs_f64() / lasted);
    summary
}
