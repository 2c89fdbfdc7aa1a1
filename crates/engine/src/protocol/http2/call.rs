//! What an answer over HTTP/2 has beside others where it is one of gRPC: messages in its content, and a status behind them
//! (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>).
//!
//! Messages are counted and held to their lengths as they pass, also where nobody looks at them, since an answer that was cut off must be
//! no success.

use std::borrow::Cow;

use measure::Failure;

use crate::protocol::messages::Messages;

/// A larger message is refused, in bytes.
const MESSAGE_BYTES_MAX: u32 = 64 << 20;

/// A longer text of the server's is cut, in bytes.
const WORDS_BYTES_MAX: usize = 1024;

/// What the server said of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Status {
    /// Nothing yet.
    #[default]
    Untold,
    Code(u64),
    /// What is no number.
    Unreadable,
}

/// A call as far as it was answered.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Call {
    status: Status,
    message: Vec<u8>,
    /// Whether the answer says how its messages are packed.
    is_packed: bool,
    messages: Messages,
}

/// How a call ended that did not succeed: its class, and the server's words or ours.
pub(super) type CallFailed = (Failure, String);

impl Call {
    /// Takes a field of a head or of trailers.
    pub(in crate::protocol) fn field(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"grpc-status" => {
                let digits =
                    std::str::from_utf8(value).ok().filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
                self.status = digits.and_then(|text| text.parse().ok()).map_or(Status::Unreadable, Status::Code);
            }
            b"grpc-message" => {
                self.message.clear();
                self.message.extend_from_slice(&value[..value.len().min(WORDS_BYTES_MAX)]);
            }
            b"grpc-encoding" => self.is_packed = value != b"identity",
            _ => {}
        }
    }

    /// Whether all that it was told is that it succeeded.
    pub(super) fn is_plain_success(&self) -> bool {
        self.status == Status::Code(0) && self.message.is_empty()
    }

    /// Whether nothing was said of its status.
    pub(super) fn is_untold(&self) -> bool {
        self.status == Status::Untold && !self.is_packed
    }

    /// It succeeded, as it was said in these very bytes before.
    pub(super) fn succeeds(&mut self) {
        self.status = Status::Code(0);
    }

    /// Takes a piece of the content.
    ///
    /// # Errors
    /// If no message begins so.
    pub(super) fn content(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        let Self { messages, is_packed, .. } = self;
        let begins = |packed, length| match packed {
            0 | 1 if length > MESSAGE_BYTES_MAX => Err("a message of more than 64 MiB"),
            0 => Ok(()),
            1 if *is_packed => Ok(()),
            1 => Err("a packed message, and no grpc-encoding that says how"),
            _ => Err("a message that does not begin with 0 or 1"),
        };
        messages.take(bytes, begins).map(|_| ())
    }

    /// What the answer came to, which is whole. `content` is the beginning of it, where it is no answer of gRPC.
    ///
    /// # Errors
    /// If the call did not succeed.
    pub(super) fn verdict(&self, http_status: u16, content: &[u8]) -> Result<(), CallFailed> {
        let code = match self.status {
            // A proxy that knows no gRPC answers so.
            Status::Untold if http_status != 200 => {
                let words = format!("the HTTP status {http_status}: {}", String::from_utf8_lossy(content));
                return Err((of_http(http_status), words.trim_end_matches(": ").to_owned()));
            }
            Status::Untold => return Err((Failure::GrpcNoStatus, String::new())),
            Status::Unreadable => return Err((Failure::GrpcProtocol, "a grpc-status that is no number".to_owned())),
            Status::Code(code) => code,
        };
        if let Some(failure) = Failure::of_grpc(code) {
            let words = String::from_utf8_lossy(&percent_decoded(&self.message)).into_owned();
            let unknown = if code > 16 { format!("grpc-status {code}: ") } else { String::new() };
            return Err((failure, unknown + &words));
        }
        if !self.messages.is_between() {
            return Err((Failure::GrpcProtocol, "the answer ends in the middle of a message".to_owned()));
        }
        Ok(())
    }
}

/// The class of a call that was answered over HTTP alone (<https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md>).
fn of_http(status: u16) -> Failure {
    match status {
        400 => Failure::GrpcInternal,
        401 => Failure::GrpcUnauthenticated,
        403 => Failure::GrpcPermissionDenied,
        404 => Failure::GrpcUnimplemented,
        429 | 502..=504 => Failure::GrpcUnavailable,
        _ => Failure::GrpcUnknown,
    }
}

/// A message of a status, whose bytes beyond printable ASCII are percent-encoded; what is no code stands as it is.
fn percent_decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'%') {
        return Cow::Borrowed(text);
    }
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (mut decoded, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        match (byte, digit(text.get(at + 1)), digit(text.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high << 4 | low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    Cow::Owned(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(fields: &[(&str, &str)]) -> Call {
        let mut call = Call::default();
        fields.iter().for_each(|(name, value)| call.field(name.as_bytes(), value.as_bytes()));
        call
    }

    fn message(length: u32, content: &[u8]) -> Vec<u8> {
        [&[0], &length.to_be_bytes()[..], content].concat()
    }

    #[test]
    fn a_call_is_what_its_status_says() {
        let of = |fields: &[(&str, &str)], status: u16| told(fields).verdict(status, b"busy\n");
        assert_eq!(of(&[("grpc-status", "0")], 200), Ok(()));
        let failed = |failure, words: &str| Err((failure, words.to_owned()));
        assert_eq!(of(&[("grpc-status", "5"), ("grpc-message", "no%20%C3%BC%")], 200), failed(Failure::GrpcNotFound, "no \u{fc}%"));
        assert_eq!(of(&[("grpc-status", "99"), ("grpc-message", "odd")], 200), failed(Failure::GrpcUnknown, "grpc-status 99: odd"));
        assert_eq!(of(&[("grpc-status", "OK")], 200), failed(Failure::GrpcProtocol, "a grpc-status that is no number"));
        assert_eq!(of(&[("grpc-status", "")], 200), failed(Failure::GrpcProtocol, "a grpc-status that is no number"));
        assert_eq!(of(&[], 200), failed(Failure::GrpcNoStatus, ""));
        for (status, failure) in [
            (400, Failure::GrpcInternal),
            (401, Failure::GrpcUnauthenticated),
            (403, Failure::GrpcPermissionDenied),
            (404, Failure::GrpcUnimplemented),
            (429, Failure::GrpcUnavailable),
            (503, Failure::GrpcUnavailable),
            (418, Failure::GrpcUnknown),
        ] {
            assert_eq!(of(&[], status), failed(failure, &format!("the HTTP status {status}: busy\n")));
        }
        // Who says a status is believed, whatever HTTP says.
        assert_eq!(of(&[("grpc-status", "14")], 503), failed(Failure::GrpcUnavailable, ""));
    }

    #[test]
    fn an_answer_that_ends_within_a_message_is_no_success() {
        let content = [message(3, b"abc"), message(0, b""), message(2, b"de")].concat();
        for length in 0..=content.len() {
            let mut call = told(&[("grpc-status", "0")]);
            call.content(&content[..length]).unwrap();
            let is_whole = [0, 8, 13, content.len()].contains(&length);
            assert_eq!(call.verdict(200, b"").is_ok(), is_whole, "{length}");
            assert!(is_whole || call.verdict(200, b"").unwrap_err().1 == "the answer ends in the middle of a message");
        }
    }

    #[test]
    fn prefixes_that_cannot_be_are_told() {
        let of = |fields: &[(&str, &str)], content: &[u8]| told(fields).content(content);
        assert_eq!(of(&[], &message(u32::MAX, b"")), Err("a message of more than 64 MiB"));
        assert_eq!(of(&[], &[2, 0, 0, 0, 0]), Err("a message that does not begin with 0 or 1"));
        let unsaid = Err("a packed message, and no grpc-encoding that says how");
        assert_eq!(of(&[], &[1, 0, 0, 0, 0]), unsaid);
        assert_eq!(of(&[("grpc-encoding", "identity")], &[1, 0, 0, 0, 0]), unsaid);
        assert_eq!(of(&[("grpc-encoding", "gzip")], &[1, 0, 0, 0, 0]), Ok(()));
    }
}
