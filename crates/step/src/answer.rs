//! An answer as it came: status, header lines, body, and how long it took.
//!
//! Whoever reads from a connection holds headers in one of two shapes: as lines in a buffer that is used again for every
//! answer, or as pairs. Asking for one of them would make the other copy, so both are taken, and looked through in place:
//! a step asks for one or two headers, and a table of all of them would cost more than it saves.

use plan::{Nanos, Target};

/// What an answer is the answer to, where somebody asks for that.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// Where the request went.
    pub server: &'a Target,
    /// Its bytes: head, empty line and body.
    pub request: &'a [u8],
    /// The bytes of the answer, as they came, with its head.
    pub received: u64,
    /// The bodies of the answers along redirects, where somebody looks for something in them.
    pub hops: &'a [u8],
}

/// What a server sent back.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Of the last answer, if redirects were followed.
    pub status: u16,
    /// In the order in which they came, repeated ones included.
    pub headers: Headers<'a>,
    /// Without the framing of its transfer, and [unpacked](crate::unpack()).
    pub body: &'a [u8],
    /// Of the request, as `time` in a check means it.
    pub elapsed: Nanos,
}

/// Header lines, borrowed from where they are.
#[derive(Debug, Clone, Copy)]
pub struct Headers<'a>(Shape<'a>);

#[derive(Debug, Clone, Copy)]
enum Shape<'a> {
    Lines(&'a [u8]),
    Pairs(&'a [(&'a [u8], &'a [u8])]),
}

impl<'a> Headers<'a> {
    /// No headers at all.
    pub const NONE: Self = Self(Shape::Lines(b""));

    /// Lines `name: value`, each ended by LF or CR LF. A line without a colon is passed over.
    #[must_use]
    pub const fn lines(lines: &'a [u8]) -> Self {
        Self(Shape::Lines(lines))
    }

    /// Names and values.
    #[must_use]
    pub const fn pairs(pairs: &'a [(&'a [u8], &'a [u8])]) -> Self {
        Self(Shape::Pairs(pairs))
    }

    /// Every name and value in order, without white space around the value.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let (lines, pairs) = match self.0 {
            Shape::Lines(lines) => (lines, [].as_slice()),
            Shape::Pairs(pairs) => (&b""[..], pairs),
        };
        lines
            .split(|byte| *byte == b'\n')
            .filter_map(|line| {
                let colon = memchr::memchr(b':', line)?;
                Some((&line[..colon], line[colon + 1..].trim_ascii()))
            })
            .chain(pairs.iter().map(|(name, value)| (*name, value.trim_ascii())))
    }

    /// The values of the headers of this name, in order; case does not matter.
    pub fn named<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.iter().filter(move |(given, _)| given.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
}
