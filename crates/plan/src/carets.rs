//! A text that somebody typed, again, with carets under the mistake in it.
//!
//! "Is not a rate" after a line of five stages makes its reader count commas. The place is known where the text is read, so
//! whoever refuses a part of a text says which part by giving it.
//!
//! Invariant: what is shown takes one line, and the carets stand under what they mean.

/// `text` on a line of its own and carets under `length` of its characters, from character `column` on (from 0); at least one.
#[must_use]
pub fn carets(text: &str, column: usize, length: usize) -> String {
    // A control character would move the carets, or worse.
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\n  {shown}\n  {:column$}{}", "", "^".repeat(length.max(1)))
}

/// The same under `part`, which is a slice of `text`; at its end if it is none.
#[must_use]
pub(crate) fn carets_under(text: &str, part: &str) -> String {
    let from = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    let before = text.get(..from).unwrap_or(text);
    carets(text, before.chars().count(), part.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_under_the_part_whatever_stands_before_it() {
        let text = "µs\tof what";
        assert_eq!(carets_under(text, &text[4..6]), "\n  µs of what\n     ^^");
        assert_eq!(carets_under(text, &text[text.len()..]), "\n  µs of what\n            ^", "nothing is shown at its place");
        assert_eq!(carets_under("ab", "elsewhere").lines().nth(1), Some("  ab"));
    }
}
