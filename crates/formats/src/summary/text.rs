//! The summary at the end of a run, for people: completeness of the stacks, losses, and remedies.

use std::io::{self, Write};

use address::ModuleId;
use anstyle::Style;
use profile::query::found_counts;
use profile::{EndReason, FoundBy, Profile};

use super::dump_hint::push_dump_hint;
use super::styles::SummaryStyles;
use super::threads_without_switch::push_threads_without_switch;
use crate::render::numbers::{counted, grouped, share};
use crate::render::text::push_line_safe;

/// Number of modules to list.
const TOP: usize = 10;

/// Number of modules to list with a remedy.
const TOP_HELP: usize = 3;

/// Writes the summary of a run to `out`, in full lines.
///
/// # Errors
/// Returns the error of writing to `out`.
pub fn write_summary(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    write_styled_summary(profile, &SummaryStyles::plain(), out)
}

/// Writes the summary to `out`, highlighting parts of it with `styles`.
///
/// # Errors
/// Returns the error of writing to `out`.
pub fn write_styled_summary(
    profile: &Profile,
    styles: &SummaryStyles,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = Vec::new();
    counts(profile, styles.loss, &mut text)?;
    ends(profile, styles.headline, &mut text)?;
    proven(profile, &mut text)?;
    joined(profile, &mut text)?;
    push_threads_without_switch(profile, &mut text)?;
    losses(profile, &mut text)?;
    nameless(profile, &mut text)?;
    findings(profile, styles.finding, &mut text)?;
    advice(profile, styles.hint, &mut text)?;
    out.write_all(&text)
}

fn counts(profile: &Profile, style: Style, text: &mut Vec<u8>) -> io::Result<()> {
    let summary = &profile.summary;
    write!(
        text,
        "{} with {}",
        counted(summary.samples, "sample"),
        counted(summary.frames, "frame")
    )?;
    if summary.samples_filtered > 0 {
        write!(text, "; {} left out by filters", grouped(summary.samples_filtered))?;
    }
    if summary.samples_dropped > 0 {
        write!(text, "; {} not decodable", grouped(summary.samples_dropped))?;
    }
    writeln!(text)?;
    if summary.lost_samples > 0 {
        let of = summary
            .samples
            .saturating_add(summary.samples_filtered)
            .saturating_add(summary.lost_samples);
        let lost = counted(summary.lost_samples, "sample");
        let share = share(summary.lost_samples, of);
        writeln!(text, "{style}the kernel lost {lost} ({share}){style:#}")?;
    }
    if summary.lost_records > 0 {
        let lost = counted(summary.lost_records, "record");
        writeln!(text, "{style}the kernel lost {lost} other than samples{style:#}")?;
    }
    for loss in summary.lost_by_event.iter().filter(|_| profile.events.len() > 1) {
        let event = profile.events.get(loss.event);
        write!(text, "  of ")?;
        push_line_safe(text, event.map_or(b"", |event| profile.strings.get(event.name)));
        let counts = [(loss.samples, "sample"), (loss.records, "record")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.map(|&(count, of)| counted(count, of)).collect();
        writeln!(text, ": {}", counts.join(", "))?;
    }
    if summary.throttled > 0 {
        let times = counted(summary.throttled, "time");
        writeln!(text, "{style}the kernel throttled sampling {times}{style:#}")?;
    }
    Ok(())
}

/// Appends the share of samples by end reason: complete ones first, then by decreasing count.
fn ends(profile: &Profile, style: Style, text: &mut Vec<u8>) -> io::Result<()> {
    let mut ends: Vec<(EndReason, u64)> =
        EndReason::ALL.iter().copied().zip(profile.end_counts()).collect();
    ends.retain(|&(_, count)| count > 0);
    let total: u64 = ends.iter().map(|&(_, count)| count).sum();
    if total == 0 {
        return Ok(());
    }
    ends.sort_by_key(|&(end, count)| (!end.is_complete(), std::cmp::Reverse(count)));
    let complete =
        ends.iter().filter(|&&(end, _)| end.is_complete()).map(|&(_, count)| count).sum();
    let share_complete = share(complete, total);
    let lost = if profile.summary.names_lost { ", but names or lines are missing" } else { "" };
    match StackData::of(profile) {
        StackData::Stacks => writeln!(
            text,
            "{style}{share_complete} of the stacks are complete{lost}; they ended by{style:#}"
        )?,
        StackData::Chains => writeln!(
            text,
            "{style}the stacks are as the recorder found them, and nothing tells whether they are complete{lost}; they \
             ended by{style:#}"
        )?,
        StackData::Nothing => writeln!(
            text,
            "{style}no callchains were recorded: each stack is the sampled function alone{lost}; they ended \
             by{style:#}"
        )?,
    }
    for (end, count) in ends {
        writeln!(text, "  {:>7}  {:<20}{:>11}", share(count, total), end.as_str(), grouped(count))?;
    }
    Ok(())
}

/// Appends the shares of stacks with, or lacking, frames removed by tail calls, and of stacks with an unproven root.
fn proven(profile: &Profile, text: &mut Vec<u8>) -> io::Result<()> {
    let found = found_counts(profile);
    let samples = profile.samples.len() as u64;
    let [known, unknown] =
        [found.with_tail_calls, found.with_unknown_tail_calls].map(|n| share(n, samples));
    let line = match (found.with_tail_calls, found.with_unknown_tail_calls) {
        (0, 0) => None,
        (_, 0) => Some(format!("{known} of the stacks have functions that tail calls removed")),
        (0, _) => Some(format!("{unknown} of the stacks lack functions that tail calls removed")),
        _ => Some(format!(
            "{known} of the stacks have functions that tail calls removed; {unknown} lack such functions"
        )),
    };
    if let Some(line) = line {
        writeln!(text, "{line}")?;
    }
    let ends = EndReason::ALL.iter().zip(profile.end_counts());
    let unproven = ends.filter(|(end, _)| **end == EndReason::UnprovenRoot).map(|(_, n)| n).sum();
    if unproven > 0 {
        writeln!(
            text,
            "{} of the stacks end at a function of which nothing proves that a thread begins there",
            share(unproven, samples)
        )?;
    }
    Ok(())
}

/// Appends the share of stacks that have frames of other samples, and the share of frames by [`FoundBy`].
/// Nothing is appended if there are no such stacks.
fn joined(profile: &Profile, text: &mut Vec<u8>) -> io::Result<()> {
    let found = found_counts(profile);
    if found.joined.max(found.with_gap) == 0 {
        return Ok(());
    }
    let samples = profile.samples.len() as u64;
    write!(
        text,
        "{} of the stacks go on with frames of other samples",
        share(found.joined, samples)
    )?;
    if found.with_gap > 0 {
        write!(text, ", {} across a gap", share(found.with_gap, samples))?;
    }
    let frames = found.frames.iter().sum();
    let mut words: Vec<(FoundBy, u64)> = FoundBy::ALL.iter().copied().zip(found.frames).collect();
    words.retain(|&(_, count)| count > 0);
    words.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let words = words.iter().map(|&(word, count)| format!("{} {word}", share(count, frames)));
    writeln!(text, "; frames: {}", words.collect::<Vec<_>>().join(", "))
}

/// Stack data in the recording.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StackData {
    /// Copies of the stacks, or only samples that need none.
    Stacks,
    /// Callchains made by the recorder.
    Chains,
    /// No stack data.
    Nothing,
}

impl StackData {
    fn of(profile: &Profile) -> Self {
        if profile.recording.stack_bytes.is_some() {
            return Self::Stacks;
        }
        let ended = |wanted: EndReason| profile.samples.iter().any(|it| it.end == wanted);
        if ended(EndReason::Recorded) {
            Self::Chains
        } else if ended(EndReason::NoUserRegs) {
            Self::Nothing
        } else {
            Self::Stacks
        }
    }
}

/// Number of modules without names to list.
const TOP_NAMELESS: usize = 3;

/// Appends the modules with the most nameless frames, if at least 1 % of all frames are nameless.
fn nameless(profile: &Profile, text: &mut Vec<u8>) -> io::Result<()> {
    let rows = &profile.summary.nameless;
    let sum = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.frames));
    let frames = profile.summary.frames;
    if sum.saturating_mul(100) < frames || sum == 0 {
        return Ok(());
    }
    writeln!(text, "{} of the frames have no function name:", share(sum, frames))?;
    for row in rows.iter().take(TOP_NAMELESS) {
        write!(text, "  {:>7}  ", share(row.frames, frames))?;
        push_line_safe(text, module_name(profile, row.module));
        if let Some(help) = &row.help {
            write!(text, ": ")?;
            push_line_safe(text, help.text.as_bytes());
        }
        writeln!(text)?;
    }
    if rows.len() > TOP_NAMELESS {
        let rest = rows.iter().skip(TOP_NAMELESS).fold(0_u64, |sum, row| sum + row.frames);
        let others = counted((rows.len() - TOP_NAMELESS) as u64, "other");
        writeln!(text, "  {:>7}  {others}", share(rest, frames))?;
    }
    Ok(())
}

/// Appends the modules that cost the most samples.
fn losses(profile: &Profile, text: &mut Vec<u8>) -> io::Result<()> {
    let losses = &profile.summary.losses;
    if losses.is_empty() {
        return Ok(());
    }
    let total = profile.samples.len() as u64;
    writeln!(text, "modules at which stacks ended early:")?;
    for (index, loss) in losses.iter().take(TOP).enumerate() {
        write!(text, "  {:>7}  ", share(loss.samples, total))?;
        push_line_safe(text, module_name(profile, loss.module));
        write!(text, ": ")?;
        push_line_safe(text, loss.reason.as_bytes());
        writeln!(text)?;
        if let Some(help) = loss.help.as_ref().filter(|_| index < TOP_HELP) {
            write!(text, "           what helps: ")?;
            push_line_safe(text, help.text.as_bytes());
            writeln!(text)?;
        }
    }
    if losses.len() > TOP {
        let samples =
            losses.iter().skip(TOP).fold(0_u64, |sum, loss| sum.saturating_add(loss.samples));
        let others = counted((losses.len() - TOP) as u64, "other");
        writeln!(text, "  {:>7}  {others}", share(samples, total))?;
    }
    Ok(())
}

fn module_name(profile: &Profile, module: Option<ModuleId>) -> &[u8] {
    match module.and_then(|id| profile.modules.get(id)) {
        Some(module) => profile.strings.get(module.path),
        None => b"[no module]",
    }
}

fn findings(profile: &Profile, style: Style, text: &mut Vec<u8>) -> io::Result<()> {
    for finding in &profile.summary.findings {
        write!(text, "{style}{}:{style:#} ", finding.kind)?;
        push_line_safe(text, finding.text().as_bytes());
        if finding.count > 1 {
            write!(text, " (and {} more)", grouped(finding.count - 1))?;
        }
        writeln!(text)?;
    }
    Ok(())
}

/// Appends advice for more complete stacks in the next recording.
fn advice(profile: &Profile, style: Style, text: &mut Vec<u8>) -> io::Result<()> {
    let hint = format!("{style}hint:{style:#}");
    let summary = &profile.summary;
    let samples = summary.samples.max(1);
    push_dump_hint(profile, &hint, text)?;
    if StackData::of(profile) != StackData::Stacks {
        writeln!(
            text,
            "{hint} perf record --call-graph dwarf copies the stacks, from which all callers are found"
        )?;
    }
    if summary.lost_samples.saturating_mul(100) >= samples && summary.lost_samples > 0 {
        writeln!(
            text,
            "{hint} record with a lower frequency (-F) or a larger buffer (-m) to lose fewer samples"
        )?;
    }
    Ok(())
}
