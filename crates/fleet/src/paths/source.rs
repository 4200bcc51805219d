//! Source of the paths of a conversion.

use std::path::PathBuf;
use std::sync::Arc;

use super::list::ListedPaths;
use super::queue::Queue;
use super::watch::WatchedFolder;
use crate::error::Error;

/// Recordings that the arguments name, then those of a list, then those of a watched folder.
#[derive(Debug, Default)]
pub struct Source {
    /// Paths of recordings.
    pub recordings: Vec<PathBuf>,
    /// A list of paths.
    pub list: Option<ListedPaths>,
    /// A folder, whose finished recordings are taken until the queue is stopped.
    pub watched: Option<WatchedFolder>,
}

impl Source {
    /// Starts a thread that adds all paths to the queue, then closes it.
    ///
    /// The thread is not joined: a read of a list can wait for a writer after the queue was stopped.
    pub fn feed(self, queue: &Arc<Queue>) {
        let queue = Arc::clone(queue);
        std::thread::spawn(move || queue.close(self.add_all(&queue)));
    }

    fn add_all(self, queue: &Queue) -> Result<(), Error> {
        for path in self.recordings {
            if !queue.add(path) {
                return Ok(());
            }
        }
        for path in self.list.into_iter().flatten() {
            if !queue.add(path.map_err(Error::Paths)?) {
                return Ok(());
            }
        }
        self.watched.map_or(Ok(()), |folder| folder.add_finished(queue))
    }
}
