//! The servers of a run and their failures.

use image_store::{FileFinding, FileFindingKind};

use crate::files::request::FetchError;

/// Number of failures after which a server is not queried again in a run.
const FAILURES: u64 = 3;

/// A server and its failures in this run.
#[derive(Debug, Default)]
pub(crate) struct Server {
    /// Its address, without a slash at the end.
    pub(crate) url: String,
    /// The first failure, and the number of files that failed.
    trouble: Option<(String, u64)>,
    /// Number of failures.
    failures: u64,
    /// The server timed out.
    is_hung: bool,
    /// The observer has been told that the run waits for this server.
    pub(crate) is_announced: bool,
}

impl Server {
    pub(crate) fn new(url: &str) -> Self {
        Self { url: url.trim_end_matches('/').to_owned(), ..Self::default() }
    }

    /// Returns true if the server is still queried.
    pub(crate) fn is_active(&self) -> bool {
        !self.is_hung && self.failures < FAILURES
    }

    /// Records the reason that a file was not delivered.
    pub(crate) fn failed(&mut self, reason: &FetchError) {
        let text = match reason {
            FetchError::NotFound | FetchError::Stopped => return,
            FetchError::Unusable(text) => text,
            FetchError::Failed(text) => {
                self.failures += 1;
                text
            }
            FetchError::TimedOut(text) => {
                self.is_hung = true;
                text
            }
        };
        self.trouble.get_or_insert_with(|| (text.clone(), 0)).1 += 1;
    }

    /// Returns the finding that reports the failures.
    pub(crate) fn finding(&self) -> Option<FileFinding> {
        let (error, count) = self.trouble.as_ref()?;
        let again = if self.is_hung { "; it was not queried again" } else { "" };
        let message = format!("{} failed: {error}{again}; files may be missing", self.url);
        Some(FileFinding { kind: FileFindingKind::Server, message, count: *count })
    }
}
