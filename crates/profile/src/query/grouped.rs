//! Grouping of samples, and units of their periods.

use hashbrown::HashMap;

use crate::id::{EventId, SampleId};
use crate::profile::Profile;
use crate::tables::{SampleRow, Table};

/// Samples with an equal key. Groups are in the order of their first samples.
#[derive(Debug)]
pub struct SampleGroup<K> {
    /// The common key.
    pub key: K,
    /// Number of samples.
    pub count: u64,
    /// Sum of their periods; a sample without a period counts as 1.
    pub period: u64,
}

/// Groups the samples of `profile` by a key.
pub fn group<K: Copy + Eq + std::hash::Hash>(
    profile: &Profile,
    key_of: impl Fn(&SampleRow) -> K,
) -> Vec<SampleGroup<K>> {
    group_with_ids(profile, |_, sample| key_of(sample))
}

/// Does the same for keys that depend on more than the row of a sample.
pub fn group_with_ids<K: Copy + Eq + std::hash::Hash>(
    profile: &Profile,
    key_of: impl Fn(SampleId, &SampleRow) -> K,
) -> Vec<SampleGroup<K>> {
    let mut index: HashMap<K, u32> = HashMap::new();
    let mut groups: Vec<SampleGroup<K>> = Vec::new();
    for (id, sample) in profile.samples.entries() {
        let key = key_of(id, sample);
        let at = *index.entry(key).or_insert_with(|| {
            groups.push(SampleGroup { key, count: 0, period: 0 });
            groups.len() as u32 - 1
        });
        if let Some(group) = groups.get_mut(at as usize) {
            group.count += 1;
            group.period = group.period.saturating_add(sample.period().unwrap_or(1));
        }
    }
    groups
}

/// The unit of clocks.
const NANOSECONDS: &str = "nanoseconds";

/// Returns, by event, the unit of its periods; `None` if its samples have no periods.
pub fn period_units(profile: &Profile) -> Table<EventId, Option<&'static str>> {
    let mut units = Table::from_vec(vec![None; profile.events.len()]);
    for sample in profile.samples.iter().filter(|sample| sample.period().is_some()) {
        if let Some(unit @ None) = units.get_mut(sample.event) {
            let off_cpu = profile.off_cpu == Some(sample.event);
            *unit = Some(if off_cpu || profile.fields.spans.is_weight() {
                NANOSECONDS
            } else {
                unit_of(event_name(profile, sample.event))
            });
        }
    }
    units
}

/// Returns the name of an event; empty if the id is unknown.
pub fn event_name(profile: &Profile, event: EventId) -> &[u8] {
    profile.events.get(event).map_or(&[], |event| profile.strings.get(event.name))
}

/// Returns the unit of an event. Kernel clocks count nanoseconds; a colon starts modifiers, and slashes enclose
/// settings.
fn unit_of(event: &[u8]) -> &'static str {
    let name = event.split(|byte| b":/".contains(byte)).next().unwrap_or_default();
    if name == b"cpu-clock" || name == b"task-clock" { NANOSECONDS } else { "count" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_count_nanoseconds() {
        for (event, unit) in [
            ("cpu-clock", "nanoseconds"),
            ("task-clock:u", "nanoseconds"),
            ("cpu-clock/freq=997/u", "nanoseconds"),
            ("cycles", "count"),
            ("cpu-clock-like", "count"),
        ] {
            assert_eq!(unit_of(event.as_bytes()), unit, "{event}");
        }
    }
}
