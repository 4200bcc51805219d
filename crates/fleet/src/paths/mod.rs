//! Paths of recordings: arguments, lists and watched folders, and the queue from which workers take them.

mod list;
mod queue;
mod source;
mod watch;
mod writers;

pub use list::ListedPaths;
pub use queue::Queue;
pub use source::Source;
pub use watch::WatchedFolder;
