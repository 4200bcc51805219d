//! The first message to a worker.

use std::io;
use std::os::unix::net::UnixStream;

use options::Options;
use serde::{Deserialize, Serialize};

use super::channel::Receiver;

/// The operator's options for a worker. Files with hints and servers of the environment have been read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSetup {
    /// How recordings are read, except for the choices of a request.
    pub options: Options,
    /// Whether recordings are untrusted: then nothing is opened that one names.
    pub foreign: bool,
}

impl WorkerSetup {
    /// Waits for the first message at a worker's socket. `None` if the front is gone.
    ///
    /// # Errors
    /// If the socket breaks, or the message is something else.
    pub fn receive(socket: &UnixStream) -> io::Result<Option<Self>> {
        let receiver = Receiver::new(socket.try_clone()?);
        Ok(receiver.receive::<Self>()?.map(|(setup, _)| setup))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Sender, pair};

    #[test]
    fn the_options_arrive_unchanged() {
        let setup = WorkerSetup { options: options::every_option(), foreign: true };
        let (front, worker) = pair().unwrap();
        Sender::new(front).send(&setup, &[]).unwrap();
        assert_eq!(WorkerSetup::receive(&worker).unwrap(), Some(setup));
        assert_eq!(WorkerSetup::receive(&worker).unwrap(), None);
    }
}
