//! Texts in which each match of a regular expression is written otherwise.
//!
//! What is written of a match names its groups, as an extraction does (`$2-$1`), so that there is one form to learn. The crate `regex` has a
//! form of its own for this, in which `$1a` is a group called `1a`: what is read without a complaint and writes nothing is worse than none.
//!
//! Invariant: what is written is bounded, whatever the text holds; a text that would become larger is none.

use std::ops::ControlFlow;

use plan::template::Mistake;

use crate::extract::VALUE_BYTES_MAX;
use crate::pattern::{Form, GIVEN_UP, Pattern};

/// A regular expression, and what is written of each match.
#[derive(Debug, Clone)]
pub struct Rewrite {
    pattern: Pattern,
    form: Form,
}

impl Rewrite {
    /// Understands both.
    ///
    /// # Errors
    /// What is wrong in one of them, and where.
    pub fn new(pattern: &str, form: &str) -> Result<Self, Mistake> {
        let pattern = Pattern::new(pattern)?;
        let form = Form::parse(form, pattern.groups_count())?;
        Ok(Self { pattern, form })
    }

    /// Writes a text with its matches written otherwise at the end of `out`.
    ///
    /// # Errors
    /// If the search was given up, or the text becomes larger than an answer's value may be, in words; then nothing is written.
    pub fn write(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
        let (from, mut passed) = (out.len(), 0);
        let bytes_max = VALUE_BYTES_MAX.max(text.len());
        let searched = self.pattern.each(text, &mut |groups| {
            let Some((begins, ends)) = groups(0) else { return ControlFlow::Break(()) };
            // Nothing at all is found within letters of several bytes, too.
            if begins == ends && text.get(begins).is_some_and(|byte| byte & 0xc0 == 0x80) {
                return ControlFlow::Continue(());
            }
            out.extend_from_slice(&text[passed..begins]);
            out.extend_from_slice(self.form.of(text, groups).as_bytes());
            passed = ends;
            if out.len() - from > bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        out.extend_from_slice(&text[passed..]);
        let written = match searched {
            Err(_) => Err(GIVEN_UP),
            Ok(()) if out.len() - from > bytes_max => Err("became larger than 1 MiB"),
            Ok(()) => Ok(()),
        };
        if written.is_err() {
            out.truncate(from);
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(pattern: &str, form: &str, text: &str) -> Result<String, &'static str> {
        let mut out = b"> ".to_vec();
        let rewrite = Rewrite::new(pattern, form).unwrap_or_else(|mistake| panic!("{pattern} {form}: {mistake:?}"));
        let written = rewrite.write(text.as_bytes(), &mut out);
        let out = String::from_utf8(out).unwrap();
        written.map(|()| out.strip_prefix("> ").unwrap().to_owned())
    }

    #[test]
    fn each_match_is_written_otherwise_and_the_rest_stays() {
        for (pattern, form, text, becomes) in [
            ("[0-9]+", "#", "a1b22c", "a#b#c"),
            ("(\\w+)=(\\d+)", "$2=$1$$", "id=7, n=8!", "7=id$, 8=n$!"),
            ("x", "y", "none", "none"),
            ("^", "<", "ä", "<ä"),
            ("(?<=ä)b", "[$0]", "äb b", "ä[b] b"),
            ("a|(b)", "$1", "abc", "bc"),
            ("", "-", "éa", "-é-a-"),
            ("a", "b", "", ""),
        ] {
            assert_eq!(rewritten(pattern, form, text).as_deref(), Ok(becomes), "{pattern} {form} {text}");
        }
        assert!(Rewrite::new("(a", "b").is_err() && Rewrite::new("(a)", "$2").is_err());
    }

    #[test]
    fn what_becomes_too_large_or_takes_too_long_is_none() {
        let (text, form) = ("a".repeat(10_000), "b".repeat(1000));
        assert_eq!(rewritten("a", &form, &text), Err("became larger than 1 MiB"));
        assert_eq!(rewritten("^(?=(a+)+$)(a|aa)+\\1b", "", &text), Err(GIVEN_UP));
        let large = "a".repeat(VALUE_BYTES_MAX + 1);
        assert_eq!(rewritten("a", "b", &large).map(|text| text.len()), Ok(large.len()));
    }
}
