//! A run while it happens, shown to a person.
//!
//! Everything here is fed with Ticks on the collector's thread and draws on a thread of its own: no worker waits for a
//! terminal, and what is shown never changes what is measured.

mod history;
mod terminal;
mod view;

pub use terminal::{Terminal, fits, give_back};
pub use view::{Palette, View};
