//! What can be asked of a profile: the frames of a sample with their addresses, samples counted together,
//! functions, what costs most, the tree of calls.

mod annotation;
mod call_tree;
mod costs;
pub mod diff;
pub mod engine;
mod found;
mod functions;
mod grouped;
mod identity;
mod marks;
mod programs;
mod stack_walk;
mod top;
mod weights;

pub use annotation::{AddressCost, Annotation, CodePlace, LineCost, address_costs, annotate};
pub use call_tree::{CallId, CallLabel, CallNode, CallTree, TreeOptions};
pub use costs::{FunctionCost, function_costs};
pub use found::{FoundCounts, found_counts, frame_weights, stack_weights};
pub use functions::{
    FrameFunction, Function, FunctionId, FunctionLine, Functions, frame_functions, functions,
};
pub use grouped::{SampleGroup, event_name, group, period_units};
pub use marks::FunctionMarks;
pub use programs::Programs;
pub use stack_walk::{BiasCache, StackWalker, each_location};
pub use top::{Cost, GroupBy, Top, TopKey, TopRow};
pub use weights::{Weight, WeightUnit, Weights};
