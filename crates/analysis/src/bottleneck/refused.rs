//! A server that refuses whatever it is asked, from the first request on: that is no limit, and says nothing of one.
//!
//! Refusals are quick, so a ladder of them looks like a fast server that fails at every load, and "it fails from 24,000 requests a
//! second on" sends people to its log when a header is missing. What tells is that nothing ever succeeded, and that all answers said
//! the same: then it is told what they said, and nothing else, since whatever was busy was busy with refusing.
//!
//! Rejected: to call 429 or 503 with `Retry-After` a refusal of this kind. These speak of the load by their own words, even where
//! none was let through. And once a single request has succeeded, refusals came with something, which other causes are about.

use std::collections::BTreeSet;

use super::scene::Scene;
use super::{Finding, Kind, Point};
use crate::quantity::{counted, figure};

/// At the lowest load nearly every request got an answer: where connections fail too, more is wrong than what was asked.
const ANSWERED_MIN: f64 = 0.99;
const TOO_MANY: u16 = 429;
/// Who asks for credentials (RFC 9110 §15.5.2, §15.5.4, §15.5.8).
const CREDENTIALS: [u16; 3] = [401, 403, 407];

/// Every request was refused at every load.
pub(super) fn refused(scene: &Scene<'_>) -> Option<Finding> {
    let lowest = scene.points.first()?;
    if scene.points.iter().any(|point| point.good > 0.0) || lowest.answered < ANSWERED_MIN * lowest.due {
        return None;
    }
    // Loads at which nobody answered any more say nothing of what the others were told.
    let answering: Vec<&Point> = scene.points.iter().copied().filter(|point| point.answered > 0.0).collect();
    let statuses: BTreeSet<u16> = answering.iter().flat_map(|point| point.refusals.iter().copied()).collect();
    let most = *lowest.refusals.first()?;
    let by_credentials = CREDENTIALS.contains(&most) && statuses.iter().all(|status| CREDENTIALS.contains(status) || *status == TOO_MANY);
    let alike = answering.iter().all(|point| !point.refusals.is_empty()) && (statuses.len() == 1 || by_credentials);
    if !alike || most == TOO_MANY || (most == 503 && lowest.retry_after) {
        return None;
    }
    let Reason { phrase, it_is, remedy } = if lowest.wants_tls { PLAIN_TO_TLS } else { reason(most) };
    let verb = if most < 500 { "refused" } else { "answered" };
    let phrase = phrase.map_or_else(String::new, |phrase| format!(" {phrase}"));
    let others: Vec<String> = statuses.iter().filter(|status| **status != most).map(u16::to_string).collect();
    let others = if others.is_empty() { String::new() } else { format!(" or {}", others.join(" or ")) };
    let sentence = format!("every request was {verb} with {most}{phrase}{others}: it is {it_is}, not the load");
    let requests = scene.points.iter().map(|point| point.requests).sum::<f64>() as u64;
    let loads = match scene.points.len() {
        1 => String::new(),
        many => format!(" at {} loads, the lowest as the highest", figure(many as f64)),
    };
    let mut evidence = vec![format!("of {}{loads} none succeeded", counted(requests, "request"))];
    evidence.extend(lowest.asks_for.as_ref().map(|scheme| format!("its answers say what they ask for (WWW-Authenticate: {scheme})")));
    let finding = Finding::new(Kind::Refused, 0.99, sentence)
        .brief(format!("Every request was {verb} with {most}{phrase}{others}"))
        .evidence(evidence)
        .refuted_by("send one request with the same settings (loadline run -n 1, or curl -i): if it succeeds, the load is the reason")
        .remedy(remedy);
    Some(finding)
}

/// Every request failed at every load, and not all by the same status.
pub(super) fn all_failed(scene: &Scene<'_>) -> Option<Finding> {
    let lowest = scene.points.first()?;
    // Who turns requests away by its own words speaks of the load.
    let turned_away = scene.points.iter().any(|point| point.refused() > 0.0);
    if scene.points.iter().any(|point| point.succeeded > 0.0 || point.good > 0.0) || turned_away || lowest.failure.is_empty() {
        return None;
    }
    let requests = scene.points.iter().map(|point| point.requests).sum::<f64>() as u64;
    let most = scene.points.iter().max_by(|a, b| a.failed_most.total_cmp(&b.failed_most)).map_or("", |point| &point.failure);
    let finding = Finding::new(Kind::Refused, 0.99, format!("every request failed, most often: {most}"))
        .brief(format!("Every request failed, most often: {most}"))
        .evidence([format!("of {} none succeeded", counted(requests, "request"))])
        .refuted_by("send one request with the same settings (loadline run -n 1, or curl -i): if it succeeds, the load is the reason")
        .remedy("look at the example of the failure and at the server's log, mend that first, and measure again");
    Some(finding)
}

/// What a status means where nothing else ever came.
struct Reason {
    /// As the registry calls it (RFC 9110 §15), where that says more than the number.
    phrase: Option<&'static str>,
    /// What is wrong, after "it is".
    it_is: &'static str,
    remedy: &'static str,
}

const PLAIN_TO_TLS: Reason = Reason {
    phrase: Some("Bad Request"),
    it_is: "the scheme (http:// to a port that speaks TLS)",
    remedy: "write https:// in the URL, and measure again: what was measured is how quickly it refuses",
};

const fn reason(status: u16) -> Reason {
    let (phrase, it_is, remedy) = match status {
        401 => (Some("Unauthorized"), "the credentials", CREDENTIALS_REMEDY),
        403 => (Some("Forbidden"), "the credentials", CREDENTIALS_REMEDY),
        407 => (
            Some("Proxy Authentication Required"),
            "the credentials",
            "give the proxy's name and password in its URL (--proxy http://name:password@host:port), and measure again: what was measured is how quickly it refuses",
        ),
        404 | 410 => (
            Some(if status == 404 { "Not Found" } else { "Gone" }),
            "the address",
            "look at the path and at the Host header, and measure again: what was measured is how quickly it finds nothing",
        ),
        405 => (Some("Method Not Allowed"), "the method", "give the method that the route takes (-X), and measure again"),
        400 => (Some("Bad Request"), "the request", REQUEST_REMEDY),
        413 => (Some("Content Too Large"), "the request", REQUEST_REMEDY),
        415 => (Some("Unsupported Media Type"), "the request", REQUEST_REMEDY),
        422 => (Some("Unprocessable Content"), "the request", REQUEST_REMEDY),
        _ if status < 500 => (None, "the request", REQUEST_REMEDY),
        500 => (Some("Internal Server Error"), "a fault", FAULT_REMEDY),
        502 => (Some("Bad Gateway"), "what is behind it", FAULT_REMEDY),
        503 => (Some("Service Unavailable"), "a fault", FAULT_REMEDY),
        504 => (Some("Gateway Timeout"), "what is behind it", FAULT_REMEDY),
        _ => (None, "a fault", FAULT_REMEDY),
    };
    Reason { phrase, it_is, remedy }
}

const CREDENTIALS_REMEDY: &str = "give the credentials that it asks for (-H 'Authorization: …', --bearer, --user, --cookie, or its own header for a key), and measure \
     again: what was measured is how quickly it refuses";
const REQUEST_REMEDY: &str = "look at an answer, which often says what it misses (loadline run -n 1), mend the request, and measure again: what was measured is how quickly it refuses";
const FAULT_REMEDY: &str = "look at the server's log and mend that first, and measure again: what was measured is how quickly it fails";
