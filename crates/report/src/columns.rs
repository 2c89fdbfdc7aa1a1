//! Figures in columns, and prose broken into lines.

use crate::Style;
use crate::style::Tone;

/// Two blanks between columns.
const GAP: usize = 2;
/// The first column, which holds names, is at least this wide, so that tables of one page stand in line.
const NAME_WIDTH: usize = 15;
/// Where there is no room for that, names keep this much.
const NAME_WIDTH_LEAST: usize = 8;
/// Figures are at least this wide, for the same reason: `999 ms` and a blank.
const CELL_WIDTH: usize = 7;

/// Before every line of prose.
const INDENT: usize = 2;

/// Between a row and the remark behind it.
const REMARK_GAP: usize = 3;

/// A table: names on the left, figures aligned to the right under their heads.
#[derive(Debug)]
pub(crate) struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// With these heads.
    pub(crate) fn new(heads: &[&str]) -> Self {
        Self { rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()] }
    }

    /// One row more, with a cell for every head.
    pub(crate) fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    /// The table's lines where they fit into the width: else columns are left out, those first that `least` names first, and then
    /// names are cut. A figure or a head is never broken.
    pub(crate) fn within(&self, width: usize, least: &[&str]) -> Vec<String> {
        let mut table = Self { rows: self.rows.clone() };
        for head in least {
            if table.width() <= width {
                break;
            }
            let Some(at) = table.rows.first().and_then(|heads| heads.iter().position(|it| it == head)) else { continue };
            table.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
        let over = table.width().saturating_sub(width);
        let names = table.rows.iter().filter_map(|row| row.first()).map(|name| name.chars().count()).max().unwrap_or(0).max(NAME_WIDTH);
        if over > 0 {
            let room = names.saturating_sub(over).max(NAME_WIDTH_LEAST);
            for name in table.rows.iter_mut().filter_map(|row| row.first_mut()).filter(|name| name.chars().count() > room) {
                *name = name.chars().take(room - 1).chain(['…']).collect();
            }
        }
        table.lines_with(if over > 0 { NAME_WIDTH_LEAST } else { NAME_WIDTH })
    }

    fn width(&self) -> usize {
        self.lines().iter().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    /// The table's lines, without blanks at their ends.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines_with(NAME_WIDTH)
    }

    fn lines_with(&self, name_width: usize) -> Vec<String> {
        let width = |column: usize| {
            let widest = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
            widest.max(if column == 0 { name_width } else { CELL_WIDTH })
        };
        let widths: Vec<usize> = (0..self.rows.first().map_or(0, Vec::len)).map(width).collect();
        let line = |row: &Vec<String>| {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("{:GAP$}{cell:>width$}", ""));
                }
            }
            line.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

/// A column of a table that grows row by row, so that its width is fixed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) head: &'static str,
    pub(crate) width: usize,
    /// The higher, the earlier it is left out where there is no room; 0 never is.
    pub(crate) spare: u8,
}

impl Column {
    pub(crate) const fn new(head: &'static str, width: usize, spare: u8) -> Self {
        Self { head, width, spare }
    }

    /// One whose head is said elsewhere.
    pub(crate) const fn wide(width: usize, spare: u8) -> Self {
        Self::new("", width, spare)
    }
}

/// One row of such a table in so many letters: without the columns there is no room for, and with the remark below it where it does not
/// fit behind.
pub(crate) fn grown(columns: &[Column], cells: &[String], remark: &str, room: usize) -> String {
    let width = |spare: u8| columns.iter().filter(|column| column.spare <= spare).map(|column| column.width + 1).sum::<usize>();
    let most = columns.iter().map(|column| column.spare).max().unwrap_or(0);
    let spare = (0..=most).rev().find(|spare| width(*spare) <= room).unwrap_or(0);
    let mut line = String::new();
    for (cell, column) in cells.iter().zip(columns).filter(|(_, column)| column.spare <= spare) {
        line.push_str(&format!(" {cell:>width$}", width = column.width));
    }
    if remark.is_empty() {
        return line;
    }
    let beside = line.chars().count() + REMARK_GAP + remark.chars().count();
    if beside <= room {
        return format!("{line}{:REMARK_GAP$}{remark}", "");
    }
    let indent = columns.first().map_or(0, |column| column.width + 1 + REMARK_GAP);
    let below = wrapped(remark, room.saturating_sub(indent).max(NAME_WIDTH));
    below.iter().fold(line, |text, part| format!("{text}\n{:indent$}{part}", ""))
}

/// The same with the remark painted, on whichever lines it stands.
pub(crate) fn remarked(columns: &[Column], cells: &[String], remark: &str, tone: Tone, style: &Style) -> String {
    let figures = grown(columns, cells, "", style.columns());
    let whole = grown(columns, cells, remark, style.columns());
    let behind = whole.strip_prefix(&figures).unwrap_or_default();
    let painted = behind.split('\n').map(|part| {
        let words = part.trim_start();
        format!("{}{}", &part[..part.len() - words.len()], style.paint(tone, words))
    });
    figures + &painted.collect::<Vec<_>>().join("\n")
}

/// What follows a number on its line, so that nobody reads one without the other.
const UNITS: [&str; 13] = ["%", "ns", "µs", "ms", "s", "m", "min", "h", "B", "kB", "MB", "GB", "req/s"];

/// The words of a text; a number and its unit are one.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut end = 0;
    for word in text.split(' ') {
        let begin = end;
        end = begin + word.len() + 1;
        let unit = word.trim_end_matches(|letter: char| !letter.is_alphanumeric() && letter != '%');
        match words.last_mut() {
            Some(last) if last.ends_with(|letter: char| letter.is_ascii_digit()) && UNITS.contains(&unit) => {
                *last = &text[begin - 1 - last.len()..begin + word.len()];
            }
            _ => words.push(word),
        }
    }
    words
}

/// The text in lines of at most `width` letters, broken at blanks, but not between a number and its unit; a word that is longer is
/// broken inside.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for word in words(text) {
        let letters: Vec<char> = word.chars().collect();
        for (at, part) in letters.chunks(width).enumerate() {
            let blank = usize::from(at == 0 && used > 0);
            if at > 0 || used + blank + part.len() > width {
                lines.push(String::new());
                used = 0;
            }
            let line = lines.last_mut().expect("there is always a line");
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.extend(part);
            used += part.len();
        }
    }
    lines
}

/// Prose in lines of at most so many columns, indented by two.
#[must_use]
pub fn prose(text: &str, width: u16) -> String {
    let room = usize::from(width).saturating_sub(INDENT).max(NAME_WIDTH);
    let words: Vec<&str> = text.split_whitespace().collect();
    wrapped(&words.join(" "), room).iter().fold(String::new(), |text, line| format!("{text}{:INDENT$}{line}\n", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_keeps_its_unit_on_its_line() {
        assert_eq!(wrapped("it answered 12.5 ms late, 97 % of them", 14), ["it answered", "12.5 ms late,", "97 % of them"]);
        assert_eq!(wrapped("in all 97 %, and", 11), ["in all", "97 %, and"]);
        assert_eq!(wrapped("with -c 10 s is a word", 10), ["with -c", "10 s is a", "word"]);
        assert_eq!(wrapped("", 10), [""]);
    }

    #[test]
    fn prose_is_indented_and_breaks_no_figure() {
        assert_eq!(prose("it takes 18.5 µs, and 99 % at most 39.0 ms.", 19), "  it takes 18.5 µs,\n  and 99 % at most\n  39.0 ms.\n");
    }

    #[test]
    fn figures_stand_under_their_heads() {
        let mut columns = Columns::new(&["", "mean", "max"]);
        columns.row(&["wait".to_owned(), "9 µs".to_owned(), "1,234,567 s".to_owned()]);
        assert_eq!(columns.lines(), ["                    mean          max", "wait                9 µs  1,234,567 s"]);
    }

    #[test]
    fn what_does_not_fit_is_left_out_from_the_least_and_no_figure_is_broken() {
        let mut columns = Columns::new(&["", "mean", "sd", "max"]);
        columns.row(&["response time".to_owned(), "9.00 ms".to_owned(), "1.00 ms".to_owned(), "30.0 ms".to_owned()]);
        assert_eq!(columns.within(80, &["sd", "mean"]), columns.lines());
        assert_eq!(columns.within(40, &["sd", "mean"]), ["                    mean      max", "response time    9.00 ms  30.0 ms"]);
        assert_eq!(columns.within(24, &["sd", "mean"]), ["                     max", "response time    30.0 ms"]);
        assert_eq!(columns.within(20, &["sd", "mean"]), ["                 max", "response t…  30.0 ms"]);
    }

    #[test]
    fn a_row_that_grows_leaves_out_what_it_can_spare_and_says_its_remark_below() {
        let columns = [Column::new("users", 5, 0), Column::new("QPS", 6, 0), Column::new("±", 4, 2), Column::new("p99", 7, 1)];
        let cells = ["10", "1,000", "1 %", "3.00 ms"].map(str::to_owned);
        assert_eq!(grown(&columns, &cells, "", 80), "    10  1,000  1 % 3.00 ms");
        assert_eq!(grown(&columns, &cells, "", 24), "    10  1,000 3.00 ms");
        assert_eq!(grown(&columns, &cells, "", 16), "    10  1,000");
        assert_eq!(grown(&columns, &cells, "7 failed", 40), "    10  1,000  1 % 3.00 ms   7 failed");
        assert_eq!(
            grown(&columns, &cells, "7 failed: connection refused", 40),
            "    10  1,000  1 % 3.00 ms\n         7 failed: connection refused"
        );
    }

    #[test]
    fn a_word_longer_than_a_line_is_broken_inside() {
        assert_eq!(wrapped("a: xxxxxxxxxxyyy z", 10), ["a:", "xxxxxxxxxx", "yyy z"]);
    }

    proptest! {
        #[test]
        fn breaking_loses_no_word(words in prop::collection::vec("[a-zµ]{1,12}", 1..30), width in 12usize..40) {
            let text = words.join(" ");
            let lines = wrapped(&text, width);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= width));
            prop_assert_eq!(lines.join(" "), text);
        }
    }
}
