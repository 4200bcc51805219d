//! The arguments of the commands that look into a recording.

use std::path::PathBuf;

use clap::Args;
use perf_data::RecordKind;

use crate::args::groups::FileArgs;

/// The arguments of `info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The recording, or - for standard input
    #[arg(value_name = "PERF_DATA")]
    pub(crate) input: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `dump`.
#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// The recording, or - for standard input
    #[arg(value_name = "PERF_DATA")]
    pub(crate) input: PathBuf,

    /// Only records of these types, by name or number
    #[arg(long = "type", value_name = "TYPE,…", value_delimiter = ',', value_parser = parse_kind)]
    pub(crate) kinds: Vec<RecordKind>,

    /// Only records of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',', allow_negative_numbers = true)]
    pub(crate) pid: Vec<i32>,

    /// Only records from time A to time B, in seconds; either can be empty
    #[arg(long, value_name = "A,B")]
    pub(crate) time: Option<String>,

    /// Include the callchains and registers of samples
    #[arg(long)]
    pub(crate) full: bool,

    /// Include all bytes of each record, in hexadecimal
    #[arg(long)]
    pub(crate) raw: bool,

    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `buildid-list`.
#[derive(Debug, Args)]
pub(crate) struct BuildIdArgs {
    /// The recording, or - for standard input
    #[arg(value_name = "PERF_DATA")]
    pub(crate) input: PathBuf,

    /// Only files with samples
    #[arg(long)]
    pub(crate) with_hits: bool,

    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `maps`.
#[derive(Debug, Args)]
pub(crate) struct MapsArgs {
    /// The recording, or - for standard input
    #[arg(value_name = "PERF_DATA")]
    pub(crate) input: PathBuf,

    /// Only this process, -1 for the kernel; can be repeated [default: all that have mappings]
    #[arg(long, value_name = "PID", allow_negative_numbers = true)]
    pub(crate) pid: Vec<i32>,

    /// Show the mappings at TIME, in seconds [default: at the end]
    ///
    /// The default includes processes that have exited.
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,

    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}

fn parse_kind(text: &str) -> Result<RecordKind, String> {
    let by_number = text.parse().ok().map(RecordKind);
    let wanted = text.to_ascii_uppercase();
    let name = wanted.strip_prefix("PERF_RECORD_").unwrap_or(&wanted);
    let named = |kind: &RecordKind| kind.name().is_some_and(|known| known == name);
    let by_name = || (0..128).chain(32768..32800).map(RecordKind).find(named);
    by_number.or_else(by_name).ok_or_else(|| "no type of record has that name".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_name_and_number() {
        assert_eq!(parse_kind("sample"), Ok(RecordKind::SAMPLE));
        assert_eq!(parse_kind("PERF_RECORD_MMAP2"), Ok(RecordKind::MMAP2));
        assert_eq!(parse_kind("81"), Ok(RecordKind::COMPRESSED));
        assert_eq!(parse_kind("simpleperf_callchain"), Ok(RecordKind::SIMPLEPERF_CALLCHAIN));
        assert!(parse_kind("nothing").is_err());
    }
}
