//! The terminal: raw mode and the alternate screen, and their end by any way out.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError, TryLockError};

use rustix::fs::{Mode, OFlags};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The state of the terminal before the view.
struct Saved {
    terminal: OwnedFd,
    termios: Termios,
}

static SAVED: Mutex<Option<Saved>> = Mutex::new(None);

/// Alternate screen on, cursor off.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l";
/// Styles reset, cursor on, alternate screen off.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";

/// The terminal in raw mode with its alternate screen. Dropping restores it.
#[derive(Debug)]
pub(crate) struct RawTerminal(());

impl RawTerminal {
    /// Changes the terminal of standard output, and returns its keys.
    ///
    /// # Errors
    /// If standard output is not a terminal, or it cannot be opened for reading.
    pub(crate) fn enter() -> io::Result<(Self, File)> {
        let keys = open()?;
        let termios = tcgetattr(&keys)?;
        let mut raw = termios.clone();
        raw.make_raw();
        let terminal = rustix::io::dup(&keys)?;
        *SAVED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Saved { terminal, termios });
        let entered = Self(());
        restore_on_panic();
        tcsetattr(&keys, OptionalActions::Now, &raw)?;
        let mut out = io::stdout().lock();
        out.write_all(ENTER)?;
        out.flush()?;
        Ok((entered, keys))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Standard output while it shows the view. Nothing is drawn after the terminal was restored.
#[derive(Debug)]
pub(crate) struct TerminalOutput;

impl Write for TerminalOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_shown = SAVED.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if is_shown { io::stdout().write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// Opens the terminal that standard output is, else the one that controls the process.
fn open() -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = rustix::fs::open("/proc/self/fd/1", flags, Mode::empty())
        .or_else(|_| rustix::fs::open("/dev/tty", flags, Mode::empty()));
    Ok(File::from(opened?))
}

/// Restores the terminal if the view changed it. It neither blocks nor allocates, so that it may be called while the
/// process ends.
pub fn restore_terminal() {
    let saved = match SAVED.try_lock() {
        Ok(mut saved) => saved.take(),
        Err(TryLockError::Poisoned(saved)) => saved.into_inner().take(),
        Err(TryLockError::WouldBlock) => None,
    };
    if let Some(Saved { terminal, termios }) = saved {
        let _ = rustix::io::write(&terminal, LEAVE);
        let _ = tcsetattr(&terminal, OptionalActions::Now, &termios);
    }
}

/// Restores the terminal before the message of a panic, also if panics end the process.
fn restore_on_panic() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore_terminal();
        previous(panic);
    }));
}
