//! Conversion of one recording, unless its manifest exists.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::absolute::absolute;
use super::digest::{FileState, RecordingDigest};
use super::named_options::NamedOptions;
use super::runner::{Outcome, Runner};
use crate::day::{day_of, day_written};
use crate::error::Error;
use crate::manifest::{Manifest, Status, VERSION};
use crate::tree::Tree;

/// Conversion of recordings with the same options into the same tree.
#[derive(Debug)]
pub struct Converter {
    /// Tree of the results.
    pub tree: Tree,
    /// Runs of the program.
    pub runner: Runner,
    /// Options of the runs.
    pub options: NamedOptions,
    /// Version of the program.
    pub version: String,
    /// Final statuses that are converted again.
    pub redo: Vec<Status>,
}

/// A recording and its manifest.
#[derive(Clone, PartialEq, Debug)]
pub struct Converted {
    /// Its manifest.
    pub manifest: Manifest,
    /// False if an earlier call converted the recording.
    pub is_new: bool,
}

impl Converter {
    /// Converts a recording, or returns the manifest of an earlier conversion with a final status.
    ///
    /// # Errors
    /// If the tree cannot be written, or the call is wrong. Defects of the recording are in the manifest.
    pub fn convert(&self, recording: &Path) -> Result<Converted, Error> {
        let started = Instant::now();
        let path = absolute(recording);
        let before = FileState::of(&path);
        let read = RecordingDigest::of(&path).and_then(|digest| Ok((digest, day_written(&path)?)));
        let (digest, written) = match read {
            Ok(read) => read,
            Err(error) => {
                let outcome = Outcome::without_rows(Status::Unreadable, error.to_string(), 0);
                let manifest = self.manifest(&path, None, outcome, started);
                return Ok(Converted { manifest, is_new: true });
            }
        };
        let own = self.own(&digest);
        let stored = self.tree.stored(&own, &written)?;
        let mut day = written;
        if let Some((stored_day, manifest)) = stored {
            if manifest.status.is_final() && !self.redo.contains(&manifest.status) {
                let manifest = Manifest { path: text_of(&path), ..manifest };
                return Ok(Converted { manifest, is_new: false });
            }
            day = stored_day;
        }
        let part = self.tree.unfinished();
        let mut outcome = self.runner.outcome(&path, part.path())?;
        if FileState::of(&path) != before {
            let message = "the recording changed while it was read".to_owned();
            outcome = Outcome::without_rows(Status::GaveUp, message, outcome.attempts);
        }
        if let Some(start) = outcome.account.start_utc_ns {
            day = day_of(i64::try_from(start / 1_000_000_000).unwrap_or(0));
        }
        let rows = if outcome.status.has_rows() {
            Some(self.tree.add_part(&part, &day, &own)?)
        } else {
            None
        };
        let (part, part_bytes) = rows.unzip();
        let manifest = self.manifest(&path, Some(digest), outcome, started);
        let manifest = Manifest { date: Some(day.clone()), part, part_bytes, ..manifest };
        self.tree.add_manifest(&manifest, &day, &own)?;
        Ok(Converted { manifest, is_new: true })
    }

    /// Returns the folder of a recording, relative to that of its day.
    fn own(&self, digest: &RecordingDigest) -> PathBuf {
        let recording = PathBuf::from(format!("recording_sha256={}", digest.sha256));
        recording.join(format!("opts={}", self.options.hash))
    }

    /// Returns a manifest without the file of rows.
    fn manifest(
        &self,
        path: &Path,
        digest: Option<RecordingDigest>,
        outcome: Outcome,
        started: Instant,
    ) -> Manifest {
        let Outcome { status, message, attempts, account } = outcome;
        let milliseconds = started.elapsed().as_millis();
        Manifest {
            manifest: VERSION,
            path: text_of(path),
            bytes: digest.as_ref().map(|digest| digest.bytes),
            recording_sha256: digest.map(|digest| digest.sha256),
            date: None,
            opts: self.options.hash.clone(),
            options: self.options.named.clone(),
            tool: self.version.clone(),
            part: None,
            part_bytes: None,
            status,
            message,
            attempts,
            samples: account.samples,
            complete_share: account.complete_share,
            findings: account.findings,
            modules: account.modules,
            seconds: milliseconds as f64 / 1e3,
        }
    }
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
