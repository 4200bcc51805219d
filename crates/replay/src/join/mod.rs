//! How chains go on that the dump cut off: with outer frames that other samples of the same thread show.
//!
//! While a function runs, its frame stays where it is, and so do those of all its callers. What one sample saw of the
//! upper stack therefore holds for samples before and after it, as long as no sample between them shows that the frame
//! had been left: its stack pointer is above the frame, or another frame is in that place.
//!
//! ```text
//!   address                              time ->
//!     |     main  ......................................  [seen]  ....................  [seen]
//!     |     parse                                           |        not known           |
//!     |     expr   [seen] .......... cut off: the same      |     (a gap: between two     |
//!     v     term     |               frame, function and    |      sightings that agree   |
//!   inwards  |       |               call inside of it      |      on all outside of it)  |
//! ```
//!
//! [`Memory`] is what is remembered in one direction of time; samples are shown to one from the last to the first, and
//! to another one from the first to the last. [`CutChain`] puts together what both say of a sample. What a link between
//! two frames is worth is a [`call::Link`]; how far the weaker ones can be relied on is found out on the recording
//! itself, whenever a sample shows what they would have said of it ([`trials`]).
//!
//! | | |
//! |---|---|
//! | `seen` | what the walk of a sample saw |
//! | `beginning` | how a stack begins that no sample shows to its root |
//! | `call`, `memory`, `compare`, `kept`, `start` | what is remembered of a stack |
//! | `learned`, `trials`, `ended`, `variety` | what the samples of a window teach |
//! | `view`, `decide`, `gap`, `functions` | what is decided of a chain |

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
