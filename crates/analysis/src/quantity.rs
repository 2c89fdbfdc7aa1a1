//! Times, bytes, rates and shares as people read them: three significant digits, and a unit that fits.
//!
//! `0.001702113 s` is exact and says nothing at a glance; `1.70 ms` does. Zeros at the end are kept in times, because
//! figures stand below each other and 1.7 beside 1.68 looks less certain than it is.

use measure::grouped;
use plan::Nanos;

/// What stands where there is no figure.
pub const NONE: &str = "–";

/// A time in nanoseconds, with three significant digits: `412 µs`, `4.18 ms`, `1.10 s`.
#[must_use]
pub fn time(ns: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    if !ns.is_finite() {
        return NONE.to_owned();
    }
    if ns == 0.0 {
        return "0 s".to_owned();
    }
    for (unit, size) in UNITS {
        let value = ns / size;
        // 999.6 would be printed as 1000: it belongs to the next unit.
        if value < 999.5 || unit == "s" {
            let decimals = if unit == "ns" || value >= 99.95 {
                0
            } else if value >= 9.995 {
                1
            } else {
                2
            };
            return format!("{} {unit}", decimal(value, decimals));
        }
    }
    unreachable!("the last unit takes every value")
}

/// A span, as [`time`]; a dash where there is none.
#[must_use]
pub fn nanos(span: Option<Nanos>) -> String {
    span.map_or_else(|| NONE.to_owned(), |span| time(span.0 as f64))
}

/// A chosen length of time, without zeros nobody chose: `10 s`, `1m30s`, `7.48 s`.
#[must_use]
pub fn length(span: Nanos) -> String {
    let secs = span.as_secs_f64();
    if secs >= 60.0 && span.0.is_multiple_of(1_000_000_000) {
        span.to_string()
    } else if secs >= 1.0 {
        format!("{} s", figure(secs))
    } else {
        let shown = time(span.0 as f64);
        match shown.split_once(' ') {
            Some((value, unit)) if value.contains('.') => format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.')),
            _ => shown,
        }
    }
}

/// A whole number with commas between the thousands.
#[must_use]
pub fn count(count: u64) -> String {
    decimal(count as f64, 0)
}

/// A count and its noun: `1 request`, `2,000 requests`.
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Bytes with three significant digits, in powers of a thousand: `170 B`, `8.13 MB`.
#[must_use]
pub fn bytes(bytes: f64) -> String {
    const UNITS: [(&str, f64); 5] = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
    for (unit, size) in UNITS {
        let value = bytes / size;
        if value < 999.5 || unit == "TB" {
            return format!("{} {unit}", figure(value));
        }
    }
    unreachable!("the last unit takes every value")
}

/// `part` of `whole` in percent: `0.19 %`.
#[must_use]
pub fn share(part: u64, whole: u64) -> String {
    format!("{} %", percent(if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }))
}

/// A quantile as people say it: `99.9 %`.
#[must_use]
pub fn quantile(q: f64) -> String {
    // Rounded, because 100 × 0.999 is not exactly 99.9.
    format!("{} %", (q * 1e6).round() / 1e4)
}

/// A quantile in the field's short form: `p99.9`.
#[must_use]
pub fn percentile(q: f64) -> String {
    format!("p{}", (q * 1e6).round() / 1e4)
}

/// The most digits after the point that any of these functions writes.
pub const DECIMALS_MAX: usize = 9;

/// `value` with exactly `decimals` digits after the point (at most nine) and commas between the thousands.
///
/// Zero never has a sign. A value that is not finite is written as a dash.
#[must_use]
pub fn decimal(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let plain = format!("{:.*}", decimals.min(DECIMALS_MAX), value.abs());
    let (whole, rest) = match plain.find('.') {
        Some(point) => plain.split_at(point),
        None => (plain.as_str(), ""),
    };
    let mut written = String::with_capacity(plain.len() + whole.len() / 3 + 1);
    let is_zero = plain.bytes().all(|byte| byte == b'0' || byte == b'.');
    if value < 0.0 && !is_zero {
        written.push('−');
    }
    written.push_str(&grouped(whole));
    written.push_str(rest);
    written
}

/// `value` with about three significant digits, more when it is a thousand or above: `51,010`, `38.2`, `0.0513`.
#[must_use]
pub fn figure(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 100.0 || size == 0.0 || !size.is_finite() {
        0
    } else if size >= 10.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        // 0.05 is 5e-2: its third significant digit is the fourth after the point.
        (2.0 - size.log10().floor()).min(DECIMALS_MAX as f64) as usize
    };
    trimmed(&decimal(value, decimals))
}

/// As [`figure`] with four significant digits: `348.6`, `1,624`.
#[must_use]
pub fn four_digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return figure(value);
    }
    trimmed(&decimal(value, (3.0 - size.log10().floor()).clamp(0.0, DECIMALS_MAX as f64) as usize))
}

/// How figures that stand together are written: [`figure`], or [`four_digits`] where that would make two of them one.
pub type Written = fn(f64) -> String;

/// How two figures are written so that they read as the two they are.
#[must_use]
pub fn told_apart(one: f64, other: f64) -> Written {
    if one != other && figure(one) == figure(other) { four_digits } else { figure }
}

/// A share from 0 to 1 in percent, to a tenth.
#[must_use]
pub fn tenths(share: f64) -> String {
    percent((share * 1e3).round() / 10.0)
}

/// A share in percent, with as many digits as it takes that 99.9996 is not read as 100.
///
/// One failure in a million requests is a failure, and a reader who sees `100` believes that there was none.
#[must_use]
pub fn percent(value: f64) -> String {
    for decimals in 2..=DECIMALS_MAX {
        let written = trimmed(&decimal(value, decimals));
        if written != "100" && written != "0" || value >= 100.0 || value <= 0.0 {
            return written;
        }
    }
    if value > 50.0 { "under 100" } else { "above 0" }.to_owned()
}

/// `written` without zeros at the end of its fraction.
fn trimmed(written: &str) -> String {
    if written.contains('.') { written.trim_end_matches('0').trim_end_matches('.').to_owned() } else { written.to_owned() }
}

/// A share as a percentage with its sign.
#[must_use]
pub fn signed(share: f64) -> String {
    if share.is_infinite() {
        return if share > 0.0 { "+∞" } else { "−∞" }.to_owned();
    }
    let size = share.abs() * 100.0;
    let text = if size >= 9.95 { decimal(size, 0) } else { decimal(size, if size < 0.1 { 2 } else { 1 }) };
    let zero = text.bytes().all(|byte| byte == b'0' || byte == b'.');
    match (zero, share < 0.0) {
        (true, _) => "0".to_owned(),
        (false, true) => format!("−{text}"),
        (false, false) => format!("+{text}"),
    }
}

/// A sentence with a capital at its beginning.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_significant_digits_and_a_unit_that_fits() {
        for (ns, shown) in [
            (7.0, "7 ns"),
            (9_000.0, "9.00 µs"),
            (412_345.0, "412 µs"),
            (999_600.0, "1.00 ms"),
            (4_184_000.0, "4.18 ms"),
            (41_340_000.0, "41.3 ms"),
            (99_960_000.0, "100 ms"),
            (1_102_000_000.0, "1.10 s"),
            (86_400e9, "86,400 s"),
            (0.0, "0 s"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(time(ns), shown);
        }
    }

    #[test]
    fn two_figures_read_as_two() {
        let written = |one: f64, other: f64| {
            let written = told_apart(one, other);
            (written(one), written(other))
        };
        assert_eq!(written(348.6, 349.3), ("348.6".to_owned(), "349.3".to_owned()));
        assert_eq!(written(348.6, 352.0), ("349".to_owned(), "352".to_owned()));
        assert_eq!(written(12.34, 12.26), ("12.34".to_owned(), "12.26".to_owned()));
        assert_eq!([1_624.4, 0.012_346, 400.0, 0.0].map(four_digits), ["1,624", "0.01235", "400", "0"]);
    }

    #[test]
    fn chosen_lengths_are_said_as_they_were_chosen() {
        for (text, shown) in
            [("10s", "10 s"), ("1m30s", "1m30s"), ("60s", "1m"), ("2.5s", "2.5 s"), ("250ms", "250 ms"), ("1500us", "1.5 ms")]
        {
            assert_eq!(length(text.parse().unwrap()), shown);
        }
    }

    #[test]
    fn a_quantile_is_said_as_a_percentage() {
        assert_eq!((quantile(0.999), quantile(0.9999), quantile(0.5)), ("99.9 %".to_owned(), "99.99 %".to_owned(), "50 %".to_owned()));
    }

    #[test]
    fn bytes_change_their_unit_at_a_thousand() {
        assert_eq!((bytes(170.0), bytes(8_130_000.0), bytes(999_700.0)), ("170 B".to_owned(), "8.13 MB".to_owned(), "1 MB".to_owned()));
    }
}
