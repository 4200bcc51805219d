//! First message to a worker.

use std::io;
use std::os::unix::net::UnixStream;

use options::Options;
use serde::{Deserialize, Serialize};

use crate::protocol::Receiver;

/// Operator's options for a worker. Hint files, and the names of servers in the environment, have already been read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSetup {
    /// Options for reading recordings, except those of a request.
    pub options: Options,
    /// True if recordings are untrusted: then files that they name are not opened.
    pub foreign: bool,
}

impl WorkerSetup {
    /// Waits for the first message on a worker's socket. `None` if the front is gone.
    ///
    /// # Errors
    /// If the socket fails, or the message has another form.
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
