//! Small reads and writes of objects below a prefix.
#![allow(clippy::disallowed_methods, reason = "rows to upload are read here")]

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::path::Path as Location;
use object_store::{Error as StoreError, MultipartUpload, ObjectStore, ObjectStoreExt as _};

use super::address::Address;
use super::failure::Failure;
use super::session::Session;
use crate::error::Error;

/// Size of a part of a large upload, in bytes. Stores require 5 MiB.
const PART: usize = 8 << 20;

/// Objects below the URL of a prefix.
#[derive(Debug)]
pub(crate) struct Objects {
    session: Arc<Session>,
    client: Arc<dyn ObjectStore>,
    prefix: Address,
}

impl Objects {
    pub(super) fn new(session: Arc<Session>, prefix: Address) -> Result<Self, Failure> {
        let client = session.stores().client(&prefix)?;
        Ok(Self { session, client, prefix })
    }

    /// Returns the URL of an object, without secrets.
    fn shown(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("{}/{name}", self.prefix.shown().trim_end_matches('/')))
    }

    fn location(&self, name: &str) -> Result<Location, StoreError> {
        let prefix = self.prefix.location();
        Ok(Location::parse(format!("{prefix}/{name}"))?)
    }

    /// Waits for a request. Its failure concerns all recordings.
    fn wait<T>(
        &self,
        name: &str,
        request: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, Error> {
        self.session.stores().wait(request).map_err(|error| {
            let message = Failure::of(&error).message;
            Error::Output { path: self.shown(name), source: std::io::Error::other(message) }
        })
    }

    /// Returns the bytes of an object, if it exists.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.wait(name, async {
            match self.client.get(&self.location(name)?).await {
                Ok(found) => Ok(Some(found.bytes().await?.to_vec())),
                Err(StoreError::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Returns the size of an object in bytes, if it exists.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) fn size(&self, name: &str) -> Result<Option<u64>, Error> {
        self.wait(name, async {
            match self.client.head(&self.location(name)?).await {
                Ok(state) => Ok(Some(state.size)),
                Err(StoreError::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Writes an object.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub(crate) fn write(&self, name: &str, bytes: Vec<u8>) -> Result<(), Error> {
        self.wait(name, async {
            self.client.put(&self.location(name)?, bytes.into()).await.map(drop)
        })
    }

    /// Removes an object, if it exists. Without the right, it stays.
    pub(crate) fn remove(&self, name: &str) {
        let _ = self.wait(name, async { self.client.delete(&self.location(name)?).await });
    }

    /// Writes a file as an object, in parts if it is large. Returns its size in bytes.
    ///
    /// # Errors
    /// If the file cannot be read, or the store cannot be written.
    pub(crate) fn upload(&self, name: &str, file: &Path) -> Result<u64, Error> {
        let mut file = File::open(file).map_err(Error::output(file))?;
        let mut next = || {
            let mut part = Vec::new();
            let read = (&mut file).take(PART as u64).read_to_end(&mut part);
            read.map_err(Error::output(&self.shown(name)))?;
            Ok(part)
        };
        let first: Vec<u8> = next()?;
        if first.len() < PART {
            let bytes = first.len() as u64;
            self.write(name, first)?;
            return Ok(bytes);
        }
        let mut upload =
            self.wait(name, async { self.client.put_multipart(&self.location(name)?).await })?;
        let written = self.add_parts(name, &mut *upload, first, next);
        if written.is_err() {
            // Stores remove parts of broken uploads by their own rules otherwise.
            let _ = self.wait(name, upload.abort());
        }
        written
    }

    fn add_parts(
        &self,
        name: &str,
        upload: &mut dyn MultipartUpload,
        first: Vec<u8>,
        mut next: impl FnMut() -> Result<Vec<u8>, Error>,
    ) -> Result<u64, Error> {
        let (mut part, mut bytes) = (first, 0);
        while !part.is_empty() {
            bytes += part.len() as u64;
            self.wait(name, upload.put_part(part.into()))?;
            part = next()?;
        }
        self.wait(name, upload.complete())?;
        Ok(bytes)
    }
}

#[cfg(test)]
impl Objects {
    /// Returns objects in memory, as if they were below a URL.
    pub(crate) fn in_memory(remote: &super::Remote, url: &str) -> Self {
        Self {
            session: remote.session().expect("a session"),
            client: Arc::new(object_store::memory::InMemory::new()),
            prefix: Address::parse_prefix(url).expect("a prefix"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::Remote;

    #[test]
    fn objects_are_written_read_and_removed() {
        let objects = Objects::in_memory(&Remote::default(), "s3://b/x/");
        assert_eq!(objects.shown("a/b"), Path::new("s3://b/x/a/b"));
        assert_eq!(objects.location("a=b/c").expect("a path").as_ref(), "x/a=b/c");
        assert_eq!(objects.read("a").expect("a store"), None);
        assert_eq!(objects.size("a").expect("a store"), None);
        objects.write("a", b"bytes".to_vec()).expect("a store");
        assert_eq!(objects.read("a").expect("a store").as_deref(), Some(&b"bytes"[..]));
        assert_eq!(objects.size("a").expect("a store"), Some(5));
        objects.remove("a");
        assert_eq!(objects.size("a").expect("a store"), None);
        let bucket = Objects::in_memory(&Remote::default(), "s3://b");
        assert_eq!(bucket.location("a").expect("a path").as_ref(), "a");
    }

    #[test]
    fn large_files_are_uploaded_in_parts() {
        let remote = Remote::default();
        let (objects, folder) = (Objects::in_memory(&remote, "s3://b"), remote.folder());
        let file = folder.as_ref().expect("a folder").path().join("part");
        for bytes in [0, 5, PART, 2 * PART + 1] {
            std::fs::write(&file, vec![7; bytes]).expect("a file");
            assert_eq!(objects.upload("a", &file).expect("a store"), bytes as u64);
            assert_eq!(objects.read("a").expect("a store"), Some(vec![7; bytes]));
        }
    }
}
