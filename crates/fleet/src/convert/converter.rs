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
use crate::remote::{Remote, scheme_of};
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
    /// Access to recordings at URLs.
    pub remote: Remote,
}

/// A recording and its manifest.
#[derive(Clone, PartialEq, Debug)]
pub struct Converted {
    /// Its manifest.
    pub manifest: Manifest,
    /// False if an earlier call converted the recording.
    pub is_new: bool,
}

impl Converted {
    /// Returns the manifest of an earlier conversion, with the current name of the recording.
    pub(super) fn earlier(manifest: Manifest, name: &str) -> Self {
        Self { manifest: Manifest { path: name.to_owned(), ..manifest }, is_new: false }
    }
}

impl Converter {
    /// Converts a recording, or returns the manifest of an earlier conversion with a final status.
    ///
    /// # Errors
    /// If the tree cannot be written, or the call is wrong. Defects of the recording are in the manifest.
    pub fn convert(&self, recording: &Path) -> Result<Converted, Error> {
        let started = Instant::now();
        match scheme_of(recording) {
            #[cfg(feature = "urls")]
            Some(scheme) => self.convert_url(recording, scheme, started),
            #[cfg(not(feature = "urls"))]
            Some(scheme) => Err(Error::NoUrls { scheme }),
            None => {
                let path = absolute(recording);
                let name = path.to_string_lossy();
                self.convert_file(&path, &name, started)
            }
        }
    }

    /// Converts a local file. Manifests and messages state it as `name`.
    pub(super) fn convert_file(
        &self,
        path: &Path,
        name: &str,
        started: Instant,
    ) -> Result<Converted, Error> {
        let before = FileState::of(path);
        let read = RecordingDigest::of(path).and_then(|digest| Ok((digest, day_written(path)?)));
        let (digest, written) = match read {
            Ok(read) => read,
            Err(error) => {
                let outcome = Outcome::without_rows(Status::Unreadable, error.to_string(), 0);
                return Ok(self.without_digest(name, outcome.named(path, name), started));
            }
        };
        let own = self.own(&digest.sha256);
        let stored = self.tree.stored(&own, &written)?;
        let mut day = written;
        if let Some((stored_day, manifest)) = stored {
            if self.is_current(&manifest) {
                return Ok(Converted::earlier(manifest, name));
            }
            day = stored_day;
        }
        let part = self.tree.unfinished();
        let mut outcome = self.runner.outcome(path, part.path())?.named(path, name);
        if FileState::of(path) != before {
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
        let manifest = self.manifest(name, Some(digest), outcome, started);
        let manifest = Manifest { date: Some(day.clone()), part, part_bytes, ..manifest };
        self.tree.add_manifest(&manifest, &day, &own)?;
        Ok(Converted { manifest, is_new: true })
    }

    /// Returns the result for a recording that cannot be read. The tree does not have its manifest.
    pub(super) fn without_digest(
        &self,
        name: &str,
        outcome: Outcome,
        started: Instant,
    ) -> Converted {
        Converted { manifest: self.manifest(name, None, outcome, started), is_new: true }
    }

    /// Returns true if a stored manifest makes a conversion unnecessary.
    pub(super) fn is_current(&self, manifest: &Manifest) -> bool {
        manifest.status.is_final() && !self.redo.contains(&manifest.status)
    }

    /// Returns the folder of a recording with this SHA-256, relative to that of its day.
    pub(super) fn own(&self, sha256: &str) -> PathBuf {
        let recording = PathBuf::from(format!("recording_sha256={sha256}"));
        recording.join(format!("opts={}", self.options.hash))
    }

    /// Returns a manifest without the file of rows.
    fn manifest(
        &self,
        name: &str,
        digest: Option<RecordingDigest>,
        outcome: Outcome,
        started: Instant,
    ) -> Manifest {
        let Outcome { status, message, attempts, account } = outcome;
        let milliseconds = started.elapsed().as_millis();
        Manifest {
            manifest: VERSION,
            path: name.to_owned(),
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
