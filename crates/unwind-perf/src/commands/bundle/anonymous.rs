//! An anonymous host for `--anonymize`: the recording with pseudonyms and without stacks,
//! and image files that contain only the names of functions.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use bundle::{AnonymousMachine, Differences, KERNEL_LIST, Pseudonyms, RECORDING, differences};
use hashbrown::{HashMap, HashSet};
use host::{Host, RecordedFile};
use image_store::{FileProof, Image};
use module_map::{Inode, Module};
use pipeline::{
    Analysis, Demangle, FileSearch, NameOptions, Observer, Options, ResolvedSource, Source,
};
use profile::Profile;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::args::{pipeline_on, source, with_argument};
use crate::commands::callchains::{ChainForm, rewritten};
use crate::terminal::print_note;

/// A host without private names, and the recording on it.
pub(super) struct Anonymous {
    /// The anonymous host.
    pub(super) host: Arc<dyn Host>,
    /// Options that find the files on that host.
    pub(super) options: Options,
    /// Differences from the profile with the original names.
    differences: Differences,
    samples: usize,
}

impl Anonymous {
    /// Unwinds the recording and builds the anonymous host from the result. The salt of the pseudonyms is then
    /// discarded.
    ///
    /// # Errors
    /// If the recording cannot be read or rewritten.
    pub(super) fn new(
        packed: &ResolvedSource,
        observer: &Arc<dyn Observer>,
    ) -> anyhow::Result<Self> {
        let (input, options) = (packed.source.name(), &packed.options);
        let analyze = |options: &Options| {
            let analysis = packed.pipeline.analyze(source(input), options, observer);
            analysis.map_err(with_argument)
        };
        let shown = analyze(options)?;
        let as_in_files = NameOptions { demangle: Some(Demangle::None), ..options.names.clone() };
        let raw = analyze(&Options { names: as_in_files, ..options.clone() })?.profile;
        let names = Pseudonyms::new(salt()?);
        let form = ChainForm::Own { names: Some(&names), with_arguments: false };
        let recording =
            rewritten(&packed.pipeline, input, &shown.profile, options, observer, form)?;
        let images = images(&shown);
        let modules = shown.modules().iter();
        let identities: Vec<_> = modules.map(|it| recorded_file(it, shown.proof(it))).collect();
        let mut as_shown = HashSet::new();
        loop {
            let reference = recording.kernel_reference.as_ref();
            let machine = AnonymousMachine {
                shown: &shown.profile,
                raw: &raw,
                names: &names,
                as_shown: &as_shown,
                kernel_reference: reference.map(|(symbol, at)| (&**symbol, *at)),
                identities: &identities,
                written: shown.written,
            };
            let (host, has_list) =
                machine.host(&recording.bytes, &|path| images.get(path).cloned());
            let host: Arc<dyn Host> = Arc::new(host);
            let kallsyms = has_list.then(|| KERNEL_LIST.into());
            let files = FileSearch { kallsyms, ..FileSearch::default() };
            let there = Options { files, ..Options::default() };
            let replayed = replay(&host, &there, observer)?;
            let found = differences(&shown.profile, &raw, &names, &replayed);
            let more: Vec<_> = found.functions.difference(&as_shown).cloned().collect();
            if more.is_empty() || !as_shown.is_empty() {
                let samples = shown.profile.samples.len();
                return Ok(Self { host, options: there, differences: found, samples });
            }
            // The language of these names is known only from their own file.
            as_shown.extend(more);
        }
    }

    /// Prints which data the bundle omits and which it contains. Returns true if it gives the same result as the
    /// recording.
    pub(super) fn account(&self, quiet: bool) -> bool {
        let Self { differences, samples, .. } = self;
        if differences.samples > 0 {
            print_note(&format!(
                "{} of {samples} samples have other frames or names than without --anonymize",
                differences.samples
            ));
        } else if !quiet {
            print_note(
                "names of the host, paths, threads and arguments are pseudonyms, and stacks are omitted; function names, build-ids, addresses, times and process ids are as recorded",
            );
        }
        differences.samples == 0
    }
}

/// Returns the identity of the file that replaces that of a module. A proven identity stays proven.
fn recorded_file(module: &Module, proof: Option<FileProof>) -> Option<RecordedFile> {
    let Inode { major, minor, number, generation } = module.identity.inode?;
    let generation = Some(generation).filter(|&generation| generation != 0);
    let file = RecordedFile::unchanged(major, minor, number, generation);
    Some(RecordedFile { is_unique: proof != Some(FileProof::None), ..file })
}

/// Returns random bytes for pseudonyms, so that they cannot be looked up.
fn salt() -> anyhow::Result<[u8; 32]> {
    let mut salt = [0; 32];
    // `getrandom` returns requests of up to 256 bytes completely.
    getrandom(&mut salt, GetRandomFlags::empty()).context("the system gives no random bytes")?;
    Ok(salt)
}

/// Returns the files of the recorded host by the path at which they were opened; code of run-time compilers has none.
fn images(analysis: &Analysis) -> HashMap<Vec<u8>, Image> {
    let host = &**analysis.host();
    let opened = analysis.modules().iter().filter_map(|module| analysis.image(module));
    let files = opened.filter_map(|image| Image::open(host, image.path(), image.origin()).ok());
    let path = |image: &Image| image.path().as_os_str().as_bytes().to_vec();
    let mut images: HashMap<_, _> = files.map(|image| (path(&image), image)).collect();
    let vdso = Path::new("[vdso]");
    let running = analysis.host().running_vdso();
    if let Some(image) = running.and_then(|bytes| Image::from_vec(vdso, bytes).ok()) {
        images.insert(path(&image), image);
    }
    images
}

fn replay(
    host: &Arc<dyn Host>,
    options: &Options,
    observer: &Arc<dyn Observer>,
) -> anyhow::Result<Profile> {
    let source = Source::Path(RECORDING.into());
    let analysis = pipeline_on(Arc::clone(host)).analyze(source, options, observer);
    Ok(analysis.map_err(with_argument)?.profile)
}
