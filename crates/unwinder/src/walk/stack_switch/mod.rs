//! Functions that go on on another stack than their caller: the step to the caller if the recorded bytes have both stacks, and
//! the chain below the switch if they have not.

mod left_stack;
mod scheduler;
