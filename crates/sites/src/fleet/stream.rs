//! Two streams of bytes over NATS, which may lose, double and reorder what it carries, and be gone for a while.
//!
//! Each side numbers its bytes, keeps what it has sent until the other says that it has come, and sends it again when that does not
//! happen; what comes twice is dropped, and what comes early waits. JetStream would keep messages on a disk of the server: nothing of a load
//! is wanted later, and many installations do not run it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::Connection;
use crate::LEASE;
use crate::link::End;

/// A piece carries at most so much: well below the megabyte that servers let through unless they are told otherwise.
const PIECE_BYTES_MAX: usize = 128 << 10;
/// So much may be on its way, and so much that came early waits.
const WINDOW_BYTES: u64 = 8 << 20;
/// How long the other side's word is waited for until something is sent again.
const AGAIN: Duration = Duration::from_millis(500);
/// The same at most, after it was sent again in vain.
const AGAIN_MAX: Duration = Duration::from_secs(4);
/// So many pieces are sent again at once: the other side keeps those that came, and says so of all at once.
const PIECES_AGAIN: usize = 8;
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Pieces between this stream and whoever reads or writes it.
const WAITING_MAX: usize = 16;
/// When the other side has been silent for so long, it is gone: it says that it is there once a second.
const SILENCE_MAX: Duration = Duration::from_secs(3 * LEASE.as_secs());

/// What goes over NATS: a kind, a place in the stream, and bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Bytes of the stream from this place on.
    Data(u64, Bytes),
    /// The stream ends at this place: why, in words, where it was not in order.
    End(u64, String),
    /// Everything before this place has come, and the stream's end if it is one beyond it.
    Came(u64),
    /// Nothing more comes, and nothing more is read.
    Cut,
}

impl Piece {
    pub(super) fn to_bytes(&self) -> Bytes {
        let (kind, at, rest): (u8, u64, &[u8]) = match self {
            Self::Data(at, bytes) => (0, *at, bytes),
            Self::End(at, why) => (1, *at, why.as_bytes()),
            Self::Came(at) => (2, *at, b""),
            Self::Cut => (3, 0, b""),
        };
        [&[kind][..], &at.to_be_bytes(), rest].concat().into()
    }

    /// Reads one; `None` of what is none.
    pub(super) fn read(bytes: &Bytes) -> Option<Self> {
        let at = u64::from_be_bytes(bytes.get(1..9)?.try_into().ok()?);
        match bytes[0] {
            0 => Some(Self::Data(at, bytes.slice(9..))),
            1 => Some(Self::End(at, String::from_utf8_lossy(&bytes[9..]).into_owned())),
            2 => Some(Self::Came(at)),
            3 => Some(Self::Cut),
            _ => None,
        }
    }
}

/// What is sent, until the other side has it.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The place of the next byte.
    next: u64,
    /// Pieces on their way.
    kept: VecDeque<Piece>,
    /// Everything before this place has come.
    came: u64,
    /// The place of the end, when there is one.
    end: Option<u64>,
}

impl Outgoing {
    /// The piece of these bytes.
    pub(super) fn add(&mut self, bytes: Bytes) -> Piece {
        let at = self.next;
        self.next += bytes.len() as u64;
        let piece = Piece::Data(at, bytes);
        self.kept.push_back(piece.clone());
        piece
    }

    /// The piece of the end.
    pub(super) fn finish(&mut self, why: String) -> Piece {
        let piece = Piece::End(self.next, why);
        self.end = Some(self.next);
        self.kept.push_back(piece.clone());
        piece
    }

    /// Whether more may be on its way.
    fn has_room(&self) -> bool {
        self.end.is_none() && self.next - self.came < WINDOW_BYTES
    }

    /// The other side has everything before this place; whether that was news.
    pub(super) fn came(&mut self, to: u64) -> bool {
        let before = self.kept.len();
        self.came = self.came.max(to.min(self.next));
        while self.kept.front().is_some_and(|piece| match piece {
            Piece::Data(at, bytes) => at + bytes.len() as u64 <= to,
            Piece::End(at, _) => *at < to,
            Piece::Came(_) | Piece::Cut => true,
        }) {
            self.kept.pop_front();
        }
        self.kept.len() < before
    }

    /// What the other side is not known to have, in order.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Piece> {
        self.kept.iter()
    }

    /// Whether the end has come there.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some() && self.kept.is_empty()
    }
}

/// What comes, in the order in which it was sent.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// Everything before this place has come.
    next: u64,
    /// Pieces that came early, by place, and how many bytes they are: the other side may be anybody's.
    early: BTreeMap<u64, Bytes>,
    held: u64,
    end: Option<(u64, String)>,
}

impl Incoming {
    /// Takes a piece; gives the bytes that are next now.
    pub(super) fn take(&mut self, at: u64, bytes: Bytes) -> Vec<Bytes> {
        let length = bytes.len() as u64;
        let is_new = at.saturating_add(length) > self.next && !self.early.contains_key(&at);
        if is_new && at < self.next + WINDOW_BYTES && self.held + length <= 2 * WINDOW_BYTES {
            self.held += length;
            self.early.insert(at, bytes);
        }
        let mut out = Vec::new();
        while let Some(entry) = self.early.first_entry().filter(|entry| *entry.key() <= self.next) {
            let (at, bytes) = entry.remove_entry();
            self.held -= bytes.len() as u64;
            // A piece is sent again as it was, so one that is not wholly new is wholly old.
            if at == self.next && !bytes.is_empty() {
                self.next += bytes.len() as u64;
                out.push(bytes);
            }
        }
        out
    }

    pub(super) fn finish(&mut self, at: u64, why: String) {
        self.end.get_or_insert((at, why));
    }

    /// Whether everything has come.
    pub(super) fn is_over(&self) -> bool {
        self.end.as_ref().is_some_and(|(at, _)| *at == self.next)
    }

    /// What to tell the other side.
    pub(super) fn came(&self) -> Piece {
        Piece::Came(self.next + u64::from(self.is_over()))
    }
}

/// Writes to the other side; dropped, it ends the stream.
pub(super) struct Outlet(mpsc::Sender<Bytes>);

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(PIECE_BYTES_MAX);
        self.0.blocking_send(Bytes::copy_from_slice(&bytes[..count])).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads what the other side sends.
pub(super) struct Inlet {
    pieces: mpsc::Receiver<Bytes>,
    rest: Bytes,
}

impl Read for Inlet {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            let Some(next) = self.pieces.blocking_recv() else { return Ok(0) };
            self.rest = next;
        }
        let count = into.len().min(self.rest.len());
        into[..count].copy_from_slice(&self.rest.split_to(count));
        Ok(count)
    }
}

/// What is known of the end of both streams.
#[derive(Debug)]
pub(super) struct Ending {
    /// It lasts until both are over.
    _connection: Connection,
    /// Why, when it has come.
    why: Mutex<Option<String>>,
    has_come: Condvar,
    /// Whoever is to bring it about is told here.
    cut: Notify,
    /// What this side says of its own end.
    last_words: Mutex<String>,
}

impl Ending {
    fn of(connection: Connection) -> Self {
        let (has_come, cut) = (Condvar::new(), Notify::new());
        Self { _connection: connection, why: Mutex::default(), has_come, cut, last_words: Mutex::default() }
    }

    /// To be told to the other side with the end of the stream.
    pub(super) fn say_at_last(&self, why: String) {
        *self.last_words.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

impl End for Ending {
    fn wait(&self, time: Duration) -> Option<i32> {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        let (why, late) = self.has_come.wait_timeout_while(why, time, |why| why.is_none()).unwrap_or_else(PoisonError::into_inner);
        drop(why);
        if late.timed_out() {
            self.hasten();
        }
        None
    }

    fn why(&self) -> String {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    fn hasten(&self) {
        self.cut.notify_one();
    }
}

/// The two streams of a session, and the task that carries them.
pub(super) fn open(
    connection: &Connection,
    heard: Subscriber,
    to: String,
) -> (Outlet, Inlet, Arc<Ending>, impl Future<Output = ()> + Send + 'static) {
    let (out, leaving) = mpsc::channel(WAITING_MAX);
    let (arriving, pieces) = mpsc::channel(WAITING_MAX);
    let ending = Arc::new(Ending::of(connection.clone()));
    let carried = carry(connection.client.clone(), heard, to, leaving, arriving, ending.clone());
    (Outlet(out), Inlet { pieces, rest: Bytes::new() }, ending, carried)
}

/// Room in the way to whoever reads; `None` where nobody does any more.
async fn room(arriving: Option<mpsc::Sender<Bytes>>) -> Option<mpsc::OwnedPermit<Bytes>> {
    arriving?.reserve_owned().await.ok()
}

/// Carries both streams until both are over, one side is cut off, or the other is gone.
async fn carry(
    client: Client,
    mut heard: Subscriber,
    to: String,
    mut leaving: mpsc::Receiver<Bytes>,
    arriving: mpsc::Sender<Bytes>,
    ending: Arc<Ending>,
) {
    let send = |piece: &Piece| {
        let (client, to, bytes) = (client.clone(), to.clone(), piece.to_bytes());
        // While the server is away, what is sent waits in the client, as long as there is room; what was lost is sent again.
        async move { drop(timeout(AGAIN, client.publish(to, bytes)).await) }
    };
    let (mut outgoing, mut incoming) = (Outgoing::default(), Incoming::default());
    let mut arriving = Some(arriving);
    // What came in order and is not read yet. Beyond a window of it nothing more is said to have come.
    let (mut ready, mut unread) = (VecDeque::new(), 0);
    let (mut moved, mut heard_at, mut again) = (Instant::now(), Instant::now(), AGAIN);
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let why = loop {
        if incoming.is_over() && ready.is_empty() {
            arriving = None;
            let why = incoming.end.as_ref().map(|(_, why)| why.clone()).unwrap_or_default();
            if outgoing.is_over() {
                break why;
            }
            // What is on its way there is wanted by nobody.
            if !why.is_empty() {
                send(&Piece::Cut).await;
                break why;
            }
        }
        tokio::select! {
            message = heard.next() => {
                let Some(message) = message else { break ": the connection to the NATS server was closed".to_owned() };
                heard_at = Instant::now();
                match Piece::read(&message.payload) {
                    Some(Piece::Data(at, bytes)) => {
                        for bytes in incoming.take(at, bytes) {
                            unread += bytes.len() as u64;
                            ready.push_back(bytes);
                        }
                    }
                    Some(Piece::End(at, why)) => incoming.finish(at, why),
                    Some(Piece::Came(at)) => {
                        if outgoing.came(at) {
                            (moved, again) = (Instant::now(), AGAIN);
                        }
                        continue;
                    }
                    Some(Piece::Cut) => break ": it was ended there".to_owned(),
                    None => continue,
                }
                if unread < WINDOW_BYTES {
                    send(&incoming.came()).await;
                }
            }
            permit = room(arriving.clone()), if !ready.is_empty() => {
                let is_read = match (permit, ready.pop_front()) {
                    (Some(permit), Some(bytes)) => {
                        unread -= bytes.len() as u64;
                        permit.send(bytes);
                        true
                    }
                    _ => false,
                };
                if !is_read {
                    arriving = None;
                    ready.clear();
                    unread = 0;
                }
            }
            bytes = leaving.recv(), if outgoing.has_room() => {
                if outgoing.kept.is_empty() {
                    (moved, again) = (Instant::now(), AGAIN);
                }
                let piece = match bytes {
                    Some(bytes) => outgoing.add(bytes),
                    None => outgoing.finish(std::mem::take(&mut *ending.last_words.lock().unwrap_or_else(PoisonError::into_inner))),
                };
                send(&piece).await;
            }
            () = ending.cut.notified() => {
                send(&Piece::Cut).await;
                break String::new();
            }
            _ = look.tick() => {
                if heard_at.elapsed() > SILENCE_MAX {
                    break format!(": it did not say anything for {} s", SILENCE_MAX.as_secs());
                }
                // A few: where a line is slow the rest is on its way.
                if moved.elapsed() > again && client.connection_state() == State::Connected {
                    (moved, again) = (Instant::now(), (again * 2).min(AGAIN_MAX));
                    for piece in outgoing.kept().take(PIECES_AGAIN) {
                        send(piece).await;
                    }
                }
            }
        }
    };
    drop((arriving, leaving));
    // The process may end when this is known to be over.
    let _ = timeout(AGAIN, client.flush()).await;
    *ending.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    ending.has_come.notify_all();
    // The other side may not have heard that its end has come, and say it once more.
    let _ = timeout(AGAIN * 3, async {
        while let Some(message) = heard.next().await {
            if !matches!(Piece::read(&message.payload), None | Some(Piece::Came(_) | Piece::Cut)) {
                send(&incoming.came()).await;
            }
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pieces_read_back_and_what_is_none_is_left_out() {
        for piece in [Piece::Data(7, Bytes::from_static(b"ab")), Piece::End(9, "gone".to_owned()), Piece::Came(u64::MAX), Piece::Cut] {
            assert_eq!(Piece::read(&piece.to_bytes()), Some(piece));
        }
        assert_eq!(Piece::read(&Bytes::from_static(&[9; 20])), None);
        assert_eq!(Piece::read(&Bytes::from_static(&[0; 3])), None);
    }

    #[test]
    fn what_comes_early_is_bounded_whoever_sends_it() {
        let mut incoming = Incoming::default();
        let piece = Bytes::from(vec![0; 1 << 20]);
        (1..WINDOW_BYTES).step_by(1000).for_each(|at| assert!(incoming.take(at, piece.clone()).is_empty()));
        assert!(incoming.early.len() <= 16, "{}", incoming.early.len());
        assert!(incoming.take(u64::MAX, piece).is_empty());
    }

    #[test]
    fn no_more_is_on_its_way_than_the_window() {
        let mut outgoing = Outgoing::default();
        let piece = Bytes::from(vec![0; PIECE_BYTES_MAX]);
        let mut sent = 0;
        while outgoing.has_room() {
            outgoing.add(piece.clone());
            sent += PIECE_BYTES_MAX as u64;
        }
        assert_eq!(sent, WINDOW_BYTES);
        assert!(outgoing.came(PIECE_BYTES_MAX as u64) && outgoing.has_room());
        assert!(!outgoing.came(1), "what was known before is no news");
    }

    proptest! {
        /// Whatever is lost, doubled and reordered, the other side reads what was written.
        #[test]
        fn a_bad_network_changes_nothing(
            said in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 0..30),
            fates in prop::collection::vec((0u8..4, any::<prop::sample::Index>()), 200..400),
        ) {
            let (mut outgoing, mut incoming) = (Outgoing::default(), Incoming::default());
            let mut network: Vec<Piece> = said.iter().map(|bytes| outgoing.add(Bytes::copy_from_slice(bytes))).collect();
            network.push(outgoing.finish("done".to_owned()));
            let mut read = Vec::new();
            let mut fates = fates.into_iter();
            let mut rounds = 0;
            while !(outgoing.is_over() && incoming.is_over()) {
                // When chance has been used up the network is good, so that it comes to an end.
                let (fate, which) = fates.next().map_or((1, None), |(fate, which)| (fate, Some(which)));
                if network.is_empty() {
                    network.extend(outgoing.kept().cloned());
                    network.push(incoming.came());
                }
                rounds += 1;
                prop_assert!(rounds < 100_000, "it does not come to an end");
                let place = which.map_or(0, |which| which.index(network.len()));
                let piece = if fate == 3 { network[place].clone() } else { network.remove(place) };
                if fate == 0 {
                    continue;
                }
                match piece {
                    Piece::Data(at, bytes) => read.extend(incoming.take(at, bytes).concat()),
                    Piece::End(at, why) => incoming.finish(at, why),
                    Piece::Came(at) => {
                        outgoing.came(at);
                        continue;
                    }
                    Piece::Cut => unreachable!(),
                }
                network.push(incoming.came());
            }
            prop_assert_eq!(read, said.concat());
        }
    }
}
