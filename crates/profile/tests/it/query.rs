//! The query engine and that of the page, tested with one table of expected numbers, `testdata/queries.json`. The
//! page's test is `crates/web/tests/queries.test.js`.

use std::collections::BTreeMap;

use address::{FieldKind, ModuleId, Pid, Tid};
use options::{ChoiceOrValue, GroupBy, QueryFilter, Weight};
use profile::query::engine::{
    CallLabel, EventChoice, Filter, FunctionFilter, Index, NoValue, RowKey, Selection, TableShape,
    TreeShape, table, tree,
};
use profile::{
    EndReason, EventId, EventRow, FieldValue, FoundBy, FrameRow, InlineRow, LayoutId, LayoutRow,
    LocationRow, ModuleKind, ModuleRow, Profile, SampleRow, StackRow, ThreadId, ThreadRow,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    modules: BTreeMap<String, String>,
    samples: Vec<Samples>,
    values: Vec<ValueQuestion>,
    questions: Vec<Question>,
}

/// Samples of one stack, outermost function first.
#[derive(Deserialize)]
struct Samples {
    stack: Vec<String>,
    n: u64,
    #[serde(default)]
    cut: bool,
    /// Value of the field `size`.
    size: Option<u64>,
}

/// Costs by the values of the field `size`.
#[derive(Deserialize)]
struct ValueQuestion {
    filter: QueryFilter,
    /// Values, or `[no value]`, with their costs, in order.
    rows: Vec<(String, u64)>,
}

#[derive(Deserialize)]
struct Question {
    filter: QueryFilter,
    /// Functions with their own and inclusive cost, in order.
    top: Vec<(String, u64, u64)>,
    /// Costs of the stacks that match the filter.
    stacks: BTreeMap<String, u64>,
}

fn profile(expected: &Expected) -> Profile {
    let mut profile = Profile::default();
    let mut modules: BTreeMap<&str, ModuleId> = BTreeMap::new();
    let mut functions = BTreeMap::new();
    let name = profile.strings.intern(b"main");
    profile.threads.push(ThreadRow {
        pid: Pid(1),
        tid: Tid(1),
        comm: name,
        process: name,
        cgroup: None,
    });
    profile.events.push(EventRow { name, kind: 0, config: 0, frequency: true, rate: 1 });
    profile.layouts.push(LayoutRow::default());
    let size = profile.strings.intern(b"size");
    profile.fields.add_column(Some(EventId::new(0)), size, FieldKind::Unsigned);
    for samples in &expected.samples {
        let mut stack = None;
        for name in &samples.stack {
            let frame = *functions.entry(name).or_insert_with(|| {
                let path = expected.modules.get(name).map_or("/bin/program", String::as_str);
                let module = *modules.entry(path).or_insert_with(|| {
                    let path = profile.strings.intern(path.as_bytes());
                    let kind = ModuleKind::Elf;
                    profile.modules.push(ModuleRow { path, opened: None, build_id: None, kind })
                });
                let function = Some(profile.strings.intern(name.as_bytes()));
                let row = InlineRow { function, ..InlineRow::NAMELESS };
                let first_inline = profile.inlines.push(row);
                let address = profile.locations.len() as u64;
                let location = LocationRow::unnamed(Some(module), address);
                let location =
                    profile.locations.push(LocationRow { first_inline, n_inlines: 1, ..location });
                let found_by = FoundBy::Cfi;
                profile.frames.push(FrameRow { location, found_by, kernel: false, instance: 0 })
            });
            stack = Some(profile.stacks.push(StackRow { parent: stack, frame }));
        }
        let end = if samples.cut { EndReason::StackExhausted } else { EndReason::Root };
        for _ in 0..samples.n {
            let (thread, event, layout) = (ThreadId::new(0), EventId::new(0), LayoutId::new(0));
            let sample = profile.samples.push(SampleRow::new(thread, event, end, stack, layout));
            if let Some(size) = samples.size {
                profile.fields.push(0, sample, FieldValue::Unsigned(size));
            }
        }
    }
    profile
}

#[test]
fn answers_are_those_of_the_table() {
    let text = include_str!("../../../../testdata/queries.json");
    let expected: Expected = serde_json::from_str(text).expect("a table");
    let whole = profile(&expected);
    for question in &expected.questions {
        let filter = Filter::new(&question.filter, 1 << 20).expect("patterns");
        check(&whole, &filter, question);
        // The functions of a filter can also be removed from the profile itself.
        let functions = FunctionFilter::new(&question.filter, 1 << 20).expect("patterns");
        let mut rest = profile(&expected);
        if rest.filter_functions(&functions, true).left == 0 {
            assert!(question.top.is_empty(), "{:?}", question.filter);
        } else {
            let others = QueryFilter {
                time: question.filter.time,
                threads: question.filter.threads.clone(),
                processes: question.filter.processes.clone(),
                comm: question.filter.comm.clone(),
                ..QueryFilter::default()
            };
            check(&rest, &Filter::new(&others, 1 << 20).expect("patterns"), question);
        }
    }
}

#[test]
fn costs_by_the_values_of_a_field_are_those_of_the_table() {
    let text = include_str!("../../../../testdata/queries.json");
    let expected: Expected = serde_json::from_str(text).expect("a table");
    let profile = profile(&expected);
    let index = Index::new(&profile, true);
    for ValueQuestion { filter, rows } in &expected.values {
        let compiled = Filter::new(filter, 1 << 20).expect("patterns");
        let (weight, event) = (Weight::Samples, EventChoice::First);
        let selection =
            Selection::new(&profile, &index, weight, &event, &compiled).expect("an event");
        let by = ChoiceOrValue::read("field:size");
        let (found, _) = table(&selection, TableShape::of(&by));
        let found = found.iter().map(|row| match row.key {
            RowKey::Value(Ok(FieldValue::Unsigned(size))) => (size.to_string(), row.own.samples),
            RowKey::Value(Err(NoValue::NoField)) => ("[no value]".to_owned(), row.own.samples),
            other => unreachable!("{other:?}"),
        });
        assert_eq!(&found.collect::<Vec<_>>(), rows, "{filter:?}");
    }
}

/// Checks the answers to a question on a profile.
#[track_caller]
fn check(profile: &Profile, filter: &Filter, question: &Question) {
    let Question { filter: asked, top, stacks } = question;
    let index = Index::new(profile, true);
    let (weight, event) = (Weight::Samples, EventChoice::First);
    let selection = Selection::new(profile, &index, weight, &event, filter).expect("an event");
    let name = |function| {
        let name = selection.function(function).name.expect("all have names");
        String::from_utf8_lossy(profile.strings.get(name)).into_owned()
    };
    let (rows, _) = table(&selection, TableShape::all(GroupBy::Function));
    let rows = rows.iter().map(|row| match row.key {
        RowKey::Function(id) => (name(id), row.own.samples, row.inclusive.samples),
        _ => unreachable!("a table of functions"),
    });
    assert_eq!(&rows.collect::<Vec<_>>(), top, "{asked:?}");
    for inverted in [false, true] {
        let shape =
            TreeShape { inverted, truncated: false, depth: None, least: 0, most: usize::MAX };
        let (nodes, cut) = tree(&selection, shape);
        assert_eq!(cut, 0);
        let mut found = BTreeMap::new();
        for node in nodes.iter().filter(|node| node.own.samples > 0) {
            let mut path = Vec::new();
            let mut at = Some(node);
            while let Some(node) = at {
                let CallLabel::Function(function) = node.label else { panic!("a function") };
                path.push(name(function));
                at = node.parent.map(|parent| &nodes[parent]);
            }
            if !inverted {
                path.reverse();
            }
            found.insert(path.join(";"), node.own.samples);
        }
        assert_eq!(&found, stacks, "{asked:?}, inverted: {inverted}");
    }
}
