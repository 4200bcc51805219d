//! The hint on the size of the recorded stack copies, with the effect and the cost of the suggested size.

use std::io::{self, Write};

use profile::{DUMP_SIZES, DumpAdvice, Profile};

use crate::render::numbers::share;

/// Appends the hint if another size would serve better. `hint` is the start of the line.
pub(super) fn push_dump_hint(profile: &Profile, hint: &str, text: &mut Vec<u8>) -> io::Result<()> {
    let (samples, needs) = (profile.samples.len() as u64, &profile.summary.stack_needs);
    let recorded = profile.recording.stack_bytes.map_or(0, u64::from);
    let advice = DumpAdvice::new(needs, recorded, samples);
    let of_stacks = |count| share(count, needs.decided());
    if let DumpAdvice::Change { bytes, rooted: Some(whole) } = advice
        && bytes < recorded
    {
        let enough = of_stacks(whole);
        return writeln!(
            text,
            "{hint} {enough} of the user stacks need no more than {bytes} of the {recorded} bytes that were copied of \
             each; perf record --call-graph dwarf,{bytes} would make a recording about {} times as large",
            times(bytes, recorded),
        );
    }
    if advice == DumpAdvice::Keep {
        return Ok(());
    }
    let used_up = share(needs.truncated, samples);
    write!(
        text,
        "{hint} {used_up} of the samples used up their copy of the stack ({recorded} bytes); "
    )?;
    match advice {
        DumpAdvice::Change { bytes, rooted: Some(rooted) } => writeln!(
            text,
            "perf record --call-graph dwarf,{bytes} would bring about {} of the user stacks to their root without a \
             gap, now {}, in a recording about {} times as large",
            of_stacks(rooted),
            of_stacks(needs.rooted()),
            times(bytes, recorded),
        ),
        DumpAdvice::Change { bytes, rooted: None } => writeln!(
            text,
            "nothing shows how much they need; record a larger one: perf record --call-graph dwarf,{bytes}"
        ),
        _ if DUMP_SIZES.last().is_some_and(|&largest| recorded >= largest) => {
            writeln!(text, "perf can record no larger one")
        }
        _ => writeln!(text, "a larger one would win few of them"),
    }
}

/// Returns the relative size of a recording with stacks of `bytes` instead of `recorded` bytes, such as `2.0`.
/// Stacks are nearly all of a recording.
fn times(bytes: u64, recorded: u64) -> String {
    let tenths = (bytes * 10 + recorded / 2) / recorded.max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}
