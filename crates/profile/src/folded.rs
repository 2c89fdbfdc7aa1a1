//! Folded stacks: a line each, the frames between semicolons, the outermost first, and how often it was seen.
//!
//! py-spy writes them (`--format raw`), and every script that flame graphs are made with.

use measure::profiled::Unit;

use crate::profile::{Building, Profile, ReadError};

/// What such values are called: nothing says what was counted, and it nearly always is samples.
pub(crate) const SAMPLES: &str = "samples";

/// Reads them.
pub(crate) fn read(text: &str) -> Result<Profile, ReadError> {
    let mut building = Building::new(SAMPLES, Unit::Count);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let told = |why: &str| match number {
            0 => ReadError::Foreign(format!("its first line {why}")),
            _ => ReadError::Damaged(format!("line {} {why}", number + 1)),
        };
        let (stack, count) = line.rsplit_once(' ').ok_or_else(|| told("has no count behind its stack"))?;
        let count: i64 = count.parse().map_err(|_| told("does not end with a count"))?;
        for name in stack.split(';') {
            let name = building.name(name.trim())?;
            building.push(name, false)?;
        }
        building.end(count)?;
    }
    Ok(building.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_stack_and_a_count() {
        let profile = read("main (app.py:1);work (app.py:7) 12\n\n# a remark\nmain (app.py:1) 3\n").unwrap();
        assert_eq!((profile.kind.as_str(), profile.total(), profile.stacks().len()), ("samples", 15, 2));
        let stack = profile.frames(&profile.stacks()[0]);
        assert_eq!(stack.iter().map(|frame| profile.name(*frame)).collect::<Vec<_>>(), ["main (app.py:1)", "work (app.py:7)"]);
    }

    #[test]
    fn a_line_that_is_none_is_told_with_its_number() {
        assert_eq!(read("a;b 3\na;b three").unwrap_err().to_string(), "it is damaged or cut off: line 2 does not end with a count");
        assert!(matches!(read("hello"), Err(ReadError::Foreign(_))));
        assert!(matches!(read("a;b 3\na;"), Err(ReadError::Damaged(_))));
    }
}
