//! A closed choice, or the values of a field or a label.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Choice;

/// One of the values of a choice, or the values that samples have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceOrValue<C> {
    /// A value of the choice.
    Choice(C),
    /// The values of a field, by a pattern `EVENT/FIELD` or `FIELD`, or of a label.
    Value(String),
}

impl<C: Choice> ChoiceOrValue<C> {
    /// The words before the name of a field or label, which are needed if it is also a keyword.
    const PREFIXES: [&'static str; 2] = ["field:", "label:"];

    /// Reads a keyword of the choice, or the name of a field or label.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let prefixed = Self::PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix));
        let known = C::ALL.iter().find(|choice| choice.as_str() == text);
        match known.filter(|_| prefixed.is_none()) {
            Some(choice) => Self::Choice(*choice),
            None => Self::Value(prefixed.unwrap_or(text).to_owned()),
        }
    }

    /// Returns the choice; `None` for values.
    #[must_use]
    pub fn choice(&self) -> Option<C> {
        match self {
            Self::Choice(choice) => Some(*choice),
            Self::Value(_) => None,
        }
    }

    /// Returns the name of the field or label; `None` for a choice.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::Choice(_) => None,
            Self::Value(name) => Some(name),
        }
    }

    /// The keyword of the choice, or the name of the field or label.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Choice(choice) => choice.as_str(),
            Self::Value(name) => name,
        }
    }
}

impl<C: Choice + Default> Default for ChoiceOrValue<C> {
    fn default() -> Self {
        Self::Choice(C::default())
    }
}

impl<C: Choice> From<C> for ChoiceOrValue<C> {
    fn from(choice: C) -> Self {
        Self::Choice(choice)
    }
}

impl<C: Choice> fmt::Display for ChoiceOrValue<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Writes a text that [`ChoiceOrValue::read`] reads as the same.
impl<C: Choice> Serialize for ChoiceOrValue<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(name) if Self::read(name) != *self => {
                serializer.collect_str(&format_args!("{}{name}", Self::PREFIXES[0]))
            }
            _ => serializer.serialize_str(self.as_str()),
        }
    }
}

impl<'de, C: Choice> Deserialize<'de> for ChoiceOrValue<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::read(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroupBy;

    #[test]
    fn texts_are_read_as_they_were_written() {
        for text in ["thread", "query", "field:thread", "field:field:x"] {
            let read = ChoiceOrValue::<GroupBy>::read(text);
            let json = serde_json::to_string(&read).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<ChoiceOrValue<GroupBy>>(&json).unwrap(), read);
        }
    }

    #[test]
    fn keywords_keep_their_meaning() {
        let read = ChoiceOrValue::<GroupBy>::read;
        let value = |name: &str| ChoiceOrValue::Value(name.to_owned());
        assert_eq!(read("thread"), GroupBy::Thread.into());
        assert_eq!(read("query"), value("query"));
        assert_eq!(read("label:thread"), value("thread"));
        assert_eq!(read("field:p:r/size"), value("p:r/size"));
        assert_eq!(read("field:size").to_string(), "size");
    }
}
