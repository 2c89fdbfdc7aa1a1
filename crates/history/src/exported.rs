//! One saved run as a file, to be sent to somebody else or kept elsewhere: plain JSON, with everything that is known of it.

use serde::{Deserialize, Serialize};

use crate::{Entry, Fresh, HistoryError, Id, Moment, Origin, RunNotes, Store};

/// The version of the file. A reader of this version refuses any other by name.
pub const EXPORT_SCHEMA: &str = "loadline.saved/1";

/// A saved run with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedRun {
    /// Always [`EXPORT_SCHEMA`].
    pub schema: String,
    /// Its name for good.
    pub id: Id,
    /// What is said of it.
    #[serde(flatten)]
    pub kept: RunNotes,
    /// How it came into the history it was taken from.
    pub origin: Origin,
    /// When.
    pub saved: Moment,
    /// The plan; of several the first.
    pub plan: serde_json::Value,
    /// The whole result.
    pub result: serde_json::Value,
}

impl ExportedRun {
    /// A saved run as a file.
    ///
    /// # Errors
    /// If its result cannot be read.
    pub fn of(store: &Store, entry: &Entry) -> Result<Self, HistoryError> {
        let damaged = |why: serde_json::Error| HistoryError::Damaged { id: entry.id.to_string(), why: why.to_string() };
        Ok(Self {
            schema: EXPORT_SCHEMA.to_owned(),
            id: entry.id.clone(),
            kept: entry.kept.clone(),
            origin: entry.origin,
            saved: entry.saved,
            plan: serde_json::from_str(&store.plan(&entry.id)?).map_err(damaged)?,
            result: serde_json::from_str(&store.result(&entry.id)?).map_err(damaged)?,
        })
    }

    /// Puts it into a history. It keeps its id, so that it cannot be there twice.
    ///
    /// # Errors
    /// If it is there already, or the history cannot be written.
    pub fn import(self, store: &mut Store) -> Result<Entry, HistoryError> {
        let written = |value: &serde_json::Value| serde_json::to_string_pretty(value).expect("what was read can be written");
        let (plan, result) = (written(&self.plan), written(&self.result) + "\n");
        store.save(&Fresh { id: self.id, kept: self.kept, origin: Origin::Imported, plan: &plan, result: result.as_bytes() })
    }
}
