//! A mangled name of any language, written by its productions: nested, long, and with back references. Readers' cost is
//! proportional to the name, and their output is bounded.
//!
//! ```text
//!   1 byte    the language
//!   the rest  choices of productions
//! ```
#![no_main]

#[path = "../fuzz_targets/cost.rs"]
mod cost;
mod cxx_names;
#[path = "../fuzz_targets/input.rs"]
mod input;
mod other_names;
mod rust_names;
mod writer;

use demangle::cxx::{DemangleOptions, Demangler, NameParts, Spelling};
use demangle::{Languages, Style, demangle_in};
use input::Input;
use libfuzzer_sys::fuzz_target;
use writer::Writer;

/// Maximum number of bytes of a readable name in excess of the symbol.
const MOST: usize = 1 << 18;

fn name(bytes: &[u8]) -> Vec<u8> {
    let mut input = Input(bytes);
    let language = input.number(1);
    let mut writer = Writer::new(input);
    match language % 8 {
        0..=2 => cxx_names::name(&mut writer),
        3 | 4 => rust_names::v0(&mut writer),
        5 => rust_names::legacy(&mut writer),
        6 => other_names::d(&mut writer),
        _ => other_names::plain(&mut writer),
    }
    writer.out
}

fn run(name: &[u8]) {
    for style in [Style::Full, Style::Short] {
        for languages in [Languages::default(), Languages::ALL] {
            let readable = demangle_in(name, style, languages);
            assert!(readable.len() <= name.len() + MOST, "{} bytes", readable.len());
            assert_eq!(readable, demangle_in(name, style, languages));
        }
    }
    let mut demangler = Demangler::default();
    for (spelling, parts) in [(Spelling::Llvm, NameParts::All), (Spelling::Gnu, NameParts::Name)] {
        let options = DemangleOptions { spelling, parts };
        let first = demangler.demangle(name, options).map(<[u8]>::to_vec);
        assert!(first.as_ref().is_none_or(|text| text.len() <= MOST));
        assert_eq!(demangler.demangle(name, options), first.as_deref());
    }
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        let name = name(bytes);
        run(&name);
        name.len() as u64
    });
});
