//! Where plans are carried out: on threads of this process, or in the simulated engine.
//!
//! All that carries out loads is handed a Runner and asks no further, so that every kind of work, every search and every comparison
//! can be tested against simulated servers, in milliseconds and to the nanosecond.

use plan::Plan;

use crate::launch::{Place, Prepared};
use crate::net::{self, Network};
use crate::task::Task;
use crate::{Fence, RunError, body, machine};

/// Carries plans out. A clone is the same runner.
#[derive(Debug, Clone)]
pub struct Runner(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// On threads of this process, at addresses that this lets through.
    Threads(Fence),
    #[cfg(any(test, feature = "simulated"))]
    Simulated(crate::simulation::Simulation),
}

impl Runner {
    /// On threads of this process, wherever a plan leads.
    #[must_use]
    pub fn threads() -> Self {
        Self::within(&Fence::open())
    }

    /// The same where not every address may be connected to.
    #[must_use]
    pub fn within(fence: &Fence) -> Self {
        Self(Kind::Threads(fence.clone()))
    }

    /// In the simulated engine, against this server.
    #[cfg(any(test, feature = "simulated"))]
    #[must_use]
    pub fn simulated(simulation: &crate::simulation::Simulation) -> Self {
        Self(Kind::Simulated(simulation.clone()))
    }

    /// Looks at everything that can be wrong with a plan before its first request.
    ///
    /// # Errors
    /// If the run cannot begin: files, limits, name resolution, preflight; and if the target is at an address that may not be
    /// connected to.
    pub fn prepare(&self, plan: &Plan) -> Result<Prepared, RunError> {
        let (body, place) = match &self.0 {
            Kind::Threads(fence) => {
                net::check_limits(plan, machine::raise_files_limit())?;
                match (body::encode(&plan.request().body, plan.contents()), Network::prepare_within(plan, fence)) {
                    (Ok(body), Ok(network)) => (body, Place::Threads(network)),
                    (body, network) => {
                        let errors = [body.err(), network.err()].into_iter().flatten().collect();
                        return Err(RunError::together(errors).expect("one of the two failed"));
                    }
                }
            }
            #[cfg(any(test, feature = "simulated"))]
            Kind::Simulated(simulation) => (body::encode(&plan.request().body, plan.contents())?, Place::Simulated(simulation.clone())),
        };
        Ok(Prepared { plan: plan.clone(), tasks: Task::of_populations(plan, &body)?, place })
    }

    /// Looks at another server that a plan leads to besides its target.
    ///
    /// # Errors
    /// If its name leads nowhere, or to an address that may not be connected to.
    pub fn look_at(&self, plan: &Plan, other: &plan::Target) -> Result<(), RunError> {
        match &self.0 {
            Kind::Threads(fence) => Network::look_at(plan, other, fence),
            #[cfg(any(test, feature = "simulated"))]
            Kind::Simulated(_) => Ok(()),
        }
    }
}
