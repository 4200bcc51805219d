//! Slots for open connections. If all slots without the token are taken, or too many by one address, the oldest such
//! connection is closed for the new one. Connections with the token are counted separately and never closed this way.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Limits on open connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// Maximum number of connections without the token, and maximum number with it.
    pub(super) each: usize,
    /// Maximum number of connections without the token per address.
    pub(super) by_address: usize,
}

/// Open connections.
#[derive(Debug)]
pub(super) struct Places {
    most: Most,
    /// Sorted by arrival.
    open: Mutex<Vec<Arc<Seat>>>,
}

#[derive(Debug)]
struct Seat {
    /// `None` if the address does not identify the client: for Unix sockets and proxies.
    address: Option<IpAddr>,
    end: Notify,
    /// True if the connection has shown the token.
    is_known: AtomicBool,
}

/// Slot of a connection; dropping it frees the slot.
#[derive(Debug)]
pub(super) struct Place {
    seat: Arc<Seat>,
    places: Arc<Places>,
}

/// Connection of a request.
#[derive(Clone, Debug)]
pub(super) struct Peer(Arc<Place>);

impl Seat {
    fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }
}

impl Places {
    pub(super) fn new(most: Most) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, Vec<Arc<Seat>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a slot for a connection; closes the oldest one without the token if there is no free slot.
    pub(super) fn take(self: &Arc<Self>, address: Option<IpAddr>) -> Place {
        let mut open = self.open();
        let unknown = |seat: &Arc<Seat>| !seat.is_known();
        let same = |seat: &Arc<Seat>| unknown(seat) && address.is_some() && seat.address == address;
        let too_many = |open: &[Arc<Seat>], wanted: &dyn Fn(&Arc<Seat>) -> bool, most| {
            let first = open.iter().position(wanted);
            first.filter(|_| open.iter().filter(|seat| wanted(seat)).count() >= most)
        };
        let oldest = too_many(&open, &same, self.most.by_address)
            .or_else(|| too_many(&open, &unknown, self.most.each));
        if let Some(oldest) = oldest {
            open.remove(oldest).end.notify_one();
        }
        let seat = Arc::new(Seat { address, end: Notify::new(), is_known: AtomicBool::new(false) });
        open.push(Arc::clone(&seat));
        drop(open);
        Place { seat, places: Arc::clone(self) }
    }
}

impl Place {
    /// Waits until the slot is given to another connection.
    pub(super) async fn ended(&self) {
        self.seat.end.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.open().retain(|seat| !Arc::ptr_eq(seat, &self.seat));
    }
}

impl Peer {
    pub(super) fn new(place: Place) -> Self {
        Self(Arc::new(place))
    }

    pub(super) fn place(&self) -> &Place {
        &self.0
    }

    /// Records that the connection has shown the token, unless the limit of such connections is reached.
    pub(super) fn note_token(&self) {
        let open = self.0.places.open();
        if open.iter().filter(|seat| seat.is_known()).count() < self.0.places.most.each {
            self.0.seat.is_known.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_without_the_token_gives_way() {
        let places = Places::new(Most { each: 3, by_address: 2 });
        let address = |last| Some(IpAddr::from([10, 0, 0, last]));
        let count = |wanted| places.open().iter().filter(|it| it.address == wanted).count();
        let first = Peer::new(places.take(address(1)));
        first.note_token();
        let two: Vec<Place> = (0..3).map(|_| places.take(address(1))).collect();
        // One with the token, and two without it.
        assert_eq!((count(address(1)), places.open().len()), (3, 3));
        let more = [places.take(address(2)), places.take(None), places.take(None)];
        assert_eq!((count(address(1)), count(address(2)), count(None)), (1, 1, 2));
        drop(two);
        assert_eq!(places.open().len(), 4);
        drop((first, more));
        assert_eq!(places.open().len(), 0);
    }
}
