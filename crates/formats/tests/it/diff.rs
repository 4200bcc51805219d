//! Printed differences of recordings: exact text, folded stacks, the schema of JSON, pprof's bytes.

use std::io::Read as _;

use address::{Pid, Tid, Timestamp};
use formats::{ConsoleLook, DiffFormat, DiffPrintOptions, diff_function_name};
use profile::query::diff::{Diff, DiffInput, DiffOptions, Normalization, diff};
use profile::{
    EndReason, EventId, EventRow, FoundBy, FrameRow, InlineRow, LayoutId, LayoutRow, LocationRow,
    ModuleKind, ModuleRow, Profile, SampleRow, StackRow, ThreadRow,
};
use serde_json::Value;

use crate::document;
use crate::page::{columns, tables_of};
use crate::support::graphs::{fields, numbers};
use crate::support::sample_profile::one_of_everything;
use crate::support::validator::violations;

/// A program with a thread that runs `main`, which calls `work` and `rest`; samples are a millisecond apart.
/// One name has control characters, and some code has no name.
fn program(work: u64, rest: u64, unknown: u64) -> Profile {
    let mut profile = Profile::default();
    profile.layouts.push(LayoutRow::default());
    let mut id = |text: &[u8]| profile.strings.intern(text);
    let (event, comm, path) = (id(b"cpu-clock"), id(b"worker-3"), id(b"/opt/bin/prog"));
    let names = [id(b"main"), id(b"work\n;::h0123456789abcdef"), id(b"rest.cold")];
    let event = EventRow { name: event, kind: 1, config: 0, frequency: true, rate: 1000 };
    profile.events.push(event);
    let (pid, tid) = (Pid(1), Tid(2));
    let thread = profile.threads.push(ThreadRow { pid, tid, comm, process: comm, cgroup: None });
    let module = ModuleRow { path, opened: None, build_id: None, kind: ModuleKind::Elf };
    let module = profile.modules.push(module);
    let frame = |profile: &mut Profile, name| {
        let row = InlineRow { function: name, ..InlineRow::NAMELESS };
        let place = LocationRow::unnamed(Some(module), profile.locations.len() as u64);
        let first_inline = profile.inlines.push(row);
        let n_inlines = u32::from(name.is_some());
        let location = profile.locations.push(LocationRow { first_inline, n_inlines, ..place });
        let found_by = FoundBy::Cfi;
        profile.frames.push(FrameRow { location, found_by, kernel: false, instance: 0 })
    };
    let frame_of_main = frame(&mut profile, Some(names[0]));
    let main = profile.stacks.push(StackRow { parent: None, frame: frame_of_main });
    let leaves = [Some(names[1]), Some(names[2]), None];
    for (leaf, count) in leaves.into_iter().zip([work, rest, unknown]) {
        let frame = frame(&mut profile, leaf);
        let stack = profile.stacks.push(StackRow { parent: Some(main), frame });
        for _ in 0..count {
            let time = Timestamp(1_000_000 * profile.samples.len() as u64);
            let end = if leaf.is_some() { EndReason::Root } else { EndReason::NoModule };
            let row = SampleRow::new(thread, EventId::new(0), end, Some(stack), LayoutId::new(0));
            profile.samples.push(row.with_time(Some(time)).with_period(Some(1_000_000)));
        }
    }
    profile
}

fn compared(before: &Profile, after: &Profile, options: DiffOptions<'_>) -> Diff {
    let input = |name, profile| [DiffInput { name, profile }];
    diff(&input("old.data", before), &input("new.data", after), options).expect("a difference")
}

fn printed(diff: &Diff, format: DiffFormat, limit: usize) -> Vec<u8> {
    let look = ConsoleLook::default();
    let mut out = Vec::new();
    let options = DiffPrintOptions { inclusive: false, limit, look, gate: None };
    format.print(diff, options, &mut out).expect("a vector takes everything");
    out
}

fn text(diff: &Diff, limit: usize) -> String {
    String::from_utf8(printed(diff, DiffFormat::Text, limit)).expect("UTF-8")
}

#[test]
fn the_table() {
    let (before, after) = (program(600, 390, 10), program(700, 300, 0));
    let diff = compared(&before, &after, DiffOptions::default());
    let expected = "\
before    old.data: 1,000 samples of cpu-clock, 1.00 s in 1.00 s; 99.0 % of the stacks are complete
after     new.data: 1,000 samples of cpu-clock, 1.00 s in 1.00 s; 100.0 % of the stacks are complete
compared  cost per second; functions by name and module, with inlined functions
note      functions that have a name on one side only are not compared: prog

own cost: 2 of 2 functions changed (*), within these two runs
      before       after       change            95 %  ratio  function
* 600.0 ms/s  700.0 ms/s  +100.0 ms/s  +29.3 … +170.7  ×1.17  work\\n; [prog]
* 390.0 ms/s  300.0 ms/s   -90.0 ms/s  -141.5 … -38.5  ×0.77  rest [prog]

not compared: 1.0 % of before, 0.0 % of after
     before  after  reason   function
  10.0 ms/s         no name  [unknown] [prog]
";
    assert_eq!(text(&diff, 10), expected);
}

#[test]
fn rows_are_limited_and_cut() {
    let diff = compared(&program(600, 390, 10), &program(700, 300, 0), DiffOptions::default());
    let lines = text(&diff, 1);
    let end: Vec<&str> = lines.lines().skip(6).collect();
    assert_eq!(end.len(), 7);
    assert_eq!(end[2], "1 more function; limit=0 shows all");
    let look = ConsoleLook { width: Some(80), colors: true, ..ConsoleLook::default() };
    let mut out = Vec::new();
    let options = DiffPrintOptions { inclusive: true, limit: 0, look, gate: None };
    DiffFormat::Text.print(&diff, options, &mut out).expect("a vector takes everything");
    let out = String::from_utf8(out).expect("UTF-8");
    assert!(out.contains("inclusive cost: 2 of 3 functions changed"), "{out}");
    assert!(out.contains("\u{1b}[1m\u{1b}[4m"), "{out}");
}

#[test]
fn nothing_differs_from_itself() {
    let one = program(60, 39, 1);
    let diff = compared(&one, &one, DiffOptions::default());
    let end: Vec<String> = text(&diff, 10).lines().skip(4).map(str::to_owned).collect();
    assert_eq!(end, ["own cost: none of 2 functions changed, within these two runs"]);
}

/// Notes are sentences, and untrusted names cannot control a terminal.
#[test]
fn what_to_keep_in_mind() {
    let (before, after) = (program(60, 30, 10), program(60, 10, 40));
    let options =
        DiffOptions { normalization: Some(Normalization::Time), ..DiffOptions::default() };
    let diff = compared(&before, &after, options);
    let lines = text(&diff, 1);
    let notes: Vec<&str> = lines.lines().filter(|line| line.starts_with("note")).collect();
    assert_eq!(
        notes,
        [
            "note      10.0 % of the stacks before and 36.4 % after do not reach their root: inclusive costs of outer functions are too low on the side with more of them",
            "note      both sides had the same load, for 0.10 s and 0.11 s; if they did the same work, compare totals \
             with normalize=A=1,B=1",
        ]
    );
    let options =
        DiffOptions { normalization: Some(Normalization::Share), ..DiffOptions::default() };
    let share = text(&compared(&before, &after, options), 1);
    assert!(share.contains("\ncompared  share of the total; functions by name"), "{share}");
    assert!(share.contains("* 10.00 %  36.36 %  +26.36 %"), "{share}");
    let options = DiffOptions {
        normalization: Some(Normalization::Work { before: 2.0, after: 4.0 }),
        exact_names: true,
        inlines: false,
        pairs: &[],
    };
    let work = text(&compared(&before, &after, options), 0);
    assert!(work.contains("compared  cost per unit of work (2 before, 4 after)"), "{work}");
    assert!(
        work.contains("functions by exact name and module, without inlined functions"),
        "{work}"
    );
    assert!(work.contains("work\\n;::h0123456789abcdef [prog]"), "{work}");
    assert!(work.contains("* 30000.0 µs  15000.0 µs  -15000.0 µs"), "{work}");
    let options =
        DiffOptions { normalization: Some(Normalization::Samples), ..DiffOptions::default() };
    let samples = text(&compared(&before, &after, options), 0);
    assert!(samples.contains("\n  before  after"), "{samples}");
    assert!(samples.contains("*     10     40     +30"), "{samples}");
}

#[test]
fn folded_stacks_have_both_costs() {
    let (before, after) = (program(60, 30, 10), program(70, 130, 0));
    let diff = compared(&before, &after, DiffOptions::default());
    let folded = String::from_utf8(printed(&diff, DiffFormat::Folded, 10)).expect("UTF-8");
    // The 100 ms before are scaled to the 200 ms after.
    let expected = "\
worker-N;[truncated];main;[unknown] in prog 20000000 0
worker-N;main;rest 60000000 130000000
worker-N;main;work\\n: 120000000 70000000
";
    assert_eq!(folded, expected);
}

#[test]
fn json_fits_its_schema() {
    let schema: Value = serde_json::from_str(&document("diff.schema.json")).expect("a schema");
    let everything = one_of_everything();
    let plain = program(60, 30, 10);
    let mut timeless = program(30, 60, 10);
    timeless.samples.iter_mut().for_each(|sample| *sample = sample.with_time(None));
    for (before, after) in [(&plain, &plain), (&everything, &everything), (&plain, &timeless)] {
        let diff = compared(before, after, DiffOptions::default());
        let value: Value =
            serde_json::from_slice(&printed(&diff, DiffFormat::Json, 10)).expect("JSON");
        assert_eq!(violations(&schema, &value), [""; 0]);
        let functions = value["functions"].as_array().expect("functions");
        let sum: u64 = functions
            .iter()
            .map(|row| row["own"]["before"]["cost"].as_u64().expect("a cost"))
            .sum();
        assert_eq!(value["total"]["before"]["cost"], sum);
        let tree = &value["tree"];
        let length = tree["length"].as_u64().expect("a length") as usize;
        for (name, column) in tree.as_object().expect("columns") {
            assert!(name == "length" || column.as_array().expect("a column").len() == length);
        }
    }
}

/// The page has the same tree as the document, with the same costs per function and recording.
#[test]
fn the_page_has_the_tree_of_the_document() {
    let (plain, other, everything) =
        (program(60, 30, 10), program(30, 60, 10), one_of_everything());
    for (before, after) in [(&plain, &other), (&everything, &everything)] {
        let diff = compared(before, after, DiffOptions::default());
        let json: Value =
            serde_json::from_slice(&printed(&diff, DiffFormat::Json, 10)).expect("JSON");
        let (head, bytes) = tables_of(printed(&diff, DiffFormat::Report, 10));
        let columns = columns(&head, &bytes);
        let tree = |name: &str| json["tree"][name].as_array().expect("a column").clone();
        let functions = head["functions"].as_array().expect("functions");
        assert_eq!(functions.len(), json["functions"].as_array().expect("functions").len());
        for (row, known) in functions.iter().zip(json["functions"].as_array().expect("rows")) {
            let name = head["names"][row[0].as_u64().expect("a name") as usize].as_str();
            let expected = known["name"].as_str();
            assert_eq!(name, Some(expected.filter(|name| *name != "[unknown]").unwrap_or("")));
            assert_eq!(row[2].as_u64(), known["module"].as_u64());
        }
        let named = |number: usize| {
            let first_thread = functions.len() + head["modules"].as_array().expect("rows").len();
            let thread = number.checked_sub(first_thread)?;
            Some(head["threads"][thread].as_str().unwrap_or("[truncated]").to_owned())
        };
        for (at, parent) in tree("parent").iter().enumerate() {
            let number = |name: &str| columns[name][at];
            assert_eq!(number("parent"), parent.as_f64().unwrap_or(f64::from(u32::MAX)));
            match tree("function")[at].as_f64() {
                Some(function) => assert_eq!(number("func"), function),
                None => {
                    let thread = tree("thread")[at].as_str().unwrap_or("[truncated]").to_owned();
                    assert_eq!(named(number("func") as usize), Some(thread));
                }
            }
            for (run, side) in ["before", "after"].into_iter().enumerate() {
                let samples = tree(&format!("{side}_samples"))[at].as_f64().expect("a number");
                assert_eq!(number(&format!("samples{run}")), samples);
                let value = tree(&format!("{side}_value"))[at].as_f64().expect("a number");
                let factor = head[side][0]["factor"].as_f64().expect("a number");
                let cost = columns.get(&format!("cost{run}")).map_or(samples, |costs| costs[at]);
                assert_eq!(cost * factor, value);
            }
        }
    }
}

/// Every field of the document is documented.
#[test]
fn json_is_documented() {
    let page = document("OUTPUT.md");
    let schema: Value = serde_json::from_str(&document("diff.schema.json")).expect("a schema");
    let mut fields = Vec::new();
    names(&schema, &mut fields);
    assert!(fields.len() > 40);
    for field in fields {
        assert!(page.contains(&format!("`{field}`")), "docs/OUTPUT.md does not mention `{field}`");
    }
}

/// Collects the names of all properties, and the keywords of all lists.
fn names(schema: &Value, into: &mut Vec<String>) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => {
                into.extend(fields.keys().cloned());
                fields.values().for_each(|field| names(field, into));
            }
            ("enum", Value::Array(words)) => {
                into.extend(words.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => names(value, into),
        }
    }
}

#[test]
fn pprof_has_what_was_before_as_its_base() {
    let (before, after) = (program(60, 30, 10), program(70, 130, 0));
    let diff = compared(&before, &after, DiffOptions::default());
    let mut bytes = Vec::new();
    let packed = printed(&diff, DiffFormat::Pprof, 10);
    flate2::read::GzDecoder::new(&*packed).read_to_end(&mut bytes).expect("gzip");
    let profile = fields(&bytes);
    let of = |number| profile.iter().filter(move |field| field.0 == number);
    let strings: Vec<&str> =
        of(6).map(|field| std::str::from_utf8(field.2).expect("UTF-8")).collect();
    assert_eq!(strings[0], "");
    let samples: Vec<(Vec<i64>, bool)> = of(2)
        .map(|sample| {
            let sample = fields(sample.2);
            let values = sample.iter().find(|field| field.0 == 2).expect("values").2;
            let is_base = sample.iter().filter(|field| field.0 == 3).any(|label| {
                let label = fields(label.2);
                [label[0].1, label[1].1].map(|index| strings[index as usize])
                    == ["pprof::base", "true"]
            });
            (numbers(values), is_base)
        })
        .collect();
    let expected = [
        (vec![-120, -120_000_000], true),
        (vec![70, 70_000_000], false),
        (vec![-60, -60_000_000], true),
        (vec![130, 130_000_000], false),
        (vec![-20, -20_000_000], true),
    ];
    assert_eq!(samples, expected);
    let functions: Vec<&str> = of(5).map(|row| strings[fields(row.2)[1].1 as usize]).collect();
    assert_eq!(functions, ["[no frames]", "main", "work\n;", "rest", "[unknown] in prog"]);
    assert!(strings.contains(&"before: old.data") && strings.contains(&"normalized by: time"));
    let row = diff.functions.iter().nth(4).expect("a function");
    assert_eq!(diff_function_name(&diff, row), "[unknown] [prog]");
}
