//! Times as logs write them, to nanoseconds since 1970.
//!
//! A busy server writes the same second on hundreds of lines, and a calendar costs more than everything else on a line. So a
//! clock keeps the text it read last: the same text is the same second, and the same text but for minute and second differs by
//! as much. Invariant: what is remembered gives what reading afresh would give.

/// Nanoseconds in a second.
pub(crate) const SECOND_NS: i64 = 1_000_000_000;

/// A moment, and how far the log's own clock is from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Nanoseconds since 1970, UTC.
    pub(crate) at_ns: i64,
    /// Seconds to add for the wall clock of the server.
    pub(crate) offset_s: i32,
}

/// Reads times, and remembers the last.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The last text in the server's form: `10/Oct/2000:13:55:36 -0700`.
    text: [u8; LOCAL_LETTERS],
    /// The minute it lies in.
    minute: Option<Stamp>,
    second: i64,
}

const LOCAL_LETTERS: usize = 26;
/// `10/Oct/2000:13:55:`, before the seconds.
const TO_MINUTE: usize = 18;

impl Clock {
    /// `10/Oct/2000:13:55:36 -0700`.
    #[inline]
    pub(crate) fn local(&mut self, text: &[u8]) -> Option<Stamp> {
        let text: &[u8; LOCAL_LETTERS] = text.try_into().ok()?;
        if let Some(minute) = self.minute
            && text[..TO_MINUTE] == self.text[..TO_MINUTE]
            && text[20..] == self.text[20..]
        {
            if text[TO_MINUTE..20] != self.text[TO_MINUTE..20] {
                self.second = second(&text[TO_MINUTE..20])?;
                self.text = *text;
            }
            return Some(Stamp { at_ns: minute.at_ns + self.second * SECOND_NS, offset_s: minute.offset_s });
        }
        let (minute, second) = local_afresh(text)?;
        (self.minute, self.second, self.text) = (Some(minute), second, *text);
        Some(Stamp { at_ns: minute.at_ns + second * SECOND_NS, offset_s: minute.offset_s })
    }
}

/// The minute, and the seconds in it.
fn local_afresh(text: &[u8; LOCAL_LETTERS]) -> Option<(Stamp, i64)> {
    if text[2] != b'/' || text[6] != b'/' || text[11] != b':' || text[14] != b':' || text[17] != b':' || text[20] != b' ' {
        return None;
    }
    const MONTHS: [&[u8; 3]; 12] = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(&text[3..6]))? as i64 + 1;
    let days = days(digits(&text[7..11])?, month, digits(&text[..2])?)?;
    let offset_s = zone(&text[21..])?;
    let minutes = clock_minutes(&text[12..17])?;
    Some((Stamp { at_ns: (days * 86_400 + minutes * 60 - i64::from(offset_s)) * SECOND_NS, offset_s }, second(&text[18..20])?))
}

/// `2016-04-15T20:17:00.310Z`, `2016-04-15 20:17:00+02:00`, with as many digits of a second as there are; without a zone as UTC.
pub(crate) fn iso(text: &[u8]) -> Option<Stamp> {
    if text.len() < 19
        || text[4] != b'-'
        || text[7] != b'-'
        || !matches!(text[10], b'T' | b't' | b' ')
        || text[13] != b':'
        || text[16] != b':'
    {
        return None;
    }
    let days = days(digits(&text[..4])?, digits(&text[5..7])?, digits(&text[8..10])?)?;
    let minutes = clock_minutes(&text[11..16])?;
    let second = second(&text[17..19])?;
    let (fraction_ns, rest) = match text.get(19) {
        Some(b'.' | b',') => {
            let end = 20 + text[20..].iter().take_while(|letter| letter.is_ascii_digit()).count();
            (fraction(&text[20..end]), &text[end..])
        }
        _ => (0, &text[19..]),
    };
    let offset_s = match rest {
        b"" | b"Z" | b"z" => 0,
        _ => zone(rest)?,
    };
    let at_s = days * 86_400 + minutes * 60 + second - i64::from(offset_s);
    Some(Stamp { at_ns: at_s * SECOND_NS + fraction_ns, offset_s })
}

/// A number of seconds since 1970, or of milli-, micro- or nanoseconds: as large as they must be for a year from 1971 to 2200.
pub(crate) fn epoch(text: &[u8]) -> Option<Stamp> {
    let (whole, part) = match memchr::memchr(b'.', text) {
        Some(dot) => (&text[..dot], &text[dot + 1..]),
        None => (text, &text[text.len()..]),
    };
    if whole.is_empty() || whole.len() > 19 || !part.iter().all(u8::is_ascii_digit) {
        return exponent(text);
    }
    let whole = digits(whole)?;
    let at_ns = match whole {
        0..10_000_000_000 => whole * SECOND_NS + fraction(part),
        10_000_000_000..10_000_000_000_000 => whole.checked_mul(1_000_000)? + fraction(part) / 1000,
        10_000_000_000_000..10_000_000_000_000_000 => whole.checked_mul(1000)?,
        _ => whole,
    };
    Some(Stamp { at_ns, offset_s: 0 })
}

/// As JSON may write a large number: `1.7e9`.
fn exponent(text: &[u8]) -> Option<Stamp> {
    let seconds: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (seconds.is_finite() && (0.0..1e10).contains(&seconds)).then_some(Stamp { at_ns: (seconds * 1e9) as i64, offset_s: 0 })
}

/// Any of the forms.
pub(crate) fn in_any_form(text: &[u8], clock: &mut Clock) -> Option<Stamp> {
    clock.local(text).or_else(|| iso(text)).or_else(|| epoch(text))
}

/// A span in seconds as decimal digits, in nanoseconds; exact, where a float would not be.
pub(crate) fn span_ns(text: &[u8], unit_ns: i64) -> Option<i64> {
    let (whole, part) = match memchr::memchr(b'.', text) {
        Some(dot) => (&text[..dot], &text[dot + 1..]),
        None => (text, &text[text.len()..]),
    };
    if whole.len() > 12 || !whole.iter().chain(part).all(u8::is_ascii_digit) || (whole.is_empty() && part.is_empty()) {
        let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        return (value.is_finite() && value >= 0.0 && value * (unit_ns as f64) < 1e17).then_some((value * unit_ns as f64) as i64);
    }
    digits(whole)?.checked_mul(unit_ns)?.checked_add(fraction(part) / (SECOND_NS / unit_ns))
}

/// The digits after the point, in billionths; more than nine are cut.
fn fraction(text: &[u8]) -> i64 {
    let mut value = 0;
    for place in 0..9 {
        value = value * 10 + text.get(place).map_or(0, |digit| i64::from(digit.wrapping_sub(b'0') % 10));
    }
    value
}

/// `13:55`, in minutes.
fn clock_minutes(text: &[u8]) -> Option<i64> {
    let (hour, minute) = (digits(&text[..2])?, digits(&text[3..5])?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

/// A leap second is a second.
fn second(text: &[u8]) -> Option<i64> {
    digits(text).filter(|second| *second <= 60)
}

/// `-0700`, `+02:00`, `Z`, in seconds.
fn zone(text: &[u8]) -> Option<i32> {
    let (sign, text) = match text.split_first()? {
        (b'+', text) => (1, text),
        (b'-', text) => (-1, text),
        _ => return None,
    };
    let (hours, minutes) = match text {
        [_, _, b':', _, _] => (&text[..2], &text[3..]),
        [_, _, _, _] => (&text[..2], &text[2..]),
        [_, _] => (text, &b"00"[..]),
        _ => return None,
    };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    (hours <= 24 && minutes < 60).then(|| sign * (hours * 3600 + minutes * 60) as i32)
}

/// A moment as people read it: `2000-10-10 20:55:36 UTC`.
#[must_use]
pub fn utc(at_s: i64) -> String {
    match jiff::Timestamp::from_second(at_s) {
        Ok(at) => at.to_string().replace('T', " ").replace('Z', " UTC"),
        Err(_) => format!("{at_s} s since 1970"),
    }
}

/// A moment as people write it, in nanoseconds since 1970: `2000-10-10 20:55`, `2000-10-10T20:55:36Z`, or as a log has it,
/// `10/Oct/2000:13:55:36 -0700`. Without a zone it is that of a clock so many seconds before UTC.
#[must_use]
pub fn moment(text: &str, offset_s: i32) -> Option<i64> {
    let text = text.trim();
    if let Some(stamp) = Clock::default().local(text.as_bytes()) {
        return Some(stamp.at_ns);
    }
    let whole = match (text.len(), text.as_bytes().get(16)) {
        (10, _) => format!("{text}T00:00:00"),
        (16.., Some(b':')) => text.to_owned(),
        (16.., _) => format!("{}:00{}", text.get(..16)?, text.get(16..)?),
        _ => return None,
    };
    let stamp = iso(whole.as_bytes())?;
    let has_zone = !whole.get(19..)?.trim_start_matches(|letter: char| matches!(letter, '.' | ',' | '0'..='9')).is_empty();
    Some(if has_zone { stamp.at_ns } else { stamp.at_ns - i64::from(offset_s) * SECOND_NS })
}

/// Only digits, at most nineteen.
pub(crate) fn digits(text: &[u8]) -> Option<i64> {
    let mut value = 0i64;
    for letter in text {
        let digit = letter.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    Some(value)
}

/// Days from 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    const LENGTHS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = LENGTHS.get(usize::try_from(month - 1).ok()?)?;
    if day < 1 || day > *length || (month == 2 && day == 29 && !leap) || !(1900..=2200).contains(&year) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(stamp: Option<Stamp>) -> Option<i64> {
        stamp.map(|stamp| stamp.at_ns / SECOND_NS)
    }

    #[test]
    fn every_form_of_a_time_is_the_same_moment() {
        let mut clock = Clock::default();
        for text in ["10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36Z", "2000-10-10T13:55:36-07:00", "971211336", "971211336000"] {
            assert_eq!(seconds(in_any_form(text.as_bytes(), &mut clock)), Some(971_211_336), "{text}");
        }
        assert_eq!(iso(b"2016-04-15T20:17:00.310Z").unwrap().at_ns % SECOND_NS, 310_000_000);
        assert_eq!(epoch(b"1700000000.123").unwrap().at_ns, 1_700_000_000_123_000_000);
        assert_eq!(clock.local(b"10/Oct/2000:13:55:36 -0700").unwrap().offset_s, -25_200);
    }

    #[test]
    fn a_moment_is_read_as_people_write_it() {
        for text in
            ["2000-10-10 20:55Z", "2000-10-10T20:55:00+00:00", "2000-10-10 22:55", "10/Oct/2000:22:55:00 +0200", "2000-10-10 22:55:00.0"]
        {
            assert_eq!(moment(text, 7200), Some(971_211_300 * SECOND_NS), "{text}");
        }
        assert_eq!(moment("1970-01-02", 0), Some(86_400 * SECOND_NS));
        for text in ["", "yesterday", "2000-13-10", "2000-10-10 25:00", "2000-10-1é 22:55"] {
            assert_eq!(moment(text, 0), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        let mut clock = Clock::default();
        for text in [
            "",
            "-",
            "10/Oct/2000:13:55:36",
            "32/Oct/2000:13:55:36 -0700",
            "29/Feb/2001:00:00:00 +0000",
            "10/Okt/2000:13:55:36 -0700",
            "10/Oct/2000:24:55:36 -0700",
            "2016-13-15T20:17:00Z",
            "99999999999999999999",
            "1e400",
            "2016-04-15T20:17:00+",
        ] {
            assert_eq!(in_any_form(text.as_bytes(), &mut clock), None, "{text}");
        }
    }

    #[test]
    fn spans_are_exact() {
        assert_eq!(span_ns(b"0.123", SECOND_NS), Some(123_000_000));
        assert_eq!(span_ns(b"12", 1_000_000), Some(12_000_000));
        assert_eq!(span_ns(b"1.5", 1_000_000), Some(1_500_000));
        assert_eq!(span_ns(b"1e-3", SECOND_NS), Some(1_000_000));
        assert_eq!((span_ns(b"-", SECOND_NS), span_ns(b"-1", SECOND_NS), span_ns(b"", 1000)), (None, None, None));
    }

    proptest! {
        #[test]
        fn what_is_remembered_is_what_would_be_read(times in prop::collection::vec(0i64..4_000_000_000, 1..40), zones in prop::collection::vec(-12i64..=12, 1..40)) {
            let mut clock = Clock::default();
            for (at, zone) in times.iter().zip(zones.iter().cycle()) {
                for near in [*at, at + 1, at + 61, *at] {
                    let wall = jiff::Timestamp::from_second(near + zone * 3600).unwrap().to_zoned(jiff::tz::TimeZone::UTC);
                    let text = wall.strftime("%d/%b/%Y:%H:%M:%S").to_string() + &format!(" {}{:02}00", if *zone < 0 { '-' } else { '+' }, zone.abs());
                    prop_assert_eq!(seconds(clock.local(text.as_bytes())), Some(near));
                }
            }
        }
    }
}
