//! The walk of slices: chains of samples, interned slice by slice.

pub(crate) mod chain;
pub(crate) mod counts;
pub(crate) mod evidence;
pub(crate) mod frame_key;
pub(crate) mod intern;
pub(crate) mod layout;
pub(crate) mod observed;
pub(crate) mod observed_modules;
pub(crate) mod prefetch;
pub(crate) mod recent_values;
pub(crate) mod recorded;
pub(crate) mod related;
pub(crate) mod stack_needs;
pub(crate) mod user_part;
pub(crate) mod walk;
