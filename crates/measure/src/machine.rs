//! The machine that sources of load are on.

use serde::{Deserialize, Serialize};

/// The machine the load came from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The program and its version.
    pub loadline: String,
    /// Operating system and kernel.
    pub system: String,
    /// The processor's name.
    pub processor: String,
    /// Cores this process may use.
    pub cores: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Files this process may open.
    pub files_max: u64,
}
