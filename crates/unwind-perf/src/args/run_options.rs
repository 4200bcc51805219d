//! From the arguments of a run to its options.

use std::num::NonZeroU16;
use std::path::PathBuf;

use host::{default_memory_limit, limit_memory};
use options::{FieldSelection, FileSearch, Limits, Options};

use super::RunArgs;
use super::fields::{GroupedBy, redaction_key};
use super::groups::{FileArgs, FilterArgs, RunSettings, SymbolArgs, WeightArgs};
use super::options::{options_of_json, usable};

/// The options of a run, and the files that its hints were read from.
#[derive(Debug)]
pub(crate) struct RunOptions {
    pub(crate) options: Options,
    pub(crate) map_files: Vec<PathBuf>,
    /// The label or field that the output groups samples by.
    pub(crate) grouped_by: Option<GroupedBy>,
    /// True if the output prints spans.
    pub(crate) prints_spans: bool,
}

impl RunOptions {
    /// Makes the field of `--weight` the weight of samples.
    pub(crate) fn weigh_by(&mut self, weight: &WeightArgs) {
        if let Some(field) = weight.field() {
            self.options.weight_field = Some(field);
        }
    }
}

impl RunArgs {
    /// The options of the run. They are read once: a file that the user named may be a pipe.
    ///
    /// # Errors
    /// If an argument has no meaning, or a file or folder that the user named cannot be used.
    pub(crate) fn options(&self) -> anyhow::Result<RunOptions> {
        self.options_with(&[])
    }

    /// The same with folders of source files.
    ///
    /// # Errors
    /// As for [`Self::options`].
    pub(crate) fn options_with(&self, source_dirs: &[PathBuf]) -> anyhow::Result<RunOptions> {
        let mut options = self.given().options()?;
        limit_memory(options.limits.memory.or_usual(default_memory_limit()));
        options.files.source_dirs.extend_from_slice(source_dirs);
        let map_files = options.files.map_files.clone();
        options.files = usable(&options.files)?;
        Ok(RunOptions { options, map_files, grouped_by: None, prints_spans: false })
    }

    const fn given(&self) -> GivenOptions<'_> {
        let Self { settings, filters, symbols, files, .. } = self;
        GivenOptions { settings, filters, symbols, files }
    }
}

/// The arguments that are options of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenOptions<'a> {
    pub(crate) settings: &'a RunSettings,
    pub(crate) filters: &'a FilterArgs,
    pub(crate) symbols: &'a SymbolArgs,
    pub(crate) files: &'a FileArgs,
}

impl GivenOptions<'_> {
    /// The options that the arguments state, or the file of JSON that they name. Files and folders are not read.
    ///
    /// # Errors
    /// If an argument has no meaning, or the JSON cannot be read.
    pub(crate) fn options(self) -> anyhow::Result<Options> {
        let Self { settings, filters, symbols, files } = self;
        if let Some(path) = &settings.options_json {
            let given = options_of_json(path)?;
            let cache = given.cache.clone().or_else(|| symbols.cache(&given.files));
            return Ok(Options { cache, ..given });
        }
        let samples = filters.wanted()?;
        let files = FileSearch { kallsyms: symbols.kallsyms.clone(), ..files.given()? };
        Ok(Options {
            samples,
            names: symbols.options(),
            max_frames: settings.max_frames,
            join: (&settings.join).into(),
            tail_calls: !settings.join.no_tail_calls,
            with_fields: FieldSelection::default(),
            values: filters.values.clone(),
            trace_text: false,
            branches: false,
            labels: filters.labels(),
            spans: filters.spans(),
            redact: redaction_key(filters.redact.as_ref())?,
            weight_field: None,
            off_cpu: false,
            off_cpu_optional: false,
            with_arguments: settings.with_arguments,
            limits: Limits {
                memory: settings.max_memory.unwrap_or_default(),
                jobs: settings.jobs.and_then(NonZeroU16::new),
            },
            cache: symbols.cache(&files),
            files,
        })
    }
}
