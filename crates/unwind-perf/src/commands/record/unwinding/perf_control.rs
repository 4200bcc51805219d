//! The perf of a recording, told by FIFOs what to do, and the one that may succeed it with another stack size.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::started::{RunningProgram, fifo, open_fifo, terminate};

/// The FIFOs of a perf.
pub(super) struct PerfFifos {
    control: OwnedFd,
    ready: OwnedFd,
}

impl PerfFifos {
    /// Creates them in a folder.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let made = ["control", "ready"].map(|name| {
            let path = folder.join(name);
            fifo(&path)?;
            open_fifo(&path)
        });
        let [control, ready] = made;
        Ok(Self { control: control?, ready: ready? })
    }

    /// Returns the arguments of a perf that waits for its commands at the FIFOs in a folder.
    pub(super) fn arguments(folder: &Path) -> [OsString; 4] {
        let mut fifos = OsString::from("fifo:");
        fifos.push(folder.join("control"));
        fifos.push(",");
        fifos.push(folder.join("ready"));
        ["-D".into(), "-1".into(), "--control".into(), fifos]
    }

    /// Source: `tools/perf/Documentation/perf-record.txt`, `--control`.
    pub(super) fn send(&self, command: &str) -> io::Result<()> {
        let line = format!("{command}\n");
        rustix::io::write(&self.control, line.as_bytes())?;
        Ok(())
    }

    /// Returns true if perf acknowledged a command within `wait`.
    pub(super) fn is_ready(&self, wait: Duration) -> io::Result<bool> {
        let mut polled = [PollFd::new(&self.ready, PollFlags::IN)];
        let wait = Timespec::try_from(wait).ok();
        match poll(&mut polled, wait.as_ref()) {
            // A signal, which the recording notes.
            Err(Errno::INTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }
}

/// Control of the recording.
pub(super) struct PerfControl {
    pub(super) first: PerfFifos,
    /// Those of the perf that succeeds the first one.
    second: OnceLock<PerfFifos>,
    /// True if the recording was asked to end.
    stopped: AtomicBool,
}

impl PerfControl {
    /// Creates the FIFOs of the first perf in a folder.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let first = PerfFifos::new(folder)?;
        Ok(Self { first, second: OnceLock::new(), stopped: AtomicBool::new(false) })
    }

    /// Ends the first perf: the second one records, and has these FIFOs.
    pub(super) fn succeed(&self, second: PerfFifos) {
        if self.second.set(second).is_ok() {
            let _ = self.first.send("stop");
        }
        if self.was_stopped() {
            self.stop();
        }
    }

    /// Returns true if the second perf records.
    pub(super) fn is_succeeded(&self) -> bool {
        self.second.get().is_some()
    }

    /// Ends the recording.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        for perf in [Some(&self.first), self.second.get()].into_iter().flatten() {
            let _ = perf.send("stop");
        }
    }

    /// Returns true if the recording was asked to end.
    pub(super) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Stops perf when the program ends, or when a signal should end this process. The program gets SIGTERM then.
    pub(super) fn end_with(
        self: Arc<Self>,
        program: Option<RunningProgram>,
    ) -> io::Result<EndOfRecording> {
        let pid = program.as_ref().and_then(RunningProgram::pid);
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let control = Arc::clone(&self);
        let forwarding = std::thread::spawn(move || {
            for _ in signals.forever() {
                control.stop();
                terminate(pid);
            }
        });
        let control = Arc::clone(&self);
        let program = program.map(|program| {
            std::thread::spawn(move || {
                let ended = program.wait();
                control.stop();
                ended
            })
        });
        Ok(EndOfRecording { program, pid, forwarding, handle, control: self })
    }
}

/// Threads that wait for the end of the recording.
pub(super) struct EndOfRecording {
    program: Option<JoinHandle<io::Result<ExitStatus>>>,
    pid: Option<Pid>,
    forwarding: JoinHandle<()>,
    handle: signal_hook::iterator::Handle,
    control: Arc<PerfControl>,
}

impl EndOfRecording {
    /// Ends the recording and the program, as a signal does.
    pub(super) fn stop(&self) {
        self.control.stop();
        terminate(self.pid);
    }

    /// Returns true if perf was asked to end.
    pub(super) fn was_stopped(&self) -> bool {
        self.control.was_stopped()
    }

    /// Returns true if a second perf recorded the end.
    pub(super) fn was_succeeded(&self) -> bool {
        self.control.is_succeeded()
    }

    /// Waits for the program, and returns its status.
    pub(super) fn program_status(self) -> Option<ExitStatus> {
        let ended = self.program.and_then(|program| program.join().ok()?.ok());
        self.handle.close();
        let _ = self.forwarding.join();
        // From now on signals end this process.
        let _ = host::clean_up_on_signals();
        ended
    }
}
