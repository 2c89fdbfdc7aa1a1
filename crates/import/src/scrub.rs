//! What may be written down of a log: no address, no name, no token.
//!
//! A report about traffic is passed on; the log it was made from may not be. So what looks personal or secret is left out of
//! everything written, unless told otherwise.

use std::net::IpAddr;

/// Stands for what was left out.
pub(crate) const LEFT_OUT: &str = "***";

/// Whether personal values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Personal {
    /// They are left out.
    #[default]
    LeftOut,
    /// They are kept.
    Kept,
}

/// As much of a line as an example shows.
const EXAMPLE_LETTERS: usize = 160;

/// The beginning of a line as an example: nothing that steers a terminal, and nothing personal unless that is kept.
#[must_use]
pub fn example(line: &[u8], personal: Personal) -> String {
    let text: String = String::from_utf8_lossy(&line[..line.len().min(4 * EXAMPLE_LETTERS)])
        .chars()
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect();
    let text = if personal == Personal::Kept { text } else { scrubbed(&text) };
    match text.char_indices().nth(EXAMPLE_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A text without what looks personal or secret, word by word.
pub(crate) fn scrubbed(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    let mut words = 0;
    let (mut begins_with_address, mut in_query) = (false, false);
    while !rest.is_empty() {
        let end = rest.find(|letter: char| " \"[]()<>,;&?/|'{}\t\u{fffd}".contains(letter)).unwrap_or(rest.len());
        let word = &rest[..end];
        let mark = rest[end..].chars().next();
        let personal = is_personal(word);
        // The user of HTTP authentication stands between address and time.
        let user = begins_with_address && (words == 1 || words == 2) && word != "-";
        if words == 0 && personal && !word.is_empty() {
            begins_with_address = true;
        }
        if word.is_empty() {
        } else if let Some((name, value)) = word.split_once('=').filter(|_| !personal) {
            written += if is_personal(name) { LEFT_OUT } else { name };
            written.push('=');
            written += if value.is_empty() { "" } else { LEFT_OUT };
        } else if personal || user || in_query {
            written += LEFT_OUT;
        } else {
            written += word;
        }
        let Some(mark) = mark else { break };
        in_query = match mark {
            '?' => true,
            '&' | ';' | ',' | '/' | '(' | ')' | '[' | ']' | '\'' | '|' => in_query,
            _ => false,
        };
        if mark == ' ' || mark == '[' {
            words += 1;
            begins_with_address &= mark != '[';
        }
        written.push(mark);
        rest = &rest[end + mark.len_utf8()..];
    }
    written
}

/// Whether a word looks like somebody's address, number or secret.
pub(crate) fn is_personal(word: &str) -> bool {
    let bare = word.trim_matches(|letter: char| ".:".contains(letter));
    word.contains('@')
        || word.to_ascii_lowercase().contains("%40")
        || bare.parse::<IpAddr>().is_ok()
        || bare
            .rsplit_once(':')
            .is_some_and(|(address, port)| address.parse::<IpAddr>().is_ok() && port.bytes().all(|it| it.is_ascii_digit()))
        || is_token(word.as_bytes())
        || (word.len() >= 7 && word.bytes().all(|letter| letter.is_ascii_digit()))
}

/// Long, and made of letters and digits as no word is.
pub(crate) fn is_token(text: &[u8]) -> bool {
    const LETTERS_LEAST: usize = 16;
    let bare = text.iter().all(|letter| letter.is_ascii_alphanumeric() || b"-_.=+~%:".contains(letter));
    let digits = text.iter().filter(|letter| letter.is_ascii_digit()).count();
    let upper = text.iter().filter(|letter| letter.is_ascii_uppercase()).count();
    let lower = text.iter().filter(|letter| letter.is_ascii_lowercase()).count();
    let changes = text.windows(2).filter(|pair| pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()).count();
    text.len() >= LETTERS_LEAST
        && bare
        && ((digits >= 2 && upper + lower >= 2 && (changes >= 2 || digits >= 6))
            || (text.len() >= 32 && upper >= 4 && lower >= 4 && digits >= 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_personal_is_left_out_of_lines() {
        for (line, without) in [
            (
                "203.0.113.9 - alice [10/Oct/2000:13:55:36 -0700] \"GET /a?token=s3cr3t&page HTTP/1.1\" 200 x",
                "*** - *** [10/Oct/2000:13:55:36 -0700] \"GET /a?token=***&*** HTTP/1.1\" 200 x",
            ),
            ("{\"ip\":\"2001:db8::1\",\"mail\":\"a@b.example\"}", "{\"ip\":\"***\",\"mail\":\"***\"}"),
            ("GET /reset/Zm9vYmFyMTIzNDU2Nzg5MA /users/me%40x.example", "GET /reset/*** /users/***"),
            ("10.0.0.1:4711 went away", "*** *** ***"),
        ] {
            assert_eq!(scrubbed(line), without);
        }
        assert!(example("a@b.example".as_bytes(), Personal::Kept).contains('@'));
        assert!(example(&vec![b'x'; 10_000], Personal::LeftOut).chars().count() <= EXAMPLE_LETTERS + 1);
    }
}
