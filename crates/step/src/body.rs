//! Bodies of requests: forms, uploads, JSON.

use crate::mistake::Mistake;

/// Appends `application/x-www-form-urlencoded` as browsers write it: `a=1&b=x+y`.
pub fn write_form<'a>(_fields: impl IntoIterator<Item = (&'a str, &'a str)>, _out: &mut Vec<u8>) {
    unimplemented!()
}

/// Appends a text, percent-encoded so that it may stand anywhere in a path or a query (RFC 3986 §2.3).
pub fn write_percent_encoded(_text: &str, _out: &mut Vec<u8>) {
    unimplemented!()
}

/// A field or a file of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// The field's name.
    pub name: &'a str,
    /// Its value or the file's bytes.
    pub value: &'a [u8],
    /// What makes it a file.
    pub file: Option<File<'a>>,
}

/// What a form says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File<'a> {
    /// Its name without folders.
    pub name: &'a str,
    /// Its media type: `application/octet-stream` if not known.
    pub media_type: &'a str,
}

/// What stands between the parts of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary(String);

impl Boundary {
    /// 128 bits of chance: that one of the parts holds it by accident need not be feared.
    #[must_use]
    pub fn new(_chance: [u8; 16]) -> Self {
        unimplemented!()
    }

    /// The value of `Content-Type`.
    #[must_use]
    pub fn content_type(&self) -> String {
        unimplemented!()
    }

    /// How many bytes [`write`](Self::write) will append, without writing them.
    #[must_use]
    pub fn length(&self, _parts: &[Part<'_>]) -> usize {
        unimplemented!()
    }

    /// Appends `multipart/form-data` (RFC 7578).
    pub fn write(&self, _parts: &[Part<'_>], _out: &mut Vec<u8>) {
        unimplemented!()
    }
}

/// Whether a text is JSON.
///
/// # Errors
/// Where it is not, and why.
pub fn json(_text: &str) -> Result<(), Mistake> {
    unimplemented!()
}
