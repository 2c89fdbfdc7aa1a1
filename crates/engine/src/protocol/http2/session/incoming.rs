//! Frames of the server: what each does to the exchanges of a connection, and which rules they are held to.

use measure::Failure;
use plan::Nanos;

use super::super::call::Call;
use super::super::frame::{
    Breach, Code, FRAME_HEAD_BYTES, flag, kind, u32_of, unpadded, whole, write_frame_head, write_reset, write_window_update,
};
use super::super::{FRAME_BYTES_MAX, HEAD_BYTES_MAX};
use super::{Closed, STREAM_MAX, Session, Unfinished, give_back, wake};
use crate::protocol::EXAMPLE_BYTES;
use crate::protocol::fields::Head;
use crate::protocol::http1::INTERIMS_MAX;

/// More than this is not kept to be written: whoever makes us answer without reading (PING, SETTINGS) is refused.
const OUT_BYTES_MAX: usize = 1024 * 1024;

/// The largest window (RFC 9113 §6.9.1).
const WINDOW_MAX: i64 = 0x7fff_ffff;

impl Session {
    /// Takes what was read.
    pub(in super::super) fn read(&mut self, bytes: &[u8], now: Nanos) {
        if let Err(Breach(code, words)) = self.take(bytes, now) {
            // A server that speaks HTTP/1 answers the preface with an error of its own.
            let is_http1 = !self.has_settings && (self.partial.starts_with(b"HTTP/") || bytes.starts_with(b"HTTP/"));
            self.go_away(code);
            if is_http1 {
                self.breaks(Failure::Http2NotSpoken, "it answered in HTTP/1");
            } else {
                self.breaks(Failure::Http2Protocol, &format!("{words} ({})", code.name()));
            }
        } else if self.out.len() > OUT_BYTES_MAX {
            self.breaks(Failure::Http2Protocol, "it asks for answers (PING, SETTINGS) and reads none of them");
        }
    }

    fn take(&mut self, bytes: &[u8], now: Nanos) -> Result<(), Breach> {
        let mut rest = bytes;
        while !self.partial.is_empty() {
            let needed = if self.partial.len() < FRAME_HEAD_BYTES { FRAME_HEAD_BYTES } else { whole(&self.partial)? };
            let (piece, after) = rest.split_at(rest.len().min(needed - self.partial.len()));
            self.partial.extend_from_slice(piece);
            rest = after;
            if self.partial.len() < needed {
                return Ok(());
            }
            if needed == whole(&self.partial)? {
                let mut frame = std::mem::take(&mut self.partial);
                let taken = self.frame(&frame, now);
                frame.clear();
                self.partial = frame;
                taken?;
            }
        }
        while rest.len() >= FRAME_HEAD_BYTES {
            let Some((frame, after)) = rest.split_at_checked(whole(rest)?) else { break };
            self.frame(frame, now)?;
            rest = after;
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    fn frame(&mut self, frame: &[u8], now: Nanos) -> Result<(), Breach> {
        let (kind, flags) = (frame[3], frame[4]);
        let stream = u32_of(&frame[5..9]) & STREAM_MAX;
        let content = &frame[FRAME_HEAD_BYTES..];
        if !self.has_settings && kind != kind::SETTINGS {
            return Err(Breach(Code::PROTOCOL_ERROR, "it does not begin with SETTINGS"));
        }
        if self.unfinished.is_some() != (kind == kind::CONTINUATION) {
            return Err(Breach(Code::PROTOCOL_ERROR, "a head is broken off, or goes on that has not begun"));
        }
        let is_of_a_stream =
            matches!(kind, kind::DATA | kind::HEADERS | kind::PRIORITY | kind::RST_STREAM | kind::PUSH_PROMISE | kind::CONTINUATION);
        let is_of_the_connection = matches!(kind, kind::SETTINGS | kind::PING | kind::GOAWAY);
        if is_of_a_stream && stream == 0 || is_of_the_connection && stream != 0 {
            return Err(Breach(Code::PROTOCOL_ERROR, "a frame of a stream without one, or one of the connection with one"));
        }
        if stream != 0 && kind != kind::PRIORITY && kind <= kind::CONTINUATION && (stream.is_multiple_of(2) || stream >= self.next) {
            return Err(Breach(Code::PROTOCOL_ERROR, "a frame of a stream that was not begun"));
        }
        match kind {
            kind::DATA => self.data(stream, flags, frame.len(), content, now),
            kind::HEADERS => {
                let mut block = unpadded(flags, content)?;
                if flags & flag::PRIORITY != 0 {
                    block = block.get(5..).ok_or(Breach(Code::FRAME_SIZE_ERROR, "a head without room for its priority"))?;
                }
                self.received(stream, frame.len(), now);
                if flags & flag::END_HEADERS != 0 {
                    return self.head(stream, flags, block, now);
                }
                self.block.clear();
                self.block.extend_from_slice(block);
                self.unfinished = Some(Unfinished { stream, flags, bytes: frame.len() });
                Ok(())
            }
            kind::CONTINUATION => {
                let Some(unfinished) = self.unfinished.as_mut().filter(|unfinished| unfinished.stream == stream) else {
                    return Err(Breach(Code::PROTOCOL_ERROR, "a head goes on in another stream"));
                };
                unfinished.bytes += frame.len();
                if unfinished.bytes > HEAD_BYTES_MAX {
                    return Err(Breach(Code::ENHANCE_YOUR_CALM, "a head larger than 64 KiB, or in too many pieces"));
                }
                let begun = unfinished.flags;
                self.received(stream, frame.len(), now);
                self.block.extend_from_slice(content);
                if flags & flag::END_HEADERS == 0 {
                    return Ok(());
                }
                self.unfinished = None;
                let block = std::mem::take(&mut self.block);
                let read = self.head(stream, begun, &block, now);
                self.block = block;
                read
            }
            kind::PRIORITY if content.len() != 5 => Err(Breach(Code::FRAME_SIZE_ERROR, "a PRIORITY of another size than 5")),
            kind::RST_STREAM => {
                let code = content.try_into().map(u32::from_be_bytes);
                let code = Code(code.map_err(|_| Breach(Code::FRAME_SIZE_ERROR, "an RST_STREAM of another size than 4"))?);
                self.received(stream, frame.len(), now);
                if let Some(seat) = self.by_stream.get(&stream) {
                    self.seats[*seat as usize].closed = Closed { stream, by_reset: true };
                    let words = format!("RST_STREAM: {}", code.name());
                    self.finish(stream, Err((code.failure(), &words)));
                }
                Ok(())
            }
            kind::SETTINGS => self.settings(flags, content),
            kind::PUSH_PROMISE => Err(Breach(Code::PROTOCOL_ERROR, "it pushes, which was refused")),
            kind::PING if content.len() != 8 => Err(Breach(Code::FRAME_SIZE_ERROR, "a PING of another size than 8")),
            kind::PING => {
                if flags & flag::ACK == 0 {
                    write_frame_head(&mut self.out, 8, kind::PING, flag::ACK, 0);
                    self.out.extend_from_slice(content);
                }
                Ok(())
            }
            kind::GOAWAY => {
                let last = content.get(..8).ok_or(Breach(Code::FRAME_SIZE_ERROR, "a GOAWAY of less than 8 bytes"))?;
                self.leaves(u32_of(last) & STREAM_MAX, Code(u32_of(&last[4..])));
                Ok(())
            }
            kind::WINDOW_UPDATE => self.window_update(stream, content),
            _ => Ok(()),
        }
    }

    /// Counts bytes of an answer.
    fn received(&mut self, stream: u32, bytes: usize, now: Nanos) {
        if let Some(seat) = self.by_stream.get(&stream) {
            let place = &mut self.seats[*seat as usize];
            place.received += bytes as u64;
            place.last_byte = now;
        }
    }

    fn data(&mut self, stream: u32, flags: u8, frame_bytes: usize, content: &[u8], now: Nanos) -> Result<(), Breach> {
        let counted = content.len() as i64;
        if counted > self.window {
            return Err(Breach(Code::FLOW_CONTROL_ERROR, "more content than the connection's window"));
        }
        // It is read already, whoever wants it.
        self.window -= counted;
        let whole = self.windows.connection;
        if self.window < whole / 2 {
            write_window_update(&mut self.out, 0, whole - self.window);
            self.window = whole;
        }
        let content = unpadded(flags, content)?;
        let Some(seat) = self.by_stream.get(&stream).copied() else { return self.behind_the_end(stream) };
        let place = &mut self.seats[seat as usize];
        place.received += frame_bytes as u64;
        place.last_byte = now;
        if counted > place.window {
            self.reset(stream, Code::FLOW_CONTROL_ERROR, Failure::Http2Protocol, "more content than its window");
            return Ok(());
        }
        if place.status == 0 {
            self.reset(stream, Code::PROTOCOL_ERROR, Failure::Http2Protocol, "content before its head");
            return Ok(());
        }
        // What a proxy answers that knows no gRPC are no messages.
        if let Some(call) = place.call.as_mut().filter(|_| place.status == 200)
            && let Err(words) = call.content(content)
        {
            self.reset(stream, Code::CANCEL, Failure::GrpcProtocol, words);
            return Ok(());
        }
        place.window -= counted;
        place.content += content.len() as u64;
        if place.length.is_some_and(|length| place.content > length) {
            self.reset(stream, Code::PROTOCOL_ERROR, Failure::ProtoLength, "more content than its content-length");
            return Ok(());
        }
        if place.looks {
            place.body.extend_from_slice(content);
        } else if place.status >= 400 {
            place.body.extend_from_slice(&content[..content.len().min(EXAMPLE_BYTES.saturating_sub(place.body.len()))]);
        }
        if flags & flag::END_STREAM != 0 {
            self.complete(stream, seat);
            return Ok(());
        }
        if place.looks {
            wake(place);
        }
        give_back(&mut self.out, place, self.windows.stream);
        Ok(())
    }

    fn head(&mut self, stream: u32, flags: u8, block: &[u8], now: Nanos) -> Result<(), Breach> {
        let unreadable = |_| Breach(Code::COMPRESSION_ERROR, "a head that is no HPACK");
        let Some(seat) = self.by_stream.get(&stream).copied() else {
            // Nobody waits for it any more, but the table is both sides'.
            let changes = self.reader.read(block, |_, _| ()).map_err(unreadable)?;
            self.forget_if(changes);
            return self.behind_the_end(stream);
        };
        let ends = flags & flag::END_STREAM != 0;
        let place = &mut self.seats[seat as usize];
        if !place.looks && place.status == 0 && !self.known.block.is_empty() && self.known.block == block {
            (place.status, place.length, place.first_byte) = (self.known.status, self.known.length, now);
            if ends {
                self.complete(stream, seat);
            }
            return Ok(());
        }
        let is_trailer = place.status != 0;
        let is_known = is_trailer && ends && !block.is_empty() && self.known.success == block;
        if let Some(call) = place.call.as_mut().filter(|_| is_known) {
            call.succeeds();
            self.complete(stream, seat);
            return Ok(());
        }
        let mut head = Head::of((place.looks && !is_trailer).then_some(&mut place.fields), place.call.as_mut());
        let changes = self.reader.read(block, |name, value| head.field(name, value)).map_err(unreadable)?;
        let (status, length, mut wrong) = (head.status, head.length, head.wrong);
        self.offers_http3 |= head.offers_http3;
        if is_trailer {
            if !ends {
                wrong = wrong.or(Some((Failure::Http2Protocol, "a second head that does not end the answer")));
            }
            if status != 0 {
                wrong = wrong.or(Some((Failure::Http2Protocol, "trailers with a status")));
            }
            if wrong.is_none() && !changes && place.call.as_ref().is_some_and(Call::is_plain_success) {
                self.known.success.clear();
                self.known.success.extend_from_slice(block);
            }
        } else if status == 0 {
            wrong = wrong.or(Some((Failure::ProtoStatusLine, "a head without a status")));
        } else if status < 200 {
            place.fields.clear();
            place.interims += 1;
            if status == 100 {
                place.continues += 1;
                // A body may wait for it.
                wake(place);
            }
            if status == 101 {
                wrong = Some((Failure::ProtoSwitch, "status 101, which HTTP/2 does not have"));
            } else if ends {
                wrong = Some((Failure::Http2Protocol, "an interim head that ends the answer"));
            } else if place.interims > INTERIMS_MAX {
                wrong = Some((Failure::LimitInterim, "more than 8 interim heads"));
            }
        } else {
            (place.status, place.length, place.first_byte) = (status, length, now);
            if wrong.is_none() && !changes && !place.looks && place.call.as_ref().is_none_or(Call::is_untold) {
                self.known.block.clear();
                self.known.block.extend_from_slice(block);
                (self.known.status, self.known.length) = (status, length);
            }
        }
        self.forget_if(changes);
        if let Some((failure, words)) = wrong {
            self.reset(stream, Code::PROTOCOL_ERROR, failure, words);
        } else if ends {
            self.complete(stream, seat);
        }
        Ok(())
    }

    /// A head is remembered for as long as the table is the same.
    fn forget_if(&mut self, changes: bool) {
        if changes {
            self.known.success.clear();
            self.known.block.clear();
        }
    }

    /// More of a stream that is over: what we gave up may still come, but not what the server has ended (RFC 9113 §5.1). Only the last
    /// of each place is remembered, so that it takes no more memory however many there were.
    fn behind_the_end(&mut self, stream: u32) -> Result<(), Breach> {
        match self.seats.iter().map(|place| place.closed).find(|closed| closed.stream == stream) {
            None => Ok(()),
            Some(Closed { by_reset: false, .. }) => Err(Breach(Code::STREAM_CLOSED, "more of an answer behind its end")),
            Some(_) => {
                write_reset(&mut self.out, stream, Code::STREAM_CLOSED);
                Ok(())
            }
        }
    }

    /// An answer has come to its end.
    fn complete(&mut self, stream: u32, seat: u32) {
        let place = &mut self.seats[seat as usize];
        place.closed = Closed { stream, by_reset: false };
        let has_no_content = place.is_head || matches!(place.status, 204 | 304);
        if !has_no_content && place.length.is_some_and(|length| length != place.content) {
            return self.finish(stream, Err((Failure::RecvEofInBody, "less content than its content-length")));
        }
        if let Some(Err((failure, words))) = place.call.as_ref().map(|call| call.verdict(place.status, &place.body)) {
            return self.finish(stream, Err((failure, &words)));
        }
        self.finish(stream, Ok(()));
    }

    /// We end an exchange whose answer breaks the rules.
    fn reset(&mut self, stream: u32, code: Code, failure: Failure, words: &str) {
        write_reset(&mut self.out, stream, code);
        self.finish(stream, Err((failure, words)));
    }

    fn finish(&mut self, stream: u32, result: Result<(), (Failure, &str)>) {
        let Some(seat) = self.by_stream.remove(&stream) else { return };
        let place = &mut self.seats[seat as usize];
        if let Err((_, words)) = result {
            place.words.push_str(words);
        }
        place.ended = Some(result.map_err(|(failure, _)| failure));
        wake(place);
        self.relieve();
    }

    fn settings(&mut self, flags: u8, content: &[u8]) -> Result<(), Breach> {
        let is_ack = flags & flag::ACK != 0;
        if !content.len().is_multiple_of(6) || is_ack && !content.is_empty() {
            return Err(Breach(Code::FRAME_SIZE_ERROR, "SETTINGS of a size that cannot be"));
        }
        if is_ack {
            return if self.has_settings { Ok(()) } else { Err(Breach(Code::PROTOCOL_ERROR, "it does not begin with SETTINGS")) };
        }
        for [high, low, value @ ..] in content.as_chunks::<6>().0 {
            let value = u32::from_be_bytes(*value);
            match u16::from_be_bytes([*high, *low]) {
                1 => self.shrink_table(value as usize),
                2 if value != 0 => return Err(Breach(Code::PROTOCOL_ERROR, "it asks to be pushed to")),
                3 => self.peer.streams_max = value,
                4 => {
                    let window = i64::from(value);
                    if window > WINDOW_MAX {
                        return Err(Breach(Code::FLOW_CONTROL_ERROR, "a window beyond 2^31-1"));
                    }
                    let more = window - self.peer.window;
                    self.peer.window = window;
                    for seat in self.by_stream.values() {
                        let place = &mut self.seats[*seat as usize];
                        place.send_window += more;
                        if place.send_window > WINDOW_MAX {
                            return Err(Breach(Code::FLOW_CONTROL_ERROR, "a window beyond 2^31-1"));
                        }
                    }
                }
                5 if !(FRAME_BYTES_MAX as u32..=0xff_ffff).contains(&value) => {
                    return Err(Breach(Code::PROTOCOL_ERROR, "a largest frame that cannot be"));
                }
                5 => self.peer.frame_bytes_max = value as usize,
                _ => {}
            }
        }
        write_frame_head(&mut self.out, 0, kind::SETTINGS, flag::ACK, 0);
        self.has_settings = true;
        self.unblock();
        self.relieve();
        Ok(())
    }

    /// The server takes up no stream behind this one.
    fn leaves(&mut self, last: u32, code: Code) {
        self.goes_away = Some(self.goes_away.map_or(last, |before| before.min(last)));
        let mut beyond: Vec<u32> = self.by_stream.keys().copied().filter(|stream| *stream > last).collect();
        beyond.sort_unstable();
        let words = format!("GOAWAY: {}", code.name());
        for stream in beyond {
            self.finish(stream, Err((Failure::Http2Refused, &words)));
        }
        // Who is idle looks for another connection.
        self.seats.iter_mut().filter(|place| place.stream == 0).for_each(wake);
        self.relieve();
    }

    fn window_update(&mut self, stream: u32, content: &[u8]) -> Result<(), Breach> {
        let more = content
            .try_into()
            .map(u32::from_be_bytes)
            .map_err(|_| Breach(Code::FRAME_SIZE_ERROR, "a WINDOW_UPDATE of another size than 4"))?;
        let more = i64::from(more & STREAM_MAX);
        if stream == 0 {
            if more == 0 {
                return Err(Breach(Code::PROTOCOL_ERROR, "a window that grows by nothing"));
            }
            self.send_window += more;
            if self.send_window > WINDOW_MAX {
                return Err(Breach(Code::FLOW_CONTROL_ERROR, "a window beyond 2^31-1"));
            }
        } else if let Some(seat) = self.by_stream.get(&stream) {
            let place = &mut self.seats[*seat as usize];
            place.send_window += more;
            if more == 0 {
                self.reset(stream, Code::PROTOCOL_ERROR, Failure::Http2Protocol, "a window that grows by nothing");
            } else if place.send_window > WINDOW_MAX {
                self.reset(stream, Code::FLOW_CONTROL_ERROR, Failure::Http2Protocol, "a window beyond 2^31-1");
            }
        }
        self.unblock();
        Ok(())
    }
}
