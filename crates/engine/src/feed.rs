//! What sources send where no plan computes it: blocks of bytes, dealt to all of them by one thread as they take them.
//!
//! A log may be larger than memory, and is on one machine. So one thread reads it and makes what all sources send, in slices of the load's
//! time: a block for each source, in their order. Whoever makes blocks and whoever sends what is in them knows what that is; who carries
//! them, to a thread of this process or to another machine, does not.
//!
//! A slice is made when a source has few blocks ahead of it. A source that is behind holds the others up only when so much waits for it
//! that memory would grow. Reading for each source by itself, the alternative, reads a log two hundred times for two hundred sources.
//!
//! Invariants: a source gets its blocks of all slices, in order, each once; what waits is bounded on both ends.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// All that is sent in a span of the load's time: a block for each source, in their order.
pub type Slice = Vec<Vec<u8>>;
/// Opens what slices are made from, on the thread that deals them.
pub type Slices = Box<dyn FnOnce() -> Box<dyn Iterator<Item = Slice>> + Send>;
/// Hands a block on to its source; whether there still is somebody who takes it.
pub type Outlet = Box<dyn FnMut(Vec<u8>) -> bool + Send>;

/// So many blocks of a source are on their way to it, and not more.
pub const BLOCKS_AHEAD: usize = 8;
/// Blocks of sources that are behind may take so much memory until the others wait for them.
const HELD_BYTES_MAX: usize = 32 << 20;
/// What a block takes beside its bytes.
const BLOCK_BYTES: usize = 128;

/// Deals the blocks of slices to sources. A clone is the same dealer.
#[derive(Clone)]
pub struct Dealer(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    lines: Vec<Line>,
    /// Bytes of blocks that nobody has taken yet.
    held_bytes: usize,
}

/// The blocks of one source.
struct Line {
    /// `None` when the source is gone.
    outlet: Option<Outlet>,
    /// Sizes of those that were handed on and not taken.
    under_way: VecDeque<usize>,
    /// Those that are behind them.
    waiting: VecDeque<Vec<u8>>,
}

impl Dealer {
    /// Deals to whoever is at these outlets.
    #[must_use]
    pub fn new(outlets: Vec<Outlet>) -> Self {
        let line = |outlet| Line { outlet: Some(outlet), under_way: VecDeque::new(), waiting: VecDeque::new() };
        let state = State { lines: outlets.into_iter().map(line).collect(), held_bytes: 0 };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }))
    }

    /// Begins on a thread of its own, which ends with the last slice or when nobody takes blocks any more.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(&self, slices: Slices) -> io::Result<()> {
        let dealer = self.clone();
        thread::Builder::new().name("feed".to_owned()).spawn(move || {
            let _closing = Closing(dealer.clone());
            let mut slices = slices();
            while dealer.wait_for_need()
                && let Some(slice) = slices.next()
            {
                dealer.deal(slice);
            }
        })?;
        Ok(())
    }

    /// A source has taken the next of its blocks.
    pub fn taken(&self, place: usize) {
        let mut state = self.state();
        let State { lines, held_bytes } = &mut *state;
        let Some(line) = lines.get_mut(place) else { return };
        // Who says so of a block that was not sent is not fed for it.
        let Some(bytes) = line.under_way.pop_front() else { return };
        *held_bytes -= bytes;
        if let Some(next) = line.waiting.pop_front()
            && !line.hand_on(next)
        {
            *held_bytes -= line.close();
        }
        self.0.changed.notify_all();
    }

    /// A source takes nothing any more.
    pub fn leave(&self, place: usize) {
        let mut state = self.state();
        let State { lines, held_bytes } = &mut *state;
        if let Some(line) = lines.get_mut(place) {
            *held_bytes -= line.close();
        }
        self.0.changed.notify_all();
    }

    /// No source takes anything any more.
    pub fn close(&self) {
        let mut state = self.state();
        state.lines.iter_mut().for_each(|line| _ = line.close());
        state.held_bytes = 0;
        self.0.changed.notify_all();
    }

    /// Waits until a source has few blocks ahead of it; `false`: all are gone.
    fn wait_for_need(&self) -> bool {
        let mut state = self.state();
        loop {
            let mut there = state.lines.iter().filter(|line| line.outlet.is_some()).peekable();
            if there.peek().is_none() {
                return false;
            }
            if state.held_bytes <= HELD_BYTES_MAX && there.any(|line| line.under_way.len() < BLOCKS_AHEAD) {
                return true;
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives each source its block.
    fn deal(&self, slice: Slice) {
        let mut state = self.state();
        let State { lines, held_bytes } = &mut *state;
        for (line, block) in lines.iter_mut().zip(slice) {
            if line.outlet.is_none() {
                continue;
            }
            *held_bytes += size(&block);
            if line.under_way.len() < BLOCKS_AHEAD {
                if !line.hand_on(block) {
                    *held_bytes -= line.close();
                }
            } else {
                line.waiting.push_back(block);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who waits for a block that is never made waits for ever: a thread that panics gives each source one of no bytes, which is no block.
struct Closing(Dealer);

impl Drop for Closing {
    fn drop(&mut self) {
        if thread::panicking() {
            let sources = self.0.state().lines.len();
            self.0.deal(vec![Vec::new(); sources]);
        }
    }
}

impl fmt::Debug for Dealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dealer")
    }
}

impl Line {
    /// Whether there is somebody who takes it.
    fn hand_on(&mut self, block: Vec<u8>) -> bool {
        self.under_way.push_back(size(&block));
        self.outlet.as_mut().is_some_and(|outlet| outlet(block))
    }

    /// Gives up what was held for it, and how much that was.
    fn close(&mut self) -> usize {
        self.outlet = None;
        self.under_way.drain(..).sum::<usize>() + self.waiting.drain(..).map(|block| size(&block)).sum::<usize>()
    }
}

const fn size(block: &[u8]) -> usize {
    block.len() + BLOCK_BYTES
}

/// A source of another process waits no longer for a block before it looks at its answers again.
const PATIENCE: Duration = Duration::from_millis(1);

/// Where a source takes its blocks from.
pub struct Inlet {
    blocks: Receiver<Vec<u8>>,
    /// How long one is waited for; without, until it has come: who makes them in the same process is ahead.
    patience: Option<Duration>,
    /// Tells whoever deals that one was taken.
    taken: Box<dyn Fn() + Send>,
}

impl Inlet {
    /// Takes what comes there, and calls `taken` for each.
    pub fn new(blocks: Receiver<Vec<u8>>, taken: impl Fn() + Send + 'static) -> Self {
        Self { blocks, patience: None, taken: Box::new(taken) }
    }

    /// The same, whose blocks come from another process, which may be slow to send them.
    #[must_use]
    pub fn from_afar(self) -> Self {
        Self { patience: Some(PATIENCE), ..self }
    }

    /// One from which nothing comes.
    #[must_use]
    pub fn closed() -> Self {
        Self::new(sync_channel(0).1, || ())
    }

    /// The next block, when it has come; `None`: none comes any more.
    pub fn wait(&self) -> Option<Vec<u8>> {
        let block = self.blocks.recv().ok()?;
        (self.taken)();
        Some(block)
    }

    /// The next block, which is needed now.
    ///
    /// # Errors
    /// If it has not come from another process for a moment, or none comes any more.
    pub fn need(&self) -> Result<Vec<u8>, TryRecvError> {
        let Some(patience) = self.patience else { return self.wait().ok_or(TryRecvError::Disconnected) };
        let block = self.blocks.recv_timeout(patience).map_err(|why| match why {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        })?;
        (self.taken)();
        Ok(block)
    }

    /// The next block, if it is there.
    ///
    /// # Errors
    /// If it is not, or none comes any more.
    pub fn look(&self) -> Result<Vec<u8>, TryRecvError> {
        let block = self.blocks.try_recv()?;
        (self.taken)();
        Ok(block)
    }
}

/// The inlets of a process's sources, by their numbers. A clone has the same ones.
#[derive(Clone, Default)]
pub struct Inlets(Arc<Mutex<BTreeMap<u32, Inlet>>>);

impl Inlets {
    /// That of a source, for the first who asks; a closed one where there is none.
    #[must_use]
    pub fn of(&self, source: u32) -> Inlet {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&source).unwrap_or_else(Inlet::closed)
    }
}

impl FromIterator<(u32, Inlet)> for Inlets {
    fn from_iter<I: IntoIterator<Item = (u32, Inlet)>>(inlets: I) -> Self {
        Self(Arc::new(Mutex::new(inlets.into_iter().collect())))
    }
}

/// Where blocks come from.
pub enum Feed {
    /// They are made in this process: for each of the sources that are started, in their order.
    Slices(Slices),
    /// Another process makes them.
    Inlets(Inlets),
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feed")
    }
}

impl Feed {
    /// The inlets of these sources of this process.
    ///
    /// # Errors
    /// If the system gives no thread to deal by.
    pub(crate) fn inlets(self, sources: &[u32]) -> io::Result<Inlets> {
        match self {
            Self::Inlets(inlets) => Ok(inlets),
            Self::Slices(slices) => {
                let (outlets, blocks): (Vec<Outlet>, Vec<_>) = sources
                    .iter()
                    .map(|_| {
                        let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
                        // There is room: no more are under way.
                        let outlet: Outlet = Box::new(move |block| sender.try_send(block).is_ok());
                        (outlet, blocks)
                    })
                    .unzip();
                let dealer = Dealer::new(outlets);
                let inlet = |(place, (source, blocks)): (usize, (&u32, _))| {
                    let seat = Seat { dealer: dealer.clone(), place };
                    (*source, Inlet::new(blocks, move || seat.taken()))
                };
                let inlets = sources.iter().zip(blocks).enumerate().map(inlet).collect();
                dealer.start(slices)?;
                Ok(inlets)
            }
        }
    }
}

/// A source of this process at its dealer, which it leaves when it is dropped.
struct Seat {
    dealer: Dealer,
    place: usize,
}

impl Seat {
    fn taken(&self) {
        self.dealer.taken(self.place);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.dealer.leave(self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    /// Slices without end, of a block of so many bytes for each source that begins with the slice's number; and how many were made.
    fn slices(sources: usize, bytes: usize) -> (Slices, Arc<AtomicUsize>) {
        let made = Arc::new(AtomicUsize::new(0));
        let counted = made.clone();
        let open = move || {
            let slice = move || {
                let number = counted.fetch_add(1, Ordering::Relaxed) as u32;
                let mut block = number.to_be_bytes().to_vec();
                block.resize(bytes.max(4), 0);
                Some(vec![block; sources])
            };
            Box::new(std::iter::from_fn(slice)) as Box<dyn Iterator<Item = Slice>>
        };
        (Box::new(open), made)
    }

    fn number(block: &[u8]) -> u32 {
        u32::from_be_bytes(*block.first_chunk().unwrap())
    }

    fn wait_until(is_so: impl Fn() -> bool) {
        let limit = Instant::now() + Duration::from_secs(30);
        while !is_so() {
            assert!(Instant::now() < limit);
            thread::yield_now();
        }
    }

    #[test]
    fn each_source_gets_its_blocks_in_order_however_fast_others_take_theirs() {
        let inlets = Feed::Slices(slices(3, 100).0).inlets(&[4, 7, 9]).unwrap();
        let [first, second, third] = [4, 7, 9].map(|source| inlets.of(source));
        for expected in 0..1000 {
            assert_eq!(number(&first.wait().unwrap()), expected);
            if expected % 3 == 0 {
                assert_eq!(number(&second.wait().unwrap()), expected / 3);
            }
        }
        drop((first, second));
        assert!((0..1000).all(|expected| number(&third.wait().unwrap()) == expected), "it was behind, and lost nothing");
        assert!(inlets.of(7).wait().is_none(), "it was given away");
    }

    #[test]
    fn what_waits_for_a_slow_source_is_bounded() {
        const BYTES: usize = 64 << 10;
        let (slices, made) = slices(2, BYTES);
        let inlets = Feed::Slices(slices).inlets(&[0, 1]).unwrap();
        let (fast, slow) = (inlets.of(0), inlets.of(1));
        // The fast one takes all that it is given, until there is no more: then the slow one has so much.
        let mut taken = 0;
        let most = HELD_BYTES_MAX / BYTES + 2;
        let next = || {
            (0..50u32).find_map(|look| {
                thread::sleep(Duration::from_millis(u64::from(look > 0) * 20));
                fast.look().ok()
            })
        };
        while let Some(block) = next() {
            assert_eq!(number(&block), taken);
            taken += 1;
            assert!(taken as usize <= most, "{taken} blocks");
        }
        assert!(taken as usize > most / 2 && made.load(Ordering::Relaxed) <= most, "{taken} of {most}");
        // It takes one, and the other goes on.
        assert_eq!(number(&slow.wait().unwrap()), 0);
        assert_eq!(number(&slow.wait().unwrap()), 1);
        assert_eq!(number(&fast.wait().unwrap()), taken);
        // It is gone, and nobody waits for it any more.
        drop(slow);
        for next in 1..200 {
            assert_eq!(number(&fast.wait().unwrap()), taken + next);
        }
    }

    #[test]
    fn no_more_is_made_than_somebody_needs_and_it_ends_with_the_last_source() {
        let (slices, made) = slices(2, 10);
        let inlets = Feed::Slices(slices).inlets(&[0, 1]).unwrap();
        let both = (inlets.of(0), inlets.of(1));
        wait_until(|| made.load(Ordering::Relaxed) == BLOCKS_AHEAD);
        thread::sleep(Duration::from_millis(20));
        assert_eq!(made.load(Ordering::Relaxed), BLOCKS_AHEAD);
        let _ = both.0.wait();
        wait_until(|| made.load(Ordering::Relaxed) == BLOCKS_AHEAD + 1);
        drop(both);
        wait_until(|| Arc::strong_count(&made) == 1);
    }

    #[test]
    fn nobody_waits_for_a_dealer_that_is_gone() {
        let slices: Slices = Box::new(|| Box::new([vec![b"one".to_vec()]].into_iter().chain(std::iter::from_fn(|| panic!("on purpose")))));
        let inlet = Feed::Slices(slices).inlets(&[0]).unwrap().of(0);
        assert_eq!((inlet.wait(), inlet.wait()), (Some(b"one".to_vec()), Some(Vec::new())), "what no source takes for a block");
    }

    #[test]
    fn a_source_that_takes_what_was_not_sent_gets_no_more_for_it() {
        let got = Arc::new(AtomicUsize::new(0));
        let count = got.clone();
        let dealer = Dealer::new(vec![Box::new(move |_| count.fetch_add(1, Ordering::Relaxed) < 100)]);
        (0..50).for_each(|_| dealer.taken(0));
        dealer.taken(7);
        dealer.start(slices(1, 10).0).unwrap();
        wait_until(|| got.load(Ordering::Relaxed) == BLOCKS_AHEAD);
        dealer.taken(0);
        wait_until(|| got.load(Ordering::Relaxed) == BLOCKS_AHEAD + 1);
        dealer.close();
        dealer.taken(0);
        assert!(!dealer.wait_for_need());
    }
}
