//! Memory accounting for one run, shared by all its stages: the limit applies to the sum.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Purpose of held memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(usize)]
pub enum MemoryUse {
    /// Unpacked or streamed records, and the positions of samples and records.
    Recording,
    /// Address spaces in all versions in use, modules, threads and their names.
    Processes,
    /// File contents that were unpacked, assembled or read completely.
    Files,
    /// Samples, stacks and frames, including those that wait for repair.
    Stacks,
    /// Symbol tables and debug information that were read into tables.
    Symbols,
    /// Names, and the locations that they belong to.
    Names,
}

impl MemoryUse {
    /// All uses, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Recording, Self::Processes, Self::Files, Self::Stacks, Self::Symbols, Self::Names];
}

impl fmt::Display for MemoryUse {
    /// Formats the use: `address spaces and modules`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recording => "records",
            Self::Processes => "address spaces and modules",
            Self::Files => "files",
            Self::Stacks => "stacks",
            Self::Symbols => "debug information",
            Self::Names => "names",
        })
    }
}

/// A run needed more memory than it may hold.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct MemoryExceeded {
    /// Limit of the run, in bytes.
    pub limit: u64,
    /// The object being read at that time.
    pub reading: String,
    /// Uses with memory held at that time, in bytes, largest first.
    pub held: Vec<(MemoryUse, u64)>,
}

impl fmt::Display for MemoryExceeded {
    /// Formats the object being read and the memory held: `section .debug_info of /bin/a (files: 3 MB, stacks: 1 MB)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reading)?;
        for (index, (held, bytes)) in self.held.iter().enumerate() {
            let before = if index == 0 { " (" } else { ", " };
            write!(f, "{before}{held}: {} MB", bytes.div_ceil(1 << 20))?;
        }
        f.write_str(if self.held.is_empty() { "" } else { ")" })
    }
}

/// Returns the number of bytes that the process has allocated.
static GAUGE: OnceLock<fn() -> u64> = OnceLock::new();

/// Makes each [`MemoryBudget`] with a limit also check the gauge: the bytes that the process has allocated.
/// The first gauge remains.
pub fn set_gauge(gauge: fn() -> u64) {
    let _ = GAUGE.set(gauge);
}

/// The gauge's value scaled by 8/7: a run ends in order at seven eighths of the limit, before the process is killed.
fn gauged() -> u64 {
    GAUGE.get().map_or(0, |gauge| gauge().saturating_mul(8) / 7)
}

/// Memory held by a run. Counts the amounts that stages report, not the allocator's; mapped files are not counted.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: u64,
    held: [AtomicU64; MemoryUse::ALL.len()],
    exceeded: OnceLock<MemoryExceeded>,
}

impl Default for MemoryBudget {
    /// Without a limit.
    fn default() -> Self {
        Self::new(None)
    }
}

impl MemoryBudget {
    /// Creates an account with a limit in bytes; `None` for no limit.
    #[must_use]
    pub fn new(limit: Option<u64>) -> Self {
        Self {
            limit: limit.unwrap_or(u64::MAX),
            held: [const { AtomicU64::new(0) }; MemoryUse::ALL.len()],
            exceeded: OnceLock::new(),
        }
    }

    /// Number of bytes held for a use.
    #[must_use]
    pub fn held_for(&self, of: MemoryUse) -> u64 {
        self.held.get(of as usize).map_or(0, |held| held.load(Ordering::Relaxed))
    }

    /// Number of bytes held in total.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held.iter().map(|held| held.load(Ordering::Relaxed)).sum()
    }

    /// Returns true if the limit was exceeded. The run must then end, because its data is incomplete.
    #[must_use]
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.get().is_some()
    }

    /// The first request that exceeded the limit.
    #[must_use]
    pub fn exceeded(&self) -> Option<&MemoryExceeded> {
        self.exceeded.get()
    }

    /// Returns whether `bytes` more may be held; if not, the run must end.
    /// Call before allocating. `reading` names the purpose in error messages.
    pub fn allows(&self, bytes: u64, reading: impl FnOnce() -> String) -> bool {
        if self.limit == u64::MAX {
            return true;
        }
        if self.held().max(gauged()).saturating_add(bytes) <= self.limit {
            return !self.is_exceeded();
        }
        self.exceeded.get_or_init(|| {
            let mut held = MemoryUse::ALL.map(|of| (of, self.held_for(of))).to_vec();
            held.retain(|&(_, bytes)| bytes > 0);
            held.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
            MemoryExceeded { limit: self.limit, reading: reading(), held }
        });
        false
    }

    /// Adds bytes without a check.
    pub(crate) fn take(&self, of: MemoryUse, bytes: u64) {
        if let Some(held) = self.held.get(of as usize) {
            held.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Subtracts bytes that were added.
    pub(crate) fn give_back(&self, of: MemoryUse, bytes: u64) {
        if let Some(held) = self.held.get(of as usize) {
            held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// Bytes held while this value lives, stored next to the data that they count. A clone holds as many bytes again.
#[derive(Debug)]
pub struct HeldMemory {
    memory: Option<Arc<MemoryBudget>>,
    of: MemoryUse,
    bytes: u64,
}

impl Default for HeldMemory {
    /// An account of nothing.
    fn default() -> Self {
        Self::UNCOUNTED
    }
}

impl HeldMemory {
    /// An account of nothing.
    pub const UNCOUNTED: Self = Self { memory: None, of: MemoryUse::Files, bytes: 0 };

    /// Creates an account without bytes.
    #[must_use]
    pub fn new(memory: &Arc<MemoryBudget>, of: MemoryUse) -> Self {
        Self { memory: Some(memory.clone()), of, bytes: 0 }
    }

    /// Returns an account with that many bytes, in the same memory and for the same use.
    #[must_use]
    pub fn another(&self, bytes: u64) -> Self {
        let mut held = Self { memory: self.memory.clone(), of: self.of, bytes: 0 };
        held.set(bytes);
        held
    }

    /// Number of held bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets the number of held bytes. If they are too many, the run must end: see [`MemoryBudget::is_exceeded`].
    pub fn set(&mut self, bytes: u64) {
        let Some(memory) = &self.memory else { return };
        if bytes > self.bytes {
            memory.take(self.of, bytes - self.bytes);
            // Bytes already held are named by their use.
            memory.allows(0, || self.of.to_string());
        } else if bytes < self.bytes {
            memory.give_back(self.of, self.bytes - bytes);
        }
        self.bytes = bytes;
    }

    /// Adds to the number of held bytes.
    pub fn add(&mut self, bytes: u64) {
        self.set(self.bytes.saturating_add(bytes));
    }
}

impl Clone for HeldMemory {
    fn clone(&self) -> Self {
        self.another(self.bytes)
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_is_given_back() {
        let memory = Arc::new(MemoryBudget::default());
        let mut stacks = HeldMemory::new(&memory, MemoryUse::Stacks);
        stacks.add(70);
        let copy = stacks.clone();
        stacks.set(50);
        let names = HeldMemory::new(&memory, MemoryUse::Names).another(3);
        assert_eq!((memory.held_for(MemoryUse::Stacks), memory.held()), (120, 123));
        drop((copy, names));
        assert_eq!((memory.held_for(MemoryUse::Stacks), memory.held()), (50, 50));
        let mut nowhere = HeldMemory::UNCOUNTED.another(9);
        nowhere.add(u64::MAX);
        assert_eq!((nowhere.bytes(), memory.held(), memory.is_exceeded()), (0, 50, false));
    }

    #[test]
    fn the_sum_is_limited_and_the_first_that_asks_for_more_is_named() {
        let memory = Arc::new(MemoryBudget::new(Some(10 << 20)));
        let mut stacks = HeldMemory::new(&memory, MemoryUse::Stacks);
        stacks.set(4 << 20);
        let spaces = HeldMemory::new(&memory, MemoryUse::Processes).another(6 << 20);
        assert!(memory.allows(0, String::new) && !memory.is_exceeded());
        assert!(!memory.allows(1, || "section .x of /a".to_owned()));
        stacks.add(1);
        let exceeded = memory.exceeded().expect("too much").clone();
        let expected = "section .x of /a (address spaces and modules: 6 MB, stacks: 4 MB)";
        assert_eq!((exceeded.limit, exceeded.to_string().as_str()), (10 << 20, expected));
        // Memory freed later does not restore the lost data.
        drop((stacks, spaces));
        assert!(memory.is_exceeded() && !memory.allows(1, String::new));
        let memory = Arc::new(MemoryBudget::new(Some(1)));
        let _names = HeldMemory::new(&memory, MemoryUse::Names).another(2);
        assert_eq!(memory.exceeded().expect("too much").to_string(), "names (names: 1 MB)");
    }
}
