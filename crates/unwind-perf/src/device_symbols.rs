//! Names that simpleperf wrote into the recording: for files that only the device has.

use hashbrown::HashMap;
use module_map::{Module, ModuleKind};
use perf_data::{Head, SimpleperfFile};
use symbolizer::{Demangle, demangle};

/// simpleperf's kinds of files.
///
/// Source: simpleperf's `dso.h`, `enum DsoType`.
const KERNEL: u32 = 0;
const KERNEL_MODULE: u32 = 1;
const ELF_FILE: u32 = 2;

/// The names of files by their paths.
#[derive(Debug)]
pub(crate) struct DeviceSymbols<'h> {
    files: HashMap<&'h [u8], SimpleperfFile<'h>>,
    demangle: Demangle,
}

impl<'h> DeviceSymbols<'h> {
    /// What the recording has.
    pub(crate) fn new(head: &'h Head, demangle: Demangle) -> Self {
        let mut files = HashMap::new();
        for mut file in head.features().simpleperf_files {
            file.symbols.sort_by_key(|symbol| symbol.addr);
            files.entry(file.path).or_insert(file);
        }
        Self { files, demangle }
    }

    /// Name and start of the function at a place of a module for which no file is at hand: an offset in its file, or
    /// an address in memory where it has none. The start is counted as the place is.
    pub(crate) fn lookup(&self, module: &Module, relative: u64) -> Option<(Vec<u8>, u64)> {
        let file = self.files.get(&*module.path)?;
        let base = match file.kind {
            KERNEL => 0,
            KERNEL_MODULE => file.min_vaddr.wrapping_sub(module.first_mapped?.1.0),
            // Older recorders do not tell where the smallest address is in the file: mostly at itself.
            ELF_FILE if module.kind != ModuleKind::Anonymous => {
                file.min_vaddr.wrapping_sub(file.offset_of_min_vaddr.unwrap_or(file.min_vaddr))
            }
            _ => 0,
        };
        let addr = relative.wrapping_add(base);
        let next = file.symbols.partition_point(|symbol| symbol.addr <= addr);
        let symbol = file.symbols.get(next.checked_sub(1)?)?;
        let is_in = addr - symbol.addr < u64::from(symbol.len).max(1);
        is_in.then(|| (self.name(symbol.name), symbol.addr.wrapping_sub(base)))
    }

    /// Names of the loader have a prefix in front of the mangled name, which simpleperf shows as `[linker]`.
    fn name(&self, name: &[u8]) -> Vec<u8> {
        match name.strip_prefix(b"__dl_") {
            Some(rest) if self.demangle != Demangle::None => {
                [b"[linker]", &*demangle(rest, self.demangle)].concat()
            }
            _ => demangle(name, self.demangle).into_owned(),
        }
    }
}
