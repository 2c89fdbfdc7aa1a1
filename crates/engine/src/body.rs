//! The bytes of a request's body, encoded before the run.
//!
//! A form encoded for every request measures the encoder. So it is encoded once, into the bytes that every request sends. What its files
//! hold is in the plan, which is the same wherever it is carried out.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

use plan::multipart::{self, Part};
use plan::setting::SEED;
use plan::{Body, Contents, FormPart, FormValue};

use crate::RunError;

/// What follows the head of every request.
///
/// # Errors
/// For every file that was not read, and if a form's boundary stands in one of its parts.
pub fn encode(body: &Body, contents: &Contents) -> Result<Vec<u8>, RunError> {
    match body {
        Body::Empty => Ok(Vec::new()),
        Body::Bytes(bytes) => Ok(bytes.clone()),
        Body::File(path) => contents.get(path).map(|bytes| bytes.to_vec()).ok_or_else(|| unread("the body ", path)),
        Body::Form { boundary, parts } => form(boundary, parts, contents),
    }
}

/// A body stands in memory whole.
pub const BYTES_MAX: u64 = 1 << 30;

/// All that can be read, up to so many bytes, a number of MiB.
///
/// # Errors
/// If it cannot be read, or is more.
pub fn all(from: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let most = if bytes_max.is_multiple_of(1 << 30) { format!("{} GiB", bytes_max >> 30) } else { format!("{} MiB", bytes_max >> 20) };
        return Err(io::Error::other(format!("it is larger than {most}")));
    }
    Ok(bytes)
}

fn unread(what: &str, path: &str) -> RunError {
    RunError::input(format!("{what}{path} was not read when the plan was made"), "name a readable file after the @")
}

/// `multipart/form-data` (RFC 7578).
fn form(boundary: &str, parts: &[FormPart], contents: &Contents) -> Result<Vec<u8>, RunError> {
    let mut errors = Vec::new();
    let mut all = Vec::new();
    for FormPart { name, value } in parts {
        let part = match value {
            FormValue::Text(text) => Part { name, value: text.as_bytes(), file_name: None, media_type: None, headers: &[] },
            FormValue::File { path, media_type } => {
                let Some(bytes) = contents.get(path) else {
                    errors.push(unread(&format!("the form's file {name}=@"), path));
                    continue;
                };
                let base = Path::new(path).file_name().and_then(OsStr::to_str).unwrap_or(path);
                Part { name, value: bytes, file_name: Some(base), media_type: Some(media_type), headers: &[] }
            }
        };
        if contains(part.value, boundary.as_bytes()) {
            errors.push(RunError::input(
                format!("the form's field {name} contains the boundary {boundary} between fields"),
                format!("give another {SEED}: the boundary is drawn from it"),
            ));
        }
        all.push(part);
    }
    let mut encoded = Vec::new();
    multipart::each_piece(boundary, all, &mut |piece| encoded.extend_from_slice(piece));
    RunError::together(errors).map_or(Ok(encoded), Err)
}

fn contains(bytes: &[u8], sought: &[u8]) -> bool {
    bytes.windows(sought.len().max(1)).any(|window| window == sought)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_end_is_not_read_to_its_end() {
        assert_eq!(all(io::repeat(b'a'), 3 << 20).unwrap_err().to_string(), "it is larger than 3 MiB");
        assert_eq!(all(&b"abc"[..], 3).unwrap(), b"abc");
    }

    fn text(name: &str, value: &str) -> FormPart {
        FormPart { name: name.to_owned(), value: FormValue::Text(value.to_owned()) }
    }

    fn file(name: &str, path: &str) -> FormPart {
        let value = FormValue::File { path: path.to_owned(), media_type: "text/plain".to_owned() };
        FormPart { name: name.to_owned(), value }
    }

    fn form_of(parts: Vec<FormPart>) -> Body {
        Body::Form { boundary: "BOUNDARY".to_owned(), parts }
    }

    fn holding(path: &str, bytes: &[u8]) -> Contents {
        let mut contents = Contents::default();
        contents.insert(path, bytes);
        contents
    }

    #[test]
    fn a_form_is_encoded_as_browsers_do() {
        let path = "uploads/a \"b\".txt";
        let encoded = encode(&form_of(vec![text("name", "value"), file("upload", path)]), &holding(path, b"\x00line\r\n")).unwrap();
        assert_eq!(
            String::from_utf8(encoded).unwrap(),
            "--BOUNDARY\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nvalue\r\n\
             --BOUNDARY\r\nContent-Disposition: form-data; name=\"upload\"; filename=\"a %22b%22.txt\"\r\nContent-Type: text/plain\r\n\r\n\
             \0line\r\n\r\n--BOUNDARY--\r\n"
        );
    }

    #[test]
    fn a_file_is_sent_byte_for_byte() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(encode(&Body::File("body".to_owned()), &holding("body", &bytes)).unwrap(), bytes);
        assert_eq!(encode(&Body::Bytes(b"{}".to_vec()), &Contents::default()).unwrap(), b"{}");
        assert!(encode(&Body::Empty, &Contents::default()).unwrap().is_empty());
    }

    #[test]
    fn every_file_that_was_not_read_is_named() {
        let error = encode(&Body::File("body.json".to_owned()), &Contents::default()).unwrap_err();
        assert_eq!(
            error.spelt(plan::Spelling::Flags),
            "error: the body body.json was not read when the plan was made\n  help: name a readable file after the @"
        );
        let error = encode(&form_of(vec![file("a", "1"), text("b", "c"), file("d", "2")]), &Contents::default())
            .unwrap_err()
            .spelt(plan::Spelling::Flags);
        assert!(error.contains("the form's file a=@1 was not read") && error.contains("the form's file d=@2 was not read"), "{error}");
    }

    #[test]
    fn a_part_that_contains_the_boundary_is_refused() {
        let error = encode(&form_of(vec![text("field", "xx--BOUNDARY--")]), &Contents::default()).unwrap_err();
        assert!(error.message.marked().starts_with("the form's field field contains the boundary"), "{error:?}");
    }
}
