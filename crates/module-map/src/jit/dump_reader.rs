//! Reads the dumps that processes mark, and gives the images of their code to the store.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use address::Pid;
use budget::{Allowance, Budget, Exhausted, Resource};
use hashbrown::HashMap;
use host::{FileStamp, HostFile};

use super::collect::collect;
use super::dump::{JitDump, JitReader};
use crate::elf::Image;
use crate::files::ImageStore;

/// Bytes of the shortest record, which is its head.
const MIN_RECORD: u64 = 16;

/// Finds dumps by their recorded paths as the store finds other files.
#[derive(Debug)]
pub struct DumpReader {
    store: Arc<ImageStore>,
    budget: Budget,
    /// What was read of each file, which may have many names.
    read: Mutex<HashMap<FileStamp, Allowance>>,
}

impl DumpReader {
    /// A reader that looks for dumps where `store` does, and provides it with what it reads.
    #[must_use]
    pub fn new(store: Arc<ImageStore>, budget: Budget) -> Self {
        Self { store, budget, read: Mutex::default() }
    }

    /// Counts the records of a dump that is about to be read.
    fn count(&self, file: &HostFile) -> Result<(), Exhausted> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = file.content.len() as u64;
        let new = || self.budget.allowance(Resource::JitRecords, bytes);
        // As many as there can be: going through them takes as long as reading them.
        read.entry(file.stamp).or_insert_with(new).take(bytes / MIN_RECORD + 1)
    }
}

impl JitReader for DumpReader {
    fn read(&self, path: &[u8], pid: Pid) -> Result<Option<JitDump>, Exhausted> {
        let name = Path::new(OsStr::from_bytes(path));
        let Some(file) = self.store.open_data_file(name, pid) else { return Ok(None) };
        self.count(&file)?;
        Ok(collect(&file.content).and_then(|(dump, code)| {
            self.store.provide(path, Image::from_vec(name, code).ok()?);
            Some(dump)
        }))
    }
}
