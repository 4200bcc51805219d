//! Value of equal saved registers as evidence that two samples show the same call:
//! none, if repeated calls always save the same.
//!
//! A new call at the CFA of an earlier one, from the same code location, is another activation.
//! Comparing the registers saved by the two shows how well these distinguish activations.

use std::num::NonZeroU64;

use unwinder::{CodeLocation, Saved};

/// Recent calls by slot, and counts of repeated registers by return location.
/// Both tables have a fixed size; a colliding entry replaces the older one.
#[derive(Debug, Default)]
pub(super) struct Variety {
    slots: Vec<RecentCall>,
    sites: Vec<SiteCounts>,
}

/// The last call that began in a slot.
#[derive(Clone, Copy, Debug)]
struct RecentCall {
    key: u64,
    saved: Saved,
}

/// How often calls from one location saved the same registers as the previous call in their slot, or others.
#[derive(Clone, Copy, Debug, Default)]
struct SiteCounts {
    key: u64,
    same: u32,
    other: u32,
}

/// Return location in the code, the same in all processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site(NonZeroU64);

/// Return locations of frames that are proven to be the same in two samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proofs([Option<Site>; PROOFS]);

/// Number of proofs to collect; one good proof is sufficient.
const PROOFS: usize = 4;

/// Number of slots: 256 KiB.
const SLOTS: usize = 1 << 14;
/// Number of return locations: 64 KiB.
const SITES: usize = 1 << 12;

impl Variety {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.sites.clear();
    }

    /// Forgets the recent calls, because the indexes of stacks change.
    pub(super) fn forget_slots(&mut self) {
        self.slots.fill(RecentCall { key: 0, saved: Saved::NONE });
    }

    /// Records a new call or the replacement of one:
    /// index of the stack, CFA, return location, and registers that the callee saved.
    pub(super) fn note(&mut self, stack: u32, cfa: u64, caller: &CodeLocation, saved: Saved) {
        if !saved.proves(saved) {
            return;
        }
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, RecentCall { key: 0, saved: Saved::NONE });
            self.sites.resize(SITES, SiteCounts::default());
        }
        let site = Site::of(caller).0.get();
        let key = mixed(site ^ mixed(cfa ^ u64::from(stack) << 48));
        let Some(slot) = self.slots.get_mut(index(key, SLOTS)) else { return };
        let before = std::mem::replace(slot, RecentCall { key, saved });
        if before.key != key {
            return;
        }
        if let Some(known) = self.sites.get_mut(index(site >> 1, SITES)) {
            if known.key != site {
                *known = SiteCounts { key: site, ..SiteCounts::default() };
            }
            let count = if before.saved == saved { &mut known.same } else { &mut known.other };
            *count = count.saturating_add(1);
        }
    }

    /// Returns true if saved registers distinguish the calls with this return location,
    /// or if nothing is known about them.
    /// They do if they differed from the previous call's at least as often as not.
    pub(super) fn distinguishes(&self, site: Site) -> bool {
        let site = site.0.get();
        let known = self.sites.get(index(site >> 1, SITES)).filter(|known| known.key == site);
        known.is_none_or(|known| known.same <= known.other)
    }
}

impl Site {
    /// The site of a lookup address.
    pub(super) fn of(caller: &CodeLocation) -> Self {
        let module = caller.module.map_or(0, |module| module.index() as u64 + 1);
        Self(NonZeroU64::MIN | mixed(caller.relative ^ module << 48))
    }
}

impl Proofs {
    pub(super) fn is_none(&self) -> bool {
        self.0[0].is_none()
    }

    /// Returns true if the list is full.
    pub(super) fn are_enough(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    pub(super) fn add(&mut self, site: Site) {
        if let Some(free) = self.0.iter_mut().find(|it| it.is_none()) {
            *free = Some(site);
        }
    }

    /// Returns true if one of them is good in `variety` as well.
    pub(super) fn hold(&self, variety: &Variety) -> bool {
        self.0.iter().flatten().any(|site| variety.distinguishes(*site))
    }
}

/// Bits that depend on all bits of a number. Source: the finalizer of `SplitMix64`.
const fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

const fn index(key: u64, len: usize) -> usize {
    key as usize & (len - 1)
}
