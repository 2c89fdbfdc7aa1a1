//! HAR: what a browser sent, in the order in which it began.
//!
//! A recording of a page holds a hundred requests for scripts, pictures and other people's counters beside the ten that matter. They
//! are all carried over: which of them matter is the user's to say (`--only`, `--except`), since a page that is slow for its pictures
//! is slow. Answers are skipped while the document is read, so that a recording of a gigabyte of pictures needs no memory for them.

use serde::Deserialize;

use super::curl::{basic, credentials_apart};
use super::{Auth, Body, Collection, Field, FieldValue, Kind, ReadError, Request, Text, is_method, shortened};

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
    request: Sent,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    #[serde(default)]
    method: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    #[serde(default)]
    cookies: Vec<Pair>,
    #[serde(default)]
    post_data: Option<Posted>,
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Posted {
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
    let document: Document = serde_json::from_slice(bytes).map_err(|why| {
        let message = why.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        ReadError::at(why.line(), why.column(), format!("this is no HAR recording: {message}"))
    })?;
    let mut collection = Collection::new(Kind::Har);
    collection.name = document.log.pages.into_iter().map(|page| page.title).next().unwrap_or_default();
    for (number, entry) in (1..).zip(document.log.entries) {
        let sent = entry.request;
        let place = format!("entry {number}");
        if !sent.url.starts_with("http://") && !sent.url.starts_with("https://") {
            collection.leave_out(format!("'{}'", shortened(&sent.url)), &place, "it is not HTTP");
            continue;
        }
        if !is_method(&sent.method) || sent.method == "CONNECT" {
            collection.leave_out(format!("the request with the method '{}'", shortened(&sent.method)), &place, "it is no method");
            continue;
        }
        let mut request = Request { method: sent.method, url: Text::literal(sent.url), place: place.clone(), ..Request::default() };
        let own_host = host(request.url.plain().unwrap_or_default()).to_owned();
        for header in sent.headers {
            let value = header.value.unwrap_or_default();
            // The host follows from the URL, unless it is another.
            if header.name.eq_ignore_ascii_case("host") && value == own_host {
                continue;
            }
            match basic(&value).filter(|_| header.name.eq_ignore_ascii_case("authorization")) {
                Some((user, password)) => request.auth = Auth::Basic(user.into(), password.into()),
                None => request.take_header(&header.name, Text::literal(value)),
            }
        }
        if request.header("cookie").is_none() && !sent.cookies.is_empty() {
            let pairs: Vec<String> =
                sent.cookies.into_iter().map(|cookie| format!("{}={}", cookie.name, cookie.value.unwrap_or_default())).collect();
            request.headers.push(("Cookie".to_owned(), Text::literal(pairs.join("; "))));
        }
        if request.header("upgrade").is_some() || request.header("sec-websocket-key").is_some() {
            collection.leave_out(format!("the WebSocket '{}'", shortened(&request.url.written())), &place, "loadline speaks HTTP");
            continue;
        }
        if let Some(posted) = sent.post_data {
            body(posted, &place, &mut request, &mut collection);
        }
        credentials_apart(&mut request);
        collection.requests.push(request);
    }
    Ok(collection)
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn body(posted: Posted, place: &str, request: &mut Request, collection: &mut Collection) {
    let media = posted.mime_type.unwrap_or_default();
    let params = posted.params.unwrap_or_default();
    if posted.encoding.is_some_and(|encoding| encoding == "base64") {
        collection.leave_out("the body", place, "it is not text; save it to a file and name that in the scenario");
        return;
    }
    if media.starts_with("multipart/form-data") && !params.is_empty() {
        let mut fields = Vec::new();
        for param in params {
            let value = match param.file_name.filter(|name| !name.is_empty()) {
                Some(path) => {
                    collection.leave_out(
                        format!("what was in the file '{}'", shortened(&path)),
                        place,
                        "recordings do not hold it; put a file of this name beside the scenario",
                    );
                    FieldValue::File { path, media_type: param.content_type }
                }
                None => FieldValue::Text(param.value.unwrap_or_default().into()),
            };
            fields.push(Field { name: param.name, value });
        }
        // The boundary is another each time.
        request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        request.body = Body::Form(fields);
        return;
    }
    let text = posted.text.unwrap_or_default();
    if text.is_empty() && !params.is_empty() {
        let pairs = params.into_iter().map(|param| {
            (
                Text::literal(plan::percent_decoded(&param.name)),
                Text::literal(plan::percent_decoded(&param.value.unwrap_or_default().replace('+', " "))),
            )
        });
        request.body = Body::Fields(pairs.collect());
        request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
    } else if !text.is_empty() {
        if !media.is_empty() {
            request.header_if_none("Content-Type", media);
        }
        request.body = Body::Raw(Text::literal(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;

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
        {"request": {"method": "GET", "url": "wss://shop.example.com/live"}},
        {"request": {"method": "GET", "url": "https://shop.example.com/live", "headers": [{"name": "Sec-WebSocket-Key", "value": "x"}]}}
      ]}}"#;

    #[test]
    fn a_recording_is_what_the_browser_sent() {
        let read = Collection::read(Kind::Har, RECORDING.as_bytes(), &Wishes::default()).unwrap();
        assert_eq!(read.name, "Shop");
        let told: Vec<String> = read.requests.iter().map(|request| request.name.clone()).collect();
        assert_eq!(told, ["GET /", "POST /login", "POST /photo"]);
        let names: Vec<&str> = read.requests[0].headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Accept", "Cookie"]);
        assert_eq!(read.requests[1].body, Body::Raw("user=me&password=hunter22".into()));
        let Body::Form(fields) = &read.requests[2].body else { panic!() };
        assert_eq!(fields.len(), 2);
        assert!(read.requests[2].header("content-type").is_none(), "the boundary is made anew");
        let left: Vec<String> = read.left_out.iter().map(|left| format!("{}: {}", left.place, left.what)).collect();
        assert_eq!(
            left,
            [
                "entry 3: what was in the file 'a.png'",
                "entry 4: 'wss://shop.example.com/live'",
                "entry 5: the WebSocket 'https://shop.example.com/live'"
            ]
        );
    }

    #[test]
    fn a_recording_that_ends_in_the_middle_is_told_with_its_place() {
        for end in (10..RECORDING.len() - 2).step_by(97) {
            let why = Collection::read(Kind::Har, &RECORDING.as_bytes()[..end], &Wishes::default()).unwrap_err();
            assert!(why.at.is_some(), "{why}");
        }
    }
}
