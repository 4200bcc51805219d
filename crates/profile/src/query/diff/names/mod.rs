//! Normalized names of functions, modules and threads, without the parts that differ between builds and runs.

mod alignment;
mod positions;
mod runtime;

use std::borrow::Cow;

use crate::parts::split_copy;

pub(super) use positions::{PositionedName, PositionedNames, ResolvedNames};

/// Returns a function's name without the parts that change from build to build:
/// - hashes and crate disambiguators of rustc;
/// - marks of copies made by compilers (`.isra.0`, `.cold`, …), also as demangled (` [clone .isra.0]`, ` (.llvm.123)`);
/// - lines of lambdas and unnamed classes (`(lambda at line 34)`);
/// - tiers, positions and counters of run-time compilers.
///
/// Two functions may have the same normalized name; [`positioned_function`] also returns the removed positions.
pub(super) fn normal_function(name: &[u8]) -> Vec<u8> {
    let mut text = positioned_function(name).skeleton;
    text.retain(|&byte| byte != 0);
    text
}

/// Returns the name of [`normal_function`] with the positions that distinguish functions of that name.
pub(super) fn positioned_function(name: &[u8]) -> PositionedName {
    if name.contains(&0) {
        // A 0 byte marks a position.
        return PositionedName::plain(name.iter().copied().filter(|&byte| byte != 0).collect());
    }
    if let Some(positioned) = runtime::positioned(name) {
        return positioned;
    }
    let mut rest = name;
    while let Some(shorter) = without_copy(rest).or_else(|| without_hash(rest)) {
        rest = shorter;
    }
    let name = without_disambiguators(rest);
    without_lines(&name).unwrap_or_else(|| PositionedName::plain(name.into_owned()))
}

/// Converts the lines of lambdas and unnamed classes to positions: `f::(lambda at line 34)`. Returns `None` if there
/// are none.
fn without_lines(name: &[u8]) -> Option<PositionedName> {
    const PLACE: &[u8] = b" at line ";
    let next = |rest: &[u8]| rest.windows(PLACE.len()).position(|window| window == PLACE);
    let mut positioned = PositionedName::default();
    let mut rest = name;
    while let Some(at) = next(rest) {
        let (front, position) = rest.split_at(at);
        rest = position.get(PLACE.len()..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (line, further) = rest.split_at(digits);
        let number = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
        positioned = positioned.text(front).at(number.unwrap_or(0), 0);
        rest = further;
    }
    (!positioned.positions.is_empty()).then(|| positioned.text(rest))
}

/// Removes the last mark of a copy; returns `None` if there is none.
fn without_copy(name: &[u8]) -> Option<&[u8]> {
    split_copy(name).map(|(front, _)| front)
}

/// Removes rustc's hash, demangled (`::h0123456789abcdef`) or mangled (`17h0123456789abcdefE`).
fn without_hash(name: &[u8]) -> Option<&[u8]> {
    const DIGITS: usize = 16;
    let (front, open) = match name.strip_suffix(b"E") {
        Some(inside) => (inside, &b"17h"[..]),
        None => (name, &b"::h"[..]),
    };
    let (front, hash) = front.split_at_checked(front.len().checked_sub(DIGITS)?)?;
    let front = front.strip_suffix(open).filter(|front| !front.is_empty())?;
    is_hash(hash).then_some(front)
}

fn is_hash(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Removes the crate disambiguators of Rust's v0 mangling: `std[8f3a52c1d0e97b46]::rt` becomes `std::rt`.
fn without_disambiguators(name: &[u8]) -> Cow<'_, [u8]> {
    /// Minimum digits of a disambiguator, which is a 64-bit hash. Fewer digits may be an index.
    const FEWEST: usize = 8;
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut kept: Option<Vec<u8>> = None;
    let mut copied = 0;
    for (at, _) in name.iter().enumerate().filter(|&(_, &byte)| byte == b'[') {
        let (front, inside) = name.split_at(at);
        let Some(length) = inside.iter().position(|&byte| byte == b']') else { break };
        let hash = inside.get(1..length).unwrap_or_default();
        let after_word = front.last().is_some_and(|&byte| is_word(byte));
        if after_word && (FEWEST..=16).contains(&hash.len()) && is_hash(hash) {
            let out = kept.get_or_insert_default();
            out.extend_from_slice(name.get(copied..at).unwrap_or_default());
            copied = at + length + 1;
        }
    }
    match kept {
        None => Cow::Borrowed(name),
        Some(mut out) => {
            out.extend_from_slice(name.get(copied..).unwrap_or_default());
            Cow::Owned(out)
        }
    }
}

/// Returns a module's name without path and without the kernel's mark of a deleted file.
pub(super) fn normal_module(path: &[u8]) -> &[u8] {
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let at = path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    path.get(at..).filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Returns the offset in a name of the form `MODULE+0x45a0`, which denotes a nameless function.
pub(in crate::query) fn offset_in_name(name: &[u8], module: &[u8]) -> Option<u64> {
    let digits = name.strip_prefix(module)?.strip_prefix(b"+0x")?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str) -> String {
        String::from_utf8_lossy(&normal_function(name.as_bytes())).into_owned()
    }

    #[test]
    fn what_compilers_add_is_left_out() {
        for (name, expected) in [
            ("main", "main"),
            ("sort.isra.0", "sort"),
            ("sort.part.12.constprop.3", "sort"),
            ("sort.cold", "sort"),
            ("sort.cold.17", "sort"),
            ("sort.llvm.1234567890", "sort"),
            ("table.lto_priv.0", "table"),
            ("ns::f(int) [clone .isra.0]", "ns::f(int)"),
            ("ns::f(int) [clone .constprop.0] [clone .cold]", "ns::f(int)"),
            ("ns::f(int) (.llvm.42)", "ns::f(int)"),
            ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
            ("core::fmt::write::h0123456789abcdef.llvm.99", "core::fmt::write"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt5write"),
            ("std[8f3a52c1d0e97b46]::rt::lang_start", "std::rt::lang_start"),
            (
                "f(int)::(lambda at line 34)::operator()::(lambda at line 7)::operator()",
                "f(int)::(lambda)::operator()::(lambda)::operator()",
            ),
            (
                "<alloc[8f3a52c1d0e97b4]::vec::Vec<my[0123456789abcdef]::T> as core[89abcdef]::ops::Drop>::drop",
                "<alloc::vec::Vec<my::T> as core::ops::Drop>::drop",
            ),
        ] {
            assert_eq!(function(name), expected, "{name}");
        }
    }

    #[test]
    fn what_is_part_of_a_name_stays() {
        for name in [
            "",
            ".cold",
            ".isra.0",
            "isra.0",
            "f.isra",
            "f.isra.x",
            "f.other.0",
            "f.0",
            "f::h0123456789abcde",
            "f::h0123456789ABCDEF",
            "::h0123456789abcdef",
            "f(int [16])",
            "operator[](unsigned long)",
            "std::string[abi:cxx11]",
            "<[u8; 16] as T>::f",
            "x[1]",
            "{closure#0}",
            "a [clone",
        ] {
            assert_eq!(function(name), name);
        }
    }

    #[test]
    fn modules_go_by_their_last_name() {
        for (path, expected) in [
            ("/usr/lib/libc.so.6", "libc.so.6"),
            ("/tmp/bench (deleted)", "bench"),
            ("[vdso]", "[vdso]"),
            ("bench", "bench"),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(normal_module(path.as_bytes()), expected.as_bytes(), "{path}");
        }
    }

    #[test]
    fn places_are_no_names() {
        assert_eq!(offset_in_name(b"cc1plus+0x45a0", b"cc1plus"), Some(0x45a0));
        for name in ["cc1plus", "cc1plus+0x", "cc1plus+0xg", "cc1+0x45a0", "cc1plus+45a0"] {
            assert_eq!(offset_in_name(name.as_bytes(), b"cc1plus"), None, "{name}");
        }
    }
}
