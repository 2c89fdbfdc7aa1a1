//! HAR: one document of JSON, as browsers save what they did.
//!
//! Entries are told one by one while the document is read, so that a large one needs no more memory than a small one. Headers and bodies
//! are put together as they went over the wire, since whoever sends a request again knows what to do with one that was captured; what
//! tools write there is looked at loosely, and what is of another shape than it should be is left out.

use std::fmt;
use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::collection::percent_encoded;
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
#[serde(rename_all = "camelCase")]
struct HarRequest {
    #[serde(default)]
    method: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    headers: Value,
    #[serde(default)]
    cookies: Value,
    #[serde(default)]
    post_data: Value,
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
            let sent = captured(&entry.request);
            (self.0)(told(&entry, &sent));
        }
        Ok(())
    }
}

/// The request as it may have gone over the wire.
fn captured(request: &HarRequest) -> Vec<u8> {
    let mut sent = format!("{} {} HTTP/1.1\r\n", request.method, request.url).into_bytes();
    let has = |wanted: &str| pairs(&request.headers).any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let (has_cookies, has_type) = (has("cookie"), has("content-type"));
    let mut header = |name: &str, value: &str| {
        if !name.is_empty() && !name.chars().chain(value.chars()).any(char::is_control) {
            sent.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
    };
    pairs(&request.headers).for_each(|(name, value)| header(name, value));
    if !has_cookies {
        let cookies: Vec<String> = pairs(&request.cookies).map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            header("Cookie", &cookies.join("; "));
        }
    }
    let posted = &request.post_data;
    let media = posted["mimeType"].as_str().unwrap_or_default();
    let body = match posted["text"].as_str() {
        Some(text) if posted["encoding"] == "base64" => STANDARD.decode(text).unwrap_or_default(),
        Some(text) if !text.is_empty() => text.as_bytes().to_vec(),
        // Fields of a form with files in it are not all there.
        _ if media.starts_with("multipart/") => Vec::new(),
        _ => {
            let encoded = |text: &str| percent_encoded(&plan::percent_decoded(&text.replace('+', " ")));
            let fields: Vec<String> =
                pairs(&posted["params"]).map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
            fields.join("&").into_bytes()
        }
    };
    if !has_type && !body.is_empty() && !media.is_empty() {
        header("Content-Type", media);
    }
    sent.extend_from_slice(b"\r\n");
    sent.extend_from_slice(&body);
    sent
}

/// A list of names and values.
fn pairs(list: &Value) -> impl Iterator<Item = (&str, &str)> {
    list.as_array().into_iter().flatten().filter_map(|pair| Some((pair["name"].as_str()?, pair["value"].as_str().unwrap_or_default())))
}

fn told<'a>(har: &'a HarEntry, sent: &'a [u8]) -> Result<Entry<'a>, Reason> {
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
        agent: None,
        referer: None,
        sent: Some(sent),
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
    sent: Box<[u8]>,
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
            sent: entry.sent.unwrap_or_default().into(),
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
            agent: None,
            referer: None,
            sent: Some(&self.sent),
        }
    }
}
