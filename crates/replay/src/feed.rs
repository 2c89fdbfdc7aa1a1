//! The requests of one worker, written ahead of it.
//!
//! A worker that reads a log waits for the disk, and what waits there is not sent. So a thread beside it reads, orders and writes
//! requests, and hands them over in blocks; taking one is looking at a row of the block in hand. What a worker holds of a request
//! is its block and a number, so that nothing is copied and blocks go when their last request is over.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use engine::protocol::{EncodedRef, Layout};
use plan::{Nanos, Share};

use crate::found::due;
use crate::order::{Merged, ReplayPlan};

/// A block is handed over when it has so many bytes.
const BLOCK_BYTES: usize = 256 << 10;
/// So many blocks wait for the worker: half a second of 20,000 requests a second.
const BLOCKS_AHEAD: usize = 8;

/// Some requests, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    rows: Vec<Row>,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) due: Nanos,
    /// Where its bytes end.
    end: u32,
    pub(crate) route: u32,
    pub(crate) client: u64,
    pub(crate) logged: u16,
    layout: Layout,
    pub(crate) is_late: bool,
}

/// A request that was taken.
#[derive(Debug, Clone)]
pub(crate) struct QueuedRequest {
    block: Rc<Block>,
    at: u32,
}

impl QueuedRequest {
    #[inline]
    pub(crate) fn row(&self) -> &Row {
        &self.block.rows[self.at as usize]
    }

    #[inline]
    pub(crate) fn request(&self) -> EncodedRef<'_> {
        let start = if self.at == 0 { 0 } else { self.block.rows[self.at as usize - 1].end };
        let row = self.row();
        EncodedRef::new(&self.block.bytes[start as usize..row.end as usize], row.layout)
    }
}

/// Requests as they are asked for.
pub(crate) struct Feed {
    blocks: Receiver<Result<Block, String>>,
    block: Rc<Block>,
    at: u32,
    ended: bool,
    /// Why the log could not be read to its end.
    pub(crate) failed: Option<String>,
}

impl Feed {
    /// Begins to read; the first block is there when it returns.
    pub(crate) fn start(score: Arc<ReplayPlan>, begins_ns: i64, share: Share) -> Self {
        let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
        let reader =
            thread::Builder::new().name(format!("log-{}", share.index())).spawn(move || read_ahead(score, begins_ns, share, &sender));
        let failed = reader.err().map(|why| format!("the system gives no thread to read it ahead ({why}): raise the limit on processes"));
        let mut feed = Self { blocks, block: Rc::default(), at: 0, ended: failed.is_some(), failed };
        feed.peek();
        feed
    }

    /// When the next request falls due.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<Nanos> {
        if let Some(row) = self.block.rows.get(self.at as usize) {
            return Some(row.due);
        }
        self.turn()
    }

    #[cold]
    fn turn(&mut self) -> Option<Nanos> {
        if self.ended {
            return None;
        }
        match self.blocks.recv() {
            Ok(Ok(block)) => {
                (self.block, self.at) = (Rc::new(block), 0);
                self.block.rows.first().map(|row| row.due)
            }
            Ok(Err(why)) => {
                (self.ended, self.failed) = (true, Some(why));
                None
            }
            Err(_) => {
                self.ended = true;
                None
            }
        }
    }

    /// Takes the request that was looked at.
    #[inline]
    pub(crate) fn take(&mut self) -> QueuedRequest {
        let at = self.at;
        self.at += 1;
        QueuedRequest { block: self.block.clone(), at }
    }
}

/// Writes the requests of a share, block by block, until there are none left or nobody takes them any more.
fn read_ahead(score: Arc<ReplayPlan>, begins_ns: i64, share: Share, sender: &SyncSender<Result<Block, String>>) {
    let factor = score.pick.options.speed.factor();
    let mut merged = Merged::new(score, share);
    let mut block = Block::default();
    for shot in merged.by_ref() {
        block.bytes.extend_from_slice(&shot.request.bytes);
        block.rows.push(Row {
            due: due(shot.at_ns, begins_ns, factor),
            end: block.bytes.len() as u32,
            route: shot.route,
            client: shot.client,
            logged: shot.logged,
            layout: shot.request.layout,
            is_late: shot.is_late,
        });
        if block.bytes.len() >= BLOCK_BYTES && sender.send(Ok(std::mem::take(&mut block))).is_err() {
            return;
        }
    }
    if !block.rows.is_empty() && sender.send(Ok(block)).is_err() {
        return;
    }
    if let Some(why) = merged.failed {
        let _ = sender.send(Err(why));
    }
}
