//! The words that every crate of the workspace uses for confusable numbers: addresses by the space they live in,
//! ids as newtypes, and the one type of processors. It knows nothing of recordings, files or stacks.
//!
//! Three address spaces meet when a sampled address is turned into a place in a file:
//!
//! ```text
//!   Avma  actual virtual memory address: where it was in the recorded process
//!   Svma  stated virtual memory address: what the ELF file's headers and symbols say
//!   FileOffset  bytes from the start of the file (of the mapping's `pgoff` space)
//!
//!   avma = svma + bias            (one bias per mapping, from its PT_LOAD)
//!   file offset = avma - mapping.start + mapping.pgoff
//! ```
//!
//! ```
//! use address::{Avma, Bias, Svma};
//! let bias = Bias::between(Avma(0x7f00_0000_1760), Svma(0x1760));
//! assert_eq!(bias.to_avma(Svma(0x1800)), Avma(0x7f00_0000_1800));
//! assert_eq!(bias.to_svma(Avma(0x7f00_0000_1800)), Svma(0x1800));
//! ```

mod arch;
mod build_id;
mod dangling;
mod ids;
mod space;

pub use arch::Arch;
pub use build_id::BuildId;
pub use dangling::{ById, Id, dangling, take_dangling};
pub use ids::{ModuleId, Pid, Tid, Timestamp};
pub use space::{Avma, Bias, FileOffset, Svma};
