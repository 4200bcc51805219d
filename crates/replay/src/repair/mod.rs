//! The repair of truncated chains, thread by thread, and the completed slices.

pub(crate) mod extend;
pub(crate) mod in_order;
pub(crate) mod repaired;
pub(crate) mod repairs;
pub(crate) mod thread_group;
pub(crate) mod window;
