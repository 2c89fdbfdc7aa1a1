//! Times and tables as programs written in Go print and read them.
//!
//! vegeta's reports are made of Go's durations and its tab writer, and scripts take them apart by column. Both have small,
//! fixed rules.

/// A number of nanoseconds as Go writes a duration: `1.5s`, `250µs`, `1h0m3.2s`.
#[must_use]
pub fn duration(nanos: i128) -> String {
    if nanos == 0 {
        return "0s".to_owned();
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let decimal = |unit: u128, name: &str| {
        let (whole, part) = (nanos / unit, nanos % unit);
        let digits = unit.to_string().len() - 1;
        let part = format!("{part:0digits$}");
        let part = part.trim_end_matches('0');
        if part.is_empty() || digits == 0 { format!("{sign}{whole}{name}") } else { format!("{sign}{whole}.{part}{name}") }
    };
    if nanos < 1_000 {
        return decimal(1, "ns");
    }
    if nanos < 1_000_000 {
        return decimal(1_000, "µs");
    }
    if nanos < 1_000_000_000 {
        return decimal(1_000_000, "ms");
    }
    let minutes = nanos / 60_000_000_000;
    let rest = nanos % 60_000_000_000;
    let (whole, part) = (rest / 1_000_000_000, format!("{:09}", rest % 1_000_000_000));
    let part = part.trim_end_matches('0');
    let seconds = if part.is_empty() { format!("{whole}s") } else { format!("{whole}.{part}s") };
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}"),
    }
}

/// Reads a duration as Go does: `300ms`, `1m30s`, `0`.
///
/// # Errors
/// In Go's words.
pub fn parse_duration(text: &str) -> Result<i128, String> {
    let invalid = || format!("time: invalid duration \"{text}\"");
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let value: f64 = rest[..digits].parse().map_err(|_| invalid())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "" => return Err(format!("time: missing unit in duration \"{text}\"")),
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            other => return Err(format!("time: unknown unit \"{other}\" in duration \"{text}\"")),
        };
        total += value * unit;
        rest = &rest[letters..];
    }
    Ok(sign * total.round() as i128)
}

/// Rows as Go's tab writer aligns them: every cell but a row's last is as wide as the widest of its column, and two more.
#[must_use]
pub fn table(rows: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().count();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter(|row| row.len() > column + 1).map(|row| width(&row[column]));
            cells.max().map_or(0, |widest| widest + 2)
        })
        .collect();
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            text += cell;
            if column + 1 < row.len() {
                text.extend(std::iter::repeat_n(' ', widths[column].saturating_sub(width(cell))));
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_and_read_as_in_go() {
        for (nanos, text) in [
            (0, "0s"),
            (999, "999ns"),
            (1_500, "1.5µs"),
            (144_645_000, "144.645ms"),
            (10_094_000_000, "10.094s"),
            (90_000_000_000, "1m30s"),
            (3_600_000_000_000, "1h0m0s"),
            (-2_000_000, "-2ms"),
        ] {
            assert_eq!(duration(nanos), text);
            assert_eq!(parse_duration(text), Ok(nanos));
        }
        assert_eq!(parse_duration("1.5h"), Ok(5_400_000_000_000));
        for wrong in ["", "5", "1x", "s", "1.2.3s"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_two_more() {
        let rows = [vec!["a".to_owned(), String::new(), "#".to_owned()], vec!["long".to_owned(), String::new(), "7".to_owned()]];
        assert_eq!(table(&rows), "a       #\nlong    7\n");
    }
}
