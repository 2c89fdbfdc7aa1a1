//! From the messages of all sources to a run.

use measure::{Collector, End, Ending, IntervalCounts, Leftovers, SummaryBuilder, Tick};
use plan::{Nanos, Plan};

use crate::error::BehaviourError;
use crate::message::Message;
use crate::worker::INTERVAL;

/// A run whose messages have all come.
#[derive(Debug)]
pub struct Collected {
    /// The run, to be completed.
    pub summary: SummaryBuilder,
    /// What its sources left behind.
    pub left: Leftovers,
    /// Why a program could not go on, if one could not.
    pub broken: Option<BehaviourError>,
}

/// Puts together what all sources of a plan tell until there is no more. `watch` is called once an interval, as soon as all have told it.
///
/// # Panics
/// If a request is unaccounted for: that is our mistake.
pub fn collect(plan: &Plan, messages: impl IntoIterator<Item = Message>, watch: &mut dyn FnMut(&Tick, IntervalCounts)) -> Collected {
    let sources = plan.parts().len() as u32;
    let mut collector = Collector::new(plan.clone(), sources, INTERVAL);
    let mut broken = None;
    let mut lost = None;
    let mut ended_itself = false;
    let mut unfinished = sources;
    let mut last_told = Nanos::ZERO;
    let mut end = End { how: Ending::Finished, load_until: Nanos::ZERO, drained_at: Nanos::ZERO };
    for message in messages {
        match message {
            Message::Joined(member) => collector.join(member),
            Message::Clock(source, error) => collector.note_clock(source, error),
            Message::Counts(source, counts) => {
                last_told = last_told.max(Nanos(u64::from(counts.interval + 1) * INTERVAL.0));
                collector.absorb(source, *counts);
                while let Some((tick, counted)) = collector.tick_counted() {
                    watch(&tick, counted);
                }
            }
            Message::Finished(source, finished) => {
                unfinished -= 1;
                // A population may be over long before the run is.
                collector.leave(source);
                while let Some((tick, counted)) = collector.tick_counted() {
                    watch(&tick, counted);
                }
                broken = broken.or(finished.broken);
                end.load_until = end.load_until.max(finished.load_until);
                end.drained_at = end.drained_at.max(finished.drained_at);
                collector.waited_for_core(finished.run_queue_wait);
                if finished.interrupted {
                    end.how = Ending::Interrupted;
                }
            }
            Message::Gone(source, why) => {
                collector.lose(source, why);
                while let Some((tick, counted)) = collector.tick_counted() {
                    watch(&tick, counted);
                }
            }
            Message::Left(_, left) => {
                ended_itself |= left.ended_by.is_some();
                collector.absorb_leftovers(*left);
            }
            Message::Lost(_, why) => lost = lost.or(Some(why)),
            Message::Site(site) => collector.absorb_site(*site),
        }
    }
    if unfinished > 0 {
        // What sources that were left behind had on the wire when they last told of it has no end of its own.
        collector.abandon();
        end.drained_at = end.drained_at.max(last_told);
        end.load_until = end.load_until.max(last_told.min(plan.end()));
    }
    if ended_itself {
        end.how = Ending::Aborted;
    }
    let broken = broken.or(lost);
    if collector.has_lost_all() {
        end.how = Ending::CutShort;
    }
    if broken.is_some() {
        end.how = Ending::CutShort;
    }
    let (summary, left) = collector.finish(end);
    Collected { summary, left, broken }
}
