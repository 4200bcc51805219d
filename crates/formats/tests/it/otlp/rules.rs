//! OTLP profiles decoded with the protocol's Rust bindings: its rules hold, and no weight is lost.

use std::fmt::Debug;

use formats::{Format, FormatOptions};
use hashbrown::HashSet;
use opentelemetry_proto::tonic::profiles::v1development::{
    ProfilesData, ProfilesDictionary, Sample,
};
use profile::Profile;
use prost::Message;

use crate::support::sample_profile::one_of_everything;
use crate::{large, printed};

/// Marks of the referenced rows of a table.
struct Used(Vec<bool>);

impl Used {
    /// Returns the marks of a table. Its rows must be distinct, and the first one must be the zero value.
    fn of<T: Message + Default + PartialEq + Debug>(name: &str, rows: &[T]) -> Self {
        assert_eq!(rows.first(), Some(&T::default()), "the first row of {name}");
        let distinct: HashSet<Vec<u8>> = rows.iter().map(Message::encode_to_vec).collect();
        assert_eq!(distinct.len(), rows.len(), "rows of {name}");
        Self(rows.iter().enumerate().map(|(index, _)| index == 0).collect())
    }

    /// Marks a row as referenced.
    fn see(&mut self, index: i32) -> usize {
        let index = usize::try_from(index).expect("an index");
        self.0[index] = true;
        index
    }

    fn check(&self, name: &str) {
        assert_eq!(
            self.0.iter().position(|used| !used),
            None,
            "a row of {name} that nothing names"
        );
    }
}

/// Checks the rules. Returns the total weight of the samples, by the name of their type.
fn checked(data: &ProfilesData) -> Vec<(String, u64)> {
    let words = data.dictionary.as_ref().expect("a dictionary");
    assert_eq!(words.link_table.len(), 1);
    assert_eq!(words.string_table.first().map(String::as_str), Some(""));
    let distinct: HashSet<&str> = words.string_table.iter().map(String::as_str).collect();
    assert_eq!(distinct.len(), words.string_table.len());
    let mut strings = Used(words.string_table.iter().map(String::is_empty).collect());
    let mut attributes = Used::of("attributes", &words.attribute_table);
    let mut stacks = Used::of("stacks", &words.stack_table);
    Used::of("links", &words.link_table);
    let mut weights = Vec::new();
    for resource in &data.resource_profiles {
        assert!(resource.resource.as_ref().is_some_and(|it| !it.attributes.is_empty()));
        for profile in resource.scope_profiles.iter().flat_map(|scope| &scope.profiles) {
            let kind = profile.sample_type.as_ref().expect("a type");
            let period = profile.period_type.as_ref().expect("a period");
            let name = &words.string_table[strings.see(kind.type_strindex)];
            for index in [kind.unit_strindex, period.type_strindex, period.unit_strindex] {
                strings.see(index);
            }
            assert_eq!(profile.profile_id.len(), 16);
            profile.attribute_indices.iter().for_each(|&index| _ = attributes.see(index));
            let end = profile.time_unix_nano + profile.duration_nano;
            let mut sum = 0;
            for sample in &profile.samples {
                stacks.see(sample.stack_index);
                sum += weight(sample, profile.time_unix_nano..end);
                keys_differ(words, &sample.attribute_indices);
                sample.attribute_indices.iter().for_each(|&index| _ = attributes.see(index));
            }
            weights.push((name.clone(), sum));
        }
    }
    stacks.check("stacks");
    places(words, &mut strings, &mut attributes);
    attributes.check("attributes");
    strings.check("strings");
    weights
}

/// Checks the rows that stacks refer to.
fn places(words: &ProfilesDictionary, strings: &mut Used, attributes: &mut Used) {
    let mut locations = Used::of("locations", &words.location_table);
    let mut mappings = Used::of("mappings", &words.mapping_table);
    let mut functions = Used::of("functions", &words.function_table);
    for stack in &words.stack_table {
        stack.location_indices.iter().for_each(|&index| _ = locations.see(index));
    }
    for location in &words.location_table {
        mappings.see(location.mapping_index);
        location.lines.iter().for_each(|line| _ = functions.see(line.function_index));
        keys_differ(words, &location.attribute_indices);
        location.attribute_indices.iter().for_each(|&index| _ = attributes.see(index));
    }
    for mapping in &words.mapping_table {
        assert!(mapping.memory_start < mapping.memory_limit || mapping.memory_limit == 0);
        strings.see(mapping.filename_strindex);
        mapping.attribute_indices.iter().for_each(|&index| _ = attributes.see(index));
    }
    for function in &words.function_table {
        let names =
            [function.name_strindex, function.system_name_strindex, function.filename_strindex];
        names.iter().for_each(|&index| _ = strings.see(index));
    }
    for attribute in &words.attribute_table {
        strings.see(attribute.key_strindex);
        strings.see(attribute.unit_strindex);
    }
    locations.check("locations");
    mappings.check("mappings");
    functions.check("functions");
}

fn weight(sample: &Sample, times: std::ops::Range<u64>) -> u64 {
    assert!(sample.timestamps_unix_nano.iter().all(|time| times.contains(time)), "{times:?}");
    match sample.values[..] {
        [] => sample.timestamps_unix_nano.len() as u64,
        // Receivers reject several values with times.
        [value] => u64::try_from(value).expect("a weight"),
        _ => panic!("{sample:?}"),
    }
}

fn keys_differ(words: &ProfilesDictionary, indices: &[i32]) {
    let key = |&index: &i32| {
        words.attribute_table[usize::try_from(index).expect("an index")].key_strindex
    };
    let keys: HashSet<i32> = indices.iter().map(key).collect();
    assert_eq!(keys.len(), indices.len());
}

fn weights(profile: &Profile) -> Vec<(String, u64)> {
    let bytes = printed(profile, Format::Otlp, FormatOptions::DEFAULT);
    checked(&ProfilesData::decode(&bytes[..]).expect("a message"))
}

#[test]
fn one_of_everything_keeps_the_rules() {
    let of = |name: &str, weight| (name.to_owned(), weight);
    let expected =
        [of("cpu-clock", 4_000_000), of("cycles:u", 3), of("cpu-clock", 2), of("cpu-clock", 1)];
    assert_eq!(weights(&one_of_everything()), expected);
}

#[test]
fn many_samples_keep_the_rules() {
    let profile = large::profile();
    let weighed: u64 = profile.samples.iter().map(|sample| sample.period().unwrap_or(1)).sum();
    let sum: u64 = weights(&profile).iter().map(|(_, weight)| weight).sum();
    assert_eq!(sum, weighed);
}
