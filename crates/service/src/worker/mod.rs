//! The worker: the process that reads recordings and ELF files for the front. It gets requests over a socket, each with
//! the descriptors of what it is about, and has no other input; what goes wrong in it ends the jobs that it was at.

mod about;
mod answer;
mod confine;
mod diff;
mod export;
mod held;
mod live;
mod outbox;
mod place;
mod questions;
mod serving;
mod source;
mod symbols;
mod tables;
mod task_context;
mod watch;

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use host::Host;
use pipeline::{Observer, Pipeline, Source, Spelling};

pub use confine::{Confined, Confinement, confine};

use crate::protocol::{Receiver, Request, Sender};
use serving::Serving;

/// Writes a format that is made while a recording is unwound.
pub type StreamWriter = fn(
    &Pipeline,
    Source,
    &pipeline::Options,
    Arc<dyn Observer>,
    Box<dyn io::Write + Send>,
) -> Result<(), pipeline::Error>;

/// What a worker is given.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// How recordings are read and where files are looked for, but for what a request chooses.
    pub options: pipeline::Options,
    /// Whether recordings are those of strangers: then nothing is opened that one names.
    pub foreign: bool,
    /// The names of options in advice.
    pub spelling: Spelling,
    /// Writes the stream for hotspot, which is made while a recording is unwound.
    pub hotspot: StreamWriter,
    /// Bytes of profiles that are kept for the next questions.
    pub keep: u64,
}

/// Answers requests until the front closes the socket.
///
/// # Errors
/// Where the socket breaks, or no threads can be started.
pub fn work(socket: UnixStream, host: Arc<dyn Host>, options: WorkerOptions) -> io::Result<()> {
    let receiver = Receiver::new(socket.try_clone()?);
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(options.options.limits.threads()).build();
    let pool = pool.map_err(io::Error::other)?;
    let serving = Arc::new(Serving::new(Sender::new(socket), host, options));
    let pool = Arc::new(pool);
    while let Some((request, files)) = receiver.receive::<Request>()? {
        let Some(job) = serving.accept(request, files) else { continue };
        let (serving, pool) = (Arc::clone(&serving), Arc::clone(&pool));
        std::thread::Builder::new().name("request".to_owned()).spawn(move || {
            match job.is_on_pool() {
                true => pool.install(|| serving.serve(job)),
                false => serving.serve(job),
            }
        })?;
    }
    Ok(())
}
