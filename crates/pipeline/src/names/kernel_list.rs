//! Names from the kernel's symbol list, or from the cached results of earlier look-ups in it.

use address::Avma;
use cache::{Cache, CacheKey};
use symbolizer::{
    KernelFunction, KernelListPrefetch, KernelListSources, KernelNames, KernelSymbols,
    NoKernelNames, RecordedKernel, kernel_proofs,
};

use super::Sources;

/// Names of kernel addresses.
pub(super) struct FoundKernelNames {
    pub(super) names: KernelNames,
    /// True if a later run on the same boot finds the same names, as long as the kernel has the same modules.
    pub(super) last: bool,
}

impl Sources<'_> {
    /// Returns the names for these kernel addresses; `None` if there are none.
    pub(super) fn kernel_names(
        &self,
        kernel: &RecordedKernel,
        places: KernelListSources<'_>,
        addresses: &[Avma],
        prefetched: Option<KernelListPrefetch>,
    ) -> Option<Result<FoundKernelNames, NoKernelNames>> {
        let names = || self.names_of(kernel, places, addresses, prefetched);
        (!addresses.is_empty()).then(names)
    }

    /// Returns the names for these kernel addresses. The list is read if one of them was never looked up in it, or if a
    /// cached result may be outdated.
    fn names_of(
        &self,
        kernel: &RecordedKernel,
        places: KernelListSources<'_>,
        addresses: &[Avma],
        prefetched: Option<KernelListPrefetch>,
    ) -> Result<FoundKernelNames, NoKernelNames> {
        let identity = || kernel.list_identity(places);
        let Some((cache, before)) = self.cache.and_then(|cache| Some((cache, identity()?))) else {
            let names = kernel.read_list(places, self.timeline, prefetched)?;
            return Ok(FoundKernelNames { names, last: false });
        };
        let key = CacheKey::of_kernel_list(&before);
        let proofs = kernel_proofs(self.timeline);
        let all_last = |names: &KernelNames| {
            addresses.iter().all(|&address| names.stable_function(address).is_some())
        };
        let known = |kept: Box<dyn KernelSymbols>| {
            let names = kernel.cached_list(places, self.timeline, kept).ok()?;
            all_last(&names).then_some(names)
        };
        let kept = cache.kernel(&key, &proofs);
        if let Some(names) = kept.and_then(|kept| known(Box::new(kept))) {
            return Ok(FoundKernelNames { names, last: true });
        }
        let kept = cache.kernel_index(&key, &proofs);
        if let Some(names) = kept.and_then(|kept| known(Box::new(kept))) {
            // The next run of this recording needs a smaller file.
            self.store(cache, &key, &names, addresses);
            return Ok(FoundKernelNames { names, last: true });
        }
        let names = kernel.read_list(places, self.timeline, prefetched)?;
        // A damaged list is not cached, so that each run reads and reports it. The list may also have changed while it
        // was read.
        let is_whole = names.is_whole() && identity().is_some_and(|after| after == before);
        if is_whole {
            self.store(cache, &key, &names, addresses);
            cache.store_kernel_index(&key, |visit| names.for_each_listed(visit));
        }
        let last = is_whole && all_last(&names);
        Ok(FoundKernelNames { names, last })
    }

    fn store(&self, cache: &Cache, key: &CacheKey, names: &KernelNames, addresses: &[Avma]) {
        let proofs = kernel_proofs(self.timeline);
        let proofs = proofs.into_iter().map(|name| (name, names.listed_address_of(name)));
        let functions = addresses.iter().filter_map(|&address| names.stable_function(address));
        let functions: Vec<KernelFunction<'_>> = functions.collect();
        cache.store_kernel(key, &proofs.collect::<Vec<_>>(), &functions);
    }
}
