//! The summary with all details: reasons of all ends, evidence of frames, modules with their remedies, findings, tips.

use std::io::{self, Write};

use address::ModuleId;
use anstyle::Style;
use profile::query::found_counts;
use profile::{FoundBy, Profile};

use super::dump_hint::dump_details;
use super::short::{end_counts, filtered, headline, lost, sample_counts, tips};
use super::styles::SummaryStyles;
use super::threads_without_switch::threads_without_switch;
use crate::render::numbers::{counted, grouped, share};
use crate::render::text::push_line_safe;

/// Number of modules to list.
const TOP: usize = 10;

/// Modules whose remedy is printed.
const TOP_HELP: usize = 3;

/// Writes the summary of a run with all details to `out`, in full lines.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write_summary(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    write_styled_summary(profile, &SummaryStyles::plain(), out)
}

/// The same, with styles.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write_styled_summary(
    profile: &Profile,
    styles: &SummaryStyles,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = Vec::new();
    counts(profile, styles.loss, &mut text)?;
    ends(profile, styles.headline, &mut text)?;
    evidence(profile, &mut text)?;
    for line in threads_without_switch(profile) {
        writeln!(text, "{line}")?;
    }
    losses(profile, &mut text)?;
    nameless(profile, &mut text)?;
    findings(profile, styles.finding, &mut text)?;
    advice(profile, styles.hint, &mut text)?;
    out.write_all(&text)
}

fn counts(profile: &Profile, style: Style, text: &mut Vec<u8>) -> io::Result<()> {
    writeln!(text, "{}", sample_counts(profile))?;
    if let Some(filter) = &profile.summary.applied_filter {
        if let Some(left) = filtered(profile) {
            writeln!(text, "{left}")?;
        }
        text.extend_from_slice(b"Filters: ");
        push_line_safe(text, filter.filters.join(", ").as_bytes());
        text.extend_from_slice(b".\n");
    }
    if let Some(lost) = lost(profile) {
        writeln!(text, "{style}{lost}{style:#}")?;
    }
    for loss in profile.summary.lost_by_event.iter().filter(|_| profile.events.len() > 1) {
        let event = profile.events.get(loss.event);
        write!(text, "  ")?;
        push_line_safe(text, event.map_or(b"", |event| profile.strings.get(event.name)));
        let counts = [(loss.samples, "sample"), (loss.records, "record")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.map(|&(count, of)| counted(count, of)).collect();
        writeln!(text, ": {} lost", counts.join(", "))?;
    }
    Ok(())
}

/// Appends the share of samples by end reason: complete ones first, then by decreasing count.
fn ends(profile: &Profile, style: Style, text: &mut Vec<u8>) -> io::Result<()> {
    let (ends, total) = end_counts(profile);
    if total == 0 {
        return Ok(());
    }
    writeln!(text, "{style}{}{style:#} Ends:", headline(profile, &ends, total))?;
    for (end, count) in ends {
        writeln!(text, "  {:>7}  {:<20}{:>11}", share(count, total), end.as_str(), grouped(count))?;
    }
    Ok(())
}

/// The evidence of frames, if some of it is not the sample's own: shares of stacks with frames of other samples, gaps and
/// tail calls, and the share of frames by evidence.
fn evidence(profile: &Profile, text: &mut Vec<u8>) -> io::Result<()> {
    let found = found_counts(profile);
    let samples = profile.samples.len() as u64;
    let rows = [
        (found.joined, "have frames of other samples"),
        (found.with_gap, "have a gap"),
        (found.with_tail_calls, "have functions that ended in a tail call"),
        (found.with_unknown_tail_calls, "lack functions that ended in a tail call"),
    ];
    let rows: Vec<String> = rows
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", share(*count, samples)))
        .collect();
    if !rows.is_empty() {
        writeln!(text, "Stacks: {}.", rows.join(", "))?;
    }
    let frames = found.frames.iter().sum();
    let mut words: Vec<(FoundBy, u64)> = FoundBy::ALL.iter().copied().zip(found.frames).collect();
    words.retain(|&(_, count)| count > 0);
    words.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let words = words.iter().map(|&(word, count)| format!("{} {word}", share(count, frames)));
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        return Ok(());
    }
    writeln!(text, "Evidence of frames: {}.", words.join(", "))
}

/// Number of modules without names to list.
const TOP_NAMELESS: usize = 3;

/// The modules with most frames that have no name, if these are at least one in a hundred.
fn nameless(profile: &Profile, text: &mut Vec<u8>) -> io::Result<()> {
    let rows = &profile.summary.nameless;
    let sum = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.frames));
    let frames = profile.summary.frames;
    if sum.saturating_mul(100) < frames || sum == 0 {
        return Ok(());
    }
    writeln!(text, "{} of the frames have no name:", share(sum, frames))?;
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
    writeln!(text, "Modules at which stacks end early:")?;
    for (index, loss) in losses.iter().take(TOP).enumerate() {
        write!(text, "  {:>7}  ", share(loss.samples, total))?;
        push_line_safe(text, module_name(profile, loss.module));
        write!(text, ": ")?;
        push_line_safe(text, loss.reason.as_bytes());
        writeln!(text)?;
        if let Some(help) = loss.help.as_ref().filter(|_| index < TOP_HELP) {
            write!(text, "           remedy: ")?;
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

/// Actions that make the next recording better.
fn advice(profile: &Profile, style: Style, text: &mut Vec<u8>) -> io::Result<()> {
    for tip in tips(profile) {
        writeln!(text, "{style}Tip:{style:#} {tip}")?;
    }
    match dump_details(profile) {
        Some(details) => writeln!(text, "{details}"),
        None => Ok(()),
    }
}
