//! WebSocket in a HAR recording: the handshake, and the messages of both sides as Chromium writes them down (`_webSocketMessages`).
//!
//! What was sent becomes steps in its order. Which of the server's messages answered which of ours no recording says, so a message is taken
//! for answered by what came right behind it, before the next was sent.

use plan::template::Template;
use plan::work::{Body, Reply, Talk};
use serde::Deserialize;

use super::{Collection, Request};

/// A message as it was recorded.
#[derive(Deserialize)]
pub(super) struct RecordedMessage {
    /// `send` or `receive`.
    #[serde(default, rename = "type")]
    direction: String,
    /// 1 is text, 2 is binary.
    #[serde(default)]
    opcode: u8,
    #[serde(default)]
    data: String,
}

/// What a close says that nobody asked to be otherwise.
const NORMAL: u16 = 1000;

/// Adds the steps of a conversation, which `request` opened.
pub(super) fn read(request: Request, messages: Option<&[RecordedMessage]>, collection: &mut Collection) {
    let path = request.path().to_string();
    let step = |talk: Talk, body: Body, name: &str| Request {
        name: format!("{name} {path}"),
        method: "GET".to_owned(),
        url: request.url.clone(),
        place: request.place.clone(),
        body,
        talk: Some(talk),
        ..Request::default()
    };
    let place = request.place.clone();
    let (mut steps, mut binary) = (Vec::new(), 0);
    let all = messages.unwrap_or_default();
    for (at, message) in all.iter().enumerate().filter(|(_, message)| message.direction == "send") {
        if message.opcode != 1 {
            binary += 1;
            continue;
        }
        let is_answered = all.get(at + 1).is_some_and(|next| next.direction == "receive");
        let reply = if is_answered { Reply::Next } else { Reply::Nothing };
        steps.push(step(Talk::Send(reply), Body::Text(Template::fixed(message.data.as_str())), "send to"));
    }
    steps.push(step(Talk::Close(NORMAL), Body::Empty, "close"));
    collection.requests.push(Request { name: format!("connect {path}"), talk: Some(Talk::Connect), ..request });
    collection.requests.extend(steps);
    if messages.is_none() {
        collection.leave_out("the messages of a WebSocket", &place, "they are not in the recording; write them as steps that send");
    }
    if binary > 0 {
        collection.leave_out(format!("{binary} binary messages"), &place, "what steps send is text");
    }
}
