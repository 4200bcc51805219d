//! Connections: so many at a time, with heads of a bounded size, and all that must come or be taken in time.

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

use super::pace::{Paced, paced};
use super::places::{Most, Peer, Places};

/// Connections at a time without the token, and as many with it, if the process may have the descriptors.
pub(super) const CONNECTIONS: usize = 100;

/// Of those without it, how many one address may have.
const BY_ADDRESS: usize = 50;

/// Descriptors of a connection at most: itself, a file that is read for it, one that is written.
const DESCRIPTORS: u64 = 3;

/// Descriptors for everything else: workers, jobs, listings.
const OTHERS: u64 = 100;

/// How long a client may take for the next bytes of a body, sent or taken.
const SPAN: Duration = Duration::from_secs(30);

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

/// How many connections there may be, so that the process has descriptors for all of them.
fn most() -> Most {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let each = descriptors.saturating_sub(OTHERS) / DESCRIPTORS / 2;
    let each = usize::try_from(each).unwrap_or(CONNECTIONS).clamp(4, CONNECTIONS);
    Most { each, by_address: each.min(BY_ADDRESS) }
}

/// The limits of connections.
#[derive(Debug)]
pub(crate) struct Manners {
    most: Most,
    span: Duration,
    /// Addresses of proxies, which many clients share.
    proxies: Vec<IpAddr>,
}

impl Manners {
    pub(crate) fn new(proxies: Vec<IpAddr>) -> Self {
        Self { most: most(), span: SPAN, proxies }
    }
}

/// Answers connections until `stopping` says so; then what is under way is finished, as far as it is quick.
pub(crate) async fn serve_connections(
    listener: Listener,
    router: Router,
    manners: Manners,
    mut stopping: watch::Receiver<bool>,
) {
    let Manners { most, span, proxies } = manners;
    let places = Places::new(most);
    // Those that were told to end may need a moment.
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
            // Out of descriptors, or the peer was gone: neither is helped by asking at once again.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let address = address.filter(|address| !proxies.contains(address));
        let peer = Peer::new(places.take(address));
        let (known, inner) = (peer.clone(), TowerToHyperService::new(router.clone()));
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| paced(Body::new(body), span));
            request.extensions_mut().insert(known.clone());
            inner.call(request)
        });
        let connection = http.serve_connection(TokioIo::new(Paced::new(stream, span)), service);
        let mut stopping = stopping.clone();
        tokio::spawn(async move {
            let _permit = permit;
            tokio::pin!(connection);
            tokio::select! {
                // A broken connection is the client's affair.
                _ = connection.as_mut() => return,
                () = peer.place().ended() => return,
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

    /// How long the service keeps a connection that says this, and takes no more than one piece of the answer.
    async fn kept(text: &str) -> Duration {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let large = get(|| async { vec![0_u8; 16 << 20] });
        let router = Router::new().route("/large", large).route("/", post(|_: Bytes| async {}));
        let span = Duration::from_millis(200);
        let manners = Manners { most: Most { each: 4, by_address: 4 }, span, proxies: Vec::new() };
        let (stop, stopping) = watch::channel(false);
        let served =
            tokio::spawn(serve_connections(Listener::Tcp(listener), router, manners, stopping));
        let begin = Instant::now();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        // The service waits for its connections when it stops.
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
            let kept = kept(text).await;
            let range = Duration::from_millis(100)..Duration::from_secs(5);
            assert!(range.contains(&kept), "{text}: {kept:?}");
        }
    }
}
