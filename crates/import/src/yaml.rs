//! Texts as YAML, so that they are read back as they were and look as a person would write them.
//!
//! Most values of a scenario are words, paths and numbers, and quotation marks around each of them make a page that nobody reads. But
//! YAML takes `no` for a truth and `1e3` for a number, and each reader takes others. So what is left bare is what no reader takes for
//! anything else, with room to spare; several lines stand as lines; and the rest is quoted, in the way that needs fewest escapes. A
//! library that writes YAML was the alternative: each of them has another idea of what needs quotation marks, and none of comments.
//!
//! Invariant: what is written reads back as the same text.

/// A text in the place of a value whose key stands one level less than `depth` deep; with 0 in the place of a key, or on one line.
#[must_use]
pub fn scalar(text: &str, depth: usize) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    if depth > 0 && is_for_a_block(text) {
        let indent = "  ".repeat(depth);
        let mut block = if text.ends_with('\n') { "|".to_owned() } else { "|-".to_owned() };
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            block.push('\n');
            if !line.is_empty() {
                block += &indent;
                block += line;
            }
        }
        return block;
    }
    if text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = "\"".to_owned();
    for letter in text.chars() {
        match letter {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            letter if is_printable(letter) => quoted.push(letter),
            letter if u32::from(letter) <= 0xFF => quoted += &format!("\\x{:02x}", u32::from(letter)),
            letter if u32::from(letter) <= 0xFFFF => quoted += &format!("\\u{:04x}", u32::from(letter)),
            letter => quoted += &format!("\\U{:08x}", u32::from(letter)),
        }
    }
    quoted + "\""
}

/// What needs no quotation marks, with room to spare: nobody minds a pair too many.
fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/');
    let inside = |letter: char| letter.is_ascii_alphanumeric() || " /_.+=;,()?&$^~-".contains(letter);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    begins
        && !text.ends_with(' ')
        && !words.contains(&text.to_ascii_lowercase().as_str())
        && text.char_indices().all(|(at, letter)| inside(letter) || letter == ':' && text[at + 1..].starts_with(|next: char| next != ' '))
}

/// Several lines that read better as lines.
fn is_for_a_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    text.contains('\n')
        && !text.starts_with(char::is_whitespace)
        && !body.ends_with(char::is_whitespace)
        && text.chars().all(|letter| letter == '\n' || is_printable(letter))
}

/// What may stand in YAML as it is, without the breaks and marks that readers disagree about.
fn is_printable(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter, '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{e000}'..='\u{f8ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_takes_for_something_else_is_bare() {
        for (text, written) in [
            ("/get_result?a=1&b=2", "/get_result?a=1&b=2"),
            ("GET /items/{id}", "'GET /items/{id}'"),
            ("no", "'no'"),
            ("17", "'17'"),
            ("it's", "'it''s'"),
            ("a: b", "'a: b'"),
            ("a\tb", "\"a\\tb\""),
        ] {
            assert_eq!(scalar(text, 0), written);
        }
        assert_eq!(scalar("a\nb", 1), "|-\n  a\n  b");
        assert_eq!(scalar("a\nb", 0), "\"a\\nb\"");
    }
}
