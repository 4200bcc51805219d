//! Parameters and locals of functions: values in the frames of samples, and lists.

use serde_json::{Value, json};

use crate::support::cases::root;
use crate::support::run::{Ran, run};

fn of_case(args: &[&str]) -> Ran {
    let case = ["--sysroot", "testdata/sysroot", "testdata/cases/spin-lld/perf.data", "-q"];
    run(root(), &[args, &case].concat())
}

/// Rows of a table by a variable: value, reason without one, samples.
fn rows(variable: &str) -> Vec<Value> {
    let top = of_case(&["top", "--format", "json", "--by", variable]).expect_status(0).json();
    let row = |row: &Value| json!([row["value"], row["missing"], row["own_samples"]]);
    top["rows"].as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn samples_are_grouped_by_variables() {
    // outer calls inner with 700,000 rounds; inner calls spin with all of them, then with half.
    assert_eq!(rows("spin(rounds)"), [json!([700_000, null, 21]), json!([350_000, null, 10])]);
    // A constant by the debug information.
    assert_eq!(rows("outer(rounds)"), [json!([700_000, null, 31])]);
    // The register is not saved, and clang states no value at entry.
    assert_eq!(rows("inner(rounds)"), [json!([null, "register", 31])]);
    // An unrolled loop: each call has its own constant.
    let calls = rows("main(i)");
    assert!(calls.iter().all(|row| row[0].as_u64().is_some_and(|call| call < 40)), "{calls:?}");
    // Frames of no such function.
    let text = of_case(&["top", "--by", "_start(x)"]).expect_status(2);
    assert!(text.stderr.starts_with("unwind-perf: --value _start(x): no function _start"));
}

#[test]
fn variables_are_typed_columns() {
    let args = ["-f", "json", "--value", "spin(rounds)", "--value", "inner(rounds)"];
    let json = of_case(&args).expect_status(0).json();
    let column = |at: usize| {
        let column = &json["fields"][at];
        let name = &json["strings"][column["name"].as_u64().expect("an id") as usize];
        json!([column["event"], name, column["type"], column["length"]])
    };
    assert_eq!(column(0), json!([null, "spin(rounds)", "unsigned", 31]));
    assert_eq!(column(1), json!([null, "inner(rounds)", "text", 0]));
    let lines = of_case(&["-f", "ndjson", "--value", "spin(rounds)"]).expect_status(0).lines();
    assert_eq!(lines[0]["fields"], json!({"spin(rounds)": 700_000}));
    let one = of_case(&["-f", "ndjson", "--jobs", "1", "--value", "spin(rounds)"]);
    assert_eq!(one.expect_status(0).lines(), lines);
}

#[test]
fn a_function_lists_its_variables() {
    let list = of_case(&["values", "--format", "json", "spin"]).expect_status(0).json();
    let row = |row: &Value| json!([row["name"], row["parameter"], row["type"], row["location"]]);
    let rows: Vec<Value> = list.as_array().expect("rows").iter().map(row).collect();
    let expected = [
        json!(["rounds", true, "unsigned long", "register 5"]),
        json!(["i", false, "unsigned long", "constant 0, register 0, computed"]),
    ];
    assert_eq!(rows, expected);
    let text = of_case(&["values", "spin"]).expect_status(0).text().to_owned();
    let line = "    100.0 %          1  parameter  rounds  unsigned long  register 5";
    assert!(text.lines().any(|it| it == line), "{text}");
}

#[test]
fn unknown_names_are_errors() {
    let error = |args: &[&str]| of_case(args).expect_status(2).stderr.clone();
    for (variable, problem) in [
        ("spin(x)", "spin has no variable x; it has: i, rounds"),
        ("spinn(x)", "no function spinn; similar: spin"),
        ("spin", "spin: expected FUNCTION(PATH): no ) at the end"),
        ("spin(rounds.x)", ".x cannot be applied to unsigned long"),
    ] {
        let expected = format!("unwind-perf: --value {variable}: {problem}\n");
        assert_eq!(error(&["-f", "ndjson", "--value", variable]), expected);
    }
    assert_eq!(error(&["values", "nothing"]), "unwind-perf: no function nothing\n");
    let folded = "unwind-perf: --value 'spin(i)' has no effect on the format folded; use top --by 'spin(i)', or print it with unwind-perf -f ndjson\n";
    assert_eq!(error(&["-f", "folded", "--value", "spin(i)"]), folded);
}
