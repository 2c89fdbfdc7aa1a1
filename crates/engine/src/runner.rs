//! Where plans are carried out: on threads of this process, on other sites, or in the simulated engine.
//!
//! All that carries out loads is handed a Runner and asks no further, so that every kind of work, every search and every comparison
//! can be tested against simulated servers, in milliseconds and to the nanosecond.

use std::sync::Arc;

use measure::RequestLog;
use plan::setting::PROCESSES;
use plan::{Part, Plan, Preflight};

use crate::launch::{Place, Prepared, Remote};
use crate::net::{self, Network};
use crate::site::{SiteRole, Sites};
use crate::task::Task;
use crate::{Fence, RunError, body, machine};

/// Carries plans out. A clone is the same runner.
#[derive(Debug, Clone)]
pub struct Runner {
    kind: Kind,
    log: Option<RequestLog>,
}

#[derive(Debug, Clone)]
enum Kind {
    /// On threads of this process, or of others.
    Threads(Here),
    #[cfg(any(test, feature = "simulated"))]
    Simulated(crate::simulation::Simulation),
}

/// What is known beside a plan where it is carried out on threads of this process.
#[derive(Debug, Clone)]
struct Here {
    /// Lets addresses through.
    fence: Fence,
    /// Where parts of a plan go that is more than this process carries.
    sites: Option<Arc<dyn Sites>>,
    /// The part of this process in a run of several.
    role: Option<SiteRole>,
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
        Self { kind: Kind::Threads(Here { fence: fence.clone(), sites: None, role: None }), log: None }
    }

    /// Where load may go.
    #[must_use]
    pub fn fence(&self) -> Fence {
        match &self.kind {
            Kind::Threads(here) => here.fence.clone(),
            #[cfg(any(test, feature = "simulated"))]
            Kind::Simulated(_) => Fence::open(),
        }
    }

    /// The same where plans, or what of them is more than this process carries, go to other sites.
    #[must_use]
    pub fn with_sites(self, sites: Arc<dyn Sites>) -> Self {
        self.set(|here| here.sites = Some(sites))
    }

    /// The same where every request of a load that ends is put in this log.
    #[must_use]
    pub fn with_log(self, log: &RequestLog) -> Self {
        Self { log: Some(log.clone()), ..self }
    }

    /// The same on threads of this process alone, and in no log: for what is done once, before loads or after them.
    #[must_use]
    pub fn here(self) -> Self {
        Self { log: None, ..self.set(|here| here.sites = None) }
    }

    /// The same of a process that has these parts of every plan.
    #[must_use]
    pub fn as_site(self, role: SiteRole) -> Self {
        self.set(|here| here.role = Some(role))
    }

    fn set(mut self, set: impl FnOnce(&mut Here)) -> Self {
        match &mut self.kind {
            Kind::Threads(here) => set(here),
            #[cfg(any(test, feature = "simulated"))]
            Kind::Simulated(_) => {}
        }
        self
    }

    /// In the simulated engine, against this server.
    #[cfg(any(test, feature = "simulated"))]
    #[must_use]
    pub fn simulated(simulation: &crate::simulation::Simulation) -> Self {
        Self { kind: Kind::Simulated(simulation.clone()), log: None }
    }

    /// Looks at everything that can be wrong with a plan before its first request.
    ///
    /// # Errors
    /// If the run cannot begin: files, limits, name resolution, preflight; and if the target is at an address that may not be
    /// connected to.
    pub fn prepare(&self, plan: &Plan) -> Result<Prepared, RunError> {
        let (body, place) = match &self.kind {
            Kind::Threads(Here { fence, sites, role }) => {
                let (groups, log) = (self.divide(plan)?, self.log.clone());
                if let Some(sites) = sites.as_ref().filter(|sites| !groups.is_empty() && !sites.are_here()) {
                    let remote = Remote { sites: sites.clone(), groups, fence: fence.clone(), network: None, log };
                    return self.prepared(plan, &body::encode(&plan.request().body, plan.contents())?, Place::Sites(remote));
                }
                // Processes of one machine share its ports.
                let connections = match role {
                    Some(role) if !role.has_looked => plan.open_connections_of(&role.parts),
                    _ => plan.open_connections_max(),
                };
                let look = if role.as_ref().is_some_and(|role| role.has_looked) { Preflight::Skip } else { plan.connection().preflight };
                match (body::encode(&plan.request().body, plan.contents()), Network::prepare_within(plan, connections, look, fence)) {
                    (Ok(body), Ok(network)) => match sites {
                        Some(sites) if !groups.is_empty() => {
                            let (sites, fence, network) = (sites.clone(), fence.clone(), Some(network));
                            (body, Place::Sites(Remote { sites, groups, fence, network, log }))
                        }
                        _ => (body, Place::Threads(network, role.clone())),
                    },
                    (body, network) => {
                        let errors = [body.err(), network.err()].into_iter().flatten().collect();
                        return Err(RunError::together(errors).expect("one of the two failed"));
                    }
                }
            }
            #[cfg(any(test, feature = "simulated"))]
            Kind::Simulated(simulation) => (body::encode(&plan.request().body, plan.contents())?, Place::Simulated(simulation.clone())),
        };
        self.prepared(plan, &body, place)
    }

    fn prepared(&self, plan: &Plan, body: &[u8], place: Place) -> Result<Prepared, RunError> {
        Ok(Prepared { plan: plan.clone(), tasks: Task::of_populations(plan, body, self.log.as_ref())?, place, so_far: None })
    }

    /// On how many sites a plan would be carried out; 0 where it is carried out here.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn sites_of(&self, plan: &Plan) -> Result<usize, RunError> {
        Ok(self.divide(plan)?.iter().filter(|parts| !parts.is_empty()).count())
    }

    /// Looks whether there is room for all connections of a plan.
    ///
    /// # Errors
    /// If there is not: need, have and remedy.
    pub fn fit(&self, plan: &Plan) -> Result<(), RunError> {
        self.divide(plan).map(drop)
    }

    /// The parts of a plan by site, and none where it is carried out here, where there is room for it.
    fn divide(&self, plan: &Plan) -> Result<Vec<Vec<Part>>, RunError> {
        let here = match &self.kind {
            Kind::Threads(here) => here,
            #[cfg(any(test, feature = "simulated"))]
            Kind::Simulated(_) => return Ok(Vec::new()),
        };
        let groups = here.sites.as_ref().map_or(Ok(Vec::new()), |sites| sites.divide(plan))?;
        self.reach(plan, plan.target())?;
        if let (None, None, Some(processes)) = (&here.sites, &here.role, plan.processes().filter(|processes| processes.get() > 1)) {
            return Err(RunError::input(
                format!("this load is to come from {processes} processes, and here it comes from one"),
                format!("leave {PROCESSES} out"),
            ));
        }
        if groups.is_empty() {
            let parts = here.role.as_ref().map_or_else(|| plan.parts(), |role| role.parts.clone());
            net::check_limits(plan, &parts, machine::raise_files_limit())?;
        }
        Ok(groups)
    }

    /// Looks whether other machines may send load to a server, where a plan is carried out there, as far as that is known here.
    ///
    /// # Errors
    /// If one of them may not.
    pub fn reach(&self, plan: &Plan, server: &plan::Target) -> Result<(), RunError> {
        let connection = plan.connection();
        match &self.kind {
            // What is connected to is another place than what is named.
            _ if connection.connect_to.is_some() || connection.proxy.is_some() => Ok(()),
            Kind::Threads(Here { sites: Some(sites), fence, .. }) => sites.reach(server, fence),
            _ => Ok(()),
        }
    }

    /// Looks at another server that a plan leads to besides its target. What comes from other machines is looked at there.
    ///
    /// # Errors
    /// If its name leads nowhere, or to an address that may not be connected to.
    pub fn look_at(&self, plan: &Plan, other: &plan::Target) -> Result<(), RunError> {
        match &self.kind {
            Kind::Threads(Here { sites: Some(sites), .. }) if !sites.are_here() => self.reach(plan, other),
            Kind::Threads(here) => Network::look_at(plan, other, &here.fence),
            #[cfg(any(test, feature = "simulated"))]
            Kind::Simulated(_) => Ok(()),
        }
    }
}
