//! The three header fields that decide where a reply ends and whether its connection lives on.
//!
//! A reply may carry 256 fields; a measuring client needs three. They are told from the rest by length and first
//! letter before any name is compared. What they say is only collected here, faults included: whether a fault
//! matters depends on the status and on what was asked (RFC 9112 section 6.3), which is known at the end of the head.

/// What Content-Length, Transfer-Encoding and Connection said.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) length: Option<u64>,
    /// Not a number, too large, or two numbers that differ.
    pub(super) length_faulty: bool,
    pub(super) length_repeated: bool,
    pub(super) coding: Coding,
    pub(super) close: bool,
    pub(super) keep_alive: bool,
    pub(super) offers_http3: bool,
}

/// Whether a value of `Alt-Svc` offers HTTP/3 (RFC 7838 §3, RFC 9114 §3.1.1).
pub(in crate::protocol) fn offers_http3(value: &[u8]) -> bool {
    value.split(|byte| *byte == b',').any(|service| service.trim_ascii_start().starts_with(b"h3="))
}

/// What the Transfer-Encoding lines, read as one list, amount to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    #[default]
    Absent,
    /// The field is there and names nothing.
    Empty,
    /// Last of all, and once.
    Chunked,
    /// Last of all, and several times in a row, as doubled by some proxies.
    ChunkedRepeated,
    /// Some codings, none of them chunked.
    Unchunked,
    /// Something follows chunked.
    Misplaced,
}

impl Fields {
    /// Takes notice of one header line.
    #[inline]
    pub(super) fn note(&mut self, name: &str, value: &[u8]) {
        let Some(&first) = name.as_bytes().first() else {
            return;
        };
        match (name.len(), first | 0x20) {
            (14, b'c') if name.eq_ignore_ascii_case("content-length") => self.note_length(value),
            (10, b'c') if name.eq_ignore_ascii_case("connection") => self.note_connection(value),
            (17, b't') if name.eq_ignore_ascii_case("transfer-encoding") => self.note_coding(value),
            (7, b'a') if name.eq_ignore_ascii_case("alt-svc") => self.offers_http3 |= offers_http3(value),
            _ => {}
        }
    }

    #[inline]
    fn note_length(&mut self, value: &[u8]) {
        // One short number is what nearly every reply has; 18 digits cannot overflow.
        if self.length.is_none() && !self.length_faulty && matches!(value.len(), 1..=18) && value.iter().all(u8::is_ascii_digit) {
            self.length = Some(value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')));
        } else {
            self.note_length_list(value);
        }
    }

    #[cold]
    fn note_length_list(&mut self, value: &[u8]) {
        for element in value.split(|&byte| byte == b',') {
            match (number(trimmed(element)), self.length) {
                (None, _) => self.length_faulty = true,
                (Some(length), None) => self.length = Some(length),
                (Some(length), Some(before)) => {
                    self.length_faulty |= length != before;
                    self.length_repeated = true;
                }
            }
        }
    }

    #[inline]
    fn note_connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',') {
            let option = trimmed(option);
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    #[inline]
    fn note_coding(&mut self, value: &[u8]) {
        if self.coding == Coding::Absent {
            self.coding = Coding::Empty;
        }
        for coding in value.split(|&byte| byte == b',').map(trimmed).filter(|coding| !coding.is_empty()) {
            let chunked = coding.eq_ignore_ascii_case(b"chunked");
            self.coding = match (self.coding, chunked) {
                (Coding::Absent | Coding::Empty | Coding::Unchunked, true) => Coding::Chunked,
                (Coding::Absent | Coding::Empty | Coding::Unchunked, false) => Coding::Unchunked,
                (Coding::Chunked | Coding::ChunkedRepeated, true) => Coding::ChunkedRepeated,
                (Coding::Chunked | Coding::ChunkedRepeated, false) | (Coding::Misplaced, _) => Coding::Misplaced,
            };
        }
    }
}

/// A decimal number up to 2⁶³ − 1, as no larger one is a plausible length.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let number = digits.iter().try_fold(0_u64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })?;
    (number <= i64::MAX.unsigned_abs()).then_some(number)
}

/// Without optional whitespace (RFC 9110 section 5.6.3) around it.
pub(super) fn trimmed(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(lines: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::default();
        for (name, value) in lines {
            fields.note(name, value.as_bytes());
        }
        fields
    }

    #[test]
    fn a_length_is_a_plain_decimal_number_below_two_to_the_63() {
        for (value, length) in [
            ("0", Some(0)),
            ("5", Some(5)),
            ("0000000000000000000000000000005", Some(5)),
            ("999999999999999999", Some(999_999_999_999_999_999)),
            ("9223372036854775807", Some(9_223_372_036_854_775_807)),
            ("9223372036854775808", None),
            ("18446744073709551616", None),
            ("99999999999999999999999999999999", None),
            ("", None),
            ("-1", None),
            ("+5", None),
            ("0x5", None),
            ("5 5", None),
            ("5,", None),
            (",5", None),
            ("5;", None),
            ("5.0", None),
            ("five", None),
        ] {
            let fields = fields(&[("content-length", value)]);
            assert_eq!(fields.length_faulty, length.is_none(), "{value:?}");
            assert!(fields.length == length || fields.length_faulty, "{value:?}");
        }
    }

    #[test]
    fn repeated_lengths_must_agree_on_one_line_or_on_several() {
        for (lines, faulty) in [
            (&[("Content-Length", "6, 6")][..], false),
            (&[("Content-Length", "6"), ("content-length", "6")], false),
            (&[("Content-Length", "6, 7")], true),
            (&[("Content-Length", "6"), ("content-length", "7")], true),
        ] {
            assert_eq!(fields(lines).length_faulty, faulty, "{lines:?}");
            assert!(fields(lines).length_repeated, "{lines:?}");
        }
    }

    #[test]
    fn codings_are_one_list_over_all_lines() {
        for (values, coding) in [
            (&["chunked"][..], Coding::Chunked),
            (&["CHUNKED"], Coding::Chunked),
            (&["gzip, chunked"], Coding::Chunked),
            (&["gzip", "chunked"], Coding::Chunked),
            (&[", chunked ,"], Coding::Chunked),
            (&["chunked, chunked"], Coding::ChunkedRepeated),
            (&["chunked", "chunked"], Coding::ChunkedRepeated),
            (&["chunked, gzip"], Coding::Misplaced),
            (&["chunked", "gzip"], Coding::Misplaced),
            (&["chunked, gzip, chunked"], Coding::Misplaced),
            (&["identity"], Coding::Unchunked),
            (&["chunkedchunked"], Coding::Unchunked),
            (&["xchunked"], Coding::Unchunked),
            (&["chunked;q=1"], Coding::Unchunked),
            (&[""], Coding::Empty),
            (&[" , "], Coding::Empty),
        ] {
            let lines: Vec<_> = values.iter().map(|value| ("Transfer-Encoding", *value)).collect();
            assert_eq!(fields(&lines).coding, coding, "{values:?}");
        }
    }

    #[test]
    fn connection_options_are_found_among_others() {
        let fields = fields(&[("CONNECTION", "upgrade, Close\t,  Keep-Alive"), ("Keep-Alive", "timeout=-1")]);
        assert!(fields.close && fields.keep_alive);
    }
}
