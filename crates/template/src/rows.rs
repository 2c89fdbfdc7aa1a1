//! Rows for users that keep them for a while: a journey has the same row from its first request to its last.
//!
//! A worker has hundreds of users on journeys at once, and each began with another row; so a row is copied to the user that
//! takes it, once a journey. Which row that is follows from the number of the journey, as elsewhere from that of the request.

use std::collections::BTreeMap;
use std::sync::Arc;

use measure::DataWaits;
use plan::{DataEnd, Part, RowOrder};

use crate::data::Data;
use crate::feed::{Next, Order, Source, waits};
use crate::kept::UserRows;
use crate::record::Fields;

/// What one worker takes rows from.
pub struct Rows {
    files: Vec<Arc<Data>>,
    sources: Vec<Source>,
    order: RowOrder,
    kept: UserRows,
}

/// What came of taking rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowOutcome {
    /// They were taken.
    Rows,
    /// There are none left, and the load ends.
    Over,
    /// There are none left, which breaks the run off: the file that has run out, and its rows.
    RanOut(String, u64),
    /// A file cannot be read: why, in words.
    Failed(String),
}

impl Rows {
    /// Of these files, for one part of a plan, whose population has so many users at most; after as many rows as loads before this one
    /// have `taken`.
    #[must_use]
    pub fn new(files: &[Arc<Data>], (order, end): (RowOrder, DataEnd), seed: u64, part: Part, users: u64, taken: u64) -> Self {
        let orders = (0..).zip(files).map(|(file, data)| Order { order, end, seed, file, count: data.count(), taken });
        let sources = files.iter().zip(orders).map(|(data, order)| Source::new(data.clone(), order, part.of_run)).collect();
        Self { files: files.to_vec(), sources, order, kept: UserRows::new(files, order, part, users) }
    }

    /// The waits for rows that were not read in time, by their files' paths.
    #[must_use]
    pub fn waits(&self) -> BTreeMap<String, DataWaits> {
        waits(&self.sources)
    }

    /// Copies the rows of the journey with this number to a user; to be called with the numbers of the worker's share, in order.
    pub fn take(&mut self, number: u64, user: u64, rows: &mut Vec<Fields>) -> RowOutcome {
        rows.resize(self.files.len(), Fields::default());
        for (file, ((data, source), row)) in self.files.iter().zip(&mut self.sources).zip(rows).enumerate() {
            if self.order == RowOrder::PerUser {
                if row.count() == 0
                    && let Err(why) = self.kept.hand_over(file, user, row)
                {
                    return RowOutcome::Failed(why);
                }
                continue;
            }
            match source.advance(number) {
                Next::Row => {}
                Next::Over => return RowOutcome::Over,
                Next::RanOut => return RowOutcome::RanOut(data.path().to_owned(), data.count()),
                Next::Failed(why) => return RowOutcome::Failed(why),
            }
            row.clear();
            for column in 0..data.columns().len() {
                row.push(source.field(column).unwrap_or_default());
            }
        }
        RowOutcome::Rows
    }
}
