//! Plain, gzip or Zstandard, by how a file begins; names are not asked.

use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use step::zstd_frames;

/// As much as a guess is made by.
const SAMPLE_BYTES: usize = 64 * 1024;

/// What zstd itself takes unasked (`ZSTD_WINDOWLOG_LIMIT_DEFAULT`): a frame's window is kept in memory.
const WINDOW_BYTES_MAX: u64 = 128 << 20;

/// How a file was packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Not at all.
    Plain,
    /// gzip, of one or several members.
    Gzip,
    /// Zstandard, of one or several frames.
    Zstd,
}

/// What is in a stream.
pub(crate) fn unpacked<'r>(source: impl Read + 'r) -> io::Result<(Compression, Box<dyn Read + 'r>)> {
    let (head, source) = sampled(source, 4)?;
    let source = io::Cursor::new(head.clone()).chain(source);
    Ok(match head.as_slice() {
        [0x1f, 0x8b, ..] => (Compression::Gzip, Box::new(MultiGzDecoder::new(BufReader::with_capacity(SAMPLE_BYTES, source)))),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            (Compression::Zstd, Box::new(zstd_frames(BufReader::with_capacity(SAMPLE_BYTES, source), WINDOW_BYTES_MAX, u32::MAX)))
        }
        _ => (Compression::Plain, Box::new(source)),
    })
}

/// The beginning, and all that follows it. An error after the first byte is left for whoever reads on.
pub(crate) fn sample<R: Read>(source: R) -> io::Result<(Vec<u8>, R)> {
    sampled(source, SAMPLE_BYTES)
}

fn sampled<R: Read>(mut source: R, bytes: usize) -> io::Result<(Vec<u8>, R)> {
    let mut head = vec![0; bytes];
    let mut held = 0;
    while held < bytes {
        match source.read(&mut head[held..]) {
            Ok(0) => break,
            Ok(read) => held += read,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) if held == 0 => return Err(why),
            Err(_) => break,
        }
    }
    head.truncate(held);
    Ok((head, source))
}
