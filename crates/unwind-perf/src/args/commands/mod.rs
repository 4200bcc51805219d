//! What each command takes.

mod annotate;
mod diff;
mod inject;
mod inspect;
mod profile;
mod record;
mod tables;

pub(crate) use annotate::AnnotateArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use inject::InjectArgs;
pub(crate) use inspect::{BuildIdArgs, DumpArgs, InfoArgs, MapsArgs};
#[cfg(feature = "flamegraph")]
pub(crate) use profile::FlamegraphArgs;
pub(crate) use profile::{MainArgs, ReportArgs, RunArgs};
pub(crate) use record::RecordArgs;
pub(crate) use tables::{TopArgs, TreeArgs};
