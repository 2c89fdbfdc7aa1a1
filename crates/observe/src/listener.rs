//! Who listens: from a port or a socket's path to the processes that hold it.
//!
//! The kernel's table of sockets has the port and an inode; the links in `/proc/PID/fd` have the inode and the process. That is
//! how `ss -ltnp` finds them, and it needs no program and no rights beyond seeing the process's files. A server with workers has
//! the socket open in each of them; they are all found, and [`crate::family`] makes one tree of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};

use plan::{HttpVersion, Plan};

use crate::files::Files;
use crate::process::Pid;

/// A socket that accepts connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    /// Where; `None` for a socket in the file system.
    pub at: Option<SocketAddr>,
    /// Its number in the kernel.
    pub inode: u64,
    /// Connections that are established and not yet accepted; `None` where that is not told, and of datagrams, which nobody accepts.
    pub queued: Option<u64>,
    /// How many of them it has room for; `None` where the kernel was not asked.
    pub room: Option<u64>,
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenerQuery {
    /// Whatever accepts connections to these addresses.
    Addresses(Vec<SocketAddr>),
    /// Whatever takes datagrams for these addresses, as a server of HTTP/3 does.
    Datagrams(Vec<SocketAddr>),
    /// Whatever listens on this port, on any address.
    Port(u16),
    /// The socket with this path.
    Path(String),
}

impl ListenerQuery {
    /// Where the load of this plan goes, if that is on this machine. Behind a proxy it cannot be known where it ends.
    #[must_use]
    pub fn of(plan: &Plan) -> Option<Self> {
        let connection = plan.connection();
        if connection.proxy.is_some() {
            return None;
        }
        if let Some(path) = &connection.unix_socket {
            return Some(Self::Path(path.clone()));
        }
        let (host, port) = match &connection.connect_to {
            Some(at) => (at.host.as_str(), at.port),
            None => (plan.target().host(), plan.target().port()),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<SocketAddr> = (host, port).to_socket_addrs().ok()?.filter(is_here).collect();
        let wanted = if connection.http == HttpVersion::V3 { Self::Datagrams } else { Self::Addresses };
        (!addresses.is_empty()).then(|| wanted(addresses))
    }
}

/// Whether an address is one of this machine's own: only to those a socket can be bound.
fn is_here(address: &SocketAddr) -> bool {
    UdpSocket::bind((address.ip(), 0)).is_ok()
}

/// The state of a socket that listens (`TCP_LISTEN`, include/net/tcp_states.h).
const LISTEN: &str = "0A";
/// The state of a socket that takes datagrams from anybody (`TCP_CLOSE`, where UDP has no connection).
const UNCONNECTED: &str = "07";
/// The flag of a socket in the file system that listens (`__SO_ACCEPTCON`, include/uapi/linux/net.h).
const ACCEPTS: u32 = 1 << 16;

/// The sockets that are wanted, as a process of that network sees them: `/proc/net` for one's own, `/proc/PID/net` for that of a
/// container.
#[must_use]
pub fn listening(files: &dyn Files, net: &str, wanted: &ListenerQuery) -> Vec<Listening> {
    match wanted {
        ListenerQuery::Path(path) => in_the_file_system(files, net, path),
        ListenerQuery::Port(port) => {
            let of_port = |all: Vec<Listening>| -> Vec<Listening> {
                all.into_iter().filter(|socket| socket.at.is_some_and(|at| at.port() == *port)).collect()
            };
            Some(of_port(tcp(files, net))).filter(|found| !found.is_empty()).unwrap_or_else(|| of_port(udp(files, net)))
        }
        ListenerQuery::Addresses(addresses) => reached_at(addresses, tcp(files, net)),
        ListenerQuery::Datagrams(addresses) => reached_at(addresses, udp(files, net)),
    }
}

/// Those of all sockets that get what goes to these addresses.
fn reached_at(addresses: &[SocketAddr], all: Vec<Listening>) -> Vec<Listening> {
    let exact = |socket: &&Listening| socket.at.is_some_and(|at| addresses.iter().any(|to| same(at, *to)));
    let matching: Vec<Listening> = all.iter().filter(exact).cloned().collect();
    if !matching.is_empty() {
        return matching;
    }
    // The kernel prefers a socket with the address; without one, those for every address accept it.
    let any =
        |socket: &Listening| socket.at.is_some_and(|at| at.ip().is_unspecified() && addresses.iter().any(|to| to.port() == at.port()));
    all.into_iter().filter(any).collect()
}

fn same(a: SocketAddr, b: SocketAddr) -> bool {
    a.port() == b.port() && a.ip().to_canonical() == b.ip().to_canonical()
}

/// Sockets that listen stand before all others in the kernel's tables, so these are read no further.
fn tcp(files: &dyn Files, net: &str) -> Vec<Listening> {
    if let Some(told) = files.listening(net) {
        return told;
    }
    let is_listening = |line: &str| line.split_ascii_whitespace().nth(3) == Some(LISTEN);
    let tables = ["tcp", "tcp6"].map(|table| files.text_while(&format!("{net}/{table}"), &is_listening).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines()).filter(|line| is_listening(line)).filter_map(row).collect()
}

/// Sockets for datagrams. Their tables have no order, so they are read to the end.
fn udp(files: &dyn Files, net: &str) -> Vec<Listening> {
    let tables = ["udp", "udp6"].map(|table| files.text(&format!("{net}/{table}")).unwrap_or_default());
    let is_open = |line: &&str| line.split_ascii_whitespace().nth(3) == Some(UNCONNECTED);
    let sockets = tables.iter().flat_map(|table| table.lines()).filter(is_open).filter_map(row);
    sockets.map(|socket| Listening { queued: None, ..socket }).collect()
}

/// `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode …` (proc_tcp(5) of the kernel's
/// documentation). Of a socket that listens, rx_queue is how many connections wait to be accepted.
fn row(line: &str) -> Option<Listening> {
    let mut fields = line.split_ascii_whitespace();
    let at = address(fields.nth(1)?)?;
    let queued = u64::from_str_radix(fields.nth(2)?.split_once(':')?.1, 16).ok()?;
    Some(Listening { at: Some(at), queued: Some(queued), inode: fields.nth(4)?.parse().ok()?, room: None })
}

/// An address is written as 32-bit numbers of the machine's own byte order, each in hexadecimal.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let words: Vec<u32> = (0..ip.len() / 8).filter_map(|at| u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok()).collect();
    let ip = match words.as_slice() {
        [word] => IpAddr::V4(Ipv4Addr::from(word.to_ne_bytes())),
        [_, _, _, _] => {
            let mut bytes = [0; 16];
            bytes.chunks_exact_mut(4).zip(&words).for_each(|(part, word)| part.copy_from_slice(&word.to_ne_bytes()));
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// `Num RefCount Protocol Flags Type St Inode Path` (proc_net_unix).
fn in_the_file_system(files: &dyn Files, net: &str, path: &str) -> Vec<Listening> {
    let table = files.text(&format!("{net}/unix")).unwrap_or_default();
    let of_line = |line: &str| {
        let mut rest = line;
        let mut field = || {
            let (field, after) = rest.trim_start().split_once(' ')?;
            rest = after;
            Some(field)
        };
        let flags = [field()?, field()?, field()?, field()?][3];
        let inode = [field()?, field()?, field()?][2];
        let accepts = u32::from_str_radix(flags, 16).ok()? & ACCEPTS != 0;
        (accepts && rest == path).then_some(Listening { at: None, inode: inode.parse().ok()?, queued: None, room: None })
    };
    table.lines().filter_map(of_line).collect()
}

/// The ports on which a process listens, in ascending order; none where that may not be known.
#[must_use]
pub fn ports_of(files: &dyn Files, pid: Pid) -> Vec<u16> {
    let folder = format!("/proc/{pid}/fd");
    let holds = |socket: &Listening| {
        let wanted = format!("socket:[{}]", socket.inode);
        files.leads_to(&folder, &|target| target == wanted).unwrap_or(false)
    };
    let mut ports: Vec<u16> = tcp(files, &format!("/proc/{pid}/net"))
        .iter()
        .filter(|socket| holds(socket))
        .filter_map(|socket| Some(socket.at?.port()))
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Which processes hold one of these sockets, and whether some processes could not be looked into.
#[must_use]
pub fn holders(files: &dyn Files, sockets: &[Listening]) -> (Vec<Pid>, Visibility) {
    let targets: Vec<String> = sockets.iter().map(|socket| format!("socket:[{}]", socket.inode)).collect();
    let mut found = Vec::new();
    let mut looked = Visibility::Everywhere;
    for pid in pids(files) {
        let folder = format!("/proc/{pid}/fd");
        match files.leads_to(&folder, &|target| targets.iter().any(|wanted| wanted == target)) {
            Ok(true) => found.push(pid),
            Ok(false) => {}
            Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied => looked = Visibility::WherePermitted,
            Err(_) => {}
        }
    }
    (found, looked)
}

/// How far processes could be looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Into all.
    Everywhere,
    /// Into some; others belong to somebody else.
    WherePermitted,
}

/// Every process there is.
#[must_use]
pub fn pids(files: &dyn Files) -> Vec<Pid> {
    let mut pids: Vec<Pid> = files.names("/proc").unwrap_or_default().iter().filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Folder, RecordedFiles};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixListener;

    const HEADING: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                 \n";

    fn machine() -> RecordedFiles {
        let mut told = RecordedFiles::default();
        told.add_text(
            "/proc/net/tcp",
            format!(
                "{HEADING}   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000  1000        0 501 1 0 100 0 0 10 0\n   \
                 1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 502 1 0 100 0 0 10 0\n   \
                 2: 0100007F:1F90 0100007F:A001 01 00000000:00000000 00:00000000 00000000  1000        0 777 1 0 100 0 0 10 0\n"
            ),
        );
        told.add_text(
            "/proc/net/tcp6",
            format!(
                "{HEADING}   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 \
                 00000000     0        0 503 1 0 100 0 0 10 0\n"
            ),
        );
        told.add_links("/proc/10/fd:\nx 3 -> socket:[501]\n/proc/11/fd:\nx 4 -> socket:[501]\n/proc/12/fd:\nx 5 -> socket:[777]\n");
        told.add_text("/proc/13/stat", "13 (x)");
        told
    }

    #[test]
    fn a_process_listens_on_the_ports_of_the_sockets_that_it_holds() {
        let mut told = machine();
        for table in ["tcp", "tcp6"] {
            told.add_text(format!("/proc/11/net/{table}"), machine().text(&format!("/proc/net/{table}")).unwrap());
        }
        assert_eq!((ports_of(&told, 11), ports_of(&told, 99)), (vec![8080], Vec::new()));
        let sockets = [TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap()];
        let ports = ports_of(&Folder::of_this_machine(), std::process::id());
        assert!(sockets.iter().all(|socket| ports.contains(&socket.local_addr().unwrap().port())), "{ports:?}");
    }

    #[test]
    fn the_socket_with_the_address_goes_before_that_for_every_address() {
        let to = |text: &str| ListenerQuery::Addresses(vec![text.parse().unwrap()]);
        let inodes = |wanted| listening(&machine(), "/proc/net", &wanted).iter().map(|it| it.inode).collect::<Vec<_>>();
        assert_eq!(inodes(to("127.0.0.1:8080")), [501]);
        assert_eq!(inodes(to("192.0.2.1:8080")), [502]);
        assert_eq!(inodes(to("127.0.0.1:80")), [503], "[::]:80 accepts IPv4 as well");
        assert_eq!(inodes(to("127.0.0.1:81")), [0u64; 0]);
        assert_eq!(inodes(ListenerQuery::Port(8080)), [501, 502]);
        assert_eq!(listening(&machine(), "/proc/net", &to("127.0.0.1:8080"))[0].queued, Some(3));
    }

    #[test]
    fn who_takes_datagrams_is_found_and_who_sends_them_from_there_is_not() {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let connected = UdpSocket::bind("127.0.0.1:0").unwrap();
        connected.connect(at).unwrap();
        let files = Folder::of_this_machine();
        let found = |wanted| listening(&files, "/proc/net", &wanted).iter().map(|it| it.at.unwrap()).collect::<Vec<_>>();
        assert_eq!(found(ListenerQuery::Datagrams(vec![at])), [at]);
        assert_eq!(found(ListenerQuery::Port(at.port())), [at]);
        assert_eq!(found(ListenerQuery::Addresses(vec![at])), []);
        assert_eq!(found(ListenerQuery::Datagrams(vec![connected.local_addr().unwrap()])), []);
    }

    #[test]
    fn only_addresses_of_this_machine_are_here() {
        let here = |text: &str| is_here(&text.parse().unwrap());
        assert!(here("127.0.0.1:80") && !here("192.0.2.1:80") && !here("[2001:db8::1]:80"));
        let of = |url: &str| {
            let draft = plan::Draft { url: Some(url.to_owned()), threads: "1".parse().ok(), ..plan::Draft::default() };
            ListenerQuery::of(&Plan::try_from(draft).unwrap())
        };
        assert_eq!(of("http://127.0.0.1:9/"), Some(ListenerQuery::Addresses(vec!["127.0.0.1:9".parse().unwrap()])));
        assert_eq!(of("http://192.0.2.1/"), None);
    }

    #[test]
    fn every_process_that_holds_the_socket_is_found() {
        let sockets = listening(&machine(), "/proc/net", &ListenerQuery::Addresses(vec!["127.0.0.1:8080".parse().unwrap()]));
        assert_eq!(holders(&machine(), &sockets), (vec![10, 11], Visibility::Everywhere));
    }

    /// While another test starts a program, a copy of this process has the same sockets for a moment; so others may be found beside it.
    #[test]
    fn this_process_is_found_by_its_own_sockets() {
        let here = Folder::of_this_machine();
        let me = std::process::id();
        for address in ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0"] {
            let Ok(socket) = TcpListener::bind(address) else { continue };
            let at = socket.local_addr().unwrap();
            let to = if at.ip().is_unspecified() { SocketAddr::new("127.0.0.1".parse().unwrap(), at.port()) } else { at };
            let _waiting = TcpStream::connect(to).unwrap();
            let found = listening(&here, "/proc/net", &ListenerQuery::Addresses(vec![to]));
            assert_eq!((found.len(), found[0].queued), (1, Some(1)), "{address}");
            assert!(holders(&here, &found).0.contains(&me), "{address}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a socket");
        let _socket = UnixListener::bind(&path).unwrap();
        let found = listening(&here, "/proc/net", &ListenerQuery::Path(path.to_str().unwrap().to_owned()));
        assert!(holders(&here, &found).0.contains(&me));
    }
}
