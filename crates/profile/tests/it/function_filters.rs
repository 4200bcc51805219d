//! A profile without the functions that a filter removes gives the same costs as a query with this filter.

use address::{Bias, ModuleId, Pid, Tid};
use options::{GroupBy, QueryFilter, Weight};
use profile::query::engine::{
    CallLabel, EventChoice, Filter, FunctionFilter, Index, RowKey, Selection, TableShape,
    TreeShape, table, tree,
};
use profile::query::{Function, FunctionId};
use profile::{
    EndReason, EventId, EventRow, FoundBy, FrameRow, InlineRow, LayoutId, LocationRow, ModuleKind,
    ModuleLoss, ModuleRow, Profile, RowId as _, SampleRow, StackRow, StringId, ThreadId, ThreadRow,
};

const SEEDS: u64 = 200;
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A generator of numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

/// A function of each name for each of two modules.
fn row(profile: &mut Profile, name: usize, module: usize, inlined: bool) -> InlineRow {
    let function = Some(profile.strings.intern(NAMES[name].as_bytes()));
    let file = Some(profile.strings.intern(b"a.c"));
    let declared_line = (10 * name + module + 1) as u32;
    let line = declared_line * 100 + profile.inlines.len() as u32 % 3;
    let declared_file = file;
    InlineRow { function, file, line, inlined, declared_file, declared_line, column: 0 }
}

/// Adds frames of random functions, some inlined into others, in two modules.
fn add_frames(profile: &mut Profile, numbers: &mut Numbers) {
    for path in ["/bin/one", "/lib/two"] {
        let path = profile.strings.intern(path.as_bytes());
        let kind = ModuleKind::Elf;
        profile.modules.push(ModuleRow { path, opened: None, build_id: None, kind });
    }
    for relative in 0..12 {
        let module = numbers.below(2);
        let first_inline = profile.inlines.next_id();
        let n_inlines = numbers.below(4) as u32;
        for at in 1..=n_inlines {
            let row = row(profile, numbers.below(NAMES.len()), module, at < n_inlines);
            profile.inlines.push(row);
        }
        let location = LocationRow::unnamed(Some(ModuleId(module as u32)), relative);
        let function_offset = Some(0);
        let location = LocationRow { first_inline, n_inlines, function_offset, ..location };
        let location = profile.locations.push(location);
        for found_by in [FoundBy::Sampled, FoundBy::Cfi] {
            profile.frames.push(FrameRow { location, found_by, kernel: false, instance: 0 });
        }
    }
}

/// Returns a profile with random stacks and samples.
fn profile(numbers: &mut Numbers) -> Profile {
    let mut profile = Profile::default();
    add_frames(&mut profile, numbers);
    let name = profile.strings.intern(b"main");
    profile.events.push(EventRow { name, kind: 0, config: 0, frequency: true, rate: 1 });
    for tid in 0..3 {
        let row = ThreadRow { pid: Pid(1), tid: Tid(tid), comm: name, process: name, cgroup: None };
        profile.threads.push(row);
        profile.layouts.push([(ModuleId(0), Bias(tid as u64))].into_iter().collect());
    }
    for _ in 0..20 {
        let mut stack = None;
        for _ in 0..numbers.below(9) {
            let frame = profile::FrameId::from_index(numbers.below(profile.frames.len()));
            let row = StackRow { parent: stack, frame };
            let known = profile.stacks.entries().find(|(_, known)| **known == row);
            stack = Some(known.map_or_else(|| profile.stacks.next_id(), |(id, _)| id));
            if stack == Some(profile.stacks.next_id()) {
                profile.stacks.push(row);
            }
        }
        for _ in 0..=numbers.below(3) {
            let ends = [EndReason::Root, EndReason::NoModule, EndReason::StackExhausted];
            let (thread, layout) = (numbers.below(3) as u32, numbers.below(3) as u32);
            let (thread, layout) = (ThreadId::new(thread), LayoutId::new(layout));
            let end = ends[numbers.below(3)];
            let sample = SampleRow::new(thread, EventId::new(0), end, stack, layout);
            profile.samples.push(sample.with_period(Some(numbers.below(50) as u64)));
        }
    }
    profile.summary.samples = profile.samples.len() as u64;
    profile
}

/// Returns random patterns.
fn filter(numbers: &mut Numbers) -> QueryFilter {
    let mut patterns = |one_in: usize| -> Vec<String> {
        let all = ["^a$", "b|c", "[d-f]", "x", "^f"];
        let n = usize::from(numbers.below(one_in) == 0);
        (0..n).map(|_| all[numbers.below(all.len())].to_owned()).collect()
    };
    QueryFilter {
        focus: patterns(3),
        ignore: patterns(4),
        hide: patterns(2),
        charge: patterns(3),
        module: if patterns(5).is_empty() { Vec::new() } else { vec!["^/bin".to_owned()] },
        collapse_recursion: !patterns(2).is_empty(),
        ..QueryFilter::default()
    }
}

/// Returns all costs of a selection as lines.
fn costs(profile: &Profile, filter: &Filter) -> Vec<String> {
    let index = Index::new(profile, true);
    let (weight, event) = (Weight::Period, EventChoice::First);
    let selection = Selection::new(profile, &index, weight, &event, filter).expect("an event");
    let text = |id: Option<StringId>| {
        String::from_utf8_lossy(id.map_or(b"?", |id| profile.strings.get(id))).into_owned()
    };
    let function = |id: FunctionId| {
        let Function { name, module, line, .. } = selection.function(id);
        format!("{} {} {line}", text(name), text(module))
    };
    let mut lines = vec![format!("{:?} {}", selection.total(), selection.complete())];
    for group in [GroupBy::Function, GroupBy::Line, GroupBy::Module, GroupBy::Thread] {
        let (rows, _) = table(&selection, TableShape::all(group));
        let mut rows: Vec<String> = rows
            .iter()
            .map(|row| {
                let key = match row.key {
                    RowKey::Function(id) => function(id),
                    RowKey::Line(at) => format!("{} at {}", function(at.function), at.line),
                    RowKey::Module(path) => text(path),
                    RowKey::Thread(id) => {
                        format!("{}", profile.threads.get(id).expect("one").tid.0)
                    }
                    other => format!("{other:?}"),
                };
                format!("{group:?} {key}: {:?} {:?}", row.own, row.inclusive)
            })
            .collect();
        rows.sort();
        lines.extend(rows);
    }
    for (inverted, truncated) in [(false, false), (false, true), (true, false)] {
        let shape = TreeShape { inverted, truncated, depth: None, least: 0, most: usize::MAX };
        let (nodes, _) = tree(&selection, shape);
        let mut paths: Vec<String> = Vec::new();
        for node in &nodes {
            let label = match node.label {
                CallLabel::Truncated => "[truncated]".to_owned(),
                CallLabel::Function(id) => function(id),
            };
            let above = node.parent.map_or("", |parent| &paths[parent]);
            paths.push(format!("{above};{label}"));
        }
        let with_cost = paths.iter().zip(&nodes);
        let mut rows: Vec<String> = with_cost
            .map(|(path, node)| format!("{path}: {:?} {:?}", node.own, node.inclusive))
            .collect();
        rows.sort();
        lines.extend(rows);
    }
    lines
}

#[test]
fn removed_functions_cost_the_same_as_filtered_ones() {
    let mut emptied = 0;
    for seed in 0..SEEDS {
        let (whole, asked) = {
            let mut numbers = Numbers(seed);
            (profile(&mut numbers), filter(&mut numbers))
        };
        let queried = costs(&whole, &Filter::new(&asked, 1 << 20).expect("patterns"));
        let mut rest = whole;
        let functions = FunctionFilter::new(&asked, 1 << 20).expect("patterns");
        let before = rest.samples.len() as u64;
        let counts = rest.filter_functions(&functions, true);
        assert_eq!(counts.before, before);
        if counts.left == 0 {
            assert!(queried[0].starts_with("Cost { samples: 0"), "{}", queried[0]);
            emptied += 1;
            continue;
        }
        assert_eq!(costs(&rest, &Filter::default()), queried, "seed {seed}, {asked:?}");
        rest.retain_strings();
        assert_eq!(costs(&rest, &Filter::default()), queried, "seed {seed}, {asked:?}");
        let summary = &rest.summary;
        assert_eq!(summary.samples + summary.samples_filtered, before);
        assert_eq!(summary.samples, counts.left);
        if !functions.is_empty() {
            check_tables(&rest);
        }
    }
    assert!((5..SEEDS / 3).contains(&emptied), "{emptied}");
}

/// Checks that each row is used, and that no row occurs twice.
fn check_tables(profile: &Profile) {
    let mut stacks = vec![false; profile.stacks.len()];
    for sample in &profile.samples {
        let mut at = sample.stack;
        while let Some(stack) = at {
            stacks[stack.index()] = true;
            at = profile.stacks.get(stack).expect("a row").parent;
        }
    }
    assert!(stacks.iter().all(|is_used| *is_used));
    for (id, row) in profile.stacks.entries() {
        assert!(row.parent.is_none_or(|parent| parent < id));
        assert_eq!(profile.stacks.iter().filter(|other| *other == row).count(), 1);
    }
    for (id, row) in profile.frames.entries() {
        assert!(profile.stacks.iter().any(|stack| stack.frame == id));
        assert_eq!(profile.frames.iter().filter(|other| *other == row).count(), 1);
    }
    let mut next = 0;
    for (id, row) in profile.locations.entries() {
        assert!(profile.frames.iter().any(|frame| frame.location == id));
        assert_eq!(row.inlines().start, next);
        next = row.inlines().end;
        let functions = profile.inlines.range(row.inlines());
        assert!(functions.last().is_none_or(|last| !last.inlined));
    }
    assert_eq!(next, profile.inlines.len());
    for id in profile.threads.ids() {
        assert!(profile.samples.iter().any(|sample| sample.thread == id));
    }
}

/// Losses count the remaining samples by the frame at which their chain ended, even if that frame is hidden.
#[test]
fn losses_are_of_the_remaining_samples() {
    let mut numbers = Numbers(3);
    let mut profile = profile(&mut numbers);
    let loss = |module: u32| ModuleLoss {
        module: Some(ModuleId(module)),
        end: EndReason::NoModule,
        samples: 1000,
        reason: "gone".to_owned(),
        help: None,
    };
    profile.summary.losses = vec![loss(0), loss(1)];
    let module = |profile: &Profile, sample: &SampleRow| {
        let mut row = profile.stacks.get(sample.stack?)?;
        while let Some(parent) = row.parent {
            row = profile.stacks.get(parent)?;
        }
        profile.locations.get(profile.frames.get(row.frame)?.location)?.module
    };
    let mut expected = [0, 0];
    for sample in profile.samples.iter().filter(|sample| sample.end == EndReason::NoModule) {
        if let Some(module) = module(&profile, sample) {
            expected[module.0 as usize] += 1;
        }
    }
    let asked = QueryFilter { hide: vec![".".to_owned()], ..QueryFilter::default() };
    let functions = FunctionFilter::new(&asked, 1 << 20).expect("patterns");
    let counts = profile.filter_functions(&functions, true);
    assert_eq!(counts.left, counts.before);
    let mut found = [0, 0];
    for loss in &profile.summary.losses {
        found[loss.module.expect("a module").0 as usize] = loss.samples;
    }
    assert_eq!(found, expected);
}
