//! What is sent: method, headers and body, as decided.

/// The media type of a form whose fields are percent-encoded.
pub const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// The media type of a file that has no other.
pub const FILE_TYPE: &str = "application/octet-stream";

/// One request as it will be sent, headers complete but for Content-Length, which follows from the body.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// Name and value in the order they are sent, Host first.
    pub headers: Vec<(String, String)>,
    /// What follows the head.
    pub body: Body,
}

/// The body of a request. Files are named here and read before the run begins.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Body {
    /// None.
    #[default]
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
    /// What is in this file.
    File(String),
    /// `multipart/form-data` with this boundary.
    Form {
        /// What separates the parts.
        boundary: String,
        /// In order.
        parts: Vec<FormPart>,
    },
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormPart {
    /// The field's name.
    pub name: String,
    /// Its value.
    pub value: FormValue,
}

/// The value of a form's field: text, or a file with its type.
#[derive(Debug, Clone, PartialEq)]
pub enum FormValue {
    /// Plain text.
    Text(String),
    /// A file, sent under its base name.
    File {
        /// Where it is.
        path: String,
        /// Its media type, `application/octet-stream` unless said.
        media_type: String,
    },
}

impl Body {
    /// The files it is made of.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let (one, parts): (Option<&str>, &[FormPart]) = match self {
            Self::Empty | Self::Bytes(_) => (None, &[]),
            Self::File(path) => (Some(path), &[]),
            Self::Form { parts, .. } => (None, parts),
        };
        one.into_iter().chain(parts.iter().filter_map(|part| match &part.value {
            FormValue::File { path, .. } => Some(path.as_str()),
            FormValue::Text(_) => None,
        }))
    }
}
