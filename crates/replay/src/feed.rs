//! The requests of one worker, as they are asked for.
//!
//! A worker that reads a log waits for the disk, and what waits there is not sent. So it takes them in blocks, which were made ahead of it;
//! taking one is looking at a row of the block in hand. What a worker holds of a request is its block and a number, so that nothing is
//! copied and blocks go when their last request is over.

use std::rc::Rc;
use std::sync::mpsc::TryRecvError;

use engine::Inlet;
use engine::protocol::EncodedRef;
use plan::Nanos;

use crate::block::{About, Block};

/// A request that was taken.
#[derive(Debug, Clone)]
pub(crate) struct QueuedRequest {
    block: Rc<Block>,
    at: u32,
    about: About,
}

impl QueuedRequest {
    #[inline]
    pub(crate) const fn about(&self) -> &About {
        &self.about
    }

    #[inline]
    pub(crate) fn request(&self) -> EncodedRef<'_> {
        self.block.request(self.at)
    }
}

/// Requests as they are asked for.
pub(crate) struct Feed {
    blocks: Inlet,
    block: Rc<Block>,
    at: u32,
    ended: bool,
    /// Why what came could not be read.
    pub(crate) failed: Option<String>,
}

impl Feed {
    /// Those that come there; the first block is there when it returns.
    pub(crate) fn of(blocks: Inlet) -> Self {
        let mut feed = Self { blocks, block: Rc::default(), at: 0, ended: false, failed: None };
        let first = feed.blocks.wait();
        feed.turn(first);
        feed
    }

    /// When the next request falls due; where its block has not come yet, when that has to be there.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<Nanos> {
        match self.block.about(self.at) {
            Some(about) => Some(about.due),
            None => self.look(),
        }
    }

    /// Takes the next request, if it has fallen due by now. One that is on its way from another process may come later than that.
    #[inline]
    pub(crate) fn take(&mut self, now: Nanos) -> Option<QueuedRequest> {
        while self.block.about(self.at).is_none() {
            if self.look()? > now {
                return None;
            }
            if self.block.about(self.at).is_none() {
                // It has to be there by now.
                match self.blocks.need() {
                    Err(TryRecvError::Empty) => return None,
                    next => self.turn(next.ok()),
                }
            }
        }
        let about = *self.block.about(self.at).filter(|about| about.due <= now)?;
        let at = self.at;
        self.at += 1;
        Some(QueuedRequest { block: self.block.clone(), at, about })
    }

    /// Goes on to the next block that has a request, as far as they are there.
    #[cold]
    fn look(&mut self) -> Option<Nanos> {
        loop {
            if let Some(about) = self.block.about(self.at) {
                return Some(about.due);
            }
            if self.ended {
                return None;
            }
            match self.blocks.look() {
                Ok(block) => self.turn(Some(block)),
                Err(TryRecvError::Empty) => return self.block.until(),
                Err(TryRecvError::Disconnected) => self.turn(None),
            }
        }
    }

    /// Goes on to this block; without one there are none any more.
    fn turn(&mut self, block: Option<Vec<u8>>) {
        let Some(bytes) = block else {
            self.ended = true;
            return;
        };
        match Block::read(bytes) {
            Some(block) => (self.ended, self.block, self.at) = (block.until().is_none(), Rc::new(block), 0),
            None => {
                let why = "what was sent of the log is damaged, and the rest of it was not sent to the server";
                (self.ended, self.failed) = (true, Some(why.to_owned()));
            }
        }
    }
}
