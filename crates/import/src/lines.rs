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
            prop_assert_eq!(told, expected);
        }
    }
}
