//! The summary of a profile after samples and frames were removed.

use std::cmp::Reverse;

use address::{ById as _, ModuleId};
use hashbrown::HashMap;

use crate::id::LocationId;
use crate::profile::Profile;
use crate::quality::{AppliedFilter, EventSpan};
use crate::query::diff::offset_in_name;
use crate::query::found::{frame_weights, stack_weights};
use crate::query::recorded_command::file_name;
use crate::reason::EndReason;
use crate::tables::{LocationRow, SampleRow};

/// Remaining samples with a chain that ended in a module, by module and reason.
#[derive(Debug)]
pub(super) struct LostChains(HashMap<(Option<ModuleId>, EndReason), u64>);

impl LostChains {
    /// Counts samples by the outermost frame of their stacks, before frames are removed.
    pub(super) fn new(profile: &Profile, is_kept: impl Fn(&SampleRow) -> bool) -> Self {
        let mut counts = HashMap::new();
        if profile.summary.losses.is_empty() {
            return Self(counts);
        }
        let mut outermost: Vec<Option<LocationId>> = Vec::with_capacity(profile.stacks.len());
        for (id, row) in profile.stacks.entries() {
            let parent = row.parent.filter(|&parent| parent < id);
            let own = || profile.frames.get(row.frame).map(|frame| frame.location);
            let outer = parent.and_then(|parent| outermost.by_id(parent)).copied().flatten();
            outermost.push(outer.or_else(own));
        }
        for sample in profile.counted_samples().filter(|sample| is_kept(sample)) {
            let Some(stack) = sample.stack else { continue };
            let location = outermost.by_id(stack).copied().flatten();
            let location = location.and_then(|location| profile.locations.get(location));
            let module = location.and_then(|location| location.module);
            *counts.entry((module, sample.end)).or_default() += 1;
        }
        Self(counts)
    }
}

/// Returns, by event, the times of its samples.
pub(super) fn spans(profile: &Profile) -> Vec<EventSpan> {
    let mut spans = vec![EventSpan::default(); profile.events.len()];
    for sample in &profile.samples {
        if let Some(span) = spans.by_id_mut(sample.event) {
            span.add(sample.time().map(|time| time.0));
        }
    }
    spans
}

/// Counts again the samples and frames of a filtered profile.
pub(super) fn recount(
    profile: &mut Profile,
    mut applied: AppliedFilter,
    before: u64,
    lost: &LostChains,
) {
    let left = profile.counted_samples().count() as u64;
    applied.removed = before - left;
    let frames = stack_weights(profile).iter().sum();
    let nameless = nameless_frames(profile);
    let summary = &mut profile.summary;
    summary.samples = left;
    summary.samples_filtered += applied.removed;
    summary.applied_filter = Some(applied);
    summary.frames = frames;
    for loss in &mut summary.losses {
        loss.samples = lost.0.get(&(loss.module, loss.end)).copied().unwrap_or(0);
    }
    summary.losses.retain(|loss| loss.samples > 0);
    summary.losses.sort_by(|a, b| {
        b.samples.cmp(&a.samples).then(a.module.cmp(&b.module)).then(a.reason.cmp(&b.reason))
    });
    for row in &mut summary.nameless {
        row.frames = nameless.get(&row.module).copied().unwrap_or(0);
    }
    summary.nameless.retain(|row| row.frames > 0);
    summary.nameless.sort_by_key(|row| (Reverse(row.frames), row.module));
}

/// Returns the number of nameless frames by module, without those that represent other frames.
fn nameless_frames(profile: &Profile) -> HashMap<Option<ModuleId>, u64> {
    let mut counts = HashMap::new();
    if profile.summary.nameless.is_empty() {
        return counts;
    }
    for (frame, weight) in profile.frames.iter().zip(&frame_weights(profile)) {
        let Some(location) = profile.locations.get(frame.location) else { continue };
        if !frame.found_by.is_gap() && is_nameless(profile, location) {
            *counts.entry(location.module).or_default() += weight;
        }
    }
    counts
}

/// Returns true if the function at a location has no name, or one that only states its start (`module+0x45a0`).
fn is_nameless(profile: &Profile, location: &LocationRow) -> bool {
    let [row] = profile.inlines.range(location.inlines()) else { return location.n_inlines == 0 };
    let name = row.function.map_or(&b""[..], |name| profile.strings.get(name));
    let module = location.module.and_then(|module| profile.modules.get(module));
    let path = module.map_or(&b""[..], |module| profile.strings.get(module.path));
    offset_in_name(name, file_name(path)).is_some()
}
