//! `loadline compare A B`: whether B really is slower than A, measured in pairs.
//!
//! Two runs of one build differ by several percent, and whoever measures all of A and then all of B measures the afternoon
//! too. So runs come in pairs, in random order, the two of a pair with the same arrivals; the verdict is that of
//! [`analysis::compare`], and it says *cannot tell* when it cannot. The files are written after every pair, because anything
//! may end a comparison.
//!
//! Invariant: the program ends with 1 only where B is surely worse, or surely breaks a promise.

mod revisions;
mod server;
mod two_targets;

use std::num::NonZeroU32;
use std::path::Path;
use std::rc::Rc;

use analysis::compare::{Margins, Need, PAIRS_MIN, PAIRS_MOST, Verdict};
use analysis::comparison::{Comparison, Subject};
use analysis::gate::{self, Judgement};
use analysis::quantity::{counted, tenths};
use clap::Args;
use engine::{Fence, Runner, Stop, Urgency};
use experiment::compare::{Event, Settings};
use experiment::{Bench, Judge, Load, Measurement};
use history::Kind;
use measure::Ending;
use plan::setting::SettingName;
use plan::{
    Amount, ComparisonDraft, Draft, LoadRecord, Margin, Nanos, Plan, PlanError, PlanErrors, PopulationDraft, Setting, Stages, Warmup,
    is_address, setting,
};
use report::compare::{conclusion, header, row};
use report::{Experiment as _, Style, unlike};
use resolve::{KnownSecrets, Reader, Scenarios};
use trial::RunError;

use self::revisions::RevisionArgs;
use self::server::{Place, Server};
pub use self::two_targets::TwoTargets;
use crate::bench::{Onlookers, ServerBench};
use crate::exit::{Exit, Failed};
use crate::files::Filing;
use crate::imported::{ImportedLoad, Importing};
use crate::inputs::{self, Again};
use crate::keeping::At;
use crate::measuring::MeasuringArgs;
use crate::output_args::OutputArgs;
use crate::outputs::{Existing, out_help};
use crate::proceedings::{Proceedings, Writing};
use crate::screen::Remarks;
use crate::workload::{self, Series};
use crate::{calibration, imported, interrupt, name};

/// Two sides and one load.
#[derive(Debug, Args)]
#[command(
    mut_arg("url", |arg| arg.index(1).value_name("A").help("The side compared with: a URL, a scenario, requests of another tool, or a plan or a result (JSON) that is run again")),
    mut_arg("script_arguments", |arg| arg.index(3)),
    mut_arg("name", |arg| arg.help("Begin the names of all files with this [default: from both sides]")),
    mut_arg("out", |arg| arg.help(out_help(Comparison::FORMATS))),
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

    #[command(flatten)]
    revisions: RevisionArgs,

    /// Wait this long for a command to listen [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Comparison")]
    ready_within: Option<Setting<Nanos>>,

    #[command(flatten)]
    comparison: ComparisonDraft,

    #[command(flatten)]
    importing: Importing,

    #[command(flatten)]
    filing: Filing,

    #[command(flatten)]
    measuring: MeasuringArgs,
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
/// Compares, and says what it found.
pub fn carry_out(compare: Compare, known: &KnownSecrets) -> Result<Exit, Failed> {
    let Compare { draft, other, a, b, served_at, revisions, ready_within, comparison, importing, filing, mut measuring } = compare;
    let (history, voice) = (measuring.history(), measuring.voice());
    known.learn(&draft);
    for url in [&other, &served_at].into_iter().flatten() {
        known.learn_address(url);
    }
    inputs::warn_of(&draft, (known, voice));
    let mut errors = PlanErrors::default();
    let design = Design::decide(comparison, &mut errors);
    let revisions = revisions.decide(&mut errors);
    let commands = match &revisions {
        Some(revisions) if a.is_none() && b.is_none() => revisions.commands().map(Some),
        Some(_) => {
            errors.push(PlanError::new("compare", "sides are given as revisions, and as commands too", "leave --a and --b out"));
            [a, b]
        }
        None => [a, b],
    };
    let ready_within = given(setting::READY_WITHIN, ready_within, READY_WITHIN, ["a time", "1m"], &mut errors);
    importing.look_at_target(&mut errors);
    let reader = inputs::reader(known);
    let (mut draft, [a_at, b_at, served_at], mut left_out) = pasted(draft, [other, served_at], &importing, (&reader, voice), &mut errors);
    inputs::read(&mut draft, &mut errors);
    let (runner, is_elsewhere) = (measuring.agents.runner(&draft, &reader, &mut errors)?, measuring.agents.are_named());
    if [&a_at, &b_at, &served_at].iter().all(|address| address.is_none()) && !errors.is_empty() {
        return Err(errors.into());
    }
    let Some(mut sides) = sides(Draft { url: a_at, ..draft }, b_at, commands, served_at, (&importing, &history, &reader), &mut errors)
    else {
        return Err(errors.into());
    };
    if let Some(revisions) = &revisions {
        sides.iter_mut().zip(revisions.names()).for_each(|(side, name)| side.subject.name = name);
    }
    // The same file on both sides leaves the same out.
    let mut told: Vec<&str> = Vec::new();
    for side in &mut sides {
        let path = side.load.draft.scenario.as_deref().unwrap_or(&side.subject.name);
        if told.contains(&path) {
            continue;
        }
        importing.tell(&format!("'{path}'"), &side.left_out, (known, voice));
        if !is_elsewhere {
            inputs::warn_of_machines(path, &side.machines, (known, voice));
        }
        left_out.append(&mut side.left_out);
        told.push(path);
    }
    let seed = seed_of(&sides);
    let plans = plans(&sides, design.pairs.unwrap_or(PAIRS_LAST), seed, &mut errors);
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
    let files = filing.files(&name, Comparison::ENDINGS, &mut errors);
    let outs = filing.renderings(Comparison::FORMATS, &mut errors);
    let probes = std::mem::take(&mut measuring.profiling).decide_of_sides(known, &mut errors);
    let scenario = sides[1].scenarios.of(&sides[1].load);
    let mut measuring = measuring.decide((Kind::Compare, &name), scenario.as_deref(), known, &mut errors);
    let Some([first_a, first_b]) = plans.first().filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    let both = [first_a, first_b].into_iter().zip(&sides).map(|(plan, side)| (plan, &side.scenarios));
    importing.look(both, &left_out, (known, voice))?;

    let mut compared = unmeasured(name, &sides, [first_a, first_b], &design);
    compared.differences = differences;
    compared.promises = std::mem::take(&mut measuring.checks);
    let looked = sides.iter().zip([first_a, first_b]).zip(["A", "B"]).zip(&probes).map(|(((side, plan), letter), probes)| {
        // A server with a command is not there yet.
        let there = side.subject.command.is_none();
        let seen = || if there { measuring.eyes.check(plan) } else { Ok(()) };
        look(side, plan, &runner).and_then(|()| probes.check(plan)).and_then(|()| seen()).map_err(|failed| failed.under(letter))
    });
    looked.reduce(Failed::both).unwrap_or(Ok(()))?;
    let (stop, screen) = measuring.begin("compare", known)?;
    let doubted = sides.iter().zip(&probes).filter(|(side, _)| side.subject.command.is_none());
    let mut doubts: Vec<String> = doubted.flat_map(|(_, probes)| probes.doubts()).collect();
    doubts.dedup();
    doubts.iter().for_each(|doubt| screen.say(doubt));
    if let Some(pairs) = design.pairs.filter(|pairs| pairs.get() < PAIRS_MIN as u32) {
        screen.say(&format!("{} give no verdict: at least {PAIRS_MIN} are needed", counted(pairs.get().into(), "pair")));
    }
    if let Some(revisions) = &revisions {
        revisions.build(&|what| screen.say(what))?;
    }
    let around = Proceedings::begin((files, outs), measuring, ("compare", Some(first_a)), (screen, stop));
    let [mut bench_a, mut bench_b] = [0, 1].map(|side| SideBench {
        bench: ServerBench { probes: &probes[side], ..around.bench(Series::of(&sides[side].scenarios, &runner)) },
        side,
        command: sides[side].subject.command.as_deref(),
        ready_within,
    });
    let is_profiled = [0, 1].map(|side: usize| !probes[side].is_empty());
    let settings = Settings { plans: &plans, pairs: design.pairs, cooldown: design.cooldown, seed, is_profiled };
    let mut writing = around.writing();
    let style = around.style();
    let ended = experiment::compare::carry_out(&settings, &mut compared, [&mut bench_a, &mut bench_b], &mut |compared, event| {
        tell(&mut writing, compared, event, &style);
    });
    let written = writing.done();
    let text = match (&compared.stopped, compared.is_empty()) {
        (_, false) => {
            compared.judge();
            conclusion(&compared, &style)
        }
        (Some(why), true) => format!("\n  Nothing was compared: {why}.\n"),
        (None, true) => String::new(),
    };
    let exit = match ended {
        Ok(Ending::Aborted) => Exit::CheckFailed,
        _ => ending(compared.verdict(), &compared.checks),
    };
    around.end(written, &compared, &text, ended.map(drop).map_err(Failed::from), exit)
}

/// How many pairs are measured, and how.
struct Design {
    /// As many as the user says; `None`: as many as the noise of the first ones asks for.
    pairs: Option<NonZeroU32>,
    margin: Option<Margin>,
    cooldown: Nanos,
}

impl Design {
    fn decide(draft: ComparisonDraft, errors: &mut PlanErrors) -> Self {
        let ComparisonDraft { pairs, margin, cooldown } = draft;
        Self {
            pairs: pairs.map(|pairs| given(setting::PAIRS, Some(pairs), PAIRS_FIRST, ["a whole number", "10"], errors)),
            margin: margin.map(|margin| given(setting::MARGIN, Some(margin), Margin::default(), ["a share", "3%"], errors)),
            cooldown: given(setting::COOLDOWN, cooldown, COOLDOWN, ["a time", "1s"], errors),
        }
    }
}

/// A comparison of which nothing is measured yet, with what is known of the noise of this target.
fn unmeasured(name: String, sides: &[PreparedSide; 2], first: [&Plan; 2], design: &Design) -> Comparison {
    let margins = design.margin.map_or_else(Margins::default, |margin| Margins::of_ratio(margin.share()));
    let known = calibration::kept();
    let noise = known.as_ref().and_then(|known| known.noise_of(first[0]).or_else(|| known.noise_of(first[1])));
    let [a, b] = sides.each_ref().map(|side| side.subject.clone());
    Comparison::new(name, a, b, design.pairs.unwrap_or(PAIRS_FIRST).get(), margins, noise.cloned())
}

/// A row for each pair, and all files after it.
fn tell(writing: &mut Writing<'_, Comparison>, compared: &mut Comparison, event: Event, style: &Style) {
    match event {
        Event::Begin => writing.say(&header(compared, style)),
        Event::Measured => {
            compared.judge();
            let row = compared.pairs.last().map(|pair| row(compared.pairs.len(), pair, style) + "\n");
            writing.say(&row.unwrap_or_default());
            writing.so_far(compared, &compared.files());
        }
        Event::Needed(need) => writing.remark(&needed(need)),
        Event::Profiles => writing.say("\n  Profiles, after the pairs\n"),
    }
}

/// Measures pairs of one target with itself, in the same design as a comparison, and whether the user ended it; `None` if the load
/// cannot be decided, which `errors` tells.
///
/// # Errors
/// If a run cannot be carried out.
pub fn with_itself(
    mut draft: Draft,
    wanted: NonZeroU32,
    cooldown: Nanos,
    (output_args, known): (OutputArgs, &KnownSecrets),
    errors: &mut PlanErrors,
) -> Result<Option<(Comparison, bool)>, Failed> {
    inputs::read(&mut draft, errors);
    let scenarios = inputs::scenarios(known);
    let mut load = LoadRecord::from(draft);
    lasting(&mut load, &scenarios);
    let name = load.draft.url.clone().unwrap_or_default();
    let sides = [0, 1].map(|_| PreparedSide {
        subject: Subject { name: name.clone(), command: None },
        load: load.clone(),
        scenarios: scenarios.clone(),
        left_out: Vec::new(),
        from_file: false,
        invalid: None,
        machines: Vec::new(),
    });
    let seed = seed_of(&sides);
    let plans = plans(&sides, wanted, seed, errors);
    let Some([plan, _]) = plans.first().filter(|_| errors.is_empty()) else { return Ok(None) };
    let runner = workload::runner(&Fence::open());
    look(&sides[0], plan, &runner)?;
    let screen = output_args.screen(known);
    let stop = Stop::new();
    interrupt::raise_on_signal(&stop, &screen)?;
    let nobody = Onlookers::nobody();
    let [mut bench_a, mut bench_b] = [0, 1].map(|_| nobody.bench(Series::of(&scenarios, &runner), (Some(&screen), None), &stop));
    let [a, b] = sides.each_ref().map(|side| side.subject.clone());
    let mut compared = Comparison::new(name, a, b, wanted.get(), Margins::default(), None);
    let settings = Settings { plans: &plans, pairs: Some(wanted), cooldown, seed, is_profiled: [false; 2] };
    let ended = experiment::compare::carry_out(&settings, &mut compared, [&mut bench_a, &mut bench_b], &mut |_, _| ());
    screen.clear();
    ended?;
    Ok(Some((compared, stop.urgency() > Urgency::None)))
}

/// Both plans of every pair, some pairs in reserve for those that will say nothing about the server. Every mistake goes to
/// `errors`.
fn plans(sides: &[PreparedSide; 2], pairs: NonZeroU32, seed: u64, errors: &mut PlanErrors) -> Vec<[Plan; 2]> {
    let mut plans = Vec::new();
    for number in 0..pairs.get().saturating_add(pairs.get() / 2) {
        let seed = seed.wrapping_add(number.into());
        let [a, b] = sides.each_ref().map(|side| {
            // What the seed was given as is looked at with everything else.
            let mut load = side.load.clone();
            if !matches!(load.draft.seed, Some(Setting::Wrong { .. })) {
                load.draft.seed = Some(Setting::Value(seed));
            }
            let plan = inputs::decide(load, &side.scenarios, errors)?;
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
fn look(side: &PreparedSide, plan: &Plan, runner: &Runner) -> Result<(), Failed> {
    let looked = match side.subject.command {
        // Its server is not there yet.
        Some(_) => runner.fit(plan),
        None => runner.prepare(plan).map(drop),
    };
    looked.map_err(Failed::from)
}

/// One side, decided except for the seed.
#[derive(Debug)]
struct PreparedSide {
    subject: Subject,
    load: LoadRecord,
    /// What its files hold.
    scenarios: Scenarios,
    /// What of these is not carried over.
    left_out: Vec<String>,
    from_file: bool,
    /// Why the figures of the result it comes from are not the server's.
    invalid: Option<String>,
    /// The other machines that it came from.
    machines: Vec<String>,
}

/// The request of a pasted curl command in the draft, if there is one, and the addresses: of A, of B, and of both commands. An address
/// without a path says which server is asked for what the command asks for.
fn pasted(
    mut draft: Draft,
    [other, served_at]: [Option<String>; 2],
    importing: &Importing,
    (reader, voice): (&Rc<Reader>, Remarks),
    errors: &mut PlanErrors,
) -> (Draft, [Option<String>; 3], Vec<String>) {
    let words = imported::pasted(&mut draft);
    let mut addresses = [draft.url.take(), other, served_at];
    let Some(words) = words else { return (draft, addresses, Vec::new()) };
    let before = errors.0.len();
    let (mut request, mut left_out) = importing.of_words(&words, (reader, voice), errors);
    let ways = resolve::leave_ways(&mut request, &draft);
    importing.tell("the curl command", &ways, (reader.secrets(), voice));
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
        } else if matches!(resolve::behind_host(address), "" | "/") {
            *address = format!("{}{}", address.trim_end_matches('/'), resolve::behind_host(&asked));
        }
    }
    // Wherever it leads is said by the sides.
    request.url = addresses.iter().flatten().find(|address| address.starts_with("https://")).or(addresses[0].as_ref()).cloned();
    resolve::leave_tls(&mut request);
    (Draft { url: None, ..request }.overlaid(draft), addresses, left_out)
}

/// What the two sides are. Every mistake goes to `errors`.
fn sides(
    draft: Draft,
    other: Option<String>,
    commands: [Option<String>; 2],
    served_at: Option<String>,
    (importing, at, reader): (&Importing, &At, &Rc<Reader>),
    errors: &mut PlanErrors,
) -> Option<[PreparedSide; 2]> {
    let usage = "loadline compare http://old:8080/ http://new:8080/, or --a 'command' --b 'command' --url http://127.0.0.1:8080/";
    let mut wrong = |message: &str| {
        errors.push(PlanError::new("compare", message, format!("write {usage}")));
        None
    };
    match (draft.url.clone(), other, commands, served_at) {
        (None, None, [Some(a), Some(b)], Some(url)) => {
            look_without_files(&draft, importing, errors);
            let draft = Draft { url: Some(url.clone()), ..draft };
            let ImportedLoad { mut load, scenarios, left_out } = importing.of_side(draft.into(), Some(url), (reader, &[]), errors);
            load.draft.warmup.get_or_insert(Setting::Value(Warmup::Lasting(WARMUP_AFTER_START)));
            lasting(&mut load, &scenarios);
            let side = |command: String| PreparedSide {
                subject: Subject { name: command.clone(), command: Some(command) },
                load: load.clone(),
                scenarios: scenarios.clone(),
                left_out: left_out.clone(),
                from_file: false,
                invalid: None,
                machines: Vec::new(),
            };
            Some([side(a), side(b)])
        }
        (Some(a), Some(b), [None, None], None) => targets(draft, [a, b], (importing, at, reader), errors),
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
        (None, _) => importing.complain_without_a_file(draft, false, errors),
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
fn targets(
    draft: Draft,
    names: [String; 2],
    (importing, at, reader): (&Importing, &At, &Rc<Reader>),
    errors: &mut PlanErrors,
) -> Option<[PreparedSide; 2]> {
    let is_file = |name: &str| !name.contains("://") && (name.starts_with('@') || name.ends_with(".json") || Path::new(name).is_file());
    let over = Draft { url: None, ..draft };
    // Where a file leaves open who is asked.
    let host = importing.target().or_else(|| names.iter().find(|name| is_address(name)).cloned());
    let mut files: Vec<Option<(File, Again)>> = Vec::new();
    let mut read: Vec<Scenarios> = Vec::new();
    for name in &names {
        let named = || LoadRecord::from(Draft { scenario: Some(name.clone()), ..Draft::default() });
        if let Some(scenarios) = (!name.contains("://")).then(|| importing.file_of_side(name, host.clone(), reader)).flatten() {
            // It says where, how much and what, as a plan does.
            read.push(scenarios);
            files.push(Some((File::Scenario, Again { load: named(), checks: Vec::new(), invalid: None, machines: Vec::new() })));
            continue;
        }
        files.push(match is_file(name).then(|| inputs::saved("compare", name, at)) {
            Some(Err(error)) => {
                errors.push(error);
                return None;
            }
            Some(Ok(saved)) => Some((File::Saved, saved)),
            None => None,
        });
    }
    if files.iter().all(Option::is_none) {
        look_without_files(&over, importing, errors);
    }
    let mistakes: Vec<PlanError> = names
        .iter()
        .zip(&files)
        .filter(|(_, file)| file.is_none())
        .filter_map(|(name, _)| resolve::mistake(name, reader.inputs()))
        .collect();
    if !mistakes.is_empty() {
        mistakes.into_iter().for_each(|mistake| errors.push(mistake));
        return None;
    }
    let base = files.iter().flatten().next().map_or_else(LoadRecord::default, |(_, again)| again.load.clone());
    let mut sides = names.into_iter().zip(files).map(|(name, file)| {
        let is_a_file = file.is_some();
        let from_file = matches!(file, Some((File::Saved, _)));
        let (invalid, machines) = file.as_ref().map(|(_, again)| (again.invalid.clone(), again.machines.clone())).unwrap_or_default();
        let (url, load) = match file {
            Some((_, again)) => (importing.target(), again.load.repeated(over.clone().into())),
            None => (Some(name.clone()), base.clone().overlaid(over.clone().into())),
        };
        let (load, mut left_of_saved) = match url {
            Some(url) => {
                let (mut load, left) = imported::elsewhere(load, &over);
                load.draft.url = Some(url);
                (load, left)
            }
            None => (load, Vec::new()),
        };
        let side_s_own = load.draft.url.clone().filter(|_| from_file);
        let host = host.clone().or(side_s_own);
        let ImportedLoad { mut load, scenarios, left_out } = importing.of_side(load, host, (reader, &read), errors);
        left_of_saved.extend(left_out);
        read.push(scenarios.clone());
        lasting(&mut load, &scenarios);
        // Written down as every URL is: without its secrets.
        let name = if is_a_file { name } else { name.parse::<plan::Target>().map_or(name, |target| target.to_string()) };
        PreparedSide { subject: Subject { name, command: None }, load, scenarios, left_out: left_of_saved, from_file, invalid, machines }
    });
    Some([sides.next()?, sides.next()?])
}

/// Ends the run after the default time unless something else does.
fn lasting(load: &mut LoadRecord, scenarios: &Scenarios) {
    let stages_end = |draft: &Draft| have_an_end(draft.rate.as_ref()) || have_an_end(draft.connections.as_ref());
    let population_ends = |population: &PopulationDraft| {
        let PopulationDraft { duration, rate, connections, .. } = population;
        duration.is_some() || have_an_end(rate.as_ref()) || have_an_end(connections.as_ref())
    };
    let own = scenarios.own_load(load);
    let populations = if load.sources.populations.is_empty() { &own.sources.populations } else { &load.sources.populations };
    let own_end =
        own.draft.duration.is_some() || own.draft.requests.is_some() || stages_end(&own.draft) || populations.iter().any(population_ends);
    let draft = &mut load.draft;
    if draft.requests.is_none() && !stages_end(draft) && !(own_end && draft.rate.is_none()) {
        draft.duration.get_or_insert(Setting::Value(DURATION));
    }
}

/// Whether stages are given, and say how long they take.
fn have_an_end<V: Amount>(stages: Option<&Setting<Stages<V>>>) -> bool {
    matches!(stages, Some(Setting::Value(stages)) if stages.length().is_some())
}

/// The seed both sides begin with.
fn seed_of(sides: &[PreparedSide; 2]) -> u64 {
    match sides[0].load.draft.seed {
        Some(Setting::Value(seed)) => seed,
        _ => 1,
    }
}

/// `old_new`, from whatever tells the sides apart: their paths, their hosts, or their queries.
fn suggested(sides: &[PreparedSide; 2]) -> String {
    let url = |side: &PreparedSide| match (&side.subject.command, side.from_file) {
        (None, false) => side.load.draft.url.clone(),
        _ => None,
    };
    let file = |side: &PreparedSide| Path::new(&side.subject.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let is_named = |side: &PreparedSide| side.from_file || side.load.draft.scenario.as_ref() == Some(&side.subject.name);
    let path = |side: &PreparedSide| if is_named(side) { file(side) } else { url(side).map(|url| name::of_url(&url)) };
    let host = |side: &PreparedSide| {
        url(side)?.parse::<plan::Target>().ok().map(|target| name::of_url(&format!("http://a/{}", target.authority())))
    };
    let query = |side: &PreparedSide| {
        let target = url(side)?.parse::<plan::Target>().ok()?;
        Some(name::of_url(&format!("http://a{}", target.path_and_query().replace('?', "/"))))
    };
    let apart = |[a, b]: [Option<String>; 2]| a.zip(b).filter(|(a, b)| a != b).map(|(a, b)| format!("{a}_{b}"));
    let told_apart =
        apart(sides.each_ref().map(path)).or_else(|| apart(sides.each_ref().map(host))).or_else(|| apart(sides.each_ref().map(query)));
    told_apart.unwrap_or_else(|| "a_b".to_owned())
}

/// A setting of this command, or its default.
pub fn given<T: std::fmt::Display>(
    name: SettingName,
    given: Option<Setting<T>>,
    default: T,
    [kind, value]: [&str; 2],
    errors: &mut PlanErrors,
) -> T {
    match given {
        None => default,
        Some(Setting::Value(value)) => value,
        Some(Setting::Wrong { text, why }) => {
            errors.push(PlanError::new(name, format!("{name:#} '{text}' {why}"), format!("give {kind}, such as {name:#} {value}")));
            default
        }
    }
}

/// The bench of one side, whose server is started for each of its runs where it has a command.
struct SideBench<'a> {
    bench: ServerBench<'a>,
    /// Its place: 0 or 1.
    side: usize,
    command: Option<&'a str>,
    ready_within: Nanos,
}

impl Bench for SideBench<'_> {
    fn measure(&mut self, load: &Load<'_>, judge: Judge<'_>) -> Result<Measurement, RunError> {
        let flag = ["--a", "--b"][self.side];
        let server = match self.command {
            None => None,
            Some(command) => Some(Server::start(flag, command, &Place::of(load.plan), self.ready_within, self.bench.stop)?),
        };
        let measured = self.bench.measure(load, judge);
        // That the server is gone explains more than what its absence did to the run.
        if let Some(server) = server {
            server.stop()?;
        }
        measured.map_err(|error| RunError { message: error.message.under(["A", "B"][self.side]), ..error })
    }

    fn rest(&mut self, span: Nanos) {
        self.bench.rest(span);
    }

    fn now(&self) -> Nanos {
        self.bench.now()
    }

    fn is_interrupted(&self) -> bool {
        self.bench.is_interrupted()
    }
}

/// Why so many pairs are measured.
fn needed(Need { pairs, metric, deviation }: Need) -> String {
    let varies = format!("the change of {metric} varies by {} % from pair to pair", tenths(deviation));
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
