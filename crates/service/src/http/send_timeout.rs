//! Minimum transfer rate: a client must send a body, or read an answer, at `LEAST` bytes per time span or faster.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Minimum bytes per time span.
pub(super) const LEAST: usize = 1 << 10;

/// Output stream that fails if the peer reads too slowly.
pub(super) struct TimedStream<S> {
    stream: S,
    span: Duration,
    /// Deadline, set when the peer does not accept data.
    late: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the deadline was set.
    written: usize,
}

impl<S> TimedStream<S> {
    pub(super) const fn new(stream: S, span: Duration) -> Self {
        Self { stream, span, late: None, written: 0 }
    }

    /// Returns the result of a write of `wanted` bytes, or an error if the deadline has passed.
    fn account(
        &mut self,
        context: &mut Context<'_>,
        wanted: usize,
        result: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(written)) = &result {
            self.written += written;
            if *written == wanted || self.written >= LEAST {
                self.late = None;
            }
        }
        if result.is_ready() {
            return result;
        }
        let span = self.span;
        if self.late.is_none() {
            self.written = 0;
        }
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(span)));
        ready!(late.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.account(context, bytes.len(), result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Returns a body that fails if the client sends too slowly.
pub(super) fn timed_body(body: Body, span: Duration) -> Body {
    Body::new(TimedBody { body, span, late: Box::pin(sleep(span)), got: 0 })
}

struct TimedBody {
    body: Body,
    span: Duration,
    late: Pin<Box<Sleep>>,
    got: usize,
}

impl hyper::body::Body for TimedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let mut next = this.body.frame();
        if let Poll::Ready(frame) = Pin::new(&mut next).poll(context) {
            let bytes = frame.as_ref().and_then(|it| it.as_ref().ok()?.data_ref());
            this.got += bytes.map_or(0, Bytes::len);
            if this.got >= LEAST {
                this.got = 0;
                this.late.as_mut().reset(Instant::now() + this.span);
            }
            return Poll::Ready(frame);
        }
        ready!(this.late.as_mut().poll(context));
        Poll::Ready(Some(Err(axum::Error::new(io::Error::from(io::ErrorKind::TimedOut)))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}
