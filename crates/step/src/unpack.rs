//! Bodies that a server packed on their way (`Content-Encoding`, RFC 9110 §8.4), unpacked.
//!
//! Who sends the headers that a browser sends is answered in gzip or Brotli, and looks for a price in the page. Leaving `Accept-Encoding`
//! out, the alternative, measures another server: one that never packs anything.
//!
//! Invariant: no more is unpacked than is asked for, whatever a few bytes stand for, and no more memory is taken beside it than the windows
//! that browsers take, 16 MiB at most, while they grow half as much again.

use std::io::{self, Read};

use brotli_decompressor::{BrotliDecoderParameter, Decompressor};
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};
use thiserror::Error;

use crate::zstd::zstd_frames;

/// A body that was packed more often is none of a server that means well.
const CODINGS_MAX: usize = 3;
/// A frame of Zstandard keeps at most so much where it is sent over HTTP (RFC 9659).
const WINDOW_BYTES_MAX: u64 = 8 << 20;
/// A body of more parts (members of gzip, frames of Zstandard) is made to take time.
const PARTS_MAX: u32 = 1000;
/// What a member of gzip begins with.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// What Brotli reads at once.
const INPUT_BYTES: usize = 4096;

/// Why a body cannot be looked into.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnpackError {
    /// It stands for more than is taken.
    #[error("it is too large when it is unpacked")]
    TooLarge,
    /// It is not packed as it says.
    #[error("it says that it is packed ({coding}), and cannot be unpacked: {why}")]
    Broken {
        /// As it says.
        coding: String,
        /// In words.
        why: String,
    },
}

/// How a body is packed.
#[derive(Debug, Clone, Copy)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Self::Gzip,
            "deflate" => Self::Deflate,
            "br" => Self::Brotli,
            "zstd" => Self::Zstd,
            _ => return None,
        })
    }

    fn unpack(self, body: &[u8], bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut unpacked = Vec::new();
        let mut read = |source: &mut dyn Read| source.take(bytes_max as u64 + 1).read_to_end(&mut unpacked);
        match self {
            Self::Gzip => return members(body, bytes_max),
            // Some servers leave the wrapping of zlib out.
            Self::Deflate if has_zlib_head(body) => read(&mut ZlibDecoder::new(body)),
            Self::Deflate => read(&mut DeflateDecoder::new(body)),
            Self::Brotli => {
                let mut source = Decompressor::new(body, INPUT_BYTES);
                // Windows of up to a gigabyte are no part of RFC 7932, and no browser takes them.
                source.set_parameter(BrotliDecoderParameter::BROTLI_DECODER_PARAM_LARGE_WINDOW, 0);
                read(&mut source)
            }
            Self::Zstd => read(&mut zstd_frames(body, WINDOW_BYTES_MAX, PARTS_MAX)),
        }?;
        Ok(unpacked)
    }
}

/// What stands in members of gzip one behind the other. What follows them and is none is passed over, as browsers do.
fn members(body: &[u8], bytes_max: usize) -> io::Result<Vec<u8>> {
    let (mut unpacked, mut rest) = (Vec::new(), body);
    for _ in 0..PARTS_MAX {
        let mut member = GzDecoder::new(rest);
        let room = (bytes_max + 1).saturating_sub(unpacked.len()) as u64;
        (&mut member).take(room).read_to_end(&mut unpacked)?;
        if unpacked.len() > bytes_max {
            return Ok(unpacked);
        }
        rest = member.into_inner();
        if !rest.starts_with(GZIP) {
            return Ok(unpacked);
        }
    }
    Err(io::Error::other(format!("it has more than {PARTS_MAX} parts")))
}

/// Whether bytes begin as RFC 1950 has it.
fn has_zlib_head(bytes: &[u8]) -> bool {
    matches!(bytes, [method, flags, ..] if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

/// The body that stands behind these codings, the value of `Content-Encoding`; nothing where it is not packed, or in a way that is not
/// known.
///
/// # Errors
/// If it is not packed so, or stands for more than `bytes_max`.
pub fn unpack(codings: &str, body: &[u8], bytes_max: usize) -> Result<Option<Vec<u8>>, UnpackError> {
    let names = codings.split(',').map(str::trim).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"));
    let Some(known) = names.map(Coding::of).collect::<Option<Vec<Coding>>>() else { return Ok(None) };
    let broken = |why: &dyn ToString| UnpackError::Broken { coding: codings.to_owned(), why: why.to_string() };
    if known.len() > CODINGS_MAX {
        return Err(broken(&format!("it is more than {CODINGS_MAX} times")));
    }
    let mut unpacked: Option<Vec<u8>> = None;
    // What was applied last is taken off first.
    for coding in known.into_iter().rev() {
        let body = coding.unpack(unpacked.as_deref().unwrap_or(body), bytes_max).map_err(|why| broken(&why))?;
        if body.len() > bytes_max {
            return Err(UnpackError::TooLarge);
        }
        unpacked = Some(body);
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;

    /// `{"price":12}` by other programs: brotli 1.0.9, zstd 1.5.4.
    const BROTLI: &[u8] = b"\x8b\x05\x80{\"price\":12}\x03";
    const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x61\x00\x00{\"price\":12}\x9b\xa9\x2c\x26";

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    fn raw(text: &[u8]) -> Vec<u8> {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn every_coding_that_servers_use_is_unpacked() {
        let text = b"{\"price\":12}";
        for (codings, packed) in [
            ("gzip", gzip(text)),
            ("X-GZIP", [gzip(&text[..4]), gzip(&text[4..])].concat()),
            ("gzip", [gzip(text), b"\r\n\0\0".to_vec()].concat()),
            ("deflate", zlib(text)),
            ("deflate", raw(text)),
            ("br", BROTLI.to_vec()),
            ("zstd", ZSTD.to_vec()),
            ("identity, deflate, gzip", gzip(&zlib(text))),
        ] {
            assert_eq!(unpack(codings, &packed, 100), Ok(Some(text.to_vec())), "{codings}");
        }
        for plain in ["", "identity", "aws-chunked", "gzip, aws-chunked"] {
            assert_eq!(unpack(plain, text, 12), Ok(None), "{plain}");
        }
    }

    #[test]
    fn what_is_not_packed_as_it_says_is_told_and_what_is_too_large_stays_packed() {
        for codings in ["gzip", "deflate", "br", "zstd"] {
            let why = unpack(codings, b"{\"price\":12}", 100).unwrap_err().to_string();
            assert!(why.starts_with(&format!("it says that it is packed ({codings}), and cannot be unpacked: ")), "{why}");
        }
        let cut = gzip(b"{\"price\":12}");
        assert!(matches!(unpack("gzip", &cut[..cut.len() - 9], 100), Err(UnpackError::Broken { .. })));
        let bomb = gzip(&vec![0; 10 << 20]);
        assert!(bomb.len() < 60_000);
        assert_eq!(unpack("gzip", &bomb, 1 << 20), Err(UnpackError::TooLarge));
        assert_eq!(unpack("gzip, gzip", &gzip(&bomb), 1 << 20), Err(UnpackError::TooLarge));
        assert!(unpack("gzip,gzip,gzip,gzip", &bomb, 100).unwrap_err().to_string().ends_with("more than 3 times"));
        // Windows of a gigabyte, and parts without anything in them.
        assert!(matches!(unpack("br", &[0x11, 0x1e, 0, 0, 0, 0, 0, 0], 100), Err(UnpackError::Broken { .. })));
        let empty = [gzip(b"").repeat(2000), [&b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"[..]; 2000].concat()];
        for (coding, packed) in ["gzip", "zstd"].into_iter().zip(empty) {
            let why = unpack(coding, &packed, 100).unwrap_err().to_string();
            assert!(why.ends_with("it has more than 1000 parts"), "{why}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_anything(bytes: Vec<u8>, coding in prop::sample::select(vec!["gzip", "deflate", "br", "zstd"])) {
            if let Ok(Some(unpacked)) = unpack(coding, &bytes, 1 << 16) {
                prop_assert!(unpacked.len() <= 1 << 16);
            }
        }
    }
}
