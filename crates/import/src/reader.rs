//! A form at work: lines to entries.

use crate::entry::{Entry, Reason};
use crate::form::Form;
use crate::json_line::JsonLines;
use crate::layout::Layout;
use crate::stamp::Clock;

/// Reads lines of one form.
#[derive(Debug)]
pub(crate) struct Reader {
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
            Form::Har | Form::Gor => Lines::None,
        };
        Self { lines, clock: Clock::default() }
    }

    #[inline]
    pub(crate) fn line<'a>(&'a mut self, line: &'a [u8]) -> Result<Entry<'a>, Reason> {
        if line.is_empty() {
            return Err(Reason::Blank);
        }
        match &mut self.lines {
            Lines::Text(layout) => layout.read(line, &mut self.clock),
            Lines::Json(json) => json.read(line, &mut self.clock),
            Lines::None => Err(Reason::Form),
        }
    }
}
