//! The summary of a few lines: how complete the stacks are, the costliest modules with their remedies, and warnings.

use std::fmt;
use std::io::{self, Write};

use profile::query::found_counts;
use profile::{EndReason, FindingRow, FoundBy, Profile};

use super::dump_hint::dump_tip;
use super::lines::Lines;
use super::modules::{Packages, ShownModules, push_modules};
use super::recorded::Recorded;
use super::styles::SummaryStyles;
use super::threads_without_switch::threads_without_switch;
use super::words;
use crate::render::numbers::{counted, grouped, share};
use crate::render::text::push_line_safe;

/// Reasons of incomplete stacks that are listed.
const REASONS: usize = 3;

/// The kinds of findings that cost nothing, or that the lines on modules show.
const MINOR: &[&str] = &[
    "empty-map",
    "kernel-by-release",
    "late-map",
    "long-text",
    "no-file",
    "no-symbols",
    "not-covered",
    "path-with-parent",
];

/// The kinds of findings about a file that is not used, which the line on its module shows.
const REFUSED: &[&str] = &["build-id-mismatch", "file-ambiguous", "file-replaced"];

/// How the short summary is printed.
pub struct ShortSummary<'a> {
    /// The styles.
    pub styles: SummaryStyles,
    /// Columns of the terminal; `None` leaves lines as long as they are.
    pub width: Option<usize>,
    /// The packages of installed files.
    pub packages: Packages<'a>,
}

impl fmt::Debug for ShortSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShortSummary").field("width", &self.width).finish_non_exhaustive()
    }
}

/// Writes the short summary of a run to `out`, in full lines.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write_short_summary(
    profile: &Profile,
    look: &ShortSummary<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = Lines::default();
    let styles = &look.styles;
    counts(profile, styles, &mut lines);
    completeness(profile, styles, &mut lines);
    inferred(profile, &mut lines);
    threads_without_switch(profile).into_iter().for_each(|line| lines.plain(line));
    let mut shown = push_modules(profile, look.packages, &mut lines);
    shown.losses = lost(profile).is_some();
    warnings(profile, &shown, styles, &mut lines);
    tips(profile).iter().for_each(|tip| lines.labelled(styles.hint, "Tip:", tip.as_bytes()));
    out.write_all(&lines.into_text(look.width))
}

fn counts(profile: &Profile, styles: &SummaryStyles, lines: &mut Lines) {
    lines.plain(sample_counts(profile));
    if let Some(text) = filtered(profile) {
        lines.plain(text);
    }
    if let Some(text) = lost(profile) {
        lines.styled(styles.loss, text);
    }
}

/// `743 samples, 4,210 frames.`, with the samples that a filter or damage removed.
pub(super) fn sample_counts(profile: &Profile) -> String {
    let summary = &profile.summary;
    let samples = counted(summary.samples, "sample");
    let mut text = format!("{samples}, {}", counted(summary.frames, "frame"));
    let removed = summary.applied_filter.as_ref().map_or(0, |filter| filter.removed);
    let out = summary.samples_filtered.saturating_sub(removed);
    if out > 0 {
        text += &format!("; {} filtered out", grouped(out));
    }
    if summary.samples_dropped > 0 {
        text += &format!("; {} could not be decoded", grouped(summary.samples_dropped));
    }
    text + "."
}

/// `Filters left 1,234 of 4,450 samples.`, if a filter of functions removed some.
pub(super) fn filtered(profile: &Profile) -> Option<String> {
    let removed = profile.summary.applied_filter.as_ref()?.removed;
    let left = profile.samples.len() as u64;
    let before = counted(left + removed, "sample");
    (removed > 0).then(|| format!("Filters left {} of {before}.", grouped(left)))
}

/// The end reasons of the samples with their counts, complete ones first, then by decreasing count; and the sum.
pub(super) fn end_counts(profile: &Profile) -> (Vec<(EndReason, u64)>, u64) {
    let mut ends: Vec<(EndReason, u64)> =
        EndReason::ALL.iter().copied().zip(profile.end_counts()).collect();
    ends.retain(|&(_, count)| count > 0);
    ends.sort_by_key(|&(end, count)| (!end.is_complete(), std::cmp::Reverse(count)));
    let total = ends.iter().map(|&(_, count)| count).sum();
    (ends, total)
}

/// A sentence on losses of the kernel, if there are any.
pub(super) fn lost(profile: &Profile) -> Option<String> {
    let summary = &profile.summary;
    let all = [summary.samples, summary.samples_filtered, summary.lost_samples];
    let all = all.into_iter().fold(0, u64::saturating_add);
    let samples = (summary.lost_samples > 0).then(|| {
        let lost = counted(summary.lost_samples, "sample");
        format!("lost {lost} ({})", share(summary.lost_samples, all))
    });
    let records = (summary.lost_records > 0).then(|| {
        let lost = if summary.lost_samples > 0 { "" } else { "lost " };
        format!("{lost}{}", counted(summary.lost_records, "other record"))
    });
    let throttled = (summary.throttled > 0)
        .then(|| format!("throttled sampling {}", counted(summary.throttled, "time")));
    let parts: Vec<String> = [samples, records, throttled].into_iter().flatten().collect();
    let (last, others) = parts.split_last()?;
    let and = if others.is_empty() { "" } else { " and " };
    Some(format!("The kernel {}{and}{last}.", others.join(", ")))
}

/// How many stacks are complete, and why the others are not.
fn completeness(profile: &Profile, styles: &SummaryStyles, lines: &mut Lines) {
    let (mut ends, total) = end_counts(profile);
    if total == 0 {
        return;
    }
    lines.styled(styles.headline, headline(profile, &ends, total));
    ends.retain(|(end, _)| !end.is_complete());
    let are_recorded = ends.iter().all(|(end, _)| *end == EndReason::Recorded);
    if ends.is_empty() || are_recorded || Recorded::of(profile) == Recorded::Nothing {
        return;
    }
    let reason =
        |&(end, count): &(EndReason, u64)| format!("{} {}", share(count, total), words::end(end));
    let mut reasons: Vec<String> = ends.iter().take(REASONS).map(reason).collect();
    let rest: u64 = ends.iter().skip(REASONS).map(|&(_, count)| count).sum();
    if rest > 0 {
        reasons.push(format!("{} have other reasons", share(rest, total)));
    }
    lines.plain(format!("Incomplete: {}.", reasons.join(", ")));
}

/// `All 743 stacks are complete.`
pub(super) fn headline(profile: &Profile, ends: &[(EndReason, u64)], total: u64) -> String {
    let complete: u64 =
        ends.iter().filter(|(end, _)| end.is_complete()).map(|&(_, count)| count).sum();
    let lost = if profile.summary.names_lost { ", but names or lines are missing" } else { "" };
    match (Recorded::of(profile), total) {
        (Recorded::Chains, _) => {
            format!("The stacks are as recorded; whether they are complete is unknown{lost}.")
        }
        (Recorded::Nothing, _) => {
            format!("No callchains were recorded: each stack is the sampled function alone{lost}.")
        }
        (Recorded::Stacks, 1) if complete == 1 => format!("The stack is complete{lost}."),
        (Recorded::Stacks, _) if complete == total => {
            format!("All {} stacks are complete{lost}.", grouped(total))
        }
        (Recorded::Stacks, _) => format!(
            "{} of {} ({}) {} complete{lost}.",
            grouped(complete),
            counted(total, "stack"),
            share(complete, total),
            if complete == 1 { "is" } else { "are" }
        ),
    }
}

/// The share of frames that the sample's own evidence does not prove, and of stacks that lack some; no guess is silent.
fn inferred(profile: &Profile, lines: &mut Lines) {
    let found = found_counts(profile);
    let (frames, samples) = (found.frames.iter().sum(), profile.samples.len() as u64);
    let mut origins: Vec<(u64, &str)> = FoundBy::ALL
        .iter()
        .zip(found.frames)
        .filter_map(|(&word, count)| Some((count, words::inferred(word)?)))
        .filter(|&(count, _)| count > 0)
        .collect();
    origins.sort_by_key(|&(count, _)| std::cmp::Reverse(count));
    let origin = |(index, &(count, origin)): (usize, &(u64, &str))| {
        let of_frames = if index == 0 { " of frames" } else { "" };
        format!("{}{of_frames} {origin}", share(count, frames))
    };
    let origins: Vec<String> = origins.iter().enumerate().map(origin).collect();
    let mut parts = Vec::new();
    if !origins.is_empty() {
        parts.push(format!("Inferred: {}.", origins.join(", ")));
    }
    // The line on incomplete stacks has those that end across a gap.
    let across = profile.samples.iter().filter(|it| it.end == EndReason::RootAcrossGap).count();
    let gaps = [
        (found.with_gap, across as u64, "have a gap"),
        (found.with_unknown_tail_calls, 0, "lack functions that ended in a tail call"),
    ];
    let gaps: Vec<String> = gaps
        .iter()
        .filter(|(count, stated, _)| count > stated)
        .map(|(count, _, what)| format!("{} {what}", share(*count, samples)))
        .collect();
    if !gaps.is_empty() {
        parts.push(format!("Of the stacks, {}.", gaps.join(", ")));
    }
    if !parts.is_empty() {
        lines.plain(parts.join(" "));
    }
}

/// The findings that matter for this profile, a line for each kind.
fn warnings(
    profile: &Profile,
    shown: &ShownModules<'_>,
    styles: &SummaryStyles,
    lines: &mut Lines,
) {
    let mut kinds: Vec<(&FindingRow, u64)> = Vec::new();
    for finding in profile.summary.findings.iter().filter(|it| matters(it, shown)) {
        match kinds.iter_mut().find(|(first, _)| first.kind == finding.kind) {
            Some((_, count)) => *count = count.saturating_add(finding.count),
            None => kinds.push((finding, finding.count)),
        }
    }
    for (finding, count) in kinds {
        let mut text = Vec::new();
        push_line_safe(&mut text, finding.text().as_bytes());
        if count > 1 {
            text.extend_from_slice(format!(" (and {} more)", grouped(count - 1)).as_bytes());
        }
        lines.labelled(styles.finding, &format!("{}:", finding.kind), &text);
    }
}

/// Returns true if no other line shows the finding, and it may have cost something.
fn matters(finding: &FindingRow, shown: &ShownModules<'_>) -> bool {
    match &*finding.kind {
        kind if MINOR.contains(&kind) => false,
        kind if REFUSED.contains(&kind) => !shown
            .paths
            .iter()
            .any(|path| finding.message.contains(&*String::from_utf8_lossy(path))),
        "memory-without-file" => !shown.anonymous,
        // A line on losses of the kernel has their number.
        "events-lost" => !shown.losses,
        "kernel-names" => !shown.kernel,
        _ => true,
    }
}

/// Actions that make the next recording better.
pub(super) fn tips(profile: &Profile) -> Vec<String> {
    let summary = &profile.summary;
    let mut tips: Vec<String> = dump_tip(profile).into_iter().collect();
    if Recorded::of(profile) != Recorded::Stacks {
        tips.push(
            "unwind-perf record copies the stacks, so that all callers are found.".to_owned(),
        );
    }
    if summary.lost_samples > 0 && summary.lost_samples.saturating_mul(100) >= summary.samples {
        tips.push(
            "a lower frequency (-F) or a larger buffer (-m) of record loses fewer samples."
                .to_owned(),
        );
    }
    tips
}
