//! A scenario file as it was read: the work, and what stands beside it.
//!
//! The load, the promises of the whole run and the name belong to the file, not to what users do: another file with the same work is
//! another test of it.
//!
//! Invariant: it is valid, and nothing of YAML is left in it.

use std::num::NonZeroU32;

use analysis::gate;
use plan::template::nearest;
use plan::work::{Item, Journey, Work, each_item, each_step};
use plan::{Draft, LoadRecord, PopulationDraft, Sources, Target};

/// A scenario: what users do, and under which load.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// What the file calls it.
    pub name: Option<String>,
    /// The target, the load and the data files: settings of a plan, over which flags go.
    pub draft: Draft,
    /// Loads that run side by side, in the place of the one of the settings.
    pub populations: Vec<PopulationDraft>,
    /// Servers that it names beside its target, other than by the steps that go there.
    pub also_named: Vec<String>,
    /// What the load must keep to.
    pub checks: Vec<gate::Check>,
    /// How templates call the data files, in the order of the draft.
    pub files: Vec<String>,
    /// What users do.
    pub work: Work,
}

impl Scenario {
    /// Of what a file says; the servers that its steps name may be asked.
    #[must_use]
    pub fn new(name: Option<String>, mut settings: Draft, work: Work) -> Self {
        let own = settings.url.as_ref().and_then(|url| url.parse::<Target>().ok());
        let also_named = settings.also_target.clone();
        work.each_step(&mut |step| {
            let other = step.elsewhere.as_ref().filter(|other| own.as_ref().is_none_or(|own| !own.same_origin(other)));
            settings.also_target.extend(other.map(Target::origin).filter(|origin| !settings.also_target.contains(origin)));
        });
        Self { name, draft: settings, populations: Vec::new(), also_named, checks: Vec::new(), files: Vec::new(), work }
    }

    /// The load that it says, of which no file is read.
    #[must_use]
    pub fn load(&self) -> LoadRecord {
        let (scenario_name, populations) = (self.name.clone(), self.populations.clone());
        let sources = Sources { scenario_name, populations, connections_each: Some(self.connections_each()), ..Sources::default() };
        LoadRecord { draft: self.draft.clone(), sources }
    }

    /// How many requests a user has under way at most, and so how many connections to the target.
    #[must_use]
    pub fn connections_each(&self) -> NonZeroU32 {
        let mut most = NonZeroU32::MIN;
        for items in self.work.parts() {
            each_item(items, &mut |item| {
                if let Item::Parallel { parts, at_once } = item {
                    let parts = u32::try_from(parts.len()).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
                    most = most.max(at_once.map_or(parts, |at_once| at_once.min(parts)));
                }
            });
        }
        self.work.each_step(&mut |step| most = most.max(step.resources.as_ref().map_or(NonZeroU32::MIN, |resources| resources.at_once)));
        most
    }

    /// The servers that its steps name, in the order of the file, with how many steps each has; `None` is the target's.
    #[must_use]
    pub fn servers(&self) -> Vec<(Option<Target>, usize)> {
        let mut servers: Vec<(Option<Target>, usize)> = Vec::new();
        let own = self.draft.url.as_ref().and_then(|url| url.parse::<Target>().ok());
        self.work.each_step(&mut |step| {
            let other = step.elsewhere.as_ref().filter(|other| own.as_ref().is_none_or(|own| !own.same_origin(other)));
            match servers.iter_mut().find(|(known, _)| known.as_ref().map(Target::origin) == other.map(Target::origin)) {
                Some((_, steps)) => *steps += 1,
                None => servers.push((other.cloned(), 1)),
            }
        });
        servers
    }

    /// What is wrong with a check on a part that this scenario does not have, and what to do.
    #[must_use]
    pub fn unknown_part(&self, check: &gate::Check) -> Option<(String, String)> {
        check.part().and_then(|part| unknown_part(part, &self.work.journeys, &self.populations))
    }
}

/// The names of the transactions, in order.
fn transactions(journeys: &[Journey]) -> Vec<&str> {
    let mut names = Vec::new();
    for journey in journeys {
        each_item(&journey.items, &mut |item| {
            if let Item::Transaction { name, .. } = item {
                names.push(name.as_str());
            }
        });
    }
    names
}

/// What is wrong with a part that the journeys do not have, and what to do.
pub(crate) fn unknown_part(part: &gate::LoadPart, journeys: &[Journey], populations: &[PopulationDraft]) -> Option<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    match part {
        gate::LoadPart::Journey(_) => names.extend(journeys.iter().map(|journey| journey.name.as_str())),
        gate::LoadPart::Step(_) => journeys.iter().for_each(|journey| each_step(&journey.items, &mut |step| names.push(&step.name))),
        gate::LoadPart::Transaction(_) => names.extend(transactions(journeys)),
        gate::LoadPart::Population(_) => names.extend(populations.iter().map(|population| population.name.as_str())),
        gate::LoadPart::Url(_) => {}
    }
    if names.iter().any(|name| part.is_called(name)) {
        return None;
    }
    let (kind, name) = (part.kind(), part.name().escape_debug().to_string());
    let help = match nearest(part.name(), names.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None if names.is_empty() && matches!(part, gate::LoadPart::Population(_) | gate::LoadPart::Transaction(_)) => {
            format!("the scenario has no {kind}s: write step NAME or journey NAME")
        }
        None if names.is_empty() => "a scenario has steps and journeys: write step NAME or journey NAME".to_owned(),
        None => format!("there are {}", names.join(", ")),
    };
    Some((format!("there is no {kind} '{name}'"), help))
}
