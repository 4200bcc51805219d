//! The frame of which values are read, as its owner provides it.

use super::call_sites::CallSites;

/// State of a physical frame: registers, memory, and the way to its caller.
/// Frames of inlined functions share the frame of the function that they are inlined into.
pub trait Frame {
    /// Returns a register by its DWARF number, as it is in this frame.
    /// `None` if it is unknown, also if call frame information does not restore it in the frame of a caller.
    /// Of vector registers, the lowest 64 bits.
    fn register(&self, number: u16) -> Option<u64>;

    /// Canonical frame address, in the process.
    fn cfa(&self) -> Option<u64>;

    /// Reads memory of the process into `bytes`; returns the number of bytes from its start that are known.
    fn read(&self, address: u64, bytes: &mut [u8]) -> usize;

    /// Amount to add to an address of the image (SVMA) to get that of the process; wraps.
    fn bias(&self) -> u64;

    /// Address of the thread-local variable at an offset in the image's block.
    fn thread_local(&self, offset: u64) -> Option<u64> {
        let _ = offset;
        None
    }

    /// The frame that called this one.
    fn caller(&self) -> Option<Caller<'_>> {
        None
    }
}

/// The frame of a caller, with the statements of its image about the call.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// State at the call.
    pub frame: &'a dyn Frame,
    /// Return address, in addresses of the caller's image (SVMA).
    pub return_address: u64,
    /// Calls of the caller's image.
    pub sites: &'a CallSites,
    /// True if the caller's image is also that of the frame.
    pub same_image: bool,
}

impl std::fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller")
            .field("return_address", &self.return_address)
            .finish_non_exhaustive()
    }
}
