//! When a sample began, as result files write it: milliseconds since 1970, or a date by a pattern of whoever set JMeter up.
//!
//! A date has no zone in most patterns: it is that of the machine that wrote it, which the file does not name. It is read as UTC, so
//! that spans are right and the hour may not be. Patterns are those that JMeter itself tries
//! ([`CSVSaveService`](https://github.com/apache/jmeter/blob/master/src/core/src/main/java/org/apache/jmeter/save/CSVSaveService.java)), and ISO 8601.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use crate::read::whole;

/// The year 2100: what is later is no moment.
const MILLIS_MAX: u64 = 4_102_444_800_000;

/// Milliseconds since 1970 UTC; `None` if it is no moment since then.
pub(crate) fn millis(text: &[u8]) -> Option<u64> {
    whole(text).or_else(|| date(text)).filter(|millis| *millis <= MILLIS_MAX)
}

/// `yyyy/MM/dd HH:mm:ss.SSS`, also with `-`, with `T` before the time, without milliseconds, or with an offset; or `MM/dd/yy HH:mm:ss`.
fn date(text: &[u8]) -> Option<u64> {
    let number = |from: usize, to: usize| whole(text.get(from..to)?).and_then(|number| i16::try_from(number).ok());
    let small = |from: usize| number(from, from + 2).and_then(|number| i8::try_from(number).ok());
    let ((year, month, day), time) = match text.get(4)? {
        b'/' | b'-' => ((number(0, 4)?, small(5)?, small(8)?), 11),
        _ if text.get(2) == Some(&b'/') => ((2000 + number(6, 8)?, small(0)?, small(3)?), 9),
        _ => return None,
    };
    if !matches!(text.get(time - 1)?, b' ' | b'T') || text.get(time + 2) != Some(&b':') || text.get(time + 5) != Some(&b':') {
        return None;
    }
    let rest = text.get(time + 8..)?;
    let (millis, zone) = match rest {
        [b'.' | b',', a, b, c, zone @ ..] => (whole(&[*a, *b, *c])?, zone),
        zone => (0, zone),
    };
    let offset_s = match zone {
        b"" | b"Z" => 0,
        [sign @ (b'+' | b'-'), h, i, minutes @ ..] => {
            let minutes = whole(minutes.strip_prefix(b":").unwrap_or(minutes)).filter(|minutes| *minutes < 60)?;
            let seconds = i32::try_from(whole(&[*h, *i])? * 3600 + minutes * 60).ok()?;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    let local = DateTime::new(year, month, day, small(time)?, small(time + 3)?, small(time + 6)?, millis as i32 * 1_000_000).ok()?;
    let moment = TimeZone::fixed(Offset::from_seconds(offset_s).ok()?).to_timestamp(local).ok()?;
    u64::try_from(moment.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_every_form_that_jmeter_writes() {
        let same = [
            "1767607200123",
            "2026/01/05 10:00:00.123",
            "2026-01-05 10:00:00.123",
            "2026-01-05T10:00:00.123Z",
            "2026-01-05T12:30:00.123+0230",
            "2026-01-05T05:00:00,123-05:00",
        ];
        assert!(
            same.iter().all(|text| millis(text.as_bytes()) == Some(1_767_607_200_123)),
            "{:?}",
            same.map(|text| millis(text.as_bytes()))
        );
        let whole_second = ["2026/01/05 10:00:00", "01/05/26 10:00:00"].map(|text| millis(text.as_bytes()));
        assert_eq!(whole_second, [Some(1_767_607_200_000); 2]);
        let none =
            ["", "today", "2026/13/05 10:00:00", "2026/01/05", "99999999999999999", "2026/01/05 10:00:00.1x3", "2026.01.05 10:00:00"];
        assert!(none.iter().all(|text| millis(text.as_bytes()).is_none()), "{:?}", none.map(|text| millis(text.as_bytes())));
    }
}
