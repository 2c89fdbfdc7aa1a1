//! `loadline replay LOG… TARGET`: the requests of a log sent again, at their times.
//!
//! What a log holds is looked at first, and told: how much of it is sent and what is left out, and why. Then it is an open load as
//! any other, whose times are those of the log instead of a rate's; and the answers are held beside those of the log.

mod telling;

use ::replay::{Clients, Log, LogFacts, Moment, Options, Pattern, Rewrite, Writes};
use clap::{Arg, ArgAction, Args};
use engine::Runner;
use history::Kind;
use import::{FieldRole, FormChoice, KNOWN};
use plan::{Draft, LoadRecord, Nanos, Plan, PlanError, PlanErrors, Rate, Setting, Sources, Speed, Stage, Target, Timetable};
use resolve::{KnownSecrets, Scenarios};

use crate::detail::Detail;
use crate::exit::{Exit, Failed};
use crate::inputs::plainly;
use crate::measuring::MeasuringArgs;
use crate::outputs::{Out, Outputs, run_out_help};
use crate::request_log::{LOG_FORMATS, StepPlaces};
use crate::screen::{Remarks, complain_without};
use crate::single_run::SingleRun;
use crate::workload::Workload;
use crate::{inputs, saved};

/// A log, how it is played, and where the results go.
#[derive(Debug, Args)]
#[command(override_usage = "loadline replay [OPTIONS] <LOG>... <TARGET>", mut_args(of_a_replay))]
pub struct Replay {
    /// Logs, plain, gzip or Zstandard (- is standard input), and behind them the server they are sent to, such as http://127.0.0.1:8080
    #[arg(value_name = "LOGS AND TARGET", required = true, num_args = 1..)]
    words: Vec<String>,

    /// Play it N times as fast, such as 2x or 0.5x [default: 1x]
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true, help_heading = "Replay")]
    speed: Option<Setting<Speed>>,

    /// From this moment of the log on: 2024-01-31T13:55 (by the log's clock), 13:55, or +10m after its beginning
    #[arg(long, value_name = "MOMENT", help_heading = "Replay")]
    from: Option<Setting<Moment>>,

    /// Up to this moment of the log
    #[arg(long, value_name = "MOMENT", help_heading = "Replay")]
    to: Option<Setting<Moment>>,

    /// Send only these requests: '/api/*', 'GET /users/*'; a star is any letters (repeatable)
    #[arg(long, value_name = "PATTERN", help_heading = "Replay")]
    only: Vec<Setting<Pattern>>,

    /// Do not send these requests, such as '*.css' (repeatable)
    #[arg(long, value_name = "PATTERN", help_heading = "Replay")]
    except: Vec<Setting<Pattern>>,

    /// Send only what was asked of this host, where the log names it; * for all [default: all; of a HAR, the page's] (repeatable)
    #[arg(long, value_name = "HOST", help_heading = "Replay")]
    host: Vec<String>,

    /// Send other paths than the log's: '/v1/* => /v2/*'; each rule is held against what those before it made (repeatable)
    #[arg(long, value_name = "RULE", help_heading = "Replay")]
    rewrite: Vec<Setting<Rewrite>>,

    /// Send requests that may change something too (POST, DELETE, …); access logs hold no bodies, so theirs are empty
    #[arg(long, help_heading = "Replay")]
    writes: bool,

    /// Send a client's next request not before its last is answered; the wait counts
    #[arg(long, help_heading = "Replay")]
    per_client_order: bool,

    /// Say what would be sent, and end
    #[arg(long, help_heading = "Replay")]
    dry_run: bool,

    /// The form of the logs instead of a guess: a name, or a format string of nginx, Apache or Envoy
    #[arg(long, value_name = "NAME|STRING", help = format_help(), help_heading = "Replay")]
    log_format: Option<String>,

    /// Which field of JSON lines says what, such as path=request.uri (repeatable)
    #[arg(long, value_name = "WHAT=FIELD", action = ArgAction::Append, help_heading = "Replay")]
    field: Vec<FieldRole>,

    #[command(flatten)]
    draft: Draft,

    /// Call it so in the history [default: from the host of TARGET]
    #[arg(long, value_name = "NAME", help_heading = "History")]
    name: Option<String>,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = run_out_help(), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    detail: Detail,

    #[command(flatten)]
    measuring: MeasuringArgs,
}

/// Settings of other loads, which a log takes the place of.
const NOT_OURS: [&str; 21] = [
    "also_target",
    "expect",
    "duration",
    "requests",
    "rate",
    "pause",
    "warmup",
    "method",
    "data",
    "json",
    "form",
    "script",
    "sandbox",
    "script_arguments",
    "urls",
    "data_file",
    "data_order",
    "data_end",
    "no_templates",
    "follow",
    "url",
];

/// The settings of a load as they are here: those that a log takes the place of are not shown, and are refused by name.
fn of_a_replay(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        // What stands behind the logs is read from among the words.
        "url" => arg.long("target").hide(true),
        "arrivals" => arg.help(
            "How lines stand within a second where the log has no finer time: poisson (at random, as independent users come) or even \
             [default: poisson]",
        ),
        "connections" => arg.help("Open at most N connections [default: as many as are needed, up to 10,000]"),
        id if NOT_OURS.contains(&id) => arg.hide(true),
        _ => arg,
    }
}

/// Looks at the log, tells what it holds, plays it and reports.
pub fn carry_out(replay: Replay, known: &KnownSecrets) -> Result<Exit, Failed> {
    known.learn(&replay.draft);
    let mut errors = PlanErrors::default();
    let scenarios = inputs::scenarios(known);
    let decided = decide(&replay, (&scenarios, known), &mut errors);
    let Replay { draft, name, out, force, detail, measuring, dry_run, .. } = replay;
    let outputs = Outputs::check(&out, LOG_FORMATS, force.into(), &mut errors);
    let name = name.or_else(|| Some(saved::suggested(&decided.as_ref()?.tried))).unwrap_or_default();
    let agents = measuring.agents.decide(&draft, &mut errors);
    let measuring = measuring.decide((Kind::Run, &name), None, known, &mut errors);
    let Some(decided) = decided.filter(|_| errors.is_empty()) else { return Err(errors.into()) };

    // Whoever cannot be reached is told before a long log is looked at; and nobody is called to look at one.
    let runner = if dry_run { Runner::threads() } else { agents.runner(scenarios.reader())? };
    let (found, plan) = look(decided, &scenarios)?;
    let told = telling::told(&found, &plan, measuring.output_args.styles().stdout.width);
    if dry_run {
        return super::print(told.as_bytes());
    }
    if measuring.output_args.voice() == Remarks::Talking {
        complain_without(known, told.trim_end());
    }
    let single = SingleRun {
        word: "replay",
        plan: &plan,
        name,
        before: None,
        outputs,
        detail,
        measuring,
        known,
        runner,
        steps: StepPlaces::default(),
    };
    single.carry_out(|runner, _| Workload::replay(&plan, found, runner))
}

/// What a moment is like.
pub const MOMENT: &str = "give a moment of the log: a date and time, a time of day such as 13:55, or +10m after its beginning";
/// What a pattern is like.
pub const PATTERN: &str = "write a path, in which a star is any letters, and before it a method or none: 'GET /users/*'";

/// A value, or the mistake in it.
pub fn value<T: Clone>(setting: &'static str, given: &Setting<T>, help: &str, errors: &mut PlanErrors) -> Option<T> {
    match given {
        Setting::Value(value) => Some(value.clone()),
        Setting::Wrong { text, why } => {
            errors.push(PlanError::new(setting, format!("--{setting} '{text}' {why}"), help));
            None
        }
    }
}

/// What can be decided before the log is looked at.
struct Decided {
    load: LoadRecord,
    /// The same at some rate.
    tried: Plan,
    options: Options,
    /// The logs.
    names: Vec<String>,
}

fn decide(replay: &Replay, (scenarios, known): (&Scenarios, &KnownSecrets), errors: &mut PlanErrors) -> Option<Decided> {
    let mut draft = replay.draft.clone();
    refuse(&draft, errors);
    let (names, target) = match replay.words.as_slice() {
        [names @ .., target] if !names.is_empty() => (names.to_vec(), target.clone()),
        [one] if one.contains("://") => {
            errors.push(PlanError::new(
                "log",
                "no log is given",
                format!("name one before the target, as in loadline replay access.log {one}"),
            ));
            return None;
        }
        words => {
            let log = words.first().map_or("access.log", String::as_str);
            errors.push(PlanError::new(
                "target",
                "no target is given",
                format!("say where to send the requests, as in loadline replay {log} http://127.0.0.1:8080"),
            ));
            return None;
        }
    };
    if names.iter().filter(|name| *name == "-").count() > 1 {
        errors.push(PlanError::new("log", "standard input is given twice", "give - once"));
    }
    known.learn_address(&target);
    match target.parse::<Target>() {
        Err(why) => errors.push(PlanError::new(
            "target",
            format!("the target '{target}' {why}"),
            "give the server behind the logs, such as http://127.0.0.1:8080",
        )),
        Ok(parsed) if parsed.path_and_query() != "/" => errors.push(PlanError::new(
            "target",
            format!("the target '{target}' has a path or a query, and those of a replay are the log's"),
            format!(
                "give {}://{}, and --rewrite '/* => {}/*' if the log's paths are to stand below that one",
                parsed.scheme(),
                parsed.authority(),
                parsed.path_and_query().split('?').next().unwrap_or_default().trim_end_matches('/')
            ),
        )),
        Ok(_) => {}
    }

    let mut options = Options::default();
    match replay.log_format.as_deref().map(FormChoice::named).transpose() {
        Ok(asked) => options.form = asked.unwrap_or_default().with_fields(replay.field.iter().cloned()),
        Err(why) => errors.push(PlanError::new(
            "log_format",
            format!("--log-format: {why}"),
            "give the log_format of nginx, the LogFormat of Apache, or one of the names in loadline replay --help",
        )),
    }
    let faster = "give a factor, such as --speed 10x; for as many requests as the server takes, loadline run --connections N sends one URL \
                  or a list (--urls)";
    options.speed = replay.speed.as_ref().and_then(|given| value("speed", given, faster, errors)).unwrap_or_default();
    options.from = replay.from.as_ref().and_then(|given| value("from", given, MOMENT, errors));
    options.to = replay.to.as_ref().and_then(|given| value("to", given, MOMENT, errors));
    options.only = replay.only.iter().filter_map(|given| value("only", given, PATTERN, errors)).collect();
    options.except = replay.except.iter().filter_map(|given| value("except", given, PATTERN, errors)).collect();
    let rule = "write a path and what becomes of it, with => between: '/v1/* => /v2/*'";
    options.rewrites = replay.rewrite.iter().filter_map(|given| value("rewrite", given, rule, errors)).collect();
    options.hosts.clone_from(&replay.host);
    options.writes = if replay.writes { Writes::Sent } else { Writes::LeftOut };
    options.clients = if replay.per_client_order { Clients::InOrder } else { Clients::Free };

    draft.url = Some(target);
    draft.no_templates = true;
    let replay = Some(plan::Replay {
        logs: names.clone(),
        speed: options.speed,
        from: options.from.as_ref().map(ToString::to_string),
        to: options.to.as_ref().map(ToString::to_string),
        only: options.only.iter().map(ToString::to_string).collect(),
        except: options.except.iter().map(ToString::to_string).collect(),
        host: replay.host.clone(),
        rewrite: options.rewrites.iter().map(ToString::to_string).collect(),
        writes: replay.writes,
        per_client_order: replay.per_client_order,
    });
    // Every other mistake of the plan shows with any rate, and that of the target has been told.
    let load = LoadRecord { draft, sources: Sources { replay, ..Sources::default() } };
    let mut tried = with_load(load.clone(), 1.0, Nanos::SECOND);
    if tried.draft.url.as_ref().is_some_and(|url| url.parse::<Target>().is_err()) {
        tried.draft.url = Some("http://127.0.0.1/".to_owned());
    }
    let tried = inputs::decide(tried, scenarios, errors)?;
    options.seed = tried.seed();
    if let plan::Load::Open { spacing, .. } = tried.load() {
        options.spacing = *spacing;
    }
    Some(Decided { load, tried, options, names })
}

/// The same with a mean rate for so long.
fn with_load(mut load: LoadRecord, per_second: f64, length: Nanos) -> LoadRecord {
    let rate = Rate::per_second(per_second).expect("so many in so long is a rate");
    load.draft.rate = Some(Setting::Value(Timetable::new(vec![Stage::constant(rate, None)])));
    load.draft.duration = Some(Setting::Value(length));
    load
}

/// Complains of every setting that is another load's.
fn refuse(draft: &Draft, errors: &mut PlanErrors) {
    let body = "a request has the body that was captured with it (.gor), or none";
    let sends = "the log says what is sent";
    let when = "the log says what is sent when; --speed, --from and --to change that";
    let given: [(&str, bool, &str); 20] = [
        ("target", draft.url.is_some(), "the target stands behind the logs"),
        ("duration", draft.duration.is_some(), when),
        ("requests", draft.requests.is_some(), when),
        ("rate", draft.rate.is_some(), when),
        ("pause", draft.pause.is_some(), when),
        ("warmup", draft.warmup.is_some(), when),
        ("method", draft.method.is_some(), sends),
        ("data", draft.data.is_some(), body),
        ("json", draft.json.is_some(), body),
        ("form", !draft.form.is_empty(), body),
        ("message", draft.message.is_some(), body),
        ("proto", !draft.proto.is_empty() || !draft.proto_path.is_empty() || draft.descriptors.is_some(), "a replay is of HTTP"),
        ("script", draft.script.is_some() || draft.sandbox || !draft.script_arguments.is_empty(), sends),
        ("urls", draft.urls.is_some(), sends),
        ("data-file", !draft.data_file.is_empty(), sends),
        ("data-order", draft.data_order.is_some(), sends),
        ("data-end", draft.data_end.is_some(), sends),
        ("no-templates", draft.no_templates, "nothing in a replay is a template"),
        ("also-target", !draft.also_target.is_empty(), "all requests of a log go to the one target"),
        ("follow", draft.follow.is_some(), "what a redirect led to is in the log, as a request of its own"),
    ];
    for (setting, _, why) in given.into_iter().filter(|(_, given, _)| *given) {
        errors.push(PlanError::new(setting, format!("--{setting} is no setting of a replay: {why}"), format!("leave --{setting} out")));
    }
}

/// Looks at the logs, and makes the plan that sends what was found.
fn look(Decided { load, options, names, .. }: Decided, scenarios: &Scenarios) -> Result<(LogFacts, Plan), Failed> {
    let mut errors = PlanErrors::default();
    let mut logs = Vec::new();
    for name in &names {
        match Log::open(name) {
            Ok(log) => logs.push(log),
            Err(why) => errors.push(unreadable(name, &why)),
        }
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let found = ::replay::look(logs, options).map_err(|(name, why)| Failed::from(PlanErrors(vec![unreadable(&name, &why)])))?;
    if let Some(error) = telling::nothing(&found) {
        return Err(PlanErrors(vec![error]).into());
    }
    let plan = inputs::decide(with_load(load, found.per_second(), found.length()), scenarios, &mut errors);
    plan.map(|plan| (found, plan)).ok_or_else(|| errors.into())
}

fn unreadable(name: &str, why: &std::io::Error) -> PlanError {
    PlanError::new("log", format!("the log '{name}' cannot be read: {}", plainly(why)), "give a file, several, or - for standard input")
}

/// From the table of forms, so that none is missing.
fn format_help() -> String {
    let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    format!("Their form instead of a guess: a format string of nginx, Apache or Envoy, or one of {}", names.join(", "))
}
