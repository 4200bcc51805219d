//! The result of a run, and its assembly at the end of the run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use address::{BuildId, ModuleId};
use host::Host;
use image_store::{FileProof, Image};
use module_map::{Module, Timeline};
use options::{FileSearch, Spelling};
use perf_data::{Findings, Head, Session, Severity};
use profile::Profile;
use replay::{ListedFunction, MissedMaps, VariableError, list_function};
use unwinder::Engine;

use super::account::findings;
use super::assemble::guess_wall_clock;
use super::run::RecordingFile;
use crate::analysis_sources::{AnalysisSources, RunSources};
use crate::files::{Files, SourceFiles};
use crate::names::NameReport;
use crate::rejected_samples::RejectedSamples;
use crate::timings::Timings;

/// The result of a run.
#[derive(Debug)]
pub struct Analysis {
    /// The profile.
    pub profile: Profile,
    /// True if something is lost because the recording, or a file with names, is damaged or missing. The findings in
    /// the profile's summary describe it.
    pub is_damaged: bool,
    /// Damage of the recording's bytes. The profile's summary has it as text.
    pub findings: Findings,
    /// The recording's header; `None` for a recalled profile, whose recording was not read.
    pub head: Option<Arc<Head>>,
    /// Description of the samples that the filter rejected, to choose from if none passed.
    pub rejected: RejectedSamples,
    /// Time spent, by stage.
    pub timings: Timings,
    /// Modification time of the recording, in nanoseconds since 1970; `None` if it is not a file.
    pub written: Option<i128>,
    /// The reason that names and rules could not be cached for the next run, although the options request it. It is not
    /// a finding, because the result is complete.
    pub not_kept: Option<String>,
    /// True if a later run on the same boot may find other names of the kernel.
    pub(crate) kernel_may_change: bool,
    /// True if the recording is in a bundle, which replaces the host.
    pub is_of_bundle: bool,
    pub(crate) sources: AnalysisSources,
}

impl Analysis {
    /// Returns true if this is the result of an earlier run.
    #[must_use]
    pub const fn is_recalled(&self) -> bool {
        self.head.is_none()
    }

    /// Returns the files that were opened for modules, as path and the build-id in the file.
    pub fn opened_files(&self) -> impl Iterator<Item = (&Path, Option<BuildId>)> {
        let opened = self.modules().iter().filter_map(|module| self.sources.file(module));
        opened.map(|file| (file.image().path(), file.image().build_id()))
    }

    /// Lists the variables of a function: by the path of each sampled file with debug information its instances.
    ///
    /// # Errors
    /// For a file without such a function, the names that are similar.
    pub fn function_variables(
        &self,
        name: &str,
    ) -> Vec<(PathBuf, Result<Vec<ListedFunction>, VariableError>)> {
        let Some(images) = self.sources.images() else { return Vec::new() };
        let mut sampled: Vec<ModuleId> =
            self.profile.locations.iter().filter_map(|location| location.module).collect();
        sampled.sort_unstable();
        sampled.dedup();
        let mut listed = Vec::new();
        let mut serials = Vec::new();
        for id in sampled {
            let module = self.sources.module(id);
            let Some(image) = module.and_then(|it| self.sources.file(it)) else { continue };
            // Several modules can have one file.
            if serials.contains(&image.serial) {
                continue;
            }
            serials.push(image.serial);
            if let Some(found) = list_function(image, images, name) {
                listed.push((image.image().path().to_owned(), found));
            }
        }
        listed
    }

    /// Returns the proof that the file of a module is the recorded one; `None` if no file was used.
    #[must_use]
    pub fn proof(&self, module: &Module) -> Option<FileProof> {
        self.sources.file(module)?;
        self.sources.images()?.proof(module)
    }

    /// Returns the file that was opened for a module; `None` if no file was used.
    #[must_use]
    pub fn image(&self, module: &Module) -> Option<&Image> {
        Some(self.sources.file(module)?.image())
    }

    /// Returns the modules as recorded, with the same ids as in the profile. Those of a recalled profile are the ones
    /// whose file the run opened.
    #[must_use]
    pub fn modules(&self) -> &[Arc<Module>] {
        self.sources.modules()
    }

    /// Returns true if the recording is of the running system: host name and kernel are equal, and no option names
    /// another root.
    #[must_use]
    pub fn is_of_this_machine(&self) -> bool {
        !self.is_of_bundle && self.sources.is_of_this_machine()
    }

    /// The machine that answered: the one of the pipeline, or the bundle that the recording is in.
    #[must_use]
    pub fn host(&self) -> &Arc<dyn Host> {
        self.sources.host()
    }

    /// Returns the source files of the recording, found by the options of its run. `local` is the user's host, for a
    /// recording in a bundle.
    #[must_use]
    pub fn source_files<'a>(
        &'a self,
        files: &'a FileSearch,
        local: &'a dyn Host,
    ) -> SourceFiles<'a> {
        let host = &**self.host();
        if self.is_of_bundle {
            SourceFiles::of_bundle(files, host, local)
        } else {
            SourceFiles::new(files, host)
        }
    }
}

/// A run at its end: all samples are walked and all addresses are looked up.
pub(super) struct FinishedRun {
    pub(super) session: Session,
    pub(super) found: Findings,
    pub(super) files: Arc<Files>,
    pub(super) timeline: Timeline,
    pub(super) missed_maps: MissedMaps,
    pub(super) left_out: replay::RejectedSamples,
    pub(super) engine: Arc<Engine>,
    pub(super) report: NameReport,
    pub(super) file: RecordingFile,
}

impl FinishedRun {
    /// Adds the account of the run to its profile.
    pub(super) fn into_analysis(
        self,
        mut profile: Profile,
        mut timings: Timings,
        spelling: Spelling,
    ) -> Analysis {
        let Self { session, found, files, mut timeline, left_out, engine, report, file, .. } = self;
        let MissedMaps { late, shared } = self.missed_maps;
        let recorded_until = file.written;
        profile.recording.name = file.name;
        guess_wall_clock(&mut profile, recorded_until);
        let rejected = RejectedSamples::new(&left_out, &timeline, session.head().events());
        let images = &files.images;
        let counts = session.counts();
        findings::account(&mut profile, counts, &found, &mut timeline, images, &report, spelling);
        profile.summary.findings.extend(findings::late_maps(late));
        profile.summary.findings.extend(findings::shared_memory(&shared, &timeline));
        let mut limits = findings::limits(&timeline, &engine);
        limits.extend(findings::too_many_names(&profile));
        limits.extend(findings::inconsistent(&engine));
        limits.extend(findings::unknown_instructions(&engine));
        profile.summary.names_lost |= !limits.is_empty();
        profile.summary.findings.extend(limits);
        // The names are complete; only some formats truncate them.
        profile.summary.findings.extend(findings::long_texts(&profile));
        timings.symbols = report.timings;
        timings.images = images.n_images();
        let is_damaged = found.severity() == Some(Severity::Damage) || profile.summary.names_lost;
        let head = Some(session.head().clone());
        let _session = Mutex::new(session);
        let sources = AnalysisSources::Run(Box::new(RunSources { timeline, files, _session }));
        let (written, not_kept) = (recorded_until, report.not_kept);
        let kernel_may_change = report.kernel_may_change;
        Analysis {
            profile,
            is_damaged,
            findings: found,
            head,
            rejected,
            timings,
            written,
            not_kept,
            kernel_may_change,
            is_of_bundle: false,
            sources,
        }
    }
}
