//! Where a program spends its time: profiles of any runtime as one kind of thing, with the table, the tree and the difference that
//! follow from it.
//!
//! Every runtime writes profiles of its own: Go pprof's protobuf, py-spy folded stacks, Node a JSON of nodes, `perf script` text. Each
//! has its own viewer, and whoever wants to know what grew between two loads needs the one that they have not installed. Under all of
//! them lie stacks with values, so all are read into one [`Profile`], and whatever is asked is asked of that.
//!
//! Pure: bytes come in as an argument. They are foreign, so every count in them is bounded before memory is taken for it, and what is
//! truncated or something else is an error in words. Names of functions are the program's own: whoever shows them makes them harmless.

mod change;
mod cpuprofile;
mod figures;
mod folded;
mod kept;
mod perf;
mod pprof;
mod profile;
mod read;
mod top;

pub use change::{Change, Unlike, changes};
pub use figures::{Scale, percent};
pub use kept::kept;
pub use profile::{BYTES_MAX, Frame, Profile, ReadError, Stack};
pub use read::{Form, read};
pub use regex::Regex;
pub use top::{Order, Row, Selection, Top, top};
