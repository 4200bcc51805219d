//! Recordings without stack copies: each sample has a callchain instead, in the form that recorders write.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use address::Avma;
use anyhow::{Context as _, bail};
use bundle::{FinishedChain, Pseudonyms, Rewriter};
use hashbrown::HashMap;
use host::Origin;
use perf_data::{ChainEvidenceWriter, Findings, FrameRun, RawBody, Severity, visit_records};
use pipeline::{MapReplay, Observer, Options, Pipeline};
use profile::{EndReason, FoundBy, Profile, SampleId, SampleRow};

use crate::args::{source, with_argument};
use crate::terminal::print_note;

/// Form of the callchains that replace stacks.
#[derive(Clone, Copy, Debug)]
pub(super) enum ChainForm<'n> {
    /// Own frames of the sample, as a recorder would have unwound them. Finished callchains stay.
    Own {
        /// Pseudonyms of names, if there are any.
        names: Option<&'n Pseudonyms>,
        /// True if the recorded program's arguments stay.
        with_arguments: bool,
    },
    /// All frames, with their evidence.
    Finished,
}

/// A rewritten recording.
pub(super) struct Rewritten {
    /// The recording as a plain little-endian file.
    pub(super) bytes: Vec<u8>,
    /// A kernel symbol and its recorded address.
    pub(super) kernel_reference: Option<(Vec<u8>, Avma)>,
}

/// Rewrites a recording with callchains instead of stacks and registers. `profile` is the result of the recording,
/// `pipeline` that of its host.
///
/// # Errors
/// If the recording is damaged, or has a form that cannot be rewritten.
pub(super) fn rewritten(
    pipeline: &Pipeline,
    input: &Path,
    profile: &Profile,
    options: &Options,
    observer: &Arc<dyn Observer>,
    form: ChainForm<'_>,
) -> anyhow::Result<Rewritten> {
    let maps = pipeline.maps(source(input), options, observer);
    let mut maps = maps.map_err(with_argument)?;
    let rows = rows_by_position(profile, &mut maps)?;
    let kernel_reference = maps.timeline.kernel_reference();
    let kernel_reference = kernel_reference.map(|(symbol, at)| (symbol.to_vec(), at));
    let (recording, watch) = pipeline.open(source(input))?;
    let one_file = !pipeline.host().is_dir(input, Origin::User);
    let (mut rewriter, is_finished) = match form {
        ChainForm::Own { names, with_arguments } => {
            let rewriter = Rewriter::new(names, one_file);
            let rewriter = if with_arguments { rewriter } else { rewriter.without_arguments() };
            (rewriter, maps.head().chain_evidence().is_some())
        }
        ChainForm::Finished => (Rewriter::unwound(one_file), true),
    };
    let mut evidence = is_finished.then(evidence_writer);
    let (mut findings, mut failed) = (Findings::default(), None);
    let visited = visit_records(recording, &mut findings, &mut |head, record| {
        let row = match &record.body {
            RawBody::Sample(_) => rows.get(&record.position),
            _ => None,
        };
        let chain = match (row.and_then(|&row| profile.samples.get(row)), &mut evidence) {
            (Some(row), None) => own_chain(profile, row),
            (Some(row), Some(evidence)) => {
                let FinishedChain { addresses, end, runs } = finished_chain(profile, row);
                evidence.add(rewriter.data_len(), end, &runs);
                addresses
            }
            (None, _) => Vec::new(),
        };
        match rewriter.take_in(head, record, &chain) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    watch.check()?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    if findings.severity() == Some(Severity::Damage) {
        bail!("it is damaged");
    }
    for (kind, count) in rewriter.omitted() {
        print_note(&format!("{count} records {kind} are not written"));
    }
    Ok(Rewritten { bytes: rewriter.finish_with(&visited.head, evidence)?, kernel_reference })
}

/// Returns the sample of each position in the recording. Replays the maps to their end.
fn rows_by_position(
    profile: &Profile,
    maps: &mut MapReplay,
) -> anyhow::Result<HashMap<u64, SampleId>> {
    let mut rows = HashMap::new();
    let mut next = 0;
    while let Some(batch) = maps.next_batch() {
        for record in batch.records() {
            maps.apply(&record);
        }
        for sample in batch.samples() {
            let row = SampleId::new(next);
            let time = profile.samples.get(row).map(|it| it.time().unwrap_or_default());
            if time != Some(sample.time) {
                bail!("its samples cannot be distinguished");
            }
            rows.insert(sample.position, row);
            next += 1;
        }
    }
    maps.check_whole().context("its maps")?;
    if next as usize != profile.samples.len() {
        bail!("its samples cannot be distinguished");
    }
    Ok(rows)
}

/// Returns the user part of a sample's callchain in the recorder's form: the address of the innermost frame, then
/// return addresses, each one above the looked-up address. Stops before frames that come from other samples.
fn own_chain(profile: &Profile, sample: &SampleRow) -> Vec<u64> {
    let mut words = Vec::new();
    for (frame, address) in user_frames(profile, sample) {
        if matches!(frame, FoundBy::Joined | FoundBy::Gap) {
            break;
        }
        // Tail-call frames have no return address; a replay finds them in the code.
        if matches!(frame, FoundBy::TailCall | FoundBy::TailCalls) {
            continue;
        }
        words.push(if words.is_empty() { address } else { address.wrapping_add(1) });
    }
    words
}

/// Begins a section of evidence whose indexes are those of the tables of keywords.
pub(super) fn evidence_writer() -> ChainEvidenceWriter {
    let ends = EndReason::ALL.iter().map(|end| end.as_str());
    ChainEvidenceWriter::new(ends, FoundBy::ALL.iter().map(|found_by| found_by.as_str()))
}

/// Returns the looked-up addresses of all user frames, innermost first, and the evidence for the frames.
pub(super) fn finished_chain(profile: &Profile, sample: &SampleRow) -> FinishedChain {
    let (mut addresses, mut runs): (Vec<u64>, Vec<FrameRun>) = Default::default();
    let nodes = std::iter::successors(sample.stack, |&node| {
        profile.stacks.get(node)?.parent.filter(|&parent| parent < node)
    });
    for id in nodes.filter_map(|node| profile.stacks.get(node)).map(|row| row.frame) {
        let Some(frame) = profile.frames.get(id).filter(|frame| !frame.kernel) else { continue };
        let address = profile.frame_address(sample, id);
        let has_address = !frame.found_by.is_gap() && address.is_some();
        addresses.extend(address.filter(|_| has_address).map(|address| address.0));
        let is_whole = profile.locations.get(frame.location).is_some_and(|it| it.is_whole);
        let run = FrameRun { found_by: frame.found_by as u32, has_address, is_whole, frames: 1 };
        match runs.last_mut() {
            Some(last) if FrameRun { frames: 1, ..*last } == run => last.frames += 1,
            _ => runs.push(run),
        }
    }
    FinishedChain { addresses, end: sample.end as u32, runs }
}

/// Returns the found-by and the looked-up address of each user frame, innermost first.
fn user_frames<'p>(
    profile: &'p Profile,
    sample: &'p SampleRow,
) -> impl Iterator<Item = (FoundBy, u64)> + 'p {
    let nodes = std::iter::successors(sample.stack, |&node| {
        profile.stacks.get(node)?.parent.filter(|&parent| parent < node)
    });
    nodes.filter_map(|node| {
        let id = profile.stacks.get(node)?.frame;
        let frame = profile.frames.get(id).filter(|frame| !frame.kernel)?;
        Some((frame.found_by, profile.frame_address(sample, id)?.0))
    })
}

/// Returns the number of samples whose own user frames changed.
pub(super) fn changed(before: &Profile, after: &Profile) -> usize {
    let own = |profile, sample| {
        let frames = user_frames(profile, sample);
        let own = frames
            .take_while(|(by, _)| !matches!(by, FoundBy::Joined | FoundBy::Gap))
            .filter(|(by, _)| !matches!(by, FoundBy::TailCall | FoundBy::TailCalls));
        own.map(|(_, address)| address).collect::<Vec<_>>()
    };
    let samples = before.samples.iter().zip(after.samples.iter());
    samples.filter(|&(old, new)| own(before, old) != own(after, new)).count()
}
