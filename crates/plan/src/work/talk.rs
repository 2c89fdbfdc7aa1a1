//! What is done over WebSocket.

use super::AnswerCheck;

/// What a [`Step`](super::Step) does over WebSocket.
#[derive(Debug, Clone, PartialEq)]
pub enum Talk {
    /// Opens a connection; one of the user's to the same URL is closed before.
    Connect,
    /// Sends its body as a message.
    Send(Reply),
    /// Waits for a message.
    Receive(Reply),
    /// Sends a ping, and waits for its pong.
    Ping,
    /// Closes the connection, with this code.
    Close(u16),
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
    /// What a message has to be to be waited for, if that is said.
    #[must_use]
    pub fn conditions(&self) -> &[AnswerCheck] {
        match self {
            Self::Send(Reply::First(conditions)) | Self::Receive(Reply::First(conditions)) => conditions,
            _ => &[],
        }
    }
}
