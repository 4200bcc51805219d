//! The symbols of the recorded kernel: a list, its displacement, and the check that it belongs to that kernel.

use std::fmt;
use std::path::Path;

use address::Avma;
use module_map::Timeline;

use crate::kernel::error::NoKernelNames;
use crate::kernel::kallsyms::{Kallsyms, KernelFunction};

/// Symbols of a kernel: a list, or the cached results of earlier look-ups in it.
pub trait KernelSymbols: fmt::Debug + Send + Sync {
    /// Returns name and start of the symbol that covers an address.
    fn lookup(&self, address: Avma) -> Option<(&[u8], Avma)>;

    /// Returns the address of the kernel's own symbol with this name.
    fn address_of(&self, name: &[u8]) -> Option<Avma>;

    /// Returns true if no line of the list is damaged.
    fn is_whole(&self) -> bool {
        true
    }

    /// As [`Kallsyms::stable_function`].
    fn stable_function(&self, address: Avma) -> Option<KernelFunction<'_>>;

    /// As [`Kallsyms::for_each`]; calls nothing for a part of a list.
    fn for_each(&self, _visit: &mut dyn FnMut(Avma, Option<&[u8]>)) {}
}

impl KernelSymbols for Kallsyms {
    fn lookup(&self, address: Avma) -> Option<(&[u8], Avma)> {
        Self::lookup(self, address).map(|symbol| (symbol.name, symbol.start))
    }

    fn address_of(&self, name: &[u8]) -> Option<Avma> {
        Self::address_of(self, name)
    }

    fn is_whole(&self) -> bool {
        self.n_damaged() == 0
    }

    fn stable_function(&self, address: Avma) -> Option<KernelFunction<'_>> {
        Self::stable_function(self, address)
    }

    fn for_each(&self, visit: &mut dyn FnMut(Avma, Option<&[u8]>)) {
        Self::for_each(self, visit);
    }
}

/// The symbols that mark the end of the kernel's code.
const ENDS: [&[u8]; 2] = [b"_etext", b"_edata"];

/// Returns the symbols that [`KernelNames`] looks up by name, to verify that a list belongs to the recorded kernel.
#[must_use]
pub fn kernel_proofs(timeline: &Timeline) -> Vec<&[u8]> {
    timeline.kernel_reference().map(|(symbol, _)| symbol).into_iter().chain(ENDS).collect()
}

/// A list of kernel symbols, and the displacement of the recorded kernel from it.
#[derive(Debug)]
pub struct KernelNames {
    list: Box<dyn KernelSymbols>,
    slide: u64,
    /// True if only the release and the address of the kernel show that the list belongs to the recorded one.
    pub by_release: bool,
}

impl KernelNames {
    /// Returns name and start of the symbol that covers an address of the recorded kernel.
    #[must_use]
    pub fn lookup(&self, address: Avma) -> Option<(&[u8], Avma)> {
        let (name, start) = self.list.lookup(address.sub(self.slide))?;
        Some((name, start.add(self.slide)))
    }

    /// Returns the lasting function that covers an address of the recorded kernel, with the addresses of the list.
    #[must_use]
    pub fn stable_function(&self, address: Avma) -> Option<KernelFunction<'_>> {
        self.list.stable_function(address.sub(self.slide))
    }

    /// As [`Kallsyms::for_each`], with the addresses of the list.
    pub fn for_each_listed(&self, visit: &mut dyn FnMut(Avma, Option<&[u8]>)) {
        self.list.for_each(visit);
    }

    /// Returns true if no line of the list is damaged.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.list.is_whole()
    }

    /// Returns the address of a symbol in the list.
    #[must_use]
    pub fn listed_address_of(&self, name: &[u8]) -> Option<Avma> {
        self.list.address_of(name)
    }

    /// Returns the names of a list, unless it belongs to another kernel. `path` is for the error.
    pub(super) fn proven(
        list: Box<dyn KernelSymbols>,
        path: &Path,
        by_release: bool,
        timeline: &Timeline,
    ) -> Result<Self, NoKernelNames> {
        let slide = timeline
            .kernel_reference()
            .and_then(|(symbol, recorded)| Some(recorded.since(list.address_of(symbol)?)));
        if by_release && slide != Some(0) {
            return Err(NoKernelNames::NotRecorded);
        }
        let names = Self { list, slide: slide.unwrap_or(0), by_release };
        match names.other_end(timeline) {
            Some((listed, recorded)) => {
                Err(NoKernelNames::OtherKernel { path: path.to_owned(), listed, recorded })
            }
            None => Ok(names),
        }
    }

    /// Returns the address in the recorded kernel of a symbol of the list.
    fn address_of(&self, symbol: &[u8]) -> Option<Avma> {
        Some(self.list.address_of(symbol)?.add(self.slide))
    }

    /// Returns the ends of the code of the list's kernel and of the recorded one, if they differ. A list has no
    /// build-id, but recorders write the address of `_etext` or `_edata` as the end of the kernel's map.
    ///
    /// Source: `machine__get_running_kernel_start` in `tools/perf/util/machine.c`. Recorders that do not find the
    /// symbols write the start of the next module, which is page-aligned.
    fn other_end(&self, timeline: &Timeline) -> Option<(Avma, Avma)> {
        const PAGE: u64 = 0x1000;
        let (_, reference) = timeline.kernel_reference()?;
        let kernel = timeline.kernel();
        let recorded = kernel.lookup(reference)?.end;
        if recorded.0.is_multiple_of(PAGE) {
            return None;
        }
        let mut first = None;
        for symbol in ENDS {
            let listed = self.address_of(symbol);
            if listed == Some(recorded) {
                return None;
            }
            first = first.or(listed);
        }
        first.map(|first| (first, recorded))
    }
}
