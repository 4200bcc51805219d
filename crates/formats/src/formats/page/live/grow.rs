//! Growth of the tables with a profile.

use address::ById as _;
use std::ops::Range;

use hashbrown::hash_map::Entry;
use profile::query::{Function, FunctionId, functions};
use profile::{InlineRow, LocationId, Profile, RowId as _, SampleRow, StackId, StringId, Table};

use super::super::head::{PageClock, PageModules, cgroup, facts, module, quality, thread, title};
use super::super::schema::{FILE_OF_FUNCTION, PageFunction};
use super::super::tree::{
    AddressId, ELSEWHERE, INLINED, JOINED, Leaf, LeafId, NodeId, PageNode, frame_flags,
};
use super::rows::StepChanges;
use super::{LiveLeaf, LivePage, LiveStep, StackNode, TimeEncoding};
use crate::render::encoding::json_writer::JsonWriter;

impl LivePage {
    /// Applies a step. Returns `None` if it contradicts the tables sent before: a time exceeds 32 bits, the periods of
    /// an event differ, or an event or the first processor was added.
    pub(super) fn apply(&mut self, step: &LiveStep<'_>) -> Option<StepChanges> {
        let LiveStep { profile, forgotten, named } = step;
        let mut changes =
            StepChanges { forgotten: self.forget(*forgotten), ..StepChanges::default() };
        let skipped = usize::try_from(self.samples - forgotten).ok()?;
        let fresh = profile.samples.as_slice().get(skipped..).unwrap_or_default();
        self.fix_periods(profile, fresh)?;
        if !self.present.cpus && fresh.iter().any(|sample| sample.cpu().is_some()) {
            if !self.facts.is_empty() {
                return None;
            }
            self.present.cpus = true;
        }
        if self.clock.origin.is_none() {
            let first = fresh.iter().find_map(|sample| sample.time());
            self.clock.origin = first.map(|time| time.0);
        }
        let modules = PageModules::new(profile);
        self.state(profile, &modules);
        self.add_modules(profile, &modules, &mut changes);
        self.add_threads(profile, &mut changes);
        self.rename(profile, &modules, named, &mut changes);
        let more = profile.stacks.len().saturating_sub(self.of_stack.len());
        self.of_stack.extend(std::iter::repeat_n(StackNode::Unknown, more));
        fresh.iter().try_for_each(|sample| self.add_sample(profile, &modules, sample))?;
        self.samples += fresh.len() as u64;
        Some(changes)
    }

    /// Removes samples before the index `forgotten`. Returns the number of removed samples.
    fn forget(&mut self, forgotten: u64) -> usize {
        let gone = usize::try_from(forgotten - self.forgotten).unwrap_or(usize::MAX);
        let gone = gone.min(self.rows.samples.len());
        self.rows.samples.forget(gone);
        self.forgotten = forgotten;
        self.samples = self.samples.max(forgotten);
        gone
    }

    /// Stores the periods of events. Returns `None` if the periods of an event differ and were stated to be equal.
    fn fix_periods(&mut self, profile: &Profile, fresh: &[SampleRow]) -> Option<()> {
        if self.fixed.len() != profile.events.len() {
            if !self.fixed.is_empty() {
                return None;
            }
            self.fixed = Table::from_vec(vec![None; profile.events.len()]);
        }
        if self.present.periods {
            return Some(());
        }
        for sample in fresh {
            let Some(known) = self.fixed.get_mut(sample.event) else { continue };
            match (*known, sample.period()) {
                // The page receives the period with its next tables; until then, a sample counts as 1.
                (None, Some(period)) if self.facts.is_empty() => *known = Some(period),
                (None, Some(_)) => return None,
                (Some(known), period) if Some(known) != period => return None,
                _ => {}
            }
        }
        Some(())
    }

    /// Updates the facts of the recording outside of the tables.
    pub(super) fn state(&mut self, profile: &Profile, modules: &PageModules<'_>) {
        let members = |put: &dyn Fn(&mut JsonWriter)| {
            let mut json = JsonWriter::default();
            json.object(put);
            let bytes = json.into_bytes();
            bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default().to_vec()
        };
        let TimeEncoding { unit, origin, .. } = self.clock;
        let clock = PageClock { unit, origin: origin.unwrap_or(0) };
        let fixed = &self.fixed;
        self.title = title(profile);
        self.facts = members(&|json| facts(json, profile, clock, fixed, None));
        self.quality = members(&|json| quality(json, profile, modules));
    }

    fn add_modules(
        &mut self,
        profile: &Profile,
        modules: &PageModules<'_>,
        changes: &mut StepChanges,
    ) {
        for (at, row) in modules.rows.iter().enumerate() {
            let mut json = JsonWriter::default();
            module(&mut json, profile, row);
            let text = json.into_bytes();
            match self.texts.modules.get_mut(at) {
                Some(known) if *known == text => continue,
                Some(known) => *known = text,
                None => self.texts.modules.push(text),
            }
            changes.modules.push(at);
        }
    }

    fn add_threads(&mut self, profile: &Profile, changes: &mut StepChanges) {
        let had = self.texts.has_cgroups;
        self.texts.has_cgroups |= profile.threads.iter().any(|row| row.cgroup.is_some());
        for (at, row) in profile.threads.iter().enumerate() {
            if self.texts.threads.get(at) == Some(row) && had == self.texts.has_cgroups {
                continue;
            }
            let mut json = JsonWriter::default();
            json.array([()], |json, ()| {
                thread(json, profile, row);
                if self.texts.has_cgroups {
                    cgroup(json, profile, row);
                }
            });
            let text = json.into_bytes();
            match (self.texts.threads.get_mut(at), self.texts.thread_texts.get_mut(at)) {
                (Some(known), Some(known_text)) => (*known, *known_text) = (*row, text),
                _ => {
                    self.texts.threads.push(*row);
                    self.texts.thread_texts.push(text);
                }
            }
            changes.threads.push(at);
        }
    }

    /// Moves stacks and leaves to other nodes after their locations got names. Unused nodes remain.
    fn rename(
        &mut self,
        profile: &Profile,
        modules: &PageModules<'_>,
        named: &Range<LocationId>,
        changes: &mut StepChanges,
    ) {
        if named.is_empty() || self.of_stack.is_empty() {
            return;
        }
        let mut moved = vec![false; self.of_stack.len()];
        for (stack, row) in profile.stacks.entries().take(self.of_stack.len()) {
            if self.of_stack.get(stack) == Some(&StackNode::Unknown) {
                continue;
            }
            let frame = profile.frames.get(row.frame);
            let is_named = frame.is_some_and(|frame| named.contains(&frame.location));
            let is_below = row.parent.is_some_and(|parent| moved.by_id(parent) == Some(&true));
            if !is_named && !is_below {
                continue;
            }
            let node = StackNode::Known(self.node_of(profile, modules, stack));
            if let Some(known) = self.of_stack.get_mut(stack)
                && *known != node
            {
                *known = node;
                if let Some(slot) = moved.by_id_mut(stack) {
                    *slot = true;
                }
            }
        }
        for (leaf, row) in self.of_leaf.entries() {
            let Some(stack) = row.stack else { continue };
            let known = self.existing_node(stack);
            if moved.by_id(stack) == Some(&true)
                && let Some(row) = self.rows.leaves.by_id_mut(leaf)
            {
                row.node = known;
                changes.moved.push(leaf.index());
            }
        }
    }

    /// Returns the node of a stack's innermost function, if it exists.
    fn existing_node(&self, stack: StackId) -> Option<NodeId> {
        match self.of_stack.get(stack) {
            Some(&StackNode::Known(node)) => node,
            _ => None,
        }
    }

    /// Returns the node of a stack's innermost function; creates it and its ancestors if necessary.
    fn ensure_node(
        &mut self,
        profile: &Profile,
        modules: &PageModules<'_>,
        stack: StackId,
    ) -> Option<NodeId> {
        let mut todo = Vec::new();
        let mut at = Some(stack);
        while let Some(id) = at.filter(|&id| self.of_stack.get(id) == Some(&StackNode::Unknown)) {
            todo.push(id);
            at = profile.stacks.get(id).and_then(|row| row.parent);
        }
        for id in todo.into_iter().rev() {
            let node = self.node_of(profile, modules, id);
            if let Some(slot) = self.of_stack.get_mut(id) {
                *slot = StackNode::Known(node);
            }
        }
        self.existing_node(stack)
    }

    /// Returns the node of a stack's innermost function. The nodes of its parent must exist.
    fn node_of(
        &mut self,
        profile: &Profile,
        modules: &PageModules<'_>,
        stack: StackId,
    ) -> Option<NodeId> {
        let row = profile.stacks.get(stack)?;
        let outside = row.parent.and_then(|parent| self.existing_node(parent));
        let Some(frame) = profile.frames.get(row.frame) else { return outside };
        let Some(location) = profile.locations.get(frame.location) else { return outside };
        let mut flags = frame_flags(profile, frame, location);
        // The page merges the lines of a function and shows the flag that most of its samples have.
        flags |= if frame.found_by.is_joined() { JOINED } else { 0 };
        let path = location.module.and_then(|id| profile.modules.get(id)).map(|row| row.path);
        let rows = functions(profile, location, self.inlines);
        if rows.is_empty() {
            let function = self.function(profile, modules, Function::unknown(path), None);
            return Some(self.node(PageNode { parent: outside, function, line: 0, flags }));
        }
        let mut node = outside;
        for row in rows.iter().rev() {
            let stated = Function::stated(profile, location, row);
            let function = self.function(profile, modules, stated, row.file);
            let flags = flags | if row.inlined { INLINED } else { 0 };
            let line = self.line(profile, function, row);
            node = Some(self.node(PageNode { parent: node, function, line, flags }));
        }
        node
    }

    fn node(&mut self, row: PageNode) -> NodeId {
        match self.nodes.entry(row) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let nodes = &mut self.rows.nodes;
                nodes.push(row);
                *place.insert(NodeId::from_index(nodes.len() - 1))
            }
        }
    }

    fn function(
        &mut self,
        profile: &Profile,
        modules: &PageModules<'_>,
        function: Function,
        file_of_line: Option<StringId>,
    ) -> FunctionId {
        if let Some(&known) = self.functions.get(&function) {
            return known;
        }
        // A function without a declaration gets the file of its first line.
        let file = if function.line == 0 { function.file.or(file_of_line) } else { function.file };
        let [name, file] = [function.name, file].map(|id| self.name(profile, id));
        let module = modules.number(&function);
        let id = FunctionId::from_index(self.texts.functions.len());
        let row = PageFunction { function: &function, name, file, module }.row();
        self.texts.functions.push(row);
        self.functions.insert(function, id);
        id
    }

    /// Returns the line number of a row. A line in another file than its function gets a separate number.
    fn line(&mut self, profile: &Profile, function: FunctionId, row: &InlineRow) -> u32 {
        let file = row.file.filter(|_| row.line != 0);
        let number = self.name(profile, file);
        let of_function =
            self.texts.functions.by_id(function).map_or(-1, |row| row[FILE_OF_FUNCTION]);
        let Some(file) = file.filter(|_| number != of_function) else {
            return row.line.min(ELSEWHERE - 1);
        };
        let elsewhere = &mut self.texts.elsewhere;
        *self.elsewhere.entry((file, row.line)).or_insert_with(|| {
            elsewhere.push([number, i64::from(row.line)]);
            ELSEWHERE + (elsewhere.len() as u32 - 1)
        })
    }

    /// Returns the index of a string; negative for none.
    fn name(&mut self, profile: &Profile, id: Option<StringId>) -> i64 {
        let Some(id) = id else { return -1 };
        let names = &mut self.texts.names;
        let number = *self.strings.entry(id).or_insert_with(|| {
            names.push(profile.strings.get(id).to_vec());
            names.len() as u32 - 1
        });
        i64::from(number)
    }

    fn add_sample(
        &mut self,
        profile: &Profile,
        modules: &PageModules<'_>,
        sample: &SampleRow,
    ) -> Option<()> {
        let leaf = self.leaf(profile, modules, LiveLeaf { stack: sample.stack, end: sample.end });
        let clock = &mut self.clock;
        if let (Some(time), Some(origin)) = (sample.time(), clock.origin) {
            let now = u32::try_from(time.0.saturating_sub(origin) / clock.unit).ok()?;
            // The largest number means no end.
            clock.last = clock.last.max(now).min(u32::MAX - 1);
        }
        self.rows.samples.push(sample, clock.last, leaf, self.present);
        Some(())
    }

    fn leaf(&mut self, profile: &Profile, modules: &PageModules<'_>, leaf: LiveLeaf) -> LeafId {
        if let Some(&known) = self.leaves.get(&leaf) {
            return known;
        }
        let node = leaf.stack.and_then(|stack| self.ensure_node(profile, modules, stack));
        let frame =
            leaf.stack.and_then(|stack| profile.frames.get(profile.stacks.get(stack)?.frame));
        let rows = &mut self.rows;
        let place = frame.map(|frame| {
            let address = || profile.locations.get(frame.location).map_or(0, |row| row.relative);
            *self.addresses.entry(frame.location).or_insert_with(|| {
                rows.addresses.push(address());
                AddressId::from_index(rows.addresses.len() - 1)
            })
        });
        rows.leaves.push(Leaf { node, address: place, end: leaf.end, wait: None });
        let id = self.of_leaf.push(leaf);
        self.leaves.insert(leaf, id);
        id
    }
}

/// Returns the time from the first sample of a profile to its last, in nanoseconds.
pub(super) fn span(profile: &Profile) -> u64 {
    let mut times = profile.samples.iter().filter_map(|sample| sample.time());
    let first = times.next();
    let last = times.next_back().or(first);
    last.zip(first).map_or(0, |(last, first)| last.0.saturating_sub(first.0))
}

/// Returns true if samples of one event have different periods.
pub(super) fn have_periods(profile: &Profile) -> bool {
    let mut known = vec![None; profile.events.len()];
    profile.samples.iter().any(|sample| {
        let Some(slot) = known.by_id_mut(sample.event) else { return false };
        *slot.get_or_insert(sample.period()) != sample.period()
    })
}
