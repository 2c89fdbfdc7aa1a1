//! A test that a browser starts: decided, carried out before everybody who has a page open, and saved.
//!
//! What it may set is a list of the crate `serve`. Here values are looked at, which may name files of this machine too, and the same
//! loops carry it out as on the command line: a run, a sweep, a search or a comparison.

use std::sync::mpsc;

use analysis::Reading;
use analysis::found::CapacityReport;
use analysis::gate::{AbortRule, Check};
use engine::{RunError, RunErrorKind, Runner, Stop};
use export::{Exports, Ready};
use history::Kind;
use measure::Summary;
use plan::setting::PROCESSES;
use plan::{Draft, LoadRecord, Plan, PlanError, PlanErrors, Setting, Spelling};
use report::{Experiment, page};
use resolve::{KnownSecrets, Scenarios, is_scenario_file};
use serve::{Live, NotStarted, RunEnd, StartTest};
use sites::Machines;

use crate::agents::teach;
use crate::bench::Onlookers;
use crate::command::compare::TwoTargets;
use crate::command::find::CapacitySearch;
use crate::command::sweep::{Climb, LevelChoice, wished};
use crate::exporting::{self, Exporting};
use crate::keeping::{At, HistoryArgs, RunSaver};
use crate::observers::Observers;
use crate::profiling::Profilers;
use crate::promises::{Aborts, Guard, Promises};
use crate::screen::{Remarks, Screen, complain_without};
use crate::server_monitor::ServerMonitors;
use crate::workload::{Series, Workload, look_elsewhere};
use crate::{inputs, saved};

/// A test without a mistake.
pub struct Test {
    work: Work,
    checks: Vec<Check>,
    guard: Guard,
    name: String,
    keeper: RunSaver,
}

/// What is carried out.
enum Work {
    Run(Box<Plan>),
    Sweep(Box<Climb>),
    Find(Box<CapacitySearch>),
    Compare(Box<TwoTargets>),
}

impl Work {
    /// The first load.
    fn first(&self) -> Option<&Plan> {
        match self {
            Self::Run(plan) => Some(plan),
            Self::Sweep(climb) => climb.first(),
            Self::Find(search) => Some(search.first()),
            Self::Compare(two) => Some(two.first()[0]),
        }
    }

    const fn kind(&self) -> Kind {
        match self {
            Self::Run(_) => Kind::Run,
            Self::Sweep(_) => Kind::Sweep,
            Self::Find(_) => Kind::Find,
            Self::Compare(_) => Kind::Compare,
        }
    }
}

/// Who looks on at every test.
#[derive(Debug, Clone)]
pub struct Lookout {
    /// What of the server's side is watched.
    pub eyes: ServerMonitors,
    /// Which profiles are taken.
    pub probes: Profilers,
    /// Other systems.
    pub exporting: Exporting,
    /// What whoever started the server has to hide.
    pub known: KnownSecrets,
}

impl Lookout {
    /// Those who look on at a test that begins with this load. An address to listen on is free again after each test, so it is taken for
    /// each.
    ///
    /// # Errors
    /// If it has been taken by another program since.
    fn ready(&self, first: &Plan, keeper: RunSaver, guard: Guard, known: &KnownSecrets) -> Result<(Onlookers, Ready), NotStarted> {
        let mut errors = PlanErrors::default();
        let ready = self.exporting.decide(&self.known, &mut errors);
        if let Some(PlanError { message, help, .. }) = errors.0.into_iter().next() {
            let [message, help] = [message, help].map(|said| self.known.conceal(&said.spelt(Spelling::KEYS)));
            return Err(NotStarted::Unable { message, help });
        }
        // What is seen is said of both: the addresses of the one and the load of the other.
        let both = self.known.with(known);
        // Whoever started the server asked for it without knowing where tests go.
        let probes = match self.probes.check(first) {
            Ok(()) => self.probes.clone().leaving_out(&both),
            Err(failed) => {
                complain_without(&self.known, &format!("warning: this test has no profile\n{failed}"));
                Profilers::none()
            }
        };
        Ok((Onlookers { keeper, exports: Exports::default(), eyes: self.eyes.clone().leaving_out(&both), probes, guard }, ready))
    }
}

impl Test {
    /// A test without mistakes; else all of them. It comes from these machines, or from here.
    pub fn decide(at: &At, test: &StartTest, known: &KnownSecrets, machines: Option<&Machines>) -> (Option<Self>, PlanErrors) {
        let (mut errors, scenarios) = (PlanErrors::default(), inputs::scenarios(known));
        scenarios.reader().never_ask();
        machines.into_iter().for_each(|machines| teach(scenarios.reader(), machines));
        let load = test.plan.load().clone();
        errors.0.extend(too_many_processes(&load.draft));
        let refused: Vec<PlanError> = test.plan.refused().iter().cloned().chain(refused_values(&load)).collect();
        let is_refused = !refused.is_empty();
        refused.into_iter().for_each(|error| errors.push(error));
        let described = [test.sweep.is_some(), test.find.is_some(), test.compare.is_some()];
        if described.into_iter().filter(|is| *is).count() > 1 {
            errors.push(PlanError::new("plan", "a test is one of sweep, find and compare, and here are several", "leave all but one out"));
        }
        if test.other.is_some() && test.compare.is_none() {
            errors.push(PlanError::new(
                "compare",
                "'other' is the other side of a comparison, and this is none",
                "give compare too, or leave it out",
            ));
        }
        let scenario = if is_refused { None } else { scenarios.of(&load) };
        let load = if is_refused { without_refused(load) } else { load };
        let work = Self::work(load, test, scenarios, &mut errors);
        let checks = Promises::of(test.check.clone()).read(scenario.as_deref(), &mut errors);
        let guard = Aborts::of(test.abort_on.clone()).read(&mut errors);
        let given = test.name.clone().filter(|name| !name.trim().is_empty());
        let name = given.or_else(|| match work.as_ref()? {
            Work::Compare(two) => Some(two.suggested()),
            other => other.first().map(saved::suggested),
        });
        let name = name.unwrap_or_default();
        let keeping = HistoryArgs::of(at.clone(), test.tag.clone(), test.note.clone());
        let keeper = keeping.decide(test.kind(), &name, &mut errors);
        if let Some(plan) = work.as_ref().and_then(Work::first) {
            inputs::look_for_redacted(plan, &mut errors);
        }
        let work = work.filter(|_| errors.is_empty());
        (work.map(|work| Self { work, checks, guard, name, keeper }), errors)
    }

    fn work(load: LoadRecord, test: &StartTest, scenarios: Scenarios, errors: &mut PlanErrors) -> Option<Work> {
        match (&test.sweep, &test.find, &test.compare) {
            (Some(ladder), ..) => {
                let slo = wished(test.slo.iter().filter_map(|text| text.parse().ok()).collect(), errors);
                let climb = Climb::decide(load, ladder.clone(), scenarios, errors)?;
                Some(Work::Sweep(Box::new(climb.keeping(slo))))
            }
            (None, Some(search), _) => {
                let search = CapacitySearch::decide(load, (&test.slo, search.clone()), scenarios, errors)?;
                Some(Work::Find(Box::new(search)))
            }
            (None, None, Some(comparison)) => {
                let Some(other) = test.other.clone().filter(|other| !other.trim().is_empty()) else {
                    errors.push(PlanError::new("compare", "there is only one side to compare", "give the other target"));
                    inputs::decide(load, &scenarios, errors);
                    return None;
                };
                TwoTargets::decide(load, other, comparison.clone(), &scenarios, errors).map(|two| Work::Compare(Box::new(two)))
            }
            (None, None, None) => inputs::decide(load, &scenarios, errors).map(|plan| Work::Run(Box::new(plan))),
        }
    }

    /// That the machines it comes from may not send load to its target, where that is so, as a mistake of the form.
    pub fn unreached(&self, runner: &Runner) -> Option<PlanError> {
        let targets: Vec<&Plan> = match &self.work {
            Work::Compare(two) => two.first().into(),
            other => other.first().into_iter().collect(),
        };
        let error = targets.into_iter().find_map(|plan| runner.reach(plan, plan.target()).err())?;
        Some(PlanError::new("url", error.message, error.help))
    }

    /// How much load it is, in words.
    pub fn load(&self) -> String {
        let each = self.work.first().map(report::load_of).unwrap_or_default();
        match &self.work {
            Work::Run(_) => each,
            Work::Sweep(climb) => climb.in_words(),
            Work::Find(search) => search.in_words(),
            Work::Compare(_) => format!("pairs of runs, each with {each}"),
        }
    }

    /// Measures, tells and saves. `told` hears of its beginning: once everything that can be wrong before the first request was looked
    /// at, and what a scenario does once before all loads is done.
    ///
    /// # Errors
    /// Why it did not begin; `told` has heard nothing then.
    pub fn carry_out(
        self,
        known: &KnownSecrets,
        runner: &Runner,
        live: &Live,
        lookout: &Lookout,
        (stop, told): (&Stop, &mpsc::Sender<Result<(), NotStarted>>),
    ) -> Result<RunEnd, NotStarted> {
        let Self { work, checks, guard, name, keeper } = self;
        let (kind, scenarios) = (work.kind(), inputs::scenarios(known));
        let Some(first) = work.first() else { return Ok(RunEnd::default()) };
        let (mut onlookers, ready) = lookout.ready(first, keeper, guard, known)?;
        let screen = Screen::new(Remarks::Talking, &lookout.known);
        let begin = |first: &Plan, onlookers: &mut Onlookers| {
            let raised = stop.clone();
            live.begin(super::begun(kind, &name, first), move || raised.raise());
            onlookers.keeper.begin(stop);
            onlookers.exports = exporting::open(ready, onlookers.keeper.id(), &name, kind.name(), Some(first), &screen);
            let _ = told.send(Ok(()));
        };
        let hidden = |error: trial::RunError| trial::RunError { message: known.conceal(error.message.marked()).into(), ..error };
        let look = |first: &Plan| look_elsewhere(first, &scenarios, runner);
        let page = (None, Some(live));
        let ended = match work {
            Work::Run(plan) => Workload::new(&plan, &scenarios, runner, stop).and_then(Workload::looked_at).map(|mut drive| {
                begin(&plan, &mut onlookers);
                let Onlookers { keeper, mut exports, eyes, probes, mut guard } = onlookers;
                let ended = Observers {
                    screen: None,
                    live: Some((live, String::new())),
                    server: Some(eyes.open_again(&plan)),
                    profiles: Some((probes.open(&plan), String::new())),
                    journal: Some((&keeper, name.clone())),
                    exports: Some((&exports, name.clone())),
                    guard: Some(&mut guard),
                    own: Vec::new(),
                }
                .carry_out(&plan, stop, |watch, stop| drive.run(watch, stop));
                exporting::close(&mut exports, &screen);
                run_saved(ended.map_err(hidden), &checks, guard.came_true(), keeper)
            }),
            Work::Sweep(climb) => {
                let mut climb = climb.promising(checks);
                let ready = climb.first().map_or(Ok(()), look).and_then(|()| climb.fit(LevelChoice::Nothing, runner));
                ready.and_then(|()| climb.begin(runner, stop)).map(|series| {
                    if let Some(first) = climb.first() {
                        begin(first, &mut onlookers);
                    }
                    let mut sweep = climb.unmeasured(&name);
                    let ended = climb.measure(&mut sweep, &mut onlookers.bench(series, page, stop), &mut |sweep, _| {
                        so_far(sweep, live, &onlookers.keeper);
                    });
                    experiment_saved(&sweep, ended.map_err(hidden), (onlookers, &screen))
                })
            }
            Work::Find(search) => {
                let ready = look(search.first()).and_then(|()| runner.prepare(search.first()).map(drop));
                ready.and_then(|()| search.begin(runner, stop)).map(|series| {
                    begin(search.first(), &mut onlookers);
                    let mut found = CapacityReport { checks, ..search.unmeasured(&name) };
                    let ended = search.measure(&mut found, &mut onlookers.bench(series, page, stop), &mut |found, _| {
                        so_far(found, live, &onlookers.keeper);
                    });
                    experiment_saved(&found, ended.map_err(hidden), (onlookers, &screen))
                })
            }
            Work::Compare(two) => {
                let ready = two.first().into_iter().try_for_each(|plan| look(plan).and_then(|()| runner.prepare(plan).map(drop)));
                ready.map(|()| {
                    begin(two.first()[0], &mut onlookers);
                    let mut comparison = two.unmeasured(&name, checks);
                    let benches = [(); 2].map(|()| onlookers.bench(Series::of(&scenarios, runner), page, stop));
                    let ended = two.measure(&mut comparison, benches, &mut |comparison, _| {
                        comparison.judge();
                        so_far(comparison, live, &onlookers.keeper);
                    });
                    comparison.judge();
                    experiment_saved(&comparison, ended.map_err(hidden), (onlookers, &screen))
                })
            }
        };
        ended.map_err(|error| not_started(&error, known))
    }
}

/// Shows and remembers what is measured so far.
fn so_far<R: Experiment>(result: &R, live: &Live, keeper: &RunSaver) {
    if !result.is_empty() {
        keeper.result_so_far(|| result.json().bytes);
        live.result(result.page().json());
    }
}

fn experiment_saved<R: Experiment>(result: &R, ended: Result<(), trial::RunError>, (onlookers, screen): (Onlookers, &Screen)) -> RunEnd {
    let Onlookers { mut keeper, mut exports, .. } = onlookers;
    exporting::close(&mut exports, screen);
    let trouble = ended.err().map(|error| error.message.spelt(Spelling::KEYS));
    keeper.load_is_over();
    if result.is_empty() {
        keeper.discard();
        return RunEnd { trouble, ..RunEnd::default() };
    }
    save(&result.json().bytes, result.page().json(), keeper, trouble)
}

fn run_saved(ended: Result<Summary, trial::RunError>, checks: &[Check], aborted_by: Option<AbortRule>, mut keeper: RunSaver) -> RunEnd {
    let (measured, trouble) = match ended {
        Ok(run) => (Some(run), None),
        Err(mut error) => (error.measured.take().map(|run| *run), Some(error.message.spelt(Spelling::KEYS))),
    };
    keeper.load_is_over();
    let Some(run) = measured else {
        keeper.discard();
        return RunEnd { trouble, ..RunEnd::default() };
    };
    let reading = Reading::new(&run, checks).aborted_by(aborted_by);
    save(&report::document::run_json(&reading), page::run(&reading).json(), keeper, trouble)
}

fn save(json: &[u8], page: &str, mut keeper: RunSaver, trouble: Option<String>) -> RunEnd {
    let id = keeper.id();
    let (saved, unsaved) = match keeper.save(json) {
        Ok(line) if !line.is_empty() => (id, None),
        Ok(_) => (None, Some("the result could not be saved; the terminal says why".to_owned())),
        Err(failed) => (None, Some(failed.to_string())),
    };
    RunEnd { page: Some(page.to_owned()), saved, trouble: trouble.or(unsaved) }
}

/// Why a test did not begin, in the keys of a plan.
pub fn not_started(error: &RunError, known: &KnownSecrets) -> NotStarted {
    let [message, help] = [&error.message, &error.help].map(|said| known.conceal(&said.spelt(Spelling::KEYS)));
    match error.kind {
        RunErrorKind::Refused => NotStarted::Refused { message, help },
        RunErrorKind::Input | RunErrorKind::Run => NotStarted::Unable { message, help },
    }
}

/// So many processes a core may be asked for from a browser: more take turns and memory from each other, and from whatever else the machine does.
const PROCESSES_A_CORE_MAX: u32 = 4;

fn too_many_processes(draft: &Draft) -> Option<PlanError> {
    let Some(Setting::Value(processes)) = draft.processes else { return None };
    let most = engine::machine::cores().get().saturating_mul(PROCESSES_A_CORE_MAX);
    (processes.get() > most).then(|| {
        let message = format!(
            "{PROCESSES:#} {processes} is more than {most}, which is {PROCESSES_A_CORE_MAX} for each core of the machine that serves"
        );
        PlanError::new(PROCESSES, message, "ask for fewer, or start the test on the command line")
    })
}

const SCENARIO_AS_TEXT: &str = "give what stands in it as scenario_text, or start the test on the command line";

/// Values of permitted settings that name files of this machine, or read from it.
fn refused_values(LoadRecord { draft, sources }: &LoadRecord) -> Vec<PlanError> {
    let mut errors = Vec::new();
    let mut refuse = |setting: &'static str, message: String, help: &str| errors.push(PlanError::new(setting, message, help));
    if draft.url.as_deref().is_some_and(is_scenario_file) {
        let message = "scenario names a file of the machine that serves, and is not taken from a browser".to_owned();
        refuse("scenario", message, SCENARIO_AS_TEXT);
    }
    let bodies = [("data", draft.data.as_deref()), ("json", draft.json.as_deref())];
    for (setting, _) in bodies.into_iter().filter(|(_, text)| text.is_some_and(|text| text.starts_with('@'))) {
        let message = format!("{setting}: @… names a file of the machine that serves, and is not taken from a browser");
        refuse(setting, message, "give the text itself");
    }
    if draft.form.iter().any(|field| field.split_once('=').is_some_and(|(_, value)| value.starts_with('@'))) {
        let message = "form: name=@… names a file of the machine that serves, and is not taken from a browser".to_owned();
        refuse("form", message, "give the value itself");
    }
    let texts = [("url", &draft.url), ("data", &draft.data), ("json", &draft.json), ("user", &draft.user), ("bearer", &draft.bearer)];
    let texts = texts.into_iter().filter_map(|(setting, text)| Some((setting, text.as_deref()?)));
    let lists = [("header", &draft.header), ("cookie", &draft.cookie), ("form", &draft.form)];
    let lists = lists.into_iter().flat_map(|(setting, texts)| texts.iter().map(move |text| (setting, text.as_str())));
    // A template with a mistake may be one half of another.
    for (setting, _) in texts.chain(lists).filter(|(_, text)| !draft.no_templates && plan::template::reads_outside(text)) {
        let message = format!("the template in {setting} names a variable or a file of the machine that serves, or holds a mistake");
        refuse(setting, message, "give the value itself, or send {{ as it is with no_templates");
    }
    errors.extend(sources.scenario_text.as_deref().map_or_else(Vec::new, resolve::mistakes_of));
    errors
}

/// What is left is looked at too, so that all mistakes are told together, and nothing that is named is touched.
fn without_refused(LoadRecord { draft, sources }: LoadRecord) -> LoadRecord {
    let is_text = |text: &String| !text.starts_with('@');
    let draft = Draft {
        // A scenario may say where; what is wrong with it has been told.
        url: draft.url.filter(|url| !is_scenario_file(url)).or_else(|| sources.scenario_text.map(|_| "http://127.0.0.1/".to_owned())),
        data: draft.data.filter(is_text),
        json: draft.json.filter(is_text),
        form: Vec::new(),
        no_templates: true,
        ..draft
    };
    // Populations are those of a scenario.
    draft.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scenario_reads_of_this_machine_is_refused_with_its_place() {
        let text = "target: http://a.test\nsteps:\n  - get: /{{env HOME}}\n  - post: /\n    body: {file: /etc/shadow}\n  - gte: /\n";
        let load: LoadRecord = serde_json::from_value(serde_json::json!({ "scenario_text": text })).unwrap();
        let refused = refused_values(&load);
        let places: Vec<&str> = refused.iter().map(|error| error.message.marked().split(": ").next().unwrap()).collect();
        assert_eq!(places, ["scenario:3:17", "scenario:5:18", "scenario:6:5"]);
        assert!(refused.iter().all(|error| error.setting == "scenario"));
    }

    #[test]
    fn values_that_name_files_or_read_this_machine_are_refused_each_by_name() {
        let draft: LoadRecord =
            serde_json::from_value(serde_json::json!({"url": "http://127.0.0.1/", "data": "@/etc/shadow", "json": "@-", "form": ["a=@/etc/shadow;type=text/plain"]}))
                .unwrap();
        let settings: Vec<&str> = refused_values(&draft).iter().map(|error| error.setting).collect();
        assert_eq!(settings, ["data", "json", "form"]);
        assert!(refused_values(&Draft { data: Some("a=@b {{uuid}}".to_owned()), ..Draft::default() }.into()).is_empty());
        let draft: LoadRecord = serde_json::from_value(serde_json::json!({
            "url": "http://127.0.0.1/{{env HOME}}", "header": ["X: {{base64 (file /etc/passwd)}}"], "cookie": ["a={{choice (env", "X)}}"],
            "form": ["a={{hmac (env KEY) x}}"],
        }))
        .unwrap();
        let settings: Vec<&str> = refused_values(&draft).iter().map(|error| error.setting).collect();
        assert_eq!(settings, ["url", "header", "cookie", "form"]);
    }
}
