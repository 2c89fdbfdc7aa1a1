//! pprof's protobuf, as Go's runtime and many others write it.
//!
//! Source: `google/pprof`, `proto/profile.proto`; the messages it is made of are declared here as far as they are read. Decoding the
//! whole `Profile` at once was rejected: two bytes of a file can be a message of seventy in memory, so a small file could ask for
//! gigabytes. Instead its outermost fields are walked over, and each message is decoded alone, put where it belongs and forgotten.
//!
//! The figures that follow are to agree with those of `go tool pprof`; a test holds them against it.

use std::collections::HashMap;

use measure::profiled::Unit;
use prost::Message;

use crate::profile::{Building, NAMES_MAX, Profile, ReadError, STACKS_MAX};

/// A single message beyond this is no stack and no function.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// The fields of a `Profile` that are read.
mod field {
    pub(crate) const SAMPLE_TYPE: u64 = 1;
    pub(crate) const SAMPLE: u64 = 2;
    pub(crate) const MAPPING: u64 = 3;
    pub const LOCATION: u64 = 4;
    pub(crate) const FUNCTION: u64 = 5;
    pub const STRING: u64 = 6;
    pub(crate) const DURATION_NANOS: u64 = 10;
    pub(crate) const DEFAULT_SAMPLE_TYPE: u64 = 14;
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
}

/// Whether the bytes begin with what every writer of pprof begins with: the types of its values, whose numbers name strings.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    matches!(Fields(bytes).next(), Some(Ok((field::SAMPLE_TYPE, Value::Bytes(first)))) if ValueType::decode(first).is_ok())
}

/// Reads it; of several kinds of values the one asked for, else the one it says is usual, else the last.
pub(crate) fn read(bytes: &[u8], asked: Option<&str>) -> Result<Profile, ReadError> {
    let tables = Tables::read(bytes)?;
    let which = tables.which(asked)?;
    let Some(kind) = tables.kinds.get(which) else {
        return Err(ReadError::Damaged("it does not say what its values are".to_owned()));
    };
    let (unit, factor) = unit(tables.string(kind.unit)?);
    let mut building = Building::new(tables.string(kind.kind)?, unit);
    building.took(u64::try_from(tables.duration_ns).unwrap_or(0));
    let lines = tables.lines(&mut building)?;
    for field in Fields(bytes) {
        let (field::SAMPLE, Value::Bytes(sample)) = field? else { continue };
        let sample: Sample = message(sample)?;
        let value = *sample.value.get(which).ok_or_else(|| ReadError::Damaged("a stack has too few values".to_owned()))?;
        if value == 0 {
            continue;
        }
        // The running function comes first there.
        for location in sample.location_id.iter().rev() {
            let frames =
                lines.get(location).ok_or_else(|| ReadError::Damaged(format!("it has no place {location}, which a stack names")))?;
            for (name, inlined) in frames {
                building.push(*name, *inlined)?;
            }
        }
        building.end(value.saturating_mul(factor))?;
    }
    Ok(building.finish())
}

/// Everything but the stacks.
#[derive(Debug, Default)]
struct Tables<'a> {
    strings: Vec<&'a [u8]>,
    kinds: Vec<ValueType>,
    mappings: HashMap<u64, i64>,
    locations: Vec<Location>,
    functions: HashMap<u64, Function>,
    duration_ns: i64,
    usual: i64,
}

impl<'a> Tables<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let mut tables = Tables::default();
        let mut stacks = 0;
        let bounded = |count: usize, most: usize, what| if count > most { Err(ReadError::TooLarge(what)) } else { Ok(()) };
        for field in Fields(bytes) {
            match field? {
                (field::SAMPLE_TYPE, Value::Bytes(bytes)) => {
                    tables.kinds.push(message(bytes)?);
                    bounded(tables.kinds.len(), KINDS_MAX, "a hundred kinds of values")?;
                }
                (field::SAMPLE, Value::Bytes(_)) => {
                    stacks += 1;
                    bounded(stacks, STACKS_MAX, "a million stacks")?;
                }
                (field::MAPPING, Value::Bytes(bytes)) => {
                    let mapping: Mapping = message(bytes)?;
                    tables.mappings.insert(mapping.id, mapping.filename);
                    bounded(tables.mappings.len(), NAMES_MAX, "a million files")?;
                }
                (field::LOCATION, Value::Bytes(bytes)) => {
                    tables.locations.push(message(bytes)?);
                    bounded(tables.locations.len(), NAMES_MAX, "a million places")?;
                }
                (field::FUNCTION, Value::Bytes(bytes)) => {
                    let function: Function = message(bytes)?;
                    tables.functions.insert(function.id, function);
                    bounded(tables.functions.len(), NAMES_MAX, "a million functions")?;
                }
                (field::STRING, Value::Bytes(bytes)) => {
                    tables.strings.push(bytes);
                    bounded(tables.strings.len(), 2 * NAMES_MAX, "two million names")?;
                }
                (field::DURATION_NANOS, Value::Number(number)) => tables.duration_ns = number as i64,
                (field::DEFAULT_SAMPLE_TYPE, Value::Number(number)) => tables.usual = number as i64,
                _ => {}
            }
        }
        Ok(tables)
    }

    fn string(&self, number: i64) -> Result<&'a str, ReadError> {
        let bytes = usize::try_from(number).ok().and_then(|number| self.strings.get(number));
        let bytes = bytes.ok_or_else(|| ReadError::Damaged(format!("it has no name {number}, which it uses")))?;
        std::str::from_utf8(bytes).map_err(|_| ReadError::Damaged("a name is not text".to_owned()))
    }

    /// Which of a stack's values are read.
    fn which(&self, asked: Option<&str>) -> Result<usize, ReadError> {
        let names: Result<Vec<&str>, ReadError> = self.kinds.iter().map(|kind| self.string(kind.kind)).collect();
        let names = names?;
        if let Some(asked) = asked {
            return names
                .iter()
                .position(|name| *name == asked)
                .ok_or_else(|| ReadError::NoSuchKind { asked: asked.to_owned(), known: names.join(", ") });
        }
        let usual = if self.usual == 0 { None } else { names.iter().position(|name| self.string(self.usual) == Ok(name)) };
        Ok(usual.unwrap_or(names.len().saturating_sub(1)))
    }

    /// The functions at each place, the one that was called from elsewhere first.
    fn lines(&self, building: &mut Building) -> Result<HashMap<u64, Vec<(u32, bool)>>, ReadError> {
        let mut lines = HashMap::with_capacity(self.locations.len());
        for location in &self.locations {
            let mut frames = Vec::with_capacity(location.line.len().max(1));
            let last = location.line.len().saturating_sub(1);
            for (at, line) in location.line.iter().enumerate().rev() {
                let name = match self.functions.get(&line.function_id) {
                    None => building.name(&self.unnamed(location))?,
                    Some(function) => match (self.string(function.name)?, self.string(function.system_name)?) {
                        ("", "") => building.name(&self.unnamed(location))?,
                        ("", name) | (name, _) => building.name(name)?,
                    },
                };
                frames.push((name, at != last));
            }
            if frames.is_empty() {
                frames.push((building.name(&self.unnamed(location))?, false));
            }
            lines.insert(location.id, frames);
        }
        Ok(lines)
    }

    /// What a place without a function is called: by the file it lies in.
    fn unnamed(&self, location: &Location) -> String {
        let file = self.mappings.get(&location.mapping_id).and_then(|file| self.string(*file).ok()).unwrap_or_default();
        match file.rsplit('/').next() {
            None | Some("") => "<unknown>".to_owned(),
            Some(base) => format!("[{base}]"),
        }
    }
}

const KINDS_MAX: usize = 100;

/// The unit, and how many of it one of theirs is.
fn unit(name: &str) -> (Unit, i64) {
    match name.to_ascii_lowercase().as_str() {
        "nanoseconds" | "nanosecond" | "ns" => (Unit::Nanoseconds, 1),
        "microseconds" | "microsecond" | "us" => (Unit::Nanoseconds, 1_000),
        "milliseconds" | "millisecond" | "ms" => (Unit::Nanoseconds, 1_000_000),
        "seconds" | "second" | "s" => (Unit::Nanoseconds, 1_000_000_000),
        "bytes" | "byte" | "b" => (Unit::Bytes, 1),
        "kilobytes" | "kilobyte" | "kb" => (Unit::Bytes, 1 << 10),
        "megabytes" | "megabyte" | "mb" => (Unit::Bytes, 1 << 20),
        _ => (Unit::Count, 1),
    }
}

fn message<M: Message + Default>(bytes: &[u8]) -> Result<M, ReadError> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(ReadError::TooLarge("a million bytes in one stack or function"));
    }
    M::decode(bytes).map_err(|why| ReadError::Damaged(why.to_string()))
}

/// The outermost fields, one after the other.
struct Fields<'a>(&'a [u8]);

/// What stands in a field.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Eight or four bytes: none of those that are read.
    Fixed,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let read = self.field();
        if read.is_none() {
            self.0 = &[];
        }
        Some(read.ok_or_else(|| ReadError::Damaged("it ends within a field".to_owned())))
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let key = self.number()?;
        let value = match key & 7 {
            0 => Value::Number(self.number()?),
            1 => self.bytes(8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                Value::Bytes(self.bytes(length)?)
            }
            5 => self.bytes(4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        (key >> 3 > 0).then_some((key >> 3, value))
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let (first, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(first & 0x7f) << (7 * place);
            if first & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A whole profile, as writers write it.
    #[derive(Clone, PartialEq, Message)]
    struct Whole {
        #[prost(message, repeated, tag = "1")]
        kinds: Vec<ValueType>,
        #[prost(message, repeated, tag = "2")]
        samples: Vec<Sample>,
        #[prost(message, repeated, tag = "3")]
        mappings: Vec<Mapping>,
        #[prost(message, repeated, tag = "4")]
        locations: Vec<Location>,
        #[prost(message, repeated, tag = "5")]
        functions: Vec<Function>,
        #[prost(string, repeated, tag = "6")]
        strings: Vec<String>,
        #[prost(int64, tag = "10")]
        duration_ns: i64,
        #[prost(int64, tag = "14")]
        usual: i64,
    }

    /// main calls work, into which add was put, and a place in a library without names.
    fn whole() -> Whole {
        let strings = ["", "samples", "count", "cpu", "nanoseconds", "main.main", "main.work", "main.add", "/lib/libc.so.6"];
        let function = |id, name| Function { id, name, system_name: name };
        let line = |function_id| Line { function_id };
        let place = |id, line: Vec<Line>| Location { id, mapping_id: 1, line };
        let stack = |location_id: &[u64], count| Sample { location_id: location_id.to_vec(), value: vec![count, count * 10_000_000] };
        Whole {
            kinds: vec![ValueType { kind: 1, unit: 2 }, ValueType { kind: 3, unit: 4 }],
            samples: vec![stack(&[2, 1], 3), stack(&[1], 1), stack(&[3, 2, 1], 2), stack(&[1], 0)],
            mappings: vec![Mapping { id: 1, filename: 8 }],
            locations: vec![place(1, vec![line(1)]), place(2, vec![line(3), line(2)]), place(3, Vec::new())],
            functions: vec![function(1, 5), function(2, 6), function(3, 7)],
            strings: strings.map(str::to_owned).to_vec(),
            duration_ns: 1_000_000_000,
            usual: 0,
        }
    }

    fn stacks(profile: &Profile) -> Vec<(String, i64)> {
        let name = |frame: &crate::Frame| format!("{}{}", if frame.inlined { "~" } else { "" }, profile.name(*frame));
        let shown = |stack: &crate::Stack| profile.frames(stack).iter().map(name).collect::<Vec<_>>().join(";");
        profile.stacks().iter().map(|stack| (shown(stack), stack.value)).collect()
    }

    #[test]
    fn stacks_are_read_from_the_outside_in_with_what_was_put_into_them() {
        let profile = read(&whole().encode_to_vec(), None).unwrap();
        assert_eq!((profile.kind.as_str(), profile.unit, profile.duration_ns), ("cpu", Unit::Nanoseconds, 1_000_000_000));
        assert_eq!(
            stacks(&profile),
            [
                ("main.main;main.work;~main.add".to_owned(), 30_000_000),
                ("main.main".to_owned(), 10_000_000),
                ("main.main;main.work;~main.add;[libc.so.6]".to_owned(), 20_000_000),
            ]
        );
    }

    #[test]
    fn the_kind_is_the_one_asked_for_else_the_usual_else_the_last() {
        let read = |whole: &Whole, asked| read(&whole.encode_to_vec(), asked);
        let whole = whole();
        assert_eq!(read(&whole, Some("samples")).unwrap().total(), 6);
        assert_eq!(read(&Whole { usual: 1, ..whole.clone() }, None).unwrap().kind, "samples");
        assert_eq!(read(&Whole { usual: 5, ..whole.clone() }, None).unwrap().kind, "cpu");
        let error = read(&whole, Some("heap")).unwrap_err();
        assert_eq!(error.to_string(), "it has no values of 'heap', but of samples, cpu");
    }

    #[test]
    fn what_names_something_that_is_not_there_is_damaged() {
        let damaged = |change: &dyn Fn(&mut Whole)| {
            let mut whole = whole();
            change(&mut whole);
            let error = read(&whole.encode_to_vec(), None).unwrap_err();
            assert!(matches!(error, ReadError::Damaged(_)), "{error}");
            error.to_string()
        };
        assert!(damaged(&|it| it.samples[0].location_id[0] = 9).contains("no place 9"));
        assert!(damaged(&|it| it.functions[0].name = 99).contains("no name 99"));
        assert!(damaged(&|it| it.functions[0].name = -1).contains("no name -1"));
        assert!(damaged(&|it| it.kinds.clear()).contains("what its values are"));
        assert!(damaged(&|it| it.samples[0].value.truncate(1)).contains("too few values"));
    }

    #[test]
    fn a_cut_is_noticed_wherever_a_field_is_cut() {
        let bytes = whole().encode_to_vec();
        let cuts = (1..bytes.len()).filter(|at| read(&bytes[..*at], None).is_err()).count();
        // Only between two strings at the end, which nothing may name, and before the fields after them.
        assert!(cuts * 10 > bytes.len() * 9, "{cuts} of {}", bytes.len());
    }

    #[test]
    fn a_small_file_cannot_ask_for_much_memory() {
        // A million and one empty stacks in two bytes each.
        let bytes: Vec<u8> = [0x12, 0x00].repeat(STACKS_MAX + 1);
        assert_eq!(read(&bytes, None).unwrap_err(), ReadError::TooLarge("a million stacks"));
        let long = Sample { location_id: vec![1; MESSAGE_BYTES_MAX + 1], value: vec![1, 1] };
        let bytes = Whole { samples: vec![long], ..whole() }.encode_to_vec();
        assert!(matches!(read(&bytes, None), Err(ReadError::TooLarge(_))));
        let deep = Sample { location_id: vec![1; 1_000_000], value: vec![1, 1] };
        let bytes = Whole { samples: vec![deep.clone(), deep.clone(), deep], ..whole() }.encode_to_vec();
        assert_eq!(read(&bytes, None).unwrap_err(), ReadError::TooLarge("two million frames"));
    }

    proptest! {
        #[test]
        fn no_change_of_a_byte_makes_reading_panic(at in 0..400usize, byte in any::<u8>(), cut in 0..400usize) {
            let mut bytes = whole().encode_to_vec();
            let place = at % bytes.len();
            bytes[place] = byte;
            let _ = read(&bytes, None);
            let _ = read(&bytes[..cut.min(bytes.len())], None);
        }
    }
}
