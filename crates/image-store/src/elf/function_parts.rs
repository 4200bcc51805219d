//! Symbols that compilers and linkers give to pieces of functions.
//!
//! Source: ELF, "Symbol Table", `Elf64_Sym` and `Elf32_Sym`.

use address::Svma;
use memchr::memchr;

use super::Image;

/// Suffixes of the names of function parts, apart from numbers: compilers and BOLT move rarely executed code elsewhere.
const ENDINGS: [&[u8]; 2] = [b".cold", b".warm"];
/// Prefixes of such names: repeated code that LLVM moved out of functions, and veneers of linkers.
///
/// Source: LLVM, `MachineOutliner.cpp`; lld, `Thunks.cpp`.
const BEGINNINGS: [&[u8]; 6] = [
    b"OUTLINED_FUNCTION_",
    b"__AArch64ADRPThunk_",
    b"__AArch64AbsLongThunk_",
    b"__ARMv7ABSLongThunk_",
    b"__ThumbV7PILongThunk_",
    b"__long_branch_",
];
/// Class of 64-bit files.
const CLASS_64: u8 = 2;
/// Types of code symbols: functions, and labels of assembly.
const TYPES: [u8; 2] = [0, 2];
/// Maximum number of symbols examined at one address.
const MOST_ALIASES: usize = 16;
/// Maximum length of names; longer ones are ignored.
const LONGEST_NAME: usize = 4096;

/// The symbol table of a file, as stored.
#[derive(Clone, Copy)]
struct SymbolRows<'a> {
    bytes: &'a [u8],
    is_64: bool,
    is_little: bool,
}

impl SymbolRows<'_> {
    /// Calls `f` with the index and the value of each code symbol.
    fn for_each(self, mut f: impl FnMut(u32, u64)) {
        let is_code = |info: u8| TYPES.contains(&(info & 0xf));
        if self.is_64 {
            let rows = (0..).zip(self.bytes.as_chunks::<24>().0);
            let codes = rows.filter(|(_, row)| is_code(row[4]));
            codes.for_each(|(index, row)| f(index, self.long(row)));
        } else {
            let rows = (0..).zip(self.bytes.as_chunks::<16>().0);
            let codes = rows.filter(|(_, row)| is_code(row[12]));
            codes.for_each(|(index, row)| f(index, self.short(row)));
        }
    }

    /// Returns the value of a symbol, and the offset of its name.
    fn value_and_name(self, index: u32) -> (u64, u32) {
        let index = index as usize;
        let found = if self.is_64 {
            let row = self.bytes.as_chunks::<24>().0.get(index);
            row.map(|row| (self.long(row), self.word(row)))
        } else {
            let row = self.bytes.as_chunks::<16>().0.get(index);
            row.map(|row| (self.short(row), self.word(row)))
        };
        found.unwrap_or_default()
    }

    fn long(self, row: &[u8; 24]) -> u64 {
        let value = row[8..].first_chunk().copied().unwrap_or_default();
        if self.is_little { u64::from_le_bytes(value) } else { u64::from_be_bytes(value) }
    }

    fn short(self, row: &[u8; 16]) -> u64 {
        self.word(&row[4..]).into()
    }

    fn word(self, bytes: &[u8]) -> u32 {
        let word = bytes.first_chunk().copied().unwrap_or_default();
        if self.is_little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) }
    }
}

/// Code symbols of a file: their indexes in its symbol table, in buckets by stated address.
/// A bucket is sorted at its first lookup, because few are needed.
#[derive(Debug, Default)]
pub(crate) struct CodeSymbols {
    symbols: Vec<u32>,
    /// End of each bucket, and whether it is sorted.
    buckets: Vec<(u32, bool)>,
    first: u64,
    /// Number of low address bits within a bucket.
    shift: u32,
}

/// Average number of symbols in a bucket.
const OF_BUCKET: usize = 32;

impl CodeSymbols {
    /// Reads the table three times: for the range of addresses, for the sizes of buckets, and for their symbols.
    fn new(rows: SymbolRows<'_>) -> Self {
        let (mut first, mut last, mut n_symbols) = (u64::MAX, 0, 0_usize);
        rows.for_each(|_, value| {
            (first, last) = (first.min(value), last.max(value));
            n_symbols += 1;
        });
        let wanted = (n_symbols / OF_BUCKET).max(1) as u64;
        let span = last.saturating_sub(first) / wanted;
        let shift = (u64::BITS - span.leading_zeros()).min(u64::BITS - 1);
        let n_buckets = usize::try_from(last.saturating_sub(first) >> shift).unwrap_or(0) + 1;
        let bucket = |value: u64| ((value - first) >> shift) as usize;
        let mut buckets = vec![(0_u32, false); n_buckets + 1];
        rows.for_each(|_, value| buckets[bucket(value) + 1].0 += 1);
        let mut end = 0;
        for bucket in &mut buckets {
            end += bucket.0;
            bucket.0 = end;
        }
        let mut symbols = vec![0; n_symbols];
        rows.for_each(|index, value| {
            // The start of each bucket advances to its end.
            let at = &mut buckets[bucket(value)].0;
            symbols[*at as usize] = index;
            *at += 1;
        });
        buckets.pop();
        Self { symbols, buckets, first, shift }
    }

    /// Returns the offsets of the names of the symbols at an address, ascending.
    fn names_at(&mut self, rows: SymbolRows<'_>, svma: u64) -> impl Iterator<Item = u32> {
        let of_bucket = self.bucket_of(rows, svma).unwrap_or_default();
        let first = of_bucket.partition_point(|&index| rows.value_and_name(index).0 < svma);
        let named = of_bucket.get(first..).unwrap_or_default().iter().take(MOST_ALIASES);
        let named = named.map(move |&index| rows.value_and_name(index));
        named.take_while(move |&(value, _)| value == svma).map(|(_, name)| name)
    }

    /// Returns the symbols around an address, ordered by address.
    fn bucket_of(&mut self, rows: SymbolRows<'_>, svma: u64) -> Option<&[u32]> {
        let at = usize::try_from(svma.checked_sub(self.first)? >> self.shift).ok()?;
        let begin =
            at.checked_sub(1).and_then(|at| self.buckets.get(at)).map_or(0, |bucket| bucket.0);
        let (end, is_sorted) = self.buckets.get_mut(at)?;
        let symbols = self.symbols.get_mut(begin as usize..*end as usize)?;
        if !std::mem::replace(is_sorted, true) {
            symbols.sort_unstable_by_key(|&index| rows.value_and_name(index));
        }
        Some(symbols)
    }
}

impl Image {
    /// Returns the code symbols in `.symtab`; none if the file is stripped. Their names are not read.
    #[must_use]
    pub(crate) fn code_symbols(&self) -> CodeSymbols {
        CodeSymbols::new(self.symbol_rows())
    }

    fn symbol_rows(&self) -> SymbolRows<'_> {
        SymbolRows {
            bytes: self.stored_section(".symtab").unwrap_or_default(),
            is_64: self.bytes().get(4) == Some(&CLASS_64),
            is_little: self.is_little_endian(),
        }
    }

    /// Returns true if a symbol marks the code at a stated address as a part of a function:
    /// `.cold`, moved out, or a veneer.
    #[must_use]
    pub(crate) fn is_part(&self, symbols: &mut CodeSymbols, svma: Svma) -> bool {
        let mut named = symbols.names_at(self.symbol_rows(), svma.0).peekable();
        if named.peek().is_none() {
            return false;
        }
        let Some(names) = self.names() else { return false };
        named.any(|at| name_at(names, at).is_some_and(is_part))
    }

    /// Returns true if symbols mark the code at `part` as a part of the function that starts at `whole`.
    #[must_use]
    pub(crate) fn is_part_of(&self, symbols: &mut CodeSymbols, part: Svma, whole: Svma) -> bool {
        let rows = self.symbol_rows();
        let parts: Vec<u32> = symbols.names_at(rows, part.0).collect();
        if parts.is_empty() {
            return false;
        }
        let Some(names) = self.names() else { return false };
        let wholes: Vec<&[u8]> =
            symbols.names_at(rows, whole.0).filter_map(|at| name_at(names, at)).collect();
        let mut of = parts.iter().filter_map(|&at| whole_of(name_at(names, at)?));
        of.any(|name| wholes.contains(&name))
    }

    /// Names of the symbols.
    fn names(&self) -> Option<&[u8]> {
        self.stored_section(".strtab")
    }
}

/// Returns the name at an offset in a string table.
fn name_at(names: &[u8], at: u32) -> Option<&[u8]> {
    let rest = names.get(at as usize..)?;
    let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
    rest.get(..memchr(0, rest)?)
}

fn is_part(name: &[u8]) -> bool {
    whole_of(name).is_some() || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Returns the name of a part's function: `f` for `f.cold` and for `f.cold.1`.
fn whole_of(name: &[u8]) -> Option<&[u8]> {
    // Compilers number duplicates: `.cold.1`, `.cold.llvm.7`.
    let is_number = |byte: &u8| byte.is_ascii_digit();
    let mut rest = name;
    if name.last().is_some_and(is_number) {
        let digits = name.iter().rev().take_while(|byte| is_number(byte)).count();
        let before = name.get(..name.len() - digits).and_then(|name| name.strip_suffix(b"."));
        rest = before.map_or(name, |before| before.strip_suffix(b".llvm").unwrap_or(before));
    }
    ENDINGS.iter().find_map(|ending| rest.strip_suffix(*ending))
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
    fn parts_have_the_name_of_their_function() {
        assert_eq!(whole_of(b"f.part.0.cold"), Some(&b"f.part.0"[..]));
        assert_eq!(whole_of(b"f.cold.llvm.7"), Some(&b"f"[..]));
        assert_eq!(whole_of(b"f.warm.2"), Some(&b"f"[..]));
        assert_eq!(whole_of(b"f.part.0"), None);
    }

    /// Returns a symbol table of functions with these values and names.
    fn table(symbols: &[(u64, u32)], is_64: bool, is_little: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &(value, name) in symbols {
            let mut row = vec![0; if is_64 { 24 } else { 16 }];
            let short = value as u32;
            let order = |little: &[u8]| {
                let mut bytes = little.to_vec();
                if !is_little {
                    bytes.reverse();
                }
                bytes
            };
            row[..4].copy_from_slice(&order(&name.to_le_bytes()));
            if is_64 {
                row[4] = 2;
                row[8..16].copy_from_slice(&order(&value.to_le_bytes()));
            } else {
                row[12] = 2;
                row[4..8].copy_from_slice(&order(&short.to_le_bytes()));
            }
            bytes.extend_from_slice(&row);
            // An object at the same address is no code.
            row[if is_64 { 4 } else { 12 }] = 1;
            bytes.extend_from_slice(&row);
        }
        bytes
    }

    #[test]
    fn symbols_are_found_by_their_address() {
        let value = |number: u64| 0x1000 + number * number % 509 * 16;
        let symbols: Vec<_> = (0..2000).map(|number| (value(number), number as u32)).collect();
        for (is_64, is_little) in [(true, true), (true, false), (false, true), (false, false)] {
            let bytes = table(&symbols, is_64, is_little);
            let rows = SymbolRows { bytes: &bytes, is_64, is_little };
            let mut buckets = CodeSymbols::new(rows);
            assert_eq!((buckets.buckets.len(), buckets.shift), (32, 8));
            for at in 0xfff..0x3000 {
                let of = symbols.iter().filter(|it| it.0 == at).map(|it| it.1);
                let mut expected: Vec<_> = of.take(MOST_ALIASES).collect();
                expected.sort_unstable();
                assert_eq!(buckets.names_at(rows, at).collect::<Vec<_>>(), expected);
            }
            assert_eq!(buckets.names_at(rows, u64::MAX).count(), 0);
        }
    }

    #[test]
    fn addresses_far_from_each_other_are_found() {
        for symbols in [vec![], vec![(5, 1)], vec![(u64::MAX, 1), (0, 2)], vec![(7, 1); 100]] {
            let bytes = table(&symbols, true, true);
            let rows = SymbolRows { bytes: &bytes, is_64: true, is_little: true };
            let mut buckets = CodeSymbols::new(rows);
            for at in [0, 5, 7, u64::MAX] {
                let n_here = symbols.iter().filter(|it| it.0 == at).count().min(MOST_ALIASES);
                assert_eq!(buckets.names_at(rows, at).count(), n_here, "{at:#x} of {symbols:?}");
            }
        }
    }

    #[test]
    fn names_end_with_a_zero() {
        let names = b"\0main\0f.cold\0g";
        assert_eq!(name_at(names, 1), Some(&b"main"[..]));
        assert_eq!(name_at(names, 7), Some(&b".cold"[..]));
        assert_eq!(name_at(names, 13), None);
        assert_eq!(name_at(names, 99), None);
    }
}
