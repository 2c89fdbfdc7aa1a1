//! What every worker of a run is to do: a Plan made ready for the request path.
//!
//! Everything that can be done before the run is done here: files are read, the request is one buffer of bytes, and
//! numbers are looked up once. The request path then only reads.

use std::sync::Arc;

use plan::{Body, Keepalive, Nanos, Plan, Request, Scheme, Target};

use crate::RunError;
use crate::protocol::http1::{Asked, request};

/// A Plan made ready; shared by all workers.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) plan: Plan,
    /// The whole request.
    pub(crate) request: Vec<u8>,
    /// Its body alone, for redirects that repeat it.
    pub(crate) body: Vec<u8>,
    pub(crate) asked: Asked,
    pub(crate) timeout: Nanos,
    pub(crate) connect_timeout: Nanos,
    pub(crate) keepalive: Keepalive,
    pub(crate) follow: u8,
    /// The end of the warm-up.
    pub(crate) measured_from: Nanos,
    /// The last moment at which a request may fall due.
    pub(crate) end: Nanos,
}

impl Task {
    /// Serialises the request around a body that was read before.
    ///
    /// # Errors
    /// If the request would not be valid on the wire.
    pub(crate) fn new(plan: &Plan, body: Vec<u8>) -> Result<Arc<Self>, RunError> {
        let sent = plan.request();
        // What is filled in is written by a program, request by request.
        let request = if plan.is_filled_in() { Vec::new() } else { serialise(plan, plan.target(), &sent.method, &sent.headers, &body)? };
        let connection = plan.connection();
        Ok(Arc::new(Self {
            asked: asked(&sent.method),
            request,
            body,
            timeout: connection.timeout,
            connect_timeout: connection.connect_timeout,
            keepalive: connection.keepalive,
            follow: connection.follow,
            measured_from: plan.warmup(),
            end: plan.end(),
            plan: plan.clone(),
        }))
    }

    /// The request that a redirect leads to, its headers adapted to the new place, and what it asks for.
    ///
    /// 303, and 301 and 302 after a POST, turn into GET without a body (RFC 9110 §15.4); secrets are not carried to
    /// another origin.
    pub(crate) fn redirected(&self, status: u16, method: &str, to: &Target) -> Option<(Vec<u8>, String)> {
        let Request { headers, .. } = self.plan.request();
        let becomes_get = method != "HEAD" && (status == 303 || (matches!(status, 301 | 302) && method == "POST"));
        let method = if becomes_get { "GET" } else { method };
        let elsewhere = !to.same_origin(self.plan.target());
        let kept: Vec<(String, String)> = headers
            .iter()
            .filter(|(name, _)| {
                let name = name.to_ascii_lowercase();
                let about_the_body = name.starts_with("content-");
                let secret = matches!(name.as_str(), "authorization" | "cookie" | "proxy-authorization");
                !(becomes_get && about_the_body || elsewhere && (secret || name == "host"))
            })
            .cloned()
            .collect();
        let mut headers = kept;
        if elsewhere {
            headers.insert(0, ("Host".to_owned(), to.authority()));
        }
        let body: &[u8] = if becomes_get || self.plan.request().body == Body::Empty { &[] } else { &self.body };
        serialise(&self.plan, to, method, &headers, body).ok().map(|bytes| (bytes, method.to_owned()))
    }
}

/// What the method means for the end of the answer.
pub(crate) fn asked(method: &str) -> Asked {
    if method == "HEAD" { Asked::Head } else { Asked::Other }
}

/// The head of a request as a program sends it to `target`, up to the line break of its last header: closed and sent through a
/// proxy as the plan says, without a Content-Length.
///
/// # Errors
/// If the request would not be valid on the wire.
pub fn head(plan: &Plan, target: &Target, method: &str, headers: &[(String, String)]) -> Result<Vec<u8>, RunError> {
    let mut bytes = serialise(plan, target, method, headers, &[])?;
    // The blank line, and the length of a body that is not there yet.
    bytes.truncate(bytes.len() - 2);
    if bytes.ends_with(NO_BODY) {
        bytes.truncate(bytes.len() - NO_BODY.len());
    }
    Ok(bytes)
}

/// What a POST without a body says.
const NO_BODY: &[u8] = b"Content-Length: 0\r\n";

fn serialise(plan: &Plan, target: &Target, method: &str, headers: &[(String, String)], body: &[u8]) -> Result<Vec<u8>, RunError> {
    let mut headers = headers.to_vec();
    if plan.connection().keepalive == Keepalive::CloseEach && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        headers.push(("Connection".to_owned(), "close".to_owned()));
    }
    let mut line = target.path_and_query().to_owned();
    if let Some(proxy) = plan.connection().proxy.as_ref().filter(|_| target.scheme() == Scheme::Http) {
        // A proxy is asked with the whole URL (RFC 9112 §3.2.2).
        line = target.absolute();
        if let Some(authorization) = &proxy.authorization {
            headers.push(("Proxy-Authorization".to_owned(), authorization.clone()));
        }
    }
    request::serialise(method, &line, &headers, body).map_err(|why| RunError::input(why.to_string(), "mend the request's options"))
}
