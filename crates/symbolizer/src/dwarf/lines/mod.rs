//! A line program, executed once for all requested addresses of its unit; its rows are not stored.
//!
//! Source: DWARF 5, 6.2 "Line Number Information".

pub(crate) mod header;

use std::sync::Arc;

use address::Svma;

use crate::addresses::{AddressIndex, OpenSlots};
use crate::bytes::ByteCursor;
use crate::dwarf::file::{DwarfFile, DwarfSections};
use crate::dwarf::lines::header::LineHeader;
use crate::dwarf::ranges::is_tombstone;

/// Source position of an address.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    /// Index of the file in the program's header.
    pub(crate) file: u64,
    pub(crate) line: u64,
    pub(crate) column: u64,
    /// True if a row covers the address.
    pub(crate) known: bool,
}

/// The rows of addresses, and the header with its files.
pub(crate) struct UnitLines<'s> {
    pub(crate) header: Arc<LineHeader<'s>>,
    pub(crate) rows: Vec<SourceLocation>,
    /// True if the program could not be executed to its end.
    pub(crate) damaged: bool,
}

/// The rows of the addresses of all units that share a program.
pub(crate) struct SharedLines<'s> {
    addresses: Vec<Svma>,
    lines: Result<UnitLines<'s>, NoLines>,
}

impl<'s> SharedLines<'s> {
    /// Executes the program for sorted addresses.
    pub(crate) fn run(
        file: &'s DwarfFile<'_>,
        address_size: u8,
        offset: u64,
        addresses: Vec<Svma>,
    ) -> Self {
        let lines = run(file, address_size, offset, &addresses);
        Self { addresses, lines }
    }

    /// Returns the rows of some of the addresses.
    pub(crate) fn of(&self, addresses: &[Svma]) -> Result<UnitLines<'s>, NoLines> {
        let UnitLines { header, rows, damaged } = self.lines.as_ref().map_err(|why| *why)?;
        let row = |address| rows.get(self.addresses.binary_search(address).ok()?).copied();
        Ok(UnitLines {
            header: Arc::clone(header),
            rows: addresses.iter().map(|address| row(address).unwrap_or_default()).collect(),
            damaged: *damaged,
        })
    }
}

/// The reason that there are no rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoLines {
    /// The header cannot be read.
    Damaged,
    /// The program overlaps the next one.
    Overlaps,
}

/// Executes the line program at `offset` of `.debug_line` for sorted addresses.
pub(crate) fn run<'s>(
    file: &'s DwarfFile<'_>,
    address_size: u8,
    offset: u64,
    addresses: &[Svma],
) -> Result<UnitLines<'s>, NoLines> {
    let header = header(file, address_size, offset)?;
    let mut machine = LineMachine::new(addresses, address_size);
    let damaged = machine.run(&header, file.sections.big_endian).is_none();
    Ok(UnitLines { rows: machine.rows, header: Arc::new(header), damaged })
}

/// Returns the address range of each sequence of the program at `offset`, if it contains a requested address.
pub(crate) fn sequences(
    file: &DwarfFile<'_>,
    address_size: u8,
    offset: u64,
    addresses: &AddressIndex<'_>,
) -> Result<Vec<(u64, u64)>, NoLines> {
    let header = header(file, address_size, offset)?;
    let mut found = Vec::new();
    let mut note = |start, end| {
        if addresses.first_in(start, end).is_some() && found.last() != Some(&(start, end)) {
            found.push((start, end));
        }
    };
    let mut machine = LineMachine::new(&[], address_size);
    machine.each_sequence = Some(&mut note);
    let _ = machine.run(&header, file.sections.big_endian);
    Ok(found)
}

/// Reads the header of the program at `offset`.
fn header<'s>(
    file: &'s DwarfFile<'_>,
    address_size: u8,
    offset: u64,
) -> Result<LineHeader<'s>, NoLines> {
    let big_endian = file.sections.big_endian;
    let at = usize::try_from(offset).map_err(|_| NoLines::Damaged)?;
    let bytes = file.line_section(offset);
    LineHeader::read(bytes, at, address_size, big_endian).ok_or_else(|| {
        let end = program_end(&file.sections.line, at, big_endian);
        let is_cut = end.is_some_and(|end| bytes.len() < end && end <= file.sections.line.len());
        if is_cut { NoLines::Overlaps } else { NoLines::Damaged }
    })
}

/// Returns the end of the program at an offset by its stated length.
fn program_end(line: &[u8], offset: usize, big_endian: bool) -> Option<usize> {
    let mut cursor = ByteCursor::new(line, offset, big_endian);
    let length = match cursor.u32()? {
        0xffff_ffff => cursor.u64()?,
        short => u64::from(short),
    };
    usize::try_from(length).ok()?.checked_add(cursor.at())
}

/// Returns true if bytes follow the header of the line program at `offset`, or if the header cannot be read.
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
    /// True if the sequence is for discarded code.
    dead: bool,
}

impl LineRegisters {
    const START: Self = Self { address: 0, file: 1, line: 1, column: 0, dead: false };

    const fn row(&self) -> SourceLocation {
        SourceLocation { file: self.file, line: self.line, column: self.column, known: true }
    }
}

struct LineMachine<'a> {
    addresses: &'a [Svma],
    rows: Vec<SourceLocation>,
    /// The addresses without a row. Programs may return to the same addresses repeatedly.
    open: OpenSlots,
    registers: LineRegisters,
    /// Index of the first open address that is not below the last row of this sequence.
    next: usize,
    /// That address, or `u64::MAX` if there is none.
    wanted: u64,
    /// The last row of this sequence.
    last: Option<(u64, SourceLocation)>,
    address_size: u8,
    /// The lowest address of this sequence, if sequences are requested.
    lowest: u64,
    each_sequence: Option<&'a mut dyn FnMut(u64, u64)>,
}

impl<'a> LineMachine<'a> {
    fn new(addresses: &'a [Svma], address_size: u8) -> Self {
        Self {
            addresses,
            rows: vec![SourceLocation::default(); addresses.len()],
            open: OpenSlots::new(addresses.len()),
            registers: LineRegisters::START,
            next: 0,
            wanted: u64::MAX,
            last: None,
            address_size,
            lowest: u64::MAX,
            each_sequence: None,
        }
    }

    /// Adds a row of the table: the previous row covers the addresses up to this one.
    #[inline]
    fn row(&mut self) {
        let address = self.registers.address;
        match self.last {
            Some((before, row)) if address >= before => {
                if address > self.wanted {
                    self.cover(address, row);
                }
            }
            // The first row of the sequence, or one with a lower address.
            _ => {
                self.go_to(self.addresses.partition_point(|a| a.0 < address));
                self.lowest = self.lowest.min(address);
            }
        }
        self.last = Some((address, self.registers.row()));
    }

    /// Advances to the first open address at or after an index.
    fn go_to(&mut self, index: usize) {
        self.next = self.open.next(index);
        self.wanted = self.addresses.get(self.next).map_or(u64::MAX, |a| a.0);
    }

    fn cover(&mut self, end: u64, row: SourceLocation) {
        if self.registers.dead {
            let rest = self.addresses.get(self.next..).unwrap_or_default();
            return self.go_to(self.next + rest.partition_point(|a| a.0 < end));
        }
        while self.wanted < end {
            if let Some(slot) = self.rows.get_mut(self.next) {
                *slot = row;
            }
            self.open.close(self.next);
            self.go_to(self.next + 1);
        }
    }

    /// Ends a sequence.
    fn end_sequence(&mut self) {
        let (lowest, end) = (self.lowest, self.registers.address);
        if let Some(each) = self.each_sequence.as_mut().filter(|_| !self.registers.dead) {
            each(lowest, end);
        }
        self.registers = LineRegisters::START;
        self.last = None;
        self.lowest = u64::MAX;
    }

    fn run(&mut self, header: &LineHeader<'_>, big_endian: bool) -> Option<()> {
        let program = header.program;
        let mut cursor = ByteCursor::new(program, 0, big_endian);
        let (opcode_base, line_range) = (header.opcode_base, header.line_range);
        let line_base = i64::from(header.line_base);
        let min_length = u64::from(header.min_length);
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
                    for _ in 0..*header.operands.get(usize::from(unknown) - 1)? {
                        cursor.skip_leb()?;
                    }
                }
            }
        }
        // Each sequence must have ended.
        self.last.is_none().then_some(())
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
                self.end_sequence();
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
