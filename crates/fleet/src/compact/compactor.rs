//! Merge of one day, unless nothing changed.
#![allow(clippy::disallowed_methods, reason = "the files of the tree are written here")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use options::to_hex;
use sha2::{Digest as _, Sha256};

use super::manifest::{DayManifest, PartManifest, RecordingManifest, TableManifest, VERSION};
use super::merged::MergedTree;
use super::source::{SourceFile, SourceTree};
use crate::error::Error;
use crate::tree::{MANIFEST, pretty};

/// Number of hexadecimal digits that distinguish the files of a day from earlier ones.
const DIGITS: usize = 8;
/// Column that names a recording.
const RECORDING: &str = "recording_sha256";

/// A file that rows are written to.
pub type PartFile = Box<dyn Write + Send>;

/// A file whose rows are merged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeInput {
    /// The file.
    pub path: PathBuf,
    /// Columns that its path states, with their value.
    pub columns: Vec<(String, String)>,
}

/// Rows that were merged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergedRows {
    /// Number of rows of each written file.
    pub parts: Vec<u64>,
    /// Number of rows of each input.
    pub inputs: Vec<u64>,
    /// The columns, as text.
    pub columns: Vec<String>,
}

/// Reason that rows are not merged.
#[derive(Debug)]
pub enum MergeFailure {
    /// A file cannot be written.
    Output(io::Error),
    /// An input is damaged or does not fit the others, with the message for people.
    Input(String),
}

/// Writer of merged tables.
pub trait TableMerger {
    /// Merges files in their order, into files that `create` opens.
    ///
    /// # Errors
    /// If an input cannot be read, does not fit the others, or a file cannot be written.
    fn merge(
        &self,
        inputs: Vec<MergeInput>,
        create: &mut dyn FnMut() -> io::Result<PartFile>,
    ) -> Result<MergedRows, MergeFailure>;
}

/// Merge of the days of a tree into another tree.
#[derive(Debug)]
pub struct Compactor {
    source: SourceTree,
    merged: MergedTree,
    version: String,
    redo: bool,
}

/// A merged day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompactedDay {
    /// False if an earlier call merged the same files.
    pub is_new: bool,
    /// Number of files before.
    pub files_before: u64,
    /// Their size in bytes.
    pub bytes_before: u64,
    /// Number of files after.
    pub files_after: u64,
    /// Their size in bytes.
    pub bytes_after: u64,
    /// Number of rows.
    pub rows: u64,
}

impl Compactor {
    /// Returns the merge of a tree into another one. With `redo`, days without a change are merged again.
    ///
    /// # Errors
    /// If a tree is inside of the other one.
    pub fn new(
        source: SourceTree,
        merged: MergedTree,
        version: String,
        redo: bool,
    ) -> Result<Self, Error> {
        let (one, other) = (source.root(), merged.root());
        if one.starts_with(other) || other.starts_with(one) {
            return Err(Error::Overlap { path: other.to_owned() });
        }
        Ok(Self { source, merged, version, redo })
    }

    /// Merges a day, unless its files are those of an earlier call. A day without files stays as it is.
    ///
    /// # Errors
    /// If a tree cannot be read or written, or the files cannot be merged. The merged day then stays as it is.
    pub fn compact(&self, day: &str, merger: &dyn TableMerger) -> Result<CompactedDay, Error> {
        let mut tables: BTreeMap<String, Vec<SourceFile>> = BTreeMap::new();
        for file in self.source.files(day)? {
            tables.entry(file.folder.clone()).or_default().push(file);
        }
        let stored = self.merged.stored(day);
        let is_known = |stored: &&DayManifest| !self.redo && describes(stored, &tables);
        if let Some(stored) = stored.as_ref().filter(is_known) {
            return Ok(summary(stored, false));
        }
        let mut manifest = DayManifest {
            merged: VERSION,
            date: day.to_owned(),
            tool: self.version.clone(),
            rows: 0,
            tables: Vec::new(),
        };
        if tables.is_empty() {
            return Ok(summary(&manifest, false));
        }
        let staged = self.merged.stage()?;
        for (folder, files) in &tables {
            let table = self.merge(&staged.folder(), folder, files, merger)?;
            manifest.rows += table.recordings.iter().map(|file| file.rows).sum::<u64>();
            manifest.tables.push(table);
        }
        let path = staged.folder().join(MANIFEST);
        let write = || fs::write(&path, pretty(&manifest)?).and_then(|()| on_disk(&path));
        write().map_err(Error::output(&path))?;
        self.merged.replace(day, &staged)?;
        Ok(summary(&manifest, true))
    }

    /// Merges the files of one folder.
    fn merge(
        &self,
        day: &Path,
        name: &str,
        files: &[SourceFile],
        merger: &dyn TableMerger,
    ) -> Result<TableManifest, Error> {
        let folder = day.join(name);
        let failed = || Error::output(&folder);
        fs::create_dir_all(&folder).map_err(failed())?;
        let (generation, mut names) = (self.generation(files), Vec::new());
        let mut create = || -> io::Result<PartFile> {
            let part = format!("part-{}-{generation}.parquet", names.len());
            let file = File::create_new(folder.join(&part))?;
            names.push(part);
            Ok(Box::new(file))
        };
        let input = |file: &SourceFile| MergeInput {
            path: file.path.clone(),
            columns: file.columns.clone(),
        };
        let merged = merger.merge(files.iter().map(input).collect(), &mut create);
        let merged = merged.map_err(|failure| match failure {
            MergeFailure::Output(source) => failed()(source),
            MergeFailure::Input(message) => Error::Merge { message },
        })?;
        let mut parts = Vec::new();
        for (part, &rows) in names.iter().zip(&merged.parts) {
            let path = folder.join(part);
            let bytes = on_disk(&path).and_then(|()| fs::metadata(&path)).map_err(failed())?.len();
            let part = Path::new(name).join(part).to_string_lossy().into_owned();
            parts.push(PartManifest { part, rows, bytes });
        }
        let recordings = files.iter().zip(merged.inputs);
        let recordings = recordings.map(|(file, rows)| recording(file, rows)).collect();
        Ok(TableManifest { folder: name.to_owned(), columns: merged.columns, parts, recordings })
    }

    /// Returns a text that differs for other files. A reader that listed an earlier day finds no file of a later one.
    fn generation(&self, files: &[SourceFile]) -> String {
        let mut digest = Sha256::new();
        digest.update(self.version.as_bytes());
        for file in files {
            digest.update(b"\n");
            digest.update(file.below_day.as_bytes());
            digest.update(file.bytes.to_le_bytes());
            digest.update(file.written_ns.to_le_bytes());
        }
        let mut text = to_hex(&digest.finalize());
        text.truncate(DIGITS);
        text
    }
}

fn recording(file: &SourceFile, rows: u64) -> RecordingManifest {
    let named = file.columns.iter().find(|(key, _)| key == RECORDING);
    RecordingManifest {
        part: file.below_day.clone(),
        recording_sha256: named.map(|(_, value)| value.clone()),
        rows,
        bytes: file.bytes,
        written_ns: file.written_ns,
    }
}

/// Returns true if the files of a manifest are those of the tables.
fn describes(manifest: &DayManifest, tables: &BTreeMap<String, Vec<SourceFile>>) -> bool {
    let is_same = |one: &RecordingManifest, file: &SourceFile| {
        (&one.part, one.bytes, one.written_ns) == (&file.below_day, file.bytes, file.written_ns)
    };
    manifest.tables.len() == tables.len()
        && manifest.tables.iter().zip(tables).all(|(table, (folder, files))| {
            table.folder == *folder
                && table.recordings.len() == files.len()
                && table.recordings.iter().zip(files).all(|(one, file)| is_same(one, file))
        })
}

fn summary(manifest: &DayManifest, is_new: bool) -> CompactedDay {
    let recordings = || manifest.tables.iter().flat_map(|table| &table.recordings);
    let parts = || manifest.tables.iter().flat_map(|table| &table.parts);
    CompactedDay {
        is_new,
        files_before: recordings().count() as u64,
        bytes_before: recordings().map(|it| it.bytes).sum(),
        files_after: parts().count() as u64,
        bytes_after: parts().map(|it| it.bytes).sum(),
        rows: manifest.rows,
    }
}

/// Waits until the bytes of a file are on disk.
fn on_disk(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
