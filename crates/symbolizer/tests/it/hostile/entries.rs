//! Tests of function entries: with attributes without bytes, with ranges over everything, deeply nested.

use budget::Resource;
use symbolizer::SymbolFindingKind::OverBudget;

use super::debug::{Debug, TEXT, abbrev, bytes, functions, kinds, section};

const PLACE: [(u64, u64); 2] = [(0x11, 1), (0x12, 6)];
const UNIT: u64 = 0x11;
const FUNCTION: u64 = 0x2e;
const INLINED: u64 = 0x1d;

/// A unit over the whole code, with further abbreviations and entries.
fn unit(abbrevs: &[Vec<u8>], entries: &[u8]) -> Debug {
    let mut debug = Debug { abbrev: abbrev(1, UNIT, true, &PLACE), ..Debug::default() };
    abbrevs.iter().for_each(|it| debug.abbrev.extend(it));
    debug.abbrev.push(0);
    debug.unit(
        0,
        &bytes(|it| {
            it.u8(1).u64(TEXT).u32(0x1000).bytes(entries).u8(0);
        }),
    );
    debug
}

#[test]
fn attributes_that_are_stated_again_and_again() {
    // `DW_AT_low_pc` in a form without bytes, and finally the actual one.
    let attributes = [vec![(0x11, 0x19); 2000], vec![(3, 8)], PLACE.to_vec()].concat();
    let entries = bytes(|it| {
        for at in 0..200 {
            it.u8(2).bytes(b"f\0").u64(TEXT + at).u32(1);
        }
    });
    let debug = unit(&[abbrev(2, FUNCTION, false, &attributes)], &entries);
    let named = debug.ask(&[100], &[]);
    assert_eq!((kinds(&named), functions(&named)), (vec![], vec![Some("f".to_owned())]));
}

#[test]
fn names_behind_many_attributes() {
    // All functions have the same address, so each requested address only reads the last name; inlined calls nest.
    let many = [vec![(0x3f, 0x19); 1000], PLACE.to_vec()].concat();
    let entries = bytes(|it| {
        for _ in 0..100 {
            it.u8(2).u64(TEXT).u32(0x100);
            for _ in 0..2 {
                it.u8(3).u64(TEXT).u32(0x100);
            }
            it.bytes(&[0; 3]);
        }
    });
    let abbrevs = [abbrev(2, FUNCTION, true, &many), abbrev(3, INLINED, true, &many)];
    let debug = unit(&abbrevs, &entries);
    let named = debug.ask(&[8], &[]);
    assert_eq!(kinds(&named), []);
    let named = debug.ask(&[8], &[(Resource::DebugEntries, 64)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::DebugEntries)]);
}

#[test]
fn lists_of_ranges_that_all_functions_share() {
    let entries = vec![2; 500];
    let mut debug = unit(&[abbrev(2, FUNCTION, false, &[(0x55, 0x19)])], &entries);
    // A flag has the value 1, which is also the offset of the list.
    let list = bytes(|it| {
        it.u8(0);
        for _ in 0..100 {
            it.u64s(&[TEXT, TEXT + 0x100]);
        }
        it.u64s(&[0, 0]);
    });
    debug.more.push(section(".debug_ranges", list));
    let named = debug.ask(&[8], &[(Resource::AddressRanges, 1000)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::AddressRanges)]);
}

#[test]
fn inlined_calls_that_nest_over_all_addresses() {
    let depth = 300;
    let entries = bytes(|it| {
        it.u8(2).bytes(b"f\0").u64(TEXT).u32(0x1000);
        for _ in 0..depth {
            it.u8(3).u64(TEXT).u32(0x1000);
        }
        it.bytes(&vec![0; depth + 1]);
    });
    let function = abbrev(2, FUNCTION, true, &[&[(3, 8)], &PLACE[..]].concat());
    let debug = unit(&[function, abbrev(3, INLINED, true, &PLACE)], &entries);
    let addresses: Vec<u64> = (0..200).collect();
    // Each address yields 256 inlined calls and the function itself.
    let named = debug.ask(&addresses[..1], &[]);
    assert_eq!((kinds(&named), named.frames.len()), (vec![], 257));
    assert_eq!(functions(&named), [Some("f".to_owned())]);
    // 16 for each address, plus the share of the unit's size: a fourth of 400 entries.
    let named = debug.ask(&addresses, &[(Resource::DebugEntries, 400)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::DebugEntries)]);
    assert_eq!(named.frames.len(), 200 + 200 * 16 + 100);
    assert_eq!(functions(&named), vec![Some("f".to_owned()); 200]);
}
