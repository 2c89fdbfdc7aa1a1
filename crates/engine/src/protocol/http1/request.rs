//! A request as bytes, serialised once, before the run.
//!
//! A Lane sends each request with one write of one contiguous buffer. What goes into that buffer comes from command
//! lines, files and scripts, so this is where anything that would smuggle a second request or header into it is
//! refused. Which headers a request has by default is the Plan's business.

use thiserror::Error;

use super::fields::trimmed;
use super::head::{is_token, is_value};
use crate::protocol::{Encoded, Layout};

/// Why a request cannot be sent as HTTP/1.1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The method is no token.
    #[error("the method '{}' is not a word of letters, digits and !#$%&'*+-.^_`|~", .0.escape_debug())]
    Method(String),
    /// The target is empty, or holds a space, a control character or a byte beyond ASCII.
    #[error("the request target '{}' is empty or holds a character that must be percent-encoded", .0.escape_debug())]
    Target(String),
    /// A header's name is no token.
    #[error("the header name '{}' is not a word of letters, digits and !#$%&'*+-.^_`|~", .0.escape_debug())]
    HeaderName(String),
    /// A header's value holds a control character.
    #[error("the value of the header '{0}' holds a control character")]
    HeaderValue(String),
    /// Content-Length was given and is not the length of the body, in bytes.
    #[error("the header Content-Length says '{}', but the body has {is} bytes", .said.escape_debug())]
    Length {
        /// What was given.
        said: String,
        /// What is true.
        is: usize,
    },
    /// Transfer-Encoding was given, but the body is sent whole.
    #[error("the header Transfer-Encoding cannot be given: the body is sent whole, with a Content-Length")]
    TransferEncoding,
}

/// Serialises a request.
///
/// `target` is the path and query, or a whole URL for a proxy, or `host:port` for CONNECT; percent-encoded, without a
/// fragment. Headers are written in their order, as spelled, without whitespace around their values. Content-Length
/// is added if there is a body, and with the value 0 if POST, PUT or PATCH has none (RFC 9110 section 8.6), unless
/// given.
///
/// # Errors
///
/// The first thing found that would make the bytes mean something else than this request.
pub fn serialise<N: AsRef<str>, V: AsRef<[u8]>>(
    method: &str,
    target: &str,
    headers: &[(N, V)],
    body: &[u8],
) -> Result<Encoded, RequestError> {
    if method.is_empty() || !method.bytes().all(is_token) {
        return Err(RequestError::Method(method.to_owned()));
    }
    if target.is_empty() || !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err(RequestError::Target(target.to_owned()));
    }
    let mut bytes = Vec::with_capacity(256 + body.len());
    for part in [method, " ", target, " HTTP/1.1\r\n"] {
        bytes.extend_from_slice(part.as_bytes());
    }
    let mut length_given = false;
    for (name, value) in headers {
        let (name, value) = (name.as_ref(), trimmed(value.as_ref()));
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(RequestError::HeaderName(name.to_owned()));
        }
        if !value.iter().all(|&byte| is_value(byte)) {
            return Err(RequestError::HeaderValue(name.to_owned()));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(RequestError::TransferEncoding);
        }
        if name.eq_ignore_ascii_case("content-length") {
            if value != body.len().to_string().as_bytes() {
                return Err(RequestError::Length { said: String::from_utf8_lossy(value).into_owned(), is: body.len() });
            }
            if std::mem::replace(&mut length_given, true) {
                continue;
            }
        }
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            bytes.extend_from_slice(part);
        }
    }
    if !length_given && (!body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH")) {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    let layout = Layout::new(method, bytes.len());
    bytes.extend_from_slice(body);
    Ok(Encoded { bytes, layout })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::EncodedRef;

    const NONE: &[(&str, &str)] = &[];

    #[test]
    fn a_request_is_one_contiguous_buffer() {
        let request = serialise("POST", "/a?b=c", &[("Host", "example.com"), ("X", " y\t")], b"body").unwrap();
        assert_eq!(request.layout, EncodedRef::read(&request.bytes).layout());
        let expected = "POST /a?b=c HTTP/1.1\r\nHost: example.com\r\nX: y\r\nContent-Length: 4\r\n\r\nbody";
        assert_eq!(String::from_utf8(request.bytes).unwrap(), expected);
    }

    #[test]
    fn a_length_is_added_where_it_means_something() {
        for (method, body, expected) in [
            ("GET", "", "GET * HTTP/1.1\r\n\r\n"),
            ("PUT", "", "PUT * HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
            ("GET", "ab", "GET * HTTP/1.1\r\nContent-Length: 2\r\n\r\nab"),
        ] {
            assert_eq!(serialise(method, "*", NONE, body.as_bytes()).unwrap().bytes, expected.as_bytes());
        }
        let given = serialise("PUT", "/", &[("content-length", "2"), ("Content-Length", "2")], b"ab").unwrap();
        assert_eq!(given.bytes, b"PUT / HTTP/1.1\r\ncontent-length: 2\r\n\r\nab");
    }

    #[test]
    fn nothing_can_be_smuggled_into_a_request() {
        let refused = |method: &str, target: &str, header: (&str, &str)| serialise(method, target, &[header], b"ab");
        let fine = ("A", "b");
        for method in ["", "GE T", "GET\r\n", "G\u{e9}T"] {
            assert!(matches!(refused(method, "/", fine), Err(RequestError::Method(_))), "{method:?}");
        }
        for target in ["", "/a b", "/\r\nX: y", "/\0", "/\u{e9}", "/#a", "/\x7f"] {
            assert!(matches!(refused("GET", target, fine), Err(RequestError::Target(_))), "{target:?}");
        }
        for name in ["", "A:", "A ", "A\n", "\u{e9}"] {
            assert!(matches!(refused("GET", "/", (name, "b")), Err(RequestError::HeaderName(_))), "{name:?}");
        }
        for value in ["b\r\nX: y", "b\nX", "\0", "\x1b[2J", "\x7f"] {
            assert!(matches!(refused("GET", "/", ("A", value)), Err(RequestError::HeaderValue(_))), "{value:?}");
        }
        for length in ["3", "+2", "02", "", "2, 2"] {
            let refused = refused("GET", "/", ("content-length", length));
            assert!(matches!(refused, Err(RequestError::Length { is: 2, .. })), "{length:?}");
        }
        let coded = refused("GET", "/", ("Transfer-Encoding", "chunked"));
        assert_eq!(coded, Err(RequestError::TransferEncoding));
    }

    #[test]
    fn errors_name_the_value_without_its_control_characters() {
        let error = serialise("GET", "/\x1b[2J", NONE, b"").unwrap_err().to_string();
        assert!(error.contains("'/\\u{1b}[2J'"), "{error}");
    }
}
