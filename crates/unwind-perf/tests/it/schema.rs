//! What is printed for every case fits the JSON Schemas in `docs`.

use serde_json::Value;

use crate::cases::{Case, root};
use crate::validator::violations;

fn schema(name: &str) -> Value {
    let text = std::fs::read(root().join("docs").join(name)).expect("a schema");
    serde_json::from_slice(&text).expect("a schema in JSON")
}

#[test]
fn json_of_every_case_fits() {
    let schema = schema("stacks.schema.json");
    for case in Case::all() {
        let document = case.run(&["--quiet"]).expect_status(0).json();
        assert_eq!(violations(&schema, &document), [""; 0], "{}", case.name);
    }
}

#[test]
fn every_line_of_ndjson_fits() {
    let schema = schema("ndjson.schema.json");
    for case in Case::all() {
        let ran = case.run(&["--quiet", "--format", "ndjson"]).expect_status(0);
        for line in ran.lines() {
            assert_eq!(violations(&schema, &line), [""; 0], "{}", case.name);
        }
    }
}
