//! What the run says about itself: what was read, what was lost and why, what was found wrong.

mod finding;
mod loss;
mod summary;

pub use finding::FindingRow;
pub use loss::{EventLoss, ModuleLoss};
pub use summary::Summary;
