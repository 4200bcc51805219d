//! Role of a file in a process: whether it is a program, and whether its code can run before its entry point.

use object::LittleEndian;
use object::elf::{DT_FLAGS_1, DT_PREINIT_ARRAY, ET_DYN, ET_EXEC, FileHeader64, PT_INTERP, PT_TLS};
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
        let has_early = || {
            let has = self.dynamic(|tag, _| tag == DT_PREINIT_ARRAY.0);
            has || self.section(".dynsym").is_none() || self.exports_functions()
        };
        self.is_program() && !(self.has_loader() && has_early())
    }

    /// Returns true if the file is a 64-bit little-endian program, in contrast to a library.
    #[must_use]
    pub fn is_program(&self) -> bool {
        let Ok(header) = FileHeader64::<LittleEndian>::parse(self.bytes()) else { return false };
        match header.e_type(LittleEndian) {
            ET_EXEC => true,
            ET_DYN => self.dynamic(|tag, value| tag == DT_FLAGS_1.0 && value & PIE != 0),
            _ => false,
        }
    }

    /// Returns the distance in bytes from the start of the program's thread-local block to the thread pointer, which
    /// follows the block; `None` for files that are not programs, and for blocks with an uncommon address.
    ///
    /// Source: "ELF Handling For Thread-Local Storage", section 3: variant II of the data structures.
    #[must_use]
    pub fn thread_block_size(&self) -> Option<u64> {
        let header = FileHeader64::<LittleEndian>::parse(self.bytes()).ok()?;
        let segments = header.program_headers(LittleEndian, self.bytes()).ok()?;
        let block = segments.iter().find(|segment| segment.p_type(LittleEndian) == PT_TLS)?;
        let alignment = block.p_align(LittleEndian).max(1);
        let is_usual = alignment.is_power_of_two() && block.p_vaddr(LittleEndian) % alignment == 0;
        let size = block.p_memsz(LittleEndian).checked_next_multiple_of(alignment)?;
        (is_usual && self.is_program()).then_some(size)
    }

    /// Returns true if an entry of the dynamic section, by tag and value, is like that.
    fn dynamic(&self, is_it: impl Fn(i64, u64) -> bool) -> bool {
        let bytes = self.bytes();
        let Ok(header) = FileHeader64::<LittleEndian>::parse(bytes) else { return false };
        let Ok(segments) = header.program_headers(LittleEndian, bytes) else { return false };
        let mut dynamic = segments.iter().filter_map(|it| it.dynamic(LittleEndian, bytes).ok()?);
        let entries = dynamic.next().unwrap_or_default();
        entries.iter().any(|entry| {
            let tag = entry.tag32(LittleEndian).map(i64::from);
            tag.is_some_and(|tag| is_it(tag, entry.d_val(LittleEndian)))
        })
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
