//! Real recordings in another form: of a machine of the other byte order, in the other containers, and with less of
//! the stacks. Real ELF files without descriptions of frames.

mod attr;
pub(crate) mod byte_swapped;
pub(crate) mod containers;
mod features;
mod fields;
mod header;
mod records;
mod sample;
pub(crate) mod stack_cut;
pub(crate) mod withheld;
