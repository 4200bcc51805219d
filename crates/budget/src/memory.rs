//! What a run holds in memory: one count that all its parts share, so that the sum is what is limited.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// What memory is held for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(usize)]
pub enum MemoryUse {
    /// Records that were unpacked or came out of a stream, and where samples and records are.
    Recording,
    /// Address spaces in all versions that are in use, modules, threads and their names.
    Processes,
    /// What was unpacked, laid out or read as a whole of files.
    Files,
    /// Samples, stacks and frames, those that wait for their repair among them.
    Stacks,
    /// Symbol tables and debug information, as far as they were read into tables.
    Symbols,
    /// Names and what they are the names of.
    Names,
}

impl MemoryUse {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Recording, Self::Processes, Self::Files, Self::Stacks, Self::Symbols, Self::Names];
}

impl fmt::Display for MemoryUse {
    /// What it is: `address spaces and modules`.
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

/// A run asked for more memory than it may hold.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct MemoryExceeded {
    /// Bytes that it may hold.
    pub limit: u64,
    /// What was read when it asked for more.
    pub reading: String,
    /// What was held then, and so many bytes for each; the most first, nothing that had none.
    pub held: Vec<(MemoryUse, u64)>,
}

impl fmt::Display for MemoryExceeded {
    /// What was read, and what was held: `section .debug_info of /bin/a (files: 3 MB, stacks: 1 MB)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reading)?;
        for (index, (held, bytes)) in self.held.iter().enumerate() {
            let before = if index == 0 { " (" } else { ", " };
            write!(f, "{before}{held}: {} MB", bytes.div_ceil(1 << 20))?;
        }
        f.write_str(if self.held.is_empty() { "" } else { ")" })
    }
}

/// Gives the number of bytes that the process has allocated.
static GAUGE: OnceLock<fn() -> u64> = OnceLock::new();

/// From now on a [`Memory`] with a limit counts the bytes of the gauge, too: those that the process has allocated. The first
/// gauge stays.
pub fn set_gauge(gauge: fn() -> u64) {
    let _ = GAUGE.set(gauge);
}

/// The share of the limit at which a run ends in order, before the process is ended: seven eighths of it.
fn gauged() -> u64 {
    GAUGE.get().map_or(0, |gauge| gauge().saturating_mul(8) / 7)
}

/// What a run holds. It is a count of what its parts say, not of what the allocator has; what is mapped is not counted.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    held: [AtomicU64; MemoryUse::ALL.len()],
    exceeded: OnceLock<MemoryExceeded>,
}

impl Default for Memory {
    /// As much as is needed.
    fn default() -> Self {
        Self::new(None)
    }
}

impl Memory {
    /// Nothing is held, and so many bytes may be; `None` for as many as are needed.
    #[must_use]
    pub fn new(limit: Option<u64>) -> Self {
        Self {
            limit: limit.unwrap_or(u64::MAX),
            held: [const { AtomicU64::new(0) }; MemoryUse::ALL.len()],
            exceeded: OnceLock::new(),
        }
    }

    /// How many bytes are held for a use.
    #[must_use]
    pub fn held_for(&self, of: MemoryUse) -> u64 {
        self.held.get(of as usize).map_or(0, |held| held.load(Ordering::Relaxed))
    }

    /// How many bytes are held.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held.iter().map(|held| held.load(Ordering::Relaxed)).sum()
    }

    /// Whether more was asked for than may be held. Then the run is to end: what it has is not complete.
    #[must_use]
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.get().is_some()
    }

    /// What asked first for more than may be held.
    #[must_use]
    pub fn exceeded(&self) -> Option<&MemoryExceeded> {
        self.exceeded.get()
    }

    /// Whether so many bytes may be held beside those that are. Asked before they are taken; `reading` says what for.
    /// Where they may not, the run is to end.
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

    /// Takes bytes, whether they may be held or not.
    pub(crate) fn take(&self, of: MemoryUse, bytes: u64) {
        if let Some(held) = self.held.get(of as usize) {
            held.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Gives bytes back that were taken.
    pub(crate) fn give_back(&self, of: MemoryUse, bytes: u64) {
        if let Some(held) = self.held.get(of as usize) {
            held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// Bytes that are held for as long as this value lives, which is beside what takes them: a clone holds as many again.
#[derive(Debug)]
pub struct Held {
    memory: Option<Arc<Memory>>,
    of: MemoryUse,
    bytes: u64,
}

impl Default for Held {
    /// What is counted nowhere.
    fn default() -> Self {
        Self::NOWHERE
    }
}

impl Held {
    /// What is counted nowhere.
    pub const NOWHERE: Self = Self { memory: None, of: MemoryUse::Files, bytes: 0 };

    /// Nothing yet.
    #[must_use]
    pub fn new(memory: &Arc<Memory>, of: MemoryUse) -> Self {
        Self { memory: Some(memory.clone()), of, bytes: 0 }
    }

    /// So many bytes, in the same memory and for the same use.
    #[must_use]
    pub fn another(&self, bytes: u64) -> Self {
        let mut held = Self { memory: self.memory.clone(), of: self.of, bytes: 0 };
        held.set(bytes);
        held
    }

    /// How many bytes are held.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Holds so many bytes from now on. Where they are too many, the run is to end: see [`Memory::is_exceeded`].
    pub fn set(&mut self, bytes: u64) {
        let Some(memory) = &self.memory else { return };
        if bytes > self.bytes {
            memory.take(self.of, bytes - self.bytes);
            // What is held already is named as what it is.
            memory.allows(0, || self.of.to_string());
        } else if bytes < self.bytes {
            memory.give_back(self.of, self.bytes - bytes);
        }
        self.bytes = bytes;
    }

    /// Holds so many bytes more from now on.
    pub fn add(&mut self, bytes: u64) {
        self.set(self.bytes.saturating_add(bytes));
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        self.another(self.bytes)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_is_given_back() {
        let memory = Arc::new(Memory::default());
        let mut stacks = Held::new(&memory, MemoryUse::Stacks);
        stacks.add(70);
        let copy = stacks.clone();
        stacks.set(50);
        let names = Held::new(&memory, MemoryUse::Names).another(3);
        assert_eq!((memory.held_for(MemoryUse::Stacks), memory.held()), (120, 123));
        drop((copy, names));
        assert_eq!((memory.held_for(MemoryUse::Stacks), memory.held()), (50, 50));
        let mut nowhere = Held::NOWHERE.another(9);
        nowhere.add(u64::MAX);
        assert_eq!((nowhere.bytes(), memory.held(), memory.is_exceeded()), (0, 50, false));
    }

    #[test]
    fn the_sum_is_limited_and_the_first_that_asks_for_more_is_named() {
        let memory = Arc::new(Memory::new(Some(10 << 20)));
        let mut stacks = Held::new(&memory, MemoryUse::Stacks);
        stacks.set(4 << 20);
        let spaces = Held::new(&memory, MemoryUse::Processes).another(6 << 20);
        assert!(memory.allows(0, String::new) && !memory.is_exceeded());
        assert!(!memory.allows(1, || "section .x of /a".to_owned()));
        stacks.add(1);
        let exceeded = memory.exceeded().expect("too much").clone();
        let expected = "section .x of /a (address spaces and modules: 6 MB, stacks: 4 MB)";
        assert_eq!((exceeded.limit, exceeded.to_string().as_str()), (10 << 20, expected));
        // What was lost by then does not come back.
        drop((stacks, spaces));
        assert!(memory.is_exceeded() && !memory.allows(1, String::new));
        let memory = Arc::new(Memory::new(Some(1)));
        let _names = Held::new(&memory, MemoryUse::Names).another(2);
        assert_eq!(memory.exceeded().expect("too much").to_string(), "names (names: 1 MB)");
    }
}
