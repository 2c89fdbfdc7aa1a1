//! `loadline calibrate`: what this machine can do at most, and what a target differs from itself by.
//!
//! A report that says "60,000 requests a second" leaves open whether the server or the machine that asked was at its end.
//! Against a server that does nothing only the latter is left. That server runs on the same cores, so where it gives out
//! first the ceiling is worked out from what a request cost the generator, and both figures are shown. With `--aa` a target is
//! compared with itself, which tells how large a difference between two runs has to be before it means anything.

use std::fmt::Write as _;
use std::num::{NonZeroU32, NonZeroUsize};

use analysis::compare::{self as compared, Margins, Metric, PAIRS_MIN, values};
use analysis::quantity::{NONE, figure, length, percent, time};
use clap::Args;
use engine::{Runner, Stop, machine};
use experiment::calibrate::{Ceiling, Settings};
use experiment::calibration::Calibration;
use plan::{Draft, Nanos, PlanError, PlanErrors, Random, Setting, setting};
use resolve::KnownSecrets;
use testbed::{Config, Testbed, Tls};

use super::{compare, print, unprinted};
use crate::bench::Onlookers;
use crate::exit::{Exit, Failed};
use crate::inputs::plainly;
use crate::output_args::OutputArgs;
use crate::outputs::to_stdout;
use crate::screen::Screen;
use crate::workload::Series;
use crate::{calibration, inputs, interrupt};

/// What to measure.
#[derive(Debug, Args)]
#[command(
    mut_arg("url", |arg| arg.hide(true)),
    mut_arg("duration", |arg| arg.help("Measure each run for this long, such as 5s [default: 1s, with --aa 5s]"))
)]
pub struct Calibrate {
    #[command(flatten)]
    draft: Draft,

    /// Compare this target with itself under the load given, and remember what differs by chance
    #[arg(long, value_name = "URL", help_heading = "Calibration")]
    aa: Option<String>,

    /// With --aa: measure N pairs [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Calibration")]
    pairs: Option<Setting<NonZeroU32>>,

    /// With --aa: rest for this long between runs [default: 500ms]
    #[arg(long, value_name = "TIME", help_heading = "Calibration")]
    cooldown: Option<Setting<Nanos>>,

    #[command(flatten)]
    output_args: OutputArgs,
}

const DURATION: Nanos = Nanos::SECOND;
/// With --aa: enough to draw comparisons from.
const PAIRS: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// How many comparisons of a target with itself are drawn from its pairs (docs/measurement.md §3.8).
const COMPARISONS: u64 = 1_000;
/// The stream of chance of those draws.
const AA_STREAM: u64 = 0xAA;

/// Measures, prints and remembers.
pub fn carry_out(calibrate: Calibrate, known: &KnownSecrets) -> Result<Exit, Failed> {
    let Calibrate { draft, aa, pairs, cooldown, output_args } = calibrate;
    known.learn(&Draft { url: aa.clone(), ..draft.clone() });
    match aa {
        Some(url) => differ(Draft { url: Some(url), ..draft }, pairs, cooldown, (output_args, known)),
        None => {
            let mut errors = PlanErrors::default();
            let duration = compare::given(setting::DURATION, draft.duration.clone(), DURATION, ["a time", "1s"], &mut errors);
            if (Draft { duration: None, ..draft }) != Draft::default() || pairs.is_some() || cooldown.is_some() {
                errors.push(PlanError::new(
                    "aa",
                    "a load is given, but no target to compare with itself",
                    "give it with --aa URL; the machine itself is calibrated without a load",
                ));
            }
            if duration < Nanos::from_millis(100) {
                errors.push(PlanError::new("duration", format!("--duration {duration} is too short to measure"), "give at least 100ms"));
            }
            if !errors.is_empty() {
                return Err(errors.into());
            }
            climb(duration, output_args, known)
        }
    }
}

/// The ceiling and the lag by rate.
fn climb(duration: Nanos, output_args: OutputArgs, known: &KnownSecrets) -> Result<Exit, Failed> {
    let screen = output_args.screen(known);
    let stop = Stop::new();
    interrupt::raise_on_signal(&stop, &screen)?;
    let all = machine::cores().get();
    let threads: Vec<u32> = if all > 1 { vec![1, all] } else { vec![1] };
    let mut kept = calibration::kept().unwrap_or_else(Calibration::empty);
    kept.ceilings.clear();
    kept.lags.clear();
    say(&screen, "\n  How much this machine can send, against a server in this process that does nothing:\n\n")?;
    say(&screen, "    threads  connections    TLS  requests/s  busiest thread  ceiling\n")?;
    let scenarios = inputs::scenarios(known);
    let decide = |draft: Draft| {
        let mut errors = PlanErrors::default();
        inputs::decide(draft.into(), &scenarios, &mut errors).filter(|_| errors.is_empty()).ok_or(errors)
    };
    let nobody = Onlookers::nobody();
    let mut bench = nobody.bench(Series::of(&scenarios, &Runner::threads()), (Some(&screen), None), &stop);
    for encrypted in [false, true] {
        let server = null_server(encrypted)?;
        let draft = Draft { url: Some(server.url("/healthz")), insecure: encrypted, ..Draft::default() };
        let settings = Settings { server: draft, tls: encrypted, threads: &threads, duration, decide: &decide };
        let mut told = Ok(());
        let reach = experiment::calibrate::carry_out(&settings, &mut bench, &mut |ceiling| {
            let said = say(&screen, &row(ceiling));
            told = std::mem::replace(&mut told, Ok(())).and(said);
        });
        told?;
        let Some(reach) = reach? else { return Ok(Exit::Interrupted) };
        kept.ceilings.extend(reach.ceilings);
        kept.lags.extend(reach.lags);
        drop(server);
    }
    screen.clear();
    let mut text = "\n  How late requests leave, by rate:\n\n    threads    TLS     asked/s  answered/s   lag 50 %   lag 99 %\n".to_owned();
    let shown = |ns: Option<u64>| ns.map_or_else(|| NONE.to_owned(), |ns| time(ns as f64));
    for lag in &kept.lags {
        let _ = writeln!(
            text,
            "    {:>7}  {:>5}  {:>10}  {:>10}  {:>9}  {:>9}",
            lag.threads,
            if lag.tls { "yes" } else { "no" },
            figure(lag.offered.round()),
            figure(lag.answered.round()),
            shown(lag.p50_ns),
            shown(lag.p99_ns)
        );
    }
    text += "\n  Ceiling: where the busiest thread would have no processor time left. The server that does nothing uses the\n  \
             same cores, so fewer were reached.\n";
    say(&screen, &text)?;
    remember(&kept)
}

/// Pairs of runs of one target, and what they differ by.
fn differ(
    draft: Draft,
    pairs: Option<Setting<NonZeroU32>>,
    cooldown: Option<Setting<Nanos>>,
    speaking: (OutputArgs, &KnownSecrets),
) -> Result<Exit, Failed> {
    let mut errors = PlanErrors::default();
    let pairs = compare::given(setting::PAIRS, pairs, PAIRS, ["a whole number", "10"], &mut errors);
    let cooldown = compare::given(setting::COOLDOWN, cooldown, compare::COOLDOWN, ["a time", "1s"], &mut errors);
    if pairs.get() < PAIRS_MIN as u32 {
        errors.push(PlanError::new(
            "pairs",
            format!("--pairs {pairs} are too few to tell what differs by chance"),
            format!("give at least {PAIRS_MIN}"),
        ));
    }
    let url = draft.url.clone().unwrap_or_default();
    let compared = compare::with_itself(draft, pairs, cooldown, speaking, &mut errors)?;
    let Some((compared, is_interrupted)) = compared else { return Err(errors.into()) };
    if is_interrupted {
        return Ok(Exit::Interrupted);
    }
    let Some(first) = compared.sound().next() else {
        return Err(Failed::new(
            Exit::NotTrustworthy,
            "no pair says anything about the server: the load generator was the limit of all",
            "give fewer --connections or a lower --rate, or measure from another machine",
        ));
    };
    let plan = first.a.plan.clone();
    let started = first.a.started.clone();
    let both: Vec<_> = compared.sound().map(|pair| (values(&pair.a), values(&pair.b))).collect();
    let mut random = Random::new(plan.seed(), AA_STREAM);
    let noise = compared::Calibration::of(&both, both.len(), COMPARISONS, &Margins::default(), &mut random);
    let mut text = format!(
        "\n  {url} differs from itself under this load, in comparisons of {} pairs{}:\n\n",
        both.len(),
        plan.duration().map_or_else(String::new, |duration| format!(" of {}", length(duration)))
    );
    let _ = writeln!(text, "    {:<14}  {:>8}  {:>8}  {:>13}", "", "95 of 100", "half", "between runs");
    for (metric, noise) in noise.noise.iter().filter(|(metric, _)| **metric != Metric::FailureShare) {
        let share = |share: f64| format!("±{} %", figure(share * 100.0));
        let _ = writeln!(
            text,
            "    {:<14}  {:>9}  {:>8}  {:>13}",
            metric.name(),
            share(noise.reach),
            share(noise.typical),
            share(noise.deviation)
        );
    }
    let _ = writeln!(
        text,
        "\n  Of {} such comparisons {} raised a false alarm{}.",
        noise.comparisons,
        noise.alarms,
        if noise.is_sound() { "" } else { ": more than promised, so later comparisons of this target say so" }
    );
    to_stdout(text.as_bytes()).map_err(|why| unprinted(&why))?;
    let mut kept = calibration::kept().unwrap_or_else(Calibration::empty);
    kept.learn(&plan, &started, noise);
    remember(&kept)
}

fn remember(kept: &Calibration) -> Result<Exit, Failed> {
    match calibration::keep(kept) {
        Ok(path) => print(format!("\n  kept in {}\n", path.display()).as_bytes()),
        Err(why) => Err(Failed::new(
            Exit::OutputNotWritten,
            format_args!("the calibration cannot be kept: {why}"),
            "set XDG_DATA_HOME to a directory you may write to",
        )),
    }
}

/// A ceiling in a line.
fn row(ceiling: &Ceiling) -> String {
    format!(
        "    {:>7}  {:>11}  {:>5}  {:>10}  {:>12} %  {:>7}\n",
        ceiling.threads,
        ceiling.connections,
        if ceiling.tls { "yes" } else { "no" },
        figure(ceiling.qps_reached),
        percent((ceiling.cpu_share_busiest * 100.0).round()),
        figure(ceiling.qps().round())
    )
}

/// A server that answers at once, with half of the cores.
fn null_server(encrypted: bool) -> Result<Testbed, Failed> {
    let threads = NonZeroUsize::new(machine::cores().get() as usize / 2).unwrap_or(NonZeroUsize::MIN);
    let config = Config::new().threads(threads);
    let config = if encrypted { Tls::new().map(|tls| config.tls(tls)) } else { Ok(config) };
    config.and_then(Testbed::start).map_err(|why| {
        Failed::new(
            Exit::NotCarriedOut,
            format_args!("the null server cannot be started: {}", plainly(&why)),
            "raise the limits of open files",
        )
    })
}

fn say(screen: &Screen, text: &str) -> Result<(), Failed> {
    screen.print(text).map_err(|why| unprinted(&why))
}
