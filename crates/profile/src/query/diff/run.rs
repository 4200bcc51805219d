//! Facts of one recording in a comparison: counts, duration, threads, and completeness of the stacks.

use address::ById as _;
use hashbrown::HashMap;

use super::error::DiffError;
use super::weight::DiffWeight;
use crate::id::{EventId, ThreadId};
use crate::profile::Profile;
use crate::quality::EventSpan;
use crate::query::grouped::{event_name, period_units};
use crate::query::recorded_command::recorded_command;
use crate::tables::{EventRow, SampleRow};
use crate::thread_names::folded_thread_name;

/// A recording to be compared.
#[derive(Debug, Clone, Copy)]
pub struct DiffInput<'a> {
    /// Its name in the output, such as its path.
    pub name: &'a str,
    /// Its profile.
    pub profile: &'a Profile,
}

/// Facts of a compared recording. Only samples of the compared event are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct DiffRun {
    /// Its name.
    pub name: String,
    /// Number and cost of its samples.
    pub total: DiffWeight,
    /// Duration: the time from the first sample to the last, plus the mean interval between samples.
    /// `None` if the samples have no times, or all the same.
    pub seconds: Option<f64>,
    /// Number of samples with a complete stack.
    pub complete: u64,
    /// Number of samples with a stack that lacks its root.
    pub truncated: u64,
    /// Number of samples of the compared event that the kernel lost.
    pub lost: u64,
    /// Number of samples of other events, which are omitted.
    pub other_events: u64,
    /// Number of threads with samples.
    pub threads: usize,
}

/// Facts that decide whether two recordings are similar.
#[derive(Debug)]
pub(super) struct RunKind {
    /// Whether the event was sampled at a frequency, and its frequency or period.
    pub(super) rate: (bool, u64),
    /// Cost of threads by name, with numbers of pools folded.
    pub(super) threads: HashMap<Vec<u8>, u64>,
    /// Whether the recorder started the program instead of attaching to running ones.
    pub(super) is_started: bool,
}

/// Returns the event to compare: the first one with samples in all recordings.
pub(super) fn common_event(inputs: &[DiffInput<'_>]) -> Result<Vec<u8>, DiffError> {
    let mut common: Vec<&[u8]> = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let events = sampled_events(input.profile);
        if events.is_empty() {
            return Err(DiffError::NoSamples { name: input.name.to_owned() });
        }
        if index == 0 {
            common = events;
            continue;
        }
        common.retain(|event| events.contains(event));
        if common.is_empty() {
            let names = |events: &[&[u8]]| {
                events.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
            };
            let first = inputs.first().copied().unwrap_or(*input);
            return Err(DiffError::DifferentEvents {
                first: first.name.to_owned(),
                first_events: names(&sampled_events(first.profile)),
                second: input.name.to_owned(),
                second_events: names(&events),
            });
        }
    }
    common.first().map(|event| event.to_vec()).ok_or(DiffError::NoRecording)
}

/// Returns the names of the events with samples, in the order of the recording's attributes. If there are off-CPU
/// times, returns only their event.
fn sampled_events(profile: &Profile) -> Vec<&[u8]> {
    if let Some(event) = profile.off_cpu {
        return vec![event_name(profile, event)];
    }
    let mut seen = vec![false; profile.events.len()];
    for sample in &profile.samples {
        if let Some(seen) = seen.by_id_mut(sample.event) {
            *seen = true;
        }
    }
    let mut names: Vec<&[u8]> = Vec::new();
    for (id, _) in profile.events.ids().zip(&seen).filter(|&(_, &seen)| seen) {
        let name = event_name(profile, id);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the unit of an event's periods; `None` if it has none. Events of the same name are merged.
pub(super) fn unit(profile: &Profile, event: &[u8]) -> Option<&'static str> {
    let units = period_units(profile);
    units.entries().find_map(|(id, unit)| unit.filter(|_| event_name(profile, id) == event))
}

/// Iterates over the samples of an event.
pub(super) fn samples_of<'a>(
    profile: &'a Profile,
    event: &'a [u8],
) -> impl Iterator<Item = &'a SampleRow> {
    let is_wanted: Vec<bool> =
        profile.events.ids().map(|id| event_name(profile, id) == event).collect();
    profile
        .samples
        .iter()
        .filter(move |sample| is_wanted.by_id(sample.event).copied().unwrap_or(false))
}

/// Counts a recording. With `by_samples`, each sample counts 1, regardless of its period.
/// `renamed`: thread names mapped to their names on the other side.
pub(super) fn count(
    input: DiffInput<'_>,
    event: &[u8],
    by_samples: bool,
    renamed: &HashMap<Vec<u8>, Vec<u8>>,
) -> (DiffRun, RunKind) {
    let DiffInput { name, profile } = input;
    let mut run = DiffRun {
        name: name.to_owned(),
        total: DiffWeight::default(),
        seconds: None,
        complete: 0,
        truncated: 0,
        lost: lost(profile, event),
        other_events: profile.samples.len() as u64,
        threads: 0,
    };
    let mut by_thread: HashMap<ThreadId, u64> = HashMap::new();
    let mut span = EventSpan::default();
    for sample in samples_of(profile, event) {
        let weight = DiffWeight::of(sample, by_samples);
        run.total.add(weight);
        run.complete += u64::from(sample.end.is_complete());
        run.truncated += u64::from(!sample.end.is_rooted());
        run.other_events -= 1;
        let cost = by_thread.entry(sample.thread).or_default();
        *cost = cost.saturating_add(weight.cost);
        span.add(sample.time().map(|time| time.0));
    }
    if profile.off_cpu.is_some() {
        // The user requested off-CPU times, not an event.
        run.other_events = 0;
    }
    let rows = || profile.events.entries().filter(|&(id, _)| event_name(profile, id) == event);
    if let Some(filter) = &profile.summary.applied_filter {
        // A filter of functions does not make the recording shorter.
        let spans = rows().map(|(id, _)| filter.span(id));
        span = spans.fold(EventSpan::default(), EventSpan::and);
    }
    run.seconds = span.times.and_then(|(first, last)| seconds(last - first, span.samples));
    let (threads, names) = threads(profile, &by_thread, renamed);
    run.threads = threads;
    let rate = |(_, row): (EventId, &EventRow)| (row.frequency, row.rate);
    let rate = rows().map(rate).next().unwrap_or_default();
    let kind = RunKind { rate, threads: names, is_started: recorded_command(profile).is_some() };
    (run, kind)
}

/// Returns the duration of a recording with a time span in nanoseconds. Each sample represents the time before it,
/// including the first one.
fn seconds(span: u64, samples: u64) -> Option<f64> {
    let between = samples.checked_sub(1).filter(|&between| between > 0 && span > 0)?;
    Some(span as f64 / 1e9 * (samples as f64 / between as f64))
}

/// Returns the number of threads, and the cost by thread name. A thread that changed its name has several rows.
fn threads(
    profile: &Profile,
    costs: &HashMap<ThreadId, u64>,
    renamed: &HashMap<Vec<u8>, Vec<u8>>,
) -> (usize, HashMap<Vec<u8>, u64>) {
    let mut ids = Vec::with_capacity(costs.len());
    let mut names: HashMap<Vec<u8>, u64> = HashMap::new();
    for (&thread, &cost) in costs {
        let Some(thread) = profile.threads.get(thread) else { continue };
        ids.push((thread.pid.0, thread.tid.0));
        let comm = profile.strings.get(thread.comm);
        let name = folded_thread_name(renamed.get(comm).map_or(comm, Vec::as_slice));
        let sum = names.entry(name.into_owned()).or_default();
        *sum = sum.saturating_add(cost);
    }
    ids.sort_unstable();
    ids.dedup();
    (ids.len(), names)
}

fn lost(profile: &Profile, event: &[u8]) -> u64 {
    let summary = &profile.summary;
    let of_event =
        summary.lost_by_event.iter().filter(|loss| event_name(profile, loss.event) == event);
    let by_event: u64 = of_event.fold(0, |sum, loss| sum.saturating_add(loss.samples));
    // With one event, all losses belong to it, including those that the kernel did not attribute.
    if profile.events.len() == 1 { summary.lost_samples } else { by_event }
}
