//! Reference model: each query counts all samples, stack by stack, and sums them by name in order of occurrence.

use hashbrown::HashMap;
use options::{CostKind, GroupBy, QueryFilter, Weight};
use profile::query::{Function, FunctionId, FunctionLine, Functions, event_name, period_units};
use profile::{EventId, Profile, StringId, ThreadId};
use serde_json::{Value, json};

use crate::protocol::{Query, QueryView};
use profile::query::engine::Patterns;

/// Samples with equal stack, thread, event and processor.
struct Stack {
    thread: ThreadId,
    event: EventId,
    cpu: Option<u32>,
    wait: Option<profile::WaitKind>,
    path: Vec<FunctionLine>,
    weight: u64,
    samples: u64,
    complete: bool,
}

/// Returns the answer as JSON, or the reason that there is none.
pub(super) fn answer(
    profile: &Profile,
    query: &Query,
    inlines: bool,
) -> Result<String, Option<String>> {
    let functions = Functions::new(profile, inlines);
    let is_every = query.view == QueryView::Top
        && query.group == GroupBy::Event.into()
        && query.filter.event.is_none();
    let chosen = match query.weight() {
        _ if is_every => None,
        Weight::OffCpu if query.filter.event.is_some() => {
            return Err(Some("off-CPU times are a separate event".to_owned()));
        }
        Weight::OffCpu => profile.off_cpu,
        _ => chosen_event(profile, query.filter.event.as_deref())?,
    };
    let by_period = query.weight() != Weight::Samples && !is_every;
    let events = profile.events.ids().filter(|&id| {
        is_every || chosen.is_some_and(|of| event_name(profile, of) == event_name(profile, id))
    });
    let events: Vec<EventId> = events.collect();
    let stacks = stacks(profile, &functions, query, &events, by_period);
    let sum = |of: fn(&Stack) -> u64| stacks.iter().map(of).sum::<u64>();
    let (samples, total) = (sum(|it| it.samples), sum(|it| it.weight));
    let complete = sum(|it| if it.complete { it.samples } else { 0 });
    let least = (query.min_share * total as f64).ceil() as u64;
    let (rows, cut) = match query.view {
        QueryView::Top => top(profile, &functions, &stacks, query, least),
        QueryView::Tree | QueryView::Spans => tree(profile, &functions, &stacks, query, least),
    };
    let unit = match query.weight() {
        Weight::OffCpu if !is_every => Some("nanoseconds"),
        _ => chosen.filter(|_| by_period).and_then(|id| *period_units(profile).get(id)?),
    };
    let event = chosen.map(|id| String::from_utf8_lossy(event_name(profile, id)).into_owned());
    let share = complete as f64 / samples.max(1) as f64;
    Ok(format!(
        r#"{{"unit":"{}","event":{},"samples":{samples},"total":{total},"complete_share":{},"cut":{cut},"rows":[{}]}}"#,
        unit.unwrap_or("samples"),
        json!(event),
        json!(share),
        rows.join(","),
    ))
}

fn chosen_event(
    profile: &Profile,
    wanted: Option<&str>,
) -> Result<Option<EventId>, Option<String>> {
    let Some(wanted) = wanted else {
        let recorded = profile.samples.iter().map(|sample| sample.event);
        return Ok(recorded.filter(|event| profile.off_cpu != Some(*event)).min());
    };
    let found = profile.events.ids().find(|&id| event_name(profile, id) == wanted.as_bytes());
    found.map(Some).ok_or_else(|| Some(format!("there is no event {wanted}")))
}

fn has(profile: &Profile, name: Option<StringId>, patterns: &[String]) -> bool {
    let patterns = Patterns::new(patterns, 1 << 20).unwrap();
    name.is_some_and(|name| patterns.are_in(profile.strings.get(name)))
}

/// Returns the samples that pass the filter, in order of the first sample of each stack.
fn stacks(
    profile: &Profile,
    functions: &Functions,
    query: &Query,
    events: &[EventId],
    by_period: bool,
) -> Vec<Stack> {
    let QueryFilter { time, threads, processes, comm, .. } = &query.filter;
    let first = profile.samples.iter().filter_map(|sample| sample.time()).min();
    let time = time.zip(first).map(|((from, to), first)| {
        let at = |seconds: f64| first.0 + (seconds.max(0.0) * 1e9) as u64;
        at(from)..=at(to)
    });
    let mut index = HashMap::new();
    let mut stacks: Vec<Stack> = Vec::new();
    for sample in &profile.samples {
        let Some(thread) = profile.threads.get(sample.thread) else { continue };
        let is_within = |range: &std::ops::RangeInclusive<u64>| {
            sample.time().is_some_and(|time| range.contains(&time.0))
        };
        let passes = events.contains(&sample.event)
            && (threads.is_empty() || threads.contains(&thread.tid.0))
            && (processes.is_empty() || processes.contains(&thread.pid.0))
            && (comm.is_empty() || has(profile, Some(thread.comm), comm))
            && time.as_ref().is_none_or(is_within);
        if !passes {
            continue;
        }
        let complete = sample.end.is_complete();
        let cpu = sample.cpu().filter(|_| query.group == GroupBy::Cpu.into());
        let wait = sample.wait().filter(|_| query.group == GroupBy::Wait.into());
        let key = (sample.stack, sample.thread, complete, sample.event, cpu, wait);
        let at = *index.entry(key).or_insert_with(|| {
            let mut path = Vec::new();
            functions.path(profile, sample.stack, &mut path);
            let (thread, event) = (sample.thread, sample.event);
            stacks.push(Stack { thread, event, cpu, wait, path, weight: 0, samples: 0, complete });
            stacks.len() - 1
        });
        stacks[at].weight += if by_period { sample.period().unwrap_or(1) } else { 1 };
        stacks[at].samples += 1;
    }
    choose_functions(profile, functions, &query.filter, &mut stacks);
    stacks
}

/// Removes stacks by `focus` and `ignore`, and functions by the other patterns.
fn choose_functions(
    profile: &Profile,
    functions: &Functions,
    filter: &QueryFilter,
    stacks: &mut Vec<Stack>,
) {
    let QueryFilter { focus, ignore, hide, module, charge, collapse_recursion, .. } = filter;
    let name = |at: &FunctionLine| functions.rows.get(at.function).and_then(|it| it.name);
    stacks.retain(|stack| {
        let has =
            |patterns: &[String]| stack.path.iter().any(|at| has(profile, name(at), patterns));
        (focus.is_empty() || has(focus)) && (ignore.is_empty() || !has(ignore))
    });
    for stack in stacks {
        if let Some(outermost) = stack.path.iter().rposition(|at| has(profile, name(at), charge)) {
            stack.path.drain(..=outermost);
        }
        stack.path.retain(|at| {
            let Some(Function { name, module: of, .. }) = functions.rows.get(at.function) else {
                return true;
            };
            !has(profile, *name, hide) && (module.is_empty() || has(profile, *of, module))
        });
        if *collapse_recursion {
            let mut path: Vec<FunctionLine> = Vec::new();
            for at in stack.path.iter().rev() {
                match path.iter().position(|it| it.function == at.function) {
                    Some(outer) => path.truncate(outer + 1),
                    None => path.push(*at),
                }
            }
            path.reverse();
            stack.path = path;
        }
    }
}

/// Returns a row without its numbers.
fn named(profile: &Profile, fields: &[(&str, Option<StringId>)]) -> Vec<(String, Value)> {
    let text = |id| String::from_utf8_lossy(profile.strings.get(id)).into_owned();
    let fields = fields.iter().filter(|(name, id)| *name == "name" || id.is_some());
    fields.map(|(name, id)| ((*name).to_owned(), json!(id.map(text)))).collect()
}

fn code(profile: &Profile, functions: &Functions, at: FunctionLine) -> Vec<(String, Value)> {
    let unknown = Function::unknown(None);
    let it = functions.rows.get(at.function).copied().unwrap_or(unknown);
    let mut row = named(profile, &[("name", it.name), ("module", it.module), ("file", it.file)]);
    row.extend((at.line > 0).then(|| ("line".to_owned(), json!(at.line))));
    row
}

fn text(row: Vec<(String, Value)>, numbers: &[(&str, Option<u64>)]) -> String {
    let numbers = numbers.iter().filter_map(|(name, number)| Some((*name, json!((*number)?))));
    let all = row.into_iter().chain(numbers.map(|(name, value)| (name.to_owned(), value)));
    let all: Vec<String> = all.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", all.join(","))
}

/// Sums of one key.
struct Sum {
    row: Vec<(String, Value)>,
    own: u64,
    inclusive: u64,
    /// Last counted stack, so that a stack that contains a function twice is counted once.
    last: usize,
}

/// Returns the grouping keys of a stack, each with its row.
fn keys(
    profile: &Profile,
    functions: &Functions,
    stack: &Stack,
    group: GroupBy,
) -> Vec<(Value, Vec<(String, Value)>)> {
    let thread = profile.threads.get(stack.thread).unwrap();
    let comm = String::from_utf8_lossy(profile.strings.get(thread.comm)).into_owned();
    let named_so = |key: Value, name: String| vec![(key, vec![("name".to_owned(), json!(name))])];
    match group {
        GroupBy::Thread => {
            named_so(json!(stack.thread.index()), format!("{comm} {}", thread.tid.0))
        }
        GroupBy::Process => {
            let name = String::from_utf8_lossy(profile.strings.get(thread.process));
            let name = format!("{name} {}", thread.pid.0);
            named_so(json!(name), name)
        }
        GroupBy::Comm => named_so(json!(comm), comm),
        GroupBy::Cgroup => {
            let row = named(profile, &[("name", thread.cgroup)]);
            vec![(json!(thread.cgroup.map(|id| id.index())), row)]
        }
        GroupBy::Event => {
            let name = profile.events.get(stack.event).map(|it| it.name);
            vec![(json!(stack.event.index()), named(profile, &[("name", name)]))]
        }
        GroupBy::Wait => {
            let name = stack.wait.map(|kind| kind.to_string());
            vec![(json!(name), vec![("name".to_owned(), json!(name))])]
        }
        GroupBy::Cpu => {
            let name = stack.cpu.map(|cpu| cpu.to_string());
            vec![(json!(stack.cpu), vec![("name".to_owned(), json!(name))])]
        }
        _ => {
            let keys = stack.path.iter().map(|&at| {
                let of = functions.rows.get(at.function).and_then(|it| it.module);
                if group == GroupBy::Module {
                    return (json!(of.map(|id| id.index())), named(profile, &[("name", of)]));
                }
                let line = if group == GroupBy::Line { at.line } else { 0 };
                let key = json!([at.function.index(), line]);
                (key, code(profile, functions, FunctionLine { line, ..at }))
            });
            keys.collect()
        }
    }
}

fn top(
    profile: &Profile,
    functions: &Functions,
    stacks: &[Stack],
    query: &Query,
    least: u64,
) -> (Vec<String>, usize) {
    let mut sums: Vec<Sum> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for (number, stack) in (1..).zip(stacks) {
        let keys = keys(profile, functions, stack, query.group.choice().unwrap_or_default());
        for (depth, (key, row)) in keys.into_iter().enumerate() {
            let at = *index.entry(key.to_string()).or_insert_with(|| {
                sums.push(Sum { row, own: 0, inclusive: 0, last: 0 });
                sums.len() - 1
            });
            let sum = &mut sums[at];
            sum.own += if depth == 0 { stack.weight } else { 0 };
            sum.inclusive += if sum.last == number { 0 } else { stack.weight };
            sum.last = number;
        }
    }
    let all = sums.len();
    sums.retain(|sum| sum.inclusive >= least);
    sums.sort_by_key(|sum| {
        std::cmp::Reverse(match query.sort {
            CostKind::Own => (sum.own, sum.inclusive),
            CostKind::Inclusive => (sum.inclusive, sum.own),
        })
    });
    sums.truncate(query.rows());
    let rows = sums.into_iter().map(|Sum { row, own, inclusive, .. }| {
        text(row, &[("own", Some(own)), ("inclusive", Some(inclusive))])
    });
    let rows: Vec<String> = rows.collect();
    let cut = all - rows.len();
    (rows, cut)
}

/// Node of the tree: function, parent, depth, own weight, and inclusive weight.
type Node = (FunctionId, Option<usize>, usize, u64, u64);

fn tree(
    profile: &Profile,
    functions: &Functions,
    stacks: &[Stack],
    query: &Query,
    least: u64,
) -> (Vec<String>, usize) {
    let mut index: HashMap<(Option<usize>, FunctionId), usize> = HashMap::new();
    let mut nodes: Vec<Node> = Vec::new();
    for stack in stacks {
        let mut path: Vec<FunctionId> = stack.path.iter().map(|at| at.function).collect();
        if !query.inverted {
            path.reverse();
        }
        let mut parent = None;
        for (depth, &function) in path.iter().enumerate() {
            let node = *index.entry((parent, function)).or_insert_with(|| {
                nodes.push((function, parent, depth, 0, 0));
                nodes.len() - 1
            });
            nodes[node].4 += stack.weight;
            nodes[node].3 += if depth + 1 == path.len() { stack.weight } else { 0 };
            parent = Some(node);
        }
    }
    let is_kept =
        |node: &Node| node.4 >= least && query.depth.is_none_or(|deepest| node.2 < deepest);
    let mut kept: Vec<usize> = (0..nodes.len()).filter(|&at| is_kept(&nodes[at])).collect();
    kept.sort_by_key(|&at| (std::cmp::Reverse(nodes[at].4), at));
    kept.truncate(query.rows());
    kept.sort_unstable();
    let rows = kept.iter().map(|&at| {
        let (function, parent, depth, own, inclusive) = nodes[at];
        let parent = parent.and_then(|parent| kept.iter().position(|&it| it == parent));
        let numbers = [
            ("parent", parent.map(|it| it as u64)),
            ("depth", Some(depth as u64)),
            ("own", Some(own)),
            ("inclusive", Some(inclusive)),
        ];
        text(code(profile, functions, FunctionLine { function, file: None, line: 0 }), &numbers)
    });
    let rows: Vec<String> = rows.collect();
    let cut = nodes.len() - rows.len();
    (rows, cut)
}
