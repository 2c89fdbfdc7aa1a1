//! Numbers as people read them: thousands apart, no false precision.
//!
//! `{}` prints 51010.48 and 0.30000000000000004. A reader of a chart wants 51,010 and 0.3. The thousands are set apart by
//! a comma, as in the tables of this tool and by the same functions; a value below one keeps three significant digits.

pub use analysis::quantity::{DECIMALS_MAX, decimal, figure, percent};

/// How many digits after the point a multiple of `step` needs.
pub(crate) fn decimals_of(step: f64) -> usize {
    (0..DECIMALS_MAX)
        .find(|&decimals| {
            let scaled = step * 10f64.powi(decimals as i32);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1.0) && scaled.round() != 0.0
        })
        .unwrap_or(DECIMALS_MAX)
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
