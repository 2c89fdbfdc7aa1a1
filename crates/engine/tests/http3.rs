//! Servers of HTTP/3 that are known to the byte, over real sockets: what they count must be what comes out, and what they break has a class.
#![cfg(feature = "http3")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::{Stop, run};
use measure::{Failure, Quirk, Summary};
use plan::{Draft, Plan, Setting};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Connection, Endpoint, RecvStream, SendStream, ServerConfig, TransportConfig, VarInt};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use tokio::sync::oneshot;

const HEADERS: u8 = 1;
const DATA: u8 = 0;

/// `:status: 200` and `content-length: 5`.
const OK_OF_5: &[u8] = &[0, 0, 0xd9, 0x54, 1, b'5'];
const OK: &[u8] = &[0, 0, 0xd9];

fn frame(kind: u8, content: &[u8]) -> Vec<u8> {
    assert!(content.len() < 64);
    [&[kind, content.len() as u8], content].concat()
}

fn hello() -> Vec<u8> {
    [frame(HEADERS, OK_OF_5), frame(DATA, b"hello")].concat()
}

/// What a server does with the n-th request that it got, from 1 on.
type Does = Arc<dyn Fn(u64) -> Answer + Send + Sync>;

enum Answer {
    Says(Vec<u8>),
    /// Says it and goes on as before without an end.
    Hangs(Vec<u8>),
    Resets(u32),
    /// Ends the connection with this code.
    Closes(u32),
    /// Waits so long, then says it.
    Late(Duration, Vec<u8>),
    /// Says on the control stream that it takes up nothing from this request on, and resets nothing.
    Goes,
}

/// A server, until it is dropped.
struct Server {
    at: SocketAddr,
    requests: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
    /// What requests were, as bytes.
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end.take().map(|end| end.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// What is said first on the control stream.
const SETTINGS: &[u8] = &[0, 4, 0];

impl Server {
    fn start(does: impl Fn(u64) -> Answer + Send + Sync + 'static) -> Self {
        Self::with(SETTINGS, 100, does)
    }

    fn with(control: &'static [u8], streams: u32, does: impl Fn(u64) -> Answer + Send + Sync + 'static) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()));
        let mut transport = TransportConfig::default();
        transport.max_concurrent_bidi_streams(VarInt::from_u32(streams));
        config.transport_config(Arc::new(transport));
        let (requests, connections, seen) =
            (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)), Arc::<Mutex<Vec<Vec<u8>>>>::default());
        let (counts, opened, kept, does): (_, _, _, Does) = (requests.clone(), connections.clone(), seen.clone(), Arc::new(does));
        let (end, ended) = oneshot::channel();
        let (told, at) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let endpoint = Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap();
                told.send(endpoint.local_addr().unwrap()).unwrap();
                let serving = async {
                    while let Some(incoming) = endpoint.accept().await {
                        let (does, counts, kept, opened) = (does.clone(), counts.clone(), kept.clone(), opened.clone());
                        tokio::spawn(async move {
                            if let Ok(connection) = incoming.await {
                                opened.fetch_add(1, Ordering::Relaxed);
                                serve(connection, control, does, counts, kept).await;
                            }
                        });
                    }
                };
                tokio::select! {
                    () = serving => {}
                    _ = ended => {}
                }
            });
        });
        Self { at: at.recv().unwrap(), requests, connections, seen, end: Some(end), thread: Some(thread) }
    }

    fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }
}

async fn serve(connection: Connection, control: &'static [u8], does: Does, counts: Arc<AtomicU64>, kept: Arc<Mutex<Vec<Vec<u8>>>>) {
    let Ok(mut says) = connection.open_uni().await else { return };
    let _ = says.write_all(control).await;
    let says = Arc::new(tokio::sync::Mutex::new(says));
    while let Ok((send, recv)) = connection.accept_bi().await {
        let (connection, says, does, counts, kept) = (connection.clone(), says.clone(), does.clone(), counts.clone(), kept.clone());
        tokio::spawn(async move { answer(connection, says, (send, recv), does, counts, kept).await });
    }
}

async fn answer(
    connection: Connection,
    says: Arc<tokio::sync::Mutex<SendStream>>,
    (mut send, mut recv): (SendStream, RecvStream),
    does: Does,
    counts: Arc<AtomicU64>,
    kept: Arc<Mutex<Vec<Vec<u8>>>>,
) {
    let Ok(request) = recv.read_to_end(1 << 24).await else { return };
    let number = counts.fetch_add(1, Ordering::Relaxed) + 1;
    kept.lock().unwrap().push(request);
    match does(number) {
        Answer::Says(bytes) => {
            let _ = send.write_all(&bytes).await;
            let _ = send.finish();
        }
        Answer::Hangs(bytes) => {
            let _ = send.write_all(&bytes).await;
            let _ = send.stopped().await;
        }
        Answer::Late(wait, bytes) => {
            tokio::time::sleep(wait).await;
            let _ = send.write_all(&bytes).await;
            let _ = send.finish();
        }
        Answer::Resets(code) => {
            let _ = send.reset(VarInt::from_u32(code));
        }
        Answer::Closes(code) => connection.close(VarInt::from_u32(code), b"enough"),
        Answer::Goes => {
            let stream = u64::from(VarInt::from(send.id())) as u8;
            let _ = says.lock().await.write_all(&[7, 1, stream]).await;
            let _ = send.stopped().await;
        }
    }
}

/// Passes datagrams on between a client of its own port and the server, and loses every so-manieth that goes to the server. Ends with the last of them.
fn losing(server: SocketAddr, every: u64) -> SocketAddr {
    let near = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = near.local_addr().unwrap();
    near.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    std::thread::spawn(move || {
        let far = Arc::new(std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
        far.connect(server).unwrap();
        let (mut buffer, mut number, mut is_answered) = ([0; 65_536], 0_u64, false);
        while let Ok((count, from)) = near.recv_from(&mut buffer) {
            number += 1;
            if !std::mem::replace(&mut is_answered, true) {
                let (far, near) = (far.clone(), near.try_clone().unwrap());
                far.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
                std::thread::spawn(move || {
                    let mut buffer = [0; 65_536];
                    while let Ok(count) = far.recv(&mut buffer) {
                        let _ = near.send_to(&buffer[..count], from);
                    }
                });
            }
            // The handshake goes through, so that the client is seen to be there.
            if number < 20 || !number.is_multiple_of(every) {
                let _ = far.send(&buffer[..count]);
            }
        }
    });
    at
}

fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

fn load(server: &Server, settings: impl FnOnce(&mut Draft)) -> Summary {
    let mut draft = Draft { url: Some(format!("https://{}/a?b=c", server.at)), insecure: true, no_preflight: true, ..Draft::default() };
    (draft.threads, draft.http, draft.connections) = (given("1"), given("3"), given("4"));
    draft.requests = given("40");
    settings(&mut draft);
    let plan = Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"));
    let summary = run(&plan, &mut |_| (), &Stop::new()).unwrap_or_else(|error| panic!("{error:?}"));
    let (requests, connections) = (summary.requests, summary.connections);
    assert_eq!(requests.due, requests.succeeded + requests.failed + requests.unsent);
    assert_eq!(connections.opened, connections.closed_by_us + connections.closed_by_server);
    assert_eq!((connections.opened, connections.opened), (connections.http3, server.connections()));
    summary
}

fn count(summary: &Summary, failure: Failure) -> u64 {
    summary.failures.iter().find(|count| count.class == failure).map_or(0, |count| count.count)
}

#[test]
fn users_share_a_connection_and_the_server_counts_the_same() {
    let server = Server::start(|_| Answer::Says(hello()));
    let summary = load(&server, |draft| draft.requests = given("2000"));
    assert_eq!((summary.requests.succeeded, server.requests(), summary.connections.opened), (2000, 2000, 1), "{:?}", summary.failures);
    let request = server.seen.lock().unwrap()[0].clone();
    // A head of which no table is needed: GET, https.
    assert_eq!((request[0], &request[2..6]), (1, &[0, 0, 0xd1, 0xd7][..]), "{request:x?}");

    let server = Server::start(|_| Answer::Says(hello()));
    let summary = load(&server, |draft| draft.streams = given("1"));
    assert_eq!((summary.requests.succeeded, server.connections()), (40, 4));
    let server = Server::start(|_| Answer::Says(hello()));
    let summary = load(&server, |draft| draft.no_keepalive = true);
    assert_eq!((summary.requests.succeeded, server.connections()), (40, 40));
}

#[test]
fn a_body_is_sent_whole_however_large() {
    for size in [1, 5_000, 3_000_000] {
        let server = Server::start(|_| Answer::Says(hello()));
        let body = "x".repeat(size);
        let summary = load(&server, |draft| {
            draft.data = Some(body.clone());
            draft.requests = given("6");
        });
        assert_eq!(summary.requests.succeeded, 6, "{:?}", summary.failures);
        let seen = server.seen.lock().unwrap();
        assert!(seen.iter().all(|request| request.ends_with(body.as_bytes())) && seen.len() == 6);
    }
}

#[test]
fn a_server_that_takes_fewer_at_once_is_asked_as_often_as_it_lets() {
    let server = Server::with(SETTINGS, 2, |_| Answer::Says(hello()));
    let summary = load(&server, |draft| draft.requests = given("400"));
    assert_eq!((summary.requests.succeeded, server.requests()), (400, 400), "{:?}", summary.failures);
}

#[test]
fn every_way_to_break_off_has_a_class_and_harms_only_what_it_must() {
    let third = |does: fn() -> Answer| move |number: u64| if number.is_multiple_of(3) { does() } else { Answer::Says(hello()) };
    let no_frames: fn() -> Answer = || Answer::Says(Vec::new());
    for (name, does, class) in [
        ("ends without an answer", no_frames, Failure::RecvEofBeforeResponse),
        ("ends within the content", || Answer::Says([frame(HEADERS, OK_OF_5), frame(DATA, b"hel")].concat()), Failure::RecvEofInBody),
        ("cancels", || Answer::Resets(0x10c), Failure::Http3Cancel),
        ("fails", || Answer::Resets(0x102), Failure::Http3Internal),
        ("has enough", || Answer::Resets(0x107), Failure::Http3Calm),
        ("resets otherwise", || Answer::Resets(77), Failure::Http3Reset),
        ("has no status", || Answer::Says(frame(HEADERS, &[0, 0, 0x21, b'a', 1, b'b'])), Failure::ProtoStatusLine),
    ] {
        let server = Server::start(third(does));
        let summary = load(&server, |_| ());
        let said = format!("{name}: {:?}", summary.failures);
        assert_eq!((count(&summary, class), summary.requests.succeeded, summary.connections.opened), (13, 27, 1), "{said}");
        assert_eq!(server.requests(), 40, "{said}");
    }
}

#[test]
fn what_breaks_the_connection_ends_it_and_the_next_goes_over_another() {
    let third = |does: fn() -> Answer| move |number: u64| if number.is_multiple_of(3) { does() } else { Answer::Says(hello()) };
    let content_first: fn() -> Answer = || Answer::Says(frame(DATA, b"x"));
    for (name, does, class) in [
        ("content before its head", content_first, Failure::Http3Protocol),
        ("closes with an error", || Answer::Closes(0x102), Failure::Http3Closed),
        ("a table", || Answer::Says(frame(HEADERS, &[3, 0x81, 0x10])), Failure::Http3Protocol),
    ] {
        let server = Server::start(third(does));
        let summary = load(&server, |draft| {
            (draft.connections, draft.requests) = (given("1"), given("30"));
        });
        let said = format!("{name}: {:?}", summary.failures);
        assert_eq!((count(&summary, class), summary.requests.succeeded, server.requests()), (10, 20, 30), "{said}");
        assert_eq!(summary.connections.opened, 10, "{said}");
        assert!(summary.failures[0].example.is_some(), "{said}");
    }
}

#[test]
fn what_the_server_does_not_take_up_is_sent_again() {
    for does in [|| Answer::Resets(0x10b), || Answer::Goes] {
        let server = Server::start(move |number| if number.is_multiple_of(10) { does() } else { Answer::Says(hello()) });
        let summary = load(&server, |draft| {
            (draft.connections, draft.requests, draft.timeout) = (given("1"), given("36"), given("5s"));
        });
        let again = summary.quirks.iter().find(|count| count.quirk == Quirk::SentAgain.code()).map_or(0, |count| count.count);
        assert_eq!(
            (summary.requests.succeeded, server.requests(), again),
            (36, 40 - u64::from(again == 3), again),
            "{:?}",
            summary.failures
        );
        assert!(again == 3 || again == 4, "{again}");
    }
}

#[test]
fn what_does_not_answer_in_time_is_given_up_alone() {
    let server = Server::start(|number| match number {
        5 => Answer::Hangs(Vec::new()),
        9 => Answer::Hangs(frame(HEADERS, OK)),
        13 => Answer::Late(Duration::from_secs(1), hello()),
        _ => Answer::Says(hello()),
    });
    let summary = load(&server, |draft| draft.timeout = given("300ms"));
    let classes = (count(&summary, Failure::RecvIdleTimeout), count(&summary, Failure::RecvTotalTimeout));
    assert_eq!((classes, summary.requests.succeeded, server.connections()), ((2, 1), 37, 1), "{:?}", summary.failures);
}

#[test]
fn packets_that_are_lost_are_counted_and_their_requests_are_not_lost() {
    let server = Server::start(|_| Answer::Says(hello()));
    let over = |every: u64| {
        let at = losing(server.at, every);
        let mut draft = Draft { url: Some(format!("https://{at}/")), insecure: true, no_preflight: true, ..Draft::default() };
        (draft.threads, draft.http, draft.connections, draft.requests) = (given("1"), given("3"), given("4"), given("3000"));
        let summary = run(&Plan::try_from(draft).unwrap(), &mut |_| (), &Stop::new()).unwrap();
        assert_eq!(summary.requests.succeeded, 3000, "{:?}", summary.failures);
        summary.connections.packets_lost as f64 / summary.connections.packets as f64
    };
    let (none, tenth) = (over(u64::MAX), over(10));
    assert!(none < 0.02 && (0.05..0.2).contains(&tenth), "{none} and {tenth}");
}

#[test]
fn a_control_stream_that_breaks_a_rule_ends_the_connection() {
    let server = Server::with(&[0, 7, 1, 0], 100, |_| Answer::Late(Duration::from_millis(200), hello()));
    let summary = load(&server, |draft| {
        (draft.connections, draft.requests) = (given("1"), given("3"));
    });
    assert_eq!(count(&summary, Failure::Http3Protocol), 3, "{:?}", summary.failures);
}

#[test]
fn where_nobody_listens_or_speaks_it_is_told() {
    let plan = |url: String| {
        let mut draft = Draft { url: Some(url), insecure: true, ..Draft::default() };
        (draft.http, draft.requests, draft.connect_timeout) = (given("3"), given("1"), given("2s"));
        Plan::try_from(draft).unwrap()
    };
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = |url: String| run(&plan(url), &mut |_| (), &Stop::new()).unwrap_err().spelt(plan::Spelling::Flags);
    let nobody = said(format!("https://{free}/"));
    assert!(nobody.contains("nobody listens for QUIC (UDP)"), "{nobody}");
    let silent = said(format!("https://{}/", silent.local_addr().unwrap()));
    assert!(silent.contains("answers nothing over QUIC (UDP) within 2s"), "{silent}");
}

/// A run is believed if it sent 99 % of its requests within so many milliseconds of when it could.
const LAG_MS_MAX: f64 = 4.0;

#[test]
fn a_stalled_server_shows_in_response_time() {
    // A tenth of the requests fall into a stall, spread evenly over 0 to 200 ms: p95 is its middle, p99 nine tenths of it.
    for attempt in 1..=3 {
        let begun = OnceLock::new();
        let server = Server::start(move |_| {
            let into = begun.get_or_init(Instant::now).elapsed().as_millis() as u64 % 2_000;
            if into < 200 { Answer::Late(Duration::from_millis(200 - into), hello()) } else { Answer::Says(hello()) }
        });
        let summary = load(&server, |draft| {
            (draft.rate, draft.duration, draft.connections) = (given("500/s"), given("4s"), given("200"));
            (draft.requests, draft.arrivals) = (None, given("even"));
        });
        assert_eq!((summary.requests.succeeded, server.requests()), (2_000, 2_000), "{:?}", summary.failures);
        let [p95, p99] = [0.95, 0.99].map(|q| summary.response_time.known_quantile(q).expect("enough samples").as_millis_f64());
        if (p95 - 100.0).abs() <= 10.0 && (p99 - 180.0).abs() <= 10.0 {
            return;
        }
        // The machine is shared; the run itself says whether it was late.
        let lag = summary.lag.quantile(0.99).map_or(0.0, |lag| lag.as_millis_f64());
        assert!(lag > LAG_MS_MAX && attempt < 3, "p95 {p95:.1} ms of 100, p99 {p99:.1} ms of 180 (lag p99 {lag:.2} ms, attempt {attempt})");
    }
}
