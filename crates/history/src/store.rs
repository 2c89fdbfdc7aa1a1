//! The database: one file, many readers and writers.
//!
//! Two loadlines may end in the same moment, and a server may list runs meanwhile. SQLite's write-ahead log lets readers go
//! on while one writes, and writers wait for each other; what is written together is written as one. Each method is one
//! such step, so that a program that is killed between two of them leaves nothing half done.
//!
//! Saving waits for the disk once. SQLite would wait five times, because whoever closes the database last moves everything from
//! the log into the main file and removes the log. Here the log stays, and is moved when it has grown: what it holds is as safe
//! there, and as readable.
//!
//! Invariant: nothing here is lost because someone else wrote at the same time.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use plan::plainly;
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row, TransactionBehavior, params, params_from_iter};

use crate::entry::SHORT_LETTERS;
use crate::journal::{End, Header, JournalContent, JournalState, journals};
use crate::schema::{APPLICATION_ID, STEPS, version};
use crate::{Changes, Entry, Figures, Filter, Fresh, HistoryError, Id, Kind, Moment, Origin, Point, Reference, Revision, RunNotes};

/// Waiting longer than this for another loadline means that it hangs: saving one run takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The log is moved into the main file when it has so many pages of 4 KiB: some twenty results. Whoever opens the history reads
/// it through, which for so many takes a fraction of a millisecond.
const LOG_PAGES: u32 = 200;

/// For more runs than these, reading all ids is less work than asking for the neighbours of each.
const ASKED_ONE_BY_ONE: usize = 50;

/// An open history.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

/// What became of a journal that its run left behind.
#[derive(Debug, Clone, PartialEq)]
pub enum RecoveryOutcome {
    /// It is saved as a run that was cut short.
    In(Box<Entry>, End),
    /// Nothing was measured yet; it is gone.
    Empty {
        /// What the run was called.
        name: String,
        /// What it would have been the result of.
        kind: Kind,
        /// When it had begun.
        started: Moment,
        /// Why it was left.
        end: End,
    },
    /// It cannot be read, and stays where it is.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// Whether the file can be a history, as far as its first bytes and its directory tell: for looking before a run, in
/// microseconds, without opening or making anything.
///
/// # Errors
/// If it is something else, of a later version, or cannot be read or written.
pub fn look(path: &Path) -> Result<(), HistoryError> {
    let unusable = |why: &io::Error| HistoryError::Unusable { path: path.to_owned(), why: plainly(why) };
    let foreign = |what: &str| Err(HistoryError::Foreign { path: path.to_owned(), what: what.to_owned() });
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            let mut near = path.parent().unwrap_or(Path::new("."));
            while !near.as_os_str().is_empty() && !near.exists() {
                near = near.parent().unwrap_or(Path::new(""));
            }
            let near = if near.as_os_str().is_empty() { Path::new(".") } else { near };
            let about = fs::metadata(near).map_err(|why| unusable(&why))?;
            return match (about.is_dir(), about.permissions().readonly()) {
                (false, _) => Err(HistoryError::Unusable { path: path.to_owned(), why: format!("'{}' is no directory", near.display()) }),
                (_, true) => Err(HistoryError::Unusable { path: path.to_owned(), why: format!("'{}' is read-only", near.display()) }),
                _ => Ok(()),
            };
        }
        opened => opened.map_err(|why| unusable(&why))?,
    };
    if file.metadata().is_ok_and(|about| !about.is_file()) {
        return foreign("it is no plain file");
    }
    // https://www.sqlite.org/fileformat.html §1.3: sixteen letters, and big-endian numbers at 60 and 68.
    let mut head = Vec::new();
    (&file).take(100).read_to_end(&mut head).map_err(|why| unusable(&why))?;
    let number = |at: usize| head.get(at..at + 4).map(|bytes| bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)));
    match (head.is_empty(), number(60), number(68)) {
        // Made just now, by another loadline perhaps.
        (true, ..) => Ok(()),
        _ if !head.starts_with(b"SQLite format 3\0") => foreign("it is no SQLite database"),
        (_, Some(written), Some(APPLICATION_ID)) if written > version() => {
            Err(HistoryError::Newer { path: path.to_owned(), version: written, known: version() })
        }
        (_, Some(_), Some(APPLICATION_ID)) => Ok(()),
        // The first page of a new one may still be in the log beside it.
        (_, Some(_), Some(0)) if number(28).is_some_and(|pages| pages <= 1) || beside(path, "-wal").exists() => Ok(()),
        _ => foreign("it is the database of another program"),
    }
}

impl Store {
    /// Opens a history, and makes it if there is none. Its file and directory are the user's alone.
    ///
    /// # Errors
    /// If the file is something else, of a later version, or cannot be read or written.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        look(path)?;
        let unusable = |why: &io::Error| HistoryError::Unusable { path: path.to_owned(), why: plainly(why) };
        if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            fs::create_dir_all(directory).map_err(|why| unusable(&why))?;
        }
        let mut making = OpenOptions::new();
        making.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut making, 0o600);
        match making.open(path) {
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return Err(unusable(&why)),
            _ => {}
        }
        let told = |why: &rusqlite::Error| in_words(path, why);
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|why| told(&why))?;
        let mut store = Self { connection, path: path.to_owned() };
        store.prepare().map_err(|why| told(&why))?;
        store.migrate()?;
        Ok(store)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(PATIENCE)?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        // What is saved stays saved when the power goes: a run is one write, so this costs next to nothing.
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        self.connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
        let pages: i64 = self.connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        if pages == 0 {
            self.connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        // Two that turn the log on at once do not wait for each other of themselves.
        let begun = Instant::now();
        loop {
            let turned = self.connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0));
            match turned {
                Err(why) if is_busy(&why) && begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(5)),
                // A file system without shared memory keeps another mode, which is slower and as safe.
                turned => return turned.map(drop),
            }
        }
    }

    fn migrate(&mut self) -> Result<(), HistoryError> {
        let path = self.path.clone();
        let told = |why: rusqlite::Error| in_words(&path, &why);
        let mark = |connection: &Connection, name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u32>(0));
        let written = mark(&self.connection, "user_version").map_err(told)?;
        if written == version() && mark(&self.connection, "application_id").map_err(told)? == APPLICATION_ID {
            return Ok(());
        }
        // Whoever comes second finds the work done.
        let step = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
        let written = mark(&step, "user_version").map_err(told)?;
        let ours = mark(&step, "application_id").map_err(told)? == APPLICATION_ID;
        let tables: u32 = step.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(told)?;
        if !ours && (tables > 0 || written > 0) {
            return Err(HistoryError::Foreign { path, what: "it is the database of another program".to_owned() });
        }
        if written > version() {
            return Err(HistoryError::Newer { path, version: written, known: version() });
        }
        for taken in STEPS.iter().skip(written as usize) {
            step.execute_batch(taken).map_err(told)?;
        }
        step.pragma_update(None, "application_id", APPLICATION_ID).map_err(told)?;
        step.pragma_update(None, "user_version", version()).map_err(told)?;
        step.commit().map_err(told)?;
        // From its first bytes on the main file says whose it is.
        self.move_log().map_err(told)
    }

    /// Moves what is in the log into the main file, as far as nobody else is reading it.
    fn move_log(&self) -> rusqlite::Result<()> {
        match self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            // A log that others use is moved by them later.
            Err(why) if is_busy(&why) => Ok(()),
            moved => moved,
        }
    }

    /// Saves a result.
    ///
    /// # Errors
    /// If a run of this id is there already, or the file cannot be written.
    pub fn save(&mut self, fresh: &Fresh<'_>) -> Result<Entry, HistoryError> {
        let packed = packed(fresh.result);
        let Fresh { id, kept, origin, plan, .. } = fresh;
        let saved = Moment::now();
        let path = self.path.clone();
        let told = |why: rusqlite::Error| match why.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => HistoryError::Twice { id: id.to_string() },
            _ => in_words(&path, &why),
        };
        let machine = serde_json::to_string(&kept.machine).unwrap_or_default();
        let revision = kept.revision.as_ref();
        let step = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
        step.execute(
            "INSERT INTO run (id, kind, name, target, started_ms, saved_ms, origin, outcome, qps, p50_ns, p99_ns, failed_share,
                machine, revision, branch, changes, note, stored_bytes)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
            params![
                id.as_str(),
                kept.kind.name(),
                kept.name,
                kept.target,
                kept.started.0,
                saved.0,
                origin.name(),
                kept.outcome,
                kept.figures.qps,
                kept.figures.p50_ns.map(whole),
                kept.figures.p99_ns.map(whole),
                kept.figures.failed_share,
                machine,
                revision.map(|revision| &revision.commit),
                revision.and_then(|revision| revision.branch.as_ref()),
                revision.map(|revision| changes_name(revision.changes)),
                kept.note,
                whole(packed.len() as u64),
            ],
        )
        .map_err(told)?;
        let seq = step.last_insert_rowid();
        step.execute("INSERT INTO result (run, plan, json_zlib) VALUES (?1, ?2, ?3)", params![seq, plan, packed]).map_err(told)?;
        for tag in &kept.tags {
            step.execute("INSERT OR IGNORE INTO tag (run, tag) VALUES (?1, ?2)", params![seq, tag]).map_err(told)?;
        }
        step.commit().map_err(told)?;
        self.shorten_log();
        self.by_id(id)
    }

    /// Empties a log that has grown long. SQLite moves what is in it by itself, but begins it anew only for whoever moved it: of many
    /// programs that save one run each, every one would read it through, move all of it once more and lengthen it. Where it cannot
    /// be moved now, it holds what was saved as well as the main file would.
    fn shorten_log(&self) {
        if fs::metadata(beside(&self.path, "-wal")).is_ok_and(|log| log.len() >= u64::from(LOG_PAGES) * 4096) {
            let _ = self.move_log();
        }
    }

    /// The runs that a filter lets through, those that began last first. Reads no result.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Entry>, HistoryError> {
        let (condition, mut values) = condition(filter);
        values.push(filter.limit.map_or(Value::Integer(-1), |limit| Value::Integer(limit.into())));
        values.push(Value::Integer(filter.offset.into()));
        self.entries(&format!("{condition} ORDER BY started_ms DESC, run.seq DESC LIMIT ? OFFSET ?"), values)
    }

    /// How many a filter lets through, whatever its limit.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn count(&self, filter: &Filter) -> Result<u64, HistoryError> {
        let (condition, values) = condition(filter);
        let counted =
            self.connection.query_row(&format!("SELECT count(*) FROM run {condition}"), params_from_iter(values), |row| row.get(0));
        counted.map(|count: i64| count.unsigned_abs()).map_err(|why| in_words(&self.path, &why))
    }

    /// The run that a reference means.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn resolve(&self, reference: &Reference) -> Result<Entry, HistoryError> {
        let unknown = |because: String| HistoryError::Unknown { reference: reference.to_string(), because };
        let one =
            |condition: &str, values: Vec<Value>| self.entries(&format!("{condition} LIMIT 1"), values).map(|them| them.into_iter().next());
        match reference {
            Reference::Last(back) => {
                let found = one("ORDER BY started_ms DESC, run.seq DESC", Vec::new());
                let found = if *back == 0 {
                    found
                } else {
                    self.list(&Filter { limit: Some(1), offset: *back, ..Filter::default() }).map(|them| them.into_iter().next())
                };
                found?.ok_or_else(|| match self.count(&Filter::default()) {
                    Ok(0) | Err(_) => unknown(": none is saved yet".to_owned()),
                    Ok(1) => unknown(": only one is saved".to_owned()),
                    Ok(count) => unknown(format!(": only {count} are saved")),
                })
            }
            Reference::Named(name) => {
                let filter = Filter { name: Some(name.clone()), limit: Some(1), ..Filter::default() };
                // A name may hold what in a filter stands for anything.
                let filter = if name.contains('*') { Filter { name: None, ..filter } } else { filter };
                let found = match filter.name {
                    Some(_) => self.list(&filter)?.into_iter().next(),
                    None => one("WHERE run.name = ? ORDER BY started_ms DESC, run.seq DESC", vec![Value::Text(name.clone())])?,
                };
                if let Some(entry) = found {
                    return Ok(entry);
                }
                let Some((name, back)) = before(name) else { return Err(unknown(String::new())) };
                let earlier = "WHERE run.name = ? ORDER BY started_ms DESC, run.seq DESC LIMIT 1 OFFSET ?";
                let entry = self.entries(earlier, vec![Value::Text(name.to_owned()), Value::Integer(back.into())])?.into_iter().next();
                entry
                    .ok_or_else(|| unknown(format!(": no run has this name, and {back} before the last one called '{name}' there is none")))
            }
            Reference::Baseline(name) => {
                let order = "ORDER BY baseline.seq DESC";
                let found = match name {
                    Some(name) => one(&format!("WHERE baseline.name = ? {order}"), vec![Value::Text(name.clone())])?,
                    None => one(&format!("WHERE baseline.seq IS NOT NULL {order}"), Vec::new())?,
                };
                found.ok_or_else(|| unknown(": no baseline is set; set one with 'loadline baseline set REF'".to_owned()))
            }
            Reference::Begins(text) => {
                let mut found = self.entries("WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT 6", vec![Value::Text(text.clone())])?;
                match found.len() {
                    0 => Err(unknown(String::new())),
                    1 => Ok(found.remove(0)),
                    _ => Err(HistoryError::Ambiguous {
                        reference: text.clone(),
                        ids: found.into_iter().map(|entry| format!("{} ({})", entry.short, entry.kept.name)).collect(),
                    }),
                }
            }
        }
    }

    /// The run of this id.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn by_id(&self, id: &Id) -> Result<Entry, HistoryError> {
        let found = self.entries("WHERE id = ?", vec![Value::Text(id.to_string())])?;
        found.into_iter().next().ok_or_else(|| HistoryError::Unknown { reference: id.to_string(), because: String::new() })
    }

    /// The whole result as JSON, as it was saved.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn result(&self, id: &Id) -> Result<String, HistoryError> {
        let damaged = |why: String| HistoryError::Damaged { id: id.to_string(), why };
        let packed: Vec<u8> = self
            .connection
            .query_row("SELECT json_zlib FROM result JOIN run ON run.seq = result.run WHERE run.id = ?", [id.as_str()], |row| row.get(0))
            .optional()
            .map_err(|why| in_words(&self.path, &why))?
            .ok_or_else(|| HistoryError::Unknown { reference: id.to_string(), because: String::new() })?;
        let mut text = String::new();
        ZlibDecoder::new(packed.as_slice()).read_to_string(&mut text).map_err(|why| damaged(why.to_string()))?;
        Ok(text)
    }

    /// The plan as JSON; of several the first.
    ///
    /// # Errors
    /// If there is none.
    pub fn plan(&self, id: &Id) -> Result<String, HistoryError> {
        let found = self
            .connection
            .query_row("SELECT plan FROM result JOIN run ON run.seq = result.run WHERE run.id = ?", [id.as_str()], |row| row.get(0))
            .optional()
            .map_err(|why| in_words(&self.path, &why))?;
        found.ok_or_else(|| HistoryError::Unknown { reference: id.to_string(), because: String::new() })
    }

    /// Adds and takes away tags.
    ///
    /// # Errors
    /// If a tag could not be found again, or there is no such run.
    pub fn tag(&mut self, id: &Id, add: &[String], remove: &[String]) -> Result<Entry, HistoryError> {
        add.iter().chain(remove).try_for_each(|tag| check_tag(tag))?;
        let path = self.path.clone();
        let told = |why: rusqlite::Error| in_words(&path, &why);
        let step = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
        for tag in add {
            step.execute("INSERT OR IGNORE INTO tag (run, tag) SELECT seq, ?2 FROM run WHERE id = ?1", params![id.as_str(), tag])
                .map_err(told)?;
        }
        for tag in remove {
            step.execute("DELETE FROM tag WHERE tag = ?2 AND run = (SELECT seq FROM run WHERE id = ?1)", params![id.as_str(), tag])
                .map_err(told)?;
        }
        step.commit().map_err(told)?;
        self.by_id(id)
    }

    /// Writes what the user says about it, in the place of what was there.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn note(&mut self, id: &Id, text: &str) -> Result<Entry, HistoryError> {
        self.execute("UPDATE run SET note = ?2 WHERE id = ?1", params![id.as_str(), text])?;
        self.by_id(id)
    }

    /// Calls a run otherwise. A baseline is that of a name: under the other one it is none.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn rename(&mut self, id: &Id, name: &str) -> Result<Entry, HistoryError> {
        let path = self.path.clone();
        let told = |why: rusqlite::Error| in_words(&path, &why);
        let step = self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
        step.execute("DELETE FROM baseline WHERE run = (SELECT seq FROM run WHERE id = ?1 AND name <> ?2)", params![id.as_str(), name])
            .map_err(told)?;
        step.execute("UPDATE run SET name = ?2 WHERE id = ?1", params![id.as_str(), name]).map_err(told)?;
        step.commit().map_err(told)?;
        self.by_id(id)
    }

    /// Removes a run with all that belongs to it.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn remove(&mut self, id: &Id) -> Result<(), HistoryError> {
        match self.execute("DELETE FROM run WHERE id = ?", [id.as_str()])? {
            0 => Err(HistoryError::Unknown { reference: id.to_string(), because: String::new() }),
            _ => self.give_back(),
        }
    }

    /// Removes all but so many of those that began last, or all that began before; baselines stay. Says how many went.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn prune(&mut self, keep: Option<u32>, older_than: Option<Moment>) -> Result<u64, HistoryError> {
        let mut gone = 0;
        if let Some(keep) = keep {
            gone += self.execute(
                "DELETE FROM run WHERE seq NOT IN (SELECT run FROM baseline)
                 AND seq NOT IN (SELECT seq FROM run ORDER BY started_ms DESC, seq DESC LIMIT ?)",
                [keep],
            )?;
        }
        if let Some(before) = older_than {
            gone += self.execute("DELETE FROM run WHERE seq NOT IN (SELECT run FROM baseline) AND started_ms < ?", [before.0])?;
        }
        if gone > 0 {
            self.give_back()?;
        }
        Ok(gone as u64)
    }

    /// Makes a run the baseline of its name and kind.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn set_baseline(&mut self, id: &Id) -> Result<Entry, HistoryError> {
        // Set anew, so that it is the last one set.
        self.execute(
            "INSERT OR REPLACE INTO baseline (seq, name, kind, run)
             SELECT (SELECT coalesce(max(seq), 0) + 1 FROM baseline), name, kind, seq FROM run WHERE id = ?",
            [id.as_str()],
        )?;
        self.by_id(id)
    }

    /// The baseline of this name and kind, if one is set.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn baseline_of(&self, name: &str, kind: Kind) -> Result<Option<Entry>, HistoryError> {
        let values = vec![Value::Text(name.to_owned()), Value::Text(kind.name().to_owned())];
        self.entries("WHERE baseline.name = ? AND baseline.kind = ?", values).map(|them| them.into_iter().next())
    }

    /// Every baseline, the one set last first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn baselines(&self) -> Result<Vec<Entry>, HistoryError> {
        self.entries("WHERE baseline.seq IS NOT NULL ORDER BY baseline.seq DESC", Vec::new())
    }

    /// Every run of one name and kind over time, the earliest first.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn trend(&self, name: &str, kind: Kind) -> Result<Vec<Point>, HistoryError> {
        let read = || {
            let mut asked = self.connection.prepare(
                "SELECT id, started_ms, qps, p50_ns, p99_ns, failed_share, revision FROM run
                 WHERE name = ? AND kind = ? ORDER BY started_ms, seq",
            )?;
            let points = asked.query_map([name, kind.name()], |row| {
                Ok(Point {
                    id: id_of(row.get(0)?)?,
                    started: Moment(row.get(1)?),
                    figures: Figures { qps: row.get(2)?, p50_ns: count(row, 3)?, p99_ns: count(row, 4)?, failed_share: row.get(5)? },
                    revision: row.get(6)?,
                })
            })?;
            points.collect::<rusqlite::Result<Vec<Point>>>()
        };
        read().map_err(|why: rusqlite::Error| in_words(&self.path, &why))
    }

    /// Takes in what runs left behind that were ended from outside. `compose` makes of a journal what is saved; `None` where
    /// nothing was measured. Runs that go on are let be.
    ///
    /// # Errors
    /// If the history cannot be written: then the journals stay.
    pub fn take_in(
        &mut self,
        compose: &mut dyn FnMut(&JournalContent) -> Result<Option<RecoveredRun>, String>,
    ) -> Result<Vec<RecoveryOutcome>, HistoryError> {
        let mut taken = Vec::new();
        for found in journals(&self.path) {
            let (journaled, lock) = match found {
                JournalState::Running => continue,
                JournalState::Damaged { path, why } => {
                    taken.push(RecoveryOutcome::Damaged { path, why: why.to_string() });
                    continue;
                }
                JournalState::Left { journaled, lock } => (journaled, lock),
            };
            let composed = match compose(&journaled) {
                Ok(Some(composed)) => composed,
                Ok(None) => {
                    let Header { name, kind, started, .. } = journaled.header;
                    taken.push(RecoveryOutcome::Empty { name, kind, started, end: journaled.end });
                    lock.remove();
                    continue;
                }
                Err(why) => {
                    taken.push(RecoveryOutcome::Damaged { path: lock.path().to_owned(), why });
                    continue;
                }
            };
            let id = journaled.header.id.clone();
            let RecoveredRun { kept, plan, result } = composed;
            let fresh = Fresh { id, kept, origin: Origin::CutShort, plan: &plan, result: &result };
            match self.save(&fresh) {
                Ok(entry) => taken.push(RecoveryOutcome::In(Box::new(entry), journaled.end)),
                // It was saved, and ended before it could clear away.
                Err(HistoryError::Twice { .. }) => {}
                Err(error) => return Err(error),
            }
            lock.remove();
        }
        Ok(taken)
    }

    fn execute(&self, statement: &str, values: impl rusqlite::Params) -> Result<usize, HistoryError> {
        self.connection.execute(statement, values).map_err(|why| in_words(&self.path, &why))
    }

    /// Gives the room of what was removed back to the file system.
    fn give_back(&self) -> Result<(), HistoryError> {
        let vacuum = || {
            // A row for every page: all have to be asked for.
            let mut asked = self.connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = asked.query([])?;
            while rows.next()?.is_some() {}
            self.move_log()
        };
        vacuum().map_err(|why: rusqlite::Error| in_words(&self.path, &why))
    }

    fn entries(&self, condition: &str, values: Vec<Value>) -> Result<Vec<Entry>, HistoryError> {
        let read = || {
            // One look at one state of the file: without it every question below would take and give back its locks.
            let _look = self.connection.unchecked_transaction()?;
            let mut asked = self.connection.prepare(&format!("{LISTED} {condition}"))?;
            let entries = asked.query_map(params_from_iter(values), entry)?;
            let mut entries = entries.collect::<rusqlite::Result<Vec<Entry>>>()?;
            self.shorten(&mut entries)?;
            Ok(entries)
        };
        read().map_err(|why: rusqlite::Error| in_words(&self.path, &why))
    }

    /// Gives each as many letters of its id as tell it from all others.
    fn shorten(&self, entries: &mut [Entry]) -> rusqlite::Result<()> {
        let told = |id: &str, beside: [Option<&str>; 2]| {
            let alike = |other: &str| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            let letters = beside.into_iter().flatten().map(alike).max().map_or(0, |alike| alike + 1).clamp(SHORT_LETTERS, id.len());
            id[..letters].to_owned()
        };
        if entries.len() > ASKED_ONE_BY_ONE {
            let mut asked = self.connection.prepare("SELECT id FROM run ORDER BY id")?;
            let all: Vec<String> = asked.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            for entry in entries {
                let id = entry.id.as_str();
                let at = all.partition_point(|other| other.as_str() < id);
                let other = |at: usize| all.get(at).map(String::as_str);
                entry.short = told(id, [at.checked_sub(1).and_then(other), other(at + 1)]);
            }
            return Ok(());
        }
        let mut before = self.connection.prepare("SELECT max(id) FROM run WHERE id < ?")?;
        let mut after = self.connection.prepare("SELECT min(id) FROM run WHERE id > ?")?;
        for entry in entries {
            let id = entry.id.as_str();
            let beside: [Option<String>; 2] = [before.query_row([id], |row| row.get(0))?, after.query_row([id], |row| row.get(0))?];
            entry.short = told(id, beside.each_ref().map(Option::as_deref));
        }
        Ok(())
    }
}

/// What is saved of a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct RecoveredRun {
    /// What is said of it.
    pub kept: RunNotes,
    /// The plan as JSON.
    pub plan: String,
    /// The whole result as JSON.
    pub result: Vec<u8>,
}

/// Everything of a run but its result.
const LISTED: &str = "
    SELECT run.id, run.kind, run.name, target, started_ms, saved_ms, origin, outcome, qps, p50_ns, p99_ns, failed_share, machine,
        revision, branch, changes, note, stored_bytes,
        (SELECT group_concat(tag, char(10)) FROM (SELECT tag FROM tag WHERE tag.run = run.seq ORDER BY tag)) AS tags,
        baseline.seq IS NOT NULL
    FROM run LEFT JOIN baseline ON baseline.run = run.seq";

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let text = |at: usize| row.get::<_, String>(at);
    let wrong = |at: usize, what: String| rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, what.into());
    let revision = match row.get::<_, Option<String>>(13)? {
        Some(commit) => Some(Revision { commit, branch: row.get(14)?, changes: changes_of(row.get::<_, Option<String>>(15)?.as_deref()) }),
        None => None,
    };
    Ok(Entry {
        id: id_of(text(0)?)?,
        short: String::new(),
        kept: RunNotes {
            kind: text(1)?.parse().map_err(|why| wrong(1, format!("'{}' {why}", text(1).unwrap_or_default())))?,
            name: text(2)?,
            target: text(3)?,
            started: Moment(row.get(4)?),
            outcome: text(7)?,
            figures: Figures { qps: row.get(8)?, p50_ns: count(row, 9)?, p99_ns: count(row, 10)?, failed_share: row.get(11)? },
            machine: serde_json::from_str(&text(12)?).map_err(|why| wrong(12, why.to_string()))?,
            revision,
            tags: row.get::<_, Option<String>>(18)?.map_or_else(Vec::new, |tags| tags.lines().map(str::to_owned).collect()),
            note: text(16)?,
        },
        origin: Origin::of(&text(6)?).ok_or_else(|| wrong(6, "no origin".to_owned()))?,
        saved: Moment(row.get(5)?),
        stored_bytes: count(row, 17)?.unwrap_or(0),
        baseline: row.get(19)?,
    })
}

/// `NAME-2`: two before the last of that name.
fn before(name: &str) -> Option<(&str, u32)> {
    let (name, back) = name.rsplit_once('-')?;
    Some((name, back.parse().ok()?)).filter(|(name, _)| !name.is_empty())
}

fn condition(filter: &Filter) -> (String, Vec<Value>) {
    // Taken apart without `..`, so that a wish nobody heeds does not compile.
    let Filter { text, name, tags, target, kind, since, revision, limit: _, offset: _ } = filter;
    let mut parts = Vec::new();
    let mut values = Vec::new();
    let mut and = |part: &'static str, value: Value| {
        parts.push(part);
        values.push(value);
    };
    for word in text.iter().flat_map(|text| text.split_whitespace()) {
        and(
            "instr(lower(run.name || char(10) || target || char(10) || note || char(10) || outcome || char(10) || coalesce(revision, '')
                || char(10) || coalesce(branch, '') || char(10)
                || coalesce((SELECT group_concat(tag, char(10)) FROM tag WHERE tag.run = run.seq), '')), lower(?)) > 0",
            Value::Text(word.to_owned()),
        );
    }
    if let Some(name) = name {
        // In GLOB, `?` and `[` would mean something, and the user means them.
        let pattern: String =
            name.chars().map(|letter| if "?[".contains(letter) { format!("[{letter}]") } else { letter.to_string() }).collect();
        if name.contains('*') { and("run.name GLOB ?", Value::Text(pattern)) } else { and("run.name = ?", Value::Text(name.clone())) }
    }
    for tag in tags {
        and("run.seq IN (SELECT run FROM tag WHERE tag = ?)", Value::Text(tag.clone()));
    }
    if let Some(target) = target {
        and("instr(target, ?) > 0", Value::Text(target.clone()));
    }
    if let Some(kind) = kind {
        and("run.kind = ?", Value::Text(kind.name().to_owned()));
    }
    if let Some(since) = since {
        and("started_ms >= ?", Value::Integer(since.0));
    }
    if let Some(revision) = revision {
        and("instr(revision, ?) = 1", Value::Text(revision.to_ascii_lowercase()));
    }
    let condition = if parts.is_empty() { String::new() } else { format!("WHERE {}", parts.join(" AND ")) };
    (condition, values)
}

/// The path with something behind its name.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn check_tag(tag: &str) -> Result<(), HistoryError> {
    let is_one = !tag.is_empty() && !tag.chars().any(|letter| letter.is_whitespace() || letter.is_control() || letter == ',');
    if is_one { Ok(()) } else { Err(HistoryError::NoTag(tag.to_owned())) }
}

pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes every byte")
}

fn id_of(text: String) -> rusqlite::Result<Id> {
    Id::try_from(text).map_err(|why| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, why.into()))
}

/// SQLite counts to 2⁶³: more nanoseconds than 292 years have.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    row.get::<_, Option<i64>>(at).map(|count| count.and_then(|count| u64::try_from(count).ok()))
}

const fn changes_name(changes: Changes) -> &'static str {
    match changes {
        Changes::None => "none",
        Changes::Some => "some",
        Changes::Unknown => "unknown",
    }
}

fn changes_of(name: Option<&str>) -> Changes {
    match name {
        Some("none") => Changes::None,
        Some("some") => Changes::Some,
        _ => Changes::Unknown,
    }
}

fn is_busy(why: &rusqlite::Error) -> bool {
    matches!(why.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn in_words(path: &Path, why: &rusqlite::Error) -> HistoryError {
    let path = path.to_owned();
    let why = match why.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            return HistoryError::Foreign { path, what: "it is no SQLite database, or a damaged one".to_owned() };
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("another program has been writing to it for {} seconds", PATIENCE.as_secs())
        }
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        Some(ErrorCode::ReadOnly) => "it may not be written".to_owned(),
        Some(ErrorCode::CannotOpen) => "it cannot be opened; is its directory writable?".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => return HistoryError::Corrupt { path },
        // What follows the first line is the statement.
        _ => why.to_string().lines().next().unwrap_or_default().to_owned(),
    };
    HistoryError::Unusable { path, why }
}

#[cfg(test)]
mod tests;
