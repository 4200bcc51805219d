//! The program of a recording, as a child of this process: it waits at a FIFO until perf is ready, and no fault of the
//! recorder reaches it.
#![allow(clippy::disallowed_methods, reason = "a place where another program is started")]

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::{Status, print_error};

/// Exit statuses for a program that cannot be started and for one that does not exist, as in shells and `env`.
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
/// Exit status if the recorder failed before the program was started.
const NOT_STARTED: u8 = 125;
/// Word before the arguments of the process that becomes the program.
const START: &str = "start-program";

/// A process that becomes the program once the recorder is ready.
pub(super) struct WaitingProgram {
    child: Child,
    /// The only writer: the process ends if this one does.
    gate: OwnedFd,
}

impl WaitingProgram {
    /// Starts the process with the standard streams of this one. `folder` gets its FIFO.
    pub(super) fn new(command: &[OsString], folder: &Path) -> io::Result<Self> {
        let path = folder.join("gate");
        fifo(&path)?;
        let gate = open_fifo(&path)?;
        let own = std::env::current_exe()?;
        let child = Command::new(own).arg(START).arg(&path).arg("--").args(command).spawn()?;
        Ok(Self { child, gate })
    }

    /// Returns the process id, which the program keeps.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Lets the process become the program.
    pub(super) fn start(self) -> io::Result<RunningProgram> {
        rustix::io::write(&self.gate, b"+")?;
        Ok(RunningProgram { child: self.child, _gate: self.gate })
    }

    /// Ends the process, which never becomes the program.
    pub(super) fn give_up(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program.
pub(super) struct RunningProgram {
    child: Child,
    /// Open until the process has read from it.
    _gate: OwnedFd,
}

impl RunningProgram {
    /// Returns a handle for signals.
    pub(super) fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Waits for the end of the program.
    pub(super) fn wait(mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

/// Asks a program to end, as perf does if the recording ends first.
pub(super) fn terminate(pid: Option<Pid>) {
    if let Some(pid) = pid {
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Creates a FIFO that only this user can open.
pub(super) fn fifo(path: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// Opens a FIFO for both directions, which does not wait for another process.
pub(super) fn open_fifo(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Waits at the FIFO, then becomes the program: `start-program GATE -- COMMAND…`.
pub(crate) fn start_program(gate: &Path, command: &[OsString]) -> Status {
    let mut go = [0];
    let waited = std::fs::File::open(gate).and_then(|mut gate| gate.read_exact(&mut go));
    let (Ok(()), Some((program, arguments))) = (waited, command.split_first()) else {
        return Status::Ended(NOT_STARTED);
    };
    let error = Command::new(program).args(arguments).exec();
    print_error(&format!("cannot start {}: {error}", program.display()));
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    Status::Ended(if is_missing { NOT_FOUND } else { NOT_EXECUTABLE })
}
