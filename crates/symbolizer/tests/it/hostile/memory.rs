//! Tests that memory of symbol tables and debug information is accounted for, and that a run over the limit is
//! cancelled.

use std::sync::Arc;

use address::Svma;
use budget::MemoryBudget;
use symbolizer::{SymbolRequest, SymbolSource, SymbolizeOptions};

use super::debug::{Debug, TEXT, abbrev};
use crate::interned::{Interned, symbolize};

/// A file with empty units.
fn with_units(units: usize) -> Debug {
    let mut debug = Debug { abbrev: abbrev(1, 0x11, false, &[]), ..Debug::default() };
    debug.abbrev.push(0);
    (0..units).for_each(|_| debug.unit(0, &[1]));
    debug
}

fn ask(debug: &Debug, memory: &Arc<MemoryBudget>) -> Interned {
    let image = debug.image();
    let addresses = [Svma(TEXT)];
    let request = SymbolRequest { source: SymbolSource::of(&image), addresses: &addresses };
    symbolize(&[request], &SymbolizeOptions { memory: Some(memory), ..SymbolizeOptions::default() })
}

#[test]
fn units_are_counted_and_given_back() {
    let memory = Arc::new(MemoryBudget::default());
    let named = ask(&with_units(1000), &memory);
    assert_eq!((named.addresses.len(), memory.held()), (1, 0));
    let memory = Arc::new(MemoryBudget::new(Some(64 << 10)));
    let named = ask(&with_units(1000), &memory);
    assert_eq!((named.addresses.len(), memory.held()), (1, 0));
    let exceeded = memory.exceeded().expect("too many");
    assert_eq!(exceeded.reading, "debug information");
    let memory = Arc::new(MemoryBudget::new(Some(64 << 10)));
    ask(&with_units(10), &memory);
    assert_eq!(memory.exceeded(), None);
}
