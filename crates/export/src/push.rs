//! Outlets that send: OpenTelemetry and InfluxDB.
//!
//! One thread each. It sends what stands on the board when it can; a receiver that takes long gets fewer, newer deliveries.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use plan::{base64, percent_decoded};
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use url::Url;

use crate::board::{Board, Second, Shared};
use crate::{Delivered, Destination, influx, otlp};

/// A receiver has so long to take a delivery.
const PATIENCE: Duration = Duration::from_secs(4);

/// After a delivery that failed, the next is tried no sooner.
const REST: Duration = Duration::from_secs(1);

/// So many seconds go in one delivery.
const SECONDS_AT_ONCE: usize = 500;

/// Of an answer that refuses, as much is told.
const WORDS_MAX: usize = 200;

#[derive(Debug, Clone, Copy)]
enum Protocol {
    Otlp,
    Influx,
}

/// Sends until the run is over, and then tells what became of it.
pub(crate) fn start(destination: &Destination, shared: Arc<Shared>, variable: &dyn Fn(&str) -> Option<String>) -> Receiver<Delivered> {
    let (tell, told) = channel();
    let (protocol, mut url) = match destination {
        Destination::Influx(url) => (Protocol::Influx, url.clone()),
        Destination::Otlp(url) => (Protocol::Otlp, url.clone()),
        // Scrapes are answered, not sent.
        Destination::Prometheus(_) => return told,
    };
    let headers = headers(protocol, &mut url, variable);
    let failing = tell.clone();
    let started = thread::Builder::new().name("export".to_owned()).spawn(move || {
        let sender = Sender::new(protocol, url, headers);
        // Nobody listens any more if the receiver took too long.
        let _ = tell.send(sender.run(&shared));
    });
    if let Err(error) = started {
        let _ = failing.send(Delivered { tried: 1, failed: 1, why: error.to_string(), ..Delivered::default() });
    }
    told
}

struct Sender {
    protocol: Protocol,
    url: Url,
    headers: Vec<(String, String)>,
    agent: Agent,
}

impl Sender {
    fn new(protocol: Protocol, url: Url, headers: Vec<(String, String)>) -> Self {
        let mut config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("loadline/", env!("CARGO_PKG_VERSION")));
        if url.scheme() == "https" {
            let issuers: Vec<Certificate<'static>> =
                rustls_native_certs::load_native_certs().certs.iter().map(|issuer| Certificate::from_der(issuer).to_owned()).collect();
            let tls = TlsConfig::builder()
                .root_certs(RootCerts::new_with_certs(&issuers))
                .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .build();
            config = config.tls_config(tls);
        }
        Self { protocol, url, headers, agent: config.build().new_agent() }
    }

    fn run(&self, shared: &Shared) -> Delivered {
        let mut delivered = Delivered::default();
        let (mut version, mut next_second) = (0, 0);
        loop {
            let (board, mut seconds) = shared.wait(version, next_second, REST);
            let over = board.over;
            let news = board.version > version;
            if let Some(first) = seconds.first() {
                delivered.lost += first.number - next_second;
                next_second = first.number;
            }
            seconds.truncate(SECONDS_AT_ONCE);
            let nothing = match self.protocol {
                Protocol::Influx => seconds.is_empty(),
                Protocol::Otlp => !news || board.loads.is_empty(),
            };
            if nothing {
                if over {
                    delivered.last = true;
                    return delivered;
                }
                version = board.version;
                continue;
            }
            delivered.tried += 1;
            let begun = Instant::now();
            match self.send(&board, &seconds) {
                Ok(()) => {
                    next_second = seconds.last().map_or(next_second, |second| second.number + 1);
                    // Of what is kept by the second there may be more.
                    if matches!(self.protocol, Protocol::Otlp) {
                        version = board.version;
                    }
                }
                Err(why) => {
                    delivered.failed += 1;
                    delivered.why = why;
                    if over {
                        delivered.lost += seconds.len() as u64;
                        return delivered;
                    }
                    version = board.version;
                    thread::sleep(REST.saturating_sub(begun.elapsed()));
                }
            }
        }
    }

    fn send(&self, board: &Board, seconds: &[Second]) -> Result<(), String> {
        let (content_type, body) = match self.protocol {
            Protocol::Otlp => ("application/x-protobuf", otlp::body(board)),
            Protocol::Influx => ("text/plain; charset=utf-8", influx::body(&board.identity, seconds).into_bytes()),
        };
        let mut request = self.agent.post(self.url.as_str()).header("Content-Type", content_type);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut answer = request.send(&body[..]).map_err(|error| error.to_string())?;
        let status = answer.status().as_u16();
        let words = answer.body_mut().with_config().limit(64 << 10).read_to_vec().unwrap_or_default();
        if !(200..300).contains(&status) {
            let text: String = String::from_utf8_lossy(&words).chars().filter(|letter| !letter.is_control()).take(WORDS_MAX).collect();
            return Err(format!("answered with status {status}{}{text}", if text.is_empty() { "" } else { ": " }));
        }
        match self.protocol {
            Protocol::Otlp => otlp::refusal(&words).map_or(Ok(()), Err),
            Protocol::Influx => Ok(()),
        }
    }
}

/// Who we are, to the receiver. Taken out of the URL, which is shown; and from the variables that these systems' own clients read.
fn headers(protocol: Protocol, url: &mut Url, variable: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    if !url.username().is_empty() || url.password().is_some() {
        let user = format!("{}:{}", percent_decoded(url.username()), percent_decoded(url.password().unwrap_or_default()));
        headers.push(("Authorization".to_owned(), format!("Basic {}", base64(user.as_bytes()))));
        // Both only fail for URLs that have no host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
    }
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match protocol {
        Protocol::Influx => {
            if let (true, Some(token)) = (headers.is_empty(), set("INFLUX_TOKEN")) {
                headers.push(("Authorization".to_owned(), format!("Token {token}")));
            }
        }
        Protocol::Otlp => {
            let listed = set("OTEL_EXPORTER_OTLP_METRICS_HEADERS").or_else(|| set("OTEL_EXPORTER_OTLP_HEADERS")).unwrap_or_default();
            for (name, value) in listed.split(',').filter_map(|pair| pair.split_once('=')) {
                headers.push((name.trim().to_owned(), percent_decoded(value.trim())));
            }
        }
    }
    headers
}
