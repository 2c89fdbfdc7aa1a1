//! Figures in columns, and prose broken into lines.

/// Two blanks between columns.
const GAP: usize = 2;
/// The first column, which holds names, is at least this wide, so that tables of one page stand in line.
const NAME_WIDTH: usize = 15;
/// Figures are at least this wide, for the same reason: `999 ms` and a blank.
const CELL_WIDTH: usize = 7;

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

    /// The table's lines, without blanks at their ends.
    pub(crate) fn lines(&self) -> Vec<String> {
        let width = |column: usize| {
            let widest = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
            widest.max(if column == 0 { NAME_WIDTH } else { CELL_WIDTH })
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

/// The text in lines of at most `width` letters, broken at blanks; a word that is longer is broken inside.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures_stand_under_their_heads() {
        let mut columns = Columns::new(&["", "mean", "max"]);
        columns.row(&["wait".to_owned(), "9 µs".to_owned(), "1,234,567 s".to_owned()]);
        assert_eq!(columns.lines(), ["                    mean          max", "wait                9 µs  1,234,567 s"]);
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
