//! Opening connections: names, sockets, proxies and TLS, decided before the run as far as they can be.
//!
//! What a load tester finds out while it measures, it measures too: a name looked up, a file read, an address family
//! tried in vain. So a [`Network`] is prepared once; after that a dial is a connect and, if asked for, a handshake,
//! each with its own time. Everything that can go wrong then has a class of [`Failure`]; everything that goes wrong
//! before is a [`RunError`] that says what to do.
//!
//! [`Dial`] is the one impure seam of the engine: the simulated engine has another implementation over streams in
//! memory.

mod limits;
mod preflight;
mod proxy;
#[cfg(feature = "http3")]
mod quic;
mod reach;
mod resolve;
mod sessions;
mod socket;
mod spoken;
mod stream;
mod tls;

pub(crate) use limits::check_limits;
#[cfg(feature = "http3")]
pub use quic::Quic;
#[cfg(feature = "http3")]
pub(crate) use quic::farewell;
pub use reach::Reach;
pub use spoken::{Spoken, Version};
pub use stream::{Stream, Transport};
pub use tls::broken as tls_broken;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use measure::{Failure, Resolution};
use plan::setting::{HTTP, SNI, SOURCE_IP};
use plan::{Also, Bounds, HostPort, HttpVersion, Nanos, Plan, Preflight, Proxy, ProxyKind, Scheme, Target, Verification};
use rustls::HandshakeKind;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

use crate::{Fence, RunError, RunErrorKind};
use proxy::FarEnd;
use socket::{LocalPorts, Sources, is_ipv4_loopback};
use tls::{CertificateNeed, Handshakes};

/// Opens connections.
pub trait Dial {
    /// What a lane reads and writes.
    type Stream: AsyncRead + AsyncWrite + Unpin + 'static;

    /// Opens the n-th connection of this worker to the target: addresses and local addresses are taken in turn by
    /// `n`. Keeps its own time limit, for TCP, proxy and TLS together.
    fn dial(&self, n: u64) -> impl Future<Output = Result<Dialed<Self::Stream>, DialFailed>>;

    /// The same to another origin, for redirects.
    fn dial_other(&self, target: &Target, n: u64) -> impl Future<Output = Result<Dialed<Self::Stream>, DialFailed>>;

    /// What TLS came to on a connection; `None` without TLS.
    fn spoken(_stream: &Self::Stream) -> Option<Spoken> {
        None
    }
}

/// How sockets differ from what a Plan makes of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wire {
    /// The sizes of the kernel's buffers, both ways; `None` leaves them to the system.
    pub buffer_bytes: Option<u32>,
    /// Whether TLS names the host it wants.
    pub naming: Naming,
}

/// Whether TLS names the host it wants (SNI, RFC 6066 §3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Naming {
    /// As usual.
    #[default]
    Named,
    /// Not.
    Unnamed,
}

/// An open connection, and what opening it took.
#[derive(Debug)]
pub struct Dialed<S> {
    /// Ready for a request.
    pub stream: S,
    /// What is spoken there.
    pub version: Version,
    /// TCP, and the proxy's tunnel.
    pub connect: Nanos,
    /// The handshake, if there was one.
    pub tls: Option<Nanos>,
    /// Whether the handshake resumed a session of an earlier connection.
    pub resumed: bool,
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialFailed {
    /// The class.
    pub failure: Failure,
    /// For the example: to where, and the system's or the peer's words.
    pub text: String,
}

/// Sockets of this machine. A clone shares what was prepared, and the TLS sessions that may be resumed.
#[derive(Debug, Clone)]
pub struct Network {
    prepared: Arc<Prepared>,
    tls: Option<Handshakes>,
    /// Where connections to the target go instead of the prepared hop.
    directed: Option<Arc<Hop>>,
    sources: Sources,
    /// Where redirects led, looked up once.
    others: RefCell<Pinned>,
}

/// Addresses of hosts and ports.
type Pinned = HashMap<(String, u16), Arc<[SocketAddr]>>;

#[derive(Debug)]
struct Prepared {
    origin: Target,
    /// What a certificate of the origin is expected for; `None` for plain HTTP.
    origin_name: Option<ServerName<'static>>,
    hop: Hop,
    proxy: Option<Proxy>,
    connect_timeout: Nanos,
    http: HttpVersion,
    resolution: Resolution,
    warnings: Vec<String>,
    bounds: Bounds,
    fence: Fence,
}

/// Where connections to the target are opened to: itself, what stands in for it, or the proxy.
#[derive(Debug, Clone)]
enum Hop {
    Tcp(Arc<[SocketAddr]>),
    Unix(String),
}

impl Network {
    /// Reads the plan's TLS files, looks its names up, and, unless the plan says otherwise, opens one connection and
    /// closes it again without sending a request. Of several addresses those are kept that answer.
    ///
    /// Blocks for as long as the system's resolver and the connect timeout let it. Not to be called from within an
    /// asynchronous runtime.
    ///
    /// # Errors
    /// If files are unusable (all of them are named), a name has no address, this machine has too few ports, or the
    /// preflight finds nobody.
    pub fn prepare(plan: &Plan) -> Result<Self, RunError> {
        Self::prepare_within(plan, plan.open_connections_max(), plan.connection().preflight, &Fence::open())
    }

    /// The same for so many connections of this machine, with a look at the target or without, where not every address may be connected to: also not to see whether somebody is there, and not after a
    /// redirect.
    ///
    /// # Errors
    /// As [`Network::prepare`]; and if the fence does not let an address of the target through.
    pub(crate) fn prepare_within(plan: &Plan, connections: u64, preflight: Preflight, fence: &Fence) -> Result<Self, RunError> {
        let credentials = Credentials::read(plan)?;
        let connection = plan.connection();
        if cfg!(not(feature = "http3")) && connection.http == HttpVersion::V3 {
            let help = format!("build it with the feature 'http3', or measure with {HTTP:#} 2 or {HTTP:#} 1.1");
            return Err(RunError::input("this build of loadline does not speak HTTP/3", help));
        }
        if let Some(path) = &connection.unix_socket {
            let resolution = Resolution { name: path.clone(), addresses: Vec::new(), took: None };
            return Self::new(plan, credentials, Hop::Unix(path.clone()), resolution, Vec::new(), fence).tried(plan, preflight);
        }

        let at = first_hop(plan);
        let begun = std::time::Instant::now();
        let all = resolve::addresses(&at).map_err(|failed| preflight::unresolved(plan, &at, &failed))?;
        let took = resolve::written(&at).is_none().then(|| begun.elapsed().into());
        fence.look(&at.host, &all).map_err(|why| RunError { kind: RunErrorKind::Refused, ..RunError::input(why, fence.help()) })?;
        let all = preflight::fitting(plan, &at, all)?;
        let (addresses, warnings) = match preflight {
            Preflight::Connect => preflight::reachable(plan, &at, all, credentials.of_quic(connection.http).as_ref())?,
            Preflight::Skip => (resolve::one_family(all), Vec::new()),
        };
        limits::check_ports(plan, connections, &addresses, LocalPorts::of_this_machine())?;
        let resolution = Resolution { name: at.host, addresses: addresses.iter().map(ToString::to_string).collect(), took };
        let network = Self::new(plan, credentials, Hop::Tcp(addresses.into()), resolution, warnings, fence);
        network.find_origin(plan)?;
        network.tried(plan, preflight)
    }

    /// Looks up where the origin is, if the proxy is told addresses.
    fn find_origin(&self, plan: &Plan) -> Result<(), RunError> {
        if plan.connection().proxy.as_ref().is_none_or(|proxy| proxy.kind != ProxyKind::Socks5) {
            return Ok(());
        }
        let at = HostPort { host: plan.target().host().to_owned(), port: plan.target().port() };
        let all = resolve::addresses(&at).map_err(|failed| preflight::unknown_behind_proxy(&at, &failed))?;
        let fence = &self.prepared.fence;
        fence.look(&at.host, &all).map_err(|why| RunError { kind: RunErrorKind::Refused, ..RunError::input(why, fence.help()) })?;
        self.others.borrow_mut().insert((at.host, at.port), resolve::one_family(all).into());
        Ok(())
    }

    /// Looks at another server that requests of a plan will go to, before any is sent. It is looked at again when it is connected to.
    ///
    /// # Errors
    /// If the fence does not let one of its addresses through, or it has none.
    pub fn look_at(plan: &Plan, other: &Target, fence: &Fence) -> Result<(), RunError> {
        if plan.connection().proxy.as_ref().is_some_and(|proxy| proxy.kind == ProxyKind::Socks5Names) {
            // Names are the proxy's own, and what lies behind it is not seen here.
            return Ok(());
        }
        let at = HostPort { host: other.host().to_owned(), port: other.port() };
        let all = resolve::addresses(&at).map_err(|failed| preflight::unresolved(plan, &at, &failed))?;
        fence.look(&at.host, &all).map_err(|why| RunError { kind: RunErrorKind::Refused, ..RunError::input(why, fence.help()) })
    }

    /// Where the target's name led.
    #[must_use]
    pub fn resolution(&self) -> Resolution {
        self.prepared.resolution.clone()
    }

    /// The addresses connections go to; none for a Unix socket.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.prepared.resolution.addresses.iter().filter_map(|address| address.parse().ok()).collect()
    }

    /// The same with other sockets.
    #[must_use]
    pub(crate) fn wired(mut self, wire: Wire) -> Self {
        self.sources = self.sources.buffered(wire.buffer_bytes);
        if wire.naming == Naming::Unnamed {
            self.tls = self.tls.as_ref().map(Handshakes::unnamed);
        }
        self
    }

    /// The same for a worker, which resumes no TLS sessions but its own.
    #[must_use]
    pub(crate) fn of_worker(&self) -> Self {
        Self { tls: self.tls.as_ref().map(Handshakes::of_another_worker), ..self.clone() }
    }

    /// The same with all connections going to one address.
    #[must_use]
    pub(crate) fn directed(mut self, address: SocketAddr) -> Self {
        self.directed = Some(Hop::Tcp(Arc::new([address])).into());
        self
    }

    /// What the user should know about these connections.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.prepared.warnings.clone()
    }

    fn new(plan: &Plan, credentials: Credentials, hop: Hop, resolution: Resolution, mut warnings: Vec<String>, fence: &Fence) -> Self {
        let connection = plan.connection();
        let sources = sources(plan, &hop);
        if credentials.tls.is_some() && connection.tls.verification == Verification::Off {
            warnings.push("certificates are not verified (--insecure)".to_owned());
        }
        if sources.loopback() > 1 {
            warnings.push(format!(
                "connections come from {} local addresses, from 127.0.0.1 on: one has {} ports, and a free one is hard to find when half are taken",
                sources.loopback(),
                LocalPorts::of_this_machine().count(),
            ));
        }
        let prepared = Prepared {
            origin: plan.target().clone(),
            origin_name: credentials.name,
            hop,
            proxy: connection.proxy.clone(),
            connect_timeout: connection.connect_timeout,
            http: connection.http,
            resolution,
            warnings,
            bounds: plan.bounds(),
            fence: fence.clone(),
        };
        Self { prepared: Arc::new(prepared), tls: credentials.tls, directed: None, sources, others: RefCell::default() }
    }

    fn tried(self, plan: &Plan, preflight: Preflight) -> Result<Self, RunError> {
        match preflight {
            Preflight::Connect => preflight::try_once(self, plan),
            Preflight::Skip => Ok(self),
        }
    }

    /// Opens a connection by way of `hop` to `target`; with TLS if there is a name to expect.
    async fn open(&self, hop: &Hop, target: &Target, tls: Option<(&Handshakes, &ServerName<'static>)>, n: u64) -> Opened {
        let limit = self.prepared.connect_timeout;
        #[cfg(feature = "http3")]
        if let (HttpVersion::V3, Scheme::Https, Some(tls)) = (self.prepared.http, target.scheme(), tls) {
            return self.open_quic(hop, tls, n).await;
        }
        let tunnel = match &self.prepared.proxy {
            Some(proxy) if tls.is_some() || proxy.tunnels_all() => Some((proxy, self.far_end(proxy, target, n).await?)),
            _ => None,
        };
        let begun = Instant::now();
        let deadline = begun + Duration::from(limit);
        let mut transport = timeout_at(deadline, self.connect(hop, n)).await.map_err(|_| DialFailed {
            failure: Failure::ConnectTimeout,
            text: format!("{}: no connection within {limit}", hop.place(n)),
        })??;
        if let Some((proxy, to)) = &tunnel {
            let opened = timeout_at(deadline, proxy::tunnel(&mut transport, proxy, to)).await;
            opened.map_err(|_| proxy::silent(proxy, to, limit))??;
            transport.forget_heard();
        }
        let Some((handshakes, name)) = tls else {
            let is_http2 = target.scheme().is_grpc() || self.prepared.http == HttpVersion::V2 && !target.scheme().is_websocket();
            let version = if is_http2 { Version::Http2 } else { Version::Http1 };
            return Ok(Dialed { stream: transport.plain(), version, connect: begun.elapsed().into(), tls: None, resumed: false });
        };
        let connected = Instant::now();
        let (is_websocket, is_grpc) = (target.scheme().is_websocket(), target.scheme().is_grpc());
        let own = match self.prepared.http {
            HttpVersion::Auto | HttpVersion::V2 | HttpVersion::V3 if is_websocket => Some(handshakes.for_websocket()),
            HttpVersion::Auto | HttpVersion::V1 | HttpVersion::V3 if is_grpc => Some(handshakes.for_grpc()),
            _ => None,
        };
        let handshakes = own.as_ref().unwrap_or(handshakes);
        let stream = timeout_at(deadline, handshakes.shake(name, transport))
            .await
            .map_err(|_| DialFailed { failure: Failure::TlsTimeout, text: format!("{}: no handshake within {limit}", name.to_str()) })??;
        let version = if stream.get_ref().1.alpn_protocol() == Some(tls::H2) { Version::Http2 } else { Version::Http1 };
        if (self.prepared.http == HttpVersion::V2 && !is_websocket || is_grpc) && version != Version::Http2 {
            let text = format!("{}: it agreed to TLS, and not to HTTP/2 (ALPN)", name.to_str());
            return Err(DialFailed { failure: Failure::Http2NotSpoken, text });
        }
        let resumed = stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed);
        Ok(Dialed {
            resumed,
            stream: Stream::Tls(Box::new(stream)),
            version,
            connect: (connected - begun).into(),
            tls: Some(connected.elapsed().into()),
        })
    }

    /// Opens a connection of QUIC. Its one handshake is both, the connection and TLS.
    #[cfg(feature = "http3")]
    async fn open_quic(&self, hop: &Hop, (handshakes, name): (&Handshakes, &ServerName<'static>), n: u64) -> Opened {
        let Hop::Tcp(addresses) = hop else {
            let text = format!("{}: HTTP/3 goes over UDP, and this is a Unix socket", hop.place(n));
            return Err(DialFailed { failure: Failure::ConnectOther, text });
        };
        let limit = self.prepared.connect_timeout;
        let begun = Instant::now();
        let count = addresses.len() as u64;
        let opening = quic::open(&self.sources, addresses[(n % count) as usize], n / count, handshakes, name);
        let quic = timeout_at(begun + Duration::from(limit), opening).await.map_err(|_| DialFailed {
            failure: Failure::ConnectTimeout,
            text: format!("{}: no connection of QUIC within {limit}", hop.place(n)),
        })??;
        let stream = Stream::Quic(quic.clone());
        Ok(Dialed { stream, version: Version::Http3(quic), connect: begun.elapsed().into(), tls: None, resumed: false })
    }

    /// What the proxy is told of where a tunnel ends.
    async fn far_end(&self, proxy: &Proxy, target: &Target, n: u64) -> Result<FarEnd, DialFailed> {
        let at = HostPort { host: target.host().to_owned(), port: target.port() };
        if proxy.kind != ProxyKind::Socks5 {
            return Ok(FarEnd::Named(at));
        }
        let addresses = self.looked_up(at).await?;
        Ok(FarEnd::At(addresses[(n % addresses.len() as u64) as usize]))
    }

    async fn connect(&self, hop: &Hop, n: u64) -> Result<Transport, DialFailed> {
        match hop {
            Hop::Tcp(addresses) => {
                let count = addresses.len() as u64;
                // Each address meets each source, not always the same one.
                self.sources.open(addresses[(n % count) as usize], n / count).await.map(Transport::tcp)
            }
            Hop::Unix(path) => loop {
                match UnixStream::connect(path).await {
                    Ok(stream) => return Ok(Transport::unix(stream)),
                    // The listener's queue is full. TCP would wait in the kernel; here the caller has to.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => tokio::time::sleep(Duration::from_millis(1)).await,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        return Err(DialFailed { failure: Failure::ConnectRefused, ..socket::failed(path, &error) });
                    }
                    Err(error) => return Err(socket::failed(path, &error)),
                }
            },
        }
    }

    async fn dial_origin(&self, tls: Option<&Handshakes>, n: u64) -> Opened {
        let prepared = &self.prepared;
        self.open(self.directed.as_deref().unwrap_or(&prepared.hop), &prepared.origin, tls.zip(prepared.origin_name.as_ref()), n).await
    }

    /// The pinned addresses of a host a redirect led to.
    async fn looked_up(&self, at: HostPort) -> Result<Arc<[SocketAddr]>, DialFailed> {
        let key = (at.host.clone(), at.port);
        if let Some(addresses) = self.others.borrow().get(&key) {
            return Ok(Arc::clone(addresses));
        }
        let limit = self.prepared.connect_timeout;
        let late = DialFailed { failure: Failure::DnsTimeout, text: format!("{}: not resolved within {limit}", at.host) };
        let host = at.host.clone();
        let lookup = tokio::task::spawn_blocking(move || resolve::addresses(&at));
        let found = timeout_at(Instant::now() + Duration::from(limit), lookup).await.map_err(|_| late)?;
        let found = found.map_err(|error| DialFailed { failure: Failure::ClientInternal, text: error.to_string() })??;
        self.prepared.fence.look(&host, &found).map_err(|text| DialFailed { failure: Failure::RedirectTarget, text })?;
        let addresses: Arc<[SocketAddr]> = resolve::one_family(found).into();
        self.others.borrow_mut().insert(key, Arc::clone(&addresses));
        Ok(addresses)
    }
}

type Opened = Result<Dialed<Stream>, DialFailed>;

impl Dial for Network {
    type Stream = Stream;

    async fn dial(&self, n: u64) -> Opened {
        self.dial_origin(self.tls.as_ref(), n).await
    }

    /// By way of the proxy or Unix socket where the plan has one, like all connections; `--connect-to` and `--sni`
    /// are about the target alone. Before the first connection to a host it is looked up, in a blocking thread; that
    /// has a limit of the same length and counts in neither time.
    async fn dial_other(&self, target: &Target, n: u64) -> Opened {
        let prepared = &self.prepared;
        if target.same_origin(&prepared.origin) {
            return self.dial(n).await;
        }
        // Whatever led here, and by whichever proxy: no other server is asked.
        if !prepared.bounds.hold(target) {
            return Err(DialFailed { failure: Failure::RedirectOutside, text: Bounds::refusal(target) });
        }
        let unreachable = |text: String| DialFailed { failure: Failure::RedirectTarget, text };
        let name;
        let tls = match target.scheme() {
            Scheme::Http | Scheme::Ws | Scheme::Grpc => None,
            Scheme::Https | Scheme::Wss | Scheme::Grpcs => {
                let handshakes = self.tls.as_ref().ok_or_else(|| unreachable(format!("{target}: the plan follows no redirects")))?;
                name = tls::server_name(target.host())
                    .ok_or_else(|| unreachable(format!("{} is not a name a certificate can be for", target.host())))?;
                Some((handshakes, &name))
            }
        };
        if prepared.proxy.is_some() || matches!(prepared.hop, Hop::Unix(_)) {
            return self.open(&prepared.hop, target, tls, n).await;
        }
        let addresses = self.looked_up(HostPort { host: target.host().to_owned(), port: target.port() }).await?;
        self.open(&Hop::Tcp(addresses), target, tls, n).await
    }

    fn spoken(stream: &Stream) -> Option<Spoken> {
        match stream {
            Stream::Tls(stream) => Spoken::of(stream.get_ref().1),
            Stream::Tcp(_) | Stream::Unix(_) => None,
            #[cfg(feature = "http3")]
            Stream::Quic(_) => None,
        }
    }
}

impl Hop {
    fn place(&self, n: u64) -> String {
        match self {
            Self::Tcp(addresses) => addresses[(n % addresses.len() as u64) as usize].to_string(),
            Self::Unix(path) => path.clone(),
        }
    }
}

/// What the plan's TLS files and names come to.
struct Credentials {
    tls: Option<Handshakes>,
    name: Option<ServerName<'static>>,
}

impl Credentials {
    /// What connections of QUIC are opened with, if they are.
    fn of_quic(&self, http: HttpVersion) -> Option<(Handshakes, ServerName<'static>)> {
        self.tls.clone().zip(self.name.clone()).filter(|_| http == HttpVersion::V3)
    }

    /// Everything that can be wrong with the plan on this machine before a name is looked up.
    fn read(plan: &Plan) -> Result<Self, RunError> {
        let connection = plan.connection();
        let mut errors: Vec<RunError> = Vec::new();
        let needed = match plan.target().scheme() {
            Scheme::Https | Scheme::Wss | Scheme::Grpcs => Some(CertificateNeed::AtOnce),
            Scheme::Http | Scheme::Ws | Scheme::Grpc => {
                let leads_on = connection.follow > 0 || plan.scenario().is_some() || *plan.also() != Also::default();
                leads_on.then_some(CertificateNeed::AfterRedirect)
            }
        };
        let mut tls = None;
        match needed.map(|needed| Handshakes::new(&connection.tls, connection.http, plan.contents(), needed)).transpose() {
            Ok(handshakes) => tls = handshakes,
            Err(wrong) => errors.extend(wrong),
        }
        let mut name = None;
        if needed == Some(CertificateNeed::AtOnce) {
            let text = connection.tls.sni.as_deref().unwrap_or(plan.target().host());
            name = tls::server_name(text);
            if name.is_none() {
                let named = if connection.tls.sni.is_some() { format!("{SNI:#}") } else { "the host".to_owned() };
                errors.push(RunError::input(
                    format!("{named} '{text}' is not a name a certificate can be for"),
                    format!("give a DNS name or an IP address, such as {SNI:#} api.test"),
                ));
            }
        }
        for ip in &connection.source_ips {
            if !socket::is_of_this_machine(*ip) {
                errors.push(RunError::input(
                    format!("{SOURCE_IP:#} {ip} is not an address of this machine"),
                    "give one that 'ip address' lists, or add it with: ip address add",
                ));
            }
        }
        RunError::together(errors).map_or(Ok(Self { tls, name }), Err)
    }
}

/// Every address the system knows for a host and a service, which is a port or the name `http` or `https`, in its order.
///
/// # Errors
/// In the system's words.
pub fn lookup(host: &str, service: &str) -> Result<Vec<SocketAddr>, String> {
    let port = match service {
        "http" => 80,
        "https" => 443,
        "" => 0,
        port => port.parse().map_err(|_| "no such service".to_owned())?,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let found = (host, port).to_socket_addrs().map_err(|error| words(&error.to_string()))?;
    Ok(found.collect())
}

/// Whether a TCP connection to an address can be opened within a time; it is closed again. Blocks.
#[must_use]
pub fn answers(address: SocketAddr, within: Duration) -> bool {
    std::net::TcpStream::connect_timeout(&address, within).is_ok()
}

/// The host and port connections are opened to.
fn first_hop(plan: &Plan) -> HostPort {
    let connection = plan.connection();
    let target = plan.target();
    (connection.proxy.as_ref().map(|proxy| &proxy.at))
        .or(connection.connect_to.as_ref())
        .cloned()
        .unwrap_or_else(|| HostPort { host: target.host().to_owned(), port: target.port() })
}

fn sources(plan: &Plan, hop: &Hop) -> Sources {
    let given = plan.connection().source_ips.clone();
    let loopback = match hop {
        Hop::Tcp(addresses) if given.is_empty() && addresses.iter().all(|address| is_ipv4_loopback(address.ip())) => {
            let each = plan.open_connections_max().div_ceil(addresses.len().max(1) as u64);
            LocalPorts::of_this_machine().loopback_sources(u32::try_from(each).unwrap_or(u32::MAX))
        }
        _ => 1,
    };
    Sources::new(given, loopback)
}

/// The system's words as they stand inside a sentence: without the number, starting small.
pub(crate) fn words(text: &str) -> String {
    let text = text.rsplit_once(" (os error ").map_or(text, |(words, _)| words);
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(text.chars().skip(1)).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
