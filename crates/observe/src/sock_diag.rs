//! The sockets that listen, as the kernel tells them over netlink (sock_diag(7)).
//!
//! `/proc/net/tcp` begins with them, but whoever reads these lines makes the kernel look for the one after the last, which is a
//! connection: it walks a hash table of some hundred thousand places for it, and for IPv6 to its end on most machines. A look a
//! second would spend half a hundredth of a core on that alone, and more where there is more memory. Asked by netlink it goes over
//! the sockets in the wanted state only, and says besides how many connections each has room for, which no table does.
//!
//! It tells of the network of whoever asks, so tables are read for a container's, for another machine's, and where a kernel was
//! built without it.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_packet_sock_diag::{SockDiagMessage, constants};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, sendto, socket_with};

use crate::listener::Listening;

/// The kernel makes no message of a dump larger than this (`NLMSG_GOODSIZE` and above, net/netlink/af_netlink.c).
const MESSAGE_BYTES: usize = 32 * 1024;
/// It answers at once or not at all.
const PATIENCE: Duration = Duration::from_millis(500);

/// Every socket of this network that accepts TCP connections.
///
/// # Errors
/// If the kernel does not tell.
pub fn listening() -> io::Result<Vec<Listening>> {
    let mut found = Vec::new();
    for (family, nobody) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        dump(
            InetRequest {
                family,
                protocol: IPPROTO_TCP,
                extensions: ExtensionFlags::empty(),
                states: StateFlags::LISTEN,
                socket_id: nobody,
            },
            &mut found,
        )?;
    }
    Ok(found)
}

fn dump(request: InetRequest, found: &mut Vec<Listening>) -> io::Result<()> {
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    set_socket_timeout(&kernel, Timeout::Recv, Some(PATIENCE))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let mut asked = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    asked.finalize();
    let mut bytes = vec![0; asked.buffer_len()];
    asked.serialize(&mut bytes);
    sendto(&kernel, &bytes, SendFlags::empty(), &netlink::SocketAddrNetlink::new(0, 0))?;

    let mut piece = vec![0; MESSAGE_BYTES];
    loop {
        let (_, length) = recv(&kernel, piece.as_mut_slice(), RecvFlags::TRUNC)?;
        let mut rest = piece.get(..length).filter(|told| !told.is_empty()).ok_or(ErrorKind::InvalidData)?;
        while !rest.is_empty() {
            let told = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
            match told.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(socket)) => {
                    let is = socket.header;
                    if is.state == constants::TCP_LISTEN {
                        found.push(Listening {
                            at: Some(SocketAddr::new(is.socket_id.source_address, is.socket_id.source_port)),
                            inode: is.inode.into(),
                            queued: Some(is.recv_queue.into()),
                            room: Some(is.send_queue.into()),
                        });
                    }
                }
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::Error(why) => return Err(why.to_io()),
                _ => {}
            }
            // Messages begin at multiples of four bytes (netlink(7)).
            let taken = (told.header.length as usize).next_multiple_of(4).max(4);
            rest = rest.get(taken..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{bind, listen, socket};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_socket_is_told_with_what_waits_in_it_and_what_it_has_room_for() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let asked: SocketAddr = address.parse().unwrap();
            let family = if asked.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
            let Ok(()) = TcpListener::bind(asked).map(drop) else { continue };
            let server = socket(family, SocketType::STREAM, None).unwrap();
            bind(&server, &asked).unwrap();
            listen(&server, 7).unwrap();
            let at = TcpListener::from(server);
            let to = at.local_addr().unwrap();
            let _waiting = [TcpStream::connect(to).unwrap(), TcpStream::connect(to).unwrap()];
            let told: Vec<Listening> = listening().unwrap().into_iter().filter(|socket| socket.at == Some(to)).collect();
            assert_eq!((told.len(), told[0].queued, told[0].room), (1, Some(2), Some(7)), "{address}");
        }
    }

    #[test]
    fn many_sockets_are_told_in_more_than_one_message() {
        let sockets: Vec<TcpListener> = (0..600).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let told = listening().unwrap();
        for socket in &sockets {
            let at = socket.local_addr().unwrap();
            assert_eq!(told.iter().filter(|socket| socket.at == Some(at)).count(), 1, "{at}");
        }
    }
}
