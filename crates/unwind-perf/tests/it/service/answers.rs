//! Queries and their answers: tables, trees, instructions, and the interface description.

use serde_json::{Value, json};

use super::client::Served;
use crate::formats::labels::two_threads;
use crate::support::cases::{Case, sysroot};

fn served(test: &str) -> Served {
    let sysroot = sysroot();
    let arguments = ["perf.data", "--sysroot", sysroot.to_str().expect("UTF-8")];
    Served::start(test, &Case::named("inlines-gcc").folder, &arguments)
}

fn query(served: &Served, id: &str, body: &Value) -> Value {
    let answer = served.ask("POST", &format!("/api/v1/recordings/{id}/query"), Some(body));
    assert_eq!(answer.status, 200, "{body}: {answer:?}");
    answer.json()
}

/// Returns the sum of the rows' own costs.
fn own(answer: &Value) -> u64 {
    let rows = answer["rows"].as_array().expect("rows");
    rows.iter().map(|row| row["own"].as_u64().expect("a number")).sum()
}

#[test]
fn tables_and_trees_add_up_to_the_total() {
    let served = served("tables");
    let id = served.id("perf.data");
    let top = query(&served, &id, &json!({}));
    assert_eq!(
        (&top["samples"], &top["total"], &top["unit"]),
        (&json!(35), &json!(35), &json!("samples"))
    );
    assert_eq!(top["complete_share"], 1.0);
    for group in ["function", "module", "line", "thread", "process", "comm"] {
        assert_eq!(own(&query(&served, &id, &json!({ "group": group }))), 35, "{group}");
    }
    for inverted in [false, true] {
        let tree = query(&served, &id, &json!({ "view": "tree", "inverted": inverted }));
        let rows = tree["rows"].as_array().unwrap();
        let roots = rows.iter().filter(|row| row.get("parent").is_none());
        let sum: u64 = roots.map(|row| row["inclusive"].as_u64().unwrap()).sum();
        assert_eq!((sum, own(&tree)), (35, 35));
        for row in rows {
            let Some(parent) = row["parent"].as_u64() else { continue };
            let parent = &rows[parent as usize];
            assert!(parent["inclusive"].as_u64() >= row["inclusive"].as_u64());
            assert_eq!(parent["depth"].as_u64().unwrap() + 1, row["depth"].as_u64().unwrap());
        }
    }
    let one = query(&served, &id, &json!({ "limit": 1 }));
    let all = top["rows"].as_array().unwrap().len() as u64;
    assert_eq!((one["rows"].as_array().unwrap().len(), one["cut"].as_u64()), (1, Some(all - 1)));
    let depth = query(&served, &id, &json!({ "view": "tree", "depth": 2 }));
    assert!(depth["rows"].as_array().unwrap().iter().all(|row| row["depth"].as_u64() < Some(2)));
}

#[test]
fn filters_choose_samples_and_functions() {
    let served = served("filters");
    let id = served.id("perf.data");
    let top = query(&served, &id, &json!({}));
    let name = top["rows"][0]["name"].as_str().unwrap().to_owned();
    let pattern = format!("^{}$", name.replace('(', "\\(").replace(')', "\\)"));
    let focus = query(&served, &id, &json!({ "filter": { "focus": [pattern] } }));
    let ignore = query(&served, &id, &json!({ "filter": { "ignore": [pattern] } }));
    let sum = focus["samples"].as_u64().unwrap() + ignore["samples"].as_u64().unwrap();
    assert_eq!(sum, 35);
    assert_eq!(focus["samples"], top["rows"][0]["inclusive"]);
    let hidden = query(&served, &id, &json!({ "filter": { "hide": [pattern] } }));
    let rows = hidden["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["name"] != *name));
    assert_eq!(hidden["samples"], 35);
    let none = query(&served, &id, &json!({ "filter": { "threads": [-1] } }));
    assert_eq!((&none["samples"], none["rows"].as_array().unwrap().len()), (&json!(0), 0));
    let first = query(&served, &id, &json!({ "filter": { "time": [0, 0] } }));
    assert_eq!(first["samples"], 1);
    let path = format!("/api/v1/recordings/{id}/query");
    let bad = served.ask("POST", &path, Some(&json!({ "filter": { "event": "none" } })));
    assert_eq!(bad.problem(), "does-not-fit");
    let bad = served.ask("POST", &path, Some(&json!({ "filter": { "focus": ["("] } })));
    assert_eq!(bad.problem(), "bad-request");
}

#[test]
fn instructions_have_their_costs() {
    let served = served("asm");
    let id = served.id("perf.data");
    let export = served.get(&format!("/api/v1/recordings/{id}/export?format=json")).json();
    // The innermost frame of the first sample.
    let row = |table: &str, column: &str, at: &Value| {
        export[table][column][at.as_u64().expect("a row") as usize].clone()
    };
    let frame = row("stacks", "frame", &export["samples"]["stack"][0]);
    let location = row("frames", "location", &frame);
    let module = row("locations", "module", &location);
    let path = row("modules", "path", &module);
    let path = export["strings"][path.as_u64().unwrap() as usize].as_str().unwrap();
    let address = row("locations", "relative", &location);
    let address = address.as_str().expect("an address");
    let answer =
        served.get(&format!("/api/v1/recordings/{id}/asm?module={path}&address={address}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    let rows = answer.json()["instructions"].as_array().unwrap().clone();
    assert!(rows.iter().any(|row| row["inclusive"].as_u64() > Some(0)));
    assert!(rows.iter().all(|row| !row["text"].as_str().unwrap().is_empty()));
    let none = served.get(&format!("/api/v1/recordings/{id}/asm?module=none&address=0"));
    assert_eq!(none.problem(), "does-not-fit");
    let bad = served.get(&format!("/api/v1/recordings/{id}/asm?module={path}&address=xyz"));
    assert_eq!(bad.problem(), "bad-request");
}

#[test]
fn options_are_part_of_the_question() {
    let served = served("options");
    let id = served.id("perf.data");
    let with = served.get(&format!("/api/v1/recordings/{id}/export?format=folded"));
    let without =
        served.get(&format!("/api/v1/recordings/{id}/export?format=folded&inlines=false"));
    assert!(with.body.len() > without.body.len());
    for query in ["format=none", "", "format=folded&x=1", "format=folded&inlines=2"] {
        let answer = served.get(&format!("/api/v1/recordings/{id}/export?{query}"));
        assert_eq!(answer.problem(), "bad-request", "{query}");
    }
}

#[test]
fn the_description_knows_every_format_and_every_route() {
    let served = served("openapi");
    let document = served.get("/api/v1/openapi.json").json();
    let named = &document["paths"]["/api/v1/recordings/{id}/export"]["get"]["parameters"];
    let format = named.as_array().unwrap().iter().find(|it| it["name"] == "format").unwrap();
    let status = served.get("/api/v1/status").json();
    assert_eq!(format["schema"]["enum"], status["formats"]);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let path = path.replace("{id}", "0");
            let answer = served.ask(&method.to_uppercase(), &path, None);
            // An existing route may refuse the id or the body; a missing route has another answer.
            assert!(answer.status != 405, "{method} {path}");
            let problem = if answer.status >= 400 { answer.problem() } else { String::new() };
            let detail = answer.status != 404 || answer.json().get("detail").is_some();
            assert!(detail, "{method} {path}: {problem}");
        }
    }
}

const QUERY: &str = "query=system:thing/text";
const SPAN: &str = "thing=system:thing/number=2,system:thing/number=1";

/// Serves a recording with labels and spans; returns its id.
fn served_values(test: &str) -> (Served, String) {
    let served = Served::start(test, &two_threads().folder(), &["perf.data"]);
    let id = served.id("perf.data");
    (served, id)
}

/// Returns the values of the rows, or the reasons that there are none, with their costs.
fn rows(answer: &Value) -> Vec<Value> {
    let row = |row: &Value| json!([row["value"], row["missing"], row["own"]]);
    answer["rows"].as_array().expect("rows").iter().map(row).collect()
}

#[test]
fn samples_are_grouped_by_labels_and_fields() {
    let (served, id) = served_values("values");
    let body = json!({
        "group": "query", "filter": { "event": "cpu-clock" }, "options": { "label": [QUERY] }
    });
    let expected = [
        json!([null, "before-first", 4]),
        json!(["a", null, 1]),
        json!(["b", null, 1]),
        json!(["c", null, 1]),
    ];
    assert_eq!(rows(&query(&served, &id, &body)), expected);
    // The same options in the address.
    let address = format!("/api/v1/recordings/{id}/query?label=query%3Dsystem:thing/text");
    let body = json!({ "group": "query", "filter": { "event": "cpu-clock" } });
    let answer = served.ask("POST", &address, Some(&body)).json();
    assert_eq!(rows(&answer), expected);
    let body = json!({ "group": "field:number", "options": { "where": "number>=2" } });
    let answer = query(&served, &id, &body);
    assert_eq!(rows(&answer), [json!([2, null, 2]), json!([9, null, 1])]);
    let body = json!({ "group": "number", "weight": "number" });
    let answer = query(&served, &id, &body);
    assert_eq!((&answer["total"], &answer["unit"]), (&json!(14), &json!("count")));
}

#[test]
fn spans_are_those_of_the_command() {
    let (served, id) = served_values("spans");
    let body = json!({ "view": "spans", "group": "text", "options": { "span": SPAN } });
    let answer = query(&served, &id, &body);
    assert_eq!((&answer["schema"], &answer["by"]), (&json!("unwind-perf.spans"), &json!("text")));
    assert_eq!((&answer["rows"][0]["value"], &answer["rows"][0]["p99"]), (&json!("a"), &json!(40)));
    let body = json!({
        "filter": { "event": "cpu-clock" }, "options": { "span": SPAN, "inside": "thing" }
    });
    assert_eq!(query(&served, &id, &body)["samples"], 1);
    let export = "format=folded&event=cpu-clock&root=query&label=query%3Dsystem:thing/text";
    let folded = served.ask("GET", &format!("/api/v1/recordings/{id}/export?{export}"), None);
    let text = String::from_utf8(folded.body).expect("text");
    assert!(text.starts_with("[before the first];[truncated];[unknown] 4\n"), "{text}");
}

#[test]
fn unknown_names_are_problems_with_those_that_exist() {
    let (served, id) = served_values("unknown");
    let refused =
        |body: &Value| served.ask("POST", &format!("/api/v1/recordings/{id}/query"), Some(body));
    let answer = refused(&json!({ "group": "nothing" }));
    assert_eq!((answer.status, answer.problem().as_str()), (422, "unknown-name"));
    let problem = answer.json();
    assert_eq!(problem["known"][0], "system:thing/number", "{problem}");
    assert!(problem["hint"].as_str().expect("a hint").starts_with("group is one of function,"));
    for body in [
        json!({ "view": "spans" }),
        json!({ "options": { "label": "query" } }),
        json!({ "options": { "sysroot": "/" } }),
    ] {
        let answer = refused(&body);
        assert_eq!((answer.status, answer.problem().as_str()), (400, "bad-request"), "{body}");
    }
}
