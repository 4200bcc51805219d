//! Names that simpleperf wrote into the recording, for files that only the device has.

use std::fmt;

use demangle::Languages;
use hashbrown::HashMap;
use module_map::{MappedKind, Module};
use options::Demangle;

use crate::naming::readable;

/// A file of the device, with its recorded symbols.
#[derive(Clone, Debug)]
pub struct DeviceFile<'r> {
    /// Its path, as in map records.
    pub path: &'r [u8],
    /// Its kind.
    pub kind: DeviceFileKind,
    /// Smallest file address of its executable segments.
    pub min_vaddr: u64,
    /// File offset of that address, if it is recorded.
    pub offset_of_min_vaddr: Option<u64>,
    /// Its symbols, in any order.
    pub symbols: Vec<DeviceSymbol<'r>>,
}

/// Kind of a file of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceFileKind {
    /// The kernel.
    Kernel,
    /// A module that the kernel loaded.
    KernelModule,
    /// An ELF file.
    Elf,
    /// Anything with symbols at memory addresses, such as code of a just-in-time compiler.
    Other,
}

impl DeviceFileKind {
    /// Returns the kind for a number of simpleperf.
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
    /// File address, or address in memory if there is no file.
    pub address: u64,
    /// Size in bytes.
    pub size: u32,
    /// Mangled name.
    pub name: &'r [u8],
}

/// Symbols of the device's files, by path.
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
    /// Indexes the recorded files; the first of several with the same path is used.
    #[must_use]
    pub fn new(recorded: impl IntoIterator<Item = DeviceFile<'r>>, demangle: Demangle) -> Self {
        let mut files = HashMap::new();
        for mut file in recorded {
            file.symbols.sort_by_key(|symbol| symbol.address);
            files.entry(file.path).or_insert(file);
        }
        Self { files, demangle }
    }

    /// Returns the name and start of the function at `relative` in a module without an opened file: a file offset, or a
    /// memory address if the module has no file. The start is in the same address space.
    #[must_use]
    pub fn lookup(&self, module: &Module, relative: u64) -> Option<(Vec<u8>, u64)> {
        let file = self.files.get(&*module.path)?;
        let base = match file.kind {
            DeviceFileKind::KernelModule => file.min_vaddr.wrapping_sub(module.first_mapped?.1.0),
            // Positions in code of a just-in-time compiler are addresses in memory.
            DeviceFileKind::Elf if is_jit_symfile(&module.path) => 0,
            // Older recorders do not state the file offset of the smallest address; it is mostly equal to the address.
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

    /// The loader's symbols have a prefix before the mangled name, which simpleperf shows as `[linker]`.
    fn name(&self, name: &[u8]) -> Vec<u8> {
        match name.strip_prefix(b"__dl_") {
            Some(rest) if self.demangle != Demangle::None => {
                [b"[linker]", &*readable(rest, self.demangle, Languages::default())].concat()
            }
            _ => readable(name, self.demangle, Languages::default()).into_owned(),
        }
    }
}

/// Returns true if simpleperf made this file from code of a just-in-time compiler: `perf.data_jit_app_cache:100-200`,
/// in older versions `TemporaryFile-aBcDeF`, with or without such a range.
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
