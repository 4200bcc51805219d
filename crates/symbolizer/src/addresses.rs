//! The requested addresses of a file, with an index that finds the first address at or after x in about one memory
//! access. It is queried for every symbol and every unit of the file.

use address::Svma;

/// Sorted addresses, with an index of equal buckets from the lowest to the highest address.
pub(crate) struct AddressIndex<'a> {
    addresses: &'a [Svma],
    base: u64,
    shift: u32,
    /// For each bucket, the index of the first address in or after it; one more entry at the end.
    buckets: Vec<u32>,
}

impl<'a> AddressIndex<'a> {
    /// Indexes sorted addresses.
    pub(crate) fn new(addresses: &'a [Svma]) -> Self {
        let base = addresses.first().map_or(0, |a| a.0);
        let span = addresses.last().map_or(0, |a| a.0).wrapping_sub(base);
        let wanted = (addresses.len() as u64 * 2).next_power_of_two().min(1 << 20);
        let mut shift = 0;
        while span >> shift >= wanted {
            shift += 1;
        }
        let count = (span >> shift) as usize + 1;
        let mut buckets = Vec::with_capacity(count + 1);
        for (index, address) in addresses.iter().enumerate() {
            let bucket = (address.0.wrapping_sub(base) >> shift) as usize;
            while buckets.len() <= bucket.min(count) {
                buckets.push(index as u32);
            }
        }
        buckets.resize(count + 1, addresses.len() as u32);
        Self { addresses, base, shift, buckets }
    }

    /// The addresses.
    pub(crate) const fn all(&self) -> &'a [Svma] {
        self.addresses
    }

    /// Returns the index of the first address that is not below `start`, or the number of addresses if there is none.
    #[inline]
    pub(crate) fn lower_bound(&self, start: u64) -> usize {
        if start <= self.base {
            return 0;
        }
        let bucket = ((start - self.base) >> self.shift) as usize;
        let (Some(&first), Some(&end)) =
            (self.buckets.get(bucket), self.buckets.get(bucket.wrapping_add(1)))
        else {
            return self.addresses.len();
        };
        let within = self.addresses.get(first as usize..end as usize).unwrap_or(&[]);
        first as usize + within.partition_point(|a| a.0 < start)
    }

    /// Returns the index of the first address in `start..end`.
    #[inline]
    pub(crate) fn first_in(&self, start: u64, end: u64) -> Option<usize> {
        let index = self.lower_bound(start);
        (self.addresses.get(index)?.0 < end).then_some(index)
    }
}

/// A set of open slots that finds the next open one in about constant time.
pub(crate) struct OpenSlots {
    /// For each slot, itself if it is open, else a later slot to continue from.
    next: Vec<u32>,
}

impl OpenSlots {
    pub(crate) fn new(len: usize) -> Self {
        Self { next: (0..=len as u32).collect() }
    }

    /// Returns the first open slot at or after `from`.
    pub(crate) fn next(&mut self, from: usize) -> usize {
        let mut at = from;
        while let Some(&next) = self.next.get(at)
            && next as usize != at
        {
            let after = self.next.get(next as usize).copied().unwrap_or(next);
            if let Some(slot) = self.next.get_mut(at) {
                *slot = after;
            }
            at = after as usize;
        }
        at
    }

    pub(crate) fn close(&mut self, at: usize) {
        if let Some(slot) = self.next.get_mut(at) {
            *slot = at as u32 + 1;
        }
    }
}

/// A range of addresses that covers at least one requested address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cover {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Index of the covering item.
    pub(crate) item: u32,
}

/// Calls `give` for each address with up to `N` covers that contain it, greatest start first; among equal starts, the
/// later in `covers` is first. Both inputs are sorted by start. Takes linear time.
pub(crate) fn sweep<const N: usize>(
    addresses: &[Svma],
    covers: &[Cover],
    mut give: impl FnMut(usize, [Option<u32>; N]),
) {
    let mut open: Vec<Cover> = Vec::new();
    let mut next = covers.iter().copied().peekable();
    for (index, address) in addresses.iter().enumerate() {
        while let Some(cover) = next.next_if(|cover| cover.start <= address.0) {
            open.push(cover);
        }
        while open.pop_if(|cover| cover.end <= address.0).is_some() {}
        let mut found = [None; N];
        let alive = open.iter().rev().take(N * 4).filter(|cover| cover.end > address.0);
        for (slot, cover) in found.iter_mut().zip(alive) {
            *slot = Some(cover.item);
        }
        give(index, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_bound_equals_binary_search() {
        let mut value = 7_u64;
        let mut addresses: Vec<Svma> = (0..500)
            .map(|_| {
                value = value
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                Svma(value >> 44)
            })
            .collect();
        addresses.extend([Svma(0), Svma(u64::MAX), Svma(u64::MAX - 1), Svma(1 << 40)]);
        addresses.sort_unstable();
        addresses.dedup();
        for set in [&addresses[..], &addresses[..400], &addresses[3..4], &[]] {
            let index = AddressIndex::new(set);
            for probe in
                addresses.iter().flat_map(|a| [a.0, a.0.wrapping_add(1), a.0.wrapping_sub(1)])
            {
                assert_eq!(
                    index.lower_bound(probe),
                    set.partition_point(|a| a.0 < probe),
                    "{probe:#x}"
                );
            }
        }
    }

    #[test]
    fn the_greatest_start_that_still_covers_wins() {
        let addresses = [5, 15, 25, 35, 45].map(Svma);
        let covers = [(0, 40, 0), (10, 30, 1), (12, 20, 2), (12, 14, 3)];
        let covers = covers.map(|(start, end, item)| Cover { start, end, item });
        let mut found = Vec::new();
        sweep::<2>(&addresses, &covers, |_, items| found.push(items));
        assert_eq!(
            found,
            [
                [Some(0), None],
                [Some(2), Some(1)],
                [Some(1), Some(0)],
                [Some(0), None],
                [None, None]
            ]
        );
    }
}
