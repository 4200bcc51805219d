//! Functions that continue on another stack than their caller: the step to the caller if the recorded bytes have both
//! stacks, otherwise the chain below the switch.

mod left_stack;
mod scheduler;
