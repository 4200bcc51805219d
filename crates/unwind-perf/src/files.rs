//! Where files come from, by the arguments and by who made the recording.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use address::{BuildId, FileOffset};
use anyhow::{Context as _, bail};
use module_map::{Archive, ExtraFiles, Fetcher, FileOptions, Hint, Image, Library, Timeline};
use perf_data::Head;

use crate::args::FileArgs;
use crate::jit::DumpReader;
use crate::stream::Shared;

/// The files of a run: how they are found, and what the user said about memory.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) library: Arc<Library>,
    /// What memory holds: the hint, the build-id of its object, where in the object it begins.
    hints: Vec<(Hint, Option<BuildId>, FileOffset)>,
    /// Unpacked archives, which are removed at the end of the run.
    _archives: Vec<Archive>,
}

impl Files {
    /// Reads the arguments; opens what they name.
    pub(crate) fn new(args: &FileArgs, head: &Head) -> anyhow::Result<Self> {
        Self::watched(args, head, None)
    }

    /// The same; downloads are told in the stream.
    pub(crate) fn watched(
        args: &FileArgs,
        head: &Head,
        watch: Option<&Shared>,
    ) -> anyhow::Result<Self> {
        let (dirs, archives) = build_id_dirs(args)?;
        let mut options = file_options(args, head, watch)?;
        options.build_id_dirs = dirs;
        let library = Arc::new(Library::new(options));
        let mut hints = Vec::new();
        for (hint, image) in open_hints(args)? {
            let offset = hint.offset.unwrap_or(FileOffset(0));
            let name = hint.object.as_os_str().as_bytes().to_vec();
            hints.push((hint, image.build_id(), offset));
            library.provide(&name, image);
        }
        Ok(Self { library, hints, _archives: archives })
    }

    /// Tells the timeline what the user said about memory. To be called before anything is replayed.
    pub(crate) fn tell(&self, timeline: &mut Timeline) {
        for (hint, build_id, offset) in &self.hints {
            timeline.hint(hint, *build_id, *offset);
        }
        timeline.read_jit_with(Box::new(DumpReader { library: self.library.clone() }));
    }
}

fn file_options(
    args: &FileArgs,
    head: &Head,
    watch: Option<&Shared>,
) -> anyhow::Result<FileOptions> {
    let debug_dirs = match args.debug_dir.as_slice() {
        [] if args.sysroot.is_empty() => vec![PathBuf::from("/usr/lib/debug")],
        [] => args.sysroot.iter().map(|root| root.join("usr/lib/debug")).collect(),
        dirs => dirs.to_vec(),
    };
    let this_host = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    let this_release = std::fs::read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let features = head.features();
    let same = |recorded: Option<&[u8]>, here: &[u8]| {
        recorded.is_some_and(|recorded| recorded == here.trim_ascii_end())
    };
    Ok(FileOptions {
        modules: args.module.clone(),
        path_map: path_map(&args.path_map)?,
        sysroots: args.sysroot.clone(),
        build_id_dirs: Vec::new(),
        debug_dirs,
        trust_running_kernel: args.sysroot.is_empty()
            && same(features.hostname, &this_host)
            && same(features.os_release, &this_release),
        kernel_release: features.os_release.map(<[u8]>::to_vec),
        fetcher: fetcher(args, watch)?,
        extra: ExtraFiles::below(&args.extra_dir),
        perf_map_dirs: args.perf_map_dir.clone(),
    })
}

#[cfg(feature = "debuginfod")]
fn fetcher(args: &FileArgs, watch: Option<&Shared>) -> anyhow::Result<Option<Fetcher>> {
    crate::debuginfod::fetcher(args, watch.cloned())
}

#[cfg(not(feature = "debuginfod"))]
fn fetcher(_args: &FileArgs, _watch: Option<&Shared>) -> anyhow::Result<Option<Fetcher>> {
    Ok(None)
}

fn path_map(args: &[String]) -> anyhow::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let pair = |text: &String| {
        let (from, to) = text
            .split_once('=')
            .filter(|(from, _)| !from.is_empty())
            .with_context(|| format!("--path-map {text}: expected FROM=TO"))?;
        Ok((from.as_bytes().to_vec(), to.as_bytes().to_vec()))
    };
    args.iter().map(pair).collect()
}

/// The build-id caches; archives among them are unpacked.
fn build_id_dirs(args: &FileArgs) -> anyhow::Result<(Vec<PathBuf>, Vec<Archive>)> {
    let mut dirs = Vec::new();
    let mut archives = Vec::new();
    for path in &args.buildid_dir {
        if path.is_dir() {
            dirs.push(path.clone());
            continue;
        }
        let archive = Archive::unpack(path, &std::env::temp_dir()).with_context(|| {
            format!("--buildid-dir {}: neither a directory nor an archive", path.display())
        })?;
        dirs.push(archive.dir().to_owned());
        archives.push(archive);
    }
    if dirs.is_empty() {
        dirs.extend(std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".debug")));
    }
    Ok((dirs, archives))
}

/// The hints of the command line and of the files that it names.
fn open_hints(args: &FileArgs) -> anyhow::Result<Vec<(Hint, Image)>> {
    let mut hints = Vec::new();
    for text in &args.map {
        hints.push(Hint::parse(text).context("--map")?);
    }
    for path in &args.map_file {
        let text = std::fs::read_to_string(path)
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
    Hint::check(&hints)?;
    hints.into_iter().map(open_hint).collect()
}

/// Opens the file of a hint. Code is copied out of the one section of a relocatable file that has some, unless the
/// hint says which.
fn open_hint(mut hint: Hint) -> anyhow::Result<(Hint, Image)> {
    let relocatable = Image::open(&hint.object)?.is_relocatable();
    let image = Image::open_for_copies(&hint.object)?;
    if relocatable && hint.offset.is_none() {
        let mut code = image.sections().iter().filter(|s| s.executable && s.has_bytes());
        let first =
            code.next().with_context(|| format!("map hint {hint}: the file has no code"))?;
        if let Some(second) = code.next() {
            let name = |section: &module_map::Section| {
                format!("{} at {:#x}", String::from_utf8_lossy(&section.name), section.offset().0)
            };
            bail!(
                "map hint {hint}: the file has several sections with code, so the hint needs an offset: {}, {}, …",
                name(first),
                name(second)
            );
        }
        hint.offset = Some(first.offset());
    }
    Ok((hint, image))
}
