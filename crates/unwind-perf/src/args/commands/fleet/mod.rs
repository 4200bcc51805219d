//! The arguments of commands for many recordings.

mod compact;
mod convert;
mod symbolize;

pub(crate) use compact::CompactArgs;
pub(crate) use convert::{ConvertArgs, ConvertRecordingArgs};
pub(crate) use symbolize::SymbolizeArgs;
