//! The repair of truncated chains, thread by thread, and the slices after it.

pub(in crate::replay) mod in_order;
pub(in crate::replay) mod lengthen;
pub(in crate::replay) mod repaired;
pub(in crate::replay) mod repairs;
pub(in crate::replay) mod thread_group;
pub(in crate::replay) mod window;
