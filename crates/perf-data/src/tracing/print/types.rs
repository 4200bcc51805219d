//! Sizes of the types in casts and `sizeof`.

use super::expression::Target;

/// Words that can only be part of a type.
const WORDS: [&[u8]; 11] = [
    b"unsigned",
    b"signed",
    b"char",
    b"short",
    b"int",
    b"long",
    b"const",
    b"volatile",
    b"struct",
    b"enum",
    b"void",
];

/// Returns true if a word can only be part of a type.
pub(super) fn is_type_word(word: &[u8]) -> bool {
    WORDS.contains(&word) || named_size(word).is_some()
}

/// Returns the size of a named type, in bytes.
fn named_size(word: &[u8]) -> Option<usize> {
    Some(match word {
        b"u8" | b"s8" | b"__u8" | b"__s8" | b"uint8_t" | b"int8_t" | b"bool" => 1,
        b"u16" | b"s16" | b"__u16" | b"__s16" | b"uint16_t" | b"int16_t" => 2,
        b"u32" | b"s32" | b"__u32" | b"__s32" | b"uint32_t" | b"int32_t" => 4,
        b"u64" | b"s64" | b"__u64" | b"__s64" | b"uint64_t" | b"int64_t" => 8,
        _ => return None,
    })
}

/// Returns the size of a number of a type, in bytes; types that are not known have the size of a `long`.
pub(super) fn size(words: &[&[u8]], long_size: usize) -> usize {
    let has = |word: &[u8]| words.contains(&word);
    let longs = words.iter().filter(|word| **word == b"long").count();
    match longs {
        0 => {}
        1 => return long_size,
        _ => return 8,
    }
    if let Some(size) = words.iter().find_map(|word| named_size(word)) {
        size
    } else if has(b"char") {
        1
    } else if has(b"short") {
        2
    } else if has(b"int") || has(b"unsigned") || has(b"signed") {
        4
    } else {
        long_size
    }
}

/// Returns the target of a cast to a type. Casts to other than the basic types change nothing.
pub(super) fn target(words: &[&[u8]], stars: usize, long_size: usize) -> Target {
    let is_basic = words.iter().all(|word| is_type_word(word));
    let is_narrow = is_basic && !words.contains(&&b"long"[..]);
    match stars {
        0 if is_narrow => Target::Number(size(words, long_size)),
        0 => Target::Number(8),
        1 => Target::Pointer(size(words, long_size)),
        _ => Target::Pointer(long_size),
    }
}
