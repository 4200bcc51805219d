//! Downloads of a run, and the private folder that they share.
#![allow(clippy::disallowed_methods, reason = "the private folders of downloads are made here")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use host::ScratchDir;

use super::address::{Address, InvalidAddress};
use super::download::{Download, download};
use super::failure::Failure;
use super::objects::Objects;
use super::stores::{ObjectState, Stores};
use crate::error::Error;

/// Access to recordings at URLs, which starts with the first one.
#[derive(Clone, Debug, Default)]
pub struct Remote {
    /// Number of repetitions of a failed request; `None` for that of the clients.
    retries: Option<usize>,
    session: Arc<Mutex<Option<Arc<Session>>>>,
}

/// Clients and the private folder of a run.
#[derive(Debug)]
pub(super) struct Session {
    stores: Stores,
    scratch: ScratchDir,
    folders: AtomicU64,
}

/// A private folder for one download. It is removed with this value.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
    session: Arc<Session>,
}

impl Session {
    pub(super) const fn stores(&self) -> &Stores {
        &self.stores
    }
}

impl Remote {
    /// Returns an access that repeats a failed request at most this number of times.
    #[must_use]
    pub fn with_retries(retries: usize) -> Self {
        Self { retries: Some(retries), ..Self::default() }
    }

    /// Returns the session, which starts with the first call.
    pub(super) fn session(&self) -> Result<Arc<Session>, Error> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &*session {
            return Ok(Arc::clone(session));
        }
        let parent = std::env::temp_dir();
        let failed = || Error::output(&parent);
        let started = Arc::new(Session {
            stores: Stores::new(self.retries).map_err(failed())?,
            scratch: ScratchDir::below(&parent).map_err(failed())?,
            folders: AtomicU64::new(0),
        });
        Ok(Arc::clone(session.insert(started)))
    }

    /// Returns access to the objects below the URL of a prefix.
    ///
    /// # Errors
    /// If it is not such a URL, or a setting of the environment is not valid.
    pub(crate) fn objects(&self, url: &Path) -> Result<Objects, Error> {
        let failed = |shown: String, message: String| Error::Output {
            path: shown.into(),
            source: std::io::Error::other(message),
        };
        let prefix = Address::parse_prefix(&url.to_string_lossy())
            .map_err(|InvalidAddress { shown, message }| failed(shown, message))?;
        let shown = prefix.shown().to_owned();
        let objects = Objects::new(self.session()?, prefix);
        objects.map_err(|failure| failed(shown, failure.message))
    }

    /// Creates a private folder below that for temporary files.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn folder(&self) -> Result<PrivateFolder, Error> {
        let session = self.session()?;
        let number = session.folders.fetch_add(1, Ordering::Relaxed);
        let path = session.scratch.path().join(number.to_string());
        fs::create_dir(&path).map_err(Error::output(&path))?;
        Ok(PrivateFolder { path, session })
    }
}

impl PrivateFolder {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Downloads an object into this folder. Returns `None` if it is in the `known` state.
    ///
    /// # Errors
    /// If the object cannot be read, or the disk has not enough space.
    pub(crate) fn download(
        &self,
        address: &Address,
        known: Option<&ObjectState>,
    ) -> Result<Option<Download>, Failure> {
        download(self.session.stores(), address, known, &self.path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // The folder of the session is removed in any case.
        let _ = fs::remove_dir_all(&self.path);
    }
}
