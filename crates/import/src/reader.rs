//! A form at work: lines to entries.

use crate::entry::{Entry, Reason};
use crate::form::Form;
use crate::json_line::JsonLines;
use crate::layout::Layout;
use crate::prefix::Prefix;
use crate::stamp::Clock;

/// Reads lines of one form.
#[derive(Debug)]
pub(crate) struct Reader {
    prefix: Option<Prefix>,
    lines: Lines,
    clock: Clock,
}

#[derive(Debug)]
enum Lines {
    Text(Layout),
    Json(JsonLines),
    /// A document has no lines.
    None,
}

impl Reader {
    pub(crate) fn new(form: &Form) -> Self {
        let lines = match form {
            Form::Text(layout) => Lines::Text(layout.clone()),
            Form::Json(fields) => Lines::Json(JsonLines::new(fields)),
            Form::Prefixed(prefix, form) => return Self { prefix: Some(*prefix), ..Self::new(form) },
            Form::Har | Form::Gor => Lines::None,
        };
        Self { prefix: None, lines, clock: Clock::default() }
    }

    #[inline]
    pub(crate) fn line<'a>(&'a mut self, line: &'a [u8]) -> Result<Entry<'a>, Reason> {
        if line.is_empty() {
            return Err(Reason::Blank);
        }
        let line = match self.prefix {
            Some(prefix) => prefix.rest(line).ok_or(Reason::Form)?,
            None => line,
        };
        match &mut self.lines {
            Lines::Text(layout) => layout.read(line, &mut self.clock),
            Lines::Json(json) => json.read(line, &mut self.clock),
            Lines::None => Err(Reason::Form),
        }
    }
}
