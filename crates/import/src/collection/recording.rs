//! HAR: what a browser sent, in the order in which it began.
//!
//! A recording of a page holds a hundred requests for scripts, pictures and other people's counters beside the ten that matter. They
//! are all carried over: which of them matter is the user's to say (`--only`, `--except`), since a page that is slow for its pictures
//! is slow. Answers are skipped while the document is read, so that a recording of a gigabyte of pictures needs no memory for them.

use plan::FILE_TYPE;
use plan::template::Template;
use plan::work::{Auth, Body, Field, FieldValue};
use serde::Deserialize;
use serde_json::Value;

use super::curl::{basic, credentials_apart};
use super::recorded_talk::{self, RecordedMessage};
use super::{Collection, Kind, ReadError, Request, is_method, shortened};
use crate::har::is_missing;
use crate::multipart::{self, Part};

#[derive(Deserialize)]
struct Document {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    #[serde(default)]
    pages: Vec<Page>,
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
}

#[derive(Deserialize)]
struct Entry {
    request: RecordedRequest,
    #[serde(default, rename = "_webSocketMessages")]
    messages: Option<Vec<RecordedMessage>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedRequest {
    #[serde(default)]
    method: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    #[serde(default)]
    cookies: Vec<Pair>,
    #[serde(default)]
    post_data: Option<RecordedBody>,
    #[serde(default)]
    body_size: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pair {
    #[serde(default)]
    name: String,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    file_name: Option<String>,
    #[serde(default)]
    content_type: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedBody {
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    params: Option<Vec<Pair>>,
    #[serde(default)]
    encoding: Option<String>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Collection, ReadError> {
    let document: Result<Document, _> =
        serde_json::from_slice(bytes).or_else(|why| match serde_json::from_slice::<RecordedRequest>(bytes) {
            // A request alone, without the recording around it.
            Ok(request) if !request.url.is_empty() => {
                Ok(Document { log: Log { pages: Vec::new(), entries: vec![Entry { request, messages: None }] } })
            }
            _ => Err(why),
        });
    let document = document.map_err(|why| {
        let message = why.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        ReadError::at(why.line(), why.column(), format!("this is no HAR recording: {message}"))
    })?;
    let mut collection = Collection::new(Kind::Har);
    collection.name = document.log.pages.into_iter().map(|page| page.title).next().unwrap_or_default();
    for (number, entry) in (1..).zip(document.log.entries) {
        let mut sent = entry.request;
        // A handshake is one over HTTP, however it is written down.
        let is_websocket = sent.url.starts_with("ws://") || sent.url.starts_with("wss://");
        if is_websocket {
            sent.url = sent.url.replacen("ws", "http", 1);
        }
        let place = format!("entry {number}");
        if !sent.url.starts_with("http://") && !sent.url.starts_with("https://") {
            collection.leave_out(format!("'{}'", shortened(&sent.url)), &place, "it is not HTTP");
            continue;
        }
        if !is_method(&sent.method) || sent.method == "CONNECT" {
            collection.leave_out(format!("the request with the method '{}'", shortened(&sent.method)), &place, "it is no method");
            continue;
        }
        let mut request = Request { method: sent.method, url: Template::fixed(sent.url), place: place.clone(), ..Request::default() };
        let mut length = None;
        let own_host = host(request.url.plain().unwrap_or_default()).to_owned();
        for header in sent.headers {
            let value = header.value.unwrap_or_default();
            if header.name.eq_ignore_ascii_case("content-length") {
                length = Some(value.clone());
            }
            // The host follows from the URL, unless it is another.
            if header.name.eq_ignore_ascii_case("host") && value == own_host {
                continue;
            }
            match basic(&value).filter(|_| header.name.eq_ignore_ascii_case("authorization")) {
                Some((user, password)) => request.auth = Some(Auth::Basic { user: user.into(), password: password.into() }),
                None => request.take_header(&header.name, Template::fixed(value)),
            }
        }
        if request.header("cookie").is_none() && !sent.cookies.is_empty() {
            let pairs: Vec<String> =
                sent.cookies.into_iter().map(|cookie| format!("{}={}", cookie.name, cookie.value.unwrap_or_default())).collect();
            request.headers.push(("Cookie".to_owned(), Template::fixed(pairs.join("; "))));
        }
        if is_websocket || request.header("sec-websocket-key").is_some() {
            const OF_THE_HANDSHAKE: [&str; 3] = ["sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];
            request.headers.retain(|(name, _)| !OF_THE_HANDSHAKE.contains(&name.to_ascii_lowercase().as_str()));
            credentials_apart(&mut request);
            recorded_talk::read(request, entry.messages.as_deref(), &mut collection);
            continue;
        }
        let posted = sent.post_data.unwrap_or_default();
        let said = posted.mime_type.clone().unwrap_or_default();
        body(posted, &place, &mut request, &mut collection);
        let media = request.header("content-type").and_then(Template::plain).unwrap_or(&said).to_ascii_lowercase();
        let is_told = collection.left_out.last().is_some_and(|left| left.place == place);
        if request.body == Body::Empty && !is_told && is_missing(&sent.body_size, length.as_deref(), &media) {
            let why = "it is not in the recording, and the request goes without; save it to a file and name that in the scenario";
            collection.leave_out(NO_BODY, &place, why);
            // Parts have a boundary, and there are none.
            if media.starts_with("multipart/") {
                request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            }
        }
        credentials_apart(&mut request);
        collection.requests.push(request);
    }
    Ok(collection)
}

/// What is left out of a request whose body nobody wrote down.
const NO_BODY: &str = "the body";

fn host(url: &str) -> &str {
    let authority = &url[plan::server_in(url)];
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn body(posted: RecordedBody, place: &str, request: &mut Request, collection: &mut Collection) {
    let media = posted.mime_type.unwrap_or_default();
    let params = posted.params.unwrap_or_default();
    if posted.encoding.is_some_and(|encoding| encoding == "base64") {
        collection.leave_out(NO_BODY, place, "it is not text; save it to a file and name that in the scenario");
        return;
    }
    let is_form = media.trim_start().to_ascii_lowercase().starts_with("multipart/form-data");
    if is_form && !params.is_empty() {
        form(&params, &media, place, request, collection);
        return;
    }
    let text = posted.text.unwrap_or_default();
    // Parts of another kind than a form's are not told by names and values.
    if text.is_empty() && !params.is_empty() && !media.trim_start().to_ascii_lowercase().starts_with("multipart/") {
        let pairs = params.into_iter().map(|param| {
            (
                Template::fixed(plan::percent_decoded(&param.name)),
                Template::fixed(plan::percent_decoded(&param.value.unwrap_or_default().replace('+', " "))),
            )
        });
        request.set_form(pairs.collect());
    } else if !text.is_empty() {
        if !media.is_empty() {
            request.header_if_none("Content-Type", media);
        }
        request.body = Body::Text(Template::fixed(text));
    }
}

/// A form of several parts. What was in a file is in few recordings; where it is, the bytes of the form are put together here.
fn form(params: &[Pair], media: &str, place: &str, request: &mut Request, collection: &mut Collection) {
    let is_file = |param: &Pair| param.file_name.as_ref().is_some_and(|name| !name.is_empty());
    let holds = |param: &Pair| param.value.as_ref().is_some_and(|value| !value.is_empty());
    for param in params.iter().filter(|param| is_file(param) && !holds(param)) {
        collection.leave_out(
            format!("what was in the file '{}'", shortened(param.file_name.as_deref().unwrap_or_default())),
            place,
            "recordings do not hold it; put a file of this name beside the scenario",
        );
    }
    // The boundary is another each time.
    request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    if params.iter().any(|param| is_file(param) && holds(param)) {
        let parts: Vec<Part<'_>> = params
            .iter()
            .map(|param| Part {
                name: &param.name,
                value: param.value.as_deref().unwrap_or_default(),
                file_name: param.file_name.as_deref().filter(|name| !name.is_empty()),
                media_type: param.content_type.as_deref(),
            })
            .collect();
        let (text, boundary) = multipart::written(&parts, media);
        request.headers.push(("Content-Type".to_owned(), Template::fixed(format!("multipart/form-data; boundary={boundary}"))));
        request.body = Body::Text(Template::fixed(text));
        return;
    }
    let fields = params.iter().map(|param| {
        let value = match param.file_name.as_ref().filter(|name| !name.is_empty()) {
            Some(path) => {
                FieldValue::File { path: path.clone(), media_type: param.content_type.as_deref().unwrap_or(FILE_TYPE).to_owned() }
            }
            None => FieldValue::Text(param.value.clone().unwrap_or_default().into()),
        };
        Field { name: param.name.clone(), value, headers: Vec::new() }
    });
    request.body = Body::Multipart(fields.collect());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;
    use plan::work::{Reply, Talk};

    const RECORDING: &str = r#"{"log": {"version": "1.2", "creator": {"name": "Firefox", "version": "140.0"},
      "pages": [{"startedDateTime": "2026-03-01T10:00:00.000+01:00", "id": "page_1", "title": "Shop", "pageTimings": {}}],
      "entries": [
        {"startedDateTime": "2026-03-01T10:00:00.000+01:00", "time": 12.5,
         "request": {"method": "GET", "url": "https://shop.example.com/?lang=de", "httpVersion": "HTTP/2",
           "headers": [{"name": ":authority", "value": "shop.example.com"}, {"name": "Host", "value": "shop.example.com"},
             {"name": "Accept", "value": "text/html"}, {"name": "Connection", "value": "keep-alive"}, {"name": "Cookie", "value": "sid=abc"}],
           "cookies": [{"name": "sid", "value": "abc"}], "queryString": [{"name": "lang", "value": "de"}], "headersSize": 100, "bodySize": 0},
         "response": {"status": 200, "statusText": "OK", "content": {"size": 5, "mimeType": "text/html", "text": "<p>{{x}}"}}},
        {"startedDateTime": "2026-03-01T10:00:01.000+01:00", "time": 3,
         "request": {"method": "POST", "url": "https://shop.example.com/login", "headers": [{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}],
           "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "user=me&password=hunter22"}},
         "response": {"status": 302}},
        {"request": {"method": "POST", "url": "https://shop.example.com/photo", "headers": [{"name": "Content-Type", "value": "multipart/form-data; boundary=x"}],
           "postData": {"mimeType": "multipart/form-data; boundary=x", "params": [{"name": "title", "value": "it"}, {"name": "file", "fileName": "a.png", "contentType": "image/png"}]}},
         "response": {}},
        {"request": {"method": "GET", "url": "wss://shop.example.com/live"}, "_resourceType": "websocket", "_webSocketMessages": [
           {"type": "receive", "time": 1.5, "opcode": 1, "data": "welcome"}, {"type": "send", "time": 2, "opcode": 1, "data": "{\"n\":{{1}}}"},
           {"type": "receive", "time": 2.1, "opcode": 1, "data": "ok"}, {"type": "receive", "time": 2.2, "opcode": 1, "data": "news"},
           {"type": "send", "time": 3, "opcode": 1, "data": "bye"}, {"type": "send", "time": 4, "opcode": 2, "data": "AAE="}]},
        {"request": {"method": "GET", "url": "https://shop.example.com/live", "headers": [{"name": "Sec-WebSocket-Key", "value": "x"}]}}
      ]}}"#;

    #[test]
    fn a_recording_is_what_the_browser_sent() {
        let read = Collection::read(Kind::Har, RECORDING.as_bytes(), &Wishes::default()).unwrap();
        assert_eq!(read.name, "Shop");
        let told: Vec<String> = read.requests.iter().map(|request| request.name.clone()).collect();
        let talk = ["connect /live", "send to /live", "send to /live", "close /live"];
        let all = ["GET /", "POST /login", "POST /photo"].into_iter().chain(talk).chain(["connect /live", "close /live"]);
        assert_eq!(told, all.collect::<Vec<_>>());
        let talks: Vec<_> = read.requests[3..7].iter().map(|request| request.talk.clone().unwrap()).collect();
        assert_eq!(talks, [Talk::Connect, Talk::Send(Reply::Next), Talk::Send(Reply::Nothing), Talk::Close(1000)]);
        assert_eq!(
            (read.requests[4].body.clone(), read.requests[4].url.to_string()),
            (Body::Text(Template::fixed(r#"{"n":{{1}}}"#)), "https://shop.example.com/live".to_owned())
        );
        let names: Vec<&str> = read.requests[0].headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Accept", "Cookie"]);
        assert_eq!(read.requests[1].body, Body::Text("user=me&password=hunter22".into()));
        let Body::Multipart(fields) = &read.requests[2].body else { panic!() };
        assert_eq!(fields.len(), 2);
        assert!(read.requests[2].header("content-type").is_none(), "the boundary is made anew");
        let left: Vec<String> = read.left_out.iter().map(|left| format!("{}: {}", left.place, left.what)).collect();
        assert_eq!(left, ["entry 3: what was in the file 'a.png'", "entry 4: 1 binary messages", "entry 5: the messages of a WebSocket"]);
    }

    /// Forms as browsers and proxies write them down: by their fields, with what was in a file, and not at all.
    const UPLOADS: &str = r#"{"log": {"entries": [
        {"request": {"method": "POST", "url": "https://shop.example.com/note", "bodySize": 70, "headers": [{"name": "Content-Type", "value": "multipart/form-data; boundary=b1"}],
           "postData": {"mimeType": "multipart/form-data; boundary=b1", "params": [{"name": "title", "value": "it"}, {"name": "note", "fileName": "a.txt", "contentType": "text/plain", "value": "two\r\nlines"}]}}},
        {"request": {"method": "POST", "url": "https://shop.example.com/photo", "bodySize": -1, "headers": [{"name": "content-type", "value": "Multipart/Form-Data; boundary=b2"}],
           "postData": {"mimeType": "Multipart/Form-Data; boundary=b2"}}},
        {"request": {"method": "PUT", "url": "https://shop.example.com/blob", "bodySize": 4096, "headers": [{"name": "Content-Type", "value": "application/octet-stream"}]}},
        {"request": {"method": "PUT", "url": "https://shop.example.com/size", "headers": [{"name": "Content-Length", "value": "12"}]}},
        {"request": {"method": "POST", "url": "https://shop.example.com/batch", "headers": [],
           "postData": {"mimeType": "multipart/mixed; boundary=b3", "text": "", "params": [{"name": "a", "value": "b"}]}}},
        {"request": {"method": "POST", "url": "https://shop.example.com/logout", "bodySize": 0, "headers": [{"name": "Content-Length", "value": "0"}], "postData": {"mimeType": "", "text": ""}}}
      ]}}"#;

    #[test]
    fn a_form_is_sent_by_its_fields_and_what_nobody_wrote_down_is_told() {
        let read = Collection::read(Kind::Har, UPLOADS.as_bytes(), &Wishes::default()).unwrap();
        let form = "--b1\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nit\r\n--b1\r\nContent-Disposition: form-data; name=\"note\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\ntwo\r\nlines\r\n--b1--\r\n";
        assert_eq!(read.requests[0].body, Body::Text(form.into()));
        assert_eq!(read.requests[0].header("content-type"), Some(&"multipart/form-data; boundary=b1".into()));
        assert!(read.requests[1..].iter().all(|request| request.body == Body::Empty));
        assert!(read.requests[1].header("content-type").is_none(), "a type of parts without any");
        assert!(read.requests[2].header("content-type").is_some());
        let left: Vec<String> = read.left_out.iter().map(|left| format!("{}: {}", left.place, left.what)).collect();
        assert_eq!(left, ["entry 2: the body", "entry 3: the body", "entry 4: the body", "entry 5: the body"]);
    }

    #[test]
    fn a_recording_that_ends_in_the_middle_is_told_with_its_place() {
        for end in (10..RECORDING.len() - 2).step_by(97) {
            let why = Collection::read(Kind::Har, &RECORDING.as_bytes()[..end], &Wishes::default()).unwrap_err();
            assert!(why.at.is_some(), "{why:?}");
        }
    }

    #[test]
    fn a_request_without_a_recording_around_it_is_one() {
        let text = "{\n \"method\": \"POST\",\n \"url\": \"http://h/a\",\n \"httpVersion\": \"HTTP/1.1\",\n \"headers\": [{\"name\": \"X-A\", \"value\": \"1\"}],\n \"postData\": {\"mimeType\": \"text/plain\", \"text\": \"x\"}\n}";
        assert_eq!(crate::collection::guess(text.as_bytes()), Ok(Kind::Har));
        let read = Collection::read(Kind::Har, text.as_bytes(), &Wishes::default()).unwrap();
        assert_eq!((read.requests.len(), &read.requests[0].body), (1, &Body::Text("x".into())));
        assert!(Collection::read(Kind::Har, b"{\"log\": 1}", &Wishes::default()).is_err());
    }
}
