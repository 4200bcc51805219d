//! The summary at the end of a run, for people: how complete the stacks are, what is missing, and what to do about it.

use std::io::{self, Write};

use address::ModuleId;
use anstyle::Style;
use profile::{EndReason, Profile};

use super::styles::SummaryStyles;
use crate::render::text::push_line_safe;

/// Modules that are shown.
const TOP: usize = 10;

/// Bytes of stack that `perf record --call-graph dwarf` copies where no size is given.
const DEFAULT_DUMP: u64 = 8192;

/// The most that it can copy: the record's size field has 16 bits, and sizes are multiples of 8.
const LARGEST_DUMP: u64 = 65528;

/// Writes the summary of a run to `out`, in full lines.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write_summary(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    write_styled_summary(profile, &SummaryStyles::plain(), out)
}

/// The same, with `styles` for what wants to be seen.
///
/// # Errors
/// Where `out` cannot be written to.
pub fn write_styled_summary(
    profile: &Profile,
    styles: &SummaryStyles,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = Vec::new();
    counts(profile, styles.loss, &mut text)?;
    ends(profile, styles.headline, &mut text)?;
    losses(profile, &mut text)?;
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

/// The share of samples by end reason: the complete ones first, then by number.
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
    writeln!(text, "{style}{share_complete} of the stacks are complete; they ended by{style:#}")?;
    for (end, count) in ends {
        writeln!(text, "  {:>7}  {:<20}{:>11}", share(count, total), end.as_str(), grouped(count))?;
    }
    Ok(())
}

/// The modules that cost the most samples.
fn losses(profile: &Profile, text: &mut Vec<u8>) -> io::Result<()> {
    let losses = &profile.summary.losses;
    if losses.is_empty() {
        return Ok(());
    }
    let total = profile.samples.len() as u64;
    writeln!(text, "modules at which stacks ended early:")?;
    for loss in losses.iter().take(TOP) {
        write!(text, "  {:>7}  ", share(loss.samples, total))?;
        push_line_safe(text, module_name(profile, loss.module));
        write!(text, ": ")?;
        push_line_safe(text, loss.reason.as_bytes());
        writeln!(text)?;
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
        push_line_safe(text, finding.message.as_bytes());
        if finding.count > 1 {
            write!(text, " (and {} more)", grouped(finding.count - 1))?;
        }
        writeln!(text)?;
    }
    Ok(())
}

/// What the user can do for more complete stacks next time.
fn advice(profile: &Profile, style: Style, text: &mut Vec<u8>) -> io::Result<()> {
    let hint = format!("{style}hint:{style:#}");
    let summary = &profile.summary;
    let samples = summary.samples.max(1);
    let exhausted = profile.end_counts()[EndReason::StackExhausted as usize];
    if exhausted.saturating_mul(20) >= samples && exhausted > 0 {
        let used_up = share(exhausted, samples);
        let size = dump_size(profile);
        write!(
            text,
            "{hint} {used_up} of the samples used up their copy of the stack ({size} bytes); "
        )?;
        if size < LARGEST_DUMP {
            let larger = size.saturating_mul(2).min(LARGEST_DUMP);
            writeln!(text, "record a larger one: perf record --call-graph dwarf,{larger}")?;
        } else {
            writeln!(text, "perf can record no larger one")?;
        }
    }
    if summary.lost_samples.saturating_mul(100) >= samples && summary.lost_samples > 0 {
        writeln!(
            text,
            "{hint} record with a lower frequency (-F) or a larger buffer (-m) to lose fewer samples"
        )?;
    }
    if !summary.losses.is_empty() {
        writeln!(
            text,
            "{hint} stacks go on past a module where its file, or one with its debug information, is found"
        )?;
    }
    Ok(())
}

/// The size of the stack dump that the recorder's command line asked for.
fn dump_size(profile: &Profile) -> u64 {
    let arguments = profile.recording.command_line.iter().map(|&id| profile.strings.get(id));
    let mut sizes = arguments.filter_map(|argument| {
        let (_, size) = std::str::from_utf8(argument).ok()?.rsplit_once("dwarf,")?;
        size.parse().ok()
    });
    sizes.next().unwrap_or(DEFAULT_DUMP)
}

/// `12.3 %`; never rounded to 0 or 100 where it is not that.
fn share(part: u64, whole: u64) -> String {
    let permille = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole.max(1));
    match permille {
        0 if part > 0 => "<0.1 %".to_owned(),
        1000 if part < whole => ">99.9 %".to_owned(),
        _ => format!("{}.{} %", permille / 10, permille % 10),
    }
}

/// `1 sample`, `12,345 samples`.
fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number with a comma before each group of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_do_not_lie_at_the_edges() {
        let cases = [
            (0, 5, "0.0 %"),
            (1, 100_000, "<0.1 %"),
            (99_999, 100_000, ">99.9 %"),
            (5, 5, "100.0 %"),
            (1, 3, "33.3 %"),
        ];
        for (part, whole, text) in cases {
            assert_eq!(share(part, whole), text);
        }
        assert_eq!(share(0, 0), "0.0 %");
        assert_eq!(share(u64::MAX, u64::MAX), "100.0 %");
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_712_345, "1,712,345")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "sample"), "1 sample");
    }
}
