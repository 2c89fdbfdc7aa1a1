//! Claims put to the test with the real program, real sockets, and servers in processes of their own.

mod bottlenecks;
mod capacity;
mod frozen;
mod gallery;
mod hung;
mod link;
mod process;
mod same_target;
mod starved;

pub use bottlenecks::{Bottlenecks, Named};
pub use capacity::{Capacities, Searched};
pub use frozen::{Frozen, Thawed};
pub use gallery::{Gallery, Shown};
pub use hung::{Hung, Waited};
pub use process::{Loadline, Ran, Serving};
pub use same_target::{Agreed, SameTarget};
pub use starved::{Starved, Treated};
