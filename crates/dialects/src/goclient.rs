//! What Go's HTTP client does unseen, for tools that are made of it: how it words failures, spells headers and follows redirects.
//!
//! vegeta writes its words into results and hey counts by them, and people look for `connection refused` in both. What Go has no
//! words for is named as loadline names it.

use std::net::IpAddr;
use std::num::NonZeroU32;

use engine::protocol::{Encoded, EncodedRef, ResponseSink};
use engine::redirect::{self, Convention, Hop, Hops};
use engine::{Client, Request, Transport};
use measure::{Failure, Outcome, Status};
use plan::Target;
use report::registered_reason;

/// How many requests share a connection of HTTP/2 at most where the server takes as many (`defaultMaxConcurrentStreams` of
/// golang.org/x/net/http2, which a server that says more may pass).
pub const STREAMS: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

/// The error of a request: `Get "http://h/": dial tcp h:80: connect: connection refused`. A client that was told its own address
/// names it too.
#[must_use]
pub fn error(method: &str, url: &str, own: Option<IpAddr>, target: &Target, failure: Failure) -> String {
    let (host, port) = (target.host(), target.port());
    let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let dialled = match own {
        Some(IpAddr::V4(ip)) => format!("{ip}:0->{address}"),
        Some(IpAddr::V6(ip)) => format!("[{ip}]:0->{address}"),
        None => address.clone(),
    };
    let what = match failure {
        Failure::DnsNotFound => format!("dial tcp: lookup {host}: no such host"),
        Failure::ConnectRefused => format!("dial tcp {dialled}: connect: connection refused"),
        Failure::ConnectReset => format!("dial tcp {dialled}: connect: connection reset by peer"),
        Failure::ConnectUnreachable => format!("dial tcp {dialled}: connect: no route to host"),
        Failure::ConnectTimeout => format!("dial tcp {dialled}: i/o timeout"),
        Failure::ConnectLocalPorts => format!("dial tcp {dialled}: connect: cannot assign requested address"),
        Failure::ConnectLocalFds => format!("dial tcp {dialled}: socket: too many open files"),
        Failure::RecvIdleTimeout | Failure::SendTimeout => {
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)".to_owned()
        }
        Failure::RecvTotalTimeout => {
            return "context deadline exceeded (Client.Timeout or context cancellation while reading body)".to_owned();
        }
        Failure::RecvReset => format!("read tcp {address}: read: connection reset by peer"),
        Failure::SendReset => format!("write tcp {address}: write: connection reset by peer"),
        Failure::SendClosed => format!("write tcp {address}: write: broken pipe"),
        Failure::RecvEofBeforeResponse | Failure::StaleReuse => "EOF".to_owned(),
        Failure::RecvEofInHead => "unexpected EOF".to_owned(),
        Failure::RecvEofInBody => return "unexpected EOF".to_owned(),
        Failure::TlsCertUntrusted => "tls: failed to verify certificate: x509: certificate signed by unknown authority".to_owned(),
        Failure::TlsCertExpired => "tls: failed to verify certificate: x509: certificate has expired or is not yet valid".to_owned(),
        Failure::ClientInterrupted => "context canceled".to_owned(),
        other => format!("{other}: {}", other.about()),
    };
    worded(method, url, &what)
}

/// With the method and the URL before it.
#[must_use]
pub fn worded(method: &str, url: &str, what: &str) -> String {
    format!("{} {url:?}: {what}", canonical(method))
}

/// A status as Go writes its line, `404 Not Found`: by the registry, but where Go keeps to the words of old.
#[must_use]
pub fn status(code: u16) -> String {
    let words = match code {
        413 => Some("Request Entity Too Large"),
        414 => Some("Request URI Too Long"),
        416 => Some("Requested Range Not Satisfiable"),
        418 => Some("I'm a teapot"),
        422 => Some("Unprocessable Entity"),
        other => registered_reason(other),
    };
    words.map_or_else(|| code.to_string(), |words| format!("{code} {words}"))
}

/// As Go spells the name of a header: `x-my-id` is `X-My-Id`.
#[must_use]
pub fn canonical(name: &str) -> String {
    let mut upper = true;
    let letter = |letter: char| {
        let spelled = if upper { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        upper = letter == '-';
        spelled
    };
    name.chars().map(letter).collect()
}

/// Where a URL leads; Go takes one without a host for this machine.
#[must_use]
pub fn address(url: &str) -> Option<Target> {
    let (scheme, rest) = url.split_once("://")?;
    let host = if rest.starts_with([':', '/']) { "localhost" } else { "" };
    format!("{scheme}://{host}{rest}").parse().ok()
}

/// What is seen of an answer, with its Location.
pub trait AnswerWithLocation: ResponseSink {
    /// The Location of the last answer.
    fn location(&self) -> Option<&str>;
}

/// A request that Go's client has sent.
#[derive(Debug)]
pub struct SentRequest {
    /// What it came to, not recorded yet.
    pub outcome: Outcome,
    /// How many redirects were followed.
    pub hops: u8,
}

/// Sends a request as Go's client does: once more where a connection had just been closed, and along redirects, at most as many as
/// these; `None`: along none. It must be its turn.
pub async fn send<T: Transport, S: AnswerWithLocation>(
    client: &mut Client<'_, T>,
    (first, target): (EncodedRef<'_>, &Target),
    redirects_max: Option<u8>,
    sink: &mut S,
) -> SentRequest {
    client.begin(None);
    let mut outcome = client.exchange(&Request::new(first).to(target), sink).await;
    let mut hops = 0;
    let mut led: Option<Redirect> = None;
    loop {
        let (request, from) = led.as_ref().map_or((first, target), |led| (led.request.as_ref(), &led.target));
        if let Err(failure) = outcome.result
            && sends_again(request, failure)
        {
            outcome = client.exchange_more(&outcome, &Request::new(request).to(from), sink).await;
            continue;
        }
        let (Ok(status), Some(max)) = (outcome.result, redirects_max) else { break };
        match redirected(request, from, status, sink.location(), Hops { followed: hops, max }) {
            Ok(None) => break,
            Ok(Some(next)) => {
                if let Err(refused) = client.redirect(&outcome, &next.target) {
                    outcome = refused;
                    break;
                }
                outcome = client.exchange_more(&outcome, &Request::new(next.request.as_ref()).to(&next.target), sink).await;
                (led, hops) = (Some(next), hops + 1);
            }
            Err(failure) => {
                outcome = client.fail(&outcome, failure, String::new);
                break;
            }
        }
    }
    SentRequest { outcome, hops }
}

/// The request a redirect leads to.
#[derive(Debug, Clone, PartialEq)]
struct Redirect {
    request: Encoded,
    target: Target,
}

/// Whether Go's client sends a request once more, unseen: one that changes nothing and met a connection that the server had just closed
/// (`Request.isReplayable` in net/http).
fn sends_again(request: EncodedRef<'_>, failure: Failure) -> bool {
    failure == Failure::StaleReuse && ["GET", "HEAD", "OPTIONS", "TRACE"].contains(&request.method())
}

/// The request that follows `request` to `from` where it was answered with this status and Location; `None` if it is no redirect. Go's
/// client goes wherever it is led; here a load stays on the server that was named.
fn redirected(
    request: EncodedRef<'_>,
    from: &Target,
    status: u16,
    location: Option<&str>,
    hops: Hops,
) -> Result<Option<Redirect>, Failure> {
    let Some(location) = location.filter(|_| Status(status).is_redirect()) else { return Ok(None) };
    let target = redirect::destination(from, location, hops, |to| to.same_server(from)).map_err(|error| error.failure())?;
    let hop = Hop { convention: Convention::Go, began: from, from, to: &target, status: Status(status), method: request.method() };
    let Some(request) = hop.rewritten(request, |_| false) else { return Err(Failure::RedirectTarget) };
    Ok(Some(Redirect { request, target }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_go_s_words_or_ours() {
        let target: Target = "http://[::1]:81/x".parse().unwrap();
        let said = |failure| error("POST", "http://[::1]:81/x", None, &target, failure);
        let own = Some(IpAddr::from([0, 0, 0, 0]));
        let told = error("GET", "u", own, &target, Failure::ConnectRefused);
        assert_eq!(told, "Get \"u\": dial tcp 0.0.0.0:0->[::1]:81: connect: connection refused");
        assert_eq!(said(Failure::ConnectRefused), "Post \"http://[::1]:81/x\": dial tcp [::1]:81: connect: connection refused");
        assert_eq!(said(Failure::RecvEofBeforeResponse), "Post \"http://[::1]:81/x\": EOF");
        assert_eq!(said(Failure::ProtoChunk), "Post \"http://[::1]:81/x\": proto1.chunk: a malformed chunk");
        for failure in Failure::ALL {
            assert!(!said(*failure).is_empty());
        }
        assert_eq!((status(404).as_str(), status(599).as_str()), ("404 Not Found", "599"));
    }

    #[test]
    fn what_changes_nothing_is_sent_again_on_another_connection() {
        assert!(sends_again(EncodedRef::read(b"GET / HTTP/1.1\r\n\r\n"), Failure::StaleReuse));
        assert!(!sends_again(EncodedRef::read(b"POST / HTTP/1.1\r\n\r\n"), Failure::StaleReuse));
        assert!(!sends_again(EncodedRef::read(b"GET / HTTP/1.1\r\n\r\n"), Failure::RecvEofBeforeResponse));
    }

    const HOPS: Hops = Hops { followed: 0, max: 10 };

    fn led(request: &str, status: u16, location: &str) -> String {
        let from: Target = "http://h/a/b".parse().unwrap();
        let led = redirected(EncodedRef::read(request.as_bytes()), &from, status, Some(location), HOPS).unwrap().unwrap();
        format!("{}|{}", led.target.authority(), String::from_utf8(led.request.bytes).unwrap())
    }

    #[test]
    fn a_redirect_is_followed_as_go_follows_it() {
        let post = "POST /a/b HTTP/1.1\r\nHost: h\r\nCookie: c\r\nContent-Length: 2\r\nX: 1\r\n\r\nhi";
        assert_eq!(led(post, 302, "c"), "h|GET /a/c HTTP/1.1\r\nHost: h\r\nCookie: c\r\nX: 1\r\nReferer: http://h/a/b\r\n\r\n");
        assert_eq!(
            led(post, 307, "https://h/"),
            "h|POST / HTTP/1.1\r\nHost: h\r\nCookie: c\r\nContent-Length: 2\r\nX: 1\r\nReferer: http://h/a/b\r\n\r\nhi"
        );
        assert!(led("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", 301, "/x").starts_with("h|HEAD /x HTTP/1.1\r\n"));
        let from: Target = "http://h/".parse().unwrap();
        assert_eq!(redirected(EncodedRef::read(b""), &from, 200, Some("/x"), HOPS), Ok(None));
        assert_eq!(redirected(EncodedRef::read(b""), &from, 302, None, HOPS), Ok(None));
        assert_eq!(redirected(EncodedRef::read(b""), &from, 302, Some("ftp://x/"), HOPS), Err(Failure::RedirectTarget));
        for location in ["http://i/", "http://h:81/", "//i/"] {
            assert_eq!(redirected(EncodedRef::read(b""), &from, 302, Some(location), HOPS), Err(Failure::RedirectOutside), "{location}");
        }
        assert_eq!(canonical("x-my-ID"), "X-My-Id");
    }

    #[test]
    fn a_url_without_a_host_is_this_machine() {
        assert_eq!(address("http://:6060/x").unwrap().host(), "localhost");
        assert_eq!(address("http:///x").unwrap().port(), 80);
        assert!(address("ftp://a/").is_none() && address("a/b").is_none());
    }
}
