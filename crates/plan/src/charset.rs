//! How letters are written as bytes where that is not UTF-8: older servers want their forms so, and older programs write their files so.
//!
//! The names and tables are those of the Encoding Standard, with two exceptions: Latin 1 and ASCII are themselves, and not windows-1252,
//! which browsers take for them. Whoever sends a € as ISO-8859-1 sends something that has none.
//!
//! Invariant: what an encoding has no letter for is written as a question mark, as everywhere else.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use encoding_rs::{EncoderResult, Encoding};

/// How letters are written as bytes; never UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(Table);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    /// All up to this letter, each one byte.
    UpTo(u8),
    Other(&'static Encoding),
}

const LATIN_1: Charset = Charset(Table::UpTo(0xFF));
const ASCII: Charset = Charset(Table::UpTo(0x7F));

impl Charset {
    /// By its name: `windows-1252`, `latin1`, `Shift_JIS`. `None` is UTF-8.
    ///
    /// # Errors
    /// In words, if nothing is called so.
    pub fn named(name: &str) -> Result<Option<Self>, String> {
        let plain = name.trim().to_ascii_lowercase();
        match plain.as_str() {
            "iso-8859-1" | "iso8859-1" | "iso8859_1" | "iso_8859-1" | "latin1" | "latin-1" | "l1" => return Ok(Some(LATIN_1)),
            "us-ascii" | "ascii" => return Ok(Some(ASCII)),
            "utf8" | "utf-8" => return Ok(None),
            // Without a mark at its beginning the larger byte comes first.
            "utf-16" | "utf16" => return Ok(Some(Self(Table::Other(encoding_rs::UTF_16BE)))),
            _ => {}
        }
        // Java's names for what the standard calls otherwise.
        let label = match plain.strip_prefix("cp125") {
            Some(page) => format!("windows-125{page}"),
            None => plain.replace("iso8859_", "iso-8859-").replace("windows-31j", "shift_jis").replace("ms949", "euc-kr"),
        };
        // That of everything which is read by nobody is no encoding.
        let known = Encoding::for_label(label.as_bytes()).filter(|known| *known != encoding_rs::REPLACEMENT);
        let known = known.ok_or_else(|| format!("no encoding is called '{}'", name.trim().escape_debug()))?;
        Ok(Some(Self(Table::Other(known))).filter(|_| known != encoding_rs::UTF_8))
    }

    /// The name by which others know it, as headers write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Table::UpTo(0x7F) => "US-ASCII",
            Table::UpTo(_) => "ISO-8859-1",
            Table::Other(known) => known.name(),
        }
    }

    /// Whether requests can be written in it: each letter of ASCII is the byte that it is there. Those of two bytes a letter are read only.
    #[must_use]
    pub fn is_written(self) -> bool {
        match self.0 {
            Table::UpTo(_) => true,
            Table::Other(known) => known.is_ascii_compatible() && known.output_encoding() == known,
        }
    }

    /// Appends a text, which is UTF-8.
    pub fn encode(self, text: &[u8], out: &mut Vec<u8>) {
        if text.is_ascii() {
            out.extend_from_slice(text);
            return;
        }
        let text = String::from_utf8_lossy(text);
        match self.0 {
            Table::UpTo(most) => {
                out.extend(text.chars().map(|letter| u8::try_from(letter).ok().filter(|byte| *byte <= most).unwrap_or(b'?')));
            }
            Table::Other(known) => {
                let (mut encoder, mut rest) = (known.new_encoder(), &*text);
                loop {
                    out.reserve(rest.len() * 2 + 16);
                    let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, out, true);
                    rest = &rest[read..];
                    match result {
                        EncoderResult::InputEmpty => return,
                        EncoderResult::Unmappable(_) => out.push(b'?'),
                        EncoderResult::OutputFull => {}
                    }
                }
            }
        }
    }

    /// A text, written in it.
    #[must_use]
    pub fn encoded(self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode(text.as_bytes(), &mut bytes);
        bytes
    }

    /// A text of a form, decoded: `%FC` and `+`, and all else as it is.
    #[must_use]
    pub fn decoded_in_form(self, text: &str) -> String {
        let (mut decoded, mut run, mut rest) = (String::new(), Vec::new(), text);
        while let Some(letter) = rest.chars().next() {
            let digits =
                rest.strip_prefix('%').and_then(|rest| rest.get(..2)).filter(|two| two.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            if let Some(byte) = byte {
                run.push(byte);
                rest = &rest[3..];
                continue;
            }
            decoded.push_str(&self.decode(&std::mem::take(&mut run)));
            decoded.push(if letter == '+' { ' ' } else { letter });
            rest = &rest[letter.len_utf8()..];
        }
        decoded.push_str(&self.decode(&run));
        decoded
    }

    /// A text that is written in it. What is none in it becomes a replacement character.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self.0 {
            Table::UpTo(most) => {
                let letter = |byte: &u8| if *byte <= most { char::from(*byte) } else { char::REPLACEMENT_CHARACTER };
                Cow::Owned(bytes.iter().map(letter).collect())
            }
            Table::Other(known) => known.decode(bytes).0,
        }
    }

    /// A text as it stands in a query, in which each letter is encoded by itself; blanks are `+`.
    #[must_use]
    pub fn encoded_in_query(self, text: &str) -> String {
        let mut written = String::new();
        let mut bytes = Vec::new();
        for letter in text.chars() {
            if is_plain(letter) {
                written.push(letter);
                continue;
            }
            bytes.clear();
            self.encode(letter.encode_utf8(&mut [0; 4]).as_bytes(), &mut bytes);
            bytes.iter().for_each(|byte| push_byte(*byte, &mut written));
        }
        written
    }

    /// A text as it stands in a form, in which each byte is encoded by itself; blanks are `+`.
    #[must_use]
    pub fn encoded_in_form(self, text: &str) -> String {
        let (mut written, mut bytes) = (String::new(), Vec::new());
        self.encode(text.as_bytes(), &mut bytes);
        for byte in bytes {
            if byte.is_ascii() && is_plain(byte.into()) { written.push(byte.into()) } else { push_byte(byte, &mut written) }
        }
        written
    }

    /// A text of a URL with all that is not ASCII encoded.
    #[must_use]
    pub fn encoded_in_url(self, text: &str) -> String {
        let (mut written, mut bytes) = (String::new(), Vec::new());
        self.encode(text.as_bytes(), &mut bytes);
        for byte in bytes {
            if byte.is_ascii() { written.push(byte.into()) } else { push_byte(byte, &mut written) }
        }
        written
    }
}

/// Whether a letter stands in a form as it is.
const fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_' | '*')
}

fn push_byte(byte: u8, out: &mut String) {
    if byte == b' ' {
        out.push('+');
    } else {
        out.push_str(&format!("%{byte:02X}"));
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().to_ascii_lowercase())
    }
}

impl FromStr for Charset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::named(name)?.ok_or_else(|| "that is what everything is in already".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(name: &str) -> Charset {
        name.parse().unwrap()
    }

    fn bytes(name: &str, text: &str) -> Vec<u8> {
        let mut out = vec![b'>'];
        of(name).encode(text.as_bytes(), &mut out);
        out.split_off(1)
    }

    #[test]
    fn letters_are_written_as_others_write_them() {
        assert_eq!(bytes("ISO-8859-1", "aü€\u{85}😀"), b"a\xFC?\x85?");
        assert_eq!(bytes("windows-1252", "aü€ж"), b"a\xFC\x80?");
        assert_eq!(bytes("us-ascii", "aü"), b"a?");
        assert_eq!(bytes("Cp1251", "жü"), b"\xE6?");
        assert_eq!(bytes("ISO-8859-15", "€"), b"\xA4");
        assert_eq!(bytes("Shift_JIS", "ア"), b"\x83A");
        assert_eq!(
            (of("shift_jis").decode(b"\x83A"), of("latin1").decode(b"\x80\xFC"), of("utf-16le").decode(b"a\0")),
            ("ア".into(), "\u{80}ü".into(), "a".into())
        );
        assert_eq!(
            (of("Shift_JIS").encoded_in_query("ア b"), of("Shift_JIS").encoded_in_form("ア b~")),
            ("%83%41+b".into(), "%83A+b%7E".into())
        );
        assert_eq!(of("latin1").encoded_in_url("/a b?c=%20ü"), "/a b?c=%20%FC");
        assert_eq!(of("latin1").decoded_in_form("a+%FC%e4%2Bx%z%+f%"), "a \u{fc}\u{e4}+x%z% f%");
        assert_eq!(Charset::named(" UTF-8 "), Ok(None));
        assert_eq!(Charset::named("no such").unwrap_err(), "no encoding is called 'no such'");
        assert_eq!(["utf-16", "latin1", "gbk"].map(|name| of(name).is_written()), [false, true, true]);
    }

    proptest! {
        #[test]
        fn a_name_that_is_printed_is_read_and_what_it_has_letters_for_comes_back(name in proptest::sample::select(&["latin1", "ascii", "windows-1252", "koi8-r", "gb18030", "shift_jis"][..]), text in "[a-z ~*%&]{0,9}") {
            let charset = of(name);
            prop_assert_eq!(of(&charset.to_string()), charset);
            let mut out = Vec::new();
            charset.encode(text.as_bytes(), &mut out);
            prop_assert_eq!(charset.decode(&out), text);
        }
    }
}
