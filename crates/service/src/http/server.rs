//! Connections: so many at a time, with heads of a bounded size that must come in time.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};

/// Connections at a time.
pub(super) const CONNECTIONS: usize = 100;

/// How long the head of a request may take, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(30);

/// Bytes of a head.
const HEAD_BYTES: usize = 16 << 10;

/// Headers of a request.
const HEADERS: usize = 64;

/// How long answers that are under way may take when the service stops.
const GRACE: Duration = Duration::from_secs(10);

/// Where connections come in.
#[derive(Debug)]
pub(crate) enum Listener {
    /// An address of the machine.
    Tcp(TcpListener),
    /// A socket in the file system.
    Unix(UnixListener),
}

/// A connection of either kind.
trait Connection: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Connection for T {}

impl Listener {
    async fn accept(&self) -> io::Result<Box<dyn Connection>> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
            Self::Unix(listener) => Ok(Box::new(listener.accept().await?.0)),
        }
    }
}

/// Answers connections until `stopping` says so; then what is under way is finished, as far as it is quick.
pub(crate) async fn serve_connections(
    listener: Listener,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    http.max_buf_size(HEAD_BYTES).max_headers(HEADERS);
    loop {
        // Who comes when all places are taken waits in the system's queue.
        let place = Arc::clone(&places).acquire_owned().await;
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        let Ok(stream) = accepted else {
            // Out of descriptors, or the peer was gone: neither is helped by asking at once again.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let mut stopping = stopping.clone();
        tokio::spawn(async move {
            let _place = place;
            tokio::pin!(connection);
            tokio::select! {
                // A broken connection is the client's affair.
                _ = connection.as_mut() => return,
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        });
    }
    drop(listener);
    let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(GRACE, places.acquire_many(all)).await;
}
