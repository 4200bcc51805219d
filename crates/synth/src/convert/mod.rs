//! Real recordings in other forms: byte-swapped, in the other containers, and with shorter stacks.
//! Real ELF files without frame descriptions.

mod attr;
pub(crate) mod byte_swapped;
pub(crate) mod containers;
mod features;
mod fields;
mod header;
mod records;
mod sample;
pub(crate) mod stack_truncation;
pub(crate) mod withheld_frames;
