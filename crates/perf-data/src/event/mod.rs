//! Events of a recording: their attributes, the offsets of the fields of their records, and their ids.

mod attr;
mod identity;
mod layout;

pub use attr::{AttrFlags, EventAttr, ReadFormat, SampleType};
pub(crate) use attr::{FIRST_SIZE, KNOWN_SIZE};
pub(crate) use identity::{Identity, MAX_IDS};
pub(crate) use layout::{EventLayout, recorded_time};

/// A recorded event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Counted event and fields of its samples.
    pub attr: EventAttr,
    /// Ids in its records, one for each CPU or thread that it was opened on.
    pub ids: Vec<u64>,
    /// Name given by the user, such as `cycles:u`; if not recorded, a name derived from the attribute.
    pub name: String,
    pub(crate) layout: EventLayout,
}
