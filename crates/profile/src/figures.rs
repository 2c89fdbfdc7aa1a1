//! Values as `go tool pprof` writes them, so that the two can be held beside each other: `1.20s`, `24.49%`, `512kB`.

use measure::profiled::Unit;

/// A unit that values are shown in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    name: &'static str,
    factor: f64,
}

const TIMES: &[Scale] = &[
    Scale { name: "ns", factor: 1.0 },
    Scale { name: "us", factor: 1e3 },
    Scale { name: "ms", factor: 1e6 },
    Scale { name: "s", factor: 1e9 },
    Scale { name: "hrs", factor: 3.6e12 },
];
const SIZES: &[Scale] = &[
    Scale { name: "B", factor: 1.0 },
    Scale { name: "kB", factor: (1u64 << 10) as f64 },
    Scale { name: "MB", factor: (1u64 << 20) as f64 },
    Scale { name: "GB", factor: (1u64 << 30) as f64 },
    Scale { name: "TB", factor: (1u64 << 40) as f64 },
    Scale { name: "PB", factor: (1u64 << 50) as f64 },
];
const COUNTS: &[Scale] = &[Scale { name: "", factor: 1.0 }];

impl Scale {
    /// The largest unit of which the value is at least one; of nothing, seconds or bytes.
    #[must_use]
    pub fn of(value: i64, unit: Unit) -> Self {
        let (scales, least) = match unit {
            Unit::Nanoseconds => (TIMES, TIMES[3]),
            Unit::Bytes => (SIZES, SIZES[0]),
            Unit::Count => (COUNTS, COUNTS[0]),
        };
        let value = value.unsigned_abs() as f64;
        scales.iter().rfind(|scale| value >= scale.factor).copied().unwrap_or(least)
    }

    /// One for a whole table: that of its smallest value, or a larger one if its values span more than a hundredfold.
    #[must_use]
    pub fn shared(least: i64, total: i64, unit: Unit) -> Self {
        let (least, total) = (if least == 0 { total } else { least }, total);
        let (low, high) = (Self::of(least, unit), Self::of(total, unit));
        if low != high && least.saturating_mul(100) < total { Self::of(least.saturating_mul(100), unit) } else { low }
    }

    /// The value with its unit, two digits after the point.
    #[must_use]
    pub fn show(self, value: i64) -> String {
        let figure = format!("{:.2}", value as f64 / self.factor);
        match figure.strip_suffix(".00").unwrap_or(&figure) {
            "0" | "-0" => "0".to_owned(),
            figure => format!("{figure}{}", self.name),
        }
    }
}

/// A share in percent, six letters wide: two digits after the point, or two that count where it is below one.
#[must_use]
pub fn percent(value: i64, total: i64) -> String {
    let ratio = if total == 0 { 0.0 } else { (value as f64 / total as f64).abs() * 100.0 };
    match ratio {
        99.95..=100.05 => "  100%".to_owned(),
        1.0.. => format!("{ratio:5.2}%"),
        _ => format!("{:>5}%", two_digits(ratio)),
    }
}

/// As C's `%.2g` writes a number below one.
fn two_digits(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{number:.1e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed =
        |text: &str| if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() };
    if exponent < -4 {
        return format!("{}e-{:02}", trimmed(digits), -exponent);
    }
    trimmed(&format!("{number:.*}", usize::try_from(1 - exponent).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_unit_that_fits_them() {
        let shown = |value, unit| Scale::of(value, unit).show(value);
        assert_eq!(shown(1_200_000_000, Unit::Nanoseconds), "1.20s");
        assert_eq!(shown(30_000_000, Unit::Nanoseconds), "30ms");
        assert_eq!(shown(0, Unit::Nanoseconds), "0");
        assert_eq!(shown(1_536, Unit::Bytes), "1.50kB");
        assert_eq!(shown(-5 << 20, Unit::Bytes), "-5MB");
        assert_eq!(shown(12_345, Unit::Count), "12345");
    }

    #[test]
    fn a_table_has_one_unit_in_which_its_smallest_value_shows() {
        let shared = |least, total| Scale::shared(least, total, Unit::Nanoseconds).name;
        assert_eq!(shared(10_000_000, 900_000_000), "ms");
        assert_eq!(shared(10_000_000, 4_900_000_000), "s");
        assert_eq!(shared(50_000_000, 1_100_000_000), "ms");
        assert_eq!(shared(0, 4_900_000_000), "s");
    }

    #[test]
    fn shares_are_written_as_engineers_know_them() {
        for (value, total, text) in [
            (2_449, 10_000, "24.49%"),
            (10_000, 10_000, "  100%"),
            (5, 10_000, " 0.05%"),
            (45, 100_000, "0.045%"),
            (99, 10_000, " 0.99%"),
            (9_999, 1_000_000, "    1%"),
            (1, 100_000_000, "1e-06%"),
            (0, 5, "    0%"),
            (3, 0, "    0%"),
            (-300, 1_000, "30.00%"),
        ] {
            assert_eq!(percent(value, total), text, "{value} of {total}");
        }
    }
}
