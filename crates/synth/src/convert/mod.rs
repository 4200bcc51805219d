//! Real recordings in another form: of a machine of the other byte order, and in the other containers.

mod attr;
pub(crate) mod byte_swapped;
pub(crate) mod containers;
mod features;
mod records;
mod sample;
mod swap;
