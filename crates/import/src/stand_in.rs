//! Other values in the place of what looks personal or secret in a path: the same one wherever the value stood.
//!
//! A scenario made from a log is passed on like a report, and is to ask for what the log asked for. Left out, a token would be three
//! stars for everybody, and a cache would see one user where there were a thousand. So each such value becomes another of its kind and
//! length, numbered in the order in which they are met: as many different ones as there were, and nothing of them is left. Until all parts of
//! a survey are together a number by a [`Key`] stands in its place. A digest without a key does not do for that: an address or a number of a
//! telephone is found again from its digest by trying all there are.
//!
//! Paths name things (`/users/17`, a UUID, a date), and those stay, else nothing asked for would be there; what stands in a query has to
//! look harmless and to have a harmless name.

use std::net::{Ipv4Addr, Ipv6Addr};

use plan::{is_secret, percent_decoded};
use rustc_hash::FxHashMap;

use crate::key::{Key, Subject};
use crate::scrub::is_personal;
use crate::segment::kind;

/// Parameters whose values are personal whatever they look like.
const PERSONAL: [&str; 16] = [
    "mail",
    "phone",
    "mobile",
    "iban",
    "birth",
    "passport",
    "surname",
    "firstname",
    "first_name",
    "lastname",
    "last_name",
    "fullname",
    "full_name",
    "username",
    "user_name",
    "street",
];

/// Files of pages: their names may look like tokens, and are the same for everybody.
const OF_PAGES: [&str; 17] =
    ["js", "mjs", "css", "map", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "woff", "woff2", "ttf", "wasm", "webmanifest"];

/// No value is longer: a path is not kept from this length on.
const LENGTH_MOST: usize = 4 << 10;
/// Between these a sealed text has the shape of a value, its length and its number by a key: nothing that may stand in a request line.
const SEAL: (char, char) = ('\u{1}', '\u{2}');

/// A path with its query, with numbers by a key in the place of what looks personal or secret.
pub(crate) fn sealed(target: &str, key: &Key) -> String {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let mut written = String::with_capacity(target.len());
    for (place, segment) in path.split('/').enumerate() {
        written += if place > 0 { "/" } else { "" };
        // Parameters of a segment (RFC 3986 §3.3), such as a session's.
        for (place, part) in segment.split(';').enumerate() {
            written += if place > 0 { ";" } else { "" };
            written += &if part.contains('=') { pair(part, key) } else { self::segment(part, key) };
        }
    }
    if let Some(query) = query {
        written.push('?');
        for (place, text) in query.split('&').enumerate() {
            written += if place > 0 { "&" } else { "" };
            written += &pair(text, key);
        }
    }
    written
}

fn segment(text: &str, key: &Key) -> String {
    let is_of_a_page = text.rsplit_once('.').is_some_and(|(_, ending)| OF_PAGES.contains(&ending.to_ascii_lowercase().as_str()));
    match kind(text.as_bytes()) {
        Some(b"{email}" | b"{address}") => seal(text, key),
        Some(b"{token}") if !is_of_a_page => seal(text, key),
        _ => text.to_owned(),
    }
}

fn pair(pair: &str, key: &Key) -> String {
    let Some((name, value)) = pair.split_once('=') else {
        return if is_personal(&percent_decoded(pair)) { seal(pair, key) } else { pair.to_owned() };
    };
    let plain = percent_decoded(name).to_ascii_lowercase();
    let is_hidden = is_secret(&plain)
        || ["code", "jsessionid", "sid"].contains(&plain.as_str())
        || PERSONAL.iter().any(|word| plain.contains(word))
        || is_personal(&percent_decoded(value));
    let name = if is_personal(&plain) { seal(name, key) } else { name.to_owned() };
    if value.is_empty() || !is_hidden {
        return format!("{name}={value}");
    }
    format!("{name}={}", seal(value, key))
}

fn seal(value: &str, key: &Key) -> String {
    let number = key.number(Subject::Value, value.as_bytes());
    format!("{}{}{}.{number:016x}{}", SEAL.0, Shape::of(value).letter(), value.len(), SEAL.1)
}

/// Whether a text is a path that can be asked for, in which numbers stand for what looks personal.
pub(crate) fn is_sealed_path(text: &str) -> bool {
    let is_plain = |text: &str| text.bytes().all(|letter| letter.is_ascii_graphic());
    let mut parts = text.split(SEAL.0);
    parts.next().is_some_and(|first| first.starts_with('/') && is_plain(first))
        && parts.all(|part| part.split_once(SEAL.1).is_some_and(|(value, after)| is_seal(value) && is_plain(after)))
}

/// Whether it is what stands in a seal.
fn is_seal(value: &str) -> bool {
    value.split_once('.').is_some_and(|(shape, number)| {
        let (letter, length) = shape.split_at_checked(1).unwrap_or_default();
        Shape::ALL.iter().any(|(_, known)| *known == letter)
            && length.parse::<usize>().is_ok()
            && number.len() == 16
            && number.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// What stands for what.
#[derive(Debug, Default)]
pub(crate) struct StandIns {
    known: FxHashMap<Box<str>, Box<str>>,
}

impl StandIns {
    /// How many values were replaced.
    pub(crate) fn count(&self) -> u64 {
        self.known.len() as u64
    }

    /// A sealed text with a value of its own in the place of each number, and whether there is one.
    pub(crate) fn opened(&mut self, sealed: &str) -> (String, bool) {
        let (mut written, mut rest, mut is_altered) = (String::with_capacity(sealed.len()), sealed, false);
        while let Some((before, (value, after))) =
            rest.split_once(SEAL.0).and_then(|(before, behind)| Some((before, behind.split_once(SEAL.1)?)))
        {
            written += before;
            written += self.stand_in(value);
            (rest, is_altered) = (after, true);
        }
        written += rest;
        (written, is_altered)
    }

    fn stand_in(&mut self, sealed: &str) -> &str {
        let number = self.known.len() + 1;
        self.known.entry(sealed.into()).or_insert_with(|| {
            let (shape, length) = sealed.split_once('.').unwrap_or_default().0.split_at_checked(1).unwrap_or_default();
            Shape::read(shape).written(length.parse().unwrap_or(0).min(LENGTH_MOST), number).into()
        })
    }
}

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Mail,
    /// Its `@` is percent-encoded.
    EncodedMail,
    Ipv4,
    Ipv6,
    Digits,
    Uuid,
    Hex,
    Other,
}

impl Shape {
    const ALL: [(Self, &str); 8] = [
        (Self::Mail, "m"),
        (Self::EncodedMail, "e"),
        (Self::Ipv4, "4"),
        (Self::Ipv6, "6"),
        (Self::Digits, "d"),
        (Self::Uuid, "u"),
        (Self::Hex, "h"),
        (Self::Other, "x"),
    ];

    fn of(value: &str) -> Self {
        let dashes = |at: usize| value.as_bytes()[at] == b'-';
        if value.contains('@') {
            Self::Mail
        } else if value.to_ascii_lowercase().contains("%40") {
            Self::EncodedMail
        } else if value.parse::<Ipv4Addr>().is_ok() {
            Self::Ipv4
        } else if value.parse::<Ipv6Addr>().is_ok() {
            Self::Ipv6
        } else if value.bytes().all(|letter| letter.is_ascii_digit()) {
            Self::Digits
        } else if value.len() == 36 && [8, 13, 18, 23].into_iter().all(dashes) {
            Self::Uuid
        } else if value.bytes().all(|letter| letter.is_ascii_hexdigit()) {
            Self::Hex
        } else {
            Self::Other
        }
    }

    fn letter(self) -> &'static str {
        Self::ALL.iter().find(|(shape, _)| *shape == self).map_or("x", |(_, letter)| letter)
    }

    fn read(letter: &str) -> Self {
        Self::ALL.iter().find(|(_, known)| *known == letter).map_or(Self::Other, |(shape, _)| *shape)
    }

    /// The value with this number, of this kind and, where that is long enough, of this length.
    fn written(self, length: usize, number: usize) -> String {
        match self {
            Self::Mail => format!("user{number}@example.com"),
            Self::EncodedMail => format!("user{number}%40example.com"),
            Self::Ipv4 => {
                // Addresses for measurements (RFC 2544), which are nobody's.
                let [.., a, b, c] = (number as u32).to_be_bytes();
                format!("198.{}.{b}.{c}", 18 + (a & 1))
            }
            // For documentation (RFC 3849).
            Self::Ipv6 => format!("2001:db8::{:x}:{:x}", (number >> 16) & 0xffff, number & 0xffff),
            // The first digit tells short values from padded ones, so that two never become the same.
            Self::Digits if length <= number.to_string().len() => format!("9{number}"),
            Self::Digits => format!("1{number:0>width$}", width = length - 1),
            Self::Uuid => format!("00000000-0000-4000-8000-{number:012x}"),
            Self::Hex => format!("{number:0length$x}"),
            Self::Other => format!("x{number:0>width$}", width = length.saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl StandIns {
        fn target(&mut self, target: &str) -> String {
            let sealed = sealed(target, &Key::new([7; 16]));
            assert!(is_sealed_path(&sealed), "{sealed:?}");
            let (written, is_altered) = self.opened(&sealed);
            assert_eq!(is_altered, written != target);
            written
        }
    }

    #[test]
    fn what_names_things_stays_and_what_names_people_is_replaced() {
        let mut stand_ins = StandIns::default();
        for (target, written) in [
            ("/get_result?a=1&b=2", "/get_result?a=1&b=2"),
            ("/users/17/orders/123e4567-e89b-12d3-a456-426614174000", "/users/17/orders/123e4567-e89b-12d3-a456-426614174000"),
            ("/search?q=shoes&page=2&empty=", "/search?q=shoes&page=2&empty="),
            ("/u/me%40x.example?ref=me%40x.example", "/u/user1%40example.com?ref=user1%40example.com"),
            ("/reset/Zm9vYmFyMTIzNDU2Nzg5MA", "/reset/x000000000000000000002"),
            ("/static/app.9f86d081884c7d65.js", "/static/app.9f86d081884c7d65.js"),
            ("/a?token=s3cr3t&x=1", "/a?token=x00003&x=1"),
            ("/b?token=s3cr3t", "/b?token=x00003"),
            ("/call?phone=0151&n=49301234567", "/call?phone=1004&n=10000000005"),
            ("/cart;jsessionid=0AFF?x", "/cart;jsessionid=0006?x"),
            ("/from/192.0.2.7", "/from/198.18.0.7"),
            ("/?s=123e4567-e89b-12d3-a456-426614174000", "/?s=00000000-0000-4000-8000-000000000008"),
            ("/?me@x.example", "/?user9@example.com"),
        ] {
            assert_eq!(stand_ins.target(target), written);
        }
        assert_eq!(stand_ins.count(), 9);
    }

    proptest! {
        #[test]
        fn different_paths_stay_different(paths in prop::collection::hash_set("/[a-b]{1,2}(/[0-9a-f]{16,18})?(\\?(token=[g-h]{2,6}|q=[a-b0-9]{1,3}))?", 1..60)) {
            let mut stand_ins = StandIns::default();
            let written: std::collections::HashSet<String> = paths.iter().map(|path| stand_ins.target(path)).collect();
            prop_assert_eq!(written.len(), paths.len());
        }
    }
}
