//! Completion of truncated chains with outer frames that other samples of the same thread show.
//!
//! While a function runs, its frame stays in place, and so do those of all its callers.
//! The outer frames of one sample are therefore valid for samples before
//! and after it, unless a sample between them shows that a frame was left.
//! A frame was left if the stack pointer is above it, or if another frame overlaps it.
//!
//! ```text
//!   address                              time ->
//!     |     main  ......................................  [seen]  ....................  [seen]
//!     |     parse                                           |        not known           |
//!     |     expr   [seen] .......... truncated: the same    |     (a gap: between two     |
//!     v     term     |               frame, function and    |      samples that agree on  |
//!   inwards  |       |               call inside of it      |      all frames outside)    |
//! ```
//!
//! [`Memory`] holds the state of one direction of time:
//! one memory gets the samples from last to first, another from first to last.
//! [`CutChain`] combines the evidence of both for a sample.
//! [`call::Link`] grades the evidence that links two frames.
//! The reliability of weak evidence is learned from the recording:
//! each sample that shows the true caller is a trial ([`trials`]).
//!
//! | | |
//! |---|---|
//! | `seen` | frames that the walk of a sample observed |
//! | `beginning` | the outermost frame if no sample shows it |
//! | `call`, `memory`, `compare`, `kept`, `start` | the remembered state of a stack |
//! | `learned`, `trials`, `ended`, `variety` | reliability of evidence, learned from a window |
//! | `view`, `decide`, `gap`, `functions` | the decision on a chain |

mod beginning;
mod call;
mod compare;
mod decide;
mod ended;
mod functions;
mod gap;
mod kept;
mod learned;
mod memory;
mod seen;
mod start;
#[cfg(test)]
mod tests;
mod trials;
mod variety;
mod view;

pub(crate) use compare::Known;
pub(crate) use decide::{CutChain, Repaired};
pub(crate) use functions::{Code, Functions};
pub(crate) use gap::Lists;
pub(crate) use kept::Key;
pub(crate) use memory::{Memory, Sight};
pub(crate) use seen::{Seen, SeenEnd, SeenFrame, StackOwner};
pub(crate) use start::KeptStart;
pub(crate) use trials::Trials;
