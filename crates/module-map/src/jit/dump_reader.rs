//! Reads the dumps that processes mark, and gives the images of their code to the store.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use address::Pid;

use super::collect::collect;
use super::dump::{JitDump, JitReader};
use crate::elf::Image;
use crate::files::ImageStore;

/// Finds dumps by their recorded paths as the store finds other files.
#[derive(Debug)]
pub struct DumpReader {
    store: Arc<ImageStore>,
}

impl DumpReader {
    /// A reader that looks for dumps where `store` does, and provides it with what it reads.
    #[must_use]
    pub const fn new(store: Arc<ImageStore>) -> Self {
        Self { store }
    }
}

impl JitReader for DumpReader {
    fn read(&self, path: &[u8], pid: Pid) -> Option<JitDump> {
        let name = Path::new(OsStr::from_bytes(path));
        let file = self.store.open_data_file(name, pid)?;
        let (dump, code) = collect(&file.content)?;
        self.store.provide(path, Image::from_vec(name, code).ok()?);
        Some(dump)
    }
}
