//! The last values of a figure, one a second, as a line of blocks.
//!
//! A figure alone does not show that it has been falling for half a minute. Eight heights of a block character do, in any
//! terminal, without colour.

use std::collections::VecDeque;

/// As many seconds as the widest terminal shows.
const KEPT_MAX: usize = 512;

/// Columns of one second; wider ones look like several.
const EACH_MAX: usize = 8;

/// From an empty place to a full one, in eighths.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last values of one figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct History {
    values: VecDeque<Option<f64>>,
}

impl History {
    /// One more second; `None` if there was nothing to measure.
    pub(crate) fn push(&mut self, value: Option<f64>) {
        if self.values.len() == KEPT_MAX {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    /// The value of the last second that had one.
    pub(crate) fn last(&self) -> Option<f64> {
        self.values.iter().rev().find_map(|value| *value)
    }

    /// As lines from the top down, `width` columns by `height` rows, the newest value at the right, the greatest of those
    /// shown as high as there is room. A value above zero is never drawn as nothing. Where `expected` values in all leave room, each is
    /// drawn as wide as they allow.
    pub(crate) fn lines(&self, width: usize, height: usize, expected: usize) -> Vec<String> {
        let each = if expected == 0 { 1 } else { (width / expected.max(self.values.len()).max(1)).clamp(1, EACH_MAX) };
        let width = width / each;
        let shown: Vec<Option<f64>> = self.values.iter().skip(self.values.len().saturating_sub(width)).copied().collect();
        let most = shown.iter().flatten().copied().fold(0.0, f64::max);
        let eighths = |value: Option<f64>| match value {
            Some(value) if value > 0.0 && most > 0.0 => ((value / most * (height * 8) as f64).round() as usize).max(1),
            _ => 0,
        };
        (0..height)
            .map(|row| {
                let below = (height - 1 - row) * 8;
                shown.iter().flat_map(|value| std::iter::repeat_n(BLOCKS[eighths(*value).saturating_sub(below).min(8)], each)).collect()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> History {
        let mut history = History::default();
        values.iter().for_each(|value| history.push(Some(*value)));
        history
    }

    #[test]
    fn the_greatest_value_is_as_high_as_there_is_room() {
        assert_eq!(of(&[0.0, 1.0, 4.0, 8.0]).lines(4, 1, 0), [" ▁▄█"]);
        assert_eq!(of(&[0.0, 4.0, 8.0, 16.0]).lines(4, 2, 0), ["   █", " ▄██"]);
    }

    #[test]
    fn the_newest_values_stay_when_there_is_little_room() {
        assert_eq!(of(&[8.0, 1.0, 2.0]).lines(2, 1, 0), ["▄█"]);
    }

    #[test]
    fn a_short_run_takes_the_room_that_there_is() {
        assert_eq!(of(&[4.0, 8.0]).lines(9, 1, 3), ["▄▄▄███"]);
        assert_eq!(of(&[8.0]).lines(100, 1, 2)[0].chars().count(), EACH_MAX);
        assert_eq!(of(&[4.0, 8.0]).lines(2, 1, 60), ["▄█"]);
    }

    #[test]
    fn little_is_not_nothing_and_nothing_is_empty() {
        assert_eq!(of(&[0.001, 1000.0]).lines(2, 1, 0), ["▁█"]);
        assert_eq!(of(&[0.0, 0.0]).lines(2, 1, 0), ["  "]);
        let mut history = of(&[3.0]);
        history.push(None);
        assert_eq!(history.lines(2, 1, 0), ["█ "]);
        assert_eq!(history.last(), Some(3.0));
    }
}
