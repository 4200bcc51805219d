//! Worker process, which reads recordings and ELF files for the front. Its only input is a socket with requests and
//! their descriptors; a failure ends only the jobs in progress.

mod about;
mod answer;
mod diff;
mod export;
mod instructions;
mod live;
mod outbox;
mod queries;
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

use crate::protocol::{Receiver, Sender, WorkerRequest};
use serving::Serving;

/// Writes a format that is produced while a recording is unwound.
pub type StreamWriter = fn(
    &Pipeline,
    Source,
    &pipeline::Options,
    Arc<dyn Observer>,
    Box<dyn io::Write + Send>,
) -> Result<(), pipeline::Error>;

/// Options of a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Options for reading recordings and searching files, except those of a request.
    pub options: pipeline::Options,
    /// True if recordings are untrusted: then files that they name are not opened.
    pub foreign: bool,
    /// Spelling of option names in advice.
    pub spelling: Spelling,
    /// Writes the stream for hotspot, which is produced while a recording is unwound.
    pub hotspot: StreamWriter,
    /// Maximum bytes of profiles cached for later queries.
    pub cache_bytes: u64,
}

/// Answers requests until the front closes the socket.
///
/// # Errors
/// If the socket fails, or no threads can be started.
pub fn work(socket: UnixStream, host: Arc<dyn Host>, options: WorkerOptions) -> io::Result<()> {
    let receiver = Receiver::new(socket.try_clone()?);
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(options.options.limits.threads()).build();
    let pool = pool.map_err(io::Error::other)?;
    let serving = Arc::new(Serving::new(Sender::new(socket), host, options));
    let pool = Arc::new(pool);
    while let Some((request, files)) = receiver.receive::<WorkerRequest>()? {
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
