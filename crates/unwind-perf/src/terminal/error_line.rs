//! Line of JSON about an error, for programs that start this one, such as the Python package.
//!
//! It precedes the message for people on standard error if `UNWIND_PERF_ERRORS` is `json`. docs/OUTPUT.md lists its
//! keys and keywords.

use std::error::Error;
use std::io;
use std::path::Path;

use host::HostError;
use options::{HintError, OptionsError};
use profile::FindingRow;
use serde_json::{Value, json};

use super::shown::shown_json;
use super::status::is_closed_pipe;
use crate::failure::{MissingFolder, NoSamples, WrongCall};

/// Variable of the environment that asks for the line.
const VARIABLE: &str = "UNWIND_PERF_ERRORS";

/// Cause of an error. The call is at fault regardless of the recording for the first two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// An argument, an option or a setting of this machine is unusable.
    Call,
    /// A file or folder that the call names does not exist.
    Missing,
    /// The named file has no readable recording, whatever the options.
    NotARecording,
    /// No sample passes the filters.
    NoSamples,
    /// The recording lacks a named event.
    UnknownEvent,
    /// A folder or file of the output cannot be written.
    #[cfg(feature = "parquet")]
    Output,
    /// Any other error of this run.
    Run,
}

impl Cause {
    /// Returns the keyword.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Missing => "missing",
            Self::NotARecording => "not-a-recording",
            Self::NoSamples => "no-samples",
            Self::UnknownEvent => "unknown-event",
            #[cfg(feature = "parquet")]
            Self::Output => "output",
            Self::Run => "run",
        }
    }
}

/// Prints the line about an error of a command, if the environment asks for it.
pub(crate) fn print_failure(error: &anyhow::Error) {
    if is_wanted() && !is_closed_pipe(error) {
        eprintln!("{}", shown_json(&line_of(error).to_string()));
    }
}

/// Prints the line about wrong arguments, if the environment asks for it.
pub(crate) fn print_wrong_call(error: &clap::Error) {
    if is_wanted() {
        let line = json!({ "error": Cause::Call.as_str(), "message": first_paragraph(&error.to_string()) });
        eprintln!("{}", shown_json(&line.to_string()));
    }
}

fn is_wanted() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "json")
}

/// Returns the message of the parser of arguments without its label, usage and hints, as one line.
fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

fn line_of(error: &anyhow::Error) -> Value {
    let mut line = json!({ "message": format!("{error:#}") });
    let mut cause = Cause::Run;
    for link in error.chain() {
        if let Some(no_samples) = link.downcast_ref::<NoSamples>() {
            let of_row = |it: &FindingRow| json!({ "kind": it.kind, "count": it.count, "message": it.message });
            line["findings"] = no_samples.findings.iter().map(of_row).collect();
        }
        if let (Some(path), true) = (path_of(link), line.get("path").is_none()) {
            line["path"] = path.to_string_lossy().into();
        }
        #[cfg(feature = "parquet")]
        if let Some(fleet::Error::Output { source, .. }) = link.downcast_ref() {
            line["errno"] = source.raw_os_error().into();
        }
        if cause == Cause::Run {
            cause = cause_of(link);
        }
    }
    line["error"] = cause.as_str().into();
    line
}

fn path_of<'e>(link: &'e (dyn Error + 'static)) -> Option<&'e Path> {
    if let Some(missing) = link.downcast_ref::<MissingFolder>() {
        return Some(&missing.path);
    }
    #[cfg(feature = "parquet")]
    match link.downcast_ref::<fleet::Error>() {
        Some(fleet::Error::Output { path, .. } | fleet::Error::Watch { path, .. }) => {
            return Some(path);
        }
        Some(fleet::Error::Refused { failure }) => return failure.path.as_deref(),
        _ => {}
    }
    match link.downcast_ref::<pipeline::Error>() {
        Some(pipeline::Error::Host(HostError::Io { path, .. })) => Some(path),
        Some(pipeline::Error::NoBuildIdStore { path, .. }) => Some(path),
        _ => match link.downcast_ref::<HostError>() {
            Some(HostError::Io { path, .. }) => Some(path),
            _ => None,
        },
    }
}

/// Returns the cause that one error of a chain implies.
fn cause_of(link: &(dyn Error + 'static)) -> Cause {
    let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    #[cfg(feature = "parquet")]
    match link.downcast_ref::<fleet::Error>() {
        Some(fleet::Error::Output { .. }) => return Cause::Output,
        Some(fleet::Error::Refused { failure }) if failure.cause == Cause::Missing.as_str() => {
            return Cause::Missing;
        }
        Some(
            fleet::Error::Refused { .. }
            | fleet::Error::NoUrls { .. }
            | fleet::Error::WatchedUrl { .. },
        ) => return Cause::Call,
        _ => {}
    }
    if link.is::<OptionsError>() || link.is::<HintError>() || link.is::<WrongCall>() {
        Cause::Call
    } else if link.is::<NoSamples>() {
        Cause::NoSamples
    } else if link.is::<MissingFolder>() || link.downcast_ref().is_some_and(HostError::is_missing) {
        Cause::Missing
    } else if let Some(error) = link.downcast_ref() {
        cause_of_run(error)
    } else if link.downcast_ref().is_some_and(is_missing) {
        Cause::Missing
    } else {
        Cause::Run
    }
}

fn cause_of_run(error: &pipeline::Error) -> Cause {
    use pipeline::Error as Run;
    match error {
        Run::Host(error) if error.is_missing() => Cause::Missing,
        Run::UnknownEvent { .. } => Cause::UnknownEvent,
        Run::Empty { .. } | Run::NoRecordingInFolder { .. } => Cause::NotARecording,
        Run::Recording { source, .. } => match source {
            perf_data::Error::TooMuchMemory { .. } | perf_data::Error::Unreadable { .. } => {
                Cause::Run
            }
            _ => Cause::NotARecording,
        },
        Run::Bundle { source, .. } => match source {
            bundle::Error::TooLong { .. } | bundle::Error::TooMuch(_) => Cause::Run,
            // An error of the system is not about the content.
            bundle::Error::Damaged(error) if error.raw_os_error().is_some() => Cause::Run,
            _ => Cause::NotARecording,
        },
        Run::UnknownSpan { .. }
        | Run::InsideNeedsLabel { .. }
        | Run::NotAServer { .. }
        | Run::Variable { .. }
        | Run::SharedFolder { .. }
        | Run::NoCacheFolder
        | Run::Hints(_) => Cause::Call,
        _ => Cause::Run,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use anyhow::Context as _;

    use super::*;

    fn line(error: impl Into<anyhow::Error>) -> String {
        line_of(&error.into()).to_string()
    }

    #[test]
    fn causes_have_keywords() {
        let path = || PathBuf::from("/x");
        let missing = MissingFolder { option: "--sysroot", path: path() };
        assert_eq!(
            line(missing),
            r#"{"error":"missing","message":"--sysroot /x: not a directory","path":"/x"}"#
        );
        let missing = pipeline::Error::Host(HostError::missing(Path::new("/x")));
        assert_eq!(
            line(missing),
            r#"{"error":"missing","message":"cannot read /x: entity not found","path":"/x"}"#
        );
        let source = perf_data::Error::NoEventsInStream { len: 7 };
        let damaged = pipeline::Error::Recording { path: path(), source };
        assert!(line(damaged).starts_with(r#"{"error":"not-a-recording""#));
        let source = perf_data::Error::TooMuchMemory { offset: 7 };
        let large = pipeline::Error::Recording { path: path(), source };
        assert!(line(large).starts_with(r#"{"error":"run""#));
        assert_eq!(line(WrongCall("x")), r#"{"error":"call","message":"x"}"#);
        let named = Err::<(), _>(pipeline::Error::NoCacheFolder).context("--debuginfod");
        assert!(line(named.expect_err("an error")).starts_with(r#"{"error":"call""#));
        let file = Err::<(), _>(io::Error::from(io::ErrorKind::NotFound)).context("--map-file /x");
        assert!(line(file.expect_err("an error")).starts_with(r#"{"error":"missing""#));
        assert_eq!(line(anyhow::Error::msg("x")), r#"{"error":"run","message":"x"}"#);
    }

    #[test]
    fn findings_are_rows() {
        let finding =
            FindingRow { kind: "lost".into(), message: "2 lost".into(), help: None, count: 2 };
        let error = NoSamples { message: "none".into(), findings: vec![finding] };
        assert_eq!(
            line(error),
            r#"{"error":"no-samples","findings":[{"count":2,"kind":"lost","message":"2 lost"}],"message":"none"}"#
        );
    }

    #[test]
    fn a_wrong_call_is_one_line() {
        let text = "error: invalid value 'foo' for '--demangle <HOW>'\n  [possible values: full, none]\n\nFor more \
                    information, try '--help'.\n";
        let expected = "invalid value 'foo' for '--demangle <HOW>' [possible values: full, none]";
        assert_eq!(first_paragraph(text), expected);
    }
}
