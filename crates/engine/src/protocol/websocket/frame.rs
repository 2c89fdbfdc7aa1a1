//! Frames as a client writes them (RFC 6455 §5.2): whole messages in one frame each, masked.
//!
//! Masks keep browsers from speaking something else through a proxy in between; a server needs them to be there, and no more. They
//! come from a seeded source: what was sent can be sent again.

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    Text = 0x1,
    Binary = 0x2,
    Close = 0x8,
    Ping = 0x9,
    Pong = 0xA,
}

/// The bit of a message that is packed (RFC 7692 §6).
pub(super) const PACKED: u8 = 0x40;

/// Appends a frame with this payload.
pub(super) fn write(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8], mask: u32) {
    write_with(out, opcode as u8, payload, mask);
}

/// The same with further bits beside the opcode.
pub(super) fn write_with(out: &mut Vec<u8>, first: u8, payload: &[u8], mask: u32) {
    const FIN: u8 = 0x80;
    const MASKED: u8 = 0x80;
    out.push(FIN | first);
    match payload.len() {
        length @ ..126 => out.push(MASKED | length as u8),
        length @ ..0x1_0000 => {
            out.push(MASKED | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(MASKED | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    let mask = mask.to_ne_bytes();
    out.extend_from_slice(&mask);
    let from = out.len();
    out.extend_from_slice(payload);
    let wide = u64::from_ne_bytes([mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3]]);
    let mut words = out[from..].chunks_exact_mut(8);
    for word in &mut words {
        let bytes: &mut [u8; 8] = word.try_into().expect("chunks of eight");
        *bytes = (u64::from_ne_bytes(*bytes) ^ wide).to_ne_bytes();
    }
    words.into_remainder().iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
}

/// Appends a close frame with a code, if there is one.
pub(super) fn write_close(out: &mut Vec<u8>, code: Option<u16>, mask: u32) {
    let code = code.map(u16::to_be_bytes);
    write(out, Opcode::Close, code.as_ref().map_or(&[], |code| code), mask);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_as_the_standard_shows_it() {
        // RFC 6455 §5.7: a single-frame masked text message.
        let mut out = Vec::new();
        write(&mut out, Opcode::Text, b"Hello", u32::from_ne_bytes([0x37, 0xfa, 0x21, 0x3d]));
        assert_eq!(out, [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
    }

    #[test]
    fn lengths_take_the_fewest_bytes() {
        for (length, head) in [(0, 6), (125, 6), (126, 8), (0xffff, 8), (0x1_0000, 14)] {
            let payload = vec![b'x'; length];
            let mut out = Vec::new();
            write(&mut out, Opcode::Binary, &payload, 0x0102_0304);
            assert_eq!((out[0], out.len()), (0x82, head + length));
            let mask: [u8; 4] = out[head - 4..head].try_into().unwrap();
            assert!(out[head..].iter().zip(mask.iter().cycle()).all(|(byte, mask)| byte ^ mask == b'x'));
        }
    }

    #[test]
    fn a_close_frame_has_its_code_or_nothing() {
        let mut out = Vec::new();
        write_close(&mut out, Some(1000), 0);
        write_close(&mut out, None, 0);
        assert_eq!(out, [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8, 0x88, 0x80, 0, 0, 0, 0]);
    }
}
