//! Combinations of field values, which are part of what samples are counted by.

use hashbrown::HashMap;
use profile::{FieldValue, Profile, RowId as _, SampleId, StringId, Table};

/// The distinct combinations of values of a profile. Number 0 is the one without values.
pub(super) struct DistinctValues {
    all: Vec<Vec<(StringId, FieldValue)>>,
    /// `None` if no field was requested.
    of_sample: Option<Table<SampleId, u32>>,
}

impl DistinctValues {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut all = vec![Vec::new()];
        if profile.fields.is_empty() {
            return Self { all, of_sample: None };
        }
        let mut index: HashMap<Vec<(StringId, FieldValue)>, u32> = HashMap::new();
        index.insert(Vec::new(), 0);
        let rows = profile.samples.iter().enumerate().map(|(at, sample)| {
            let values = profile.fields.of_sample(sample.event, SampleId::from_index(at));
            let values: Vec<_> = values.map(|(column, value)| (column.name, value)).collect();
            *index.entry(values).or_insert_with_key(|values| {
                all.push(values.clone());
                all.len() as u32 - 1
            })
        });
        let of_sample = Some(rows.collect());
        Self { all, of_sample }
    }

    /// Returns the number of the combination that a sample has.
    pub(super) fn of_sample(&self, sample: SampleId) -> u32 {
        let table = self.of_sample.as_ref();
        table.and_then(|table| table.get(sample)).copied().unwrap_or(0)
    }

    /// Returns the names and values of a combination.
    pub(super) fn get(&self, number: u32) -> &[(StringId, FieldValue)] {
        self.all.get(number as usize).map_or(&[], Vec::as_slice)
    }
}
