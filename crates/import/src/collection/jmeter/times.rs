//! Dates and times as Java writes and shifts them, as the templates of a scenario have them.

use jiff::civil::DateTime;
use jiff::fmt::strtime::{BrokenDownTime, format};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use plan::template::Form;

/// A form of times (`dd.MM.yyyy`), which `__time` also knows by names, as templates have it (`%d.%m.%Y`).
///
/// # Errors
/// In words, if a letter in it has no equal.
pub(super) fn form(pattern: &str) -> Result<Form, String> {
    let pattern = match pattern {
        "YMD" => "yyyyMMdd",
        "HMS" => "HHmmss",
        "YMDHMS" => "yyyyMMdd-HHmmss",
        pattern => pattern,
    };
    let mut form = String::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\'' {
            quoted(&mut letters, &mut form);
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            form.push_str(if letter == '%' { "%%" } else { "" });
            form.extend((letter != '%').then_some(letter));
            continue;
        }
        let mut count = 1;
        while letters.next_if_eq(&letter).is_some() {
            count += 1;
        }
        let part = match (letter, count) {
            ('y' | 'u', 2) => "%y",
            ('y' | 'u', 1 | 4) => "%Y",
            ('M' | 'L', 1) => "%-m",
            ('M' | 'L', 2) => "%m",
            ('M' | 'L', 3) => "%b",
            ('M' | 'L', 4) => "%B",
            ('d', 1) => "%-d",
            ('d', 2) => "%d",
            ('D', 1) => "%-j",
            ('D', 3) => "%j",
            ('E', 1..=3) => "%a",
            ('E', 4) => "%A",
            ('a', 1) => "%p",
            ('H', 1) => "%-H",
            ('H', 2) => "%H",
            ('h', 1) => "%-I",
            ('h', 2) => "%I",
            ('m', 1) => "%-M",
            ('m', 2) => "%M",
            ('s', 1) => "%-S",
            ('s', 2) => "%S",
            ('S', 3) => "%3f",
            ('S', 6) => "%6f",
            ('S', 9) => "%9f",
            ('Z', 1..=3) | ('x', 2) => "%z",
            // Times are UTC.
            ('X', 1..=3) => "Z",
            ('z', 1..=3) => "UTC",
            _ => return Err(format!("the letters '{}' in its form '{pattern}' have no equal here", letter.to_string().repeat(count))),
        };
        form.push_str(part);
    }
    form.parse().map_err(|why| format!("its form '{pattern}' is none: {why}"))
}

/// Whether a form of Java says anything of a time of day.
pub(super) fn says_time_of_day(pattern: &str) -> bool {
    // What stands between apostrophes is text.
    pattern.split('\'').step_by(2).any(|part| part.contains(['H', 'h', 'K', 'k', 'm', 's', 'S', 'A', 'a']))
}

/// A text between apostrophes; two of them are one.
fn quoted(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, form: &mut String) {
    if letters.next_if_eq(&'\'').is_some() {
        form.push('\'');
        return;
    }
    while let Some(letter) = letters.next() {
        match letter {
            '\'' if letters.next_if_eq(&'\'').is_none() => return,
            '%' => form.push_str("%%"),
            letter => form.push(letter),
        }
    }
}

/// The seconds of a duration such as `P1DT2H` or `PT-5M`, whole days and smaller; nothing if it is none.
pub(super) fn seconds(duration: &str) -> Option<i64> {
    let upper = duration.trim().to_ascii_uppercase();
    let (sign, upper) = match upper.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, upper.strip_prefix('+').unwrap_or(&upper)),
    };
    let (days, times) = match upper.strip_prefix('P')?.split_once('T') {
        Some((days, times)) => (days, times),
        None => (&upper[1..], ""),
    };
    let mut sum = 0_i64;
    let mut add = |mut text: &str, units: &[(char, i64)]| -> Option<()> {
        for (unit, seconds) in units {
            if let Some((number, rest)) = text.split_once(*unit) {
                sum = sum.checked_add(number.parse::<i64>().ok()?.checked_mul(*seconds)?)?;
                text = rest;
            }
        }
        text.is_empty().then_some(())
    };
    add(days, &[('D', 86_400)])?;
    add(times, &[('H', 3600), ('M', 60), ('S', 1)])?;
    (upper.len() > 1).then_some(sign * sum)
}

/// A moment that is known now, read in one form (milliseconds since 1970 without one), shifted, and written in another.
pub(super) fn converted(moment: &str, from: Option<&Form>, shift: i64, to: Option<&Form>) -> Option<String> {
    let then = match from {
        None => Timestamp::from_millisecond(moment.trim().parse().ok()?).ok()?,
        Some(form) => {
            let read = BrokenDownTime::parse(form.text(), moment.trim()).ok()?;
            let then = read.to_datetime().ok().or_else(|| read.to_date().ok().map(DateTime::from))?;
            then.to_zoned(TimeZone::UTC).ok()?.timestamp()
        }
    };
    let then = then.checked_add(SignedDuration::from_secs(shift)).ok()?;
    match to {
        None => Some(then.as_millisecond().to_string()),
        Some(form) => format(form.text(), &then.to_zoned(TimeZone::UTC)).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_java_are_forms_of_templates() {
        for (pattern, expected) in [
            ("yyyy-MM-dd", "%Y-%m-%d"),
            ("d.M.yy HH:mm:ss.SSS", "%-d.%-m.%y %H:%M:%S.%3f"),
            ("yyyy-MM-dd'T'HH:mm:ssXXX", "%Y-%m-%dT%H:%M:%SZ"),
            ("EEEE, d MMMM yyyy h:mm a 'o''clock'", "%A, %-d %B %Y %-I:%M %p o'clock"),
            ("YMDHMS", "%Y%m%d-%H%M%S"),
            ("yyyy % ''", "%Y %% '"),
        ] {
            assert_eq!(form(pattern).unwrap().text(), expected, "{pattern}");
        }
        assert!(form("YYYY").unwrap_err().contains("the letters 'YYYY'"));
        assert!(form("--").unwrap_err().contains("is none"));
    }

    #[test]
    fn a_form_says_a_time_of_day_or_none() {
        for (pattern, says) in [("yyyy-MM-dd HH:mm", true), ("yyyy-MM-dd", false), ("dd 'hours' MM", false), ("h a", true), ("", false)] {
            assert_eq!(says_time_of_day(pattern), says, "{pattern}");
        }
    }

    #[test]
    fn durations_are_seconds() {
        for (text, expected) in [
            ("P1D", Some(86_400)),
            ("-P1DT1H", Some(-90_000)),
            ("PT-5M", Some(-300)),
            ("pt1h2m3s", Some(3723)),
            ("P1M", None),
            ("1d", None),
            ("P", None),
            ("PT1H5", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn moments_that_are_known_are_converted() {
        let (day, german) = (form("yyyy-MM-dd").unwrap(), form("dd.MM.yyyy").unwrap());
        assert_eq!(converted("2024-02-28", Some(&day), 86_400, Some(&german)).as_deref(), Some("29.02.2024"));
        assert_eq!(converted("0", None, 0, Some(&german)).as_deref(), Some("01.01.1970"));
        assert_eq!(converted("1970-01-02", Some(&day), 0, None).as_deref(), Some("86400000"));
        assert_eq!(converted("soon", Some(&day), 0, None), None);
    }
}
