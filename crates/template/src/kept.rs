//! Rows that users keep: each has one of its own for the whole load.
//!
//! A user's row follows from its number, and a worker's users are known before its load begins. Looked up when a user sets out, a
//! row of a file of gigabytes would cost a look into that file between two requests of others, and thousands of users set out at
//! once. So the rows of large files are read before the start line, one after the other, and handed over: that is the memory which
//! users would take for them anyway. Rows of small files are in memory, and copied when they are asked for.

use std::cell::RefCell;
use std::sync::Arc;

use plan::setting::{CONNECTIONS, DATA_ORDER};
use plan::{Load, Part, Plan, PlanError, RowOrder};

use crate::data::Data;
use crate::record::Fields;

/// The rows of one worker's users.
pub(crate) struct UserRows {
    files: Vec<Arc<Data>>,
    part: Part,
    /// Of each file the rows that were read, in the order of the users; of a file in memory none.
    read: RefCell<Vec<Vec<Fields>>>,
}

impl UserRows {
    /// Of so many users of the part's population, if they keep rows.
    pub(crate) fn new(files: &[Arc<Data>], order: RowOrder, part: Part, users: u64) -> Self {
        let Part { share, first_user, .. } = part;
        let rows_of = |data: &Arc<Data>| {
            if order != RowOrder::PerUser || data.is_in_memory() {
                return Vec::new();
            }
            let mut reader = data.reader();
            let users = (0..share.part(users)).map(|place| first_user + share.number(place));
            let row = |user: u64| {
                let mut fields = Fields::default();
                // What cannot be read is told when it is asked for.
                reader.read(user % data.count(), &mut fields).ok().map(|()| fields)
            };
            users.map_while(row).collect()
        };
        Self { files: files.to_vec(), part, read: RefCell::new(files.iter().map(rows_of).collect()) }
    }

    /// Hands a file's row over to the user who keeps it.
    pub(crate) fn hand_over(&self, file: usize, user: u64, into: &mut Fields) -> Result<(), String> {
        let place = user.saturating_sub(self.part.first_user) / u64::from(self.part.share.of());
        let mut read = self.read.borrow_mut();
        let ahead = usize::try_from(place).ok().and_then(|place| read[file].get_mut(place)).map(std::mem::take);
        match ahead.filter(|row| row.count() > 0) {
            Some(row) => {
                *into = row;
                Ok(())
            }
            None => {
                let data = &self.files[file];
                data.add_row(user % data.count(), into)
            }
        }
    }
}

/// The data files with too few rows for each user of a plan to keep one of its own.
pub fn too_few_rows(plan: &Plan, files: &[Arc<Data>]) -> Vec<PlanError> {
    if plan.variation().order != RowOrder::PerUser || matches!(plan.load(), Load::Open { .. }) {
        return Vec::new();
    }
    let users = match plan.load() {
        Load::Closed { users, .. } => users.to_string(),
        load => load.connections_max().to_string(),
    };
    let short = files.iter().filter(|data| data.count() < plan.connections_max().get().into());
    short
        .map(|data| {
            let (path, count) = (data.path(), data.count());
            let rows = if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
            if plan.scenario().is_some() {
                let said =
                    format!("the data file {path} has {rows}, and with data_order: per-user each of {users} users needs one of its own");
                PlanError::new(DATA_ORDER, said, format!("give it more rows, at most {count} users, or data_order: in-order"))
            } else {
                let said = format!("the data file {path} has {rows}, which is fewer than {CONNECTIONS:#} {users}");
                PlanError::new(DATA_ORDER, said, format!("give at most {CONNECTIONS:#} {count}, or take rows in-order or random"))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Share;
    use std::fs;
    use std::num::NonZeroU32;

    fn large(rows: u64) -> (tempfile::TempDir, Arc<Data>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.csv");
        let text: String = (0..rows).map(|row| format!("{row},x\n")).collect();
        fs::write(&path, format!("id,name\n{text}")).unwrap();
        let data = Arc::new(Data::open_within(path.to_str().unwrap(), 0).unwrap());
        (folder, data)
    }

    #[test]
    fn rows_of_a_large_file_are_read_before_the_load_begins() {
        let (folder, data) = large(50_000);
        let users = 3_001;
        let shares: Vec<Share> = Share::all(NonZeroU32::new(3).unwrap()).collect();
        let kept: Vec<UserRows> =
            shares.iter().map(|share| UserRows::new(std::slice::from_ref(&data), RowOrder::PerUser, (*share).into(), users)).collect();
        // Whoever looks into the file from now on finds nothing there.
        fs::write(folder.path().join("u.csv"), "").unwrap();
        assert!(data.row(0).is_err());
        for user in (0..users).rev() {
            let worker = shares.iter().position(|share| share.owns(user)).unwrap();
            let mut row = Fields::default();
            kept[worker].hand_over(0, user, &mut row).unwrap();
            assert_eq!((row.count(), row.field(0)), (2, user.to_string().as_bytes()));
        }
        let told = kept[0].hand_over(0, users + 2, &mut Fields::default()).unwrap_err();
        assert!(told.contains("the file has become shorter"), "{told}");
    }

    #[test]
    fn a_row_is_there_for_a_user_that_asks_again() {
        let (_folder, data) = large(10);
        let kept = UserRows::new(&[data], RowOrder::PerUser, Share::WHOLE.into(), 4);
        for _ in 0..2 {
            let mut row = Fields::default();
            kept.hand_over(0, 3, &mut row).unwrap();
            assert_eq!(row.field(0), b"3");
        }
    }
}
