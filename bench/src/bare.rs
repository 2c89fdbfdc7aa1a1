//! The floor of this machine: requests with nothing around them.
//!
//! What a load generator costs is mostly what the kernel charges for one send and one receive on loopback, and that
//! differs from machine to machine and from hour to hour. So beside the tools runs a loop that does nothing else: no
//! parsing, no clock, no histogram. How close a
//! tool comes to this is what its authors can answer for.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

/// Sends over so many connections for so long, and prints how many answers came.
///
/// # Errors
/// If the server cannot be reached or ends a connection.
pub fn bare(url: &str, connections: &str, seconds: &str) -> Result<()> {
    let (connections, seconds): (usize, u64) = (connections.parse()?, seconds.parse()?);
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let address: SocketAddr = host.parse().with_context(|| format!("'{host}' is not an address"))?;
    // As long as loadline's own.
    let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nUser-Agent: bare-loop/1.0\r\nAccept: */*\r\n\r\n");

    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let mut sockets = Vec::with_capacity(connections);
    for place in 0..connections {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        epoll.add(socket.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, place as u64))?;
        sockets.push(socket);
    }
    for socket in &mut sockets {
        socket.write_all(request.as_bytes())?;
    }
    let begun = Instant::now();
    let length = Duration::from_secs(seconds);
    let mut buffer = vec![0; 64 * 1024];
    let mut ready = vec![EpollEvent::empty(); 1024];
    let mut answers = 0u64;
    while begun.elapsed() < length {
        let count = epoll.wait(&mut ready, EpollTimeout::from(100u16))?;
        for event in &ready[..count] {
            let socket = &mut sockets[event.data() as usize];
            if socket.read(&mut buffer)? == 0 {
                bail!("the server closed connection {}", socket.as_raw_fd());
            }
            answers += 1;
            socket.write_all(request.as_bytes())?;
        }
    }
    println!("{answers} answers, {} a second", answers as f64 / begun.elapsed().as_secs_f64());
    Ok(())
}

/// Reads what [`bare`] printed: answers, and answers a second.
pub(crate) fn counted(stdout: &str) -> Result<(u64, f64)> {
    let (answers, rest) = stdout.trim().split_once(" answers, ").context("no count of answers")?;
    Ok((answers.parse()?, rest.strip_suffix(" a second").context("no rate")?.parse()?))
}
