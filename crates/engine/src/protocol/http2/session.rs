//! The frames of one connection, without I/O: bytes come in as slices, what is to be written stands in a buffer, and each place finds
//! what became of its exchange at its seat.
//!
//! Invariant: a frame is read whole or not at all, so that a verdict does not depend on where the slices were cut.

mod incoming;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::task::{Context, Waker};

use measure::Failure;
use plan::Nanos;

use super::call::Call;
use super::frame::{Code, PREFACE, flag, kind, setting, write_frame_head, write_reset, write_window_update};
use super::written::WrittenHead;
use super::{FRAME_BYTES_MAX, Windows, hpack};
use crate::protocol::fields::Fields;
use crate::protocol::prefixed::write_number;

/// No more of a body is put behind what is still to be written.
const OUT_BYTES_FULL: usize = 64 * 1024;

/// What every window begins with (RFC 9113 §6.9.2).
const WINDOW_BEGINNING: i64 = 65_535;

/// Streams have no numbers beyond (RFC 9113 §5.1.1).
const STREAM_MAX: u32 = 0x7fff_ffff;

/// Numbers of streams are ours, so that nobody can choose them to collide.
#[derive(Default)]
struct StreamHasher(u64);

impl Hasher for StreamHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u32(&mut self, stream: u32) {
        // The upper bits tell entries apart, the lower choose their places.
        self.0 = u64::from(stream >> 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A stream after which nothing more may come; 0 if there was none.
#[derive(Debug, Clone, Copy, Default)]
struct Closed {
    stream: u32,
    /// Whether with RST_STREAM.
    by_reset: bool,
}

/// What one place has of the connection: its exchange under way, or that which just ended.
#[derive(Default)]
pub(super) struct Seat {
    /// 0 if none is under way.
    stream: u32,
    /// The last of its streams that the server ended, and how.
    closed: Closed,
    waker: Option<Waker>,
    /// Whether somebody looks at the answer.
    looks: bool,
    is_head: bool,
    /// What a call has come to; `None` of other exchanges.
    call: Option<Call>,
    pub(super) interims: u8,
    /// Of these, those with status 100.
    pub(super) continues: u8,
    /// Whether the place waits until more of its body can be sent.
    is_blocked: bool,
    /// 0 before the final head.
    pub(super) status: u16,
    pub(super) first_byte: Nanos,
    pub(super) last_byte: Nanos,
    /// Bytes of its frames.
    pub(super) received: u64,
    length: Option<u64>,
    content: u64,
    /// What the server may still send.
    window: i64,
    /// What we may still send.
    send_window: i64,
    /// So many bytes were said on the connection when the last of its request was.
    said: u64,
    pub(super) ended: Option<Result<(), Failure>>,
    /// Of the final head.
    pub(super) fields: Fields,
    /// Content that was not looked at yet; of an error that nobody looks at its beginning.
    pub(super) body: Vec<u8>,
    /// What there is to say of a failure.
    pub(super) words: String,
}

impl Seat {
    /// Whether the answer is whole, whatever it says.
    pub(super) fn is_answered(&self) -> bool {
        self.ended.is_some_and(|ended| ended.map_or_else(Failure::is_answered, |()| true))
    }
}

/// What an exchange is like that begins.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kind {
    pub(super) has_body: bool,
    /// Whether its answer is a head alone.
    pub(super) is_head: bool,
    /// Whether somebody looks at the answer.
    pub(super) looks: bool,
    /// Whether it is a call of gRPC.
    pub(super) is_call: bool,
}

/// What the server told of itself.
#[derive(Debug, Clone, Copy)]
struct Peer {
    streams_max: u32,
    window: i64,
    frame_bytes_max: usize,
    /// How much of heads it keeps in its table.
    table_bytes_max: usize,
}

/// The number of no head: what was in the table may be there no more.
const TABLE_SPENT: u64 = 0;

/// What the last head came to that did not change the table, and its bytes.
#[derive(Default)]
struct KnownHead {
    block: Vec<u8>,
    status: u16,
    length: Option<u64>,
    /// Trailers that said of a call that it succeeded, and no more.
    success: Vec<u8>,
}

/// A head whose frames are not all here.
#[derive(Debug, Clone, Copy)]
struct Unfinished {
    stream: u32,
    flags: u8,
    /// Of its frames, so that empty ones count too.
    bytes: usize,
}

/// The frames of one connection.
pub(super) struct Session {
    /// What is to be written.
    pub(super) out: Vec<u8>,
    /// How much of what was said is written.
    written: u64,
    /// The beginning of a frame.
    partial: Vec<u8>,
    reader: hpack::Reader,
    known: KnownHead,
    /// A head whose frames are not all here, and its bytes.
    unfinished: Option<Unfinished>,
    block: Vec<u8>,
    seats: Vec<Seat>,
    vacant: Vec<u32>,
    by_stream: HashMap<u32, u32, BuildHasherDefault<StreamHasher>>,
    next: u32,
    send_window: i64,
    window: i64,
    windows: Windows,
    peer: Peer,
    /// The number of the head whose fields are in the server's table; `None` while nothing is.
    table: Option<u64>,
    /// The size of the table that is still to be told (RFC 7541 §4.2).
    table_smaller: Option<usize>,
    has_settings: bool,
    /// Whether some answer said that the server speaks HTTP/3 too.
    pub(super) offers_http3: bool,
    /// The last stream that the server takes up.
    goes_away: Option<u32>,
    /// Places whose exchange waits until the server lets another stream begin.
    line: Vec<Waker>,
    blocked: u32,
    served: u32,
    idle_since: Nanos,
    /// Why nothing more can be written.
    mute: Option<Failure>,
    broken: Option<(Failure, String)>,
}

impl Session {
    /// One that begins, on which the server may send so much ahead.
    pub(super) fn new(windows: Windows) -> Self {
        let mut out = PREFACE.to_vec();
        // ENABLE_PUSH and INITIAL_WINDOW_SIZE (RFC 9113 §6.5.2): nothing is to be pushed.
        let settings = [setting(2, 0), setting(4, windows.stream as u32)];
        write_frame_head(&mut out, 12, kind::SETTINGS, 0, 0);
        out.extend_from_slice(settings.as_flattened());
        if windows.connection > WINDOW_BEGINNING {
            write_window_update(&mut out, 0, windows.connection - WINDOW_BEGINNING);
        }
        Self {
            out,
            written: 0,
            partial: Vec::new(),
            reader: hpack::Reader::default(),
            known: KnownHead::default(),
            unfinished: None,
            block: Vec::new(),
            seats: Vec::new(),
            vacant: Vec::new(),
            by_stream: HashMap::default(),
            next: 1,
            send_window: WINDOW_BEGINNING,
            window: windows.connection,
            windows,
            peer: Peer {
                streams_max: u32::MAX,
                window: WINDOW_BEGINNING,
                frame_bytes_max: FRAME_BYTES_MAX,
                table_bytes_max: hpack::TABLE_BYTES,
            },
            table: None,
            table_smaller: None,
            has_settings: false,
            offers_http3: false,
            goes_away: None,
            line: Vec::new(),
            blocked: 0,
            served: 0,
            idle_since: Nanos::ZERO,
            mute: None,
            broken: None,
        }
    }

    /// Whether the server has said how many streams it takes.
    pub(super) const fn has_settings(&self) -> bool {
        self.has_settings
    }

    /// How many streams the server takes at once.
    pub(super) const fn streams_max(&self) -> u32 {
        self.peer.streams_max
    }

    /// Whether no exchange can begin any more.
    pub(super) fn is_over(&self) -> bool {
        self.broken.is_some() || self.mute.is_some() || self.goes_away.is_some() || self.next > STREAM_MAX
    }

    /// Whether what is said can still be written.
    pub(super) fn can_write(&mut self) -> bool {
        if self.mute.is_some() {
            self.out.clear();
        }
        self.mute.is_none()
    }

    /// Whether nothing comes any more.
    pub(super) const fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Whether the server ended it, and not we.
    pub(super) fn is_ended_by_server(&self) -> bool {
        self.goes_away.is_some()
            || self.mute.is_some()
            || self.broken.as_ref().is_some_and(|(failure, _)| !matches!(failure, Failure::Http2Protocol | Failure::Http2NotSpoken))
    }

    /// How many exchanges were answered, and when the last was.
    pub(super) const fn past(&self) -> (u32, Nanos) {
        (self.served, self.idle_since)
    }

    /// A seat for a place.
    pub(super) fn sit(&mut self) -> u32 {
        self.vacant.pop().unwrap_or_else(|| {
            self.seats.push(Seat::default());
            (self.seats.len() - 1) as u32
        })
    }

    /// A place is given up.
    pub(super) fn leave(&mut self, seat: u32) {
        self.end(seat, Nanos::ZERO);
        self.seats[seat as usize] = Seat::default();
        self.vacant.push(seat);
    }

    pub(super) fn seat(&mut self, seat: u32) -> &mut Seat {
        &mut self.seats[seat as usize]
    }

    /// Remembers whom to wake when something happens to a place.
    pub(super) fn waits(&mut self, seat: u32, cx: &Context<'_>) {
        let waker = &mut self.seats[seat as usize].waker;
        if !waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
    }

    /// Begins an exchange with a head that is written already. Whether it could: the server takes no more streams at present, and whoever
    /// asks is woken when it does. The bytes that were written.
    pub(super) fn begin(
        &mut self,
        seat: u32,
        head: &WrittenHead,
        Kind { has_body, is_head, looks, is_call }: Kind,
        cx: &Context<'_>,
    ) -> Option<usize> {
        if self.by_stream.len() >= self.peer.streams_max as usize {
            self.line.push(cx.waker().clone());
            return None;
        }
        let stream = self.next;
        self.next += 2;
        self.by_stream.insert(stream, seat);
        let place = &mut self.seats[seat as usize];
        let Seat { closed, waker, mut fields, mut body, .. } = std::mem::take(place);
        fields.clear();
        body.clear();
        body.shrink_to(FRAME_BYTES_MAX);
        let send_window = self.peer.window;
        let (window, call) = (self.windows.stream, is_call.then(Call::default));
        *place = Seat { stream, closed, waker, looks, is_head, call, window, send_window, fields, body, ..Seat::default() };
        let before = self.out.len();
        let end = if has_body { 0 } else { flag::END_STREAM };
        let form = self.form(head);
        let smaller = self.table_smaller.take().map(|size| {
            let mut block = Vec::new();
            write_number(&mut block, 0x20, 5, size);
            [&block, form].concat()
        });
        let mut rest = smaller.as_deref().unwrap_or(form);
        let mut name = (kind::HEADERS, end);
        loop {
            let (piece, after) = rest.split_at(rest.len().min(self.peer.frame_bytes_max));
            let last = if after.is_empty() { flag::END_HEADERS } else { 0 };
            write_frame_head(&mut self.out, piece.len(), name.0, name.1 | last, stream);
            self.out.extend_from_slice(piece);
            if after.is_empty() {
                self.seats[seat as usize].said = self.written + self.out.len() as u64;
                return Some(self.out.len() - before);
            }
            (rest, name) = (after, (kind::CONTINUATION, 0));
        }
    }

    /// How a head is sent now.
    fn form<'a>(&mut self, head: &'a WrittenHead) -> &'a [u8] {
        match self.table {
            Some(number) if number == head.number => &head.kept,
            None if !head.keeping.is_empty() && head.table_bytes <= self.peer.table_bytes_max => {
                self.table = Some(head.number);
                &head.keeping
            }
            _ => &head.plain,
        }
    }

    /// The server keeps no more of heads than this; that it keeps more again is not made use of.
    fn shrink_table(&mut self, size: usize) {
        if size < self.peer.table_bytes_max {
            self.peer.table_bytes_max = size;
            self.table_smaller = Some(size);
            self.table = self.table.map(|_| TABLE_SPENT);
        }
    }

    /// Writes as much of the rest of a body as may be sent now. How much of it, and how many bytes that were.
    pub(super) fn send_body(&mut self, seat: u32, mut rest: &[u8]) -> (usize, usize) {
        let place = &mut self.seats[seat as usize];
        let (whole, before) = (rest.len(), self.out.len());
        while !rest.is_empty() && self.out.len() < OUT_BYTES_FULL {
            let room = place.send_window.min(self.send_window).clamp(0, self.peer.frame_bytes_max as i64);
            if room == 0 {
                break;
            }
            let (piece, after) = rest.split_at(rest.len().min(room as usize));
            let end = if after.is_empty() { flag::END_STREAM } else { 0 };
            write_frame_head(&mut self.out, piece.len(), kind::DATA, end, place.stream);
            self.out.extend_from_slice(piece);
            place.send_window -= piece.len() as i64;
            self.send_window -= piece.len() as i64;
            rest = after;
        }
        place.said = self.written + self.out.len() as u64;
        if !rest.is_empty() && !place.is_blocked {
            place.is_blocked = true;
            self.blocked += 1;
        }
        (whole - rest.len(), self.out.len() - before)
    }

    /// Wakes who waits until more can be sent.
    fn unblock(&mut self) {
        if self.blocked == 0 {
            return;
        }
        self.blocked = 0;
        for place in &mut self.seats {
            if std::mem::take(&mut place.is_blocked) {
                wake(place);
            }
        }
    }

    /// All that has come of an answer's content was looked at: the server may send as much again.
    pub(super) fn looked_at(&mut self, seat: u32) {
        let place = &mut self.seats[seat as usize];
        place.body.clear();
        if place.ended.is_none() {
            give_back(&mut self.out, place, self.windows.stream);
        }
    }

    /// So much of what is to be written was.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.out.drain(..bytes);
        self.written += bytes as u64;
        self.unblock();
    }

    /// Whether all that was said of the request at this seat is written.
    pub(super) fn is_written(&self, seat: u32) -> bool {
        self.seats[seat as usize].said <= self.written
    }

    /// Whether there is nothing to be written any more of what was said.
    pub(super) fn is_flushed(&self) -> bool {
        self.out.is_empty()
    }

    /// The exchange at this seat is over for its place: if it is not for the server, it is told.
    pub(super) fn end(&mut self, seat: u32, at: Nanos) {
        let place = &mut self.seats[seat as usize];
        let stream = std::mem::take(&mut place.stream);
        if stream == 0 {
            return;
        }
        if std::mem::take(&mut place.is_blocked) {
            self.blocked -= 1;
        }
        if place.is_answered() {
            self.served = self.served.saturating_add(1);
            self.idle_since = at;
        }
        if self.by_stream.remove(&stream).is_some() {
            write_reset(&mut self.out, stream, Code::CANCEL);
            self.relieve();
        }
    }

    /// The server answered before all of the body was sent, which nobody wants any more.
    pub(super) fn stop_sending(&mut self, seat: u32) {
        let stream = self.seats[seat as usize].stream;
        write_reset(&mut self.out, stream, Code::NO_ERROR);
    }

    /// We end the connection.
    pub(super) fn close(&mut self) {
        if self.broken.is_none() {
            self.go_away(Code::NO_ERROR);
        }
    }

    fn go_away(&mut self, code: Code) {
        write_frame_head(&mut self.out, 8, kind::GOAWAY, 0, 0);
        self.out.extend_from_slice(&[0; 4]);
        self.out.extend_from_slice(&code.0.to_be_bytes());
    }

    /// The connection has ended, or is of no more use: so has all that is under way.
    pub(super) fn breaks(&mut self, failure: Failure, words: &str) {
        if self.broken.is_some() {
            return;
        }
        self.broken = Some((failure, words.to_owned()));
        self.by_stream.clear();
        let (served, mute, written) = (self.served, self.mute, self.written);
        for place in &mut self.seats {
            if place.stream != 0 && place.ended.is_none() {
                let of_it = match failure {
                    Failure::RecvEofBeforeResponse if place.status != 0 => Failure::RecvEofInBody,
                    Failure::RecvEofBeforeResponse | Failure::RecvReset | Failure::SendClosed | Failure::SendReset
                        if place.received == 0 && served > 0 =>
                    {
                        Failure::StaleReuse
                    }
                    Failure::RecvEofBeforeResponse if place.received == 0 && place.said > written => mute.unwrap_or(failure),
                    failure => failure,
                };
                place.words.push_str(words);
                place.ended = Some(Err(of_it));
            }
            wake(place);
        }
        self.relieve();
    }

    /// Nothing more can be written; what the server said before may still be read.
    pub(super) fn cannot_write(&mut self, why: Failure) {
        self.out.clear();
        self.mute.get_or_insert(why);
    }

    /// The server may take another stream now: whoever is in line tries.
    fn relieve(&mut self) {
        self.line.drain(..).for_each(Waker::wake);
    }

    /// What an exchange that wants to begin on a connection that is over fails with.
    pub(super) fn refusal(&self) -> (Failure, String) {
        match &self.broken {
            Some((Failure::RecvEofBeforeResponse | Failure::RecvReset | Failure::SendClosed | Failure::SendReset, _)) | None => {
                (Failure::Http2Refused, "the server ended the connection".to_owned())
            }
            Some(broken) => broken.clone(),
        }
    }
}

fn wake(place: &mut Seat) {
    if let Some(waker) = &place.waker {
        waker.wake_by_ref();
    }
}

/// Opens a stream's window again when half of it is used up.
fn give_back(out: &mut Vec<u8>, place: &mut Seat, window: i64) {
    let waiting = if place.looks { place.body.len() as i64 } else { 0 };
    let more = window - place.window - waiting;
    if more > window / 2 {
        write_window_update(out, place.stream, more);
        place.window += more;
    }
}
