//! Files of properties, as Java keeps them: `name=value`, a line each.
//!
//! Test plans of JMeter take values from such files, and a team has one for each environment. Only what such a file says is read here;
//! whoever reads a plan is handed the pairs.
//!
//! Format: `java.util.Properties.load`, of text in UTF-8.

/// The names and values of a file of properties, in their order; a name that comes again is there again, and the last one holds.
#[must_use]
pub fn properties(text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut lines = text.split(['\n', '\r']);
    while let Some(line) = lines.next() {
        let mut whole = line.trim_start().to_owned();
        if whole.is_empty() || whole.starts_with(['#', '!']) {
            continue;
        }
        // An odd number of backslashes at the end: the next line belongs to this one.
        while whole.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1 {
            whole.pop();
            // A line that ends in two bytes is split in two.
            let next = lines.by_ref().find(|next| !next.is_empty()).unwrap_or_default();
            whole.push_str(next.trim_start());
            if next.is_empty() {
                break;
            }
        }
        let end = name_end(&whole);
        let (name, rest) = whole.split_at(end);
        let rest = rest.trim_start();
        let value = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start();
        pairs.push((plain(name), plain(value)));
    }
    pairs
}

/// Where a name ends: at the first blank, `=` or `:` that no backslash stands before.
fn name_end(line: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in line.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '=' | ':' | ' ' | '\t' | '\x0c' => return at,
            _ => {}
        }
    }
    line.len()
}

/// A text without its escapes.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut units: Vec<u16> = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let escape = if letter == '\\' { letters.next() } else { None };
        if escape == Some('u') {
            let digits: String = letters.by_ref().take(4).collect();
            units.push(u16::from_str_radix(&digits, 16).unwrap_or(0xfffd));
            continue;
        }
        // Letters beyond 16 bits are written as two numbers.
        plain.push_str(&String::from_utf16_lossy(&units));
        units.clear();
        plain.push(match escape {
            None => letter,
            Some('t') => '\t',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('f') => '\x0c',
            Some(other) => other,
        });
    }
    plain + &String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_java_reads_them() {
        let text = "# a remark\r\n! another\n\nhost=shop.test\nport : 8080\r\n  users 50\npath=a=b:c\nlong=one, \\\n   two\nempty=\nalone\n\
                    na\\ me=x\\ty\nsign=\\u20ac \\ud83d\\ude00\nend=a\\\\\nhost=later.test";
        let pairs = properties(text);
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(
            pairs,
            [
                ("host", "shop.test"),
                ("port", "8080"),
                ("users", "50"),
                ("path", "a=b:c"),
                ("long", "one, two"),
                ("empty", ""),
                ("alone", ""),
                ("na me", "x\ty"),
                ("sign", "€ 😀"),
                ("end", "a\\"),
                ("host", "later.test"),
            ]
        );
    }

    #[test]
    fn what_is_cut_off_or_broken_is_no_reason_to_fail() {
        assert_eq!(properties("a=b\\"), [("a".to_owned(), "b".to_owned())]);
        assert_eq!(properties("a=\\u12"), [("a".to_owned(), "\u{12}".to_owned())]);
        assert_eq!(properties("a=\\uzzzz"), [("a".to_owned(), "\u{fffd}".to_owned())]);
    }
}
