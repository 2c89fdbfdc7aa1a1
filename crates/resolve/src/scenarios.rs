//! What journeys need: the scenario that a load names, or the requests of another tool, read before the first request.
//!
//! A scenario file says where, how much and what; flags say it once more for one run. So the file's own settings are put under those that
//! were typed ([`crate::load`]), in one place that all commands pass: what `run` can do with a scenario, the others can too.
//!
//! Invariant: each file is read once, and what was read is what all loads of a command are made of, whatever becomes of it meanwhile.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use engine::RunError;
use import::collection::{Collection, FILE_BYTES_MAX, Import, Wishes};
use plan::setting::{DATA_FILE, SCENARIO};
use plan::work::Notes;
use plan::{Draft, LoadRecord, Nanos, Plan, PlanError, PlanErrors, RowsAt, SCENARIO_TEXT, plainly};
use scenario::{Mistake, Reach, Scenario, Surroundings};
use template::{Data, DataError};

use crate::{Reader, collection, fingerprint};

/// A scenario is kept in memory.
const BYTES_MAX: u64 = 16 << 20;

/// Whether what stands in the place of a URL names a scenario.
#[must_use]
pub fn is_scenario_file(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    !lower.contains("://") && (lower.ends_with(".yaml") || lower.ends_with(".yml"))
}

/// What was made of another tool's file, as a scenario.
#[must_use]
pub fn scenario_of(made: Import) -> Scenario {
    let Import { name, settings, work, populations, files, left_out: _ } = made;
    Scenario { populations, files, ..Scenario::new(name, settings, work) }
}

/// The file that a draft names as its scenario.
#[must_use]
pub fn file_of(draft: &Draft) -> Option<&str> {
    draft.url.as_deref().filter(|url| is_scenario_file(url)).or(draft.scenario.as_deref())
}

/// The files that say what users do, as one command reads them. Copies share them.
#[derive(Debug, Clone)]
pub struct Scenarios(Rc<Shelf>);

#[derive(Debug)]
struct Shelf {
    reader: Rc<Reader>,
    /// How the files of other tools are read.
    wishes: Wishes,
    held: RefCell<Vec<(String, Rc<Held>)>>,
    /// Whether data files were typed, which are read in place of a scenario's own.
    data_typed: Cell<bool>,
    /// Ways to other servers than the user's that scenarios name, and that are left out.
    ways: RefCell<Vec<String>>,
    /// The file of another tool whose only request is a plan, without a scenario.
    single: OnceCell<(String, Rc<Collection>)>,
}

/// What a file holds.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) sha256: String,
    /// Requests of another tool, or why they cannot be sent; `None` if it is a scenario, or nothing of the kind.
    requests: Option<Result<Rc<Collection>, PlanError>>,
    /// What is none of another tool's requests.
    bytes: Arc<[u8]>,
    scenario: OnceCell<Result<Rc<Scenario>, PlanErrors>>,
    /// The scenario as a file would say it.
    text: OnceCell<Arc<[u8]>>,
}

impl Held {
    /// The scenario as text: the file itself, or the requests of another tool as a file would say them.
    pub(crate) fn text(&self) -> Arc<[u8]> {
        let made = || match self.scenario.get() {
            Some(Ok(scenario)) if self.requests.is_some() => scenario::print(scenario, &Notes::default()).into_bytes().into(),
            _ => self.bytes.clone(),
        };
        self.text.get_or_init(made).clone()
    }
}

impl Scenarios {
    /// As this reader finds them, with what was said about the files of other tools.
    #[must_use]
    pub fn new(reader: &Rc<Reader>, wishes: Wishes) -> Self {
        let (held, data_typed, ways, single) = Default::default();
        Self(Rc::new(Shelf { reader: reader.clone(), wishes, held, data_typed, ways, single }))
    }

    /// What reads them.
    #[must_use]
    pub fn reader(&self) -> &Rc<Reader> {
        &self.0.reader
    }

    /// What was said about the files of other tools.
    #[must_use]
    pub fn wishes(&self) -> &Wishes {
        &self.0.wishes
    }

    /// The requests of another tool in a file, or why they cannot be sent; `None` if it holds none, or cannot be read.
    #[must_use]
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
                    Some(Ok(requests)) => Ok(scenario_of(requests.work(path))),
                    Some(Err(why)) => return Err(PlanErrors(vec![why.clone()])),
                    None => {
                        if held.bytes.len() as u64 > BYTES_MAX {
                            return Err(unreadable(path, "it is larger than 16 MiB"));
                        }
                        let text = std::str::from_utf8(&held.bytes).map_err(|_| unreadable(path, "it is not text in UTF-8"))?;
                        scenario::read_among(path, text, &Here { reader: &self.0.reader, own_data: !self.0.data_typed.get() })
                    }
                };
                self.learnt(read).map(Rc::new)
            })
            .clone()
    }

    /// What a file holds, read now or before.
    pub(crate) fn held(&self, path: &str) -> Result<Rc<Held>, PlanErrors> {
        if let Some((_, held)) = self.0.held.borrow().iter().find(|(known, _)| known == path) {
            return Ok(held.clone());
        }
        let Shelf { reader, wishes, .. } = &*self.0;
        if let Some(why) = reader.unreadable(path) {
            return Err(unreadable(path, &why));
        }
        // Those of other tools are large, and what they say is kept by itself.
        let bytes = reader.inputs().read(path, FILE_BYTES_MAX).map_err(|why| unreadable(path, &plainly(&why)))?;
        let requests = collection(path, &bytes, wishes, reader).map(|read| read.map(Rc::new));
        let sha256 = fingerprint(&bytes);
        let bytes = if requests.is_some() { Arc::default() } else { Arc::from(bytes) };
        let held = Rc::new(Held { sha256, requests, bytes, scenario: OnceCell::new(), text: OnceCell::new() });
        self.0.held.borrow_mut().push((path.to_owned(), held.clone()));
        Ok(held)
    }

    /// The scenario in a file, or in this text.
    pub(crate) fn read_from(&self, path: &str, text: Option<&str>) -> Result<Rc<Scenario>, PlanErrors> {
        match text {
            // What stands in a secret's place need not be YAML.
            Some(text) => self
                .learnt(scenario::read(path, text))
                .map(Rc::new)
                .map_err(|mistakes| if text.contains("***") { left_out() } else { mistakes }),
            None => self.read(path),
        }
    }

    /// With a file of another tool whose only request is a plan.
    #[must_use]
    pub fn with_single(self, path: &str, requests: Rc<Collection>) -> Self {
        // Each command takes one such file.
        let _ = self.0.single.set((path.to_owned(), requests));
        self
    }

    /// The file of another tool whose only request is sent, and that request.
    #[must_use]
    pub fn single(&self) -> Option<(&str, &Collection)> {
        self.0.single.get().map(|(path, requests)| (path.as_str(), &**requests))
    }

    /// What of the scenarios that were taken is left out, since the user says where requests go.
    #[must_use]
    pub fn ways_left_out(&self) -> Vec<String> {
        self.0.ways.borrow().clone()
    }

    pub(crate) fn leave_out(&self, way: String) {
        let mut ways = self.0.ways.borrow_mut();
        if !ways.contains(&way) {
            ways.push(way);
        }
    }

    /// Whether data files were typed, which are read in place of a scenario's own.
    pub(crate) fn look_for_data(&self, draft: &Draft) {
        self.0.data_typed.set(!draft.data_file.is_empty());
    }

    /// The scenario that a load names or holds, if it can be read.
    #[must_use]
    pub fn of(&self, load: &LoadRecord) -> Option<Rc<Scenario>> {
        self.look_for_data(&load.draft);
        let text = load.sources.scenario_text.as_deref();
        let path = file_of(&load.draft).or_else(|| text.map(|_| SCENARIO_TEXT))?;
        self.read_from(path, text).ok()
    }

    /// The scenario of a plan, if it has one that can be read.
    #[must_use]
    pub fn of_plan(&self, plan: &Plan) -> Option<Rc<Scenario>> {
        plan.scenario().and_then(|file| self.read_from(&file.path, file.text.as_deref()).ok())
    }

    /// For how long a journey of this plan pauses in all; nothing without a scenario.
    #[must_use]
    pub fn thinking(&self, plan: &Plan) -> Nanos {
        self.of_plan(plan).map_or(Nanos::ZERO, |scenario| scenario.thinking())
    }

    /// What the scenario that a load names or holds says of the load; nothing where it has none, or one that cannot be read, which is told
    /// elsewhere.
    #[must_use]
    pub fn own_load(&self, load: &LoadRecord) -> LoadRecord {
        self.of(load).map_or_else(LoadRecord::default, |scenario| scenario.load())
    }

    /// The journeys of a plan, ready to be gone through; `None` for a plan without a scenario.
    ///
    /// # Errors
    /// If the scenario or its rows are not what they were when the plan was decided.
    pub fn journeys(&self, plan: &Plan) -> Result<Option<scenario::Ready>, RunError> {
        let Some(file) = plan.scenario() else { return Ok(None) };
        let made = self.read_from(&file.path, file.text.as_deref()).and_then(|scenario| self.compiled(plan, &scenario));
        made.map(Some).map_err(as_run_error)
    }

    /// The requests of a plan that differ, ready to be sent; `None` for a plan whose requests do not.
    ///
    /// # Errors
    /// If a data file cannot be read any more.
    pub fn requests_of(&self, plan: &Plan) -> Result<Option<template::Ready>, RunError> {
        if plan.is_filled_in() { self.always_requests_of(plan).map(Some) } else { Ok(None) }
    }

    /// The requests of any plan without a scenario or a script, whether or not they differ.
    ///
    /// # Errors
    /// If a data file cannot be read any more.
    pub fn always_requests_of(&self, plan: &Plan) -> Result<template::Ready, RunError> {
        self.rows_of(plan).and_then(|rows| template::Ready::new(plan, &rows)).map_err(as_run_error)
    }

    /// What is wrong with the columns, files and rows that a plan's work names.
    pub(crate) fn look_at_work(&self, plan: &Plan) -> Result<(), PlanErrors> {
        match plan.scenario() {
            Some(file) => {
                let scenario = self.read_from(&file.path, file.text.as_deref())?;
                self.compiled(plan, &scenario).map(drop)
            }
            // A list that could not be read has been told.
            None if !plan.is_filled_in() || plan.variation().mix.as_ref().is_some_and(|mix| mix.routes.is_empty()) => Ok(()),
            None => self.rows_of(plan).and_then(|rows| template::Ready::new(plan, &rows)).map(drop),
        }
    }

    fn compiled(&self, plan: &Plan, scenario: &Scenario) -> Result<scenario::Ready, PlanErrors> {
        scenario::Ready::new(plan, scenario, &self.rows_of(plan)?)
    }

    /// The data files of a plan, in its order.
    fn rows_of(&self, plan: &Plan) -> Result<Vec<Arc<Data>>, PlanErrors> {
        let (mut errors, mut rows) = (PlanErrors::default(), Vec::new());
        for file in &plan.variation().files {
            match self.0.reader.data(file) {
                Ok(data) => rows.push(data),
                Err(mistakes) => {
                    mistakes.into_iter().for_each(|DataError { message, help }| errors.push(PlanError::new(DATA_FILE, message, help)));
                }
            }
        }
        if errors.is_empty() { Ok(rows) } else { Err(errors) }
    }

    /// As it was read; its secrets are kept out of all that is said.
    fn learnt(&self, read: Result<Scenario, Vec<Mistake>>) -> Result<Scenario, PlanErrors> {
        let scenario = read.map_err(|mistakes| PlanErrors(mistakes.iter().map(told).collect()))?;
        let hidden: Vec<String> = scenario.work.secrets().collect();
        self.0.reader.secrets().learn_values(hidden.iter().map(String::as_str));
        Ok(scenario)
    }
}

fn as_run_error(PlanErrors(mistakes): PlanErrors) -> RunError {
    let errors = mistakes.into_iter().map(|mistake| RunError::input(mistake.message, mistake.help)).collect();
    RunError::together(errors).expect("there is a mistake")
}

fn left_out() -> PlanErrors {
    PlanErrors(vec![PlanError::new(
        "from",
        "a secret in the scenario was left out when this plan was saved, because it is a secret",
        format!("give the whole scenario again with {SCENARIO}"),
    )])
}

fn unreadable(path: &str, why: &str) -> PlanErrors {
    let help = "give a scenario, such as the one that loadline init writes";
    PlanErrors(vec![PlanError::new(SCENARIO, format!("the scenario '{path}' cannot be read: {why}"), help)])
}

/// This machine, as scenarios name it.
struct Here<'a> {
    reader: &'a Reader,
    /// Whether a scenario's own data files are the ones that will be read.
    own_data: bool,
}

impl Surroundings for Here<'_> {
    fn columns(&self, rows: RowsAt<'_>) -> Result<Option<Vec<String>>, Vec<(String, String)>> {
        if !self.own_data {
            return Ok(None);
        }
        let told = |DataError { message, help }| (message, help);
        let data = self.reader.data(rows).map_err(|mistakes| mistakes.into_iter().map(told).collect::<Vec<_>>())?;
        Ok(Some(data.columns().to_vec()))
    }

    fn unreadable(&self, path: &str) -> Option<String> {
        self.reader.unreadable(path)
    }

    fn is_set(&self, variable: &str) -> bool {
        self.reader.inputs().variable(variable).is_some()
    }
}

/// What is wrong with a scenario that came from a browser: its mistakes, and whatever of this machine it names.
#[must_use]
pub fn mistakes_of(text: &str) -> Vec<PlanError> {
    let mistakes = scenario::read_within(SCENARIO_TEXT, text, Reach::Itself).err().unwrap_or_default();
    mistakes.iter().map(told).collect()
}

fn told(mistake: &Mistake) -> PlanError {
    PlanError::new(SCENARIO, mistake.said(), mistake.help.clone())
}
