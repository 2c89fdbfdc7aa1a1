//! Zstandard, frame by frame, with a bound on what a frame keeps in memory.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// One frame after the other.
struct Frames<R: BufRead> {
    source: Option<R>,
    frame: Option<Box<StreamingDecoder<PeekedSource<R>, FrameDecoder>>>,
    window_bytes_max: u64,
    /// So many more.
    left: u32,
    frames_max: u32,
}

/// A source whose first bytes were looked at.
type PeekedSource<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

/// What is in frames one behind the other. One that keeps more than so many bytes of what was unpacked is an error, and so are more of
/// them.
pub fn zstd_frames<'r>(source: impl BufRead + 'r, window_bytes_max: u64, frames_max: u32) -> impl Read + 'r {
    Frames { source: Some(source), frame: None, window_bytes_max, left: frames_max, frames_max }
}

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
            let Some(mut source) = self.source.take() else { return Ok(0) };
            let head = head(&mut source)?;
            if head.is_empty() {
                return Ok(0);
            }
            if self.left == 0 {
                return Err(io::Error::other(format!("it has more than {} parts", self.frames_max)));
            }
            self.left -= 1;
            if window_bytes(&head).is_some_and(|bytes| bytes > self.window_bytes_max) {
                let message = format!(
                    "it was packed with a window of more than {} MiB: pack it anew with a smaller one",
                    self.window_bytes_max >> 20
                );
                return Err(io::Error::other(message));
            }
            self.frame = Some(Box::new(StreamingDecoder::new(io::Cursor::new(head).chain(source)).map_err(io::Error::other)?));
        }
    }
}

/// The head of a frame: magic number, descriptor, and what that says follows (RFC 8878 §3.1.1.1).
fn head(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(5).read_to_end(&mut head)?;
    if let Some(descriptor) = head.get(4).copied() {
        let has_window = usize::from(!is_single(descriptor));
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        source.take((has_window + dictionary + content_bytes(descriptor)) as u64).read_to_end(&mut head)?;
    }
    Ok(head)
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
        let mut text = String::new();
        zstd_frames(bytes, 128 << 20, 3).read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn frames_are_read_one_after_the_other() {
        // A window of 1 KiB; a single segment of five bytes; a window of 128 MiB.
        let all = [frame(0, &[0], b"one, "), frame(0x20, &[5], b"two, "), frame(0, &[17 << 3], b"three")].concat();
        assert_eq!(read(&all).unwrap(), "one, two, three");
    }

    #[test]
    fn a_frame_that_would_keep_too_much_is_refused() {
        for hostile in [frame(0, &[17 << 3 | 1], b"x"), frame(0, &[21 << 3], b"x"), frame(0xe0, &[1, 0, 0, 8, 0, 0, 0, 0], b"x")] {
            for before in [Vec::new(), frame(0, &[0], b"one")] {
                let why = read(&[before, hostile.clone()].concat()).unwrap_err().to_string();
                assert!(why.contains("a window of more than 128 MiB"), "{why}");
            }
        }
    }
}
