//! The server: threads that accept, decide, wait and count.
//!
//! A reference must cost less than what it measures, and must count without slowing down. Each serving thread has a
//! current-thread runtime, its own counters and its own timer; a health check passes through without a lock, a queue
//! or an allocation of ours. With several threads the first accepts and deals connections out in turn, because letting the
//! kernel choose by hash puts unequal numbers of connections on each, and two runs would differ.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, COOKIE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, SERVER, SET_COOKIE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::LocalSet;
use tokio_rustls::TlsAcceptor;

use crate::account;
use crate::alarm::Alarms;
use crate::api::{self, BEHAVE, ECHO, ENDPOINTS, Endpoint, RequestView};
use crate::behaviour::{Behaviour, BodyFraming, Conduct, Fault, ResetPoint, Turn};
use crate::certificate::Tls;
use crate::counts::{Counts, Shard};
use crate::reply::{Content, Cut, CutOff, Pace, Pieces, ReplyBody};
use crate::wire::{Ending, Stream, Wire};

/// What a [`Testbed`] is to be. The default serves the demo API, [`GRAMMAR`](crate::GRAMMAR)'s `/behave` and `/echo`
/// on a free port of 127.0.0.1, from one thread.
#[derive(Clone, Debug)]
pub struct Config {
    listen: Listen,
    threads: NonZeroUsize,
    tls: Option<Tls>,
    seed: u64,
    routes: Vec<(String, Behaviour)>,
    everywhere: Option<Behaviour>,
}

#[derive(Clone, Debug)]
enum Listen {
    Tcp(SocketAddr),
    #[cfg(unix)]
    Unix(PathBuf),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: Listen::Tcp((Ipv4Addr::LOCALHOST, 0).into()),
            threads: NonZeroUsize::MIN,
            tls: None,
            seed: 1,
            routes: Vec::new(),
            everywhere: None,
        }
    }
}

impl Config {
    /// The default.
    pub fn new() -> Config {
        Config::default()
    }

    /// Listens at this address; port 0 takes a free one.
    pub fn listen(mut self, address: SocketAddr) -> Config {
        self.listen = Listen::Tcp(address);
        self
    }

    /// Listens on a Unix socket, whose file is made at the start and removed at the end.
    #[cfg(unix)]
    pub fn unix(mut self, path: impl Into<PathBuf>) -> Config {
        self.listen = Listen::Unix(path.into());
        self
    }

    /// Serves from so many threads.
    pub fn threads(mut self, threads: NonZeroUsize) -> Config {
        self.threads = threads;
        self
    }

    /// Speaks TLS (over TCP).
    pub fn tls(mut self, tls: Tls) -> Config {
        self.tls = Some(tls);
        self
    }

    /// What the cards of the demo API follow from.
    pub fn seed(mut self, seed: u64) -> Config {
        self.seed = seed;
        self
    }

    /// Serves `path` with this behaviour. An endpoint of the demo API keeps its answer and behaves; any other path
    /// answers with `{"status":"ok"}` or a body of the wanted size.
    pub fn route(mut self, path: impl Into<String>, behaviour: Behaviour) -> Config {
        self.routes.push((path.into(), behaviour));
        self
    }

    /// One behaviour for all endpoints of the demo API without a route of their own: they share its pool, its limits
    /// and the rotation of its faults.
    pub fn everywhere(mut self, behaviour: Behaviour) -> Config {
        self.everywhere = Some(behaviour);
        self
    }
}

/// A running server. It stops when dropped.
#[derive(Debug)]
pub struct Testbed {
    site: Arc<Site>,
    bound: Bound,
    stop: watch::Sender<bool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

#[derive(Clone, Debug)]
enum Bound {
    Tcp(SocketAddr),
    #[cfg(unix)]
    Unix(PathBuf),
}

impl Testbed {
    /// Starts a server; it accepts connections when this returns.
    ///
    /// # Errors
    /// When the address cannot be listened at, a thread or its timer cannot be made, or a certificate cannot be signed.
    pub fn start(config: Config) -> io::Result<Testbed> {
        let acceptor = config.tls.as_ref().map(Tls::acceptor).transpose()?;
        let site = Arc::new(Site::new(&config, acceptor));
        let (stop, stopped) = watch::channel(false);
        let mut threads = Vec::new();
        let mut others = Vec::new();
        let mut started = Vec::new();
        for index in 1..config.threads.get() {
            let (deal, dealt) = mpsc::unbounded_channel();
            others.push(deal);
            let (ready, is_ready) = std::sync::mpsc::channel();
            started.push(is_ready);
            let serving = Serving { site: Arc::clone(&site), index, stopped: stopped.clone() };
            threads.push(serving.spawn(ready, move |floor| async move {
                floor.serve_dealt(dealt).await;
            })?);
        }
        let (ready, is_ready) = std::sync::mpsc::channel();
        started.push(is_ready);
        let (tell_bound, is_bound) = std::sync::mpsc::channel();
        let listen = config.listen;
        let serving = Serving { site: Arc::clone(&site), index: 0, stopped };
        threads.push(serving.spawn(ready, move |floor| async move {
            let listener = match Listener::bind(&listen) {
                Ok((listener, bound)) => {
                    let _ = tell_bound.send(Ok(bound));
                    listener
                }
                Err(error) => {
                    let _ = tell_bound.send(Err(error));
                    return;
                }
            };
            floor.accept(listener, others).await;
        })?);
        let gone = || io::Error::other("a serving thread ended before it began");
        for ready in started {
            ready.recv().map_err(|_| gone())??;
        }
        let bound = is_bound.recv().map_err(|_| gone())??;
        Ok(Testbed { site, bound, stop, threads })
    }

    /// The address it listens at. For a Unix socket, which has none, 0.0.0.0:0.
    pub fn addr(&self) -> SocketAddr {
        match &self.bound {
            Bound::Tcp(address) => *address,
            #[cfg(unix)]
            Bound::Unix(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        }
    }

    /// The file of the Unix socket it listens at, if it does.
    pub fn socket_path(&self) -> Option<&Path> {
        match &self.bound {
            Bound::Tcp(_) => None,
            #[cfg(unix)]
            Bound::Unix(path) => Some(path),
        }
    }

    /// The URL of a path and query such as `/fib?n=20`. Over a Unix socket the host is `localhost`.
    pub fn url(&self, path_and_query: &str) -> String {
        let scheme = if self.site.acceptor.is_some() { "https" } else { "http" };
        match &self.bound {
            Bound::Tcp(address) => format!("{scheme}://{address}{path_and_query}"),
            #[cfg(unix)]
            Bound::Unix(_) => format!("{scheme}://localhost{path_and_query}"),
        }
    }

    /// Everything counted up to now.
    pub fn counts(&self) -> Counts {
        Counts::sum(self.site.shards.iter(), &self.site.paths)
    }

    /// Lets the schedules of all stalls begin anew, now. Without this they begin with the first request to an endpoint
    /// that has a behaviour.
    pub fn anchor_stalls(&self) {
        self.site.anchor.store(nanos(self.site.age()), Ordering::Relaxed);
    }

    /// Stops: closes the listener and every connection, and waits for the threads. Tells the final counts.
    pub fn stop(mut self) -> Counts {
        self.end();
        self.counts()
    }

    /// Waits until the server ends, which it does only when its threads fail: for a server that is left running.
    pub fn wait(mut self) {
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }

    fn end(&mut self) {
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            // A thread that panicked has told its reason; the others are still to be stopped.
            let _ = thread.join();
        }
        #[cfg(unix)]
        if let Bound::Unix(path) = &self.bound {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            self.end();
        }
    }
}

/// What all threads know.
struct Site {
    born: Instant,
    /// Nanoseconds from `born` to the anchor of the stalls, or [`UNANCHORED`].
    anchor: AtomicU64,
    seed: u64,
    /// Numbers the requests to the demo API.
    asked: AtomicU64,
    /// By slot.
    paths: Vec<String>,
    routes: HashMap<String, Route>,
    /// Whether `/healthz` is free of any behaviour.
    plain_health: Option<usize>,
    told: Mutex<HashMap<String, Arc<Conduct>>>,
    shards: Vec<Shard>,
    acceptor: Option<TlsAcceptor>,
}

const UNANCHORED: u64 = u64::MAX;

struct Route {
    slot: usize,
    serves: Serves,
    conduct: Option<Arc<Conduct>>,
}

#[derive(Clone, Copy)]
enum Serves {
    Api(&'static Endpoint),
    Echo,
    /// One of the pages of a login.
    Account,
    /// Whatever the query tells.
    Told,
    /// `{"status":"ok"}`.
    Fine,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("paths", &self.paths).finish_non_exhaustive()
    }
}

impl Site {
    fn new(config: &Config, acceptor: Option<TlsAcceptor>) -> Site {
        let everywhere = config.everywhere.clone().map(|behaviour| Arc::new(Conduct::new(behaviour)));
        let mut served: Vec<(&str, Serves, Option<Arc<Conduct>>)> =
            ENDPOINTS.iter().map(|endpoint| (endpoint.path, Serves::Api(endpoint), everywhere.clone())).collect();
        served.extend(account::PAGES.iter().map(|(path, _)| (*path, Serves::Account, everywhere.clone())));
        served.push((ECHO, Serves::Echo, None));
        served.push((BEHAVE, Serves::Told, None));
        let mut routes = HashMap::new();
        let mut paths = Vec::new();
        for (path, serves, conduct) in served {
            routes.insert(path.to_owned(), Route { slot: paths.len(), serves, conduct });
            paths.push(path.to_owned());
        }
        for (path, behaviour) in &config.routes {
            let conduct = Some(Arc::new(Conduct::new(behaviour.clone())));
            match routes.get_mut(path) {
                Some(route) => {
                    route.conduct = conduct;
                    if matches!(route.serves, Serves::Told) {
                        route.serves = Serves::Fine;
                    }
                }
                None => {
                    routes.insert(path.clone(), Route { slot: paths.len(), serves: Serves::Fine, conduct });
                    paths.push(path.clone());
                }
            }
        }
        let plain_health = routes.get("/healthz").filter(|route| route.conduct.is_none()).map(|route| route.slot);
        Site {
            born: Instant::now(),
            anchor: AtomicU64::new(UNANCHORED),
            seed: config.seed,
            asked: AtomicU64::new(1),
            shards: (0..config.threads.get()).map(|_| Shard::new(paths.len())).collect(),
            paths,
            routes,
            plain_health,
            told: Mutex::default(),
            acceptor,
        }
    }

    fn age(&self) -> Duration {
        self.born.elapsed()
    }

    /// The anchor of the stalls: the first to ask sets it.
    fn anchored(&self, now: Duration) -> Duration {
        match self.anchor.compare_exchange(UNANCHORED, nanos(now), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => now,
            Err(anchor) => Duration::from_nanos(anchor),
        }
    }

    /// The conduct that a query tells, the same for all requests with the same query.
    fn told(&self, query: &str) -> Result<Arc<Conduct>, String> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(conduct) = told.get(query) {
            return Ok(Arc::clone(conduct));
        }
        let conduct = Arc::new(Conduct::new(query.parse()?));
        if told.len() >= TOLD_MAX {
            return Err(format!("{TOLD_MAX} different behaviours are already in use: use one of them"));
        }
        told.insert(query.to_owned(), Arc::clone(&conduct));
        Ok(conduct)
    }
}

/// Each behaviour ever told keeps its state, so their number must be bounded.
const TOLD_MAX: usize = 4096;

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX - 1)
}

/// What one serving thread starts from.
struct Serving {
    site: Arc<Site>,
    index: usize,
    stopped: watch::Receiver<bool>,
}

impl Serving {
    fn spawn<F, R>(self, ready: std::sync::mpsc::Sender<io::Result<()>>, run: F) -> io::Result<std::thread::JoinHandle<()>>
    where
        F: FnOnce(Rc<Floor>) -> R + Send + 'static,
        R: Future<Output = ()>,
    {
        let Serving { site, index, mut stopped } = self;
        std::thread::Builder::new().name(format!("testbed-{index}")).spawn(move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            LocalSet::new().block_on(&runtime, async move {
                let alarms = match Alarms::new() {
                    Ok(alarms) => alarms,
                    Err(error) => {
                        let _ = ready.send(Err(error));
                        return;
                    }
                };
                let ringing = Rc::clone(&alarms).ring();
                let _ = ready.send(Ok(()));
                let floor = Rc::new(Floor { site, index, alarms });
                tokio::select! {
                    // Either the sender says so or it is gone.
                    _ = stopped.wait_for(|stopped| *stopped) => {}
                    _ = ringing => {}
                    () = run(floor) => {}
                }
            });
        })
    }
}

enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(tokio::net::UnixListener),
}

/// A connection on its way from the accepting thread to its own.
enum Accepted {
    Tcp(std::net::TcpStream),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl Listener {
    fn bind(listen: &Listen) -> io::Result<(Listener, Bound)> {
        match listen {
            Listen::Tcp(address) => {
                let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
                socket.set_reuseaddr(true)?;
                socket.bind(*address)?;
                let listener = socket.listen(BACKLOG)?;
                let bound = Bound::Tcp(listener.local_addr()?);
                Ok((Listener::Tcp(listener), bound))
            }
            #[cfg(unix)]
            Listen::Unix(path) => Ok((Listener::Unix(tokio::net::UnixListener::bind(path)?), Bound::Unix(path.clone()))),
        }
    }

    async fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => Ok(Stream::Tcp(listener.accept().await?.0)),
            #[cfg(unix)]
            Listener::Unix(listener) => Ok(Stream::Unix(listener.accept().await?.0)),
        }
    }
}

/// Tens of thousands of connections may be opened at once; the kernel lowers this to its own limit.
const BACKLOG: u32 = 65_535;
/// Out of files: wait for some to be closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(5);

/// One serving thread.
struct Floor {
    site: Arc<Site>,
    index: usize,
    alarms: Rc<Alarms>,
}

impl Floor {
    fn shard(&self) -> &Shard {
        &self.site.shards[self.index]
    }

    /// Accepts for all threads and serves its own share.
    async fn accept(self: Rc<Floor>, listener: Listener, others: Vec<mpsc::UnboundedSender<Accepted>>) {
        let threads = others.len() + 1;
        for turn in (0..threads).cycle() {
            let stream = loop {
                match listener.accept().await {
                    Ok(stream) => break stream,
                    Err(_) => self.alarms.at(Instant::now() + ACCEPT_PAUSE).await,
                }
            };
            self.shard().connections.add_one();
            match others.get(turn.wrapping_sub(1)) {
                None => self.welcome(stream),
                Some(other) => {
                    let dealt = match stream {
                        Stream::Tcp(tcp) => tcp.into_std().map(Accepted::Tcp),
                        #[cfg(unix)]
                        Stream::Unix(unix) => unix.into_std().map(Accepted::Unix),
                        Stream::Tls(_) => continue,
                    };
                    if dealt.is_ok_and(|dealt| other.send(dealt).is_ok()) {
                        continue;
                    }
                    self.shard().closed.add_one();
                }
            }
        }
    }

    async fn serve_dealt(self: Rc<Floor>, mut dealt: mpsc::UnboundedReceiver<Accepted>) {
        while let Some(accepted) = dealt.recv().await {
            let stream = match accepted {
                Accepted::Tcp(tcp) => TcpStream::from_std(tcp).map(Stream::Tcp),
                #[cfg(unix)]
                Accepted::Unix(unix) => tokio::net::UnixStream::from_std(unix).map(Stream::Unix),
            };
            match stream {
                Ok(stream) => self.welcome(stream),
                Err(_) => self.shard().closed.add_one(),
            }
        }
        // The accepting thread is gone; what is open is served until the stop.
        std::future::pending::<()>().await;
    }

    fn welcome(self: &Rc<Floor>, stream: Stream) {
        let floor = Rc::clone(self);
        tokio::task::spawn_local(async move {
            let visit = Visit { floor: &floor };
            if !floor.converse(stream).await {
                visit.floor.shard().broken.add_one();
            }
        });
    }

    /// Serves a connection to its end; tells whether it was an orderly one.
    async fn converse(self: &Rc<Floor>, stream: Stream) -> bool {
        let stream = match (stream, &self.site.acceptor) {
            (Stream::Tcp(tcp), acceptor) => {
                // A reply in two writes must not wait for an acknowledgement.
                let _ = tcp.set_nodelay(true);
                match acceptor {
                    None => Stream::Tcp(tcp),
                    Some(acceptor) => match acceptor.accept(tcp).await {
                        Ok(tls) => Stream::Tls(Box::new(tls)),
                        Err(_) => return false,
                    },
                }
            }
            (stream, _) => stream,
        };
        let ending = Rc::new(Cell::new(Ending::Orderly));
        let connection = Rc::new(Connection { ending: Rc::clone(&ending), replies: Cell::new(0) });
        let wire = TokioIo::new(Wire::new(stream, ending));
        let service = service_fn(|request| {
            let (floor, connection) = (Rc::clone(self), Rc::clone(&connection));
            async move { floor.serve(&connection, request).await }
        });
        http1::Builder::new().serve_connection(wire, service).await.is_ok()
    }

    async fn serve(self: Rc<Floor>, connection: &Connection, request: Request<Incoming>) -> Result<Response<ReplyBody>, Cut> {
        if let Some(slot) = self.site.plain_health
            && request.uri().path() == "/healthz"
            && request.body().is_end_stream()
        {
            self.shard().receive(slot);
            connection.replies.set(connection.replies.get().saturating_add(1));
            self.shard().answer(200);
            return Ok(reply(200, api::JSON, ReplyBody::Whole(Bytes::from_static(api::HEALTHY))));
        }
        // On the heap, so that a connection that only checks health stays small.
        Box::pin(self.serve_fully(connection, request)).await
    }

    async fn serve_fully(&self, connection: &Connection, mut request: Request<Incoming>) -> Result<Response<ReplyBody>, Cut> {
        let path = request.uri().path();
        let route = self.site.routes.get(path).or_else(|| self.site.routes.get(api::numbered(path)?));
        let keeps = matches!(route, Some(Route { serves: Serves::Echo | Serves::Account, .. }));
        let body = read(&mut request, if keeps { KEPT_BYTES_MAX } else { 0 }).await?;
        let arrival = self.site.age();
        let Some(route) = route else {
            self.shard().receive_unknown(request.uri().path());
            let receipt = Receipt { shard: self.shard() };
            return Ok(receipt.answer(connection, answered(api::unknown(request.uri().path()))));
        };
        self.shard().receive(route.slot);
        let receipt = Receipt { shard: self.shard() };
        let query = request.uri().query().unwrap_or("");
        let told;
        let conduct = match (&route.conduct, route.serves) {
            (Some(conduct), _) => Some(conduct),
            (None, Serves::Told) => match self.site.told(query) {
                Ok(conduct) => {
                    told = conduct;
                    Some(&told)
                }
                Err(reason) => {
                    return Ok(receipt.answer(connection, answered(api::refused(&reason))));
                }
            },
            (None, _) => None,
        };
        let make = || match route.serves {
            Serves::Api(endpoint) => {
                let number = self.site.asked.fetch_add(1, Ordering::Relaxed);
                answered(endpoint.answer(&RequestView { path: request.uri().path(), query, seed: self.site.seed, number }))
            }
            Serves::Echo => echo(&request, body),
            Serves::Account => self.account(&request, &body),
            Serves::Told | Serves::Fine => answered(api::healthy()),
        };
        match conduct {
            None => Ok(receipt.answer(connection, make())),
            Some(conduct) => self.behave(conduct, connection, receipt, arrival, make).await,
        }
    }

    fn account(&self, request: &Request<Incoming>, body: &Bytes) -> Response<Content> {
        let header = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let answer = account::answer(&account::PageView {
            method: request.method().as_str(),
            path: request.uri().path(),
            query: request.uri().query().unwrap_or_default(),
            cookie: header(COOKIE),
            token: header(X_CSRF_TOKEN),
            content_type: header(CONTENT_TYPE),
            body,
            seed: self.site.seed,
            number: self.site.asked.fetch_add(1, Ordering::Relaxed),
        });
        let mut response = answered(answer.answer);
        // Written by ourselves, so they are values of headers.
        if let Some(cookie) = answer.set_cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
            response.headers_mut().insert(SET_COOKIE, cookie);
        }
        if let Some(location) = answer.location {
            response.headers_mut().insert(LOCATION, HeaderValue::from_static(location));
        }
        response
    }

    async fn behave(
        &self,
        conduct: &Conduct,
        connection: &Connection,
        receipt: Receipt<'_>,
        arrival: Duration,
        make: impl FnOnce() -> Response<Content>,
    ) -> Result<Response<ReplyBody>, Cut> {
        let presence = conduct.enter();
        let course = conduct.decide(arrival, self.site.anchored(arrival), &presence);
        if course.due > arrival {
            self.alarms.at(self.site.born + course.due).await;
        }
        let mut cut_after = None;
        let mut response = match course.turn {
            Turn::TooMany(seconds) => {
                return Ok(receipt.answer(connection, turned_away(429, seconds.get())));
            }
            Turn::Broken(seconds) => {
                return Ok(receipt.answer(connection, turned_away(503, seconds)));
            }
            Turn::Reply => make(),
            Turn::Fault(Fault::Status(status)) => {
                let body = format!(r#"{{"status":{status}}}"#);
                let content = if matches!(status, 204 | 304) { Bytes::new() } else { body.into() };
                reply(status, api::JSON, Content::Bytes(content))
            }
            Turn::Fault(Fault::Silence) => std::future::pending().await,
            Turn::Fault(Fault::Reset(ResetPoint::BeforeReply)) => {
                connection.ending.set(Ending::Reset);
                receipt.cut();
                return Err(Cut);
            }
            Turn::Fault(Fault::Reset(ResetPoint::AfterBodyBytes(bytes))) => {
                cut_after = Some(bytes);
                make()
            }
        };
        let behaviour = &conduct.behaviour;
        if let Some(size) = behaviour.size_bytes
            && !matches!(response.status().as_u16(), 204 | 304)
        {
            *response.body_mut() = Content::Filler(size);
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(api::TEXT));
        }
        if let Some(after) = behaviour.close_after
            && connection.replies.get() + 1 >= after.get()
        {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let plain = behaviour.body == BodyFraming::Length && behaviour.trickle.is_none() && cut_after.is_none();
        if plain {
            return Ok(receipt.answer(connection, response));
        }
        let pace = behaviour.trickle.map(|trickle| Pace::new(trickle.every, Rc::clone(&self.alarms)));
        let piece_bytes_max = match (behaviour.trickle, behaviour.body) {
            (Some(trickle), _) => trickle.drop_bytes.get() as usize,
            (None, BodyFraming::Chunks(chunk)) => chunk.get() as usize,
            (None, BodyFraming::Length) => usize::MAX,
        };
        let cut = cut_after.map(|after_bytes| CutOff { after_bytes, ending: Rc::clone(&connection.ending), flushed: false });
        let status = response.status().as_u16();
        if cut.is_some() {
            receipt.cut();
        } else {
            receipt.settle(connection, status);
        }
        let framing = behaviour.framing();
        Ok(response.map(|content| ReplyBody::Pieces(Box::new(Pieces { content, piece_bytes_max, framing, pace, cut }))))
    }
}

/// How much of a request's body is kept to be sent back or looked at. The rest is read and forgotten.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Reads the whole body and keeps its beginning.
async fn read(request: &mut Request<Incoming>, kept_bytes_max: usize) -> Result<Bytes, Cut> {
    let mut kept = Vec::new();
    while let Some(frame) = request.body_mut().frame().await {
        if let Some(data) = frame.map_err(|_| Cut)?.data_ref() {
            let room = kept_bytes_max.saturating_sub(kept.len()).min(data.len());
            kept.extend_from_slice(&data[..room]);
        }
    }
    Ok(kept.into())
}

fn echo(request: &Request<Incoming>, body: Bytes) -> Response<Content> {
    let id = request.headers().get(X_ID);
    let content = if body.is_empty() { id.map(|id| Bytes::copy_from_slice(id.as_bytes())) } else { Some(body) };
    let mut response = reply(200, api::TEXT, Content::Bytes(content.unwrap_or_default()));
    if let Some(id) = id {
        response.headers_mut().insert(X_ID, id.clone());
    }
    response
}

/// What proves that a request is meant by whom the session belongs to.
const X_CSRF_TOKEN: HeaderName = HeaderName::from_static("x-csrf-token");

/// The header by which a client tells replies apart.
const X_ID: HeaderName = HeaderName::from_static("x-id");

fn answered(answer: api::Answer) -> Response<Content> {
    reply(answer.status, answer.media_type, Content::Bytes(answer.body))
}

fn turned_away(status: u16, seconds: u64) -> Response<Content> {
    let body = format!(r#"{{"error":"too much to do","again_after_seconds":{seconds}}}"#);
    let mut response = reply(status, api::JSON, Content::Bytes(body.into()));
    response.headers_mut().insert(RETRY_AFTER, seconds.into());
    response
}

fn reply<B>(status: u16, media_type: &'static str, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(SERVER, HeaderValue::from_static("loadline-testbed"));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// What the requests of one connection share.
struct Connection {
    ending: Rc<Cell<Ending>>,
    /// Replies given on it.
    replies: Cell<u32>,
}

/// A connection being served; counts its end, however it comes.
struct Visit<'a> {
    floor: &'a Floor,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.floor.shard().closed.add_one();
    }
}

/// A request received and not yet settled. Dropped unsettled, the client has gone.
struct Receipt<'a> {
    shard: &'a Shard,
}

impl Receipt<'_> {
    fn answer(self, connection: &Connection, response: Response<Content>) -> Response<ReplyBody> {
        self.settle(connection, response.status().as_u16());
        response.map(ReplyBody::plain)
    }

    fn settle(self, connection: &Connection, status: u16) {
        connection.replies.set(connection.replies.get().saturating_add(1));
        self.shard.answer(status);
        std::mem::forget(self);
    }

    fn cut(self) {
        self.shard.cut.add_one();
        std::mem::forget(self);
    }
}

impl Drop for Receipt<'_> {
    fn drop(&mut self) {
        self.shard.abandoned.add_one();
    }
}
