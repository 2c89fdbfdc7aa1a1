//! What waits for a site: orders, and files in pieces that are made when their turn comes, so that a file of a gigabyte that is sent to
//! ten sites is in memory not once.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};

use plan::{LargeFile, Plan, ReadFrom};

use crate::frames::{Order, PIECE_BYTES, frame};

/// What a file holds that is sent to sites.
#[derive(Debug, Clone)]
pub(crate) enum Sendable {
    /// In memory.
    Small(Arc<[u8]>),
    /// Read when it is sent.
    Large(NamedFile),
}

/// A file that is not in memory, with its name.
#[derive(Debug, Clone)]
pub(crate) struct NamedFile {
    path: Arc<str>,
    file: Arc<dyn LargeFile>,
    /// As it was when the load was decided, which is what goes to every site; `None` where that could not be seen.
    seen: Option<Seen>,
}

/// What shows that a file is as it was: its length, and when it was last written.
type Seen = (u64, Option<(i64, i64)>);

impl NamedFile {
    fn new(path: &str, file: &Arc<dyn LargeFile>) -> Self {
        Self { path: path.into(), file: file.clone(), seen: look(&**file).ok() }
    }

    /// Whether it is as it was.
    fn is_whole(&self) -> io::Result<bool> {
        Ok(self.seen == Some(look(&*self.file)?))
    }
}

fn look(file: &dyn LargeFile) -> io::Result<Seen> {
    Ok((file.length()?, file.written_at()))
}

impl Sendable {
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Self::Small(bytes) => Ok(bytes.len() as u64),
            Self::Large(named) => named.seen.map_or_else(|| named.file.length(), |(length, _)| Ok(length)),
        }
    }

    /// Every file of a plan by its path; with those that are not in memory for sites that cannot open them.
    pub(crate) fn of_plan(plan: &Plan, with_large: bool) -> Vec<(&str, Self)> {
        let small = plan.contents().iter().map(|(path, bytes)| (path, Self::Small(bytes.clone())));
        let large = plan.contents().large().filter(|_| with_large).map(|(path, file)| (path, Self::Large(NamedFile::new(path, file))));
        small.chain(large).collect()
    }

    /// The piece from this place on; empty at the end.
    fn piece(&self, at: u64) -> io::Result<Vec<u8>> {
        match self {
            Self::Small(bytes) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                Ok(bytes[from..bytes.len().min(from + PIECE_BYTES)].to_vec())
            }
            Self::Large(NamedFile { file, .. }) => {
                let mut piece = Vec::with_capacity(PIECE_BYTES);
                ReadFrom { file: &**file, offset: at }.take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
                Ok(piece)
            }
        }
    }

    /// Whether it is still as it was.
    fn is_whole(&self) -> io::Result<bool> {
        match self {
            Self::Small(_) => Ok(true),
            Self::Large(named) => named.is_whole(),
        }
    }

    /// What is told where it cannot be sent: its path, and why.
    fn unsent(&self, why: &str) -> String {
        match self {
            Self::Small(_) => format!("a file {why}"),
            Self::Large(named) => format!("the file {} {why}", named.path),
        }
    }

    /// Whether both hold the same. Files that begin alike are read until they differ.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        // What was written again since is not what was sent.
        if ![self, other].iter().all(|file| matches!(file.is_whole(), Ok(true))) {
            return false;
        }
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => return Arc::ptr_eq(a, b) || a == b,
            (Self::Large(a), Self::Large(b)) if Arc::ptr_eq(&a.file, &b.file) => return true,
            _ => {}
        }
        let is_as_long = matches!((self.length(), other.length()), (Ok(a), Ok(b)) if a == b);
        is_as_long && self.reads_same(other)
    }

    fn reads_same(&self, other: &Self) -> bool {
        let mut at = 0;
        loop {
            match (self.piece(at), other.piece(at)) {
                (Ok(a), Ok(b)) if a == b => {
                    if a.is_empty() {
                        return true;
                    }
                    at += a.len() as u64;
                }
                _ => return false,
            }
        }
    }
}

/// What waits for a site.
#[derive(Debug, Clone)]
pub(crate) enum Outgoing {
    /// An order, as a frame.
    Order(Arc<[u8]>),
    /// A file by its number, and how many files are still on their way.
    File(u32, Sendable, Arc<AtomicUsize>),
}

/// Writes what waits until there is no more, or the site takes none.
///
/// # Errors
/// In words, if a file cannot be read, or is not as long as it was any more.
pub(crate) fn write(waiting: &Receiver<Outgoing>, mut stream: impl Write) -> Result<(), String> {
    let mut next = VecDeque::new();
    let mut say = |said: &[u8]| stream.write_all(said).and_then(|()| stream.flush()).is_ok();
    while let Some(outgoing) = next.pop_front().or_else(|| waiting.recv().ok()) {
        match outgoing {
            Outgoing::Order(order) => {
                if !say(&order) {
                    return Ok(());
                }
            }
            Outgoing::File(number, file, on_their_way) => {
                let unread = |why: io::Error| file.unsent(&format!("cannot be read any more: {}", plan::plainly(&why)));
                let changed = || file.unsent("has changed while it was sent");
                let length = file.length().map_err(unread)?;
                let mut at = 0;
                while at < length {
                    let mut piece = file.piece(at).map_err(unread)?;
                    piece.truncate(usize::try_from(length - at).unwrap_or(usize::MAX));
                    if piece.is_empty() {
                        return Err(changed());
                    }
                    at += piece.len() as u64;
                    if !say(&frame(&Order::File { number, is_large: matches!(file, Sendable::Large(_)), piece })) {
                        return Ok(());
                    }
                    // Whoever gives up does not wait for the end of a file.
                    match waiting.try_recv() {
                        Ok(more) => next.push_back(more),
                        Err(TryRecvError::Empty) => {}
                        Err(TryRecvError::Disconnected) => return Ok(()),
                    }
                }
                if !file.is_whole().map_err(unread)? {
                    return Err(changed());
                }
                on_their_way.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::read_frame;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::channel;

    fn large(bytes: &[u8]) -> Sendable {
        let mut stored = engine::StoredFile::in_memory().unwrap();
        stored.append(bytes).unwrap();
        of_file(&(Arc::new(stored) as Arc<dyn LargeFile>))
    }

    fn of_file(file: &Arc<dyn LargeFile>) -> Sendable {
        Sendable::Large(NamedFile::new("users.csv", file))
    }

    /// A file that is written again at some moment: its length, and how often that was.
    #[derive(Debug, Default)]
    struct Changing(AtomicU64, AtomicU64);

    impl LargeFile for Changing {
        fn length(&self) -> io::Result<u64> {
            Ok(self.0.load(Ordering::Relaxed))
        }

        fn written_at(&self) -> Option<(i64, i64)> {
            Some((self.1.load(Ordering::Relaxed).cast_signed(), 0))
        }

        fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
            let read = (self.0.load(Ordering::Relaxed).saturating_sub(offset) as usize).min(into.len());
            into[..read].fill(7);
            Ok(read)
        }
    }

    #[test]
    fn a_file_that_has_changed_is_not_sent_as_if_it_had_not() {
        const LENGTH: usize = PIECE_BYTES + 10;
        // A text of the same length comes last.
        for (now, sent, written) in
            [(LENGTH, LENGTH, 0), (LENGTH + 5, LENGTH, 0), (LENGTH - 5, LENGTH - 5, 0), (0, 0, 0), (LENGTH, LENGTH, 1)]
        {
            let changing = Arc::new(Changing::default());
            changing.0.store(LENGTH as u64, Ordering::Relaxed);
            let read: Arc<dyn LargeFile> = changing.clone();
            let file = of_file(&read);
            changing.0.store(now as u64, Ordering::Relaxed);
            changing.1.store(written, Ordering::Relaxed);
            let is_unchanged = now == LENGTH && written == 0;
            assert_eq!(file.is_same(&of_file(&read)), is_unchanged);
            let (sender, waiting) = channel();
            let on_their_way = Arc::new(AtomicUsize::new(1));
            sender.send(Outgoing::File(3, file, on_their_way.clone())).unwrap();
            let mut written = Vec::new();
            let ended = std::thread::scope(|scope| {
                let writes = scope.spawn({
                    let written = &mut written;
                    move || write(&waiting, written)
                });
                while !writes.is_finished() && on_their_way.load(Ordering::Relaxed) > 0 {
                    std::thread::yield_now();
                }
                drop(sender);
                writes.join().unwrap()
            });
            let expected = if is_unchanged { Ok(()) } else { Err("the file users.csv has changed while it was sent".to_owned()) };
            assert_eq!(ended, expected);
            let (mut written, mut bytes) = (&written[..], 0);
            while let Some(said) = read_frame(&mut written).unwrap() {
                if let Order::File { piece, .. } = engine::from_bytes::<Order>(&said).unwrap() {
                    bytes += piece.len();
                }
            }
            assert_eq!(bytes, sent);
        }
    }

    #[test]
    fn what_holds_the_same_is_the_same_wherever_it_is() {
        let bytes = vec![7; PIECE_BYTES + 5];
        let small = Sendable::Small(bytes.clone().into());
        assert!(small.is_same(&large(&bytes)) && large(&bytes).is_same(&large(&bytes)) && small.is_same(&small.clone()));
        assert!(!small.is_same(&large(&bytes[1..])));
        let mut other = bytes;
        *other.last_mut().unwrap() = 8;
        assert!(!small.is_same(&large(&other)) && !large(&other).is_same(&small));
    }

    #[test]
    fn a_file_goes_in_pieces_before_what_was_ordered_after_it() {
        let bytes: Vec<u8> = (0..PIECE_BYTES * 2 + 10).map(|number| number as u8).collect();
        let on_their_way = Arc::new(AtomicUsize::new(1));
        let (sender, waiting) = channel();
        sender.send(Outgoing::File(3, large(&bytes), on_their_way.clone())).unwrap();
        (0..9).for_each(|_| sender.send(Outgoing::Order(frame(&Order::Stay).into())).unwrap());
        let mut written = Vec::new();
        let end = std::thread::spawn(move || {
            while on_their_way.load(Ordering::Relaxed) > 0 {
                std::thread::yield_now();
            }
            drop(sender);
        });
        write(&waiting, &mut written).unwrap();
        end.join().unwrap();
        let mut written = &written[..];
        let mut orders = Vec::new();
        while let Some(said) = read_frame(&mut written).unwrap() {
            orders.push(engine::from_bytes::<Order>(&said).unwrap());
        }
        let (files, rest) = orders.split_at(3);
        let pieces = files.iter().map(|order| match order {
            Order::File { number: 3, is_large: true, piece } => piece.clone(),
            other => panic!("{other:?}"),
        });
        assert_eq!(pieces.collect::<Vec<_>>().concat(), bytes);
        assert_eq!(rest, vec![Order::Stay; 9]);
    }
}
