//! Rows for users that keep them for a while: a journey has the same row from its first request to its last.
//!
//! A worker has hundreds of users on journeys at once, and each began with another row; so a row is copied to the user that
//! takes it, once a journey, or where the journey asks for it. Which row that is follows from how many the worker has taken, of its share
//! of them: with one for each journey, from the number of the journey, as elsewhere from that of the request.

use std::collections::BTreeMap;
use std::sync::Arc;

use measure::DataWaits;
use plan::setting::{DATA_FILE, DATA_ORDER};
use plan::{DataEnd, Part, Plan, PlanError, RowOrder, RowsFor, Share};

use crate::data::Data;
use crate::feed::{Next, Order, Source, Turn, waits};
use crate::kept::UserRows;
use crate::record::Fields;

/// How the rows of a file come to users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dealing {
    /// Who takes them one after the other.
    pub rows_for: RowsFor,
    /// What happens after the last one.
    pub end: DataEnd,
    /// Where journeys ask for rows: the share of those that do which the worker is; else each journey has one.
    pub asked: Option<Share>,
}

/// What one worker takes rows from.
pub struct Rows {
    files: Vec<File>,
    order: RowOrder,
    kept: UserRows,
    first_user: u64,
    /// So many workers have users of the population.
    workers: u64,
}

struct File {
    data: Arc<Data>,
    source: Source,
    /// The worker's share of the rows.
    share: Share,
    /// So many it has taken.
    taken: u64,
    is_asked_for: bool,
    /// Where each user takes all rows: in which order, and how many each has taken.
    each_user: Option<(Order, Vec<u64>)>,
}

/// What came of taking rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowOutcome {
    /// They were taken.
    Rows,
    /// There are none left, and the load ends.
    Over,
    /// There are none left, and the user goes.
    UserOver,
    /// There are none left, which breaks the run off: the file that has run out, and its rows.
    RanOut(String, u64),
    /// A file cannot be read: why, in words.
    Failed(String),
}

impl Rows {
    /// Of these files, for one part of a plan, whose population has so many users at most; after as many rows with journeys as loads before
    /// this one have `taken`.
    #[must_use]
    pub fn new(files: &[(Arc<Data>, Dealing)], order: RowOrder, seed: u64, part: Part, users: u64, taken: u64) -> Self {
        let dealt = |(number, (data, dealing)): (u64, &(Arc<Data>, Dealing))| {
            let Dealing { rows_for, end, asked } = *dealing;
            let share = match rows_for {
                RowsFor::EachPopulation => part.share,
                _ => asked.unwrap_or(part.of_run),
            };
            let is_continued = rows_for == RowsFor::AllUsers && asked.is_none();
            let taken = if is_continued { taken } else { 0 };
            let row_order = Order { order, end, seed, file: number, count: data.count(), taken };
            // By chance, all rows are as likely for everybody.
            let is_each_users = rows_for == RowsFor::EachUser && order == RowOrder::InOrder;
            File {
                data: data.clone(),
                source: if is_each_users { Source::User } else { Source::new(data.clone(), row_order, share) },
                share,
                taken: 0,
                is_asked_for: asked.is_some(),
                each_user: is_each_users.then(|| (row_order, Vec::new())),
            }
        };
        let opened: Vec<Arc<Data>> = files.iter().map(|(data, _)| data.clone()).collect();
        Self {
            kept: UserRows::new(&opened, order, part, users),
            files: (0..).zip(files).map(dealt).collect(),
            order,
            first_user: part.first_user,
            workers: part.share.of().into(),
        }
    }

    /// The waits for rows that were not read in time, by their files' paths.
    #[must_use]
    pub fn waits(&self) -> BTreeMap<String, DataWaits> {
        waits(self.files.iter().map(|file| &file.source))
    }

    /// Copies the rows of a journey that begins to its user.
    pub fn take(&mut self, user: u64, rows: &mut Vec<Fields>) -> RowOutcome {
        rows.resize(self.files.len(), Fields::default());
        for file in 0..self.files.len() {
            if self.files[file].is_asked_for {
                // Until it takes one, a row is empty.
                let row = &mut rows[file];
                (row.count()..self.files[file].data.columns().len()).for_each(|_| row.push(b""));
                continue;
            }
            match self.next(file, user, rows) {
                RowOutcome::Rows => {}
                ended => return ended,
            }
        }
        RowOutcome::Rows
    }

    /// Copies the next row of a file to a user.
    pub fn next(&mut self, file: usize, user: u64, rows: &mut [Fields]) -> RowOutcome {
        let place = user.saturating_sub(self.first_user) / self.workers;
        let (number, row) = (file, &mut rows[file]);
        let file = &mut self.files[number];
        let columns = file.data.columns().len();
        if self.order == RowOrder::PerUser {
            if row.count() == 0 || file.is_asked_for {
                row.clear();
                if let Err(why) = self.kept.hand_over(number, user, row) {
                    return RowOutcome::Failed(why);
                }
            }
            return RowOutcome::Rows;
        }
        let next = match &mut file.each_user {
            None => {
                let next = file.source.advance(file.share.number(file.taken));
                file.taken += 1;
                if next == Next::Row {
                    row.clear();
                    (0..columns).for_each(|column| row.push(file.source.field(column).unwrap_or_default()));
                }
                next
            }
            Some((order, taken)) => {
                let place = usize::try_from(place).unwrap_or(usize::MAX);
                if taken.len() <= place {
                    taken.resize(place + 1, 0);
                }
                let turn = order.turn(taken[place]);
                taken[place] += 1;
                if matches!(turn, Turn::Row(_) | Turn::Mark) {
                    row.clear();
                }
                match turn {
                    Turn::Row(number) => match file.data.add_row(number, row) {
                        Ok(()) => Next::Row,
                        Err(why) => Next::Failed(why),
                    },
                    Turn::Mark => {
                        file.data.add_marks(row);
                        Next::Row
                    }
                    Turn::Over => Next::Over,
                    Turn::UserOver => Next::UserOver,
                    Turn::RanOut => Next::RanOut,
                }
            }
        };
        match next {
            Next::Row => RowOutcome::Rows,
            Next::Over => RowOutcome::Over,
            Next::UserOver => RowOutcome::UserOver,
            Next::RanOut => RowOutcome::RanOut(file.data.path().to_owned(), file.data.count()),
            Next::Failed(why) => RowOutcome::Failed(why),
        }
    }
}

/// The data files of a plan that are too large for each user to go through by itself.
pub fn too_large_for_each_user(plan: &Plan, files: &[Arc<Data>]) -> Vec<PlanError> {
    let dealt = plan.variation().files.iter().zip(files);
    let large = dealt.filter(|(file, data)| file.rows_for == RowsFor::EachUser && !data.is_in_memory());
    large
        .map(|(file, data)| {
            let said = format!("the data file {} is larger than 64 MiB, and each user goes through it by itself", data.path());
            let help = format!("let users share its rows: leave 'for' out of the data file '{}', or give it fewer rows", file.name);
            PlanError::new(DATA_FILE, said, help)
        })
        .collect()
}

/// The data files of a plan without journeys whose rows not all users are to take together.
pub(crate) fn for_users_on_journeys(plan: &Plan) -> impl Iterator<Item = PlanError> {
    plan.variation().files.iter().filter(|file| file.rows_for != RowsFor::AllUsers).map(|file| {
        let said =
            format!("the rows of the data file '{}' are for each user or population, which is for the journeys of a scenario", file.name);
        PlanError::new(DATA_FILE, said, format!("leave for= out, or let each user have one row with {DATA_ORDER:#} per-user"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(rows: u64) -> Arc<Data> {
        let text: String = (0..rows).map(|row| format!("{row},x\n")).collect();
        Arc::new(Data::of_bytes("u.csv", format!("id,name\n{text}").as_bytes()).unwrap())
    }

    fn ids(rows: &[Fields]) -> Vec<String> {
        rows.iter().map(|row| String::from_utf8_lossy(row.field(0)).into_owned()).collect()
    }

    #[test]
    fn users_take_the_rows_of_a_file_each_by_itself_or_where_they_ask_for_one() {
        let dealing = |rows_for, end, asked| Dealing { rows_for, end, asked };
        let files = [
            (data(3), dealing(RowsFor::EachUser, DataEnd::Wrap, None)),
            (data(9), dealing(RowsFor::AllUsers, DataEnd::Wrap, None)),
            (data(2), dealing(RowsFor::AllUsers, DataEnd::Mark, Some(Share::WHOLE))),
            (data(2), dealing(RowsFor::EachUser, DataEnd::StopUser, Some(Share::WHOLE))),
        ];
        let mut rows = Rows::new(&files, RowOrder::InOrder, 7, Share::WHOLE.into(), 2, 4);
        let (mut ann, mut bob) = (Vec::new(), Vec::new());
        assert_eq!((rows.take(0, &mut ann), ids(&ann)), (RowOutcome::Rows, ["0", "4", "", ""].map(str::to_owned).to_vec()));
        assert_eq!((rows.take(0, &mut ann), ids(&ann)), (RowOutcome::Rows, ["1", "5", "", ""].map(str::to_owned).to_vec()));
        assert_eq!((rows.take(1, &mut bob), ids(&bob)), (RowOutcome::Rows, ["0", "6", "", ""].map(str::to_owned).to_vec()));
        let mut shared = Vec::new();
        for user in [0, 1, 0, 1] {
            let of = if user == 0 { &mut ann } else { &mut bob };
            assert_eq!(rows.next(2, user, of), RowOutcome::Rows);
            shared.push(ids(of)[2].clone());
        }
        assert_eq!(shared, ["0", "1", "<EOF>", "<EOF>"]);
        let own: Vec<RowOutcome> = [0, 0, 1, 0].map(|user| rows.next(3, user, if user == 0 { &mut ann } else { &mut bob })).into();
        assert_eq!(own, [RowOutcome::Rows, RowOutcome::Rows, RowOutcome::Rows, RowOutcome::UserOver]);
        assert_eq!((ids(&ann)[3].as_str(), ids(&bob)[3].as_str()), ("1", "0"));
    }
}
