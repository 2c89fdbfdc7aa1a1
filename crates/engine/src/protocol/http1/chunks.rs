//! The chunked transfer coding (RFC 9112 section 7.1), byte by byte.
//!
//! Chunks are cut anywhere by the network, so a decoder that needs a whole size line has to keep or to read again
//! what it could not finish. This one is a machine that keeps no bytes at all: each byte of framing moves it one
//! step, data is passed over by subtraction. Three budgets bound what a hostile server can make it do: chunk
//! extensions, trailers, and framing in relation to data.
//!
//! Trailers are checked like headers and then forgotten: they never change the framing.

use measure::{Failure, Quirk, Quirks};

use super::head::{is_token, is_value};
use super::{CHUNK_EXTENSION_BYTES_MAX, CHUNK_OVERHEAD_BYTES, CHUNK_OVERHEAD_RATIO, CHUNK_SIZE_DIGITS_MAX, TRAILER_BYTES_MAX, work};
use crate::protocol::ResponseSink;

/// Where in a chunked body the next byte stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::protocol) struct Chunks {
    /// The size being read, then the data bytes still to come.
    left: u64,
    /// Bytes of size lines and of line ends after data.
    overhead: u64,
    extension_bytes: u16,
    trailer_bytes: u16,
    digits: u8,
    step: Step,
}

/// In the order they are reached; from `TrailerFirst` on, the data is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Step {
    Size,
    /// Whitespace after the size; only an extension or the line's end may follow.
    SizeSpace,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerFirst,
    TrailerStart,
    TrailerName,
    TrailerColon,
    TrailerValue,
    TrailerLf,
    LastLf,
    End,
}

impl Chunks {
    pub(in crate::protocol) const fn new() -> Self {
        Self { left: 0, overhead: 0, extension_bytes: 0, trailer_bytes: 0, digits: 0, step: Step::Size }
    }

    /// Reads on. Returns what is left of `bytes` when the body ended in them, `None` when all of them belong to it.
    pub(in crate::protocol) fn take<'bytes, O: ResponseSink>(
        &mut self,
        bytes: &'bytes [u8],
        data_bytes: &mut u64,
        quirks: &mut Quirks,
        observer: &mut O,
    ) -> Result<Option<&'bytes [u8]>, Failure> {
        let mut rest = bytes;
        while self.step != Step::End {
            if self.step == Step::Data {
                let here = usize::try_from(self.left).unwrap_or(usize::MAX).min(rest.len());
                let Some((data, after)) = rest.split_at_checked(here) else {
                    return Ok(None);
                };
                observer.body(data);
                rest = after;
                self.left = self.left.saturating_sub(here as u64);
                *data_bytes = data_bytes.saturating_add(here as u64);
                if self.left > 0 {
                    return Ok(None);
                }
                self.step = Step::DataCr;
            }
            let Some((&byte, after)) = rest.split_first() else {
                return Ok(None);
            };
            work::looked_at(1);
            rest = after;
            self.step = self.framing(byte, *data_bytes, quirks)?;
        }
        Ok(Some(rest))
    }

    #[inline]
    fn framing(&mut self, byte: u8, data_bytes: u64, quirks: &mut Quirks) -> Result<Step, Failure> {
        if self.step >= Step::TrailerFirst {
            return self.trailer(byte, quirks);
        }
        self.overhead = self.overhead.saturating_add(1);
        match (self.step, byte) {
            (Step::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') if self.digits < CHUNK_SIZE_DIGITS_MAX => {
                let digit = if byte.is_ascii_digit() { byte - b'0' } else { (byte | 0x20) - b'a' + 10 };
                self.left = self.left << 4 | u64::from(digit);
                self.digits += 1;
                Ok(Step::Size)
            }
            (Step::Size | Step::SizeSpace, b' ' | b'\t') if self.digits > 0 => self.extension(Step::SizeSpace),
            (Step::Size | Step::SizeSpace, b';') if self.digits > 0 => self.extension(Step::Extension),
            (Step::Size | Step::SizeSpace, b'\r') if self.digits > 0 => Ok(Step::SizeLf),
            (Step::Extension, b'\r') => Ok(Step::SizeLf),
            (Step::Size | Step::SizeSpace, b'\n') if self.digits > 0 => {
                quirks.insert(Quirk::ChunkBareLf);
                self.size_known(data_bytes)
            }
            (Step::Extension, b'\n') => {
                quirks.insert(Quirk::ChunkBareLf);
                self.size_known(data_bytes)
            }
            (Step::Extension, _) => self.extension(Step::Extension),
            (Step::SizeLf, b'\n') => self.size_known(data_bytes),
            (Step::DataCr, b'\r') => Ok(Step::DataLf),
            (Step::DataCr, b'\n') => {
                quirks.insert(Quirk::ChunkBareLf);
                Ok(self.next_size())
            }
            (Step::DataLf, b'\n') => Ok(self.next_size()),
            _ => Err(Failure::ProtoChunk),
        }
    }

    fn extension(&mut self, step: Step) -> Result<Step, Failure> {
        self.extension_bytes = self.extension_bytes.saturating_add(1);
        if self.extension_bytes > CHUNK_EXTENSION_BYTES_MAX { Err(Failure::LimitChunkExt) } else { Ok(step) }
    }

    /// The size line is complete: what does it announce, and is it worth its framing?
    fn size_known(&self, data_bytes: u64) -> Result<Step, Failure> {
        let allowed = CHUNK_OVERHEAD_BYTES.saturating_add(data_bytes.saturating_mul(CHUNK_OVERHEAD_RATIO));
        if self.overhead > allowed {
            Err(Failure::LimitChunkOverhead)
        } else if self.left == 0 {
            Ok(Step::TrailerFirst)
        } else {
            Ok(Step::Data)
        }
    }

    fn next_size(&mut self) -> Step {
        self.digits = 0;
        self.left = 0;
        Step::Size
    }

    fn trailer(&mut self, byte: u8, quirks: &mut Quirks) -> Result<Step, Failure> {
        self.trailer_bytes = self.trailer_bytes.saturating_add(1);
        if self.trailer_bytes > TRAILER_BYTES_MAX {
            return Err(Failure::LimitTrailers);
        }
        match (self.step, byte) {
            (Step::TrailerFirst | Step::TrailerStart, b'\r') => Ok(Step::LastLf),
            (Step::TrailerFirst | Step::TrailerStart, b'\n') => {
                quirks.insert(Quirk::ChunkBareLf);
                Ok(Step::End)
            }
            (Step::LastLf, b'\n') => Ok(Step::End),
            (Step::TrailerStart, b' ' | b'\t') => {
                quirks.insert(Quirk::ObsFold);
                Ok(Step::TrailerValue)
            }
            (Step::TrailerFirst | Step::TrailerStart | Step::TrailerName, _) if is_token(byte) => Ok(Step::TrailerName),
            (Step::TrailerName | Step::TrailerColon, b':') => Ok(Step::TrailerValue),
            (Step::TrailerName | Step::TrailerColon, b' ' | b'\t') => {
                quirks.insert(Quirk::SpaceBeforeColon);
                Ok(Step::TrailerColon)
            }
            (Step::TrailerValue, b'\r') => Ok(Step::TrailerLf),
            (Step::TrailerValue, b'\n') => {
                quirks.insert(Quirk::ChunkBareLf);
                Ok(Step::TrailerStart)
            }
            (Step::TrailerValue, _) if is_value(byte) => Ok(Step::TrailerValue),
            (Step::TrailerLf, b'\n') => Ok(Step::TrailerStart),
            (Step::LastLf, _) => Err(Failure::ProtoChunk),
            _ => Err(Failure::ProtoHeader),
        }
    }
}
