//! `--export`: the numbers of a run for systems that watch everything else, while it goes on.
//!
//! An address that cannot be used is a mistake of the command line and said before the first request. From then on nothing that
//! happens to a receiver touches the run: it is told at the end, in a sentence.

use clap::{ArgAction, Args};
use export::{Destination, Exports, Identity, Ready};
use plan::{Plan, PlanError, PlanErrors};
use resolve::KnownSecrets;

use crate::screen::Screen;

/// Where else the numbers go.
#[derive(Debug, Clone, Default, Args)]
pub struct Exporting {
    /// Tell the numbers each second: prometheus=ADDR (answers scrapes there), otlp=URL, influx=URL (repeatable)
    #[arg(long, value_name = "KIND=WHERE", action = ArgAction::Append, help_heading = "Output")]
    export: Vec<String>,
}

impl Exporting {
    /// Takes the addresses to listen on. Every mistake goes to `errors`.
    pub fn decide(&self, known: &KnownSecrets, errors: &mut PlanErrors) -> Ready {
        let mut destinations: Vec<Destination> = Vec::new();
        self.export.iter().filter_map(|text| text.split_once('=')).for_each(|(_, address)| known.learn_address(address));
        for text in &self.export {
            match text.parse::<Destination>() {
                Ok(destination) if destinations.contains(&destination) => {
                    errors.push(PlanError::new("export", format!("--export {destination} is given twice"), "leave one out"));
                }
                Ok(destination) => destinations.push(destination),
                Err(wrong) => errors.push(PlanError::new("export", format!("--export: {}", wrong.message), wrong.help)),
            }
        }
        // Nothing is opened for a command that will not begin.
        if !errors.is_empty() {
            return Ready::default();
        }
        Ready::new(&destinations).unwrap_or_else(|unusable| {
            for outlet in unusable {
                errors.push(PlanError::new("export", format!("--export {outlet}"), "give a free port of an address of this machine"));
            }
            Ready::default()
        })
    }
}

/// Opens what was made ready, and says where scrapes are answered. A run that is not kept has a fresh id.
pub fn open(ready: Ready, run: Option<String>, name: &str, command: &str, plan: Option<&Plan>, screen: &Screen) -> Exports {
    for address in ready.addresses() {
        screen.say(&format!("metrics are at http://{address}/metrics until the end"));
    }
    let target = plan.map_or_else(String::new, |plan| plan.secrets().conceal(&plan.target().to_string()));
    let run = run.unwrap_or_else(|| history::Id::fresh().to_string());
    ready.open(Identity { run, name: name.to_owned(), command: command.to_owned(), target }, &|name| std::env::var(name).ok())
}

/// Delivers the last, and says what did not arrive.
pub fn close(exports: &mut Exports, screen: &Screen) {
    exports.close().iter().for_each(|warning| screen.say(&format!("warning: {warning}")));
}
