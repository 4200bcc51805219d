//! Call frame information: `.eh_frame`, `.debug_frame` and `.eh_frame_hdr`.

mod expression;
mod ops;

pub use expression::DwarfExpr;
pub use ops::CfiOps;

use crate::bytes::{ByteWriter, Endian};

/// Pointer encodings of `.eh_frame` and `.eh_frame_hdr`.
///
/// Source: LSB core 5.0, 10.5.1 "DWARF Exception Header Encoding".
#[allow(missing_docs, reason = "the names are those of the standard")]
pub mod eh_pe {
    pub const ABSPTR: u8 = 0x00;
    pub const UDATA4: u8 = 0x03;
    pub const SDATA4: u8 = 0x0b;
    pub const SDATA8: u8 = 0x0c;
    pub const PCREL: u8 = 0x10;
    pub const DATAREL: u8 = 0x30;
    pub const OMIT: u8 = 0xff;
}

/// Kind of the section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CfiKind {
    /// `.eh_frame`.
    EhFrame,
    /// `.debug_frame`.
    DebugFrame,
}

/// A common information entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cie {
    /// Version: 1, 3 or 4.
    pub version: u8,
    /// `z`, then any of `R`, `P`, `L`, `S`, `B`, `G`; or empty; or the old `eh`.
    pub augmentation: String,
    /// Unit of the location advances.
    pub code_align: u64,
    /// Unit of the register offsets.
    pub data_align: i64,
    /// DWARF number of the column with the return address.
    pub return_register: u64,
    /// `R`: encoding of the addresses in FDEs; [`eh_pe`].
    pub pointer_encoding: u8,
    /// `P`: encoding and address of the personality routine.
    pub personality: (u8, u64),
    /// `L`: encoding of the address of the language-specific data in FDEs.
    pub lsda_encoding: u8,
    /// Initial instructions.
    pub instructions: Vec<u8>,
}

impl Cie {
    /// Returns the usual CIE of x86-64: `zR`, pc-relative addresses, CFA at rsp+8, return address at CFA-8.
    #[must_use]
    pub fn x86_64() -> Self {
        let ops = CfiOps::new(Endian::Little).def_cfa(7, 8).offset(16, 1);
        Self { instructions: ops.into_bytes(), ..Self::bare(1, -8, 16) }
    }

    /// Returns the usual CIE of i386: `zR`, pc-relative addresses, CFA at esp+4, return address at CFA-4.
    #[must_use]
    pub fn x86() -> Self {
        let ops = CfiOps::new(Endian::Little).def_cfa(4, 4).offset(8, 1);
        Self { instructions: ops.into_bytes(), ..Self::bare(1, -4, 8) }
    }

    /// Returns the usual CIE of aarch64: `zR`, pc-relative addresses, CFA at sp.
    #[must_use]
    pub fn aarch64() -> Self {
        let ops = CfiOps::new(Endian::Little).def_cfa(31, 0);
        Self { instructions: ops.into_bytes(), ..Self::bare(4, -8, 30) }
    }

    /// Returns the usual CIE of RISC-V: `zR`, pc-relative addresses, CFA at sp.
    #[must_use]
    pub fn riscv64() -> Self {
        let ops = CfiOps::new(Endian::Little).def_cfa(2, 0);
        Self { instructions: ops.into_bytes(), ..Self::bare(1, -8, 1) }
    }

    /// Returns the usual CIE of `LoongArch`: `zR`, pc-relative addresses, CFA at sp.
    #[must_use]
    pub fn loongarch64() -> Self {
        let ops = CfiOps::new(Endian::Little).def_cfa(3, 0);
        Self { instructions: ops.into_bytes(), ..Self::bare(1, -8, 1) }
    }

    /// Returns the usual CIE of 32-bit Arm: `zR`, pc-relative addresses, CFA at sp.
    #[must_use]
    pub fn arm() -> Self {
        let ops = CfiOps::new(Endian::Little).def_cfa(13, 0);
        Self { instructions: ops.into_bytes(), ..Self::bare(2, -4, 14) }
    }

    fn bare(code_align: u64, data_align: i64, return_register: u64) -> Self {
        Self {
            version: 1,
            augmentation: "zR".to_owned(),
            code_align,
            data_align,
            return_register,
            pointer_encoding: eh_pe::PCREL | eh_pe::SDATA4,
            personality: (eh_pe::PCREL | eh_pe::SDATA4, 0),
            lsda_encoding: eh_pe::PCREL | eh_pe::SDATA4,
            instructions: Vec::new(),
        }
    }
}

/// A frame description entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fde {
    /// Address of the first byte of code.
    pub pc_begin: u64,
    /// Size of the code, in bytes.
    pub pc_range: u64,
    /// Address of the language-specific data, written if the CIE has `L`.
    pub lsda: u64,
    /// Instructions; see [`CfiOps`].
    pub instructions: Vec<u8>,
}

/// A built section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CfiSection {
    /// Bytes of the section.
    pub bytes: Vec<u8>,
    /// Address of the code and address of the entry, for each FDE in the given order.
    pub fdes: Vec<(u64, u64)>,
}

/// Builder of a section at a given address.
///
/// ```
/// use synth::{CfiBuilder, CfiKind, CfiOps, Cie, Endian, Fde, eh_frame_hdr};
/// let mut cfi = CfiBuilder::new(CfiKind::EhFrame, Endian::Little, 0x2000);
/// let cie = cfi.cie(&Cie::x86_64());
/// let ops = CfiOps::new(Endian::Little).advance(1).def_cfa_offset(16).offset(6, 2);
/// cfi.fde(cie, &Fde { pc_begin: 0x1000, pc_range: 32, lsda: 0, instructions: ops.into_bytes() });
/// let section = cfi.build();
/// assert_eq!(section.fdes, [(0x1000, 0x2018)]);
/// let hdr = eh_frame_hdr(Endian::Little, 0x3000, 0x2000, &section.fdes);
/// assert_eq!(hdr[..4], [1, 0x1b, 3, 0x3b]);
/// ```
#[derive(Clone, Debug)]
pub struct CfiBuilder {
    kind: CfiKind,
    address: u64,
    /// Size of an address, in bytes: 4 or 8.
    pub address_size: usize,
    /// True to write further entries in the 64-bit form of DWARF.
    pub dwarf64: bool,
    writer: ByteWriter,
    cies: Vec<(usize, Cie)>,
    fdes: Vec<(u64, u64)>,
}

/// Index of a CIE in a [`CfiBuilder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CieIdx(usize);

impl CfiBuilder {
    /// Creates an empty section at `address`, with addresses of 8 bytes.
    #[must_use]
    pub fn new(kind: CfiKind, endian: Endian, address: u64) -> Self {
        Self {
            kind,
            address,
            address_size: 8,
            dwarf64: false,
            writer: ByteWriter::new(endian),
            cies: Vec::new(),
            fdes: Vec::new(),
        }
    }

    /// Appends a CIE.
    ///
    /// Source: DWARF 5, 6.4.1; LSB core 5.0, 10.6.1.1.
    pub fn cie(&mut self, cie: &Cie) -> CieIdx {
        let start = self.begin();
        let (id, id_size) = match (self.kind, self.dwarf64) {
            (CfiKind::EhFrame, _) => (0, 4),
            (CfiKind::DebugFrame, false) => (0xffff_ffff, 4),
            (CfiKind::DebugFrame, true) => (u64::MAX, 8),
        };
        self.writer.uint(id, id_size).u8(cie.version);
        self.writer.bytes(cie.augmentation.as_bytes()).u8(0);
        if cie.augmentation.starts_with("eh") {
            self.writer.zeros(self.address_size);
        }
        if cie.version >= 4 {
            // No segment selectors.
            self.writer.u8(self.address_size as u8).u8(0);
        }
        self.writer.uleb(cie.code_align).sleb(cie.data_align);
        if cie.version == 1 {
            self.writer.u8(cie.return_register as u8);
        } else {
            self.writer.uleb(cie.return_register);
        }
        if cie.augmentation.starts_with('z') {
            self.cie_augmentation(cie);
        }
        self.writer.bytes(&cie.instructions);
        self.finish(start);
        self.cies.push((start, cie.clone()));
        CieIdx(self.cies.len() - 1)
    }

    /// Appends an FDE that refers to a CIE.
    ///
    /// Source: DWARF 5, 6.4.1; LSB core 5.0, 10.6.1.2.
    ///
    /// # Panics
    /// If the index is from another builder.
    pub fn fde(&mut self, cie: CieIdx, fde: &Fde) -> &mut Self {
        let (cie_start, cie) = self.cies[cie.0].clone();
        let start = self.begin();
        self.fdes.push((fde.pc_begin, self.address + start as u64));
        let pointer_at = self.writer.len();
        match (self.kind, self.dwarf64) {
            // Distance back from this field.
            (CfiKind::EhFrame, _) => self.writer.u32((pointer_at - cie_start) as u32),
            (CfiKind::DebugFrame, false) => self.writer.u32(cie_start as u32),
            (CfiKind::DebugFrame, true) => self.writer.u64(cie_start as u64),
        };
        let has = |letter| cie.augmentation.starts_with('z') && cie.augmentation.contains(letter);
        let encoding = if has('R') { cie.pointer_encoding } else { eh_pe::ABSPTR };
        self.encoded(encoding, fde.pc_begin);
        // The range has the format of the encoding, but is not relative to an address.
        self.encoded(encoding & 0x0f, fde.pc_range);
        if cie.augmentation.starts_with('z') {
            if has('L') && cie.lsda_encoding != eh_pe::OMIT {
                self.writer.uleb(encoded_size(cie.lsda_encoding, self.address_size) as u64);
                self.encoded(cie.lsda_encoding, fde.lsda);
            } else {
                self.writer.uleb(0);
            }
        }
        self.writer.bytes(&fde.instructions);
        self.finish(start);
        self
    }

    /// Appends a zero length, which ends `.eh_frame` (or one object's part of it).
    pub fn terminator(&mut self) -> &mut Self {
        self.writer.u32(0);
        self
    }

    /// Appends bytes unchanged.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.writer.bytes(bytes);
        self
    }

    /// Returns the section built so far.
    #[must_use]
    pub fn build(&self) -> CfiSection {
        CfiSection { bytes: self.writer.as_bytes().to_vec(), fdes: self.fdes.clone() }
    }

    /// Starts an entry with a length to be patched; returns its offset.
    fn begin(&mut self) -> usize {
        let start = self.writer.len();
        if self.dwarf64 {
            self.writer.u32(u32::MAX).u64(0);
        } else {
            self.writer.u32(0);
        }
        start
    }

    /// Pads the entry with `DW_CFA_nop` (0) and patches its length.
    fn finish(&mut self, start: usize) {
        let (length_at, length_size) = if self.dwarf64 { (start + 4, 8) } else { (start, 4) };
        let body = length_at + length_size;
        self.writer.align(self.address_size);
        self.writer.patch_uint(length_at, (self.writer.len() - body) as u64, length_size);
    }

    /// Writes length and data of the augmentation, letter by letter.
    fn cie_augmentation(&mut self, cie: &Cie) {
        let size = cie.augmentation.chars().map(|letter| match letter {
            'R' | 'L' => 1,
            'P' => 1 + encoded_size(cie.personality.0, self.address_size),
            _ => 0,
        });
        self.writer.uleb(size.sum::<usize>() as u64);
        for letter in cie.augmentation.chars() {
            match letter {
                'R' => {
                    self.writer.u8(cie.pointer_encoding);
                }
                'L' => {
                    self.writer.u8(cie.lsda_encoding);
                }
                'P' => {
                    self.writer.u8(cie.personality.0);
                    self.encoded(cie.personality.0, cie.personality.1);
                }
                _ => {}
            }
        }
    }

    /// Writes an address in an encoding that is absolute or pc-relative.
    fn encoded(&mut self, encoding: u8, value: u64) {
        let here = self.address + self.writer.len() as u64;
        let base = if encoding & 0x70 == eh_pe::PCREL { here } else { 0 };
        self.writer.uint(value.wrapping_sub(base), encoded_size(encoding, self.address_size));
    }
}

fn encoded_size(encoding: u8, address_size: usize) -> usize {
    match encoding & 0x07 {
        0 => address_size,
        2 => 2,
        3 => 4,
        _ => 8,
    }
}

/// Returns `.eh_frame_hdr` at `address`, with the table sorted by code address.
///
/// Source: LSB core 5.0, 10.6.2.
#[must_use]
pub fn eh_frame_hdr(endian: Endian, address: u64, eh_frame: u64, fdes: &[(u64, u64)]) -> Vec<u8> {
    let mut sorted = fdes.to_vec();
    sorted.sort_unstable();
    let mut w = ByteWriter::new(endian);
    w.u8(1).u8(eh_pe::PCREL | eh_pe::SDATA4).u8(eh_pe::UDATA4).u8(eh_pe::DATAREL | eh_pe::SDATA4);
    w.u32(eh_frame.wrapping_sub(address + 4) as u32).u32(sorted.len() as u32);
    for (pc_begin, fde) in sorted {
        w.u32(pc_begin.wrapping_sub(address) as u32).u32(fde.wrapping_sub(address) as u32);
    }
    w.into_bytes()
}

#[cfg(test)]
mod tests;
