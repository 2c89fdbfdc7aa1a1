//! Other values in the place of what looks personal or secret in a path: the same one wherever the value stood.
//!
//! A scenario made from a log is passed on like a report, and is to ask for what the log asked for. Left out, a token would be three
//! stars for everybody, and a cache would see one user where there were a thousand. So each such value becomes another of its kind and
//! length, numbered in the order in which they are met: as many different ones as there were, and nothing of them is left. A digest of
//! the value was the alternative; an address or a number of a telephone is found again from its digest by trying all there are.
//!
//! Paths name things (`/users/17`, a UUID, a date), and those stay, else nothing asked for would be there; what stands in a query has to
//! look harmless and to have a harmless name.

use std::net::{Ipv4Addr, Ipv6Addr};

use plan::{is_secret, percent_decoded};
use rustc_hash::FxHashMap;

use crate::route::kind;
use crate::scrub::is_personal;

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

    /// A path with its query.
    pub(crate) fn target(&mut self, target: &str) -> String {
        let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        let mut written = String::with_capacity(target.len());
        for (place, segment) in path.split('/').enumerate() {
            written += if place > 0 { "/" } else { "" };
            // Parameters of a segment (RFC 3986 §3.3), such as a session's.
            for (place, part) in segment.split(';').enumerate() {
                written += if place > 0 { ";" } else { "" };
                written += &if part.contains('=') { self.pair(part) } else { self.segment(part) };
            }
        }
        if let Some(query) = query {
            written.push('?');
            for (place, pair) in query.split('&').enumerate() {
                written += if place > 0 { "&" } else { "" };
                written += &self.pair(pair);
            }
        }
        written
    }

    fn segment(&mut self, text: &str) -> String {
        let is_of_a_page = text.rsplit_once('.').is_some_and(|(_, ending)| OF_PAGES.contains(&ending.to_ascii_lowercase().as_str()));
        match kind(text.as_bytes()) {
            Some(b"{email}" | b"{address}") => self.stand_in(text),
            Some(b"{token}") if !is_of_a_page => self.stand_in(text),
            _ => text.to_owned(),
        }
    }

    fn pair(&mut self, pair: &str) -> String {
        let Some((name, value)) = pair.split_once('=') else {
            return if is_personal(&percent_decoded(pair)) { self.stand_in(pair) } else { pair.to_owned() };
        };
        let plain = percent_decoded(name).to_ascii_lowercase();
        let is_hidden = is_secret(&plain)
            || ["code", "jsessionid", "sid"].contains(&plain.as_str())
            || PERSONAL.iter().any(|word| plain.contains(word))
            || is_personal(&percent_decoded(value));
        let name = if is_personal(&plain) { self.stand_in(name) } else { name.to_owned() };
        if value.is_empty() || !is_hidden {
            return format!("{name}={value}");
        }
        format!("{name}={}", self.stand_in(value))
    }

    fn stand_in(&mut self, value: &str) -> String {
        if let Some(known) = self.known.get(value) {
            return known.to_string();
        }
        let made = shaped(value, self.known.len() + 1);
        self.known.insert(value.into(), made.as_str().into());
        made
    }
}

/// The value with this number, of the kind and, where that is long enough, of the length of another.
fn shaped(value: &str, number: usize) -> String {
    let length = value.len();
    if value.contains('@') {
        return format!("user{number}@example.com");
    }
    if value.to_ascii_lowercase().contains("%40") {
        return format!("user{number}%40example.com");
    }
    if value.parse::<Ipv4Addr>().is_ok() {
        // Addresses for measurements (RFC 2544), which are nobody's.
        let [.., a, b, c] = (number as u32).to_be_bytes();
        return format!("198.{}.{b}.{c}", 18 + (a & 1));
    }
    if value.parse::<Ipv6Addr>().is_ok() {
        // For documentation (RFC 3849).
        return format!("2001:db8::{:x}:{:x}", (number >> 16) & 0xffff, number & 0xffff);
    }
    if value.bytes().all(|letter| letter.is_ascii_digit()) {
        // The first digit tells short values from padded ones, so that two never become the same.
        let is_short = length <= number.to_string().len();
        return if is_short { format!("9{number}") } else { format!("1{number:0>width$}", width = length - 1) };
    }
    let dashes = |at: usize| value.as_bytes()[at] == b'-';
    if length == 36 && [8, 13, 18, 23].into_iter().all(dashes) {
        return format!("00000000-0000-4000-8000-{number:012x}");
    }
    if value.bytes().all(|letter| letter.is_ascii_hexdigit()) {
        return format!("{number:0length$x}");
    }
    format!("x{number:0>width$}", width = length.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
