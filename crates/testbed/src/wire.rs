//! One accepted connection as bytes: TCP, TLS over TCP, or a Unix socket, with a choice of endings.
//!
//! HTTP libraries close connections politely. A server that resets them in the middle of a reply must reach below the
//! library, so the socket carries a switch that the request side can turn: with it turned, the socket is dropped with a
//! linger time of zero, which makes the kernel send a reset instead of a FIN and forget what was not yet sent.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

/// How a connection ends when it is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a FIN (and for TLS a close_notify, if HTTP gets so far).
    #[default]
    Orderly,
    /// With a reset. A Unix socket has none; its peer sees the end of the stream.
    Reset,
}

/// An accepted connection.
pub(crate) struct Wire {
    stream: Stream,
    ending: Rc<Cell<Ending>>,
}

pub(crate) enum Stream {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
}

impl Wire {
    pub(crate) fn new(stream: Stream, ending: Rc<Cell<Ending>>) -> Wire {
        Wire { stream, ending }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.ending.get() == Ending::Reset {
            // If the socket is already dead there is nothing left to reset.
            let _ = match &self.stream {
                Stream::Tcp(tcp) => tcp.set_zero_linger(),
                Stream::Tls(tls) => tls.get_ref().0.set_zero_linger(),
                #[cfg(unix)]
                Stream::Unix(_) => Ok(()),
            };
        }
    }
}

macro_rules! on_stream {
    ($self:ident, $stream:ident => $call:expr) => {
        match &mut $self.get_mut().stream {
            Stream::Tcp($stream) => {
                let $stream = Pin::new($stream);
                $call
            }
            Stream::Tls($stream) => {
                let $stream = Pin::new($stream);
                $call
            }
            #[cfg(unix)]
            Stream::Unix($stream) => {
                let $stream = Pin::new($stream);
                $call
            }
        }
    };
}

impl AsyncRead for Wire {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        on_stream!(self, stream => stream.poll_read(context, into))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        on_stream!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        on_stream!(self, stream => stream.poll_write_vectored(context, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Tcp(tcp) => tcp.is_write_vectored(),
            Stream::Tls(tls) => tls.is_write_vectored(),
            #[cfg(unix)]
            Stream::Unix(unix) => unix.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        on_stream!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ending.get() == Ending::Reset {
            return Poll::Ready(Ok(()));
        }
        on_stream!(self, stream => stream.poll_shutdown(context))
    }
}
