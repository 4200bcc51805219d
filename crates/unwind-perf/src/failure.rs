//! Errors that programs distinguish: a wrong call, a missing folder, and filters that leave no sample.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use profile::FindingRow;

/// An argument or a setting of this machine that no run can use, with the message for people.
#[derive(Debug)]
pub(crate) struct WrongCall(pub(crate) &'static str);

impl fmt::Display for WrongCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for WrongCall {}

/// A path that an option names and that is not a folder.
#[derive(Debug)]
pub(crate) struct MissingFolder {
    /// The option, such as `--sysroot`.
    pub(crate) option: &'static str,
    /// The path.
    pub(crate) path: PathBuf,
}

impl fmt::Display for MissingFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: not a directory", self.option, self.path.display())
    }
}

impl Error for MissingFolder {}

/// No sample passes the filters of a recording.
#[derive(Debug)]
pub(crate) struct NoSamples {
    /// Advice on the filters.
    pub(crate) message: String,
    /// Defects of the recording.
    pub(crate) findings: Vec<FindingRow>,
}

impl fmt::Display for NoSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for NoSamples {}
