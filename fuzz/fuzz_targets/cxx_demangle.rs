//! A mangled C++ name, demangled in every form. The result does not depend on earlier names.
#![no_main]

mod cost;

use demangle::cxx::{DemangleOptions, Demangler, NameParts, Spelling};
use libfuzzer_sys::fuzz_target;

/// Maximum output: the limit, and the last piece that exceeds it, with the suffix.
const MAX_OUTPUT: usize = 3 << 16;

fn run(name: &[u8]) {
    let mut demangler = Demangler::default();
    for (spelling, parts) in [
        (Spelling::Llvm, NameParts::All),
        (Spelling::Gnu, NameParts::All),
        (Spelling::Gnu, NameParts::Name),
        (Spelling::Llvm, NameParts::Name),
    ] {
        let options = DemangleOptions { spelling, parts };
        let alone = Demangler::default().demangle(name, options).map(<[u8]>::to_vec);
        let readable = demangler.demangle(name, options);
        assert_eq!(readable, alone.as_deref());
        assert!(readable.is_none_or(|text| text.len() <= MAX_OUTPUT));
    }
}

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        run(bytes);
        0
    });
});
