//! Host that answers from a bundle's manifest, and from nothing else.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use host::{
    ByteStream, Content, CountedBytes, DirEntry, FILE_STORE, FileKind, FileOwner, FileStamp,
    FileStat, Host, HostError, HostFile, HostFinding, HostText, Origin, READ_LIMIT, Reads,
    RecordedFile,
};
use image_store::RECORDED_COPIES;

use crate::manifest::{AbsentFile, Bytes, Manifest, PathAnswer, RequestedPath};

/// Host that answers from a bundle alone.
#[derive(Debug)]
pub struct BundleHost {
    /// By path, and by the folder that its resolution must not leave.
    places: HashMap<Bytes, HashMap<Option<Bytes>, RequestedPath>>,
    variables: HashMap<String, Option<OsString>>,
    vdso: Option<Vec<u8>>,
    /// The files; `None` for an absent one.
    contents: Vec<Option<BundleContent>>,
    /// One path of each content.
    paths: Vec<PathBuf>,
    /// Requested paths that the bundle does not contain.
    unknown: Mutex<BTreeSet<PathBuf>>,
    /// Build-ids of absent files that no store has, by index of the content.
    missing: Vec<Option<String>>,
    /// Requested paths of such files, with their build-ids.
    not_stored: Mutex<BTreeSet<(PathBuf, String)>>,
}

/// Stored file, and the reads in its holes.
#[derive(Debug)]
pub(super) struct BundleContent {
    pub(super) bytes: Content,
    /// The reads in its holes; `None` for a file of a store, which is whole.
    pub(super) reads: Option<Reads>,
    /// Accounting of its memory, which is a mapping.
    #[expect(dead_code, reason = "it counts while it lives")]
    pub(super) counted: CountedBytes,
}

impl BundleContent {
    /// A file of a store, which takes no memory.
    pub(super) fn of_store(bytes: Content) -> Self {
        Self { bytes, reads: None, counted: CountedBytes::new(0) }
    }
}

impl BundleHost {
    pub(super) fn new(manifest: &Manifest, contents: Vec<Option<BundleContent>>) -> Self {
        let vdso = manifest.vdso.and_then(|at| contents.get(at)?.as_ref());
        let vdso = vdso.map(|content| content.bytes.to_vec());
        let mut paths = vec![PathBuf::new(); contents.len()];
        let mut places: HashMap<Bytes, HashMap<Option<Bytes>, RequestedPath>> = HashMap::new();
        for place in &manifest.places {
            if let Some(path) = place.content().and_then(|at| paths.get_mut(at)) {
                *path = place.path.to_path();
            }
            let of_path = places.entry(place.path.clone()).or_default();
            of_path.entry(place.root.clone()).or_insert_with(|| place.clone());
        }
        let variables = manifest.variables.iter();
        let variables = variables
            .map(|(name, value)| (name.clone(), value.as_ref().map(Bytes::to_os_string)))
            .collect();
        let missing = manifest.contents.iter().zip(&contents).map(|(stored, content)| {
            let id = AbsentFile(stored).build_id().filter(|_| content.is_none())?;
            Some(id.0)
        });
        let missing = missing.collect();
        let (unknown, not_stored) = (Mutex::default(), Mutex::default());
        Self { places, variables, vdso, contents, paths, unknown, missing, not_stored }
    }

    /// Returns the paths of files with reads in their holes.
    #[must_use]
    pub fn read_holes(&self) -> Vec<PathBuf> {
        let is_read = |content: &Option<BundleContent>| {
            content.as_ref().and_then(|content| content.reads.as_ref()).is_some_and(Reads::any)
        };
        let contents = self.contents.iter().zip(&self.paths);
        contents.filter(|(content, _)| is_read(content)).map(|(_, path)| path.clone()).collect()
    }

    /// Returns the answer for a place.
    fn place(&self, path: &Path, origin: Origin<'_>) -> Result<&RequestedPath, HostError> {
        let root = origin.root().map(Bytes::of_path);
        let places = self.places.get(&Bytes::of_path(path));
        let known = places.and_then(|it| it.get(&root));
        known.ok_or_else(|| self.unknown(path))
    }

    /// Returns true for the copies of another recording in a store. Those of this recording were requested when the bundle
    /// was made; a rewritten recording has other ones, which no store can have.
    fn is_of_another_recording(&self, path: &Path) -> bool {
        let is_copies = |folder: &&Path| folder.ends_with(RECORDED_COPIES);
        let copies = path.ancestors().skip(1).find(is_copies);
        copies.is_some_and(|folder| self.places.contains_key(&Bytes::of_path(folder)))
    }

    /// Records a request that the bundle cannot answer.
    fn unknown(&self, path: &Path) -> HostError {
        if self.is_of_another_recording(path) {
            return HostError::missing(path);
        }
        let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        unknown.insert(path.to_owned());
        HostError::missing(path)
    }

    /// Records a request for bytes that are not here.
    fn not_there(&self, path: &Path, content: Option<usize>) -> HostError {
        let id = content.and_then(|at| self.missing.get(at)?.as_ref());
        let Some(id) = id else { return self.unknown(path) };
        let mut not_stored = self.not_stored.lock().unwrap_or_else(PoisonError::into_inner);
        not_stored.insert((path.to_owned(), id.clone()));
        HostError::missing(path)
    }

    /// Returns stamp, owner and bytes of a regular file.
    fn file(
        &self,
        path: &Path,
        origin: Origin<'_>,
    ) -> Result<(FileStamp, Option<FileOwner>, &Content), HostError> {
        let place = self.place(path, origin)?;
        match &place.found {
            PathAnswer::File { content, owner, .. } => {
                let found = content.and_then(|at| self.contents.get(at)?.as_ref());
                let content = found.ok_or_else(|| self.not_there(path, *content))?;
                let stamp = stamp(&place.found).unwrap_or_default();
                Ok((stamp, owner.map(Into::into), &content.bytes))
            }
            PathAnswer::Other { .. } => Err(HostError::NotRegular { path: path.to_owned() }),
            PathAnswer::Failed { why } => Err(why.error(path)),
        }
    }
}

/// Returns the stamp of a file; its device number does not refer to this host.
fn stamp(found: &PathAnswer) -> Option<FileStamp> {
    match *found {
        PathAnswer::File { device, inode, size, modified, .. } => {
            Some(FileStamp { device, inode, size, modified: modified.into(), changed: 0 })
        }
        PathAnswer::Other { .. } | PathAnswer::Failed { .. } => None,
    }
}

impl Host for BundleHost {
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError> {
        let (stamp, _, content) = self.file(path, origin)?;
        Ok(HostFile { content: content.clone(), stamp })
    }

    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError> {
        let (_, owner, content) = self.file(path, origin)?;
        if content.len() as u64 > READ_LIMIT {
            return Err(HostError::TooLarge { path: path.to_owned(), limit: READ_LIMIT });
        }
        Ok(HostText { bytes: content.to_vec(), owner: owner.unwrap_or(FileOwner::Other(u32::MAX)) })
    }

    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError> {
        let (_, _, content) = self.file(path, origin)?;
        Ok(ByteStream::of_reader(std::io::Cursor::new(content.clone())))
    }

    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError> {
        match &self.place(path, origin)?.found {
            found @ PathAnswer::File { .. } => {
                let stamp = stamp(found).unwrap_or_default();
                Ok(FileStat { kind: FileKind::Regular, stamp })
            }
            PathAnswer::Other { kind } => {
                Ok(FileStat { kind: (*kind).into(), stamp: FileStamp::default() })
            }
            PathAnswer::Failed { why } => Err(why.error(path)),
        }
    }

    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        let place = self.place(path, origin)?;
        match (place.recorded, &place.found) {
            (Some(recorded), _) => Ok(recorded.into()),
            (None, PathAnswer::Failed { why }) => Err(why.error(path)),
            (None, _) => Err(self.unknown(path)),
        }
    }

    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError> {
        let place = self.place(path, origin)?;
        match (&place.entries, &place.found) {
            (Some(entries), _) => Ok(entries.iter().map(Into::into).collect()),
            (None, PathAnswer::Failed { why }) => Err(why.error(path)),
            (None, _) => Err(self.unknown(path)),
        }
    }

    fn running_vdso(&self) -> Option<Vec<u8>> {
        self.vdso.clone()
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.variables.get(name).cloned().flatten()
    }

    /// Returns `None` if the run did not search the store.
    fn file_store(&self) -> Option<PathBuf> {
        let store = self.cache_home()?.join(FILE_STORE);
        self.places.keys().any(|path| path.to_path().starts_with(&store)).then_some(store)
    }

    fn findings(&self) -> Vec<HostFinding> {
        let unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let unknown = unknown.into_iter().map(|path| HostFinding::NotInBundle { path });
        let missing = self.not_stored.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let missing = missing.into_iter();
        let missing = missing.map(|(path, build_id)| HostFinding::NotInStore { path, build_id });
        unknown
            .chain(missing)
            .chain(self.read_holes().into_iter().map(|path| HostFinding::Hole { path }))
            .collect()
    }
}
