//! One worker process and the threads that speak with it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Queue, Sender as Enqueue, channel};
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc::UnboundedSender;

use super::call::Incoming;
use crate::protocol::{Receiver, Reply, Request, Sender, WorkerSetup, pair};

/// How a worker is started: this program again, with the argument `worker`. Its standard input is the socket.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// The first message to it.
    pub setup: WorkerSetup,
}

/// What a worker that runs for hours has in its environment: tables that grow, and go, are given back to the system, where
/// glibc would keep what it had once taken for the largest of them.
/// Source: mallopt(3), "`MALLOC_MMAP_THRESHOLD_`", "`MALLOC_TRIM_THRESHOLD_`".
const GIVES_BACK: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "262144"), ("MALLOC_TRIM_THRESHOLD_", "1048576")];

/// Who waits for replies, by request.
type Waiting = Mutex<HashMap<u64, UnboundedSender<Incoming>>>;

/// A worker that runs.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Option<Pid>,
    outgoing: Enqueue<(Request, Vec<OwnedFd>)>,
    waiting: Arc<Waiting>,
    ended: Arc<AtomicBool>,
}

impl Process {
    /// Starts a worker, one that gives back memory that it does not need for a while, or one that keeps it and is quicker.
    ///
    /// # Errors
    /// Where the program or a thread cannot be started.
    pub(crate) fn start(command: &WorkerCommand, gives_back: bool) -> io::Result<Self> {
        let (front, worker) = pair()?;
        let child = spawn(command, gives_back, OwnedFd::from(worker))?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let waiting = Arc::<Waiting>::default();
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

    /// Sends a request, whose replies go to `replies`.
    pub(crate) fn send(
        &self,
        request: Request,
        files: Vec<OwnedFd>,
        replies: UnboundedSender<Incoming>,
    ) {
        let id = request.id;
        lock(&self.waiting).insert(id, replies);
        // Where the worker ended meanwhile, nobody answers but this.
        let is_lost = self.outgoing.send((request, files)).is_err() || self.has_ended();
        if is_lost && let Some(replies) = lock(&self.waiting).remove(&id) {
            let _ = replies.send(Incoming::Ended("it had ended before".to_owned()));
        }
    }

    /// Sends what is not answered.
    pub(crate) fn tell(&self, request: Request) {
        let _ = self.outgoing.send((request, Vec::new()));
    }

    /// Its number among processes.
    pub(crate) fn id(&self) -> Option<u32> {
        self.pid.and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
    }

    /// Whether it does not run any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Ends it, whatever it is at.
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
        // What a terminal sends to those in front of it is the front's to answer.
        .process_group(0)
        .spawn()
}

/// Hands replies on until the worker ends, and tells all that wait how it ended.
fn read(receiver: Receiver, mut child: Child, waiting: &Waiting, ended: &AtomicBool) {
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
    // What does not speak any more is of no use.
    let _ = child.kill();
    let text = child.wait().map_or_else(|error| error.to_string(), how_it_ended);
    ended.store(true, Ordering::Release);
    for (_, replies) in lock(waiting).drain() {
        let _ = replies.send(Incoming::Ended(text.clone()));
    }
}

fn write(mut sender: Sender, setup: &WorkerSetup, queue: &Queue<(Request, Vec<OwnedFd>)>) {
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

fn lock(waiting: &Waiting) -> std::sync::MutexGuard<'_, HashMap<u64, UnboundedSender<Incoming>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In words. Source: signal(7).
fn how_it_ended(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGABRT) => "it was aborted, perhaps for want of memory".to_owned(),
        Some(libc::SIGKILL) => "it was killed".to_owned(),
        Some(libc::SIGSEGV) => "it crashed (SIGSEGV)".to_owned(),
        Some(libc::SIGBUS) => "it crashed (SIGBUS): a file was cut short".to_owned(),
        Some(signal) => format!("signal {signal}"),
        None if status.code() == Some(2) => "it needed more memory than it may have".to_owned(),
        None => status.to_string(),
    }
}
