//! Messages as they stand in the content of a request or an answer, one behind the other
//! (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>): a byte that says whether it is packed, four for its length, and
//! its own.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message as Encode;

/// What stands before a message, in bytes.
const PREFIX_BYTES: usize = 5;

/// Puts a message behind `out`, packed with gzip or as it is.
pub(crate) fn put(message: &impl Encode, is_packed: bool, out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend_from_slice(&[0; PREFIX_BYTES]);
    if is_packed {
        let mut packed = GzEncoder::new(&mut *out, Compression::default());
        packed.write_all(&message.encode_to_vec()).and_then(|()| packed.finish().map(|_| ())).expect("memory takes it");
    } else {
        message.encode_raw(out);
    }
    let length = (out.len() - begin - PREFIX_BYTES) as u32;
    out[begin] = u8::from(is_packed);
    out[begin + 1..begin + PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
}

/// A message: whether it is packed, its bytes, and what stands behind it.
type Message<'a> = (bool, &'a [u8], &'a [u8]);

/// The next message. `None` at the end.
///
/// # Errors
/// If it is cut off.
pub(crate) fn next(content: &[u8]) -> Result<Option<Message<'_>>, String> {
    if content.is_empty() {
        return Ok(None);
    }
    let cut = || "the answer ends in the middle of a message".to_owned();
    let ([packed, a, b, c, d], rest) = content.split_first_chunk::<PREFIX_BYTES>().ok_or_else(cut)?;
    let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
    let (message, rest) = rest.split_at_checked(length).ok_or_else(cut)?;
    Ok(Some((*packed != 0, message, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stand_one_behind_the_other() {
        let mut content = Vec::new();
        put(&7_u32, false, &mut content);
        content.extend_from_slice(&[1, 0, 0, 0, 1, b'c']);
        let (packed, first, rest) = next(&content).unwrap().unwrap();
        assert_eq!((packed, first), (false, &b"\x08\x07"[..]));
        assert_eq!(next(rest), Ok(Some((true, &b"c"[..], &b""[..]))));
        assert_eq!(next(b""), Ok(None));
        for length in 1..rest.len() {
            assert!(next(&rest[..length]).is_err());
        }
    }
}
