//! Folders and files of the tree. A file appears with its final name when it is complete.
//!
//! ```text
//!   OUT/v2/date=DAY/recording_sha256=SHA256/opts=HASH/part.parquet
//!                                                    _manifest.json     written last
//!   OUT/v2-notes/urls/HASH.json                                           the recording at a URL
//! ```
//!
//! Engines that read folders ignore names that begin with an underscore or a dot.
#![allow(clippy::disallowed_methods, reason = "the files of the tree are written here")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::rand::{GetRandomFlags, getrandom};
use serde::Serialize;

use crate::error::Error;
use crate::manifest::{Manifest, VERSION};
#[cfg(feature = "urls")]
use crate::object_tree::{Layout, ObjectTree};
use crate::remote::{Remote, scheme_of};

/// Name of the folder; its number changes with the layout.
pub(crate) const LAYOUT: &str = "v2";
/// Name of the folder of notes, which engines that read the tree do not see.
#[cfg(feature = "urls")]
const NOTES: &str = "v2-notes";
const PART: &str = "part.parquet";
/// Name of a manifest.
pub(crate) const MANIFEST: &str = "_manifest.json";
/// Prefix of the name of a file until it is complete.
const UNFINISHED: &str = ".unfinished-";
/// Prefix of the name of a folder for a day.
pub(crate) const DAY: &str = "date=";

/// The tree of converted recordings below a folder.
#[derive(Debug)]
pub struct Tree {
    out: PathBuf,
    /// Folder of days, or a local folder for partial files if the tree is in a store.
    root: PathBuf,
    #[cfg(feature = "urls")]
    objects: Option<ObjectTree>,
}

impl Tree {
    /// Opens a tree below `out`, which is created if it does not exist; or below a URL, with the access of `remote`.
    ///
    /// # Errors
    /// If the folder or store cannot be written.
    pub fn open(out: &Path, remote: &Remote) -> Result<Self, Error> {
        if let Some(scheme) = scheme_of(out) {
            return Self::in_store(out, remote, scheme);
        }
        let root = out.join(LAYOUT);
        fs::create_dir_all(&root).map_err(Error::output(&root))?;
        let tree = Self {
            out: out.to_owned(),
            root,
            #[cfg(feature = "urls")]
            objects: None,
        };
        // Only writing shows that a file system is not read-only, or full.
        let probe = tree.unfinished();
        fs::write(probe.path(), b"\n").map_err(Error::output(&tree.root))?;
        Ok(tree)
    }

    #[cfg(feature = "urls")]
    fn in_store(out: &Path, remote: &Remote, _scheme: &'static str) -> Result<Self, Error> {
        let layout = Layout { root: LAYOUT, notes: NOTES, part: PART, manifest: MANIFEST };
        let objects = ObjectTree::open(remote.objects(out)?, remote.folder()?, layout)?;
        let root = objects.scratch().to_owned();
        Ok(Self { out: out.to_owned(), root, objects: Some(objects) })
    }

    #[cfg(not(feature = "urls"))]
    fn in_store(_out: &Path, _remote: &Remote, scheme: &'static str) -> Result<Self, Error> {
        Err(Error::NoUrls { scheme })
    }

    /// Returns the folder of a recording, below that of a day.
    fn folder(&self, day: &str, own: &Path) -> PathBuf {
        self.root.join(format!("{DAY}{day}")).join(own)
    }

    /// Returns the days of the tree, in any order.
    fn days(&self) -> Result<Vec<String>, Error> {
        let failed = || Error::output(&self.root);
        let mut days = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(failed())? {
            let name = entry.map_err(failed())?.file_name();
            if let Some(day) = name.to_str().and_then(|name| name.strip_prefix(DAY)) {
                days.push(day.to_owned());
            }
        }
        Ok(days)
    }

    /// Returns the manifest of a recording, and its day, if it and the file that it describes are complete.
    ///
    /// The day of a copy can differ, so all are searched, `likely` first.
    pub(crate) fn stored(
        &self,
        own: &Path,
        likely: &str,
    ) -> Result<Option<(String, Manifest)>, Error> {
        #[cfg(feature = "urls")]
        if let Some(objects) = &self.objects {
            return objects.stored(own, likely);
        }
        if let Some(manifest) = self.stored_on(likely, own) {
            return Ok(Some((likely.to_owned(), manifest)));
        }
        let mut days = self.days()?;
        days.sort_unstable();
        let mut others = days.into_iter().filter(|day| day != likely);
        Ok(others.find_map(|day| Some((day.clone(), self.stored_on(&day, own)?))))
    }

    fn stored_on(&self, day: &str, own: &Path) -> Option<Manifest> {
        let folder = self.folder(day, own);
        let text = fs::read(folder.join(MANIFEST)).ok()?;
        let manifest: Manifest = serde_json::from_slice(&text).ok()?;
        let is_whole = manifest.part.is_none() || {
            let size = fs::metadata(folder.join(PART)).ok().map(|state| state.len());
            size.is_some() && size == manifest.part_bytes
        };
        (manifest.manifest == VERSION && is_whole).then_some(manifest)
    }

    /// Returns a unique path for a file that is not complete yet.
    pub(crate) fn unfinished(&self) -> Unfinished {
        let mut bytes = [0; 16];
        // Without random numbers, the address of the array and the process distinguish names.
        let _ = getrandom(&mut bytes, GetRandomFlags::empty());
        let number = u128::from_le_bytes(bytes) ^ u128::from(std::process::id());
        Unfinished { path: self.root.join(format!("{UNFINISHED}{number:032x}")) }
    }

    /// Gives the rows of a recording their name. Returns it, relative to the folder of the tree, with the size in bytes.
    ///
    /// # Errors
    /// If a folder or file cannot be written.
    pub(crate) fn add_part(
        &self,
        part: &Unfinished,
        day: &str,
        own: &Path,
    ) -> Result<(String, u64), Error> {
        #[cfg(feature = "urls")]
        if let Some(objects) = &self.objects {
            return objects.add_part(part.path(), day, own);
        }
        let folder = self.folder(day, own);
        fs::create_dir_all(&folder).map_err(Error::output(&folder))?;
        let name = folder.join(PART);
        let bytes = part.finish(&name)?;
        let relative = name.strip_prefix(&self.out).unwrap_or(&name);
        Ok((relative.to_string_lossy().into_owned(), bytes))
    }

    /// Writes the manifest of a recording, then removes those of earlier conversions under other days.
    ///
    /// # Errors
    /// If a folder or file cannot be written.
    pub(crate) fn add_manifest(
        &self,
        manifest: &Manifest,
        day: &str,
        own: &Path,
    ) -> Result<(), Error> {
        let folder = self.folder(day, own);
        let text = pretty(manifest).map_err(Error::output(&folder))?;
        #[cfg(feature = "urls")]
        if let Some(objects) = &self.objects {
            return objects.add_manifest(text, day, own);
        }
        fs::create_dir_all(&folder).map_err(Error::output(&folder))?;
        let file = self.unfinished();
        fs::write(file.path(), text).map_err(Error::output(file.path()))?;
        file.finish(&folder.join(MANIFEST))?;
        self.remove_others(day, own)
    }

    /// Returns the contents of a note, if it exists.
    ///
    /// # Errors
    /// If the store of the tree cannot be read.
    #[cfg(feature = "urls")]
    pub(crate) fn note(&self, name: &Path) -> Result<Option<Vec<u8>>, Error> {
        match &self.objects {
            Some(objects) => objects.note(name),
            None => Ok(fs::read(self.out.join(NOTES).join(name)).ok()),
        }
    }

    /// Writes or replaces a note, such as `urls/HASH.json`.
    ///
    /// # Errors
    /// If a folder or file cannot be written.
    #[cfg(feature = "urls")]
    pub(crate) fn add_note(&self, name: &Path, text: Vec<u8>) -> Result<(), Error> {
        if let Some(objects) = &self.objects {
            return objects.add_note(name, text);
        }
        let name = self.out.join(NOTES).join(name);
        let folder = name.parent().unwrap_or(&self.out);
        fs::create_dir_all(folder).map_err(Error::output(folder))?;
        let file = self.unfinished();
        fs::write(file.path(), text).map_err(Error::output(file.path()))?;
        file.finish(&name).map(drop)
    }

    fn remove_others(&self, day: &str, own: &Path) -> Result<(), Error> {
        for other in self.days()?.into_iter().filter(|other| other != day) {
            let folder = self.folder(&other, own);
            if !folder.is_dir() {
                continue;
            }
            for name in [MANIFEST, PART] {
                // Another process can remove it at the same time.
                let _ = fs::remove_file(folder.join(name));
            }
            // Folders with other files stay.
            let empty = folder.ancestors().take_while(|folder| *folder != self.root);
            let _ = empty.map(fs::remove_dir).take_while(Result::is_ok).count();
        }
        Ok(())
    }
}

/// Returns true if engines that read folders ignore a name.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_'))
}

/// Returns a manifest as indented JSON.
pub(crate) fn pretty(manifest: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let indented = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut writer = serde_json::Serializer::with_formatter(&mut text, indented);
    manifest.serialize(&mut writer)?;
    Ok(text)
}

/// A file that is not complete yet. It is removed with this value, unless it was renamed.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Returns the path, at which no file exists at first.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the file after its bytes are on disk: a manifest must be correct even after a crash of the host.
    /// Returns the size in bytes.
    fn finish(&self, name: &Path) -> Result<u64, Error> {
        let rename = || {
            let file = File::open(&self.path)?;
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            fs::rename(&self.path, name)?;
            Ok(bytes)
        };
        rename().map_err(Error::output(name))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename, there is none.
        let _ = fs::remove_file(&self.path);
    }
}
