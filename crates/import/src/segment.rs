//! What a segment of a path names: an id, a date, a token, or just itself.

use std::net::IpAddr;

use crate::scrub::is_token;

/// A longer one is told as that.
const SEGMENT_LETTERS_MOST: usize = 64;

/// What kind of thing a segment names, as `{id}`, or `{id}.jpg` with its ending; how long that is.
#[inline]
pub(crate) fn classified(segment: &[u8], label: &mut [u8; 32]) -> Option<usize> {
    // Words have no digits and are not long: most segments end here.
    if segment.len() < 16 && !segment.iter().any(|letter| letter.is_ascii_digit() || matches!(letter, b'@' | b'{')) {
        return None;
    }
    let mut write = |kind: &[u8], ending: &[u8]| {
        label[..kind.len()].copy_from_slice(kind);
        label[kind.len()..kind.len() + ending.len()].copy_from_slice(ending);
        Some(kind.len() + ending.len())
    };
    if let Some(kind) = kind(segment) {
        return write(kind, b"");
    }
    if let Some(dot) = memchr::memrchr(b'.', segment)
        && dot > 0
        && (2..=6).contains(&(segment.len() - dot))
        && segment[dot + 1..].iter().all(u8::is_ascii_alphanumeric)
        && let Some(kind) = kind(&segment[..dot])
    {
        return write(kind, &segment[dot..]);
    }
    (segment.len() > SEGMENT_LETTERS_MOST).then(|| write(b"{long}", b"")).flatten()
}

/// What a segment names, if it is no word: `{id}`, `{uuid}`, …
pub(crate) fn kind(text: &[u8]) -> Option<&'static [u8]> {
    if text.is_empty() {
        return None;
    }
    if text.contains(&b'@') || memchr::memmem::find(text, b"%40").is_some() {
        return Some(b"{email}");
    }
    let digits = text.iter().filter(|letter| letter.is_ascii_digit()).count();
    if digits == text.len() {
        return Some(b"{id}");
    }
    if digits == 0 && text.len() < 16 {
        return None;
    }
    let dashes = |places: &[usize]| {
        text.iter().enumerate().all(|(at, letter)| if places.contains(&at) { *letter == b'-' } else { letter.is_ascii_hexdigit() })
    };
    if text.len() == 36 && dashes(&[8, 13, 18, 23]) {
        return Some(b"{uuid}");
    }
    if text.len() == 10 && digits == 8 && dashes(&[4, 7]) {
        return Some(b"{date}");
    }
    if text.len() >= 19 && crate::stamp::iso(text).is_some() {
        return Some(b"{date}");
    }
    if text.len() >= 8 && digits > 0 && text.iter().all(u8::is_ascii_hexdigit) {
        return Some(b"{hex}");
    }
    if text.first() == Some(&b'-') && digits + 1 == text.len() {
        return Some(b"{id}");
    }
    if text.len() <= 45 && std::str::from_utf8(text).is_ok_and(|text| text.parse::<IpAddr>().is_ok()) {
        return Some(b"{address}");
    }
    is_token(text).then_some(b"{token}")
}
