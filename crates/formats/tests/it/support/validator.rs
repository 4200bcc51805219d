//! A JSON Schema validator. It panics on keywords that it does not implement, so that no rule is silently skipped.

use serde_json::Value;

/// Returns all violations of the schema, as `path: what`.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, schema, value, "$", &mut found);
    found
}

#[expect(clippy::too_many_lines, reason = "one arm a keyword of the schema")]
fn collect(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    for (word, rule) in schema.as_object().expect("a schema is an object") {
        let mut wrong = |what: String| found.push(format!("{path}: {what}"));
        match word.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let name = rule
                    .as_str()
                    .and_then(|text| text.strip_prefix("#/$defs/"))
                    .expect("a local definition");
                collect(root, &root["$defs"][name], value, path, found);
            }
            "type" => {
                let types = rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice);
                if !types
                    .iter()
                    .any(|name| has_type(value, name.as_str().expect("a type is a word")))
                {
                    wrong(format!("is {value}, not of type {rule}"));
                }
            }
            "enum" => {
                if !rule.as_array().expect("an enum is a list").contains(value) {
                    wrong(format!("{value} is none of {rule}"));
                }
            }
            "minimum" => {
                if value.as_f64().is_some_and(|number| number < rule.as_f64().expect("a number")) {
                    wrong(format!("{value} is below {rule}"));
                }
            }
            "minItems" | "maxItems" => {
                let limit = rule.as_u64().expect("a number") as usize;
                let fits = |length: usize| {
                    if word == "minItems" { length >= limit } else { length <= limit }
                };
                if value.as_array().is_some_and(|items| !fits(items.len())) {
                    wrong(format!("breaks {word} {limit}"));
                }
            }
            "required" => {
                for name in rule.as_array().expect("a list").iter().filter_map(Value::as_str) {
                    if value.as_object().is_some_and(|fields| !fields.contains_key(name)) {
                        wrong(format!("has no {name}"));
                    }
                }
            }
            "additionalProperties" => {
                let known = |name: &str| schema["properties"].get(name).is_some();
                let others =
                    value.as_object().into_iter().flatten().filter(|(name, _)| !known(name));
                for (name, value) in others {
                    if rule == &Value::Bool(false) {
                        found.push(format!("{path}: {name} is not in the schema"));
                    } else {
                        collect(root, rule, value, &format!("{path}.{name}"), found);
                    }
                }
            }
            "properties" => {
                for (name, rule) in rule.as_object().expect("properties") {
                    if let Some(value) = value.get(name) {
                        collect(root, rule, value, &format!("{path}.{name}"), found);
                    }
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    collect(root, rule, item, &format!("{path}[{index}]"), found);
                }
            }
            other => panic!("the validator does not know {other:?}"),
        }
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other:?}"),
    }
}
