//! Shared types for numbers that are easy to confuse:
//! addresses by address space, ids as newtypes, processor architectures, and types of recorded values.
//! Independent of recordings, files and stacks.
//!
//! Three address spaces are involved in finding the file location of a sampled address:
//!
//! ```text
//!   Avma  actual virtual memory address: in the recorded process
//!   Svma  stated virtual memory address: in the ELF file's headers and symbols
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
mod field_kind;
mod ids;
mod space;
mod time_ranges;

pub use arch::Arch;
pub use build_id::BuildId;
pub use dangling::{ById, Id, dangling, take_dangling};
pub use field_kind::FieldKind;
pub use ids::{ModuleId, Pid, Tid, Timestamp};
pub use space::{Avma, Bias, FileOffset, Svma};
pub use time_ranges::TimeRanges;
