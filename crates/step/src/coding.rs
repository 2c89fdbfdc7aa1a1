//! Texts as others write them: in URLs, forms and pages, in base64, and digests of them.
//!
//! What a server hands out is seldom written as it wants it back: a link stands in a page with `&amp;`, a token in base64, and a
//! signature is asked for of what was put together. The words are those of expressions (`plan::work::CODINGS`, `plan::work::DIGESTS`).
//!
//! Invariant: whatever a text holds, it is written or there is nothing; nothing panics.

use md5::Digest as _;
use ring::digest;

use crate::auth::hex;
use crate::body::write_form_text;

/// Letters that mean something in a page, and what stands for them. Apostrophes are told by number in HTML, which has no name for them.
const MARKUP: [(char, &str); 5] = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&apos;")];

/// Writes a text in a coding, at the end of `out`; nothing if there is no such coding.
pub fn encode(coding: &str, text: &str, out: &mut Vec<u8>) -> Option<()> {
    match coding {
        "url" => plan::write_percent_encoded(text.as_bytes(), out),
        "form" => write_form_text(text, out),
        "base64" => out.extend_from_slice(plan::base64(text.as_bytes()).as_bytes()),
        "html" | "xml" => {
            for letter in text.chars() {
                // An apostrophe ends nothing in HTML as most write it.
                let written = MARKUP.iter().find(|(known, _)| *known == letter && !(coding == "html" && letter == '\''));
                match written {
                    Some((_, written)) => out.extend_from_slice(written.as_bytes()),
                    None => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
        }
        "regex" => {
            for letter in text.chars() {
                // Signs of ASCII mean themselves behind a backslash, but for those that are boundaries of words there.
                if letter.is_ascii_punctuation() && !matches!(letter, '<' | '>') {
                    out.push(b'\\');
                }
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        _ => return None,
    }
    Some(())
}

/// Writes what a text in a coding stands for, at the end of `out`; nothing if it is none, or there is no such coding.
pub fn decode(coding: &str, text: &str, out: &mut Vec<u8>) -> Option<()> {
    match coding {
        "url" => out.extend_from_slice(plan::percent_decoded(text).as_bytes()),
        "form" => out.extend_from_slice(plan::percent_decoded(&text.replace('+', " ")).as_bytes()),
        "base64" => out.extend_from_slice(&plan::base64_bytes(text.trim())?),
        "html" | "xml" => {
            let mut rest = text;
            while let Some(at) = rest.find('&') {
                out.extend_from_slice(&rest.as_bytes()[..at]);
                let found = rest[at..].find(';').and_then(|end| Some((entity(&rest[at + 1..at + end])?, end)));
                let (letter, behind) = found.map_or(('&', at + 1), |(letter, end)| (letter, at + end + 1));
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[behind..];
            }
            out.extend_from_slice(rest.as_bytes());
        }
        _ => return None,
    }
    Some(())
}

/// The letter that stands between `&` and `;`; nothing of a name that only pages know.
fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    if name == "nbsp" {
        return Some('\u{a0}');
    }
    MARKUP.iter().find(|(_, written)| written[1..written.len() - 1] == *name).map(|(letter, _)| *letter)
}

/// Writes the digest of a text in hexadecimal digits, at the end of `out`; nothing if there is no such digest.
pub fn digest(name: &str, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(hex(&digest_bytes(name, text)?).as_bytes());
    Some(())
}

/// The digest of bytes; nothing if there is no such digest.
#[must_use]
pub fn digest_bytes(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let algorithm = match name {
        "md5" => return Some(md5::Md5::digest(bytes).to_vec()),
        "sha1" => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        "sha256" => &digest::SHA256,
        "sha384" => &digest::SHA384,
        "sha512" => &digest::SHA512,
        _ => return None,
    };
    Some(digest::digest(algorithm, bytes).as_ref().to_vec())
}

/// The signature of bytes with a key by a digest (RFC 2104); nothing if there is no such digest.
#[must_use]
pub fn hmac(name: &str, key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    let block = if matches!(name, "sha384" | "sha512") { 128 } else { 64 };
    let mut key = if key.len() > block { digest_bytes(name, key)? } else { key.to_vec() };
    key.resize(block, 0);
    let padded = |pad: u8, behind: &[u8]| -> Option<Vec<u8>> {
        let all: Vec<u8> = key.iter().map(|byte| byte ^ pad).chain(behind.iter().copied()).collect();
        digest_bytes(name, &all)
    };
    padded(0x5c, &padded(0x36, bytes)?)
}

#[cfg(test)]
mod tests {
    use plan::work::{CODINGS, DIGESTS};
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>) -> Option<()>) -> Option<String> {
        let mut out = Vec::new();
        write(&mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn texts_are_written_as_others_write_them() {
        for (coding, text, expected) in [
            ("url", "a b&ü", "a%20b%26%C3%BC"),
            ("form", "a b&*~", "a+b%26*%7E"),
            ("base64", "abc", "YWJj"),
            ("html", "<a b=\"c\">&'", "&lt;a b=&quot;c&quot;&gt;&amp;'"),
            ("xml", "<'>", "&lt;&apos;&gt;"),
            ("regex", "<a.b>ü", "<a\\.b>ü"),
        ] {
            assert_eq!(written(|out| encode(coding, text, out)).as_deref(), Some(expected));
        }
        for (coding, text, expected) in [
            ("form", "a+b%26", Some("a b&")),
            ("base64", "YWJj\n", Some("abc")),
            ("base64", "%%", None),
            ("html", "1 &lt; 2 &amp;&amp; x &#65;&#x42; &nobody; & &", Some("1 < 2 && x AB &nobody; & &")),
        ] {
            assert_eq!(written(|out| decode(coding, text, out)).as_deref(), expected);
        }
        assert_eq!(written(|out| digest("md5", b"abc", out)).as_deref(), Some("900150983cd24fb0d6963f7d28e17f72"));
        assert_eq!(written(|out| digest("sha1", b"abc", out)).as_deref(), Some("a9993e364706816aba3e25717850c26c9cd0d89d"));
    }

    #[test]
    fn signatures_are_those_of_the_rfcs() {
        // RFC 2202 and RFC 4231, test cases 2 and 6.
        let (key, text) = (b"Jefe".as_slice(), b"what do ya want for nothing?".as_slice());
        let signed = |name: &str, key: &[u8], text: &[u8]| hex(&hmac(name, key, text).unwrap());
        assert_eq!(signed("md5", key, text), "750c783e6ab0b503eaa86e310a5db738");
        assert_eq!(signed("sha1", key, text), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        assert_eq!(signed("sha256", key, text), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(signed("sha256", &[0xaa; 131], long), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
        assert!(signed("sha512", &[0xaa; 131], long).starts_with("80b24263c7c1a3ebb71493c1dd7be8b4"));
        assert_eq!(hmac("sha3", key, text), None);
    }

    proptest! {
        #[test]
        fn every_word_is_known_and_what_is_encoded_decodes_to_itself(text: String) {
            for coding in CODINGS {
                let encoded = written(|out| encode(coding, &text, out)).unwrap();
                if coding == "regex" {
                    let whole = crate::regex(&format!("^{encoded}$")).unwrap();
                    prop_assert!(encoded.len() > 1000 || whole.is_match(text.as_bytes()), "{}", encoded);
                    continue;
                }
                prop_assert_eq!(written(|out| decode(coding, &encoded, out)), Some(text.clone()), "{}: {}", coding, encoded);
            }
            for name in DIGESTS {
                prop_assert!(written(|out| digest(name, text.as_bytes(), out)).is_some_and(|digits| digits.len() % 8 == 0));
            }
        }
    }
}
