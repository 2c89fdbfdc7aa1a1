//! What is said about a command line that cannot be read.
//!
//! clap knows where its words end, and not what people who come from other tools mean by them: a URL without a command, two URLs, a
//! command with two letters in each other's place. Those are told here; everything else is clap's own message.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use plan::is_address;

use super::help;
use crate::exit::Exit;
use crate::screen;

/// Says what is wrong with the command line, or the help or version that was asked for.
pub fn refuse(error: &clap::Error, words: &[OsString]) -> ExitCode {
    let told = match error.kind() {
        // Of the commands of a command, clap knows best.
        ErrorKind::InvalidSubcommand => context(error, ContextKind::InvalidSubcommand)
            .filter(|word| words.get(1).is_some_and(|first| first == word.as_str()))
            .map(|word| no_command(&word)),
        ErrorKind::UnknownArgument => context(error, ContextKind::InvalidArg).and_then(|word| second_url(&word, words)),
        _ => None,
    };
    if let Some(told) = told {
        screen::complain(&told);
        return Exit::Usage.into();
    }
    let brief = if error.kind() == ErrorKind::DisplayHelp { help::brief(words) } else { None };
    // Help goes to standard output; that nobody reads it is not an error.
    let _ = brief.as_ref().unwrap_or(error).print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8))
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    }
}

/// Whoever forgets the command has a URL or a file in hand, and no command is spelled like one.
fn no_command(word: &str) -> String {
    let help = if is_url(word) || word.contains('.') || word.contains('/') {
        format!("measure one load with 'loadline run {word}', or climb through many with 'loadline sweep {word}'")
    } else {
        help::suggestion(word)
    };
    format!("error: '{word}' is not a command\n  help: {help}")
}

/// Two URLs are a list, or two servers.
fn second_url(word: &str, words: &[OsString]) -> Option<String> {
    let command = words.get(1)?.to_str().filter(|name| matches!(*name, "run" | "sweep" | "find"))?;
    if !is_url(word) {
        return None;
    }
    let is_file = |word: &&str| !word.starts_with('-') && !is_url(word) && word.contains('.');
    Some(match words.iter().skip(2).filter_map(|word| word.to_str()).find(is_file) {
        Some(file) => {
            format!("error: '{file}' says what to send, and '{word}' would be a second URL\n  help: to send it there, give --target {word}")
        }
        None => format!(
            "error: '{word}' is a second URL, and {command} takes one\n  help: write the URLs into a file, one a line, and give --urls FILE; \
             to tell which of two servers is slower, loadline compare URL URL"
        ),
    })
}

fn is_url(word: &str) -> bool {
    !word.starts_with('-') && is_address(word)
}
