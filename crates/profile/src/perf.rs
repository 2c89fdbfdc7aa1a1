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

/// Whether it looks like it: heads, and a line below that begins with blanks and an address.
pub(crate) fn is_one(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let head = lines.next().is_some_and(|line| !line.starts_with([' ', '\t']) || line.trim_end().ends_with(':'));
    // The first samples may have no stack.
    let first = lines.find(|line| !line.trim_end().ends_with(':'));
    head && first.is_some_and(|line| line.starts_with([' ', '\t']) && frame(line).is_some())
}

/// Reads the samples of one event: that of this kind, else the first. Two events added together would be the time of neither. Where the
/// samples of it stand for periods of different length each counts as much as its period, else one.
pub(crate) fn read(text: &str, kind: Option<&str>) -> Result<Profile, ReadError> {
    let heads: Vec<Head<'_>> = samples(text).map(|(_, line)| Head::of(line)).collect();
    let asked = kind.and_then(|kind| heads.iter().find(|head| head.event == kind));
    let Some(event) = asked.or(heads.first()).map(|head| head.event) else {
        return Ok(Building::new(SAMPLES, Unit::Count).finish());
    };
    let mut periods = heads.iter().filter(|head| head.event == event).map(|head| head.period);
    let first = periods.next().flatten();
    let is_weighted = first.is_some() && periods.clone().all(|period| period.is_some()) && periods.any(|period| period != first);
    let is_one_of_several = heads.iter().any(|head| head.event != event);
    let unit = if is_weighted && event.contains("-clock") { Unit::Nanoseconds } else { Unit::Count };
    let mut building = Building::new(if is_weighted || is_one_of_several || asked.is_some() { event } else { SAMPLES }, unit);
    let lines: Vec<&str> = text.lines().collect();
    for ((at, _), head) in samples(text).zip(&heads).filter(|(_, head)| head.event == event) {
        let mut stack = Vec::new();
        for (number, line) in lines.iter().enumerate().skip(at + 1).take_while(|(_, line)| !line.trim().is_empty()) {
            if line.starts_with('#') {
                continue;
            }
            stack.push(frame(line).ok_or_else(|| ReadError::Damaged(format!("line {} is no frame", number + 1)))?);
            if stack.len() > DEPTH_MAX {
                return Err(ReadError::TooLarge("ten thousand frames in one stack"));
            }
        }
        for name in stack.iter().rev() {
            let name = building.name(name)?;
            building.push(name, false)?;
        }
        building.end(head.period.filter(|_| is_weighted).unwrap_or(1))?;
    }
    Ok(building.finish())
}

/// The heads of all samples, with their lines' numbers from 0: the first lines after empty ones.
fn samples(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_sample = false;
    text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')).filter(move |(_, line)| {
        let is_head = !line.trim().is_empty() && !in_sample;
        in_sample = !line.trim().is_empty();
        is_head
    })
}

/// What the head of a sample says.
struct Head<'a> {
    /// Such as `cycles:u`.
    event: &'a str,
    /// How many of them passed since the sample before.
    period: Option<i64>,
}

impl<'a> Head<'a> {
    /// `COMMAND PID TIME: PERIOD EVENT:`, where time and period may be missing; a number without a time before it is the process.
    fn of(line: &'a str) -> Self {
        let mut words = line.trim_end().trim_end_matches(':').rsplit([' ', '\t']).filter(|word| !word.is_empty());
        let event = words.next().unwrap_or_default();
        let period = words.next().and_then(|word| word.parse().ok());
        let follows_a_time = words.next().is_some_and(|word| word.ends_with(':'));
        Self { event, period: period.filter(|_| follows_a_time) }
    }
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
        let profile = read(TEXT, None).unwrap();
        let shown: Vec<Vec<&str>> =
            profile.stacks().iter().map(|stack| profile.frames(stack).iter().map(|frame| profile.name(*frame)).collect()).collect();
        assert_eq!(shown, [vec!["main", "std::vec<int, (x)>::push"], vec!["<unknown>", "[libc.so.6]"]]);
        assert_eq!(profile.total(), 2);
    }

    #[test]
    fn samples_without_times_and_without_stacks_are_read() {
        let text = "java 19983 cycles: \n\njava 19983 cycles: \n\t7f12 work+0x1 (/a)\n\njava 19984 cycles: \n\t7f12 work+0x1 (/a)\n";
        assert!(is_one(text));
        let profile = read(text, None).unwrap();
        assert_eq!((profile.kind.as_str(), profile.total()), ("samples", 3));
    }

    #[test]
    fn one_event_is_read_and_weighed_by_its_periods() {
        let sample = |event: &str, period: u32, name: &str| format!("app 8 5.1: {period} {event}: \n\t7f12 {name}+0x1 (/a)\n\n");
        let text = [
            sample("cycles:u", 10, "quick"),
            sample("instructions:u", 500, "other"),
            sample("cycles:u", 10, "quick"),
            sample("cycles:u", 900, "slow"),
        ]
        .concat();
        let values = |kind: Option<&str>| {
            let profile = read(&text, kind).unwrap();
            let values: Vec<i64> = profile.stacks().iter().map(|stack| stack.value).collect();
            (profile.kind, values)
        };
        assert_eq!(values(None), ("cycles:u".to_owned(), vec![10, 10, 900]));
        assert_eq!(values(Some("instructions:u")), ("instructions:u".to_owned(), vec![1]));
    }

    #[test]
    fn a_line_that_is_no_frame_is_told_with_its_number() {
        assert_eq!(read("app 1 2: 3 x:\n  nothing here\n", None).unwrap_err().to_string(), "it is damaged or cut off: line 2 is no frame");
    }
}
