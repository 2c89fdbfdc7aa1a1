//! `--against @baseline:NAME --allow 5%`: a run as a gate against one that was saved, in one command.
//!
//! The saved run and those of the same load in the history are read before the first request, so that a reference that means nothing
//! costs no run.

use analysis::gate::{self, Change, against};
use analysis::{Standing, Validity};
use clap::Args;
use history::{Entry, Kind, Store};
use measure::{Ending, Summary};
use plan::{Margin, Plan, PlanError, PlanErrors, Setting};
use report::{Document, unlike};

use crate::exit::Exit;
use crate::keeping::{At, ReadError};

/// What a run must not be worse than.
#[derive(Debug, Default, Args)]
pub struct Regression {
    /// Fail if it is surely worse than this saved run of the same load: @baseline:NAME, @last, an id or a file written with --out json=FILE
    #[arg(long, value_name = "RESULT", help_heading = "Checks")]
    against: Option<String>,

    /// With --against: let it be worse by up to this [default: 5%]
    #[arg(long, value_name = "PERCENT", requires = "against", help_heading = "Checks")]
    allow: Option<Setting<Margin>>,
}

/// So many runs before this one tell how much runs differ.
const EARLIER_MAX: u32 = 20;
const ALLOWED: f64 = 0.05;

/// A saved run, and those that tell how much runs of this load differ.
pub struct Reference {
    name: String,
    run: Box<Summary>,
    earlier: Vec<Summary>,
    allowed: f64,
}

impl Regression {
    /// Reads the saved run and those before it. Every mistake goes to `errors`.
    pub fn read(self, plan: Option<&Plan>, name: &str, at: &At, errors: &mut PlanErrors) -> Option<Reference> {
        let text = self.against?;
        let wrong = |message: String, help: String| PlanError::new("against", format!("--against '{text}' {message}"), help);
        let allowed = match self.allow {
            None => ALLOWED,
            Some(Setting::Value(margin)) => margin.share(),
            Some(Setting::Wrong { text, why }) => {
                // What else is wrong is told at once.
                errors.push(PlanError::new("allow", format!("--allow '{text}' {why}"), "give a share, such as --allow 5%"));
                ALLOWED
            }
        };
        let bytes = match at.read(&text) {
            Ok((bytes, _)) => bytes,
            Err(ReadError::File(why)) => {
                let help = "name a saved run, such as @baseline:NAME or @last, or a file written with --out json=FILE";
                errors.push(wrong(format!("cannot be read: {}", plan::plainly(&why)), help.to_owned()));
                return None;
            }
            Err(ReadError::Reference(failed)) => {
                errors.push(failed.in_plan("against"));
                return None;
            }
        };
        let run = match Document::read(&String::from_utf8_lossy(&bytes)) {
            Ok(Document::Run(run, _)) => run,
            Ok(_) => {
                errors.push(wrong("is not the result of a single run".to_owned(), "name a run; loadline runs lists them".to_owned()));
                return None;
            }
            Err(why) => {
                errors.push(wrong(format!("cannot be used: {why}"), "name another".to_owned()));
                return None;
            }
        };
        if let Some(plan) = plan {
            let differences = unlike::plans(&run.plan, plan, &[]);
            if !differences.is_empty() {
                let help = format!("give the same settings, as loadline run --from {text} does, or set another baseline");
                errors.push(wrong(format!("is another load (it is A, this is B): {}", differences.join("; ")), help));
                return None;
            }
        }
        let earlier = at.open().map(|store| earlier(&store, name, &run)).unwrap_or_default();
        Some(Reference { name: text, run, earlier, allowed })
    }
}

/// The saved runs of this name that are the same load and can be believed, the earliest first.
fn earlier(store: &Store, name: &str, like: &Summary) -> Vec<Summary> {
    let filter =
        history::Filter { name: Some(name.to_owned()), kind: Some(Kind::Run), limit: Some(EARLIER_MAX), ..history::Filter::default() };
    let read = |entry: Entry| match Document::read(&store.result(&entry.id).ok()?) {
        Ok(Document::Run(run, _)) => Some(*run),
        _ => None,
    };
    let mut runs: Vec<Summary> = store.list(&filter).unwrap_or_default().into_iter().filter_map(read).collect();
    runs.retain(|run| {
        let is_whole = run.ended.how == Ending::Finished && Validity::of(run).standing != Standing::Invalid;
        is_whole && run.is_from_like_machines(like) && unlike::plans(&run.plan, &like.plan, &[]).is_empty()
    });
    runs.reverse();
    runs
}

impl Reference {
    /// Holds a run against it.
    pub fn judge(&self, run: &Summary) -> gate::Regression {
        let earlier: Vec<&Summary> = self.earlier.iter().collect();
        against(&report::visible(&self.name), run, &self.run, &earlier, self.allowed)
    }
}

/// How the program ends, where it would otherwise end so: what is surely bad goes before what cannot be told.
pub fn exit(ruling: &gate::Regression, otherwise: Exit) -> Exit {
    match (otherwise, ruling.verdict) {
        (Exit::Done, Change::Worse) => Exit::CheckFailed,
        (Exit::Done, Change::CannotTell) => Exit::NotTrustworthy,
        _ => otherwise,
    }
}
