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
    use options::{CachePlace, FileSearch, Hint, Limits, Servers};

    use super::*;
    use crate::protocol::{Sender, pair};

    #[test]
    fn the_options_arrive_unchanged() {
        let options = Options {
            files: FileSearch {
                modules: vec!["m".into()],
                path_map: vec![(b"x\xff".to_vec(), b"y=".to_vec())],
                sysroots: vec!["s".into()],
                build_id_stores: vec!["b".into()],
                debug_dirs: vec!["d".into()],
                extra_dirs: vec!["e".into()],
                perf_map_dirs: vec!["p".into()],
                trust_perf_maps: true,
                debuginfod: Servers::of_list("http://h"),
                hints: vec![Hint::parse("o@1,2,3").unwrap()],
                ..FileSearch::default()
            },
            limits: Limits { memory: Some(1 << 30), jobs: std::num::NonZeroU16::new(3) },
            cache: Some(CachePlace::usual("names".into())),
            ..Options::default()
        };
        let setup = WorkerSetup { options, foreign: true };
        let (front, worker) = pair().unwrap();
        Sender::new(front).send(&setup, &[]).unwrap();
        assert_eq!(WorkerSetup::receive(&worker).unwrap(), Some(setup));
        assert_eq!(WorkerSetup::receive(&worker).unwrap(), None);
    }
}
