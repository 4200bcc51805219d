//! Names that simpleperf wrote into the recording: for files that only the device has.

use std::fmt;

use demangle::Languages;
use hashbrown::HashMap;
use module_map::{MappedKind, Module};
use options::Demangle;

use crate::naming::readable;

/// A file of the device with the symbols that the recording has of it.
#[derive(Clone, Debug)]
pub struct DeviceFile<'r> {
    /// Its path as in map records.
    pub path: &'r [u8],
    /// What it is.
    pub kind: DeviceFileKind,
    /// The smallest address of its executable segments, as the file states it.
    pub min_vaddr: u64,
    /// Where that address is in the file, where it is recorded.
    pub offset_of_min_vaddr: Option<u64>,
    /// Its symbols, in any order.
    pub symbols: Vec<DeviceSymbol<'r>>,
}

/// What a file of the device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceFileKind {
    /// The kernel.
    Kernel,
    /// A module that the kernel loaded.
    KernelModule,
    /// An ELF file.
    Elf,
    /// Something whose symbols are at addresses in memory, such as code of a just-in-time compiler.
    Other,
}

impl DeviceFileKind {
    /// The kind that simpleperf numbers so.
    ///
    /// Source: simpleperf's `dso.h`, `enum DsoType`.
    #[must_use]
    pub const fn from_dso_type(number: u32) -> Self {
        match number {
            0 => Self::Kernel,
            1 => Self::KernelModule,
            2 => Self::Elf,
            _ => Self::Other,
        }
    }
}

/// A symbol of a file of the device.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSymbol<'r> {
    /// Its address as the file states it; in memory for what has no file.
    pub address: u64,
    /// Size in bytes.
    pub size: u32,
    /// Its name, mangled.
    pub name: &'r [u8],
}

/// The names of files by their paths.
pub struct DeviceSymbols<'r> {
    files: HashMap<&'r [u8], DeviceFile<'r>>,
    demangle: Demangle,
}

impl fmt::Debug for DeviceSymbols<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceSymbols").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

impl<'r> DeviceSymbols<'r> {
    /// Takes what the recording has; of several files of one path the first counts.
    #[must_use]
    pub fn new(recorded: impl IntoIterator<Item = DeviceFile<'r>>, demangle: Demangle) -> Self {
        let mut files = HashMap::new();
        for mut file in recorded {
            file.symbols.sort_by_key(|symbol| symbol.address);
            files.entry(file.path).or_insert(file);
        }
        Self { files, demangle }
    }

    /// Name and start of the function at a place of a module for which no file is at hand: an offset in its file, or
    /// an address in memory where it has none. The start is counted as the place is.
    #[must_use]
    pub fn lookup(&self, module: &Module, relative: u64) -> Option<(Vec<u8>, u64)> {
        let file = self.files.get(&*module.path)?;
        let base = match file.kind {
            DeviceFileKind::KernelModule => file.min_vaddr.wrapping_sub(module.first_mapped?.1.0),
            // The places of code that a just-in-time compiler made are addresses in memory.
            DeviceFileKind::Elf if is_jit_symfile(&module.path) => 0,
            // Older recorders do not state where the smallest address is in the file: mostly at itself.
            DeviceFileKind::Elf if module.kind != MappedKind::Anonymous => {
                file.min_vaddr.wrapping_sub(file.offset_of_min_vaddr.unwrap_or(file.min_vaddr))
            }
            DeviceFileKind::Kernel | DeviceFileKind::Elf | DeviceFileKind::Other => 0,
        };
        let address = relative.wrapping_add(base);
        let next = file.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = file.symbols.get(next.checked_sub(1)?)?;
        let is_in = address - symbol.address < u64::from(symbol.size).max(1);
        is_in.then(|| (self.name(symbol.name), symbol.address.wrapping_sub(base)))
    }

    /// Names of the loader have a prefix in front of the mangled name, which simpleperf shows as `[linker]`.
    fn name(&self, name: &[u8]) -> Vec<u8> {
        match name.strip_prefix(b"__dl_") {
            Some(rest) if self.demangle != Demangle::None => {
                [b"[linker]", &*readable(rest, self.demangle, Languages::default())].concat()
            }
            _ => readable(name, self.demangle, Languages::default()).into_owned(),
        }
    }
}

/// Whether this is what simpleperf wrote of code that a just-in-time compiler made: `perf.data_jit_app_cache:100-200`, in
/// older versions `TemporaryFile-aBcDeF` with or without such a range.
///
/// Source: simpleperf's `JITDebugReader.cpp`.
fn is_jit_symfile(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let colon = name.iter().rposition(|&byte| byte == b':');
    let file = colon.and_then(|colon| name.get(..colon));
    name.starts_with(b"TemporaryFile-")
        || file.is_some_and(|file| {
            file.ends_with(b"_jit_app_cache") || file.ends_with(b"_jit_zygote_cache")
        })
}
