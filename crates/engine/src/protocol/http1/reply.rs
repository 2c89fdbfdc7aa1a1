//! The reply to one request: a state machine fed with what was read.
//!
//! One [`Reply`] belongs to each connection and is used again for every request on it. It is fed slices of the
//! worker's shared read buffer and keeps none of them; only a head that is cut gets memory of its own. Who wants to
//! see headers or bodies passes a [`ResponseSink`]; `()` sees nothing and costs nothing.

use measure::{Failure, Quirk, Quirks};

use super::chunks::Chunks;
use super::fields::{Coding, Fields};
use super::head::{self, Gathering, Head};
use super::known::{Decided, KnownHead};
use super::{BLANK_LINES_MAX, INTERIMS_MAX, work};
use crate::protocol::ResponseSink;

/// Framing of the reply to a request: where it ends, as far as the request decides it (RFC 9112 section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseFraming {
    /// HEAD: the reply has no body, whatever its head announces.
    Head,
    /// CONNECT: after a 2xx head the connection is a tunnel.
    Connect,
    /// Any other method. Upgrades are not asked for here.
    #[default]
    Other,
}

/// What a slice of bytes brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// All of it belongs to the reply, and more has to come.
    More,
    /// The reply is complete.
    Done(Finished),
    /// The request failed; the connection has to be closed.
    Failed(Failure),
}

/// A complete reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// The status of the final head, 200 to 999.
    pub status: u16,
    /// Whether another request may be sent on this connection.
    pub reusable: bool,
    /// How many interim replies came before the final one.
    pub interims: u8,
    /// What was odd.
    pub quirks: Quirks,
    /// Bytes of content, without chunk framing, as transferred (still compressed).
    pub body_bytes: u64,
    /// How many bytes of the last slice belong to the reply. Less than all of them after a CONNECT, where the rest
    /// belongs to the tunnel; otherwise the rest has been judged by [`Finished::followed_by`], or belongs to the next pipelined reply.
    pub consumed: usize,
    ending: Ending,
}

/// How a complete reply ended, which decides what may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Ending {
    /// Its body ended, as announced.
    #[default]
    Framed,
    /// It may not have a body: HEAD, 204, 304.
    Bodiless,
    /// The connection has become a tunnel.
    Tunnel,
}

impl Finished {
    /// Judges bytes that came after the reply and before the next request.
    ///
    /// Up to two empty lines are a quirk. After a reply that may not have a body, anything else is taken for the
    /// body sent all the same: the reply stands, but the connection must not be used again. After one that ends the connection anything
    /// else is a quirk too.
    ///
    /// # Errors
    ///
    /// [`Failure::ProtoExtraData`] for anything else: the announced length was wrong, or two replies were sent.
    pub fn followed_by(mut self, rest: &[u8]) -> Result<Self, Failure> {
        if rest.is_empty() || self.ending == Ending::Tunnel {
            return Ok(self);
        }
        if is_blank(rest) {
            self.quirks.insert(Quirk::ExtraBlankLine);
            return Ok(self);
        }
        if self.ending == Ending::Bodiless {
            self.quirks.insert(Quirk::BodyUnexpected);
            self.reusable = false;
            return Ok(self);
        }
        if !self.reusable {
            // Whether they come before the connection is closed is chance, and nobody will take them for an answer.
            self.quirks.insert(Quirk::ExtraData);
            return Ok(self);
        }
        Err(Failure::ProtoExtraData)
    }
}

/// Whether bytes that nobody asked for are harmless: up to two empty lines, of which the last may be cut.
#[must_use]
pub fn is_blank(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    for _ in 0..BLANK_LINES_MAX {
        rest = match rest {
            [b'\r', b'\n', after @ ..] | [b'\n', after @ ..] => after,
            [b'\r'] => &[],
            _ => rest,
        };
    }
    rest.is_empty()
}

/// The reader of one connection's replies, one at a time.
#[derive(Debug)]
pub struct Reply {
    phase: Phase,
    body_bytes: u64,
    /// There only since a head came in parts or was odd.
    gathering: Option<Box<Gathering>>,
    status: u16,
    quirks: Quirks,
    framing: ResponseFraming,
    ending: Ending,
    heads: u8,
    interims: u8,
    /// Of these, those with status 100.
    continues: u8,
    /// Whether the head at hand is counted in `heads`.
    begun: bool,
    reusable: bool,
    offers_http3: bool,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Head,
    /// Content of a known length, of which so many bytes are to come.
    Length(u64),
    Chunked(Chunks),
    UntilClose,
    /// There is nothing to read until the next [`Reply::begin`].
    Over,
}

impl Default for Reply {
    fn default() -> Self {
        Self::new()
    }
}

impl Reply {
    /// A reader for a new connection, ready for the reply to anything but HEAD and CONNECT. Allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            phase: Phase::Head,
            body_bytes: 0,
            gathering: None,
            status: 0,
            quirks: Quirks::NONE,
            framing: ResponseFraming::Other,
            ending: Ending::Framed,
            heads: 0,
            interims: 0,
            continues: 0,
            begun: false,
            reusable: false,
            offers_http3: false,
        }
    }

    /// Whether the head said that the server speaks HTTP/3 too. Of a head that is known it is not said again.
    #[inline]
    pub(in crate::protocol) const fn offers_http3(&self) -> bool {
        self.offers_http3
    }

    /// A request was sent on the same connection: starts reading the reply to it.
    #[inline]
    pub fn begin(&mut self, framing: ResponseFraming) {
        let gathering = self.gathering.take().map(|mut gathering| {
            gathering.clear();
            gathering
        });
        *self = Self { framing, gathering, ..Self::new() };
    }

    /// Takes the bytes just read. They need not be kept afterwards.
    ///
    /// An empty slice changes nothing; the end of the stream is told by [`Reply::closed`]. After the end of a reply
    /// nothing may be fed before [`Reply::begin`]: such bytes are for [`Finished::followed_by`] or [`is_blank`].
    #[inline]
    pub fn feed<O: ResponseSink>(&mut self, bytes: &[u8], observer: &mut O) -> Progress {
        self.feed_knowing(bytes, observer, None)
    }

    /// The same for who may know the head already: for an observer that looks at no heads.
    #[inline]
    pub fn feed_knowing<O: ResponseSink>(&mut self, bytes: &[u8], observer: &mut O, known: Option<&mut KnownHead>) -> Progress {
        let read = self.read(bytes, observer, known.filter(|_| !observer.wants_head()));
        match read.and_then(|read| read.map(|(finished, rest)| finished.followed_by(rest)).transpose()) {
            Ok(None) => Progress::More,
            Ok(Some(finished)) => Progress::Done(finished),
            Err(failure) => self.failed(failure),
        }
    }

    /// The same where more replies may follow at once, to pipelined requests: what comes after [`Finished::consumed`] bytes
    /// belongs to the next, for which [`Reply::begin`] comes first.
    pub(crate) fn feed_pipelined<O: ResponseSink>(&mut self, bytes: &[u8], observer: &mut O) -> Progress {
        match self.read(bytes, observer, None) {
            Ok(None) => Progress::More,
            Ok(Some((finished, _))) => Progress::Done(finished),
            Err(failure) => self.failed(failure),
        }
    }

    fn failed(&mut self, failure: Failure) -> Progress {
        self.phase = Phase::Over;
        Progress::Failed(failure)
    }

    /// The server closed its side of the connection.
    ///
    /// # Errors
    ///
    /// `recv.eof_*` unless the body was to end with the connection. On a connection used before,
    /// [`Failure::RecvEofBeforeResponse`] with [`Reply::heads`] 0 is what `stale_reuse` means.
    pub fn closed(&mut self) -> Result<Finished, Failure> {
        let phase = std::mem::replace(&mut self.phase, Phase::Over);
        match phase {
            Phase::Head if self.begun => Err(Failure::RecvEofInHead),
            Phase::Head => Err(Failure::RecvEofBeforeResponse),
            Phase::Length(_) | Phase::Chunked(_) => Err(Failure::RecvEofInBody),
            Phase::UntilClose => Ok(self.finished(0)),
            Phase::Over => Err(Failure::ClientInternal),
        }
    }

    /// The status of the final head, once it is complete.
    #[must_use]
    pub const fn status(&self) -> Option<u16> {
        if self.status == 0 { None } else { Some(self.status) }
    }

    /// How many heads have begun to arrive, interim ones included. Whenever this number has changed, the first byte
    /// of what may be the final reply has come.
    #[must_use]
    pub const fn heads(&self) -> u8 {
        self.heads
    }

    /// How many interim (1xx) replies were complete so far.
    #[must_use]
    pub const fn interims(&self) -> u8 {
        self.interims
    }

    /// How many of these said 100 Continue.
    #[must_use]
    pub(crate) const fn continues(&self) -> u8 {
        self.continues
    }

    /// What was odd so far.
    #[must_use]
    pub const fn quirks(&self) -> Quirks {
        self.quirks
    }

    /// Bytes of content so far.
    #[must_use]
    pub const fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Whether the reply came to its end, good or bad.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// The complete reply and what follows it, or `None` if more has to come.
    #[inline]
    fn read<'bytes, O: ResponseSink>(
        &mut self,
        bytes: &'bytes [u8],
        observer: &mut O,
        mut known: Option<&mut KnownHead>,
    ) -> Result<Option<(Finished, &'bytes [u8])>, Failure> {
        let mut rest = bytes;
        // One turn for each interim head, one for the final head, one for the body.
        loop {
            match &mut self.phase {
                Phase::Head => match self.read_head(rest, observer, known.as_deref_mut())? {
                    Some(after) => rest = after,
                    None => return Ok(None),
                },
                Phase::Length(left) => {
                    let here = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    let (data, after) = rest.split_at_checked(here).unwrap_or((rest, &[]));
                    if !data.is_empty() {
                        observer.body(data);
                    }
                    rest = after;
                    *left = left.saturating_sub(here as u64);
                    self.body_bytes = self.body_bytes.saturating_add(here as u64);
                    if *left > 0 {
                        return Ok(None);
                    }
                    self.phase = Phase::Over;
                    break;
                }
                Phase::Chunked(chunks) => {
                    match chunks.take(rest, &mut self.body_bytes, &mut self.quirks, observer)? {
                        Some(after) => rest = after,
                        None => return Ok(None),
                    }
                    self.phase = Phase::Over;
                    break;
                }
                Phase::UntilClose => {
                    if !rest.is_empty() {
                        observer.body(rest);
                    }
                    self.body_bytes = self.body_bytes.saturating_add(rest.len() as u64);
                    return Ok(None);
                }
                Phase::Over => return Err(Failure::ClientInternal),
            }
        }
        Ok(Some((self.finished(bytes.len().saturating_sub(rest.len())), rest)))
    }

    fn finished(&self, consumed: usize) -> Finished {
        Finished {
            status: self.status,
            reusable: self.reusable,
            interims: self.interims,
            quirks: self.quirks,
            body_bytes: self.body_bytes,
            consumed,
            ending: self.ending,
        }
    }

    /// Reads on in a head. Returns what follows it, or `None` if it needs more.
    #[inline]
    fn read_head<'bytes, O: ResponseSink>(
        &mut self,
        bytes: &'bytes [u8],
        observer: &mut O,
        known: Option<&mut KnownHead>,
    ) -> Result<Option<&'bytes [u8]>, Failure> {
        if bytes.is_empty() {
            return Ok(None);
        }
        if self.gathering.as_ref().is_none_or(|gathering| gathering.is_empty()) {
            // What came before a head would be part of what it comes to.
            let mut known = known.filter(|_| self.heads == 0 && self.framing == ResponseFraming::Other && self.quirks == Quirks::NONE);
            if let Some(known) = known.as_deref_mut()
                && let Some(length) = known.begins(bytes)
            {
                work::looked_at(length);
                known.hit();
                self.recall(known.decided);
                return Ok(bytes.get(length..));
            }
            let mut quirks = self.quirks;
            if let Some((length, settled)) = head::whole(bytes, &mut quirks, |head, quirks| {
                self.quirks = *quirks;
                self.heads = self.heads.saturating_add(1);
                self.begun = true;
                self.settle(head, observer)
            }) {
                settled?;
                if let (Some(known), Phase::Length(left)) = (known, &self.phase) {
                    let decided = Decided { status: self.status, length: *left, reusable: self.reusable, ending: self.ending };
                    known.remember(bytes.get(..length).unwrap_or_default(), self.quirks, decided);
                }
                return Ok(bytes.get(length..));
            }
        }
        self.gather_head(bytes, observer)
    }

    /// A head is the one that is known.
    #[inline]
    fn recall(&mut self, decided: Decided) {
        let Decided { status, length, reusable, ending } = decided;
        (self.status, self.reusable, self.ending) = (status, reusable, ending);
        (self.heads, self.begun) = (1, true);
        self.phase = Phase::Length(length);
    }

    #[cold]
    fn gather_head<'bytes, O: ResponseSink>(&mut self, bytes: &'bytes [u8], observer: &mut O) -> Result<Option<&'bytes [u8]>, Failure> {
        let mut gathering = self.gathering.take().unwrap_or_default();
        let taken = gathering.take(bytes, &mut self.quirks);
        if !self.begun && gathering.has_begun() {
            self.begun = true;
            self.heads = self.heads.saturating_add(1);
        }
        let settled = match taken {
            Ok(Some(_)) => {
                let settled = gathering.read(|head| self.settle(head, observer));
                gathering.clear();
                settled
            }
            _ => Ok(()),
        };
        self.gathering = Some(gathering);
        settled?;
        taken
    }

    /// A head is complete: decides what follows it (RFC 9112 section 6.3, in its order).
    #[inline]
    fn settle<O: ResponseSink>(&mut self, head: Head<'_, '_>, observer: &mut O) -> Result<(), Failure> {
        let status = head.status;
        if status < 200 {
            return self.settle_interim(status);
        }
        self.status = status;
        let mut fields = Fields::default();
        for header in head.headers {
            fields.note(header.name, header.value);
        }
        observer.head(status, head.headers);
        self.offers_http3 = fields.offers_http3;

        if self.framing == ResponseFraming::Connect && status < 300 {
            self.ending = Ending::Tunnel;
            self.phase = Phase::Length(0);
            return Ok(());
        }
        if fields.length_faulty {
            return Err(Failure::ProtoLength);
        }
        // HTTP/1.0 keeps a connection only if the server says so; in HTTP/1.1 it is the rule (RFC 9112 section 9.3).
        self.reusable = !fields.close && (head.minor == 1 || fields.keep_alive);
        if fields.length_repeated {
            self.quirks.insert(Quirk::LengthRepeated);
        }
        if fields.coding != Coding::Absent && fields.length.is_some() {
            self.quirks.insert(Quirk::LengthAndChunked);
            self.reusable = false;
        }
        if self.framing == ResponseFraming::Head || status == 204 || status == 304 {
            self.ending = Ending::Bodiless;
            self.phase = Phase::Length(0);
            return Ok(());
        }
        self.phase = match (fields.coding, fields.length) {
            (Coding::Absent, Some(length)) => Phase::Length(length),
            (Coding::Absent, None) => Phase::UntilClose,
            // HTTP/1.0 knows no transfer codings: the framing is faulty (RFC 9112 section 6.1).
            _ if head.minor == 0 => return Err(Failure::ProtoTransferEncoding),
            (Coding::Empty | Coding::Misplaced, _) => return Err(Failure::ProtoTransferEncoding),
            (Coding::Chunked, _) => Phase::Chunked(Chunks::new()),
            (Coding::ChunkedRepeated, _) => {
                self.quirks.insert(Quirk::ChunkedRepeated);
                Phase::Chunked(Chunks::new())
            }
            // Content-Length is not trusted beside any Transfer-Encoding, as in curl.
            (Coding::Unchunked, _) => Phase::UntilClose,
        };
        if matches!(self.phase, Phase::UntilClose) {
            self.reusable = false;
        }
        Ok(())
    }

    /// A 1xx head has no body, whatever it announces; another head follows.
    #[cold]
    fn settle_interim(&mut self, status: u16) -> Result<(), Failure> {
        if status == 101 {
            return Err(Failure::ProtoSwitch);
        }
        self.quirks.insert(Quirk::Interim);
        self.interims = self.interims.saturating_add(1);
        self.continues = self.continues.saturating_add(u8::from(status == 100));
        self.begun = false;
        if self.interims > INTERIMS_MAX { Err(Failure::LimitInterim) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http1::{HEAD_BYTES_MAX, work};

    #[test]
    fn a_usual_head_is_known_the_next_time_and_an_odd_one_is_read_again() {
        let usual = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
        for (head, is_known) in [
            (&usual[..], true),
            (b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nConnection: close\r\n\r\n", true),
            (b"HTTP/1.1 204 No Content\r\n\r\n", true),
            (b"HTTP/1.1 200 OK\nContent-Length: 3\r\n\r\n", false),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false),
            (b"HTTP/1.1 100 Continue\r\n\r\n", false),
            (b"HTTP/1.1 200 OK\r\n\r\n", false),
        ] {
            let mut known = KnownHead::default();
            Reply::new().feed_knowing(head, &mut (), Some(&mut known));
            assert_eq!(known.begins(head), is_known.then_some(head.len()), "{}", head.escape_ascii());
        }
        let mut known = KnownHead::default();
        let mut reply = Reply::new();
        for framing in [ResponseFraming::Head, ResponseFraming::Connect] {
            reply.begin(framing);
            reply.feed_knowing(usual, &mut (), Some(&mut known));
            assert_eq!(known.begins(usual), None, "what it comes to is not the head's alone");
        }
    }

    fn looked_at(reply: &[u8], piece: usize) -> usize {
        work::BYTES.set(0);
        let mut reader = Reply::new();
        for piece in reply.chunks(piece) {
            if reader.feed(piece, &mut ()) != Progress::More {
                break;
            }
        }
        work::BYTES.get()
    }

    #[test]
    fn work_is_linear_in_what_the_server_sends_however_it_is_cut() {
        let mut long_header = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
        long_header.resize(HEAD_BYTES_MAX, b'x');
        let mut many_headers = b"HTTP/1.1 200 OK\r\n".to_vec();
        many_headers.extend(b"A: b\r\n".repeat(255));
        let mut folded = b"HTTP/1.1 200 OK\r\nA: b\r\n".to_vec();
        folded.extend(b" c\r\n".repeat(16_000));
        let mut chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        chunks.extend(b"1\r\nx\r\n".repeat(20_000));
        let interims = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(9);
        let mut endless_reason = b"HTTP/1.1 200 ".to_vec();
        endless_reason.resize(1 << 20, b'x');
        for reply in [long_header, many_headers, folded, chunks, interims, endless_reason] {
            for piece in [1, 2, 3, 17, 1000, reply.len()] {
                // Seen once by each of: the attempt on the whole head, gathering, judging, reading.
                let looked_at = looked_at(&reply, piece);
                assert!(looked_at <= 4 * reply.len() + 64, "{looked_at} of {} bytes by {piece}", reply.len());
            }
        }
    }

    #[test]
    fn a_reply_is_small_and_keeps_no_large_head() {
        assert!(size_of::<Reply>() <= 64, "{}", size_of::<Reply>());
        let mut reply = Reply::new();
        let mut head = b"HTTP/1.1 204 No Content\r\nX: ".to_vec();
        head.resize(60_000, b'x');
        head.extend(b"\r\n\r\n");
        let (first, last) = head.split_at(50_000);
        assert_eq!(reply.feed(first, &mut ()), Progress::More);
        assert!(matches!(reply.feed(last, &mut ()), Progress::Done(_)));
        assert!(reply.gathering.is_some_and(|gathering| gathering.is_empty()));
    }

    #[test]
    fn the_first_byte_is_that_of_the_final_head() {
        let mut reply = Reply::new();
        assert_eq!(reply.heads(), 0);
        reply.feed(b"\r\n", &mut ());
        assert_eq!(reply.heads(), 0, "an empty line is no reply");
        reply.feed(b"HTTP/1.1 100 Continue\r\n", &mut ());
        assert_eq!(reply.heads(), 1);
        reply.feed(b"\r\n", &mut ());
        assert_eq!((reply.heads(), reply.interims()), (1, 1));
        reply.feed(b"H", &mut ());
        assert_eq!(reply.heads(), 2);
        reply.feed(b"TTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", &mut ());
        assert_eq!((reply.heads(), reply.status()), (2, Some(200)));
    }
}
