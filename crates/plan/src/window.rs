//! How much a server may send ahead over HTTP/2, before what it sent was read (RFC 9113 §5.2).

use std::fmt;
use std::str::FromStr;

/// Endings of sizes, and what they stand for.
const UNITS: [(&str, u64); 4] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)];

/// A window of HTTP/2 in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WindowBytes(u32);

impl WindowBytes {
    /// The least: what every connection begins with (RFC 9113 §6.9.2).
    pub const MIN: Self = Self(65_535);
    /// The largest (RFC 9113 §6.9.1).
    pub const MAX: Self = Self(0x7fff_ffff);
    /// Of an answer: what Chrome tells servers is of this order (6 MiB), curl's is 10 MiB.
    pub const OF_STREAM: Self = Self(4 << 20);
    /// Of all answers on a connection: they are read at once, so it only bounds what a server may have under way.
    pub const OF_CONNECTION: Self = Self(64 << 20);

    /// In bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.0
    }
}

impl FromStr for WindowBytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, unit) = UNITS.iter().find_map(|(ending, bytes)| Some((text.strip_suffix(ending)?, *bytes))).unwrap_or((text, 1));
        let number: u64 = digits.trim_end().parse().map_err(|_| "is not a size such as 256KiB".to_owned())?;
        match number.checked_mul(unit).and_then(|bytes| u32::try_from(bytes).ok()).map(Self) {
            Some(window) if window < Self::MIN => Err("is less than HTTP/2 begins with, 65535 bytes".to_owned()),
            Some(window) if window <= Self::MAX => Ok(window),
            _ => Err("is more than HTTP/2 has, 2147483647 bytes".to_owned()),
        }
    }
}

/// In bytes, without a unit.
impl fmt::Display for WindowBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_size_that_http2_can_say() {
        for (text, bytes) in [("65535", 65_535), ("64KiB", 65_536), ("1 MiB", 1 << 20), ("2147483647", 0x7fff_ffff), ("70000B", 70_000)] {
            assert_eq!(text.parse::<WindowBytes>().map(WindowBytes::bytes), Ok(bytes), "{text}");
        }
        for (text, why) in
            [("65534", "less than"), ("2GiB", "more than"), ("x", "not a size"), ("-1", "not a size"), ("99999999999GiB", "more")]
        {
            assert!(text.parse::<WindowBytes>().unwrap_err().contains(why), "{text}");
        }
    }
}
