//! The symbols that compilers and linkers give to pieces of functions.
//!
//! Source: ELF, "Symbol Table", `Elf64_Sym` and `Elf32_Sym`: the name, then the value after 8 or 4 bytes.

use address::Svma;

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
/// Of a file of 64 bits.
const CLASS_64: u8 = 2;
/// Longer names are not looked at.
const LONGEST_NAME: usize = 4096;

impl Image {
    /// Where the code begins that symbols call a part of a function: `.cold`, moved out, a thunk or a veneer. Addresses
    /// as the file states them, in the order of the symbol table.
    #[must_use]
    pub fn part_symbols(&self) -> Vec<Svma> {
        self.parts().unwrap_or_default()
    }

    fn parts(&self) -> Option<Vec<Svma>> {
        let data = |name| self.section_data(self.section(name)?).ok();
        let (symbols, names) = (data(".symtab")?, data(".strtab")?);
        let is_wide = self.bytes().get(4) == Some(&CLASS_64);
        let (size, value, word) = if is_wide { (24, 8, 8) } else { (16, 4, 4) };
        let number = |bytes: &[u8]| {
            let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
            if self.is_little_endian() {
                bytes.iter().rev().fold(0, add)
            } else {
                bytes.iter().fold(0, add)
            }
        };
        let part = |symbol: &[u8]| {
            let name = names.get(usize::try_from(number(symbol.get(..4)?)).ok()?..)?;
            let name = name.get(..LONGEST_NAME).unwrap_or(name);
            let name = name.get(..memchr::memchr(0, name)?)?;
            is_part(name).then_some(())?;
            Some(Svma(number(symbol.get(value..value + word)?)))
        };
        Some(symbols.chunks_exact(size).filter_map(part).collect())
    }
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
        || matches!(name.first(), Some(b'O' | b'_'))
            && BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
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
