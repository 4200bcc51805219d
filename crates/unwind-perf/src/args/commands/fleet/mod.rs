//! The arguments of commands for many recordings.

mod convert;
mod symbolize;

pub(crate) use convert::{ConvertArgs, ConvertRecordingArgs};
pub(crate) use symbolize::SymbolizeArgs;
