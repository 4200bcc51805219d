//! Kernel functions that were looked up in a list of symbols, stored in the layout of a file's answers.
//! Rows from address 0 are symbols by name, with their address as the row's start.
//! The other rows are functions by start address, with their end as the row's start.

use std::collections::BTreeMap;
use std::sync::Arc;

use address::{Avma, Svma};
use profile::{InlineRow, StringId};
use symbolizer::{KernelFunction, KernelSymbols};

use crate::answers::{AnswerRow, Answers, FrameRow, Writer};
use crate::kernel_index::{self, KernelIndex};
use crate::key::{CacheFileKind, CacheKey};
use crate::store::Cache;

/// Rows below this address are symbols by name: no kernel has code there.
const NAMED: u64 = 256;

/// Earlier lookups in a list.
#[derive(Debug)]
pub struct CachedKernel(Arc<Answers>);

/// An index, with the symbols that prove the kernel.
#[derive(Debug)]
pub struct IndexedKernel {
    looked_up: CachedKernel,
    index: KernelIndex,
}

/// A row: an address, another one, a name.
type KernelRow<'r> = (u64, Option<Avma>, &'r [u8]);

impl Cache {
    /// Returns the lookups in a list, if they include all symbols in `proofs`.
    #[must_use]
    pub fn kernel(&self, key: &CacheKey, proofs: &[&[u8]]) -> Option<CachedKernel> {
        let cached = CachedKernel(self.answers(key)?);
        proofs.iter().all(|name| cached.named(name).is_some()).then_some(cached)
    }

    /// Stores symbols of a list and functions that were looked up in it, in addition to stored ones.
    pub fn store_kernel(
        &self,
        key: &CacheKey,
        proofs: &[(&[u8], Option<Avma>)],
        functions: &[KernelFunction<'_>],
    ) {
        let old = self.answers(key).map(CachedKernel);
        let mut named: BTreeMap<&[u8], Option<Avma>> = proofs.iter().copied().collect();
        let mut rows: BTreeMap<u64, (Option<Avma>, &[u8])> = functions
            .iter()
            .filter(|function| function.start.0 >= NAMED)
            .map(|function| (function.start.0, (Some(function.end), function.name)))
            .collect();
        for (address, other, name) in old.iter().flat_map(CachedKernel::rows) {
            if address < NAMED {
                named.entry(name).or_insert(other);
            } else {
                rows.entry(address).or_insert((other, name));
            }
        }
        let mut writer = Writer::default();
        let named = (0..NAMED).zip(named).map(|(at, (name, address))| (at, address, name));
        for (address, other, name) in named.chain(rows.into_iter().map(|(at, (a, b))| (at, a, b))) {
            let frame = FrameRow::of(&InlineRow::with_name(StringId::new(0)));
            let start = other.map(|other| Svma(other.0));
            let numbers = &mut Default::default();
            let row = AnswerRow { start, frames: 0..0, replaced: None, reason: None };
            writer.add(address, &row, std::iter::once(frame), numbers, |_| name);
        }
        if let Some(bytes) = writer.finish(key, self.most_of_file()) {
            self.write(key, &bytes);
        }
    }

    /// Returns the index of a list, if the cache also has the addresses of all symbols in `proofs`.
    #[must_use]
    pub fn kernel_index(&self, key: &CacheKey, proofs: &[&[u8]]) -> Option<IndexedKernel> {
        let looked_up = self.kernel(key, proofs)?;
        let bytes = self.read_file(key, CacheFileKind::KernelIndex)?;
        let index = KernelIndex::read(bytes, key)?;
        Some(IndexedKernel { looked_up, index })
    }

    /// Stores the index of a list. `symbols` calls its argument for each symbol by ascending address, with the name if
    /// it is a lasting function.
    pub fn store_kernel_index(
        &self,
        key: &CacheKey,
        symbols: impl FnOnce(&mut dyn FnMut(Avma, Option<&[u8]>)),
    ) {
        if let Some(bytes) =
            kernel_index::write(key, symbols).filter(|it| it.len() as u64 <= self.most_of_file())
        {
            self.write_file(key, CacheFileKind::KernelIndex, &bytes);
        }
    }
}

impl CachedKernel {
    fn row(&self, row: usize) -> KernelRow<'_> {
        let answer = self.0.row(row);
        let name = answer.frames.clone().next().and_then(|frame| self.0.frame(frame).function);
        let name = name.map_or(&[][..], |name| self.0.string(name));
        (self.0.address(row), answer.start.map(|start| Avma(start.0)), name)
    }

    fn rows(&self) -> impl Iterator<Item = KernelRow<'_>> {
        (0..self.0.len()).map(|row| self.row(row))
    }

    /// Returns the address of a symbol in the list; `None` if it was not looked up.
    fn named(&self, name: &[u8]) -> Option<Option<Avma>> {
        let mut named = self.rows().take_while(|&(address, ..)| address < NAMED);
        named.find(|&(.., known)| known == name).map(|(_, address, _)| address)
    }
}

impl KernelSymbols for CachedKernel {
    fn lookup(&self, address: Avma) -> Option<(&[u8], Avma)> {
        self.stable_function(address).map(|function| (function.name, function.start))
    }

    fn address_of(&self, name: &[u8]) -> Option<Avma> {
        self.named(name).flatten()
    }

    fn stable_function(&self, address: Avma) -> Option<KernelFunction<'_>> {
        let (start, end, name) = self.row(self.0.last_up_to(address.0)?);
        let end = end.filter(|end| start >= NAMED && address < *end)?;
        Some(KernelFunction { name, start: Avma(start), end })
    }
}

impl KernelSymbols for IndexedKernel {
    fn lookup(&self, address: Avma) -> Option<(&[u8], Avma)> {
        self.stable_function(address).map(|function| (function.name, function.start))
    }

    fn address_of(&self, name: &[u8]) -> Option<Avma> {
        self.looked_up.address_of(name)
    }

    fn stable_function(&self, address: Avma) -> Option<KernelFunction<'_>> {
        self.index.function(address)
    }
}
