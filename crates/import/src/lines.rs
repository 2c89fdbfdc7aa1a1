//! Lines out of a stream, in blocks.
//!
//! A log may be larger than memory and have a line of 100 MB in it, or none at all. Blocks are read into one buffer that stays; a
//! line that the block cuts is moved to its front. Mapping files would save one copy, a tenth of what reading costs, and take
//! unsafe code and a crash when a file is cut short meanwhile.
//!
//! Invariant: no more is kept than the buffer, and every line is told once: whole, or as too long.

use std::io::{self, Read};

/// As much as is read at once.
const BLOCK_BYTES: usize = 256 * 1024;

/// A line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// Longer than the limit: how it begins.
    Long(&'a [u8]),
}

/// Tells every line. What was read before an error is told before it is returned.
pub(crate) fn each(mut source: impl Read, longest: usize, mut tell: impl FnMut(Line<'_>)) -> io::Result<u64> {
    let mut buffer = vec![0u8; BLOCK_BYTES.max(longest + 1)];
    let (mut held, mut total) = (0usize, 0u64);
    let mut skipping = false;
    loop {
        let read = match source.read(&mut buffer[held..]) {
            Ok(read) => read,
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            Err(why) => {
                if held > 0 && !skipping {
                    tell(Line::Whole(trimmed(&buffer[..held])));
                }
                return Err(why);
            }
        };
        total += read as u64;
        if read == 0 {
            if held > 0 && !skipping {
                tell(Line::Whole(trimmed(&buffer[..held])));
            }
            return Ok(total);
        }
        let filled = held + read;
        let mut start = 0;
        // What was held has no end of a line in it.
        let mut from = held;
        while let Some(end) = memchr::memchr(b'\n', &buffer[from..filled]) {
            let end = from + end;
            if !std::mem::take(&mut skipping) {
                let line = trimmed(&buffer[start..end]);
                tell(if line.len() > longest { Line::Long(line) } else { Line::Whole(line) });
            }
            start = end + 1;
            from = start;
        }
        held = filled - start;
        if skipping {
            held = 0;
        } else if held > longest {
            tell(Line::Long(&buffer[start..filled]));
            (skipping, held) = (true, 0);
        } else if start > 0 {
            buffer.copy_within(start..filled, 0);
        }
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The same lines, one when it is asked for.
pub(crate) struct PulledLines<R> {
    source: R,
    longest: usize,
    buffer: Vec<u8>,
    /// What was read and not told yet; up to `looked` there is no end of a line in it.
    start: usize,
    looked: usize,
    filled: usize,
    skipping: bool,
    ended: bool,
    failed: Option<io::Error>,
}

impl<R: Read> PulledLines<R> {
    pub(crate) fn new(source: R, longest: usize) -> Self {
        let buffer = vec![0; BLOCK_BYTES.max(longest + 1)];
        Self { source, longest, buffer, start: 0, looked: 0, filled: 0, skipping: false, ended: false, failed: None }
    }

    /// The next line; an error is the last that is told.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<io::Result<Line<'_>>> {
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[self.looked..self.filled]);
            let held = self.filled - self.start;
            if found.is_none() && !self.ended && (self.skipping || held <= self.longest) {
                if self.skipping {
                    (self.start, self.filled) = (0, 0);
                } else if self.start > 0 {
                    self.buffer.copy_within(self.start..self.filled, 0);
                    (self.start, self.filled) = (0, held);
                }
                self.looked = self.filled;
                match self.source.read(&mut self.buffer[self.filled..]) {
                    Ok(0) => self.ended = true,
                    Ok(read) => self.filled += read,
                    Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                    Err(why) => (self.ended, self.failed) = (true, Some(why)),
                }
                continue;
            }
            let from = self.start;
            let Some(end) = found.map(|at| self.looked + at) else {
                (self.start, self.looked) = (self.filled, self.filled);
                if held == 0 || self.skipping {
                    return self.failed.take().map(Err);
                }
                let line = trimmed(&self.buffer[from..self.filled]);
                if self.ended && line.len() <= self.longest {
                    return Some(Ok(Line::Whole(line)));
                }
                // Its rest is left out, whatever it is.
                self.skipping = !self.ended;
                return Some(Ok(Line::Long(line)));
            };
            (self.start, self.looked) = (end + 1, end + 1);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            let line = trimmed(&self.buffer[from..end]);
            return Some(Ok(if line.len() > self.longest { Line::Long(line) } else { Line::Whole(line) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives so many bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(into.len());
            into[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_arrive(lines in prop::collection::vec("[ab]{0,12}", 0..20), drip in 1usize..30, ended in any::<bool>()) {
            let mut text = lines.join("\n");
            if ended { text.push('\n'); }
            let mut told = Vec::new();
            each(Dripping(text.as_bytes(), drip), 8, |line| told.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::Long(_) => "long".to_owned(),
            })).unwrap();
            let expected: Vec<String> = text.lines().map(|line| if line.len() > 8 { "long".to_owned() } else { line.to_owned() }).collect();
            let mut pulled = PulledLines::new(Dripping(text.as_bytes(), drip), 8);
            let mut asked_for = Vec::new();
            while let Some(line) = pulled.next() {
                asked_for.push(match line.unwrap() {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    Line::Long(_) => "long".to_owned(),
                });
            }
            prop_assert_eq!(asked_for, expected.clone());
            prop_assert_eq!(told, expected);
        }
    }
}
