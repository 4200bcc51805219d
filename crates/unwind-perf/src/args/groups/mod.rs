//! Arguments that several commands take, group by group.

mod files;
mod filters;
mod functions;
mod join;
mod settings;
mod shown;
mod sources;
mod symbols;

pub(crate) use files::FileArgs;
pub(crate) use filters::FilterArgs;
pub(crate) use functions::FunctionArgs;
pub(crate) use join::JoinArgs;
pub(crate) use settings::RunSettings;
pub(crate) use shown::{ExchangeArgs, FoldedArgs, OffCpuArgs, ScriptArgs, WeightArgs};
pub(crate) use sources::SourceArgs;
pub(crate) use symbols::SymbolArgs;
