//! The answer on one stream, without I/O: bytes come in as slices, and its frames go to whoever looks.

use measure::Failure;

use super::frame::{Code, Frames, Piece, kind};
use super::{HEAD_BYTES_MAX, HTTP3, qpack};
use crate::protocol::fields::{Fields, Head};
use crate::protocol::http1::INTERIMS_MAX;
use crate::protocol::view::show_head;
use crate::protocol::{EXAMPLE_BYTES, ResponseSink};

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) failure: Failure,
    pub(super) words: &'static str,
    /// What the server is told.
    pub(super) code: Code,
    /// Whether it ends the connection, and not the exchange alone.
    pub(super) ends_all: bool,
}

const fn of_message(failure: Failure, words: &'static str) -> Wrong {
    Wrong { failure, words, code: Code::MESSAGE_ERROR, ends_all: false }
}

const fn of_connection(code: Code, words: &'static str) -> Wrong {
    Wrong { failure: Failure::Http3Protocol, words, code, ends_all: true }
}

/// The last head that nobody looked at, and what it came to: no head depends on another.
#[derive(Debug, Default)]
pub(super) struct KnownHead {
    block: Vec<u8>,
    status: u16,
    length: Option<u64>,
}

/// An answer as far as it has come.
#[derive(Default)]
pub(super) struct Reply {
    frames: Frames,
    /// A head that is not whole, or to be read.
    block: Vec<u8>,
    text: Vec<u8>,
    /// Whether somebody looks at it.
    looks: bool,
    is_head: bool,
    pub(super) interims: u8,
    /// Of these, those with status 100.
    pub(super) continues: u8,
    /// 0 before the final head.
    pub(super) status: u16,
    length: Option<u64>,
    content: u64,
    has_trailers: bool,
    fields: Fields,
    /// The beginning of its content, where its status is an error.
    pub(super) beginning: Vec<u8>,
}

impl Reply {
    /// Another one: of a request that wants a head alone, and at which somebody looks or not.
    pub(super) fn begin(&mut self, is_head: bool, looks: bool) {
        let Self { mut block, text, mut fields, mut beginning, .. } = std::mem::take(self);
        block.clear();
        fields.clear();
        beginning.clear();
        *self = Self { block, text, fields, beginning, is_head, looks, ..Self::default() };
    }

    /// Takes what was read next.
    ///
    /// # Errors
    /// What is wrong with it; no more may be taken then.
    pub(super) fn take(&mut self, mut bytes: &[u8], known: &mut KnownHead, sink: &mut impl ResponseSink) -> Result<(), Wrong> {
        while let Some(Piece { kind, content, is_last }) = self.next(&mut bytes)? {
            match kind {
                kind::DATA => self.content(content, sink)?,
                kind::HEADERS if is_last && self.block.is_empty() => self.head(content, known, sink)?,
                kind::HEADERS => {
                    self.block.extend_from_slice(content);
                    if is_last {
                        let mut block = std::mem::take(&mut self.block);
                        self.head(&block, known, sink)?;
                        block.clear();
                        self.block = block;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The next piece of a frame that may come now (RFC 9114 §4.1 and §7.2).
    fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Piece<'a>>, Wrong> {
        let Self { frames, status, has_trailers, .. } = self;
        frames.take(bytes, |kind, length| match kind {
            kind::HEADERS if length > HEAD_BYTES_MAX as u64 => Err(of_message(Failure::LimitHeadBytes, "a head larger than 64 KiB")),
            kind::HEADERS | kind::DATA if *has_trailers => Err(of_connection(Code::FRAME_UNEXPECTED, "a frame behind the trailers")),
            kind::DATA if *status == 0 => Err(of_connection(Code::FRAME_UNEXPECTED, "content before its head")),
            kind::PUSH_PROMISE => Err(of_connection(Code::ID_ERROR, "it pushes, and nothing is to be pushed")),
            kind::SETTINGS | kind::GOAWAY | kind::CANCEL_PUSH | kind::MAX_PUSH_ID => {
                Err(of_connection(Code::FRAME_UNEXPECTED, "a frame of the control stream on another"))
            }
            kind if kind::OF_HTTP2.contains(&kind) => Err(of_connection(Code::FRAME_UNEXPECTED, "a frame that only HTTP/2 has")),
            _ => Ok(()),
        })
    }

    fn content(&mut self, piece: &[u8], sink: &mut impl ResponseSink) -> Result<(), Wrong> {
        self.content += piece.len() as u64;
        if self.length.is_some_and(|length| self.content > length) && !self.has_no_content() {
            return Err(of_message(Failure::ProtoLength, "more content than its content-length"));
        }
        if self.status >= 300 && self.beginning.len() < EXAMPLE_BYTES {
            self.beginning.extend_from_slice(&piece[..piece.len().min(EXAMPLE_BYTES - self.beginning.len())]);
        }
        if self.looks && !piece.is_empty() {
            sink.received(piece);
            sink.body(piece);
        }
        Ok(())
    }

    /// Takes a head that is whole.
    fn head(&mut self, block: &[u8], known: &mut KnownHead, sink: &mut impl ResponseSink) -> Result<(), Wrong> {
        let is_trailer = self.status != 0;
        if !self.looks && !is_trailer && !known.block.is_empty() && known.block == block {
            (self.status, self.length) = (known.status, known.length);
            return Ok(());
        }
        let mut head = Head::of((self.looks && !is_trailer).then_some(&mut self.fields), None);
        if qpack::read(block, &mut self.text, |name, value| head.field(name, value)).is_err() {
            return Err(of_connection(Code::DECOMPRESSION_FAILED, "a head that cannot be read (QPACK)"));
        }
        let (status, length, wrong) = (head.status, head.length, head.wrong);
        if let Some((failure, words)) = wrong {
            return Err(of_message(failure, words));
        }
        match status {
            0 if is_trailer => self.has_trailers = true,
            _ if is_trailer => return Err(of_message(Failure::Http3Protocol, "trailers with a status")),
            0 => return Err(of_message(Failure::ProtoStatusLine, "a head without a status")),
            101 => return Err(of_message(Failure::ProtoSwitch, "status 101, which HTTP/3 does not have")),
            1..200 => {
                self.fields.clear();
                self.interims += 1;
                self.continues += u8::from(status == 100);
                if self.interims > INTERIMS_MAX {
                    return Err(of_message(Failure::LimitInterim, "more than 8 interim heads"));
                }
            }
            _ => {
                (self.status, self.length) = (status, length);
                if self.looks {
                    show_head(HTTP3, status, &self.fields, sink);
                } else {
                    known.block.clear();
                    known.block.extend_from_slice(block);
                    (known.status, known.length) = (status, length);
                }
            }
        }
        Ok(())
    }

    const fn has_no_content(&self) -> bool {
        self.is_head || matches!(self.status, 204 | 304)
    }

    /// The stream has ended.
    ///
    /// # Errors
    /// If the answer is not whole.
    pub(super) fn end(&self) -> Result<(), Wrong> {
        if self.frames.is_within() {
            return Err(of_connection(Code::FRAME_ERROR, "a stream that ends within a frame"));
        }
        if self.status == 0 {
            return Err(of_message(Failure::RecvEofBeforeResponse, "a stream that ends without an answer"));
        }
        if !self.has_no_content() && self.length.is_some_and(|length| length != self.content) {
            return Err(of_message(Failure::RecvEofInBody, "less content than its content-length"));
        }
        Ok(())
    }
}
