//! Writer of ELF files for code that was never in a file, so that JIT code is unwound, named and attributed to lines
//! like other code: `.text`, `.eh_frame` with its header, `.symtab`, and a line program.
//!
//! ```text
//!   text      offset = address, from 0x1000 on
//!   eh_frame  at 0x60000000, within reach of 32-bit relative pointers from the text and to it
//! ```
//!
//! Source: LSB, "`.eh_frame_hdr`".

use address::Svma;
use elf_writer::elf::{ET_DYN, Machine, PF_R, PF_X, SHF_ALLOC, SHF_EXECINSTR, SHT_PROGBITS};
use elf_writer::{
    DebugInfo, ElfFile, FileHeader, LineProgram, LineRow, SectionHeader, SymbolWriter, UNIT,
    abbreviations, load,
};
use gimli::{DW_EH_PE_datarel, DW_EH_PE_pcrel, DW_EH_PE_sdata4, DW_EH_PE_udata4};

/// Code collected for a file.
#[derive(Debug)]
pub struct CodeImage {
    /// Processor number, which may be an unsupported one.
    e_machine: u16,
    text: Vec<u8>,
    symbols: SymbolWriter,
    eh_frame: Vec<u8>,
    fdes: Vec<(u64, u64)>,
    lines: LineProgram,
}

/// Offset and address of `.text`.
const TEXT: u64 = 0x1000;
/// Address of `.eh_frame`.
const EH_FRAME: u64 = 0x6000_0000;
/// Index of `.text`, the first section.
const TEXT_SECTION: u32 = 1;

impl CodeImage {
    /// Creates a file without code, for a processor number.
    #[must_use]
    pub fn new(e_machine: u16) -> Self {
        Self {
            e_machine,
            text: Vec::new(),
            symbols: SymbolWriter::default(),
            eh_frame: Vec::new(),
            fdes: Vec::new(),
            lines: LineProgram::default(),
        }
    }

    /// Appends a function. Returns its address, which equals its file offset; `None` if the file is full.
    pub fn add_code(&mut self, name: &[u8], code: &[u8]) -> Option<Svma> {
        let len = code.len() as u64;
        self.text.resize(self.text.len().next_multiple_of(16), 0);
        let start = Svma(TEXT + self.text.len() as u64);
        if start.0.checked_add(len)? > EH_FRAME - TEXT {
            return None;
        }
        self.symbols.function(name, TEXT_SECTION, start, len)?;
        self.text.extend(code);
        Some(start)
    }

    /// Address of the next call frame information.
    #[must_use]
    pub fn next_eh_frame(&self) -> Svma {
        Svma(EH_FRAME + self.eh_frame.len() as u64)
    }

    /// Appends call frame information without terminator. Its relative pointers must be valid
    /// at [`Self::next_eh_frame`].
    /// `descriptions` lists the first covered address of each FDE and its offset in `bytes`.
    pub fn add_eh_frame(&mut self, bytes: &[u8], descriptions: &[(Svma, u64)]) {
        let base = self.next_eh_frame().0;
        self.fdes.extend(descriptions.iter().map(|(start, offset)| (start.0, base + offset)));
        self.eh_frame.extend(bytes);
    }

    /// Returns the number of a source file for the rows of [`Self::add_lines`].
    pub fn source_file(&mut self, path: &[u8]) -> u64 {
        self.lines.file(path)
    }

    /// Appends the lines of a function that ends at `end`; rows in any order.
    pub fn add_lines(&mut self, end: Svma, mut rows: Vec<LineRow>) {
        rows.sort_by_key(|row| row.address);
        self.lines.sequence(&rows, end);
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        // A length of zero terminates the section.
        self.eh_frame.extend([0; 4]);
        let hdr_address = (EH_FRAME + self.eh_frame.len() as u64).next_multiple_of(4);
        self.eh_frame.resize((hdr_address - EH_FRAME) as usize, 0);
        let hdr = self.eh_frame_hdr(hdr_address);
        let e_machine = Machine(self.e_machine);
        let header = FileHeader { e_type: ET_DYN, e_machine, ..FileHeader::default() };
        let mut file = ElfFile::new(header, 2);
        let loaded = |sh_addr, sh_addralign| SectionHeader {
            sh_type: SHT_PROGBITS,
            sh_flags: SHF_ALLOC,
            sh_addr,
            sh_addralign,
            ..SectionHeader::default()
        };
        let text = SectionHeader { sh_flags: SHF_ALLOC | SHF_EXECINSTR, ..loaded(TEXT, 16) };
        file.align(TEXT as usize);
        file.section(".text", &text, &self.text);
        let text_end = file.offset();
        file.align(16);
        let frames_at = file.offset();
        file.section(".eh_frame", &loaded(EH_FRAME, 4), &self.eh_frame);
        file.section(".eh_frame_hdr", &loaded(hdr_address, 4), &hdr);
        let frames_size = file.offset() - frames_at;
        file.symbols(&self.symbols);
        if !self.lines.is_empty() {
            file.data(".debug_abbrev", &abbreviations(&[UNIT]));
            let unit = DebugInfo::new(&(Svma(TEXT)..Svma(text_end)));
            file.data(".debug_info", &unit.finish());
            file.data(".debug_line", &self.lines.finish());
        }
        file.finish(&[
            load(PF_R | PF_X, TEXT, Svma(TEXT), text_end - TEXT, text_end - TEXT, 16),
            load(PF_R, frames_at, Svma(EH_FRAME), frames_size, frames_size, 16),
        ])
    }

    /// Returns the lookup table from addresses to their descriptions.
    fn eh_frame_hdr(&mut self, at: u64) -> Vec<u8> {
        const VERSION: u8 = 1;
        let mut hdr = vec![
            VERSION,
            DW_EH_PE_pcrel.0 | DW_EH_PE_sdata4.0,
            DW_EH_PE_udata4.0,
            DW_EH_PE_datarel.0 | DW_EH_PE_sdata4.0,
        ];
        let relative = |value: u64, to: u64| (value.wrapping_sub(to) as u32).to_le_bytes();
        hdr.extend(relative(EH_FRAME, at + 4));
        self.fdes.sort_unstable();
        hdr.extend((self.fdes.len() as u32).to_le_bytes());
        for &(start, description) in &self.fdes {
            hdr.extend(relative(start, at));
            hdr.extend(relative(description, at));
        }
        hdr
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use address::{Arch, FileOffset};
    use image_store::Image;

    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let mut code = CodeImage::new(Arch::X86_64.e_machine());
        let first = code.add_code(b"first", &[0x90; 5]).expect("room");
        let second = code.add_code(b"second", &[0xc3]).expect("room");
        let file = code.source_file(b"a.js");
        let row = LineRow { address: second, file, line: 7, column: 0 };
        code.add_lines(second.add(1), vec![row]);
        let image = Image::from_vec(Path::new("jit"), code.finish()).expect("an ELF file");
        assert_eq!((first, second), (Svma(0x1000), Svma(0x1010)));
        assert_eq!(image.arch(), Some(Arch::X86_64));
        assert_eq!(image.svma_of_offset(FileOffset(0x1010), true), Some(second));
        assert_eq!(image.read_only_bytes(first, 5), Some(&[0x90; 5][..]));
        let names: Vec<_> = image
            .sections()
            .iter()
            .map(|s| String::from_utf8_lossy(&s.name).into_owned())
            .collect();
        assert!(names.contains(&".debug_line".to_owned()), "{names:?}");
        let frames = image.section(".eh_frame").expect("call frame information");
        assert_eq!(frames.svma, Svma(0x6000_0000));
        assert_eq!(image.section_data(frames).expect("its bytes").as_ref(), [0; 4]);
    }
}
