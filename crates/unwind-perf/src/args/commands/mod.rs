//! Arguments of each command.

mod annotate;
mod bundle;
mod cache;
mod diff;
#[cfg(feature = "parquet")]
mod fleet;
mod inject;
mod inspect;
#[cfg(feature = "service")]
mod live;
#[cfg(feature = "mcp")]
mod mcp;
mod profile;
mod record;
#[cfg(feature = "service")]
mod serve;
mod tables;
#[cfg(feature = "tui")]
mod tui;
mod values;

pub(crate) use annotate::AnnotateArgs;
pub(crate) use bundle::BundleArgs;
pub(crate) use cache::{CacheArgs, CacheWhat};
pub(crate) use diff::DiffArgs;
#[cfg(feature = "parquet")]
pub(crate) use fleet::{CompactArgs, ConvertArgs, ConvertRecordingArgs, SymbolizeArgs};
pub(crate) use inject::InjectArgs;
pub(crate) use inspect::{BuildIdArgs, DumpArgs, InfoArgs, MapsArgs};
#[cfg(feature = "service")]
pub(crate) use live::LiveArgs;
#[cfg(feature = "mcp")]
pub(crate) use mcp::McpArgs;
#[cfg(feature = "flamegraph")]
pub(crate) use profile::FlamegraphArgs;
pub(crate) use profile::{InputArg, MainArgs, ReportArgs, RunArgs};
pub(crate) use record::RecordArgs;
#[cfg(feature = "service")]
pub(crate) use serve::{FrontArgs, ServeArgs, WorkerArgs};
pub(crate) use tables::{SpansArgs, TopArgs, TreeArgs};
#[cfg(feature = "tui")]
pub(crate) use tui::TuiArgs;
pub(crate) use values::ValuesArgs;
