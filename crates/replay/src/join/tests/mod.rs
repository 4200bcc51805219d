//! Repair on stacks that are written down: each test shows the samples of a recording, and what the cut ones become.

mod functions;
mod gaps;
mod joins;
mod memory;
mod notation;
mod trials;
