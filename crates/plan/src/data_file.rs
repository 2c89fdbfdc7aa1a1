//! A data file as it is named: what templates call it, where it is, what its columns are called, and how its rows are written.
//!
//! It is one text on a command line and in a saved plan: `users=people.csv`, `users(id,name)=people.csv`, and with what is rare between
//! brackets: `users(id,name)[header,delimiter=%7C%7C]=people.csv`. A scenario has keys for the same.

use std::fmt;
use std::str::FromStr;

use crate::setting::DATA_FILE;
use crate::{Charset, DataEnd, PlanError, percent_decoded, percent_encoded};

/// A file with rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFile {
    /// How templates call it.
    pub name: String,
    /// The line with the names of its columns that it does not have, such as `id,name`; the names stand between the same sign as its fields.
    pub header: Option<String>,
    /// How its rows are written.
    pub form: RowForm,
    /// Who takes its rows one after the other.
    pub rows_for: RowsFor,
    /// What happens after its last row; `None`: the same as with the other files.
    pub end: Option<DataEnd>,
    /// Where it is.
    pub path: String,
    /// What it held when the plan was made; `None` where nobody looked.
    pub sha256: Option<String>,
}

/// Who takes the rows of a file one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowsFor {
    /// All users together: no two have the same row.
    #[default]
    AllUsers,
    /// Those of each population together, from the first row on.
    EachPopulation,
    /// Each user by itself, from the first row on.
    EachUser,
}

/// Where rows are, and what their columns are called where the file does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsAt<'a> {
    /// The file.
    pub path: &'a str,
    /// The line with the names that it does not have.
    pub header: Option<&'a str>,
    /// How its rows are written.
    pub form: RowForm,
}

/// How the rows of CSV are written, where that is not seen in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowForm {
    /// Whether its first line names its columns, though they are called otherwise.
    pub has_header: bool,
    /// What stands between two fields; `None`: what the first line or the names of the columns show.
    pub delimiter: Option<Delimiter>,
    /// Whether a field may stand in quotation marks; else they are signs like any other.
    pub quotes: bool,
    /// Whether a row may have fewer fields than there are columns, or more.
    pub uneven: bool,
    /// How its letters are written; `None`: as UTF-8.
    pub encoding: Option<Charset>,
}

impl Default for RowForm {
    fn default() -> Self {
        Self { has_header: false, delimiter: None, quotes: true, uneven: false, encoding: None }
    }
}

/// What stands between two fields: a sign, or some.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Delimiter {
    bytes: [u8; Self::BYTES_MAX],
    length: u8,
}

impl Delimiter {
    /// It has so many bytes at most.
    pub const BYTES_MAX: usize = 8;

    /// A sign of one byte.
    #[must_use]
    pub const fn byte(byte: u8) -> Self {
        let mut bytes = [0; Self::BYTES_MAX];
        bytes[0] = byte;
        Self { bytes, length: 1 }
    }

    /// Its bytes; at least one.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length.into()]
    }

    /// It as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut bytes = [0; Self::BYTES_MAX];
        let is_one = !text.is_empty() && text.len() <= Self::BYTES_MAX && !text.contains(['\n', '\r', '"', '\0']);
        if !is_one {
            return Err(format!("'{}' cannot stand between fields", text.escape_debug()));
        }
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Self { bytes, length: text.len() as u8 })
    }
}

impl fmt::Debug for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// What a delimiter may be, in words that complete "write".
pub const DELIMITER_HELP: &str = "one sign or some, such as | or \"\\t\", without quotation marks and line breaks";

impl<'a> From<&'a str> for RowsAt<'a> {
    fn from(path: &'a str) -> Self {
        Self { path, header: None, form: RowForm::default() }
    }
}

impl<'a> From<&'a String> for RowsAt<'a> {
    fn from(path: &'a String) -> Self {
        path.as_str().into()
    }
}

impl<'a> From<&'a DataFile> for RowsAt<'a> {
    fn from(file: &'a DataFile) -> Self {
        Self { path: &file.path, header: file.header.as_deref(), form: file.form }
    }
}

/// What is between the brackets of a data file, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Options<'a>(&'a str);

impl Options<'_> {
    /// How its rows are written, who takes them, and what happens after the last one.
    ///
    /// # Errors
    /// In words, for a word that means nothing here.
    fn read(self) -> Result<(RowForm, RowsFor, Option<DataEnd>), String> {
        let (mut form, mut rows_for, mut end) = (RowForm::default(), RowsFor::default(), None);
        for option in self.0.split(',').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                None if option == "header" => form.has_header = true,
                None if option == "no-quotes" => form.quotes = false,
                None if option == "uneven" => form.uneven = true,
                Some(("delimiter", text)) => form.delimiter = Some(percent_decoded(text).parse()?),
                Some(("encoding", text)) => form.encoding = Charset::named(text)?,
                Some(("for", "population")) => rows_for = RowsFor::EachPopulation,
                Some(("for", "user")) => rows_for = RowsFor::EachUser,
                Some(("end", text)) => end = Some(text.parse()?),
                _ => return Err(format!("'{}' says nothing about rows", option.escape_debug())),
            }
        }
        Ok((form, rows_for, end))
    }
}

/// What is typed for a data file, in its parts.
struct Parts<'a> {
    name: Option<&'a str>,
    header: Option<&'a str>,
    options: Options<'a>,
    path: &'a str,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let whole = Self { name: None, header: None, options: Options::default(), path: text };
        let end = text.find(|letter| !is_name_letter(letter)).unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        let (mut header, mut options) = (None, Options::default());
        if let Some(after) = rest.strip_prefix('(') {
            let Some(close) = after.find(")=").into_iter().chain(after.find(")[")).min() else { return whole };
            (header, rest) = (Some(&after[..close]), &after[close + 1..]);
        }
        if let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once("]=")) {
            options = Options(inside);
            rest = &rest[rest.len() - after.len() - 1..];
        }
        let path = rest.strip_prefix('=').unwrap_or_default();
        if name.is_empty() || path.is_empty() { whole } else { Self { name: Some(name), header, options, path } }
    }
}

impl DataFile {
    /// One that is called so and names its columns itself.
    #[must_use]
    pub fn of(name: &str, path: &str) -> Self {
        let (form, rows_for) = (RowForm::default(), RowsFor::default());
        Self { name: name.to_owned(), header: None, form, rows_for, end: None, path: path.to_owned(), sha256: None }
    }

    /// Reads `users.csv`, `NAME=users.csv`, or `NAME(id,name)=users.csv`.
    ///
    /// # Errors
    /// If it gives no name that can stand in a template.
    pub fn named(text: &str) -> Result<Self, PlanError> {
        let Parts { name, header, options, path } = Parts::of(text);
        if header.is_some_and(|header| header.chars().all(|letter| !letter.is_alphanumeric())) {
            let message = format!("{DATA_FILE:#} '{text}' names no columns between its parentheses");
            return Err(PlanError::new(DATA_FILE, message, "write their names there, as in users(id,name)=users.csv"));
        }
        let (form, rows_for, end) = options.read().map_err(|why| {
            let help = "between brackets stand header, delimiter=SIGN, no-quotes, uneven, encoding=NAME, for=user or for=population, and end=WORD, as in users(id,name)[header]=users.csv";
            PlanError::new(DATA_FILE, format!("{DATA_FILE:#} '{text}': {why}"), help)
        })?;
        if let Some(name) = name {
            return Ok(Self { header: header.map(str::to_owned), form, rows_for, end, ..Self::of(name, path) });
        }
        let name = Self::name_of(path);
        if Self::is_name(name) {
            return Ok(Self::of(name, text));
        }
        let message = format!("{DATA_FILE:#} '{text}' has no name that can stand in a template");
        Err(PlanError::new(DATA_FILE, message, format!("give it one of letters, digits, - and _, as in users={text}")))
    }

    /// What a file is called that is given no name: as it is in its folder, up to the first point.
    #[must_use]
    pub fn name_of(path: &str) -> &str {
        path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default()
    }

    /// Whether a file can be called so in a template.
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        !text.is_empty() && text.chars().all(is_name_letter)
    }

    /// What is typed for a data file, as the name if it gives one, and where its rows are: `users=people.csv`, `users(id,name)=people.csv`,
    /// or `people.csv` alone.
    #[must_use]
    pub fn parts(text: &str) -> (Option<&str>, RowsAt<'_>) {
        let Parts { name, header, options, path } = Parts::of(text);
        // What is wrong between the brackets is told when the plan is decided.
        (name, RowsAt { path, header, form: options.read().unwrap_or_default().0 })
    }

    /// The names of its columns that it does not have, with what stands between its fields; nothing if it has them itself.
    #[must_use]
    pub fn columns(&self) -> Option<(Vec<&str>, Delimiter)> {
        let header = self.header.as_deref()?;
        let sign = match self.form.delimiter {
            Some(delimiter) => delimiter,
            None => named_delimiter(header)?,
        };
        // The sign behind a single name says that fields are cut there at all.
        let only = header.strip_suffix(sign.as_str()).filter(|only| !only.contains(sign.as_str()));
        let names = only.map_or_else(|| header.split(sign.as_str()).map(str::trim).collect(), |only| vec![only.trim()]);
        Some((names, sign))
    }

    /// Gives its columns these names, which it does not have; it has `form.delimiter` between its fields, or commas.
    ///
    /// # Errors
    /// The first name that cannot be one.
    pub fn name_columns(&mut self, columns: &[&str]) -> Result<(), String> {
        let sign = self.form.delimiter.unwrap_or(Delimiter::byte(b','));
        let is_odd = |column: &&&str| column.contains([')', '\n', '\r']) || column.contains(sign.as_str());
        if let Some(odd) = columns.iter().find(is_odd) {
            return Err((*odd).to_owned());
        }
        let single = if columns.len() == 1 { sign.as_str() } else { "" };
        let line = columns.join(sign.as_str()) + single;
        self.form.delimiter = if named_delimiter(&line) == Some(sign) { None } else { Some(sign) };
        self.header = Some(line);
        Ok(())
    }
}

/// What stands between the names of columns: the sign that is seen there most often; nothing of a single name.
#[must_use]
pub fn named_delimiter(header: &str) -> Option<Delimiter> {
    let count = |sign: &u8| header.bytes().filter(|byte| byte == sign).count();
    b",;\t|:^~#".iter().rev().filter(|sign| count(sign) > 0).max_by_key(|sign| count(sign)).copied().map(Delimiter::byte)
}

fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-".contains(letter)
}

/// As it would be typed.
impl fmt::Display for DataFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, header, form, rows_for, end, path, sha256: _ } = self;
        f.write_str(name)?;
        if let Some(header) = header {
            write!(f, "({header})")?;
        }
        let rows_for = match rows_for {
            RowsFor::AllUsers => None,
            RowsFor::EachPopulation => Some("for=population".to_owned()),
            RowsFor::EachUser => Some("for=user".to_owned()),
        };
        let form = Some(form.to_string()).filter(|form| !form.is_empty());
        let options: Vec<String> = form.into_iter().chain(rows_for).chain(end.map(|end| format!("end={end}"))).collect();
        if !options.is_empty() {
            write!(f, "[{}]", options.join(","))?;
        }
        write!(f, "={path}")
    }
}

/// As it stands between brackets.
impl fmt::Display for RowForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { has_header, delimiter, quotes, uneven, encoding } = *self;
        let words = [has_header.then_some("header"), (!quotes).then_some("no-quotes"), uneven.then_some("uneven")];
        let mut options: Vec<String> = words.into_iter().flatten().map(str::to_owned).collect();
        options.extend(delimiter.map(|delimiter| format!("delimiter={}", percent_encoded(delimiter.as_str()))));
        options.extend(encoding.map(|encoding| format!("encoding={encoding}")));
        f.write_str(&options.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spelling;

    #[test]
    fn a_data_file_is_called_by_its_name() {
        let name = |text: &str| DataFile::named(text).map(|file| (file.name, file.path)).map_err(|error| error.help.spelt(Spelling::Flags));
        assert_eq!(name("x/users.csv"), Ok(("users".to_owned(), "x/users.csv".to_owned())));
        assert_eq!(name("u=a b.csv"), Ok(("u".to_owned(), "a b.csv".to_owned())));
        assert!(name("a b.csv").unwrap_err().contains("users=a b.csv"));
        let with_columns = DataFile::named("u(id;first name)=x/a=b.csv").unwrap();
        assert_eq!((with_columns.header.as_deref(), with_columns.path.as_str()), (Some("id;first name"), "x/a=b.csv"));
        assert_eq!(with_columns.to_string(), "u(id;first name)=x/a=b.csv");
        assert!(name("u( ,)=a.csv").unwrap_err().contains("users(id,name)"));
        assert_eq!(name("u=a(b)=c.csv"), Ok(("u".to_owned(), "a(b)=c.csv".to_owned())));
    }

    #[test]
    fn how_rows_are_written_stands_between_brackets_and_is_read_back() {
        for text in [
            "u(id,name)[header]=x.csv",
            "u[delimiter=%7C%7C]=x.csv",
            "u(a,b)[header,no-quotes,uneven,delimiter=%2C]=x[1]=y.csv",
            "u=x[header]=y.csv",
            "u[for=user,end=stop-user]=y.csv",
            "u(a,b)[uneven,for=population]=y.csv",
            "u[end=mark]=y.csv",
            "u[header,encoding=windows-1252]=y.csv",
        ] {
            assert_eq!(DataFile::named(text).unwrap().to_string(), text);
        }
        let file = DataFile::named("u(a||b)[no-quotes,delimiter=%7C%7C]=x.csv").unwrap();
        let form = RowForm { delimiter: Some("||".parse().unwrap()), quotes: false, ..RowForm::default() };
        assert_eq!((file.form, file.columns()), (form, Some((vec!["a", "b"], form.delimiter.unwrap()))));
        assert_eq!(DataFile::parts("u(a||b)[no-quotes,delimiter=%7C%7C]=x.csv").1, RowsAt::from(&file));
        for (wrong, told) in [
            ("u[heather]=x.csv", "'heather' says nothing"),
            ("u[delimiter=%22]=x.csv", "cannot stand between"),
            ("u[encoding=no]=x.csv", "no encoding is called 'no'"),
        ] {
            let error = DataFile::named(wrong).unwrap_err();
            assert!(error.message.spelt(Spelling::Flags).contains(told), "{wrong}: {error:?}");
            assert!(error.help.spelt(Spelling::Flags).contains("[header]"));
        }
        for (text, columns) in [("u(a,b)=x", Some("a b,")), ("u(a;)=x", Some("a;")), ("u(a)=x", None), ("u=x", None)] {
            let file = DataFile::named(text).unwrap();
            let shown = file.columns().map(|(columns, sign)| columns.join(" ") + sign.as_str());
            assert_eq!(shown.as_deref(), columns, "{text}");
        }
    }

    #[test]
    fn columns_are_named_with_what_stands_between_them() {
        let named = |delimiter: Option<&str>, columns: &[&str]| {
            let mut file = DataFile::named("u=x").unwrap();
            file.form.delimiter = delimiter.map(|sign| sign.parse().unwrap());
            file.name_columns(columns).map(|()| file.to_string())
        };
        assert_eq!(named(None, &["id", "name"]).as_deref(), Ok("u(id,name)=x"));
        assert_eq!(named(Some("|"), &["id"]).as_deref(), Ok("u(id|)=x"));
        assert_eq!(named(Some("::"), &["id", "name"]).as_deref(), Ok("u(id::name)[delimiter=%3A%3A]=x"));
        assert_eq!(named(None, &["a:b:c", "d"]).as_deref(), Ok("u(a:b:c,d)[delimiter=%2C]=x"));
        assert_eq!(named(None, &["a", "b)"]), Err("b)".to_owned()));
    }
}
