//! An open connection: TCP, a Unix socket, or TLS over either.
//!
//! A lane reads and writes without knowing which it has. A boxed trait object would cost an indirect call on every
//! read of the plainest and fastest case; here that case is one comparison away.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// An open connection to the target.
#[derive(Debug)]
pub enum Stream {
    /// Plain TCP.
    Tcp(TcpStream),
    /// A socket in the file system.
    Unix(UnixStream),
    /// TLS, the handshake done.
    Tls(Box<TlsStream<Transport>>),
    /// QUIC, which carries streams of its own: nothing is read from and written to this one.
    #[cfg(feature = "http3")]
    Quic(super::Quic),
}

/// What TLS is spoken over. It keeps the first bytes it read: they tell what answered if it was not TLS.
#[derive(Debug)]
pub struct Transport {
    socket: Socket,
    heard: [u8; HEARD_BYTES],
    heard_len: usize,
}

/// Enough to recognise `HTTP/`.
const HEARD_BYTES: usize = 5;

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Transport {
    pub(super) fn tcp(stream: TcpStream) -> Self {
        Self { socket: Socket::Tcp(stream), heard: [0; HEARD_BYTES], heard_len: 0 }
    }

    pub(super) fn unix(stream: UnixStream) -> Self {
        Self { socket: Socket::Unix(stream), heard: [0; HEARD_BYTES], heard_len: 0 }
    }

    /// The first bytes read, up to five.
    pub(super) fn heard(&self) -> &[u8] {
        &self.heard[..self.heard_len]
    }

    /// What was read so far was said by somebody in between.
    pub(super) fn forget_heard(&mut self) {
        self.heard_len = 0;
    }

    /// Without TLS.
    pub(super) fn plain(self) -> Stream {
        match self.socket {
            Socket::Tcp(stream) => Stream::Tcp(stream),
            Socket::Unix(stream) => Stream::Unix(stream),
        }
    }
}

/// For socket options and half-closing.
impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
            Self::Tls(stream) => match &stream.get_ref().0.socket {
                Socket::Tcp(stream) => stream.as_fd(),
                Socket::Unix(stream) => stream.as_fd(),
            },
            #[cfg(feature = "http3")]
            Self::Quic(quic) => quic.as_fd(),
        }
    }
}

/// Calls a method on whichever stream it is, unless it is one of QUIC.
macro_rules! each {
    ($value:expr, Stream: $($case:ident)|+, $stream:ident => $call:expr, else $nothing:expr) => {
        match $value {
            $(Stream::$case($stream) => $call,)+
            #[cfg(feature = "http3")]
            Stream::Quic(_) => $nothing,
        }
    };
    ($value:expr, $kind:ident: $($case:ident)|+, $stream:ident => $call:expr) => {
        match $value { $($kind::$case($stream) => $call,)+ }
    };
}

impl AsyncRead for Stream {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), Stream: Tcp | Unix | Tls, stream => Pin::new(stream).poll_read(context, buffer), else Poll::Ready(Ok(())))
    }
}

impl AsyncWrite for Stream {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(self.get_mut(), Stream: Tcp | Unix | Tls, stream => Pin::new(stream).poll_write(context, bytes), else Poll::Ready(Ok(0)))
    }

    #[inline]
    fn poll_write_vectored(self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        each!(self.get_mut(), Stream: Tcp | Unix | Tls, stream => Pin::new(stream).poll_write_vectored(context, slices), else Poll::Ready(Ok(0)))
    }

    #[inline]
    fn is_write_vectored(&self) -> bool {
        each!(self, Stream: Tcp | Unix | Tls, stream => stream.is_write_vectored(), else false)
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), Stream: Tcp | Unix | Tls, stream => Pin::new(stream).poll_flush(context), else Poll::Ready(Ok(())))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), Stream: Tcp | Unix | Tls, stream => Pin::new(stream).poll_shutdown(context), else Poll::Ready(Ok(())))
    }
}

impl AsyncRead for Transport {
    #[inline]
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = each!(&mut this.socket, Socket: Tcp | Unix, stream => Pin::new(stream).poll_read(context, buffer));
        if this.heard_len < HEARD_BYTES {
            let new = &buffer.filled()[before..];
            let new = &new[..new.len().min(HEARD_BYTES - this.heard_len)];
            this.heard[this.heard_len..][..new.len()].copy_from_slice(new);
            this.heard_len += new.len();
        }
        polled
    }
}

impl AsyncWrite for Transport {
    #[inline]
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each!(&mut self.get_mut().socket, Socket: Tcp | Unix, stream => Pin::new(stream).poll_write(context, bytes))
    }

    #[inline]
    fn poll_write_vectored(self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        // rustls hands over its one record as a list of one: a plain send is the cheaper system call.
        if let [bytes] = slices {
            return self.poll_write(context, bytes);
        }
        each!(&mut self.get_mut().socket, Socket: Tcp | Unix, stream => Pin::new(stream).poll_write_vectored(context, slices))
    }

    #[inline]
    fn is_write_vectored(&self) -> bool {
        each!(&self.socket, Socket: Tcp | Unix, stream => stream.is_write_vectored())
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(&mut self.get_mut().socket, Socket: Tcp | Unix, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(&mut self.get_mut().socket, Socket: Tcp | Unix, stream => Pin::new(stream).poll_shutdown(context))
    }
}
