//! Adapter from an ELF file to the reader of Go's function table.

use address::Svma;
use gopclntab::{Program, ProgramSection, ProgramSegment};

use crate::elf::Image;

impl Program for Image {
    fn bytes(&self) -> &[u8] {
        self.bytes()
    }

    fn is_little_endian(&self) -> bool {
        self.is_little_endian()
    }

    fn section(&self, name: &str) -> Option<ProgramSection> {
        let section = self.section(name)?;
        let start = usize::try_from(section.offset().0).ok();
        let end = section.end().and_then(|end| usize::try_from(end).ok());
        let is_there = |end: &usize| !section.is_compressed() && *end <= self.bytes().len();
        let bytes = start.zip(end.filter(is_there)).map(|(start, end)| start..end);
        Some(ProgramSection { address: section.svma.0, bytes })
    }

    fn segments(&self) -> Vec<ProgramSegment> {
        let segment = |segment: &crate::elf::Segment| ProgramSegment {
            address: segment.svma.0,
            offset: segment.offset.0,
            file_size: segment.file_size,
            is_executable: segment.executable,
            is_writable: segment.writable,
        };
        self.segments().iter().map(segment).collect()
    }

    fn relative_words(&self) -> Vec<(u64, u64)> {
        let words = self.relative_words().into_iter();
        words.map(|(word, address)| (word.0, address.0)).collect()
    }

    fn read_only_bytes(&self, address: u64, len: usize) -> Option<&[u8]> {
        self.read_only_bytes(Svma(address), len)
    }
}
