//! A line program, run once for all requested addresses of its unit; rows are not kept.
//!
//! Source: DWARF 5, 6.2 "Line Number Information".

use address::Svma;
use gimli::{DebugLine, DebugLineOffset, LineProgramHeader};

use crate::bytes::ByteCursor;
use crate::dwarf::file::{DwarfSections, Slice};
use crate::dwarf::ranges::is_tombstone;
use crate::dwarf::unit::Unit;

/// Where an address is in the source.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct SourcePlace {
    /// Index of the file in the program's header.
    pub(crate) file: u64,
    pub(crate) line: u64,
    pub(crate) column: u64,
    /// Whether a row covers the address at all.
    pub(crate) known: bool,
}

/// The rows of a unit's addresses and the header with its files.
pub(crate) struct UnitLines<'s> {
    pub(crate) header: LineProgramHeader<Slice<'s>>,
    pub(crate) rows: Vec<SourcePlace>,
    /// Whether the program could not be run to its end.
    pub(crate) damaged: bool,
}

/// Runs the line program at `offset` of `.debug_line`.
pub(crate) fn run<'s>(
    sections: &'s DwarfSections<'_>,
    unit: &Unit<'_>,
    offset: u64,
    addresses: &[Svma],
) -> Option<UnitLines<'s>> {
    let section = DebugLine::new(&sections.line, sections.endian());
    let offset = DebugLineOffset(usize::try_from(offset).ok()?);
    let program = section.program(offset, unit.encoding.address_size, None, None).ok()?;
    let header = program.header().clone();
    let mut machine = LineMachine {
        addresses,
        rows: vec![SourcePlace::default(); addresses.len()],
        registers: LineRegisters::START,
        next: 0,
        wanted: u64::MAX,
        last: None,
        address_size: unit.encoding.address_size,
    };
    let damaged = machine.run(&header, sections.big_endian).is_none();
    Some(UnitLines { rows: machine.rows, header, damaged })
}

/// Whether there is anything after the header of the line program at `offset`; also where it cannot be read.
pub(crate) fn has_rows(sections: &DwarfSections<'_>, offset: u64) -> bool {
    let mut cursor = ByteCursor::new(
        &sections.line,
        usize::try_from(offset).unwrap_or(usize::MAX),
        sections.big_endian,
    );
    let mut bytes_after_header = || {
        let (length, offset_size) = match cursor.u32()? {
            0xffff_ffff => (cursor.u64()?, 8),
            short => (u64::from(short), 4),
        };
        let end = length.checked_add(cursor.at() as u64)?;
        if cursor.u16()? >= 5 {
            // Sizes of addresses and of segment selectors.
            cursor.skip(2)?;
        }
        let header = cursor.uint(offset_size)?;
        end.checked_sub(header.checked_add(cursor.at() as u64)?)
    };
    bytes_after_header() != Some(0)
}

#[derive(Clone, Copy)]
struct LineRegisters {
    address: u64,
    file: u64,
    line: u64,
    column: u64,
    /// Whether the sequence is of code that was discarded.
    dead: bool,
}

impl LineRegisters {
    const START: Self = Self { address: 0, file: 1, line: 1, column: 0, dead: false };

    const fn row(&self) -> SourcePlace {
        SourcePlace { file: self.file, line: self.line, column: self.column, known: true }
    }
}

struct LineMachine<'a> {
    addresses: &'a [Svma],
    rows: Vec<SourcePlace>,
    registers: LineRegisters,
    /// Index of the first address that is not below the last row of this sequence.
    next: usize,
    /// That address, `u64::MAX` where there is none.
    wanted: u64,
    /// The last row of this sequence.
    last: Option<(u64, SourcePlace)>,
    address_size: u8,
}

impl LineMachine<'_> {
    /// A row of the table: the row before it covers the addresses up to this one.
    #[inline]
    fn row(&mut self) {
        let address = self.registers.address;
        match self.last {
            Some((before, row)) if address >= before => {
                if address > self.wanted {
                    self.cover(address, row);
                }
            }
            // The first row of the sequence, or one that goes backwards.
            _ => {
                self.next = self.addresses.partition_point(|a| a.0 < address);
                self.wanted = self.addresses.get(self.next).map_or(u64::MAX, |a| a.0);
            }
        }
        self.last = Some((address, self.registers.row()));
    }

    fn cover(&mut self, end: u64, row: SourcePlace) {
        while self.wanted < end {
            if let Some(slot) = self.rows.get_mut(self.next)
                && !slot.known
                && !self.registers.dead
            {
                *slot = row;
            }
            self.next += 1;
            self.wanted = self.addresses.get(self.next).map_or(u64::MAX, |a| a.0);
        }
    }

    fn run(&mut self, header: &LineProgramHeader<Slice<'_>>, big_endian: bool) -> Option<()> {
        let program = header.raw_program_buf();
        let program = program.slice();
        let mut cursor = ByteCursor::new(program, 0, big_endian);
        let (opcode_base, line_range) = (header.opcode_base(), header.line_range());
        let line_base = i64::from(header.line_base());
        let min_length = u64::from(header.minimum_instruction_length());
        if line_range == 0 {
            return None;
        }
        // Address and line advance of each special opcode.
        let special = |adjusted: u8| {
            let advance = u64::from(adjusted / line_range).wrapping_mul(min_length);
            (advance, line_base + i64::from(adjusted % line_range))
        };
        let mut advances = [(0_u64, 0_i64); 256];
        for (opcode, advance) in (0..=u8::MAX).zip(&mut advances).skip(opcode_base.into()) {
            *advance = special(opcode - opcode_base);
        }
        let const_advance = special(u8::MAX - opcode_base).0;
        while cursor.at() < program.len() {
            let opcode = cursor.u8()?;
            if opcode >= opcode_base {
                let (address, line) =
                    advances.get(usize::from(opcode)).copied().unwrap_or_default();
                self.registers.address = self.registers.address.wrapping_add(address);
                self.registers.line = self.registers.line.wrapping_add_signed(line);
                self.row();
                continue;
            }
            match opcode {
                0 => self.extended(&mut cursor)?,
                1 => self.row(),
                2 => {
                    let advance = cursor.uleb()?.wrapping_mul(min_length);
                    self.registers.address = self.registers.address.wrapping_add(advance);
                }
                3 => self.registers.line = self.registers.line.wrapping_add_signed(cursor.sleb()?),
                4 => self.registers.file = cursor.uleb()?,
                5 => self.registers.column = cursor.uleb()?,
                6 | 7 | 10 | 11 => {}
                8 => self.registers.address = self.registers.address.wrapping_add(const_advance),
                9 => {
                    self.registers.address =
                        self.registers.address.wrapping_add(cursor.u16()?.into())
                }
                12 => cursor.skip_leb()?,
                unknown => {
                    let lengths = header.standard_opcode_lengths().slice();
                    for _ in 0..*lengths.get(usize::from(unknown) - 1)? {
                        cursor.skip_leb()?;
                    }
                }
            }
        }
        Some(())
    }

    fn extended(&mut self, cursor: &mut ByteCursor<'_>) -> Option<()> {
        let length = cursor.uleb()?;
        let end = usize::try_from(length).ok()?.checked_add(cursor.at())?;
        if length == 0 {
            return Some(());
        }
        match cursor.u8()? {
            1 => {
                self.row();
                self.registers = LineRegisters::START;
                self.last = None;
            }
            2 => {
                let size = u8::try_from(length - 1).ok().filter(|size| *size <= 8)?;
                self.registers.address = cursor.uint(size)?;
                self.registers.dead |= is_tombstone(self.address_size, self.registers.address);
            }
            _ => {}
        }
        cursor.seek(end);
        Some(())
    }
}

/// The path of a file of the program: compilation directory, include directory and name joined, as far as the next
/// one is not absolute.
pub(crate) fn path(
    header: &LineProgramHeader<Slice<'_>>,
    file: u64,
    comp_dir: &[u8],
    unit_name: &[u8],
    string: &mut dyn FnMut(gimli::AttributeValue<Slice<'_>>) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let version = header.version();
    if version < 5 && file == 0 {
        return Some(join(comp_dir, unit_name));
    }
    let entry = header.file(file)?;
    let name = string(entry.path_name())?;
    if name.starts_with(b"/") {
        return Some(name);
    }
    let index = entry.directory_index();
    let directory = if version < 5 && index == 0 {
        Vec::new()
    } else {
        header.directory(index).and_then(string).unwrap_or_default()
    };
    Some(join(&join(comp_dir, &directory), &name))
}

fn join(base: &[u8], path: &[u8]) -> Vec<u8> {
    if path.starts_with(b"/") || base.is_empty() {
        return path.to_vec();
    }
    if path.is_empty() {
        return base.to_vec();
    }
    let separator: &[u8] = if base.ends_with(b"/") { b"" } else { b"/" };
    [base, separator, path].concat()
}
