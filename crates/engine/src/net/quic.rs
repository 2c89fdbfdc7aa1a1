//! Connections of QUIC (RFC 9000), which HTTP/3 is spoken on.
//!
//! Each has a socket of its own: servers divide what comes among their threads by address and port, so that connections from one port would all
//! be one thread's. The socket is connected, because only then does the system tell that nobody listens there.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use measure::Failure;
use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, ConnectionError, EndpointConfig, TokioRuntime, TransportConfig, UdpPoller, VarInt};
use rustls::AlertDescription;
use rustls::pki_types::ServerName;
use tokio::io::Interest;

use super::socket::Sources;
use super::tls::Handshakes;
use super::{DialFailed, tls};

/// More streams of its own a server needs for nothing: control, and two for a table.
const ONE_WAY_MAX: u32 = 8;

/// Behind what is closed there is time to say so: what sends is a task.
const FAREWELL: Duration = Duration::from_millis(2);

/// A connection of QUIC, the handshake done.
#[derive(Debug, Clone)]
pub struct Quic {
    connection: quinn::Connection,
    socket: Arc<Datagrams>,
}

impl Quic {
    pub(crate) const fn connection(&self) -> &quinn::Connection {
        &self.connection
    }

    /// Ends it, and tells the server.
    pub(super) async fn close(&self) {
        // H3_NO_ERROR (RFC 9114 §8.1).
        self.connection.close(VarInt::from_u32(0x100), b"");
        farewell().await;
    }

    /// Waits so long for the server to end it: why it did, if it was for reasons of TLS.
    pub(super) async fn ended_within(&self, limit: Duration) -> Option<DialFailed> {
        let error = tokio::time::timeout(limit, self.connection.closed()).await.ok()?;
        Some(failed(&error)).filter(|failed| failed.failure == Failure::TlsAlert)
    }
}

/// The same connection.
impl PartialEq for Quic {
    fn eq(&self, other: &Self) -> bool {
        self.connection.stable_id() == other.connection.stable_id()
    }
}

impl Eq for Quic {}

impl AsFd for Quic {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.io.as_fd()
    }
}

/// Lets what was closed say so, before nothing runs any more.
pub(crate) async fn farewell() {
    tokio::time::sleep(FAREWELL).await;
}

/// Opens a connection, its source chosen by `turn`. Has no time limit of its own.
pub(super) async fn open(
    sources: &Sources,
    to: SocketAddr,
    turn: u64,
    handshakes: &Handshakes,
    name: &ServerName<'static>,
) -> Result<Quic, DialFailed> {
    let socket = Arc::new(sources.open_datagrams(to, turn, Datagrams::new).await?);
    let internal = |error: &dyn std::fmt::Display| DialFailed { failure: Failure::ClientInternal, text: format!("{to}: {error}") };
    let endpoint = quinn::Endpoint::new_with_abstract_socket(EndpointConfig::default(), None, socket.clone(), Arc::new(TokioRuntime))
        .map_err(|error| internal(&error))?;
    let mut transport = TransportConfig::default();
    // When an idle connection ends is the server's to say; when a request does, the plan's.
    transport
        .max_idle_timeout(None)
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(ONE_WAY_MAX));
    let mut config = handshakes.for_quic().map_err(|error| internal(&error))?;
    config.transport_config(Arc::new(transport));
    let connecting = endpoint.connect_with(config, to, &name.to_str()).map_err(|error| internal(&error))?;
    tokio::select! {
        biased;
        connected = connecting => match connected {
            Ok(connection) => Ok(Quic { connection, socket }),
            Err(error) => {
                let failed = failed(&error);
                Err(DialFailed { text: format!("{to}: {}", failed.text), ..failed })
            }
        },
        () = socket.refused() => {
            Err(DialFailed { failure: Failure::ConnectRefused, text: format!("{to}: nobody listens for QUIC (UDP) there") })
        }
    }
}

/// The class of a connection that failed before it was open, or for reasons of TLS soon after.
fn failed(error: &ConnectionError) -> DialFailed {
    /// The codes of TLS's own alerts (RFC 9001 §4.8).
    const OF_TLS: std::ops::Range<u64> = 0x100..0x200;
    let alert = |code: u64| OF_TLS.contains(&code).then(|| AlertDescription::from(code as u8));
    let (failure, text) = match error {
        ConnectionError::TransportError(error) => match alert(error.code.into()) {
            Some(AlertDescription::NoApplicationProtocol) => (Failure::TlsAlpn, error.reason.clone()),
            Some(AlertDescription::CertificateExpired) => (Failure::TlsCertExpired, error.reason.clone()),
            Some(_) if error.reason.contains("not valid for name") => (Failure::TlsCertName, error.reason.clone()),
            Some(_) if error.reason.contains(tls::AUTHORITY) => (Failure::TlsCertUntrusted, tls::OF_AN_AUTHORITY.to_owned()),
            Some(_) if error.reason.starts_with("invalid peer certificate") => (Failure::TlsCertUntrusted, error.reason.clone()),
            Some(_) => (Failure::TlsProtocol, error.reason.clone()),
            None => (Failure::Http3NotSpoken, error.to_string()),
        },
        ConnectionError::ConnectionClosed(close) => match alert(close.error_code.into()) {
            Some(AlertDescription::NoApplicationProtocol) => (Failure::TlsAlpn, "it agreed to TLS, and not to HTTP/3 (ALPN)".to_owned()),
            Some(alert) => (Failure::TlsAlert, format!("received fatal alert: {alert:?}")),
            None => (Failure::Http3NotSpoken, close.to_string()),
        },
        ConnectionError::VersionMismatch => (Failure::Http3NotSpoken, "it speaks another version of QUIC".to_owned()),
        ConnectionError::TimedOut => (Failure::ConnectTimeout, "no answer".to_owned()),
        ConnectionError::Reset => (Failure::ConnectReset, "reset".to_owned()),
        ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => {
            (Failure::ConnectOther, error.to_string())
        }
    };
    DialFailed { failure, text }
}

/// A socket that datagrams go over.
#[derive(Debug)]
struct Datagrams {
    io: tokio::net::UdpSocket,
    state: UdpSocketState,
}

impl Datagrams {
    fn new(socket: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self { io: tokio::net::UdpSocket::from_std(socket)?, state })
    }

    /// Waits until the system tells that nobody listens there. Only what is not open yet heeds it: later it may be forged, or pass (RFC 9000
    /// §14.2.1).
    async fn refused(&self) {
        while self.io.ready(Interest::ERROR).await.is_ok() {
            if let Ok(Some(error)) = self.io.take_error()
                && error.kind() == io::ErrorKind::ConnectionRefused
            {
                return;
            }
            let nothing: io::Result<()> = self.io.try_io(Interest::ERROR, || Err(io::ErrorKind::WouldBlock.into()));
            drop(nothing);
        }
        std::future::pending::<()>().await;
    }
}

impl AsyncUdpSocket for Datagrams {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable(self))
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.io.try_io(Interest::WRITABLE, || self.state.send((&self.io).into(), transmit))
    }

    fn poll_recv(&self, cx: &mut Context<'_>, buffers: &mut [IoSliceMut<'_>], meta: &mut [RecvMeta]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            // What is no datagram is no error of the connection.
            if let Ok(count) = self.io.try_io(Interest::READABLE, || self.state.recv((&self.io).into(), buffers, meta)) {
                return Poll::Ready(Ok(count));
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

/// Waits until a socket takes more.
#[derive(Debug)]
struct Writable(Arc<Datagrams>);

impl UdpPoller for Writable {
    fn poll_writable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.io.poll_send_ready(cx)
    }
}
