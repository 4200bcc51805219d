//! A chain as input of the peers' rules: addresses and stack pointers.

use unwinder::{EndReason, Frame};

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    /// Looked-up address in the process.
    pub(super) ip: u64,
    /// Stack pointer in it: the CFA of its callee.
    pub(super) sp: u64,
}

impl Node {
    /// Converts a frame of a walk.
    pub(super) fn of(frame: &Frame) -> Self {
        Self { ip: frame.in_process().0, sp: frame.sp().unwrap_or(0) }
    }
}

/// The user chain of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Walk {
    /// Time in ns; 0 if there is none.
    pub(super) time: u64,
    pub(super) pid: i32,
    pub(super) tid: i32,
    /// End reason.
    pub(super) end: EndReason,
    /// True if a part of it comes from other samples.
    pub(super) joined: bool,
    /// Nodes, innermost first.
    pub(super) nodes: Vec<Node>,
}

/// Returns a walk for tests: each letter is the address of a frame, the digit after it the stack pointer.
#[cfg(test)]
pub(super) fn written(tid: i32, frames: &str, end: EndReason) -> Walk {
    let letters: Vec<u64> = frames.bytes().map(u64::from).collect();
    let nodes = letters.chunks(2).map(|pair| Node { ip: pair[0], sp: pair[1] - u64::from(b'0') });
    Walk { time: 0, pid: 1, tid, end, joined: false, nodes: nodes.collect() }
}
