//! A file of rows, opened: its columns, how many rows it has, and where they are.
//!
//! Most data files are small, and then their rows are taken into memory, each looked at before the run. A file of gigabytes
//! must not cost memory: of it only every k-th row's place is kept, and rows are read when they are needed, by a thread of
//! their own ([`crate::feed`]). Mapping the file into memory was the alternative; docs/decisions/data-files.md says why not.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use engine::StoredFile;
use plan::template::nearest;
use plan::{Charset, Delimiter, END_MARK, LargeFile, ReadFrom, RowForm, RowsAt, named_delimiter, plainly};
use ring::digest;

use crate::record::{Fields, Form, Names, Record, Records, Wrong, is_uneven};

/// Rows of at most so many bytes are taken into memory, with what it takes to find them.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;

/// As many places of rows are kept: 8 MiB.
const PLACES_MAX: usize = 1 << 20;

/// So much of a file is in its fingerprint, beside its length.
const FINGERPRINT_BYTES_MAX: u64 = 64 << 20;

/// So many mistakes of one file are told.
const MISTAKES_MAX: usize = 10;

/// A mistake in a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataError {
    /// The file and what is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// An opened data file.
#[derive(Debug)]
pub struct Data {
    path: String,
    form: Form,
    columns: Vec<String>,
    count: u64,
    fingerprint: String,
    rows: Rows,
    /// The file itself, where it is not in memory as it is.
    large: Option<Arc<dyn LargeFile>>,
}

#[derive(Debug)]
enum Rows {
    Memory(Fields),
    File(Index),
}

/// Where the rows of a large file are.
#[derive(Debug)]
struct Index {
    file: Arc<dyn LargeFile>,
    /// Of every `stride`-th row.
    places: Vec<u64>,
    stride: u64,
    /// The mean length of a row, for how much is read at once.
    row_bytes: u64,
}

impl Data {
    /// Opens a file and goes through it once.
    ///
    /// # Errors
    /// If it cannot be read, has no rows, no names of columns or one twice; and for the first rows that are none.
    pub fn open<'a>(rows: impl Into<RowsAt<'a>>) -> Result<Self, Vec<DataError>> {
        Self::open_within(rows, MEMORY_BYTES_MAX)
    }

    /// The same with another limit on what is taken into memory.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_within<'a>(rows: impl Into<RowsAt<'a>>, memory_bytes_max: usize) -> Result<Self, Vec<DataError>> {
        let rows = rows.into();
        let path = rows.path;
        let unreadable = |why: io::Error| {
            let message = format!("the data file {path} cannot be read: {}", plainly(&why));
            vec![DataError { message, help: "check the path".to_owned() }]
        };
        let file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if about.is_dir() {
            let message = format!("the data file {path} is a directory");
            return Err(vec![DataError { message, help: "name a file in it".to_owned() }]);
        }
        if about.is_file() {
            let file: Arc<dyn LargeFile> = Arc::new(StoredFile::from(file));
            return Self::of_large(rows, &file, memory_bytes_max);
        }
        Self::read(rows, file, None)
    }

    /// Of a file that is not in memory: rows up to this limit are taken there.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_large<'a>(rows: impl Into<RowsAt<'a>>, file: &Arc<dyn LargeFile>, memory_bytes_max: usize) -> Result<Self, Vec<DataError>> {
        Self::read(rows.into(), ReadFrom { file: &**file, offset: 0 }, Some((memory_bytes_max, file)))
    }

    /// Of a file that was read before: all of its rows are in memory.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn of_bytes<'a>(rows: impl Into<RowsAt<'a>>, held: &[u8]) -> Result<Self, Vec<DataError>> {
        Self::read(rows.into(), held, None)
    }

    /// Goes through a file once. Where there is a limit on what is taken into memory, more is read from that file when it is needed.
    fn read(at: RowsAt<'_>, source: impl Read, large: Option<(usize, &Arc<dyn LargeFile>)>) -> Result<Self, Vec<DataError>> {
        if let Some(encoding) = at.form.encoding {
            return Self::decoded(at, encoding, source, large);
        }
        let path = at.path;
        let wrong = |why: String, help: &str| vec![DataError { message: format!("the data file {path} {why}"), help: help.to_owned() }];
        let in_line = |wrong: &Wrong| {
            let help = if is_uneven(&wrong.why) {
                "give each row as many fields as there are columns, or say of the file uneven: true in a scenario"
            } else {
                "give CSV with the names of its columns in the first line, or a JSON object a line"
            };
            DataError { message: format!("the data file {path}, line {}: {}", wrong.line, wrong.why), help: help.to_owned() }
        };
        let hashed = HashedFile { source, context: digest::Context::new(&digest::SHA256), read: 0 };
        let mut records = Records::new(hashed, Form::JsonLines, 0, 64 << 10);
        let (form, columns) = beginning(at, &mut records).map_err(|why| match why {
            Beginning::Wrong(why) => vec![in_line(&why)],
            Beginning::Empty => {
                wrong("is empty".to_owned(), "give CSV with the names of its columns in the first line, or a JSON object a line")
            }
            Beginning::Columns(why) => wrong(why, if at.header.is_some() { NAMED_ONCE } else { "name each column once in the first line" }),
        })?;
        records.set_form(form);

        let mut fields = Fields::default();
        let mut in_memory = true;
        let mut errors = Vec::new();
        let (mut places, mut stride, mut count) = (Vec::new(), 1_u64, 0_u64);
        let began = records_offset(&mut records).map_err(|why| vec![in_line(&why)])?;
        let mut ended = began;
        loop {
            let Record { bytes, line, offset } = match records.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(why) => {
                    errors.push(in_line(&why));
                    break;
                }
            };
            ended = offset + bytes.len() as u64;
            if count.is_multiple_of(stride) {
                places.push(offset);
                if places.len() == PLACES_MAX {
                    places = places.into_iter().step_by(2).collect();
                    stride *= 2;
                }
            }
            count += 1;
            if in_memory {
                if let Err(why) = fields.add(bytes, form, &columns) {
                    errors.push(in_line(&Wrong { line, why }));
                    if errors.len() == MISTAKES_MAX {
                        break;
                    }
                }
                if large.is_some_and(|(most, _)| fields.size_bytes() > most) {
                    in_memory = false;
                    fields = Fields::default();
                } else if fields.size_bytes() > FIELDS_BYTES_MAX {
                    return Err(wrong("is no regular file and holds more than 1 GiB".to_owned(), "save it to a file first"));
                }
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        if count == 0 {
            let where_from = if at.header.is_some() { "" } else { " after its first line" };
            return Err(wrong(format!("has no rows{where_from}"), "give it at least one"));
        }
        let fingerprint = records.into_source().fingerprint();
        let rows = match large.filter(|_| !in_memory) {
            None => Rows::Memory(fields),
            Some((_, file)) => Rows::File(Index { file: file.clone(), places, stride, row_bytes: (ended - began) / count + 1 }),
        };
        Ok(Self { path: path.to_owned(), form, columns, count, fingerprint, rows, large: large.map(|(_, file)| file.clone()) })
    }

    /// Of a file whose letters are written otherwise: in memory they are written as they are here.
    fn decoded(
        at: RowsAt<'_>,
        encoding: Charset,
        source: impl Read,
        large: Option<(usize, &Arc<dyn LargeFile>)>,
    ) -> Result<Self, Vec<DataError>> {
        let wrong =
            |why: String, help: &str| vec![DataError { message: format!("the data file {} {why}", at.path), help: help.to_owned() }];
        let mut hashed = HashedFile { source, context: digest::Context::new(&digest::SHA256), read: 0 };
        let mut bytes = Vec::new();
        let read = (&mut hashed).take(MEMORY_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|why| wrong(format!("cannot be read: {}", plainly(&why)), "check the path"))?;
        if bytes.len() > MEMORY_BYTES_MAX {
            return Err(wrong(format!("is in {encoding} and larger than 64 MiB"), "save it as UTF-8, and leave its encoding out"));
        }
        let plain = RowsAt { form: RowForm { encoding: None, ..at.form }, ..at };
        let data = Self::read(plain, encoding.decode(&bytes).as_bytes(), None)?;
        Ok(Self { fingerprint: hashed.fingerprint(), large: large.map(|(_, file)| file.clone()), ..data })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// How many rows it has; at least 1.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The names of its columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What it holds, in short: its SHA-256; of a large file that of its beginning, and its length.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The number of a column.
    ///
    /// # Errors
    /// If there is none of that name, with the one that was probably meant.
    pub fn column(&self, name: &str) -> Result<usize, DataError> {
        self.columns.iter().position(|column| column == name).ok_or_else(|| DataError {
            message: format!("the data file {} has no column '{}'", self.path, name.escape_debug()),
            help: match nearest(name, self.columns.iter().map(String::as_str)) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("it has {}", shown(&self.columns)),
            },
        })
    }

    /// The fields of a row.
    ///
    /// # Errors
    /// In words, if it cannot be read any more.
    pub fn row(&self, row: u64) -> Result<Vec<Vec<u8>>, String> {
        let mut fields = Fields::default();
        self.add_row(row, &mut fields)?;
        Ok((0..fields.count()).map(|number| fields.field(number).to_vec()).collect())
    }

    /// Whether rows are in memory.
    pub(crate) const fn is_in_memory(&self) -> bool {
        matches!(self.rows, Rows::Memory(_))
    }

    /// The file itself, where it is not in memory as it is.
    #[must_use]
    pub fn large(&self) -> Option<Arc<dyn LargeFile>> {
        self.large.clone()
    }

    /// A field of a row in memory.
    #[inline]
    pub(crate) fn field(&self, row: u64, column: usize) -> &[u8] {
        match &self.rows {
            Rows::Memory(fields) => fields.field(row as usize * self.columns.len() + column),
            Rows::File(_) => b"",
        }
    }

    /// Adds a row's fields.
    pub(crate) fn add_row(&self, row: u64, into: &mut Fields) -> Result<(), String> {
        match &self.rows {
            Rows::Memory(_) => (0..self.columns.len()).for_each(|column| into.push(self.field(row, column))),
            Rows::File(_) => {
                let mut reader = self.reader();
                reader.read(row, into)?;
            }
        }
        Ok(())
    }

    /// Adds a row that says in each column that there are no more.
    pub(crate) fn add_marks(&self, into: &mut Fields) {
        self.columns.iter().for_each(|_| into.push(END_MARK.as_bytes()));
    }

    /// Reads rows of a large file.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { data: self, at: None }
    }
}

/// More than this in memory is a mistake.
const FIELDS_BYTES_MAX: usize = 1 << 30;

/// Reads rows of a large file, fastest one after the other.
pub(crate) struct Reader<'a> {
    data: &'a Data,
    /// The records, and the row that comes next.
    at: Option<(Records<ReadFrom<'a>>, u64)>,
}

impl Reader<'_> {
    /// Adds the fields of a row.
    pub(crate) fn read(&mut self, row: u64, into: &mut Fields) -> Result<(), String> {
        let Rows::File(index) = &self.data.rows else { return self.data.add_row(row, into) };
        let told = |why: &str| format!("row {} of the data file {} cannot be used: {why}", row + 1, self.data.path);
        let (mut records, mut next) = match self.at.take() {
            // What lies between is read over, unless a place nearer to the row is known.
            Some((records, next)) if next <= row && row - next < index.stride.max(READ_OVER_MAX) => (records, next),
            _ => {
                let place = row / index.stride;
                let offset = index.places[place as usize];
                let sequential = row == 0 || self.data.count <= READ_OVER_MAX;
                let bytes =
                    if sequential { READ_BYTES_MAX } else { (index.row_bytes * (index.stride + 1)).clamp(READ_BYTES_MIN, READ_BYTES_MAX) };
                (Records::new(ReadFrom { file: &*index.file, offset }, self.data.form, offset, bytes as usize), place * index.stride)
            }
        };
        loop {
            let record = match records.next() {
                Ok(Some(record)) => record,
                Ok(None) => return Err(told("the file has become shorter")),
                Err(wrong) => return Err(told(&wrong.why)),
            };
            next += 1;
            if next > row {
                into.add(record.bytes, self.data.form, &self.data.columns).map_err(|why| told(&why))?;
                self.at = Some((records, next));
                return Ok(());
            }
        }
    }
}

/// Up to so many rows are read over rather than looked up.
const READ_OVER_MAX: u64 = 64;
/// The least and the most that is read at once.
const READ_BYTES_MIN: u64 = 4 << 10;
const READ_BYTES_MAX: u64 = 256 << 10;

enum Beginning {
    Wrong(Wrong),
    Empty,
    Columns(String),
}

/// The form of a file and the names of its columns, from its first record.
fn beginning<R: Read>(at: RowsAt<'_>, records: &mut Records<R>) -> Result<(Form, Vec<String>), Beginning> {
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    if records.peek().map_err(Beginning::Wrong)?.starts_with(BYTE_ORDER_MARK) {
        records.skip(BYTE_ORDER_MARK.len());
    }
    let start = records.peek().map_err(Beginning::Wrong)?;
    let ending = at.path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let seems_json = matches!(ending.as_str(), "jsonl" | "ndjson" | "json") || start.trim_ascii_start().first() == Some(&b'{');
    let is_json = seems_json && at.form == RowForm::default();
    if let Some(header) = at.header {
        if is_json {
            return Err(Beginning::Columns("holds JSON lines, which name their columns themselves".to_owned()));
        }
        return named(header, at.form, records);
    }
    if is_json {
        // The names are those of the first object, which is a row as well.
        let line = start.trim_ascii_start();
        if line.is_empty() {
            return Err(Beginning::Empty);
        }
        return first_object(records).map(|columns| (Form::JsonLines, columns));
    }
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    let seen = || Delimiter::byte([b',', b'\t', b';'].into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b','));
    let delimiter = at.form.delimiter.unwrap_or_else(seen);
    let form = Form::csv(delimiter, Names::FirstRecord, at.form);
    records.set_form(form);
    let Some(first) = records.next().map_err(Beginning::Wrong)? else { return Err(Beginning::Empty) };
    let line = first.line;
    let mut names = Fields::default();
    names.add_csv(first.bytes, delimiter, at.form.quotes).map_err(|why| Beginning::Wrong(Wrong { line, why }))?;
    let mut columns: Vec<String> = Vec::new();
    for number in 0..names.count() {
        let Ok(name) = std::str::from_utf8(names.field(number)) else {
            return Err(Beginning::Wrong(Wrong { line, why: "it is not text in UTF-8".to_owned() }));
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(Beginning::Columns(format!("has no name for column {} in its first line", number + 1)));
        }
        if columns.iter().any(|column| column == name) {
            return Err(Beginning::Columns(format!("has two columns '{}'", name.escape_debug())));
        }
        columns.push(name.to_owned());
    }
    Ok((form, columns))
}

const NAMED_ONCE: &str = "name each column of CSV once, as in users(id,name)=users.csv, or leave the names out";

/// The columns of a file that does not name them, by the line that it would have. One that it has all the same is no row, nor is the first
/// where it names them otherwise.
fn named<R: Read>(header: &str, written: RowForm, records: &mut Records<R>) -> Result<(Form, Vec<String>), Beginning> {
    // Of one column alone, the whole line is the field: no line holds this byte.
    let delimiter = written.delimiter.or_else(|| named_delimiter(header)).unwrap_or(Delimiter::byte(0));
    let columns: Vec<String> = header.split(delimiter.as_str()).map(|name| name.trim().to_owned()).collect();
    for (place, name) in columns.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        if columns[..place].contains(name) {
            return Err(Beginning::Columns(format!("has two columns '{}' by their names", name.escape_debug())));
        }
    }
    let form = Form::csv(delimiter, Names::User, written);
    records.set_form(form);
    let start = records.peek().map_err(Beginning::Wrong)?;
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if written.has_header || line.trim_ascii() == header.trim().as_bytes() {
        records.next().map_err(Beginning::Wrong)?;
    }
    Ok((form, columns))
}

/// The names in the first object, which stays to be read.
fn first_object<R: Read>(records: &mut Records<R>) -> Result<Vec<String>, Beginning> {
    let line = records.whole_line().map_err(Beginning::Wrong)?;
    let object = crate::record::object(line.trim_ascii()).map_err(|why| Beginning::Wrong(Wrong { line: 1, why }))?;
    if object.is_empty() {
        return Err(Beginning::Columns("has an empty object in its first line".to_owned()));
    }
    Ok(object.into_iter().map(|(name, _)| name).collect())
}

/// Where the next record begins.
fn records_offset<R: Read>(records: &mut Records<R>) -> Result<u64, Wrong> {
    records.peek()?;
    Ok(records.offset())
}

fn shown(columns: &[String]) -> String {
    const SHOWN_MAX: usize = 12;
    let mut names: Vec<String> = columns.iter().take(SHOWN_MAX).map(|name| name.escape_debug().to_string()).collect();
    if columns.len() > SHOWN_MAX {
        names.push(format!("and {} more", columns.len() - SHOWN_MAX));
    }
    names.join(", ")
}

/// A file whose fingerprint is taken while it is read.
struct HashedFile<R> {
    source: R,
    context: digest::Context,
    read: u64,
}

impl<R> HashedFile<R> {
    fn fingerprint(self) -> String {
        let mut text: String = self.context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        if self.read > FINGERPRINT_BYTES_MAX {
            text += &format!("-{}", self.read);
        }
        text
    }
}

impl<R: Read> Read for HashedFile<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        let left = FINGERPRINT_BYTES_MAX.saturating_sub(self.read);
        self.context.update(&into[..read.min(usize::try_from(left).unwrap_or(usize::MAX))]);
        self.read += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::DataFile;
    use std::fmt::Write as _;
    use std::fs;

    fn opened(name: &str, content: &[u8], memory_bytes_max: usize) -> Result<Data, Vec<DataError>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        Data::open_within(path.to_str().unwrap(), memory_bytes_max)
    }

    fn row(data: &Data, row: u64) -> Vec<String> {
        data.row(row).unwrap().iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    }

    #[test]
    fn a_small_file_is_in_memory() {
        let data = opened("u.csv", b"\xef\xbb\xbfid, name\r\n1,\"a, b\"\r\n2,c\r\n", 1000).unwrap();
        assert_eq!((data.columns(), data.count(), data.is_in_memory()), (&["id".to_owned(), "name".to_owned()][..], 2, true));
        assert_eq!((data.field(0, 1), data.field(1, 0)), (&b"a, b"[..], &b"2"[..]));
        let found = data.column("nmae").unwrap_err();
        assert!(found.help.contains("did you mean 'name'?"), "{found:?}");
    }

    #[test]
    fn rows_of_json_and_of_other_delimiters_are_read() {
        let data = opened("u.jsonl", b"{\"id\":1,\"n\":\"x\"}\n\n{\"n\":\"y\",\"id\":2}\n", 1000).unwrap();
        assert_eq!((data.count(), row(&data, 1)), (2, vec!["2".to_owned(), "y".to_owned()]));
        assert_eq!(opened("u.txt", b"id;a\n1;2\n", 1000).unwrap().columns(), ["id", "a"].map(str::to_owned));
        assert_eq!(opened("u.tsv", b"id\tname\n1\tb c\n", 1000).unwrap().columns(), ["id", "name"].map(str::to_owned));
    }

    #[test]
    fn columns_are_named_where_the_file_does_not() {
        let named = |header: &str, content: &str| {
            Data::of_bytes(RowsAt { header: Some(header), ..RowsAt::from("u.csv") }, content.as_bytes())
                .map_err(|errors| errors[0].message.clone())
        };
        let data = named("id;name", "1;\"a;b\"\n2;c;more\n").unwrap();
        assert_eq!((data.columns().len(), data.count(), row(&data, 0), row(&data, 1)), (2, 2, own(&["1", "a;b"]), own(&["2", "c"])));
        // A line with these names is none of the rows; one without a name is not used, and need not be there.
        let data = named("id,", "id,\n1\n2,x\n").unwrap();
        assert_eq!((data.count(), row(&data, 0), row(&data, 1)), (2, own(&["1", ""]), own(&["2", "x"])));
        assert_eq!(row(&named("line", "a,b;c\n").unwrap(), 0), own(&["a,b;c"]));
        assert_eq!(row(&named("a|b", "1|2\n").unwrap(), 0), own(&["1", "2"]));
        assert!(named("a,b", "1\n").unwrap_err().contains("it has 1 field, and the names of the columns are 2"));
        assert!(named("a,a", "1,2\n").unwrap_err().contains("two columns 'a'"));
        assert!(named("a", "{\"a\": 1}\n").unwrap_err().contains("JSON lines"));
        assert!(named("a", "").unwrap_err().contains("has no rows"));
        // The same of a file that is not in memory.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.csv");
        fs::write(&path, "1,a,x\n2,b\n").unwrap();
        let data = Data::open_within(RowsAt { header: Some("id,name"), ..RowsAt::from(path.to_str().unwrap()) }, 1).unwrap();
        assert!(!data.is_in_memory());
        assert_eq!((row(&data, 0), row(&data, 1)), (own(&["1", "a"]), own(&["2", "b"])));
    }

    #[test]
    fn rows_are_read_as_they_are_said_to_be_written() {
        let read = |text: &str, content: &str| {
            let data = Data::of_bytes(DataFile::parts(text).1, content.as_bytes()).map_err(|errors| errors[0].clone())?;
            Ok::<_, DataError>((data.columns().join(" "), (0..data.count()).map(|number| row(&data, number).join(" ")).collect::<Vec<_>>()))
        };
        let rows = |columns: &str, rows: &[&str]| Ok((columns.to_owned(), own(rows)));
        assert_eq!(read("u(who,years)[header]=u.csv", "name,age\nAnn,30\n"), rows("who years", &["Ann 30"]));
        assert_eq!(read("u[delimiter=%7C]=u.csv", "name|age\nAnn|\"a|b\"\n"), rows("name age", &["Ann a|b"]));
        assert_eq!(read("u(a::b)[delimiter=%3A%3A]=u.csv", "1::2\n:::\n"), rows("a b", &["1 2", " :"]));
        assert_eq!(read("u(a,b)[no-quotes]=u.csv", "\"x,y\"\nIt's 6\",z\n"), rows("a b", &["\"x y\"", "It's 6\" z"]));
        assert_eq!(read("u[uneven]=u.csv", "a,b\n1\n1,2,3\n"), rows("a b", &["1 ", "1 2"]));
        let latin = |held: &[u8]| Data::of_bytes(DataFile::parts("u[encoding=latin1]=u.csv").1, held);
        assert!(latin(b"n\xfc\n\xe4,\n").unwrap_err()[0].message.contains("line 2: it has 2 fields"));
        let data = latin(b"n\xfc\n\xe4\n").unwrap();
        assert_eq!((data.columns(), row(&data, 0)), (&["n\u{fc}".to_owned()][..], own(&["\u{e4}"])));
        let told = read("u=u.csv", "a,b\n1\n").unwrap_err();
        assert!(told.message.contains("line 2: it has 1 field") && told.help.contains("uneven: true"), "{told:?}");
    }

    fn own(fields: &[&str]) -> Vec<String> {
        fields.iter().map(|field| (*field).to_owned()).collect()
    }

    #[test]
    fn a_large_file_is_read_where_its_rows_are() {
        let mut text = "id,name\n".to_owned();
        for number in 0..20_000 {
            writeln!(text, "{number},\"name {number}\nof many\"").unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.csv");
        fs::write(&path, &text).unwrap();
        let data = Data::open_within(path.to_str().unwrap(), 1000).unwrap();
        assert!(!data.is_in_memory() && data.count() == 20_000);
        let mut reader = data.reader();
        for wanted in [0, 1, 2, 19_999, 7, 8, 12_345, 12_344, 0] {
            let mut fields = Fields::default();
            reader.read(wanted, &mut fields).unwrap();
            assert_eq!(fields.field(0), wanted.to_string().as_bytes());
            assert_eq!(row(&data, wanted)[1], format!("name {wanted}\nof many"));
        }
        assert_eq!(data.fingerprint(), Data::open(path.to_str().unwrap()).unwrap().fingerprint());
    }

    #[test]
    fn what_is_no_data_file_is_told() {
        for (name, content, part) in [
            ("a.csv", &b""[..], "is empty"),
            ("a.csv", b"\n\n", "is empty"),
            ("a.jsonl", b"\n", "is empty"),
            ("a.csv", b"id,name\n", "no rows"),
            ("a.csv", b"id,id\n1,2\n", "two columns 'id'"),
            ("a.csv", b"id,\n1,2\n", "no name for column 2"),
            ("a.csv", b"id,name\n1,2\n3\n", "line 3: it has 1 field, and the first line names 2"),
            ("a.csv", b"id,name\n1,\"2\n3,4\n", "line 2: a quotation mark opens in it that is never closed"),
            ("a.csv", b"\x7fELF\x01\x00\x00", "NUL byte"),
            ("a.jsonl", b"{\"a\":1}\n{\"b\":1}\n", "line 2: it has no 'a'"),
            ("a.jsonl", b"{\"a\":1}\n{\"a\":", "line 2: it is no JSON object"),
            ("a.json", b"[1,2]", "it is no JSON object"),
        ] {
            let errors = opened(name, content, 1000).unwrap_err();
            assert!(errors[0].message.contains(part), "{content:?}: {errors:?}");
        }
        assert!(Data::open("/nowhere/a.csv").unwrap_err()[0].message.contains("cannot be read"));
        assert!(Data::open("/tmp").unwrap_err()[0].message.contains("is a directory"));
        let ragged = format!("id,name\n{}", "1\n".repeat(50));
        assert_eq!(opened("a.csv", ragged.as_bytes(), 1000).unwrap_err().len(), MISTAKES_MAX);
    }
}
