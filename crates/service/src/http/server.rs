//! Connections: bounded in number, in size of request headers, and in time for each step.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};

use super::connections::{ConnectionLimits, Connections, Peer};
use super::send_timeout::{TimedStream, timed_body};

/// Maximum number of connections without the token, and maximum number with it, if the process has enough descriptors.
pub(super) const CONNECTIONS: usize = 100;

/// Maximum number of connections without the token per address.
const BY_ADDRESS: usize = 50;

/// Maximum number of descriptors per connection: its socket, a file being read, a file being written.
const DESCRIPTORS: u64 = 3;

/// Descriptors reserved for everything else: workers, jobs, listings.
const OTHERS: u64 = 100;

/// Time limit for a client to send or read the next bytes of a body.
const SPAN: Duration = Duration::from_secs(30);

/// Time limit for the header of a request, and for an idle connection.
const HEAD: Duration = Duration::from_secs(30);

/// Maximum bytes of a request header.
const HEAD_BYTES: usize = 16 << 10;

/// Maximum number of headers of a request.
const HEADERS: usize = 64;

/// Time limit for running answers when the service stops.
const GRACE: Duration = Duration::from_secs(10);

/// Listening socket.
#[derive(Debug)]
pub(crate) enum Listener {
    /// TCP address of this host.
    Tcp(TcpListener),
    /// Unix socket in the file system.
    Unix(UnixListener),
}

/// Connection of either kind.
trait Connection: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Connection for T {}

impl Listener {
    async fn accept(&self) -> io::Result<(Box<dyn Connection>, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok((Box::new(stream), Some(peer.ip().to_canonical())))
            }
            Self::Unix(listener) => Ok((Box::new(listener.accept().await?.0), None)),
        }
    }
}

/// Returns the limits on connections, reduced so that the process has enough descriptors for all of them.
fn most() -> ConnectionLimits {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let each = descriptors.saturating_sub(OTHERS) / DESCRIPTORS / 2;
    let each = usize::try_from(each).unwrap_or(CONNECTIONS).clamp(4, CONNECTIONS);
    ConnectionLimits { each, by_address: each.min(BY_ADDRESS) }
}

/// Limits on connections.
#[derive(Debug)]
pub(crate) struct ConnectionPolicy {
    most: ConnectionLimits,
    span: Duration,
    /// Addresses of proxies, each shared by many clients.
    proxies: Vec<IpAddr>,
}

impl ConnectionPolicy {
    pub(crate) fn new(proxies: Vec<IpAddr>) -> Self {
        Self { most: most(), span: SPAN, proxies }
    }
}

/// Serves connections until `stopping` is set; then lets running answers finish within `GRACE`.
pub(crate) async fn serve_connections(
    listener: Listener,
    router: Router,
    policy: ConnectionPolicy,
    mut stopping: watch::Receiver<bool>,
) {
    let ConnectionPolicy { most, span, proxies } = policy;
    let places = Connections::new(most);
    // A connection that was told to close may take a moment, so the total exceeds the limits.
    let all = 2 * most.each + most.each / 2;
    let running = Arc::new(Semaphore::new(all));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    http.max_buf_size(HEAD_BYTES).max_headers(HEADERS);
    loop {
        let permit = Arc::clone(&running).acquire_owned().await;
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        let Ok((stream, address)) = accepted else {
            // The process is out of descriptors, or the peer is gone: an immediate retry would not help.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let address = address.filter(|address| !proxies.contains(address));
        let peer = Peer::new(places.take(address));
        let (known, inner) = (peer.clone(), TowerToHyperService::new(router.clone()));
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| timed_body(Body::new(body), span));
            request.extensions_mut().insert(known.clone());
            inner.call(request)
        });
        let connection =
            http.serve_connection(TokioIo::new(TimedStream::new(stream, span)), service);
        let mut stopping = stopping.clone();
        tokio::spawn(async move {
            let _permit = permit;
            tokio::pin!(connection);
            tokio::select! {
                // Errors of a connection are of interest to its client only.
                _ = connection.as_mut() => return,
                () = peer.connection().ended() => return,
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        });
    }
    drop(listener);
    let all = u32::try_from(all).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(GRACE, running.acquire_many(all)).await;
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use axum::body::Bytes;
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;

    /// Returns how long the service keeps a connection that sends `text` and reads at most one piece of the answer.
    async fn timed(text: &str) -> Duration {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let large = get(|| async { vec![0_u8; 16 << 20] });
        let router = Router::new().route("/large", large).route("/", post(|_: Bytes| async {}));
        let span = Duration::from_millis(200);
        let policy = ConnectionPolicy {
            most: ConnectionLimits { each: 4, by_address: 4 },
            span,
            proxies: Vec::new(),
        };
        let (stop, stopping) = watch::channel(false);
        let served =
            tokio::spawn(serve_connections(Listener::Tcp(listener), router, policy, stopping));
        let begin = Instant::now();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        // A stopping service waits for its connections.
        stop.send(true).unwrap();
        served.await.unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(rest.len() < 16 << 20, "{}", rest.len());
        begin.elapsed()
    }

    #[tokio::test]
    async fn bodies_and_answers_must_go_on() {
        let body = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{";
        for text in [body, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"] {
            let timed = timed(text).await;
            let range = Duration::from_millis(100)..Duration::from_secs(5);
            assert!(range.contains(&timed), "{text}: {timed:?}");
        }
    }
}
