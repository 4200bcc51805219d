//! Tests of abbreviation tables that overlap: each may extend to the start of the next one.

use budget::Resource;
use symbolizer::SymbolFindingKind::OverBudget;

use super::debug::{Debug, TEXT, abbrev, bytes, functions, kinds};

const UNIT: u64 = 0x11;
const FUNCTION: u64 = 0x2e;

/// Units with tables that begin with their own root and share the functions that follow.
fn with_tables(units: u64) -> Debug {
    let place = [(0x11, 1), (0x12, 6)];
    let root = abbrev(1, UNIT, true, &place);
    let mut debug = Debug::default();
    (0..units).for_each(|_| debug.abbrev.extend(&root));
    (2..200).for_each(|code| debug.abbrev.extend(abbrev(code, 0x34, false, &[])));
    debug.abbrev.extend(abbrev(200, FUNCTION, false, &[(3, 8), place[0], place[1]]));
    debug.abbrev.push(0);
    for unit in 0..units {
        debug.unit(
            (root.len() as u64 * unit) as u32,
            &bytes(|it| {
                it.u8(1).u64(TEXT + 16 * unit).u32(16);
                it.uleb(200).bytes(b"inner\0").u64(TEXT + 16 * unit).u32(16).u8(0);
            }),
        );
    }
    debug
}

#[test]
fn the_last_table_has_what_all_share() {
    let debug = with_tables(20);
    let size = debug.abbrev.len() as u64;
    let addresses: Vec<u64> = (0..20).map(|unit| 16 * unit + 8).collect();
    let named = debug.ask(&addresses, &[(Resource::Abbreviations, size)]);
    assert_eq!(kinds(&named), [OverBudget(Resource::Abbreviations)]);
    let names = functions(&named);
    assert_eq!(names.iter().flatten().count(), 1);
    assert_eq!(names[19].as_deref(), Some("inner"));
    // The default limit allows for overlaps in small files.
    let named = debug.ask(&addresses, &[]);
    assert_eq!((kinds(&named), functions(&named).iter().flatten().count()), (vec![], 20));
}
