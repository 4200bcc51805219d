//! Samples counted together, and the functions of stacks as small numbers: what the printers of call graphs share.

use hashbrown::HashMap;

use crate::profile::{LocationRow, NO_STACK, Profile, SampleRow, StackRow};
use crate::query::functions;
use crate::tables::StringId;

/// Samples that are alike, in order of the first of them.
#[derive(Debug)]
pub struct Group<K> {
    /// What they have in common.
    pub key: K,
    /// How many there are.
    pub count: u64,
    /// Sum of their periods; a sample without one counts 1, where the sum is over periods at all.
    pub period: u64,
}

/// Counts samples together by a key.
pub fn group<K: Copy + Eq + std::hash::Hash>(
    samples: &[SampleRow],
    key_of: impl Fn(&SampleRow) -> K,
) -> Vec<Group<K>> {
    let mut index: HashMap<K, u32> = HashMap::new();
    let mut groups: Vec<Group<K>> = Vec::new();
    for sample in samples {
        let key = key_of(sample);
        let at = *index.entry(key).or_insert_with(|| {
            groups.push(Group { key, count: 0, period: 0 });
            groups.len() as u32 - 1
        });
        if let Some(group) = groups.get_mut(at as usize) {
            group.count += 1;
            group.period = group.period.saturating_add(sample.period.unwrap_or(1));
        }
    }
    groups
}

/// A function as users tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function {
    /// Its name; `None` where unknown.
    pub name: Option<StringId>,
    /// Its source file.
    pub file: Option<StringId>,
    /// The path of the module that holds it.
    pub module: Option<StringId>,
}

/// A function at one of its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// Index of `Functions::rows`.
    pub function: u32,
    /// The line; 0 where unknown.
    pub line: u32,
}

/// The distinct functions of a profile, and those at each location.
#[derive(Debug)]
pub struct Functions {
    /// Distinct functions, in order of first appearance.
    pub rows: Vec<Function>,
    places: Vec<At>,
    /// By location: where its functions end in `places`.
    ends: Vec<u32>,
}

impl Functions {
    /// All functions of `profile`; `inlines`: whether inlined ones are functions of their own.
    pub fn new(profile: &Profile, inlines: bool) -> Self {
        let mut index: HashMap<Function, u32> = HashMap::new();
        let mut all = Self { rows: Vec::new(), places: Vec::new(), ends: Vec::new() };
        for location in &profile.locations {
            let module = module_path(profile, location);
            let rows = functions(profile, location, inlines);
            let unknown =
                rows.is_empty().then_some((Function { name: None, file: None, module }, 0));
            let known = rows
                .iter()
                .map(|row| (Function { name: row.function, file: row.file, module }, row.line));
            for (function, line) in known.chain(unknown) {
                let id = *index.entry(function).or_insert_with(|| {
                    all.rows.push(function);
                    all.rows.len() as u32 - 1
                });
                all.places.push(At { function: id, line });
            }
            all.ends.push(all.places.len() as u32);
        }
        all
    }

    /// The functions at a location, innermost first.
    pub fn at(&self, location: u32) -> &[At] {
        let location = location as usize;
        let start = location.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(location).copied().unwrap_or(0);
        self.places.get(start.unwrap_or(0) as usize..end as usize).unwrap_or_default()
    }

    /// Puts the functions of a stack into `path`, innermost first.
    pub fn path(&self, profile: &Profile, stack: u32, path: &mut Vec<At>) {
        path.clear();
        each_location(profile, stack, |location| path.extend_from_slice(self.at(location)));
    }
}

/// Calls `visit` with each location of a stack, innermost first.
pub fn each_location(profile: &Profile, stack: u32, mut visit: impl FnMut(u32)) {
    let mut node = stack;
    while let Some(&StackRow { parent, frame }) = profile.stacks.get(node as usize) {
        if let Some(frame) = profile.frames.get(frame as usize) {
            visit(frame.location);
        }
        // Parents come before their children: a table that breaks this ends the stack instead of looping.
        node = if parent < node { parent } else { NO_STACK };
    }
}

fn module_path(profile: &Profile, location: &LocationRow) -> Option<StringId> {
    profile.modules.get(location.module?.index()).map(|module| module.path)
}

/// By event: in what its periods are counted; `None` where its samples have none.
pub fn period_units(profile: &Profile) -> Vec<Option<&'static str>> {
    let mut units = vec![None; profile.events.len()];
    for sample in profile.samples.iter().filter(|sample| sample.period.is_some()) {
        if let Some(unit @ None) = units.get_mut(usize::from(sample.event)) {
            *unit = Some(unit_of(event_name(profile, sample.event)));
        }
    }
    units
}

/// The name of an event; empty where there is none of that index.
pub fn event_name(profile: &Profile, event: u16) -> &[u8] {
    profile.events.get(usize::from(event)).map_or(&[], |event| profile.strings.get(event.name))
}

/// The clocks of the kernel count nanoseconds, with or without modifiers behind a colon.
fn unit_of(event: &[u8]) -> &'static str {
    let name = event.split(|&byte| byte == b':').next().unwrap_or_default();
    if name == b"cpu-clock" || name == b"task-clock" { "nanoseconds" } else { "count" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_count_nanoseconds() {
        for (event, unit) in [
            ("cpu-clock", "nanoseconds"),
            ("task-clock:u", "nanoseconds"),
            ("cycles", "count"),
            ("cpu-clock-like", "count"),
        ] {
            assert_eq!(unit_of(event.as_bytes()), unit, "{event}");
        }
    }
}
