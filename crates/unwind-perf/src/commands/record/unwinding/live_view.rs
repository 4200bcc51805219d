//! `record --live`: a copy of perf's stream for `unwind-perf live`, which shows it. The recording never waits for it.
//!
//! ```text
//!   perf ---- copied ---- unwinder
//!                |
//!                chunks that wait ---- unwind-perf live
//! ```
#![allow(clippy::disallowed_methods, reason = "a place where another program is started")]

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::print_error;

/// Maximum bytes that are copied at a time, and that may wait for the view.
const CHUNK: usize = 1 << 20;
const WAITING: usize = 64 << 20;

/// The view of a recording in progress.
pub(super) struct LiveView {
    child: Child,
    copying: JoinHandle<()>,
}

impl LiveView {
    /// Starts the view of a stream. Returns it with the stream for the unwinder.
    pub(super) fn start(stream: OwnedFd, is_quiet: bool) -> io::Result<(Self, OwnedFd)> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("live").args(is_quiet.then_some("--quiet")).arg("-");
        // Standard output is that of the program.
        let mut child = command.stdin(Stdio::piped()).stdout(io::stderr()).spawn()?;
        let view = child.stdin.take();
        let (out, copy) = pipe_with(PipeFlags::CLOEXEC)?;
        // Fewer turns; the usual size will do as well.
        let _ = rustix::pipe::fcntl_setpipe_size(&copy, CHUNK);
        let copying = std::thread::spawn(move || copy_to_both(stream, copy, view));
        Ok((Self { child, copying }, out))
    }

    /// Ends the view after the stream has ended.
    pub(super) fn end(mut self) {
        let _ = self.copying.join();
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

/// Copies a stream to the unwinder, and to the view as long as it keeps up.
fn copy_to_both(stream: OwnedFd, unwinder: OwnedFd, view: Option<ChildStdin>) {
    let (chunks, receiver) = channel();
    let waiting = Arc::<AtomicUsize>::default();
    let of_view = Arc::clone(&waiting);
    let showing = view.map(|view| std::thread::spawn(move || show(&receiver, &of_view, view)));
    let copied = copy(stream, unwinder, chunks, &waiting);
    if let Err(error) = copied {
        print_error(&format!("the stream of perf cannot be copied: {error}"));
    }
    // The rest is shown, but nobody waits for it.
    drop(showing);
}

/// `waiting` counts the bytes that were sent to the view and not written yet.
fn copy(
    stream: OwnedFd,
    unwinder: OwnedFd,
    view: Sender<Vec<u8>>,
    waiting: &AtomicUsize,
) -> io::Result<()> {
    let (mut stream, mut unwinder) = (File::from(stream), File::from(unwinder));
    let mut view = Some(view);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match stream.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = chunk.get(..read).unwrap_or_default();
        unwinder.write_all(bytes)?;
        let Some(chunks) = &view else { continue };
        if waiting.fetch_add(read, Ordering::Relaxed) + read > WAITING {
            print_error("the live view cannot keep up and ends; the recording goes on");
            view = None;
        } else if chunks.send(bytes.to_vec()).is_err() {
            // It was closed.
            view = None;
        }
    }
}

/// Passes the waiting chunks to the view.
fn show(chunks: &Receiver<Vec<u8>>, waiting: &AtomicUsize, mut view: ChildStdin) {
    for chunk in chunks {
        if view.write_all(&chunk).is_err() {
            return;
        }
        waiting.fetch_sub(chunk.len(), Ordering::Relaxed);
    }
}
