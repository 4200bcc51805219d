//! Location and size of the cache.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json;

/// The folder of the cache for names and unwind rules, and its size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CachePlace {
    /// The folder. It is created when the first answers are stored.
    pub folder: PathBuf,
    /// Limit on the bytes of its files after a run.
    pub most: u64,
}

impl CachePlace {
    /// Default of `most`, in bytes.
    pub const USUAL_SIZE: u64 = 1 << 30;

    /// A folder of the default size.
    #[must_use]
    pub const fn usual(folder: PathBuf) -> Self {
        Self { folder, most: Self::USUAL_SIZE }
    }
}

/// Two options: the folder, and its size, which has no meaning without the folder.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Json {
    #[serde(with = "json::path")]
    cache: Option<PathBuf>,
    #[serde(deserialize_with = "json::size")]
    cache_size: Option<u64>,
}

pub(crate) fn serialize<S: Serializer>(
    place: &Option<CachePlace>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let json = place.as_ref().map(|place| Json {
        cache: Some(place.folder.clone()),
        cache_size: Some(place.most).filter(|&most| most != CachePlace::USUAL_SIZE),
    });
    json.unwrap_or_default().serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<CachePlace>, D::Error> {
    let Json { cache, cache_size } = Json::deserialize(deserializer)?;
    let place = cache.map(CachePlace::usual);
    Ok(place.map(|place| CachePlace { most: cache_size.unwrap_or(place.most), ..place }))
}
