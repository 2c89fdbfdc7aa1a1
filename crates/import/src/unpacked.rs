//! Plain, gzip or Zstandard, by how a file begins; names are not asked.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

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
            (Compression::Zstd, Box::new(Frames { source: Some(BufReader::with_capacity(SAMPLE_BYTES, source)), frame: None }))
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

/// One frame after the other.
struct Frames<R: BufRead> {
    source: Option<R>,
    frame: Option<Box<StreamingDecoder<PeekedSource<R>, FrameDecoder>>>,
}

/// A source whose first bytes were looked at.
type PeekedSource<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(mut frame) = self.frame.take() {
                let read = frame.read(into)?;
                if read > 0 || into.is_empty() {
                    self.frame = Some(frame);
                    return Ok(read);
                }
                self.source = Some(frame.into_inner().into_inner().1);
            }
            let Some(source) = self.source.take() else { return Ok(0) };
            let (head, source) = head(source)?;
            if head.is_empty() {
                return Ok(0);
            }
            if window_bytes(&head).is_some_and(|bytes| bytes > WINDOW_BYTES_MAX) {
                let message = "it was packed with a window of more than 128 MiB: pack it anew, without --long or --ultra";
                return Err(io::Error::other(message));
            }
            self.frame = Some(Box::new(StreamingDecoder::new(io::Cursor::new(head).chain(source)).map_err(io::Error::other)?));
        }
    }
}

/// The head of a frame: magic number, descriptor, and what that says follows (RFC 8878 §3.1.1.1).
fn head<R: Read>(source: R) -> io::Result<(Vec<u8>, R)> {
    let (mut head, source) = sampled(source, 5)?;
    let Some(descriptor) = head.get(4).copied() else { return Ok((head, source)) };
    let has_window = usize::from(!is_single(descriptor));
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let (rest, source) = sampled(source, has_window + dictionary + content_bytes(descriptor))?;
    head.extend(rest);
    Ok((head, source))
}

/// Whether the content is kept as a whole.
const fn is_single(descriptor: u8) -> bool {
    descriptor & 0x20 != 0
}

/// How long the length of the content is.
fn content_bytes(descriptor: u8) -> usize {
    [usize::from(is_single(descriptor)), 2, 4, 8][usize::from(descriptor >> 6)]
}

/// How much of what was unpacked a frame keeps; `None` of a head that is cut off.
fn window_bytes(head: &[u8]) -> Option<u64> {
    let descriptor = *head.get(4)?;
    if is_single(descriptor) {
        let length = head.get(head.len().checked_sub(content_bytes(descriptor))?..)?;
        return Some(length.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
    }
    let (exponent, mantissa) = (head.get(5)? >> 3, head.get(5)? & 7);
    let base = 1u64 << (10 + exponent);
    Some(base + base / 8 * u64::from(mantissa))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of one raw block, which says that it keeps so much.
    fn frame(descriptor: u8, about: &[u8], content: &[u8]) -> Vec<u8> {
        let block = (u32::try_from(content.len()).unwrap() << 3 | 1).to_le_bytes();
        [&[0x28, 0xb5, 0x2f, 0xfd, descriptor], about, &block[..3], content].concat()
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let (packed, mut source) = unpacked(bytes)?;
        assert_eq!(packed, Compression::Zstd);
        let mut text = String::new();
        source.read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn frames_are_read_one_after_the_other() {
        // A window of 1 KiB; a single segment of five bytes; a window of 128 MiB.
        let all = [frame(0, &[0], b"one, "), frame(0x20, &[5], b"two, "), frame(0, &[17 << 3], b"three")].concat();
        assert_eq!(read(&all).unwrap(), "one, two, three");
    }

    #[test]
    fn a_frame_that_would_keep_more_than_zstd_takes_unasked_is_refused() {
        for hostile in [frame(0, &[17 << 3 | 1], b"x"), frame(0, &[21 << 3], b"x"), frame(0xe0, &[1, 0, 0, 8, 0, 0, 0, 0], b"x")] {
            for before in [Vec::new(), frame(0, &[0], b"one")] {
                let why = read(&[before, hostile.clone()].concat()).unwrap_err().to_string();
                assert!(why.contains("a window of more than 128 MiB"), "{why}");
            }
        }
    }
}
