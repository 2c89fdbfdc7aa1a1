//! A form of several parts (`multipart/form-data`, RFC 7578) as bytes.
//!
//! Invariant: whatever stands in names and values, what is written is read back as the same names and values, as long as the boundary
//! stands in none of them.

/// A field or a file of a form.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The field's name.
    pub name: &'a str,
    /// Its value, or the file's bytes.
    pub value: &'a [u8],
    /// What the file is called, without folders.
    pub file_name: Option<&'a str>,
    /// What it is.
    pub media_type: Option<&'a str>,
    /// Further headers, in order.
    pub headers: &'a [(String, String)],
}

/// Calls `piece` with a form's bytes, in order: a form is measured without being copied.
pub fn each_piece<'a>(boundary: &str, parts: impl IntoIterator<Item = Part<'a>>, piece: &mut dyn FnMut(&[u8])) {
    for Part { name, value, file_name, media_type, headers } in parts {
        piece(b"--");
        piece(boundary.as_bytes());
        piece(b"\r\nContent-Disposition: form-data; name=\"");
        each_piece_of_name(name, piece);
        if let Some(file_name) = file_name {
            piece(b"\"; filename=\"");
            each_piece_of_name(file_name, piece);
        }
        piece(b"\"");
        let media_type = media_type.map(|media_type| ("Content-Type", media_type));
        for (name, value) in media_type.into_iter().chain(headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))) {
            for text in ["\r\n", name, ": "] {
                piece(text.as_bytes());
            }
            value.split(|letter: char| letter.is_control()).for_each(|text| piece(text.as_bytes()));
        }
        piece(b"\r\n\r\n");
        piece(value);
        piece(b"\r\n");
    }
    piece(b"--");
    piece(boundary.as_bytes());
    piece(b"--\r\n");
}

/// Names as browsers write them between quotes (WHATWG HTML, multipart/form-data encoding).
fn each_piece_of_name(name: &str, piece: &mut dyn FnMut(&[u8])) {
    for text in name.split_inclusive(['"', '\r', '\n']) {
        let code: &[u8] = match text.as_bytes().last() {
            Some(b'"') => b"%22",
            Some(b'\r') => b"%0D",
            Some(b'\n') => b"%0A",
            _ => b"",
        };
        piece(&text.as_bytes()[..text.len() - usize::from(!code.is_empty())]);
        piece(code);
    }
}
