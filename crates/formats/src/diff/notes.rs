//! Caveats of a difference, as sentences.

use options::{OptionName, Spelling};
use profile::query::diff::{Diff, DiffModuleId, DiffNote, Normalization, PairedBy};

use super::labels::{module, printable};
use super::scale::Scale;
use crate::render::numbers::counted;

/// Maximum number of names in a sentence.
const LISTED: usize = 5;

/// Returns the caveats of a difference as sentences, with the reason for not dividing by time.
#[must_use]
pub fn diff_notes(diff: &Diff, spelling: Spelling) -> Vec<String> {
    let notes = diff.notes.iter().map(|note| sentence(diff, note, spelling));
    not_by_time(diff, spelling).into_iter().chain(notes).collect()
}

/// Returns a note as a sentence.
pub(super) fn sentence(diff: &Diff, note: &DiffNote, spelling: Spelling) -> String {
    let option = |option, value: &str| spelling.with(option, value);
    let pair_option = option(OptionName::Pair, "A=B");
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let list = |ids: &[DiffModuleId]| list(diff, ids);
    match note {
        DiffNote::TruncatedShares([before, after]) => format!(
            "{} of the stacks before and {} after do not reach their root: inclusive costs of outer functions are too low on the side with more of them",
            percent(*before),
            percent(*after)
        ),
        DiffNote::Lost([before, after]) => format!(
            "the kernel lost {} of the samples before and {} after",
            percent(*before),
            percent(*after)
        ),
        DiffNote::OtherEvents([before, after]) => format!(
            "only {} is compared; {} selects another event (omitted: {} before and {after} after)",
            diff.event,
            (spelling.of)(OptionName::Event),
            counted(*before, "sample")
        ),
        DiffNote::FilesDiffer(ids) => {
            format!("another build after: {}; functions are matched by name", list(ids))
        }
        DiffNote::WithoutInlines(ids) => {
            format!("one side has no inlined functions, so they are not separate: {}", list(ids))
        }
        DiffNote::Paired(ids) => format!(
            "modules with different names were paired: {}; add {pair_option} for other pairs",
            listed(ids, |id| pair(diff, id, spelling))
        ),
        DiffNote::OneSided(ids) => format!(
            "functions of modules on one side only are not compared: {}; add {pair_option} to pair two modules",
            list(ids)
        ),
        DiffNote::Unnamed(ids) => {
            format!("functions that have a name on one side only are not compared: {}", list(ids))
        }
        DiffNote::OtherLoad([before, after]) => {
            let scale = Scale::new(diff);
            format!(
                "the total is {} before and {} after; if other programs loaded the machine, compare by \
                 {}",
                scale.cost(*before),
                scale.cost(*after),
                option(OptionName::Normalize, "share")
            )
        }
        DiffNote::OtherLength([before, after]) => format!(
            "both sides had the same load, for {before:.2} s and {after:.2} s; if they did the same work, compare totals \
             with {}",
            option(OptionName::Normalize, "A=1,B=1")
        ),
        DiffNote::FewRuns => {
            "nothing is marked: give three or more recordings per side to measure their spread"
                .to_owned()
        }
    }
}

fn list(diff: &Diff, ids: &[DiffModuleId]) -> String {
    listed(ids, |id| printable(module(diff, id)))
}

fn listed(ids: &[DiffModuleId], name: impl Fn(DiffModuleId) -> String) -> String {
    let mut text = ids.iter().take(LISTED).map(|&id| name(id)).collect::<Vec<_>>().join(", ");
    if ids.len() > LISTED {
        text.push_str(&format!(" and {} more", ids.len() - LISTED));
    }
    text
}

/// Returns a module's names before and after, and the reason for the pair, such as
/// `app.old with app.new (name without hash and version)`.
fn pair(diff: &Diff, id: DiffModuleId, spelling: Spelling) -> String {
    let row = diff.modules.get(id);
    let other = row.and_then(|row| row.other_name);
    let with = printable(other.map_or(module(diff, id), |name| diff.text(name)));
    let why = match row.and_then(|row| row.paired) {
        Some(PairedBy::Option) => (spelling.of)(OptionName::Pair),
        Some(PairedBy::Soname) => "soname",
        Some(PairedBy::Stem) => "name without hash and version",
        Some(PairedBy::Functions) => "functions in common",
        Some(PairedBy::Name) | None => "name",
    };
    format!("{} with {with} ({why})", printable(module(diff, id)))
}

/// Describes how costs were normalized.
pub(super) fn normalization(diff: &Diff) -> String {
    match diff.normalization {
        Normalization::Time => "cost per second".to_owned(),
        Normalization::Share => "share of the total".to_owned(),
        Normalization::Samples => "number of samples".to_owned(),
        Normalization::Work { before, after } => {
            format!("cost per unit of work ({before} before, {after} after)")
        }
    }
}

/// Returns the reason that costs were not divided by time; `None` if the user selected another normalization.
pub(super) fn not_by_time(diff: &Diff, spelling: Spelling) -> Option<String> {
    let reason = printable(diff.not_by_time.as_ref()?.to_string().as_bytes());
    let by_time = spelling.with(OptionName::Normalize, "time");
    Some(format!("not compared by {by_time}: {reason}"))
}
