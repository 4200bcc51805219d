//! Results that must be equal: for any number of threads, in any format, with and without names.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::support::cases::{Case, formats};
use crate::support::run::empty_folder;

/// Processes and threads, inlines of two compilers, kernel frames, broken chains, several events.
const SOME: &[&str] = &[
    "anon",
    "deep",
    "exceptions",
    "fork",
    "inlines-gcc",
    "recursion-rs",
    "syscalls",
    "two-events",
];

fn some() -> impl Iterator<Item = Case> {
    SOME.iter().map(|name| Case::named(name))
}

fn ndjson(case: &Case, more: &[&str]) -> Vec<Value> {
    case.run(&[&["--quiet", "--format", "ndjson"], more].concat()).expect_status(0).lines()
}

#[test]
fn threads_do_not_matter() {
    let formats = formats();
    for case in some() {
        for format in &formats {
            let printed = |jobs| case.run(&["-f", format, "--jobs", jobs]).expect_status(0);
            let alone = printed("1");
            for jobs in ["2", "7"] {
                let many = printed(jobs);
                assert!(
                    many.stdout == alone.stdout,
                    "{} {format}: --jobs {jobs} differs",
                    case.name
                );
                assert_eq!(many.stderr, alone.stderr, "{} {format}: --jobs {jobs}", case.name);
            }
        }
    }
}

/// The counters add up to the number of samples, in each format.
#[test]
fn counters_sum_to_the_samples() {
    for case in Case::all() {
        let json = case.run(&["--quiet"]).expect_status(0).json();
        let summary = &json["summary"];
        let samples = summary["samples"].as_u64().expect("a number");
        let ends = summary["end"].as_array().expect("a column");
        assert_eq!(ends.iter().filter_map(Value::as_u64).sum::<u64>(), samples, "{}", case.name);
        assert_eq!(json["samples"]["length"], json!(samples), "{}", case.name);
        let dropped = ["samples_filtered", "samples_dropped"].map(|name| summary[name].as_u64());
        assert_eq!(dropped, [Some(0), Some(0)], "{}", case.name);

        // In the text of perf script, only headers start at the margin.
        let script = case.run(&["-q", "-f", "perf-script"]).expect_status(0);
        let heads =
            script.text().lines().filter(|line| !line.is_empty() && !line.starts_with('\t'));
        assert_eq!(heads.count() as u64, samples, "{}", case.name);

        // Folded stacks count the samples of the first event.
        let events = json["samples"]["event"].as_array().expect("a column");
        let first = events.iter().filter_map(Value::as_u64).min();
        let counted = events.iter().filter(|event| event.as_u64() == first).count() as u64;
        let folded = case.run(&["-q", "-f", "folded"]).expect_status(0);
        let weight = |line: &str| line.rsplit_once(' ').and_then(|(_, count)| count.parse().ok());
        let weights: Option<Vec<u64>> = folded.text().lines().map(weight).collect();
        assert_eq!(weights.expect("weights").iter().sum::<u64>(), counted, "{}", case.name);
    }
}

/// The tables, read as `docs/OUTPUT.md` describes, equal the lines.
#[test]
fn json_tables_are_the_lines_of_ndjson() {
    for case in Case::all() {
        let tables = case.run(&["--quiet"]).expect_status(0).json();
        let lines = ndjson(&case, &[]);
        for (index, line) in lines.iter().enumerate() {
            assert_eq!(&expanded(&tables, index), line, "{} sample {index}", case.name);
        }
    }
}

#[test]
fn folded_stacks_are_the_lines_of_ndjson() {
    for case in Case::all() {
        let mut stacks = BTreeMap::<String, u64>::new();
        let samples = ndjson(&case, &[]);
        let json = case.run(&["--quiet"]).expect_status(0).json();
        let event = json["events"]["name"][0].as_u64().expect("a name") as usize;
        let event = Some(json["strings"][event].clone());
        for sample in samples.iter().filter(|sample| Some(&sample["event"]) == event.as_ref()) {
            let mut stack = sample["comm"].as_str().expect("a name").to_owned();
            if !["root", "root-across-gap", "kernel-only", "recorded", "guest"]
                .contains(&sample["end"].as_str().expect("a word"))
            {
                stack += ";[truncated]";
            }
            for frame in sample["frames"].as_array().expect("frames").iter().rev() {
                let module = frame["module"].as_str().map_or("[unknown]".to_owned(), |module| {
                    let name = module.rsplit('/').next().expect("a name");
                    if module.starts_with('[') { module.to_owned() } else { format!("[{name}]") }
                });
                let name = frame["function"].as_str().unwrap_or(&module);
                stack += &format!(";{}", name.replace(';', ":"));
            }
            *stacks.entry(stack).or_default() += 1;
        }
        let mut expected: Vec<String> =
            stacks.iter().map(|(stack, count)| format!("{stack} {count}")).collect();
        let folded = case.run(&["-q", "-f", "folded"]).expect_status(0);
        let mut found: Vec<&str> = folded.text().lines().collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", case.name);
    }
}

/// Names do not change chains. Without symbols the addresses stay. Without inlines the functions with inlined code
/// stay, at the source line of the address.
#[test]
fn fewer_names_are_a_part_of_all_names() {
    for case in Case::all() {
        let mut lines = ndjson(&case, &[]);
        lines.iter_mut().map(frames_of).for_each(without_inlines);
        assert!(ndjson(&case, &["--no-inline"]) == lines, "{}: --no-inline", case.name);
        for frame in lines.iter_mut().flat_map(frames_of) {
            if [json!("gap"), json!("tail-calls")].contains(&frame["found_by"]) {
                continue;
            }
            let fields = frame.as_object_mut().expect("an object");
            for name in ["function", "function_offset", "file", "line"] {
                fields.remove(name);
            }
        }
        assert!(ndjson(&case, &["--no-symbols"]) == lines, "{}: --no-symbols", case.name);
    }
}

fn without_inlines(frames: &mut Vec<Value>) {
    let mut innermost = None;
    for mut frame in std::mem::take(frames) {
        let source = ["file", "line"].map(|name| (name, frame.get(name).cloned()));
        let inlined = frame["inlined"] == json!(true);
        let source = innermost.take().unwrap_or(source);
        if inlined {
            innermost = Some(source);
            continue;
        }
        let fields = frame.as_object_mut().expect("an object");
        for (name, value) in source {
            fields.remove(name);
            fields.extend(value.map(|value| (name.to_owned(), value)));
        }
        frames.push(frame);
    }
}

fn frames_of(line: &mut Value) -> &mut Vec<Value> {
    line["frames"].as_array_mut().expect("frames")
}

/// Returns a row of a table, by the names of its columns.
fn row(tables: &Value, table: &str, index: &Value) -> Map<String, Value> {
    let at = index.as_u64().expect("an index") as usize;
    let columns = tables[table].as_object().expect("a table");
    let columns = columns.iter().filter(|(name, _)| *name != "length");
    columns.map(|(name, column)| (name.clone(), column[at].clone())).collect()
}

/// Returns one sample of the tables in the form of its NDJSON line.
fn expanded(tables: &Value, index: usize) -> Value {
    let sample = row(tables, "samples", &json!(index));
    let thread = row(tables, "threads", &sample["thread"]);
    let event = row(tables, "events", &sample["event"]);
    let mut line = Fields::default();
    line.put("time_ns", &sample["time_ns"]);
    line.put("pid", &thread["pid"]);
    line.put("tid", &thread["tid"]);
    line.put("comm", string(tables, &thread["comm"]));
    line.put("process", string(tables, &thread["process"]));
    line.put("cpu", &sample["cpu"]);
    line.put("event", string(tables, &event["name"]));
    line.put("period", &sample["period"]);
    line.put("end", entry(&tables["words"]["end"], &sample["end"]));
    let mut frames = Vec::new();
    let mut node = sample["stack"].clone();
    while !node.is_null() {
        let stack = row(tables, "stacks", &node);
        frames.extend(functions(tables, &stack["frame"], &sample["layout"]));
        node = stack["parent"].clone();
    }
    line.put("frames", &Value::Array(frames));
    Value::Object(line.0)
}

/// Returns the inlined functions of a frame, followed by the frame itself.
fn functions(tables: &Value, frame: &Value, layout: &Value) -> Vec<Value> {
    let frame = row(tables, "frames", frame);
    let location = row(tables, "locations", &frame["location"]);
    let number = |value: &Value| value.as_u64().expect("a number");
    let relative = hex(&location["relative"]);
    let biases = row(tables, "layouts", layout)["biases"].clone();
    let key = [&location["module"], &frame["instance"]];
    let bias = biases.as_array().expect("biases").iter().find(|bias| [&bias[0], &bias[1]] == key);
    let bias = bias.map_or(0, |bias| hex(&bias[2]));

    let mut common = Fields::default();
    common.put("addr", &json!(format!("{:#x}", relative.wrapping_add(bias))));
    if !location["module"].is_null() {
        let module = row(tables, "modules", &location["module"]);
        common.put("module", string(tables, &module["path"]));
        common.put("build_id", &module["build_id"]);
        if entry(&tables["words"]["module_kind"], &module["kind"]) == "elf" {
            common.put("svma", &location["relative"]);
        }
    }
    common.put("offset", &location["offset"]);
    common.put("found_by", entry(&tables["words"]["found_by"], &frame["found_by"]));
    common.put("kernel", &frame["kernel"]);

    let first = number(&location["first_inline"]);
    let rows = first..first + number(&location["n_inlines"]);
    let mut lines: Vec<Value> = rows
        .map(|index| {
            let inline = row(tables, "inlines", &json!(index));
            let mut fields = common.clone();
            fields.put("function", string(tables, &inline["function"]));
            fields.put("file", string(tables, &inline["file"]));
            fields.put("line", &inline["line"]);
            fields.put("inlined", &inline["inlined"]);
            if inline["inlined"] == json!(false) {
                fields.put("function_offset", &location["function_offset"]);
            }
            Value::Object(fields.0)
        })
        .collect();
    if lines.is_empty() {
        common.put("inlined", &json!(false));
        lines.push(Value::Object(common.0));
    }
    lines
}

/// An object that omits unknown values.
#[derive(Clone, Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, name: &str, value: &Value) {
        if !value.is_null() {
            self.0.insert(name.to_owned(), value.clone());
        }
    }
}

fn entry<'a>(list: &'a Value, index: &Value) -> &'a Value {
    index.as_u64().map_or(&Value::Null, |index| &list[index as usize])
}

fn string<'a>(tables: &'a Value, index: &Value) -> &'a Value {
    entry(&tables["strings"], index)
}

fn hex(text: &Value) -> u64 {
    let digits = text.as_str().and_then(|text| text.strip_prefix("0x")).expect("0x and digits");
    u64::from_str_radix(digits, 16).expect("hexadecimal digits")
}

#[test]
fn the_ending_says_whether_a_document_is_compressed() {
    let folder = empty_folder("plain");
    let case = Case::named("plt");
    let written = |name: &str| {
        let path = folder.join(name);
        let path = path.to_str().expect("UTF-8");
        case.run(&["-q", "-f", "firefox", "-o", path]).expect_status(0);
        std::fs::read(path).expect("the output")
    };
    let plain = written("x.json");
    assert!(plain.starts_with(b"{\"meta\":{"));
    let compressed = written("x.json.gz");
    let mut unpacked = Vec::new();
    let mut gzip = flate2::read::GzDecoder::new(&*compressed);
    std::io::Read::read_to_end(&mut gzip, &mut unpacked).expect("gzip");
    assert!(plain == unpacked);
}
