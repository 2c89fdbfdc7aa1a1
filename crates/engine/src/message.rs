//! The messages by which sources of load tell what they did: the same from a thread, a process and a machine.
//!
//! Whoever collects a run cannot tell where its sources are: all it has is their messages, and these can be written as bytes and read
//! again without loss. Whose version they are is told before the first.
//!
//! Invariant: a source's messages come in the order in which it sent them; those of several in any.

use measure::{Leftovers, Site, SiteMember, Snapshot, SourceId};
use plan::Nanos;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::BehaviourError;

/// A message of a source of load, or of the process that sources were in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// A process or a machine with these sources takes part, where several do; before anything else of them.
    Joined(SiteMember),
    /// The clock of this source's site went its own way since the start: it may be off by so much.
    Clock(SourceId, Nanos),
    /// The counts of one interval of a source.
    Counts(SourceId, Box<Snapshot>),
    /// A source has sent all it had to, and has every answer.
    Finished(SourceId, Finished),
    /// A source's users are gone, and this is what it leaves behind; its last message.
    Left(SourceId, Box<Leftovers>),
    /// A source does not answer any more, and nobody waits for it: why, in words.
    Lost(SourceId, BehaviourError),
    /// A source is gone with its process or its machine before its end, and what it had not told with it: why, in words.
    Gone(SourceId, String),
    /// A process of sources is done: its last message.
    Site(Box<Site>),
}

/// How a source's load ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Finished {
    /// When the load ended: the plan's end, the last answer of a counted run, or the interruption.
    #[serde(rename = "load_until_ns")]
    pub load_until: Nanos,
    /// When its last request was done.
    #[serde(rename = "drained_at_ns")]
    pub drained_at: Nanos,
    /// Whether it was stopped from outside.
    pub interrupted: bool,
    /// Whether its users ended the load, which is over on all other sites with it.
    pub ends_all: bool,
    /// How long it was ready to run and got no core; `None` where the system does not tell.
    #[serde(rename = "run_queue_wait_ns")]
    pub run_queue_wait: Option<Nanos>,
    /// Why its program could not go on.
    pub broken: Option<BehaviourError>,
}

/// Something that goes to another process, in MessagePack with names: whoever reads it knows each part by its name.
#[must_use]
pub fn to_bytes(said: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec_named(said).expect("what is said holds nothing that MessagePack cannot")
}

/// Reads it.
///
/// # Errors
/// In words, if it is something else.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    rmp_serde::from_slice(bytes).map_err(|why| format!("what was said cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_back_and_what_is_none_is_refused() {
        let broken = Some(BehaviourError::new("a", "b"));
        let finished = Finished { load_until: Nanos(3), run_queue_wait: Some(Nanos(1)), broken, ..Finished::default() };
        let message = Message::Finished(SourceId(7), finished);
        let bytes = to_bytes(&message);
        assert_eq!(from_bytes::<Message>(&bytes), Ok(message));
        assert!(from_bytes::<Message>(&bytes[1..]).unwrap_err().starts_with("what was said cannot be read: "));
    }
}
