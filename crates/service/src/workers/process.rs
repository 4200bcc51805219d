//! Worker process, and the threads that communicate with it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Queue, Sender as Enqueue, channel};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use rustix::process::{Pid, Signal, kill_process, setpriority_process};
use tokio::sync::mpsc::UnboundedSender;

use super::call::Incoming;
use crate::protocol::{Receiver, Reply, Sender, WorkerRequest, WorkerSetup, pair};

/// Command that starts a worker: this program with the argument `worker`. Its standard input is the socket.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// Path of the program.
    pub program: PathBuf,
    /// First message to the worker.
    pub setup: WorkerSetup,
}

/// Priority of a nice worker. Source: setpriority(2).
const LOWEST: i32 = 19;

/// Environment of a worker that runs for hours. Its tables grow and are freed, and these settings return their memory
/// to the system; by default glibc raises its thresholds to the largest block freed and retains that memory.
/// Source: mallopt(3), "`MALLOC_MMAP_THRESHOLD_`", "`MALLOC_TRIM_THRESHOLD_`".
const GIVES_BACK: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "262144"), ("MALLOC_TRIM_THRESHOLD_", "1048576")];

/// Receivers of replies, by request number.
type PendingReplies = Mutex<HashMap<u64, UnboundedSender<Incoming>>>;

/// Running worker.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Option<Pid>,
    outgoing: Enqueue<(WorkerRequest, Vec<OwnedFd>)>,
    waiting: Arc<PendingReplies>,
    ended: Arc<AtomicBool>,
}

impl Process {
    /// Starts a worker. If `gives_back` is true, it returns unused memory to the system; otherwise it retains memory,
    /// which is faster. If `nice` is true, it has the lowest priority.
    ///
    /// # Errors
    /// If the program or a thread cannot be started.
    pub(crate) fn start(command: &WorkerCommand, gives_back: bool, nice: bool) -> io::Result<Self> {
        let (front, worker) = pair()?;
        let child = spawn(command, gives_back, OwnedFd::from(worker))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| nice) {
            // Without its setup the worker has no other threads, which would keep their priority.
            // A worker of the usual priority works, too.
            let _ = setpriority_process(Some(pid), LOWEST);
        }
        let waiting = Arc::<PendingReplies>::default();
        let ended = Arc::<AtomicBool>::default();
        let (outgoing, queue) = channel();
        let receiver = Receiver::new(front.try_clone()?);
        let (reading, done) = (Arc::clone(&waiting), Arc::clone(&ended));
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        named("worker replies").spawn(move || read(receiver, child, &reading, &done))?;
        let setup = command.setup.clone();
        named("worker requests").spawn(move || write(Sender::new(front), &setup, &queue))?;
        Ok(Self { pid, outgoing, waiting, ended })
    }

    /// Sends a request; replies go to `replies`.
    pub(crate) fn send(
        &self,
        request: WorkerRequest,
        files: Vec<OwnedFd>,
        replies: UnboundedSender<Incoming>,
    ) {
        let id = request.id;
        lock(&self.waiting).insert(id, replies);
        // If the worker has ended meanwhile, no other code answers the request.
        let is_lost = self.outgoing.send((request, files)).is_err() || self.has_ended();
        if is_lost && let Some(replies) = lock(&self.waiting).remove(&id) {
            let _ = replies.send(Incoming::Ended("it had ended before".to_owned()));
        }
    }

    /// Sends a request that has no answer.
    pub(crate) fn send_alone(&self, request: WorkerRequest) {
        let _ = self.outgoing.send((request, Vec::new()));
    }

    /// Returns its process id.
    pub(crate) fn id(&self) -> Option<u32> {
        self.pid.and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
    }

    /// Returns true if the process has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Terminates the process immediately.
    pub(crate) fn kill(&self) {
        if let Some(pid) = self.pid.filter(|_| !self.has_ended()) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

#[allow(clippy::disallowed_methods, reason = "the service starts itself as its worker")]
fn spawn(command: &WorkerCommand, gives_back: bool, socket: OwnedFd) -> io::Result<Child> {
    let environment = if gives_back { &GIVES_BACK[..] } else { &[] };
    Command::new(&command.program)
        .arg("worker")
        .envs(environment.iter().copied())
        .stdin(Stdio::from(socket))
        .stdout(Stdio::null())
        // Signals of the terminal go to the front alone, which handles them.
        .process_group(0)
        .spawn()
}

/// Forwards replies until the worker ends, then reports its exit to all waiting requests.
fn read(receiver: Receiver, mut child: Child, waiting: &PendingReplies, ended: &AtomicBool) {
    while let Ok(Some((reply, files))) = receiver.receive::<Reply>() {
        let Reply { id, event } = reply;
        let incoming = Incoming::Event(event, files);
        let is_last = incoming.is_last();
        let mut waiting = lock(waiting);
        if let Some(replies) = waiting.get(&id) {
            let _ = replies.send(incoming);
        }
        if is_last {
            waiting.remove(&id);
        }
    }
    // A worker that does not communicate is useless.
    let _ = child.kill();
    let text = child.wait().map_or_else(|error| error.to_string(), exit_text);
    ended.store(true, Ordering::Release);
    for (_, replies) in lock(waiting).drain() {
        let _ = replies.send(Incoming::Ended(text.clone()));
    }
}

fn write(mut sender: Sender, setup: &WorkerSetup, queue: &Queue<(WorkerRequest, Vec<OwnedFd>)>) {
    if sender.send(setup, &[]).is_err() {
        return;
    }
    for (request, files) in queue {
        let files: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        if sender.send(&request, &files).is_err() {
            return;
        }
    }
}

fn lock(
    waiting: &PendingReplies,
) -> std::sync::MutexGuard<'_, HashMap<u64, UnboundedSender<Incoming>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Describes the exit in words. Source: signal(7).
fn exit_text(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGABRT) => "it was aborted, perhaps because memory ran out".to_owned(),
        Some(libc::SIGKILL) => "it was killed".to_owned(),
        Some(libc::SIGSEGV) => "it crashed (SIGSEGV)".to_owned(),
        Some(libc::SIGBUS) => "it crashed (SIGBUS): a file was truncated".to_owned(),
        Some(signal) => format!("signal {signal}"),
        None if status.code() == Some(2) => "it exceeded its memory limit".to_owned(),
        None => status.to_string(),
    }
}
