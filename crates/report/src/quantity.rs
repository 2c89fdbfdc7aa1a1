//! Times, bytes, rates and shares as people read them: three significant digits, and a unit that fits.
//!
//! `0.001702113 s` is exact and says nothing at a glance; `1.70 ms` does. Zeros at the end are kept in times, because
//! figures stand below each other and 1.7 beside 1.68 looks less certain than it is.

use plan::Nanos;

use crate::chart::number;

/// What stands where there is no figure.
pub(crate) const NONE: &str = "–";

/// A time in nanoseconds, with three significant digits: `412 µs`, `4.18 ms`, `1.10 s`.
pub(crate) fn time(ns: f64) -> String {
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
            return format!("{} {unit}", number::decimal(value, decimals));
        }
    }
    unreachable!("the last unit takes every value")
}

/// A span, as [`time`]; a dash where there is none.
pub(crate) fn nanos(span: Option<Nanos>) -> String {
    span.map_or_else(|| NONE.to_owned(), |span| time(span.0 as f64))
}

/// A chosen length of time, without zeros nobody chose: `10 s`, `1m30s`, `7.48 s`.
pub(crate) fn length(span: Nanos) -> String {
    let secs = span.as_secs_f64();
    if secs >= 60.0 && span.0.is_multiple_of(1_000_000_000) {
        span.to_string()
    } else if secs >= 1.0 {
        format!("{} s", number::figure(secs))
    } else {
        let shown = time(span.0 as f64);
        match shown.split_once(' ') {
            Some((value, unit)) if value.contains('.') => format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.')),
            _ => shown,
        }
    }
}

/// A whole number with commas between the thousands.
pub(crate) fn count(count: u64) -> String {
    number::decimal(count as f64, 0)
}

/// A count and its noun: `1 request`, `2,000 requests`.
pub(crate) fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Bytes with three significant digits, in powers of a thousand: `170 B`, `8.13 MB`.
pub(crate) fn bytes(bytes: f64) -> String {
    const UNITS: [(&str, f64); 5] = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];
    for (unit, size) in UNITS {
        let value = bytes / size;
        if value < 999.5 || unit == "TB" {
            return format!("{} {unit}", number::figure(value));
        }
    }
    unreachable!("the last unit takes every value")
}

/// `part` of `whole` in percent: `0.19 %`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    format!("{} %", number::percent(if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }))
}

/// A quantile as people say it: `99.9 %`.
pub(crate) fn quantile(q: f64) -> String {
    // Rounded, because 100 × 0.999 is not exactly 99.9.
    format!("{} %", (q * 1e6).round() / 1e4)
}

/// How many samples quantile `q` takes: ten beyond it (see [`measure::quantile_is_known`]).
pub(crate) fn samples_needed(q: f64) -> u64 {
    (10.0 / (1.0 - q)).round() as u64
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
    fn chosen_lengths_are_said_as_they_were_chosen() {
        for (text, shown) in
            [("10s", "10 s"), ("1m30s", "1m30s"), ("60s", "1m"), ("2.5s", "2.5 s"), ("250ms", "250 ms"), ("1500us", "1.5 ms")]
        {
            assert_eq!(length(text.parse().unwrap()), shown);
        }
    }

    #[test]
    fn a_quantile_is_known_at_exactly_the_samples_it_is_said_to_take() {
        for q in measure::QUANTILES {
            let needed = samples_needed(q);
            assert!(measure::quantile_is_known(needed, q) && !measure::quantile_is_known(needed - 1, q), "{q}: {needed}");
        }
        assert_eq!((quantile(0.999), quantile(0.9999), quantile(0.5)), ("99.9 %".to_owned(), "99.99 %".to_owned(), "50 %".to_owned()));
    }

    #[test]
    fn bytes_change_their_unit_at_a_thousand() {
        assert_eq!((bytes(170.0), bytes(8_130_000.0), bytes(999_700.0)), ("170 B".to_owned(), "8.13 MB".to_owned(), "1 MB".to_owned()));
    }
}
