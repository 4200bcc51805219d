//! The servers of a run: which are asked, and what went wrong with each.

use image_store::{FileFinding, FileFindingKind};

use crate::files::request::NotGiven;

/// A server that failed so often is not asked again in a run.
const FAILURES: u64 = 3;

/// A server and what a run knows of it.
#[derive(Debug, Default)]
pub(crate) struct Server {
    /// Its address, without a slash at the end.
    pub(crate) url: String,
    /// The first thing that went wrong, and how many files did not come.
    trouble: Option<(String, u64)>,
    /// How often it failed.
    failures: u64,
    /// It kept the run waiting in vain.
    is_hung: bool,
    /// The observer knows that it is waited for.
    pub(crate) is_announced: bool,
}

impl Server {
    pub(crate) fn new(url: &str) -> Self {
        Self { url: url.trim_end_matches('/').to_owned(), ..Self::default() }
    }

    /// Returns true if the server is asked for further files.
    pub(crate) fn is_asked(&self) -> bool {
        !self.is_hung && self.failures < FAILURES
    }

    /// Notes why a file did not come.
    pub(crate) fn failed(&mut self, reason: &NotGiven) {
        let text = match reason {
            NotGiven::NotThere | NotGiven::Stopped => return,
            NotGiven::NotWanted(text) => text,
            NotGiven::Failed(text) => {
                self.failures += 1;
                text
            }
            NotGiven::Hung(text) => {
                self.is_hung = true;
                text
            }
        };
        self.trouble.get_or_insert_with(|| (text.clone(), 0)).1 += 1;
    }

    /// The finding of what went wrong.
    pub(crate) fn finding(&self) -> Option<FileFinding> {
        let (error, count) = self.trouble.as_ref()?;
        let again = if self.is_hung { "; it was not queried again" } else { "" };
        let message = format!("{} failed: {error}{again}; files may be missing", self.url);
        Some(FileFinding { kind: FileFindingKind::Server, message, count: *count })
    }
}
