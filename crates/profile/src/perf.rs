//! What `perf script` prints: a head for each sample, its frames below it from the running function outwards, and an empty line.
//!
//! ```text
//! app   812  5025.123456:   10101010 cpu-clock:u:
//!             55d05c work+0x1c (/srv/app)
//!             55d0aa main+0x2a (/srv/app)
//! ```

use measure::profiled::Unit;

use crate::folded::SAMPLES;
use crate::profile::{Building, Profile, ReadError};

/// Whether it looks like it: a head, and a line below it that begins with blanks and an address.
pub(crate) fn is_one(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let head = lines.next().is_some_and(|line| !line.starts_with([' ', '\t']) || line.trim_end().ends_with(':'));
    head && lines.next().is_some_and(|line| line.starts_with([' ', '\t']) && frame(line).is_some())
}

/// Reads it. Each sample counts one: how long it stands for is the same for all of them.
pub(crate) fn read(text: &str) -> Result<Profile, ReadError> {
    let mut building = Building::new(SAMPLES, Unit::Count);
    let mut stack: Vec<String> = Vec::new();
    let mut in_sample = false;
    // The empty line after the last sample may be missing.
    for (number, line) in text.lines().chain([""]).enumerate() {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            if std::mem::take(&mut in_sample) {
                for name in stack.drain(..).rev() {
                    let name = building.name(&name)?;
                    building.push(name, false)?;
                }
                building.end(1)?;
            }
        } else if !in_sample {
            in_sample = true;
        } else {
            let name = frame(line).ok_or_else(|| ReadError::Damaged(format!("line {} is no frame", number + 1)))?;
            if stack.len() >= DEPTH_MAX {
                return Err(ReadError::TooLarge("ten thousand frames in one stack"));
            }
            stack.push(name);
        }
    }
    Ok(building.finish())
}

const DEPTH_MAX: usize = 10_000;

/// The function of a frame's line: an address, a name with its offset, and in brackets the file.
fn frame(line: &str) -> Option<String> {
    let (address, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    if address.is_empty() || !address.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let rest = rest.trim();
    // A name may hold brackets and blanks; the file is the last pair, and its path may hold blanks too.
    let (name, file) = match rest.rfind(" (").or_else(|| rest.starts_with('(').then_some(0)) {
        Some(at) => (rest[..at].trim(), rest[at..].trim().trim_start_matches('(').trim_end_matches(')')),
        None => (rest, ""),
    };
    let name = match name.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|digit| digit.is_ascii_hexdigit()) => name,
        _ => name,
    };
    if !name.is_empty() && name != "[unknown]" {
        return Some(name.to_owned());
    }
    let base = file.rsplit('/').next().unwrap_or_default();
    Some(if base.is_empty() || base == "[unknown]" { "<unknown>".to_owned() } else { format!("[{}]", base.trim_matches(['[', ']'])) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a remark\napp  812/815  5025.1: 10101010 cpu-clock:u: \n\t    55d05c std::vec<int, (x)>::push+0x1c (/srv/my app)\n\t    55d0aa main+0x2a (/srv/app)\n\n\
        app  812  5025.2:   10101010 cpu-clock:u: \n\t    7f12 [unknown] (/usr/lib/libc.so.6)\n\t ffff [unknown] ([unknown])\n";

    #[test]
    fn samples_are_read_from_the_outside_in() {
        assert!(is_one(TEXT) && !is_one("main;work 3\nmain 1\n"));
        let profile = read(TEXT).unwrap();
        let shown: Vec<Vec<&str>> =
            profile.stacks().iter().map(|stack| profile.frames(stack).iter().map(|frame| profile.name(*frame)).collect()).collect();
        assert_eq!(shown, [vec!["main", "std::vec<int, (x)>::push"], vec!["<unknown>", "[libc.so.6]"]]);
        assert_eq!(profile.total(), 2);
    }

    #[test]
    fn a_line_that_is_no_frame_is_told_with_its_number() {
        assert_eq!(read("app 1 2: 3 x:\n  nothing here\n").unwrap_err().to_string(), "it is damaged or cut off: line 2 is no frame");
    }
}
