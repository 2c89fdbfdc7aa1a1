//! `loadline find URL --slo 'p99 < 50ms'`: the highest rate that keeps a promise, as an interval, with every trial behind it.
//!
//! What to try next is decided in [`analysis::search`]; here its trials are run on the real server, and it is watched until
//! it has recovered. A search takes minutes, and anything may end it: so every trial is printed and saved as soon as it is
//! measured, and whatever ends the search, what is known by then is said.

use std::cell::Cell;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use analysis::ceiling::SHARE_MAX;
use analysis::found::{Found, FoundTrial, Rated, learnt, lost};
use analysis::gate::{Check, Slo};
use analysis::quantity::{four_digits, percent};
use analysis::search::{Cap, Early, LimitedBy, Mistake, Purpose, Rested, Search, Settings, Step};
use analysis::search_words;
use analysis::{Level, LevelRow, StopRule, Stopped, Trial};
use clap::{ArgAction, Args};
use engine::net::Network;
use engine::{Stop, Urgency, machine};
use export::{Exports, Ready};
use history::Kind;
use measure::{Scenario, Summary, Tick};
use plan::{Draft, Given, Load, Nanos, Plan, PlanError, PlanErrors, Rate, Stage, Timetable, Warmup};
use report::find::table;
use report::sweep::table::Counted as Counts;
use report::{FIND_FORMATS, Style, prose, server_side};
use trial::RunError;

use super::sweep::{below, limits, profiled};
use crate::calibration::Calibration;
use crate::drive::Series;
use crate::exit::{self, Exit, Failed};
use crate::exporting::{self, Exporting};
use crate::files::{Files, Filing};
use crate::imported::{Imported, Importing};
use crate::keeping::{Keeper, Keeping};
use crate::observers::Observers;
use crate::observing::{Eyes, Observing};
use crate::output_args::OutputArgs;
use crate::outputs::{Renderings, out_help};
use crate::profiling::{Probes, Profiling};
use crate::promises::{Aborts, Guard, Promises};
use crate::scenarios::Scenarios;
use crate::screen::{Screen, Sight, complain};
use crate::{inputs, interrupt, name, scenarios, secrets, step_summary};

/// A promise to keep, and where the results go.
#[derive(Debug, Args)]
#[command(mut_arg("out", |arg| arg.help(out_help(FIND_FORMATS))))]
pub struct Find {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    importing: Importing,

    /// A promise to keep: a percentile of response time such as 'p99 < 50ms', or 'failed < 0.1%' (repeatable)
    #[arg(long, value_name = "PROMISE", action = ArgAction::Append, help_heading = "Search")]
    slo: Vec<String>,

    /// Take at most this long [default: 3m; 1m with --quick, 1h with --publish]
    #[arg(long, value_name = "TIME", help_heading = "Search")]
    budget: Option<Given<Nanos>>,

    /// Answer within a minute, to 5 %
    #[arg(long, conflicts_with = "publish", help_heading = "Search")]
    quick: bool,

    /// Answer within an hour, to 1 %, with a soak of ten minutes
    #[arg(long, help_heading = "Search")]
    publish: bool,

    /// Never load with more than this, such as 2000/s
    #[arg(long, value_name = "RATE", help_heading = "Search")]
    rate_max: Option<Given<Rate>>,

    #[command(flatten)]
    filing: Filing,

    #[command(flatten)]
    keeping: Keeping,

    #[command(flatten)]
    exporting: Exporting,

    #[command(flatten)]
    observing: Observing,

    #[command(flatten)]
    profiling: Profiling,

    #[command(flatten)]
    promises: Promises,

    #[command(flatten)]
    aborts: Aborts,

    #[command(flatten)]
    sight: Sight,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// The endings of a search's files.
const ENDINGS: &[&str] = &[".find.json", "_find.png", "_find.svg", ".find.md"];

/// More than any generator of one machine sends: without a cap of the user the generator's own health decides.
const RATE_MAX: f64 = 2_000_000.0;
/// Waiting longer than this for answers to an overload would use up the budget; `--timeout` overrides it.
const TIMEOUT: Nanos = Nanos::from_secs(10);
/// Of the requests that show the server unloaded, and of those that show whether it has recovered.
const UNLOADED_REQUESTS: NonZeroU64 = NonZeroU64::new(10).unwrap();
const PROBE_REQUESTS: NonZeroU64 = NonZeroU64::new(3).unwrap();
/// The same of requests of journeys, whose steps take unlike times.
const JOURNEY_REQUESTS: NonZeroU64 = NonZeroU64::new(30).unwrap();
/// Probes of journeys draw with seeds from here on.
const PROBE_SEEDS: u64 = 1 << 40;
/// A probe that is not answered by then has shown that the server is not well.
const PROBE_TIMEOUT: Nanos = Nanos::from_secs(5);
/// Seconds from one probe to the next (docs/measurement.md §2.4).
const PROBE_EVERY: Duration = Duration::from_secs(1);
/// Back within so many times the unloaded median is recovered (docs/measurement.md §2.4).
const RECOVERED_WITHIN: f64 = 1.5;
/// Between two single requests the scheduler alone makes differences of this size.
const PROBE_NOISE: Nanos = Nanos::from_millis(1);
/// The share of a ramp trial that opens connections before it measures: these would be late requests of a server that is not.
const WARMUP_OF_RAMP: f64 = 0.1;
/// A run with a profile takes so many seconds, of which eight tenths are the profile's; with `--quick`, half of them.
const PROFILED_S: f64 = 10.0;
/// The seeds of these runs begin so far beyond those of the trials.
const PROFILED_SEED: u64 = 1 << 32;
/// A trial is not ended early before this (docs/measurement.md §2.5).
const EARLY_FROM: Nanos = Nanos::from_secs(3);

/// Searches, and says what it found.
pub fn carry_out(find: Find) -> Result<Exit, Failed> {
    let Find {
        draft,
        importing,
        slo,
        budget,
        quick,
        publish,
        rate_max,
        filing,
        promises,
        aborts,
        keeping,
        exporting,
        observing,
        profiling,
        sight,
        output_args,
    } = find;
    secrets::learn(&draft);
    inputs::warn_of(&draft, output_args.voice());
    let mut errors = PlanErrors::default();
    let Imported { draft, scenarios, left_out } = importing.take(draft, None, output_args.voice(), &mut errors);
    let scenario = scenarios.of(&draft);
    let name = filing.name_or(|| name::of_draft(&draft, scenario.as_deref(), "find"));
    let slos = promised(&slo, &mut errors);
    let preset = match (quick, publish) {
        (true, _) => Preset::Quick,
        (false, true) => Preset::Publish,
        (false, false) => Preset::Usual,
    };
    let settings = settings(&slos, Wishes { preset, budget, rate_max }, &draft, &mut errors);
    let load = OpenLoad::decide(draft, scenarios, &slos, &settings, &mut errors);
    let checks = promises.read(scenario.as_deref(), &mut errors);
    let guard = aborts.read(&mut errors);
    let search = Search::new(settings.clone()).map_err(|mistakes| {
        // A promise that cannot be read has been complained of, and is missing here for no other reason.
        let mistakes = mistakes.iter().filter(|it| **it != Mistake::NoPromise || slo.is_empty());
        mistakes.for_each(|mistake| errors.push(refused(mistake, preset)));
    });
    let keeper = keeping.decide(Kind::Find, &name, &mut errors);
    let eyes = observing.decide(&mut errors);
    let probes = profiling.decide(&mut errors);
    sight.check(&mut errors);
    let files = filing.files(&name, ENDINGS, &mut errors);
    let outs = filing.renderings(FIND_FORMATS, &mut errors);
    let (Some(load), Ok(search)) = (load, search) else { return Err(errors.into()) };
    let ready = exporting.decide(&mut errors);
    if !errors.is_empty() {
        return Err(errors.into());
    }
    importing.look(load.first.as_ref().map(|plan| (plan, &load.scenarios)), &left_out, output_args.voice())?;
    load.check_machine()?;
    load.first.as_ref().map_or(Ok(()), |plan| eyes.check(plan).and_then(|()| probes.check(plan)))?;

    let stop = Stop::new();
    let screen = output_args.screen_with_view(sight, "find", &stop);
    interrupt::raise_on_signal(&stop, &screen)?;
    probes.doubts().iter().for_each(|doubt| screen.say(doubt));
    let found = Found { checks, rated: load.rated(), ..Found::new(files.name().to_owned(), &slos, settings, search.answer()) };
    if load.thinking > Nanos::ZERO {
        screen.say(&format!("a journey pauses for about {} in all: each trial is loaded for that time before it measures", load.thinking));
    }
    let course = Course {
        load,
        series: Series::default(),
        unloaded: None,
        slos,
        search,
        found,
        files,
        outs,
        keeper,
        exports: Exports::default(),
        eyes,
        probes,
        guard,
        screen,
        stop,
        lost: PlanErrors::default(),
        untold: None,
    };
    course.carry_out(ready, output_args)
}

/// The promises that can be read and searched with. Every mistake goes to `errors`.
fn promised(texts: &[String], errors: &mut PlanErrors) -> Vec<Slo> {
    let usual = "such as --slo 'p99 < 50ms' --slo 'failed < 0.1%'";
    let mut slos: Vec<Slo> = Vec::new();
    for text in texts {
        let check: Check = match text.parse() {
            Ok(check) => check,
            Err(why) => {
                errors.push(PlanError::new("slo", format!("--slo: {why}"), format!("promise a limit, {usual}")));
                continue;
            }
        };
        match Slo::try_from(check) {
            Err(why) => errors.push(PlanError::new("slo", format!("--slo {why}"), why.help.clone())),
            Ok(slo) => match slos.iter().find(|other| other.promise().name == slo.promise().name) {
                Some(other) => errors.push(PlanError::new(
                    "slo",
                    format!("--slo '{other}' and --slo '{slo}' promise two things of {}", slo.promise().name),
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
                (Some(limit), Some(shorter)) if promise.bad_share_max > stricter.bad_share_max && limit >= shorter => {
                    errors.push(PlanError::new(
                        "slo",
                        format!("--slo '{slo}' promises nothing: --slo '{other}' asks more requests to take no longer"),
                        format!("promise {} a time shorter than {shorter}, or leave it out", promise.name),
                    ));
                }
                (None, Some(_)) if promise.bad_share_max > stricter.bad_share_max => errors.push(PlanError::new(
                    "slo",
                    format!("--slo '{slo}' and --slo '{other}' contradict each other: a request that failed is late for every percentile"),
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

/// How the user wants to search.
struct Wishes {
    preset: Preset,
    budget: Option<Given<Nanos>>,
    rate_max: Option<Given<Rate>>,
}

fn settings(slos: &[Slo], wishes: Wishes, draft: &Draft, errors: &mut PlanErrors) -> Settings {
    let mut value = |setting: &'static str, text: String, why: &str, help: &str| {
        errors.push(PlanError::new(setting, format!("--{setting} '{text}' {why}"), help));
    };
    let rate_max = match wishes.rate_max {
        Some(Given::Value(rate)) if rate.as_per_second() > 0.0 => Some(rate.as_per_second()),
        Some(Given::Value(rate)) => {
            value("rate-max", rate.to_string(), "sends nothing", "give a rate above 0, such as --rate-max 2000/s");
            None
        }
        Some(Given::Wrong { text, why }) => {
            value("rate-max", text, &why, "give a rate, such as --rate-max 2000/s");
            None
        }
        None => None,
    };
    let seed = match draft.seed {
        Some(Given::Value(seed)) => seed,
        _ => 1,
    };
    let settings = Settings::new(slos.iter().map(Slo::promise).collect(), rate_max.unwrap_or(RATE_MAX), seed);
    let settings = match wishes.preset {
        Preset::Quick => settings.quick(),
        Preset::Usual => settings,
        Preset::Publish => settings.publish(),
    };
    let settings = match wishes.budget {
        Some(Given::Value(budget)) if budget > Nanos::ZERO => settings.within(budget.as_secs_f64()),
        Some(Given::Value(_)) => {
            value("budget", "0s".to_owned(), "is no time to search in", "give a time, such as --budget 3m");
            settings
        }
        Some(Given::Wrong { text, why }) => {
            value("budget", text, &why, "give a time, such as --budget 3m");
            settings
        }
        None => settings,
    };
    Settings { rate_max_by: if rate_max.is_some() { Cap::User } else { Cap::Generator }, ..settings }
}

/// A mistake of a search as one of the command line.
fn refused(mistake: &Mistake, preset: Preset) -> PlanError {
    let message = search_words::mistake(mistake);
    match mistake {
        Mistake::NoPromise => PlanError::new(
            "slo",
            "no promise is given, and without one every rate is carried",
            "say what users need, such as --slo 'p99 < 50ms' --slo 'failed < 0.1%'",
        ),
        Mistake::Share { .. } => PlanError::new("slo", message, "promise a smaller share, such as failed < 0.1%"),
        Mistake::Rates { .. } | Mistake::Ratios { .. } => PlanError::new("rate-max", message, "give a higher --rate-max, such as 2000/s"),
        Mistake::BudgetTooShort { needed_s, .. } => {
            let needed = Nanos::from_secs(needed_s.ceil() as u64);
            let sooner = match preset {
                Preset::Quick => "",
                Preset::Usual | Preset::Publish => ", or --quick for an answer to 5 %",
            };
            PlanError::new("budget", message, format!("give at least --budget {needed}{sooner}"))
        }
    }
}

/// What every trial has in common, from which each is made.
struct OpenLoad {
    draft: Draft,
    scenarios: Scenarios,
    /// The first trial, for whatever is the same in all of them.
    first: Option<Plan>,
    /// For how long a journey pauses in all: so long it takes until the load of a trial is steady.
    thinking: Nanos,
    /// How many probes were sent.
    probes: Cell<u64>,
}

impl OpenLoad {
    /// Looks at everything that is the same in every trial. Every mistake goes to `errors`.
    fn decide(mut draft: Draft, scenarios: Scenarios, slos: &[Slo], settings: &Settings, errors: &mut PlanErrors) -> Option<Self> {
        let mut without = |setting: &'static str, given: Option<String>, why: &str, help: &str| {
            if let Some(given) = given {
                errors.push(PlanError::new(setting, format!("--{setting} {given} {why}"), help));
            }
        };
        let text = |given: &dyn std::fmt::Display| given.to_string();
        without(
            "rate",
            draft.rate.take().as_ref().map(|it| text(it)),
            "is one load, and a search finds the highest",
            "leave it out, cap the search with --rate-max, or measure that one rate with loadline run",
        );
        without(
            "duration",
            draft.duration.take().as_ref().map(|it| text(it)),
            "is the time of one load, and a search chooses it",
            "say how long all of it may take, with --budget",
        );
        without(
            "requests",
            draft.requests.take().as_ref().map(|it| text(it)),
            "is for one load, and a search chooses how many",
            "say how long all of it may take, with --budget",
        );
        without(
            "pause",
            draft.pause.take().as_ref().map(|it| text(it)),
            "is for users who wait for their answers, and a search sends at a rate",
            "leave it out",
        );
        let own = scenarios.settings_of(&draft);
        draft.timeout = draft.timeout.or(own.timeout);
        draft.warmup = draft.warmup.or(own.warmup);
        let longest = slos.iter().filter_map(|slo| slo.limit().map(|limit| (limit, slo))).max_by_key(|(limit, _)| *limit);
        match (&draft.timeout, longest) {
            (Some(Given::Value(timeout)), Some((limit, slo))) if limit >= *timeout => errors.push(PlanError::new(
                "slo",
                format!("--slo '{slo}' cannot be seen to break: with --timeout {timeout} requests are given up before"),
                format!("give a longer --timeout, such as {}", Nanos(limit.0.saturating_mul(2))),
            )),
            (None, longest) => {
                // A queue as long as the overload is answered to its end, so that no server goes on with what nobody waits for.
                let overload = Nanos((settings.overload_s * 2.0 * 1e9) as u64);
                let limit = longest.map_or(Nanos::ZERO, |(limit, _)| Nanos(limit.0.saturating_mul(2)));
                draft.timeout = Some(Given::Value(TIMEOUT.max(limit).max(overload)));
            }
            _ => {}
        }
        inputs::read(&mut draft, errors);
        let mut load = Self { draft, scenarios, first: None, thinking: Nanos::ZERO, probes: Cell::new(0) };
        let before = errors.0.len();
        load.first = load.plan(settings.first_rate, settings.ramp_s, Purpose::Ramp, settings, settings.seed, errors);
        load.thinking = load.first.as_ref().map_or(Nanos::ZERO, |plan| load.scenarios.thinking(plan));
        (errors.0.len() == before).then_some(load)
    }

    /// Whether this machine can make it, and reach the target.
    fn check_machine(&self) -> Result<(), Failed> {
        let files_max = machine::raise_files_limit();
        let Some(plan) = &self.first else { return Ok(()) };
        engine::net::check_limits(plan, files_max).and_then(|()| Network::prepare(plan).map(drop)).map_err(|error| Failed::from(&error))
    }

    /// One trial, with a seed of its own, which its result records.
    fn plan(&self, rate: f64, seconds: f64, purpose: Purpose, settings: &Settings, seed: u64, errors: &mut PlanErrors) -> Option<Plan> {
        let mut draft = self.draft.clone();
        let rate = Rate::per_second(rate)?;
        draft.rate = Some(Given::Value(Timetable::new(vec![Stage::constant(rate, None)])));
        draft.duration = Some(Given::Value(Nanos((seconds * 1e9) as u64)));
        draft.seed = match draft.seed {
            Some(wrong @ Given::Wrong { .. }) => Some(wrong),
            _ => Some(Given::Value(seed)),
        };
        if purpose == Purpose::FromAbove {
            // The time straight after the overload is what this trial is about.
            draft.warmup = self.has_scenario().then_some(Given::Value(Warmup::Lasting(Nanos::ZERO)));
        } else if draft.warmup.is_none() {
            let opening = Nanos((settings.ramp_s * WARMUP_OF_RAMP * 1e9) as u64);
            draft.warmup = Some(Given::Value(Warmup::Lasting(opening.max(self.thinking))));
        }
        // Whether the server is there at all was seen before the search; if it goes away, that is a result.
        draft.no_preflight |= seed != settings.seed;
        inputs::decide_level(draft, &self.scenarios, errors)
    }

    fn has_scenario(&self) -> bool {
        scenarios::file_of(&self.draft).is_some()
    }

    /// What its rates begin.
    fn rated(&self) -> Rated {
        if self.has_scenario() { Rated::Journeys } else { Rated::Requests }
    }

    /// Requests one by one.
    fn probe(&self, requests: NonZeroU64) -> Result<Plan, Failed> {
        // The warm-up of a scenario is for its load.
        let warmup = self.has_scenario().then_some(Given::Value(Warmup::Lasting(Nanos::ZERO)));
        let mut draft = Draft { rate: None, duration: None, warmup, arrivals: None, ..self.draft.clone() };
        draft.connections = Some(Given::Value(NonZeroU32::MIN));
        // Journeys are looked at step by step, so that each has to come up.
        draft.requests = Some(Given::Value(if self.has_scenario() { JOURNEY_REQUESTS } else { requests }));
        if self.has_scenario() && !matches!(draft.seed, Some(Given::Wrong { .. })) {
            // Who signs up twice with the same name is refused: no two probes draw alike, and none as a trial does.
            draft.seed = Some(Given::Value(PROBE_SEEDS + self.probes.replace(self.probes.get() + 1)));
        }
        if let Some(Given::Value(timeout)) = draft.timeout {
            draft.timeout = Some(Given::Value(timeout.min(PROBE_TIMEOUT)));
        }
        let mut errors = PlanErrors::default();
        inputs::decide_level(draft, &self.scenarios, &mut errors).ok_or_else(|| errors.into())
    }
}

/// A search under way.
struct Course {
    load: OpenLoad,
    series: Series,
    /// Requests one by one before the search: what probes are compared with.
    unloaded: Option<Summary>,
    slos: Vec<Slo>,
    search: Search,
    found: Found,
    files: Files,
    keeper: Keeper,
    exports: Exports,
    eyes: Eyes,
    /// Which profiles are taken when the rate is known.
    probes: Probes,
    /// Conditions to end the search on, afresh for each trial.
    guard: Guard,
    outs: Renderings<Found>,
    screen: Screen,
    /// Raised by the user. Each trial has a signal of its own, because it may also be ended early.
    stop: Stop,
    lost: PlanErrors,
    untold: Option<std::io::Error>,
}

impl Course {
    fn carry_out(mut self, ready: Ready, output_args: OutputArgs) -> Result<Exit, Failed> {
        let style = output_args.styles().stdout;
        if let Some(first) = &self.load.first {
            self.series = Series::begin(first, &self.load.scenarios, &self.stop).map_err(|error| Failed::from(&error))?;
        }
        let unloaded = match self.unloaded() {
            Ok(unloaded) => unloaded,
            Err(failed) => {
                self.tear_down();
                return Err(failed);
            }
        };
        self.found.unloaded_median = median(&unloaded);
        if let Some(said) = self.keep_below_the_ceiling(&unloaded) {
            self.say(&said);
        }
        self.unloaded = Some(unloaded);
        self.keeper.begin(&self.stop);
        self.exports = exporting::open(ready, self.keeper.id(), self.files.name(), "find", self.load.first.as_ref(), output_args.voice());
        self.say(&format!("\n{}\n", table::header(&self.found, &style)));
        let mut broken_by = None;
        loop {
            if self.interrupted() {
                self.found.stopped = Some(Stopped::interrupted());
                break;
            }
            if let Some(why) = self.series.has_run_out() {
                self.found.stopped = Some(cut_short(why));
                break;
            }
            match self.search.next() {
                Step::Done(_) => break,
                Step::Rest { seconds_min, seconds_max } => self.rest(seconds_min, seconds_max),
                Step::Trial { rate, seconds, purpose, seed } => match self.trial(rate, seconds, purpose, seed) {
                    Ok(()) => {
                        if let Some(trial) = self.found.trials.last() {
                            let row = table::row(&self.found, trial, &style);
                            self.say(&format!("{row}\n"));
                        }
                    }
                    Err(error) => {
                        self.found.stopped = Some(cut_short(&error.message));
                        broken_by = Some(error);
                        break;
                    }
                },
            }
            self.conclude();
            self.save_result();
            if self.found.stopped.is_some() {
                break;
            }
        }
        self.conclude();
        if broken_by.is_none() {
            broken_by = self.profile(&style).err();
        }
        self.tear_down();
        self.keeper.load_is_over();
        self.screen.clear();
        if !self.found.trials.is_empty() {
            self.save();
        }
        let mut text = "\n".to_owned();
        for said in self.found.sentences() {
            text += &prose(&said, style.width);
        }
        text += &format!("\n{}", prose(&table::legend(&self.found), style.width));
        text += &server_side::of_search(&self.found, style.width.into());
        text += &limits(&analysis::limits::of_search(&self.found), style.width);
        text += &profiled(&report::profiles::of_search(&self.found), style.width);
        self.say(&text);
        if !self.found.trials.is_empty() && self.lost.is_empty() {
            self.say(&self.files.listed());
        }
        exporting::close(&mut self.exports, output_args.voice());
        let kept = if self.found.trials.is_empty() {
            self.keeper.discard();
            Ok(String::new())
        } else {
            let json = report::find::json(&self.found).expect("memory takes every byte");
            let id = self.keeper.id();
            let kept = self.keeper.save(&json.bytes);
            self.screen.show_end(|| report::page::find(&self.found), id.filter(|_| kept.as_ref().is_ok_and(|line| !line.is_empty())));
            kept
        };
        if let Some(line) = kept.as_ref().ok().filter(|line| !line.is_empty()) {
            self.say(&format!("\n{line}"));
        }
        let ended = self.ended(broken_by.as_ref());
        match (ended, kept.map(drop)) {
            (Err(ended), kept) => Failed::both(Err(ended), kept).map(|()| Exit::OutputNotWritten),
            (Ok(exit), kept) => kept.map(|()| exit),
        }
    }

    /// How it ends, once everything is said.
    fn ended(mut self, broken_by: Option<&RunError>) -> Result<Exit, Failed> {
        if let Some(why) = &self.untold {
            self.lost.push(PlanError::new(
                "out",
                format!("the table could not be written to standard output: {}", inputs::plainly(why)),
                "make room; the same stands in the .md file",
            ));
        }
        match broken_by {
            Some(error) => {
                if !self.lost.is_empty() {
                    complain(&self.lost.to_string());
                }
                Err(error.into())
            }
            None if !self.lost.is_empty() => Err(Failed { exit: Exit::OutputNotWritten, text: self.lost.to_string() }),
            None if self.interrupted() => Ok(Exit::Interrupted),
            None if self.is_aborted() => Ok(Exit::CheckFailed),
            None => Ok(verdict(&self.found)),
        }
    }

    /// Does what a scenario does once after all loads, whatever ended them.
    fn tear_down(&mut self) {
        let Some(why) = std::mem::take(&mut self.series).end() else { return };
        self.screen.say(&why);
        self.found.warnings.push(why);
    }

    /// Whether a condition of the user ended it.
    fn is_aborted(&self) -> bool {
        self.found.stopped.as_ref().is_some_and(|stopped| stopped.rule == StopRule::Aborted)
    }

    fn interrupted(&self) -> bool {
        self.stop.urgency() > Urgency::None
    }

    fn say(&mut self, text: &str) {
        if let (Err(why), None) = (self.screen.print(text), &self.untold) {
            self.untold = Some(why);
        }
    }

    /// A few requests one by one: what a probe is compared with.
    fn unloaded(&self) -> Result<Summary, Failed> {
        self.run(&self.load.probe(UNLOADED_REQUESTS)?, "before the search", None, &mut |_| ControlFlow::Continue(()))
            .map_err(|error| Failed::from(&error))
    }

    /// Where this machine's ceiling is known, higher rates than it can be trusted with are not tried; and says so.
    fn keep_below_the_ceiling(&mut self, unloaded: &Summary) -> Option<String> {
        // What was measured is requests of one kind, and what is searched is journeys.
        let first = self.load.first.as_ref().filter(|plan| plan.scenario().is_none())?;
        let ceiling = Calibration::kept()?.ceiling_for(first, unloaded)?;
        let rate_max = ceiling * SHARE_MAX;
        let settings = &mut self.found.settings;
        if rate_max >= settings.rate_max || rate_max < settings.first_rate {
            return None;
        }
        settings.rate_max = rate_max;
        settings.rate_max_by = Cap::Generator;
        self.search = Search::new(settings.clone()).ok()?;
        Some(format!(
            "\n  At most {}/s, {} % of what this machine was seen to send (loadline calibrate).\n",
            four_digits(rate_max.round()),
            SHARE_MAX * 100.0
        ))
    }

    /// One trial, learnt and kept. Nothing is learnt of one that the user ended.
    fn trial(&mut self, rate: f64, seconds: f64, purpose: Purpose, seed: u64) -> Result<(), RunError> {
        let mut errors = PlanErrors::default();
        let settings = self.found.settings.clone();
        let Some(plan) = self.load.plan(rate, seconds, purpose, &settings, seed, &mut errors) else {
            return Err(RunError::run(errors.to_string(), "repeat the search"));
        };
        let counted = if self.found.rated == Rated::Journeys { " journeys" } else { "" };
        let what = format!("{}{counted}/s, {}", four_digits(rate), table::purpose(purpose));
        let expected = self.requests_expected(rate * seconds);
        let mut seen: Vec<Tick> = Vec::new();
        let mut early = None;
        let begun = Instant::now();
        let mut guard = self.guard.clone();
        let summary = self.run(&plan, &what, Some((&Probes::NONE, "", &mut guard)), &mut |tick| {
            seen.push(tick.clone());
            let may_end = tick.to >= EARLY_FROM && tick.to < plan.end() && early.is_none();
            if may_end && lost(&self.slos, &seen, expected, purpose) {
                early = Some(Early::Fail);
            }
            if early.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(rule) = guard.came_true() {
            self.found.stopped = Some(Stopped::aborted(&rule, &format!("{}{counted}/s", four_digits(rate))));
            return Ok(());
        }
        if self.interrupted() {
            return Ok(());
        }
        if self.found.started.is_empty() {
            self.found.started.clone_from(&summary.started);
        }
        let (result, doubt) = learnt(&self.slos, &summary, begun.elapsed().as_secs_f64(), early);
        self.search.learn(result);
        let trial = self.search.trials().last().expect("one was learnt just now");
        self.found.trials.push(FoundTrial::new(trial, doubt, summary));
        Ok(())
    }

    /// How many requests so many arrivals come to: those of journeys as in the trial in which they came to most, and before there was one it
    /// cannot be told.
    fn requests_expected(&self, arrivals: f64) -> f64 {
        if self.found.rated == Rated::Requests {
            return arrivals;
        }
        let each =
            self.found.trials.iter().map(|trial| trial.summary.requests.due as f64 / (trial.rate * trial.summary.duration_s).max(1.0));
        each.reduce(f64::max).map_or(f64::INFINITY, |each| arrivals * each)
    }

    /// Carries a plan out. `judge` looks once an interval, and ends the load when it says so. Of a `part` of the search the server is
    /// watched too, other systems are told, and profiles are taken, whose files' names begin so.
    fn run(
        &self,
        plan: &Plan,
        what: &str,
        part: Option<(&Probes, &str, &mut Guard)>,
        judge: &mut dyn FnMut(&Tick) -> ControlFlow<()>,
    ) -> Result<Summary, RunError> {
        Observers {
            screen: Some((&self.screen, what.to_owned())),
            live: None,
            server: part.as_ref().map(|_| self.eyes.open_again(plan)),
            profiles: part.as_ref().map(|(probes, files, _)| (probes.open(plan), (*files).to_owned())),
            journal: Some((&self.keeper, what.to_owned())),
            exports: part.as_ref().map(|_| (&self.exports, what.to_owned())),
            guard: part.map(|(_, _, guard)| guard),
            judge: Some(judge),
        }
        .carry_out(plan, &self.stop, |watch, stop| match plan.load() {
            // Only probes are closed.
            Load::Closed { .. } => self.series.hurry(plan, watch, stop),
            Load::Open { .. } => self.series.run(plan, watch, stop),
        })
    }

    /// Two runs more with a profile of each, once the rate is known: at a part of it, where nothing is in short supply yet, and at it.
    /// They are no part of the search, whose figures a profile would change, nor of its budget.
    fn profile(&mut self, style: &Style) -> Result<(), RunError> {
        if self.probes.is_empty() || self.found.trials.is_empty() || self.interrupted() || self.is_aborted() {
            return Ok(());
        }
        let (level, counted) = match self.found.rated {
            Rated::Requests => (Level::Offered as fn(Rate) -> Level, Counts::Requests),
            Rated::Journeys => (Level::Journeys as fn(Rate) -> Level, Counts::Journeys),
        };
        let Some(found) = self.found.answer.carries.and_then(Rate::per_second).map(level) else {
            self.say("\n  No profile was taken: no rate was found.\n");
            return Ok(());
        };
        let levels: Vec<Level> = below(found).into_iter().chain([found]).collect();
        let named: Vec<String> = levels.iter().map(|level| format!("{}/s", four_digits(level.value()))).collect();
        let heads = report::sweep::table::header(found, counted, style);
        self.say(&format!("\n  Profiles of the server at {}\n{heads}\n", named.join(" and ")));
        let settings = self.found.settings.clone();
        // A short search has short trials.
        let seconds = if settings.prove_s < PROFILED_S { PROFILED_S / 2.0 } else { PROFILED_S };
        for (level, seed) in levels.into_iter().zip(settings.seed.wrapping_add(PROFILED_SEED)..) {
            self.recovered_within(0.0, settings.rest_max_s);
            if self.interrupted() {
                return Ok(());
            }
            let mut errors = PlanErrors::default();
            let Some(plan) = self.load.plan(level.value(), seconds, Purpose::Soak, &settings, seed, &mut errors) else {
                return Err(RunError::run(errors.to_string(), "repeat the search"));
            };
            let what = format!("{}/s, with a profile", four_digits(level.value()));
            let files = format!("at {} a second ", four_digits(level.value()));
            let summary =
                self.run(&plan, &what, Some((&self.probes, &files, &mut Guard::NONE.clone())), &mut |_| ControlFlow::Continue(()))?;
            if summary.requests.due > 0 {
                let row = LevelRow::new(level, &[&summary], &[]);
                self.say(&format!("{}\n", report::sweep::table::row(&row, style)));
                self.found.profiled.push(Trial { level, repetition: 1, summary });
            }
        }
        Ok(())
    }

    /// Probes until the server answers as it did before the search, for `seconds_min` at least.
    fn rest(&mut self, seconds_min: f64, seconds_max: f64) {
        if let Some(rested) = self.recovered_within(seconds_min, seconds_max) {
            self.search.rested(rested);
            self.found.rests.push(rested);
        }
    }

    /// Waits so long at least and until the server is well, or for so long at most; nothing if the user wants to end.
    fn recovered_within(&self, seconds_min: f64, seconds_max: f64) -> Option<Rested> {
        let begun = Instant::now();
        let [shortest, longest] = [seconds_min, seconds_max].map(Duration::from_secs_f64);
        let mut recovered = false;
        while !self.interrupted() {
            let probed = Instant::now();
            recovered = self.is_well();
            if recovered && begun.elapsed() >= shortest || begun.elapsed() >= longest {
                break;
            }
            let until = (probed + PROBE_EVERY).min(begun + longest);
            while Instant::now() < until && !self.interrupted() {
                thread::sleep(until.saturating_duration_since(Instant::now()).min(Duration::from_millis(50)));
            }
        }
        (!self.interrupted()).then(|| Rested { seconds: begun.elapsed().as_secs_f64(), recovered })
    }

    /// Whether a probe is back to normal. Where nothing succeeded before the search, nothing better is expected.
    fn is_well(&self) -> bool {
        let (Some(median_before), Some(before)) = (self.found.unloaded_median, &self.unloaded) else { return true };
        let Ok(plan) = self.load.probe(PROBE_REQUESTS) else { return false };
        // That nobody listens any more is a server that has not recovered, and no error.
        let Ok(summary) = self.run(&plan, "waiting until the server has recovered", None, &mut |_| ControlFlow::Continue(())) else {
            return false;
        };
        match (&before.scenario, &summary.scenario) {
            (Some(before_by_step), Some(by_step)) => {
                summary.requests.failed <= before.requests.failed && steps_are_well(before_by_step, by_step)
            }
            _ => {
                let slowest = ((median_before.0 as f64 * RECOVERED_WITHIN) as u64).max(median_before.plus(PROBE_NOISE).0);
                summary.requests.succeeded == summary.requests.due && median(&summary).is_some_and(|it| it.0 <= slowest)
            }
        }
    }

    fn conclude(&mut self) {
        self.found.answer = self.search.answer();
    }

    /// Writes the result alone: charts take time, and the next trial waits.
    fn save_result(&mut self) {
        if !self.found.trials.is_empty() {
            let json = report::find::json(&self.found).expect("memory takes every byte");
            self.write(&json);
            self.keeper.result_so_far(|| json.bytes);
            self.screen.show_result(|| report::page::find(&self.found));
        }
    }

    fn save(&mut self) {
        self.lost = PlanErrors::default();
        for file in report::find::files(&self.found).expect("memory takes every byte") {
            self.write(&file);
        }
        self.outs.write(&self.found, &mut self.lost);
        step_summary::append(report::find::markdown::without_charts(&self.found).as_bytes(), &mut self.lost);
    }

    fn write(&mut self, file: &report::find::FindFile) {
        if let Err(error) = self.files.write(file.ending, &file.bytes) {
            self.lost.push(error);
        }
    }
}

/// A trial could not be measured, for the reason given.
fn cut_short(reason: &str) -> Stopped {
    Stopped { words: format!("the next trial could not be measured: {reason}"), ..Stopped::cut_short("") }
}

fn median(summary: &Summary) -> Option<Nanos> {
    summary.response_time_succeeded.quantile(0.5)
}

/// Whether the steps of a probe took no longer than they did before the search. Which steps a probe comes to is chance, so each is held
/// against itself; those that did not come up before say nothing.
fn steps_are_well(before: &Scenario, now: &Scenario) -> bool {
    let (mut took, mut expected, mut count) = (0.0, 0.0, 0);
    for (step, earlier) in now.steps.iter().zip(&before.steps) {
        if let (Some(mean), Some(mean_before)) = (step.response_time.mean(), earlier.response_time.mean()) {
            let times = step.response_time.count();
            took += mean * times as f64;
            expected += mean_before * times as f64;
            count += times;
        }
    }
    let noise = PROBE_NOISE.0 as f64 * count as f64;
    took <= (expected * RECOVERED_WITHIN).max(expected + noise)
}

/// What a script is told: by the search, and where that has an answer by the checks.
fn verdict(found: &Found) -> Exit {
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

    fn found(carries: Option<f64>, limited_by: LimitedBy) -> Found {
        let slos = [Slo::try_from("p99 < 50ms".parse::<Check>().unwrap()).unwrap()];
        let settings = Settings::new(slos.iter().map(Slo::promise).collect(), RATE_MAX, 1);
        let capacity = Capacity { low: carries.unwrap_or(0.0), high: None };
        let answer = Answer { carries, limited_by, capacity, ..Search::new(settings.clone()).unwrap().answer() };
        Found::new("x".to_owned(), &slos, settings, answer)
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
