//! The command on a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::run::command;

/// Output of a command on a terminal.
#[derive(Debug)]
pub(crate) struct OnTerminal {
    /// Text on the terminal, with line feeds as line ends.
    pub(crate) text: String,
    /// Standard error, if it is not the terminal.
    pub(crate) stderr: String,
    pub(crate) status: Option<i32>,
}

/// Runs the command with standard output on a terminal of that many columns, and standard error as well if
/// `with_messages`.
pub(crate) fn on_terminal(
    folder: &Path,
    arguments: &[&str],
    columns: u16,
    with_messages: bool,
) -> OnTerminal {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("a terminal");
    let size = rustix::termios::Winsize { ws_row: 20, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&ours, size).expect("a size");
    let name = ptsname(&ours, Vec::new()).expect("its name");
    let theirs = File::options().write(true).open(name.to_str().expect("UTF-8")).expect("open");
    let mut started = command(folder, arguments);
    started.stdout(Stdio::from(theirs.try_clone().expect("a terminal")));
    if with_messages {
        // Without it, no bar is drawn.
        started.env("TERM", "xterm");
        started.stderr(Stdio::from(theirs.try_clone().expect("a terminal")));
    }
    // A terminal buffers a few KiB: it is read while the command writes.
    let mut ours = File::from(ours);
    let reader = std::thread::spawn(move || {
        let (mut text, mut byte) = (Vec::new(), [0]);
        while ours.read(&mut byte).expect("what was written") == 1 && byte[0] != 4 {
            text.push(byte[0]);
        }
        text
    });
    let ran = started.output().expect("the command runs");
    // A final byte ends the reading.
    (&theirs).write_all(b"\x04").expect("an end");
    let text = reader.join().expect("all that was written");
    OnTerminal {
        text: String::from_utf8(text).expect("UTF-8").replace("\r\n", "\n"),
        stderr: String::from_utf8(ran.stderr).expect("UTF-8"),
        status: ran.status.code(),
    }
}
