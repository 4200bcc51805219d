//! From the arguments to the options of a run.

use std::io::Read as _;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{Pid, Tid};
use anyhow::{Context as _, bail};
use clap::CommandFactory as _;
use formats::FormatOptions;
use host::{ByteStream, Host, Origin, RealHost, default_memory_limit, limit_memory};
use options::{
    FileSearch, FolderOption, Hint, LabelOptions, Limits, Options, PathMap, SampleFilter, Servers,
    SpanOptions, TimeRange, parse_path_map,
};
use pipeline::{Error, Pipeline, RecordingWatch, Source};

use crate::failure::{MissingFolder, WrongCall};
use crate::spelling::SPELLING;

use super::fields::value_argument;
use super::{BundleArgs, Cli, FileArgs, FilterArgs, FoldedArgs};

/// The recording that an argument names: a path, or `-` for standard input.
pub(crate) fn source(input: &Path) -> Source {
    if input == Path::new("-") {
        // A closed input is read like any other; reading returns the error.
        let bytes = ByteStream::standard_input()
            .unwrap_or_else(|_| ByteStream::of_reader(std::io::stdin()));
        return Source::Stream { name: input.to_owned(), bytes };
    }
    Source::Path(input.to_owned())
}

/// The recording that an argument names, for those who read its records themselves.
pub(crate) fn open(input: &Path) -> anyhow::Result<(perf_data::Input, RecordingWatch)> {
    Ok(pipeline().open(source(input))?)
}

/// The pipeline of this machine.
pub(crate) fn pipeline() -> Pipeline {
    pipeline_on(host())
}

/// The pipeline of a machine.
pub(crate) fn pipeline_on(host: Arc<dyn Host>) -> Pipeline {
    Pipeline::new(host).spelling(SPELLING)
}

/// This machine.
pub(crate) fn host() -> Arc<dyn Host> {
    Arc::new(RealHost)
}

/// The text of a file that the user named, which may be a FIFO, or of standard input (`-`).
fn read_text(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = match source(path) {
        Source::Stream { mut bytes, .. } => bytes.read_to_string(&mut text),
        Source::Path(path) => host().stream(&path, Origin::User)?.read_to_string(&mut text),
    };
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text)
}

/// An error of a run, with the argument that it is about.
pub(crate) fn with_argument(error: Error) -> anyhow::Error {
    if let Some(argument) = value_argument(&error) {
        return anyhow::Error::new(error).context(argument);
    }
    let argument = match &error {
        Error::UnknownEvent { option, name, .. } => format!("{} {name}", argument_of(option)),
        Error::NoCgroups => "--cgroup".to_owned(),
        Error::NoSampleTimes => "--time".to_owned(),
        Error::NoCpus => "--cpu".to_owned(),
        Error::NoBranches => "-F brstack".to_owned(),
        Error::NoSwitches
        | Error::NoReturns { .. }
        | Error::NothingRan { .. }
        | Error::NoOffCpuSamples { .. } => "--weight off-cpu".to_owned(),
        Error::NoBuildIdStore { path, .. } => format!("--buildid-dir {}", path.display()),
        Error::SharedFolder { option, path, .. } => {
            format!("{} {}", argument_of(option), path.display())
        }
        Error::NotAServer { url } => format!("--debuginfod {url}"),
        Error::BundleHasFiles { path, option } => {
            let error = Error::BundleHasFiles { path: path.clone(), option: argument_of(option) };
            return error.into();
        }
        Error::NoStacks { option } => {
            let option = match *option {
                "join" => "--join",
                "tail_calls" => "--no-tail-calls",
                "value" => "--value",
                _ => "--max-frames",
            };
            return Error::NoStacks { option }.into();
        }
        Error::NoServers => {
            return anyhow::Error::new(WrongCall(
                "--debuginfod names no server, and DEBUGINFOD_URLS is not set",
            ));
        }
        Error::MapFile { path, .. } => format!("cannot read --map-file {}", path.display()),
        Error::MapFileLine { path, line, .. } => {
            format!("--map-file {}, line {line}", path.display())
        }
        Error::UnknownProcessor => {
            return anyhow::Error::new(error).context("name it with --arch");
        }
        Error::MemoryLimit { exceeded } => {
            let limit = exceeded.limit >> 20;
            return anyhow::Error::msg(format!(
                "the recording needs more than the {limit} MB of --max-memory, reached at {exceeded}; raise the limit, or select less with --pid, --comm, --event or --time"
            ));
        }
        _ => return error.into(),
    };
    match error {
        Error::MapFile { source, .. } => anyhow::Error::new(source),
        Error::MapFileLine { source, .. } => anyhow::Error::new(source),
        error => anyhow::Error::new(error),
    }
    .context(argument)
}

/// The argument for an option: singular, since arguments are repeated.
pub(super) fn argument_of(option: &str) -> String {
    let name = option.replace('_', "-");
    let singular = name.strip_suffix('s').unwrap_or(&name).to_owned();
    let has = |name: &str| Cli::command().get_arguments().any(|it| it.get_long() == Some(name));
    format!("--{}", if has(&name) { name } else { singular })
}

/// The options in a JSON file; `-` for standard input.
pub(crate) fn options_of_json(path: &Path) -> anyhow::Result<Options> {
    Ok(Options::from_json(&read_text(path)?)?)
}

/// Options of files with all that they name: folders are there, files with hints are read.
pub(crate) fn usable(files: &FileSearch) -> anyhow::Result<FileSearch> {
    are_there(files)?;
    pipeline().resolve(files).map_err(with_argument)
}

/// Refuses folders that are not there, since nothing would be found in them.
fn are_there(files: &FileSearch) -> anyhow::Result<()> {
    for (option, folders) in files.folders() {
        let option = match option {
            FolderOption::Sysroot => "--sysroot",
            FolderOption::Debug => "--debug-dir",
            FolderOption::Extra => "--extra-dir",
            FolderOption::PerfMap => "--perf-map-dir",
            FolderOption::Source => "--source-dir",
            // It may be an archive.
            FolderOption::BuildIdStore => continue,
        };
        if let Some(folder) = folders.iter().find(|it| !host().is_dir(it, Origin::User)) {
            bail!(MissingFolder { option, path: folder.clone() });
        }
    }
    Ok(())
}

impl BundleArgs {
    /// The options of the run that the bundle is made from. They are read once, as [`RunArgs::options`].
    ///
    /// # Errors
    /// If a file or folder that the user named cannot be used, or an option means nothing to a bundle.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let Some(path) = &self.options_json else {
            let files = FileSearch { kallsyms: self.kallsyms.clone(), ..self.files.search()? };
            let jobs = self.jobs.and_then(NonZeroU16::new);
            let limits = Limits { jobs, ..Limits::default() };
            let with_arguments = self.with_arguments;
            return Ok(Options { files, limits, with_arguments, ..Options::default() });
        };
        let given = options_of_json(path)?;
        let Options { files, limits, with_arguments, .. } = given.clone();
        let kept = Options { files, limits, with_arguments, ..Options::default() };
        let (given, known) = (given.to_object(), kept.to_object());
        if let Some(name) = given.keys().find(|name| !known.contains_key(*name)) {
            bail!("the option {name} means nothing to a bundle, which has all samples and names");
        }
        limit_memory(kept.limits.memory.or_usual(default_memory_limit()));
        Ok(Options { files: usable(&kept.files)?, ..kept })
    }
}

#[cfg(feature = "parquet")]
impl super::SymbolizeArgs {
    /// The options of the look-up.
    ///
    /// # Errors
    /// If a file or folder that the user named cannot be used.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        let files = FileSearch { kallsyms: self.symbols.kallsyms.clone(), ..self.files.search()? };
        let memory = self.max_memory.unwrap_or_default();
        limit_memory(memory.or_usual(default_memory_limit()));
        Ok(Options {
            names: self.symbols.options(),
            limits: Limits { memory, jobs: self.jobs.and_then(NonZeroU16::new) },
            cache: self.symbols.cache(&files),
            files,
            ..Options::default()
        })
    }
}

impl FoldedArgs {
    /// Returns the options of the printers for a run with or without inlined functions.
    pub(crate) fn format_options(&self, run: &Options) -> FormatOptions {
        FormatOptions {
            inlines: run.names.inlines,
            keep_unrooted: self.keep_unrooted,
            weight: self.weight.weight(),
            kernel_suffix: self.kernel_suffix,
            root: self.root.clone().unwrap_or_default(),
            reverse: self.reverse,
            ..FormatOptions::DEFAULT
        }
    }
}

impl FilterArgs {
    pub(super) fn wanted(&self) -> anyhow::Result<SampleFilter> {
        let time = match &self.time {
            None => TimeRange::default(),
            Some(text) => text
                .parse()
                .map_err(|why: String| anyhow::Error::msg(why))
                .with_context(|| format!("--time {text}: {}", TimeRange::EXPECTED))?,
        };
        Ok(SampleFilter {
            pids: self.pid.iter().copied().map(Pid).collect(),
            tids: self.tid.iter().copied().map(Tid).collect(),
            comms: self.comm.iter().map(|name| name.clone().into_bytes()).collect(),
            cgroups: self.cgroup.iter().map(|path| path.clone().into_bytes()).collect(),
            events: self.event.clone(),
            cpus: self.cpu.as_deref().unwrap_or_default().to_vec(),
            time,
            conditions: self.conditions.clone(),
        })
    }

    pub(super) fn labels(&self) -> LabelOptions {
        LabelOptions {
            labels: self.label.clone(),
            when: self.label_when.clone(),
            ends: self.label_end.clone(),
            handovers: self.handover.clone(),
        }
    }
}

impl FilterArgs {
    pub(super) fn spans(&self) -> SpanOptions {
        SpanOptions {
            rules: self.span.clone(),
            inside: self.inside.clone(),
            longer_than: self.longer_than.clone(),
            up_to: self.up_to.clone(),
        }
    }
}

impl FileArgs {
    /// Locations of files.
    ///
    /// # Errors
    /// If a folder or file that the user named does not exist, or an argument has no meaning.
    pub(crate) fn search(&self) -> anyhow::Result<FileSearch> {
        self.search_with(&[])
    }

    /// The same with folders of source files.
    ///
    /// # Errors
    /// As for [`Self::search`].
    pub(crate) fn search_with(&self, source_dirs: &[PathBuf]) -> anyhow::Result<FileSearch> {
        usable(&FileSearch { source_dirs: source_dirs.to_vec(), ..self.given()? })
    }

    /// The options, as they are given.
    pub(super) fn given(&self) -> anyhow::Result<FileSearch> {
        Ok(FileSearch {
            modules: self.module.clone(),
            path_map: path_map(&self.path_map)?,
            sysroots: self.sysroot.clone(),
            build_id_stores: self.buildid_dir.clone(),
            debug_dirs: self.debug_dir.clone(),
            extra_dirs: self.extra_dir.clone(),
            perf_map_dirs: self.perf_map_dir.clone(),
            trust_perf_maps: self.trust_perf_maps,
            debuginfod: self.servers(),
            fetched: false,
            hints: self
                .map
                .iter()
                .map(|text| Hint::parse(text).context("--map"))
                .collect::<Result<_, _>>()?,
            map_files: self.map_file.clone(),
            source_dirs: Vec::new(),
            kallsyms: None,
        })
    }

    #[cfg(feature = "debuginfod")]
    fn servers(&self) -> Servers {
        match &self.debuginfod {
            None => Servers::default(),
            Some(Some(urls)) => Servers::of_list(urls),
            Some(None) => Servers { urls: Vec::new(), environment: true },
        }
    }

    #[cfg(not(feature = "debuginfod"))]
    #[expect(clippy::unused_self, reason = "with the feature there are some")]
    fn servers(&self) -> Servers {
        Servers::default()
    }
}

fn path_map(args: &[String]) -> anyhow::Result<PathMap> {
    let pair = |text: &String| {
        let read = parse_path_map(text.as_bytes()).map_err(anyhow::Error::msg);
        read.with_context(|| format!("--path-map {text}"))
    };
    args.iter().map(pair).collect()
}
