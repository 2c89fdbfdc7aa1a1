//! What connections of WebSocket came to, beside the messages that somebody waited for: those are requests and their answers.
//!
//! Invariant: counts add up exactly; nothing is kept of a run that speaks none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Histogram;

/// What came over WebSocket without being asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Unasked {
    /// Messages that were no answer to one of ours.
    pub messages: u64,
    /// Pings, which were answered.
    pub pings: u64,
    /// Closes by the server, by their code; 1005 stands for none (RFC 6455 §7.4).
    pub closes: BTreeMap<u16, u64>,
}

impl Unasked {
    /// Whether nothing came.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { messages, pings, closes } = other;
        self.messages += messages;
        self.pings += pings;
        closes.iter().for_each(|(code, count)| *self.closes.entry(*code).or_default() += count);
    }
}

/// Connections of WebSocket; `H` is how times are held.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WebSocketCounts<H = Histogram> {
    /// Handshakes that were agreed to, from the first byte of the request to the end of its answer.
    pub handshake: H,
    /// Of these, those in which the server agreed to packed messages (permessage-deflate).
    #[serde(default)]
    pub deflates: u64,
    /// From the end of one message of a server's to the end of its next on that connection, in the measured span.
    pub between_messages: H,
    /// What came unasked.
    #[serde(flatten)]
    pub unasked: Unasked,
}

impl WebSocketCounts {
    /// Adds another's counts.
    pub(crate) fn add(&mut self, other: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { handshake, deflates, between_messages, unasked } = other;
        self.handshake.add(handshake);
        self.deflates += deflates;
        self.between_messages.add(between_messages);
        self.unasked.add(unasked);
    }
}

impl<H> WebSocketCounts<H> {
    /// The same with times that are held otherwise.
    ///
    /// # Errors
    /// As `convert`.
    pub(crate) fn convert<'a, T>(&'a self, convert: impl Fn(&'a H) -> Result<T, String>) -> Result<Box<WebSocketCounts<T>>, String> {
        let Self { handshake, deflates, between_messages, unasked } = self;
        let (handshake, between_messages) = (convert(handshake)?, convert(between_messages)?);
        Ok(Box::new(WebSocketCounts { handshake, deflates: *deflates, between_messages, unasked: unasked.clone() }))
    }
}

/// Adds counts that may be none.
pub(crate) fn add(to: &mut Option<Box<WebSocketCounts>>, from: Option<&WebSocketCounts>) {
    if let Some(from) = from {
        to.get_or_insert_default().add(from);
    }
}
