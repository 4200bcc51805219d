//! Proofs beyond CFI: that a thread can begin at the end of a chain, and that a function still has its own return
//! address.

mod clone_child;
mod coroutine;
mod eh_return;
mod root;
mod sigreturn;

pub(super) use eh_return::is_replaced;
pub(in crate::walk) use root::RootCache;
pub(super) use root::RootEvidence;
