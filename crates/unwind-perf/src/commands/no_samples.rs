//! Advice if no sample passes the filters: the values that exist in the recording.

use address::Timestamp;
use options::SampleFilter;
use pipeline::{Analysis, RejectedSamples};

use crate::failure::NoSamples;
use crate::terminal::shown;

/// Maximum number of values of a kind that are listed.
const NAMED: usize = 10;

/// Returns the advice if the filters left no sample, with the findings of the recording; `None` if some are left, or if
/// there were none before.
pub(super) fn no_samples_advice(analysis: &Analysis, filters: &SampleFilter) -> Option<NoSamples> {
    let samples = analysis.profile.samples.len() as u64;
    let summary = &analysis.profile.summary;
    let filtered = summary.samples_filtered;
    let message = no_samples_advice_of(samples, filtered, &analysis.rejected, filters)?;
    Some(NoSamples { message, findings: summary.findings.clone() })
}

/// Same as [`no_samples_advice`], from the counts of samples and of filtered samples and the description of the latter.
pub(super) fn no_samples_advice_of(
    samples: u64,
    filtered: u64,
    rejected: &RejectedSamples,
    filters: &SampleFilter,
) -> Option<String> {
    if samples > 0 || filtered == 0 {
        return None;
    }
    let name = |name: &[u8]| shown(&String::from_utf8_lossy(name));
    let processes = || {
        let mut pids: Vec<_> = rejected.threads.iter().map(|it| it.0.0).collect();
        pids.dedup();
        pids.iter().map(ToString::to_string).collect()
    };
    let threads = || {
        let threads = rejected.threads.iter();
        threads.map(|(_, tid, comm)| format!("{} ({})", tid.0, name(comm))).collect()
    };
    let comms = || {
        let mut comms: Vec<String> = rejected.threads.iter().map(|it| name(&it.2)).collect();
        comms.sort();
        comms.dedup();
        comms
    };
    let cgroups = || rejected.cgroups.iter().map(|path| name(path)).collect();
    let times = || {
        let seconds = |time: Timestamp| format!("{:.6}", time.0 as f64 / 1e9);
        let times = rejected.times.iter();
        times.map(|(first, last)| format!("{},{}", seconds(*first), seconds(*last))).collect()
    };
    /// An option, true if it was given, and the values that exist for it.
    type FilterValues<'k> = (&'k str, bool, &'k dyn Fn() -> Vec<String>);
    let cpus = || rejected.cpus.iter().map(ToString::to_string).collect();
    let kinds: [FilterValues<'_>; 7] = [
        ("--pid", !filters.pids.is_empty(), &processes),
        ("--tid", !filters.tids.is_empty(), &threads),
        ("--comm", !filters.comms.is_empty(), &comms),
        ("--cgroup", !filters.cgroups.is_empty(), &cgroups),
        ("--event", !filters.events.is_empty(), &|| rejected.events.clone()),
        ("--cpu", !filters.cpus.is_empty(), &cpus),
        ("--time", !filters.time.is_all(), &times),
    ];
    let there: Vec<String> = kinds
        .iter()
        .filter(|(_, given, _)| *given)
        .map(|(option, _, values)| format!("{option}: {}", listed(&values())))
        .collect();
    let there = there.join("; for ");
    let conditions: Vec<_> = filters.conditions.iter().map(ToString::to_string).collect();
    let conditions = conditions.join(" and ");
    Some(match filters.conditions.first() {
        None => format!("no sample passes the filters; there are, for {there}"),
        Some(first) if there.is_empty() => format!(
            "no sample fulfils --where {conditions}; list the values with unwind-perf top --by {}",
            first.field
        ),
        Some(_) => format!(
            "no sample passes the filters, with --where {conditions}; there are, for {there}"
        ),
    })
}

fn listed(values: &[String]) -> String {
    let more = values.len().saturating_sub(NAMED);
    let named: Vec<&str> = values.iter().take(NAMED).map(String::as_str).collect();
    let named = named.join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}
