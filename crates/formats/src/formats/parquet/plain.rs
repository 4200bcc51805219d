//! Parquet files of a tree of many recordings: types that engines support, and statistics of the rows.

use std::cmp::Reverse;
use std::io;

use address::ModuleId;
use hashbrown::HashMap;
use profile::Profile;

use super::schema::ParquetTypes;
use super::write_rows;
use crate::render::row_group::RowGroup;
use crate::render::start::start_utc_ns;
use crate::render::truncation::in_table;

/// Writer of the rows of one recording among many.
///
/// The columns are those of [`Parquet`](super::Parquet). Unsigned numbers are signed ones of 64 bits with the same bits
/// (two's complement), since few engines have unsigned numbers.
#[derive(Clone, Copy, Debug)]
pub struct PlainRows {
    /// Whether inlined functions are separate frames.
    pub inlines: bool,
}

/// Statistics of written rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RowStatistics {
    /// Number of rows, which are samples.
    pub samples: u64,
    /// Number of samples with a complete callchain.
    pub complete: u64,
    /// Modules with frames, in descending order of frames.
    pub modules: Vec<ModuleFrames>,
    /// Time of the first sample, in nanoseconds since 1970 (UTC), if the recorder stated the time of day.
    pub start_utc_ns: Option<u64>,
}

/// Number of frames in one module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleFrames {
    /// Path of the file, or name of other memory; `None` for frames outside of modules.
    pub path: Option<String>,
    /// Build-id in hexadecimal.
    pub build_id: Option<String>,
    /// Number of frames, with inlined ones.
    pub frames: u64,
}

impl PlainRows {
    /// Writes the rows of a profile as a Parquet file.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
    pub fn write(self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<RowStatistics> {
        let mut frames: HashMap<Option<ModuleId>, u64> = HashMap::new();
        write_rows(profile, self.inlines, ParquetTypes::Plain, out, |group| {
            count(&mut frames, group, profile);
        })?;
        Ok(RowStatistics {
            samples: profile.samples.len() as u64,
            complete: profile.samples.iter().filter(|it| it.end.is_complete()).count() as u64,
            modules: by_name(&frames, profile),
            start_utc_ns: start_utc_ns(profile),
        })
    }
}

fn count(frames: &mut HashMap<Option<ModuleId>, u64>, group: &RowGroup<'_>, profile: &Profile) {
    for &(cell, addr) in group.stacks().flatten() {
        if let Some(cell) = group.cell(profile, cell, addr) {
            *frames.entry(cell.location.module).or_default() += 1;
        }
    }
}

/// Adds up modules with equal names, as the columns of the file show them.
fn by_name(frames: &HashMap<Option<ModuleId>, u64>, profile: &Profile) -> Vec<ModuleFrames> {
    let mut sums: HashMap<(Option<String>, Option<String>), u64> = HashMap::new();
    for (&module, &count) in frames {
        let row = module.and_then(|id| profile.modules.get(id));
        let path = row.map(|row| in_table(profile.strings.get(row.path)));
        let path = path.map(|path| String::from_utf8_lossy(&path).into_owned());
        let build_id = row.and_then(|row| row.build_id.as_ref()).map(ToString::to_string);
        *sums.entry((path, build_id)).or_default() += count;
    }
    let one = |((path, build_id), frames)| ModuleFrames { path, build_id, frames };
    let mut modules: Vec<_> = sums.into_iter().map(one).collect();
    let text = |name: &Option<String>| name.clone().unwrap_or_default();
    modules.sort_by_cached_key(|it| (Reverse(it.frames), text(&it.path), text(&it.build_id)));
    modules
}
