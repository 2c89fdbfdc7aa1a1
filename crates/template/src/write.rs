//! Pieces of a request, and how each writes itself.
//!
//! What a value writes may stand in a URL, a header or JSON, where some bytes mean something else: a line break in a header ends
//! it, a quotation mark in JSON ends a string. So a piece knows its place. Values are written first and looked at after; most
//! need no escape, and then that look is all it costs.
//!
//! Invariant: nothing is allocated once the buffers have grown to their size.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Zoned};
use plan::template::{Coding, Day, Form, Moment, TimeForm};
use plan::{Charset, Random};
use ring::hmac;

use crate::feed::Source;
use crate::record::Fields;

/// Where a piece stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A URL's path or query.
    Url,
    /// The same for what is to stay as it is where it can.
    RawUrl,
    /// A form, or a query that is written like one.
    Form,
    /// The same for what may stand in it already as it is encoded there.
    KeptForm,
    /// The value of a header.
    Header,
    /// A string in JSON.
    Json,
    /// Where every byte means itself.
    Plain,
}

/// A piece of a request.
pub(crate) enum Part {
    Text(Vec<u8>),
    Value(Writer, Place),
}

/// What writes itself anew for each request.
pub(crate) enum Writer {
    Uuid,
    Random {
        low: i64,
        high: i64,
    },
    Sequence {
        from: u64,
    },
    Choice(Vec<Vec<Part>>),
    /// Each as it stands in its place, and where the weights of all up to it end.
    Weighted {
        bounds: Vec<u64>,
        texts: Vec<Vec<u8>>,
    },
    RandomText {
        length: u32,
        letters: Vec<char>,
    },
    /// One of so many days.
    RandomDate {
        first: Date,
        days: u64,
        form: Form,
    },
    Now {
        form: TimeForm,
        shift: i64,
    },
    Base64(Vec<Part>),
    /// Text whose letters are written otherwise than as UTF-8.
    InCharset(Charset, Vec<Part>),
    Hmac {
        key: hmac::Key,
        coding: Coding,
        message: Vec<Part>,
    },
    Body,
    Column {
        file: usize,
        column: usize,
    },
    Variable(usize),
}

/// One request while it is written.
pub struct Writing<'a> {
    /// Its number in the run, from 0.
    pub(crate) number: u64,
    pub(crate) random: &'a mut Random,
    pub(crate) sources: &'a [Source],
    /// The rows that the user keeps, by data file.
    pub(crate) kept: &'a [Fields],
    /// The user's variables.
    pub(crate) variables: &'a [Vec<u8>],
    pub(crate) body: &'a [u8],
    /// Filled and emptied again.
    pub(crate) scratch: &'a mut Vec<u8>,
    /// Whether a value for a header held what would end it.
    pub(crate) is_unsafe: &'a mut bool,
}

/// Writes pieces, one after the other.
pub(crate) fn write(parts: &[Part], out: &mut Vec<u8>, writing: &mut Writing<'_>) {
    for part in parts {
        match part {
            Part::Text(text) => out.extend_from_slice(text),
            Part::Value(writer, place) => {
                let from = out.len();
                writer.write(out, writing);
                writing.escape(out, from, *place);
            }
        }
    }
}

impl Writer {
    /// Whether all that it writes means itself in this place, and need not be looked at.
    pub(crate) const fn is_plain_in(&self, place: Place) -> bool {
        match self {
            Self::Uuid | Self::Random { .. } | Self::Sequence { .. } => true,
            // Colons, spaces and commas.
            Self::Now { form: TimeForm::Usual(_), .. } => !matches!(place, Place::Url | Place::RawUrl | Place::Form | Place::KeptForm),
            _ => false,
        }
    }

    fn write(&self, out: &mut Vec<u8>, writing: &mut Writing<'_>) {
        match self {
            Self::Uuid => uuid(writing.random, out),
            Self::Random { low, high } => {
                let drawn = writing.random.between(0, high.abs_diff(*low));
                // From low to high, so it fits.
                let number = low.wrapping_add_unsigned(drawn);
                if number < 0 {
                    out.push(b'-');
                }
                digits(number.unsigned_abs(), 1, out);
            }
            Self::Sequence { from } => digits(from.wrapping_add(writing.number), 1, out),
            Self::Choice(choices) => {
                let chosen = writing.random.between(0, choices.len() as u64 - 1);
                write(&choices[chosen as usize], out, writing);
            }
            Self::Weighted { bounds, texts } => {
                let drawn = writing.random.between(0, bounds[bounds.len() - 1] - 1);
                out.extend_from_slice(&texts[bounds.partition_point(|bound| *bound <= drawn)]);
            }
            Self::RandomText { length, letters } => {
                for _ in 0..*length {
                    let chosen = writing.random.between(0, letters.len() as u64 - 1);
                    out.extend_from_slice(letters[chosen as usize].encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            Self::RandomDate { first, days, form } => {
                let after = writing.random.between(0, *days - 1);
                let day = i64::try_from(after).ok().and_then(|after| first.checked_add(Span::new().try_days(after).ok()?).ok());
                if let Some(moment) = day.and_then(|day| day.to_zoned(TimeZone::UTC).ok()) {
                    formed(&moment, form, out);
                }
            }
            Self::Now { form, shift } => {
                let by = Duration::from_secs(shift.unsigned_abs());
                let now = SystemTime::now();
                let then = if *shift < 0 { now.checked_sub(by) } else { now.checked_add(by) }.unwrap_or(now);
                moment(form, then, out);
            }
            Self::Base64(parts) => {
                let from = out.len();
                write(parts, out, writing);
                writing.scratch.clear();
                writing.scratch.extend_from_slice(&out[from..]);
                out.truncate(from);
                encode(writing.scratch, out);
            }
            Self::InCharset(charset, parts) => {
                let from = out.len();
                write(parts, out, writing);
                if !out[from..].is_ascii() {
                    writing.scratch.clear();
                    writing.scratch.extend_from_slice(&out[from..]);
                    out.truncate(from);
                    charset.encode(writing.scratch, out);
                }
            }
            Self::Hmac { key, coding, message } => {
                let from = out.len();
                write(message, out, writing);
                let tag = hmac::sign(key, &out[from..]);
                out.truncate(from);
                match coding {
                    Coding::Hex => {
                        out.reserve(2 * tag.as_ref().len());
                        tag.as_ref().iter().for_each(|byte| hex(*byte, out));
                    }
                    Coding::Base64 => encode(tag.as_ref(), out),
                }
            }
            Self::Body => out.extend_from_slice(writing.body),
            Self::Column { file, column } => {
                let source = writing.sources.get(*file).and_then(|source| source.field(*column));
                out.extend_from_slice(source.unwrap_or_else(|| writing.kept[*file].field(*column)));
            }
            Self::Variable(place) => out.extend_from_slice(&writing.variables[*place]),
        }
    }
}

impl<'a> Writing<'a> {
    /// The request with this number, of a user with these rows and variables.
    #[must_use]
    pub fn new(
        number: u64,
        random: &'a mut Random,
        rows: &'a [Fields],
        variables: &'a [Vec<u8>],
        scratch: &'a mut Vec<u8>,
        is_unsafe: &'a mut bool,
    ) -> Self {
        Self { number, random, sources: &[], kept: rows, variables, body: &[], scratch, is_unsafe }
    }

    /// The same once its body was written.
    #[must_use]
    pub fn with_body(self, body: &'a [u8]) -> Self {
        Self { body, ..self }
    }
}

impl Writing<'_> {
    /// Escapes what was written from a place on.
    fn escape(&mut self, out: &mut Vec<u8>, from: usize, place: Place) {
        match place {
            Place::Plain => return,
            Place::Header => {
                *self.is_unsafe |= out[from..].iter().any(|byte| !place.allows(*byte));
                return;
            }
            Place::Url | Place::RawUrl | Place::Form | Place::KeptForm | Place::Json => {}
        }
        if out[from..].iter().all(|byte| place.allows(*byte)) {
            return;
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(&out[from..]);
        out.truncate(from);
        place.escape(self.scratch, out);
    }
}

impl Place {
    /// The same for what is to stay as it is where it can.
    pub(crate) const fn as_it_is(self) -> Self {
        match self {
            Self::Url | Self::Form => Self::RawUrl,
            Self::Json => Self::Plain,
            other => other,
        }
    }

    /// Whether a byte means itself here.
    #[inline]
    pub(crate) const fn allows(self, byte: u8) -> bool {
        match self {
            // RFC 3986 §2.3.
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'),
            Self::RawUrl => byte.is_ascii_graphic() && byte != b'#',
            // WHATWG URL §5.2.
            Self::Form => byte.is_ascii_alphanumeric() || matches!(byte, b'*' | b'-' | b'.' | b'_'),
            Self::KeptForm => Self::Form.allows(byte) || byte == b'+',
            Self::Header => byte == b'\t' || (byte >= b' ' && byte != 0x7f),
            Self::Json => byte >= b' ' && byte != b'"' && byte != b'\\',
            Self::Plain => true,
        }
    }

    /// Writes a text so that it means itself here.
    pub(crate) fn escape(self, text: &[u8], out: &mut Vec<u8>) {
        if self == Self::KeptForm && text.contains(&b'%') {
            return escape_again(text, out);
        }
        for byte in text {
            match self {
                _ if self.allows(*byte) => out.push(*byte),
                Self::Form | Self::KeptForm if *byte == b' ' => out.push(b'+'),
                Self::Url | Self::RawUrl | Self::Form | Self::KeptForm => {
                    out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)].to_ascii_uppercase()]);
                    out.push(DIGITS[usize::from(byte & 15)].to_ascii_uppercase());
                }
                Self::Json => match byte {
                    b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
                    b'\n' => out.extend_from_slice(b"\\n"),
                    b'\r' => out.extend_from_slice(b"\\r"),
                    b'\t' => out.extend_from_slice(b"\\t"),
                    _ => {
                        out.extend_from_slice(b"\\u00");
                        hex(*byte, out);
                    }
                },
                Self::Header | Self::Plain => out.push(*byte),
            }
        }
    }
}

/// Writes a text as in a form, in which letters may be encoded already: each as a form has it, whichever way it was written.
#[cold]
fn escape_again(text: &[u8], out: &mut Vec<u8>) {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let mut rest = text;
    while let Some((byte, behind)) = rest.split_first() {
        let encoded = match behind {
            [high, low, ..] if *byte == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        match encoded {
            Some((high, low)) => {
                Place::Form.escape(&[high << 4 | low], out);
                rest = &behind[2..];
            }
            // A sign that encodes nothing stays.
            None if *byte == b'%' => {
                out.push(b'%');
                rest = behind;
            }
            None => {
                Place::KeptForm.escape(&[*byte], out);
                rest = behind;
            }
        }
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

fn hex(byte: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&two_digits(byte));
}

const fn two_digits(byte: u8) -> [u8; 2] {
    [DIGITS[(byte >> 4) as usize], DIGITS[(byte & 15) as usize]]
}

pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let from = out.len();
    out.resize(from + bytes.len().div_ceil(3) * 4, 0);
    STANDARD.encode_slice(bytes, &mut out[from..]).expect("four letters for three bytes");
}

/// A number in decimal digits, at least so many.
pub(crate) fn digits(number: u64, least: usize, out: &mut Vec<u8>) {
    let mut buffer = [b'0'; 20];
    let mut at = buffer.len();
    let mut rest = number;
    while rest > 0 {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&buffer[at.min(buffer.len() - least)..]);
}

/// Version 4: 122 bits of chance (RFC 9562 §5.4).
fn uuid(random: &mut Random, out: &mut Vec<u8>) {
    let high = random.bits() & !0xF000 | 0x4000;
    let low = random.bits() & !(0b11 << 62) | 1 << 63;
    // One copy of the whole, where each letter by itself would look whether there is room.
    let mut text = [b'-'; 36];
    let bytes = high.to_be_bytes().into_iter().chain(low.to_be_bytes());
    for (at, byte) in PLACES.into_iter().zip(bytes) {
        [text[at], text[at + 1]] = two_digits(byte);
    }
    out.extend_from_slice(&text);
}

/// Where the bytes of a UUID stand in its text.
const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/// A day of a template as a day of the calendar.
pub(crate) fn civil(day: Day) -> Date {
    Date::new(day.year, day.month, day.day).unwrap_or(Date::ZERO)
}

/// How many days there are from one to another, both included.
pub(crate) fn days_between(first: Day, last: Day) -> u64 {
    let between = civil(last).duration_since(civil(first)).as_hours() / 24;
    u64::try_from(between).unwrap_or(0) + 1
}

fn moment(form: &TimeForm, then: SystemTime, out: &mut Vec<u8>) {
    match form {
        TimeForm::Usual(moment) => now(*moment, then, out),
        TimeForm::Written(form) => {
            if let Ok(then) = Timestamp::try_from(then) {
                formed(&then.to_zoned(TimeZone::UTC), form, out);
            }
        }
    }
}

/// Writes a moment in a form, which was looked at when the template was read.
fn formed(moment: &Zoned, form: &Form, out: &mut Vec<u8>) {
    let written = BrokenDownTime::from(moment).format(form.text(), out);
    debug_assert!(written.is_ok(), "a form that was read can be written: {}", form.text());
}

fn now(moment: Moment, now: SystemTime, out: &mut Vec<u8>) {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    match moment {
        Moment::Unix => digits(seconds, 1, out),
        Moment::UnixMillis => digits(seconds * 1000 + u64::from(since.subsec_millis()), 1, out),
        Moment::UnixNanos => {
            digits(seconds, 1, out);
            digits(since.subsec_nanos().into(), 9, out);
        }
        Moment::Date => date(utc(seconds), out),
        Moment::Rfc3339 => {
            let then = utc(seconds);
            date(then, out);
            out.push(b'T');
            clock(then, out);
            out.push(b'.');
            digits(since.subsec_millis().into(), 3, out);
            out.push(b'Z');
        }
        Moment::Http => {
            let then = utc(seconds);
            out.extend_from_slice(WEEKDAYS[usize::from(then.weekday().to_sunday_zero_offset().unsigned_abs())]);
            out.extend_from_slice(b", ");
            digits(then.day().unsigned_abs().into(), 2, out);
            out.push(b' ');
            out.extend_from_slice(MONTHS[usize::from(then.month().unsigned_abs()) - 1]);
            out.push(b' ');
            digits(then.year().unsigned_abs().into(), 4, out);
            out.push(b' ');
            clock(then, out);
            out.extend_from_slice(b" GMT");
        }
    }
}

const WEEKDAYS: [&[u8]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];
const MONTHS: [&[u8]; 12] = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// The latest moment there is, for a clock beyond the year 9999.
fn utc(seconds: u64) -> DateTime {
    let then = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    Offset::UTC.to_datetime(then.unwrap_or(Timestamp::MAX))
}

fn date(then: DateTime, out: &mut Vec<u8>) {
    digits(then.year().unsigned_abs().into(), 4, out);
    out.push(b'-');
    digits(then.month().unsigned_abs().into(), 2, out);
    out.push(b'-');
    digits(then.day().unsigned_abs().into(), 2, out);
}

fn clock(then: DateTime, out: &mut Vec<u8>) {
    for (place, part) in [then.hour(), then.minute(), then.second()].into_iter().enumerate() {
        if place > 0 {
            out.push(b':');
        }
        digits(part.unsigned_abs().into(), 2, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(parts: &[Part], number: u64) -> String {
        let (mut out, mut scratch, mut is_unsafe) = (Vec::new(), Vec::new(), false);
        let mut random = Random::new(1, number);
        let mut writing = Writing {
            number,
            random: &mut random,
            sources: &[],
            kept: &[],
            variables: &[],
            body: b"the \"body\"",
            scratch: &mut scratch,
            is_unsafe: &mut is_unsafe,
        };
        write(parts, &mut out, &mut writing);
        String::from_utf8(out).unwrap()
    }

    fn one(writer: Writer, place: Place) -> Vec<Part> {
        vec![Part::Value(writer, place)]
    }

    #[test]
    fn what_may_be_encoded_already_is_written_as_a_form_has_it_either_way() {
        for (text, written) in [
            ("a%20b+c d&e", "a+b+c+d%26e"),
            ("%41%7e~*%2A%2b", "A%7E%7E**%2B"),
            ("%e4%", "%E4%"),
            ("100%%zz%2", "100%%zz%2"),
            ("\u{e4}=\u{e4}%3d", "%C3%A4%3D%C3%A4%3D"),
        ] {
            let mut out = b"q=".to_vec();
            Place::KeptForm.escape(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("q={written}"), "{text}");
        }
    }

    #[test]
    fn moments_are_written_in_the_usual_forms() {
        // A second of a leap day.
        let then = UNIX_EPOCH + Duration::new(1_709_210_096, 7_000_089);
        for (moment, expected) in [
            (Moment::Rfc3339, "2024-02-29T12:34:56.007Z"),
            (Moment::Date, "2024-02-29"),
            (Moment::Http, "Thu, 29 Feb 2024 12:34:56 GMT"),
            (Moment::Unix, "1709210096"),
            (Moment::UnixMillis, "1709210096007"),
            (Moment::UnixNanos, "1709210096007000089"),
        ] {
            let mut out = Vec::new();
            now(moment, then, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn moments_are_written_in_any_form() {
        let then = UNIX_EPOCH + Duration::new(1_709_210_096, 7_000_089);
        // Every letter that a form may have.
        let form = "%Y %y %m %d %e %j %H %I %M %S %p %a %A %b %B %u %s %z %F %T %3f %6f %9f %-d %-m %-H %-I %-M %-S %-j %-e %-y %%";
        let expected = "2024 24 02 29 29 060 12 12 34 56 PM Thu Thursday Feb February 4 1709210096 +0000 2024-02-29 12:34:56 007 007000 007000089 29 2 12 12 34 56 60 29 24 %";
        let mut out = Vec::new();
        moment(&TimeForm::Written(form.parse().unwrap()), then, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let year = |shift: i64| -> u64 {
            written(&one(Writer::Now { form: TimeForm::Written("%Y".parse().unwrap()), shift }, Place::Plain), 1).parse().unwrap()
        };
        assert_eq!(year(10 * 365 * 86_400 + 3 * 86_400) - year(0), 10);
    }

    #[test]
    fn texts_and_days_by_chance_are_made_of_what_they_may_be_and_of_all_of_it() {
        let of = |writer: &dyn Fn() -> Writer| -> std::collections::BTreeSet<String> {
            (0..1000).map(|number| written(&one(writer(), Place::Plain), number)).collect()
        };
        let texts = of(&|| Writer::RandomText { length: 2, letters: vec!['a', 'é'] });
        assert_eq!(texts.into_iter().collect::<Vec<_>>(), ["aa", "aé", "éa", "éé"]);
        let day = |text: &str| text.parse::<Day>().unwrap();
        let days = of(&|| Writer::RandomDate {
            first: civil(day("2024-02-28")),
            days: days_between(day("2024-02-28"), day("2024-03-01")),
            form: "%d.%m.%Y".parse().unwrap(),
        });
        assert_eq!(days.into_iter().collect::<Vec<_>>(), ["01.03.2024", "28.02.2024", "29.02.2024"]);
    }

    #[test]
    fn a_uuid_is_of_version_4_and_another_each_time() {
        let drawn: std::collections::BTreeSet<String> = (0..1000).map(|number| written(&one(Writer::Uuid, Place::Url), number)).collect();
        assert_eq!(drawn.len(), 1000);
        for uuid in drawn {
            let parts: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12]);
            assert!(uuid.as_bytes()[14] == b'4' && b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
        }
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let drawn: std::collections::BTreeSet<i64> =
            (0..1000).map(|number| written(&one(Writer::Random { low: -2, high: 2 }, Place::Plain), number).parse().unwrap()).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
        assert_eq!(written(&one(Writer::Random { low: i64::MIN, high: i64::MIN }, Place::Plain), 1), i64::MIN.to_string());
        assert_eq!(written(&one(Writer::Sequence { from: 0 }, Place::Plain), 0), "0");
        assert_eq!(written(&one(Writer::Sequence { from: 1000 }, Place::Plain), 41), "1041");
    }

    #[test]
    fn a_signature_is_that_of_rfc_4231() {
        // Test case 2.
        let key = || hmac::Key::new(hmac::HMAC_SHA256, b"Jefe");
        let message = || vec![Part::Text(b"what do ya want ".to_vec()), Part::Text(b"for nothing?".to_vec())];
        let signed = written(&one(Writer::Hmac { key: key(), coding: Coding::Hex, message: message() }, Place::Header), 0);
        assert_eq!(signed, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let signed = written(&one(Writer::Hmac { key: key(), coding: Coding::Base64, message: message() }, Place::Plain), 0);
        assert_eq!(signed, "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=");
    }

    #[test]
    fn a_value_is_escaped_for_its_place() {
        for (place, expected) in [
            (Place::Url, "the%20%22body%22"),
            (Place::RawUrl, "the%20\"body\""),
            (Place::Form, "the+%22body%22"),
            (Place::Json, "the \\\"body\\\""),
            (Place::Header, "the \"body\""),
            (Place::Plain, "the \"body\""),
        ] {
            assert_eq!(written(&one(Writer::Body, place), 0), expected);
        }
        let parts = one(Writer::Base64(one(Writer::Body, Place::Plain)), Place::Url);
        assert_eq!(written(&parts, 0), "dGhlICJib2R5Ig%3D%3D");
    }

    proptest! {
        #[test]
        fn what_is_escaped_for_json_is_the_same_text(text in "\\PC{0,20}[\\x00-\\x7f]{0,20}") {
            let mut out = b"\"".to_vec();
            Place::Json.escape(text.as_bytes(), &mut out);
            out.push(b'"');
            prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }

        #[test]
        fn days_follow_each_other(day in 0u64..200_000) {
            let written = |day: u64| {
                let mut out = Vec::new();
                now(Moment::Date, UNIX_EPOCH + Duration::from_secs(day * 86_400), &mut out);
                let text = String::from_utf8(out).unwrap();
                let parts: Vec<u64> = text.split('-').map(|part| part.parse().unwrap()).collect();
                (parts[0], parts[1], parts[2])
            };
            let (year, month, date) = written(day);
            let (next_year, next_month, next_date) = written(day + 1);
            let is_next = (next_year, next_month, next_date) == (year, month, date + 1)
                || ((next_year, next_month, next_date) == (year, month + 1, 1) && date >= 28)
                || ((next_year, next_month, next_date) == (year + 1, 1, 1) && (month, date) == (12, 31));
            prop_assert!(is_next);
        }
    }
}
