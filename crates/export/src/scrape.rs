//! The endpoint that Prometheus scrapes.
//!
//! A thread with a small runtime answers `GET /metrics` from a copy of the board. Everything else is told where to look.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};

use crate::Delivered;
use crate::board::Shared;
use crate::text::{Dialect, text};

/// A scraper that sends no request for so long is let go.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// More scrapers than this at once are let wait: each costs a copy of the board.
const AT_ONCE_MAX: usize = 16;

pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Answers scrapes until the process ends. That is told at once: nobody waits for a scrape.
pub(crate) fn serve(listener: TcpListener, shared: Arc<Shared>) -> Receiver<Delivered> {
    let (tell, told) = channel();
    let started = thread::Builder::new().name("scrapes".to_owned()).spawn(move || {
        // Without a runtime nothing is answered, and the run goes on.
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(accept(listener, shared));
    });
    let delivered = match started {
        Ok(_) => Delivered { last: true, ..Delivered::default() },
        Err(error) => Delivered { tried: 1, failed: 1, why: error.to_string(), ..Delivered::default() },
    };
    // The receiver is at hand.
    let _ = tell.send(delivered);
    told
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let places = Arc::new(tokio::sync::Semaphore::new(AT_ONCE_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Out of descriptors: those are the run's.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let response = answer(&request, &shared);
                async move { Ok::<_, Infallible>(response) }
            });
            // A scraper that goes away has what it wanted, or comes again.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_PATIENCE)
                .serve_connection(TokioIo::new(stream), service)
                .await;
            drop(place);
        });
    }
}

fn answer<B>(request: &Request<B>, shared: &Shared) -> Response<Full<Bytes>> {
    let plain = |status: StatusCode, text: &'static str| {
        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, "text/plain; charset=utf-8".parse().expect("a constant"));
        response
    };
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "The metrics of this run of loadline are at /metrics.\n");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Metrics can only be read.\n");
        response.headers_mut().insert(ALLOW, "GET, HEAD".parse().expect("a constant"));
        return response;
    }
    let accepted = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let dialect = Dialect::accepted(accepted);
    let mut response = Response::new(Full::new(Bytes::from(text(&shared.read(), dialect))));
    response.headers_mut().insert(CONTENT_TYPE, dialect.content_type().parse().expect("a constant"));
    response
}
