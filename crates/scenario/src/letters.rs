//! Letters of a request that are not written as UTF-8: where they stand, and what says how.

use plan::Charset;
use plan::work::Field;

/// A name or a value as it stands in a form.
pub(crate) fn form_text(text: &str, charset: Option<Charset>) -> String {
    if let Some(charset) = charset {
        return charset.encoded_in_form(text);
    }
    let mut bytes = Vec::new();
    step::body::write_form_text(text, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How a field of a form in parts is written, where its type says so; `Some(None)`: as UTF-8.
pub(crate) fn charset_of(field: &Field) -> Option<Option<Charset>> {
    let (_, kind) = field.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"))?;
    let mut parameters = kind.split(';').skip(1).filter_map(|parameter| parameter.trim().split_once('='));
    let (_, name) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
    Charset::named(name.trim().trim_matches('"')).ok().filter(|charset| charset.is_none_or(Charset::is_written))
}
