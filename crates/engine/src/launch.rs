//! A plan about to be carried out: sources are started, and what they tell is collected.

use std::net::SocketAddr;
use std::sync::Arc;

use measure::{IntervalCounts, Leftovers, RequestLog, Summary, SummaryBuilder, Tick};
use plan::{Part, Plan, Share};

use crate::collect::{Collected, collect};
use crate::error::BehaviourError;
use crate::feed::{Feed, Inlet, Slices};
use crate::message::Message;
use crate::net::{Network, Wire};
#[cfg(any(test, feature = "simulated"))]
use crate::protocol::http::Http;
use crate::site::{RemoteMessages, SiteRole, Sites, SoFar, Terms};
use crate::task::Task;
use crate::threads::{Patience, Threads};
use crate::worker::{Behaviour, Fixed};
use crate::{Fence, RunError, Runner, Stop};

/// Carries a plan out on threads of this process and waits for its end. `watch` is called on this thread once an interval.
///
/// # Errors
/// If the run cannot begin: files, limits, name resolution, preflight.
///
/// # Panics
/// If a worker panicked or a request is unaccounted for: our mistakes.
pub fn run(plan: &Plan, watch: &mut dyn FnMut(&Tick), stop: &Stop) -> Result<Summary, RunError<Summary>> {
    Ok(prepare(plan)?.run(&mut |tick, _| watch(tick), stop)?.close())
}

/// Looks at everything that can be wrong before the first request of a load on threads of this process.
///
/// # Errors
/// As [`Runner::prepare`].
pub fn prepare(plan: &Plan) -> Result<Prepared, RunError> {
    Runner::threads().prepare(plan)
}

/// A plan that can begin: limits, files, names and the target were looked at.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    /// What workers of each population do.
    pub(crate) tasks: Vec<Arc<Task>>,
    pub(crate) place: Place,
    /// Where its sources may be elsewhere: what they begin from.
    pub(crate) so_far: Option<SoFar>,
}

/// Where the sources of a prepared plan will be.
#[derive(Debug)]
pub(crate) enum Place {
    Threads(Network, Option<SiteRole>),
    Sites(Remote),
    #[cfg(any(test, feature = "simulated"))]
    Simulated(crate::simulation::Simulation),
}

/// Sites that have parts of a plan.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) sites: Arc<dyn Sites>,
    /// The parts of each.
    pub(crate) groups: Vec<Vec<Part>>,
    /// What they are to let addresses through by, as here.
    pub(crate) fence: Fence,
    /// What was found on the way to the target from here, where the sites are here too.
    pub(crate) network: Option<Network>,
    /// Where every request is written down.
    pub(crate) log: Option<RequestLog>,
}

impl Remote {
    fn start(&self, plan: &Plan, so_far: &SoFar, slices: Option<Slices>, stop: &Stop) -> Result<Messages, RunError> {
        let terms = Terms { so_far, allowed: self.fence.patterns(), slices, log: self.log.as_ref() };
        Ok(Messages(Sources::Remote(self.sites.start(plan, &self.groups, terms, stop)?)))
    }
}

/// The messages of sources that were started, until all are done.
pub struct Messages(Sources);

enum Sources {
    Threads(Box<Threads>),
    Remote(RemoteMessages),
    #[cfg(any(test, feature = "simulated"))]
    Simulated(crate::simulation::Workers),
}

impl Iterator for Messages {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        match &mut self.0 {
            Sources::Threads(threads) => threads.next(),
            Sources::Remote(messages) => messages.next(),
            #[cfg(any(test, feature = "simulated"))]
            Sources::Simulated(workers) => workers.next(),
        }
    }
}

impl Prepared {
    /// The addresses connections go to; none for a Unix socket.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        match &self.place {
            Place::Threads(network, _) => network.addresses(),
            Place::Sites(remote) => remote.network.as_ref().map(Network::addresses).unwrap_or_default(),
            #[cfg(any(test, feature = "simulated"))]
            Place::Simulated(_) => Vec::new(),
        }
    }

    /// The same with other sockets.
    #[must_use]
    pub fn wired(mut self, wire: Wire) -> Self {
        self.place = match self.place {
            Place::Threads(network, role) => Place::Threads(network.wired(wire), role),
            // Other sockets are this program's own affair.
            remote @ Place::Sites(_) => remote,
            #[cfg(any(test, feature = "simulated"))]
            simulated @ Place::Simulated(_) => simulated,
        };
        self
    }

    /// The same of a plan from which every site can make by itself what its users do; they go on from here.
    #[must_use]
    pub fn portable(self, so_far: SoFar) -> Self {
        Self { so_far: Some(so_far), ..self }
    }

    /// On how many sites it will be carried out, this process not among them; 0 where it is carried out here.
    #[must_use]
    pub fn sites(&self) -> usize {
        if let Place::Sites(remote) = &self.place { remote.groups.iter().filter(|parts| !parts.is_empty()).count() } else { 0 }
    }

    /// The plan that is to be carried out.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Carries the plan out as it stands, and waits for its end.
    ///
    /// # Errors
    /// None but those of a run that breaks off, with what was measured until then.
    ///
    /// # Panics
    /// As [`run`].
    pub fn run(self, watch: &mut dyn FnMut(&Tick, IntervalCounts), stop: &Stop) -> Result<SummaryBuilder, RunError> {
        let plan = self.plan().clone();
        conclude(&plan, self.start(Share::all(plan.threads()), stop)?, &mut |_, _| (), watch)
    }

    /// Carries the plan out with users that behave so: `behaviour` makes one for each worker, on its thread.
    ///
    /// # Errors
    /// If the behaviour cannot go on or does not return, with what was measured until then.
    ///
    /// # Panics
    /// As [`run`].
    pub fn run_with<B: Behaviour>(
        self,
        behaviour: impl Fn(Share) -> B + Send + Sync + 'static,
        watch: &mut dyn FnMut(&Tick, IntervalCounts),
        stop: &Stop,
    ) -> Result<SummaryBuilder, RunError> {
        let plan = self.plan().clone();
        conclude(&plan, self.start_with(behaviour, Share::all(plan.threads()), stop)?, &mut |_, _| (), watch)
    }

    /// Starts a source for each of these shares of the plan as it stands, here, and gives what they tell. The other shares may be
    /// elsewhere.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn start(self, shares: impl IntoIterator<Item = Share>, stop: &Stop) -> Result<Messages, RunError> {
        let task = self.tasks[0].clone();
        self.portable(SoFar::default()).begin(
            move |_| Fixed { task: task.clone() },
            &shares.into_iter().map(Part::from).collect::<Vec<_>>(),
            Patience::Endless,
            stop,
        )
    }

    /// The same with users that behave so.
    ///
    /// # Errors
    /// As [`Prepared::start`].
    pub fn start_with<B: Behaviour>(
        self,
        behaviour: impl Fn(Share) -> B + Send + Sync + 'static,
        shares: impl IntoIterator<Item = Share>,
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        self.start_parts(move |part| behaviour(part.share), shares.into_iter().map(Part::from), stop)
    }

    /// The same of a plan with several populations: `behaviour` makes one for each part.
    ///
    /// # Errors
    /// As [`Prepared::start`].
    pub fn start_parts<B: Behaviour>(
        self,
        behaviour: impl Fn(Part) -> B + Send + Sync + 'static,
        parts: impl IntoIterator<Item = Part>,
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        self.begin(behaviour, &parts.into_iter().collect::<Vec<_>>(), Patience::AfterTheEnd(stop.clone()), stop)
    }

    /// The same of users that are fed with what they send: `behaviour` makes one from a share and its inlet. On other sites the same
    /// behaviour is made by them.
    ///
    /// # Errors
    /// As [`Prepared::start`].
    pub fn start_fed<B: Behaviour>(
        self,
        feed: Feed,
        behaviour: impl Fn(Share, Inlet) -> B + Send + Sync + 'static,
        shares: impl IntoIterator<Item = Share>,
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        let parts: Vec<Part> = shares.into_iter().map(Part::from).collect();
        let sources: Vec<u32> = parts.iter().map(|part| part.of_run.index()).collect();
        match (feed, self.place) {
            (Feed::Slices(slices), Place::Sites(remote)) => remote.start(&self.plan, &SoFar::default(), Some(slices), stop),
            (feed, place) => {
                let inlets = feed.inlets(&sources).map_err(|why| RunError::no_thread(sources.len() as u32 + 1, &why))?;
                let behaviour = move |part: Part| behaviour(part.share, inlets.of(part.of_run.index()));
                Self { place, ..self }.start_parts(behaviour, parts, stop)
            }
        }
    }

    fn begin<B: Behaviour>(
        self,
        behaviour: impl Fn(Part) -> B + Send + Sync + 'static,
        parts: &[Part],
        patience: Patience,
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        let Self { plan, tasks, place, so_far } = self;
        Ok(Messages(match place {
            Place::Threads(network, role) => {
                Sources::Threads(Threads::start(&tasks, network, behaviour, parts, (patience, role.as_ref()), stop)?.into())
            }
            Place::Sites(remote) => {
                let Some(so_far) = so_far else {
                    return Err(RunError::input(
                        "what sends these requests is part of this program, and no other process can do it",
                        "send less, so that one process carries it",
                    ));
                };
                return remote.start(&plan, &so_far, None, stop);
            }
            #[cfg(any(test, feature = "simulated"))]
            Place::Simulated(simulation) => Sources::Simulated(simulation.start::<Http, B>(&tasks, |_, part| behaviour(part), parts, stop)),
        }))
    }
}

/// Collects what all sources of a plan tell. What they left behind completes the run, one that broke off as well.
///
/// # Errors
/// If a behaviour could not go on, with what was measured until then.
///
/// # Panics
/// If a request is unaccounted for: that is our mistake.
pub fn conclude(
    plan: &Plan,
    messages: impl IntoIterator<Item = Message>,
    complete: &mut dyn FnMut(&mut SummaryBuilder, Leftovers),
    watch: &mut dyn FnMut(&Tick, IntervalCounts),
) -> Result<SummaryBuilder, RunError> {
    let Collected { mut summary, left, broken } = collect(plan, messages, watch);
    complete(&mut summary, left);
    match broken {
        None => Ok(summary),
        Some(BehaviourError { message, help }) => Err(RunError { measured: Some(Box::new(summary)), ..RunError::run(message, help) }),
    }
}
