//! The formats of a finished run, as rows of one table.
//!
//! Help, completions, documentation and golden tests iterate [`FORMATS`], so a format that is not in the table does not
//! exist and one that is cannot be forgotten. A row is a function, not a trait: nothing is configured, nothing is kept.
//!
//! Invariant: the same Reading in the same Style gives the same bytes.

use std::io;

use analysis::Reading;

use crate::{csv, hdr, json, junit, markdown, page, text};

/// One way to write down a finished run.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// What stands before the equals sign in `--out text=FILE`.
    pub name: &'static str,
    /// What it is for, in words that follow the name.
    pub about: &'static str,
    /// The usual ending of its files, without the dot.
    pub extension: &'static str,
    /// Writes the run. Fails only where writing fails.
    pub render: fn(&Reading<'_>, &Style, &mut dyn io::Write) -> io::Result<()>,
}

/// Every format of a run.
pub const FORMATS: &[Format] = &[text::FORMAT, json::FORMAT, csv::FORMAT, hdr::FORMAT, markdown::FORMAT, junit::FORMAT, page::FORMAT];

/// The format of that name, if there is one.
#[must_use]
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// How text is laid out. Chosen by the caller, who knows where it goes; formats for programs pay no heed to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether a terminal will show it.
    pub colour: Colour,
    /// Prose is broken at this many columns; below 60 is taken as 60, which figures need.
    pub width: u16,
}

/// Whether meaning is underlined with colour. It never depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// None, for files and pipes.
    Plain,
    /// ANSI sequences, for terminals.
    Ansi,
}

impl Style {
    /// Without colour, 100 columns wide: for files.
    pub const PLAIN: Self = Self { colour: Colour::Plain, width: 100 };

    /// The text in the tone, where there are colours.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        match (self.colour, tone.code()) {
            (Colour::Ansi, Some(code)) if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }

    /// The width in columns.
    pub(crate) fn columns(&self) -> usize {
        usize::from(self.width.max(60))
    }
}

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing.
    Normal,
    /// The answer.
    Answer,
    /// It went well.
    Good,
    /// It can be read, with a reservation.
    Caution,
    /// It went wrong.
    Bad,
    /// Said beside the point.
    Aside,
}

impl Tone {
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Normal => None,
            Self::Answer => Some("1"),
            Self::Good => Some("32"),
            Self::Caution => Some("33"),
            Self::Bad => Some("31"),
            Self::Aside => Some("2"),
        }
    }
}
