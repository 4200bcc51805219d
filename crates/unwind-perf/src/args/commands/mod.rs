//! What each command takes.

mod annotate;
mod diff;
mod inject;
mod inspect;
mod profile;
mod record;
#[cfg(feature = "service")]
mod serve;
mod tables;

pub(crate) use annotate::AnnotateArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use inject::InjectArgs;
pub(crate) use inspect::{BuildIdArgs, DumpArgs, InfoArgs, MapsArgs};
#[cfg(feature = "flamegraph")]
pub(crate) use profile::FlamegraphArgs;
pub(crate) use profile::{MainArgs, ReportArgs, RunArgs};
pub(crate) use record::RecordArgs;
#[cfg(feature = "service")]
pub(crate) use serve::{ServeArgs, WorkerArgs};
pub(crate) use tables::{TopArgs, TreeArgs};
