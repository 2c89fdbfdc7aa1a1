//! Bodies of requests: forms, uploads, JSON.
//!
//! A body is written into a buffer that is there already, for every request of a user. Its length must be known before its first
//! byte is sent, as `Content-Length` stands in the head; chunked uploads would need no length, but many servers refuse them.
//!
//! Invariant: whatever stands in names and values, what is written is read back as the same names and values.

use std::fmt;

use plan::multipart;
use plan::template::Mistake;

/// Appends `application/x-www-form-urlencoded` as browsers write it: `a=1&b=x+y` (WHATWG URL §5.2).
pub fn write_form<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>, out: &mut Vec<u8>) {
    for (number, (name, value)) in fields.into_iter().enumerate() {
        if number > 0 {
            out.push(b'&');
        }
        write_form_text(name, out);
        out.push(b'=');
        write_form_text(value, out);
    }
}

/// Appends one name or value of a form: blanks as `+`, and everything but letters, digits and `*-._` in percent signs.
pub fn write_form_text(text: &str, out: &mut Vec<u8>) {
    url::form_urlencoded::byte_serialize(text.as_bytes()).for_each(|piece| out.extend_from_slice(piece.as_bytes()));
}

/// A field or a file of a form. Printing shows no value, which may be a password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// The field's name.
    pub name: &'a str,
    /// Its value or the file's bytes.
    pub value: &'a [u8],
    /// What makes it a file.
    pub file: Option<File<'a>>,
    /// Further headers of its part, in order.
    pub headers: &'a [(String, String)],
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.name, self.value.len())
    }
}

/// What a form says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// Its name without folders.
    pub name: &'a str,
    /// Its media type: `application/octet-stream` if not known.
    pub media_type: &'a str,
}

const FORM_TYPE: &str = "multipart/form-data";

/// What stands between the parts of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary(String);

impl Boundary {
    /// 128 bits of chance: that one of the parts holds it by accident need not be feared.
    #[must_use]
    pub fn new(chance: [u8; 16]) -> Self {
        Self(format!("loadline-{:032x}", u128::from_be_bytes(chance)))
    }

    /// The value of `Content-Type`.
    #[must_use]
    pub fn content_type(&self) -> String {
        format!("{FORM_TYPE}; boundary={}", self.0)
    }

    /// The same of a form whose type is said, and no boundary in it: `multipart/form-data; charset=UTF-8`. `None` of any other type.
    #[must_use]
    pub fn content_type_of(&self, said: &str) -> Option<String> {
        let (kind, parameters) = said.split_at(said.find(';').unwrap_or(said.len()));
        let is_open = kind.trim().eq_ignore_ascii_case(FORM_TYPE) && !parameters.to_ascii_lowercase().contains("boundary=");
        is_open.then(|| format!("{}{parameters}", self.content_type()))
    }

    /// How many bytes [`write`](Self::write) will append, without copying the parts.
    #[must_use]
    pub fn length(&self, parts: &[Part<'_>]) -> usize {
        let mut bytes = 0;
        self.each_piece(parts, &mut |piece| bytes += piece.len());
        bytes
    }

    /// Appends `multipart/form-data` (RFC 7578).
    pub fn write(&self, parts: &[Part<'_>], out: &mut Vec<u8>) {
        self.each_piece(parts, &mut |piece| out.extend_from_slice(piece));
    }

    fn each_piece(&self, parts: &[Part<'_>], piece: &mut dyn FnMut(&[u8])) {
        let parts = parts.iter().map(|Part { name, value, file, headers }| multipart::Part {
            name,
            value,
            file_name: file.map(|file| file.name),
            media_type: file.map(|file| file.media_type),
            headers,
        });
        multipart::each_piece(&self.0, parts, piece);
    }
}

/// Whether a text is JSON.
///
/// # Errors
/// Where it is not, and why.
pub fn json(text: &str) -> Result<(), Mistake> {
    let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) else { return Ok(()) };
    // Lines and columns are counted in bytes, from 1; a mistake at the end stands before what is missing.
    let line_at = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let mut at = (line_at + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    Err(Mistake {
        at: if error.is_eof() { text.len() } else { at },
        length: if error.is_eof() { 0 } else { length },
        message: format!("this is not JSON: {message}"),
        help: "write names and texts in double quotes, and no comma after the last one; a body that is no JSON belongs under `body`".into(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn form(fields: &[(&str, &str)]) -> String {
        let mut out = Vec::new();
        write_form(fields.iter().copied(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn forms_are_encoded_as_browsers_do() {
        let cases: [(&[(&str, &str)], &str); 5] = [
            (&[], ""),
            (&[("a", "1"), ("b", "x y")], "a=1&b=x+y"),
            (&[("a&b", "c=d+e")], "a%26b=c%3Dd%2Be"),
            (&[("", ""), ("~*-._", "ä\r\n")], "=&%7E*-._=%C3%A4%0D%0A"),
            (&[("k", "\0%")], "k=%00%25"),
        ];
        for (fields, expected) in cases {
            assert_eq!(form(fields), expected);
        }
    }

    #[test]
    fn an_upload_is_written_as_browsers_do() {
        let boundary = Boundary::new([0xab; 16]);
        let headers = [("X-A".to_owned(), "1\r\n2".to_owned())];
        let file = File { name: "a\"b.png", media_type: "image/png\r\nX: y" };
        let parts = [
            Part { name: "title", value: b"A \"b\"", file: None, headers: &[] },
            Part { name: "up\"load\r\n", value: b"\0\xff\r\n--", file: Some(file), headers: &headers },
        ];
        let mut out = Vec::new();
        boundary.write(&parts, &mut out);
        let line = format!("--loadline-{}", "ab".repeat(16));
        let expected = [
            line.as_bytes(),
            b"\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA \"b\"\r\n",
            line.as_bytes(),
            b"\r\nContent-Disposition: form-data; name=\"up%22load%0D%0A\"; filename=\"a%22b.png\"\r\nContent-Type: image/pngX: y\r\nX-A: 12\r\n\r\n",
            b"\0\xff\r\n--\r\n",
            line.as_bytes(),
            b"--\r\n",
        ]
        .concat();
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&expected));
        assert_eq!(boundary.length(&parts), out.len());
        assert_eq!(boundary.content_type(), format!("multipart/form-data; boundary=loadline-{}", "ab".repeat(16)));
        assert!(boundary.0.len() <= 70, "RFC 2046 §5.1.1");
        let charset = format!("{}; charset=UTF-8", boundary.content_type());
        assert_eq!(boundary.content_type_of("multipart/form-data; charset=UTF-8"), Some(charset));
        assert_eq!(["multipart/form-data; boundary=b", "text/plain"].map(|said| boundary.content_type_of(said)), [None, None]);
    }

    #[test]
    fn a_mistake_in_json_is_shown_at_its_place() {
        let cases = [
            ("{\"a\": 1,}", 8, 1, "this is not JSON: key must be a string"),
            ("{\"a\": ", 6, 0, "this is not JSON: EOF while parsing a value"),
            ("{\n  a: 1\n}", 4, 1, "this is not JSON: key must be a string"),
            ("", 0, 0, "this is not JSON: EOF while parsing a value"),
            ("{} x", 3, 1, "this is not JSON: trailing characters"),
        ];
        for (text, at, length, message) in cases {
            let mistake = json(text).unwrap_err();
            assert_eq!((mistake.at, mistake.length, mistake.message.as_str()), (at, length, message), "{text}");
        }
        for text in ["{}", " [1, \"ä\", null] ", "\"text\"", "1"] {
            assert_eq!(json(text), Ok(()));
        }
        assert_eq!(json(&"[".repeat(100_000)).unwrap_err().at, 100_000, "however deep it is");
    }

    /// Name, file's name and media type, value.
    type ReadPart = (String, Option<(String, String)>, Vec<u8>);

    /// Reads a form back by the words of RFC 7578 and 2046 alone.
    fn read_back(body: &[u8], content_type: &str) -> Vec<ReadPart> {
        let boundary = content_type.split_once("boundary=").unwrap().1;
        // A delimiter begins a line; the line break before it is its own.
        let body = [b"\r\n", body].concat();
        let delimiter = format!("\r\n--{boundary}");
        let places: Vec<usize> = memchr::memmem::find_iter(&body, delimiter.as_bytes()).collect();
        let last = *places.last().unwrap();
        assert!(body[last + delimiter.len()..].starts_with(b"--\r\n"));
        let quoted = |line: &str, name: &str| {
            let (_, after) = line.split_once(&format!(" {name}=\""))?;
            let text = &after[..after.find('"')?];
            Some(text.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n"))
        };
        places
            .windows(2)
            .map(|ends| {
                let part = &body[ends[0] + delimiter.len() + 2..ends[1]];
                let head_ends = memchr::memmem::find(part, b"\r\n\r\n").unwrap();
                let head = std::str::from_utf8(&part[..head_ends]).unwrap();
                let mut lines = head.split("\r\n");
                let disposition = lines.next().unwrap();
                let media_type = lines.next().map(|line| line.strip_prefix("Content-Type: ").unwrap().to_owned());
                let file = quoted(disposition, "filename").map(|name| (name, media_type.unwrap()));
                (quoted(disposition, "name").unwrap(), file, part[head_ends + 4..].to_vec())
            })
            .collect()
    }

    proptest! {
        #[test]
        fn a_form_is_read_back_as_it_was_written(fields in proptest::collection::vec(("\\PC*|[\\x00-\\x7f]{0,20}", any::<String>()), 0..5)) {
            let pairs: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let read: Vec<(String, String)> = url::form_urlencoded::parse(form(&pairs).as_bytes()).into_owned().collect();
            // An empty name with an empty value is nothing, to those who read forms.
            let written: Vec<(String, String)> = fields.clone();
            prop_assert_eq!(read, written);
        }

        #[test]
        fn an_upload_is_read_back_by_somebody_else(
            fields in proptest::collection::vec(
                ("[^%\\x00]{0,12}", proptest::collection::vec(any::<u8>(), 0..60), proptest::option::of(("[^%\\x00]{0,12}", "[a-z]{1,9}/[a-z.+-]{1,9}"))),
                0..5,
            ),
            chance: [u8; 16],
        ) {
            let boundary = Boundary::new(chance);
            let parts: Vec<Part<'_>> = fields
                .iter()
                .map(|(name, value, file)| Part {
                    name,
                    value,
                    file: file.as_ref().map(|(name, media_type)| File { name, media_type }),
                    headers: &[],
                })
                .collect();
            let mut out = Vec::new();
            boundary.write(&parts, &mut out);
            prop_assert_eq!(boundary.length(&parts), out.len());
            let expected: Vec<_> = fields.iter().map(|(name, value, file)| (name.clone(), file.clone(), value.clone())).collect();
            prop_assert_eq!(read_back(&out, &boundary.content_type()), expected);
        }
    }
}
