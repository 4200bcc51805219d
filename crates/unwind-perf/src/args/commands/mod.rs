//! Arguments of each command.

mod annotate;
mod bundle;
mod cache;
#[cfg(feature = "parquet")]
mod convert;
mod diff;
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
#[cfg(feature = "parquet")]
mod symbolize;
mod tables;
#[cfg(feature = "tui")]
mod tui;
mod values;

pub(crate) use annotate::AnnotateArgs;
pub(crate) use bundle::BundleArgs;
pub(crate) use cache::{CacheArgs, CacheWhat};
#[cfg(feature = "parquet")]
pub(crate) use convert::{ConvertArgs, ConvertRecordingArgs};
pub(crate) use diff::DiffArgs;
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
#[cfg(feature = "parquet")]
pub(crate) use symbolize::SymbolizeArgs;
pub(crate) use tables::{SpansArgs, TopArgs, TreeArgs};
#[cfg(feature = "tui")]
pub(crate) use tui::TuiArgs;
pub(crate) use values::ValuesArgs;
