//! A chain as the rules of the peers see it: addresses and stack pointers.

use unwinder::{EndReason, Frame};

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    /// Looked-up address in the process.
    pub(super) ip: u64,
    /// The stack pointer in it: the CFA of its callee.
    pub(super) sp: u64,
}

impl Node {
    /// What a walk found.
    pub(super) fn of(frame: &Frame) -> Self {
        Self { ip: frame.in_process().0, sp: frame.sp().unwrap_or(0) }
    }
}

/// The user chain of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Walk {
    /// In ns; 0 where there is none.
    pub(super) time: u64,
    pub(super) pid: i32,
    pub(super) tid: i32,
    /// Why it ended.
    pub(super) end: EndReason,
    /// Whether a part of it is from other samples.
    pub(super) joined: bool,
    /// Innermost first.
    pub(super) nodes: Vec<Node>,
}

/// A walk of thread 1 or another, for tests: a letter is the address of a frame, the digit after it the stack pointer.
#[cfg(test)]
pub(super) fn written(tid: i32, frames: &str, end: EndReason) -> Walk {
    let letters: Vec<u64> = frames.bytes().map(u64::from).collect();
    let nodes = letters.chunks(2).map(|pair| Node { ip: pair[0], sp: pair[1] - u64::from(b'0') });
    Walk { time: 0, pid: 1, tid, end, joined: false, nodes: nodes.collect() }
}
