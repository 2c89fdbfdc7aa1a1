//! Frames as bytes (RFC 9113 §4 and §6): their kinds, flags and codes, and their heads written and read.

use measure::Failure;

use super::FRAME_BYTES_MAX;

/// What a connection begins with (RFC 9113 §3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) const FRAME_HEAD_BYTES: usize = 9;

pub(super) mod kind {
    pub(in super::super) const DATA: u8 = 0;
    pub(in super::super) const HEADERS: u8 = 1;
    pub(in super::super) const PRIORITY: u8 = 2;
    pub(in super::super) const RST_STREAM: u8 = 3;
    pub(in super::super) const SETTINGS: u8 = 4;
    pub(in super::super) const PUSH_PROMISE: u8 = 5;
    pub(in super::super) const PING: u8 = 6;
    pub(in super::super) const GOAWAY: u8 = 7;
    pub(in super::super) const WINDOW_UPDATE: u8 = 8;
    pub(in super::super) const CONTINUATION: u8 = 9;
}

pub(super) mod flag {
    pub(in super::super) const ACK: u8 = 1;
    pub(in super::super) const END_STREAM: u8 = 1;
    pub(in super::super) const END_HEADERS: u8 = 4;
    pub(in super::super) const PADDED: u8 = 8;
    pub(in super::super) const PRIORITY: u8 = 32;
}

/// Why a connection or a stream is ended (RFC 9113 §7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code(pub(super) u32);

impl Code {
    pub(super) const NO_ERROR: Self = Self(0);
    pub(super) const PROTOCOL_ERROR: Self = Self(1);
    pub(super) const FLOW_CONTROL_ERROR: Self = Self(3);
    pub(super) const STREAM_CLOSED: Self = Self(5);
    pub(super) const FRAME_SIZE_ERROR: Self = Self(6);
    pub(super) const CANCEL: Self = Self(8);
    pub(super) const COMPRESSION_ERROR: Self = Self(9);
    pub(super) const ENHANCE_YOUR_CALM: Self = Self(11);

    pub(super) fn name(self) -> String {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        NAMES.get(self.0 as usize).map_or_else(|| format!("error {}", self.0), ToString::to_string)
    }

    /// The class of a request whose stream the server reset so.
    pub(super) fn failure(self) -> Failure {
        match self.0 {
            2 => Failure::Http2Internal,
            7 => Failure::Http2Refused,
            8 => Failure::Http2Cancel,
            11 => Failure::Http2Calm,
            13 => Failure::Http2Needs1,
            _ => Failure::Http2Reset,
        }
    }
}

/// The server broke a rule of the connection.
pub(super) struct Breach(pub(super) Code, pub(super) &'static str);

/// The length of the frame that begins so.
pub(super) fn whole(head: &[u8]) -> Result<usize, Breach> {
    let content = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    if content > FRAME_BYTES_MAX {
        return Err(Breach(Code::FRAME_SIZE_ERROR, "a frame larger than 16 KiB"));
    }
    Ok(FRAME_HEAD_BYTES + content)
}

/// What a frame holds beside its padding (RFC 9113 §6.1).
pub(super) fn unpadded(flags: u8, content: &[u8]) -> Result<&[u8], Breach> {
    if flags & flag::PADDED == 0 {
        return Ok(content);
    }
    let wrong = Breach(Code::PROTOCOL_ERROR, "a frame with more padding than content");
    let Some((padding, content)) = content.split_first() else { return Err(wrong) };
    content.len().checked_sub(usize::from(*padding)).map(|length| &content[..length]).ok_or(wrong)
}

pub(super) fn u32_of(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

pub(super) fn setting(name: u8, value: u32) -> [u8; 6] {
    let [a, b, c, d] = value.to_be_bytes();
    [0, name, a, b, c, d]
}

pub(super) fn write_frame_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

pub(super) fn write_window_update(out: &mut Vec<u8>, stream: u32, more: i64) {
    write_frame_head(out, 4, kind::WINDOW_UPDATE, 0, stream);
    out.extend_from_slice(&(more as u32).to_be_bytes());
}

pub(super) fn write_reset(out: &mut Vec<u8>, stream: u32, code: Code) {
    write_frame_head(out, 4, kind::RST_STREAM, 0, stream);
    out.extend_from_slice(&code.0.to_be_bytes());
}
