//! Moments of the calendar, as cookies and signatures write them.
//!
//! Two formats are needed, and neither is one that a library reads: cookies expire at dates that servers write in a dozen ways,
//! for which RFC 6265 gives an algorithm instead of a grammar; and signatures are dated in ISO 8601 without separators. What
//! both need of a calendar is the number of a day, for which twenty lines are known (`chrono`-Compatible Low-Level Date
//! Algorithms, 2013).

use std::fmt;

/// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub i64);

const DAY_SECONDS: i64 = 86_400;

impl UnixSeconds {
    /// The number of its day since 1970-01-01.
    pub(crate) const fn day(self) -> i64 {
        self.0.div_euclid(DAY_SECONDS)
    }

    /// Prints as `20150830T123600Z`; the first eight letters are the date. Years stay between 0 and 9999.
    pub(crate) fn compact(self) -> String {
        let within = Self(self.0.clamp(moment(0, 1, 1, [0, 0, 0]), moment(9999, 12, 31, [23, 59, 59])));
        let (year, month, day) = date_of(within.day());
        let second = within.0.rem_euclid(DAY_SECONDS);
        format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60)
    }

    /// A date in a cookie, in whatever way it is written: RFC 6265 §5.1.1.
    pub(crate) fn of_cookie(text: &[u8]) -> Option<Self> {
        let (mut time, mut day, mut month, mut year) = (None, None, None, None);
        for token in text.split(|byte| is_delimiter(*byte)).filter(|token| !token.is_empty()) {
            if time.is_none() {
                time = time_of(token);
                if time.is_some() {
                    continue;
                }
            }
            if day.is_none() {
                day = digits(token, 1, 2);
                if day.is_some() {
                    continue;
                }
            }
            if month.is_none() {
                month = month_of(token);
                if month.is_some() {
                    continue;
                }
            }
            if year.is_none() {
                year = digits(token, 2, 4);
            }
        }
        let (time, day, month) = (time?, day?, month?);
        let year = match year? {
            year @ 70..=99 => year + 1900,
            year @ 0..=69 => year + 2000,
            year => year,
        };
        let [hour, minute, second] = time;
        if !(1..=31).contains(&day) || year < 1601 || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let seconds = moment(year, month, day, time);
        // The 30th of February is no date.
        (date_of(Self(seconds).day()) == (year, month, day)).then_some(Self(seconds))
    }
}

impl fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.compact())
    }
}

/// RFC 6265 §5.1.1, `delimiter`.
const fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// `12:34:56`, and whatever follows that is no digit.
fn time_of(token: &[u8]) -> Option<[i64; 3]> {
    let mut fields = token.splitn(3, |byte| *byte == b':');
    let hour = whole(fields.next()?)?;
    let minute = whole(fields.next()?)?;
    let second = digits(fields.next()?, 1, 2)?;
    Some([hour, minute, second])
}

/// One or two digits and nothing else.
fn whole(field: &[u8]) -> Option<i64> {
    (field.len() <= 2).then_some(())?;
    field.iter().all(u8::is_ascii_digit).then(|| digits(field, 1, 2))?
}

/// The number at the beginning, of so many digits, if no further digit follows.
fn digits(token: &[u8], least: usize, most: usize) -> Option<i64> {
    let count = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (least..=most).contains(&count).then(|| token[..count].iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

fn month_of(token: &[u8]) -> Option<i64> {
    const MONTHS: [&[u8; 3]; 12] = [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let name = token.get(..3)?;
    (1..).zip(MONTHS).find(|(_, month)| name.eq_ignore_ascii_case(*month)).map(|(number, _)| number)
}

/// Seconds from 1970 to a moment.
const fn moment(year: i64, month: i64, day: i64, [hour, minute, second]: [i64; 3]) -> i64 {
    day_of(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second
}

/// The number of a day since 1970-01-01, in the Gregorian calendar; years begin in March, so that the leap day is the last.
const fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The reverse: year, month and day.
const fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let day_of_era = day.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_in_cookies_are_read_however_they_are_written() {
        // 784111777 is the example of RFC 9110 §5.6.7.
        let cases = [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Sun, 06-Nov-1994 08:49:37 GMT", Some(784_111_777)),
            ("06 NOVEMBER 1994 8:49:37", Some(784_111_777)),
            ("1994 Nov 6 08:49:37x", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 01-Jan-70 00:00:01 GMT", Some(1)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(253_402_300_799)),
            ("Tue, 29 Feb 2028 00:00:00 GMT", Some(1_835_395_200)),
            ("Thu, 01 Jan 69 00:00:00 GMT", Some(3_124_224_000)),
            ("Mon, 30 Feb 2026 00:00:00 GMT", None),
            ("Sun, 06 Nov 1994 24:00:00 GMT", None),
            ("Sun, 06 Nov 1994 08:60:00 GMT", None),
            ("Sun, 06 Nov 1994", None),
            ("Sun, 06 Nov 1600 08:49:37 GMT", None),
            ("Sun, 32 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Foo 1994 08:49:37 GMT", None),
            ("", None),
            ("0", None),
            ("12:34:56:78 :::: 99999999999999999999", None),
        ];
        for (text, expected) in cases {
            assert_eq!(UnixSeconds::of_cookie(text.as_bytes()), expected.map(UnixSeconds), "{text}");
        }
    }

    #[test]
    fn a_moment_prints_without_separators() {
        assert_eq!(UnixSeconds(1_440_938_160).compact(), "20150830T123600Z");
        assert_eq!(UnixSeconds(0).compact(), "19700101T000000Z");
        assert_eq!(UnixSeconds(-1).compact(), "19691231T235959Z");
        assert_eq!(UnixSeconds(i64::MAX).compact(), "99991231T235959Z");
        assert_eq!(UnixSeconds(i64::MIN).compact(), "00000101T000000Z");
    }

    proptest! {
        #[test]
        fn a_date_has_one_day_and_a_day_one_date(day in -700_000i64..3_000_000) {
            let (year, month, of_month) = date_of(day);
            prop_assert_eq!(day_of(year, month, of_month), day);
            prop_assert!((1..=12).contains(&month) && (1..=31).contains(&of_month));
        }

        #[test]
        fn any_bytes_are_a_date_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = UnixSeconds::of_cookie(&bytes);
        }
    }
}
