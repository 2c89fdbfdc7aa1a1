//! Steps over WebSocket: they open a connection, talk on it, and close it.

use plan::Target;
use plan::template::Template;
use plan::work::{Body, Reply, Step, Subject, Talk};

use super::{Defaults, Entries, Reading};
use crate::yaml::{Key as Word, Node, Value};

/// The words that such steps begin with.
pub(super) const KINDS: [&str; 6] = ["connect", "send", "receive", "listen", "ping", "close"];

/// A connection that a step opens.
#[derive(Clone)]
pub(super) struct Opened {
    /// As it is written there.
    typed: String,
    path: Template,
    elsewhere: Option<Target>,
}

/// What a close says if nothing else is asked for.
const NORMAL: u16 = 1000;

impl Reading<'_> {
    pub(super) fn talk(&mut self, kind: &str, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Option<Step> {
        let (word, node) = entries.take(kind).expect("it was looked for");
        let opened = if kind == "connect" { self.connect(node) } else { self.opened_before(word, entries) };
        let own_name = entries.value("name").and_then(|node| self.plain(node));
        let (mut headers, mut shared_secrets, mut auth) = (Vec::new(), Vec::new(), None);
        let mut body = Body::Empty;
        let talk = match kind {
            "connect" => {
                let elsewhere = opened.as_ref().and_then(|opened| opened.elsewhere.as_ref());
                (headers, shared_secrets, auth) = self.head(entries, defaults, elsewhere);
                Some(Talk::Connect)
            }
            "send" => {
                body = self.message(node);
                Some(Talk::Send(entries.value("answer").map_or(Reply::Next, |node| self.reply(node))))
            }
            "receive" => match self.reply(node) {
                Reply::Nothing => {
                    self.wrong(node.spot, "this waits for nothing", "write receive: next, or what the message has to be");
                    None
                }
                reply => Some(Talk::Receive(reply)),
            },
            "listen" => {
                for word in ["timeout", "checks", "extract", "after"] {
                    if let Some((word, _)) = entries.take(word) {
                        let message =
                            format!("'{}' means nothing beside 'listen', which counts what comes and looks into none of it", word.text);
                        self.wrong(word.spot, message, "wait for a message that is looked into with receive");
                    }
                }
                self.limit(node, "listen").map(Talk::Listen)
            }
            "ping" => self.truth(node).map(|_| Talk::Ping),
            _ => self.close_code(node).map(Talk::Close),
        };
        let mut common = self.common(entries, defaults);
        if kind == "listen" {
            common.timeout = None;
        }
        let (talk, Opened { typed, path, elsewhere }) = (talk?, opened?);
        let name = plan::url_without_secrets(&own_name.unwrap_or_else(|| name_of(&talk, &typed)));
        let name = if group.is_empty() { name } else { format!("{group} / {name}") };
        Some(Step { talk: Some(talk), name, method: "GET".to_owned(), path, elsewhere, headers, shared_secrets, body, auth, ..common })
    }

    fn connect(&mut self, node: &Node) -> Option<Opened> {
        let typed = self.plain(node)?;
        let (path, elsewhere) = self.place_of(node)?;
        let elsewhere = elsewhere.map(Target::over_websocket);
        let opened = Opened { typed, path, elsewhere };
        self.opened.push(opened.clone());
        Some(opened)
    }

    /// The connection that a step is about: as it says, or the last that was opened above it.
    fn opened_before(&mut self, word: &Word, entries: &mut Entries<'_>) -> Option<Opened> {
        let wanted = entries.value("on").and_then(|node| Some((node.spot, self.plain(node)?)));
        let found = self.opened.iter().rev().find(|opened| wanted.as_ref().is_none_or(|(_, wanted)| *wanted == opened.typed)).cloned();
        if found.is_none() {
            let (spot, message) = match wanted {
                Some((spot, wanted)) => (spot, format!("nothing above connects to '{}'", wanted.escape_debug())),
                None => (word.spot, format!("'{}' talks over WebSocket, and nothing above connects", word.text)),
            };
            self.wrong(spot, message, "write a step before it: - connect: /chat");
        }
        found
    }

    /// JSON, as YAML has it or as a text that begins so, or a text.
    fn message(&mut self, node: &Node) -> Body {
        let is_json = match &node.value {
            Value::Scalar { text, .. } => text.trim_start().starts_with(['{', '[']) && !text.trim_start().starts_with("{{"),
            Value::List(_) | Value::Map(_) => true,
            Value::Told => return Body::Empty,
        };
        let template = if is_json { self.json_body(node).map(Body::Json) } else { self.template(node).map(Body::Text) };
        template.unwrap_or_default()
    }

    /// Which message is waited for.
    fn reply(&mut self, node: &Node) -> Reply {
        match &node.value {
            Value::Scalar { text, .. } if text == "none" => Reply::Nothing,
            Value::Scalar { text, .. } if matches!(text.as_str(), "next" | "any") => Reply::Next,
            _ => {
                let conditions = self.checks(node).0;
                if conditions.iter().any(|condition| matches!(condition.subject, Subject::Variable(_))) {
                    self.wrong(node.spot, "which message is waited for cannot be about a variable", "say what the message has to be");
                }
                Reply::First(conditions)
            }
        }
    }

    fn close_code(&mut self, node: &Node) -> Option<u16> {
        match &node.value {
            Value::Scalar { text, .. } if text == "true" => Some(NORMAL),
            _ => {
                let code = self.whole(node, u16::MAX.into())?;
                match u16::try_from(code) {
                    // What a client may say (RFC 6455 §7.4).
                    Ok(code @ (1000..=1003 | 1007..=1011 | 3000..=4999)) => Some(code),
                    _ => {
                        let help = "write close: true (1000), or a code from 3000 to 4999";
                        self.wrong(node.spot, format!("{code} is no code that a client closes with"), help);
                        None
                    }
                }
            }
        }
    }
}

/// What reports call a step that has no name of its own.
pub(crate) fn name_of(talk: &Talk, path: &str) -> String {
    let what = match talk {
        Talk::Connect => "connect",
        Talk::Send(_) => "send to",
        Talk::Receive(_) => "receive from",
        Talk::Listen(_) => "listen to",
        Talk::Ping => "ping",
        Talk::Close(_) => "close",
        Talk::Call => "call",
    };
    format!("{what} {path}")
}
