//! Answers that were packed on their way (`Content-Encoding`, RFC 9110 §8.4), where a plan asks for such: how many, with what, and what
//! those stood for that were unpacked.
//!
//! Bytes of reports are those of the wire. What a body stands for is known only where somebody unpacks it, which costs more processor
//! time than most requests do; so it is done for those that something looks into, and both sizes are counted of these alone.
//!
//! Invariant: counts add up exactly, and are of the whole run, as the bytes that they stand beside.

use serde::{Deserialize, Serialize};

use crate::snapshot::is_zero;

/// What a body is packed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// gzip
    Gzip,
    /// br
    Brotli,
    /// zstd
    Zstd,
    /// deflate
    Deflate,
    /// Another one, or several.
    Other,
}

impl Packing {
    /// As `Content-Encoding` says; `None` if it says that nothing is packed.
    #[must_use]
    pub fn of(coding: &[u8]) -> Option<Self> {
        const KNOWN: [(&[u8], Packing); 5] = [
            (b"gzip", Packing::Gzip),
            (b"x-gzip", Packing::Gzip),
            (b"br", Packing::Brotli),
            (b"zstd", Packing::Zstd),
            (b"deflate", Packing::Deflate),
        ];
        if coding.is_empty() || coding.eq_ignore_ascii_case(b"identity") {
            return None;
        }
        let known = KNOWN.iter().find(|(name, _)| coding.eq_ignore_ascii_case(name));
        Some(known.map_or(Self::Other, |(_, packing)| *packing))
    }
}

/// Counts of answers that were packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PackedAnswers {
    /// With gzip.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gzip: u64,
    /// With Brotli.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub br: u64,
    /// With Zstandard.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zstd: u64,
    /// With deflate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deflate: u64,
    /// With anything else, or with several of these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other: u64,
    /// Those whose bodies were unpacked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpacked: u64,
    /// Bytes of these bodies, as they came.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_packed: u64,
    /// Bytes of what they stood for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_unpacked: u64,
}

impl PackedAnswers {
    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts an answer.
    pub fn count(&mut self, packing: Packing) {
        *match packing {
            Packing::Gzip => &mut self.gzip,
            Packing::Brotli => &mut self.br,
            Packing::Zstd => &mut self.zstd,
            Packing::Deflate => &mut self.deflate,
            Packing::Other => &mut self.other,
        } += 1;
    }

    /// A body of one of them was unpacked, of so many bytes to so many.
    pub fn unpacked(&mut self, from: u64, to: u64) {
        self.unpacked += 1;
        self.bytes_packed += from;
        self.bytes_unpacked += to;
    }

    /// All answers that were packed.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.by_packing().map(|(_, count)| count).sum()
    }

    /// Each packing as `Content-Encoding` has it, and how many answers had it.
    pub fn by_packing(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [("gzip", self.gzip), ("br", self.br), ("zstd", self.zstd), ("deflate", self.deflate), ("others", self.other)].into_iter()
    }

    /// Adds another's counts.
    pub fn add(&mut self, more: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { gzip, br, zstd, deflate, other, unpacked, bytes_packed, bytes_unpacked } = more;
        self.gzip += gzip;
        self.br += br;
        self.zstd += zstd;
        self.deflate += deflate;
        self.other += other;
        self.unpacked += unpacked;
        self.bytes_packed += bytes_packed;
        self.bytes_unpacked += bytes_unpacked;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_what_they_are_packed_with() {
        let mut counts = PackedAnswers::default();
        for coding in ["", "identity", "gzip", "X-GZIP", "br", "zstd", "deflate", "gzip, br", "aws-chunked"] {
            if let Some(packing) = Packing::of(coding.as_bytes()) {
                counts.count(packing);
            }
        }
        assert_eq!(counts.answers(), 7);
        assert_eq!(counts.by_packing().collect::<Vec<_>>(), [("gzip", 2), ("br", 1), ("zstd", 1), ("deflate", 1), ("others", 2)]);
    }
}
