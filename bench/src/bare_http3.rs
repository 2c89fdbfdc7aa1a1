//! The floor of HTTP/3: the smallest loop over quinn, the library that speaks QUIC here.
//!
//! One request is one stream: a head, and whatever comes back is read and not looked at. Nothing is recorded.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, Endpoint};
use tokio::task::{LocalSet, spawn_local};

use crate::bare::trusting;

/// Sends over so many connections with so many streams at once for so long, and prints how many answers came. `trust` is a PEM file.
///
/// # Errors
/// If the server cannot be reached or ends a connection.
pub fn bare_http3(url: &str, connections: &str, streams: &str, seconds: &str, trust: &str) -> Result<()> {
    let (connections, streams, seconds): (usize, usize, u64) = (connections.parse()?, streams.parse()?, seconds.parse()?);
    let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next()).with_context(|| format!("'{url}' is not of https"))?;
    let address: SocketAddr = host.parse().with_context(|| format!("'{host}' is not an address"))?;
    let mut tls = trusting(Path::new(trust))?;
    Arc::make_mut(&mut tls).alpn_protocols = vec![b"h3".to_vec()];
    let config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    let head: Rc<[u8]> = head(host).into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let length = Duration::from_secs(seconds);
    let begun = Instant::now();
    let answers: Result<u64> = LocalSet::new().block_on(&runtime, async {
        let answers = Rc::new(Cell::new(0));
        let mut users = Vec::new();
        // An endpoint, and so a socket, for each connection, as a client of its own has one.
        let mut all = Vec::new();
        for _ in 0..connections {
            let endpoint = Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?;
            let connection = endpoint.connect_with(config.clone(), address, &address.ip().to_string())?.await?;
            // The control stream with settings that are all as they are.
            let mut control = connection.open_uni().await?;
            control.write_all(&[0, 4, 0]).await?;
            for _ in 0..streams {
                users.push(spawn_local(circle(connection.clone(), Rc::clone(&head), Rc::clone(&answers), begun + length)));
            }
            all.push((endpoint, control));
        }
        for user in users {
            user.await??;
        }
        Ok(answers.get())
    });
    let (answers, lasted) = (answers?, begun.elapsed());
    println!("{answers} answers, {} a second", answers as f64 / lasted.as_secs_f64());
    Ok(())
}

/// One request after another.
async fn circle(connection: Connection, head: Rc<[u8]>, answers: Rc<Cell<u64>>, until: Instant) -> Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    while Instant::now() < until {
        let (mut send, mut receive) = connection.open_bi().await?;
        send.write_all(&head).await?;
        send.finish()?;
        while receive.read(&mut buffer).await?.is_some() {}
        answers.set(answers.get() + 1);
    }
    Ok(())
}

/// A frame HEADERS (RFC 9114, 7.2.2) of a GET of `/`, its fields by QPACK's static table (RFC 9204, A) and as they are: as long as loadline's own.
fn head(host: &str) -> Vec<u8> {
    // :method GET, :scheme https, :path /; name 0 (:authority) with a value of its own; accept */*; name 95 (user-agent). Without Huffman's code.
    let mut block = vec![0, 0, 0xc0 | 17, 0xc0 | 23, 0xc0 | 1];
    let own = |block: &mut Vec<u8>, name: &[u8], value: &str| {
        block.extend(name);
        block.push(u8::try_from(value.len()).unwrap_or(0x7f) & 0x7f);
        block.extend(value.bytes());
    };
    own(&mut block, &[0x50], host);
    block.push(0xc0 | 29);
    own(&mut block, &[0x5f, 95 - 15], "bare-loop/1.0");
    // Shorter than 16 KiB: a length of two bytes.
    let mut frame = vec![1, 0x40 | u8::try_from(block.len() >> 8).unwrap_or(0), u8::try_from(block.len() & 0xff).unwrap_or(0)];
    frame.extend(block);
    frame
}
