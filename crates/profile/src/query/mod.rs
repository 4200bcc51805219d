//! Queries on a profile: frames of a sample with their addresses, functions, highest costs, the call tree, and the
//! difference of two profiles.

mod annotation;
mod cost;
pub mod diff;
pub mod engine;
mod found;
mod function_query;
mod functions;
mod grouped;
mod identity;
mod marks;
mod programs;
mod recorded_command;
mod spans;
mod stack_walk;
mod waits;
mod weights;

pub use annotation::{
    AddressCost, Annotation, FunctionCode, LineCost, address_costs, annotate, stack_costs,
};
pub use cost::Cost;
pub use found::{FoundCounts, found_counts, frame_weights, stack_weights};
pub use function_query::{FunctionPredicate, FunctionQuery};
pub use functions::{
    FrameFunction, Function, FunctionId, FunctionLine, Functions, frame_functions, functions,
};
pub use grouped::{SampleGroup, event_name, group, group_with_ids, period_units};
pub use marks::FunctionMarks;
pub use programs::Programs;
pub use recorded_command::{recorded_command, recorded_program, without_arguments};
pub use spans::{DurationRange, SpanGroup, histogram, percentile, span_groups};
pub use stack_walk::{BiasCache, StackWalker, each_location};
pub use waits::{FoldedFrames, FoldedWaits};
pub use weights::{EventSums, Weight, WeightUnit, Weights};
