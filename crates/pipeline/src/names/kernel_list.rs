//! Names from the kernel's symbol list, or from the cached results of earlier look-ups in it.

use address::Avma;
use cache::{Cache, Key};
use symbolizer::{
    KernelFunction, KernelListPlaces, KernelListPrefetch, KernelNames, NoKernelNames,
    RecordedKernel, kernel_proofs,
};

use super::Sources;

impl Sources<'_> {
    /// Returns the names for these kernel addresses. The list is read if one of them was never looked up in it, or if a
    /// cached result may be outdated.
    pub(super) fn kernel_names(
        &self,
        kernel: &RecordedKernel,
        places: KernelListPlaces<'_>,
        addresses: &[Avma],
        prefetched: Option<KernelListPrefetch>,
    ) -> Result<KernelNames, NoKernelNames> {
        let identity = || kernel.list_identity(places);
        let Some((cache, before)) = self.cache.and_then(|cache| Some((cache, identity()?))) else {
            return kernel.read_list(places, self.timeline, prefetched);
        };
        let key = Key::of_kernel_list(&before);
        if let Some(names) = self.cached_names(cache, &key, kernel, places)
            && addresses.iter().all(|&address| names.lasting_function(address).is_some())
        {
            return Ok(names);
        }
        let names = kernel.read_list(places, self.timeline, prefetched)?;
        // A damaged list is not cached, so that each run reads and reports it. The list may also have changed while it
        // was read.
        if names.is_whole() && identity().is_some_and(|after| after == before) {
            self.store(cache, &key, &names, addresses);
        }
        Ok(names)
    }

    fn cached_names(
        &self,
        cache: &Cache,
        key: &Key,
        kernel: &RecordedKernel,
        places: KernelListPlaces<'_>,
    ) -> Option<KernelNames> {
        let cached = cache.kernel(key, &kernel_proofs(self.timeline))?;
        kernel.kept_list(places, self.timeline, Box::new(cached)).ok()
    }

    fn store(&self, cache: &Cache, key: &Key, names: &KernelNames, addresses: &[Avma]) {
        let proofs = kernel_proofs(self.timeline);
        let proofs = proofs.into_iter().map(|name| (name, names.listed_address_of(name)));
        let functions = addresses.iter().filter_map(|&address| names.lasting_function(address));
        let functions: Vec<KernelFunction<'_>> = functions.collect();
        cache.keep_kernel(key, &proofs.collect::<Vec<_>>(), &functions);
    }
}
