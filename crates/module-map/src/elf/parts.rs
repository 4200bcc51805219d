//! The symbols that compilers and linkers give to pieces of functions.

use address::Svma;
use object::{Object as _, ObjectSymbol as _};

use super::Image;

/// Beginnings of the names of code that is no function of its own: repeated code that LLVM moved out of functions,
/// thunks that adjust `this`, and veneers of linkers.
///
/// Source: LLVM, `MachineOutliner.cpp`; Itanium C++ ABI, "Virtual Tables and RTTI"; lld, `Thunks.cpp`.
const BEGINNINGS: [&[u8]; 9] = [
    b"OUTLINED_FUNCTION_",
    b"_ZTh",
    b"_ZTv",
    b"_ZTc",
    b"__AArch64ADRPThunk_",
    b"__AArch64AbsLongThunk_",
    b"__ARMv7ABSLongThunk_",
    b"__ThumbV7PILongThunk_",
    b"__long_branch_",
];
/// What compilers and BOLT add to the name of a function for a part of it that runs more rarely.
const ENDINGS: [&[u8]; 2] = [b".cold", b".warm"];
/// Longer names are not looked at.
const LONGEST_NAME: usize = 4096;

impl Image {
    /// Where the code begins that symbols call a part of a function: `.cold`, moved out, a thunk or a veneer. Addresses
    /// as the file states them, in the order of the symbol table.
    #[must_use]
    pub fn part_symbols(&self) -> Vec<Svma> {
        let Ok(file) = object::File::parse(self.bytes()) else { return Vec::new() };
        let parts = file.symbols().filter(|symbol| {
            let name = symbol.name_bytes().unwrap_or_default();
            symbol.is_definition() && is_part(name)
        });
        parts.map(|symbol| Svma(symbol.address())).collect()
    }
}

fn is_part(name: &[u8]) -> bool {
    let name = name.get(..LONGEST_NAME).unwrap_or(name);
    let has = |ending: &[u8]| {
        let after = name.windows(ending.len()).rposition(|part| part == ending);
        let rest = after.and_then(|at| name.get(at + ending.len()..));
        rest.is_some_and(|rest| rest.first().is_none_or(|&byte| byte == b'.'))
    };
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) || ENDINGS.into_iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_parts_from_functions() {
        for part in [
            "f.cold",
            "f.cold.3",
            "f.part.0.cold",
            "f.cold.llvm.7",
            "f.warm",
            "OUTLINED_FUNCTION_1",
        ] {
            assert!(is_part(part.as_bytes()), "{part}");
        }
        for part in ["_ZThn16_N1A1fEv", "_ZTv0_n24_N1A1fEv", "__AArch64ADRPThunk_f"] {
            assert!(is_part(part.as_bytes()), "{part}");
        }
        for function in ["f", "f.part.0", "f.constprop.0", "f.coldish", "cold", "_ZTVN1AE", ""] {
            assert!(!is_part(function.as_bytes()), "{function}");
        }
    }
}
