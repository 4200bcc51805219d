//! JSON forms of values that several options share. Readers accept more than writers produce: one value for a list of
//! one, and text for numbers and booleans.

use std::num::NonZeroUsize;

use serde::de::{DeserializeOwned, Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::values::MemoryLimit;

/// One value, or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a value, or a list of values")]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value],
            Self::Many(values) => values,
        }
    }
}

/// Reads a list of values, or one value. Errors of the values are passed on.
pub(crate) fn each<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let values = match Value::deserialize(deserializer)? {
        Value::Array(values) => values,
        value => vec![value],
    };
    let read = |value| T::deserialize(value).map_err(D::Error::custom);
    values.into_iter().map(read).collect()
}

/// Values that are written as one text each.
pub(crate) mod parsed {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error>
    where
        T: FromStr<Err: Display>,
    {
        let texts: Vec<String> = super::each(deserializer)?;
        texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
    }

    pub(crate) fn serialize<S: Serializer, T: Display>(
        values: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(ToString::to_string))
    }
}

/// An optional value that is written as text.
pub(crate) mod parsed_option {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
    {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }

    #[expect(clippy::ref_option, reason = "serde hands the field over so")]
    pub(crate) fn serialize<S: Serializer, T: Display>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(serializer)
    }
}

/// Splits a text at commas.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
}

/// Reads `true` or `false`, also as text.
pub(crate) fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected true or false")]
    enum Json {
        Truth(bool),
        Text(String),
    }
    match Json::deserialize(deserializer)? {
        Json::Truth(value) => Ok(value),
        Json::Text(text) => {
            let value = text.to_ascii_lowercase().parse();
            value.map_err(|_| D::Error::custom(format!("{text:?} is neither true nor false")))
        }
    }
}

/// Reads a number above 0, also as text.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NonZeroUsize, D::Error> {
    let count = match NumberOrText::deserialize(deserializer)? {
        NumberOrText::Number(number) => usize::try_from(number).ok().and_then(NonZeroUsize::new),
        NumberOrText::Text(text) => text.trim().parse().ok(),
    };
    count.ok_or_else(|| D::Error::custom("expected a number above 0"))
}

/// A number, or a text form of one.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number that is not negative, or text")]
pub(crate) enum NumberOrText {
    Number(u64),
    Text(String),
}

/// Ids of processes or threads, also as text with commas.
pub(crate) mod ids {
    use address::{Pid, Tid};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{OneOrMany, parts};

    pub(crate) trait NumericId: Copy {
        fn of(number: i32) -> Self;
        fn number(self) -> i32;
    }

    impl NumericId for Pid {
        fn of(number: i32) -> Self {
            Self(number)
        }

        fn number(self) -> i32 {
            self.0
        }
    }

    impl NumericId for Tid {
        fn of(number: i32) -> Self {
            Self(number)
        }

        fn number(self) -> i32 {
            self.0
        }
    }

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number, or a list of numbers")]
    enum Json {
        Number(i32),
        Text(String),
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: NumericId>(
        deserializer: D,
    ) -> Result<Vec<T>, D::Error> {
        let mut ids = Vec::new();
        for value in OneOrMany::deserialize(deserializer)?.into_vec() {
            match value {
                Json::Number(number) => ids.push(T::of(number)),
                Json::Text(text) => {
                    for part in parts(&text) {
                        let wrong = |_| D::Error::custom(format!("{part:?} is not a number"));
                        ids.push(T::of(part.trim().parse().map_err(wrong)?));
                    }
                }
            }
        }
        Ok(ids)
    }

    pub(crate) fn serialize<S: Serializer, T: NumericId>(
        ids: &[T],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ids.iter().map(|id| id.number()))
    }
}

/// Reads a list of texts; a text alone is a list with commas.
pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMany::<String>::deserialize(deserializer)? {
        OneOrMany::One(text) => parts(&text).map(str::to_owned).collect(),
        OneOrMany::Many(texts) => texts,
    })
}

/// A list of names, which are bytes; a text alone is a list with commas.
pub(crate) mod names {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::parts;
    use crate::Bytes;

    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected text, or a list of texts")]
    enum Json {
        Text(String),
        Name(Bytes),
        Names(Vec<Bytes>),
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Vec<u8>>, D::Error> {
        Ok(match Json::deserialize(deserializer)? {
            Json::Text(text) => parts(&text).map(|part| part.as_bytes().to_vec()).collect(),
            Json::Name(name) => vec![name.into_vec()],
            Json::Names(names) => names.into_iter().map(Bytes::into_vec).collect(),
        })
    }

    pub(crate) fn serialize<S: Serializer>(
        names: &[Vec<u8>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(names.iter().map(|name| Bytes::from(&**name)))
    }
}

/// A list of paths, or one path.
pub(crate) mod paths {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::OneOrMany;
    use crate::Bytes;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let paths = OneOrMany::<Bytes>::deserialize(deserializer)?.into_vec();
        Ok(paths.iter().map(Bytes::to_path).collect())
    }

    pub(crate) fn serialize<S: Serializer>(
        paths: &[PathBuf],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| Bytes::of_path(path)))
    }
}

/// An optional path.
pub(crate) mod path {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::Bytes;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<Bytes>::deserialize(deserializer)?.map(|path| path.to_path()))
    }

    #[expect(clippy::ref_option, reason = "serde hands the field over so")]
    pub(crate) fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_deref().map(Bytes::of_path).serialize(serializer)
    }
}

/// Reads an optional size of memory: bytes, or text such as `2G`.
pub(crate) fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = match Option::<NumberOrText>::deserialize(deserializer)? {
        None => return Ok(None),
        Some(NumberOrText::Number(number)) => number.to_string(),
        Some(NumberOrText::Text(text)) => text,
    };
    crate::values::memory::parse_memory(&text).map(Some).map_err(D::Error::custom)
}

impl Serialize for MemoryLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Usual => serializer.serialize_none(),
            Self::None => serializer.serialize_str("none"),
            Self::Bytes(bytes) => serializer.serialize_u64(*bytes),
        }
    }
}

impl<'de> Deserialize<'de> for MemoryLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match Option::<NumberOrText>::deserialize(deserializer)? {
            None => return Ok(Self::Usual),
            Some(NumberOrText::Number(number)) => number.to_string(),
            Some(NumberOrText::Text(text)) => text,
        };
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}
