//! The recording without stack copies: each sample has a callchain instead, in the form that recorders write.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use address::Avma;
use anyhow::{Context as _, bail};
use bundle::{Pseudonyms, Rewriter};
use hashbrown::HashMap;
use host::Origin;
use perf_data::{Findings, RawBody, Severity, visit_records};
use pipeline::{MapReplay, Observer, Options};
use profile::{FoundBy, Profile, SampleId, SampleRow};

use crate::args::{host, open, pipeline, source, with_argument};
use crate::terminal::print_note;

/// A rewritten recording.
pub(super) struct Rewritten {
    /// The recording as a plain little-endian file.
    pub(super) bytes: Vec<u8>,
    /// A kernel symbol and its recorded address.
    pub(super) kernel_reference: Option<(Vec<u8>, Avma)>,
}

/// Rewrites a recording with callchains instead of stacks and registers, and with pseudonyms if `names` has some.
/// `profile` is the result of the recording.
///
/// # Errors
/// If the recording is damaged, or has a form that cannot be rewritten.
pub(super) fn rewritten(
    input: &Path,
    profile: &Profile,
    options: &Options,
    observer: &Arc<dyn Observer>,
    names: Option<&Pseudonyms>,
) -> anyhow::Result<Rewritten> {
    let maps = pipeline().maps(source(input), options, observer);
    let mut maps = maps.map_err(with_argument)?;
    let rows = rows_by_position(profile, &mut maps)?;
    let kernel_reference = maps.timeline.kernel_reference();
    let kernel_reference = kernel_reference.map(|(symbol, at)| (symbol.to_vec(), at));
    let (recording, watch) = open(input)?;
    let mut rewriter = Rewriter::new(names, !host().is_dir(input, Origin::User));
    let (mut findings, mut failed) = (Findings::default(), None);
    let visited = visit_records(recording, &mut findings, &mut |head, record| {
        let row = match &record.body {
            RawBody::Sample(_) => rows.get(&record.position),
            _ => None,
        };
        let chain = row.map(|&row| chain(profile, row)).unwrap_or_default();
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
        print_note(&format!("{count} records {kind} are not in the bundle"));
    }
    Ok(Rewritten { bytes: rewriter.finish(&visited.head)?, kernel_reference })
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
fn chain(profile: &Profile, sample: SampleId) -> Vec<u64> {
    let mut words = Vec::new();
    let Some(sample) = profile.samples.get(sample) else { return words };
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
