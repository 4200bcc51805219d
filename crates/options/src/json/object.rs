//! Options as the members of a JSON object.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::OptionsError;

/// Reads options. Members that are null count as missing.
///
/// # Errors
/// If a member is not an option, or its value cannot be used. The error names it.
pub(crate) fn read<T>(mut object: Map<String, Value>) -> Result<T, OptionsError>
where
    T: Default + Serialize + DeserializeOwned,
{
    object.retain(|_, value| !value.is_null());
    let known = all(&T::default());
    if let Some(name) = object.keys().find(|name| !known.contains_key(*name)) {
        return Err(OptionsError::Unknown { name: name.clone() });
    }
    let error = match serde_json::from_value(Value::Object(object.clone())) {
        Ok(options) => return Ok(options),
        Err(error) => error,
    };
    // Errors of members in a group do not name the member.
    let reason = |alone| serde_json::from_value::<T>(Value::Object(alone)).err();
    let wrong = object.into_iter().find_map(|(name, value)| {
        let error = reason(Map::from_iter([(name.clone(), value)]))?;
        Some(OptionsError::Value { name, reason: error.to_string() })
    });
    Err(wrong.unwrap_or(OptionsError::Json(error)))
}

/// Returns the options that differ from their defaults.
pub(crate) fn write<T: Default + Serialize>(options: &T) -> Map<String, Value> {
    let usual = all(&T::default());
    let mut object = all(options);
    object.retain(|name, value| usual.get(name) != Some(value));
    object
}

/// Returns the names of all options.
pub(crate) fn names<T: Default + Serialize>() -> Vec<String> {
    all(&T::default()).into_iter().map(|(name, _)| name).collect()
}

/// Returns all options.
fn all(options: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(object)) => object,
        // Options are objects with text keys.
        _ => Map::new(),
    }
}
