//! The server: connections taken, requests judged and led to what they ask for.
//!
//! It lives on one thread with a runtime of its own, so that a load measured in the same process has its threads to itself. What
//! waits (the history, a target that is looked at) waits on other threads. A browser that goes away in the middle is noticed by
//! what it no longer takes, and costs nothing but that. Whoever has not shown the token can fill some of the places, never all.
//!
//! Invariant: nothing is looked at of a request before [`Guard`] admitted it, and nothing is told to who has no token where there
//! is one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::Method;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::{Notify, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::answer::{self, Answer, Problem};
use crate::api::{self, Courses, Query, Request};
use crate::connection::Connection;
use crate::guard::Changes;
use crate::route::{Led, lead};
use crate::{Backend, Guard, Live, OPENAPI, Operation, ROUTES};

/// A browser opens six for a page.
const CONNECTIONS_MAX: usize = 64;
/// Of these, so many may belong to whoever has not shown the token: for one more the oldest goes, so that whoever says nothing locks
/// nobody out.
const STRANGERS_MAX: usize = 16;
/// And so long: a page asks for the token at once.
const STRANGER_TIMEOUT: Duration = Duration::from_secs(30);
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// A test with a body to send is the largest that comes.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Listeners that are gone are noticed by this, and proxies keep the connection.
const STILL_HERE: Duration = Duration::from_secs(15);
/// So many events wait for a slow listener; what it misses meanwhile is kept elsewhere.
const EVENTS_WAITING: usize = 16;

/// What a server serves.
pub struct ServerConfig {
    /// Who may ask.
    pub guard: Guard,
    /// What happens right now.
    pub live: Live,
    /// The history and the means to start; without one there is only the run under way.
    pub desk: Option<Arc<dyn Backend>>,
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shut: watch::Sender<Shut>,
    thread: JoinHandle<()>,
}

/// Whether it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shut {
    Open,
    /// Ends once answers under way have been told, or after this long.
    Within(Duration),
}

impl Server {
    /// Serves at a listener that is bound already, so that a port that is taken is told before anything else happens.
    ///
    /// # Errors
    /// If the system gives no thread or no runtime.
    pub fn start(listener: TcpListener, house: ServerConfig) -> io::Result<Self> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let (shut, shutting) = watch::channel(Shut::Open);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let thread = std::thread::Builder::new().name("pages".to_owned()).spawn(move || {
            runtime.block_on(serve(listener, Arc::new(Shared::of(house)), shutting));
            runtime.shutdown_background();
        })?;
        Ok(Self { address, shut, thread })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes nothing new, and ends once all that is under way has been told, or after this long.
    pub fn finish(self, within: Duration) {
        self.shut.send_replace(Shut::Within(within));
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

struct Shared {
    house: ServerConfig,
    courses: Courses,
}

impl Shared {
    fn of(house: ServerConfig) -> Self {
        Self { house, courses: Courses::default() }
    }
}

/// Connections that have not shown the token, in the order in which they came.
#[derive(Default)]
struct Strangers(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    came: u64,
    here: BTreeMap<u64, Arc<Notify>>,
}

/// One of them, for as long as it is one.
struct Stranger {
    strangers: Arc<Strangers>,
    number: u64,
}

impl Strangers {
    /// One more; where there are too many, the oldest is told to go. With it comes what tells it the same one day.
    fn come(self: &Arc<Self>) -> (Stranger, Arc<Notify>) {
        let mut waiting = self.waiting();
        if waiting.here.len() >= STRANGERS_MAX
            && let Some((_, oldest)) = waiting.here.pop_first()
        {
            oldest.notify_one();
        }
        let (number, has_to_go) = (waiting.came, Arc::new(Notify::new()));
        waiting.came += 1;
        waiting.here.insert(number, has_to_go.clone());
        (Stranger { strangers: self.clone(), number }, has_to_go)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.strangers.waiting().here.remove(&self.number);
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>, mut shutting: watch::Receiver<Shut>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("the listener was made non-blocking");
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let strangers = Arc::new(Strangers::default());
    let mut connections = JoinSet::new();
    let within = loop {
        let place = places.clone().acquire_owned();
        let accepted = tokio::select! {
            accepted = async { (place.await, listener.accept().await) } => accepted,
            _ = shutting.changed() => match *shutting.borrow() {
                Shut::Within(within) => break within,
                Shut::Open => continue,
            },
            // What has ended is let go.
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
        };
        let (Ok(place), Ok((stream, _))) = accepted else {
            // Too few files, for instance: others may free some.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (shared, mut shutting) = (shared.clone(), shutting.clone());
        let (stranger, has_to_go) = strangers.come();
        connections.spawn(async move {
            let _place = place;
            // Held until the token is shown.
            let stranger = Arc::new(Mutex::new(Some(stranger)));
            let service = service_fn(|request: hyper::Request<Incoming>| {
                let (shared, stranger) = (shared.clone(), stranger.clone());
                async move {
                    if shared.house.guard.know(request.headers()).is_ok() {
                        drop(stranger.lock().unwrap_or_else(PoisonError::into_inner).take());
                    }
                    Ok::<_, Infallible>(answered(&shared, request).await)
                }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(Connection::new(stream)), service);
            tokio::pin!(connection);
            let overstays = async {
                tokio::time::sleep(STRANGER_TIMEOUT).await;
                if stranger.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
                    std::future::pending::<()>().await;
                }
            };
            // A browser that goes away is no error of ours.
            let stays = async {
                tokio::select! {
                    _ = connection.as_mut() => {}
                    () = overstays => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                    () = async { drop(shutting.wait_for(|shut| *shut != Shut::Open).await) } => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
            };
            tokio::select! {
                () = stays => {}
                () = has_to_go.notified() => {}
            }
        });
    };
    drop(listener);
    let _ = timeout(within, async { while connections.join_next().await.is_some() {} }).await;
}

async fn answered(shared: &Arc<Shared>, request: hyper::Request<Incoming>) -> Answer {
    match judged(shared, request).await {
        Ok(answer) => answer,
        Err(problem) => problem.into(),
    }
}

async fn judged(shared: &Arc<Shared>, request: hyper::Request<Incoming>) -> Result<Answer, Problem> {
    let house = &shared.house;
    let (head, body) = request.into_parts();
    let led = lead(&head.method, head.uri.path());
    let changes = match &led {
        Led::To(Operation::Page | Operation::Script | Operation::Style, _) => Changes::Page,
        _ if head.method == Method::GET => Changes::Nothing,
        _ => Changes::Something,
    };
    house.guard.admit(&head.headers, changes)?;
    let is_open = matches!(&led, Led::To(operation, _) if operation.is_open());
    if !is_open {
        house.guard.know(&head.headers)?;
    }
    let (operation, run) = match led {
        Led::To(operation, run) => (operation, run),
        Led::OtherMethod(methods) => return Err(Problem::other_method(methods)),
        Led::Nowhere => return Err(Problem::missing("there is nothing at this address", "begin at /, or see /api/v1/openapi.json")),
    };
    let query = Query::new(head.uri.query().unwrap_or_default());
    let takes_body = ROUTES.iter().any(|route| route.operation == operation && route.method.name() == "POST")
        && !matches!(operation, Operation::Stop | Operation::Remove);
    let body = if takes_body { received(&head.headers, body).await? } else { Bytes::new() };
    match operation {
        Operation::Page => Ok(answer::asset(
            "text/html; charset=utf-8",
            pages::shell(if house.desk.is_some() { pages::Shell::All } else { pages::Shell::OneRun }),
        )),
        Operation::Script => Ok(answer::asset("text/javascript; charset=utf-8", pages::APP_SCRIPT)),
        Operation::Style => Ok(answer::asset("text/css; charset=utf-8", pages::APP_STYLE)),
        Operation::Describe => Ok(answer::asset("application/json", OPENAPI)),
        Operation::SignIn => Ok(answer::nothing(house.guard.sign_in(&api::token_in(&body)?)?.as_deref())),
        Operation::State => Ok(api::state(&house.live)),
        Operation::Stop => api::stop(&house.live),
        Operation::Stream => stream(&house.live, &head.headers),
        _ => {
            let Some(desk) = house.desk.clone() else {
                return Err(Problem::missing("this server shows one run, and keeps no history", "see all of them with loadline serve"));
            };
            let shared = shared.clone();
            let request = Request { operation, run, query, body };
            let work = move || api::answer(&*desk, &shared.house.live, &shared.courses, request);
            // Whoever panics there has told standard error why.
            tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(Problem::ours()))
        }
    }
}

/// What was sent, if it is JSON, of a bearable size, and comes.
async fn received(headers: &HeaderMap, body: Incoming) -> Result<Bytes, Problem> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        return Err(Problem::other_kind());
    }
    match timeout(BODY_TIMEOUT, Limited::new(body, BODY_BYTES_MAX).collect()).await {
        Err(_) => Err(Problem::too_slow()),
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(why)) if why.is::<LengthLimitError>() => {
            Err(Problem::too_large(format!("what was sent is larger than {BODY_BYTES_MAX} bytes"), "send less"))
        }
        Ok(Err(_)) => Err(Problem::unreadable("what was sent broke off", "send it again")),
    }
}

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Everything that happens, from the event on that the listener saw last.
fn stream(live: &Live, headers: &HeaderMap) -> Result<Answer, Problem> {
    let seen = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok()).unwrap_or(0);
    let (events, is_over) = live.since(seen);
    if events.is_empty() && is_over {
        // With this a browser stops asking: https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model
        return Ok(answer::nothing(None));
    }
    let (sender, receiver) = mpsc::channel(EVENTS_WAITING);
    tokio::spawn(tell(live.clone(), seen, sender));
    Ok(answer::events(receiver))
}

/// Tells until the run is over, or nobody listens any more.
async fn tell(live: Live, mut seen: u64, listener: mpsc::Sender<Bytes>) {
    let mut news = live.listen();
    loop {
        news.borrow_and_update();
        let (events, is_over) = live.since(seen);
        for event in events {
            seen = event.number();
            if listener.send(event.bytes).await.is_err() {
                return;
            }
        }
        if is_over {
            return;
        }
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(STILL_HERE) => {
                if listener.send(Bytes::from_static(b": still here\n\n")).await.is_err() {
                    return;
                }
            }
            () = listener.closed() => return,
        }
    }
}
