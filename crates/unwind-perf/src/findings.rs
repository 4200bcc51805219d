//! The account of the run: what was lost and why, what is wrong with the input, in words for people and programs.

use address::ModuleId;
use module_map::{Module, ModuleKind, Refusal, Timeline};
use output::{FindingRow, ModuleLoss, NO_STACK, Profile};
use perf_data::{Findings, RecordCounts, RecordKind};
use unwinder::EndReason;

use crate::kernel::Kernel;

/// Fills in the losses and the findings of the summary.
pub(crate) fn account(
    profile: &mut Profile,
    counts: &RecordCounts,
    found: &Findings,
    timeline: &Timeline,
    kernel: &Kernel,
) {
    profile.summary.losses = losses(profile, timeline);
    let summary = &mut profile.summary;
    summary.samples_dropped += counts.dropped_samples;
    summary.lost_records = counts.lost_events;
    summary.lost_samples = counts.lost_samples;
    summary.throttled = counts.of(RecordKind::THROTTLE).records;
    for group in found.iter() {
        if let Some(first) = group.examples.first() {
            summary.findings.push(FindingRow {
                kind: first.kind().to_owned(),
                message: first.to_string(),
                count: group.count,
            });
        }
    }
    if timeline.unmappable() > 0 {
        summary.findings.push(FindingRow {
            kind: "empty-map".to_owned(),
            message: "map records of no length were ignored".to_owned(),
            count: timeline.unmappable(),
        });
    }
    summary.findings.extend(file_findings(timeline));
    if let Some(reason) =
        kernel.refused.as_ref().filter(|_| profile.frames.iter().any(|frame| frame.kernel))
    {
        let message = format!("no kernel names: {reason}");
        profile.summary.findings.push(FindingRow {
            kind: "kernel-names".to_owned(),
            message,
            count: 1,
        });
    }
}

/// Files that were refused or taken without proof, one finding a kind and file.
fn file_findings(timeline: &Timeline) -> Vec<FindingRow> {
    let mut rows = Vec::new();
    let mut unproven: (u64, Option<&Module>) = (0, None);
    for module in timeline.modules() {
        match module.outcome() {
            Some(Err(refusal @ Refusal::BuildId { .. })) => {
                rows.push(FindingRow {
                    kind: "build-id-mismatch".to_owned(),
                    message: refusal.to_string(),
                    count: 1,
                });
            }
            Some(Err(refusal @ Refusal::Unusable(_))) => {
                rows.push(FindingRow {
                    kind: "file-unusable".to_owned(),
                    message: refusal.to_string(),
                    count: 1,
                });
            }
            Some(Ok(_))
                if module.identity.build_id.is_none() && module.kind == ModuleKind::File =>
            {
                unproven.0 += 1;
                unproven.1.get_or_insert(module);
            }
            _ => {}
        }
    }
    if let (count, Some(first)) = unproven {
        let path = String::from_utf8_lossy(&first.path);
        rows.push(FindingRow {
            kind: "build-id-not-recorded".to_owned(),
            message: format!(
                "files were used though no build-id was recorded for them, such as {path}"
            ),
            count,
        });
    }
    rows
}

/// Samples by the module that their chain ended in before its root, where that module is to blame.
fn losses(profile: &Profile, timeline: &Timeline) -> Vec<ModuleLoss> {
    // The outermost frame of each stack node: parents come first.
    let mut outermost: Vec<u32> = Vec::with_capacity(profile.stacks.len());
    for node in &profile.stacks {
        outermost.push(outermost.get(node.parent as usize).copied().unwrap_or(node.frame));
    }
    let mut counts = hashbrown::HashMap::<(Option<ModuleId>, EndReason), u64>::new();
    for sample in &profile.samples {
        let blamed = matches!(
            sample.end,
            EndReason::NoModule
                | EndReason::NoUnwindInfo
                | EndReason::BadUnwindInfo
                | EndReason::AnonymousMemory
        );
        if blamed && sample.stack != NO_STACK {
            let frame = outermost
                .get(sample.stack as usize)
                .and_then(|&frame| profile.frames.get(frame as usize));
            let location = frame.and_then(|frame| profile.locations.get(frame.location as usize));
            *counts
                .entry((location.and_then(|location| location.module), sample.end))
                .or_default() += 1;
        }
    }
    let mut losses: Vec<ModuleLoss> = counts
        .into_iter()
        .map(|((module, end), samples)| ModuleLoss {
            module,
            samples,
            reason: reason(module, end, timeline),
        })
        .collect();
    losses.sort_by(|a, b| {
        b.samples.cmp(&a.samples).then(a.module.cmp(&b.module)).then(a.reason.cmp(&b.reason))
    });
    losses
}

fn reason(module: Option<ModuleId>, end: EndReason, timeline: &Timeline) -> String {
    let module = module.and_then(|module| timeline.modules().get(module.index()));
    match (end, module.and_then(|module| module.outcome())) {
        (EndReason::NoModule | EndReason::AnonymousMemory, Some(Err(refusal))) => {
            refusal.to_string()
        }
        (EndReason::BadUnwindInfo, _) => "its unwind information is damaged".to_owned(),
        (EndReason::NoUnwindInfo, _) => "no unwind information for this code".to_owned(),
        _ => "no file behind this memory".to_owned(),
    }
}
