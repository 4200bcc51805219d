//! A `perf-PID.map` of a JIT compiler. The first 8 bytes are an address to look up.
#![no_main]

mod cost;
mod input;

use address::Avma;
use input::Input;
use jit::PerfMap;
use libfuzzer_sys::fuzz_target;

/// Returns the ranges that lines state, with their names.
fn ranges(text: &[u8]) -> impl DoubleEndedIterator<Item = (u64, u64, &[u8])> {
    text.split(|&byte| byte == b'\n').filter_map(|line| {
        let mut words = line.splitn(3, |&byte| byte == b' ');
        let number = |word: &[u8]| {
            let digits = word.iter().all(u8::is_ascii_hexdigit).then_some(word)?;
            u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let (start, size) = (number(words.next()?)?, number(words.next()?)?);
        let name = words.next()?.trim_ascii();
        (size != 0 && !name.is_empty()).then(|| (start, start.saturating_add(size), name))
    })
}

fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let any = input.number(8);
    let text = input.0;
    let map = PerfMap::parse(text.to_vec());
    assert!(map.skipped() <= text.split(|&byte| byte == b'\n').count());
    let edges = ranges(text).take(64).flat_map(|(start, end, _)| [start, end - 1, end]);
    for address in edges.chain([any]) {
        let found = map.lookup(Avma(address));
        assert!(found.is_none_or(|it| it.start.0 <= address && !it.name.is_empty()));
        // If all lines have the simplest form, the last one that covers the address wins.
        if map.skipped() == 0 && ranges(text).count() == text.split(|&b| b == b'\n').count() {
            let last = ranges(text).rev().find(|(start, end, _)| (*start..*end).contains(&address));
            assert_eq!(found.map(|it| it.name), last.map(|(_, _, name)| name));
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
