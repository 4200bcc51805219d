//! Limits of a run.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

use crate::{MemoryLimit, json};

/// Resources that a run may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Limit on the memory of the run, except mapped files. Half of it is for files.
    #[serde(rename = "max_memory")]
    pub memory: MemoryLimit,
    /// Number of threads; `None` for one per processor. The caller of a run creates the thread pool.
    #[serde(deserialize_with = "jobs")]
    pub jobs: Option<NonZeroU16>,
}

impl Limits {
    /// Returns the number of threads for rayon: 0 for one per processor.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.jobs.map_or(0, |jobs| jobs.get().into())
    }
}

fn jobs<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<NonZeroU16>, D::Error> {
    use json::NumberOrText::{Number, Text};
    let jobs = match Option::deserialize(deserializer)? {
        None => return Ok(None),
        Some(Number(number)) => u16::try_from(number).ok().and_then(NonZeroU16::new),
        Some(Text(text)) => text.trim().parse().ok(),
    };
    jobs.map(Some).ok_or_else(|| serde::de::Error::custom("expected a number from 1 to 65535"))
}
