//! What becomes of a survey: a report, files, and a scenario with how near it comes.

use std::path::{Path, PathBuf};

use analysis::quantity::{counted, length, share};
use clap::{ArgAction, Args};
use import::SurveyPart;
use import::collection::{Described, FILE_BYTES_MAX};
use import::workload::{Beside, Workload};
use plan::{Nanos, PlanError, PlanErrors};
use report::TRAFFIC_FORMATS;
use report::traffic::{TrafficReport, in_words, notes};
use scenario::Scenario;

use crate::exit::{Exit, Failed};
use crate::inputs::{plainly, whole};
use crate::output_args::OutputArgs;
use crate::outputs::{Existing, Out, Renderings, StandardOutput, out_help, to_stdout};

/// Where it goes, as typed.
#[derive(Debug, Args)]
pub(super) struct OutcomeArgs {
    /// Write a scenario like this traffic, for loadline run, with what was asked for beside it (FILE.paths.csv), and say how near it comes
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    to: Option<String>,

    /// Take bodies for what writes (POST, PUT, PATCH) from the examples of this OpenAPI description; for --to
    #[arg(long, value_name = "SPEC", help_heading = "Output")]
    openapi: Option<PathBuf>,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(TRAFFIC_FORMATS), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    output_args: OutputArgs,
}

impl OutcomeArgs {
    pub(super) fn existing(&self) -> Existing {
        Existing::from(self.force)
    }

    /// Notes what cannot be made of a part.
    pub(super) fn refuse(&self, errors: &mut PlanErrors) {
        for (flag, is_given) in [("to", self.to.is_some()), ("openapi", self.openapi.is_some()), ("out", !self.out.is_empty())] {
            if is_given {
                errors.push(PlanError::new(
                    flag,
                    format!("--{flag} is for a whole survey, and this is to be a part of one"),
                    format!("give --{flag} to loadline traffic merge"),
                ));
            }
        }
    }
}

/// Where it goes, looked at and ready.
pub(super) struct Outcome {
    out: Vec<Out>,
    outs: Renderings<TrafficReport>,
    scenario: Option<String>,
    paths_file: Option<String>,
    described: Option<Described>,
    output_args: OutputArgs,
}

impl Outcome {
    pub(super) fn check(args: OutcomeArgs, errors: &mut PlanErrors) -> Self {
        let OutcomeArgs { to, openapi, out, force, output_args } = args;
        let mut out: Vec<Out> = out.into_iter().map(|out| out.with_format(TRAFFIC_FORMATS)).collect();
        out.extend(to.iter().flat_map(|file| format!("scenario={file}").parse()));
        let scenario = out.iter().find_map(|out| out.file_of("scenario")).map(str::to_owned);
        if let Some(file) = scenario.as_ref().filter(|_| !out.iter().any(|out| out.file_of("paths").is_some())) {
            out.extend(format!("paths={}", paths_beside(file)).parse::<Out>());
        }
        let anywhere = || out.iter().any(|out| out.is_of("paths")).then_some("paths.csv");
        let paths_file = out.iter().find_map(|out| out.file_of("paths")).or_else(anywhere).map(str::to_owned);
        let outs = Renderings::check(&out, TRAFFIC_FORMATS, Existing::from(force), StandardOutput::Free, errors);
        let described = openapi.and_then(|path| match described(&path) {
            Ok(_) if scenario.is_none() => {
                errors.push(PlanError::new(
                    "openapi",
                    "--openapi gives bodies to a scenario, and none is written",
                    "add --to FILE, or leave it out",
                ));
                None
            }
            Ok(described) => Some(described),
            Err(error) => {
                errors.push(error);
                None
            }
        });
        Self { out, outs, scenario, paths_file, described, output_args }
    }

    /// Whether it takes what routes were asked for.
    pub(super) fn needs_targets(&self) -> bool {
        self.paths_file.is_some() || self.out.iter().any(|out| out.is_of("urls"))
    }

    /// Says what a survey says, everywhere it was to be said.
    pub(super) fn tell(self, part: SurveyPart) -> Result<Exit, Failed> {
        let Self { out, outs, scenario, paths_file, described, output_args } = self;
        let traffic = part.traffic();
        let mut workload = None;
        let mut text = String::new();
        if out.iter().any(|out| out.is_of("scenario") || out.is_of("paths")) {
            // Beside each other they are called by their names alone.
            let name = paths_file.as_deref().map(|file| match (&scenario, Path::new(file).file_name()) {
                (Some(scenario), Some(name)) if Path::new(scenario).parent() == Path::new(file).parent() => name.to_string_lossy(),
                _ => file.into(),
            });
            workload = Workload::of(&traffic, Beside { paths_file: name.as_deref(), described: described.as_ref() });
            text = match &workload {
                Some(made) => {
                    scenario::print(&Scenario::new(None, made.settings.clone(), made.work.clone()), &notes(&traffic, made, name.as_deref()))
                }
                None => "# Nothing in this log can be sent: its requests write, or tell no time.\n".to_owned(),
            };
        }
        let paths = workload.as_mut().and_then(|made| made.paths.take());
        let outs = if paths.is_none() { outs.without("paths") } else { outs };
        let surveyed = TrafficReport { traffic, scenario: text, paths };
        let mut lost = PlanErrors::default();
        outs.write(&surveyed, &mut lost);
        let TrafficReport { traffic, paths, .. } = surveyed;
        if !outs.to_stdout()
            && let Err(why) = to_stdout(report::traffic::text(&traffic, &output_args.styles().stdout).as_bytes())
        {
            lost.push(PlanError::new(
                "out",
                format!("the report could not be written to standard output: {}", plainly(&why)),
                "give --out text=FILE",
            ));
        }
        if !lost.is_empty() {
            return Err(Failed::unwritten(lost));
        }
        if let Some(file) = scenario.filter(|_| traffic.requests > 0 && !outs.to_stdout()) {
            crate::command::print(
                format!("\n{}", near(&file, paths_file.as_deref().filter(|_| paths.is_some()), &traffic, workload.as_ref())).as_bytes(),
            )?;
        }
        // Nothing could be read of what is not empty: whoever scripts this must not take it for a quiet day.
        if traffic.requests == 0 && traffic.lines > 0 {
            return Err(Failed::new(
                Exit::Usage,
                "no line of these logs could be read",
                "name their form with --log-format, or their fields with --field",
            ));
        }
        Ok(Exit::Done)
    }
}

/// `shop.paths.csv` beside `shop.yaml`.
fn paths_beside(scenario: &str) -> String {
    let bare = scenario.strip_suffix(".yaml").or_else(|| scenario.strip_suffix(".yml")).unwrap_or(scenario);
    format!("{bare}.paths.csv")
}

/// What was written, and how near it comes.
fn near(file: &str, paths: Option<&str>, traffic: &import::Traffic, made: Option<&Workload>) -> String {
    let Some(made) = made else { return format!("  {file}: Nothing in this log can be sent.\n") };
    let mut text = format!("  {file}: {}\n", in_words(&made.fidelity));
    let as_what = if made.lasts < Nanos::from_secs(3600) { "as the log does" } else { "the log's busiest hour" };
    text += &format!("  {file}: It lasts {}, {as_what}; -d gives another time.\n", length(made.lasts));
    let others = traffic.others.as_ref().map_or(0, |others| others.requests);
    let routes = made.left_out.len() + usize::from(others > 0);
    let requests = made.left_out.iter().map(|(_, requests, _)| requests).sum::<u64>() + others;
    if routes > 0 {
        let share = share(requests, traffic.requests);
        let is = if routes == 1 { "is" } else { "are" };
        text += &format!("  {file}: {} ({share} of requests) {is} left out, and listed in it.\n", counted(routes as u64, "route"));
    }
    if let Some(paths) = paths {
        text += &format!("  {paths}: what the others were asked for. {}\n", report::traffic::stand_ins(traffic).unwrap_or_default());
    }
    text
}

/// What an API says of itself.
fn described(path: &Path) -> Result<Described, PlanError> {
    let help = "give a description by OpenAPI 3, in YAML or JSON";
    let wrong = |why: String| PlanError::new("openapi", format!("--openapi '{}' cannot be read: {why}", path.display()), help);
    let bytes = whole(path, FILE_BYTES_MAX).map_err(|why| wrong(plainly(&why)))?;
    Described::read(&bytes).map_err(|why| wrong(why.wording().marked().to_owned()))
}
