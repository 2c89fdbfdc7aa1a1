//! The body of a reply: whole, in chunks, in drops, or cut off.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::alarm::{Alarm, Alarms};
use crate::wire::Ending;

/// A reply's body.
pub(crate) enum ReplyBody {
    /// Sent at once, with its length declared; empty when sent.
    Whole(Bytes),
    /// Sent piece by piece.
    Pieces(Box<Pieces>),
}

/// What the pieces of a body are taken from.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// These bytes.
    Bytes(Bytes),
    /// So many bytes of no interest.
    Filler(u64),
}

/// A body on its way, piece by piece.
pub(crate) struct Pieces {
    pub(crate) content: Content,
    /// The most bytes in a piece.
    pub(crate) piece_bytes_max: usize,
    pub(crate) framing: Framing,
    /// The time between pieces, and what wakes us then.
    pub(crate) pace: Option<Pace>,
    pub(crate) cut: Option<CutOff>,
}

/// How the client learns where the body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By `Content-Length`.
    #[default]
    Length,
    /// By chunks.
    Chunked,
}

pub(crate) struct Pace {
    every: Duration,
    alarms: Rc<Alarms>,
    next: Option<(Instant, Pin<Box<Alarm>>)>,
}

/// The point at which the connection is reset.
pub(crate) struct CutOff {
    /// How many bytes of the body still go out before.
    pub(crate) after_bytes: u64,
    pub(crate) ending: Rc<Cell<Ending>>,
    pub(crate) flushed: bool,
}

impl Pace {
    pub(crate) fn new(every: Duration, alarms: Rc<Alarms>) -> Pace {
        Pace { every, alarms, next: None }
    }

    /// Ready for the first piece at once, for each further one `every` after the one before was due.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let due = match &mut self.next {
            None => Instant::now(),
            Some((due, alarm)) => {
                if alarm.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                *due
            }
        };
        let next = due + self.every;
        self.next = Some((next, Box::pin(self.alarms.at(next))));
        Poll::Ready(())
    }
}

impl Content {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Filler(len) => *len,
        }
    }

    fn take(&mut self, bytes_max: usize) -> Bytes {
        match self {
            Content::Bytes(bytes) => bytes.split_to(bytes.len().min(bytes_max)),
            Content::Filler(left) => {
                let taken = (*left).min(bytes_max.min(FILLER.len()) as u64);
                *left -= taken;
                Bytes::from_static(&FILLER[..taken as usize])
            }
        }
    }
}

/// Lines of letters, so that a body looks like text wherever it is looked at.
static FILLER: [u8; 64 * 1024] = {
    let mut filler = [b'x'; 64 * 1024];
    let mut at = 63;
    while at < filler.len() {
        filler[at] = b'\n';
        at += 64;
    }
    filler
};

impl ReplyBody {
    /// This content, declared by its length and sent as fast as it can be.
    pub(crate) fn plain(content: Content) -> ReplyBody {
        match content {
            Content::Bytes(bytes) => ReplyBody::Whole(bytes),
            Content::Filler(len) if len <= FILLER.len() as u64 => ReplyBody::Whole(Bytes::from_static(&FILLER[..len as usize])),
            content @ Content::Filler(_) => ReplyBody::Pieces(Box::new(Pieces {
                content,
                piece_bytes_max: FILLER.len(),
                framing: Framing::Length,
                pace: None,
                cut: None,
            })),
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match self.get_mut() {
            ReplyBody::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            ReplyBody::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            ReplyBody::Pieces(pieces) => pieces.poll_piece(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            ReplyBody::Whole(bytes) => bytes.is_empty(),
            // An empty body in chunks still has its last chunk to say.
            ReplyBody::Pieces(pieces) => pieces.framing == Framing::Length && pieces.content.len() == 0 && pieces.cut.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ReplyBody::Pieces(pieces) if pieces.framing == Framing::Length => SizeHint::with_exact(pieces.content.len()),
            ReplyBody::Pieces(_) => SizeHint::default(),
        }
    }
}

impl Pieces {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let mut bytes_max = self.piece_bytes_max.max(1);
        if let Some(cut) = &mut self.cut {
            if cut.after_bytes == 0 {
                if !cut.flushed {
                    // Pending makes the connection flush what it holds; an error at once would throw that away.
                    cut.flushed = true;
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                cut.ending.set(Ending::Reset);
                return Poll::Ready(Some(Err(Cut)));
            }
            bytes_max = bytes_max.min(usize::try_from(cut.after_bytes).unwrap_or(usize::MAX));
        }
        if self.content.len() == 0 {
            return Poll::Ready(None);
        }
        if let Some(pace) = &mut self.pace
            && pace.poll_next(context).is_pending()
        {
            return Poll::Pending;
        }
        let piece = self.content.take(bytes_max);
        if let Some(cut) = &mut self.cut {
            cut.after_bytes -= piece.len() as u64;
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

/// The reply ends here, on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reply was cut off on purpose")
    }
}

impl std::error::Error for Cut {}
