//! What came of a recording, and how a run is put into it at its end.

use std::path::Path;
use std::sync::{Arc, Mutex};

use address::BuildId;
use host::Host;
use image_store::FileProof;
use module_map::{Module, Timeline};
use options::Spelling;
use perf_data::{Findings, Head, Session, Severity};
use profile::Profile;
use replay::MissedMaps;
use unwinder::Engine;

use super::account::findings;
use super::assemble::guess_wall_clock;
use super::run::RecordingFile;
use crate::files::Files;
use crate::left_out::LeftOut;
use crate::names::NameReport;
use crate::timings::Timings;

/// What came of a recording.
#[derive(Debug)]
pub struct Analysis {
    /// The profile.
    pub profile: Profile,
    /// Whether something is lost because the recording, or a file with names, is damaged or not at hand: what, is in the
    /// findings of the profile's summary.
    pub is_damaged: bool,
    /// What is wrong with the recording's bytes. It is in the profile's summary, too, in words.
    pub findings: Findings,
    /// What the recording's header says.
    pub head: Arc<Head>,
    /// What the samples were of that the filter left out; where nothing passed it, that is what there is to choose from.
    pub left_out: LeftOut,
    /// Where the time went.
    pub timings: Timings,
    /// When the recording was written last, in nanoseconds since 1970; `None` where it is no file.
    pub written: Option<i128>,
    /// Why names and rules could not be kept for the next run, though the options ask for that. No finding: what came out is whole.
    pub not_kept: Option<String>,
    /// Whether the recording is in a bundle, which stands for the machine.
    pub is_of_bundle: bool,
    /// What the profile was made from. It takes time to take it apart, which a process that ends need not do.
    pub(crate) sources: Box<AnalysisSources>,
}

impl Analysis {
    /// The files that were opened for modules: path, and the build-id that is in the file.
    pub fn opened_files(&self) -> impl Iterator<Item = (&Path, Option<BuildId>)> {
        let images = &self.sources.files.images;
        let opened = self.modules().iter().filter_map(|module| images.outcome(module)?.ok());
        opened.map(|file| (file.image().path(), file.image().build_id()))
    }

    /// The proof that the file of a module is the recorded one; `None` if no file was used.
    #[must_use]
    pub fn proof(&self, module: &Module) -> Option<FileProof> {
        self.sources.files.images.proof(module)
    }

    /// The modules as they were recorded; those of the profile have the same ids.
    #[must_use]
    pub fn modules(&self) -> &[Arc<Module>] {
        self.sources.timeline.modules()
    }

    /// Returns true if the recording is of the running system: host name and kernel are equal, and no option names
    /// another root.
    #[must_use]
    pub fn is_of_this_machine(&self) -> bool {
        !self.is_of_bundle && self.sources.files.images.options().trust_running_kernel
    }

    /// The machine that answered: the one of the pipeline, or the bundle that the recording is in.
    #[must_use]
    pub fn host(&self) -> &Arc<dyn Host> {
        &self.sources.files.images.options().host
    }
}

/// What a profile was made from.
#[derive(Debug)]
pub(crate) struct AnalysisSources {
    pub(crate) timeline: Timeline,
    pub(crate) files: Files,
    /// The input's bytes, to which the timeline and the files may refer. Nobody reads on; the lock lets threads share the
    /// rest.
    _session: Mutex<Session>,
}

/// A run at its end: all samples are walked, all addresses have their names.
pub(super) struct Ended {
    pub(super) session: Session,
    pub(super) found: Findings,
    pub(super) files: Files,
    pub(super) timeline: Timeline,
    pub(super) missed_maps: MissedMaps,
    pub(super) left_out: replay::LeftOut,
    pub(super) engine: Arc<Engine>,
    pub(super) report: NameReport,
    pub(super) file: RecordingFile,
}

impl Ended {
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
        let left_out = LeftOut::new(&left_out, &timeline, session.head().events());
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
        // Names are there; some formats cut them.
        profile.summary.findings.extend(findings::long_texts(&profile));
        timings.symbols = report.timings;
        timings.images = images.n_images();
        let is_damaged = found.severity() == Some(Severity::Damage) || profile.summary.names_lost;
        let head = session.head().clone();
        let sources = Box::new(AnalysisSources { timeline, files, _session: Mutex::new(session) });
        let (written, not_kept) = (recorded_until, report.not_kept);
        Analysis {
            profile,
            is_damaged,
            findings: found,
            head,
            left_out,
            timings,
            written,
            not_kept,
            is_of_bundle: false,
            sources,
        }
    }
}
