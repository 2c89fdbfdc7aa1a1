//! How a request says who sends it.
//!
//! Basic, bearer and API keys are a header that is the same for every request of a user, so they are made once. [`Digest`] needs an
//! answer of the server first and counts from there; [`Aws`] signs each request anew.
//!
//! Invariant: no secret is in what anything here prints for debugging, and no value made here can end a header line.

mod aws;
mod digest;

use plan::{base64, write_percent_encoded};

pub use aws::{Aws, Payload, Signable, Signature};
pub use digest::{Account, Challenge, Digest, Unanswerable};

/// The value of `Authorization` for a user and a password (RFC 7617): `Basic dTpw`.
///
/// # Errors
/// If the user's name has a colon, which no server could tell from the one before the password.
pub fn basic(user: &str, password: &str) -> Result<String, String> {
    if user.contains(':') {
        return Err("a user's name with a colon cannot be sent by Basic authentication: what follows it would be the password".to_owned());
    }
    Ok(format!("Basic {}", base64(format!("{user}:{password}").as_bytes())))
}

/// The value of `Authorization` for a token (RFC 6750): `Bearer …`.
///
/// # Errors
/// If it is empty or has letters that no header may have.
pub fn bearer(token: &str) -> Result<String, String> {
    let token = token.trim();
    if token.is_empty() {
        return Err("the token is empty".to_owned());
    }
    if let Some(at) = token.bytes().position(|byte| !byte.is_ascii_graphic()) {
        return Err(format!("the token cannot be sent in a header: its byte {} is no visible ASCII letter", at + 1));
    }
    Ok(format!("Bearer {token}"))
}

/// Adds `name=value`, percent-encoded, to the query of a path: `/a` → `/a?key=1`, `/a?b` → `/a?b&key=1`.
#[must_use]
pub fn with_parameter(path_and_query: &str, name: &str, value: &str) -> String {
    let path_and_query = path_and_query.split('#').next().unwrap_or_default();
    let mut out = path_and_query.as_bytes().to_vec();
    match path_and_query.find('?') {
        None => out.push(b'?'),
        Some(at) if at + 1 < out.len() && !out.ends_with(b"&") => out.push(b'&'),
        Some(_) => {}
    }
    write_percent_encoded(name.as_bytes(), &mut out);
    out.push(b'=');
    write_percent_encoded(value.as_bytes(), &mut out);
    // Only ASCII was added to a text.
    String::from_utf8(out).unwrap_or_default()
}

/// Small hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_is_the_example_of_its_standard() {
        assert_eq!(basic("Aladdin", "open sesame").unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(basic("test", "123£").unwrap(), "Basic dGVzdDoxMjPCow==", "RFC 7617 §2.1");
        assert_eq!(basic("", "a:b").unwrap(), "Basic OmE6Yg==");
        assert!(basic("a:b", "c").unwrap_err().contains("colon"));
    }

    #[test]
    fn a_token_that_would_end_the_line_is_refused() {
        assert_eq!(bearer(" abc.def\n").unwrap(), "Bearer abc.def", "a file's last line feed is no part of it");
        for token in ["", "  ", "a\r\nX: y", "a b", "ä"] {
            assert!(bearer(token).is_err(), "{token:?}");
        }
        assert!(!bearer("sesame\u{1}").unwrap_err().contains("sesame"));
    }

    #[test]
    fn a_key_joins_the_parameters_that_are_there() {
        let cases = [
            ("/a", "/a?k=v%26w"),
            ("/a?", "/a?k=v%26w"),
            ("/a?b=1", "/a?b=1&k=v%26w"),
            ("/a?b=1&", "/a?b=1&k=v%26w"),
            ("/ä?b#part", "/ä?b&k=v%26w"),
        ];
        for (before, after) in cases {
            assert_eq!(with_parameter(before, "k", "v&w"), after);
        }
    }
}
