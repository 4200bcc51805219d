//! Reader of the dumps that processes mark. It provides the images of their code to the store.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use address::{Arch, Pid};
use budget::{Allowance, Budget, Exhausted, Resource};
use hashbrown::HashMap;
use host::{FileStamp, HostFile};
use jit::{DumpCode, DumpDamage};
use module_map::{JitDump, JitReader};

use crate::elf::Image;
use crate::search::FileFindingKind;
use crate::store::images::ImageStore;

/// Size of the shortest record, which is only a header, in bytes.
const MIN_RECORD: u64 = 16;

/// Reader of JIT dumps, which uses the store's search to find them by their recorded paths.
#[derive(Debug)]
pub struct DumpReader {
    store: Arc<ImageStore>,
    budget: Budget,
    /// Processor of dumps that do not state theirs, if known.
    arch: Option<Arch>,
    /// Records read from each file, which may have many names.
    read: Mutex<HashMap<FileStamp, Allowance>>,
}

impl DumpReader {
    /// Creates a reader that searches with `store` and provides it with the images. `arch`, the processor of the
    /// recording, is used for dumps that do not state theirs.
    #[must_use]
    pub fn new(store: Arc<ImageStore>, budget: Budget, arch: Option<Arch>) -> Self {
        Self { store, budget, arch, read: Mutex::default() }
    }

    /// Reports the unusable parts of a dump.
    fn note(&self, name: &Path, damage: DumpDamage, is_cut: bool) {
        let (DumpDamage { records, bytes }, name) = (damage, name.display());
        if bytes > 0 || is_cut {
            let last = if bytes > 0 { format!(" (its last {bytes} bytes)") } else { String::new() };
            let message =
                format!("jitdump {name} ends with a partial record{last}; later code has no names");
            self.store.note(FileFindingKind::JitDump, message);
        }
        if records > 0 {
            let message =
                format!("jitdump {name} has damaged records ({records}); their code has no names");
            self.store.note(FileFindingKind::JitDump, message);
        }
    }

    /// Counts the records of a dump before it is read.
    fn count(&self, file: &HostFile) -> Result<(), Exhausted> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = file.content.len() as u64;
        let new = || self.budget.allowance(Resource::JitRecords, bytes);
        // The maximum is counted, because the time to iterate over records is that to read them.
        read.entry(file.stamp).or_insert_with(new).take(bytes / MIN_RECORD + 1)
    }
}

impl JitReader for DumpReader {
    fn read(&self, path: &[u8], pid: Pid) -> Result<Option<JitDump>, Exhausted> {
        let name = Path::new(OsStr::from_bytes(path));
        let Some(file) = self.store.open_data_file(name, pid) else { return Ok(None) };
        self.count(&file)?;
        let Some(code) = DumpCode::read(&file.content, self.arch) else {
            let message =
                format!("jitdump {} has no valid header; its code has no names", name.display());
            self.store.note(FileFindingKind::JitDump, message);
            return Ok(None);
        };
        let DumpCode { dump, file: code, damage } = code;
        self.note(name, damage, file.content.damage().happened());
        self.store.held().take_for(code.len() as u64, || name.display().to_string())?;
        let Ok(image) = Image::from_vec(name, code) else { return Ok(None) };
        self.store.provide(path, image);
        Ok(Some(dump))
    }
}
