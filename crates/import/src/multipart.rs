//! A form of several parts (`multipart/form-data`, RFC 7578), put together from its fields.
//!
//! A recording that has the fields of a form and not its bytes says all that a server is asked: what the bytes were follows from the
//! fields but for the boundary, and a boundary is any text that does not stand in them.

use plan::multipart;

/// One field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// What the file was called, of a field that is one.
    pub(crate) file_name: Option<&'a str>,
    pub(crate) media_type: Option<&'a str>,
}

/// The form, and the boundary in it: the one that the media type `said` where it can be used, else another.
pub(crate) fn written(parts: &[Part<'_>], said: &str) -> (String, String) {
    let fits = |boundary: &str| !parts.iter().any(|part| part.value.contains(boundary));
    let boundary = boundary_of(said).filter(|boundary| fits(boundary)).map_or_else(
        || {
            let made = |number: u64| format!("loadline-form-{number:016x}");
            (0..).map(made).find(|boundary| fits(boundary)).expect("a text of some length holds but so many boundaries")
        },
        str::to_owned,
    );
    let parts = parts.iter().map(|Part { name, value, file_name, media_type }| {
        let media_type = media_type.filter(|media| !media.is_empty() && !media.contains(['\r', '\n']));
        let media_type = media_type.or_else(|| file_name.map(|_| plan::FILE_TYPE));
        multipart::Part { name, value: value.as_bytes(), file_name: *file_name, media_type, headers: &[] }
    });
    let mut bytes = Vec::new();
    multipart::each_piece(&boundary, parts, &mut |piece| bytes.extend_from_slice(piece));
    // Only texts were put together.
    (String::from_utf8(bytes).unwrap_or_default(), boundary)
}

/// The boundary in a media type, if it is one (RFC 2046 §5.1.1).
fn boundary_of(media_type: &str) -> Option<&str> {
    let at = media_type.to_ascii_lowercase().find("boundary=")? + "boundary=".len();
    let rest = &media_type[at..];
    let boundary = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([';', ' ']).next()?,
    };
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"'()+_,-./:=?".contains(&letter);
    ((1..=70).contains(&boundary.len()) && boundary.bytes().all(is_plain)).then_some(boundary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part<'a>(name: &'a str, value: &'a str) -> Part<'a> {
        Part { name, value, file_name: None, media_type: None }
    }

    #[test]
    fn a_form_is_what_a_browser_sends_of_these_fields() {
        let photo = Part { file_name: Some("a \"b\".txt"), media_type: Some("text/plain"), ..part("photo", "two\r\nlines") };
        let (text, boundary) = written(&[part("title", "it"), photo], "multipart/form-data; boundary=----WebKitFormBoundaryX1");
        assert_eq!(boundary, "----WebKitFormBoundaryX1");
        assert_eq!(
            text,
            "------WebKitFormBoundaryX1\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nit\r\n\
             ------WebKitFormBoundaryX1\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a %22b%22.txt\"\r\nContent-Type: text/plain\r\n\r\ntwo\r\nlines\r\n\
             ------WebKitFormBoundaryX1--\r\n"
        );
    }

    #[test]
    fn a_boundary_that_is_none_or_stands_in_a_value_is_another() {
        for said in [
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/form-data; boundary=b\u{e4}",
            "multipart/form-data; boundary=\"x\"",
        ] {
            let (text, boundary) = written(&[part("a", "x"), part("b", "loadline-form-0000000000000000")], said);
            assert_eq!(boundary, "loadline-form-0000000000000001", "{said}");
            assert_eq!(text.matches(&format!("--{boundary}")).count(), 3, "{said}");
        }
    }
}
