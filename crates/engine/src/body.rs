//! The bytes of a request's body, read and encoded before the run.
//!
//! A file read for every request measures the disk. So files are read once, and forms encoded once, into the bytes
//! every request sends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use plan::{Body, FormPart, FormValue};

use crate::RunError;
use crate::net::words;

/// What follows the head of every request. Reads the body's files, and standard input for `-`.
///
/// # Errors
/// For every file that cannot be read, and if a form's boundary stands in one of its parts.
pub fn read(body: &Body) -> Result<Vec<u8>, RunError> {
    match body {
        Body::Empty => Ok(Vec::new()),
        Body::Bytes(bytes) => Ok(bytes.clone()),
        Body::File(path) => contents(path).map_err(|error| unreadable("the body ", path, &error)),
        Body::Form { boundary, parts } => form(boundary, parts),
    }
}

/// A body stands in memory whole.
pub const BYTES_MAX: u64 = 1 << 30;

fn contents(path: &str) -> io::Result<Vec<u8>> {
    if path == "-" { all(io::stdin().lock(), BYTES_MAX) } else { whole(path, BYTES_MAX) }
}

/// What a file holds, up to so many bytes, a number of MiB: a device or a pipe may have no end.
///
/// # Errors
/// If it cannot be read, or is larger.
pub fn whole(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
    all(File::open(path)?, bytes_max)
}

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

fn unreadable(what: &str, path: &str, error: &io::Error) -> RunError {
    RunError::input(format!("{what}{path} cannot be read: {}", words(&error.to_string())), "name a readable file after the @")
}

/// `multipart/form-data` (RFC 7578).
fn form(boundary: &str, parts: &[FormPart]) -> Result<Vec<u8>, RunError> {
    let mut encoded = Vec::new();
    let mut errors = Vec::new();
    for FormPart { name, value } in parts {
        let (disposition, bytes) = match value {
            FormValue::Text(text) => (String::new(), Ok(text.clone().into_bytes())),
            FormValue::File { path, media_type } => {
                let base = Path::new(path).file_name().map_or_else(|| path.clone().into(), std::ffi::OsStr::to_string_lossy);
                (format!("; filename=\"{}\"\r\nContent-Type: {media_type}", escaped(&base)), contents(path))
            }
        };
        match bytes {
            Err(error) => {
                let FormValue::File { path, .. } = value else { unreachable!("only files are read") };
                errors.push(unreadable(&format!("the form's file {name}=@"), path, &error));
            }
            Ok(bytes) if contains(&bytes, boundary.as_bytes()) => errors.push(RunError::input(
                format!("the form's field {name} contains the boundary {boundary} between fields"),
                "give another --seed: the boundary is drawn from it",
            )),
            Ok(bytes) => {
                encoded.extend_from_slice(
                    format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"{disposition}\r\n\r\n", escaped(name)).as_bytes(),
                );
                encoded.extend_from_slice(&bytes);
                encoded.extend_from_slice(b"\r\n");
            }
        }
    }
    encoded.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    RunError::together(errors).map_or(Ok(encoded), Err)
}

/// Names as browsers write them between quotes (WHATWG HTML, multipart/form-data encoding).
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn contains(bytes: &[u8], sought: &[u8]) -> bool {
    bytes.windows(sought.len().max(1)).any(|window| window == sought)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_without_end_is_not_read_to_its_end() {
        assert_eq!(whole("/dev/zero", 1 << 20).unwrap_err().to_string(), "it is larger than 1 MiB");
        assert_eq!(all(io::repeat(b'a'), 3 << 20).unwrap_err().to_string(), "it is larger than 3 MiB");
        assert_eq!(all(&b"abc"[..], 3).unwrap(), b"abc");
    }

    fn text(name: &str, value: &str) -> FormPart {
        FormPart { name: name.to_owned(), value: FormValue::Text(value.to_owned()) }
    }

    fn file(name: &str, path: &Path) -> FormPart {
        let value = FormValue::File { path: path.to_str().unwrap().to_owned(), media_type: "text/plain".to_owned() };
        FormPart { name: name.to_owned(), value }
    }

    fn form_of(parts: Vec<FormPart>) -> Body {
        Body::Form { boundary: "BOUNDARY".to_owned(), parts }
    }

    #[test]
    fn a_form_is_encoded_as_browsers_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a \"b\".txt");
        fs::write(&path, b"\x00line\r\n").unwrap();
        let encoded = read(&form_of(vec![text("name", "value"), file("upload", &path)])).unwrap();
        assert_eq!(
            String::from_utf8(encoded).unwrap(),
            "--BOUNDARY\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nvalue\r\n\
             --BOUNDARY\r\nContent-Disposition: form-data; name=\"upload\"; filename=\"a %22b%22.txt\"\r\nContent-Type: text/plain\r\n\r\n\
             \0line\r\n\r\n--BOUNDARY--\r\n"
        );
    }

    #[test]
    fn a_file_is_sent_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("body");
        let bytes: Vec<u8> = (0..=255).collect();
        fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&Body::File(path.to_str().unwrap().to_owned())).unwrap(), bytes);
        assert_eq!(read(&Body::Bytes(b"{}".to_vec())).unwrap(), b"{}");
        assert!(read(&Body::Empty).unwrap().is_empty());
    }

    #[test]
    fn every_unreadable_file_is_named_with_the_systems_words() {
        let error = read(&Body::File("/nonexistent/body.json".to_owned())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "error: the body /nonexistent/body.json cannot be read: no such file or directory\n  help: name a readable file after the @"
        );
        let form = form_of(vec![file("a", Path::new("/nonexistent/1")), text("b", "c"), file("d", Path::new("/nonexistent/2"))]);
        let error = read(&form).unwrap_err().to_string();
        assert_eq!(
            error,
            "error: the form's file a=@/nonexistent/1 cannot be read: no such file or directory\n  help: name a readable file after the @\n\
             error: the form's file d=@/nonexistent/2 cannot be read: no such file or directory\n  help: name a readable file after the @"
        );
    }

    #[test]
    fn a_part_that_contains_the_boundary_is_refused() {
        let error = read(&form_of(vec![text("field", "xx--BOUNDARY--")])).unwrap_err();
        assert!(error.message.starts_with("the form's field field contains the boundary"), "{error}");
    }
}
