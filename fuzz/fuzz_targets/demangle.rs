//! Names of other languages than C++, one per line.
#![no_main]

mod cost;

use demangle::{Languages, Style, demangle, demangle_in};
use libfuzzer_sys::fuzz_target;

/// Maximum number of bytes of a readable name in excess of the symbol.
const MOST: usize = 1 << 18;

fn run(bytes: &[u8]) {
    for name in bytes.split(|&byte| byte == b'\n').filter(|name| !is_cpp(name)) {
        for style in [Style::Full, Style::Short] {
            let any = demangle_in(name, style, Languages::ALL);
            assert!(any.len() <= name.len() + MOST);
            let told = demangle(name, style);
            // A name that is recognized by its form is recognized in any file.
            assert!(told == any || *told == *name || told.len() < name.len());
        }
    }
}

fn is_cpp(name: &[u8]) -> bool {
    name.iter().find(|&&byte| byte != b'_') == Some(&b'Z') || name.starts_with(b"_GLOBAL_")
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
