//! Role of a file in a process: whether it is a program, and whether its code can run before its entry point.

use object::LittleEndian;
use object::elf::{DT_FLAGS_1, DT_PREINIT_ARRAY, ET_DYN, ET_EXEC, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};

use crate::elf::Image;

/// `DF_1_PIE`: a position-independent program, in contrast to a library.
const PIE: u64 = 0x0800_0000;

impl Image {
    /// Returns true if the file is a 64-bit little-endian program and none of its functions
    /// runs before its entry point.
    /// That holds if no dynamic loader runs before it. Otherwise no library may be linked to a function of it, and it
    /// must not state functions that run before the libraries are initialized.
    ///
    /// Source: System V ABI, "Dynamic Linking", "Initialization and Termination Functions": `DT_PREINIT_ARRAY`;
    /// `DF_1_PIE` in `elf.h` of glibc.
    #[must_use]
    pub fn begins_at_entry(&self) -> bool {
        let bytes = self.bytes();
        let Ok(header) = FileHeader64::<LittleEndian>::parse(bytes) else { return false };
        let Ok(endian) = header.endian() else { return false };
        let Ok(segments) = header.program_headers(endian, bytes) else { return false };
        let dynamic = segments.iter().find_map(|segment| segment.dynamic(endian, bytes).ok()?);
        let entries = dynamic.unwrap_or_default();
        let mut flags =
            entries.iter().filter(|entry| entry.tag32(endian).map(i64::from) == Some(DT_FLAGS_1.0));
        let is_pie = flags.next().is_some_and(|entry| entry.d_val(endian) & PIE != 0);
        let is_program = match header.e_type(endian) {
            ET_EXEC => true,
            ET_DYN => is_pie,
            _ => false,
        };
        let is_entered = entries
            .iter()
            .any(|entry| entry.tag32(endian).map(i64::from) == Some(DT_PREINIT_ARRAY.0))
            || self.section(".dynsym").is_none()
            || self.exports_functions();
        is_program && !(self.has_loader() && is_entered)
    }

    /// Returns true if a dynamic loader runs before the program.
    #[must_use]
    pub fn has_loader(&self) -> bool {
        let bytes = self.bytes();
        let Ok(header) = FileHeader64::<LittleEndian>::parse(bytes) else { return true };
        let Ok(endian) = header.endian() else { return true };
        let segments = header.program_headers(endian, bytes);
        segments.is_ok_and(|all| all.iter().any(|segment| segment.p_type(endian) == PT_INTERP))
    }
}
