//! `loadline check FILE`: is this scenario sound?
//!
//! In an editor, before a commit, in CI: nobody wants to send a request to find a typing error. Everything that `run` would look
//! at is looked at, the data files included; nothing is connected to.

use clap::Args;
use plan::{Draft, PlanErrors};
use report::{load_of, visible};
use resolve::KnownSecrets;

use super::print;
use crate::exit::{Exit, Failed};
use crate::imported::{ImportedLoad, Importing};
use crate::inputs;
use crate::screen::Remarks;

/// Which.
#[derive(Debug, Args)]
pub struct Check {
    /// The scenario, or requests that another tool keeps
    #[arg(value_name = "FILE")]
    file: String,

    #[command(flatten)]
    importing: Importing,

    /// Requests may go to this server too, such as `https://login.example.com`; any: to every server (repeatable)
    #[arg(long, value_name = "ORIGIN", help_heading = "Requests of other tools")]
    also_target: Vec<String>,
}

/// Looks it through.
pub fn carry_out(check: Check, known: &KnownSecrets) -> Result<Exit, Failed> {
    let Check { file, importing, also_target } = check;
    let mut errors = PlanErrors::default();
    let named = Draft { scenario: Some(file.clone()), also_target, ..Draft::default() };
    let ImportedLoad { mut load, scenarios, left_out } = importing.take(named, None, (known, Remarks::Talking), &mut errors);
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let scenario = scenarios.read(&file)?;
    // A scenario may leave it to the command line where it goes.
    let names_no_target = load.draft.url.is_none() && scenario.draft.url.is_none();
    if names_no_target {
        load.draft.url = Some("http://127.0.0.1/".to_owned());
    }
    let plan = inputs::decide(load, &scenarios, &mut errors);
    let Some(plan) = plan.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    importing.look([(&plan, &scenarios)], &left_out, (known, Remarks::Talking))?;
    let journeys = scenario.work.journeys.len();
    let steps = scenario.work.steps().len();
    let counted = |count: usize, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
    let target = if names_no_target { "a target that the command line names".to_owned() } else { plan.target().to_string() };
    let said = format!(
        "{} is valid: {} with {} against {}; {}.\n",
        visible(&file),
        counted(journeys, "journey"),
        counted(steps, "step"),
        visible(target.trim_end_matches('/')),
        load_of(&plan)
    );
    print(said.as_bytes())
}
