//! Tests of many units: with one list of ranges, with roots of many attributes, without ranges.

use budget::Resource;
use symbolizer::SymbolFindingKind::{self, OverBudget};

use super::debug::{Debug, TEXT, abbrev, bytes, functions, kinds, section};

const UNIT: u64 = 0x11;
const FUNCTION: u64 = 0x2e;
const NAME: u64 = 3;
const LOW_PC: u64 = 0x11;
const HIGH_PC: u64 = 0x12;
const RANGES: u64 = 0x55;
const ADDR: u64 = 1;
const DATA4: u64 = 6;
const STRING: u64 = 8;
const SEC_OFFSET: u64 = 0x17;
const FLAG_PRESENT: u64 = 0x19;

/// Units with lists of ranges over the first 16 bytes of the code, at offsets in one section.
fn with_lists(units: u32, ranges: u64, offset_of: impl Fn(u32) -> u32) -> Debug {
    let mut debug =
        Debug { abbrev: abbrev(1, UNIT, false, &[(RANGES, SEC_OFFSET)]), ..Debug::default() };
    debug.abbrev.push(0);
    for unit in 0..units {
        debug.unit(
            0,
            &bytes(|it| {
                it.u8(1).u32(offset_of(unit));
            }),
        );
    }
    let list = bytes(|it| {
        for _ in 0..ranges {
            it.u64s(&[TEXT, TEXT + 16]);
        }
        it.u64s(&[0, 0]);
    });
    debug.more.push(section(".debug_ranges", list));
    debug
}

#[test]
fn a_list_that_units_share_is_read_for_few_of_them() {
    let debug = with_lists(200, 50, |_| 0);
    let named = debug.ask(&[4, 8], &[(Resource::AddressRanges, 3 * 50)]);
    assert_eq!(kinds(&named), []);
    let named = debug.ask(&[4, 8], &[(Resource::AddressRanges, 3 * 50 - 1)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::AddressRanges)]);
}

#[test]
fn lists_that_overlap_are_too_many_ranges() {
    let debug = with_lists(200, 200, |unit| 16 * unit);
    let named = debug.ask(&[4, 8], &[(Resource::AddressRanges, 1000)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::AddressRanges)]);
    let sentence = "hostile: its debug information needs more than 1,000 address ranges, too many for its \
        size; names, inlined functions or lines are missing";
    assert_eq!(named.findings[0].to_string(), sentence);
    assert_eq!(kinds(&debug.ask(&[4, 8], &[])), [], "all of them are less than the usual limit");
}

#[test]
fn a_root_is_looked_for_once_an_abbreviation() {
    let others: Vec<u8> = (2..500).flat_map(|code| abbrev(code, 0x34, false, &[])).collect();
    let root = abbrev(1, UNIT, false, &[(0x3e, FLAG_PRESENT); 500]);
    let mut debug = Debug { abbrev: [others, root, vec![0]].concat(), ..Debug::default() };
    (0..200).for_each(|_| debug.unit(0, &[1]));
    let size = debug.abbrev.len() as u64;
    assert_eq!(kinds(&debug.ask(&[4], &[(Resource::Abbreviations, size)])), []);
    let named = debug.ask(&[4], &[(Resource::Abbreviations, size / 2)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::Abbreviations)]);
}

#[test]
fn roots_behind_all_others_of_tables_that_overlap() {
    let others: Vec<u8> = (2..500).flat_map(|code| abbrev(code, 0x34, false, &[])).collect();
    let first = abbrev(2, 0x34, false, &[]).len() as u32;
    let mut debug = Debug { abbrev: others, ..Debug::default() };
    debug.abbrev.extend(abbrev(1, UNIT, false, &[]));
    debug.abbrev.push(0);
    (0..20).for_each(|unit| debug.unit(unit * first, &[1]));
    let size = debug.abbrev.len() as u64;
    let named = debug.ask(&[4], &[(Resource::Abbreviations, size)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::Abbreviations)]);
}

#[test]
fn more_units_than_their_bytes_account_for() {
    let mut debug = Debug { abbrev: abbrev(1, UNIT, false, &[]), ..Debug::default() };
    (0..200).for_each(|_| debug.unit(0, &[1]));
    let named = debug.ask(&[4], &[(Resource::DebugEntries, 32 * 100)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::DebugEntries)]);
}

/// Units without ranges are only queried for addresses in their functions.
#[test]
fn units_that_do_not_say_where_they_are() {
    let root = abbrev(1, UNIT, true, &[]);
    let function = [(NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA4)];
    let mut debug = Debug { abbrev: root, ..Debug::default() };
    debug.abbrev.extend(abbrev(2, FUNCTION, false, &function));
    debug.abbrev.push(0);
    for unit in 0..100_u64 {
        debug.unit(
            0,
            &bytes(|it| {
                it.u8(1).u8(2).bytes(format!("f{unit:02}\0").as_bytes());
                it.u64(TEXT + 16 * unit).u32(16).u8(0);
            }),
        );
    }
    let addresses: Vec<u64> = (0..100).map(|unit| 16 * unit + 8).collect();
    // Each function counts one range in the search, and one range plus its address in the query.
    let named = debug.ask(&addresses, &[]);
    assert_eq!(kinds(&named), []);
    let expected: Vec<_> = (0..100).map(|unit| Some(format!("f{unit:02}"))).collect();
    assert_eq!(functions(&named), expected);
    // The first of several units counts.
    let mut twice = debug;
    twice.unit(
        0,
        &bytes(|it| {
            it.u8(1).u8(2).bytes(b"all\0").u64(TEXT).u32(0x1000).u8(0);
        }),
    );
    let more: Vec<u64> = addresses.iter().copied().chain([0x800]).collect();
    let expected: Vec<_> = expected.into_iter().chain([Some("all".to_owned())]).collect();
    assert_eq!(functions(&twice.ask(&more, &[])), expected);
}

/// With half of the units overwritten, the damage is reported, and names come from the rest.
#[test]
fn half_of_the_units_overwritten() {
    for filler in [0xff, 0x01] {
        let mut debug = with_lists(100, 1, |_| 0);
        let half = debug.info.len() / 2;
        debug.info[half..].fill(filler);
        let named = debug.ask(&[4], &[]);
        assert_eq!(kinds(&named), [SymbolFindingKind::UnitHeader], "{filler:#x}");
    }
}

#[test]
fn a_unit_of_no_version() {
    let mut debug = with_lists(3, 1, |_| 0);
    let length = debug.info.len() / 3;
    debug.info[length + 4] = 9;
    let named = debug.ask(&[4], &[]);
    assert_eq!(kinds(&named), [SymbolFindingKind::UnitRoot]);
    assert_eq!(named.findings[0].places, [length as u64]);
}
