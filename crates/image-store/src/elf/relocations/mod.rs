//! Relocations: those that the kernel applies to its modules, and those that the dynamic loader uses to link files.

mod call_slots;
mod linked;
mod needed;
mod relocate;
mod relocate_raw;

pub(crate) use call_slots::disjoint;
pub use call_slots::{CallSlot, Exported, is_within};
pub use linked::SlotValue;
pub use needed::NeededLibraries;
pub use relocate::MODULE_CODE;
pub(crate) use relocate::{SectionLayout, link};
