//! The samples and functions that a filter lets pass.

use hashbrown::HashMap;
use options::Weight;

use super::index::{Alike, Index};
use super::question::{Filter, Patterns, SelectionError};
use crate::id::{EventId, StringId, ThreadId};
use crate::profile::Profile;
use crate::query::functions::{Function, FunctionId, FunctionLine};
use crate::query::grouped::event_name;
use crate::query::weights::WeightUnit;
use crate::tables::Table;

/// Samples of one stack and thread that passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Their stack, among the distinct ones.
    pub(super) stack: u32,
    pub(super) thread: ThreadId,
    pub(super) weight: u64,
}

/// What passed a filter.
#[derive(Debug)]
pub struct Selection<'i> {
    pub(super) profile: &'i Profile,
    pub(super) index: &'i Index,
    /// In order of the first sample.
    pub(super) counted: Vec<Counted>,
    /// Samples that passed.
    pub samples: u64,
    /// Those whose chain is complete.
    pub complete: u64,
    /// The event whose samples are counted; `None` if there are no samples.
    pub event: Option<EventId>,
    /// The unit of weights.
    pub unit: WeightUnit,
    /// Functions that are taken out of the stacks, where there are any.
    hidden: Option<Table<FunctionId, bool>>,
}

impl<'i> Selection<'i> {
    /// The samples and functions that `filter` lets pass.
    ///
    /// # Errors
    /// If the profile has no such event, or an event is named beside times off the processor.
    pub fn new(
        profile: &'i Profile,
        index: &'i Index,
        weight: Weight,
        filter: &Filter,
    ) -> Result<Self, SelectionError> {
        let by_period = weight != Weight::Samples;
        let chosen = match weight {
            Weight::OffCpu if filter.event.is_some() => return Err(SelectionError::EventOfOffCpu),
            Weight::OffCpu => profile.off_cpu,
            _ => chosen_event(profile, index, filter.event.as_deref())?,
        };
        let unit = chosen.filter(|_| by_period).and_then(|id| *index.units.get(id)?);
        let mut selection = Self {
            profile,
            index,
            counted: Vec::new(),
            samples: 0,
            complete: 0,
            event: chosen,
            unit: match unit {
                Some("nanoseconds") => WeightUnit::Nanoseconds,
                Some(_) => WeightUnit::Events,
                None => WeightUnit::Samples,
            },
            hidden: hidden(profile, index, filter),
        };
        let wanted = Wanted::new(profile, index, filter, chosen);
        let focus = Focus::new(&selection, filter);
        wanted.count(&mut selection, &focus, by_period);
        Ok(selection)
    }

    /// Whether a function is shown.
    pub(super) fn shows(&self, function: FunctionId) -> bool {
        self.hidden.as_ref().is_none_or(|hidden| hidden.get(function) != Some(&true))
    }

    /// Whether all functions are shown.
    pub(super) const fn shows_all(&self) -> bool {
        self.hidden.is_none()
    }

    /// The function of an id; an unknown one if there is none.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Function {
        self.index.functions.get(id).copied().unwrap_or(Function::unknown(None))
    }

    /// By line of the index, whether its function is shown.
    pub(super) fn shown_lines(&self) -> Vec<bool> {
        self.index.lines.iter().map(|line| self.shows(line.function)).collect()
    }

    /// The weight of all samples that passed.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counted.iter().map(|it| it.weight).fold(0, u64::saturating_add)
    }

    /// The mark that tells a function apart from others of its name and module.
    #[must_use]
    pub fn mark(&self, function: &Function) -> Option<&str> {
        self.index.marks.of(function)
    }

    /// Counts samples that passed.
    fn count(&mut self, it: &Alike, samples: u32, weight: u64) {
        let samples = u64::from(samples);
        self.samples += samples;
        self.complete += if it.complete { samples } else { 0 };
        self.counted.push(Counted { stack: it.stack, thread: it.thread, weight });
    }
}

/// Which stacks the patterns of functions want; all without patterns.
struct Focus {
    /// By run of the paths, which of the two there are on the way to its end; bits.
    marks: Vec<u8>,
    wanted: u8,
}

const FOCUSED: u8 = 1;
const IGNORED: u8 = 2;

impl Focus {
    fn new(selection: &Selection<'_>, filter: &Filter) -> Self {
        let (focus, ignore) = (&filter.focus, &filter.ignore);
        let wanted = if focus.is_empty() { 0 } else { FOCUSED };
        let mut marks = Vec::new();
        if focus.is_empty() && ignore.is_empty() {
            return Self { marks, wanted };
        }
        let Selection { profile, index, .. } = selection;
        let of_function = index.functions.entries().map(|(id, function)| {
            let is =
                |patterns, mark| if matches(profile, function.name, patterns) { mark } else { 0 };
            let mark = is(focus, FOCUSED) | is(ignore, IGNORED);
            if selection.shows(id) { mark } else { 0 }
        });
        let of_function: Table<FunctionId, u8> = of_function.collect();
        let of_line = |line: &FunctionLine| of_function.get(line.function).copied().unwrap_or(0);
        let of_line: Vec<u8> = index.lines.iter().map(of_line).collect();
        for run in index.paths.runs() {
            let above = marks.get(index.paths.parent(run) as usize).copied().unwrap_or(0);
            let own = index.paths.codes(run).iter();
            let own = own.filter_map(|&line| of_line.get(line as usize));
            marks.push(own.fold(above, |sum, mark| sum | mark));
        }
        Self { marks, wanted }
    }

    /// Whether a stack is wanted that ends at that run.
    fn has(&self, run: u32) -> bool {
        let mark = self.marks.get(run as usize).copied().unwrap_or(0);
        mark & IGNORED == 0 && mark & self.wanted == self.wanted
    }
}

fn matches(profile: &Profile, name: Option<StringId>, patterns: &Patterns) -> bool {
    name.is_some_and(|name| patterns.are_in(profile.strings.get(name)))
}

/// The functions that are taken out of the stacks; `None` for none.
fn hidden(profile: &Profile, index: &Index, filter: &Filter) -> Option<Table<FunctionId, bool>> {
    let (hide, modules) = (&filter.hide, &filter.module);
    let is_wanted = |module| modules.is_empty() || matches(profile, module, modules);
    let wanted: Vec<bool> = index.modules.iter().map(|&module| is_wanted(module)).collect();
    let is_hidden = |(function, module): (&Function, &u32)| {
        wanted.get(*module as usize) != Some(&true) || matches(profile, function.name, hide)
    };
    let hidden: Table<_, _> = index.functions.iter().zip(&index.module_of).map(is_hidden).collect();
    hidden.iter().any(|&is_hidden| is_hidden).then_some(hidden)
}

/// The event of that name, or the first that has samples.
fn chosen_event(
    profile: &Profile,
    index: &Index,
    wanted: Option<&str>,
) -> Result<Option<EventId>, SelectionError> {
    let Some(wanted) = wanted else { return Ok(index.usual_event) };
    let found = profile.events.ids().find(|&id| event_name(profile, id) == wanted.as_bytes());
    found.map(Some).ok_or_else(|| SelectionError::NoEvent { name: wanted.to_owned() })
}

/// What is said of samples.
struct Wanted {
    /// By event.
    events: Vec<bool>,
    /// By thread.
    threads: Vec<bool>,
    time: Option<(u64, u64)>,
}

impl Wanted {
    fn new(profile: &Profile, index: &Index, filter: &Filter, event: Option<EventId>) -> Self {
        let comm = &filter.comm;
        let name = event.map(|id| event_name(profile, id));
        let events = profile.events.ids().map(|id| name == Some(event_name(profile, id)));
        let one_of = |list: &[i32], id: i32| list.is_empty() || list.contains(&id);
        let threads = profile.threads.iter().map(|thread| {
            one_of(&filter.threads, thread.tid.0)
                && one_of(&filter.processes, thread.pid.0)
                && (comm.is_empty() || matches(profile, Some(thread.comm), comm))
        });
        let time = filter.time.zip(index.first_time).map(|((from, to), first)| {
            let at = |seconds: f64| first.saturating_add((seconds.max(0.0) * 1e9) as u64);
            (at(from), at(to))
        });
        Self { events: events.collect(), threads: threads.collect(), time }
    }

    fn has(&self, event: EventId, thread: ThreadId) -> bool {
        self.events.get(event.index()) == Some(&true)
            && self.threads.get(thread.index()) == Some(&true)
    }

    /// Counts the samples that pass.
    fn count(&self, selection: &mut Selection<'_>, focus: &Focus, by_period: bool) {
        let index = selection.index;
        let passes =
            |it: &&Alike| self.has(it.event, it.thread) && focus.has(index.paths.end(it.stack));
        let Some(range) = self.time else {
            for it in index.alike.iter().filter(passes) {
                let weight = if by_period { it.period } else { it.samples.into() };
                selection.count(it, it.samples, weight);
            }
            return;
        };
        let profile = selection.profile;
        let rows = index.samples_within(profile, range);
        let samples = profile.samples.as_slice().get(rows.clone()).unwrap_or_default();
        let alike = index.of_sample.get(rows).unwrap_or_default();
        // The samples of each, in order of the first within the time.
        let mut places: HashMap<u32, usize> = HashMap::new();
        let mut sums: Vec<(&Alike, u32, u64)> = Vec::new();
        for (sample, &at) in samples.iter().zip(alike) {
            let is_within = sample.time().is_some_and(|it| (range.0..=range.1).contains(&it.0));
            let it = index.alike.get(at as usize).filter(|_| is_within).filter(passes);
            let Some(it) = it else { continue };
            let place = *places.entry(at).or_insert_with(|| {
                sums.push((it, 0, 0));
                sums.len() - 1
            });
            if let Some((_, samples, weight)) = sums.get_mut(place) {
                let period = sample.period().filter(|_| by_period);
                *weight = weight.saturating_add(period.unwrap_or(1));
                *samples += 1;
            }
        }
        for (it, samples, weight) in sums {
            selection.count(it, samples, weight);
        }
    }
}
