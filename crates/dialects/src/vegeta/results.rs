//! Files and pipes of vegeta's results: read whatever their encoding is, several in turn, and written.
//!
//! Nobody says what is in a file, so its first bytes tell: JSON begins with a brace, CSV with a digit, and a gob stream with the
//! length of a description of types, which is neither. Results are read one at a time, so that a file of any size is reported in
//! the same memory.

use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use plan::plainly;
use report::vegeta::{Hit, gob};

use crate::host::Host;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Gob,
    Json,
    Csv,
}

impl Encoding {
    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        [("gob", Self::Gob), ("json", Self::Json), ("csv", Self::Csv)].into_iter().find(|(known, _)| *known == name).map(|(_, it)| it)
    }

    /// Told by the first bytes.
    fn of(begin: &[u8]) -> Self {
        let text = begin.trim_ascii_start();
        let is_text = |bytes: &[u8]| bytes.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
        let begins_as_text = is_text(&begin[..begin.len().min(8)]);
        match text.first() {
            Some(b'{') if begins_as_text => Self::Json,
            Some(b'0'..=b'9' | b'-' | b'"') if begins_as_text => Self::Csv,
            _ => Self::Gob,
        }
    }
}

/// A file, or standard input by its name.
pub fn open(name: &str, host: &dyn Host) -> Result<Box<dyn BufRead + Send>, String> {
    match name {
        "stdin" => Ok(host.input()),
        _ => host.files().open(Path::new(name)).map_err(|why| format!("open {name}: {}", plainly(&why))),
    }
}

/// A file that is made anew, or standard output by its name.
pub fn create(name: &str, host: &dyn Host) -> Result<Box<dyn Write + Send>, String> {
    match name {
        "stdout" => Ok(host.output()),
        _ => host.files().create(Path::new(name)).map_err(|why| format!("open {name}: {}", plainly(&why))),
    }
}

/// Several inputs, one result of each in turn.
pub struct Results {
    inputs: Vec<Input>,
    next: usize,
}

impl Results {
    /// Of these files; standard input if there are none.
    pub fn open(names: &[String], host: &dyn Host) -> Result<Self, String> {
        let standard = ["stdin".to_owned()];
        let names = if names.is_empty() { &standard[..] } else { names };
        let inputs = names.iter().map(|name| Input::new(name, open(name, host)?)).collect::<Result<_, _>>()?;
        Ok(Self { inputs, next: 0 })
    }

    /// The next result of the next input that has one; `None` when all have ended.
    pub fn next(&mut self) -> Result<Option<Hit>, String> {
        for _ in 0..self.inputs.len() {
            let place = self.next % self.inputs.len();
            self.next = place + 1;
            if let Some(hit) = self.inputs[place].next()? {
                return Ok(Some(hit));
            }
        }
        Ok(None)
    }
}

struct Input {
    name: String,
    results: Reading,
    /// Read to learn the encoding.
    first: Option<Hit>,
    ended: bool,
}

enum Reading {
    Gob(gob::Decoder<Box<dyn BufRead + Send>>),
    Lines { encoding: Encoding, from: Box<dyn BufRead + Send>, line: u64 },
}

impl Input {
    fn new(name: &str, mut from: Box<dyn BufRead + Send>) -> Result<Self, String> {
        let unknown = |why: &str| format!("encode: can't detect encoding of {name:?}{why}");
        let begin = from.fill_buf().map_err(|why| format!("read {name}: {}", plainly(&why)))?;
        if begin.is_empty() {
            return Err(unknown(": it is empty"));
        }
        let results = match Encoding::of(begin) {
            Encoding::Gob => Reading::Gob(gob::Decoder::new(from)),
            encoding => Reading::Lines { encoding, from, line: 0 },
        };
        let mut input = Self { name: name.to_owned(), results, first: None, ended: false };
        input.first = input.read().map_err(|why| unknown(&format!(": {why}")))?;
        Ok(input)
    }

    fn next(&mut self) -> Result<Option<Hit>, String> {
        match self.first.take() {
            Some(hit) => Ok(Some(hit)),
            None if self.ended => Ok(None),
            None => self.read(),
        }
    }

    fn read(&mut self) -> Result<Option<Hit>, String> {
        let hit = match &mut self.results {
            Reading::Gob(decoder) => decoder.decode().map_err(|why| format!("{}: {}", self.name, plainly(&why)))?,
            Reading::Lines { encoding, from, line } => {
                let began = *line + 1;
                let wrong = |why: &str| format!("{}, line {began}: {why}", self.name);
                match record(&mut **from, *encoding, line).map_err(|why| wrong(&plainly(&why)))? {
                    None => None,
                    Some(text) if *encoding == Encoding::Json => Some(Hit::from_json(&text).map_err(|why| wrong(&why))?),
                    Some(text) => Some(Hit::from_csv(&text).map_err(|why| wrong(&why))?),
                }
            }
        };
        self.ended = hit.is_none();
        Ok(hit)
    }
}

/// The longest record that is read: bodies are in it. Beyond this it is no list of results.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// The next record that is not blank, which in CSV may go over several lines.
fn record(from: &mut dyn BufRead, encoding: Encoding, line: &mut u64) -> io::Result<Option<String>> {
    let mut record = Vec::new();
    loop {
        let before = record.len();
        let mut room = Read::take(&mut *from, RECORD_BYTES_MAX - before as u64);
        if room.read_until(b'\n', &mut record)? == 0 {
            return if record.is_empty() { Ok(None) } else { text(record).map(Some) };
        }
        *line += 1;
        if !record.ends_with(b"\n") && record.len() as u64 == RECORD_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is longer than 1 GiB"));
        }
        if record.trim_ascii().is_empty() {
            record.clear();
            continue;
        }
        let open = encoding == Encoding::Csv && record.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
        if !open {
            return text(record).map(Some);
        }
    }
}

fn text(record: Vec<u8>) -> io::Result<String> {
    String::from_utf8(record).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text"))
}

/// Writes results.
pub struct Writer {
    encoding: Encoding,
    gob: gob::Encoder,
    to: io::BufWriter<Box<dyn Write + Send>>,
}

impl Writer {
    pub fn new(encoding: Encoding, to: Box<dyn Write + Send>) -> Self {
        Self { encoding, gob: gob::Encoder::new(), to: io::BufWriter::with_capacity(1 << 16, to) }
    }

    pub fn write(&mut self, hit: &Hit) -> io::Result<()> {
        match self.encoding {
            Encoding::Gob => self.to.write_all(&self.gob.encode(hit)),
            Encoding::Json => self.to.write_all(hit.json().as_bytes()),
            Encoding::Csv => self.to.write_all(hit.csv().as_bytes()),
        }
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    fn hit(seq: u64) -> Hit {
        Hit { seq, code: 200, error: "a\nb \"c\"".to_owned(), url: format!("http://h/{seq}"), ..Hit::default() }
    }

    fn written(encoding: Encoding, seqs: std::ops::Range<u64>) -> Vec<u8> {
        let mut gob = gob::Encoder::new();
        let one = |seq| match encoding {
            Encoding::Gob => gob.encode(&hit(seq)),
            Encoding::Json => hit(seq).json().into_bytes(),
            Encoding::Csv => hit(seq).csv().into_bytes(),
        };
        seqs.flat_map(one).collect()
    }

    #[test]
    fn files_of_any_encoding_are_read_in_turn() {
        let host = Memory::new(&[]);
        let held = [("a", Encoding::Gob, 0..3), ("b", Encoding::Json, 10..11), ("c", Encoding::Csv, 20..22)];
        let names = held.map(|(name, encoding, seqs)| {
            host.files().replace(Path::new(name), &written(encoding, seqs)).unwrap();
            name.to_owned()
        });
        let mut results = Results::open(&names, &host).unwrap();
        let mut seqs = Vec::new();
        while let Some(read) = results.next().unwrap() {
            assert_eq!(read, hit(read.seq));
            seqs.push(read.seq);
        }
        assert_eq!(seqs, [0, 10, 20, 1, 21, 2]);
    }

    #[test]
    fn what_is_no_list_of_results_is_told_with_its_name_and_line() {
        let host = Memory::new(&[]);
        let open = |content: &[u8]| {
            host.files().replace(Path::new("x"), content).unwrap();
            Results::open(&["x".to_owned()], &host)
        };
        for (content, part) in [
            (&b""[..], "it is empty"),
            (b"hello", "can't detect encoding of"),
            (b"{}", "missing field `timestamp`"),
            (b"1,2,3", "has 3 fields, not 12"),
            (b"\xff\x00\x01", "can't detect encoding of"),
        ] {
            let why = open(content).err().unwrap();
            assert!(why.contains(part), "{why}");
        }
        let mut results = open(&[&written(Encoding::Json, 0..2)[..], b"{broken"].concat()).unwrap();
        let end = (0..).map(|_| results.next()).find(|read| !matches!(read, Ok(Some(_)))).unwrap();
        assert!(end.unwrap_err().contains("x, line 3: "));
        assert!(Results::open(&["/no/such/file".to_owned()], &host).err().unwrap().starts_with("open /no/such/file: "));
    }
}
