//! Whole numbers as people read them: with commas between the thousands.
//!
//! It stands here because sentences are made from here upwards; each crate for itself would group them in its own way.

/// Digits with commas between the thousands: `1,234,567`.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let mut written = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_thousands() {
        assert_eq!(["0", "999", "1000", "1234567"].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
