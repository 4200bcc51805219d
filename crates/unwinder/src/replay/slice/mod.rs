//! The walk of slices: chains of samples, interned slice by slice.

pub(in crate::replay) mod chain;
pub(in crate::replay) mod counts;
pub(in crate::replay) mod found_modules;
pub(in crate::replay) mod frame_key;
pub(in crate::replay) mod intern;
pub(in crate::replay) mod layout;
pub(in crate::replay) mod observed;
pub(in crate::replay) mod prefetch;
pub(in crate::replay) mod recent_values;
pub(in crate::replay) mod recorded;
pub(in crate::replay) mod related;
pub(in crate::replay) mod stack_needs;
pub(in crate::replay) mod walk;
