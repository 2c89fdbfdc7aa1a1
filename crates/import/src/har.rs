//! HAR: one document of JSON, as browsers save what they did.
//!
//! Entries are told one by one while the document is read, so that a large one needs no more memory than a small one.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::entry::{Entry, Reason, is_method, path};
use crate::layout::status;
use crate::stamp::iso;

/// Reads a document and tells its entries; ends early where it is none, with why.
pub(crate) fn read(source: impl Read, tell: &mut dyn FnMut(Result<Entry<'_>, Reason>)) -> Result<(), serde_json::Error> {
    let mut document = serde_json::Deserializer::from_reader(source);
    Level { wanted: "log", inner: Inner::Log, tell }.deserialize(&mut document)?;
    document.end()
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HarEntry {
    #[serde(default)]
    started_date_time: String,
    #[serde(default)]
    time: f64,
    request: HarRequest,
    response: HarResponse,
}

#[derive(Debug, Deserialize)]
struct HarRequest {
    #[serde(default)]
    method: String,
    #[serde(default)]
    url: String,
}

#[derive(Debug, Deserialize)]
struct HarResponse {
    #[serde(default)]
    status: i64,
    #[serde(default)]
    content: HarContent,
}

#[derive(Debug, Default, Deserialize)]
struct HarContent {
    #[serde(default)]
    size: i64,
}

/// An object of which one field matters.
struct Level<'t> {
    wanted: &'static str,
    inner: Inner,
    tell: &'t mut dyn FnMut(Result<Entry<'_>, Reason>),
}

#[derive(Clone, Copy)]
enum Inner {
    Log,
    Entries,
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a HAR document with \"{}\"", self.wanted)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut there = false;
        while let Some(name) = map.next_key::<String>()? {
            if name != self.wanted {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            there = true;
            match self.inner {
                Inner::Log => map.next_value_seed(Level { wanted: "entries", inner: Inner::Entries, tell: &mut *self.tell })?,
                Inner::Entries => map.next_value_seed(Entries(&mut *self.tell))?,
            }
        }
        if there { Ok(()) } else { Err(serde::de::Error::missing_field(self.wanted)) }
    }
}

struct Entries<'t>(&'t mut dyn FnMut(Result<Entry<'_>, Reason>));

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the entries of a HAR document")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(entry) = seq.next_element::<HarEntry>()? {
            (self.0)(told(&entry));
        }
        Ok(())
    }
}

fn told(har: &HarEntry) -> Result<Entry<'_>, Reason> {
    let url = har.request.url.as_bytes();
    if !url.starts_with(b"http") || !is_method(har.request.method.as_bytes()) {
        return Err(Reason::Request);
    }
    let stamp = iso(har.started_date_time.as_bytes()).ok_or(Reason::Time)?;
    let status = if har.response.status <= 0 { Some(0) } else { status(har.response.status.to_string().as_bytes()) };
    Ok(Entry {
        start_ns: stamp.at_ns,
        stamp_ns: stamp.at_ns,
        target: url,
        named_host: None,
        sent: None,
        offset_s: stamp.offset_s,
        method: har.request.method.as_bytes(),
        path: path(url).ok_or(Reason::Request)?,
        status: status.ok_or(Reason::Status)?,
        bytes: u64::try_from(har.response.content.size).ok(),
        took_ns: (har.time.is_finite() && (0.0..1e11).contains(&har.time)).then_some((har.time * 1e6) as i64),
        // One browser: everything is asked by the same user.
        client: Some(b"the browser"),
    })
}

/// What is kept of an entry.
#[derive(Debug)]
pub(crate) struct Kept {
    at_ns: i64,
    offset_s: i32,
    method: Box<[u8]>,
    url: Box<[u8]>,
    status: u16,
    bytes: Option<u64>,
    took_ns: Option<i64>,
}

impl Kept {
    pub(crate) fn of(entry: &Entry<'_>) -> Self {
        Self {
            at_ns: entry.start_ns,
            offset_s: entry.offset_s,
            method: entry.method.into(),
            url: entry.target.into(),
            status: entry.status,
            bytes: entry.bytes,
            took_ns: entry.took_ns,
        }
    }

    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry {
            start_ns: self.at_ns,
            stamp_ns: self.at_ns,
            offset_s: self.offset_s,
            method: &self.method,
            path: path(&self.url).unwrap_or(b"/"),
            target: &self.url,
            named_host: None,
            status: self.status,
            bytes: self.bytes,
            took_ns: self.took_ns,
            client: Some(b"the browser"),
            sent: None,
        }
    }
}
