//! Slots for open connections. If all slots without the token are taken, or too many by one address, the oldest such
//! connection is closed for the new one. Connections with the token are counted separately and never closed this way.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Limits on open connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionLimits {
    /// Maximum number of connections without the token, and maximum number with it.
    pub(super) each: usize,
    /// Maximum number of connections without the token per address.
    pub(super) by_address: usize,
}

/// Open connections.
#[derive(Debug)]
pub(super) struct Connections {
    limits: ConnectionLimits,
    /// Sorted by arrival.
    open: Mutex<Vec<Arc<OpenConnection>>>,
}

#[derive(Debug)]
struct OpenConnection {
    /// `None` if the address does not identify the client: for Unix sockets and proxies.
    address: Option<IpAddr>,
    end: Notify,
    /// True if the connection has shown the token.
    is_authenticated: AtomicBool,
}

/// Slot of a connection; dropping it frees the slot.
#[derive(Debug)]
pub(super) struct ConnectionGuard {
    connection: Arc<OpenConnection>,
    connections: Arc<Connections>,
}

/// Connection of a request.
#[derive(Clone, Debug)]
pub(super) struct Peer(Arc<ConnectionGuard>);

impl OpenConnection {
    fn is_authenticated(&self) -> bool {
        self.is_authenticated.load(Ordering::Relaxed)
    }
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Arc<OpenConnection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a slot for a connection; closes the oldest one without the token if there is no free slot.
    pub(super) fn take(self: &Arc<Self>, address: Option<IpAddr>) -> ConnectionGuard {
        let mut open = self.open();
        let unknown = |connection: &Arc<OpenConnection>| !connection.is_authenticated();
        let same = |connection: &Arc<OpenConnection>| {
            unknown(connection) && address.is_some() && connection.address == address
        };
        let too_many = |open: &[Arc<OpenConnection>],
                        wanted: &dyn Fn(&Arc<OpenConnection>) -> bool,
                        limits| {
            let first = open.iter().position(wanted);
            first.filter(|_| open.iter().filter(|connection| wanted(connection)).count() >= limits)
        };
        let oldest = too_many(&open, &same, self.limits.by_address)
            .or_else(|| too_many(&open, &unknown, self.limits.each));
        if let Some(oldest) = oldest {
            open.remove(oldest).end.notify_one();
        }
        let connection = Arc::new(OpenConnection {
            address,
            end: Notify::new(),
            is_authenticated: AtomicBool::new(false),
        });
        open.push(Arc::clone(&connection));
        drop(open);
        ConnectionGuard { connection, connections: Arc::clone(self) }
    }
}

impl ConnectionGuard {
    /// Waits until the slot is given to another connection.
    pub(super) async fn ended(&self) {
        self.connection.end.notified().await;
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.connections.open().retain(|connection| !Arc::ptr_eq(connection, &self.connection));
    }
}

impl Peer {
    pub(super) fn new(connection: ConnectionGuard) -> Self {
        Self(Arc::new(connection))
    }

    pub(super) fn connection(&self) -> &ConnectionGuard {
        &self.0
    }

    /// Records that the connection has shown the token, unless the limit of such connections is reached.
    pub(super) fn note_token(&self) {
        let open = self.0.connections.open();
        if open.iter().filter(|connection| connection.is_authenticated()).count()
            < self.0.connections.limits.each
        {
            self.0.connection.is_authenticated.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_without_the_token_gives_way() {
        let connections = Connections::new(ConnectionLimits { each: 3, by_address: 2 });
        let address = |last| Some(IpAddr::from([10, 0, 0, last]));
        let count = |wanted| connections.open().iter().filter(|it| it.address == wanted).count();
        let first = Peer::new(connections.take(address(1)));
        first.note_token();
        let two: Vec<ConnectionGuard> = (0..3).map(|_| connections.take(address(1))).collect();
        // One with the token, and two without it.
        assert_eq!((count(address(1)), connections.open().len()), (3, 3));
        let more = [connections.take(address(2)), connections.take(None), connections.take(None)];
        assert_eq!((count(address(1)), count(address(2)), count(None)), (1, 1, 2));
        drop(two);
        assert_eq!(connections.open().len(), 4);
        drop((first, more));
        assert_eq!(connections.open().len(), 0);
    }
}
