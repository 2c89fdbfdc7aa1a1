//! The options by which a command speaks: whether it makes remarks, and in colour or not.

use std::io::IsTerminal as _;

use clap::{Args, ValueEnum};
use engine::Stop;
use live::Palette;
use report::{Colour, Style};
use resolve::KnownSecrets;

use crate::outputs::{Showing, Styles};
use crate::screen::{DisplayArgs, Remarks, Screen};

/// How a command speaks, as typed.
#[derive(Debug, Clone, Copy, Args)]
pub struct OutputArgs {
    /// No progress and no remarks: only the report on standard output, and errors on standard error
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,

    /// Colour the report: auto (on a terminal, unless NO_COLOR is set), always, never
    #[arg(
        long,
        visible_alias = "color",
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    colour: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl OutputArgs {
    /// Whether remarks are made.
    pub fn voice(self) -> Remarks {
        if self.quiet { Remarks::Quiet } else { Remarks::Talking }
    }

    /// The screen of this command.
    pub fn screen(self, known: &KnownSecrets) -> Screen {
        Screen::new(self.voice(), known)
    }

    /// The same with the live view, where it is wanted and there is room.
    pub fn screen_with_view(self, sight: DisplayArgs, command: &str, stop: &Stop, known: &KnownSecrets) -> Screen {
        let palette = match self.styles().stdout.colour {
            Colour::Plain => Palette::Plain,
            Colour::Ansi => Palette::Colours,
        };
        self.screen(known).with_view(sight, command, palette, stop)
    }

    /// How text looks on standard output and in files.
    pub fn styles(self) -> Styles {
        let terminal = std::io::stdout().is_terminal();
        let unwanted = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = match self.colour {
            When::Always => Colour::Ansi,
            When::Auto if terminal && !dumb && !unwanted("NO_COLOR") => Colour::Ansi,
            When::Auto | When::Never => Colour::Plain,
        };
        let screen = if terminal { Showing::Terminal } else { Showing::Elsewhere };
        Styles { screen, stdout: Style { colour, width: columns() }, file: Style::PLAIN }
    }
}

/// How wide text on standard output may be: as the terminal, where it is one.
pub fn columns() -> u16 {
    terminal_columns().unwrap_or(Style::PLAIN.width).min(COLUMNS_MAX)
}

/// The columns of the terminal that standard output leads to, if it is one.
pub fn terminal_columns() -> Option<u16> {
    std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten().map(|(width, _)| width.0)
}

/// Longer lines of prose are hard to read, however wide the terminal is.
const COLUMNS_MAX: u16 = 120;
