//! Frames by the exception tables of 32-bit Arm, which take the place of `.eh_frame`.
//!
//! The tables hold at calls only: they describe a function's whole prologue. A frame that was sampled or interrupted
//! can be in a prologue or an epilogue. There the instructions are followed while they do not branch: those from the
//! address to the return, else those from the function's start to the address. If both branch, the prologue has run.
//! Instructions have even addresses, and a call is looked up at its last byte, an odd one, so the address distinguishes
//! the two.

mod code;
mod layout;
mod program;
mod table;

pub(crate) use table::ArmTable;

#[cfg(test)]
mod tests;
