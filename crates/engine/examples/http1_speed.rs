//! How long the HTTP/1 reader takes for a reply, as figures for the eye: `cargo run --release --example http1_speed`.
//!
//! Best of several rounds, since everything that disturbs a round makes it slower.

use std::hint::black_box;
use std::time::Instant;

use engine::protocol::http1::{Progress, Reply, ResponseFraming};

const ROUNDS: u32 = 20;
const REPLIES: u32 = 100_000;

fn main() {
    let small = "HTTP/1.1 200 OK\r\nServer: nginx/1.26.0\r\nDate: Sat, 01 Aug 2026 10:00:00 GMT\r\n\
        Content-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";
    let usual = "HTTP/1.1 200 OK\r\nServer: nginx/1.26.0\r\nDate: Sat, 01 Aug 2026 10:00:00 GMT\r\n\
        Content-Type: application/json; charset=utf-8\r\nContent-Length: 13\r\nConnection: keep-alive\r\n\
        Vary: Accept-Encoding\r\nETag: \"5f3c-1\"\r\nCache-Control: max-age=0, private, must-revalidate\r\n\
        X-Request-Id: 7e5c1c0a-1f5e-4b7e-9d5e-000000000000\r\nStrict-Transport-Security: max-age=31536000\r\n\r\n\
        Hello, World!";
    let chunked = "HTTP/1.1 200 OK\r\nDate: Sat, 01 Aug 2026 10:00:00 GMT\r\nContent-Type: text/plain\r\n\
        Transfer-Encoding: chunked\r\n\r\nd\r\nHello, World!\r\n0\r\n\r\n";
    for (name, reply, piece) in [
        ("small", small, usize::MAX),
        ("ten headers", usual, usize::MAX),
        ("chunked", chunked, usize::MAX),
        ("small, in two halves", small, small.len() / 2),
        ("small, by bytes", small, 1),
    ] {
        let pieces: Vec<&[u8]> = reply.as_bytes().chunks(piece.min(reply.len())).collect();
        let best = (0..ROUNDS).map(|_| round(&pieces)).fold(f64::INFINITY, f64::min);
        println!("{best:8.1} ns  {name} ({} bytes)", reply.len());
    }
}

/// Nanoseconds a reply.
fn round(pieces: &[&[u8]]) -> f64 {
    let mut reader = Reply::new();
    let mut done = 0;
    let started = Instant::now();
    for _ in 0..REPLIES {
        reader.begin(ResponseFraming::Other);
        for piece in pieces {
            done += u32::from(matches!(reader.feed(black_box(piece), &mut ()), Progress::Done(_)));
        }
    }
    let elapsed = started.elapsed();
    assert_eq!(done, REPLIES, "every reply is complete");
    elapsed.as_secs_f64() * 1e9 / f64::from(REPLIES)
}
