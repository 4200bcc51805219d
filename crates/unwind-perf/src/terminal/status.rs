//! How a run went, and the exit status that says so.

use std::process::ExitCode;

use super::color;
use super::shown::shown;

/// How the run went.
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

/// The exit status of a command that has no output.
pub(crate) const NO_OUTPUT: u8 = 2;
/// The exit status of a command that starts a program and fails itself, as `env` and `timeout` have it.
pub(crate) const NOT_RECORDED: u8 = 125;

/// The exit status: 0 complete, 1 the recording is damaged, too much is incomplete or too much changed, `failed` if there is
/// no output, which a line on standard error says.
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

/// Whoever read our output has seen enough: no error.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
