//! Real recordings in another form: of a machine of the other byte order, in the other containers, and with less of
//! the stacks.

mod attr;
pub(crate) mod byte_swapped;
pub(crate) mod containers;
mod features;
mod fields;
mod header;
mod records;
mod sample;
pub(crate) mod stack_cut;
