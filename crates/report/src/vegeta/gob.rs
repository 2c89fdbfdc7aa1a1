//! vegeta's results in Go's own encoding, gob: written, and read whatever types the stream describes.
//!
//! A gob stream describes its types before the first value. Writing needs one description, ours; reading must follow the
//! stream's, since other versions of vegeta have other fields. So values are read generically, by the description, into a
//! tree with names, and a [`Hit`] is picked from it.
//!
//! Invariant, for any bytes: reading ends with a value or an error; lengths are checked before memory is taken, and values
//! nest no deeper than `DEPTH_MAX`.

use std::collections::BTreeMap;
use std::io::{self, Read};

use super::Hit;

/// Types of the stream that writing uses, from the first number that is free for them.
const HIT: i64 = 64;
const TIME: i64 = 65;
const HEADERS: i64 = 66;
const STRINGS: i64 = 67;

/// Types every stream knows.
const INT: i64 = 2;
const UINT: i64 = 3;
const BYTES: i64 = 5;
const STRING: i64 = 6;
const WIRE: i64 = 16;

/// Values in values; a hit needs four.
const DEPTH_MAX: u32 = 16;

/// Go's own limit for one message is 1 GiB; bodies of vegeta's results are far smaller.
const MESSAGE_BYTES_MAX: u64 = 1 << 28;

/// Go counts seconds from the year 1.
const YEAR_1_S: i128 = 62_135_596_800;

/// Writes hits; the description of their types goes before the first.
#[derive(Debug, Default)]
pub struct Encoder {
    described: bool,
}

impl Encoder {
    /// At the beginning of a stream.
    #[must_use]
    pub const fn new() -> Self {
        Self { described: false }
    }

    /// The bytes of one more hit.
    #[must_use]
    pub fn encode(&mut self, hit: &Hit) -> Vec<u8> {
        let mut stream = Vec::new();
        if !self.described {
            self.described = true;
            for description in descriptions() {
                message(&mut stream, &description);
            }
        }
        let mut value = Vec::new();
        int(&mut value, HIT);
        let mut fields = Fields::new(&mut value);
        fields.text(0, &hit.attack);
        fields.number(1, hit.seq);
        fields.number(2, u64::from(hit.code));
        fields.bytes(3, &time(hit.timestamp));
        if hit.latency != 0 {
            fields.begin(4);
            int(fields.bytes, hit.latency);
        }
        fields.number(5, hit.bytes_out);
        fields.number(6, hit.bytes_in);
        fields.text(7, &hit.error);
        fields.bytes(8, &hit.body);
        fields.text(9, &hit.method);
        fields.text(10, &hit.url);
        if !hit.headers.is_empty() {
            fields.begin(11);
            uint(fields.bytes, hit.headers.len() as u64);
            for (name, values) in &hit.headers {
                string(fields.bytes, name.as_bytes());
                uint(fields.bytes, values.len() as u64);
                values.iter().for_each(|value| string(fields.bytes, value.as_bytes()));
            }
        }
        fields.end();
        message(&mut stream, &value);
        stream
    }
}

/// The messages that describe our types, as wireType values.
fn descriptions() -> [Vec<u8>; 4] {
    // Fields of wireType: array 0, slice 1, struct 2, map 3, gob encoder 4. Each holds the common part as its field 0.
    let described = |id: i64, kind: u64, name: &str, rest: &dyn Fn(&mut Fields<'_>)| {
        let mut bytes = Vec::new();
        int(&mut bytes, -id);
        let mut wire = Fields::new(&mut bytes);
        wire.begin(kind);
        let mut inner = Fields::new(wire.bytes);
        inner.begin(0);
        let mut common = Fields::new(inner.bytes);
        common.text(0, name);
        common.begin(1);
        int(common.bytes, id);
        common.end();
        rest(&mut inner);
        inner.end();
        wire.end();
        bytes
    };
    let fields = [
        ("Attack", STRING),
        ("Seq", UINT),
        ("Code", UINT),
        ("Timestamp", TIME),
        ("Latency", INT),
        ("BytesOut", UINT),
        ("BytesIn", UINT),
        ("Error", STRING),
        ("Body", BYTES),
        ("Method", STRING),
        ("URL", STRING),
        ("Headers", HEADERS),
    ];
    [
        described(HIT, 2, "Result", &|inner| {
            inner.begin(1);
            uint(inner.bytes, fields.len() as u64);
            for (name, id) in fields {
                let mut field = Fields::new(inner.bytes);
                field.text(0, name);
                field.begin(1);
                int(field.bytes, id);
                field.end();
            }
        }),
        described(TIME, 4, "Time", &|_| ()),
        described(HEADERS, 3, "Header", &|inner| {
            for (place, id) in [(1, STRING), (2, STRINGS)] {
                inner.begin(place);
                int(inner.bytes, id);
            }
        }),
        described(STRINGS, 1, "", &|inner| {
            inner.begin(1);
            int(inner.bytes, STRING);
        }),
    ]
}

/// Go's `time.Time.MarshalBinary`, in UTC: version, seconds since the year 1, nanoseconds, and −1 for the zone.
fn time(nanos: i128) -> [u8; 15] {
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000) + YEAR_1_S).unwrap_or(0);
    let mut bytes = [0; 15];
    bytes[0] = 1;
    bytes[1..9].copy_from_slice(&seconds.to_be_bytes());
    bytes[9..13].copy_from_slice(&(nanos.rem_euclid(1_000_000_000) as u32).to_be_bytes());
    bytes[13..].copy_from_slice(&(-1i16).to_be_bytes());
    bytes
}

fn nanos(time: &[u8]) -> Option<i128> {
    let seconds = i64::from_be_bytes(time.get(1..9)?.try_into().ok()?);
    let rest = u32::from_be_bytes(time.get(9..13)?.try_into().ok()?);
    Some((i128::from(seconds) - YEAR_1_S) * 1_000_000_000 + i128::from(rest))
}

/// Writes a struct: each field by how far it lies behind the one before, fields of no value left out.
struct Fields<'a> {
    bytes: &'a mut Vec<u8>,
    next: u64,
}

impl<'a> Fields<'a> {
    fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, next: 0 }
    }

    fn begin(&mut self, place: u64) {
        uint(self.bytes, place + 1 - self.next);
        self.next = place + 1;
    }

    fn number(&mut self, place: u64, number: u64) {
        if number != 0 {
            self.begin(place);
            uint(self.bytes, number);
        }
    }

    fn bytes(&mut self, place: u64, value: &[u8]) {
        if !value.is_empty() {
            self.begin(place);
            string(self.bytes, value);
        }
    }

    fn text(&mut self, place: u64, value: &str) {
        self.bytes(place, value.as_bytes());
    }

    fn end(self) {
        self.bytes.push(0);
    }
}

fn message(stream: &mut Vec<u8>, content: &[u8]) {
    uint(stream, content.len() as u64);
    stream.extend_from_slice(content);
}

fn uint(bytes: &mut Vec<u8>, number: u64) {
    if number < 128 {
        bytes.push(number as u8);
        return;
    }
    let digits = number.to_be_bytes();
    let first = digits.iter().position(|digit| *digit != 0).unwrap_or(7);
    bytes.push((8 - first as u8).wrapping_neg());
    bytes.extend_from_slice(&digits[first..]);
}

fn int(bytes: &mut Vec<u8>, number: i64) {
    // The sign goes into the lowest bit.
    uint(bytes, if number < 0 { ((!number as u64) << 1) | 1 } else { (number as u64) << 1 });
}

fn string(bytes: &mut Vec<u8>, text: &[u8]) {
    uint(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// A type as the stream describes it.
#[derive(Debug, Clone)]
enum Type {
    Slice(i64),
    Array(i64),
    Struct(Vec<(String, i64)>),
    Map(i64, i64),
    /// Bytes that a type makes of itself.
    Opaque,
}

/// A value, by the stream's description.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Uint(u64),
    Int(i64),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Struct(BTreeMap<String, Value>),
    Other,
}

/// Reads hits from a stream.
#[derive(Debug)]
pub struct Decoder<R> {
    from: R,
    types: BTreeMap<i64, Type>,
}

impl<R: Read> Decoder<R> {
    /// At the beginning of a stream.
    pub fn new(from: R) -> Self {
        Self { from, types: known() }
    }

    /// The next hit; `None` at the end.
    ///
    /// # Errors
    /// If the stream breaks off or is none.
    pub fn decode(&mut self) -> io::Result<Option<Hit>> {
        loop {
            let Some(length) = self.length()? else { return Ok(None) };
            if length > MESSAGE_BYTES_MAX {
                return Err(wrong("a message is too long"));
            }
            let mut content = Vec::new();
            (&mut self.from).take(length).read_to_end(&mut content)?;
            if (content.len() as u64) < length {
                return Err(wrong("the stream breaks off"));
            }
            let mut reading = Reading { rest: &content, types: &self.types };
            let id = reading.int()?;
            if id < 0 {
                let described = reading.value(WIRE, 0)?;
                let described = described_type(&described).ok_or_else(|| wrong("a type is not described"))?;
                self.types.insert(-id, described);
                continue;
            }
            return hit(&reading.value(id, 0)?).map(Some).ok_or_else(|| wrong("a value is not a result of vegeta"));
        }
    }

    /// The length of the next message; `None` at the end.
    fn length(&mut self) -> io::Result<Option<u64>> {
        let mut first = [0];
        if self.from.read(&mut first)? == 0 {
            return Ok(None);
        }
        if first[0] < 128 {
            return Ok(Some(first[0].into()));
        }
        let count = usize::from(first[0].wrapping_neg());
        if count > 8 {
            return Err(wrong("a number is too long"));
        }
        let mut digits = [0; 8];
        self.from.read_exact(&mut digits[8 - count..])?;
        Ok(Some(u64::from_be_bytes(digits)))
    }
}

fn wrong(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a gob stream of results: {why}"))
}

/// The types that describe types.
fn known() -> BTreeMap<i64, Type> {
    let fields = |fields: &[(&str, i64)]| Type::Struct(fields.iter().map(|(name, id)| ((*name).to_owned(), *id)).collect());
    BTreeMap::from([
        (
            WIRE,
            fields(&[
                ("ArrayT", 17),
                ("SliceT", 19),
                ("StructT", 20),
                ("MapT", 23),
                ("GobEncoderT", 24),
                ("BinaryMarshalerT", 24),
                ("TextMarshalerT", 24),
            ]),
        ),
        (17, fields(&[("Common", 18), ("Elem", INT), ("Len", INT)])),
        (18, fields(&[("Name", STRING), ("Id", INT)])),
        (19, fields(&[("Common", 18), ("Elem", INT)])),
        (20, fields(&[("Common", 18), ("Field", 22)])),
        (21, fields(&[("Name", STRING), ("Id", INT)])),
        (22, Type::Slice(21)),
        (23, fields(&[("Common", 18), ("Key", INT), ("Elem", INT)])),
        (24, fields(&[("Common", 18)])),
    ])
}

fn described_type(value: &Value) -> Option<Type> {
    let Value::Struct(wire) = value else { return None };
    let (kind, Value::Struct(about)) = wire.iter().next()? else { return None };
    let id = |name: &str| if let Some(Value::Int(id)) = about.get(name) { Some(*id) } else { None };
    Some(match kind.as_str() {
        "ArrayT" => Type::Array(id("Elem")?),
        "SliceT" => Type::Slice(id("Elem")?),
        "MapT" => Type::Map(id("Key")?, id("Elem")?),
        "StructT" => {
            let fields = if let Some(Value::List(fields)) = about.get("Field") { fields.as_slice() } else { &[] };
            let field = |field: &Value| match field {
                Value::Struct(field) => match (field.get("Name"), field.get("Id")) {
                    (Some(Value::Bytes(name)), Some(Value::Int(id))) => Some((String::from_utf8_lossy(name).into_owned(), *id)),
                    _ => None,
                },
                _ => None,
            };
            Type::Struct(fields.iter().map(field).collect::<Option<_>>()?)
        }
        _ => Type::Opaque,
    })
}

/// Reads values from one message.
struct Reading<'a> {
    rest: &'a [u8],
    types: &'a BTreeMap<i64, Type>,
}

impl Reading<'_> {
    fn uint(&mut self) -> io::Result<u64> {
        let (&first, rest) = self.rest.split_first().ok_or_else(|| wrong("a number is missing"))?;
        if first < 128 {
            self.rest = rest;
            return Ok(first.into());
        }
        let count = usize::from(first.wrapping_neg());
        let (digits, rest) = rest.split_at_checked(count).filter(|_| count <= 8).ok_or_else(|| wrong("a number is too long"))?;
        self.rest = rest;
        Ok(digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit)))
    }

    fn int(&mut self) -> io::Result<i64> {
        let number = self.uint()?;
        Ok(if number & 1 == 1 { !((number >> 1) as i64) } else { (number >> 1) as i64 })
    }

    fn string(&mut self) -> io::Result<Vec<u8>> {
        let length = self.uint()?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (text, rest) = self.rest.split_at_checked(length).ok_or_else(|| wrong("a text is cut"))?;
        self.rest = rest;
        Ok(text.to_vec())
    }

    /// Each element takes a byte at least, so a count beyond the rest is a lie.
    fn count(&mut self) -> io::Result<usize> {
        let count = usize::try_from(self.uint()?).unwrap_or(usize::MAX);
        if count > self.rest.len() { Err(wrong("a list is cut")) } else { Ok(count) }
    }

    fn value(&mut self, id: i64, depth: u32) -> io::Result<Value> {
        if depth > DEPTH_MAX {
            return Err(wrong("values nest too deeply"));
        }
        match id {
            1 | UINT => return self.uint().map(Value::Uint),
            INT => return self.int().map(Value::Int),
            4 => return self.uint().map(|_| Value::Other),
            BYTES | STRING => return self.string().map(Value::Bytes),
            7 => {
                self.uint()?;
                return self.uint().map(|_| Value::Other);
            }
            _ => {}
        }
        let types = self.types;
        match types.get(&id).ok_or_else(|| wrong("a type is unknown"))? {
            Type::Opaque => self.string().map(Value::Bytes),
            Type::Slice(element) | Type::Array(element) => {
                let count = self.count()?;
                (0..count).map(|_| self.value(*element, depth + 1)).collect::<io::Result<_>>().map(Value::List)
            }
            Type::Map(key, element) => {
                let count = self.count()?;
                let pairs = (0..count).map(|_| Ok((self.value(*key, depth + 1)?, self.value(*element, depth + 1)?)));
                pairs.collect::<io::Result<_>>().map(Value::Map)
            }
            Type::Struct(fields) => {
                let mut values = BTreeMap::new();
                let mut place = 0;
                loop {
                    let step = usize::try_from(self.uint()?).unwrap_or(usize::MAX);
                    if step == 0 {
                        return Ok(Value::Struct(values));
                    }
                    place = usize::saturating_add(place, step);
                    let (name, id) = fields.get(place - 1).ok_or_else(|| wrong("a field is unknown"))?;
                    values.insert(name.clone(), self.value(*id, depth + 1)?);
                }
            }
        }
    }
}

fn hit(value: &Value) -> Option<Hit> {
    let Value::Struct(fields) = value else { return None };
    let text = |name: &str| match fields.get(name) {
        Some(Value::Bytes(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    let number = |name: &str| if let Some(Value::Uint(number)) = fields.get(name) { *number } else { 0 };
    let Some(Value::Bytes(time)) = fields.get("Timestamp") else { return None };
    let mut headers = BTreeMap::new();
    if let Some(Value::Map(pairs)) = fields.get("Headers") {
        for (name, values) in pairs {
            let (Value::Bytes(name), Value::List(values)) = (name, values) else { return None };
            let value =
                |value: &Value| if let Value::Bytes(text) = value { Some(String::from_utf8_lossy(text).into_owned()) } else { None };
            headers.insert(String::from_utf8_lossy(name).into_owned(), values.iter().map(value).collect::<Option<Vec<_>>>()?);
        }
    }
    Some(Hit {
        attack: text("Attack"),
        seq: number("Seq"),
        code: u16::try_from(number("Code")).ok()?,
        timestamp: nanos(time)?,
        latency: if let Some(Value::Int(latency)) = fields.get("Latency") { *latency } else { 0 },
        bytes_out: number("BytesOut"),
        bytes_in: number("BytesIn"),
        error: text("Error"),
        body: if let Some(Value::Bytes(body)) = fields.get("Body") { body.clone() } else { Vec::new() },
        method: text("Method"),
        url: text("URL"),
        headers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<Hit>> {
        let mut decoder = Decoder::new(bytes);
        let mut hits = Vec::new();
        while let Some(hit) = decoder.decode()? {
            hits.push(hit);
        }
        Ok(hits)
    }

    #[test]
    fn what_was_written_is_read() {
        let hits = [super::super::tests::hit(0, 200, 441), Hit { timestamp: -5, ..Hit::default() }, super::super::tests::hit(7, 404, 1)];
        let mut encoder = Encoder::new();
        let stream: Vec<u8> = hits.iter().flat_map(|hit| encoder.encode(hit)).collect();
        assert_eq!(read(&stream).unwrap(), hits);
        for cut in 1..stream.len() {
            let _ = read(&stream[..cut]);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_a_value_or_an_error(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }

        #[test]
        fn a_broken_stream_ends_in_a_value_or_an_error(at in 0usize..400, byte: u8) {
            let mut stream = Encoder::new().encode(&super::super::tests::hit(0, 200, 441));
            let length = stream.len();
            stream[at % length] = byte;
            let _ = read(&stream);
        }

        #[test]
        fn numbers_read_back(number: i64) {
            let mut bytes = Vec::new();
            int(&mut bytes, number);
            prop_assert_eq!(Reading { rest: &bytes, types: &BTreeMap::new() }.int().unwrap(), number);
        }
    }
}
