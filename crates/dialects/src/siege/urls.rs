//! siege's list of URLs: one a line, with variables, bodies and comments.
//!
//! The original passes over what it cannot read and sends whatever is left. Here a line that is no URL ends reading with its number,
//! since a list of which half is silently skipped measures something nobody asked for.

use engine::body::BYTES_MAX;
use import::collection::urls::{self, Data, Line};
use plan::plainly;

use crate::host::Files;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub method: String,
    pub target: plan::Target,
    /// As it is shown.
    pub url: String,
    pub body: Vec<u8>,
}

/// Reads a whole list.
///
/// # Errors
/// With the number of the line.
pub fn read(text: &str, files: &dyn Files) -> Result<Vec<Entry>, String> {
    urls::lines(text)
        .map(|(number, line)| line.and_then(|line| with_body(line, files)).map_err(|why| format!("line {number}: {why}")))
        .collect()
}

/// What stood on the command line.
///
/// # Errors
/// In words.
pub fn entry(line: &str, files: &dyn Files) -> Result<Entry, String> {
    urls::line(line).and_then(|line| with_body(line, files))
}

/// A line with what its file holds.
fn with_body(line: Line, files: &dyn Files) -> Result<Entry, String> {
    let Line { method, url, target, data } = line;
    let body = match data {
        Data::None => Vec::new(),
        Data::Text(text) => text.into_bytes(),
        Data::File(path) => {
            let held = files.read(&path, BYTES_MAX).map_err(|why| format!("'{path}' cannot be read: {}", plainly(&why)))?;
            if is_text(&path) { held.trim_ascii_end().to_vec() } else { held }
        }
    };
    Ok(Entry { method, target, url, body })
}

/// Whether siege takes a file for text by its name: it sends such a one without the blanks at its end.
fn is_text(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_none_or(|(_, ending)| ["txt", "html", "htm", "xml", "csv"].contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFiles;

    fn told(text: &str) -> Vec<String> {
        let one = |entry: Entry| format!("{} {} <{}>", entry.method, entry.url, String::from_utf8_lossy(&entry.body));
        read(text, &MemoryFiles::new(&[])).unwrap().into_iter().map(one).collect()
    }

    #[test]
    fn a_list_has_urls_variables_and_bodies() {
        let text = "# all of them\nHOST = h:81\nPATH=/a\nBASE=http://$(HOST)${PATH}\n\n$(BASE)/1\nh/2?x=\\$5&y=$z\n${BASE} POST a=1&b=two words\n\
                    https://h/3 PUT {\"a\":1}\nh DELETE\nh/5 HEAD\n";
        assert_eq!(
            told(text),
            [
                "GET http://h:81/a/1 <>",
                "GET http://h/2?x=$5&y=$z <>",
                "POST http://h:81/a <a=1&b=two words>",
                "PUT https://h/3 <{\"a\":1}>",
                "DELETE http://h <>",
                "HEAD http://h/5 <>",
            ]
        );
    }

    #[test]
    fn bodies_come_from_files_and_blanks_at_the_end_of_texts_are_not_sent() {
        let sent_of = [("b.json", "{}", "{}"), ("a.txt", "x\ny \n", "x\ny"), ("a", "x\ny \n", "x\ny"), ("a.xml", "x\ny \n", "x\ny")];
        for (name, held, sent) in sent_of.into_iter().chain([("a.json", "x\ny \n", "x\ny \n"), ("a.bin", "x\ny \n", "x\ny \n")]) {
            let files = MemoryFiles::new(&[(name, held)]);
            let body = entry(&format!("http://h/ POST <{name}"), &files).unwrap().body;
            assert_eq!(String::from_utf8(body).unwrap(), sent, "{name}");
        }
    }

    #[test]
    fn mistakes_have_the_number_of_their_line() {
        for (text, part) in [
            ("h/1\n\nftp://h/x", "line 3: 'ftp://h/x' has the scheme 'ftp'"),
            ("h/$(NOPE)", "line 1: the variable 'NOPE' has no value"),
            ("A=1\nh/$(A", "line 2: a variable is not closed with ')'"),
            ("h/ FETCH x", "line 1: 'FETCH' behind the URL is none of POST"),
            ("h/ POST </no/such/file", "line 1: '/no/such/file' cannot be read"),
        ] {
            let why = read(text, &MemoryFiles::new(&[])).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }
}
