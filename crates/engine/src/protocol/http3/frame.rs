//! Numbers and frames of HTTP/3 (RFC 9114 §7), and the codes of its errors (§8.1).

use measure::Failure;

/// Kinds of frames (§7.2).
pub(super) mod kind {
    pub(in super::super) const DATA: u64 = 0;
    pub(in super::super) const HEADERS: u64 = 1;
    pub(in super::super) const CANCEL_PUSH: u64 = 3;
    pub(in super::super) const SETTINGS: u64 = 4;
    pub(in super::super) const PUSH_PROMISE: u64 = 5;
    pub(in super::super) const GOAWAY: u64 = 7;
    pub(in super::super) const MAX_PUSH_ID: u64 = 13;
    /// What HTTP/2 has and HTTP/3 has not (§7.2.8).
    pub(in super::super) const OF_HTTP2: [u64; 4] = [2, 6, 8, 9];
}

/// Kinds of streams that go one way (§6.2, RFC 9204 §4.2).
pub(super) mod stream {
    pub(in super::super) const CONTROL: u64 = 0;
    pub(in super::super) const PUSH: u64 = 1;
    pub(in super::super) const ENCODER: u64 = 2;
    pub(in super::super) const DECODER: u64 = 3;
}

/// Why a connection or a stream is ended (§8.1, RFC 9204 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code(pub(super) u64);

impl Code {
    pub(super) const NO_ERROR: Self = Self(0x100);
    pub(super) const STREAM_CREATION_ERROR: Self = Self(0x103);
    pub(super) const CLOSED_CRITICAL_STREAM: Self = Self(0x104);
    pub(super) const FRAME_UNEXPECTED: Self = Self(0x105);
    pub(super) const FRAME_ERROR: Self = Self(0x106);
    pub(super) const ID_ERROR: Self = Self(0x108);
    pub(super) const SETTINGS_ERROR: Self = Self(0x109);
    pub(super) const MISSING_SETTINGS: Self = Self(0x10a);
    pub(super) const REQUEST_CANCELLED: Self = Self(0x10c);
    pub(super) const MESSAGE_ERROR: Self = Self(0x10e);
    pub(super) const DECOMPRESSION_FAILED: Self = Self(0x200);

    pub(super) fn name(self) -> String {
        const NAMES: [&str; 17] = [
            "H3_NO_ERROR",
            "H3_GENERAL_PROTOCOL_ERROR",
            "H3_INTERNAL_ERROR",
            "H3_STREAM_CREATION_ERROR",
            "H3_CLOSED_CRITICAL_STREAM",
            "H3_FRAME_UNEXPECTED",
            "H3_FRAME_ERROR",
            "H3_EXCESSIVE_LOAD",
            "H3_ID_ERROR",
            "H3_SETTINGS_ERROR",
            "H3_MISSING_SETTINGS",
            "H3_REQUEST_REJECTED",
            "H3_REQUEST_CANCELLED",
            "H3_REQUEST_INCOMPLETE",
            "H3_MESSAGE_ERROR",
            "H3_CONNECT_ERROR",
            "H3_VERSION_FALLBACK",
        ];
        const OF_QPACK: [&str; 3] = ["QPACK_DECOMPRESSION_FAILED", "QPACK_ENCODER_STREAM_ERROR", "QPACK_DECODER_STREAM_ERROR"];
        let known = |names: &[&'static str], first: u64| self.0.checked_sub(first).and_then(|at| names.get(at as usize).copied());
        known(&OF_QPACK, 0x200).or_else(|| known(&NAMES, 0x100)).map_or_else(|| format!("error {:#x}", self.0), ToOwned::to_owned)
    }

    /// The class of a request whose stream the server reset so.
    pub(super) const fn failure(self) -> Failure {
        match self.0 {
            0x102 => Failure::Http3Internal,
            0x107 => Failure::Http3Calm,
            0x10b => Failure::Http3Refused,
            0x10c => Failure::Http3Cancel,
            0x110 => Failure::Http3Needs1,
            _ => Failure::Http3Reset,
        }
    }
}

/// The server broke a rule of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Breach(pub(super) Code, pub(super) &'static str);

/// A number of up to 62 bits at the beginning of these bytes (RFC 9000 §16), and how many it takes; `None` if it is not all there.
pub(super) fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let length = 1 << (first >> 6);
    let rest = bytes.get(1..length)?;
    Some((rest.iter().fold(u64::from(first & 0x3f), |number, byte| number << 8 | u64::from(*byte)), length))
}

pub(super) fn write_number(out: &mut Vec<u8>, number: u64) {
    let bytes = number.to_be_bytes();
    match number {
        0..=0x3f => out.push(bytes[7]),
        0x40..=0x3fff => out.extend_from_slice(&[bytes[6] | 0x40, bytes[7]]),
        0x4000..=0x3fff_ffff => out.extend_from_slice(&[bytes[4] | 0x80, bytes[5], bytes[6], bytes[7]]),
        _ => {
            out.push(bytes[0] | 0xc0);
            out.extend_from_slice(&bytes[1..]);
        }
    }
}

/// The beginning of a frame with so much content.
pub(super) fn write_frame_head(out: &mut Vec<u8>, kind: u64, length: usize) {
    write_number(out, kind);
    write_number(out, length as u64);
}

/// The frames of a stream, as their bytes come.
#[derive(Debug, Default)]
pub(super) struct Frames {
    next: FrameHead,
    /// The kind of the frame at hand, and how much of it is to come.
    frame: Option<(u64, u64)>,
}

/// A piece of a frame's content.
pub(super) struct Piece<'a> {
    pub(super) kind: u64,
    pub(super) content: &'a [u8],
    /// Whether the frame ends with it.
    pub(super) is_last: bool,
}

impl Frames {
    /// Takes the next piece from the front; `None` if there is no more. Each frame that begins is judged by its kind and length.
    ///
    /// # Errors
    /// Those of the judge.
    pub(super) fn take<'a, E>(
        &mut self,
        bytes: &mut &'a [u8],
        judge: impl FnOnce(u64, u64) -> Result<(), E>,
    ) -> Result<Option<Piece<'a>>, E> {
        let (kind, left) = match self.frame {
            Some(_) if bytes.is_empty() => return Ok(None),
            Some(frame) => frame,
            None => {
                let Some((kind, length)) = self.next.take(bytes) else { return Ok(None) };
                judge(kind, length)?;
                (kind, length)
            }
        };
        let (content, rest) = bytes.split_at(bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        *bytes = rest;
        let left = left - content.len() as u64;
        self.frame = (left > 0).then_some((kind, left));
        Ok(Some(Piece { kind, content, is_last: left == 0 }))
    }

    /// Whether a frame has begun and not ended.
    pub(super) const fn is_within(&self) -> bool {
        self.next.count > 0 || self.frame.is_some()
    }
}

/// Kind and length of a frame, as their bytes come.
#[derive(Debug, Default)]
struct FrameHead {
    bytes: [u8; 16],
    count: u8,
}

impl FrameHead {
    /// Takes what belongs to it from the front; kind and length, once they are whole.
    fn take(&mut self, bytes: &mut &[u8]) -> Option<(u64, u64)> {
        while let Some((byte, rest)) = bytes.split_first() {
            *bytes = rest;
            self.bytes[usize::from(self.count)] = *byte;
            self.count += 1;
            let so_far = &self.bytes[..usize::from(self.count)];
            if let Some((kind, length)) = number(so_far)
                && let Some((content, _)) = number(&so_far[length..])
            {
                self.count = 0;
                return Some((kind, content));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000 Appendix A.1.
    #[test]
    fn numbers_are_read_and_written_as_in_the_standard() {
        for (bytes, wanted) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(number(bytes), Some((wanted, bytes.len())));
            let mut out = Vec::new();
            write_number(&mut out, wanted);
            assert_eq!(out, bytes);
            (0..bytes.len()).for_each(|cut| assert_eq!(number(&bytes[..cut]), None));
        }
        assert_eq!(number(&[0x40, 0x25]), Some((37, 2)));
    }

    #[test]
    fn codes_have_the_names_of_the_standard() {
        assert_eq!(Code::REQUEST_CANCELLED.name(), "H3_REQUEST_CANCELLED");
        assert_eq!(Code::DECOMPRESSION_FAILED.name(), "QPACK_DECOMPRESSION_FAILED");
        assert_eq!((Code(0x110).name(), Code(0x111).name()), ("H3_VERSION_FALLBACK".to_owned(), "error 0x111".to_owned()));
    }
}
