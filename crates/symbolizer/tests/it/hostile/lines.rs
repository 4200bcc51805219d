//! Tests of line programs that are shared, overlap, return to the same addresses, or have paths with a common tail.

use budget::Resource;
use symbolizer::SymbolFindingKind::OverBudget;

use super::debug::{Debug, TEXT, abbrev, bytes, kinds, section};
use crate::interned::Interned;

const PLACE: [(u64, u64); 2] = [(0x11, 1), (0x12, 6)];

/// A program with files `f` and these instructions. Its stated length exceeds its size by `more` bytes.
fn program(files: usize, instructions: &[u8], more: u32) -> Vec<u8> {
    let header = bytes(|it| {
        it.bytes(&[1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0]);
        (0..files).for_each(|_| {
            it.bytes(b"f\0\0\0\0");
        });
        it.u8(0);
    });
    bytes(|it| {
        it.u32((header.len() + instructions.len()) as u32 + 6 + more).u16(4);
        it.u32(header.len() as u32).bytes(&header).bytes(instructions);
    })
}

/// Rows from `start` for `size` bytes, without an end of the sequence.
fn rows(start: u64, size: u64) -> Vec<u8> {
    bytes(|it| {
        it.bytes(&[0, 9, 2]).u64(start).u8(1).u8(2).uleb(size).u8(1);
    })
}

const END: [u8; 3] = [0, 1, 1];

/// Units of 16 bytes each, with line programs at these offsets.
fn units(offsets: impl Iterator<Item = u32>, line: Vec<u8>) -> Debug {
    let root = abbrev(1, 0x11, false, &[PLACE[0], PLACE[1], (0x10, 0x17), (0x1b, 0x0e)]);
    let mut debug = Debug { abbrev: [root, vec![0]].concat(), ..Debug::default() };
    for (unit, offset) in (0..).zip(offsets) {
        debug.unit(
            0,
            &bytes(|it| {
                it.u8(1).u64(TEXT + 16 * unit).u32(16).u32(offset).u32(unit as u32);
            }),
        );
    }
    debug.more.push(section(".debug_line", line));
    debug
}

/// Strings for the folders of units, which are suffixes of each other.
fn folder() -> synth::Section {
    section(".debug_str", [vec![b'd'; 64], vec![0]].concat())
}

fn known_lines(named: &Interned) -> usize {
    named.frames.iter().filter(|frame| frame.line > 0).count()
}

fn addresses(units: u64) -> Vec<u64> {
    (0..units).map(|unit| 16 * unit + 8).collect()
}

#[test]
fn a_program_that_units_share_is_run_once() {
    let line = program(1, &[rows(TEXT, 16 * 50), END.to_vec()].concat(), 0);
    let size = line.len() as u64;
    let mut debug = units([0; 50].into_iter(), line);
    debug.more.push(folder());
    let named = debug.ask(&addresses(50), &[(Resource::LineRows, size)]);
    assert_eq!((kinds(&named), known_lines(&named)), (vec![], 50));
}

#[test]
fn programs_that_overlap() {
    // Each program states that it extends to the end of the section.
    let one = program(1, &[rows(TEXT, 16 * 20), END.to_vec()].concat(), 0);
    let length = one.len();
    let line: Vec<u8> = (0..20_usize)
        .flat_map(|at| program(1, &one[one.len() - 20..], ((19 - at) * length) as u32))
        .collect();
    let step = line.len() / 20;
    let offsets = (0..20).map(|at| (at * step) as u32);
    let debug = units(offsets, line.clone());
    let named = debug.ask(&addresses(20), &[(Resource::LineRows, line.len() as u64)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::LineRows)]);
}

#[test]
fn rows_that_go_back_again_and_again() {
    let zigzag: Vec<u8> = (0..100).flat_map(|_| rows(TEXT, 0x100)).collect();
    let line = program(1, &[zigzag, END.to_vec()].concat(), 0);
    let mut debug = units([0].into_iter(), line);
    debug.more.push(folder());
    debug.info[12 + 8..12 + 12].copy_from_slice(&0x100_u32.to_le_bytes());
    let all: Vec<u64> = (0..0x100).collect();
    let named = debug.ask(&all, &[]);
    assert_eq!((kinds(&named), known_lines(&named)), (vec![], 0x100));
}

#[test]
fn folders_that_end_alike() {
    let line = program(1, &[rows(TEXT, 16 * 50), END.to_vec()].concat(), 0);
    let mut debug = units([0; 50].into_iter(), line);
    let folder = [&b"/"[..], &[b'd'; 10_000], b"\0"].concat();
    debug.more.push(section(".debug_str", folder));
    let named = debug.ask(&addresses(50), &[(Resource::NameBytes, 50_000)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::NameBytes)]);
    let paths = named.frames.iter().filter(|frame| frame.file.is_some()).count();
    assert_eq!((paths, known_lines(&named)), (4, 50));
}
