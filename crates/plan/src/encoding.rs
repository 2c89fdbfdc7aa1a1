//! Texts as they stand in URLs and headers: percent-encoding and base64.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// What may not stand for itself everywhere in a path or a query: all but letters, digits and `-._~` (RFC 3986 §2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What may not stand for itself in the first line of a request, as browsers write one; letters beyond ASCII may not either.
const BETWEEN_SPACES: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'`');

/// With padding; read as it is found, since some leave it out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);

/// Percent-encoded text as plain text (RFC 3986 §2.1); a percent sign that encodes nothing stays as it is.
#[must_use]
pub fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Plain text, percent-encoded so that it may stand anywhere in a path, a query or a form.
#[must_use]
pub fn percent_encoded(text: &str) -> String {
    percent_encode(text.as_bytes(), RESERVED).to_string()
}

/// A path with its query as it can be sent; what is encoded already stays.
#[must_use]
pub fn path_encoded(text: &str) -> String {
    percent_encode(text.as_bytes(), BETWEEN_SPACES).to_string()
}

/// Appends bytes, percent-encoded so that they may stand anywhere in a path, a query or a form. Allocates nothing of its own.
pub fn write_percent_encoded(bytes: &[u8], out: &mut Vec<u8>) {
    percent_encode(bytes, RESERVED).for_each(|piece| out.extend_from_slice(piece.as_bytes()));
}

/// Bytes in base64, with padding (RFC 4648 §4).
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// The text that base64 stands for, with or without its padding; `None` if it is none.
pub(crate) fn from_base64(text: &str) -> Option<String> {
    String::from_utf8(base64_bytes(text)?).ok()
}

/// The bytes that base64 stands for, with or without its padding; `None` if it is none.
#[must_use]
pub fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

/// A `tchar` of RFC 9110 §5.6.2.
#[must_use]
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_encodes_nothing_stays_as_it_is() {
        assert_eq!(percent_decoded("100%&%zz%4"), "100%&%zz%4");
        assert_eq!(percent_decoded("%41%c3%BC+"), "Aü+");
    }

    #[test]
    fn base64_is_read_with_its_padding_and_without() {
        assert_eq!(base64(b"me:hunter22"), "bWU6aHVudGVyMjI=");
        assert_eq!(from_base64("bWU6aHVudGVyMjI=").as_deref(), Some("me:hunter22"));
        assert_eq!(from_base64("bWU6aHVudGVyMjI").as_deref(), Some("me:hunter22"));
        assert_eq!(from_base64("me:hunter22"), None);
    }

    #[test]
    fn a_path_is_encoded_where_it_has_to_be() {
        assert_eq!(path_encoded("/a%20b c?d='é'#\"<>`\r\n\u{7f}"), "/a%20b%20c?d='%C3%A9'%23%22%3C%3E%60%0D%0A%7F");
    }

    proptest! {
        #[test]
        fn an_encoded_text_is_decoded_to_itself(text: String) {
            let encoded = percent_encoded(&text);
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)));
            prop_assert_eq!(&percent_decoded(&encoded), &text);
            let mut written = Vec::new();
            write_percent_encoded(text.as_bytes(), &mut written);
            prop_assert_eq!(String::from_utf8(written).unwrap(), encoded);
            prop_assert_eq!(from_base64(&base64(text.as_bytes())), Some(text));
        }
    }
}
