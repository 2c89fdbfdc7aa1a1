//! The rows of a large file, read ahead of the worker that takes them.
//!
//! A worker that reads a file waits for the disk, and what waits there is not sent: the load would be wrong, and its times too.
//! Which rows a worker takes follows from the seed and the number of each request, so a thread beside it can read them in that
//! order before they are asked for. They come in blocks; between two blocks a row costs what one in memory costs. Where the disk is too slow
//! for the load all the same, the worker waits, and that is told: without its row a request cannot be sent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::Instant;

use measure::DataWaits;
use plan::{DataEnd, END_MARK, Random, RowOrder, Share};

use crate::data::Data;
use crate::record::Fields;

/// A block is handed over when it has so many bytes.
const BLOCK_BYTES: usize = 256 << 10;
/// So many blocks wait for the worker.
const BLOCKS_AHEAD: usize = 2;

/// Streams of chance from here on choose rows.
const ROWS: u64 = 2 << 48;

/// How rows are given to requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    pub(crate) order: RowOrder,
    pub(crate) end: DataEnd,
    pub(crate) seed: u64,
    /// The data file's number: two files are not drawn from alike.
    pub(crate) file: u64,
    pub(crate) count: u64,
    /// So many turns were taken before the first request, by loads that this one goes on from.
    pub(crate) taken: u64,
}

/// What a request takes of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Row(u64),
    /// There are none left, and the load ends.
    Over,
    /// There are none left, and whoever wants one goes.
    UserOver,
    /// There are none left, and that is to be seen in the columns.
    Mark,
    /// There are none left, and the run breaks off.
    RanOut,
}

/// In the place of a row's number: each of its columns says that there are no more rows.
const MARK: u64 = u64::MAX;

impl Order {
    /// The row of the request with this number.
    #[inline]
    pub(crate) fn turn(&self, number: u64) -> Turn {
        let number = self.taken + number;
        match self.order {
            RowOrder::Random => Turn::Row(Random::new(self.seed, ROWS + (self.file << 48) + number).between(0, self.count - 1)),
            _ if number < self.count => Turn::Row(number),
            _ => match self.end {
                DataEnd::Wrap => Turn::Row(number % self.count),
                DataEnd::Stop => Turn::Over,
                DataEnd::StopUser => Turn::UserOver,
                DataEnd::Mark => Turn::Mark,
                DataEnd::Error => Turn::RanOut,
            },
        }
    }
}

/// What a data file gives to the requests of one worker.
pub(crate) enum Source {
    /// Rows in memory.
    Memory { data: Arc<Data>, order: Order, row: u64 },
    /// Rows read ahead.
    Ahead(Feed),
    /// The user keeps its row.
    User,
}

/// Rows that come in blocks.
pub(crate) struct Feed {
    data: Arc<Data>,
    blocks: Receiver<Result<Block, FeedEnd>>,
    /// What came before the load began, until it is taken.
    first: Option<Result<Block, FeedEnd>>,
    block: Block,
    /// The row of the block that is taken.
    at: usize,
    columns: usize,
    waits: DataWaits,
    /// Whether each user goes that wants another row.
    ends_users: bool,
}

#[derive(Default)]
struct Block {
    fields: Fields,
    rows: usize,
}

/// Why no more blocks come.
enum FeedEnd {
    Over,
    UserOver,
    RanOut,
    Failed(String),
}

/// What comes next of a source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Row,
    Over,
    UserOver,
    RanOut,
    Failed(String),
}

impl Source {
    pub(crate) fn new(data: Arc<Data>, order: Order, share: Share) -> Self {
        if order.order == RowOrder::PerUser {
            Self::User
        } else if data.is_in_memory() {
            Self::Memory { data, order, row: 0 }
        } else {
            Self::Ahead(Feed::start(data, order, share))
        }
    }

    /// Takes the row of the request with this number; to be called with the numbers of the worker's share, in order.
    #[inline]
    pub(crate) fn advance(&mut self, number: u64) -> Next {
        match self {
            Self::Memory { order, row, .. } => match order.turn(number) {
                Turn::Row(next) => {
                    *row = next;
                    Next::Row
                }
                Turn::Mark => {
                    *row = MARK;
                    Next::Row
                }
                Turn::Over => Next::Over,
                Turn::UserOver => Next::UserOver,
                Turn::RanOut => Next::RanOut,
            },
            Self::Ahead(feed) => feed.advance(),
            Self::User => Next::Row,
        }
    }

    /// A field of the row that was taken; nothing for a row that the user keeps.
    #[inline]
    pub(crate) fn field(&self, column: usize) -> Option<&[u8]> {
        match self {
            Self::Memory { row: MARK, .. } => Some(END_MARK.as_bytes()),
            Self::Memory { data, row, .. } => Some(data.field(*row, column)),
            Self::Ahead(feed) => Some(feed.block.fields.field(feed.at * feed.columns + column)),
            Self::User => None,
        }
    }
}

impl Feed {
    fn start(data: Arc<Data>, order: Order, share: Share) -> Self {
        let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
        let columns = data.columns().len();
        let reader = thread::Builder::new().name(format!("rows-{}", share.index())).spawn({
            let data = data.clone();
            move || read_ahead(&data, order, share, &sender)
        });
        // The first block is there before the load begins.
        let first = match reader {
            Ok(_) => blocks.recv().ok(),
            Err(why) => Some(Err(FeedEnd::Failed(format!(
                "the system gives no thread to read rows ahead ({why}): raise the limit on processes (ulimit -u)"
            )))),
        };
        let ends_users = order.end == DataEnd::StopUser;
        Self { data, blocks, first, block: Block::default(), at: 0, columns, waits: DataWaits::default(), ends_users }
    }

    fn advance(&mut self) -> Next {
        self.at += 1;
        if self.at < self.block.rows {
            return Next::Row;
        }
        match self.first.take().or_else(|| self.next()) {
            Some(Ok(block)) => {
                self.block = block;
                self.at = 0;
                Next::Row
            }
            Some(Err(FeedEnd::Failed(why))) => Next::Failed(why),
            Some(Err(FeedEnd::RanOut)) => Next::RanOut,
            Some(Err(FeedEnd::UserOver)) => Next::UserOver,
            // Nothing comes behind its end.
            None if self.ends_users => Next::UserOver,
            Some(Err(FeedEnd::Over)) | None => Next::Over,
        }
    }
}

impl Feed {
    /// The next block, waited for if it is not there.
    fn next(&mut self) -> Option<Result<Block, FeedEnd>> {
        match self.blocks.try_recv() {
            Ok(block) => Some(block),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                let began = Instant::now();
                let block = self.blocks.recv().ok();
                self.waits.count += 1;
                self.waits.total += began.elapsed().into();
                block
            }
        }
    }
}

/// The waits for rows of these sources, by their files' paths.
pub(crate) fn waits<'a>(sources: impl IntoIterator<Item = &'a Source>) -> BTreeMap<String, DataWaits> {
    let mut waits = BTreeMap::<String, DataWaits>::new();
    for source in sources {
        if let Source::Ahead(Feed { data, waits: DataWaits { count: count @ 1.., total }, .. }) = source {
            let sum = waits.entry(data.path().to_owned()).or_default();
            sum.count += count;
            sum.total += *total;
        }
    }
    waits
}

/// Reads the rows of a share's requests, block by block, until there are none left or nobody takes them any more.
fn read_ahead(data: &Data, order: Order, share: Share, sender: &SyncSender<Result<Block, FeedEnd>>) {
    let mut reader = data.reader();
    let mut block = Block::default();
    let mut number = u64::from(share.index());
    loop {
        let ended = match order.turn(number) {
            Turn::Row(row) => reader.read(row, &mut block.fields).err().map(FeedEnd::Failed),
            Turn::Mark => {
                data.add_marks(&mut block.fields);
                None
            }
            Turn::Over => Some(FeedEnd::Over),
            Turn::UserOver => Some(FeedEnd::UserOver),
            Turn::RanOut => Some(FeedEnd::RanOut),
        };
        if ended.is_none() {
            block.rows += 1;
            number += u64::from(share.of());
        }
        if block.rows > 0
            && (ended.is_some() || block.fields.size_bytes() >= BLOCK_BYTES)
            && sender.send(Ok(std::mem::take(&mut block))).is_err()
        {
            return;
        }
        if let Some(ended) = ended {
            let _ = sender.send(Err(ended));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::num::NonZeroU32;

    fn data(rows: u64, memory_bytes_max: usize) -> Arc<Data> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.csv");
        let text: String = (0..rows).map(|row| format!("{row},x\n")).collect();
        fs::write(&path, format!("id,name\n{text}")).unwrap();
        Arc::new(Data::open_within(path.to_str().unwrap(), memory_bytes_max).unwrap())
    }

    /// The rows of so many requests of each of two workers, in the order of their numbers.
    fn taken(data: &Arc<Data>, order: RowOrder, end: DataEnd, requests: u64) -> Vec<String> {
        let order = Order { order, end, seed: 7, file: 0, count: data.count(), taken: 0 };
        let mut found = vec![String::new(); requests as usize];
        for share in Share::all(NonZeroU32::new(2).unwrap()) {
            let mut source = Source::new(data.clone(), order, share);
            for number in (0..requests).filter(|number| share.owns(*number)) {
                found[number as usize] = match source.advance(number) {
                    Next::Row => String::from_utf8_lossy(source.field(0).unwrap()).into_owned(),
                    other => format!("{other:?}"),
                };
            }
        }
        found
    }

    #[test]
    fn rows_read_ahead_are_those_in_memory() {
        let (small, large) = (data(50_000, usize::MAX), data(50_000, 0));
        assert!(small.is_in_memory() && !large.is_in_memory());
        for order in [RowOrder::InOrder, RowOrder::Random] {
            assert_eq!(taken(&small, order, DataEnd::Wrap, 60_001), taken(&large, order, DataEnd::Wrap, 60_001));
        }
    }

    #[test]
    fn a_file_that_runs_out_does_what_was_asked_for() {
        for data in [data(3, usize::MAX), data(3, 0)] {
            assert_eq!(taken(&data, RowOrder::InOrder, DataEnd::Wrap, 5), ["0", "1", "2", "0", "1"]);
            assert_eq!(taken(&data, RowOrder::InOrder, DataEnd::Stop, 5), ["0", "1", "2", "Over", "Over"]);
            assert_eq!(taken(&data, RowOrder::InOrder, DataEnd::Error, 5), ["0", "1", "2", "RanOut", "RanOut"]);
            assert_eq!(taken(&data, RowOrder::InOrder, DataEnd::StopUser, 7)[3..], ["UserOver"; 4]);
            assert_eq!(taken(&data, RowOrder::InOrder, DataEnd::Mark, 7)[2..], ["2", "<EOF>", "<EOF>", "<EOF>", "<EOF>"]);
        }
    }

    #[test]
    fn a_load_that_goes_on_from_another_takes_the_rows_after_its() {
        for data in [data(5, usize::MAX), data(5, 0)] {
            let order = Order { order: RowOrder::InOrder, end: DataEnd::Wrap, seed: 7, file: 0, count: data.count(), taken: 3 };
            let mut source = Source::new(data.clone(), order, Share::all(NonZeroU32::MIN).next().unwrap());
            let rows: Vec<String> = (0..4)
                .map(|number| {
                    assert_eq!(source.advance(number), Next::Row);
                    String::from_utf8_lossy(source.field(0).unwrap()).into_owned()
                })
                .collect();
            assert_eq!(rows, ["3", "4", "0", "1"]);
        }
    }

    #[test]
    fn random_rows_are_all_as_likely() {
        let data = data(10, usize::MAX);
        let mut counts = [0_u32; 10];
        for row in taken(&data, RowOrder::Random, DataEnd::Wrap, 100_000) {
            counts[row.parse::<usize>().unwrap()] += 1;
        }
        // Binomial: sd √(100,000 · 0.1 · 0.9) = 95; five of them.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 475), "{counts:?}");
    }
}
