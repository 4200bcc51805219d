//! Readable names: each distinct mangled name is demangled once, in parallel, and interned in order.
//!
//! A readable name may have 64 times the bytes of the mangled one. The limit on their total is much lower; names beyond
//! it stay mangled.

use std::borrow::Cow;

use budget::{Exhausted, HeldMemory, Resource};
use demangle::Languages;
use options::Demangle;
use profile::{StringHasher, StringId, Strings};
use rayon::prelude::*;

use crate::naming::readable;
use crate::request::SymbolizeOptions;

/// Names demangled by one task, and tasks of a group. The names of a group are in memory twice until they are interned.
const CHUNK: usize = 32;
const CHUNKS: usize = 32;

/// The ids of some names.
pub(super) struct ReadableNames {
    /// For each mangled name, its readable form.
    pub(super) ids: Vec<StringId>,
    /// Index of the first name that stays mangled because the total is too large.
    pub(super) exhausted_at: Option<(usize, Exhausted)>,
}

/// Demangles names, each with the languages of its file.
pub(super) fn readable_names(
    mangled: &[(Cow<'_, [u8]>, Languages)],
    options: &SymbolizeOptions<'_>,
    strings: &mut Strings,
    held: &mut HeldMemory,
) -> ReadableNames {
    let bytes = mangled.iter().map(|(name, _)| name.len() as u64).sum();
    let mut left = options.budget.allowance(Resource::ReadableBytes, bytes);
    let mut all = ReadableNames { ids: Vec::with_capacity(mangled.len()), exhausted_at: None };
    let (hasher, before) = (strings.hasher(), held.bytes());
    for group in mangled.chunks(CHUNK * CHUNKS) {
        if all.exhausted_at.is_some() {
            all.ids.extend(group.iter().map(|(name, _)| strings.intern(name)));
            continue;
        }
        let demangled: Vec<NameChunk> = group
            .par_chunks(CHUNK)
            .map(|chunk| NameChunk::of(chunk, options.demangle, &hasher))
            .collect();
        held.set(before + demangled.iter().map(|chunk| chunk.bytes.capacity() as u64).sum::<u64>());
        let names = demangled.iter().flat_map(NameChunk::names);
        for ((name, hash), (raw, _)) in names.zip(group) {
            let id = match left.take(name.len() as u64) {
                Ok(()) => strings.intern_hashed(name, hash),
                Err(error) => {
                    all.exhausted_at.get_or_insert((all.ids.len(), error));
                    strings.intern(raw)
                }
            };
            all.ids.push(id);
        }
    }
    all
}

/// Readable names in one buffer, so that each temporary name is freed before the next one.
#[derive(Default)]
struct NameChunk {
    bytes: Vec<u8>,
    /// For each name, its end and its hash.
    ends: Vec<(usize, u64)>,
}

impl NameChunk {
    fn of(mangled: &[(Cow<'_, [u8]>, Languages)], how: Demangle, hasher: &StringHasher) -> Self {
        let mut all = Self::default();
        for (name, languages) in mangled {
            let name = readable(name, how, *languages);
            all.bytes.extend_from_slice(&name);
            all.ends.push((all.bytes.len(), hasher.hash(&name)));
        }
        all
    }

    fn names(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, hash)| {
            (self.bytes.get(std::mem::replace(&mut start, end)..end).unwrap_or_default(), hash)
        })
    }
}
