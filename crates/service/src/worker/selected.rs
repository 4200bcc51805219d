//! The samples and functions that a filter lets pass, counted together by stack and thread.

use hashbrown::HashMap;
use profile::query::{Function, FunctionId, FunctionLine, Functions, event_name, period_units};
use profile::{EventId, Profile, SampleRow, StackId, Table, ThreadId};

use crate::problem::{Kind, Problem};
use crate::query::{Filter, Patterns, Query, WeightChoice};

/// Samples of one stack and thread.
#[derive(Debug)]
pub(super) struct Stack {
    pub(super) id: Option<StackId>,
    pub(super) thread: ThreadId,
    pub(super) weight: u64,
    samples: u64,
    complete: bool,
}

/// What passed a filter.
pub(super) struct Selected<'p> {
    pub(super) profile: &'p Profile,
    /// In order of first appearance.
    pub(super) stacks: Vec<Stack>,
    pub(super) samples: u64,
    /// Samples whose chain is complete.
    pub(super) complete: u64,
    pub(super) event: Option<String>,
    pub(super) unit: &'static str,
    functions: Functions,
    hidden: Table<FunctionId, bool>,
}

impl<'p> Selected<'p> {
    pub(super) fn new(profile: &'p Profile, query: &Query, inlines: bool) -> Result<Self, Problem> {
        let filter = &query.filter;
        let functions = Functions::new(profile, inlines);
        let by_period = query.weight != WeightChoice::Samples;
        let chosen = match query.weight {
            WeightChoice::OffCpu if filter.event.is_some() => {
                let text = "times off the processor are an event of their own";
                return Err(Problem::new(Kind::BadRequest).detail(text));
            }
            WeightChoice::OffCpu => profile.off_cpu,
            _ => chosen_event(profile, filter.event.as_deref())?,
        };
        let unit = chosen.filter(|_| by_period).and_then(|id| *period_units(profile).get(id)?);
        let hide = Patterns::new(&filter.hide)?;
        let modules = Patterns::new(&filter.module)?;
        let is_hidden = |function: &Function| {
            matches(profile, function.name, &hide)
                || !(modules.is_empty() || matches(profile, function.module, &modules))
        };
        let hidden = functions.rows.iter().map(is_hidden).collect();
        let name = |id| String::from_utf8_lossy(event_name(profile, id)).into_owned();
        let mut selected = Self {
            profile,
            stacks: Vec::new(),
            samples: 0,
            complete: 0,
            event: chosen.map(name),
            unit: unit.unwrap_or("samples"),
            functions,
            hidden,
        };
        selected.count(filter, chosen, by_period)?;
        selected.keep_focus(filter)?;
        Ok(selected)
    }

    /// The functions of a stack that are shown, innermost first.
    pub(super) fn path(&self, stack: &Stack, path: &mut Vec<FunctionLine>) {
        self.functions.path(self.profile, stack.id, path);
        path.retain(|at| self.hidden.get(at.function) != Some(&true));
    }

    pub(super) fn function(&self, id: FunctionId) -> Function {
        let unknown = Function { name: None, file: None, module: None };
        self.functions.rows.get(id).copied().unwrap_or(unknown)
    }

    /// Counts the samples that pass what is said of samples.
    fn count(
        &mut self,
        filter: &Filter,
        event: Option<EventId>,
        by_period: bool,
    ) -> Result<(), Problem> {
        let wanted = Wanted::new(self.profile, filter, event)?;
        let mut index: HashMap<(Option<StackId>, ThreadId, bool), usize> = HashMap::new();
        for sample in self.profile.samples.iter().filter(|sample| wanted.has(sample)) {
            let complete = sample.end.is_complete();
            let weight = if by_period { sample.period.unwrap_or(1) } else { 1 };
            let key = (sample.stack, sample.thread, complete);
            let at = *index.entry(key).or_insert_with(|| {
                let (id, thread) = (sample.stack, sample.thread);
                self.stacks.push(Stack { id, thread, weight: 0, samples: 0, complete });
                self.stacks.len() - 1
            });
            if let Some(stack) = self.stacks.get_mut(at) {
                stack.weight = stack.weight.saturating_add(weight);
                stack.samples += 1;
            }
        }
        Ok(())
    }

    /// Leaves out the stacks that the patterns of functions do not want.
    fn keep_focus(&mut self, filter: &Filter) -> Result<(), Problem> {
        let (focus, ignore) = (Patterns::new(&filter.focus)?, Patterns::new(&filter.ignore)?);
        let marks = |patterns: &Patterns| -> Table<FunctionId, bool> {
            let rows = self.functions.rows.iter();
            rows.map(|it| matches(self.profile, it.name, patterns)).collect()
        };
        let (focused, ignored) = (marks(&focus), marks(&ignore));
        let mut path = Vec::new();
        let mut stacks = std::mem::take(&mut self.stacks);
        stacks.retain(|stack| {
            self.path(stack, &mut path);
            let has = |marks: &Table<FunctionId, bool>| {
                path.iter().any(|at| marks.get(at.function) == Some(&true))
            };
            (focus.is_empty() || has(&focused)) && (ignore.is_empty() || !has(&ignored))
        });
        self.samples = stacks.iter().map(|stack| stack.samples).sum();
        self.complete = stacks.iter().filter(|it| it.complete).map(|it| it.samples).sum();
        self.stacks = stacks;
        Ok(())
    }
}

fn matches(profile: &Profile, name: Option<profile::StringId>, patterns: &Patterns) -> bool {
    name.is_some_and(|name| patterns.are_in(profile.strings.get(name)))
}

/// The event of that name, or the first that has samples.
fn chosen_event(profile: &Profile, wanted: Option<&str>) -> Result<Option<EventId>, Problem> {
    let Some(wanted) = wanted else {
        let recorded = profile.samples.iter().map(|sample| sample.event);
        return Ok(recorded.filter(|event| profile.off_cpu != Some(*event)).min());
    };
    let found = profile.events.ids().find(|&id| event_name(profile, id) == wanted.as_bytes());
    let missing = || Problem::new(Kind::DoesNotFit).detail(format!("there is no event {wanted}"));
    found.map(Some).ok_or_else(missing)
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
    fn new(profile: &Profile, filter: &Filter, event: Option<EventId>) -> Result<Self, Problem> {
        let comm = Patterns::new(&filter.comm)?;
        let name = event.map(|id| event_name(profile, id));
        let events = profile.events.ids().map(|id| name == Some(event_name(profile, id)));
        let one_of = |list: &[i32], id: i32| list.is_empty() || list.contains(&id);
        let threads = profile.threads.iter().map(|thread| {
            one_of(&filter.threads, thread.tid.0)
                && one_of(&filter.processes, thread.pid.0)
                && (comm.is_empty() || matches(profile, Some(thread.comm), &comm))
        });
        let first = profile.samples.iter().filter_map(|sample| sample.time).min();
        let time = filter.time.zip(first).map(|((from, to), first)| {
            let at = |seconds: f64| first.0.saturating_add((seconds.max(0.0) * 1e9) as u64);
            (at(from), at(to))
        });
        Ok(Self { events: events.collect(), threads: threads.collect(), time })
    }

    fn has(&self, sample: &SampleRow) -> bool {
        self.events.get(sample.event.index()) == Some(&true)
            && self.threads.get(sample.thread.index()) == Some(&true)
            && self.time.is_none_or(|(from, to)| {
                sample.time.is_some_and(|time| (from..=to).contains(&time.0))
            })
    }
}
