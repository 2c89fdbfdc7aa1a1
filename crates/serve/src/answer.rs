//! Answers: JSON, files and events, all with the same headers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, SET_COOKIE,
};
use hyper::{Response, StatusCode};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::Mistake;

/// An answer on its way.
pub(crate) type Answer = Response<Content>;

/// What an answer holds.
#[derive(Debug)]
pub(crate) enum Content {
    /// Bytes that are there.
    Whole(Option<Bytes>),
    /// Events as they happen.
    Events(mpsc::Receiver<Bytes>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => events.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// Why something was not done, as every answer of an error says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    #[serde(skip)]
    status: StatusCode,
    /// The thing and its value.
    message: String,
    /// What to do.
    help: String,
    /// Every mistake of a test, where that is what is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<Mistake>,
    #[serde(skip)]
    allow: Vec<&'static str>,
}

impl Problem {
    fn new(status: StatusCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { status, message: message.into(), help: help.into(), mistakes: Vec::new(), allow: Vec::new() }
    }

    /// What is asked cannot be read.
    pub(crate) fn unreadable(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, help)
    }

    /// Nobody knows who asks.
    pub(crate) fn unknown(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message, help)
    }

    /// Whoever asks may not.
    pub(crate) fn forbidden(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message, help)
    }

    /// There is no such thing.
    pub(crate) fn missing(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message, help)
    }

    /// The path has other methods.
    pub(crate) fn other_method(methods: Vec<&'static str>) -> Self {
        let message = format!("this address answers {}", methods.join(" and "));
        Self { allow: methods, ..Self::new(StatusCode::METHOD_NOT_ALLOWED, message, "see /api/v1/openapi.json") }
    }

    /// Something else is under way, or nothing is.
    pub(crate) fn conflict(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message, help)
    }

    /// What was sent is too much.
    pub(crate) fn too_large(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message, help)
    }

    /// What was sent is of another kind.
    pub(crate) fn other_kind() -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "what was sent is not JSON", "send it with 'Content-Type: application/json'")
    }

    /// What was sent did not come in time.
    pub(crate) fn too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "what was announced did not come", "send it at once")
    }

    /// It was read, and cannot be done.
    pub(crate) fn impossible(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message, help)
    }

    /// A test with mistakes.
    pub(crate) fn mistaken(mistakes: Vec<Mistake>) -> Self {
        let message = match mistakes.len() {
            1 => "the test has a mistake".to_owned(),
            more => format!("the test has {more} mistakes"),
        };
        Self { mistakes, ..Self::impossible(message, "each is beside its setting") }
    }

    /// The world is in the way.
    pub(crate) fn unavailable(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message, help)
    }

    /// We made a mistake.
    pub(crate) fn ours() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "a mistake of loadline itself", "please report it with what was asked for")
    }
}

impl From<Problem> for Answer {
    fn from(problem: Problem) -> Self {
        let mut answer = json(problem.status, &problem);
        if problem.status == StatusCode::UNAUTHORIZED {
            answer.headers_mut().insert(hyper::header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let (false, Ok(methods)) = (problem.allow.is_empty(), problem.allow.join(", ").parse()) {
            answer.headers_mut().insert(ALLOW, methods);
        }
        answer
    }
}

/// What a page of this server may do: load its script, its style and its data from here, and nothing else from anywhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// What a saved page may do if a browser shows it instead of saving it: nothing, as a stranger.
const POLICY_OF_FILES: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

fn answer(status: StatusCode, kind: &'static str, content: Content) -> Answer {
    let mut answer = Response::new(content);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (hyper::header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (hyper::header::REFERRER_POLICY, "no-referrer"),
        (OPENER, "same-origin"),
        (RESOURCE, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// A value as JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(bytes) => json_text(status, bytes),
        Err(_) => json_text(StatusCode::INTERNAL_SERVER_ERROR, b"{}".to_vec()),
    }
}

/// JSON that is written already.
pub(crate) fn json_text(status: StatusCode, bytes: impl Into<Bytes>) -> Answer {
    answer(status, "application/json", Content::Whole(Some(bytes.into())))
}

/// A file of the pages.
pub(crate) fn asset(kind: &'static str, text: impl Into<Bytes>) -> Answer {
    answer(StatusCode::OK, kind, Content::Whole(Some(text.into())))
}

/// A file to keep.
pub(crate) fn download(name: &str, kind: &'static str, bytes: Vec<u8>) -> Answer {
    let mut answer = asset(kind, bytes);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY_OF_FILES));
    if let Ok(value) = format!("attachment; filename=\"{name}\"").parse() {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    answer
}

/// Nothing, and that is the answer.
pub(crate) fn nothing(cookie: Option<&str>) -> Answer {
    let mut answer = answer(StatusCode::NO_CONTENT, "text/plain", Content::Whole(None));
    answer.headers_mut().remove(CONTENT_TYPE);
    if let Some(cookie) = cookie.and_then(|cookie| cookie.parse().ok()) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

/// Events as they happen.
pub(crate) fn events(events: mpsc::Receiver<Bytes>) -> Answer {
    answer(StatusCode::OK, "text/event-stream", Content::Events(events))
}
