//! The `.dat` file of a sweep: four columns, as the well-known script around wrk and gnuplot wrote them.
//!
//! People have years of such files, so old ones stay readable and new ones can replace them: concurrency, QPS with two
//! decimals, mean TTLB in milliseconds, success rate in percent with two decimals; no header, one blank between columns. The
//! script left the third column empty where wrk printed minutes, which makes two blanks in a row; a level without any timed
//! answer is written the same way.

use std::fmt::Write;

use thiserror::Error;

/// One level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DatRow {
    /// Users, or requests a second offered.
    pub level: f64,
    /// Requests a second that succeeded.
    pub qps: f64,
    /// Mean TTLB in milliseconds; `None` where the column is empty.
    pub ttlb_ms: Option<f64>,
    /// Requests that succeeded, in percent. Old files go below zero where errors outnumbered requests.
    pub success_percent: f64,
}

/// A line that is not a row.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} {why}: '{text}'")]
pub struct DatError {
    /// From 1.
    pub line: usize,
    /// What is wrong, in words that follow the line.
    pub why: String,
    /// The line, made visible.
    pub text: String,
}

const COLUMNS: [&str; 4] =
    ["a concurrency above 0", "a QPS of 0 or more", "a mean latency in ms of 0 or more", "a success rate of at most 100"];
/// Of a faulty line, this much is shown: the file may be anything.
const TEXT_LETTERS_MAX: usize = 80;

/// The file of these levels.
#[must_use]
pub fn write(rows: &[DatRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let ttlb = row.ttlb_ms.map_or_else(String::new, |ms| format!("{ms:.3}"));
        writeln!(text, "{} {:.2} {ttlb} {:.2}", row.level, row.qps, success(row.success_percent)).expect("writing to memory does not fail");
    }
    text
}

/// In two decimals a single failure in a million would read as 100.00, and be lost.
fn success(percent: f64) -> f64 {
    if percent < 100.0 { percent.min(99.99) } else { percent }
}

/// The levels in a file. Blank lines and lines that begin with `#` are passed over.
///
/// # Errors
/// At the first line that is not a row, with its number and text.
pub fn read(text: &str) -> Result<Vec<DatRow>, DatError> {
    let mut rows: Vec<DatRow> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let wrong = |why: String| DatError { line: at + 1, why, text: crate::visible::shortened(content, TEXT_LETTERS_MAX) };
        let row = row(content).map_err(wrong)?;
        if rows.iter().any(|earlier| earlier.level == row.level) {
            return Err(wrong(format!("repeats the level {}", row.level)));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn row(content: &str) -> Result<DatRow, String> {
    let cells: Vec<&str> = content.split_whitespace().collect();
    let (level, qps, ttlb, success) = match cells.as_slice() {
        [level, qps, ttlb, success] => (level, qps, Some(ttlb), success),
        [level, qps, success] => (level, qps, None, success),
        _ => return Err(format!("has {} columns instead of 4 (concurrency, QPS, mean latency in ms, success rate in %)", cells.len())),
    };
    let number = |cell: &str, column: usize, fits: fn(f64) -> bool| {
        let value: f64 = cell.parse().ok().filter(|value: &f64| value.is_finite() && fits(*value)).ok_or_else(|| {
            let shown = crate::visible::shortened(cell, TEXT_LETTERS_MAX);
            format!("has '{shown}' in column {} instead of {}", column + 1, COLUMNS[column])
        })?;
        Ok::<f64, String>(value)
    };
    Ok(DatRow {
        level: number(level, 0, |value| value > 0.0)?,
        qps: number(qps, 1, |value| value >= 0.0)?,
        // Some versions of awk kept the unit.
        ttlb_ms: ttlb.map(|cell| number(cell.trim_end_matches("ms"), 2, |value| value >= 0.0)).transpose()?,
        success_percent: number(success, 3, |value| value <= 100.0)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_written_in_four_columns() {
        let rows = [
            DatRow { level: 200.0, qps: 51_010.476, ttlb_ms: Some(3.9214), success_percent: 100.0 },
            DatRow { level: 500.0, qps: 0.0, ttlb_ms: None, success_percent: 0.0 },
        ];
        assert_eq!(write(&rows), "200 51010.48 3.921 100.00\n500 0.00  0.00\n");
    }

    #[test]
    fn one_failure_in_a_million_is_not_written_as_none() {
        let row = DatRow { level: 1.0, qps: 1.0, ttlb_ms: Some(1.0), success_percent: 99.9999 };
        assert_eq!(write(&[row]), "1 1.00 1.000 99.99\n");
    }

    #[test]
    fn files_of_the_old_script_read() {
        let text = "# a comment\r\n200 748868.53 0.63591 100.00\r\n\n500 1200.00  97.25\n1000 80.5 4.05ms -12.00\n";
        let rows = read(text).unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0], DatRow { level: 200.0, qps: 748_868.53, ttlb_ms: Some(0.63591), success_percent: 100.0 });
        assert_eq!((rows[1].ttlb_ms, rows[1].success_percent), (None, 97.25));
        assert_eq!((rows[2].ttlb_ms, rows[2].success_percent), (Some(4.05), -12.0));
    }

    #[test]
    fn a_faulty_line_is_told_with_its_number_and_text() {
        for (text, said) in [
            ("1 2 3 4\n\nten 2 3 4", "line 3 has 'ten' in column 1 instead of a concurrency above 0: 'ten 2 3 4'"),
            ("1 2", "line 1 has 2 columns instead of 4 (concurrency, QPS, mean latency in ms, success rate in %): '1 2'"),
            ("1 nan 3 4", "line 1 has 'nan' in column 2 instead of a QPS of 0 or more: '1 nan 3 4'"),
            ("1 2 -3 4", "line 1 has '-3' in column 3 instead of a mean latency in ms of 0 or more: '1 2 -3 4'"),
            ("1 2 3 400", "line 1 has '400' in column 4 instead of a success rate of at most 100: '1 2 3 400'"),
            ("1 2 3 4\n1 2 3 4", "line 2 repeats the level 1: '1 2 3 4'"),
            ("\x1b[2J 1 1 1", "line 1 has '\\x1b[2J' in column 1 instead of a concurrency above 0: '\\x1b[2J 1 1 1'"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), said);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(drawn in prop::collection::btree_map(
            1u32..100_000, (0u64..10_000_000_000, prop::option::of(0u64..10_000_000_000), 0u32..=10_000), 0..20)
        ) {
            let rows: Vec<DatRow> = drawn
                .iter()
                .map(|(level, (qps, ttlb, success))| DatRow {
                    level: f64::from(*level),
                    qps: *qps as f64 / 100.0,
                    ttlb_ms: ttlb.map(|us| us as f64 / 1_000.0),
                    success_percent: f64::from(*success) / 100.0,
                })
                .collect();
            prop_assert_eq!(read(&write(&rows)).unwrap(), rows);
        }

        #[test]
        fn no_text_makes_reading_panic(text in "[0-9 .#a-z\\n\\-]{0,80}|\\PC{0,20}") {
            let _ = read(&text);
        }
    }
}
