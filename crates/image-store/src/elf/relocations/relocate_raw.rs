//! Headers of a 64-bit little-endian ELF file in raw form, to be rewritten in place.
//!
//! Source: gABI, "ELF Header", "Sections", "Program Header".

use std::ops::Range;

pub(crate) const SHF_ALLOC: u64 = 2;
pub(crate) const SHF_EXECINSTR: u64 = 4;
pub(crate) const SHF_COMPRESSED: u64 = 0x800;
const SHT_NOBITS: u32 = 8;
const SECTION_HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
/// Maximum number of bytes examined in a section's name.
const LONGEST_NAME: usize = 64;

/// Reader for little-endian numbers.
pub(crate) struct ObjectReader<'b> {
    pub(crate) bytes: &'b [u8],
}

impl ObjectReader<'_> {
    fn u16(&self, at: usize) -> Option<u16> {
        self.bytes.get(at..at.checked_add(2)?)?.first_chunk().map(|b| u16::from_le_bytes(*b))
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.bytes.get(at..at.checked_add(4)?)?.first_chunk().map(|b| u32::from_le_bytes(*b))
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.bytes.get(at..at.checked_add(8)?)?.first_chunk().map(|b| u64::from_le_bytes(*b))
    }
}

/// Required fields of the file header.
pub(crate) struct ObjectHeader {
    pub(crate) machine: u16,
    section_headers: usize,
    n_sections: usize,
    names: usize,
}

/// A section header.
#[derive(Clone, Debug)]
pub(crate) struct RawSection {
    name: u32,
    pub(crate) kind: u32,
    pub(crate) flags: u64,
    pub(crate) addr: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) link: u32,
    pub(crate) info: u32,
    pub(crate) align: u64,
    /// True if the name starts with `.init`.
    pub(crate) init: bool,
}

impl RawSection {
    pub(crate) const fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    /// Returns its range in a file of `len` bytes.
    pub(crate) fn range(&self, len: usize) -> Option<Range<usize>> {
        let start = usize::try_from(self.offset).ok()?;
        let end = start.checked_add(usize::try_from(self.size).ok()?)?;
        (self.kind != SHT_NOBITS && end <= len).then_some(start..end)
    }
}

impl ObjectHeader {
    /// Reads the header of a relocatable file (`ET_REL`).
    pub(crate) fn read(reader: &ObjectReader<'_>) -> Option<Self> {
        const ET_REL: u16 = 1;
        let little_64 = reader.bytes.starts_with(b"\x7fELF\x02\x01");
        if !little_64 || reader.u16(16)? != ET_REL {
            return None;
        }
        let section_headers = usize::try_from(reader.u64(40)?).ok()?;
        let mut n_sections = usize::from(reader.u16(60)?);
        if n_sections == 0 {
            n_sections = usize::try_from(reader.u64(section_headers.checked_add(32)?)?).ok()?;
        }
        let in_file = section_headers
            .checked_add(n_sections.checked_mul(SECTION_HEADER)?)
            .is_some_and(|end| end <= reader.bytes.len());
        let names = match reader.u16(62)? {
            0xffff => reader.u32(section_headers.checked_add(40)?)? as usize,
            names => usize::from(names),
        };
        let machine = reader.u16(18)?;
        in_file.then_some(Self { machine, section_headers, n_sections, names })
    }

    pub(crate) fn sections(&self, reader: &ObjectReader<'_>) -> Option<Vec<RawSection>> {
        let read = |index: usize| {
            let at = self.section_headers + index * SECTION_HEADER;
            Some(RawSection {
                name: reader.u32(at)?,
                kind: reader.u32(at + 4)?,
                flags: reader.u64(at + 8)?,
                addr: reader.u64(at + 16)?,
                offset: reader.u64(at + 24)?,
                size: reader.u64(at + 32)?,
                link: reader.u32(at + 40)?,
                info: reader.u32(at + 44)?,
                align: reader.u64(at + 48)?,
                init: false,
            })
        };
        let mut sections: Vec<RawSection> =
            (0..self.n_sections).map(read).collect::<Option<_>>()?;
        let init: Vec<bool> = sections
            .iter()
            .map(|section| self.name(reader, &sections, section).starts_with(b".init"))
            .collect();
        for (section, init) in sections.iter_mut().zip(init) {
            section.init = init;
        }
        Some(sections)
    }

    pub(crate) fn name<'b>(
        &self,
        reader: &ObjectReader<'b>,
        sections: &[RawSection],
        section: &RawSection,
    ) -> &'b [u8] {
        let table = sections.get(self.names).and_then(|names| names.range(reader.bytes.len()));
        let start = table.and_then(|table| table.start.checked_add(section.name as usize));
        // Relevant names are short, and many sections may share a long one.
        let end = start.map(|start| start.saturating_add(LONGEST_NAME).min(reader.bytes.len()));
        let name = start.zip(end).and_then(|(start, end)| reader.bytes.get(start..end));
        let name = name.unwrap_or_default();
        name.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    /// Writes the section headers in place and program headers at the end, and turns the file into a shared object.
    /// It has one segment for the whole file, or one for each section with code.
    pub(crate) fn write(
        &self,
        sections: &[RawSection],
        whole: bool,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        const ET_DYN: u16 = 3;
        for (index, section) in sections.iter().enumerate() {
            let at = self.section_headers + index * SECTION_HEADER;
            let header = out.get_mut(at..at + SECTION_HEADER)?;
            for (field, value) in
                [(8, section.flags), (16, section.addr), (24, section.offset), (32, section.size)]
            {
                header.get_mut(field..field + 8)?.copy_from_slice(&value.to_le_bytes());
            }
        }
        let len = out.len() as u64;
        let mut segments = vec![(0, 0, len)];
        if !whole {
            let code = sections.iter().filter(|s| s.has(SHF_ALLOC) && s.has(SHF_EXECINSTR));
            let code = code.filter(|s| s.range(out.len()).is_some() && s.size > 0);
            segments = code.map(|s| (s.offset, s.addr, s.size)).collect();
        }
        out.resize(out.len().next_multiple_of(8), 0);
        let program_headers = out.len() as u64;
        for (offset, addr, size) in &segments {
            out.extend(program_header(*offset, *addr, *size));
        }
        let n_segments = u16::try_from(segments.len()).ok()?;
        out.get_mut(16..18)?.copy_from_slice(&ET_DYN.to_le_bytes());
        out.get_mut(32..40)?.copy_from_slice(&program_headers.to_le_bytes());
        out.get_mut(54..56)?.copy_from_slice(&(PROGRAM_HEADER as u16).to_le_bytes());
        out.get_mut(56..58)?.copy_from_slice(&n_segments.to_le_bytes());
        Some(())
    }
}

/// Returns a readable and executable `PT_LOAD`.
fn program_header(offset: u64, addr: u64, size: u64) -> Vec<u8> {
    const PT_LOAD: u32 = 1;
    const READ_EXECUTE: u32 = 5;
    let mut header = Vec::with_capacity(PROGRAM_HEADER);
    header.extend(PT_LOAD.to_le_bytes());
    header.extend(READ_EXECUTE.to_le_bytes());
    for value in [offset, addr, addr, size, size, 1] {
        header.extend(value.to_le_bytes());
    }
    header
}
