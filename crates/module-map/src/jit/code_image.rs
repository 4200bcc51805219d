//! Writes an ELF file around code that never was in one, so that JIT code is unwound, named and given lines by the
//! same means as any other: `.text`, `.eh_frame` with its header, `.symtab`, and a line program.
//!
//! ```text
//!   text      offset = address, from 0x1000 on
//!   eh_frame  at 0x60000000, within reach of 32-bit relative pointers from the text and to it
//! ```
//!
//! Source: gABI; LSB, "`.eh_frame_hdr`"; DWARF 4, 6.2.4 and 7.5.

use address::Svma;
use object::elf::{PF_R, PF_X, SHF_EXECINSTR, STB_GLOBAL, STT_FUNC};

use super::elf_write::{LoadSegment, SYMBOL, Writer};
use super::line_write::{LINE_ABBREVIATIONS, line_program, line_unit};

/// A line of a function, which begins at its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineRow<'a> {
    /// The first address of the line.
    pub address: Svma,
    /// The line, from 1.
    pub line: u32,
    /// The path of the file.
    pub file: &'a [u8],
}

/// The lines of a function in order of address.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(crate) end: u64,
    /// Address, line, index of the file.
    pub(crate) rows: Vec<(u64, u32, u32)>,
}

/// Code that is collected for a file.
#[derive(Debug)]
pub struct CodeImage {
    /// The number of its processor, which need not be one of those known.
    e_machine: u16,
    text: Vec<u8>,
    symbols: Vec<u8>,
    strings: Vec<u8>,
    eh_frame: Vec<u8>,
    fdes: Vec<(u64, u64)>,
    files: Vec<Vec<u8>>,
    file_index: hashbrown::HashMap<Vec<u8>, u32>,
    sequences: Vec<Sequence>,
}

/// Offset and address of `.text`.
const TEXT: u64 = 0x1000;
/// The address of `.eh_frame`.
const EH_FRAME: u64 = 0x6000_0000;
/// The indexes of sections: `.text` is the first, `.strtab` follows it and the two of call frame information.
const TEXT_SECTION: u16 = 1;
const STRTAB_SECTION: u32 = 4;
/// How `.eh_frame_hdr` states addresses: relative to the field (`DW_EH_PE_pcrel | DW_EH_PE_sdata4`) and to the header's
/// own start (`DW_EH_PE_datarel | DW_EH_PE_sdata4`), and its count (`DW_EH_PE_udata4`).
const RELATIVE_TO_FIELD: u8 = 0x1b;
const RELATIVE_TO_HEADER: u8 = 0x3b;
const UNSIGNED_4: u8 = 0x03;

impl CodeImage {
    /// A file without code for the processor of that number.
    #[must_use]
    pub fn new(e_machine: u16) -> Self {
        Self {
            e_machine,
            text: Vec::new(),
            symbols: vec![0; SYMBOL],
            strings: vec![0],
            eh_frame: Vec::new(),
            fdes: Vec::new(),
            files: Vec::new(),
            file_index: hashbrown::HashMap::new(),
            sequences: Vec::new(),
        }
    }

    /// Appends a function. Returns its address, which is its offset in the file, too; `None` where the file is full.
    pub fn add_code(&mut self, name: &[u8], code: &[u8]) -> Option<Svma> {
        const GLOBAL_FUNCTION: u8 = STB_GLOBAL.0 << 4 | STT_FUNC.0;
        self.text.resize(self.text.len().next_multiple_of(16), 0);
        let start = TEXT + self.text.len() as u64;
        if start.checked_add(code.len() as u64)? > EH_FRAME - TEXT {
            return None;
        }
        let at = u32::try_from(self.strings.len()).ok()?;
        self.text.extend(code);
        self.strings.extend(name.iter().filter(|&&byte| byte != 0));
        self.strings.push(0);
        self.symbols.extend(at.to_le_bytes());
        self.symbols.extend([GLOBAL_FUNCTION, 0]);
        self.symbols.extend(TEXT_SECTION.to_le_bytes());
        self.symbols.extend(start.to_le_bytes());
        self.symbols.extend((code.len() as u64).to_le_bytes());
        Some(Svma(start))
    }

    /// Where the next call frame information will be.
    #[must_use]
    pub fn next_eh_frame(&self) -> Svma {
        Svma(EH_FRAME + self.eh_frame.len() as u64)
    }

    /// Appends call frame information whose relative pointers hold at [`Self::next_eh_frame`], without terminator;
    /// `descriptions` gives for each FDE the first address that it covers and its offset in `bytes`.
    pub fn add_eh_frame(&mut self, bytes: &[u8], descriptions: &[(Svma, u64)]) {
        let base = self.next_eh_frame().0;
        self.fdes.extend(descriptions.iter().map(|(start, offset)| (start.0, base + offset)));
        self.eh_frame.extend(bytes);
    }

    /// Appends the lines of a function that ends before `end`; rows in any order.
    pub fn add_lines(&mut self, end: Svma, rows: &[LineRow<'_>]) {
        let mut sorted: Vec<(u64, u32, u32)> = Vec::with_capacity(rows.len());
        let mut last: Option<(&[u8], u32)> = None;
        for row in rows.iter().filter(|row| row.address < end) {
            // What repeats a name is the same slice as a rule; a long one is hashed once.
            let known = last.filter(|(name, _)| std::ptr::eq(*name, row.file));
            let file = known.map_or_else(|| self.file_number(row.file), |(_, number)| number);
            last = Some((row.file, file));
            sorted.push((row.address.0, row.line, file));
        }
        sorted.sort_by_key(|&(address, ..)| address);
        if !sorted.is_empty() {
            self.sequences.push(Sequence { end: end.0, rows: sorted });
        }
    }

    /// The number of a source file, from 1.
    fn file_number(&mut self, name: &[u8]) -> u32 {
        if let Some(&number) = self.file_index.get(name) {
            return number;
        }
        self.files.push(name.to_vec());
        let number = self.files.len() as u32;
        self.file_index.insert(name.to_vec(), number);
        number
    }

    /// The bytes of the file.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        // A length of zero ends the section.
        self.eh_frame.extend([0; 4]);
        let hdr_address = (EH_FRAME + self.eh_frame.len() as u64).next_multiple_of(4);
        self.eh_frame.resize((hdr_address - EH_FRAME) as usize, 0);
        let hdr = self.eh_frame_hdr(hdr_address);
        let mut writer = Writer::new(TEXT as usize);
        let text_end = TEXT + self.text.len() as u64;
        writer.loaded(".text", SHF_EXECINSTR.0, TEXT, &self.text);
        writer.align(16);
        let frames_at = writer.out.len() as u64;
        writer.loaded(".eh_frame", 0, EH_FRAME, &self.eh_frame);
        writer.loaded(".eh_frame_hdr", 0, hdr_address, &hdr);
        let frames_len = writer.out.len() as u64 - frames_at;
        writer.strings(".strtab", &self.strings);
        writer.symbols(".symtab", &self.symbols, STRTAB_SECTION);
        if !self.sequences.is_empty() {
            writer.data(".debug_abbrev", LINE_ABBREVIATIONS);
            writer.data(".debug_info", &line_unit(TEXT, text_end));
            writer.data(".debug_line", &line_program(&self.files, &self.sequences));
        }
        let code = LoadSegment {
            flags: PF_R.0 | PF_X.0,
            offset: TEXT,
            address: TEXT,
            size: text_end - TEXT,
        };
        let frames =
            LoadSegment { flags: PF_R.0, offset: frames_at, address: EH_FRAME, size: frames_len };
        writer.finish(self.e_machine, [code, frames])
    }

    /// The table that leads from an address to its description.
    fn eh_frame_hdr(&mut self, at: u64) -> Vec<u8> {
        const VERSION: u8 = 1;
        let mut hdr = vec![VERSION, RELATIVE_TO_FIELD, UNSIGNED_4, RELATIVE_TO_HEADER];
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

    use super::*;
    use crate::elf::Image;

    #[test]
    fn what_is_written_can_be_read() {
        let mut code = CodeImage::new(Arch::X86_64.e_machine());
        let first = code.add_code(b"first", &[0x90; 5]).expect("room");
        let second = code.add_code(b"second", &[0xc3]).expect("room");
        code.add_lines(second.add(1), &[LineRow { address: second, line: 7, file: b"a.js" }]);
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
