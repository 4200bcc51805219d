//! Labels, spans and fields in the answers of tools, which are those of the command.

use serde_json::{Value, json};

use super::client::Client;
use crate::formats::labels::two_threads;

const QUERY: &str = "query=system:thing/text";

fn client() -> Client {
    Client::of(&two_threads().folder(), &["mcp", "perf.data"])
}

/// Returns the values, or the reasons that there are none, with their samples.
fn rows(answer: &Value) -> Vec<Value> {
    let row = |row: &Value| json!([row["value"], row["missing"], row["own"]["samples"]]);
    answer["rows"].as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn samples_are_grouped_by_labels_and_fields() {
    let client = client();
    let arguments = json!({ "by": "query", "label": [QUERY], "event": "cpu-clock" });
    let (answer, text) = client.answer("top", &arguments);
    let expected = [
        json!([null, "before-first", 4]),
        json!(["a", null, 1]),
        json!(["b", null, 1]),
        json!(["c", null, 1]),
    ];
    assert_eq!((rows(&answer), &answer["by"]), (expected.to_vec(), &json!("query")));
    assert!(text.contains("[before-first]"), "{text}");
    let (answer, _) = client.answer("top", &json!({ "by": "field:number" }));
    assert_eq!(rows(&answer), [json!([2, null, 2]), json!([1, null, 1]), json!([9, null, 1])]);
    let arguments =
        json!({ "by": "field:number", "where": ["number>=2"], "weight_field": "number" });
    let (answer, _) = client.answer("top", &arguments);
    assert_eq!(answer["total"]["events"], 13, "{answer}");
    assert_eq!(rows(&answer), [json!([9, null, 1]), json!([2, null, 2])]);
}

#[test]
fn spans_have_the_numbers_of_the_command() {
    let client = client();
    let span = "thing=system:thing/number=2,system:thing/number=1";
    let (answer, text) = client.answer("spans", &json!({ "span": [span], "by": "text" }));
    assert_eq!(answer["rows"][0]["total"], 40);
    assert_eq!(
        (&answer["rows"][0]["value"], &answer["unit"], &answer["omitted"]),
        (&json!("a"), &json!("nanoseconds"), &json!(0))
    );
    assert!(text.contains("thing a"), "{text}");
    let inside = json!({ "span": [span], "inside": "thing", "event": "cpu-clock" });
    assert_eq!(client.answer("top", &inside).0["total"]["samples"], 1);
}

#[test]
fn unknown_names_are_refused_with_those_that_exist() {
    let client = client();
    let expected = "there is no field or label \"nothing\"; there are: query, system:thing/number";
    let arguments = json!({ "by": "nothing", "label": [QUERY] });
    let refused = client.refused("top", &arguments);
    assert!(refused.starts_with(expected), "{refused}");
    let refused = client.refused("spans", &json!({}));
    assert!(refused.starts_with("argument \"span\": spans need at least one"), "{refused}");
    let refused = client.refused("top", &json!({ "label": ["query"] }));
    assert_eq!(refused, "argument \"label\": \"query\" is not a label; expected NAME=EVENT/FIELD");
}
