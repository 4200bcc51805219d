//! The tip for the size of the recorder's copy of the stack, and the figures behind it.

use profile::{DumpAdvice, EventId, Profile};

use crate::render::numbers::{grouped, share};

/// The tip, if another size serves better.
pub(super) fn dump_tip(profile: &Profile) -> Option<String> {
    let recorded = recorded(profile);
    match advice(profile) {
        DumpAdvice::Change { bytes, rooted: Some(_) } if bytes < recorded => {
            let effect = match (recorded + bytes / 2) / bytes.max(1) {
                2 => "halves the recording".to_owned(),
                parts => format!("makes the recording {parts} times smaller"),
            };
            Some(format!("--stack-size {bytes} is enough here and {effect}."))
        }
        DumpAdvice::Change { bytes, rooted: Some(rooted) } => {
            let needs = &profile.summary.stack_needs;
            let of_stacks = |count| share(count, needs.decided());
            Some(format!(
                "--stack-size {bytes} completes about {} of the user stacks (now {}) in a recording {} times as large.",
                of_stacks(rooted),
                of_stacks(needs.rooted()),
                times(bytes, recorded),
            ))
        }
        DumpAdvice::Change { bytes, rooted: None } => {
            let cut = share(profile.summary.stack_needs.truncated, unwound_samples(profile));
            Some(format!(
                "{cut} of the stacks exceed their copy; record with --stack-size {bytes}."
            ))
        }
        DumpAdvice::Keep | DumpAdvice::NoneServes => None,
    }
}

/// The figures behind the tip; `None` if the size serves as it is.
pub(super) fn dump_details(profile: &Profile) -> Option<String> {
    let (recorded, needs) = (recorded(profile), &profile.summary.stack_needs);
    match advice(profile) {
        DumpAdvice::Keep => None,
        DumpAdvice::Change { bytes, rooted: Some(whole) } if bytes < recorded => Some(format!(
            "{} of the user stacks need at most {} of the {} bytes that were copied of each (perf record --call-graph \
             dwarf,{bytes}).",
            share(whole, needs.decided()),
            grouped(bytes),
            grouped(recorded),
        )),
        advice => {
            let rest = match advice {
                DumpAdvice::Change { bytes, .. } => {
                    format!("perf record --call-graph dwarf,{bytes} copies more")
                }
                _ if profile::DUMP_SIZES.last().is_some_and(|&largest| recorded >= largest) => {
                    "perf cannot copy more".to_owned()
                }
                _ => "a larger copy would complete few of them".to_owned(),
            };
            let cut = share(needs.truncated, unwound_samples(profile));
            Some(format!(
                "{cut} of the stacks exceed their copy of {} bytes; {rest}.",
                grouped(recorded)
            ))
        }
    }
}

fn recorded(profile: &Profile) -> u64 {
    profile.recording.stack_bytes.map_or(0, u64::from)
}

fn advice(profile: &Profile) -> DumpAdvice {
    DumpAdvice::new(&profile.summary.stack_needs, recorded(profile), unwound_samples(profile))
}

/// Number of unwound samples, which the needs are of.
pub(crate) fn unwound_samples(profile: &Profile) -> u64 {
    let is_recorded = |event: EventId| Some(event) != profile.off_cpu;
    match &profile.summary.applied_filter {
        Some(filter) => {
            let recorded = profile.events.entries().filter(|&(id, _)| is_recorded(id));
            recorded.map(|(id, _)| filter.span(id).samples).sum()
        }
        None => profile.samples.iter().filter(|row| is_recorded(row.event)).count() as u64,
    }
}

/// The size of a recording with copies of so many bytes, as a multiple: `2.0`.
fn times(bytes: u64, recorded: u64) -> String {
    let tenths = (bytes * 10 + recorded / 2) / recorded.max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}
