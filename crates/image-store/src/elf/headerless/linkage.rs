//! Search for the procedure linkage table: before a symbol is bound, the words used by the
//! stubs point back into the table.
//!
//! Source: System V psABI for x86-64 and for i386, "Procedure Linkage Table" (lazy, IBT); ELF for the Arm 64-bit
//! Architecture, "Procedure Linkage Table".

use address::{Arch, Svma};

use super::loaded::{LoadedFile, Part};

/// Size of a stub of x86, and of the head of the table, in bytes.
const STUB: u64 = 16;
/// Maximum number of segments of a file for this search, which looks up every slot. Linkers make about ten.
const MOST_SEGMENTS: usize = 64;
const ENDBR: [[u8; 4]; 2] = [[0xf3, 0x0f, 0x1e, 0xfa], [0xf3, 0x0f, 0x1e, 0xfb]];

/// Returns the parts of the table, with the names given by linkers.
pub(super) fn find(
    file: &LoadedFile<'_>,
    relocations: &Part,
    has_addends: bool,
) -> Vec<(&'static str, Part)> {
    if file.segments.len() > MOST_SEGMENTS {
        return Vec::new();
    }
    let (first, last, count) = stubs(file, relocations, has_addends);
    let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
    match file.arch {
        Some(Arch::X86_64 | Arch::X86) => x86(file, first, last, count),
        Some(Arch::Aarch64) => aarch64(file, first, count).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns the lowest and the highest address in the words of the slots, and the number of slots.
fn stubs(
    file: &LoadedFile<'_>,
    relocations: &Part,
    has_addends: bool,
) -> (Option<u64>, Option<u64>, u64) {
    let word = file.word_size();
    let size = word * if has_addends { 3 } else { 2 };
    let (mut first, mut last, mut count) = (None, None, 0);
    for entry in file.bytes_of(relocations).chunks_exact(size) {
        count += 1;
        let stub = || {
            let slot = file.part(Svma(file.number(entry, 0, word)?), word as u64)?;
            let stub = file.number(file.bytes_of(&slot), 0, word)?;
            is_code(file, stub).then_some(stub)
        };
        let Some(stub) = stub() else { continue };
        first = Some(first.map_or(stub, |first: u64| first.min(stub)));
        last = Some(last.map_or(stub, |last: u64| last.max(stub)));
    }
    (first, last, count)
}

fn is_code(file: &LoadedFile<'_>, address: u64) -> bool {
    let mut segments = file.segments.iter().filter(|segment| segment.executable);
    segments.any(|segment| Svma(address).since(segment.svma) < segment.file_size)
}

/// The words point to the second instruction of a stub. With IBT they point to its start, and calls use a second table.
fn x86(file: &LoadedFile<'_>, first: u64, last: u64, count: u64) -> Vec<(&'static str, Part)> {
    let (first, last) = (first & !(STUB - 1), last & !(STUB - 1));
    if last - first > STUB.saturating_mul(count) {
        return Vec::new();
    }
    let table = |start: u64, end: u64| file.part(Svma(start), end.wrapping_sub(start));
    let end = last.wrapping_add(STUB);
    let mut found = Vec::new();
    found.extend(table(first.wrapping_sub(STUB), end).map(|part| (".plt", part)));
    let rest = file.rest(Svma(end));
    let code = rest.map(|rest| file.bytes_of(&rest)).unwrap_or_default();
    let guarded = code.chunks_exact(16).take_while(|stub| is_guarded_jump(stub)).count() as u64;
    let plain = code.chunks_exact(8).take_while(|stub| is_plain_jump(stub)).count() as u64;
    let second = [(".plt.sec", STUB * guarded), (".plt.got", 8 * plain)];
    let second = second.into_iter().find(|&(_, size)| size > 0);
    found.extend(second.and_then(|(name, size)| Some((name, file.part(Svma(end), size)?))));
    found
}

/// Returns true for `endbr; jmp *slot`, with or without `bnd` before the jump.
fn is_guarded_jump(stub: &[u8]) -> bool {
    let Some((guard, jump)) = stub.split_first_chunk::<4>() else { return false };
    let jump = jump.strip_prefix(&[0xf2]).unwrap_or(jump);
    ENDBR.contains(guard) && matches!(jump, [0xff, 0x25 | 0xa3, ..])
}

/// Returns true for `jmp *slot; xchg %ax,%ax`.
fn is_plain_jump(stub: &[u8]) -> bool {
    matches!(stub, [0xff, 0x25 | 0xa3, _, _, _, _, 0x66, 0x90])
}

/// All words point to the head of the table, which has 32 bytes.
/// Stubs end with `br x17`: after 16 bytes, or with branch target identification or authentication after 24 bytes.
fn aarch64(file: &LoadedFile<'_>, head: u64, count: u64) -> Option<(&'static str, Part)> {
    const HEAD: u64 = 32;
    const BR_X17: u32 = 0xd61f_0220;
    let stubs = file.rest(Svma(head.wrapping_add(HEAD)))?;
    let is_short = file.u32(file.bytes_of(&stubs), 12) == Some(BR_X17);
    let stub = if is_short { 16 } else { 24 };
    let size = HEAD.checked_add(count.checked_mul(stub)?)?;
    Some((".plt", file.part(Svma(head), size)?))
}
