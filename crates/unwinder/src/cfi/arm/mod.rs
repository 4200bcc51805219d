//! Frames by the exception tables of 32-bit Arm, which files have where those of other processors have `.eh_frame`.
//!
//! The tables hold at calls only: they state what a function's whole prologue did. A frame that was sampled or interrupted
//! can be in a prologue or an epilogue. There the instructions are followed, as far as they do not branch: those from the
//! address to the return, else those from the function's first to the address. Where both branch, the prologue has run.
//! Instructions have even addresses, and a call is looked up at an odd one, its last byte: so an address says which of both it is.

mod code;
mod layout;
mod program;
mod table;

pub(crate) use table::ArmTable;

#[cfg(test)]
mod tests;
