//! Processes that read untrusted data with few rights.
//!
//! A confined process has few system calls, and no files but those that it is allowed.

mod channel;
mod confinement;

pub use channel::{Receiver, Sender, pair};
pub use confinement::{Confined, Confinement, confine};
