//! The messages by which sources of load tell what they did: the same from a thread, a process and a machine.
//!
//! Whoever collects a run cannot tell where its sources are: all it has is their messages, and these can be written as lines of text and
//! read again without loss. Each line says its version, since two machines may not have the same loadline.
//!
//! Invariant: a source's messages come in the order in which it sent them; those of several in any.

use measure::{Leftovers, Site, SiteMember, Snapshot, SourceId};
use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::error::BehaviourError;

/// The version of messages. A reader of this version refuses any other by name.
pub const MESSAGE_SCHEMA: &str = "loadline.message/1";

/// A message of a source of load, or of the process that sources were in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// A process or a machine with these sources takes part, where several do; before anything else of them.
    Joined(SiteMember),
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
    /// How long it was ready to run and got no core; `None` where the system does not tell.
    #[serde(rename = "run_queue_wait_ns")]
    pub run_queue_wait: Option<Nanos>,
    /// Why its program could not go on.
    pub broken: Option<BehaviourError>,
}

/// A message as a line.
#[derive(Serialize, Deserialize)]
struct Line<M> {
    schema: String,
    message: M,
}

impl Message {
    /// The message as one line of JSON, without its line break.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(&Line { schema: MESSAGE_SCHEMA.to_owned(), message: self }).expect("messages hold nothing JSON cannot")
    }

    /// Reads such a line.
    ///
    /// # Errors
    /// In words, if it is no message, or one of another version.
    pub fn from_line(line: &str) -> Result<Self, String> {
        let other = || {
            let schema = serde_json::from_str::<serde_json::Value>(line).ok()?.get("schema")?.as_str()?.to_owned();
            (schema != MESSAGE_SCHEMA).then(|| format!("the message is written as '{schema}', and this loadline reads '{MESSAGE_SCHEMA}'"))
        };
        match serde_json::from_str::<Line<Self>>(line) {
            Ok(line) if line.schema == MESSAGE_SCHEMA => Ok(line.message),
            Ok(_) => Err(other().unwrap_or_default()),
            Err(why) => Err(other().unwrap_or_else(|| format!("no message: {why}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_back_and_one_of_another_version_is_refused_by_name() {
        let broken = Some(BehaviourError::new("a", "b"));
        let finished = Finished { load_until: Nanos(3), run_queue_wait: Some(Nanos(1)), broken, ..Finished::default() };
        let message = Message::Finished(SourceId(7), finished);
        let line = message.to_line();
        assert!(!line.contains('\n') && line.starts_with(r#"{"schema":"loadline.message/1""#), "{line}");
        assert_eq!(Message::from_line(&line), Ok(message));
        let later = line.replace("message/1", "message/2");
        let why = "the message is written as 'loadline.message/2', and this loadline reads 'loadline.message/1'";
        assert_eq!(Message::from_line(&later), Err(why.to_owned()));
        let unlike = r#"{"schema":"loadline.message/2","message":{"progress":1}}"#;
        assert_eq!(Message::from_line(unlike), Err(why.to_owned()));
        assert!(Message::from_line("{}").unwrap_err().starts_with("no message: "));
    }
}
