//! The account of a run: its losses and their causes, and the damage of its input, as text and as finding kinds.

use address::{ById as _, take_dangling};
use std::path::PathBuf;

use image_store::{FileFinding, ImageStore};
use module_map::Timeline;
use options::{Remedy, Spelling};
use perf_data::{Findings, RecordCounts, RecordKind};
use profile::{Advice, EventId, EventLoss, FindingRow, Profile, Summary};
use replay::SharedMemory;
use unwinder::Engine;

use super::identity::{has_damaged, refused, unverified};
use super::losses::losses;
use super::nameless::nameless;
use crate::names::NameReport;

/// Stores the losses and findings in the summary.
pub(crate) fn account(
    profile: &mut Profile,
    counts: &RecordCounts,
    found: &Findings,
    timeline: &mut Timeline,
    images: &ImageStore,
    names: &NameReport,
    spelling: Spelling,
) {
    let shown = (&*profile, &*timeline);
    let (losses, nameless) = rayon::join(
        || losses(shown.0, shown.1, images, spelling),
        || names.looked_up.then(|| nameless(shown.0, names, shown.1, images, spelling)),
    );
    profile.summary.losses = losses;
    if let Some(nameless) = nameless {
        profile.summary.nameless = nameless;
    }
    let summary = &mut profile.summary;
    add_counts(summary, counts);
    for group in found.iter() {
        if let Some(first) = group.examples.first() {
            summary.findings.push(FindingRow {
                kind: first.kind().to_owned(),
                message: first.to_string(),
                count: group.count,
                help: None,
            });
        }
    }
    if timeline.unmappable() > 0 {
        summary.findings.push(FindingRow {
            kind: "empty-map".to_owned(),
            message: "map records of length 0 were ignored".to_owned(),
            count: timeline.unmappable(),
            help: None,
        });
    }
    summary.findings.extend(refused(timeline, images));
    let files_damaged = has_damaged(timeline, images);
    summary.findings.extend(unverified(timeline, images));
    summary.findings.extend(parents_in_paths(timeline));
    let of_files = images.findings();
    let files_lost = of_files.iter().any(|finding| finding.kind.is_damage());
    summary.findings.extend(of_files.into_iter().map(|finding| file_row(finding, spelling)));
    summary.findings.extend(inferred(timeline));
    summary.findings.extend(moved_before(images));
    let hints = hints_to_give(profile, timeline, spelling);
    profile.summary.findings.extend(hints);
    profile.summary.findings.extend(kernel_identity(names));
    profile.summary.names_lost |= names.lost.has_damage() || files_lost || files_damaged;
    profile.summary.findings.extend(lost_rows(names));
    if let Some(row) = kernel_names(names, spelling).filter(|_| has_nameless_kernel(profile)) {
        profile.summary.names_lost |= names.kernel_damaged;
        profile.summary.findings.push(row);
    }
    profile.summary.findings.extend(dangling_ids());
}

/// Stores the findings on files and names of stacks that come from no recording.
pub(crate) fn account_of_files(
    profile: &mut Profile,
    timeline: &Timeline,
    images: &ImageStore,
    names: &NameReport,
    spelling: Spelling,
) {
    let mut findings = refused(timeline, images);
    let of_files = images.findings();
    let files_lost = of_files.iter().any(|finding| finding.kind.is_damage());
    findings.extend(of_files.into_iter().map(|finding| file_row(finding, spelling)));
    findings.extend(lost_rows(names));
    let kernel = kernel_names(names, spelling).filter(|_| has_nameless_kernel(profile));
    let kernel_lost = kernel.is_some() && names.kernel_damaged;
    findings.extend(kernel);
    findings.extend(dangling_ids());
    let has_damaged = has_damaged(timeline, images);
    profile.summary.names_lost |=
        names.lost.has_damage() || files_lost || has_damaged || kernel_lost;
    profile.summary.findings.extend(findings);
}

/// Converts a finding about a file.
fn file_row(finding: FileFinding, spelling: Spelling) -> FindingRow {
    FindingRow {
        kind: finding.kind.as_str().to_owned(),
        message: finding.message,
        count: finding.count,
        help: finding.kind.remedy().map(|it| Advice::new(&it, spelling)),
    }
}

/// Returns findings on names that files lack.
fn lost_rows(names: &NameReport) -> impl Iterator<Item = FindingRow> {
    names.lost.rows().into_iter().map(|row| FindingRow {
        kind: row.kind.to_owned(),
        message: row.message,
        count: row.count,
        help: None,
    })
}

/// Returns internal errors since the last call: the program's own ids that named no row.
pub fn dangling_ids() -> impl Iterator<Item = FindingRow> {
    take_dangling().into_iter().map(|(id, count)| FindingRow {
        kind: "dangling-id".to_owned(),
        message: format!("a {id} is out of range; this is a bug in unwind-perf, please report it"),
        count,
        help: None,
    })
}

/// Returns the finding on missing kernel names.
fn kernel_names(names: &NameReport, spelling: Spelling) -> Option<FindingRow> {
    let reason = names.kernel_refused.as_ref()?;
    Some(FindingRow {
        kind: "kernel-names".to_owned(),
        message: format!("kernel functions have no names: {reason}"),
        count: 1,
        help: names.kernel_help().map(|it| Advice::new(it, spelling)),
    })
}

/// Adds the losses that the recording itself reports.
fn add_counts(summary: &mut Summary, counts: &RecordCounts) {
    summary.samples_dropped += counts.dropped_samples;
    summary.lost_records = counts.lost_events;
    summary.lost_by_event = lost_by_event(counts);
    // If no record reports lost samples, the event counters may.
    let counted =
        summary.lost_by_event.iter().fold(0_u64, |sum, it| sum.saturating_add(it.samples));
    summary.lost_samples = counts.lost_samples.max(counted);
    summary.throttled = counts.of(RecordKind::THROTTLE).records;
}

/// Returns findings on the way that the recorded kernel was identified.
fn kernel_identity(names: &NameReport) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    if !names.shared_ids.is_empty() {
        rows.push(FindingRow {
            kind: "kernel-module-ids".to_owned(),
            message: "several kernel modules have the same recorded build-id, which was ignored"
                .to_owned(),
            count: names.shared_ids.len() as u64,
            help: None,
        });
    }
    if names.kernel_by_release {
        rows.push(FindingRow {
            kind: "kernel-by-release".to_owned(),
            message: "the recording has no build-id of its kernel; host, release and address match the running kernel, so its \
                      names are from /proc/kallsyms"
                .to_owned(),
            count: 1, help: None, });
    }
    rows
}

/// Returns the losses by event. Lost samples are reported by records, by the last values of the counters, or by both.
fn lost_by_event(counts: &RecordCounts) -> Vec<EventLoss> {
    let losses = (0..).zip(counts.losses.by_event()).map(|(event, it)| EventLoss {
        event: EventId::new(event),
        samples: it.samples.max(it.counted),
        records: it.records,
    });
    losses.filter(|loss| loss.samples > 0 || loss.records > 0).collect()
}

/// Returns true if a kernel frame has no name.
fn has_nameless_kernel(profile: &Profile) -> bool {
    profile.frames.iter().filter(|frame| frame.kernel).any(|frame| {
        let location = profile.locations.get(frame.location);
        location.is_none_or(|location| location.n_inlines == 0)
    })
}

/// Returns the finding on samples with a chain through a mapping that was recorded shortly after them.
pub(crate) fn late_maps(samples: u64) -> Option<FindingRow> {
    (samples > 0).then(|| FindingRow {
        kind: "late-map".to_owned(),
        message: "samples needed a mapping whose record came up to 10 ms later; it was used"
            .to_owned(),
        count: samples,
        help: None,
    })
}

/// Returns the finding on samples in code that was mapped by another process with the same memory.
pub(crate) fn shared_memory(shared: &SharedMemory, timeline: &Timeline) -> Option<FindingRow> {
    let (pid, mapped_by, module) = shared.first?;
    let path = &timeline.modules().by_id(module)?.path;
    Some(FindingRow {
        kind: "shared-memory".to_owned(),
        message: format!(
            "samples were in memory without code in their process; the code that a related process mapped there was used, as if they shared memory: process {pid} ran {} of process {mapped_by}",
            String::from_utf8_lossy(path),
        ),
        count: shared.samples,
        help: None,
    })
}

/// Returns findings on files that exceeded the limits for their size; the rest of them was skipped.
pub(crate) fn limits(timeline: &Timeline, engine: &Engine) -> Vec<FindingRow> {
    let row = |message: String, count| FindingRow {
        kind: "limit-reached".to_owned(),
        message,
        count,
        help: None,
    };
    let mut rows: Vec<_> = engine
        .exhausted()
        .into_iter()
        .map(|(path, exhausted)| {
            row(format!("{}: {exhausted}; stacks end in it", path.display()), 1)
        })
        .collect();
    rows.sort_by(|a, b| a.message.cmp(&b.message));
    rows.extend(timeline.jit_exhausted().map(|(exhausted, count)| {
        row(format!("{exhausted} in jitdump files; further names of them were not read"), count)
    }));
    rows
}

/// Returns findings on files that contradict themselves, so that neither their stacks nor their names are reliable.
pub(crate) fn inconsistent(engine: &Engine) -> Vec<FindingRow> {
    let mut rows: Vec<_> = engine
        .contradictions()
        .into_iter()
        .map(|(path, contradiction)| FindingRow {
            kind: "file-inconsistent".to_owned(),
            message: format!(
                "{}: {contradiction}; the file is damaged, replace it by an intact copy of the same build",
                path.display()
            ),
            count: 1, help: None, })
        .collect();
    rows.sort_by(|a, b| a.message.cmp(&b.message));
    rows
}

/// Returns findings on files with unknown call frame instructions.
pub(crate) fn unknown_instructions(engine: &Engine) -> Vec<FindingRow> {
    let row = |(path, unknown): (PathBuf, Vec<u8>)| {
        let unknown: Vec<_> = unknown.iter().map(|one| format!("{one:#04x}")).collect();
        FindingRow {
            kind: "unwind-instruction-unknown".to_owned(),
            message: format!(
                "{}: its unwind information has unknown instructions ({}); chains end there with `bad-unwind-info` unless the code proves a caller",
                path.display(),
                unknown.join(", ")
            ),
            count: 1,
            help: None,
        }
    };
    let mut rows: Vec<_> = engine.unknown_instructions().into_iter().map(row).collect();
    rows.sort_by(|a, b| a.message.cmp(&b.message));
    rows
}

/// Returns the finding on names and paths that are truncated in formats that repeat them for each frame.
pub(crate) fn long_texts(profile: &Profile) -> Option<FindingRow> {
    let count = profile.strings.long();
    (count > 0).then(|| FindingRow {
        kind: "long-text".to_owned(),
        message: "names or paths are longer than 4,096 bytes; formats that repeat them per frame truncate them, formats with tables (json, pprof) have up to 64 KiB".to_owned(),
        count, help: None, })
}

/// Returns the finding on names that did not fit into the string table.
pub(crate) fn too_many_names(profile: &Profile) -> Option<FindingRow> {
    let count = profile.strings.omitted();
    (count > 0).then(|| FindingRow {
        kind: "limit-reached".to_owned(),
        message: "names and paths exceed 4 GiB; later ones were omitted".to_owned(),
        count,
        help: None,
    })
}

/// Returns the finding on memory without a file that was taken for the file mapped there before.
fn inferred(timeline: &Timeline) -> Option<FindingRow> {
    let first = timeline.inferences().first()?;
    let module = timeline.modules().by_id(first.module)?;
    Some(FindingRow {
        kind: "inferred-file".to_owned(),
        message: format!(
            "code in memory without a file was attributed to the file that was mapped there before, such as {:#x}-{:#x} of process {} for {}",
            first.start.0,
            first.end.0,
            first.pid,
            String::from_utf8_lossy(&module.path),
        ),
        count: timeline.inferences().len() as u64,
        help: None,
    })
}

/// Returns the finding on memory without a file that was taken for the surrounding file.
fn moved_before(images: &ImageStore) -> Option<FindingRow> {
    let moved = images.remapped_texts();
    let first = moved.first()?;
    Some(FindingRow {
        kind: "inferred-file".to_owned(),
        message: format!(
            "code in memory without a file was attributed to the file whose code belongs exactly there, such as {:#x}-{:#x} of process {} for {}",
            first.start.0,
            first.end.0,
            first.pid,
            String::from_utf8_lossy(&first.path),
        ),
        count: moved.len() as u64,
        help: None,
    })
}

/// Limit on the reported ranges of memory without a file, those with most nameless locations first.
const HINTS: usize = 5;

/// Returns findings on executable memory without a file that has nameless frames, with a map hint to complete.
fn hints_to_give(
    profile: &Profile,
    timeline: &mut Timeline,
    spelling: Spelling,
) -> Vec<FindingRow> {
    let mut nameless = Vec::new();
    for location in profile.locations.iter().filter(|location| location.n_inlines == 0) {
        let module = location.module.and_then(|module| timeline.modules().by_id(module));
        nameless.extend(module.and_then(|module| Some((module.owner?, location.relative))));
    }
    let mut counts = std::collections::BTreeMap::<_, u64>::new();
    for (pid, address) in nameless {
        let space = timeline.space(pid).0;
        if let Some(mapping) = space.lookup(address::Avma(address)) {
            *counts.entry((pid, mapping.start, mapping.end)).or_default() += 1;
        }
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let row = |((pid, start, end), count): ((address::Pid, address::Avma, address::Avma), u64)| {
        let len = end.since(start);
        FindingRow {
            kind: "memory-without-file".to_owned(),
            message: format!(
                "process {pid} ran unnamed code without a file at {:#x}-{:#x}",
                start.0, end.0
            ),
            count,
            help: Some(Advice::new(&Remedy::MemoryRange { pid, start, len }, spelling)),
        }
    };
    rows.into_iter().take(HINTS).map(row).collect()
}

/// Returns the finding on recorded paths with `..`. The kernel writes none, but a path that is crafted to leave a
/// folder has some.
fn parents_in_paths(timeline: &Timeline) -> Option<FindingRow> {
    let has_parent = |path: &[u8]| path.split(|&byte| byte == b'/').any(|name| name == b"..");
    let mut found = timeline.modules().iter().filter(|module| has_parent(&module.path));
    let first = found.next()?;
    Some(FindingRow {
        kind: "path-with-parent".to_owned(),
        message: format!(
            "recorded paths contain `..`, which no kernel writes, such as {}; they were resolved inside the sysroot or folder",
            String::from_utf8_lossy(&first.path)
        ),
        count: 1 + found.count() as u64,
        help: None,
    })
}
