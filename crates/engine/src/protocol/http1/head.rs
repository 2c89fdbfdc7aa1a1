//! The head of a reply: whole in one slice, or gathered line by line.
//!
//! Two readers stand here. [`whole`] is `httparse` in its strictest setting, for a complete, well-formed head: the
//! usual case, read where it lies. Whatever it does not accept (a part of a head, an oddity, a fault) goes to
//! [`Gathering`], which copies line by line and judges each line once, when its end has come, so that one byte at a
//! time costs no more than one read. Only [`Gathering`] rejects: a parser that rejects as soon as it can and one that
//! waits for a line's end would disagree about faults on both sides of a cut.
//!
//! The invariant that keeps them one reader: what [`whole`] accepts, [`Gathering`] accepts with the same meaning.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Response, Status};
use measure::{Failure, Quirk, Quirks};

use super::fields::trimmed;
use super::{BLANK_LINES_MAX, HEAD_BYTES_MAX, HEADERS_MAX, work};

/// Beyond this many headers a head is gathered, so that the usual one needs 2 KiB of stack.
const WHOLE_HEADERS_MAX: usize = 64;

/// Up to this many headers a gathered head is read into a small array.
const GATHERED_HEADERS: usize = 32;

/// A buffer up to this size is kept for the next head that comes in parts; most heads fit.
const KEPT_BYTES_MAX: usize = 512;

/// How many bytes of a status line are judged as they come; a server that speaks something else need not end a line.
const OPENING_BYTES: usize = 14;

/// A head that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'read, 'bytes> {
    pub(super) status: u16,
    /// The x of HTTP/1.x: 0 or 1.
    pub(super) minor: u8,
    pub(super) headers: &'read [Header<'bytes>],
}

/// Reads a head that begins at the first of `bytes` and ends in them, if it is in no way odd.
///
/// Returns how long it is, and what `seen` made of it; `None` says nothing but that it has to be gathered.
#[inline]
pub(super) fn whole<T>(bytes: &[u8], quirks: &mut Quirks, seen: impl FnOnce(Head<'_, '_>, &mut Quirks) -> T) -> Option<(usize, T)> {
    // httparse would skip any number of empty lines.
    if bytes.first() != Some(&b'H') {
        return None;
    }
    let bytes = bytes.get(..HEAD_BYTES_MAX).unwrap_or(bytes);
    let mut slots = [const { MaybeUninit::uninit() }; WHOLE_HEADERS_MAX];
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut slots);
    // An error is found inside the head, which is then counted by gathering.
    work::looked_at(match parsed {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => bytes.len(),
        Err(_) => 0,
    });
    let (Ok(Status::Complete(length)), Some(status @ 100..), Some(minor)) = (parsed, response.code, response.version) else {
        return None;
    };
    if has_bare_lf(bytes.get(..length)?, response.headers) {
        quirks.insert(Quirk::BareLf);
    }
    Some((length, seen(Head { status, minor, headers: response.headers }, quirks)))
}

/// Whether a line of this head ends without CR, told from the places of the names: each begins a line.
#[inline]
fn has_bare_lf(head: &[u8], headers: &[Header<'_>]) -> bool {
    let start = head.as_ptr().addr();
    !head.ends_with(b"\r\n\r\n")
        || headers.iter().any(|header| {
            let line = header.name.as_ptr().addr().wrapping_sub(start);
            head.get(line.wrapping_sub(2)) != Some(&b'\r')
        })
}

/// A head that comes in parts, or is odd.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    bytes: Vec<u8>,
    /// Where the line at hand begins.
    line: usize,
    /// Where the status line begins and ends.
    status_line: Option<(usize, usize)>,
    blank_lines: u8,
    headers: usize,
}

impl Gathering {
    /// Whether there is nothing of a head here, not even an empty line.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether a status line has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.status_line.is_some() || self.bytes.get(self.line).is_some_and(|&byte| byte != b'\r')
    }

    /// Forgets the head, and its memory if that is more than a usual head needs.
    pub(super) fn clear(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        if bytes.capacity() > KEPT_BYTES_MAX {
            bytes = Vec::new();
        }
        *self = Self { bytes, ..Self::default() };
    }

    /// Takes what belongs to the head. Returns the rest of `bytes` if the head ended in them.
    ///
    /// # Errors
    ///
    /// The fault of the first faulty line, once it is complete, or the limit that was reached before.
    pub(super) fn take<'bytes>(&mut self, bytes: &'bytes [u8], quirks: &mut Quirks) -> Result<Option<&'bytes [u8]>, Failure> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = rest.get(..HEAD_BYTES_MAX.saturating_sub(self.bytes.len())).unwrap_or(rest);
            let line_end = room.iter().position(|&byte| byte == b'\n').and_then(|at| at.checked_add(1));
            let Some((part, after)) = rest.split_at_checked(line_end.unwrap_or(room.len())) else {
                return Ok(None);
            };
            work::looked_at(part.len());
            let before = self.bytes.len();
            self.bytes.extend_from_slice(part);
            rest = after;
            if self.status_line.is_none() && before.saturating_sub(self.line) < OPENING_BYTES {
                judge_opening(self.bytes.get(self.line..).unwrap_or_default())?;
            }
            if line_end.is_some() && self.line_complete(quirks)? {
                return Ok(Some(rest));
            }
            if self.bytes.len() >= HEAD_BYTES_MAX {
                return Err(Failure::LimitHeadBytes);
            }
        }
        Ok(None)
    }

    /// Judges the line that has just ended. Returns whether it ended the head.
    fn line_complete(&mut self, quirks: &mut Quirks) -> Result<bool, Failure> {
        let start = self.line;
        let end = self.bytes.len();
        self.line = end;
        work::looked_at(end.saturating_sub(start));
        let raw = self.bytes.get(start..end).unwrap_or_default();
        let line = unterminated(raw);
        if raw.len().saturating_sub(line.len()) == 1 {
            quirks.insert(Quirk::BareLf);
        }
        if self.status_line.is_none() {
            if line.is_empty() {
                quirks.insert(Quirk::LeadingBlankLine);
                self.blank_lines = self.blank_lines.saturating_add(1);
                return if self.blank_lines > BLANK_LINES_MAX { Err(Failure::ProtoStatusLine) } else { Ok(false) };
            }
            // The reason may hold anything but what could hide another line (RFC 9112 section 2.2).
            if line.iter().any(|byte| matches!(byte, b'\r' | b'\0')) {
                return Err(Failure::ProtoStatusLine);
            }
            self.status_line = Some((start, end));
            return Ok(false);
        }
        match line.first() {
            None => Ok(true),
            Some(b' ' | b'\t') => {
                if self.headers == 0 || !line.iter().all(|&byte| is_value(byte)) {
                    return Err(Failure::ProtoHeader);
                }
                quirks.insert(Quirk::ObsFold);
                // A user agent replaces the fold by spaces (RFC 9112 section 5.2), which makes it one line again.
                for byte in self.bytes.iter_mut().take(start).rev().take(2) {
                    if matches!(byte, b'\r' | b'\n') {
                        *byte = b' ';
                    }
                }
                Ok(false)
            }
            Some(_) => {
                judge_header(line, quirks)?;
                self.headers = self.headers.saturating_add(1);
                if self.headers > HEADERS_MAX { Err(Failure::LimitHeaderCount) } else { Ok(false) }
            }
        }
    }

    /// Shows the complete head to `seen`.
    pub(super) fn read<T>(&self, seen: impl FnOnce(Head<'_, '_>) -> T) -> T {
        // Clearing the larger array would cost more than reading a usual head.
        if self.headers <= GATHERED_HEADERS {
            self.read_into(&mut [httparse::EMPTY_HEADER; GATHERED_HEADERS], seen)
        } else {
            self.read_into(&mut [httparse::EMPTY_HEADER; HEADERS_MAX], seen)
        }
    }

    fn read_into<'bytes, T>(&'bytes self, headers: &mut [Header<'bytes>], seen: impl FnOnce(Head<'_, '_>) -> T) -> T {
        work::looked_at(self.bytes.len());
        let (start, end) = self.status_line.unwrap_or_default();
        let digit = |at: usize| {
            let byte = start.checked_add(at).and_then(|at| self.bytes.get(at)).copied().unwrap_or_default();
            byte.wrapping_sub(b'0') % 10
        };
        let lines = self.bytes.get(end..).unwrap_or_default().split_inclusive(|&byte| byte == b'\n');
        let mut count = 0;
        for (slot, line) in headers.iter_mut().zip(lines.filter_map(|line| split(unterminated(line)))) {
            *slot = line;
            count += 1;
        }
        seen(Head {
            status: u16::from(digit(9)) * 100 + u16::from(digit(10)) * 10 + u16::from(digit(11)),
            minor: digit(7),
            headers: headers.get(..count).unwrap_or_default(),
        })
    }
}

/// Judges the first bytes of a status line, as many as there are.
///
/// A server that speaks HTTP/2 at once is told from one that speaks nothing known: it opens with a SETTINGS frame.
fn judge_opening(line: &[u8]) -> Result<(), Failure> {
    let known = |pattern: &[u8]| line.iter().zip(pattern).all(|(byte, wanted)| byte == wanted);
    match line {
        [] | [b'\n', ..] | [b'\r'] | [b'\r', b'\n', ..] => return Ok(()),
        _ if known(b"HTTP/") => {}
        _ if known(b"PRI * HTTP/2.") => {
            return if line.len() >= 13 { Err(Failure::ProtoVersion) } else { Ok(()) };
        }
        _ if is_settings(line) => {
            return if line.len() >= 9 { Err(Failure::ProtoVersion) } else { Ok(()) };
        }
        _ => return Err(Failure::ProtoStatusLine),
    }
    for (at, &byte) in line.iter().enumerate().take(OPENING_BYTES).skip(5) {
        match (at, byte) {
            (5, b'1') | (6, b'.') | (7, b'0' | b'1') => {}
            (5..=7, _) | (8, b'0'..=b'9' | b'.') => return Err(Failure::ProtoVersion),
            (8, b' ') | (9, b'1'..=b'9') | (10 | 11, b'0'..=b'9') | (12, b' ' | b'\r' | b'\n') => {}
            (13, _) if line.get(12) != Some(&b'\r') || byte == b'\n' => {}
            _ => return Err(Failure::ProtoStatusLine),
        }
    }
    Ok(())
}

/// Whether these may be the first bytes of an HTTP/2 SETTINGS frame: 24 bits of length, a multiple of six; type 4;
/// no flags; stream 0 (RFC 9113 sections 4.1 and 6.5).
fn is_settings(line: &[u8]) -> bool {
    line.iter().take(9).enumerate().all(|(at, &byte)| match at {
        2 => byte % 6 == 0,
        3 => byte == 4,
        _ => byte == 0,
    })
}

/// Judges `Name: value`.
fn judge_header(line: &[u8], quirks: &mut Quirks) -> Result<(), Failure> {
    let mut parts = line.splitn(2, |&byte| byte == b':');
    let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
        return Err(Failure::ProtoHeader);
    };
    let token = trimmed(name);
    if token.is_empty() || !token.iter().all(|&byte| is_token(byte)) || !value.iter().all(|&byte| is_value(byte)) {
        return Err(Failure::ProtoHeader);
    }
    if token.len() != name.len() {
        quirks.insert(Quirk::SpaceBeforeColon);
    }
    Ok(())
}

/// Name and value of a header line that was judged; nothing of the empty line.
fn split(line: &[u8]) -> Option<Header<'_>> {
    let mut parts = line.splitn(2, |&byte| byte == b':');
    let name = std::str::from_utf8(trimmed(parts.next()?)).ok()?;
    Some(Header { name, value: trimmed(parts.next()?) })
}

/// A line without its CRLF or LF.
fn unterminated(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Whether a byte may stand in a name (RFC 9110 section 5.6.2, tchar).
pub(super) const fn is_token(byte: u8) -> bool {
    matches!(
        byte,
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.'
            | b'^' | b'_' | b'`' | b'|' | b'~'
    )
}

/// Whether a byte may stand in a value (RFC 9110 section 5.5): visible, space, tab or beyond ASCII.
pub(super) const fn is_value(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}
