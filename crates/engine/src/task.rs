//! What every worker of a run is to do: a Plan made ready for the request path.
//!
//! Everything that can be done before the run is done here: files are read, the request is one buffer of bytes, and
//! numbers are looked up once. The request path then only reads.

use std::sync::Arc;

use measure::{RecordName, RequestLog, Tally};
use plan::{Bounds, Keepalive, Nanos, Plan, Scheme, Target};

use crate::RunError;
use crate::protocol::http1::request;
use crate::protocol::{Encoded, EncodedRef};
use crate::redirect::Hop;

/// A Plan made ready; shared by all workers.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) plan: Plan,
    /// The whole request.
    pub(crate) request: Encoded,
    pub(crate) timeout: Nanos,
    pub(crate) connect_timeout: Nanos,
    pub(crate) keepalive: Keepalive,
    pub(crate) follow: u8,
    /// Whether answers are looked through: for events, or for how they are packed.
    pub(crate) watches_answers: bool,
    /// Whether bodies may wait for the server's word.
    pub(crate) expects_continue: bool,
    /// Where redirects may lead.
    pub(crate) bounds: Bounds,
    /// The end of the warm-up.
    pub(crate) measured_from: Nanos,
    /// The last moment at which a request may fall due.
    pub(crate) end: Nanos,
    /// The names of all populations of the run; none where there is one load.
    pub(crate) populations: Vec<String>,
    /// Where every request is to be written down, if anywhere.
    pub(crate) log: Option<RequestLog>,
}

impl Task {
    /// The tasks of a plan's populations; of a plan with one load, its own.
    ///
    /// # Errors
    /// If a request would not be valid on the wire.
    pub(crate) fn of_populations(plan: &Plan, body: &[u8], log: Option<&RequestLog>) -> Result<Vec<Arc<Self>>, RunError> {
        let populations = plan.populations().len().max(1) as u32;
        (0..populations).map(|place| Self::of_load(&plan.of_population(place), plan, body, log)).collect()
    }

    /// The task of a plan with one load.
    #[cfg(test)]
    pub(crate) fn new(plan: &Plan, body: &[u8]) -> Result<Arc<Self>, RunError> {
        Self::of_load(plan, plan, body, None)
    }

    /// Serialises the request of one load of a run around a body that was read before.
    ///
    /// # Errors
    /// If the request would not be valid on the wire.
    fn of_load(plan: &Plan, run: &Plan, body: &[u8], log: Option<&RequestLog>) -> Result<Arc<Self>, RunError> {
        let sent = plan.request();
        // What is filled in is written by a behaviour, request by request.
        let request = if plan.is_filled_in() {
            Encoded::default()
        } else {
            serialise(plan, plan.target(), &sent.method, lines(&sent.headers), body)?
        };
        let connection = plan.connection();
        Ok(Arc::new(Self {
            request,
            timeout: connection.timeout,
            connect_timeout: connection.connect_timeout,
            keepalive: connection.keepalive,
            follow: connection.follow,
            watches_answers: plan.stream().is_some() || plan.compressed(),
            expects_continue: plan.expects_continue(),
            bounds: plan.bounds(),
            measured_from: plan.warmup(),
            end: plan.end(),
            populations: run.populations().iter().map(|population| population.name.clone()).collect(),
            log: log.cloned(),
            plan: plan.clone(),
        }))
    }

    /// Where a request that was written for the plan's target goes: its path is its own.
    pub(crate) fn place_of(&self, sent: EncodedRef<'_>) -> Target {
        let target = self.plan.target().clone();
        match sent.path() {
            Some(path) => target.with_path_and_query(path.to_owned()),
            None => target,
        }
    }

    /// The request that a redirect leads to, its headers adapted to the new place, and what it asks for. `first` is the request that
    /// began the chain, as it was sent: a program may have written it.
    ///
    /// It is made from the first and not from the one before, so that a chain that comes home has its secrets again.
    pub(crate) fn redirected(&self, hop: &Hop<'_>, first: EncodedRef<'_>) -> Option<Encoded> {
        // What has become a GET stays one.
        let has_body = !hop.becomes_get() && first.method() == hop.method;
        let elsewhere = !hop.to.same_origin(hop.began);
        let is_kept = |name: &str| {
            // They follow from the body, and from the proxy that is asked.
            let written_anew = name == "content-length" || name == "proxy-authorization" && self.proxy_authorization().is_some();
            hop.keeps(name, has_body) && !(written_anew || elsewhere && name == "host")
        };
        let authority = hop.to.authority();
        let mut headers: Vec<(&str, &[u8])> = Vec::new();
        if elsewhere {
            headers.push(("Host", authority.as_bytes()));
        }
        headers.extend(first.headers().ok()?.into_iter().filter(|(name, _)| is_kept(&name.to_ascii_lowercase())));
        let body = if has_body { first.body() } else { &[] };
        serialise(&self.plan, hop.to, hop.method(), headers, body).ok()
    }

    /// What a worker's requests are called in a log: those without a row as its behaviour says, or by the path of the plan's URL.
    pub(crate) fn record_names(&self, rows: &Tally, named: Vec<String>) -> Vec<RecordName> {
        let mut names: Vec<RecordName> = named.into_iter().map(RecordName::plain).collect();
        if names.is_empty() {
            let target = self.plan.target().path_and_query();
            names.push(RecordName::plain(target.split('?').next().unwrap_or_default()));
        }
        names.extend(RecordName::of_rows(rows));
        names
    }

    fn proxy_authorization(&self) -> Option<&String> {
        self.plan.connection().proxy.as_ref().filter(|proxy| !proxy.tunnels_all())?.authorization.as_ref()
    }
}

/// Headers as they stand in a plan.
fn lines(headers: &[(String, String)]) -> Vec<(&str, &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

/// The head of a request as a behaviour sends it to `target`, up to the line break of its last header: closed and sent through a
/// proxy as the plan says, without a Content-Length.
///
/// # Errors
/// If the request would not be valid on the wire.
pub fn head(plan: &Plan, target: &Target, method: &str, headers: &[(String, String)]) -> Result<Vec<u8>, RunError> {
    let Encoded { mut bytes, .. } = serialise(plan, target, method, lines(headers), &[])?;
    // The blank line, and the length of a body that is not there yet.
    bytes.truncate(bytes.len() - 2);
    if bytes.ends_with(NO_BODY) {
        bytes.truncate(bytes.len() - NO_BODY.len());
    }
    Ok(bytes)
}

/// What a POST without a body says.
const NO_BODY: &[u8] = b"Content-Length: 0\r\n";

fn serialise<'a>(
    plan: &'a Plan,
    target: &Target,
    method: &str,
    mut headers: Vec<(&'a str, &'a [u8])>,
    body: &[u8],
) -> Result<Encoded, RunError> {
    if plan.connection().keepalive == Keepalive::CloseEach && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        headers.push(("Connection", b"close"));
    }
    let timeout = grpc_timeout(plan.connection().timeout);
    let mut headers: Vec<(&str, &[u8])> = headers;
    if target.scheme().is_grpc() {
        let of_calls: [(&str, &[u8]); 3] =
            [("Content-Type", b"application/grpc"), ("TE", b"trailers"), ("Grpc-Timeout", timeout.as_bytes())];
        for (name, value) in of_calls {
            if !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)) {
                headers.push((name, value));
            }
        }
    }
    let mut line = target.path_and_query().to_owned();
    if let Some(proxy) = plan.connection().proxy.as_ref().filter(|proxy| target.scheme() == Scheme::Http && !proxy.tunnels_all()) {
        // A proxy is asked with the whole URL (RFC 9112 §3.2.2).
        line = target.absolute();
        if let Some(authorization) = &proxy.authorization {
            headers.push(("Proxy-Authorization", authorization.as_bytes()));
        }
    }
    request::serialise(method, &line, &headers, body).map_err(|why| RunError::input(why.to_string(), "mend the request's options"))
}

/// A time as a call tells how long it may take: at most eight digits and a unit
/// (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#requests>).
#[must_use]
pub fn grpc_timeout(limit: Nanos) -> String {
    const UNITS: [(u64, char); 6] =
        [(1, 'n'), (1_000, 'u'), (1_000_000, 'm'), (1_000_000_000, 'S'), (60_000_000_000, 'M'), (3_600_000_000_000, 'H')];
    const MOST: u64 = 99_999_999;
    let exact = UNITS.iter().rev().find(|(unit, _)| limit.0.is_multiple_of(*unit) && (1..=MOST).contains(&(limit.0 / unit)));
    let (unit, letter) = exact.or_else(|| UNITS.iter().find(|(unit, _)| limit.0.div_ceil(*unit) <= MOST)).unwrap_or(&UNITS[5]);
    format!("{}{letter}", limit.0.div_ceil(*unit).min(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redirect::Convention;
    use measure::Status;
    use plan::Draft;

    /// What a redirect makes of a request that a program wrote.
    fn led(status: u16, method: &str, to: &str, first: &str) -> String {
        let draft = Draft { url: Some("http://a.test/plan".to_owned()), header: vec!["X-Plan: 1".to_owned()], ..Draft::default() };
        let task = Task::new(&Plan::try_from(draft).unwrap(), b"").unwrap();
        let (home, to) = (task.plan.target(), to.parse().unwrap());
        let hop = Hop { convention: Convention::Browser, began: home, from: home, to: &to, status: Status(status), method };
        String::from_utf8(task.redirected(&hop, EncodedRef::read(first.as_bytes())).unwrap().bytes).unwrap()
    }

    const FIRST: &str = "POST /n/7 HTTP/1.1\r\nHost: a.test\r\nX-Id: 7\r\nCookie: c=7\r\nX-Api-Key: k7\r\nContent-Type: x/y\r\nContent-Length: 3\r\n\r\nn=7";

    #[test]
    fn a_redirect_repeats_what_was_sent() {
        assert_eq!(led(307, "POST", "http://a.test/b", FIRST), FIRST.replace("/n/7", "/b"));
        assert_eq!(
            led(308, "POST", "http://b.test/b", FIRST),
            "POST /b HTTP/1.1\r\nHost: b.test\r\nX-Id: 7\r\nContent-Type: x/y\r\nContent-Length: 3\r\n\r\nn=7"
        );
    }

    #[test]
    fn what_has_become_a_get_has_no_body_any_more() {
        let expected = "GET /b HTTP/1.1\r\nHost: a.test\r\nX-Id: 7\r\nCookie: c=7\r\nX-Api-Key: k7\r\n\r\n";
        for (status, method) in [(303, "POST"), (302, "POST"), (307, "GET"), (302, "GET")] {
            assert_eq!(led(status, method, "http://a.test/b", FIRST), expected, "{status} {method}");
        }
    }

    #[test]
    fn a_limit_is_told_in_eight_digits_and_a_unit() {
        for (limit, told) in [
            (Nanos::from_secs(30), "30S"),
            (Nanos::from_secs(3600), "1H"),
            (Nanos::from_millis(1500), "1500m"),
            (Nanos(1), "1n"),
            (Nanos(99_999_999), "99999999n"),
            (Nanos(100_000_001), "100001u"),
            (Nanos(u64::MAX), "5124096H"),
        ] {
            assert_eq!(grpc_timeout(limit), told);
        }
    }

    #[test]
    fn a_call_says_what_it_is_unless_it_is_said_already() {
        let draft = |header: &[&str]| Draft {
            url: Some("grpc://a.test/b.C/D".to_owned()),
            message: Some("{}".to_owned()),
            timeout: "2s".parse().ok(),
            header: header.iter().map(|line| (*line).to_owned()).collect(),
            ..Draft::default()
        };
        let head = |header: &[&str]| {
            let plan = Plan::try_from(draft(header)).unwrap();
            String::from_utf8(head(&plan, plan.target(), "POST", &plan.request().headers).unwrap()).unwrap()
        };
        let agent = concat!("User-Agent: loadline/", env!("CARGO_PKG_VERSION"), "\r\n");
        assert_eq!(
            head(&["x-key: 7"]),
            format!(
                "POST /b.C/D HTTP/1.1\r\nHost: a.test\r\n{agent}x-key: 7\r\nContent-Type: application/grpc\r\nTE: trailers\r\nGrpc-Timeout: 2S\r\n"
            )
        );
        assert!(
            head(&["grpc-timeout: 1S", "content-type: application/grpc+proto"])
                .ends_with("grpc-timeout: 1S\r\ncontent-type: application/grpc+proto\r\nTE: trailers\r\n")
        );
    }

    #[test]
    fn a_path_is_that_of_the_request_line() {
        let draft =
            |proxy: Option<&str>| Draft { url: Some("http://a.test/plan".to_owned()), proxy: proxy.map(str::to_owned), ..Draft::default() };
        for (proxy, line, expected) in [
            (None, "GET /x/1?a=b HTTP/1.1\r\n", "/x/1?a=b"),
            (Some("http://p.test:8080"), "GET http://a.test/x/2 HTTP/1.1\r\n", "/x/2"),
            (None, "OPTIONS * HTTP/1.1\r\n", "/plan"),
        ] {
            let task = Task::new(&Plan::try_from(draft(proxy)).unwrap(), b"").unwrap();
            assert_eq!(task.place_of(EncodedRef::read(line.as_bytes())).path_and_query(), expected);
        }
    }
}
