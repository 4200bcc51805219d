//! The arguments of `convert`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgGroup, Args, ValueHint};
use fleet::Status;
use host::Origin;
use options::{Options, Weight};

use crate::args::groups::{FileArgs, FilterArgs, RunSettings, SymbolArgs, WeightArgs};
use crate::args::options::{host, usable};
use crate::args::run_options::GivenOptions;
use crate::failure::WrongCall;

/// The arguments of `convert`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("source").required(true).multiple(true)))]
pub(crate) struct ConvertArgs {
    /// Recordings, or their URLs if the program was built with the feature urls
    #[arg(value_name = "RECORDING", group = "source", value_hint = ValueHint::FilePath)]
    pub(crate) recordings: Vec<PathBuf>,

    /// Folder of the tree, which is created if it does not exist
    #[arg(long, value_name = "OUT", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,

    /// Convert the recordings that FILE lists, one path a line; - for standard input
    #[arg(long, value_name = "FILE", group = "source")]
    pub(crate) list: Option<PathBuf>,

    /// Paths in the list end with a null byte, as those of find -print0
    #[arg(short = '0', long, requires = "list")]
    pub(crate) null: bool,

    /// Convert the recordings in DIR, then those that are finished, until SIGINT or SIGTERM
    ///
    /// A recording is finished when its writer closes it, or when it is renamed into DIR. Hidden files are omitted. The
    /// signal finishes the running conversions.
    #[arg(long, value_name = "DIR", group = "source", value_hint = ValueHint::DirPath)]
    pub(crate) watch: Option<PathBuf>,

    /// Number of recordings that are converted at once [default: one per processor]
    ///
    /// Each is converted by one process, which has one thread unless --jobs is given.
    #[arg(long, value_name = "N")]
    pub(crate) at_once: Option<NonZeroUsize>,

    /// Number of repetitions of a run that was killed or took too long
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) retries: u32,

    /// End a run after this time
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout)]
    pub(crate) timeout: Option<Duration>,

    /// Convert recordings with these outcomes again; unreadable and gave-up always are
    #[arg(long, value_name = "STATUS,…", value_delimiter = ',', value_parser = status_parser())]
    pub(crate) redo: Vec<Status>,

    /// Do not print the summary
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Columns for these fields of tracepoints and probes, such as probe:work/size
    ///
    /// Patterns with * and ?, or all. Default: none, since values can be private.
    #[arg(
        long,
        value_name = "EVENT/FIELD,…",
        value_delimiter = ',',
        conflicts_with = "options_json"
    )]
    pub(crate) with_fields: Vec<String>,

    /// The program that converts a recording, for tests
    #[arg(long, value_name = "FILE", hide = true, default_value = "/proc/self/exe")]
    pub(crate) program: PathBuf,

    #[command(flatten)]
    pub(crate) weight: WeightArgs,

    #[command(flatten)]
    pub(crate) settings: RunSettings,

    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}

impl ConvertArgs {
    /// The options of the runs, with absolute paths. The folders and files that they name exist.
    ///
    /// # Errors
    /// If an argument has no meaning, or a file or folder that the user named cannot be used.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let Self { settings, filters, symbols, files, .. } = self;
        if settings.options_json.is_some()
            && self.list.is_some()
            && settings.options_json == self.list
        {
            bail!(WrongCall("--list and --options-json need different files"));
        }
        if self.weight.kernel_frames {
            bail!(WrongCall("--kernel-frames has no effect on the format parquet"));
        }
        let mut options = GivenOptions { settings, filters, symbols, files }.options()?;
        options.with_fields.patterns.extend_from_slice(&self.with_fields);
        if let Some(field) = self.weight.field() {
            options.weight_field = Some(field);
        }
        options.off_cpu |= self.weight.weight() == Weight::OffCpu;
        // Each run reads it.
        let is_stream = |path: &&PathBuf| {
            host().stat(path, Origin::User).is_ok() && !host().is_file(path, Origin::User)
        };
        if options.files.map_files.iter().find(is_stream).is_some() {
            bail!(WrongCall("--map-file of convert has to be a regular file"));
        }
        usable(&options.files)?;
        options.make_absolute(&std::env::current_dir().context("this folder is gone")?);
        Ok(options)
    }
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds".to_owned())
}

fn status_parser() -> impl clap::builder::TypedValueParser<Value = Status> {
    let keywords = PossibleValuesParser::new(Status::ALL.map(Status::as_str));
    keywords.try_map(|text| {
        Status::ALL.into_iter().find(|status| status.as_str() == text).ok_or("unknown status")
    })
}

/// The arguments of `convert-recording`, which reads the options of the run from standard input.
#[derive(Debug, Args)]
pub(crate) struct ConvertRecordingArgs {
    /// The file of rows to write
    #[arg(long, value_name = "FILE")]
    pub(crate) part: PathBuf,

    /// The recording
    pub(crate) recording: PathBuf,
}
