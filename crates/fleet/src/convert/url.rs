//! Conversion of a recording at a URL, by its download to a private file.
//!
//! A note in the tree states which recording an object was. An object with the same state is not downloaded again.

use std::path::{Path, PathBuf};
use std::time::Instant;

use options::to_hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::converter::{Converted, Converter};
use super::runner::Outcome;
use crate::day::day_of;
use crate::error::Error;
use crate::manifest::{Manifest, Status};
use crate::remote::{Address, Download, Failure, InvalidAddress, ObjectState};

/// State and content of an object at its last download.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The URL without user and query.
    url: String,
    state: ObjectState,
    /// SHA-256 of the object in hexadecimal.
    recording_sha256: String,
}

impl Converter {
    /// Downloads and converts a recording.
    ///
    /// # Errors
    /// The same as of [`Self::convert`].
    pub(super) fn convert_url(
        &self,
        recording: &Path,
        scheme: &'static str,
        started: Instant,
    ) -> Result<Converted, Error> {
        let failed = |name: &str, status, message| {
            let outcome = Outcome::without_rows(status, message, 0);
            Ok(self.without_digest(name, outcome, started))
        };
        let Some(text) = recording.to_str() else {
            let name = format!("{scheme}://…");
            return failed(&name, Status::Unreadable, format!("{name} is not UTF-8"));
        };
        let address = match Address::parse(text) {
            Ok(address) => address,
            Err(InvalidAddress { shown, message }) => {
                return failed(&shown, Status::Unreadable, message);
            }
        };
        let name = address.shown();
        let known = self.known(&address)?;
        let folder = self.remote.folder()?;
        let state = known.as_ref().map(|(state, _)| state);
        match (folder.download(&address, state), known) {
            (Ok(Some(Download { path, state })), _) => {
                let converted = self.convert_file(&path, name, started)?;
                self.add_note(&address, state, &converted.manifest)?;
                Ok(converted)
            }
            (Ok(None), Some((_, manifest))) => Ok(Converted::earlier(manifest, name)),
            // A store that answers this way does not follow its protocol.
            (Ok(None), None) => failed(name, Status::GaveUp, format!("cannot read {name}")),
            (Err(Failure { status, message }), _) => {
                failed(name, status, format!("cannot read {name}: {message}"))
            }
        }
    }

    /// Returns the state of an object at its last download, with the current manifest of its recording.
    fn known(&self, address: &Address) -> Result<Option<(ObjectState, Manifest)>, Error> {
        let note = if address.has_query() { None } else { self.tree.note(&note_name(address))? };
        let note = note.and_then(|text| serde_json::from_slice::<Note>(&text).ok());
        let Some(note) = note.filter(|note| note.url == address.shown()) else { return Ok(None) };
        let own = self.own(&note.recording_sha256);
        let stored = self.tree.stored(&own, &day_of(note.state.modified))?;
        let current = stored.filter(|(_, manifest)| self.is_current(manifest));
        Ok(current.map(|(_, manifest)| (note.state, manifest)))
    }

    /// Notes which recording an object is, unless that can change unnoticed.
    fn add_note(
        &self,
        address: &Address,
        state: ObjectState,
        manifest: &Manifest,
    ) -> Result<(), Error> {
        let Some(recording_sha256) = manifest.recording_sha256.clone() else { return Ok(()) };
        if address.has_query() || !state.is_telling() {
            return Ok(());
        }
        let note = Note { url: address.shown().to_owned(), state, recording_sha256 };
        let name = note_name(address);
        let text = serde_json::to_vec(&note)
            .map_err(|error| Error::Output { path: name.clone(), source: error.into() })?;
        self.tree.add_note(&name, text)
    }
}

/// Returns the name of the note about an object.
fn note_name(address: &Address) -> PathBuf {
    let hash = to_hex(&Sha256::digest(address.shown().as_bytes()));
    PathBuf::from("urls").join(format!("{hash}.json"))
}
