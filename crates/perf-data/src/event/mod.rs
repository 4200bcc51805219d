//! The events of a recording: what each counts, where the fields of its records are, and how records name it.

mod attr;
mod identity;
mod layout;

pub use attr::{AttrFlags, EventAttr, ReadFormat, SampleType};
pub(crate) use attr::{FIRST_SIZE, KNOWN_SIZE};
pub(crate) use identity::{Identity, MAX_IDS};
pub(crate) use layout::{EventLayout, recorded_time};

/// One event that was recorded.
#[derive(Clone, Debug)]
pub struct Event {
    /// What was counted, and what its samples carry.
    pub attr: EventAttr,
    /// The ids that its records carry, one for each CPU or thread it was opened on.
    pub ids: Vec<u64>,
    /// The name the user gave, as in `cycles:u`; where the recording has none, one made from the attribute.
    pub name: String,
    pub(crate) layout: EventLayout,
}
