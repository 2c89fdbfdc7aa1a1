//! What one user knows of answers that it has had: their marks, and how long they are fresh (RFC 9111, RFC 9110 §8.8).
//!
//! Bodies are not kept: a load test asks whether the server has something new, and what it answered before is of no use. So an answer
//! is a hundred bytes here, its URL eight of them: a hash that comes again is taken for the same URL, which of 64 bits it is.
//!
//! What says nothing about its time is fresh for a tenth of the time that it has not changed, or else always: that is what JMeter does.
//! Time is that of the run, so that nobody reads a clock for it.
//!
//! Invariant: no cache holds more than [`CACHE_BYTES_MAX`].

use std::hash::{DefaultHasher, Hash, Hasher};

use lru::LruCache;
use plan::work::Cache as Keeping;
use plan::{Nanos, Target};

use crate::answer::Headers;
use crate::date::UnixSeconds;

/// All that one user knows.
pub const CACHE_BYTES_MAX: usize = 256 * 1024;
/// Marks that are longer are none.
const MARK_BYTES_MAX: usize = 1024;
/// What an answer takes beside its marks.
const KEPT_BYTES: usize = 96;

/// The answers that one user knows of.
#[derive(Debug)]
pub struct Cache {
    kept: LruCache<u64, Kept>,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    /// The `ETag`, then what `Last-Modified` says; of one that differs by headers of the request these headers, and what is known stands
    /// elsewhere for each of their values.
    marks: Box<[u8]>,
    etag_bytes: u16,
    differs: bool,
    fresh_until: Nanos,
}

/// A request, as far as what is known of its answer depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    url: u64,
    headers: Headers<'a>,
}

impl<'a> Asked<'a> {
    /// For this path of a server.
    #[must_use]
    pub fn new(server: &Target, path: &str, headers: Headers<'a>) -> Self {
        let mut hasher = DefaultHasher::new();
        (server.scheme() as u8, server.host(), server.port(), path).hash(&mut hasher);
        Self { url: hasher.finish(), headers }
    }

    /// What is known of the answer where that differs by these headers. Cookies are not looked at: they are another request's after each answer.
    fn differing_by(&self, names: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.url.hash(&mut hasher);
        for name in listed(names).filter(|name| !name.eq_ignore_ascii_case(b"cookie")) {
            for (_, value) in self.headers.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name)) {
                value.hash(&mut hasher);
            }
            0.hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// The parts of a list in a header.
fn listed(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|part| !part.is_empty())
}

impl Default for Cache {
    fn default() -> Self {
        Self { kept: LruCache::unbounded(), bytes: 0 }
    }
}

impl Cache {
    /// Where what is known of this answer stands, and the headers by which it differs.
    fn place_of(&mut self, asked: &Asked<'_>) -> Option<(u64, bool)> {
        let kept = self.kept.get(&asked.url)?;
        if !kept.differs {
            return Some((asked.url, false));
        }
        let by_cookie = listed(&kept.marks).any(|name| name.eq_ignore_ascii_case(b"cookie"));
        Some((asked.differing_by(&kept.marks), by_cookie))
    }

    /// Writes the headers that ask whether what is known of this has changed; nothing if nothing is known.
    pub fn write(&mut self, asked: &Asked<'_>, out: &mut Vec<u8>) {
        let place = self.place_of(asked);
        let Some(kept) = place.and_then(|(place, _)| self.kept.get(&place)) else { return };
        let (etag, modified) = kept.marks.split_at(kept.etag_bytes.into());
        for (name, value) in [(&b"If-None-Match: "[..], etag), (b"If-Modified-Since: ", modified)] {
            if !value.is_empty() {
                out.extend_from_slice(name);
                out.extend_from_slice(value);
                out.extend_from_slice(b"\r\n");
            }
        }
    }

    /// Whether what is known of this need not be asked for at that time; `has_cookies` if cookies would be sent.
    #[must_use]
    pub fn is_fresh(&mut self, asked: &Asked<'_>, has_cookies: bool, at: Nanos) -> bool {
        let Some((place, by_cookie)) = self.place_of(asked) else { return false };
        !(by_cookie && has_cookies) && self.kept.get(&place).is_some_and(|kept| kept.fresh_until > at)
    }

    /// Takes up what the answer to a GET says about itself, which was there `at` that time of the run, and `now`.
    pub fn take(&mut self, asked: &Asked<'_>, (status, answer): (u16, Headers<'_>), keeping: Keeping, (at, now): (Nanos, UnixSeconds)) {
        if !(200..300).contains(&status) && status != 304 {
            return;
        }
        let of = |name: &'static str| answer.named(name).last().unwrap_or_default();
        let control = String::from_utf8_lossy(of("cache-control")).to_ascii_lowercase();
        let says = |word: &str| control.split(',').any(|part| part.trim() == word);
        let vary = of("vary");
        let is_bad = |mark: &[u8]| mark.len() > MARK_BYTES_MAX || mark.iter().any(u8::is_ascii_control);
        if says("no-store") && !keeping.always_ask || listed(vary).any(|name| name == b"*") || is_bad(vary) {
            // Of several that differ by headers, this one as well.
            let own = self.place_of(asked).map(|(place, _)| place);
            own.into_iter().chain([asked.differing_by(vary), asked.url]).for_each(|place| self.forget(place));
            return;
        }
        let place = match vary {
            // One that has not changed need not say again by what it differs.
            b"" if status == 304 => self.place_of(asked).map_or(asked.url, |(place, _)| place),
            b"" => asked.url,
            names => asked.differing_by(names),
        };
        let known = self.kept.peek(&place).filter(|kept| !kept.differs).map(|kept| kept.marks.split_at(kept.etag_bytes.into()));
        let (old_etag, old_modified) = known.filter(|_| status == 304).unwrap_or_default();
        let mark = |name: &'static str| Some(of(name)).filter(|mark| !is_bad(mark)).unwrap_or_default();
        let or = |mark: &[u8], old: &[u8]| if mark.is_empty() { old.to_vec() } else { mark.to_vec() };
        let (etag, modified) = (or(mark("etag"), old_etag), or(mark("last-modified"), old_modified));
        let span = if keeping.always_ask || says("no-cache") { Some(0) } else { fresh_for(&control, answer, now) };
        let fresh_until = span.map_or(Nanos::NEVER, |span| if span == 0 { Nanos::ZERO } else { at.plus(Nanos::from_secs(span.into())) });
        let says_nothing = etag.is_empty() && modified.is_empty() && of("expires").is_empty() && control.trim().is_empty();
        if says_nothing || etag.is_empty() && modified.is_empty() && fresh_until <= at {
            self.forget(place);
            return;
        }
        if !vary.is_empty() {
            self.keep(asked.url, Kept { marks: vary.into(), etag_bytes: 0, differs: true, fresh_until: Nanos::ZERO });
        }
        let etag_bytes = etag.len() as u16;
        self.keep(place, Kept { marks: [etag, modified].concat().into(), etag_bytes, differs: false, fresh_until });
        let at_most = keeping.at_most.get() as usize;
        while self.kept.len() > at_most.max(1 + usize::from(!vary.is_empty())) || self.bytes > CACHE_BYTES_MAX {
            let Some((_, gone)) = self.kept.pop_lru() else { return };
            self.bytes -= gone.bytes();
        }
    }

    fn keep(&mut self, place: u64, kept: Kept) {
        self.bytes += kept.bytes();
        if let Some(before) = self.kept.put(place, kept) {
            self.bytes -= before.bytes();
        }
    }

    fn forget(&mut self, place: u64) {
        if let Some(before) = self.kept.pop(&place) {
            self.bytes -= before.bytes();
        }
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        KEPT_BYTES + self.marks.len()
    }
}

/// For how many seconds an answer is fresh (RFC 9111 §4.2): by `max-age`, by `Expires`, else for a tenth of the time that it has not
/// changed; `None`: always.
fn fresh_for(control: &str, answer: Headers<'_>, now: UnixSeconds) -> Option<u32> {
    let date = |name: &'static str| answer.named(name).last().and_then(UnixSeconds::of_cookie);
    // The server's clock need not be ours.
    let since = |earlier: i64, later: i64| u32::try_from(later.saturating_sub(earlier).max(0)).unwrap_or(u32::MAX);
    if let Some(age) = control.split([',', ' ']).find_map(|part| part.trim().strip_prefix("max-age=")) {
        let age = age.trim_matches('"');
        return Some(age.parse().unwrap_or(if age.bytes().all(|byte| byte.is_ascii_digit()) { u32::MAX } else { 0 }));
    }
    if answer.named("expires").next().is_some() {
        // What is no date is over (§5.3).
        return Some(date("expires").map_or(0, |expires| since(date("date").unwrap_or(now).0, expires.0)));
    }
    let (modified, answered) = (date("last-modified")?, date("date")?);
    Some(since(modified.0, answered.0) / 10)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    const NOW: UnixSeconds = UnixSeconds(1_700_000_000);
    const AT: Nanos = Nanos::from_secs(100);
    const THREE: Keeping = Keeping { at_most: NonZeroU32::new(3).unwrap(), always_ask: false, all_methods: false, number: 1 };

    fn asking<'a>(path: &str, headers: &'a str) -> Asked<'a> {
        Asked::new(&"http://a.test".parse().unwrap(), path, Headers::lines(headers.as_bytes()))
    }

    fn marks(cache: &mut Cache, path: &str) -> String {
        let mut out = Vec::new();
        cache.write(&asking(path, ""), &mut out);
        String::from_utf8(out).unwrap().replace("\r\n", ";")
    }

    fn take_of(cache: &mut Cache, asked: &Asked<'_>, status: u16, headers: &str, keeping: Keeping) {
        cache.take(asked, (status, Headers::lines(headers.replace(';', "\n").as_bytes())), keeping, (AT, NOW));
    }

    fn take(cache: &mut Cache, path: &str, status: u16, headers: &str) {
        take_of(cache, &asking(path, ""), status, headers, THREE);
    }

    #[test]
    fn what_is_known_is_asked_for_with_its_marks() {
        let mut cache = Cache::default();
        assert_eq!(marks(&mut cache, "/a"), "");
        take(&mut cache, "/a", 200, "ETag: \"1\";Last-Modified: Tue, 14 Nov 2023 00:00:00 GMT;");
        take(&mut cache, "/b", 204, "etag: W/\"2\";");
        take(&mut cache, "/c", 404, "ETag: \"3\";");
        assert_eq!(marks(&mut cache, "/a"), "If-None-Match: \"1\";If-Modified-Since: Tue, 14 Nov 2023 00:00:00 GMT;");
        assert_eq!((marks(&mut cache, "/b"), marks(&mut cache, "/c")), ("If-None-Match: W/\"2\";".to_owned(), String::new()));
        // It has changed, and has not.
        take(&mut cache, "/a", 200, "ETag: \"4\";");
        take(&mut cache, "/b", 304, "Cache-Control: no-cache;");
        assert_eq!(
            (marks(&mut cache, "/a"), marks(&mut cache, "/b")),
            ("If-None-Match: \"4\";".to_owned(), "If-None-Match: W/\"2\";".to_owned())
        );
        take(&mut cache, "/a", 200, "ETag: \"5\";Cache-Control: private, no-store;");
        take(&mut cache, "/b", 200, "X: 1;");
        assert_eq!((marks(&mut cache, "/a"), marks(&mut cache, "/b"), cache.bytes), (String::new(), String::new(), 0));
        let always = Keeping { always_ask: true, ..THREE };
        take_of(&mut cache, &asking("/a", ""), 200, "ETag: \"5\";Cache-Control: no-store, max-age=60;", always);
        assert_eq!(marks(&mut cache, "/a"), "If-None-Match: \"5\";");
        assert!(!cache.is_fresh(&asking("/a", ""), false, AT));
        assert_ne!(Asked::new(&"http://a.test:81".parse().unwrap(), "/a", Headers::NONE).url, asking("/a", "").url);
    }

    #[test]
    fn it_is_fresh_for_as_long_as_its_server_says() {
        for (headers, seconds) in [
            ("Cache-Control: public, max-age=60;Expires: Thu, 01 Jan 1970 00:00:00 GMT;", 60),
            ("Date: Tue, 14 Nov 2023 22:13:20 GMT;Expires: Tue, 14 Nov 2023 22:13:50 GMT;", 30),
            ("Expires: Tue, 14 Nov 2023 22:13:25 GMT;", 5),
            ("Expires: 0;ETag: \"1\";", 0),
            ("Cache-Control: no-cache, max-age=60;ETag: \"1\";", 0),
            ("Cache-Control: max-age=no;ETag: \"1\";", 0),
            ("Date: Tue, 14 Nov 2023 22:13:20 GMT;Last-Modified: Tue, 14 Nov 2023 22:11:40 GMT;", 10),
            ("ETag: \"1\";", 1_000_000),
            ("Cache-Control: private;", 1_000_000),
            ("Cache-Control: max-age=99999999999999;", 4_000_000_000),
            ("X: 1;", 0),
        ] {
            let mut cache = Cache::default();
            take(&mut cache, "/", 200, headers);
            let mut is_fresh = |after: u64| cache.is_fresh(&asking("/", ""), false, AT.plus(Nanos::from_secs(after)));
            assert_eq!((is_fresh(seconds.max(1) - 1), seconds < 1_000_000 && is_fresh(seconds)), (seconds > 0, false), "{headers}");
        }
    }

    #[test]
    fn answers_differ_by_the_headers_that_their_server_names() {
        let (html, csv) = (asking("/", "Accept: text/html\r\nCookie: a=1\r\n"), asking("/", "accept: text/csv\r\nX: 1\r\n"));
        let mut cache = Cache::default();
        take_of(&mut cache, &html, 200, "Vary: Accept;Cache-Control: max-age=9;", THREE);
        assert_eq!([html, csv].map(|asked| cache.is_fresh(&asked, true, AT)), [true, false]);
        take_of(&mut cache, &csv, 200, "Vary: accept, Cookie;Cache-Control: max-age=9;", THREE);
        assert_eq!([true, false].map(|has_cookies| cache.is_fresh(&csv, has_cookies, AT)), [false, true]);
        take_of(&mut cache, &csv, 200, "Vary: *;Cache-Control: max-age=9;", THREE);
        assert!(!cache.is_fresh(&csv, false, AT));
    }

    #[test]
    fn an_answer_that_differs_is_known_again_where_it_says_no_more_by_what() {
        let mut cache = Cache::default();
        let (plain, json) = (asking("/a", "Accept: text/plain"), asking("/a", "Accept: application/json"));
        take_of(&mut cache, &plain, 200, "Vary: Accept;ETag: \"1\";Cache-Control: max-age=10", THREE);
        take_of(&mut cache, &json, 200, "Vary: Accept;ETag: \"2\"", THREE);
        let marks = |cache: &mut Cache, asked: &Asked<'_>| {
            let mut out = Vec::new();
            cache.write(asked, &mut out);
            String::from_utf8(out).unwrap()
        };
        take_of(&mut cache, &plain, 304, "Cache-Control: max-age=10", THREE);
        assert_eq!(marks(&mut cache, &plain), "If-None-Match: \"1\"\r\n");
        assert_eq!(marks(&mut cache, &json), "If-None-Match: \"2\"\r\n");
        // What is not to be kept is gone, also when another answer says again by what they differ.
        take_of(&mut cache, &plain, 200, "Cache-Control: no-store", THREE);
        take_of(&mut cache, &json, 200, "Vary: Accept;ETag: \"3\"", THREE);
        assert!(!cache.is_fresh(&plain, false, AT));
        assert_eq!(marks(&mut cache, &plain), "");
    }

    #[test]
    fn only_so_many_are_known_those_that_were_used_last() {
        let mut cache = Cache::default();
        for path in ["/1", "/2", "/3"] {
            take(&mut cache, path, 200, &format!("ETag: \"{path}\";"));
        }
        marks(&mut cache, "/1");
        take(&mut cache, "/4", 200, "ETag: \"4\";");
        assert_eq!(["/1", "/2", "/3", "/4"].map(|path| marks(&mut cache, path).is_empty()), [false, true, false, false]);
        let mut cache = Cache::default();
        for number in 0..2_000 {
            let headers = format!("ETag: \"{}\";", "x".repeat(500));
            take_of(&mut cache, &asking(&number.to_string(), ""), 200, &headers, Keeping { at_most: NonZeroU32::MAX, ..THREE });
        }
        assert!(cache.bytes <= CACHE_BYTES_MAX && cache.kept.len() > 400, "{}", cache.kept.len());
        take(&mut cache, "/long", 200, &format!("ETag: \"{}\";", "x".repeat(5_000)));
        assert_eq!(marks(&mut cache, "/long"), "");
    }
}
