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

use crate::entry::{Entry, Reason, is_method, path};
use crate::layout::status;
use crate::multipart::{self, Part};
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
    #[serde(default)]
    body_size: Value,
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
            let (sent, is_partial) = captured(&entry.request);
            (self.0)(told(&entry, &sent, is_partial));
        }
        Ok(())
    }
}

/// The request as it may have gone over the wire, and whether something of its body was not recorded.
fn captured(request: &HarRequest) -> (Vec<u8>, bool) {
    let mut sent = format!("{} {} HTTP/1.1\r\n", request.method, request.url).into_bytes();
    let recorded = |wanted: &str| pairs(&request.headers).find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value);
    let said = recorded("content-type").or_else(|| request.post_data["mimeType"].as_str()).unwrap_or_default();
    let HarBody { bytes, media_type, is_partial } = HarBody::of(request, said, recorded("content-length"));
    let mut header = |name: &str, value: &str| {
        if !name.is_empty() && !name.chars().chain(value.chars()).any(char::is_control) {
            sent.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
    };
    // The type of a body that was put together here says how.
    let is_own = |name: &str| media_type.is_some() && name.eq_ignore_ascii_case("content-type");
    pairs(&request.headers).filter(|(name, _)| !is_own(name)).for_each(|(name, value)| header(name, value));
    if recorded("cookie").is_none() {
        let cookies: Vec<String> = pairs(&request.cookies).map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            header("Cookie", &cookies.join("; "));
        }
    }
    match media_type {
        Some(media_type) => header("Content-Type", &media_type),
        None if recorded("content-type").is_none() && !bytes.is_empty() && !said.is_empty() => header("Content-Type", said),
        None => {}
    }
    sent.extend_from_slice(b"\r\n");
    sent.extend_from_slice(&bytes);
    (sent, is_partial)
}

/// What followed the head, as far as it was recorded.
struct HarBody {
    bytes: Vec<u8>,
    /// Its type, where that is another than was recorded.
    media_type: Option<String>,
    is_partial: bool,
}

impl HarBody {
    fn of(request: &HarRequest, said: &str, length: Option<&str>) -> Self {
        let posted = &request.post_data;
        let whole = |bytes: Vec<u8>| Self { bytes, media_type: None, is_partial: false };
        let text = posted["text"].as_str().unwrap_or_default();
        if !text.is_empty() && posted["encoding"] == "base64" {
            return STANDARD.decode(text).map_or(Self { is_partial: true, ..whole(Vec::new()) }, whole);
        }
        if !text.is_empty() {
            return whole(text.as_bytes().to_vec());
        }
        let params = posted["params"].as_array().map_or(&[][..], Vec::as_slice);
        let media = said.trim_start().to_ascii_lowercase();
        if media.starts_with("multipart/form-data") && !params.is_empty() {
            let parts: Vec<Part<'_>> = params
                .iter()
                .map(|param| Part {
                    name: param["name"].as_str().unwrap_or_default(),
                    value: param["value"].as_str().unwrap_or_default(),
                    file_name: param["fileName"].as_str().filter(|file| !file.is_empty()),
                    media_type: param["contentType"].as_str(),
                })
                .collect();
            let (form, boundary) = multipart::written(&parts, said);
            let is_partial = parts.iter().any(|part| part.file_name.is_some() && part.value.is_empty());
            return Self { bytes: form.into_bytes(), media_type: Some(format!("multipart/form-data; boundary={boundary}")), is_partial };
        }
        // Parts of another kind than a form's are not told by names and values.
        if !params.is_empty() && !media.starts_with("multipart/") {
            let encoded = |text: &str| plan::percent_encoded(&plan::percent_decoded(&text.replace('+', " ")));
            let fields: Vec<String> =
                pairs(&posted["params"]).map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
            return whole(fields.join("&").into_bytes());
        }
        let is_partial = is_missing(&request.body_size, length, &media);
        Self { is_partial, ..whole(Vec::new()) }
    }
}

/// Whether a request of which no body was recorded had one: its size says so, or its length, or that it is of parts.
pub(crate) fn is_missing(body_size: &Value, length: Option<&str>, media: &str) -> bool {
    let length = length.and_then(|length| length.trim().parse::<u64>().ok()).unwrap_or(0);
    body_size.as_f64().is_some_and(|size| size > 0.0) || length > 0 || media.trim_start().to_ascii_lowercase().starts_with("multipart/")
}

/// A list of names and values.
fn pairs(list: &Value) -> impl Iterator<Item = (&str, &str)> {
    list.as_array().into_iter().flatten().filter_map(|pair| Some((pair["name"].as_str()?, pair["value"].as_str().unwrap_or_default())))
}

fn told<'a>(har: &'a HarEntry, sent: &'a [u8], is_partial: bool) -> Result<Entry<'a>, Reason> {
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
        is_partial,
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
pub(crate) struct RecordedEntry {
    at_ns: i64,
    offset_s: i32,
    method: Box<[u8]>,
    url: Box<[u8]>,
    status: u16,
    bytes: Option<u64>,
    took_ns: Option<i64>,
    sent: Box<[u8]>,
    is_partial: bool,
}

impl RecordedEntry {
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
            is_partial: entry.is_partial,
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
            is_partial: self.is_partial,
        }
    }
}
