//! The facts that one walk never changes.

use crate::arch::Processor;
use crate::state::Memory;

/// The memory and the processor of one walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkContext<'a> {
    /// The recorded stack, and the files that are mapped in the address space.
    pub(crate) memory: Memory<'a>,
    /// The processor that the registers are of.
    pub(crate) arch: Processor,
}
