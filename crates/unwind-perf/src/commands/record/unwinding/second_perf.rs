//! `--stack-size auto`: the perf that succeeds the first one, with the smallest stack copies that serve.
#![allow(clippy::disallowed_methods, reason = "a place where perf is started")]

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use host::{Host, Origin};

use super::LOOK;
use super::perf_control::{PerfControl, PerfFifos};
use super::perf_messages::pass_on;
use crate::args::{RecordArgs, StackSize, host};
use crate::commands::record::options::{Abilities, RecordTarget, perf_arguments};
use crate::terminal::{print_error, print_note};

/// Reason why there is no second perf.
const CHILDREN: &str = "a second perf would miss the children of recorded processes";

/// Starts the second perf of a recording.
pub(super) struct PerfSuccession {
    pub(super) args: RecordArgs,
    pub(super) abilities: Abilities,
    /// Folder of its FIFOs.
    pub(super) folder: PathBuf,
    pub(super) control: Arc<PerfControl>,
    pub(super) second: SecondPerf,
}

/// The second perf, if one was started.
#[derive(Clone, Default)]
pub(super) struct SecondPerf(Arc<Mutex<Option<StartedPerf>>>);

struct StartedPerf {
    perf: Arc<Mutex<Child>>,
    threads: [JoinHandle<()>; 2],
}

impl PerfSuccession {
    /// Starts perf with stack copies of `bytes`, and returns its stream. The first one ends once it records.
    ///
    /// # Errors
    /// If perf cannot be started, or would miss children that the first one records.
    pub(super) fn start(&self, bytes: u32) -> io::Result<OwnedFd> {
        let pids = self.args.pid.clone();
        if has_children(&pids, &*host()) {
            return Err(io::Error::other(CHILDREN));
        }
        fs::create_dir_all(&self.folder)?;
        let fifos = PerfFifos::new(&self.folder)?;
        let args = RecordArgs { stack_size: StackSize::Bytes(bytes), ..self.args.clone() };
        let mut perf = Command::new(&args.perf)
            .args(perf_arguments(&args, RecordTarget::Stream, &self.abilities))
            .args(PerfFifos::arguments(&self.folder))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stream = perf.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let messages = pass_on(perf.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?);
        let perf = Arc::new(Mutex::new(perf));
        let (control, is_quiet, starting) = (Arc::clone(&self.control), args.quiet, perf.clone());
        // perf first reads the maps of all processes. The stream is read meanwhile.
        let enabling = std::thread::spawn(move || match enable(&fifos, &starting) {
            Ok(None) if has_children(&pids, &*host()) => {
                let _ = fifos.send("stop");
                if !is_quiet {
                    print_note(&format!("the stack size stays: {CHILDREN}"));
                }
            }
            Ok(None) => {
                control.succeed(fifos);
                if !is_quiet {
                    print_note(&format!("stack size: {bytes} bytes from now on"));
                }
            }
            Ok(Some(ended)) => {
                print_error(&format!("a second perf does not record ({ended}); the size stays"));
            }
            Err(error) => print_error(&format!("a second perf does not record: {error}")),
        });
        *self.second.lock() = Some(StartedPerf { perf, threads: [messages, enabling] });
        Ok(stream.into())
    }
}

/// Returns true if one of the processes has children.
///
/// Source: proc(5), `/proc/PID/stat`: the parent is the second field after the name in parentheses.
fn has_children(pids: &[u32], host: &dyn Host) -> bool {
    if pids.is_empty() {
        return false;
    }
    let processes = host.list(Path::new("/proc"), Origin::System).unwrap_or_default();
    processes.iter().any(|process| {
        let path = Path::new("/proc").join(&process.name).join("stat");
        let stat = host.read(&path, Origin::System).unwrap_or_default();
        let stat = String::from_utf8_lossy(&stat);
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields.split_whitespace());
        let parent = fields.and_then(|mut fields| fields.nth(1)?.parse().ok());
        parent.is_some_and(|parent| pids.contains(&parent))
    })
}

/// Waits until perf records; returns its status if it ends instead.
fn enable(fifos: &PerfFifos, perf: &Mutex<Child>) -> io::Result<Option<ExitStatus>> {
    fifos.send("enable")?;
    while !fifos.is_ready(LOOK)? {
        let ended = perf.lock().unwrap_or_else(PoisonError::into_inner).try_wait()?;
        if ended.is_some() {
            return Ok(ended);
        }
    }
    Ok(None)
}

impl SecondPerf {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<StartedPerf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for its end. Returns `None` if none was started.
    pub(super) fn wait(&self) -> io::Result<Option<ExitStatus>> {
        let Some(StartedPerf { perf, threads }) = self.lock().take() else { return Ok(None) };
        for thread in threads {
            let _ = thread.join();
        }
        let mut perf = perf.lock().unwrap_or_else(PoisonError::into_inner);
        perf.wait().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use host::MemoryHost;

    use super::*;

    #[test]
    fn children_are_found() {
        let machine = MemoryHost::new();
        machine.insert("/proc/7/stat", *b"7 (a) S 1 7 7 0");
        machine.insert("/proc/8/stat", *b"8 (b) c) (d) R 7 7 7 0");
        machine.insert("/proc/meminfo", *b"MemTotal: 1 kB");
        let has_children = |pids: &[u32]| has_children(pids, &machine);
        assert!(has_children(&[7]) && has_children(&[2, 1]));
        assert!(!has_children(&[8]) && !has_children(&[]));
    }
}
