//! What journeys need: the scenario that a plan names, read before the first request.
//!
//! A scenario file says where, how much and what; flags say it once more for one run. So the file's own settings are put under
//! those that were typed, in one place that all commands pass: what `run` can do with a scenario, the others can too. A command that
//! makes loads of its own says how much itself, and takes the rest from the file.

use std::cell::{Cell, OnceCell, RefCell};
use std::fs::File;
use std::io::{self, Read as _};
use std::rc::Rc;

use engine::RunError;
use import::collection::{Collection, FILE_BYTES_MAX, Wishes};
use plan::{Draft, Nanos, Plan, PlanError, PlanErrors, SCENARIO_TEXT};
use scenario::{Mistake, Reach, Ready, Scenario, Surroundings};

use crate::destinations::{Author, Destinations};
use crate::inputs::{plainly, readable};
use crate::{filling, imported, secrets};

/// A scenario is kept in memory.
const BYTES_MAX: u64 = 16 << 20;

/// Whether what stands in the place of a URL names a scenario.
pub fn is_file(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    !lower.contains("://") && (lower.ends_with(".yaml") || lower.ends_with(".yml"))
}

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

/// The file that a draft names as its scenario.
pub fn file_of(draft: &Draft) -> Option<&str> {
    draft.url.as_deref().filter(|url| is_file(url)).or(draft.scenario.as_deref())
}

/// The files that say what users do, as one command reads them: each is read once, and what was read is what all of its loads are
/// made of, whatever becomes of the file meanwhile.
#[derive(Debug, Clone, Default)]
pub struct Scenarios(Rc<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    /// How the files of other tools are read.
    wishes: Wishes,
    held: RefCell<Vec<(String, Rc<FileContent>)>>,
    /// Whether data files were typed, which are read in place of a scenario's own.
    data_typed: Cell<bool>,
    /// Ways to other servers than the user's that scenarios name, and that are left out.
    ways: RefCell<Vec<String>>,
    /// The file of another tool whose only request is a plan, without a scenario.
    single: OnceCell<(String, Rc<Collection>)>,
}

/// What a file holds.
#[derive(Debug)]
struct FileContent {
    sha256: String,
    /// Requests of another tool, or why they cannot be sent; `None` if it is a scenario, or nothing of the kind.
    requests: Option<Result<Rc<Collection>, PlanError>>,
    /// What is none of another tool's requests; until it was read as a scenario.
    bytes: RefCell<Vec<u8>>,
    scenario: OnceCell<Result<Rc<Scenario>, PlanErrors>>,
}

impl Scenarios {
    /// With what was said about the files of other tools.
    pub fn reading_with(wishes: Wishes) -> Self {
        Self(Rc::new(Shelf { wishes, ..Shelf::default() }))
    }

    /// What was said about the files of other tools.
    pub fn wishes(&self) -> &Wishes {
        &self.0.wishes
    }

    /// The requests of another tool in a file, or why they cannot be sent; `None` if it holds none, or cannot be read.
    pub fn requests(&self, path: &str) -> Option<Result<Rc<Collection>, PlanError>> {
        self.held(path).ok()?.requests.clone()
    }

    /// The scenario in a file; one that is made of the requests of another tool, if it holds these.
    ///
    /// # Errors
    /// If it cannot be read; and all its mistakes.
    pub fn read(&self, path: &str) -> Result<Rc<Scenario>, PlanErrors> {
        let held = self.held(path)?;
        held.scenario
            .get_or_init(|| {
                let read = match &held.requests {
                    Some(Ok(requests)) => {
                        let made = requests.work(path);
                        Ok(Scenario::new(made.name, made.settings, made.work))
                    }
                    Some(Err(why)) => return Err(PlanErrors(vec![why.clone()])),
                    None => {
                        let bytes = held.bytes.take();
                        if bytes.len() as u64 > BYTES_MAX {
                            return Err(unreadable(path, "it is larger than 16 MiB"));
                        }
                        let text = String::from_utf8(bytes).map_err(|_| unreadable(path, "it is not text in UTF-8"))?;
                        scenario::read_among(path, &text, &Here { own_data: !self.0.data_typed.get() })
                    }
                };
                learnt(read).map(Rc::new)
            })
            .clone()
    }

    /// What a file holds, read now or before.
    fn held(&self, path: &str) -> Result<Rc<FileContent>, PlanErrors> {
        if let Some((_, held)) = self.0.held.borrow().iter().find(|(known, _)| known == path) {
            return Ok(held.clone());
        }
        let wrong = |why: io::Error| unreadable(path, &plainly(&why));
        let file = File::open(path).map_err(wrong)?;
        if file.metadata().map_err(wrong)?.is_dir() {
            return Err(unreadable(path, "it is a directory"));
        }
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(wrong)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(unreadable(path, "it is larger than 256 MiB"));
        }
        let requests = imported::collection(path, &bytes, &self.0.wishes).map(|read| read.map(Rc::new));
        let sha256 = script::fingerprint_of(&bytes);
        // The requests of another tool are read already, and may be a large part of memory.
        let bytes = RefCell::new(if requests.is_some() { Vec::new() } else { bytes });
        let held = Rc::new(FileContent { sha256, requests, bytes, scenario: OnceCell::new() });
        self.0.held.borrow_mut().push((path.to_owned(), held.clone()));
        Ok(held)
    }

    /// The scenario in a file, or in this text.
    fn read_from(&self, path: &str, text: Option<&str>) -> Result<Rc<Scenario>, PlanErrors> {
        match text {
            // What stands in a secret's place need not be YAML.
            Some(text) => {
                learnt(scenario::read(path, text)).map(Rc::new).map_err(|mistakes| if text.contains("***") { left_out() } else { mistakes })
            }
            None => self.read(path),
        }
    }

    /// With a file of another tool whose only request is a plan.
    pub fn with_single(self, path: &str, requests: Rc<Collection>) -> Self {
        // Each command takes one such file.
        let _ = self.0.single.set((path.to_owned(), requests));
        self
    }

    /// Whether it is the only request of a file that is sent.
    pub fn are_single(&self) -> bool {
        self.0.single.get().is_some()
    }

    /// Where the requests of the file go that a plan names as its scenario or as its list of URLs, or that it was made of; `None` without
    /// any of them.
    pub fn destinations(&self, plan: &Plan) -> Option<Destinations> {
        if let Some((path, requests)) = self.0.single.get() {
            return Destinations::of_requests(&format!("'{}'", report::visible(path)), requests);
        }
        let Some(file) = plan.scenario() else { return Destinations::of_urls(plan) };
        let scenario = self.read_from(&file.path, file.text.as_deref()).ok()?;
        let author = if self.requests(&file.path).is_some() { Author::Tool } else { Author::User };
        Some(Destinations::new(&file.path, plan, &scenario, author, &self.0.wishes.also))
    }

    /// What of the scenarios that were taken is left out, since the user says where requests go.
    pub fn ways_left_out(&self) -> Vec<String> {
        self.0.ways.borrow().clone()
    }

    /// The scenario that a draft names or holds, if it can be read.
    pub fn of(&self, draft: &Draft) -> Option<Rc<Scenario>> {
        self.0.data_typed.set(!draft.data_file.is_empty());
        let text = draft.scenario_text.as_deref();
        let path = file_of(draft).or_else(|| text.map(|_| SCENARIO_TEXT))?;
        self.read_from(path, text).ok()
    }

    /// For how long a journey of this plan pauses in all; nothing without a scenario.
    pub fn thinking(&self, plan: &Plan) -> Nanos {
        let scenario = plan.scenario().and_then(|file| self.read_from(&file.path, file.text.as_deref()).ok());
        scenario.map_or(Nanos::ZERO, |scenario| scenario.thinking())
    }

    /// The settings that a draft's scenario holds; none where it has none, or one that cannot be read, which is told elsewhere.
    pub fn settings_of(&self, draft: &Draft) -> Draft {
        self.0.data_typed.set(!draft.data_file.is_empty());
        file_of(draft).and_then(|path| self.read(path).ok()).map_or_else(Draft::default, |scenario| scenario.draft.clone())
    }

    /// Reads the scenario that a draft names, puts its settings under those of the draft, and writes down what it held.
    pub fn take(&self, mut draft: Draft, own_load: OwnLoad, errors: &mut PlanErrors) -> Draft {
        if let Some(url) = draft.url.take_if(|url| is_file(url)) {
            match &draft.scenario {
                Some(other) if *other != url => errors.push(PlanError::new(
                    "scenario",
                    format!("{url} and --scenario {other} both say what users do"),
                    "leave one of them out",
                )),
                _ => draft.scenario = Some(url),
            }
        }
        self.0.data_typed.set(!draft.data_file.is_empty());
        let text = draft.scenario_text.clone();
        let Some(path) = draft.scenario.clone().or_else(|| text.as_ref().map(|_| SCENARIO_TEXT.to_owned())) else { return draft };
        let scenario = match self.read_from(&path, text.as_deref()) {
            Ok(scenario) => scenario,
            Err(mistakes) => {
                mistakes.0.into_iter().for_each(|mistake| errors.push(mistake));
                // The rest of the command line is judged as if the file had said where.
                draft.url.get_or_insert_with(|| "http://127.0.0.1/".to_owned());
                return draft;
            }
        };
        if draft.url.is_none() && scenario.draft.url.is_none() {
            let named = if text.is_some() { "the scenario".to_owned() } else { format!("the scenario {path}") };
            errors.push(PlanError::new(
                "scenario",
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
        draft.scenario_name = scenario.name.clone();
        if text.is_none()
            && let Ok(held) = self.held(&path)
        {
            if draft.scenario_sha256.as_ref().is_some_and(|saved| *saved != held.sha256) {
                errors.push(PlanError::new(
                    "scenario",
                    format!("the scenario '{path}' is not what it was when this plan was saved"),
                    format!("give it again as it is now with --scenario {path}"),
                ));
            }
            draft.scenario_sha256 = Some(held.sha256.clone());
        }
        let mut own = scenario.draft.clone();
        if draft.url.is_some() {
            // A proxy or an address of the file leads to its own server.
            let mut ways = self.0.ways.borrow_mut();
            for left in imported::leave_ways(&mut own, &draft) {
                let left = format!("'{path}' is left out: {left}");
                if !ways.contains(&left) {
                    ways.push(left);
                }
            }
        }
        own_load.of(own, &mut draft).overlaid(draft)
    }

    /// Looks variables of the environment up, and for every column and file that a plan's scenario names.
    pub fn complete(&self, plan: Plan, errors: &mut PlanErrors) -> Option<Plan> {
        let Some(file) = plan.scenario() else { return Some(plan) };
        // What is wrong with it has been told.
        let Ok(scenario) = self.read_from(&file.path, file.text.as_deref()) else { return None };
        let hidden = file.text.as_deref().map_or_else(Vec::new, scenario::hidden_in);
        let mut take = |mistakes: PlanErrors| mistakes.0.into_iter().for_each(|mistake| errors.push(mistake));
        let mut environment = Vec::new();
        let mut missing = PlanErrors::default();
        for name in scenario.work.environment() {
            match std::env::var(&name) {
                Ok(value) => environment.push((name, value)),
                Err(_) => missing.push(PlanError::new(
                    "scenario",
                    format!("the scenario names the variable {name}, which is not in the environment"),
                    format!("set it, as in {name}=… loadline …"),
                )),
            }
        }
        if !missing.is_empty() {
            take(missing);
            return None;
        }
        secrets::learn_values(environment.iter().map(|(_, value)| value.as_str()));
        let plan = match plan.with_environment(&|name| std::env::var(name).ok()) {
            Ok(plan) => {
                let given = imported::hidden(&self.0.wishes).map(str::to_owned);
                plan.with_environment_of(environment).concealing(scenario.work.secrets()).concealing(hidden).concealing(given)
            }
            Err(mistakes) => {
                take(mistakes);
                return None;
            }
        };
        match compiled(&plan, &scenario) {
            Ok(_) => Some(plan),
            Err(mistakes) => {
                take(mistakes);
                None
            }
        }
    }

    /// The journeys of a plan, ready to be gone through; `None` for a plan without a scenario.
    ///
    /// # Errors
    /// If a file that it names has gone since the plan was decided.
    pub fn ready(&self, plan: &Plan) -> Result<Option<Ready>, RunError> {
        let Some(file) = plan.scenario() else { return Ok(None) };
        let made = self.read_from(&file.path, file.text.as_deref()).and_then(|scenario| compiled(plan, &scenario));
        made.map(Some).map_err(|PlanErrors(mistakes)| {
            let errors = mistakes.into_iter().map(|mistake| RunError::input(mistake.message, mistake.help)).collect();
            RunError::together(errors).expect("there is a mistake")
        })
    }
}

fn compiled(plan: &Plan, scenario: &Scenario) -> Result<Ready, PlanErrors> {
    Ready::new(plan, scenario, &filling::open_all(plan)?)
}

fn left_out() -> PlanErrors {
    PlanErrors(vec![PlanError::new(
        "from",
        "a secret in the scenario was left out when this plan was saved, because it is a secret",
        "give the whole scenario again with --scenario",
    )])
}

fn unreadable(path: &str, why: &str) -> PlanErrors {
    let help = "give a scenario, such as the one that loadline init writes";
    PlanErrors(vec![PlanError::new("scenario", format!("the scenario '{path}' cannot be read: {why}"), help)])
}

/// This machine, as scenarios name it.
struct Here {
    /// Whether a scenario's own data files are the ones that will be read.
    own_data: bool,
}

impl Surroundings for Here {
    fn columns(&self, path: &str) -> Result<Option<Vec<String>>, Vec<(String, String)>> {
        if self.own_data { filling::columns(path).map(Some) } else { Ok(None) }
    }

    fn unreadable(&self, path: &str) -> Option<String> {
        readable(path).err()
    }

    fn is_set(&self, variable: &str) -> bool {
        std::env::var(variable).is_ok()
    }
}

/// What is wrong with a scenario that came from a browser: its mistakes, and whatever of this machine it names.
pub fn mistakes_of(text: &str) -> Vec<PlanError> {
    let mistakes = scenario::read_within(SCENARIO_TEXT, text, Reach::Itself).err().unwrap_or_default();
    mistakes.iter().map(told).collect()
}

/// As it was read; its secrets are kept out of all that is said.
fn learnt(read: Result<Scenario, Vec<Mistake>>) -> Result<Scenario, PlanErrors> {
    let scenario = read.map_err(|mistakes| PlanErrors(mistakes.iter().map(told).collect()))?;
    let hidden: Vec<String> = scenario.work.secrets().collect();
    secrets::learn_values(hidden.iter().map(String::as_str));
    Ok(scenario)
}

fn told(mistake: &Mistake) -> PlanError {
    PlanError::new("scenario", mistake.said(), mistake.help.clone())
}
