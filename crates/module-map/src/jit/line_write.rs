//! Writes a line program of DWARF 4 and the unit that points to it.

use super::code_image::Sequence;

/// One abbreviation: a unit without children, with `low_pc`, `high_pc` (as a size) and `stmt_list`.
pub(crate) const LINE_ABBREVIATIONS: &[u8] =
    &[1, 0x11, 0, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0, 0];

/// `.debug_info` of a unit that covers the addresses from `start` up to `end`.
pub(crate) fn line_unit(start: u64, end: u64) -> Vec<u8> {
    let mut unit = vec![4, 0]; // version
    unit.extend([0; 4]); // .debug_abbrev offset
    unit.push(8); // address size
    unit.push(1); // abbreviation
    unit.extend(start.to_le_bytes());
    unit.extend((end - start).to_le_bytes());
    unit.extend([0; 4]); // .debug_line offset
    with_length(unit)
}

/// `.debug_line` with these files, numbered from 1, and sequences.
pub(crate) fn line_program(files: &[Vec<u8>], sequences: &[Sequence]) -> Vec<u8> {
    // minimum instruction length, operations an instruction, is_stmt, line base -5, line range, opcode base and the
    // operand counts of the standard opcodes.
    let mut header = vec![1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];
    header.push(0); // no directories
    for file in files {
        header.extend(file.iter().filter(|&&byte| byte != 0));
        header.extend([0; 4]); // end of name, directory, time, length
    }
    header.push(0);
    let mut program = vec![4, 0];
    program.extend((header.len() as u32).to_le_bytes());
    program.extend(header);
    for sequence in sequences {
        write_sequence(sequence, &mut program);
    }
    with_length(program)
}

fn write_sequence(sequence: &Sequence, program: &mut Vec<u8>) {
    let Some(&(first, ..)) = sequence.rows.first() else { return };
    let (mut address, mut line, mut file) = (first, 1, 1);
    program.extend([0, 9, 2]); // DW_LNE_set_address
    program.extend(first.to_le_bytes());
    for &(at, to, of) in &sequence.rows {
        if of != file {
            program.push(4); // DW_LNS_set_file
            unsigned(u64::from(of), program);
        }
        if to != line {
            program.push(3); // DW_LNS_advance_line
            signed(i64::from(to) - i64::from(line), program);
        }
        if at != address {
            program.push(2); // DW_LNS_advance_pc
            unsigned(at - address, program);
        }
        program.push(1); // DW_LNS_copy
        (address, line, file) = (at, to, of);
    }
    program.push(2);
    unsigned(sequence.end.saturating_sub(address), program);
    program.extend([0, 1, 1]); // DW_LNE_end_sequence
}

fn with_length(body: Vec<u8>) -> Vec<u8> {
    let mut unit = (body.len() as u32).to_le_bytes().to_vec();
    unit.extend(body);
    unit
}

fn unsigned(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn signed(mut value: i64, out: &mut Vec<u8>) {
    while !(-0x40..0x40).contains(&value) {
        out.push((value as u8 & 0x7f) | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7f);
}
