//! What is done in messages: over WebSocket, and in calls of gRPC.

use super::AnswerCheck;
use crate::Nanos;

/// What a [`Step`](super::Step) does in messages: over WebSocket, or as a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Talk {
    /// Opens a connection; one of the user's to the same URL is closed before.
    Connect,
    /// Sends its body as a message.
    Send(Reply),
    /// Waits for a message.
    Receive(Reply),
    /// Takes for so long what comes: each message is counted as an event of a stream is.
    Listen(Nanos),
    /// Sends a ping, and waits for its pong.
    Ping,
    /// Closes the connection, with this code.
    Close(u16),
    /// Calls a method of gRPC, which its path names; its body is the message as JSON.
    Call,
}

/// Which message is waited for.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// None.
    Nothing,
    /// The next one.
    Next,
    /// The first for which all of this holds.
    First(Vec<AnswerCheck>),
}

impl Talk {
    /// How long it listens, if that is what it does.
    #[must_use]
    pub const fn listens(&self) -> Option<Nanos> {
        match self {
            Self::Listen(time) => Some(*time),
            _ => None,
        }
    }

    /// What a message has to be to be waited for, if that is said.
    #[must_use]
    pub fn conditions(&self) -> &[AnswerCheck] {
        match self {
            Self::Send(Reply::First(conditions)) | Self::Receive(Reply::First(conditions)) => conditions,
            _ => &[],
        }
    }
}
