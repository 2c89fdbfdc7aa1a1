//! The number of a source of load.

use serde::{Deserialize, Serialize};

/// Who sent a Snapshot: a thread, here or elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(pub u32);
