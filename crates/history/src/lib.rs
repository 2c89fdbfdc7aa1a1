//! Runs remembered: a database of results, a journal of the run under way, and references to both.
//!
//! What was measured last month is worth as much as what was measured today, if it can be found again. Files in folders are
//! lost, overwritten and renamed; a server for results has to be run by someone. So there is one file in the user's own
//! data directory, and this is the only crate that knows it is SQLite.
//!
//! | wanted | is |
//! |---|---|
//! | save a result | [`Store::save`] of a [`Fresh`] |
//! | list, newest first | [`Store::list`] with a [`Filter`]; reads no result |
//! | find one | [`Store::resolve`] of a [`Reference`] |
//! | read its result | [`Store::result`]: the JSON as it was saved |
//! | tags, note | [`Store::tag`], [`Store::note`] |
//! | remove | [`Store::remove`], [`Store::prune`] |
//! | a baseline | [`Store::set_baseline`], [`Reference::Baseline`] |
//! | one name over time | [`Store::trend`] |
//! | one run as a file | [`ExportedRun`] |
//! | watch a run of another program | [`Follower`] |
//! | lose nothing | [`Journal`] while it runs, [`Store::take_in`] after |
//!
//! A [`Store`] is one connection, for one thread; several may be open at once, in one process or in many. The crate reads no
//! environment and prints nothing: paths and moments are arguments.
//!
//! Invariant: a run is in the database whole or not at all, and until it is, its journal stays.

mod entry;
mod error;
mod exported;
mod follower;
mod journal;
mod reference;
mod revision;
mod schema;
mod store;

pub use entry::{Entry, Figures, Filter, Fresh, Id, Kind, Moment, Origin, Point, RunNotes, UnknownKind};
pub use error::HistoryError;
pub use exported::{EXPORT_SCHEMA, ExportedRun};
pub use follower::{Follower, RunNews};
pub use journal::{End, FinishedJournal, Header, Journal, JournalContent, UnderWay};
pub use reference::Reference;
pub use revision::{Changes, Looking, Revision};
pub use store::{RecoveredRun, RecoveryOutcome, Store, look};
