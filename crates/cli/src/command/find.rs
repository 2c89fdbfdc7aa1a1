//! `loadline find URL --slo 'p99 < 50ms'`: the highest rate that keeps a promise, as an interval, with every trial behind it.
//!
//! What to try next is decided in [`analysis::search`]; here its trials are run on the real server, and it is watched until
//! it has recovered. A search takes minutes, and anything may end it: so every trial is printed and saved as soon as it is
//! measured, and whatever ends the search, what is known by then is said.

use analysis::found::{CapacityReport, RateUnit};
use analysis::gate::{Check, Slo};
use analysis::quantity::{four_digits, percent};
use analysis::search::{Cap, LimitedBy, Mistake, Search, Settings as SearchSettings};
use analysis::{Level, LevelRow, StopRule, ceiling, search_words};
use clap::{ArgAction, Args};
use engine::{RunError, Runner, Stop};
use experiment::find::{Event, Loads, OngoingSearch};
use history::Kind;
use plan::setting::{BUDGET, DURATION, PAUSE, QUICK, RATE, RATE_MAX, REQUESTS, SLO, STREAM, SettingName, TIMEOUT, TOKENS};
use plan::{Draft, LoadRecord, Nanos, Plan, PlanError, PlanErrors, PopulationDraft, SearchDraft, Setting, Sources};
use report::find::table;
use report::sweep::table as levels;
use report::{Experiment as _, Style};
use resolve::{KnownSecrets, Scenarios};

use crate::bench::ServerBench;
use crate::exit::{self, Exit, Failed};
use crate::files::Filing;
use crate::imported::{ImportedLoad, Importing};
use crate::measuring::MeasuringArgs;
use crate::outputs::out_help;
use crate::proceedings::{Proceedings, Writing};
use crate::workload::Series;
use crate::{calibration, inputs, name};

/// A promise to keep, and where the results go.
#[derive(Debug, Args)]
#[command(mut_arg("out", |arg| arg.help(out_help(CapacityReport::FORMATS))))]
pub struct Find {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    importing: Importing,

    /// A promise to keep: a percentile of response time such as 'p99 < 50ms', of answers that stream 'first_event p95 < 800ms', or 'failed < 0.1%' (repeatable)
    #[arg(long, value_name = "PROMISE", action = ArgAction::Append, help_heading = "Search")]
    slo: Vec<String>,

    #[command(flatten)]
    search: SearchDraft,

    #[command(flatten)]
    filing: Filing,

    #[command(flatten)]
    measuring: MeasuringArgs,
}

/// More than any generator of one machine sends: without a cap of the user the generator's own health decides.
const RATE_MAX_DEFAULT: f64 = 2_000_000.0;
/// Waiting longer than this for answers to an overload would use up the budget; `--timeout` overrides it.
const TIMEOUT_DEFAULT: Nanos = Nanos::from_secs(10);
/// Searches, and says what it found.
pub fn carry_out(find: Find, known: &KnownSecrets) -> Result<Exit, Failed> {
    let Find { draft, importing, slo, search, filing, measuring } = find;
    let (mut errors, voice) = (PlanErrors::default(), measuring.voice());
    let importing = importing.at_rates();
    let ImportedLoad { load, scenarios, left_out } = importing.take(draft, None, (known, voice), &mut errors);
    let runner = measuring.agents.runner(&load.draft, scenarios.reader(), &mut errors)?;
    let scenario = scenarios.of(&load);
    let name = filing.name_or(|| name::of_draft(&load.draft, scenario.as_deref(), "find"));
    let search = CapacitySearch::decide(load, (&slo, search), scenarios, &mut errors);
    let files = filing.files(&name, CapacityReport::ENDINGS, &mut errors);
    let outs = filing.renderings(CapacityReport::FORMATS, &mut errors);
    let mut measuring = measuring.decide((Kind::Find, &name), scenario.as_deref(), known, &mut errors);
    let Some(search) = search.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    let first = &search.first;
    importing.look([(first, &search.scenarios)], &left_out, (known, voice))?;
    runner.prepare(first)?;
    measuring.eyes.check(first).and_then(|()| measuring.probes.check(first))?;

    let (stop, screen) = measuring.begin("find", known)?;
    measuring.probes.doubts().iter().for_each(|doubt| screen.say(doubt));
    if search.thinking > Nanos::ZERO {
        screen
            .say(&format!("a journey pauses for about {} in all: each trial is loaded for that time before it measures", search.thinking));
    }
    let series = search.begin(&runner, &stop)?;
    let mut found = CapacityReport { checks: std::mem::take(&mut measuring.checks), ..search.unmeasured(files.name()) };
    let around = Proceedings::begin((files, outs), measuring, ("find", Some(first)), (screen, stop));
    let mut bench = around.bench(series);
    let mut writing = around.writing();
    let style = around.style();
    let ended = search.measure(&mut found, &mut bench, &mut |found, event| tell(&mut writing, found, &event, &style));
    let written = writing.done();
    let is_aborted = found.stopped.as_ref().is_some_and(|it| it.rule == StopRule::Aborted);
    let exit = if is_aborted { Exit::CheckFailed } else { verdict(&found) };
    // What could not be begun has nothing to say.
    let text = if ended.is_err() && found.stopped.is_none() && found.is_empty() {
        String::new()
    } else {
        report::find::conclusion(&found, style.width)
    };
    around.end(written, &found, &text, ended.map_err(Failed::from), exit)
}

/// A search, decided.
#[derive(Debug)]
pub struct CapacitySearch {
    /// What all its loads are made from.
    load: LoadRecord,
    scenarios: Scenarios,
    slos: Vec<Slo>,
    search: Search,
    settings: SearchSettings,
    /// The first trial, for whatever is the same in all of them.
    first: Plan,
    /// For how long a journey pauses in all.
    thinking: Nanos,
}

impl CapacitySearch {
    /// Decides everything that is the same in every trial. Every mistake goes to `errors`.
    pub fn decide(
        load: LoadRecord,
        (slo, search): (&[String], SearchDraft),
        scenarios: Scenarios,
        errors: &mut PlanErrors,
    ) -> Option<Self> {
        let slos = promised(slo, errors);
        let preset = match (search.quick, search.publish) {
            (true, _) => Preset::Quick,
            (false, true) => Preset::Publish,
            (false, false) => Preset::Usual,
        };
        let settings = settings(&slos, preset, search, &load.draft, errors);
        let draft = common(load.draft.clone(), scenarios.own_load(&load).draft, &slos, &settings, errors);
        let load = LoadRecord { draft: draft.clone(), ..load };
        let decide = |draft, alone| decided(&load, draft, alone, &scenarios);
        let is_scenario = resolve::file_of(&draft).is_some() || load.sources.scenario_text.is_some();
        let thinking = |plan: &Plan| scenarios.thinking(plan);
        let loads = Loads::new(draft, &decide, is_scenario, &thinking, &settings);
        let loads = loads.map_err(|PlanErrors(mut mistakes)| errors.0.append(&mut mistakes));
        let search = Search::new(settings.clone()).map_err(|mistakes| {
            // A promise that cannot be read has been complained of, and is missing here for no other reason.
            let mistakes = mistakes.iter().filter(|it| **it != Mistake::NoPromise || slo.is_empty());
            mistakes.for_each(|mistake| errors.push(refused(mistake, preset)));
        });
        let (Ok(loads), Ok(search)) = (loads, search) else { return None };
        for slo in slos.iter().filter(|slo| slo.is_of_events()) {
            if loads.first().stream().is_none() {
                let why = format!("{SLO:#} '{slo}' is about answers that stream");
                errors.push(PlanError::new(SLO, why, format!("add {STREAM:#} auto")));
            } else if slo.is_of_tokens() && loads.first().tokens().is_none() {
                let why = format!("{SLO:#} '{slo}' is about tokens, and each event is one here");
                errors.push(PlanError::new(SLO, why, format!("add {TOKENS:#} words or {TOKENS:#} usage")));
            }
        }
        let (first, thinking) = (loads.first().clone(), loads.thinking());
        Some(Self { load, scenarios, slos, search, settings, first, thinking })
    }

    /// The first trial.
    pub const fn first(&self) -> &Plan {
        &self.first
    }

    /// How much load it is, in words.
    pub fn in_words(&self) -> String {
        let promises: Vec<String> = self.slos.iter().map(|slo| slo.promise().text).collect();
        let lasting = Nanos::from_secs(self.settings.budget_s.round() as u64);
        format!("a search for the highest rate that keeps {}, for at most {lasting}", promises.join(" and "))
    }

    /// Does what a scenario does once before all trials.
    ///
    /// # Errors
    /// If it fails, or a file has gone.
    pub fn begin(&self, runner: &Runner, stop: &Stop) -> Result<Series, RunError> {
        Series::begin(&self.first, &self.scenarios, runner, stop)
    }

    /// A search of which nothing is measured yet.
    pub fn unmeasured(&self, name: &str) -> CapacityReport {
        let rated = if self.is_scenario() { RateUnit::Journeys } else { RateUnit::Requests };
        CapacityReport { rated, ..CapacityReport::new(name.to_owned(), &self.slos, self.settings.clone(), self.search.answer()) }
    }

    fn is_scenario(&self) -> bool {
        self.first.scenario().is_some()
    }

    /// Measures trial by trial on this bench.
    ///
    /// # Errors
    /// If a trial cannot be carried out; what was measured is in `found`.
    pub fn measure(
        self,
        found: &mut CapacityReport,
        bench: &mut ServerBench<'_>,
        tell: &mut dyn FnMut(&CapacityReport, Event),
    ) -> Result<(), trial::RunError> {
        let Self { load, scenarios, slos, search, settings, first, .. } = self;
        let decide = |draft, alone| decided(&load, draft, alone, &scenarios);
        let known = |plan: &Plan, answer: &_| calibration::kept()?.ceiling_for(plan, answer);
        let is_profiled = !bench.probes.is_empty();
        let ended = Loads::new(load.draft.clone(), &decide, first.scenario().is_some(), &|plan| scenarios.thinking(plan), &settings)
            .map_err(|mistakes| trial::RunError::input(mistakes.wording(), "repeat the search"))
            .and_then(|loads| OngoingSearch::begin(loads, slos, (search, found), &known, is_profiled, bench, tell))
            .and_then(|course| course.carry_out(found, bench, tell));
        if let Some(why) = bench.series.end() {
            if let Some(screen) = bench.screen {
                screen.say(&why);
            }
            found.warnings.push(why);
        }
        ended
    }
}

/// The plan of one load of a search, with a population in the place of all that its scenario has, where one is given.
fn decided(load: &LoadRecord, draft: Draft, alone: Option<PopulationDraft>, scenarios: &Scenarios) -> Result<Plan, PlanErrors> {
    let sources = load.sources.clone();
    let populations = alone.map_or_else(|| sources.populations.clone(), |one| vec![one]);
    inputs::decided(LoadRecord { draft, sources: Sources { populations, ..sources } }, scenarios)
}

/// A row for each trial, and the result after each step.
fn tell(writing: &mut Writing<'_, CapacityReport>, found: &CapacityReport, event: &Event, style: &Style) {
    let row_of = |level: Level, runs: &[&measure::Summary]| levels::row(&LevelRow::new(level, runs, &[]), style) + "\n";
    match event {
        Event::BelowTheCeiling(rate_max) => writing.say(&format!(
            "\n  At most {}/s, {} % of what this machine was seen to send (loadline calibrate).\n",
            four_digits(rate_max.round()),
            ceiling::SHARE_MAX * 100.0
        )),
        Event::Begin => writing.say(&format!("\n{}\n", table::header(found, style))),
        Event::Measured | Event::Rested => {
            if let (Event::Measured, Some(trial)) = (event, found.trials.last()) {
                writing.say(&(table::row(found, trial, style) + "\n"));
            }
            // The result alone: charts take time, and the next trial waits.
            if !found.is_empty() {
                writing.so_far(found, &[found.json()]);
            }
        }
        Event::Profiles(at) => {
            let named: Vec<String> = at.iter().map(|level| format!("{}/s", four_digits(level.value()))).collect();
            let counted = found.trials.first().map(|trial| levels::CountUnit::of_plan(&trial.summary.plan)).unwrap_or_default();
            let heads = at.last().map(|level| levels::header(*level, counted, style)).unwrap_or_default();
            writing.say(&format!("\n  Profiles of the server at {}\n{heads}\n", named.join(" and ")));
        }
        Event::NoProfile => writing.say("\n  No profile was taken: no rate was found.\n"),
        Event::Profiled => {
            let row = found.profiled.last().map(|trial| row_of(trial.level, &[&trial.summary]));
            writing.say(&row.unwrap_or_default());
        }
    }
}

/// The promises that can be read and searched with. Every mistake goes to `errors`.
fn promised(texts: &[String], errors: &mut PlanErrors) -> Vec<Slo> {
    let usual = format!("such as {SLO:#} 'p99 < 50ms' {SLO:#} 'failed < 0.1%'");
    let mut slos: Vec<Slo> = Vec::new();
    for text in texts {
        let check: Check = match text.parse() {
            Ok(check) => check,
            Err(why) => {
                errors.push(PlanError::new(SLO, format!("{SLO}: {why}"), format!("promise a limit, {usual}")));
                continue;
            }
        };
        match Slo::try_from(check) {
            Err(why) => errors.push(PlanError::new(SLO, format!("{SLO:#} {why}"), why.help.clone())),
            Ok(slo) => match slos.iter().find(|other| other.promise().name == slo.promise().name) {
                Some(other) => errors.push(PlanError::new(
                    SLO,
                    format!("{SLO:#} '{other}' and {SLO:#} '{slo}' promise two things of {}", slo.promise().name),
                    "keep the one that matters",
                )),
                None => slos.push(slo),
            },
        }
    }
    contradictions(&slos, errors);
    // A request that failed misses every promise. Where failures are what breaks a server, they are to be named, and not
    // the time at which they were given up; so their share is looked at first.
    slos.sort_by_key(|slo| slo.limit().is_some());
    slos
}

/// Promises that another one takes back: each was meant to say something, and cannot.
fn contradictions(slos: &[Slo], errors: &mut PlanErrors) {
    for slo in slos {
        for other in slos {
            let (promise, stricter) = (slo.promise(), other.promise());
            match (slo.limit(), other.limit()) {
                (Some(limit), Some(shorter))
                    if slo.is_of_time_of(other) && promise.bad_share_max > stricter.bad_share_max && limit >= shorter =>
                {
                    errors.push(PlanError::new(
                        SLO,
                        format!("{SLO:#} '{slo}' promises nothing: {SLO:#} '{other}' asks more requests to take no longer"),
                        format!("promise {} a time shorter than {shorter}, or leave it out", promise.name),
                    ));
                }
                (None, Some(_)) if promise.bad_share_max > stricter.bad_share_max => errors.push(PlanError::new(
                    SLO,
                    format!(
                        "{SLO:#} '{slo}' and {SLO:#} '{other}' contradict each other: a request that failed is late for every percentile"
                    ),
                    format!(
                        "promise that no more than {} % fail, or give a lower percentile than {}",
                        percent(stricter.bad_share_max * 100.0),
                        stricter.name
                    ),
                )),
                _ => {}
            }
        }
    }
}

/// Which of the usual searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preset {
    Quick,
    Usual,
    Publish,
}

fn settings(slos: &[Slo], preset: Preset, search: SearchDraft, draft: &Draft, errors: &mut PlanErrors) -> SearchSettings {
    let mut value = |setting: SettingName, text: String, why: &str, help: String| {
        errors.push(PlanError::new(setting, format!("{setting:#} '{text}' {why}"), help));
    };
    let rate_max = match search.rate_max {
        Some(Setting::Value(rate)) if rate.as_per_second() > 0.0 => Some(rate.as_per_second()),
        Some(Setting::Value(rate)) => {
            value(RATE_MAX, rate.to_string(), "sends nothing", format!("give a rate above 0, such as {RATE_MAX:#} 2000/s"));
            None
        }
        Some(Setting::Wrong { text, why }) => {
            value(RATE_MAX, text, &why, format!("give a rate, such as {RATE_MAX:#} 2000/s"));
            None
        }
        None => None,
    };
    let seed = match draft.seed {
        Some(Setting::Value(seed)) => seed,
        _ => 1,
    };
    let settings = SearchSettings::new(slos.iter().map(Slo::promise).collect(), rate_max.unwrap_or(RATE_MAX_DEFAULT), seed);
    let settings = match preset {
        Preset::Quick => settings.quick(),
        Preset::Usual => settings,
        Preset::Publish => settings.publish(),
    };
    let settings = match search.budget {
        Some(Setting::Value(budget)) if budget > Nanos::ZERO => settings.within(budget.as_secs_f64()),
        Some(Setting::Value(_)) => {
            value(BUDGET, "0s".to_owned(), "is no time to search in", format!("give a time, such as {BUDGET:#} 3m"));
            settings
        }
        Some(Setting::Wrong { text, why }) => {
            value(BUDGET, text, &why, format!("give a time, such as {BUDGET:#} 3m"));
            settings
        }
        None => settings,
    };
    SearchSettings { rate_max_by: if rate_max.is_some() { Cap::User } else { Cap::Generator }, ..settings }
}

/// A mistake of a search as one of the command line.
fn refused(mistake: &Mistake, preset: Preset) -> PlanError {
    let message = search_words::mistake(mistake);
    match mistake {
        Mistake::NoPromise => PlanError::new(
            SLO,
            "no promise is given, and without one every rate is carried",
            format!("say what users need, such as {SLO:#} 'p99 < 50ms' {SLO:#} 'failed < 0.1%'"),
        ),
        Mistake::Share { .. } => PlanError::new(SLO, message, "promise a smaller share, such as failed < 0.1%"),
        Mistake::Rates { .. } | Mistake::Ratios { .. } => {
            PlanError::new(RATE_MAX, message, format!("give a higher {RATE_MAX}, such as 2000/s"))
        }
        Mistake::BudgetTooShort { needed_s, .. } => {
            let needed = Nanos::from_secs(needed_s.ceil() as u64);
            let sooner = match preset {
                Preset::Quick => String::new(),
                Preset::Usual | Preset::Publish => format!(", or {QUICK} for an answer to 5 %"),
            };
            PlanError::new(BUDGET, message, format!("give at least {BUDGET:#} {needed}{sooner}"))
        }
    }
}

/// What all trials have in common; `own` is what their scenario says. Every mistake goes to `errors`.
fn common(mut draft: Draft, own: Draft, slos: &[Slo], settings: &SearchSettings, errors: &mut PlanErrors) -> Draft {
    let mut without = |setting: SettingName, given: Option<String>, why: &str, help: String| {
        if let Some(given) = given {
            errors.push(PlanError::new(setting, format!("{setting:#} {given} {why}"), help));
        }
    };
    let text = |given: &dyn std::fmt::Display| given.to_string();
    without(
        RATE,
        draft.rate.take().as_ref().map(|it| text(it)),
        "is one load, and a search finds the highest",
        format!("leave it out, cap the search with {RATE_MAX}, or measure that one rate with loadline run"),
    );
    without(
        DURATION,
        draft.duration.take().as_ref().map(|it| text(it)),
        "is the time of one load, and a search chooses it",
        format!("say how long all of it may take, with {BUDGET}"),
    );
    without(
        REQUESTS,
        draft.requests.take().as_ref().map(|it| text(it)),
        "is for one load, and a search chooses how many",
        format!("say how long all of it may take, with {BUDGET}"),
    );
    without(
        PAUSE,
        draft.pause.take().as_ref().map(|it| text(it)),
        "is for users who wait for their answers, and a search sends at a rate",
        "leave it out".to_owned(),
    );
    draft.timeout = draft.timeout.or(own.timeout);
    draft.warmup = draft.warmup.or(own.warmup);
    let longest = slos.iter().filter_map(|slo| slo.limit().map(|limit| (limit, slo))).max_by_key(|(limit, _)| *limit);
    match (&draft.timeout, longest) {
        (Some(Setting::Value(timeout)), Some((limit, slo))) if limit >= *timeout => errors.push(PlanError::new(
            SLO,
            format!("{SLO:#} '{slo}' cannot be seen to break: with {TIMEOUT:#} {timeout} requests are given up before"),
            format!("give a longer {TIMEOUT}, such as {}", Nanos(limit.0.saturating_mul(2))),
        )),
        (None, longest) => {
            // A queue as long as the overload is answered to its end, so that no server goes on with what nobody waits for.
            let overload = Nanos((settings.overload_s * 2.0 * 1e9) as u64);
            let limit = longest.map_or(Nanos::ZERO, |(limit, _)| Nanos(limit.0.saturating_mul(2)));
            draft.timeout = Some(Setting::Value(TIMEOUT_DEFAULT.max(limit).max(overload)));
        }
        _ => {}
    }
    inputs::read(&mut draft, errors);
    draft
}

/// What a script is told: by the search, and where that has an answer by the checks.
fn verdict(found: &CapacityReport) -> Exit {
    match (found.answer.carries, found.answer.limited_by) {
        (_, LimitedBy::Generator | LimitedBy::Invalid | LimitedBy::Budget) => Exit::NotTrustworthy,
        (Some(_), LimitedBy::Promise(_) | LimitedBy::RateMax) => exit::checked(&found.judged()),
        (None, _) if found.answer.capacity.low <= 0.0 => Exit::CheckFailed,
        (None, _) => Exit::NotTrustworthy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::search::{Answer, Capacity};

    fn found(carries: Option<f64>, limited_by: LimitedBy) -> CapacityReport {
        let slos = [Slo::try_from("p99 < 50ms".parse::<Check>().unwrap()).unwrap()];
        let settings = SearchSettings::new(slos.iter().map(Slo::promise).collect(), RATE_MAX_DEFAULT, 1);
        let capacity = Capacity { low: carries.unwrap_or(0.0), high: None };
        let answer = Answer { carries, limited_by, capacity, ..Search::new(settings.clone()).unwrap().answer() };
        CapacityReport::new("x".to_owned(), &slos, settings, answer)
    }

    #[test]
    fn a_number_that_cannot_be_relied_on_does_not_end_with_zero() {
        for (carries, limited_by, exit) in [
            (Some(812.0), LimitedBy::Promise(0), Exit::Done),
            (Some(812.0), LimitedBy::RateMax, Exit::Done),
            (Some(812.0), LimitedBy::Generator, Exit::NotTrustworthy),
            (Some(812.0), LimitedBy::Invalid, Exit::NotTrustworthy),
            (Some(812.0), LimitedBy::Budget, Exit::NotTrustworthy),
            (None, LimitedBy::Promise(0), Exit::CheckFailed),
        ] {
            assert_eq!(verdict(&found(carries, limited_by)), exit, "{limited_by:?}");
        }
        let mut unproven = found(None, LimitedBy::Promise(0));
        unproven.answer.capacity = Capacity { low: 700.0, high: Some(900.0) };
        assert_eq!(verdict(&unproven), Exit::NotTrustworthy);
    }

    #[test]
    fn failures_are_looked_at_before_times() {
        let mut errors = PlanErrors::default();
        let slos = promised(&["p99 < 50ms".to_owned(), "failed < 0.1%".to_owned()], &mut errors);
        assert!(errors.is_empty());
        assert_eq!(slos.iter().map(ToString::to_string).collect::<Vec<_>>(), ["failed < 0.1%", "p99 < 50ms"]);
    }
}
