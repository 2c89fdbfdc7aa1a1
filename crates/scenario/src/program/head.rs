//! Header lines put into a request that is written, and taken out of it.
//!
//! A request that goes on after an answer, along a redirect or to answer a challenge, is the one before with a few lines changed. To
//! write it anew from its step was rejected: its templates would draw other values.
//!
//! Invariant: only lines of the head are touched; the body stays as it was.

/// Puts a header line before the blank line.
pub(crate) fn insert(request: &mut Vec<u8>, line: &[u8]) {
    if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
        request.splice(end + 2..end + 2, line.iter().copied());
    }
}

/// Takes the header lines of this name out, which is written in small letters.
pub(crate) fn without(request: &mut Vec<u8>, name: &str) {
    let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") else { return };
    let mut kept = Vec::with_capacity(request.len());
    for line in request[..end + 2].split_inclusive(|byte| *byte == b'\n') {
        let is_it = line.len() > name.len() && line[name.len()] == b':' && line[..name.len()].eq_ignore_ascii_case(name.as_bytes());
        if !is_it {
            kept.extend_from_slice(line);
        }
    }
    kept.extend_from_slice(&request[end + 2..]);
    *request = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_put_before_the_blank_one() {
        let mut request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nx".to_vec();
        insert(&mut request, b"Cookie: a=1\r\n");
        assert_eq!(request, b"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=1\r\n\r\nx");
    }
}
