//! A copy of an ELF file with hidden frame descriptions.

use super::fields::Unknown;
use crate::bytes::Endian;
use crate::elf::elf_const::{PT_ARM_EXIDX, PT_GNU_EH_FRAME};

/// Sections that describe frames. `.gnu_debugdata` is an ELF file with such sections.
const SECTIONS: [&[u8]; 7] = [
    b".eh_frame",
    b".eh_frame_hdr",
    b".debug_frame",
    b".zdebug_frame",
    b".ARM.exidx",
    b".ARM.extab",
    b".gnu_debugdata",
];
/// Segments that refer to these sections.
const SEGMENTS: [u32; 2] = [PT_GNU_EH_FRAME, PT_ARM_EXIDX];

/// Renames the sections of an ELF file that describe frames (`.eh_frame` becomes `.xh_frame`), and turns the segments
/// that refer to them into `PT_NULL`. All other bytes stay, so addresses, symbols and code are those of the original.
/// Returns the number of sections and segments.
///
/// Source: System V ABI, chapter 4, "ELF Header", "Sections"; chapter 5, "Program Header".
///
/// # Errors
/// If it is not an ELF file, or if a table lies outside of it.
pub fn withhold_frames(file: &mut [u8]) -> Result<usize, String> {
    let layout = ElfLayout::of(file)?;
    let mut found = 0;
    for at in layout.segments(file)? {
        if SEGMENTS.contains(&layout.word(file, at)?) {
            file[at..at + 4].fill(0);
            found += 1;
        }
    }
    let sections = layout.sections(file)?;
    let Some(&names) = sections.get(layout.names(file)?) else { return Ok(found) };
    let (names, size) = layout.section_bytes(file, names)?;
    let names = names..names.checked_add(size).ok_or("names without an end")?;
    for at in sections {
        let start = layout.word(file, at)? as usize;
        let table = file.get_mut(names.clone()).ok_or("names outside of the file")?;
        let name = table.get(start..).and_then(|rest| rest.split(|&byte| byte == 0).next());
        if name.is_some_and(|name| SECTIONS.contains(&name)) {
            table[start + 1] = b'x';
            found += 1;
        }
    }
    Ok(found)
}

/// Word size and byte order of a file, which determine the layout of its tables.
#[derive(Clone, Copy, Debug)]
struct ElfLayout {
    is_wide: bool,
    endian: Endian,
}

impl ElfLayout {
    fn of(file: &[u8]) -> Result<Self, Unknown> {
        let Some(&[b'\x7f', b'E', b'L', b'F', class, order]) = file.first_chunk() else {
            return Err("not an ELF file".into());
        };
        let endian = if order == 1 { Endian::Little } else { Endian::Big };
        Ok(Self { is_wide: class == 2, endian })
    }

    /// Returns the offset for the file's word size.
    const fn either(self, wide: usize, narrow: usize) -> usize {
        if self.is_wide { wide } else { narrow }
    }

    fn number(self, file: &[u8], at: usize, len: usize) -> Result<u64, Unknown> {
        let bytes = at.checked_add(len).and_then(|end| file.get(at..end));
        let bytes =
            bytes.ok_or_else(|| format!("{len} bytes at {at:#x} are outside of the file"))?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Ok(match self.endian {
            Endian::Little => bytes.iter().rev().fold(0, add),
            Endian::Big => bytes.iter().fold(0, add),
        })
    }

    /// Reads an offset or a size, as wide as an address.
    fn size(self, file: &[u8], at: usize) -> Result<usize, Unknown> {
        let size = self.number(file, at, self.either(8, 4))?;
        usize::try_from(size).map_err(|_| format!("a size of {size}"))
    }

    fn word(self, file: &[u8], at: usize) -> Result<u32, Unknown> {
        Ok(self.number(file, at, 4)? as u32)
    }

    fn half(self, file: &[u8], at: usize) -> Result<usize, Unknown> {
        Ok(self.number(file, at, 2)? as usize)
    }

    /// Returns the offsets of the program headers.
    fn segments(self, file: &[u8]) -> Result<Vec<usize>, Unknown> {
        let table = self.size(file, self.either(32, 28))?;
        let (entry, count) = self.table(file, self.either(54, 42))?;
        Ok((0..count).map(|index| table.saturating_add(index * entry)).collect())
    }

    /// Returns the offsets of the section headers; none in a file without them.
    fn sections(self, file: &[u8]) -> Result<Vec<usize>, Unknown> {
        let table = self.size(file, self.either(40, 32))?;
        let (entry, mut count) = self.table(file, self.either(58, 46))?;
        if count == 0 && table != 0 {
            // If the number does not fit a half word, the first section states it as its size.
            count = self.section_bytes(file, table)?.1.min(file.len() / entry.max(1));
        }
        Ok((0..count).map(|index| table.saturating_add(index * entry)).collect())
    }

    /// Returns the size of an entry and the number of entries.
    fn table(self, file: &[u8], at: usize) -> Result<(usize, usize), Unknown> {
        Ok((self.half(file, at)?, self.half(file, at + 2)?))
    }

    /// Returns the index of the section with the names of sections.
    fn names(self, file: &[u8]) -> Result<usize, Unknown> {
        const SEE_FIRST_SECTION: usize = 0xffff;
        let index = self.half(file, self.either(62, 50))?;
        if index != SEE_FIRST_SECTION {
            return Ok(index);
        }
        let first = self.size(file, self.either(40, 32))?;
        Ok(self.word(file, first.saturating_add(self.either(40, 24)))? as usize)
    }

    /// Returns the offset and size of a section's bytes.
    fn section_bytes(self, file: &[u8], header: usize) -> Result<(usize, usize), Unknown> {
        let offset = self.size(file, header.saturating_add(self.either(24, 16)))?;
        Ok((offset, self.size(file, header.saturating_add(self.either(32, 20)))?))
    }
}

#[cfg(test)]
mod tests {
    use super::withhold_frames;
    use crate::{ElfBuilder, ElfClass, Endian, Section, Segment, elf_const};

    fn file(class: ElfClass, endian: Endian) -> Vec<u8> {
        let frames = Segment {
            p_type: elf_const::PT_GNU_EH_FRAME,
            ..Segment::load_rodata(0x2000, 0x2000, 16)
        };
        let debug = |name| Section::new(name, elf_const::SHT_PROGBITS, vec![3; 16]);
        ElfBuilder {
            class,
            endian,
            segments: vec![Segment::load_text(0, 0, 0x3000), frames],
            sections: vec![
                Section::text(0x1000, vec![0x90; 16]),
                Section::loaded(".eh_frame_hdr", 0x2000, vec![1; 16]),
                Section::loaded(".eh_frame", 0x2010, vec![2; 16]),
                debug(".debug_frame"),
                debug(".debug_frames"),
            ],
            ..ElfBuilder::x86_64()
        }
        .build()
    }

    /// Returns the offsets and values of the changed bytes.
    fn changed(one: &[u8], other: &[u8]) -> Vec<(usize, u8)> {
        let bytes = one.iter().zip(other).enumerate();
        bytes
            .filter(|(_, (one, other))| one != other)
            .map(|(at, (_, &other))| (at, other))
            .collect()
    }

    fn find(file: &[u8], text: &[u8]) -> usize {
        file.windows(text.len()).position(|it| it == text).unwrap()
    }

    #[test]
    fn names_of_sections_and_types_of_segments_change_alone() {
        for class in [ElfClass::Elf32, ElfClass::Elf64] {
            for endian in [Endian::Little, Endian::Big] {
                let original = file(class, endian);
                let mut copy = original.clone();
                assert_eq!(withhold_frames(&mut copy), Ok(4));
                let letters: Vec<usize> = changed(&original, &copy)
                    .iter()
                    .filter(|it| it.1 == b'x')
                    .map(|it| it.0)
                    .collect();
                let names: [&[u8]; 3] = [b".eh_frame_hdr\0", b".eh_frame\0", b".debug_frame\0"];
                let mut expected = names.map(|name| find(&original, name) + 1);
                expected.sort_unstable();
                assert_eq!(letters, expected);
                let zeros = changed(&original, &copy).iter().filter(|it| it.1 == 0).count();
                // The four bytes of the segment's type.
                assert_eq!(zeros, 4);
                assert_eq!(changed(&original, &copy).len(), 7);
                // Nothing is left to be withheld.
                assert_eq!(withhold_frames(&mut copy), Ok(0));
            }
        }
    }

    #[test]
    fn files_that_end_too_soon_are_refused() {
        assert_eq!(withhold_frames(&mut [0; 64]), Err("not an ELF file".into()));
        let whole = file(ElfClass::Elf64, Endian::Little);
        for length in 0..whole.len() {
            // A truncated file is an error, or it has nothing to withhold.
            let _ = withhold_frames(&mut whole[..length].to_vec());
        }
        let refused = withhold_frames(&mut whole[..70].to_vec());
        assert_eq!(refused, Err("4 bytes at 0x78 are outside of the file".into()));
    }
}
