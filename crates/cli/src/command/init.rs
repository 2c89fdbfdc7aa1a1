//! `loadline init`: a scenario to begin with.
//!
//! A blank page is the worst beginning, and a manual the second worst. So the first scenario is there at once, runs as it is
//! against the built-in API, and says in comments what else it could do.

use std::fs::OpenOptions;
use std::io::{self, Write as _};

use clap::{Args, ValueEnum};
use plan::{PlanError, PlanErrors};

use super::print;
use crate::exit::{Exit, Failed};
use crate::inputs::plainly;

/// Where it is written.
#[derive(Debug, Args)]
pub struct Init {
    /// The file to write, or - for standard output
    #[arg(value_name = "FILE", default_value = "scenario.yaml")]
    file: String,

    /// What it is about: journeys of several steps, or a language model
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Kind::Journeys)]
    kind: Kind,

    /// Replace a file that exists
    #[arg(long)]
    force: bool,
}

/// What a scenario to begin with is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Users on journeys of several steps, against the built-in API.
    Journeys,
    /// The API of chat completions, whose answers stream.
    ChatCompletions,
}

/// Writes it.
pub fn carry_out(init: &Init) -> Result<Exit, Failed> {
    let Init { file, kind, force } = init;
    let (text, first) = match kind {
        Kind::Journeys => (scenario::STARTER, "loadline demo --serve 127.0.0.1:8080   in another terminal"),
        Kind::ChatCompletions => (scenario::CHAT_COMPLETIONS, "export API_KEY=…   and name your server and model in the file"),
    };
    if file == "-" {
        return print(text.as_bytes());
    }
    let opened = OpenOptions::new().write(true).create(true).truncate(*force).create_new(!force).open(file);
    match opened.and_then(|mut written| written.write_all(text.as_bytes())) {
        Ok(()) => print(format!("Wrote {file}. To try it:\n\n  {first}\n  loadline check {file}\n  loadline run {file}\n").as_bytes()),
        Err(why) => {
            let help = match why.kind() {
                io::ErrorKind::AlreadyExists => "name another file, or replace it with --force",
                _ => "name a file in a directory that is there and may be written to",
            };
            let why = if why.kind() == io::ErrorKind::AlreadyExists { "it exists".to_owned() } else { plainly(&why) };
            Err(PlanErrors(vec![PlanError::new("init", format!("'{file}' cannot be written: {why}"), help)]).into())
        }
    }
}
