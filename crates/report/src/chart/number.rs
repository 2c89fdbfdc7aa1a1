//! Numbers as people read them: thousands apart, no false precision.
//!
//! `{}` prints 51010.48 and 0.30000000000000004. A reader of a chart wants 51,010 and 0.3. The thousands are set apart by
//! a comma, as in the tables of this tool; a value below one keeps three significant digits.

/// The most digits after the point that any of these functions writes.
const DECIMALS_MAX: usize = 9;

/// `value` with exactly `decimals` digits after the point (at most nine) and commas between the thousands.
///
/// Zero never has a sign. A value that is not finite is written as a dash.
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
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written.push_str(rest);
    written
}

/// `value` with about three significant digits, more when it is a thousand or above: `51,010`, `38.2`, `0.0513`.
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

/// A share in percent, with as many digits as it takes that 99.9996 is not read as 100.
///
/// One failure in a million requests is a failure, and a reader who sees `100` believes that there was none.
pub fn percent(value: f64) -> String {
    for decimals in 2..=DECIMALS_MAX {
        let written = trimmed(&decimal(value, decimals));
        if written != "100" && written != "0" || value >= 100.0 || value <= 0.0 {
            return written;
        }
    }
    if value > 50.0 { "under 100" } else { "above 0" }.to_owned()
}

/// How many digits after the point a multiple of `step` needs.
pub fn decimals_of(step: f64) -> usize {
    (0..DECIMALS_MAX)
        .find(|&decimals| {
            let scaled = step * 10f64.powi(decimals as i32);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1.0) && scaled.round() != 0.0
        })
        .unwrap_or(DECIMALS_MAX)
}

/// `written` without zeros at the end of its fraction.
fn trimmed(written: &str) -> String {
    if written.contains('.') { written.trim_end_matches('0').trim_end_matches('.').to_owned() } else { written.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(decimal(50_000.0, 0), "50,000");
        assert_eq!(decimal(3_000_000.0, 0), "3,000,000");
        assert_eq!(decimal(999.0, 0), "999");
        assert_eq!(decimal(-1_234.5, 1), "−1,234.5");
        assert_eq!(decimal(-0.001, 1), "0.0");
    }

    #[test]
    fn a_figure_has_no_false_precision() {
        assert_eq!(figure(51_010.48), "51,010");
        assert_eq!(figure(38.24), "38.2");
        assert_eq!(figure(3.0), "3");
        assert_eq!(figure(0.3), "0.3");
        assert_eq!(figure(0.05), "0.05");
        assert_eq!(figure(0.051_34), "0.0513");
        assert_eq!(figure(0.0), "0");
        assert_eq!(figure(f64::NAN), "–");
    }

    #[test]
    fn a_single_failure_in_a_million_is_not_rounded_away() {
        assert_eq!(percent(100.0), "100");
        assert_eq!(percent(97.2512), "97.25");
        assert_eq!(percent(99.9999), "99.9999");
        assert_eq!(percent(0.0), "0");
        assert_eq!(percent(0.0004), "0.0004");
        assert_eq!(percent(100.0 - 1e-12), "under 100");
    }

    proptest! {
        #[test]
        fn commas_change_nothing_but_the_look(value in 0u64..1_000_000_000_000) {
            let written = decimal(value as f64, 0);
            prop_assert_eq!(written.replace(',', "").parse::<u64>().unwrap(), value);
            for (index, group) in written.split(',').enumerate() {
                prop_assert!(group.len() == 3 || index == 0);
            }
        }

        #[test]
        fn a_figure_is_within_one_percent_of_the_value(value in 1e-5f64..1e12) {
            let read: f64 = figure(value).replace(',', "").parse().unwrap();
            prop_assert!((read - value).abs() <= 0.01 * value, "{} read as {}", value, read);
        }
    }
}
