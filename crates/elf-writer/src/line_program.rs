//! Writer for a line program of version 4, row by row. docs/DESIGN.md explains why gimli's writer is not used.
//!
//! Source: DWARF 4, 6.2 "Line Number Information".

use address::Svma;
use gimli::constants::{
    DW_LNE_end_sequence, DW_LNE_set_address, DW_LNS_advance_line, DW_LNS_advance_pc, DW_LNS_copy,
    DW_LNS_set_column, DW_LNS_set_file,
};
use hashbrown::HashMap;

use crate::bytes::{push_signed, push_text, push_unsigned, with_length};

/// Source position of the code from an address on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineRow {
    /// First address.
    pub address: Svma,
    /// Number returned by [`LineProgram::file`]; 0 for none.
    pub file: u64,
    /// Line from 1; 0 for none.
    pub line: u32,
    /// Column from 1; 0 for none.
    pub column: u32,
}

/// Builder for a line program.
#[derive(Debug, Default)]
pub struct LineProgram {
    numbers: HashMap<Vec<u8>, u64>,
    /// Table of files.
    files: Vec<u8>,
    opcodes: Vec<u8>,
}

/// Header from the minimum instruction length on: that length, operations per instruction, `is_stmt`, line base -5,
/// line range, first special opcode, operand counts of the standard opcodes; no folders.
const HEADER: [u8; 19] = [1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0];

impl LineProgram {
    /// Returns true if there are no sequences.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.opcodes.is_empty()
    }

    /// Returns the number of a source file, from 1. An empty path, which would end the table of files, gives 0.
    pub fn file(&mut self, path: &[u8]) -> u64 {
        if path.iter().all(|&byte| byte == 0) {
            return 0;
        }
        let next = self.numbers.len() as u64 + 1;
        *self.numbers.entry_ref(path).or_insert_with(|| {
            push_text(&mut self.files, path);
            // Folder, time, length.
            self.files.extend([0; 3]);
            next
        })
    }

    /// Appends rows in order of address; the last one ends at `end`.
    pub fn sequence(&mut self, rows: &[LineRow], end: Svma) {
        let Some(first) = rows.first() else { return };
        let out = &mut self.opcodes;
        let mut state = LineRow { address: first.address, file: 1, line: 1, column: 0 };
        out.extend([0, 9, DW_LNE_set_address.0]);
        out.extend(first.address.0.to_le_bytes());
        for &row in rows {
            if row.file != state.file {
                out.push(DW_LNS_set_file.0);
                push_unsigned(out, row.file);
            }
            if row.column != state.column {
                out.push(DW_LNS_set_column.0);
                push_unsigned(out, row.column.into());
            }
            if row.line != state.line {
                out.push(DW_LNS_advance_line.0);
                push_signed(out, i64::from(row.line) - i64::from(state.line));
            }
            if row.address != state.address {
                out.push(DW_LNS_advance_pc.0);
                push_unsigned(out, row.address.0.saturating_sub(state.address.0));
            }
            out.push(DW_LNS_copy.0);
            state = row;
        }
        out.push(DW_LNS_advance_pc.0);
        push_unsigned(out, end.0.saturating_sub(state.address.0));
        out.extend([0, 1, DW_LNE_end_sequence.0]);
    }

    /// Returns the bytes of `.debug_line`.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        let header_length = HEADER.len() + self.files.len() + 1;
        let mut out = vec![0; 4];
        out.extend([4, 0]);
        out.extend((header_length as u32).to_le_bytes());
        out.extend(HEADER);
        out.extend(&self.files);
        out.push(0);
        out.extend(&self.opcodes);
        with_length(out)
    }
}

#[cfg(test)]
mod tests {
    use gimli::{DebugLine, DebugLineOffset, LineInstruction, LittleEndian};

    use super::*;

    /// Returns address, file, line and column of each row as read by gimli; ends of sequences have line 0.
    fn read(section: &[u8]) -> Vec<(u64, u64, u64, gimli::ColumnType)> {
        let line = DebugLine::new(section, LittleEndian);
        let program = line.program(DebugLineOffset(0), 8, None, None).expect("a header");
        let mut instructions = program.header().instructions();
        while let Ok(Some(it)) = instructions.next_instruction(program.header()) {
            assert!(!matches!(it, LineInstruction::UnknownExtended(..)), "{it:?}");
        }
        assert_eq!(program.header().file_names().len(), 2);
        let mut rows = program.rows();
        let mut all = Vec::new();
        while let Some((_, row)) = rows.next_row().expect("sound rows") {
            let line = row.line().filter(|_| !row.end_sequence());
            let line = line.map_or(0, std::num::NonZero::get);
            all.push((row.address(), row.file_index(), line, row.column()));
        }
        all
    }

    #[test]
    fn rows_are_read_as_they_were_given() {
        use gimli::ColumnType::{Column, LeftEdge};
        let mut lines = LineProgram::default();
        assert!(lines.is_empty());
        let [a, none, b] = ["/a.c", "", "/b.c"].map(|path| lines.file(path.as_bytes()));
        assert_eq!((a, none, b, lines.file(b"/a.c")), (1, 0, 2, 1));
        let row =
            |address, file, line, column| LineRow { address: Svma(address), file, line, column };
        lines.sequence(&[row(0x1000, a, 700, 0), row(0x1200, b, 3, 200)], Svma(0x1300));
        lines.sequence(&[row(0x900, b, 1, 0)], Svma(0x901));
        lines.sequence(&[], Svma(0x902));
        let column = Column(200.try_into().expect("not 0"));
        assert_eq!(
            read(&lines.finish()),
            [
                (0x1000, 1, 700, LeftEdge),
                (0x1200, 2, 3, column),
                (0x1300, 2, 0, column),
                (0x900, 2, 1, LeftEdge),
                (0x901, 2, 0, LeftEdge),
            ]
        );
    }
}
