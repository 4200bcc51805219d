//! A list of kernel symbols. The first 8 bytes are an address to look up.
#![no_main]

mod cost;
mod input;

use address::Avma;
use input::Input;
use libfuzzer_sys::fuzz_target;
use symbolizer::Kallsyms;

/// Returns the numbers at the starts of lines.
fn addresses(text: &[u8]) -> impl Iterator<Item = u64> {
    text.split(|&byte| byte == b'\n').filter_map(|line| {
        let word = line.split(|byte| byte.is_ascii_whitespace()).next()?;
        u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
    })
}

fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let any = input.number(8);
    let text = input.0;
    let Ok(list) = Kallsyms::parse(text.to_vec()) else { return };
    assert!(list.len() <= text.split(|&byte| byte == b'\n').count());
    let near = |address: u64| [address, address.wrapping_add(1), address.wrapping_sub(1)];
    for address in addresses(text).take(64).chain([any]).flat_map(near) {
        let Some(symbol) = list.lookup(Avma(address)) else { continue };
        assert!(symbol.start.0 <= address);
        assert!(!symbol.name.is_empty());
        // No other symbol lies in between.
        assert_eq!(list.lookup(symbol.start).map(|it| it.start), Some(symbol.start));
        if symbol.module.is_none() {
            assert!(list.address_of(symbol.name).is_some());
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
