//! How text is laid out: its width, and what colours mean.

/// The layout of text. Chosen by the caller, who knows where it goes; formats for programs pay no heed to it.
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
