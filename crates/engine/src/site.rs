//! Sources of load outside this process: other processes of this machine, and other machines.
//!
//! A process may open so many files, and a machine has so many cores. What is beyond them is carried out on other sites: each is told
//! which parts of a plan are its own, makes them by itself, and tells the same Messages as a thread of this process would. So nothing
//! that collects, watches or reports a run knows of them. What chooses requests is made on each site from the plan, and never sent: a
//! behaviour that is only in this program cannot leave it. What no plan computes, the requests of a log, is dealt to them while they send.
//!
//! Invariant: the parts of all sites together are the parts of the plan.

use std::fmt;
use std::sync::Arc;

use measure::{Position, RequestLog};
use plan::{Nanos, Part, Plan, Target};
use serde::{Deserialize, Serialize};

use crate::feed::Slices;
use crate::{Fence, Message, RunError, Stop};

/// Sites that parts of plans can be sent to.
pub trait Sites: fmt::Debug + Send + Sync {
    /// The parts of a plan, by site; none where this process is to carry it out alone.
    ///
    /// # Errors
    /// If the sites cannot hold as much.
    fn divide(&self, plan: &Plan) -> Result<Vec<Vec<Part>>, RunError>;

    /// Whether they are processes of this machine: then the target is looked at here, once for all.
    fn are_here(&self) -> bool;

    /// Looks whether load may go to a target from all of them and within the fence, as far as that is known without asking where its name leads
    /// there. Nothing is known of processes of this machine that is not seen when the target is looked at.
    ///
    /// # Errors
    /// If it may not.
    fn reach(&self, _target: &Target, _fence: &Fence) -> Result<(), RunError> {
        Ok(())
    }

    /// Starts these parts, one group a site, at the same moment, and gives what all sites tell, until the last has ended.
    ///
    /// # Errors
    /// If a site cannot begin.
    fn start(&self, plan: &Plan, groups: &[Vec<Part>], terms: Terms<'_>, stop: &Stop) -> Result<RemoteMessages, RunError>;
}

/// What sites begin with besides a plan.
pub struct Terms<'a> {
    /// What the load takes up from those before it.
    pub so_far: &'a SoFar,
    /// Where they may connect to, in the words of a [`crate::Fence`]; without words, everywhere.
    pub allowed: &'a [String],
    /// What their sources send, where the plan does not say it: a block for each of its sources, in their order.
    pub slices: Option<Slices>,
    /// Where every request of theirs is to be written down.
    pub log: Option<&'a RequestLog>,
}

/// What sites tell, in the order in which it arrives.
pub type RemoteMessages = Box<dyn Iterator<Item = Message>>;

/// What a load takes up from the loads of its series before it, and from its setup.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SoFar {
    /// Rows, numbers and requests that were used.
    pub position: Position,
    /// What the setup left: variables by their places.
    pub variables: Vec<(usize, Vec<u8>)>,
    /// Whether users do not pause: what is asked is how fast the server answers.
    pub without_pauses: bool,
}

/// What one process has of a run of several.
#[derive(Debug, Clone)]
pub struct SiteRole {
    /// Its parts of the plan.
    pub parts: Vec<Part>,
    /// When the load begins.
    pub gate: Gate,
    /// Whether somebody on this machine has looked at the target already.
    pub has_looked: bool,
    /// All processes of the run on this machine, for the one that looks for others who use its cores; nothing for the rest.
    pub processes: Option<Vec<u32>>,
}

/// Where the sources of a process wait, all of them ready, for the moment that all processes of a run have agreed on: by this machine's
/// monotonic clock ([`crate::monotonic_now`]). Without one the run is called off.
#[derive(Clone)]
pub struct Gate(Arc<dyn Fn() -> Option<Nanos> + Send + Sync>);

impl Gate {
    /// A gate; `wait` is called once a load, when its sources are ready, and blocks until the moment is known.
    pub fn new(wait: impl Fn() -> Option<Nanos> + Send + Sync + 'static) -> Self {
        Self(Arc::new(wait))
    }

    /// When the load begins.
    pub(crate) fn wait(&self) -> Option<Nanos> {
        (self.0)()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gate")
    }
}
