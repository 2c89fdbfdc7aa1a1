//! What waits for a site: orders, and files in pieces that are made when their turn comes, so that a file of a gigabyte that is sent to
//! ten sites is in memory not once.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};

use plan::{LargeFile, Plan};

use crate::frames::{Order, PIECE_BYTES, frame};

/// What a file holds that is sent to sites.
#[derive(Debug, Clone)]
pub(crate) enum Sendable {
    /// In memory.
    Small(Arc<[u8]>),
    /// Read when it is sent.
    Large(Arc<dyn LargeFile>),
}

impl Sendable {
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Self::Small(bytes) => Ok(bytes.len() as u64),
            Self::Large(file) => file.length(),
        }
    }

    /// Every file of a plan by its path; with those that are not in memory for sites that cannot open them.
    pub(crate) fn of_plan(plan: &Plan, with_large: bool) -> Vec<(&str, Self)> {
        let small = plan.contents().iter().map(|(path, bytes)| (path, Self::Small(bytes.clone())));
        let large = plan.contents().large().filter(|_| with_large).map(|(path, file)| (path, Self::Large(file.clone())));
        small.chain(large).collect()
    }

    /// The piece from this place on; empty at the end.
    fn piece(&self, at: u64) -> io::Result<Vec<u8>> {
        let file = match self {
            Self::Small(bytes) => {
                let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                return Ok(bytes[from..bytes.len().min(from + PIECE_BYTES)].to_vec());
            }
            Self::Large(file) => file,
        };
        let (mut piece, mut held) = (vec![0; PIECE_BYTES], 0);
        while held < PIECE_BYTES {
            match file.read_at(&mut piece[held..], at + held as u64) {
                Ok(0) => break,
                Ok(read) => held += read,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        piece.truncate(held);
        Ok(piece)
    }

    /// Whether both hold the same. Files that begin alike are read until they differ.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => return Arc::ptr_eq(a, b) || a == b,
            (Self::Large(a), Self::Large(b)) if Arc::ptr_eq(a, b) => return true,
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
/// In words, if a file cannot be read.
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
                let mut at = 0;
                loop {
                    let piece = file.piece(at).map_err(|why| plan::plainly(&why))?;
                    if piece.is_empty() {
                        break;
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
    use std::sync::mpsc::channel;

    fn large(bytes: &[u8]) -> Sendable {
        let mut stored = engine::StoredFile::in_memory().unwrap();
        stored.append(bytes).unwrap();
        Sendable::Large(Arc::new(stored))
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
