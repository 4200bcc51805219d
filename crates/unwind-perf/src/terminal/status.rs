//! Result of a run, and the exit status for it.

use std::process::ExitCode;

use super::color;
use super::shown::shown;

/// Result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Everything in the recording is in the output.
    Complete,
    /// The output was written, but the recording is damaged.
    Damaged,
    /// The output was written, but more callchains are incomplete than the user allowed.
    Incomplete,
    /// The output was written, but recordings differ by more than the user allowed.
    Changed,
    /// A recorded program ended with this exit status.
    Ended(u8),
}

/// Exit status of a command without output.
pub(crate) const NO_OUTPUT: u8 = 2;
/// Exit status of a command that starts a program and fails itself, as in `env` and `timeout`.
pub(crate) const NOT_RECORDED: u8 = 125;

/// Returns the exit status: 0 if complete, 1 if the recording is damaged, too much is incomplete or too much changed.
/// Without output it is `failed`, and a line on standard error gives the reason.
pub(crate) fn exit_code(name: &str, failed: u8, result: anyhow::Result<Status>) -> ExitCode {
    match result {
        Ok(Status::Complete) => ExitCode::SUCCESS,
        Ok(Status::Damaged | Status::Incomplete | Status::Changed) => ExitCode::from(1),
        Ok(Status::Ended(status)) => ExitCode::from(status),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{} {}", color::error(name), shown(&format!("{error:#}")));
            ExitCode::from(failed)
        }
    }
}

/// Returns true if the reader closed our output. That is not an error.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
