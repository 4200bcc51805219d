//! What can be asked of a profile: the frames of a sample with their addresses, samples counted together, functions.

mod grouped;
mod stack_walk;

pub use grouped::{At, Function, Functions, Group, each_location, event_name, group, period_units};
pub use stack_walk::{Biases, Walker, functions};
