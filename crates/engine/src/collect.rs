//! From the workers' channel to a Summary.

use std::sync::mpsc::Receiver;

use measure::{Collector, End, Ending, Snapshot, SourceId, Summary, Tick};
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
pub(crate) fn collect(plan: &Plan, workers: u32, messages: &Receiver<Message>, watch: &mut dyn FnMut(&Tick)) -> Summary {
    let mut collector = Collector::new(plan.clone(), workers, INTERVAL);
    let mut end = End { how: Ending::Finished, load_until: Nanos::ZERO, drained_at: Nanos::ZERO };
    for message in messages {
        match message {
            Message::Counts(source, counts) => {
                collector.absorb(source, &counts);
                while let Some(tick) = collector.tick() {
                    watch(&tick);
                }
            }
            Message::Finished(finished) => {
                end.load_until = end.load_until.max(finished.load_until);
                end.drained_at = end.drained_at.max(finished.drained_at);
                if finished.interrupted {
                    end.how = Ending::Interrupted;
                }
            }
        }
    }
    collector.finish(end)
}
