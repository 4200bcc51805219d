//! Number of symbols in a dynamic symbol table. It is not stated directly.
//! The loader's hash tables imply it, and relocations give a lower bound.
//!
//! Source: gABI, "Hash Table"; the GNU hash table as in `elf/dl-lookup.c` of glibc; ELF psABI s390x, with eight-byte
//! words in hash tables.

use address::Svma;

use super::dynamic::DynamicSection;
use super::loaded::{LoadedFile, Part};
use crate::elf::psabi::Supplement;

/// Size of a symbol, in bytes.
pub(super) const fn entry_size(file: &LoadedFile<'_>) -> usize {
    if file.is_wide { 24 } else { 16 }
}

/// Returns the symbol table, with the number of symbols from the other tables, limited by the start of the next table.
pub(super) fn find(file: &LoadedFile<'_>, tables: &DynamicSection) -> Option<Part> {
    let mut part = tables.symbols(file)?;
    let count = [
        tables.hash.and_then(|hash| by_hash(file, hash)),
        tables.gnu_hash.and_then(|hash| by_gnu_hash(file, hash)),
        tables.linkage(file).and_then(|(part, has_addends)| by_linkage(file, &part, has_addends)),
    ];
    let count = count.into_iter().flatten().max()?;
    let size = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(entry_size(file));
    part.range.end = part.range.end.min(part.range.start.saturating_add(size));
    (!part.range.is_empty()).then_some(part)
}

/// Returns the second word of a hash table: the number of chain entries, one for each symbol.
fn by_hash(file: &LoadedFile<'_>, hash: Svma) -> Option<u64> {
    const USUAL_WORD: usize = 4;
    let supplement = file.arch.and_then(Supplement::of);
    let word = supplement.map_or(USUAL_WORD, |supplement| supplement.hash_word);
    let table = file.rest(hash)?;
    file.number(file.bytes_of(&table), word, word)
}

/// Returns one more than the last symbol of the chain with the highest start. Symbols before
/// the first hashed one count, too.
fn by_gnu_hash(file: &LoadedFile<'_>, hash: Svma) -> Option<u64> {
    const HEADER: usize = 16;
    const WORD: usize = 4;
    /// Set in the last entry of a chain.
    const LAST: u32 = 1;
    let table = file.rest(hash)?;
    let table = file.bytes_of(&table);
    let header = |at: usize| file.u32(table, at * WORD);
    let (buckets, first, filter) = (header(0)?, header(1)?, header(2)?);
    let filter = (filter as usize).checked_mul(file.word_size())?;
    let size = (buckets as usize).checked_mul(WORD)?;
    let rest = table.get(HEADER.checked_add(filter)?..)?;
    let (buckets, chains) = rest.split_at_checked(size)?;
    let starts = buckets.chunks_exact(WORD).filter_map(|bucket| file.u32(bucket, 0));
    let Some(start) = starts.max().filter(|&start| start >= first) else {
        return Some(first.into());
    };
    let chain = chains.get((start - first) as usize * WORD..)?.chunks_exact(WORD);
    let is_last = |entry: &[u8]| file.u32(entry, 0).is_none_or(|entry| entry & LAST != 0);
    let before_last = chain.take_while(|entry| !is_last(entry)).count();
    Some(u64::from(start) + before_last as u64 + 1)
}

/// Returns one more than the highest symbol number in the relocations of the linkage table: a program
/// that exports no symbol has an empty hash table.
fn by_linkage(file: &LoadedFile<'_>, part: &Part, has_addends: bool) -> Option<u64> {
    let word = file.word_size();
    let words = if has_addends { 3 } else { 2 };
    let symbol = |entry: &[u8]| {
        let info = file.number(entry, word, word)?;
        Some(info >> if file.is_wide { 32 } else { 8 })
    };
    file.bytes_of(part).chunks_exact(words * word).filter_map(symbol).max().map(|last| last + 1)
}
