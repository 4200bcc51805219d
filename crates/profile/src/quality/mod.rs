//! Quality of a run: counters, losses with their reasons, and findings.

mod advice;
mod dump_advice;
mod finding;
mod function_filter;
mod loss;
mod stack_needs;
mod summary;

pub use advice::Advice;
pub use dump_advice::DumpAdvice;
pub use finding::FindingRow;
pub use function_filter::{AppliedFilter, EventSpan};
pub use loss::{EventLoss, ModuleLoss, NamelessModule};
pub use stack_needs::{DUMP_SIZES, NeedCounts, StackNeeds};
pub use summary::{Summary, ThreadState, ThreadWithoutSwitch};
