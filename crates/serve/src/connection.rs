//! A connection to a browser that has to take what it asked for.
//!
//! Connections are few, and one that asks and never reads would keep its place for good: what is written to it waits, and nothing
//! else of it does. A limit on the whole answer was rejected, as a large page takes its time on a slow line; so it is a limit on
//! standing still: within [`WITHIN`] either all that waits is taken, or [`BYTES_MIN`] of it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A browser that is asleep on a telephone is not waited for.
const WITHIN: Duration = Duration::from_secs(10);
/// About the slowest line on which a page is still a page.
const BYTES_MIN: usize = 64 << 10;

/// A stream that fails once it is not taken from any more.
pub(crate) struct Connection<S> {
    stream: S,
    timer: Pin<Box<Sleep>>,
    /// What was taken since the other end began to lag behind, if it does.
    behind: Option<usize>,
}

impl<S: Unpin> Connection<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, timer: Box::pin(sleep(WITHIN)), behind: None }
    }

    /// What a write came to; a wait has an end.
    fn written(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.behind = self.behind.map(|taken| taken + bytes).filter(|taken| *taken < BYTES_MIN);
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(why)) => Poll::Ready(Err(why)),
            Poll::Pending => {
                if self.behind.is_none() {
                    self.behind = Some(0);
                    self.timer.as_mut().reset(Instant::now() + WITHIN);
                }
                ready!(self.timer.as_mut().poll(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, pieces: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called when nothing waits any more.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if flushed.is_ready() {
            self.behind = None;
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    /// Writes so much to a reader that takes so many bytes a second.
    async fn write(bytes: usize, a_second: usize) -> io::Result<()> {
        let (near, mut far) = duplex(1 << 10);
        let reader = tokio::spawn(async move {
            let mut held = vec![0; a_second.max(1)];
            while a_second > 0 && far.read_exact(&mut held).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
            std::future::pending::<()>().await;
        });
        let mut connection = Connection::new(near);
        let written = async {
            connection.write_all(&vec![0; bytes]).await?;
            connection.flush().await
        };
        let written = written.await;
        reader.abort();
        written
    }

    #[test]
    fn whoever_takes_nothing_is_let_go_and_whoever_is_slow_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let began = Instant::now();
            assert_eq!(write(1 << 20, 0).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
            assert!((WITHIN..WITHIN * 2).contains(&began.elapsed()), "{:?}", began.elapsed());
            assert_eq!(write(1 << 20, 1 << 10).await.unwrap_err().kind(), io::ErrorKind::TimedOut, "drop by drop");
            write(1 << 20, 8 << 10).await.expect("128 s for a page on a slow line");
            write(1 << 10, 0).await.expect("it all found room");
        });
    }
}
