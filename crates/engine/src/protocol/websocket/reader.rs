//! The reader of what a server sends over WebSocket: a state machine fed with what was read (RFC 6455 §5).
//!
//! It hands out pieces of messages as they come and keeps none of them; only what a control frame carries, 125 bytes at most, is
//! gathered, and only while such a frame is under way has an idle connection memory for it. Text is held to be UTF-8 as it comes, so
//! that a message of any length is judged without being kept.

use std::str::from_utf8;

use super::frame::PACKED;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'b> {
    /// More has to come.
    More,
    /// A piece of a message, which may be its last.
    Message {
        /// What it adds.
        piece: &'b [u8],
        /// Whether the message is complete.
        ends: bool,
    },
    /// The server wants to know whether we are there: what a pong has to carry.
    Ping(Vec<u8>),
    /// An answer to a ping.
    Pong,
    /// The server closes the connection: its code and reason.
    Close(Option<u16>, String),
}

/// What a server did against the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Violation {
    /// What it is called in words.
    pub(super) what: &'static str,
    /// The code of our close frame (RFC 6455 §7.4.1).
    pub(super) code: u16,
}

const fn violation(what: &'static str) -> Violation {
    Violation { what, code: 1002 }
}

const NOT_UTF8: Violation = Violation { what: "a text that is not UTF-8", code: 1007 };

/// What a control frame carries at most.
const CONTROL_BYTES_MAX: u8 = 125;

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xA;

/// Reads one connection.
#[derive(Debug)]
pub(super) struct Reader {
    phase: Phase,
    /// The head of a frame as far as it has come.
    head: [u8; HEAD_BYTES_MAX],
    head_bytes: u8,
    /// The message under way, if one is.
    message: Option<Kind>,
    /// Of the message that began last.
    last: Kind,
    /// Whether messages may be packed, and whether the last that began is.
    may_be_packed: bool,
    is_packed: bool,
    utf8: Utf8,
    /// What the control frame under way carries, as far as it has come.
    control: Option<Box<Control>>,
}

/// Two bytes, and a length of eight.
const HEAD_BYTES_MAX: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Binary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head,
    /// Of a message's frame so much is to come, and whether it is the last.
    Data {
        left: u64,
        is_last: bool,
    },
    Control,
}

#[derive(Debug)]
struct Control {
    opcode: u8,
    left: u8,
    payload: Vec<u8>,
}

impl Reader {
    pub(super) const fn new(may_be_packed: bool) -> Self {
        Self {
            phase: Phase::Head,
            head: [0; HEAD_BYTES_MAX],
            head_bytes: 0,
            message: None,
            last: Kind::Binary,
            may_be_packed,
            is_packed: false,
            utf8: Utf8::new(),
            control: None,
        }
    }

    /// Whether the message whose piece was read last is packed. If so, whether it is UTF-8 has to be judged by whoever unpacks it.
    pub(super) const fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// What judges the text of a packed message.
    pub(super) const fn text(&self) -> PackedText {
        PackedText { utf8: Utf8::new(), is_text: matches!(self.last, Kind::Text) }
    }

    /// Whether a message has begun and is not complete.
    pub(super) const fn is_amid_message(&self) -> bool {
        self.message.is_some()
    }

    /// Takes the next event from these bytes.
    ///
    /// # Errors
    /// What the server did wrong; the connection is to be closed.
    pub(super) fn next<'b>(&mut self, bytes: &mut &'b [u8]) -> Result<Event<'b>, Violation> {
        loop {
            match self.phase {
                Phase::Head => {
                    if !self.take_head(bytes)? {
                        return Ok(Event::More);
                    }
                }
                Phase::Data { left, is_last } => {
                    let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    let (piece, rest) = bytes.split_at(here);
                    *bytes = rest;
                    let left = left - here as u64;
                    if self.message == Some(Kind::Text) && !self.is_packed && !self.utf8.take(piece) {
                        return Err(NOT_UTF8);
                    }
                    self.phase = if left > 0 { Phase::Data { left, is_last } } else { Phase::Head };
                    let ends = left == 0 && is_last;
                    if ends {
                        self.message = None;
                        if !self.utf8.is_whole() {
                            return Err(NOT_UTF8);
                        }
                    }
                    if ends || !piece.is_empty() {
                        return Ok(Event::Message { piece, ends });
                    }
                    if left > 0 {
                        return Ok(Event::More);
                    }
                }
                Phase::Control => {
                    let Some(control) = &mut self.control else { return Ok(Event::More) };
                    let here = usize::from(control.left).min(bytes.len());
                    let (piece, rest) = bytes.split_at(here);
                    *bytes = rest;
                    control.payload.extend_from_slice(piece);
                    control.left -= here as u8;
                    if control.left > 0 {
                        return Ok(Event::More);
                    }
                    self.phase = Phase::Head;
                    let Control { opcode, payload, .. } = *self.control.take().expect("a control frame under way is held");
                    return match opcode {
                        PING => Ok(Event::Ping(payload)),
                        PONG => Ok(Event::Pong),
                        _ => close(&payload),
                    };
                }
            }
        }
    }

    /// Takes the head of a frame, if it is complete.
    fn take_head(&mut self, bytes: &mut &[u8]) -> Result<bool, Violation> {
        loop {
            let wanted = match self.head_bytes {
                0 | 1 => 2,
                _ => match self.head[1] {
                    126 => 4,
                    127 => 10,
                    _ => 2,
                },
            };
            let held = usize::from(self.head_bytes);
            if held >= 2 && held == wanted {
                break;
            }
            let here = (wanted - held).min(bytes.len());
            if here == 0 {
                return Ok(false);
            }
            let (piece, rest) = bytes.split_at(here);
            self.head[held..held + here].copy_from_slice(piece);
            self.head_bytes += here as u8;
            *bytes = rest;
            if held < 2 && self.head_bytes >= 2 {
                self.judge_head()?;
            }
        }
        let [first, short, length @ ..] = self.head;
        let length = match short {
            126 => u64::from(u16::from_be_bytes([length[0], length[1]])),
            127 => u64::from_be_bytes(length),
            short => u64::from(short),
        };
        if length > i64::MAX as u64 {
            return Err(violation("a frame whose length has its highest bit set"));
        }
        self.head_bytes = 0;
        let (opcode, is_last) = (first & 0x0f, first & 0x80 != 0);
        self.phase = if opcode >= CLOSE {
            self.control = Some(Box::new(Control { opcode, left: short, payload: Vec::new() }));
            Phase::Control
        } else {
            Phase::Data { left: length, is_last }
        };
        Ok(true)
    }

    /// Judges the first two bytes of a frame.
    fn judge_head(&mut self) -> Result<(), Violation> {
        let [first, second, ..] = self.head;
        let opcode = first & 0x0f;
        let is_packed = self.may_be_packed && first & PACKED != 0 && matches!(opcode, TEXT | BINARY);
        if first & 0x70 != 0 && !(is_packed && first & 0x30 == 0) {
            return Err(violation("a frame with reserved bits, though no extension was agreed on"));
        }
        if second & 0x80 != 0 {
            return Err(violation("a masked frame"));
        }
        match opcode {
            CONTINUATION if self.message.is_none() => Err(violation("a continuation of no message")),
            TEXT | BINARY if self.message.is_some() => Err(violation("a new message in the middle of another")),
            TEXT | BINARY => {
                self.last = if opcode == TEXT { Kind::Text } else { Kind::Binary };
                self.message = Some(self.last);
                self.is_packed = is_packed;
                self.utf8 = Utf8::new();
                Ok(())
            }
            CONTINUATION => Ok(()),
            CLOSE | PING | PONG if first & 0x80 == 0 => Err(violation("a control frame in parts")),
            CLOSE | PING | PONG if second > CONTROL_BYTES_MAX => Err(violation("a control frame of more than 125 bytes")),
            CLOSE | PING | PONG => Ok(()),
            _ => Err(violation("a frame of a kind that is not known")),
        }
    }
}

/// What a close frame says.
fn close(payload: &[u8]) -> Result<Event<'static>, Violation> {
    match payload {
        [] => Ok(Event::Close(None, String::new())),
        [_] => Err(violation("a close frame of one byte")),
        [high, low, reason @ ..] => {
            let code = u16::from_be_bytes([*high, *low]);
            // RFC 6455 §7.4, and those registered since.
            if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
                return Err(violation("a close frame with a code that must not be sent"));
            }
            let reason = from_utf8(reason).map_err(|_| NOT_UTF8)?;
            Ok(Event::Close(Some(code), reason.to_owned()))
        }
    }
}

/// Judges whether what a packed message stands for is UTF-8, if it is a text.
pub(super) struct PackedText {
    utf8: Utf8,
    is_text: bool,
}

impl PackedText {
    pub(super) fn take(&mut self, piece: &[u8]) -> Result<(), Violation> {
        if !self.is_text || self.utf8.take(piece) { Ok(()) } else { Err(NOT_UTF8) }
    }

    pub(super) fn end(&self) -> Result<(), Violation> {
        if self.utf8.is_whole() { Ok(()) } else { Err(NOT_UTF8) }
    }
}

/// Judges whether pieces together are UTF-8.
#[derive(Debug, Clone, Copy)]
struct Utf8 {
    /// The beginning of a character that is not complete.
    held: [u8; 4],
    count: u8,
}

impl Utf8 {
    const fn new() -> Self {
        Self { held: [0; 4], count: 0 }
    }

    /// Whether nothing is missing.
    const fn is_whole(&self) -> bool {
        self.count == 0
    }

    /// Takes another piece; whether it may still become UTF-8.
    fn take(&mut self, piece: &[u8]) -> bool {
        let mut piece = piece;
        while self.count > 0 {
            let Some((first, rest)) = piece.split_first() else { return true };
            self.held[usize::from(self.count)] = *first;
            self.count += 1;
            piece = rest;
            match from_utf8(&self.held[..usize::from(self.count)]) {
                Ok(_) => self.count = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match from_utf8(piece) {
            Ok(_) => true,
            Err(error) if error.error_len().is_some() => false,
            Err(error) => {
                let begun = &piece[error.valid_up_to()..];
                self.held[..begun.len()].copy_from_slice(begun);
                self.count = begun.len() as u8;
                true
            }
        }
    }
}
