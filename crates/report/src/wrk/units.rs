//! wrk's units and columns.
//!
//! A value moves to the next unit at 85 % of it, and the last unit of a list is never reached, because a further one must
//! remain: two hours are `120m`. Cells end in two columns for letters, so that digits stand under digits.

/// Microseconds: `635.91us`, `0.85ms`, `1.00s`, `1.00m`.
pub fn time_us(us: f64) -> String {
    if us >= 1e6 { scaled(us / 1e6, 60.0, "s", &["m"], 2) } else { scaled(us, 1000.0, "us", &["ms"], 2) }
}

/// Whole seconds: `30s`, `1m`.
pub(crate) fn time_s(secs: f64) -> String {
    scaled(secs, 60.0, "s", &["m"], 0)
}

/// `56.20k`.
pub fn metric(value: f64) -> String {
    scaled(value, 1000.0, "", &["k", "M", "G", "T"], 2)
}

/// `17.76G`; the caller adds the B.
pub fn binary(value: f64) -> String {
    scaled(value, 1024.0, "", &["K", "M", "G", "T"], 2)
}

fn scaled(mut value: f64, scale: f64, mut unit: &'static str, further: &[&'static str], decimals: usize) -> String {
    for next in further {
        if value < scale * 0.85 {
            break;
        }
        value /= scale;
        unit = next;
    }
    format!("{value:.decimals$}{unit}")
}

/// The text right-aligned, cut at its column's width, its unit in the last two columns.
pub fn cell(text: &str, width: usize) -> String {
    let mut letters = text.chars().rev().map(|letter| letter.is_ascii_alphabetic());
    let mut pad = 2;
    for _ in 0..2 {
        pad -= usize::from(letters.next() == Some(true));
    }
    let width = width - pad;
    let shown: String = text.chars().take(width).collect();
    format!("{shown:>width$}{:pad$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_at_85_percent_and_the_last_is_never_used() {
        let us = [0.0, 635.914, 849.0, 849.999, 850.0, 12_920.0, 999_999.0, 1e6, 50.99e6, 51e6, 60e6, 7.2e9].map(time_us);
        assert_eq!(
            us,
            [
                "0.00us",
                "635.91us",
                "849.00us",
                "850.00us",
                "0.85ms",
                "12.92ms",
                "1000.00ms",
                "1.00s",
                "50.99s",
                "0.85m",
                "1.00m",
                "120.00m"
            ]
        );
        assert_eq!([1.0, 30.0, 50.0, 51.0, 60.0, 90.0, 7200.0].map(time_s), ["1s", "30s", "50s", "1m", "1m", "2m", "120m"]);
        assert_eq!(
            [0.0, 849.99, 850.0, 56_200.0, 849_999.0, 850_000.0, 1e9, 1e15, 1e18].map(metric),
            ["0.00", "849.99", "0.85k", "56.20k", "850.00k", "0.85M", "1.00G", "1000.00T", "1000000.00T"]
        );
        assert_eq!([870.0, 871.0, 1024.0, 19_069_657_252.0, 1e18].map(binary), ["870.00", "0.85K", "1.00K", "17.76G", "909494.70T"]);
    }

    #[test]
    fn halves_are_rounded_as_the_c_library_does_to_what_the_number_really_is() {
        assert_eq!([0.125, 0.375, 2.675, 1.005].map(metric), ["0.12", "0.38", "2.67", "1.00"]);
    }

    #[test]
    fn digits_stand_under_digits() {
        for (text, shown) in [("635.91us", "  635.91us"), ("1.00s", "     1.00s "), ("0.85k", "     0.85k "), ("56.20", "    56.20  ")] {
            assert_eq!(
                cell(text, if text.len() == 8 { 10 } else { 11 }),
                shown.to_owned() + if shown.len() == 9 { " " } else { "" },
                "{text}"
            );
        }
        assert_eq!(cell("1000000.00T", 8), "1000000 ", "what is too long is cut");
    }
}
