//! From the arguments to the options of a run.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use address::{Pid, Tid};
use anyhow::{Context as _, bail};
use formats::FormatOptions;
use host::{ByteStream, Host, HostError, Origin, RealHost};
use module_map::Hint;
use pipeline::{
    Error, FileSearch, Limits, NameOptions, Options, Pipeline, RecordingWatch, SampleFilter, Source,
};
use symbolizer::Demangle;

use super::values::time_range;
use super::{DemangleArg, FileArgs, FilterArgs, FoldedArgs, RunArgs, SymbolArgs};

/// The recording that an argument names: a path, or `-` for standard input.
pub(crate) fn source(input: &Path) -> Source {
    if input == Path::new("-") {
        // What is closed is read as the others are, and gives the error.
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
    Pipeline::new(host())
}

/// This machine.
pub(crate) fn host() -> Arc<dyn Host> {
    Arc::new(RealHost)
}

/// The text of a file that the user named, which may be a FIFO.
fn read_text(path: &Path) -> io::Result<String> {
    let stream = host().stream(path, Origin::User).map_err(|error| match error {
        HostError::Io { source, .. } => source,
        other => io::Error::other(other),
    });
    let mut text = String::new();
    stream?.read_to_string(&mut text)?;
    Ok(text)
}

/// An error of a run, with the argument that it is about.
pub(crate) fn with_argument(error: Error) -> anyhow::Error {
    let argument = match &error {
        Error::UnknownEvent { name, .. } => format!("--event {name}"),
        Error::NoCgroups => "--cgroup".to_owned(),
        Error::NoSampleTimes => "--time".to_owned(),
        Error::NoSwitches | Error::NoReturns { .. } | Error::NoOffCpuSamples { .. } => {
            "--weight off-cpu".to_owned()
        }
        Error::NoBuildIdStore { path, .. } => format!("--buildid-dir {}", path.display()),
        Error::NotAServer { url } => format!("--debuginfod {url}"),
        Error::UnknownProcessor => {
            return anyhow::Error::new(error).context("name it with --arch");
        }
        Error::MemoryLimit { exceeded } => {
            let limit = exceeded.limit >> 20;
            return anyhow::Error::msg(format!(
                "the recording needs more than the {limit} MB of --max-memory, which ended at {exceeded}; allow more, \
                 or ask for less with --pid, --comm, --event or --time"
            ));
        }
        _ => return error.into(),
    };
    anyhow::Error::new(error).context(argument)
}

impl RunArgs {
    /// What the run is to do.
    pub(crate) fn options(&self) -> anyhow::Result<Options> {
        Ok(Options {
            samples: self.filters.wanted()?,
            files: self.files.search()?,
            names: self.symbols.options(),
            max_frames: self.max_frames.get(),
            join: (&self.join).into(),
            off_cpu: false,
            limits: Limits { memory: self.max_memory },
            cache: self.symbols.cache(),
        })
    }
}

impl FoldedArgs {
    /// What the printers are to show, where the run has inlined functions or not.
    pub(crate) fn format_options(&self, run: &RunArgs) -> FormatOptions {
        FormatOptions {
            inlines: !run.symbols.no_inline,
            keep_unrooted: self.keep_unrooted,
            weight: self.weight.weight(),
            kernel_suffix: self.kernel_suffix,
            root: self.root.map_or(FormatOptions::DEFAULT.root, Into::into),
            reverse: self.reverse,
            ..FormatOptions::DEFAULT
        }
    }
}

impl FilterArgs {
    fn wanted(&self) -> anyhow::Result<SampleFilter> {
        let (from, to) = match &self.time {
            None => (None, None),
            Some(text) => time_range(text)
                .with_context(|| format!("--time {text}: expected A,B in seconds, +A,+B in seconds from the first sample on, or A%-B%"))?,
        };
        Ok(SampleFilter {
            pids: self.pid.iter().copied().map(Pid).collect(),
            tids: self.tid.iter().copied().map(Tid).collect(),
            comms: self.comm.iter().map(|name| name.clone().into_bytes()).collect(),
            cgroups: self.cgroup.iter().map(|path| path.clone().into_bytes()).collect(),
            events: self.event.clone(),
            from,
            to,
        })
    }
}

impl SymbolArgs {
    fn options(&self) -> NameOptions {
        NameOptions {
            look_up: !self.no_symbols,
            inlines: !self.no_inline,
            demangle: match self.demangle {
                DemangleArg::Full => Demangle::Full,
                DemangleArg::Short => Demangle::Short,
                DemangleArg::None => Demangle::None,
            },
            kallsyms: self.kallsyms.clone(),
        }
    }
}

impl FileArgs {
    /// Where files are looked for.
    ///
    /// # Errors
    /// Where a folder or file that the user named is not there, or an argument has no meaning.
    pub(crate) fn search(&self) -> anyhow::Result<FileSearch> {
        self.are_there()?;
        Ok(FileSearch {
            modules: self.module.clone(),
            path_map: path_map(&self.path_map)?,
            sysroots: self.sysroot.clone(),
            build_id_stores: self.buildid_dir.clone(),
            debug_dirs: self.debug_dir.clone(),
            extra_dirs: self.extra_dir.clone(),
            perf_map_dirs: self.perf_map_dir.clone(),
            trust_perf_maps: self.trust_perf_maps,
            debuginfod: self.servers()?,
            fetched: false,
            hints: self.hints()?,
        })
    }

    /// Refuses folders that are not there, since nothing would be found in them.
    fn are_there(&self) -> anyhow::Result<()> {
        let folders = [
            ("--sysroot", &self.sysroot),
            ("--debug-dir", &self.debug_dir),
            ("--extra-dir", &self.extra_dir),
            ("--perf-map-dir", &self.perf_map_dir),
        ];
        for (option, paths) in folders {
            for path in paths {
                if !host().is_dir(path, Origin::User) {
                    bail!("{option} {}: not a directory", path.display());
                }
            }
        }
        Ok(())
    }

    #[cfg(feature = "debuginfod")]
    fn servers(&self) -> anyhow::Result<Vec<String>> {
        let urls = match &self.debuginfod {
            None => return Ok(Vec::new()),
            Some(Some(url)) => url.clone(),
            Some(None) => {
                let servers = servers_of_environment();
                if servers.is_empty() {
                    bail!("--debuginfod names no server, and DEBUGINFOD_URLS is not set");
                }
                return Ok(servers);
            }
        };
        Ok(split_servers(&urls))
    }

    #[cfg(not(feature = "debuginfod"))]
    #[expect(clippy::unnecessary_wraps, reason = "with the feature there can be an error")]
    fn servers(&self) -> anyhow::Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The hints of the command line and of the files that it names.
    fn hints(&self) -> anyhow::Result<Vec<Hint>> {
        let mut hints = Vec::new();
        for text in &self.map {
            hints.push(Hint::parse(text).context("--map")?);
        }
        for path in &self.map_file {
            let text = read_text(path)
                .with_context(|| format!("cannot read --map-file {}", path.display()))?;
            for (line, number) in text.lines().zip(1..) {
                let line = line.trim();
                if !line.is_empty() && !line.starts_with('#') {
                    let hint = Hint::parse(line)
                        .with_context(|| format!("--map-file {}, line {number}", path.display()))?;
                    hints.push(hint);
                }
            }
        }
        Ok(hints)
    }
}

/// The debuginfod servers that the environment names.
pub(crate) fn servers_of_environment() -> Vec<String> {
    if !cfg!(feature = "debuginfod") {
        return Vec::new();
    }
    split_servers(&std::env::var("DEBUGINFOD_URLS").unwrap_or_default())
}

/// The addresses in a list. elfutils lists may hold words such as `ima:enforcing`, which are no servers.
fn split_servers(urls: &str) -> Vec<String> {
    let urls = urls.split_whitespace().filter(|url| !url.starts_with("ima:"));
    urls.map(str::to_owned).collect()
}

fn path_map(args: &[String]) -> anyhow::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut pairs = Vec::new();
    for text in args {
        let Some((from, to)) = text.split_once('=').filter(|(from, _)| !from.is_empty()) else {
            bail!("--path-map {text}: expected FROM=TO");
        };
        pairs.push((from.as_bytes().to_vec(), to.as_bytes().to_vec()));
    }
    Ok(pairs)
}
