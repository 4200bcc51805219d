//! Names from the kernel's symbol list, or from the cached results of earlier look-ups in it.

use address::Avma;
use cache::{Cache, CacheKey};
use symbolizer::{
    KernelFunction, KernelListPrefetch, KernelListSources, KernelNames, NoKernelNames,
    RecordedKernel, kernel_proofs,
};

use super::Sources;

impl Sources<'_> {
    /// Returns the names for these kernel addresses; `None` if there are none.
    pub(super) fn kernel_names(
        &self,
        kernel: &RecordedKernel,
        places: KernelListSources<'_>,
        addresses: &[Avma],
        prefetched: Option<KernelListPrefetch>,
    ) -> Option<Result<KernelNames, NoKernelNames>> {
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
    ) -> Result<KernelNames, NoKernelNames> {
        let identity = || kernel.list_identity(places);
        let Some((cache, before)) = self.cache.and_then(|cache| Some((cache, identity()?))) else {
            return kernel.read_list(places, self.timeline, prefetched);
        };
        let key = CacheKey::of_kernel_list(&before);
        if let Some(names) = self.cached_names(cache, &key, kernel, places)
            && addresses.iter().all(|&address| names.stable_function(address).is_some())
        {
            return Ok(names);
        }
        if let Some(names) = self.indexed_names(cache, &key, kernel, places)
            && addresses.iter().all(|&address| names.stable_function(address).is_some())
        {
            // The next run of this recording needs a smaller file.
            self.store(cache, &key, &names, addresses);
            return Ok(names);
        }
        let names = kernel.read_list(places, self.timeline, prefetched)?;
        // A damaged list is not cached, so that each run reads and reports it. The list may also have changed while it
        // was read.
        if names.is_whole() && identity().is_some_and(|after| after == before) {
            self.store(cache, &key, &names, addresses);
            cache.store_kernel_index(&key, |visit| names.for_each_listed(visit));
        }
        Ok(names)
    }

    fn cached_names(
        &self,
        cache: &Cache,
        key: &CacheKey,
        kernel: &RecordedKernel,
        places: KernelListSources<'_>,
    ) -> Option<KernelNames> {
        let kept = cache.kernel(key, &kernel_proofs(self.timeline))?;
        kernel.cached_list(places, self.timeline, Box::new(kept)).ok()
    }

    /// Returns the names of all lasting functions in the list.
    fn indexed_names(
        &self,
        cache: &Cache,
        key: &CacheKey,
        kernel: &RecordedKernel,
        places: KernelListSources<'_>,
    ) -> Option<KernelNames> {
        let kept = cache.kernel_index(key, &kernel_proofs(self.timeline))?;
        kernel.cached_list(places, self.timeline, Box::new(kept)).ok()
    }

    fn store(&self, cache: &Cache, key: &CacheKey, names: &KernelNames, addresses: &[Avma]) {
        let proofs = kernel_proofs(self.timeline);
        let proofs = proofs.into_iter().map(|name| (name, names.listed_address_of(name)));
        let functions = addresses.iter().filter_map(|&address| names.stable_function(address));
        let functions: Vec<KernelFunction<'_>> = functions.collect();
        cache.store_kernel(key, &proofs.collect::<Vec<_>>(), &functions);
    }
}
