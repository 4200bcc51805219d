//! The frame of a function at one of its instructions, according to the code from the function's start. Also finds
//! function starts that the file does not state.

use std::sync::Arc;

use address::Svma;

use crate::arch::{N_SLOTS, processor};
use crate::code::bytes::CodeBytes;
use crate::code::called::{FunctionAnalyses, ImageAddress, MAX_CACHED};
use crate::code::forward::depth_at;

/// A known start of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FunctionStart {
    /// Its first instruction, as the file states it.
    pub(crate) svma: Svma,
    /// End of its code, if that is stated.
    pub(crate) end: Option<Svma>,
}

/// The frame at an instruction, according to the code. "Entry" is the stack pointer at the function's start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Depth {
    /// Stack pointer, in bytes from entry.
    pub(crate) sp: Option<i64>,
    /// Frame pointer, in bytes from entry.
    pub(crate) fp: Option<i64>,
    /// The return address. Calls of x86 store it at entry.
    pub(crate) return_address: RegisterLocation,
    /// The registers that functions preserve, in the order of the processor.
    pub(crate) saved: [RegisterLocation; N_SLOTS],
}

/// The location of the caller's value of a register, or of the return address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RegisterLocation {
    /// In the register.
    Same,
    /// In memory, in bytes from entry.
    Slot(i64),
    /// Unknown.
    Unknown,
}

impl FunctionStart {
    /// Returns true if an address can be in the function.
    pub(super) const fn holds(self, svma: u64) -> bool {
        match self.end {
            Some(end) => svma >= self.svma.0 & !1 && svma < end.0,
            None => true,
        }
    }
}

/// Cached depths, by the file's serial, the start, the address, and whether that is the next instruction.
pub(super) type Depths = hashbrown::HashMap<(u32, FunctionStart, u64, bool), Option<Depth>>;

/// Number of candidate functions before an address without a stated function start.
const MOST_BEFORE: usize = 3;
/// Maximum distance from a candidate to the address, in bytes.
const LONGEST: u64 = 1 << 16;

impl FunctionAnalyses {
    /// Returns the depth at the looked-up address of a frame, if the function begins at `start` and all paths from
    /// there agree. In a frame that is not a leaf, the address is in the call.
    pub(crate) fn depth(
        &mut self,
        start: FunctionStart,
        at: ImageAddress<'_>,
        is_leaf: bool,
    ) -> Option<Depth> {
        let key = (at.file.serial, start, at.svma.0, is_leaf);
        if let Some(&known) = self.depths.get(&key) {
            return known;
        }
        if self.depths.len() >= MAX_CACHED {
            self.depths.clear();
        }
        if !self.allowance.has_left(at.file) {
            return None;
        }
        let arch = at.file.image().arch().and_then(processor)?;
        let is_thumb = arch.has_thumb() && self.is_thumb(at.file, start.svma);
        let first = if is_thumb { Svma(start.svma.0 | 1) } else { start.svma };
        let start_of_code = FunctionStart { svma: first, ..start };
        let (depth, cost) = depth_at(at.file.image(), start_of_code, at.svma, is_leaf);
        self.allowance.used(at.file, cost.max(1));
        self.depths.insert(key, depth);
        depth
    }

    /// Returns the depth according to the nearest preceding function that begins with a frame record (`push %rbp; mov
    /// %rsp,%rbp`). All paths from there must agree, and the frame pointer must still refer to the record.
    ///
    /// Source: Intel SDM, volume 2, PUSH and MOV: `89 /r` and `8b /r` are two encodings of the same move.
    pub(crate) fn depth_by_record(&mut self, at: ImageAddress<'_>, is_leaf: bool) -> Option<Depth> {
        const RECORDS: [[u8; 4]; 2] = [[0x55, 0x48, 0x89, 0xe5], [0x55, 0x48, 0x8b, 0xec]];
        const RECORD: i64 = -8;
        let image = Arc::clone(at.file);
        let code = CodeBytes::around(image.image(), at.svma)?;
        let end = usize::try_from(at.svma.0.wrapping_sub(code.start())).ok()?;
        let begin = end.saturating_sub(LONGEST as usize);
        let before = code.bytes().get(begin..end)?;
        let records = before.windows(4).enumerate().rev();
        let records = records.filter(|(_, bytes)| RECORDS.iter().any(|record| bytes == record));
        for (offset, _) in records.take(MOST_BEFORE) {
            let svma = Svma(code.start().wrapping_add((begin + offset) as u64));
            let depth = self.depth(FunctionStart { svma, end: None }, at, is_leaf);
            if let Some(depth) = depth.filter(|depth| depth.fp == Some(RECORD)) {
                return Some(depth);
            }
        }
        None
    }
}
