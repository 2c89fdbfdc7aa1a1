//! Stacks with values, and how they are put together within bounds.
//!
//! A stack as a vector of strings is what every format means and what no memory holds: names are kept once, and all frames of all
//! stacks lie in one list.

use std::collections::HashMap;

use measure::profiled::Unit;
use thiserror::Error;

/// A larger file, packed or unpacked, is not read.
pub const BYTES_MAX: usize = 64 << 20;
/// Nor one with more frames in all of its stacks together: a busy Go program has some ten thousand of ten.
pub(crate) const FRAMES_MAX: usize = 2_000_000;
/// Nor one with more names.
pub(crate) const NAMES_MAX: usize = 1_000_000;
/// Nor one with more stacks.
pub(crate) const STACKS_MAX: usize = 1_000_000;
/// Of a name, so many letters are kept: generics make them long, and nobody reads the end of a thousand.
const LETTERS_MAX: usize = 1_000;

/// A profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// What its values are of, as its source calls it.
    pub kind: String,
    /// Of its values.
    pub unit: Unit,
    /// How long it was taken, in nanoseconds; 0 where that is not told.
    pub duration_ns: u64,
    names: Vec<String>,
    frames: Vec<Frame>,
    stacks: Vec<Stack>,
}

/// A function in a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Which one; [`Profile::name`] tells its name.
    pub name: u32,
    /// Whether its code was put into that of its caller.
    pub inlined: bool,
}

/// A stack and what was spent in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    from: usize,
    to: usize,
    /// In the profile's unit; negative in a profile that is a difference already.
    pub value: i64,
}

/// Why bytes are no profile that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// It has more of something than is read.
    #[error("it has more than {0}, which is more than is read of a profile")]
    TooLarge(&'static str),
    /// It begins as a profile and does not go on as one.
    #[error("it is damaged or cut off: {0}")]
    Damaged(String),
    /// It is something else.
    #[error("it is no profile: {0}")]
    Foreign(String),
    /// It has no such values.
    #[error("it has no values of '{asked}', but of {known}")]
    NoSuchKind {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: String,
    },
}

impl Profile {
    /// The name of a frame.
    #[must_use]
    pub fn name(&self, frame: Frame) -> &str {
        self.names.get(frame.name as usize).map_or("", String::as_str)
    }

    /// The name by its number, from 0.
    #[must_use]
    pub fn name_of(&self, number: u32) -> &str {
        self.name(Frame { name: number, inlined: false })
    }

    /// How many names there are.
    #[must_use]
    pub fn names(&self) -> usize {
        self.names.len()
    }

    /// All stacks.
    #[must_use]
    pub fn stacks(&self) -> &[Stack] {
        &self.stacks
    }

    /// The frames of a stack; the first was called by nobody, the last was running.
    #[must_use]
    pub fn frames(&self, stack: &Stack) -> &[Frame] {
        self.frames.get(stack.from..stack.to).unwrap_or_default()
    }

    /// All values together, as shares are taken of.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.stacks.iter().fold(0, |sum: i64, stack| sum.saturating_add(stack.value.saturating_abs()))
    }

    /// Whether nothing was spent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stacks.iter().all(|stack| stack.value == 0)
    }
}

/// A profile as it is read.
#[derive(Debug)]
pub(crate) struct Building {
    profile: Profile,
    numbers: HashMap<String, u32>,
    /// Where the stack begins whose frames are being added.
    from: usize,
}

impl Building {
    pub(crate) fn new(kind: &str, unit: Unit) -> Self {
        let profile = Profile { kind: shortened(kind), unit, duration_ns: 0, names: Vec::new(), frames: Vec::new(), stacks: Vec::new() };
        Self { profile, numbers: HashMap::new(), from: 0 }
    }

    /// The number of a name.
    pub(crate) fn name(&mut self, name: &str) -> Result<u32, ReadError> {
        let name = shortened(name);
        if let Some(number) = self.numbers.get(&name) {
            return Ok(*number);
        }
        let number = self.profile.names.len();
        if number >= NAMES_MAX {
            return Err(ReadError::TooLarge("a million functions"));
        }
        // Below a million, as was just made sure of.
        let number = number as u32;
        self.profile.names.push(name.clone());
        self.numbers.insert(name, number);
        Ok(number)
    }

    /// Adds a frame to the stack, called by the one added before.
    pub(crate) fn push(&mut self, name: u32, inlined: bool) -> Result<(), ReadError> {
        if self.profile.frames.len() >= FRAMES_MAX {
            return Err(ReadError::TooLarge("two million frames"));
        }
        self.profile.frames.push(Frame { name, inlined });
        Ok(())
    }

    /// The stack is whole.
    pub(crate) fn end(&mut self, value: i64) -> Result<(), ReadError> {
        if self.profile.stacks.len() >= STACKS_MAX {
            return Err(ReadError::TooLarge("a million stacks"));
        }
        let to = self.profile.frames.len();
        self.profile.stacks.push(Stack { from: self.from, to, value });
        self.from = to;
        Ok(())
    }

    pub(crate) fn took(&mut self, duration_ns: u64) {
        self.profile.duration_ns = duration_ns;
    }

    pub(crate) fn finish(self) -> Profile {
        self.profile
    }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(LETTERS_MAX) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A profile from folded stacks, of nanoseconds.
    pub(crate) fn folded(text: &str) -> Profile {
        let mut building = Building::new("cpu", Unit::Nanoseconds);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (stack, value) = line.trim().rsplit_once(' ').unwrap();
            for name in stack.split(';') {
                let (name, inlined) = name.strip_prefix('~').map_or((name, false), |name| (name, true));
                let number = building.name(name).unwrap();
                building.push(number, inlined).unwrap();
            }
            building.end(value.parse().unwrap()).unwrap();
        }
        building.finish()
    }

    #[test]
    fn a_name_is_kept_once_and_not_at_any_length() {
        let mut building = Building::new("cpu", Unit::Count);
        assert_eq!((building.name("a").unwrap(), building.name("b").unwrap(), building.name("a").unwrap()), (0, 1, 0));
        let long = building.name(&"ü".repeat(5_000)).unwrap();
        assert_eq!(building.finish().name_of(long).chars().count(), LETTERS_MAX + 1);
    }

    #[test]
    fn values_that_were_taken_away_count_in_the_whole() {
        assert_eq!(folded("a;b 3\na -2").total(), 5);
        assert_eq!(folded("a 9223372036854775807\nb 9").total(), i64::MAX);
    }
}
