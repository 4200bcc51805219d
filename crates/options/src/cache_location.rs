//! Location and size of the cache.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json;

/// The folder of the cache for names, unwind rules and finished profiles, and its size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheLocation {
    /// The folder. It is created when the first answers are stored.
    pub folder: PathBuf,
    /// Limit on the bytes of its files after a run.
    pub most: u64,
    /// True if the user did not name the folder. It is then no error if it cannot be written.
    pub is_default: bool,
}

impl CacheLocation {
    /// Default of `most`, in bytes.
    pub const DEFAULT_SIZE: u64 = 4 << 30;

    /// A folder of the default size.
    #[must_use]
    pub const fn of_default_size(folder: PathBuf) -> Self {
        Self { folder, most: Self::DEFAULT_SIZE, is_default: false }
    }
}

/// Two options: the folder, and its size, which has no meaning without the folder.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct CacheLocationJson {
    #[serde(with = "json::path")]
    cache: Option<PathBuf>,
    #[serde(deserialize_with = "json::size")]
    cache_size: Option<u64>,
}

pub(crate) fn serialize<S: Serializer>(
    location: &Option<CacheLocation>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let json = location.as_ref().map(|location| CacheLocationJson {
        cache: Some(location.folder.clone()),
        cache_size: Some(location.most).filter(|&most| most != CacheLocation::DEFAULT_SIZE),
    });
    json.unwrap_or_default().serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<CacheLocation>, D::Error> {
    let CacheLocationJson { cache, cache_size } = CacheLocationJson::deserialize(deserializer)?;
    let location = cache.map(CacheLocation::of_default_size);
    Ok(location
        .map(|location| CacheLocation { most: cache_size.unwrap_or(location.most), ..location }))
}
