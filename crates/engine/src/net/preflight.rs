//! Looking for the server before the run: one connection, opened and closed again.
//!
//! Ten seconds of "connection refused" tell less than one line before them. No request is sent, because the server
//! would count it. What fails here fails with the same classes as in the run, put into words with a remedy.

use std::net::SocketAddr;
use std::time::Duration;

use measure::Failure;
use plan::setting::{CERT, CONNECT_TIMEOUT, CONNECT_TO, HTTP, KEY, NO_PREFLIGHT, PROXY, SOURCE_IP};
use plan::{HostPort, HttpVersion, Nanos, Plan};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::timeout;

#[cfg(feature = "http3")]
use super::quic;
use super::socket::Sources;
use super::tls::Handshakes;
use super::{DialFailed, Network, Stream, proxy, tls, words};
use crate::RunError;

/// How long a server has to refuse a missing client certificate, which in TLS 1.3 it does after the handshake.
const ALERT_WITHIN: Duration = Duration::from_secs(1);

/// Opens one connection with everything that belongs to it, and closes it.
pub(super) fn try_once(network: Network, plan: &Plan) -> Result<Network, RunError> {
    let attempt = async {
        let (handshakes, asked) = match &network.tls {
            None => (None, None),
            Some(handshakes) => {
                let (handshakes, asked) = handshakes.noticing_requests();
                (Some(handshakes), Some(asked))
            }
        };
        let asked_in_vain = || asked.as_ref().is_some_and(|asked| asked.unmet());
        let mut stream = match network.dial_origin(handshakes.as_ref(), 0).await {
            Ok(dialed) => dialed.stream,
            Err(failed) => return Err((failed, asked_in_vain())),
        };
        if asked_in_vain()
            && let Some(failed) = refusal(&mut stream, ALERT_WITHIN.min(plan.connection().connect_timeout.into())).await
        {
            return Err((DialFailed { text: format!("{}: {}", place(plan), failed.text), ..failed }, true));
        }
        match stream {
            // Says close_notify; whether the peer cares to hear it is not the question here.
            Stream::Tls(_) => drop(timeout(ALERT_WITHIN, stream.shutdown()).await),
            #[cfg(feature = "http3")]
            Stream::Quic(quic) => quic.close().await,
            Stream::Tcp(_) | Stream::Unix(_) => {}
        }
        Ok(())
    };
    match runtime()?.block_on(attempt) {
        Ok(()) => Ok(network),
        Err((failed, true)) if failed.failure == Failure::TlsAlert => Err(RunError::run(
            format!("{} wants a client certificate ({})", place(plan), after_place(&failed)),
            format!("give one with {CERT:#} FILE {KEY:#} FILE"),
        )),
        Err((failed, _)) => Err(nobody(plan, &failed)),
    }
}

/// Why the server ends a connection within this time, if it does for reasons of TLS.
async fn refusal(stream: &mut Stream, limit: Duration) -> Option<DialFailed> {
    #[cfg(feature = "http3")]
    if let Stream::Quic(quic) = stream {
        return quic.ended_within(limit).await;
    }
    tls::broken(&timeout(limit, stream.read(&mut [0])).await.ok()?.err()?)
}

/// Of several addresses those that answer, in the family of the first that does, and a word about the others.
pub(super) fn reachable(
    plan: &Plan,
    at: &HostPort,
    addresses: Vec<SocketAddr>,
    of_quic: Option<&(Handshakes, ServerName<'static>)>,
) -> Result<(Vec<SocketAddr>, Vec<String>), RunError> {
    if addresses.len() < 2 {
        return Ok((addresses, Vec::new()));
    }
    let sources = Sources::new(plan.connection().source_ips.clone(), 1);
    let limit = plan.connection().connect_timeout;
    let answers = LocalSet::new().block_on(&runtime()?, answers(addresses, &sources, limit, of_quic));

    let mut kept: Vec<SocketAddr> = Vec::new();
    let mut silent = Vec::new();
    let mut first_failure = None;
    for (address, answer) in answers {
        match answer {
            Ok(()) if kept.first().is_none_or(|first| first.is_ipv4() == address.is_ipv4()) => kept.push(address),
            Ok(()) => {}
            Err(failed) => {
                silent.push(format!("{} ({})", address.ip(), after_place(&failed)));
                first_failure.get_or_insert(failed);
            }
        }
    }
    match first_failure {
        Some(failed) if kept.is_empty() => Err(nobody(plan, &failed)),
        Some(_) => {
            let kept_ips: Vec<String> = kept.iter().map(|address| address.ip().to_string()).collect();
            let warning = format!("{}: {} left out; connections go to {}", at.host, silent.join(", "), kept_ips.join(", "));
            Ok((kept, vec![warning]))
        }
        None => Ok((kept, Vec::new())),
    }
}

/// The addresses that a connection can come to from one of the given sources.
pub(super) fn fitting(plan: &Plan, at: &HostPort, addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, RunError> {
    let sources = &plan.connection().source_ips;
    if sources.is_empty() {
        return Ok(addresses);
    }
    let (fitting, others): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| sources.iter().any(|source| source.is_ipv4() == address.is_ipv4()));
    if fitting.is_empty() {
        let given: Vec<String> = sources.iter().map(ToString::to_string).collect();
        let (here, there) = if others.iter().all(SocketAddr::is_ipv4) { ("IPv6", "IPv4") } else { ("IPv4", "IPv6") };
        return Err(RunError::input(
            format!("{SOURCE_IP:#} {} is {here}, but {} has only {there} addresses", given.join(", "), at.host),
            format!("give an {there} address of this machine"),
        ));
    }
    Ok(fitting)
}

/// Connects to all at once, so that a silent one costs one timeout and not one each. Over QUIC, if there is what it is spoken with.
async fn answers(
    addresses: Vec<SocketAddr>,
    sources: &Sources,
    limit: Nanos,
    of_quic: Option<&(Handshakes, ServerName<'static>)>,
) -> Vec<(SocketAddr, Result<(), DialFailed>)> {
    let attempts: Vec<_> = (addresses.into_iter())
        .map(|address| {
            let (sources, of_quic) = (sources.clone(), of_quic.cloned());
            let attempt = spawn_local(async move {
                let late = DialFailed { failure: Failure::ConnectTimeout, text: format!("{address}: no connection within {limit}") };
                let opening = async {
                    match of_quic {
                        #[cfg(feature = "http3")]
                        Some((handshakes, name)) => {
                            quic::open(&sources, address, 0, &handshakes, &name).await?.close().await;
                            Ok(())
                        }
                        _ => sources.open(address, 0).await.map(drop),
                    }
                };
                timeout(limit.into(), opening).await.unwrap_or(Err(late))
            });
            (address, attempt)
        })
        .collect();
    let mut answers = Vec::new();
    for (address, attempt) in attempts {
        answers.push((address, attempt.await.expect("nothing in an attempt panics")));
    }
    answers
}

fn runtime() -> Result<Runtime, RunError> {
    Builder::new_current_thread().enable_all().build().map_err(|error| {
        RunError::run(
            format!("the system gives no event queue: {}", words(&error.to_string())),
            "look at ulimit -n and fs.epoll.max_user_watches",
        )
    })
}

/// A name that a proxy was to be told the address of, and that leads nowhere here.
pub(super) fn unknown_behind_proxy(at: &HostPort, failed: &DialFailed) -> RunError {
    let why = after_place(failed);
    let help = format!("have the proxy look it up: {PROXY:#} socks5h://HOST:PORT");
    RunError::run(format!("{} could not be looked up ({why})", at.host), help).unreached(failed.failure, why)
}

/// A name that leads nowhere, in words.
pub(super) fn unresolved(plan: &Plan, at: &HostPort, failed: &DialFailed) -> RunError {
    let host = if plan.connection().proxy.is_some() { format!("the proxy {}", at.host) } else { at.host.clone() };
    let why = after_place(failed);
    let error = match failed.failure {
        Failure::DnsNotFound => RunError::run(
            format!("{host} does not exist ({why})"),
            format!("check the spelling, or say where it is with {CONNECT_TO:#} HOST:PORT"),
        ),
        Failure::DnsTimeout => RunError::run(
            format!("{host} could not be looked up ({why})"),
            format!("check this machine's resolver, or say where it is with {CONNECT_TO:#} HOST:PORT"),
        ),
        _ => RunError::run(format!("{host} could not be looked up ({why})"), failed.failure.remedy()),
    };
    error.unreached(failed.failure, why)
}

/// A target that cannot be reached, in words.
fn nobody(plan: &Plan, failed: &DialFailed) -> RunError {
    let place = place(plan);
    let limit = plan.connection().connect_timeout;
    let why = after_place(failed);
    let (about, remedy) = (failed.failure.about(), failed.failure.remedy());
    let (message, help) = match failed.failure {
        Failure::ConnectRefused if plan.connection().http == HttpVersion::V3 => {
            (format!("{place}: {why}"), format!("start the server first, or leave {HTTP} out if it speaks no HTTP/3"))
        }
        Failure::ConnectTimeout if plan.connection().http == HttpVersion::V3 => (
            format!("{place} answers nothing over QUIC (UDP) within {limit}"),
            format!("check that the server speaks HTTP/3 there and that firewalls let UDP through, or leave {HTTP} out"),
        ),
        Failure::ConnectRefused => (format!("nothing listens on {place} ({why})"), "start the server first".to_owned()),
        Failure::ConnectTimeout => (
            format!("{place} accepts no connection within {limit}"),
            format!("check host, port and firewalls, give a longer {CONNECT_TIMEOUT}"),
        ),
        Failure::ConnectProxy => {
            let help = if failed.text.contains(" 407") {
                format!("give the proxy's credentials as {PROXY:#} http://NAME:PASSWORD@HOST:PORT")
            } else if failed.text.ends_with(proxy::WANTS_USER) {
                format!("give the proxy's credentials as {PROXY:#} socks5://NAME:PASSWORD@HOST:PORT")
            } else {
                remedy.marked().to_owned()
            };
            (format!("{place} opened no tunnel: {}", failed.text), help)
        }
        Failure::TlsTimeout => (format!("{place}: no TLS handshake within {limit}"), remedy.marked().to_owned()),
        Failure::TlsProtocol if why == tls::PLAIN_HTTP => {
            let target = plan.target();
            let at = HostPort { host: target.host().to_owned(), port: target.port() };
            return RunError::run(format!("{place} speaks plain HTTP, not TLS"), format!("use http://{at}{}", target.path_and_query()));
        }
        _ => (format!("{place}: {about} ({why})"), remedy.marked().to_owned()),
    };
    RunError::run(message, format!("{help}, or give {NO_PREFLIGHT} to measure all the same")).unreached(failed.failure, why)
}

/// What connections are opened to, as the user wrote it.
fn place(plan: &Plan) -> String {
    let connection = plan.connection();
    match (&connection.unix_socket, &connection.proxy) {
        (Some(path), _) => format!("the socket {path}"),
        (None, Some(proxy)) => format!("the proxy {}", proxy.at),
        (None, None) => super::first_hop(plan).to_string(),
    }
}

/// The words of a failure without the place they start with.
fn after_place(failed: &DialFailed) -> &str {
    failed.text.split_once(": ").map_or(failed.text.as_str(), |(_, words)| words)
}
