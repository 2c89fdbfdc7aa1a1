//! Regular expressions of Java, and what is written of their matches, in the words of a scenario.
//!
//! Functions of plugins hand their texts to Java itself, whose expressions are not those of JMeter's extractors: letters and digits are those
//! of ASCII, a point passes over no end of a line of any kind, and classes may stand in classes. Each of these is written out; what has no
//! equal is told.

use step::Pattern;

use super::dialects::{not_understood, regex_ending};

/// The end of a text, or before the end of its last line.
const END: &str = "(?=(?:\\r\\n|[\\n\\r\\x{85}\\x{2028}\\x{2029}])?\\z)";
/// What a point finds.
const ANY: &str = "[^\\n\\r\\x{85}\\x{2028}\\x{2029}]";

/// Classes that have a letter: in brackets, and the rest of all letters in brackets.
const CLASSES: [(char, &str, &str); 3] = [
    ('d', "0-9", "\\x00-\\x2f\\x3a-\\x{10ffff}"),
    ('w', "0-9A-Z_a-z", "\\x00-\\x2f\\x3a-\\x40\\x5b-\\x5e\\x60\\x7b-\\x{10ffff}"),
    ('s', "\\x09-\\x0d\\x20", "\\x00-\\x08\\x0e-\\x1f\\x21-\\x{10ffff}"),
];

/// A regular expression of which each match is written otherwise.
///
/// # Errors
/// In words, if it is not understood.
pub(super) fn replaced(pattern: &str) -> Result<String, String> {
    let made = spelled_out(pattern).and_then(|spelled| regex_ending(&spelled, END).ok()).ok_or_else(|| not_understood(pattern))?;
    // Java finds nothing at all right behind a match, too.
    let is_once = pattern.starts_with('^') && !pattern.contains('|') && !pattern.contains("(?");
    let finds_nothing = Pattern::new(&made).is_ok_and(|made| made.is_in(b"") == Ok(true));
    if finds_nothing && !is_once {
        return Err(format!("the regular expression '{pattern}' may find nothing at all, which is replaced otherwise here"));
    }
    Ok(made)
}

/// The same with classes and points written out; nothing if it has what there is in Java alone.
fn spelled_out(pattern: &str) -> Option<String> {
    let flags = pattern.match_indices("(?").map(|(at, _)| {
        let behind = &pattern[at + 2..];
        &behind[..behind.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(behind.len())]
    });
    let flags: String = flags.collect();
    if flags.contains(['d', 'u', 'x', 'U']) {
        return None;
    }
    let passes_lines = flags.contains('s');
    let (mut written, mut in_class) = (String::with_capacity(pattern.len() + 16), false);
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let escaped = letters.next()?;
                let class = CLASSES.iter().find(|(class, ..)| *class == escaped.to_ascii_lowercase());
                match (class, escaped) {
                    (Some((_, inner, rest)), _) => {
                        let inside = if escaped.is_ascii_lowercase() { inner } else { rest };
                        written.push_str(&if in_class { (*inside).to_owned() } else { format!("[{inside}]") });
                    }
                    (None, 'b' | 'B' | 'A' | 'z' | 'Z' | '1'..='9') if in_class => return None,
                    (None, 'x') if letters.peek() == Some(&'{') => return None,
                    (None, 'a' | 'b' | 'B' | 'e' | 'f' | 'n' | 'r' | 't' | 'x' | 'A' | 'z' | 'Z' | '1'..='9') => {
                        written.extend(['\\', escaped]);
                    }
                    (None, _) if escaped.is_ascii_alphanumeric() => return None,
                    (None, _) => written.extend(['\\', escaped]),
                }
            }
            '[' if in_class => return None,
            '&' if in_class && letters.peek() == Some(&'&') => return None,
            '[' => {
                in_class = true;
                written.push('[');
                written.extend(letters.next_if_eq(&'^'));
                written.extend(letters.next_if_eq(&']').map(|_| "\\]"));
            }
            ']' if in_class => {
                in_class = false;
                written.push(']');
            }
            '.' if !in_class && !passes_lines => written.push_str(ANY),
            _ => written.push(letter),
        }
    }
    Some(written)
}

/// What is written of a match with so many groups, the whole among them: `$1` is a group, and a backslash means the letter behind it.
///
/// # Errors
/// In words, if it names what there is not.
pub(super) fn form(text: &str, groups: usize) -> Result<String, String> {
    let wrong = |why: &str| format!("'{text}', which it writes of a match, {why}");
    let mut written = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let plain = match letter {
            '\\' => letters.next().ok_or_else(|| wrong("ends with a backslash"))?,
            '$' => {
                let digit = letters.next().and_then(|digit| digit.to_digit(10)).ok_or_else(|| wrong("names no group by its number"))?;
                let mut number = digit as usize;
                if number >= groups {
                    return Err(wrong(&format!("names group {number}, which there is not")));
                }
                // As many digits as there are groups for.
                while let Some(longer) = letters.peek().and_then(|next| next.to_digit(10)).map(|digit| number * 10 + digit as usize) {
                    if longer >= groups {
                        break;
                    }
                    number = longer;
                    letters.next();
                }
                written.push_str(&format!("${{{number}}}"));
                continue;
            }
            letter => letter,
        };
        written.push(plain);
        if plain == '$' {
            written.push('$');
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn becomes(pattern: &str, written: &str, text: &str) -> Result<String, String> {
        let pattern = replaced(pattern)?;
        let form = form(written, super::super::dialects::groups_count(&pattern))?;
        let mut out = Vec::new();
        step::Rewrite::new(&pattern, &form).unwrap().write(text.as_bytes(), &mut out).unwrap();
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn matches_of_java_are_written_otherwise_as_java_does() {
        for (pattern, form, text, written) in [
            ("[0-9]+", "#", "a1b22c", "a#b#c"),
            ("(\\w+)-(\\w+)", "$2-$1", "one-two", "two-one"),
            ("(a)", "$12", "ab", "a2b"),
            ("(a)", "\\$1 \\\\", "a", "$1 \\"),
            ("\\d", "", "1\u{0663}2", "\u{0663}"),
            ("\\w+", "w", "aä_1", "wäw"),
            ("[^\\W_]", "x", "a_ä", "x_ä"),
            ("[\\s\\S]+?;", "<$0>", "a\n;b;", "<a\n;><b;>"),
            (".", "x", "a\r\u{2028}b", "x\r\u{2028}x"),
            ("(?s).", "x", "a\r", "xx"),
            ("b$", "x", "b b\n", "b x\n"),
            ("^", "> ", "line", "> line"),
            ("(?i)id=[]\"]", "-", "ID=\"", "-"),
            ("a{2}|\\{x\\}", "y", "aa{x}", "yy"),
            ("(\\w)\\1", "$1", "hello", "helo"),
        ] {
            assert_eq!(becomes(pattern, form, text).as_deref(), Ok(written), "{pattern} {form} {text}");
        }
    }

    #[test]
    fn what_is_in_java_alone_is_told() {
        for (pattern, told) in [
            ("\\p{Alpha}", "is not understood here"),
            ("[a-z&&[^b]]", "is not understood here"),
            ("(?x) a", "is not understood here"),
            ("\\u0041", "is not understood here"),
            ("(a", "is not understood here"),
            ("x*", "may find nothing at all"),
            ("^|x", "may find nothing at all"),
        ] {
            assert!(replaced(pattern).unwrap_err().contains(told), "{pattern}: {:?}", replaced(pattern));
        }
        for (text, told) in
            [("$2", "names group 2"), ("${name}", "names no group"), ("$", "names no group"), ("\\", "ends with a backslash")]
        {
            assert!(form(text, 2).unwrap_err().contains(told), "{text}: {:?}", form(text, 2));
        }
    }
}
