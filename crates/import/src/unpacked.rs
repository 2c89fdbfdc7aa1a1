//! Plain, gzip or Zstandard, by how a file begins; names are not asked.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// As much as a guess is made by.
const SAMPLE_BYTES: usize = 64 * 1024;

/// How a file was packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Packed {
    /// Not at all.
    Plain,
    /// gzip, of one or several members.
    Gzip,
    /// Zstandard, of one or several frames.
    Zstd,
}

/// What is in a stream.
pub(crate) fn unpacked<'r>(source: impl Read + 'r) -> io::Result<(Packed, Box<dyn Read + 'r>)> {
    let (head, source) = sampled(source, 4)?;
    let source = io::Cursor::new(head.clone()).chain(source);
    Ok(match head.as_slice() {
        [0x1f, 0x8b, ..] => (Packed::Gzip, Box::new(MultiGzDecoder::new(BufReader::with_capacity(SAMPLE_BYTES, source)))),
        [0x28, 0xb5, 0x2f, 0xfd] => {
            (Packed::Zstd, Box::new(Frames { source: Some(BufReader::with_capacity(SAMPLE_BYTES, source)), frame: None }))
        }
        _ => (Packed::Plain, Box::new(source)),
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
    frame: Option<Box<StreamingDecoder<R, FrameDecoder>>>,
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
                self.source = Some(frame.into_inner());
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(Box::new(StreamingDecoder::new(source).map_err(io::Error::other)?));
        }
    }
}
