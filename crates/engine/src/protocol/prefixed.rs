//! Numbers and texts as HPACK and QPACK write them (RFC 7541 §5, RFC 9204 §4.1): behind the first bits of a byte that say what they are.

use super::http1::HEAD_BYTES_MAX;
use super::huffman;

/// The most bytes of one name or value.
const TEXT_BYTES_MAX: usize = HEAD_BYTES_MAX;

/// A head that cannot be read; the connection is of no more use, since the tables of both sides differ from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unreadable;

/// A number of at most 28 bits: no head has more.
pub(super) fn number(rest: &mut &[u8], bits: u32) -> Result<usize, Unreadable> {
    let (first, mut after) = rest.split_first().ok_or(Unreadable)?;
    let most = (1_usize << bits) - 1;
    let mut number = usize::from(*first) & most;
    if number == most {
        let mut shift = 0;
        loop {
            let (byte, behind) = after.split_first().ok_or(Unreadable)?;
            after = behind;
            number += usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 21 {
                return Err(Unreadable);
            }
        }
    }
    *rest = after;
    Ok(number)
}

/// A text whose length has so many bits of its first byte, behind one that says whether it is packed.
pub(super) fn read_text(rest: &mut &[u8], bits: u32, out: &mut Vec<u8>) -> Result<(), Unreadable> {
    let is_packed = rest.first().ok_or(Unreadable)? & 1 << bits != 0;
    let length = number(rest, bits)?;
    let (text, after) = rest.split_at_checked(length).ok_or(Unreadable)?;
    *rest = after;
    if is_packed {
        return huffman::read(text, out, 2 * TEXT_BYTES_MAX).map_err(|()| Unreadable);
    }
    out.extend_from_slice(text);
    Ok(())
}

/// A text as it is, its length behind these first bits.
pub(super) fn write_text(out: &mut Vec<u8>, (others, bits): (u8, u32), text: &[u8]) {
    write_number(out, others, bits, text.len());
    out.extend_from_slice(text);
}

/// A number whose first bits share a byte with others (RFC 7541 §5.1).
pub(super) fn write_number(out: &mut Vec<u8>, others: u8, bits: u32, number: usize) {
    let most = (1 << bits) - 1;
    if number < most {
        return out.push(others | number as u8);
    }
    out.push(others | most as u8);
    let mut rest = number - most;
    while rest >= 128 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}
