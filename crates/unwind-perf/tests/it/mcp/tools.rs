//! Answers of each tool.

use serde_json::{Value, json};

use super::client::Client;
use crate::support::cases::{Case, sysroot};
use crate::support::run::run;

#[test]
fn the_list_of_tools_is_exact() {
    let client = Client::of_cases(&["recursion-rs"]);
    let (name, advice) = client.about();
    assert_eq!(name, "unwind-perf");
    assert!(advice.contains("Begin with `recordings`"), "{advice}");
    let tools = client.tools();
    let shown: Vec<(&str, Vec<&str>)> = tools
        .iter()
        .map(|tool| {
            let properties = tool.input_schema.get("properties").and_then(Value::as_object);
            (&*tool.name, properties.into_iter().flat_map(|it| it.keys()).map(|it| &**it).collect())
        })
        .collect();
    let values =
        ["handover", "inside", "label", "label_end", "label_when", "longer_than", "span", "up_to"];
    let with_values = |others: &[&'static str]| {
        let mut names = [&values, &["weight_field", "where"][..], others].concat();
        names.sort_unstable();
        names
    };
    let expected: [(&str, Vec<&str>); 8] = [
        ("recordings", vec![]),
        ("top", with_values(&["by", "event", "filter", "limit", "recording", "sort", "weight"])),
        (
            "tree",
            with_values(&[
                "bottom_up",
                "depth",
                "event",
                "filter",
                "limit",
                "min_percent",
                "recording",
                "weight",
            ]),
        ),
        ("callers", with_values(&["event", "filter", "function", "limit", "recording", "weight"])),
        (
            "source",
            with_values(&["event", "function", "instructions", "limit", "recording", "weight"]),
        ),
        ("spans", with_values(&["by", "limit", "recording"])),
        ("diff", vec!["after", "before", "by", "event", "limit", "normalize", "pair"]),
        ("quality", vec!["recording"]),
    ];
    assert_eq!(shown, expected);
    for tool in tools {
        let annotations = tool.annotations.expect("annotations");
        assert_eq!(
            (annotations.read_only_hint, annotations.open_world_hint),
            (Some(true), Some(false))
        );
        assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
    }
    let ran = client.end().expect_status(0);
    assert_eq!(ran.stderr, "");
}

/// Returns the table of `top -f json` for a case, with its costs in the form of the tool.
fn table_of_command(case: &str, by: &str, weight: &str) -> Value {
    let sysroot = sysroot();
    let files = ["--sysroot", sysroot.to_str().expect("a path")];
    let arguments = ["top", "perf.data", "--by", by, "--weight", weight, "-f", "json"];
    let ran = run(&Case::named(case).folder, &[&arguments[..], &files[..]].concat());
    let mut table = ran.expect_status(0).json();
    let unit = table["unit"].as_str().expect("a unit").to_owned();
    for row in table["rows"].as_array_mut().expect("rows") {
        let row = row.as_object_mut().expect("a row");
        for kind in ["own", "inclusive"] {
            let samples = row.remove(&format!("{kind}_samples")).expect("samples");
            let share =
                row.remove(&format!("{kind}_share")).and_then(|it| it.as_f64()).expect("a share");
            let mut cost = json!({ "samples": samples, "percent": (share * 1e6).round() / 1e4 });
            cost[&unit] = row[kind].clone();
            row.insert(kind.to_owned(), cost);
        }
        row.retain(|name, value| name != "mark" || !value.is_null());
    }
    table
}

#[test]
fn top_has_the_numbers_of_the_command() {
    let client = Client::of_cases(&["recursion-rs", "inlines-gcc"]);
    for (number, case) in [(1, "recursion-rs"), (2, "inlines-gcc")] {
        for by in ["function", "line", "module", "thread", "process", "event"] {
            for weight in ["samples", "period"] {
                let expected = table_of_command(case, by, weight);
                let arguments =
                    json!({ "recording": number, "by": by, "weight": weight, "limit": 200 });
                let (answer, _) = client.answer("top", &arguments);
                for name in ["rows", "unit", "event", "by"] {
                    assert_eq!(answer[name], expected[name], "{case} {by} {weight} {name}");
                }
                assert_eq!(answer["total"]["samples"], expected["samples"]);
                assert_eq!(answer["omitted"], 0);
            }
        }
    }
    let (few, text) =
        client.answer("top", &json!({ "recording": "inlines-gcc/perf.data", "limit": 1 }));
    let all = table_of_command("inlines-gcc", "function", "samples");
    let rows = all["rows"].as_array().unwrap();
    assert_eq!(few["rows"], json!([rows[0]]));
    assert_eq!(few["omitted"], rows.len() - 1);
    assert!(text.ends_with(&format!("omitted rows: {}\n", rows.len() - 1)), "{text}");
}

#[test]
fn filters_are_obeyed() {
    let client = Client::of_cases(&["recursion-rs"]);
    let (all, _) = client.answer("top", &json!({}));
    let name = all["rows"][0]["function"].as_str().unwrap().to_owned();
    let exactly = format!("^{name}$");
    let total = |filter: Value| {
        let (answer, _) = client.answer("top", &json!({ "filter": filter }));
        answer["total"]["samples"].as_u64().unwrap()
    };
    let samples = all["total"]["samples"].as_u64().unwrap();
    let inclusive = all["rows"][0]["inclusive"]["samples"].as_u64().unwrap();
    assert_eq!(samples, 41);
    assert_eq!(total(json!({ "focus": [&exactly] })), inclusive);
    assert_eq!(total(json!({ "ignore": [&exactly] })), samples - inclusive);
    let (first, second) =
        (total(json!({ "time": [0, 0.01] })), total(json!({ "time": [0.01, 1e6] })));
    assert!(first > 0 && second > 0 && first + second >= samples, "{first} {second}");
    let (hidden, _) = client.answer("top", &json!({ "filter": { "hide": [exactly] } }));
    let names = hidden["rows"].as_array().unwrap().iter().map(|row| &row["function"]);
    assert!(names.clone().count() > 0 && names.clone().all(|it| *it != name.as_str()));
    let (none, text) = client.answer("top", &json!({ "filter": { "focus": ["^nothing$"] } }));
    assert_eq!(
        (none["total"]["samples"].as_u64(), none["rows"].as_array().unwrap().len()),
        (Some(0), 0)
    );
    assert!(text.contains("no sample passes the filter\n"), "{text}");
}

#[test]
fn the_tree_and_the_neighbors_agree() {
    let client = Client::of_cases(&["inlines-gcc"]);
    let (tree, _) = client.answer("tree", &json!({ "min_percent": 0, "limit": 200 }));
    let rows = tree["rows"].as_array().unwrap();
    assert_eq!(tree["omitted"], 0);
    assert_eq!(rows[0]["depth"], 0);
    assert_eq!(rows[0]["inclusive"]["samples"], 35);
    let own: u64 = rows.iter().map(|row| row["own"]["samples"].as_u64().unwrap()).sum();
    assert_eq!(own, 35);
    let (few, _) = client.answer("tree", &json!({ "min_percent": 0, "depth": 2, "limit": 200 }));
    let depths: Vec<u64> =
        few["rows"].as_array().unwrap().iter().map(|row| row["depth"].as_u64().unwrap()).collect();
    assert_eq!(depths.iter().max(), Some(&1));
    assert_eq!(few["omitted"], rows.len() - depths.len());
    let (main, _) = client.answer("callers", &json!({ "function": "main" }));
    assert_eq!(main["function"]["function"], "main");
    let cost = |row: &Value| row["cost"]["samples"].as_u64().unwrap();
    let callees: u64 = main["callees"].as_array().unwrap().iter().map(cost).sum();
    let of_main = &main["function"];
    let samples = |kind: &str| of_main[kind]["samples"].as_u64().unwrap();
    assert_eq!(callees + samples("own"), samples("inclusive"));
    let callers: u64 = main["callers"].as_array().unwrap().iter().map(cost).sum();
    assert_eq!(callers, samples("inclusive"));
    let (up, _) =
        client.answer("tree", &json!({ "bottom_up": true, "min_percent": 0, "limit": 200 }));
    let roots = up["rows"].as_array().unwrap().iter().filter(|row| row["depth"] == 0);
    let (top, _) = client.answer("top", &json!({ "limit": 200 }));
    for root in roots {
        let is_same = |row: &&Value| {
            row["function"] == root["function"] && row.get("mark") == root.get("mark")
        };
        let row = top["rows"].as_array().unwrap().iter().find(is_same).expect("a row");
        assert_eq!(root["inclusive"]["samples"], row["own"]["samples"], "{root}");
    }
}

#[test]
fn source_has_the_lines_of_the_command() {
    let client = Client::of_cases(&["inlines-gcc"]);
    let (lines, _) = client.answer("top", &json!({ "by": "line", "limit": 200 }));
    let (main, text) =
        client.answer("source", &json!({ "function": "main", "instructions": true }));
    let of_main = lines["rows"].as_array().unwrap().iter().filter(|row| row["function"] == "main");
    let costs = |rows: Vec<&Value>| {
        let mut costs: Vec<(u64, u64, u64)> = rows
            .iter()
            .map(|row| {
                let samples = |kind: &str| row[kind]["samples"].as_u64().unwrap();
                (row["line"].as_u64().unwrap_or(0), samples("own"), samples("inclusive"))
            })
            .collect();
        costs.sort_unstable();
        costs
    };
    let own = main["lines"].as_array().unwrap();
    assert_eq!(costs(own.iter().collect()), costs(of_main.collect()));
    assert!(!own.is_empty());
    let code = main["instructions"].as_array().unwrap();
    let inclusive: Vec<u64> =
        code.iter().map(|row| row["inclusive"]["samples"].as_u64().unwrap()).collect();
    assert!(inclusive.iter().all(|&samples| samples > 0) && !inclusive.is_empty(), "{text}");
    assert!(code[0]["address"].as_str().unwrap().starts_with("0x"));
}

#[test]
fn recordings_and_their_quality_are_described() {
    let client = Client::of_cases(&["recursion-rs", "anon", "off-cpu"]);
    let (list, text) = client.answer("recordings", &Value::Null);
    let rows = list["rows"].as_array().unwrap();
    let brief: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!([row["number"], row["name"], row["samples"], row["complete_stacks_percent"]])
        })
        .collect();
    let expected = [
        json!([1, "recursion-rs/perf.data", 41, 100.0]),
        json!([2, "anon/perf.data", 30, 50.0]),
        json!([3, "off-cpu/perf.data", 95, 100.0]),
    ];
    assert_eq!(brief, expected);
    assert!(rows[0]["date"].as_str().unwrap().ends_with('Z'), "{}", rows[0]);
    assert!(rows[0]["program"].is_string() && rows[0]["host"].is_string());
    assert!(rows[0]["duration_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(rows[0]["events"][0]["samples"], 41);
    assert!(text.starts_with("3 recordings\nnumber  samples  "), "{text}");
    let (quality, text) = client.answer("quality", &json!({ "recording": "2" }));
    assert_eq!(quality["complete_stacks"], 15);
    let ends = quality["ends"].as_array().unwrap();
    let ends: Vec<(&str, u64)> = ends
        .iter()
        .map(|end| (end["end"].as_str().unwrap(), end["samples"].as_u64().unwrap()))
        .collect();
    assert_eq!(ends, [("root", 15), ("root-across-gap", 15)]);
    assert!(text.starts_with("anon/perf.data:\n30 samples, "), "{text}");
    let away = json!({ "recording": 3, "weight": "off-cpu" });
    let (top, _) = client.answer("top", &away);
    assert_eq!(top["unit"], "nanoseconds");
    assert!(top["total"]["nanoseconds"].as_u64().unwrap() > 0);
}

#[test]
fn recordings_are_compared() {
    let client = Client::of_cases(&["spin-bfd", "spin-gold"]);
    let (same, text) =
        client.answer("diff", &json!({ "before": 1, "after": 2, "normalize": "samples" }));
    assert_eq!(same["unit"], "samples");
    assert_eq!(same["before"]["samples"], 32);
    assert_eq!(same["after"]["samples"], 32);
    assert_eq!(same["total"]["change"], 0.0);
    assert_eq!(same["changed_functions"], 0);
    for row in same["rows"].as_array().unwrap() {
        let [low, high] = [0, 1].map(|at| row["interval_95"][at].as_f64().unwrap());
        let change = row["change"].as_f64().unwrap();
        assert!(low < change && change < high, "{row}");
        assert_eq!(row["changed"], false);
    }
    assert!(text.starts_with("before    spin-bfd/perf.data: 32 samples"), "{text}");
}
