//! `loadline compare A B`: whether B really is slower than A, measured in pairs.
//!
//! Two runs of one build differ by several percent, and whoever measures all of A and then all of B measures the afternoon
//! too. So runs come in pairs, in random order, the two of a pair with the same arrivals; the verdict is that of
//! [`analysis::compare`], and it says *cannot tell* when it cannot. The files are written after every pair, because anything
//! may end a comparison.
//!
//! Invariant: the program ends with 1 only where B is surely worse, or surely breaks a promise.

mod server;

use std::cell::Cell;
use std::num::NonZeroU32;
use std::path::Path;

use analysis::compare::{Margins, Need, PAIRS_MIN, PAIRS_MOST, Verdict};
use analysis::gate::{self, Judgement};
use analysis::quantity::{counted, percent};
use clap::Args;
use engine::net::Network;
use engine::{Stop, Urgency, machine};
use history::Kind;
use measure::{Ending, Summary};
use plan::{Draft, Given, Nanos, Plan, PlanError, PlanErrors, Random, Timetable, Warmup, is_address};
use report::COMPARE_FORMATS;
use report::compare::{Compared, ENDINGS, Pair, ProfiledSide, Side, Subject, conclusion, header, row, without_charts};
use report::unlike;

use self::server::{Place, Server};
use super::sweep::rest;
use crate::calibration::Calibration;
use crate::drive;
use crate::exit::{Exit, Failed};
use crate::exporting::{self, Exporting};
use crate::files::{Files, Filing};
use crate::imported::{Imported, Importing};
use crate::inputs::{self, Again};
use crate::keeping::{At, Keeper, Keeping};
use crate::margin::Margin;
use crate::observers::Observers;
use crate::observing::{Eyes, Observing};
use crate::output_args::OutputArgs;
use crate::outputs::{Existing, Renderings, out_help};
use crate::profiling::{Probes, Profiling};
use crate::promises::{Aborts, Guard, Promises};
use crate::scenarios::Scenarios;
use crate::screen::{Screen, Sight, Voice, complain};
use crate::{imported, interrupt, name, other_tools, secrets, step_summary};
use export::{Exports, Ready};

/// Two sides and one load.
#[derive(Debug, Args)]
#[command(
    mut_arg("url", |arg| arg.index(1).value_name("A").help("The side compared with: a URL, a scenario, requests of another tool, or a plan or a result (JSON) that is run again")),
    mut_arg("script_arguments", |arg| arg.index(3)),
    mut_arg("name", |arg| arg.help("Begin the names of all files with this [default: from both sides]")),
    mut_arg("out", |arg| arg.help(out_help(COMPARE_FORMATS))),
    mut_arg("force", |arg| arg.help("Replace files that exist, and compare plans that differ and results that are INVALID")),
    mut_arg("profile", |arg| arg.help("After the pairs, take a profile of each side under this load: as with run; a=WHAT and b=WHAT are of one side alone (repeatable)")),
    mut_arg("duration", |arg| arg.help("Measure each run for this long, such as 30s or 5m [default: 5s, unless --requests or the stages of --rate end the run]"))
)]
pub struct Compare {
    #[command(flatten)]
    draft: Draft,

    /// The side in question: a URL, a scenario, requests of another tool, or a plan or a result (JSON) that is run again
    #[arg(index = 2, value_name = "B")]
    other: Option<String>,

    /// Start this command as A before each of its runs, and stop it after; with --b and --url
    #[arg(long, value_name = "COMMAND", help_heading = "Comparison")]
    a: Option<String>,

    /// The same for B
    #[arg(long, value_name = "COMMAND", help_heading = "Comparison")]
    b: Option<String>,

    /// Where both commands serve
    #[arg(long = "url", value_name = "URL", help_heading = "Comparison")]
    served_at: Option<String>,

    /// Wait this long for a command to listen [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Comparison")]
    ready_within: Option<Given<Nanos>>,

    /// Measure this many pairs; fewer than 5 give no verdict [default: 5 to 20, by how much the first 5 differ among each other]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Comparison")]
    pairs: Option<Given<NonZeroU32>>,

    /// A change up to this does not matter, such as 3% [default: 2% of rates and the median, 5% of p95 and p99]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, help_heading = "Comparison")]
    margin: Option<Given<Margin>>,

    /// Rest for this long between runs [default: 500ms]
    #[arg(long, value_name = "TIME", help_heading = "Comparison")]
    cooldown: Option<Given<Nanos>>,

    #[command(flatten)]
    importing: Importing,

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
    sight: Sight,

    #[command(flatten)]
    promises: Promises,

    #[command(flatten)]
    aborts: Aborts,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// As many pairs as are measured before their noise says how many it takes.
const PAIRS_FIRST: NonZeroU32 = NonZeroU32::new(PAIRS_MIN as u32).unwrap();
/// As many as are measured at most without being told.
const PAIRS_LAST: NonZeroU32 = NonZeroU32::new(PAIRS_MOST as u32).unwrap();
const DURATION: Nanos = Nanos::from_secs(5);
/// The rest between runs.
pub const COOLDOWN: Nanos = Nanos::from_millis(500);
const READY_WITHIN: Nanos = Nanos::from_secs(30);
/// A process just started reads its files and compiles its code: that is not what its users meet.
const WARMUP_AFTER_START: Nanos = Nanos::SECOND;
/// After so many pairs that all say nothing about the server, more would not either.
const HOPELESS: usize = 3;
/// The stream of chance that orders pairs.
const ORDER_STREAM: u64 = 0x0DE2;

/// Compares, and says what it found.
pub fn carry_out(compare: Compare) -> Result<Exit, Failed> {
    let Compare {
        draft,
        other,
        a,
        b,
        served_at,
        ready_within,
        pairs,
        margin,
        cooldown,
        importing,
        filing,
        promises,
        aborts,
        keeping,
        exporting,
        observing,
        profiling,
        sight,
        output_args,
    } = compare;
    secrets::learn(&draft);
    for url in [&other, &served_at].into_iter().flatten() {
        secrets::learn(&Draft { url: Some(url.clone()), ..Draft::default() });
    }
    inputs::warn_of(&draft, output_args.voice());
    let mut errors = PlanErrors::default();
    let fixed = pairs.map(|pairs| given("pairs", Some(pairs), PAIRS_FIRST, "give a whole number, such as --pairs 10", &mut errors));
    let pairs = fixed.unwrap_or(PAIRS_FIRST);
    let cooldown = given("cooldown", cooldown, COOLDOWN, "give a time, such as --cooldown 1s", &mut errors);
    let ready_within = given("ready-within", ready_within, READY_WITHIN, "give a time, such as --ready-within 1m", &mut errors);
    let margin = margin.map(|margin| given("margin", Some(margin), Margin::default(), "give a share, such as --margin 3%", &mut errors));
    importing.look_at_target(&mut errors);
    let (mut draft, [a_at, b_at, served_at], mut left_out) =
        pasted(draft, [other, served_at], &importing, output_args.voice(), &mut errors);
    inputs::read(&mut draft, &mut errors);
    if [&a_at, &b_at, &served_at].iter().all(|address| address.is_none()) && !errors.is_empty() {
        return Err(errors.into());
    }
    let Some(mut sides) = sides(Draft { url: a_at, ..draft }, b_at, [a, b], served_at, (&importing, &keeping.at()), &mut errors) else {
        return Err(errors.into());
    };
    // The same file on both sides leaves the same out.
    let mut told: Vec<&str> = Vec::new();
    for side in &mut sides {
        let path = side.draft.scenario.as_deref().unwrap_or(&side.subject.name);
        if told.contains(&path) {
            continue;
        }
        importing.tell(&format!("'{path}'"), &side.left_out, output_args.voice());
        left_out.append(&mut side.left_out);
        told.push(path);
    }
    let checks = promises.read(sides[1].scenarios.of(&sides[1].draft).as_deref(), &mut errors);
    let seed = seed_of(&sides);
    let plans = plans(&sides, fixed.unwrap_or(PAIRS_LAST), seed, &mut errors);
    let alike_only = filing.existing() == Existing::Keep;
    let differences = plans.first().map_or_else(Vec::new, |[a, b]| unlike::plans(a, b, &[]));
    if sides.iter().any(|side| side.from_file) && alike_only && !differences.is_empty() {
        errors.push(PlanError::new(
            "compare",
            format!("the two plans are not the same load: {}", differences.join("; ")),
            "give the settings that differ for both, or --force to compare them nevertheless",
        ));
    }
    for side in sides.iter().filter(|side| alike_only && side.invalid.is_some()) {
        errors.push(PlanError::new(
            "compare",
            format!("'{}' is INVALID: {}", side.subject.name, side.invalid.as_deref().unwrap_or_default()),
            "measure it again with less load, more threads or another machine, or run its plan all the same with --force",
        ));
    }
    let name = filing.name_or(|| suggested(&sides));
    let keeper = keeping.decide(Kind::Compare, &name, &mut errors);
    let guard = aborts.read(&mut errors);
    let ready = exporting.decide(&mut errors);
    let eyes = observing.decide(&mut errors);
    let probes = profiling.decide_of_sides(&mut errors);
    sight.check(&mut errors);
    let files = filing.files(&name, ENDINGS, &mut errors);
    let outs = filing.renderings(COMPARE_FORMATS, &mut errors);
    let Some([first_a, first_b]) = plans.first().filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    let both = [first_a, first_b].into_iter().zip(&sides).map(|(plan, side)| (plan, &side.scenarios));
    importing.look(both, &left_out, output_args.voice())?;

    let margins = margin.map_or_else(Margins::default, |margin| Margins::of_ratio(margin.share()));
    let known = Calibration::kept();
    let noise = known.as_ref().and_then(|known| known.noise_of(first_a).or_else(|| known.noise_of(first_b)));
    let [a, b] = sides.each_ref().map(|side| side.subject.clone());
    let mut compared = Compared::new(name, a, b, pairs.get(), margins, noise.cloned());
    compared.differences = differences;
    compared.promises = checks;
    let looked = sides.iter().zip([first_a, first_b]).zip(["A", "B"]).zip(&probes).map(|(((side, plan), letter), probes)| {
        // A server with a command is not there yet.
        let there = side.subject.command.is_none();
        let seen = || if there { eyes.check(plan) } else { Ok(()) };
        look(side, plan).and_then(|()| probes.check(plan)).and_then(|()| seen()).map_err(|failed| of_side(letter, &failed))
    });
    let hindered: Vec<Failed> = looked.filter_map(Result::err).collect();
    if let Some(first) = hindered.first() {
        let texts: Vec<&str> = hindered.iter().map(|failed| failed.text.as_str()).collect();
        return Err(Failed { exit: first.exit, text: texts.join("\n") });
    }
    let stop = Stop::new();
    let screen = output_args.screen_with_view(sight, "compare", &stop);
    interrupt::raise_on_signal(&stop, &screen)?;
    let doubted = sides.iter().zip(&probes).filter(|(side, _)| side.subject.command.is_none());
    let mut doubts: Vec<String> = doubted.flat_map(|(_, probes)| probes.doubts()).collect();
    doubts.dedup();
    doubts.iter().for_each(|doubt| screen.say(doubt));
    if pairs.get() < PAIRS_MIN as u32 {
        screen.say(&format!("{} give no verdict: at least {PAIRS_MIN} are needed", counted(pairs.get().into(), "pair")));
    }
    let measuring = Measuring {
        sides: &sides,
        plans: &plans,
        cooldown,
        ready_within,
        seed,
        eyes: &eyes,
        probes: &probes,
        guard,
        aborted: Cell::default(),
        screen: &screen,
        stop: &stop,
    };
    let wanted = if fixed.is_some() { Wanted::Given } else { Wanted::ByNoise };
    measuring.carry_out(compared, wanted, (&files, &outs), keeper, ready, output_args)
}

/// How many pairs are measured.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    /// As many as the user says.
    Given,
    /// As many as the noise of the first ones asks for.
    ByNoise,
}

/// Runs of one target against itself.
pub struct WithItself {
    /// The pairs that count.
    pub pairs: Vec<Pair>,
    /// Whether the user ended it.
    pub interrupted: bool,
}

/// Measures pairs of one target with itself, in the same design as a comparison; `None` if the load cannot be decided, which
/// `errors` tells.
///
/// # Errors
/// If a run cannot be carried out.
pub fn with_itself(
    mut draft: Draft,
    wanted: NonZeroU32,
    cooldown: Nanos,
    output_args: OutputArgs,
    errors: &mut PlanErrors,
) -> Result<Option<WithItself>, Failed> {
    inputs::read(&mut draft, errors);
    let scenarios = Scenarios::default();
    lasting(&mut draft, &scenarios);
    let name = draft.url.clone().unwrap_or_default();
    let sides = [0, 1].map(|_| Prepared {
        subject: Subject { name: name.clone(), command: None },
        draft: draft.clone(),
        scenarios: scenarios.clone(),
        left_out: Vec::new(),
        from_file: false,
        invalid: None,
    });
    let seed = seed_of(&sides);
    let plans = plans(&sides, wanted, seed, errors);
    let Some([plan, _]) = plans.first().filter(|_| errors.is_empty()) else { return Ok(None) };
    look(&sides[0], plan)?;
    let screen = output_args.screen();
    let stop = Stop::new();
    interrupt::raise_on_signal(&stop, &screen)?;
    let measuring = Measuring {
        sides: &sides,
        plans: &plans,
        cooldown,
        ready_within: READY_WITHIN,
        seed,
        eyes: &Eyes::CLOSED,
        probes: &[Probes::NONE, Probes::NONE],
        guard: Guard::NONE,
        aborted: Cell::default(),
        screen: &screen,
        stop: &stop,
    };
    let mut order = Order::new(seed);
    let mut measured = WithItself { pairs: Vec::new(), interrupted: false };
    for (number, plans) in plans.iter().enumerate() {
        match measuring.pair(&Keeper::NOTHING, &Exports::default(), (number, wanted.get() as usize), order.draw(), plans)? {
            Some(pair) if pair.left_out.is_none() => measured.pairs.push(pair),
            Some(_) => {}
            None => {
                measured.interrupted = true;
                break;
            }
        }
        if measured.pairs.len() >= wanted.get() as usize || (measured.pairs.is_empty() && number + 1 >= HOPELESS) {
            break;
        }
    }
    screen.clear();
    Ok(Some(measured))
}

/// Both plans of every pair, some pairs in reserve for those that will say nothing about the server. Every mistake goes to
/// `errors`.
fn plans(sides: &[Prepared; 2], pairs: NonZeroU32, seed: u64, errors: &mut PlanErrors) -> Vec<[Plan; 2]> {
    let mut plans = Vec::new();
    for number in 0..pairs.get().saturating_add(pairs.get() / 2) {
        let seed = seed.wrapping_add(number.into());
        let [a, b] = sides.each_ref().map(|side| {
            // What the seed was given as is looked at with everything else.
            let seed =
                if matches!(side.draft.seed, Some(Given::Wrong { .. })) { side.draft.seed.clone() } else { Some(Given::Value(seed)) };
            let plan = inputs::decide(Draft { seed, ..side.draft.clone() }, &side.scenarios, errors)?;
            if side.from_file {
                inputs::look_for_redacted(&plan, errors);
            }
            Some(plan)
        });
        // What is wrong with the first is wrong with all.
        match (a, b) {
            (Some(a), Some(b)) if errors.is_empty() => plans.push([a, b]),
            _ => break,
        }
    }
    plans
}

/// Looks whether this machine and the target's addresses allow the load.
fn look(side: &Prepared, plan: &Plan) -> Result<(), Failed> {
    engine::net::check_limits(plan, machine::raise_files_limit()).map_err(|error| Failed::from(&error))?;
    if side.subject.command.is_none() {
        Network::prepare(plan).map_err(|error| Failed::from(&error))?;
    }
    Ok(())
}

/// What is wrong with one side, named after it.
fn of_side(letter: &str, failed: &Failed) -> Failed {
    Failed { exit: failed.exit, text: failed.text.replacen("error: ", &format!("error: {letter}: "), 1) }
}

/// One side, decided except for the seed.
#[derive(Debug)]
struct Prepared {
    subject: Subject,
    draft: Draft,
    /// What its files hold.
    scenarios: Scenarios,
    /// What of these is not carried over.
    left_out: Vec<String>,
    from_file: bool,
    /// Why the figures of the result it comes from are not the server's.
    invalid: Option<String>,
}

/// The request of a pasted curl command in the draft, if there is one, and the addresses: of A, of B, and of both commands. An address
/// without a path says which server is asked for what the command asks for.
fn pasted(
    mut draft: Draft,
    [other, served_at]: [Option<String>; 2],
    importing: &Importing,
    voice: Voice,
    errors: &mut PlanErrors,
) -> (Draft, [Option<String>; 3], Vec<String>) {
    let words = imported::pasted(&mut draft);
    let mut addresses = [draft.url.take(), other, served_at];
    let Some(words) = words else { return (draft, addresses, Vec::new()) };
    let before = errors.0.len();
    let (mut request, mut left_out) = importing.of_words(&words, voice, errors);
    let ways = imported::leave_ways(&mut request, &draft);
    importing.tell("the curl command", &ways, voice);
    left_out.extend(ways);
    let asked = request.url.clone().unwrap_or_default();
    let usage = "write loadline compare http://old:8080 http://new:8080 -- curl …";
    if addresses.iter().all(Option::is_none) && errors.0.len() == before {
        errors.push(PlanError::new("compare", "the curl command names one address, and a comparison has two sides", usage));
    }
    for address in addresses.iter_mut().flatten() {
        if !is_address(address) {
            let message = format!("'{address}' says what is sent, and so does the curl command");
            errors.push(PlanError::new("compare", message, format!("{usage}, or leave the command out")));
        } else if matches!(imported::behind_host(address), "" | "/") {
            *address = format!("{}{}", address.trim_end_matches('/'), imported::behind_host(&asked));
        }
    }
    // Wherever it leads is said by the sides.
    request.url = addresses.iter().flatten().find(|address| address.starts_with("https://")).or(addresses[0].as_ref()).cloned();
    imported::leave_tls(&mut request);
    (Draft { url: None, ..request }.overlaid(draft), addresses, left_out)
}

/// What the two sides are. Every mistake goes to `errors`.
fn sides(
    draft: Draft,
    other: Option<String>,
    commands: [Option<String>; 2],
    served_at: Option<String>,
    (importing, at): (&Importing, &At),
    errors: &mut PlanErrors,
) -> Option<[Prepared; 2]> {
    let usage = "loadline compare http://old:8080/ http://new:8080/, or --a 'command' --b 'command' --url http://127.0.0.1:8080/";
    let mut wrong = |message: &str| {
        errors.push(PlanError::new("compare", message, format!("write {usage}")));
        None
    };
    match (draft.url.clone(), other, commands, served_at) {
        (None, None, [Some(a), Some(b)], Some(url)) => {
            look_without_files(&draft, importing, errors);
            let draft = Draft { url: Some(url.clone()), ..draft };
            let Imported { mut draft, scenarios, left_out } = importing.of_side(draft, Some(url), &[], errors);
            draft.warmup.get_or_insert(Given::Value(Warmup::Lasting(WARMUP_AFTER_START)));
            lasting(&mut draft, &scenarios);
            let side = |command: String| Prepared {
                subject: Subject { name: command.clone(), command: Some(command) },
                draft: draft.clone(),
                scenarios: scenarios.clone(),
                left_out: left_out.clone(),
                from_file: false,
                invalid: None,
            };
            Some([side(a), side(b)])
        }
        (Some(a), Some(b), [None, None], None) => targets(draft, [a, b], (importing, at), errors),
        (None, None, [None, None], None) => wrong("nothing is given to compare"),
        (_, _, [Some(_), Some(_)], None) => wrong("--a and --b do not say where the commands serve"),
        (None, None, ..) => wrong("a comparison takes --a, --b and --url together"),
        (Some(_), None, [None, None], None) => wrong("there is only one side to compare"),
        _ => wrong("sides are given as addresses or files, and as commands too"),
    }
}

/// What is said of files where the sides are none.
fn look_without_files(draft: &Draft, importing: &Importing, errors: &mut PlanErrors) {
    match (&draft.scenario, importing.target()) {
        (_, Some(target)) if draft.scenario.is_some() || draft.urls.is_some() => errors.push(PlanError::new(
            "target",
            format!("--target {target} says where a file's requests go, and here the sides say that"),
            "leave it out",
        )),
        (None, _) => importing.complain_without_a_file(draft, errors),
        (Some(_), _) => {}
    }
}

/// What a side is that is no address.
enum File {
    /// A scenario, or requests of another tool.
    Scenario,
    /// A result, or a plan.
    Saved,
}

/// Two addresses, two files, or one of each; then the address gets the settings of the file.
fn targets(draft: Draft, names: [String; 2], (importing, at): (&Importing, &At), errors: &mut PlanErrors) -> Option<[Prepared; 2]> {
    let is_file = |name: &str| !name.contains("://") && (name.starts_with('@') || name.ends_with(".json") || Path::new(name).is_file());
    let over = Draft { url: None, ..draft };
    // Where a file leaves open who is asked.
    let host = importing.target().or_else(|| names.iter().find(|name| is_address(name)).cloned());
    let mut files: Vec<Option<(File, Again)>> = Vec::new();
    let mut read: Vec<Scenarios> = Vec::new();
    for name in &names {
        let named = || Draft { scenario: Some(name.clone()), ..Draft::default() };
        if let Some(scenarios) = (!name.contains("://")).then(|| importing.file_of_side(name, host.clone())).flatten() {
            // It says where, how much and what, as a plan does.
            read.push(scenarios);
            files.push(Some((File::Scenario, Again { draft: named(), checks: Vec::new(), invalid: None })));
            continue;
        }
        files.push(match is_file(name).then(|| inputs::saved(name, at)) {
            Some(Err(error)) => {
                errors.push(PlanError { setting: "compare", message: error.message.replacen("--from ", "", 1), help: error.help });
                return None;
            }
            Some(Ok(saved)) => Some((File::Saved, saved)),
            None => None,
        });
    }
    if files.iter().all(Option::is_none) {
        look_without_files(&over, importing, errors);
    }
    let mistakes: Vec<PlanError> =
        names.iter().zip(&files).filter(|(_, file)| file.is_none()).filter_map(|(name, _)| other_tools::mistake(name)).collect();
    if !mistakes.is_empty() {
        mistakes.into_iter().for_each(|mistake| errors.push(mistake));
        return None;
    }
    let base = files.iter().flatten().next().map_or_else(Draft::default, |(_, again)| again.draft.clone());
    let mut sides = names.into_iter().zip(files).map(|(name, file)| {
        let is_a_file = file.is_some();
        let from_file = matches!(file, Some((File::Saved, _)));
        let invalid = file.as_ref().and_then(|(_, again)| again.invalid.clone());
        let (url, draft) = match file {
            Some((_, again)) => (importing.target(), again.draft.overlaid(over.clone())),
            None => (Some(name.clone()), base.clone().overlaid(over.clone())),
        };
        let (draft, mut left_of_saved) = match url {
            Some(url) => {
                let (draft, left) = imported::elsewhere(draft, &over);
                (Draft { url: Some(url), ..draft }, left)
            }
            None => (draft, Vec::new()),
        };
        let side_s_own = draft.url.clone().filter(|_| from_file);
        let Imported { mut draft, scenarios, left_out } = importing.of_side(draft, host.clone().or(side_s_own), &read, errors);
        left_of_saved.extend(left_out);
        read.push(scenarios.clone());
        lasting(&mut draft, &scenarios);
        // Written down as every URL is: without its secrets.
        let name = if is_a_file { name } else { name.parse::<plan::Target>().map_or(name, |target| target.to_string()) };
        Prepared { subject: Subject { name, command: None }, draft, scenarios, left_out: left_of_saved, from_file, invalid }
    });
    Some([sides.next()?, sides.next()?])
}

/// Ends the run after the default time unless something else does.
fn lasting(draft: &mut Draft, scenarios: &Scenarios) {
    let ends = |rate: &Given<Timetable>| matches!(rate, Given::Value(timetable) if timetable.length().is_some());
    let stages_end = draft.rate.as_ref().is_some_and(ends);
    let own = scenarios.settings_of(draft);
    let own_end = own.duration.is_some() || own.requests.is_some() || own.rate.is_some_and(|rate| ends(&rate));
    if draft.requests.is_none() && !stages_end && !(own_end && draft.rate.is_none()) {
        draft.duration.get_or_insert(Given::Value(DURATION));
    }
}

/// The seed both sides begin with.
fn seed_of(sides: &[Prepared; 2]) -> u64 {
    match sides[0].draft.seed {
        Some(Given::Value(seed)) => seed,
        _ => 1,
    }
}

/// `old_new`, from whatever tells the sides apart: their paths, their hosts, or their queries.
fn suggested(sides: &[Prepared; 2]) -> String {
    let url = |side: &Prepared| match (&side.subject.command, side.from_file) {
        (None, false) => side.draft.url.clone(),
        _ => None,
    };
    let file = |side: &Prepared| Path::new(&side.subject.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let is_named = |side: &Prepared| side.from_file || side.draft.scenario.as_ref() == Some(&side.subject.name);
    let path = |side: &Prepared| if is_named(side) { file(side) } else { url(side).map(|url| name::of_url(&url)) };
    let host =
        |side: &Prepared| url(side)?.parse::<plan::Target>().ok().map(|target| name::of_url(&format!("http://a/{}", target.authority())));
    let query = |side: &Prepared| {
        let target = url(side)?.parse::<plan::Target>().ok()?;
        Some(name::of_url(&format!("http://a{}", target.path_and_query().replace('?', "/"))))
    };
    let apart = |[a, b]: [Option<String>; 2]| a.zip(b).filter(|(a, b)| a != b).map(|(a, b)| format!("{a}_{b}"));
    let told_apart =
        apart(sides.each_ref().map(path)).or_else(|| apart(sides.each_ref().map(host))).or_else(|| apart(sides.each_ref().map(query)));
    told_apart.unwrap_or_else(|| "a_b".to_owned())
}

/// A setting of this command, or its default.
pub fn given<T: std::fmt::Display>(name: &'static str, given: Option<Given<T>>, default: T, help: &str, errors: &mut PlanErrors) -> T {
    match given {
        None => default,
        Some(Given::Value(value)) => value,
        Some(Given::Wrong { text, why }) => {
            errors.push(PlanError::new(name, format!("--{name} '{text}' {why}"), help));
            default
        }
    }
}

/// Everything that stays the same from run to run.
struct Measuring<'a> {
    sides: &'a [Prepared; 2],
    plans: &'a [[Plan; 2]],
    cooldown: Nanos,
    ready_within: Nanos,
    seed: u64,
    eyes: &'a Eyes,
    /// Which profiles are taken of each side, after the pairs.
    probes: &'a [Probes; 2],
    /// Conditions to end the comparison on, afresh for each run, and the one that came true.
    guard: Guard,
    aborted: Cell<Option<String>>,
    screen: &'a Screen,
    stop: &'a Stop,
}

impl Measuring<'_> {
    /// Measures pair by pair: a row on standard output and all files after each, the verdict at the end.
    fn carry_out(
        &self,
        mut compared: Compared,
        wanted: Wanted,
        (files, outs): (&Files, &Renderings<Compared>),
        mut keeper: Keeper,
        ready: Ready,
        output_args: OutputArgs,
    ) -> Result<Exit, Failed> {
        let style = output_args.styles().stdout;
        let said = |text: &str| self.screen.print(text);
        let mut told = said(&header(&compared, &style));
        keeper.begin(self.stop);
        let first = self.plans.first().map(|[a, _]| a);
        let mut exports = exporting::open(ready, keeper.id(), &compared.name, "compare", first, output_args.voice());
        let mut lost = PlanErrors::default();
        let (mut broken, mut aborted) = (None, None);
        let mut order = Order::new(self.seed);
        let mut pairs = compared.pairs_planned as usize;
        let mut need_known = matches!(wanted, Wanted::Given);
        for (number, plans) in self.plans.iter().enumerate() {
            match self.pair(&keeper, &exports, (number, pairs), order.draw(), plans) {
                Ok(Some(pair)) => compared.pairs.push(pair),
                Ok(None) => {
                    aborted = self.aborted.take();
                    compared.stopped = Some(aborted.clone().unwrap_or_else(|| "interrupted".to_owned()));
                    break;
                }
                Err(failed) => {
                    compared.stopped = Some("a run could not be carried out".to_owned());
                    broken = Some(failed);
                    break;
                }
            }
            if let Some(pair) = compared.pairs.last() {
                told = told.and(said(&format!("{}\n", row(number + 1, pair, &style))));
            }
            let sound = compared.sound().count();
            if !need_known && sound == PAIRS_MIN {
                need_known = true;
                if let Some(need) = compared.need() {
                    (pairs, compared.pairs_planned) = (need.pairs, need.pairs as u32);
                    self.screen.say(&needed(need));
                }
            }
            if sound >= pairs {
                break;
            }
            if sound == 0 && compared.pairs.len() >= HOPELESS {
                compared.stopped = Some(format!("none of the first {HOPELESS} pairs says anything about the server"));
                break;
            }
            lost = write(&mut compared, files);
            keeper.result_so_far(|| report::compare::json(&compared).expect("memory takes every byte"));
            self.screen.show_result(|| report::page::compare(&compared));
        }
        if broken.is_none() && aborted.is_none() {
            broken = self.profile(&keeper, &exports, &mut compared).err();
        }
        keeper.load_is_over();
        self.screen.clear();
        exporting::close(&mut exports, output_args.voice());
        if !compared.pairs.is_empty() {
            lost = write(&mut compared, files);
            outs.write(&compared, &mut lost);
            step_summary::append(without_charts(&compared).as_bytes(), &mut lost);
            told = told.and(said(&conclusion(&compared, &style)));
            if lost.is_empty() {
                told = told.and(said(&files.listed()));
            }
        } else if let Some(why) = &compared.stopped {
            told = told.and(said(&format!("\n  Nothing was compared: {why}.\n")));
        }
        let kept = if compared.pairs.is_empty() {
            keeper.discard();
            Ok(String::new())
        } else {
            let id = keeper.id();
            let kept = keeper.save(&report::compare::json(&compared).expect("memory takes every byte"));
            self.screen.show_end(|| report::page::compare(&compared), id.filter(|_| kept.as_ref().is_ok_and(|line| !line.is_empty())));
            kept
        };
        if let Some(line) = kept.as_ref().ok().filter(|line| !line.is_empty()) {
            told = told.and(said(&format!("\n{line}")));
        }
        if let Err(why) = told {
            lost.push(PlanError::new(
                "out",
                format!("the table could not be written to standard output: {}", inputs::plainly(&why)),
                "make room; the same stands in the .md file",
            ));
        }
        if let Some(failed) = broken {
            if !lost.is_empty() {
                complain(&lost.to_string());
            }
            return Err(failed);
        }
        kept?;
        if !lost.is_empty() {
            return Err(Failed { exit: Exit::OutputNotWritten, text: lost.to_string() });
        }
        if self.stop.urgency() > Urgency::None {
            return Ok(Exit::Interrupted);
        }
        if aborted.is_some() {
            return Ok(Exit::CheckFailed);
        }
        Ok(ending(compared.verdict(), &compared.checks))
    }

    /// Both runs of a pair; `None` if the user wants to end.
    fn pair(
        &self,
        keeper: &Keeper,
        exports: &Exports,
        (number, wanted): (usize, usize),
        first: Side,
        plans: &[Plan; 2],
    ) -> Result<Option<Pair>, Failed> {
        let mut runs: [Option<Summary>; 2] = [None, None];
        let order = if first == Side::A { [0, 1] } else { [1, 0] };
        for (turn, side) in order.into_iter().enumerate() {
            if number > 0 || turn > 0 {
                rest(self.cooldown, self.stop);
            }
            let what = format!("pair {} of {wanted}, {}", number + 1, ["A", "B"][side]);
            let Some(run) = self.run((keeper, exports), (side, &plans[side]), &what, &Probes::NONE)? else {
                return Ok(None);
            };
            runs[side] = Some(run);
        }
        let [a, b] = runs;
        Ok(a.zip(b).map(|(a, b)| Pair::new(first, a, b)))
    }

    /// A run more of each side, with a profile. They are no part of the comparison, whose figures a profile would change.
    fn profile(&self, keeper: &Keeper, exports: &Exports, compared: &mut Compared) -> Result<(), Failed> {
        let Some(plans) = self.plans.first().filter(|_| !compared.pairs.is_empty()) else { return Ok(()) };
        if self.probes.iter().all(Probes::is_empty) || self.stop.urgency() > Urgency::None {
            return Ok(());
        }
        // What cannot be printed was noticed with the pairs.
        let _ = self.screen.print("\n  Profiles, after the pairs\n");
        for (place, side) in [Side::A, Side::B].into_iter().enumerate().filter(|(place, _)| !self.probes[*place].is_empty()) {
            rest(self.cooldown, self.stop);
            let what = format!("{}, with a profile", ["A", "B"][place]);
            match self.run((keeper, exports), (place, &plans[place]), &what, &self.probes[place])? {
                Some(summary) => compared.profiled.push(ProfiledSide { side, summary }),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// One run, with its server if it has one of its own; `None` if the user wants to end.
    fn run(
        &self,
        (keeper, exports): (&Keeper, &Exports),
        (side, plan): (usize, &Plan),
        what: &str,
        probes: &Probes,
    ) -> Result<Option<Summary>, Failed> {
        if self.stop.urgency() > Urgency::None {
            return Ok(None);
        }
        let server = match &self.sides[side].subject.command {
            None => None,
            Some(command) => match Server::start(["--a", "--b"][side], command, &Place::of(plan), self.ready_within, self.stop)? {
                Some(server) => Some(server),
                None => return Ok(None),
            },
        };
        let mut guard = self.guard.clone();
        let ran = Observers {
            screen: Some((self.screen, what.to_owned())),
            live: None,
            server: Some(self.eyes.open_again(plan)),
            profiles: Some((probes.open(plan), ["a ", "b "][side].to_owned())),
            journal: Some((keeper, what.to_owned())),
            exports: Some((exports, what.to_owned())),
            guard: Some(&mut guard),
            judge: None,
        }
        .carry_out(plan, self.stop, |watch, stop| drive::run(plan, &self.sides[side].scenarios, watch, stop));
        // That the server is gone explains more than what its absence did to the run.
        if let Some(server) = server {
            server.stop()?;
        }
        let summary = ran.map_err(|error| of_side(["A", "B"][side], &Failed::from(&error)))?;
        if let Some(rule) = guard.came_true() {
            self.aborted.set(Some(format!("'{rule}' came true in {what}")));
            return Ok(None);
        }
        Ok((summary.ended.how != Ending::Interrupted).then_some(summary))
    }
}

/// Why so many pairs are measured.
fn needed(Need { pairs, metric, deviation }: Need) -> String {
    let varies = format!("the change of {metric} varies by {} % from pair to pair", percent((deviation * 1e3).round() / 10.0));
    match pairs {
        PAIRS_MIN => format!("{PAIRS_MIN} pairs are enough: {varies}"),
        PAIRS_MOST => format!("{PAIRS_MOST} pairs are measured, the most without --pairs: {varies}"),
        pairs => format!("{pairs} pairs are measured: {varies}"),
    }
}

/// How a comparison ends: what is surely bad goes before what cannot be told.
fn ending(verdict: Option<Verdict>, checks: &[Judgement]) -> Exit {
    let broken = checks.iter().any(|judgement| judgement.verdict == gate::Verdict::Broken);
    let judgeable = checks.iter().all(|judgement| !matches!(judgement.verdict, gate::Verdict::NotJudgeable { .. }));
    match verdict {
        _ if broken => Exit::CheckFailed,
        Some(Verdict::Worse) => Exit::CheckFailed,
        Some(Verdict::Better | Verdict::SameWithin { .. }) if judgeable => Exit::Done,
        _ => Exit::NotTrustworthy,
    }
}

/// Which side comes first: drawn for every second pair, and the other way round in the next, so that what drifts steadily
/// meets both sides alike (ABBA or BAAB).
struct Order {
    random: Random,
    next: Option<Side>,
}

impl Order {
    fn new(seed: u64) -> Self {
        Self { random: Random::new(seed, ORDER_STREAM), next: None }
    }

    fn draw(&mut self) -> Side {
        if let Some(side) = self.next.take() {
            return side;
        }
        let (first, second) = if self.random.unit() < 0.5 { (Side::A, Side::B) } else { (Side::B, Side::A) };
        self.next = Some(second);
        first
    }
}

/// Judges what is measured so far and writes all files; says which could not be written.
fn write(compared: &mut Compared, files: &Files) -> PlanErrors {
    compared.judge();
    let mut lost = PlanErrors::default();
    for file in report::compare::files(compared).expect("memory takes every byte") {
        if let Err(error) = files.write(file.ending, &file.bytes) {
            lost.push(error);
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_meets_both_sides_alike() {
        for seed in 0..20 {
            let mut order = Order::new(seed);
            let drawn: Vec<Side> = (0..20).map(|_| order.draw()).collect();
            assert_eq!(drawn.iter().filter(|side| **side == Side::A).count(), 10);
            assert!(drawn.chunks(2).all(|two| two[0] != two[1]));
        }
        let orders: Vec<Vec<bool>> = (0..20)
            .map(|seed| {
                let mut order = Order::new(seed);
                (0..6).map(|_| order.draw() == Side::A).collect()
            })
            .collect();
        assert!(orders.iter().any(|order| *order != orders[0]), "another seed gives another order");
    }
}
