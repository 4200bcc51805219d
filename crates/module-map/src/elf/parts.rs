//! The symbols that compilers and linkers give to pieces of functions.
//!
//! Source: ELF, "Symbol Table", `Elf64_Sym` and `Elf32_Sym`: the name, then the value after 8 or 4 bytes.

use std::collections::HashSet;

use address::Svma;
use memchr::{memchr, memmem, memrchr};

use super::Image;

/// What is in the names of code that is no function of its own: parts that compilers and BOLT place elsewhere since they
/// run more rarely, repeated code that LLVM moved out of functions, and veneers of linkers.
///
/// Source: LLVM, `MachineOutliner.cpp`; lld, `Thunks.cpp`.
const WORDS: [&[u8]; 5] = [b".cold", b".warm", b"OUTLINED_FUNCTION_", b"Thunk_", b"__long_branch_"];
/// Those of [`WORDS`] that names end with, but for numbers.
const ENDINGS: [&[u8]; 2] = [b".cold", b".warm"];
/// Those of [`WORDS`] that names begin with.
const BEGINNINGS: [&[u8]; 6] = [
    b"OUTLINED_FUNCTION_",
    b"__AArch64ADRPThunk_",
    b"__AArch64AbsLongThunk_",
    b"__ARMv7ABSLongThunk_",
    b"__ThumbV7PILongThunk_",
    b"__long_branch_",
];
/// Of a file of 64 bits.
const CLASS_64: u8 = 2;

impl Image {
    /// Where the code begins that symbols call a part of a function: `.cold`, moved out, or a veneer. Addresses as the file
    /// states them, in the order of the symbol table. The names of most files have no such word, so that their symbols
    /// need not be looked at.
    #[must_use]
    pub fn part_symbols(&self) -> Vec<Svma> {
        self.parts().unwrap_or_default()
    }

    fn parts(&self) -> Option<Vec<Svma>> {
        let data = |name| self.section_data(self.section(name)?).ok();
        let names = data(".strtab")?;
        let parts = part_names(&names);
        if parts.is_empty() {
            return None;
        }
        let symbols = data(".symtab")?;
        let is_wide = self.bytes().get(4) == Some(&CLASS_64);
        let (size, value) = if is_wide { (24, 8) } else { (16, 4) };
        let word = |bytes: &[u8]| {
            let word = *bytes.first_chunk()?;
            let little = self.is_little_endian();
            Some(if little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) })
        };
        let long = |bytes: &[u8]| {
            let word = *bytes.first_chunk()?;
            let little = self.is_little_endian();
            Some(if little { u64::from_le_bytes(word) } else { u64::from_be_bytes(word) })
        };
        let part = |symbol: &[u8]| {
            parts.contains(&word(symbol)?).then_some(())?;
            let value = symbol.get(value..)?;
            Some(Svma(if is_wide { long(value)? } else { word(value)?.into() }))
        };
        Some(symbols.chunks_exact(size).filter_map(part).collect())
    }
}

/// Where the names of parts begin in a table of strings.
fn part_names(names: &[u8]) -> HashSet<u32> {
    let mut found = HashSet::new();
    for word in WORDS {
        for at in memmem::find_iter(names, word) {
            let start =
                names.get(..at).and_then(|before| memrchr(0, before)).map_or(0, |at| at + 1);
            let rest = names.get(start..).unwrap_or_default();
            let name = rest.get(..memchr(0, rest).unwrap_or(rest.len())).unwrap_or_default();
            if let (true, Ok(start)) = (is_part(name), u32::try_from(start)) {
                found.insert(start);
            }
        }
    }
    found
}

fn is_part(name: &[u8]) -> bool {
    // Compilers number what they make twice: `.cold.1`, `.cold.llvm.7`.
    let is_number = |byte: &u8| byte.is_ascii_digit();
    let mut rest = name;
    if name.last().is_some_and(is_number) {
        let digits = name.iter().rev().take_while(|byte| is_number(byte)).count();
        let before = name.get(..name.len() - digits).and_then(|name| name.strip_suffix(b"."));
        rest = before.map_or(name, |before| before.strip_suffix(b".llvm").unwrap_or(before));
    }
    ENDINGS.iter().any(|ending| rest.ends_with(ending))
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
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
            "__AArch64ADRPThunk_f",
        ] {
            assert!(is_part(part.as_bytes()), "{part}");
        }
        for function in ["f", "f.part.0", "f.constprop.0", "f.coldish", "cold", "_ZTVN1AE", ""] {
            assert!(!is_part(function.as_bytes()), "{function}");
        }
    }

    #[test]
    fn names_are_found_in_a_table_of_strings() {
        let names = b"\0main\0f.cold\0g.coldish\0OUTLINED_FUNCTION_3\0h.warm";
        let mut found: Vec<u32> = part_names(names).into_iter().collect();
        found.sort_unstable();
        assert_eq!(found, [6, 23, 43]);
        assert!(part_names(b"\0main\0").is_empty());
    }
}
