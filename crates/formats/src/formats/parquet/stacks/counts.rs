//! The distinct stacks of a profile, independent of processes and their load addresses.

use address::{BuildId, ModuleId};
use hashbrown::HashMap;
use profile::query::functions;
use profile::{EndReason, FoundBy, FrameId, LocationRow, Profile, StackId, StringId, Table};

/// A distinct stack of an event and a process, with its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackCount {
    /// Name of the event.
    pub event: StringId,
    /// Name of the process.
    pub process: StringId,
    /// Name of the thread.
    pub comm: StringId,
    /// End reason of the chain.
    pub end: EndReason,
    /// Node of the innermost frame; `None` for a stack without frames.
    pub stack: Option<StackId>,
    /// Number of samples.
    pub samples: u64,
    /// Sum of the periods of the samples; 1 for each sample without one.
    pub weight: u64,
}

/// The properties of a stack that distinguish its row.
pub(super) type StackKey = (StringId, StringId, StringId, EndReason, Option<StackId>);

impl StackCount {
    pub(super) const fn key(&self) -> StackKey {
        (self.event, self.process, self.comm, self.end, self.stack)
    }
}

/// Rows with distinct keys.
#[derive(Debug, Default)]
pub(super) struct StackCounts {
    rows: Vec<StackCount>,
    index: HashMap<StackKey, usize>,
}

impl StackCounts {
    /// Adds a row to that with the same key.
    pub(super) fn add(&mut self, row: StackCount) {
        let at = *self.index.entry(row.key()).or_insert(self.rows.len());
        match self.rows.get_mut(at) {
            Some(known) => {
                known.samples = known.samples.saturating_add(row.samples);
                known.weight = known.weight.saturating_add(row.weight);
            }
            None => self.rows.push(row),
        }
    }

    pub(super) fn into_rows(self) -> Vec<StackCount> {
        self.rows
    }
}

/// The properties of a frame that its row states.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct FrameKey {
    module: Option<(StringId, Option<BuildId>)>,
    offset: Option<u64>,
    function: Option<StringId>,
    found_by: FoundBy,
    kernel: bool,
    whole: bool,
}

/// Returns the distinct stacks of a profile by event, process, thread name, end reason and first appearance.
pub(super) fn distinct_stacks(profile: &Profile) -> Vec<StackCount> {
    let stacks = representatives(profile);
    let mut counts = StackCounts::default();
    for sample in &profile.samples {
        let thread = profile.threads.get(sample.thread);
        let event = profile.events.get(sample.event);
        let (Some(thread), Some(event)) = (thread, event) else { continue };
        counts.add(StackCount {
            event: event.name,
            process: thread.process,
            comm: thread.comm,
            end: sample.end,
            stack: sample.stack.and_then(|stack| stacks.get(stack).copied()),
            samples: 1,
            weight: sample.period().unwrap_or(1),
        });
    }
    let mut events: HashMap<StringId, usize> = HashMap::new();
    for (at, event) in profile.events.iter().enumerate() {
        events.entry(event.name).or_insert(at);
    }
    let text = |id: StringId| profile.strings.get(id);
    let mut rows = counts.into_rows();
    rows.sort_by(|one, other| {
        let key = |row: &StackCount| {
            let event = events.get(&row.event).copied();
            (event, text(row.process), text(row.comm), row.end, row.stack.map(|it| it.index()))
        };
        key(one).cmp(&key(other))
    });
    rows
}

/// Returns the first stack that is equal to each stack: same module, offset and evidence of each frame.
fn representatives(profile: &Profile) -> Table<StackId, StackId> {
    let mut firsts: HashMap<FrameKey, FrameId> = HashMap::new();
    let frames: Table<FrameId, Option<FrameId>> = profile
        .frames
        .entries()
        .map(|(id, frame)| {
            let location = profile.locations.get(frame.location)?;
            let key = FrameKey {
                module: location.module.and_then(|module| module_key(profile, module)),
                offset: location.offset,
                function: name_of(profile, location),
                found_by: frame.found_by,
                kernel: frame.kernel,
                whole: location.is_whole,
            };
            Some(*firsts.entry(key).or_insert(id))
        })
        .collect();
    let mut known: HashMap<(Option<StackId>, Option<FrameId>), StackId> = HashMap::new();
    let mut stacks: Table<StackId, StackId> = Table::new();
    for (id, row) in profile.stacks.entries() {
        let parent = row.parent.and_then(|parent| stacks.get(parent)).copied();
        let frame = frames.get(row.frame).copied().flatten();
        let first = *known.entry((parent, frame)).or_insert(id);
        stacks.push(first);
    }
    stacks
}

fn module_key(profile: &Profile, module: ModuleId) -> Option<(StringId, Option<BuildId>)> {
    profile.modules.get(module).map(|module| (module.path, module.build_id))
}

/// Returns the name of the function that is not inlined.
fn name_of(profile: &Profile, location: &LocationRow) -> Option<StringId> {
    functions(profile, location, false).first().and_then(|row| row.function)
}
