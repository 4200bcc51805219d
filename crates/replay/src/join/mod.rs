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
//! [`CallHistory`] holds the state of one direction of time:
//! one memory gets the samples from last to first, another from first to last.
//! [`TruncatedChain`] combines the evidence of both for a sample.
//! [`call::Link`] grades the evidence that links two frames.
//! The reliability of weak evidence is learned from the recording:
//! each sample that shows the true caller is a trial ([`trials`]).
//!
//! | | |
//! |---|---|
//! | `observed` | frames that the walk of a sample observed |
//! | `beginning` | the outermost frame if no sample shows it |
//! | `call`, `history`, `compare`, `snapshots`, `start` | the remembered state of a stack |
//! | `learned`, `trials`, `contradicted`, `variety` | reliability of evidence, learned from a window |
//! | `view`, `decide`, `gap`, `functions` | the decision on a chain |

mod beginning;
mod call;
mod compare;
mod contradicted;
mod decide;
mod functions;
mod gap;
mod history;
mod learned;
mod observed;
mod snapshots;
mod start;
#[cfg(test)]
mod tests;
mod trials;
mod variety;
mod view;

pub(crate) use beginning::beginning;
pub(crate) use compare::StackEvidence;
pub(crate) use decide::{ChainRepair, TruncatedChain};
pub(crate) use functions::{CodeContext, FunctionCache};
pub(crate) use gap::Lists;
pub(crate) use history::{CallHistory, SampleContext};
pub(crate) use observed::{ObservedFrame, ObservedStack, StackEnd, StackOwner};
pub(crate) use snapshots::SnapshotKey;
pub(crate) use start::StartSnapshot;
pub(crate) use trials::Trials;
