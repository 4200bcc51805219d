//! What it is worth that a frame saved the same registers in two samples: nothing, if calls from there save the same
//! whenever they are made anew.
//!
//! A call that begins in a slot in which one began before, from the same place of the code, is another activation. How
//! often it saved the same as that one says how well saved registers tell activations apart.

use std::num::NonZeroU64;

use unwinder::{Place, Saved};

/// Calls that began, by their slots, and how often they repeated one before them, by the place of the code. Both have a
/// fixed size: what does not fit takes the place of something older.
#[derive(Debug, Default)]
pub(super) struct Variety {
    slots: Vec<Slot>,
    sites: Vec<Counts>,
}

/// The last call that began in a slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    saved: Saved,
}

/// How often calls from a place of the code saved the same as the one before them in their slot, and how often not.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    key: u64,
    same: u32,
    other: u32,
}

/// A place of the code that calls return to, the same in all processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site(NonZeroU64);

/// Places of the code that frames return to which are proven to be the same in two samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proofs([Option<Site>; PROOFS]);

/// So many proofs are enough, if one of them is good.
const PROOFS: usize = 4;

/// So many slots are remembered: 256 KiB.
const SLOTS: usize = 1 << 14;
/// So many places of the code: 64 KiB.
const SITES: usize = 1 << 12;

impl Variety {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.sites.clear();
    }

    /// Forgets which calls began where: stacks get other indexes.
    pub(super) fn forget_slots(&mut self) {
        self.slots.fill(Slot { key: 0, saved: Saved::NONE });
    }

    /// Notes that a call begins, or that another one is in its place: the index of its stack and where the callee's frame
    /// begins, where it returns to, and what the callee saved.
    pub(super) fn note(&mut self, stack: u32, cfa: u64, caller: &Place, saved: Saved) {
        if !saved.proves(saved) {
            return;
        }
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Slot { key: 0, saved: Saved::NONE });
            self.sites.resize(SITES, Counts::default());
        }
        let site = Site::of(caller).0.get();
        let key = mixed(site ^ mixed(cfa ^ u64::from(stack) << 48));
        let Some(slot) = self.slots.get_mut(index(key, SLOTS)) else { return };
        let before = std::mem::replace(slot, Slot { key, saved });
        if before.key != key {
            return;
        }
        if let Some(known) = self.sites.get_mut(index(site >> 1, SITES)) {
            if known.key != site {
                *known = Counts { key: site, ..Counts::default() };
            }
            let count = if before.saved == saved { &mut known.same } else { &mut known.other };
            *count = count.saturating_add(1);
        }
    }

    /// Whether what calls save that return to a place of the code tells them apart, as far as is known: they saved something
    /// else than the one before no less often than the same.
    pub(super) fn tells(&self, site: Site) -> bool {
        let site = site.0.get();
        let known = self.sites.get(index(site >> 1, SITES)).filter(|known| known.key == site);
        known.is_none_or(|known| known.same <= known.other)
    }
}

impl Site {
    /// That of a looked-up address.
    pub(super) fn of(caller: &Place) -> Self {
        let module = caller.module.map_or(0, |module| module.index() as u64 + 1);
        Self(NonZeroU64::MIN | mixed(caller.relative ^ module << 48))
    }
}

impl Proofs {
    pub(super) fn is_none(&self) -> bool {
        self.0[0].is_none()
    }

    /// Whether no more are wanted.
    pub(super) fn are_enough(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    pub(super) fn add(&mut self, site: Site) {
        if let Some(free) = self.0.iter_mut().find(|it| it.is_none()) {
            *free = Some(site);
        }
    }

    /// Whether one of them is good by what is known there, too.
    pub(super) fn hold(&self, variety: &Variety) -> bool {
        self.0.iter().flatten().any(|site| variety.tells(*site))
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
