//! `loadline compat COMMAND…` and `loadline compat SCRIPT`: what another tool's command line or script asks for, and whether
//! loadline does all of it, found by reading alone.
//!
//! Whoever has two hundred scripts wants to know before the first of them runs. So a command line goes through the very parser
//! that would carry it out, and nothing is resolved, opened or sent.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;
use dialects::{DIALECTS, Host as _, Support, Use, script_uses};

use super::print;
use crate::dialect_host::Process;
use crate::exit::{Exit, Failed};

/// What is looked at.
#[derive(Debug, Args)]
pub struct Compat {
    /// A command line such as wrk -c100 http://…, or the path of a script
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Says what is used, and ends with 1 if not all of it is supported.
pub fn carry_out(compat: &Compat) -> Result<Exit, Failed> {
    let (first, rest) = compat.words.split_first().expect("at least one word is required");
    // As it stands in a script: with the path of the program, or behind our own name.
    let (first, rest) = match rest.split_first() {
        Some((second, behind)) if first == "loadline" => (second, behind),
        _ => (first, rest),
    };
    let named = Path::new(first).file_name().and_then(dialects::dialect);
    let uses = match named {
        Some(dialect) => (dialect.uses)(rest, &Process),
        None if Path::new(first).extension().is_some_and(|extension| extension == "lua") => {
            script_uses::of_file(&first.to_string_lossy(), &*Process.files())
        }
        None => {
            let known: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
            return Err(Failed::new(
                Exit::Usage,
                format_args!("'{}' is no tool whose command line loadline knows", first.display()),
                format_args!("give a script for wrk (NAME.lua), or a command line that begins with one of {}", known.join(", ")),
            ));
        }
    };
    print(told(&uses).as_bytes())?;
    Ok(if uses.iter().any(|used| matches!(used.support, Support::Refused(_))) { Exit::CheckFailed } else { Exit::Done })
}

/// A line for each thing, and the answer.
fn told(uses: &[Use]) -> String {
    let width = uses.iter().map(|used| used.what.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Use { what, support } in uses {
        let how = match support {
            Support::Same => "as in the original".to_owned(),
            Support::Differs(how) => format!("differs: {how}"),
            Support::Refused(help) => format!("NOT SUPPORTED: {help}"),
        };
        text += &format!("  {what:<width$}  {how}\n");
    }
    let refused = uses.iter().filter(|used| matches!(used.support, Support::Refused(_))).count();
    text += &match refused {
        0 => "Everything in it is supported.\n".to_owned(),
        1 => "One thing in it is not supported.\n".to_owned(),
        some => format!("{some} things in it are not supported.\n"),
    };
    text
}
