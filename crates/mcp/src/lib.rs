//! Recordings as tools of the Model Context Protocol, for programs that converse in natural language.
//!
//! [`serve`] answers on standard input and output until the input ends. Each tool is a query on one of the recordings
//! that the user named; no tool takes a path. Recordings are analysed when they are first asked for.
//!
//! ```text
//!   server      the protocol: list of tools, calls, cancellation
//!   tools       one query each: arguments in, an Answer out
//!   recordings  names to profiles, cached
//!   answer      bounded: JSON for programs, and a table as text
//! ```

mod answer;
mod arguments;
mod recordings;
mod refusal;
mod selected;
mod server;
mod text;
mod tools;
mod values;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use options::Options;
use pipeline::{Error, Pipeline};
use rmcp::ServiceExt as _;

use recordings::Recordings;
use server::Server;

/// Recordings, and the manner of their analysis.
#[derive(Debug)]
pub struct ServerOptions {
    /// The recordings.
    pub recordings: Vec<PathBuf>,
    /// Options of each run.
    pub options: Options,
    /// The pipeline, whose host opens all files.
    pub pipeline: Pipeline,
    /// Returns the text of an error of a run, as the user of the command sees it.
    pub explain: fn(Error) -> String,
}

/// Serves on standard input and output until the input ends.
///
/// # Errors
/// If threads cannot be started, or a client does not begin as the protocol requires.
pub fn serve(options: ServerOptions) -> io::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.options.limits.threads());
    let pool = pool.build().map_err(io::Error::other)?;
    let server = Server::new(Recordings::new(options), pool);
    let closed = server.closed();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let running = server.serve(rmcp::transport::stdio()).await;
        running.map_err(io::Error::other)?.waiting().await.map_err(io::Error::other)
    });
    // A run in progress ends soon, and no client waits for it.
    closed.store(true, std::sync::atomic::Ordering::Relaxed);
    runtime.shutdown_background();
    result.map(drop)
}

/// A question of an observer: true if the run is to stop.
type StopSignal = Arc<dyn Fn() -> bool + Send + Sync>;
