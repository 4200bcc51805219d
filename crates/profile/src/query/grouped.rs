//! Samples counted together, and in what their periods are counted.

use hashbrown::HashMap;

use crate::id::EventId;
use crate::profile::Profile;
use crate::tables::{SampleRow, Table};

/// Samples that are alike, in order of the first of them.
#[derive(Debug)]
pub struct SampleGroup<K> {
    /// What they have in common.
    pub key: K,
    /// How many there are.
    pub count: u64,
    /// Sum of their periods; a sample without one counts 1, where the sum is over periods at all.
    pub period: u64,
}

/// Counts the samples of `profile` together by a key.
pub fn group<K: Copy + Eq + std::hash::Hash>(
    profile: &Profile,
    key_of: impl Fn(&SampleRow) -> K,
) -> Vec<SampleGroup<K>> {
    let mut index: HashMap<K, u32> = HashMap::new();
    let mut groups: Vec<SampleGroup<K>> = Vec::new();
    for sample in &profile.samples {
        let key = key_of(sample);
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

/// By event: in what its periods are counted; `None` where its samples have none.
pub fn period_units(profile: &Profile) -> Table<EventId, Option<&'static str>> {
    let mut units = Table::from_vec(vec![None; profile.events.len()]);
    for sample in profile.samples.iter().filter(|sample| sample.period().is_some()) {
        if let Some(unit @ None) = units.get_mut(sample.event) {
            let off_cpu = profile.off_cpu == Some(sample.event);
            *unit = Some(if off_cpu {
                NANOSECONDS
            } else {
                unit_of(event_name(profile, sample.event))
            });
        }
    }
    units
}

/// The name of an event; empty where there is none of that id.
pub fn event_name(profile: &Profile, event: EventId) -> &[u8] {
    profile.events.get(event).map_or(&[], |event| profile.strings.get(event.name))
}

/// The clocks of the kernel count nanoseconds, with or without modifiers after a colon and settings between slashes.
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
