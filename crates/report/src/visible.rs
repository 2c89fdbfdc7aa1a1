//! Text from outside made harmless: what a server sends must not steer the terminal of whoever reads the report.
//!
//! An error page can hold escape sequences that clear the screen, rename the window or fake a line of this report; marks
//! of writing direction can reverse what follows. So every character that moves, hides or reorders others is written as its
//! code. Dropping such characters was rejected: the reader could not tell that something was there.

use plan::steers;

/// The text with control characters, line ends and marks of direction written as codes.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if letter.is_control() && u32::from(letter) < 0x100 => shown.push_str(&format!("\\x{:02x}", u32::from(letter))),
            _ if steers(letter) => shown.push_str(&format!("\\u{{{:x}}}", u32::from(letter))),
            _ => shown.push(letter),
        }
    }
    shown
}

/// As [`visible`], and cut after `letters_max` letters with a word on what is left out.
pub(crate) fn excerpt(text: &str, letters_max: usize) -> String {
    let letters = visible(text).chars().count();
    if letters <= letters_max {
        return visible(text);
    }
    format!("{} ({} more in the JSON result)", shortened(text, letters_max), letters - letters_max)
}

/// As [`visible`], and cut after `letters_max` letters.
pub(crate) fn shortened(text: &str, letters_max: usize) -> String {
    let shown = visible(text);
    match shown.char_indices().nth(letters_max) {
        Some((at, _)) => format!("{}…", &shown[..at]),
        None => shown,
    }
}

/// For Markdown: as [`visible`], with everything escaped that would be read as markup.
pub(crate) fn markdown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in visible(text).chars() {
        match letter {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '@' => {
                shown.push('\\');
                shown.push(letter);
            }
            _ => shown.push(letter),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_would_steer_a_terminal_is_written_as_its_code() {
        assert_eq!(visible("a\x1b[31mred\x07\u{9b}2J\r\nend"), "a\\x1b[31mred\\x07\\x9b2J\\r\\nend");
        assert_eq!(visible("abc\u{202e}dcba"), "abc\\u{202e}dcba");
        assert_eq!(visible("Grüße, 世界"), "Grüße, 世界");
    }

    #[test]
    fn markup_is_shown_and_not_obeyed() {
        assert_eq!(markdown("<b>|`x`"), "&lt;b&gt;\\|\\`x\\`");
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left(text in any::<String>()) {
            prop_assert!(!visible(&text).chars().any(|letter| letter.is_control() || steers(letter)));
        }
    }
}
