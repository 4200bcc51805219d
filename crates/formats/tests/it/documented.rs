//! The documentation mentions every printed keyword and field.

use formats::{Format, FormatOptions};
use profile::ModuleKind;
use profile::{EndReason, FoundBy};
use serde_json::Value;

use crate::support::sample_profile::one_of_everything;
use crate::{document, printed};

fn assert_mentioned(documentation: &str, word: &str) {
    assert!(
        documentation.contains(&format!("`{word}`")),
        "docs/OUTPUT.md does not mention `{word}`"
    );
}

#[test]
fn words() {
    let documentation = document("OUTPUT.md");
    let ends = EndReason::ALL.iter().map(|word| word.as_str());
    let found_by = FoundBy::ALL.iter().map(|word| word.as_str());
    let kinds = ModuleKind::ALL.iter().map(|word| word.as_str());
    let formats = Format::ALL.iter().map(|format| format.name());
    let endings = Format::ALL.iter().flat_map(|format| format.endings().iter().copied());
    for word in ends.chain(found_by).chain(kinds).chain(formats).chain(endings) {
        assert_mentioned(&documentation, word);
    }
}

/// The number of a kind is its index in the list of keywords.
#[test]
fn numbers_are_places() {
    assert!(EndReason::ALL.iter().enumerate().all(|(index, &word)| word as usize == index));
    assert!(FoundBy::ALL.iter().enumerate().all(|(index, &word)| word as usize == index));
    assert!(ModuleKind::ALL.iter().enumerate().all(|(index, &word)| word as usize == index));
}

#[test]
fn fields() {
    fn names(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                into.push(name.clone());
                names(value, into);
            }),
            Value::Array(items) => items.iter().for_each(|item| names(item, into)),
            _ => {}
        }
    }
    let documentation = document("OUTPUT.md");
    let mut fields = Vec::new();
    let options = FormatOptions::DEFAULT;
    let json = printed(&one_of_everything(), Format::Json, options.clone());
    names(&serde_json::from_slice(&json).expect("valid JSON"), &mut fields);
    let ndjson = printed(&one_of_everything(), Format::Ndjson, options);
    for line in ndjson.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        names(&serde_json::from_slice(line).expect("valid JSON"), &mut fields);
    }
    for schema in ["stacks.schema.json", "ndjson.schema.json"] {
        let schema: Value = serde_json::from_str(&document(schema)).expect("valid JSON");
        let properties = schema["properties"].as_object().expect("properties");
        fields.extend(properties.keys().cloned());
    }
    for field in fields {
        assert_mentioned(&documentation, &field);
    }
}

/// The keywords listed in a schema are those of the code, in the same order.
#[test]
fn schema_words() {
    let ndjson: Value = serde_json::from_str(&document("ndjson.schema.json")).expect("valid JSON");
    let ends: Vec<&str> = EndReason::ALL.iter().map(|word| word.as_str()).collect();
    let found_by: Vec<&str> = FoundBy::ALL.iter().map(|word| word.as_str()).collect();
    assert_eq!(ndjson["properties"]["end"]["enum"], serde_json::json!(ends));
    assert_eq!(
        ndjson["$defs"]["frame"]["properties"]["found_by"]["enum"],
        serde_json::json!(found_by)
    );
    let stacks: Value = serde_json::from_str(&document("stacks.schema.json")).expect("valid JSON");
    let words = &stacks["properties"]["words"]["properties"];
    assert_eq!(words["end"]["items"]["enum"], serde_json::json!(ends));
    assert_eq!(words["found_by"]["items"]["enum"], serde_json::json!(found_by));
}
