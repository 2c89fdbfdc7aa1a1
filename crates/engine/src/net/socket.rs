//! One TCP connection: socket options, local addresses, and what the system's errors mean.
//!
//! A connection is a 4-tuple, and one local address has some 28,000 ports towards one destination. A generator that
//! does not know this reports "cannot assign requested address" as if the server had failed. So several local
//! addresses are used in turn; where one has no port left the next is tried; on loopback, where all of 127.0.0.0/8 is
//! this machine, further addresses are taken by themselves. Ports are chosen at connect, not at bind
//! (`IP_BIND_ADDRESS_NO_PORT`, Linux 4.2): a port chosen at bind is taken for all destinations at once.

use std::cell::Cell;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use measure::Failure;
use nix::sys::socket::{setsockopt, sockopt};
use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpSocket, TcpStream};

use super::{DialFailed, words};

/// Local addresses taken by themselves on loopback: with 28,000 ports each, more than any machine has memory for.
const LOOPBACK_SOURCES_MAX: u32 = 1024;

/// Where connections come from. Each worker has its own: what one learns about exhausted ports stays with it.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    given: Vec<IpAddr>,
    /// How many loopback addresses are used in turn; grows when they run out of ports.
    loopback: Cell<u32>,
    /// The size of the kernel's buffers, if not its own choice.
    buffer_bytes: Option<u32>,
}

impl Sources {
    /// `given` in turn, or if there are none the system's choice: on loopback `loopback` addresses in turn.
    pub(super) fn new(given: Vec<IpAddr>, loopback: u32) -> Self {
        Self { given, loopback: Cell::new(loopback.clamp(1, LOOPBACK_SOURCES_MAX)), buffer_bytes: None }
    }

    /// The same with buffers of this size.
    pub(super) fn buffered(self, buffer_bytes: Option<u32>) -> Self {
        Self { buffer_bytes, ..self }
    }

    /// The loopback addresses in use, as long as none is given.
    pub(super) fn loopback(&self) -> u32 {
        self.loopback.get()
    }

    /// Opens a connection, its source chosen by `turn`; where that has no port left, from the next.
    ///
    /// Has no time limit of its own.
    pub(super) async fn open(&self, to: SocketAddr, turn: u64) -> Result<TcpStream, DialFailed> {
        self.open_from_each(to, turn, async |source| connect(to, source, self.buffer_bytes).await).await
    }

    /// The same for datagrams, which `finish` makes a socket for.
    #[cfg(feature = "http3")]
    pub(super) async fn open_datagrams<T>(
        &self,
        to: SocketAddr,
        turn: u64,
        finish: impl Fn(std::net::UdpSocket) -> io::Result<T>,
    ) -> Result<T, DialFailed> {
        self.open_from_each(to, turn, async |source| finish(connect_datagrams(to, source, self.buffer_bytes)?)).await
    }

    async fn open_from_each<T>(
        &self,
        to: SocketAddr,
        turn: u64,
        connect: impl AsyncFn(Option<IpAddr>) -> io::Result<T>,
    ) -> Result<T, DialFailed> {
        let mut exhausted = None;
        let mut attempt = 0;
        while let Some(source) = self.source(to.ip(), turn, attempt) {
            match connect(source).await {
                Ok(stream) => {
                    if self.given.is_empty() && is_ipv4_loopback(to.ip()) && attempt >= self.loopback.get() {
                        self.loopback.set(attempt + 1);
                    }
                    return Ok(stream);
                }
                Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE)) => {
                    exhausted = Some(error);
                }
                Err(error) => return Err(failed(&to.to_string(), &error)),
            }
            attempt += 1;
        }
        Err(match exhausted {
            Some(error) => failed(&to.to_string(), &error),
            None => DialFailed {
                failure: Failure::ConnectOther,
                text: format!("{to}: no --source-ip is an {} address", if to.is_ipv4() { "IPv4" } else { "IPv6" }),
            },
        })
    }

    /// The local address of the n-th attempt: `Some(None)` leaves it to the system, `None` when all were tried.
    fn source(&self, to: IpAddr, turn: u64, attempt: u32) -> Option<Option<IpAddr>> {
        let in_turn = |count: u32| ((turn + u64::from(attempt)) % u64::from(count)) as u32;
        if !self.given.is_empty() {
            let fitting = || self.given.iter().filter(|ip| ip.is_ipv4() == to.is_ipv4());
            let count = u32::try_from(fitting().count()).unwrap_or(u32::MAX);
            return (attempt < count).then(|| fitting().nth(in_turn(count) as usize).copied());
        }
        if !is_ipv4_loopback(to) {
            return (attempt == 0).then_some(None);
        }
        let place = if attempt < self.loopback.get() { in_turn(self.loopback.get()) } else { attempt };
        (place < LOOPBACK_SOURCES_MAX).then(|| (place > 0).then(|| IpAddr::V4(Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + place))))
    }
}

/// Whether further local addresses cost nothing there.
pub(super) fn is_ipv4_loopback(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if ip.is_loopback())
}

/// Whether connections can come from that address, be there ports left or not.
pub(super) fn is_of_this_machine(ip: IpAddr) -> bool {
    let address = SocketAddr::new(ip, 0);
    let bound = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP)).and_then(|socket| bind(&socket, ip));
    // EAFNOSUPPORT: a machine without IPv6.
    !matches!(bound.map_err(|error| Errno::from_io_error(&error)), Err(Some(Errno::ADDRNOTAVAIL | Errno::AFNOSUPPORT)))
}

/// Binds to an address; the port is chosen at connect.
fn bind(socket: &Socket, ip: IpAddr) -> io::Result<()> {
    // Before Linux 4.2 ports are chosen at bind, and there are fewer of them.
    let _ = setsockopt(socket, sockopt::IpBindAddressNoPort, &true);
    socket.bind(&SocketAddr::new(ip, 0).into())
}

async fn connect(to: SocketAddr, source: Option<IpAddr>, buffer_bytes: Option<u32>) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    // With Nagle's algorithm, a request in two segments would wait for the server's delayed ACK: 40 ms.
    socket.set_tcp_nodelay(true)?;
    if let Some(bytes) = buffer_bytes {
        // Before connecting: the window a connection opens with follows from it.
        socket.set_send_buffer_size(bytes as usize)?;
        socket.set_recv_buffer_size(bytes as usize)?;
    }
    if let Some(ip) = source {
        bind(&socket, ip)?;
    }
    let stream = TcpSocket::from_std_stream(socket.into()).connect(to).await?;
    // Where nothing listens on a port of the local range, the system can pick that very port as the source, and the
    // connection is with itself.
    if to.ip().is_loopback() && stream.local_addr()? == to {
        return Err(io::Error::from(Errno::CONNREFUSED));
    }
    Ok(stream)
}

/// A socket that datagrams go to one address over.
#[cfg(feature = "http3")]
fn connect_datagrams(to: SocketAddr, source: Option<IpAddr>, buffer_bytes: Option<u32>) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
    if let Some(bytes) = buffer_bytes {
        socket.set_send_buffer_size(bytes as usize)?;
        socket.set_recv_buffer_size(bytes as usize)?;
    }
    if let Some(ip) = source {
        bind(&socket, ip)?;
    }
    socket.connect(&to.into())?;
    Ok(socket.into())
}

/// The class of a connection the system did not open, with its words.
pub(super) fn failed(to: &str, error: &io::Error) -> DialFailed {
    let failure = match Errno::from_io_error(error) {
        Some(Errno::CONNREFUSED) => Failure::ConnectRefused,
        Some(Errno::TIMEDOUT) => Failure::ConnectTimeout,
        Some(Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN) => Failure::ConnectUnreachable,
        Some(Errno::CONNRESET | Errno::CONNABORTED) => Failure::ConnectReset,
        Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => Failure::ConnectLocalPorts,
        Some(Errno::MFILE | Errno::NFILE) => Failure::ConnectLocalFds,
        _ => Failure::ConnectOther,
    };
    DialFailed { failure, text: format!("{to}: {}", words(&error.to_string())) }
}

/// Ports a connection can come from by itself, lowest and highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LocalPorts {
    pub(super) lowest: u16,
    pub(super) highest: u16,
    /// So many of them are kept for others.
    pub(super) reserved: u32,
}

impl LocalPorts {
    /// As the system is set, or as Linux sets it by default where it does not tell.
    pub(super) fn of_this_machine() -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
        Self::parse(&read("ip_local_port_range"), &read("ip_local_reserved_ports"))
    }

    fn parse(range: &str, reserved: &str) -> Self {
        let mut bounds = range.split_whitespace().filter_map(|bound| bound.parse().ok());
        let (lowest, highest) = (bounds.next().unwrap_or(32_768), bounds.next().unwrap_or(60_999));
        let reserved = reserved.trim().split(',').filter_map(|part| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (from, to): (u16, u16) = (from.parse().ok()?, to.parse().ok()?);
            Some((from.max(lowest)..=to.min(highest)).len() as u32)
        });
        Self { lowest, highest, reserved: reserved.sum() }
    }

    /// How many connections one local address can have to one destination.
    pub(super) fn count(self) -> u32 {
        (u32::from(self.highest) + 1).saturating_sub(u32::from(self.lowest)).saturating_sub(self.reserved).max(1)
    }

    /// How many loopback addresses so many connections to one destination need, before connecting becomes slow: every second port is
    /// tried first (`__inet_hash_connect` in Linux' net/ipv4/inet_hashtables.c), and when nearly all of those are taken each connection
    /// searches through thousands: most of a millisecond.
    pub(super) fn loopback_sources(self, connections: u32) -> u32 {
        connections.div_ceil((self.count() / 20 * 9).max(1)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_order(sources: &Sources, to: &str, turn: u64) -> Vec<Option<String>> {
        let to: IpAddr = to.parse().unwrap();
        (0..).map_while(|attempt| sources.source(to, turn, attempt)).map(|ip| ip.map(|ip| ip.to_string())).collect()
    }

    #[test]
    fn given_sources_take_turns_within_the_family_and_each_is_tried_once() {
        let sources = Sources::new(["10.0.0.1", "::2", "10.0.0.3"].iter().map(|ip| ip.parse().unwrap()).collect(), 1);
        let some = |ip: &str| Some(ip.to_owned());
        assert_eq!(in_order(&sources, "192.0.2.1", 0), [some("10.0.0.1"), some("10.0.0.3")]);
        assert_eq!(in_order(&sources, "192.0.2.1", 1), [some("10.0.0.3"), some("10.0.0.1")]);
        assert_eq!(in_order(&sources, "::1", 7), [some("::2")]);
    }

    #[test]
    fn loopback_sources_are_taken_in_turn_and_then_further_ones() {
        let sources = Sources::new(Vec::new(), 2);
        let order = in_order(&sources, "127.0.0.1", 1);
        assert_eq!(order[..4], [Some("127.0.0.2".to_owned()), None, Some("127.0.0.3".to_owned()), Some("127.0.0.4".to_owned())]);
        assert_eq!(order.len(), LOOPBACK_SOURCES_MAX as usize);
        assert_eq!(in_order(&sources, "192.0.2.1", 1), [None]);
        assert_eq!(in_order(&sources, "::1", 1), [None]);
    }

    #[test]
    fn ports_are_counted_without_the_reserved_ones() {
        assert_eq!(LocalPorts::parse("32768\t60999\n", "\n").count(), 28_232);
        assert_eq!(LocalPorts::parse("", "").count(), 28_232);
        assert_eq!(LocalPorts::parse("1024 65535", "8080,9148,10000-10009\n").count(), 64_500);
        assert_eq!(LocalPorts::parse("32768 60999", "8080,30000-32769\n").count(), 28_230);
    }

    #[test]
    fn many_connections_over_loopback_are_spread_from_the_start() {
        let ports = LocalPorts::parse("32768 60999", "");
        assert_eq!(ports.loopback_sources(50), 1);
        assert_eq!(ports.loopback_sources(12_000), 1);
        assert_eq!(ports.loopback_sources(13_000), 2);
        assert_eq!(ports.loopback_sources(100_000), 8);
    }

    #[test]
    fn the_systems_errors_become_classes() {
        for (errno, failure) in [
            (Errno::CONNREFUSED, Failure::ConnectRefused),
            (Errno::TIMEDOUT, Failure::ConnectTimeout),
            (Errno::NETUNREACH, Failure::ConnectUnreachable),
            (Errno::HOSTUNREACH, Failure::ConnectUnreachable),
            (Errno::CONNRESET, Failure::ConnectReset),
            (Errno::ADDRNOTAVAIL, Failure::ConnectLocalPorts),
            (Errno::ADDRINUSE, Failure::ConnectLocalPorts),
            (Errno::MFILE, Failure::ConnectLocalFds),
            (Errno::NFILE, Failure::ConnectLocalFds),
            (Errno::ACCESS, Failure::ConnectOther),
        ] {
            assert_eq!(failed("a:1", &io::Error::from(errno)).failure, failure, "{errno}");
        }
        assert_eq!(failed("a:1", &io::Error::from(Errno::ACCESS)).text, "a:1: permission denied");
    }

    #[test]
    fn only_addresses_of_this_machine_can_be_sources() {
        assert!(is_of_this_machine("127.0.0.2".parse().unwrap()));
        assert!(!is_of_this_machine("192.0.2.1".parse().unwrap()));
    }
}
