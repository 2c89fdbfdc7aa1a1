//! From a load as it was typed to one whose files are read, and to the plan that is decided from it.
//!
//! The order of what is read matters to nobody outside: the scenario first, since its settings stand under those that were typed; then
//! everything that the settings name; then the variables and files that templates name. The plan is a function of what was read.

use std::num::NonZeroU32;

use plan::setting::SCENARIO;
use plan::{Draft, LoadRecord, Plan, PlanError, PlanErrors, PopulationDraft, Resolved, SCENARIO_TEXT, Setting, StreamForm, THREADS_MAX};
use scenario::Scenario;

use crate::{Reader, Scenarios, calls, collection, files, is_scenario_file};

/// What of a scenario's own load holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnLoad {
    /// All of it, under what was typed.
    Whole,
    /// All but how much: that is the command's to say, level by level.
    AllButHowMuch,
}

impl OwnLoad {
    /// What of a scenario's settings goes under those of a load.
    fn of(self, own: Draft, load: &mut Draft) -> Draft {
        if self == Self::Whole {
            return own;
        }
        let mut own = own;
        // The rate of a level would take the file's length away, as it takes that of a run away.
        if load.duration.is_none() && load.requests.is_none() {
            load.duration = own.duration.take();
            if load.rate.is_none() {
                load.requests = own.requests.take();
            }
        }
        match (&load.rate, &own.rate) {
            // Users are no limit of journeys at once.
            (Some(_), None) => own.connections = None,
            (Some(_), Some(_)) => {}
            (None, _) => (own.connections, own.arrivals) = (None, None),
        }
        Draft { rate: None, ..own }
    }
}

/// As many connections as open load takes without being told; 20,000/s on a server that takes half a second.
const OPEN_CONNECTIONS_MAX: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

/// With so many users a thread, one more on some threads is lost in the noise.
const USERS_A_THREAD_MANY: u32 = 10;

impl Scenarios {
    /// Reads everything that a load names. What is wrong goes to `errors`, and the rest is judged as if it were right.
    #[must_use]
    pub fn resolve(&self, load: LoadRecord, own_load: OwnLoad, errors: &mut PlanErrors) -> Resolved {
        let (mut resolved, scenario) = self.with_scenario(load, own_load, errors);
        add_defaults(&mut resolved, self.reader());
        files::read_all(&mut resolved, self.reader(), errors);
        calls::read_described(&mut resolved, self.reader(), errors);
        if let Some(scenario) = &scenario {
            self.read_work(&mut resolved, scenario, errors);
        }
        files::read_templates(&mut resolved, self.reader(), errors);
        self.reader().secrets().learn_values(resolved.environment.iter().map(|(_, value)| value.as_str()));
        resolved
    }

    /// Decides a load on this machine. Every mistake goes to `errors`; there may be a plan all the same, for what is said of it.
    pub fn decide(&self, load: LoadRecord, own_load: OwnLoad, errors: &mut PlanErrors) -> Option<Plan> {
        let resolved = self.resolve(load, own_load, errors);
        let is_read = errors.is_empty();
        let mut take = |mistakes: PlanErrors| mistakes.0.into_iter().for_each(|mistake| errors.push(mistake));
        let mut called = resolved.clone();
        let mut plan = Plan::try_from(resolved).map_err(&mut take).ok()?;
        let methods = calls::called(&plan, self.of_plan(&plan).as_deref());
        if is_read && !methods.is_empty() {
            if calls::are_asked_for(&plan) {
                let described = calls::ask(&plan, &methods, self.reader()).map_err(&mut take).ok()?;
                called.contents.insert(plan::DESCRIPTORS, described);
            }
            // Each message of a stream is an event of its answer.
            let described = called.contents.get(plan::DESCRIPTORS).cloned().unwrap_or_default();
            if called.draft.stream.is_none() && calls::answer_in_streams(&methods, &described) {
                called.draft.stream = Some(Setting::Value(StreamForm::Auto));
            }
            plan = Plan::try_from(called).map_err(&mut take).ok()?;
        }
        // What is wrong with the scenario, or with what describes messages, has been told.
        if !is_read && (plan.scenario().is_some() || plan.target().scheme().is_grpc()) {
            return None;
        }
        self.look_at_work(&plan).map_err(take).ok()?;
        Some(plan)
    }

    /// Puts the settings of the scenario that a load names, if it names one, under those of the load.
    fn with_scenario(&self, load: LoadRecord, own_load: OwnLoad, errors: &mut PlanErrors) -> (Resolved, Option<std::rc::Rc<Scenario>>) {
        let LoadRecord { mut draft, mut sources } = load;
        if let Some(url) = draft.url.take_if(|url| is_scenario_file(url)) {
            match &draft.scenario {
                Some(other) if *other != url => errors.push(PlanError::new(
                    SCENARIO,
                    format!("{url} and {SCENARIO:#} {other} both say what users do"),
                    "leave one of them out",
                )),
                _ => draft.scenario = Some(url),
            }
        }
        self.look_for_data(&draft);
        let text = sources.scenario_text.clone();
        let Some(path) = draft.scenario.clone().or_else(|| text.as_ref().map(|_| SCENARIO_TEXT.to_owned())) else {
            return (LoadRecord { draft, sources }.into(), None);
        };
        let scenario = match self.read_from(&path, text.as_deref()) {
            Ok(scenario) => scenario,
            Err(mistakes) => {
                mistakes.0.into_iter().for_each(|mistake| errors.push(mistake));
                // The rest of the command line is judged as if the file had said where.
                draft.url.get_or_insert_with(|| "http://127.0.0.1/".to_owned());
                return (LoadRecord { draft, sources }.into(), None);
            }
        };
        if draft.url.is_none() && scenario.draft.url.is_none() {
            let named = if text.is_some() { "the scenario".to_owned() } else { format!("the scenario {path}") };
            errors.push(PlanError::new(
                SCENARIO,
                format!("{named} names no target"),
                if text.is_some() {
                    "write target: http://127.0.0.1:8080 in it, or give a URL beside it".to_owned()
                } else {
                    format!(
                        "write target: http://127.0.0.1:8080 in it, or give a URL, as in loadline run http://127.0.0.1:8080 --scenario {path}"
                    )
                },
            ));
            draft.url = Some("http://127.0.0.1/".to_owned());
        }
        sources.scenario_name = scenario.name.clone();
        sources.connections_each = Some(scenario.connections_each());
        if sources.populations.is_empty() {
            sources.populations.clone_from(&scenario.populations);
        }
        let mut contents = plan::Contents::default();
        if text.is_none()
            && let Ok(held) = self.held(&path)
        {
            if sources.scenario_sha256.as_ref().is_some_and(|saved| *saved != held.sha256) {
                errors.push(PlanError::new(
                    SCENARIO,
                    format!("the scenario '{path}' is not what it was when this plan was saved"),
                    format!("give it again as it is now with {SCENARIO:#} {path}"),
                ));
            }
            sources.scenario_sha256 = Some(held.sha256.clone());
            contents.insert(&path, held.text());
        }
        let mut own = scenario.draft.clone();
        if draft.url.is_some() {
            // A proxy or an address of the file leads to its own server.
            collection::leave_ways(&mut own, &draft).into_iter().for_each(|left| self.leave_out(format!("'{path}' is left out: {left}")));
        }
        let draft = own_load.of(own, &mut draft).overlaid(draft);
        (Resolved { contents, ..LoadRecord { draft, sources }.into() }, Some(scenario))
    }

    /// Reads what the journeys of a scenario are made of: variables, bodies, uploads; and notes the secrets in it.
    fn read_work(&self, resolved: &mut Resolved, scenario: &Scenario, errors: &mut PlanErrors) {
        for name in scenario.work.environment() {
            let what = format!("the scenario names the variable {name}, which is not in the environment");
            files::read_variable(resolved, self.reader(), &name, ("scenario", what), errors);
        }
        files::read_files_of_work(resolved, self.reader(), &scenario.work, errors);
        let hidden = resolved.sources.scenario_text.as_deref().map_or_else(Vec::new, scenario::hidden_in);
        let given = collection::hidden(self.wishes()).map(str::to_owned);
        resolved.secrets = scenario.work.secrets().chain(hidden).chain(given).collect();
    }
}

/// How many threads a load gets that asks for none: one a core, as many in each process, and as many as it takes to open all connections, of
/// which one thread may have `possible`; at least `least`. A number of requests is shared among threads evenly, so threads with unequal
/// numbers of users would end at different times, and the load with them: then as many as share the users evenly.
fn threads(resolved: &Resolved, cores: NonZeroU32, (possible, least): (NonZeroU32, NonZeroU32)) -> NonZeroU32 {
    let draft = &resolved.draft;
    let populations = resolved.sources.populations.iter().filter_map(|population| population.connections.as_ref());
    let users = draft.connections.iter().chain(populations).filter_map(|users| match users {
        Setting::Value(users) => Some(users.peak()),
        Setting::Wrong { .. } => None,
    });
    // More users than that are refused, and not their threads.
    let needed = users.max().unwrap_or(0).div_ceil(possible.get()).min(THREADS_MAX);
    let needed = NonZeroU32::new(needed).unwrap_or(NonZeroU32::MIN);
    let (least, cores) = match draft.processes {
        Some(Setting::Value(processes)) => {
            (processes, cores.get().checked_next_multiple_of(processes.get()).and_then(NonZeroU32::new).unwrap_or(cores))
        }
        _ => (least.max(needed), cores.max(needed).max(least)),
    };
    let (Some(Setting::Value(users)), Some(_), None) = (&draft.connections, &draft.requests, &draft.rate) else { return cores };
    let users = users.peak();
    let is_even = |threads: &NonZeroU32| users.is_multiple_of(threads.get()) || users / threads.get() >= USERS_A_THREAD_MANY;
    (least.get()..=cores.get()).rev().filter_map(NonZeroU32::new).find(is_even).unwrap_or(cores)
}

/// The defaults that depend on the machine.
fn add_defaults(resolved: &mut Resolved, reader: &Reader) {
    let each = resolved.sources.connections_each.unwrap_or(NonZeroU32::MIN);
    let possible = NonZeroU32::new(reader.connections_max().get() / each).unwrap_or(NonZeroU32::MIN);
    // What one thread may have is what its process may; of machines all is theirs together.
    let of_one = if reader.machines() > NonZeroU32::MIN { NonZeroU32::MAX } else { possible };
    let threads = threads(resolved, reader.cores(), (of_one, reader.machines()));
    resolved.draft.threads.get_or_insert(Setting::Value(threads));
    let open_max = OPEN_CONNECTIONS_MAX.min(possible);
    if !resolved.sources.populations.is_empty() {
        share_connections(&mut resolved.sources.populations, open_max);
    } else if resolved.draft.rate.is_some() {
        resolved.draft.connections.get_or_insert_with(|| Setting::Value(open_max.into()));
    }
}

/// Divides the connections that open load takes without being told among the populations that have a rate.
fn share_connections(populations: &mut [PopulationDraft], open_max: NonZeroU32) {
    let is_open = |population: &&mut PopulationDraft| population.rate.is_some() && population.connections.is_none();
    let open = populations.iter_mut().filter(is_open).count();
    let each = open_max.get() / u32::try_from(open).unwrap_or(u32::MAX).max(1);
    for population in populations.iter_mut().filter(is_open) {
        population.connections = Some(Setting::Value(NonZeroU32::new(each).unwrap_or(NonZeroU32::MIN).into()));
    }
}

#[cfg(test)]
mod tests;
