//! The beginning of what a server sent, fit to be read on one line.
//!
//! An example in a report says more than a class of failures. But a body may be a megabyte, binary, or a sequence that
//! rewrites the terminal it is printed on. So what is kept is short, on one line, and without control characters.

/// Examples are cut to so many bytes.
pub const EXCERPT_BYTES_MAX: usize = 200;

/// The beginning of `bytes`: at most [`EXCERPT_BYTES_MAX`] bytes of text, white space run together, with `…` if there is more.
#[must_use]
pub fn excerpt(bytes: &[u8]) -> String {
    let bytes = bytes.trim_ascii();
    // A letter has up to four bytes, and one that is cut in two must not look like one that was wrong.
    let head = &bytes[..bytes.len().min(EXCERPT_BYTES_MAX + 4)];
    let text = String::from_utf8_lossy(head);
    let text = if head.len() < bytes.len() { text.trim_end_matches(char::REPLACEMENT_CHARACTER) } else { &text };
    let more = "…";
    let mut short = String::new();
    let mut cut_at = 0;
    let mut letters = text.chars().map(|letter| if letter.is_control() || letter.is_whitespace() { ' ' } else { letter }).peekable();
    while let Some(letter) = letters.next() {
        if letter == ' ' && (short.ends_with(' ') || letters.peek().is_none()) {
            continue;
        }
        if short.len() + letter.len_utf8() > EXCERPT_BYTES_MAX {
            short.truncate(cut_at);
            short.push_str(more);
            return short;
        }
        short.push(letter);
        if short.len() + more.len() <= EXCERPT_BYTES_MAX {
            cut_at = short.len();
        }
    }
    if head.len() < bytes.len() {
        short.truncate(cut_at);
        short.push_str(more);
    }
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_excerpt_is_one_line_of_plain_text() {
        let cases: [(&[u8], &str); 6] = [
            (b"", ""),
            (b"  {\n  \"a\": 1\n}\n", "{ \"a\": 1 }"),
            (b"\x1b[2Jgone\x00", " [2Jgone"),
            ("größer".as_bytes(), "größer"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
            ("a\u{a0}\u{2028}b".as_bytes(), "a b"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(excerpt(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        for letter in ["a", "ß", "€", "𝄞"] {
            let short = excerpt(letter.repeat(1000).as_bytes());
            assert!(short.ends_with('…') && !short.contains(char::REPLACEMENT_CHARACTER), "{short}");
            assert!((EXCERPT_BYTES_MAX - 4..=EXCERPT_BYTES_MAX).contains(&short.len()), "{}", short.len());
        }
        let whole = "a".repeat(EXCERPT_BYTES_MAX);
        assert_eq!(excerpt(whole.as_bytes()), whole);
    }

    proptest! {
        #[test]
        fn an_excerpt_of_any_bytes_is_short_and_has_no_control_characters(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let short = excerpt(&bytes);
            prop_assert!(short.len() <= EXCERPT_BYTES_MAX);
            prop_assert!(!short.chars().any(char::is_control));
        }
    }
}
