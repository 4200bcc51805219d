//! Proofs that call frame information alone does not give: that a thread can begin where a chain ends, and that the
//! function at hand still has its own return address.

mod clone_child;
mod coroutine;
mod eh_return;
mod root;
mod sigreturn;

pub(super) use eh_return::is_replaced;
pub(super) use root::RootBy;
pub(in crate::walk) use root::RootCache;
