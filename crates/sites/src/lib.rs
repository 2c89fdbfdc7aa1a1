//! Parts of a load in other processes, here and on other machines.
//!
//! One process may open so many files, and one machine has so many cores. Beyond them a commander divides a plan among sites: it starts
//! them, tells each its parts, agrees with all on the moment in which the load begins, and hands on what they tell as if they were
//! threads of its own. A site is a loadline that speaks over its standard streams, so that a process of this machine, one at the other end
//! of an SSH connection and one that an agent of a fleet has called are the same to everybody: the way to it is all that differs.
//!
//! Invariants: a site whose commander is silent for its lease, or gone, ends its load by itself; nothing of it keeps running. What a site
//! has told stays, also when it is gone before its end.

mod commander;
mod dealing;
mod errand;
mod fleet;
mod frames;
mod gathering;
mod link;
mod machines;
mod outgoing;
mod place;
mod processes;
mod serving;
mod words;

pub use commander::Commander;
pub use errand::{Answered, Errand, ErrandError};
pub use fleet::{Access, AgentCard, AgentClock, Claims, Connection, FleetAddress, Member, News, agents_of, is_group, join};
pub use frames::{Answer, Greeting, Job, Order, Refusal, Rows, SITE_SCHEMA};
pub use link::Call;
pub use machines::{Machines, MayReach, names_of, over_ssh, own_processes};
pub use processes::Processes;
pub use serving::{Ways, serve};

use std::time::Duration;

/// How often either side says that it is there.
const BEAT: Duration = Duration::from_secs(1);
/// For so long a site on another machine goes on without a word of its commander, and the other way round: a cable may be cut.
const LEASE: Duration = Duration::from_secs(5);
/// For so long on the same machine. Whoever ends there is known to be gone at once; and where a hundred processes share two cores, one may
/// have to wait for seconds until it runs.
const LEASE_HERE: Duration = Duration::from_secs(60);

/// How long silence is borne.
const fn lease(is_here: bool) -> Duration {
    if is_here { LEASE_HERE } else { LEASE }
}
