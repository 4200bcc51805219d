//! Arguments of tools: their JSON Schema, and reading them with errors that name the argument.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use options::{Choice, ChoiceOrValue, QueryFilter, UnknownChoice, Weight};
use rmcp::model::JsonObject;
use rmcp::schemars::generate::SchemaSettings;
use rmcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::refusal::Refusal;
use crate::values::ValueArgs;

/// Most rows of an answer.
pub(crate) const MOST_ROWS: usize = 200;

/// A closed choice, by its keyword.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Word<T>(pub(crate) T);

impl<'de, T: FromStr<Err = UnknownChoice>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

impl<T: Choice + Default> JsonSchema for Word<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::ALL.iter().map(|value| value.as_str()).collect();
        json_schema!({ "type": "string", "enum": words, "default": T::default().as_str() })
    }
}

/// A closed choice by its keyword, or the name of a label, field or variable.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(transparent, bound = "C: Choice")]
pub(crate) struct WordOrValue<C>(pub(crate) ChoiceOrValue<C>);

impl<C: Choice + Default> Default for WordOrValue<C> {
    fn default() -> Self {
        Self(ChoiceOrValue::default())
    }
}

impl<C: Choice + Default> JsonSchema for WordOrValue<C> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "WordOrValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = C::ALL.iter().map(|value| value.as_str()).collect();
        let about = format!(
            "Rows of the table: {}; or a label, field:NAME, or a variable FUNCTION(PATH).",
            words.join(", ")
        );
        json_schema!({ "type": "string", "description": about, "default": C::default().as_str() })
    }
}

/// The name or the number of a recording.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordingName(pub(crate) String);

impl<'de> Deserialize<'de> for RecordingName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            Value::Number(number) => Ok(Self(number.to_string())),
            _ => Err(D::Error::custom("expected the name or the number of a recording")),
        }
    }
}

impl JsonSchema for RecordingName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RecordingName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// The recording, and the counted samples.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct CountedArgs {
    /// Name or number of the recording in `recordings`. It can be omitted if there is only one.
    pub(crate) recording: Option<RecordingName>,
    /// Weight of a sample: 1, its period, or the time of its thread off the processor (needs recorded context switches).
    pub(crate) weight: Word<Weight>,
    /// Name of the counted event. Default: the first event with samples.
    pub(crate) event: Option<String>,
    #[serde(flatten)]
    pub(crate) values: ValueArgs,
}

/// Samples and functions that count; an empty list selects all. Texts are regular expressions that match a part of a
/// name.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct FilterArgs {
    /// Begin and end, in seconds from the first sample.
    pub(crate) time: Option<(f64, f64)>,
    /// Ids of processes.
    pub(crate) pid: Vec<i32>,
    /// Ids of threads.
    pub(crate) tid: Vec<i32>,
    /// Names of threads.
    pub(crate) comm: Vec<String>,
    /// Only stacks with one of these functions.
    pub(crate) focus: Vec<String>,
    /// No stacks with one of these functions.
    pub(crate) ignore: Vec<String>,
    /// Functions to remove from the stacks; their cost goes to their callers.
    pub(crate) hide: Vec<String>,
    /// Only functions of programs and libraries with these paths.
    pub(crate) module: Vec<String>,
    /// Functions to remove with their callees; the cost goes to their callers.
    pub(crate) charge: Vec<String>,
    /// True if a recursive function counts once per stack.
    pub(crate) collapse_recursion: bool,
}

impl From<&FilterArgs> for QueryFilter {
    fn from(args: &FilterArgs) -> Self {
        let args = args.clone();
        Self {
            time: args.time,
            threads: args.tid,
            processes: args.pid,
            comm: args.comm,
            event: None,
            focus: args.focus,
            ignore: args.ignore,
            hide: args.hide,
            module: args.module,
            charge: args.charge,
            collapse_recursion: args.collapse_recursion,
        }
    }
}

/// Returns the number of rows that an argument asks for.
pub(crate) fn rows(limit: Option<usize>, usual: usize) -> Result<usize, Refusal> {
    match limit.unwrap_or(usual) {
        rows @ 1..=MOST_ROWS => Ok(rows),
        _ => Err(wrong("limit", format!("expected a number from 1 to {MOST_ROWS}"))),
    }
}

/// Returns the refusal of the value of an argument.
pub(crate) fn wrong(name: &str, reason: impl Display) -> Refusal {
    Refusal::new(format!("argument {name:?}: {reason}"))
}

/// Returns the JSON Schema of arguments: without references and null, which some clients do not know.
pub(crate) fn schema<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    let Value::Object(mut schema) = schema else { return JsonObject::new() };
    schema.remove("title");
    schema.remove("description");
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn simplify(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|it| it != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            object
                .retain(|name, value| name != "default" || value.is_string() || value.is_number());
            object.retain(|name, _| name != "format");
            object.values_mut().for_each(simplify);
        }
        Value::Array(values) => values.iter_mut().for_each(simplify),
        _ => {}
    }
}

/// Reads arguments. Null counts as missing.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
    mut arguments: JsonObject,
) -> Result<T, Refusal> {
    arguments.retain(|_, value| !value.is_null());
    let schema = schema::<T>();
    let known = schema.get("properties").and_then(Value::as_object);
    let known: Vec<String> = known.into_iter().flat_map(|it| it.keys().cloned()).collect();
    if let Some(unknown) = arguments.keys().find(|name| !known.contains(name)) {
        return Err(Refusal::unknown("argument", unknown, &known));
    }
    let error = match serde_json::from_value(Value::Object(arguments.clone())) {
        Ok(read) => return Ok(read),
        Err(error) => error.to_string(),
    };
    if let Some(missing) = error.strip_prefix("missing field `") {
        let name = missing.trim_end_matches('`');
        return Err(Refusal::new(format!("argument {name:?} is required")));
    }
    // Errors do not name the argument: it is the one without which there is no error, or the only one that is missed.
    let error_without = |name: &String| {
        let mut others = arguments.clone();
        others.remove(name);
        serde_json::from_value::<T>(Value::Object(others)).err().map(|error| error.to_string())
    };
    let optional = arguments.keys().find(|name| error_without(name).is_none());
    let is_missed = |name: &&String| error_without(name) == Some(format!("missing field `{name}`"));
    Err(match optional.or_else(|| arguments.keys().find(is_missed)) {
        Some(name) => wrong(name, error),
        None => Refusal::new(format!("arguments: {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use options::{CostKind, GroupBy};
    use serde_json::json;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[schemars(crate = "rmcp::schemars")]
    struct Args {
        /// A function.
        function: String,
        #[serde(flatten)]
        counted: CountedArgs,
        #[serde(default)]
        by: WordOrValue<GroupBy>,
        #[serde(default, rename = "sort")]
        _sort: Word<CostKind>,
        #[serde(default)]
        filter: FilterArgs,
        /// Rows.
        #[schemars(range(min = 1, max = 200))]
        limit: Option<usize>,
    }

    fn error(arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        read::<Args>(arguments).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_the_argument_and_list_what_exists() {
        let there = "there are: by, event, filter, function, handover, inside, label, label_end, label_when, limit, \
                     longer_than, recording, sort, span, up_to, weight, weight_field, where";
        assert_eq!(error(json!({ "x": 1 })), format!("there is no argument \"x\"; {there}"));
        assert_eq!(error(json!({})), "argument \"function\" is required");
        let wrong = json!({ "function": 7 });
        assert_eq!(
            error(wrong),
            "argument \"function\": invalid type: integer `7`, expected a string"
        );
        let wrong = json!({ "function": "f", "sort": "x" });
        assert_eq!(error(wrong), "argument \"sort\": \"x\" is none of own, inclusive");
        let wrong = json!({ "function": "f", "label": 7 });
        assert_eq!(
            error(wrong),
            "argument \"label\": invalid type: integer `7`, expected a sequence"
        );
        let wrong = json!({ "function": "f", "filter": { "x": 1 } });
        assert!(
            error(wrong)
                .starts_with("argument \"filter\": unknown field `x`, expected one of `time`")
        );
        let wrong = json!({ "function": "f", "weight": "x" });
        assert_eq!(error(wrong), "argument \"weight\": \"x\" is none of samples, period, off-cpu");
        let Value::Object(good) = json!({ "function": "f", "recording": 2, "limit": null }) else {
            panic!()
        };
        let read = read::<Args>(good).unwrap();
        assert_eq!(
            (read.counted.recording, read.limit),
            (Some(RecordingName("2".to_owned())), None)
        );
        assert_eq!(
            (read.function.as_str(), read.by, read.filter.pid.len()),
            ("f", WordOrValue::default(), 0)
        );
        assert_eq!(
            rows(Some(201), 20).unwrap_err().to_string(),
            "argument \"limit\": expected a number from 1 to 200"
        );
    }

    #[test]
    fn schemas_are_plain() {
        let schema = schema::<Args>();
        assert_eq!(
            schema["properties"]["limit"],
            json!({ "description": "Rows.", "type": "integer", "minimum": 1, "maximum": 200 })
        );
        assert_eq!(schema["required"], json!(["function"]));
        assert_eq!(schema["properties"]["weight"]["enum"], json!(["samples", "period", "off-cpu"]));
        let text = serde_json::to_string(&schema).unwrap();
        assert!(!text.contains("$ref") && !text.contains("null"), "{text}");
    }
}
